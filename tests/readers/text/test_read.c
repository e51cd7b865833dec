/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Readers of `.webnn` text and JSON: what they accept, what they say about the rest, names, numbers, free dimensions, weights.
 */
#include "frontend/builder/builder.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/text/write.h"
#include "ir/text/text.h"
#include "readers/text/compare.h"
#include "support/context.h"
#include "support/graphs.h"

/* ---- reading ---- */

static struct graph *take(struct model *m)
{
    struct error e = {0};
    struct graph *g = model_take_graph(m, &e);

    assert_works(g, &e);
    return g;
}

static bool is_json(const char *text)
{
    return *text == '{';
}

static bool read_with(const char *text, size_t length, const struct model_options *options, struct model *m, struct error *e)
{
    OWNED(memory) char *copy = malloc(length ? length : 1); /* bytes after the end do not belong to it */

    assert_non_null(copy);
    memcpy(copy, text, length);
    bool ok = (is_json(text) ? model_read_json : model_read_text)(context, "dir/a b.webnn", copy, length, options, m, e);
    return ok;
}

/** The text must be read as the graph that our own parser makes of `same`. */
static void check_same(const char *text, const char *same)
{
    OWNED(graph) struct graph *a = parse_text(same), *b = NULL;
    SCOPED(model_free) struct model m = {0};
    struct error error = {0};

    assert_works(read_with(text, strlen(text), NULL, &m, &error), &error);
    b = take(&m);
    if (!graphs_equal(a, b))
        fail_msg("%s", text);
}

#define GRAPH(inputs, consts, nodes, outputs)                                                                                  \
    "webnn_graph \"g\" v1 { inputs { " inputs " } consts { " consts " } nodes { " nodes " } outputs { " outputs " } }"

TEST(text_and_json_are_the_same_graph)
{
    const char *plain =
        GRAPH("x: f32[1, 4];", "w: f32[4, 6] @scalar(0.5);",
              "y = matmul(x, w); z = softmax(y, 1); [a, b] = split(z, 2, axis=1); c = concat([b, a], 1);", "c; a;");

    check_same(plain, plain);
    /* Other versions, spacing, the order of blocks, blocks twice, an early brace, commas. */
    check_same("webnn_graph \"other\" v 2 @quantized { outputs { c, a } nodes { y = matmul(x, w); }\n} # closed\nnodes {\n"
               "z = softmax(y, axis=1); [a, b,] = split(z, splits=2, axis=1); c = concat(b, a, axis=1); }\n"
               "consts { w: float32[4, 6] @scalar(5e-1); } inputs { x: f32[1, 4,]; } }",
               plain);
    check_same(
        "{\"format\": \"webnn-graph-json\", \"version\": 1, \"inputs\": {\"x\": {\"dataType\": \"float32\", \"shape\": [1, "
        "4]}},"
        "\"consts\": {\"w\": {\"dataType\": \"float32\", \"shape\": [4, 6], \"init\": {\"kind\": \"scalar\", \"value\": 0.5}}},"
        "\"nodes\": [{\"id\": \"y\", \"op\": \"matmul\", \"inputs\": [\"x\", \"w\"]},"
        "{\"id\": \"z\", \"op\": \"softmax\", \"inputs\": [\"y\", 1], \"options\": {}, \"outputs\": null},"
        "{\"id\": \"ab\", \"op\": \"split\", \"inputs\": [\"z\"], \"options\": {\"splits\": 2, \"axis\": 1}, \"outputs\": "
        "[\"a\", "
        "\"b\"]}, {\"id\": \"c\", \"op\": \"concat\", \"inputs\": [\"b\", \"a\"], \"options\": {\"axis\": 1}, \"outputs\": "
        "[\"c\"]}],"
        "\"outputs\": {\"c\": \"c\", \"a\": \"a\"}}",
        plain);
}

