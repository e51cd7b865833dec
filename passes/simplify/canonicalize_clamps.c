/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Gives clamp, relu, and min and max with a number one form, and merges those that follow each other. */

#include "passes/simplify/canonicalize.h"

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
    struct value *x = n->inputs[0].value;

    if (!bounds_of(n, &b) || !orderly(&b))
        return NULL;
    drop_idle_bounds(&b, x->type.type);
    if (!b.has_low && !b.has_high)
        return x;
    if (x->producer && bounds_of(x->producer, &inner) && orderly(&inner)) {
        b = combine(&inner, &b);
        return make_clamp(g, n, x->producer->inputs[0].value, &b);
    }
    if (n->op == OP_CLAMP && b.has_low && b.low == 0 && !b.has_high && op_infos[OP_RELU].ins[0].types >> x->type.type & 1)
        return make_node(g, n, OP_RELU, n, 1, &x, NULL, NULL);
    return NULL;
}

/* max(x, c) and min(x, c) are clamps with one bound, by the definition of clamp. */
static struct value *bound_by_number(struct graph *g, struct node *n)
{
    struct value *x = n->inputs[0].value;
    struct bounds b = {0};
    double number;

    if (!type_equal(&x->type, &n->results[0]->type) || !value_splat_number(n->inputs[1].value, &number) || isnan(number) ||
        fabs(number) >= 9007199254740992.0)
        return NULL;
    b.has_low = n->op == OP_MAX;
    b.has_high = n->op == OP_MIN;
    b.low = b.high = number;
    return make_clamp(g, n, x, &b);
}

/* Returns whether v is computed from bytes, in so many additions at most, so that it is not NaN. */
static bool is_of_bytes(const struct value *v, uint32_t additions)
{
    const struct node *n = v->producer;
    double scale;

    if (n && additions && (n->op == OP_ADD || n->op == OP_SUB))
        return is_of_bytes(n->inputs[0].value, additions - 1) && is_of_bytes(n->inputs[1].value, additions - 1);
    return n && n->op == OP_DEQUANTIZE_LINEAR && v->type.type == WNNOperandDataType_Float32 &&
           !dtype_is_float8(n->inputs[0].value->type.type) && value_splat_number(n->inputs[1].value, &scale) &&
           fabs(scale) < 0x1p64;
}

/* quantizeLinear(relu(x)) is a clamp of quantizeLinear(x), where x is not NaN: bytes are compared by fewer instructions.  It is
 * quantizeLinear(x) where the zero point is the least byte, which whatever is below it becomes. */
static struct value *quantize_unclamped(struct graph *g, struct node *n)
{
    const dtype t = n->results[0]->type.type;
    struct value *x = n->inputs[0].value, *in[] = {x, n->inputs[1].value, n->inputs[2].value};
    struct bounds b = {0};
    double scale, zero;

    if (!x->producer || !bounds_of(x->producer, &b) || !b.has_low || b.low != 0 || b.has_high ||
        !value_splat_number(in[1], &scale) || !(scale > 0 && scale < INFINITY) || !value_splat_number(in[2], &zero) ||
        (t != WNNOperandDataType_Uint8 && t != WNNOperandDataType_Int8))
        return NULL;
    in[0] = x->producer->inputs[0].value;
    const bool is_least = zero == (t == WNNOperandDataType_Int8 ? INT8_MIN : 0);
    if (!is_least && (!value_only_use(x) || !is_of_bytes(in[0], 2)))
        return NULL;
    x = make_node(g, n, OP_QUANTIZE_LINEAR, n, 3, in, NULL, NULL);
    return is_least || !x ? x : make_clamp(g, n, x, &(struct bounds){.has_low = true, .low = zero});
}

struct value *canonicalize_clamps(struct graph *g, struct node *n)
{
    return n->op == OP_QUANTIZE_LINEAR             ? quantize_unclamped(g, n)
           : n->op == OP_RELU || n->op == OP_CLAMP ? simplify_clamp(g, n)
           : n->op == OP_MAX || n->op == OP_MIN    ? bound_by_number(g, n)
                                                   : NULL;
}
