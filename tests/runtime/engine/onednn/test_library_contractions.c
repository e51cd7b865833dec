/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Convolutions, transposed convolutions and matmuls of random shapes, layouts and options, constant and run-time
 * weights: what the library takes must be what the interpreter computes.  What it must take is counted.
 */
#include "runtime/engine/onednn/library_support.h"

static struct value *image(struct subject *s, bool nhwc, uint32_t n, uint32_t c, uint32_t h, uint32_t w)
{
    return nhwc ? OPERAND(s, false, n, h, w, c) : OPERAND(s, false, n, c, h, w);
}

/** Returns a number of channels per group: odd ones, and multiples of the vector widths. */
static uint32_t random_channels(void)
{
    static const uint32_t some[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 32, 33, 48, 64};

    return some[random_bits() % (sizeof some / sizeof *some)];
}

static bool conv_case(bool nhwc, WNNConv2dFilterOperandLayout layout, bool depthwise, bool constant)
{
    uint32_t groups = depthwise ? random_between(2, 70) : random_chance(70) ? 1 : random_between(2, 4);
    uint32_t in = depthwise ? 1 : random_channels(), out = depthwise && random_chance(80) ? 1
                                                           : depthwise                    ? 2
                                                                                          : random_channels();
    uint32_t kernel[2] = {random_between(1, 5), random_between(1, 5)};
    uint32_t padding[4], strides[2], dilations[2], size[2];
    WNNConv2dOptions o = WNN_CONV2D_OPTIONS_INIT;
    struct value *filter;

    if (random_chance(30))
        kernel[0] = kernel[1] = 1;
    for (int i = 0; i < 2; i++) {
        strides[i] = random_chance(60) ? 1 : random_between(2, 3);
        dilations[i] = random_chance(70) ? 1 : random_between(2, 3);
        uint32_t extent = (kernel[i] - 1) * dilations[i] + 1;
        for (int k = 0; k < 2; k++)
            padding[2 * i + k] = random_chance(50) ? (kernel[i] - 1) / 2 : random_between(0, 5);
        size[i] = random_between(1, 18);
        if (size[i] + padding[2 * i] + padding[2 * i + 1] < extent)
            size[i] = extent;
    }
    if (random_chance(15)) /* a 1-D convolution, of width 1 */
        kernel[1] = size[1] = 1, padding[2] = padding[3] = 0;
    o.padding = padding, o.paddingCount = 4;
    o.strides = strides, o.stridesCount = 2;
    o.dilations = dilations, o.dilationsCount = 2;
    o.groups = groups;
    o.inputLayout = nhwc ? WNNInputOperandLayout_Nhwc : WNNInputOperandLayout_Nchw;
    o.filterLayout = layout;
    SCOPED(subject_end) struct subject s = subject_begin();
    uint32_t total = out * groups;
    switch ((int)layout) {
    case WNNConv2dFilterOperandLayout_Oihw:
        filter = OPERAND(&s, constant, total, in, kernel[0], kernel[1]);
        break;
    case WNNConv2dFilterOperandLayout_Hwio:
        filter = OPERAND(&s, constant, kernel[0], kernel[1], in, total);
        break;
    case WNNConv2dFilterOperandLayout_Ohwi:
        filter = OPERAND(&s, constant, total, kernel[0], kernel[1], in);
        break;
    default:
        filter = OPERAND(&s, constant, in, kernel[0], kernel[1], total);
        break;
    }
    struct value *x = image(&s, nhwc, random_between(1, 3), in * groups, size[0], size[1]);
    struct value *bias = random_chance(50) ? OPERAND(&s, random_chance(50), total) : NULL;
    apply(&s, OP_CONV2D, &o, x, filter, bias);
    bool taken = subject_check(&s);
    return taken;
}

