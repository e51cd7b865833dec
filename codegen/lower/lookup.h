/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits functions of 4 bits or fewer as a lookup in a table that one vector register holds, if the processor permutes the lanes
 * of a vector by another one (AVX-512).  Unpacking such weights is one instruction then, instead of masking, converting and
 * subtracting.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Returns the expression whose lowest 4 bits determine the value of expr, a float32 number, and fills table, which has 16
 * members; or KEXPR_NONE if there is no such expression or the processor has no such instruction for so many lanes. */
uint32_t lookup_find(const struct emitter *e, uint32_t expr, uint32_t lanes, float *table);
/** Returns a table of 16 numbers as a vector. */
V lookup_table(const struct build *m, const float *table);
/** Emits the lookup by the lowest 4 bits of `index`. */
static inline V emit_lookup(const struct build *m, const float *table, V index)
{
    return op2(m, LOOP_PERMUTE, lookup_table(m, table), index);
}
