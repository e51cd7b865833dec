/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A schedule says how a kernel is computed on a machine.
 *
 * A kernel (ir/kernel/kernel.h) says what is computed; it has no number that belongs to a machine.  schedule_cpu decides
 * everything that does for a processor with vector registers: along which variable vectors run, how many lanes and vectors an
 * iteration has, which register tile a matrix multiplication or convolution uses (MR x NR), what the units of parallel work are
 * and in which order loops are nested, which intermediate values are kept in row buffers, what is prefetched, unrolled and
 * transposed in registers.  A GPU's schedule comes from a function of its own (schedule_gpu.h).
 *
 * schedule_cpu takes a finished kernel, what the processor's instruction set offers and what things cost on it
 * (ir/target/target.h). It makes a struct schedule.  The lowering (codegen/lower) follows it, schedule_print shows it, and
 * schedule_structure, which is the kernel's structure and everything of the schedule that shapes code, is the key under which
 * code is shared: equal keys mean equal code.
 *
 *   schedule_cpu.c        the vector variable, row buffers, lanes and unrolling, units; all of it put together
 *   schedule_matmul.c     register tiles
 *   schedule_bytes.c      products of bytes
 *   schedule_mr_nr.c      MR x NR of those, and panels of packed B
 *   schedule_transpose.c  transposes in registers
 *   schedule_strided.c    loads of every second element
 *   schedule_short_rows.c rows that are shorter than a vector
 *   schedule_permuted.c   loads of elements near each other, at indices that are computed
 *   schedule_quantised.c  numbers that are divided by a scale and made bytes
 *   schedule_cost.c       estimates
 *   schedule_work.c       counts of what is executed
 *   schedule_print.c      text and key
 *   dependence.c          which variables values depend on
 */
#pragma once

#include "ir/kernel/kernel.h"
#include "ir/schedule/contraction.h"
#include "ir/target/target.h"

/** These are bounds of what schedules ask for, by which lowerings size arrays.  Facts of a machine (ir/target/target.h) do not
 * exceed them. */
enum {
    SCHEDULE_VECTORS_MAX = 32,    /* vectors per iteration: the accumulators of a register tile */
    SCHEDULE_SUM_VECTORS_MAX = 4, /* those of a loop of sums */
    SCHEDULE_FIXED_SUM_MAX = 256, /* elements of a sum along vectors whose number is part of the code */
    SCHEDULE_PERMUTED_MAX = 4,    /* vectors that a load's lanes are permuted out of */
    SCHEDULE_SHORT_ROW_MAX = 16,  /* elements of a row that is loaded and stored together with others */
    SCHEDULE_INTERLEAVE_MAX = 4   /* rows that are interleaved */
};

/** Says how the vectors of a load are loaded, where its index does not tell. */
enum load_kind {
    LOAD_BY_INDEX, /* a vector of consecutive elements, or a gather */
    LOAD_STRIDED,  /* taken out of as many whole vectors as elements lie from lane to lane */
    LOAD_REPEATED, /* lanes come in groups of equal ones */
    LOAD_PERMUTED, /* permuted out of whole vectors */
    LOAD_RUNS      /* a gather of mostly consecutive elements, which is tested when it runs */
};

/** Says how one expression is computed. */
struct schedule_expr {
    uint32_t phase;     /* in which phase; of an expression in a row buffer the one that computes and stores it */
    int32_t row_buffer; /* which row buffer keeps it for later phases; -1: none */
    bool short_row;     /* of a load: it comes from that row buffer in all phases (struct short_rows) */
    bool lanes;         /* its value differs from lane to lane */
    enum load_kind load;
    uint32_t
        count; /* of a load that is strided: the stride; repeated: lanes of a group; permuted: vectors that hold all lanes */
    int32_t first; /* permuted: the first element of those vectors, counted from that of the first lane; not above 0 */
};

