/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports TopK and GridSample as comparisons, gathers and scatters.
 */
#include <string.h>

#include "frontend/onnx/compose.h"
#include "frontend/onnx/operators.h"

/* ---- TopK ---- */

enum {
    SORT_MAX = 4096, /* elements that are sorted by counting, unless there are */
    PICKS_FEW = 8,   /* so few picks that their kernels, one after the other in the code, do not take long to compile */
    PICK_PART = 32,  /* and picking one takes less than counting this part of the elements */
    PICKS_MAX = 256
};

/*
 * Returns how many elements of its row come before each element: those that are larger (smaller), and of equal ones those with
 * a lower index.  x is [rows, count]; so is the result.
 */
static WNNOperand rank_elements(struct onnx_node *n, WNNOperand x, bool largest)
{
    struct onnx_dims dims = onnx_dims_of(x);
    uint32_t rows = dims.at[0], count = dims.at[1];
    WNNOperand each = onnx_reshape(n, x, 3, (uint32_t[]){rows, count, 1}),
               other = onnx_reshape(n, x, 3, (uint32_t[]){rows, 1, count});
    WNNOperand before = onnx_lesser(n, onnx_iota(n, WNNOperandDataType_Int32, 3, 2, count),
                                    onnx_iota(n, WNNOperandDataType_Int32, 3, 1, count));
    WNNOperand first = largest ? onnx_greater(n, other, each) : onnx_lesser(n, other, each);

    first = onnx_or(n, first, onnx_and(n, onnx_equal(n, other, each), before));
    first = onnx_reduce_axis(n, wnnGraphBuilderReduceSum, onnx_cast(n, first, WNNOperandDataType_Int32), 2);
    return onnx_reshape(n, first, 2, (uint32_t[]){rows, count});
}

/* Returns the indices of the k first ones in order, [rows, k]: every element writes its index at its rank. */
static WNNOperand sort_indices(struct onnx_node *n, WNNOperand x, uint32_t k, bool largest)
{
    struct onnx_dims dims = onnx_dims_of(x);
    WNNScatterOptions o = WNN_SCATTER_OPTIONS_INIT;
    WNNOperand places = onnx_expand(n, onnx_iota(n, WNNOperandDataType_Int32, 2, 1, dims.at[1]), dims);

    o.label = n->label;
    o.axis = 1;
    places = wnnGraphBuilderScatterElements(n->builder, places, rank_elements(n, x, largest), places, &o);
    return onnx_slice_axis(n, places, 1, 0, k);
}

/* Returns the same for few picks of many: one after the other, those taken left out. */
static WNNOperand pick_indices(struct onnx_node *n, WNNOperand x, uint32_t k, bool largest)
{
    struct onnx_dims dims = onnx_dims_of(x);
    WNNOperand places = onnx_iota(n, WNNOperandDataType_Int32, 2, 1, dims.at[1]), *picks = onnx_alloc(n, k, sizeof *picks);
    WNNOperand left = onnx_expand(n, onnx_scalar(n, WNNOperandDataType_Uint8, 1), dims), best, worst, candidates;
    WNNArgMinMaxOptions o = WNN_ARG_MIN_MAX_OPTIONS_INIT;

    if (!picks)
        return onnx_error_operand(n);
    o.label = n->label;
    o.keepDimensions = true;
    /* Any element can stand for those taken if it is the last in order. */
    worst = onnx_reduce_axis(n, largest ? wnnGraphBuilderReduceMin : wnnGraphBuilderReduceMax, x, 1);
    for (uint32_t i = 0; i < k; i++) {
        best = onnx_reduce_axis(n, largest ? wnnGraphBuilderReduceMax : wnnGraphBuilderReduceMin, onnx_where(n, left, x, worst),
                                1);
        candidates = onnx_and(n, left, onnx_equal(n, x, best));
        picks[i] = wnnGraphBuilderArgMax(n->builder, candidates, 1, &o);
        left = onnx_and(n, left, onnx_not(n, onnx_equal(n, places, picks[i])));
    }
    return onnx_concat(n, k, picks, 1);
}

