/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is an OpenCL without a device, for tests of the engine: a library that is loaded in place of libOpenCL.so.1.
 *
 * Buffers are memory of the process, and every kernel does the same, whatever its source says: it writes to its second buffer
 * the bytes of its first one, each with its lowest bit flipped.  So results show whether transfers were right, a
 * program needs no compiler, and the sanitizers see everything.  The queue may be held, which makes the device as slow as a
 * test wants; every call may fail once; and all calls are counted and noted in order.
 *
 * The test opens the same library and gets fake_opencl_get from it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Describes a device, for fake_opencl.set_devices.  Members that are 0 are not reported by the device. */
struct fake_device {
    const char *name;
    unsigned long type; /* CL_DEVICE_TYPE_... */
    unsigned units, megahertz, vendor;
    unsigned long long memory;
    bool shares_memory, has_no_compiler, has_no_float64;
};

struct fake_opencl {
    /**
     * Makes the n-th call from then on (from 0) fail with that code; none if n is negative.  If it is lasting, all calls after
     * it fail, too, but for those that release something.
     */
    void (*fail_after)(long n, int code, bool lasting);
    /** Makes the next call of that name, less "cl", fail with that code. */
    void (*fail_next)(const char *name, int code);
    /** Returns whether a call has failed since. */
    bool (*has_failed)(void);
    /** Returns the name of the call that failed first, less "cl". */
    const char *(*failed_call)(void);
    /** Suspends or resumes execution of queues. */
    void (*hold)(bool hold);
    /** Returns how many objects were created and not released. */
    long (*alive)(void);
    /** Returns the bytes of all buffers that were created and not released. */
    size_t (*bytes)(void);
    /** Returns how often a function was called, by its name less "cl". */
    unsigned (*calls)(const char *name);
    /** Forgets what was noted.  `notes` then returns the names of what was called, in order, with a space after each. */
    void (*start_notes)(void);
    const char *(*notes)(void);
    /** Becomes another driver: programs that the last one built are refused. */
    void (*set_driver)(const char *version);
    /** Has another platform's name; NULL is the library's own again. */
    void (*set_platform)(const char *name);
    /** Makes builds fail with a long log. */
    void (*break_compiler)(bool broken);
    /** Shows these devices, which stay the caller's, instead of the one of the library.  NULL shows that one again. */
    void (*set_devices)(unsigned count, const struct fake_device *devices);
    /** Suspends or resumes all other threads that build a program. */
    void (*hold_compiler)(bool hold);
    /** Returns how many threads build a program. */
    unsigned (*compiling)(void);
};

/** Type of the library's function fake_opencl_get. */
typedef const struct fake_opencl *fake_opencl_function(void);
