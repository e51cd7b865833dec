/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* build: which outputs it refuses, what of the graph it hands to the runtime, and its asynchronous form. */
#include "frontend/builder/builder_support.h"

/* ---- build ---- */

static WNNStatus build(struct fixture *f, size_t count, const WNNNamedOperand *outputs)
{
    WNNGraph g = (WNNGraph)(void *)f;
    WNNStatus status = wnnGraphBuilderBuild(f->b, count, outputs, &g);

    assert_true((g != NULL) == (status == WNNStatus_Success));
    return status;
}

static void build_refuses(struct fixture *f, size_t count, const WNNNamedOperand *outputs, const char *text)
{
    assert_int_equal(build(f, count, outputs), WNNStatus_TypeError);
    const char *message = wnnGetLastErrorMessage().data;
    if (!strstr(message, text))
        fail_msg("the message is \"%s\", expected \"%s\" in it", message, text);
    wnnGraphBuilderClearError(f->b);
}

/** What depends on constants can be asked for, also through several nodes and of one of several results. */
TEST(constants_are_computed)
{
    static const float a[4] = {1, 2, 3, 4};
    const WNNOperandDescriptor d = {WNNOperandDataType_Float32, 1, (uint32_t[]){4}, NULL};
    WNNOperand c, sum, x, parts[2];
    float y[4];

    c = wnnGraphBuilderConstant(f.b, &d, a, sizeof a);
    x = floats(f.b, "x", SHAPE(4));
    sum = wnnGraphBuilderAdd(f.b, c, c, NULL);
    sum = wnnGraphBuilderMul(f.b, sum, wnnGraphBuilderAdd(f.b, sum, c, NULL), NULL); /* 2a * 3a */
    assert_int_equal(wnnGraphBuilderSplitEqual(f.b, sum, 2, NULL, parts), WNNStatus_Success);
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, sum, y, sizeof y), WNNStatus_Success);
    assert_memory_equal(y, ((float[]){6, 24, 54, 96}), sizeof y);
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, parts[1], y, 8), WNNStatus_Success);
    assert_memory_equal(y, ((float[]){54, 96}), 8);
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, c, y, sizeof y), WNNStatus_Success);
    assert_memory_equal(y, a, sizeof y);

    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, x, y, sizeof y), WNNStatus_TypeError);
    x = wnnGraphBuilderMul(f.b, sum, x, NULL);
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, x, y, sizeof y), WNNStatus_TypeError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "depends on an input"));
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, sum, y, 8), WNNStatus_TypeError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "8 bytes, the operand 16"));
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, NULL, y, 8), WNNStatus_TypeError);
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, sum, NULL, 16), WNNStatus_TypeError);
    assert_int_equal(wnnGraphBuilderGetError(f.b, NULL), WNNStatus_Success); /* asking is no failed call */
}

