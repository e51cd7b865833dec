/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the variants of a graph with named dimensions: the graph compiled for certain sizes, on demand, and kept.
 *
 * A computation says sizes by its tensors or buffers.  They lead to a variant, which is a graph like any other, and everything
 * else is checked and done on that.
 */
#pragma once

#include "runtime/api/context.h"

struct variants;

/** Makes the variants of g, which is taken over, also on failure.  Returns NULL after an error in *e. */
struct variants *variants_create(struct graph *g, struct error *e);
/** Frees variants, of which none computes, and the graph.  NULL does nothing. */
void variants_free(struct variants *v);
/** Gives up the variants; those that compute are freed after it. */
void variants_clear(struct variants *v);

/** Describes named dimensions of an input or output: copies to the arena, and 0 in the type.  Returns false without memory. */
bool variants_describe(struct arena *a, const struct graph *g, struct graph_binding *b);

/** Does what wnnContextDispatchCancellable does with such a graph, on the variant for the tensors. */
WNNStatus variants_dispatch(WNNGraph graph, size_t input_count, WNNNamedTensor const *inputs, size_t output_count,
                            WNNNamedTensor const *outputs, WNNCancellation cancellation);
