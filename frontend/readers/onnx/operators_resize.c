/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports Resize and Upsample: as resample2d where it computes the same, else one axis after the other, because all modes are
 * separable.  For each result along an axis a table says which elements it takes with which weights.  A few taps become gathers
 * that are weighted and added, many (antialiasing) a matmul with a constant matrix.
 */
#include <math.h>
#include <string.h>

#include "frontend/readers/onnx/open.h"
#include "frontend/readers/onnx/compose.h"
#include "webnn/webnn_draft.h"

enum coordinates {
    HALF_PIXEL,
    HALF_PIXEL_SYMMETRIC,
    PYTORCH_HALF_PIXEL,
    ALIGN_CORNERS,
    ASYMMETRIC,
    CROP_AND_RESIZE,
    HALF_PIXEL_FOR_NN
};
static const char *const coordinate_names[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
                                               "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};
enum mode { NEAREST, LINEAR, CUBIC };
static const char *const mode_names[] = {"nearest", "linear", "cubic"};
enum rounding { PREFER_FLOOR, PREFER_CEIL, FLOOR, CEIL, CEIL_OF_SMALLER };
static const char *const rounding_names[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};

enum { FEW_TAPS = 4, TAPS_MAX = 1 << 16 };
static const uint32_t all_axes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

struct resize {
    enum coordinates coordinates;
    enum mode mode;
    enum rounding rounding;
    double cubic_a, extrapolation;
    bool exclude_outside, antialias;
    size_t rank;
    uint32_t in[ONNX_RANK_MAX], out[ONNX_RANK_MAX];
    double scale[ONNX_RANK_MAX], start[ONNX_RANK_MAX], end[ONNX_RANK_MAX]; /* start, end: the region to crop */
};

/* Says what one axis takes: result o is the sum of weight[o * taps + t] times element index[o * taps + t]. */
struct taps {
    uint32_t taps;
    int32_t *index;
    float *weight;
    bool *outside; /* the region lies outside: the extrapolation value */
    bool any_outside;
    uint32_t parts; /* weights are counted in them, of integers; 0: weights are floats */
};

static bool read_name(struct onnx_node *n, const char *attribute, const char *fallback, size_t count, const char *const *names,
                      int *result)
{
    const char *name = onnx_string(n, attribute, fallback);

    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name)) {
            *result = (int)i;
            return true;
        }
    return onnx_refuse(n, "%s \"%.60s\" is not known", attribute, name);
}

/* ---- where results come from ---- */

static double source_of(const struct resize *r, size_t d, uint32_t o)
{
    double in = r->in[d], out = r->out[d], scale = r->scale[d], exact = in * scale;

    switch (r->coordinates) {
    case ALIGN_CORNERS:
        return out == 1 ? 0 : o * (in - 1) / (out - 1);
    case ASYMMETRIC:
        return o / scale;
    case CROP_AND_RESIZE:
        return out == 1 ? (r->start[d] + r->end[d]) * (in - 1) / 2
                        : r->start[d] * (in - 1) + o * (r->end[d] - r->start[d]) * (in - 1) / (out - 1);
    case HALF_PIXEL_FOR_NN:
        return (o + 0.5) / scale;
    case PYTORCH_HALF_PIXEL:
        return out == 1 ? 0 : (o + 0.5) / scale - 0.5;
    case HALF_PIXEL_SYMMETRIC:
        return in / 2 * (1 - out / exact) + (o + 0.5) / scale - 0.5;
    default:
        return (o + 0.5) / scale - 0.5;
    }
}

