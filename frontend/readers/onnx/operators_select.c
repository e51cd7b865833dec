/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports GridSample as gathers and weights.
 */
#include <string.h>

#include "frontend/readers/onnx/compose.h"
#include "frontend/readers/onnx/operators.h"

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
    {"GridSample", 16, 0, 2, 2, 1, 0, import_grid_sample, "gatherElements and weights; cubic and 3-D refused", NULL},
};

ONNX_TABLE(onnx_select_operators, rows);
