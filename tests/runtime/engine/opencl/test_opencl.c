/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The OpenCL engine over an OpenCL without a device (support/fake_opencl.h), whose kernels turn over the lowest bit of every
 * byte: which commands are queued and when anybody waits, and that whatever fails is said, ends, and leaves nothing behind.
 */
#include "runtime/engine/opencl/opencl_support.h"

/* ---- everything may fail ---- */

static void assert_message_names(const char *call)
{
    static const char *const silent[] = {"GetDeviceInfo",        "Release", "Flush", "Finish", "GetProgramBuildInfo",
                                         "GetEventProfilingInfo"};
    char name[64];

    snprintf(name, sizeof name, "cl%s", call);
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (!strncmp(call, silent[i], strlen(silent[i])))
            return;
    if (!strstr(wnnGetLastErrorMessage().data, name))
        fail_msg("the message does not name %s: %s", name, wnnGetLastErrorMessage().data);
}

struct lost {
    atomic_int count;
    char message[1024];
};

static void note_lost(WNNContext context, WNNStringView message, void *user, void *unused)
{
    struct lost *l = user;

    snprintf(l->message, sizeof l->message, "%.*s", (int)message.length, message.data);
    atomic_fetch_add(&l->count, 1);
}

/* From a context to results by both ways; whatever succeeds must be right.  True: all of it did. */
static bool live(const char *body, bool *named)
{
    struct lost lost = {0};
    struct error e = {0};
    unsigned char x[BYTES], i[BYTES], y[BYTES], j[BYTES], k[16];
    WNNContext context = try_context(note_lost, &lost);
    WNNGraph graph = NULL;
    WNNTensor tx = NULL, ty = NULL;
    bool good = false;

    if (!context)
        return false;
    fill(x, 1);
    fill(i, 2);
    if (runtime_build(context, parse_body(body), &graph, &e) == WNNStatus_Success) {
        const bool many = body == three_steps;
        WNNNamedBuffer in[] = {{WNN_STR("x"), x, BYTES}, {WNN_STR("i"), i, BYTES}};
        WNNNamedBuffer out[] = {{WNN_STR("y"), y, BYTES}, {WNN_STR("j"), j, BYTES}, {WNN_STR("k"), k, 16}};

        good = wnnGraphCompute(graph, many ? 2 : 1, in, many ? 3 : 1, out) == WNNStatus_Success;
        if (good)
            assert_true(is_computed(y, x) && (!many || is_computed(j, i)));
        if (good && !many) {
            good = try_tensor(context, WNNOperandDataType_Float32, N, &tx) == WNNStatus_Success &&
                   try_tensor(context, WNNOperandDataType_Float32, N, &ty) == WNNStatus_Success &&
                   wnnContextWriteTensor(context, tx, i, BYTES) == WNNStatus_Success &&
                   dispatch(context, graph, tx, ty) == WNNStatus_Success &&
                   wnnContextReadTensor(context, ty, y, BYTES) == WNNStatus_Success;
            if (good)
                assert_true(is_computed(y, i));
        }
    } else {
        error_publish(&e);
    }
    if (!good && !atomic_load(&lost.count))
        assert_message_names(fake->failed_call());
    *named = !good;
    release_all(context, graph, tx, ty);
    return good;
}

static void every_call_fails_once(const char *body, int code, bool lasting)
{
    bool failed = true, named;
    long n = 0;

    for (; failed; n++) {
        fake->fail_after(n, code, lasting);
        bool good = live(body, &named);
        failed = fake->has_failed();
        const char *call = fake->failed_call();
        fake->fail_after(-1, 0, false);
        if (!good && !failed)
            fail_msg("nothing failed, and yet: %s", wnnGetLastErrorMessage().data);
        assert_nothing_is_left(call);
    }
    assert_true(n > 40);
}

TEST(test_every_call_may_fail_once)
{
    every_call_fails_once(one_step, CL_OUT_OF_RESOURCES, false);
    every_call_fails_once(three_steps, CL_OUT_OF_HOST_MEMORY, false);
}

TEST(test_the_device_may_go_at_any_call)
{
    every_call_fails_once(one_step, CL_DEVICE_NOT_AVAILABLE, true);
    every_call_fails_once(three_steps, CL_INVALID_COMMAND_QUEUE, true);
}

/* ---- messages ---- */

static void await_loss(struct lost *l)
{
    while (!atomic_load(&l->count))
        sched_yield();
}

