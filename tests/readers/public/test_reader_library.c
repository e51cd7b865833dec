/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The public reader of models reads from memory and from files, checks its options, and refuses files that are not models. */
#include <unistd.h>

#include "support/folder.h"
#include "support/context.h"
#include "webnn/webnn_model.h"

static const char text[] = "webnn_graph \"sum\" v1 {\n"
                           "  inputs { x: f32[2]; y: f32[2]; }\n"
                           "  nodes { z = add(x, y); }\n"
                           "  outputs { z; }\n"
                           "}\n";

/** Checks ports of the text's model, builds it and computes with it. */
static void check_sum(WNNModel model)
{
    float x[2] = {1, 2}, y[2] = {10, 20}, z[2] = {0};
    const WNNNamedBuffer inputs[2] = {{WNN_STR("x"), x, sizeof x}, {WNN_STR("y"), y, sizeof y}};
    const WNNNamedBuffer output = {WNN_STR("z"), z, sizeof z};
    WNNModelPort port;
    WNNGraph graph;

    assert_int_equal(wnnModelGetInputCount(model), 2);
    assert_int_equal(wnnModelGetOutputCount(model), 1);
    assert_int_equal(wnnModelGetInput(model, 1, &port), WNNStatus_Success);
    assert_string_equal(port.name.data, "y");
    assert_int_equal(port.descriptor.dataType, WNNOperandDataType_Float32);
    assert_int_equal(port.descriptor.rank, 1);
    assert_int_equal(port.descriptor.shape[0], 2);
    assert_int_equal(wnnModelGetOutput(model, 1, &port), WNNStatus_TypeError);
    assert_string_equal(wnnModelGetLastErrorMessage().data, "the model has 1 outputs, number 1 is requested (the first is 0)");
    assert_int_equal(wnnModelBuild(model, &graph), WNNStatus_Success);
    assert_int_equal(wnnGraphCompute(graph, 2, inputs, 1, &output), WNNStatus_Success);
    assert_true(z[0] == 11 && z[1] == 22);
    wnnGraphRelease(graph);
    assert_int_equal(wnnModelBuild(model, &graph), WNNStatus_InvalidStateError);
    assert_null(graph);
}

TEST(a_model_is_read_from_memory)
{
    WNNModel model;

    assert_int_equal(wnnModelReadMemory(context, text, sizeof text - 1, NULL, &model), WNNStatus_Success);
    wnnModelAddRef(model);
    wnnModelRelease(model);
    check_sum(model);
    wnnModelRelease(model);
}

TEST(a_model_is_read_from_a_file)
{
    char path[] = "/tmp/webnn-reader-XXXXXX";
    WNNModel model;

    make_file(path);
    write_bytes(path, text, sizeof text - 1);
    assert_int_equal(wnnModelRead(context, path, NULL, &model), WNNStatus_Success);
    check_sum(model);
    wnnModelRelease(model);
    unlink(path);
    assert_int_equal(wnnModelRead(context, path, NULL, &model), WNNStatus_DataError);
    assert_null(model);
    assert_non_null(strstr(wnnModelGetLastErrorMessage().data, "No such file"));
}

/** Reads the text with these options, which have to be refused with a TypeError that says what. */
static void refused(const WNNModelOptions *options, const char *what)
{
    WNNModel model;

    assert_int_equal(wnnModelReadMemory(context, text, sizeof text - 1, options, &model), WNNStatus_TypeError);
    assert_null(model);
    if (!strstr(wnnModelGetLastErrorMessage().data, what))
        fail_msg("'%s' does not say '%s'", wnnModelGetLastErrorMessage().data, what);
}

