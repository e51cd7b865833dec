/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the compiler of one context.  It finds out which structures are new, compiles those (several at a time), links them,
 * and keeps each one's code for as long as a graph uses it.  Of what none uses any more, the last codes stay: graphs of other
 * sizes come and go.
 */
#include "codegen/llvm/llvm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ir/support/clock.h"
#include "ir/support/guard.h"

/* LLVM takes about ROOM_BYTES to compile on a few threads.  With less, it would have to be abandoned in the middle. */
enum { WORKERS_MAX = 8, ROOM_BYTES = 32 << 20, UNUSED_MAX = 64 };

/** This is one compiled structure, in the hash table of its codegen. */
struct code {
    uint64_t hash;
    char *structure;
    uint32_t references; /* struct codegen_kernels that use it */
    uint64_t released;   /* when there were none any more, as a count */
    kernel_function function;
    struct jit_code *linked;
    char symbol[24];
    LLVMMemoryBufferRef object; /* what was linked, for saving; NULL under the sanitizer, whose code is of no use elsewhere */
};

struct codegen {
    struct target target;
    struct arena names; /* the target's */
    const struct debug_options *debug;
    pthread_mutex_t lock; /* everything below, and one codegen_compile at a time */
    struct machine machines[WORKERS_MAX];
    uint32_t machine_count;
    struct table codes;
    uint32_t unused;           /* codes without references */
    uint64_t serial, releases; /* names of symbols; counts */
    struct codegen_times times;
};

struct codegen_kernels {
    struct codegen *codegen;
    uint32_t count;
    struct code *codes[];
};

static void code_free(struct code *code)
{
    jit_unlink(code->linked);
    free(code->structure);
    if (code->object)
        LLVMDisposeMemoryBuffer(code->object);
    free(code);
}

struct codegen *codegen_create(const struct target *t, const struct debug_options *d, struct error *e)
{
    struct codegen *c = calloc(1, sizeof *c);
    if (!c)
        return error_null_memory(e);
    c->target = *t;
    c->debug = d;
    pthread_mutex_init(&c->lock, NULL);
    if (!memory_has_room(ROOM_BYTES))
        error_out_of_memory(e);
    else if (codegen_name_processor(&c->target, &c->names, e) && jit_prepare(d, e))
        c->machine_count = machine_create(&c->machines[0], &c->target, d, e);
    if (!c->machine_count) {
        codegen_free(c);
        return NULL;
    }
    return c;
}

void codegen_free(struct codegen *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->codes.capacity; i++)
        if (c->codes.entries[i].item)
            code_free((struct code *)c->codes.entries[i].item);
    free(c->codes.entries);
    for (uint32_t i = 0; i < c->machine_count; i++)
        machine_destroy(&c->machines[i]);
    pthread_mutex_destroy(&c->lock);
    arena_free(&c->names);
    free(c);
}

/* ---- the table of structures ---- */

/* Returns the place of a structure, or the free one where it belongs. */
static struct table_entry *table_find(struct codegen *c, uint64_t hash, const char *structure)
{
    struct table_entry *place = NULL;

    do
        place = table_next(&c->codes, hash, place);
    while (place->item && strcmp(((const struct code *)place->item)->structure, structure) != 0);
    return place;
}

static void table_drop(struct codegen *c, struct code *code)
{
    table_remove(&c->codes, code->hash, code);
    code_free(code);
}

/* Drops the code that has not been used for the longest time. */
static void drop_unused(struct codegen *c)
{
    struct code *oldest = NULL;

    for (uint32_t i = 0; i < c->codes.capacity; i++) {
        struct code *code = (struct code *)c->codes.entries[i].item;

        if (code && !code->references && (!oldest || code->released < oldest->released))
            oldest = code;
    }
    table_drop(c, oldest);
    c->unused--;
}

static void table_release(struct codegen *c, struct code *code)
{
    if (--code->references)
        return;
    if (!code->function) {
        table_drop(c, code);
        return;
    }
    code->released = c->releases++;
    if (++c->unused > UNUSED_MAX)
        drop_unused(c);
}

static void release_locked(struct codegen_kernels *k)
{
    for (uint32_t i = 0; i < k->count; i++)
        table_release(k->codegen, k->codes[i]);
    free(k);
}

/* ---- compiling new structures ---- */

struct job {
    struct code *code; /* its function is still missing */
    const struct schedule *schedule;
    LLVMMemoryBufferRef object;
    struct error error;
};

