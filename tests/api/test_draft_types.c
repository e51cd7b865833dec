/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Data types of the draft of low precision: all 65,536 numbers of bfloat16 and all 256 of each float8, cast in graphs and by
 * constant folding in both directions, against formulas of their own; quantization, what moves elements, weights of matmuls,
 * and what a context without the option refuses.
 */
#include <math.h>

#include "support/api.h"
#include "support/close.h"
#include "support/random.h"
#include "webnn/webnn_draft.h"

static WNNContext context, strict;

static const struct format {
    WNNOperandDataType type;
    const char *name;
    int size, fraction, bias;
    double top;
    bool infinite; /* the largest exponent is of infinities and NaN; else only its last number is NaN */
} formats[] = {
    {WNNOperandDataType_Bfloat16, "bfloat16", 2, 7, 127, 0x1.fep127, true},
    {WNNOperandDataType_Float8E4M3, "float8e4m3", 1, 3, 7, 448, false},
    {WNNOperandDataType_Float8E5M2, "float8e5m2", 1, 2, 15, 57344, true},
};
enum { FORMATS = sizeof formats / sizeof *formats, CASES = 1 << 16 };

/* Returns what the bits stand for. */
static double value_of(const struct format *f, uint32_t bits)
{
    const uint32_t all = 1u << (8 * f->size - 1), rest = bits & (all - 1), exponent = rest >> f->fraction;
    const uint32_t fraction = rest & ((1u << f->fraction) - 1), most = (all - 1) >> f->fraction;
    double x = ldexp(fraction + (exponent ? ldexp(1, f->fraction) : 0), (exponent ? (int)exponent : 1) - f->bias - f->fraction);

    if (f->infinite ? exponent == most : rest == all - 1)
        x = f->infinite && !fraction ? (double)INFINITY : (double)NAN;
    return bits & all ? -x : x;
}

/* Returns the bits of the nearest number, found among the finite ones by halving; of two, the one whose last bit is 0. */
static uint32_t bits_of(const struct format *f, double x)
{
    const uint32_t sign = signbit(x) ? 1u << (8 * f->size - 1) : 0;
    uint32_t low = 0, high = (uint32_t)((int)log2(f->top) + f->bias + 1) << f->fraction;

    while (value_of(f, high) != f->top)
        high--;
    x = fabs(x);
    if (f->size == 2 && x < 0x1p-126) /* as processors' instructions do it */
        return sign;
    if (x >= f->top + (value_of(f, high) - value_of(f, high - 1)) / 2)
        return sign | (high + (f->size == 2)); /* infinity; float8 saturates */
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        *(value_of(f, middle) <= x ? &low : &high) = middle;
    }
    const double below = x - value_of(f, low), above = value_of(f, high) - x;
    return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
}

static uint32_t bits_at(const struct format *f, const void *data, size_t i)
{
    return f->size == 2 ? ((const uint16_t *)data)[i] : ((const uint8_t *)data)[i];
}

/* Casts CASES elements, in a graph or by folding. */
static void cast(WNNOperandDataType from, const void *in, WNNOperandDataType to, void *out, bool folded)
{
    const WNNOperandDescriptor d = {from, 1, (const uint32_t[]){CASES}, NULL};
    const size_t bytes = CASES * wnnOperandDataTypeGetByteSize(from);
    WNNGraphBuilder b = builder_of(context);
    WNNOperand x = folded ? wnnGraphBuilderConstant(b, &d, in, bytes) : wnnGraphBuilderInput(b, WNN_STR("x"), &d);
    OWNED(compiled) WNNGraph g = build_y(b, wnnGraphBuilderCast(b, x, to, NULL));

    assert_success(wnnGraphCompute(g, !folded, &(WNNNamedBuffer){WNN_STR("x"), (void *)(uintptr_t)in, bytes}, 1,
                                   &(WNNNamedBuffer){WNN_STR("y"), out, CASES * wnnOperandDataTypeGetByteSize(to)}));
}

TEST(all_numbers_become_float32)
{
    static uint16_t in[CASES];
    static float out[CASES];

    for (size_t i = 0; i < FORMATS; i++)
        for (int folded = 0; folded < 2; folded++) {
            const struct format *f = &formats[i];
            for (uint32_t k = 0; k < CASES; k++)
                in[k] = (uint16_t)k; /* both bytes of it, too */
            cast(f->type, in, WNNOperandDataType_Float32, out, folded);
            for (size_t k = 0; k < CASES; k++) {
                const double want = value_of(f, bits_at(f, in, k));
                if (isnan(want) ? !isnan(out[k]) : memcmp(&out[k], &(float){(float)want}, sizeof *out) != 0)
                    fail_msg("%s %x is %g, not %g", f->name, bits_at(f, in, k), (double)out[k], want);
            }
        }
}

