/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes instanceNormalization, layerNormalization and softmax: statistics over a row, then every element of the row.  The
 * operand is widened with the row's dimensions last.  Variance is the mean of squared differences from the mean, in two passes.
 */
#include "ir/interpret/interpret.h"

#include <float.h>

#include "ir/graph/conv.h"

static const double ULP = 0x1p-23, TINY = 0x1p-149;

static double bound_at(const double *bounds, int64_t k)
{
    return bounds ? bounds[k] : 0;
}

/** scale and bias of a row's element k stand at k * stride. */
struct affine {
    const double *scale, *bias; /* NULL: absent */
    const double *scale_bounds, *bias_bounds;
    int64_t stride;
};

/** Computes (x - mean) / sqrt(variance + epsilon) * scale + bias over n elements. */
static void normalise_row(const double *x, const double *x_bounds, int64_t n, double epsilon, const struct affine *a, double *y,
                          double *distances)
{
    double mean = 0, variance = 0, size = 0, uncertain = 0;

    for (int64_t k = 0; k < n; k++) {
        mean += x[k];
        size += fabs(x[k]);
        uncertain += bound_at(x_bounds, k);
    }
    mean = interpret_sum_in_range(mean) / (double)n;
    for (int64_t k = 0; k < n; k++)
        variance += (x[k] - mean) * (x[k] - mean);
    variance = interpret_sum_in_range(variance) / (double)n;
    const double root = sqrt(variance + epsilon);
    for (int64_t k = 0; k < n; k++) {
        double scale = a->scale ? a->scale[k * a->stride] : 1,
               bias = a->bias ? a->bias[k * a->stride] : -0.0; /* changes nothing, not even a zero */
        y[k] = scale * (interpret_sum_in_range(x[k] - mean) / root) + bias;
    }
    if (!distances)
        return;

    /* These say how far mean, differences, variance and factor may be off: operands' errors and roundings, step by step. */
    const double gamma = ((double)n + 2) * ULP / 2;
    double mean_off = uncertain / (double)n + gamma * size / (double)n + TINY, variance_off = 0, squares = 0;
    for (int64_t k = 0; k < n; k++) {
        double d = fabs(x[k] - mean), off = bound_at(x_bounds, k) + mean_off + ULP * d;
        variance_off += 2 * d * off + off * off;
        squares += (d + off) * (d + off);
    }
    variance_off = variance_off / (double)n + gamma * variance + ULP * (variance + epsilon) + TINY;
    double factor = 1 / root, low = variance - variance_off + epsilon;
    double factor_off = low > 0 ? 1 / sqrt(low) - factor + 2 * ULP * factor : INFINITY;
    for (int64_t k = 0; k < n; k++) {
        double scale = a->scale ? fabs(a->scale[k * a->stride]) : 1, bias = a->bias ? fabs(a->bias[k * a->stride]) : 0;
        double scale_off = a->scale_bounds ? a->scale_bounds[k * a->stride] : 0;
        double bias_off = a->bias_bounds ? a->bias_bounds[k * a->stride] : 0;
        double d = fabs(x[k] - mean), off = bound_at(x_bounds, k) + mean_off + ULP * d;
        double value = d * factor, value_off = d * factor_off + off * (factor + factor_off) + 2 * ULP * value;
        double result = scale * value_off + scale_off * (value + value_off) + bias_off;
        distances[k] = result + 2 * ULP * (scale * value + bias) + TINY;
        if (!isfinite(y[k])) /* NaN or an infinity came in, and reaches the whole row whatever the order */
            distances[k] = isfinite(mean) || isfinite(size) || uncertain > 0 ? INFINITY : 0;
        else if (!(squares + size + uncertain <= FLT_MAX)) /* float32 overflows on the way */
            distances[k] = INFINITY;
    }
}

static double epsilon_of(const struct interpretation *t, double epsilon)
{
    dtype type = t->inputs[0].type->type;
    return scalar_to_double(number_cast(wnnNumber(epsilon), type), type);
}

/** Holds the input, widened in `order`, the optional scale and bias, and room for the output. */
struct normalization {
    const double *input, *input_bounds;
    struct affine affine;
    double *output, *distances;
};

static bool normalization_begin(struct interpretation *t, const uint32_t *order, struct normalization *x)
{
    const int64_t count = type_elements(t->inputs[0].type);

    memset(x, 0, sizeof *x);
    x->input = interpret_widen(t, 0, order);
    x->input_bounds = interpret_widen_bounds(t, 0, order);
    x->output = interpret_memory(t, count, sizeof(double));
    if (t->inputs[1].type)
        x->affine.scale = interpret_widen(t, 1, NULL);
    if (t->inputs[2].type)
        x->affine.bias = interpret_widen(t, 2, NULL);
    x->affine.scale_bounds = t->inputs[1].bound;
    x->affine.bias_bounds = t->inputs[2].bound;
    if (t->bounds)
        x->distances = interpret_memory(t, count, sizeof(double));
    return x->input && x->output && (!t->inputs[1].type || x->affine.scale) && (!t->inputs[2].type || x->affine.bias) &&
           (!t->bounds || x->distances);
}

