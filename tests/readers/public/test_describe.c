/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Models are described before anything in them is bound, and whatever bytes stand in for ONNX, text and JSON, the public reader
 * describes and reads them or says why not.
 */
#include "readers/onnx/net.h"
#include "webnn/webnn_model.h"

static const char graph_text[] = "webnn_graph \"sum\" v2 {\n"
                                 "  inputs { x: f32[dyn(\"n\", 9), 2]; y: f16[dyn(\"m\", 5), dyn(\"n\", 7)]; }\n"
                                 "  nodes { z = transpose(y); }\n"
                                 "  outputs { z; }\n"
                                 "}\n";
static const char graph_json[] = "{\"format\": \"webnn-graph-json\", \"version\": 2, \"name\": \"j\",\n"
                                 "  \"inputs\": {\"x\": {\"dataType\": \"float32\", \"shape\": [2]}},\n"
                                 "  \"consts\": {\"c\": {\"dataType\": \"float32\", \"shape\": [2],\n"
                                 "    \"init\": {\"kind\": \"scalar\", \"value\": 1}}},\n"
                                 "  \"nodes\": [{\"id\": \"y\", \"op\": \"add\", \"inputs\": [\"x\", \"c\"]}],\n"
                                 "  \"outputs\": {\"y\": \"y\"}}\n";

