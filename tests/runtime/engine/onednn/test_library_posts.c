/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Epilogues: every post-op alone on every kind of anchor, random chains, residuals in place and not, what must be refused, and
 * what NaN, infinities and zeros become.
 */
#include "runtime/engine/onednn/library_support.h"

/* ---- anchors ---- */

enum anchor {
    CONV_3X3,
    CONV_1X1,
    CONV_DEPTHWISE,
    CONV_GROUPS,
    CONV_STEM,
    CONV_TRANSPOSE,
    MATMUL_2D,
    MATMUL_3D,
    MATMUL_FOLDED,
    MATMUL_ROW,
    GEMM,
    ANCHORS
};

static bool anchor_is_conv(enum anchor a)
{
    return a <= CONV_TRANSPOSE;
}

/** Below AVX-512 these groups are computed by gemm, which reads full operands wrongly with channels last: refused there. */
static bool full_is_misread(enum anchor a, bool nhwc)
{
    return a == CONV_GROUPS && nhwc && !has_avx512();
}

/** With channels first oneDNN 3's convolutions by gemm take full operands only as sums in place. */
static bool full_is_refused(enum anchor a, bool nhwc)
{
    return DNNL_VERSION_MAJOR >= 3 && anchor_is_conv(a) && a != CONV_TRANSPOSE && !nhwc;
}

/** Transposed convolutions write +0 for -0, which a product with a zero may have to be: refused there. */
static bool product_is_refused(enum anchor a, enum op op)
{
    return a == CONV_TRANSPOSE && (op == OP_MUL || op == OP_DIV);
}

/** Convolutions that would begin their sums with a residual add it as an operand instead. */
static bool refuses_in_place(enum anchor a)
{
    return anchor_is_conv(a) && a != CONV_TRANSPOSE && !convolutions_sum_in_place();
}

static struct value *apply_anchor(struct subject *s, enum anchor a, bool nhwc)
{
    static const uint32_t same[] = {1, 1, 1, 1}, twice[] = {2, 2};
    WNNConv2dOptions o = WNN_CONV2D_OPTIONS_INIT;
    WNNConvTranspose2dOptions t = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
    uint32_t in = 24, out = 40, groups = 1, kernel = 3;

    switch (a) {
    case CONV_1X1:
        kernel = 1;
        break;
    case CONV_DEPTHWISE:
        in = out = groups = 40;
        break;
    case CONV_GROUPS:
        in = 20, out = 40, groups = 4;
        break;
    case CONV_STEM:
        in = 3;
        break;
    case CONV_TRANSPOSE:
        t.strides = twice, t.stridesCount = 2;
        t.inputLayout = nhwc ? WNNInputOperandLayout_Nhwc : WNNInputOperandLayout_Nchw;
        return apply(s, OP_CONV_TRANSPOSE2D, &t, nhwc ? OPERAND(s, false, 2, 5, 4, in) : OPERAND(s, false, 2, in, 5, 4),
                     OPERAND(s, true, in, out, 3, 3), NULL);
    case MATMUL_2D:
        return apply(s, OP_MATMUL, NULL, OPERAND(s, false, 9, 33), OPERAND(s, true, 33, 40), NULL);
    case MATMUL_3D:
        return apply(s, OP_MATMUL, NULL, OPERAND(s, false, 3, 9, 33), OPERAND(s, false, 3, 33, 40), NULL);
    case MATMUL_FOLDED:
        return apply(s, OP_MATMUL, NULL, OPERAND(s, false, 3, 9, 33), OPERAND(s, true, 33, 40), NULL);
    case MATMUL_ROW:
        return apply(s, OP_MATMUL, NULL, OPERAND(s, false, 1, 33), OPERAND(s, true, 33, 40), NULL);
    case GEMM:
        return apply(s, OP_GEMM, NULL, OPERAND(s, false, 9, 33), OPERAND(s, true, 33, 40), OPERAND(s, true, 40));
    default:
        break;
    }
    o.groups = groups;
    o.inputLayout = nhwc ? WNNInputOperandLayout_Nhwc : WNNInputOperandLayout_Nchw;
    if (kernel == 3)
        o.padding = same, o.paddingCount = 4;
    return apply(s, OP_CONV2D, &o, nhwc ? OPERAND(s, false, 2, 9, 7, in) : OPERAND(s, false, 2, in, 9, 7),
                 OPERAND(s, true, out, in / groups, kernel, kernel), random_chance(50) ? OPERAND(s, true, out) : NULL);
}

