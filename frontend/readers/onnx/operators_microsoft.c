/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports operators of the domain com.microsoft that ONNX Runtime's tools write: quantised networks in their operator form,
 * fused matmuls, normalisations and activations of transformers.
 */
#include <string.h>

#include "frontend/readers/onnx/activation.h"
#include "frontend/readers/onnx/operators.h"
#include "frontend/readers/onnx/quantized.h"

/* ---- quantised ---- */

/* Dequantizes inputs i, i + 1 and i + 2: a tensor, its scale, its zero point (which may be absent). */
static WNNOperand dequantize_at(struct onnx_node *n, size_t i)
{
    WNNOperand x = onnx_operand(n, i), scale = onnx_operand(n, i + 1), zero = onnx_operand_optional(n, i + 2);
    size_t rank = onnx_dims_of(x).rank;

    return onnx_dequantize(n, x, scale, zero, rank ? (uint32_t)rank - 1 : 0);
}

/* Quantizes output 0 to scale and zero point in inputs i and i + 1; without a zero point to the type of input `like`. */
static bool output_quantized(struct onnx_node *n, WNNOperand y, size_t i, size_t like)
{
    WNNOperand scale = onnx_operand(n, i), zero = onnx_operand_optional(n, i + 1);

    if (!zero)
        zero = onnx_scalar(n, wnnOperandGetDataType(onnx_operand(n, like)), 0);
    return onnx_output(n, 0, onnx_quantize(n, y, scale, zero, 0));
}

static bool import_qlinear_add(struct onnx_node *n)
{
    return output_quantized(n, onnx_add(n, dequantize_at(n, 0), dequantize_at(n, 3)), 6, 0);
}

static bool import_qlinear_mul(struct onnx_node *n)
{
    return output_quantized(n, onnx_mul(n, dequantize_at(n, 0), dequantize_at(n, 3)), 6, 0);
}

static bool import_qlinear_sigmoid(struct onnx_node *n)
{
    return output_quantized(n, onnx_sigmoid(n, dequantize_at(n, 0)), 3, 0);
}

static bool import_qlinear_leaky_relu(struct onnx_node *n)
{
    WNNLeakyReluOptions o = WNN_LEAKY_RELU_OPTIONS_INIT;

    o.label = n->label;
    o.alpha = onnx_float(n, "alpha", 0.01);
    return output_quantized(n, wnnGraphBuilderLeakyRelu(n->builder, dequantize_at(n, 0), &o), 3, 0);
}

static bool import_qlinear_softmax(struct onnx_node *n)
{
    WNNOperand x = dequantize_at(n, 0), flat = x;
    struct onnx_dims dims = onnx_dims_of(x);
    int64_t along = onnx_int(n, "axis", -1), version = onnx_int(n, "opset", 13);
    uint32_t axis;

    if (n->refused || !onnx_axis(n, along, dims.rank, &axis))
        return false;
    if (version < 13 && axis + 1 < dims.rank) { /* everything from the axis on */
        flat = onnx_reshape(n, x, 2,
                            (uint32_t[]){onnx_dims_product(n, &dims, 0, axis), onnx_dims_product(n, &dims, axis, dims.rank)});
        axis = 1;
    }
    flat = wnnGraphBuilderSoftmax(n->builder, flat, axis, n->options);
    return output_quantized(n, onnx_reshape_to(n, flat, dims), 3, 0);
}

static bool import_qlinear_average_pool(struct onnx_node *n)
{
    const bool is_last = onnx_int(n, "channels_last", 0) != 0;
    WNNOperand x = dequantize_at(n, 0);

    x = onnx_average_pool(n, is_last ? onnx_channels_second(n, x) : x);
    return output_quantized(n, is_last ? onnx_channels_last(n, x) : x, 3, 0);
}