/** Each output says which other one says how many of its elements count. */
TEST(sizes_of_run_time_are_outputs)
{
    OWNED(model) WNNModel model = NULL;
    WNNModelPort rows, count;
    WNNStringView of;
    size_t length, d;
    OWNED(memory) uint8_t *data = NULL;

    start(t, 17);
    input(t, "x", F32, "1 8 4");
    input(t, "s", F32, "1 1 8");
    integer(t, "most", 5);
    node(t, "NonMaxSuppression", "x s most", "rows");
    node(t, "Transpose", "rows", "y");
    data = pack(t, &length);
    assert_int_equal(wnnModelReadMemory(context, data, length, NULL, &model), WNNStatus_Success);
    assert_int_equal(wnnModelGetOutputCount(model), 2);
    assert_int_equal(wnnModelGetOutput(model, 0, &rows), WNNStatus_Success);
    assert_int_equal(wnnModelGetOutput(model, 1, &count), WNNStatus_Success);
    assert_ptr_equal(rows.count, count.operand);
    assert_int_equal(rows.countedDimension, 1);
    assert_int_equal(rows.descriptor.shape[1], 5);
    assert_null(count.count);
    assert_true(wnnModelIsCount(count.name, &of, &d));
    assert_int_equal(of.length, 1);
    assert_int_equal(d, 1);
    static const char *const others[] = {NULL, "y", "y.shape", "y.shape[x]", ".shape[0", "shape[0]"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(wnnModelIsCount((WNNStringView){others[i], WNN_STRLEN}, &of, &d));
}

/** Holds a model as the bytes of an ONNX file. */
struct bytes {
    uint8_t *data;
    size_t length;
};

/** Makes y = x + w with x of [batch, 2], and metadata. */
static struct bytes make_onnx(void)
{
    static Onnx__StringStringEntryProto property = ONNX__STRING_STRING_ENTRY_PROTO__INIT, *properties[1] = {&property};
    const float w[2] = {1, 2};
    struct bytes made;

    start(t, 17);
    input(t, "x", F32, "batch 2");
    input(t, "w", F32, "2");
    initializer(t, tensor(t, "w", F32, 1, (const int64_t[]){2}, w, sizeof w));
    node(t, "Add", "x w", "y");
    t->graph.output[0] = port(t, "y", F32, "batch 2");
    t->model.producer_name = (char *)"maker\033[1m";
    t->model.has_model_version = 1;
    t->model.model_version = 7;
    t->model.doc_string = (char *)"adds weights";
    property.key = (char *)"author";
    property.value = (char *)"me";
    t->model.metadata_props = properties;
    t->model.n_metadata_props = 1;
    made.data = pack(t, &made.length);
    return made;
}

static void expect_text(WNNStringView text, const char *expected)
{
    assert_int_equal(text.length, strlen(expected));
    assert_string_equal(text.data, expected);
}

static void expect_metadata(WNNModelInfo info, size_t index, const char *key, const char *value, bool custom)
{
    WNNModelMetadata m;

    assert_int_equal(wnnModelInfoGetMetadata(info, index, &m), WNNStatus_Success);
    expect_text(m.key, key);
    expect_text(m.value, value);
    assert_int_equal(m.custom, custom);
}

TEST(an_onnx_file_is_described)
{
    struct bytes onnx = make_onnx();
    WNNModelFreeDimension open;
    WNNModelDeclaration port;
    WNNModelInfo info;
    char shown[16];

    assert_int_equal(wnnModelDescribeMemory(onnx.data, onnx.length, &info), WNNStatus_Success);
    free(onnx.data);
    expect_text(wnnModelInfoGetFormat(info), "onnx");
    expect_text(wnnModelInfoGetName(info), "g");
    assert_int_equal(wnnModelInfoGetInputCount(info), 1); /* w has a value */
    assert_int_equal(wnnModelInfoGetInput(info, 0, &port), WNNStatus_Success);
    expect_text(port.name, "x");
    assert_int_equal(port.dataType, WNNOperandDataType_Float32);
    assert_true(port.hasShape && port.rank == 2 && port.dimensions[0].size == 0 && port.dimensions[1].size == 2);
    expect_text(port.dimensions[0].name, "batch");
    assert_int_equal(wnnModelInfoGetInput(info, 1, &port), WNNStatus_TypeError);
    assert_int_equal(wnnModelInfoGetOutputCount(info), 1);
    assert_int_equal(wnnModelInfoGetOutput(info, 0, &port), WNNStatus_Success);
    expect_text(port.dimensions[0].name, "batch");
    assert_int_equal(wnnModelInfoGetFreeDimensionCount(info), 1);
    assert_int_equal(wnnModelInfoGetFreeDimension(info, 0, &open), WNNStatus_Success);
    expect_text(open.name, "batch");
    assert_int_equal(open.largest, INT32_MAX);
    assert_int_equal(wnnModelInfoGetMetadataCount(info), 6);
    expect_metadata(info, 0, "producer_name", "maker\033[1m", false);
    expect_metadata(info, 1, "model_version", "7", false);
    expect_metadata(info, 2, "doc_string", "adds weights", false);
    expect_metadata(info, 3, "ir_version", "8", false);
    expect_metadata(info, 4, "opset_import.ai.onnx", "17", false);
    expect_metadata(info, 5, "author", "me", true);
    assert_string_equal(wnnModelEscape(WNN_STR("maker\033[1m"), shown, sizeof shown), "maker\\u{1b}[1m");
    wnnModelInfoRelease(info);
}

TEST(a_text_is_described)
{
    WNNModelFreeDimension open;
    WNNModelDeclaration port;
    WNNModelInfo info;

    assert_int_equal(wnnModelDescribeMemory(graph_text, sizeof graph_text - 1, &info), WNNStatus_Success);
    wnnModelInfoAddRef(info);
    wnnModelInfoRelease(info);
    expect_text(wnnModelInfoGetFormat(info), "webnn");
    expect_text(wnnModelInfoGetName(info), "sum");
    assert_int_equal(wnnModelInfoGetFreeDimensionCount(info), 2);
    assert_int_equal(wnnModelInfoGetFreeDimension(info, 0, &open), WNNStatus_Success);
    expect_text(open.name, "n");
    assert_int_equal(open.largest, 7); /* the smaller of both bounds */
    assert_int_equal(wnnModelInfoGetInput(info, 1, &port), WNNStatus_Success);
    assert_int_equal(port.dataType, WNNOperandDataType_Float16);
    assert_int_equal(wnnModelInfoGetOutput(info, 0, &port), WNNStatus_Success);
    expect_text(port.name, "z");
    assert_false(port.hasShape);
    assert_int_equal(wnnModelInfoGetMetadataCount(info), 0);
    wnnModelInfoRelease(info);
    assert_int_equal(wnnModelDescribeMemory(graph_json, sizeof graph_json - 1, &info), WNNStatus_Success);
    expect_text(wnnModelInfoGetFormat(info), "json");
    assert_int_equal(wnnModelInfoGetInputCount(info), 1);
    wnnModelInfoRelease(info);
    assert_int_equal(wnnModelDescribe("/nowhere/model.onnx", &info), WNNStatus_DataError);
    assert_null(info);
}

/** The operand binds the dimension that the file leaves open. */
TEST(an_onnx_file_is_read_after_an_operand)
{
    const uint32_t sizes[2] = {3, 2};
    struct bytes onnx = make_onnx();
    WNNModelOptions o = WNN_MODEL_OPTIONS_INIT;
    WNNNamedOperand operand = {WNN_STR("x"), NULL};
    float a[6] = {-1, -1, 2, 2, 3, 3}, y[6];
    const WNNNamedBuffer in = {WNN_STR("a"), a, sizeof a}, out = {WNN_STR("y"), y, sizeof y};
    WNNModel model;
    WNNGraph graph;

    assert_int_equal(wnnContextCreateGraphBuilder(context, &o.builder), WNNStatus_Success);
    operand.operand =
        wnnGraphBuilderInput(o.builder, WNN_STR("a"), &(WNNOperandDescriptor){WNNOperandDataType_Float32, 2, sizes, NULL});
    operand.operand = wnnGraphBuilderRelu(o.builder, operand.operand, NULL);
    o.operands = &operand;
    o.operandCount = 1;
    assert_int_equal(wnnModelReadMemory(context, onnx.data, onnx.length, &o, &model), WNNStatus_Success);
    assert_int_equal(wnnModelGetInputCount(model), 0);
    assert_int_equal(wnnModelBuild(model, &graph), WNNStatus_Success);
    assert_int_equal(wnnGraphCompute(graph, 1, &in, 1, &out), WNNStatus_Success);
    assert_true(y[0] == 1 && y[1] == 2 && y[4] == 4 && y[5] == 5);
    wnnGraphRelease(graph);
    wnnModelRelease(model);
    wnnGraphBuilderRelease(o.builder);
    free(onnx.data);
}

/** The cache of a decoder's first step: a dimension, a shape or a constant says that it has no elements. */
TEST(an_input_may_have_no_elements)
{
    static const uint32_t none[2] = {0, 2};
    const WNNModelDimension dimension = {WNN_STR("n"), 0};
    const WNNModelShape shape = {WNN_STR("past"), 2, none};
    const WNNModelConstant constant = {WNN_STR("past"), {WNNOperandDataType_Float32, 2, none, NULL}, NULL, 0};
    struct bytes onnx;

    start(t, 17);
    input(t, "past", F32, "n 2");
    input(t, "x", F32, "3 2");
    attribute_int(t, node(t, "Concat", "past x", "y"), "axis", 0);
    output(t, "y");
    onnx.data = pack(t, &onnx.length);
    for (int i = 0; i < 3; i++) {
        WNNModelOptions o = WNN_MODEL_OPTIONS_INIT;
        WNNModelPort port;
        OWNED(model) WNNModel model = NULL;

        o.dimensionCount = i == 0;
        o.dimensions = &dimension;
        o.shapeCount = i == 1;
        o.shapes = &shape;
        o.constantCount = i == 2;
        o.constants = &constant;
        assert_int_equal(wnnModelReadMemory(context, onnx.data, onnx.length, &o, &model), WNNStatus_Success);
        assert_int_equal(wnnModelGetInputCount(model), 1);
        assert_int_equal(wnnModelGetOutput(model, 0, &port), WNNStatus_Success);
        assert_int_equal(port.descriptor.shape[0], 3);
    }
    free(onnx.data);
}

/* ---- bytes that are not trusted ---- */

/** Describes and reads bytes of exactly that length: both answer with an object, or with a DataError that has a message. */
static void try_bytes(const uint8_t *data, size_t length)
{
    const WNNModelDimension batch = {WNN_STR("batch"), 3};
    WNNModelOptions options = WNN_MODEL_OPTIONS_INIT;
    uint8_t *copy = malloc(length ? length : 1); /* of the very length, so that a sanitizer sees reads after it */
    WNNModelInfo info;
    OWNED(model) WNNModel model = NULL;

    assert_non_null(copy);
    memcpy(copy, data, length);
    options.dimensions = &batch;
    WNNStatus status = wnnModelDescribeMemory(copy, length, &info);
    options.dimensionCount = !status && wnnModelInfoGetFreeDimensionCount(info) == 1;
    assert_true((status == WNNStatus_Success && info) || (status == WNNStatus_DataError && !info));
    assert_true(!status || wnnModelGetLastErrorMessage().length);
    wnnModelInfoRelease(info);
    status = wnnModelReadMemory(context, copy, length, &options, &model);
    assert_true((status == WNNStatus_Success && model) || (status == WNNStatus_DataError && !model));
    assert_true(!status || wnnModelGetLastErrorMessage().length);
    free(copy);
}

static void try_truncated_and_changed(const void *bytes, size_t length)
{
    static const uint8_t changes[] = {0x00, 0x01, 0x22, 0x7F, 0x80, 0xFF};
    OWNED(memory) uint8_t *data = malloc(length);

    assert_non_null(data);
    memcpy(data, bytes, length);
    for (size_t i = 0; i <= length; i++)
        try_bytes(data, i);
    for (size_t i = 0; i < length; i++)
        for (size_t k = 0; k < sizeof changes; k++) {
            const uint8_t was = data[i];

            data[i] = changes[k];
            try_bytes(data, length);
            data[i] = was;
        }
}

TEST(onnx_that_is_cut_or_changed_is_answered)
{
    struct bytes onnx = make_onnx();

    try_truncated_and_changed(onnx.data, onnx.length);
    free(onnx.data);
}

TEST(json_that_is_cut_or_changed_is_answered)
{
    try_truncated_and_changed(graph_json, sizeof graph_json - 1);
}

TEST(json_that_is_nested_deep_is_an_error)
{
    enum { DEPTH = 100000 };
    OWNED(memory) char *deep = malloc(DEPTH + 40);
    WNNModelInfo info;

    assert_non_null(deep);
    strcpy(deep, "{\"format\": ");
    memset(deep + 11, '[', DEPTH);
    assert_int_equal(wnnModelDescribeMemory(deep, DEPTH + 11, &info), WNNStatus_DataError);
}

TEST_GROUP(create_context, release_context)
