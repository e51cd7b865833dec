/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports MatMulNBits and GatherBlockQuantized of the domain com.microsoft, whose weights have 1, 2, 4 or 8 bits and a scale
 * for every block.
 *
 * WebNN has no data types of fewer than 8 bits, but the builder takes constants of them as bytes: weights stay in the file
 * (docs/compact-weights.md).  Those of 1 and 2 bits are doubled where their zero points are halves.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/map.h"
#include "frontend/readers/onnx/compose.h"
#include "ir/support/number.h"

/* ---- weights in blocks ---- */

/** Describes weights of [rows, blocks, block] numbers of 1, 2, 4 or 8 bits, one scale for each block. */
struct block_weights {
    uint32_t bits, rows, columns, blocks, block; /* columns: numbers of a row that are used */
    uint32_t times; /* numbers and zero points are taken so many times as large, scales as small: halves become whole */
};

static void release(void const *data, size_t bytes, void *user1, void *user2)
{
    (void)data;
    (void)bytes;
    (void)user2;
    free(user1);
}

/* Returns memory for a constant, which keep_constant takes over; refuses if there is none. */
static void *constant_memory(struct onnx_node *n, size_t bytes)
{
    void *memory = malloc(bytes + 1);

    if (!memory)
        onnx_refuse(n, "out of memory for %zu bytes of weights", bytes);
    return memory;
}

