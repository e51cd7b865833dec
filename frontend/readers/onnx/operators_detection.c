/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports what detectors end with.
 *
 * NonMaxSuppression takes, for each class of each picture, the box with the highest score, drops those that overlap it, takes
 * the best one of the others, and so on.  An iteration of a loop does that for all classes at once: scores of boxes that are
 * taken or dropped become -infinity, and a class whose best score is that has none left.  Its result has as many rows as there
 * can be, of which the first ones count (counted.h).
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
};

enum { LOW = 0, HIGH = 2, AREA = 4, EDGES = 5, INDICES = 3 };

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

/** Returns which boxes overlap the one at `best` of its class, [batch, classes, 1], as [batch, classes, count]. */
static WNNOperand find_overlapping(struct onnx_node *n, const struct boxes *b, WNNOperand best)
{
    const WNNOperand zero = onnx_scalar(n, WNNOperandDataType_Float32, 0);
    WNNOperand taken, common[2], area, all, overlaps;
    WNNGatherOptions o = WNN_GATHER_OPTIONS_INIT;

    o.label = n->label;
    best = onnx_expand(n, onnx_reshape(n, best, 3, (uint32_t[]){b->batch, 1, b->classes}),
                       (struct onnx_dims){3, {b->batch, EDGES, b->classes}});
    o.axis = 2;
    taken = onnx_transpose(n, wnnGraphBuilderGatherElements(n->builder, b->table, best, &o), 3, (uint32_t[]){0, 2, 1});
    for (uint32_t axis = 0; axis < 2; axis++)
        common[axis] = onnx_sub(n, onnx_min(n, onnx_slice_axis(n, taken, 2, HIGH + axis, 1), row(n, b->table, HIGH + axis)),
                                onnx_max(n, onnx_slice_axis(n, taken, 2, LOW + axis, 1), row(n, b->table, LOW + axis)));
    area = onnx_mul(n, onnx_max(n, common[0], zero), onnx_max(n, common[1], zero));
    all = onnx_add(n, onnx_slice_axis(n, taken, 2, AREA, 1), row(n, b->table, AREA));
    all = onnx_sub(n, all, area);
    /* Without an area in common the quotient may be NaN, which is not above anything. */
    overlaps = onnx_greater(n, wnnGraphBuilderDiv(n->builder, area, all, n->options), b->overlap);
    return onnx_and(n, overlaps, onnx_greater(n, area, zero));
}

/** Returns the rows [picture, class, box] of all iterations, int32 [rows, 3], and which of them are boxes, int32 [rows]. */
static WNNOperand choose(struct onnx_node *n, const struct boxes *b, WNNOperand *flags)
{
    const WNNOperandDataType i32 = WNNOperandDataType_Int32;
    const WNNOperand none = onnx_scalar(n, WNNOperandDataType_Float32, -INFINITY), each = onnx_iota(n, i32, 3, 2, b->count);
    const struct onnx_dims all = {4, {b->batch, b->classes, b->most, 1}};
    const uint32_t rows = onnx_dims_product(n, &all, 0, all.rank);
    WNNOperand scores = b->scores, left, best, outputs[3], parts[INDICES];
    WNNLoopSlices slices[2] = {{NULL, 2, false}, {NULL, 2, false}};
    const struct control_iterations t = {b->most, 1, 0, 2, &scores, &left, &scores, outputs, NULL, slices};
    WNNArgMinMaxOptions o = WNN_ARG_MIN_MAX_OPTIONS_INIT;

    o.label = n->label;
    o.keepDimensions = true;
    o.outputDataType = i32;
    *flags = onnx_error_operand(n);
    if (!control_begin(n, &t))
        return *flags;
    best = wnnGraphBuilderArgMax(n->builder, left, 2, &o);
    slices[0].operand = best;
    slices[1].operand = onnx_cast(n, onnx_greater(n, onnx_reduce_axis(n, wnnGraphBuilderReduceMax, left, 2), none), i32);
    scores = onnx_where(n, onnx_or(n, onnx_equal(n, each, best), find_overlapping(n, b, best)), none, left);
    if (!control_end(n, &t, true))
        return *flags;
    parts[0] = onnx_expand(n, onnx_iota(n, i32, 4, 0, b->batch), all);
    parts[1] = onnx_expand(n, onnx_iota(n, i32, 4, 1, b->classes), all);
    parts[2] = outputs[1];
    *flags = onnx_reshape(n, outputs[2], 1, &rows);
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
    const WNNOperand none = onnx_scalar(n, WNNOperandDataType_Float32, -INFINITY);
    const struct onnx_value *counted;
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
    b.scores = onnx_operand(n, 1);
    /* NaN is above nothing. */
    b.scores = onnx_where(n, onnx_greater(n, b.scores, onnx_input(n, 4) ? scalar_of(n, 4) : none), b.scores, none);
    counted = n->inputs[1]->count ? n->inputs[1] : n->inputs[0];
    if (counted->count)
        b.scores = onnx_where(n, onnx_lesser(n, onnx_iota(n, WNNOperandDataType_Int32, 3, 2, b.count), counted->count),
                              b.scores, none);
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
