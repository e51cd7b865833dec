/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX operators of signal processing: windows and mel weights, which are constants, and Fourier transforms of nodes
 * whose lengths are constant (frontend/readers/onnx/fourier.c).
 */
#include <math.h>
#include <string.h>

#include "frontend/readers/onnx/compose.h"

static const double pi = 3.14159265358979323846;

/* ---- constants ---- */

/** Imports a window of a - b cos(2 pi i / n) + c cos(4 pi i / n). */
bool onnx_import_window(struct onnx_node *n)
{
    static const struct {
        const char *name;
        double a, b, c;
    } windows[] = {
        {"HannWindow", 0.5, 0.5, 0}, {"HammingWindow", 25.0 / 46, 21.0 / 46, 0}, {"BlackmanWindow", 0.42, 0.5, 0.08}};
    double size = onnx_number(n, 0, 0);
    enum onnx_type type = (enum onnx_type)onnx_int(n, "output_datatype", ONNX_FLOAT);
    double period = onnx_int(n, "periodic", 1) ? size : size - 1;
    size_t w = 0;

    while (strcmp(windows[w].name, n->row->name) != 0)
        w++;
    if (!(size >= 0 && size <= INT32_MAX))
        return onnx_refuse(n, "the size is %g", size);
    void *data = onnx_output_constant(n, 0, type, 1, &(int64_t){(int64_t)size});
    for (size_t i = 0; data && i < (size_t)size; i++) {
        double x = period > 0 ? 2 * pi * (double)i / period : 0;

        onnx_store(type, data, i, windows[w].a - windows[w].b * cos(x) + windows[w].c * cos(2 * x));
    }
    return data != NULL;
}

