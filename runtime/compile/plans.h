/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares plans: a graph with named dimensions after the passes, with an expression for each of its numbers.
 *
 * Graphs of certain sizes that went through the passes are compared.  Where they differ in numbers only, each number is matched
 * to an expression of the named graph (its multiple or quotient, or a product of two), and a plan is used only after it
 * predicts one more graph.  A plan then makes the graph of other sizes of its class without passes.
 *
 * What guards a plan: passes see sizes as shapes alone; other values computed of sizes are inputs to them (graph_at_sizes),
 * which a plan takes from each graph.  Numbers that inference does not hold against types, such as paddings, must not change;
 * starts of slices may, if they are linear in the names at all of the sizes: passes only add them up, and linear expressions
 * that are equal in the samples are so wherever the guards hold.  Sizes that are 1, and few or many, are classes, and those at
 * which recurrent nodes are computed in float64; expressions that had equal sizes in all graphs that were compared, or always
 * the same, must have that again; and linear relations of names must hold again that held in all of them.  Inference checks
 * each graph, and the one that the program made, of which it checks one of equal nodes (graph_alike); inputs and outputs must
 * have the types that they have without a plan.  Bodies of loops, and the graphs that a recurrent node is compiled of
 * (loop_part), are parts of a plan like the graph around them.  Kernels are made and verified at each size as ever.
 */
#pragma once

#include "runtime/compile/equal_clusters.h"

struct plans;

/** Creates an empty list of plans of a graph with named dimensions, which outlives it.  Returns NULL without memory. */
struct plans *plans_create(const struct graph *named);
/** Frees it; no graph is taken.  NULL does nothing. */
void plans_free(struct plans *p);
/** Takes over a graph for certain sizes (origin.sizes) that went through the passes, and derives plans from it.  Several
 * threads may call this, and the next. */
void plans_learn(struct plans *p, struct graph *g);
/** Returns the result of the passes for sizes of the names, which is the caller's until plans_give_back; NULL: there is no
 * plan, or the sizes are not valid. */
struct graph *plans_take(struct plans *p, const uint32_t *sizes);
/** Returns the clusters of a graph that plans_take returned, of which those are equal that are so at all sizes it serves. */
struct equal_clusters *plans_clusters(const struct plans *p, const struct graph *g);
/** Ends what plans_take began. */
void plans_give_back(struct plans *p);
