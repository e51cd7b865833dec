/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what ONNX's attention operators share with those of ONNX Runtime.
 */
#ifndef WEBNN_FRONTEND_READERS_ONNX_ATTENTION_H_
#define WEBNN_FRONTEND_READERS_ONNX_ATTENTION_H_

#include "frontend/readers/onnx/compose.h"

/**
 * Rotates pairs of the first `rotated` elements of x [batch, heads, length, size] by angles whose cosine and sine are [batch,
 * 1, length, rotated / 2]: the pairs are (0, 1), (2, 3) ... if interleaved, else (0, half), (1, half + 1) ...  rotated is even
 * and at most size.
 */
WNNOperand onnx_rotate(struct onnx_node *n, WNNOperand x, WNNOperand cosine, WNNOperand sine, uint32_t rotated,
                       bool interleaved);
/** Returns where all that is added to the scores of a row's keys is -infinity, so that the row sees none of them; with one key.
 */
WNNOperand onnx_blind_rows(struct onnx_node *n, WNNOperand added);
/** Returns softcap * tanh(scores / softcap), or the scores if softcap is 0. */
WNNOperand onnx_soft_cap(struct onnx_node *n, WNNOperand scores, double softcap);

#endif
