/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares the cost models of generated code for schedules and passes. */
#pragma once

#include <stdint.h>

#include "ir/kernel/operation_class.h"

/** Describes how much one thread does in a microsecond. */
struct rate_facts {
    double kernel_operations; /* additions of generated kernels other than contractions, with their loads, on any machine */
    double kernel_bytes;      /* bytes of those that they read and write, in whatever cache they lie */
    double l2_bytes;          /* bytes read from the L2 cache */
    double memory_bytes;      /* bytes read from memory */
    double converted_bytes;   /* bytes read or written while float32 becomes bfloat16 */
    /* The multiply-adds of bfloat16 for each of float32: by tiles (AMX), by the dot product, and by the dot product
     * of processors which have float16 arithmetic, too. */
    double bfloat16_tiles, bfloat16_dot, bfloat16_dot_slow;
};

/** The costs of threads and calls, in microseconds. */
struct call_facts {
    double wake;                        /* until the threads of a team, or the thread of a timeline, begin to work */
    double thread_work;                 /* the least work that is worth a thread */
    double kernel_call;                 /* calling a kernel, or copying a few bytes */
    double spin;                        /* how long an idle thread spins before it sleeps */
    double team_call;                   /* running a function on a team that is awake, and its buffers */
    double warm_operations, warm_bytes; /* of graphs that are run once when they are built: both together take well below a
                                           millisecond, and building takes dozens of them */
};

/** The costs of arithmetic in generated loops. */
struct operation_facts {
    double cost[OPERATION_CLASSES]; /* instructions of a vector, and the time of as many additions */
    double lane_sum;                /* adding up the lanes of a vector, in additions */
    double per_byte;                /* additions that take as long as moving a byte to or from memory */
    uint32_t normalization;         /* additions for an element of a normalisation: two passes over the row and the rest */
    uint32_t lookup;                /* for computing the source of an element without an index map */
};

/**
 * The most consecutive additions of an accumulator; longer sums are split into blocks whose sums are added up.  These limits
 * bound the rounding error, so that they are the same on all machines.  A register tile, whose blocks cost registers, splits
 * less often, and one of a group of items on a device, whose sums leave few registers, least.
 */
enum { SUM_STEPS = 64, TILE_SUM_STEPS = 512, GPU_TILE_SUM_STEPS = 256, GPU_LOCAL_SUM_STEPS = 8192 };
/** A sum of that many products of two bytes fits 32 bits, and with numbers of 4 bits it is exact as a float32 number, too. */
enum { BYTE_SUM_STEPS = 8192 };
/** Zeros that stand for rows in the padding are a multiple of this, since their number is part of the code. */
enum { TILE_ZEROS = 512 };

/** Describes generated loops: the schedules of all kernels choose by these facts. */
struct loop_facts {
    int64_t vector_block;       /* elements of the vector variable that a unit of work covers at most; a power of two */
    int64_t vector_block_least; /* the same where there are few units and each is worth a thread; a power of two */
    int64_t units_wanted;       /* enough for any number of threads */
    int64_t run_least;          /* consecutive elements that are worth a vector, or a panel of packed B */
    uint32_t assumed_lanes;     /* lanes of a vector, where one vector variable is weighed against another */
    uint32_t row_lanes;         /* lanes of a row buffer's elements where vectors run along a PARALLEL variable */
    uint32_t sum_vectors;       /* vectors that a loop of sums takes at a time, to hide the latency of additions */
    uint32_t few_rows;          /* rows that are too few for a transpose by lines: interleaved, or gathered and scattered */
    int64_t strided_most;       /* elements from lane to lane up to which a load is taken out of whole vectors, not gathered */
    int64_t permuted_most;      /* vectors out of which a load's lanes are permuted, not gathered; at most 4 */
    int64_t common_most;        /* powers of two up to this have vector loops of their own where sizes vary */
    double shuffle_cost;        /* of two vectors, in loads, where that takes more than one instruction */
    int64_t repeat_most;        /* equal lanes up to which an element is loaded once for all of them */
    uint32_t unroll_points;     /* points of REDUCED variables that are unrolled, at most */
    uint32_t window_slack;      /* elements of a window that may be in the padding without its loop being clipped */
    int64_t window_separate;    /* steps of a window for each element that writing and reading what its columns have takes */
    int64_t single_points;      /* more unrolled points than this fill the processor's window: one vector at a time */
    /* Costs of one vector, in exponentials, whose chain of dependent instructions fills the window on its own. */
    double heavy_exponentials;    /* from here on an iteration has fewer vectors, or interleaves two */
    double heaviest_exponentials; /* from here on it has one vector, or interleaves four */
    /* Costs of one vector, in additions. */
    double recompute_cost;  /* values that cost less are computed again instead of being kept in a row buffer */
    double copied_cost;     /* above it, arithmetic hides what masks and partial transposes cost: one code serves both */
    double transposed_cost; /* above it, a transpose in registers gains little, and its code repeats every expression per row */
};

/** Limits of fusing nodes into one kernel. */
struct fusion_facts {
    double repeat_expensive; /* how often a kernel may compute an expensive element (an edge of padding is computed again) */
    double repeat_cheap;     /* how often it may compute a cheap one */
    double more_work;        /* how many times as much it may execute as its parts, by an estimate */
    double b_caches;         /* B operands of contractions in one kernel, in L2 caches, at most */
};

