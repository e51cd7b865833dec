/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowering, held against the reference interpreter: every operator by itself, for its data types, layouts and options, with
 * ordinary and nasty operands; then clusters of several nodes, of which it is also checked whether they become one kernel.
 * kernel_interpret runs the kernels: no LLVM here.
 */
#include "support/kernels.h"
#include "support/schedules.h"

#define FLOATS "f32 f16"
#define ALL "f32 f16 i32 u32 i64 u64 i8 u8"
#define SIGNED "f32 f16 i64 i32 i8"
#define SUMS "f32 f16 i32 u32 i64 u64"

/** A body stands for several if words and a bar are in front of it: each word is OP in one of them. */
struct operator_case {
    const char *types, *body;
};

static const struct operator_case cases[] = {
#define BINARY(types, words)                                                                                                   \
    {types, words "|inputs { a: T[2, 3, 5]; b: T[2, 3, 5]; } nodes { y = OP(a, b); } outputs { y; }"},                         \
        {types, words "|inputs { a: T[4, 1, 5]; b: T[3, 1]; } nodes { y = OP(a, b); } outputs { y; }"},                        \
        {types, words "|inputs { a: T[]; b: T[2, 3]; } nodes { y = OP(a, b); } outputs { y; }"},                               \
        {types, words "|inputs { a: T[]; b: T[]; } nodes { y = OP(a, b); } outputs { y; }"},                                   \
        {types, words "|inputs { a: T[1, 2, 1, 2, 1, 2]; b: T[2, 1, 3, 1, 3, 1]; } nodes { y = OP(a, b); } outputs { y; }"}
    BINARY(ALL, "add sub mul div max min pow equal notEqual greater greaterOrEqual lesser lesserOrEqual"),
    BINARY("u8", "logicalAnd logicalOr logicalXor"),
    BINARY(SIGNED, "prelu"),
#define UNARY(types, words)                                                                                                    \
    {types, words "|inputs { a: T[3, 7]; } nodes { y = OP(a); } outputs { y; }"},                                              \
        {types, words "|inputs { a: T[]; } nodes { y = OP(a); } outputs { y; }"}
    UNARY("u8", "logicalNot"),
    UNARY(FLOATS, "isNaN isInfinite ceil cos erf exp floor log reciprocal roundEven sin sqrt tan elu gelu hardSigmoid "
                  "hardSwish leakyRelu linear sigmoid softplus softsign tanh"),
    UNARY(SIGNED, "abs neg sign relu"),
    UNARY(ALL, "identity"),
#define POWER(words)                                                                                                           \
    {FLOATS, words "|inputs { a: T[20]; } consts { b: T[] @scalar(OP); } nodes { y = pow(a, b); } outputs { y; }"}
    POWER("-2 0 0.5 2.5 3 4 5 6 7 8"),
    {FLOATS, "inputs { a: T[20]; } nodes { y = elu(a, alpha=0.3); } outputs { y; }"},
    {FLOATS, "inputs { a: T[20]; } nodes { y = hardSigmoid(a, alpha=0.7, beta=-0.1); } outputs { y; }"},
    {FLOATS, "inputs { a: T[20]; } nodes { y = leakyRelu(a, alpha=1.7); } outputs { y; }"},
    {FLOATS, "inputs { a: T[20]; } nodes { y = leakyRelu(a, alpha=0); } outputs { y; }"},
    {"f16", "inputs { a: T[20]; } nodes { y = leakyRelu(a, alpha=Infinity); } outputs { y; }"}, /* 70000 as float16 */
    {FLOATS, "inputs { a: T[20]; } nodes { y = linear(a, alpha=-0.7, beta=0.1); } outputs { y; }"},
    {ALL, "inputs { a: T[20]; } nodes { y = clamp(a, minValue=1, maxValue=3); } outputs { y; }"},
    {ALL, "inputs { a: T[20]; } nodes { y = clamp(a, minValue=-2.5); } outputs { y; }"},
    {ALL, "inputs { a: T[20]; } nodes { y = clamp(a, maxValue=3.0); z = clamp(a); } outputs { y; z; }"},
    {ALL, "inputs { c: u8[3, 1]; a: T[2, 1, 4]; b: T[1]; } nodes { y = where(c, a, b); } outputs { y; }"},
    {ALL, "inputs { a: T[30]; } nodes { y = cast(a, float32); z = cast(a, float16); w = cast(a, int8); } outputs { y; z; w; }"},
    {ALL, "inputs { a: T[30]; } nodes { y = cast(a, int64); z = cast(a, uint64); w = cast(a, uint8); } outputs { y; z; w; }"},
    {ALL, "inputs { a: T[30]; } nodes { y = cast(a, int32); z = cast(a, uint32); } outputs { y; z; }"},
    {"u8 i8 u32 i32",
     "inputs { x: T[4, 6]; s: f32[2, 1]; z: T[2, 1]; } nodes { y = dequantizeLinear(x, s, z); } outputs { y; }"},
    {"u8 i8 u32 i32",
     "inputs { x: T[4, 6]; s: f32[4, 3]; z: T[4, 3]; } nodes { y = dequantizeLinear(x, s, z); } outputs { y; }"},
    {"u8 i8", "inputs { x: T[4, 6]; s: f16[4, 3]; z: T[4, 3]; } nodes { y = dequantizeLinear(x, s, z); } outputs { y; }"},
    {"u8 i8 u32 i32", "inputs { x: T[]; s: f32[]; z: T[]; } nodes { y = dequantizeLinear(x, s, z); } outputs { y; }"},
    {"u8 i8 u32 i32",
     "inputs { x: f32[4, 6]; s: f32[2, 1]; z: T[2, 1]; } nodes { y = quantizeLinear(x, s, z); } outputs { y; }"},
    {"u8 i8 u32 i32",
     "inputs { x: f16[4, 6]; s: f16[2, 3]; z: T[2, 3]; } nodes { y = quantizeLinear(x, s, z); } outputs { y; }"},
    {FLOATS, "inputs { x: T[2, 3, 4]; m: T[3]; v: T[3]; } nodes { y = batchNormalization(x, m, v); } outputs { y; }"},
    {FLOATS, "inputs { x: T[2, 3, 4]; m: T[4]; v: T[4]; s: T[4]; b: T[4]; } nodes "
             "{ y = batchNormalization(x, m, v, scale=s, bias=b, axis=2, epsilon=0.1); } outputs { y; }"},
    {ALL, "inputs { x: T[2, 4, 5]; } nodes { y = triangular(x); z = triangular(x, upper=false); } outputs { y; z; }"},
    {ALL, "inputs { x: T[4, 5]; } nodes { y = triangular(x, diagonal=2); z = triangular(x, upper=false, diagonal=-1); } "
          "outputs { y; z; }"},
    {ALL, "inputs { x: T[4, 5]; } nodes { y = triangular(x, diagonal=9); z = triangular(x, upper=false, diagonal=9); } outputs "
          "{ y; z; }"},
    /* data movement */
    {ALL, "inputs { x: T[2, 3, 4]; } nodes { y = reshape(x, [4, 6]); z = reshape(x, [24]); } outputs { y; z; }"},
    {ALL, "inputs { x: T[2, 3, 4]; } nodes { y = transpose(x); z = transpose(x, permutation=[1, 2, 0]); } outputs { y; z; }"},
    {ALL, "inputs { x: T[2, 3]; y: T[2, 1]; z: T[2, 4]; } nodes { r = concat([x, y, z], 1); } outputs { r; }"},
    {ALL, "inputs { x: T[2, 6]; } nodes { [a, b] = split(x, 2, axis=1); [c, d, e] = split(x, [1, 3, 2], axis=1); } outputs { "
          "a; b; c; d; e; }"},
    {ALL, "inputs { x: T[3, 4]; } nodes { y = pad(x, [1, 2], [0, 3], value=7); } outputs { y; }"},
    {ALL, "inputs { x: T[3, 4]; } nodes { y = pad(x, [1, 2], [0, 3], mode=edge); z = pad(x, [2, 3], [1, 0], mode=reflection); "
          "} outputs { y; z; }"},
    {ALL, "inputs { x: T[5, 6]; } nodes { y = slice(x, [1, 2], [3, 4]); z = slice(x, [0, 1], [5, 5], strides=[2, 3]); } "
          "outputs { y; z; }"},
    {ALL, "inputs { x: T[3, 1]; } nodes { y = expand(x, [2, 3, 4]); } outputs { y; }"},
    {ALL,
     "inputs { x: T[2, 3]; } nodes { y = tile(x, [3, 2]); z = reverse(x); w = reverse(x, axes=[1]); } outputs { y; z; w; }"},
/* reductions */
#define REDUCTION(types, words)                                                                                                \
    {types, words "|inputs { x: T[2, 3, 4]; } nodes { y = OP(x); z = OP(x, axes=[1]); w = OP(x, axes=[2, 0], "                 \
                  "keepDimensions=true); } outputs { y; z; w; }"},                                                             \
        {types, words "|inputs { x: T[2, 40]; } nodes { y = OP(x, axes=[1]); z = OP(x, axes=[0]); w = OP(x, axes=[]); } "      \
                      "outputs { y; z; w; }"},                                                                                 \
        {types, words "|inputs { x: T[]; } nodes { y = OP(x); } outputs { y; }"}
    REDUCTION(SUMS, "reduceL1 reduceProduct reduceSum reduceSumSquare"),
    REDUCTION(FLOATS, "reduceL2 reduceLogSum reduceLogSumExp reduceMean"),
    REDUCTION(ALL, "reduceMax reduceMin"),
    {ALL, "inputs { x: T[3, 7, 2]; } nodes { y = argMin(x, 1); z = argMax(x, 1, keepDimensions=true, outputDataType=int64); w "
          "= argMax(x, 0); } outputs { y; z; w; }"},
    {FLOATS, "inputs { x: T[3, 7]; } nodes { y = softmax(x, 1); z = softmax(x, 0); } outputs { y; z; }"},
    {FLOATS, "inputs { x: T[2, 3, 4, 5]; } nodes { y = softmax(x, 2); } outputs { y; }"},
    {FLOATS, "inputs { x: T[1]; } nodes { y = softmax(x, 0); } outputs { y; }"},
    {FLOATS, "inputs { x: T[2, 3, 4, 5]; } nodes { y = instanceNormalization(x); z = instanceNormalization(x, layout=nhwc); } "
             "outputs { y; z; }"},
    {FLOATS, "inputs { x: T[2, 3, 4, 5]; s: T[3]; b: T[3]; } nodes { y = instanceNormalization(x, scale=s, bias=b, "
             "epsilon=0.01); } outputs { y; }"},
    {FLOATS, "inputs { x: T[2, 3, 4, 5]; s: T[5]; b: T[5]; } nodes { y = instanceNormalization(x, scale=s, bias=b, "
             "layout=nhwc); } outputs { y; }"},
    {FLOATS, "inputs { x: T[2, 3, 4]; } nodes { y = layerNormalization(x); z = layerNormalization(x, axes=[0, 2]); w = "
             "layerNormalization(x, axes=[]); } outputs { y; z; w; }"},
    {FLOATS, "inputs { x: T[2, 3, 4]; s: T[4, 3]; b: T[4, 3]; } nodes { y = layerNormalization(x, axes=[2, 1], scale=s, "
             "bias=b); } outputs { y; }"},
    {SUMS,
     "inputs { x: T[2, 5, 3]; } nodes { y = cumulativeSum(x, 1); z = cumulativeSum(x, 1, exclusive=true); } outputs { y; z; }"},
    {SUMS, "inputs { x: T[2, 5, 3]; } nodes { y = cumulativeSum(x, 0, reversed=true); z = cumulativeSum(x, 2, exclusive=true, "
           "reversed=true); } outputs { y; z; }"},
/* windows */
#define POOL(types, words)                                                                                                     \
    {types, words "|inputs { x: T[1, 2, 7, 8]; } nodes { y = OP(x, windowDimensions=[3, 2], strides=[2, 2], padding=[1, 1, "   \
                  "0, 1]); z = OP(x); } outputs { y; z; }"},                                                                   \
        {types, words "|inputs { x: T[1, 7, 8, 3]; } nodes { y = OP(x, windowDimensions=[3, 3], dilations=[2, 1], "            \
                      "layout=nhwc); } outputs { y; }"},                                                                       \
        {types, words "|inputs { x: T[1, 2, 6, 6]; } nodes { y = OP(x, windowDimensions=[3, 3], strides=[2, 2], "              \
                      "outputShapeRounding=ceil); } outputs { y; }"}
    POOL(FLOATS, "averagePool2d l2Pool2d"),
    POOL(ALL, "maxPool2d"),
    /* contractions */
    {FLOATS, "inputs { a: T[3, 4]; b: T[4, 5]; } nodes { y = matmul(a, b); z = gemm(a, b); } outputs { y; z; }"},
    {FLOATS, "inputs { a: T[2, 1, 3, 4]; b: T[5, 4, 2]; } nodes { y = matmul(a, b); } outputs { y; }"},
    {FLOATS, "inputs { a: T[3, 1]; b: T[1, 5]; } nodes { y = matmul(a, b); } outputs { y; }"},
    {FLOATS, "inputs { a: T[4, 3]; b: T[5, 4]; c: T[5]; } nodes { y = gemm(a, b, c=c, alpha=0.5, beta=2, aTranspose=true, "
             "bTranspose=true); } outputs { y; }"},
    {FLOATS, "inputs { a: T[4, 3]; b: T[4, 5]; c: T[]; } nodes { y = gemm(a, b, c=c, aTranspose=true); } outputs { y; }"},
    {FLOATS, "inputs { x: T[2, 3, 5, 6]; w: T[4, 3, 3, 2]; b: T[4]; } nodes { y = conv2d(x, w, bias=b); } outputs { y; }"},
    {FLOATS, "inputs { x: T[1, 4, 7, 6]; w: T[6, 2, 3, 3]; } nodes { y = conv2d(x, w, groups=2, padding=[1, 2, 0, 1], "
             "strides=[2, 1], dilations=[1, 2]); } outputs { y; }"},
    {FLOATS, "inputs { x: T[1, 7, 6, 4]; w: T[3, 3, 1, 4]; } nodes { y = conv2d(x, w, groups=4, padding=[1, 1, 1, 1], "
             "inputLayout=nhwc, filterLayout=hwio); } outputs { y; }"},
    {FLOATS, "inputs { x: T[1, 5, 6, 2]; w: T[3, 2, 2, 2]; } nodes { y = conv2d(x, w, inputLayout=nhwc, filterLayout=ohwi); } "
             "outputs { y; }"},
    {FLOATS, "inputs { x: T[1, 5, 6, 2]; w: T[2, 2, 2, 3]; } nodes { y = conv2d(x, w, inputLayout=nhwc, filterLayout=ihwo); } "
             "outputs { y; }"},
    {FLOATS,
     "inputs { x: T[1, 3, 4, 5]; w: T[3, 2, 3, 2]; b: T[2]; } nodes { y = convTranspose2d(x, w, bias=b); } outputs { y; }"},
    {FLOATS, "inputs { x: T[1, 4, 4, 5]; w: T[4, 3, 3, 3]; } nodes { y = convTranspose2d(x, w, groups=2, strides=[2, 3], "
             "padding=[1, 0, 1, 1], outputPadding=[1, 2]); } outputs { y; }"},
    {FLOATS, "inputs { x: T[1, 4, 5, 2]; w: T[3, 2, 3, 2]; } nodes { y = convTranspose2d(x, w, strides=[2, 2], dilations=[2, "
             "1], inputLayout=nhwc, filterLayout=hwoi); } outputs { y; }"},
    {FLOATS, "inputs { x: T[1, 4, 5, 2]; w: T[3, 2, 3, 2]; } nodes { y = convTranspose2d(x, w, strides=[3, 1], "
             "inputLayout=nhwc, filterLayout=ohwi); } outputs { y; }"},
    /* data as places */
    {ALL, "inputs { x: T[3, 4, 5]; i: i32[2, 3]; } nodes { y = gather(x, i); z = gather(x, i, axis=2); } outputs { y; z; }"},
    {ALL, "inputs { x: T[3, 4, 5]; i: i64[]; j: u32[6]; } nodes { y = gather(x, i, axis=1); z = gather(x, j, axis=1); } "
          "outputs { y; z; }"},
    {ALL, "inputs { x: T[3, 4]; i: i64[2, 4]; j: i32[3, 7]; } nodes { y = gatherElements(x, i); z = gatherElements(x, j, "
          "axis=1); } outputs { y; z; }"},
    {ALL, "inputs { x: T[3, 4, 5]; i: i32[2, 2]; j: u32[2, 1, 3]; } nodes { y = gatherND(x, i); z = gatherND(x, j); } outputs "
          "{ y; z; }"},
    {ALL, "inputs { x: T[3, 4]; i: i32[2, 4]; u: T[2, 4]; } nodes { y = scatterElements(x, i, u); } outputs { y; }"},
    {ALL, "inputs { x: T[3, 4]; i: i64[3, 9]; u: T[3, 9]; } nodes { y = scatterElements(x, i, u, axis=1); } outputs { y; }"},
    {ALL, "inputs { x: T[3, 4, 2]; i: i32[5, 1]; u: T[5, 4, 2]; } nodes { y = scatterND(x, i, u); } outputs { y; }"},
    {ALL, "inputs { x: T[3, 4, 2]; i: i32[2, 6, 3]; u: T[2, 6]; } nodes { y = scatterND(x, i, u); } outputs { y; }"},
    {ALL, "inputs { x: T[1]; i: i64[9, 1]; u: T[9]; } nodes { y = scatterND(x, i, u); } outputs { y; }"},
    {ALL, "inputs { x: T[1, 40]; i: i64[9, 1]; u: T[9, 40]; } nodes { y = scatterND(x, i, u); } outputs { y; }"},
    {ALL, "inputs { x: T[3, 4]; i: i32[9, 4]; u: T[9, 4]; } nodes { y = scatterReduce(x, i, u); } outputs { y; }"},
    {ALL, "inputs { x: T[3, 40]; i: i64[2, 19]; u: T[2, 19]; } nodes { y = scatterReduce(x, i, u, axis=1, reduction=mul); } "
          "outputs { y; }"},
    {ALL, "inputs { x: T[3, 40]; i: i32[50, 1]; u: T[50, 37]; } nodes { y = scatterReduce(x, i, u, reduction=min); } outputs "
          "{ y; }"},
    {ALL, "inputs { x: T[1, 4]; i: i32[9, 1]; u: T[9, 4]; } nodes { y = scatterReduce(x, i, u); } outputs { y; }"},
    {ALL, "inputs { x: T[7]; i: i64[99]; u: T[99]; } nodes { y = scatterReduce(x, i, u, reduction=max); } outputs { y; }"},
    {"f32 f16 u8 i8", "inputs { x: T[1, 2, 4, 5]; } nodes { y = resample2d(x, sizes=[8, 10]); z = resample2d(x, sizes=[3, 7]); "
                      "} outputs { y; z; }"},
    {"f32 f16 u8 i8", "inputs { x: T[1, 2, 4, 5]; } nodes { y = resample2d(x, sizes=[8, 10], mode=linear); z = resample2d(x, "
                      "sizes=[3, 7], mode=linear); } outputs { y; z; }"},
    {"f32 f16 u8 i8", "inputs { x: T[1, 4, 5, 2]; } nodes { y = resample2d(x, scales=[1.5, 1], axes=[1, 2], mode=linear); z = "
                      "resample2d(x, scales=[0.5, 2.5], axes=[1, 2]); } outputs { y; z; }"},
};

