/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Validates conv2d, convTranspose2d and pooling, everything with padding, strides and dilations, and infers their shapes. */
#include "ir/graph/infer_steps.h"

#include <inttypes.h>

#include "ir/graph/conv.h"

/** This is a shape in the order of its axes. */
struct ordered {
    uint32_t dims[4];
};

static struct ordered in_order(const struct tensor_type *t, const uint32_t *axes)
{
    return (struct ordered){{t->dims[axes[0]], t->dims[axes[1]], t->dims[axes[2]], t->dims[axes[3]]}};
}

/** Does the steps that conv2d, convTranspose2d and (window dimensions aside) pooling begin with. */
static bool sliding_defaults(struct call *c, struct list_option padding, struct list_option strides,
                             struct list_option dilations)
{
    return list_default_fill(c, padding, 4, 0) && list_default_fill(c, strides, 2, 1) &&
           check_list_positive(c, strides.name, 2, *strides.values) && list_default_fill(c, dilations, 2, 1) &&
           check_list_positive(c, dilations.name, 2, *dilations.values);
}

static int64_t floor_div(int64_t a, int64_t b) /* b > 0 */
{
    return a / b - (a % b < 0);
}

/** Does "calculate conv output size" before the division: it returns the range that the filter's first element can move over,
 * which may be negative; below -SIZE_HUGE / 2 the filter is absurdly large. */
static int64_t conv_range(uint32_t input, uint32_t filter, const uint32_t *padding, uint32_t dilation)
{
    return (int64_t)input - size_effective(filter, dilation) + padding[0] + padding[1];
}

/** Sets the result, whose batch and channels are given, and checks its spatial sizes. */
static bool spatial_result(struct call *c, const uint32_t *axes, uint32_t batches, uint32_t channels, const uint32_t spatial[2])
{
    uint32_t dims[4];

    dims[axes[AXIS_BATCH]] = batches;
    dims[axes[AXIS_CHANNEL]] = channels;
    dims[axes[AXIS_HEIGHT]] = spatial[0];
    dims[axes[AXIS_WIDTH]] = spatial[1];
    return infer_results(c, 1) && infer_result(c, 0, 4, dims);
}

static const char *const output_names[2] = {"the output height", "the output width"};

/** Makes output sizes of numbers. */
static bool check_sizes(struct call *c, int64_t height, int64_t width, uint32_t sizes[2])
{
    sizes[0] = (uint32_t)height;
    sizes[1] = (uint32_t)width;
    return check_dimension(c, height, output_names[0]) && check_dimension(c, width, output_names[1]);
}

/** Does "calculate conv output size" for one axis of open dimensions. */
static bool open_size(struct call *c, int axis, uint32_t input, uint32_t filter, const uint32_t *padding, uint32_t dilation,
                      uint32_t stride, bool up, uint32_t *size)
{
    struct graph *g = c->graph;
    const dim_expr effective = dims_sum(g, dilation, dims_of(g, filter), 1, dims_constant(g, 1 - (int64_t)dilation)),
                   range = dims_sum(g, 1, dims_sum(g, 1, dims_of(g, input), -1, effective), 1,
                                    dims_constant(g, (int64_t)padding[0] + padding[1])),
                   places = up ? dims_divide_up(g, range, stride) : dims_divide(g, range, dims_constant(g, stride));

    return check_open(c, dims_sum(g, 1, places, 1, dims_constant(g, 1)), output_names[axis], size);
}

bool infer_conv2d(struct call *c)
{
    WNNConv2dOptions *o = c->options;
    const uint32_t *axes = image_axes(o->inputLayout);
    const struct ordered in = in_order(input_type(c, 0), axes),
                         filter = in_order(input_type(c, 1), conv2d_filter_axes(o->filterLayout));
    uint32_t in_channels = in.dims[AXIS_CHANNEL], out_channels = filter.dims[AXIS_OUTPUT], filter_in = filter.dims[AXIS_INPUT],
             sizes[2];

    if (!sliding_defaults(c, LIST_OPTION(o, padding), LIST_OPTION(o, strides), LIST_OPTION(o, dilations)))
        return false;
    if (!o->groups)
        return call_error(c, "groups is 0");
    if (!dim_is_open(in_channels) && in_channels % o->groups)
        return call_error(c, "the %" PRIu32 " channels of input cannot be divided into %" PRIu32 " groups", in_channels,
                          o->groups);
    if (!dim_is_open(in_channels | filter_in) && in_channels / o->groups != filter_in)
        return call_error(c,
                          "filter has %" PRIu32 " input channels, the %" PRIu32 " channels of input in groups=%" PRIu32
                          " ask for %" PRIu32,
                          filter_in, in_channels, o->groups, in_channels / o->groups);
    if (!dim_is_open(out_channels) && out_channels % o->groups)
        return call_error(c, "the %" PRIu32 " output channels of filter cannot be divided into %" PRIu32 " groups",
                          out_channels, o->groups);
    if (input_exists(c, 2) && !check_shape(c, 2, 1, &out_channels))
        return false;
    for (int i = 0; i < 2; i++) {
        const uint32_t input = in.dims[AXIS_HEIGHT + i], window = filter.dims[AXIS_HEIGHT + i], *padding = o->padding + 2 * i;

        if (dim_is_open(input | window)
                ? !open_size(c, i, input, window, padding, o->dilations[i], o->strides[i], false, &sizes[i])
                : !dim_add(c, 1, floor_div(conv_range(input, window, padding, o->dilations[i]), o->strides[i]), output_names[i],
                           &sizes[i]))
            return false;
    }
    return spatial_result(c, axes, in.dims[AXIS_BATCH], out_channels, sizes);
}

