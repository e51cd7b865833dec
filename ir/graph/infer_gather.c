/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Validates the operators that read or write at indices which are data, and infers their shapes. */
#include "ir/graph/infer_steps.h"

#include <inttypes.h>
#include <string.h>

/** Appends part of a shape; dims has room for the dimensions of two operands, and the rank is checked with the result. */
static void append_dims(uint32_t *dims, uint32_t *rank, const uint32_t *from, uint32_t count)
{
    memcpy(dims + *rank, from, count * sizeof(*from));
    *rank += count;
}

bool infer_gather(struct call *c)
{
    const struct tensor_type *input = input_type(c, 0), *indices = input_type(c, 1);
    const uint32_t axis = ((WNNGatherOptions *)c->options)->axis;
    uint32_t dims[2 * RANK_MAX], rank = 0;

    if (!check_axis(c, axis, 0))
        return false;
    append_dims(dims, &rank, input->dims, axis);
    append_dims(dims, &rank, indices->dims, indices->rank);
    append_dims(dims, &rank, input->dims + axis + 1, input->rank - axis - 1);
    return infer_results(c, 1) && infer_result(c, 0, rank, dims);
}

/** Checks that indices has the input's shape, but for the axis. */
static bool check_elements_indices(struct call *c, uint32_t axis)
{
    struct tensor_type expected = *input_type(c, 0);

    if (!check_axis(c, axis, 0))
        return false;
    expected.dims[axis] = input_type(c, 1)->dims[axis];
    return check_shape(c, 1, expected.rank, expected.dims);
}

bool infer_gather_elements(struct call *c)
{
    /* The text copies the input as the output, but the elements read are as many as there are indices, as the sections'
     * emulation and the test suite have it. */
    return check_elements_indices(c, ((WNNGatherOptions *)c->options)->axis) && infer_result_like(c, 1);
}

bool infer_scatter_elements(struct call *c)
{
    return check_elements_indices(c, ((WNNScatterOptions *)c->options)->axis) &&
           check_shape(c, 2, input_type(c, 1)->rank, input_type(c, 1)->dims) && infer_result_like(c, 0);
}

/* Updates cover a part of the input along the other axes, and an index along one of them may serve all updates. */
bool infer_scatter_reduce(struct call *c)
{
    const struct tensor_type *input = input_type(c, 0), *indices = input_type(c, 1), *updates = input_type(c, 2);
    const uint32_t axis = ((WNNScatterReduceOptions *)c->options)->axis;

    if (!check_axis(c, axis, 0))
        return false;
    for (uint32_t d = 0; d < input->rank; d++) {
        if (d != axis && dim_below(c->graph, input->dims[d], updates->dims[d]))
            return call_error(c, "dimension %" PRIu32 " of updates is %s, of input %s", d, DIM_PRINT(updates->dims[d]),
                              DIM_PRINT(input->dims[d]));
        if (dim_differs(c->graph, indices->dims[d], updates->dims[d]) &&
            (d == axis || dim_differs(c->graph, indices->dims[d], 1)))
            return call_error(c, "dimension %" PRIu32 " of indices is %s, of updates %s", d, DIM_PRINT(indices->dims[d]),
                              DIM_PRINT(updates->dims[d]));
    }
    return infer_result_like(c, 0);
}

/** Makes the shape of what gatherND reads and scatterND writes: indices but its last dimension, then what they leave. */
static bool nd_shape(struct call *c, uint32_t dims[2 * RANK_MAX], uint32_t *rank)
{
    const struct tensor_type *input = input_type(c, 0), *indices = input_type(c, 1);
    const uint32_t coordinate = indices->dims[indices->rank - 1];

    if (dim_is_open(coordinate))
        return call_error(c, "the last dimension of indices is %s, but determines a rank: it must be a number",
                          DIM_PRINT(coordinate));
    if (coordinate > input->rank)
        return call_error(c, "the last dimension of indices is %" PRIu32 ", the rank of input is %" PRIu32, coordinate,
                          input->rank);
    *rank = 0;
    append_dims(dims, rank, indices->dims, indices->rank - 1);
    append_dims(dims, rank, input->dims + coordinate, input->rank - coordinate);
    return true;
}

bool infer_gather_nd(struct call *c)
{
    uint32_t dims[2 * RANK_MAX], rank = 0;

    return nd_shape(c, dims, &rank) && infer_results(c, 1) && infer_result(c, 0, rank, dims);
}

bool infer_scatter_nd(struct call *c)
{
    uint32_t dims[2 * RANK_MAX], rank = 0;

    /* How many dimensions a coordinate has may be known when the graph computes: the result does not depend on it. */
    if (dim_is_open(input_type(c, 1)->dims[input_type(c, 1)->rank - 1]))
        return infer_result_like(c, 0);
    return nd_shape(c, dims, &rank) && check_shape(c, 2, rank, dims) && infer_result_like(c, 0);
}
