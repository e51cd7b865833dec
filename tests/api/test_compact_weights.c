/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Matmuls of weights in 1 to 16 bits, with every form of scale and zero point, few rows and many, held against a
 * computation in double.  The bound is that of a float32 sum of as many products, each of which may be rounded twice.  Where
 * the precision allows it, the other operand may be rounded to 8 bits first, as docs/compact-weights.md says.
 */
#include <math.h>

#include "support/help.h"
#include "support/processor.h"
#include "support/random.h"
#include "support/test.h"
#include "webnn/webnn.h"

enum { K = 256, N = 144, ROWS_MAX = 37 };

static WNNContext context, rounding;
static uint32_t step = 1; /* each such one of the numbers of rows is tried */

/** Says how weights are stored. */
struct form {
    WNNOperandDataType type;
    int least;
    uint32_t range;              /* values are least .. least + range - 1 */
    uint32_t k_blocks, n_blocks; /* of the scale */
    int zero;                    /* the zero point everywhere; ANY: random */
};
enum { ANY = 1000 };

static const struct form forms[] = {
    {WNNOperandDataType_Uint8, 0, 16, 8, N, 8},       {WNNOperandDataType_Uint8, 0, 16, 8, N, ANY},
    {WNNOperandDataType_Int8, -8, 16, 32, N, 0},      {WNNOperandDataType_Int8, -120, 5, 1, N, ANY},
    {WNNOperandDataType_Uint8, 100, 16, 1, 1, 107},   {WNNOperandDataType_Uint8, 0, 16, 64, N, 8},
    {WNNOperandDataType_Uint8, 0, 256, 8, N, 128},    {WNNOperandDataType_Uint8, 0, 256, 4, N / 4, ANY},
    {WNNOperandDataType_Int8, -128, 256, 1, N, 0},    {WNNOperandDataType_Int8, -128, 256, 2, 1, ANY},
    {WNNOperandDataType_Uint8, 0, 16, 1, N, 8},       {WNNOperandDataType_Uint8, 0, 16, 2, 1, 0},
    {WNNOperandDataType_Int8, -3, 9, 16, N / 2, ANY}, {WNNOperandDataType_Uint8, 0, 4, 8, N, 2},
    {WNNOperandDataType_Uint8, 0, 4, 8, N, ANY},      {WNNOperandDataType_Int8, -2, 4, 16, N / 2, -1},
    {WNNOperandDataType_Uint8, 0, 2, 8, N, 1},        {WNNOperandDataType_Uint8, 9, 2, 4, N / 4, ANY},
    {WNNOperandDataType_Int8, 3, 2, 16, N, 0},        {WNNOperandDataType_Float16, 0, 0, 0, 0, 0},
};

/* The weights as [K][N], as stored, and what they mean. */
static uint8_t bytes[K * N], zeros[K * N];
static float scales[K * N];
static double weights[K * N];

static void draw_weights(const struct form *f)
{
    for (uint32_t i = 0; i < f->k_blocks * f->n_blocks; i++) {
        scales[i] = (float)random_in_range(-1, 1) + 1.5f;
        zeros[i] = (uint8_t)(f->zero == ANY ? f->least + (int)random_below(f->range) : f->zero);
    }
    for (uint32_t k = 0; k < K; k++)
        for (uint32_t n = 0; n < N; n++) {
            const uint32_t small = k / (K / f->k_blocks) * f->n_blocks + n / (N / f->n_blocks);
            const uint8_t q = (uint8_t)(f->least + (int)random_below(f->range)), z = zeros[small];
            const int whole = f->type == WNNOperandDataType_Int8 ? (int8_t)q - (int8_t)z : q - z;
            bytes[k * N + n] = q;
            weights[k * N + n] = (double)whole * scales[small];
        }
}

static WNNOperand constant(WNNGraphBuilder b, WNNOperandDataType type, uint32_t rows, uint32_t columns, const void *data)
{
    const WNNOperandDescriptor d = {type, 2, (uint32_t[]){rows, columns}, NULL};

    return wnnGraphBuilderConstant(b, &d, data, (size_t)rows * columns * wnnOperandDataTypeGetByteSize(type));
}