TEST(build_checks_outputs)
{
    struct fixture f, other;
    WNNOperand x, y, c, foreign, bad;

    start(&f);
    start(&other);
    x = floats(f.b, "x", SHAPE(2));
    y = wnnGraphBuilderAbs(f.b, x, NULL);
    c = wnnGraphBuilderConstantScalar(f.b, WNNOperandDataType_Float32, wnnNumber(1));
    foreign = wnnGraphBuilderAbs(other.b, floats(other.b, "x", SHAPE(2)), NULL);
    bad = wnnGraphBuilderSoftmax(f.b, x, 7, NULL); /* not cleared: the message of build tells of it */
    build_refuses(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), bad}}, "the first error: softmax: axis 7");
    build_refuses(&f, 0, NULL, "no outputs");
    build_refuses(&f, SIZE_MAX, (WNNNamedOperand[]){{WNN_STR("y"), y}}, "outputs, more than");
    build_refuses(&f, 1, (WNNNamedOperand[]){{WNN_STR(""), y}}, "name of outputs[0] is empty");
    build_refuses(&f, 2, (WNNNamedOperand[]){{WNN_STR("y"), y}, {WNN_STR("y"), y}}, "output \"y\" is given twice");
    build_refuses(&f, 2, (WNNNamedOperand[]){{WNN_STR("y"), y}, {WNN_STR("z"), foreign}},
                  "\"z\" is an operand of another builder");
    build_refuses(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), NULL}}, "\"y\" is NULL");
    build_refuses(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), x}}, "\"y\" is an input");
    build_refuses(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), c}}, "\"y\" is a constant");
    assert_int_equal(wnnGraphBuilderBuild(f.b, 1, (WNNNamedOperand[]){{WNN_STR("y"), y}}, NULL), WNNStatus_TypeError);
    assert_null(f.context.built);
    /* All that left the builder unbuilt: it can go on, and then build once. */
    y = wnnGraphBuilderNeg(f.b, y, NULL);
    assert_int_equal(build(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), y}}), WNNStatus_Success);
    assert_int_equal(f.context.built->output_count, 1);
    assert_int_equal(build(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), y}}), WNNStatus_InvalidStateError);
    wnnGraphBuilderClearError(f.b);
    /* The state is looked at before the arguments. */
    assert_refused(&f, wnnGraphBuilderAdd(f.b, NULL, foreign, &(WNNOperatorOptions){.label = WNN_STR("late")}),
                   WNNStatus_InvalidStateError, "add [late]: the builder has built");
    assert_refused(&f, input(f.b, "", WNNOperandDataType_Undefined, 0, NULL), WNNStatus_InvalidStateError, "has built");
    assert_refused(&f, wnnGraphBuilderConstant(f.b, NULL, NULL, 0), WNNStatus_InvalidStateError, "has built");
    assert_refused(&f, wnnGraphBuilderConstantScalar(f.b, 0, WNN_NUMBER_INIT), WNNStatus_InvalidStateError, "has built");
    /* Operands still tell what they are, though the graph is gone. */
    graph_free(f.context.built);
    f.context.built = NULL;
    assert_int_equal(wnnOperandGetDataType(y), WNNOperandDataType_Float32);
    assert_int_equal(wnnOperandGetShape(y)[0], 2);
    assert_false(wnnOperandIsError(y));
    other.context.is_lost = true;
    assert_int_equal(build(&other, 1, (WNNNamedOperand[]){{WNN_STR("y"), foreign}}), WNNStatus_InvalidStateError);
    finish(&f);
    finish(&other);
}

TEST(build_leaves_what_the_outputs_need)
{
    WNNOperand a, b, c, sum;

    a = floats(f.b, "a", SHAPE(2));
    b = floats(f.b, "b", SHAPE(2)); /* feeds a node that no output needs */
    c = floats(f.b, "c\"\n", SHAPE(2));
    floats(f.b, "d", SHAPE(2)); /* feeds nothing */
    sum = wnnGraphBuilderAdd(f.b, c, a, NULL);
    wnnGraphBuilderExp(f.b, wnnGraphBuilderMul(f.b, sum, b, NULL), NULL);
    assert_int_equal(build(&f, 2, (WNNNamedOperand[]){{{"s\0t", 3}, sum}, {WNN_STR("again"), sum}}), WNNStatus_Success);
    struct graph *g = f.context.built;
    assert_true(graph_verify(g, stderr));
    assert_int_equal(g->input_count, 2); /* in the order they were made */
    assert_string_equal(g->inputs[0]->name, "a");
    assert_string_equal(g->inputs[1]->name, "c\"\n");
    assert_ptr_equal(g->first, g->last);
    assert_int_equal(g->first->op, OP_ADD);
    assert_int_equal(g->output_count, 2);
    assert_int_equal(g->outputs[0].name_length, 3);
    assert_memory_equal(g->outputs[0].name, "s\0t", 4);
    assert_ptr_equal(g->outputs[0].value, g->outputs[1].value);
}

