/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory that holds code.
 */
#pragma once

#include <stddef.h>

#include "ir/support/error.h"

/** Copies code into memory of its own, where it can run.  code_memory_free frees it.  Returns NULL after an error in *e. */
void *code_memory_copy(const void *bytes, size_t size, struct error *e);
/** Frees memory of that size.  NULL does nothing. */
void code_memory_free(void *code, size_t size);
