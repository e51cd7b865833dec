/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Measures what the library would do at best: a step's problem without the network around it, as a measure for the step.
 *
 * The primitive chooses all layouts itself.  Its operands are in the cache if they fit there; its weights, if asked for, are
 * not, as in a network that reads others before they are due again: copies of them take turns.  Nothing that is compiled
 * depends on any of this.
 */
#include "runtime/engine/onednn/cpu/library_cpu.h"
#include "runtime/engine/onednn/onednn_step.h"

#include "ir/support/clock.h"
#include "runtime/host/threads.h"

enum { COPIES_MAX = 64, COLD_BYTES = 64 << 20 };

/** Holds a primitive on its own memory, which is freed with it. */
struct alone {
    struct library_step step;
    void *memory[ARGS_MAX + COPIES_MAX];
    uint32_t memory_count, copies;
    void *scratch;
    struct library_bindings *bindings[COPIES_MAX]; /* the same but for the weights */
};

/** Returns zeros, so that no operand is subnormal or not a number. */
static void *zeros(struct alone *a, size_t bytes)
{
    void *p = aligned_alloc(TARGET_ALIGNMENT, (bytes + TARGET_ALIGNMENT) / TARGET_ALIGNMENT * TARGET_ALIGNMENT);

    if (p)
        a->memory[a->memory_count++] = memset(p, 0, bytes);
    return p;
}

static bool add_zeros(struct alone *a, int id, dnn_md md)
{
    struct argument *argument = dnn_add_argument(&a->step.calls[0], id, md);

    if (!argument)
        return false;
    dnn_argument_constant(argument, zeros(a, onednn.memory_desc_get_size(md)), onednn.memory_desc_get_size(md));
    return argument->data != NULL;
}

static bool add_chosen(struct alone *a, int id, const_dnnl_primitive_desc_t pd, dnnl_query_t what)
{
    dnn_const_md md = dnn_pd_md(pd, what, 0);

    return md && add_zeros(a, id, dnn_md_copy(md));
}

static bool alone_bind(struct alone *a, bool cold)
{
    struct argument *weights = &a->step.calls[0].args[1];
    struct error ignored = {0};
    size_t wanted = cold && weights->bytes ? COLD_BYTES / weights->bytes + 1 : 1;

    for (size_t i = 0; i < wanted && i < COPIES_MAX; i++) {
        if (i && !(weights->data = zeros(a, weights->bytes)))
            return false;
        a->bindings[i] = library_bindings_create(&a->step, &ignored);
        if (!a->bindings[i])
            return false;
        a->copies++;
    }
    return true;
}

static bool alone_prepare(struct alone *a, const struct library_step *s, const struct dnn_problem *p,
                          const_dnnl_primitive_desc_t pd, bool cold)
{
    const int64_t one = 1;
    bool ok = add_chosen(a, DNNL_ARG_SRC, pd, dnnl_query_src_md) &&
              add_chosen(a, DNNL_ARG_WEIGHTS, pd, dnnl_query_weights_md) && add_chosen(a, DNNL_ARG_DST, pd, dnnl_query_dst_md);

    if (ok && p->bias.rank)
        ok = add_zeros(a, DNNL_ARG_BIAS, dnn_layout_md(&p->bias, dnnl_f32));
    if (ok && p->src_zero_type)
        ok = add_zeros(a, DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, dnn_md_create(1, &one, &one, dnnl_s32));
    if (ok && p->weights_zero_type)
        ok = add_zeros(a, DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_WEIGHTS, dnn_md_create(1, &one, &one, dnnl_s32));
    for (int32_t i = 0; ok && i < p->post_count; i++) {
        const struct dnn_layout *l = &p->posts[i].operand;

        if (p->posts[i].kind == DNN_POST_BINARY)
            ok = add_zeros(a, DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1, dnn_layout_md(l, dnnl_f32));
    }
    ok = ok && dnn_add_scratchpad(&a->step, &a->step.calls[0], pd) && dnn_create_primitive(s->library, &a->step.calls[0], pd);
    a->step.call_count = 1;
    a->step.thread_limit = dnn_thread_limit(dnn_pd_name(pd), p);
    a->scratch = ok ? aligned_alloc(TARGET_ALIGNMENT, (size_t)a->step.scratch_bytes + TARGET_ALIGNMENT) : NULL;
    return a->scratch && alone_bind(a, cold);
}

static void alone_free(struct alone *a)
{
    for (uint32_t i = 0; i < a->copies; i++)
        library_bindings_free(a->bindings[i]);
    if (a->step.calls[0].primitive)
        onednn.primitive_destroy(a->step.calls[0].primitive);
    for (uint32_t i = 0; i < a->step.calls[0].count; i++)
        dnn_md_free(a->step.calls[0].args[i].md);
    for (uint32_t i = 0; i < a->memory_count; i++)
        free(a->memory[i]);
    free(a->scratch);
}

static double alone_run(const struct alone *a, double seconds)
{
    double begin = (double)nanoseconds_now() * 1e-3, now = begin, best = 0;

    for (uint32_t runs = 0; runs < 5 || now - begin < seconds * 1e6; runs++) {
        double start = now;

        if (!library_step_run(&a->step, a->bindings[runs % a->copies], NULL, NULL, a->scratch))
            return 0;
        now = (double)nanoseconds_now() * 1e-3;
        if (runs && (best == 0 || now - start < best)) /* the first one is for the caches */
            best = now - start;
    }
    return best;
}

static double time_problem(const struct library_step *s, const struct dnn_problem *p, bool cold, double seconds)
{
    struct library *l = (struct library *)s->library; /* a descriptor changes nothing in it */
    dnnl_primitive_desc_t pd = dnn_create_pd(l, p, s->scales, 0);
    struct alone a = {.step = {.library = l}};
    double best = 0;

    if (!pd)
        return 0;
    if (alone_prepare(&a, s, p, pd, cold)) {
        struct threads_saved saved = threads_enter(l->threads, l->parallel);

        best = alone_run(&a, seconds);
        threads_leave(saved);
    }
    alone_free(&a);
    onednn.primitive_desc_destroy(pd);
    return best;
}

double library_step_standalone(const struct library_step *s, bool cold, double seconds)
{
    struct dnn_problem own = s->problem, chosen = s->problem;

    chosen.by_gemm = 0;
    chosen.src.free = chosen.weights.free = chosen.dst.free = 1;
    double best = time_problem(s, &own, cold, seconds / 2), other = time_problem(s, &chosen, cold, seconds / 2);
    return best == 0 || (other > 0 && other < best) ? other : best;
}