/** Runs a body for a list of types, nodes apart or all together; returns kernels of the last run, 0 on failure. */
static uint32_t run_body(const char *types, const char *body, bool fused, bool join)
{
    char list[80], *save = NULL;
    uint32_t kernels = 0;

    snprintf(list, sizeof list, "%s", types);
    for (char *type = strtok_r(list, " ", &save); type; type = strtok_r(NULL, " ", &save)) {
        char *text = kernels_with_type(body, type);
        for (int round = 0; round < 4; round++) {
            OWNED(graph) struct graph *g = parse_body(text);
            kernels_cluster_nodes(g, fused);
            if (join && !kernels_can_join_all(g, NULL)) {
                print_error("not joined: %s\n", text);
                kernels = 0;
            } else {
                kernels = kernels_check_graph(g, NULL, round & 1, kernel_interpret);
            }
            if (!kernels) {
                free(text);
                return 0;
            }
        }
        free(text);
    }
    return kernels;
}

/* Visits the body of every case. */
static void each_case(void (*visit)(const char *types, const char *body, void *user), void *user)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *bar = strchr(cases[i].body, '|'), *words = bar ? cases[i].body : "|";

        for (size_t length; (length = strcspn(words, " |")), true; words += length + 1) {
            char body[500] = "";

            for (const char *p = bar ? bar + 1 : cases[i].body, *op; *p; p = op + 2) {
                op = strstr(p, "OP");
                snprintf(body + strlen(body), sizeof body - strlen(body), "%.*s%.*s", op ? (int)(op - p) : (int)strlen(p), p,
                         op ? (int)length : 0, words);
                if (!op)
                    break;
            }
            visit(cases[i].types, body, user);
            if (words[length] == '|')
                break;
        }
    }
}

