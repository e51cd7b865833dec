/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Matmuls in float16 of weights in 4 and 8 bits whose scales are float16: every weight is rounded to float16 before it is
 * multiplied.  Each row of the other operand has a 1 and a -1, so that results are differences of two weights with one scale,
 * which are exact before they are rounded, and small where the weights are near each other.
 */
#include <math.h>

#include "ir/graph/ir.h"
#include "support/api.h"
#include "support/context.h"
#include "support/random.h"
#include "webnn/webnn.h"

enum { K = 256, N_MOST = 1024, ONE = 15 << 10 /* of float16 */ };

/* [K][N] numbers, and scales and zero points of blocks. */
struct weights {
    WNNOperandDataType type;
    uint32_t n, k_blocks, n_blocks;
    uint8_t bytes[K * N_MOST], zeros[K * N_MOST];
    uint16_t scales[K * N_MOST];
};

static struct weights w;

static uint32_t block_of(uint32_t k, uint32_t n)
{
    return k / (K / w.k_blocks) * w.n_blocks + n / (w.n / w.n_blocks);
}

static double weight_at(uint32_t k, uint32_t n)
{
    const uint32_t block = block_of(k, n);
    const uint8_t q = w.bytes[k * w.n + n], z = w.zeros[block];
    const int whole = w.type == WNNOperandDataType_Int8 ? (int8_t)q - (int8_t)z : q - z;

    return f16_to_f32(f64_to_f16((double)whole * f16_to_f32(w.scales[block])));
}

static WNNOperand constant(WNNGraphBuilder b, WNNOperandDataType type, uint32_t rows, uint32_t columns, const void *data,
                           bool transposed)
{
    const size_t size = wnnOperandDataTypeGetByteSize(type);
    const WNNOperandDescriptor d = {type, 2, (uint32_t[]){transposed ? columns : rows, transposed ? rows : columns}, NULL};
    unsigned char *ordered = malloc(rows * columns * size);

    assert_non_null(ordered);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < columns; c++)
            memcpy(ordered + (transposed ? c * rows + r : r * columns + c) * size,
                   (const unsigned char *)data + (r * columns + c) * size, size);
    WNNOperand v = wnnGraphBuilderConstant(b, &d, ordered, rows * columns * size);
    free(ordered);
    return v;
}

/* Row r of the other operand has its 1 at (first + r) modulo K, and its -1 at that number's neighbour. */
static void check(uint32_t rows, uint32_t first, bool transposed, const char *what)
{
    static uint16_t x[K * K], y[K * N_MOST];
    const WNNOperandDescriptor d = {WNNOperandDataType_Float16, 2, (uint32_t[]){rows, K}, NULL};
    WNNGemmOptions o = WNN_GEMM_OPTIONS_INIT;
    WNNGraphBuilder b = builder_of(context);

    memset(x, 0, sizeof x);
    for (uint32_t r = 0; r < rows; r++)
        x[r * K + (first + r) % K] = ONE, x[r * K + ((first + r) % K ^ 1)] = ONE | 1 << 15;
    WNNOperand q = constant(b, w.type, K, w.n, w.bytes, transposed);
    WNNOperand s = constant(b, WNNOperandDataType_Float16, w.k_blocks, w.n_blocks, w.scales, transposed);
    WNNOperand z = constant(b, w.type, w.k_blocks, w.n_blocks, w.zeros, transposed);
    WNNOperand in = wnnGraphBuilderInput(b, WNN_STR("x"), &d), m = wnnGraphBuilderDequantizeLinear(b, q, s, z, NULL);

    o.bTranspose = transposed;
    m = transposed ? wnnGraphBuilderGemm(b, in, m, &o) : wnnGraphBuilderMatmul(b, in, m, NULL);
    WNNGraph graph = build_y(b, m);
    compute_y(graph, x, (size_t)rows * K * sizeof *x, y, (size_t)rows * w.n * sizeof *y);
    wnnGraphRelease(graph);
    for (uint32_t n = 0; n < w.n; n++) {
        uint32_t infinite = 0;

        for (uint32_t k = 0; k < K; k++)
            infinite += isinf(weight_at(k, n)) != 0;
        for (uint32_t r = 0; r < rows; r++) {
            const uint32_t k = (first + r) % K;
            const double one = weight_at(k, n), other = weight_at(k ^ 1, n);
            const uint32_t others = infinite - (isinf(one) != 0) - (isinf(other) != 0);
            const uint16_t want = f64_to_f16(others ? NAN : one - other), got = y[r * w.n + n]; /* 0 times infinity is NaN */
            const bool both_nan = isnan(f16_to_f32(want)) && isnan(f16_to_f32(got)), both_zero = !((got | want) << 1 & 0xFFFF);

            if (got != want && !both_nan && !both_zero)
                fail_msg("%s, %u rows%s: difference [%u][%u] is %04x, not %04x: scale %a", what, rows,
                         transposed ? ", transposed" : "", k, n, got, want, (double)f16_to_f32(w.scales[block_of(k, n)]));
        }
    }
}

