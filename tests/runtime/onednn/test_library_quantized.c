/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Contractions of dequantized integers: random convolutions and matmuls of every combination of types, zero points, scales,
 * padding, groups and epilogues that the library takes as int8 primitives, against the reference interpreter within its bounds.
 * The bound of a quantized element is 0, or infinite where a correct float product may lie on either side of a tie: so every
 * difference must be at a tie.  Such elements are counted: if there were many, the test would say nothing.
 *
 * Capped to AVX2 or less nothing may be taken: int8 sums saturate there.
 */
#include "runtime/onednn/library_support.h"
#include "passes/passes.h"

/*
 * The library's convolution by gemm, which it has where channels are no multiple of what its others want, gets products with
 * numbers known at run time wrong, and zero points in groups with padding.
 */
static bool has_late_scale, has_zero;
static uint32_t by_gemm_declined;
static uint64_t elements_all, elements_loose, elements_different, cases_whole;

/** Returns an operand of any type: numbers between low and high (integers both included). */
static struct value *typed(struct subject *s, bool constant, dtype type, double low, double high, uint32_t rank,
                           const uint32_t *dims)
{
    struct tensor_type t = {.type = type, .rank = rank};
    struct value *v;
    void *data;

    memcpy(t.dims, dims, rank * sizeof *dims);
    if (constant) {
        struct constant *c = constant_create(NULL, (size_t)type_bytes(&t));

        assert_non_null(c);
        data = (void *)c->data;
        v = graph_add_constant(s->g, &t, c);
    } else {
        char name[16];
        int length = snprintf(name, sizeof name, "i%u", s->g->value_count);

        data = aligned_block(type_bytes(&t));
        v = graph_add_input(s->g, name, (size_t)length, &t);
        assert_true(v && v->index < VALUES_MAX);
        s->blocks[v->index] = data;
        s->data[v->index] = data;
    }
    assert_non_null(v);
    for (int64_t i = 0; i < type_elements(&t); i++) {
        double x = low + (high - low) * (random_bits() / 4294967295.0);

        if (type == WNNOperandDataType_Float32)
            ((float *)data)[i] = (float)x;
        else
            ((uint8_t *)data)[i] = (uint8_t)(int32_t)floor(low + random_bits() % (uint32_t)(high - low + 1));
    }
    return v;
}

static const uint32_t ones[] = {1, 1, 1, 1};

static struct value *bytes(struct subject *s, bool constant, bool is_signed, uint32_t rank, const uint32_t *dims)
{
    /* Extremes often: they are what saturates. */
    double low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;

    if (random_chance(20))
        low = high;
    return typed(s, constant, is_signed ? WNNOperandDataType_Int8 : WNNOperandDataType_Uint8, low, high, rank, dims);
}

static struct value *zero_point(struct subject *s, bool constant, bool is_signed, int zero, uint32_t rank)
{
    return typed(s, constant, is_signed ? WNNOperandDataType_Int8 : WNNOperandDataType_Uint8, zero, zero, rank, ones);
}

/** The first operand.  Scale and zero point are constants, or computed while the graph runs, as dynamic quantisation has them.
 */
static struct value *source(struct subject *s, uint32_t rank, const uint32_t *dims)
{
    bool is_signed = random_chance(50);
    struct value *x = bytes(s, false, is_signed, rank, dims);
    const bool late = random_chance(40);
    struct value *scale = typed(s, !late, WNNOperandDataType_Float32, 0.001, 0.01, rank, ones);
    int low = is_signed ? -128 : 0, zero = random_chance(40) ? 0 : low + (int)random_between(0, 255);

    has_late_scale = late;
    const bool late_zero = random_chance(40);
    has_zero = late_zero || zero != 0;
    return apply(s, OP_DEQUANTIZE_LINEAR, NULL, x, scale, zero_point(s, !late_zero, is_signed, zero, rank));
}

/** Weights with one scale, or one for each or every two indices along axis; a zero point that all weights can do without. */
static struct value *weights(struct subject *s, uint32_t rank, const uint32_t *dims, uint32_t axis)
{
    uint32_t scales[RANK_MAX];
    bool is_signed = random_chance(70), narrow = random_chance(20), wide = rank == 2 && random_chance(25);
    double low = is_signed ? 0 : 128, high = low;
    struct value *x, *scale, *zero;

