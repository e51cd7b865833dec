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
 * Detectors mostly find few objects: of many boxes some hundred have a score that counts.  Those of all classes are put in one
 * list, of which a loop keeps one after the other, class by class (keep_few).  Only if they are more than the list has room
 * for, the loops above run, else they stop before they begin; what these read is made in a loop of one iteration.
 *
 * The result has as many rows as there can be, of which the first ones count (counted.h).
 */

#include "frontend/readers/onnx/control_loop.h"
#include "frontend/readers/onnx/counted.h"
#include "frontend/readers/onnx/compose.h"
#include "ir/support/number.h"

/** Describes the boxes: the edges of each along two axes, and its area. */
struct boxes {
    uint32_t batch, classes, count, most; /* pictures, classes, boxes of a picture, those that a class keeps at most */
    bool centered;                        /* they are given by centers and sizes, not by two corners */
    WNNOperand given, table;              /* [batch, count, 4]; [batch, EDGES, count], or [batch * count, EDGES] */
    WNNOperand scores, overlap;           /* [batch, classes, count]; a scalar */
    WNNOperand state;                     /* the scores of boxes that are left, or the maxima of blocks */
    WNNOperand least, counted;            /* boxes need a greater score; how many boxes count, or NULL */
    WNNOperand none;                      /* the score of a box that is gone: -infinity */
    WNNOperand group;                     /* int32 [1, 1, count], the class of each box, if they are in a list, or NULL */
    WNNOperand stopped;                   /* uint8 scalar: whether there is nothing to do; NULL: there is */
};

/** Describes the kept boxes, of each class or of all. */
struct kept {
    WNNOperand count, box, row; /* int32; row: the number of the class, counted through all pictures */
};

enum { LOW = 0, HIGH = 2, AREA = 4, EDGES = 5, INDICES = 3 };
enum {
    FEW = 4, /* classes that keep less than so great a part of their boxes have them looked at one by one */
    BLOCK = 64,
    BLOCK_MOST = 128,
    LISTED = 2048, /* boxes of so many scores may be listed */
    LISTED_MOST = 1 << 24,
    STEP_MOST = 32
};
/* Nanoseconds that it takes to find scores: for each flag, for each score that is looked at again, and for doing so at all. */
#define FLAG_COST 1.1
#define AGAIN_COST 1.5
#define STEPS_COST 2e3

static const WNNOperandDataType i32 = WNNOperandDataType_Int32, u8 = WNNOperandDataType_Uint8;

/** Returns x[:, i], of [batch, rows, count], as [batch, 1, count]. */
static WNNOperand row(struct onnx_node *n, WNNOperand x, uint32_t i)
{
    return onnx_slice_axis(n, x, 1, i, 1);
}

