/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes element-wise operators, batch normalization and the quantisation pair: one formula each, over broadcast operands.
 *
 * evaluate_... give the exact result of one element from widened operands, before it is rounded.  apply() walks the operands
 * line by line, so that memory stays small however large the tensors are.  Bounds come from the formulas themselves: the
 * extremes of every formula here over a box of operands are at its corners, at zeros or at the turning points listed.
 */
#include "ir/interpret/interpret.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>

enum { BLOCK = 256, SOURCES_MAX = 5 };

/** Describes one element-wise computation. */
struct formula {
    enum op op;
    dtype type;               /* of operand 0 (where: of operand 1): what the formula is written over */
    dtype result;             /* of the output */
    uint32_t count;           /* operands of the formula */
    bool integer;             /* type is an integer */
    union lane parameters[2]; /* alpha and beta, or minValue and maxValue */
    bool has[2];              /* clamp: the bound is there */
};

/* ---- floats ---- */

static double maximum(double a, double b)
{
    return number_extreme(true, a, b);
}

static double minimum(double a, double b)
{
    return number_extreme(false, a, b);
}

static double evaluate_float(const struct formula *f, const union lane *x)
{
    static double (*const functions[OP_ROWS])(double) = {
        [OP_ABS] = fabs, [OP_CEIL] = ceil,
        [OP_COS] = cos,  [OP_ERF] = erf,
        [OP_EXP] = exp,  [OP_FLOOR] = floor,
        [OP_LOG] = log,  [OP_ROUND_EVEN] = nearbyint, /* the library leaves the rounding mode at nearest even */
        [OP_SIN] = sin,  [OP_SQRT] = sqrt,
        [OP_TAN] = tan,  [OP_TANH] = tanh};
    const double a = x[0].f, b = f->count > 1 ? x[1].f : 0;
    const double alpha = f->parameters[0].f, beta = f->parameters[1].f;

    if (functions[f->op])
        return functions[f->op](a);
    switch (f->op) {
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return a / b;
    case OP_MAX:
        return maximum(a, b);
    case OP_MIN:
        return minimum(a, b);
    case OP_POW:
        return pow(a, b);
    case OP_PRELU:
        return maximum(0, a) + b * minimum(0, a);
    case OP_CLAMP: {
        double y = f->has[0] ? maximum(a, alpha) : a;
        return f->has[1] ? minimum(y, beta) : y;
    }
    case OP_NEG:
        return -a;
    case OP_RECIPROCAL:
        return 1 / a;
    case OP_SIGN: /* the specification: "1 if > 0, -1 if < 0, and 0 otherwise" */
        return a > 0 ? 1 : a < 0 ? -1 : 0;
    case OP_ELU:
        return maximum(0, a) + alpha * expm1(minimum(0, a));
    case OP_GELU:
        return 0.5 * a * erfc(-a / sqrt(2)); /* 1 + erf(z) = erfc(-z), without cancellation */
    case OP_HARD_SIGMOID:
        return maximum(0, minimum(1, alpha * a + beta));
    case OP_HARD_SWISH:
        return a * maximum(0, minimum(6, a + 3)) / 6;
    case OP_LEAKY_RELU:
        return maximum(0, a) + alpha * minimum(0, a);
    case OP_LINEAR:
        return alpha * a + beta;
    case OP_RELU:
        return maximum(0, a);
    case OP_SIGMOID:
        return 1 / (exp(-a) + 1);
    case OP_SOFTPLUS: /* ln(1 + exp(x)) without overflow */
        return maximum(a, 0) + log1p(exp(-fabs(a)));
    case OP_SOFTSIGN:
        return a / (1 + fabs(a));
    case OP_BATCH_NORMALIZATION: /* x: input, mean, variance, scale, bias; parameters: epsilon */
        return x[3].f * ((a - b) / sqrt(x[2].f + alpha)) + x[4].f;
    default:
        assert(!"formula");
        return NAN;
    }
}

/* ---- integers ---- */

static bool integer_less(const struct formula *f, int64_t a, int64_t b)
{
    return f->type == WNNOperandDataType_Uint64 ? (uint64_t)a < (uint64_t)b : a < b;
}

