/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Allocates host memory for tensors, arenas and scratch: at multiples of TARGET_ALIGNMENT, in huge pages if it is large.
 */
#pragma once

#include <stddef.h>

/** Returns `bytes` aligned bytes, all zeros, or NULL if memory runs out.  bytes may be 0. */
void *memory_create(size_t bytes);
/** Frees memory, which may be NULL; bytes is what memory_create was given. */
void memory_free(void *memory, size_t bytes);