/** The library is given a 1-D convolution as one row, whichever dimension has the length in the graph. */
TEST(conv_1d_is_one_row)
{
    for (int nhwc = 0; nhwc < 2; nhwc++) {
        WNNConv2dOptions o = WNN_CONV2D_OPTIONS_INIT;
        uint32_t strides[] = {2, 3}, dilations[] = {3, 1}, padding[] = {4, 1, 0, 0};
        struct dnn_cluster c;

        o.strides = strides, o.stridesCount = 2;
        o.dilations = dilations, o.dilationsCount = 2;
        o.padding = padding, o.paddingCount = 4;
        o.inputLayout = nhwc ? WNNInputOperandLayout_Nhwc : WNNInputOperandLayout_Nchw;
        SCOPED(subject_end) struct subject s = subject_begin();
        apply(&s, OP_CONV2D, &o, image(&s, nhwc, 1, 16, 50, 1), OPERAND(&s, true, 32, 16, 5, 1), NULL);
        assert_true(dnn_describe(&library->machine, s.nodes, s.count, NULL, &c));
        assert_int_equal(c.problem.src.dims[2], 1);
        assert_int_equal(c.problem.src.dims[3], 50);
        assert_int_equal(c.problem.weights.dims[3], 5);
        assert_int_equal(c.problem.dst.dims[3], 22);
        assert_int_equal(c.problem.strides[1], 2);
        assert_int_equal(c.problem.dilations[1], 2);
        assert_int_equal(c.problem.low[1], 4);
        assert_int_equal(c.problem.high[1], 1);
        assert_int_equal(c.problem.src.strides[2], nhwc ? 50 * 16 : 50);
        assert_true(subject_check(&s));
    }
}

TEST(conv2d_of_every_layout_is_computed)
{
    static const WNNConv2dFilterOperandLayout layouts[] = {WNNConv2dFilterOperandLayout_Oihw, WNNConv2dFilterOperandLayout_Hwio,
                                                           WNNConv2dFilterOperandLayout_Ohwi,
                                                           WNNConv2dFilterOperandLayout_Ihwo};
    uint32_t taken = 0, all = 0;

    for (uint32_t round = 0; round < 12; round++)
        for (uint32_t i = 0; i < 4 * 2 * 2 * 2; i++, all++)
            taken += conv_case(i & 1, layouts[i >> 1 & 3], i >> 3 & 1, i >> 4);
    printf("conv2d: %u of %u taken\n", taken, all);
    assert_int_equal(taken, all);
}

static bool conv_transpose_case(bool nhwc, WNNConvTranspose2dFilterOperandLayout layout, bool constant)
{
    uint32_t groups = random_chance(60) ? 1 : random_between(2, 4);
    uint32_t in = random_channels(), out = random_channels();
    uint32_t kernel[2], padding[4], strides[2], dilations[2], size[2], extra[2], sizes[2];
    WNNConvTranspose2dOptions o = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
    struct value *filter;

    for (int i = 0; i < 2; i++) {
        uint32_t extent, full;

        kernel[i] = random_between(1, 5);
        strides[i] = random_between(1, 3);
        dilations[i] = random_chance(70) ? 1 : random_between(2, 3);
        size[i] = random_between(1, 9);
        extra[i] = random_between(0, strides[i] - 1);
        extent = (kernel[i] - 1) * dilations[i] + 1;
        full = (size[i] - 1) * strides[i] + extent;
        padding[2 * i] = random_between(0, 2);
        padding[2 * i + 1] = random_between(0, 2);
        if (full <= padding[2 * i] + padding[2 * i + 1])
            padding[2 * i] = padding[2 * i + 1] = 0;
        sizes[i] = full - padding[2 * i] - padding[2 * i + 1] + extra[i];
    }
    if (random_chance(15)) /* a 1-D convolution, of width 1 */
        kernel[1] = size[1] = sizes[1] = 1, padding[2] = padding[3] = extra[1] = 0;
    o.padding = padding, o.paddingCount = 4;
    o.strides = strides, o.stridesCount = 2;
    o.dilations = dilations, o.dilationsCount = 2;
    if (random_chance(50))
        o.outputPadding = extra, o.outputPaddingCount = 2;
    else if (random_chance(70))
        o.outputSizes = sizes, o.outputSizesCount = 2;
    o.groups = groups;
    o.inputLayout = nhwc ? WNNInputOperandLayout_Nhwc : WNNInputOperandLayout_Nchw;
    o.filterLayout = layout;
    SCOPED(subject_end) struct subject s = subject_begin();
    switch ((int)layout) {
    case WNNConvTranspose2dFilterOperandLayout_Iohw:
        filter = OPERAND(&s, constant, in * groups, out, kernel[0], kernel[1]);
        break;
    case WNNConvTranspose2dFilterOperandLayout_Hwoi:
        filter = OPERAND(&s, constant, kernel[0], kernel[1], out, in * groups);
        break;
    default:
        filter = OPERAND(&s, constant, out, kernel[0], kernel[1], in * groups);
        break;
    }
    struct value *x = image(&s, nhwc, random_between(1, 2), in * groups, size[0], size[1]);
    struct value *bias = random_chance(50) ? OPERAND(&s, random_chance(50), out * groups) : NULL;
    apply(&s, OP_CONV_TRANSPOSE2D, &o, x, filter, bias);
    bool taken = subject_check(&s);
    return taken;
}