static bool import_qlinear_global_average_pool(struct onnx_node *n)
{
    const uint32_t first = onnx_int(n, "channels_last", 0) ? 1 : 2; /* spatial dimension */
    WNNOperand x = dequantize_at(n, 0);
    uint32_t axes[ONNX_RANK_MAX] = {0};
    size_t rank = onnx_dims_of(x).rank;

    if (n->refused)
        return false;
    if (rank < 3)
        return onnx_refuse(n, "its input has %zu dimensions", rank);
    for (uint32_t i = 0; i < rank - 2; i++)
        axes[i] = first + i;
    return output_quantized(n, onnx_reduce(n, wnnGraphBuilderReduceMean, x, rank - 2, axes), 3, 0);
}

static bool import_qlinear_reduce_mean(struct onnx_node *n)
{
    WNNOperand x = dequantize_at(n, 0);
    WNNReduceOptions o = WNN_REDUCE_OPTIONS_INIT;
    const int64_t *axes = onnx_ints(n, "axes", &o.axesCount);

    o.label = n->label;
    o.keepDimensions = onnx_int(n, "keepdims", 1) != 0;
    if (o.axesCount) /* else all */
        o.axes = onnx_axes(n, axes, o.axesCount, onnx_dims_of(x).rank);
    return !n->refused && output_quantized(n, wnnGraphBuilderReduceMean(n->builder, x, &o), 3, 0);
}

static bool import_qlinear_where(struct onnx_node *n)
{
    return output_quantized(n, onnx_where(n, onnx_operand(n, 0), dequantize_at(n, 1), dequantize_at(n, 4)), 7, 1);
}

static bool import_qlinear_concat(struct onnx_node *n)
{
    size_t count = (n->input_count - 1) / 3; /* the last zero point may be absent */
    WNNOperand *parts = onnx_alloc(n, count, sizeof *parts);
    int64_t along = onnx_int(n, "axis", 0);
    uint32_t axis;

    if (!parts)
        return false;
    if (n->input_count % 3 == 0)
        return onnx_refuse(n, "%zu inputs; tensors come with scales and zero points", n->input_count);
    for (size_t i = 0; i < count; i++)
        parts[i] = dequantize_at(n, 2 + 3 * i);
    if (n->refused || !onnx_axis(n, along, onnx_dims_of(parts[0]).rank, &axis))
        return false;
    return output_quantized(n, onnx_concat(n, count, parts, axis), 0, 2);
}

static bool import_qgemm(struct onnx_node *n)
{
    WNNGemmOptions o = WNN_GEMM_OPTIONS_INIT;
    WNNOperand a = dequantize_at(n, 0), b, scale;
    WNNOperand a_scale = onnx_operand(n, 1), b_scale = onnx_operand(n, 4);

    o.label = n->label;
    o.alpha = onnx_float(n, "alpha", 1);
    o.aTranspose = onnx_int(n, "transA", 0) != 0;
    o.bTranspose = onnx_int(n, "transB", 0) != 0;
    /* Scales of b are those of the result's columns. */
    b = onnx_dequantize(n, onnx_operand(n, 3), b_scale, onnx_operand_optional(n, 5), o.bTranspose ? 0 : 1);
    if (onnx_input(n, 6)) {
        scale = onnx_mul(n, onnx_along_axis(n, a_scale, 1, 0), onnx_along_axis(n, b_scale, 1, 0));
        o.c = onnx_dequantize(n, onnx_operand(n, 6), onnx_linear(n, scale, o.alpha, 0), NULL,
                              onnx_dims_of(onnx_operand(n, 6)).rank == 2 ? 1 : 0);
    }
    b = wnnGraphBuilderGemm(n->builder, a, b, &o);
    return onnx_input(n, 7) && onnx_input(n, 8) ? output_quantized(n, b, 7, 0) : onnx_output(n, 0, b);
}