TEST(arguments_are_read)
{
    /* Enumerations and data types with and without quotes; names of operands that look like values; null. */
    const char *plain =
        GRAPH("nchw: f32[1, 2, 4, 4]; linear: f32[2];", "f: f32[2, 2, 1, 1] @values([[[[1]], [[2]]], [[[3]], [[4]]]]);",
              "c = conv2d(nchw, f, bias=linear, inputLayout=\"nchw\"); r = resample2d(c, mode=\"linear\", sizes=[8, 8]); "
              "t = cast(r, \"float16\");",
              "t;");
    check_same(plain, plain);
    check_same(GRAPH("nchw: f32[1, 2, 4, 4]; linear: f32[2];", "f: f32[2, 2, 1, 1] @values([[[[1]], [[2]]], [[[3]], [[4]]]]);",
                     "c = conv2d(nchw, \"f\", bias=\"linear\", inputLayout=nchw, padding=null, label=null);"
                     "r = resample2d(c, mode=linear, sizes=[8, 8]); t = cast(r, f16);",
                     "t;"),
               plain);
}

/** What other tools write (docs/formats.md): inputs, nodes as they are written, nodes as WebNN has them. */
static const struct {
    const char *inputs, *written, *means;
} dialects[] = {
    /* an empty enumeration, an empty list */
    {"x: f32[1, 2, 4, 4]; w: f32[2, 2, 1, 1];", "y = conv2d(x, w, filterLayout=\"\", padding=[], label=\"\");",
     "y = conv2d(x, w);"},
    {"x: f32[2, 3];", "y = transpose(x, permutation=[]);", "y = transpose(x);"},
    {"x: f32[1, 2, 4, 4];", "y = resample2d(x, mode=\"\", sizes=[], axes=[], scales=[2, 2]);",
     "y = resample2d(x, scales=[2, 2]);"},
    {"x: f32[2, 3];", "z = reduceSum(x, axes=[]); y = reshape(z, [6]);", "z = reduceSum(x, axes=[]); y = reshape(z, [6]);"},
    {"x: f32[2, 3];", "y = reverse(x, axes=[]);", "y = reverse(x, axes=[]);"},
    {"x: f32[1];", "y = reshape(x, []);", "y = reshape(x, []);"},
    /* operands by number: by place, by the name that goes with it, and operands given both ways */
    {"a: f32[2, 2]; b: f32[2, 2]; k: f32[2];", "y = gemm(a, b, c=2);", "y = gemm(a, b, c=k);"},
    {"k: f32[2]; x: f32[1, 2, 4, 4]; w: f32[2, 2, 1, 1];", "y = conv2d(x, w, bias=0);", "y = conv2d(x, w, bias=k);"},
    {"a: f32[2, 2]; b: f32[2, 2];", "operand_2 = relu(a); y = gemm(a, b, c=2);", "k = relu(a); y = gemm(a, b, c=k);"},
    {"a: f32[2, 2]; operand_7: f32[2];", "y = gemm(a, a, c=7);", "y = gemm(a, a, c=operand_7);"},
    {"k: f32[2]; x: f32[1, 2, 4, 4]; w: f32[2, 2, 1, 1];", "y = conv2d(x, w, k, bias=0);", "y = conv2d(x, w, bias=k);"},
    {"x: f32[1, 2, 4, 4]; k: f32[2]; w: f32[2, 2, 1, 1];", "y = conv2d(x, w, k, bias=2);", "y = conv2d(x, w, bias=k);"},
    {"x: f32[1, 2, 4, 4]; k: f32[2]; w: f32[2, 2, 1, 1];", "y = conv2d(x, w, k, bias=k);", "y = conv2d(x, w, bias=k);"},
    {"x: f32[1, 1, 2]; w: f32[1, 3, 2]; r: f32[1, 3, 1]; b: f32[1, 3]; c: f32[1, 3];",
     "[y] = gru(x, w, r, b, c, steps=1, hiddenSize=1, bias=3, recurrentBias=\"c\");",
     "[y] = gru(x, w, r, 1, 1, bias=b, recurrentBias=c);"},
    /* numbers and data types as other tools write them */
    {"x: i64[2];", "y = clamp(x, maxValue=\"9007199254740993\");", "y = clamp(x, maxValue=9007199254740993);"},
    {"x: f32[2];", "y = clamp(x, minValue=\"-1.5\", maxValue=\"Infinity\");",
     "y = clamp(x, minValue=-1.5, maxValue=Infinity);"},
    {"x: f32[2];", "y = cast(x, to=\"Int64\");", "y = cast(x, int64);"},
    {"x: f32[2];", "y = cast(x, type=i64);", "y = cast(x, int64);"},
    {"x: f32[2];", "y = cast(x, dataType=\"Uint8\", label=\"Uint8\");", "y = cast(x, uint8, label=\"Uint8\");"},
    /* ONNX's manner */
    {"x: f32[4, 6, 5];", "y = slice(x, starts=[1, -3], ends=[9223372036854775807, -1], axes=[0, -1], steps=[2, 1]);",
     "y = slice(x, [1, 0, 2], [3, 6, 2], strides=[2, 1, 1]);"},
    {"x: f32[4, 6];", "y = slice(x, starts=[0], ends=[\"3\"], axes=[1], steps=[1]);", "y = slice(x, [0, 0], [4, 3]);"},
    {"x: f32[2, 3]; s: f32[3]; b: f32[3];", "y = layerNormalization(x, s, b, epsilon=0.5);",
     "y = layerNormalization(x, scale=s, bias=b, epsilon=0.5);"},
    {"x: f32[2, 3]; s: f32[3];", "y = layerNormalization(x, s);", "y = layerNormalization(x, scale=s);"},
    {"x: f32[2, 3]; m: f32[3]; v: f32[3]; s: f32[3]; b: f32[3];", "y = batchNormalization(x, m, v, s, b, axis=-1);",
     "y = batchNormalization(x, m, v, scale=s, bias=b, axis=1);"},
    {"x: f32[2, 3, 1, 1]; s: f32[3]; b: f32[3];", "y = instanceNormalization(x, s, b);",
     "y = instanceNormalization(x, scale=s, bias=b);"},
    {"a: f32[2, 2]; b: f32[2, 2]; k: f32[2];", "y = gemm(a, b, k);", "y = gemm(a, b, c=k);"},
    {"x: f32[2, 3];", "y = softmax(x, axis=-1);", "y = softmax(x, 1);"},
    {"x: f32[2, 3]; i: i32[2];", "y = gather(x, i, axis=-2);", "y = gather(x, i, axis=0);"},
    {"x: f32[2, 3];", "y = concat([x, x], -1);", "y = concat([x, x], 1);"},
    {"x: f32[2, 3];", "y = reduceMax(x, axes=[-1, 0]);", "y = reduceMax(x, axes=[1, 0]);"},
    {"x: f32[2, 3];", "y = unsqueeze(x, axes=[0, -1]);", "y = reshape(x, [1, 2, 3, 1]);"},
    {"x: f32[1, 2, 1];", "y = squeeze(x, axes=[0, -1]);", "y = reshape(x, [2]);"},
    {"x: f32[2, 3];", "y = reshape(x, axes=[1]);", "y = reshape(x, [2, 1, 3]);"},
    {"x: f32[2, 1, 3];", "y = reshape(x, axes=[1, 4]);", "y = reshape(x, [2, 1, 1, 3, 1]);"},
    {"x: f32[2, 3];", "y = triangular(x, k=1);", "y = triangular(x, diagonal=1);"},
    {"x: f32[2]; // an input\n", "// a node\ny = relu(x); //", "y = relu(x);"},
};

