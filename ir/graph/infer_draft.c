/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Validates the operators of ops_draft.def, whose sizes are values (dims.h), and infers their shapes. */
#include "ir/graph/infer_steps.h"

#include <inttypes.h>

/** Returns the elements of the operand in that slot, whose number is set, or NULL after an error. */
static const dim_expr *size_values(struct call *c, uint32_t slot, size_t *count)
{
    const char *name = op_infos[c->op].ins[slot].name;
    const struct tensor_type *t = input_type(c, slot);
    const dim_expr *values = dims_begin(c->graph) ? dims_values(c->graph, c->inputs[slot]) : NULL;

    *count = t->rank ? t->dims[0] : 1;
    if (values)
        return values;
    if (c->graph->error.status)
        error_out_of_memory(c->error);
    else if (dim_is_open((uint32_t)*count))
        call_error(c, "%s has %s elements, but they determine a rank: it must be a number", name, DIM_PRINT(t->dims[0]));
    else if (*count > DIM_VALUES_MAX)
        call_error(c, "%s has %zu elements, more than the %d that can be sizes", name, *count, DIM_VALUES_MAX);
    else
        call_error(c, "%s depends on values of inputs; sizes may depend on shapes and constants only", name);
    return NULL;
}

/** Does the same, and checks that there is an element for each dimension of input 0. */
static const dim_expr *rank_values(struct call *c, uint32_t slot)
{
    size_t count;
    const dim_expr *values = size_values(c, slot, &count);

    return values && check_list_size(c, op_infos[c->op].ins[slot].name, count, input_type(c, 0)->rank) ? values : NULL;
}

static bool draft_result(struct call *c, uint32_t rank, const uint32_t *dims)
{
    return infer_results(c, 1) && infer_result(c, 0, rank, dims);
}

bool infer_shape(struct call *c)
{
    return (dims_begin(c->graph) || error_out_of_memory(c->error)) && draft_result(c, 1, &input_type(c, 0)->rank);
}

bool infer_range(struct call *c)
{
    struct graph *g = c->graph;
    const dim_expr *values[3];
    int64_t delta;
    uint32_t dim;
    size_t count;

    for (uint32_t i = 0; i < 3; i++)
        if (!(values[i] = size_values(c, i, &count)))
            return false;
    if (!dims_is_constant(g, *values[2], &delta))
        return check_open(c, dims_unknown(g, 1, ELEMENT_COUNT_MAX), "the length", &dim) && draft_result(c, 1, &dim);
    if (!delta)
        return call_error(c, "delta is 0");
    const int64_t sign = delta < 0 ? -1 : 1;
    return check_open(c, dims_divide_up(g, dims_sum(g, sign, *values[1], -sign, *values[0]), sign * delta), "the length",
                      &dim) &&
           draft_result(c, 1, &dim);
}

bool infer_squeeze(struct call *c)
{
    const struct tensor_type *input = input_type(c, 0);
    const uint32_t *axes = c->args.squeeze.axes;
    uint32_t dims[RANK_MAX], rank = 0, gone = 0;

    if (!check_axes(c, "axes", c->args.squeeze.axesCount, axes, input->rank))
        return false;
    for (size_t i = 0; i < c->args.squeeze.axesCount; i++) {
        if (dim_differs(c->graph, input->dims[axes[i]], 1))
            return call_error(c, "dimension %" PRIu32 " of input is %s, not 1", axes[i], DIM_PRINT(input->dims[axes[i]]));
        gone |= 1u << axes[i];
    }
    for (uint32_t i = 0; i < input->rank; i++) {
        if (!gone && dim_is_open(input->dims[i]) && !dim_differs(c->graph, input->dims[i], 1))
            return call_error(c, "dimension %" PRIu32 " of input is %s, which may be 1 or not: axes has to say which go", i,
                              DIM_PRINT(input->dims[i]));
        if (!(gone ? gone >> i & 1 : input->dims[i] == 1))
            dims[rank++] = input->dims[i];
    }
    return draft_result(c, rank, dims);
}

bool infer_unsqueeze(struct call *c)
{
    const struct tensor_type *input = input_type(c, 0);
    const size_t count = c->args.unsqueeze.axesCount;
    uint32_t dims[RANK_MAX] = {0}, at = 0;

    if (input->rank + count > RANK_MAX)
        return call_error(c, "the rank of output would be %zu, the largest supported is %d", input->rank + count, RANK_MAX);
    if (!check_axes(c, "axes", count, c->args.unsqueeze.axes, input->rank + (uint32_t)count))
        return false;
    for (size_t i = 0; i < count; i++)
        dims[c->args.unsqueeze.axes[i]] = 1;
    for (uint32_t i = 0; i < input->rank + count; i++)
        if (!dims[i])
            dims[i] = input->dims[at++];
    return draft_result(c, at + (uint32_t)count, dims);
}

bool infer_reshape_to_2d(struct call *c)
{
    const uint32_t axis = c->args.reshapeTo2d.axis;
    const struct tensor_type *input = input_type(c, 0);
    uint32_t dims[2];

    if (axis > input->rank)
        return call_error(c, "axis %" PRIu32 " is out of range, input has rank %" PRIu32, axis, input->rank);
    if (!dims_begin(c->graph))
        return error_out_of_memory(c->error);
    return check_open(c, dims_elements(c->graph, axis, input->dims), "the number of rows", &dims[0]) &&
           check_open(c, dims_elements(c->graph, input->rank - axis, input->dims + axis), "the number of columns", &dims[1]) &&
           draft_result(c, 2, dims);
}

