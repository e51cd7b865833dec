/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expresses elementary functions as programs of simple scalar operations, the same for every code generator: exp, log, sin,
 * pow, ..., and conversions of low-precision floats.  docs/scalar-functions.md has the methods and the errors.
 *
 * In a kernel each of them is one operation (K_EXP).  A code generator builds its expansion while it emits that operation and
 * emits the steps in order, on scalars or on vectors.  Steps are operations of the kernel IR that the target computes by
 * itself, never others that would have to be expanded, too.
 *
 * Expansions are not cached: building one takes a few microseconds.  No function here allocates memory or
 * fails, and all may be called by several threads at the same time.
 */
#pragma once

#include "ir/kernel/kernel.h"

enum {
    EXPANSION_ARGUMENTS_MAX = 3,
    EXPANSION_VALUES_MAX = 512, /* arguments and steps of the longest */
    EXPANSION_NONE = UINT16_MAX
};

/** The operations for which a target has an instruction; the others are expanded. */
struct expansion_target {
    bool fma;        /* K_FMA; without it, sums of products inside expansions are rounded twice */
    bool ldexp;      /* K_LDEXP, K_FRACTION */
    bool div_approx; /* K_DIV_APPROX */
    bool no_f64_fma; /* K_FMA, but not of float64 */
};

/** One step, which applies op to earlier values. */
struct expansion_step {
    enum kop op; /* K_CONST or an operation without memory, variables and reduction; K_LOAD: an argument */
    enum ktype type;
    uint16_t args[3];  /* values; EXPANSION_NONE where unused */
    union scalar bits; /* K_CONST */
};

/**
 * This is a program without branches.  Value i is what step i computes; the first steps are the arguments.
 *
 * Steps [rare_first, rare_end) should be skipped by a branch: the last `rare_merged` of them are selects by the value
 * rare_condition, and no later step uses any other of them.  If the condition holds for no lane, all of them may be skipped,
 * and the selects have the values of their third operands.
 */
struct expansion {
    enum kop op;
    uint16_t argument_count, value_count, result;
    uint16_t rare_first, rare_end, rare_merged, rare_condition; /* rare_end 0: there are none */
    bool long_code; /* better called as a function than inlined; so are all with rare steps */
    struct expansion_step steps[EXPANSION_VALUES_MAX];
};

/**
 * Returns whether an operation has an expansion for a target.  K_FMA and K_DIV_APPROX have one if the target has no
 * instruction.
 */
bool expansion_exists(enum kop op, const struct expansion_target *target);
/**
 * Fills *out with the expansion of an operation that has one.  Its arguments and result are those of the operation on KT_F32
 * (kop_types_fit); operations on KT_F64 are those of the rounded arguments (kop_has_f64).
 */
void expansion_build(enum kop op, const struct expansion_target *target, struct expansion *out);
/**
 * Returns the largest error of an elementary function on KT_F32, in units in the last place of the exact result, with or
 * without fused multiply-add.  0 stands for results that are exact, or rounded once like those of K_TO_F16 and K_FMA.
 */
double expansion_error(enum kop op, bool fma);
