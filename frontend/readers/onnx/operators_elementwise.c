/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports what terms do not say of element-wise operators: the broadcast of the oldest versions, PRelu and Clip.
 */
#include <math.h>
#include <string.h>

#include "frontend/readers/onnx/compose.h"

/** Returns the operand of input 1.  Below version 7 an attribute says where it is broadcast along input 0. */
WNNOperand onnx_second_operand(struct onnx_node *n)
{
    const struct onnx_value *a = n->inputs[0], *b = n->inputs[1];
    uint32_t dims[ONNX_RANK_MAX];
    bool broadcast, same;

    if (n->version >= 7)
        return onnx_operand(n, 1);
    broadcast = onnx_int(n, "broadcast", 0) != 0;
    int64_t axis = onnx_int(n, "axis", (int64_t)a->rank - (int64_t)b->rank);
    same = a->rank == b->rank && !memcmp(a->dims, b->dims, sizeof a->dims);
    if (same)
        return onnx_operand(n, 1);
    if (axis < 0)
        axis += (int64_t)a->rank;
    if (!broadcast || axis < 0 || b->rank > a->rank || axis > (int64_t)(a->rank - b->rank))
        return onnx_refuse_operand(
            n, broadcast ? "input 1 does not fit into input 0 at axis %lld" : "the inputs differ in shape", (long long)axis);
    for (size_t d = 0; d < a->rank - (size_t)axis; d++)
        dims[d] = d < b->rank ? (uint32_t)b->dims[d] : 1;
    return onnx_reshape(n, onnx_operand(n, 1), a->rank - (size_t)axis, dims);
}

static bool is_unsigned(const struct onnx_node *n)
{
    enum onnx_type type = n->inputs[0]->type;

    return !onnx_type_is_float(type) && !onnx_type_is_signed(type);
}

/** The slope must fit into x.  Before version 7 it was one number, or one per channel. */
bool onnx_import_prelu(struct onnx_node *n)
{
    const struct onnx_value *x = n->inputs[0], *slope = n->inputs[1];
    WNNOperand s = onnx_operand(n, 1);
    uint32_t dims[ONNX_RANK_MAX];

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

bool onnx_import_clip(struct onnx_node *n)
{
    WNNClampOptions o = WNN_CLAMP_OPTIONS_INIT;

    o.label = n->label;
    if (n->version < 11) {
        double low = onnx_float(n, "min", -INFINITY), high = onnx_float(n, "max", INFINITY);

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
