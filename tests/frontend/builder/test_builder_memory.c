/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Out of memory anywhere in the frontend: every allocation of a session with the builder fails in turn.  The call that needed
 * it must say UnknownError, nothing may leak or be released twice, the graph must stay valid, and the same call must work when
 * memory is there again.
 */
#include "frontend/builder/builder.h"
#include "support/test.h"
#include "webnn/webnn_call.h"
#include "frontend/fake_runtime.h"
#include "support/failing_allocator.h"

/* ---- one session ---- */

static struct WNNContextImpl context;
static int released;

static void release(void const *data, size_t bytes, void *unused, void *unused2)
{
    released++;
}

/* The call failed because of memory, once; the graph is as it should be. */
static void check_failure(WNNGraphBuilder b)
{
    assert_true(allocation_has_failed());
    assert_int_equal(wnnGraphBuilderGetError(b, NULL), WNNStatus_UnknownError);
    wnnGraphBuilderClearError(b);
    if (b->graph) {
        assert_int_equal(b->graph->error.status, WNNStatus_Success);
        assert_true(graph_verify(b->graph, stderr));
    }
}

/* Makes the call, again if it failed: memory fails once. */
#define TRY(b, operand, call)                                                                                                  \
    do {                                                                                                                       \
        operand = call;                                                                                                        \
        if (wnnOperandIsError(operand)) {                                                                                      \
            check_failure(b);                                                                                                  \
            operand = call;                                                                                                    \
        }                                                                                                                      \
        assert_false(wnnOperandIsError(operand));                                                                              \
    } while (0)

static WNNOperand input(WNNGraphBuilder b, const char *name)
{
    return wnnGraphBuilderInput(b, WNN_STR(name),
                                &(WNNOperandDescriptor){WNNOperandDataType_Float32, 2, (const uint32_t[]){64, 64}, NULL});
}

/** Builds a graph of a bit of everything.  Whether memory ran out on the way. */
static bool build_graph(WNNGraphBuilder b, struct constant *shared)
{
    static const float lent[2];
    static char data[4096];
    static struct WNNTensorImpl tensor; /* which the builder releases after this */
    WNNOperandDescriptor d = {WNNOperandDataType_Int8, 1, (const uint32_t[]){4096}, NULL};
    WNNOperandDescriptor two = {WNNOperandDataType_Float32, 1, (const uint32_t[]){2}, NULL};
    WNNBufferReleaseCallbackInfo info = {release, NULL, NULL};
    WNNOperatorOptions labelled = {.label = WNN_STR("a label")};
    WNNOperand x, y, c, parts[64], t, sum, negative, joined;
    int releases = released, lends = 1;
    int32_t values[2];
    WNNGraph graph;
    char name[32];

    tensor = (struct WNNTensorImpl){1, &context, {WNNOperandDataType_Int32, 1, {2}}, shared, false};
    TRY(b, x, input(b, "x"));
    for (int i = 0; i < 40; i++) { /* more than the first table of names and list of inputs hold */
        snprintf(name, sizeof(name), "further input %d", i);
        y = input(b, name);
        if (wnnOperandIsError(y)) {
            check_failure(b);
            y = input(b, name);
        }
        assert_false(wnnOperandIsError(y));
        TRY(b, sum, wnnGraphBuilderAdd(b, x, y, &labelled));
        x = sum;
    }
    TRY(b, c, wnnGraphBuilderConstant(b, &d, data, sizeof(data)));
    c = wnnGraphBuilderConstantLent(b, &two, lent, sizeof(lent), info);
    if (wnnOperandIsError(c)) {
        check_failure(b);
        lends++;
        c = wnnGraphBuilderConstantLent(b, &two, lent, sizeof(lent), info);
    }
    assert_int_equal(released - releases, lends - 1); /* a refused one was given back */
    TRY(b, c, wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Float32, wnnNumber(2)));
    TRY(b, t, wnnGraphBuilderConstantTensor(b, &tensor));
    TRY(b, negative, wnnGraphBuilderNeg(b, t, NULL));
    WNNStatus status = wnnGraphBuilderGetConstantValue(b, negative, values, sizeof(values));
    if (status) { /* no failed call of the builder */
        assert_true(allocation_has_failed());
        assert_int_equal(status, WNNStatus_UnknownError);
        assert_int_equal(b->graph->error.status, WNNStatus_Success);
        assert_int_equal(wnnGraphBuilderGetConstantValue(b, negative, values, sizeof(values)), WNNStatus_Success);
    }
    assert_true(values[0] == -3 && values[1] == -4);
    TRY(b, y, wnnGraphBuilderTranspose(b, x, NULL));
    TRY(b, joined, wnnGraphBuilderConcat(b, 3, ((WNNOperand[]){x, y, x}), 1, NULL));
    status = wnnGraphBuilderSplitEqual(b, x, 64, NULL, parts);
    if (status) {
        assert_int_equal(status, WNNStatus_UnknownError);
        assert_true(wnnOperandIsError(parts[63]));
        check_failure(b);
        assert_int_equal(wnnGraphBuilderSplitEqual(b, x, 64, NULL, parts), WNNStatus_Success);
    }
    status = wnnGraphBuilderBuild(
        b, 3, (WNNNamedOperand[]){{WNN_STR("y"), joined}, {WNN_STR("t"), negative}, {WNN_STR("part"), parts[3]}}, &graph);
    if (status) {
        assert_int_equal(status, WNNStatus_UnknownError);
        check_failure(b);
        assert_false(b->has_built);
        assert_int_equal(b->graph->output_count, 0);
        assert_int_equal(
            wnnGraphBuilderBuild(b, 2, (WNNNamedOperand[]){{WNN_STR("y"), joined}, {WNN_STR("t"), negative}}, &graph),
            WNNStatus_Success);
    }
    bool failed = !allocations_stop_failing(); /* the verifier allocates, too */
    assert_true(graph_verify(context.built, stderr));
    return failed;
}

