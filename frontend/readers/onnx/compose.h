/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what importers share: builder calls in short form, for those that compose an operator of several.  Each takes the
 * node for the builder and the label, and returns the builder's result.
 *
 * Operands that are errors pass through all of them; onnx_dims_of gives rank 0 and sizes of 1 for those, so that no caller
 * reads beyond a shape.
 */
#pragma once

#include "frontend/readers/onnx/onnx.h"

struct onnx_dims {
    size_t rank;
    uint32_t at[ONNX_RANK_MAX];
};

_Static_assert(ONNX_RANK_MAX == 12, "lists of 1 for each dimension, and of all axes, are written out");

/** Returns the rank and sizes of an operand; sizes beyond the rank are 1. */
struct onnx_dims onnx_dims_of(struct onnx_node *n, WNNOperand operand);
/** Returns the product of the sizes from..to - 1.  Refuses what does not fit 31 bits, and returns 1. */
uint32_t onnx_dims_product(struct onnx_node *n, const struct onnx_dims *dims, size_t from, size_t to);
/** Reshapes an operand. */
static inline WNNOperand onnx_reshape_to(struct onnx_node *n, WNNOperand operand, struct onnx_dims dims)
{
    return onnx_reshape(n, operand, dims.rank, dims.at);
}

/** Transposes an operand; the order has as many dimensions. */
static inline WNNOperand onnx_transpose_to(struct onnx_node *n, WNNOperand operand, struct onnx_dims order)
{
    return onnx_transpose(n, operand, order.rank, order.at);
}

#define ONNX_BINARY(name, method)                                                                                              \
    static inline WNNOperand onnx_##name(struct onnx_node *n, WNNOperand a, WNNOperand b)                                      \
    {                                                                                                                          \
        return wnnGraphBuilder##method(n->builder, a, b, n->options);                                                          \
    }
#define ONNX_UNARY(name, method)                                                                                               \
    static inline WNNOperand onnx_##name(struct onnx_node *n, WNNOperand x)                                                    \
    {                                                                                                                          \
        return wnnGraphBuilder##method(n->builder, x, n->options);                                                             \
    }
ONNX_BINARY(add, Add)
ONNX_BINARY(sub, Sub)
ONNX_BINARY(mul, Mul)
ONNX_BINARY(div, Div)
ONNX_BINARY(max, Max)
ONNX_BINARY(min, Min)
ONNX_BINARY(pow, Pow)
ONNX_BINARY(equal, Equal)
ONNX_BINARY(greater, Greater)
ONNX_BINARY(lesser, Lesser)
ONNX_BINARY(matmul, Matmul)
ONNX_BINARY(and, LogicalAnd)
ONNX_BINARY(or, LogicalOr)
ONNX_UNARY(abs, Abs)
ONNX_UNARY(floor, Floor)
ONNX_UNARY(sigmoid, Sigmoid)
ONNX_UNARY(tanh, Tanh)
ONNX_UNARY(relu, Relu)
ONNX_UNARY(not, LogicalNot)
#undef ONNX_BINARY
#undef ONNX_UNARY

static inline WNNOperand onnx_where(struct onnx_node *n, WNNOperand condition, WNNOperand yes, WNNOperand no)
{
    return wnnGraphBuilderWhere(n->builder, condition, yes, no, n->options);
}