TEST(wrong_options_are_refused)
{
    static const uint32_t sizes[13] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                          huge[8] = {-1u, -1u, -1u, -1u, -1u, -1u, -1u, -1u};
    struct {
        WNNModelOptions options;
        char more[8];
    } newer = {WNN_MODEL_OPTIONS_INIT, "\0\0\0\1"};
    WNNModelOptions o = WNN_MODEL_OPTIONS_INIT;
    WNNModelDimension dimension = {WNN_STR("n"), 0};
    WNNModelShape shape = {WNN_STR("x\n"), 13, sizes};
    WNNModelConstant constant = {WNN_STR("x"), {WNNOperandDataType_Float32, 1, sizes, NULL}, sizes, 3};

    newer.options.structSize = sizeof newer;
    assert_int_equal(offsetof(WNNModelOptions, budget) + sizeof o.budget, 88); /* the first version's size, which stays */
    assert_int_equal(sizeof o, 144);
    refused(&newer.options, "options that it does not");
    o.structSize = 8;
    refused(&o, "structSize");
    o.structSize = sizeof o;
    o.dimensionCount = 1;
    refused(&o, "NULL");
    o.dimensions = &dimension;
    dimension = (WNNModelDimension){{NULL, 0}, 1};
    refused(&o, "a name is empty");
    dimension = (WNNModelDimension){WNN_STR("n"), -1u};
    refused(&o, "dimension \"n\" is 4294967295");
    o = (WNNModelOptions)WNN_MODEL_OPTIONS_INIT;
    o.shapeCount = 1;
    o.shapes = &shape;
    refused(&o, "\"x\\u{a}\" has rank 13");
    shape = (WNNModelShape){WNN_STR("x"), 8, huge};
    refused(&o, "dimension 0 of the shape given for input \"x\" is 4294967295");
    o = (WNNModelOptions)WNN_MODEL_OPTIONS_INIT;
    o.constantCount = 1;
    o.constants = &constant;
    refused(&o, "has 3 bytes, its descriptor says 4");
    constant.descriptor = (WNNOperandDescriptor){WNNOperandDataType_Float32, 8, huge, NULL};
    refused(&o, "has 3 bytes");
    constant.descriptor.dataType = WNNOperandDataType_Undefined;
    refused(&o, "data type");
    o = (WNNModelOptions)WNN_MODEL_OPTIONS_INIT;
    o.nameCount = 1;
    refused(&o, "NULL");
    o.names = &(const WNNDimension){{NULL, 0}, 0, 0};
    refused(&o, "empty");
}

TEST(options_of_the_first_version_are_read)
{
    WNNModelOptions o = WNN_MODEL_OPTIONS_INIT;
    OWNED(model) WNNModel model = NULL;

    o.structSize = 88; /* bytes after it are not the program's */
    o.operandCount = 1;
    assert_int_equal(wnnModelReadMemory(context, text, sizeof text - 1, &o, &model), WNNStatus_Success);
}

static const char three[] = "webnn_graph \"three\" v1 {\n"
                            "  inputs { x: f32[dyn(\"n\", 4)]; }\n"
                            "  nodes { a = neg(x); b = abs(x); c = add(x, x); }\n"
                            "  outputs { a; b; c; }\n"
                            "}\n";

/** Reads the text for outputs, and expects this status, with a message that says what. */
static void read_outputs(WNNContext in, size_t count, const WNNStringView *outputs, WNNStatus status, const char *what)
{
    const WNNModelDimension n = {WNN_STR("n"), 2};
    WNNModelOptions o = WNN_MODEL_OPTIONS_INIT;
    WNNModelPort port;
    OWNED(model) WNNModel model = NULL;

    o.dimensionCount = 1;
    o.dimensions = &n;
    o.outputCount = count;
    o.outputs = outputs;
    assert_int_equal(wnnModelReadMemory(in, three, sizeof three - 1, &o, &model), status);
    if (status) {
        if (!strstr(wnnModelGetLastErrorMessage().data, what))
            fail_msg("'%s' does not say '%s'", wnnModelGetLastErrorMessage().data, what);
        return;
    }
    assert_int_equal(wnnModelGetOutputCount(model), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(wnnModelGetOutput(model, i, &port), WNNStatus_Success);
        assert_string_equal(port.name.data, outputs[i].data);
    }
    WNNGraph graph;
    assert_int_equal(wnnModelBuild(model, &graph), WNNStatus_Success);
    assert_int_equal(wnnGraphGetOutputCount(graph), count);
    wnnGraphRelease(graph);
}

