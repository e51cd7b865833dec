/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares functions of the runtime for the frontend beyond the public ones: the state of a context, constant
 * tensors, and building.  Read runtime/api/context.h for the timeline and runtime/compile/compile.c for the compile driver.
 */
#pragma once

#include "ir/graph/ir.h"
#include "ir/graph/op.h"

/**
 * Returns the constant that a tensor holds, with a reference for the caller.  Returns NULL after the specification's error
 * ("constant(tensor)") in *e if the tensor belongs to another context, was destroyed or is not constant.
 */
struct constant *runtime_tensor_constant(WNNContext context, WNNTensor tensor, struct tensor_type *type, struct error *e);

/** Returns whether a tensor has been destroyed (build checks the tensors of constants once more). */
bool runtime_tensor_is_destroyed(WNNTensor tensor);

/** Returns whether the context was made with WNNContextOptions.draftDataTypes. */
bool runtime_knows_draft(WNNContext context);

/**
 * Returns the operand data types that the context's engine supports for operand slot `slot` of `op` (results have the slots
 * from OP_OPERANDS_MAX on): the row's set without types that the engine cannot compute.  The builder and opSupportLimits both
 * use it.
 */
dtype_set runtime_supported_types(WNNContext context, enum op op, uint32_t slot);

/** Passes a message to the program's log, if it has one.  No lock is held. */
void context_log(WNNContext context, WNNLogLevel level, const char *format, ...) PRINTF_LIKE(3, 4);

/**
 * Compiles g, which has passed all of build's checks and becomes the runtime's, also on failure.  Returns success,
 * OperationError, or InvalidStateError if the context is lost in the meantime; *e says why.
 */
WNNStatus runtime_build(WNNContext context, struct graph *g, WNNGraph *graph, struct error *e);
/** Does the same on the timeline.  The future carries what runtime_build returns. */
WNNFuture runtime_build_async(WNNContext context, struct graph *g, WNNBuildCallbackInfo info);
/** Returns a failed future, for errors of the builder before anything is submitted. */
WNNFuture runtime_build_failed(WNNContext context, const struct error *e, WNNBuildCallbackInfo info);

struct executable;
struct serialized_facts;

/**
 * Returns the graph of a file that wnnGraphSave wrote and that is open as `file`; path names it in messages.  The graph holds
 * no reference on the context yet.  Returns NULL after an error in *e.
 */
WNNGraph runtime_load_graph(WNNContext context, const char *path, int file, struct error *e);
/** Determines which engine such a file is for.  Returns false after an error in *e. */
bool runtime_find_engine(const char *path, int file, WNNEngine *engine, struct error *e);
/**
 * Makes a graph over an executable of the context's engine, which is taken over also on failure.  The graph holds no reference
 * on the context yet.  Returns NULL after an error in *e.
 */
WNNGraph runtime_graph_of(WNNContext context, struct executable *x, uint32_t input_slots, const struct serialized_facts *facts,
                          struct error *e);

/** Makes a graph that holds no reference on the context yet.  Returns NULL after an error in *e. */
typedef WNNGraph (*runtime_load_function)(WNNContext context, const char *path, struct error *e);
/** Calls `load` on the timeline, with a copy of path.  The future carries what it returns. */
WNNFuture runtime_load_async(WNNContext context, const char *path, runtime_load_function load, WNNBuildCallbackInfo info);
/** Lets a graph keep its context alive, as the caller's graphs do. */
void runtime_graph_hold_context(WNNGraph graph);
