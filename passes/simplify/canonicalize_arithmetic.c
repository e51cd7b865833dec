/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Canonicalises operators that compute.  Each rule says why it is exact; `x op constant` means a constant of equal elements
 * whose shape does not widen the result.
 *
 * These rules are not here, though tempting, because they are not exact: x + 0 (turns -0 into +0), 0 - x (likewise), x * 0, x -
 * x (NaN, infinities), pow(x, 0.5) (differs for -0 and -infinity), reassociation of any kind, x * sigmoid(x) and the decomposed
 * gelu and hardSwish as one operator (one rounding instead of several).
 */
#include <math.h>
#include <string.h>

#include "passes/simplify/canonicalize.h"

/* ---- looking ---- */

static struct value *operand(const struct node *n, uint32_t slot)
{
    return n->inputs[slot].value;
}

/* Returns whether slot 1 holds a number, and the result is of slot 0's type: the operator is "x op number". */
static bool with_number(const struct node *n, double *number)
{
    return type_equal(&operand(n, 0)->type, &n->results[0]->type) && value_splat_number(operand(n, 1), number);
}

static bool is_float(const struct node *n)
{
    return dtype_is_float(n->results[0]->type.type);
}

/* ---- making ---- */

static struct value *make_unary(struct graph *g, struct node *n, enum op op, struct value *x)
{
    return make_node(g, n, op, n, 1, &x, NULL, NULL);
}

/* ---- clamp, relu, min, max: one form ---- */

/* Holds the bounds of min(max(x, low), high), either of which may be absent. */
struct bounds {
    bool has_low, has_high;
    double low, high;
};

/* Finds a bound in the type of the operand, as that type's arithmetic sees it.  Returns false if as a double it would not be
 * exact, or if it is NaN. */
static bool bound_of(WNNNumber number, dtype t, bool *has, double *bound)
{
    *has = number.type != WNNNumberType_Undefined;
    if (!*has)
        return true;
    *bound = scalar_to_double(number_cast(number, t), t);
    return !isnan(*bound) && (dtype_is_float(t) || fabs(*bound) < 9007199254740992.0);
}

/* Finds the bounds of a clamp or relu.  Returns false if n is neither, or if they cannot be handled. */
static bool bounds_of(const struct node *n, struct bounds *b)
{
    dtype t = n->results[0]->type.type;

    if (n->op == OP_RELU) {
        *b = (struct bounds){.has_low = true};
        return true;
    }
    return n->op == OP_CLAMP && bound_of(NODE_OPTIONS(n, WNNClampOptions)->minValue, t, &b->has_low, &b->low) &&
           bound_of(NODE_OPTIONS(n, WNNClampOptions)->maxValue, t, &b->has_high, &b->high);
}

static struct value *make_clamp(struct graph *g, struct node *n, struct value *x, const struct bounds *b)
{
    WNNClampOptions o = WNN_CLAMP_OPTIONS_INIT;
    dtype t = x->type.type;

    if (b->has_low)
        o.minValue = dtype_is_float(t) ? wnnNumber(b->low) : wnnNumberInt64((int64_t)b->low);
    if (b->has_high)
        o.maxValue = dtype_is_float(t) ? wnnNumber(b->high) : wnnNumberInt64((int64_t)b->high);
    return make_node(g, n, OP_CLAMP, n, 1, &x, &o, NULL);
}

/* Returns whether the numbers are ordered as bounds should be and none is -0, whose place among zeros would have to be thought
 * about.
 */
static bool orderly(const struct bounds *b)
{
    return !(b->has_low && is_negative_zero(b->low)) && !(b->has_high && is_negative_zero(b->high)) &&
           !(b->has_low && b->has_high && b->low > b->high);
}

/* Drops bounds that never bind: an infinite one, or the end of an integer type. */
static void drop_idle_bounds(struct bounds *b, dtype t)
{
    double lowest = -INFINITY, highest = INFINITY;

    if (!dtype_is_float(t)) {
        lowest = scalar_to_double(number_cast(wnnNumber(-INFINITY), t), t);
        highest = scalar_to_double(number_cast(wnnNumber(INFINITY), t), t);
    }
    if (b->has_low && b->low == lowest)
        b->has_low = false;
    if (b->has_high && b->high == highest)
        b->has_high = false;
}

/* clamp(clamp(x, l, h), L, H) is x clamped to l and h clamped to L and H, since clamping keeps order. */
static struct bounds combine(const struct bounds *inner, const struct bounds *outer)
{
    struct bounds both = {.low = inner->has_low ? inner->low : -INFINITY, .high = inner->has_high ? inner->high : INFINITY};

