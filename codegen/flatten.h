/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Machine code that needs no linker: objects of kernels joined into position-independent bytes.
 *
 * In: relocatable ELF objects that LLVM made for kernels.  Out: one block of code and constants in which every relocation is
 * resolved, which runs wherever it is mapped at a multiple of 4096.  That is possible because kernels refer to nothing outside
 * themselves, and inside only by distance.  What breaks this rule is an error that names it.
 */
#ifndef WEBNN_CODEGEN_FLATTEN_H_
#define WEBNN_CODEGEN_FLATTEN_H_

#include <stddef.h>
#include <stdint.h>

#include "ir/ir.h"

struct flat_code {
    unsigned char *bytes;
    size_t size, capacity;
};

/** Appends an object's code; *offset: where its function `symbol` starts.  False: e. */
bool flat_code_append(struct flat_code *f, const void *object, size_t bytes, const char *symbol, uint64_t *offset,
                      struct error *e);
void flat_code_free(struct flat_code *f);

#endif