TEST(conv_transpose2d_of_every_layout_is_computed)
{
    static const WNNConvTranspose2dFilterOperandLayout layouts[] = {WNNConvTranspose2dFilterOperandLayout_Iohw,
                                                                    WNNConvTranspose2dFilterOperandLayout_Hwoi,
                                                                    WNNConvTranspose2dFilterOperandLayout_Ohwi};
    uint32_t taken = 0, all = 0;

    for (uint32_t round = 0; round < 16; round++)
        for (uint32_t i = 0; i < 12; i++, all++)
            taken += conv_transpose_case(i & 1, layouts[i / 4], i & 2);
    printf("convTranspose2d: %u of %u taken\n", taken, all);
    assert_int_equal(taken, all);
}

/** Up to four batch dimensions, any of them broadcast on either side or missing. */
static bool matmul_case(uint32_t batches, bool constant_a, bool constant_b)
{
    uint32_t m = random_chance(30) ? 1 : random_between(1, 40), k = random_between(1, 70),
             n = random_chance(20) ? 1 : random_between(1, 70);
    uint32_t a[RANK_MAX], b[RANK_MAX], rank_a = 0, rank_b = 0;

    for (uint32_t i = 0; i < batches; i++) {
        uint32_t size = random_between(1, 4), kind = random_bits() % 4;

        if (rank_a || kind != 1 || random_chance(50))
            a[rank_a++] = kind == 1 ? 1 : size;
        if (rank_b || kind != 2 || random_chance(50))
            b[rank_b++] = kind == 2 ? 1 : size;
    }
    a[rank_a++] = m, a[rank_a++] = k;
    b[rank_b++] = k, b[rank_b++] = n;
    SCOPED(subject_end) struct subject s = subject_begin();
    struct value *x = operand_dims(&s, constant_a, rank_a, a), *y = operand_dims(&s, constant_b, rank_b, b);
    apply(&s, OP_MATMUL, NULL, x, y, NULL);
    bool taken = subject_check(&s);
    return taken;
}

TEST(matmul_of_every_rank_is_computed)
{
    uint32_t taken = 0, all = 0;

    for (uint32_t round = 0; round < 30; round++)
        for (uint32_t batches = 0; batches <= 4; batches++)
            for (uint32_t c = 0; c < 3; c++, all++)
                taken += matmul_case(batches, c == 1, c == 2);
    printf("matmul: %u of %u taken\n", taken, all);
    assert_int_equal(taken, all);
}

