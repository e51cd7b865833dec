/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Contractions of dequantized integers: random convolutions and matmuls of every combination of types, zero points, scales,
 * padding, groups and epilogues that the library takes as int8 primitives, and the pass that makes clusters of them.
 */
#include "runtime/engine/onednn/quantized_support.h"
#include "passes/passes.h"

static uint32_t channels(void)
{
    static const uint32_t some[] = {3, 4, 5, 8, 12, 16, 17, 32, 33, 48, 64};

    return some[random_bits() % (sizeof some / sizeof *some)];
}

static bool conv_case(WNNConv2dFilterOperandLayout layout, int kind, bool late)
{
    uint32_t groups = kind == 0 ? 1 : kind == 1 ? random_between(2, 70) : random_between(2, 4);
    uint32_t in = kind == 1 ? 1 : channels(), out = kind == 1 ? 1 : channels(), total;
    uint32_t kernel[2] = {random_between(3, 5), random_between(3, 5)}, padding[4], strides[2], dilations[2], size[2];
    WNNConv2dOptions o = WNN_CONV2D_OPTIONS_INIT;
    uint32_t filter[4], axis;
    struct value *x, *w, *bias;

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
    SCOPED(subject_end) struct subject s = subject_begin();
    x = source(&s, 4, (uint32_t[]){random_between(1, 2), size[0], size[1], in * groups});
    w = late ? late_weights(&s, 4, filter, axis, false) : weights(&s, 4, filter, axis);
    bias = random_chance(60) ? typed(&s, true, WNNOperandDataType_Float32, -5, 5, 1, &total) : NULL;
    epilogue(&s, apply(&s, OP_CONV2D, &o, x, w, bias));
    bool taken = check(&s);
    by_gemm_declined += !taken && (has_late_scale || (kind && has_zero));
    return taken;
}

TEST(convolutions_of_bytes_are_computed)
{
    static const WNNConv2dFilterOperandLayout layouts[] = {WNNConv2dFilterOperandLayout_Oihw, WNNConv2dFilterOperandLayout_Hwio,
                                                           WNNConv2dFilterOperandLayout_Ohwi,
                                                           WNNConv2dFilterOperandLayout_Ihwo};
    uint32_t taken = 0, all = 0;

    for (int late = 0; late < 2; late++) {
        for (uint32_t round = 0; round < 10; round++)
            for (uint32_t i = 0; i < 4 * 3; i++, all++)
                taken += conv_case(layouts[i & 3], (int)(i >> 2), late);
        report(late ? "conv2d with filters that are computed" : "conv2d", taken, all);
        taken = all = 0;
    }
}

/**
 * Whole numbers halved: float32 computes all of it without an error, half of the results are ties, and so every implementation
 * has to give the same.  Zero points are odd: added before rounding they would turn ties to the other side.
 */
TEST(ties_round_alike_everywhere)
{
    static const uint32_t a[] = {9, 16}, b[] = {16, 24};

    for (int i = 0; i < 12 && library_has_exact_integers(library); i++) {
        const uint64_t before = elements_different;
        const int zero = (i % 4) * 2 - 3;
        SCOPED(subject_end) struct subject s = subject_begin();
        struct value *x, *w, *y;

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
    }
}

/** Contractions that are not exact, not known while building, or not worth it are declined: the list in docs/operators.md. */
TEST(what_is_not_exact_is_declined)
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
        SCOPED(subject_end) struct subject s = subject_begin();
        struct value *x, *w;

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
    }
}

/**
 * Returns whether the library takes a convolution of bytes [1, size, size, channels] by 3x3 filters that are computed, with as
 * many output channels.
 */
static bool takes_filters(uint32_t size, uint32_t channels, uint32_t groups, bool late_zero, int zero)
{
    const uint32_t padding[] = {1, 1, 1, 1}, image[] = {1, size, size, channels},
                   filter[] = {channels, 3, 3, channels / groups};
    WNNConv2dOptions o = WNN_CONV2D_OPTIONS_INIT;
    struct value *x, *w;

    o.padding = padding, o.paddingCount = 4;
    o.groups = groups;
    o.inputLayout = WNNInputOperandLayout_Nhwc;
    o.filterLayout = groups == channels ? WNNConv2dFilterOperandLayout_Ihwo : WNNConv2dFilterOperandLayout_Ohwi;
    SCOPED(subject_end) struct subject s = subject_begin();
    x = bytes(&s, false, false, 4, image);
    x = apply(&s, OP_DEQUANTIZE_LINEAR, NULL, x, typed(&s, true, WNNOperandDataType_Float32, 0.1, 0.2, 4, ones),
              zero_point(&s, true, false, 3, 4));
    w = bytes(&s, false, true, 4, groups == channels ? (uint32_t[]){1, 3, 3, channels} : filter);
    w = apply(&s, OP_DEQUANTIZE_LINEAR, NULL, w, typed(&s, true, WNNOperandDataType_Float32, 0.1, 0.2, 4, ones),
              zero_point(&s, !late_zero, true, zero, 4));
    apply(&s, OP_CONV2D, &o, x, w, NULL);
    const bool takes = library_takes_quantized(library, s.nodes, s.count);
    return takes;
}

