/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* float16 against its definition, and the specification's cast of numbers. */
#include "support/graphs.h"

#include <math.h>

/* Returns the value of a finite float16, from the definition of the format. */
static double f16_value(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 1023;
    double magnitude = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);

    return h & 0x8000 ? -magnitude : magnitude;
}

static bool is_f16_nan(uint16_t h)
{
    return (h & 0x7C00) == 0x7C00 && (h & 0x3FF);
}

/* Of a float32, to nearest even; subnormal ones are zeros. */
TEST(bfloat16_is_the_upper_half)
{
    for (uint32_t h = 0; h < 65536; h++) {
        uint32_t bits = h << 16;
        bool tiny = !(h & 0x7F80), nan = (h & 0x7F80) == 0x7F80 && (h & 0x7F), largest = (h & 0x7FFF) == 0x7F7F;
        float f = bf16_to_f32((uint16_t)h);

        assert_memory_equal(&f, &bits, 4);
        assert_int_equal(f64_to_bf16((double)f), tiny ? h & 0x8000 : nan ? h | 0x40 : h);
        if (tiny || (h & 0x7F80) == 0x7F80)
            continue;
        double next = largest ? copysign(0x1p128, f) : (double)bf16_to_f32((uint16_t)(h + 1)), middle = (f + next) / 2;
        assert_int_equal(f64_to_bf16(middle), h + (h & 1));
        assert_int_equal(f64_to_bf16(nextafter(middle, 0)), h);
        assert_int_equal(f64_to_bf16(nextafter(middle, next)), h + 1);
        assert_true(f32_round(nextafterf((float)middle, 0), DTYPE_BFLOAT16) == f);
    }
}

TEST(every_float16_converts_both_ways)
{
    for (uint32_t h = 0; h < 65536; h++) {
        float f = f16_to_f32((uint16_t)h);
        if (is_f16_nan((uint16_t)h)) {
            assert_true(isnan(f));
            assert_true(is_f16_nan(f32_to_f16(f)));
            assert_int_equal(f32_to_f16(f), h | 0x200); /* sign and payload stay, signalling ones become quiet */
            continue;
        }
        if ((h & 0x7C00) == 0x7C00) {
            assert_true(isinf(f) && !signbit(f) == !(h & 0x8000));
        } else {
            assert_true((double)f == f16_value((uint16_t)h));
            assert_int_equal(!signbit(f), !(h & 0x8000));
        }
        assert_int_equal(f32_to_f16(f), h);
        assert_int_equal(f64_to_f16((double)f), h);
    }
}

/* Around every midpoint between neighbours: a tie goes to the even one, and the numbers next to a tie to the nearer one. */
TEST(float16_rounds_to_nearest_even)
{
    for (uint32_t h = 0; h < 0x7C00; h++) {
        double low = f16_value((uint16_t)h), high = h + 1 == 0x7C00 ? 65536 : f16_value((uint16_t)(h + 1));
        double middle = (low + high) / 2; /* exact */
        uint16_t even = (uint16_t)(h & 1 ? h + 1 : h);

        for (int sign = 0; sign < 2; sign++) {
            double s = sign ? -1 : 1;
            uint16_t bit = sign ? 0x8000 : 0;
            assert_int_equal(f64_to_f16(s * middle), even | bit);
            assert_int_equal(f64_to_f16(s * nextafter(middle, 0)), h | bit);
            assert_int_equal(f64_to_f16(s * nextafter(middle, 1e6)), (h + 1) | bit);
            assert_int_equal(f32_to_f16((float)(s * middle)), even | bit); /* midpoints are exact in float32 */
            assert_int_equal(f32_to_f16(nextafterf((float)(s * middle), 0)), h | bit);
        }
    }
    /* Through float32 this would be rounded twice: to the midpoint first, then to even. */
    assert_int_equal(f64_to_f16(1 + ldexp(1, -11) + ldexp(1, -40)), 0x3C01);
    assert_int_equal(f64_to_f16(ldexp(1, -25)), 0);
    assert_int_equal(f64_to_f16(ldexp(1, -25) * (1 + 0x1p-52)), 1);
    assert_int_equal(f64_to_f16(5e-324), 0);
    assert_int_equal(f64_to_f16(-5e-324), 0x8000);
    assert_int_equal(f64_to_f16(1e300), 0x7C00);
    assert_int_equal(f64_to_f16(-INFINITY), 0xFC00);
    assert_true(is_f16_nan(f64_to_f16(NAN)));
}

