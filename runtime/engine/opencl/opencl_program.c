/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Builds programs from sources by the device's compiler, each kernel once.
 *
 * The compiler takes most of the time of loading a graph, and some begin every program by reading long headers, so the kernels
 * of one graph that are not built yet become one program, or a few that several threads build at the same time.  Kernels of
 * equal texts are one, whichever graphs of the context they belong to, and a thread that needs one that another thread is
 * building waits for it.  What could not be built is tried again by the next thread that asks: memory may have run out, or the
 * first one has given up.
 */
#include "runtime/engine/opencl/internal.h"
#include "ir/support/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/host/own_thread.h"

enum {
    BUILDERS_MAX = 4,
    KERNELS_LEAST = 8, /* of a program, where another thread could build some of them */
    KERNELS_MOST = 64, /* of a program: drivers are not made for endless ones */
    ASK_MS = 20,       /* interval of calls of the progress callback while others build */
    LOG_BYTES = 600
};

/* A kernel's text, or a whole program's of a saved graph. */
struct opencl_entry {
    enum { ENTRY_NEW, ENTRY_BUILDING, ENTRY_BUILT } state; /* of this and the next two: programs.lock */
    struct opencl_program *program;
    uint32_t number; /* of the kernel in the program */
    char text[];
};

/* ---- building one program ---- */

