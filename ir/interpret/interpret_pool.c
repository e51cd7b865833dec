/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes pooling and resampling.  A window that reaches into the padding, or over the far edge when sizes are rounded up,
 * holds fewer elements: only those inside the input count.  A window without any has the result 0.
 */
#include "ir/interpret/interpret.h"

#include <assert.h>

#include "ir/graph/conv.h"

/* ---- pooling ---- */

struct pooling {
    enum op op;
    dtype type;
    int64_t planes, in[2], out[2], window[2], padding[2], strides[2], dilations[2];
};

static union lane lowest(dtype type)
{
    union lane x = {.i = 0};

    if (dtype_is_float(type))
        x.f = -INFINITY;
    else if (dtype_is_signed(type))
        x.i = (int64_t)(UINT64_MAX << (8 * dtype_size(type) - 1));
    return x;
}

/** Holds what a window gathers. */
struct window {
    union lane largest;
    double sum, near, far, squares, squares_far, bound; /* of magnitudes, magnitudes and bounds; bound: the largest */
    int64_t count;
};

static void window_add(struct window *w, const struct pooling *p, union lane x, double bound)
{
    w->count++;
    w->bound = fmax(w->bound, bound);
    if (p->op != OP_MAX_POOL2D) {
        w->sum += x.f;
        w->near += isfinite(x.f) ? fabs(x.f) : 0;
        w->far += (isfinite(x.f) ? fabs(x.f) : 0) + bound;
        w->squares += x.f * x.f;
        w->squares_far += (fabs(x.f) + bound) * (fabs(x.f) + bound);
    } else if (dtype_is_float(p->type)) {
        if (isnan(x.f) || x.f > w->largest.f || (x.f == w->largest.f && signbit(w->largest.f))) /* -0 < +0 */
            w->largest.f = x.f;                                                                 /* once NaN nothing is larger */
    } else if (p->type == WNNOperandDataType_Uint64 ? (uint64_t)x.i > (uint64_t)w->largest.i : x.i > w->largest.i) {
        w->largest = x;
    }
}

static void window_result(const struct window *w, const struct pooling *p, bool certain, union lane *y, double *distance)
{
    double d = 0;

    *y = (union lane){.i = 0}; /* +0 in double, too */
    *distance = 0;
    if (!w->count)
        return;
    switch (p->op) {
    case OP_MAX_POOL2D:
        *y = w->largest;
        *distance = w->bound;
        break;
    case OP_AVERAGE_POOL2D:
        y->f = interpret_sum_in_range(w->sum) / (double)w->count;
        d = interpret_bound_sum(w->sum, w->near, w->far, w->count, certain);
        *distance = w->count == 1 && certain ? 0 : d / (double)w->count + 2 * (0x1p-24 * fabs(y->f) + 0x1p-149);
        break;
    case OP_L2_POOL2D:
        y->f = sqrt(interpret_sum_in_range(w->squares));
        d = interpret_bound_sum(w->squares, w->squares, w->squares_far, w->count + 1, certain);
        *distance = fmax(sqrt(w->squares + d) - y->f, y->f - sqrt(fmax(w->squares - d, 0))) + 0x1p-23 * y->f;
        break;
    default:
        assert(!"pooling");
    }
    if (!isfinite(y->f) && p->op != OP_MAX_POOL2D)
        *distance = w->bound > 0 || (isinf(y->f) && d > 0) ? INFINITY : 0;
}

/** Gathers the window whose first element would be at `start`.  Only elements inside the plane are visited: windows and padding
 * may be larger than any plane. */
static void pool_window(const struct pooling *p, const int64_t start[2], const union lane *in, const double *in_bounds,
                        struct window *w)
{
    int64_t first[2], end[2];