/* ---- epilogues ---- */

enum operand_kind { NUMBER, CHANNEL, FULL, ROW, BATCH };

/** Returns an operand of that span for values like v; nhwc says where the channels are in 4-D. */
static struct value *span_operand(struct subject *s, enum operand_kind k, const struct value *v, enum anchor a, bool nhwc,
                                  bool constant)
{
    uint32_t dims[RANK_MAX], rank = v->type.rank, channel = anchor_is_conv(a) && !nhwc ? 1 : rank - 1;

    switch (k) {
    case NUMBER:
        return operand_dims(s, constant, 0, NULL);
    case FULL:
        return operand_dims(s, constant, rank, v->type.dims);
    case CHANNEL:
        if (channel == rank - 1 && random_chance(50))
            return operand_dims(s, constant, 1, &v->type.dims[channel]);
        for (uint32_t i = 0; i < rank; i++)
            dims[i] = i == channel ? v->type.dims[i] : 1;
        return operand_dims(s, constant, rank, dims);
    case ROW: /* all but the channels */
        for (uint32_t i = 0; i < rank; i++)
            dims[i] = i == channel ? 1 : v->type.dims[i];
        return operand_dims(s, constant, rank, dims);
    default: /* all but the first dimension */
        for (uint32_t i = 0; i < rank; i++)
            dims[i] = i ? v->type.dims[i] : 1;
        return operand_dims(s, constant, rank, dims);
    }
}

static const enum op binaries[] = {OP_ADD, OP_SUB, OP_MUL, OP_DIV};
static const enum op unaries[] = {OP_RELU, OP_CLAMP, OP_LEAKY_RELU, OP_LINEAR, OP_NEG, OP_ABS, OP_SQRT, OP_TANH, OP_HARD_SWISH};
enum { BINARIES = sizeof binaries / sizeof *binaries, UNARIES = sizeof unaries / sizeof *unaries };

static WNNNumber number(double d)
{
    return (WNNNumber){.type = WNNNumberType_Float64, .value = {.float64 = d}};
}

static struct value *apply_unary(struct subject *s, enum op op, struct value *v)
{
    WNNClampOptions clamp = WNN_CLAMP_OPTIONS_INIT;
    WNNLeakyReluOptions leaky = WNN_LEAKY_RELU_OPTIONS_INIT;
    WNNLinearOptions linear = WNN_LINEAR_OPTIONS_INIT;
    const void *options = NULL;

    switch ((int)op) {
    case OP_CLAMP:
        clamp.minValue = number(random_chance(30) ? -INFINITY : -0.1);
        clamp.maxValue = number(random_chance(30) ? INFINITY : 0.4);
        options = &clamp;
        break;
    case OP_LEAKY_RELU:
        leaky.alpha = random_chance(50) ? 0.25 : -1.5;
        options = &leaky;
        break;
    case OP_LINEAR:
        linear.alpha = -0.75, linear.beta = random_chance(50) ? 0 : 0.3;
        options = &linear;
        break;
    default:
        break;
    }
    return apply(s, op, options, v, NULL, NULL);
}

TEST(every_epilogue_is_computed_alone)
{
    for (int a = 0; a < ANCHORS; a++)
        for (int nhwc = !anchor_is_conv(a); nhwc < 2; nhwc++) {
            for (int i = 0; i < UNARIES; i++) {
                SCOPED(subject_end) struct subject s = subject_begin();

                apply_unary(&s, unaries[i], apply_anchor(&s, a, nhwc));
                /* convolutions by gemm make -0 of +0: they are what channels first and odd groups lead to */
                bool by_gemm = anchor_is_conv(a) && (!nhwc || a == CONV_GROUPS);
                if (!subject_check(&s) && !(unaries[i] == OP_ABS && by_gemm))
                    fail_with_graph(&s, "not taken");
            }
            for (int i = 0; i < BINARIES * 3 * 4; i++) {
                enum op op = binaries[i % BINARIES];
                enum operand_kind k = (enum operand_kind)(i / BINARIES % 3);
                bool constant = i / BINARIES / 3 & 1, swapped = i / BINARIES / 6 & 1;
                struct value *v, *x;

                if (swapped && (op == OP_SUB || op == OP_DIV))
                    continue;
                SCOPED(subject_end) struct subject s = subject_begin();
                v = apply_anchor(&s, a, nhwc);
                x = span_operand(&s, k, v, a, nhwc, constant);
                apply(&s, op, NULL, swapped ? x : v, swapped ? v : x, NULL);
                if (!subject_check(&s) && !(k == FULL && (full_is_misread(a, nhwc) || full_is_refused(a, nhwc))) &&
                    !product_is_refused(a, op))
                    fail_with_graph(&s, "not taken");
                /* A residual that is added right after the contraction must be possible in place. */
                if (op == OP_ADD && k == FULL && !constant && a != MATMUL_ROW) /* a full row is one number per channel */
                    assert_true(library_may_share(library, s.nodes, s.count, x) || refuses_in_place(a));
            }
        }
}

