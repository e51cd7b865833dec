/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Infers shapes of single operators and validates them, with one function per kind of operator, named in ir/graph/ops.def.
 *
 * call_infer (ir/graph/infer.c) checks arity, data types and ranks from the row first, then calls the row's function, which
 * follows the specification's steps for that method, fills in option defaults that depend on the inputs (strides, padding, axes
 * ...), and writes c->results and c->result_count.
 */
#pragma once

#include "ir/graph/ir.h"

#define OP(id, name, method, T, init, operands, results, attributes, flags, infer) bool infer(struct call *c);
#include "ir/graph/ops.def"
#include "ir/graph/ops_draft.def"
#undef OP
bool infer_loop(struct call *c);
bool infer_scatter_reduce(struct call *c);

/** Do the specification's broadcasting algorithms.  They return false, and set no error, for shapes that are not broadcastable,
 * whatever open dimensions of the graph are. */
bool shape_broadcast(struct graph *g, const struct tensor_type *a, const struct tensor_type *b, struct tensor_type *out);
bool shape_broadcasts_to(struct graph *g, const struct tensor_type *from, const struct tensor_type *to);
bool shape_broadcasts_blockwise(const struct tensor_type *from, const struct tensor_type *to);
