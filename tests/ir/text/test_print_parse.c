/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The textual form: a printed graph reads back as the same graph.  Every operator is here, with options away from their
 * defaults; a new row of the table without an example fails the first test.
 */
#include "support/graphs.h"

#include <locale.h>
#include <math.h>

#include "ir/text/lex.h"
#include "ir/text/print.h"

/* Inputs that the examples use. */
static const char inputs[] = "inputs { a: f32[2, 3]; b: f32[3]; s: f32[]; h: f16[2, 3]; i: i32[2, 3]; l: i64[4]; u: u8[2, 3];"
                             " x: f32[1, 4, 8, 8]; y: f32[1, 8, 8, 4]; w: f32[6, 4, 3, 3]; m: f32[3, 5]; n: f32[5]; c: f32[4];"
                             " q: i8[2, 3]; k: i32[2, 1]; g: f32[2, 3, 5]; gw: f32[2, 12, 5]; gr: f32[2, 12, 4];"
                             " gb: f32[2, 12]; gh: f32[2, 3, 4]; lw: f32[2, 16, 5]; lr: f32[2, 16, 4]; lb: f32[2, 16];"
                             " lp: f32[2, 12]; cx: f32[3, 5]; cw: f32[12, 5]; cr: f32[12, 4]; ch: f32[3, 4]; cb: f32[12];"
                             " dw: f32[16, 5]; dr: f32[16, 4]; db: f32[16]; cc: f32[4, 2, 3, 3]; kf: f32[2, 1];"
                             " yw: f32[4, 3, 3, 6]; tw: f32[2, 3, 3, 4]; }";

