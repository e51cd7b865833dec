/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Builds kernels of stages (ir/kernel/kernel.h), for lowerings that compute macro-tile by macro-tile and whose stages pass data
 * in local tensors.  A lowering calls stages_begin, stages_local for every local, then for every stage stage_begin, the
 * functions that build expressions on stage.l, and stage_end; at last stages_end, which returns one kernel of all stages.
 */
#pragma once

#include "passes/lower/lower.h"

enum { MACRO_TILE_VARS_MAX = 5 };

/** A kernel of stages that is being made. */
struct stages {
    struct kernel *kernel;
    const struct node_table *table;
    const struct node *anchor; /* the node that kernel and stages are named after */
    uint32_t output_count;     /* the cluster's */
    struct value *const *outputs;
    bool sizes_vary; /* of the target */
    uint32_t macro_tile_vars;
    int64_t macro_tiles[MACRO_TILE_VARS_MAX]; /* how many there are along each of those variables, slowest first */
    uint32_t predicate;                       /* the local whose first element decides which conditional stages run: */
    float limit;                              /* those for KSTAGE_BELOW if it is below this */
};

/** One of its stages that is being made. */
struct stage {
    struct lowering l;
    struct stages *of;
    struct kaffine macro_tile[MACRO_TILE_VARS_MAX]; /* the macro-tile: the values of those variables */
};

/** Begins a kernel; the caller has set all members of s but `kernel`.  Returns false if memory runs out. */
bool stages_begin(struct stages *s, const char *name);
/** Adds a local float32 tensor and returns its number.  It is called before any stage begins. */
static inline uint32_t stages_local(struct stages *s, int64_t elements)
{
    return kernel_local(s->kernel, WNNOperandDataType_Float32, elements);
}
/** Returns the kernel, whose stages have ended, for the caller to free.  `good` says that all of them were good; else it frees
 * the kernel and returns NULL. */
struct kernel *stages_end(struct stages *s, bool good);

/** Begins a stage.  Returns false if memory runs out; stage_end must always be called. */
bool stage_begin(struct stage *st, struct stages *of);
/** Adds a variable to the stage and returns it as a form. */
static inline struct kaffine stage_var(struct stage *st, enum kvar_kind kind, int64_t size)
{
    return kaffine_var(st->l.k, kernel_var(st->l.k, kind, size));
}
/** Adds a variable bounded by the two elements of an int32 local, like kernel_bounded_var. */
struct kaffine stage_bounded_var(struct stage *st, enum kvar_kind kind, int64_t size, uint32_t bound);
/** Returns the stage's tensor for a local. */
uint32_t stage_local(struct stage *st, uint32_t local, bool written);
/** Stores the cluster's outputs where the base value has its element at m.  Returns false if that is not possible. */
bool stage_store_outputs(struct stage *st, const struct value *base, const struct map *m);
/** Appends a stage that has ended, and takes it over.  Returns false if memory runs out. */
bool stage_append(struct stages *s, struct kernel *own, enum kstage_when when);
/** Ends a stage and appends it to the kernel if it is good.  Returns false if it is not, or if memory runs out. */
bool stage_end(struct stage *st, bool good, const char *name, enum kstage_when when);
