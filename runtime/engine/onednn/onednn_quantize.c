/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Describes contractions of integers: a convolution or matmul of dequantized tensors, said as the library's int8 primitive.
 *
 * The float contraction's description, the dequantizeLinear nodes of its operands and a quantizeLinear at the end become the
 * description with integer types, and the constants that it needs: output scales, bias, weights.
 *
 *   unfused   q = saturate(round((sum of ((x - zx) * sx) * ((w - zw) * sw) + b) / sq) + zq), every step rounded to float32
 *   here      q = saturate(round(s * (sum of (x - zx) * (w - zw) + b / (sx * sw))) + zq) with s = sx * sw / sq; the sum is
 *             exact
 *   oneDNN 3  q = saturate(round(s * (sum of (x - zx) * (w - zw)) + b / sq) + zq)
 *
 * The exact value of all is the same.  What float32 makes of it differs: here by at most two roundings of scales, the sum's
 * conversion, the addition of the bias, the contraction, and in b its division; against the float contraction of K terms, which
 * may be off by K + 1 roundings of the terms' magnitudes in any order.  Two more are the roundings of the dequantized operands
 * themselves.  So for K of TERMS_MIN and more the result lies within what the float contraction may give
 * (ir/interpret/interpret.h's bounds hold as they are), and a quantized result can differ only where a correct unfused one can:
 * at ties, seen in float32.  Other post-ops between the contraction and quantizeLinear get the float's own units and the final
 * division as it is.  The zero point is added after rounding: if it were added first, float32 would lose bits of the fraction.
 *
 * Weights that are not constants, those of a product of two activations, are s8 with one zero point.
 *
 * The zero point of constant weights should vanish: where w - zw fits into the library's s8, for every element, the difference
 * is packed.  Elsewhere a matmul of weights with one zero point for all packs them as s8, and the library takes the zero point
 * off, which costs it the sums of the source's rows.
 */
#include "ir/graph/conv.h"
#include "runtime/engine/onednn/onednn.h"

enum {
    TERMS_MIN = 8,          /* see above */
    TERMS_MAX = 65535,      /* times 255 * 128 is below 2^31 */
    WIDE_TERMS_MAX = 33024, /* times 255 * 255, where weights keep their zero point */
};

/* ---- scales and zero points ---- */

static bool is_constant(const struct value *v)
{
    return v && v->kind == VALUE_CONSTANT && v->constant;
}

static bool is_byte(dtype t)
{
    return t == WNNOperandDataType_Uint8 || t == WNNOperandDataType_Int8;
}

static int32_t integer_at(const struct value *v, int64_t i)
{
    return v->type.type == WNNOperandDataType_Uint8 ? ((const uint8_t *)v->constant->data)[i]
                                                    : ((const int8_t *)v->constant->data)[i];
}

static float float_at(const struct value *v, int64_t i)
{
    float f;

    memcpy(&f, (const char *)v->constant->data + (size_t)i * sizeof f, sizeof f); /* lent bytes may be unaligned */
    return f;
}

static bool is_uniform(const struct value *v)
{
    size_t size = dtype_size(v->type.type);
    const char *data = v->constant->data;

    return v->constant->bytes == size || !memcmp(data, data + size, v->constant->bytes - size);
}

/** Returns whether there is one scale, finite and positive, and one zero point of 8 bits for a whole tensor. */
static bool uniform_scale(const struct value *scale, const struct value *zero)
{
    return is_constant(scale) && is_constant(zero) && scale->type.type == WNNOperandDataType_Float32 &&
           is_byte(zero->type.type) && is_uniform(scale) && is_uniform(zero) && isfinite(float_at(scale, 0)) &&
           float_at(scale, 0) > 0;
}

/** Returns whether a float32 scale and a zero point of 8 bits are one number each for a whole tensor, known at run time. */
static bool single_scale(const struct value *scale, const struct value *zero)
{
    return scale->type.type == WNNOperandDataType_Float32 && is_byte(zero->type.type) && type_elements(&scale->type) == 1 &&
           type_elements(&zero->type) == 1;
}

static bool is_per_channel(const struct value *v, uint32_t axis)
{
    if (!is_constant(v))
        return false;
    for (uint32_t i = 0; i < v->type.rank; i++)
        if (i != axis && v->type.dims[i] != 1)
            return false;
    return true;
}

static int64_t channel_count(const struct dnn_problem *p)
{
    return p->dst.dims[dnn_channel(p)];
}

/** Returns the element of such a constant for one channel.  The groups of a transposed convolution share those of one group. */
static int64_t channel_element(const struct dnn_problem *p, const struct value *v, uint32_t axis, int64_t channel)
{
    const bool shared = p->kind == DNN_TRANSPOSED_CONVOLUTION && p->weights.rank == 5;
    const int64_t count = shared ? p->weights.dims[1] : channel_count(p), size = v->type.dims[axis];
    const int64_t own = channel < count ? channel : channel % count;

    return size == count ? own : own * size / count; /* divisions are slow, and channels are many */
}

int64_t dnn_scale_count(const struct dnn_problem *p)
{
    return p->scale_mask ? channel_count(p) : 1;
}

/** Returns the number that a sum of integers of this channel is to be multiplied by to be the float contraction's result, but
 * for scales that are known at run time only; exact. */
static double contraction_scale(const struct dnn_cluster *c, int64_t channel)
{
    const struct dnn_quantization *q = &c->quantization;

    if (!is_constant(q->weight_scale))
        return (double)q->src_scale;
    return (double)q->src_scale *
           (double)float_at(q->weight_scale, channel_element(&c->problem, q->weight_scale, q->channel_axis, channel));
}

static float output_scale(const struct dnn_cluster *c, int64_t channel)
{
    return (float)(contraction_scale(c, channel) / (double)c->quantization.dst_scale);
}

static float scaled_bias(const struct dnn_cluster *c, int64_t channel)
{
    const double unit = DNN_NUMBERS_ARE_ARGUMENTS ? (double)c->quantization.dst_scale : contraction_scale(c, channel);

    return (float)((double)float_at(c->bias.value, channel) / unit);
}

/** Returns whether all numbers are normal: underflow counts as much as overflow. */
static bool scales_are_normal(const struct dnn_cluster *c)
{
    for (int64_t i = 0; i < channel_count(&c->problem); i++) {
        float scale = output_scale(c, i), bias = c->bias.value ? scaled_bias(c, i) : 0;

        if (!isnormal(scale) || !isfinite(bias) || (bias != 0 && !isnormal(bias)))
            return false;
    }
    return true;
}

/* ---- weights ---- */

/** Walks the lines of weights, in the order of the problem's dimensions: those of its last dimension, or of several that are
 * evenly spaced and of one channel. */
struct weights_walk {
    int64_t index[RANK_MAX], offset, length, stride;
    int outer; /* dimensions before those of a line */
};

static struct weights_walk walk_begin(const struct dnn_problem *p)
{
    const struct dnn_layout *l = &p->weights;
    const int least = p->kind == DNN_MATMUL ? l->rank - 1 : l->rank == 5 ? 2 : 1;
    struct weights_walk w = {.length = 1, .stride = 1, .outer = l->rank};

    while (w.outer > least && (w.length == 1 || l->dims[w.outer - 1] == 1 || l->strides[w.outer - 1] == w.length * w.stride)) {
        const int64_t size = l->dims[--w.outer];

        if (w.length == 1)
            w.stride = l->strides[w.outer];
        w.length *= size;
    }
    return w;
}

static bool walk_on(const struct dnn_layout *l, struct weights_walk *w)
{
    int i = w->outer;

    while (i-- > 0) {
        w->offset += l->strides[i];
        if (++w->index[i] < l->dims[i])
            return true;
        w->offset -= l->dims[i] * l->strides[i];
        w->index[i] = 0;
    }
    return false;
}

/** Returns the channel of weight i of a line. */
static int64_t channel_of(const struct dnn_problem *p, const struct weights_walk *w, int64_t i)
{
    if (p->kind == DNN_MATMUL)
        return i;
    return p->weights.rank == 5 ? w->index[0] * p->weights.dims[1] + w->index[1] : w->index[0];
}

/** Returns the number to subtract from bytes to make them s8. */
static int32_t byte_offset(const struct value *bytes)
{
    return bytes->type.type == WNNOperandDataType_Uint8 ? 128 : 0;
}

/** Returns the zero point of a channel, or what of it is not weights_zero. */
static int32_t zero_of(const struct dnn_cluster *c, int64_t channel)
{
    const struct dnn_quantization *q = &c->quantization;

    return integer_at(q->weight_zero, channel_element(&c->problem, q->weight_zero, q->channel_axis, channel)) -
           c->problem.weights_zero;
}

/** Writes bytes, which are signed if flip is 128 and else 0, minus a number. */
static inline void shift_bytes(const uint8_t *restrict x, int64_t stride, int64_t count, uint8_t flip, int32_t zero,
                               int8_t *restrict out)
{
    const uint8_t less = (uint8_t)(flip + zero);

    for (int64_t i = 0; i < count; i++)
        out[i] = (int8_t)(uint8_t)((x[i * stride] ^ flip) - less);
}

/** Returns whether what shift_bytes would write fits into s8. */
static inline bool shifted_fit(const uint8_t *x, int64_t stride, int64_t count, uint8_t flip, int32_t zero)
{
    uint8_t low = UINT8_MAX, high = 0;

    for (int64_t i = 0; i < count; i++) {
        const uint8_t value = x[i * stride] ^ flip;

        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    return low - flip - zero >= INT8_MIN && high - flip - zero <= INT8_MAX;
}

/**
 * Writes the weights without their zero point (or what of it is not weights_zero), dense; out may be NULL.  Returns false if
 * one does not fit.
 */
static bool integer_weights(const struct dnn_cluster *c, int8_t *out)
{
    const struct value *weights = c->weights.value;
    const uint8_t flip = weights->type.type == WNNOperandDataType_Int8 ? 128 : 0;
    const bool uniform = is_uniform(c->quantization.weight_zero);
    struct weights_walk w = walk_begin(&c->problem);
    /* Those of a matmul's line are of one channel each. */
    const int64_t piece = c->problem.kind == DNN_MATMUL && !uniform ? 1 : w.length;
    int32_t zero = zero_of(c, 0);

    do {
        const uint8_t *line = (const uint8_t *)weights->constant->data + w.offset;

        for (int64_t i = 0; i < w.length; i += piece) {
            if (!uniform)
                zero = zero_of(c, channel_of(&c->problem, &w, i));
            const uint8_t *x = line + i * w.stride;

            if (!out && !(w.stride == 1 ? shifted_fit(x, 1, piece, flip, zero) : shifted_fit(x, w.stride, piece, flip, zero)))
                return false;
            if (!out)
                continue;
            if (w.stride == 1) /* which is worth code of its own */
                shift_bytes(x, 1, piece, flip, zero, out);
            else
                shift_bytes(x, w.stride, piece, flip, zero, out);
            out += piece;
        }
    } while (walk_on(&c->problem.weights, &w));
    return true;
}

/** Returns whether they fit, or do when the library takes their zero point off.  The usual ones are known to. */
static bool weights_fit(struct dnn_cluster *c, int64_t terms)
{
    const struct value *zero = c->quantization.weight_zero;

    if (is_uniform(zero) && integer_at(zero, 0) == byte_offset(zero))
        return true;
    if (integer_weights(c, NULL))
        return true;
    if (c->problem.kind != DNN_MATMUL || !is_uniform(zero) || terms > WIDE_TERMS_MAX)
        return false;
    c->problem.weights_zero = integer_at(zero, 0) - byte_offset(zero);
    return true;
}

int8_t *dnn_integer_weights(const struct dnn_cluster *c)
{
    int8_t *out = malloc((size_t)dnn_elements(&c->problem.weights));

    if (out)
        integer_weights(c, out);
    return out;
}

float *dnn_output_scales(const struct dnn_cluster *c)
{
    int64_t count = dnn_scale_count(&c->problem);
    float *out = malloc((size_t)count * sizeof *out);

    for (int64_t i = 0; out && i < count; i++)
        out[i] = output_scale(c, i);
    return out;
}

float *dnn_scaled_bias(const struct dnn_cluster *c)
{
    int64_t count = channel_count(&c->problem);
    float *out = malloc((size_t)count * sizeof *out);

    for (int64_t i = 0; out && i < count; i++)
        out[i] = scaled_bias(c, i);
    return out;
}

/* ---- operands ---- */

static const struct node *dequantization_of(struct node *const *nodes, uint32_t count, const struct value *v)
{
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i]->results[0] == v)
            return nodes[i];
    return NULL;
}