/* Reads the compiler's first words: what follows the first error seldom says more. */
static void read_log(struct engine_opencl *o, cl_program program, char log[LOG_BYTES])
{
    size_t size = 0;

    log[0] = '\0';
    if (o->api->GetProgramBuildInfo(program, o->device.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS || !size)
        return;
    char *whole = calloc(1, size + 1);
    if (whole && o->api->GetProgramBuildInfo(program, o->device.id, CL_PROGRAM_BUILD_LOG, size, whole, NULL) == CL_SUCCESS)
        snprintf(log, LOG_BYTES, "\n%.*s%s", LOG_BYTES - 8, whole, strlen(whole) > LOG_BYTES - 8 ? " ..." : "");
    free(whole);
}

/* What becomes one program: wanted[first] to wanted[first + count - 1], whose texts are all new, or one whole program. */
struct job {
    uint32_t first, count;
};

/* Every kernel is called webnn_kernel in its text; a number tells those of a program apart. */
static char *join_texts(const struct opencl_wanted *const *wanted, uint32_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    if (wanted[0]->whole) {
        fputs(wanted[0]->text, out);
    } else {
        for (uint32_t i = 0; i < count; i++)
            fprintf(out, "#define webnn_kernel webnn_kernel_%u\n%s#undef webnn_kernel\n", i, wanted[i]->text);
    }
    memory_stream_close(out, &text);
    return text;
}

/* Returns NULL after an error in *e; *refused says that it is the compiler's. */
static cl_program build_source(struct engine_opencl *o, const char *text, const char *step, bool *refused, struct error *e)
{
    const char *parts[] = {opencl_prelude, text};
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
    *refused = code == CL_BUILD_PROGRAM_FAILURE;
    read_log(o, program, log);
    o->api->ReleaseProgram(program);
    opencl_failed(o, "clBuildProgram", code, &ignored); /* the device may be lost */
    if (opencl_is_usable(o, e))
        error_set(e, WNNStatus_OperationError, "the OpenCL device %s does not build the kernel of %s: clBuildProgram: %s%s",
                  o->device.name, step, opencl_error_name(code, name), log);
    return NULL;
}

static struct opencl_program *build(struct engine_opencl *o, const struct opencl_wanted *const *wanted, uint32_t count,
                                    bool *refused, struct error *e)
{
    struct opencl_program *p = calloc(1, sizeof *p);

    if (p)
        p->text = join_texts(wanted, count);
    if (!p || !p->text) {
        free(p);
        return error_null_memory(e);
    }
    if (wanted[0]->binary)
        p->program = opencl_program_of_binary(o, wanted[0]->binary, wanted[0]->binary_bytes);
    if (!p->program)
        p->program = opencl_cache_load(o, p->text);
    if (!p->program && (p->program = build_source(o, p->text, wanted[0]->step, refused, e)))
        opencl_cache_store(o, p->text, p->program);
    if (p->program)
        return p;
    free(p->text);
    free(p);
    return NULL;
}

/* ---- the table ---- */

/* Returns the entry of a text, made unless there is one, or NULL if memory runs out. */
static struct opencl_entry *find(struct engine_opencl *o, const char *text)
{
    struct table *t = &o->programs.entries;
    const uint64_t hash = hash_bytes(text, strlen(text));
    struct table_entry *place = NULL;
    struct opencl_entry *p;

    pthread_mutex_lock(&o->programs.lock);
    const bool room = table_reserve(t, NULL, t->count + 1);
    do
        p = (struct opencl_entry *)(place = table_next(t, hash, place))->item;
    while (p && strcmp(p->text, text) != 0);
    if (!p && room && (p = calloc(1, sizeof *p + strlen(text) + 1))) {
        strcpy(p->text, text);
        table_put(t, place, hash, p);
    }
    pthread_mutex_unlock(&o->programs.lock);
    return p;
}

/* Says what has become of entries that this thread builds: a program, or (NULL) nothing. */
static void settle(struct engine_opencl *o, const struct opencl_wanted *const *wanted, uint32_t count,
                   struct opencl_program *built)
{
    pthread_mutex_lock(&o->programs.lock);
    if (built) {
        built->next = o->programs.first;
        o->programs.first = built;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct opencl_entry *entry = wanted[i]->entry;

        entry->program = built;
        entry->number = i;
        entry->state = built ? ENTRY_BUILT : ENTRY_NEW;
    }
    pthread_cond_broadcast(&o->programs.changed);
    pthread_mutex_unlock(&o->programs.lock);
}

/* ---- asking whether to go on ---- */

/* A call of opencl_programs_build, on whose thread the progress callback is called. */
struct request {
    struct engine_opencl *o;
    const struct opencl_wanted *wanted;
    uint32_t count;
    struct opencl_progress progress;
};

/* Returns whether to stop.  The lock is not held: the program's callback runs. */
static bool is_cancelled(const struct request *r)
{
    uint32_t done = 0;

    if (!r->progress.cancelled)
        return false;
    pthread_mutex_lock(&r->o->programs.lock);
    for (uint32_t i = 0; i < r->count; i++)
        done += r->wanted[i].entry->state == ENTRY_BUILT;
    pthread_mutex_unlock(&r->o->programs.lock);
    return r->progress.cancelled(r->progress.user, done, r->count);
}

/* Waits until the table of programs changes, or it is time to ask.  The lock is held, but not while the thread waits. */
static void await_change(struct engine_opencl *o)
{
    const struct timespec until = steady_time_after(ASK_MS * 1000000u);

    pthread_cond_timedwait(&o->programs.changed, &o->programs.lock, &until);
}

/* ---- building many ---- */

struct team {
    const struct request *request;
    const struct opencl_wanted *const *wanted; /* those that this call builds */
    uint32_t count;
    struct job *jobs;
    uint32_t job_count;
    uint32_t helpers; /* threads that are at work besides the caller's: programs.lock */
    atomic_uint next;
    atomic_bool failed;   /* or was cancelled */
    pthread_mutex_t lock; /* of e */
    struct error *e;
};

static void team_fail(struct team *t, const struct error *why)
{
    pthread_mutex_lock(&t->lock);
    if (!atomic_exchange(&t->failed, true))
        error_set(t->e, why->status, "%s", why->message);
    pthread_mutex_unlock(&t->lock);
}

/* Returns whether nothing more is to be built; asks, on the caller's thread. */
static bool team_stops(struct team *t, bool asks)
{
    const struct error cancelled = {.status = WNNStatus_OperationError, .message = "the build was cancelled"};

    if (asks && !atomic_load(&t->failed) && is_cancelled(t->request))
        team_fail(t, &cancelled);
    return atomic_load(&t->failed);
}

/* Builds the wanted kernels as one program.  If the compiler refuses it, each is built alone, to find out which it is. */
static void build_together(struct team *t, bool asks, const struct opencl_wanted *const *wanted, uint32_t count)
{
    struct engine_opencl *o = t->request->o;
    struct error e = {.status = WNNStatus_Success};
    struct opencl_program *built = NULL;
    bool refused = false;

    if (!team_stops(t, asks) && !(built = build(o, wanted, count, &refused, &e)) && count > 1 && refused) {
        for (uint32_t i = 0; i < count; i++)
            build_together(t, asks, wanted + i, 1);
        return;
    }
    settle(o, wanted, count, built);
    if (e.status)
        team_fail(t, &e);
}

static void build_jobs(struct team *t, bool asks)
{
    for (uint32_t i; (i = atomic_fetch_add(&t->next, 1)) < t->job_count;)
        build_together(t, asks, t->wanted + t->jobs[i].first, t->jobs[i].count);
}

static void *helper_main(void *user)
{
    struct team *t = user;
    struct engine_opencl *o = t->request->o;

    build_jobs(t, false);
    pthread_mutex_lock(&o->programs.lock);
    t->helpers--;
    pthread_cond_broadcast(&o->programs.changed);
    pthread_mutex_unlock(&o->programs.lock);
    return NULL;
}

/* Waits for the other threads.  What they have begun is built to its end. */
static void await_helpers(struct team *t)
{
    struct engine_opencl *o = t->request->o;

    pthread_mutex_lock(&o->programs.lock);
    while (t->helpers) {
        await_change(o);
        pthread_mutex_unlock(&o->programs.lock);
        team_stops(t, true);
        pthread_mutex_lock(&o->programs.lock);
    }
    pthread_mutex_unlock(&o->programs.lock);
}

/* Cuts the kernels into programs of about the same number of them.  Whole programs stay what they are. */
static void make_jobs(struct team *t, uint32_t processors)
{
    uint32_t kernels = 0, programs = 1, most;

    for (uint32_t i = 0; i < t->count; i++)
        kernels += !t->wanted[i]->whole;
    while (programs < BUILDERS_MAX && programs < processors && programs * KERNELS_LEAST < kernels)
        programs++;
    most = ceil_div(kernels, programs);
    most = most > KERNELS_MOST ? KERNELS_MOST : most;
    for (uint32_t i = 0; i < t->count; i++) {
        struct job *last = t->job_count ? &t->jobs[t->job_count - 1] : NULL;

        if (last && !t->wanted[i]->whole && !t->wanted[last->first]->whole && last->count < most)
            last->count++;
        else
            t->jobs[t->job_count++] = (struct job){i, 1};
    }
}

/* Takes the entries that no thread has begun to build, each once.  Returns how many they are. */
static uint32_t claim(struct engine_opencl *o, uint32_t count, struct opencl_wanted *wanted,
                      const struct opencl_wanted **claimed)
{
    uint32_t n = 0;

    pthread_mutex_lock(&o->programs.lock);
    for (uint32_t i = 0; i < count; i++)
        if (wanted[i].entry->state == ENTRY_NEW) {
            wanted[i].entry->state = ENTRY_BUILDING;
            claimed[n++] = &wanted[i];
        }
    pthread_mutex_unlock(&o->programs.lock);
    return n;
}

static void leave_out(struct team *t, uint32_t missing)
{
    pthread_mutex_lock(&t->request->o->programs.lock);
    t->helpers -= missing;
    pthread_mutex_unlock(&t->request->o->programs.lock);
}

static bool build_claimed(struct team *t)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t processors = online > 1 ? (uint32_t)online : 1;
    pthread_t threads[BUILDERS_MAX];
    uint32_t started = 0;

    make_jobs(t, processors);
    if (!team_stops(t, true)) { /* before anybody begins */
        t->helpers = t->job_count < processors ? t->job_count : processors;
        t->helpers = (t->helpers < BUILDERS_MAX ? t->helpers : BUILDERS_MAX) - 1;
    }

    const uint32_t helpers = t->helpers;
    while (started < helpers && own_thread_start(&threads[started], NULL, helper_main, t))
        started++;
    leave_out(t, helpers - started);
    build_jobs(t, true);
    await_helpers(t);
    while (started)
        pthread_join(threads[--started], NULL);
    return !atomic_load(&t->failed);
}

