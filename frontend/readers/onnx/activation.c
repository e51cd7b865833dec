/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Expresses activation functions that are attributes (compose.h). */

#include <math.h>
#include <string.h>
#include <strings.h>

#include "frontend/readers/onnx/term.h"

static const struct function_info {
    const char *name; /* also that of a term, whose parameters are x and these (terms.def) */
    const char *parameters[ONNX_PARAMETERS];
    double defaults[ONNX_PARAMETERS];
} functions[] = {
    {"Affine", {"alpha", "beta"}, {1, 0}},
    {"Clip", {"min", "max"}, {-INFINITY, INFINITY}},
    {"Elu", {"alpha"}, {1}},
    {"Gelu", {NULL}, {0}},
    {"HardSigmoid", {"alpha", "beta"}, {0.2, 0.5}},
    {"HardSwish", {NULL}, {0}},
    {"LeakyRelu", {"alpha"}, {0.01}},
    {"ParametricSoftplus", {"alpha", "beta"}, {1, 1}},
    {"QuickGelu", {"alpha"}, {1.702}},
    {"Relu", {NULL}, {0}},
    {"ScaledTanh", {"alpha", "beta"}, {1, 1}},
    {"Selu", {"alpha", "gamma"}, {1.67326319217681884765625, 1.05070102214813232421875}},
    {"Sigmoid", {NULL}, {0}},
    {"Softplus", {NULL}, {0}},
    {"Softsign", {NULL}, {0}},
    {"Tanh", {NULL}, {0}},
    {"ThresholdedRelu", {"alpha"}, {1}},
};

bool onnx_activation_find(struct onnx_node *n, const char *name, struct onnx_activation *a)
{
    size_t f = 0;

    while (f < sizeof functions / sizeof *functions && strcasecmp(functions[f].name, name) != 0)
        f++;
    if (f == sizeof functions / sizeof *functions)
        return onnx_refuse(n, "activation \"%.40s\" is not known", name);
    a->name = functions[f].name;
    a->parameter_names = functions[f].parameters;
    memcpy(a->parameters, functions[f].defaults, sizeof a->parameters);
    return true;
}

WNNOperand onnx_activate(struct onnx_node *n, const struct onnx_activation *a, WNNOperand x)
{
    return onnx_term_of(n, term_find_function(a->name, strlen(a->name)), x, ONNX_PARAMETERS, a->parameters);
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
        const char *name = a.parameter_names[i];

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
