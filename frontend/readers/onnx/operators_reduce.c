/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX's reductions.
 */
#include <math.h>
#include <string.h>

#include "frontend/readers/onnx/counted.h"
#include "frontend/readers/onnx/compose.h"

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

static bool reduce_nothing(struct onnx_node *n, const uint32_t *axes, size_t count, bool keep, double neutral)
{
    const struct onnx_value *v = n->inputs[0];
    int64_t dims[ONNX_RANK_MAX], elements = 1;
    uint32_t chosen = 0;
    size_t rank = 0;

    for (size_t i = 0; i < count; i++)
        chosen |= 1u << axes[i];
    for (size_t d = 0; d < v->rank; d++)
        if (keep || !(chosen >> d & 1)) {
            dims[rank] = chosen >> d & 1 ? 1 : v->dims[d];
            elements *= dims[rank++];
        }
    if (elements && isnan(neutral))
        return onnx_refuse(n, "it reduces a tensor without elements");
    void *data = onnx_output_constant(n, 0, v->type, rank, dims);
    for (int64_t i = 0; data && i < elements; i++)
        onnx_store(v->type, data, (size_t)i, neutral);
    return data != NULL;
}

bool onnx_import_reduce(struct onnx_node *n)
{
    static const struct reduction {
        const char *name;
        onnx_reduction reduce;
        int64_t since;    /* the version from which on the axes are an input */
        double neutral;   /* the result over nothing, or NaN if there is none */
        bool floats_only; /* the builder takes no integers */
    } reductions[] = {
        {"ReduceL1", wnnGraphBuilderReduceL1, 18, 0, false},
        {"ReduceL2", wnnGraphBuilderReduceL2, 18, 0, true},
        {"ReduceLogSum", wnnGraphBuilderReduceLogSum, 18, -(double)INFINITY, true},
        {"ReduceLogSumExp", wnnGraphBuilderReduceLogSumExp, 18, -(double)INFINITY, true},
        {"ReduceMax", wnnGraphBuilderReduceMax, 18, -(double)INFINITY, false},
        {"ReduceMean", wnnGraphBuilderReduceMean, 18, (double)NAN, true},
        {"ReduceMin", wnnGraphBuilderReduceMin, 18, (double)INFINITY, false},
        {"ReduceProd", wnnGraphBuilderReduceProduct, 18, 1, false},
        {"ReduceSum", wnnGraphBuilderReduceSum, 13, 0, false},
        {"ReduceSumSquare", wnnGraphBuilderReduceSumSquare, 18, 0, false},
    };
    const struct onnx_value *v = n->inputs[0];
    const struct reduction *r = reductions;
    WNNReduceOptions o = WNN_REDUCE_OPTIONS_INIT;
    WNNOperandDataType type = onnx_data_type(v->type);

    while (strcmp(r->name, n->row->name) != 0)
        r++;
    o.label = n->label;
    o.keepDimensions = onnx_int(n, "keepdims", 1) != 0;
    if (!read_axes(n, r->since, &o.axes, &o.axesCount))
        return false;
    if (!v->refusal && !onnx_elements(v))
        return reduce_nothing(n, o.axes, o.axesCount, o.keepDimensions, r->neutral);
    WNNOperand x = onnx_operand(n, 0);
    /* ONNX has means and norms of integers, WebNN of floats; and reductions of float64. */
    const bool counted = r->reduce == wnnGraphBuilderReduceMean && onnx_reduces_counted(n);
    if (counted || (r->floats_only && !onnx_type_is_float(v->type)) || v->type == ONNX_DOUBLE)
        x = onnx_cast(n, x, WNNOperandDataType_Float32);
    if (counted) /* the mean of the elements that count */
        x = wnnGraphBuilderDiv(n->builder, onnx_reduce_axis(n, wnnGraphBuilderReduceSum, x, v->counted),
                               onnx_cast(n, v->count, WNNOperandDataType_Float32), n->options);
    return onnx_output_as(n, 0, onnx_cast(n, r->reduce(n->builder, x, &o), type), v->type);
}
