/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX operators along axes: reductions, ArgMax and ArgMin, Hardmax, CumSum.
 */
#include <math.h>
#include <string.h>

#include "frontend/readers/onnx/operators.h"

typedef WNNOperand (*reduction)(WNNGraphBuilder, WNNOperand, WNNReduceOptions const *);

/** Finds which axes a reduction goes over.  Returns false if there are none, or after refusing. */
static bool read_axes(struct onnx_node *n, int64_t since, const uint32_t **axes, size_t *count)
{
    size_t rank = n->inputs[0]->rank;
    const int64_t *list = NULL;
    uint32_t *all;
    bool noop = n->version >= since && onnx_int(n, "noop_with_empty_axes", 0) != 0;

    *count = 0;
    if (n->version < since)
        list = onnx_ints(n, "axes", count);
    else if (onnx_input(n, 1))
        list = onnx_integers(n, 1, count);
    if (n->refused)
        return false;
    if (*count) {
        *axes = onnx_axes(n, list, *count, rank);
        return *axes != NULL;
    }
    if (noop) {
        *axes = onnx_alloc(n, 1, sizeof **axes); /* an empty list: each element by itself */
        return *axes != NULL;
    }
    *count = rank;
    *axes = all = onnx_alloc(n, rank + 1, sizeof *all);
    for (size_t d = 0; all && d < rank; d++)
        all[d] = (uint32_t)d;
    return all != NULL;
}

/** Makes the result over no elements at all. */
static bool reduce_nothing(struct onnx_node *n, const uint32_t *axes, size_t count, bool keep, double neutral)
{
    const struct onnx_value *v = n->inputs[0];
    int64_t dims[ONNX_RANK_MAX], elements = 1;
    uint32_t chosen = 0;
    size_t rank = 0;
    void *data;

    for (size_t i = 0; i < count; i++)
        chosen |= 1u << axes[i];
    for (size_t d = 0; d < v->rank; d++)
        if (keep || !(chosen >> d & 1)) {
            dims[rank] = chosen >> d & 1 ? 1 : v->dims[d];
            elements *= dims[rank++];
        }
    if (elements && isnan(neutral))
        return onnx_refuse(n, "it reduces a tensor without elements");
    data = onnx_output_constant(n, 0, v->type, rank, dims);
    for (int64_t i = 0; data && i < elements; i++)
        onnx_store(v->type, data, (size_t)i, neutral);
    return data != NULL;
}

/**
 * Imports a reduction.  since is the version from which on the axes are an input; neutral is the result over nothing, or NaN if
 * there is none; floats_only says whether the builder takes no integers.
 */
static bool import_reduce(struct onnx_node *n, reduction reduce, int64_t since, double neutral, bool floats_only)
{
    const struct onnx_value *v = n->inputs[0];
    WNNReduceOptions o = WNN_REDUCE_OPTIONS_INIT;
    WNNOperandDataType type = onnx_data_type(v->type);
    WNNOperand x;

    o.label = n->label;
    o.keepDimensions = onnx_int(n, "keepdims", 1) != 0;
    if (!read_axes(n, since, &o.axes, &o.axesCount))
        return false;
    if (!v->refusal && !onnx_elements(v))
        return reduce_nothing(n, o.axes, o.axesCount, o.keepDimensions, neutral);
    x = onnx_operand(n, 0);
    /* ONNX has means and norms of integers, WebNN of floats. */
    if (floats_only && !onnx_type_is_float(v->type))
        return onnx_output(n, 0, onnx_cast(n, reduce(n->builder, onnx_cast(n, x, WNNOperandDataType_Float32), &o), type));
    return onnx_output_as(n, 0, reduce(n->builder, x, &o), v->type);
}

