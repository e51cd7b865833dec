/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A schedule describes how a kernel is computed on a machine.
 *
 * A kernel (ir/kernel/kernel.h) describes the computation; it has no machine-dependent number.  schedule_cpu makes all
 * machine-dependent decisions for a processor with vector registers: along which variable vectors run, how many lanes and
 * vectors an iteration has, which register tile a matrix multiplication or convolution uses (MR x NR), what the units of
 * parallel work are and in which order loops are nested, which intermediate values are kept in row buffers, what is prefetched,
 * unrolled and transposed in registers.  A GPU's schedule comes from another function (schedule_gpu.h).
 *
 * schedule_cpu takes a finished kernel, and facts and costs of the processor (ir/target/target.h).  It makes a struct schedule.
 * The lowering (codegen/lower) follows it, schedule_print shows it, and schedule_structure, which is the kernel's structure and
 * everything of the schedule that shapes code, is the key under which code is shared: equal keys mean equal code.
 *
 *   schedule_cpu.c        the vector variable, row buffers, lanes and unrolling, units; all of it combined
 *   schedule_matmul.c     register tiles
 *   schedule_window.c     windows of depthwise convolutions, which overlap
 *   schedule_bytes.c      products of bytes
 *   schedule_mr_nr.c      MR x NR of those, and panels of packed B
 *   schedule_transpose.c  transposes in registers
 *   schedule_strided.c    loads of every second element
 *   schedule_short_rows.c rows that are shorter than a vector
 *   schedule_permuted.c   loads of nearby elements, at computed indices
 *   schedule_quantised.c  numbers that are divided by a scale and converted to bytes
 *   schedule_cost.c       estimates
 *   schedule_work.c       counts of executed operations
 *   schedule_print.c      text and key
 */
#pragma once

#include "ir/kernel/kernel.h"
#include "ir/schedule/contraction.h"
#include "ir/target/target.h"

/** Bounds of what schedules ask for, by which lowerings size arrays; no machine's facts (ir/target/target.h) exceed them. */
enum {
    SCHEDULE_VECTORS_MAX = 32,    /* vectors per iteration: the accumulators of a register tile */
    SCHEDULE_SUM_VECTORS_MAX = 4, /* those of a loop of sums */
    SCHEDULE_FIXED_SUM_MAX = 256, /* elements of a sum along vectors whose number is part of the code */
    SCHEDULE_PERMUTED_MAX = 4,    /* vectors that a load's lanes are permuted from */
    SCHEDULE_SHORT_ROW_MAX = 16,  /* elements of a row that is loaded and stored together with others */
    SCHEDULE_INTERLEAVE_MAX = 4   /* rows that are interleaved */
};

/** Describes how the vectors of a load are loaded, where its index does not tell. */
enum load_kind {
    LOAD_BY_INDEX, /* a vector of consecutive elements, or a gather */
    LOAD_STRIDED,  /* extracted from as many whole vectors as the stride */
    LOAD_REPEATED, /* lanes come in groups of equal ones */
    LOAD_PERMUTED, /* permuted from whole vectors */
    LOAD_RUNS      /* a gather of mostly consecutive elements, tested at run time */
};

/** Describes how one expression is computed. */
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

/** Describes the factors of a block of K, by which its sum is multiplied once. */
struct block_products {
    uint32_t factor, unscaled; /* B is `unscaled` times `factor`, which is the same for a block; KEXPR_NONE: it is not */
    struct byte_products bytes;
    uint32_t words; /* the K_LOAD of words of 2 or 1 bits, of which 4 bits look up what they add to a sum; KEXPR_NONE */
};

/* A register of 16 numbers is a lookup table indexed by 4 bits of every lane of another one (AVX-512). */
enum { LOOKUP_BITS = 4, LOOKUP_ENTRIES = 1 << LOOKUP_BITS };

enum { TILE_CHAINS_MAX = 2, TILE_INTERLEAVED = 3 /* most vectors of two steps of a row that are interleaved */ };

enum {
    TILE_WINDOW_MAX = 64, /* steps of a window */
    TILE_LINES = 2        /* of a tile, where registers hold them: one is left over at most */
};

/** Says how far A moves, in elements that a tile may read: strides and dilations of a convolution. */
struct window_steps {
    uint32_t neighbours; /* from one row or line to the next one */
    uint32_t inside;     /* in a step of the REDUCED variable that the window extends along */
};

/**
 * Says what accumulators share that have operands of their own, as those of a depthwise convolution: the windows of A that
 * neighbours add up overlap.  Loops over REDUCED variables that are unrolled then go over the elements of A that a tile reads,
 * each of which is loaded once and is multiplied for all rows whose windows it is in, while vectors of B stay in registers.
 */
