/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Drawing reductions, scans and normalisations: axes, and scales, biases and statistics that fit. */
#include "drawing.h"

bool draw_axis(struct drawing *d)
{
    if (!draw_first(d, 1))
        return false;
    draw_simple_options(d);
    d->args.softmax.axis = draw(d->r, type0(d)->rank);
    return true;
}

bool draw_reduce(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    draw_simple_options(d);
    if (chance(d->r, 85)) {
        d->o.reduce.axesCount = draw_axes(d, d->lists[0]);
        d->o.reduce.axes = d->lists[0];
    }
    return true;
}

bool draw_batch_normalization(struct drawing *d)
{
    if (!draw_first(d, 1))
        return false;
    draw_simple_options(d);
    if (chance(d->r, 50) || type0(d)->rank < 2)
        d->o.batch.axis = draw(d->r, type0(d)->rank);
    for (uint32_t i = 1; i < 5; i++)
        if (i < 3 || chance(d->r, 60))
            d->inputs[i] = draw_like(d, 1, &type0(d)->dims[d->o.batch.axis], i == 2 ? CONTENT_POSITIVE : CONTENT_SMALL);
    d->count = 5;
    return true;
}

bool draw_instance_normalization(struct drawing *d)
{
    if (!draw_first(d, 4))
        return false;
    draw_simple_options(d);
    for (uint32_t i = 1; i < 3; i++)
        if (chance(d->r, 60))
            d->inputs[i] =
                draw_like(d, 1, &type0(d)->dims[d->o.instance.layout == WNNInputOperandLayout_Nchw ? 1 : 3], CONTENT_SMALL);
    d->count = 3;
    return true;
}

bool draw_layer_normalization(struct drawing *d)
{
    uint32_t dims[RANK_MAX], count;

    if (!draw_first(d, 0))
        return false;
    draw_simple_options(d);
    count = type0(d)->rank ? type0(d)->rank - 1 : 0;
    for (uint32_t i = 0; i < count; i++)
        d->lists[0][i] = i + 1;
    if (chance(d->r, 70) || !type0(d)->rank) {
        count = (uint32_t)draw_axes(d, d->lists[0]);
        d->o.layer.axes = d->lists[0];
        d->o.layer.axesCount = count;
    }
    for (uint32_t i = 0; i < count; i++)
        dims[i] = type0(d)->dims[d->lists[0][i]];
    for (uint32_t i = 1; i < 3; i++)
        if (chance(d->r, 60))
            d->inputs[i] = draw_like(d, count, dims, CONTENT_SMALL);
    d->count = 3;
    return true;
}