    if (outer->has_low) {
        both.low = fmax(both.low, outer->low);
        both.high = fmax(both.high, outer->low);
    }
    if (outer->has_high) {
        both.low = fmin(both.low, outer->high);
        both.high = fmin(both.high, outer->high);
    }
    both.has_low = both.low != -INFINITY;
    both.has_high = both.high != INFINITY;
    return both;
}

/*
 * Merges a clamp or relu with the one before it.  This is exact: clamp is min(max(x, low), high) and relu max(0, x) by
 * definition; both keep NaN, and -0 comes before +0.
 */
static struct value *simplify_clamp(struct graph *g, struct node *n)
{
    struct bounds b = {0}, inner = {0};
    struct value *x = operand(n, 0);

    if (!bounds_of(n, &b) || !orderly(&b))
        return NULL;
    drop_idle_bounds(&b, x->type.type);
    if (!b.has_low && !b.has_high)
        return x;
    if (x->producer && bounds_of(x->producer, &inner) && orderly(&inner)) {
        b = combine(&inner, &b);
        return make_clamp(g, n, operand(x->producer, 0), &b);
    }
    if (n->op == OP_CLAMP && b.has_low && b.low == 0 && !b.has_high && op_infos[OP_RELU].ins[0].types >> x->type.type & 1)
        return make_unary(g, n, OP_RELU, x);
    return NULL;
}

/* max(x, c) and min(x, c) are clamps with one bound, by the definition of clamp. */
static struct value *bound_by_number(struct graph *g, struct node *n)
{
    struct bounds b = {0};
    double number;

    if (!with_number(n, &number) || isnan(number) || fabs(number) >= 9007199254740992.0)
        return NULL;
    b.has_low = n->op == OP_MAX;
    b.has_high = n->op == OP_MIN;
    b.low = b.high = number;
    return make_clamp(g, n, operand(n, 0), &b);
}

/* ---- numbers that change nothing, or turn one operator into a simpler one ---- */

/* Returns whether c is a power of two whose reciprocal is a normal number of the type, too. */
static bool is_invertible_power_of_two(double c, dtype t)
{
    int exponent, most = t == WNNOperandDataType_Float16 ? 14 : 126;

    return isfinite(c) && c != 0 && fabs(frexp(c, &exponent)) == 0.5 && exponent - 1 >= -most && exponent - 1 <= most;
}

static struct value *scalar_like(struct graph *g, const struct value *v, double number)
{
    struct tensor_type t = {.type = v->type.type};

    return graph_add_scalar(g, &t, wnnNumber(number));
}

static struct value *simplify_with_number(struct graph *g, struct node *n)
{
    struct value *x = operand(n, 0);
    double c;

    if (!with_number(n, &c))
        return NULL;
    switch (n->op) {
    case OP_ADD: /* -0 is the neutral element of floats: +0 + -0 is +0, -0 + -0 is -0; integers have one zero */
        return c == 0 && (!is_float(n) || signbit(c)) ? x : NULL;
    case OP_SUB: /* x - +0 is x, also for -0 */
        return c == 0 && !signbit(c) ? x : NULL;
    case OP_MUL:
        if (c == 1)
            return x;
        /* Multiplying by -1 rounds nothing: it flips the sign.  Integers wrap alike; neg has no unsigned types. */
        if (c == -1 && op_infos[OP_NEG].ins[0].types >> x->type.type & 1)
            return make_unary(g, n, OP_NEG, x);
        return NULL;
    case OP_DIV:
        if (c == 1)
            return x;
        /* This is the same real number, rounded once, subnormal results included; and multiplying is faster. */
        if (is_float(n) && is_invertible_power_of_two(c, x->type.type))
            return make_binary(g, n, OP_MUL, x, scalar_like(g, x, 1 / c));
        return NULL;
    case OP_POW:
        if (c == 1) /* IEEE: exact; integers: x */
            return x;
        if (c == 2) /* both round the exact square once; integers wrap in both */
            return make_binary(g, n, OP_MUL, x, x);
        /* Both round the exact reciprocal once; zeros give the infinity of their sign, infinities zeros. */
        if (c == -1 && is_float(n))
            return make_unary(g, n, OP_RECIPROCAL, x);
        return NULL;
    default:
        return NULL;
    }
}

/* ---- pairs of operators ---- */

/* Returns whether an operator gives the same bits when it is applied a second time. */
static bool is_idempotent(enum op op)
{
    return op == OP_ABS || op == OP_CEIL || op == OP_FLOOR || op == OP_ROUND_EVEN || op == OP_SIGN;
}

static struct value *simplify_unary(struct graph *g, struct node *n)
{
    struct value *x = operand(n, 0);
    const struct node *inner = x->producer;

