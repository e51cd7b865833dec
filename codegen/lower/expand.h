/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits expansions of elementary functions (ir/expansion) as instructions.
 */
#pragma once

#include "codegen/lower/build.h"
#include "ir/expansion/expansion.h"

/** Returns the features of the target for operands with as many lanes as another value. */
struct expansion_target expansion_target_of(const struct build *m, V like);
/**
 * Emits the expansion of an operation at the builder's position, its steps inlined or as a call of a function of the module,
 * and returns its value.  The operands args have equally many lanes.
 */
V emit_expansion(const struct build *m, enum kop op, const V *args);