/** Says what is taken out of the sum of a block of K, which is multiplied by it, instead of being a part of every step. */
struct block_products {
    uint32_t factor, unscaled; /* B is `unscaled` times `factor`, which is the same for a block; KEXPR_NONE: it is not */
    struct byte_products bytes;
};

enum { TILE_CHAINS_MAX = 2 };

/**
 * Describes a register tile: an MR x NR micro-kernel that computes a contraction, a sum of products of A and B.  M is the m_var
 * variable, N the vector variable, K are the REDUCED variables.  A is the operand that is loaded element by element, one for
 * each row of the tile; B is loaded by vectors, which all rows share.
 */
struct register_tile {
    uint32_t m_var;       /* PARALLEL variable along which B stays the same; KEXPR_NONE: none, tiles have one row */
    bool m_outer;         /* blocks of m_var are the slowest loop: all of A exceeds the cache, all of B does not */
    uint32_t mr, vectors; /* rows, and vectors of a row (NR is lanes times as much) */
    bool shorter;         /* there are tiles of mr - 1 rows, too, so that as many of both as a size needs leave no rest */
    uint32_t m_tiles;     /* tiles along m_var that a unit covers at most (MC) */
    bool full;            /* there are tiles of that many vectors */
    uint32_t n_tail;      /* vectors that are left over */
    bool masked, scalars; /* the last of them is masked; single elements are left over */
    uint32_t unroll_from; /* REDUCED variables from here on are unrolled */
    uint32_t split;       /* REDUCED variable at which accumulation is split into blocks of split_steps; KEXPR_NONE: nowhere */
    int64_t split_steps;
    struct block_products blocks;
    bool unpacked;         /* B is not what is loaded, but computed from it in registers */
    bool guarded;          /* an operand has guards (padding) */
    bool ranged;           /* one test decides the guards for a whole tile */
    uint32_t branch;       /* it is made inside of as many loops over REDUCED variables */
    uint32_t zeros;        /* elements that a row in the padding reads instead of its own; 0: such rows are masked */
    bool b_outer;          /* B exceeds the cache: it is walked once, slowest */
    bool strided;          /* a matrix multiplication: strides of rows are parameters, so that sizes share code */
    uint32_t chains;       /* sums that take turns along the innermost loop, where one would wait for its own additions */
    uint32_t prefetch_var; /* PARALLEL variable that counts panels of B, the next of which is prefetched; KEXPR_NONE: none */
};

/**
 * Describes rows along the REDUCED variable that are shorter than a vector, while vectors run along a PARALLEL variable and the
 * rows of its values lie one after the other.  Those of a vector's lanes are loaded by whole vectors, deinterleaved into row
 * buffers before the first phase, and stored in the opposite way, instead of being gathered and scattered.
 */
struct short_rows {
    uint32_t size;   /* elements of a row; 0: there are no such rows */
    int32_t *stores; /* by store: which row buffer collects its rows; -1: none, it is stored at once */
};

/** Returns whether as many vectors as rows have elements are split into those of even and of odd elements when they are taken
 * apart or put together, half as many each; else all of them are permuted at once. */
static inline bool schedule_splits_rows(uint32_t size)
{
    return size > 2 && size % 2 == 0;
}

/** Describes the rows of expressions that an earlier phase computes and later ones read, which lie in scratch. */
struct row_buffers {
    uint32_t count;         /* buffer b starts at b * (bytes / count) */
    uint32_t element_bytes; /* of one lane */
    uint32_t lanes;         /* of an element: more than 1 where vectors run along a PARALLEL variable */
    int64_t bytes;          /* of all of them */
    struct short_rows short_rows;
};

/** Describes a transpose in registers, of tensors that are contiguous along another variable than the vector variable. */
struct register_transpose {
    uint32_t var;        /* that variable; KEXPR_NONE: there is no transpose */
    uint32_t interleave; /* its size, where all its values are contiguous and are (de)interleaved; 0: transposed by lines */
    uint32_t few_rows;   /* a tile of so many rows or fewer is gathered and scattered */
    /* Which tiles have code: those that are full, those in part, and those of few rows or of the rest of a row.  A stage's
     * units are all those of a macro-tile, of sizes that the lowering chose, so that it has code for what there is. */
    bool full, partial, few;
};

