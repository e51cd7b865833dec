/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wnnGraphBuilderQuantizeWeights: what a graph computes with quantized weights is what the rounded weights give, and no further
 * from the float graph than half a step of 8 bits, or a step of 4, allows.
 */
#include <math.h>

#include "support/api.h"
#include "support/random.h"

enum { ROWS = 5, K = 256, N = 160, BLOCK = 32 };

static WNNContext context;
static float weights[K * N], inputs[ROWS * K];

/* Columns of different sizes, some blocks of zeros, some of one sign. */
static void make_data(void)
{
    for (int k = 0; k < K; k++)
        for (int n = 0; n < N; n++) {
            const float w = (float)random_in_range(-0.5, 0.5) * (float)(1 + n % 7);
            weights[k * N + n] = k / BLOCK == 2 && n % 3 == 0 ? 0 : k / BLOCK == 3 ? fabsf(w) : w;
        }
    for (int i = 0; i < ROWS * K; i++)
        inputs[i] = (float)random_in_range(-1, 1);
}

/* Computes x times the weights, as they are or transposed for a gemm; *counts is what was quantized. */
static void compute(WNNWeightFormat format, bool transposed, float *results, WNNQuantizedWeights *counts)
{
    const WNNOperandDescriptor x = {WNNOperandDataType_Float32, 2, (uint32_t[]){ROWS, K}, NULL};
    const WNNOperandDescriptor w = {WNNOperandDataType_Float32, 2, transposed ? (uint32_t[]){N, K} : (uint32_t[]){K, N}, NULL};
    const WNNNamedBuffer in = {WNN_STR("x"), inputs, sizeof inputs}, out = {WNN_STR("y"), results, sizeof(float) * ROWS * N};
    WNNGemmOptions options = WNN_GEMM_OPTIONS_INIT;
    OWNED(memory) float *data = malloc(sizeof weights);
    OWNED(builder) WNNGraphBuilder b = NULL;
    OWNED(compiled) WNNGraph graph = NULL;

    assert_non_null(data);
    for (int k = 0; k < K; k++)
        for (int n = 0; n < N; n++)
            data[transposed ? n * K + k : k * N + n] = weights[k * N + n];
    assert_success(wnnContextCreateGraphBuilder(context, &b));
    assert_success(wnnGraphBuilderQuantizeWeights(b, format));
    options.bTranspose = transposed;
    WNNOperand y = wnnGraphBuilderConstant(b, &w, data, sizeof weights);
    y = transposed ? wnnGraphBuilderGemm(b, wnnGraphBuilderInput(b, WNN_STR("x"), &x), y, &options)
                   : wnnGraphBuilderMatmul(b, wnnGraphBuilderInput(b, WNN_STR("x"), &x), y, NULL);
    assert_success(wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), y}, &graph));
    assert_int_equal(wnnGraphBuilderQuantizeWeights(b, format), WNNStatus_InvalidStateError);
    assert_success(wnnGraphCompute(graph, 1, &in, 1, &out));
    wnnGraphGetQuantizedWeights(graph, counts);
}

/* Returns the largest magnitude of the block that holds weights[k, n]. */
static float largest_of(int k, int n)
{
    float largest = 0;

    for (int i = k / BLOCK * BLOCK; i < (k / BLOCK + 1) * BLOCK; i++)
        largest = fmaxf(largest, fabsf(weights[i * N + n]));
    return largest;
}

/* An element of 8 bits is off by half of a 127th of its block's largest one, one of 4 bits by a seventh at most. */
static void check_errors(const float *exact, const float *got, double share)
{
    bool differs = false;

    for (int r = 0; r < ROWS; r++)
        for (int n = 0; n < N; n++) {
            double allowed = 1e-4;

            for (int k = 0; k < K; k++)
                allowed += share * (double)largest_of(k, n) * fabs((double)inputs[r * K + k]);
            if (!(fabs((double)got[r * N + n] - (double)exact[r * N + n]) <= allowed))
                fail_msg("[%d, %d] is %g, not %g within %g", r, n, (double)got[r * N + n], (double)exact[r * N + n], allowed);
            differs |= got[r * N + n] != exact[r * N + n];
        }
    assert_true(differs);
}

TEST(errors_are_those_of_rounding)
{
    static const struct {
        WNNWeightFormat format;
        double share;
        uint64_t bytes;
    } formats[] = {{WNNWeightFormat_Int8, 0.5 / 127, K * N}, {WNNWeightFormat_Int4, 1.0 / 7, K * N / 2}};
    static float exact[ROWS * N], got[ROWS * N];
    WNNQuantizedWeights counts;

    for (int transposed = 0; transposed < 2; transposed++) {
        compute(WNNWeightFormat_None, transposed, exact, &counts);
        assert_int_equal(counts.matrices, 0);
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
            compute(formats[i].format, transposed, got, &counts);
            assert_int_equal(counts.matrices, 1);
            assert_int_equal(counts.bytesBefore, sizeof weights);
            assert_int_equal(counts.bytesAfter, formats[i].bytes + K / BLOCK * N * sizeof(float));
            check_errors(exact, got, formats[i].share);
        }
    }
}

/* A matrix with a number that is none has no scales. */
TEST(infinities_stay)
{
    static float exact[ROWS * N], got[ROWS * N];
    const float before = weights[77];
    WNNQuantizedWeights counts;

    weights[77] = INFINITY;
    compute(WNNWeightFormat_None, false, exact, &counts);
    compute(WNNWeightFormat_Int4, false, got, &counts);
    weights[77] = before;
    assert_int_equal(counts.matrices, 0);
    assert_memory_equal(exact, got, sizeof exact);
}

TEST(wrong_calls_are_refused)
{
    OWNED(builder) WNNGraphBuilder b = NULL;

    assert_success(wnnContextCreateGraphBuilder(context, &b));
    assert_int_equal(wnnGraphBuilderQuantizeWeights(b, (WNNWeightFormat)3), WNNStatus_TypeError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "3 is not a weight format"));
}

int main(void)
{
    make_data();
    if (wnnCreateContext(NULL, &context))
        return 1;
    int failed = tests_run();
    wnnContextRelease(context);
    return failed;
}