/* One statement for every operator; several where an option changes what inference fills in. */
static const char *const examples[] = {
    "o = argMin(a, 1);",
    "o = argMax(a, 0, keepDimensions=true, outputDataType=\"int64\");",
    "o = batchNormalization(a, b, b, scale=b, bias=b, epsilon=0.001);",
    "o = batchNormalization(x, c, c, label=\"no scale\");",
    "o = cast(a, \"float16\");",
    "o = clamp(a, minValue=-1.5, maxValue=Infinity);",
    "o = clamp(l, minValue=-9223372036854775808, maxValue=9223372036854775807);",
    "o = concat([a, a, a], 1);",
    "o = conv2d(x, w);",
    "o = conv2d(x, w, padding=[1, 0, 2, 1], strides=[2, 1], dilations=[1, 2]);",
    "o = conv2d(y, yw, inputLayout=\"nhwc\", filterLayout=\"ihwo\", padding=[0, 0, 0, 0], groups=1, bias=null);",
    "o = convTranspose2d(x, tw, filterLayout=\"ohwi\", strides=[2, 2], padding=[1, 1, 1, 1], outputPadding=[1, 1]);",
    "o = convTranspose2d(x, cc, strides=[2, 2], outputSizes=[18, 18]);",
    "o = cumulativeSum(a, 1, exclusive=true, reversed=true);",
    "o = add(a, b);",
    "o = sub(a, s);",
    "o = mul(a, a);",
    "o = div(a, b);",
    "o = max(i, i);",
    "o = min(q, q);",
    "o = pow(a, s);",
    "o = equal(a, b);",
    "o = notEqual(a, b);",
    "o = greater(a, b);",
    "o = greaterOrEqual(l, l);",
    "o = lesser(a, b);",
    "o = lesserOrEqual(a, b);",
    "o = logicalNot(u);",
    "o = logicalAnd(u, u);",
    "o = logicalOr(u, u);",
    "o = logicalXor(u, u);",
    "o = isNaN(a);",
    "o = isInfinite(h);",
    "o = abs(i);",
    "o = ceil(a);",
    "o = cos(a);",
    "o = erf(a);",
    "o = exp(s);",
    "o = floor(a);",
    "o = identity(u);",
    "o = log(a);",
    "o = neg(q);",
    "o = reciprocal(a);",
    "o = roundEven(a);",
    "o = sin(a);",
    "o = sign(a);",
    "o = sqrt(a);",
    "o = tan(a);",
    "o = dequantizeLinear(q, a, q);",
    "o = quantizeLinear(a, a, u);",
    "o = elu(a, alpha=0.5);",
    "o = expand(b, [4, 3]);",
    "o = expand(s, []);",
    "o = gather(a, k, axis=1);",
    "o = gatherElements(a, k, axis=1);",
    "o = gatherND(a, k);",
    "o = gelu(a);",
    "o = gemm(a, m, c=n, alpha=0.5, beta=-0);",
    "o = gemm(m, a, aTranspose=true, bTranspose=true);",
    "[o] = gru(g, gw, gr, 2, 4, direction=\"both\");",
    "[o, o2] = gru(g, gw, gr, 2, 4, bias=gb, recurrentBias=gb, initialHiddenState=gh, resetAfter=false, returnSequence=true,"
    " direction=\"both\", layout=\"rzn\", activations=[\"relu\", \"tanh\"]);",
    "o = gruCell(cx, cw, cr, ch, 4, bias=cb, recurrentBias=cb, resetAfter=false, layout=\"rzn\","
    " activations=[\"tanh\", \"relu\"]);",
    "o = hardSigmoid(a, alpha=0.25);",
    "o = hardSwish(a);",
    "o = instanceNormalization(x, scale=c, bias=c, epsilon=0, layout=\"nchw\");",
    "o = instanceNormalization(y, layout=\"nhwc\");",
    "o = layerNormalization(a, axes=[]);",
    "o = layerNormalization(x, axes=[1], scale=c, bias=c, epsilon=1e-12);",
    "o = leakyRelu(a, alpha=NaN);",
    "o = linear(a, alpha=-Infinity, beta=1e300);",
    "[o, o2] = lstm(g, lw, lr, 2, 4, direction=\"both\");",
    "[o, o2, o3] = lstm(g, lw, lr, 2, 4, bias=lb, recurrentBias=lb, peepholeWeight=lp, initialHiddenState=gh,"
    " initialCellState=gh, returnSequence=true, direction=\"both\", layout=\"ifgo\", activations=[\"relu\", \"relu\", "
    "\"tanh\"]);",
    "[o, o2] = lstmCell(cx, dw, dr, ch, ch, 4, bias=db, recurrentBias=db, peepholeWeight=cb, layout=\"ifgo\");",
    "o = matmul(a, m);",
    "o = pad(a, [1, 0], [0, 2], mode=\"reflection\");",
    "o = pad(l, [1], [1], value=9007199254740993);",
    "o = pad(s, [], []);",
    "o = averagePool2d(x, windowDimensions=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1], outputShapeRounding=\"ceil\");",
    "o = averagePool2d(x);",
    "o = l2Pool2d(y, windowDimensions=[2, 2], layout=\"nhwc\", dilations=[2, 2]);",
    "o = maxPool2d(x, windowDimensions=[2, 2], strides=[2, 2], outputSizes=[4, 4]);",
    "o = prelu(a, b);",
    "o = reduceL1(a);",
    "o = reduceL2(a, axes=[]);",
    "o = reduceLogSum(a, axes=[1]);",
    "o = reduceLogSumExp(a, axes=[0], keepDimensions=true);",
    "o = reduceMax(i, axes=[1, 0]);",
    "o = reduceMean(a, axes=[0, 1]);",
    "o = reduceMin(a);",
    "o = reduceProduct(l);",
    "o = reduceSum(s);",
    "o = reduceSumSquare(a, keepDimensions=true);",
    "o = relu(i);",
    "o = resample2d(x, scales=[0.3, 2], mode=\"linear\", axes=[1, 2]);",
    "o = resample2d(x, sizes=[3, 7]);",
    "o = resample2d(x);",
    "o = reshape(a, [6, 1]);",
    "o = reverse(a, axes=[1]);",
    "o = reverse(a);",
    "o = scatterElements(a, k, kf, axis=1);",
    "o = scatterND(a, k, a);",
    "o = sigmoid(a);",
    "o = slice(a, [0, 1], [2, 2], strides=[1, 2]);",
    "o = slice(a, [0, 1], [2, 2]);",
    "o = softmax(a, 1);",
    "o = softplus(a);",
    "o = softsign(a);",
    "[o, o2, o3] = split(a, 3, axis=1);",
    "[o, o2] = split(a, [1, 2], axis=1);",
    "[o] = split(b, 1);",
    "o = tanh(a);",
    "o = tile(a, [2, 1]);",
    "o = transpose(a);",
    "o = transpose(x, permutation=[0, 2, 3, 1]);",
    "o = triangular(a, upper=false, diagonal=-1);",
    "o = where(u, a, s);",
    "o = scatterReduce(a, i, a, axis=1, reduction=max);",
};