static void check_int(WNNNumber n, dtype t, int64_t want, int line)
{
    union scalar s = number_cast(n, t);
    int64_t have = t == WNNOperandDataType_Int64    ? s.i64
                   : t == WNNOperandDataType_Int32  ? s.i32
                   : t == WNNOperandDataType_Uint32 ? (int64_t)s.u32
                   : t == WNNOperandDataType_Int8   ? s.i8
                   : t == WNNOperandDataType_Uint8  ? s.u8
                                                    : (int64_t)s.u64;

    if (have != want)
        fail_msg("line %d: %lld instead of %lld", line, (long long)have, (long long)want);
}
#define CHECK_INT(n, t, want) check_int((n), WNNOperandDataType_##t, (want), __LINE__)

TEST(numbers_are_cast_to_integers)
{
    CHECK_INT(wnnNumber(2.5), Int32, 2);
    CHECK_INT(wnnNumber(3.5), Int32, 4);
    CHECK_INT(wnnNumber(-2.5), Int32, -2);
    CHECK_INT(wnnNumber(-3.5), Int8, -4);
    CHECK_INT(wnnNumber(2.5000001), Uint8, 3);
    CHECK_INT(wnnNumber(0.49999999999999994), Int64, 0); /* adding a half would round up */
    CHECK_INT(wnnNumber(-0.5), Int32, 0);
    CHECK_INT(wnnNumber(-0.0), Int64, 0);
    CHECK_INT(wnnNumber(NAN), Int32, 0);
    CHECK_INT(wnnNumber(NAN), Uint64, 0);
    CHECK_INT(wnnNumber(INFINITY), Int32, INT32_MAX);
    CHECK_INT(wnnNumber(-INFINITY), Int32, INT32_MIN);
    CHECK_INT(wnnNumber(-INFINITY), Uint32, 0);
    CHECK_INT(wnnNumber(3e9), Int32, INT32_MAX);
    CHECK_INT(wnnNumber(-3e9), Int32, INT32_MIN);
    CHECK_INT(wnnNumber(4294967295.0), Uint32, 4294967295); /* unsigned, whatever the text of the specification says */
    CHECK_INT(wnnNumber(4294967295.5), Uint32, 4294967295);
    CHECK_INT(wnnNumber(3e9), Uint32, 3000000000);
    CHECK_INT(wnnNumber(-1), Uint32, 0);
    CHECK_INT(wnnNumber(127.5), Int8, 127);
    CHECK_INT(wnnNumber(-128.5), Int8, -128);
    CHECK_INT(wnnNumber(255.5), Uint8, 255);
    CHECK_INT(wnnNumber(254.5), Uint8, 254);
    CHECK_INT(wnnNumber(0x1p63), Int64, INT64_MAX);
    CHECK_INT(wnnNumber(-0x1p63), Int64, INT64_MIN);
    CHECK_INT(wnnNumber(-1e300), Int64, INT64_MIN);
    CHECK_INT(wnnNumber(0x1p63), Uint64, INT64_MIN); /* as bits: 2^63 */
    CHECK_INT(wnnNumber(0x1p64), Uint64, -1);
    CHECK_INT(wnnNumber(-1e300), Uint64, 0);
    /* 64-bit integers keep every digit */
    CHECK_INT(wnnNumberInt64(9007199254740993), Int64, 9007199254740993);
    CHECK_INT(wnnNumberInt64(INT64_MIN), Int64, INT64_MIN);
    CHECK_INT(wnnNumberUint64(UINT64_MAX), Uint64, -1);
    CHECK_INT(wnnNumberUint64(UINT64_MAX), Int64, INT64_MAX);
    CHECK_INT(wnnNumberInt64(-1), Uint64, 0);
    CHECK_INT(wnnNumberInt64(-1), Uint32, 0);
    CHECK_INT(wnnNumberInt64(1ll << 40), Int32, INT32_MAX);
    CHECK_INT(wnnNumberUint64(1ull << 40), Uint32, 4294967295);
    CHECK_INT(wnnNumberInt64(-1000), Int8, -128);
    CHECK_INT(wnnNumberUint64(300), Uint8, 255);
}