static double cubic(double x, double a)
{
    x = fabs(x);
    return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double nearest(double x, enum rounding rounding)
{
    switch (rounding) {
    case PREFER_CEIL:
        return floor(x + 0.5);
    case FLOOR:
    case CEIL_OF_SMALLER:
        return floor(x);
    case CEIL:
        return ceil(x);
    default:
        return ceil(x - 0.5);
    }
}

static int32_t clamp_index(double i, uint32_t size)
{
    return !(i > 0) ? 0 : i >= size ? (int32_t)size - 1 : (int32_t)i;
}

static bool make_taps(struct onnx_node *n, const struct resize *r, size_t d, struct taps *t)
{
    double stretch = r->antialias && r->scale[d] < 1 ? r->scale[d] : 1, reach = (r->mode == CUBIC ? 2 : 1) / stretch;
    const double taps = r->mode == NEAREST ? 1 : 2 * ceil(reach);
    uint32_t out = r->out[d];
    size_t k = 0;

    if (taps > 2.0 * TAPS_MAX || taps * out > 1 << 26)
        return onnx_refuse(n, "a scale of %g", r->scale[d]);
    t->taps = (uint32_t)taps;
    t->any_outside = false;
    t->index = onnx_alloc(n, (size_t)out * t->taps, sizeof *t->index);
    t->weight = onnx_alloc(n, (size_t)out * t->taps, sizeof *t->weight);
    t->outside = onnx_alloc(n, out, sizeof *t->outside);
    if (!t->index || !t->weight || !t->outside)
        return false;
    for (uint32_t o = 0; o < out; o++) {
        double x = source_of(r, d, o), base = floor(x), sum = 0;
        size_t first = k;
        if (!isfinite(x)) /* the ends of the region are, but not everything computed from them */
            return onnx_refuse(n, "the region of axis %zu, from %g to %g, is too large to compute with", d, r->start[d],
                               r->end[d]);
        if (r->coordinates == CROP_AND_RESIZE && (x < 0 || x > r->in[d] - 1.0))
            t->any_outside = t->outside[o] = true;
        if (r->mode == NEAREST) {
            const bool smaller = r->rounding == CEIL_OF_SMALLER && r->scale[d] < 1;
            t->index[k] = clamp_index(nearest(x, smaller ? CEIL : r->rounding), r->in[d]);
            t->weight[k++] = 1;
            continue;
        }
        for (uint32_t i = 0; i < t->taps; i++, k++) {
            double at = base - (t->taps / 2 - 1.0) + i, distance = (at - x) * stretch;
            double weight = r->mode == CUBIC ? cubic(distance, r->cubic_a) : fmax(0, 1 - fabs(distance));
            if (r->exclude_outside && (at < 0 || at >= r->in[d]))
                weight = 0;
            t->index[k] = clamp_index(at, r->in[d]);
            t->weight[k] = (float)weight;
            sum += weight;
        }
        for (size_t i = first; i < k && (r->exclude_outside || stretch < 1) && sum != 0; i++)
            t->weight[i] = (float)(t->weight[i] / sum);
    }
    return true;
}

/** Returns the least number of parts of which all weights have whole numbers, as those of ratios of sizes do; 0: it is large,
 * or takes long to find. */
static uint32_t parts_of(const struct taps *t, uint32_t out)
{
    enum { PARTS_MOST = 1 << 14 };
    const size_t count = (size_t)out * t->taps, most = 16 * count + PARTS_MOST;
    uint32_t parts = 1;

    for (size_t at = 0, fitting = 0, steps = 0; fitting < count; steps++) { /* what did not fit is tried first */
        const double x = (double)t->weight[at] * parts;
        const bool fits = fabs(nearbyint(x) - x) <= 2e-7 * parts;

        if (steps == most || parts > PARTS_MOST)
            return 0;
        parts += !fits;
        fitting = fits ? fitting + 1 : 0;
        at = (at + fits) % count;
    }
    return parts;
}

/** Chooses the type in which integers are interpolated: exactly in integers if there are parts, else in floats. */
static WNNOperandDataType type_of_sums(const struct resize *r, WNNOperandDataType type, size_t count, const uint32_t *axes,
                                       struct taps *tables)
{
    const bool bytes = wnnOperandDataTypeGetByteSize(type) == 1;
    uint64_t parts = r->mode == LINEAR && wnnOperandDataTypeGetByteSize(type) <= 4;

    for (size_t i = 0; i < count && parts; i++) {
        struct taps *t = &tables[axes[i]];

        t->parts = t->taps <= FEW_TAPS ? parts_of(t, r->out[axes[i]]) : 0;
        parts = parts * t->parts <= 1 << 30 ? parts * t->parts : 0;
    }
    for (size_t i = 0; i < count && !parts; i++)
        tables[axes[i]].parts = 0;
    return !parts                      ? WNNOperandDataType_Float32
           : bytes && parts <= 1 << 23 ? WNNOperandDataType_Int32
                                       : WNNOperandDataType_Int64;
}

/* ---- computing it ---- */

/* Resizes one axis by a matrix that has every result along the axis as a column. */
static WNNOperand resize_by_matrix(struct onnx_node *n, WNNOperand x, const struct resize *r, size_t d, const struct taps *t)
{
    uint32_t permutation[ONNX_RANK_MAX], shape[2] = {r->in[d], r->out[d]}, last = (uint32_t)r->rank - 1;
    float *matrix = (uint64_t)shape[0] * shape[1] < 1 << 26 ? onnx_alloc(n, (size_t)shape[0] * shape[1], sizeof *matrix) : NULL;

    if (!matrix)
        return onnx_refuse_operand(n, "%u elements antialiased to %u", shape[0], shape[1]);
    for (uint32_t o = 0; o < r->out[d]; o++)
        for (uint32_t i = 0; i < t->taps; i++)
            matrix[(size_t)t->index[(size_t)o * t->taps + i] * shape[1] + o] += t->weight[(size_t)o * t->taps + i];
    for (uint32_t i = 0; i < r->rank; i++)
        permutation[i] = i;
    permutation[d] = last;
    permutation[last] = (uint32_t)d;
    if (d != last)
        x = onnx_transpose(n, x, r->rank, permutation);
    x = onnx_matmul(n, r->rank > 1 ? x : onnx_reshape(n, x, 2, (uint32_t[]){1, r->in[d]}),
                    onnx_constant_operand(n, WNNOperandDataType_Float32, 2, shape, matrix));
    if (r->rank == 1)
        x = onnx_reshape(n, x, 1, &r->out[d]);
    return d != last ? onnx_transpose(n, x, r->rank, permutation) : x;
}

static WNNOperand resize_by_gathers(struct onnx_node *n, WNNOperand x, const struct resize *r, size_t d, const struct taps *t)
{
    uint32_t out = r->out[d], shape[ONNX_RANK_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const WNNOperandDataType type = wnnOperandGetDataType(x);
    WNNOperand sum = NULL;

    shape[d] = out;
    for (uint32_t i = 0; i < t->taps; i++) {
        int32_t *index = onnx_alloc(n, out, sizeof *index);
        float *weight = onnx_alloc(n, out, sizeof *weight);
        bool zero = true, one = true;
        if (!index || !weight)
            return onnx_error_operand(n);
        for (uint32_t o = 0; o < out; o++) {
            index[o] = t->index[(size_t)o * t->taps + i];
            weight[o] = t->weight[(size_t)o * t->taps + i];
            weight[o] = t->parts ? nearbyintf(weight[o] * (float)t->parts) : weight[o];
            zero = zero && weight[o] == 0;
            one = one && weight[o] == 1;
        }
        if (zero)
            continue;
        WNNOperand part = onnx_gather_constant(n, x, (uint32_t)d, out, index);
        if (!one)
            part = onnx_mul(n, part,
                            onnx_cast(n, onnx_constant_operand(n, WNNOperandDataType_Float32, r->rank, shape, weight), type));
        sum = sum ? onnx_add(n, sum, part) : part;
    }
    return sum ? sum : onnx_error_operand(n);
}

/* Returns whether resample2d takes the same elements with the same weights: its centres are aligned, halves go down. */
static bool is_resample2d(const struct resize *r, size_t d, const struct taps *t)
{
    struct resize same = *r;

    if (r->mode == CUBIC || t->any_outside || (r->mode == LINEAR && t->taps != 2))
        return false;
    same.coordinates = HALF_PIXEL;
    same.scale[d] = (double)r->out[d] / r->in[d];
    for (uint32_t o = 0; o < r->out[d]; o++) {
        double x = source_of(&same, d, o);
        if (r->mode == NEAREST) {
            if (clamp_index(ceil(x - 0.5), r->in[d]) != t->index[o])
                return false;
        } else {
            /* Position by position, the first moments of both must agree, and so must the elements. */
            double low = fmin(fmax(x, 0), r->in[d] - 1.0), have = 0, weights = 0;
            for (uint32_t i = 0; i < 2; i++) {
                have += (double)t->index[2 * o + i] * (double)t->weight[2 * o + i];
                weights += (double)t->weight[2 * o + i];
            }
            if (fabs(have - low) > 1e-6 * (1 + low) || fabs(weights - 1) > 1e-6)
                return false;
        }
    }
    return true;
}

static WNNOperand resample(struct onnx_node *n, WNNOperand x, const struct resize *r, const uint32_t axes[2])
{
    WNNResample2dOptions o = WNN_RESAMPLE2D_OPTIONS_INIT;
    uint32_t sizes[2] = {r->out[axes[0]], r->out[axes[1]]};

    o.label = n->label;
    o.mode = r->mode == NEAREST ? WNNInterpolationMode_NearestNeighbor : WNNInterpolationMode_Linear;
    o.sizesCount = 2;
    o.sizes = sizes;
    o.axesCount = 2;
    o.axes = axes;
    return wnnGraphBuilderResample2d(n->builder, x, &o);
}

/* Returns whether resample2d computes the same along an axis of any size: what it does itself, or whole scales, where results
 * repeat with each element, so that a few sizes show all there is. */
static bool is_resample2d_open(struct onnx_node *n, const struct resize *r, size_t d)
{
    static const uint32_t probes[] = {1, 2, 3, 5, 8};
    const bool centred =
        r->coordinates == HALF_PIXEL && (r->mode == LINEAR || (r->mode == NEAREST && r->rounding == PREFER_FLOOR));

    if (r->antialias || r->exclude_outside)
        return false;
    for (size_t i = 0; i < sizeof probes / sizeof *probes && !centred; i++) {
        struct resize some = *r;
        struct taps t;

        if (r->scale[d] < 1 || r->scale[d] > TAPS_MAX)
            return false;
        some.in[d] = probes[i];
        some.out[d] = probes[i] * (uint32_t)r->scale[d];
        if (!make_taps(n, &some, d, &t) || !is_resample2d(&some, d, &t))
            return false;
    }
    return true;
}

/* Resizes where sizes of the result are open. */
static bool resize_open(struct onnx_node *n, WNNOperand x, const struct resize *r)
{
    const WNNOperandDataType type = wnnOperandGetDataType(x);
    const bool is_float = type == WNNOperandDataType_Float32 || type == WNNOperandDataType_Float16;
    bool fits = r->rank == 4 && r->mode != CUBIC && is_float && r->coordinates != CROP_AND_RESIZE, moves = false;
    WNNResample2dDynamicOptions o = WNN_RESAMPLE2D_DYNAMIC_OPTIONS_INIT;
    struct taps t;

    for (size_t d = 0; d < r->rank && fits; d++) {
        const bool open = onnx_is_open(r->in[d]) || onnx_is_open(r->out[d]), same = r->in[d] == r->out[d] && r->scale[d] == 1;

        moves = moves || !same;
        if (d < 2)
            fits = same;
        else if (!same)
            fits = open ? is_resample2d_open(n, r, d) : make_taps(n, r, d, &t) && is_resample2d(r, d, &t);
    }
    if (!fits)
        return onnx_refuse_open(n);
    if (!moves)
        return onnx_output_value(n, 0, n->inputs[0]);
    o.label = n->label;
    o.mode = r->mode == NEAREST ? WNNInterpolationMode_NearestNeighbor : WNNInterpolationMode_Linear;
    o.sizes = onnx_sizes_operand(n, 2, r->out + 2);
    return onnx_output(n, 0, wnnGraphBuilderResample2dDynamic(n->builder, x, &o));
}

static WNNOperand extrapolate(struct onnx_node *n, WNNOperand y, const struct resize *r, const struct taps *tables)
{
    for (size_t d = 0; d < r->rank; d++) {
        uint32_t shape[ONNX_RANK_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        if (!tables[d].any_outside)
            continue;
        shape[d] = r->out[d];
        uint8_t *mask = onnx_alloc(n, r->out[d], 1);
        if (!mask)
            return onnx_error_operand(n);
        for (uint32_t o = 0; o < r->out[d]; o++)
            mask[o] = tables[d].outside[o];
        y = onnx_where(n, onnx_constant_operand(n, WNNOperandDataType_Uint8, r->rank, shape, mask),
                       onnx_scalar_like(n, y, r->extrapolation), y);
    }
    return y;
}

static bool resize(struct onnx_node *n, WNNOperand x, const struct resize *r)
{
    struct taps tables[ONNX_RANK_MAX] = {{0}};
    WNNOperandDataType type = wnnOperandGetDataType(x);
    bool is_float = type == WNNOperandDataType_Float32 || type == WNNOperandDataType_Float16, resampled = r->rank == 4;
    bool takes_type = is_float || type == WNNOperandDataType_Uint8 || type == WNNOperandDataType_Int8;
    uint32_t axes[ONNX_RANK_MAX], count = 0;
    WNNOperand y = x;
    double parts = 1;

    if (onnx_any_open(r->rank, r->in) || onnx_any_open(r->rank, r->out))
        return resize_open(n, x, r);
    for (size_t d = 0; d < r->rank; d++) {
        bool moves = r->in[d] != r->out[d];
        if (!make_taps(n, r, d, &tables[d]))
            return false;
        for (uint32_t o = 0; o < r->out[d] && !moves; o++) /* the same size does not mean the same elements */
            for (uint32_t i = 0; i < tables[d].taps && !moves; i++) {
                size_t k = (size_t)o * tables[d].taps + i;
                moves = (tables[d].index[k] != (int32_t)o || tables[d].weight[k] != 1) && tables[d].weight[k] != 0;
            }
        if (moves)
            axes[count++] = (uint32_t)d;
    }
    resampled = resampled && takes_type && (r->mode == NEAREST || is_float) && count >= 1 && count <= 2;
    for (uint32_t i = 0; i < count && resampled; i++)
        resampled = is_resample2d(r, axes[i], &tables[axes[i]]);
    if (count == 1 && resampled) { /* any other axis will do: it keeps its size */
        axes[1] = axes[0] == 3 ? 2 : 3;
        if (axes[1] < axes[0]) {
            axes[1] = axes[0];
            axes[0]--;
        }
    }
    if (resampled)
        return onnx_output(n, 0, resample(n, x, r, axes));
    /* Weighted sums of half precision are formed in single precision, those of integers as in type_of_sums.  Back to integers
     * they are cut off; floats after a step away from 0 that is larger than what rounding can lack of a whole number: a picture
     * of one level keeps it. */
    const WNNOperandDataType sums = is_float ? WNNOperandDataType_Float32 : type_of_sums(r, type, count, axes, tables);
    if (r->mode != NEAREST)
        y = onnx_cast(n, y, sums);
    for (uint32_t i = 0; i < count; i++) {
        size_t d = axes[i];
        y = tables[d].taps > FEW_TAPS ? resize_by_matrix(n, y, r, d, &tables[d]) : resize_by_gathers(n, y, r, d, &tables[d]);
        if (tables[d].parts > 1)
            parts *= tables[d].parts;
    }
    if (parts > 1)
        y = wnnGraphBuilderDiv(n->builder, y, onnx_scalar(n, sums, parts), n->options);
    else if (r->mode != NEAREST && !is_float && sums == WNNOperandDataType_Float32)
        y = onnx_add(n, y, onnx_mul(n, wnnGraphBuilderSign(n->builder, y, n->options), onnx_scalar_like(n, y, 1e-3)));
    return onnx_output(n, 0, onnx_cast(n, extrapolate(n, y, r, tables), type));
}

/* ---- attributes and inputs ---- */

/* Finds sizes and scales of all axes; of those in the attribute axes, if it is there. */
static const uint32_t *read_axes(struct onnx_node *n, const struct resize *r, size_t *count)
{
    const int64_t *axes = onnx_ints(n, "axes", count);

    if (axes)
        return onnx_axes(n, axes, *count, r->rank);
    *count = r->rank;
    return all_axes;
}

static bool set_scale(struct onnx_node *n, struct resize *r, uint32_t d, double scale)
{
    double out = floor((double)(float)(r->in[d] * scale)); /* 0.7f of 10 is 7 */

    if (!(scale > 0 && scale <= INT32_MAX))
        return onnx_refuse(n, "a scale of %g for %u elements", scale, r->in[d]);
    r->scale[d] = scale;
    if (onnx_is_open(r->in[d])) {
        r->out[d] = (uint32_t)onnx_compute_size(n, '*', r->in[d], (int64_t)scale);
        return !n->refused && (scale == floor(scale) || onnx_refuse_open(n));
    }
    r->out[d] = (uint32_t)onnx_whole(n, "the size times its scale", out, 1, INT32_MAX);
    return !n->refused;
}

static bool read_scales(struct onnx_node *n, struct resize *r, size_t input, const uint32_t *axes, size_t count)
{
    const struct onnx_value *scales = onnx_constant(n, input);

    if (!scales)
        return false;
    if (onnx_elements(scales) != (int64_t)count)
        return onnx_refuse(n, "%lld scales for %zu axes", (long long)onnx_elements(scales), count);
    for (size_t i = 0; i < count; i++)
        if (!set_scale(n, r, axes[i], onnx_element(scales, i)))
            return false;
    return true;
}

static bool read_sizes(struct onnx_node *n, struct resize *r, const uint32_t *axes, size_t count)
{
    static const char *const names[] = {"stretch", "not_larger", "not_smaller"};
    size_t size_count;
    const int64_t *sizes = onnx_sizes(n, 3, &size_count);
    double best = 0;
    int policy = 0;

    if (!sizes || !read_name(n, "keep_aspect_ratio_policy", "stretch", 3, names, &policy))
        return false;
    if (size_count != count)
        return onnx_refuse(n, "%zu sizes for %zu axes", size_count, count);
    for (size_t i = 0; i < count; i++) {
        double scale = (double)sizes[i] / r->in[axes[i]];

        if (onnx_is_open(sizes[i]) || onnx_is_open(r->in[axes[i]])) {
            r->out[axes[i]] = (uint32_t)sizes[i];
            r->scale[axes[i]] = sizes[i] == r->in[axes[i]]; /* 0: no number */
            if (policy || sizes[i] < 1 || (sizes[i] > INT32_MAX && !onnx_is_open(sizes[i])))
                return onnx_refuse_open(n);
            continue;
        }
        if (sizes[i] < 1 || sizes[i] > INT32_MAX)
            return onnx_refuse(n, "a size of %lld", (long long)sizes[i]);
        if (!i || (policy == 1 ? scale < best : scale > best))
            best = scale;
        r->out[axes[i]] = (uint32_t)sizes[i];
        r->scale[axes[i]] = scale;
    }
    for (size_t i = 0; i < count && policy; i++) {
        double out = floor(best * r->in[axes[i]] + 0.5);
        r->out[axes[i]] = (uint32_t)onnx_whole(n, "a size with the aspect ratio kept", out, 1, INT32_MAX);
        r->scale[axes[i]] = best;
    }
    return !n->refused;
}

static bool read_region(struct onnx_node *n, struct resize *r, const uint32_t *axes, size_t count)
{
    const struct onnx_value *roi = onnx_constant(n, 1);

    if (!roi)
        return false;
    if (onnx_elements(roi) != 2 * (int64_t)count)
        return onnx_refuse(n, "roi has %lld numbers for %zu axes", (long long)onnx_elements(roi), count);
    for (size_t i = 0; i < count; i++) {
        r->start[axes[i]] = onnx_element(roi, i);
        r->end[axes[i]] = onnx_element(roi, count + i);
        if (!isfinite(r->start[axes[i]]) || !isfinite(r->end[axes[i]]))
            return onnx_refuse(n, "roi has a region from %g to %g in axis %u", r->start[axes[i]], r->end[axes[i]], axes[i]);
    }
    return true;
}

static bool start_resize(struct onnx_node *n, WNNOperand x, struct resize *r)
{
    struct onnx_dims dims = onnx_dims_of(n, x);

    memset(r, 0, sizeof *r);
    r->rank = dims.rank;
    for (size_t d = 0; d < dims.rank; d++) {
        r->in[d] = r->out[d] = dims.at[d];
        r->scale[d] = r->end[d] = 1;
    }
    return !n->refused;
}

bool onnx_import_resize(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0);
    int coordinates = 0, mode = 0, rounding = 0;
    size_t count = 0;
    struct resize r;

    if (!start_resize(n, x, &r) || !read_name(n, "mode", "nearest", 3, mode_names, &mode) ||
        !read_name(n, "coordinate_transformation_mode", "half_pixel", 7, coordinate_names, &coordinates) ||
        !read_name(n, "nearest_mode", "round_prefer_floor", 4, rounding_names, &rounding))
        return false;
    r.coordinates = (enum coordinates)coordinates;
    r.mode = (enum mode)mode;
    r.rounding = (enum rounding)rounding;
    r.cubic_a = onnx_float(n, "cubic_coeff_a", -0.75);
    r.extrapolation = onnx_float(n, "extrapolation_value", 0);
    if (!n->refused && !onnx_type_is_float(n->inputs[0]->type))
        r.extrapolation = trunc(r.extrapolation);
    r.exclude_outside = onnx_int(n, "exclude_outside", 0) != 0;
    r.antialias = onnx_int(n, "antialias", 0) != 0;
    const uint32_t *axes = read_axes(n, &r, &count);
    if (!axes || n->refused)
        return false;
    bool sized = onnx_input(n, 3) && !(onnx_input(n, 3)->rank && !onnx_input(n, 3)->dims[0]);
    onnx_ignore(n, "keep_aspect_ratio_policy"); /* without sizes */
    if (!(sized ? read_sizes(n, &r, axes, count) : read_scales(n, &r, 2, axes, count)) ||
        (r.coordinates == CROP_AND_RESIZE && !read_region(n, &r, axes, count)))
        return false;
    return resize(n, x, &r);
}

/* Imports Upsample, and Resize below version 11: places are divided by the scale, the nearest is the one below, or above where
 * the axis shrinks (ONNX's tests of version 10).  Blocks of channels have whole scales, and say where places are. */
bool onnx_import_upsample(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0);
    const bool in_blocks = n->row->domain;
    const float *floats = NULL;
    const int64_t *whole = NULL;
    int coordinates = ASYMMETRIC, mode = 0;
    struct resize r;
    size_t count;

    if (!start_resize(n, x, &r) || !read_name(n, "mode", "nearest", 2, mode_names, &mode) ||
        (in_blocks && !read_name(n, "coordinate_transformation_mode", "asymmetric", 7, coordinate_names, &coordinates)))
        return false;
    r.mode = (enum mode)mode;
    r.coordinates = r.mode == NEAREST ? ASYMMETRIC : (enum coordinates)coordinates;
    r.rounding = CEIL_OF_SMALLER;
    if (n->version >= 9)
        return read_scales(n, &r, 1, all_axes, r.rank) && resize(n, x, &r);
    if (in_blocks)
        whole = onnx_ints(n, "scales", &count);
    else
        floats = onnx_floats(n, "scales", &count);
    if ((!whole && !floats) || count != r.rank)
        return onnx_refuse(n, "%zu scales for %zu axes", count, r.rank);
    for (uint32_t d = 0; d < count; d++)
        if (!set_scale(n, &r, d, whole ? (double)whole[d] : (double)floats[d]))
            return false;
    return resize(n, x, &r);
}