/** Results wrap when they are stored: their low bits are right. */
static int64_t evaluate_integer(const struct formula *f, const union lane *x)
{
    const int64_t a = x[0].i, b = f->count > 1 ? x[1].i : 0;
    const int64_t low = f->parameters[0].i, high = f->parameters[1].i;

    switch (f->op) {
    case OP_ADD:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case OP_SUB:
        return (int64_t)((uint64_t)a - (uint64_t)b);
    case OP_MUL:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case OP_DIV: /* toward zero; by zero 0 */
        if (b == 0)
            return 0;
        if (f->type == WNNOperandDataType_Uint64)
            return (int64_t)((uint64_t)a / (uint64_t)b);
        return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
    case OP_MAX:
        return integer_less(f, a, b) ? b : a;
    case OP_MIN:
        return integer_less(f, b, a) ? b : a;
    case OP_POW:
        return (int64_t)number_power(f->type != WNNOperandDataType_Uint64, a, b);
    case OP_PRELU:
        return a < 0 ? (int64_t)((uint64_t)b * (uint64_t)a) : a;
    case OP_CLAMP: {
        int64_t y = f->has[0] && integer_less(f, a, low) ? low : a;
        return f->has[1] && integer_less(f, high, y) ? high : y;
    }
    case OP_ABS:
        return a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
    case OP_NEG:
        return (int64_t)(0 - (uint64_t)a);
    case OP_SIGN:
        return (a > 0) - (a < 0);
    case OP_RELU:
        return a < 0 ? 0 : a;
    default:
        assert(!"formula");
        return 0;
    }
}

/* ---- predicates ---- */

static bool evaluate_predicate(const struct formula *f, const union lane *x)
{
    const union lane a = x[0], b = f->count > 1 ? x[1] : (union lane){0};

    switch (f->op) {
    case OP_EQUAL:
        return f->integer ? a.i == b.i : a.f == b.f;
    case OP_NOT_EQUAL:
        return f->integer ? a.i != b.i : a.f != b.f;
    case OP_GREATER:
        return f->integer ? integer_less(f, b.i, a.i) : a.f > b.f;
    case OP_GREATER_OR_EQUAL:
        return f->integer ? !integer_less(f, a.i, b.i) : a.f >= b.f;
    case OP_LESSER:
        return f->integer ? integer_less(f, a.i, b.i) : a.f < b.f;
    case OP_LESSER_OR_EQUAL:
        return f->integer ? !integer_less(f, b.i, a.i) : a.f <= b.f;
    case OP_LOGICAL_NOT:
        return a.i == 0;
    case OP_LOGICAL_AND:
        return a.i != 0 && b.i != 0;
    case OP_LOGICAL_OR:
        return a.i != 0 || b.i != 0;
    case OP_LOGICAL_XOR:
        return (a.i != 0) != (b.i != 0);
    case OP_IS_NAN:
        return isnan(a.f);
    case OP_IS_INFINITE:
        return isinf(a.f);
    default:
        assert(!"formula");
        return false;
    }
}

static bool is_predicate(enum op op)
{
    return op_infos[op].outs[0].types == DT_UINT8;
}

/* ---- casts and quantisation ---- */

/** Returns a whole number as an integer of that type: it saturates, and NaN is 0. */
static int64_t saturate(dtype type, double whole)
{
    const union scalar s = number_cast(wnnNumber(whole), type);
    union lane y;

    interpret_load(type, &s, 1, 1, &y);
    return y.i;
}

static union lane evaluate_cast(const struct formula *f, union lane x)
{
    union lane y = x;

    if (!f->integer && !dtype_is_float(f->result))
        y.i = saturate(f->result, trunc(x.f));
    else if (f->integer && f->result == WNNOperandDataType_Float32) /* at once: through double it would be rounded twice */
        y.f = f->type == WNNOperandDataType_Uint64 ? (float)(uint64_t)x.i : (float)x.i;
    else if (f->integer && dtype_is_float(f->result)) /* integers that double rounds are infinite as float16 */
        y.f = f->type == WNNOperandDataType_Uint64 ? (double)(uint64_t)x.i : (double)x.i;
    return y;
}

/** Computes quantizeLinear; x is input, scale, zeroPoint.  The quotient is rounded to float32, of float16 operands, too, before
 * it is rounded to a whole number. */
