/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A graph between two kernels of the application's own: all three run on one device, in one queue, on the same buffers, and
 * nothing is copied or waited for between them.  The first OpenCL device is taken; without one the program ends with 77.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#include "webnn/webnn.h"

enum { N = 8 };

static const char source[] = "kernel void ramp(global float *x) { x[get_global_id(0)] = (float)get_global_id(0) - 4; }"
                             "kernel void negate(global float *y) { y[get_global_id(0)] = -y[get_global_id(0)]; }";

static void check(WNNStatus status, const char *what)
{
    WNNStringView text = wnnGetLastErrorMessage();

    if (!status)
        return;
    fprintf(stderr, "share_opencl: %s: %s: %.*s\n", what, wnnStatusGetName(status), (int)text.length, text.data);
    exit(1);
}

static void check_cl(cl_int code, const char *what)
{
    if (code == CL_SUCCESS)
        return;
    fprintf(stderr, "share_opencl: %s: OpenCL's error %d\n", what, (int)code);
    exit(1);
}

/* Puts a kernel of ours into the queue. */
static void run_kernel(cl_command_queue queue, cl_program program, const char *name, cl_mem memory)
{
    const size_t items = N;
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, name, &code);

    check_cl(code, name);
    check_cl(clSetKernelArg(kernel, 0, sizeof memory, &memory), name);
    check_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), name);
    clReleaseKernel(kernel);
}

/* y = relu(x * 0.5) + 1 */
static WNNGraph build(WNNContext context)
{
    const uint32_t shape[1] = {N};
    const WNNOperandDescriptor descriptor = {WNNOperandDataType_Float32, 1, shape, NULL};
    WNNGraphBuilder b;
    WNNGraph graph;

    check(wnnContextCreateGraphBuilder(context, &b), "builder");
    WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("x"), &descriptor);
    WNNOperand half = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Float32, wnnNumber(0.5));
    WNNOperand one = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Float32, wnnNumber(1));
    WNNOperand y = wnnGraphBuilderAdd(b, wnnGraphBuilderRelu(b, wnnGraphBuilderMul(b, x, half, NULL), NULL), one, NULL);
    check(wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), y}, &graph), "build");
    wnnGraphBuilderRelease(b);
    return graph;
}

int main(void)
{
    const uint32_t shape[1] = {N};
    const WNNTensorDescriptor descriptor = {.dataType = WNNOperandDataType_Float32, .rank = 1, .shape = shape};
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    const char *text = source;
    float result[N];
    cl_platform_id platform;
    cl_device_id device;
    WNNContext context;
    WNNTensor x, y;
    cl_int code;

    /* The application's OpenCL. */
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
        printf("there is no OpenCL device\n");
        return 77;
    }
    cl_context own = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check_cl(code, "context");
    cl_command_queue queue = clCreateCommandQueue(own, device, 0, &code);
    check_cl(code, "queue");
    cl_program program = clCreateProgramWithSource(own, 1, &text, NULL, &code);
    check_cl(code, "program");
    check_cl(clBuildProgram(program, 1, &device, "", NULL, NULL), "program");
    cl_mem in = clCreateBuffer(own, CL_MEM_READ_WRITE, sizeof result, NULL, &code);
    check_cl(code, "buffer");
    cl_mem out = clCreateBuffer(own, CL_MEM_READ_WRITE, sizeof result, NULL, &code);
    check_cl(code, "buffer");

    /* A context in it, and tensors that are these buffers. */
    options.engine = WNNEngine_Gpu;
    options.openclContext = own;
    options.openclDevice = device;
    options.openclQueue = queue;
    check(wnnCreateContext(&options, &context), "context");
    WNNGraph graph = build(context);
    check(wnnContextCreateTensorFromOpenCL(context, &descriptor, in, 0, &x), "tensor x");
    check(wnnContextCreateTensorFromOpenCL(context, &descriptor, out, 0, &y), "tensor y");

    /* A kernel, the graph, a kernel; the one wait is that of the read. */
    run_kernel(queue, program, "ramp", in);
    check(wnnContextDispatch(context, graph, 1, &(WNNNamedTensor){WNN_STR("x"), x}, 1, &(WNNNamedTensor){WNN_STR("y"), y}),
          "dispatch");
    check(wnnContextFlush(context), "flush");
    run_kernel(queue, program, "negate", out);
    check_cl(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL), "read");
    for (int i = 0; i < N; i++)
        printf("%g%s", result[i], i < N - 1 ? " " : "\n");

    wnnTensorRelease(x);
    wnnTensorRelease(y);
    wnnGraphRelease(graph);
    wnnContextRelease(context);
    clReleaseMemObject(in);
    clReleaseMemObject(out);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(own);
    return 0;
}
