/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX operators of signal processing: windows and mel weights, which are constants, and Fourier transforms, which are
 * matmuls with a constant matrix, of nodes whose lengths are constant.
 *
 * WebNN has no complex numbers and no fast transform: a transform of length n costs n * bins multiplications, which is what a
 * matmul is good at for the lengths of audio frames.
 */
#include <math.h>
#include <string.h>

#include "frontend/onnx/operators.h"

static const double pi = 3.14159265358979323846;

/* ---- constants ---- */

/** Imports a window of a - b cos(2 pi i / n) + c cos(4 pi i / n). */
static bool import_window(struct onnx_node *n, double a, double b, double c)
{
    double size = onnx_number(n, 0, 0);
    enum onnx_type type = (enum onnx_type)onnx_int(n, "output_datatype", ONNX_FLOAT);
    double period = onnx_int(n, "periodic", 1) ? size : size - 1;
    void *data;

    if (!(size >= 0 && size <= INT32_MAX))
        return onnx_refuse(n, "the size is %g", size);
    data = onnx_output_constant(n, 0, type, 1, &(int64_t){(int64_t)size});
    for (size_t i = 0; data && i < (size_t)size; i++) {
        double x = period > 0 ? 2 * pi * (double)i / period : 0;

        onnx_store(type, data, i, a - b * cos(x) + c * cos(2 * x));
    }
    return data != NULL;
}

static bool import_hann(struct onnx_node *n)
{
    return import_window(n, 0.5, 0.5, 0);
}

static bool import_hamming(struct onnx_node *n)
{
    return import_window(n, 25.0 / 46, 21.0 / 46, 0);
}

static bool import_blackman(struct onnx_node *n)
{
    return import_window(n, 0.42, 0.5, 0.08);
}

/** Imports MelWeightMatrix: triangles over the bins of a spectrum, evenly spaced on the mel scale. */
static bool import_mel_weights(struct onnx_node *n)
{
    double bins = onnx_number(n, 0, 0), length = onnx_number(n, 1, 0), rate = onnx_number(n, 2, 0);
    double low = 2595 * log10(1 + onnx_number(n, 3, 0) / 700), high = 2595 * log10(1 + onnx_number(n, 4, 0) / 700);
    enum onnx_type type = (enum onnx_type)onnx_int(n, "output_datatype", ONNX_FLOAT);
    int64_t dims[2], *edges;
    void *data;

    if (n->refused)
        return false;
    if (!(bins >= 1 && bins <= 65536 && length >= 1 && length <= INT32_MAX && rate > 0 && low >= 0 && high > low))
        return onnx_refuse(n, "%g bins of a transform of length %g at a rate of %g make no sense", bins, length, rate);
    dims[0] = (int64_t)length / 2 + 1;
    dims[1] = (int64_t)bins;
    edges = onnx_alloc(n, (size_t)dims[1] + 2, sizeof *edges);
    for (int64_t i = 0; edges && i < dims[1] + 2; i++) {
        double hertz = 700 * (pow(10, ((double)i * (high - low) / (bins + 2) + low) / 2595) - 1);
        double edge = floor((floor(length) + 1) * hertz / rate);

        if (!(edge >= 0 && edge < (double)dims[0]))
            return onnx_refuse(n, "its upper edge lies beyond the spectrum");
        edges[i] = (int64_t)edge;
    }
    data = edges ? onnx_output_constant(n, 0, type, 2, dims) : NULL;
    for (int64_t i = 0; data && i < dims[1]; i++) {
        int64_t from = edges[i], centre = edges[i + 1], to = edges[i + 2];

        for (int64_t k = from; k <= centre; k++)
            onnx_store(type, data, (size_t)(k * dims[1] + i), centre > from ? (double)(k - from) / (double)(centre - from) : 1);
        for (int64_t k = centre; k < to; k++)
            onnx_store(type, data, (size_t)(k * dims[1] + i), (double)(to - k) / (double)(to - centre));
    }
    return data != NULL;
}

/* ---- transforms ---- */

/**
 * Returns cos or sin of 2 pi i k / length, times a factor, as a matrix [rows, bins]; rows beyond the length are not asked for.
 */
