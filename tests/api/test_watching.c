/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a program is told, and what it may limit: the progress of a build, which it may end; the times of computations; the
 * memory of a context.
 */
#include <stdatomic.h>
#include <unistd.h>

#include "support/api.h"

enum { SIZE = 64, LAYERS = 6 };

/** Makes a builder with a chain of multiplications by constants of SIZE x SIZE, between which lie different operators.  The
 * constants differ, because equal ones may lie in memory once. */
static WNNGraphBuilder make_builder(WNNContext context, WNNNamedOperand *output)
{
    const uint32_t shape[2] = {SIZE, SIZE};
    const WNNOperandDescriptor descriptor = {WNNOperandDataType_Float32, 2, shape, NULL};
    OWNED(memory) float *weights = calloc(SIZE * SIZE, sizeof *weights);
    WNNGraphBuilder builder = builder_of(context);

    assert_non_null(weights);
    WNNOperand x = wnnGraphBuilderInput(builder, WNN_STR("x"), &descriptor);
    for (int i = 0; i < LAYERS; i++) {
        for (int k = 0; k < SIZE; k++)
            weights[k * SIZE + k] = 1 + (float)i;
        WNNOperand w = wnnGraphBuilderConstant(builder, &descriptor, weights, SIZE * SIZE * sizeof *weights);

        x = wnnGraphBuilderMatmul(builder, x, w, NULL);
        x = i % 2 ? wnnGraphBuilderSoftmax(builder, x, 1, NULL) : wnnGraphBuilderCumulativeSum(builder, x, 1, NULL);
    }
    *output = (WNNNamedOperand){WNN_STR("y"), x};
    return builder;
}

/* ---- builds ---- */

struct build_watch {
    uint32_t calls[3], end_at_call, end_in_stage;
    bool wrong;
};

static bool on_progress(WNNBuildStage stage, uint32_t done, uint32_t total, void *userdata1, void *userdata2)
{
    struct build_watch *w = userdata1;

    w->wrong = w->wrong || userdata2 != w || stage < WNNBuildStage_Graph || stage > WNNBuildStage_Code ||
               (total && done > total) || (stage == WNNBuildStage_Code && !total);
    return ++w->calls[stage] != w->end_at_call || stage != w->end_in_stage;
}

TEST(a_build_tells_its_progress)
{
    OWNED(context) WNNContext context = context_with(NULL);
    WNNNamedOperand output;
    OWNED(builder) WNNGraphBuilder builder = make_builder(context, &output);
    struct build_watch watch = {0};
    OWNED(compiled) WNNGraph graph = NULL;

    assert_success(wnnGraphBuilderSetProgress(builder, (WNNBuildProgressCallbackInfo){on_progress, &watch, &watch}));
    assert_success(wnnGraphBuilderBuild(builder, 1, &output, &graph));
    assert_true(watch.calls[WNNBuildStage_Graph] > 10); /* there are more passes than that */
    assert_true(watch.calls[WNNBuildStage_Code] >= 1);
    assert_false(watch.wrong);
    assert_int_equal(wnnGraphBuilderSetProgress(builder, (WNNBuildProgressCallbackInfo){on_progress, &watch, &watch}),
                     WNNStatus_InvalidStateError);
}

TEST(a_build_can_be_ended)
{
    OWNED(context) WNNContext context = context_with(NULL);

    for (WNNBuildStage stage = WNNBuildStage_Graph; stage <= WNNBuildStage_Code; stage++)
        for (uint32_t call = 1; call < (stage == WNNBuildStage_Graph ? 12 : 2); call++) {
            struct build_watch watch = {.end_at_call = call, .end_in_stage = stage};
            WNNNamedOperand output;
            OWNED(builder) WNNGraphBuilder builder = make_builder(context, &output);
            WNNGraph graph;

            assert_success(wnnGraphBuilderSetProgress(builder, (WNNBuildProgressCallbackInfo){on_progress, &watch, &watch}));
            assert_int_equal(wnnGraphBuilderBuild(builder, 1, &output, &graph), WNNStatus_OperationError);
            assert_null(graph);
            assert_non_null(strstr(wnnGetLastErrorMessage().data, "cancelled"));
            assert_int_equal(watch.calls[stage], call); /* it is not asked again */
        }
    assert_false(wnnContextIsLost(context));
}

