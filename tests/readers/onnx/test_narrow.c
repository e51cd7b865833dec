/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Types that operands have not: 16-bit integers, bfloat16 and floating-point numbers of 8 bits. */
#include <float.h>
#include <math.h>

#include "readers/onnx/net.h"
#include "support/random.h"

enum { U8 = 2, U16 = 4, I16 = 5, I32 = 6, BF16 = 16, CODES = 256, MOST = 4 * CODES + 20 };

static const struct format {
    int type, exponent, mantissa, bias;
    bool infinite, one_zero;
} formats[] = {
    {17, 4, 3, 7, false, false}, {18, 4, 3, 8, false, true}, {19, 5, 2, 15, true, false}, {20, 5, 2, 16, false, true}};

static double number_of(const struct format *f, int code)
{
    const int rest = code & 127, exponent = rest >> f->mantissa, fraction = rest & ((1 << f->mantissa) - 1);
    const double x = ldexp(fraction + (exponent ? 1 << f->mantissa : 0), (exponent ? exponent : 1) - f->bias - f->mantissa);

    if (f->one_zero ? code == 128 : f->infinite ? exponent == 31 && fraction : rest == 127)
        return NAN;
    return copysign(f->infinite && exponent == 31 ? INFINITY : x, code & 128 ? -1 : 1);
}

/* Returns the nearest number, ties to even codes, by comparing x with all of them. */
static double nearest(const struct format *f, double x, bool saturate)
{
    const int last = f->one_zero ? 127 : f->infinite ? 123 : 126;
    const double top = number_of(f, last), next = 2 * top - number_of(f, last - 1), over = f->infinite ? INFINITY : NAN;
    int best = 0;

    if (isnan(x) || (isinf(x) && f->one_zero))
        return NAN;
    if (fabs(x) > (top + next) / 2 || (fabs(x) == (top + next) / 2 && last % 2))
        return copysign(saturate ? top : over, x);
    for (int code = 1; code <= last; code++) {
        const double gains = fabs(fabs(x) - number_of(f, best)) - fabs(fabs(x) - number_of(f, code));

        best = gains > 0 || (gains == 0 && code % 2 == 0) ? code : best;
    }
    return f->one_zero && !best ? 0 : copysign(number_of(f, best), x);
}

static bool same(float got, double want)
{
    const float number = (float)want;

    return memcmp(&got, &number, sizeof got) == 0 || (isnan(got) && isnan(want));
}

/* Casts numbers to a type and back, at run time (y) and while the model is read (z). */
static void cast_numbers(int type, bool saturate, size_t count, float *x, float *y, float *z)
{
    char dims[20];

    snprintf(dims, sizeof dims, "%zu", count);
    start(t, 23);
    input(t, "x", F32, dims);
    initializer(t, tensor(t, "c", F32, 1, (int64_t[]){(int64_t)count}, x, count * sizeof *x));
    for (int i = 0; i < 2; i++) {
        Onnx__NodeProto *n = node(t, "Cast", i ? "c" : "x", i ? "d" : "a");

        attribute_int(t, n, "to", type);
        attribute_int(t, n, "saturate", saturate);
    }
    nodes_in(t, &t->graph, "y = Cast a, to 1; z = Cast d, to 1");
    output(t, "y z");
    run(t, (void *[]){x}, (void *[]){y, z}, (size_t[]){count * sizeof *y, count * sizeof *z});
}

