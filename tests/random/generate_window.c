/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Drawing convolutions, pooling and resampling: windows, padding, strides, dilations, output sizes, layouts. */
#include "drawing.h"

/* Padding, strides and dilations of a window within sizes[]; each list may be absent.  Returns which are given. */
static void draw_window(struct drawing *d, const uint32_t window[2], const uint32_t **padding, size_t *padding_count,
                        const uint32_t **strides, size_t *strides_count, const uint32_t **dilations, size_t *dilations_count)
{
    for (int i = 0; i < 4; i++)
        d->lists[0][i] = chance(d->r, 50) ? window[i / 2] / 2 : draw(d->r, 3);
    for (int i = 0; i < 2; i++) {
        d->lists[1][i] = draw_from(d->r, 1, 3);
        d->lists[2][i] = draw_from(d->r, 1, 2);
    }
    if (chance(d->r, 60)) {
        *padding = d->lists[0];
        *padding_count = 4;
    }
    if (chance(d->r, 50)) {
        *strides = d->lists[1];
        *strides_count = 2;
    }
    if (chance(d->r, 25)) {
        *dilations = d->lists[2];
        *dilations_count = 2;
    }
}

bool draw_conv2d(struct drawing *d)
{
    /* where output, input, height and width stand in the filter */
    static const uint8_t layouts[][4] = {[WNNConv2dFilterOperandLayout_Oihw] = {0, 1, 2, 3},
                                         [WNNConv2dFilterOperandLayout_Hwio] = {3, 2, 0, 1},
                                         [WNNConv2dFilterOperandLayout_Ohwi] = {0, 3, 1, 2},
                                         [WNNConv2dFilterOperandLayout_Ihwo] = {3, 0, 1, 2}};
    static const uint8_t multiples[] = {1, 1, 2, 3, 4, 8, 16, 17};
    uint32_t filter[4], channels, groups, out;
    struct generator *r = d->r;

    if (!draw_first(d, 4))
        return false;
    draw_simple_options(d);
    bool nhwc = d->o.conv.inputLayout == WNNInputOperandLayout_Nhwc;
    const uint8_t *layout = layouts[d->o.conv.filterLayout];
    channels = type0(d)->dims[nhwc ? 3 : 1];
    groups = chance(r, 60) ? 1 : draw_divisor(r, channels);
    out = groups * multiples[draw(r, groups > 8 ? 3 : sizeof multiples)];
    uint32_t window[2] = {draw_from(r, 1, 3), chance(r, 60) ? 0 : draw_from(r, 1, 5)};
    window[1] = window[1] ? window[1] : window[0];
    filter[layout[0]] = out;
    filter[layout[1]] = channels / groups;
    filter[layout[2]] = window[0];
    filter[layout[3]] = window[1];
    d->o.conv.groups = groups;
    draw_window(d, window, &d->o.conv.padding, &d->o.conv.paddingCount, &d->o.conv.strides, &d->o.conv.stridesCount,
                &d->o.conv.dilations, &d->o.conv.dilationsCount);
    d->inputs[1] = draw_like(d, 4, filter, CONTENT_SMALL);
    if (chance(r, 50))
        d->inputs[2] = draw_like(d, 1, &out, CONTENT_SMALL);
    d->count = 3;
    return true;
}

