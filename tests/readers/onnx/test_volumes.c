/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Convolutions and pools of three spatial dimensions, which the reader composes of two, against loops over windows. */
#include <math.h>

#include "readers/onnx/net.h"
#include "support/close.h"
#include "support/random.h"

enum { AXES = 3, MOST = 4096, C = 4 };

struct volume {
    const char *type;
    int in[AXES], kernel[AXES], strides[AXES], dilations[AXES], before[AXES], after[AXES];
    int groups, out_channels; /* of a convolution */
    bool include, ceil;       /* of a pool */
};

static int out_size(const struct volume *v, int d)
{
    const int span = v->in[d] + v->before[d] + v->after[d] - (v->kernel[d] - 1) * v->dilations[d] - 1;
    int out = (span + (v->ceil ? v->strides[d] - 1 : 0)) / v->strides[d] + 1;

    return v->ceil && (out - 1) * v->strides[d] >= v->in[d] + v->before[d] ? out - 1 : out;
}

/** Walks one window: the sum or maximum of what it has of channel c of x, and how many elements count. */
static double window(const struct volume *v, const float *x, int c, const int *at, const float *filter, bool max, int *count)
{
    double sum = max ? -INFINITY : 0;

    *count = 0;
    for (int k = 0; k < v->kernel[0] * v->kernel[1] * v->kernel[2]; k++) {
        const int step[AXES] = {k / v->kernel[2] / v->kernel[1], k / v->kernel[2] % v->kernel[1], k % v->kernel[2]};
        int place = c;
        bool inside = true, padded = true;

        for (int d = 0; d < AXES; d++) {
            const int p = at[d] * v->strides[d] + step[d] * v->dilations[d] - v->before[d];

            inside = inside && p >= 0 && p < v->in[d];
            padded = padded && p < v->in[d] + v->after[d];
            place = place * v->in[d] + p;
        }
        *count += inside || (v->include && padded);
        if (inside && max)
            sum = fmax(sum, (double)x[place]);
        else if (inside)
            sum += (double)x[place] * (filter ? (double)filter[k] : 1);
    }
    return sum;
}

static double expected(const struct volume *v, const float *x, const float *filter, const float *bias, int o, const int *at)
{
    const int size = v->kernel[0] * v->kernel[1] * v->kernel[2], each = v->groups ? C / v->groups : 1;
    double sum = v->groups ? (double)bias[o] : 0;
    int count;

    if (!v->groups) {
        sum = window(v, x, o, at, NULL, !strcmp(v->type, "MaxPool"), &count);
        return strcmp(v->type, "AveragePool") ? sum : sum / count;
    }
    for (int i = 0; i < each; i++)
        sum += window(v, x, o / (v->out_channels / v->groups) * each + i, at, filter + (o * each + i) * size, false, &count);
    return sum;
}

static void describe(const struct volume *v, Onnx__NodeProto *n)
{
    INTS(t, n, "kernel_shape", v->kernel[0], v->kernel[1], v->kernel[2]);
    INTS(t, n, "strides", v->strides[0], v->strides[1], v->strides[2]);
    INTS(t, n, "dilations", v->dilations[0], v->dilations[1], v->dilations[2]);
    INTS(t, n, "pads", v->before[0], v->before[1], v->before[2], v->after[0], v->after[1], v->after[2]);
}

/** A transposed convolution b = T(z) is the adjoint of y = conv(x) without bias: the sums of y * z and of x * b are equal. */
static void check_transposed(const struct volume *v, const float *x, Onnx__TensorProto *filter, double *y, const int *out)
{
    static float z[MOST], b[MOST];
    const int size = C * v->in[0] * v->in[1] * v->in[2];
    int64_t more[AXES];
    double sum = 0, want = 0;
    char text[40];

    t->graph.n_node = t->graph.n_input = t->graph.n_initializer = 0;
    random_fill(z, MOST);
    snprintf(text, sizeof text, "1 %d %d %d %d", v->out_channels, out[0], out[1], out[2]);
    input(t, "x", F32, text);
    initializer(t, filter);
    Onnx__NodeProto *n = node(t, "ConvTranspose", "x w", "y");
    describe(v, n);
    attribute_int(t, n, "group", v->groups);
    for (int d = 0; d < AXES; d++)
        more[d] = (v->in[d] + v->before[d] + v->after[d] - (v->kernel[d] - 1) * v->dilations[d] - 1) % v->strides[d];
    attribute_ints(t, n, "output_padding", AXES, more);
    run(t, (void *[]){z}, (void *[]){b}, (size_t[]){(size_t)size * 4});
    for (int i = 0; i < v->out_channels * out[0] * out[1] * out[2]; i++)
        want += y[i] * (double)z[i];
    for (int i = 0; i < size; i++)
        sum += (double)(x[i] * b[i]);
    assert_close(sum, want, 1e-3);
}

