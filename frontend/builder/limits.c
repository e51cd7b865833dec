/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements opSupportLimits, which says what the operator table and the context's engine allow: data types and ranks per
 * operand.  They come from the same row and the same runtime_supported_types that the builder asks, so that limits and builder
 * agree.
 */
#include "frontend/builder/builder.h"

#include "ir/support/text.h"
#include "runtime/api/runtime.h"

_Static_assert(OP_OPERANDS_MAX + OP_RESULTS_MAX == WNN_TENSOR_LIMITS_MAX, "room for every operand and result");

/** Returns the data types of a slot, those of another operand where the row says "same as". */
static uint32_t slot_types(WNNContext context, enum op op, const struct operand_info *info, uint32_t slot)
{
    dtype_set types = runtime_supported_types(context, op, slot);

    if (types & DT_AS_FLAG)
        types = runtime_supported_types(context, op, types & ~DT_AS_FLAG);
    else if (info->types & DT_AS_FLAG)
        types &= runtime_supported_types(context, op, info->types & ~DT_AS_FLAG);
    return types;
}

static WNNTensorLimits slot_limits(WNNContext context, enum op op, const struct operand_info *info, uint32_t slot)
{
    const struct operand_info *ranks = info->rank_min < 0 ? &op_infos[op].ins[-info->rank_min - 1] : info;

    return (WNNTensorLimits){
        info->name, slot_types(context, op, info, slot), {(uint32_t)ranks->rank_min, (uint32_t)ranks->rank_max}};
}

static WNNStatus refuse(const char *text)
{
    struct error e = {0};

    return error_fail(&e, WNNStatus_TypeError, "opSupportLimits: %s", text);
}

static WNNStatus refuse_name(WNNStringView name)
{
    char shown[96], text[160];

    snprintf(text, sizeof text, "there is no operator '%s'",
             escape_text(shown, sizeof shown, name.data ? name.data : "", view_length(name)));
    return refuse(text);
}

WNNStatus wnnContextGetOpSupportLimits(WNNContext context, WNNOpSupportLimits *limits)
{
    if (!context || !limits)
        return refuse(context ? "limits is NULL" : "context is NULL");
    const uint32_t types = DT_ANY | (runtime_knows_draft(context) ? DT_DRAFT : 0);
    *limits = (WNNOpSupportLimits){
        .preferredInputLayout = WNNInputOperandLayout_Nhwc, /* what the library's convolutions compute in */
        .maxTensorByteLength = (uint64_t)TENSOR_BYTES_MAX,
        .input = {"input", types, {0, RANK_MAX}},
        .constant = {"constant", types, {0, RANK_MAX}},
        .output = {"output", types, {0, RANK_MAX}},
    };
    return WNNStatus_Success;
}

WNNStatus wnnContextGetOperatorSupportLimits(WNNContext context, WNNStringView operatorName, size_t capacity,
                                             WNNTensorLimits *limits, size_t *count)
{
    enum op op = op_parse(operatorName.data ? operatorName.data : "", view_length(operatorName));
    size_t needed = 0;

    if (count)
        *count = 0;
    if (!context || !count || (capacity && !limits))
        return refuse(!context ? "context is NULL" : !count ? "count is NULL" : "limits is NULL");
    if (op == OP_COUNT)
        return refuse_name(operatorName);
    for (uint32_t i = 0; op_infos[op].ins[i].name; i++, needed++)
        if (needed < capacity)
            limits[needed] = slot_limits(context, op, &op_infos[op].ins[i], i);
    for (uint32_t i = 0; op_infos[op].outs[i].name; i++, needed++)
        if (needed < capacity)
            limits[needed] = slot_limits(context, op, &op_infos[op].outs[i], OP_OPERANDS_MAX + i);
    *count = needed;
    return WNNStatus_Success;
}

size_t wnnGetOperatorCount(void)
{
    return OP_COUNT;
}

char const *wnnGetOperatorName(size_t index)
{
    return index < OP_COUNT ? op_infos[index].name : NULL;
}
