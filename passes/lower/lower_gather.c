/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers operators whose indices are data or are computed: the gathers, the scatters, resample2d.
 *
 * An index becomes a LOADED variable, which is clamped to the dimension whatever the data says: the bound that kernel_verify
 * proves.
 */
#include "passes/lower/lower.h"

/** Returns the index into a dimension of `size` that the element of `indices` at `at` holds. */
static struct kaffine index_form(struct lowering *l, const struct value *indices, const struct map *at, int64_t size)
{
    uint32_t e = lower_value(l, indices, at);

    return e == KEXPR_NONE ? kaffine_const(0) : kernel_loaded_var(l->k, e, size);
}

/** Returns where a coordinate leads to: the last dimension of indices holds coordinates, and `rows` the other dimensions and
 * those that a coordinate leaves open. */
static struct map at_coordinate(struct lowering *l, const struct value *indices, const struct map *rows,
                                const struct tensor_type *t)
{
    const uint32_t last = indices->type.rank - 1, size = indices->type.dims[last];
    struct map at = map_like(rows, t->rank), index_at = map_like(rows, last + 1);

    for (uint32_t d = 0; d < last; d++)
        index_at.forms[d] = rows->forms[d];
    for (uint32_t d = 0; d < t->rank; d++) {
        index_at.forms[last] = kaffine_const(d);
        at.forms[d] = d < size ? index_form(l, indices, &index_at, t->dims[d]) : rows->forms[last + d - size];
    }
    return at;
}

uint32_t lower_gather(struct lowering *l, const struct node *n, const struct map *m)
{
    const struct value *input = n->inputs[0].value, *indices = n->inputs[1].value;
    const struct map spread = map_spread(l, m, &n->results[0]->type);
    const uint32_t rank = input->type.rank, index_rank = indices->type.rank;
    struct map at = map_like(m, rank), index_at = map_like(m, index_rank);

    if (n->op == OP_GATHER) {
        const uint32_t axis = NODE_OPTIONS(n, WNNGatherOptions)->axis;
        for (uint32_t d = 0; d < index_rank; d++)
            index_at.forms[d] = spread.forms[axis + d];
        for (uint32_t d = 0; d < rank; d++) {
            if (d != axis)
                at.forms[d] = spread.forms[d < axis ? d : d + index_rank - 1];
        }
        at.forms[axis] = index_form(l, indices, &index_at, input->type.dims[axis]);
    } else if (n->op == OP_GATHER_ELEMENTS) {
        const uint32_t axis = NODE_OPTIONS(n, WNNGatherOptions)->axis;
        at = spread;
        at.forms[axis] = index_form(l, indices, &spread, input->type.dims[axis]);
    } else {
        at = at_coordinate(l, indices, &spread, &input->type);
    }
    return lower_value(l, input, &at);
}

/* ---- scatters ---- */

/**
 * Makes the updates of a scatter.  They are done in row-major order where two of them may meet, so that the last one stays:
 * REDUCED variables run in order.  scatterElements meets itself along its axis only, scatterND anywhere among its coordinates.
 * Where updates are combined each loads what it overwrites.
 */
bool lower_scatter_updates(struct lowering *l, const struct node *n)
{
    static const enum kop combine[] = {K_ADD, K_MUL, K_MIN, K_MAX}; /* as WNNScatterReduction */
    const struct value *indices = n->inputs[1].value, *updates = n->inputs[2].value, *result = n->results[0];
    const struct tensor_type *t = &updates->type;
    const uint32_t index_rank = indices->type.rank;
    const bool elements = n->op != OP_SCATTER_ND, reduces = n->op == OP_SCATTER_REDUCE;
    const uint32_t axis = reduces    ? NODE_OPTIONS(n, WNNScatterReduceOptions)->axis
                          : elements ? NODE_OPTIONS(n, WNNScatterOptions)->axis
                                     : 0;
    struct map from = {.rank = t->rank}, index_at, to;
    struct kernel *k = l->k;
    uint32_t value, there, tensor;

    for (int pass = KVAR_PARALLEL; pass <= KVAR_REDUCED; pass++) {
        for (uint32_t d = 0; d < t->rank; d++) {
            bool ordered = elements ? d == axis : d + 1 < index_rank;
            if (ordered == (pass == KVAR_REDUCED))
                from.forms[d] = kaffine_var(k, kernel_var(k, pass, t->dims[d]));
        }
    }
    if (elements) {
        to = from;
        index_at = map_broadcast(l, &from, t, &indices->type);
        to.forms[axis] = index_form(l, indices, &index_at, result->type.dims[axis]);
    } else {
        to = at_coordinate(l, indices, &from, &result->type);
    }
    value = lower_value(l, updates, &from);
    if (reduces && value != KEXPR_NONE) {
        tensor = lower_tensor(l, result, true);
        if (tensor == UINT32_MAX)
            return false;
        there = kernel_load(k, tensor, map_linear(l, &to, &result->type), 0, NULL, (union scalar){.u64 = 0});
        value = kernel_op2(k, combine[NODE_OPTIONS(n, WNNScatterReduceOptions)->reduction], there, value);
        if (dtype_is_low_precision(result->type.type))
            value = kernel_op1(k, kop_round(result->type.type), value);
    }
    return lower_store(l, result, &to, value);
}

/* ---- resample2d ---- */

/*
 * inputCoordinate is (i + 0.5) * in / out - 0.5, a fraction with the denominator 2 * out: everything about it is exact in
 * integers.
 */

