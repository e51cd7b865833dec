/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX activation functions: as WebNN's own activation where there is one, so that it can become an epilogue, else as a
 * composition.
 */
#include <math.h>
#include <string.h>

#include "frontend/readers/onnx/operators.h"

static void ignore_hints(struct onnx_node *n)
{
    if (n->version < 6)
        onnx_ignore(n, "consumed_inputs");
}

#define PLAIN(name, method)                                                                                                    \
    static bool import_##name(struct onnx_node *n)                                                                             \
    {                                                                                                                          \
        ignore_hints(n);                                                                                                       \
        return onnx_output(n, 0, wnnGraphBuilder##method(n->builder, onnx_operand(n, 0), n->options));                         \
    }

PLAIN(hard_swish, HardSwish)
PLAIN(sigmoid, Sigmoid)
PLAIN(softplus, Softplus)
PLAIN(softsign, Softsign)

static bool is_unsigned(const struct onnx_node *n)
{
    enum onnx_type type = n->inputs[0]->type;

    return !onnx_type_is_float(type) && !onnx_type_is_signed(type);
}

static bool import_relu(struct onnx_node *n)
{
    ignore_hints(n);
    if (is_unsigned(n))
        return onnx_output_value(n, 0, n->inputs[0]);
    return onnx_output(n, 0, wnnGraphBuilderRelu(n->builder, onnx_operand(n, 0), n->options));
}

static WNNOperand elu(struct onnx_node *n, WNNOperand x, double alpha)
{
    WNNEluOptions o = WNN_ELU_OPTIONS_INIT;

    o.label = n->label;
    o.alpha = alpha;
    return wnnGraphBuilderElu(n->builder, x, &o);
}

static WNNOperand scale(struct onnx_node *n, WNNOperand x, double factor)
{
    return factor == 1 ? x : wnnGraphBuilderMul(n->builder, x, onnx_scalar_like(n, x, factor), n->options);
}

static bool import_elu(struct onnx_node *n)
{
    ignore_hints(n);
    return onnx_output(n, 0, elu(n, onnx_operand(n, 0), onnx_float(n, "alpha", 1)));
}

/** Imports Celu as max(0, x) + min(0, alpha * (exp(x / alpha) - 1)). */
static bool import_celu(struct onnx_node *n)
{
    double alpha = onnx_float(n, "alpha", 1);
    WNNOperand x = onnx_operand(n, 0), below;

    if (alpha == 1)
        return onnx_output(n, 0, elu(n, x, 1));
    if (!(alpha > 0))
        return onnx_refuse(n, "alpha is %g, it must be above 0", alpha);
    below = wnnGraphBuilderMin(n->builder, x, onnx_scalar_like(n, x, 0), n->options);
    below = scale(n, elu(n, wnnGraphBuilderDiv(n->builder, below, onnx_scalar_like(n, x, alpha), n->options), 1), alpha);
    return onnx_output(n, 0, wnnGraphBuilderAdd(n->builder, wnnGraphBuilderRelu(n->builder, x, n->options), below, n->options));
}

static bool import_selu(struct onnx_node *n)
{
    bool old = n->version < 6;
    double alpha = onnx_float(n, "alpha", old ? 1.6732 : 1.67326319217681884765625);
    double gamma = onnx_float(n, "gamma", old ? 1.0507 : 1.05070102214813232421875);

    ignore_hints(n);
    return onnx_output(n, 0, scale(n, elu(n, onnx_operand(n, 0), alpha), gamma));
}

static bool import_hard_sigmoid(struct onnx_node *n)
{
    WNNHardSigmoidOptions o = WNN_HARD_SIGMOID_OPTIONS_INIT;

    ignore_hints(n);
    o.label = n->label;
    o.alpha = onnx_float(n, "alpha", 0.2);
    o.beta = onnx_float(n, "beta", 0.5);
    return onnx_output(n, 0, wnnGraphBuilderHardSigmoid(n->builder, onnx_operand(n, 0), &o));
}

static bool import_leaky_relu(struct onnx_node *n)
{
    WNNLeakyReluOptions o = WNN_LEAKY_RELU_OPTIONS_INIT;

    ignore_hints(n);
    o.label = n->label;
    o.alpha = onnx_float(n, "alpha", 0.01);
    return onnx_output(n, 0, wnnGraphBuilderLeakyRelu(n->builder, onnx_operand(n, 0), &o));
}

static bool import_mish(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), y = wnnGraphBuilderSoftplus(n->builder, x, n->options);

    return onnx_output(n, 0, wnnGraphBuilderMul(n->builder, x, wnnGraphBuilderTanh(n->builder, y, n->options), n->options));
}

