/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports the operators of the domain com.microsoft that language models are written in: MatMulNBits and GatherBlockQuantized,
 * whose weights have 4 or 8 bits and a scale for every block, GroupQueryAttention with its cache.
 *
 * WebNN has no data type of 4 bits, but the builder takes constants of them as bytes: weights stay in the file
 * (docs/compact-weights.md).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/map.h"
#include "frontend/readers/onnx/attention.h"
#include "frontend/readers/onnx/operators.h"
#include "ir/support/number.h"

/* ---- weights in blocks ---- */

/** Describes weights of [rows, blocks, block] numbers of 4 or 8 bits, one scale for each block. */
struct block_weights {
    uint32_t bits, rows, columns, blocks, block; /* columns: numbers of a row that are used */
};

static void release(void const *data, size_t bytes, void *user1, void *user2)
{
    (void)data;
    (void)bytes;
    (void)user2;
    free(user1);
}

/* Returns the bytes of a constant input wherever they lie, or NULL after refusing. */
static const uint8_t *bytes_of(struct onnx_node *n, size_t i)
{
    const struct onnx_value *v = onnx_input(n, i);

    if (v && v->file && !v->refusal)
        return v->file;
    v = onnx_constant(n, i);
    return v ? v->data : NULL;
}

/*
 * Returns numbers that lie two in a byte, the low half first, as a constant of bytes.  Each of `rows` rows begins a new byte
 * and has `count` numbers.
 */
static WNNOperand unpack_nibbles(struct onnx_node *n, const uint8_t *from, size_t rows, size_t count, size_t rank,
                                 const uint32_t *dims)
{
    const WNNOperandDescriptor descriptor = {WNNOperandDataType_Uint8, rank, dims};
    const size_t row_bytes = (count + 1) / 2;
    uint8_t *bytes = malloc(rows * count + 1);

    if (!bytes) {
        onnx_refuse(n, "out of memory for %zu bytes of weights", rows * count);
        return onnx_error_operand(n);
    }
    for (size_t r = 0; r < rows; r++) {
        const uint8_t *row = from + r * row_bytes;
        uint8_t *to = bytes + r * count;

        for (size_t i = 0; i < count / 2; i++) { /* vectors of bytes */
            to[2 * i] = row[i] & 15;
            to[2 * i + 1] = row[i] >> 4;
        }
        if (count % 2)
            to[count - 1] = row[row_bytes - 1] & 15;
    }
    return wnnGraphBuilderConstantLent(n->builder, &descriptor, bytes, rows * count,
                                       (WNNBufferReleaseCallbackInfo){release, bytes, NULL});
}

/* Returns as many numbers of 4 bits, an even number, as a constant of bytes: lent where they lie in a file, else copied. */
static WNNOperand lend_nibbles(struct onnx_node *n, size_t i, size_t count, const uint32_t dims[2])
{
    const WNNOperandDescriptor descriptor = {WNNOperandDataType_Uint8, 2, dims};
    const struct onnx_value *v = onnx_input(n, i);
    const uint8_t *from = bytes_of(n, i);
    uint8_t *bytes;

    if (!from)
        return onnx_error_operand(n);
    if (from == v->file && v->map)
        return file_map_lend_uint4(v->map, n->builder, &descriptor, from, count / 2);
    bytes = malloc(count / 2);
    if (!bytes) {
        onnx_refuse(n, "out of memory for %zu bytes of weights", count / 2);
        return onnx_error_operand(n);
    }
    memcpy(bytes, from, count / 2);
    return wnnGraphBuilderConstantUint4Lent(n->builder, &descriptor, bytes, count / 2,
                                            (WNNBufferReleaseCallbackInfo){release, bytes, NULL});
}

/* Checks the number of elements of an input of weights. */
static bool has_elements(struct onnx_node *n, size_t i, const char *what, int64_t expected)
{
    const struct onnx_value *v = onnx_input(n, i);
    const int64_t have = v ? onnx_elements(v) : 0;

    return have == expected || onnx_refuse(n, "%s has %lld elements, not %lld", what, (long long)have, (long long)expected);
}