struct job_queue {
    struct job *jobs;
    uint32_t count;
    atomic_uint next;
    bool (*cancelled)(void *user, uint32_t done, uint32_t total); /* asks whether to stop; or NULL */
    void *user;
    atomic_bool stopped;
};

struct worker {
    struct job_queue *queue;
    struct machine *machine;
    bool asks; /* it runs on the caller's thread */
};

/* Returns whether to stop before job i, asking the caller on its own thread. */
static bool is_stopped(struct worker *w, uint32_t i)
{
    struct job_queue *q = w->queue;

    if (w->asks && q->cancelled && q->cancelled(q->user, i, q->count))
        atomic_store(&q->stopped, true);
    return atomic_load(&q->stopped);
}

/* The caller's thread has the first job, so that it is asked however late it runs. */
static void *run_jobs(void *user)
{
    struct worker *w = user;
    struct job_queue *q = w->queue;
    for (uint32_t i = w->asks ? 0 : atomic_fetch_add(&q->next, 1); i < q->count; i = atomic_fetch_add(&q->next, 1)) {
        struct job *job = &q->jobs[i];
        if (is_stopped(w, i))
            error_set(&job->error, WNNStatus_OperationError, "the build was cancelled");
        else
            machine_compile(w->machine, job->schedule, job->code->symbol, &job->object, &job->error);
    }
    return NULL;
}

static void compile_jobs(struct codegen *c, struct job_queue *queue)
{
    struct worker workers[WORKERS_MAX];
    pthread_t threads[WORKERS_MAX];
    bool started[WORKERS_MAX] = {false};
    uint32_t wanted = c->target.compile_threads ? c->target.compile_threads : c->target.thread_count;
    const uint32_t most = queue->count < WORKERS_MAX ? queue->count : WORKERS_MAX;

    /* A thread costs some tens of microseconds and its machine a millisecond; a structure takes from 4 to 30. */
    wanted = !wanted ? 1 : wanted > most ? most : wanted;
    while (c->machine_count < wanted) {
        struct error ignored = {0};
        if (!machine_create(&c->machines[c->machine_count], &c->target, c->debug, &ignored))
            break;
        c->machine_count++;
    }
    if (wanted > c->machine_count)
        wanted = c->machine_count;
    for (uint32_t i = 0; i < c->machine_count; i++)
        workers[i] = (struct worker){queue, &c->machines[i], i == 0};
    for (uint32_t i = 1; i < wanted; i++)
        started[i] = !pthread_create(&threads[i], NULL, run_jobs, &workers[i]);
    run_jobs(&workers[0]);
    for (uint32_t i = 1; i < wanted; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < c->machine_count; i++) {
        c->times.emit_ms += c->machines[i].times.emit_ms;
        c->times.passes_ms += c->machines[i].times.passes_ms;
        c->times.codegen_ms += c->machines[i].times.codegen_ms;
        c->times.structures += c->machines[i].times.structures;
        c->machines[i].times = (struct codegen_times){0};
    }
}

static bool link_jobs(struct codegen *c, struct job *jobs, uint32_t count, struct error *e)
{
    double start = milliseconds_now();
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) {
        struct job *job = &jobs[i];
        struct code *code = job->code;
        if (ok && !job->object)
            *e = job->error;
        if (ok && job->object)
            code->linked = jit_link(c->debug, LLVMGetBufferStart(job->object), LLVMGetBufferSize(job->object), code->symbol,
                                    job->schedule->kernel->name, &code->function, e);
        ok = ok && code->linked;
        if (!c->debug || !(c->debug->flags & DEBUG_SANITIZE))
            code->object = job->object;
        else if (job->object)
            LLVMDisposeMemoryBuffer(job->object);
    }
    c->times.codegen_ms += milliseconds_now() - start;
    return ok;
}

