/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers operators that only move elements: each turns the map of its result's element into the map of the operand's.
 */
#include "passes/lower/lower.h"

/** Returns the element at m of concat's result, as a choice between the operands that m may lie in. */
static uint32_t lower_concat(struct lowering *l, const struct node *n, const struct map *m)
{
    struct kernel *k = l->k;
    const uint32_t axis = n->args.concat.axis;
    const struct map spread = map_spread(l, m, &n->results[0]->type);
    int64_t start = 0, low, high;
    uint32_t y = KEXPR_NONE;

    kaffine_range(k, spread.forms[axis], &low, &high);
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *v = n->inputs[i].value;
        const int64_t size = v->type.dims[axis];
        struct map at = spread;
        struct kguard inside;
        uint32_t x;

        if (start <= high && start + size > low) {
            at.forms[axis] = kaffine_add_const(spread.forms[axis], -start);
            inside = (struct kguard){at.forms[axis], size};
            if (!map_guard(l, &at, 1, &inside))
                return KEXPR_NONE;
            x = lower_value(l, v, &at);
            if (x == KEXPR_NONE)
                return x;
            y = y == KEXPR_NONE ? x : kernel_op3(k, K_SELECT, lower_condition(l, 1, &inside), x, y);
        }
        start += size;
    }
    /* An index that is outside everywhere is one that a guard keeps from being read. */
    return y == KEXPR_NONE ? kernel_const(k, ktype_of(n->results[0]->type.type), (union scalar){.u64 = 0}) : y;
}

/** Returns the index that one beyond an edge stands for with the modes edge and reflection, as data. */
static struct kaffine padded_form(struct lowering *l, WNNPaddingMode mode, struct kaffine at, int64_t size)
{
    struct kernel *k = l->k;
    int64_t low, high;

    kaffine_range(k, at, &low, &high);
    if (low >= 0 && high < size)
        return at;
    /* A vector has twice as many lanes of 32 bits as of 64. */
    const bool narrow = low > INT32_MIN / 2 && high < INT32_MAX / 2;
    const enum ktype type = narrow ? KT_I32 : KT_I64;
    const uint32_t last = kernel_cast(k, type, kernel_size(k, size - 1));
    uint32_t i = kernel_cast(k, type, kernel_index(k, at));

    if (mode == WNNPaddingMode_Edge) {
        i = kernel_op2(k, K_MAX, i, kernel_const(k, type, (union scalar){.u64 = 0}));
        i = kernel_op2(k, K_MIN, i, last);
    } else { /* the edge itself is not repeated; padding is smaller than the size */
        i = kernel_op1(k, K_ABS, i);
        i = kernel_op2(k, K_SUB, last, kernel_op1(k, K_ABS, kernel_op2(k, K_SUB, last, i)));
    }
    return i == KEXPR_NONE ? at : kernel_loaded_var(k, i, size);
}

static uint32_t lower_pad(struct lowering *l, const struct node *n, const struct map *m)
{
    const WNNPadOptions *o = n->options;
    const struct value *v = n->inputs[0].value;
    struct map at = map_spread(l, m, &n->results[0]->type);
    struct kguard guards[RANK_MAX];
    uint32_t count = 0;

    for (uint32_t d = 0; d < v->type.rank; d++) {
        const int64_t size = v->type.dims[d];
        at.forms[d] = kaffine_add_const(at.forms[d], -(int64_t)n->args.pad.beginningPadding[d]);
        if (o->mode == WNNPaddingMode_Constant)
            guards[count++] = (struct kguard){at.forms[d], size};
        else
            at.forms[d] = padded_form(l, o->mode, at.forms[d], size);
    }
    return lower_guarded(l, v, &at, count, guards, lower_scalar(o->value, v->type.type));
}

uint32_t lower_movement(struct lowering *l, const struct node *n, uint32_t result, const struct map *m)
{
    const struct value *v = n->inputs[0].value;
    const struct tensor_type *to = &n->results[result]->type;
    struct map from, at;

    switch (n->op) {
    case OP_CONCAT:
        return lower_concat(l, n, m);
    case OP_PAD:
        return lower_pad(l, n, m);
    case OP_EXPAND:
        at = map_broadcast(l, m, to, &v->type);
        return lower_value(l, v, &at);
    case OP_RESHAPE:
        at = map_reshape(l, m, to, &v->type);
        return lower_value(l, v, &at);
    default:
        break;
    }
    from = map_spread(l, m, to);
    at = from;
    switch (n->op) {
    case OP_REVERSE: {
        const WNNReverseOptions *o = n->options;
        for (size_t i = 0; i < o->axesCount; i++) {
            const uint32_t d = o->axes[i];
            at.forms[d] = kaffine_add_const(kaffine_scale(l->k, from.forms[d], -1), (int64_t)to->dims[d] - 1);
        }
        break;
    }
    case OP_SLICE: {
        const WNNSliceOptions *o = n->options;
        for (uint32_t d = 0; d < to->rank; d++) {
            const int64_t stride = o->stridesCount ? o->strides[d] : 1;
            at.forms[d] = kaffine_add_const(kaffine_scale(l->k, from.forms[d], stride), n->args.slice.starts[d]);
        }
        break;
    }
    case OP_SPLIT: {
        const uint32_t axis = NODE_OPTIONS(n, WNNSplitOptions)->axis;
        int64_t start = 0;
        for (uint32_t i = 0; i < result; i++)
            start += n->results[i]->type.dims[axis];
        at.forms[axis] = kaffine_add_const(from.forms[axis], start);
        break;
    }
    case OP_TILE:
        for (uint32_t d = 0; d < to->rank; d++) {
            if (n->args.tile.repetitions[d] > 1)
                at.forms[d] = form_divmod(l, from.forms[d], 1, v->type.dims[d]);
        }
        break;
    case OP_TRANSPOSE: {
        const WNNTransposeOptions *o = n->options;
        for (uint32_t d = 0; d < to->rank; d++)
            at.forms[o->permutation[d]] = from.forms[d];
        break;
    }
    default:
        l->unfusable = true;
        return KEXPR_NONE;
    }
    return lower_value(l, v, &at);
}