    if (wide) { /* matrices with one zero point for all */
        x = bytes(s, true, is_signed, rank, dims);
        low = high += (double)random_between(0, 255) - 128;
    } else if (narrow) {
        x = typed(s, true, is_signed ? WNNOperandDataType_Int8 : WNNOperandDataType_Uint8, low - 100, low + 99, rank, dims);
        low -= 28;
        high += 28;
    } else {
        x = bytes(s, true, is_signed, rank, dims);
    }

    memcpy(scales, ones, sizeof ones);
    if (random_chance(60))
        scales[axis] = dims[axis] % 2 == 0 && random_chance(30) ? dims[axis] / 2 : dims[axis];
    scale = typed(s, true, WNNOperandDataType_Float32, 0.001, 0.01, rank, scales);
    zero = typed(s, true, is_signed ? WNNOperandDataType_Int8 : WNNOperandDataType_Uint8, low, high, rank, scales);
    return apply(s, OP_DEQUANTIZE_LINEAR, NULL, x, scale, zero);
}

/** Signed bytes that are computed while the graph runs, as their scale and zero point may be. */
static struct value *late_weights(struct subject *s, uint32_t rank, const uint32_t *dims)
{
    const bool late_scale = random_chance(50), late_zero = random_chance(50);
    const int zero = random_chance(30) ? 0 : (int)random_between(0, 255) - 128;
    uint32_t scales[RANK_MAX] = {1, 1, 1, 1};
    struct value *x = bytes(s, false, true, rank, dims), *scale;

    if (!late_scale && !late_zero && random_chance(60))
        scales[rank - 1] = dims[rank - 1];
    scale = typed(s, !late_scale, WNNOperandDataType_Float32, 0.001, 0.01, rank, scales);
    return apply(s, OP_DEQUANTIZE_LINEAR, NULL, x, scale,
                 typed(s, !late_zero, WNNOperandDataType_Int8, zero, zero, rank, scales));
}

/** What follows: activation, residual, quantization, each or not. */
static void epilogue(struct subject *s, struct value *y)
{
    const struct tensor_type *t = &y->type;
    struct value *out_scale;
    bool is_signed = random_chance(50);
    int zero = random_chance(40) ? 0 : (is_signed ? -128 : 0) + (int)random_between(0, 255);

    if (random_chance(20)) /* the product of scales, in one number or one for each channel */
        y = apply(s, OP_MUL, NULL, y,
                  typed(s, random_chance(30), WNNOperandDataType_Float32, 0.5, 2, 1,
                        random_chance(50) ? ones : &t->dims[t->rank - 1]),
                  NULL);
    if (random_chance(20))
        y = apply(s, OP_ADD, NULL, y,
                  typed(s, random_chance(50), WNNOperandDataType_Float32, -20, 20, 1, &t->dims[t->rank - 1]), NULL);
    if (random_chance(25))
        y = apply(s, OP_ADD, NULL, y, typed(s, false, WNNOperandDataType_Float32, -20, 20, t->rank, t->dims), NULL);
    if (random_chance(40)) {
        y = apply(s, OP_RELU, NULL, y, NULL, NULL);
    } else if (random_chance(30)) {
        WNNClampOptions o = WNN_CLAMP_OPTIONS_INIT;

        o.minValue = wnnNumber(-1.7);
        o.maxValue = wnnNumber(6.1);
        y = apply(s, OP_CLAMP, &o, y, NULL, NULL);
    }
    if (random_chance(20))
        return;
    out_scale = typed(s, true, WNNOperandDataType_Float32, 0.2, 2, t->rank, ones);
    apply(s, OP_QUANTIZE_LINEAR, NULL, y, out_scale, zero_point(s, true, is_signed, zero, t->rank));
}

static bool has_nan_or_far(double got, double want, double bound)
{
    return !(got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= bound);
}

static double element(const struct value *v, const void *data, int64_t i)
{
    union scalar x = {0};
    size_t size = dtype_size(v->type.type);

    memcpy(&x, (const char *)data + (size_t)i * size, size);
    return scalar_to_double(x, v->type.type);
}

