/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the reference interpreter and its internals. From one node and its operands' bytes it computes the results' bytes
 * and, on request, error bounds.  Read docs/semantics.md for the definitions, then this file, then interpret.c (driver) and one
 * of the families.
 *
 * - Every operator has one function (the table in interpret.c).  Those that compute widen their operands first, floats to
 * double and integers to int64_t (uint64 as its bits), so that an operator is written once for all types; results are narrowed,
 * that is rounded once to the operator's type, at the end.  Those that move elements only copy bytes.
 * - An operator is also written for one layout only: widening and narrowing permute dimensions on the way.
 * - Next to its value an element may carry a bound: no correct implementation (float32 arithmetic in any order of
 *   summation inside an operator, elementary functions within INTERPRET_..._ULPS, every result rounded to its type) gives a
 * value farther away, given inputs within theirs.  0 means an exact value, INFINITY an unknown one (near a discontinuity).
 */
#pragma once

#include <math.h>
#include <string.h>

#include "ir/graph/ir.h"
#include "ir/graph/winograd.h"

/**
 * Computes a graph with the reference interpreter, which follows the specification's text and uses neither LLVM nor oneDNN.
 * inputs and outputs are row-major buffers in the order of g->inputs and g->outputs; inputs that are not reachable may be NULL.
 * Returns false after an error in *e.
 */
bool graph_interpret(struct graph *g, const void *const *inputs, void *const *outputs, struct error *e);
/** Computes one node from its inputs' bytes, by slot (absent ones are NULL).  Returns false after an error in *e.  Constant
 * folding and tests use it. */
bool node_interpret(const struct node *n, const void *const *inputs, void *const *results, struct error *e);

/**
 * Does what graph_interpret does, with an error bound for every element of every output: bounds[i] has room for one double per
 * element of output i.  Inputs and constants are taken as exact.  Returns false after an error in *e.
 */
bool graph_interpret_bounds(struct graph *g, const void *const *inputs, void *const *outputs, double *const *bounds,
                            struct error *e);

/** Does the same with inputs that have bounds, too; input_bounds and its members may be NULL, which stands for exact inputs. */
bool graph_interpret_from(struct graph *g, const void *const *inputs, const double *const *input_bounds, void *const *outputs,
                          double *const *bounds, struct error *e);

/** Does what node_interpret does, with bounds.  input_bounds and its members may be NULL, which stands for exact inputs.
 * result_bounds has room for the bounds of every result.  Returns false after an error in *e. */
bool node_interpret_bounds(const struct node *n, const void *const *inputs, const double *const *input_bounds,
                           void *const *results, double *const *result_bounds, struct error *e);

/** The largest error of a correct implementation's elementary functions, in units in the last place of float32. */
#define INTERPRET_FUNCTION_ULPS 4.0
#define INTERPRET_POW_ULPS 16.0

/* ---- one node at work ---- */

/** An operand of the node. */
struct interpret_input {
    const struct tensor_type *type; /* NULL: the optional operand is absent */
    const void *data;
    const double *bound; /* NULL: exact */
};

struct interpret_result {
    const struct tensor_type *type;
    void *data;
    double *bound; /* NULL: not wanted */
};

/** One node at work. */
struct interpretation {
    const struct node *node;
    struct interpret_input *inputs; /* as many as the node's */
    struct interpret_result *results;
    bool bounds;         /* wanted for every result */
    struct arena memory; /* freed when the node is done */
    struct error *error;
};

/** Computes a node of some operators.  Returns false after an error in *t->error. */
typedef bool interpret_function(struct interpretation *t);

interpret_function interpret_elementwise, interpret_batch_normalization, interpret_quantisation;
interpret_function interpret_concat, interpret_expand, interpret_pad, interpret_reshape, interpret_reverse, interpret_slice,
    interpret_split, interpret_tile, interpret_transpose, interpret_triangular;
interpret_function interpret_arg_min_max, interpret_cumulative_sum, interpret_reduce;
interpret_function interpret_convolution, interpret_gemm, interpret_matmul;
interpret_function interpret_pool2d, interpret_resample2d;
interpret_function interpret_instance_normalization, interpret_layer_normalization, interpret_softmax;
interpret_function interpret_gather, interpret_gather_elements, interpret_scatter_elements, interpret_coordinates,
    interpret_scatter_reduce;
interpret_function interpret_network, interpret_loop;

/** Returns memory that is valid until the node is done, or NULL after an error. */
void *interpret_memory(struct interpretation *t, int64_t count, size_t size);

/** Finds the steps i of [0, count) for which shift + i * stride is in [0, size): they go from *first to before *end, and
 * there are none if *end <= *first. */
static inline void interpret_valid_range(int64_t shift, int64_t stride, int64_t size, int64_t count, int64_t *first,
                                         int64_t *end)
{
    *first = shift >= 0 ? 0 : ceil_div(-shift, stride);
    *end = shift >= size ? 0 : (size - 1 - shift) / stride + 1;
    if (*end > count)
        *end = count;
}

/* ---- elements ---- */

/** A widened element: floats as double, integers as int64_t (uint64 as its bits). */
union lane {
    double f;
    int64_t i;
};

