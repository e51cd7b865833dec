/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports AveragePool, MaxPool, LpPool and their global forms as the pools of WebNN, whose windows leave padding out as ONNX's
 * do; sizes that are rounded up become padding at the end, so that rounding down gives them.
 */

#include "ir/support/checked.h"

#include "frontend/readers/onnx/open.h"
#include "frontend/readers/onnx/compose.h"

enum { INDICES_MAX = 1 << 24 }; /* elements of all windows together, where MaxPool has to tell their indices */

struct pool {
    struct onnx_window window;
    uint32_t out[2];
    WNNRoundingType rounding; /* of the results of open sizes */
    uint32_t after[2];        /* elements after the input under the last window, padding included */
};

/* Finds how many results there are.  A window that starts after the input and its front padding is left out (text of
 * ceil_mode). */
static bool count_results(struct onnx_node *n, struct pool *p)
{
    struct onnx_window *w = &p->window;
    int64_t ceil_mode = onnx_int(n, "ceil_mode", 0);

    bool fewer = false; /* than rounding up gives */

    p->rounding = ceil_mode ? WNNRoundingType_Ceil : WNNRoundingType_Floor;
    for (int d = 0; d < 2; d++) {
        p->after[d] = w->after[d];
        if (onnx_is_open(w->in[d]) && ceil_mode && w->extent[d] < w->after[d] + w->strides[d])
            return onnx_refuse_open(n); /* whether the last window starts after the input */
        if (onnx_is_open(w->in[d]))
            continue; /* the builder counts, where the size is known */
        int64_t size = (int64_t)w->in[d] + w->before[d] + w->after[d] - w->extent[d], after, out;
        if (size < 0)
            return onnx_refuse(n, "a window of %u elements on %u and a padding of %u and %u", w->extent[d], w->in[d],
                               w->before[d], w->after[d]);
        out = (size + (ceil_mode ? w->strides[d] - 1 : 0)) / w->strides[d] + 1;
        if (ceil_mode && (out - 1) * w->strides[d] >= (int64_t)w->in[d] + w->before[d])
            out--, fewer = true;
        after = (out - 1) * w->strides[d] + w->extent[d] - w->in[d] - w->before[d];
        if (!checked_size(out, &p->out[d]) || !checked_size(after < 0 ? 0 : after, &p->after[d]))
            return onnx_refuse(n, "a window of %u elements at strides of %u on %u and pads of %u and %u: %lld results",
                               w->extent[d], w->strides[d], w->in[d], w->before[d], w->after[d], (long long)out);
    }
    return fewer && onnx_any_open(2, w->in) ? onnx_refuse_open(n) : !n->refused;
}

static bool read_pool(struct onnx_node *n, WNNOperand x, struct pool *p)
{
    if (!onnx_window_read(n, x, NULL, &p->window))
        return false;
    return onnx_window_pad_same(n, &p->window) && count_results(n, p);
}

typedef WNNOperand (*pool_method)(WNNGraphBuilder, WNNOperand, WNNPool2dOptions const *);

/* Makes a pool of an input of rank 4 that begins at the window's padding. */
static WNNOperand make_pool(struct onnx_node *n, pool_method method, WNNOperand x, const struct pool *p)
{
    WNNPool2dOptions o = WNN_POOL2D_OPTIONS_INIT;
    uint32_t padding[4] = {p->window.before[0], p->after[0], p->window.before[1], p->after[1]};

    o.label = n->label;
    o.windowDimensionsCount = 2;
    o.windowDimensions = p->window.kernel;
    o.paddingCount = 4;
    o.padding = padding;
    o.stridesCount = 2;
    o.strides = p->window.strides;
    o.dilationsCount = 2;
    o.dilations = p->window.dilations;
    o.outputShapeRounding = p->rounding;
    o.outputSizesCount = onnx_any_open(2, p->window.in) ? 0 : 2;
    o.outputSizes = o.outputSizesCount ? p->out : NULL;
    return method(n->builder, x, &o);
}

/* Padding becomes part of the input: after[d] elements at the end, which the pool reads. */
static WNNOperand pad_pool(struct onnx_node *n, WNNOperand x, struct pool *p, const uint32_t after[2], double value)
{
    struct onnx_dims front = {4, {0, 0, p->window.before[0], p->window.before[1]}}, end = {4, {0, 0, after[0], after[1]}};

    for (int d = 0; d < 2; d++) {
        p->window.before[d] = 0;
        p->after[d] -= p->after[d] < after[d] ? p->after[d] : after[d];
    }
    return onnx_pad(n, x, front, end, value);
}