static void run_quantized(struct subject *s)
{
    struct value *out = s->nodes[s->count - 1]->results[0];
    int64_t n = type_elements(&out->type), size = type_bytes(&out->type);
    struct error e = {0};
    struct library_step *step = library_step_create(library, s->nodes, s->count, shares_this, NULL, &e);
    struct library_step_info info;
    uint8_t *got = aligned_block(size + GUARD), *want = aligned_block(size);
    double *bounds = malloc((size_t)n * sizeof *bounds);
    const void *inputs[16], *all[16] = {NULL};
    struct library_bindings *bindings;
    void *scratch;

    if (!step)
        fail_with_graph(s, e.message);
    library_step_info(step, &info);
    assert_null(strstr(info.implementation, "ref"));
    assert_ptr_equal(info.output, out);
    for (uint32_t i = 0; i < info.input_count; i++)
        inputs[i] = s->data[info.inputs[i]->index];
    for (uint32_t i = 0; i < s->g->input_count; i++)
        all[i] = s->data[s->g->inputs[i]->index];
    memset(got, 0xA5, (size_t)(size + GUARD));
    scratch = aligned_block(info.scratch_bytes);
    memset(scratch, 0xFF, (size_t)info.scratch_bytes);
    bindings = library_bindings_create(step, &e);
    assert_non_null(bindings);
    struct threads_saved saved = threads_enter(TEST_THREADS);
    for (int i = 0; i < 2; i++)
        assert_true(library_step_run(step, bindings, inputs, got, scratch));
    threads_leave(saved);
    assert_true(graph_add_output(s->g, "out", 3, out));
    if (!graph_interpret_bounds(s->g, all, (void *[]){want}, (double *[]){bounds}, &e))
        fail_with_graph(s, e.message);
    for (int64_t i = 0; i < GUARD; i++)
        assert_int_equal(got[size + i], 0xA5);
    for (int64_t i = 0; i < n; i++) {
        double g = element(out, got, i), w = element(out, want, i);

        if (dtype_size(out->type.type) == 1) {
            elements_all++;
            elements_loose += bounds[i] > 0;
            elements_different += g != w;
            /* At a tie the two neighbours, and nothing else. */
            if (bounds[i] > 1)
                bounds[i] = 1;
        }
        if (has_nan_or_far(g, w, bounds[i])) {
            char text[256];

            snprintf(text, sizeof text, "element %lld is %.9g, not %.9g within %g (%s)", (long long)i, g, w, bounds[i],
                     info.implementation);
            fail_with_graph(s, text);
        }
    }
    if (getenv("VERBOSE"))
        printf("%s\n", info.implementation);
    library_bindings_free(bindings);
    library_step_free(step);
    free(scratch);
    free(bounds);
    free(got);
    free(want);
}

/**
 * Asks as pass_fuse_quantized does: the longest prefix that is taken.  Returns whether there was any.  Not all are taken whole:
 * some of the library's kernels get operands behind the contraction wrong, or have no room for the code.
 */
static bool check(struct subject *s)
{
    uint32_t count = 3, all = s->count;

    assert_int_equal(s->nodes[0]->op, OP_DEQUANTIZE_LINEAR);
    assert_int_equal(s->nodes[1]->op, OP_DEQUANTIZE_LINEAR);
    if (!library_takes_quantized(library, s->nodes, count))
        return false;
    assert_true(library_has_exact_integers(library));
    while (count < all && library_takes_quantized(library, s->nodes, count + 1))
        count++;
    cases_whole += count == all;
    while (s->count > count) /* what is not taken does not run */
        node_remove(s->nodes[--s->count]);
    run_quantized(s);
    return true;
}

static uint32_t channels(void)
{
    static const uint32_t some[] = {3, 4, 5, 8, 12, 16, 17, 32, 33, 48, 64};

    return some[random_bits() % (sizeof some / sizeof *some)];
}