static bool import_top_k(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), rows, indices;
    bool largest = onnx_int(n, "largest", 1) != 0, picks;
    int64_t along = onnx_int(n, "axis", -1), k;
    struct onnx_dims dims = onnx_dims_of(x), flat = {2, {1, 1}};
    uint32_t permutation[ONNX_RANK_MAX], axis, last;
    WNNGatherOptions o = WNN_GATHER_OPTIONS_INIT;
    size_t count = 0;

    onnx_ignore(n, "sorted"); /* in order is right in any case */
    if (n->version < 10)
        k = onnx_int(n, "k", 0);
    else {
        const int64_t *list = onnx_integers(n, 1, &count);
        k = list && count == 1 ? list[0] : 0;
    }
    if (n->refused || !onnx_axis(n, along, dims.rank, &axis))
        return false;
    if (k < 1 || k > dims.at[axis])
        return onnx_refuse(n, "%lld elements of %u", (long long)k, dims.at[axis]);
    if (dims.at[axis] > SORT_MAX && k > PICKS_MAX)
        return onnx_refuse(n, "%lld elements of %u: at most %d, or any number of %d", (long long)k, dims.at[axis], PICKS_MAX,
                           SORT_MAX);
    last = (uint32_t)dims.rank - 1;
    for (uint32_t i = 0; i <= last; i++)
        permutation[i] = i;
    permutation[axis] = last;
    permutation[last] = axis;
    if (axis != last)
        x = onnx_transpose(n, x, last + 1, permutation);
    dims = onnx_dims_of(x);
    flat.at[0] = onnx_dims_product(n, &dims, 0, last);
    flat.at[1] = dims.at[last];
    rows = onnx_reshape_to(n, x, flat);
    picks = flat.at[1] > SORT_MAX || (k <= PICKS_FEW && k * PICK_PART <= flat.at[1]);
    indices = picks ? pick_indices(n, rows, (uint32_t)k, largest) : sort_indices(n, rows, (uint32_t)k, largest);
    o.label = n->label;
    o.axis = 1;
    rows = wnnGraphBuilderGatherElements(n->builder, rows, indices, &o);
    dims.at[last] = (uint32_t)k;
    rows = onnx_reshape_to(n, rows, dims);
    indices = onnx_reshape_to(n, onnx_cast(n, indices, WNNOperandDataType_Int64), dims);
    if (axis != last) {
        rows = onnx_transpose(n, rows, last + 1, permutation);
        indices = onnx_transpose(n, indices, last + 1, permutation);
    }
    onnx_output(n, 1, indices);
    return onnx_output(n, 0, rows);
}

/* ---- GridSample ---- */

struct grid {
    WNNOperand x;                  /* [batch, channels, height * width], float32 */
    struct onnx_dims dims, places; /* of the input; [batch, 1, results] */
    bool zeros;                    /* what lies outside is 0 */
};

/* Returns coordinates in elements along a side, from those from -1 to 1; padding reflection and border bring them inside. */
static WNNOperand place(struct onnx_node *n, const struct grid *g, WNNOperand grid, uint32_t which, uint32_t size, bool align,
                        bool round, bool reflect)
{
    double low = align ? 0 : -0.5, span = align ? size - 1.0 : size;
    WNNOperand x = onnx_reshape_to(n, onnx_slice_axis(n, grid, 3, which, 1), g->places), turns;

    x = align ? onnx_linear(n, x, (size - 1) / 2.0, (size - 1) / 2.0) : onnx_linear(n, x, size / 2.0, (size - 1) / 2.0);
    if (round)
        x = onnx_round_even(n, x);
    if (reflect && span > 0) { /* a wave of that span, up and down */
        x = onnx_linear(n, x, 1, -low);
        turns = onnx_floor(n, onnx_linear(n, x, 1 / (2 * span), 0));
        x = onnx_sub(n, x, onnx_linear(n, turns, 2 * span, 0));
        x = onnx_linear(n, onnx_abs(n, onnx_linear(n, x, 1, -span)), -1, span + low);
    }
    return g->zeros ? x : onnx_clamp(n, x, 0, size - 1.0);
}