struct tile_window {
    struct window_steps row;  /* from one row's A to the next one's; neighbours is 0: nothing is shared */
    struct window_steps line; /* the same from line to line, and of the REDUCED variable before the innermost one */
    uint32_t lines;           /* a tile has so many times mr rows, which are neighbours along line_var */
    uint32_t line_var;        /* a PARALLEL variable, if lines is not 1 */
    bool line_left;           /* there may be a last line, whose tiles are of it alone */
    bool skips;               /* A is zero in the padding: lines of it are skipped, so that one code serves edges, too */
    uint32_t low, high;       /* then: elements at the ends of a line that a tile reads which may be in the padding */
    bool outer;               /* blocks of the vector variable are the slowest loop */
};

/**
 * Describes a register tile: an MR x NR micro-kernel that computes a contraction, a sum of products of A and B.  M is the m_var
 * variable, N the vector variable, K are the REDUCED variables.  A is the operand that is loaded element by element, one for
 * each row of the tile; B is loaded by vectors, which all rows share.
 */
struct register_tile {
    uint32_t m_var;       /* PARALLEL variable that B does not depend on; KEXPR_NONE: none, tiles have one row */
    bool m_outer;         /* blocks of m_var are the slowest loop: all of A exceeds the cache, and all of B */
    uint32_t mr, vectors; /* rows, and vectors of a row (NR is lanes times as much) */
    bool shorter;         /* there are tiles of mr - 1 rows, too, so that as many of both as a size needs leave no rest */
    bool even;            /* this size has no such tiles, but others of the same code may */
    uint32_t m_tiles;     /* tiles along m_var that a unit covers at most (MC) */
    bool full;            /* there are tiles of that many vectors */
    uint32_t n_tail;      /* vectors that are left over */
    bool masked, scalars; /* the last of them is masked; single elements are left over */
    uint32_t unroll_from; /* REDUCED variables from here on are unrolled */
    uint32_t split;       /* REDUCED variable at which accumulation is split into blocks of split_steps; KEXPR_NONE: nowhere */
    int64_t split_steps;
    struct block_products blocks;
    struct tile_window window;
    bool guarded;    /* an operand has guards (padding) */
    uint32_t branch; /* depth of the reduction loop at which one test decides the guards for a tile; KEXPR_NONE: none does */
    uint32_t edge;   /* depth at which a row in the padding gets zeros to read */
    uint32_t zeros;  /* elements that such a row reads instead of its own; 0: it is masked */
    bool b_outer;    /* B exceeds the cache: it is walked once, slowest */
    bool strided;    /* a matrix multiplication: strides of rows are parameters, so that sizes share code */
    uint32_t chains; /* sums that alternate along the innermost loop, to hide the latency of additions */
    uint32_t interleaved;  /* vectors of two steps of a row, whose products are neighbouring lanes; 0: a step is loaded alone */
    uint32_t prefetch_var; /* counts panels of B, the next of which is prefetched; vector_var: B itself is; KEXPR_NONE: none */
};

/**
 * Describes rows along the REDUCED variable that are shorter than a vector, while vectors run along a PARALLEL variable and the
 * rows of its values are one after the other.  Those of a vector's lanes are loaded by whole vectors, deinterleaved into row
 * buffers before the first phase, and stored in the opposite way, instead of being gathered and scattered.
 */
struct short_rows {
    uint32_t size;   /* elements of a row; 0: there are no such rows */
    int32_t *stores; /* by store: which row buffer collects its rows; -1: none, it is stored at once */
};

/** Returns whether as many vectors as rows have elements are split into those of even and of odd elements when they are taken
 * apart or combined, half as many each; else all of them are permuted at once. */
static inline bool schedule_splits_rows(uint32_t size)
{
    return size > 2 && size % 2 == 0;
}

/** Describes the rows of expressions that an earlier phase computes and later ones read, which are in scratch. */
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
    uint32_t few_rows;   /* a tile of that many rows or fewer is gathered and scattered */
    /* Which tiles have code: those that are full, those in part, and those of few rows or of the remainder of a row.  A stage's
     * units are all those of a macro-tile, of sizes that the lowering chose, so that it has code for the existing ones. */
    bool full, partial, few;
};

/** Describes what happens at the ends of rows and tensors. */
struct edges {
    bool masked_tail; /* the remainder of a row is a masked vector, else it is computed one by one */
    bool far_guards;  /* some guard's form may leave the numbers of 32 bits */
    bool whole;       /* rows are whole vectors: nothing is left over */
    bool branches;    /* vectors across an edge of guards are loaded with branches */
    uint32_t zeros;   /* of a stage's unit that loads outside read, whose address is chosen before; 0: there are none */
};

