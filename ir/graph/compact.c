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
