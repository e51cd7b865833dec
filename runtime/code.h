/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Code of an image as memory that can be executed: mapped from the file where that is possible, else copied.
 *
 * In: an image and where in it the code lies.  Out: a mapping, read and execute only.
 */
#ifndef WEBNN_RUNTIME_CODE_H_
#define WEBNN_RUNTIME_CODE_H_

#include <stddef.h>

#include "runtime/image.h"

struct code_mapping {
    void *bytes; /* NULL: nothing is mapped */
    size_t size;
};

/** size 0 maps nothing.  False: e. */
bool code_map(const struct image_source *source, size_t offset, size_t size, struct code_mapping *out, struct error *e);
void code_unmap(struct code_mapping *m);

#endif