static bool import_matmul_integer_to_float(struct onnx_node *n)
{
    WNNOperand a = onnx_operand(n, 0), b = onnx_operand(n, 1);
    size_t rank_a = onnx_dims_of(a).rank, rank_b = onnx_dims_of(b).rank;

    a = onnx_dequantize(n, a, onnx_operand(n, 2), onnx_operand_optional(n, 4), rank_a > 1 ? (uint32_t)rank_a - 2 : 0);
    b = onnx_dequantize(n, b, onnx_operand(n, 3), onnx_operand_optional(n, 5), rank_b > 1 ? (uint32_t)rank_b - 1 : 0);
    return onnx_output(n, 0, onnx_scale_bias(n, onnx_matmul_any(n, a, b), NULL, onnx_operand_optional(n, 6)));
}

static bool import_dynamic_quantize_matmul(struct onnx_node *n)
{
    WNNOperand a = onnx_operand(n, 0), b = onnx_operand(n, 1), scale, zero;
    size_t rank = onnx_dims_of(b).rank;

    a = onnx_dynamic_quantize(n, a, &scale, &zero);
    a = onnx_dequantize(n, a, scale, zero, 0);
    b = onnx_dequantize(n, b, onnx_operand(n, 2), onnx_operand_optional(n, 3), rank > 1 ? (uint32_t)rank - 1 : 0);
    return onnx_output(n, 0, onnx_scale_bias(n, onnx_matmul_any(n, a, b), NULL, onnx_operand_optional(n, 4)));
}

/* ---- fused matmuls ---- */

static WNNOperand swap_last(struct onnx_node *n, WNNOperand x)
{
    uint32_t permutation[ONNX_RANK_MAX];
    size_t rank = onnx_dims_of(x).rank;

    if (rank < 2)
        return x;
    for (uint32_t i = 0; i < rank; i++)
        permutation[i] = i;
    permutation[rank - 1] = (uint32_t)rank - 2;
    permutation[rank - 2] = (uint32_t)rank - 1;
    return onnx_transpose(n, x, rank, permutation);
}

/* Makes [b, c, ..., a, z] of [a, b, c, ..., z]: the batches lie behind the rows in x. */
static WNNOperand batches_first(struct onnx_node *n, WNNOperand x)
{
    uint32_t permutation[ONNX_RANK_MAX];
    size_t rank = onnx_dims_of(x).rank;

    if (rank < 3)
        return x;
    for (uint32_t i = 0; i < rank; i++)
        permutation[i] = i + 2 < rank ? i + 1 : i;
    permutation[rank - 2] = 0;
    return onnx_transpose(n, x, rank, permutation);
}

static WNNOperand fused_matmul(struct onnx_node *n)
{
    WNNOperand a = onnx_operand(n, 0), b = onnx_operand(n, 1), y;
    double alpha = onnx_float(n, "alpha", 1);

    if (onnx_int(n, "transBatchA", 0))
        a = batches_first(n, a);
    if (onnx_int(n, "transBatchB", 0))
        b = batches_first(n, b);
    if (onnx_int(n, "transA", 0))
        a = swap_last(n, a);
    if (onnx_int(n, "transB", 0))
        b = swap_last(n, b);
    y = onnx_matmul_any(n, a, b);
    return alpha == 1 ? y : onnx_linear(n, y, alpha, 0);
}

static bool import_fused_matmul(struct onnx_node *n)
{
    return onnx_output(n, 0, fused_matmul(n));
}

static bool import_fused_matmul_activation(struct onnx_node *n)
{
    onnx_ignore(n, "activation_axis"); /* of functions of rows only, which none of these is */
    return onnx_output(n, 0, onnx_activate_fused(n, fused_matmul(n)));
}

/* ---- activations ---- */

static bool import_gelu(struct onnx_node *n)
{
    WNNOperand x = onnx_scale_bias(n, onnx_operand(n, 0), NULL, onnx_operand_optional(n, 1));

    return onnx_output(n, 0, wnnGraphBuilderGelu(n->builder, x, n->options));
}

