/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers convolutions and matmuls to contractions, one KR_DOT each, for nodes that the library does not take.  The schedule
 * reads off the index maps how they are computed, in register tiles (docs/contractions.md).
 */
#include "ir/graph/conv.h"
#include "passes/lower/lower.h"

/**
 * Returns the contraction of operands a and b.  Guards say where each exists; where it does not it is zero.  (Padding may add
 * NaN where a weight is not finite: docs/semantics.md.)
 */
static uint32_t contract(struct lowering *l, const struct value *a, struct map *a_at, uint32_t a_count,
                         const struct kguard *a_guards, const struct value *b, struct map *b_at, uint32_t b_count,
                         const struct kguard *b_guards, const struct reduced_space *s)
{
    const union scalar zero = {.u64 = 0};
    uint32_t x = lower_guarded(l, a, a_at, a_count, a_guards, zero);
    uint32_t y = lower_guarded(l, b, b_at, b_count, b_guards, zero);

    if (x == KEXPR_NONE || y == KEXPR_NONE)
        return KEXPR_NONE;
    return lower_dot(l, x, y, s);
}

/** Lowers conv2d and convTranspose2d. */
static uint32_t lower_convolution(struct lowering *l, const struct node *n, const struct map *m, const struct reduced_space *s,
                                  const struct kaffine *reduced)
{
    const struct conv_view c = conv_view(n);
    const struct value *input = n->inputs[0].value, *filter = n->inputs[1].value;
    const uint32_t *f = c.filter, *spatial = c.image + AXIS_HEIGHT;
    const int64_t out_per_group = filter->type.dims[f[AXIS_OUTPUT]] / (c.transposed ? 1 : c.groups);
    struct kernel *k = l->k;
    struct map at = *m, weight = map_like(m, 4), channel = map_like(m, 1);
    struct kguard guards[4], weight_guards[2];
    uint32_t count = 0, weight_count = 0, sum;

    channel.forms[0] = m->forms[c.image[AXIS_CHANNEL]];
    weight.forms[f[AXIS_OUTPUT]] = c.transposed ? form_divmod(l, channel.forms[0], 1, out_per_group) : channel.forms[0];
    at.forms[c.image[AXIS_CHANNEL]] =
        kaffine_add(k, reduced[2], kaffine_scale(k, form_divmod(l, channel.forms[0], out_per_group, c.groups), s->sizes[2]));
    weight.forms[f[AXIS_INPUT]] = c.transposed ? at.forms[c.image[AXIS_CHANNEL]] : reduced[2];
    for (uint32_t i = 0; i < 2; i++) {
        const int64_t stride = c.strides[i], dilation = c.dilations[i], window = filter->type.dims[f[AXIS_HEIGHT + i]];
        struct kaffine t = kaffine_add_const(m->forms[spatial[i]], c.padding[2 * i]);
        const bool whole = stride == 1 || dilation == 1;
        int64_t low, high, shift = 0;

        weight.forms[f[AXIS_HEIGHT + i]] = reduced[i];
        if (!c.transposed) {
            t = kaffine_add(k, kaffine_scale(k, m->forms[spatial[i]], stride), kaffine_scale(k, reduced[i], dilation));
            at.forms[spatial[i]] = kaffine_add_const(t, -(int64_t)c.padding[2 * i]);
            guards[count++] = (struct kguard){at.forms[spatial[i]], input->type.dims[spatial[i]]};
            continue;
        }
        /* This is output = input * stride + window * dilation - padding, solved for input: where it is whole and inside. */
        if (!whole)
            t = kaffine_add(k, t, kaffine_scale(k, reduced[i], -dilation));
        kaffine_range(k, t, &low, &high);
        if (low < 0)
            shift = ceil_div(-low, stride);
        t = kaffine_add_const(t, shift * stride);
        if (whole) {
            /* Every stride-th element of the window reaches this result, counted from its end, so that the input's index grows.
             */
            struct kaffine back = kaffine_add_const(kaffine_scale(k, reduced[i], -1), s->sizes[i] - 1);
            weight.forms[f[AXIS_HEIGHT + i]] = kaffine_add(k, kaffine_scale(k, back, stride), kernel_divmod(k, t, 1, stride));
            at.forms[spatial[i]] = kaffine_add(k, kernel_divmod(k, t, stride, 0), kaffine_scale(k, back, -dilation));
            at.forms[spatial[i]] = kaffine_add_const(at.forms[spatial[i]], -shift);
            if (window % stride)
                weight_guards[weight_count++] = guards[count++] = (struct kguard){weight.forms[f[AXIS_HEIGHT + i]], window};
        } else {
            guards[count++] = (struct kguard){kernel_divmod(k, t, 1, stride), 1};
            at.forms[spatial[i]] = kaffine_add_const(kernel_divmod(k, t, stride, 0), -shift);
        }
        guards[count++] = (struct kguard){at.forms[spatial[i]], input->type.dims[spatial[i]]};
    }
    sum = contract(l, input, &at, count, guards, filter, &weight, weight_count, weight_guards, s);
    return n->inputs[2].value && sum != KEXPR_NONE ? kernel_op2(k, K_ADD, sum, lower_value(l, n->inputs[2].value, &channel))
                                                   : sum;
}

