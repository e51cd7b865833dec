/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whether a test program that WEBNN_ENGINE sends to a device finds one. */
#ifndef WEBNN_TESTS_SUPPORT_DEVICE_H_
#define WEBNN_TESTS_SUPPORT_DEVICE_H_

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "webnn/webnn.h"

/**
 * Returns false, after a line that says why, if WEBNN_ENGINE asks for a device and there is none: the program then exits with
 * 77.  Programs that nobody sends to a device go on.
 */
static inline bool device_is_there(void)
{
    const char *engine = getenv("WEBNN_ENGINE");
    WNNContext context;

    if (!engine || strncmp(engine, "gpu", 3) != 0)
        return true;
    if (wnnCreateContext(NULL, &context) != WNNStatus_Success) {
        printf("skipped: %s\n", wnnGetLastErrorMessage().data);
        return false;
    }
    wnnContextRelease(context);
    return true;
}

#endif