/* Imports FastGelu as x * 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))). */
static bool import_fast_gelu(struct onnx_node *n)
{
    WNNOperand x = onnx_scale_bias(n, onnx_operand(n, 0), NULL, onnx_operand_optional(n, 1)), inner;

    inner = onnx_mul(n, x, onnx_linear(n, onnx_mul(n, x, x), 0.7978845608028654 * 0.044715, 0.7978845608028654));
    return onnx_output(n, 0, onnx_mul(n, x, onnx_linear(n, onnx_tanh(n, inner), 0.5, 0.5)));
}

static bool import_quick_gelu(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0);

    return onnx_output(n, 0, onnx_mul(n, x, onnx_sigmoid(n, onnx_linear(n, x, onnx_float(n, "alpha", 1.702), 0))));
}

/* ---- normalisations of sums ---- */

/* Normalizes over the last axis; `mean` says whether it is subtracted. */
static WNNOperand normalize_last(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand bias, bool mean,
                                 double epsilon)
{
    WNNLayerNormalizationOptions o = WNN_LAYER_NORMALIZATION_OPTIONS_INIT;
    size_t rank = onnx_dims_of(x).rank;
    uint32_t axis = rank ? (uint32_t)rank - 1 : 0;
    WNNOperandDataType type = wnnOperandGetDataType(x);
    WNNOperand single, square;

    if (mean) {
        o.label = n->label;
        o.scale = scale;
        o.bias = bias;
        o.epsilon = epsilon;
        o.axesCount = 1;
        o.axes = &axis;
        return wnnGraphBuilderLayerNormalization(n->builder, x, &o);
    }
    single = onnx_cast(n, x, WNNOperandDataType_Float32);
    square = onnx_reduce_axis(n, wnnGraphBuilderReduceMean, onnx_mul(n, single, single), axis);
    square = onnx_sqrt(n, onnx_add(n, square, onnx_scalar(n, WNNOperandDataType_Float32, epsilon)));
    return onnx_mul(n, onnx_cast(n, onnx_div(n, single, square), type), scale);
}

/* Imports a skip normalization, whose outputs are the result, two statistics (of training) and the sum. */
static bool import_skip_normalization(struct onnx_node *n)
{
    bool mean = !strstr(n->proto->op_type, "Simplified");
    WNNOperand x = onnx_add(n, onnx_operand(n, 0), onnx_operand(n, 1));
    WNNOperand bias = onnx_operand_optional(n, mean ? 4 : 3);

    x = onnx_scale_bias(n, x, NULL, bias);
    if (onnx_wants(n, 3))
        onnx_output(n, 3, x);
    return onnx_output(n, 0,
                       normalize_last(n, x, onnx_operand(n, 2), mean ? onnx_operand_optional(n, 3) : NULL, mean,
                                      onnx_float(n, "epsilon", 1e-12)));
}

enum { IDS, SEGMENTS, WORD_TABLE, POSITION_TABLE, SEGMENT_TABLE, GAMMA, BETA, MASK, POSITIONS };
/* Of QEmbedLayerNormalization: where scales and zero points of the tables, of gamma and of beta begin. */
enum { EMBED_SCALES = 8, EMBED_ZEROS = 13 };

/* Returns x, of input `table`, as numbers. */
static WNNOperand embedded(struct onnx_node *n, size_t table, WNNOperand x)
{
    if (n->proto->op_type[0] != 'Q')
        return x;
    table -= WORD_TABLE;
    return onnx_dequantize(n, x, onnx_operand(n, EMBED_SCALES + table), onnx_operand_optional(n, EMBED_ZEROS + table), 0);
}

/* Returns rows of the table that is input `table`: those that input `indices` [batch or 1, length] names. */
static WNNOperand embed(struct onnx_node *n, size_t table, size_t indices)
{
    WNNGatherOptions o = WNN_GATHER_OPTIONS_INIT;

    o.label = n->label;
    return embedded(n, table, wnnGraphBuilderGather(n->builder, onnx_operand(n, table), onnx_operand(n, indices), &o));
}

