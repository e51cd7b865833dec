/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Validates the operators that move elements, which are concat, expand, pad, reshape, reverse, slice, split, tile, transpose
 * and resample2d, and infers their shapes. */
#include "ir/graph/infer_steps.h"

#include <inttypes.h>
#include <string.h>

/** Adds a dimension to that of the operands before it. */
static bool join(struct call *c, uint32_t *dim, uint32_t added)
{
    struct graph *g = c->graph;

    return dim_is_open(added)
               ? check_open(c, dims_sum(g, 1, dims_of(g, *dim), 1, dims_of(g, added)), "the joined dimension", dim)
               : dim_add(c, *dim, added, "the joined dimension", dim);
}

bool infer_concat(struct call *c)
{
    const uint32_t axis = c->args.concat.axis;
    uint32_t dims[RANK_MAX];

    if (!c->input_count || c->input_count > TENSOR_COUNT_MAX)
        return call_error(c, "the number of inputs is %" PRIu32 ", not from 1 to %d", c->input_count, TENSOR_COUNT_MAX);
    const struct tensor_type *first = input_type(c, 0);
    if (axis >= first->rank)
        return call_error(c, "axis %" PRIu32 " is out of range, inputs[0] has rank %" PRIu32, axis, first->rank);
    memcpy(dims, first->dims, sizeof(dims));
    for (uint32_t i = 1; i < c->input_count; i++) {
        const struct tensor_type *t = input_type(c, i);

        if (t->type != first->type)
            return call_error(c, "the data type of inputs[%" PRIu32 "] is %s, that of inputs[0] is %s", i, dtype_name(t->type),
                              dtype_name(first->type));
        if (t->rank != first->rank)
            return call_error(c, "the rank of inputs[%" PRIu32 "] is %" PRIu32 ", that of inputs[0] is %" PRIu32, i, t->rank,
                              first->rank);
        for (uint32_t d = 0; d < t->rank; d++)
            if (d != axis && dim_differs(c->graph, t->dims[d], first->dims[d]))
                return call_error(c, "dimension %" PRIu32 " is %s in inputs[%" PRIu32 "], %s in inputs[0]", d,
                                  DIM_PRINT(t->dims[d]), i, DIM_PRINT(first->dims[d]));
            else if (d != axis && dim_is_open(dims[d]) && !dim_is_open(t->dims[d]))
                dims[d] = t->dims[d];
        if (!join(c, &dims[axis], t->dims[axis]))
            return false;
    }
    return infer_results(c, 1) && infer_result(c, 0, first->rank, dims);
}

static bool check_new_rank(struct call *c, size_t count)
{
    if (count > RANK_MAX)
        return call_error(c, "newShape has %zu dimensions, the largest supported rank is %d", count, RANK_MAX);
    return true;
}

static bool check_new_shape(struct call *c, size_t count, const uint32_t *dims)
{
    for (size_t i = 0; i < count; i++)
        if (!dims[i] || dims[i] > ELEMENT_COUNT_MAX)
            return call_error(c, "newShape[%zu] is %" PRIu32 ", not from 1 to %d", i, dims[i], ELEMENT_COUNT_MAX);
    return true;
}

bool infer_expand(struct call *c)
{
    struct tensor_type to = {0};

    if (!check_new_rank(c, c->args.expand.newShapeCount))
        return false;
    to.rank = (uint32_t)c->args.expand.newShapeCount;
    if (!check_new_shape(c, to.rank, c->args.expand.newShape))
        return false;
    if (to.rank)
        memcpy(to.dims, c->args.expand.newShape, to.rank * sizeof(to.dims[0]));
    if (!shape_broadcasts_to(c->graph, input_type(c, 0), &to))
        return call_error(c, "the shape of input, %s, is not broadcastable to %s", SHAPE_PRINT(input_type(c, 0)),
                          SHAPE_PRINT(&to));
    return infer_results(c, 1) && infer_result(c, 0, to.rank, to.dims);
}

