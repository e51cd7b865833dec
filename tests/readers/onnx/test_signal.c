/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Windows and Fourier transforms of the ONNX reader, which the node tests do not have, against their definitions in double.
 * A transform of 20 values below 1 is a sum of 20 products: 20 * 2^-24 of their size bounds its error, 1e-5 is above that.
 */
#include <math.h>

#include "frontend/builder/builder.h"
#include "readers/onnx/net.h"
#include "support/close.h"

enum { LENGTH = 20, COLUMNS = 3 };
static const double pi = 3.14159265358979323846;

static double value(size_t i)
{
    return sin((double)(i * i) * 0.37 + 0.2);
}

/** Bin k of `count` values of value(first + step * i), windowed. */
static void bin(size_t first, size_t step, size_t count, size_t length, size_t k, const double *window, double sign,
                double out[2])
{
    out[0] = out[1] = 0;
    for (size_t i = 0; i < count; i++) {
        double x = value(first + step * i) * (window ? window[i] : 1), angle = sign * 2 * pi * (double)(i * k) / (double)length;

        out[0] += x * cos(angle);
        out[1] += x * sin(angle);
    }
}

/** Real input [LENGTH, COLUMNS, 1], along the first axis, whole and one-sided, shortened and lengthened. */
TEST(real_numbers_are_transformed)
{
    static const struct {
        int64_t length;
        bool half;
    } cases[] = {{LENGTH, false}, {LENGTH, true}, {13, false}, {13, true}, {32, true}};
    float x[LENGTH * COLUMNS], y[32 * COLUMNS * 2];

    for (size_t i = 0; i < LENGTH * COLUMNS; i++)
        x[i] = (float)value(i);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        size_t length = (size_t)cases[c].length, bins = cases[c].half ? length / 2 + 1 : length;
        size_t count = length < LENGTH ? length : LENGTH;

        start(t, 20);
        input(t, "x", F32, "20 3 1");
        integer(t, "length", cases[c].length);
        integer(t, "axis", -3);
        Onnx__NodeProto *n = node(t, "DFT", "x length axis", "y");
        attribute_int(t, n, "onesided", cases[c].half);
        reads(t, NULL);
        expect_shape(t, SHAPE((uint32_t)bins, COLUMNS, 2));
        compute(t, x, sizeof x, y, bins * COLUMNS * 2 * sizeof *y);
        for (size_t k = 0; k < bins; k++)
            for (size_t column = 0; column < COLUMNS; column++) {
                double e[2];

                bin(column, COLUMNS, count, length, k, NULL, -1, e);
                assert_close(y[(k * COLUMNS + column) * 2], e[0], 1e-5);
                assert_close(y[(k * COLUMNS + column) * 2 + 1], e[1], 1e-5);
            }
    }
}

/** There and back: also of complex numbers, also of a single row. */
TEST(an_inverse_transform_goes_back)
{
    float x[LENGTH * 2], y[LENGTH * 2];

    for (size_t i = 0; i < LENGTH * 2; i++)
        x[i] = (float)value(i);
    input(t, "x", F32, "20 2");
    nodes_in(t, &t->graph, "f = DFT x, axis 0; y = DFT f, axis 0");
    attribute_int(t, t->graph.node[1], "inverse", 1);
    computes(x, y);
    for (size_t i = 0; i < LENGTH * 2; i++)
        assert_close(y[i], x[i], 1e-5);
    attribute_int(t, t->graph.node[0], "onesided", 1);
    refused(t, NULL, "one-sided transforms are of real numbers");
}

/**
 * Lengths that are computed in stages, and by a chirp.  With the norm of the row a transform of stages is off by a few ULP for
 * each doubling of the length, and a chirp is three of them.
 */
