/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Folds the scale by which a contraction of bytes is divided when it is quantized again into the contraction's own:
 *
 *   round((sum * (sa * sb) + bias) / sq) + zq  =  round(sum * (sa * sb / sq) + bias / sq) + zq
 *
 * The exact value is the same, and the new scales are computed in double and rounded once: the result may differ at rounding
 * ties, as docs/semantics.md says of such contractions.  Clamps between the two become one of the bytes.
 */
#include <math.h>

#include "ir/graph/compact.h"
#include "passes/weights/byte_operands.h"

enum {
    CLAMPS_MOST = 4,
    TERMS_LEAST = 8 /* a sum of so many floats may be off by more than these roundings */
};

/* Returns the numbers of v times a factor.  Returns NULL if one would not be normal or larger than `most`, or if memory runs
 * out. */
static struct constant *scaled(const struct value *v, double factor, double most, enum constant_magnitude magnitude)
{
    struct constant *c = constant_create(NULL, v->constant->bytes);
    const float *from = v->constant->data;
    float *to = c ? (float *)(uintptr_t)c->data : NULL;
    bool usual = c != NULL;

    for (size_t i = 0; usual && i < c->bytes / sizeof *to; i++) {
        to[i] = (float)((double)from[i] * factor);
        usual = fabsf(to[i]) <= most && (isnormal(to[i]) || (to[i] == 0 && from[i] == 0));
    }
    if (!usual) {
        constant_release(c);
        return NULL;
    }
    c->magnitude = (uint8_t)magnitude;
    return c;
}

static double quantized(double x, float scale, double zero, dtype type)
{
    const double least = type == WNNOperandDataType_Int8 ? INT8_MIN : 0;

    return fmin(fmax(nearbyintf((float)x / scale) + zero, least), least + UINT8_MAX);
}

/* Narrows the bounds of bytes by those of a clamp or relu before they are made.  Returns false if n is neither. */
static bool narrow(const struct node *n, float scale, double zero, dtype type, double bounds[2])
{
    const WNNClampOptions *o = n->op == OP_CLAMP ? NODE_OPTIONS(n, WNNClampOptions) : NULL;
    const double low = o ? number_to_double(o->minValue) : 0, high = o ? number_to_double(o->maxValue) : INFINITY;

    if ((!o && n->op != OP_RELU) || isnan(low) || isnan(high) || !value_only_use(n->results[0]))
        return false;
    /* what comes later bounds these */
    const double least = quantized(low, scale, zero, type), most = quantized(high, scale, zero, type);
    const double first = fmin(fmax(least, bounds[0]), bounds[1]), last = fmin(fmax(most, bounds[0]), bounds[1]);
    bounds[0] = first;
    bounds[1] = last;
    return true;
}

/* Replaces the dequantization of an operand by one with that scale. */
static bool rescale(struct graph *g, struct node *n, uint32_t slot, struct value *scale)
{
    struct value *old = n->inputs[slot].value;
    struct value *inputs[] = {old->producer->inputs[0].value, scale, old->producer->inputs[2].value};
    struct value *new = scale ? make_node(g, n, OP_DEQUANTIZE_LINEAR, old->producer, 3, inputs, NULL, NULL) : NULL;

    if (!new)
        return false;
    node_set_input(n, slot, new);
    value_drop_unread(old);
    return true;
}

/* Returns whether n is a contraction of bytes whose scale and bias are constants that are added as they are. */
static bool is_plain(const struct node *n, const struct target *t)
{
    bool transposed;

    if (!node_multiplies_bytes(n, t) || !value_only_use(n->results[0]))
        return false;
    const struct node *of_b = n->inputs[1].value->producer;
    const struct value *bias = n->op != OP_MATMUL && n->input_count > 2 ? n->inputs[2].value : NULL;
    const WNNGemmOptions *o = n->op == OP_GEMM ? NODE_OPTIONS(n, WNNGemmOptions) : NULL;
    const struct tensor_type *result = &n->results[0]->type;
    const int64_t terms = type_elements(&of_b->results[0]->type) / result->dims[result->rank - 1];

    return compact_constant(of_b->inputs[0].value, &transposed) && terms >= TERMS_LEAST &&
           (!o || (o->alpha == 1 && o->beta == 1)) && (!bias || (bias->kind == VALUE_CONSTANT && bias->constant));
}

static bool fold(struct graph *g, struct node *q, const struct target *t)
{
    const dtype type = q->results[0]->type.type;
    const bool is_signed = type == WNNOperandDataType_Int8;
    double scale, zero, scale_a, least = is_signed ? INT8_MIN : 0, bounds[2] = {least, least + UINT8_MAX};
    struct node *n = q->inputs[0].value->producer;

    if (q->cluster || (!is_signed && type != WNNOperandDataType_Uint8) || !value_splat_number(q->inputs[1].value, &scale) ||
        !value_splat_number(q->inputs[2].value, &zero) || !(scale > 0) || !isnormal((float)scale))
        return false;
    for (uint32_t i = 0; n && i < CLAMPS_MOST && narrow(n, (float)scale, zero, type, bounds); i++)
        n = n->inputs[0].value->producer;
    if (!n || !is_plain(n, t) || !value_splat_number(n->inputs[0].value->producer->inputs[1].value, &scale_a))
        return false;
    struct value *a = n->inputs[0].value->producer->inputs[1].value, *b = n->inputs[1].value->producer->inputs[1].value,
                 *bias = n->op != OP_MATMUL && n->input_count > 2 ? n->inputs[2].value : NULL, *bytes = q->results[0],
                 *clamped = q->inputs[0].value;
    struct constant *scales = scaled(b, scale_a / scale, 1, MAGNITUDE_1),
                    *shift = scales && bias ? scaled(bias, 1 / scale, 0x1p24, MAGNITUDE_2_24) : NULL;
    if (!scales || (bias && !shift)) {
        constant_release(scales);
        return false;
    }
    struct value *of_b = graph_add_constant(g, &b->type, scales), *ones = graph_add_scalar(g, &a->type, wnnNumber(1)),
                 *one = graph_add_scalar(g, &q->inputs[1].value->type, wnnNumber(1));
    bias = shift ? graph_add_constant(g, &bias->type, shift) : NULL;
    if ((shift && !bias) || !one || !rescale(g, n, 0, ones) || !rescale(g, n, 1, of_b))
        return false;
    if (bias)
        node_set_input(n, 2, bias);
    struct value *inputs[] = {n->results[0], one, q->inputs[2].value};
    bytes = make_node(g, q, OP_QUANTIZE_LINEAR, q, 3, inputs, NULL, NULL);
    if (bytes && (bounds[0] != least || bounds[1] != least + UINT8_MAX)) {
        WNNClampOptions o = WNN_CLAMP_OPTIONS_INIT;
        o.minValue = wnnNumberInt64((int64_t)bounds[0]);
        o.maxValue = wnnNumberInt64((int64_t)bounds[1]);
        bytes = make_node(g, q, OP_CLAMP, q, 1, &bytes, &o, NULL);
    }
    if (!bytes)
        return false;
    node_replace(q, bytes);
    value_drop_unread(clamped);
    return true;
}

bool fold_byte_scales(struct graph *g, const struct target *t)
{
    bool changed = false;

    graph_for_each_safe (g, n)
        if (n->op == OP_QUANTIZE_LINEAR && !g->error.status)
            changed |= fold(g, n, t);
    return changed;
}
