/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Saves graphs with named dimensions: files of wnnGraphSave that hold no program, but the graph before the passes, and the code
 * of kernels of sizes that it was compiled for.
 *
 * Such a file has the header and sections of every other one.  Its section "program" has facts without inputs and outputs,
 * names with their ranges, what the graph's builder was asked for, the graph as text (graph_parse_named), its constants,
 * states, and kernels, whose code lies among the data.  The graph is made again node by node, with the checks of the builder's
 * calls; the code is trusted, but taken only by the build and on the processor that compiled it.
 */
#pragma once

#include "runtime/program/serialized.h"

/** What a file of a graph with named dimensions is made of. */
struct serialized_named;

/** Begins with a graph with named dimensions, which outlives the result, for en.  Returns NULL after an error in *e: its
 * operators have no textual form. */
struct serialized_named *serialized_named_create(const struct graph *g, const struct engine *en, struct error *e);
/** Adds the kernels of an executable of en, each once.  Those for which there is no memory are left out. */
void serialized_named_add(struct serialized_named *n, struct executable *x);
/** Writes the file.  Returns false after an error in *e, or when the sink stopped (then e is as it was). */
bool serialized_named_write(struct serialized_named *n, serialized_sink sink, void *user, struct error *e);
/** Frees n, which may be NULL. */
void serialized_named_free(struct serialized_named *n);

/** Returns whether bytes begin like such a file. */
bool serialized_is_named(const void *bytes, size_t size);
/**
 * Reads a graph, which gets the budget, and gives en the kernels that it may take.  Constants lie in the source: before one is
 * lent, which `release` ends, retain(release.userdata1) is called.  Returns NULL after an error in *e.
 */
struct graph *serialized_named_load(const struct serialized_source *source, struct engine *en, WNNBudget budget,
                                    void (*retain)(void *user), WNNBufferReleaseCallbackInfo release, struct error *e);
