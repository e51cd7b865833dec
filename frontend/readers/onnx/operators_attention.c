/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports Attention, RotaryEmbedding and TensorScatter: as matmuls and softmax, as gathers and multiplications, as a scatter.
 *
 * Attention follows the operator's function body: the scale, then softcap, bias, causal mask and padding, softmax.  The body
 * multiplies either operand of the first matmul by the root of the scale, so that float16 products stay small.  Here all of it
 * is float32, between casts if the operands are float16, and the queries alone are multiplied.
 */
#include <math.h>
#include <string.h>

#include "frontend/readers/onnx/attention.h"
#include "frontend/readers/onnx/operators.h"

/* ---- Attention ---- */

struct attention {
    WNNOperand q, k, v; /* [batch, heads, length, size]; k and v as long as the past and they together */
    WNNOperand scores;
    struct onnx_dims q_dims, k_dims;
    uint32_t past; /* elements of the past */
    bool flat;     /* the inputs have rank 3 */
    /* A query sees keys from `left` before its position to `right` after it; -1: any number. */
    int64_t left, right;
    WNNOperand lengths;   /* the keys that are no padding, int32 [batch, 1, 1, 1], or NULL: all */
    WNNOperand positions; /* of the queries among the keys, int32 [batch or 1, 1, length, 1]; NULL if nothing asks for them */
};

/* Makes [batch, heads, length, size] of [batch, length, heads * size]. */
static WNNOperand split_heads(struct onnx_node *n, WNNOperand x, const char *attribute)
{
    static const uint32_t permutation[] = {0, 2, 1, 3};
    struct onnx_dims dims = onnx_dims_of(x);
    int64_t heads = onnx_int(n, attribute, 0);

    if (n->refused)
        return x;
    if (dims.rank == 4) {
        if (heads && heads != dims.at[1])
            onnx_refuse(n, "%s is %lld for %u heads", attribute, (long long)heads, dims.at[1]);
        return x;
    }
    if (dims.rank != 3 || heads < 1 || heads > dims.at[2] || dims.at[2] % heads) {
        onnx_refuse(n, "%s is %lld for an input of rank %zu with %u elements per place", attribute, (long long)heads, dims.rank,
                    dims.at[dims.rank > 2 ? 2 : 0]);
        return x;
    }
    x = onnx_reshape(n, x, 4, (uint32_t[]){dims.at[0], dims.at[1], (uint32_t)heads, dims.at[2] / (uint32_t)heads});
    return onnx_transpose(n, x, 4, permutation);
}

/* Repeats heads of keys and values: each serves as many neighbouring heads of queries as there are more of those. */
static WNNOperand repeat_heads(struct onnx_node *n, WNNOperand x, uint32_t heads)
{
    struct onnx_dims dims = onnx_dims_of(x), groups;

    if (dims.rank != 4 || dims.at[1] == heads)
        return x;
    if (heads % dims.at[1]) {
        onnx_refuse(n, "%u heads of queries, %u of keys or values", heads, dims.at[1]);
        return x;
    }
    groups = (struct onnx_dims){5, {dims.at[0], dims.at[1], 1, dims.at[2], dims.at[3]}};
    x = onnx_reshape_to(n, x, groups);
    groups.at[2] = heads / dims.at[1];
    x = onnx_expand(n, x, groups);
    dims.at[1] = heads;
    return onnx_reshape_to(n, x, dims);
}

static bool read_attention(struct onnx_node *n, struct attention *a)
{
    WNNOperand parts[2];

    memset(a, 0, sizeof *a);
    a->flat = onnx_dims_of(onnx_operand(n, 0)).rank == 3;
    a->q = split_heads(n, onnx_operand(n, 0), "q_num_heads");
    a->k = split_heads(n, onnx_operand(n, 1), "kv_num_heads");
    a->v = split_heads(n, onnx_operand(n, 2), "kv_num_heads");
    if (n->refused)
        return false;
    if (onnx_dims_of(a->q).rank != 4 || onnx_dims_of(a->k).rank != 4 || onnx_dims_of(a->v).rank != 4)
        return onnx_refuse(n, "the ranks of its inputs differ");
    if (!onnx_input(n, 4) != !onnx_input(n, 5))
        return onnx_refuse(n, "past_key and past_value come together");
    if (onnx_input(n, 4)) {
        a->past = onnx_dims_of(onnx_operand(n, 4)).at[2];
        parts[0] = onnx_operand(n, 4);
        parts[1] = a->k;
        a->k = onnx_concat(n, 2, parts, 2);
        parts[0] = onnx_operand(n, 5);
        parts[1] = a->v;
        a->v = onnx_concat(n, 2, parts, 2);
    }
    if (onnx_wants(n, 1))
        onnx_output(n, 1, wnnGraphBuilderIdentity(n->builder, a->k, n->options));
    if (onnx_wants(n, 2))
        onnx_output(n, 2, wnnGraphBuilderIdentity(n->builder, a->v, n->options));
    a->q_dims = onnx_dims_of(a->q);
    a->k = repeat_heads(n, a->k, a->q_dims.at[1]);
    a->v = repeat_heads(n, a->v, a->q_dims.at[1]);
    a->k_dims = onnx_dims_of(a->k);
    return !n->refused && a->k_dims.rank == 4;
}