bool check_elements(struct call *c, size_t count, const uint32_t *dims)
{
    const struct tensor_type *input = input_type(c, 0);

    if (dims_equal(c->graph, dims_elements(c->graph, count, dims), dims_elements(c->graph, input->rank, input->dims)) ==
        ANSWER_NO)
        return call_error(c, "newShape %s has another number of elements than input %s", DIMS_PRINT(count, dims),
                          SHAPE_PRINT(input));
    return true;
}

bool infer_reshape(struct call *c)
{
    const size_t count = c->args.reshape.newShapeCount;
    const uint32_t *dims = c->args.reshape.newShape;
    const struct tensor_type *input = input_type(c, 0);
    int64_t product = 1;

    if (!check_new_rank(c, count) || !check_new_shape(c, count, dims))
        return false;
    if (type_is_open(input))
        return check_elements(c, count, dims) && infer_results(c, 1) && infer_result(c, 0, (uint32_t)count, dims);
    for (size_t i = 0; i < count; i++)
        product = size_mul(product, dims[i]);
    if (product != type_elements(input))
        return call_error(c, "newShape %s has %s%" PRId64 " elements, input %s has %" PRId64, DIMS_PRINT(count, dims),
                          product == SIZE_HUGE ? "more than " : "", product, SHAPE_PRINT(input), type_elements(input));
    return infer_results(c, 1) && infer_result(c, 0, (uint32_t)count, dims);
}

/** Returns what a dimension is at most. */
static uint32_t most_of(uint32_t dim)
{
    return dim_is_open(dim) ? ELEMENT_COUNT_MAX : dim;
}

bool infer_pad(struct call *c)
{
    WNNPadOptions *o = c->options;
    const struct tensor_type *input = input_type(c, 0);
    const uint32_t *beginning = c->args.pad.beginningPadding, *ending = c->args.pad.endingPadding;
    uint32_t dims[RANK_MAX];

    if (!check_list_size(c, "beginningPadding", c->args.pad.beginningPaddingCount, input->rank) ||
        !check_list_size(c, "endingPadding", c->args.pad.endingPaddingCount, input->rank))
        return false;
    for (uint32_t i = 0; i < input->rank; i++) {
        if (o->mode == WNNPaddingMode_Reflection) {
            /* The edge itself is not repeated, so there is one element less than the dimension to mirror. */
            if (beginning[i] >= most_of(input->dims[i]))
                return call_error(c,
                                  "beginningPadding[%" PRIu32 "] is %" PRIu32 ", reflection of dimension %" PRIu32
                                  " of input allows less than %" PRIu32,
                                  i, beginning[i], i, most_of(input->dims[i]));
            if (ending[i] >= most_of(input->dims[i]))
                return call_error(c,
                                  "endingPadding[%" PRIu32 "] is %" PRIu32 ", reflection of dimension %" PRIu32
                                  " of input allows less than %" PRIu32,
                                  i, ending[i], i, most_of(input->dims[i]));
        }
    }
    for (uint32_t i = 0; i < input->rank; i++)
        if (!dim_add(c, input->dims[i], (int64_t)beginning[i] + ending[i], "a padded dimension", &dims[i]))
            return false;
    o->value = cast_number(c, o->value.type ? o->value : wnnNumber(0.0));
    return infer_results(c, 1) && infer_result(c, 0, input->rank, dims);
}

bool infer_reverse(struct call *c)
{
    WNNReverseOptions *o = c->options;

    return axes_default(c, LIST_OPTION(o, axes), 0, input_type(c, 0)->rank) && infer_result_like(c, 0);
}

