/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Host memory for tensors, arenas and scratch: 64-byte aligned, in huge pages where it is large.
 */
#ifndef WEBNN_RUNTIME_MEMORY_H_
#define WEBNN_RUNTIME_MEMORY_H_

#include <stddef.h>

enum { MEMORY_ALIGNMENT = 64 };

/** bytes of zeros, aligned; NULL if memory ran out.  bytes may be 0. */
void *memory_create(size_t bytes);
/** bytes as given to memory_create. */
void memory_free(void *memory, size_t bytes);

#endif