/* ---- times ---- */

struct computed {
    WNNGraph graph;
    atomic_uint count;
    bool wrong;
};

static void on_computed(WNNGraph graph, WNNComputationTimes const *times, void *userdata1, void *userdata2)
{
    struct computed *c = userdata1;

    c->wrong = c->wrong || !times->submitted || times->begun < times->submitted || times->ended < times->begun;
    c->graph = graph;
    c->count++;
}

/** Of a device's computation another thread may tell a moment after its results were read. */
static void assert_told(struct computed *c, uint32_t count)
{
    for (int i = 0; atomic_load(&c->count) < count && i < 10000; i++)
        usleep(1000);
    assert_int_equal(c->count, count);
}

TEST(every_computation_is_told)
{
    static float x[SIZE * SIZE], y[SIZE * SIZE];
    const uint32_t shape[2] = {SIZE, SIZE};
    const WNNNamedBuffer in = {WNN_STR("x"), x, sizeof x}, out = {WNN_STR("y"), y, sizeof y};
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    struct computed computed = {0};
    WNNNamedTensor named_in = {WNN_STR("x"), NULL}, named_out = {WNN_STR("y"), NULL};
    WNNNamedOperand output;
    WNNGraph graph;

    options.computed = (WNNComputedCallbackInfo){on_computed, &computed, NULL};
    OWNED(context) WNNContext context = context_with(&options);
    OWNED(builder) WNNGraphBuilder builder = make_builder(context, &output);
    assert_success(wnnGraphBuilderBuild(builder, 1, &output, &graph));
    assert_int_equal(computed.count, 0);
    assert_success(wnnGraphCompute(graph, 1, &in, 1, &out));
    assert_int_equal(computed.count, 1);
    assert_ptr_equal(computed.graph, graph);
    named_in.tensor = tensor_of(context, 2, shape);
    named_out.tensor = tensor_of(context, 2, shape);
    for (int i = 0; i < 3; i++)
        assert_success(wnnContextDispatch(context, graph, 1, &named_in, 1, &named_out));
    assert_success(wnnContextReadTensor(context, named_out.tensor, y, sizeof y));
    assert_told(&computed, 4);
    assert_false(computed.wrong);
    release_with_tensors(graph, named_in.tensor, named_out.tensor);
}

/* ---- messages ---- */

struct messages {
    uint32_t counts[4];
    char last[1200];
};

static void on_message(WNNLogLevel level, WNNStringView message, void *userdata1, void *userdata2)
{
    struct messages *m = userdata1;

    m->counts[level]++;
    assert_int_equal(strlen(message.data), message.length);
    strcpy(m->last, message.data);
}

TEST(what_a_context_does_is_logged)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    struct build_watch watch = {.end_at_call = 1, .end_in_stage = WNNBuildStage_Graph};
    struct messages messages = {0};
    WNNNamedOperand output;
    WNNGraph graph;

    options.log = (WNNLogCallbackInfo){on_message, &messages, NULL};
    OWNED(context) WNNContext context = context_with(&options);
    WNNGraphBuilder builder = make_builder(context, &output);
    assert_success(wnnGraphBuilderBuild(builder, 1, &output, &graph));
    assert_int_equal(messages.counts[WNNLogLevel_Info], 1);
    assert_non_null(strstr(messages.last, "a graph was built"));
    wnnGraphRelease(graph);
    wnnGraphBuilderRelease(builder);
    builder = make_builder(context, &output);
    assert_success(wnnGraphBuilderSetProgress(builder, (WNNBuildProgressCallbackInfo){on_progress, &watch, &watch}));
    assert_int_equal(wnnGraphBuilderBuild(builder, 1, &output, &graph), WNNStatus_OperationError);
    assert_int_equal(messages.counts[WNNLogLevel_Warning], 1);
    assert_non_null(strstr(messages.last, "cancelled"));
    wnnGraphBuilderRelease(builder);
    wnnContextDestroy(context);
    wnnContextDestroy(context);
    assert_int_equal(messages.counts[WNNLogLevel_Info], 2);
    assert_int_equal(messages.counts[WNNLogLevel_Error], 0);
    assert_string_equal(messages.last, "the context was destroyed");
}