/* Returns the weights as uint8 [rows, blocks * block].  Those of 4 bits become bytes at once for a gather (`table`), and stay
 * as they are for a matmul. */
static WNNOperand read_weights(struct onnx_node *n, size_t i, const struct block_weights *w, bool table)
{
    const uint32_t dims[2] = {w->rows, w->blocks * w->block};
    const struct onnx_value *v = onnx_input(n, i);
    const uint8_t *bytes;

    if (!v || (v->type != ONNX_UINT8 && v->type != ONNX_INT8)) {
        onnx_refuse(n, "its weights are %s, not uint8", v ? onnx_type_name(v->type) : "missing");
        return onnx_error_operand(n);
    }
    if (!has_elements(n, i, "B", (int64_t)w->rows * w->blocks * w->block * w->bits / 8))
        return onnx_error_operand(n);
    if (w->bits == 8)
        return onnx_reshape(n, onnx_operand(n, i), 2, dims);
    if (!table)
        return lend_nibbles(n, i, (size_t)w->rows * dims[1], dims);
    bytes = bytes_of(n, i);
    return bytes ? unpack_nibbles(n, bytes, w->rows, dims[1], 2, dims) : onnx_error_operand(n);
}

/* Returns zero points of the scales' shape: those of input i, packed like the weights, or the middle of the range. */
static WNNOperand read_zero_points(struct onnx_node *n, size_t i, const struct block_weights *w)
{
    const uint32_t dims[2] = {w->rows, w->blocks};
    const struct onnx_value *v = onnx_input(n, i);
    WNNOperand middle;

    if (!v) {
        middle = onnx_scalar(n, WNNOperandDataType_Uint8, 1 << (w->bits - 1));
        return onnx_expand(n, middle, (struct onnx_dims){2, {dims[0], dims[1]}});
    }
    if (v->type != ONNX_UINT8) {
        onnx_refuse(n, "zero_points of %s; they are read as uint8", onnx_type_name(v->type));
        return onnx_error_operand(n);
    }
    if (!has_elements(n, i, "zero_points", (int64_t)w->rows * (w->bits == 8 ? w->blocks : (w->blocks + 1) / 2)))
        return onnx_error_operand(n);
    if (w->bits == 8)
        return onnx_reshape(n, onnx_operand(n, i), 2, dims);
    const uint8_t *bytes = bytes_of(n, i);
    return bytes ? unpack_nibbles(n, bytes, w->rows, w->blocks, 2, dims) : onnx_error_operand(n);
}

/* Returns element k of numbers that lie at `from`, of float32 or float16. */
static float number_at(enum onnx_type type, const uint8_t *from, size_t k)
{
    uint16_t half;
    float number;

    if (type == ONNX_FLOAT16) {
        memcpy(&half, from + k * sizeof half, sizeof half);
        return f16_to_f32(half);
    }
    memcpy(&number, from + k * sizeof number, sizeof number);
    return number;
}

/* Returns scales as numbers of `type`.  Those of float16 become float32 here, since a cast between them and the weights would
 * keep passes from seeing that all of it is constant. */
static WNNOperand read_scales(struct onnx_node *n, size_t i, const struct block_weights *w, WNNOperandDataType type)
{
    const uint32_t dims[2] = {w->rows, w->blocks};
    const WNNOperandDescriptor descriptor = {WNNOperandDataType_Float32, 2, dims};
    const struct onnx_value *v = onnx_input(n, i);
    const size_t count = (size_t)w->rows * w->blocks;
    const bool converts =
        v && v->type == ONNX_FLOAT16 && type == WNNOperandDataType_Float32 && (v->file || onnx_is_constant(n, i));
    const uint8_t *from = converts ? bytes_of(n, i) : NULL;
    float *scales;

    if (!from)
        return onnx_cast(n, onnx_reshape(n, onnx_operand(n, i), 2, dims), type);
    scales = malloc(count * sizeof *scales + 1);
    if (!scales) {
        onnx_refuse(n, "out of memory for %zu scales", count);
        return onnx_error_operand(n);
    }
    for (size_t k = 0; k < count; k++)
        scales[k] = number_at(v->type, from, k);
    return wnnGraphBuilderConstantLent(n->builder, &descriptor, scales, count * sizeof *scales,
                                       (WNNBufferReleaseCallbackInfo){release, scales, NULL});
}

