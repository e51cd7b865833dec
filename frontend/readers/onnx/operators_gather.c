/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX operators that read or write at indices: the Gather and Scatter families, OneHot, Compress.  They become WebNN's
 * gathers and scatters where the shapes are those that it asks for; else coordinates made explicit, or comparisons with a
 * range.
 *
 * A scatter that adds (multiplies, ...) must see every update of one place, also of equal indices, which WebNN's scatters do
 * not: it is an operator of this library's own, wnnGraphBuilderScatterReduce.
 */
#include <string.h>

#include "frontend/readers/onnx/counted.h"
#include "frontend/readers/onnx/compose.h"

/* ---- gathers ---- */

/** Puts slices along an axis whose condition is true first, and says how many those are. */
static bool compress(struct onnx_node *n, uint32_t axis, bool flat)
{
    const struct onnx_value *v = n->inputs[0], *condition = n->inputs[1], *counted = condition->count ? condition : v;
    WNNOperand x = onnx_operand(n, 0), flags = onnx_cast(n, onnx_operand(n, 1), WNNOperandDataType_Int32), count;
    const uint32_t size = onnx_dims_of(n, flags).at[0], all = (uint32_t)onnx_elements(v);

    if (v->count && (flat ? v->rank != 1 : v->counted != axis))
        return onnx_refuse(n, "its input has another dimension whose size is known at run time only");
    if (counted->count)
        flags = onnx_where(n, onnx_lesser(n, onnx_iota(n, WNNOperandDataType_Int32, 1, 0, size), counted->count), flags,
                           onnx_scalar_like(n, flags, 0));
    x = flat ? onnx_reshape(n, x, 1, &all) : x;
    flags = onnx_compact(n, flags, &count);
    onnx_set_count(n, count, axis);
    return onnx_output_as(n, 0, onnx_gather(n, x, flags, axis), v->type);
}

bool onnx_import_compress(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *condition = n->inputs[1];
    bool flat = !onnx_has(n, "axis");
    int64_t dims[ONNX_RANK_MAX];
    uint32_t axis = 0, all;
    size_t count = 0;

    if (v->refusal || condition->refusal)
        return onnx_refuse(n, "an input %s", v->refusal ? v->refusal : condition->refusal);
    if ((!flat && !onnx_axis(n, onnx_int(n, "axis", 0), v->rank, &axis)))
        return false;
    memcpy(dims, v->dims, sizeof dims);
    if (flat)
        dims[0] = onnx_elements(v);
    if (condition->rank != 1 || condition->dims[0] > dims[axis])
        return onnx_refuse(n, "the condition must be a list of at most %lld", (long long)dims[axis]);
    if (!onnx_is_constant(n, 1) || v->count || condition->count)
        return compress(n, axis, flat);
    int32_t *indices = onnx_alloc(n, (size_t)condition->dims[0] + 1, sizeof *indices);
    for (int64_t i = 0; indices && i < condition->dims[0]; i++)
        if (onnx_element(condition, (size_t)i) != 0)
            indices[count++] = (int32_t)i;
    if (!indices)
        return false;
    dims[axis] = (int64_t)count;
    if (!count)
        return onnx_output_constant(n, 0, v->type, flat ? 1 : v->rank, dims) != NULL;
    WNNOperand x = onnx_operand(n, 0);
    all = (uint32_t)onnx_elements(v);
    if (flat)
        x = onnx_reshape(n, x, 1, &all);
    return onnx_output_as(n, 0, onnx_gather_constant(n, x, axis, (uint32_t)count, indices), v->type);
}

/* ---- one-hot ---- */

/* ---- scatters that reduce ---- */

/* ---- scatters that replace ---- */
