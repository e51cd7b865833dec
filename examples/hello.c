/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the smallest whole program: y = relu(x * 0.2), first on plain buffers, then with tensors on the context's timeline.
 */
#include <stdio.h>
#include <stdlib.h>

#include "webnn/webnn.h"

static void check(WNNStatus status, const char *what)
{
    WNNStringView text = wnnGetLastErrorMessage();

    if (!status)
        return;
    fprintf(stderr, "hello: %s: %s: %.*s\n", what, wnnStatusGetName(status), (int)text.length, text.data);
    exit(1);
}

int main(void)
{
    const uint32_t shape[2] = {2, 2};
    const WNNOperandDescriptor descriptor = {WNNOperandDataType_Float32, 2, shape, NULL};
    float in[4] = {1, -2, 3, -4}, out[4];
    WNNTensorDescriptor tensor = {
        .dataType = WNNOperandDataType_Float32, .rank = 2, .shape = shape, .readable = true, .writable = true};
    WNNContext context;
    WNNGraphBuilder b;
    WNNOperand x, k, y;
    WNNGraph graph;
    WNNTensor tx, ty;

    check(wnnCreateContext(NULL, &context), "context");
    check(wnnContextCreateGraphBuilder(context, &b), "builder");
    x = wnnGraphBuilderInput(b, WNN_STR("x"), &descriptor);
    k = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Float32, wnnNumber(0.2));
    y = wnnGraphBuilderRelu(b, wnnGraphBuilderMul(b, x, k, NULL), NULL);
    check(wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), y}, &graph), "build");
    wnnGraphBuilderRelease(b);

    check(wnnGraphCompute(graph, 1, &(WNNNamedBuffer){WNN_STR("x"), in, sizeof in}, 1,
                          &(WNNNamedBuffer){WNN_STR("y"), out, sizeof out}),
          "compute");
    printf("compute:  %g %g %g %g\n", out[0], out[1], out[2], out[3]);

    check(wnnContextCreateTensor(context, &tensor, &tx), "tensor x");
    check(wnnContextCreateTensor(context, &tensor, &ty), "tensor y");
    in[0] = 10;
    check(wnnContextWriteTensor(context, tx, in, sizeof in), "write");
    check(wnnContextDispatch(context, graph, 1, &(WNNNamedTensor){WNN_STR("x"), tx}, 1, &(WNNNamedTensor){WNN_STR("y"), ty}),
          "dispatch");
    check(wnnContextReadTensor(context, ty, out, sizeof out), "read");
    printf("dispatch: %g %g %g %g\n", out[0], out[1], out[2], out[3]);

    wnnTensorRelease(tx);
    wnnTensorRelease(ty);
    wnnGraphRelease(graph);
    wnnContextRelease(context);
    return 0;
}
