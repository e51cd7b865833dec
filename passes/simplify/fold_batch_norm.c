/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Folds what follows a convolution with constant float32 weights and is affine per output channel into the weights and the
 * bias: batchNormalization with constant statistics, and add with one constant per channel.
 *
 * It does not fold mul: batchNormalization is one operator whose own roundings cover the difference, while a product of its own
 * is rounded exactly once, and keeps the sign of a product with zero, which scaled weights would lose.  Such a mul becomes an
 * epilogue.
 *
 * This is not bit-exact.  Its licence is that docs/semantics.md keeps float32 accumulators inside a library call and its
 * epilogue, and leaves the order of summation open.  The affine form is computed in double and rounded once into each weight,
 * so that a result differs from the unfolded one by roundings of the size that the sum has anyway.  Float16 results are rounded
 * after every operator, so that float16 convolutions are left alone, and so is everything whose folded weights are not finite.
 *
 * The convolution's result must have this one reader.  The pass runs in topological order, so that chains fold in one walk.
 */
#include <math.h>
#include <string.h>

#include "ir/graph/conv.h"
#include "passes/support.h"

/* Says that result = factor * convolution + shift, per output channel. */
struct affine {
    uint32_t channels;
    double *factor, *shift;
};

static double constant_at(const struct value *v, int64_t i)
{
    float f;

    memcpy(&f, (const char *)v->constant->data + (size_t)i * sizeof f, sizeof f);
    return f;
}

static bool is_constant(const struct value *v)
{
    return v->kind == VALUE_CONSTANT;
}

/* ---- the affine form of what follows ---- */

/* Returns whether v, broadcast to the convolution's result, is one number per channel (or one number). */
static bool is_per_channel(const struct value *v, const struct tensor_type *result, uint32_t axis)
{
    uint32_t missing = result->rank - v->type.rank;

    if (v->type.rank > result->rank)
        return false;
    for (uint32_t i = 0; i < v->type.rank; i++)
        if (v->type.dims[i] != 1 && i + missing != axis)
            return false;
    return true;
}

static bool affine_of_batch_normalization(const struct node *n, uint32_t axis, struct affine *f)
{
    const WNNBatchNormalizationOptions *o = n->options;
    const struct value *scale = n->inputs[3].value, *bias = n->inputs[4].value;

    if (o->axis != axis)
        return false;
    for (uint32_t i = 1; i < n->input_count; i++)
        if (n->inputs[i].value && !is_constant(n->inputs[i].value))
            return false;
    for (uint32_t c = 0; c < f->channels; c++) {
        f->factor[c] = (scale ? constant_at(scale, c) : 1) / sqrt(constant_at(n->inputs[2].value, c) + o->epsilon);
        f->shift[c] = (bias ? constant_at(bias, c) : 0) - constant_at(n->inputs[1].value, c) * f->factor[c];
    }
    return true;
}

static bool affine_of_add(const struct node *n, uint32_t slot, uint32_t axis, struct affine *f)
{
    const struct value *number = n->inputs[1 - slot].value;
    bool one = type_elements(&number->type) == 1;

    if (!is_constant(number) || !is_per_channel(number, &n->results[0]->type, axis) ||
        !type_equal(&n->inputs[slot].value->type, &n->results[0]->type))
        return false;
    for (uint32_t c = 0; c < f->channels; c++) {
        f->factor[c] = 1;
        f->shift[c] = constant_at(number, one ? 0 : c);
    }
    return true;
}

/* ---- the convolution ---- */

static bool is_all_one(const struct affine *f)
{
    for (uint32_t c = 0; c < f->channels; c++)
        if (f->factor[c] != 1)
            return false;
    return true;
}

/* Returns the filter times its output channels' factors, or NULL if not all are finite, or if memory runs out. */
static struct value *scale_filter(struct graph *g, const struct node *conv, const struct affine *f)
{
    const struct value *filter = conv->inputs[1].value;
    const struct tensor_type *t = &filter->type;
    const struct conv_view view = conv_view(conv);
    const uint32_t output = view.filter[AXIS_OUTPUT], input = view.filter[AXIS_INPUT];
    int64_t strides[RANK_MAX], elements = type_elements(t);
    struct constant *scaled = constant_create(NULL, filter->constant->bytes);

