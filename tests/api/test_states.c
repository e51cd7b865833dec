/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * States: one tensor is an input and the output that it becomes.  What a dispatch makes of it is what it makes of two tensors,
 * whether the graph can compute in place or not.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "support/api.h"
#include "support/context.h"

enum { N = 16, ELEMENTS = N * N };

static const uint32_t shape[2] = {N, N};
static const WNNOperandDescriptor square = {WNNOperandDataType_Float32, 2, shape, NULL};

/* ---- graphs ---- */

/* Each makes y, which the state x becomes, and another output z of x or of both. */
static void scatter(WNNGraphBuilder b, WNNOperand x, WNNOperand *y, WNNOperand *z)
{
    static const int32_t rows[3] = {5, 0, 11};
    const WNNOperandDescriptor i = {WNNOperandDataType_Int32, 2, (uint32_t[]){3, 1}, NULL};
    const WNNOperandDescriptor u = {WNNOperandDataType_Float32, 2, (uint32_t[]){3, N}, NULL};
    float updates[3 * N];

    for (int k = 0; k < 3 * N; k++)
        updates[k] = (float)k / 8;
    *y = wnnGraphBuilderScatterND(b, x, wnnGraphBuilderConstant(b, &i, rows, sizeof rows),
                                  wnnGraphBuilderConstant(b, &u, updates, sizeof updates), NULL);
    *z = wnnGraphBuilderSoftmax(b, *y, 1, NULL);
}

/* The cache of before is read by what follows the update. */
static void scatter_and_look_back(WNNGraphBuilder b, WNNOperand x, WNNOperand *y, WNNOperand *z)
{
    scatter(b, x, y, z);
    *z = wnnGraphBuilderMatmul(b, wnnGraphBuilderSoftmax(b, *y, 1, NULL), x, NULL);
}

static void elementwise(WNNGraphBuilder b, WNNOperand x, WNNOperand *y, WNNOperand *z)
{
    *y = wnnGraphBuilderMul(b, x, wnnGraphBuilderSigmoid(b, x, NULL), NULL);
    *z = wnnGraphBuilderCumulativeSum(b, *y, 0, NULL);
}

static void transpose(WNNGraphBuilder b, WNNOperand x, WNNOperand *y, WNNOperand *z)
{
    *y = wnnGraphBuilderTranspose(b, x, NULL);
    *z = wnnGraphBuilderReduceSum(b, x, NULL);
    *z = wnnGraphBuilderExpand(b, *z, 2, shape, NULL);
}

static void rows_then_the_old_ones(WNNGraphBuilder b, WNNOperand x, WNNOperand *y, WNNOperand *z)
{
    *y = wnnGraphBuilderSoftmax(b, x, 1, NULL);
    *z = wnnGraphBuilderMatmul(b, *y, x, NULL);
}

static void nothing_but_a_view(WNNGraphBuilder b, WNNOperand x, WNNOperand *y, WNNOperand *z)
{
    *y = wnnGraphBuilderReshape(b, x, 2, shape, NULL);
    *z = wnnGraphBuilderRelu(b, x, NULL);
}

static void products(WNNGraphBuilder b, WNNOperand x, WNNOperand *y, WNNOperand *z)
{
    *y = wnnGraphBuilderMatmul(b, x, x, NULL);
    *z = wnnGraphBuilderAdd(b, x, *y, NULL);
}

typedef void (*making)(WNNGraphBuilder b, WNNOperand x, WNNOperand *y, WNNOperand *z);
static const making makings[] = {scatter,  scatter_and_look_back,  elementwise,       transpose,
                                 products, rows_then_the_old_ones, nothing_but_a_view};

static WNNGraph make_graph(making make, bool states)
{
    const WNNNamedState state = {WNN_STR("x"), WNN_STR("y")};
    WNNGraphBuilder b = builder_of(context);
    WNNOperand y, z;

    make(b, wnnGraphBuilderInput(b, WNN_STR("x"), &square), &y, &z);
    if (states)
        assert_success(wnnGraphBuilderSetStates(b, 1, &state));
    return build(b, 2, (WNNNamedOperand[]){{WNN_STR("y"), y}, {WNN_STR("z"), z}});
}

static void fill(float *x)
{
    for (int i = 0; i < ELEMENTS; i++)
        x[i] = (float)(i * 37 % 101) / 64 - 0.75f;
}

/* Runs the graph three times, each on what the last run made of x. */
static void run_thrice(WNNGraph graph, bool one_tensor, float *y, float *z)
{
    WNNTensor x_tensor = tensor_of(context, 2, shape), y_tensor = one_tensor ? x_tensor : tensor_of(context, 2, shape),
              z_tensor = tensor_of(context, 2, shape);
    float x[ELEMENTS];

    fill(x);
    assert_success(wnnContextWriteTensor(context, x_tensor, x, sizeof x));
    for (int turn = 0; turn < 3; turn++) {
        WNNNamedTensor in = {WNN_STR("x"), x_tensor}, out[2] = {{WNN_STR("z"), z_tensor}, {WNN_STR("y"), y_tensor}};

        assert_success(wnnContextDispatch(context, graph, 1, &in, 2, out));
        if (!one_tensor) {
            WNNTensor old = x_tensor;
            x_tensor = y_tensor;
            y_tensor = old;
        }
    }
    assert_success(wnnContextReadTensor(context, x_tensor, y, ELEMENTS * sizeof *y));
    assert_success(wnnContextReadTensor(context, z_tensor, z, ELEMENTS * sizeof *z));
    wnnTensorRelease(x_tensor);
    if (!one_tensor)
        wnnTensorRelease(y_tensor);
    wnnTensorRelease(z_tensor);
}