TEST(test_a_failed_step_is_named)
{
    struct lost lost = {0};
    WNNContext context = try_context(note_lost, &lost);
    WNNGraph graph = new_graph(context, one_step);
    WNNTensor x = new_tensor(context), y = new_tensor(context);

    fake->fail_next("EnqueueNDRangeKernel", CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(dispatch(context, graph, x, y), WNNStatus_Success);
    await_loss(&lost);
    assert_non_null(strstr(lost.message, "neg [mine]"));
    assert_non_null(
        strstr(lost.message, "clEnqueueNDRangeKernel on the OpenCL device fake device: CL_INVALID_WORK_GROUP_SIZE"));
    release_all(context, graph, x, y);
}

TEST(test_a_lost_device_loses_the_context)
{
    struct lost lost = {0};
    WNNContext context = try_context(note_lost, &lost);
    WNNGraph graph = new_graph(context, one_step);
    WNNTensor x = new_tensor(context), y = new_tensor(context), z;
    unsigned char data[BYTES] = {0};

    fake->hold(true);
    assert_int_equal(dispatch(context, graph, x, y), WNNStatus_Success);
    fake->fail_next("EnqueueReadBuffer", CL_OUT_OF_RESOURCES); /* NVIDIA's answer to a kernel that went wrong */
    assert_int_not_equal(wnnContextReadTensor(context, y, data, BYTES), WNNStatus_Success);
    fake->hold(false);
    await_loss(&lost);
    assert_non_null(strstr(lost.message, "the OpenCL device fake device is lost: clEnqueueReadBuffer: CL_OUT_OF_RESOURCES"));
    assert_true(wnnContextIsLost(context));
    assert_int_equal(wnnContextWriteTensor(context, x, data, BYTES), WNNStatus_InvalidStateError);
    assert_int_equal(dispatch(context, graph, x, y), WNNStatus_InvalidStateError);
    assert_int_equal(try_tensor(context, WNNOperandDataType_Float32, N, &z), WNNStatus_InvalidStateError);
    release_all(context, graph, x, y);
}

TEST(test_memory_runs_out)
{
    OWNED(context) WNNContext context = new_context();
    WNNTensor t, held[16];
    struct error e = {0};
    WNNGraph graph;
    size_t count = 0;

    assert_int_equal(try_tensor(context, WNNOperandDataType_Float32, 1 << 21, &t), WNNStatus_UnknownError);
    assert_int_equal(
        strncmp(wnnGetLastErrorMessage().data, "createTensor: the OpenCL device fake device has no memory for ", 62), 0);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "8388608 bytes (more than one buffer can have)"));
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "4194304 for one buffer at most"));
    while (count < 16 && try_tensor(context, WNNOperandDataType_Float32, 1 << 20, &held[count]) == WNNStatus_Success)
        count++;
    assert_int_equal(count, 4);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "it has 16777216 bytes, 16777216 of them in use"));
    assert_int_equal(runtime_build(context,
                                   parse_body("inputs { x: f32[4]; } consts { k: f32[4] @values([1, 2, 3, 4]); } nodes { "
                                              "y = sub(k, x); } outputs { y; }"),
                                   &graph, &e),
                     WNNStatus_OperationError);
    assert_non_null(strstr(e.message, "no memory for 16 bytes"));
    while (count)
        wnnTensorRelease(held[--count]);
    assert_int_equal(try_tensor(context, WNNOperandDataType_Float32, 1 << 20, &t), WNNStatus_Success);
    wnnTensorRelease(t);
    assert_false(wnnContextIsLost(context));
}

TEST(test_a_kernel_does_not_build)
{
    OWNED(context) WNNContext context = new_context();
    struct error e = {0};
    WNNGraph graph;

    fake->break_compiler(true);
    assert_int_equal(runtime_build(context, parse_body(one_step), &graph, &e), WNNStatus_OperationError);
    fake->break_compiler(false);
    assert_non_null(strstr(e.message, "neg [mine]: clBuildProgram: CL_BUILD_PROGRAM_FAILURE\nline 1: error"));
    assert_string_equal(e.message + strlen(e.message) - 4, " ...");
    wnnGraphRelease(new_graph(context, one_step)); /* which tries again */
}

/* ---- who waits ---- */