/* A precision that the machine has no instructions for is a warning, once, with the first graph. */
TEST(a_precision_without_effect_is_logged)
{
    static const struct {
        WNNPrecision precision;
        bool deterministic;
        const char *debug, *why; /* NULL: none */
    } cases[] = {
        {WNNPrecision_Float32, false, "isa=baseline", NULL},
#if defined(__x86_64__) /* NEON multiplies bytes */
        {WNNPrecision_Int8, false, "isa=baseline", "multiplies no bytes"},
#endif
        {WNNPrecision_Bf16, false, "isa=baseline", "no arithmetic of bfloat16"},
        {WNNPrecision_Bf16, false, "no-library", "the context has no library"},
        {WNNPrecision_Int8, true, "", "deterministic"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
        struct messages messages = {0};

        options.log = (WNNLogCallbackInfo){on_message, &messages, NULL};
        options.engine = WNNEngine_Cpu;
        options.precision = cases[i].precision;
        options.deterministic = cases[i].deterministic;
        options.debug = WNN_STR(cases[i].debug);
        OWNED(context) WNNContext context = context_with(&options);
        for (int graphs = 0; graphs < 2; graphs++) {
            WNNNamedOperand output;
            OWNED(builder) WNNGraphBuilder builder = make_builder(context, &output);
            OWNED(compiled) WNNGraph graph = NULL;

            assert_success(wnnGraphBuilderBuild(builder, 1, &output, &graph));
            assert_int_equal(messages.counts[WNNLogLevel_Warning], cases[i].why != NULL);
            if (cases[i].why && !graphs)
                assert_non_null(strstr(messages.last, cases[i].why));
        }
    }
}

/* ---- memory ---- */

TEST(tensors_stay_within_the_limit)
{
    const uint32_t shape[1] = {600};
    WNNTensorDescriptor descriptor = WNN_TENSOR_DESCRIPTOR_INIT;
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    OWNED(tensor) WNNTensor first = NULL, second = NULL;

    options.memoryLimit = 1000;
    OWNED(context) WNNContext context = context_with(&options);
    descriptor.dataType = WNNOperandDataType_Uint8;
    descriptor.rank = 1;
    descriptor.shape = shape;
    assert_success(wnnContextCreateTensor(context, &descriptor, &first));
    assert_int_equal(wnnContextCreateTensor(context, &descriptor, &second), WNNStatus_UnknownError);
    assert_null(second);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "600 bytes are requested, and 600 of the context's memory limit of "
                                                          "1000 are in use"));
    wnnTensorDestroy(first); /* gives its memory back */
    assert_success(wnnContextCreateTensor(context, &descriptor, &second));
    assert_false(wnnContextIsLost(context));
}

/** Builds the network in a context with this limit, computes it and gives it back, twice.  Returns whether it was built. */
static bool builds_within(size_t limit)
{
    static float x[SIZE * SIZE], y[SIZE * SIZE];
    const WNNNamedBuffer in = {WNN_STR("x"), x, sizeof x}, out = {WNN_STR("y"), y, sizeof y};
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    bool built = false;

    options.memoryLimit = limit;
    options.threadCount = 1;
    OWNED(context) WNNContext context = context_with(&options);
    for (int turn = 0; turn < 2; turn++) {
        WNNNamedOperand output;
        OWNED(builder) WNNGraphBuilder builder = make_builder(context, &output);
        OWNED(compiled) WNNGraph graph = NULL;
        WNNStatus status = wnnGraphBuilderBuild(builder, 1, &output, &graph);

        built = !status;
        if (built)
            assert_success(wnnGraphCompute(graph, 1, &in, 1, &out));
        else
            assert_non_null(strstr(wnnGetLastErrorMessage().data, "memory limit"));
        assert_true(built || status == WNNStatus_OperationError);
    }
    assert_false(wnnContextIsLost(context));
    return built;
}

TEST(graphs_stay_within_the_limit)
{
    const size_t weights = LAYERS * SIZE * SIZE * sizeof(float);

    assert_false(builds_within(weights / 2));
    assert_true(builds_within(8 * weights)); /* of which both graphs after each other find room */
}