/** Does "calculate convtranspose output size". */
static int64_t transpose_size(uint32_t input, uint32_t filter, const uint32_t *padding, uint32_t stride, uint32_t dilation)
{
    return size_mul((int64_t)input - 1, stride) + size_effective(filter, dilation) - padding[0] - padding[1];
}

/** Checks that an explicit size of a transposed convolution is one that a convolution shrinks to the input's. */
static bool check_transpose_size(struct call *c, const char *what, uint32_t size, int64_t calculated, uint32_t stride)
{
    if (size < calculated || size >= calculated + stride)
        return call_error(c, "the %s in outputSizes is %" PRIu32 ", not from %" PRId64 " to %" PRId64, what, size, calculated,
                          calculated + stride - 1);
    return true;
}

/** Does it for open dimensions; sizes that the options give are checked when those are known. */
static bool open_transpose_sizes(struct call *c, const struct ordered *in, const struct ordered *filter, uint32_t sizes[2])
{
    const WNNConvTranspose2dOptions *o = c->options;
    struct graph *g = c->graph;

    for (int i = 0; i < 2; i++) {
        const uint32_t *padding = o->padding + 2 * i;
        const int64_t number = 1 - (int64_t)o->dilations[i] - o->strides[i] - padding[0] - padding[1];
        const dim_expr size = dims_sum(g, o->strides[i], dims_of(g, in->dims[AXIS_HEIGHT + i]), o->dilations[i],
                                       dims_of(g, filter->dims[AXIS_HEIGHT + i]));

        if (o->outputSizes ? !dim_add(c, 0, o->outputSizes[i], output_names[i], &sizes[i])
                           : !check_open(c, dims_sum(g, 1, size, 1, dims_constant(g, number + o->outputPadding[i])),
                                         output_names[i], &sizes[i]))
            return false;
    }
    return true;
}

bool infer_conv_transpose2d(struct call *c)
{
    WNNConvTranspose2dOptions *o = c->options;
    const uint32_t *axes = image_axes(o->inputLayout);
    const struct ordered in = in_order(input_type(c, 0), axes),
                         filter = in_order(input_type(c, 1), conv_transpose2d_filter_axes(o->filterLayout));
    uint32_t in_channels = in.dims[AXIS_CHANNEL], out_channels, sizes[2];
    int64_t height, width;

    if (!sliding_defaults(c, LIST_OPTION(o, padding), LIST_OPTION(o, strides), LIST_OPTION(o, dilations)) ||
        !list_default_fill(c, LIST_OPTION(o, outputPadding), 2, 0))
        return false;
    if (o->outputSizes) {
        if (!check_list_size(c, "outputSizes", o->outputSizesCount, 2))
            return false;
    } else {
        for (int i = 0; i < 2; i++)
            if (o->outputPadding[i] >= o->strides[i])
                return call_error(c, "outputPadding[%d] is %" PRIu32 ", not less than strides[%d], %" PRIu32, i,
                                  o->outputPadding[i], i, o->strides[i]);
    }
    if (!o->groups)
        return call_error(c, "groups is 0");
    if (dim_differs(c->graph, in_channels, filter.dims[AXIS_INPUT]))
        return call_error(c, "filter has %s input channels, input has %s", DIM_PRINT(filter.dims[AXIS_INPUT]),
                          DIM_PRINT(in_channels));
    if (!dim_scale(c, filter.dims[AXIS_OUTPUT], o->groups, "the number of output channels", &out_channels))
        return false;
    if (input_exists(c, 2) && !check_shape(c, 2, 1, &out_channels))
        return false;
    if (dim_is_open(in.dims[AXIS_HEIGHT] | in.dims[AXIS_WIDTH] | filter.dims[AXIS_HEIGHT] | filter.dims[AXIS_WIDTH]))
        return open_transpose_sizes(c, &in, &filter, sizes) &&
               spatial_result(c, axes, in.dims[AXIS_BATCH], out_channels, sizes);
    height = transpose_size(in.dims[AXIS_HEIGHT], filter.dims[AXIS_HEIGHT], o->padding, o->strides[0], o->dilations[0]);
    width = transpose_size(in.dims[AXIS_WIDTH], filter.dims[AXIS_WIDTH], o->padding + 2, o->strides[1], o->dilations[1]);
    if (o->outputSizes) {
        if (!check_transpose_size(c, "height", o->outputSizes[0], height, o->strides[0]) ||
            !check_transpose_size(c, "width", o->outputSizes[1], width, o->strides[1]))
            return false;
        height = o->outputSizes[0];
        width = o->outputSizes[1];
    } else {
        height += o->outputPadding[0];
        width += o->outputPadding[1];
    }
    return check_sizes(c, height, width, sizes) && spatial_result(c, axes, in.dims[AXIS_BATCH], out_channels, sizes);
}

