/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the operators that the working group's draft of dynamic shapes adds (ops_draft.def).  Their rows follow those of
 * ops.def, so that a loop over all operators, from 0 to OP_COUNT, excludes them.  Their nodes are in a builder's graph only:
 * graph_at_sizes (at_sizes.h) replaces them before the passes.
 */
#pragma once

#include "ir/graph/op.h"

enum draft_op_number {
    DRAFT_BEFORE_FIRST = OP_SCATTER_REDUCE,
#define OP(id, ...) NUMBER_##id,
#include "ir/graph/ops_draft.def"
#undef OP
    DRAFT_END
};

/** They are the rows from OP_DRAFT_FIRST up to before OP_DRAFT_END. */
#define OP_DRAFT_FIRST ((enum op)(DRAFT_BEFORE_FIRST + 1))
#define OP_DRAFT_END ((enum op)DRAFT_END)

/* Of the operators' type, so that they compare with it without a warning. */
#define OP_SHAPE ((enum op)NUMBER_SHAPE)
#define OP_RANGE ((enum op)NUMBER_RANGE)
#define OP_MODULUS_FLOOR ((enum op)NUMBER_MODULUS_FLOOR)
#define OP_MODULUS_TRUNCATE ((enum op)NUMBER_MODULUS_TRUNCATE)
#define OP_SQUEEZE ((enum op)NUMBER_SQUEEZE)
#define OP_UNSQUEEZE ((enum op)NUMBER_UNSQUEEZE)
#define OP_RESHAPE_TO_2D ((enum op)NUMBER_RESHAPE_TO_2D)
#define OP_RESHAPE_DYNAMIC ((enum op)NUMBER_RESHAPE_DYNAMIC)
#define OP_EXPAND_DYNAMIC ((enum op)NUMBER_EXPAND_DYNAMIC)
#define OP_SLICE_DYNAMIC ((enum op)NUMBER_SLICE_DYNAMIC)
#define OP_PAD_DYNAMIC ((enum op)NUMBER_PAD_DYNAMIC)
#define OP_SPLIT_DYNAMIC ((enum op)NUMBER_SPLIT_DYNAMIC)
#define OP_RESAMPLE2D_DYNAMIC ((enum op)NUMBER_RESAMPLE2D_DYNAMIC)
#define OP_TILE_DYNAMIC ((enum op)NUMBER_TILE_DYNAMIC)

static inline bool op_is_draft(enum op op)
{
    return op > OP_SCATTER_REDUCE;
}

/** Returns whether positional arguments in C are options in interfaces with named options, as in the draft. */
static inline bool op_names_arguments(enum op op)
{
    return (op_infos[op].flags & OPF_NAMED_ARGUMENTS) != 0;
}
