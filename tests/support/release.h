/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef WEBNN_TESTS_SUPPORT_RELEASE_H_
#define WEBNN_TESTS_SUPPORT_RELEASE_H_

#include "webnn/webnn.h"

/** Gives back a context, a graph of it and two tensors. */
static inline void release_all(WNNContext context, WNNGraph graph, WNNTensor a, WNNTensor b)
{
    wnnTensorRelease(a);
    wnnTensorRelease(b);
    wnnGraphRelease(graph);
    wnnContextRelease(context);
}

#endif