TEST(float32_is_rounded_to_the_nearest)
{
    static const float special[] = {
        0,     -0.0f, INFINITY, -INFINITY, 448,       464,      464.001f,        479.9f,   57344,      61440,
        65536, 3e38f, -500,     0x1p-126f, 0x1p-149f, 0x1p-10f, 0x1.000002p-10f, 0x1p-17f, 0x1.8p-16f, 0x1.fffffep127f};
    static float in[CASES];
    static uint16_t out[CASES];

    for (size_t i = 0; i < FORMATS; i++)
        for (int folded = 0; folded < 2; folded++) {
            const struct format *f = &formats[i];
            const uint32_t numbers = f->size == 2 ? CASES : 256;
            for (uint32_t k = 0; k < CASES; k++) { /* around the middles of neighbours, and anything */
                const double a = value_of(f, k / 3 % numbers), b = value_of(f, (k / 3 + 1) % numbers);
                const float middle = (float)((a + b) / 2);
                in[k] = k % 3 == 0 ? middle : nextafterf(middle, k % 3 == 1 ? INFINITY : -INFINITY);
                if (k % 4 == 3)
                    memcpy(&in[k], &(uint32_t){(uint32_t)random_bits()}, sizeof *in);
            }
            memcpy(in, special, sizeof special);
            cast(WNNOperandDataType_Float32, in, f->type, out, folded);
            for (size_t k = 0; k < CASES; k++) {
                const uint32_t have = bits_at(f, out, k);
                if (isnan(in[k]) ? !isnan(value_of(f, have)) : have != bits_of(f, (double)in[k]))
                    fail_msg("%a is %s %x, not %x", (double)in[k], f->name, have, bits_of(f, (double)in[k]));
            }
        }
}

/* Every element keeps its bits on its way through what moves it. */
TEST(elements_move_as_they_are)
{
    enum { ROWS = 12, COLUMNS = 7, COUNT = ROWS * COLUMNS };
    static const uint32_t shape[] = {ROWS, COLUMNS}, whole[] = {1, 2, 0}, none[] = {0, 0};
    static const int32_t order[ROWS] = {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    uint8_t in[COUNT * 2], out[COUNT * 2];

    for (size_t i = 0; i < FORMATS; i++) {
        const size_t size = (size_t)formats[i].size;
        const WNNOperandDescriptor d = {formats[i].type, 2, shape, NULL};
        WNNGraphBuilder b = builder_of(context);
        WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("x"), &d), y = wnnGraphBuilderTranspose(b, x, NULL), parts[2];
        WNNReverseOptions rows = WNN_REVERSE_OPTIONS_INIT;

        for (size_t k = 0; k < COUNT * size; k++)
            in[k] = (uint8_t)(random_bits() % 0x78); /* no NaN */
        parts[0] = wnnGraphBuilderSlice(b, y, 2, none, 2, (const uint32_t[]){COLUMNS, 5}, NULL);
        parts[1] = wnnGraphBuilderSlice(b, y, 2, (const uint32_t[]){0, 5}, 2, (const uint32_t[]){COLUMNS, ROWS - 5}, NULL);
        y = wnnGraphBuilderTranspose(b, wnnGraphBuilderConcat(b, 2, parts, 1, NULL), NULL);
        y = wnnGraphBuilderPad(b, y, 2, &whole[0], 2, &whole[0], NULL);
        y = wnnGraphBuilderSlice(b, y, 2, &whole[0], 2, shape, NULL);
        WNNOperand indices = wnnGraphBuilderConstant(
            b, &(WNNOperandDescriptor){WNNOperandDataType_Int32, 1, (const uint32_t[]){ROWS}, NULL}, order, sizeof order);
        y = wnnGraphBuilderGather(b, y, indices, NULL);
        rows.axesCount = 1;
        rows.axes = none;
        y = wnnGraphBuilderReverse(b, y, &rows);
        WNNOperand odd = wnnGraphBuilderCast(b, x, WNNOperandDataType_Uint8, NULL);
        OWNED(compiled) WNNGraph g = build_y(b, wnnGraphBuilderWhere(b, odd, y, x, NULL));
        compute_y(g, in, COUNT * size, out, COUNT * size);
        assert_memory_equal(in, out, COUNT * size);
    }
}