static int64_t evaluate_quantize(const struct formula *f, const union lane *x)
{
    double whole = nearbyint((float)(x[0].f / x[1].f));
    return saturate(f->result, whole + (double)x[2].i); /* exact where it is in range */
}

static bool operand_is_float(const struct formula *f, uint32_t k)
{
    switch (f->op) {
    case OP_WHERE:
        return k > 0 && !f->integer;
    case OP_QUANTIZE_LINEAR:
        return k < 2 || dtype_is_float(f->result);
    case OP_DEQUANTIZE_LINEAR:
        return k == 1 || dtype_is_float(f->type);
    default:
        return !f->integer;
    }
}

static union lane evaluate(const struct formula *f, const union lane *x)
{
    union lane y;

    if (f->op == OP_CAST)
        y = evaluate_cast(f, x[0]);
    else if (f->op == OP_WHERE)
        y = x[0].i ? x[1] : x[2];
    else if (f->op == OP_QUANTIZE_LINEAR && dtype_is_float(f->result))
        y.f = (double)(float)((double)(float)(x[0].f / x[1].f) + x[2].f);
    else if (f->op == OP_QUANTIZE_LINEAR)
        y.i = evaluate_quantize(f, x);
    else if (f->op == OP_DEQUANTIZE_LINEAR)
        y.f = (dtype_is_float(f->type) ? x[0].f - x[2].f : (double)(x[0].i - x[2].i)) * x[1].f;
    else if (is_predicate(f->op))
        y.i = evaluate_predicate(f, x);
    else if (f->integer)
        y.i = evaluate_integer(f, x);
    else
        y.f = evaluate_float(f, x);
    return y;
}

/* ---- bounds ---- */

/** Returns what float32 arithmetic may add inside the operator with exact operands: an absolute distance from y. */
static double tolerance(const struct formula *f, const union lane *x, double y)
{
    const double ulp = 0x1p-23, tiny = 0x1p-149, a = fabs(x[0].f);
    const double alpha = fabs(f->parameters[0].f), beta = fabs(f->parameters[1].f);

    switch (f->op) {
    case OP_COS:
    case OP_ERF:
    case OP_EXP:
    case OP_LOG:
    case OP_SIN:
    case OP_TAN:
    case OP_TANH:
        return INTERPRET_FUNCTION_ULPS * (ulp * fabs(y) + tiny);
    case OP_PRELU: /* x > 0 ? x : slope * x is right, too, and has other zeros */
        return fabs(y) < tiny ? tiny / 2 : 0;
    case OP_POW:
        return INTERPRET_POW_ULPS * (ulp * fabs(y) + tiny);
    case OP_ELU: /* one function, one product, one sum */
        return (INTERPRET_FUNCTION_ULPS + 2) * (ulp * fabs(y) + tiny);
    case OP_SOFTPLUS: /* exp under log1p, and a sum */
        return (2 * INTERPRET_FUNCTION_ULPS + 1) * (ulp * fabs(y) + tiny);
    case OP_SIGMOID: /* an overflowing exp(-x) gives 0 where the exact value is below the normal numbers */
        return (INTERPRET_FUNCTION_ULPS + 2) * ulp * fabs(y) + 0x1p-126;
    case OP_GELU: /* 1 + erf(z) cancels for negative z: the error of erf near -1 remains */
        return a * (INTERPRET_FUNCTION_ULPS + 3) * ulp + tiny;
    case OP_SOFTSIGN:
        return 2 * (ulp * fabs(y) + tiny);
    case OP_LINEAR:
        if (alpha * a > FLT_MAX)
            return INFINITY;
        return 2 * (ulp * (alpha * a + beta) + tiny);
    case OP_HARD_SIGMOID:
        return 2 * (ulp * (alpha * a + beta) + tiny);
    case OP_HARD_SWISH:
        return a * (3 * ulp * (a < 3 ? (3 + a) / 6 : 1) + ulp * 3 / 6) + tiny;
    case OP_LEAKY_RELU: /* x > 0 ? x : alpha * x is right, too, and has other zeros */
        return (alpha == 1 || alpha == 0) && y != 0 ? 0 : ulp * fabs(y) + tiny;
    case OP_BATCH_NORMALIZATION: { /* the usual rewriting as x * factor + offset is allowed, too */
        double root = sqrt(x[2].f + f->parameters[0].f), scale = fabs(x[3].f) / root;
        double size = (a + fabs(x[1].f)) * scale + fabs(x[4].f), most = fmax(fabs(x[3].f), fmax(1 / root, 1));
        if (!(fmax(size, (a + fabs(x[1].f)) * most) <= FLT_MAX)) /* some order overflows on the way */
            return INFINITY;
        return 8 * (ulp * size + tiny);
    }
    case OP_DEQUANTIZE_LINEAR:
        if (dtype_is_float(f->type)) /* the difference is rounded, if it is one */
            return x[2].f == 0 ? 0 : ulp * (a + fabs(x[2].f)) * fabs(x[1].f);
        /* the specification's emulation casts both to float before it subtracts */
        return ulp * (fabs((double)x[0].i) + fabs((double)x[2].i)) * fabs(x[1].f) *
               (llabs(x[0].i) > 1 << 24 || llabs(x[2].i) > 1 << 24);
    default: /* exact, or rounded once */
        return 0;
    }
}

