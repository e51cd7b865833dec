/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The checks of the differential tests themselves: what they must find, what they must let pass, what they must count; and
 * graphs that failed once, in the textual form, so that they stay the same when the drawing of graphs changes.
 */
#include "ir/text/text.h"
#include "random.h"
#include "support/test.h"

/* Inputs are filled with `numbers`, again and again; the rest is computed. */
static void sample_parse(struct sample *s, const char *body, size_t count, const float *numbers)
{
    struct error e = {0};
    OWNED(memory) char *text = random_alloc(strlen(body) + 64, 1);

    sprintf(text, "webnn_graph \"test\" v1 {\n%s\n}\n", body);
    *s = (struct sample){.g = graph_parse(text, strlen(text), NULL, NULL, &e)};
    if (!s->g)
        fail_msg("%s\n%s", e.message, text);
    for (uint32_t i = 0; i < s->g->input_count; i++) {
        const struct value *v = s->g->inputs[i];
        float *data = random_alloc((size_t)type_elements(&v->type), sizeof *data);
        assert_int_equal(v->type.type, WNNOperandDataType_Float32);
        for (int64_t k = 0; k < type_elements(&v->type); k++)
            data[k] = numbers[(size_t)k % count];
        sample_set_data(s, v, data, NULL);
    }
    assert_true(sample_evaluate(s));
}

static float *output_data(const struct sample *s, uint32_t output)
{
    return s->data[s->g->outputs[output].value->index];
}

/* The sample must agree in that variant.  Returns what is counted. */
static struct check_counts counts_of(struct sample *s, const char *name, const char *what)
{
    char report[CHECK_REPORT] = "";
    struct check_counts counts = {0};
    SCOPED(variant_release) struct variant v = {0};

    variant_init(&v, name);
    if (!check_sample(s, report) || !check_variant(s, &v, &counts, report))
        fail_msg("%s, %s: %s", what, name, report);
    return counts;
}

static struct check_counts counts_of_text(const char *body, size_t count, const float *numbers, const char *name,
                                          const char *what)
{
    SCOPED(sample_free) struct sample s = {0};

    sample_parse(&s, body, count, numbers);
    const struct check_counts counts = counts_of(&s, name, what);
    return counts;
}

/* ---- counting, and exempt elements ---- */

/* NaN in row 1: after the contraction and relu that row is exempt, and elements computed from it, and nothing else. */
static const char nan_after_relu[] = "inputs { x: f32[4, 3]; } consts { w: f32[3, 5] @scalar(0.5); }"
                                     "nodes { m = matmul(x, w); y = relu(m); t = transpose(y); z = neg(t); } outputs { y; z; }";
static const float row_of_nan[12] = {1, 2, 3, 4, (float)NAN, 6, 7, 8, 9, 10, 11, 12};

TEST(exemptions_are_single_elements)
{
    char report[CHECK_REPORT] = "";
    SCOPED(sample_free) struct sample s = {0};

    sample_parse(&s, nan_after_relu, 12, row_of_nan);
    struct check_counts counts = counts_of(&s, "default", "NaN after relu");
    assert_int_equal(counts.exempt, 5 + 5);
    assert_int_equal(counts.compared, 15 + 15);
    assert_int_equal(counts.unknown, 0);

    /* In an exempt element anything may stand, ... */
    output_data(&s, 0)[5] = 17;
    SCOPED(variant_release) struct variant v = {0};
    variant_init(&v, "default");
    assert_true(check_variant(&s, &v, &counts, report));
    /* ... but not next to it. */
    output_data(&s, 0)[4] += 1;
    assert_false(check_variant(&s, &v, &counts, report));
    assert_non_null(strstr(report, "element 4 "));
}

TEST(nothing_is_exempt_without_epilogues)
{
    static const char *const names[] = {"no-library", "no-passes", "skip=fuse-epilogues"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct check_counts counts = counts_of_text(nan_after_relu, 12, row_of_nan, names[i], "NaN after relu");

        assert_int_equal(counts.exempt, 0);
        assert_int_equal(counts.compared, 40);
    }
}