static bool import_swish(struct onnx_node *n)
{
    double alpha = onnx_float(n, "alpha", 1);
    WNNOperand x = onnx_operand(n, 0), y = wnnGraphBuilderSigmoid(n->builder, scale(n, x, alpha), n->options);

    return onnx_output(n, 0, wnnGraphBuilderMul(n->builder, x, y, n->options));
}

/** Imports Gelu, exact or as 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). */
static bool import_gelu(struct onnx_node *n)
{
    const char *approximate = onnx_string(n, "approximate", "none");
    WNNOperand x = onnx_operand(n, 0), y;

    if (!strcmp(approximate, "none"))
        return onnx_output(n, 0, wnnGraphBuilderGelu(n->builder, x, n->options));
    if (strcmp(approximate, "tanh") != 0)
        return onnx_refuse(n, "approximate is neither none nor tanh");
    y = wnnGraphBuilderMul(n->builder, x, x, n->options);
    y = scale(n, wnnGraphBuilderMul(n->builder, y, x, n->options), 0.044715);
    y = scale(n, wnnGraphBuilderAdd(n->builder, x, y, n->options), sqrt(2 / 3.14159265358979323846));
    y = wnnGraphBuilderTanh(n->builder, y, n->options);
    y = wnnGraphBuilderAdd(n->builder, y, onnx_scalar_like(n, y, 1), n->options);
    return onnx_output(n, 0, wnnGraphBuilderMul(n->builder, scale(n, x, 0.5), y, n->options));
}

/** The slope must fit into x.  Before version 7 it was one number, or one per channel. */
static bool import_prelu(struct onnx_node *n)
{
    const struct onnx_value *x = n->inputs[0], *slope = n->inputs[1];
    WNNOperand s = onnx_operand(n, 1);
    uint32_t dims[ONNX_RANK_MAX];

    ignore_hints(n);
    if (n->version < 7 && slope->rank == 1 && slope->dims[0] > 1 && x->rank > 2) {
        for (size_t d = 0; d < x->rank - 1; d++)
            dims[d] = d ? 1 : (uint32_t)slope->dims[0];
        s = onnx_reshape(n, s, x->rank - 1, dims);
    } else if (slope->rank > x->rank) {
        return onnx_refuse(n, "the slope has %zu dimensions, the input %zu", slope->rank, x->rank);
    } else {
        for (size_t d = 0; d < slope->rank; d++)
            if (slope->dims[slope->rank - 1 - d] != 1 && slope->dims[slope->rank - 1 - d] != x->dims[x->rank - 1 - d])
                return onnx_refuse(n, "the slope does not broadcast to the input");
    }
    if (is_unsigned(n))
        return onnx_output_value(n, 0, n->inputs[0]);
    return onnx_output(n, 0, wnnGraphBuilderPrelu(n->builder, onnx_operand(n, 0), s, n->options));
}

static bool import_shrink(struct onnx_node *n)
{
    double lambda = onnx_float(n, "lambd", 0.5), bias = onnx_float(n, "bias", 0);
    WNNOperand x = onnx_operand(n, 0), above, below, y;

    if (!onnx_type_is_float(n->inputs[0]->type))
        return onnx_refuse(n, "it is supported for floating-point numbers only");
    above = wnnGraphBuilderGreater(n->builder, x, onnx_scalar_like(n, x, lambda), n->options);
    below = wnnGraphBuilderLesser(n->builder, x, onnx_scalar_like(n, x, -lambda), n->options);
    y = wnnGraphBuilderWhere(n->builder, above, wnnGraphBuilderSub(n->builder, x, onnx_scalar_like(n, x, bias), n->options),
                             onnx_scalar_like(n, x, 0), n->options);
    y = wnnGraphBuilderWhere(n->builder, below, wnnGraphBuilderAdd(n->builder, x, onnx_scalar_like(n, x, bias), n->options), y,
                             n->options);
    return onnx_output(n, 0, y);
}

static bool import_thresholded_relu(struct onnx_node *n)
{
    double alpha = onnx_float(n, "alpha", 1);
    WNNOperand x = onnx_operand(n, 0);
    WNNOperand above = wnnGraphBuilderGreater(n->builder, x, onnx_scalar_like(n, x, alpha), n->options);

    return onnx_output(n, 0, wnnGraphBuilderWhere(n->builder, above, x, onnx_scalar_like(n, x, 0), n->options));
}

/* ---- clip ---- */