bool infer_slice(struct call *c)
{
    WNNSliceOptions *o = c->options;
    const struct tensor_type *input = input_type(c, 0);
    const uint32_t *starts = c->args.slice.starts, *sizes = c->args.slice.sizes;
    uint32_t dims[RANK_MAX];

    if (!check_list_positive(c, "sizes", c->args.slice.sizesCount, sizes) ||
        !check_list_size(c, "starts", c->args.slice.startsCount, input->rank) ||
        !check_list_size(c, "sizes", c->args.slice.sizesCount, input->rank) ||
        !list_default_fill(c, LIST_OPTION(o, strides), input->rank, 1))
        return false;
    for (uint32_t i = 0; i < input->rank; i++) {
        if (!o->strides[i])
            return call_error(c, "strides[%" PRIu32 "] is 0", i);
        if ((uint64_t)starts[i] + sizes[i] > most_of(input->dims[i]))
            return call_error(
                c, "starts[%" PRIu32 "] + sizes[%" PRIu32 "] is %" PRIu64 ", dimension %" PRIu32 " of input is %" PRIu32, i, i,
                (uint64_t)starts[i] + sizes[i], i, most_of(input->dims[i]));
        dims[i] = sizes[i] / o->strides[i] + (sizes[i] % o->strides[i] != 0);
    }
    return infer_results(c, 1) && infer_result(c, 0, input->rank, dims);
}

/** Sets the results of a split of an open dimension into equal parts, whose list of sizes is made when the size is known. */
static bool split_open(struct call *c, uint32_t size, uint32_t parts)
{
    const uint32_t axis = ((WNNSplitOptions *)c->options)->axis;
    struct tensor_type part = *input_type(c, 0);
    struct graph *g = c->graph;

    if (!check_open(c, dims_divide(g, dims_of(g, size), dims_constant(g, parts)), "a part", &part.dims[axis]) ||
        !infer_results(c, parts))
        return false;
    for (uint32_t i = 0; i < parts; i++)
        c->results[i] = part;
    return true;
}

/** Turns "so many equal parts" into the list of their sizes, so that later stages need not know the short form. */
static bool split_equal(struct call *c, uint32_t size, uint32_t parts)
{
    if (parts > TENSOR_COUNT_MAX)
        return call_error(c, "splits is %" PRIu32 ", not from 1 to %d", parts, TENSOR_COUNT_MAX);
    if (dim_is_open(size))
        return split_open(c, size, parts);
    if (size % parts)
        return call_error(c, "dimension %" PRIu32 " of input is %" PRIu32 ", not divisible into %" PRIu32 " equal parts",
                          ((WNNSplitOptions *)c->options)->axis, size, parts);
    uint32_t *splits = arena_array(&c->graph->arena, parts, sizeof(*splits));
    if (!splits)
        return error_out_of_memory(c->error);
    for (uint32_t i = 0; i < parts; i++)
        splits[i] = size / parts;
    c->args.split.splits = splits;
    c->args.split.splitsCount = parts;
    c->args.split.equal = 0;
    return true;
}

bool infer_split(struct call *c)
{
    const uint32_t axis = ((WNNSplitOptions *)c->options)->axis;
    struct tensor_type part = *input_type(c, 0);
    int64_t sum = 0;

    if (!check_axis(c, axis, 0))
        return false;
    if (c->args.split.equal && (!split_equal(c, part.dims[axis], c->args.split.equal) || c->args.split.equal))
        return !c->error->status;
    if (!c->args.split.splitsCount || c->args.split.splitsCount > TENSOR_COUNT_MAX)
        return call_error(c, "the number of splits is %zu, not from 1 to %d", c->args.split.splitsCount, TENSOR_COUNT_MAX);
    if (!check_list_positive(c, "splits", c->args.split.splitsCount, c->args.split.splits))
        return false;
    for (size_t i = 0; i < c->args.split.splitsCount; i++)
        sum += c->args.split.splits[i];
    if (sum != part.dims[axis] && (sum > ELEMENT_COUNT_MAX || dim_differs(c->graph, part.dims[axis], (uint32_t)sum)))
        return call_error(c, "the sum of splits is %" PRId64 ", dimension %" PRIu32 " of input is %s", sum, axis,
                          DIM_PRINT(part.dims[axis]));
    if (!infer_results(c, (uint32_t)c->args.split.splitsCount))
        return false;
    for (uint32_t i = 0; i < c->result_count; i++) {
        part.dims[axis] = c->args.split.splits[i];
        c->results[i] = part;
    }
    return true;
}

