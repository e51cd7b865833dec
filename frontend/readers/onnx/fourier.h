/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares Fourier transforms of rows, for the importers of DFT and STFT. */
#pragma once

#include "frontend/readers/onnx/onnx.h"

/** Describes the transform of each row. */
struct fourier {
    uint32_t length; /* of the transform; a shorter row is padded with zeros; none is longer */
    uint32_t bins;   /* the first ones of the result */
    uint32_t parts;  /* of the result: 2, or 1 for the real one */
    bool inverse;    /* with the factor 1 / length */
};

/** Transforms x, [rows, 1 (real) or 2 (real and imaginary), count], of float32 or float16, and returns [rows, bins, parts]. */
WNNOperand onnx_fourier(struct onnx_node *n, WNNOperand x, const struct fourier *f);