/* max with one number is a clamp to the library, whichever operand the number is; max with a tensor that differs is not. */
TEST(bounds_by_one_number_are_exempt)
{
    static const struct {
        const char *max;
        uint64_t exempt;
    } cases[] = {{"max(m, one)", 5}, {"max(one, m)", 5}, {"min(m, one)", 5}, {"max(m, m)", 0}, {"max(m, x1)", 0}};
    char text[300];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text,
                 "inputs { x: f32[4, 3]; } consts { w: f32[3, 5] @scalar(0.5); one: f32[1, 1] @scalar(1); }"
                 "nodes { x1 = reduceMax(x, axes=[0, 1], keepDimensions=true); m = matmul(x, w); y = %s; } outputs { y; }",
                 cases[i].max);
        assert_int_equal(counts_of_text(text, 12, row_of_nan, "default", cases[i].max).exempt, cases[i].exempt);
    }
}

/* NaN that meets no relu or clamp after a contraction is compared everywhere. */
TEST(other_nan_is_compared)
{
    const struct check_counts counts = counts_of_text("inputs { x: f32[4, 3]; } consts { w: f32[3, 5] @scalar(0.5); }"
                                                      "nodes { r = relu(x); m = matmul(r, w); y = sqrt(m); } outputs { y; }",
                                                      12, row_of_nan, "default", "relu before the contraction");

    assert_int_equal(counts.exempt, 0);
    assert_int_equal(counts.compared, 20);
}

/* exp(0) is 1 in exact arithmetic, and a little less or more in the implementation's: below it the cast jumps. */
TEST(elements_near_jumps_are_counted)
{
    static const float numbers[4] = {0, 1, 2, 3};
    const struct check_counts counts =
        counts_of_text("inputs { x: f32[4]; } nodes { e = exp(x); y = cast(e, \"int32\"); } outputs { e; y; }", 4, numbers,
                       "default", "a cast of exp");

    assert_int_equal(counts.unknown, 1);
    assert_int_equal(counts.compared, 7);
    assert_int_equal(counts.exempt, 0);
}

/* One unit in the last place too much where the result is rounded once, and a wrong sign of zero, are mismatches. */
TEST(small_differences_are_found)
{
    static const float numbers[4] = {-0.5f, 1.25f, -3, 7};
    char report[CHECK_REPORT] = "";
    struct check_counts counts;
    struct sample s;

    for (int k = 0; k < 2; k++) {
        sample_parse(&s, "inputs { x: f32[4]; } nodes { y = add(x, x); z = ceil(x); } outputs { y; z; }", 4, numbers);
        float *y = output_data(&s, 0), *z = output_data(&s, 1);
        struct variant v;
        variant_init(&v, "default");
        assert_true(check_variant(&s, &v, &counts, report));
        if (k)
            z[0] = 0; /* is -0 */
        else
            y[3] = nextafterf(y[3], INFINITY);
        assert_false(check_variant(&s, &v, &counts, report));
        assert_non_null(strstr(report, k ? "output z" : "output y"));
        variant_release(&v);
        sample_free(&s);
    }
}

/* ---- what failed once ---- */

