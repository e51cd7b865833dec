/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX operators that read or write at indices: the Gather and Scatter families, OneHot, Compress.  They become WebNN's
 * gathers and scatters where the shapes are those that it asks for; else coordinates made explicit, or comparisons with a
 * range.
 *
 * A scatter that adds (multiplies, ...) must see every update of one place, also of equal indices, which WebNN's scatters do
 * not: it is an operator of this library's own, wnnGraphBuilderScatterReduce.
 */
#include <math.h>
#include <string.h>

#include "frontend/readers/onnx/operators.h"

static WNNOperand op(struct onnx_node *n, WNNOperand (*f)(WNNGraphBuilder, WNNOperand, WNNOperand, WNNOperatorOptions const *),
                     WNNOperand a, WNNOperand b)
{
    return f(n->builder, a, b, n->options);
}

static void shape_of(const struct onnx_value *v, uint32_t dims[ONNX_RANK_MAX])
{
    for (size_t d = 0; d < v->rank; d++)
        dims[d] = (uint32_t)v->dims[d];
}

/** Returns 0, 1, ..., size - 1 of an index type, along one axis of a shape of ones. */
static WNNOperand range(struct onnx_node *n, WNNOperandDataType type, size_t rank, size_t axis, uint32_t size)
{
    uint32_t dims[ONNX_RANK_MAX];
    int64_t *wide = onnx_alloc(n, size, sizeof *wide);
    int32_t *narrow = (int32_t *)wide;

    if (!wide || rank > ONNX_RANK_MAX)
        return onnx_error_operand(n);
    for (size_t d = 0; d < rank; d++)
        dims[d] = d == axis ? size : 1;
    for (uint32_t i = 0; i < size; i++)
        if (type == WNNOperandDataType_Int64)
            wide[i] = i;
        else
            narrow[i] = (int32_t)i; /* also uint32: the same bits */
    return onnx_constant_operand(n, type, rank, dims, wide);
}

/** Makes indices below 0 count from the end. */
static WNNOperand wrap(struct onnx_node *n, WNNOperand indices, double size)
{
    WNNOperand below = op(n, wnnGraphBuilderLesser, indices, onnx_scalar_like(n, indices, 0));
    WNNOperand moved = op(n, wnnGraphBuilderAdd, indices, onnx_scalar_like(n, indices, size));

    return wnnGraphBuilderWhere(n->builder, below, moved, indices, n->options);
}

/* ---- gathers ---- */

bool onnx_import_gather(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *indices = n->inputs[1];
    int64_t dims[2 * ONNX_RANK_MAX];
    uint32_t axis;
    size_t rank = 0;

    if (v->refusal || indices->refusal)
        return onnx_refuse(n, "an input %s", v->refusal ? v->refusal : indices->refusal);
    if (!onnx_axis(n, onnx_int(n, "axis", 0), v->rank, &axis))
        return false;
    for (size_t d = 0; d < v->rank; d++)
        if (d != axis)
            dims[rank++] = v->dims[d];
        else
            for (size_t k = 0; k < indices->rank; k++)
                dims[rank++] = indices->dims[k];
    if (!onnx_elements(indices))
        return onnx_output_constant(n, 0, v->type, rank, dims) != NULL;
    return onnx_output_as(n, 0,
                          wnnGraphBuilderGather(n->builder, onnx_operand(n, 0), onnx_operand(n, 1),
                                                &(WNNGatherOptions){.label = n->label, .axis = axis}),
                          v->type);
}

bool onnx_import_gather_elements(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *indices = n->inputs[1];
    WNNOperand x = onnx_operand(n, 0);
    uint32_t axis;

    if (!onnx_axis(n, onnx_int(n, "axis", 0), v->rank, &axis))
        return false;
    if (indices->rank != v->rank)
        return onnx_refuse(n, "the indices have %zu dimensions, the input %zu", indices->rank, v->rank);
    /* Along the other axes ONNX lets the indices cover a part. */
    for (uint32_t d = 0; d < v->rank; d++) {
        if (d == axis)
            continue;
        if (indices->dims[d] > v->dims[d])
            return onnx_refuse(n, "dimension %u of the indices is %lld, of the input %lld", d, (long long)indices->dims[d],
                               (long long)v->dims[d]);
        x = onnx_slice_axis(n, x, d, 0, (uint32_t)indices->dims[d]);
    }
    return onnx_output_as(
        n, 0,
        wnnGraphBuilderGatherElements(n->builder, x, onnx_operand(n, 1), &(WNNGatherOptions){.label = n->label, .axis = axis}),
        v->type);
}

