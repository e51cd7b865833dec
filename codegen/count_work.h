/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counts the work of a kernel's arithmetic on a processor's vector units.
 */
#pragma once

#include "codegen/llvm/llvm.h"

/** Does what codegen_count_work does, with one thread's compiler.  Returns false after an error in *e. */
bool count_work(struct machine *m, const struct kernel *k, struct codegen_work *work, struct error *e);
