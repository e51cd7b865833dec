/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports Conv, ConvTranspose, ConvInteger, QLinearConv, CausalConvWithState and the forms that ONNX Runtime has of them as
 * conv2d and convTranspose2d; one spatial dimension is a 2-D convolution of height 1.
 */

#include "frontend/readers/onnx/open.h"
#include "frontend/readers/onnx/compose.h"

static void fill_padding(const struct onnx_window *w, uint32_t padding[4])
{
    for (int d = 0; d < 2; d++) {
        padding[2 * d] = w->before[d];
        padding[2 * d + 1] = w->after[d];
    }
}

/* Reads the window of a convolution and its groups, for all but the transposed one. */
static bool read_convolution(struct onnx_node *n, WNNOperand x, WNNOperand filter, struct onnx_window *w, uint32_t *groups)
{
    int64_t group = onnx_int(n, "group", 1);
    struct onnx_dims dims = onnx_dims_of(n, filter);

    if (!onnx_window_read(n, x, dims.at + 2, w))
        return false;
    if (dims.rank != w->rank + 2)
        return onnx_refuse(n, "the filter has %zu dimensions, the input %zu", dims.rank, w->rank + 2);
    if (group < 1)
        return onnx_refuse(n, "group is %lld", (long long)group);
    *groups = onnx_size(n, "group", group);
    return !n->refused && onnx_window_pad_same(n, w);
}

static WNNOperand convolve(struct onnx_node *n, WNNOperand x, WNNOperand filter, WNNOperand bias, const struct onnx_window *w,
                           uint32_t groups)
{
    WNNConv2dOptions o = WNN_CONV2D_OPTIONS_INIT;
    uint32_t padding[4];

    fill_padding(w, padding);
    o.label = n->label;
    o.paddingCount = 4;
    o.padding = padding;
    o.stridesCount = 2;
    o.strides = w->strides;
    o.dilationsCount = 2;
    o.dilations = w->dilations;
    o.groups = groups;
    o.bias = bias;
    return onnx_from_2d(n, w, wnnGraphBuilderConv2d(n->builder, onnx_to_2d(n, x), onnx_to_2d(n, filter), &o));
}

/* Returns the elements of x [N, C, D, H, W] that each result along D reads, as [N * results, C * kernel, H, W]. */
static WNNOperand unfold_depth(struct onnx_node *n, WNNOperand x, const struct onnx_window *w, uint32_t *results)
{
    const struct onnx_dims front = {5, {0, 0, w->before[0]}}, end = {5, {0, 0, w->after[0]}};
    WNNOperand *slices = onnx_alloc(n, w->kernel[0], sizeof *slices);
    const int64_t size = (int64_t)w->in[0] + w->before[0] + w->after[0] - w->extent[0];
    WNNSliceOptions o = WNN_SLICE_OPTIONS_INIT;

    if (!slices || size < 0)
        return onnx_refuse_operand(n, "a window of %u elements on %u and a padding of %u and %u", w->extent[0], w->in[0],
                                   w->before[0], w->after[0]);
    *results = (uint32_t)(size / w->strides[0]) + 1;
    x = onnx_pad(n, x, front, end, 0);
    if (wnnOperandIsError(x))
        return x;
    struct onnx_dims d = onnx_dims_of(n, x);
    d.at[2] = (*results - 1) * w->strides[0] + 1;
    o.label = n->label;
    o.stridesCount = 5;
    o.strides = (uint32_t[]){1, 1, w->strides[0], 1, 1};
    for (uint32_t k = 0; k < w->kernel[0]; k++)
        slices[k] =
            onnx_reshape(n, wnnGraphBuilderSlice(n->builder, x, 5, (uint32_t[]){0, 0, k * w->dilations[0], 0, 0}, 5, d.at, &o),
                         6, (uint32_t[]){d.at[0], d.at[1], 1, *results, d.at[3], d.at[4]});
    x = onnx_transpose(n, onnx_concat(n, w->kernel[0], slices, 2), 6, (uint32_t[]){0, 3, 1, 2, 4, 5});
    return onnx_reshape(n, x, 4, (uint32_t[]){d.at[0] * *results, d.at[1] * w->kernel[0], d.at[3], d.at[4]});
}