    if (!inner || inner->result_count != 1)
        return NULL;
    if (is_idempotent(n->op) && inner->op == n->op)
        return x;
    /* Roundings give integers, which further roundings keep. */
    if ((n->op == OP_CEIL || n->op == OP_FLOOR || n->op == OP_ROUND_EVEN) &&
        (inner->op == OP_CEIL || inner->op == OP_FLOOR || inner->op == OP_ROUND_EVEN || inner->op == OP_SIGN))
        return x;
    if (n->op == OP_NEG && inner->op == OP_NEG) /* flips the sign twice; integers wrap back */
        return operand(inner, 0);
    if (n->op == OP_ABS && inner->op == OP_NEG) /* the sign is dropped either way; the smallest integer is its own negative */
        return make_unary(g, n, OP_ABS, operand(inner, 0));
    if (n->op == OP_LOGICAL_NOT && inner->op == OP_EQUAL) /* notEqual is its negation, for NaN, too */
        return make_binary(g, n, OP_NOT_EQUAL, operand(inner, 0), operand(inner, 1));
    if (n->op == OP_LOGICAL_NOT && inner->op == OP_NOT_EQUAL)
        return make_binary(g, n, OP_EQUAL, operand(inner, 0), operand(inner, 1));
    return NULL;
}

/* x + -y is x - y and x - -y is x + y: IEEE defines subtraction so; integers wrap. */
static struct value *absorb_negation(struct graph *g, struct node *n)
{
    const struct node *negation = producer_of(operand(n, 1), OP_NEG);

    if (negation)
        return make_binary(g, n, n->op == OP_ADD ? OP_SUB : OP_ADD, operand(n, 0), operand(negation, 0));
    negation = n->op == OP_ADD ? producer_of(operand(n, 0), OP_NEG) : NULL;
    return negation ? make_binary(g, n, OP_SUB, operand(n, 1), operand(negation, 0)) : NULL;
}

/* A constant first operand of an operator that commutes goes second, where rules and epilogues look for it. */
static struct value *constant_last(struct graph *g, struct node *n)
{
    if (!(op_infos[n->op].flags & OPF_COMMUTES) || operand(n, 0)->kind != VALUE_CONSTANT ||
        operand(n, 1)->kind == VALUE_CONSTANT)
        return NULL;
    return make_binary(g, n, n->op, operand(n, 1), operand(n, 0));
}

/* 1 / x is what reciprocal computes. */
static struct value *division_of_one(struct graph *g, struct node *n)
{
    double number;

    if (!is_float(n) || !type_equal(&operand(n, 1)->type, &n->results[0]->type) ||
        !value_splat_number(operand(n, 0), &number) || number != 1)
        return NULL;
    return make_unary(g, n, OP_RECIPROCAL, operand(n, 1));
}

/* Simplifies a where with a condition that is the same everywhere, or with the same values either way. */
static struct value *simplify_where(struct graph *g, struct node *n)
{
    struct value *chosen = operand(n, 1);
    union scalar condition;

    (void)g;
    if (operand(n, 1) != operand(n, 2)) {
        if (!value_is_splat(operand(n, 0), &condition))
            return NULL;
        chosen = operand(n, condition.u8 ? 1 : 2);
    }
    return type_equal(&chosen->type, &n->results[0]->type) ? chosen : NULL;
}

/* prelu with one slope is leakyRelu: the same formula, max(0, x) + slope * min(0, x). */
static struct value *simplify_prelu(struct graph *g, struct node *n)
{
    WNNLeakyReluOptions o = WNN_LEAKY_RELU_OPTIONS_INIT;
    struct value *x = operand(n, 0);

    if (!is_float(n) || !with_number(n, &o.alpha) || !isfinite(o.alpha))
        return NULL;
    return make_node(g, n, OP_LEAKY_RELU, n, 1, &x, &o, NULL);
}

struct value *canonicalize_arithmetic(struct graph *g, struct node *n)
{
    static const struct rule rules[] = {
        {OP_RELU, simplify_clamp},      {OP_CLAMP, simplify_clamp},     {OP_MAX, bound_by_number},
        {OP_MIN, bound_by_number},      {OP_ADD, simplify_with_number}, {OP_ADD, absorb_negation},
        {OP_SUB, simplify_with_number}, {OP_SUB, absorb_negation},      {OP_DIV, division_of_one},
        {OP_DIV, simplify_with_number}, {OP_MUL, simplify_with_number}, {OP_POW, simplify_with_number},
        {OP_WHERE, simplify_where},     {OP_PRELU, simplify_prelu},
    };
    struct value *v = constant_last(g, n);

    if (!v)
        v = rules_apply(rules, sizeof rules / sizeof *rules, g, n);
    return v || n->input_count != 1 ? v : simplify_unary(g, n);
}