    for (int d = 0; d < 2; d++)
        interpret_valid_range(start[d], p->dilations[d], p->in[d], p->window[d], &first[d], &end[d]);
    for (int64_t i = first[0]; i < end[0]; i++)
        for (int64_t j = first[1]; j < end[1]; j++) {
            int64_t k = (start[0] + i * p->dilations[0]) * p->in[1] + start[1] + j * p->dilations[1];
            if (p->op == OP_MAX_POOL2D && dtype_is_float(p->type) && isnan(w->largest.f))
                continue;
            window_add(w, p, in[k], in_bounds ? in_bounds[k] : 0);
        }
}

static void pool_plane(const struct pooling *p, const union lane *in, const double *in_bounds, union lane *out, double *bounds)
{
    for (int64_t y = 0; y < p->out[0]; y++)
        for (int64_t x = 0; x < p->out[1]; x++) {
            const int64_t start[2] = {y * p->strides[0] - p->padding[0], x * p->strides[1] - p->padding[1]};
            struct window w = {.largest = lowest(p->type)};
            double distance = 0;
            pool_window(p, start, in, in_bounds, &w);
            window_result(&w, p, !in_bounds, &out[y * p->out[1] + x], &distance);
            if (bounds)
                bounds[y * p->out[1] + x] = distance;
        }
}

bool interpret_pool2d(struct interpretation *t)
{
    const WNNPool2dOptions *o = t->node->options;
    const uint32_t *place = image_axes(o->layout), *in = t->inputs[0].type->dims, *out = t->results[0].type->dims;
    struct pooling p = {
        .op = t->node->op, .type = t->inputs[0].type->type, .planes = (int64_t)in[place[AXIS_BATCH]] * in[place[AXIS_CHANNEL]]};
    const int64_t count = type_elements(t->results[0].type);

    for (int d = 0; d < 2; d++) {
        p.in[d] = in[place[AXIS_HEIGHT + d]];
        p.out[d] = out[place[AXIS_HEIGHT + d]];
        p.window[d] = o->windowDimensions[d];
        p.padding[d] = o->padding[2 * d];
        p.strides[d] = o->strides[d];
        p.dilations[d] = o->dilations[d];
    }
    const union lane *input = (const union lane *)interpret_widen(t, 0, place);
    const double *input_bounds = interpret_widen_bounds(t, 0, place);
    union lane *output = interpret_memory(t, count, sizeof *output);
    double *bounds = t->bounds ? interpret_memory(t, count, sizeof *bounds) : NULL;
    if (!input || !output || (t->bounds && !bounds))
        return false;
    for (int64_t plane = 0; plane < p.planes; plane++) {
        int64_t from = plane * p.in[0] * p.in[1], to = plane * p.out[0] * p.out[1];
        pool_plane(&p, input + from, input_bounds ? input_bounds + from : NULL, output + to, bounds ? bounds + to : NULL);
    }
    interpret_narrow(t, 0, output, bounds, place);
    return true;
}

/* ---- resampling ---- */

/** Says where an output coordinate reads along one axis.  All of it follows exactly from the two sizes. */
struct sample {
    int64_t low, high, nearest;
    double weight; /* of high */
};

static int64_t clamp_index(int64_t x, int64_t size)
{
    return x < 0 ? 0 : x >= size ? size - 1 : x;
}

static struct sample *samples_create(struct interpretation *t, int64_t in, int64_t out)
{
    struct sample *s = interpret_memory(t, out, sizeof *s);

    if (!s)
        return NULL;
    for (int64_t k = 0; k < out; k++) {
        /* The formula is inputCoordinate = (k + 0.5) * in / out - 0.5 = numerator / denominator. */
        int64_t numerator = (2 * k + 1) * in - out, denominator = 2 * out;
        if (numerator < 0)
            numerator = 0;
        if (numerator > (in - 1) * denominator)
            numerator = (in - 1) * denominator;
        int64_t rest = numerator % denominator;
        s[k].low = numerator / denominator;
        s[k].high = clamp_index(s[k].low + (rest > 0), in);
        s[k].weight = (double)rest / (double)denominator;
        s[k].nearest = s[k].low + (2 * rest > denominator); /* ceil(coordinate - 0.5): halves go down */
    }
    return s;
}

