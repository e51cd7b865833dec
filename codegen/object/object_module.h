/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what the files that write an object's module share.  Read object.c first.
 */
#pragma once

#include "codegen/llvm/llvm_build.h"
#include "codegen/llvm/llvm.h"
#include "codegen/object/object.h"
#include "webnn/webnn_object.h"

typedef LLVMValueRef V;
typedef LLVMTypeRef T;

/** The module of one object while it is written. */
struct object_module {
    const struct object_program *p;
    struct machine *machine;
    struct llvm_build m;       /* position, while a function is being written */
    T ptr, i8, i32, i64, size; /* size: size_t */
    V *kernels;                /* function of each kernel of each level: [level * p->kernel_count + kernel] */
    V *params;                 /* its numbers */
    V constants;               /* bytes in the object, or NULL */
    V level;                   /* uint32_t level(void), which picks one, or NULL if there is only one */

    /* What the object exports; they are NULL where it does not. */
    V run, create, destroy, workspace_size, run_with, set_weights, load_weights;
};

/** Begins the body of the function PREFIX_name, with external linkage. */
V object_function(struct object_module *o, const char *name, T result, T *params, uint32_t count);
/** Begins the body of a function of the object's own.  LLVM changes its name if another function has that name. */
V object_internal(struct object_module *o, const char *name, T result, T *params, uint32_t count);
/** Returns a function of the C library or of libwebnn_rt, which is declared if it is not yet. */
V object_external(struct object_module *o, const char *name, T result, T *params, uint32_t count, bool variadic);
/** Branches by a condition, and continues writing in the block `yes`. */
void object_branch(const struct object_module *o, V condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no);
/** Makes a block return a number. */
void object_return(const struct object_module *o, LLVMBasicBlockRef block, uint32_t result);
/** Emits the address of an element of an array. */
V object_element(const struct object_module *o, T element, V array, V index);
/** Emits a call and returns its result. */
V object_call(const struct object_module *o, V function, V *args, uint32_t count);
/** Adds a global that nothing outside sees, read-only unless `writable` holds.  align is in bytes; 0 leaves it to LLVM. */
V object_global(struct object_module *o, const char *name, V value, uint32_t align, bool writable);
/** Adds bytes as a read-only global. */
V object_bytes(struct object_module *o, const char *name, const void *bytes, size_t length, uint32_t align);
/** Adds a text as a read-only global that ends with a NUL. */
V object_text(struct object_module *o, const char *text);
/** Emits the pointer that lies so many bytes after another one. */
V object_offset(const struct object_module *o, V pointer, V bytes);
/** Returns a constant of size_t. */
V object_size(const struct object_module *o, uint64_t value);
/** Returns a constant of 32 bits: a count, or what a function returns (WEBNN_OBJECT_OK ...). */
V object_number(const struct object_module *o, uint32_t value);
/** Emits an array on the stack of the function's pointers from parameter `first` on.  *missing (i1) becomes true if one of them
 * is NULL. */
V object_pointers(struct object_module *o, V function, uint32_t first, uint32_t count, V *missing);
/** Returns the types of a run's parameters: first the given ones, then sizes, then a pointer for each input and output.  The
 * caller frees the array.  Returns NULL if memory runs out. */
T *object_run_params(struct object_module *o, uint32_t before, const T *types);

/* ---- object_level.c: which kernels run ---- */

/** Writes the function o->level. */
void object_emit_level(struct object_module *o);
/** Emits and returns the address of the element of a table that the level at hand has.  table is a global with an array. */
V object_row(struct object_module *o, V table);

/* ---- object_run.c: the program as code ---- */

/** Writes PREFIX_run, PREFIX_workspace_size and PREFIX_run_with.  Returns false if memory runs out. */
bool object_emit_run(struct object_module *o);

/* ---- object_weights.c: constants from a file ---- */

/** Writes PREFIX_set_weights, and PREFIX_load_weights where there are files. */
void object_emit_weights(struct object_module *o);
/** Emits and returns the constants' address.  The code branches to `fail` if there is none, and the pointer is NULL only
 * there. */
V object_constants(struct object_module *o, LLVMBasicBlockRef fail);

/* ---- object_describe.c: the description, and what calls libwebnn_rt ---- */

/** Writes PREFIX_create, PREFIX_destroy and PREFIX_run, which call libwebnn_rt.  Returns false if memory runs out. */
bool object_emit_library(struct object_module *o);
/** Writes the description of the object.  Returns false if memory runs out. */
bool object_emit_description(struct object_module *o);
