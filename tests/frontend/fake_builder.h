/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A builder of a fake context for the tests of one source file: TEST_EACH(start, finish). */
#pragma once

#include "frontend/fake_runtime.h"

static struct WNNContextImpl context;
static WNNGraphBuilder b;

static int start(void **state)
{
    context = fake_context();
    return wnnContextCreateGraphBuilder(&context, &b) != WNNStatus_Success;
}

static int finish(void **state)
{
    wnnGraphBuilderRelease(b);
    fake_context_end(&context);
    return context.references != 1;
}