TEST(every_operator_round_trips)
{
    bool seen[OP_ROWS] = {[OP_LOOP] = true};

    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const char *example = examples[i];
        char body[4096];
        snprintf(body, sizeof body, "%s nodes { %s } outputs { o; }", inputs, example);
        OWNED(graph) struct graph *g = parse_body(body);
        struct node *n = g->first;
        seen[n->op] = true;

        /* The same node again, attribute by attribute. */
        OWNED(memory) char *text = print_to_string(g);
        OWNED(graph) struct graph *copy = parse_text(text);
        if (!node_same_attrs(n, copy->first) || strcmp(n->label, copy->first->label) != 0 ||
            n->result_count != copy->first->result_count || n->args.split.equal != copy->first->args.split.equal)
            fail_msg("not the same node: %s\n%s", example, text);
        for (uint32_t r = 0; r < n->result_count; r++)
            assert_true(type_equal(&n->results[r]->type, &copy->first->results[r]->type));
        for (uint32_t slot = 0; slot < n->input_count; slot++) {
            const struct value *v = n->inputs[slot].value, *w = copy->first->inputs[slot].value;
            assert_true(v ? w && strcmp(v->name, w->name) == 0 : !w);
        }
    }
    for (unsigned op = 0; op < OP_ROWS; op++)
        if (!seen[op])
            fail_msg("no example of operator %s", op_infos[op].name);
}

TEST(prints_a_graph)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[1, 3, 8, 8]; }"
                   "consts { w: f32[4, 3, 3, 3] @scalar(0.1); b: f32[4] @values([1, -0, NaN, 1e-45]); }"
                   "nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1], strides=[1, 1], label=\"first\");"
                   "  y = relu(c); }"
                   "outputs { y; \"other name\" = y; }");
    OWNED(memory) char *text = print_to_string(g);
    assert_string_equal(text, "webnn_graph \"graph\" v1 {\n"
                              "  inputs {\n"
                              "    x: f32[1, 3, 8, 8];\n"
                              "  }\n"
                              "  consts {\n"
                              "    w: f32[4, 3, 3, 3] @scalar(0.1);\n"
                              "    b: f32[4] @bytes([0, 0, 128, 63, 0, 0, 0, 128, 0, 0, 192, 127, 1, 0, 0, 0]);"
                              "  # 1, -0, NaN, 1e-45\n"
                              "  }\n"
                              "  nodes {\n"
                              "    c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1], label=\"first\");  # f32[1, 4, 8, 8]\n"
                              "    y = relu(c);  # f32[1, 4, 8, 8]\n"
                              "  }\n"
                              "  outputs {\n"
                              "    y;\n"
                              "    \"other name\" = y;\n"
                              "  }\n"
                              "}\n");
}

/* ---- numbers ---- */