static void count_failed(const char *types, const char *body, void *user)
{
    *(uint32_t *)user += !run_body(types, body, false, false);
}

TEST(operators_are_lowered_alone)
{
    uint32_t failed = 0;

    each_case(count_failed, &failed);
    assert_int_equal(failed, 0);
}

static void find_call(const char *types, const char *body, void *user)
{
    char *call = user;

    if (*call && strstr(body, call))
        *call = '\0'; /* found */
}

/** Every operator but the recurrent ones, which a pass decomposes. */
TEST(no_operator_is_missing)
{
    for (int op = 0; op < OP_ROWS; op++) {
        char call[80];
        snprintf(call, sizeof call, "= %s(", op_infos[op].name);
        each_case(find_call, call);
        if (*call && !(op_infos[op].flags & OPF_RECURRENT))
            fail_msg("no case for %s", op_infos[op].name);
    }
}

/* ---- clusters ---- */

struct cluster_case {
    const char *types, *body;
    uint32_t phases; /* expected */
};

static const struct cluster_case joined[] = {
    {FLOATS,
     "inputs { a: T[2, 3, 4]; b: T[3, 1]; } nodes { c = add(a, b); d = relu(c); e = mul(d, a); y = sub(e, b); } outputs { y; }",
     0},
    {FLOATS,
     "inputs { a: T[2, 12]; } nodes { c = abs(a); r = reshape(c, [2, 3, 4]); t = transpose(r, permutation=[0, 2, 1]); y = "
     "neg(t); } outputs { y; }",
     0},
    {FLOATS,
     "inputs { a: T[2, 12]; } nodes { c = exp(a); r = reshape(c, [2, 3, 4]); s = slice(r, [0, 1, 0], [2, 2, 4]); y = neg(s); } "
     "outputs { y; }",
     0},
    {FLOATS,
     "inputs { a: T[4, 6]; b: T[24]; } nodes { c = sigmoid(a); r = reshape(c, [24]); s = add(r, b); y = reshape(s, [2, 12]); } "
     "outputs { c; y; }",
     0},
    {FLOATS, "inputs { x: T[3, 40]; m: T[40]; } nodes { a = add(x, m); s = softmax(a, 1); y = mul(s, m); } outputs { y; }", 3},
    {FLOATS, "inputs { x: T[2, 3, 8]; } nodes { s = softmax(x, 2); y = transpose(s, permutation=[1, 0, 2]); } outputs { y; }",
     3},
    {FLOATS,
     "inputs { x: T[3, 4, 5]; k: T[3, 4, 5]; } nodes { a = add(x, k); n = layerNormalization(a, axes=[2]); y = gelu(n); } "
     "outputs { a; y; }",
     3},
    {FLOATS, /* layer normalisation written out */
     "inputs { x: T[6, 10]; g: T[10]; b: T[10]; } consts { e: T[] @scalar(0.001); } nodes { m = reduceMean(x, axes=[1], "
     "keepDimensions=true); d = sub(x, m);"
     " q = mul(d, d); v = reduceMean(q, axes=[1], keepDimensions=true); w = add(v, e); r = sqrt(w); n = div(d, r); s = mul(n, "
     "g); y = add(s, b); } outputs { y; }",
     3},
    {FLOATS, "inputs { x: T[2, 3, 4, 4]; } nodes { a = relu(x); y = reduceMean(a, axes=[2, 3]); z = tanh(y); } outputs { z; }",
     1},
    {FLOATS,
     "inputs { x: T[4, 30]; } nodes { m = reduceMax(x, axes=[1]); s = reduceSum(x, axes=[1]); a = argMax(x, 1); y = add(m, s); "
     "} outputs { a; y; }",
     1},
    {FLOATS,
     "inputs { x: T[1, 2, 6, 6]; } nodes { p = pad(x, [0, 0, 1, 1], [0, 0, 1, 1]); y = averagePool2d(p, windowDimensions=[3, "
     "3], strides=[2, 2]); } outputs { y; }",
     1},
    {FLOATS,
     "inputs { x: T[1, 2, 6, 6]; } nodes { a = relu(x); y = maxPool2d(a, windowDimensions=[2, 2], strides=[2, 2], padding=[1, "
     "1, 1, 1]); z = neg(y); } outputs { z; }",
     1},
    {FLOATS,
     "inputs { a: T[5, 7]; b: T[7, 6]; c: T[6]; } nodes { m = matmul(a, b); s = add(m, c); y = relu(s); } outputs { y; }", 1},
    {FLOATS,
     "inputs { x: T[1, 2, 5, 5]; w: T[3, 2, 3, 3]; } nodes { c = conv2d(x, w, padding=[1, 1, 1, 1]); y = clamp(c, minValue=0, "
     "maxValue=6); } outputs { y; }",
     1},
    {FLOATS, "inputs { x: T[4, 6]; } nodes { a = exp(x); [b, c] = split(a, 2, axis=1); y = mul(b, c); } outputs { y; }", 0},
    {FLOATS, "inputs { x: T[4, 3]; z: T[4, 5]; } nodes { c = concat([x, z], 1); y = relu(c); } outputs { y; }", 0},
    {FLOATS,
     "inputs { x: T[4, 6]; } nodes { a = abs(x); p = pad(a, [1, 1], [1, 1], value=3); q = pad(p, [1, 0], [0, 2], value=-2); y "
     "= neg(q); } outputs { y; }",
     0},
    {FLOATS, "inputs { x: T[4, 6]; i: i32[5]; } nodes { g = gather(x, i); a = relu(g); y = mul(a, a); } outputs { y; }", 0},
    {SUMS,
     "inputs { x: T[4, 6]; } nodes { a = mul(x, x); c = cumulativeSum(a, 1, reversed=true); y = add(c, x); } outputs { y; }",
     1},
    {ALL,
     "inputs { a: T[3, 4]; b: T[4]; c: u8[3, 1]; } nodes { g = greater(a, b); h = logicalAnd(g, c); n = logicalNot(h); y = "
     "where(n, a, b); } outputs { y; n; }",
     0},
    {"u8 i8",
     "inputs { x: T[4, 8]; s: f32[4, 1]; z: T[4, 1]; } nodes { f = dequantizeLinear(x, s, z); r = relu(f); y = "
     "quantizeLinear(r, s, z); } outputs { y; }",
     0},
    {"u8 i8", /* padding is 0, not -0, whose reciprocal has a sign */
     "inputs { x: T[4, 8]; } consts { s: f32[] @scalar(-0.5); z: f32[] @scalar(3); } nodes { c = cast(x, float32); d = sub(c, "
     "z); "
     "f = mul(d, s); p = pad(f, [1, 1], [1, 1]); y = reciprocal(p); } outputs { y; }",
     0},
    {FLOATS,
     "inputs { x: T[2, 8, 3, 3]; s: T[2, 1, 1]; } nodes { r = reshape(x, [2, 2, 36]); n = layerNormalization(r, axes=[2]); b = "
     "reshape(n, [2, 8, 3, 3]); y = relu(b); } outputs { y; }",
     3},
};

