/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Contractions in bfloat16: how exact they are, numbers that are not finite or too large, and which contractions become it.
 * That every shape, layout and epilogue comes out right is checked where float32 is: test_library_contractions.c,
 * test_library_posts.c.
 */
#include "runtime/engine/onednn/library_support.h"

#include <float.h>

#include "runtime/engine/onednn/onednn.h"

static const WNNPrecision precisions[] = {WNNPrecision_Float32, WNNPrecision_Bf16x2, WNNPrecision_Bf16};
enum { PRECISIONS = sizeof precisions / sizeof *precisions };

/** Runs the cluster once; the result is for free(). */
static float *run_subject(struct subject *s, struct library_step_info *info)
{
    struct error error = {0};
    struct library_step *step = library_step_create(library, s->nodes, s->count, shares_this, NULL, &error);
    struct test_run e;

    if (!step)
        fail_with_graph(s, error.message);
    library_step_info(step, info);
    step_run_begin(s, step, &e);
    struct threads_saved saved = threads_enter(TEST_THREADS, NULL);
    assert_true(library_step_run(step, e.bindings, e.inputs, e.output, e.scratch));
    threads_leave(saved);
    float *out = malloc((size_t)e.elements * sizeof *out);
    assert_non_null(out);
    memcpy(out, e.output, (size_t)e.elements * sizeof *out);
    step_run_end(&e);
    library_step_free(step);
    return out;
}

static void expect_precision(WNNPrecision allowed, const struct library_step_info *info)
{
    assert_int_equal(info->precision, has_bfloat16() ? allowed : WNNPrecision_Float32);
}

/**
 * A number has 8 significant bits: rounding errs by 2^-8 of it, a product by twice that.  Of two numbers lo is 2^-8 of hi: of a
 * product lo * lo is missing, 2^-16 of it, and both lo are rounded, 2^-16 each.
 */
static const double product_error[] = {
    [WNNPrecision_Float32] = 0, [WNNPrecision_Bf16x2] = 3 * 0x1p-16 + 0x1p-23, [WNNPrecision_Bf16] = 2 * 0x1p-8 + 0x1p-16};

TEST(contractions_are_as_exact_as_promised)
{
    double worst[PRECISIONS] = {0};

    for (int round = 0; round < 20; round++) {
        uint32_t m = random_between(1, 60), k = random_between(1, 200), n = random_between(1, 60);
        SCOPED(subject_end) struct subject s = subject_begin();

        struct value *a = OPERAND(&s, false, m, k), *b = OPERAND(&s, round % 2, k, n);
        apply(&s, OP_MATMUL, NULL, a, b, NULL);
        const float *x = s.data[a->index], *y = b->constant ? b->constant->data : s.data[b->index];
        SCOPED(expectation_free) struct expectation want = subject_expect(&s);
        for (int p = 0; p < PRECISIONS; p++) {
            struct library_step_info info;

            library_allow(library, precisions[p], true);
            OWNED(memory) float *got = run_subject(&s, &info);
            expect_precision(precisions[p], &info);
            for (uint32_t i = 0; i < m * n; i++) {
                double magnitude = 0, allowed, error = fabs((double)got[i] - want.values[i]);

                for (uint32_t q = 0; q < k; q++)
                    magnitude += fabs((double)x[i / n * k + q] * y[q * n + i % n]);
                allowed = magnitude * product_error[info.precision] + 3 * want.bounds[i];
                if (error > allowed)
                    fail_msg("precision %d: %.9g is not %.9g within %g", precisions[p], got[i], want.values[i], allowed);
                worst[p] = fmax(worst[p], error / magnitude);
            }
        }
    }
    library_allow(library, WNNPrecision_Float32, false);
    printf("largest error of a sum of magnitude 1: float32 %.2g, bf16x2 %.2g, bf16 %.2g\n", worst[0], worst[1], worst[2]);
    if (has_bfloat16())
        assert_true(worst[1] > 0x1p-23 && worst[2] > 16 * worst[1]);
}

