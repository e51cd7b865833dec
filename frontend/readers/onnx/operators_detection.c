/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports what detectors end with.
 *
 * NonMaxSuppression takes, for each class of each picture, the box with the highest score, drops those that overlap it, takes
 * the best one of the others, and so on.  A loop does that for all classes at once, and stops when none has a box left.  Where
 * a class may keep many of its boxes, an iteration keeps the best one and sets the scores of those that it overlaps to
 * -infinity (keep_one).  Where it keeps few of many, an iteration looks at the next best one only, which it finds by the maxima
 * of blocks, and compares that with those that are kept (try_one): what it reads does not grow with the number of boxes.
 *
 * The result has as many rows as there can be, of which the first ones count (counted.h).
 */
#include <math.h>

#include "frontend/readers/onnx/compose.h"
#include "frontend/readers/onnx/control_loop.h"
#include "frontend/readers/onnx/counted.h"
#include "frontend/readers/onnx/operators.h"

/** Describes the boxes: the edges of each along two axes, and its area. */
struct boxes {
    uint32_t batch, classes, count, most; /* pictures, classes, boxes of a picture, those that a class keeps at most */
    WNNOperand table;                     /* [batch, EDGES, count] */
    WNNOperand scores, overlap;           /* [batch, classes, count]; a scalar */
    WNNOperand least, counted;            /* boxes need a greater score; how many boxes count, or NULL */
    WNNOperand none;                      /* the score of a box that is gone: -infinity */
};

enum { LOW = 0, HIGH = 2, AREA = 4, EDGES = 5, INDICES = 3 };
enum {
    FEW = 4,
    BLOCK = 64,
    BLOCK_MOST = 128
}; /* classes that keep less than so great a part of their boxes have them looked at one by one */

static const WNNOperandDataType i32 = WNNOperandDataType_Int32, u8 = WNNOperandDataType_Uint8;

/** Returns x[:, i], of [batch, rows, count], as [batch, 1, count]. */
static WNNOperand row(struct onnx_node *n, WNNOperand x, uint32_t i)
{
    return onnx_slice_axis(n, x, 1, i, 1);
}

/** Makes the table of edges of [batch, count, 4]: of two corners, or, if centered, of a center and sizes. */
static void find_edges(struct onnx_node *n, struct boxes *b, WNNOperand boxes, bool centered)
{
    const WNNOperand x = onnx_transpose(n, boxes, 3, (uint32_t[]){0, 2, 1});
    WNNOperand parts[EDGES];

    for (uint32_t axis = 0; axis < 2; axis++) {
        const WNNOperand first = row(n, x, axis), second = row(n, x, 2 + axis), half = onnx_linear(n, second, 0.5, 0);

        parts[LOW + axis] = centered ? onnx_sub(n, first, half) : onnx_min(n, first, second);
        parts[HIGH + axis] = centered ? onnx_add(n, first, half) : onnx_max(n, first, second);
    }
    parts[AREA] = onnx_mul(n, onnx_sub(n, parts[HIGH], parts[LOW]), onnx_sub(n, parts[HIGH + 1], parts[LOW + 1]));
    b->table = onnx_concat(n, EDGES, parts, 1);
}

/** Returns which boxes overlap, of two tables with their edges along an axis each, the one broadcast to the other. */
static WNNOperand find_overlapping(struct onnx_node *n, const struct boxes *b, WNNOperand x, uint32_t x_axis, WNNOperand y,
                                   uint32_t y_axis)
{
    const WNNOperand zero = onnx_scalar(n, WNNOperandDataType_Float32, 0);
    WNNOperand common[2], area, all;

    for (uint32_t axis = 0; axis < 2; axis++)
        common[axis] = onnx_sub(
            n, onnx_min(n, onnx_slice_axis(n, x, x_axis, HIGH + axis, 1), onnx_slice_axis(n, y, y_axis, HIGH + axis, 1)),
            onnx_max(n, onnx_slice_axis(n, x, x_axis, LOW + axis, 1), onnx_slice_axis(n, y, y_axis, LOW + axis, 1)));
    area = onnx_mul(n, onnx_max(n, common[0], zero), onnx_max(n, common[1], zero));
    all = onnx_add(n, onnx_slice_axis(n, x, x_axis, AREA, 1), onnx_slice_axis(n, y, y_axis, AREA, 1));
    all = onnx_sub(n, all, area);
    /* Without an area in common the quotient may be NaN, which is not above anything. */
    all = onnx_greater(n, wnnGraphBuilderDiv(n->builder, area, all, n->options), b->overlap);
    return onnx_and(n, all, onnx_greater(n, area, zero));
}