static bool conv_case(WNNConv2dFilterOperandLayout layout, int kind)
{
    uint32_t groups = kind == 0 ? 1 : kind == 1 ? random_between(2, 70) : random_between(2, 4);
    uint32_t in = kind == 1 ? 1 : channels(), out = kind == 1 ? 1 : channels(), total;
    uint32_t kernel[2] = {random_between(3, 5), random_between(3, 5)}, padding[4], strides[2], dilations[2], size[2];
    WNNConv2dOptions o = WNN_CONV2D_OPTIONS_INIT;
    uint32_t filter[4], axis;
    struct subject s;
    struct value *x, *w, *bias;
    bool taken;

    if (kind != 1 && random_chance(30)) {
        kernel[0] = kernel[1] = 1;
        in = in < 8 ? 8 : in;
    }
    for (int i = 0; i < 2; i++) {
        strides[i] = random_chance(60) ? 1 : 2;
        dilations[i] = random_chance(80) ? 1 : 2;
        for (int k = 0; k < 2; k++)
            padding[2 * i + k] = random_chance(60) ? (kernel[i] - 1) / 2 : random_between(0, 2);
        size[i] = random_between(10, 18);
    }
    o.padding = padding, o.paddingCount = 4;
    o.strides = strides, o.stridesCount = 2;
    o.dilations = dilations, o.dilationsCount = 2;
    o.groups = groups;
    o.inputLayout = WNNInputOperandLayout_Nhwc;
    o.filterLayout = layout;
    total = out * groups;
    switch ((int)layout) {
    case WNNConv2dFilterOperandLayout_Oihw:
        memcpy(filter, (uint32_t[]){total, in, kernel[0], kernel[1]}, sizeof filter);
        axis = 0;
        break;
    case WNNConv2dFilterOperandLayout_Hwio:
        memcpy(filter, (uint32_t[]){kernel[0], kernel[1], in, total}, sizeof filter);
        axis = 3;
        break;
    case WNNConv2dFilterOperandLayout_Ohwi:
        memcpy(filter, (uint32_t[]){total, kernel[0], kernel[1], in}, sizeof filter);
        axis = 0;
        break;
    default:
        memcpy(filter, (uint32_t[]){in, kernel[0], kernel[1], total}, sizeof filter);
        axis = 3;
        break;
    }
    subject_begin(&s);
    x = source(&s, 4, (uint32_t[]){random_between(1, 2), size[0], size[1], in * groups});
    w = weights(&s, 4, filter, axis);
    bias = random_chance(60) ? typed(&s, true, WNNOperandDataType_Float32, -5, 5, 1, &total) : NULL;
    epilogue(&s, apply(&s, OP_CONV2D, &o, x, w, bias));
    taken = check(&s);
    by_gemm_declined += !taken && (has_late_scale || (kind && has_zero));
    if (!taken && getenv("VERBOSE"))
        graph_print(s.g, stderr, &(struct print_options){0});
    subject_end(&s);
    return taken;
}

static void report(const char *what, uint32_t taken, uint32_t all)
{
    printf("%s: %u of %u taken, %llu whole; %llu of %llu quantized elements at ties, %llu differ\n", what, taken, all,
           (unsigned long long)cases_whole, (unsigned long long)elements_loose, (unsigned long long)elements_all,
           (unsigned long long)elements_different);
    if (!library_has_exact_integers(library)) {
        assert_int_equal(taken, 0);
        return;
    }
    assert_int_equal(taken + by_gemm_declined, all);
    assert_true(by_gemm_declined * 4 <= all);
    by_gemm_declined = 0;
    assert_true(cases_whole * 4 >= taken * 3);
    cases_whole = 0;
    assert_true(elements_loose * 100 <= elements_all);
}

static void convolutions_of_bytes_are_computed(void **state)
{
    static const WNNConv2dFilterOperandLayout layouts[] = {WNNConv2dFilterOperandLayout_Oihw, WNNConv2dFilterOperandLayout_Hwio,
                                                           WNNConv2dFilterOperandLayout_Ohwi,
                                                           WNNConv2dFilterOperandLayout_Ihwo};
    uint32_t taken = 0, all = 0;

    (void)state;
    for (uint32_t round = 0; round < 10; round++)
        for (uint32_t i = 0; i < 4 * 3; i++, all++)
            taken += conv_case(layouts[i & 3], (int)(i >> 2));
    report("conv2d", taken, all);
}

/**
 * Whole numbers halved: float32 computes all of it without an error, half of the results are ties, and so every implementation
 * has to give the same.  Zero points are odd: added before rounding they would turn ties to the other side.
 */