static double interpolate(const double *plane, const double *bounds, int64_t width, int64_t height, const struct sample *y,
                          const struct sample *x, double *distance)
{
    int64_t place[4] = {y->low * width + x->low, y->low * width + x->high, y->high * width + x->low, y->high * width + x->high};
    double top = plane[place[0]] * (1 - x->weight) + plane[place[1]] * x->weight;
    double bottom = plane[place[2]] * (1 - x->weight) + plane[place[3]] * x->weight;
    double value = top * (1 - y->weight) + bottom * y->weight;
    double largest = 0, uncertain = 0;

    for (int i = 0; i < 4; i++) {
        largest = fmax(largest, fabs(plane[place[i]]));
        uncertain = fmax(uncertain, bounds ? bounds[place[i]] : 0);
    }
    /* This covers the arithmetic, of subnormal numbers, too, and weights from coordinates in float32. */
    *distance = uncertain + (largest * 0x1p-24 + 0x1p-149) * (8 + 4 * (double)(width + height));
    if (x->weight == 0 && y->weight == 0)
        *distance = uncertain;
    if (!isfinite(value))
        *distance = uncertain > 0 ? INFINITY : 0;
    return value;
}

bool interpret_resample2d(struct interpretation *t)
{
    const WNNResample2dOptions *o = t->node->options;
    const struct tensor_type *in = t->inputs[0].type, *out = t->results[0].type;
    const bool linear = o->mode == WNNInterpolationMode_Linear, is_float = dtype_is_float(in->type);
    const int64_t in_height = in->dims[o->axes[0]], in_width = in->dims[o->axes[1]];
    const int64_t height = out->dims[o->axes[0]], width = out->dims[o->axes[1]], count = type_elements(out);
    uint32_t order[4], rank = 0;

    for (uint32_t d = 0; d < 4; d++)
        if (d != o->axes[0] && d != o->axes[1])
            order[rank++] = d;
    order[rank++] = o->axes[0];
    order[rank] = o->axes[1];

    double *input = interpret_widen(t, 0, order);
    const double *input_bounds = interpret_widen_bounds(t, 0, order);
    const struct sample *rows = samples_create(t, in_height, height), *columns = samples_create(t, in_width, width);
    double *output = interpret_memory(t, count, sizeof *output);
    double *bounds = t->bounds ? interpret_memory(t, count, sizeof *bounds) : NULL;
    if (!input || !rows || !columns || !output || (t->bounds && !bounds))
        return false;
    if (!is_float) { /* integers are interpolated as floats, and rounded to nearest even at the end */
        union lane *lanes = (union lane *)input;
        for (int64_t k = 0, n = type_elements(in); k < n; k++)
            lanes[k].f = (double)lanes[k].i;
    }
    for (int64_t k = 0; k < count; k++) {
        const struct sample *y = &rows[k / width % height], *x = &columns[k % width];
        const int64_t plane = k / (width * height) * in_height * in_width;
        double distance;
        if (linear) {
            output[k] =
                interpolate(input + plane, input_bounds ? input_bounds + plane : NULL, in_width, in_height, y, x, &distance);
        } else {
            int64_t from = plane + y->nearest * in_width + x->nearest;
            output[k] = input[from];
            distance = input_bounds ? input_bounds[from] : 0;
        }
        if (!is_float && distance > 0) { /* certain unless a half is near */
            double low = nearbyint(output[k] - distance), high = nearbyint(output[k] + distance);
            distance = low == high ? 0 : INFINITY;
        }
        if (bounds)
            bounds[k] = distance;
    }
    union lane *lanes = (union lane *)output;
    for (int64_t k = 0; !is_float && k < count; k++)
        lanes[k].i = (int64_t)nearbyint(lanes[k].f);
    interpret_narrow(t, 0, output, bounds, order);
    return true;
}
