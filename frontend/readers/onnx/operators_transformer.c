/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports operators of the domain com.microsoft that the tools for transformers fuse: Attention, QAttention,
 * MultiHeadAttention and RotaryEmbedding.
 */
#include <math.h>

#include "frontend/readers/onnx/attention.h"
#include "frontend/readers/onnx/operators.h"
#include "frontend/readers/onnx/quantized.h"

static const uint32_t swap_heads[] = {0, 2, 1, 3};

/* ---- what Attention and MultiHeadAttention share ---- */

/** Holds what attention of several heads computes with. */
struct multi_head {
    uint32_t batch, length, heads, width; /* width: of all heads of the queries */
    uint32_t past, total;                 /* positions before the first key that is an input, and of all keys */
    WNNOperand parts[3];                  /* queries, keys, values: [batch, heads, length, size of a head] */
    size_t mask, score_bias;              /* the inputs with what is masked, and with what is added to the scores */
};

/* Puts the past (either operand may be NULL) in front of keys and values, and checks their sizes. */
static bool prepend_past(struct onnx_node *n, struct multi_head *m, const WNNOperand past[2])
{
    const uint32_t size = m->width / m->heads;
    struct onnx_dims dims[2];

    m->past = 0;
    for (size_t i = 0; i < 2; i++) {
        if (past[i]) {
            m->past = onnx_dims_of(past[i]).at[2];
            m->parts[1 + i] = onnx_concat(n, 2, (WNNOperand[]){past[i], m->parts[1 + i]}, 2);
        }
        dims[i] = onnx_dims_of(m->parts[1 + i]);
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

/* Returns where keys count whose positions are below the numbers `ends` [batch], and not below `starts`, which may be NULL. */
static WNNOperand within_bounds(struct onnx_node *n, const struct multi_head *m, WNNOperand ends, WNNOperand starts)
{
    const WNNOperand keys = onnx_iota(n, wnnOperandGetDataType(ends), 4, 3, m->total);
    const uint32_t each[] = {m->batch, 1, 1, 1};
    const WNNOperand below = onnx_greater(n, onnx_reshape(n, ends, 4, each), keys);

    return starts ? onnx_and(n, below, onnx_not(n, onnx_greater(n, onnx_reshape(n, starts, 4, each), keys))) : below;
}

/*
 * Returns where scores count, as flags that broadcast to [batch, heads, length, total].  The mask has the keys' end in each
 * sequence, flags of keys, or flags of pairs; Attention's may also have the ends and then the beginnings, or flags of pairs
 * from the first position on, [batch, 1, most, most].
 */
static WNNOperand read_mask(struct onnx_node *n, const struct multi_head *m, bool is_attention)
{
    WNNOperand mask = onnx_operand(n, m->mask);
    const struct onnx_dims d = onnx_dims_of(mask);
    const uint32_t first = d.at[0];

    if (n->refused)
        return mask;
    if (d.rank == 1 && first == m->batch)
        return within_bounds(n, m, mask, NULL);
    if (is_attention && d.rank == 1 && first / 2 == m->batch && first % 2 == 0)
        return within_bounds(n, m, onnx_slice_axis(n, mask, 0, 0, m->batch), onnx_slice_axis(n, mask, 0, m->batch, m->batch));
    if (d.rank == 2 && first == m->batch && d.at[1] == m->total) {
        mask = onnx_reshape(n, mask, 4, (uint32_t[]){m->batch, 1, 1, m->total});
    } else if (d.rank == 3 && first == m->batch && d.at[1] == m->length && d.at[2] == m->total) {
        mask = onnx_reshape(n, mask, 4, (uint32_t[]){m->batch, 1, m->length, m->total});
    } else if (is_attention && d.rank == 4 && first == m->batch && d.at[1] == 1 && d.at[2] >= m->total && d.at[3] >= m->total) {
        mask = onnx_slice_axis(n, onnx_slice_axis(n, mask, 2, m->past, m->length), 3, 0, m->total);
    } else {
        onnx_refuse(n, "its mask has rank %zu and sizes %u, %u, %u, for a batch of %u, %u queries and %u keys", d.rank, d.at[0],
                    d.at[1], d.at[2], m->batch, m->length, m->total);
        return mask;
    }
    return onnx_greater(n, mask, onnx_scalar_like(n, mask, 0));
}

/* Returns the result of attention, [batch, length, heads * size of a value's head].  Reads all attributes but num_heads.  What
 * is float16 is float32 between casts: one attention, rounded once. */
static WNNOperand attend(struct onnx_node *n, const struct multi_head *m, bool is_attention)
{
    static const uint32_t swap_last[] = {0, 1, 3, 2};
    const double filter = onnx_float(n, "mask_filter_value", -10000), scale = onnx_float(n, "scale", 0);
    const double by = scale == 0 ? 1 / sqrt(m->width / m->heads) : scale;
    const WNNOperandDataType type = wnnOperandGetDataType(m->parts[0]), f32 = WNNOperandDataType_Float32;
    WNNOperand scores, added, later = NULL, y;

    y = onnx_linear(n, onnx_cast(n, m->parts[0], f32), by, 0);
    scores = onnx_matmul(n, y, onnx_transpose(n, onnx_cast(n, m->parts[1], f32), 4, swap_last));
    added = onnx_input(n, m->score_bias) ? onnx_cast(n, onnx_operand(n, m->score_bias), f32) : NULL;
    if (added)
        scores = onnx_add(n, scores, added);
    if (onnx_input(n, m->mask)) {
        y = onnx_where(n, read_mask(n, m, is_attention), onnx_scalar(n, f32, 0), onnx_scalar(n, f32, filter));
        scores = onnx_add(n, scores, y);
        added = added ? onnx_add(n, added, y) : filter == -(double)INFINITY ? y : NULL;
    }
    if (onnx_int(n, "unidirectional", 0)) {
        const WNNOperand queries = onnx_iota(n, WNNOperandDataType_Int32, 4, 2, m->length);
        const WNNOperand last = onnx_add(n, queries, onnx_scalar(n, WNNOperandDataType_Int32, m->past));
        later = onnx_greater(n, onnx_iota(n, WNNOperandDataType_Int32, 4, 3, m->total), last);
        scores = onnx_where(n, later, onnx_scalar(n, f32, -(double)INFINITY), scores);
    }
    y = onnx_matmul(n, wnnGraphBuilderSoftmax(n->builder, scores, 3, n->options), onnx_cast(n, m->parts[2], f32));
    if (added) { /* more than a mask with a finite filter, which hides no key wholly */
        added = later ? onnx_where(n, later, onnx_scalar(n, f32, -(double)INFINITY), added) : added;
        y = onnx_where(n, onnx_blind_rows(n, added), onnx_scalar(n, f32, 0), y);
    }
    y = onnx_transpose(n, onnx_cast(n, y, type), 4, swap_heads);
    return onnx_reshape(n, y, 3, (uint32_t[]){m->batch, m->length, m->heads * onnx_dims_of(m->parts[2]).at[3]});
}

/* ---- MultiHeadAttention ---- */

enum { QUERY, KEY, VALUE, BIAS, PADDING, SCORE_BIAS, PAST_KEY, PAST_VALUE, PAST_LENGTH, BEAMS };

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

bool onnx_import_multi_head_attention(struct onnx_node *n)
{
    struct multi_head m = {.mask = PADDING, .score_bias = SCORE_BIAS};
    WNNOperand past[2];

    if (onnx_input(n, PAST_LENGTH) || onnx_input(n, BEAMS))
        return onnx_refuse(n, "past_sequence_length and cache_indirection are not read; past and present are separate tensors");
    if (onnx_wants(n, 3))
        return onnx_refuse(n, "its output qk is not computed");
    if (!onnx_input(n, PAST_KEY) != !onnx_input(n, PAST_VALUE))
        return onnx_refuse(n, "past_key and past_value are not both given");
    if (!read_parts(n, &m))
        return false;
    for (size_t i = 0; i < 2; i++)
        past[i] = onnx_operand_optional(n, PAST_KEY + i);
    if (!prepend_past(n, &m, past))
        return false;
    for (size_t i = 1; i < 3; i++)
        if (onnx_wants(n, i))
            onnx_output(n, i, m.parts[i]);
    return onnx_output(n, 0, attend(n, &m, false));
}

/* ---- Attention ---- */

enum { X, WEIGHTS, WEIGHTS_BIAS, MASK, PAST, ATTENTION_BIAS, ATTENTION_PAST_LENGTH };

/* Reads the widths of queries, keys and values: thirds of the columns of the weights, unless an attribute says otherwise. */
static bool read_widths(struct onnx_node *n, uint32_t columns, uint32_t widths[3])
{
    const int64_t heads = onnx_int(n, "num_heads", 0);
    size_t count;
    const int64_t *given = onnx_ints(n, "qkv_hidden_sizes", &count);
    uint64_t sum = 0;

    if (n->refused)
        return false;
    if (given && count != 3)
        return onnx_refuse(n, "qkv_hidden_sizes has %zu numbers; it takes 3", count);
    for (size_t i = 0; i < 3; i++) {
        const int64_t width = given ? given[i] : columns / 3;
        if (heads < 1 || width < heads || width > columns || width % heads)
            return onnx_refuse(n, "num_heads is %lld for queries, keys or values of %lld numbers", (long long)heads,
                               (long long)width);
        widths[i] = (uint32_t)width;
        sum += widths[i];
    }
    if (sum != columns || widths[0] != widths[1])
        return onnx_refuse(n, "queries, keys and values of %u, %u and %u numbers do not fit weights of %u columns", widths[0],
                           widths[1], widths[2], columns);
    return true;
}

/* Multiplies x by weights w, and splits the product into heads of queries, keys and values. */
static bool project(struct onnx_node *n, struct multi_head *m, WNNOperand x, WNNOperand w)
{
    const struct onnx_dims dims = onnx_dims_of(x), weights = onnx_dims_of(w);
    uint32_t widths[3], from = 0;
    WNNOperand all, part;

    if (n->refused)
        return false;
    if (dims.rank != 3 || weights.rank != 2)
        return onnx_refuse(n, "its input has rank %zu and its weights %zu; 3 and 2 are read", dims.rank, weights.rank);
    if (!read_widths(n, weights.at[1], widths))
        return false;
    m->batch = dims.at[0];
    m->length = dims.at[1];
    m->width = widths[0];
    m->heads = (uint32_t)onnx_int(n, "num_heads", 1);
    all = onnx_matmul(n, x, w);
    all = onnx_scale_bias(n, all, NULL, onnx_operand_optional(n, WEIGHTS_BIAS));
    for (size_t i = 0; i < 3; i++) {
        part = onnx_slice_axis(n, all, 2, from, widths[i]);
        part = onnx_reshape(n, part, 4, (uint32_t[]){m->batch, m->length, m->heads, widths[i] / m->heads});
        m->parts[i] = onnx_transpose(n, part, 4, swap_heads);
        from += widths[i];
    }
    return !n->refused;
}

/* Splits the past [2, batch, heads, length, size] into that of keys and that of values. */
static bool split_past(struct onnx_node *n, size_t input, WNNOperand past[2])
{
    const struct onnx_dims d = onnx_dims_of(onnx_operand(n, input));

    if (n->refused)
        return false;
    if (d.rank != 5 || d.at[0] != 2)
        return onnx_refuse(n, "past has rank %zu and %u parts; keys and values, [2, batch, heads, length, size], are read",
                           d.rank, d.at[0]);
    for (uint32_t i = 0; i < 2; i++)
        past[i] = onnx_reshape(n, onnx_slice_axis(n, onnx_operand(n, input), 0, i, 1), 4, d.at + 1);
    return !n->refused;
}

/* Makes output 1 of keys and values, one after the other as the past has them. */
static bool output_present(struct onnx_node *n, const struct multi_head *m)
{
    WNNOperand both[2];

    for (size_t i = 0; i < 2; i++) {
        const struct onnx_dims d = onnx_dims_of(m->parts[1 + i]);
        both[i] = onnx_reshape(n, m->parts[1 + i], 5, (uint32_t[]){1, d.at[0], d.at[1], d.at[2], d.at[3]});
    }
    return onnx_output(n, 1, onnx_concat(n, 2, both, 0));
}

/* Imports attention of x by weights w, with the past in an input. */
static bool attend_projected(struct onnx_node *n, struct multi_head *m, WNNOperand x, WNNOperand w, size_t past_input)
{
    WNNOperand past[2] = {NULL, NULL};

    if (onnx_int(n, "past_present_share_buffer", 0))
        return onnx_refuse(n, "past_present_share_buffer is not read; past and present are separate tensors");
    if (onnx_int(n, "do_rotary", 0))
        return onnx_refuse(n, "do_rotary is 1; RotaryEmbedding and MultiHeadAttention are read in its place");
    onnx_ignore(n, "rotary_embedding_dim");
    if (!project(n, m, x, w) || (onnx_input(n, past_input) && !split_past(n, past_input, past)) || !prepend_past(n, m, past))
        return false;
    if (onnx_wants(n, 1))
        output_present(n, m);
    return onnx_output(n, 0, attend(n, m, true));
}

bool onnx_import_microsoft_attention(struct onnx_node *n)
{
    struct multi_head m = {.mask = MASK, .score_bias = ATTENTION_BIAS};

    if (onnx_input(n, ATTENTION_PAST_LENGTH))
        return onnx_refuse(n, "past_sequence_length is not read; past and present are separate tensors");
    return attend_projected(n, &m, onnx_operand(n, X), onnx_operand(n, WEIGHTS), PAST);
}

bool onnx_import_quantized_attention(struct onnx_node *n)
{
    enum { X_SCALE = 3, WEIGHTS_SCALE, QUANTIZED_MASK, X_ZERO, WEIGHTS_ZERO, QUANTIZED_PAST, INPUTS };
    struct multi_head m = {.mask = QUANTIZED_MASK, .score_bias = INPUTS};
    WNNOperand x = onnx_dequantize(n, onnx_operand(n, X), onnx_operand(n, X_SCALE), onnx_operand_optional(n, X_ZERO), 0);
    WNNOperand w = onnx_operand(n, WEIGHTS), scale = onnx_operand(n, WEIGHTS_SCALE);

    w = onnx_dequantize(n, w, scale, onnx_operand_optional(n, WEIGHTS_ZERO), 1);
    return attend_projected(n, &m, x, w, QUANTIZED_PAST);
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

bool onnx_import_microsoft_rotary_embedding(struct onnx_node *n)
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