/** Describes what happens at the ends of rows and tensors. */
struct edges {
    bool masked_tail; /* the rest of a row is a masked vector, else it is computed one by one */
    bool far_guards;  /* some guard's form may leave the numbers of 32 bits */
};

/** Estimates what all of a kernel takes. */
struct kernel_cost {
    double operations; /* additions, or what takes as long; 0: it only copies */
    double bytes;      /* read and written */
};

/** This is a kernel's schedule for processors. */
struct schedule {
    struct arena arena;
    const struct kernel *kernel; /* outlives the schedule */
    const struct target_facts *facts;

    int64_t vector_block;   /* elements of a PARALLEL vector variable that a unit covers at most: a power of two */
    uint32_t vector_var;    /* a PARALLEL variable or the last REDUCED one; KEXPR_NONE: everything is scalar */
    uint32_t lanes;         /* of a full vector */
    uint32_t vectors;       /* per iteration of a loop over a PARALLEL vector variable */
    uint32_t wide_vectors;  /* so many are emitted as one wide one, whose parts the processor overlaps; else 1 */
    uint8_t *phase_vectors; /* by phase: per iteration of a loop over a REDUCED vector variable */
    uint32_t unroll_from;   /* REDUCED variables from here on are unrolled */
    bool fixed_size;        /* the size of the vector variable is part of the code: the lowering chose it */
    struct edges edges;
    bool *var_lanes; /* by variable: its value differs from lane to lane */
    struct schedule_expr *exprs;

    struct row_buffers row_buffers;
    int64_t scratch_bytes; /* per thread: row buffers, or locals and what the stages need */

    bool tiled; /* a contraction in register tiles */
    struct register_tile tile;
    struct register_transpose transpose;

    uint32_t unit_var_count; /* PARALLEL variables whose values a unit is one combination of, slowest first */
    uint32_t unit_vars[KERNEL_VARS_MAX];
    int64_t units; /* independent pieces of work */
    struct kernel_cost cost;

    uint32_t stage_count;
    struct schedule **stages; /* of a kernel of stages, which has nothing above but scratch_bytes and units */
};

/** Says of what bytes are made: round(x / scale) + zero_point, where only x differs from lane to lane. */
struct quantised {
    uint32_t x, scale;
    uint32_t zero_point; /* float32, a whole number that is not larger than bytes are; KEXPR_NONE: 0 */
};

/** Returns whether an expression is made so, and of what. */
bool schedule_quantised(const struct schedule *s, uint32_t expr, struct quantised *q);

/** Makes the schedule of a finished kernel, which must outlive it; the caller frees the schedule.  Returns NULL if memory runs
 * out. */
struct schedule *schedule_cpu(const struct kernel *k, const struct target *t);
/** Frees a schedule and those of its stages.  NULL does nothing. */
void schedule_free(struct schedule *s);

/** Returns what a finished kernel costs on a machine, whatever its schedule is.  Work is divided by it, and profiles tell
 * it. */
struct kernel_cost kernel_cost(const struct kernel *k, const struct target_facts *facts);

/** Says what a kernel without stages executes by its schedule, with an instruction or access for all lanes of a vector. */
struct schedule_work {
    uint64_t *vars;    /* by expression: a bit for each PARALLEL or REDUCED variable that its value depends on */
    double operations; /* in additions */
    double accesses;   /* loads and stores, one for each lane where lanes lie apart */
};
/** Counts it, in the arena.  Returns false if memory runs out. */
bool schedule_count(const struct schedule *s, struct arena *a, struct schedule_work *w);
/** Returns the sum of operations and accesses of a kernel, or of its stages that usually run; 0 if memory runs out. */
double schedule_work_of(const struct schedule *s);

