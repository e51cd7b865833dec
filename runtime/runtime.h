/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the frontend needs of the runtime beyond the public functions: the state of a context, constant tensors, and building.
 * Read runtime/context.h for the timeline and runtime/compile.c for the way from graph to plan.
 */
#ifndef WEBNN_RUNTIME_RUNTIME_H_
#define WEBNN_RUNTIME_RUNTIME_H_

#include "ir/ir.h"
#include "ir/op.h"

/** The constant held by a tensor, with a reference for the caller.  NULL with the specification's error: other context,
 * destroyed, not constant ("constant(tensor)"). */
struct constant *runtime_tensor_constant(WNNContext context, WNNTensor tensor, struct tensor_type *type, struct error *e);

/** Whether a tensor has been destroyed (build checks the tensors behind constants once more). */
bool runtime_tensor_is_destroyed(WNNTensor tensor);

/** Operand data types that the context's engine supports for operand slot `slot` of `op` (results: slots from OP_OPERANDS_MAX on);
 * the row's set, narrowed only where the engine truly cannot.  The builder and opSupportLimits both ask this. */
dtype_set runtime_supported_types(WNNContext context, enum op op, uint32_t slot);

/**
 * Compiles g, which has passed all of build's checks and becomes the runtime's, also on failure.
 * Success, OperationError (e), or InvalidStateError if the context is lost meanwhile.
 */
WNNStatus runtime_build(WNNContext context, struct graph *g, WNNGraph *graph, struct error *e);
WNNFuture runtime_build_async(WNNContext context, struct graph *g, WNNBuildCallbackInfo info);
/** A future that has failed already: for what the builder finds before anything is submitted. */
WNNFuture runtime_build_failed(WNNContext context, const struct error *e, WNNBuildCallbackInfo info);

struct executable;
struct image_facts;

/** The graph of a file that wnnGraphSave wrote; file: open at path.  It holds no reference on the context yet.  NULL: e. */
WNNGraph runtime_load_graph(WNNContext context, const char *path, int file, struct error *e);
/** A graph over an executable of the context's engine, which is taken over also on failure.  It holds no reference on the
 * context yet.  NULL: e. */
WNNGraph runtime_graph_of(WNNContext context, struct executable *x, uint32_t input_slots, const struct image_facts *facts,
                          struct error *e);

/** Makes a graph that holds no reference on the context yet.  NULL: e. */
typedef WNNGraph (*runtime_load_function)(WNNContext context, const char *path, struct error *e);
/** Loads on the timeline. */
WNNFuture runtime_load_async(WNNContext context, const char *path, runtime_load_function load, WNNBuildCallbackInfo info);
/** Lets a graph keep its context alive: what the caller gets. */
void runtime_graph_hold_context(WNNGraph graph);

#endif