TEST(clusters_become_one_kernel)
{
    uint32_t failed = 0;

    for (size_t i = 0; i < sizeof joined / sizeof joined[0]; i++) {
        uint32_t kernels = run_body(joined[i].types, joined[i].body, true, true);
        if (kernels != 1)
            print_error("%u kernels: %s\n", kernels, joined[i].body);
        failed += kernels != 1;
        failed += !run_body(joined[i].types, joined[i].body, false, false);
    }
    assert_int_equal(failed, 0);
}

TEST(phases_are_as_few_as_possible)
{
    for (size_t i = 0; i < sizeof joined / sizeof joined[0]; i++) {
        OWNED(memory) char *text = kernels_with_type(joined[i].body, strncmp(joined[i].types, "u8", 2) ? "f32" : "u8");
        struct graph *g = parse_body(text);

        kernels_cluster_nodes(g, true);
        struct kernel_list list = kernels_lower(g, g->first_cluster, NULL);
        if (list.kernels[0]->phase_count != joined[i].phases) {
            print_error("%s\n", text);
            kernel_print(list.kernels[0], stderr);
        }
        assert_int_equal(list.kernels[0]->phase_count, joined[i].phases);
        kernels_end(g, &list);
    }
}

/* Integers that are added may be sizes: kernels read them, and differ in code only where they are small. */
TEST(sizes_that_are_added_are_no_code)
{
    static const char *const sizes[] = {"33", "34", "3"};
    SCOPED(arena_free) struct arena a = {0};
    char *text[3], body[160];

    for (int i = 0; i < 3; i++) {
        snprintf(body, sizeof body,
                 "inputs { x: i32[99]; } consts { s: i32[] @scalar(%s); } nodes { y = sub(x, s); } outputs { y; }", sizes[i]);
        struct graph *g = parse_body(body);

        kernels_cluster_nodes(g, true);
        struct kernel_list list = kernels_lower(g, g->first_cluster, NULL);
        OWNED(schedule) struct schedule *s = schedule_of(list.kernels[0], NULL);
        text[i] = schedule_structure(s, &a);
        assert_non_null(text[i]);
        kernels_end(g, &list);
    }
    assert_string_equal(text[0], text[1]);
    assert_string_not_equal(text[0], text[2]);
}