/** Puts the numbers of the first `batch` dimensions before each coordinate of indices. */
static WNNOperand with_batch(struct onnx_node *n, const struct onnx_value *indices, size_t batch)
{
    WNNOperand parts[ONNX_RANK_MAX + 1], last = onnx_operand(n, 1);
    WNNOperandDataType type = wnnOperandGetDataType(last);
    uint32_t dims[ONNX_RANK_MAX];

    shape_of(indices, dims);
    dims[indices->rank - 1] = 1;
    for (size_t d = 0; d < batch; d++)
        parts[d] =
            wnnGraphBuilderExpand(n->builder, range(n, type, indices->rank, d, dims[d]), indices->rank, dims, n->options);
    parts[batch] = last;
    return wnnGraphBuilderConcat(n->builder, batch + 1, parts, (uint32_t)indices->rank - 1, n->options);
}

bool onnx_import_gather_nd(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *indices = n->inputs[1];
    int64_t batch = onnx_int(n, "batch_dims", 0);
    WNNOperand at;

    if (!indices->rank || batch < 0 || batch >= (int64_t)v->rank || batch >= (int64_t)indices->rank)
        return onnx_refuse(n, "batch_dims is %lld, of an input of %zu dimensions and indices of %zu", (long long)batch, v->rank,
                           indices->rank);
    for (int64_t d = 0; d < batch; d++)
        if (v->dims[d] != indices->dims[d])
            return onnx_refuse(n, "batch dimension %lld is %lld in the input, %lld in the indices", (long long)d,
                               (long long)v->dims[d], (long long)indices->dims[d]);
    at = batch ? with_batch(n, indices, (size_t)batch) : onnx_operand(n, 1);
    return onnx_output_as(n, 0, wnnGraphBuilderGatherND(n->builder, onnx_operand(n, 0), at, n->options), v->type);
}

/** Slices whose condition, known when the graph is built, is true. */
bool onnx_import_compress(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *condition = onnx_constant(n, 1);
    bool flat = !onnx_has(n, "axis");
    int64_t dims[ONNX_RANK_MAX];
    uint32_t axis = 0, all;
    int32_t *indices;
    size_t count = 0;
    WNNOperand x;

    if (!condition || (!flat && !onnx_axis(n, onnx_int(n, "axis", 0), v->rank, &axis)))
        return false;
    memcpy(dims, v->dims, sizeof dims);
    if (flat)
        dims[0] = onnx_elements(v);
    if (condition->rank != 1 || condition->dims[0] > dims[axis])
        return onnx_refuse(n, "the condition must be a list of at most %lld", (long long)dims[axis]);
    indices = onnx_alloc(n, (size_t)condition->dims[0] + 1, sizeof *indices);
    for (int64_t i = 0; indices && i < condition->dims[0]; i++)
        if (onnx_element(condition, (size_t)i) != 0)
            indices[count++] = (int32_t)i;
    if (!indices)
        return false;
    dims[axis] = (int64_t)count;
    if (!count)
        return onnx_output_constant(n, 0, v->type, flat ? 1 : v->rank, dims) != NULL;
    x = onnx_operand(n, 0);
    all = (uint32_t)onnx_elements(v);
    if (flat)
        x = onnx_reshape(n, x, 1, &all);
    return onnx_output_as(n, 0, onnx_gather_axis(n, x, axis, count, indices), v->type);
}

/* ---- one-hot ---- */

/* ---- scatters that reduce ---- */

/** Reads the attribute; *reduces is false for none. */
static bool read_reduction(struct onnx_node *n, bool *reduces, WNNScatterReduction *reduction)
{
    static const char *const names[] = {"add", "mul", "min", "max"}; /* as WNNScatterReduction */
    const char *name = onnx_string(n, "reduction", "none");

    *reduces = strcmp(name, "none") != 0;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(names[i], name)) {
            *reduction = (WNNScatterReduction)i;
            return true;
        }
    return !*reduces || onnx_refuse(n, "its reduction is none of none, add, mul, max and min");
}

static WNNOperand scatter_reduce(struct onnx_node *n, WNNOperand x, WNNOperand at, WNNOperand updates, uint32_t axis,
                                 WNNScatterReduction reduction)
{
    WNNScatterReduceOptions o = WNN_SCATTER_REDUCE_OPTIONS_INIT;

    o.label = n->label;
    o.axis = axis;
    o.reduction = reduction;
    return wnnGraphBuilderScatterReduce(n->builder, x, at, updates, &o);
}