TEST(dialects_are_read)
{
    char written[700], means[700];

    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        snprintf(written, sizeof written, "webnn_graph \"g\" v2 {\ninputs { %s }\nnodes { %s\n}\noutputs { y; } }",
                 dialects[i].inputs, dialects[i].written);
        snprintf(means, sizeof means, "webnn_graph \"g\" v1 { inputs { %s } nodes { %s } outputs { y; } }", dialects[i].inputs,
                 dialects[i].means);
        check_same(written, means);
    }
    /* JSON has the same document. */
    check_same(
        "{\"format\": \"webnn-graph-json\", \"version\": 2, \"inputs\": {\"a\": {\"dataType\": \"float32\", \"shape\": [2, "
        "2]}, \"k\": {\"dataType\": \"float32\", \"shape\": [2]}},\"consts\": {\"n\": {\"dataType\": \"int64\", \"shape\": "
        "[1], \"init\": {\"kind\": \"scalar\", \"value\": \"9007199254740993\"}}}, \"nodes\": [{\"id\": \"y\", \"op\": "
        "\"gemm\", \"inputs\": [\"a\", \"a\", \"k\"], \"options\": {\"c\": 1, \"alpha\": \"0.5\"}}, {\"id\": \"m\", \"op\": "
        "\"neg\", \"inputs\": [\"n\"]}], \"outputs\": {\"y\": \"y\", \"m\": \"m\"}}",
        GRAPH("a: f32[2, 2]; k: f32[2];", "n: i64[1] @values([9007199254740993]);",
              "y = gemm(a, a, c=k, alpha=0.5); m = neg(n);", "y; m;"));
}