/** Clusters that are not one kernel, or would repeat work, are refused; lowered anyway they are right. */
TEST(refuses_what_is_not_one_kernel)
{
    static const struct {
        const char *body;
        bool lowers; /* as one cluster */
    } refused[] = {
        /* two reductions over different dimensions */
        {"inputs { x: f32[4, 6]; } nodes { a = reduceSum(x, axes=[0]); b = reduceSum(x, axes=[1]); } outputs { a; b; }", true},
        /* expensive work once per element of a larger shape */
        {"inputs { x: f32[6]; z: f32[40, 6]; } nodes { e = exp(x); y = mul(e, z); } outputs { y; }", true},
        /* a transcendental under overlapping windows, and under a contraction */
        {"inputs { x: f32[1, 1, 8, 8]; } nodes { e = exp(x); y = maxPool2d(e, windowDimensions=[3, 3]); } outputs { y; }",
         true},
        {"inputs { x: f32[8, 8]; } nodes { e = tanh(x); y = matmul(e, x); } outputs { y; }", true},
        /* outputs of different shapes */
        {"inputs { x: f32[4]; z: f32[3, 4]; } nodes { a = neg(x); y = mul(a, z); } outputs { a; y; }", true},
        /* a softmax of a softmax over another dimension */
        {"inputs { x: f32[4, 5]; } nodes { a = softmax(x, 0); y = softmax(a, 1); } outputs { y; }", false},
        /* a concat written part by part */
        {"inputs { x: f32[4]; z: f32[4]; } nodes { a = neg(x); y = concat([a, z], 0); } outputs { y; }", true},
        {"inputs { x: f32[4]; i: i32[2]; u: f32[2]; } nodes { y = scatterElements(x, i, u); z = neg(y); } outputs { z; }",
         false},
    };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        OWNED(graph) struct graph *g = parse_body(refused[i].body);
        if (kernels_can_join_all(g, NULL))
            print_error("joined: %s\n", refused[i].body);
        assert_false(kernels_can_join_all(g, NULL));
        if (refused[i].lowers)
            assert_int_not_equal(run_body("f32", refused[i].body, true, false), 0);
    }
}