static uint32_t channel_axis(const struct node *anchor)
{
    if (anchor->op == OP_CONV2D || anchor->op == OP_CONV_TRANSPOSE2D)
        return conv_view(anchor).filter[AXIS_OUTPUT];
    if (anchor->op == OP_GEMM)
        return !NODE_OPTIONS(anchor, WNNGemmOptions)->bTranspose;
    return anchor->inputs[1].value->type.rank - 1;
}

static int64_t term_count(const struct dnn_problem *p)
{
    const struct dnn_layout *w = &p->weights;

    return p->kind == DNN_MATMUL ? w->dims[w->rank - 2] : w->dims[w->rank - 3] * w->dims[w->rank - 2] * w->dims[w->rank - 1];
}

static bool weights_are_shared(const struct dnn_problem *p)
{
    for (int i = 0; p->kind == DNN_MATMUL && i < p->weights.rank - 2; i++)
        if (p->weights.dims[i] != 1)
            return false;
    return true;
}

/** Adds a binary post-op with one number, or one for each output channel. */
static bool add_operand(struct dnn_cluster *c, dnnl_alg_kind_t algorithm, struct dnn_operand x, bool per_channel)
{
    const struct dnn_layout *d = &c->problem.dst;
    const int channel = dnn_channel(&c->problem);

    return dnn_add_binary(c, algorithm, dnn_single_layout(d->rank, per_channel ? channel : -1, d->dims[channel]), x);
}