TEST(numbers_are_cast_to_floats)
{
    assert_true(number_cast(wnnNumber(0.1), WNNOperandDataType_Float32).f32 == 0.1f);
    assert_true(signbit(number_cast(wnnNumber(-0.0), WNNOperandDataType_Float32).f32));
    assert_true(signbit(number_cast(wnnNumber(-1e-300), WNNOperandDataType_Float32).f32));
    assert_true(isnan(number_cast(wnnNumber(NAN), WNNOperandDataType_Float32).f32));
    assert_true(isinf(number_cast(wnnNumber(1e39), WNNOperandDataType_Float32).f32));
    /* half of a unit above the largest float is the first to round to infinity */
    assert_true(isinf(number_cast(wnnNumber(0x1.ffffffp127), WNNOperandDataType_Float32).f32));
    assert_true(number_cast(wnnNumber(0x1.fffffefffffffp127), WNNOperandDataType_Float32).f32 == 0x1.fffffep127f);
    /* one rounding: as a double first, these would be ties */
    assert_true(number_cast(wnnNumberInt64((1ll << 60) + (1ll << 36) + 1), WNNOperandDataType_Float32).f32 == 0x1.000002p60f);
    assert_true(number_cast(wnnNumberUint64((1ull << 63) + (1ull << 39) + 1), WNNOperandDataType_Float32).f32 ==
                0x1.000002p63f);
    assert_true(number_cast(wnnNumberUint64(UINT64_MAX), WNNOperandDataType_Float32).f32 == 0x1p64f);

    assert_int_equal(number_cast(wnnNumber(65519.99), WNNOperandDataType_Float16).f16, 0x7BFF);
    assert_int_equal(number_cast(wnnNumber(65520), WNNOperandDataType_Float16).f16, 0x7C00);
    assert_int_equal(number_cast(wnnNumberInt64(65519), WNNOperandDataType_Float16).f16, 0x7BFF);
    assert_int_equal(number_cast(wnnNumberInt64(65520), WNNOperandDataType_Float16).f16, 0x7C00);
    assert_int_equal(number_cast(wnnNumberInt64(INT64_MIN), WNNOperandDataType_Float16).f16, 0xFC00);
    assert_int_equal(number_cast(wnnNumberUint64(UINT64_MAX), WNNOperandDataType_Float16).f16, 0x7C00);
    assert_int_equal(number_cast(wnnNumber(6e-8), WNNOperandDataType_Float16).f16, 1);
    assert_int_equal(number_cast(wnnNumber(-0.0), WNNOperandDataType_Float16).f16, 0x8000);
}

TEST(scalars_become_doubles)
{
    assert_true(scalar_to_double((union scalar){.f16 = 0x8001}, WNNOperandDataType_Float16) == -0x1p-24);
    assert_true(scalar_to_double((union scalar){.i8 = -3}, WNNOperandDataType_Int8) == -3);
    assert_true(scalar_to_double((union scalar){.u32 = UINT32_MAX}, WNNOperandDataType_Uint32) == 4294967295.0);
    assert_true(scalar_to_double((union scalar){.u64 = UINT64_MAX}, WNNOperandDataType_Uint64) == 0x1p64);
    assert_true(scalar_to_double((union scalar){.i64 = INT64_MIN}, WNNOperandDataType_Int64) == -0x1p63);
    assert_true(number_to_double(wnnNumberUint64(UINT64_MAX)) == 0x1p64);
    assert_true(isnan(number_to_double(WNN_NUMBER_INIT)));
}