TEST(random_chains_are_computed)
{
    uint32_t lengths[7] = {0}, refused = 0;

    for (uint32_t round = 0; round < 400; round++) {
        enum anchor a = (enum anchor)(round % ANCHORS);
        bool nhwc = !anchor_is_conv(a) || random_chance(70);
        uint32_t wanted = random_between(2, 6);
        SCOPED(subject_end) struct subject s = subject_begin();
        struct value *v = apply_anchor(&s, a, nhwc);
        for (uint32_t i = 0; i < wanted; i++) {
            struct value *next;

            if (random_chance(50)) {
                /* No NaN on purpose: relu and clamp may lose it. */
                enum op op = unaries[random_bits() % UNARIES];
                bool negative = s.nodes[s.count - 1]->op != OP_ABS && s.nodes[s.count - 1]->op != OP_RELU;

                next = apply_unary(&s, op == OP_SQRT && negative ? OP_ABS : op, v);
            } else {
                struct value *x =
                    span_operand(&s, (enum operand_kind)random_between(NUMBER, FULL), v, a, nhwc, random_chance(50));
                next = apply(&s, binaries[random_bits() % BINARIES], NULL, v, x, NULL);
            }
            s.count--;
            if (library_takes_epilogue(library, s.nodes, s.count, s.nodes[s.count], 0)) {
                s.count++;
                v = next;
            } else {
                node_remove(s.nodes[s.count]);
                refused++;
            }
        }
        lengths[s.count - 1]++;
        if (!subject_check(&s))
            fail_with_graph(&s, "taken step by step, but not as a whole");
    }
    printf("chains by length:");
    for (int i = 0; i < 7; i++)
        printf(" %u", lengths[i]);
    printf("; %u refused\n", refused);
    assert_true(lengths[3] + lengths[4] + lengths[5] + lengths[6] > 200);
}

/** A common block: convolution, residual, relu; with the residual's memory as the output's and without. */
TEST(residual_blocks_are_computed)
{
    for (int a = 0; a < ANCHORS; a++) {
        SCOPED(subject_end) struct subject s = subject_begin();
        struct value *v, *x;

        v = apply_anchor(&s, a, true);
        x = span_operand(&s, FULL, v, a, true, false);
        v = apply(&s, OP_ADD, NULL, x, v, NULL);
        apply_unary(&s, OP_RELU, v);
        assert_true(library_may_share(library, s.nodes, s.count, x) || a == MATMUL_ROW || refuses_in_place(a));
        assert_true(subject_check(&s) || full_is_misread(a, true));
    }
}

/** An input may be overwritten only if the sum is all that reads it. */
TEST(residuals_that_are_read_elsewhere_stay)
{
    struct subject s = subject_begin(); /* also the source */
    struct value *x, *v, *y;

    x = OPERAND(&s, false, 16, 16);
    v = apply(&s, OP_MATMUL, NULL, x, OPERAND(&s, true, 16, 16), NULL);
    apply(&s, OP_ADD, NULL, v, x, NULL);
    assert_false(library_may_share(library, s.nodes, s.count, x));
    assert_true(subject_check(&s));
    subject_end(&s);

    s = subject_begin(); /* also another epilogue's operand */
    x = OPERAND(&s, false, 16, 16);
    y = OPERAND(&s, false, 16, 16);
    v = apply(&s, OP_MATMUL, NULL, y, OPERAND(&s, true, 16, 16), NULL);
    v = apply(&s, OP_ADD, NULL, v, x, NULL);
    v = apply(&s, OP_MUL, NULL, v, x, NULL);
    assert_false(library_may_share(library, s.nodes, s.count, x));
    assert_false(library_may_share(library, s.nodes, s.count, y));
    assert_true(subject_check(&s));
    subject_end(&s);

    s = subject_begin(); /* broadcast: smaller than the output */
    x = OPERAND(&s, false, 16);
    v = apply(&s, OP_MATMUL, NULL, OPERAND(&s, false, 16, 16), OPERAND(&s, true, 16, 16), NULL);
    apply(&s, OP_ADD, NULL, v, x, NULL);
    assert_false(library_may_share(library, s.nodes, s.count, x));
    subject_end(&s);
}