TEST(long_rows_are_transformed)
{
    static const struct {
        size_t count, length, parts;
        bool inverse, half;
    } cases[] = {{1024, 1024, 1, false, true},   {1000, 1000, 2, false, false},  {700, 1050, 2, true, false},
                 {1200, 1155, 1, false, false},  {1009, 1009, 1, false, true},   {900, 1009, 2, true, false},
                 {513, 1024, 2, true, true},     {600, 1023, 2, true, true},     {2, 1009, 2, true, true},
                 {32768, 32768, 1, false, true}, {32771, 32771, 1, false, false}};
    enum { MOST = 32771 };
    OWNED(memory) float *x = malloc(2 * MOST * sizeof *x), *y = malloc(2 * MOST * sizeof *y);

    assert_true(x && y);
    for (size_t i = 0; i < 2 * MOST; i++)
        x[i] = (float)value(i % 9973);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const size_t length = cases[c].length, parts = cases[c].parts, half = length / 2 + 1;
        const bool real = cases[c].inverse && cases[c].half;
        const size_t bins = cases[c].half && !real ? half : length, out = real ? 1 : 2;
        const size_t most = real ? half : length, count = cases[c].count < most ? cases[c].count : most;
        double norm = 0;
        char dims[32];

        start(t, 20);
        snprintf(dims, sizeof dims, "1 %zu %zu", cases[c].count, parts);
        input(t, "x", F32, dims);
        integer(t, "length", (int64_t)length);
        Onnx__NodeProto *n = node(t, "DFT", "x length", "y");
        attribute_int(t, n, "onesided", cases[c].half);
        attribute_int(t, n, "inverse", cases[c].inverse);
        reads(t, NULL);
        expect_shape(t, SHAPE(1, (uint32_t)bins, (uint32_t)out));
        compute(t, x, cases[c].count * parts * sizeof *x, y, bins * out * sizeof *y);
        for (size_t j = 0; j < count * parts; j++)
            norm += (real ? 2 : 1) * (double)x[j] * x[j];
        const double tolerance = 0x1p-21 * log2((double)length) * sqrt(norm) / (cases[c].inverse ? (double)length : 1);
        for (size_t k = 0; k < bins; k += 1 + bins / 100) {
            double e[2] = {0, 0};

            for (size_t j = 0; j < count; j++) {
                const double angle = (cases[c].inverse ? 2 : -2) * pi * (double)(j * k % length) / (double)length;
                const double re = x[j * parts], im = parts == 2 ? x[j * parts + 1] : 0;
                /* Absent bins are conjugates; the first bin and the middle one of an even length are there alone. */
                const double weight = real && j && 2 * j != length ? 2 : 1;

                e[0] += weight * (re * cos(angle) - im * sin(angle));
                e[1] += weight * (re * sin(angle) + im * cos(angle));
            }
            for (size_t part = 0; part < out; part++)
                assert_close(y[k * out + part], e[part] / (cases[c].inverse ? (double)length : 1), tolerance);
        }
    }
}

/** Four times the length is little more than four times the numbers that a transform is made of. */
TEST(a_transform_is_no_matrix)
{
    double numbers[2] = {0, 0};

    for (int longer = 0; longer < 2; longer++) {
        char dims[32];

        start(t, 17);
        snprintf(dims, sizeof dims, "1 %d 1", longer ? 65536 : 16384);
        input(t, "x", F32, dims);
        node(t, "DFT", "x", "y");
        reads(t, NULL);
        assert_true(t->read.builder->graph->node_count < 60);
        graph_for_each (t->read.builder->graph, n)
            for (uint32_t i = 0; i < n->input_count; i++) {
                double elements = 1;

                for (uint32_t d = 0; d < n->inputs[i].value->type.rank; d++)
                    elements *= n->inputs[i].value->type.dims[d];
                numbers[longer] += elements;
            }
    }
    assert_true(numbers[1] < 6 * numbers[0]);
}