/** Returns the index of nearest-neighbor: ceil(inputCoordinate - 0.5), which needs no clamping. */
static struct kaffine nearest(struct lowering *l, struct kaffine at, int64_t in, int64_t out)
{
    return form_divmod(l, kaffine_add_const(kaffine_scale(l->k, at, 2 * in), in - 1), 2 * out, in);
}

/** Holds, for linear, the two indices around the coordinate and the second one's weight. */
struct neighbours {
    struct kaffine low, high;
    uint32_t weight; /* of high; 0 where the coordinate is whole or was clamped */
};

static bool find_neighbours(struct lowering *l, struct kaffine at, int64_t in, int64_t out, struct neighbours *x)
{
    struct kernel *k = l->k;
    /* A vector has twice as many lanes of 32 bits as of 64. */
    const enum ktype type = in < INT32_MAX / 4 && out < INT32_MAX / 4 ? KT_I32 : KT_I64;
    /* The fraction is reduced, so that sizes in the same ratio make the same code. */
    const int64_t common = in + out ? gcd(2 * in, gcd(in + out, 2 * out)) : 1;
    const int64_t denominator = 2 * out / common;
    /* One denominator more makes the numerator positive: `above` is floor(inputCoordinate) + 1. */
    const struct kaffine numerator = kaffine_add_const(kaffine_scale(k, at, 2 * in / common), (in + out) / common);
    const struct kaffine above = form_divmod(l, numerator, denominator, in + 1);
    uint32_t floor, left, rest, zero, between, one;

    *x = (struct neighbours){.low = at, .high = at, .weight = kernel_f32(k, 0)};
    if (in == 1)
        x->low = x->high = kaffine_const(0);
    if (in == out || in == 1)
        return true;
    floor = kernel_cast(k, type, kernel_index(k, kaffine_add_const(above, -1)));
    rest = kernel_cast(k, type, kernel_index(k, form_divmod(l, numerator, 1, denominator)));
    zero = kernel_cast(k, type, kernel_const(k, KT_I64, (union scalar){.i64 = 0}));
    one = kernel_cast(k, type, kernel_const(k, KT_I64, (union scalar){.i64 = 1}));
    left = kernel_index(k, kaffine_add_const(kaffine_scale(k, above, -1), in)); /* no constant: sizes shape no code */
    left = kernel_cast(k, type, left);
    between = kernel_op2(k, K_AND, kernel_op2(k, K_LE, zero, floor), kernel_op2(k, K_LT, zero, left));
    between = kernel_op2(k, K_AND, between, kernel_op2(k, K_LT, zero, rest));
    floor = kernel_op2(k, K_MAX, floor, zero); /* at the other end the loaded variables clamp */
    x->weight = kernel_op2(k, K_DIV, kernel_cast(k, KT_F32, rest), kernel_f32(k, (float)denominator));
    x->weight = kernel_op3(k, K_SELECT, between, x->weight, kernel_f32(k, 0));
    if (x->weight == KEXPR_NONE)
        return false;
    x->low = kernel_loaded_var(k, floor, in);
    x->high = kernel_loaded_var(k, kernel_op3(k, K_SELECT, between, kernel_op2(k, K_ADD, floor, one), floor), in);
    return true;
}

/** Returns a * (1 - t) + b * t, also where t is 0: an infinity gives NaN, as the formula says. */
static uint32_t mix(struct lowering *l, uint32_t a, uint32_t b, uint32_t t)
{
    struct kernel *k = l->k;

    return kernel_op2(k, K_ADD, kernel_op2(k, K_MUL, a, kernel_op2(k, K_SUB, kernel_f32(k, 1), t)), kernel_op2(k, K_MUL, b, t));
}

uint32_t lower_resample(struct lowering *l, const struct node *n, const struct map *m)
{
    const WNNResample2dOptions *o = n->options;
    const struct value *v = n->inputs[0].value;
    const struct tensor_type *to = &n->results[0]->type;
    const uint32_t y = o->axes[0], x = o->axes[1];
    struct map at = map_spread(l, m, to);
    struct kernel *k = l->k;
    struct neighbours rows, columns;
    uint32_t corners[2][2], r;

    if (o->mode != WNNInterpolationMode_Linear) {
        at.forms[y] = nearest(l, at.forms[y], v->type.dims[y], to->dims[y]);
        at.forms[x] = nearest(l, at.forms[x], v->type.dims[x], to->dims[x]);
        return lower_value(l, v, &at);
    }
    if (!find_neighbours(l, at.forms[y], v->type.dims[y], to->dims[y], &rows) ||
        !find_neighbours(l, at.forms[x], v->type.dims[x], to->dims[x], &columns))
        return KEXPR_NONE;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            at.forms[y] = i ? rows.high : rows.low;
            at.forms[x] = j ? columns.high : columns.low;
            corners[i][j] = lower_value(l, v, &at);
            if (corners[i][j] == KEXPR_NONE)
                return KEXPR_NONE;
            corners[i][j] = kernel_cast(k, KT_F32, corners[i][j]);
        }
    }
    r = mix(l, mix(l, corners[0][0], corners[0][1], columns.weight), mix(l, corners[1][0], corners[1][1], columns.weight),
            rows.weight);
    if (!dtype_is_float(to->type))
        r = kernel_cast(k, ktype_of(to->type), kernel_op1(k, K_ROUND_EVEN, r));
    return r;
}
