/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits kernels of stages.
 */
#ifndef WEBNN_CODEGEN_EMIT_STAGES_H_
#define WEBNN_CODEGEN_EMIT_STAGES_H_

#include "codegen/emit/build.h"
#include "ir/schedule/schedule.h"

/** Does what emit_kernel says, for a kernel of stages. */
bool emit_stages(const struct build *m, const struct schedule *s, const char *name, struct error *error);

#endif
