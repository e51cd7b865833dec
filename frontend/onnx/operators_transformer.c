/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports operators of the domain com.microsoft that the tools for transformers fuse: MultiHeadAttention and RotaryEmbedding.
 */
#include <math.h>

#include "frontend/onnx/attention.h"
#include "frontend/onnx/operators.h"

static const uint32_t swap_heads[] = {0, 2, 1, 3};

/* ---- MultiHeadAttention ---- */

enum { QUERY, KEY, VALUE, BIAS, PADDING, SCORE_BIAS, PAST_KEY, PAST_VALUE, PAST_LENGTH, BEAMS };

/** Holds what MultiHeadAttention computes with. */
struct multi_head {
    uint32_t batch, length, heads, width; /* width: of all heads of the queries */
    uint32_t past, total;                 /* positions before the first key that is an input, and of all keys */
    WNNOperand parts[3];                  /* queries, keys, values: [batch, heads, length, size of a head] */
};

/* Returns input i, [batch, length, heads * size], plus its part of the bias from `from` on, as [batch, heads, length, size]. */
static WNNOperand split_heads(struct onnx_node *n, const struct multi_head *m, size_t i, uint32_t from)
{
    WNNOperand x = onnx_operand(n, i), bias = onnx_operand_optional(n, BIAS);
    const struct onnx_dims dims = onnx_dims_of(x);

    if (n->refused)
        return x;
    if (dims.rank != 3 || dims.at[0] != m->batch || dims.at[2] % m->heads) {
        onnx_refuse(n, "input %zu has rank %zu and rows of %u, for %u heads and a batch of %u; packed heads are not read", i,
                    dims.rank, dims.rank ? dims.at[dims.rank - 1] : 1, m->heads, m->batch);
        return x;
    }
    if (bias) {
        const struct onnx_dims all = onnx_dims_of(bias);
        if (all.rank != 1 || all.at[0] < from || all.at[0] - from < dims.at[2]) {
            onnx_refuse(n, "its bias has %u numbers of rank %zu; input %zu takes %u from number %u on", all.at[0], all.rank, i,
                        dims.at[2], from);
            return x;
        }
        x = onnx_add(n, x, onnx_slice_axis(n, bias, 0, from, dims.at[2]));
    }
    x = onnx_reshape(n, x, 4, (uint32_t[]){dims.at[0], dims.at[1], m->heads, dims.at[2] / m->heads});
    return onnx_transpose(n, x, 4, swap_heads);
}

/* Reads queries, keys and values; those of rank 4 are split into heads already and take no bias. */
static bool read_parts(struct onnx_node *n, struct multi_head *m)
{
    const int64_t heads = onnx_int(n, "num_heads", 0);
    const struct onnx_dims dims = onnx_dims_of(onnx_operand(n, QUERY));

    if (n->refused)
        return false;
    if (!onnx_input(n, KEY) || !onnx_input(n, VALUE))
        return onnx_refuse(n, "keys or values are packed into another input; give all three");
    if (dims.rank != 3 || heads < 1 || heads > dims.at[2] || dims.at[2] % heads)
        return onnx_refuse(n, "num_heads is %lld for queries of rank %zu, %u numbers each", (long long)heads, dims.rank,
                           dims.rank ? dims.at[dims.rank - 1] : 1);
    m->batch = dims.at[0];
    m->length = dims.at[1];
    m->width = dims.at[2];
    m->heads = (uint32_t)heads;
    m->parts[0] = split_heads(n, m, QUERY, 0);
    for (uint32_t i = 1; i < 3; i++)
        m->parts[i] = onnx_dims_of(onnx_operand(n, i)).rank == 4 ? onnx_operand(n, i) : split_heads(n, m, i, i * m->width);
    return !n->refused;
}

