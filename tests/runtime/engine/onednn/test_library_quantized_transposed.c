/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Transposed convolutions of dequantized integers: random ones, of windows that the library gets right and others. */
#include "runtime/engine/onednn/quantized_support.h"

/**
 * Draws a transposed convolution.  It is taken unless its source is signed or has a scale that is known at run time only, there
 * are few channels in a group, or its windows are such that the library gets some wrong.
 */
static void transposed_case(uint32_t *taken)
{
    const bool is_signed = random_chance(20), late_scale = random_chance(10), late_zero = random_chance(30);
    const uint32_t groups = random_chance(60) ? 1 : random_between(2, 4), in = random_chance(10) ? 7 : 8 * random_between(1, 6);
    const uint32_t out = random_between(1, 40), size[2] = {random_between(1, 9), random_between(1, 9)};
    const int zero = random_chance(40) ? 0 : (is_signed ? -128 : 0) + (int)random_between(0, 255);
    uint32_t kernel[2], strides[2], dilations[2], padding[4], beyond[2], total = out * groups;
    bool covers = true;
    WNNConvTranspose2dOptions o = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
    struct value *x, *w;

    for (int i = 0; i < 2; i++) {
        kernel[i] = random_between(1, 5);
        strides[i] = random_between(1, 3);
        dilations[i] = random_chance(90) ? 1 : 2;
        for (int k = 0; k < 2; k++)
            padding[2 * i + k] = size[i] > 4 && random_chance(50) ? random_between(0, kernel[i] - 1) : 0;
        beyond[i] = random_chance(15) ? random_between(0, strides[i] - 1) : 0;
        covers &= kernel[i] >= strides[i] && dilations[i] == 1 && beyond[i] <= padding[2 * i + 1];
    }
    o.padding = padding, o.paddingCount = 4;
    o.strides = strides, o.stridesCount = 2;
    o.dilations = dilations, o.dilationsCount = 2;
    o.outputPadding = beyond, o.outputPaddingCount = 2;
    o.groups = groups;
    o.inputLayout = WNNInputOperandLayout_Nhwc;
    o.filterLayout =
        random_chance(50) ? WNNConvTranspose2dFilterOperandLayout_Iohw : WNNConvTranspose2dFilterOperandLayout_Ohwi;
    const bool first = o.filterLayout == WNNConvTranspose2dFilterOperandLayout_Iohw;
    const uint32_t iohw[] = {in * groups, out, kernel[0], kernel[1]}, ohwi[] = {out, kernel[0], kernel[1], in * groups};

    SCOPED(subject_end) struct subject s = subject_begin();
    x = bytes(&s, false, is_signed, 4, (uint32_t[]){random_between(1, 2), size[0], size[1], in * groups});
    x = apply(&s, OP_DEQUANTIZE_LINEAR, NULL, x, typed(&s, !late_scale, WNNOperandDataType_Float32, 0.001, 0.01, 4, ones),
              zero_point(&s, !late_zero, is_signed, zero, 4));
    w = weights(&s, 4, first ? iohw : ohwi, first ? 1 : 0);
    epilogue(&s, apply(&s, OP_CONV_TRANSPOSE2D, &o, x, w,
                       random_chance(60) ? typed(&s, true, WNNOperandDataType_Float32, -5, 5, 1, &total) : NULL));
    const bool is_taken = check(&s);
    if (is_taken != (library_has_exact_integers(library) && !is_signed && !late_scale && in >= 8 && covers))
        fail_with_graph(&s, is_taken ? "taken" : "declined");
    *taken += is_taken;
}

/*
 * A single pixel by windows of one: where a residual follows, oneDNN 2.6 has no implementation with instructions for sums of
 * four products, and another one saturates sums of two to 16 bits.
 */
TEST(products_of_single_pixels_do_not_saturate)
{
    enum { IN = 48, OUT = 32 };

    for (int residual = 0; residual < 2; residual++) {
        WNNConvTranspose2dOptions o = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
        const uint32_t total = OUT;
        struct value *x, *w, *y;

        o.inputLayout = WNNInputOperandLayout_Nhwc;
        SCOPED(subject_end) struct subject s = subject_begin();
        x = typed(&s, false, WNNOperandDataType_Uint8, 250, 255, 4, (uint32_t[]){1, 1, 1, IN});
        x = apply(&s, OP_DEQUANTIZE_LINEAR, NULL, x, typed(&s, true, WNNOperandDataType_Float32, 0.01, 0.01, 4, ones),
                  zero_point(&s, true, false, 0, 4));
        w = typed(&s, true, WNNOperandDataType_Int8, 120, 127, 4, (uint32_t[]){IN, OUT, 1, 1});
        w = apply(&s, OP_DEQUANTIZE_LINEAR, NULL, w, typed(&s, true, WNNOperandDataType_Float32, 0.01, 0.01, 4, ones),
                  zero_point(&s, true, true, 0, 4));
        y = apply(&s, OP_CONV_TRANSPOSE2D, &o, x, w, typed(&s, true, WNNOperandDataType_Float32, -5, 5, 1, &total));
        if (residual)
            apply(&s, OP_ADD, NULL, y, typed(&s, false, WNNOperandDataType_Float32, -20, 20, 4, (uint32_t[]){1, 1, 1, OUT}),
                  NULL);
        assert_int_equal(check(&s), library_has_exact_integers(library));
    }
}

TEST(transposed_convolutions_are_computed)
{
    uint32_t taken = 0, all = 300;

    for (uint32_t i = 0; i < all; i++)
        transposed_case(&taken);
    printf("convTranspose2d: %u of %u taken\n", taken, all);
    assert_true(!library_has_exact_integers(library) || taken * 5 > all);
    cases_whole = 0;
}

int main(int argc, char **argv)
{
    return main_quantized(argc, argv);
}