/** Lets the contraction of integers be multiplied by a scale that is known at run time, before anything else is done to it. */
static bool scale_late(struct dnn_cluster *c, const struct value *scale)
{
    struct dnn_problem *p = &c->problem;
    const int32_t before = p->post_count;
    const struct dnn_operand bias = c->bias;

    if (c->fill.value)
        return false;
    p->bias = (struct dnn_layout){0};
    c->bias = (struct dnn_operand){0};
    if (!add_operand(c, dnnl_binary_mul, (struct dnn_operand){scale, 1, 1}, false) ||
        (bias.value && !add_operand(c, dnnl_binary_add, bias, true)))
        return false;
    for (int32_t n = p->post_count - before; before && n-- > 0;) { /* what was there comes last */
        const struct dnn_post post = p->posts[p->post_count - 1];
        const struct dnn_operand operand = c->posts[p->post_count - 1];

        memmove(p->posts + 1, p->posts, (size_t)(p->post_count - 1) * sizeof *p->posts);
        memmove(c->posts + 1, c->posts, (size_t)(p->post_count - 1) * sizeof *c->posts);
        p->posts[0] = post;
        c->posts[0] = operand;
    }
    return true;
}

static int32_t byte_type(const struct value *v)
{
    return v->type.type == WNNOperandDataType_Uint8 ? dnnl_u8 : dnnl_s8;
}

