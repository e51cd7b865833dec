/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits a kernel with its schedule as a function in LLVM IR.  Read emit.c first.
 */
#ifndef WEBNN_CODEGEN_EMIT_EMIT_H_
#define WEBNN_CODEGEN_EMIT_EMIT_H_

#include "codegen/emit/build.h"
#include "ir/schedule/schedule.h"

/**
 * Adds the function of a kernel to the module, under that name: void name(const struct kernel_args *, int64_t begin, int64_t
 * end).  s is the schedule of a finished kernel.  Returns false after an error in *e if memory runs out; the module is then of
 * no use.
 */
bool emit_kernel(const struct build *m, const struct schedule *s, const char *name, struct error *e);

#endif
