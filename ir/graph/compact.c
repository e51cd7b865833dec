/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recognises compact weights through the nodes that unpack them. */
#include "ir/graph/compact.h"

static bool is_constant(const struct value *v)
{
    return v && v->kind == VALUE_CONSTANT;
}

bool node_doubles_packed(const struct node *n)
{
    const struct value *two = n->op == OP_MUL ? n->inputs[1].value : NULL;
    const struct node *cast = two ? n->inputs[0].value->producer : NULL;

    return cast && cast->op == OP_CAST && dtype_packed_bits(cast->inputs[0].value->type.type) && is_constant(two) &&
           two->type.type == WNNOperandDataType_Uint8 && type_elements(&two->type) == 1 && two->constant &&
           two->constant->data && *(const uint8_t *)two->constant->data == 2;
}

uint32_t compact_times(const struct value *v)
{
    while (v->producer && !node_doubles_packed(v->producer))
        v = v->producer->inputs[0].value;
    return v->producer ? 2 : 1;
}

const struct value *compact_constant(const struct value *v, bool *transposed)
{
    *transposed = false;
    while (v && v->producer) {
        const struct node *n = v->producer;
        const struct value *in = n->inputs[0].value;

        if (n->op == OP_TRANSPOSE && in->type.rank == 2)
            *transposed ^= NODE_OPTIONS(n, WNNTransposeOptions)->permutation[0] == 1;
        else if (!node_doubles_packed(n) && (n->op != OP_CAST || !dtype_packed_bits(in->type.type)))
            return NULL;
        v = in;
    }
    return is_constant(v) ? v : NULL;
}

bool value_is_packed_late(const struct value *v)
{
    const struct tensor_type *t = &v->type;

    return v->producer && v->producer->op == OP_TRANSPOSE && t->type == WNNOperandDataType_Int8 && t->rank > 3 &&
           t->dims[t->rank - 1] % 2 == 0 && t->dims[t->rank - 1] <= sizeof(int32_t) && v->uses && v->uses->node->op == OP_CAST;
}

/* Returns whether all inputs of n from the second on are constants, perhaps transposed, or absent. */
static bool has_constants(const struct node *n)
{
    for (uint32_t i = 1; i < n->input_count; i++) {
        const struct value *v = n->inputs[i].value, *constant;
        bool transposed;

        if (!v)
            continue;
        constant = compact_constant(v, &transposed);
        if (!constant || constant->type.type != v->type.type)
            return false;
    }
    return true;
}

bool value_is_unpacked(const struct value *v)
{
    bool transposed;

    while (v && v->producer) {
        const struct node *n = v->producer;

        v = n->inputs[0].value;
        switch (n->op) {
        case OP_DEQUANTIZE_LINEAR:
        case OP_CAST:
            if (!dtype_is_float(n->results[0]->type.type))
                return false;
            if (n->op == OP_CAST && value_is_packed_late(v))
                return true;
            if (compact_constant(v, &transposed))
                return dtype_size(v->type.type) <= 2 && has_constants(n);
            if (n->op != OP_CAST || !dtype_is_float(v->type.type))
                return false;
            break;   /* rounds unpacked numbers, or widens them again */
        case OP_SUB: /* of two numbers that are unpacked: it rounds one */
        case OP_MUL:
            if ((!has_constants(n) && !value_is_unpacked(n->inputs[1].value)) ||
                type_elements(&v->type) != type_elements(&n->results[0]->type))
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

bool value_is_rounded_zero(const struct value *v)
{
    const struct node *n = v->producer;

    return n && n->op == OP_CAST && v->uses && !v->uses->next && !v->output_uses && v->uses->slot == 1 &&
           v->uses->node->op == OP_SUB && dtype_size(n->inputs[0].value->type.type) == 1 && type_elements(&v->type) == 1 &&
           is_for_contraction(v->uses->node->results[0]);
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
            return n->results[0]->type.type == WNNOperandDataType_Float32 && dtype_size(in->type.type) <= 2 && !is_constant(in);
        case OP_MUL: {
            const struct tensor_type *scale = &n->inputs[1].value->type;
            if (!scale->rank || scale->rank != v->type.rank || scale->dims[scale->rank - 1] != 1)
                return false;
            break;
        }
        case OP_SUB:
            if (type_elements(&n->inputs[1].value->type) != 1 ||
                (!is_constant(n->inputs[1].value) && !value_is_rounded_zero(n->inputs[1].value)))
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