/* Blocks of three rows have a scale and a zero point each. */
TEST(float8_is_quantized_to)
{
    enum { ROWS = 6, COLUMNS = 50, COUNT = ROWS * COLUMNS, BLOCKS = 2 };
    static const uint32_t shape[] = {ROWS, COLUMNS}, small[] = {BLOCKS, COLUMNS};
    static float x[COUNT], y[COUNT], scales[BLOCKS * COLUMNS];
    static uint8_t q[COUNT], zeros[BLOCKS * COLUMNS];

    for (size_t i = 1; i < FORMATS; i++) {
        const struct format *f = &formats[i];
        const WNNOperandDescriptor d = {WNNOperandDataType_Float32, 2, shape, NULL};
        WNNGraphBuilder b = builder_of(context);

        for (uint32_t k = 0; k < BLOCKS * COLUMNS; k++) {
            scales[k] = ldexpf(1, (int)random_below(5) - 2); /* quotients are exact */
            zeros[k] = k % 5 ? 0 : (uint8_t)bits_of(f, 0.5);
        }
        for (uint32_t k = 0; k < COUNT; k++)
            x[k] = (float)random_in_range(-1, 1) * ldexpf(1, (int)random_below(12));
        WNNOperand s = wnnGraphBuilderConstant(b, &(WNNOperandDescriptor){WNNOperandDataType_Float32, 2, small, NULL}, scales,
                                               sizeof scales);
        WNNOperand z = wnnGraphBuilderConstant(b, &(WNNOperandDescriptor){f->type, 2, small, NULL}, zeros, sizeof zeros);
        WNNOperand numbers = wnnGraphBuilderQuantizeLinear(b, wnnGraphBuilderInput(b, WNN_STR("x"), &d), s, z, NULL);
        OWNED(compiled) WNNGraph g =
            build(b, 2,
                  (const WNNNamedOperand[]){{WNN_STR("q"), numbers},
                                            {WNN_STR("y"), wnnGraphBuilderDequantizeLinear(b, numbers, s, z, NULL)}});
        assert_success(wnnGraphCompute(g, 1, &(WNNNamedBuffer){WNN_STR("x"), x, sizeof x}, 2,
                                       (const WNNNamedBuffer[]){{WNN_STR("q"), q, sizeof q}, {WNN_STR("y"), y, sizeof y}}));
        for (uint32_t k = 0; k < COUNT; k++) {
            const uint32_t at = k / COLUMNS / 3 * COLUMNS + k % COLUMNS;
            const double zero = value_of(f, zeros[at]);
            assert_int_equal(q[k], bits_of(f, (double)(x[k] / scales[at] + (float)zero)));
            assert_close((double)y[k], (value_of(f, q[k]) - zero) * (double)scales[at], 0);
        }
    }
}

/* Weights that a matmul reads, of one row and of many. */
TEST(weights_are_multiplied)
{
    enum { K = 256, N = 144, ROWS_MAX = 20 };
    static const uint32_t shape[] = {K, N};
    static uint16_t stored[K * N];
    static float x[ROWS_MAX * K], y[ROWS_MAX * N];

    for (size_t i = 0; i < FORMATS; i++)
        for (uint32_t rows = 1; rows <= ROWS_MAX; rows += ROWS_MAX - 1) {
            const struct format *f = &formats[i];
            const WNNOperandDescriptor d = {WNNOperandDataType_Float32, 2, (const uint32_t[]){rows, K}, NULL};
            WNNGraphBuilder b = builder_of(strict);

            for (uint32_t k = 0; k < K * N; k++) {
                const uint32_t bits = bits_of(f, random_in_range(-1, 1));
                if (f->size == 2)
                    stored[k] = (uint16_t)bits;
                else
                    ((uint8_t *)stored)[k] = (uint8_t)bits;
            }
            for (uint32_t k = 0; k < rows * K; k++)
                x[k] = (float)random_in_range(-1, 1);
            WNNOperand w = wnnGraphBuilderConstantCastLent(
                b, &(WNNOperandDescriptor){WNNOperandDataType_Float32, 2, shape, NULL}, f->type, stored,
                (size_t)f->size * K * N, (WNNBufferReleaseCallbackInfo){NULL, NULL, NULL});
            OWNED(compiled) WNNGraph g =
                build_y(b, wnnGraphBuilderMatmul(b, wnnGraphBuilderInput(b, WNN_STR("x"), &d), w, NULL));
            compute_y(g, x, rows * K * sizeof *x, y, rows * N * sizeof *y);
            for (uint32_t r = 0; r < rows; r++)
                for (uint32_t n = 0; n < N; n++) {
                    double want = 0, size = 0;
                    for (uint32_t k = 0; k < K; k++) {
                        const double product = (double)x[r * K + k] * value_of(f, bits_at(f, stored, k * N + n));
                        want += product;
                        size += fabs(product);
                    }
                    assert_close((double)y[r * N + n], want, size * (K + 1) * 0x1p-24);
                }
        }
}

