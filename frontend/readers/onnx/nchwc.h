/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads the domain com.microsoft.nchwc, which ONNX Runtime's level "all" writes on processors with vectors: tensors [N, C, H,
 * W] that it keeps in blocks of 8 or 16 channels, as many as a register holds, the last block filled up with zeros.
 *
 * Here these tensors are plain ones, and filters are put back into the order oihw.  Channels that fill up are left out where
 * the nodes that read the tensor show how many there are.
 */
#pragma once

#include "frontend/readers/onnx/compose.h"

#define ONNX_NCHWC "com.microsoft.nchwc"

/**
 * Returns filter (input 1) and *bias (input 2 or NULL) of a Conv of this domain, as conv2d wants them for x (input 0) and for
 * the channels of the result that are read.
 */
WNNOperand onnx_nchwc_filter(struct onnx_node *n, WNNOperand x, WNNOperand *bias);
