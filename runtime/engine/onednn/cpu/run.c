/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs a step.  The library's memory objects, which hold the pointers of one run, are in bindings, one set per invocation: a
 * run stores pointers and calls the primitive, and no two threads meet.
 */
#include "runtime/engine/onednn/cpu/library_cpu.h"
#include "runtime/engine/onednn/onednn_step.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/host/float_mode.h"
#include "runtime/host/threads.h"

struct library_bindings {
    const struct library_step *step;
    bool has_run;
    dnnl_stream_t stream;
    uint32_t counts[CALLS_MAX];
    dnnl_exec_arg_t args[CALLS_MAX][ARGS_MAX];
};

/* ---- bindings ---- */

static bool bind_call(struct library_bindings *b, uint32_t index)
{
    const struct library_step *s = b->step;
    const struct primitive_call *c = &s->calls[index];

    for (uint32_t i = 0; i < c->count; i++) {
        const struct argument *a = &c->args[i];
        void *data = a->source == FROM_CONSTANT ? (void *)a->data : DNNL_MEMORY_NONE;

        b->args[index][i].arg = a->id;
        if (onednn.memory_create(&b->args[index][i].memory, a->md, s->library->engine, data) != dnnl_success)
            return false;
        b->counts[index]++;
    }
    return true;
}

static dnnl_status_t bind_calls(void *user)
{
    struct library_bindings *b = user;
    const struct library_step *s = b->step;
    dnnl_status_t status = onednn.stream_create(&b->stream, s->library->engine, dnnl_stream_default_flags);

    for (uint32_t i = 0; status == dnnl_success && i < s->call_count; i++)
        if (!bind_call(b, i))
            status = dnnl_out_of_memory;
    return status;
}

struct library_bindings *library_bindings_create(const struct library_step *s, struct error *e)
{
    struct library_bindings *b = calloc(1, sizeof *b);

    if (!b)
        return error_null_memory(e);
    b->step = s;
    if (memory_has_room(DNN_ROOM_BYTES) && dnn_protect(bind_calls, b) == dnnl_success)
        return b;
    error_out_of_memory(e);
    library_bindings_free(b);
    return NULL;
}

void library_bindings_free(struct library_bindings *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < CALLS_MAX; i++)
        for (uint32_t k = 0; k < b->counts[i]; k++)
            onednn.memory_destroy(b->args[i][k].memory);
    if (b->stream)
        onednn.stream_destroy(b->stream);
    free(b);
}

/* ---- the end of the process ----
 *
 * When the process ends, the library frees its code, also while a thread runs it: `exit` waits for calls that are under way, a
 * second at most, and later ones fail.  Handlers of `exit` are called last in, first out, and the library registers some when
 * it first computes something, in first runs of steps.  A main thread that loaded this code registers this handler before its
 * `exit` calls any; for other threads steps do after their first runs, a limited number of times, since handlers stay.
 */

enum { HANDLERS_MAX = 256 };
static atomic_uint calls_running, handlers;
static atomic_bool process_ends;

static void end_calls(void)
{
    const struct timespec millisecond = {.tv_nsec = 1000000};

    for (int i = atomic_exchange(&process_ends, true) ? 1000 : 0; i < 1000 && atomic_load(&calls_running); i++)
        nanosleep(&millisecond, NULL);
}

int __cxa_thread_atexit_impl(void (*function)(void *), void *user, void *image) __attribute__((weak)); /* of glibc */
extern void *__dso_handle;

static void end_main_thread(void *user)
{
    (void)user;
    (void)atexit(end_calls);
}

/* Called when this code is loaded, as glibc aborts if it has no memory for the record. */
__attribute__((constructor)) static void wait_at_exit(void)
{
    if (getpid() == (pid_t)syscall(SYS_gettid) && __cxa_thread_atexit_impl)
        (void)__cxa_thread_atexit_impl(end_main_thread, NULL, &__dso_handle);
}

/* ---- running ---- */

struct step_run_call {
    const struct library_step *s;
    struct library_bindings *b;
    const void *const *inputs;
    void *output, *scratch;
};

static dnnl_status_t execute_calls(void *user)
{
    const struct step_run_call *r = user;
    const struct library_step *s = r->s;

    for (uint32_t i = 0; i < s->call_count; i++) {
        const struct primitive_call *c = &s->calls[i];
        dnnl_status_t status;

        for (uint32_t k = 0; k < c->count; k++) {
            const struct argument *a = &c->args[k];
            void *data = NULL;

            switch (a->source) {
            case FROM_INPUT:
                data = (void *)r->inputs[a->input];
                break;
            case FROM_OUTPUT:
                data = r->output;
                break;
            case FROM_SCRATCH:
                data = (char *)r->scratch + a->offset;
                break;
            case FROM_CONSTANT:
                continue;
            }
            status = onednn.memory_set_data_handle(r->b->args[i][k].memory, data);
            if (status != dnnl_success)
                return status;
        }
        status = onednn.primitive_execute(c->primitive, r->b->stream, (int)c->count, r->b->args[i]);
        if (status != dnnl_success)
            return status;
    }
    return onednn.stream_wait(r->b->stream);
}