/* Transposes rows x columns elements of that many bytes. */
static void transpose(void *data, uint32_t rows, uint32_t columns, size_t size)
{
    unsigned char *copy = malloc((size_t)rows * columns * size), *to = data;

    assert_non_null(copy);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < columns; c++)
            for (size_t i = 0; i < size; i++)
                copy[(c * rows + r) * size + i] = to[(r * columns + c) * size + i];
    for (size_t i = 0; i < (size_t)rows * columns * size; i++)
        to[i] = copy[i];
    free(copy);
}

static WNNOperand dequantized(WNNGraphBuilder b, const struct form *f, bool transposed)
{
    uint32_t dims[2] = {K, N}, small[2] = {f->k_blocks, f->n_blocks};

    if (transposed) {
        transpose(bytes, K, N, 1);
        transpose(zeros, small[0], small[1], 1);
        transpose(scales, small[0], small[1], sizeof *scales);
        dims[0] = N, dims[1] = K;
        small[0] = f->n_blocks, small[1] = f->k_blocks;
    }
    WNNOperand q = constant(b, f->type, dims[0], dims[1], bytes);
    WNNOperand s = constant(b, WNNOperandDataType_Float32, small[0], small[1], scales);
    WNNOperand z = constant(b, f->type, small[0], small[1], zeros);
    return wnnGraphBuilderDequantizeLinear(b, q, s, z, NULL);
}

/* Random halves of 11 significant bits, whose bits are those of exact multiples of 2^-10. */
static WNNOperand halves(WNNGraphBuilder b)
{
    static uint16_t data[K * N];

    for (uint32_t i = 0; i < K * N; i++) {
        const uint32_t fraction = random_below(1 << 10), sign = random_below(2);
        data[i] = (uint16_t)(sign << 15 | 15 << 10 | fraction);
        weights[i] = (sign ? -1.0 : 1.0) * (1 + fraction / 1024.0);
    }
    return wnnGraphBuilderCast(b, constant(b, WNNOperandDataType_Float16, K, N, data), WNNOperandDataType_Float32, NULL);
}

static WNNOperand multiply(WNNGraphBuilder b, WNNOperand x, const struct form *f, bool transposed)
{
    WNNGemmOptions o = WNN_GEMM_OPTIONS_INIT;

    if (f->type == WNNOperandDataType_Float16)
        return wnnGraphBuilderMatmul(b, x, halves(b), NULL);
    draw_weights(f);
    WNNOperand w = dequantized(b, f, transposed);
    o.bTranspose = transposed;
    return transposed ? wnnGraphBuilderGemm(b, x, w, &o) : wnnGraphBuilderMatmul(b, x, w, NULL);
}

static float x[ROWS_MAX * K], y[ROWS_MAX * N];

static void compute(WNNContext in, const struct form *f, uint32_t rows, bool transposed)
{
    const WNNOperandDescriptor d = {WNNOperandDataType_Float32, 2, (uint32_t[]){rows, K}, NULL};
    OWNED(builder) WNNGraphBuilder b = NULL;
    OWNED(compiled) WNNGraph graph = NULL;

    for (uint32_t i = 0; i < rows * K; i++)
        x[i] = (float)random_in_range(-1, 1);
    assert_int_equal(wnnContextCreateGraphBuilder(in, &b), WNNStatus_Success);
    WNNOperand out = multiply(b, wnnGraphBuilderInput(b, WNN_STR("x"), &d), f, transposed);
    assert_success(wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), out}, &graph));
    if (wnnGraphCompute(graph, 1, &(WNNNamedBuffer){WNN_STR("x"), x, rows * K * sizeof *x}, 1,
                        &(WNNNamedBuffer){WNN_STR("y"), y, rows * N * sizeof *y}))
        fail_msg("%s", wnnGetLastErrorMessage().data);
}