/* ---- which keys a query sees ---- */

static WNNOperand infinity_like(struct onnx_node *n, WNNOperand like)
{
    return onnx_scalar_like(n, like, -(double)INFINITY);
}

/* Returns an attribute that limits how many keys a query sees on one side of it.  More than there are is no limit. */
static int64_t read_window(struct onnx_node *n, const struct attention *a, const char *name)
{
    const int64_t most = (int64_t)a->q_dims.at[2] + a->k_dims.at[2], size = onnx_int(n, name, -1);

    if (size < -1)
        onnx_refuse(n, "%s is %lld; it takes a number of keys, or -1 for all", name, (long long)size);
    return size < most ? size : -1;
}

/* Reads what limits the keys that a query sees.  The first query comes after the past or, without one, is the first of the
 * last positions that are no padding: before the keys where there are fewer of these than queries. */
static bool read_limits(struct onnx_node *n, struct attention *a)
{
    const uint32_t length = a->q_dims.at[2];
    WNNOperand first = onnx_scalar(n, WNNOperandDataType_Int32, a->past);

    a->left = read_window(n, a, "left_window_size");
    a->right = read_window(n, a, "right_window_size");
    if (onnx_int(n, "is_causal", 0))
        a->right = 0;
    if (onnx_input(n, 6))
        a->lengths = onnx_along_axis(n, onnx_cast(n, onnx_operand(n, 6), WNNOperandDataType_Int32), 4, 0);
    if (a->left < 0 && a->right < 0)
        return !n->refused;
    if (a->lengths && !onnx_input(n, 4))
        first = onnx_sub(n, a->lengths, onnx_scalar(n, WNNOperandDataType_Int32, length));
    a->positions = onnx_add(n, onnx_iota(n, WNNOperandDataType_Int32, 4, 2, length), first);
    return !n->refused;
}

/* Returns attn_mask as what is added to the scores.  It may be shorter than the keys, and hides those beyond it. */
static WNNOperand read_bias(struct onnx_node *n, const struct attention *a)
{
    WNNOperand mask = onnx_operand(n, 3);
    struct onnx_dims dims = onnx_dims_of(mask), none = {dims.rank, {0}}, after = {dims.rank, {0}};
    uint32_t keys = a->k_dims.at[2], have = dims.rank ? dims.at[dims.rank - 1] : keys;

    if (onnx_input(n, 3)->type == ONNX_BOOL)
        mask = onnx_where(n, mask, onnx_scalar(n, WNNOperandDataType_Float32, 0),
                          onnx_scalar(n, WNNOperandDataType_Float32, -(double)INFINITY));
    else
        mask = onnx_cast(n, mask, WNNOperandDataType_Float32);
    if (have > keys) {
        onnx_refuse(n, "attn_mask is %u long for %u keys", have, keys);
        return mask;
    }
    if (have == keys || (have == 1 && n->version < 24)) /* which broadcasts one element, and pads none */
        return mask;
    after.at[dims.rank - 1] = keys - have;
    return onnx_pad(n, mask, none, after, -(double)INFINITY);
}

/* Returns a position that is `by` away from each query's. */
static WNNOperand move_positions(struct onnx_node *n, const struct attention *a, int64_t by)
{
    return by ? onnx_add(n, a->positions, onnx_scalar(n, WNNOperandDataType_Int32, (double)by)) : a->positions;
}