/** Returns the place of the maximum along axis 2, which stays with size 1, and the maximum. */
static WNNOperand find_best(struct onnx_node *n, WNNOperand x, WNNOperand *best)
{
    WNNArgMinMaxOptions o = WNN_ARG_MIN_MAX_OPTIONS_INIT;

    o.label = n->label;
    o.keepDimensions = true;
    o.outputDataType = i32;
    *best = onnx_reduce_axis(n, wnnGraphBuilderReduceMax, x, 2);
    return wnnGraphBuilderArgMax(n->builder, x, 2, &o);
}

/** Returns whether no flag of [batch, classes, 1] is set, as a uint8 scalar. */
static WNNOperand none_of(struct onnx_node *n, WNNOperand flags)
{
    flags = onnx_reduce(n, wnnGraphBuilderReduceMax, onnx_cast(n, flags, i32), 3, (uint32_t[]){0, 1, 2});
    return onnx_reshape(n, onnx_equal(n, flags, onnx_scalar(n, i32, 0)), 0, NULL);
}

/** Returns scores [batch, classes, size], `none` in place of those of boxes, whose numbers are `place`, that are out. */
static WNNOperand drop_low(struct onnx_node *n, const struct boxes *b, WNNOperand scores, WNNOperand place)
{
    scores = onnx_where(n, onnx_greater(n, scores, b->least), scores, b->none); /* NaN is above nothing */
    return b->counted ? onnx_where(n, onnx_lesser(n, place, b->counted), scores, b->none) : scores;
}

/** Returns the size of blocks: one that divides the number of boxes, so that scores are read where they are, if there is one.
 */
static uint32_t block_size(uint32_t count)
{
    for (uint32_t step = 16; step; step /= 16)
        for (uint32_t size = BLOCK; size <= BLOCK_MOST; size += step)
            if (count % size == 0)
                return size;
    return BLOCK;
}

static WNNOperand filled(struct onnx_node *n, const struct boxes *b, WNNOperandDataType type, double value, uint32_t size)
{
    return onnx_expand(n, onnx_scalar(n, type, value), (struct onnx_dims){3, {b->batch, b->classes, size}});
}

/** Begins a loop whose first two carried values are the number of boxes that each class keeps, and whether it may stop. */
static bool begin(struct onnx_node *n, const struct boxes *b, const struct control_iterations *t)
{
    t->carried[0] = filled(n, b, i32, 0, 1);
    t->carried[1] = onnx_scalar(n, u8, 0);
    if (!control_begin(n, t))
        return false;
    return wnnGraphBuilderStopLoop(n->builder, 1) == WNNStatus_Success || control_end(n, t, false);
}