static void assert_refused(WNNOperand operand, const char *message)
{
    assert_true(wnnOperandIsError(operand));
    if (!strstr(wnnGetLastErrorMessage().data, message))
        fail_msg("'%s' is not in '%s'", message, wnnGetLastErrorMessage().data);
}

TEST(contexts_without_the_option_refuse_them)
{
    const uint32_t bits = 7u << WNNOperandDataType_Bfloat16;
    WNNTensorLimits limits[WNN_TENSOR_LIMITS_MAX];
    WNNTensorDescriptor tensor = WNN_TENSOR_DESCRIPTOR_INIT;
    WNNOpSupportLimits all;
    WNNTensor made;
    size_t count;

    for (size_t i = 0; i < FORMATS; i++) {
        const WNNOperandDescriptor d = {formats[i].type, 1, (const uint32_t[]){3}, NULL};
        OWNED(builder) WNNGraphBuilder b = builder_of(strict), free = builder_of(context);
        char message[100];

        assert_string_equal(wnnOperandDataTypeGetName(formats[i].type), formats[i].name);
        assert_int_equal(wnnOperandDataTypeGetByteSize(formats[i].type), formats[i].size);
        snprintf(message, sizeof message, "%s is a data type of the draft; create the context with draftDataTypes",
                 formats[i].name);
        assert_refused(wnnGraphBuilderInput(b, WNN_STR("x"), &d), message);
        assert_refused(wnnGraphBuilderConstant(b, &d, "abcdef", 3 * (size_t)formats[i].size), message);
        assert_refused(wnnGraphBuilderConstantScalar(b, formats[i].type, wnnNumber(1)), message);
        WNNOperand x =
            wnnGraphBuilderInput(b, WNN_STR("f"), &(WNNOperandDescriptor){WNNOperandDataType_Float32, 0, NULL, NULL});
        assert_refused(wnnGraphBuilderCast(b, x, formats[i].type, NULL), formats[i].name);
        tensor.dataType = formats[i].type;
        assert_int_equal(wnnContextCreateTensor(strict, &tensor, &made), WNNStatus_TypeError);
        assert_success(wnnContextCreateTensor(context, &tensor, &made));
        wnnTensorRelease(made);
        /* What computes takes none of them. */
        WNNOperand y = wnnGraphBuilderInput(free, WNN_STR("x"), &d);
        assert_refused(wnnGraphBuilderAdd(free, y, y, NULL), formats[i].name);
        assert_refused(wnnGraphBuilderRelu(free, y, NULL), formats[i].name);
    }
    for (int knows = 0; knows < 2; knows++) {
        WNNContext c = knows ? context : strict;
        assert_success(wnnContextGetOpSupportLimits(c, &all));
        assert_int_equal(all.input.dataTypes & bits, knows ? bits : 0);
        assert_success(
            wnnContextGetOperatorSupportLimits(c, WNN_STR("dequantizeLinear"), WNN_TENSOR_LIMITS_MAX, limits, &count));
        assert_int_equal(limits[0].dataTypes & bits, knows ? bits & bits << 1 : 0);
        assert_int_equal(limits[1].dataTypes & bits, 0);
        assert_success(wnnContextGetOperatorSupportLimits(c, WNN_STR("gather"), WNN_TENSOR_LIMITS_MAX, limits, &count));
        assert_int_equal(limits[0].dataTypes & bits, knows ? bits : 0);
        assert_success(wnnContextGetOperatorSupportLimits(c, WNN_STR("add"), WNN_TENSOR_LIMITS_MAX, limits, &count));
        assert_int_equal(limits[0].dataTypes & bits, 0);
    }
}

static int create(__attribute__((unused)) void **state)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;

    strict = context_with(NULL);
    options.draftDataTypes = true;
    context = context_with(&options);
    return 0;
}

static int release(__attribute__((unused)) void **state)
{
    wnnContextRelease(context);
    wnnContextRelease(strict);
    return 0;
}

TEST_GROUP(create, release)
