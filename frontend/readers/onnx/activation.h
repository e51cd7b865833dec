/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Describes activation functions that are attributes of other operators: of recurrent layers, and of convolutions and matmuls
 * that ONNX Runtime fused with what follows them.
 */
#pragma once

#include "frontend/readers/onnx/compose.h"

enum { ONNX_PARAMETERS = 2 };

struct onnx_activation {
    const char *name;                   /* as ONNX writes it: also the name of the term that computes it */
    const char *const *parameter_names; /* NULL in place of those that it does not have */
    double parameters[ONNX_PARAMETERS]; /* alpha and beta, Clip's bounds, Selu's alpha and gamma */
};

/** Finds a function by its name, in any case, and sets the parameters to their defaults.  Refuses a name that is not known. */
bool onnx_activation_find(struct onnx_node *n, const char *name, struct onnx_activation *a);
/** Returns the function of x. */
WNNOperand onnx_activate(struct onnx_node *n, const struct onnx_activation *a, WNNOperand x);
/**
 * Returns the function of x that attribute `activation` names, or x without that attribute.  Parameters are the numbers of
 * activation_params, or activation_alpha, activation_beta and activation_gamma.
 */
WNNOperand onnx_activate_fused(struct onnx_node *n, WNNOperand x);