/** Refused: wrong, slow or inaccurate in the library. */
TEST(wrong_and_slow_epilogues_are_refused)
{
    static const enum op unary[] = {OP_EXP,          OP_ELU, OP_GELU, OP_SIGMOID, OP_SOFTPLUS,
                                    OP_HARD_SIGMOID, OP_LOG, OP_ERF,  OP_SOFTSIGN};
    static const enum op binary[] = {OP_MAX, OP_MIN, OP_POW, OP_PRELU};

    for (int a = 0; a < ANCHORS; a++)
        for (int nhwc = !anchor_is_conv(a); nhwc < 2; nhwc++) {
            SCOPED(subject_end) struct subject s = subject_begin();
            struct value *v = apply_anchor(&s, a, nhwc);
            for (size_t i = 0; i < sizeof unary / sizeof *unary; i++) {
                apply(&s, unary[i], NULL, v, NULL, NULL);
                assert_false(library_takes_epilogue(library, s.nodes, 1, s.nodes[--s.count], 0));
            }
            for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) {
                apply(&s, binary[i], NULL, v, span_operand(&s, CHANNEL, v, a, nhwc, true), NULL);
                assert_false(library_takes_epilogue(library, s.nodes, 1, s.nodes[--s.count], 0));
            }
            for (int i = 0; i < BINARIES; i++) {
                apply(&s, binaries[i], NULL, v, span_operand(&s, ROW, v, a, nhwc, true), NULL);
                s.count--;
                assert_int_equal(library_takes_epilogue(library, s.nodes, 1, s.nodes[s.count], 0), a == MATMUL_ROW);
                apply(&s, binaries[i], NULL, v, v, NULL);
                assert_false(library_takes_epilogue(library, s.nodes, 1, s.nodes[--s.count], 0));
                if (v->type.rank > 2) {
                    apply(&s, binaries[i], NULL, v, span_operand(&s, BATCH, v, a, nhwc, true), NULL);
                    assert_false(library_takes_epilogue(library, s.nodes, 1, s.nodes[--s.count], 0));
                }
            }
            apply(&s, OP_SUB, NULL, span_operand(&s, FULL, v, a, nhwc, true), v, NULL);
            assert_false(library_takes_epilogue(library, s.nodes, 1, s.nodes[--s.count], 1));
            apply(&s, OP_DIV, NULL, span_operand(&s, CHANNEL, v, a, nhwc, true), v, NULL);
            assert_false(library_takes_epilogue(library, s.nodes, 1, s.nodes[--s.count], 1));
            apply(&s, OP_LEAKY_RELU, &(WNNLeakyReluOptions){.alpha = 0}, v, NULL, NULL);
            assert_false(library_takes_epilogue(library, s.nodes, 1, s.nodes[--s.count], 0));
            /* The result grows: no epilogue. */
            struct tensor_type grown = v->type;
            for (uint32_t i = grown.rank++; i > 0; i--)
                grown.dims[i] = grown.dims[i - 1];
            grown.dims[0] = 2;
            apply(&s, OP_ADD, NULL, v, operand_dims(&s, true, grown.rank, grown.dims), NULL);
            assert_false(library_takes_epilogue(library, s.nodes, 1, s.nodes[--s.count], 0));
        }
}

