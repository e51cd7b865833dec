/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Builds programs from sources by the device's compiler, once for each text.
 *
 * The compiler takes most of the time of loading a graph, so the programs of one graph are built by several threads, and
 * whoever needs a program that another thread is building waits for it.  One that could not be built is tried again by whoever
 * asks next: memory may have run out.
 */
#ifdef WEBNN_OPENCL
#include "runtime/opencl/internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUILDERS_MAX = 4, LOG_BYTES = 600 };

struct opencl_program {
    struct opencl_program *next; /* in the bucket */
    char *text;
    enum { PROGRAM_NEW, PROGRAM_BUILDING, PROGRAM_BUILT } state; /* of this and `program`: programs.lock */
    cl_program program;
};

cl_program opencl_program_handle(const struct opencl_program *p)
{
    return p->program;
}

const char *opencl_program_text(const struct opencl_program *p)
{
    return p->text;
}

/* ---- building one ---- */

/* Reads the compiler's first words: what follows the first error seldom says more. */
static void read_log(struct engine_opencl *o, cl_program program, char log[LOG_BYTES])
{
    size_t size = 0;
    char *whole;

    log[0] = '\0';
    if (o->api->GetProgramBuildInfo(program, o->device.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS || !size)
        return;
    whole = calloc(1, size + 1);
    if (whole && o->api->GetProgramBuildInfo(program, o->device.id, CL_PROGRAM_BUILD_LOG, size, whole, NULL) == CL_SUCCESS)
        snprintf(log, LOG_BYTES, "\n%.*s%s", LOG_BYTES - 8, whole, strlen(whole) > LOG_BYTES - 8 ? " ..." : "");
    free(whole);
}

static cl_program build_source(struct engine_opencl *o, const struct opencl_wanted *w, struct error *e)
{
    const char *parts[] = {opencl_prelude, w->text};
    struct error ignored = {.status = WNNStatus_Success};
    char log[LOG_BYTES], name[24];
    cl_int code = CL_SUCCESS;
    cl_program program = o->api->CreateProgramWithSource(o->context, 2, parts, NULL, &code);

    if (code != CL_SUCCESS) {
        opencl_failed(o, "clCreateProgramWithSource", code, e);
        return NULL;
    }
    code = o->api->BuildProgram(program, 1, &o->device.id, opencl_options, NULL, NULL);
    if (code == CL_SUCCESS)
        return program;
    read_log(o, program, log);
    o->api->ReleaseProgram(program);
    opencl_failed(o, "clBuildProgram", code, &ignored); /* the device may be lost */
    if (opencl_is_usable(o, e))
        error_set(e, WNNStatus_OperationError, "the OpenCL device %s does not build the kernel of %s: clBuildProgram: %s%s",
                  o->device.name, w->step, opencl_error_name(code, name), log);
    return NULL;
}

/* ---- the table ---- */

static uint32_t bucket_of(const char *text)
{
    uint32_t hash = 2166136261u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash % OPENCL_PROGRAM_BUCKETS;
}

/* Returns the entry of a text, made unless there is one, or NULL if memory runs out. */
static struct opencl_program *find(struct engine_opencl *o, const char *text)
{
    struct opencl_program **bucket = &o->programs.buckets[bucket_of(text)], *p;

    pthread_mutex_lock(&o->programs.lock);
    for (p = *bucket; p && strcmp(p->text, text) != 0; p = p->next)
        ;
    if (!p && (p = calloc(1, sizeof *p))) {
        p->text = strdup(text);
        if (p->text) {
            p->next = *bucket;
            *bucket = p;
        } else {
            free(p);
            p = NULL;
        }
    }
    pthread_mutex_unlock(&o->programs.lock);
    return p;
}

/* Builds w's program, or waits for the thread that does. */
static bool ensure(struct engine_opencl *o, const struct opencl_wanted *w, struct error *e)
{
    struct opencl_program *p = w->program;
    cl_program built;

    pthread_mutex_lock(&o->programs.lock);
    while (p->state == PROGRAM_BUILDING)
        pthread_cond_wait(&o->programs.changed, &o->programs.lock);
    bool done = p->state == PROGRAM_BUILT;
    if (!done)
        p->state = PROGRAM_BUILDING;
    pthread_mutex_unlock(&o->programs.lock);
    if (done)
        return true;

    built = w->binary ? opencl_program_of_binary(o, w->binary, w->binary_bytes) : NULL;
    if (!built)
        built = opencl_cache_load(o, w->text);
    if (!built && (built = build_source(o, w, e)))
        opencl_cache_store(o, w->text, built);
    pthread_mutex_lock(&o->programs.lock);
    p->program = built;
    p->state = built ? PROGRAM_BUILT : PROGRAM_NEW;
    pthread_cond_broadcast(&o->programs.changed);
    pthread_mutex_unlock(&o->programs.lock);
    return built != NULL;
}

/* ---- building many ---- */

struct team {
    struct engine_opencl *o;
    uint32_t count;
    const struct opencl_wanted *wanted;
    atomic_uint next;
    atomic_bool failed;
    pthread_mutex_t lock; /* of e */
    struct error *e;
};

static void *team_main(void *user)
{
    struct team *t = user;
    struct error e = {.status = WNNStatus_Success};

    for (uint32_t i; !atomic_load(&t->failed) && (i = atomic_fetch_add(&t->next, 1)) < t->count;)
        if (!ensure(t->o, &t->wanted[i], &e)) {
            atomic_store(&t->failed, true);
            pthread_mutex_lock(&t->lock);
            error_set(t->e, e.status, "%s", e.message);
            pthread_mutex_unlock(&t->lock);
        }
    return NULL;
}

/* Returns how many of them are to be built, each text once. */
static uint32_t count_new(struct engine_opencl *o, uint32_t count, const struct opencl_wanted *wanted)
{
    uint32_t missing = 0;

    pthread_mutex_lock(&o->programs.lock);
    for (uint32_t i = 0; i < count && missing < BUILDERS_MAX; i++)
        if (wanted[i].program->state != PROGRAM_BUILT) {
            bool again = false;
            for (uint32_t k = 0; k < i && !again; k++)
                again = wanted[k].program == wanted[i].program;
            missing += !again;
        }
    pthread_mutex_unlock(&o->programs.lock);
    return missing;
}

bool opencl_programs_build(struct engine_opencl *o, uint32_t count, struct opencl_wanted *wanted, struct error *e)
{
    struct team t = {.o = o, .count = count, .wanted = wanted, .e = e};
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[BUILDERS_MAX];
    uint32_t started = 0, missing;
    sigset_t all, before;

    for (uint32_t i = 0; i < count; i++)
        if (!(wanted[i].program = find(o, wanted[i].text)))
            return error_out_of_memory(e);
    if (pthread_mutex_init(&t.lock, NULL) != 0)
        return error_out_of_memory(e);
    missing = count_new(o, count, wanted);
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) == 0) {
        while (started + 1 < missing && (long)started + 1 < processors &&
               pthread_create(&threads[started], NULL, team_main, &t) == 0)
            started++;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    team_main(&t);
    while (started)
        pthread_join(threads[--started], NULL);
    pthread_mutex_destroy(&t.lock);
    return !atomic_load(&t.failed);
}

void opencl_programs_free(struct engine_opencl *o)
{
    for (uint32_t i = 0; i < OPENCL_PROGRAM_BUCKETS; i++)
        for (struct opencl_program *p = o->programs.buckets[i], *next; p; p = next) {
            next = p->next;
            if (p->program)
                o->api->ReleaseProgram(p->program);
            free(p->text);
            free(p);
        }
}
#endif