/** Every number times every other. */
TEST(special_values_are_kept)
{
    static const float in[] = {INFINITY, -INFINITY, NAN,   0,           -0.0f,    1,       -1,       2,          -301,
                               1001.3f,  0x1.01p0f, 1e-3f, 0x1.010ap9f, -FLT_MAX, FLT_MAX, 3.39e38f, 3.3962e38f, 1e-30f};
    enum { N = sizeof in / sizeof *in };

    for (int p = 1; p < PRECISIONS; p++)
        for (int constant = 0; constant < 2; constant++) {
            struct library_step_info info;
            SCOPED(subject_end) struct subject s = subject_begin();

            struct value *a = OPERAND(&s, false, N, 1), *b = OPERAND(&s, constant, 1, N);
            memcpy(s.data[a->index], in, sizeof in);
            memcpy(constant ? (float *)b->constant->data : s.data[b->index], in, sizeof in);
            apply(&s, OP_MATMUL, NULL, a, b, NULL);
            library_allow(library, precisions[p], true);
            OWNED(memory) float *got = run_subject(&s, &info);
            expect_precision(precisions[p], &info);
            for (int i = 0; i < N * N; i++) {
                bool rounded = info.precision == WNNPrecision_Bf16; /* the largest numbers to infinity */
                float x = rounded ? round_to_bits(in[i / N], 16) : in[i / N],
                      y = rounded ? round_to_bits(in[i % N], 16) : in[i % N];
                float want = x * y;
                double error = (rounded ? 0 : product_error[info.precision]) + 3 * FLT_EPSILON;

                /* a product that is too large: hi * hi is infinite, and lo * hi may be, with the other sign */
                if (info.precision == WNNPrecision_Bf16x2 && isinf(want) && isfinite(x) && isfinite(y)) {
                    assert_false(isfinite(got[i]));
                    continue;
                }
                if (isnan(want)   ? !isnan(got[i])
                    : isinf(want) ? got[i] != want
                                  : !(fabs((double)got[i] - want) <= error * fabs((double)want)))
                    fail_msg("precision %d: %g * %g is %g, not %g", info.precision, x, y, got[i], want);
            }
        }
    library_allow(library, WNNPrecision_Float32, false);
}

static int32_t wanted(WNNPrecision allowed, double rate, uint32_t rows, uint32_t inner, uint32_t columns, bool constant)
{
    double was = library->bfloat16;
    struct dnn_cluster c;
    SCOPED(subject_end) struct subject s = subject_begin();

    apply(&s, OP_MATMUL, NULL, OPERAND(&s, false, rows, inner), OPERAND(&s, constant, inner, columns), NULL);
    assert_true(dnn_describe(&library->machine, s.nodes, s.count, NULL, &c));
    c.problem.precision = (int32_t)allowed;
    library->bfloat16 = rate;
    int32_t parts = dnn_wanted_parts(library, &c.problem);
    library->bfloat16 = was;
    return parts;
}

/** The choice for processors that this one is not. */
TEST(contractions_that_gain_are_chosen)
{
    enum { TILES = 8, DOT = 2 };

    library_allow(library, WNNPrecision_Float32, false);
    assert_int_equal(wanted(WNNPrecision_Float32, TILES, 128, 768, 768, true), 0);
    assert_int_equal(wanted(WNNPrecision_Bf16, TILES, 128, 768, 768, true), 1);
    assert_int_equal(wanted(WNNPrecision_Bf16x2, TILES, 128, 768, 768, true), 3);
    assert_int_equal(wanted(WNNPrecision_Bf16, DOT, 128, 768, 768, true), 1);
    assert_int_equal(wanted(WNNPrecision_Bf16x2, DOT, 128, 768, 768, true), 0); /* three times the work at twice the rate */
    assert_int_equal(wanted(WNNPrecision_Bf16, 0.5, 128, 768, 768, true), 0);
    assert_int_equal(wanted(WNNPrecision_Bf16, 0.5, 1, 1024, 1024, true), 1); /* half the bytes of weights */
    assert_int_equal(wanted(WNNPrecision_Bf16, 0.5, 1, 128, 128, true), 0);
    assert_int_equal(wanted(WNNPrecision_Bf16x2, TILES, 1, 1024, 1024, true), 0); /* more of them */
    assert_int_equal(wanted(WNNPrecision_Bf16, 0, 128, 768, 768, true), 0);
    assert_int_equal(wanted(WNNPrecision_Bf16, TILES, 4, 16, 16, true), 0);    /* too small */
    assert_int_equal(wanted(WNNPrecision_Bf16, TILES, 4096, 3, 64, true), 0);  /* three factors of 32 */
    assert_int_equal(wanted(WNNPrecision_Bf16, TILES, 2, 768, 768, false), 0); /* converting weights costs more */
    assert_int_equal(wanted(WNNPrecision_Bf16, TILES, 256, 768, 768, false), 1);
}

/** Whether an epilogue may join is told from the names of implementations: on a machine with tiles it must not take them away.
 */
TEST(epilogues_keep_the_tiles)
{
    static const char *const tiles = "brgconv:avx512_core_bf16_amx_bf16", *const other_tiles = "jit_1x1:avx512_core_amx_bf16";
    static const char *const dot = "brgconv:avx512_core_bf16", *const other_dot = "jit_bf16_1x1:avx512_core_bf16";
    struct dnn_problem p = {.parts = 1, .dst_type = dnnl_f32}, bfloat16 = {.parts = 1, .dst_type = dnnl_bf16};

    assert_true(dnn_keeps_speed(&p, tiles, tiles));
    assert_true(dnn_keeps_speed(&p, tiles, other_tiles));
    assert_true(dnn_keeps_speed(&p, dot, other_dot));
    assert_false(dnn_keeps_speed(&p, tiles, dot));
    assert_true(dnn_keeps_speed(&bfloat16, dot, dot));
    assert_false(dnn_keeps_speed(&bfloat16, dot, other_dot)); /* converting the result costs less than that */
    assert_false(dnn_keeps_speed(&bfloat16, tiles, dot));
}

