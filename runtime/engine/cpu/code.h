/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes code of a serialized program memory that can be executed: it is mapped from the file where that is possible, else
 * copied.  The mapping can be read and executed, but not written.
 */
#ifndef WEBNN_RUNTIME_ENGINE_CPU_CODE_H_
#define WEBNN_RUNTIME_ENGINE_CPU_CODE_H_

#include <stddef.h>

#include "runtime/program/serialized.h"

struct code_mapping {
    void *bytes; /* NULL: nothing is mapped */
    size_t size;
};

/**
 * Maps `size` bytes of code, which begin at `offset` in the serialized program; a size of 0 maps nothing.  Returns false after
 * an error in *e.
 */
bool code_map(const struct serialized_source *source, size_t offset, size_t size, struct code_mapping *out, struct error *e);
/** Gives the mapping back; it may be empty. */
void code_unmap(struct code_mapping *m);

#endif