/** Infers pooling of open dimensions.  A window that is not given is the whole input. */
static bool infer_open_pool2d(struct call *c, struct ordered in, const uint32_t *axes)
{
    WNNPool2dOptions *o = c->options;
    uint32_t sizes[2];

    if ((o->windowDimensions && (!check_list_size(c, "windowDimensions", o->windowDimensionsCount, 2) ||
                                 !check_list_positive(c, "windowDimensions", 2, o->windowDimensions))) ||
        !sliding_defaults(c, LIST_OPTION(o, padding), LIST_OPTION(o, strides), LIST_OPTION(o, dilations)) ||
        (o->outputSizes && !check_list_size(c, "outputSizes", o->outputSizesCount, 2)))
        return false;
    for (int i = 0; i < 2; i++) {
        const uint32_t input = in.dims[AXIS_HEIGHT + i], window = o->windowDimensions ? o->windowDimensions[i] : input;

        if (o->windowDimensions && window > ELEMENT_COUNT_MAX)
            return call_error(c, "windowDimensions[%d] is %" PRIu32 ", more than any input", i, window);
        if (o->outputSizes ? !dim_add(c, 0, o->outputSizes[i], output_names[i], &sizes[i])
                           : !open_size(c, i, input, window, o->padding + 2 * i, o->dilations[i], o->strides[i],
                                        o->outputShapeRounding == WNNRoundingType_Ceil, &sizes[i]))
            return false;
    }
    return spatial_result(c, axes, in.dims[AXIS_BATCH], in.dims[AXIS_CHANNEL], sizes);
}

/*
 * Infers pooling.  Where the specification's text, with outputSizes given, sets the padding to zero and asks for sizes smaller
 * than the strides, the test suite applies the padding and asks for the rounded size only, as must have been meant.
 */
bool infer_pool2d(struct call *c)
{
    WNNPool2dOptions *o = c->options;
    const uint32_t *axes = image_axes(o->layout);
    const struct ordered in = in_order(input_type(c, 0), axes);
    const uint32_t spatial[2] = {in.dims[AXIS_HEIGHT], in.dims[AXIS_WIDTH]};
    int64_t range[2], down[2], up[2], given[2];
    const int64_t *chosen = down;
    uint32_t sizes[2];

    if (dim_is_open(spatial[0] | spatial[1]))
        return infer_open_pool2d(c, in, axes);
    if (!list_default(c, LIST_OPTION(o, windowDimensions), 2, spatial) ||
        !check_list_positive(c, "windowDimensions", 2, o->windowDimensions) ||
        !sliding_defaults(c, LIST_OPTION(o, padding), LIST_OPTION(o, strides), LIST_OPTION(o, dilations)))
        return false;
    if (o->outputSizes && !check_list_size(c, "outputSizes", o->outputSizesCount, 2))
        return false;
    for (int i = 0; i < 2; i++) {
        range[i] = conv_range(spatial[i], o->windowDimensions[i], o->padding + 2 * i, o->dilations[i]);
        down[i] = floor_div(range[i], o->strides[i]) + 1;
        up[i] = ceil_div(range[i], o->strides[i]) + 1;
    }
    if (o->outputSizes) {
        given[0] = o->outputSizes[0];
        given[1] = o->outputSizes[1];
        if ((o->outputSizes[0] != down[0] || o->outputSizes[1] != down[1]) &&
            (o->outputSizes[0] != up[0] || o->outputSizes[1] != up[1]))
            return call_error(c,
                              "outputSizes is [%" PRIu32 ", %" PRIu32 "], neither [%" PRId64 ", %" PRId64
                              "] (rounded down) nor [%" PRId64 ", %" PRId64 "] (rounded up)",
                              o->outputSizes[0], o->outputSizes[1], down[0], down[1], up[0], up[1]);
        chosen = given;
    } else if (o->outputShapeRounding == WNNRoundingType_Ceil) {
        chosen = up;
    }
    return check_sizes(c, chosen[0], chosen[1], sizes) &&
           spatial_result(c, axes, in.dims[AXIS_BATCH], in.dims[AXIS_CHANNEL], sizes);
}
