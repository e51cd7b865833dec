/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recognises compact weights behind whatever unpacks them. */
#include "ir/graph/compact.h"

static bool is_constant(const struct value *v)
{
    return v && v->kind == VALUE_CONSTANT;
}

/* Returns whether all inputs of n from `first` on are constants or absent. */
static bool has_constants_from(const struct node *n, uint32_t first)
{
    for (uint32_t i = first; i < n->input_count; i++)
        if (n->inputs[i].value && !is_constant(n->inputs[i].value))
            return false;
    return true;
}

bool value_is_unpacked(const struct value *v)
{
    while (v && v->producer) {
        const struct node *n = v->producer;

        v = n->inputs[0].value;
        switch (n->op) {
        case OP_DEQUANTIZE_LINEAR:
        case OP_CAST:
            return dtype_is_float(n->results[0]->type.type) && is_constant(v) && dtype_size(v->type.type) <= 2 &&
                   has_constants_from(n, 1);
        case OP_SUB:
        case OP_MUL:
            if (!has_constants_from(n, 1) || type_elements(&v->type) != type_elements(&n->results[0]->type))
                return false;
            break;
        case OP_TRANSPOSE:
        case OP_RESHAPE:
            break;
        default:
            return false;
        }
    }
    return false;
}

/* Returns whether only a contraction with compact weights reads v, as its operand A, perhaps through what follows a cast. */
static bool is_for_contraction(const struct value *v)
{
    while (v->uses && !v->uses->next && !v->output_uses) {
        const struct node *n = v->uses->node;

        if (op_infos[n->op].flags & OPF_LIBRARY)
            return v->uses->slot == 0 && n->input_count > 1 && value_is_unpacked(n->inputs[1].value);
        if ((n->op != OP_SUB && n->op != OP_MUL && n->op != OP_RESHAPE) || v->uses->slot != 0)
            return false;
        v = n->results[0];
    }
    return false;
}

bool value_is_rounded(const struct value *v)
{
    if (!v || !is_for_contraction(v))
        return false;
    while (v && v->producer) {
        const struct node *n = v->producer;
        const struct value *in = n->inputs[0].value;

        switch (n->op) {
        case OP_CAST:
            return n->results[0]->type.type == WNNOperandDataType_Float32 && in->type.type == WNNOperandDataType_Uint8 &&
                   !is_constant(in);
        case OP_MUL: {
            const struct tensor_type *scale = &n->inputs[1].value->type;
            if (!scale->rank || scale->rank != v->type.rank || scale->dims[scale->rank - 1] != 1)
                return false;
            break;
        }
        case OP_SUB:
            if (!is_constant(n->inputs[1].value) || type_elements(&n->inputs[1].value->type) != 1)
                return false;
            break;
        case OP_RESHAPE:
            break;
        default:
            return false;
        }
        v = in;
    }
    return false;
}
