/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers a kernel with its schedule to the loop language.  Read lower.c first.
 */
#pragma once

#include "ir/loop/loop.h"
#include "ir/schedule/schedule.h"

/**
 * Adds the function of a kernel to the module, under that name, which computes units of it.  s is the schedule of a finished
 * kernel.  Returns false after an error in *e if memory runs out; the module is then of no use.
 */
bool lower_kernel(struct loop_module *module, const struct isa *isa, const struct schedule *s, const char *name,
                  struct error *e);
