/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers a kernel with its schedule, a processor's or a device's, to the loop language.  Read lower.c first.
 */
#pragma once

#include "ir/loop/loop.h"
#include "ir/schedule/schedule.h"
#include "ir/schedule/schedule_gpu.h"

/**
 * Adds the function of a kernel to the module, under that name, which computes units of it.  s is the schedule of a finished
 * kernel.  Returns false after an error in *e if memory runs out; the module is then of no use.
 */
bool lower_kernel(struct loop_module *module, const struct isa *isa, const struct schedule *s, const char *name,
                  struct error *e);
/** Adds the function of a work-item to the module, of a finished kernel.  literals: numbers are constants instead of NUMBERs,
 * which are the kernel's, or those of the stages one after the other.  Returns NULL if memory runs out. */
struct loop_function *lower_items(struct loop_module *module, const struct isa *isa, const struct gpu_schedule *s,
                                  bool literals, const char *name);
