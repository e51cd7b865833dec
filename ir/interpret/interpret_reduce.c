/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes reductions, argMin, argMax and cumulativeSum.  The operand is widened with the reduced dimensions last, so that what
 * is reduced is always a row.
 */
#include "ir/interpret/interpret.h"

#include <assert.h>
#include <float.h>

static const double ULP = 0x1p-23, TINY = 0x1p-149;

/** Makes the permutation: the kept dimensions, then `axes`, each in ascending order.  Returns the length of a row. */
static int64_t rows_order(const struct tensor_type *type, size_t count, const uint32_t *axes, uint32_t permutation[RANK_MAX])
{
    bool reduced[RANK_MAX] = {false};
    uint32_t n = 0;
    int64_t length = 1;

    for (size_t i = 0; i < count; i++)
        reduced[axes[i]] = true;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t d = 0; d < type->rank; d++)
            if (reduced[d] == (pass == 1)) {
                permutation[n++] = d;
                if (pass)
                    length *= type->dims[d];
            }
    return length;
}

/* ---- reductions of floats ---- */

struct row {
    const double *x, *bounds; /* bounds: NULL, certain */
    int64_t n;
};

static double row_bound(const struct row *r, int64_t k)
{
    return r->bounds ? r->bounds[k] : 0;
}

static double largest_bound(const struct row *r)
{
    double e = 0;

    for (int64_t k = 0; r->bounds && k < r->n; k++)
        e = r->bounds[k] > e || isnan(r->bounds[k]) ? r->bounds[k] : e;
    return e;
}

static double extreme(const struct row *r, bool largest)
{
    double y = r->x[0];

    for (int64_t k = 1; k < r->n && !isnan(y); k++)
        if (isnan(r->x[k]) || (largest ? r->x[k] > y : r->x[k] < y) ||
            (r->x[k] == y && signbit(y) != signbit(r->x[k]) && signbit(y) == largest)) /* -0 < +0 */
            y = r->x[k];
    return y;
}

/** Returns the sum (in float32's range) of f(x), where f is the identity, the magnitude or the square, with its distance. */
static double sum_row(const struct row *r, enum op op, int64_t terms, double *distance)
{
    double y = 0, near = 0, far = 0;

    for (int64_t k = 0; k < r->n; k++) {
        double x = r->x[k], e = row_bound(r, k), size = isfinite(x) ? fabs(x) : 0;
        bool square = op == OP_REDUCE_SUM_SQUARE || op == OP_REDUCE_L2;
        y += square ? x * x : op == OP_REDUCE_L1 ? fabs(x) : x;
        near += square ? size * size : size;
        far += square ? (size + e) * (size + e) : size + e;
    }
    *distance = interpret_bound_sum(y, near, far, terms, !r->bounds);
    return interpret_sum_in_range(y);
}

static double product_row(const struct row *r, double *distance)
{
    double y = 1, near = 1, far = 1, most = 1, least = 1;

    for (int64_t k = 0; k < r->n; k++) {
        double size = fabs(r->x[k]), e = row_bound(r, k);
        y *= r->x[k];
        near *= size;
        far *= size + e;
        most *= fmax(1, size + e);
        least *= size > e ? fmin(1, size - e) : size == 0 && e == 0 ? 1 : 0;
    }
    *distance = r->n == 1 ? row_bound(r, 0) : (far - near) + (double)r->n * ULP * far;
    if (isfinite(y) && r->n > 1 && (most > FLT_MAX || least < FLT_MIN)) /* some order may leave the range on the way */
        *distance = INFINITY;
    return y;
}

/** Returns log(sum(exp(x))) with the maximum taken out of the sum, as exp would overflow. */
static double log_sum_exp_row(const struct row *r, double *distance)
{
    double m = extreme(r, true), sum = 0, error = 0;

    *distance = 0;
    if (!isfinite(m))
        return m;
    for (int64_t k = 0; k < r->n; k++) {
        double term = exp(r->x[k] - m);
        sum += term;
        if (term > 0)
            error += term * ((m - r->x[k]) * ULP / 2 + INTERPRET_FUNCTION_ULPS * ULP);
    }
    double y = m + log(sum);
    double relative = error / sum + (double)r->n * ULP;
    *distance = largest_bound(r) + relative + INTERPRET_FUNCTION_ULPS * ULP * log(sum) + ULP * (fabs(y) + fabs(m)) + TINY;
    if (r->n == 1 && !r->bounds)
        *distance = 0;
    return y;
}