/* Returns how many results are not what x times the weights is, and says where the last one was. */
static uint32_t count_wrong(const float *of, uint32_t rows, char *where, size_t size)
{
    uint32_t wrong = 0;

    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t n = 0; n < N; n++) {
            double sum = 0, magnitude = 0;
            for (uint32_t k = 0; k < K; k++) {
                const double product = of[r * K + k] * weights[k * N + n];
                sum += product;
                magnitude += fabs(product);
            }
            if (fabs(y[r * N + n] - sum) > magnitude * (K + 2) * 0x1p-24) {
                wrong++;
                snprintf(where, size, "y[%u][%u] is %.9g, not %.9g", r, n, y[r * N + n], sum);
            }
        }
    return wrong;
}

static void check(const struct form *f, uint32_t rows, bool transposed)
{
    char where[80];

    compute(context, f, rows, transposed);
    if (count_wrong(x, rows, where, sizeof where))
        fail_msg("form %d, %u rows%s: %s", (int)(f - forms), rows, transposed ? ", transposed" : "", where);
}

/* Rounds x to 8 bits in blocks, as the library does, but in double from there on. */
static void round_x(float *to, uint32_t rows, uint32_t block)
{
    for (uint32_t first = 0; first < rows * K; first += block) {
        float most = 0;

        for (uint32_t i = first; i < first + block; i++)
            most = fmaxf(most, fabsf(x[i]));
        for (uint32_t i = first; i < first + block; i++)
            to[i] = rintf(x[i] * (127 / fmaxf(most, 1e-36f))) * (most * (float)(1 / 127.0));
    }
}

/* Results are those of x, or all of them those of x rounded: whether it is depends on the processor. */
static void check_rounded(const struct form *f, uint32_t rows, bool transposed)
{
    static float rounded[ROWS_MAX * K];
    const int middle = f->type == WNNOperandDataType_Int8 ? 0 : 128;
    const bool words = f->range && (f->range <= 16 || f->zero == middle) && K / f->k_blocks % 8 == 0;
    char where[80], other[80];

    compute(rounding, f, rows, transposed);
    if (!count_wrong(x, rows, where, sizeof where)) {
        if (words && processor_multiplies_bytes())
            fail_msg("form %d, %u rows%s: x is not rounded", (int)(f - forms), rows, transposed ? ", transposed" : "");
        return;
    }
    if (words)
        round_x(rounded, rows, f->k_blocks == 1 ? 32 : K / f->k_blocks);
    if (!words || count_wrong(rounded, rows, other, sizeof other))
        fail_msg("form %d, %u rows%s: %s, nor if x is rounded, %s", (int)(f - forms), rows, transposed ? ", transposed" : "",
                 where, words ? other : "which it must not be");
}

static void check_all(const uint32_t rows[5], void (*check_one)(const struct form *f, uint32_t rows, bool transposed))
{
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t r = f % step; r < 5; r += step)
            for (int transposed = 0; transposed < 2; transposed++)
                check_one(&forms[f], rows[r], transposed);
}

TEST(every_form_is_computed)
{
    check_all((const uint32_t[]){1, 2, 5, 8, ROWS_MAX}, check);
}

TEST(the_other_operand_may_be_rounded)
{
    check_all((const uint32_t[]){1, 2, 7, 16, ROWS_MAX}, check_rounded);
}

static int create(void **state)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.precision = WNNPrecision_Int8;
    return wnnCreateContext(NULL, &context) != WNNStatus_Success || wnnCreateContext(&o, &rounding) != WNNStatus_Success;
}

static int destroy(void **state)
{
    wnnContextRelease(context);
    wnnContextRelease(rounding);
    return 0;
}

TEST_GROUP(create, destroy)

PROGRAM_HELP("usage: test-api-compact-weights [few]   run the tests; `few`: with few numbers of rows, for\n"
             "OpenCL compilers take their time for each\n")
int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "few")) {
        step = 3;
        if (wnnCreateContext(NULL, &context)) {
            printf("skipped: %s\n", wnnGetLastErrorMessage().data);
            return 77;
        }
        wnnContextRelease(context);
    }
    return tests_run();
}
