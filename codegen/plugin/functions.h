/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The code generator as a separate library, libwebnn_codegen, which links LLVM.  It exports one table
 * (table.c); the shared library and the tools load it when the first of these functions is called (load.c).  Static libraries
 * link the functions themselves and have neither file.
 *
 * Compiling for this process needs one target of LLVM's and few of its parts.  libwebnn_codegen_host has only those, linked
 * statically, and the first group of functions: it is loaded in a quarter of the time, and libwebnn_codegen where it is absent.
 *
 * The table has a build id, and both sides must be of one build: they share structs, and each has its own copy of ir.
 */
#pragma once

#include "codegen/codegen.h"
#include "codegen/object/object.h"

#define CODEGEN_HOST_FUNCTIONS(F)                                                                                              \
    F(codegen_create)                                                                                                          \
    F(codegen_free)                                                                                                            \
    F(codegen_is_abandoned)                                                                                                    \
    F(codegen_compile)                                                                                                         \
    F(codegen_kernels_free)                                                                                                    \
    F(codegen_kernels_flatten)                                                                                                 \
    F(codegen_kernels_structure)                                                                                               \
    F(codegen_get_times)

#define CODEGEN_OBJECT_FUNCTIONS(F)                                                                                            \
    F(object_levels)                                                                                                           \
    F(object_target)                                                                                                           \
    F(object_target_is_native)                                                                                                 \
    F(object_target_is_bare)                                                                                                   \
    F(object_workspace)                                                                                                        \
    F(object_create)

struct codegen_plugin {
    const char *build; /* WEBNN_BUILD of what it was built from; the first member in every build */
#define CODEGEN_MEMBER(name) __typeof__(name) *name;
    CODEGEN_HOST_FUNCTIONS(CODEGEN_MEMBER)
    CODEGEN_OBJECT_FUNCTIONS(CODEGEN_MEMBER) /* NULL in libwebnn_codegen_host */
#undef CODEGEN_MEMBER
};

/** The name of the table, of type struct codegen_plugin. */
#define CODEGEN_PLUGIN webnn_codegen_plugin
#define CODEGEN_PLUGIN_NAME "webnn_codegen_plugin"