/* Makes a pool of an input of rank 4. `include`: padding counts, but not elements that rounding up adds after it. */
static WNNOperand pool_plane(struct onnx_node *n, pool_method method, WNNOperand x, struct pool *p, bool include)
{
    return make_pool(n, method, include ? pad_pool(n, x, p, p->window.after, 0) : x, p);
}

/* Makes a pool of three spatial dimensions: of planes, and then of what that gives for each.  Windows are boxes, also where
 * padding is left out, so that means of means are right. */
static WNNOperand pool_3d(struct onnx_node *n, pool_method method, WNNOperand x, bool include)
{
    const struct onnx_dims d = onnx_dims_of(n, x);
    const uint32_t all = onnx_dims_product(n, &d, 1, 3);
    struct pool depth, plane;

    if (!onnx_window_read_3d(n, x, NULL, &depth.window, &plane.window) || !count_results(n, &plane))
        return onnx_error_operand(n);
    depth.window.in[1] = plane.out[0] * plane.out[1];
    if (!count_results(n, &depth))
        return onnx_error_operand(n);
    x = pool_plane(n, method, onnx_reshape(n, x, 4, (uint32_t[]){d.at[0], all, d.at[3], d.at[4]}), &plane, include);
    x = onnx_reshape(n, x, 4, (uint32_t[]){d.at[0], d.at[1], d.at[2], depth.window.in[1]});
    x = pool_plane(n, method, x, &depth, include);
    return onnx_reshape(n, x, 5, (uint32_t[]){d.at[0], d.at[1], depth.out[0], plane.out[0], plane.out[1]});
}

static WNNOperand pool_any(struct onnx_node *n, pool_method method, WNNOperand x, bool include)
{
    struct pool p;

    if (onnx_dims_of(n, x).rank == 5)
        return pool_3d(n, method, x, include);
    return read_pool(n, x, &p) ? onnx_from_2d(n, &p.window, pool_plane(n, method, onnx_to_2d(n, x), &p, include))
                               : onnx_error_operand(n);
}

WNNOperand onnx_average_pool(struct onnx_node *n, WNNOperand x)
{
    return pool_any(n, wnnGraphBuilderAveragePool2d, x, onnx_int(n, "count_include_pad", 0) != 0);
}

WNNOperand onnx_max_pool(struct onnx_node *n, WNNOperand x)
{
    return pool_any(n, wnnGraphBuilderMaxPool2d, x, false);
}

/*
 * Returns indices of the largest elements in the flattened input: the windows' elements are gathered into a last dimension,
 * lowest index first, of which argMax takes the first largest; a table tells the index in the plane.
 */
