/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Describes activation functions that are attributes of other operators: of recurrent layers, and of convolutions and matmuls
 * that ONNX Runtime fused with what follows them.
 */
#ifndef WEBNN_FRONTEND_READERS_ONNX_ACTIVATION_H_
#define WEBNN_FRONTEND_READERS_ONNX_ACTIVATION_H_

#include "frontend/readers/onnx/compose.h"

enum onnx_function {
    ONNX_AFFINE,
    ONNX_CLIP,
    ONNX_ELU,
    ONNX_GELU,
    ONNX_HARD_SIGMOID,
    ONNX_HARD_SWISH,
    ONNX_LEAKY_RELU,
    ONNX_PARAMETRIC_SOFTPLUS,
    ONNX_QUICK_GELU,
    ONNX_RELU,
    ONNX_SCALED_TANH,
    ONNX_SELU,
    ONNX_SIGMOID,
    ONNX_SOFTPLUS,
    ONNX_SOFTSIGN,
    ONNX_TANH,
    ONNX_THRESHOLDED_RELU,
};

enum { ONNX_PARAMETERS = 2 };

struct onnx_activation {
    enum onnx_function function;
    double parameters[ONNX_PARAMETERS]; /* alpha and beta, Clip's bounds, Selu's alpha and gamma */
};

/** Finds a function by its name, in any case, and sets the parameters to their defaults.  Refuses a name that is not known. */
bool onnx_activation_find(struct onnx_node *n, const char *name, struct onnx_activation *a);
/** Returns the name of parameter i of a function, "alpha" for example, or NULL if it has none. */
const char *onnx_activation_parameter(const struct onnx_activation *a, size_t i);
/** Returns the function of x. */
WNNOperand onnx_activate(struct onnx_node *n, const struct onnx_activation *a, WNNOperand x);
/**
 * Returns the function of x that attribute `activation` names, or x without that attribute.  Parameters are the numbers of
 * activation_params, or activation_alpha, activation_beta and activation_gamma.
 */
WNNOperand onnx_activate_fused(struct onnx_node *n, WNNOperand x);

#endif
