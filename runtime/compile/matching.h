/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares graphs that differ in numbers only: sizes, and numbers derived from them (plans.h). */
#pragma once

#include "ir/graph/ir.h"

/** Returns whether a value is a constant that something reads. */
bool value_is_read(const struct value *v);
/** Returns a graph of those that the cluster of a loop or of a recurrent node was compiled of, in their order, or NULL. */
struct loop_body *loop_part(const struct node *n, uint32_t i);
/** Returns whether inputs and outputs of two graphs have the same types. */
bool graphs_same_interface(const struct graph *a, const struct graph *b);
/** Returns whether two graphs, after the passes, differ in no more than dimensions, integers among attributes, and the elements
 * of constants. */
bool graphs_match(const struct graph *a, const struct graph *b);
/** Numbers the values of a graph without gaps, which passes leave, in the order in which steps meet them. */
void graph_renumber(struct graph *g);
enum { PLAN_NAMES_MAX = 8 /* in a graph that has plans */ };
/** Returns whether a named graph has plans: all lists of sizes are expressions.  Other values that are made of sizes are data,
 * of which passes know nothing (at_sizes.c). */
bool graph_has_plans(const struct graph *g);
/** Returns whether plans can be made of a graph after the passes: libraries choose by sizes. */
bool graph_is_plannable(const struct graph *g);