/**
 * Fills *out with the kernel's numbers, in the arena, and says which of them are parameters of the code.  A kernel of stages
 * has parameters only: the locals' offsets, where the scratch of the stages themselves begins, each stage's units per
 * macro-tile, then each stage's parameters.  Returns false if memory runs out.
 */
bool schedule_numbers(const struct schedule *s, struct arena *a, struct knumbers *out);
/** Returns the kernel's structure and what of the schedule shapes code, as text in the arena, or NULL if memory runs out. */
char *schedule_structure(const struct schedule *s, struct arena *a);
/** Prints the kernel and its schedule for people. */
void schedule_print(const struct schedule *s, FILE *out);
/** Prints the most important facts of the schedule, as a part of a line. */
void schedule_print_short(const struct schedule *s, FILE *out);

/* ---- MR x NR and panels, for passes that lay operands out before there is a kernel (schedule_mr_nr.c) ---- */

/** Gives the sizes of a contraction: [M][K] times [K][N]. */
struct contraction {
    int64_t m;     /* points that read all of B */
    int64_t n, k;  /* n: output channels, where convolutions are meant */
    int64_t group; /* those of N that read the same part of A, or are contiguous in the result: no panel is wider */
};

/**
 * Returns the panel width P of a constant B, which is packed as [N / P][K][P], so that a tile reads consecutive addresses.  A
 * panel is as wide as a tile.  Where that leaves lanes empty, something wider may be better; of equally good widths the one
 * nearest to a tile's is taken.  P divides group, or it is N, and there is one panel.
 */
int64_t schedule_panel(const struct target *t, const struct contraction *c);
/** Stores MR for a contraction whose M its lowering pads to a multiple of it, the best first.  Returns how many there are, 1 or
 * 2. */
uint32_t schedule_padded_rows(const struct target *t, uint32_t mr[2]);
/** Returns the panel width of a B on a device with work-groups: the widest one of whole vectors, up to so many columns, that
 * divides the group, or all columns. */
int64_t schedule_device_panel(int64_t columns, int64_t group, int64_t most);
/** Returns the panel width of the B of such a contraction. */
int64_t schedule_padded_panel(const struct target *t, const struct contraction *c);
/**
 * Returns how many columns of B a kernel of several contractions with one row each (gates of a recurrent step) computes at a
 * time, so that the sums of all fit into registers.  The number divides n; it is 0 if no width does.
 */
int64_t schedule_recurrent_panel(const struct target *t, int64_t n);

/* ---- what the lowering asks about a register tile, as the schedule saw it (schedule_matmul.c) ---- */

/** Returns whether an expression is a load of an operand, or part of one. */
bool tile_is_operand(const struct kexpr *x);
/** Returns whether x is an operand of which a tile of a strided kernel reads one element per row. */
bool tile_is_a(const struct schedule *s, const struct kexpr *x);
/** Returns the operand that is loaded by vectors and the same for all rows, or KEXPR_NONE if there is none. */
uint32_t tile_b(const struct schedule *s);
/** Returns how many REDUCED variables run over the numbers of a word of B, of which a step takes all: none but for
 * byte_products. */
uint32_t tile_word_vars(const struct schedule *s);
/** Returns whether the points of a PARALLEL variable, m_var for one, read B again. */
bool tile_repeats_b(const struct schedule *s, uint32_t var);
/** Returns how many zeros stand for a row of operand x in the padding, which is what loops inside of `branch` ones read of it.
 * Returns 0 if zeros cannot. */
uint32_t tile_zeros(const struct schedule *s, const struct kexpr *x, uint32_t branch);
/** Returns whether an operand's guards are the same for a whole tile and it is zero where they fail, so that the loops are
 * skipped there. */
bool tile_guards_are_common(const struct schedule *s, uint32_t expr, uint32_t branch);

/* ---- and about a transpose (schedule_transpose.c) ---- */

/** Returns whether the schedule transposes an unguarded access at this address. */
bool transpose_takes(const struct schedule *s, const struct kaffine *address);
