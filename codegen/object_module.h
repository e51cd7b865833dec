/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the files that write an object's module share.  Read object.c first.
 */
#ifndef WEBNN_CODEGEN_OBJECT_MODULE_H_
#define WEBNN_CODEGEN_OBJECT_MODULE_H_

#include "codegen/llvm.h"
#include "codegen/object.h"
#include "webnn/webnn_object.h"

struct object_module {
    const struct object_program *p;
    struct machine *machine;
    struct build m;            /* position, while a function is being written */
    T ptr, i8, i32, i64, size; /* size: size_t */
    V *kernels;                /* function of each step; NULL: a copy */
    V *params;                 /* numbers of each step's kernel */
    V constants;               /* bytes in the object, or NULL */

    /* what the object exports, NULL where it does not */
    V run, create, destroy, workspace_size, run_with, set_weights, load_weights;
};

/** PREFIX_name with external linkage. */
V object_function(struct object_module *o, const char *name, T result, T *params, uint32_t count);
/** A function of the object's own, by whatever name; one that exists already stays. */
V object_internal(struct object_module *o, const char *name, T result, T *params, uint32_t count);
/** A function of the C library or of libwebnn_rt. */
V object_external(struct object_module *o, const char *name, T result, T *params, uint32_t count, bool variadic);
/** Starts writing a function's body. */
void object_begin(struct object_module *o, V function);
V object_call(const struct object_module *o, V function, V *args, uint32_t count);
/** A read-only (unless writable) global that nothing outside sees. */
V object_global(struct object_module *o, const char *name, V value, uint32_t align, bool writable);
V object_bytes(struct object_module *o, const char *name, const void *bytes, size_t length, uint32_t align);
/** A NUL-terminated text. */
V object_text(struct object_module *o, const char *text);
V object_offset(const struct object_module *o, V pointer, V bytes);
V object_size(const struct object_module *o, uint64_t value);
/** 32 bits: a count, or what a function returns (WEBNN_OBJECT_OK ...). */
V object_number(const struct object_module *o, uint32_t value);
/** An array on the stack of the function's pointers from parameter `first` on.  *missing (i1) becomes true if one is NULL. */
V object_pointers(struct object_module *o, V function, uint32_t first, uint32_t count, V *missing);
/** Parameters of a run: first the given ones, then a pointer per input and output. */
T *object_run_params(struct object_module *o, uint32_t before, const T *types);

/* ---- object_run.c: the program as code ---- */

/** PREFIX_run, PREFIX_workspace_size, PREFIX_run_with.  False: out of memory. */
bool object_emit_run(struct object_module *o);

/* ---- object_weights.c: constants from a file ---- */

/** PREFIX_set_weights, and PREFIX_load_weights where there are files. */
void object_emit_weights(struct object_module *o);
/** The constants' address; branches to `fail` (from here on NULL only there) if there is none. */
V object_constants(struct object_module *o, LLVMBasicBlockRef fail);

/* ---- object_describe.c: the description, and what calls libwebnn_rt ---- */

bool object_emit_library(struct object_module *o);
bool object_emit_description(struct object_module *o);

#endif