static const struct regression {
    const char *what, *body;
} regressions[] = {
    /* Seed 1003415: whether a zero that no multiplication made is -0 or +0 is open, and stays open after mul and roundEven:
     * the interpreter's bound forgot it where both candidates round to zero. */
    {"places of a transposed convolution that no term reaches",
     "inputs { x: f32[1, 7, 17, 1]; }"
     "consts { w: f32[1, 2, 1, 1] @values([-1.2465476, -1.0362794]); k: f32[1, 1, 1, 2] @values([1.1893216e-15, -1.9109092]); }"
     "nodes { c = convTranspose2d(x, w, padding=[2, 1, 1, 1], strides=[3, 2], dilations=[1, 1], outputSizes=[17, 32],"
     "  inputLayout=\"nhwc\"); m = mul(k, c); y = roundEven(m); } outputs { y; }"},
    /* Seed 1001665: folded into the weights, a factor of zero lost the sign of the convolution's result. */
    {"a convolution times a constant zero",
     "inputs { x: f32[1, 2, 5, 4]; } consts { w: f32[3, 2, 2, 2] @scalar(-0.75); k: f32[3, 1, 1] @values([0, -0, 2]); }"
     "nodes { a = abs(x); o = linear(a, alpha=1, beta=1); c = conv2d(o, w); y = mul(c, k); } outputs { y; }"},
    /* Below AVX-512 the library's convolutions begin their sums with a bias and with a residual: an add of its own is rounded
     * once, however large the number is. */
    {"a large constant added to a convolution",
     "inputs { x: f32[1, 32, 9, 9]; } consts { w: f32[32, 32, 3, 3] @scalar(0.0123); k: f32[32, 1, 1] @scalar(1000000); }"
     "nodes { c = conv2d(x, w, padding=[1, 1, 1, 1]); y = add(c, k); } outputs { y; }"},
    {"a large tensor added to a convolution, channels last",
     "inputs { x: f32[1, 9, 9, 32]; } consts { w: f32[32, 32, 3, 3] @scalar(0.0123); }"
     "nodes { m = linear(x, alpha=1000000, beta=1000000); c = conv2d(x, w, padding=[1, 1, 1, 1], inputLayout=\"nhwc\");"
     "  y = add(c, m); } outputs { y; }"},
    /* The library's convolution by gemm has an abs that makes -0 of +0. */
    {"abs of zeros after a convolution by gemm",
     "inputs { x: f32[1, 20, 6, 7]; } consts { w: f32[40, 5, 3, 3] @scalar(-0.25); k: f32[] @scalar(0.5); }"
     "nodes { c = conv2d(x, w, groups=4, padding=[1, 1, 1, 1]); r = relu(c); m = mul(r, k); y = abs(m); } outputs { y; }"},
    /* A library epilogue made -0 of negative numbers. */
    {"relu after convolutions by gemm",
     "inputs { x: f32[1, 20, 6, 7]; } consts { w: f32[40, 5, 3, 3] @scalar(-0.25); }"
     "nodes { c = conv2d(x, w, groups=4, padding=[1, 1, 1, 1]); y = relu(c); } outputs { y; }"},
    {"relu after convolutions by gemm, channels last",
     "inputs { x: f32[1, 6, 7, 20]; } consts { w: f32[40, 5, 3, 3] @scalar(-0.25); }"
     "nodes { c = conv2d(x, w, groups=4, padding=[1, 1, 1, 1], inputLayout=\"nhwc\"); y = relu(c); } outputs { y; }"},
    /* Seed 74000243: on the way to -Infinity the sum may pass float32's range at its other end, which alpha comes too late for,
     * and is NaN then: the interpreter's bound said so of finite sums only. */
    {"a product that overflows before it meets an infinity",
     "inputs { x: f32[1, 7]; } consts { w: f32[2, 7] @values([3e38, 0, 0, -Infinity, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7]); }"
     "nodes { y = gemm(x, w, alpha=0.25, bTranspose=true); } outputs { y; }"},
    /* Seed 1204000040: tiles of four channels had no rest where vectors run along the tiles, whose number is a multiple. */
    {"three channels of a transformed convolution",
     "inputs { x: f32[1, 4, 7, 1]; } consts { w: f32[3, 1, 3, 3] @scalar(0.75); }"
     "nodes { y = conv2d(x, w, padding=[0, 1, 2, 2], inputLayout=\"nhwc\"); } outputs { y; }"},
};

TEST(what_failed_once)
{
    static const char names[] = "default threads=2 no-passes no-library isa=avx2 isa=baseline no-passes,no-library "
                                "skip=fold-batch-norm skip=fold-constants skip=fuse-epilogues skip=propagate-layout "
                                "named,prefer-winograd";
    static const float numbers[7] = {1.5f, -2, 0.25f, 3, -1, 0, 0.625f};

    for (size_t i = 0; i < sizeof regressions / sizeof *regressions; i++) {
        const struct regression *r = &regressions[i];
        char copy[sizeof names], *rest;
        for (const char *name = strtok_r(strcpy(copy, names), " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
            const struct check_counts counts = counts_of_text(r->body, 7, numbers, name, r->what);
            assert_true(counts.compared > 0 && counts.exempt == 0);
        }
    }
}