bool infer_tile(struct call *c)
{
    const struct tensor_type *input = input_type(c, 0);
    const uint32_t *repetitions = c->args.tile.repetitions;
    uint32_t dims[RANK_MAX];

    if (!check_list_size(c, "repetitions", c->args.tile.repetitionsCount, input->rank) ||
        !check_list_positive(c, "repetitions", input->rank, repetitions))
        return false;
    for (uint32_t i = 0; i < input->rank; i++)
        if (!dim_scale(c, input->dims[i], repetitions[i], "a repeated dimension", &dims[i]))
            return false;
    return infer_results(c, 1) && infer_result(c, 0, input->rank, dims);
}

bool infer_transpose(struct call *c)
{
    WNNTransposeOptions *o = c->options;
    const struct tensor_type *input = input_type(c, 0);
    uint32_t dims[RANK_MAX];

    for (uint32_t i = 0; i < input->rank; i++)
        dims[i] = input->rank - 1 - i;
    if (!list_default(c, LIST_OPTION(o, permutation), input->rank, dims) ||
        !check_axes(c, "permutation", input->rank, o->permutation, input->rank))
        return false;
    for (uint32_t i = 0; i < input->rank; i++)
        dims[i] = input->dims[o->permutation[i]];
    return infer_results(c, 1) && infer_result(c, 0, input->rank, dims);
}

/** Scales an open dimension; by a factor with a fraction the size is known when the dimension is. */
static bool resample_open(struct call *c, uint32_t dim, double scale, uint32_t *out)
{
    struct graph *g = c->graph;

    if (scale == floor(scale) && scale <= ELEMENT_COUNT_MAX)
        return dim_scale(c, dim, (int64_t)scale, "a resampled dimension", out);
    return check_open(c, dims_unknown(g, 1, ELEMENT_COUNT_MAX), "a resampled dimension", out);
}

/*
 * Infers resample2d.  The scale is output size / input size in any case (specification, mode), so sizes is always filled in and
 * all that later stages need.  The text once spoke of consecutive axes; neither the steps nor the test suite ask for that.
 */
bool infer_resample2d(struct call *c)
{
    WNNResample2dOptions *o = c->options;
    const struct tensor_type *input = input_type(c, 0);
    const uint32_t default_axes[2] = {2, 3};
    uint32_t dims[RANK_MAX], sizes[2];

    if (o->scales) {
        if (!check_list_size(c, "scales", o->scalesCount, 2))
            return false;
        for (int i = 0; i < 2; i++)
            if (!(o->scales[i] > 0))
                return call_error(c, "scales[%d] is %g, not greater than 0", i, (double)o->scales[i]);
    } else {
        static const float ones[2] = {1.0f, 1.0f};

        o->scales = arena_copy(&c->graph->arena, ones, sizeof(ones));
        o->scalesCount = 2;
        if (!o->scales)
            return error_out_of_memory(c->error);
    }
    if (o->sizes && (!check_list_size(c, "sizes", o->sizesCount, 2) || !check_list_positive(c, "sizes", 2, o->sizes)))
        return false;
    if (!list_default(c, LIST_OPTION(o, axes), 2, default_axes) || !check_axes(c, "axes", 2, o->axes, input->rank))
        return false;
    memcpy(dims, input->dims, sizeof(dims));
    for (int i = 0; i < 2; i++) {
        uint32_t *dim = &dims[o->axes[i]];

        if (!o->sizes && dim_is_open(*dim)) {
            if (!resample_open(c, *dim, (double)o->scales[i], dim))
                return false;
            continue;
        }
        /* A float times an integer below 2^31 is exact in double: 24 + 31 significant bits are not, but the floor is taken
         * of the correctly rounded product, as in JavaScript. */
        double size = o->sizes ? o->sizes[i] : floor((double)input->dims[o->axes[i]] * (double)o->scales[i]);

        if (!check_dimension(c, size < (double)SIZE_HUGE ? (int64_t)size : SIZE_HUGE, "a resampled dimension"))
            return false;
        dims[o->axes[i]] = sizes[i] = (uint32_t)size;
    }
    return (type_is_open(input) || list_default(c, LIST_OPTION(o, sizes), 2, sizes)) && infer_results(c, 1) &&
           infer_result(c, 0, input->rank, dims);
}