/* Returns zero points of a floating-point type as bytes, if they are constants and such numbers; else NULL. */
static WNNOperand whole_zero_points(struct onnx_node *n, size_t i, const struct block_weights *w)
{
    const WNNOperandDescriptor descriptor = {WNNOperandDataType_Uint8, 2, (const uint32_t[]){w->rows, w->blocks}};
    const struct onnx_value *v = onnx_input(n, i);
    const size_t count = (size_t)w->rows * w->blocks;
    const uint8_t *from = v->file || onnx_is_constant(n, i) ? bytes_of(n, i) : NULL;
    uint8_t *bytes = from ? malloc(count + 1) : NULL;

    if (!bytes)
        return NULL;
    for (size_t k = 0; k < count; k++) {
        const float number = number_at(v->type, from, k);

        if (!(number >= 0 && number <= UINT8_MAX) || number != floorf(number)) {
            free(bytes);
            return NULL;
        }
        bytes[k] = (uint8_t)number;
    }
    return wnnGraphBuilderConstantLent(n->builder, &descriptor, bytes, count,
                                       (WNNBufferReleaseCallbackInfo){release, bytes, NULL});
}

/* Returns scale * (weights - zero point) where zero points are any numbers, which dequantizeLinear does not take. */
static WNNOperand subtract_zero_points(struct onnx_node *n, WNNOperand b, WNNOperand scale, size_t i,
                                       const struct block_weights *w, WNNOperandDataType type)
{
    const uint32_t each[3] = {w->rows, w->blocks, 1}, all[3] = {w->rows, w->blocks, w->block};
    WNNOperand zero = onnx_cast(n, onnx_reshape(n, onnx_operand(n, i), 3, each), type);

    b = onnx_sub(n, onnx_reshape(n, onnx_cast(n, b, type), 3, all), zero);
    b = onnx_mul(n, b, onnx_reshape(n, scale, 3, each));
    return onnx_reshape(n, b, 2, (uint32_t[]){w->rows, w->blocks * w->block});
}

/* Returns what the numbers of MatMulNBits stand for: [rows, blocks * block] of `type`, by its scales (input 2) and zero points
 * (3), which are numbers like the weights or, one for each block, like the scales. */
static WNNOperand dequantize_blocks(struct onnx_node *n, WNNOperand b, const struct block_weights *w, WNNOperandDataType type)
{
    const WNNOperand scale = read_scales(n, 2, w, type);
    const struct onnx_value *v = onnx_input(n, 3);
    WNNOperand zero;

    if (v && (v->type == ONNX_FLOAT || v->type == ONNX_FLOAT16)) {
        if (!has_elements(n, 3, "zero_points", (int64_t)w->rows * w->blocks))
            return onnx_error_operand(n);
        zero = whole_zero_points(n, 3, w);
        if (!zero)
            return subtract_zero_points(n, b, scale, 3, w, type);
    } else {
        zero = read_zero_points(n, 3, w);
    }
    return wnnGraphBuilderDequantizeLinear(n->builder, b, scale, zero, n->options);
}

/* Returns bits and block size by their attributes, if they are ones there are. */
static bool read_blocks(struct onnx_node *n, int64_t bits, int64_t block, struct block_weights *w)
{
    if (bits != 4 && bits != 8)
        return onnx_refuse(n, "weights of %lld bits; those of 4 and 8 are read", (long long)bits);
    if (block < 16 || block > 1 << 20 || (block & (block - 1)))
        return onnx_refuse(n, "block_size is %lld, not a power of two from 16 on", (long long)block);
    w->bits = (uint32_t)bits;
    w->block = (uint32_t)block;
    return true;
}

