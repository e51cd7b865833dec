/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds data that tests read in place, in the folder WEBNN_SHARED.  Where they are absent, a test is skipped and says why; with
 * WEBNN_REQUIRE_SHARED in the environment (CMake's option of that name sets it) it fails.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Writes the path of something below the shared folder to buf; returns buf. */
static inline const char *shared_path(char *buf, size_t size, const char *name)
{
    const char *folder = getenv("WEBNN_SHARED");

#ifdef TESTS_DIR
    snprintf(buf, size, "%s/%s", folder ? folder : TESTS_DIR "/../../shared", name);
#else
    snprintf(buf, size, "%s/%s", folder ? folder : "../shared", name);
#endif
    return buf;
}

/** Reports that a file or folder is absent, and returns the exit status of a test that needs it: 77, which ctest
 * shows as skipped, or 1 where the data are required. */
static inline int shared_absent(const char *path)
{
    const char *required = getenv("WEBNN_REQUIRE_SHARED");
    const int fails = required && *required && strcmp(required, "0") != 0;

    printf("%s: %s is absent\n", fails ? "failed" : "skipped", path);
    return fails ? 1 : 77;
}