TEST(numbers_of_8_bits_are_read_and_rounded)
{
    static float x[MOST], y[MOST], z[MOST], decoded[CODES];
    static const float special[] = {INFINITY, NAN, 0, 1e30f, 1e-30f, 0x1p-149f, FLT_MAX, 0x1p64f, 0x1.8p65f, 1};
    uint8_t codes[CODES];

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct format *f = &formats[i];
        size_t count = 0;

        for (int c = 0; c < CODES; c++) {
            const float here = (float)number_of(f, c), middle = (here + (float)number_of(f, c + 1)) / 2;

            codes[c] = (uint8_t)c;
            x[count++] = here;
            x[count++] = middle;
            x[count++] = nextafterf(middle, INFINITY);
            x[count++] = nextafterf(middle, -INFINITY);
        }
        for (size_t k = 0; k < 2 * sizeof special / sizeof *special; k++)
            x[count++] = special[k / 2] * (k % 2 ? -1.0F : 1.0F);
        for (int saturate = 0; saturate < 2; saturate++) {
            cast_numbers(f->type, saturate, count, x, y, z);
            for (size_t k = 0; k < count; k++)
                if (!same(y[k], nearest(f, (double)x[k], saturate)) || !same(z[k], nearest(f, (double)x[k], saturate)))
                    fail_msg("type %d, saturate %d: %.9g is %.9g and %.9g, not %.9g", f->type, saturate, (double)x[k],
                             (double)y[k], (double)z[k], nearest(f, (double)x[k], saturate));
        }
        start(t, 23);
        initializer(t, tensor(t, "c", f->type, 1, (int64_t[]){CODES}, codes, sizeof codes));
        nodes_in(t, &t->graph, "y = Cast c, to 1");
        run(t, NULL, (void *[]){decoded}, (size_t[]){sizeof decoded});
        for (int c = 0; c < CODES; c++)
            assert_true(same(decoded[c], number_of(f, c)));
    }
}

TEST(bfloat16_is_read_and_rounded)
{
    enum { COUNT = 4096 };
    static float x[COUNT], y[COUNT], z[COUNT];
    static uint16_t high[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        uint32_t bits = random_below(UINT32_MAX);

        bits = i % 4 ? bits : (bits & ~0x7FFFU) | 0x8000; /* half way */
        memcpy(&x[i], &bits, sizeof bits);
        high[i] = (uint16_t)(bits >> 16);
    }
    cast_numbers(BF16, true, COUNT, x, y, z);
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t bits;
        float want;

        memcpy(&bits, &x[i], sizeof bits);
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000;
        memcpy(&want, &bits, sizeof bits);
        want = isnan(x[i]) ? x[i] : want;
        if (!same(y[i], (double)want) || !same(z[i], (double)want))
            fail_msg("%a is %a and %a, not %a", (double)x[i], (double)y[i], (double)z[i], (double)want);
    }
    start(t, 23);
    initializer(t, tensor(t, "c", BF16, 1, (int64_t[]){COUNT}, high, sizeof high));
    nodes_in(t, &t->graph, "y = Cast c, to 1");
    run(t, NULL, (void *[]){y}, (size_t[]){sizeof y});
    for (size_t i = 0; i < COUNT; i++) {
        const uint32_t bits = (uint32_t)high[i] << 16;

        memcpy(&x[i], &bits, sizeof bits);
        assert_true(same(y[i], (double)x[i]));
    }
}