/** Returns the boxes that each class keeps, int32 [batch, classes, most], and their number in *kept. */
static WNNOperand keep_one(struct onnx_node *n, const struct boxes *b, WNNOperand *kept)
{
    enum { KEPT, STOP, SCORES, CARRIED };
    WNNOperand x[CARRIED] = {[SCORES] = drop_low(n, b, b->scores, onnx_iota(n, i32, 3, 2, b->count))}, in[CARRIED],
               out[CARRIED + 1], at, best, taken, valid;
    WNNLoopSlices chosen = {NULL, 2, false};
    const struct control_iterations t = {b->most, CARRIED, 0, 1, x, in, x, out, NULL, &chosen};
    WNNGatherOptions o = {.structSize = sizeof o, .label = n->label, .axis = 2};

    *kept = onnx_error_operand(n);
    if (!begin(n, b, &t))
        return *kept;
    at = find_best(n, in[SCORES], &best);
    valid = onnx_greater(n, best, b->none);
    taken = onnx_expand(n, onnx_reshape(n, at, 3, (uint32_t[]){b->batch, 1, b->classes}),
                        (struct onnx_dims){3, {b->batch, EDGES, b->classes}});
    taken = onnx_transpose(n, wnnGraphBuilderGatherElements(n->builder, b->table, taken, &o), 3, (uint32_t[]){0, 2, 1});
    taken = find_overlapping(n, b, taken, 2, b->table, 1);
    taken = onnx_or(n, onnx_equal(n, onnx_iota(n, i32, 3, 2, b->count), at), taken);
    x[SCORES] = onnx_where(n, taken, b->none, in[SCORES]);
    x[KEPT] = onnx_add(n, in[KEPT], onnx_cast(n, valid, i32));
    x[STOP] = none_of(n, valid);
    chosen.operand = onnx_reshape(n, at, 2, (uint32_t[]){b->batch, b->classes});
    if (!control_end(n, &t, true))
        return *kept;
    *kept = out[KEPT];
    return out[CARRIED];
}

/** Returns rows of x, [rows, size], at int32 indices [batch, classes, 1], as [batch, classes, size]. */
static WNNOperand pick_rows(struct onnx_node *n, const struct boxes *b, WNNOperand x, WNNOperand at)
{
    const uint32_t rows = b->batch * b->classes, size = onnx_dims_of(n, x).at[1];
    WNNGatherOptions o = {.structSize = sizeof o, .label = n->label};

    x = wnnGraphBuilderGather(n->builder, x, onnx_reshape(n, at, 1, &rows), &o);
    return onnx_reshape(n, x, 3, (uint32_t[]){b->batch, b->classes, size});
}

/**
 * Does the same.  Boxes are looked at in the order of their scores, those with equal scores in their own: the boxes of a block
 * that are left are those that come after the last one of the class in this order.
 */
