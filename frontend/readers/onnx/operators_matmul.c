/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports Gemm, MatMul, MatMulInteger and QLinearMatMul as gemm and matmul.  Matmuls of integers become float32 ones as in
 * quantized.c where ONNX wants int32 of bytes, else mul with broadcasting and reduceSum.  Those of float16 by weights that are
 * dequantized are float32 between casts: only the result is rounded.
 */
#include <math.h>

#include "frontend/readers/onnx/open.h"
#include "frontend/readers/onnx/compose.h"

enum { PIECES_MAX = 16 }; /* of a dot product of bytes: with more, splitting by bits reads and writes less */

static WNNOperand transpose_matrix(struct onnx_node *n, WNNOperand x)
{
    static const uint32_t permutation[] = {1, 0};

    return onnx_transpose(n, x, 2, permutation);
}

/* Returns whether operand B is weights that are there as float32, too, while operand A and the result are float16. */
static bool has_wide_weights(const struct onnx_node *n)
{
    return n->inputs[1] && n->inputs[1]->wide && n->inputs[0] && n->inputs[0]->type == ONNX_FLOAT16 && !n->is_static;
}

static WNNOperand gemm(struct onnx_node *n)
{
    const WNNOperandDataType f32 = WNNOperandDataType_Float32;
    const bool wide = has_wide_weights(n);
    WNNOperand a = onnx_operand(n, 0), b = wide ? n->inputs[1]->wide : onnx_operand(n, 1), c = onnx_operand_optional(n, 2), y;
    double alpha = onnx_float(n, "alpha", 1), beta = onnx_float(n, "beta", 1);
    bool transpose_a = onnx_int(n, "transA", 0) != 0, transpose_b = onnx_int(n, "transB", 0) != 0;
    WNNOperandDataType type = wnnOperandGetDataType(a);
    WNNGemmOptions o = WNN_GEMM_OPTIONS_INIT;

    if (n->version < 7)
        onnx_ignore(n, "broadcast"); /* shapes tell */
    if (onnx_type_is_float(onnx_type_of(type))) {
        if (wide) {
            a = onnx_cast(n, a, f32);
            c = c ? onnx_cast(n, c, f32) : NULL;
        }
        o.label = n->label;
        o.c = beta != 0 ? c : NULL;
        o.alpha = alpha;
        o.beta = beta;
        o.aTranspose = transpose_a;
        o.bTranspose = transpose_b;
        return onnx_cast(n, wnnGraphBuilderGemm(n->builder, a, b, &o), type);
    }
    if (alpha != 1 || (c && beta != 1))
        onnx_refuse(n, "alpha and beta of integer matrices");
    else if (!n->refused && (onnx_dims_of(n, a).rank != 2 || onnx_dims_of(n, b).rank != 2))
        onnx_refuse(n, "an operand is not a matrix");
    if (n->refused)
        return onnx_error_operand(n);
    y = onnx_matrix_multiply(n, transpose_a ? transpose_matrix(n, a) : a, transpose_b ? transpose_matrix(n, b) : b);
    return onnx_scale_bias(n, y, NULL, c);
}

bool onnx_import_gemm(struct onnx_node *n)
{
    return onnx_output(n, 0, n->row->domain ? onnx_activate_fused(n, gemm(n)) : gemm(n));
}

/*
 * Multiplies matrices or vectors.  Vectors become matrices of one row (a) or column (b); their dimension leaves the result
 * again.
 */
static WNNOperand multiply(struct onnx_node *n, WNNOperand a, WNNOperand b,
                           WNNOperand (*multiply_matrices)(struct onnx_node *, WNNOperand, WNNOperand, const void *),
                           const void *context)
{
    struct onnx_dims da = onnx_dims_of(n, a), db = onnx_dims_of(n, b), dims;
    bool row = da.rank == 1, column = db.rank == 1;

    if (!n->refused && (!da.rank || !db.rank))
        onnx_refuse(n, "an operand is a scalar");
    if (n->refused)
        return onnx_error_operand(n);
    if (row)
        a = onnx_reshape(n, a, 2, (uint32_t[]){1, da.at[0]});
    if (column)
        b = onnx_reshape(n, b, 2, (uint32_t[]){db.at[0], 1});
    WNNOperand y = multiply_matrices(n, a, b, context);
    dims = onnx_dims_of(n, y);
    if ((!row && !column) || dims.rank < 2)
        return y;
    if (row) {
        dims.at[dims.rank - 2] = dims.at[dims.rank - 1];
        dims.rank--;
    }
    dims.rank -= column;
    return onnx_reshape_to(n, y, dims);
}

