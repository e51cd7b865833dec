/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares internals of the files that build expansions.
 *
 * C does not define the order in which a call's arguments are evaluated.  If two of them append steps, locals fix the order, so
 * that expansions do not depend on the compiler.
 */
#pragma once

#include "ir/expansion/expansion.h"

/** An expansion under construction. */
struct expander {
    struct expansion *out;
    const struct expansion_target *target;
};

/** The number of a value in the expansion. */
typedef uint16_t value;

/* ---- expander.c ---- */

/** Returns the type of a value. */
enum ktype expander_type(const struct expander *e, value v);
/** Appends an operation of any kind, or its expansion if the target has no such operation.  Returns its value. */
value expander_step(struct expander *e, enum kop op, enum ktype type, value a, value b, value c);
/** Append constants of the type of another value. */
value expander_number(struct expander *e, value like, double x);
value expander_integer(struct expander *e, value like, int64_t x);
/** Append c[0] + c[1] t + c[2] t^2 + ..., by Horner's rule. */
value expander_polynomial(struct expander *e, value t, const double *c, uint32_t count);
#define POLYNOMIAL(e, t, c) expander_polynomial(e, t, c, sizeof(c) / sizeof *(c))

/* ---- short names ---- */

/** The functions below are named after the operation that they append and return. */
static inline value number(struct expander *e, value like, double x)
{
    return expander_number(e, like, x);
}
static inline value integer(struct expander *e, value like, int64_t x)
{
    return expander_integer(e, like, x);
}
static inline value step1(struct expander *e, enum kop op, value a)
{
    return expander_step(e, op, op == K_IS_NAN ? KT_BOOL : expander_type(e, a), a, EXPANSION_NONE, EXPANSION_NONE);
}
static inline value step2(struct expander *e, enum kop op, value a, value b)
{
    bool compares = op == K_EQ || op == K_NE || op == K_LT || op == K_LE;
    return expander_step(e, op, compares ? KT_BOOL : expander_type(e, a), a, b, EXPANSION_NONE);
}
static inline value step3(struct expander *e, enum kop op, value a, value b, value c)
{
    return expander_step(e, op, expander_type(e, op == K_SELECT ? b : a), a, b, c);
}
static inline value convert(struct expander *e, enum ktype type, value a)
{
    return expander_step(e, K_CAST, type, a, EXPANSION_NONE, EXPANSION_NONE);
}
static inline value bits_as(struct expander *e, enum ktype type, value a)
{
    return expander_step(e, K_BITCAST, type, a, EXPANSION_NONE, EXPANSION_NONE);
}
#define STEP1(name, op)                                                                                                        \
    static inline value name(struct expander *e, value a)                                                                      \
    {                                                                                                                          \
        return step1(e, op, a);                                                                                                \
    }
#define STEP2(name, op)                                                                                                        \
    static inline value name(struct expander *e, value a, value b)                                                             \
    {                                                                                                                          \
        return step2(e, op, a, b);                                                                                             \
    }
/* of a value and a constant */
#define WITH_CONSTANT(name, op, type, first, second)                                                                           \
    static inline value name(struct expander *e, value a, type b)                                                              \
    {                                                                                                                          \
        return step2(e, op, first, second);                                                                                    \
    }
STEP2(add, K_ADD)
STEP2(sub, K_SUB)
STEP2(mul, K_MUL)
STEP1(negate, K_NEG)
STEP1(magnitude, K_ABS)
STEP2(both, K_AND)
STEP2(either, K_OR)
/** Compare floats with constants; the result is false for NaN. */
WITH_CONSTANT(less, K_LT, double, a, number(e, a, b))
WITH_CONSTANT(more, K_LT, double, number(e, a, b), a)
WITH_CONSTANT(at_least, K_LE, double, number(e, a, b), a)
WITH_CONSTANT(equals, K_EQ, double, a, number(e, a, b))
/** Integer operations: shifts by constants, and the bits of a mask. */
WITH_CONSTANT(shift_left, K_SHL, int, a, integer(e, a, b))
WITH_CONSTANT(shift_right, K_SHR, int, a, integer(e, a, b))
WITH_CONSTANT(masked, K_AND, int64_t, a, integer(e, a, b))
#undef STEP1
#undef STEP2
#undef WITH_CONSTANT
static inline value select_if(struct expander *e, value condition, value a, value b)
{
    return step3(e, K_SELECT, condition, a, b);
}
/** Returns whether an integer has one of the mask's bits. */
static inline value has_bit(struct expander *e, value a, int64_t mask)
{
    value bits = masked(e, a, mask);
    return step2(e, K_NE, bits, integer(e, a, 0));
}
/** Appends a * b + c, fused if the target can. */
static inline value multiply_add(struct expander *e, value a, value b, value c)
{
    bool fused = e->target->fma && !(e->target->no_f64_fma && expander_type(e, a) == KT_F64);

    return fused ? step3(e, K_FMA, a, b, c) : add(e, mul(e, a, b), c);
}
static inline value multiply_add_const(struct expander *e, value a, double b, value c)
{
    return multiply_add(e, a, number(e, a, b), c);
}

/* ---- the functions: values of args in, the result's value out ---- */

value expand_exp(struct expander *e, const value *args); /* exponential.c */
value expand_exp2(struct expander *e, const value *args);
value expand_expm1(struct expander *e, const value *args);
value expand_sigmoid(struct expander *e, const value *args);
value expand_tanh(struct expander *e, const value *args);
value expand_erf(struct expander *e, const value *args);
value expand_log(struct expander *e, const value *args); /* logarithm.c */
value expand_log1p(struct expander *e, const value *args);
value expand_sin(struct expander *e, const value *args); /* trigonometric.c */
value expand_cos(struct expander *e, const value *args);
value expand_tan(struct expander *e, const value *args);
value expand_pow(struct expander *e, const value *args);    /* power.c */
value expand_to_f16(struct expander *e, const value *args); /* rounding.c */
value expand_from_f16(struct expander *e, const value *args);
value expand_to_bf16(struct expander *e, const value *args);
static inline value expand_from_bf16(struct expander *e, const value *args)
{
    return bits_as(e, KT_F32, shift_left(e, args[0], 16));
}
value expand_fma(struct expander *e, const value *args);
static inline value expand_div_approx(struct expander *e, const value *args)
{
    return step2(e, K_DIV, args[0], args[1]);
}