/* Returns how many elements of each row of a mask are 1, or zeros without a mask. */
static WNNOperand count_ones(struct onnx_node *n, size_t i, uint32_t rows)
{
    const struct onnx_dims each = {1, {rows}};
    WNNOperand mask = onnx_operand_optional(n, i), ones;

    if (!mask)
        return onnx_expand(n, onnx_scalar(n, WNNOperandDataType_Int32, 0), each);
    ones = onnx_cast(n, onnx_equal(n, mask, onnx_scalar_like(n, mask, 1)), WNNOperandDataType_Int32);
    return onnx_reshape_to(n, onnx_reduce_axis(n, wnnGraphBuilderReduceSum, ones, 1), each);
}

static bool import_embed_layer_normalization(struct onnx_node *n)
{
    const bool has_positions = n->proto->op_type[0] != 'Q' && onnx_input(n, POSITIONS);
    const struct onnx_dims dims = onnx_dims_of(onnx_operand(n, IDS)), table = onnx_dims_of(onnx_operand(n, POSITION_TABLE));
    WNNOperand sum, positions;

    onnx_ignore(n, "mask_index_type"); /* it is about the shape of an output that is computed in any case */
    if (n->refused)
        return false;
    if (dims.rank != 2 || table.rank != 2)
        return onnx_refuse(n, "input_ids has rank %zu, position_embedding %zu; both are matrices", dims.rank, table.rank);
    if (!onnx_input(n, SEGMENTS) != !onnx_input(n, SEGMENT_TABLE))
        return onnx_refuse(n, "segment_ids and segment_embedding are not both given");
    if (!has_positions && dims.at[1] > table.at[0])
        return onnx_refuse(n, "sequences of %u tokens have embeddings for %u positions", dims.at[1], table.at[0]);
    positions = onnx_slice_axis(n, onnx_operand(n, POSITION_TABLE), 0, 0, has_positions ? table.at[0] : dims.at[1]);
    positions = has_positions ? embed(n, POSITION_TABLE, POSITIONS) : embedded(n, POSITION_TABLE, positions);
    sum = onnx_add(n, embed(n, WORD_TABLE, IDS), positions);
    if (onnx_input(n, SEGMENTS))
        sum = onnx_add(n, sum, embed(n, SEGMENT_TABLE, SEGMENTS));
    if (onnx_wants(n, 1))
        onnx_output(n, 1, count_ones(n, MASK, dims.at[0]));
    if (onnx_wants(n, 2))
        onnx_output(n, 2, sum);
    return onnx_output(n, 0,
                       normalize_last(n, sum, embedded(n, GAMMA, onnx_operand(n, GAMMA)),
                                      embedded(n, BETA, onnx_operand(n, BETA)), true, onnx_float(n, "epsilon", 1e-12)));
}

static bool import_simplified_layer_normalization(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0);
    int64_t axis = onnx_int(n, "axis", -1);
    size_t rank = onnx_dims_of(x).rank;

    onnx_ignore(n, "stash_type"); /* single precision inside in any case */
    if (n->refused || (axis != -1 && axis != (int64_t)rank - 1))
        return onnx_refuse(n, "axis %lld is not the last", (long long)axis);
    return onnx_output(n, 0, normalize_last(n, x, onnx_operand(n, 1), NULL, false, onnx_float(n, "epsilon", 1e-5)));
}

#define MICROSOFT "com.microsoft"