/* Packing filters in each run is repaid by results.  The sizes are far from where the two are level. */
TEST(filters_that_are_computed_need_results)
{
    const bool exact = library_has_exact_integers(library);

    assert_int_equal(takes_filters(3, 64, 1, false, 0), exact); /* nothing is compared */
    assert_int_equal(takes_filters(28, 64, 64, false, 0), exact);
    assert_false(takes_filters(28, 64, 1, false, 1)); /* the library has no zero point for filters */
    assert_false(takes_filters(28, 64, 1, true, 0));
    library_compare(library, &(struct target){.isa.vector_bits = 512,
                                              .bfloat16_rate = library->bfloat16,
                                              .cache_bytes = 1 << 20,
                                              .thread_count = TEST_THREADS});
    assert_false(takes_filters(3, 64, 1, false, 0));
    assert_int_equal(takes_filters(28, 64, 1, false, 0), exact);
    assert_false(takes_filters(8, 64, 4, false, 0));
    assert_int_equal(takes_filters(28, 64, 4, false, 0), exact);
    assert_false(takes_filters(28, 64, 64, false, 0));
    library->facts = NULL;
}

TEST(contractions_of_bytes_are_computed)
{
    uint32_t taken = 0, all = 0;

    for (; all < 160; all++) {
        uint32_t m = random_chance(20) ? 1 : random_between(2, 40), k = random_between(8, 150), n = random_between(1, 90);
        struct value *x, *w;

        if (all % 12 == 0) /* around the sizes of AMX's tiles */
            m = random_between(33, 70), k = random_between(124, 129);

        SCOPED(subject_end) struct subject s = subject_begin();
        if (all & 1) {
            const bool late = random_chance(50);
            WNNGemmOptions o = WNN_GEMM_OPTIONS_INIT;
            struct value *c = NULL;

            o.aTranspose = random_chance(30);
            o.bTranspose = random_chance(50);
            if (random_chance(30))
                o.alpha = -0.75;
            if (random_chance(30))
                o.beta = 2.5;
            const uint32_t rows[] = {o.aTranspose ? k : m, o.aTranspose ? m : k},
                           columns[] = {o.bTranspose ? n : k, o.bTranspose ? k : n};
            x = source(&s, 2, rows);
            w = late ? late_weights(&s, 2, columns, !o.bTranspose, true) : weights(&s, 2, columns, !o.bTranspose);
            if (random_chance(50)) /* one number for each column, or one for each result */
                c = typed(&s, random_chance(70), WNNOperandDataType_Float32, -5, 5, 2,
                          random_chance(70) ? (uint32_t[]){1, n} : (uint32_t[]){m, n});
            epilogue(&s, apply(&s, OP_GEMM, &o, x, w, c));
        } else {
            const uint32_t batch = random_between(1, 3);

            x = random_chance(50) ? source(&s, 2, (uint32_t[]){m, k}) : source(&s, 3, (uint32_t[]){batch, m, k});
            if (random_chance(50))
                w = weights(&s, 2, (uint32_t[]){k, n}, 1);
            else if (random_chance(30))
                w = late_weights(&s, 2, (uint32_t[]){k, n}, 1, true);
            else
                w = late_weights(&s, 3, (uint32_t[]){x->type.rank == 2 || random_chance(20) ? 1 : batch, k, n}, 2, true);
            epilogue(&s, apply(&s, OP_MATMUL, NULL, x, w, NULL));
        }
        taken += check(&s);
    }
    report("matmul and gemm", taken, all);
}

/* ---- the pass ---- */

/*
 * A residual block, and next to it a contraction of too few terms.  Both convolutions share weights; the first one's input is
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

    for (int i = 0; i < BLOCK_IMAGE; i++)
        x[i] = (float)((i * 37) % 101 - 50) / 13.0f;
    for (int i = 0; i < BLOCK_ROWS; i++)
        v[i] = (uint8_t)(i * 11);
    assert_done(graph_interpret(g, (const void *[]){x, v}, (void *[]){out->image, out->matmul}, &e));
}

/** Runs the pipeline; returns how many contractions became integers, and checks that all others have constant weights. */
static uint32_t block_fuse(const struct pass_options *o)
{
    struct block_results before, after;
    struct error e = {0};
    OWNED(graph) struct graph *g = graph_parse(block, strlen(block), NULL, NULL, &e);
    uint32_t fused = 0;

    assert_works(g, &e);
    block_interpret(g, &before);
    assert_works(passes_run(g, o), &g->error);
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
    return fused;
}

TEST(clusters_are_fused)
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
    return main_quantized(argc, argv);
}