/** Returns x * factor + addend, of two numbers. */
WNNOperand onnx_linear(struct onnx_node *n, WNNOperand x, double factor, double addend);
/** Concatenates operands along an axis; a single one is returned as it is. */
static inline WNNOperand onnx_concat(struct onnx_node *n, size_t count, const WNNOperand *operands, uint32_t axis)
{
    return count == 1 ? operands[0] : wnnGraphBuilderConcat(n->builder, count, operands, axis, n->options);
}
/** Broadcasts an operand to these sizes, unless it has them. */
WNNOperand onnx_expand(struct onnx_node *n, WNNOperand operand, struct onnx_dims dims);
/** These are gather, gatherElements and scatterElements along an axis. */
WNNOperand onnx_gather(struct onnx_node *n, WNNOperand x, WNNOperand indices, uint32_t axis);
WNNOperand onnx_gather_elements(struct onnx_node *n, WNNOperand x, WNNOperand indices, uint32_t axis);
WNNOperand onnx_scatter_elements(struct onnx_node *n, WNNOperand x, WNNOperand indices, WNNOperand updates, uint32_t axis);
/** Returns the sums of what comes before each element along axis 0. */
WNNOperand onnx_sum_before(struct onnx_node *n, WNNOperand x);
/** Returns the quotient of an integer operand and a number, and in *rest what that leaves; rest may be NULL. */
WNNOperand onnx_divide(struct onnx_node *n, WNNOperand x, uint32_t number, WNNOperand *rest);
/** Returns the places of the maxima along an axis, which stays with size 1, as int32. */
WNNOperand onnx_arg_max(struct onnx_node *n, WNNOperand x, uint32_t axis);
/** Reverses an operand along axes. */
WNNOperand onnx_reverse(struct onnx_node *n, WNNOperand x, size_t count, const uint32_t *axes);
/** Returns slices at constant indices along an axis. */
WNNOperand onnx_gather_constant(struct onnx_node *n, WNNOperand operand, uint32_t axis, uint32_t count, const int32_t *indices);
/** Adds as many zeros, or elements of that value, around an operand as before and after say. */
WNNOperand onnx_pad(struct onnx_node *n, WNNOperand operand, struct onnx_dims before, struct onnx_dims after, double value);
/** Returns min(max(x, low), high). */
WNNOperand onnx_clamp(struct onnx_node *n, WNNOperand x, double low, double high);

typedef WNNOperand (*onnx_reduction)(WNNGraphBuilder, WNNOperand, WNNReduceOptions const *);
/** Returns reduce(x) over axes, which stay with size 1. */
WNNOperand onnx_reduce(struct onnx_node *n, onnx_reduction reduce, WNNOperand x, size_t count, const uint32_t *axes);
/** Returns the same over one axis. */
WNNOperand onnx_reduce_axis(struct onnx_node *n, onnx_reduction reduce, WNNOperand x, uint32_t axis);
/** Returns 0, 1, ... count - 1 along one axis of a tensor of that rank whose other sizes are 1. */
WNNOperand onnx_iota(struct onnx_node *n, WNNOperandDataType type, size_t rank, size_t axis, uint32_t count);
/** Reshapes a vector (or single element) so that it lies along an axis of a tensor of that rank. */
WNNOperand onnx_along_axis(struct onnx_node *n, WNNOperand vector, size_t rank, size_t axis);
/** Returns x * scale + bias; either may be NULL. */
WNNOperand onnx_scale_bias(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand bias);
/** Moves the channels of x [N, ..., C] to [N, C, ...]. */
WNNOperand onnx_channels_second(struct onnx_node *n, WNNOperand x);
/** Moves the channels of x [N, C, ...] to [N, ..., C]. */
WNNOperand onnx_channels_last(struct onnx_node *n, WNNOperand x);
/** Returns the second input of an elementwise operator, which before version 7 attributes put along the first one
 * (operators_elementwise.c). */
WNNOperand onnx_second_operand(struct onnx_node *n);
/** Return the results of AveragePool and MaxPool of x by the node's attributes (operators_pool.c). */
WNNOperand onnx_average_pool(struct onnx_node *n, WNNOperand x);
WNNOperand onnx_max_pool(struct onnx_node *n, WNNOperand x);
/** Returns Conv's result by its attributes (operators_convolution.c); bias may be NULL. */
WNNOperand onnx_convolve(struct onnx_node *n, WNNOperand x, WNNOperand filter, WNNOperand bias);
/** Returns the elements of a vector in their order, the smallest first, and where they were, int32; equal ones stay in theirs
 * (operators_top_k.c). */