/* Replaces the scores, or what is added to them, of keys that a query does not see.  Adding -infinity would be the same but for
 * scores of +infinity and NaN, which do not leak out. */
static WNNOperand hide_keys(struct onnx_node *n, const struct attention *a, WNNOperand scores)
{
    const WNNOperand keys = onnx_iota(n, WNNOperandDataType_Int32, 4, 3, a->k_dims.at[2]);
    const WNNOperand low = infinity_like(n, scores);

    if (a->right >= 0)
        scores = onnx_where(n, onnx_greater(n, keys, move_positions(n, a, a->right)), low, scores);
    if (a->left >= 0)
        scores = onnx_where(n, onnx_lesser(n, keys, move_positions(n, a, -a->left)), low, scores);
    if (a->lengths && (a->right != 0 || onnx_input(n, 4))) /* else the last query's position is that of the last key */
        scores = onnx_where(n, onnx_lesser(n, keys, a->lengths), scores, low);
    return scores;
}

WNNOperand onnx_blind_rows(struct onnx_node *n, WNNOperand added)
{
    const struct onnx_dims dims = onnx_dims_of(added);
    const WNNOperand most = dims.rank ? onnx_reduce_axis(n, wnnGraphBuilderReduceMax, added, (uint32_t)dims.rank - 1) : added;

    return onnx_equal(n, most, infinity_like(n, most));
}

/*
 * Returns which queries see no key, to be broadcast to the scores with one key, or NULL if all of them see one.  Without a mask
 * that follows from their positions: there is a key before the length and before the end of the window, and one after its
 * beginning.
 */
static WNNOperand find_blind(struct onnx_node *n, const struct attention *a, WNNOperand bias)
{
    const WNNOperandDataType i32 = WNNOperandDataType_Int32;
    const bool moves = a->lengths && a->positions && !onnx_input(n, 4); /* positions may be before the first key, */
    const bool may_pass = a->left >= 0 && !moves &&                     /* or so far after the last one */
                          (a->lengths || (int64_t)a->past + a->q_dims.at[2] - 1 - a->left >= a->k_dims.at[2]);
    WNNOperand blind = NULL, more;

    if (bias)
        return onnx_blind_rows(n, hide_keys(n, a, bias));
    if (moves && a->right >= 0)
        blind = onnx_lesser(n, a->positions, onnx_scalar(n, i32, -(double)a->right));
    if (a->lengths && !(moves && a->right == 0)) { /* where the position of a query says that there is a key */
        more = onnx_lesser(n, a->lengths, onnx_scalar(n, i32, 1));
        blind = blind ? onnx_or(n, blind, more) : more;
    }
    if (may_pass) {
        more =
            onnx_lesser(n, a->lengths ? a->lengths : onnx_scalar(n, i32, a->k_dims.at[2]), move_positions(n, a, 1 - a->left));
        blind = blind ? onnx_or(n, blind, more) : more;
    }
    return blind;
}

WNNOperand onnx_soft_cap(struct onnx_node *n, WNNOperand scores, double softcap)
{
    if (softcap == 0)
        return scores;
    return onnx_linear(n, onnx_tanh(n, onnx_div(n, scores, onnx_scalar_like(n, scores, softcap))), softcap, 0);
}