static const struct onnx_operator rows[] = {
    {"QLinearAdd", 1, 0, 7, 8, 1, 0, import_qlinear_add, "dequantizeLinear, add, quantizeLinear", MICROSOFT},
    {"QLinearMul", 1, 0, 7, 8, 1, 0, import_qlinear_mul, "dequantizeLinear, mul, quantizeLinear", MICROSOFT},
    {"QLinearSigmoid", 1, 0, 4, 5, 1, 0, import_qlinear_sigmoid, "dequantizeLinear, sigmoid, quantizeLinear", MICROSOFT},
    {"QLinearLeakyRelu", 1, 0, 4, 5, 1, 0, import_qlinear_leaky_relu, "dequantizeLinear, leakyRelu, quantizeLinear", MICROSOFT},
    {"QLinearSoftmax", 1, 0, 4, 5, 1, 0, import_qlinear_softmax, "dequantizeLinear, softmax, quantizeLinear", MICROSOFT},
    {"QLinearAveragePool", 1, 0, 4, 5, 1, 0, import_qlinear_average_pool, "dequantizeLinear, averagePool2d, quantizeLinear",
     MICROSOFT},
    {"QLinearGlobalAveragePool", 1, 0, 4, 5, 1, 0, import_qlinear_global_average_pool,
     "dequantizeLinear, reduceMean, quantizeLinear", MICROSOFT},
    {"QLinearReduceMean", 1, 0, 4, 5, 1, 0, import_qlinear_reduce_mean, "dequantizeLinear, reduceMean, quantizeLinear",
     MICROSOFT},
    {"QLinearWhere", 1, 0, 8, 9, 1, 0, import_qlinear_where, "dequantizeLinear, where, quantizeLinear", MICROSOFT},
    {"QLinearConcat", 1, 0, 4, 255, 1, 0, import_qlinear_concat, "dequantizeLinear, concat, quantizeLinear", MICROSOFT},
    {"QGemm", 1, 0, 6, 9, 1, ONNX_HEAVY, import_qgemm, "dequantizeLinear, gemm, quantizeLinear", MICROSOFT},
    {"MatMulIntegerToFloat", 1, 0, 4, 7, 1, ONNX_HEAVY, import_matmul_integer_to_float, "dequantizeLinear, matmul, add",
     MICROSOFT},
    {"DynamicQuantizeMatMul", 1, 0, 3, 5, 1, ONNX_HEAVY, import_dynamic_quantize_matmul,
     "reduceMin, reduceMax, quantizeLinear, dequantizeLinear, matmul, add", MICROSOFT},
    {"FusedMatMulActivation", 1, 0, 2, 2, 1, ONNX_HEAVY, import_fused_matmul_activation, "as FusedMatMul, then the activation",
     MICROSOFT},
    {"FusedMatMul", 1, 0, 2, 2, 1, ONNX_HEAVY, import_fused_matmul, "transpose, matmul, linear", MICROSOFT},
    {"Gelu", 1, 0, 1, 1, 1, 0, import_gelu, "", MICROSOFT},
    {"BiasGelu", 1, 0, 2, 2, 1, 0, import_gelu, "add, gelu", MICROSOFT},
    {"FastGelu", 1, 0, 1, 2, 1, 0, import_fast_gelu, "composed of tanh and mul", MICROSOFT},
    {"QuickGelu", 1, 0, 1, 1, 1, 0, import_quick_gelu, "x * sigmoid(alpha * x)", MICROSOFT},
    {"EmbedLayerNormalization", 1, 0, 1, 9, 3, 0, import_embed_layer_normalization, "gather, add, layerNormalization",
     MICROSOFT},
    {"QEmbedLayerNormalization", 1, 0, 7, 18, 2, 0, import_embed_layer_normalization,
     "gather, dequantizeLinear, add, layerNormalization", MICROSOFT},
    {"SkipLayerNormalization", 1, 0, 3, 5, 4, 0, import_skip_normalization, "add, layerNormalization", MICROSOFT},
    {"SkipSimplifiedLayerNormalization", 1, 0, 3, 4, 4, 0, import_skip_normalization, "add, mul, reduceMean, sqrt, div, mul",
     MICROSOFT},
    {"SimplifiedLayerNormalization", 1, 0, 2, 2, 1, 0, import_simplified_layer_normalization,
     "ONNX Runtime's, in ONNX's domain: mul, reduceMean, sqrt, div, mul; of the last axis", NULL},
};

ONNX_TABLE(onnx_microsoft_operators, rows);