static WNNOperand matrix_multiply(struct onnx_node *n, WNNOperand a, WNNOperand b, const void *context)
{
    (void)context;
    return onnx_matrix_multiply(n, a, b);
}

WNNOperand onnx_matmul_any(struct onnx_node *n, WNNOperand a, WNNOperand b)
{
    return multiply(n, a, b, matrix_multiply, NULL);
}

bool onnx_import_matmul(struct onnx_node *n)
{
    WNNOperand a = onnx_operand(n, 0);

    if (!has_wide_weights(n))
        return onnx_output(n, 0, onnx_matmul_any(n, a, onnx_operand(n, 1)));
    a = onnx_matmul_any(n, onnx_cast(n, a, WNNOperandDataType_Float32), n->inputs[1]->wide);
    return onnx_output(n, 0, onnx_cast(n, a, WNNOperandDataType_Float16));
}

/* Returns the axis along which scales of an operand run: rows of a, columns of b. */
static uint32_t scale_axis(WNNOperand x, bool is_a)
{
    size_t rank = wnnOperandGetRank(x);

    return rank < 2 ? 0 : (uint32_t)(rank - (is_a ? 2 : 1));
}

static WNNOperand multiply_pieces(struct onnx_node *n, WNNOperand a, WNNOperand b, const void *context)
{
    return multiply(n, a, b, matrix_multiply, context);
}

/* Returns so many of the terms of an operand of MatMulInteger, from `first` on, as float32 less the zero point. */
static WNNOperand some_terms(struct onnx_node *n, bool is_a, uint32_t first, uint32_t count)
{
    WNNOperand x = onnx_operand(n, is_a ? 0 : 1);
    const struct onnx_dims dims = onnx_dims_of(n, x);
    const uint32_t axis = (uint32_t)dims.rank - (is_a || dims.rank < 2 ? 1 : 2);

    x = onnx_slice_axis(n, x, axis, first, count);
    return onnx_dequantize(n, x, onnx_scalar(n, WNNOperandDataType_Float32, 1), onnx_operand_optional(n, is_a ? 2 : 3),
                           scale_axis(x, is_a));
}

/* Makes the sums of matmuls of pieces of the terms, so long that float32 adds each up exactly. */
static bool output_pieces(struct onnx_node *n, uint32_t terms, uint32_t length)
{
    WNNOperand sum = NULL;

    for (uint32_t first = 0; first < terms && !n->refused; first += length) {
        const uint32_t count = terms - first < length ? terms - first : length;
        WNNOperand y = onnx_matmul_any(n, some_terms(n, true, first, count), some_terms(n, false, first, count));

        y = onnx_cast(n, y, WNNOperandDataType_Int32);
        sum = sum ? onnx_add(n, sum, y) : y;
    }
    return onnx_output(n, 0, sum);
}

bool onnx_import_matmul_integer(struct onnx_node *n)
{
    WNNOperand a = onnx_operand(n, 0), b = onnx_operand(n, 1);
    struct onnx_dims dims = onnx_dims_of(n, a);
    struct onnx_integer_operand x, y;

    if (n->refused)
        return false;
    if (!dims.rank)
        return onnx_refuse(n, "an operand is a scalar");
    x = onnx_dequantize_input(n, 0, 2, scale_axis(a, true));
    y = onnx_dequantize_input(n, 1, 3, scale_axis(b, false));
    uint32_t terms = dims.at[dims.rank - 1];
    if (onnx_is_open(terms))
        return onnx_refuse_open(n);
    double length = floor(0x1p24 / (x.largest * y.largest));
    if (n->refused || terms <= length || terms > length * PIECES_MAX)
        return onnx_output_sums(n, x, y, terms, multiply_pieces, NULL);
    if (!output_pieces(n, terms, (uint32_t)length / 64 * 64)) /* lines of the cache, and so whole words of bytes */
        return false;
    if (n->outputs[0])
        n->outputs[0]->sums = onnx_matmul_any(n, x.operand, y.operand);
    return !n->refused;
}