TEST(numbers_are_read_bit_by_bit)
{
    /* 64-bit integers bit by bit; doubles; zeros with a sign; what JSON has no words for. */
    const char *plain = GRAPH("x: i64[3]; y: f32[2];",
                              "k: i64[3] @values([9223372036854775807, -9223372036854775808, 9007199254740993]);"
                              "n: f32[3] @values([-0.0, NaN, -Infinity]); u: u64[1] @scalar(18446744073709551615);",
                              "a = add(x, k); b = clamp(a, minValue=-9223372036854775807, maxValue=9007199254740993);"
                              "c = clamp(y, minValue=-Infinity, maxValue=6); d = mul(y, y); e = elu(d, alpha=1e-45);"
                              "f = identity(n); g = identity(u);",
                              "b; c; e; f; g;");
    check_same(plain, plain);
    check_same(
        "{\"format\": \"webnn-graph-json\", \"version\": 2, \"inputs\": {\"x\": {\"dataType\": \"int64\", \"shape\": [3]},"
        "\"y\": {\"dataType\": \"float32\", \"shape\": [2]}}, \"consts\": {"
        "\"k\": {\"dataType\": \"int64\", \"shape\": [3], \"init\": {\"kind\": \"inlineBytes\", \"bytes\": "
        "[255,255,255,255,255,255,255,127,"
        "0,0,0,0,0,0,0,128, 1,0,0,0,0,0,32,0]}},"
        "\"n\": {\"dataType\": \"float32\", \"shape\": [3], \"init\": {\"kind\": \"inlineBytes\", \"bytes\": [0,0,0,128, "
        "0,0,192,127, "
        "0,0,128,255]}},"
        "\"u\": {\"dataType\": \"uint64\", \"shape\": [1], \"init\": {\"kind\": \"scalar\", \"value\": 18446744073709551615}}},"
        "\"nodes\": [{\"id\": \"a\", \"op\": \"add\", \"inputs\": [\"x\", \"k\"]},"
        "{\"id\": \"b\", \"op\": \"clamp\", \"inputs\": [\"a\"], \"options\": {\"minValue\": -9223372036854775807, "
        "\"maxValue\": "
        "9007199254740993}}, {\"id\": \"c\", \"op\": \"clamp\", \"inputs\": [\"y\"], \"options\": {\"minValue\": "
        "\"-Infinity\", "
        "\"maxValue\": 6}}, {\"id\": \"d\", \"op\": \"mul\", \"inputs\": [\"y\", \"y\"]},"
        "{\"id\": \"e\", \"op\": \"elu\", \"inputs\": [\"d\"], \"options\": {\"alpha\": 1e-45}},"
        "{\"id\": \"f\", \"op\": \"identity\", \"inputs\": [\"n\"]}, {\"id\": \"g\", \"op\": \"identity\", \"inputs\": "
        "[\"u\"]}],"
        "\"outputs\": {\"b\": \"b\", \"c\": \"c\", \"e\": \"e\", \"f\": \"f\", \"g\": \"g\"}}",
        plain);
}

/* ---- names ---- */

/** Names as ONNX has them, a label with everything in it, one value as two outputs. */
static const char odd[] =
    GRAPH("\"input:0\": f32[2]; \"\\u{fc}\\\"\\\\ \\n\": f32[2]; \"1x\": f32[2]; null_: f32[2];", "\"-w\": f32[40] @scalar(1);",
          "\"a b\" = add(\"input:0\", \"\\u{fc}\\\"\\\\ \\n\", label=\"l \\\"\\u{1f600}\\n\"); y = mul(\"a b\", \"1x\"); "
          "z = sub(y, null_); r = reshape(\"-w\", [20, 2]); s = add(z, r);",
          "\"out:0\" = s; out_0 = s; y; \"true\" = z;");