/* Convolves three spatial dimensions as two: the kernel's depth becomes channels, the result's one belongs to the batch. */
static WNNOperand convolve_3d(struct onnx_node *n, WNNOperand x, WNNOperand filter, WNNOperand bias)
{
    const struct onnx_dims d = onnx_dims_of(n, x), f = onnx_dims_of(n, filter);
    const uint32_t groups = onnx_size(n, "group", onnx_int(n, "group", 1));
    struct onnx_window depth, plane;
    uint32_t results = 1;

    if (f.rank != 5)
        return onnx_refuse_operand(n, "the filter has %zu dimensions, the input 5", f.rank);
    if (groups < 1)
        return onnx_refuse_operand(n, "group is %u", groups);
    if (!onnx_window_read_3d(n, x, f.at + 2, &depth, &plane))
        return onnx_error_operand(n);
    x = unfold_depth(n, x, &depth, &results);
    filter = onnx_reshape(n, filter, 4, (uint32_t[]){f.at[0], onnx_dims_product(n, &f, 1, 3), f.at[3], f.at[4]});
    if (n->refused || wnnOperandIsError(x))
        return onnx_error_operand(n);
    x = convolve(n, x, filter, bias, &plane, groups);
    if (wnnOperandIsError(x))
        return x;
    const struct onnx_dims y = onnx_dims_of(n, x);
    x = onnx_reshape(n, x, 5, (uint32_t[]){d.at[0], results, y.at[1], y.at[2], y.at[3]});
    return onnx_transpose(n, x, 5, (uint32_t[]){0, 2, 1, 3, 4});
}

WNNOperand onnx_convolve(struct onnx_node *n, WNNOperand x, WNNOperand filter, WNNOperand bias)
{
    struct onnx_window w;
    uint32_t groups = 1;

    if (onnx_dims_of(n, x).rank == 5)
        return convolve_3d(n, x, filter, bias);
    return read_convolution(n, x, filter, &w, &groups) ? convolve(n, x, filter, bias, &w, groups) : onnx_error_operand(n);
}

/* Imports Conv in blocks of channels.  There are fewer groups than the attribute says where channels only fill up. */
bool onnx_import_nchwc_conv(struct onnx_node *n)
{
    WNNOperand bias = onnx_operand_optional(n, 2), x = onnx_operand(n, 0), filter = onnx_nchwc_filter(n, x, &bias), y;
    const struct onnx_dims dims = onnx_dims_of(n, filter);
    struct onnx_window w;
    uint32_t groups;

    if (!read_convolution(n, x, filter, &w, &groups))
        return false;
    y = convolve(n, x, filter, bias, &w, groups > 1 && dims.at[1] == 1 ? dims.at[0] : groups);
    return onnx_output(n, 0, onnx_activate_fused(n, onnx_scale_bias(n, y, NULL, onnx_operand_optional(n, 3))));
}

/* ---- ConvTranspose ---- */

enum { SIZE_FOR_OPEN = 1 << 12 };

/*
 * Computes where the result is in the whole, uncropped one: from begin on, out long.  Outside the whole there is only bias.
 */
struct crop {
    int64_t begin[2], out[2], whole[2];
};

static bool read_crop(struct onnx_node *n, struct onnx_window *w, struct crop *c)
{
    size_t padding_count, shape_count;
    const int64_t *more = onnx_ints(n, "output_padding", &padding_count), *shape = onnx_ints(n, "output_shape", &shape_count);
    bool same = w->auto_pad == ONNX_PAD_SAME_UPPER || w->auto_pad == ONNX_PAD_SAME_LOWER;

    if (n->refused)
        return false;
    if (more && padding_count != w->rank)
        return onnx_refuse(n, "output_padding has %zu numbers for %zu spatial dimensions", padding_count, w->rank);
    /* Some writers give batches and channels, too. */
    if (shape && shape_count != w->rank && shape_count != w->rank + 2)
        return onnx_refuse(n, "output_shape has %zu numbers for %zu spatial dimensions", shape_count, w->rank);
    for (int d = 0; d < 2; d++) {
        int i = d - 2 + (int)w->rank; /* in the file's lists */
        int64_t extra = more && i >= 0 ? onnx_size(n, "a number in output_padding", more[i]) : 0, total;
        /* An open size leaves the same paddings as a number. */
        const int64_t in = onnx_is_open(w->in[d]) ? SIZE_FOR_OPEN : w->in[d];
        if (shape && onnx_is_open(w->in[d]))
            return onnx_refuse_open(n);
        c->whole[d] = onnx_size(n, "a dimension of its uncropped result", (in - 1) * w->strides[d] + w->extent[d]);
        if (i >= 0 && (shape || same)) {
            c->out[d] = onnx_size(n, "a dimension of its result",
                                  shape ? shape[shape_count - w->rank + (size_t)i] : in * w->strides[d]);
            total = c->whole[d] + extra - c->out[d];
            total = total < 0 ? 0 : total;
            c->begin[d] = w->auto_pad == ONNX_PAD_SAME_UPPER ? total / 2 : total - total / 2;
        } else {
            c->begin[d] = w->before[d];
            c->out[d] = c->whole[d] + extra - w->before[d] - w->after[d];
        }
        if (c->out[d] < 1 || c->out[d] > INT32_MAX)
            return onnx_refuse(n, "its result would have the size %lld", (long long)c->out[d]);
    }
    return !n->refused;
}

