/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers kernels by a device's schedule.
 */
#pragma once

#include "codegen/lower/space.h"

/** Adds the function of a work-item to the module, of a finished kernel.  literals: numbers are constants instead of NUMBERs,
 * which are the kernel's, or those of the stages one after the other.  Returns NULL if memory runs out. */
struct loop_function *lower_items(struct loop_module *module, const struct isa *isa, const struct gpu_schedule *s,
                                  bool literals, const char *name);
