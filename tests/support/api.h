/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Steps of programs that use the public functions; a step that fails fails the test with the library's message. */
#pragma once

#include "support/release.h"
#include "support/test.h"
#include "webnn/webnn.h"

/** Returns a context with options, or the default ones if they are NULL. */
static inline WNNContext context_with(const WNNContextOptions *options)
{
    WNNContext c;

    assert_success(wnnCreateContext(options, &c));
    return c;
}

static inline WNNGraphBuilder builder_of(WNNContext c)
{
    WNNGraphBuilder b;

    assert_success(wnnContextCreateGraphBuilder(c, &b));
    return b;
}

/** Returns the graph of the outputs, and releases the builder. */
static inline WNNGraph build(WNNGraphBuilder b, size_t count, WNNNamedOperand const *outputs)
{
    WNNGraph g;

    assert_success(wnnGraphBuilderBuild(b, count, outputs, &g));
    wnnGraphBuilderRelease(b);
    return g;
}

/** Returns the graph of one output, "y", and releases the builder. */
static inline WNNGraph build_y(WNNGraphBuilder b, WNNOperand y)
{
    return build(b, 1, &(WNNNamedOperand){WNN_STR("y"), y});
}

/** Computes output "y" of input "x". */
static inline void compute_y(WNNGraph g, const void *x, size_t x_bytes, void *y, size_t y_bytes)
{
    assert_success(wnnGraphCompute(g, 1, &(WNNNamedBuffer){WNN_STR("x"), (void *)(uintptr_t)x, x_bytes}, 1,
                                   &(WNNNamedBuffer){WNN_STR("y"), y, y_bytes}));
}

/** Returns a tensor of float32 that can be read and written. */
static inline WNNTensor tensor_of(WNNContext c, size_t rank, const uint32_t *shape)
{
    WNNTensorDescriptor d = WNN_TENSOR_DESCRIPTOR_INIT;
    WNNTensor t;

    d.dataType = WNNOperandDataType_Float32;
    d.rank = rank;
    d.shape = shape;
    d.readable = d.writable = true;
    assert_success(wnnContextCreateTensor(c, &d, &t));
    return t;
}