/* The device does nothing until all of it was put into the queue, and the caller's data change at once. */
TEST(test_nothing_waits_between_writing_and_reading)
{
    WNNContext context = new_context();
    WNNGraph graph = new_graph(context, one_step);
    WNNTensor x = new_tensor(context), y = new_tensor(context), z = new_tensor(context);
    unsigned char data[BYTES], first[BYTES], got[BYTES];

    fill(first, 3);
    fake->hold(true);
    fill(data, 3);
    assert_int_equal(wnnContextWriteTensor(context, x, data, BYTES), WNNStatus_Success);
    fill(data, 90);
    assert_int_equal(dispatch(context, graph, x, y), WNNStatus_Success);
    assert_int_equal(wnnContextWriteTensor(context, x, data, BYTES), WNNStatus_Success); /* after the dispatch */
    memset(data, 0, sizeof data);
    assert_int_equal(dispatch(context, graph, x, z), WNNStatus_Success);
    fake->hold(false);
    assert_int_equal(wnnContextReadTensor(context, y, got, BYTES), WNNStatus_Success);
    assert_true(is_computed(got, first));
    assert_int_equal(wnnContextReadTensor(context, z, got, BYTES), WNNStatus_Success);
    fill(first, 90);
    assert_true(is_computed(got, first));
    wnnTensorRelease(x);
    release_all(context, graph, y, z);
}

/* ---- devices ---- */

TEST(test_devices_are_listed)
{
    OWNED(context) WNNContext context = new_context();
    WNNDeviceInfo d;

    assert_true(wnnGetDevice(0, &d));
    assert_string_equal(d.name, "fake device");
    assert_string_equal(d.platform, "fake");
    assert_string_equal(d.lacks, "");
    assert_int_equal(d.kind, WNNDeviceKind_Gpu);
    assert_int_equal(d.memoryBytes, 1 << 24);
    assert_int_equal(d.bufferBytes, 1 << 22);
    assert_false(wnnGetDevice(1, &d));
    assert_string_equal(d.name, "");
    assert_true(wnnContextGetAccelerated(context));
}

/* ---- what the device is asked for ---- */

/* A convolution with what surrounds it. */
static const char convolutional[] =
    "inputs { x: f32[1, 3, 10, 10]; } consts { w: f32[8, 3, 3, 3] @scalar(0.05); b: f32[8] @scalar(-0.1); m: f32[8, 5] "
    "@scalar(0.3); } nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]); r = relu(c); p = maxPool2d(r, "
    "windowDimensions=[2, 2], strides=[2, 2]); t = transpose(p, permutation=[0, 2, 3, 1]); f = reshape(t, [25, 8]); g = "
    "matmul(f, m); y = softmax(g, 1); } outputs { y; z = x; }";

struct convolution {
    WNNContext context;
    WNNGraph graph;
    WNNTensor x, y, z;
    float data[300];
};

static void convolution_open(struct convolution *c, const char *debug)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    memset(c, 0, sizeof *c);
    o.engine = WNNEngine_Gpu;
    o.ignoreEnvironment = true;
    o.debug = WNN_STR(debug);
    assert_int_equal(wnnCreateContext(&o, &c->context), WNNStatus_Success);
    c->graph = new_graph(c->context, convolutional);
    c->x = tensor_of(c->context, 4, (const uint32_t[]){1, 3, 10, 10});
    c->y = tensor_of(c->context, 2, (const uint32_t[]){25, 5});
    c->z = tensor_of(c->context, 4, (const uint32_t[]){1, 3, 10, 10});
}

static void convolution_run(struct convolution *c, int times)
{
    WNNNamedTensor in = {WNN_STR("x"), c->x}, out[] = {{WNN_STR("y"), c->y}, {WNN_STR("z"), c->z}};

    assert_int_equal(wnnContextWriteTensor(c->context, c->x, c->data, sizeof c->data), WNNStatus_Success);
    for (int i = 0; i < times; i++)
        assert_int_equal(wnnContextDispatch(c->context, c->graph, 1, &in, 2, out), WNNStatus_Success);
    assert_int_equal(wnnContextReadTensor(c->context, c->z, c->data, sizeof c->data), WNNStatus_Success);
}

static void convolution_close(struct convolution *c)
{
    wnnTensorRelease(c->x);
    release_with_tensors(c->graph, c->y, c->z);
    for (int i = 0; atomic_load(&c->context->references) > 1 && i < 10000; i++)
        usleep(1000); /* the timeline gives back what it took */
    wnnContextRelease(c->context);
}

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