/** Makes one index of coordinates, into the dimensions that they name. */
static bool scatter_nd_reduce(struct onnx_node *n, WNNScatterReduction reduction)
{
    const struct onnx_value *v = n->inputs[0], *indices = n->inputs[1];
    uint32_t length = (uint32_t)indices->dims[indices->rank - 1], places = 1, rest = 1, dims[ONNX_RANK_MAX];
    uint32_t updates = (uint32_t)(onnx_elements(indices) / length);
    WNNOperand at = onnx_operand(n, 1), index = NULL, y;

    for (size_t d = 0; d < v->rank; d++)
        *(d < length ? &places : &rest) *= (uint32_t)v->dims[d];
    at = onnx_reshape(n, at, 2, (uint32_t[]){updates, length});
    for (uint32_t d = 0; d < length; d++) {
        WNNOperand column = length == 1 ? at : wrap(n, onnx_slice_axis(n, at, 1, d, 1), (double)v->dims[d]);

        if (index)
            index = op(n, wnnGraphBuilderMul, index, onnx_scalar_like(n, index, (double)v->dims[d]));
        index = index ? op(n, wnnGraphBuilderAdd, index, column) : column;
    }
    y = scatter_reduce(n, onnx_reshape(n, onnx_operand(n, 0), 2, (uint32_t[]){places, rest}), index,
                       onnx_reshape(n, onnx_operand(n, 2), 2, (uint32_t[]){updates, rest}), 0, reduction);
    shape_of(v, dims);
    return onnx_output_as(n, 0, onnx_reshape(n, y, v->rank, dims), v->type);
}

/* ---- scatters that replace ---- */

/** Scatters at indices that do not cover the other axes: every update gets its coordinates. */
static bool scatter_part(struct onnx_node *n, uint32_t axis)
{
    const struct onnx_value *v = n->inputs[0], *indices = n->inputs[1];
    WNNOperand parts[ONNX_RANK_MAX], at = onnx_operand(n, 1);
    WNNOperandDataType type = wnnOperandGetDataType(at);
    uint32_t dims[ONNX_RANK_MAX];

    if (v->rank + 1 > ONNX_RANK_MAX)
        return onnx_refuse(n, "an input of %d dimensions cannot be scattered into in part", ONNX_RANK_MAX);
    shape_of(indices, dims);
    dims[v->rank] = 1;
    for (size_t d = 0; d < v->rank; d++)
        parts[d] = d == axis ? onnx_reshape(n, at, v->rank + 1, dims)
                             : wnnGraphBuilderExpand(n->builder, range(n, type, v->rank + 1, d, dims[d]), v->rank + 1, dims,
                                                     n->options);
    at = wnnGraphBuilderConcat(n->builder, v->rank, parts, (uint32_t)v->rank, n->options);
    return onnx_output_as(n, 0, wnnGraphBuilderScatterND(n->builder, onnx_operand(n, 0), at, onnx_operand(n, 2), n->options),
                          v->type);
}

bool onnx_import_scatter_elements(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *indices = n->inputs[1], *updates = n->inputs[2];
    WNNScatterReduction reduction = WNNScatterReduction_Add;
    bool part = false, reduces = false;
    uint32_t axis;

    if ((n->version >= 16 && !read_reduction(n, &reduces, &reduction)) || !onnx_axis(n, onnx_int(n, "axis", 0), v->rank, &axis))
        return false;
    if (indices->rank != v->rank || updates->rank != v->rank ||
        memcmp(indices->dims, updates->dims, v->rank * sizeof *v->dims) != 0)
        return onnx_refuse(n, "indices and updates must have one shape, of as many dimensions as the input");
    if (!onnx_elements(indices))
        return onnx_output_value(n, 0, n->inputs[0]);
    for (size_t d = 0; d < v->rank; d++) {
        if (d != axis && indices->dims[d] > v->dims[d])
            return onnx_refuse(n, "dimension %zu of the indices is %lld, of the input %lld", d, (long long)indices->dims[d],
                               (long long)v->dims[d]);
        part = part || (d != axis && indices->dims[d] != v->dims[d]);
    }
    if (reduces)
        return onnx_output_as(
            n, 0, scatter_reduce(n, onnx_operand(n, 0), onnx_operand(n, 1), onnx_operand(n, 2), axis, reduction), v->type);
    if (part)
        return scatter_part(n, axis);
    return onnx_output_as(n, 0,
                          wnnGraphBuilderScatterElements(n->builder, onnx_operand(n, 0), onnx_operand(n, 1), onnx_operand(n, 2),
                                                         &(WNNScatterOptions){.label = n->label, .axis = axis}),
                          v->type);
}

bool onnx_import_scatter_nd(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *indices = n->inputs[1];
    WNNScatterReduction reduction = WNNScatterReduction_Add;
    bool reduces = false;

    if (n->version >= 16 && !read_reduction(n, &reduces, &reduction))
        return false;
    if (!indices->rank || indices->dims[indices->rank - 1] > (int64_t)v->rank)
        return onnx_refuse(n, "coordinates are longer than the input has dimensions");
    if (!onnx_elements(indices))
        return onnx_output_value(n, 0, n->inputs[0]);
    if (reduces)
        return scatter_nd_reduce(n, reduction);
    return onnx_output_as(
        n, 0, wnnGraphBuilderScatterND(n->builder, onnx_operand(n, 0), onnx_operand(n, 1), onnx_operand(n, 2), n->options),
        v->type);
}