static WNNOperand convolve_transposed(struct onnx_node *n, WNNOperand x, WNNOperand filter, WNNOperand bias,
                                      const struct onnx_window *w, const uint32_t *padding, const uint32_t *more,
                                      uint32_t groups)
{
    WNNConvTranspose2dOptions o = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;

    o.label = n->label;
    o.paddingCount = 4;
    o.padding = padding;
    o.stridesCount = 2;
    o.strides = w->strides;
    o.dilationsCount = 2;
    o.dilations = w->dilations;
    o.outputPaddingCount = 2;
    o.outputPadding = more;
    o.groups = groups;
    o.bias = bias;
    return wnnGraphBuilderConvTranspose2d(n->builder, x, filter, &o);
}

/** Adds up y, [batch, channels, kernel's depth, depth, height, width], along the depth: each of its parts, with strides between
 * its slices, begins where the window has it. */
static WNNOperand fold_depth(struct onnx_node *n, WNNOperand y, const struct onnx_window *w)
{
    const struct onnx_dims d = onnx_dims_of(n, y);
    const uint32_t spread = (d.at[3] - 1) * w->strides[0] + 1;
    WNNOperand sum = NULL;

    for (uint32_t k = 0; k < d.at[2]; k++) {
        const uint32_t at = k * w->dilations[0];
        WNNOperand part =
            onnx_reshape(n, onnx_slice_axis(n, y, 2, k, 1), 6, (uint32_t[]){d.at[0], d.at[1], d.at[3], 1, d.at[4], d.at[5]});

        part = onnx_pad(n, part, (struct onnx_dims){6, {0}}, (struct onnx_dims){6, {0, 0, 0, w->strides[0] - 1}}, 0);
        part = onnx_reshape(n, part, 5, (uint32_t[]){d.at[0], d.at[1], d.at[3] * w->strides[0], d.at[4], d.at[5]});
        part = onnx_pad(n, onnx_slice_axis(n, part, 2, 0, spread), (struct onnx_dims){5, {0, 0, at}},
                        (struct onnx_dims){5, {0, 0, w->extent[0] - 1 - at}}, 0);
        sum = sum ? onnx_add(n, sum, part) : part;
    }
    return sum;
}

/** Does so with three spatial dimensions: the depth belongs to the batch, and the kernel's one to the channels of the result.
 */