TEST(build_looks_at_constant_tensors_again)
{
    OWNED(constant) struct constant *c = constant_create((const int32_t[]){3, 4}, 8);
    struct WNNTensorImpl used, unused;
    WNNOperand y, z;

    used = unused = tensor_of(&f.context, c);
    y = wnnGraphBuilderNeg(f.b, wnnGraphBuilderConstantTensor(f.b, &used), NULL);
    z = wnnGraphBuilderNeg(f.b, wnnGraphBuilderConstantTensor(f.b, &unused), NULL);
    used.is_destroyed = unused.is_destroyed = true;
    build_refuses(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), y}}, "has been destroyed");
    used.is_destroyed = false;
    build_refuses(&f, 2, (WNNNamedOperand[]){{WNN_STR("y"), y}, {WNN_STR("z"), z}}, "has been destroyed");
    assert_int_equal(build(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), y}}), WNNStatus_Success);
}

TEST(build_fails)
{
    struct fixture f;
    WNNOperand x, y;
    WNNConvTranspose2dOptions o = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
    WNNNamedOperand output = {WNN_STR("y"), NULL};

    start(&f);
    y = wnnGraphBuilderAbs(f.b, floats(f.b, "x", SHAPE(2)), NULL);
    f.context.build_status = WNNStatus_OperationError;
    output.operand = y;
    assert_int_equal(build(&f, 1, &output), WNNStatus_OperationError);
    assert_string_equal(wnnGetLastErrorMessage().data, "build: refused by the test");
    assert_int_equal(build(&f, 1, &output), WNNStatus_InvalidStateError); /* the graph is gone all the same */
    finish(&f);

    /* The suite has this one accepted by the method; there is no way to compute it, nor in a loop. */
    o.groups = 3;
    o.label = WNN_STR("up");
    for (int loop = 0; loop < 2; loop++) {
        start(&f);
        x = floats(f.b, "x", SHAPE(1, 1, 3, 3));
        const WNNLoopSlices scanned = {floats(f.b, "s", SHAPE(2, 1, 1, 3, 3)), 0, false};
        if (loop)
            assert_int_equal(wnnGraphBuilderBeginLoop(f.b, 2, 0, NULL, 1, &scanned, &x), WNNStatus_Success);
        output.operand = wnnGraphBuilderConvTranspose2d(f.b, x, floats(f.b, "w", SHAPE(1, 1, 3, 3)), &o);
        assert_false(wnnOperandIsError(output.operand));
        if (loop)
            assert_int_equal(wnnGraphBuilderEndLoop(f.b, WNN_STR(""), 0, NULL, 1, &(WNNLoopSlices){output.operand, 0, false},
                                                    &output.operand),
                             WNNStatus_Success);
        assert_int_equal(build(&f, 1, &output), WNNStatus_OperationError);
        assert_non_null(strstr(wnnGetLastErrorMessage().data, "convTranspose2d [up]: the 1 channels"));
        assert_null(f.context.built);
        finish(&f);
    }
}

static void note_build(WNNStatus status, WNNGraph graph, WNNStringView message, void *userdata1, void *userdata2)
{
    *(WNNStatus *)userdata1 = status;
}

TEST(an_asynchronous_build_reports)
{
    WNNNamedOperand output = {WNN_STR("y"), NULL};
    WNNStatus status = WNNStatus_Success;
    WNNBuildCallbackInfo info = WNN_BUILD_CALLBACK_INFO_INIT;

    assert_int_equal(wnnGraphBuilderBuildAsync(f.b, 1, &output, info).id, 2);
    assert_int_equal(f.context.failed_builds, 1);
    assert_int_equal(wnnGraphBuilderGetError(f.b, NULL), WNNStatus_TypeError);
    output.operand = wnnGraphBuilderAbs(f.b, floats(f.b, "x", SHAPE(2)), NULL);
    assert_int_equal(wnnGraphBuilderBuildAsync(f.b, 1, &output, info).id, 1);
    assert_int_equal(f.context.async_builds, 1);
    assert_int_equal(wnnGraphBuilderBuildAsync(f.b, 1, &output, info).id, 2);
    assert_int_equal(f.context.failed_builds, 2);
    info.callback = note_build;
    info.userdata1 = &status;
    assert_int_equal(wnnGraphBuilderBuildAsync(NULL, 1, &output, info).id, 0);
    assert_int_equal(status, WNNStatus_TypeError);
}

TEST_EACH(start_each, finish_each)
