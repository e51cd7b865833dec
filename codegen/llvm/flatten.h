/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Joins objects of kernels into position-independent machine code, which needs no linker.
 *
 * It takes relocatable ELF objects that LLVM made for kernels.  It gives one block of code and constants in which every
 * relocation is resolved, which runs wherever it is mapped at a multiple of 4096.  That is possible because kernels refer to
 * nothing outside themselves, and inside only by distance.  What breaks this rule gives an error that names it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ir/support/error.h"

/** Holds the code that was appended so far.  One that is all 0 is empty. */
struct flat_code {
    unsigned char *bytes;
    size_t size;
    uint32_t capacity;
};

/** Appends an object's code.  *offset becomes the place where its function `symbol` starts.  Returns false after an error in
 * *e. */
bool flat_code_append(struct flat_code *f, const void *object, size_t bytes, const char *symbol, uint64_t *offset,
                      struct error *e);
/** Frees the bytes and empties f. */
void flat_code_free(struct flat_code *f);