static char *write_text(const struct graph *g, bool json, bool legal, size_t *length)
{
    const struct text_options options = {
        .name = "a \"name\"", .json = json, .legal_names = legal, .weights = TEXT_WEIGHTS_INLINE};
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    assert_non_null(out);
    assert_true(text_write_graph(g, &options, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

/** The graph must be read as it is written, as text and as JSON. */
static void check_written(struct graph *g)
{
    for (int json = 0; json < 2; json++) {
        struct error e = {0};
        SCOPED(model_free) struct model m = {0};
        size_t length;
        OWNED(memory) char *text = write_text(g, json, false, &length);

        assert_works(read_with(text, length, NULL, &m, &e), &e);
        assert_string_equal(m.name, "a \"name\"");
        OWNED(graph) struct graph *back = take(&m);
        if (!graphs_equal(g, back))
            fail_msg("%s", text);
    }
}

TEST(odd_names_are_kept)
{
    struct error e = {0};
    OWNED(graph) struct graph *g = parse_text(odd);
    SCOPED(model_free) struct model m = {0};
    OWNED(memory) char *text = NULL;
    size_t length;

    check_written(g);
    /* With legal names: identifiers only, and outputs that are called like values. */
    text = write_text(g, false, true, &length);
    assert_works(read_with(text, length, NULL, &m, &e), &e);
    assert_null(strstr(text, "outputs {\n    \""));
    assert_int_equal(m.input_count, 4);
    assert_string_equal(m.inputs[0].name, "input_0");
    assert_string_equal(m.inputs[2].name, "_1x");
    assert_int_equal(m.output_count, 4);
    assert_string_equal(m.outputs[0].name, "out_0");
    assert_string_equal(m.outputs[1].name, "out_0_"); /* an identity of its own */
    assert_string_equal(m.outputs[2].name, "y");
    assert_string_equal(m.outputs[3].name, "true_");
    assert_ptr_not_equal(m.outputs[0].operand, m.outputs[1].operand);
}

/** What float32 has no place for became an infinity, which no method takes: it must be written as a number. */
TEST(huge_options_are_written_as_numbers)
{
    OWNED(graph) struct graph *g =
        parse_text(GRAPH("x: f32[2];", "", "y = elu(x, alpha=1e300); z = linear(y, alpha=-1e39, beta=1e-320);", "z;"));

    check_written(g);
}

/* ---- free dimensions and inputs that become constants ---- */

TEST(free_dimensions_are_bound)
{
    static const char text[] =
        "webnn_graph \"g\" v2 { inputs { x: f32[dyn(\"batch\", 8), 4]; } nodes { y = relu(x); } outputs { y; } }";
    const struct model_dim dims[] = {{"seq", 3}, {"batch", 2}};
    struct model_shape shape = {"x", 2, {5, 4}, NULL};
    struct model_options options = {.dim_count = 2, .dims = dims};
    float data[8] = {0};
    struct npy_array array = {WNNOperandDataType_Float32, 2, {2, 4}, sizeof data, data, false};
    const struct model_constant constant = {"x", &array, false};
    struct model m;
    struct error e = {0};

    assert_false(read_with(text, strlen(text), &options, &m, &e));
    assert_string_equal(e.message, "dir/a b.webnn:1:1: no dimension of an input is called 'seq'; there are 'batch'");
    options = (struct model_options){.dim_count = 1, .dims = dims + 1};
    assert_true(read_with(text, strlen(text), &options, &m, &e));
    assert_int_equal(m.inputs[0].descriptor.shape[0], 2);
    model_free(&m);
    options.shape_count = 1;
    options.shapes = &shape;
    assert_false(read_with(text, strlen(text), &options, &m, &e));
    assert_string_equal(e.message, "dir/a b.webnn:1:1: dimension 'batch' is given as 2 and as 5");
    options.dim_count = 0;
    assert_true(read_with(text, strlen(text), &options, &m, &e));
    assert_int_equal(m.inputs[0].descriptor.shape[0], 5);
    model_free(&m);
    shape.dims[1] = 3;
    assert_false(read_with(text, strlen(text), &options, &m, &e));
    assert_string_equal(e.message, "dir/a b.webnn:1:1: input 'x' has the shape [batch, 4], the shape given for it [5, 3]");
    shape = (struct model_shape){"x", 2, {9, 4}, NULL};
    assert_false(read_with(text, strlen(text), &options, &m, &e));
    assert_string_equal(e.message, "dir/a b.webnn:1:1: dimension 'batch' is given as 9; it is at most 8");
    shape.name = "y";
    assert_false(read_with(text, strlen(text), &options, &m, &e));
    assert_string_equal(e.message, "dir/a b.webnn:1:1: there is no input 'y'; there are 'x'");
    assert_false(read_with(text, strlen(text), NULL, &m, &e));
    assert_non_null(strstr(e.message, "\"batch\" (of \"x\") has no size: give it by dimensions or shapes (at most 8)"));
    options = (struct model_options){.constant_count = 1, .constants = &constant};
    assert_true(read_with(text, strlen(text), &options, &m, &e));
    assert_int_equal(m.input_count, 0);
    model_free(&m);
    array.shape[1] = 2;
    assert_false(read_with(text, strlen(text), &options, &m, &e));
    assert_string_equal(e.message,
                        "dir/a b.webnn:1:34: the constant given for input \"x\" has the shape [2, 2], the input [batch, 4]");
}

/* ---- errors ---- */

#define JSON(inputs, consts, nodes, outputs)                                                                                   \
    "{\"format\": \"webnn-graph-json\", \"version\": 1,\n\"inputs\": {" inputs "}, \"consts\": {" consts                       \
    "},\n\"nodes\": [" nodes "], \"outputs\": {" outputs "}}"

static const struct {
    const char *text, *message;
} errors[] = {
    {"webnn_graph \"a\" v 7 { }", "1:17: version 7 of the format is unknown: 1 and 2 are"},
    {GRAPH("x: f32[2]; x: f32[2];", "", "", ""), "1:42: input \"x\": an input of that name exists"},
    {GRAPH("x: i4[2];", "", "", ""), "1:34: the specification has no data types int4 and uint4"},
    {GRAPH("x: f64[2];", "", "", ""), "1:34: 'f64' is not a data type"},
    {GRAPH("x: f32[0];", "", "", ""), "1:31: input \"x\" has size 0 in dimension 0, allowed are 1 to 2147483647"},
    {GRAPH("x: f32[4294967296];", "", "", ""), "1:38: a whole number from 0 to 4294967295 expected"},
    {GRAPH("x: f32[1,1,1,1,1,1,1,1,1,1,1,1,1];", "", "", ""), "1:31: input \"x\": the rank is 13, the largest supported is 12"},
    {GRAPH("\"\\u{0}\": f32[1];", "", "", ""), "1:32: a name with a NUL in it"},
    {GRAPH("", "w: f32[2];", "", ""), "1:43: a constant without data: @scalar, @values, @bytes or @weights is missing"},
    {GRAPH("", "w: f32[2] @bytes([1, 2]);", "", ""), "1:54: 2 bytes, the type has 8"},
    {GRAPH("", "w: f32[2] @bytes([256]);", "", ""), "1:61: a whole number from 0 to 255 expected"},
    {GRAPH("", "w: f32[2] @values([1, [2, 3]]);", "", ""), "1:54: 3 elements, the type has 2"},
    {GRAPH("", "w: f32[2147483647, 2] @scalar(0);", "", ""),
     "1:46: constant has too many elements in f32[2147483647, 2], the largest count is 2147483647"},
    {GRAPH("", "w: f32[2147483647] @scalar(0);", "", ""), "1:63: a constant of the text would take 2147483647 operations, and "
                                                          "0 of the budget of 67115264 are spent; a larger budget "
                                                          "allows it (the budget of WNNContextOptions, or --budget)"},
    {GRAPH("", "w: f32[dyn(\"n\", 3)] @scalar(0);", "", ""), "1:55: the shape of a constant has no free dimensions"},
    {GRAPH("", "w: f32[2147483647] @bytes([1]);", "", ""), "1:63: 1 bytes, the type has 8589934588"},
    {GRAPH("x: f32[2];", "", "y = relu(z);", ""), "1:73: 'z' is not defined here; a node may use earlier values only"},
    {GRAPH("x: f32[2];", "", "y = rely(x);", ""), "1:68: there is no operator \"rely\"; did you mean 'relu'?"},
    {GRAPH("x: f32[2];", "", "y = relu();", ""), "1:68: relu: input is missing"},
    {GRAPH("x: f32[2];", "", "y = relu(x, alpha=1);", ""), "1:76: relu has no argument 'alpha'"},
    {GRAPH("x: f32[2];", "", "y = relu(x, alpha=null);", ""), "1:76: relu has no argument 'alpha'"},
    {GRAPH("x: f32[2];", "", "y = elu(x, alpha=\"\");", ""), "1:75: elu: alpha takes a finite number, not \"\""},
    {GRAPH("x: f32[1, 1, 2, 2];", "", "y = resample2d(x, mode=\"cubic\", label=\"up\");", ""),
     "1:91: resample2d [up]: mode takes nearest-neighbor or linear, not \"cubic\""},
    {GRAPH("x: f32[2];", "", "y = elu(x, alpha=\"a\", label=\"l\");", ""),
     "1:75: elu [l]: alpha takes a finite number, not \"a\""},
    {GRAPH("x: f32[2];", "", "y = elu(x, alpha={a: 1});", ""), "1:81: an object is not an argument of any operator"},
    {GRAPH("x: f32[2];", "", "y = reshape(x, [-2]);", ""),
     "1:79: reshape: newShape[0] takes an integer from 0 to 4294967295, not -2"},
    {GRAPH("x: f32[2];", "", "y = reshape(x, [3], label=\"a\\nb\");", ""),
     "1:68: reshape [a\\u{a}b]: newShape [3] has 3 elements, input [2] has 2"},
    {GRAPH("x: f32[2];", "", "[a, b] = relu(x);", ""), "1:73: relu has 1 results, 2 names are given"},
    {GRAPH("x: f32[2];", "", "y = relu(x);", "z;"), "1:89: 'z' is not defined here; a node may use earlier values only"},
    {GRAPH("x: f32[2];", "", "y = relu(x);", "y; y;"), "1:92: the output 'y' is defined twice"},
    /* What other tools write, and what has no single meaning. */
    {GRAPH("x: f32[2];", "", "y = x;", "y;"), "1:68: an operator expected: identity(x) is an operand under another name"},
    {GRAPH("a: f32[2]; operand_0: f32[2];", "", "y = gemm(a, a, c=0);", "y;"),
     "1:100: 0 may be 'operand_0', or 'a' by its place: write the operand's name"},
    {GRAPH("a: f32[2];", "", "y = gemm(a, a, c=1);", "y;"),
     "1:81: there is no operand 1 before this statement: write an operand's name"},
    {GRAPH("x: f32[1, 3];", "", "y = reshape(x, axes=[0]);", "y;"),
     "1:87: reshape: axes may be those to drop or those to add: write newShape"},
    {GRAPH("x: f32[1, 3];", "", "y = squeeze(x, axes=[1]);", "y;"),
     "1:87: squeeze: axes must name different dimensions of size 1"},
    {GRAPH("x: f32[1, 3];", "", "y = unsqueeze(x, axes=[3]);", "y;"),
     "1:89: unsqueeze: axes must name different dimensions of the result"},
    {GRAPH("x: f32[1, 3];", "", "y = unsqueeze(x);", "y;"), "1:71: axes is missing; WebNN has reshape with newShape for this"},
    {GRAPH("x: f32[3];", "", "y = slice(x, starts=[0], ends=[2]);", "y;"),
     "1:68: slice: axes is missing; WebNN has starts, sizes and strides, and ends is read together with starts, axes and steps "
     "only"},
    {GRAPH("x: f32[3];", "", "y = slice(x, starts=[2], ends=[0], axes=[0], steps=[-1]);", "y;"),
     "1:68: slice: from 2 to 0 by -1 of dimension 0, which has size 3: WebNN takes one element at least, forwards"},
    {GRAPH("x: f32[3];", "", "y = slice(x, starts=[2], ends=[0.5], axes=[0], steps=[1]);", "y;"),
     "1:95: ends: up to 32 whole numbers expected"},
    {GRAPH("x: f32[3];", "", "y = softmax(x);", "y;"), "1:68: softmax: axis is missing"},
    {GRAPH("x: f32[3];", "", "y = softmax(x, axis=-2);", "y;"),
     "1:79: softmax: axis takes an integer from 0 to 4294967295, not -2"},
    {GRAPH("x: f32[3];", "", "y = reshape(x);", "y;"), "1:68: reshape: newShape is missing"},
    {"{", "1:2: a member's name in quotes expected, found the end of the text"},
    {"{}", "1:1: no \"format\": \"webnn-graph-json\" here"},
    {"{\"format\": \"webnn-graph-json\", \"version\": 3}", "1:43: \"version\" must be 1 or 2"},
    {JSON("", "", "", "") " x", "3:29: the end of the text expected, found 'x'"},
    {JSON("\"x\": {\"dataType\": \"float32\"}", "", "", ""), "2:17: shape, a list of sizes, is missing here"},
    {JSON("\"x\": {\"dataType\": \"float32\", \"shape\": [-1]}", "", "", ""), "2:51: a size from 0 to 4294967295 expected"},
    {JSON("\"x\": {\"dataType\": \"uint4\", \"shape\": []}", "", "", ""),
     "2:31: the specification has no data types int4 and uint4"},
    {JSON("", "\"x\": {\"dataType\": \"int8\", \"shape\": []}", "", ""), "2:31: a constant without init"},
    {JSON("", "\"x\": {\"dataType\": \"int8\", \"shape\": [], \"init\": {\"kind\": \"zip\"}}", "", ""),
     "2:83: kind of init must be scalar, weights or inlineBytes"},
    {JSON("", "\"x\": {\"dataType\": \"int8\", \"shape\": [], \"init\": {\"kind\": \"inlineBytes\", \"bytes\": [1, 256]}}", "",
          ""),
     "2:110: a byte from 0 to 255 expected"},
    {JSON("", "", "{\"id\": \"y\", \"op\": \"relu\", \"inputs\": [\"x\"]}", ""),
     "3:49: 'x' is not defined here; a node may use earlier values only"},
    {JSON("", "", "{\"op\": \"relu\", \"inputs\": []}", ""), "3:11: a node without id and outputs"},
    {JSON("", "", "3", ""), "3:11: a node must be an object"},
};

TEST(errors_have_a_place)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct model m;
        struct error e = {0};
        char wanted[512];

        snprintf(wanted, sizeof wanted, "dir/a b.webnn:%s", errors[i].message);
        if (read_with(errors[i].text, strlen(errors[i].text), NULL, &m, &e))
            fail_msg("is read: %s", errors[i].text);
        if (strcmp(e.message, wanted)) {
            print_error("%s\n%s\n%s expected\n", errors[i].text, e.message, wanted);
            wrong++;
        }
        assert_null(m.builder);
    }
    assert_int_equal(wrong, 0);
}

/** Cut off at every byte: an error each, or the whole. */
TEST(truncated_texts_are_refused)
{
    static const char *const texts[] = {odd, JSON("\"x\": {\"dataType\": \"float32\", \"shape\": [2]}",
                                                  "\"k\": {\"dataType\": \"float32\", \"shape\": [2], \"init\": {\"kind\": "
                                                  "\"inlineBytes\", \"bytes\": [1, 2, 3, 4, 5, 6, 7, 8]}}",
                                                  "{\"id\": \"y\", \"op\": \"concat\", \"inputs\": [\"x\", \"k\"], "
                                                  "\"options\": {\"axis\": 0, \"label\": \"\\ud83d\\ude00\"}}",
                                                  "\"y\": \"y\"")};

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        size_t length = strlen(texts[k]);

        for (size_t n = 0; n <= length; n++) {
            struct model m;
            struct error e = {0};
            bool ok = n && read_with(texts[k], n, NULL, &m, &e);

            if (!n)
                continue;
            assert_int_equal(ok, n == length);
            if (ok)
                model_free(&m);
            else
                assert_true(*e.message);
        }
    }
}

/** Nesting costs no stack: deep lists are refused. */
TEST(deep_nesting_is_refused)
{
    static const char *const heads[] = {"webnn_graph \"g\" v1 { nodes { y = relu(",
                                        "webnn_graph \"g\" v1 { consts { y: f32[1] @values(", "{\"format\": "};
    enum { DEPTH = 1 << 20 };
    OWNED(memory) char *text = malloc(DEPTH + 64);
    struct model m;

    assert_non_null(text);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        size_t n = strlen(heads[i]);

        memcpy(text, heads[i], n);
        memset(text + n, '[', DEPTH);
        struct error e = {0};
        assert_false(read_with(text, n + DEPTH, NULL, &m, &e));
        assert_non_null(strstr(e.message, "nested too deeply"));
    }
}

TEST_GROUP(create_context, release_context)
