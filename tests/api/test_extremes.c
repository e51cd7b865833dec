/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Paddings, dilations, strides and windows of up to 10^9 on tensors of a few elements: they are built and computed at once,
 * rightly, because nothing walks what lies in the padding.  A naive computation over the input's elements is what results are
 * held against.  Numbers at the end of float32's range: sums overflow alike whether their terms are inputs or constants.
 */
#include <math.h>
#include <unistd.h>

#include "support/api.h"
#include "support/context.h"
#include "webnn/webnn.h"

enum { SECONDS_MAX = 60, INPUT_MAX = 8 };

/** Builds and computes y of x, or skips the building if `constant`: then x is folded.  Owned by the caller. */
static float *run(WNNOperand (*apply)(WNNGraphBuilder b, WNNOperand x, const void *row), const void *row, uint32_t rank,
                  const uint32_t *shape, float *data, bool constant, size_t *count)
{
    const WNNOperandDescriptor d = {WNNOperandDataType_Float32, rank, shape, NULL};
    WNNNamedOperandDescriptor about;
    size_t bytes = sizeof(float);
    WNNGraphBuilder b = builder_of(context);

    for (uint32_t i = 0; i < rank; i++)
        bytes *= shape[i];
    WNNOperand x = constant ? wnnGraphBuilderConstant(b, &d, data, bytes) : wnnGraphBuilderInput(b, WNN_STR("x"), &d);
    OWNED(compiled) WNNGraph graph = build_y(b, apply(b, x, row));
    assert_success(wnnGraphGetOutput(graph, 0, &about));
    *count = 1;
    for (size_t i = 0; i < about.descriptor.rank; i++)
        *count *= about.descriptor.shape[i];
    float *result = malloc(*count * sizeof *result);
    assert_non_null(result);
    assert_success(wnnGraphCompute(graph, constant ? 0 : 1, &(WNNNamedBuffer){WNN_STR("x"), data, bytes}, 1,
                                   &(WNNNamedBuffer){WNN_STR("y"), result, *count * sizeof *result}));
    return result;
}

/* ---- windows along the height ---- */

struct window_row {
    char kind; /* a: averagePool2d, m: maxPool2d, l: l2Pool2d, c: conv2d, t: convTranspose2d */
    uint32_t size, window, padding[2], stride, dilation;
    bool wide; /* along the width instead */
};

static const struct window_row windows[] = {
    {'a', 4, 1000001, {500000, 500000}, 1, 1, false},
    {'a', 4, 1000000001, {1000000000, 0}, 1, 1, false},
    {'a', 5, 1000001, {1500000, 1500000}, 1, 3, true},
    {'a', 4, 40, {100, 0}, 1, 1, false}, /* some windows lie in the padding as a whole */
    {'a', 4, 2000000000, {2000000000, 2000000000}, 1000000000, 1, true},
    {'a', 4, 3, {1000000000, 1000000000}, 1, 1000000000, false},
    {'m', 4, 1000001, {500000, 500000}, 1, 1, false},
    {'m', 5, 1000001, {1500000, 1500000}, 1, 3, false},
    {'m', 4, 40, {100, 7}, 3, 1, true},
    {'m', 4, 3, {1000000000, 1000000000}, 1, 1000000000, false},
    {'l', 4, 1000001, {500000, 500000}, 1, 1, true},
    {'l', 6, 2000001, {2000000, 2000000}, 1, 2, false},
    {'c', 4, 2, {1000000000, 0}, 1, 1000000000, false},
    {'c', 4, 3, {1000000000, 1000000000}, 1, 1000000000, true},
    {'c', 4, 3, {70000, 70000}, 70000, 1, false},
    {'c', 8, 2, {0, 1000000000}, 1000000000, 1, false},
    {'t', 3, 2, {1000000000, 1000000000}, 1000000000, 1, false},
    {'t', 4, 3, {1000000000, 1000000000}, 1, 1000000000, true},
    {'t', 3, 3, {1000000000, 999999999}, 500000000, 500000000, false},
    {'t', 4, 2, {70000, 70000}, 70000, 70000, true},
};