static WNNOperand pool_indices(struct onnx_node *n, WNNOperand x, const struct pool *p, bool column_major)
{
    const struct onnx_window *w = &p->window;
    struct onnx_dims dims = onnx_dims_of(n, x), flat = {2, {1, 1}}, windows, results;
    int64_t out = onnx_times(n, "the size of its result", p->out[0], p->out[1]);
    int64_t area = onnx_times(n, "the size of its window", w->kernel[0], w->kernel[1]);
    int64_t elements = onnx_times(n, "results times elements of a window", out, area);
    size_t count = (size_t)elements, k = 0;
    WNNOperand chosen, table, plane;
    int32_t *places, *indices;

    flat.at[0] = onnx_dims_product(n, &dims, 0, 2);
    flat.at[1] = onnx_dims_product(n, &dims, 2, 4);
    if (elements > INDICES_MAX)
        onnx_refuse(n, "indices of %lld windows of %lld elements, at most %d elements can be", (long long)out, (long long)area,
                    INDICES_MAX);
    if (n->refused)
        return onnx_error_operand(n);
    places = onnx_alloc(n, count, sizeof *places);
    indices = onnx_alloc(n, count, sizeof *indices);
    int64_t *first = onnx_alloc(n, flat.at[0], sizeof *first);
    if (!places || !indices || !first)
        return onnx_error_operand(n);
    for (uint32_t y = 0; y < p->out[0]; y++)
        for (uint32_t z = 0; z < p->out[1]; z++) {
            size_t start = k, valid = SIZE_MAX;
            for (int64_t i = 0; i < area; i++, k++) {
                int64_t h = (int64_t)y * w->strides[0] - w->before[0] + i / w->kernel[1] * w->dilations[0];
                int64_t v = (int64_t)z * w->strides[1] - w->before[1] + i % w->kernel[1] * w->dilations[1];
                places[k] = -1;
                if (h < 0 || v < 0 || h >= w->in[0] || v >= w->in[1])
                    continue;
                places[k] = (int32_t)(h * w->in[1] + v);
                indices[k] = (int32_t)(column_major ? v * w->in[0] + h : h * w->in[1] + v);
                if (valid == SIZE_MAX)
                    valid = k;
            }
            for (size_t i = start; valid != SIZE_MAX && i < k; i++)
                if (places[i] <
                    0) { /* padding: the first element again, which cannot win against itself if it comes later ... */
                    places[i] = places[valid];
                    indices[i] = indices[valid]; /* ... and is itself if it comes earlier */
                }
        }
    for (uint32_t i = 0; i < flat.at[0]; i++)
        first[i] = (int64_t)i * flat.at[1];
    windows = (struct onnx_dims){3, {flat.at[0], (uint32_t)out, (uint32_t)area}};
    chosen = onnx_gather_constant(n, onnx_reshape_to(n, x, flat), 1, (uint32_t)count, places);
    chosen = onnx_reshape_to(n, chosen, windows);
    chosen = onnx_arg_max(n, chosen, 2);
    windows.at[0] = 1;
    table = onnx_constant_operand(n, WNNOperandDataType_Int32, 3, windows.at, indices);
    windows.at[0] = flat.at[0];
    table = onnx_expand(n, table, windows);
    chosen = onnx_cast(n, onnx_gather_elements(n, table, chosen, 2), WNNOperandDataType_Int64);
    plane = onnx_constant_operand(n, WNNOperandDataType_Int64, 3, (uint32_t[]){flat.at[0], 1, 1}, first);
    results = (struct onnx_dims){4, {dims.at[0], dims.at[1], p->out[0], p->out[1]}};
    return onnx_from_2d(n, w, onnx_reshape_to(n, onnx_add(n, chosen, plane), results));
}

bool onnx_import_max_pool(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0);
    bool column_major = onnx_int(n, "storage_order", 0) != 0;
    struct pool p;

    if (onnx_wants(n, 1)) {
        if (onnx_value_is_open(n->inputs[0]))
            return onnx_refuse_open(n);
        if (onnx_dims_of(n, x).rank == 5)
            return onnx_refuse(n, "Indices of three spatial dimensions are not computed");
        if (!read_pool(n, x, &p))
            return false;
        onnx_output(n, 1, pool_indices(n, onnx_to_2d(n, x), &p, column_major));
    }
    return onnx_output(n, 0, onnx_max_pool(n, x));
}

bool onnx_import_lp_pool(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), y;
    double order = n->version < 2 ? onnx_float(n, "p", 2) : (double)onnx_int(n, "p", 2);
    struct pool p;

    if (!read_pool(n, x, &p))
        return false;
    if (!(order > 0))
        return onnx_refuse(n, "p is %g", order);
    x = onnx_to_2d(n, x);
    if (order == 2)
        return onnx_output(n, 0, onnx_from_2d(n, &p.window, make_pool(n, wnnGraphBuilderL2Pool2d, x, &p)));
    if (p.rounding == WNNRoundingType_Ceil && onnx_any_open(2, p.window.in))
        return onnx_refuse_open(n);
    x = onnx_abs(n, onnx_wide(n, x));
    x = onnx_pow(n, x, onnx_scalar_like(n, x, order));
    x = pad_pool(n, x, &p, (uint32_t[]){p.after[0], p.after[1]}, 0);
    y = make_pool(n, wnnGraphBuilderAveragePool2d, x, &p);
    y = onnx_linear(n, y, (double)p.window.kernel[0] * p.window.kernel[1], 0);
    y = onnx_cast(n, onnx_pow(n, y, onnx_scalar_like(n, y, 1 / order)), wnnOperandGetDataType(onnx_operand(n, 0)));
    return onnx_output(n, 0, onnx_from_2d(n, &p.window, y));
}

/* ---- global pools ---- */
