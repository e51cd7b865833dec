/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares graphs that differ in numbers only: sizes, and numbers derived from them (plans.h). */
#pragma once

#include "ir/graph/ir.h"

/** Returns whether a value is a constant that something reads. */
bool value_is_read(const struct value *v);
/** Returns whether two graphs, after the passes, differ in no more than dimensions, integers among attributes, and the elements
 * of constants. */
bool graphs_match(const struct graph *a, const struct graph *b);