/* Between the first write and the last read there are steps, all of them, and nothing else that moves data or waits. */
TEST(test_every_step_is_the_devices_and_nothing_travels)
{
    SCOPED(convolution_close) struct convolution c = {0};
    unsigned kernels = 0;

    convolution_open(&c, "");
    for (uint32_t i = 0; i < c.graph->executable->step_count; i++)
        kernels += c.graph->executable->steps[i].kind == STEP_KERNEL;
    assert_true(kernels >= 3 && kernels == c.graph->executable->step_count);
    convolution_run(&c, 1); /* makes what runs share */
    fake->start_notes();
    convolution_run(&c, 3);
    assert_int_equal(count(fake->notes(), "EnqueueNDRangeKernel "), 3 * kernels);
    assert_int_equal(count(fake->notes(), "EnqueueCopyBuffer "), 0);
    assert_int_equal(count(fake->notes(), "EnqueueWriteBuffer "), 1);
    assert_int_equal(count(fake->notes(), "EnqueueReadBuffer "), 1);
    assert_int_equal(count(fake->notes(), "EnqueueFillBuffer "), 0);
    assert_int_equal(count(fake->notes(), "Finish "), 0);
    assert_true(strstr(fake->notes(), "EnqueueWriteBuffer ") < strstr(fake->notes(), "EnqueueNDRangeKernel "));
}

TEST(test_a_profile_has_the_devices_times)
{
    SCOPED(convolution_close) struct convolution c = {0};
    struct executable_facts facts;
    struct step_facts step;

    convolution_open(&c, "");
    const struct engine_tools *tools = c.context->engine->functions->optional.tools;
    tools->measure(c.graph->executable);
    fake->hold(true); /* putting steps into the queue takes less time than this */
    WNNNamedTensor in = {WNN_STR("x"), c.x}, out[] = {{WNN_STR("y"), c.y}, {WNN_STR("z"), c.z}};
    assert_int_equal(wnnContextDispatch(c.context, c.graph, 1, &in, 2, out), WNNStatus_Success);
    fake->hold(false);
    convolution_run(&c, 2);
    tools->facts(c.graph->executable, &facts);
    assert_true(facts.runs == 3 && facts.nanoseconds > 0);
    for (uint32_t i = 0; i < facts.step_count; i++) {
        tools->step_facts(c.graph->executable, i, &step);
        assert_true(step.nanoseconds > 0);
    }
}

TEST(test_a_trace_shows_steps_and_transfers)
{
    char path[] = "/tmp/webnn-opencl-XXXXXX", debug[64];
    static char text[1 << 20];
    struct convolution c;

    make_file(path);
    snprintf(debug, sizeof debug, "trace=%s", path);
    convolution_open(&c, debug);
    unsigned steps = c.graph->executable->step_count;
    convolution_run(&c, 2);
    convolution_close(&c);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_in_range(fread(text, 1, sizeof text, f), 1, sizeof text - 1);
    fclose(f);
    unlink(path);
    assert_int_equal(count(text, "\"cat\":\"step\""), 2 * steps);
    assert_int_equal(count(text, "\"name\":\"read\""), 1);
    assert_true(count(text, "\"name\":\"write\"") >= 4); /* the constants and the input */
    assert_true(count(text, "\"name\":\"fill with zeros\"") >= 3);
}

/* A state that is one tensor is computed in place: nothing of it is copied, and only updates are written.  Two tensors
 * cost a copy of all of it. */
TEST(test_a_state_stays_where_it_is)
{
    struct graph *g = parse_body("inputs { x: f32[64]; } consts { i: i32[2, 1] @values([5, 9]); u: f32[2] @values([1, 2]); } "
                                 "nodes { y = scatterND(x, i, u); } outputs { y; }");
    WNNContext context = new_context();
    WNNTensor x[2] = {new_tensor(context), new_tensor(context)};
    unsigned char data[BYTES];
    WNNGraph graph;

    g->outputs[0].state = g->inputs[0];
    assert_int_equal(runtime_build(context, g, &graph, &(struct error){0}), WNNStatus_Success);
    for (int other = 0; other < 2; other++) {
        const unsigned copies = fake->calls("EnqueueCopyBuffer"), kernels = fake->calls("EnqueueNDRangeKernel");
        assert_int_equal(dispatch(context, graph, x[0], x[other]), WNNStatus_Success);
        assert_int_equal(wnnContextReadTensor(context, x[other], data, BYTES), WNNStatus_Success); /* waits */
        assert_int_equal(fake->calls("EnqueueCopyBuffer") - copies, other);
        assert_int_equal(fake->calls("EnqueueNDRangeKernel") - kernels, 1);
    }
    wnnTensorRelease(x[0]);
    wnnTensorRelease(x[1]);
    release_graph(context, graph);
    assert_nothing_is_left("a state");
}

TEST_EACH(NULL, nothing_is_left)
TEST_GROUP(start, NULL)