    if (!scaled)
        return error_null_memory(&g->error);
    float *to = (float *)scaled->data; /* ours alone so far */
    type_strides(t, strides);
    for (int64_t i = 0; i < elements; i++) {
        uint32_t channel = (uint32_t)(i / strides[output]) % t->dims[output];
        if (view.transposed && view.groups > 1) { /* the input channel says which group's */
            uint32_t from = (uint32_t)(i / strides[input]) % t->dims[input];
            channel += from / (t->dims[input] / view.groups) * t->dims[output];
        }
        to[i] = (float)(constant_at(filter, i) * f->factor[channel]);
        if (!isfinite(to[i])) {
            constant_release(scaled);
            return NULL;
        }
    }
    return graph_add_constant(g, t, scaled);
}

static struct value *shift_bias(struct graph *g, const struct node *conv, const struct affine *f)
{
    const struct value *bias = conv->inputs[2].value;
    struct tensor_type t = {.type = WNNOperandDataType_Float32, .rank = 1, .dims = {f->channels}};
    struct constant *shifted = constant_create(NULL, f->channels * sizeof(float));

    if (!shifted)
        return error_null_memory(&g->error);
    float *to = (float *)shifted->data;
    for (uint32_t c = 0; c < f->channels; c++) {
        to[c] = (float)((bias ? constant_at(bias, c) : 0) * f->factor[c] + f->shift[c]);
        if (!isfinite(to[c])) {
            constant_release(shifted);
            return NULL;
        }
    }
    return graph_add_constant(g, &t, shifted);
}

static bool is_foldable(const struct node *conv)
{
    return conv && (conv->op == OP_CONV2D || conv->op == OP_CONV_TRANSPOSE2D) && !conv->cluster &&
           conv->results[0]->type.type == WNNOperandDataType_Float32 && is_constant(conv->inputs[1].value) &&
           (!conv->inputs[2].value || is_constant(conv->inputs[2].value)) && value_only_use(conv->results[0]);
}

static bool fold(struct graph *g, struct node *n, uint32_t slot, struct arena *a)
{
    struct node *conv = n->inputs[slot].value->producer;
    uint32_t axis = conv_view(conv).image[AXIS_CHANNEL];
    struct affine f = {.channels = conv->results[0]->type.dims[axis]};
    struct value *inputs[3] = {conv->inputs[0].value, NULL, NULL}, *filter, *v;

    f.factor = arena_array(a, f.channels, sizeof *f.factor);
    f.shift = arena_array(a, f.channels, sizeof *f.shift);
    if (!f.factor || !f.shift)
        return error_out_of_memory(&g->error);
    if (!(n->op == OP_BATCH_NORMALIZATION ? slot == 0 && affine_of_batch_normalization(n, axis, &f)
                                          : n->op == OP_ADD && affine_of_add(n, slot, axis, &f)))
        return false;
    /* What only adds leaves the filter as it is, and the graph with one copy of it. */
    filter = conv->inputs[1].value;
    inputs[1] = is_all_one(&f) ? filter : scale_filter(g, conv, &f);
    inputs[2] = inputs[1] ? shift_bias(g, conv, &f) : NULL;
    if (!inputs[2])
        return false;
    /* The new convolution goes in the place of n: nothing else read the old one. */
    v = make_node(g, n, conv->op, conv, 3, inputs, conv->options, NULL);
    if (!v)
        return false;
    node_replace(n, v);
    node_remove(conv);
    value_drop_constant(filter);
    return true;
}

bool pass_fold_batch_norm(struct graph *g, const struct pass_options *o)
{
    bool changed = false;

    graph_for_each_safe (g, n) {
        if (n->op != OP_BATCH_NORMALIZATION && n->op != OP_ADD)
            continue;
        if (o->cancelled && o->cancelled(o->user))
            return changed;
        for (uint32_t slot = 0; slot < (n->op == OP_BATCH_NORMALIZATION ? 1u : 2u); slot++) {
            struct arena a = {0};
            bool folded = is_foldable(n->inputs[slot].value->producer) && fold(g, n, slot, &a);
            arena_free(&a);
            changed |= folded;
            if (g->error.status)
                return changed;
            if (folded)
                break;
        }
    }
    return changed;
}