static double lane_distance(bool is_float, union lane a, union lane b)
{
    if (!is_float)
        return a.i == b.i ? 0 : INFINITY; /* an integer that may be another one: nothing is certain */
    if (isnan(a.f) && isnan(b.f))
        return 0;
    if (a.f == b.f) /* zeros of both signs are two results: without a distance, rounding would take the first for certain */
        return a.f == 0 && signbit(a.f) != signbit(b.f) ? 0x1p-150 : 0;
    double d = fabs(a.f - b.f);
    return isnan(d) ? INFINITY : d;
}

/** Finds where a formula turns or jumps inside an interval, besides 0. */
static const double *turning_points(const struct formula *f, uint32_t *count)
{
    static const double gelu[] = {-0.7517915246935645}, hard_swish[] = {-3, -1.5, 3};

    *count = f->op == OP_GELU ? 1 : f->op == OP_HARD_SWISH ? 3 : 0;
    return f->op == OP_GELU ? gelu : hard_swish;
}

/** Returns the distance within which the unrounded result lies, operands within bounds. */
static double distance(const struct formula *f, const union lane *x, const double *bounds, union lane y)
{
    bool is_float = dtype_is_float(f->result) && !is_predicate(f->op);
    double d = 0;
    union lane candidates[SOURCES_MAX][8];
    uint32_t counts[SOURCES_MAX], turns;
    const double *turning = turning_points(f, &turns);
    bool certain = true;

    for (uint32_t k = 0; k < f->count; k++) {
        if (!(bounds[k] > 0)) {
            candidates[k][0] = x[k];
            counts[k] = 1;
            continue;
        }
        certain = false;
        if (!operand_is_float(f, k) || !isfinite(bounds[k]) || !isfinite(x[k].f))
            return INFINITY;
        double low = x[k].f - bounds[k], high = x[k].f + bounds[k];
        uint32_t n = 0;
        candidates[k][n++] = x[k];
        candidates[k][n++].f = low;
        candidates[k][n++].f = high;
        if (low <= 0 && high >= 0)
            candidates[k][n++].f = 0;
        for (uint32_t i = 0; i < turns; i++)
            if (low < turning[i] && turning[i] < high)
                candidates[k][n++].f = turning[i];
        counts[k] = n;
        bool pole = low <= 0 && high >= 0;
        if (pole && (f->op == OP_RECIPROCAL || (f->op == OP_DIV && k == 1) || (f->op == OP_QUANTIZE_LINEAR && k == 1)))
            return INFINITY;
        if ((f->op == OP_SIN || f->op == OP_COS) && high - low > 1)
            d = 2;
        if (f->op == OP_TAN && (high - low > 3 || floor((low + M_PI_2) / M_PI) != floor((high + M_PI_2) / M_PI)))
            return INFINITY;
        if (f->op == OP_POW && x[0].f <= bounds[0] && (k == 1 || bounds[1] > 0))
            return INFINITY; /* negative bases with uncertain exponents: NaN or not */
        if (op_infos[f->op].flags & OPF_COMPARES && fabs(x[0].f - x[1].f) <= bounds[0] + bounds[1])
            return INFINITY; /* all six jump where the operands meet */
    }
    if (!certain) {
        uint32_t at[SOURCES_MAX] = {0}, k;
        do {
            union lane corner[SOURCES_MAX];
            for (k = 0; k < f->count; k++)
                corner[k] = candidates[k][at[k]];
            union lane z = evaluate(f, corner);
            double here = lane_distance(is_float, y, z);
            if (is_float && f->op != OP_WHERE)
                here += tolerance(f, corner, z.f);
            if (isnan(here))
                here = INFINITY;
            d = here > d ? here : d;
            for (k = 0; k < f->count && ++at[k] == counts[k]; k++)
                at[k] = 0;
        } while (k < f->count);
        if ((f->op == OP_SIN || f->op == OP_COS) && d < bounds[0])
            d = bounds[0]; /* a slope of at most 1, and turning points that are not among the corners */
        return d;
    }
    if (!is_float || f->op == OP_WHERE || f->op == OP_CAST || f->integer)
        return f->op == OP_DEQUANTIZE_LINEAR ? tolerance(f, x, y.f) : 0;
    double t = tolerance(f, x, y.f);
    return isfinite(y.f) && t > 0 ? t : 0;
}

