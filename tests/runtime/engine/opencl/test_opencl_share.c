/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A context in the application's own OpenCL objects, over an OpenCL without a device (support/fake_opencl.h): what is refused,
 * that buffers are used where they lie, that the queue is the application's, and that every reference is given back.
 */
#include "runtime/engine/opencl/opencl_support.h"

struct application {
    const struct opencl_api *api;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem memory;
};

enum { OFFSET = 64, ROOM = BYTES + OFFSET };

static void application_open(struct application *a, cl_command_queue_properties properties)
{
    cl_platform_id platform;
    cl_int code;

    a->api = opencl_api_get(&(struct error){0});
    assert_non_null(a->api);
    assert_int_equal(a->api->GetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(a->api->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &a->device, NULL), CL_SUCCESS);
    a->context = a->api->CreateContext(NULL, 1, &a->device, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    a->queue = a->api->CreateCommandQueue(a->context, a->device, properties, &code);
    assert_int_equal(code, CL_SUCCESS);
    a->memory = a->api->CreateBuffer(a->context, CL_MEM_READ_WRITE, ROOM, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
}

static void application_close(struct application *a)
{
    a->api->ReleaseMemObject(a->memory);
    a->api->ReleaseCommandQueue(a->queue);
    a->api->ReleaseContext(a->context);
}

static WNNStatus share(const struct application *a, WNNContext *context)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.engine = WNNEngine_Gpu;
    o.ignoreEnvironment = true;
    o.cache = WNN_STR("off");
    o.openclContext = a->context;
    o.openclDevice = a->device;
    o.openclQueue = a->queue;
    return wnnCreateContext(&o, context);
}

static WNNStatus wrap(WNNContext context, cl_mem memory, size_t offset, WNNTensor *tensor)
{
    const uint32_t n = N;
    WNNTensorDescriptor d = WNN_TENSOR_DESCRIPTOR_INIT;

    d.dataType = WNNOperandDataType_Float32;
    d.rank = 1;
    d.shape = &n;
    d.readable = d.writable = true;
    return wnnContextCreateTensorFromOpenCL(context, &d, memory, offset, tensor);
}

static bool says(const char *text)
{
    return strstr(wnnGetLastErrorMessage().data, text) != NULL;
}

/* ---- refusals ---- */

TEST(wrong_objects_are_refused)
{
    struct application a, other;
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext context;
    WNNTensor t;

    application_open(&a, 0);
    o.engine = WNNEngine_Gpu;
    o.openclContext = a.context;
    assert_int_equal(wnnCreateContext(&o, &context), WNNStatus_TypeError);
    assert_true(says("go together"));
    o.openclDevice = a.device;
    o.openclQueue = a.queue;
    o.engine = WNNEngine_Cpu;
    assert_int_equal(wnnCreateContext(&o, &context), WNNStatus_TypeError);
    assert_true(says("WNNEngine_Gpu"));

    application_open(&other, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    assert_int_equal(share(&other, &context), WNNStatus_TypeError);
    assert_true(says("not in order"));
    struct application mixed = a;
    mixed.queue = other.queue;
    assert_int_equal(share(&mixed, &context), WNNStatus_TypeError);
    assert_true(says("not of openclContext"));

    assert_int_equal(share(&a, &context), WNNStatus_Success);
    assert_int_equal(wrap(context, NULL, 0, &t), WNNStatus_TypeError);
    assert_int_equal(wrap(context, a.memory, 8, &t), WNNStatus_TypeError);
    assert_true(says("byteOffset"));
    assert_int_equal(wrap(context, a.memory, OFFSET + 16, &t), WNNStatus_TypeError);
    assert_true(says("bytes"));
    assert_int_equal(wrap(context, other.memory, 0, &t), WNNStatus_TypeError);
    assert_true(says("not a buffer of"));
    wnnContextRelease(context);

    context = new_context();
    assert_int_equal(wrap(context, a.memory, 0, &t), WNNStatus_NotSupportedError);
    wnnContextRelease(context);
    application_close(&other);
    application_close(&a);
}

/* ---- one queue, the same bytes ---- */

TEST(buffers_are_used_where_they_lie)
{
    unsigned char data[BYTES], got[BYTES];
    SCOPED(application_close) struct application a = {0};
    WNNContext context;
    WNNTensor x, y;

    application_open(&a, 0);
    assert_int_equal(share(&a, &context), WNNStatus_Success);
    WNNGraph graph = new_graph(context, one_step);
    assert_int_equal(wrap(context, a.memory, OFFSET, &x), WNNStatus_Success);
    y = new_tensor(context);
    fill(data, 5);
    assert_int_equal(a.api->EnqueueWriteBuffer(a.queue, a.memory, CL_TRUE, OFFSET, BYTES, data, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(wnnContextReadTensor(context, x, got, BYTES), WNNStatus_Success);
    assert_memory_equal(got, data, BYTES);
    assert_int_equal(dispatch(context, graph, x, y), WNNStatus_Success);
    assert_int_equal(wnnContextReadTensor(context, y, got, BYTES), WNNStatus_Success);
    fill(data, 9);
    assert_int_equal(wnnContextWriteTensor(context, x, data, BYTES), WNNStatus_Success);
    assert_int_equal(wnnContextFlush(context), WNNStatus_Success);
    assert_int_equal(a.api->EnqueueReadBuffer(a.queue, a.memory, CL_TRUE, OFFSET, BYTES, got, 0, NULL, NULL), CL_SUCCESS);
    assert_memory_equal(got, data, BYTES);
    release_all(context, graph, x, y);
}

/* The device does nothing while the queue is held: a flush returns all the same, once the kernel is in the queue. */
TEST(a_flush_waits_for_the_queue_and_not_for_the_device)
{
    SCOPED(application_close) struct application a = {0};
    OWNED(context) WNNContext context = NULL;

    application_open(&a, 0);
    assert_int_equal(share(&a, &context), WNNStatus_Success);
    WNNGraph graph = new_graph(context, one_step);
    WNNTensor x = new_tensor(context), y = new_tensor(context);
    assert_int_equal(dispatch(context, graph, x, y), WNNStatus_Success);
    assert_int_equal(wnnContextFlush(context), WNNStatus_Success);
    fake->hold(true);
    const unsigned before = fake->calls("EnqueueNDRangeKernel");
    assert_int_equal(dispatch(context, graph, x, y), WNNStatus_Success);
    assert_int_equal(dispatch(context, graph, x, y), WNNStatus_Success);
    assert_int_equal(wnnContextFlush(context), WNNStatus_Success);
    assert_int_equal(fake->calls("EnqueueNDRangeKernel"), before + 2);
    fake->hold(false);
    release_with_tensors(graph, x, y);
    wnnContextDestroy(context);
    assert_int_equal(wnnContextFlush(context), WNNStatus_InvalidStateError);
}

/* ---- every call may fail ---- */

TEST(every_call_may_fail_once)
{
    struct application a;

    for (long n = 0;; n++) {
        WNNContext context = NULL;
        WNNTensor x = NULL;

        application_open(&a, 0);
        fake->fail_after(n, CL_OUT_OF_RESOURCES, false);
        const bool good = share(&a, &context) == WNNStatus_Success && wrap(context, a.memory, 0, &x) == WNNStatus_Success;
        const bool failed = fake->has_failed();
        fake->fail_after(-1, 0, false);
        assert_true(good || failed);
        wnnTensorRelease(x);
        wnnContextRelease(context);
        application_close(&a);
        assert_nothing_is_left(failed ? fake->failed_call() : "");
        if (!failed)
            break;
    }
}

TEST_EACH(NULL, nothing_is_left)
TEST_GROUP(start, NULL)