static void ties_round_alike_everywhere(void **state)
{
    static const uint32_t a[] = {9, 16}, b[] = {16, 24};

    (void)state;
    for (int i = 0; i < 12 && library_has_exact_integers(library); i++) {
        const uint64_t before = elements_different;
        const int zero = (i % 4) * 2 - 3;
        struct subject s;
        struct value *x, *w, *y;

        subject_begin(&s);
        x = typed(&s, false, WNNOperandDataType_Int8, -4, 5, 2, a);
        x = apply(&s, OP_DEQUANTIZE_LINEAR, NULL, x, typed(&s, i % 4 < 2, WNNOperandDataType_Float32, 1, 1, 2, ones),
                  zero_point(&s, i < 6, true, 1, 2));
        w = typed(&s, true, WNNOperandDataType_Int8, -3, 3, 2, b);
        w = apply(&s, OP_DEQUANTIZE_LINEAR, NULL, w, typed(&s, true, WNNOperandDataType_Float32, 1, 1, 2, ones),
                  zero_point(&s, true, true, 0, 2));
        y = apply(&s, OP_MATMUL, NULL, x, w, NULL);
        if (i % 3 == 1)
            y = apply(&s, OP_RELU, NULL, y, NULL, NULL);
        if (i % 3 == 2)
            y = apply(&s, OP_ADD, NULL, y, typed(&s, true, WNNOperandDataType_Float32, 3, 3, 1, &b[1]), NULL);
        apply(&s, OP_QUANTIZE_LINEAR, NULL, y, typed(&s, true, WNNOperandDataType_Float32, 2, 2, 2, ones),
              zero_point(&s, true, true, zero, 2));
        assert_true(check(&s));
        assert_int_equal(s.nodes[s.count - 1]->op, OP_QUANTIZE_LINEAR);
        assert_int_equal(elements_different, before);
        subject_end(&s);
    }
}

/** What is not exact, or not known while building, or not worth it is declined: the list in docs/operators.md. */
static void what_is_not_exact_is_declined(void **state)
{
    enum {
        FINE,
        WEIGHTS_TOO_WIDE,
        WIDE_WEIGHTS_AND_MANY_TERMS,
        SCALE_ALONG_TERMS,
        FEW_TERMS,
        MANY_TERMS,
        ZERO_SCALE,
        RUN_TIME_WEIGHTS, /* which are fine, too, */
        MANY_TERMS_AND_RUN_TIME_WEIGHTS,
        RUN_TIME_COLUMNS_OF_ZEROS, /* of run-time weights */
        UNSIGNED_RUN_TIME_WEIGHTS, /* the pass makes them signed */
        RUN_TIME_WEIGHT_SCALE,
        RUN_TIME_WEIGHT_ZERO,
        RUN_TIME_ROWS_OF_SCALES,
        RUN_TIME_ROWS_OF_ZEROS,
        ROWS_OF_SCALES,
        WEIGHTS_BY_BATCH,
        KINDS
    };

    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        const bool late = kind == RUN_TIME_WEIGHTS || kind == MANY_TERMS_AND_RUN_TIME_WEIGHTS ||
                          kind == RUN_TIME_COLUMNS_OF_ZEROS || kind == UNSIGNED_RUN_TIME_WEIGHTS;
        const dtype type = kind == UNSIGNED_RUN_TIME_WEIGHTS ? WNNOperandDataType_Uint8 : WNNOperandDataType_Int8;
        const uint32_t terms = kind == FEW_TERMS                         ? 7
                               : kind == MANY_TERMS                      ? 65536
                               : kind == WIDE_WEIGHTS_AND_MANY_TERMS     ? 33025
                               : kind == MANY_TERMS_AND_RUN_TIME_WEIGHTS ? 33025
                                                                         : 64,
                       rank = kind == WEIGHTS_BY_BATCH ? 3 : 2;
        const uint32_t left[] = {2, 4, terms}, right[] = {2, terms, 8}, vector[] = {1, terms, 1}, rows[] = {1, 4, 1};
        const uint32_t columns[] = {1, 1, 8};
        const uint32_t *one = ones, *scales = kind == SCALE_ALONG_TERMS                                       ? vector + 1
                                              : kind == WEIGHTS_TOO_WIDE || kind == RUN_TIME_COLUMNS_OF_ZEROS ? columns + 1
                                                                                                              : one;
        const bool late_scales = kind == RUN_TIME_ROWS_OF_SCALES, late_zeros = kind == RUN_TIME_ROWS_OF_ZEROS;
        const uint32_t *row = kind == ROWS_OF_SCALES || late_scales || late_zeros ? rows + 1 : one;
        const double zero = kind == WEIGHTS_TOO_WIDE || kind == WIDE_WEIGHTS_AND_MANY_TERMS;
        struct subject s;
        struct value *x, *w;

        subject_begin(&s);
        x = bytes(&s, false, true, rank, left + 3 - rank);
        x = apply(&s, OP_DEQUANTIZE_LINEAR, NULL, x, typed(&s, !late_scales, WNNOperandDataType_Float32, 0.1, 0.2, rank, row),
                  typed(&s, !late_zeros, WNNOperandDataType_Int8, 3, 3, rank, row));
        w = typed(&s, !late, type, type == WNNOperandDataType_Int8 ? -128 : 0, type == WNNOperandDataType_Int8 ? -128 : 0, rank,
                  right + 3 - rank);
        w = apply(&s, OP_DEQUANTIZE_LINEAR, NULL, w,
                  typed(&s, kind != RUN_TIME_WEIGHT_SCALE, WNNOperandDataType_Float32, kind == ZERO_SCALE ? 0 : 0.1,
                        kind == ZERO_SCALE ? 0 : 0.2, rank, scales),
                  typed(&s, kind != RUN_TIME_WEIGHT_ZERO && kind != RUN_TIME_COLUMNS_OF_ZEROS, type, zero,
                        kind == WEIGHTS_TOO_WIDE ? 100 : zero, rank, scales));
        apply(&s, OP_MATMUL, NULL, x, w, NULL);
        if (library_takes_quantized(library, s.nodes, 3) !=
            ((kind == FINE || kind == RUN_TIME_WEIGHTS) && library_has_exact_integers(library)))
            fail_msg("kind %d", kind);
        subject_end(&s);
    }
}

