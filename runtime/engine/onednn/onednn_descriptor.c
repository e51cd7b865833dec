/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes primitive descriptors: a resolved problem in the library's own objects.
 *
 * The descriptor is that of the first implementation that onednn_workarounds.c lets pass, or of a later one.
 */
#include "runtime/engine/onednn/onednn.h"

#include "runtime/host/threads.h"

dnnl_primitive_attr_t dnn_create_attributes(void)
{
    dnnl_primitive_attr_t a = NULL;

    if (onednn.primitive_attr_create(&a) != dnnl_success)
        return NULL;
    /* The library's own scratchpad would tie a primitive to one thread at a time. */
    if (onednn.primitive_attr_set_scratchpad_mode(a, dnnl_scratchpad_mode_user) != dnnl_success) {
        onednn.primitive_attr_destroy(a);
        return NULL;
    }
    return a;
}

static dnn_md operand_md(const struct dnn_problem *p, enum dnn_side side)
{
    if (p->parts) {
        const struct dnn_layout l = dnn_parts_layout(p, side);

        return dnn_layout_md(&l, dnnl_bf16);
    }
    return side == DNN_SOURCE ? dnn_layout_md(&p->src, p->src_type) : dnn_layout_md(&p->weights, p->weights_type);
}

static bool append_posts(const struct dnn_problem *p, dnnl_primitive_attr_t attributes)
{
    dnnl_post_ops_t posts;
    dnnl_status_t status = dnnl_success;

    if (!p->post_count)
        return true;
    if (onednn.post_ops_create(&posts) != dnnl_success)
        return false;
    for (int32_t i = 0; i < p->post_count && status == dnnl_success; i++) {
        const struct dnn_post *x = &p->posts[i];

        switch ((enum dnn_post_kind)x->kind) {
        case DNN_POST_ELTWISE:
            status = dnn_append_eltwise(posts, (dnnl_alg_kind_t)x->algorithm, x->alpha, x->beta);
            break;
        case DNN_POST_SUM:
            status = dnn_append_sum(posts);
            break;
        case DNN_POST_BINARY: {
            dnn_md md = dnn_layout_md(&x->operand, dnnl_f32);

            status = md ? onednn.post_ops_append_binary(posts, (dnnl_alg_kind_t)x->algorithm, md) : dnnl_out_of_memory;
            dnn_md_free(md);
            break;
        }
        }
    }
    if (status == dnnl_success)
        status = onednn.primitive_attr_set_post_ops(attributes, posts);
    onednn.post_ops_destroy(posts);
    return status == dnnl_success;
}

/** Returns the weights' dimensions that the scales of a contraction of integers go along. */
static int weights_mask(const struct dnn_problem *p)
{
    if (!p->scale_mask)
        return 0;
    return p->kind == DNN_MATMUL ? 1 << (p->weights.rank - 1) : p->weights.rank == 5 ? 1 << 0 | 1 << 1 : 1 << 0;
}

/** Holds what a primitive descriptor is made of. */
struct pd_creation {
    struct library *l;
    const struct dnn_problem *p;
    uint32_t after; /* so many implementations that would do are passed over */
    const float *scales;
    dnnl_primitive_attr_t attributes;
    dnn_md src, weights, bias, dst;
    dnnl_primitive_desc_t pd;
};

/** user is a struct pd_creation.  On the processor who asked looks at the name: a reference seldom comes after another one. */
static bool accept(const char *implementation, void *user)
{
    struct pd_creation *c = user;
    const struct dnn_machine *m = &c->l->machine;

    if (!dnn_is_acceptable(implementation, c->p) || (m->device && !m->references && dnn_is_reference(implementation)))
        return false;
    return c->after == 0 || c->after-- == 0;
}

static dnnl_status_t create_pd(void *user)
{
    struct pd_creation *c = user;
    const struct dnn_problem *p = c->p;

    const struct dnn_scaling scaling = {.count = dnn_scale_count(p),
                                        .scales = c->scales,
                                        .dst_mask = (int)p->scale_mask,
                                        .weights_mask = weights_mask(p),
                                        .src_zero = p->src_zero_type ? DNNL_RUNTIME_S32_VAL : p->src_zero,
                                        .weights_zero = p->weights_zero_type ? DNNL_RUNTIME_S32_VAL : p->weights_zero};

    c->attributes = dnn_create_attributes();
    if (!c->attributes || !append_posts(p, c->attributes) ||
        (c->scales && dnn_set_scaling(c->attributes, &scaling) != dnnl_success))
        return dnnl_out_of_memory;
    return p->kind == DNN_MATMUL
               ? dnn_matmul(&c->pd, c->l->engine, c->src, c->weights, c->bias, c->dst, c->attributes, accept, c)
               : dnn_convolution(&c->pd, c->l->engine, p->kind == DNN_TRANSPOSED_CONVOLUTION, c->src, c->weights, c->bias,
                                 c->dst, p->strides, p->dilations, p->low, p->high, c->attributes, accept, c);
}

dnnl_primitive_desc_t dnn_create_pd(struct library *l, const struct dnn_problem *p, const float *scales, uint32_t after)
{
    struct pd_creation c = {.l = l,
                            .p = p,
                            .after = after,
                            .scales = scales,
                            .src = operand_md(p, DNN_SOURCE),
                            .weights = operand_md(p, DNN_WEIGHTS),
                            .bias = p->bias.rank ? dnn_layout_md(&p->bias, dnnl_f32) : NULL,
                            .dst = dnn_layout_md(&p->dst, p->dst_type)};
    dnnl_status_t status = dnnl_out_of_memory;

    if (c.src && c.weights && c.dst && (c.bias || !p->bias.rank) && memory_has_room(DNN_ROOM_BYTES)) {
        /* Which implementation fits, and how it divides its work, depends on the number of threads. */
        struct threads_saved saved = threads_enter(l->threads, l->parallel);

        status = dnn_protect(create_pd, &c);
        threads_leave(saved);
    }
    dnn_md_free(c.src);
    dnn_md_free(c.weights);
    dnn_md_free(c.dst);
    dnn_md_free(c.bias);
    if (c.attributes)
        onednn.primitive_attr_destroy(c.attributes);
    return status == dnnl_success ? c.pd : NULL;
}
