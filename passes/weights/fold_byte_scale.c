/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Folds the scale by which a contraction of bytes is divided when it is quantized again into the contraction's own:
 *
 *   round((sum * (sa * sb) + bias) / sq) + zq  =  round(sum * (sa * sb / sq) + bias / sq) + zq
 *
 * The exact value is the same, and the new scales are computed in double: the result may differ at rounding
 * ties, as docs/semantics.md says of such contractions.  A clamp between the two becomes one of the bytes.
 */
#include <math.h>
#include <string.h>

#include "ir/graph/compact.h"
#include "passes/weights/byte_operands.h"

enum { TERMS_LEAST = 8 /* a sum of so many floats may be off by more than these roundings */ };

/* Returns the constant of v's numbers times a factor.  Returns NULL if one would not be normal or larger than `most`, or if
 * memory runs out. */
static struct value *make_scaled(struct graph *g, const struct value *v, double factor, double most, uint8_t magnitude)
{
    struct constant *c = constant_create(NULL, v->constant->bytes);
    float from;

    for (size_t i = 0; c && i < c->bytes / sizeof from; i++) {
        memcpy(&from, (const char *)v->constant->data + i * sizeof from, sizeof from); /* lent ones lie anywhere */
        const float x = (float)((double)from * factor);
        ((float *)(uintptr_t)c->data)[i] = x; /* ours alone so far */
        if (!(fabsf(x) <= most) || (!isnormal(x) && (x != 0 || from != 0))) {
            constant_release(c);
            return NULL;
        }
    }
    if (!c)
        return error_null_memory(&g->error);
    c->magnitude = magnitude;
    return graph_add_constant(g, &v->type, c);
}

/* Returns the byte that a number becomes. */
static WNNNumber quantized(double x, float scale, double zero, dtype type)
{
    const double q = nearbyintf((float)x / scale) + zero, least = type == WNNOperandDataType_Int8 ? INT8_MIN : 0;

    return wnnNumberInt64((int64_t)fmin(fmax(q, least), least + UINT8_MAX));
}

/* Replaces the scale with which an operand is dequantized.  Returns false if memory runs out. */
static bool set_scale(struct graph *g, struct node *n, uint32_t slot, struct value *scale)
{
    struct value *old = n->inputs[slot].value;
    struct value *inputs[] = {old->producer->inputs[0].value, scale, old->producer->inputs[2].value};
    struct value *v = scale ? make_node(g, n, OP_DEQUANTIZE_LINEAR, old->producer, 3, inputs, NULL, NULL) : NULL;

    if (!v)
        return false;
    node_set_input(n, slot, v);
    value_drop_unread(old);
    return true;
}

/* Returns whether n is a contraction of bytes with constant weights and scales to which a constant is added, or nothing. */
static bool is_plain(const struct node *n, const struct target *t, double *scale_a)
{
    const struct value *bias = n->op != OP_MATMUL && n->input_count > 2 ? n->inputs[2].value : NULL;
    const WNNGemmOptions *o = n->op == OP_GEMM ? NODE_OPTIONS(n, WNNGemmOptions) : NULL;
    const struct tensor_type *result = &n->results[0]->type;
    bool transposed;

    return node_multiplies_bytes(n, t) && value_only_use(n->results[0]) && (!o || (o->alpha == 1 && o->beta == 1)) &&
           (!bias || (bias->kind == VALUE_CONSTANT && bias->constant)) &&
           compact_constant(n->inputs[1].value->producer->inputs[0].value, &transposed) &&
           type_elements(&n->inputs[1].value->type) / result->dims[result->rank - 1] >= TERMS_LEAST &&
           value_splat_number(n->inputs[0].value->producer->inputs[1].value, scale_a);
}

bool fold_byte_scale(struct graph *g, struct node *q, const struct target *t)
{
    struct value *x = q->inputs[0].value, *scale = q->inputs[1].value, *zero = q->inputs[2].value;
    struct node *clamp = x->producer && (x->producer->op == OP_RELU || x->producer->op == OP_CLAMP) ? x->producer : NULL;
    struct node *n = clamp ? clamp->inputs[0].value->producer : x->producer;
    const WNNClampOptions *bounds = clamp && clamp->op == OP_CLAMP ? NODE_OPTIONS(clamp, WNNClampOptions) : NULL;
    const double low = bounds ? number_to_double(bounds->minValue) : 0,
                 high = bounds ? number_to_double(bounds->maxValue) : INFINITY;
    WNNClampOptions o = WNN_CLAMP_OPTIONS_INIT;
    double number, number_a, z;
    if (isnan(low) || isnan(high) || !n || q->cluster ||
        (zero->type.type != WNNOperandDataType_Uint8 && zero->type.type != WNNOperandDataType_Int8) ||
        !value_splat_number(scale, &number) || !value_splat_number(zero, &z) || !(number > 0) || !isnormal((float)number) ||
        !is_plain(n, t, &number_a) || !value_only_use(x))
        return false;
    const struct value *a = n->inputs[0].value->producer->inputs[1].value, *b = n->inputs[1].value->producer->inputs[1].value;
    struct value *bias = n->op != OP_MATMUL && n->input_count > 2 ? n->inputs[2].value : NULL;
    struct value *scales = make_scaled(g, b, number_a / number, 1, MAGNITUDE_1);
    struct value *shift = scales && bias ? make_scaled(g, bias, 1 / number, 0x1p24, MAGNITUDE_2_24) : NULL;
    struct value *inputs[] = {n->results[0], graph_add_scalar(g, &scale->type, wnnNumber(1)), zero};
    if (!scales || (bias && !shift) || !inputs[1] || !set_scale(g, n, 0, graph_add_scalar(g, &a->type, wnnNumber(1))) ||
        !set_scale(g, n, 1, scales))
        return false;
    if (bias)
        node_set_input(n, 2, shift);
    struct value *bytes = make_node(g, q, OP_QUANTIZE_LINEAR, q, 3, inputs, NULL, NULL);
    o.minValue = quantized(low, (float)number, z, zero->type.type);
    o.maxValue = quantized(high, (float)number, z, zero->type.type);
    if (bytes && clamp)
        bytes = make_node(g, q, OP_CLAMP, clamp, 1, &bytes, &o, NULL);
    if (!bytes)
        return false;
    node_replace(q, bytes);
    value_drop_unread(x);
    return true;
}