TEST(numbers_keep_their_bits)
{
    static const double values[] = {0.0,
                                    -0.0,
                                    1.0,
                                    -1.0,
                                    0.1,
                                    1.0 / 3,
                                    1e21,
                                    1e20,
                                    123456789012345680000.0,
                                    1e-6,
                                    1e-7,
                                    5e-324,
                                    1e308,
                                    1.7976931348623157e308,
                                    9007199254740993.0,
                                    2.5e-5,
                                    -1e-300,
                                    0x1p63,
                                    0x1p64,
                                    INFINITY,
                                    -INFINITY,
                                    NAN,
                                    4503599627370497.5,
                                    1e22,
                                    1e23};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        for (int sign = 0; sign < 2; sign++) {
            double d = sign ? -values[i] : values[i];
            char buf[NUMBER_TEXT_MAX];
            struct error error = {0};
            WNNNumber n = WNN_NUMBER_INIT;
            double_print(buf, d);
            struct lexer l = {.text = buf, .length = strlen(buf), .error = &error};
            assert_true(lex_next(&l) && lex_number(&l, &n) && l.token.kind == TOKEN_END);
            double back = number_to_double(n);
            if (memcmp(&back, &d, sizeof d) != 0)
                fail_msg("%.17g printed as %s, read as %.17g", d, buf, back);
        }
    }
}

TEST(numbers_are_short)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {1e21, "1e21"},
        {1e20, "100000000000000000000"},
        {1e-6, "0.000001"},
        {1e-7, "1e-7"},
        {5e-324, "5e-324"},
        {1.5, "1.5"},
        {-0.0, "-0"},
        {100, "100"},
        {123456.75, "123456.75"},
        {-1.25e-9, "-1.25e-9"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buf[NUMBER_TEXT_MAX];
        assert_string_equal(double_print(buf, rows[i].value), rows[i].text);
    }
    /* an option that inference rounds to the data type shows what was written, not what it became */
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[2]; h: f16[2]; } nodes { y = linear(x, alpha=0.1, beta=1e-5); z = elu(h, alpha=0.1);"
                   " c = clamp(x, minValue=0.1, maxValue=6); } outputs { y; z; c; }");
    assert_prints(g, "y = linear(x, alpha=0.1, beta=0.00001);");
    assert_prints(g, "z = elu(h, alpha=0.1);");
    assert_prints(g, "minValue=0.1");
}

TEST(numbers_of_options_keep_their_kind)
{
    OWNED(graph) struct graph *g = graph_create();
    struct tensor_type type = {WNNOperandDataType_Uint64, 1, {2}};
    struct value *x = graph_add_input(g, "x", 1, &type);
    static const uint64_t nan_bits = 0xFFF8000000000001u;
    double odd_nan;
    memcpy(&odd_nan, &nan_bits, sizeof odd_nan);
    const WNNNumber numbers[] = {wnnNumber(6),
                                 wnnNumberInt64(6),
                                 wnnNumberUint64(6),
                                 wnnNumberInt64(INT64_MIN),
                                 wnnNumberUint64(UINT64_MAX),
                                 wnnNumber(-0.0),
                                 wnnNumber(odd_nan),
                                 wnnNumber(NAN),
                                 WNN_NUMBER_INIT};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        WNNClampOptions options = WNN_CLAMP_OPTIONS_INIT;
        options.minValue = numbers[i];
        struct node *n = node_create(g, NULL, OP_CLAMP, "", 1, &x, &options, NULL, &g->error);
        assert_non_null(n);
        assert_true(graph_add_output(g, &"abcdefghi"[i], 1, n -> results[0]));
    }

    OWNED(memory) char *text = print_to_string(g);
    OWNED(graph) struct graph *copy = parse_text(text);
    for (struct node *n = g->first, *m = copy->first; n; n = n->next, m = m->next)
        if (!node_same_attrs(n, m))
            fail_msg("node %u changed:\n%s", n->index, text);
}

