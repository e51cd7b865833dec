/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Budgets of work and memory: what is about to take too much is refused with a message that says what and how much, wherever it
 * is computed, one account counts all of it, and a larger budget lets it pass.
 */
#include "frontend/readers/model.h"
#include "support/api.h"

#define ADVICE " are spent; a larger budget allows it (the budget of WNNContextOptions, or --budget)"

static WNNContext new_context(uint64_t operations, uint64_t bytes)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.threadCount = 1;
    o.budget = (WNNBudget){operations, bytes};
    WNNContext c = context_with(&o);
    assert_int_equal(wnnContextGetBudget(c).operations, operations);
    assert_int_equal(wnnContextGetBudget(c).bytes, bytes);
    return c;
}

static const uint32_t square[2] = {64, 64};
static float zeros[64 * 64];

static WNNOperand matmul(WNNGraphBuilder b)
{
    const WNNOperandDescriptor d = {WNNOperandDataType_Float32, 2, square, NULL};
    WNNOperatorOptions o = WNN_OPERATOR_OPTIONS_INIT;
    WNNOperand c = wnnGraphBuilderConstant(b, &d, zeros, sizeof zeros);

    o.label = WNN_STR("p\n");
    return wnnGraphBuilderMatmul(b, c, c, &o);
}

/* 256 + 4 * 2 * 4096 for the operands, 4 * 4096 for the result, 64^3 multiply-adds, 4096 for writing 16384 bytes */
enum { MATMUL = 256 + 4 * 3 * 4096 + 64 * 64 * 64 + 4096 };

TEST(asking_is_charged)
{
    OWNED(context) WNNContext c = new_context(2 * MATMUL, 0);
    static float y[64 * 64];
    OWNED(builder) WNNGraphBuilder b = builder_of(c);
    WNNOperand p = matmul(b);
    assert_success(wnnGraphBuilderGetConstantValue(b, p, y, sizeof y));
    assert_success(wnnGraphBuilderGetConstantValue(b, p, y, sizeof y));
    assert_int_equal(wnnGraphBuilderGetConstantValue(b, p, y, sizeof y), WNNStatus_OperationError);
    assert_string_equal(
        wnnGetLastErrorMessage().data,
        "computing a constant: matmul [p\\u{a}] would take 315648 operations, and 631296 of the budget of 631296" ADVICE);
    assert_success(wnnGraphBuilderGetError(b, NULL));
    assert_success(wnnGraphBuilderSetBudget(b, &(WNNBudget){3 * MATMUL, 0}, 0));
    assert_success(wnnGraphBuilderGetConstantValue(b, p, y, sizeof y));
}

/** Builds x + a matmul of constants, which folding computes. */
static WNNStatus build_with(uint64_t operations, uint64_t bytes)
{
    OWNED(context) WNNContext c = new_context(operations, bytes);
    const WNNOperandDescriptor d = {WNNOperandDataType_Float32, 2, square, NULL};
    OWNED(builder) WNNGraphBuilder b = builder_of(c);
    OWNED(compiled) WNNGraph graph = NULL;
    WNNOperand y = wnnGraphBuilderAdd(b, wnnGraphBuilderInput(b, WNN_STR("x"), &d), matmul(b), NULL);
    WNNStatus status = wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), y}, &graph);
    return status;
}

TEST(folding_is_charged)
{
    assert_int_equal(build_with(0, 0), WNNStatus_Success);
    assert_int_equal(build_with(MATMUL, 0), WNNStatus_Success);
    assert_int_equal(build_with(MATMUL - 1, 0), WNNStatus_OperationError);
    assert_string_equal(wnnGetLastErrorMessage().data,
                        "build: folding matmul [p\\u{a}] would take 315648 operations, and 0 of the budget of 315647" ADVICE);
    assert_int_equal(build_with(0, sizeof zeros), WNNStatus_OperationError);
    assert_string_equal(wnnGetLastErrorMessage().data,
                        "build: computing the graph would take 16384 bytes of memory, and 16384 of the budget of 16384" ADVICE);
    assert_int_equal(build_with(0, 2 * sizeof zeros), WNNStatus_Success);
}

TEST(readers_can_charge)
{
    OWNED(context) WNNContext c = new_context(0, 0);
    OWNED(builder) WNNGraphBuilder b = builder_of(c);
    assert_success(wnnGraphBuilderSetBudget(b, &(WNNBudget){100, 200}, 0));
    assert_success(wnnGraphBuilderSpend(b, WNN_STR("this"), 50, 100)); /* and 25 for the bytes */
    assert_int_equal(wnnGraphBuilderSpend(b, WNN_STR("that"), 26, 0), WNNStatus_OperationError);
    assert_string_equal(wnnGetLastErrorMessage().data, "that would take 26 operations, and 75 of the budget of 100" ADVICE);
    assert_success(wnnGraphBuilderSpend(b, WNN_STR("that"), 25, 0));
    assert_int_equal(wnnGraphBuilderSpend(b, WNN_STR("all"), UINT64_MAX, UINT64_MAX), WNNStatus_OperationError);
    assert_int_equal(wnnGraphBuilderSetBudget(b, NULL, 0), WNNStatus_TypeError);
}

/* A text of 100 bytes that asks for 400 MB; its reader's budget follows from its size, the options' and the context's go first.
 */
TEST(the_size_of_a_file_limits_it)
{
    static const char text[] = "webnn_graph \"g\" v1 { inputs { x: f32[1]; } consts { c: f32[100000000] @scalar(1); }\n"
                               "nodes { s = reduceSum(c); y = add(x, s); } outputs { y; } }";
    struct model_options o = {.budget = {1, 0}};
    OWNED(context) WNNContext c = new_context(0, 0);
    struct error e = {0};
    SCOPED(model_free) struct model m = {0};

    assert_false(model_read_text(c, "a.webnn", text, sizeof text - 1, &(struct model_options){0}, &m, &e));
    assert_non_null(strstr(e.message, "a constant of the text would take 100000000 operations, and 0 of the budget of 67"));
    assert_false(model_read_text(c, "a.webnn", text, sizeof text - 1, &o, &m, &e));
    assert_non_null(strstr(e.message, "and 0 of the budget of 1" ADVICE));
    o.budget.operations = 1000000000;
    assert_works(model_read_text(c, "a.webnn", text, sizeof text - 1, &o, &m, &e), &e);
}
