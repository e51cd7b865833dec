/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#include "webnn/webnn.h"

/** Releases a graph and its context. */
static inline void release_graph(WNNContext context, WNNGraph graph)
{
    wnnGraphRelease(graph);
    wnnContextRelease(context);
}

/** Releases two tensors, and a graph that computed with them. */
static inline void release_with_tensors(WNNGraph graph, WNNTensor a, WNNTensor b)
{
    wnnTensorRelease(a);
    wnnTensorRelease(b);
    wnnGraphRelease(graph);
}

/** Releases the context, too. */
static inline void release_all(WNNContext context, WNNGraph graph, WNNTensor a, WNNTensor b)
{
    release_with_tensors(graph, a, b);
    wnnContextRelease(context);
}