/** Describes the shapes of register tiles: limits of registers and of code size. */
struct tile_facts {
    uint32_t accumulators;      /* vectors of sums of a tile, MR times vectors of a row, at most */
    uint32_t vectors_most;      /* vectors of a tile with one row, at most */
    uint32_t vectors_most_tall; /* vectors of a tile with more rows, at most */
    uint32_t m_block;           /* points of M that a unit covers at most, in whole tiles (MC) */
    uint32_t m_block_padded;    /* multiples of 4, 7 and 8, where the lowering pads M (struct kcontraction) */
    uint32_t padded_rows[2]; /* MR where the lowering pads M, the best first: enough to hide latency; 0: there is no second */
};

/** The widths of panels of a packed constant B, in vectors. */
struct panel_facts {
    uint32_t vectors;         /* where tiles have as many rows as registers allow */
    uint32_t vectors_compact; /* the same for a compact B, where they divide N: what registers allow without a loss */
    uint32_t vectors_short;   /* of one tile with fewer rows */
    uint32_t vectors_few;     /* for few rows, where reading B is what takes time */
    uint32_t vectors_most;    /* of several tiles, where narrower ones would waste lanes */
    uint32_t piece_least;     /* least output channels of a head for separate panels: elements, not vectors */
};

/** Describes tiles whose accumulators have operands of their own (struct tile_window in ir/schedule/schedule.h). */
struct window_facts {
    uint32_t steps;    /* between neighbours, at most: strides of convolutions */
    uint32_t unrolled; /* multiply-adds of a tile, at most: its code has nothing else */
};

/** Describes register-tiled contractions: what the inner loop of an MR x NR micro-kernel can and cannot hide. */
struct contraction_facts {
    struct tile_facts tile;
    struct panel_facts panel;
    struct window_facts window;
    uint32_t chains;             /* multiply-adds that must be under way at once for full speed: latency times units */
    uint32_t unrolled_steps;     /* multiply-adds of a loop's body that the caches of code and decoded instructions like */
    uint32_t row_pointers;       /* registers for addresses of rows whose strides are parameters */
    uint32_t few_rows;           /* rows up to which reading B takes more time than the arithmetic */
    uint32_t recurrent_rows;     /* rows up to which a kernel of a recurrent step's gates beats matmuls of the library */
    uint32_t tall_rows;          /* rows beyond which a tile gains nothing by more */
    uint32_t zeros_most;         /* elements of a row in the padding that zeros on the stack may stand for, in the L1 cache */
    uint32_t float64_multiplies; /* multiply-adds of a recurrent step that are hardly slower in float64 (docs/loops.md) */
    uint32_t chained_sums;       /* tiles with that few sums are bound by the latency of additions */
    int64_t compact_bytes;       /* B with fewer bytes as float32 than this is unpacked when the graph is built */
    double code;                 /* share that each further kind of tile costs, for its code */
    double empty_lanes;          /* lanes computed for every lane needed, at most */
};

/** Decides between Winograd's tiles and direct convolution, with the prices of multiplication_facts. */
struct winograd_facts {
    int64_t kinds;         /* number of tiles that are used, the first ones (ir/graph/winograd.h) */
    int64_t tiles_most;    /* of a macro-tile: more gain nothing */
    int64_t channel_block; /* contiguous input channels: the same for most sizes, so that they share code */
    double scratch_share;  /* share of the L2 cache that a macro-tile's scratch fills without leaving it */
    double spill;          /* price of a KiB beyond that, in prices of a KiB of weights from memory */
    double special;        /* how many times longer separate code takes */
    double worth;          /* largest share of the direct time: it is more code, and both weights are kept */
};

/** Chooses the macro-tiles of rows of attention, and when one kernel computes all of it. */
struct attention_facts {
    int64_t vectors_most;  /* vectors of rows of a macro-tile, at most, */
    int64_t vectors_tiled; /* of which a register tile has so many: what remains takes as long as a whole one, */
    int64_t vectors_vary;  /* and where sizes vary */
    int64_t rows_least;    /* fewer leave lanes empty, */
    int64_t few_rows;      /* but so many or fewer have vectors along keys and columns: */
    int64_t rows_at_once;  /* so many of them share loads of K: their sums stay in registers; */
    int64_t few_rows_best; /* so many or fewer of these read K and V no faster in matmuls of the library, */
    int64_t bounded_rows;  /* and that many or fewer if some of the keys are masked; */
    int64_t bounded_least; /* then so many rows suffice that fill lanes */
    int64_t keys_least;    /* fewer make the stages short compared with the code around them */
    double scores_least;   /* bytes of scores: fewer are as fast, or faster, in memory between matmuls of the library */
    double scores_whole;   /* likewise where macro-tiles of whole vectors leave no remainder, so that no row is gathered */
    double scores_share;   /* share of the L2 cache that a macro-tile's scores may fill */
    int64_t packed_tiles;  /* so many macro-tiles or more repay copying K and V whose rows lie apart; 0: none do */
    double block_share;    /* size, in L1 caches, of the scores of a block of keys: the matmul with V multiplies all columns
                              by it before it continues; where L2 keeps up, longer blocks save sums of them */
    int64_t block_least;   /* keys of such a block: fewer make the sums of blocks cost more than they gain */
    int64_t bounded_keys;  /* keys of a block, at most, if the bounds of unmasked keys are known at run time */
    /* In the time of a vector of rows. */
    double tile;         /* what a macro-tile costs in addition to its rows, chiefly reading K and V */
    double guarded_keys; /* what else a vector costs, times the keys, if macro-tiles reach beyond the last row: elements are
                            gathered and scattered then */
    double guarded_mask; /* and what else it costs if there is a mask */
};
