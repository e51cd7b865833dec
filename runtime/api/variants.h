/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the variants of a graph with named dimensions: the graph compiled for certain sizes, on demand, and kept.
 *
 * The tensors or buffers of a computation determine sizes.  These select a variant, an ordinary graph, which checks and runs
 * the computation.
 */
#pragma once

#include "runtime/api/context.h"

struct variants;

/** Makes the variants of g, which is taken over, also on failure.  Returns NULL after an error in *e. */
struct variants *variants_create(struct graph *g, struct error *e);
/** Frees variants, of which none computes, and the graph.  NULL does nothing. */
void variants_free(struct variants *v);
/** Drops the variants; running ones are freed afterwards. */
void variants_clear(struct variants *v);

/** Describes named dimensions of an input or output: copies to the arena, and 0 in the type.  Returns false without memory. */
bool variants_describe(struct arena *a, const struct graph *g, struct graph_binding *b);

/** Saves the graph, and the code of the variants that are there, to a sink.  Returns false after an error in *e, or when the
 * sink stopped. */
bool variants_save(WNNGraph graph, bool (*sink)(void *user, const void *data, size_t bytes), void *user, struct error *e);

/** Does what wnnContextDispatchCancellable does with such a graph, on the variant for the tensors. */
WNNStatus variants_dispatch(WNNGraph graph, size_t input_count, WNNNamedTensor const *inputs, size_t output_count,
                            WNNNamedTensor const *outputs, WNNCancellation cancellation);