static WNNOperand apply_window(WNNGraphBuilder b, WNNOperand x, const void *data)
{
    static const float powers[] = {1, 2, 4};
    const struct window_row *w = data;
    const int at = w->wide;
    uint32_t window[2] = {1, 1}, padding[4] = {0}, strides[2] = {1, 1}, dilations[2] = {1, 1}, filter[4] = {1, 1, 1, 1};
    WNNPool2dOptions pool = WNN_POOL2D_OPTIONS_INIT;
    WNNConv2dOptions conv = WNN_CONV2D_OPTIONS_INIT;
    WNNConvTranspose2dOptions transposed = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;

    window[at] = filter[2 + at] = w->window;
    padding[2 * at] = w->padding[0];
    padding[2 * at + 1] = w->padding[1];
    strides[at] = w->stride;
    dilations[at] = w->dilation;
    pool.windowDimensionsCount = pool.stridesCount = pool.dilationsCount = conv.stridesCount = conv.dilationsCount = 2;
    transposed.stridesCount = transposed.dilationsCount = 2;
    pool.paddingCount = conv.paddingCount = transposed.paddingCount = 4;
    pool.windowDimensions = window;
    pool.padding = conv.padding = transposed.padding = padding;
    pool.strides = conv.strides = transposed.strides = strides;
    pool.dilations = conv.dilations = transposed.dilations = dilations;
    switch (w->kind) {
    case 'a':
        return wnnGraphBuilderAveragePool2d(b, x, &pool);
    case 'm':
        return wnnGraphBuilderMaxPool2d(b, x, &pool);
    case 'l':
        return wnnGraphBuilderL2Pool2d(b, x, &pool);
    }
    WNNOperand weights = wnnGraphBuilderConstant(b, &(WNNOperandDescriptor){WNNOperandDataType_Float32, 4, filter, NULL},
                                                 powers, w->window * sizeof *powers);
    if (w->kind == 'c')
        return wnnGraphBuilderConv2d(b, x, weights, &conv);
    return wnnGraphBuilderConvTranspose2d(b, x, weights, &transposed);
}

/** Returns the taps of a transposed convolution that bring elements of the input to a place. */
static double naive_transposed(const struct window_row *w, const float *x, int64_t place)
{
    double products = 0;

    for (int64_t i = 0; i < w->size; i++) {
        const int64_t distance = place + w->padding[0] - i * w->stride, tap = distance / w->dilation;

        if (distance >= 0 && distance % w->dilation == 0 && tap < w->window)
            products += x[i] * (double)(1 << tap);
    }
    return products;
}

/** Looks at every element of the input, and whether the window holds it. */
static double naive(const struct window_row *w, const float *x, int64_t place)
{
    const int64_t start = place * w->stride - w->padding[0];
    double sum = 0, squares = 0, most = -INFINITY, products = 0, count = 0;

    if (w->kind == 't')
        return naive_transposed(w, x, place);
    for (int64_t i = 0; i < w->size; i++) {
        const int64_t tap = (i - start) / w->dilation;

        if (i < start || (i - start) % w->dilation || tap >= w->window)
            continue;
        sum += x[i];
        squares += (double)x[i] * x[i];
        most = fmax(most, x[i]);
        products += x[i] * (tap < 3 ? (double)(1 << tap) : 0);
        count++;
    }
    if (count == 0 && (w->kind == 'a' || w->kind == 'm'))
        return 0;
    return w->kind == 'a' ? sum / count : w->kind == 'm' ? most : w->kind == 'l' ? sqrt(squares) : products;
}

TEST(windows_skip_the_padding)
{
    float x[INPUT_MAX] = {1.5f, -2, 3, 0.25f, -7, 5, 8, -1};

    for (size_t r = 0; r < sizeof windows / sizeof *windows; r++)
        for (int constant = 0; constant < 2; constant++) {
            const struct window_row *w = &windows[r];
            const uint32_t shape[4] = {1, 1, w->wide ? 1 : w->size, w->wide ? w->size : 1};
            size_t count;
            OWNED(memory) float *y = run(apply_window, w, 4, shape, x, constant, &count);

            for (size_t i = 0; i < count; i++) {
                const double wanted = naive(w, x, (int64_t)i);

                if (isnan(wanted) ? !isnan(y[i])
                                  : y[i] != (float)wanted && !(fabs((double)y[i] - wanted) <= 1e-5 * fabs(wanted)))
                    fail_msg("row %zu%s: element %zu of %zu is %.9g, %.9g expected", r, constant ? ", folded" : "", i, count,
                             (double)y[i], wanted);
            }
        }
}

/* ---- sums beyond float32's range ---- */

enum { SUMS = 25 };

