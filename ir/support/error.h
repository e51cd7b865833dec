/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares errors of functions that may fail.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include "webnn/webnn_types.h"

/** A status and its message.  Messages have no newline at the end, and names in them are escaped. */
struct error {
    WNNStatus status;
    char message[1024];
};

#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/** Runs a statement with the arguments after the function's last parameter, which it knows as `arguments`. */
#define WITH_ARGUMENTS(last, ...)                                                                                              \
    do {                                                                                                                       \
        va_list arguments;                                                                                                     \
        va_start(arguments, last);                                                                                             \
        __VA_ARGS__;                                                                                                           \
        va_end(arguments);                                                                                                     \
    } while (0)

/** Sets e unless it holds an error already (the first one is kept).  Returns false, so that checks can end with it. */
bool error_set(struct error *e, WNNStatus status, const char *format, ...) PRINTF_LIKE(3, 4);
/** Sets the UnknownError "out of memory".  Returns false. */
bool error_out_of_memory(struct error *e);
/** Makes e's message the calling thread's last error (wnnGetLastErrorMessage) and returns its status. */
WNNStatus error_publish(const struct error *e);

/** These set e as error_set does, and return NULL, or publish e and return its status: for functions whose result is a pointer,
 * and for public calls. */
#define error_null(e, ...) (error_set(e, __VA_ARGS__), NULL)
#define error_fail(e, ...) (error_set(e, __VA_ARGS__), error_publish(e))
#define error_null_memory(e) (error_out_of_memory(e), NULL)
#define error_fail_memory(e) (error_out_of_memory(e), error_publish(e))
