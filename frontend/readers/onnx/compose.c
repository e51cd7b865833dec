/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements builder calls in short form (compose.h).  Errors are the builder's to keep.
 */
#include "frontend/readers/onnx/compose.h"
#include "frontend/readers/onnx/open.h"
#include "ir/support/dtype.h"
#include "webnn/webnn_draft.h"

struct onnx_dims onnx_dims_of(struct onnx_node *n, WNNOperand operand)
{
    struct onnx_dims dims = {0, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
    size_t rank = wnnOperandGetRank(operand);

    if (wnnOperandIsError(operand) || rank > ONNX_RANK_MAX)
        return dims;
    dims.rank = rank;
    for (size_t i = 0; i < rank; i++)
        dims.at[i] = onnx_dimension(n, operand, i);
    return dims;
}

uint32_t onnx_dims_product(struct onnx_node *n, const struct onnx_dims *dims, size_t from, size_t to)
{
    int64_t product = 1;

    for (size_t i = from; i < to; i++) {
        const bool open = onnx_is_open(product) || onnx_is_open(dims->at[i]);

        product = open ? onnx_compute_size(n, '*', product, dims->at[i]) : product * dims->at[i];
        if (!open && product > INT32_MAX) {
            onnx_refuse(n, "a tensor would have more than %d elements", INT32_MAX);
            return 1;
        }
    }
    return (uint32_t)product;
}

WNNOperand onnx_linear(struct onnx_node *n, WNNOperand x, double factor, double addend)
{
    WNNLinearOptions o = WNN_LINEAR_OPTIONS_INIT;

    o.label = n->label;
    o.alpha = factor;
    o.beta = addend;
    return wnnGraphBuilderLinear(n->builder, x, &o);
}

WNNOperand onnx_expand(struct onnx_node *n, WNNOperand operand, struct onnx_dims dims)
{
    struct onnx_dims have = onnx_dims_of(n, operand);
    bool same = have.rank == dims.rank && !wnnOperandIsError(operand);

    for (size_t i = 0; same && i < dims.rank; i++)
        same = have.at[i] == dims.at[i];
    if (!same && onnx_any_open(dims.rank, dims.at))
        return wnnGraphBuilderExpandDynamic(n->builder, operand, onnx_sizes_operand(n, dims.rank, dims.at), n->options);
    return same ? operand : wnnGraphBuilderExpand(n->builder, operand, dims.rank, dims.at, n->options);
}

WNNOperand onnx_gather(struct onnx_node *n, WNNOperand x, WNNOperand indices, uint32_t axis)
{
    return wnnGraphBuilderGather(n->builder, x, indices,
                                 &(WNNGatherOptions){.structSize = sizeof(WNNGatherOptions), .label = n->label, .axis = axis});
}

WNNOperand onnx_gather_elements(struct onnx_node *n, WNNOperand x, WNNOperand indices, uint32_t axis)
{
    const WNNGatherOptions o = {.structSize = sizeof o, .label = n->label, .axis = axis};

    return wnnGraphBuilderGatherElements(n->builder, x, indices, &o);
}

WNNOperand onnx_scatter_elements(struct onnx_node *n, WNNOperand x, WNNOperand indices, WNNOperand updates, uint32_t axis)
{
    const WNNScatterOptions o = {.structSize = sizeof o, .label = n->label, .axis = axis};

    return wnnGraphBuilderScatterElements(n->builder, x, indices, updates, &o);
}

WNNOperand onnx_sum_before(struct onnx_node *n, WNNOperand x)
{
    const WNNCumulativeSumOptions o = {.structSize = sizeof o, .label = n->label, .exclusive = true};

    return wnnGraphBuilderCumulativeSum(n->builder, x, 0, &o);
}

WNNOperand onnx_divide(struct onnx_node *n, WNNOperand x, uint32_t number, WNNOperand *rest)
{
    const WNNOperand by = onnx_scalar_like(n, x, number), quotient = onnx_div(n, x, by);

    if (rest)
        *rest = onnx_sub(n, x, onnx_mul(n, quotient, by));
    return quotient;
}

WNNOperand onnx_arg_max(struct onnx_node *n, WNNOperand x, uint32_t axis)
{
    const WNNArgMinMaxOptions o = {
        .structSize = sizeof o, .label = n->label, .keepDimensions = true, .outputDataType = WNNOperandDataType_Int32};

    return wnnGraphBuilderArgMax(n->builder, x, axis, &o);
}

WNNOperand onnx_reverse(struct onnx_node *n, WNNOperand x, size_t count, const uint32_t *axes)
{
    return wnnGraphBuilderReverse(n->builder, x, &(WNNReverseOptions){.label = n->label, .axesCount = count, .axes = axes});
}

WNNOperand onnx_gather_constant(struct onnx_node *n, WNNOperand operand, uint32_t axis, uint32_t count, const int32_t *indices)
{
    return onnx_gather(n, operand, onnx_constant_operand(n, WNNOperandDataType_Int32, 1, &count, indices), axis);
}

WNNOperand onnx_pad(struct onnx_node *n, WNNOperand operand, struct onnx_dims before, struct onnx_dims after, double value)
{
    WNNPadOptions o = WNN_PAD_OPTIONS_INIT;
    bool none = true;

    for (size_t i = 0; i < before.rank; i++)
        none = none && !before.at[i] && !after.at[i];
    if (none)
        return operand;
    if (onnx_any_open(before.rank, before.at) || onnx_any_open(after.rank, after.at))
        return value != 0 ? (onnx_refuse_open(n), onnx_error_operand(n))
                          : wnnGraphBuilderPadDynamic(n->builder, operand, onnx_sizes_operand(n, before.rank, before.at),
                                                      onnx_sizes_operand(n, after.rank, after.at), n->options);
    o.label = n->label;
    o.value = wnnNumber(value);
    return wnnGraphBuilderPad(n->builder, operand, before.rank, before.at, after.rank, after.at, &o);
}

WNNOperand onnx_clamp(struct onnx_node *n, WNNOperand x, double low, double high)
{
    WNNClampOptions o = WNN_CLAMP_OPTIONS_INIT;

    o.label = n->label;
    o.minValue = wnnNumber(low);
    o.maxValue = wnnNumber(high);
    return wnnGraphBuilderClamp(n->builder, x, &o);
}

WNNOperand onnx_reduce(struct onnx_node *n, onnx_reduction reduce, WNNOperand x, size_t count, const uint32_t *axes)
{
    WNNReduceOptions o = WNN_REDUCE_OPTIONS_INIT;
    static const uint32_t none[1];

    o.label = n->label;
    o.axesCount = count;
    o.axes = axes ? axes : none;
    o.keepDimensions = true;
    if (wnnOperandGetDataType(x) == DTYPE_FLOAT64) /* which reductions do not take */
        return onnx_cast(n, reduce(n->builder, onnx_cast(n, x, WNNOperandDataType_Float32), &o), DTYPE_FLOAT64);
    return reduce(n->builder, x, &o);
}

WNNOperand onnx_reduce_axis(struct onnx_node *n, onnx_reduction reduce, WNNOperand x, uint32_t axis)
{
    return onnx_reduce(n, reduce, x, 1, &axis);
}

WNNOperand onnx_iota(struct onnx_node *n, WNNOperandDataType type, size_t rank, size_t axis, uint32_t count)
{
    struct onnx_dims dims = {rank, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
    enum onnx_type element = onnx_type_of(type);
    if (onnx_is_open(count)) {
        const WNNOperandDataType i64 = WNNOperandDataType_Int64;
        WNNOperand x = wnnGraphBuilderRange(n->builder, onnx_scalar(n, i64, 0), onnx_size_scalar(n, count, i64),
                                            onnx_scalar(n, i64, 1), n->options);

        dims.at[axis] = count;
        return onnx_reshape_to(n, onnx_cast(n, x, type), dims);
    }
    void *data = onnx_alloc(n, count, dtype_size(type));

    if (!data)
        return onnx_error_operand(n);
    for (uint32_t i = 0; i < count; i++)
        onnx_store_int(element, data, i, i);
    dims.at[axis] = count;
    return onnx_constant_operand(n, type, rank, dims.at, data);
}

WNNOperand onnx_along_axis(struct onnx_node *n, WNNOperand vector, size_t rank, size_t axis)
{
    struct onnx_dims have = onnx_dims_of(n, vector), dims = {rank, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

    if (rank)
        dims.at[axis] = onnx_dims_product(n, &have, 0, have.rank);
    return onnx_reshape_to(n, vector, dims);
}

static WNNOperand move_axis(struct onnx_node *n, WNNOperand x, size_t from, size_t to)
{
    const size_t rank = onnx_dims_of(n, x).rank;
    uint32_t permutation[ONNX_RANK_MAX];

    for (size_t i = 0; i < rank; i++)
        permutation[i] = (uint32_t)(i == to ? from : from <= i && i < to ? i + 1 : to < i && i <= from ? i - 1 : i);
    return onnx_transpose(n, x, rank, permutation);
}

WNNOperand onnx_channels_second(struct onnx_node *n, WNNOperand x)
{
    const size_t rank = onnx_dims_of(n, x).rank;

    return rank < 3 ? x : move_axis(n, x, rank - 1, 1);
}

WNNOperand onnx_channels_last(struct onnx_node *n, WNNOperand x)
{
    const size_t rank = onnx_dims_of(n, x).rank;

    return rank < 3 ? x : move_axis(n, x, 1, rank - 1);
}

WNNOperand onnx_scale_bias(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand bias)
{
    if (scale)
        x = onnx_mul(n, x, scale);
    return bias ? onnx_add(n, x, bias) : x;
}

WNNOperand onnx_matrix_multiply(struct onnx_node *n, WNNOperand a, WNNOperand b)
{
    WNNOperandDataType type = wnnOperandGetDataType(a);
    struct onnx_dims da = onnx_dims_of(n, a), db = onnx_dims_of(n, b), dims;

    if (onnx_type_is_float(onnx_type_of(type)))
        return onnx_matmul(n, a, b);
    if (da.rank < 2 || db.rank < 2)
        return onnx_refuse_operand(n, "an operand is not a matrix");
    if (da.rank == ONNX_RANK_MAX || db.rank == ONNX_RANK_MAX)
        return onnx_refuse_operand(n, "integer matrices of rank %d: multiplying them takes one dimension more", ONNX_RANK_MAX);
    if (da.at[da.rank - 1] != db.at[db.rank - 2])
        return onnx_refuse_operand(n, "%u columns times %u rows", da.at[da.rank - 1], db.at[db.rank - 2]);
    da.at[da.rank++] = 1;
    db.rank++;
    db.at[db.rank - 1] = db.at[db.rank - 2];
    db.at[db.rank - 2] = db.at[db.rank - 3];
    db.at[db.rank - 3] = 1;
    a = onnx_mul(n, onnx_reshape_to(n, a, da), onnx_reshape_to(n, b, db));
    dims = onnx_dims_of(n, a);
    if (dims.rank < 3)
        return a;
    uint32_t axis = (uint32_t)dims.rank - 2;
    a = onnx_reduce_axis(n, wnnGraphBuilderReduceSum, a, axis);
    dims.at[axis] = dims.at[axis + 1];
    dims.rank--;
    return onnx_reshape_to(n, a, dims);
}