/** Describes scale and zero point of the first operand, which are constants or single numbers known at run time. */
static bool describe_source(const struct node *src, struct dnn_cluster *c)
{
    const struct value *scale = src->inputs[1].value, *zero = src->inputs[2].value;
    struct dnn_problem *p = &c->problem;
    const bool fixed_scale = is_constant(scale), fixed_zero = is_constant(zero);

    if (!(fixed_scale && fixed_zero ? uniform_scale(scale, zero) : single_scale(scale, zero)))
        return false;
    if (!(fixed_scale && fixed_zero) && !c->machine->prepares_operands)
        return false;
    c->quantization.src_scale = fixed_scale ? float_at(scale, 0) : 1;
    if (!(c->quantization.src_scale > 0) || !isfinite(c->quantization.src_scale))
        return false;
    if (fixed_zero) {
        p->src_zero = integer_at(zero, 0);
    } else {
        p->src_zero_type = byte_type(zero);
        c->zeros[DNN_SOURCE] = zero;
    }
    return fixed_scale || scale_late(c, scale);
}

/**
 * Describes weights that are not constants, which lie in memory as s8: a scale for all of them or, if it is constant, for every
 * output channel, and one zero point, which a convolution's cannot have but as 0.  Those of a matmul are read as they lie, and
 * those of a convolution are packed before each run.
 */