TEST(short_time_transforms_are_computed)
{
    enum { FRAME = 8, STEP = 3, FRAMES = (LENGTH - FRAME) / STEP + 1, BINS = FRAME / 2 + 1 };
    float x[LENGTH], y[FRAMES * BINS * 2], again[FRAMES * BINS * 2];
    double window[FRAME];

    for (size_t i = 0; i < LENGTH; i++)
        x[i] = (float)value(i);
    for (size_t i = 0; i < FRAME; i++)
        window[i] = 0.5 - 0.5 * cos(2 * pi * (double)i / FRAME);
    input(t, "x", F32, "1 20 1");
    integer(t, "step", STEP);
    integer(t, "length", FRAME);
    nodes_in(t, &t->graph, "w = HannWindow length; y = STFT x step w length");
    reads(t, NULL);
    expect_shape(t, SHAPE(1, FRAMES, BINS, 2));
    compute(t, x, sizeof x, y, sizeof y);
    for (size_t f = 0; f < FRAMES; f++)
        for (size_t k = 0; k < BINS; k++) {
            double e[2];

            bin(f * STEP, 1, FRAME, FRAME, k, window, -1, e);
            assert_close(y[(f * BINS + k) * 2], e[0], 1e-5);
            assert_close(y[(f * BINS + k) * 2 + 1], e[1], 1e-5);
        }
    /* PyTorch's exporter leaves out the dimension of 1, and the length may be the window's. */
    t->graph.input[0] = port(t, "x", F32, "1 20");
    t->graph.node[1]->n_input = 3;
    reads(t, NULL);
    expect_shape(t, SHAPE(1, FRAMES, BINS, 2));
    compute(t, x, sizeof x, again, sizeof again);
    assert_memory_equal(y, again, sizeof y);
    t->graph.node[1]->n_input = 4;
    t->graph.node[1]->input[3] = text(t, "step");
    refused(t, NULL, "the window must have 3 elements");
}

TEST(windows_are_computed)
{
    static const struct {
        const char *type;
        double a, b, c;
    } types[] = {{"HannWindow", 0.5, 0.5, 0}, {"HammingWindow", 25.0 / 46, 21.0 / 46, 0}, {"BlackmanWindow", 0.42, 0.5, 0.08}};

    for (size_t k = 0; k < 2 * sizeof types / sizeof types[0]; k++) {
        double period = k % 2 ? 10 : 9;
        float y[10];

        start(t, 17);
        integer(t, "size", 10);
        attribute_int(t, node(t, types[k / 2].type, "size", "y"), "periodic", k % 2);
        reads(t, NULL);
        compute(t, NULL, 0, y, sizeof y);
        for (size_t i = 0; i < 10; i++) {
            double angle = 2 * pi * (double)i / period;

            assert_close(y[i], types[k / 2].a - types[k / 2].b * cos(angle) + types[k / 2].c * cos(2 * angle), 1e-6);
        }
    }
}

/**
 * The operator's documented example: edges at 0, 148, 328, ... 3257 Hz are the bins 0 0 0 1 1 2 3 4 5 6 of the spectrum, so
 * that every triangle is one bin wide; and a finer spectrum, whose slopes are then seen.
 */
TEST(mel_weights_are_computed)
{
    static const size_t peaks[8] = {0, 0, 1, 1, 2, 3, 4, 5};
    static const float edges[2] = {0, 4096};
    float y[9 * 8], fine[129 * 2];

    integer(t, "bins", 8);
    integer(t, "length", 16);
    integer(t, "rate", 8192);
    initializer(t, tensor(t, "low", F32, 0, NULL, &edges[0], sizeof *edges));
    initializer(t, tensor(t, "high", F32, 0, NULL, &edges[1], sizeof *edges));
    node(t, "MelWeightMatrix", "bins length rate low high", "y");
    reads(t, NULL);
    expect_shape(t, SHAPE(9, 8));
    compute(t, NULL, 0, y, sizeof y);
    for (size_t k = 0; k < 9; k++)
        for (size_t b = 0; b < 8; b++)
            assert_close(y[k * 8 + b], peaks[b] == k, 0);
    /* Two bins of 256: edges at 0, 434, 1137, 2277 Hz, rounded down to 0, 13, 35, 71 of 32 Hz each (257 / 8192 per Hz). */
    *(int64_t *)t->graph.initializer[0]->raw_data.data = 2;
    *(int64_t *)t->graph.initializer[1]->raw_data.data = 256;
    reads(t, NULL);
    compute(t, NULL, 0, fine, sizeof fine);
    for (size_t k = 0; k < 129; k++) {
        double rise = (double)k / 13, fall = (35.0 - (double)k) / 22, later = (double)(k - 13) / 22,
               end = (71.0 - (double)k) / 36;

        assert_close(fine[k * 2], k <= 13 ? rise : k < 35 ? fall : 0, 1e-6);
        assert_close(fine[k * 2 + 1], k < 13 ? 0 : k <= 35 ? later : k < 71 ? end : 0, 1e-6);
    }
}

TEST_GROUP(create_context, release_context)
