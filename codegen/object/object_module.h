/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what the files that write an object's module share.  Read object.c first.
 */
#pragma once

#include <stdio.h>

#include "codegen/llvm/llvm.h"
#include "codegen/llvm/llvm_build.h"
#include "codegen/object/object.h"

/** The module of one object while it is written. */
struct object_module {
    const struct object_program *p;
    struct machine *machine;
    struct llvm_build m;
    FILE *text;         /* LLVM IR of everything but the kernels */
    uint32_t size_bits; /* of size_t */
    uint32_t symbol_count;
    const char **symbols; /* functions of structures */
};

/** Returns whether the object leaves its program to libwebnn_rt. */
static inline bool object_is_model(const struct object_program *p)
{
    return p->levels[0].serialized.bytes != NULL;
}

/** Masks of the words of a processor's features. */
enum { OBJECT_LEVEL_WORDS = 4 };
/** Stores the bits of each word that a level needs (object_level.c). */
void object_level_masks(const struct object_program *p, int64_t *masks);

/* ---- object_text.c ---- */

/** Functions that an object may export, in the order of the description. */
enum { OBJECT_EXPORTS = 7 };
/** Returns the name of one without the prefix, and whether this object does. */
const char *object_export(const struct object_module *o, uint32_t i, bool *exported);
/** Writes all that is not kernels.  Returns false if memory runs out. */
bool object_put_all(const struct object_module *o);