/** Imports MelWeightMatrix: triangles over the bins of a spectrum, evenly spaced on the mel scale. */
bool onnx_import_mel_weights(struct onnx_node *n)
{
    double bins = onnx_number(n, 0, 0), length = onnx_number(n, 1, 0), rate = onnx_number(n, 2, 0);
    double low = 2595 * log10(1 + onnx_number(n, 3, 0) / 700), high = 2595 * log10(1 + onnx_number(n, 4, 0) / 700);
    enum onnx_type type = (enum onnx_type)onnx_int(n, "output_datatype", ONNX_FLOAT);
    int64_t dims[2], *edges;

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
    void *data = edges ? onnx_output_constant(n, 0, type, 2, dims) : NULL;
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
 * Makes the whole spectrum of a real signal of that length of its first half, [rows, 2, count]: the rest are the conjugates of
 * these bins, backwards.
 */
static WNNOperand mirror(struct onnx_node *n, WNNOperand x, uint32_t length)
{
    static const float signs[] = {1, -1};
    const struct onnx_dims dims = onnx_dims_of(n, x);
    const uint32_t half = length / 2 + 1, axis = 2;
    WNNOperand parts[2];
    float *sign = onnx_alloc(n, 2, sizeof *sign);

    if (!sign)
        return onnx_error_operand(n);
    memcpy(sign, signs, sizeof signs);
    if (dims.at[2] < half)
        x = onnx_pad(n, x, (struct onnx_dims){3, {0}}, (struct onnx_dims){3, {0, 0, half - dims.at[2]}}, 0);
    parts[0] = onnx_slice_axis(n, x, 2, 0, half);
    if (length - half == 0)
        return parts[0];
    parts[1] = onnx_reverse(n, onnx_slice_axis(n, x, 2, 1, length - half), 1, &axis);
    parts[1] = onnx_mul(n, parts[1],
                        onnx_cast(n, onnx_constant_operand(n, WNNOperandDataType_Float32, 2, (uint32_t[]){2, 1}, sign),
                                  wnnOperandGetDataType(x)));
    return onnx_concat(n, 2, parts, 2);
}

bool onnx_import_dft(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    bool inverse = onnx_int(n, "inverse", 0) != 0, half = onnx_int(n, "onesided", 0) != 0;
    int64_t at =
        n->version < 20 ? onnx_int(n, "axis", 1) : onnx_whole(n, "the axis", onnx_number(n, 2, -2), INT32_MIN, INT32_MAX);
    uint32_t permutation[ONNX_RANK_MAX], back[ONNX_RANK_MAX], axis, last = (uint32_t)v->rank - 1, parts;
    WNNOperand x = onnx_operand(n, 0);
    struct onnx_dims dims = onnx_dims_of(n, x), flat;
    struct fourier f = {.inverse = inverse};
    double given;

    if (v->rank < 2 || v->dims[last] < 1 || v->dims[last] > 2)
        return onnx_refuse(n, "the last dimension of its input must be 1 or 2");
    if (!onnx_axis(n, at, v->rank, &axis))
        return false;
    parts = (uint32_t)v->dims[last];
    if (half && inverse != (parts == 2))
        return onnx_refuse(n, "one-sided transforms are of real numbers, and inverse ones to them");
    given = onnx_number(n, 1, half && inverse && v->dims[axis] > 1 ? 2 * ((double)v->dims[axis] - 1) : (double)v->dims[axis]);
    if (n->refused || axis == last || !(given >= 1 && given <= INT32_MAX))
        return onnx_refuse(n, "a transform along axis %u of length %g", axis, given);
    f.length = (uint32_t)given;
    f.bins = half && !inverse ? f.length / 2 + 1 : f.length;
    f.parts = half && inverse ? 1 : 2;
    if (dims.at[axis] > f.length)
        x = onnx_slice_axis(n, x, axis, 0, f.length);
    /* The axis goes after the parts, and back. */
    for (uint32_t d = 0; d <= last; d++)
        permutation[d] = d == last ? axis : d + (d >= axis);
    x = onnx_transpose(n, x, v->rank, permutation);
    flat = onnx_dims_of(n, x);
    x = onnx_reshape(n, x, 3, (uint32_t[]){onnx_dims_product(n, &flat, 0, last - 1), parts, flat.at[last]});
    if (half && inverse)
        x = mirror(n, x, f.length);
    x = onnx_fourier(n, x, &f);
    flat.at[last - 1] = f.bins;
    flat.at[last] = f.parts;
    for (uint32_t d = 0; d <= last; d++)
        back[d] = d == axis ? last - 1 : d == last ? last : d - (d > axis);
    return onnx_output(n, 0, onnx_transpose(n, onnx_reshape_to(n, x, flat), v->rank, back));
}

/** Imports STFT: frames of a signal, each multiplied by a window and transformed. */
bool onnx_import_stft(struct onnx_node *n)
{
    static const uint32_t planar[] = {0, 2, 1}, by_frame[] = {0, 2, 1, 3};
    const struct onnx_value *v = n->inputs[0], *window = onnx_input(n, 2);
    const bool half = onnx_int(n, "onesided", 1) != 0;
    /* PyTorch's exporter left out the last dimension until 2026. */
    const uint32_t parts = v->rank == 2 ? 1 : (uint32_t)v->dims[2];
    double step = onnx_number(n, 1, 0), given;
    struct fourier f = {.parts = 2};
    uint32_t frames, batch;
    int32_t *indices;
    WNNOperand x = onnx_operand(n, 0);

    if (v->rank < 2 || v->rank > 3 || (v->rank == 3 && (v->dims[2] < 1 || v->dims[2] > 2)))
        return onnx_refuse(n, "the signal must be [batch, length, 1 or 2] or [batch, length]");
    if (!window && !onnx_input(n, 3))
        return onnx_refuse(n, "neither a window nor a frame length is given");
    given = onnx_number(n, 3, window ? (double)window->dims[0] : 0);
    if (!(step >= 1 && step <= INT32_MAX && given >= 1 && given <= (double)v->dims[1]))
        return onnx_refuse(n, "frames of %g at steps of %g, of a signal of %lld", given, step, (long long)v->dims[1]);
    if (window && (window->rank != 1 || (double)window->dims[0] != given))
        return onnx_refuse(n, "the window must have %g elements", given);
    if (half && parts == 2)
        return onnx_refuse(n, "one-sided transforms are of real numbers");
    batch = (uint32_t)v->dims[0];
    f.length = (uint32_t)given;
    f.bins = half ? f.length / 2 + 1 : f.length;
    frames = (uint32_t)(((double)v->dims[1] - given) / step) + 1;
    indices = (uint64_t)frames * f.length <= INT32_MAX ? onnx_alloc(n, (size_t)frames * f.length, sizeof *indices) : NULL;
    if (!indices)
        return onnx_refuse(n, "%u frames of %u are too many", frames, f.length);
    for (uint32_t i = 0; i < frames; i++)
        for (uint32_t k = 0; k < f.length; k++)
            indices[(size_t)i * f.length + k] = (int32_t)(i * (uint32_t)step + k);
    x = onnx_reshape(n, x, 3, (uint32_t[]){batch, (uint32_t)v->dims[1], parts});
    x = onnx_gather_constant(n, onnx_transpose(n, x, 3, planar), 2, (uint32_t)frames * f.length, indices);
    x = onnx_transpose(n, onnx_reshape(n, x, 4, (uint32_t[]){batch, parts, frames, f.length}), 4, by_frame);
    if (window)
        x = onnx_mul(n, x, onnx_operand(n, 2));
    x = onnx_fourier(n, onnx_reshape(n, x, 3, (uint32_t[]){batch * frames, parts, f.length}), &f);
    return onnx_output(n, 0, onnx_reshape(n, x, 4, (uint32_t[]){batch, frames, f.bins, f.parts}));
}