/** Returns the edges of boxes [batch, count, 4], as [batch, EDGES, count]. */
static WNNOperand find_edges(struct onnx_node *n, WNNOperand boxes, bool centered)
{
    const WNNOperand x = onnx_transpose(n, boxes, 3, (uint32_t[]){0, 2, 1});
    WNNOperand parts[EDGES];

    for (uint32_t axis = 0; axis < 2; axis++) {
        const WNNOperand first = row(n, x, axis), second = row(n, x, 2 + axis), half = onnx_linear(n, second, 0.5, 0);

        parts[LOW + axis] = centered ? onnx_sub(n, first, half) : onnx_min(n, first, second);
        parts[HIGH + axis] = centered ? onnx_add(n, first, half) : onnx_max(n, first, second);
    }
    parts[AREA] = onnx_mul(n, onnx_sub(n, parts[HIGH], parts[LOW]), onnx_sub(n, parts[HIGH + 1], parts[LOW + 1]));
    return onnx_concat(n, EDGES, parts, 1);
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
    *best = onnx_reduce_axis(n, wnnGraphBuilderReduceMax, x, 2);
    return onnx_arg_max(n, x, 2);
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

/** Begins a loop that stops by this carried value, before its first iteration if there is nothing to do. */
static bool begin(struct onnx_node *n, const struct boxes *b, const struct control_iterations *t, size_t stop)
{
    t->carried[stop] = b->stopped ? b->stopped : onnx_scalar(n, u8, 0);
    if (!control_begin(n, t))
        return false;
    return wnnGraphBuilderStopLoop(n->builder, stop) == WNNStatus_Success || control_end(n, t, false);
}

/** Returns x, or a number in its place if p, the parameter of a loop, says that there is nothing to do. */
static WNNOperand unless(struct onnx_node *n, WNNOperand p, WNNOperand x, double otherwise)
{
    return p ? onnx_where(n, p, onnx_scalar_like(n, x, otherwise), x) : x;
}

/** Makes what loops read: the table and the state, and scores [rows, size] of blocks if boxes are looked at one by one. */
static bool prepare(struct onnx_node *n, struct boxes *b, uint32_t size)
{
    const uint32_t blocks = size ? ceil_div(b->count, size) : 0;
    const struct onnx_dims rest = {3, {0, 0, blocks * size - b->count}};
    WNNOperand p = NULL, stop, *made[] = {&b->table, &b->state, &b->scores}, out[4];
    WNNLoopSlices stacked[3];
    const size_t count = size && rest.at[2] ? 3 : 2; /* without a rest scores are read where they are */
    const struct control_iterations t = {1, 1, 0, count, &stop, &p, &p, out, NULL, stacked};
    WNNOperand scores;

    if (b->stopped && !begin(n, b, &t, 0))
        return false;
    scores = unless(n, p, b->scores, -INFINITY);
    b->table = find_edges(n, unless(n, p, b->given, 0), b->centered);
    if (!size) {
        b->state = drop_low(n, b, scores, onnx_iota(n, i32, 3, 2, b->count));
    } else {
        b->table =
            onnx_reshape(n, onnx_transpose(n, b->table, 3, (uint32_t[]){0, 2, 1}), 2, (uint32_t[]){b->batch * b->count, EDGES});
        scores = onnx_pad(n, scores, (struct onnx_dims){3, {0}}, rest, -INFINITY);
        b->state = drop_low(n, b, scores, onnx_iota(n, i32, 3, 2, blocks * size));
        b->state = onnx_reshape(n, b->state, 4, (uint32_t[]){b->batch, b->classes, blocks, size});
        b->state = onnx_reshape(n, onnx_reduce_axis(n, wnnGraphBuilderReduceMax, b->state, 3), 3,
                                (uint32_t[]){b->batch, b->classes, blocks});
        b->scores = count == 3 ? scores : b->scores;
    }
    for (size_t i = 0; i < count; i++)
        stacked[i] = (WNNLoopSlices){*made[i], 0, false};
    if (b->stopped && !control_end(n, &t, true))
        return false;
    for (size_t i = 0; b->stopped && i < count; i++)
        *made[i] = onnx_reshape_to(n, out[1 + i], onnx_dims_of(n, *made[i]));
    if (size)
        b->scores = onnx_reshape(n, b->scores, 2, (uint32_t[]){b->batch * b->classes * blocks, size});
    return !n->refused;
}

/** Returns the boxes that each class keeps, int32 [batch, classes, most], and their number in *kept.  The boxes of groups are
 * kept in the order of these, `each` of one at most. */
static WNNOperand keep_one(struct onnx_node *n, const struct boxes *b, uint32_t each, WNNOperand *kept)
{
    enum { KEPT, STOP, SCORES, GROUP, NUMBER, CARRIED };
    WNNOperand x[CARRIED] = {filled(n, b, i32, 0, 1), NULL, b->state, filled(n, b, i32, -1, 1), filled(n, b, i32, 0, 1)};
    WNNOperand in[CARRIED], out[CARRIED + 1], at, best, taken, valid, left, same = NULL;
    WNNLoopSlices chosen = {NULL, 2, false};
    const size_t carried = b->group ? CARRIED : GROUP;
    const struct control_iterations t = {b->most, carried, 0, 1, x, in, x, out, NULL, &chosen};

    *kept = onnx_error_operand(n);
    if (!begin(n, b, &t, STOP))
        return *kept;
    left = in[SCORES];
    if (b->group) {
        x[GROUP] = onnx_where(n, onnx_greater(n, left, b->none), b->group, onnx_scalar(n, i32, INT32_MAX));
        x[GROUP] = onnx_reduce_axis(n, wnnGraphBuilderReduceMin, x[GROUP], 2);
        same = onnx_equal(n, b->group, x[GROUP]);
        left = onnx_where(n, same, left, b->none);
    }
    at = find_best(n, left, &best);
    valid = onnx_greater(n, best, b->none);
    taken = onnx_expand(n, onnx_reshape(n, at, 3, (uint32_t[]){b->batch, 1, b->classes}),
                        (struct onnx_dims){3, {b->batch, EDGES, b->classes}});
    taken = onnx_transpose(n, onnx_gather_elements(n, b->table, taken, 2), 3, (uint32_t[]){0, 2, 1});
    taken = find_overlapping(n, b, taken, 2, b->table, 1);
    taken = onnx_or(n, onnx_equal(n, onnx_iota(n, i32, 3, 2, b->count), at), taken);
    if (b->group) {
        x[NUMBER] = onnx_where(n, onnx_equal(n, x[GROUP], in[GROUP]), in[NUMBER], onnx_scalar(n, i32, 0));
        x[NUMBER] = onnx_add(n, x[NUMBER], onnx_scalar(n, i32, 1));
        taken = onnx_or(n, taken, onnx_equal(n, x[NUMBER], onnx_scalar(n, i32, each)));
        taken = onnx_and(n, taken, same);
    }
    x[SCORES] = onnx_where(n, taken, b->none, in[SCORES]);
    x[KEPT] = onnx_add(n, in[KEPT], onnx_cast(n, valid, i32));
    x[STOP] = none_of(n, valid);
    chosen.operand = onnx_reshape(n, at, 2, (uint32_t[]){b->batch, b->classes});
    if (!control_end(n, &t, true))
        return *kept;
    *kept = out[KEPT];
    return out[carried];
}

/** Returns rows of x, [rows, size], at int32 indices [batch, classes, 1], as [batch, classes, size]. */
static WNNOperand pick_rows(struct onnx_node *n, const struct boxes *b, WNNOperand x, WNNOperand at)
{
    const uint32_t rows = b->batch * b->classes, size = onnx_dims_of(n, x).at[1];

    x = onnx_gather(n, x, onnx_reshape(n, at, 1, &rows), 0);
    return onnx_reshape(n, x, 3, (uint32_t[]){b->batch, b->classes, size});
}

/**
 * Does the same.  Boxes are looked at in the order of their scores, those with equal scores in their own: the boxes of a block
 * that are left are those that come after the last one of the class in this order.
 */
static WNNOperand try_one(struct onnx_node *n, const struct boxes *b, uint32_t size, WNNOperand *kept)
{
    enum { KEPT, STOP, MAXIMA, SCORE, PLACE, EDGE, CHOSEN, CARRIED };
    const uint32_t blocks = ceil_div(b->count, size), classes = b->batch * b->classes;
    const WNNOperand each = onnx_iota(n, i32, 3, 2, size);
    const WNNOperand number = onnx_reshape(n, onnx_iota(n, i32, 1, 0, classes), 3, (uint32_t[]){b->batch, b->classes, 1});
    WNNOperand x[CARRIED], in[CARRIED], out[CARRIED], block, start, best, at, valid, left, place, edges, here;
    const struct control_iterations t = {b->count, CARRIED, 0, 0, x, in, x, out, NULL, NULL};

    x[KEPT] = filled(n, b, i32, 0, 1);
    x[MAXIMA] = b->state;
    x[SCORE] = filled(n, b, WNNOperandDataType_Float32, INFINITY, 1);
    x[PLACE] = filled(n, b, i32, -1, 1);
    x[EDGE] = onnx_expand(n, onnx_scalar(n, WNNOperandDataType_Float32, 0),
                          (struct onnx_dims){4, {b->batch, b->classes, EDGES, b->most + 1}});
    x[CHOSEN] = filled(n, b, i32, 0, b->most + 1);
    *kept = onnx_error_operand(n);
    if (!begin(n, b, &t, STOP))
        return *kept;
    block = find_best(n, in[MAXIMA], &best);
    valid = onnx_and(n, onnx_greater(n, best, b->none), onnx_lesser(n, in[KEPT], onnx_scalar(n, i32, b->most)));
    left = pick_rows(n, b, b->scores, onnx_add(n, onnx_mul(n, number, onnx_scalar(n, i32, blocks)), block));
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
    edges = onnx_reshape(n, pick_rows(n, b, b->table, onnx_expand(n, place, (struct onnx_dims){3, {b->batch, b->classes, 1}})),
                         4, (uint32_t[]){b->batch, b->classes, EDGES, 1});
    here = onnx_cast(n, find_overlapping(n, b, edges, 2, onnx_slice_axis(n, in[EDGE], 3, 0, b->most), 2), i32);
    here = onnx_reshape(n, onnx_reduce_axis(n, wnnGraphBuilderReduceMax, here, 3), 3, (uint32_t[]){b->batch, b->classes, 1});
    here = onnx_and(n, valid, onnx_equal(n, here, onnx_scalar(n, i32, 0)));
    x[KEPT] = onnx_add(n, in[KEPT], onnx_cast(n, here, i32));
    /* What is not kept goes after all that can be. */
    here = onnx_where(n, here, in[KEPT], onnx_scalar(n, i32, b->most));
    x[CHOSEN] = onnx_scatter_elements(n, in[CHOSEN], here, x[PLACE], 2);
    here = onnx_expand(n, onnx_reshape(n, here, 4, (uint32_t[]){b->batch, b->classes, 1, 1}), onnx_dims_of(n, edges));
    x[EDGE] = onnx_scatter_elements(n, in[EDGE], here, edges, 3);
    x[STOP] = none_of(n, valid);
    if (!control_end(n, &t, true))
        return *kept;
    *kept = out[KEPT];
    return onnx_slice_axis(n, out[CHOSEN], 2, 0, b->most);
}

/* ---- boxes of all classes in one list ---- */

/** Returns the values, int32 [size], whose flags are 1, with zeros after them, as int32 [room], and how many there are: of more
 * than `room` the first ones. */
static WNNOperand list(struct onnx_node *n, WNNOperand flags, WNNOperand values, uint32_t room, WNNOperand *count)
{
    const WNNOperand end = onnx_scalar(n, i32, room);
    WNNOperand place;

    *count = onnx_reshape(n, onnx_reduce_axis(n, wnnGraphBuilderReduceSum, flags, 0), 0, NULL);
    place = onnx_min(n, onnx_sum_before(n, flags), end);
    place = onnx_where(n, onnx_cast(n, flags, u8), place, end); /* one more is cut off */
    values =
        onnx_scatter_elements(n, onnx_expand(n, onnx_scalar(n, i32, 0), (struct onnx_dims){1, {room + 1}}), place, values, 0);
    return onnx_slice_axis(n, values, 0, 0, room);
}

/** Returns how many scores share a flag: they lie all / step apart. */
static uint32_t choose_step(uint32_t all, uint32_t room)
{
    double least = FLAG_COST * all;
    uint32_t best = 1;

    for (uint32_t step = 2; step <= STEP_MOST; step++) {
        const double cost = FLAG_COST * (all / step) + AGAIN_COST * step * room + STEPS_COST;

        if (all % step == 0 && cost < least) {
            least = cost;
            best = step;
        }
    }
    return best;
}

/** Returns the places of scores [all] that count, in their order, as int32 [room], and how many there are: more than `room` if
 * that has no room for them. */
static WNNOperand find_scores(struct onnx_node *n, const struct boxes *b, WNNOperand scores, uint32_t room, WNNOperand *count)
{
    const uint32_t all = onnx_dims_of(n, scores).at[0], step = choose_step(all, room), width = all / step, again = step * room;
    WNNOperand at, place, found = NULL, flags;

    if (step == 1) {
        at = onnx_iota(n, i32, 1, 0, all);
    } else {
        flags = onnx_cast(n, onnx_greater(n, onnx_reshape(n, scores, 2, (uint32_t[]){step, width}), b->least), i32);
        flags = onnx_reshape(n, onnx_reduce_axis(n, wnnGraphBuilderReduceMax, flags, 0), 1, &width);
        at = onnx_reshape(n, list(n, flags, onnx_iota(n, i32, 1, 0, width), room, &found), 2, (uint32_t[]){1, room});
        at = onnx_add(n, at, onnx_mul(n, onnx_iota(n, i32, 2, 0, step), onnx_scalar(n, i32, width)));
        scores = onnx_gather(n, scores, at, 0);
        scores = onnx_where(n, onnx_lesser(n, onnx_iota(n, i32, 2, 1, room), found), scores, b->none);
        at = onnx_reshape(n, at, 1, &again);
        scores = onnx_reshape(n, scores, 1, &again);
    }
    onnx_divide(n, at, b->count, &place);
    flags = onnx_cast(n, onnx_greater(n, drop_low(n, b, scores, place), b->none), i32);
    at = list(n, flags, at, room, count);
    if (found) /* scores may be missing if flags were too many */
        *count = onnx_max(n, *count, found);
    return at;
}

/** Returns so many elements of a list, zeros after them. */
static WNNOperand extend(struct onnx_node *n, WNNOperand x, uint32_t size)
{
    return onnx_pad(n, x, (struct onnx_dims){1, {0}}, (struct onnx_dims){1, {size - onnx_dims_of(n, x).at[0]}}, 0);
}

/** Keeps boxes if those that count are few.  Returns the kept boxes, as lists [rows], and sets b->stopped. */
static struct kept keep_few(struct onnx_node *n, struct boxes *b, uint32_t rows)
{
    const uint32_t classes = b->batch * b->classes, all = classes * b->count;
    const uint32_t room = all < 1U << 16 ? 512 : all < 1U << 19 ? 1024 : 2048;
    const WNNOperand scores = onnx_reshape(n, b->scores, 1, &all);
    struct boxes f = *b;
    struct kept k;
    WNNOperand count, at = find_scores(n, b, scores, room, &count), place;

    f.batch = f.classes = 1;
    f.count = room;
    f.most = rows < room ? rows : room;
    f.stopped = onnx_greater(n, count, onnx_scalar(n, i32, room));
    b->stopped = onnx_not(n, f.stopped);
    k.row = onnx_divide(n, at, b->count, &k.box);
    place = onnx_divide(n, k.row, b->classes, NULL);
    place = onnx_add(n, k.box, onnx_mul(n, place, onnx_scalar(n, i32, b->count)));
    f.given = onnx_reshape(n, b->given, 2, (uint32_t[]){b->batch * b->count, 4});
    f.given = onnx_reshape(n, onnx_gather(n, f.given, place, 0), 3, (uint32_t[]){1, room, 4});
    f.table = find_edges(n, f.given, b->centered);
    f.state = onnx_gather(n, scores, at, 0);
    f.state = onnx_where(n, onnx_lesser(n, onnx_iota(n, i32, 1, 0, room), count), f.state, b->none);
    f.state = onnx_reshape(n, f.state, 3, (uint32_t[]){1, 1, room});
    f.group = classes > 1 ? onnx_reshape(n, k.row, 3, (uint32_t[]){1, 1, room}) : NULL;
    at = onnx_reshape(n, keep_one(n, &f, b->most, &k.count), 1, &f.most);
    k.count = onnx_reshape(n, k.count, 0, NULL);
    /* What is not kept is the element after the list, 0. */
    at = onnx_where(n, onnx_lesser(n, onnx_iota(n, i32, 1, 0, f.most), k.count), at, onnx_scalar(n, i32, room));
    k.row = extend(n, onnx_gather(n, extend(n, k.row, room + 1), at, 0), rows);
    k.box = extend(n, onnx_gather(n, extend(n, k.box, room + 1), at, 0), rows);
    return k;
}

/* ---- the result ---- */

/** Puts what classes keep, boxes [batch, classes, most], into a list [rows], or passes on the list that there is. */
static bool join_classes(struct onnx_node *n, const struct boxes *b, uint32_t rows, struct kept *k, const struct kept *few)
{
    enum { STOP, COUNT, BOX, ROW, CARRIED };
    const uint32_t classes = b->batch * b->classes;
    WNNOperand p = NULL, x[CARRIED] = {NULL, few->count, few->box, few->row}, in[CARRIED], flags, kept;
    const struct control_iterations t = {1, CARRIED, 0, 0, x, in, x, x, NULL, NULL};

    if (b->stopped && !begin(n, b, &t, STOP))
        return false;
    p = b->stopped ? in[STOP] : NULL;
    kept = unless(n, p, k->count, 0);
    flags = onnx_lesser(n, onnx_iota(n, i32, 3, 2, b->most), kept);
    x[BOX] = onnx_reshape(n, onnx_where(n, flags, k->box, onnx_scalar(n, i32, 0)), 1, &rows);
    flags = onnx_reshape(n, onnx_cast(n, flags, i32), 1, &rows);
    x[ROW] = onnx_expand(n, onnx_iota(n, i32, 2, 0, classes), (struct onnx_dims){2, {classes, b->most}});
    x[ROW] = onnx_reshape(n, x[ROW], 1, &rows);
    if (classes == 1) { /* rows that count come first anyway */
        x[COUNT] = onnx_reshape(n, onnx_reduce_axis(n, wnnGraphBuilderReduceSum, flags, 0), 0, NULL);
    } else {
        flags = onnx_compact(n, flags, &x[COUNT]);
        x[BOX] = onnx_gather(n, x[BOX], flags, 0);
        x[ROW] = onnx_gather(n, x[ROW], flags, 0);
    }
    for (size_t i = COUNT; p && i < CARRIED; i++)
        x[i] = onnx_where(n, p, in[i], x[i]);
    x[STOP] = p;
    if (b->stopped && !control_end(n, &t, true))
        return false;
    *k = (struct kept){x[COUNT], x[BOX], x[ROW]};
    return true;
}

/** Returns the rows [picture, class, box] of all classes, int32 [rows, 3], and their number in *count. */
static WNNOperand choose(struct onnx_node *n, struct boxes *b, WNNOperand *count)
{
    const struct onnx_dims dims = {3, {b->batch, b->classes, b->most}};
    const uint32_t rows = onnx_dims_product(n, &dims, 0, dims.rank), size = b->most < b->count / FEW ? block_size(b->count) : 0;
    const double all = (double)b->batch * b->classes * b->count;
    struct kept few = {0}, k = {0};
    WNNOperand parts[INDICES];

    if (all >= LISTED && all <= LISTED_MOST && (b->least != b->none || b->counted))
        few = keep_few(n, b, rows);
    if (!n->refused && prepare(n, b, size))
        k.box = size ? try_one(n, b, size, &k.count) : keep_one(n, b, 0, &k.count);
    if (n->refused || !join_classes(n, b, rows, &k, &few))
        return onnx_error_operand(n);
    *count = k.count;
    parts[0] = onnx_divide(n, k.row, b->classes, &parts[1]);
    parts[2] = k.box;
    for (size_t i = 0; i < INDICES; i++)
        parts[i] = onnx_reshape(n, parts[i], 2, (uint32_t[]){rows, 1});
    return onnx_concat(n, INDICES, parts, 1);
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
    struct boxes b = {.centered = onnx_int(n, "center_point_box", 0) != 0};
    WNNOperand rows, count = NULL;

    if (!read_boxes(n, &b))
        return false;
    if (!b.most)
        return onnx_output_constant(n, 0, ONNX_INT64, 2, (int64_t[]){0, INDICES}) != NULL;
    if (!control_may_begin(n))
        return onnx_refuse(n, "it is a loop inside of a loop, and loops cannot be nested");
    n->is_static = false; /* the reader computes no loops */
    b.given = onnx_operand(n, 0);
    b.none = onnx_scalar(n, WNNOperandDataType_Float32, -INFINITY);
    b.scores = onnx_operand(n, 1);
    b.least = onnx_input(n, 4) ? scalar_of(n, 4) : b.none;
    b.counted = n->inputs[1]->count ? n->inputs[1]->count : n->inputs[0]->count;
    rows = choose(n, &b, &count);
    if (n->refused)
        return false;
    onnx_set_count(n, count, 0);
    return onnx_output(n, 0, onnx_cast(n, rows, WNNOperandDataType_Int64));
}