/* MatMulNBits: A [..., K] times the transpose of B [N, K] in blocks along K, plus bias.  With float16 the product and its
 * weights are float32 between two casts: the weights are not rounded once more, and stay as small as they are. */
bool onnx_import_matmul_n_bits(struct onnx_node *n)
{
    const int64_t k = onnx_int(n, "K", 0), columns = onnx_int(n, "N", 0);
    struct block_weights w;
    WNNOperand a = onnx_operand(n, 0), b, y;
    const struct onnx_dims dims = onnx_dims_of(a);
    WNNOperandDataType type;

    onnx_ignore(n, "accuracy_level"); /* what rounding of A would be allowed: the context's precision says it for all nodes */
    if (onnx_int(n, "weight_prepacked", 0))
        return onnx_refuse(n, "weight_prepacked is not 0: weights in the order of a device are not read");
    if (!read_blocks(n, onnx_int(n, "bits", 4), onnx_int(n, "block_size", 32), &w) || n->refused)
        return false;
    if (onnx_input(n, 4))
        return onnx_refuse(n, "g_idx, which assigns rows to blocks, is not read");
    if (k < 1 || k > INT32_MAX || columns < 1 || columns > INT32_MAX || !dims.rank || dims.at[dims.rank - 1] != k)
        return onnx_refuse(n, "K is %lld and N is %lld, for rows of %u", (long long)k, (long long)columns,
                           dims.rank ? dims.at[dims.rank - 1] : 1);
    w.rows = (uint32_t)columns;
    w.columns = (uint32_t)k;
    w.blocks = (w.columns + w.block - 1) / w.block;
    if ((uint64_t)w.rows * w.blocks * w.block > INT32_MAX)
        return onnx_refuse(n, "B has more than 2^31 elements");
    type = wnnOperandGetDataType(a);
    b = read_weights(n, 1, &w, false);
    if (!has_elements(n, 2, "scales", (int64_t)w.rows * w.blocks))
        return false;
    const bool half = type == WNNOperandDataType_Float16;
    if (half)
        a = onnx_cast(n, a, WNNOperandDataType_Float32);
    b = dequantize_blocks(n, b, &w, half ? WNNOperandDataType_Float32 : type);
    if (w.blocks * w.block > w.columns) /* the last block is not full */
        b = onnx_slice_axis(n, b, 1, 0, w.columns);
    y = onnx_matmul(n, a, onnx_transpose(n, b, 2, (uint32_t[]){1, 0}));
    if (half)
        y = onnx_cast(n, y, type);
    return onnx_output(n, 0, onnx_scale_bias(n, y, NULL, onnx_operand_optional(n, 5)));
}