static WNNOperand try_one(struct onnx_node *n, const struct boxes *b, WNNOperand *kept)
{
    enum { KEPT, STOP, MAXIMA, SCORE, PLACE, EDGE, CHOSEN, CARRIED };
    const uint32_t size = block_size(b->count), blocks = (b->count + size - 1) / size, classes = b->batch * b->classes;
    const WNNOperand each = onnx_iota(n, i32, 3, 2, size);
    const WNNOperand number = onnx_reshape(n, onnx_iota(n, i32, 1, 0, classes), 3, (uint32_t[]){b->batch, b->classes, 1});
    const WNNOperand table =
        onnx_reshape(n, onnx_transpose(n, b->table, 3, (uint32_t[]){0, 2, 1}), 2, (uint32_t[]){b->batch * b->count, EDGES});
    WNNOperand scores =
        onnx_pad(n, b->scores, (struct onnx_dims){3, {0}}, (struct onnx_dims){3, {0, 0, blocks * size - b->count}}, -INFINITY);
    WNNOperand x[CARRIED], in[CARRIED], out[CARRIED], block, start, best, at, valid, left, place, edges, here;
    const struct control_iterations t = {b->count, CARRIED, 0, 0, x, in, x, out, NULL, NULL};
    WNNScatterOptions o = {.structSize = sizeof o, .label = n->label, .axis = 2};

    x[MAXIMA] = onnx_reshape(n, drop_low(n, b, scores, onnx_iota(n, i32, 3, 2, blocks * size)), 4,
                             (uint32_t[]){b->batch, b->classes, blocks, size});
    x[MAXIMA] = onnx_reshape(n, onnx_reduce_axis(n, wnnGraphBuilderReduceMax, x[MAXIMA], 3), 3,
                             (uint32_t[]){b->batch, b->classes, blocks});
    scores = onnx_reshape(n, scores, 2, (uint32_t[]){classes * blocks, size});
    x[SCORE] = filled(n, b, WNNOperandDataType_Float32, INFINITY, 1);
    x[PLACE] = filled(n, b, i32, -1, 1);
    x[EDGE] = onnx_expand(n, onnx_scalar(n, WNNOperandDataType_Float32, 0),
                          (struct onnx_dims){4, {b->batch, b->classes, EDGES, b->most + 1}});
    x[CHOSEN] = filled(n, b, i32, 0, b->most + 1);
    *kept = onnx_error_operand(n);
    if (!begin(n, b, &t))
        return *kept;
    block = find_best(n, in[MAXIMA], &best);
    valid = onnx_and(n, onnx_greater(n, best, b->none), onnx_lesser(n, in[KEPT], onnx_scalar(n, i32, b->most)));
    left = pick_rows(n, b, scores, onnx_add(n, onnx_mul(n, number, onnx_scalar(n, i32, blocks)), block));
    start = onnx_mul(n, block, onnx_scalar(n, i32, size));
    place = onnx_add(n, start, each);
    left = drop_low(n, b, left, place);
    here = onnx_and(n, onnx_equal(n, left, in[SCORE]), onnx_greater(n, place, in[PLACE]));
    left = onnx_where(n, onnx_or(n, onnx_lesser(n, left, in[SCORE]), here), left, b->none);
    at = find_best(n, left, &x[SCORE]);
    left = onnx_where(n, onnx_equal(n, each, at), b->none, left);
    x[MAXIMA] = onnx_where(n, onnx_equal(n, onnx_iota(n, i32, 3, 2, blocks), block),
                           onnx_reduce_axis(n, wnnGraphBuilderReduceMax, left, 2), in[MAXIMA]);
    x[PLACE] = onnx_add(n, start, at);
    /* The edges are those of any box where none is left. */
    place = onnx_min(n, x[PLACE], onnx_scalar(n, i32, b->count - 1));
    place = onnx_add(n, place, onnx_mul(n, onnx_iota(n, i32, 3, 0, b->batch), onnx_scalar(n, i32, b->count)));
    edges = onnx_reshape(n, pick_rows(n, b, table, onnx_expand(n, place, (struct onnx_dims){3, {b->batch, b->classes, 1}})), 4,
                         (uint32_t[]){b->batch, b->classes, EDGES, 1});
    here = onnx_cast(n, find_overlapping(n, b, edges, 2, onnx_slice_axis(n, in[EDGE], 3, 0, b->most), 2), i32);
    here = onnx_reshape(n, onnx_reduce_axis(n, wnnGraphBuilderReduceMax, here, 3), 3, (uint32_t[]){b->batch, b->classes, 1});
    here = onnx_and(n, valid, onnx_equal(n, here, onnx_scalar(n, i32, 0)));
    x[KEPT] = onnx_add(n, in[KEPT], onnx_cast(n, here, i32));
    /* What is not kept goes after all that can be. */
    here = onnx_where(n, here, in[KEPT], onnx_scalar(n, i32, b->most));
    x[CHOSEN] = wnnGraphBuilderScatterElements(n->builder, in[CHOSEN], here, x[PLACE], &o);
    here = onnx_expand(n, onnx_reshape(n, here, 4, (uint32_t[]){b->batch, b->classes, 1, 1}), onnx_dims_of(n, edges));
    o.axis = 3;
    x[EDGE] = wnnGraphBuilderScatterElements(n->builder, in[EDGE], here, edges, &o);
    x[STOP] = none_of(n, valid);
    if (!control_end(n, &t, true))
        return *kept;
    *kept = out[KEPT];
    return onnx_slice_axis(n, out[CHOSEN], 2, 0, b->most);
}

