/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The graph builder: what stands behind WNNGraphBuilder and WNNOperand.
 *
 * In: builder calls.  Out: a struct graph (ir/ir.h) that passed every check of the specification, handed to runtime_build.
 * Read builder.c (inputs, constants, build), then builder_call.c (the one way every operator method takes), then
 * builder_operators.c (the methods).
 *
 * - Operands live in the builder's arena and copy their type, so that they outlast the graph, which build gives away.
 * - A failed call returns the builder's error operand and leaves the graph as it was, arena memory aside.
 */
#ifndef WEBNN_FRONTEND_BUILDER_H_
#define WEBNN_FRONTEND_BUILDER_H_

#include <stdatomic.h>

#include "ir/ir.h"

struct WNNOperandImpl {
    WNNGraphBuilder builder;
    struct value *value; /* NULL: the error operand.  Not to be followed once the builder has built. */
    struct tensor_type type;
};

/** A set of strings in open addressing; the strings are the caller's. */
struct name_set {
    WNNStringView *slots; /* data NULL: free */
    size_t capacity, count;
};

/** A constant made from a tensor, which must not have been destroyed when the graph is built. */
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
    struct arena arena; /* operands, names of inputs */
    struct name_set input_names;
    struct constant_tensor *constant_tensors;
    struct WNNOperandImpl error_operand;
    struct error first_error;
    WNNStatus last_status; /* of the newest failed call */
};

/** All checks of build; then the graph is the caller's (its inputs are those that outputs need) and the builder has built.  NULL: e. */
struct graph *builder_take_graph(WNNGraphBuilder b, size_t count, WNNNamedOperand const *outputs, struct error *e);

/** Bytes of a string view; a NULL pointer is the empty string. */
size_t view_length(WNNStringView text);

bool name_set_has(const struct name_set *set, WNNStringView name);
/** Makes sure that the next name_set_add finds memory. */
bool name_set_reserve(struct name_set *set);
/** 1: added, 0: was there already, -1: out of memory.  name.data must outlive the set. */
int name_set_add(struct name_set *set, WNNStringView name);
void name_set_free(struct name_set *set);

/** The specification's "can build"; what begins the message. */
bool builder_can_build(WNNGraphBuilder b, const char *what, struct error *e);
/** Notes a failed call: the builder's first error, the thread's last one, and an untouched graph.  Returns the error operand
 * (NULL if builder is). */
WNNOperand builder_fail(WNNGraphBuilder b, const struct error *e);
/** A new operand, not connected to a value yet.  NULL with an error: out of memory. */
WNNOperand builder_operand(WNNGraphBuilder b, const struct tensor_type *type, struct error *e);
/** The specification's "validate operand", and that there is one.  what is "add: b" or so. */
bool builder_check_operand(WNNGraphBuilder b, WNNOperand operand, const char *what, struct error *e);

/** Applies an operator that has one result.  operands: the positional ones.  options NULL: all defaults; args NULL: none. */
WNNOperand builder_apply(WNNGraphBuilder b, enum op op, const void *options, const union op_args *args, size_t count,
                         WNNOperand const *operands);
/** Likewise with a sequence of results: fills outputs[0 .. capacity - 1], those beyond the results with NULL, all with the
 * error operand if the call fails. */
WNNStatus builder_apply_sequence(WNNGraphBuilder b, enum op op, const void *options, const union op_args *args, size_t count,
                                 WNNOperand const *operands, size_t capacity, WNNOperand *outputs);

#endif
