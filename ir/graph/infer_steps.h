/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the phrases that the specification's method steps share ("its size is not 2", "contains duplicate values", "is not a
 * valid dimension"), for ir/graph/infer_*.c.  Functions take the call under validation.  Those that return a bool return false
 * after an error in c->error.
 *
 * Functions that fill in a default write lists into the graph's arena and replace the pointer in the option struct, so that
 * every later stage sees complete options.  All sizes are computed in int64_t; what could exceed it saturates at SIZE_HUGE,
 * which is not a valid dimension.
 */
#pragma once

#include "ir/graph/dims.h"
#include "ir/graph/infer.h"

/** This is larger than any valid dimension, and small enough that a few can be added. */
#define SIZE_HUGE (INT64_MAX / 16)

/** A list of option or argument values and where it stands in the call, so that it can be replaced. */
struct list_option {
    const char *name;
    const uint32_t **values;
    size_t *count;
};
#define LIST_OPTION(options, member) ((struct list_option){#member, &(options)->member, &(options)->member##Count})

/** Returns the type of the operand in that slot, which is present. */
static inline const struct tensor_type *input_type(const struct call *c, uint32_t slot)
{
    return &c->inputs[slot]->type;
}

/** Returns whether the optional operand in that slot is present. */
static inline bool input_exists(const struct call *c, uint32_t slot)
{
    return slot < c->input_count && c->inputs[slot];
}

/** Makes room for count results.  Returns false if memory runs out. */
bool infer_results(struct call *c, uint32_t count);
/** Sets result i; the data type is the row's (a fixed one, or that of an input).  Returns false after an error if the rank is
 * above RANK_MAX. */
bool infer_result(struct call *c, uint32_t i, uint32_t rank, const uint32_t *dims);
/** Sets the only result, whose shape is a copy of an input's. */
bool infer_result_like(struct call *c, uint32_t slot);

/** Writes "[2, 3]" or "[2, past + 1]"; returns buf. */
const char *dims_print(const struct graph *g, char *buf, size_t size, size_t count, const uint32_t *dims);
#define DIMS_TEXT 112
#define DIMS_PRINT(count, dims) dims_print(c->graph, (char[DIMS_TEXT]){0}, DIMS_TEXT, count, dims)
#define SHAPE_PRINT(t) DIMS_PRINT((t)->rank, (t)->dims)
/** Writes one dimension. */
#define DIM_PRINT(dim) dim_print(c->graph, dim, (char[DIMS_TEXT]){0}, DIMS_TEXT)

/** Checks that size is the specification's "valid dimension"; the error names what it is the size of. */
bool check_dimension(struct call *c, int64_t size, const char *what);
/** Makes a dimension of an expression: a size, which is checked likewise, or an open one. */
bool check_open(struct call *c, dim_expr e, const char *what, uint32_t *dim);
/** Compute a dimension plus or times a number, which is checked likewise. */
bool dim_add(struct call *c, uint32_t a, int64_t number, const char *what, uint32_t *dim);
bool dim_scale(struct call *c, uint32_t a, int64_t factor, const char *what, uint32_t *dim);
/** Checks that dimensions of a new shape have as many elements as input 0, as far as that is known. */
bool check_elements(struct call *c, size_t count, const uint32_t *dims);
/** Checks that axis < rank of the input in that slot. */
bool check_axis(struct call *c, uint32_t axis, uint32_t slot);
/** Checks that the operand in that slot has exactly this shape. */
bool check_shape(struct call *c, uint32_t slot, uint32_t rank, const uint32_t *dims);
/** Checks a list's size. */
bool check_list_size(struct call *c, const char *name, size_t count, size_t expected);
/** Checks that no item is 0. */
bool check_list_positive(struct call *c, const char *name, size_t count, const uint32_t *values);
/** Checks that all items are below rank and none comes twice.  The list may have any length. */
bool check_axes(struct call *c, const char *name, size_t count, const uint32_t *values, uint32_t rank);

/** If the list is absent, sets it to these values (any number, also 0); else checks that its size is count. */
bool list_default(struct call *c, struct list_option list, size_t count, const uint32_t *values);
/** Does likewise, with the same value in each place; count is at most RANK_MAX. */
bool list_default_fill(struct call *c, struct list_option list, size_t count, uint32_t value);
/** If the list of axes is absent, sets it to first, first + 1, ... rank - 1; else does check_axes. */
bool axes_default(struct call *c, struct list_option axes, uint32_t first, uint32_t rank);

/** Returns the specification's cast of an option to the data type of input 0. */
double cast_option(const struct call *c, double value);
/** Does likewise with a number, which is kept in the member that holds the type without loss. */
WNNNumber cast_number(const struct call *c, WNNNumber value);

/** Return a * b and (size - 1) * dilation + 1, saturating at SIZE_HUGE. */
int64_t size_mul(int64_t a, int64_t b);
int64_t size_effective(uint32_t size, uint32_t dilation);