/** Appends operator `*data` on x of shape [1, 1, 2, 2]. */
static WNNOperand apply_sum(WNNGraphBuilder b, WNNOperand x, const void *data)
{
    static const float four[] = {1, 1, 1, 1};
    static const double alphas[] = {1, 0.5, 0, -0.25, 4};
    static WNNOperand (*const reduce[])(WNNGraphBuilder, WNNOperand, WNNReduceOptions const *) = {
        wnnGraphBuilderReduceL1,   wnnGraphBuilderReduceL2,  wnnGraphBuilderReduceLogSum,   wnnGraphBuilderReduceLogSumExp,
        wnnGraphBuilderReduceMean, wnnGraphBuilderReduceSum, wnnGraphBuilderReduceSumSquare};
    const uint32_t square[2] = {2, 2}, image[4] = {1, 1, 2, 2};
    const int kind = *(const int *)data;
    const WNNOperand m = wnnGraphBuilderReshape(b, x, 2, square, NULL);
    const WNNOperand ones =
        wnnGraphBuilderConstant(b, &(WNNOperandDescriptor){WNNOperandDataType_Float32, 4, image, NULL}, four, sizeof four);
    const WNNOperand one_matrix = wnnGraphBuilderReshape(b, ones, 2, square, NULL);
    WNNConv2dOptions conv = WNN_CONV2D_OPTIONS_INIT;
    WNNGemmOptions gemm = WNN_GEMM_OPTIONS_INIT;
    WNNLinearOptions line = WNN_LINEAR_OPTIONS_INIT;

    if (kind >= SUMS - 10) {
        gemm.alpha = alphas[(SUMS - 1 - kind) / 2];
        return wnnGraphBuilderGemm(b, m, kind % 2 ? one_matrix : m, &gemm);
    }
    if (kind < 7)
        return reduce[kind](b, x, NULL);
    switch (kind) {
    case 7:
        return wnnGraphBuilderAveragePool2d(b, x, NULL);
    case 8:
        return wnnGraphBuilderL2Pool2d(b, x, NULL);
    case 9:
        return wnnGraphBuilderCumulativeSum(b, x, 3, NULL);
    case 10:
        return wnnGraphBuilderMatmul(b, m, one_matrix, NULL);
    case 11: /* the bias leads back into the range, too late */
        conv.bias = wnnGraphBuilderConstant(b, &(WNNOperandDescriptor){WNNOperandDataType_Float32, 1, image, NULL},
                                            &(float){-3e38f}, sizeof(float));
        return wnnGraphBuilderConv2d(b, x, ones, &conv);
    case 12:
        return wnnGraphBuilderInstanceNormalization(b, x, NULL);
    case 13:
        return wnnGraphBuilderLayerNormalization(b, x, NULL);
    default:
        line.alpha = 0.5;
        line.beta = 2e38;
        return wnnGraphBuilderLinear(b, x, &line);
    }
}

/** What a graph computes is infinite or NaN where the constant that the same operator is folded into is, and nowhere else. */
TEST(constants_leave_the_range_where_inputs_do)
{
    static const float numbers[][4] = {
        {3e38f, 3e38f, 3e38f, 3e38f}, {-3e38f, -3e38f, -3e38f, -3e38f}, {2e19f, 1, 2, 3}, {1e19f, 1e19f, 1, 1e19f},
        {3e38f, 1e-3f, 1e-20f, 2},    {1.2e38f, 1.2e38f, 0, 0},         {1, 2, 3, 4},     {1e-30f, 1e-30f, 1e-30f, 1e-30f}};
    const uint32_t shape[4] = {1, 1, 2, 2};

    for (int kind = 0; kind < SUMS; kind++)
        for (size_t r = 0; r < sizeof numbers / sizeof *numbers; r++) {
            float x[4];
            size_t count;

            memcpy(x, numbers[r], sizeof x);
            OWNED(memory) float *y = run(apply_sum, &kind, 4, shape, x, false, &count),
                                *folded = run(apply_sum, &kind, 4, shape, x, true, &count);
            for (size_t i = 0; i < count; i++)
                if (isfinite(y[i]) ? !(fabs((double)y[i] - folded[i]) <= 1e-5 * fabs(y[i]) + 1e-30)
                                   : isnan(y[i]) != isnan(folded[i]) || (isinf(y[i]) && y[i] != folded[i]))
                    fail_msg("operator %d of row %zu: element %zu is %.9g, folded %.9g", kind, r, i, (double)y[i],
                             (double)folded[i]);
        }
}