/** oneDNN 2.6 gives the second of two eltwise post-ops of one kind the parameters of the first. */
TEST(equal_kinds_keep_their_own_parameters)
{
    for (int a = 0; a < ANCHORS; a++) {
        WNNLinearOptions one = {.alpha = 2, .beta = 0.5}, two = {.alpha = -3, .beta = 0.25};
        SCOPED(subject_end) struct subject s = subject_begin();
        struct value *v = apply(&s, OP_LINEAR, &one, apply_anchor(&s, a, true), NULL, NULL);
        apply(&s, OP_LINEAR, &two, v, NULL, NULL);
        s.count--;
        assert_true(library_takes_node(library, s.nodes[0]));
        assert_false(library_takes_epilogue(library, s.nodes, s.count, s.nodes[s.count], 0));
        node_remove(s.nodes[s.count]);
        apply(&s, OP_LINEAR, &one, v, NULL, NULL); /* the same parameters are fine */
        assert_true(subject_check(&s));
    }
}

/* ---- zeros ---- */

/** Applies one of three operators that make -0 of the +0 that relu has made. */
static struct value *apply_negation(struct subject *s, int which, struct value *v, enum anchor a, bool nhwc)
{
    struct value *x;

    switch (which) {
    case 0:
        return apply_unary(s, OP_NEG, v);
    case 1:
        x = span_operand(s, NUMBER, v, a, nhwc, true);
        *(float *)x->constant->data = -1;
        return apply(s, OP_MUL, NULL, v, x, NULL);
    default:
        x = span_operand(s, CHANNEL, v, a, nhwc, false);
        for (int64_t i = 0; i < type_elements(&x->type); i++)
            s->data[x->index][i] = -INFINITY;
        return apply(s, OP_DIV, NULL, v, x, NULL);
    }
}

/** The sign of a zero is right where relu has fixed it, and the library does not take what it would get wrong. */
TEST(zeros_keep_their_sign)
{
    for (int a = 0; a < ANCHORS; a++)
        for (int nhwc = !anchor_is_conv(a); nhwc < 2; nhwc++)
            for (int which = 0; which < 3; which++) {
                SCOPED(subject_end) struct subject s = subject_begin();

                apply_negation(&s, which, apply_unary(&s, OP_RELU, apply_anchor(&s, a, nhwc)), a, nhwc);
                if (subject_check(&s) != (a != CONV_TRANSPOSE))
                    fail_with_graph(&s, a == CONV_TRANSPOSE ? "taken" : "not taken");
            }
    WNNClampOptions clamp = WNN_CLAMP_OPTIONS_INIT;
    clamp.minValue = number(-0.0);
    for (int a = 0; a < ANCHORS; a++)
        for (int nhwc = !anchor_is_conv(a); nhwc < 2; nhwc++) {
            SCOPED(subject_end) struct subject s = subject_begin();

            apply(&s, OP_CLAMP, &clamp, apply_anchor(&s, a, nhwc), NULL, NULL);
            s.count--;
            assert_false(library_takes_epilogue(library, s.nodes, 1, s.nodes[s.count], 0));
        }
    /* After the sum alone either sign is right. */
    SCOPED(subject_end) struct subject s = subject_begin();
    apply_unary(&s, OP_NEG, apply_anchor(&s, CONV_TRANSPOSE, true));
    assert_true(subject_check(&s));
}

/* ---- special values ---- */

/** Runs one epilogue over the values given, by a matmul with [[1]]. */
static void run_special(enum op op, const void *options, uint32_t n, const float *in, float *out)
{
    SCOPED(subject_end) struct subject s = subject_begin();
    struct value *x, *w;
    struct test_run e;

    x = OPERAND(&s, false, n, 1);
    w = OPERAND(&s, true, 1, 1);
    *(float *)w->constant->data = 1;
    memcpy(s.data[x->index], in, n * sizeof *in);
    apply(&s, op, options, apply(&s, OP_MATMUL, NULL, x, w, NULL), NULL, NULL);
    assert_true(subject_taken(&s));
    struct library_step *step = library_step_create(library, s.nodes, s.count, shares_this, NULL, &(struct error){0});
    assert_non_null(step);
    step_run_begin(&s, step, &e);
    struct threads_saved saved = threads_enter(TEST_THREADS, NULL);
    assert_true(library_step_run(step, e.bindings, e.inputs, e.output, e.scratch));
    threads_leave(saved);
    memcpy(out, e.output, n * sizeof *out);
    step_run_end(&e);
    library_step_free(step);
}

