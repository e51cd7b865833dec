/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the index space of devices: which items there are, and which values of PARALLEL variables are theirs.
 */
#pragma once

#include "codegen/lower/emitter.h"
#include "ir/schedule/schedule_gpu.h"

/** Returns the item's number in its group along a dimension (LOOP_ITEM), or that of its group (LOOP_GROUP). */
static inline V space_place(struct emitter *e, enum loop_op op, uint32_t dimension)
{
    return loop_add(e->m.b, op, type_index(&e->m), NULL, 0, dimension);
}
/** Returns an item's number among all of a dimension, times something. */
V space_item(struct emitter *e, const struct gpu_schedule *s, uint32_t d, uint32_t times);
/** Returns how many combinations of values variables have. */
V space_points(struct emitter *e, uint64_t vars);
/** Sets variables to the values that they have at a row-major number. */
void space_decode(struct emitter *e, uint64_t vars, V number);
/** Stores the values that variables have, or sets them to stored ones. */
void space_keep(const struct emitter *e, uint64_t vars, V *values);
void space_set(struct emitter *e, uint64_t vars, V const *values);
/** Opens the levels of REDUCED variables, from that number on, for another iteration. */
void space_open_reduced(struct emitter *e, uint32_t from);

/** Says where the code of a stage's item is: for which macro-tile, of which item of the group; memory has room for 32 bits of
 * each of them. */
struct stage_item {
    V tile, id, memory;
};
/** Returns whether a stage runs for a macro-tile: NULL if it always does.  predicate is the address of the number that decides
 * (NULL: none does); period is how many macro-tiles it runs for at once, from `first` on (NULL: for one). */
V stage_runs(const struct build *m, const struct kstage *stage, V predicate, V tile, V first, V period);
