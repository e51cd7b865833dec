/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Guards calls of C++ libraries that may throw.  LLVM and oneDNN do so when memory runs out, and an exception that is not
 * caught ends the process.
 *
 * A library that was compiled without exceptions, as LLVM is, is left as by longjmp: its destructors do not run, its
 * allocations leak, and its locks stay locked.  The objects that the call worked on must not be used again, not even to free
 * them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum guard_end {
    GUARD_RETURNED,      /* as if it had been called directly */
    GUARD_OUT_OF_MEMORY, /* std::bad_alloc */
    GUARD_FAILED         /* any other exception */
};

/** Calls work(user), which must have no more than this function's C frames between itself and the library, because those are
 * left, too.  Returns how the call ended.  text receives the message of a FAILED call, truncated. */
enum guard_end guard_run(void (*work)(void *user), void *user, char *text, size_t size);

/** Returns whether that much memory can be allocated.  It is checked before calls of libraries that do not handle lack of
 * memory. */
bool memory_has_room(size_t bytes);

/** For error handlers that must not return: they leave the calling thread's innermost guard_run.  They return if
 * there is none. */
void guard_leave_failed(const char *text);
void guard_leave_out_of_memory(void);

#ifdef __cplusplus
}
#endif