static void fill(WNNOperandDataType type, int least, uint32_t range, int zero, uint32_t k_blocks, uint32_t n_blocks)
{
    w.type = type, w.k_blocks = k_blocks, w.n_blocks = n_blocks;
    for (uint32_t i = 0; i < K * w.n; i++)
        w.bytes[i] = (uint8_t)(least + (int)random_below(range));
    memset(w.zeros, zero, sizeof w.zeros);
}

/* Every scale of one power of two, and every number of 8 bits: others differ by a power of two. */
TEST(all_numbers_are_rounded_like_the_operator)
{
    static const WNNOperandDataType types[] = {WNNOperandDataType_Int8, WNNOperandDataType_Uint8};

    w.n = 1024;
    for (int i = 0; i < 2; i++) {
        fill(types[i], 0, 1, 0, 1, w.n);
        for (uint32_t k = 0; k < K; k++)
            memset(w.bytes + k * w.n, (int)k, w.n);
        for (uint32_t n = 0; n < w.n; n++)
            w.scales[n] = (uint16_t)(5 << 10 | n); /* from 2^-10 on */
        check(K, 0, false, "all");
    }
}

/* Scales whose products are all normal numbers of float16, some that are below, some near its largest, and some beyond. */
TEST(every_form_is_rounded_like_the_operator)
{
    static const struct {
        WNNOperandDataType type;
        int least;
        uint32_t range;
        int zero;
        uint32_t k_blocks, n_blocks;
    } forms[] = {
        {WNNOperandDataType_Int8, -128, 256, 0, 1, 144}, {WNNOperandDataType_Int8, -128, 256, 0, 8, 144},
        {WNNOperandDataType_Int8, -128, 256, 5, 1, 1},   {WNNOperandDataType_Uint8, 0, 256, 128, 8, 144},
        {WNNOperandDataType_Uint8, 0, 256, 113, 4, 36},  {WNNOperandDataType_Uint8, 0, 16, 8, 8, 144},
        {WNNOperandDataType_Int8, -8, 16, 0, 1, 144},    {WNNOperandDataType_Uint8, 100, 16, 107, 64, 144},
    };
    static const struct {
        uint32_t low, high; /* exponents as float16 has them: 15 of 1, 0 of subnormal numbers */
    } scales[] = {{1, 14}, {0, 3}, {0, 22}, {23, 23}};
    static const uint32_t rows[] = {1, 2, 8, 37, K};

    w.n = 144;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            char what[48];

            fill(forms[f].type, forms[f].least, forms[f].range, forms[f].zero, forms[f].k_blocks, forms[f].n_blocks);
            for (uint32_t i = 0; i < forms[f].k_blocks * forms[f].n_blocks; i++)
                w.scales[i] = (uint16_t)((scales[s].low + random_below(scales[s].high - scales[s].low + 1)) << 10 |
                                         random_below(1 << 10));
            snprintf(what, sizeof what, "form %zu, scales %zu", f, s);
            check(rows[(f + s) % 5], random_below(K), (f + s) % 2, what);
            check(rows[(f + s + 2) % 5], random_below(K), (f + s / 2) % 2, what);
        }
}

TEST_GROUP(create_context, release_context)