static WNNOperand wave(struct onnx_node *n, WNNOperandDataType type, double (*f)(double), uint32_t rows, uint32_t bins,
                       uint32_t length, double factor)
{
    enum onnx_type element = onnx_type_of(type);
    void *data =
        (uint64_t)rows * bins <= (uint64_t)1 << 26 ? onnx_alloc(n, (size_t)rows * bins, onnx_type_size(element)) : NULL;

    if (!data) {
        onnx_refuse(n, "a transform of %u elements to %u bins needs too large a matrix", rows, bins);
        return onnx_error_operand(n);
    }
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t k = 0; k < bins; k++)
            /* The product is taken modulo the length, which is exact, however large it is. */
            onnx_store(element, data, (size_t)i * bins + k,
                       factor * f(2 * pi * (double)((uint64_t)i * k % length) / (double)length));
    return onnx_constant_operand(n, type, 2, (uint32_t[]){rows, bins}, data);
}

/**
 * Returns x[..., rows] times both matrices: the real and the imaginary part, as a last dimension of 2 (or the real one alone).
 */
static WNNOperand transform(struct onnx_node *n, WNNOperand real, WNNOperand imaginary, uint32_t bins, uint32_t length,
                            bool inverse)
{
    size_t rank = wnnOperandGetRank(real);
    WNNOperandDataType type = wnnOperandGetDataType(real);
    uint32_t dims[ONNX_RANK_MAX], rows;
    double factor = inverse ? 1.0 / length : 1;
    WNNOperand c, s, parts[2];

    if (wnnOperandIsError(real) || (imaginary && wnnOperandIsError(imaginary)) || rank + 1 > ONNX_RANK_MAX)
        return onnx_error_operand(n);
    memcpy(dims, wnnOperandGetShape(real), rank * sizeof *dims);
    rows = dims[rank - 1];
    if (rank == 1) { /* a matrix of one row */
        real = onnx_reshape(n, real, 2, (uint32_t[]){1, rows});
        imaginary = imaginary ? onnx_reshape(n, imaginary, 2, (uint32_t[]){1, rows}) : NULL;
    }
    c = wave(n, type, cos, rows, bins, length, factor);
    s = wave(n, type, sin, rows, bins, length, inverse ? factor : -factor);
    parts[0] = wnnGraphBuilderMatmul(n->builder, real, c, n->options);
    parts[1] = wnnGraphBuilderMatmul(n->builder, real, s, n->options);
    if (imaginary) {
        parts[0] =
            wnnGraphBuilderSub(n->builder, parts[0], wnnGraphBuilderMatmul(n->builder, imaginary, s, n->options), n->options);
        parts[1] =
            wnnGraphBuilderAdd(n->builder, parts[1], wnnGraphBuilderMatmul(n->builder, imaginary, c, n->options), n->options);
    }
    dims[rank - 1] = bins;
    dims[rank] = 1;
    for (size_t i = 0; i < 2; i++)
        parts[i] = onnx_reshape(n, parts[i], rank + 1, dims);
    return wnnGraphBuilderConcat(n->builder, 2, parts, (uint32_t)rank, n->options);
}

/** Returns one part of numbers whose last dimension is 1 (real) or 2 (real, imaginary), without that dimension. */
static WNNOperand part_of(struct onnx_node *n, WNNOperand x, uint32_t part)
{
    uint32_t dims[ONNX_RANK_MAX];
    size_t rank = wnnOperandGetRank(x);

    if (wnnOperandIsError(x))
        return x;
    memcpy(dims, wnnOperandGetShape(x), rank * sizeof *dims);
    if (part >= dims[rank - 1])
        return NULL;
    return onnx_reshape(n, onnx_slice_axis(n, x, (uint32_t)rank - 1, part, 1), rank - 1, dims);
}

static bool import_dft(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    bool inverse = onnx_int(n, "inverse", 0) != 0, half = onnx_int(n, "onesided", 0) != 0;
    int64_t at =
        n->version < 20 ? onnx_int(n, "axis", 1) : onnx_whole(n, "the axis", onnx_number(n, 2, -2), INT32_MIN, INT32_MAX);
    uint32_t permutation[ONNX_RANK_MAX], back[ONNX_RANK_MAX], axis, length, last = (uint32_t)v->rank - 1;
    double given;
    WNNOperand x = onnx_operand(n, 0), parts[2];

    if (v->rank < 2 || v->dims[last] < 1 || v->dims[last] > 2)
        return onnx_refuse(n, "the last dimension of its input must be 1 or 2");
    if (!onnx_axis(n, at, v->rank, &axis))
        return false;
    given = onnx_number(n, 1, (double)v->dims[axis]);
    if (axis == last || !(given >= 1 && given <= INT32_MAX))
        return onnx_refuse(n, "a transform along axis %u of length %g", axis, given);
    if (half && (inverse || v->dims[last] == 2))
        return onnx_refuse(n, "one-sided transforms are supported of real numbers, and not inverse");
    length = (uint32_t)given;
    if (v->dims[axis] > length) /* shorter: the rest counts as zeros, so its rows of the matrix are left out */
        x = onnx_slice_axis(n, x, axis, 0, length);
    /* The axis goes to the end of the parts, and back. */
    for (uint32_t d = 0; d < last; d++)
        permutation[d] = d + 1 == last ? axis : d + (d >= axis);
    for (uint32_t d = 0; d < last; d++)
        back[permutation[d]] = d;
    back[last] = last;
    for (uint32_t i = 0; i < 2; i++) {
        parts[i] = n->refused ? onnx_error_operand(n) : part_of(n, x, i);
        if (parts[i])
            parts[i] = onnx_transpose(n, parts[i], last, permutation);
    }
    x = transform(n, parts[0], parts[1], half ? length / 2 + 1 : length, length, inverse);
    return onnx_output(n, 0, onnx_transpose(n, x, last + 1, back));
}