/* Fills in kernels->codes with entries of the table, new ones without a function, and lists those as jobs. */
static bool find_codes(struct codegen *c, uint32_t count, struct schedule *const *schedules, struct codegen_kernels *kernels,
                       struct job *jobs, uint32_t *job_count, struct error *e)
{
    struct arena scratch = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        arena_free(&scratch); /* the next text reuses the memory */
        char *structure = schedule_structure(schedules[i], &scratch);
        if (!(ok = structure || error_out_of_memory(e)))
            break;
        uint64_t hash = hash_bytes(structure, strlen(structure));
        bool room = table_reserve(&c->codes, NULL, c->codes.count + 1);
        struct table_entry *place = table_find(c, hash, structure);
        struct code *code = (struct code *)place->item;
        if (!code) {
            code = room ? calloc(1, sizeof *code) : NULL;
            if (!code || !(code->structure = strdup(structure))) {
                free(code);
                ok = error_out_of_memory(e);
                break;
            }
            code->hash = hash;
            table_put(&c->codes, place, hash, code);
            jobs[(*job_count)++] = (struct job){.code = code, .schedule = schedules[i]};
            snprintf(code->symbol, sizeof code->symbol, "k%llu", (unsigned long long)c->serial++);
        } else if (!code->references) {
            c->unused--;
        }
        code->references++;
        kernels->codes[kernels->count++] = code;
    }
    arena_free(&scratch);
    return ok;
}

bool codegen_compile(struct codegen *c, uint32_t count, struct schedule *const *schedules,
                     bool (*cancelled)(void *user, uint32_t done, uint32_t total), void *user, struct codegen_kernels **kernels,
                     kernel_function *functions, struct error *e)
{
    *kernels = NULL;
    struct codegen_kernels *k = calloc(1, sizeof *k + count * sizeof *k->codes);
    struct job *jobs = calloc(count + 1, sizeof *jobs);
    if (!k || !jobs) {
        free(k);
        free(jobs);
        return error_out_of_memory(e);
    }
    k->codegen = c;

    pthread_mutex_lock(&c->lock);
    uint32_t job_count = 0;
    bool ok = find_codes(c, count, schedules, k, jobs, &job_count, e);
    if (ok && job_count && (ok = memory_has_room(ROOM_BYTES) || error_out_of_memory(e))) {
        compile_jobs(c, &(struct job_queue){jobs, job_count, 1, cancelled, user, false});
        ok = link_jobs(c, jobs, job_count, e);
    }
    for (uint32_t i = 0; ok && i < count; i++)
        functions[i] = k->codes[i]->function;
    if (ok) {
        c->times.kernels += count;
        *kernels = k;
    } else {
        release_locked(k); /* before others find what was not compiled */
    }
    pthread_mutex_unlock(&c->lock);
    free(jobs);
    return ok;
}

void codegen_kernels_free(struct codegen_kernels *k)
{
    if (!k)
        return;
    struct codegen *c = k->codegen;
    pthread_mutex_lock(&c->lock);
    release_locked(k);
    pthread_mutex_unlock(&c->lock);
}

/* ---- saving ---- */

bool codegen_kernels_flatten(struct codegen_kernels *k, struct schedule *const *schedules, uint32_t count,
                             const uint32_t *which, void **bytes, size_t *size, uint64_t *offsets, struct error *e)
{
    static const struct debug_options no_debug;
    struct flat_code flat = {0};
    struct machine unsanitized = {0};
    bool ok = true;

    for (uint32_t i = 0; ok && i < count; i++) {
        const struct code *code = k->codes[which[i]];
        LLVMMemoryBufferRef object = code->object;

        if (!object)
            ok = (unsanitized.tm || (schedules && machine_create(&unsanitized, &k->codegen->target, &no_debug, e))) &&
                 machine_compile(&unsanitized, schedules[which[i]], code->symbol, &object, e);
        ok = ok && flat_code_append(&flat, LLVMGetBufferStart(object), code->symbol, &offsets[i], e);
        if (object && object != code->object)
            LLVMDisposeMemoryBuffer(object);
    }
    machine_destroy(&unsanitized);
    if (!ok) {
        error_set(e, WNNStatus_UnknownError, "saving: a kernel's code was not kept");
        flat_code_free(&flat);
        return false;
    }
    *bytes = flat.bytes;
    *size = flat.size;
    return true;
}

const char *codegen_kernels_structure(const struct codegen_kernels *k, uint32_t kernel)
{
    return k->codes[kernel]->structure;
}

bool codegen_is_abandoned(struct codegen *c)
{
    pthread_mutex_lock(&c->lock);
    bool abandoned = false;
    for (uint32_t i = 0; i < c->machine_count; i++)
        abandoned |= c->machines[i].abandoned;
    pthread_mutex_unlock(&c->lock);
    return abandoned;
}

void codegen_get_times(struct codegen *c, struct codegen_times *out)
{
    pthread_mutex_lock(&c->lock);
    *out = c->times;
    pthread_mutex_unlock(&c->lock);
}