/** Sums and rows of sizes around those of tiles. */
TEST(matmul_is_right_around_tiles)
{
    static const uint32_t rows[] = {33, 37, 65}, sums[] = {21, 31, 63, 64, 65}, columns[] = {1, 40};

    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 5; j++)
            for (size_t k = 0; k < 2; k++) {
                SCOPED(subject_end) struct subject s = subject_begin();

                apply(&s, OP_MATMUL, NULL, OPERAND(&s, false, rows[i], sums[j]), OPERAND(&s, true, sums[j], columns[k]), NULL);
                assert_true(subject_check(&s));
            }
}

/** Operands read through one or two transposes. */
TEST(matmul_reads_through_transposes)
{
    static const uint32_t heads[] = {0, 2, 1, 3}, heads_back[] = {0, 2, 3, 1}, last[] = {0, 1, 3, 2};
    const struct {
        const uint32_t *a, *b;
    } rows[] = {{heads, NULL}, {NULL, heads}, {heads, heads}, {heads, heads_back}, {NULL, last}, {last, NULL}, {last, last}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint32_t want_a[] = {2, 3, 17, 32}, want_b[] = {2, 3, 32, 20};
        struct value *v[2];
        SCOPED(subject_end) struct subject s = subject_begin();

        for (int k = 0; k < 2; k++) {
            const uint32_t *p = k ? rows[i].b : rows[i].a, *want = k ? want_b : want_a;
            WNNTransposeOptions o = WNN_TRANSPOSE_OPTIONS_INIT;
            uint32_t dims[4];

            for (int d = 0; d < 4; d++)
                dims[p ? p[d] : (uint32_t)d] = want[d];
            v[k] = operand_dims(&s, false, 4, dims);
            o.permutation = p, o.permutationCount = 4;
            if (p)
                v[k] = apply(&s, OP_TRANSPOSE, &o, v[k], NULL, NULL);
        }
        apply(&s, OP_MATMUL, NULL, v[0], v[1], NULL);
        assert_true(subject_check(&s));
    }
}

TEST(gemm_of_every_form_is_computed)
{
    static const double factors[] = {1, 1, 0.5, -3, 0};
    uint32_t taken = 0, all = 0;

    for (uint32_t round = 0; round < 8; round++)
        for (uint32_t i = 0; i < 2 * 2 * 7 * 3; i++, all++) {
            uint32_t m = random_chance(20) ? 1 : random_between(1, 40), k = random_between(1, 60);
            uint32_t n = random_chance(20) ? 1 : random_between(1, 60), shape = i / 4 % 7, constants = i / 28;
            bool at = i & 1, bt = i & 2, constant_c = random_chance(50);
            WNNGemmOptions o = WNN_GEMM_OPTIONS_INIT;
            struct value *c = NULL, *a, *b;

            o.aTranspose = at, o.bTranspose = bt;
            o.alpha = factors[random_bits() % 5], o.beta = factors[random_bits() % 5];
            SCOPED(subject_end) struct subject s = subject_begin();
            a = at ? OPERAND(&s, constants == 1, k, m) : OPERAND(&s, constants == 1, m, k);
            b = bt ? OPERAND(&s, constants == 2, n, k) : OPERAND(&s, constants == 2, k, n);
            switch (shape) {
            case 1:
                c = operand_dims(&s, constant_c, 0, NULL);
                break;
            case 2:
                c = OPERAND(&s, constant_c, n);
                break;
            case 3:
                c = OPERAND(&s, constant_c, 1, n);
                break;
            case 4:
                c = OPERAND(&s, constant_c, m, 1);
                break;
            case 5:
                c = OPERAND(&s, constant_c, m, n);
                break;
            case 6:
                c = OPERAND(&s, constant_c, 1, 1);
                break;
            }
            apply(&s, OP_GEMM, &o, a, b, c);
            taken += subject_check(&s);
        }
    printf("gemm: %u of %u taken\n", taken, all);
    assert_int_equal(taken, all);
}

int main(int argc, char **argv)
{
    return main_precisions(argv);
}