static bool in_order(const struct onnx_value *low, const struct onnx_value *high)
{
    if (onnx_type_is_float(low->type) || low->type == ONNX_UINT64)
        return onnx_element(low, 0) <= onnx_element(high, 0); /* false for NaN */
    return onnx_element_int(low, 0) <= onnx_element_int(high, 0);
}

/** Imports Clip as min(max(x, low), high), which is also right where low is above high, and for bounds that are computed. */
static bool clip_by_operands(struct onnx_node *n)
{
    WNNOperand y = onnx_operand(n, 0);

    for (size_t i = 1; i < 3; i++) {
        WNNOperand bound = onnx_operand_optional(n, i);

        if (!bound)
            continue;
        if (onnx_elements(n->inputs[i]) != 1)
            return onnx_refuse(n, "input %zu must be a scalar", i);
        bound = onnx_reshape(n, bound, 0, NULL);
        y = i == 1 ? wnnGraphBuilderMax(n->builder, y, bound, n->options)
                   : wnnGraphBuilderMin(n->builder, y, bound, n->options);
    }
    return onnx_output(n, 0, y);
}

static bool import_clip(struct onnx_node *n)
{
    WNNClampOptions o = WNN_CLAMP_OPTIONS_INIT;

    o.label = n->label;
    if (n->version < 11) {
        double low = onnx_float(n, "min", -INFINITY), high = onnx_float(n, "max", INFINITY);

        ignore_hints(n);
        if (!(low <= high))
            return onnx_refuse(n, "min %g is above max %g", low, high);
        if (low > -INFINITY)
            o.minValue = wnnNumber(low);
        if (high < INFINITY)
            o.maxValue = wnnNumber(high);
        return onnx_output(n, 0, wnnGraphBuilderClamp(n->builder, onnx_operand(n, 0), &o));
    }
    for (size_t i = 1; i < 3; i++)
        if (onnx_input(n, i) && (!onnx_is_constant(n, i) || onnx_elements(n->inputs[i]) != 1))
            return clip_by_operands(n);
    if (onnx_input(n, 1) && onnx_input(n, 2) && !in_order(n->inputs[1], n->inputs[2]))
        return clip_by_operands(n);
    if (onnx_input(n, 1))
        o.minValue = onnx_element_number(n->inputs[1], 0);
    if (onnx_input(n, 2))
        o.maxValue = onnx_element_number(n->inputs[2], 0);
    return onnx_output(n, 0, wnnGraphBuilderClamp(n->builder, onnx_operand(n, 0), &o));
}

static const struct onnx_operator rows[] = {
    {"Celu", 12, 0, 1, 1, 1, 0, import_celu, "elu, scaled", NULL},
    {"Clip", 1, 0, 1, 3, 1, 0, import_clip, "bounds that are computed: max and min", NULL},
    {"Elu", 1, 0, 1, 1, 1, 0, import_elu, "", NULL},
    {"Gelu", 20, 0, 1, 1, 1, 0, import_gelu, "approximate = tanh is composed", NULL},
    {"HardSigmoid", 1, 0, 1, 1, 1, 0, import_hard_sigmoid, "", NULL},
    {"HardSwish", 14, 0, 1, 1, 1, 0, import_hard_swish, "", NULL},
    {"LeakyRelu", 1, 0, 1, 1, 1, 0, import_leaky_relu, "", NULL},
    {"Mish", 18, 0, 1, 1, 1, 0, import_mish, "composed of softplus and tanh", NULL},
    {"PRelu", 1, 0, 2, 2, 1, 0, import_prelu, "", NULL},
    {"Relu", 1, 0, 1, 1, 1, 0, import_relu, "", NULL},
    {"Selu", 1, 0, 1, 1, 1, 0, import_selu, "elu, scaled", NULL},
    {"Shrink", 9, 0, 1, 1, 1, 0, import_shrink, "comparisons; floating-point numbers only", NULL},
    {"Sigmoid", 1, 0, 1, 1, 1, 0, import_sigmoid, "", NULL},
    {"Softplus", 1, 0, 1, 1, 1, 0, import_softplus, "", NULL},
    {"Softsign", 1, 0, 1, 1, 1, 0, import_softsign, "", NULL},
    {"Swish", 24, 0, 1, 1, 1, 0, import_swish, "composed of sigmoid and mul", NULL},
    {"ThresholdedRelu", 10, 0, 1, 1, 1, 0, import_thresholded_relu, "a comparison", NULL},
};

ONNX_TABLE(onnx_activation_operators, rows);