/** Describes the loops over REDUCED variables, which are counted from the outermost one.  Long sums are added up in blocks of
 * iterations of one of them. */
struct reduced_loops {
    uint32_t unroll_from; /* from here on they are unrolled */
    uint32_t sum_split;   /* whose iterations; KEXPR_NONE: there are no blocks */
    uint32_t sum_steps;   /* of a block, at most */
};

/** Estimates the cost of a whole kernel. */
struct kernel_cost {
    double operations; /* in additions; 0: it only copies */
    double bytes;      /* read and written */
};

/** A kernel's schedule for processors. */
struct schedule {
    struct arena arena;
    const struct kernel *kernel; /* outlives the schedule */
    const struct target_facts *facts;

    int64_t vector_block;   /* elements of a PARALLEL vector variable that a unit covers at most: a power of two */
    uint32_t vector_var;    /* a PARALLEL variable or the last REDUCED one; KEXPR_NONE: everything is scalar */
    uint32_t lanes;         /* of a full vector */
    uint32_t vectors;       /* per iteration of a loop over a PARALLEL vector variable */
    uint32_t wide_vectors;  /* that many are emitted as one wide one, whose parts the processor overlaps; else 1 */
    uint8_t *phase_vectors; /* by phase: per iteration of a loop over a REDUCED vector variable */
    struct reduced_loops reduced;
    bool fixed_size; /* the size of the vector variable is part of the code: the lowering chose it */
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

    struct schedule **stages; /* of a kernel of stages, and NULL; it uses only scratch_bytes and units of the above */
    struct knumbers numbers;  /* schedule_list_numbers */
};

/** Returns whether the steps of a block are a parameter of the code, the last of its numbers. */
static inline bool schedule_splits_by_number(const struct schedule *s)
{
    return s->tiled && s->tile.split != KEXPR_NONE && s->tile.split_steps != 1;
}

/** Returns whether a register tile has several lines along a PARALLEL variable. */
static inline bool tile_has_lines(const struct schedule *s, uint32_t var)
{
    return s->tiled && s->tile.window.lines > 1 && s->tile.window.line_var == var;
}

enum { QUANTISED_VECTORS = 4 }; /* of 32 bits, which make one of bytes */
/** Says of what bytes are made: round(x / scale) + zero_point, where only x differs from lane to lane. */
struct quantised {
    uint32_t x, scale;   /* KEXPR_NONE: 1 */
    uint32_t zero_point; /* float32, a whole number that is not larger than bytes are; KEXPR_NONE: 0 */
    bool fits;           /* x / scale is a number within int32 */
};

/** Returns whether an expression is of that form, and its parts. */
bool schedule_quantised(const struct schedule *s, uint32_t expr, struct quantised *q);

/** Makes the schedule of a finished kernel, which must outlive it; the caller frees it.  Returns NULL if memory runs out. */
struct schedule *schedule_cpu(const struct kernel *k, const struct target *t);
/** Lets kernels of a graph (NULL: none) share code.  Matrix multiplications that are alike split their sums and prefetch alike,
 * and those alone have tiles of one row less whose sizes, or those of others with the same expressions, need them. */
void schedules_join(struct schedule *const *schedules, uint32_t count);
/** Frees a schedule and those of its stages.  NULL does nothing. */
void schedule_free(struct schedule *s);

/** Returns the cost of a finished kernel on a machine, whatever its schedule.  It divides work, and profiles show it. */
struct kernel_cost kernel_cost(const struct kernel *k, const struct target_facts *facts);

/** Counts what a kernel, or its stages except rare ones, executes by its schedule: operations in additions, one for all lanes
 * of a vector, and loads and stores, one for each lane of gathers and scatters. */
double schedule_work_of(const struct schedule *s);

/** Returns the kernel's structure and what of the schedule shapes code, as text in the arena, or NULL if memory runs out. */
char *schedule_structure(const struct schedule *s, struct arena *a);
/** Prints the kernel and its schedule as text. */
void schedule_print(const struct schedule *s, FILE *out);
/** Prints the most important facts of the schedule, as a part of a line. */
void schedule_print_short(const struct schedule *s, FILE *out);

/** Returns the stride of a load with vectors along var, 2 to `most`, or 0 if it moves otherwise, or a guard does that moves
 * (schedule_strided.c). */
uint32_t load_stride_within(const struct kernel *k, const struct kexpr *load, uint32_t var, int64_t most);

/* ---- MR x NR and panels, for passes that lay operands out before there is a kernel (schedule_mr_nr.c) ---- */