/* Makes a constant of a matrix that malloc gave, or an error operand of NULL. */
static WNNOperand keep_constant(struct onnx_node *n, WNNOperandDataType type, const uint32_t dims[2], void *memory)
{
    const WNNOperandDescriptor descriptor = {type, 2, dims, NULL};

    return memory ? wnnGraphBuilderConstantLent(n->builder, &descriptor, memory,
                                                (size_t)dims[0] * dims[1] * wnnOperandDataTypeGetByteSize(type),
                                                (WNNBufferReleaseCallbackInfo){release, memory, NULL})
                  : onnx_error_operand(n);
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

/* Returns number i of those that lie in bytes, the lowest bits first. */
static inline uint8_t number_in(const uint8_t *from, size_t i, uint32_t bits)
{
    return (uint8_t)(from[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1));
}

/* Returns how many bytes a row of as many numbers takes. */
static size_t row_bytes(size_t count, uint32_t bits)
{
    return (count * bits + 7) / 8;
}

/* Returns numbers of fewer than 8 bits as a constant of bytes.  Each of `rows` rows begins a new byte and has `count` numbers.
 */
static WNNOperand unpack(struct onnx_node *n, const uint8_t *from, uint32_t bits, size_t rows, size_t count,
                         const uint32_t dims[2])
{
    uint8_t *bytes = constant_memory(n, rows * count);

    for (size_t r = 0; bytes && r < rows; r++, from += row_bytes(count, bits)) {
        uint8_t *to = bytes + r * count;

        for (size_t i = 0; i < count / 2; i++) { /* vectors of bytes */
            to[2 * i] = bits == 4 ? from[i] & 15 : number_in(from, 2 * i, bits);
            to[2 * i + 1] = bits == 4 ? from[i] >> 4 : number_in(from, 2 * i + 1, bits);
        }
        if (count % 2)
            to[count - 1] = number_in(from, count - 1, bits);
    }
    return keep_constant(n, WNNOperandDataType_Uint8, dims, bytes);
}

WNNOperand onnx_lend_packed(struct onnx_node *n, const struct onnx_value *v, const void *from, uint32_t bits, uint32_t middle,
                            const uint32_t dims[2])
{
    const size_t bytes = row_bytes((size_t)dims[0] * dims[1], bits);
    const WNNOperandDescriptor descriptor = {WNNOperandDataType_Uint8, 2, dims, NULL};

    if (!middle && v->map && (from == v->file || from == v->raw))
        return file_map_lend_packed(v->map, n->builder, &descriptor, bits, from, bytes);
    uint8_t *copy = constant_memory(n, bytes);
    if (!copy)
        return onnx_error_operand(n);
    for (size_t i = 0; i < bytes; i++)
        copy[i] = (uint8_t)(((const uint8_t *)from)[i] ^ middle * (UINT8_MAX / ((1u << bits) - 1)));
    return wnnGraphBuilderConstantPackedLent(n->builder, &descriptor, bits, copy, bytes,
                                             (WNNBufferReleaseCallbackInfo){release, copy, NULL});
}

static bool has_elements(struct onnx_node *n, size_t i, const char *what, int64_t expected)
{
    const struct onnx_value *v = onnx_input(n, i);
    const int64_t have = v ? onnx_elements(v) : 0;

    return have == expected || onnx_refuse(n, "%s has %lld elements, not %lld", what, (long long)have, (long long)expected);
}

/* Returns the weights as uint8 [rows, blocks * block]. */
static WNNOperand read_weights(struct onnx_node *n, size_t i, const struct block_weights *w)
{
    const uint32_t dims[2] = {w->rows, w->blocks * w->block};
    const struct onnx_value *v = onnx_input(n, i);

    if (!v || (v->type != ONNX_UINT8 && v->type != ONNX_INT8))
        return onnx_refuse_operand(n, "its weights are %s, not uint8", v ? onnx_type_name(v->type) : "missing");
    if (!has_elements(n, i, "B", (int64_t)w->rows * w->blocks * w->block * w->bits / 8))
        return onnx_error_operand(n);
    if (w->bits == 8)
        return onnx_reshape(n, onnx_operand(n, i), 2, dims);
    const uint8_t *from = bytes_of(n, i);
    return from ? onnx_lend_packed(n, v, from, w->bits, 0, dims) : onnx_error_operand(n);
}

/* Returns the numbers that lie in bytes: a table has those of each byte. */
static WNNOperand unpack_bytes(struct onnx_node *n, WNNOperand x, uint32_t bits)
{
    struct onnx_dims dims = onnx_dims_of(n, x);
    const uint32_t each = 8 / bits, shape[2] = {UINT8_MAX + 1, each};
    uint8_t table[(UINT8_MAX + 1) * 8];

    if (each == 1 || n->refused || !dims.rank)
        return x;
    for (uint32_t i = 0; i < shape[0] * each; i++)
        table[i] = (uint8_t)(i / each >> i % each * bits & ((1u << bits) - 1));
    x = onnx_gather(n, onnx_constant_operand(n, WNNOperandDataType_Uint8, 2, shape, table),
                    onnx_cast(n, x, WNNOperandDataType_Int32), 0);
    dims.at[dims.rank - 1] *= each;
    return onnx_reshape(n, x, dims.rank, dims.at);
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
    if (v->type != ONNX_UINT8)
        return onnx_refuse_operand(n, "zero_points of %s; they are read as uint8", onnx_type_name(v->type));
    if (!has_elements(n, i, "zero_points", (int64_t)(w->rows * row_bytes(w->blocks, w->bits))))
        return onnx_error_operand(n);
    if (w->bits == 8)
        return onnx_reshape(n, onnx_operand(n, i), 2, dims);
    const uint8_t *bytes = bytes_of(n, i);
    return bytes ? unpack(n, bytes, w->bits, w->rows, w->blocks, dims) : onnx_error_operand(n);
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

/* Returns whether input i is a constant, wherever it lies. */
static bool is_known(struct onnx_node *n, size_t i)
{
    const struct onnx_value *v = onnx_input(n, i);

    return v && (v->file || onnx_is_constant(n, i));
}

/* Returns scales as numbers of `type`.  Those of float16 become float32 here, since a cast between them and the weights would
 * keep passes from seeing that all of it is constant. */
static WNNOperand read_scales(struct onnx_node *n, size_t i, const struct block_weights *w, WNNOperandDataType type)
{
    const uint32_t dims[2] = {w->rows, w->blocks};
    const struct onnx_value *v = onnx_input(n, i);
    const size_t count = (size_t)w->rows * w->blocks;
    const bool converts = v && (v->type == ONNX_FLOAT16 || (v->type == ONNX_FLOAT && w->times > 1)) &&
                          type == WNNOperandDataType_Float32 && is_known(n, i);
    const uint8_t *from = converts ? bytes_of(n, i) : NULL;

    if (!from)
        return onnx_cast(n, onnx_reshape(n, onnx_operand(n, i), 2, dims), type);
    float *scales = constant_memory(n, count * sizeof *scales);
    for (size_t k = 0; scales && k < count; k++)
        scales[k] = number_at(v->type, from, k) / (float)w->times;
    return keep_constant(n, WNNOperandDataType_Float32, dims, scales);
}

/* Returns zero points of a floating-point type as bytes, if they are constants and w->times as much is such a number; else
 * NULL.
 */
static WNNOperand whole_zero_points(struct onnx_node *n, size_t i, const struct block_weights *w)
{
    const struct onnx_value *v = onnx_input(n, i);
    const size_t count = (size_t)w->rows * w->blocks;
    const uint8_t *from = is_known(n, i) ? bytes_of(n, i) : NULL;
    uint8_t *bytes = from ? malloc(count + 1) : NULL;

    if (!bytes)
        return NULL;
    for (size_t k = 0; k < count; k++) {
        const float number = number_at(v->type, from, k) * (float)w->times;

        if (!(number >= 0 && number <= UINT8_MAX) || number != floorf(number)) {
            free(bytes);
            return NULL;
        }
        bytes[k] = (uint8_t)number;
    }
    return keep_constant(n, WNNOperandDataType_Uint8, (const uint32_t[]){w->rows, w->blocks}, bytes);
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
static WNNOperand dequantize_blocks(struct onnx_node *n, struct block_weights *w, WNNOperandDataType type)
{
    const struct onnx_value *v = onnx_input(n, 3);
    const bool real = v && (v->type == ONNX_FLOAT || v->type == ONNX_FLOAT16);
    const bool halved = onnx_input(n, 2)->type == ONNX_FLOAT || onnx_input(n, 2)->type == ONNX_FLOAT16;
    WNNOperand b, zero;

    if (real && !has_elements(n, 3, "zero_points", (int64_t)w->rows * w->blocks))
        return onnx_error_operand(n);
    zero = real ? whole_zero_points(n, 3, w) : read_zero_points(n, 3, w);
    if (!zero && halved && w->bits <= 2 && type == WNNOperandDataType_Float32 && is_known(n, 2)) {
        w->times = 2;
        zero = whole_zero_points(n, 3, w);
        w->times = zero ? w->times : 1;
    }
    b = read_weights(n, 1, w);
    if (w->times > 1)
        b = onnx_mul(n, b, onnx_scalar_like(n, b, w->times));
    return zero ? wnnGraphBuilderDequantizeLinear(n->builder, b, read_scales(n, 2, w, type), zero, n->options)
                : subtract_zero_points(n, b, read_scales(n, 2, w, type), 3, w, type);
}

/* Returns bits and block size by their attributes, if they are ones there are. */
static bool read_blocks(struct onnx_node *n, int64_t bits, int64_t block, struct block_weights *w)
{
    if (bits != 1 && bits != 2 && bits != 4 && bits != 8)
        return onnx_refuse(n, "weights of %lld bits; those of 1, 2, 4 and 8 are read", (long long)bits);
    if (block < 16 || block > 1 << 20 || (block & (block - 1)))
        return onnx_refuse(n, "block_size is %lld, not a power of two from 16 on", (long long)block);
    w->bits = (uint32_t)bits;
    w->block = (uint32_t)block;
    w->times = 1;
    return true;
}

/* MatMulNBits: A [..., K] times the transpose of B [N, K] in blocks along K, plus bias.  With float16 the product and its
 * weights are float32 between two casts: the weights are not rounded once more, and stay as small as they are. */
bool onnx_import_matmul_n_bits(struct onnx_node *n)
{
    const int64_t k = onnx_int(n, "K", 0), columns = onnx_int(n, "N", 0);
    struct block_weights w;
    WNNOperand a = onnx_operand(n, 0), b, y;
    const struct onnx_dims dims = onnx_dims_of(n, a);

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
    w.blocks = ceil_div(w.columns, w.block);
    if ((uint64_t)w.rows * w.blocks * w.block > INT32_MAX)
        return onnx_refuse(n, "B has more than 2^31 elements");
    WNNOperandDataType type = wnnOperandGetDataType(a);
    if (onnx_input(n, 2) && !onnx_type_is_float(onnx_input(n, 2)->type))
        return onnx_refuse(n, "scales of %s, not of floating-point numbers", onnx_type_name(onnx_input(n, 2)->type));
    if (!has_elements(n, 2, "scales", (int64_t)w.rows * w.blocks))
        return false;
    const bool half = type == WNNOperandDataType_Float16;
    if (half)
        a = onnx_cast(n, a, WNNOperandDataType_Float32);
    b = dequantize_blocks(n, &w, half ? WNNOperandDataType_Float32 : type);
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
    const bool packed = data && data->type == ONNX_UINT8; /* as many as there is room for; else one of 4 bits in an element */
    const int64_t bits = onnx_int(n, "bits", 4), gather_axis = onnx_int(n, "gather_axis", 0);
    const int64_t quantize_axis = onnx_int(n, "quantize_axis", 1), block = onnx_int(n, "block_size", 128);
    WNNOperand table, scales, zeros, x, s, z;
    struct onnx_dims dims, indices, after = {0};
    struct block_weights w;

    if (n->refused || !data || !read_blocks(n, bits, block, &w))
        return false;
    if (data->rank != 2 || gather_axis != 0 || (quantize_axis != 1 && quantize_axis != -1))
        return onnx_refuse(n, "a table of %zu dimensions, gather_axis %lld, quantize_axis %lld; rows of matrices are read",
                           data->rank, (long long)gather_axis, (long long)quantize_axis);
    w.rows = (uint32_t)data->dims[0];
    w.columns = (uint32_t)data->dims[1] * (packed ? 8 / w.bits : 1);
    w.blocks = ceil_div(w.columns, w.block);
    table = onnx_operand(n, 0);
    if (!has_elements(n, 2, "scales", (int64_t)w.rows * w.blocks))
        return false;
    scales = onnx_operand(n, 2);
    zeros = packed ? read_zero_points(n, 3, &w) : onnx_operand_optional(n, 3);
    if (!zeros)
        zeros = onnx_expand(n, onnx_scalar_like(n, table, 0), (struct onnx_dims){2, {w.rows, w.blocks}});
    /* Only the requested rows become numbers; the table stays as in the file. */
    x = onnx_gather(n, table, onnx_operand(n, 1), 0);
    x = packed ? unpack_bytes(n, x, w.bits) : x;
    s = onnx_gather(n, scales, onnx_operand(n, 1), 0);
    z = onnx_gather(n, zeros, onnx_operand(n, 1), 0);
    dims = onnx_dims_of(n, x);
    indices = onnx_dims_of(n, s);
    if (n->refused || !dims.rank || dims.rank != indices.rank)
        return false;
    after.rank = dims.rank;
    after.at[dims.rank - 1] = w.blocks * w.block - w.columns; /* the last block may not be full */
    if (after.at[dims.rank - 1])
        x = onnx_pad(n, x, (struct onnx_dims){dims.rank, {0}}, after, 0);
    x = wnnGraphBuilderDequantizeLinear(n->builder, x, s, z, n->options);
    return onnx_output(n, 0, after.at[dims.rank - 1] ? onnx_slice_axis(n, x, (uint32_t)dims.rank - 1, 0, w.columns) : x);
}