/** Makes the dimensions that newShape says. */
static bool new_shape(struct call *c, struct tensor_type *to)
{
    size_t count;
    const dim_expr *values = size_values(c, 1, &count);

    if (!values)
        return false;
    if (count > RANK_MAX)
        return call_error(c, "newShape has %zu dimensions, the largest supported rank is %d", count, RANK_MAX);
    to->rank = (uint32_t)count;
    for (uint32_t i = 0; i < to->rank; i++)
        if (!check_open(c, values[i], "a dimension of newShape", &to->dims[i]))
            return false;
    return true;
}

bool infer_reshape_dynamic(struct call *c)
{
    struct tensor_type to = {0};

    return new_shape(c, &to) && check_elements(c, to.rank, to.dims) && draft_result(c, to.rank, to.dims);
}

bool infer_expand_dynamic(struct call *c)
{
    struct tensor_type to = {0};

    if (!new_shape(c, &to))
        return false;
    if (!shape_broadcasts_to(c->graph, input_type(c, 0), &to))
        return call_error(c, "the shape of input, %s, is not broadcastable to %s", SHAPE_PRINT(input_type(c, 0)),
                          SHAPE_PRINT(&to));
    return draft_result(c, to.rank, to.dims);
}

bool infer_slice_dynamic(struct call *c)
{
    const WNNSliceOptions *o = c->options;
    const struct tensor_type *input = input_type(c, 0);
    const dim_expr *starts = rank_values(c, 1), *sizes = starts ? rank_values(c, 2) : NULL;
    struct graph *g = c->graph;
    uint32_t dims[RANK_MAX];

    if (!sizes || (o->strides && (!check_list_size(c, "strides", o->stridesCount, input->rank) ||
                                  !check_list_positive(c, "strides", o->stridesCount, o->strides))))
        return false;
    for (uint32_t i = 0; i < input->rank; i++) {
        const dim_expr end = dims_sum(g, 1, starts[i], 1, sizes[i]);

        if (!check_open(c, dims_divide_up(g, sizes[i], o->strides ? o->strides[i] : 1), "a slice", &dims[i]))
            return false;
        if (dims_at_least(g, dims_of(g, input->dims[i]), end) == ANSWER_NO || dims_at_least(g, end, sizes[i]) == ANSWER_NO)
            return call_error(c, "starts[%" PRIu32 "] + sizes[%" PRIu32 "] is not within dimension %" PRIu32 " of input, %s", i,
                              i, i, DIM_PRINT(input->dims[i]));
    }
    return draft_result(c, input->rank, dims);
}

bool infer_pad_dynamic(struct call *c)
{
    const struct tensor_type *input = input_type(c, 0);
    const dim_expr *beginning = rank_values(c, 1), *ending = beginning ? rank_values(c, 2) : NULL;
    struct graph *g = c->graph;
    uint32_t dims[RANK_MAX];

    for (uint32_t i = 0; ending && i < input->rank; i++)
        if (!check_open(c, dims_sum(g, 1, dims_of(g, input->dims[i]), 1, dims_sum(g, 1, beginning[i], 1, ending[i])),
                        "a padded dimension", &dims[i]))
            return false;
    return ending && draft_result(c, input->rank, dims);
}

bool infer_split_dynamic(struct call *c)
{
    const uint32_t axis = ((WNNSplitOptions *)c->options)->axis;
    struct tensor_type part = *input_type(c, 0);
    const uint32_t whole = axis < part.rank ? part.dims[axis] : 0;
    struct graph *g = c->graph;
    size_t count;

    if (!check_axis(c, axis, 0))
        return false;
    const dim_expr *splits = size_values(c, 1, &count);
    if (!splits || !infer_results(c, (uint32_t)count))
        return false;
    dim_expr sum = dims_constant(g, 0);
    for (uint32_t i = 0; i < count; i++) {
        if (!check_open(c, splits[i], "a part", &part.dims[axis]))
            return false;
        sum = dims_sum(g, 1, sum, 1, splits[i]);
        c->results[i] = part;
    }
    return dims_equal(g, sum, dims_of(g, whole)) != ANSWER_NO ||
           call_error(c, "the sum of splits is not dimension %" PRIu32 " of input, %s", axis, DIM_PRINT(whole));
}

bool infer_resample2d_dynamic(struct call *c)
{
    const WNNResample2dDynamicOptions *o = c->options;
    WNNResample2dOptions fixed = WNN_RESAMPLE2D_OPTIONS_INIT;
    struct call resample = *c;
    size_t count;

    fixed.mode = o->mode;
    fixed.scalesCount = o->scalesCount;
    fixed.scales = o->scales;
    fixed.axesCount = o->axesCount;
    fixed.axes = o->axes;
    resample.options = &fixed;
    if (!infer_resample2d(&resample))
        return false;
    c->result_count = 1;
    c->results = resample.results;
    const dim_expr *sizes = input_exists(c, 1) ? size_values(c, 1, &count) : NULL;
    if (!sizes)
        return !input_exists(c, 1);
    if (!check_list_size(c, "sizes", count, 2))
        return false;
    for (int i = 0; i < 2; i++)
        if (!check_open(c, sizes[i], "a resampled dimension", &c->results[0].dims[fixed.axes[i]]))
            return false;
    return true;
}

bool infer_tile_dynamic(struct call *c)
{
    const struct tensor_type *input = input_type(c, 0);
    const dim_expr *repetitions = rank_values(c, 1);
    struct graph *g = c->graph;
    uint32_t dims[RANK_MAX];

    for (uint32_t i = 0; repetitions && i < input->rank; i++)
        if (!check_open(c, dims_product(g, dims_of(g, input->dims[i]), repetitions[i]), "a repeated dimension", &dims[i]))
            return false;
    return repetitions && draft_result(c, input->rank, dims);
}