static bool run_calls(const struct step_run_call *r)
{
    atomic_fetch_add(&calls_running, 1);
    const bool good = !atomic_load(&process_ends) && dnn_protect(execute_calls, (void *)r) == dnnl_success;
    if (!r->b->has_run && atomic_load(&handlers) < HANDLERS_MAX) {
        r->b->has_run = atexit(end_calls) == 0;
        atomic_fetch_add(&handlers, 1);
    }
    atomic_fetch_sub(&calls_running, 1); /* also if the library threw */
    return good;
}

/* ---- NaN ----
 *
 * The library's clip gives a bound for NaN, but the processor notes it as invalid, which costs nothing.  Only then the
 * contraction is computed once more, by a primitive that has tanh, which keeps NaN, in the place of clip: NaN there
 * becomes NaN in the result.
 */

static bool is_clipped(const struct dnn_problem *p)
{
    bool clips = false;

    for (int32_t i = 0; i < p->post_count; i++)
        clips |= p->posts[i].kind == DNN_POST_ELTWISE && p->posts[i].algorithm == dnnl_eltwise_clip;
    return clips && p->dst_type == dnnl_f32;
}

static void scale(const struct step_run_call *r, void *to)
{
    const struct scaling *x = &r->s->scaling;

    dnn_scale(x, x->constant ? x->constant : r->inputs[x->input], to);
}

/** Makes the primitive that keeps NaN, of the same weights and memory.  Returns NULL if the library has none. */
static dnnl_primitive_t create_search(const struct library_step *s)
{
    struct library *l = (struct library *)s->library; /* a descriptor changes nothing in it */
    const struct argument *scratch = dnn_find_argument(s, DNNL_ARG_SCRATCHPAD);
    struct primitive_call made = {0};
    struct dnn_problem p = s->problem;

    for (int32_t i = 0; i < p.post_count; i++)
        if (p.posts[i].kind == DNN_POST_ELTWISE && p.posts[i].algorithm == dnnl_eltwise_clip)
            p.posts[i] = (struct dnn_post){.kind = DNN_POST_ELTWISE, .algorithm = dnnl_eltwise_tanh};
    dnnl_primitive_desc_t pd = dnn_create_pd(l, &p, s->scales, 0);
    if (!pd)
        return NULL;
    dnn_const_md wanted = dnn_pd_md(pd, dnnl_query_scratchpad_md, 0);
    const size_t bytes = wanted ? onednn.memory_desc_get_size(wanted) : 0;

    if (bytes <= (scratch ? onednn.memory_desc_get_size(scratch->md) : 0) &&
        onednn.memory_desc_equal(dnn_find_argument(s, DNNL_ARG_WEIGHTS)->md, dnn_pd_md(pd, dnnl_query_weights_md, 0)))
        (void)dnn_create_primitive(l, &made, pd);
    onednn.primitive_desc_destroy(pd);
    return made.primitive;
}

static bool restore_nan(const struct step_run_call *r)
{
    const size_t bytes = onednn.memory_desc_get_size(dnn_find_argument(r->s, DNNL_ARG_DST)->md);
    struct library_step s = *r->s;
    dnnl_primitive_t *primitive = &s.calls[s.call_count - 1].primitive;
    float *found = dnn_aligned_bytes(bytes), *output = r->output;
    const struct step_run_call search = {&s, r->b, r->inputs, found, r->scratch};
    bool good = found;

    *primitive = good ? create_search(r->s) : NULL;
    if (*primitive) {
        memset(found, 0, bytes); /* in the place of a residual, which is overwritten */
        if (s.scaling.repeat && s.scaling.offset < 0)
            scale(&search, found);
        good = run_calls(&search);
        for (size_t i = 0; good && i < bytes / sizeof *found; i++)
            output[i] = isnan(found[i]) ? found[i] : output[i];
        onednn.primitive_destroy(*primitive);
    }
    free(found);
    return good;
}

static bool run_clipped(const struct step_run_call *r)
{
    const bool before = float_take_invalid();
    bool good = run_calls(r);
    const bool met = float_take_invalid();

    if (met && good)
        good = restore_nan(r);
    if (before || met)
        (void)feraiseexcept(FE_INVALID);
    return good;
}

static bool run_all(const struct step_run_call *r)
{
    return is_clipped(&r->s->problem) ? run_clipped(r) : run_calls(r);
}

static void widen_zero(const struct late_zero *z, const void *const *inputs, void *scratch)
{
    const void *byte = inputs[z->input];

    *(int32_t *)((char *)scratch + z->offset) = z->type == dnnl_u8 ? *(const uint8_t *)byte : *(const int8_t *)byte;
}

bool library_step_run(const struct library_step *s, struct library_bindings *b, const void *const *inputs, void *output,
                      void *scratch)
{
    const struct step_run_call r = {s, b, inputs, output, scratch};

    if (s->scaling.repeat)
        scale(&r, s->scaling.offset < 0 ? output : (char *)scratch + s->scaling.offset);
    for (int i = 0; i < 2; i++) {
        const struct low_precision_operand *n = &s->low_precision_operands[i];

        if (s->late_zeros[i].type)
            widen_zero(&s->late_zeros[i], inputs, scratch);
        if (n->conversion.parts)
            dnn_convert(s->library, &n->conversion, n->constant ? n->constant : inputs[n->input], (char *)scratch + n->offset);
    }
    if (!s->thread_limit || s->thread_limit >= threads_entered())
        return run_all(&r);
    const struct threads_saved saved = threads_enter(s->thread_limit, s->library->parallel);
    const bool good = run_all(&r);

    threads_leave(saved);
    return good;
}