TEST(outputs_can_be_chosen)
{
    const WNNStringView two[2] = {WNN_STR("c"), WNN_STR("a")}, twice[2] = {WNN_STR("b"), WNN_STR("b")}, wrong = WNN_STR("d");
    WNNDynamicModelOptions all = WNN_DYNAMIC_MODEL_OPTIONS_INIT;
    WNNModelOptions o = WNN_MODEL_OPTIONS_INIT;
    OWNED(dynamic_model) WNNDynamicModel model = NULL;
    OWNED(compiled) WNNGraph graph = NULL;

    read_outputs(context, 2, two, WNNStatus_Success, "");
    read_outputs(context, 2, twice, WNNStatus_DataError, "output \"b\" is requested twice");
    read_outputs(context, 1, &wrong, WNNStatus_DataError, "no output 'd'");
    o.outputCount = 2;
    refused(&o, "NULL");
    all.model = &o;
    o.outputs = &wrong;
    o.outputCount = 1;
    assert_int_equal(wnnDynamicModelCreateFromMemory(context, three, sizeof three - 1, &all, &model), WNNStatus_TypeError);
    o.outputs = two;
    assert_int_equal(wnnDynamicModelCreateFromMemory(context, three, sizeof three - 1, &all, &model), WNNStatus_Success);
    assert_int_equal(wnnDynamicModelGetGraph(model, 1, &(WNNModelDimension){WNN_STR("n"), 3}, 0, NULL, &graph),
                     WNNStatus_Success);
    assert_int_equal(wnnGraphGetOutputCount(graph), 1);
}

TEST(a_lost_context_is_no_fault_of_the_file)
{
    const WNNStringView a = WNN_STR("a");
    OWNED(dynamic_model) WNNDynamicModel model = NULL;
    OWNED(context) WNNContext lost = NULL;
    WNNGraph graph;

    assert_int_equal(wnnCreateContext(NULL, &lost), WNNStatus_Success);
    assert_int_equal(wnnDynamicModelCreateFromMemory(lost, three, sizeof three - 1, NULL, &model), WNNStatus_Success);
    wnnContextDestroy(lost);
    read_outputs(lost, 1, &a, WNNStatus_InvalidStateError, "the model in memory: the context is lost");
    assert_int_equal(wnnDynamicModelGetGraph(model, 1, &(WNNModelDimension){WNN_STR("n"), 3}, 0, NULL, &graph),
                     WNNStatus_InvalidStateError);
}

/** Makes x -> relu -> r in a builder of the program's own, and reads the text with r in place of its input x. */
TEST(a_model_is_read_into_a_builder)
{
    const uint32_t sizes[1] = {2};
    float x[2] = {-1, 2}, y[2] = {10, 20}, out[2] = {0};
    const WNNNamedBuffer inputs[2] = {{WNN_STR("x"), x, sizeof x}, {WNN_STR("y"), y, sizeof y}};
    const WNNNamedBuffer output = {WNN_STR("out"), out, sizeof out};
    WNNModelOptions o = WNN_MODEL_OPTIONS_INIT;
    WNNNamedOperand operand = {WNN_STR("x"), NULL};
    WNNModelPort port;
    WNNGraph graph;
    WNNModel model;

    assert_int_equal(wnnContextCreateGraphBuilder(context, &o.builder), WNNStatus_Success);
    operand.operand =
        wnnGraphBuilderInput(o.builder, WNN_STR("x"), &(WNNOperandDescriptor){WNNOperandDataType_Float32, 1, sizes, NULL});
    operand.operand = wnnGraphBuilderRelu(o.builder, operand.operand, NULL);
    o.operandCount = 1;
    o.operands = &operand;
    assert_int_equal(wnnModelReadMemory(context, text, sizeof text - 1, &o, &model), WNNStatus_Success);
    assert_ptr_equal(wnnModelGetBuilder(model), o.builder);
    assert_int_equal(wnnModelGetInputCount(model), 1); /* x is none any more */
    assert_int_equal(wnnModelGetOutput(model, 0, &port), WNNStatus_Success);
    operand = (WNNNamedOperand){WNN_STR("out"), wnnGraphBuilderNeg(o.builder, port.operand, NULL)};
    wnnModelRelease(model);
    assert_int_equal(wnnGraphBuilderBuild(o.builder, 1, &operand, &graph), WNNStatus_Success);
    assert_int_equal(wnnGraphCompute(graph, 2, inputs, 1, &output), WNNStatus_Success);
    assert_true(out[0] == -10 && out[1] == -22);
    wnnGraphRelease(graph);
    assert_int_equal(wnnModelReadMemory(context, text, sizeof text - 1, &o, &model), WNNStatus_DataError);
    assert_non_null(strstr(wnnModelGetLastErrorMessage().data, "has built its graph already"));
    wnnGraphBuilderRelease(o.builder);
}