TEST(special_values_pass)
{
    static const float in[] = {NAN, INFINITY, -INFINITY, 1e-40f, -1e-40f, 3e38f, -3e38f, 0.0f, -0.0f};
    enum { N = sizeof in / sizeof *in };
    WNNLeakyReluOptions leaky = {.alpha = 0.25};
    WNNLinearOptions linear = {.alpha = 2, .beta = 0};
    float out[N];

    if (test_precision != WNNPrecision_Float32)
        skip(); /* bfloat16 arithmetic takes subnormal numbers for zeros; test_library_precision.c has the others */
    run_special(OP_LEAKY_RELU, &leaky, N, in, out);
    assert_true(isnan(out[0]) && out[1] == INFINITY && out[2] == -INFINITY && out[3] == 1e-40f && out[4] == -0.25f * 1e-40f);
    run_special(OP_LINEAR, &linear, N, in, out);
    assert_true(isnan(out[0]) && out[1] == INFINITY && out[2] == -INFINITY && out[3] == 2 * 1e-40f && out[5] == INFINITY);
    run_special(OP_ABS, NULL, N, in, out);
    assert_true(isnan(out[0]) && out[1] == INFINITY && out[2] == INFINITY && out[4] == 1e-40f && out[6] == 3e38f);
    assert_true(!signbit(out[7]) && !signbit(out[8]));
    run_special(OP_NEG, NULL, N, in, out);
    assert_true(isnan(out[0]) && out[1] == -INFINITY && out[2] == INFINITY && out[4] == 1e-40f && out[6] == 3e38f);
    run_special(OP_TANH, NULL, N, in, out);
    assert_true(isnan(out[0]) && out[1] == 1 && out[2] == -1 && out[3] == 1e-40f && out[4] == -1e-40f);
    run_special(OP_SQRT, NULL, N, in, out);
    assert_true(isnan(out[0]) && out[1] == INFINITY && isnan(out[2]) && out[3] == sqrtf(1e-40f) && isnan(out[4]));
    run_special(OP_HARD_SWISH, NULL, N, in, out);
    assert_true(isnan(out[0]) && out[1] == INFINITY && isnan(out[2]) && out[6] == 0);
}

/** The library's clip gives a bound for NaN, which a run mends. */
TEST(relu_and_clamp_keep_nan)
{
    const float in[] = {NAN, -NAN, INFINITY, -INFINITY, -2, 2};
    WNNClampOptions clamp = {.minValue = number(-1), .maxValue = number(1)};
    float out[6];

    run_special(OP_RELU, NULL, 6, in, out);
    assert_true(isnan(out[0]) && isnan(out[1]) && out[2] == INFINITY && out[3] == 0 && out[4] == 0 && out[5] == 2);
    run_special(OP_CLAMP, &clamp, 6, in, out);
    assert_true(isnan(out[0]) && isnan(out[1]) && out[2] == 1 && out[3] == -1 && out[4] == -1 && out[5] == 1);
}

/** tanh and hardSwish, which the library approximates, within a few units in the last place over all magnitudes. */
TEST(approximations_are_close)
{
    enum { N = 65536 };
    OWNED(memory) float *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);

    assert_true(in && out);
    for (int i = 0; i < N; i++)
        in[i] = (i & 1 ? -1 : 1) * ldexpf(1 + (float)(random_bits() & 0xFFFFFF) / 16777216, (int)random_between(0, 66) - 60);
    for (int i = 0; i < N && test_precision != WNNPrecision_Float32; i++)
        in[i] = round_to_bits(in[i], 16); /* numbers that bfloat16 has */
    for (int k = 0; k < 2; k++) {
        run_special(k ? OP_HARD_SWISH : OP_TANH, NULL, N, in, out);
        for (int i = 0; i < N; i++) {
            double x = in[i], want = k ? x * fmax(0, fmin(6, x + 3)) / 6 : tanh(x);
            double ulp = ldexp(1, ilogb(want == 0 ? 1e-30 : want) - 23);
            /* hardSwish's x + 3, or x / 6 + 1 / 2, is rounded first: as much as a rounding of x makes of the slope. */
            double rounding = k ? fabs(2 * x + 3) / 6 * ldexp(1, ilogb(x) - 23) : 0;

            if (fabs(out[i] - want) > INTERPRET_FUNCTION_ULPS * ulp + rounding) {
                fprintf(stderr, "%s(%.9g) is %.9g, not %.9g\n", k ? "hardSwish" : "tanh", x, out[i], want);
                fail();
            }
        }
    }
}

int main(int argc, char **argv)
{
    return main_precisions(argv);
}
