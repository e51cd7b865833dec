/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Drawing what moves elements: shapes and lists of sizes, and indices of which some lie beyond their range. */
#include "drawing.h"

bool draw_concat(struct drawing *d)
{
    uint32_t parts = draw_from(d->r, 1, 4), axis, first;

    if (!draw_first(d, 1))
        return false;
    struct value *v = d->inputs[0];
    d->args.concat.axis = axis = draw(d->r, v->type.rank);
    first = draw(d->r, parts);
    for (uint32_t i = 0; i < parts; i++) {
        struct tensor_type t = v->type;
        d->inputs[i] = v;
        if (i == first || chance(d->r, 15))
            continue;
        if (chance(d->r, 70))
            t.dims[axis] = draw_from(d->r, 1, 5);
        d->inputs[i] = draw_typed(d->r, &t, CONTENT_ANY);
    }
    d->count = parts;
    return true;
}

bool draw_expand(struct drawing *d)
{
    uint32_t more, *dims = d->lists[0];

    if (!draw_first(d, 0))
        return false;
    struct tensor_type t = *type0(d);
    int64_t left = 2 * d->r->budget / type_elements(&t) + 1;
    more = t.rank < RANK_MAX && chance(d->r, 50) ? draw_from(d->r, 1, RANK_MAX - t.rank < 3 ? RANK_MAX - t.rank : 3) : 0;
    for (uint32_t i = 0; i < more + t.rank; i++) {
        dims[i] = i < more || t.dims[i - more] == 1 ? draw_size(d->r, left < 8 ? left : 8) : t.dims[i - more];
        if (i < more || t.dims[i - more] == 1)
            left = left / dims[i] + 1;
    }
    d->args.expand.newShape = dims;
    d->args.expand.newShapeCount = more + t.rank;
    return true;
}

bool draw_pad(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    draw_simple_options(d);
    for (uint32_t i = 0; i < type0(d)->rank; i++)
        for (int end = 0; end < 2; end++) {
            uint32_t most = d->o.pad.mode == WNNPaddingMode_Reflection ? type0(d)->dims[i] - 1 : 3;
            d->lists[end][i] = chance(d->r, 50) ? 0 : draw(d->r, (most < 4 ? most : 4) + 1);
        }
    d->args.pad.beginningPadding = d->lists[0];
    d->args.pad.endingPadding = d->lists[1];
    d->args.pad.beginningPaddingCount = d->args.pad.endingPaddingCount = type0(d)->rank;
    return true;
}

bool draw_reshape(struct drawing *d)
{
    uint32_t rank = draw(d->r, RANK_MAX + 1), dims[RANK_MAX] = {0}, order[RANK_MAX];

    if (!draw_first(d, 0))
        return false;
    int64_t left = type_elements(type0(d));
    if (!rank && left > 1)
        rank = draw_from(d->r, 1, 4);
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = i + 1 == rank ? (uint32_t)left : draw_divisor(d->r, (uint32_t)left);
        left /= dims[i];
    }
    draw_permutation(d->r, rank, order);
    for (uint32_t i = 0; i < rank; i++)
        d->lists[0][i] = dims[order[i]];
    d->args.reshape.newShape = d->lists[0];
    d->args.reshape.newShapeCount = rank;
    return true;
}

bool draw_reverse(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    if (chance(d->r, 80)) {
        d->o.reverse.axesCount = draw_axes(d, d->lists[0]);
        d->o.reverse.axes = d->lists[0];
    }
    return true;
}

bool draw_slice(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    bool strides = chance(d->r, 50);
    for (uint32_t i = 0; i < type0(d)->rank; i++) {
        uint32_t size = type0(d)->dims[i];
        d->lists[0][i] = chance(d->r, 50) ? 0 : draw(d->r, size);
        d->lists[1][i] = chance(d->r, 50) ? size - d->lists[0][i] : draw_from(d->r, 1, size - d->lists[0][i]);
        d->lists[2][i] = chance(d->r, 60) ? 1 : draw_from(d->r, 1, 3);
    }
    d->args.slice.starts = d->lists[0];
    d->args.slice.sizes = d->lists[1];
    d->args.slice.startsCount = d->args.slice.sizesCount = type0(d)->rank;
    if (strides) {
        d->o.slice.strides = d->lists[2];
        d->o.slice.stridesCount = type0(d)->rank;
    }
    return true;
}

bool draw_split(struct drawing *d)
{
    uint32_t left, count = 0, axis;

    if (!draw_first(d, 1))
        return false;
    d->o.split.axis = axis = draw(d->r, type0(d)->rank);
    left = type0(d)->dims[axis];
    if (chance(d->r, 30)) { /* so many equal parts */
        uint32_t parts = draw_divisor(d->r, left);
        d->args.split.equal = parts < 9 ? parts : 1;
        return true;
    }
    while (left) {
        d->lists[0][count] = count == RANK_MAX - 1 || chance(d->r, 30) ? left : draw_from(d->r, 1, left);
        left -= d->lists[0][count++];
    }
    d->args.split.splits = d->lists[0];
    d->args.split.splitsCount = count;
    return true;
}