/** The product alone would be infinite, and NaN times 0. */
TEST(alpha_is_multiplied_before_the_product)
{
    static const struct {
        double alpha;
        float wanted;
    } rows[] = {{0.5, 3e38f}, {0, 0}, {-0.25, -1.5e38f}};
    const WNNOperandDescriptor one = {WNNOperandDataType_Float32, 2, (const uint32_t[]){1, 1}, NULL};
    const float a = 2, big = 3e38f;

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int inputs = 0; inputs < 4; inputs++) {
            WNNGemmOptions o = WNN_GEMM_OPTIONS_INIT;
            WNNNamedBuffer buffers[2];
            OWNED(builder) WNNGraphBuilder b = NULL;
            WNNOperand x[2];
            OWNED(compiled) WNNGraph graph = NULL;
            size_t count = 0;
            float y = NAN;

            assert_success(wnnContextCreateGraphBuilder(context, &b));
            for (int i = 0; i < 2; i++) {
                const float *from = i ? &big : &a;
                const WNNStringView name = i ? WNN_STR("b") : WNN_STR("a");

                x[i] = inputs >> i & 1 ? wnnGraphBuilderInput(b, name, &one)
                                       : wnnGraphBuilderConstant(b, &one, from, sizeof *from);
                if (inputs >> i & 1)
                    buffers[count++] = (WNNNamedBuffer){name, (void *)from, sizeof *from};
            }
            o.alpha = rows[r].alpha;
            assert_success(
                wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), wnnGraphBuilderGemm(b, x[0], x[1], &o)}, &graph));
            assert_success(wnnGraphCompute(graph, count, buffers, 1, &(WNNNamedBuffer){WNN_STR("y"), &y, sizeof y}));
            if (fabs((double)y - rows[r].wanted) > 1e32)
                fail_msg("alpha %g, inputs %d: %.9g", rows[r].alpha, inputs, (double)y);
        }
}

/* ---- what copies elements ---- */

static WNNOperand apply_copy(WNNGraphBuilder b, WNNOperand x, const void *data)
{
    const int kind = *(const int *)data;
    const uint32_t starts[1] = {1}, sizes[1] = {3}, strides[1] = {2147483647}, million[1] = {1000000}, large[2] = {1000000, 4},
                   none[1] = {0}, image[4] = {1, 1, 1, 4}, spread[2] = {1, 1000000}, row[1] = {4}, all[2] = {1000000, 1};
    WNNSliceOptions slice = WNN_SLICE_OPTIONS_INIT;
    WNNResample2dOptions resample = WNN_RESAMPLE2D_OPTIONS_INIT;

    slice.stridesCount = 1;
    slice.strides = strides;
    resample.sizesCount = 2;
    resample.sizes = spread;
    switch (kind) {
    case 0: /* one element: x[1] */
        return wnnGraphBuilderSlice(b, x, 1, starts, 1, sizes, &slice);
    case 1: /* x[0] stands at 10^6 */
        return wnnGraphBuilderPad(b, x, 1, million, 1, none, NULL);
    case 2:
        return wnnGraphBuilderTile(b, x, 1, million, NULL);
    case 3:
        return wnnGraphBuilderExpand(b, x, 2, large, NULL);
    case 4:
        return wnnGraphBuilderReshape(b, wnnGraphBuilderResample2d(b, wnnGraphBuilderReshape(b, x, 4, image, NULL), &resample),
                                      1, million, NULL);
    default:
        return wnnGraphBuilderTile(b, wnnGraphBuilderReshape(b, x, 1, row, NULL), 1, all, NULL);
    }
}

TEST(copies_of_a_few_elements_are_right)
{
    float x[4] = {1.5f, -2, 3, 0.25f};

    for (int kind = 0; kind < 6; kind++)
        for (int constant = 0; constant < 2; constant++) {
            const uint32_t shape[1] = {4};
            size_t count;
            OWNED(memory) float *y = run(apply_copy, &kind, 1, shape, x, constant, &count);

            assert_int_equal(count, kind == 0 ? 1 : kind == 1 ? 1000004 : kind == 4 ? 1000000 : 4000000);
            for (size_t i = 0; i < count; i++)
                assert_true(y[i] == (kind == 0   ? x[1]
                                     : kind == 1 ? i < 1000000 ? 0 : x[i - 1000000]
                                     : kind == 4 ? x[i / 250000]
                                                 : x[i % 4]));
        }
}

static int create(void **state)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.threadCount = 1;
    alarm(SECONDS_MAX); /* what walks 10^9 elements of padding takes longer */
    return wnnCreateContext(&o, &context) != WNNStatus_Success;
}

TEST_GROUP(create, release_context)
