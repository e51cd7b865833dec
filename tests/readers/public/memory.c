/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory runs out while the public reader reads a model: an error, no crash, no leak, and the next attempt works. */
#include "support/failing_allocator.h"
#include "support/test.h"
#include "webnn/webnn_model.h"

TEST(every_allocation_can_fail)
{
    static const char text[] = "webnn_graph \"sum\" v2 {\n  inputs { x: f32[dyn(\"n\", 4)]; y: f32[dyn(\"n\", 4)]; }\n"
                               "  nodes { z = add(x, y); }\n  outputs { z; }\n}\n";
    const WNNModelDimension dimension = {WNN_STR("n"), 2};
    const uint32_t sizes[1] = {2};
    const WNNModelShape shape = {WNN_STR("x"), 1, sizes};
    WNNModelOptions options = WNN_MODEL_OPTIONS_INIT;
    WNNContext context;
    bool done = false;
    long failures = 0;

    options.dimensionCount = options.shapeCount = 1;
    options.dimensions = &dimension;
    options.shapes = &shape;
    assert_int_equal(wnnCreateContext(NULL, &context), WNNStatus_Success);
    for (long n = 0; !done; n++) {
        OWNED(model) WNNModel model = NULL;

        allocations_fail_after(n);
        WNNStatus status = wnnModelReadMemory(context, text, sizeof text - 1, &options, &model);
        done = allocations_stop_failing();
        failures += !done;
        assert_int_equal(status == WNNStatus_Success, model != NULL);
        if (done && status)
            fail_msg("with all its memory: %s", wnnModelGetLastErrorMessage().data);
        if (!done && !status)
            fail_msg("allocation %ld: the model is read all the same", n);
        if (status && !strstr(wnnModelGetLastErrorMessage().data, "out of memory"))
            fail_msg("allocation %ld: %s", n, wnnModelGetLastErrorMessage().data);
    }
    assert_true(failures > 10); /* the reader's own are eight */
    wnnContextRelease(context);
}

TEST(describing_can_fail_at_every_allocation)
{
    static const char text[] = "webnn_graph \"sum\" v2 {\n  inputs { x: f32[dyn(\"n\", 4)]; y: f32[dyn(\"m\", 4)]; }\n"
                               "  nodes { z = add(x, y); }\n  outputs { z; }\n}\n";
    bool done = false;
    long failures = 0;

    for (long n = 0; !done; n++) {
        WNNModelInfo info;

        allocations_fail_after(n);
        WNNStatus status = wnnModelDescribeMemory(text, sizeof text - 1, &info);
        done = allocations_stop_failing();
        failures += !done;
        assert_int_equal(status == WNNStatus_Success, done);
        assert_int_equal(info != NULL, done);
        if (status && !strstr(wnnModelGetLastErrorMessage().data, "out of memory"))
            fail_msg("allocation %ld: %s", n, wnnModelGetLastErrorMessage().data);
        wnnModelInfoRelease(info);
    }
    assert_true(failures > 3);
}

/** Asks for the graph of size n; with so many allocations until one fails, or with all if `left` is negative. */
static WNNStatus get(WNNDynamicModel model, uint32_t n, long left, bool *enough)
{
    const WNNModelDimension dimension = {WNN_STR("n"), n};
    OWNED(compiled) WNNGraph graph = NULL;

    if (left >= 0)
        allocations_fail_after(left);
    WNNStatus status = wnnDynamicModelGetGraph(model, 1, &dimension, 0, NULL, &graph);
    *enough = left < 0 || allocations_stop_failing();
    assert_int_equal(status == WNNStatus_Success, graph != NULL);
    return status;
}

TEST(a_dynamic_model_can_fail_and_go_on)
{
    static const char text[] = "webnn_graph \"sum\" v2 {\n  inputs { x: f32[dyn(\"n\", 400)]; }\n"
                               "  nodes { z = add(x, x); }\n  outputs { z; }\n}\n";
    enum { READING = 30 }; /* allocations before a graph is compiled, fewer than there are; others may be done without */
    WNNDynamicModel model = NULL;
    WNNDynamicModelCounts counts;
    WNNContext context;
    bool enough = false;
    long failures = 0;

    assert_int_equal(wnnCreateContext(NULL, &context), WNNStatus_Success);
    for (long n = 0; !enough; n++) {
        allocations_fail_after(n);
        WNNStatus status = wnnDynamicModelCreateFromMemory(context, text, sizeof text - 1, NULL, &model);
        enough = allocations_stop_failing();
        failures += !enough;
        assert_int_equal(status == WNNStatus_Success, enough);
        assert_int_equal(model != NULL, enough);
    }
    assert_true(failures > 10);
    for (long n = 0; n < READING; n++) {
        WNNStatus status = get(model, 7, n, &enough);

        if (!enough && !status)
            fail_msg("allocation %ld: there is a graph all the same", n);
    }
    assert_int_equal(get(model, 7, -1, &enough), WNNStatus_Success);
    wnnDynamicModelGetCounts(model, &counts);
    assert_int_equal(counts.held, 1);
    wnnDynamicModelRelease(model);
    wnnContextRelease(context);
}