TEST(constants_keep_their_bits)
{
    OWNED(graph) struct graph *g =
        parse_body("consts { a: i64[2] @values([9223372036854775807, -9223372036854775808]);"
                   " b: u64[] @scalar(18446744073709551615); c: i64[3] @scalar(-9007199254740993);"
                   " d: f16[4] @values([65504, 6e-8, -Infinity, 0.1]); e: f32[2] @scalar(-0); f: f32[] @scalar(NaN);"
                   " g: u8[3] @bytes([255, 0, 7]); h: f32[2, 2] @values([[1, 2], [3, 4]]); i: f32[2] @scalar(16777217);"
                   " j: f32[1] @bytes([1, 0, 128, 255]); k: u32[] @scalar(-1); l: i8[2] @values([1000, 2.5]); }"
                   "outputs { a; b; c; d; e; f; g; h; i; j; k; l; }");
    const int64_t *a = value_named(g, "a")->constant->data;
    assert_true(a[0] == INT64_MAX && a[1] == INT64_MIN);
    assert_true(*(const uint64_t *)value_named(g, "b")->constant->data == UINT64_MAX);
    assert_true(((const int64_t *)value_named(g, "c")->constant->data)[2] == -9007199254740993);
    const uint16_t *d = value_named(g, "d")->constant->data;
    assert_true(d[0] == 0x7BFF && d[1] == 1 && d[2] == 0xFC00 && d[3] == 0x2E66);
    assert_true(((const uint32_t *)value_named(g, "e")->constant->data)[1] == 0x80000000u);
    assert_true(((const float *)value_named(g, "h")->constant->data)[3] == 4);
    assert_true(*(const uint32_t *)value_named(g, "j")->constant->data == 0xFF800001u);
    assert_true(*(const uint32_t *)value_named(g, "k")->constant->data == 0);
    const int8_t *l = value_named(g, "l")->constant->data;
    assert_true(l[0] == 127 && l[1] == 2);
    /* what cannot be said as a number stays bytes */
    assert_prints(g, "j: f32[1] @bytes([1, 0, 128, 255]);");
    assert_prints(g, "a: i64[2] @bytes([255, 255, 255, 255, 255, 255, 255, 127, 0, 0, 0, 0, 0, 0, 0, 128]);  "
                     "# 9223372036854775807, -9223372036854775808\n");
}

TEST(every_float_element_keeps_its_bits)
{
    struct tensor_type type = {WNNOperandDataType_Float32, 0, {0}};
    uint32_t random = 12345;

    for (int i = 0; i < 3000; i++) {
        random = random * 1664525u + 1013904223u;
        uint32_t bits = i < 40 ? (uint32_t)i : random; /* the smallest subnormals, then anything */
        OWNED(graph) struct graph *g = graph_create();
        struct value *v = graph_add_constant(g, &type, constant_create(&bits, sizeof bits));
        assert_true(graph_add_output(g, "y", 1, v));
        OWNED(memory) char *text = print_to_string(g);
        OWNED(graph) struct graph *copy = parse_text(text);
        if (*(const uint32_t *)copy->outputs[0].value->constant->data != bits)
            fail_msg("0x%08x changed:\n%s", bits, text);
    }
}

TEST(no_locale_changes_numbers)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "pt_BR.UTF-8", "ru_RU.UTF-8"};
    bool set = false;

    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++)
        set = setlocale(LC_ALL, names[i]) != NULL;
    if (!set)
        print_message("no locale with a decimal comma is installed: nothing to see here\n");
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[2]; } nodes { y = linear(x, alpha=0.25, beta=1.5e-10); } outputs { y; }");
    assert_true(NODE_OPTIONS(g->first, WNNLinearOptions)->alpha == 0.25);
    assert_prints(g, "alpha=0.25, beta=1.5e-10)");
    setlocale(LC_ALL, "C");
}

/* ---- names ---- */