/** Widens count elements of type at data, which are stride elements apart. */
void interpret_load(dtype type, const void *data, int64_t stride, int64_t count, union lane *out);
/** Does the reverse: floats are rounded to nearest even, integers keep their low bits. */
void interpret_store(dtype type, const union lane *in, int64_t count, void *data, int64_t stride);
/** Copies one element of size 1, 2, 4 or 8. */
static inline void interpret_copy(void *to, const void *from, size_t size)
{
    switch (size) {
    case 1:
        memcpy(to, from, 1);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, 8);
    }
}

/** Returns the value rounded to a float type, as a double. */
static inline double interpret_round(dtype type, double value)
{
    return type == WNNOperandDataType_Float32 ? (double)(float)value
           : type == DTYPE_BFLOAT16           ? (double)bf16_to_f32(f64_to_bf16(value))
           : type == DTYPE_FLOAT64            ? value
           : dtype_is_float8(type)            ? (double)f8_to_f32(f64_to_f8(value, type), type)
                                              : (double)f16_to_f32(f64_to_f16(value));
}

/** Returns a whole operand of floats as doubles, with its dimensions in the order permutation[0], [1] ... (NULL: as they are).
 * Returns NULL after an error. */
double *interpret_widen(struct interpretation *t, uint32_t slot, const uint32_t *permutation);
/** Returns the same of integers. */
int64_t *interpret_widen_integers(struct interpretation *t, uint32_t slot, const uint32_t *permutation);
/** Returns the same of an operand's bounds, or NULL without an error if the operand is absent or exact. */
double *interpret_widen_bounds(struct interpretation *t, uint32_t slot, const uint32_t *permutation);
/**
 * Rounds values, doubles or int64_t as the result's type is a float or an integer, (and bounds, if wanted; NULL: all certain)
 * into result r whose dimension permutation[d] is dimension d of values.  A bound is of the value before it is rounded.
 */
void interpret_narrow(struct interpretation *t, uint32_t r, const void *values, const double *bounds,
                      const uint32_t *permutation);

/** Returns the bound of a value of that type whose unrounded value is within distance of exact (see interpret_bounds.c). */
double interpret_bound_rounded(dtype type, double exact, double distance);
/**
 * Returns the distance within which a sum of count terms (or products) lies whose magnitudes add up to magnitude and, with
 * every operand at the limit of its bound, to far.  It covers the operands' errors, and float32 roundings in any order.
 * `certain`: the operands have no errors.  Terms that are not finite count in exact only.
 */
double interpret_bound_sum(double exact, double magnitude, double far, int64_t count, bool certain);
/** Returns a sum within an operator: infinite where float32, in which implementations add, overflows, and rounded where it is
 * subnormal or 0.  Otherwise digits are kept. */
double interpret_sum_in_range(double sum);

/**
 * Serves operators that add products of two operands: it holds an operand's magnitudes, and the same with every element at the
 * limit of its bound.  Running the operator on them gives the sums for interpret_bound_sum.
 */
struct interpret_magnitudes {
    double *near, *far; /* far == near: certain */
};
/** Fills *out for an operand.  Returns false after an error. */
bool interpret_magnitudes(struct interpretation *t, const double *values, const double *bounds, int64_t count,
                          struct interpret_magnitudes *out);

/* ---- Winograd convolutions (interpret_winograd.c) ---- */

/** Inputs from this magnitude on make an implementation add products directly (passes/cluster/winograd.h). */
#define INTERPRET_WINOGRAD_LIMIT 0x1p64

/**
 * Describes a 3x3 convolution without dilations and groups, its input with magnitudes at the limit of their bounds.
 */
struct interpret_winograd {
    int64_t batches, in_channels, out_channels, in[2], out[2], padding[2];
    const double *input, *filter; /* nchw, oihw */
    const double *filter_bounds;  /* NULL: exact */
};
/**
 * Sets *roundings, by result (nchw), to the error in roundings of 1 if Winograd computes it with such tiles, or to NULL if no
 * implementation does.  values and input_bounds (or NULL) are the input's.  Returns false after an error.
 */
bool interpret_winograd(struct interpretation *t, const struct interpret_winograd *w, const struct winograd_tile *tile,
                        const double *values, const double *input_bounds, double **roundings);
/** Returns how far rounding alone may move such a result; bias is the bias's magnitude. */
double interpret_winograd_bound(const struct winograd_tile *tile, double roundings, int64_t in_channels, double bias);

/* ---- walking ---- */

enum { WALK_RANK_MAX = 2 * RANK_MAX + 2, WALK_VIEWS_MAX = 6 };

/** Holds several strided views of one index space, which is walked line by line (a line is the last dimension). */
struct walk {
    uint32_t rank, views;
    int64_t dims[WALK_RANK_MAX];
    int64_t strides[WALK_VIEWS_MAX][WALK_RANK_MAX];
    int64_t offset[WALK_VIEWS_MAX]; /* of the current line's first element */
    int64_t index[WALK_RANK_MAX];
};

/** Merges dimensions that all views walk as one.  Makes the rank at least 1.  Offsets are kept. */
void walk_simplify(struct walk *w);
/** Moves on to the next line.  Returns false after the last one. */
bool walk_next(struct walk *w);
/** Sets a view's strides for an operand broadcast to the walk's dimensions (aligned at the last dimension). */
void walk_broadcast(struct walk *w, uint32_t view, const struct tensor_type *type);