TEST(one_tensor_becomes_what_two_do)
{
    static float y[2][ELEMENTS], z[2][ELEMENTS];

    for (size_t i = 0; i < sizeof makings / sizeof *makings; i++) {
        OWNED(compiled) WNNGraph plain = make_graph(makings[i], false), graph = make_graph(makings[i], true);

        run_thrice(plain, false, y[0], z[0]);
        for (int one = 0; one < 2; one++) {
            run_thrice(graph, one, y[1], z[1]);
            if (memcmp(y[0], y[1], sizeof y[0]) || memcmp(z[0], z[1], sizeof z[0]))
                fail_msg("graph %zu computes something else with %s", i, one ? "one tensor" : "two tensors");
        }
    }
}

/* The same on memory of the host. */
TEST(one_buffer_becomes_what_two_do)
{
    static float x[ELEMENTS], y[ELEMENTS], z[2][ELEMENTS];

    for (size_t i = 0; i < sizeof makings / sizeof *makings; i++) {
        OWNED(compiled) WNNGraph graph = make_graph(makings[i], true);
        const WNNNamedBuffer in = {WNN_STR("x"), x, sizeof x};

        fill(x);
        assert_success(wnnGraphCompute(graph, 1, &in, 2,
                                       (WNNNamedBuffer[]){{WNN_STR("y"), y, sizeof y}, {WNN_STR("z"), z[0], sizeof z[0]}}));
        assert_success(wnnGraphCompute(graph, 1, &in, 2,
                                       (WNNNamedBuffer[]){{WNN_STR("y"), x, sizeof x}, {WNN_STR("z"), z[1], sizeof z[1]}}));
        assert_memory_equal(x, y, sizeof x);
        assert_memory_equal(z[0], z[1], sizeof z[0]);
        assert_int_equal(
            wnnGraphCompute(graph, 1, &in, 2, (WNNNamedBuffer[]){{WNN_STR("y"), y, sizeof y}, {WNN_STR("z"), x, sizeof x}}),
            WNNStatus_TypeError);
    }
}

TEST(saved_graphs_keep_their_states)
{
    static float y[2][ELEMENTS], z[2][ELEMENTS];
    char path[] = "/tmp/webnn-states-XXXXXX";

    make_file(path);
    for (size_t i = 0; i < sizeof makings / sizeof *makings; i++) {
        OWNED(compiled) WNNGraph graph = make_graph(makings[i], true), loaded = NULL;

        run_thrice(graph, false, y[0], z[0]);
        if (wnnGraphSave(graph, path) || wnnContextLoadGraph(context, path, &loaded))
            fail_msg("%s", wnnGetLastErrorMessage().data);
        run_thrice(loaded, true, y[1], z[1]);
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        assert_memory_equal(z[0], z[1], sizeof z[0]);
    }
    unlink(path);
}

/* On the processor nothing is written but the row that is updated: all others lie in pages that cannot be.  A device computes
 * on a copy of the buffer, all of which comes back. */
TEST(only_updates_are_written)
{
    enum { ROWS = 6, UPDATED = 2 };
    const uint32_t columns = (uint32_t)((size_t)sysconf(_SC_PAGESIZE) / sizeof(float));
    const size_t page = columns * sizeof(float);
    const WNNOperandDescriptor d = {WNNOperandDataType_Float32, 2, (uint32_t[]){ROWS, columns}, NULL};
    const WNNOperandDescriptor i = {WNNOperandDataType_Int32, 2, (uint32_t[]){1, 1}, NULL};
    const WNNOperandDescriptor u = {WNNOperandDataType_Float32, 2, (uint32_t[]){1, columns}, NULL};
    const WNNNamedState cache = {WNN_STR("cache"), WNN_STR("updated")};
    const int32_t row = UPDATED;
    WNNContextOptions processor = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext others = context;
    WNNGraph graph;
    OWNED(memory) float *update = calloc(1, page);
    float *memory = mmap(NULL, ROWS * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    processor.engine = WNNEngine_Cpu;
    assert_success(wnnCreateContext(&processor, &context));
    WNNGraphBuilder b = builder_of(context);
    assert_true(update && memory != MAP_FAILED);
    for (uint32_t k = 0; k < columns; k++)
        update[k] = 1 + (float)k;
    WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("cache"), &d), rows = wnnGraphBuilderInput(b, WNN_STR("rows"), &i);
    WNNOperand y = wnnGraphBuilderScatterND(b, x, rows, wnnGraphBuilderInput(b, WNN_STR("update"), &u), NULL);
    assert_success(wnnGraphBuilderSetStates(b, 1, &cache));
    assert_success(wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("updated"), y}, &graph));
    assert_int_equal(mprotect(memory, ROWS * page, PROT_READ), 0);
    assert_int_equal(mprotect(memory + UPDATED * columns, page, PROT_READ | PROT_WRITE), 0);
    const WNNNamedBuffer in[3] = {{WNN_STR("cache"), memory, ROWS * page},
                                  {WNN_STR("rows"), (void *)&row, sizeof row},
                                  {WNN_STR("update"), update, page}};
    assert_success(wnnGraphCompute(graph, 3, in, 1, &(WNNNamedBuffer){WNN_STR("updated"), memory, ROWS * page}));
    for (uint32_t k = 0; k < ROWS * columns; k++)
        assert_true(memory[k] == (k / columns == UPDATED ? update[k % columns] : 0));
    munmap(memory, ROWS * page);
    wnnGraphRelease(graph);
    wnnGraphBuilderRelease(b);
    wnnContextRelease(context);
    context = others;
}