/* GatherBlockQuantized: rows of a table in blocks along its last axis. */
bool onnx_import_gather_block_quantized(struct onnx_node *n)
{
    const struct onnx_value *data = onnx_input(n, 0);
    const bool packed = data && data->type == ONNX_UINT8; /* two of 4 bits in a byte; else one of 4 bits in an element */
    const int64_t bits = onnx_int(n, "bits", 4), gather_axis = onnx_int(n, "gather_axis", 0);
    const int64_t quantize_axis = onnx_int(n, "quantize_axis", 1), block = onnx_int(n, "block_size", 128);
    WNNOperand table, scales, zeros, x, s, z;
    struct onnx_dims dims, indices;
    struct block_weights w;

    if (n->refused || !data || !read_blocks(n, bits, block, &w))
        return false;
    if (data->rank != 2 || gather_axis != 0 || (quantize_axis != 1 && quantize_axis != -1))
        return onnx_refuse(n, "a table of %zu dimensions, gather_axis %lld, quantize_axis %lld; rows of matrices are read",
                           data->rank, (long long)gather_axis, (long long)quantize_axis);
    w.rows = (uint32_t)data->dims[0];
    w.columns = (uint32_t)data->dims[1] * (packed && bits == 4 ? 2 : 1);
    w.blocks = (w.columns + w.block - 1) / w.block;
    if (w.columns != w.blocks * w.block)
        return onnx_refuse(n, "rows of %u numbers are no whole blocks of %u", w.columns, w.block);
    table = packed ? read_weights(n, 0, &w, true) : onnx_operand(n, 0);
    if (!has_elements(n, 2, "scales", (int64_t)w.rows * w.blocks))
        return false;
    scales = onnx_operand(n, 2);
    if (packed || onnx_input(n, 3))
        zeros = read_zero_points(n, 3, &w);
    else
        zeros = onnx_expand(n, onnx_scalar_like(n, table, 0), (struct onnx_dims){2, {w.rows, w.blocks}});
    /* The rows that are asked for become numbers, not the table. */
    WNNGatherOptions o = WNN_GATHER_OPTIONS_INIT;
    o.label = n->label;
    o.axis = 0;
    x = wnnGraphBuilderGather(n->builder, table, onnx_operand(n, 1), &o);
    s = wnnGraphBuilderGather(n->builder, scales, onnx_operand(n, 1), &o);
    z = wnnGraphBuilderGather(n->builder, zeros, onnx_operand(n, 1), &o);
    dims = onnx_dims_of(x);
    indices = onnx_dims_of(s);
    return !n->refused && dims.rank == indices.rank &&
           onnx_output(n, 0, wnnGraphBuilderDequantizeLinear(n->builder, x, s, z, n->options));
}

/* ---- attention with a cache ---- */

/** Holds what GroupQueryAttention computes with.  Lengths are in positions. */
struct group_attention {
    uint32_t batch, length, heads, kv_heads, size; /* length: of the queries; size: of a head */
    uint32_t cache;                                /* positions of the caches that are outputs */
    WNNOperand q, k, v;                            /* [batch, heads, length, size], k and v with kv_heads */
    WNNOperand past;                               /* positions before the first query: int32 [batch, 1, 1, 1] */
    WNNOperand last;                               /* the position of the last key that is no padding, likewise */
};

static const uint32_t swap_heads[] = {0, 2, 1, 3};

/* Makes [batch, heads, length, size] of [batch, length, heads * size]. */
static WNNOperand split_heads(struct onnx_node *n, const struct group_attention *g, WNNOperand x, uint32_t heads)
{
    const struct onnx_dims dims = onnx_dims_of(x);

    if (dims.rank != 3 || dims.at[0] != g->batch || dims.at[1] != g->length || dims.at[2] != heads * g->size) {
        onnx_refuse(n, "its queries, keys and values do not fit %u and %u heads of %u", g->heads, g->kv_heads, g->size);
        return x;
    }
    return onnx_transpose(n, onnx_reshape(n, x, 4, (uint32_t[]){g->batch, g->length, heads, g->size}), 4, swap_heads);
}

static bool read_heads(struct onnx_node *n, struct group_attention *g)
{
    const int64_t heads = onnx_int(n, "num_heads", 0), kv_heads = onnx_int(n, "kv_num_heads", 0);
    const struct onnx_dims dims = onnx_dims_of(onnx_operand(n, 0));
    const bool packed = !onnx_input(n, 1);
    const int64_t all = heads + (packed ? 2 * kv_heads : 0);
    WNNOperand parts[3] = {onnx_operand(n, 0)};

    if (n->refused)
        return false;
    if (heads < 1 || heads > 1 << 20 || kv_heads < 1 || kv_heads > heads || heads % kv_heads)
        return onnx_refuse(n, "num_heads is %lld, kv_num_heads is %lld", (long long)heads, (long long)kv_heads);
    if (dims.rank != 3 || dims.at[2] % all || (!packed && !onnx_input(n, 2)))
        return onnx_refuse(n, "queries of rank %zu, %u numbers each, for %lld heads", dims.rank,
                           dims.rank ? dims.at[dims.rank - 1] : 1, (long long)all);
    g->batch = dims.at[0];
    g->length = dims.at[1];
    g->size = dims.at[2] / (uint32_t)all;
    g->heads = (uint32_t)heads;
    g->kv_heads = (uint32_t)kv_heads;
    for (uint32_t i = 1; i < 3; i++)
        parts[i] = packed ? onnx_slice_axis(n, parts[0], 2, (g->heads + (i - 1) * g->kv_heads) * g->size, g->kv_heads * g->size)
                          : onnx_operand(n, i);
    if (packed)
        parts[0] = onnx_slice_axis(n, parts[0], 2, 0, g->heads * g->size);
    g->q = split_heads(n, g, parts[0], g->heads);
    g->k = split_heads(n, g, parts[1], g->kv_heads);
    g->v = split_heads(n, g, parts[2], g->kv_heads);
    return !n->refused;
}