/** Rows at indices that are data are summed along their elements, which lie next to each other. */
TEST(gathered_rows_are_summed_as_they_lie)
{
    struct graph *g = parse_body("inputs { w: f32[8, 64, 64]; at: i32[2]; x: f32[2, 1, 64]; } nodes { r = gather(w, at); "
                                 "p = mul(r, x); y = reduceSum(p, axes=[2]); } outputs { y; }");

    kernels_cluster_nodes(g, true);
    struct kernel_list list = kernels_lower(g, g->first_cluster, NULL);
    OWNED(schedule) struct schedule *s = schedule_of(list.kernels[0], NULL);
    assert_int_equal(list.kernels[0]->vars[s->vector_var].kind, KVAR_REDUCED);
    kernels_end(g, &list);
}

TEST(elementwise_chains_are_flat)
{
    struct graph *g =
        parse_body("inputs { x: f32[1, 64, 32, 32]; c: f32[64, 1, 1]; } nodes { a = mul(x, c); b = relu(a); } outputs { b; }");
    struct kernel_list list;

    kernels_cluster_nodes(g, true);
    list = kernels_lower(g, g->first_cluster, NULL);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.kernels[0]->var_count, 2);
    assert_int_equal(list.kernels[0]->vars[0].size, 64);
    assert_int_equal(list.kernels[0]->vars[1].size, 1024);
    OWNED(schedule) struct schedule *s = schedule_of(list.kernels[0], NULL);
    assert_int_equal(s->vector_var, 1);
    kernels_end(g, &list);

    g = parse_body("inputs { x: f32[4, 4, 4, 4]; } nodes { r = reshape(x, [2, 2, 64]); t = abs(r); y = reshape(t, [256]); } "
                   "outputs { y; }");
    kernels_cluster_nodes(g, true);
    list = kernels_lower(g, g->first_cluster, NULL);
    assert_int_equal(list.kernels[0]->var_count, 1);
    kernels_end(g, &list);
}