static bool describe_late_weights(struct dnn_cluster *c)
{
    const struct value *scale = c->quantization.weight_scale, *zero = c->quantization.weight_zero;
    struct dnn_problem *p = &c->problem;
    const bool fixed_scale = is_constant(scale), fixed_zero = is_constant(zero);

    if (p->kind == DNN_TRANSPOSED_CONVOLUTION || !c->machine->prepares_operands ||
        c->weights.value->type.type != WNNOperandDataType_Int8 || term_count(p) > WIDE_TERMS_MAX)
        return false;
    if (!is_byte(zero->type.type) || (fixed_zero ? !is_uniform(zero) : type_elements(&zero->type) != 1))
        return false;
    if (p->kind == DNN_CONVOLUTION && (!fixed_zero || integer_at(zero, 0) != 0))
        return false;
    if (fixed_scale ? !is_per_channel(scale, c->quantization.channel_axis) : type_elements(&scale->type) != 1)
        return false;
    if (fixed_zero) {
        p->weights_zero = integer_at(zero, 0);
    } else {
        p->weights_zero_type = byte_type(zero);
        c->zeros[DNN_WEIGHTS] = zero;
    }
    return fixed_scale || scale_late(c, scale);
}

/**
 * Returns whether a transposed convolution is one to be computed in integers.  From signed bytes the library takes as long as
 * generated code with floats does.  A result at a corner is the sum of one product for each input channel of its group.
 */
static bool takes_transposed(const struct dnn_cluster *c)
{
    const struct dnn_layout *w = &c->problem.weights;

    return c->problem.src_type == dnnl_u8 && w->dims[w->rank - 3] >= TERMS_MIN;
}

static bool describe_constant_weights(struct dnn_cluster *c)
{
    const struct dnn_quantization *q = &c->quantization;

    if (!is_per_channel(q->weight_scale, q->channel_axis) || !is_per_channel(q->weight_zero, q->channel_axis))
        return false;
    if (c->problem.kind == DNN_TRANSPOSED_CONVOLUTION && !takes_transposed(c))
        return false;
    c->problem.weights.free = 1;
    return weights_are_shared(&c->problem);
}

