/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The context of a program's tests: TEST_GROUP(create_context, release_context). */
#pragma once

#include "support/test.h"
#include "webnn/webnn.h"

static WNNContext context;

/** Ends the program as skipped if WEBNN_ENGINE asks for a device and there is none. */
static inline int create_context(__attribute__((unused)) void **state)
{
    const char *engine = getenv("WEBNN_ENGINE");
    const WNNStatus status = wnnCreateContext(NULL, &context);

    if (status && engine && !strncmp(engine, "gpu", 3)) {
        printf("skipped: %s\n", wnnGetLastErrorMessage().data);
        exit(77);
    }
    return status != WNNStatus_Success;
}

static inline int release_context(__attribute__((unused)) void **state)
{
    wnnContextRelease(context);
    return 0;
}