static WNNOperand convolve_transposed_3d(struct onnx_node *n, WNNOperand x, WNNOperand filter, WNNOperand bias)
{
    const struct onnx_dims d = onnx_dims_of(n, x), f = onnx_dims_of(n, filter);
    const uint32_t groups = onnx_size(n, "group", onnx_int(n, "group", 1));
    size_t count = 0;
    const int64_t *given = onnx_ints(n, "output_padding", &count);
    struct onnx_window depth, plane;
    uint32_t more[3] = {0};

    if (f.rank != 5 || groups < 1 || onnx_has(n, "output_shape"))
        return onnx_refuse_operand(n,
                                   "of three spatial dimensions, group is %u, and the filter has %zu dimensions of 5; "
                                   "output_shape is not read",
                                   groups, f.rank);
    if (!onnx_window_read_3d(n, x, f.at + 2, &depth, &plane))
        return onnx_error_operand(n);
    if (depth.auto_pad == ONNX_PAD_SAME_UPPER || depth.auto_pad == ONNX_PAD_SAME_LOWER || (given && count != 3))
        return onnx_refuse_operand(n, "auto_pad is SAME of three spatial dimensions, or output_padding has %zu numbers", count);
    for (size_t i = 0; given && i < 3; i++)
        more[i] = onnx_size(n, "a number in output_padding", given[i]);
    x = onnx_reshape(n, onnx_transpose(n, x, 5, (uint32_t[]){0, 2, 1, 3, 4}), 4,
                     (uint32_t[]){d.at[0] * d.at[2], d.at[1], d.at[3], d.at[4]});
    filter = onnx_reshape(n, filter, 4, (uint32_t[]){f.at[0], f.at[1] * f.at[2], f.at[3], f.at[4]});
    x = convolve_transposed(n, x, filter, NULL, &plane,
                            (uint32_t[]){plane.before[0], plane.after[0], plane.before[1], plane.after[1]}, more + 1, groups);
    if (n->refused || wnnOperandIsError(x))
        return onnx_error_operand(n);
    const struct onnx_dims y = onnx_dims_of(n, x);
    const int64_t whole = ((int64_t)d.at[2] - 1) * depth.strides[0] + depth.extent[0];
    const int64_t out = whole - depth.before[0] - depth.after[0] + more[0], kept = whole - depth.before[0];
    if (out < 1 || kept < 1)
        return onnx_refuse_operand(n, "paddings of %u and %u leave nothing of a depth of %lld", depth.before[0], depth.after[0],
                                   (long long)whole);
    x = onnx_reshape(n, x, 6, (uint32_t[]){d.at[0], d.at[2], f.at[1] * groups, f.at[2], y.at[2], y.at[3]});
    x = fold_depth(n, onnx_transpose(n, x, 6, (uint32_t[]){0, 2, 3, 1, 4, 5}), &depth);
    x = onnx_slice_axis(n, x, 2, depth.before[0], (uint32_t)(kept < out ? kept : out));
    x = onnx_pad(n, x, (struct onnx_dims){5, {0}}, (struct onnx_dims){5, {0, 0, (uint32_t)(kept < out ? out - kept : 0)}}, 0);
    return bias ? onnx_add(n, x, onnx_along_axis(n, bias, 5, 1)) : x;
}

bool onnx_import_conv_transpose(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), filter = onnx_operand(n, 1), bias = onnx_operand_optional(n, 2), y;
    struct onnx_dims none = {4, {0}}, beyond = {4, {0}};
    struct onnx_window w;
    struct crop c;
    uint32_t padding[4], more[2], groups;

    if (onnx_dims_of(n, x).rank == 5)
        return onnx_output(n, 0, convolve_transposed_3d(n, x, filter, bias));
    if (!read_convolution(n, x, filter, &w, &groups) || !read_crop(n, &w, &c))
        return false;
    for (int d = 0; d < 2; d++) {
        int64_t after = c.whole[d] - c.begin[d] - c.out[d]; /* cut off; negative: the result reaches beyond the whole */
        padding[2 * d] = onnx_size(n, "the padding before a dimension", c.begin[d]);
        padding[2 * d + 1] = onnx_size(n, "the padding after a dimension", after > 0 ? after : 0);
        more[d] = onnx_size(n, "the output padding", after < 0 ? -after : 0);
        if (more[d] >= w.strides[d]) { /* more than outputPadding may be */
            beyond.at[2 + d] = more[d];
            more[d] = 0;
        }
    }
    if (n->refused)
        return false;
    const bool reaches = beyond.at[2] || beyond.at[3];
    y = convolve_transposed(n, onnx_to_2d(n, x), onnx_to_2d(n, filter), reaches ? NULL : bias, &w, padding, more, groups);
    y = onnx_pad(n, y, none, beyond, 0);
    if (bias && reaches)
        y = onnx_add(n, y, onnx_along_axis(n, bias, 4, 1));
    return onnx_output(n, 0, onnx_from_2d(n, &w, y));
}

/* ---- quantised ---- */

struct convolution {
    struct onnx_window window;
    uint32_t groups;
};

static WNNOperand convolve_pieces(struct onnx_node *n, WNNOperand x, WNNOperand filter, const void *context)
{
    const struct convolution *c = context;

    return convolve(n, x, filter, NULL, &c->window, c->groups);
}

bool onnx_import_conv_integer(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), filter = onnx_operand(n, 1);
    struct convolution c;
    struct onnx_dims dims = onnx_dims_of(n, filter);
    struct onnx_integer_operand pictures, filters;

    if (!read_convolution(n, x, filter, &c.window, &c.groups))
        return false;
    pictures = onnx_dequantize_input(n, 0, 2, 1);
    filters = onnx_dequantize_input(n, 1, 3, 0);
    return onnx_output_sums(n, pictures, filters, onnx_dims_product(n, &dims, 1, dims.rank), convolve_pieces, &c);
}

/* ---- CausalConvWithState ---- */
