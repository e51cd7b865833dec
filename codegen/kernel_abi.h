/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the calling convention of generated kernels.  It is self-contained: compiled objects, the runtime and hand-written
 * stand-ins in tests include nothing else.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Changes whenever the structs below or the meaning of parameters do. */
#define KERNEL_ABI_VERSION 1

/** The arguments of a kernel.  Each thread has its own, since scratch is per thread. */
struct kernel_args {
    void *const *tensors;  /* in the order of struct kernel's tensors */
    const int64_t *params; /* in the order of the schedule's numbers */
    void *scratch;         /* kernel's scratch_bytes, 64-byte aligned; private to this thread */
};

_Static_assert(offsetof(struct kernel_args, tensors) == 0, "layout is fixed");
_Static_assert(offsetof(struct kernel_args, params) == sizeof(void *), "layout is fixed");
_Static_assert(offsetof(struct kernel_args, scratch) == 2 * sizeof(void *), "layout is fixed");

/** Computes the units begin .. end-1 (struct schedule.units).  Different units may run at the same time. */
typedef void (*kernel_function)(const struct kernel_args *args, int64_t begin, int64_t end);