#define REDUCE(name, method, since, neutral, floats_only)                                                                      \
    static bool import_##name(struct onnx_node *n)                                                                             \
    {                                                                                                                          \
        return import_reduce(n, wnnGraphBuilderReduce##method, since, neutral, floats_only);                                   \
    }

REDUCE(reduce_l1, L1, 18, 0, false)
REDUCE(reduce_l2, L2, 18, 0, true)
REDUCE(reduce_log_sum, LogSum, 18, -INFINITY, true)
REDUCE(reduce_log_sum_exp, LogSumExp, 18, -INFINITY, true)
REDUCE(reduce_max, Max, 18, -INFINITY, false)
REDUCE(reduce_mean, Mean, 18, NAN, true)
REDUCE(reduce_min, Min, 18, INFINITY, false)
REDUCE(reduce_prod, Product, 18, 1, false)
REDUCE(reduce_sum, Sum, 13, 0, false)
REDUCE(reduce_sum_square, SumSquare, 18, 0, false)

/* ---- the place of the largest ---- */

/** Applies ArgMax or ArgMin along an axis.  The last of equal elements is the first from the other end. */
static WNNOperand arg_of(struct onnx_node *n, bool max, WNNOperand x, uint32_t axis, bool keep, bool last)
{
    WNNArgMinMaxOptions o = WNN_ARG_MIN_MAX_OPTIONS_INIT;
    WNNOperand y;

    o.label = n->label;
    o.keepDimensions = keep;
    o.outputDataType = WNNOperandDataType_Int64;
    if (last)
        x = wnnGraphBuilderReverse(n->builder, x, &(WNNReverseOptions){.label = n->label, .axesCount = 1, .axes = &axis});
    y = max ? wnnGraphBuilderArgMax(n->builder, x, axis, &o) : wnnGraphBuilderArgMin(n->builder, x, axis, &o);
    if (last)
        y = wnnGraphBuilderSub(n->builder, onnx_scalar(n, WNNOperandDataType_Int64, (double)wnnOperandGetShape(x)[axis] - 1), y,
                               n->options);
    return y;
}

static bool import_arg(struct onnx_node *n, bool max)
{
    bool keep = onnx_int(n, "keepdims", 1) != 0, last = n->version >= 12 && onnx_int(n, "select_last_index", 0) != 0;
    uint32_t axis;

    if (!onnx_axis(n, onnx_int(n, "axis", 0), n->inputs[0]->rank, &axis))
        return false;
    return onnx_output(n, 0, arg_of(n, max, onnx_operand(n, 0), axis, keep, last));
}

static bool import_arg_max(struct onnx_node *n)
{
    return import_arg(n, true);
}

static bool import_arg_min(struct onnx_node *n)
{
    return import_arg(n, false);
}

/** Imports Hardmax, which is 1 at the first of the largest elements, else 0: the index is compared with a range. */
static bool import_hardmax(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    uint32_t dims[ONNX_RANK_MAX], flat[2] = {1, 1}, range[ONNX_RANK_MAX], axis, size;
    int64_t at = onnx_int(n, "axis", n->version < 13 ? 1 : -1), *numbers;
    size_t rank = v->rank;
    WNNOperand x = onnx_operand(n, 0), y;

    if (at == (int64_t)rank && n->version < 13)
        axis = (uint32_t)rank;
    else if (!onnx_axis(n, at, rank, &axis))
        return false;
    for (size_t d = 0; d < rank; d++) {
        dims[d] = (uint32_t)v->dims[d];
        flat[d >= axis] *= dims[d];
    }
    if (n->version < 13) { /* over all dimensions from the axis on */
        x = onnx_reshape(n, x, 2, flat);
        rank = 2;
        axis = 1;
    }
    if (n->refused)
        return false;
    size = wnnOperandGetShape(x)[axis];
    numbers = onnx_alloc(n, size, sizeof *numbers);
    if (!numbers)
        return false;
    for (size_t d = 0; d < rank; d++)
        range[d] = d == axis ? size : 1;
    for (uint32_t i = 0; i < size; i++)
        numbers[i] = i;
    y = wnnGraphBuilderEqual(n->builder, arg_of(n, true, x, axis, true, false),
                             onnx_constant_operand(n, WNNOperandDataType_Int64, rank, range, numbers), n->options);
    y = onnx_cast(n, y, wnnOperandGetDataType(x));
    return onnx_output(n, 0, onnx_reshape(n, y, v->rank, dims));
}

static bool import_cum_sum(struct onnx_node *n)
{
    WNNCumulativeSumOptions o = WNN_CUMULATIVE_SUM_OPTIONS_INIT;
    int64_t along = onnx_whole(n, "the axis", onnx_number(n, 1, 0), INT32_MIN, INT32_MAX);
    uint32_t axis;

    o.label = n->label;
    o.exclusive = onnx_int(n, "exclusive", 0) != 0;
    o.reversed = onnx_int(n, "reverse", 0) != 0;
    if (n->refused || !onnx_axis(n, along, n->inputs[0]->rank, &axis))
        return false;
    return onnx_output(n, 0, wnnGraphBuilderCumulativeSum(n->builder, onnx_operand(n, 0), axis, &o));
}

#define INTEGERS "axes must be constant; of integers: in float32"

static const struct onnx_operator rows[] = {
    {"ArgMax", 1, 0, 1, 1, 1, 0, import_arg_max, "select_last_index: from a reversed tensor", NULL},
    {"ArgMin", 1, 0, 1, 1, 1, 0, import_arg_min, "select_last_index: from a reversed tensor", NULL},
    {"CumSum", 11, 0, 2, 2, 1, 0, import_cum_sum, "the axis must be constant", NULL},
    {"Hardmax", 1, 0, 1, 1, 1, 0, import_hardmax, "argMax compared with a range", NULL},
    {"ReduceL1", 1, 0, 1, 2, 1, 0, import_reduce_l1, "axes must be constant", NULL},
    {"ReduceL2", 1, 0, 1, 2, 1, 0, import_reduce_l2, INTEGERS, NULL},
    {"ReduceLogSum", 1, 0, 1, 2, 1, 0, import_reduce_log_sum, INTEGERS, NULL},
    {"ReduceLogSumExp", 1, 0, 1, 2, 1, 0, import_reduce_log_sum_exp, INTEGERS, NULL},
    {"ReduceMax", 1, 0, 1, 2, 1, 0, import_reduce_max, "axes must be constant", NULL},
    {"ReduceMean", 1, 0, 1, 2, 1, 0, import_reduce_mean, INTEGERS, NULL},
    {"ReduceMin", 1, 0, 1, 2, 1, 0, import_reduce_min, "axes must be constant", NULL},
    {"ReduceProd", 1, 0, 1, 2, 1, 0, import_reduce_prod, "axes must be constant", NULL},
    {"ReduceSum", 1, 0, 1, 2, 1, 0, import_reduce_sum, "axes must be constant", NULL},
    {"ReduceSumSquare", 1, 0, 1, 2, 1, 0, import_reduce_sum_square, "axes must be constant", NULL},
};

ONNX_TABLE(onnx_reduce_operators, rows);