static void check(const struct volume *v)
{
    static double sums[MOST];
    static float x[MOST], filter[MOST], bias[MOST], y[MOST];
    const int out[AXES] = {out_size(v, 0), out_size(v, 1), out_size(v, 2)}, plane = out[0] * out[1] * out[2];
    const int channels = v->groups ? v->out_channels : C;
    const int64_t dims[] = {v->out_channels, v->groups ? C / v->groups : 1, v->kernel[0], v->kernel[1], v->kernel[2]};
    char text[40];

    start(t, 19);
    random_fill(x, MOST);
    random_fill(filter, MOST);
    random_fill(bias, MOST);
    snprintf(text, sizeof text, "1 %d %d %d %d", C, v->in[0], v->in[1], v->in[2]);
    input(t, "x", F32, text);
    Onnx__NodeProto *n = node(t, v->type, v->groups ? "x w b" : "x", "y");
    if (v->groups) {
        initializer(t, tensor(t, "w", F32, 5, dims, filter, (size_t)(dims[0] * dims[1] * dims[2] * dims[3] * dims[4]) * 4));
        initializer(t, tensor(t, "b", F32, 1, dims, bias, (size_t)dims[0] * 4));
        attribute_int(t, n, "group", v->groups);
    }
    if (!v->groups)
        attribute_int(t, n, "ceil_mode", v->ceil);
    if (v->include)
        attribute_int(t, n, "count_include_pad", 1);
    describe(v, n);
    run(t, (void *[]){x}, (void *[]){y}, (size_t[]){(size_t)(channels * plane) * 4});
    for (int i = 0; i < channels * plane; i++) {
        const int at[AXES] = {i % plane / out[2] / out[1], i / out[2] % out[1], i % out[2]};

        assert_close(y[i], expected(v, x, filter, bias, i / plane, at), 1e-5);
        sums[i] = (double)(y[i] - bias[i / plane]);
    }
    if (v->groups)
        check_transposed(v, x, t->graph.initializer[0], sums, out);
}

TEST(windows_are_right)
{
    static const struct volume cases[] = {
        {"Conv", {5, 6, 7}, {2, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, 1, 3, false, false},
        {"Conv", {5, 6, 7}, {3, 3, 2}, {2, 1, 2}, {1, 2, 1}, {1, 0, 2}, {2, 1, 0}, 2, 6, false, false},
        {"Conv", {4, 5, 5}, {2, 1, 3}, {1, 2, 1}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}, C, C, false, false},
        {"Conv", {3, 4, 4}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, 1, 2, false, false},
        {"MaxPool", {6, 5, 7}, {2, 3, 2}, {2, 2, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, 0, 0, false, false},
        {"MaxPool", {8, 6, 7}, {3, 3, 3}, {2, 2, 2}, {1, 1, 2}, {1, 1, 1}, {1, 1, 1}, 0, 0, false, true},
        {"AveragePool", {8, 6, 7}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {1, 0, 1}, 0, 0, false, false},
        {"AveragePool", {8, 6, 7}, {3, 2, 3}, {2, 2, 2}, {1, 1, 1}, {1, 0, 1}, {1, 1, 1}, 0, 0, true, true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
}

TEST(windows_larger_than_the_input_are_refused)
{
    start(t, 19);
    input(t, "x", F32, "1 4 2 5 5");
    INTS(t, node(t, "MaxPool", "x", "y"), "kernel_shape", 3, 2, 2);
    refused(t, NULL, "a window of 3 elements on 2 and a padding of 0 and 0");
    start(t, 19);
    input(t, "x", F32, "1 4 5 5 5");
    INTS(t, node(t, "MaxPool", "x", "y i"), "kernel_shape", 2, 2, 2);
    output(t, "y i");
    refused(t, NULL, "Indices of three spatial dimensions are not computed");
    for (int group = 0; group < 6; group += 3) {
        start(t, 19);
        inputs_of(t, F32, "x 1 4 5 5 5; w 4 4 1 1 1");
        attribute_int(t, node(t, "Conv", "x w", "y"), "group", group);
        refused(t, NULL, group ? "conv2d" : "group is 0");
    }
}

TEST_GROUP(create_context, release_context)