WNNOperand onnx_sort(struct onnx_node *n, WNNOperand x, WNNOperand *places);
/** Multiplies as MatMul does, matrices or vectors of any data type (operators_matmul.c). */
WNNOperand onnx_matmul_any(struct onnx_node *n, WNNOperand a, WNNOperand b);
/** Multiplies matrices of any data type: matmul, or for integers mul with broadcasting and reduceSum. */
WNNOperand onnx_matrix_multiply(struct onnx_node *n, WNNOperand a, WNNOperand b);

/*
 * ---- the windows of convolutions and pools (window.c) ----
 *
 * The attributes kernel_shape, strides, dilations, pads and auto_pad of a node with one or two spatial dimensions become
 * numbers of two dimensions (a missing first one is 1 long), with explicit paddings.
 */

enum onnx_auto_pad { ONNX_PAD_EXPLICIT, ONNX_PAD_SAME_UPPER, ONNX_PAD_SAME_LOWER, ONNX_PAD_VALID };

struct onnx_window {
    size_t rank; /* of the file's: 1 or 2 */
    enum onnx_auto_pad auto_pad;
    uint32_t in[2], kernel[2], strides[2], dilations[2];
    uint32_t extent[2];           /* of the kernel with its dilations */
    uint32_t before[2], after[2]; /* not settled by auto_pad SAME for transposed convolutions */
};

/**
 * Reads the window of input x, as the file has it.  kernel has the filter's spatial sizes, which kernel_shape must repeat; if
 * it is NULL, kernel_shape is required.  Returns false after refusing the node.
 */
bool onnx_window_read(struct onnx_node *n, WNNOperand x, const uint32_t *kernel, struct onnx_window *w);
/** Reads that of an input of three spatial dimensions in parts: the first one, as the first of two, and the others.  Paddings
 * are settled. */
bool onnx_window_read_3d(struct onnx_node *n, WNNOperand x, const uint32_t *kernel, struct onnx_window *depth,
                         struct onnx_window *plane);
/** Sets the paddings for auto_pad SAME: ceil(size / stride) results.  Returns false after refusing. */
bool onnx_window_pad_same(struct onnx_node *n, struct onnx_window *w);
/** Makes [N, C, 1, W] of [N, C, W]; rank 4 stays. */
WNNOperand onnx_to_2d(struct onnx_node *n, WNNOperand x);
/** Restores the file's number of dimensions. */
WNNOperand onnx_from_2d(struct onnx_node *n, const struct onnx_window *w, WNNOperand y);

/* ---- quantization, by dequantizeLinear and quantizeLinear, which want scales and zero points of the input's rank, and types
 * that WebNN lacks by wider ones (quantized.c) ---- */

/**
 * Applies dequantizeLinear or quantizeLinear.  scale and zero are single numbers, lie along axis, or have x's rank in blocks; a
 * zero of NULL stands for 0.  Of floating-point numbers of few bits, or to such (which onnx_narrow is yet to round), both are
 * composed.
 */
WNNOperand onnx_dequantize(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand zero, uint32_t axis);
WNNOperand onnx_quantize(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand zero, uint32_t axis);

/**
 * Returns a matrix of numbers of so many bits, at most 4, as a constant of bytes that has as many bits to the builder: lent
 * where `from` lies in v's file, else, or if `middle`, 1 << (bits - 1), is to be added to integers with a sign, copied.
 */
WNNOperand onnx_lend_packed(struct onnx_node *n, const struct onnx_value *v, const void *from, uint32_t bits, uint32_t middle,
                            const uint32_t dims[2]);

/**
 * Returns x of any type as a type that is kept as a wider one.  Integers saturate or, if they do not, keep their low bits;
 * floating-point numbers are rounded to the nearest, and beyond the largest one they saturate, or become infinite or NaN.
 */
WNNOperand onnx_narrow(struct onnx_node *n, WNNOperand x, enum onnx_type type, bool saturate);