/* Returns the elements at whole coordinates, [batch, channels, results]. */
static WNNOperand pick(struct onnx_node *n, const struct grid *g, WNNOperand x, WNNOperand y)
{
    uint32_t height = g->dims.at[2], width = g->dims.at[3];
    WNNOperand column = onnx_clamp(n, x, 0, width - 1.0), row = onnx_clamp(n, y, 0, height - 1.0), index, picked;
    struct onnx_dims all = {3, {g->dims.at[0], g->dims.at[1], g->places.at[2]}};
    WNNGatherOptions o = WNN_GATHER_OPTIONS_INIT;

    o.label = n->label;
    o.axis = 2;
    index = onnx_mul(n, onnx_cast(n, row, WNNOperandDataType_Int32), onnx_scalar(n, WNNOperandDataType_Int32, width));
    index = onnx_add(n, index, onnx_cast(n, column, WNNOperandDataType_Int32));
    picked = wnnGraphBuilderGatherElements(n->builder, g->x, onnx_expand(n, index, all), &o);
    if (!g->zeros)
        return picked;
    return onnx_where(n, onnx_and(n, onnx_equal(n, column, x), onnx_equal(n, row, y)), picked, onnx_scalar_like(n, picked, 0));
}

static bool import_grid_sample(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), grid = onnx_operand(n, 1), px, py, fx, fy, sum = NULL;
    const char *mode = onnx_string(n, "mode", n->version < 20 ? "bilinear" : "linear");
    const char *padding = onnx_string(n, "padding_mode", "zeros");
    bool align = onnx_int(n, "align_corners", 0) != 0, nearest = !strcmp(mode, "nearest"),
         reflect = !strcmp(padding, "reflection");
    WNNOperandDataType type = wnnOperandGetDataType(x);
    struct onnx_dims at = onnx_dims_of(grid);
    struct grid g = {.dims = onnx_dims_of(x), .zeros = !strcmp(padding, "zeros")};

    if (n->refused)
        return false;
    if (g.dims.rank != 4 || at.rank != 4 || at.at[3] != 2 || at.at[0] != g.dims.at[0])
        return onnx_refuse(n, "an input of %zu dimensions and a grid of %zu; pictures can be expressed", g.dims.rank, at.rank);
    if (!nearest && strcmp(mode, "bilinear") != 0 && strcmp(mode, "linear") != 0)
        return onnx_refuse(n, "mode \"%.40s\"; nearest and linear can be expressed", mode);
    if (!reflect && !g.zeros && strcmp(padding, "border") != 0)
        return onnx_refuse(n, "padding_mode \"%.40s\" is not known", padding);
    g.places = (struct onnx_dims){3, {at.at[0], 1, at.at[1] * at.at[2]}};
    g.x = onnx_reshape(n, onnx_cast(n, x, WNNOperandDataType_Float32), 3,
                       (uint32_t[]){g.dims.at[0], g.dims.at[1], onnx_dims_product(n, &g.dims, 2, 4)});
    grid = onnx_cast(n, grid, WNNOperandDataType_Float32);
    px = place(n, &g, grid, 0, g.dims.at[3], align, nearest, reflect);
    py = place(n, &g, grid, 1, g.dims.at[2], align, nearest, reflect);
    if (nearest)
        sum = pick(n, &g, px, py);
    else {
        fx = onnx_floor(n, px);
        fy = onnx_floor(n, py);
        for (uint32_t i = 0; i < 4; i++) {
            bool right = i & 1, below = i >> 1;
            WNNOperand weight_x = onnx_sub(n, px, fx), weight_y = onnx_sub(n, py, fy), part;
            weight_x = right ? weight_x : onnx_linear(n, weight_x, -1, 1);
            weight_y = below ? weight_y : onnx_linear(n, weight_y, -1, 1);
            part = pick(n, &g, right ? onnx_linear(n, fx, 1, 1) : fx, below ? onnx_linear(n, fy, 1, 1) : fy);
            part = onnx_mul(n, part, onnx_mul(n, weight_x, weight_y));
            sum = sum ? onnx_add(n, sum, part) : part;
        }
    }
    sum = onnx_reshape(n, sum, 4, (uint32_t[]){g.dims.at[0], g.dims.at[1], at.at[1], at.at[2]});
    return onnx_output(n, 0, onnx_cast(n, sum, type));
}

static const struct onnx_operator rows[] = {
    {"TopK", 1, 9, 1, 1, 2, 0, import_top_k, "sorted by counting; long rows by repeated reduceMax and argMax", NULL},
    {"TopK", 10, 0, 2, 2, 2, 0, import_top_k,
     "k must be constant; sorted by counting; long rows by repeated reduceMax and argMax", NULL},
    {"GridSample", 16, 0, 2, 2, 1, 0, import_grid_sample, "gatherElements and weights; cubic and 3-D refused", NULL},
};

ONNX_TABLE(onnx_select_operators, rows);
