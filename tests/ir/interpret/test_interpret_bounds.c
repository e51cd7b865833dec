/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Error bounds.  They must hold: operands moved anywhere within their bounds, and sums in any order of float32 arithmetic, must
 * stay inside.  They must be worth something: exact where the rules ask for bits, a few roundings elsewhere, infinite only at
 * jumps.
 */
#include "support/graphs.h"

#include <math.h>

#include "ir/interpret/interpret.h"
#include "support/random.h"

/** Of all sizes, also around zero. */
static double random_number(void)
{
    static const double scales[] = {0.01, 1, 1, 4, 30};
    return (2 * random_unit() - 1) * scales[(int)(random_unit() * 5)];
}

/* ---- operands within their bounds ---- */

/** Graphs of one node that matters (the last); all inputs are float32. */
static const char *const movable[] = {
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = add(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = sub(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = mul(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = div(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = max(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = min(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = pow(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = prelu(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = equal(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = notEqual(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = greater(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = greaterOrEqual(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = lesser(a, b); }",
    "inputs { a: f32[40]; b: f32[40]; } nodes { r = lesserOrEqual(a, b); }",
    "inputs { a: f32[40]; } nodes { r = cast(a, \"int32\"); }",
    "inputs { a: f32[40]; } nodes { r = cast(a, \"float16\"); }",
    "inputs { a: f32[40]; } nodes { r = clamp(a, minValue=-1, maxValue=2); }",
    "inputs { a: f32[40]; } nodes { r = abs(a); }",
    "inputs { a: f32[40]; } nodes { r = ceil(a); }",
    "inputs { a: f32[40]; } nodes { r = cos(a); }",
    "inputs { a: f32[40]; } nodes { r = erf(a); }",
    "inputs { a: f32[40]; } nodes { r = exp(a); }",
    "inputs { a: f32[40]; } nodes { r = floor(a); }",
    "inputs { a: f32[40]; } nodes { r = log(a); }",
    "inputs { a: f32[40]; } nodes { r = neg(a); }",
    "inputs { a: f32[40]; } nodes { r = reciprocal(a); }",
    "inputs { a: f32[40]; } nodes { r = roundEven(a); }",
    "inputs { a: f32[40]; } nodes { r = sin(a); }",
    "inputs { a: f32[40]; } nodes { r = sign(a); }",
    "inputs { a: f32[40]; } nodes { r = sqrt(a); }",
    "inputs { a: f32[40]; } nodes { r = tan(a); }",
    "inputs { a: f32[40]; } nodes { r = elu(a, alpha=1.7); }",
    "inputs { a: f32[40]; } nodes { r = gelu(a); }",
    "inputs { a: f32[40]; } nodes { r = hardSigmoid(a, alpha=-0.3); }",
    "inputs { a: f32[40]; } nodes { r = hardSwish(a); }",
    "inputs { a: f32[40]; } nodes { r = leakyRelu(a, alpha=-0.4); }",
    "inputs { a: f32[40]; } nodes { r = linear(a, alpha=2.5, beta=-1); }",
    "inputs { a: f32[40]; } nodes { r = relu(a); }",
    "inputs { a: f32[40]; } nodes { r = sigmoid(a); }",
    "inputs { a: f32[40]; } nodes { r = softplus(a); }",
    "inputs { a: f32[40]; } nodes { r = softsign(a); }",
    "inputs { a: f32[40]; } nodes { r = tanh(a); }",
    "consts { z: i8[1] @values([3]); } inputs { a: f32[40]; s: f32[1]; } nodes { r = quantizeLinear(a, s, z); }",
    "consts { q: i8[2] @values([3, -7]); z: i8[1] @values([3]); } inputs { s: f32[1]; } nodes { r = dequantizeLinear(q, s, z); "
    "}",
    "inputs { a: f32[5, 8]; m: f32[8]; v: f32[8]; s: f32[8]; b: f32[8]; }"
    " nodes { r = batchNormalization(a, m, v, scale=s, bias=b); }",
    "inputs { a: f32[5, 8]; } nodes { r = reduceL1(a, axes=[1]); }",
    "inputs { a: f32[5, 8]; } nodes { r = reduceL2(a, axes=[1]); }",
    "inputs { a: f32[5, 8]; } nodes { r = reduceLogSum(a, axes=[0]); }",
    "inputs { a: f32[5, 8]; } nodes { r = reduceLogSumExp(a, axes=[1]); }",
    "inputs { a: f32[5, 8]; } nodes { r = reduceMax(a, axes=[1]); }",
    "inputs { a: f32[5, 8]; } nodes { r = reduceMean(a, axes=[1]); }",
    "inputs { a: f32[5, 8]; } nodes { r = reduceMin(a, axes=[1]); }",
    "inputs { a: f32[5, 8]; } nodes { r = reduceProduct(a, axes=[1]); }",
    "inputs { a: f32[5, 8]; } nodes { r = reduceSum(a, axes=[1]); }",
    "inputs { a: f32[5, 8]; } nodes { r = reduceSumSquare(a, axes=[1]); }",
    "inputs { a: f32[5, 8]; } nodes { r = argMax(a, 1); }",
    "inputs { a: f32[5, 8]; } nodes { r = argMin(a, 0); }",
    "inputs { a: f32[5, 8]; } nodes { r = cumulativeSum(a, 1, exclusive=true); }",
    "inputs { a: f32[5, 8]; } nodes { r = cumulativeSum(a, 0, reversed=true); }",
    "inputs { a: f32[5, 8]; } nodes { r = softmax(a, 1); }",
    "inputs { a: f32[5, 8]; s: f32[8]; b: f32[8]; } nodes { r = layerNormalization(a, scale=s, bias=b); }",
    "inputs { a: f32[1, 2, 3, 4]; s: f32[4]; b: f32[4]; }"
    " nodes { r = instanceNormalization(a, scale=s, bias=b, layout=\"nhwc\"); }",
    "inputs { a: f32[3, 4]; b: f32[5, 4]; c: f32[5]; } nodes { r = gemm(a, b, bTranspose=true, c=c, alpha=0.7, beta=3); }",
    "inputs { a: f32[2, 3, 4]; b: f32[4, 5]; } nodes { r = matmul(a, b); }",
    "inputs { a: f32[1, 4, 5, 5]; w: f32[4, 2, 3, 3]; b: f32[4]; }"
    " nodes { r = conv2d(a, w, bias=b, groups=2, padding=[1, 1, 1, 1], strides=[2, 1]); }",
    "inputs { a: f32[1, 4, 3, 3]; w: f32[4, 2, 3, 3]; b: f32[4]; }"
    " nodes { r = convTranspose2d(a, w, bias=b, groups=2, strides=[2, 1]); }",
    "inputs { a: f32[1, 2, 5, 5]; } nodes { r = averagePool2d(a, windowDimensions=[2, 3], padding=[1, 0, 0, 1]); }",
    "inputs { a: f32[1, 2, 5, 5]; } nodes { r = l2Pool2d(a, windowDimensions=[2, 3], padding=[1, 0, 0, 1]); }",
    "inputs { a: f32[1, 2, 5, 5]; } nodes { r = maxPool2d(a, windowDimensions=[2, 3], padding=[1, 0, 0, 1]); }",
    "inputs { a: f32[1, 2, 3, 3]; } nodes { r = resample2d(a, mode=\"linear\", sizes=[5, 7]); }",
    "inputs { a: f32[1, 2, 3, 3]; } nodes { r = resample2d(a, sizes=[5, 7]); }",
    "inputs { a: f32[2, 3]; } nodes { r = transpose(a); }",
    "inputs { a: f32[2, 3]; } nodes { r = pad(a, [1, 2], [0, 1], mode=\"reflection\"); }",
};

/** Two results in one check: the recurrent operators' hidden states. */
static const char *const movable_recurrent[] = {
    "inputs { a: f32[3, 2, 4]; w: f32[2, 9, 4]; u: f32[2, 9, 3]; b: f32[2, 9]; v: f32[2, 9]; h: f32[2, 2, 3]; }"
    " nodes { [r, q] = gru(a, w, u, 3, 3, bias=b, recurrentBias=v, initialHiddenState=h, direction=\"both\","
    " returnSequence=true, resetAfter=false); }",
    "inputs { a: f32[2, 4]; w: f32[9, 4]; u: f32[9, 3]; h: f32[2, 3]; b: f32[9]; } nodes { r = gruCell(a, w, u, h, 3, bias=b); "
    "}",
    "inputs { a: f32[3, 2, 4]; w: f32[1, 12, 4]; u: f32[1, 12, 3]; b: f32[1, 12]; p: f32[1, 9]; }"
    " nodes { [r, q, s] = lstm(a, w, u, 3, 3, bias=b, peepholeWeight=p, returnSequence=true, direction=\"backward\"); }",
};

/** A node's operands: values, bounds, and values moved within the bounds. */
struct operands {
    const void *values[OP_OPERANDS_MAX], *moved[OP_OPERANDS_MAX];
    double *bounds[OP_OPERANDS_MAX];
};

static void fill(const struct node *n, struct operands *o, double uncertainty)
{
    memset(o, 0, sizeof *o);
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *v = n->inputs[i].value;
        if (!v)
            continue;
        if (v->kind == VALUE_CONSTANT) {
            o->values[i] = o->moved[i] = v->constant->data;
            continue;
        }
        const int64_t count = type_elements(&v->type);
        float *x = malloc((size_t)count * sizeof *x), *y = malloc((size_t)count * sizeof *y);
        double *e = malloc((size_t)count * sizeof *e);
        for (int64_t k = 0; k < count; k++) {
            x[k] = (float)random_number();
            e[k] = random_unit() < 0.2 ? 0 : uncertainty * fabs(random_number());
            double t = random_unit() < 0.3 ? 1 : random_unit() < 0.4 ? -1 : 2 * random_unit() - 1;
            y[k] = (float)(x[k] + t * e[k]);
            e[k] = fmax(e[k], fabs((double)y[k] - (double)x[k]));
        }
        o->values[i] = x;
        o->moved[i] = y;
        o->bounds[i] = e;
    }
}

static void release(const struct node *n, struct operands *o)
{
    for (uint32_t i = 0; i < n->input_count; i++)
        if (o->bounds[i]) {
            free((void *)o->values[i]);
            free((void *)o->moved[i]);
            free(o->bounds[i]);
        }
}

static double element(const struct tensor_type *type, const void *data, int64_t k)
{
    union scalar s = {0};
    memcpy(&s, (const char *)data + (size_t)k * dtype_size(type->type), dtype_size(type->type));
    return scalar_to_double(s, type->type);
}

/** Elements checked, and those of infinite bound. */
static int64_t checked, unbounded;

static void move_operands(const char *body, double uncertainty)
{
    char text[2048];
    struct error error = {0};

    snprintf(text, sizeof text, "%s outputs { r; }", body);
    OWNED(graph) struct graph *g = parse_body(text);
    const struct node *n = g->last;
    void *results[OP_RESULTS_MAX], *moved[OP_RESULTS_MAX];
    double *bounds[OP_RESULTS_MAX];
    struct operands o;

    fill(n, &o, uncertainty);
    for (uint32_t r = 0; r < n->result_count; r++) {
        results[r] = malloc((size_t)type_bytes(&n->results[r]->type));
        moved[r] = malloc((size_t)type_bytes(&n->results[r]->type));
        bounds[r] = malloc((size_t)type_elements(&n->results[r]->type) * sizeof(double));
    }
    assert_true(node_interpret_bounds(n, o.values, (const double *const *)o.bounds, results, bounds, &error));
    assert_true(node_interpret(n, o.moved, moved, &error));
    for (uint32_t r = 0; r < n->result_count; r++) {
        const struct tensor_type *type = &n->results[r]->type;
        for (int64_t k = 0, count = type_elements(type); k < count; k++) {
            double a = element(type, results[r], k), b = element(type, moved[r], k), bound = bounds[r][k];
            assert_false(isnan(bound) || bound < 0);
            checked++;
            unbounded += isinf(bound);
            if (isinf(bound) || a == b || (isnan(a) && isnan(b)))
                continue;
            if (!(fabs(a - b) <= bound))
                fail_msg("result %u element %d is %.9g, moved %.9g, bound %g: %s", r, (int)k, a, b, bound, body);
        }
        free(results[r]);
        free(moved[r]);
        free(bounds[r]);
    }
    release(n, &o);
}

TEST(moved_operands_stay_within_bounds)
{
    random_seed(1);
    for (size_t i = 0; i < sizeof movable / sizeof *movable; i++)
        for (int repeat = 0; repeat < 40; repeat++)
            move_operands(movable[i], repeat % 2 ? 0.3 : 1e-4);
    for (size_t i = 0; i < sizeof movable_recurrent / sizeof *movable_recurrent; i++)
        for (int repeat = 0; repeat < 20; repeat++)
            move_operands(movable_recurrent[i], repeat % 2 ? 0.1 : 1e-5);
    print_message("%lld elements, %lld without a bound\n", (long long)checked, (long long)unbounded);
}

/* ---- float32 arithmetic ---- */

/** Runs a graph of one output with bounds. */
static void run(struct graph *g, const void *const *inputs, float *output, double *bounds)
{
    assert_true(graph_interpret_bounds(g, inputs, (void *const[]){output}, (double *const[]){bounds}, &(struct error){0}));
}

#define assert_within(actual, expected, bound) assert_true(fabs((double)(actual) - (double)(expected)) <= (bound))

enum { LENGTH = 2000 };

TEST(sums_in_any_order_stay_within_bounds)
{
    OWNED(graph) struct graph *g = parse_body("inputs { a: f32[2000]; } nodes { r = reduceSum(a); } outputs { r; }");
    static float x[LENGTH];
    float exact, forward = 0, backward = 0, lanes[16] = {0}, blocked = 0;
    double bound;

    random_seed(2);
    for (int k = 0; k < LENGTH; k++)
        x[k] = (float)random_number();
    for (int k = 0; k < LENGTH; k++) {
        forward += x[k];
        backward += x[LENGTH - 1 - k];
        lanes[k % 16] += x[k];
    }
    for (int k = 0; k < 16; k++)
        blocked += lanes[k];
    run(g, (const void *const[]){x}, &exact, &bound);
    assert_within(forward, exact, bound);
    assert_within(backward, exact, bound);
    assert_within(blocked, exact, bound);
    /* forward summation is visibly off, so that the test says something, and the bound is the textbook's, not more */
    assert_true(forward != exact);
    double size = 0;
    for (int k = 0; k < LENGTH; k++)
        size += fabsf(x[k]);
    assert_true(bound <= 1.01 * LENGTH * 0x1p-24 * size);
}

TEST(float_softmax_stays_within_bounds)
{
    OWNED(graph) struct graph *g = parse_body("inputs { a: f32[1, 500]; } nodes { r = softmax(a, 1); } outputs { r; }");
    float x[500], y[500], exact[500], largest = -INFINITY, sum = 0;
    double bounds[500];

    random_seed(3);
    for (int k = 0; k < 500; k++) {
        x[k] = (float)random_number();
        largest = fmaxf(largest, x[k]);
    }
    for (int k = 0; k < 500; k++)
        sum += y[k] = expf(x[k] - largest);
    run(g, (const void *const[]){x}, exact, bounds);
    for (int k = 0; k < 500; k++) {
        assert_within(y[k] / sum, exact[k], bounds[k]);
        assert_true(bounds[k] <= 600 * 0x1p-24 * (double)exact[k] + 0x1p-120);
    }
}

TEST(float_normalisation_stays_within_bounds)
{
    OWNED(graph) struct graph *g = parse_body("inputs { a: f32[1, 500]; } nodes { r = layerNormalization(a); } outputs { r; }");
    float x[500], exact[500], mean = 0, variance = 0;
    double bounds[500];

    random_seed(4);
    for (int k = 0; k < 500; k++)
        mean += x[k] = (float)(100 + random_number()); /* a mean that is large relative to the deviations */
    mean /= 500;
    for (int k = 0; k < 500; k++)
        variance += (x[k] - mean) * (x[k] - mean);
    variance /= 500;
    run(g, (const void *const[]){x}, exact, bounds);
    for (int k = 0; k < 500; k++)
        assert_within((x[k] - mean) / sqrtf(variance + 1e-5f), exact[k], bounds[k]);
}

TEST(float_functions_stay_within_bounds)
{
    static const struct {
        const char *name;
        float (*function)(float);
    } functions[] = {{"exp", expf}, {"log", logf}, {"sin", sinf}, {"cos", cosf}, {"tan", tanf}, {"tanh", tanhf}, {"erf", erff}};

    random_seed(5);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char body[128];
        float x[1000], exact[1000];
        double bounds[1000];
        snprintf(body, sizeof body, "inputs { a: f32[1000]; } nodes { r = %s(a); } outputs { r; }", functions[i].name);
        OWNED(graph) struct graph *g = parse_body(body);
        for (int k = 0; k < 1000; k++)
            x[k] = (float)fabs(random_number());
        run(g, (const void *const[]){x}, exact, bounds);
        for (int k = 0; k < 1000; k++) {
            assert_within(functions[i].function(x[k]), exact[k], bounds[k]);
            assert_true(bounds[k] <= 6 * 0x1p-23 * fabs((double)exact[k]) + 0x1p-146);
        }
    }
}

/* ---- certain elements, and others ---- */

TEST(exact_operators_allow_nothing)
{
    static const char *const nodes[] = {
        "r = add(a, b);",
        "r = mul(a, b);",
        "r = div(a, b);",
        "r = sqrt(a);",
        "r = relu(a);",
        "r = neg(a);",
        "r = max(a, b);",
        "r = abs(a);",
        "r = where(c, a, b);",
        "r = reshape(a, [4]);",
        "r = reduceMax(a, axes=[1]);",
        "r = roundEven(a);",
        "r = clamp(a, minValue=0.3);",
        "r = reduceSum(a, axes=[]);",
    };

    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        char body[256];
        const float a[4] = {0.1f, NAN, INFINITY, -7}, b[4] = {3, 0, -0.0f, 1e-40f};
        const uint8_t c[4] = {1, 0, 1, 0};
        float r[4];
        double bounds[4] = {0};
        snprintf(body, sizeof body, "inputs { a: f32[2, 2]; b: f32[2, 2]; c: u8[2, 2]; } nodes { %s } outputs { r; }",
                 nodes[i]);
        OWNED(graph) struct graph *g = parse_body(body);
        run(g, (const void *const[]){a, b, c}, r, bounds);
        for (int k = 0; k < 4; k++)
            assert_true(bounds[k] == 0);
    }
}

/** The node after an inexact one, at its jump and away from it. */
TEST(jumps_are_uncertain)
{
    static const struct {
        const char *node;
        float near, away; /* arguments of exp in front of the node */
    } jumps[] = {
        {"r = cast(x, \"int32\");", 0, 0.5f},
        {"r = equal(x, one);", 0, 1},
        {"r = lesser(x, one);", 0, 1},
        {"r = greaterOrEqual(x, one);", 0, -1},
        {"s = sub(x, one); r = reciprocal(s);", 0, 1},
        {"s = sub(x, one); r = log(s);", 0, 1},
        {"s = linear(x, beta=-1.5); r = quantizeLinear(s, one, z);", 0, 1},
    };

    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        char body[256];
        const float x[2] = {jumps[i].near, jumps[i].away};
        float r[2];
        double bounds[2];
        snprintf(body, sizeof body,
                 "consts { one: f32[1] @values([1]); z: i8[1] @values([0]); } inputs { a: f32[2]; }"
                 " nodes { x = exp(a); %s } outputs { r; }",
                 jumps[i].node);
        OWNED(graph) struct graph *g = parse_body(body);
        run(g, (const void *const[]){x}, r, bounds);
        if (!isinf(bounds[0]) || isinf(bounds[1]))
            fail_msg("bounds %g and %g: %s", bounds[0], bounds[1], body);
    }
}

/** The bounds of graphs of one node whose operands are given as text; every element is as wanted: infinite or not. */
static void check_unknown(const char *nodes, bool unknown)
{
    char body[1200];
    float r[16];
    double bounds[16];

    snprintf(body, sizeof body,
             "consts { big: f32[1, 3] @values([3e38, -2e38, 1]); one: f32[3, 1] @values([1, 1, 1]); m: f32[3, 1] @values([-3, "
             "-3, 1]);"
             " odd: f32[1, 3] @values([Infinity, -3e38, -3e38]); x: f32[1, 1, 2, 2] @values([1, 2, 3, 4]);"
             " w: f32[1, 1, 2, 2] @values([1, Infinity, 1, 1]); inner: f32[1, 1, 2, 2] @values([1, 1, 1, 1]);"
             " steep: f32[1, 2] @values([3e38, Infinity]); flat: f32[1, 2] @values([1, Infinity]);"
             " rows: f32[3, 2] @values([-3, 1, -3, 1, -3, 1]); c1: f32[1, 1] @values([1]); top: f32[1, 1] @values([3e38]); c: "
             "f32[1] @values([1]); q: f32[1] @values([0.25]); }"
             " nodes { %s } outputs { r; }",
             nodes);
    OWNED(graph) struct graph *g = parse_body(body);
    const int64_t n = type_elements(&g->outputs[0].value->type);
    assert_true(n <= 16);
    run(g, NULL, r, bounds);
    for (int64_t k = 0; k < n; k++)
        if (isinf(bounds[k]) != unknown)
            fail_msg("bound %g of element %d: %s", bounds[k], (int)k, nodes);
}

/** Where float32 leaves its range on the way, nothing can be asked, whatever the exact result is. */
TEST(float32_overflow_on_the_way_is_uncertain)
{
    check_unknown("r = reduceSum(one);", false);
    check_unknown("r = reduceSum(big);", true);
    check_unknown("r = reduceSum(odd);", true); /* Infinity, or NaN if the others are added first */
    check_unknown("r = reduceMean(odd);", true);
    check_unknown("r = gruCell(steep, rows, one, c1, 1);", true);
    check_unknown("r = gruCell(flat, rows, one, c1, 1);", false);
    check_unknown("r = matmul(odd, one);", true);
    check_unknown("r = matmul(big, m);", true);
    check_unknown("r = gemm(big, m, alpha=1e-30);", false); /* alpha comes first */
    check_unknown("r = gemm(big, one, alpha=-1e-30);", false);
    check_unknown("r = gemm(big, m, alpha=2);", true);
    check_unknown("r = layerNormalization(big);", true); /* its variance */
    check_unknown("f = reduceMax(big); r = linear(f, alpha=1.2, beta=-1e38);", true);
    check_unknown("r = batchNormalization(top, c, q, scale=q, epsilon=0);", true);
    check_unknown("r = layerNormalization(one, axes=[0]);", false);
}

/** 0 times an infinite weight is NaN, but padding may also be left out. */
TEST(infinite_weights_next_to_padding_are_uncertain)
{
    check_unknown("r = conv2d(x, w);", false);
    check_unknown("r = conv2d(x, inner, padding=[0, 0, 1, 0]);", false);
    check_unknown("s = conv2d(x, w, padding=[0, 0, 0, 1]); r = slice(s, [0, 0, 0, 1], [1, 1, 1, 1]);", true);
    check_unknown("s = conv2d(x, w, padding=[0, 0, 1, 0]); r = slice(s, [0, 0, 0, 1], [1, 1, 1, 1]);", false);
}

/** Products and sums of an interpolation of subnormal numbers are rounded to the least of these, not to 24 bits. */
TEST(interpolated_subnormals_are_uncertain)
{
    OWNED(graph) struct graph *g =
        parse_body("consts { a: f32[1, 1, 1, 2] @values([1e-44, 4e-45]); } nodes { r = resample2d(a, "
                   "mode=\"linear\", sizes=[1, 5]); } outputs { r; }");
    float r[5];
    double bounds[5];

    run(g, NULL, r, bounds);
    assert_true(bounds[1] >= 0x1p-149 && bounds[2] >= 0x1p-149 && bounds[2] < 0x1p-139);
}

/** Starting at +0 or at the first term makes a difference for zeros only. */
TEST(zero_sums_have_either_sign)
{
    static const char *const nodes[] = {"r = reduceSum(z);", "r = matmul(z, one);", "r = gemm(z, one, alpha=-0);",
                                        "r = reduceSum(z, axes=[]);", "h = cast(z, \"float16\"); r = reduceSum(h);"};

    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        char body[300];
        float r[4] = {0};
        double bounds[4];
        snprintf(body, sizeof body,
                 "consts { z: f32[1, 1] @values([-0.0]); one: f32[1, 1] @values([1]); } nodes { %s } outputs { r; }", nodes[i]);
        OWNED(graph) struct graph *g = parse_body(body);
        run(g, NULL, r, bounds);
        if (!(bounds[0] > 0 && bounds[0] <= 0x1p-24))
            fail_msg("bound %g: %s", bounds[0], body);
    }
}

/** The sign stays open where what it is computed from rounds to zero, until an operator decides it. */
TEST(zeros_of_open_sign_stay_open)
{
    static const struct {
        const char *node;
        bool open;
    } nodes[] = {{"r = roundEven(s);", true}, {"r = neg(s);", true},       {"r = mul(s, k);", true},
                 {"r = mul(s, z);", true},    {"r = max(s, big);", false}, {"r = cast(s, \"int8\");", false}};

    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        char body[300];
        float r[4] = {0};
        double bounds[4];
        snprintf(
            body, sizeof body,
            "consts { z: f32[1] @scalar(-0); k: f32[1] @scalar(-1e-30); big: f32[1] @scalar(1); } nodes { s = reduceSum(z, "
            "keepDimensions=true); %s } outputs { r; }",
            nodes[i].node);
        OWNED(graph) struct graph *g = parse_body(body);
        run(g, NULL, r, bounds);
        if (nodes[i].open ? !(bounds[0] > 0 && bounds[0] <= 0x1p-148) : bounds[0] != 0)
            fail_msg("bound %g: %s", bounds[0], body);
    }
}

TEST(float16_results_allow_one_step)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { a: f32[200]; } nodes { h = cast(a, \"float16\"); r = exp(h); } outputs { r; }");
    float x[200];
    uint16_t r[200];
    double bounds[200];
    struct error error = {0};
    int certain = 0;

    random_seed(6);
    for (int k = 0; k < 200; k++)
        x[k] = (float)(2 * random_unit());
    assert_true(graph_interpret_bounds(g, (const void *const[]){x}, (void *const[]){r}, (double *const[]){bounds}, &error));
    for (int k = 0; k < 200; k++) {
        double y = f16_to_f32(r[k]);
        certain += bounds[k] == 0;
        assert_true(bounds[k] <= 0x1p-10 * y); /* the float16 next to it */
    }
    assert_true(certain > 190); /* float32's error is far smaller than float16's steps */
}
