/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Validates quantizeLinear and dequantizeLinear and infers their shapes. */
#include "ir/graph/infer_steps.h"

/** Data types and ranks are in the rows; scale and zeroPoint have one shape, which is blockwise broadcastable to input's. */
static bool check_scale(struct call *c)
{
    const struct tensor_type *input = input_type(c, 0), *scale = input_type(c, 1);

    if (!check_shape(c, 2, scale->rank, scale->dims))
        return false;
    if (!shape_broadcasts_blockwise(scale, input))
        return call_error(c, "the shape of scale, %s, is not blockwise broadcastable to that of input, %s", SHAPE_PRINT(scale),
                          SHAPE_PRINT(input));
    return true;
}

bool infer_quantization(struct call *c)
{
    return check_scale(c) && infer_result_like(c, 0);
}
