/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Dividing by a scale that is the same for all elements, rounding to whole numbers and making bytes, at every instruction set:
 * quotients that are ties or next to ones, scales that are too large or too small to multiply by what they divide by.
 */
#include "codegen/kernels.h"
#include "support/kernel_text.h"

#include <float.h>

enum {
    TIES = 300,                 /* on both sides of 0; bytes and zero points do not reach further */
    NEAR = 5,                   /* numbers around each tie */
    NASTY = 61,                 /* others */
    N = 2 * TIES * NEAR + NASTY /* it is no multiple of vectors' lanes */
};

enum zero_point { IN_MEMORY, CONSTANT, NONE };

static void fill_quotients(float *x, float scale)
{
    for (int i = 0; i < 2 * TIES; i++) {
        const float tie = ((float)(i - TIES) + 0.5f) * scale;

        x[NEAR * i] = tie;
        x[NEAR * i + 1] = nextafterf(tie, INFINITY);
        x[NEAR * i + 2] = nextafterf(tie, -INFINITY);
        x[NEAR * i + 3] = nextafterf(x[NEAR * i + 1], INFINITY);
        x[NEAR * i + 4] = nextafterf(x[NEAR * i + 2], -INFINITY);
    }
    fill_nasty(WNNOperandDataType_Float32, x + NEAR * 2 * TIES, NASTY);
}

static void check_quantised(dtype to, float scale, float zero, enum zero_point kind)
{
    float *x = buffer_create(N * sizeof *x), *s = buffer_create(sizeof *s);
    uint8_t *z = buffer_create(1), *y = buffer_create(N);
    void *tensors[4] = {x, s, z, y};

    fill_quotients(x, scale);
    *s = scale;
    *z = (uint8_t)(int)zero;
    check_kernel(kernel_of("kernel quantise { parallel i < $n tensor x: f32[], scale: f32[1], zero: $T[1], y: $T[] written"
                           "  q = round_even(div(x[i], scale[0])) store y[i] = $T($q) }",
                           "n=%d T=%s q=%s zero=%.9g", N, dtype_name(to),
                           kind == NONE       ? "q"
                           : kind == CONSTANT ? "add(q,$zero)"
                                              : "add(q,f32(zero[0]))",
                           (double)zero),
                 tensors, exact);
    if (kind != IN_MEMORY) { /* vector by vector, as tiles of sums have them, perhaps clamped then */
        float ones[] = {1, 0, 1, 0, 1, 0}, *b = buffer_create(2 * N * sizeof *b);
        uint8_t *bytes = buffer_create(3 * N);
        void *of_tile[] = {ones, b, bytes};

        memcpy(b, x, N * sizeof *b);
        memset(b + N, 0, N * sizeof *b);
        for (int clamped = 0; clamped < 2; clamped++)
            check_kernel(kernel_of("kernel tile { parallel i < 3, j < $n reduced r < 2"
                                   "  tensor a: f32[6], b: f32[], y: $T[] written"
                                   "  x = reduce.dot(a[2*i + r], b[$n*r + j])"
                                   "  q = $T(add(round_even(div(x, $scale)), $zero)) store y[$n*i + j] = $q }",
                                   "n=%d T=%s q=%s scale=%.9g zero=%.9g", N, dtype_name(to),
                                   clamped ? "min(max(q,$T(5)),$T(100))" : "q", (double)scale, (double)zero),
                         of_tile, exact);
        buffer_free(b);
        buffer_free(bytes);
    }
    for (int i = 0; i < 4; i++)
        buffer_free(tensors[i]);
}

TEST(quotients_are_those_of_a_division)
{
    static const float nasty[] = {
        1,        3,       0x1p-64f, 0x1p64f, 0x1.fffffep-65f, 0x1.000002p64f, 0x1.fffffep63f, 0x1p-140f,     0x1p100f,
        0x1p127f, FLT_MIN, FLT_MAX,  0,       -0.0f,           -0.25f,         INFINITY,       0x1.fffffep0f, NAN};

    for (size_t i = 0; i < sizeof nasty / sizeof *nasty; i++) {
        check_quantised(WNNOperandDataType_Uint8, nasty[i], 3, IN_MEMORY);
        check_quantised(WNNOperandDataType_Int8, nasty[i], -5, IN_MEMORY);
    }
    for (int i = 0; i < 100; i++) {
        const float scale = ldexpf(1 + (float)(random_bits() & 0x7FFFFF) * 0x1p-23f, (int)(random_bits() % 24) - 12);

        check_quantised(WNNOperandDataType_Uint8, scale, (float)(random_bits() & 255), IN_MEMORY);
        check_quantised(WNNOperandDataType_Int8, scale, (float)(random_bits() & 255) - 128, IN_MEMORY);
    }
}

TEST(zero_points_may_be_constants_or_missing)
{
    static const struct {
        dtype to;
        float zero;
    } cases[] = {{WNNOperandDataType_Uint8, 0},
                 {WNNOperandDataType_Uint8, 255},
                 {WNNOperandDataType_Int8, -128},
                 {WNNOperandDataType_Int8, 127}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_quantised(cases[i].to, 0.37f, cases[i].zero, IN_MEMORY);
        check_quantised(cases[i].to, 0.37f, cases[i].zero, CONSTANT);
    }
    check_quantised(WNNOperandDataType_Uint8, 0.37f, 0, NONE);
    check_quantised(WNNOperandDataType_Int8, 0.37f, 0, NONE);
    /* This is no zero point: the addend decides which bits are cut off. */
    check_quantised(WNNOperandDataType_Uint8, 0.37f, 0.5f, CONSTANT);
    check_quantised(WNNOperandDataType_Int8, 0.37f, -100000, CONSTANT);
}

TEST_GROUP(NULL, machines_free)
