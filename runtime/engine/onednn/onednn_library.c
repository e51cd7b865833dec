/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Creates the library: its engine, the cap on its instruction set, and what its owner allows it.
 */
#include "runtime/engine/onednn/onednn.h"

#include "ir/support/environment.h"
#include "runtime/host/threads.h"

/* ---- creation ---- */

/**
 * Finds the library's mask of an instruction set.  The masks grow with it: every bit of a lesser one is set in a better one.
 */
static bool isa_mask(const char *isa, dnnl_cpu_isa_t *out)
{
    static const struct {
        const char *name;
        dnnl_cpu_isa_t mask;
    } rows[] = {
        {"baseline", dnnl_cpu_isa_sse41}, /* the least the library knows */
        {"avx2", dnnl_cpu_isa_avx2},
        {"avx512", dnnl_cpu_isa_avx512_core_bf16},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(isa, rows[i].name)) {
            *out = rows[i].mask;
            return true;
        }
    return false;
}

static dnnl_status_t create_engine(void *user)
{
    return onednn.engine_create(&((struct library *)user)->engine, dnnl_cpu, 0);
}

/* oneDNN's OpenMP regions are led to this library's threads before its first call. */
static void lead_threads(void)
{
    (void)threads_lead_here((const void *)onednn.engine_create);
}

struct library *library_create(const char *isa, uint32_t thread_count, const struct webnn_object_parallel *parallel,
                               struct error *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct library *l = calloc(1, sizeof *l);
    dnnl_cpu_isa_t cap;

    if (!l || !onednn_load(e) || pthread_mutex_init(&l->mutex, NULL)) {
        free(l);
        return error_null_memory(e); /* unless *e says what else it was */
    }
    pthread_once(&once, lead_threads);
    l->threads = thread_count ? thread_count : 1;
    l->parallel = parallel;
    if (parallel && !threads_are_own()) {
        error_set(
            e, WNNStatus_NotSupportedError,
            "this oneDNN's parallel regions cannot be redirected to the context's parallel-for: leave `parallel` out, or use "
            "the shared library of oneDNN that is compiled for libgomp");
        library_free(l);
        return NULL;
    }
    if (environment_is_ignored()) { /* oneDNN reads variables of its own, which make it write files into the working directory
                                     */
        (void)onednn.set_jit_dump(0);
        (void)onednn.set_jit_profiling_flags(0);
        (void)onednn.set_verbose(0);
    }
    if (isa && isa_mask(isa, &cap)) {
        /* Fails when the process is fixed already, then the effective set tells whether it happens to be within the cap. */
        (void)onednn.set_max_cpu_isa(cap);
        l->refuses = ((unsigned)onednn.get_effective_cpu_isa() & ~(unsigned)cap) != 0;
    }
    if (!memory_has_room(DNN_ROOM_BYTES) || dnn_protect(create_engine, l) != dnnl_success) {
        error_set(e, WNNStatus_UnknownError, "oneDNN could not create its CPU engine, probably for lack of memory");
        library_free(l);
        return NULL;
    }
    /* Without VNNI sums of two u8 * s8 products saturate to 16 bits, which gives wrong results. */
    unsigned has = (unsigned)onednn.get_effective_cpu_isa(), wide = dnnl_cpu_isa_avx512_core;
    l->machine = (struct dnn_machine){.begins_with_addend = (has & wide) != wide /* measured */, .prepares_operands = true};
    l->bfloat16 = l->refuses ? 0 : dnn_bfloat16_rate();
    l->exact = (has & dnnl_cpu_isa_avx512_core_vnni) == dnnl_cpu_isa_avx512_core_vnni ||
               (has & dnnl_cpu_isa_avx2_vnni) == dnnl_cpu_isa_avx2_vnni;
    return l;
}

void library_free(struct library *l)
{
    if (!l)
        return;
    dnn_forget_answers(l);
    library_free(l->host);
    if (l->stream)
        onednn.stream_destroy(l->stream);
    if (l->engine)
        onednn.engine_destroy(l->engine);
    pthread_mutex_destroy(&l->mutex);
    free(l);
}

/* ---- what it may take, and what it is ---- */

void library_allow(struct library *l, WNNPrecision precision, bool prefer)
{
    l->precision = precision;
    l->prefer_bfloat16 = prefer;
}

void library_take_integers_only(struct library *l)
{
    l->integers_only = true;
}

double library_bfloat16_rate(const struct library *l)
{
    return l->bfloat16;
}

void library_compare(struct library *l, const struct target *t)
{
    l->bfloat16 = t->bfloat16_rate;
    l->facts = target_facts(t);
    l->cache_bytes = t->cache_bytes;
}

bool library_has_exact_integers(const struct library *l)
{
    return l->exact && !l->refuses;
}

void library_share_weights(struct library *l, struct constant_pool *pool)
{
    l->pool = pool;
}

void library_keep_weights(struct library *l)
{
    l->keep_weights = true;
}

struct library_facts library_get_facts(const struct library *l)
{
    const dnnl_version_t *v = onednn.version();

    return (struct library_facts){.version = (uint32_t)(v->major << 16 | v->minor << 8 | v->patch),
                                  .isa = (uint32_t)onednn.get_effective_cpu_isa(),
                                  .refuses = l->refuses};
}
