/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Expresses activation functions that are attributes (activation.h). */
#include "frontend/readers/onnx/activation.h"

#include <float.h>
#include <string.h>
#include <strings.h>

static const struct function_info {
    const char *name;
    const char *parameters[ONNX_PARAMETERS];
    double defaults[ONNX_PARAMETERS];
} functions[] = {
    [ONNX_AFFINE] = {"Affine", {"alpha", "beta"}, {1, 0}},
    [ONNX_CLIP] = {"Clip", {"min", "max"}, {-(double)FLT_MAX, (double)FLT_MAX}},
    [ONNX_ELU] = {"Elu", {"alpha", NULL}, {1, 0}},
    [ONNX_GELU] = {"Gelu", {NULL, NULL}, {0, 0}},
    [ONNX_HARD_SIGMOID] = {"HardSigmoid", {"alpha", "beta"}, {0.2, 0.5}},
    [ONNX_HARD_SWISH] = {"HardSwish", {NULL, NULL}, {0, 0}},
    [ONNX_LEAKY_RELU] = {"LeakyRelu", {"alpha", NULL}, {0.01, 0}},
    [ONNX_PARAMETRIC_SOFTPLUS] = {"ParametricSoftplus", {"alpha", "beta"}, {1, 1}},
    [ONNX_QUICK_GELU] = {"QuickGelu", {"alpha", NULL}, {1.702, 0}},
    [ONNX_RELU] = {"Relu", {NULL, NULL}, {0, 0}},
    [ONNX_SCALED_TANH] = {"ScaledTanh", {"alpha", "beta"}, {1, 1}},
    [ONNX_SELU] = {"Selu", {"alpha", "gamma"}, {1.67326319217681884765625, 1.05070102214813232421875}},
    [ONNX_SIGMOID] = {"Sigmoid", {NULL, NULL}, {0, 0}},
    [ONNX_SOFTPLUS] = {"Softplus", {NULL, NULL}, {0, 0}},
    [ONNX_SOFTSIGN] = {"Softsign", {NULL, NULL}, {0, 0}},
    [ONNX_TANH] = {"Tanh", {NULL, NULL}, {0, 0}},
    [ONNX_THRESHOLDED_RELU] = {"ThresholdedRelu", {"alpha", NULL}, {1, 0}},
};

bool onnx_activation_find(struct onnx_node *n, const char *name, struct onnx_activation *a)
{
    size_t f = 0;

    while (f < sizeof functions / sizeof *functions && strcasecmp(functions[f].name, name) != 0)
        f++;
    if (f == sizeof functions / sizeof *functions)
        return onnx_refuse(n, "activation \"%.40s\" is not known", name);
    a->function = (enum onnx_function)f;
    memcpy(a->parameters, functions[f].defaults, sizeof a->parameters);
    return true;
}

const char *onnx_activation_parameter(const struct onnx_activation *a, size_t i)
{
    return functions[a->function].parameters[i];
}

WNNOperand onnx_activate(struct onnx_node *n, const struct onnx_activation *a, WNNOperand x)
{
    const double first = a->parameters[0], second = a->parameters[1];
    WNNEluOptions elu = WNN_ELU_OPTIONS_INIT;
    WNNHardSigmoidOptions hard = WNN_HARD_SIGMOID_OPTIONS_INIT;
    WNNLeakyReluOptions leaky = WNN_LEAKY_RELU_OPTIONS_INIT;

    elu.label = hard.label = leaky.label = n->label;
    elu.alpha = hard.alpha = leaky.alpha = first;
    hard.beta = second;
    switch (a->function) {
    case ONNX_AFFINE:
        return onnx_linear(n, x, first, second);
    case ONNX_CLIP:
        return first <= second ? onnx_clamp(n, x, first, second)
                               : onnx_min(n, onnx_max(n, x, onnx_scalar_like(n, x, first)), onnx_scalar_like(n, x, second));
    case ONNX_ELU:
        return wnnGraphBuilderElu(n->builder, x, &elu);
    case ONNX_GELU:
        return wnnGraphBuilderGelu(n->builder, x, n->options);
    case ONNX_HARD_SIGMOID:
        return wnnGraphBuilderHardSigmoid(n->builder, x, &hard);
    case ONNX_HARD_SWISH:
        return wnnGraphBuilderHardSwish(n->builder, x, n->options);
    case ONNX_LEAKY_RELU:
        return wnnGraphBuilderLeakyRelu(n->builder, x, &leaky);
    case ONNX_PARAMETRIC_SOFTPLUS:
        x = wnnGraphBuilderSoftplus(n->builder, onnx_linear(n, x, second, 0), n->options);
        return onnx_linear(n, x, first, 0);
    case ONNX_QUICK_GELU:
        return onnx_mul(n, x, onnx_sigmoid(n, onnx_linear(n, x, first, 0)));
    case ONNX_RELU:
        return onnx_relu(n, x);
    case ONNX_SCALED_TANH:
        return onnx_linear(n, onnx_tanh(n, onnx_linear(n, x, second, 0)), first, 0);
    case ONNX_SELU:
        return onnx_linear(n, wnnGraphBuilderElu(n->builder, x, &elu), second, 0);
    case ONNX_SIGMOID:
        return onnx_sigmoid(n, x);
    case ONNX_SOFTPLUS:
        return wnnGraphBuilderSoftplus(n->builder, x, n->options);
    case ONNX_SOFTSIGN:
        return wnnGraphBuilderSoftsign(n->builder, x, n->options);
    case ONNX_TANH:
        return onnx_tanh(n, x);
    case ONNX_THRESHOLDED_RELU:
        return onnx_where(n, onnx_greater(n, x, onnx_scalar_like(n, x, first)), x, onnx_scalar_like(n, x, 0));
    }
    return x;
}

WNNOperand onnx_activate_fused(struct onnx_node *n, WNNOperand x)
{
    static const char *const names[][2] = {
        {"alpha", "activation_alpha"}, {"beta", "activation_beta"}, {"gamma", "activation_gamma"}};
    const char *function = onnx_string(n, "activation", "");
    struct onnx_activation a = {0};
    size_t count;
    const float *parameters = onnx_floats(n, "activation_params", &count);

    if (!*function)
        return x;
    if (!onnx_activation_find(n, function, &a))
        return onnx_error_operand(n);
    for (size_t i = 0; i < ONNX_PARAMETERS; i++) {
        const char *name = onnx_activation_parameter(&a, i);

        if (!name)
            continue;
        if (parameters && i < count)
            a.parameters[i] = (double)parameters[i];
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (!strcmp(name, names[k][0]))
                a.parameters[i] = onnx_float(n, names[k][1], a.parameters[i]);
    }
    return onnx_activate(n, &a, x);
}