static void normalization_row(const struct normalization *x, int64_t row, int64_t n, double epsilon, const struct affine *a)
{
    int64_t k = row * n;

    normalise_row(x->input + k, x->input_bounds ? x->input_bounds + k : NULL, n, epsilon, a, x->output + k,
                  x->distances ? x->distances + k : NULL);
}

bool interpret_instance_normalization(struct interpretation *t)
{
    const WNNInstanceNormalizationOptions *o = t->node->options;
    const uint32_t *order = image_axes(o->layout), *dims = t->inputs[0].type->dims;
    const int64_t channels = dims[order[AXIS_CHANNEL]], rows = dims[order[AXIS_BATCH]] * channels;
    const int64_t n = (int64_t)dims[order[AXIS_HEIGHT]] * dims[order[AXIS_WIDTH]];
    const double epsilon = epsilon_of(t, o->epsilon);
    struct normalization x;

    if (!normalization_begin(t, order, &x))
        return false;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t channel = row % channels;
        struct affine a = x.affine; /* one scale and bias for the whole row */
        a.stride = 0;
        a.scale = a.scale ? a.scale + channel : NULL;
        a.bias = a.bias ? a.bias + channel : NULL;
        a.scale_bounds = a.scale_bounds ? a.scale_bounds + channel : NULL;
        a.bias_bounds = a.bias_bounds ? a.bias_bounds + channel : NULL;
        normalization_row(&x, row, n, epsilon, &a);
    }
    interpret_narrow(t, 0, x.output, x.distances, order);
    return true;
}

bool interpret_layer_normalization(struct interpretation *t)
{
    const WNNLayerNormalizationOptions *o = t->node->options;
    const struct tensor_type *type = t->inputs[0].type;
    const double epsilon = epsilon_of(t, o->epsilon);
    bool in_row[RANK_MAX] = {false};
    uint32_t order[RANK_MAX], rank = 0;
    int64_t n = 1;
    struct normalization x;

    for (size_t i = 0; i < o->axesCount; i++) {
        in_row[o->axes[i]] = true;
        n *= type->dims[o->axes[i]];
    }
    for (uint32_t d = 0; d < type->rank; d++)
        if (!in_row[d])
            order[rank++] = d;
    for (size_t i = 0; i < o->axesCount; i++) /* in the order of axes, which is that of scale's and bias's dimensions */
        order[rank++] = o->axes[i];
    if (!normalization_begin(t, order, &x))
        return false;
    x.affine.stride = 1;
    for (int64_t row = 0, rows = type_elements(type) / n; row < rows; row++)
        normalization_row(&x, row, n, epsilon, &x.affine);
    interpret_narrow(t, 0, x.output, x.distances, order);
    return true;
}

/* ---- softmax ---- */

static void softmax_row(const double *x, const double *bounds, int64_t n, double *y, double *distances)
{
    double largest = -INFINITY, sum = 0, uncertain = 0, weighted = 0;

    for (int64_t k = 0; k < n; k++) {
        largest = isnan(x[k]) || isnan(largest) ? NAN : fmax(largest, x[k]);
        uncertain = fmax(uncertain, bound_at(bounds, k));
    }
    for (int64_t k = 0; k < n; k++) {
        y[k] = exp(x[k] - largest);
        sum += y[k];
        if (y[k] > 0)
            weighted += y[k] * (largest - x[k]);
    }
    for (int64_t k = 0; k < n; k++)
        y[k] /= sum;
    for (int64_t k = 0; distances && k < n; k++) {
        if (isnan(y[k])) {
            distances[k] = uncertain > 0 ? INFINITY : 0;
            continue;
        }
        /* These are errors of the differences, of exp, of the sum and of the quotient, relative to y. */
        double difference = y[k] > 0 ? largest - x[k] : 0;
        double relative =
            (difference + weighted / sum) * ULP / 2 + (2 * INTERPRET_FUNCTION_ULPS + 2) * ULP + (double)n * ULP / 2;
        distances[k] = y[k] * (expm1(2 * uncertain) + relative) + INTERPRET_FUNCTION_ULPS * TINY;
        if (n == 1 && !bounds)
            distances[k] = 0;
    }
}

bool interpret_softmax(struct interpretation *t)
{
    const struct tensor_type *type = t->inputs[0].type;
    const uint32_t axis = t->node->args.softmax.axis;
    const int64_t count = type_elements(type), n = type->dims[axis];
    uint32_t order[RANK_MAX], rank = 0;

    for (uint32_t d = 0; d < type->rank; d++)
        if (d != axis)
            order[rank++] = d;
    order[rank] = axis;
    const double *input = interpret_widen(t, 0, order), *bounds = interpret_widen_bounds(t, 0, order);
    double *output = interpret_memory(t, count, sizeof *output);
    double *distances = t->bounds ? interpret_memory(t, count, sizeof *distances) : NULL;
    if (!input || !output || (t->bounds && !distances))
        return false;
    for (int64_t k = 0; k < count; k += n)
        softmax_row(input + k, bounds ? bounds + k : NULL, n, output + k, distances ? distances + k : NULL);
    interpret_narrow(t, 0, output, distances, order);
    return true;
}