/*
 * Waits for other threads' work.  *built says whether all is built; if not, some of it is to be tried again.  Returns false if
 * it was cancelled.
 */
static bool await_all(const struct request *r, struct opencl_wanted *wanted, bool *built)
{
    struct engine_opencl *o = r->o;
    bool cancelled = false;

    *built = true;
    pthread_mutex_lock(&o->programs.lock);
    for (uint32_t i = 0; i < r->count && !cancelled; i++) {
        const struct opencl_entry *entry = wanted[i].entry;

        while (entry->state == ENTRY_BUILDING && !cancelled) {
            await_change(o);
            pthread_mutex_unlock(&o->programs.lock);
            cancelled = is_cancelled(r);
            pthread_mutex_lock(&o->programs.lock);
        }
        *built = *built && entry->state == ENTRY_BUILT;
        wanted[i].program = entry->program;
        if (!wanted[i].whole)
            wanted[i].number = entry->number;
    }
    pthread_mutex_unlock(&o->programs.lock);
    return !cancelled;
}

bool opencl_programs_build(struct engine_opencl *o, uint32_t count, struct opencl_wanted *wanted,
                           struct opencl_progress progress, struct error *e)
{
    const struct request r = {o, wanted, count, progress};
    const struct opencl_wanted **claimed = calloc((size_t)count + 1, sizeof *claimed);
    struct job *jobs = calloc((size_t)count + 1, sizeof *jobs);
    bool good = claimed && jobs, done = false;

    for (uint32_t i = 0; good && i < count; i++)
        good = (wanted[i].entry = find(o, wanted[i].text)) != NULL;
    if (!good)
        error_out_of_memory(e);
    while (good && !done) {
        struct team t = {.request = &r, .wanted = claimed, .jobs = jobs, .e = e};

        if (pthread_mutex_init(&t.lock, NULL) != 0) {
            good = error_out_of_memory(e);
            break;
        }
        t.count = claim(o, count, wanted, claimed);
        good = !t.count || build_claimed(&t);
        pthread_mutex_destroy(&t.lock);
        if (good && !await_all(&r, wanted, &done))
            good = error_set(e, WNNStatus_OperationError, "the build was cancelled");
    }
    free(claimed);
    free(jobs);
    return good;
}

void opencl_programs_free(struct engine_opencl *o)
{
    for (uint32_t i = 0; i < o->programs.entries.capacity; i++)
        free((void *)o->programs.entries.entries[i].item);
    free(o->programs.entries.entries);
    for (struct opencl_program *p = o->programs.first, *next; p; p = next) {
        next = p->next;
        o->api->ReleaseProgram(p->program);
        free(p->text);
        free(p);
    }
}
