/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Running programs as users do: a command line, what it printed, how it ended. */
#pragma once

#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/files/npy.h"
#include "frontend/readers/files/picture.h"
#include "support/folder.h"
#include "support/shared.h"

/** What the last command printed, stdout and stderr together. */
static char *printed;

/** Runs a shell command; its exit status. */
static inline int __attribute__((format(printf, 1, 2))) run(const char *format, ...)
{
    char command[4096];
    size_t length;
    va_list args;
    int status, n;

    va_start(args, format);
    n = vsnprintf(command, sizeof command - 32, format, args);
    va_end(args);
    assert_true(n > 0 && (size_t)n < sizeof command - 32);
    snprintf(command + n, sizeof command - (size_t)n, " >printed 2>&1");
    status = system(command);
    free(printed);
    assert_true(file_read("printed", &printed, &length, NULL));
    assert_true(WIFEXITED(status));
    /* 126 and up: the shell's, a signal's, or a sanitizer's: nothing that these programs answer. */
    if (WEXITSTATUS(status) > 3)
        fail_msg("%s: %s", command, printed);
    if (strstr(printed, "Sanitizer") || strstr(printed, "runtime error:"))
        fail_msg("%s: %s", command, printed);
    return WEXITSTATUS(status);
}

/** Fails unless the text was printed, which may be empty. */
static inline void assert_printed(const char *text)
{
    if (*text && !strstr(printed, text))
        fail_msg("'%s' is not in: %s", text, printed);
}

/** Runs a shell command, which ends with that status and prints the text. */
#define runs(status, text, ...) (assert_int_equal(run(__VA_ARGS__), status), assert_printed(text))

static inline void assert_not_printed(const char *text)
{
    if (strstr(printed, text))
        fail_msg("'%s' is in: %s", text, printed);
}

/** The options of the manual page are what the program makes of its table. */
static inline void assert_options_are_on_page(const char *program, const char *page_path)
{
    char *page;
    size_t length;

    runs(0, "", "%s --help=manual", program);
    assert_true(file_read(page_path, &page, &length, NULL));
    if (!strstr(page, printed))
        fail_msg("%s has other options than the program: put in what --help=manual prints", page_path);
    free(page);
    runs(0, " --budget ", "bash -c 'eval \"$(%s --help=completion)\"; complete -p %s'", program, strrchr(program, '/') + 1);
    runs(0, "  --budget OPS[,BYTES]  ", "%s --help", program);
}

static inline void write_array(const char *path, WNNOperandDataType type, size_t rank, const uint32_t *shape, const void *data)
{
    struct npy_array array = {.dataType = type, .rank = rank, .byteLength = wnnOperandDataTypeGetByteSize(type)};

    for (size_t i = 0; i < rank; i++) {
        array.shape[i] = shape[i];
        array.byteLength *= shape[i];
    }
    array.data = (void *)data;
    assert_done(npy_write(path, &array, &e));
}

/** Returns the elements of an .npy file, which must be float32 and as many; malloc'ed. */
static inline float *read_floats(const char *path, size_t count)
{
    struct npy_array array;

    assert_done(npy_read(path, &array, &e));
    assert_int_equal(array.dataType, WNNOperandDataType_Float32);
    assert_int_equal(npy_elements(&array), count);
    return array.data;
}

/** Returns the path of a model in the shared folder; NULL (and a word about it) if it is absent.  Ends the program as failed if
 * the shared data are required. */
static inline const char *shared_model(const char *name)
{
    static char path[4096];
    char model[256];
    struct stat s;

    snprintf(model, sizeof model, "models/%s", name);
    if (!stat(shared_path(path, sizeof path, model), &s))
        return path;
    int status = shared_absent(path);
    if (status != 77)
        exit(status);
    return NULL;
}

/** Returns the same, or skips the test. */
static inline const char *needed_model(const char *name)
{
    const char *path = shared_model(name);

    if (!path)
        skip();
    return path;
}