/* Finds how long the cache is, and how many positions come before the first query: seqlens_k says the last one of the keys. */
static bool read_lengths(struct onnx_node *n, struct group_attention *g)
{
    const struct onnx_value *past = onnx_input(n, 3);
    int64_t total = onnx_is_constant(n, 6) ? (int64_t)onnx_number(n, 6, 0) : 0, have = past ? past->dims[2] : 0;
    const WNNOperand zero = onnx_scalar(n, WNNOperandDataType_Int32, 0);
    WNNOperand last;

    if (past && (past->rank != 4 || past->dims[0] != g->batch || past->dims[1] != g->kv_heads || past->dims[3] != g->size))
        return onnx_refuse(n, "past_key does not fit %u sequences, %u heads of %u", g->batch, g->kv_heads, g->size);
    if (!onnx_input(n, 5) || onnx_elements(onnx_input(n, 5)) != g->batch)
        return onnx_refuse(n, "seqlens_k must have a number for each of %u sequences", g->batch);
    if (total < 0 || total > INT32_MAX)
        return onnx_refuse(n, "total_sequence_length is %lld", (long long)total);
    if (have < total)
        have = total;
    if (have < g->length)
        have = g->length;
    g->cache = (uint32_t)have;
    last = onnx_cast(n, onnx_operand(n, 5), WNNOperandDataType_Int32);
    last = onnx_reshape(n, last, 4, (uint32_t[]){g->batch, 1, 1, 1});
    g->last = onnx_max(n, last, zero);
    last = onnx_sub(n, last, onnx_scalar(n, WNNOperandDataType_Int32, (double)g->length - 1));
    /* Sequences that are shorter than the longest one of a prompt begin at 0, too. */
    g->past = onnx_max(n, last, zero);
    return !n->refused;
}

/* Returns the positions of the queries: int32 [batch, 1, length, 1]. */
static WNNOperand query_positions(struct onnx_node *n, const struct group_attention *g)
{
    return onnx_add(n, g->past, onnx_iota(n, WNNOperandDataType_Int32, 4, 2, g->length));
}

static bool rotate_heads(struct onnx_node *n, struct group_attention *g, bool interleaved)
{
    const struct onnx_dims dims = onnx_dims_of(onnx_operand(n, 7));
    WNNGatherOptions o = WNN_GATHER_OPTIONS_INIT;
    WNNOperand angles[2], positions;

    if (n->refused || dims.rank != 2 || 2 * dims.at[1] > g->size)
        return onnx_refuse(n, "cos_cache has rank %zu and rows of %u, for heads of %u", dims.rank,
                           dims.rank ? dims.at[dims.rank - 1] : 1, g->size);
    positions = onnx_input(n, 9) ? onnx_cast(n, onnx_operand(n, 9), WNNOperandDataType_Int32) : query_positions(n, g);
    positions = onnx_reshape(n, positions, 2, (uint32_t[]){g->batch, g->length});
    o.label = n->label;
    o.axis = 0;
    for (size_t i = 0; i < 2; i++) {
        angles[i] = wnnGraphBuilderGather(n->builder, onnx_operand(n, 7 + i), positions, &o);
        angles[i] = onnx_reshape(n, angles[i], 4, (uint32_t[]){g->batch, 1, g->length, dims.at[1]});
    }
    g->q = onnx_rotate(n, g->q, angles[0], angles[1], 2 * dims.at[1], interleaved);
    g->k = onnx_rotate(n, g->k, angles[0], angles[1], 2 * dims.at[1], interleaved);
    return !n->refused;
}

