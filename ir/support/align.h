/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares cache lines and alignment, which are the same on all machines.
 */
#pragma once

#include <stdint.h>

/** Sizes in bytes for all targets and hosts. */
enum {
    TARGET_LINE_BYTES = 64, /* of a line of the cache */
    TARGET_ALIGNMENT = 64,  /* of the addresses of tensors, scratch and weights: a line of the cache, and the widest vector */
    TARGET_HUGE_PAGE_BYTES = 2 << 20
};

/** Returns a number of bytes, or an offset, rounded up to TARGET_ALIGNMENT.  bytes is not negative. */
static inline int64_t target_align(int64_t bytes)
{
    return (bytes + TARGET_ALIGNMENT - 1) / TARGET_ALIGNMENT * TARGET_ALIGNMENT;
}

/** Returns a number of elements rounded up to whole cache lines for elements of any size: to a multiple of a line's bytes. */
static inline int64_t target_whole_lines(int64_t elements)
{
    return (elements + TARGET_LINE_BYTES - 1) / TARGET_LINE_BYTES * TARGET_LINE_BYTES;
}