/** Gives the sizes of a contraction: [M][K] times [K][N]. */
struct contraction {
    int64_t m;     /* points that read all of B */
    int64_t n, k;  /* n: output channels, where convolutions are meant */
    int64_t group; /* those of N that read the same part of A, or are contiguous in the result: no panel is wider */
    bool compact;  /* B has less than 32 bits for a number */
};

/**
 * Returns the panel width P of a constant B, which is packed as [N / P][K][P], so that a tile reads consecutive addresses.  A
 * panel is as wide as a tile.  If that leaves lanes empty, a wider one may be better; of equally good widths the one nearest to
 * a tile's is taken.  P divides group, or it is N, and there is one panel.
 */
int64_t schedule_panel(const struct target *t, const struct contraction *c);
/** Stores MR for a contraction whose M its lowering pads to a multiple of it, the best first.  Returns how many, 1 or 2. */
uint32_t schedule_padded_rows(const struct target *t, uint32_t mr[2]);
/** Returns the panel width of a B on a device with work-groups: the widest one of whole vectors, up to so many columns, that
 * divides the group, or all columns. */
int64_t schedule_device_panel(int64_t columns, int64_t group, int64_t most);
/** Returns the panel width of the B of such a contraction. */
int64_t schedule_padded_panel(const struct target *t, const struct contraction *c);
/**
 * Returns how many columns of B a kernel of several contractions with one row each (gates of a recurrent step) computes at a
 * time, so that all sums fit into registers.  The number divides n; it is 0 if no width does.
 */
int64_t schedule_recurrent_panel(const struct target *t, int64_t n);

/** Returns whether a stage has so many addresses that only what is the same for a unit is added to their pointers: the rest is
 * one index for all. */
bool schedule_has_many_addresses(const struct schedule *s);

/* ---- what the lowering asks about a register tile, by the schedule (schedule_matmul.c) ---- */

/** Returns whether an expression is a load of an operand, or part of one. */
bool tile_is_operand(const struct kexpr *x);
/** Returns whether one code serves tiles of which some rows are in the padding, and all others: nothing is gained by unrolling
 * it, or it multiplies words.  Otherwise tiles at an edge have loops, where many addresses leave no registers for more. */
static inline bool tile_is_same_at_edges(const struct schedule *s)
{
    const struct register_tile *t = &s->tile;

    return t->zeros && t->edge == t->branch && (t->unroll_from == s->kernel->reduced_count || t->blocks.bytes.a != KEXPR_NONE);
}
/** Returns whether strides of a tile's rows are part of the code.  They are parameters where each row has an address of its
 * own, and where columns have bytes of their own, whose addresses take little of the time, or windows overlap, whose long
 * code layers of all widths share. */
static inline bool tile_fixes_rows(const struct schedule *s)
{
    const struct register_tile *t = &s->tile;

    return t->m_var != KEXPR_NONE && !t->strided && !tile_is_same_at_edges(s) && !t->blocks.bytes.own &&
           !t->window.row.neighbours;
}
/** Returns whether x is an operand of which a tile of a strided kernel reads one element per row. */
bool tile_is_a(const struct schedule *s, const struct kexpr *x);
/** Returns the operand that is loaded by vectors and the same for all rows, or KEXPR_NONE if there is none. */
uint32_t tile_b(const struct schedule *s);
/** Returns how many REDUCED variables run over the numbers of a word of B, of which a step takes all: none but for
 * byte_products. */
uint32_t tile_word_vars(const struct schedule *s);
/** Returns whether the points of a PARALLEL variable, m_var for one, read B again. */
bool tile_repeats_b(const struct schedule *s, uint32_t var);
/** Returns how many zeros replace a row of operand x in the padding: the elements that loops inside `branch` ones read.
 * Returns 0 if zeros cannot. */
uint32_t tile_zeros(const struct schedule *s, const struct kexpr *x, uint32_t branch);
/** Returns the byte that replaces these zeros: a zero point of bytes. */
uint8_t tile_fill(const struct schedule *s);
/** Returns whether load x has that value where its guards fail; without a tile, whether it is zero. */
bool tile_is_filled(const struct schedule *s, const struct kexpr *x);
/** Returns whether an operand's guards are the same for a whole tile and it is zero where they fail, so that the loops are
 * skipped there. */
bool tile_guards_are_common(const struct schedule *s, uint32_t expr, uint32_t branch);

/* ---- and about a transpose (schedule_transpose.c) ---- */

/** Returns whether the schedule transposes an unguarded access at this address. */
bool transpose_takes(const struct schedule *s, const struct kaffine *address);