/* Returns the cache of input i with the new keys or values at their positions.  It is as long as g->cache. */
static WNNOperand update_cache(struct onnx_node *n, const struct group_attention *g, size_t i, WNNOperand fresh)
{
    const struct onnx_dims all = {4, {g->batch, g->kv_heads, g->cache, g->size}};
    const struct onnx_dims places = {4, {g->batch, g->kv_heads, g->length, 1}}, none = {4, {0}};
    WNNOperand cache, parts[3];
    struct onnx_dims behind = none;

    if (onnx_input(n, i)) {
        cache = onnx_operand(n, i);
        behind.at[2] = g->cache - onnx_dims_of(cache).at[2];
        if (onnx_dims_of(cache).at[2] < g->cache)
            cache = onnx_pad(n, cache, none, behind, 0);
    } else {
        cache = onnx_expand(n, onnx_scalar_like(n, fresh, 0), all);
    }
    parts[0] = onnx_expand(n, onnx_iota(n, WNNOperandDataType_Int32, 4, 0, g->batch), places);
    parts[1] = onnx_expand(n, onnx_iota(n, WNNOperandDataType_Int32, 4, 1, g->kv_heads), places);
    parts[2] = onnx_expand(n, query_positions(n, g), places);
    return wnnGraphBuilderScatterND(n->builder, cache, onnx_concat(n, 3, parts, 3), fresh, n->options);
}

/* Returns where scores count: a query sees the keys up to its own position, and no more of them than `window`.  Those of a
 * prompt that come after the end of their sequence see what its last one sees. */
static WNNOperand visible(struct onnx_node *n, const struct group_attention *g, int64_t window)
{
    WNNOperand keys = onnx_iota(n, WNNOperandDataType_Int32, 4, 3, g->cache), queries = query_positions(n, g), seen, first;

    if (g->length > 1)
        queries = onnx_min(n, queries, g->last);
    seen = onnx_not(n, onnx_greater(n, keys, queries));
    if (window < 0)
        return seen;
    first = onnx_sub(n, queries, onnx_scalar(n, WNNOperandDataType_Int32, (double)window));
    return onnx_and(n, seen, onnx_greater(n, keys, first));
}

/* Returns the bias of the scores, which may be shorter than the cache: no query sees the keys beyond it. */
static WNNOperand read_bias(struct onnx_node *n, const struct group_attention *g)
{
    const WNNOperand bias = onnx_cast(n, onnx_operand(n, 10), WNNOperandDataType_Float32);
    const struct onnx_dims dims = onnx_dims_of(bias), none = {4, {0}};

    if (n->refused || dims.rank != 4 || dims.at[3] >= g->cache || dims.at[3] == 1)
        return bias;
    return onnx_pad(n, bias, none, (struct onnx_dims){4, {0, 0, 0, g->cache - dims.at[3]}}, 0);
}

/* Makes [batch, heads, length, columns] of [batch, kv_heads, group * length, columns], or the other way round. */
static WNNOperand regroup(struct onnx_node *n, const struct group_attention *g, WNNOperand x, bool to_heads, uint32_t columns)
{
    const uint32_t heads = to_heads ? g->heads : g->kv_heads;

    return onnx_reshape(n, x, 4, (uint32_t[]){g->batch, heads, g->heads / heads * g->length, columns});
}

