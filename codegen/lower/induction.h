/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the strength reduction of a lowered function.
 */
#pragma once

#include "codegen/lower/build.h"

/** Makes the addresses of a function's innermost loops of pointers and sums that grow with the loops' variables. */
void reduce_addresses(const struct build *m, struct loop_function *f);
