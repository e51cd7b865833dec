/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares internals of ir/schedule.
 */
#pragma once

#include "ir/kernel/kernel_internal.h"
#include "ir/schedule/schedule.h"

/** Returns whether a variable is divided: derived ones depend on it. */
bool var_is_divided(const struct kernel *k, uint32_t var);
/** Returns how many loops over REDUCED variables must be open for the guards of a load to have values. */
static inline uint32_t guards_depth(const struct kernel *k, const struct kexpr *load)
{
    return kernel_depth(k, kguards_vars(k, load->guard_count, load->guards));
}
/** Returns the same for an expression. */
static inline uint32_t expr_depth(const struct kernel *k, uint32_t id)
{
    return kernel_depth(k, k->exprs[id].vars);
}

/* ---- loads of every second element (schedule_strided.c) ---- */

/** Returns the stride of a load with vectors along var, if it can be extracted from whole vectors; else 0. */
uint32_t load_stride(const struct schedule *s, const struct kexpr *load, uint32_t var);
/** Returns the size of the groups of equal lanes of a load with vectors along var; 0: there are none. */
uint32_t load_repeat(const struct schedule *s, const struct kexpr *load, uint32_t var);
/** Returns whether a guard's form, or that of a vector's last lane, may leave the numbers of 32 bits. */
bool has_far_guards(const struct kernel *k);
/** Chooses how vectors are loaded (enum load_kind), once the vector variable, lanes and transposes are chosen. */
void loads_choose(struct schedule *s, const struct isa *isa);

/** Returns the number of whole vectors from which a load's lanes are permuted, and stores their first element, counted from
 * that of the first lane; 0: it is gathered (schedule_permuted.c). */
uint32_t load_permuted(const struct schedule *s, const struct kexpr *load, const struct isa *isa, int32_t *first);

/** Returns how many vectors are emitted as one to pack quantised bytes (schedule_quantised.c); else 1. */
uint32_t quantised_vectors(const struct schedule *s, const struct isa *isa);

/* ---- kept values (schedule_cpu.c) ---- */

/** Is asked whether a phase reads an expression that phase `first` was the first one to need, instead of computing it again. */
typedef bool (*keep_test)(void *user, uint32_t expr, uint32_t first);
/** Goes through what phases need, the first one first, and asks about each varying expression that an earlier one needed.
 * Returns false if memory runs out. */
bool kept_find(const struct kernel *k, struct arena *a, keep_test keeps, void *user);

/* ---- short rows (schedule_short_rows.c) ---- */

/** Returns whether every element in memory, those of row buffers included, has 32 or 64 bits. */
bool elements_are_wide(const struct schedule *s);

/** Returns the cost of an access of short rows for a vector along var, in vectors; 0 if it is another one. */
double short_row_cost(const struct schedule *s, const struct isa *isa, const struct kaffine *address, uint32_t guard_count,
                      uint32_t tensor, uint32_t var);
/** Chooses which loads and stores are of short rows, and adds their row buffers, once the vector variable and the other row
 * buffers are chosen.  Returns false if memory runs out. */
bool short_rows_choose(struct schedule *s, const struct isa *isa);

/* ---- costs (schedule_cost.c) ---- */

/** Returns the cost of an expression for one vector, in additions: its time, and the length of its code. */
static inline double expr_cost(const struct schedule *s, const struct kexpr *x)
{
    return s->facts->operation.cost[kexpr_class(x)];
}
/** Returns whether an expression is a function that may be called instead of being computed in line. */
bool expr_is_called(const struct kexpr *x);
/** Returns the cost of an exponential, the unit for long loop bodies that hide the latency of memory. */
double cost_of_exponential(const struct schedule *s);
/** Returns the operations of a contraction's operands, which are not executed where it multiplies them as bytes. */
double cost_of_operands(const struct kernel *k, const struct target_facts *facts);

/* ---- MR x NR (schedule_mr_nr.c) ---- */

/** Describes what limits the tiles of a contraction. */
struct tile_bounds {
    int64_t m, n;        /* sizes of the M variable (1: there is none) and of the vector variable */
    uint32_t m_multiple; /* of M, as in struct kernel: then MR is it */
    int64_t mr_most;     /* rows that registers for addresses allow */
    bool own_operands;   /* every accumulator has its own (a depthwise convolution): large tiles only add code */
    bool unpacked;       /* vectors of B are computed from others, which are kept in registers, too */
    bool wide_elements;  /* every element in memory has 32 or 64 bits */
};

/** Chooses mr, vectors, the remainder of the columns, and how many tiles of rows a unit has. */
void mr_nr_choose(const struct target *target, const struct tile_bounds *b, struct register_tile *t);

/* ---- register tiles and transposes ---- */

/** Sets m_var and m_block of a kernel that is a contraction for register tiles.  Returns false if memory runs out. */
bool tile_find(struct schedule *s, const struct target *target);
/** Chooses the rest of the register tile, after tile_find.  Returns false if memory runs out. */
bool tile_choose(struct schedule *s, const struct target *target);
/** Returns the contraction of a kernel that has one. */
const struct kexpr *find_dot(const struct kernel *k);

/* ---- windows that overlap (schedule_window.c) ---- */

/** Returns whether every accumulator of a tile has operands of its own: large tiles are only long code there. */
bool operands_are_own(const struct schedule *s);
/** Fills tile.window, and chooses which loops are unrolled there.  Lines of a tile share B, which has to stay in registers.
 * Returns false if memory runs out. */
bool window_choose(struct schedule *s, const struct target *target);

/* ---- products of bytes (schedule_bytes.c) ---- */

/** Determines whether bytes are multiplied, after the rest of tile_choose up to where accumulation is split.  Then blocks are
 * those of the factors, and sums of integers are split there alone. */
void bytes_choose(struct schedule *s, const struct target *target);
/** Fills tile.blocks.words, for tiles of few rows, of a schedule whose tile is known but for that. */
void lookups_choose(struct schedule *s, const struct target *target);
/** Returns whether x loads one of four signed bytes of a word, over which the innermost REDUCED variable runs, and neighbours
 * along var are neighbouring words, so that vectors of words are loaded (struct byte_products). */
bool tile_loads_words(const struct kernel *k, const struct kexpr *x, uint32_t var);
/** Returns whether B depends on a PARALLEL variable. */
bool tile_is_b_var(const struct schedule *s, uint32_t var);

/** Chooses the transpose in registers, if there is to be one. */
void transpose_choose(struct schedule *s);
/**
 * Fills in s->numbers, and says which of them are parameters of the code.  A kernel of stages has parameters only: the locals'
 * offsets, where the scratch of the stages themselves begins, each stage's units per macro-tile, its period, then each stage's
 * parameters.  Returns false if memory runs out.
 */
bool schedule_list_numbers(struct schedule *s);