bool onnx_import_attention(struct onnx_node *n)
{
    static const uint32_t swap_last[] = {0, 1, 3, 2}, join[] = {0, 2, 1, 3};
    int64_t mode = onnx_int(n, "qk_matmul_output_mode", 0), precision = onnx_int(n, "softmax_precision", 0);
    double scale = onnx_float(n, "scale", 0), softcap = onnx_float(n, "softcap", 0);
    const WNNOperandDataType f32 = WNNOperandDataType_Float32;
    struct attention a;
    WNNOperand scores[4], bias = NULL, blind, y;
    WNNOperandDataType type;
    struct onnx_dims dims;

    if (!read_attention(n, &a) || !read_limits(n, &a))
        return false;
    if (mode < 0 || mode > 3)
        return onnx_refuse(n, "qk_matmul_output_mode is %lld", (long long)mode);
    if (precision && precision != ONNX_FLOAT && precision != ONNX_FLOAT16)
        return onnx_refuse(n, "softmax_precision %s, which WebNN does not have", onnx_type_name((enum onnx_type)precision));
    if (!onnx_has(n, "scale"))
        scale = 1 / sqrt(a.q_dims.at[3]);
    if (scale < 0)
        return onnx_refuse(n, "scale is %g; the operator multiplies both operands by its root", scale);
    type = wnnOperandGetDataType(a.q);
    y = onnx_linear(n, onnx_cast(n, a.q, f32), scale, 0);
    scores[0] = onnx_matmul(n, y, onnx_transpose(n, onnx_cast(n, a.k, f32), 4, swap_last));
    scores[1] = onnx_soft_cap(n, scores[0], softcap);
    if (onnx_input(n, 3))
        bias = read_bias(n, &a);
    scores[2] = hide_keys(n, &a, bias ? onnx_add(n, scores[1], bias) : scores[1]);
    y = precision == ONNX_FLOAT16 && type == f32 ? onnx_cast(n, scores[2], WNNOperandDataType_Float16) : scores[2];
    scores[3] = onnx_cast(n, wnnGraphBuilderSoftmax(n->builder, y, 3, n->options), f32);
    y = onnx_matmul(n, scores[3], onnx_cast(n, a.v, f32));
    blind = find_blind(n, &a, bias);
    if (blind) /* their softmax is NaN */
        y = onnx_where(n, blind, onnx_scalar(n, f32, 0), y);
    if (onnx_wants(n, 3))
        onnx_output(
            n, 3,
            onnx_cast(n, blind && mode == 3 ? onnx_where(n, blind, onnx_scalar(n, f32, 0), scores[3]) : scores[mode], type));
    y = onnx_cast(n, y, type);
    dims = onnx_dims_of(y);
    if (a.flat && dims.rank == 4)
        y = onnx_reshape(n, onnx_transpose(n, y, 4, join), 3, (uint32_t[]){dims.at[0], dims.at[2], dims.at[1] * dims.at[3]});
    return onnx_output(n, 0, y);
}

/* ---- RotaryEmbedding ---- */

/* Returns cos or sin of every place, [batch, 1, length, half]. */
static WNNOperand read_cache(struct onnx_node *n, size_t input, struct onnx_dims x, uint32_t half)
{
    WNNOperand cache = onnx_operand(n, input);
    WNNGatherOptions o = WNN_GATHER_OPTIONS_INIT;
    struct onnx_dims dims;

    o.label = n->label;
    if (onnx_input(n, 3))
        cache = wnnGraphBuilderGather(n->builder, cache, onnx_operand(n, 3), &o);
    dims = onnx_dims_of(cache);
    if (dims.rank != 3 || dims.at[1] != x.at[2] || dims.at[2] < half) {
        onnx_refuse(n, "its caches do not fit %u places of %u pairs", x.at[2], half);
        return cache;
    }
    cache = onnx_slice_axis(n, cache, 2, 0, half);
    return onnx_reshape(n, cache, 4, (uint32_t[]){dims.at[0], 1, dims.at[1], half});
}

/* Returns one of the two elements of each pair (0, 1), (2, 3), ... */
static WNNOperand every_other(struct onnx_node *n, WNNOperand x, uint32_t first)
{
    struct onnx_dims dims = onnx_dims_of(x);
    uint32_t half = dims.at[3] / 2, pairs[5] = {dims.at[0], dims.at[1], dims.at[2], half, 2};

    x = onnx_slice_axis(n, onnx_reshape(n, x, 5, pairs), 4, first, 1);
    return onnx_reshape(n, x, 4, pairs);
}

WNNOperand onnx_rotate(struct onnx_node *n, WNNOperand x, WNNOperand cosine, WNNOperand sine, uint32_t rotated,
                       bool interleaved)
{
    const struct onnx_dims dims = onnx_dims_of(x);
    const uint32_t half = rotated / 2;
    WNNOperand whole = onnx_slice_axis(n, x, 3, 0, rotated), halves[2], rotated_parts[2], rest;

    for (uint32_t i = 0; i < 2; i++)
        halves[i] = interleaved ? every_other(n, whole, i) : onnx_slice_axis(n, whole, 3, i * half, half);
    rotated_parts[0] = onnx_sub(n, onnx_mul(n, cosine, halves[0]), onnx_mul(n, sine, halves[1]));
    rotated_parts[1] = onnx_add(n, onnx_mul(n, sine, halves[0]), onnx_mul(n, cosine, halves[1]));
    if (interleaved) {
        for (uint32_t i = 0; i < 2; i++)
            rotated_parts[i] = onnx_reshape(n, rotated_parts[i], 5, (uint32_t[]){dims.at[0], dims.at[1], dims.at[2], half, 1});
        whole = onnx_concat(n, 2, rotated_parts, 4);
        whole = onnx_reshape(n, whole, 4, (uint32_t[]){dims.at[0], dims.at[1], dims.at[2], 2 * half});
    } else {
        whole = onnx_concat(n, 2, rotated_parts, 3);
    }
    if (rotated == dims.at[3])
        return whole;
    rest = onnx_slice_axis(n, x, 3, rotated, dims.at[3] - rotated);
    return onnx_concat(n, 2, (WNNOperand[]){whole, rest}, 3);
}