TEST(every_allocation_of_a_session_can_fail)
{
    OWNED(constant) struct constant *shared = constant_create((const int32_t[]){3, 4}, 8);
    long n = 0;
    bool failed;

    do {
        WNNGraphBuilder b;

        context = fake_context();
        released = 0;
        allocations_fail_after(n++);
        WNNStatus status = wnnContextCreateGraphBuilder(&context, &b);
        if (status) {
            assert_true(allocation_has_failed());
            assert_int_equal(status, WNNStatus_UnknownError);
            assert_null(b);
            assert_int_equal(context.references, 1);
            assert_int_equal(wnnContextCreateGraphBuilder(&context, &b), WNNStatus_Success);
        }
        failed = build_graph(b, shared);
        wnnGraphBuilderRelease(b);
        fake_context_end(&context);
        assert_int_equal(context.references, 1);
        assert_int_equal(shared->references, 1);
        assert_true(released >= 1);
    } while (failed);
    assert_true(n > 12); /* the arenas and tables alone grow more often than that */
}

TEST(every_allocation_of_a_call_can_fail)
{
    const WNNMethodValue two[2] = {wnnMethodValueNumber(wnnNumber(32)), wnnMethodValueNumber(wnnNumber(128))};
    WNNGraphBuilder b;
    long n = 0;
    bool failed;

    context = fake_context();
    assert_int_equal(wnnContextCreateGraphBuilder(&context, &b), WNNStatus_Success);
    WNNOperand x = input(b, "x");
    do {
        WNNStatus status = WNNStatus_UnknownError;

        allocations_fail_after(n++);
        OWNED(call) WNNMethodCall call = wnnMethodCallCreate(WNN_STR("reshape"));
        if (call) {
            wnnMethodCallArgument(call, 0, wnnMethodValueOperand(x));
            wnnMethodCallArgument(call, 1, wnnMethodValueList(2, two));
            wnnMethodCallOption(call, WNN_STR("label"), wnnMethodValueString(WNN_STR("r")), false);
            status = wnnMethodCallInvoke(call, b);
        }
        failed = !allocations_stop_failing();
        assert_int_equal(status, failed ? WNNStatus_UnknownError : WNNStatus_Success);
        assert_true(graph_verify(b->graph, stderr));
    } while (failed);
    assert_true(n > 2);
    wnnGraphBuilderRelease(b);
    assert_int_equal(context.references, 1);
}
