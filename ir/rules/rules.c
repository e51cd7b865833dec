/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lists the algebraic rules of graphs and kernels.  The first that applies is taken, and no rule leads back.
 *
 * These rules are not here, though tempting, because they are not exact: x + 0 (makes +0 of -0), 0 - x (likewise), x * 0, x - x
 * (NaN, infinities), pow(x, 0.5) (differs for -0 and -infinity), reassociation of any kind, x * sigmoid(x) and the decomposed
 * gelu and hardSwish as one operator (one rounding instead of several).
 */
#include "ir/rules/rules.h"

/* clang-format off */
const struct rule rules[] = {
    /* Neutral numbers. */
    {RULE_BOTH, RULE_FLOATS, {R_ADD, R_X, R_MINUS_ZERO}, {R_X}, "+0 + -0 is +0 and -0 + -0 is -0"},
    {RULE_BOTH, RULE_INTEGERS, {R_ADD, R_X, R_ZERO}, {R_X}, "integers have one zero"},
    {RULE_BOTH, RULE_ALL_TYPES, {R_SUB, R_X, R_ZERO}, {R_X}, "-0 - +0 is -0"},
    {RULE_BOTH, RULE_ALL_TYPES, {R_MUL, R_X, R_ONE}, {R_X}, "the product is x, so that nothing is rounded"},
    {RULE_BOTH, RULE_ALL_TYPES, {R_DIV, R_X, R_ONE}, {R_X}, "the quotient is x, so that nothing is rounded"},
    {RULE_GRAPH, RULE_ALL_TYPES, {R_POW, R_X, R_ONE}, {R_X}, "IEEE 754 says that this power is exact"},
    {RULE_BOTH, RULE_ALL_TYPES, {R_MIN, R_X, R_X}, {R_X}, "either one is x"},
    {RULE_BOTH, RULE_ALL_TYPES, {R_MAX, R_X, R_X}, {R_X}, "either one is x"},

    /* Numbers that make an operator a simpler one. */
    {RULE_GRAPH, RULE_API_FLOATS | RULE_SIGNED, {R_MUL, R_X, R_MINUS_ONE}, {R_NEG, R_X}, "flips the sign; integers wrap alike"},
    {RULE_GRAPH, RULE_API_FLOATS, {R_DIV, R_ONE, R_X}, {R_RECIPROCAL, R_X}, "the definition of reciprocal"},
    {RULE_GRAPH, RULE_FLOATS, {R_DIV, R_X, R_POWER_OF_TWO}, {R_MUL, R_X, R_INVERSE_K},
     "1 / K is exact, so that both round the same number once; multiplying is faster"},
    {RULE_GRAPH, RULE_ALL_TYPES, {R_POW, R_X, R_TWO}, {R_MUL, R_X, R_X}, "both round the square once; integers wrap in both"},
    {RULE_GRAPH, RULE_API_FLOATS, {R_POW, R_X, R_MINUS_ONE}, {R_RECIPROCAL, R_X},
     "both round 1 / x once; zeros give the infinity of their sign, infinities zeros"},
    {RULE_GRAPH, RULE_API_FLOATS, {R_PRELU, R_X, R_FINITE}, {R_LEAKY_RELU, R_X, R_K},
     "the same formula, max(0, x) + K * min(0, x)"},

    /* Signs and roundings. */
    {RULE_BOTH, RULE_ALL_TYPES, {R_NEG, R_NEG, R_X}, {R_X}, "flips the sign twice; integers wrap back"},
    {RULE_BOTH, RULE_FLOATS | RULE_SIGNED, {R_ABS, R_NEG, R_X}, {R_ABS, R_X},
     "no sign is left; the smallest integer is its own negative"},
    {RULE_BOTH, RULE_ALL_TYPES, {R_ADD, R_X, R_NEG, R_Y}, {R_SUB, R_X, R_Y}, "IEEE 754 defines it so; integers wrap"},
    {RULE_BOTH, RULE_ALL_TYPES, {R_SUB, R_X, R_NEG, R_Y}, {R_ADD, R_X, R_Y}, "IEEE 754 defines it so; integers wrap"},
    {RULE_BOTH, RULE_ALL_TYPES, {R_ABS, R_LET_X, R_ABS, R_ANY}, {R_X}, "x has no sign; the smallest integer stays"},
    {RULE_BOTH, RULE_ALL_TYPES, {R_SIGN, R_LET_X, R_SIGN, R_ANY}, {R_X}, "-1, 0 of either sign, 1 and NaN are their own signs"},
    {RULE_BOTH, RULE_ALL_TYPES, {R_ROUNDING, R_LET_X, R_INTEGRAL, R_ANY}, {R_X}, "roundings keep integers, infinities, NaN"},

    /* Choices and truth values. */
    {RULE_BOTH, RULE_ALL_TYPES, {R_WHERE, R_ANY, R_X, R_X}, {R_X}, "x is chosen either way"},
    {RULE_BOTH, RULE_ALL_TYPES, {R_WHERE, R_NONZERO, R_X, R_ANY}, {R_X}, "x is always chosen"},
    {RULE_BOTH, RULE_ALL_TYPES, {R_WHERE, R_ZERO, R_ANY, R_X}, {R_X}, "x is always chosen"},
    {RULE_GRAPH, RULE_INTEGERS, {R_LOGICAL_NOT, R_EQUAL, R_X, R_Y}, {R_NOT_EQUAL, R_X, R_Y}, "its negation, for NaN, too"},
    {RULE_GRAPH, RULE_INTEGERS, {R_LOGICAL_NOT, R_NOT_EQUAL, R_X, R_Y}, {R_EQUAL, R_X, R_Y}, "its negation, for NaN, too"},
    {RULE_KERNEL, RULE_BOOL, {R_NOT, R_NOT, R_X}, {R_X}, "negates twice"},
    {RULE_KERNEL, RULE_BOOL, {R_NOT_EQUAL, R_CAST, R_X, R_ZERO}, {R_X}, "a truth value is 0 or 1 as a number"},
    {RULE_KERNEL, RULE_BOOL, {R_EQUAL, R_CAST, R_X, R_ZERO}, {R_NOT, R_X}, "a truth value is 0 or 1 as a number"},
    {RULE_KERNEL, RULE_ALL_TYPES, {R_AND, R_X, R_X}, {R_X}, "every bit is its own conjunction"},
    {RULE_KERNEL, RULE_ALL_TYPES, {R_OR, R_X, R_X}, {R_X}, "every bit is its own disjunction"},
    {RULE_KERNEL, RULE_BOOL, {R_AND, R_X, R_NONZERO}, {R_X}, "true is neutral"},
    {RULE_KERNEL, RULE_BOOL, {R_AND, R_ANY, R_LET_X, R_ZERO}, {R_X}, "false decides"},
    {RULE_KERNEL, RULE_BOOL, {R_OR, R_X, R_ZERO}, {R_X}, "false is neutral"},
    {RULE_KERNEL, RULE_BOOL, {R_OR, R_ANY, R_LET_X, R_NONZERO}, {R_X}, "true decides"},

    /* Copies: the result has the type and shape of x. */
    {RULE_BOTH, RULE_ALL_TYPES, {R_COPY, R_X}, {R_X}, "in the same shape every element is where it was"},
    {RULE_KERNEL, RULE_ALL_TYPES, {R_BITCAST, R_X}, {R_X}, "the same bits as the same type"},
    {RULE_GRAPH, RULE_ALL_TYPES, {R_RESHAPE, R_RESHAPE, R_X}, {R_RESHAPE, R_X}, "both keep row-major order"},
};
/* clang-format on */

const size_t rule_count = sizeof rules / sizeof *rules;