TEST(any_name_round_trips)
{
    static const char input_name[] = "a\"b\\c\n\x01\xFF\xE2\x80\xAE z\0q";
    OWNED(graph) struct graph *g = graph_create();
    struct tensor_type type = {WNNOperandDataType_Float32, 1, {2}};
    struct value *x = graph_add_input(g, input_name, sizeof input_name - 1, &type);
    struct value *null = graph_add_input(g, "null", 4, &type);
    graph_add_input(g, "v3", 2, &type);
    struct value *in[] = {x, null};
    struct node *n = node_create(g, NULL, OP_ADD, "la\"bel\t\xF0\x9F\x98\x80", 2, in, NULL, NULL, &g->error);
    assert_non_null(n);
    assert_int_equal(n->results[0]->index, 3); /* would be called v3 */
    struct node *m = node_create(g, NULL, OP_RELU, NULL, 1, &n->results[0], NULL, NULL, &g->error);
    assert_non_null(m);
    assert_true(graph_add_output(g, input_name, sizeof input_name - 1, m->results[0]));
    assert_true(graph_add_output(g, "x y", 3, m->results[0]));
    assert_verifies(g);
    assert_round_trip(g);
    assert_prints(g, "\"a\\\"b\\\\c\\u{a}\\u{1}\\xff\\u{202e} z\\u{0}q\": f32[2];");
    assert_prints(g, "v3_ = add(");
    assert_prints(g, "label=\"la\\\"bel\\u{9}\xF0\x9F\x98\x80\"");

    OWNED(memory) char *text = print_to_string(g);
    OWNED(graph) struct graph *copy = parse_text(text);
    assert_int_equal(copy->inputs[0]->name_length, sizeof input_name - 1);
    assert_memory_equal(copy->inputs[0]->name, input_name, sizeof input_name - 1);
    assert_int_equal(copy->outputs[0].name_length, sizeof input_name - 1);
    assert_memory_equal(copy->outputs[0].name, input_name, sizeof input_name - 1);
    assert_string_equal(copy->first->label, n->label);
}

TEST(outputs_name_their_values)
{
    OWNED(graph) struct graph *g = graph_create();
    struct tensor_type type = {WNNOperandDataType_Float32, 1, {2}};
    struct value *x = graph_add_input(g, "x", 1, &type);
    struct node *n = node_create(g, NULL, OP_RELU, NULL, 1, &x, NULL, NULL, &g->error);
    assert_non_null(n);
    assert_true(graph_add_output(g, "x", 1, n->results[0])); /* an input has that name already */
    assert_true(graph_add_output(g, "probs", 5, n->results[0]));
    assert_prints(g, "    probs = relu(x);  # f32[2]\n");
    assert_prints(g, "    \"x\" = probs;\n    probs;\n");
}

/* ---- clusters ---- */

TEST(clusters_round_trip)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[2, 3]; } consts { w: f32[3, 3] @scalar(1); }"
                   "nodes { a = relu(x) @kernel(0); b = matmul(a, w) @library(2); c = relu(b) @library(2);"
                   " d = reshape(c, [6]) @view(1); e = neg(d); } outputs { e; }");
    assert_int_equal(g->cluster_count, 3);
    struct node *b = value_named(g, "b")->producer;
    assert_int_equal(b->cluster->kind, CLUSTER_LIBRARY);
    assert_ptr_equal(b->cluster->anchor, b);
    assert_ptr_equal(b->next->cluster, b->cluster);
    assert_int_equal(b->next->next->cluster->kind, CLUSTER_VIEW);
    assert_null(g->last->cluster);
    assert_prints(g, "b = matmul(a, w) @library(2);");
    /* marks are left out when they are not asked for */
    OWNED(memory) char *text = print_graph(g, NULL);
    assert_null(strstr(text, "@library"));
}

/* ---- constants elsewhere ---- */

static bool lookup_counting(void *user, const char *key, const struct tensor_type *type, struct constant **constant,
                            struct error *e)
{
    if (strcmp(key, "the weights") != 0)
        return error_set(e, WNNStatus_DataError, "no tensor '%s' in the file", key);
    ++*(int *)user;
    *constant = constant_create(NULL, (size_t)type_bytes(type));
    if (!*constant)
        return error_out_of_memory(e);
    for (size_t i = 0; i < (*constant)->bytes; i++)
        ((unsigned char *)(*constant)->data)[i] = (unsigned char)i;
    return true;
}