/** Holds an integer operand of a contraction, as float32 less its zero point. */
struct onnx_integer_operand {
    WNNOperand operand;
    double largest; /* largest absolute value of an element */
};
/**
 * Returns input `input` of the node as such an operand.  Its zero point is input `zero`, which may be absent; both lie along
 * axis.
 */
struct onnx_integer_operand onnx_dequantize_input(struct onnx_node *n, size_t input, size_t zero, uint32_t axis);

typedef WNNOperand (*onnx_multiply)(struct onnx_node *n, WNNOperand a, WNNOperand b, const void *context);
/**
 * Makes output 0 an int32 matmul or convolution of integers (`multiply` makes it of float32 operands), each of its sums having
 * that many terms.  It is computed in float32, which is exact up to 2^24; where that is not enough, an operand is split by
 * bits, and the contractions of its parts are added in int32.  A Cast to floating point, which is all that most models do with
 * the sums, reads one float32 contraction that is not split: passes recognise it as one of integers (docs/operators.md).
 */
bool onnx_output_sums(struct onnx_node *n, struct onnx_integer_operand a, struct onnx_integer_operand b, uint32_t terms,
                      onnx_multiply multiply, const void *context);

/* ---- activation functions that are attributes of other operators: of recurrent layers, and of convolutions and matmuls that
 * ONNX Runtime fused with what follows them (activation.c) ---- */

enum { ONNX_PARAMETERS = 2 };

struct onnx_activation {
    const char *name;                   /* as ONNX writes it: also the name of the term that computes it */
    const char *const *parameter_names; /* NULL in place of those that it does not have */
    double parameters[ONNX_PARAMETERS]; /* alpha and beta, Clip's bounds, Selu's alpha and gamma */
};

/** Finds a function by its name, in any case, and sets the parameters to their defaults.  Refuses a name that is not known. */
bool onnx_activation_find(struct onnx_node *n, const char *name, struct onnx_activation *a);
/** Returns the function of x. */
WNNOperand onnx_activate(struct onnx_node *n, const struct onnx_activation *a, WNNOperand x);
/**
 * Returns the function of x that attribute `activation` names, or x without that attribute.  Parameters are the numbers of
 * activation_params, or activation_alpha, activation_beta and activation_gamma.
 */
WNNOperand onnx_activate_fused(struct onnx_node *n, WNNOperand x);

/* ---- Fourier transforms of rows, for DFT and STFT (fourier.c) ---- */

/** Describes the transform of each row. */
struct fourier {
    uint32_t length; /* of the transform; a shorter row is padded with zeros; none is longer */
    uint32_t bins;   /* the first ones of the result */
    uint32_t parts;  /* of the result: 2, or 1 for the real one */
    bool inverse;    /* with the factor 1 / length */
};

/** Transforms x, [rows, 1 (real) or 2 (real and imaginary), count], of float32 or float16, and returns [rows, bins, parts]. */
WNNOperand onnx_fourier(struct onnx_node *n, WNNOperand x, const struct fourier *f);

/* ---- blocks of channels (operators_nchwc.c) ---- */

#define ONNX_NCHWC "com.microsoft.nchwc"

/**
 * Returns filter (input 1) and *bias (input 2 or NULL) of a Conv of this domain, as conv2d wants them for x (input 0) and for
 * the channels of the result that are read.
 */
WNNOperand onnx_nchwc_filter(struct onnx_node *n, WNNOperand x, WNNOperand *bias);

/* ---- the importers in C that the table (operators.def) names; operators_*.c have them ---- */

#define TERM(text)
#define IMPORT(name) bool onnx_import_##name(struct onnx_node *n);
#define ONNX(name, versions, inputs, outputs, flags, note, how) how
#define MICROSOFT ONNX
#define NCHWC ONNX
#define REFUSED(domain, name, reason)
#include "frontend/readers/onnx/operators.def"
#include "frontend/readers/onnx/operators_places.def"
#undef TERM
#undef IMPORT
#undef ONNX
#undef MICROSOFT
#undef NCHWC
#undef REFUSED