/** Returns how many numbers are part of the code of a reduction after which single numbers are computed. */
static uint32_t count_numbers(const char *body, uint32_t *tensors)
{
    struct graph *g = parse_body(body);
    uint32_t count = 0;

    kernels_cluster_nodes(g, true);
    struct kernel_list list = kernels_lower(g, g->first_cluster, NULL);
    assert_int_equal(list.count, 1);
    for (uint32_t i = 0; i < list.kernels[0]->expr_count; i++)
        count += list.kernels[0]->exprs[i].op == K_CONST;
    *tensors = list.kernels[0]->tensor_count;
    kernels_end(g, &list);
    return count;
}

/** Reductions that differ in a factor share code, and elements of large tensors are multiplied by numbers in the code. */
TEST(factors_after_reductions_are_no_code)
{
    uint32_t tensors;

    assert_int_equal(count_numbers("inputs { x: f32[64]; } consts { c: f32[1] @scalar(0.3); } nodes { a = reduceMax(x); "
                                   "y = mul(a, c); } outputs { y; }",
                                   &tensors),
                     0);
    assert_int_equal(tensors, 3);
    assert_int_equal(count_numbers("inputs { x: f32[64]; } consts { c: f32[1] @scalar(0.3); } nodes { a = neg(x); "
                                   "y = mul(a, c); } outputs { y; }",
                                   &tensors),
                     1);
    assert_int_equal(tensors, 2);
}