/* ---- errors ---- */

static void expect_refused(WNNStatus status, const char *text)
{
    assert_int_equal(status, WNNStatus_TypeError);
    if (!strstr(wnnGetLastErrorMessage().data, text))
        fail_msg("\"%s\" is not in: %s", text, wnnGetLastErrorMessage().data);
}

TEST(wrong_states_are_refused)
{
    const struct {
        WNNNamedState states[2];
        size_t count;
        const char *message;
    } cases[] = {
        {{{WNN_STR("cache"), WNN_STR("present")}}, 1, "states[0]: the graph has no input \"cache\"; did you mean 'caches'?"},
        {{{WNN_STR("caches"), WNN_STR("presnt")}}, 1, "states[0]: the graph has no output \"presnt\"; did you mean 'present'?"},
        {{{WNN_STR("unused"), WNN_STR("present")}}, 1, "the graph has no output that needs input \"unused\""},
        {{{WNN_STR("caches"), WNN_STR("s")}}, 1, "input \"caches\" is f32[16, 16], and output \"s\" is f32[]"},
        {{{WNN_STR("caches"), WNN_STR("present")}, {WNN_STR("caches"), WNN_STR("present")}},
         2,
         "states[0] and states[1] have the same input, \"caches\""},
        {{{WNN_STR("caches"), WNN_STR("present")}, {WNN_STR("other"), WNN_STR("present")}},
         2,
         "states[0] and states[1] have the same output, \"present\""},
    };
    OWNED(builder) WNNGraphBuilder b = builder_of(context);
    WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("caches"), &square), o = wnnGraphBuilderInput(b, WNN_STR("other"), &square);
    WNNOperand y = wnnGraphBuilderAdd(b, x, o, NULL), s = wnnGraphBuilderReduceSum(b, y, NULL);
    const WNNNamedOperand outputs[2] = {{WNN_STR("present"), y}, {WNN_STR("s"), s}};
    OWNED(compiled) WNNGraph graph = NULL;

    assert_non_null(wnnGraphBuilderInput(b, WNN_STR("unused"), &square));
    expect_refused(wnnGraphBuilderSetStates(NULL, 0, NULL), "builder is NULL");
    expect_refused(wnnGraphBuilderSetStates(b, 2, NULL), "2 states are NULL");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_success(wnnGraphBuilderSetStates(b, cases[i].count, cases[i].states));
        expect_refused(wnnGraphBuilderBuild(b, 2, outputs, &graph), cases[i].message);
        assert_null(graph);
    }
    assert_success(wnnGraphBuilderSetStates(b, 0, NULL)); /* forgets them; nothing was lost */
    assert_success(wnnGraphBuilderBuild(b, 2, outputs, &graph));
    assert_int_equal(wnnGraphBuilderSetStates(b, 0, NULL), WNNStatus_InvalidStateError);
}

TEST(other_tensors_may_not_be_given_twice)
{
    WNNGraph plain = make_graph(scatter, false), graph = make_graph(scatter, true);
    WNNTensor a = tensor_of(context, 2, shape), b = tensor_of(context, 2, shape);
    const WNNNamedTensor x = {WNN_STR("x"), a}, same[2] = {{WNN_STR("y"), a}, {WNN_STR("z"), b}};
    const WNNNamedTensor wrong[2] = {{WNN_STR("y"), b}, {WNN_STR("z"), a}}, twice[2] = {{WNN_STR("y"), a}, {WNN_STR("z"), a}};

    expect_refused(wnnContextDispatch(context, plain, 1, &x, 2, same), "output \"y\" is given more than once");
    expect_refused(wnnContextDispatch(context, graph, 1, &x, 2, wrong), "output \"z\" is given more than once");
    expect_refused(wnnContextDispatch(context, graph, 1, &x, 2, twice), "output \"z\" is given more than once");
    assert_success(wnnContextDispatch(context, graph, 1, &x, 2, same));
    release_with_tensors(plain, a, b);
    wnnGraphRelease(graph);
}

TEST_GROUP(create_context, release_context)
