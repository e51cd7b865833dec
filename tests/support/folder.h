/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A folder of a program's own, its working directory while the tests run: TEST_GROUP(enter_folder, leave_folder). */
#pragma once

#include <unistd.h>

#include "support/test.h"

static char work_folder[] = "/tmp/webnn-test-XXXXXX";

static inline int enter_folder(__attribute__((unused)) void **state)
{
    return !mkdtemp(work_folder) || chdir(work_folder);
}

static inline int leave_folder(__attribute__((unused)) void **state)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", work_folder);
    return chdir("/") || system(command);
}

/** Fails if the tests, or what they tested, left a file. */
static inline int leave_empty_folder(__attribute__((unused)) void **state)
{
    return chdir("/") || rmdir(work_folder);
}

/** Writes a file, or fails the test. */
static inline void write_bytes(const char *path, const void *bytes, size_t length)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
}

static inline void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}