/* Puts the past in front of keys and values, and checks their sizes. */
static bool read_past(struct onnx_node *n, struct multi_head *m)
{
    const uint32_t size = m->width / m->heads;
    struct onnx_dims dims[2];

    m->past = 0;
    if (!onnx_input(n, PAST_KEY) != !onnx_input(n, PAST_VALUE))
        return onnx_refuse(n, "past_key and past_value are not both given");
    for (size_t i = 0; i < 2; i++) {
        if (onnx_input(n, PAST_KEY + i)) {
            const WNNOperand past = onnx_operand(n, PAST_KEY + i);
            m->past = onnx_dims_of(past).at[2];
            m->parts[1 + i] = onnx_concat(n, 2, (WNNOperand[]){past, m->parts[1 + i]}, 2);
        }
        dims[i] = onnx_dims_of(m->parts[1 + i]);
        if (onnx_wants(n, 1 + i))
            onnx_output(n, 1 + i, m->parts[1 + i]);
    }
    if (n->refused)
        return false;
    m->total = dims[0].at[2];
    if (dims[0].at[0] != m->batch || dims[0].at[1] != m->heads || dims[0].at[3] != size || dims[1].at[0] != m->batch ||
        dims[1].at[1] != m->heads || dims[1].at[2] != m->total)
        return onnx_refuse(n, "keys [%u, %u, %u, %u] and values [%u, %u, %u, %u] do not fit a batch of %u with %u heads of %u",
                           dims[0].at[0], dims[0].at[1], dims[0].at[2], dims[0].at[3], dims[1].at[0], dims[1].at[1],
                           dims[1].at[2], dims[1].at[3], m->batch, m->heads, size);
    return true;
}

/* Adds `filter` to the scores of keys that key_padding_mask leaves out: lengths [batch], or flags of keys, or of pairs. */
static WNNOperand add_padding(struct onnx_node *n, const struct multi_head *m, WNNOperand scores, double filter)
{
    WNNOperand mask = onnx_operand(n, PADDING), zero = onnx_scalar_like(n, scores, 0), seen;
    const struct onnx_dims dims = onnx_dims_of(mask);
    const bool pairs = dims.rank == 3;

    if (n->refused)
        return scores;
    if (dims.rank < 1 || dims.rank > 3 || dims.at[0] != m->batch || (dims.rank > 1 && dims.at[dims.rank - 1] != m->total) ||
        (pairs && dims.at[1] != m->length)) {
        onnx_refuse(n, "key_padding_mask has rank %zu and sizes %u, %u, %u, for a batch of %u, %u queries and %u keys",
                    dims.rank, dims.at[0], dims.at[1], dims.at[2], m->batch, m->length, m->total);
        return scores;
    }
    if (dims.rank == 1)
        seen = onnx_greater(n, onnx_reshape(n, mask, 4, (uint32_t[]){m->batch, 1, 1, 1}),
                            onnx_iota(n, wnnOperandGetDataType(mask), 4, 3, m->total));
    else
        seen = onnx_greater(n, onnx_reshape(n, mask, 4, (uint32_t[]){m->batch, 1, pairs ? m->length : 1, m->total}),
                            onnx_scalar_like(n, mask, 0));
    return onnx_add(n, scores, onnx_where(n, seen, zero, onnx_scalar_like(n, scores, filter)));
}

static bool import_multi_head_attention(struct onnx_node *n)
{
    static const uint32_t swap_last[] = {0, 1, 3, 2};
    const double filter = onnx_float(n, "mask_filter_value", -10000);
    const bool causal = onnx_int(n, "unidirectional", 0) != 0;
    double scale = onnx_float(n, "scale", 0);
    struct multi_head m;
    WNNOperand scores, y;

    if (onnx_input(n, PAST_LENGTH) || onnx_input(n, BEAMS))
        return onnx_refuse(n, "past_sequence_length and cache_indirection are not read; past and present are separate tensors");
    if (onnx_wants(n, 3))
        return onnx_refuse(n, "its output qk is not computed");
    if (!read_parts(n, &m) || !read_past(n, &m))
        return false;
    scale = scale == 0 ? 1 / sqrt(m.width / m.heads) : scale;
    scores = onnx_matmul(n, onnx_linear(n, m.parts[0], scale, 0), onnx_transpose(n, m.parts[1], 4, swap_last));
    if (onnx_input(n, SCORE_BIAS))
        scores = onnx_add(n, scores, onnx_operand(n, SCORE_BIAS));
    if (onnx_input(n, PADDING))
        scores = add_padding(n, &m, scores, filter);
    if (causal) {
        const WNNOperand queries = onnx_iota(n, WNNOperandDataType_Int32, 4, 2, m.length);
        const WNNOperand last = onnx_add(n, queries, onnx_scalar(n, WNNOperandDataType_Int32, m.past));
        const WNNOperand later = onnx_greater(n, onnx_iota(n, WNNOperandDataType_Int32, 4, 3, m.total), last);
        scores = onnx_where(n, later, onnx_scalar_like(n, scores, -(double)INFINITY), scores);
    }
    y = onnx_matmul(n, wnnGraphBuilderSoftmax(n->builder, scores, 3, n->options), m.parts[2]);
    y = onnx_transpose(n, y, 4, swap_heads);
    return onnx_output(n, 0, onnx_reshape(n, y, 3, (uint32_t[]){m.batch, m.length, m.heads * onnx_dims_of(m.parts[2]).at[3]}));
}