static double log_sum_row(const struct row *r, double *distance)
{
    double d, sum = sum_row(r, OP_REDUCE_LOG_SUM, r->n, &d), y = log(sum), low = sum - d, high = sum + d;

    if (d > 0 && low <= 0 && high >= 0)
        *distance = INFINITY;
    else if (!isfinite(y))
        *distance = isnan(d) ? INFINITY : isnan(y) && high < 0 ? 0 : d > 0 ? INFINITY : 0;
    else
        *distance = fmax(log(high) - y, y - log(low)) + INTERPRET_FUNCTION_ULPS * (ULP * fabs(y) + TINY);
    return y;
}

static double reduce_row(enum op op, const struct row *r, double *distance)
{
    double y, d = 0;

    switch (op) {
    case OP_REDUCE_L1:
    case OP_REDUCE_SUM:
    case OP_REDUCE_SUM_SQUARE:
        return sum_row(r, op, r->n, distance);
    case OP_REDUCE_L2: {
        double squares = sum_row(r, op, r->n + 1, &d);
        y = sqrt(squares);
        *distance = fmax(sqrt(squares + d) - y, y - sqrt(fmax(squares - d, 0))) + ULP * y;
        break;
    }
    case OP_REDUCE_MEAN:
        y = sum_row(r, op, r->n, &d) / (double)r->n;
        *distance = r->n == 1 ? d : d / (double)r->n + ULP * fabs(y) + TINY;
        break;
    case OP_REDUCE_PRODUCT:
        y = product_row(r, distance);
        break;
    case OP_REDUCE_LOG_SUM:
        return log_sum_row(r, distance);
    case OP_REDUCE_LOG_SUM_EXP:
        y = log_sum_exp_row(r, distance);
        break;
    case OP_REDUCE_MAX:
    case OP_REDUCE_MIN:
        *distance = largest_bound(r);
        return extreme(r, op == OP_REDUCE_MAX);
    default:
        assert(!"reduction");
        y = NAN;
    }
    if (!isfinite(y))
        *distance = largest_bound(r) > 0 || d > 0 ? INFINITY : 0;
    return y;
}

/* ---- reductions of integers ---- */

static int64_t reduce_integers(enum op op, bool is_unsigned, const int64_t *x, int64_t n)
{
    uint64_t y = op == OP_REDUCE_PRODUCT ? 1 : 0;

    if (op == OP_REDUCE_MAX || op == OP_REDUCE_MIN)
        y = (uint64_t)x[0];
    for (int64_t k = 0; k < n; k++) {
        uint64_t v = (uint64_t)x[k];
        bool less = is_unsigned ? v < y : (int64_t)v < (int64_t)y;
        switch (op) {
        case OP_REDUCE_L1:
            y += !is_unsigned && x[k] < 0 ? 0 - v : v;
            break;
        case OP_REDUCE_SUM:
            y += v;
            break;
        case OP_REDUCE_SUM_SQUARE:
            y += v * v;
            break;
        case OP_REDUCE_PRODUCT:
            y *= v;
            break;
        case OP_REDUCE_MAX:
            y = less ? y : v;
            break;
        case OP_REDUCE_MIN:
            y = less ? v : y;
            break;
        default:
            assert(!"reduction");
        }
    }
    return (int64_t)y;
}

bool interpret_reduce(struct interpretation *t)
{
    const WNNReduceOptions *o = t->node->options;
    const struct tensor_type *type = t->inputs[0].type;
    uint32_t order[RANK_MAX];
    const int64_t length = rows_order(type, o->axesCount, o->axes, order), rows = type_elements(type) / length;

    const union lane *input = (const union lane *)interpret_widen(t, 0, order);
    const double *input_bounds = interpret_widen_bounds(t, 0, order);
    union lane *output = interpret_memory(t, rows, sizeof *output);
    double *bounds = interpret_memory(t, rows, sizeof *bounds);
    if (!input || !output || !bounds)
        return false;
    for (int64_t k = 0; k < rows; k++) {
        struct row r = {(const double *)input + k * length, input_bounds ? input_bounds + k * length : NULL, length};
        if (dtype_is_float(type->type)) {
            output[k].f = reduce_row(t->node->op, &r, &bounds[k]);
        } else {
            output[k].i = reduce_integers(t->node->op, type->type == WNNOperandDataType_Uint64,
                                          (const int64_t *)input + k * length, length);
            bounds[k] = largest_bound(&r) > 0 ? INFINITY : 0;
        }
    }
    interpret_narrow(t, 0, output, bounds, NULL);
    return true;
}

