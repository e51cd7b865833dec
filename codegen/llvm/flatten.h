/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Joins objects of kernels into position-independent machine code, which needs no linker.
 *
 * It takes relocatable ELF objects of kernels from LLVM and returns one block of code and constants in which every relocation
 * is resolved, which runs when mapped at any multiple of 4096.  That is possible because kernels have no external references,
 * and only relative internal ones.  Others are an error that names them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ir/support/error.h"

/** Holds the code that was appended so far.  One that is all 0 is empty. */
struct flat_code {
    unsigned char *bytes;
    size_t size;
    size_t capacity;
};

/** Appends an object's code.  *offset becomes the start of its function `symbol`.  Returns false after an error in
 * *e. */
bool flat_code_append(struct flat_code *f, const void *object, size_t bytes, const char *symbol, uint64_t *offset,
                      struct error *e);
/** Frees the bytes and empties f. */
void flat_code_free(struct flat_code *f);
