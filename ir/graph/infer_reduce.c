/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Validates argMin, argMax, the reductions, softmax and the normalisations, and infers their shapes. */
#include "ir/graph/infer_steps.h"

#include "ir/graph/conv.h"

/** Does "calculate reduction output sizes" for checked axes, and sets the result. */
static bool reduced_result(struct call *c, size_t count, const uint32_t *axes, bool keep)
{
    const struct tensor_type *input = input_type(c, 0);
    uint32_t dims[RANK_MAX], rank = 0, reduced = 0;

    for (size_t i = 0; i < count; i++)
        reduced |= 1u << axes[i];
    for (uint32_t i = 0; i < input->rank; i++)
        if (!(reduced & 1u << i))
            dims[rank++] = input->dims[i];
        else if (keep)
            dims[rank++] = 1;
    return infer_results(c, 1) && infer_result(c, 0, rank, dims);
}

bool infer_arg_min_max(struct call *c)
{
    WNNArgMinMaxOptions *o = c->options;
    const uint32_t axis = c->args.argMin.axis;

    if (!check_axis(c, axis, 0))
        return false;
    if ((unsigned)o->outputDataType >= DTYPE_COUNT || !(op_infos[c->op].outs[0].types & 1u << o->outputDataType))
        return call_error(c, "outputDataType is %s, not int32 or int64", dtype_name(o->outputDataType));
    /* The step "if the dimension exceeds the output type's maximum" never applies: no dimension exceeds an int32. */
    if (!reduced_result(c, 1, &axis, o->keepDimensions))
        return false;
    c->results[0].type = o->outputDataType;
    return true;
}

bool infer_reduce(struct call *c)
{
    WNNReduceOptions *o = c->options;

    return axes_default(c, LIST_OPTION(o, axes), 0, input_type(c, 0)->rank) &&
           reduced_result(c, o->axesCount, o->axes, o->keepDimensions);
}

bool infer_softmax(struct call *c)
{
    return check_axis(c, c->args.softmax.axis, 0) && infer_result_like(c, 0);
}

/** Checks mean, variance, scale and bias of batchNormalization, or scale and bias of instanceNormalization. */
static bool check_per_channel(struct call *c, uint32_t first_slot, uint32_t axis)
{
    for (uint32_t slot = first_slot; slot < c->input_count; slot++)
        if (input_exists(c, slot) && !check_shape(c, slot, 1, &input_type(c, 0)->dims[axis]))
            return false;
    return true;
}

bool infer_batch_normalization(struct call *c)
{
    WNNBatchNormalizationOptions *o = c->options;

    if (!check_axis(c, o->axis, 0) || !check_per_channel(c, 1, o->axis))
        return false;
    o->epsilon = cast_option(c, o->epsilon);
    return infer_result_like(c, 0);
}

bool infer_instance_normalization(struct call *c)
{
    WNNInstanceNormalizationOptions *o = c->options;

    o->epsilon = cast_option(c, o->epsilon);
    return check_per_channel(c, 1, image_axes(o->layout)[AXIS_CHANNEL]) && infer_result_like(c, 0);
}

bool infer_layer_normalization(struct call *c)
{
    WNNLayerNormalizationOptions *o = c->options;
    const struct tensor_type *input = input_type(c, 0);
    uint32_t dims[RANK_MAX];

    if (!axes_default(c, LIST_OPTION(o, axes), 1, input->rank))
        return false;
    o->epsilon = cast_option(c, o->epsilon);
    /* scale and bias have the sizes in the order of axes, which need not be ascending. */
    for (size_t i = 0; i < o->axesCount; i++)
        dims[i] = input->dims[o->axes[i]];
    for (uint32_t slot = 1; slot < c->input_count; slot++)
        if (input_exists(c, slot) && !check_shape(c, slot, (uint32_t)o->axesCount, dims))
            return false;
    return infer_result_like(c, 0);
}