/* ---- walking ---- */

/** Computes the formula over the walk's views 1 .. count (operands) into view 0 (result 0). */
static void apply(struct interpretation *t, const struct formula *f, struct walk *w, const struct interpret_input *const *from)
{
    const struct interpret_result *to = &t->results[0];
    const size_t result_size = dtype_size(f->result);
    union lane operands[SOURCES_MAX][BLOCK], out[BLOCK], x[SOURCES_MAX];

    walk_simplify(w);
    const uint32_t last = w->rank - 1;
    do {
        for (int64_t start = 0; start < w->dims[last]; start += BLOCK) {
            int64_t n = w->dims[last] - start < BLOCK ? w->dims[last] - start : BLOCK;
            for (uint32_t k = 0; k < f->count; k++) {
                int64_t stride = w->strides[k + 1][last];
                const char *data = from[k]->data;
                data += (w->offset[k + 1] + start * stride) * (int64_t)dtype_size(from[k]->type->type);
                interpret_load(from[k]->type->type, data, stride, n, operands[k]);
            }
            int64_t at = w->offset[0] + start * w->strides[0][last];
            for (int64_t i = 0; i < n; i++) {
                for (uint32_t k = 0; k < f->count; k++)
                    x[k] = operands[k][i];
                out[i] = evaluate(f, x);
                if (!to->bound)
                    continue;
                double bounds[SOURCES_MAX];
                for (uint32_t k = 0; k < f->count; k++)
                    bounds[k] = from[k]->bound ? from[k]->bound[w->offset[k + 1] + (start + i) * w->strides[k + 1][last]] : 0;
                double d = distance(f, x, bounds, out[i]);
                to->bound[at + i * w->strides[0][last]] =
                    dtype_is_float(f->result) ? interpret_bound_rounded(f->result, out[i].f, d) : d;
            }
            interpret_store(f->result, out, n, (char *)to->data + at * (int64_t)result_size, w->strides[0][last]);
        }
    } while (walk_next(w));
}

/** Makes the result's dimensions the walk's, and sets the strides of view 0. */
static void walk_result(struct walk *w, const struct tensor_type *type, uint32_t operands)
{
    memset(w, 0, sizeof *w);
    w->rank = type->rank;
    w->views = operands + 1;
    for (uint32_t d = 0; d < type->rank; d++)
        w->dims[d] = type->dims[d];
    type_strides(type, w->strides[0]);
}

/* ---- operators ---- */

/** Returns an option as a number that is cast to the operand's type (specification, "Casting"). */
static double option_f64(dtype type, double value)
{
    return scalar_to_double(number_cast(wnnNumber(value), type), type);
}