/* Quantises to 16 bits and back, along axis 1. */
TEST(quantisation_to_16_bits_saturates)
{
    enum { ROWS = 200, COLUMNS = 3, COUNT = ROWS * COLUMNS };
    static const int16_t zeros[COLUMNS] = {0, -32768, 300}; /* and 0, 32768, 300 */
    static float x[COUNT], z[COUNT], scales[COLUMNS] = {0.01F, 0.5F, 3};
    static int32_t y[COUNT];

    random_fill(x, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = i < 4 ? (i % 2 ? INFINITY : -INFINITY) : x[i] * (i % 2 ? 200000.0F : 500.0F);
    for (int type = U16; type <= I16; type++)
        for (int domain = 0; domain < 2; domain++) {
            start(t, 21);
            input(t, "x", F32, "200 3");
            initializer(t, tensor(t, "s", F32, 1, (int64_t[]){COLUMNS}, scales, sizeof scales));
            initializer(t, tensor(t, "o", type, 1, (int64_t[]){COLUMNS}, zeros, sizeof zeros));
            (domain ? microsoft : node)(t, "QuantizeLinear", "x s o", "y");
            (domain ? microsoft : node)(t, "DequantizeLinear", "y s o", "z");
            output(t, "y z");
            run(t, (void *[]){x}, (void *[]){y, z}, (size_t[]){sizeof y, sizeof z});
            for (size_t i = 0; i < COUNT; i++) {
                const int zero = type == U16 ? (uint16_t)zeros[i % COLUMNS] : zeros[i % COLUMNS];
                const double low = type == U16 ? 0 : INT16_MIN, high = type == U16 ? UINT16_MAX : INT16_MAX;
                const double want = fmin(fmax(rint((double)(x[i] / scales[i % COLUMNS])) + zero, low), high);

                assert_int_equal(y[i], (int)want);
                assert_true(same(z[i], (double)((float)(y[i] - zero) * scales[i % COLUMNS])));
            }
        }
}

/* Sums of 16 bits and casts of integers keep the low bits, casts of numbers saturate. */
TEST(integers_of_16_bits_wrap)
{
    enum { COUNT = 6 };
    static const int16_t some[COUNT] = {1, -1, 32767, -32768, 300, -20000};
    static int32_t x[COUNT] = {1, 65536 + 7, 32767, -32768, 40000, -20000}, y[COUNT], sums[COUNT], z[COUNT];
    static float f[COUNT] = {1e9F, -1e9F, 3.7F, -3.7F, 65535, NAN};

    for (int type = U16; type <= I16; type++) {
        start(t, 17);
        input(t, "x", I32, "6");
        input(t, "f", F32, "6");
        initializer(t, tensor(t, "c", type, 1, (int64_t[]){COUNT}, some, sizeof some));
        nodes_in(t, &t->graph,
                 type == U16 ? "y = Cast x, to 4; sum = Add y c; z = Cast f, to 4"
                             : "y = Cast x, to 5; sum = Add y c; z = Cast f, to 5");
        output(t, "y sum z");
        run(t, (void *[]){x, f}, (void *[]){y, sums, z}, (size_t[]){sizeof y, sizeof sums, sizeof z});
        for (size_t i = 0; i < COUNT; i++) {
            const int32_t sum = x[i] + (type == U16 ? (uint16_t)some[i] : some[i]);
            const float low = type == U16 ? 0 : INT16_MIN, high = type == U16 ? UINT16_MAX : INT16_MAX;

            assert_int_equal(y[i], type == U16 ? (uint16_t)x[i] : (int16_t)x[i]);
            assert_int_equal(sums[i], type == U16 ? (uint16_t)sum : (int16_t)sum);
            assert_int_equal(z[i], isnan(f[i]) ? 0 : (int)fminf(fmaxf(f[i], low), high));
        }
    }
}

/* Weights of 8 bits with a scale for each block, rows that are quantised to them. */
TEST(numbers_of_8_bits_have_scales)
{
    enum { ROWS = 3, COLUMNS = 8, BLOCKS = 2, COUNT = ROWS * COLUMNS };
    static float scales[ROWS * BLOCKS] = {0.5F, 2, 1, 3, 0.25F, 7}, y[COUNT], z[COUNT], x[COUNT];
    uint8_t codes[COUNT];

    for (int i = 0; i < COUNT; i++)
        codes[i] = (uint8_t)(i * 10);
    random_fill(x, COUNT);
    start(t, 21);
    input(t, "x", F32, "3 8");
    initializer(t, tensor(t, "c", 17, 2, (int64_t[]){ROWS, COLUMNS}, codes, sizeof codes));
    initializer(t, tensor(t, "s", F32, 2, (int64_t[]){ROWS, BLOCKS}, scales, sizeof scales));
    Onnx__NodeProto *n = node(t, "QuantizeLinear", "x s", "q"), *m = node(t, "DequantizeLinear", "c s", "y");
    attribute_int(t, n, "block_size", COLUMNS / BLOCKS);
    attribute_int(t, n, "output_dtype", 17);
    attribute_int(t, m, "block_size", COLUMNS / BLOCKS);
    nodes_in(t, &t->graph, "z = Cast q, to 1");
    output(t, "y z");
    run(t, (void *[]){x}, (void *[]){y, z}, (size_t[]){sizeof y, sizeof z});
    for (size_t i = 0; i < COUNT; i++) {
        const float scale = scales[i / (COLUMNS / BLOCKS)];

        assert_true(same(y[i], number_of(&formats[0], codes[i]) * (double)scale));
        assert_true(same(z[i], nearest(&formats[0], (double)(x[i] / scale), true)));
    }
}

TEST_GROUP(create_context, release_context)