/** Reads the text into a fresh builder with an input of this type, named as the operand is, in place of its x. */
static void operand_is_refused(const char *name, WNNOperandDataType type, uint32_t size, const char *what)
{
    WNNModelOptions o = WNN_MODEL_OPTIONS_INIT;
    WNNNamedOperand operand = {WNN_STR(name), NULL};
    WNNModel model;

    assert_int_equal(wnnContextCreateGraphBuilder(context, &o.builder), WNNStatus_Success);
    operand.operand = wnnGraphBuilderInput(o.builder, WNN_STR("mine"), &(WNNOperandDescriptor){type, 1, &size, NULL});
    o.operandCount = 1;
    o.operands = &operand;
    assert_int_equal(wnnModelReadMemory(context, text, sizeof text - 1, &o, &model), WNNStatus_DataError);
    assert_null(model);
    if (!strstr(wnnModelGetLastErrorMessage().data, what))
        fail_msg("'%s' does not say '%s'", wnnModelGetLastErrorMessage().data, what);
    wnnGraphBuilderRelease(o.builder);
}

TEST(operands_that_do_not_fit_are_refused)
{
    WNNModelOptions o = WNN_MODEL_OPTIONS_INIT;
    WNNNamedOperand operand = {WNN_STR("x"), NULL};

    operand_is_refused("x", WNNOperandDataType_Int32, 2, "\"x\" is of type int32, the input of type float32");
    operand_is_refused("x", WNNOperandDataType_Float32, 3, "\"x\" has the shape [3], the input [2]");
    operand_is_refused("q", WNNOperandDataType_Float32, 2, "no input 'q'");
    operand_is_refused("x", WNNOperandDataType_Float32, 0, "has an error already");
    o.operandCount = 1;
    o.operands = &operand;
    refused(&o, "no builder");
    assert_int_equal(wnnContextCreateGraphBuilder(context, &o.builder), WNNStatus_Success);
    refused(&o, "operand is NULL");
    wnnGraphBuilderRelease(o.builder);
}

TEST(every_truncation_is_an_error)
{
    WNNModel model;

    for (size_t length = 0; length < sizeof text - 3; length++) {
        char *bytes = malloc(length + 1); /* of the very length, so that a sanitizer sees reads after it */

        assert_non_null(bytes);
        bytes = realloc(memcpy(bytes, text, length), length ? length : 1);
        assert_non_null(bytes);
        assert_int_equal(wnnModelReadMemory(context, bytes, length, NULL, &model), WNNStatus_DataError);
        assert_null(model);
        assert_true(wnnModelGetLastErrorMessage().length > 0);
        free(bytes);
    }
}

TEST(the_budget_of_the_options_counts)
{
    WNNModelOptions o = WNN_MODEL_OPTIONS_INIT;
    WNNGraph graph;
    OWNED(model) WNNModel model = NULL;

    o.budget.bytes = 1;
    assert_int_equal(wnnModelReadMemory(context, text, sizeof text - 1, &o, &model), WNNStatus_Success);
    assert_int_equal(wnnModelBuild(model, &graph), WNNStatus_OperationError);
    assert_null(graph);
    assert_non_null(strstr(wnnModelGetLastErrorMessage().data, "budget"));
}

TEST_GROUP(create_context, release_context)
