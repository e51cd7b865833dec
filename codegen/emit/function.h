/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the function of one kernel that has no stages.
 */
#ifndef WEBNN_CODEGEN_EMIT_FUNCTION_H_
#define WEBNN_CODEGEN_EMIT_FUNCTION_H_

#include "codegen/emit/build.h"
#include "ir/schedule/schedule.h"

/** Declares a kernel_function (kernel_abi.h) in the module. */
V function_declare(const struct build *m, const char *name);
/** Does what emit_kernel says, for a kernel without stages. */
bool emit_function(const struct build *m, const struct schedule *s, const char *name, struct error *error);

#endif