static uint32_t lower_matmul(struct lowering *l, const struct node *n, const struct map *m, const struct reduced_space *s,
                             const struct kaffine *reduced)
{
    const struct value *v[2] = {n->inputs[0].value, n->inputs[1].value};
    struct map at[2];

    for (uint32_t i = 0; i < 2; i++) {
        const struct tensor_type *t = &v[i]->type;
        at[i] = map_like(m, t->rank);
        for (uint32_t d = 0; d + 2 < t->rank; d++) {
            if (t->dims[d] > 1)
                at[i].forms[d] = m->forms[d + m->rank - t->rank];
        }
        at[i].forms[t->rank - 2] = i ? reduced[0] : m->forms[m->rank - 2];
        at[i].forms[t->rank - 1] = i ? m->forms[m->rank - 1] : reduced[0];
    }
    return contract(l, v[0], &at[0], 0, NULL, v[1], &at[1], 0, NULL, s);
}

static uint32_t lower_gemm(struct lowering *l, const struct node *n, const struct map *m, const struct reduced_space *s,
                           const struct kaffine *reduced)
{
    const WNNGemmOptions *o = n->options;
    const dtype t = n->results[0]->type.type;
    struct kernel *k = l->k;
    struct map a = map_like(m, 2), b = map_like(m, 2), c;
    uint32_t sum, add;

    a.forms[o->aTranspose] = m->forms[0];
    a.forms[!o->aTranspose] = reduced[0];
    b.forms[o->bTranspose] = reduced[0];
    b.forms[!o->bTranspose] = m->forms[1];
    sum = contract(l, n->inputs[0].value, &a, 0, NULL, n->inputs[1].value, &b, 0, NULL, s);
    sum = kernel_op2(k, K_MUL, sum, lower_number(l, wnnNumber(o->alpha), t));
    if (!n->inputs[2].value || sum == KEXPR_NONE)
        return sum;
    c = map_broadcast(l, m, &n->results[0]->type, &n->inputs[2].value->type);
    add = kernel_op2(k, K_MUL, lower_value(l, n->inputs[2].value, &c), lower_number(l, wnnNumber(o->beta), t));
    return kernel_op2(k, K_ADD, sum, add);
}

uint32_t lower_contraction(struct lowering *l, const struct node *n, const struct map *m)
{
    const struct map spread = map_spread(l, m, &n->results[0]->type);
    struct kaffine reduced[RANK_MAX];
    struct reduced_space s;

    lower_reduces(n, &s);
    if (s.points > 1 && map_varies(l, &spread))
        l->unfusable = true;
    if (l->unfusable || !lower_reduced_forms(l, &s, reduced))
        return KEXPR_NONE;
    switch (n->op) {
    case OP_CONV2D:
    case OP_CONV_TRANSPOSE2D:
        return lower_convolution(l, n, &spread, &s, reduced);
    case OP_MATMUL:
        return lower_matmul(l, n, &spread, &s, reduced);
    case OP_GEMM:
        return lower_gemm(l, n, &spread, &s, reduced);
    default:
        l->unfusable = true;
        return KEXPR_NONE;
    }
}
