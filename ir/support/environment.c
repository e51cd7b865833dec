/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads environment variables, only where they are the user's own. */
#define _GNU_SOURCE
#include "ir/support/environment.h"

#include <stdlib.h>
#include <sys/auxv.h>

#ifndef WEBNN_ENVIRONMENT
#define WEBNN_ENVIRONMENT 1
#endif

const char *environment_get(const char *name)
{
#if WEBNN_ENVIRONMENT
    return secure_getenv(name);
#else
    (void)name;
    return NULL;
#endif
}

const char *environment_of_libgomp(const char *name)
{
    return getenv(name);
}

bool environment_is_ignored(void)
{
    return !WEBNN_ENVIRONMENT || getauxval(AT_SECURE) != 0;
}