bool dnn_describe_dequantized(struct node *const *nodes, uint32_t before, struct dnn_cluster *c)
{
    struct dnn_problem *p = &c->problem;
    struct dnn_quantization *q = &c->quantization;
    const struct node *src = dequantization_of(nodes, before, c->anchor->inputs[0].value);
    const struct node *weights = dequantization_of(nodes, before, c->anchor->inputs[1].value);
    const struct value *x, *w;

    if (before != 2 || !src || !weights || src == weights)
        return false;
    x = src->inputs[0].value;
    w = weights->inputs[0].value;
    if (!is_byte(x->type.type) || !is_byte(w->type.type))
        return false;
    q->weight_scale = weights->inputs[1].value;
    q->weight_zero = weights->inputs[2].value;
    q->channel_axis = channel_axis(c->anchor);
    q->dst_scale = 1;
    if (q->weight_scale->type.type != WNNOperandDataType_Float32 || (c->bias.value && !is_constant(c->bias.value)))
        return false;
    c->src.value = x;
    c->weights.value = w;
    p->src_type = byte_type(x);
    p->weights_type = dnnl_s8;
    p->given_late = !is_constant(w);
    if (!(p->given_late ? describe_late_weights : describe_constant_weights)(c) || !describe_source(src, c))
        return false;
    p->scale_mask = !is_constant(q->weight_scale) || is_uniform(q->weight_scale) ? 0 : (int64_t)1 << dnn_channel(p);
    return term_count(p) >= TERMS_MIN && term_count(p) <= TERMS_MAX && scales_are_normal(c) &&
           (p->given_late || weights_fit(c, term_count(p)));
}

/* ---- the result ---- */

/** Returns whether a post-op of y / s is the post-op of y, divided by s > 0, when its parameters are. */
static bool is_homogeneous(const struct dnn_post *x)
{
    return x->kind == DNN_POST_ELTWISE && (x->algorithm == dnnl_eltwise_relu || x->algorithm == dnnl_eltwise_clip);
}

/** Lets the primitive's own scales contain the final one, where all between them allows it. */
static bool fold_scale(struct dnn_cluster *c, float scale)
{
    struct dnn_problem *p = &c->problem;

    for (int32_t i = 0; i < p->post_count; i++)
        if (!is_homogeneous(&p->posts[i]))
            return false;
    c->quantization.dst_scale = scale;
    if (!scales_are_normal(c)) {
        c->quantization.dst_scale = 1;
        return false;
    }
    for (int32_t i = 0; i < p->post_count; i++)
        if (p->posts[i].algorithm == dnnl_eltwise_clip) {
            p->posts[i].alpha /= scale;
            p->posts[i].beta /= scale;
        }
    return true;
}

bool dnn_describe_quantize(const struct node *n, struct dnn_cluster *c)
{
    struct dnn_problem *p = &c->problem;
    const struct value *scale = n->inputs[1].value, *zero = n->inputs[2].value;

    if (!c->quantization.weight_scale || n->inputs[0].value != c->output || !uniform_scale(scale, zero) || c->fill.value)
        return false;
    for (int32_t i = 0; i < p->post_count; i++)
        if (p->posts[i].kind == DNN_POST_SUM) /* it would lie in memory of bytes */
            return false;
    if (!fold_scale(c, float_at(scale, 0)) && !dnn_add_number(c, dnnl_binary_div, float_at(scale, 0)))
        return false;
    p->dst_type = byte_type(zero);
    c->output = n->results[0];
    if (integer_at(zero, 0) != 0) {
        float number = (float)integer_at(zero, 0);

        return dnn_add_eltwise(c, dnnl_eltwise_round, 0, 0) &&
               (dnn_add_eltwise(c, dnnl_eltwise_linear, 1, number) || dnn_add_number(c, dnnl_binary_add, number));
    }
    /* Saturation does what a relu would. */
    const struct dnn_post *last = p->post_count ? &p->posts[p->post_count - 1] : NULL;
    if (last && p->dst_type == dnnl_u8 && last->kind == DNN_POST_ELTWISE && last->algorithm == dnnl_eltwise_relu &&
        last->alpha == 0)
        p->posts[--p->post_count] = (struct dnn_post){0};
    return true;
}
