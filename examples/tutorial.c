/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the program of docs/tutorial-c.md, which explains it part by part: a network that computes the exclusive or of two
 * numbers, on plain memory, through tensors, refused because of a mistake, and loaded from a file.
 */
#include <stdio.h>
#include <stdlib.h>

#include <webnn/webnn.h>

static void check(WNNStatus status, const char *what)
{
    if (status == WNNStatus_Success)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, wnnStatusGetName(status), wnnGetLastErrorMessage().data);
    exit(1);
}

/* y = relu(x * w1 + b1) * w2, for four rows x; `width` is the number of columns of x. */
static WNNOperand network(WNNGraphBuilder b, uint32_t width)
{
    static const float weights1[] = {1, 1, 1, 1}, bias1[] = {0, -1}, weights2[] = {1, -2};
    const WNNOperandDescriptor rows = {WNNOperandDataType_Float32, 2, (const uint32_t[]){4, width}, NULL};
    const WNNOperandDescriptor square = {WNNOperandDataType_Float32, 2, (const uint32_t[]){2, 2}, NULL};
    const WNNOperandDescriptor pair = {WNNOperandDataType_Float32, 1, (const uint32_t[]){2}, NULL};
    const WNNOperandDescriptor column = {WNNOperandDataType_Float32, 2, (const uint32_t[]){2, 1}, NULL};
    WNNGemmOptions options = WNN_GEMM_OPTIONS_INIT;

    WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("x"), &rows);
    WNNOperand w1 = wnnGraphBuilderConstant(b, &square, weights1, sizeof weights1);
    WNNOperand b1 = wnnGraphBuilderConstant(b, &pair, bias1, sizeof bias1);
    WNNOperand w2 = wnnGraphBuilderConstant(b, &column, weights2, sizeof weights2);

    options.c = b1;
    options.label = WNN_STR("hidden");
    WNNOperand hidden = wnnGraphBuilderRelu(b, wnnGraphBuilderGemm(b, x, w1, &options), NULL);
    return wnnGraphBuilderMatmul(b, hidden, w2, NULL);
}

static WNNGraph build(WNNContext context)
{
    WNNGraphBuilder b;
    WNNGraph graph;

    check(wnnContextCreateGraphBuilder(context, &b), "builder");
    WNNNamedOperand y = {WNN_STR("y"), network(b, 2)};
    check(wnnGraphBuilderBuild(b, 1, &y, &graph), "build");
    wnnGraphBuilderRelease(b);
    return graph;
}

static void compute(WNNGraph graph, const char *what)
{
    const float x[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    float y[4];
    WNNNamedBuffer in = {WNN_STR("x"), (void *)x, sizeof x}, out = {WNN_STR("y"), y, sizeof y};

    check(wnnGraphCompute(graph, 1, &in, 1, &out), "compute");
    printf("%s %g %g %g %g\n", what, y[0], y[1], y[2], y[3]);
}

static WNNTensor tensor(WNNContext context, uint32_t rows, uint32_t columns, bool readable)
{
    WNNTensorDescriptor descriptor = WNN_TENSOR_DESCRIPTOR_INIT;
    const uint32_t shape[2] = {rows, columns};
    WNNTensor result;

    descriptor.dataType = WNNOperandDataType_Float32;
    descriptor.rank = 2;
    descriptor.shape = shape;
    descriptor.readable = readable;
    descriptor.writable = !readable;
    check(wnnContextCreateTensor(context, &descriptor, &result), "tensor");
    return result;
}

static void dispatch(WNNContext context, WNNGraph graph)
{
    WNNTensor x = tensor(context, 4, 2, false), y = tensor(context, 4, 1, true);
    const float in[4][2] = {{1, 0}, {1, 1}, {0, 0}, {0, 1}};
    float out[4];

    check(wnnContextWriteTensor(context, x, in, sizeof in), "write");
    check(wnnContextDispatch(context, graph, 1, &(WNNNamedTensor){WNN_STR("x"), x}, 1, &(WNNNamedTensor){WNN_STR("y"), y}),
          "dispatch");
    check(wnnContextReadTensor(context, y, out, sizeof out), "read");
    printf("dispatch: %g %g %g %g\n", out[0], out[1], out[2], out[3]);
    wnnTensorRelease(x);
    wnnTensorRelease(y);
}

static void make_a_mistake(WNNContext context)
{
    WNNGraphBuilder b;
    WNNStringView message;

    check(wnnContextCreateGraphBuilder(context, &b), "builder");
    network(b, 3);
    if (wnnGraphBuilderGetError(b, &message))
        printf("refused:  %s\n", message.data);
    wnnGraphBuilderRelease(b);
}

static WNNGraph load_or_build(WNNContext context, const char *path)
{
    WNNGraph graph;

    if (wnnContextLoadGraph(context, path, &graph) == WNNStatus_Success)
        return graph;
    graph = build(context);
    check(wnnGraphSave(graph, path), "save");
    return graph;
}

int main(void)
{
    const char *path = "xor.wnn";
    WNNContext context;

    check(wnnCreateContext(NULL, &context), "context");
    WNNGraph graph = build(context);
    compute(graph, "compute: ");
    dispatch(context, graph);
    wnnGraphRelease(graph);

    make_a_mistake(context);

    graph = load_or_build(context, path); /* builds and saves */
    wnnGraphRelease(graph);
    graph = load_or_build(context, path); /* loads */
    compute(graph, "loaded:  ");
    wnnGraphRelease(graph);
    remove(path);
    wnnContextRelease(context);
    return 0;
}