static void clamp_bound(struct formula *f, uint32_t which, WNNNumber number)
{
    union scalar s = number_cast(number, f->type);

    f->has[which] = number.type != WNNNumberType_Undefined;
    if (f->integer)
        interpret_load(f->type, &s, 1, 1, &f->parameters[which]);
    else
        f->parameters[which].f = scalar_to_double(s, f->type);
    if (!f->integer && isnan(f->parameters[which].f))
        f->has[which] = false; /* a NaN bound is as if it were absent */
}

bool interpret_elementwise(struct interpretation *t)
{
    const struct node *n = t->node;
    struct formula f = {.op = n->op, .count = n->input_count, .result = t->results[0].type->type};
    const struct interpret_input *from[SOURCES_MAX];
    struct walk w;

    f.type = t->inputs[n->op == OP_WHERE ? 1 : 0].type->type;
    f.integer = !dtype_is_float(f.type);
    if (n->op == OP_CLAMP) {
        const WNNClampOptions *o = n->options;
        clamp_bound(&f, 0, o->minValue);
        clamp_bound(&f, 1, o->maxValue);
    } else { /* alpha, then beta */
        uint32_t i = 0;
        for (const struct attr_info *a = op_infos[n->op].attrs; a->kind != ATTR_NONE; a++)
            if (a->kind == ATTR_F64)
                f.parameters[i++].f = option_f64(f.type, *(const double *)attr_value(a, n->options, &n->args));
    }
    walk_result(&w, t->results[0].type, f.count);
    for (uint32_t k = 0; k < f.count; k++) {
        from[k] = &t->inputs[k];
        walk_broadcast(&w, k + 1, from[k]->type);
    }
    apply(t, &f, &w, from);
    return true;
}

bool interpret_batch_normalization(struct interpretation *t)
{
    const WNNBatchNormalizationOptions *o = t->node->options;
    const struct tensor_type *type = t->inputs[0].type;
    struct formula f = {.op = OP_BATCH_NORMALIZATION, .type = type->type, .result = type->type, .count = 5};
    const struct interpret_input *from[SOURCES_MAX];
    /* Absent scale and bias are what changes nothing: adding +0 would change -0. */
    const struct tensor_type scalar = {.type = WNNOperandDataType_Float32};
    const float one = 1, zero = -0.0f;
    const struct interpret_input scale = {.type = &scalar, .data = &one}, bias = {.type = &scalar, .data = &zero};
    struct walk w;

    f.parameters[0].f = option_f64(type->type, o->epsilon);
    walk_result(&w, type, 5);
    for (uint32_t k = 0; k < 5; k++) {
        from[k] = t->inputs[k].type ? &t->inputs[k] : k == 3 ? &scale : &bias;
        if (k == 0)
            type_strides(type, w.strides[1]);
        else
            w.strides[k + 1][o->axis] = t->inputs[k].type != NULL;
    }
    apply(t, &f, &w, from);
    return true;
}

/**
 * Computes the quantisation pair, whose operands are broadcast blockwise: every dimension is walked as two, blocks and places
 * in a block, of which the second does not move the small operands.
 */
bool interpret_quantisation(struct interpretation *t)
{
    const struct tensor_type *type = t->inputs[0].type;
    struct formula f = {.op = t->node->op, .count = 3, .result = t->results[0].type->type};
    const struct interpret_input *from[SOURCES_MAX] = {&t->inputs[0], &t->inputs[1], &t->inputs[2]};
    int64_t strides[4][RANK_MAX];
    struct walk w = {.rank = 2 * type->rank, .views = 4};

    f.type = type->type;
    f.integer = false; /* decided operand by operand */
    type_strides(type, strides[0]);
    for (uint32_t k = 0; k < 3; k++)
        type_strides(from[k]->type, strides[k + 1]);
    for (uint32_t d = 0; d < type->rank; d++) {
        /* scale and zeroPoint have one shape. */
        int64_t blocks = from[1]->type->dims[d], block = type->dims[d] / blocks;
        w.dims[2 * d] = blocks;
        w.dims[2 * d + 1] = block;
        for (uint32_t v = 0; v < 4; v++) {
            bool small = v >= 2;
            w.strides[v][2 * d] = strides[v][d] * (small ? 1 : block);
            w.strides[v][2 * d + 1] = small ? 0 : strides[v][d];
        }
    }
    apply(t, &f, &w, from);
    return true;
}