/**
 * Draws a transposed convolution.  It is taken unless its source is signed or has a scale that is known at run time only, there
 * are few channels or several groups, or its windows are such that the library gets some wrong.
 */
static void transposed_case(uint32_t *taken)
{
    const bool is_signed = random_chance(20), late_scale = random_chance(10), late_zero = random_chance(30);
    const uint32_t groups = random_chance(85) ? 1 : 2, in = random_chance(10) ? 7 : 8 * random_between(1, 6);
    const uint32_t out = random_between(1, 40), size[2] = {random_between(1, 9), random_between(1, 9)};
    const int zero = random_chance(40) ? 0 : (is_signed ? -128 : 0) + (int)random_between(0, 255);
    uint32_t kernel[2], strides[2], dilations[2], padding[4], beyond[2], total = out * groups;
    bool covers = true;
    WNNConvTranspose2dOptions o = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
    struct subject s;
    struct value *x, *w;

    for (int i = 0; i < 2; i++) {
        kernel[i] = random_between(1, 5);
        strides[i] = random_between(1, 3);
        dilations[i] = random_chance(90) ? 1 : 2;
        for (int k = 0; k < 2; k++)
            padding[2 * i + k] = size[i] > 2 && random_chance(50) ? random_between(0, kernel[i] - 1) : 0;
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

    subject_begin(&s);
    x = bytes(&s, false, is_signed, 4, (uint32_t[]){random_between(1, 2), size[0], size[1], in * groups});
    x = apply(&s, OP_DEQUANTIZE_LINEAR, NULL, x, typed(&s, !late_scale, WNNOperandDataType_Float32, 0.001, 0.01, 4, ones),
              zero_point(&s, !late_zero, is_signed, zero, 4));
    w = weights(&s, 4, first ? iohw : ohwi, first ? 1 : 0);
    epilogue(&s, apply(&s, OP_CONV_TRANSPOSE2D, &o, x, w,
                       random_chance(60) ? typed(&s, true, WNNOperandDataType_Float32, -5, 5, 1, &total) : NULL));
    const bool is_taken = check(&s);
    if (is_taken != (library_has_exact_integers(library) && !is_signed && !late_scale && groups == 1 && in >= 8 && covers))
        fail_with_graph(&s, is_taken ? "taken" : "declined");
    *taken += is_taken;
    subject_end(&s);
}

static void transposed_convolutions_are_computed(void **state)
{
    uint32_t taken = 0, all = 200;

    (void)state;
    for (uint32_t i = 0; i < all; i++)
        transposed_case(&taken);
    printf("convTranspose2d: %u of %u taken\n", taken, all);
    assert_true(!library_has_exact_integers(library) || taken * 5 > all);
    cases_whole = 0;
}

static void contractions_of_bytes_are_computed(void **state)
{
    uint32_t taken = 0, all = 0;

    (void)state;
    for (; all < 160; all++) {
        uint32_t m = random_chance(20) ? 1 : random_between(2, 40), k = random_between(8, 150), n = random_between(1, 90);
        struct subject s;
        struct value *x, *w;

        if (all % 12 == 0) /* around the sizes of AMX's tiles */
            m = random_between(33, 70), k = random_between(124, 129);

        subject_begin(&s);
        if (all & 1) {
            WNNGemmOptions o = WNN_GEMM_OPTIONS_INIT;

            o.bTranspose = random_chance(50);
            x = source(&s, 2, (uint32_t[]){m, k});
            w = o.bTranspose ? weights(&s, 2, (uint32_t[]){n, k}, 0) : weights(&s, 2, (uint32_t[]){k, n}, 1);
            epilogue(&s, apply(&s, OP_GEMM, &o, x, w,
                               random_chance(50) ? typed(&s, true, WNNOperandDataType_Float32, -5, 5, 1, &n) : NULL));
        } else {
            const uint32_t batch = random_between(1, 3);

            x = random_chance(50) ? source(&s, 2, (uint32_t[]){m, k}) : source(&s, 3, (uint32_t[]){batch, m, k});
            if (random_chance(50))
                w = weights(&s, 2, (uint32_t[]){k, n}, 1);
            else if (random_chance(30))
                w = late_weights(&s, 2, (uint32_t[]){k, n});
            else
                w = late_weights(&s, 3, (uint32_t[]){x->type.rank == 2 || random_chance(20) ? 1 : batch, k, n});
            epilogue(&s, apply(&s, OP_MATMUL, NULL, x, w, NULL));
        }
        if (check(&s))
            taken++;
        else if (getenv("VERBOSE"))
            graph_print(s.g, stderr, &(struct print_options){0});
        subject_end(&s);
    }
    report("matmul and gemm", taken, all);
}

/* ---- the pass ---- */

/*
 * A residual block, and beside it a contraction of too few terms.  Both convolutions share weights; the first one's input is
 * read by the addition, too.
 */
static const char block[] =
    "webnn_graph \"block\" v1 { inputs { x: f32[1, 16, 10, 10]; v: u8[4, 6]; }"
    "consts { s: f32[1, 1, 1, 1] @scalar(0.03); z: u8[1, 1, 1, 1] @scalar(128); s2: f32[1, 1, 1, 1] @scalar(0.02);"
    " z2: u8[1, 1, 1, 1] @scalar(0); w: i8[16, 16, 3, 3] @scalar(37); ws: f32[16, 1, 1, 1] @scalar(0.001);"
    " wz: i8[16, 1, 1, 1] @scalar(0); b: f32[16] @scalar(0.5); m: i8[6, 3] @scalar(5); ms: f32[1, 1] @scalar(0.25);"
    " vz: u8[1, 1] @scalar(3); mz: i8[1, 1] @scalar(0); }"
    "nodes { q = quantizeLinear(x, s, z); t = dequantizeLinear(q, s, z); wd = dequantizeLinear(w, ws, wz);"
    " c = conv2d(t, wd, bias=b, padding=[1, 1, 1, 1]); r = relu(c); q1 = quantizeLinear(r, s2, z2);"
    " d1 = dequantizeLinear(q1, s2, z2); c2 = conv2d(d1, wd, padding=[1, 1, 1, 1]); q2 = quantizeLinear(c2, s, z);"
    " d2 = dequantizeLinear(q2, s, z); a = add(d2, t); y = quantizeLinear(a, s, z);"
    " vd = dequantizeLinear(v, ms, vz); md = dequantizeLinear(m, ms, mz); p = matmul(vd, md); }"
    "outputs { y; p; } }";

enum { BLOCK_IMAGE = 16 * 10 * 10, BLOCK_ROWS = 4 * 6, BLOCK_MATMUL = 4 * 3 };

struct block_results {
    uint8_t image[BLOCK_IMAGE];
    float matmul[BLOCK_MATMUL];
};

static void block_interpret(struct graph *g, struct block_results *out)
{
    static float x[BLOCK_IMAGE];
    static uint8_t v[BLOCK_ROWS];
    struct error e = {0};

    for (int i = 0; i < BLOCK_IMAGE; i++)
        x[i] = (float)((i * 37) % 101 - 50) / 13.0f;
    for (int i = 0; i < BLOCK_ROWS; i++)
        v[i] = (uint8_t)(i * 11);
    assert_true(graph_interpret(g, (const void *[]){x, v}, (void *[]){out->image, out->matmul}, &e));
}

/** Runs the pipeline; returns how many contractions became integers, and checks that all others have constant weights. */
static uint32_t block_fuse(const struct pass_options *o)
{
    struct block_results before, after;
    struct error e = {0};
    struct graph *g = graph_parse(block, strlen(block), NULL, NULL, &e);
    uint32_t fused = 0;

    if (!g)
        fail_msg("%s", e.message);
    block_interpret(g, &before);
    if (!passes_run(g, o))
        fail_msg("%s", g->error.message);
    block_interpret(g, &after);
    assert_memory_equal(before.image, after.image, sizeof before.image);
    assert_memory_equal(before.matmul, after.matmul, sizeof before.matmul);
    graph_for_each (g, n) {
        uint32_t counts[3] = {0};

        if (!(op_infos[n->op].flags & OPF_LIBRARY))
            continue;
        assert_int_equal(n->cluster->kind, CLUSTER_LIBRARY);
        assert_ptr_equal(n->cluster->anchor, n);
        graph_for_each (g, m)
            if (m->cluster == n->cluster)
                counts[m->op == OP_DEQUANTIZE_LINEAR ? 0 : m->op == OP_QUANTIZE_LINEAR ? 1 : 2]++;
        if (!counts[0]) {
            assert_int_equal(n->inputs[1].value->kind, VALUE_CONSTANT);
            assert_int_equal(counts[1], 0);
            continue;
        }
        assert_int_equal(n->op, OP_CONV2D);
        assert_int_equal(counts[0], 2);
        assert_int_equal(counts[1], 1);
        fused++;
    }
    graph_free(g);
    return fused;
}

static void clusters_are_fused(void **state)
{
    const bool exact = library_has_exact_integers(library);
    struct target t = {.isa.vector_bits = 256,
                       .thread_count = TEST_THREADS,
                       .cache_bytes = 1 << 20,
                       .prefers_nhwc = true,
                       .takes_node = library_takes_node,
                       .takes_operand = library_takes_operand,
                       .takes_epilogue = library_takes_epilogue,
                       .takes_quantized = exact ? library_takes_quantized : NULL,
                       .user = library};
    struct debug_options debug = {.flags = DEBUG_VERIFY};
    struct pass_options o = {.target = &t, .debug = &debug};

    (void)state;
    assert_int_equal(block_fuse(&o), exact ? 2 : 0);
    debug.skip = "fuse-quantized";
    assert_int_equal(block_fuse(&o), 0);
    debug.skip = "propagate-layout"; /* the library has no integer convolution for this layout */
    assert_int_equal(block_fuse(&o), 0);
    debug.skip = NULL;
    t.takes_quantized = NULL;
    assert_int_equal(block_fuse(&o), 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_of_bytes_are_computed),   cmocka_unit_test(contractions_of_bytes_are_computed),
        cmocka_unit_test(ties_round_alike_everywhere),          cmocka_unit_test(what_is_not_exact_is_declined),
        cmocka_unit_test(transposed_convolutions_are_computed), cmocka_unit_test(clusters_are_fused)};

    (void)argc;
    if (getenv("SEED"))
        random_state ^= strtoull(getenv("SEED"), NULL, 10) << 20;
    return main_library(tests, sizeof tests / sizeof *tests, argv);
}