bool onnx_import_rotary_embedding(struct onnx_node *n)
{
    static const uint32_t swap[] = {0, 2, 1, 3};
    WNNOperand x = onnx_operand(n, 0), whole, cosine, sine;
    bool interleaved = onnx_int(n, "interleaved", 0) != 0, flat;
    int64_t heads = onnx_int(n, "num_heads", 0), rotated = onnx_int(n, "rotary_embedding_dim", 0);
    struct onnx_dims given = onnx_dims_of(x), dims;
    uint32_t half;

    if (n->refused)
        return false;
    flat = given.rank == 3;
    if (flat && (heads < 1 || heads > given.at[2] || given.at[2] % heads))
        return onnx_refuse(n, "num_heads is %lld for %u elements per place", (long long)heads, given.at[2]);
    if (flat)
        x = onnx_transpose(
            n, onnx_reshape(n, x, 4, (uint32_t[]){given.at[0], given.at[1], (uint32_t)heads, given.at[2] / (uint32_t)heads}), 4,
            swap);
    dims = onnx_dims_of(x);
    rotated = rotated ? rotated : dims.at[3];
    if (dims.rank != 4 || rotated < 2 || rotated > dims.at[3] || rotated % 2)
        return onnx_refuse(n, "rotary_embedding_dim is %lld for heads of %u elements", (long long)rotated, dims.at[3]);
    half = (uint32_t)rotated / 2;
    cosine = read_cache(n, 1, dims, half);
    sine = read_cache(n, 2, dims, half);
    if (n->refused)
        return false;
    whole = onnx_rotate(n, x, cosine, sine, (uint32_t)rotated, interleaved);
    if (flat)
        whole = onnx_reshape_to(n, onnx_transpose(n, whole, 4, swap), given);
    return onnx_output(n, 0, whole);
}

/* ---- TensorScatter ---- */

bool onnx_import_tensor_scatter(struct onnx_node *n)
{
    WNNOperand cache = onnx_operand(n, 0), update = onnx_operand(n, 1), index, size;
    const char *mode = onnx_string(n, "mode", "linear");
    bool circular = !strcmp(mode, "circular");
    int64_t along = onnx_int(n, "axis", -2);
    struct onnx_dims dims = onnx_dims_of(cache), part = onnx_dims_of(update);
    WNNScatterOptions o = WNN_SCATTER_OPTIONS_INIT;

    o.label = n->label;
    if (n->refused || !onnx_axis(n, along, dims.rank, &o.axis))
        return false;
    if (!circular && strcmp(mode, "linear") != 0)
        return onnx_refuse(n, "mode \"%.40s\" is not known", mode);
    if (!o.axis || part.rank != dims.rank || part.at[o.axis] > dims.at[o.axis])
        return onnx_refuse(n, "an update of rank %zu along axis %u", part.rank, o.axis);
    index = onnx_iota(n, WNNOperandDataType_Int32, dims.rank, o.axis, part.at[o.axis]);
    if (onnx_input(n, 2)) {
        WNNOperand first = onnx_cast(n, onnx_operand(n, 2), WNNOperandDataType_Int32);
        index = onnx_add(n, index, onnx_along_axis(n, first, dims.rank, 0));
    }
    if (circular) { /* the remainder; indices are not negative */
        size = onnx_scalar(n, WNNOperandDataType_Int32, dims.at[o.axis]);
        index = onnx_sub(n, index, onnx_mul(n, onnx_div(n, index, size), size));
    }
    index = onnx_expand(n, index, part);
    return onnx_output(n, 0, wnnGraphBuilderScatterElements(n->builder, cache, index, update, &o));
}