bool draw_conv_transpose2d(struct drawing *d)
{
    static const uint8_t layouts[][4] = {[WNNConvTranspose2dFilterOperandLayout_Iohw] = {1, 0, 2, 3},
                                         [WNNConvTranspose2dFilterOperandLayout_Hwoi] = {2, 3, 0, 1},
                                         [WNNConvTranspose2dFilterOperandLayout_Ohwi] = {0, 3, 1, 2}};
    uint32_t filter[4], channels, groups, out;
    struct generator *r = d->r;
    WNNConvTranspose2dOptions *o = &d->o.transposed;

    if (!draw_first(d, 4))
        return false;
    draw_simple_options(d);
    bool nhwc = o->inputLayout == WNNInputOperandLayout_Nhwc;
    const uint8_t *layout = layouts[o->filterLayout];
    channels = type0(d)->dims[nhwc ? 3 : 1];
    groups = chance(r, 60) ? 1 : draw_divisor(r, channels);
    out = groups * draw_from(r, 1, groups > 8 ? 2 : 5);
    uint32_t window[2] = {draw_from(r, 1, 3), draw_from(r, 1, 4)};
    filter[layout[0]] = out / groups;
    filter[layout[1]] = channels;
    filter[layout[2]] = window[0];
    filter[layout[3]] = window[1];
    o->groups = groups;
    draw_window(d, window, &o->padding, &o->paddingCount, &o->strides, &o->stridesCount, &o->dilations, &o->dilationsCount);
    for (int i = 0; i < 2; i++) {
        uint32_t stride = o->strides ? o->strides[i] : 1, dilation = o->dilations ? o->dilations[i] : 1;
        uint32_t size = type0(d)->dims[(nhwc ? 1 : 2) + i];
        int64_t calculated = (int64_t)(size - 1) * stride + (int64_t)(window[i] - 1) * dilation + 1;
        if (o->padding)
            calculated -= (int64_t)o->padding[2 * i] + o->padding[2 * i + 1];
        d->lists[3][i] = draw(r, stride);
        d->lists[4][i] = (uint32_t)(calculated < 1 ? 1 : calculated) + draw(r, stride);
    }
    if (chance(r, 30)) {
        o->outputPadding = d->lists[3];
        o->outputPaddingCount = 2;
    } else if (chance(r, 30)) {
        o->outputSizes = d->lists[4];
        o->outputSizesCount = 2;
    }
    d->inputs[1] = draw_like(d, 4, filter, CONTENT_SMALL);
    if (chance(r, 50))
        d->inputs[2] = draw_like(d, 1, &out, CONTENT_SMALL);
    d->count = 3;
    return true;
}

bool draw_pool2d(struct drawing *d)
{
    WNNPool2dOptions *o = &d->o.pool;
    struct generator *r = d->r;

    if (!draw_first(d, 4))
        return false;
    draw_simple_options(d);
    const uint32_t *sizes = &type0(d)->dims[o->layout == WNNInputOperandLayout_Nchw ? 2 : 1];
    uint32_t window[2] = {sizes[0], sizes[1]};
    if (chance(r, 85)) {
        for (int i = 0; i < 2; i++)
            d->lists[3][i] = window[i] = draw_from(r, 1, 4);
        o->windowDimensions = d->lists[3];
        o->windowDimensionsCount = 2;
    }
    draw_window(d, window, &o->padding, &o->paddingCount, &o->strides, &o->stridesCount, &o->dilations, &o->dilationsCount);
    if (chance(r, 25)) {
        bool up = chance(r, 50);
        for (int i = 0; i < 2; i++) {
            int64_t stride = o->strides ? o->strides[i] : 1, dilation = o->dilations ? o->dilations[i] : 1;
            int64_t range = (int64_t)sizes[i] - (int64_t)(window[i] - 1) * dilation - 1;
            if (o->padding)
                range += (int64_t)o->padding[2 * i] + o->padding[2 * i + 1];
            d->lists[4][i] = (uint32_t)(range < 0 ? 1 : (range + (up ? stride - 1 : 0)) / stride + 1);
        }
        o->outputSizes = d->lists[4];
        o->outputSizesCount = 2;
    }
    return true;
}

bool draw_resample2d(struct drawing *d)
{
    uint32_t order[4];

    if (!draw_first(d, 4))
        return false;
    draw_simple_options(d);
    draw_permutation(d->r, 4, order);
    d->lists[0][0] = 2;
    d->lists[0][1] = 3;
    if (chance(d->r, 50)) {
        memcpy(d->lists[0], order, 2 * sizeof order[0]);
        d->o.resample.axes = d->lists[0];
        d->o.resample.axesCount = 2;
    }
    for (int i = 0; i < 2; i++) {
        static const float scales[] = {0.5f, 1, 2, 3, 0.3f, 1.5f, 0.75f, 2.5f, 1.0f / 3};
        d->lists[1][i] = draw_from(d->r, 1, 2 * type0(d)->dims[d->lists[0][i]] + 1);
        d->scales[i] = scales[draw(d->r, sizeof scales / sizeof *scales)];
    }
    if (chance(d->r, 50)) {
        d->o.resample.sizes = d->lists[1];
        d->o.resample.sizesCount = 2;
    } else if (chance(d->r, 90)) {
        d->o.resample.scales = d->scales;
        d->o.resample.scalesCount = 2;
    }
    return true;
}
