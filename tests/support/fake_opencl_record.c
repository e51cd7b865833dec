/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements command buffers of kernels (fake_opencl.h).  One holds no reference to the buffers that it uses. */
#include "support/fake_opencl_internal.h"

enum { RECORDED_MAX = 64 };

struct _cl_command_buffer_khr {
    int references;
    bool final;
    unsigned count;
    struct command commands[RECORDED_MAX];
};

static cl_command_buffer_khr create(cl_uint n, const cl_command_queue *queues,
                                    const cl_command_buffer_properties_khr *properties, cl_int *error)
{
    return fake_create("CreateCommandBufferKHR", sizeof(struct _cl_command_buffer_khr), error);
}

static cl_int record(cl_command_buffer_khr b, cl_command_queue q, const cl_properties *properties, cl_kernel k, cl_uint dims,
                     const size_t *offset, const size_t *global, const size_t *local, cl_uint n, const cl_sync_point_khr *list,
                     cl_sync_point_khr *point, cl_mutable_command_khr *handle)
{
    cl_int code = fake_enter("CommandNDRangeKernelKHR");

    if (!code && (b->final || b->count == RECORDED_MAX))
        code = CL_INVALID_OPERATION;
    if (!code)
        b->commands[b->count++] = fake_launch(k);
    return fake_leave(code);
}

static cl_int finalize(cl_command_buffer_khr b)
{
    cl_int code = fake_enter("FinalizeCommandBufferKHR");

    b->final |= !code;
    return fake_leave(code);
}

static cl_int replay(cl_uint n, cl_command_queue *queues, cl_command_buffer_khr b, cl_uint events, const cl_event *list,
                     cl_event *event)
{
    cl_int code = fake_enter("EnqueueCommandBufferKHR");

    if (!code && !b->final)
        code = CL_INVALID_OPERATION;
    for (unsigned i = 0; !code && i < b->count; i++)
        fake_enqueue(b->commands[i], CL_FALSE, NULL);
    return fake_leave(code);
}

static cl_int release(cl_command_buffer_khr b)
{
    return fake_release("ReleaseCommandBufferKHR", &b->references, b);
}

void *fake_command_buffer_function(const char *name)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } functions[] = {{"clCreateCommandBufferKHR", (void (*)(void))create},
                     {"clCommandNDRangeKernelKHR", (void (*)(void))record},
                     {"clFinalizeCommandBufferKHR", (void (*)(void))finalize},
                     {"clEnqueueCommandBufferKHR", (void (*)(void))replay},
                     {"clReleaseCommandBufferKHR", (void (*)(void))release}};
    void *found = NULL;

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(functions[i].name, name))
            memcpy(&found, &functions[i].function, sizeof found);
    return found;
}