/** Imports STFT: frames of a signal, each multiplied by a window and transformed. */
static bool import_stft(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *window = onnx_input(n, 2);
    bool half = onnx_int(n, "onesided", 1) != 0;
    double step = onnx_number(n, 1, 0), given;
    uint32_t length, frames, dims[3];
    int32_t *indices;
    WNNOperand x = onnx_operand(n, 0), parts[2];

    if (v->rank != 3 || v->dims[2] < 1 || v->dims[2] > 2)
        return onnx_refuse(n, "the signal must be [batch, length, 1 or 2]");
    if (!window && !onnx_input(n, 3))
        return onnx_refuse(n, "neither a window nor a frame length is given");
    given = onnx_number(n, 3, window ? (double)window->dims[0] : 0);
    if (!(step >= 1 && step <= INT32_MAX && given >= 1 && given <= (double)v->dims[1]))
        return onnx_refuse(n, "frames of %g at steps of %g, of a signal of %lld", given, step, (long long)v->dims[1]);
    if (window && (window->rank != 1 || (double)window->dims[0] != given))
        return onnx_refuse(n, "the window must have %g elements", given);
    if (half && v->dims[2] == 2)
        return onnx_refuse(n, "one-sided transforms are supported of real numbers only");
    length = (uint32_t)given;
    frames = (uint32_t)(((double)v->dims[1] - given) / step) + 1;
    indices = (uint64_t)frames * length <= INT32_MAX ? onnx_alloc(n, (size_t)frames * length, sizeof *indices) : NULL;
    if (!indices)
        return onnx_refuse(n, "%u frames of %u are too many", frames, length);
    for (uint32_t i = 0; i < frames; i++)
        for (uint32_t k = 0; k < length; k++)
            indices[(size_t)i * length + k] = (int32_t)(i * (uint32_t)step + k);
    dims[0] = (uint32_t)v->dims[0];
    dims[1] = frames;
    dims[2] = length;
    for (uint32_t i = 0; i < 2; i++) {
        parts[i] = n->refused ? onnx_error_operand(n) : part_of(n, x, i);
        if (!parts[i])
            continue;
        parts[i] = onnx_reshape(n, onnx_gather_axis(n, parts[i], 1, (size_t)frames * length, indices), 3, dims);
        if (window)
            parts[i] = wnnGraphBuilderMul(n->builder, parts[i], onnx_operand(n, 2), n->options);
    }
    return onnx_output(n, 0, transform(n, parts[0], parts[1], half ? length / 2 + 1 : length, length, false));
}

static const struct onnx_operator rows[] = {
    {"BlackmanWindow", 17, 0, 1, 1, 1, 0, import_blackman, "a constant; the size must be one", NULL},
    {"DFT", 17, 0, 1, 3, 1, ONNX_HEAVY, import_dft, "matmuls with constant matrices; one-sided: of real numbers, not inverse",
     NULL},
    {"HammingWindow", 17, 0, 1, 1, 1, 0, import_hamming, "a constant; the size must be one", NULL},
    {"HannWindow", 17, 0, 1, 1, 1, 0, import_hann, "a constant; the size must be one", NULL},
    {"MelWeightMatrix", 17, 0, 5, 5, 1, 0, import_mel_weights, "a constant; all inputs must be", NULL},
    {"STFT", 17, 0, 2, 4, 1, ONNX_HEAVY, import_stft, "a gather of frames, matmuls with constant matrices", NULL},
};

ONNX_TABLE(onnx_signal_operators, rows);