/* Refuses caches of integers with scales. */
static bool has_plain_cache(struct onnx_node *n)
{
    static const char *const types[] = {"k_quant_type", "v_quant_type"};
    const int64_t bits = onnx_int(n, "kv_cache_bit_width", 0);

    for (size_t i = 0; i < 2; i++) {
        const char *type = onnx_string(n, types[i], "NONE");
        if (strcmp(type, "NONE") != 0)
            return onnx_refuse(n, "%s is \"%.60s\": quantised caches are not read", types[i], type);
    }
    return !bits || onnx_refuse(n, "kv_cache_bit_width is %lld: quantised caches are not read", (long long)bits);
}

bool onnx_import_group_query_attention(struct onnx_node *n)
{
    static const uint32_t swap_last[] = {0, 1, 3, 2};
    const double softcap = onnx_float(n, "softcap", 0);
    const int64_t window = onnx_int(n, "local_window_size", -1);
    double scale = onnx_float(n, "scale", 0);
    struct group_attention g;
    WNNOperand keys, values, scores, seen, bias = NULL, blind = NULL, y;

    if (!has_plain_cache(n))
        return false;
    if (onnx_int(n, "smooth_softmax", 0) > 0 || onnx_int(n, "qk_output", 0))
        return onnx_refuse(n, "smooth_softmax or qk_output is not 0");
    if (!onnx_int(n, "causal", 1) || onnx_int(n, "sliding_window_cache", 0))
        return onnx_refuse(n, "causal is 0, or sliding_window_cache is not");
    onnx_ignore(n, "qk_norm_epsilon"); /* of inputs that are refused */
    if (onnx_input(n, 11))
        return onnx_refuse(n, "head_sink is not read");
    if (!read_heads(n, &g) || !read_lengths(n, &g))
        return false;
    if (onnx_int(n, "do_rotary", 0) && !rotate_heads(n, &g, onnx_int(n, "rotary_interleaved", 0) != 0))
        return false;
    onnx_ignore(n, "rotary_interleaved");
    keys = update_cache(n, &g, 3, g.k);
    values = update_cache(n, &g, 4, g.v);
    if (onnx_wants(n, 1))
        onnx_output(n, 1, keys);
    if (onnx_wants(n, 2))
        onnx_output(n, 2, values);
    /* With float16 the caches are of that type, and what is computed of them float32: one attention, rounded once. */
    const WNNOperandDataType type = wnnOperandGetDataType(g.q), f32 = WNNOperandDataType_Float32;
    g.q = onnx_cast(n, g.q, f32);
    keys = onnx_cast(n, keys, f32);
    values = onnx_cast(n, values, f32);
    /* The heads that share keys are rows of one matmul. */
    scale = scale == 0 ? 1 / sqrt(g.size) : scale;
    y = regroup(n, &g, onnx_linear(n, g.q, scale, 0), false, g.size);
    scores = regroup(n, &g, onnx_matmul(n, y, onnx_transpose(n, keys, 4, swap_last)), true, g.cache);
    scores = onnx_soft_cap(n, scores, softcap);
    seen = visible(n, &g, window);
    if (onnx_input(n, 10)) {
        bias = read_bias(n, &g);
        scores = onnx_add(n, scores, bias);
        blind = onnx_blind_rows(n, onnx_where(n, seen, bias, onnx_scalar(n, f32, -(double)INFINITY)));
    } else if (!window) {
        blind = onnx_scalar(n, WNNOperandDataType_Uint8, 1);
    }
    scores = onnx_where(n, seen, scores, onnx_scalar(n, f32, -(double)INFINITY));
    scores = wnnGraphBuilderSoftmax(n->builder, scores, 3, n->options);
    y = onnx_matmul(n, regroup(n, &g, scores, false, g.cache), values);
    y = regroup(n, &g, y, true, g.size);
    if (blind)
        y = onnx_where(n, blind, onnx_scalar(n, f32, 0), y);
    y = onnx_transpose(n, y, 4, swap_heads);
    y = onnx_cast(n, onnx_reshape(n, y, 3, (uint32_t[]){g.batch, g.length, g.heads * g.size}), type);
    return onnx_output(n, 0, y);
}
