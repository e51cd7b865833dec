/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A build with WEBNN_ENVIRONMENT=OFF reads no variable: linked with ir/support/environment.c as such a build has it. */
#include <stdio.h>
#include <stdlib.h>

#include "ir/support/environment.h"
#include "webnn/webnn.h"
#include "../support/help.h"

PROGRAM_HELP("usage: test-environment-switched-off   check that no variable of the environment is read\n")
int main(void)
{
    WNNContext context = NULL;

    setenv("WEBNN_DEBUG", "nonsense", 1);
    if (environment_get("WEBNN_DEBUG") || !environment_is_ignored())
        return fprintf(stderr, "a variable was read\n"), 1;
    if (wnnCreateContext(NULL, &context))
        return fprintf(stderr, "WEBNN_DEBUG was read: %s\n", wnnGetLastErrorMessage().data), 1;
    wnnContextRelease(context);
    return 0;
}