TEST(weights_are_looked_up)
{
    static const char text[] = "webnn_graph \"w\" v1 { consts { w: u8[100] @weights(\"the weights\"); } outputs { w; } }";
    static const char missing[] = "webnn_graph \"w\" v1 {\n consts { w: u8[100] @weights(\"others\"); } outputs { w; } }";
    struct error error = {0};
    int count = 0;
    OWNED(graph) struct graph *g = graph_parse(text, sizeof text - 1, lookup_counting, &count, &error);
    assert_non_null(g);
    assert_int_equal(count, 1);
    assert_int_equal(((const unsigned char *)g->outputs[0].value->constant->data)[99], 99);

    OWNED(memory) char *printed = print_graph(g, NULL);
    assert_non_null(strstr(printed, "w: u8[100] @weights(\"w\");"));

    assert_null(graph_parse(text, sizeof text - 1, NULL, NULL, &error));
    assert_string_equal(error.message, "1:43: no weights were given with this text");
    memset(&error, 0, sizeof error);
    assert_null(graph_parse(missing, sizeof missing - 1, lookup_counting, &count, &error));
    assert_string_equal(error.message, "2:23: no tensor 'others' in the file");
    assert_int_equal(error.status, WNNStatus_DataError);
}

/* ---- the format's freedoms ---- */

TEST(reads_every_way_of_writing)
{
    static const char text[] =
        "# a comment\nwebnn_graph \"resnet_head\" v1 @quantized { outputs { probs; a, b } \r\n"
        "  nodes   { logits0 = matmul(x, W);\tprobs = softmax(logits0, axis=1);  [a, b,] = split(probs, 2, axis=1); }\n"
        "}\n"
        "  inputs  { x: f32[1, 2048]; /y.z: float32[]; $w: f16[2]; }\n"
        "  consts  { W: f32[2048, 1000] @scalar(1e-3);  half: f32[] @scalar(+.5);  k: i8[3] @bytes([1, 2, 255]); }\n"
        "  nodes { c = concat(inputs=[a, \"b\"], axis=1); d = cast(c, f16); e = transpose(d, permutation=null);"
        " f = cast(dataType=int32, input=e) }\n"
        "  outputs { \"last one\" = f; mid = e }\n"
        "}";
    OWNED(graph) struct graph *g = parse_text(text);

    assert_verifies(g);
    assert_round_trip(g);
    assert_int_equal(g->output_count, 5);
    assert_string_equal(g->outputs[4].name, "mid");
    assert_int_equal(g->outputs[3].value->type.type, WNNOperandDataType_Int32);
    assert_int_equal(g->input_count, 3);
    assert_string_equal(g->inputs[1]->name, "/y.z");
}

/* A scalar's shape has no numbers: a caller need not have a pointer for them. */
TEST(an_empty_list_without_a_pointer_round_trips)
{
    OWNED(graph) struct graph *g = parse_body("inputs { x: f32[1, 1]; } nodes { y = relu(x); } outputs { y; }");
    union op_args args = {.reshape = {0, NULL}};
    struct node *n = node_create(g, NULL, OP_RESHAPE, NULL, 1, &g->outputs[0].value, NULL, &args, &g->error);

    assert_non_null(n);
    assert_true(graph_add_output(g, "z", 1, n->results[0]));
    assert_round_trip(g);
}

TEST(the_documents_examples_are_right)
{
    FILE *in = fopen(TESTS_DIR "/../docs/formats.md", "rb");
    assert_non_null(in);
    static char text[65536];
    size_t length = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[length] = '\0';

    int count = 0;
    for (char *at = text; (at = strstr(at, "```webnn\n")); count++) {
        at += strlen("```webnn\n");
        char *end = strstr(at, "```");
        assert_non_null(end);
        struct error error = {0};
        OWNED(graph) struct graph *g = graph_parse(at, (size_t)(end - at), NULL, NULL, &error);
        if (!g)
            fail_msg("example %d of docs/formats.md: %s", count + 1, error.message);
        assert_verifies(g);
        assert_round_trip(g);
        at = end + 3;
    }
    assert_true(count >= 2);
}