/** Returns the rows [picture, class, box] of all classes, int32 [rows, 3], and which of them are boxes, int32 [rows]. */
static WNNOperand choose(struct onnx_node *n, const struct boxes *b, WNNOperand *flags)
{
    const struct onnx_dims all = {4, {b->batch, b->classes, b->most, 1}};
    const uint32_t rows = onnx_dims_product(n, &all, 0, all.rank);
    WNNOperand kept, chosen = b->most < b->count / FEW ? try_one(n, b, &kept) : keep_one(n, b, &kept), parts[INDICES];

    *flags = onnx_lesser(n, onnx_iota(n, i32, 3, 2, b->most), kept);
    chosen = onnx_where(n, *flags, chosen, onnx_scalar(n, i32, 0));
    *flags = onnx_reshape(n, onnx_cast(n, *flags, i32), 1, &rows);
    parts[0] = onnx_expand(n, onnx_iota(n, i32, 4, 0, b->batch), all);
    parts[1] = onnx_expand(n, onnx_iota(n, i32, 4, 1, b->classes), all);
    parts[2] = onnx_reshape_to(n, chosen, all);
    return onnx_reshape(n, onnx_concat(n, INDICES, parts, 3), 2, (uint32_t[]){rows, INDICES});
}

/** Returns a scalar of input i. */
static WNNOperand scalar_of(struct onnx_node *n, size_t i)
{
    if (onnx_elements(onnx_input(n, i)) != 1)
        onnx_refuse(n, "input %zu has %lld elements, it must have one", i, (long long)onnx_elements(onnx_input(n, i)));
    return n->refused ? onnx_error_operand(n) : onnx_reshape(n, onnx_operand(n, i), 0, NULL);
}

/** Checks the shapes. */
static bool read_boxes(struct onnx_node *n, struct boxes *b)
{
    const struct onnx_value *boxes = n->inputs[0], *scores = n->inputs[1];
    const double most = onnx_input(n, 2) ? onnx_number(n, 2, 0) : 0;

    if (n->refused || boxes->rank != 3 || scores->rank != 3 || boxes->dims[2] != 4 || boxes->dims[0] != scores->dims[0] ||
        boxes->dims[1] != scores->dims[2])
        return onnx_refuse(n, "boxes must be [batch, boxes, 4] and scores [batch, classes, boxes]");
    if ((boxes->count && boxes->counted != 1) || (scores->count && scores->counted != 2))
        return onnx_refuse(n, "how many pictures or classes there are is known at run time only");
    b->batch = (uint32_t)boxes->dims[0];
    b->classes = (uint32_t)scores->dims[1];
    b->count = (uint32_t)boxes->dims[1];
    b->most = most <= 0 ? 0 : most < b->count ? (uint32_t)most : b->count;
    b->overlap = onnx_input(n, 3) ? scalar_of(n, 3) : onnx_scalar(n, WNNOperandDataType_Float32, 0);
    return !n->refused;
}

bool onnx_import_non_max_suppression(struct onnx_node *n)
{
    const bool centered = onnx_int(n, "center_point_box", 0) != 0;
    WNNOperand rows, flags, count;
    struct boxes b = {0};

    if (!read_boxes(n, &b))
        return false;
    if (!b.most)
        return onnx_output_constant(n, 0, ONNX_INT64, 2, (int64_t[]){0, INDICES}) != NULL;
    if (!control_may_begin(n))
        return onnx_refuse(n, "it lies in a loop, and is one, which do not lie within each other");
    n->is_static = false; /* the reader computes no loops */
    find_edges(n, &b, onnx_operand(n, 0), centered);
    b.none = onnx_scalar(n, WNNOperandDataType_Float32, -INFINITY);
    b.scores = onnx_operand(n, 1);
    b.least = onnx_input(n, 4) ? scalar_of(n, 4) : b.none;
    b.counted = n->inputs[1]->count ? n->inputs[1]->count : n->inputs[0]->count;
    rows = choose(n, &b, &flags);
    if (b.batch * b.classes == 1) { /* rows that count come first anyway */
        count = onnx_reduce_axis(n, wnnGraphBuilderReduceSum, flags, 0);
    } else {
        WNNGatherOptions o = WNN_GATHER_OPTIONS_INIT;

        o.label = n->label;
        flags = onnx_compact(n, flags, &count);
        rows = wnnGraphBuilderGather(n->builder, rows, flags, &o);
    }
    onnx_set_count(n, count, 0);
    return onnx_output(n, 0, onnx_cast(n, rows, WNNOperandDataType_Int64));
}
