/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes one graph for inputs of any length: softmax over the rows of x, [length, 3], joined with rows that are there
 * already.
 *
 *     any_size
 */
#include <stdio.h>
#include <stdlib.h>

#include "webnn/webnn.h"

static void check(WNNStatus status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", wnnGetLastErrorMessage().data);
    exit(1);
}

/** Returns an input of so many rows as a name says, each of three numbers. */
static WNNOperand rows(WNNGraphBuilder builder, const char *input, const char *name)
{
    const WNNDimension dimensions[2] = {{WNN_STR(name), 1, 100}, {{NULL, 0}, 0, 0}};
    const uint32_t shape[2] = {0, 3};

    return wnnGraphBuilderInput(builder, WNN_STR(input),
                                &(WNNOperandDescriptor){WNNOperandDataType_Float32, 2, shape, dimensions});
}

int main(void)
{
    WNNContext context;
    WNNGraphBuilder builder;
    WNNGraph graph;
    WNNGraphVariantCounts counts;

    check(wnnCreateContext(NULL, &context));
    check(wnnContextCreateGraphBuilder(context, &builder));
    const WNNOperand past = rows(builder, "past", "past"), x = rows(builder, "x", "length");
    const WNNOperand joined =
        wnnGraphBuilderConcat(builder, 2, (WNNOperand[]){past, wnnGraphBuilderSoftmax(builder, x, 1, NULL)}, 0, NULL);
    printf("the result has %s rows\n", wnnOperandGetDimensionName(joined, 0).data);
    check(wnnGraphBuilderBuild(builder, 1, &(WNNNamedOperand){WNN_STR("y"), joined}, &graph));
    wnnGraphBuilderRelease(builder);

    for (uint32_t length = 1; length <= 3; length++) {
        const WNNNamedShape shapes[2] = {{WNN_STR("past"), 2, {2, 3}}, {WNN_STR("x"), 2, {length, 3}}};
        float before[6] = {1, 0, 0, 0, 1, 0}, in[9] = {0}, out[15];
        WNNNamedShape result;

        check(wnnGraphComputeShapes(graph, 2, shapes, 1, &result));
        const size_t bytes = (size_t)result.shape[0] * result.shape[1] * sizeof(float);
        const WNNNamedBuffer inputs[2] = {{WNN_STR("past"), before, sizeof before},
                                          {WNN_STR("x"), in, length * 3 * sizeof(float)}};
        check(wnnGraphCompute(graph, 2, inputs, 1, &(WNNNamedBuffer){WNN_STR("y"), out, bytes}));
        printf("%u + 2 rows: the last one is %.2f %.2f %.2f\n", length, out[3 * length + 3], out[3 * length + 4],
               out[3 * length + 5]);
    }
    wnnGraphGetVariantCounts(graph, &counts);
    printf("%llu variants were compiled\n", (unsigned long long)counts.built);
    wnnGraphRelease(graph);
    wnnContextRelease(context);
    return 0;
}