/** Heads of an attention, as they lie in the rows of a matmul: read by code for blocks, without transposes or reordering. */
TEST(heads_are_read_as_they_lie)
{
    static const uint32_t heads[] = {1, 0, 2}, heads_back[] = {1, 2, 0};
    WNNTransposeOptions a = WNN_TRANSPOSE_OPTIONS_INIT, b = WNN_TRANSPOSE_OPTIONS_INIT;
    struct dnn_cluster c;

    if (!has_bfloat16())
        return;
    a.permutationCount = b.permutationCount = 3, a.permutation = heads, b.permutation = heads_back;
    SCOPED(subject_end) struct subject s = subject_begin();
    struct value *q = apply(&s, OP_TRANSPOSE, &a, OPERAND(&s, false, 128, 12, 64), NULL, NULL);
    struct value *k = apply(&s, OP_TRANSPOSE, &b, OPERAND(&s, false, 128, 12, 64), NULL, NULL);
    apply(&s, OP_MATMUL, NULL, q, k, NULL);
    library_allow(library, WNNPrecision_Bf16, true);
    for (int again = 0; again < 2; again++) { /* answers are remembered */
        assert_true(dnn_describe(&library->machine, s.nodes, s.count, NULL, &c) && dnn_resolve(library, &c));
        assert_int_equal(c.problem.parts, 1);
        assert_int_equal(c.problem.dst.rank, 4);
        assert_false(c.problem.weights.free);
        dnnl_primitive_desc_t pd = dnn_create_pd(library, &c.problem, NULL, 0);
        assert_non_null(pd);
        assert_null(strstr(dnn_pd_name(pd), "gemm"));
        dnnl_primitive_desc_destroy(pd);
    }
    library_allow(library, WNNPrecision_Float32, false);
}

/** What passes ask about the contractions of bert_encoder and resnet50, for a machine with AMX and for this one. */
static bool input_is_low_precision(double rate, uint32_t batch, uint32_t rows, uint32_t inner, uint32_t columns, bool constant,
                                   uint32_t slot)
{
    const double was = library->bfloat16;
    SCOPED(subject_end) struct subject s = subject_begin();

    struct value *a = OPERAND(&s, false, batch, rows, inner);
    apply(&s, OP_MATMUL, NULL, a, constant ? OPERAND(&s, true, inner, columns) : OPERAND(&s, false, batch, inner, columns),
          NULL);
    library->bfloat16 = rate;
    const bool low_precision = library_takes_low_precision_input(library, s.nodes[0], slot);
    if (low_precision) /* and nothing generated is faster, nor transformed */
        assert_true(library_wants_node(library, s.nodes[0]) && library_takes_low_precision(library, s.nodes[0]));
    library->bfloat16 = was;
    return low_precision;
}

TEST(inputs_are_stored_in_low_precision_where_all_read_them_so)
{
    enum { TILES = 8 };
    struct target full = {
        .isa.vector_bits = 512, .full_rate = true, .thread_count = 1, .cache_bytes = 2 << 20, .bfloat16_rate = 0.5};
    const struct target_facts *facts = library->facts;

    if (!has_bfloat16())
        return;
    const double was = library->bfloat16;
    library_compare(library, &full);
    library_allow(library, WNNPrecision_Bf16, false);
    assert_true(input_is_low_precision(TILES, 1, 128, 768, 768, true, 0));
    assert_true(input_is_low_precision(TILES, 1, 128, 768, 3072, true, 0));
    assert_true(input_is_low_precision(TILES, 1, 128, 3072, 768, true, 0));
    assert_false(input_is_low_precision(TILES, 1, 128, 768, 768, true, 1)); /* a constant is packed */
    for (uint32_t slot = 0; slot < 2; slot++) {
        assert_true(input_is_low_precision(TILES, 12, 128, 64, 128, false, slot));
        assert_true(input_is_low_precision(TILES, 12, 128, 128, 64, false, slot));
    }
    assert_true(input_is_low_precision(TILES, 1, 3136, 64, 64, true, 0)); /* 1x1 convolutions */
    assert_true(input_is_low_precision(TILES, 1, 49, 2048, 512, true, 0));
    /* of other sizes, since answers are remembered */
    assert_false(input_is_low_precision(0.5, 1, 128, 752, 768, true, 0));
    assert_false(input_is_low_precision(0, 1, 128, 736, 768, true, 0));
    library_allow(library, WNNPrecision_Bf16x2, false);
    assert_false(input_is_low_precision(TILES, 1, 128, 768, 768, true, 0)); /* of two numbers: each product by itself */
    library_allow(library, WNNPrecision_Float32, false);
    library->bfloat16 = was;
    library->facts = facts;
}

int main(int argc, char **argv)
{
    if (!has_bfloat16() && !getenv("TEST_LIBRARY_ISA"))
        printf("skipped: bfloat16, which this processor has not; everything is float32 here\n");
    return main_library(argv);
}
