/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares the graph builder, which implements WNNGraphBuilder and WNNOperand.
 *
 * Builder calls make a struct graph (ir/graph/ir.h) that passed every check of the specification and is handed to
 * runtime_build.  Read builder.c (inputs, constants, build), then builder_call.c (the one way every operator method takes),
 * then builder_operators.c (the methods).
 *
 * - Operands live in the builder's arena and copy their type, so that they outlast the graph, which build gives away.
 * - A failed call returns the builder's error operand and leaves the graph as it was, arena memory aside.
 */
#pragma once

#include <stdatomic.h>
#include <string.h>

#include "ir/graph/ir.h"
#include "ir/support/name_map.h"
#include "ir/support/text.h"

struct WNNOperandImpl {
    WNNGraphBuilder builder;
    struct value *value;     /* NULL in the error operand; not to be followed once the builder has built */
    struct tensor_type type; /* with 0 for dimensions that are open */
    WNNStringView *names;    /* of open dimensions, by their places; NULL: there are none */
};

/** Holds a constant made from a tensor, which must not have been destroyed when the graph is built. */
struct constant_tensor {
    struct value *value;
    WNNTensor tensor;
    struct constant_tensor *next;
};

struct WNNGraphBuilderImpl {
    atomic_uint references;
    WNNContext context;
    struct graph *graph; /* NULL once built */
    bool has_built;
    struct arena arena;     /* operands, names of inputs */
    struct name_map inputs; /* operands by name */
    struct constant_tensor *constant_tensors;
    bool to_float64; /* the call is wnnGraphBuilderCastToFloat64 */
    size_t state_count;
    WNNNamedState *states;  /* in the arena */
    struct open_loop *loop; /* that has begun and not ended, or NULL; in the arena */
    struct WNNOperandImpl error_operand;
    struct error first_error;
    WNNStatus last_status; /* of the newest failed call */
};

/**
 * Makes all checks of build.  Then the graph is the caller's (its inputs are those that outputs need), and the builder has
 * built.  Returns NULL after an error in *e.
 */
struct graph *builder_take_graph(WNNGraphBuilder b, size_t count, WNNNamedOperand const *outputs, struct error *e);

/** Checks the specification's "can build".  Returns false after an error in *e, whose message begins with `what`. */
bool builder_can_build(WNNGraphBuilder b, const char *what, struct error *e);
/** Implements the IDL's conversion of a descriptor, and "check dimensions".  Returns false after an error in *e. */
bool builder_descriptor(WNNGraphBuilder b, const WNNOperandDescriptor *d, const char *what, struct tensor_type *type,
                        struct error *e);
/** Reports "builder is NULL" for a method called without one.  Returns NULL. */
WNNOperand builder_missing(const char *method);
/**
 * Records a failed call as the builder's first error and the thread's last one; the graph is unchanged.  Returns the
 * error operand, or NULL if the builder is NULL.
 */
WNNOperand builder_fail(WNNGraphBuilder b, const struct error *e);
/** Returns a new operand, not connected to a value yet, or NULL after an error in *e if memory runs out. */
WNNOperand builder_operand(WNNGraphBuilder b, const struct tensor_type *type, struct error *e);
/**
 * Checks the specification's "validate operand", and that there is one.  `what` is "add: b" or so.  Returns false after an
 * error in *e.
 */
bool builder_check_operand(WNNGraphBuilder b, WNNOperand operand, const char *what, struct error *e);

/**
 * Applies an operator that has one result.  `operands` are the positional ones; options are NULL for all defaults, args if
 * there are none.  Returns the result, or the error operand if the call fails.
 */
WNNOperand builder_apply(WNNGraphBuilder b, enum op op, const void *options, const union op_args *args, size_t count,
                         WNNOperand const *operands);
/**
 * Does the same with a sequence of results, and returns the status.  It fills outputs[0 .. capacity - 1]: those beyond the
 * results with NULL, all with the error operand if the call fails.
 */
WNNStatus builder_apply_sequence(WNNGraphBuilder b, enum op op, const void *options, const union op_args *args, size_t count,
                                 WNNOperand const *operands, size_t capacity, WNNOperand *outputs);