/* ---- argMin and argMax ---- */

/** Returns whether a is more extreme than b: NaN is more so than anything, and ties are not. */
static bool more_extreme(bool largest, dtype type, union lane a, union lane b)
{
    if (dtype_is_float(type))
        return isnan(b.f) ? false : isnan(a.f) ? true : largest ? a.f > b.f : a.f < b.f;
    if (type == WNNOperandDataType_Uint64)
        return largest ? (uint64_t)a.i > (uint64_t)b.i : (uint64_t)a.i < (uint64_t)b.i;
    return largest ? a.i > b.i : a.i < b.i;
}

bool interpret_arg_min_max(struct interpretation *t)
{
    const bool largest = t->node->op == OP_ARG_MAX;
    const struct tensor_type *type = t->inputs[0].type;
    uint32_t order[RANK_MAX];
    const int64_t length = rows_order(type, 1, &t->node->args.argMin.axis, order), rows = type_elements(type) / length;

    const union lane *input = (const union lane *)interpret_widen(t, 0, order);
    const double *input_bounds = interpret_widen_bounds(t, 0, order);
    int64_t *output = interpret_memory(t, rows, sizeof *output);
    double *bounds = interpret_memory(t, rows, sizeof *bounds);
    if (!input || !output || !bounds)
        return false;
    for (int64_t k = 0; k < rows; k++) {
        const union lane *row = input + k * length;
        const double *e = input_bounds ? input_bounds + k * length : NULL;
        int64_t best = 0;
        for (int64_t i = 1; i < length; i++)
            if (more_extreme(largest, type->type, row[i], row[best]))
                best = i;
        output[k] = best;
        for (int64_t i = 0; e && i < length; i++) {
            if (i == best || !(e[i] > 0 || e[best] > 0))
                continue;
            if (!dtype_is_float(type->type) || !(fabs(row[i].f - row[best].f) > e[i] + e[best]))
                bounds[k] = INFINITY;
        }
    }
    interpret_narrow(t, 0, output, bounds, NULL);
    return true;
}

/* ---- cumulativeSum ---- */

bool interpret_cumulative_sum(struct interpretation *t)
{
    const WNNCumulativeSumOptions *o = t->node->options;
    const struct tensor_type *type = t->inputs[0].type;
    const bool is_float = dtype_is_float(type->type);
    uint32_t order[RANK_MAX];
    const int64_t length = rows_order(type, 1, &t->node->args.cumulativeSum.axis, order), count = type_elements(type);

    const union lane *input = (const union lane *)interpret_widen(t, 0, order);
    const double *input_bounds = interpret_widen_bounds(t, 0, order);
    union lane *output = interpret_memory(t, count, sizeof *output);
    double *bounds = interpret_memory(t, count, sizeof *bounds);
    if (!input || !output || !bounds)
        return false;
    for (int64_t start = 0; start < count; start += length) {
        union lane sum = {.i = 0};
        double near = 0, far = 0;
        bool certain = true;
        if (is_float)
            sum.f = 0;
        for (int64_t i = 0; i < length; i++) {
            int64_t k = start + (o->reversed ? length - 1 - i : i);
            union lane before = sum;
            double near_before = near, far_before = far, e = input_bounds ? input_bounds[k] : 0;
            bool certain_before = certain;
            if (is_float) {
                sum.f = interpret_sum_in_range(sum.f + input[k].f);
                double size = isfinite(input[k].f) ? fabs(input[k].f) : 0;
                near += size;
                far += size + e;
            } else {
                sum.i = (int64_t)((uint64_t)sum.i + (uint64_t)input[k].i);
            }
            certain &= e == 0;
            output[k] = o->exclusive ? before : sum;
            if (is_float)
                bounds[k] = interpret_bound_sum(output[k].f, o->exclusive ? near_before : near, o->exclusive ? far_before : far,
                                                o->exclusive ? i : i + 1, o->exclusive ? certain_before : certain);
            else
                bounds[k] = (o->exclusive ? certain_before : certain) ? 0 : INFINITY;
        }
    }
    interpret_narrow(t, 0, output, bounds, order);
    return true;
}