/* ---- RotaryEmbedding ---- */

/* Returns the positions of all tokens, [batch, length]: they are given, or the first of them is. */
static WNNOperand read_positions(struct onnx_node *n, uint32_t batch, uint32_t length)
{
    WNNOperand given = onnx_cast(n, onnx_operand(n, 1), WNNOperandDataType_Int32);
    const struct onnx_dims dims = onnx_dims_of(given), all = {2, {batch, length}};

    if (n->refused)
        return given;
    if (dims.rank == 1 && dims.at[0] == 1)
        return onnx_expand(n, onnx_add(n, onnx_iota(n, WNNOperandDataType_Int32, 2, 1, length), given), all);
    if (dims.rank != 2 || dims.at[0] != batch || dims.at[1] != length)
        onnx_refuse(n, "position_ids has rank %zu and sizes %u, %u; it takes one number, or %u rows of %u", dims.rank,
                    dims.at[0], dims.at[1], batch, length);
    return given;
}

static bool import_rotary_embedding(struct onnx_node *n)
{
    const bool interleaved = onnx_int(n, "interleaved", 0) != 0;
    const int64_t heads = onnx_int(n, "num_heads", 0), part = onnx_int(n, "rotary_embedding_dim", 0);
    const double scale = onnx_float(n, "scale", 1);
    WNNOperand x = onnx_operand(n, 0), positions, angles[2];
    const struct onnx_dims given = onnx_dims_of(x), cache = onnx_dims_of(onnx_operand(n, 2));
    WNNGatherOptions o = WNN_GATHER_OPTIONS_INIT;
    struct onnx_dims dims = given;
    uint32_t size;

    if (n->refused)
        return false;
    if (scale != 1 || onnx_int(n, "is_packed_batching", 0))
        return onnx_refuse(n, "scale is %g, or is_packed_batching is not 0", scale);
    if ((given.rank != 3 && given.rank != 4) || cache.rank != 2 || cache.at[1] > INT32_MAX / 2)
        return onnx_refuse(n, "its input has rank %zu, cos_cache %zu; 3 or 4, and 2 are read", given.rank, cache.rank);
    if (given.rank == 3) {
        size = heads > 0 && heads <= given.at[2] ? given.at[2] / (uint32_t)heads : 2 * cache.at[1];
        if (heads < 0 || heads > given.at[2] || !size || given.at[2] % size)
            return onnx_refuse(n, "num_heads is %lld for rows of %u numbers", (long long)heads, given.at[2]);
        x = onnx_reshape(n, x, 4, (uint32_t[]){given.at[0], given.at[1], given.at[2] / size, size});
        x = onnx_transpose(n, x, 4, swap_heads);
        dims = onnx_dims_of(x);
    }
    size = part ? (uint32_t)part : dims.at[3];
    if (part < 0 || part > dims.at[3] || size % 2 || size != 2 * cache.at[1])
        return onnx_refuse(n, "rotary_embedding_dim is %lld for heads of %u numbers and caches with rows of %u",
                           (long long)part, dims.at[3], cache.at[1]);
    positions = read_positions(n, dims.at[0], dims.at[2]);
    o.label = n->label;
    for (size_t i = 0; i < 2; i++) {
        angles[i] = wnnGraphBuilderGather(n->builder, onnx_operand(n, 2 + i), positions, &o);
        angles[i] = onnx_reshape(n, angles[i], 4, (uint32_t[]){dims.at[0], 1, dims.at[2], size / 2});
    }
    if (n->refused)
        return false;
    x = onnx_rotate(n, x, angles[0], angles[1], size, interleaved);
    return onnx_output(n, 0, given.rank == 3 ? onnx_reshape_to(n, onnx_transpose(n, x, 4, swap_heads), given) : x);
}

#define MICROSOFT "com.microsoft"

static const struct onnx_operator rows[] = {
    {"MultiHeadAttention", 1, 0, 3, 10, 4, ONNX_HEAVY, import_multi_head_attention,
     "concat with the past, matmul, where, softmax; packed heads, past_sequence_length, qk refused", MICROSOFT},
    {"RotaryEmbedding", 1, 0, 4, 4, 1, 0, import_rotary_embedding,
     "gather, slice, mul, sub, add, concat; scale, is_packed_batching refused", MICROSOFT},
};

ONNX_TABLE(onnx_transformer_operators, rows);
