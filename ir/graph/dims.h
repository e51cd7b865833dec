/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares named dimensions: sizes that are known only when a graph is computed.
 *
 * In a builder's graph a dimension of a type is a size, or it is open: DIM_OPEN plus the index of an expression of names.
 * Expressions are polynomials with integer coefficients over atoms (names, and quotients, extremes and unknowns made of other
 * expressions), kept in one table of the graph.  Equal ones have equal numbers, so that `past + sequence` is always the same
 * dimension.  Comparisons have three results, and validation refuses only definite errors: the rest is checked when
 * graph_at_sizes (at_sizes.h) makes the graph of certain sizes.  Graphs in passes have no open dimensions.
 *
 * Functions that make an expression return DIM_NONE, and set graph->error, if memory runs out, and for operands of DIM_NONE.
 */
#pragma once

#include "ir/graph/ir.h"

/** A dimension with this bit is an open one. */
#define DIM_OPEN UINT32_C(0x80000000)
/** An expression that could not be made. */
#define DIM_NONE UINT32_MAX
/** The largest number of a tensor's elements whose values are known as expressions. */
enum { DIM_VALUES_MAX = 64 };

/** The number of an expression in a graph's table. */
typedef uint32_t dim_expr;

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN };

static inline bool dim_is_open(uint32_t dim)
{
    return (dim & DIM_OPEN) != 0;
}

/** Returns whether any dimension of a type is open. */
bool type_is_open(const struct tensor_type *t);

/** Makes the table of a graph's expressions, unless it has one.  Returns false if memory runs out. */
bool dims_begin(struct graph *g);
/**
 * Returns the open dimension of a name, whose size is from `least` to `most`; the first use of a name sets both.  Returns
 * DIM_NONE after an error in *e if an earlier use set others, or memory runs out.  `what` begins the message.
 */
uint32_t dims_name(struct graph *g, const char *name, size_t length, uint32_t least, uint32_t most, const char *what,
                   struct error *e);
/** Returns the number of names, and one of them in the order of their first uses. */
uint32_t dims_name_count(const struct graph *g);
const char *dims_name_at(const struct graph *g, uint32_t i, size_t *length);
/** Returns the number of the name that an open dimension is, or DIM_NONE if it is not a name alone. */
uint32_t dims_name_of(const struct graph *g, uint32_t dim);
/** Returns the least and the greatest size of a name. */
void dims_name_range(const struct graph *g, uint32_t i, uint32_t *least, uint32_t *most);

/* ---- expressions ---- */

dim_expr dims_constant(struct graph *g, int64_t value);
/** Returns the expression of a dimension. */
dim_expr dims_of(struct graph *g, uint32_t dim);
/** Returns the expression of the product of dimensions. */
dim_expr dims_elements(struct graph *g, size_t count, const uint32_t *dims);
/** Returns fa * a + fb * b. */
dim_expr dims_sum(struct graph *g, int64_t fa, dim_expr a, int64_t fb, dim_expr b);
dim_expr dims_product(struct graph *g, dim_expr a, dim_expr b);
/** Returns the quotient, rounded down. */
dim_expr dims_divide(struct graph *g, dim_expr a, dim_expr b);
/** Returns the quotient by a positive number, rounded up. */
dim_expr dims_divide_up(struct graph *g, dim_expr a, int64_t b);
/** Returns the greater one, or the lesser one. */
dim_expr dims_extreme(struct graph *g, dim_expr a, dim_expr b, bool greater);
/** Returns an unknown expression with this range. */
dim_expr dims_unknown(struct graph *g, int64_t least, int64_t most);
/** Returns whether an expression is a number, and which. */
bool dims_is_constant(const struct graph *g, dim_expr e, int64_t *value);
/** Returns whether an expression is a sum of names with factors, and a number. */
bool dims_is_linear(const struct graph *g, dim_expr e);

/** Finds the bounds of an expression, which are equal for a number. */
void dims_range(const struct graph *g, dim_expr e, int64_t *least, int64_t *most);

/** Answer whether two expressions are equal, and whether a is at least b. */
enum answer dims_equal(struct graph *g, dim_expr a, dim_expr b);
enum answer dims_at_least(struct graph *g, dim_expr a, dim_expr b);

/** A number that may be unknown. */
struct dim_number {
    int64_t value;
    bool known;
};

/**
 * Computes all atoms for sizes of the names, in their order, without recursion: `atoms` has room for dims_atom_count.  Then a
 * dimension is computed of them; it is unknown if it depends on an unknown, or does not fit.
 */
uint32_t dims_atom_count(const struct graph *g);
/** Returns how many expressions there are: DIM_OPEN plus a number below that is a dimension. */
uint32_t dims_expression_count(const struct graph *g);
void dims_evaluate_atoms(const struct graph *g, const uint32_t *sizes, struct dim_number *atoms);
struct dim_number dims_evaluate(const struct graph *g, uint32_t dim, const struct dim_number *atoms);
/** Writes a dimension, "37" or "past + sequence", and returns buf. */
const char *dim_print(const struct graph *g, uint32_t dim, char *buf, size_t size);
/** Makes the same text of an open dimension in an arena, but a name as it was given.  Returns false if memory runs out. */
bool dim_text(const struct graph *g, uint32_t dim, struct arena *a, WNNStringView *text);

/* ---- questions about dimensions, at once where none is open ---- */

static inline enum answer dim_equal(struct graph *g, uint32_t a, uint32_t b)
{
    return a == b ? ANSWER_YES : !((a | b) & DIM_OPEN) ? ANSWER_NO : dims_equal(g, dims_of(g, a), dims_of(g, b));
}

/** Returns whether two dimensions certainly differ. */
static inline bool dim_differs(struct graph *g, uint32_t a, uint32_t b)
{
    return dim_equal(g, a, b) == ANSWER_NO;
}

/** Returns whether two types certainly differ. */
bool type_differs(struct graph *g, const struct tensor_type *a, const struct tensor_type *b);

/** Returns whether a is certainly less than b. */
static inline bool dim_below(struct graph *g, uint32_t a, uint32_t b)
{
    return (a | b) & DIM_OPEN ? dims_at_least(g, dims_of(g, a), dims_of(g, b)) == ANSWER_NO : a < b;
}

/* ---- values that are sizes ---- */

/**
 * Returns the elements of an integer tensor that depends on shapes and constants only, in row-major order, or NULL if it
 * depends on anything else, has more than DIM_VALUES_MAX elements, or memory runs out.
 */
const dim_expr *dims_values(struct graph *g, struct value *v);
/** Notes the values of a new node's results, if they depend on shapes and constants only.  Returns false if memory runs out. */
bool dims_note(struct graph *g, const struct node *n);