bool draw_tile(struct drawing *d)
{
    int64_t left = 8 * d->r->budget;

    if (!draw_first(d, 0))
        return false;
    left /= type_elements(type0(d));
    for (uint32_t i = 0; i < type0(d)->rank; i++) {
        d->lists[0][i] = left > 1 && chance(d->r, 50) ? draw_from(d->r, 1, left < 4 ? (uint32_t)left : 4) : 1;
        left /= d->lists[0][i];
    }
    d->args.tile.repetitions = d->lists[0];
    d->args.tile.repetitionsCount = type0(d)->rank;
    return true;
}

bool draw_transpose(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    if (chance(d->r, 85)) {
        draw_permutation(d->r, type0(d)->rank, d->lists[0]);
        d->o.transpose.permutation = d->lists[0];
        d->o.transpose.permutationCount = type0(d)->rank;
    }
    return true;
}

/* ---- at indices ---- */

/* Indices of that shape; now and then whatever integers there are. */
static struct value *draw_indices(struct drawing *d, uint32_t rank, const uint32_t *dims, uint32_t range)
{
    struct tensor_type t = {.type = draw_type(d->r, DT_INT32_UINT32_INT64), .rank = rank};

    if (rank)
        memcpy(t.dims, dims, rank * sizeof *dims);
    if (type_elements(&t) > 8 * d->r->budget)
        return NULL;
    return chance(d->r, 25) ? draw_typed(d->r, &t, CONTENT_ANY) : draw_leaf(d->r, &t, CONTENT_INDEX, range);
}

bool draw_gather(struct drawing *d)
{
    struct value *hint = d->r->hint;

    if (hint && DT_INT32_UINT32_INT64 >> hint->type.type & 1 && chance(d->r, 50)) { /* argMax and the like */
        d->r->hint = NULL;
        if (!draw_first(d, 1))
            return false;
        d->inputs[1] = hint;
    } else {
        if (!draw_first(d, 1))
            return false;
        struct tensor_type t = draw_shape(d->r, WNNOperandDataType_Int32, 0, RANK_MAX + 1 - type0(d)->rank);
        for (uint32_t i = 0; i < t.rank; i++)
            t.dims[i] = t.dims[i] < 6 ? t.dims[i] : 6;
        d->o.gather.axis = draw(d->r, type0(d)->rank);
        d->inputs[1] = draw_indices(d, t.rank, t.dims, type0(d)->dims[d->o.gather.axis]);
    }
    d->o.gather.axis = draw(d->r, type0(d)->rank);
    d->count = 2;
    return true;
}

bool draw_elements(struct drawing *d)
{
    if (!draw_first(d, 1))
        return false;
    struct tensor_type t = *type0(d);
    uint32_t axis = draw(d->r, t.rank);
    if (d->op == OP_GATHER_ELEMENTS)
        d->o.gather.axis = axis;
    else
        d->o.scatter.axis = axis;
    uint32_t range = t.dims[axis];
    t.dims[axis] = draw_from(d->r, 1, 7);
    d->inputs[1] = draw_indices(d, t.rank, t.dims, range);
    d->count = 2;
    if (d->op == OP_SCATTER_ELEMENTS) {
        d->inputs[2] = draw_like(d, t.rank, t.dims, CONTENT_ANY);
        d->count = 3;
    }
    return true;
}

bool draw_nd(struct drawing *d)
{
    uint32_t dims[2 * RANK_MAX], rank, coordinate, range = 1;

    if (!draw_first(d, 1))
        return false;
    coordinate = draw_from(d->r, 1, type0(d)->rank);
    for (uint32_t i = 0; i < coordinate; i++)
        range = type0(d)->dims[i] > range ? type0(d)->dims[i] : range;
    rank = draw(d->r, coordinate + 1);
    rank = rank < 4 ? rank : 3;
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = draw_from(d->r, 1, 5);
    dims[rank] = coordinate;
    d->inputs[1] = draw_indices(d, rank + 1, dims, range);
    d->count = 2;
    if (d->op == OP_SCATTER_ND) {
        memcpy(dims + rank, type0(d)->dims + coordinate, (type0(d)->rank - coordinate) * sizeof *dims);
        rank += type0(d)->rank - coordinate;
        if (rank > RANK_MAX)
            return false;
        d->inputs[2] = draw_like(d, rank, dims, CONTENT_ANY);
        d->count = 3;
    }
    return true;
}
