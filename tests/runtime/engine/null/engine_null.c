/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements the engine, its memory and its thread; then executables.
 */
#include "runtime/engine/null/engine_null.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ir/support/table.h"
#include "runtime/program/invocation.h"
#include "support/kernel_text.h"

/*
 * An address is the number of a buffer above an offset in it.  Numbers begin with 1, so that 0 is the address of nothing, and
 * no address is one of the host's.
 */
enum { OFFSET_BITS = 40, BUFFERS_MAX = 1 << 20, STEP_TENSORS_MAX = 256 };

struct null_buffer {
    struct engine_buffer base;
    void *data;
};

struct submission {
    struct submission *next;
    struct executable *executable;
    const struct engine_binding *inputs, *outputs;
    const struct engine_stop *stop;
    engine_done done;
    void *user;
};

struct engine_null {
    struct engine base;
    struct target target;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct null_buffer **buffers; /* by number - 1; NULL: free */
    uint32_t buffer_count;
    size_t buffer_room;
    pthread_t thread;
    bool held, stop;
    struct submission *first, *last;
    uint32_t submissions;
};

static struct engine_null *null_of(struct engine *en)
{
    return (struct engine_null *)en;
}

/* ---- memory ---- */

/* Returns the number for a buffer, from 1 on, or 0 if there is none left. */
static engine_address number_buffer(struct engine_null *n, struct null_buffer *b)
{
    uint32_t i = 0;

    pthread_mutex_lock(&n->lock);
    while (i < n->buffer_count && n->buffers[i])
        i++;
    const bool good = i < n->buffer_count || (i < BUFFERS_MAX && array_reserve(NULL, &n->buffers, &n->buffer_room, i + 1,
                                                                               sizeof(struct null_buffer *)));
    if (good) {
        n->buffers[i] = b;
        n->buffer_count += i == n->buffer_count;
    }
    pthread_mutex_unlock(&n->lock);
    return good ? i + 1 : 0;
}

static struct engine_buffer *null_buffer_create(struct engine *en, size_t bytes, struct error *e)
{
    struct null_buffer *b = calloc(1, sizeof *b);
    const engine_address number = b && (b->data = calloc(1, bytes + 1)) ? number_buffer(null_of(en), b) : 0;

    if (number) {
        b->base = (struct engine_buffer){number << OFFSET_BITS, bytes, 0};
        return &b->base;
    }
    if (b)
        free(b->data);
    free(b);
    return error_null(e, WNNStatus_UnknownError, "there is no memory for %zu bytes", bytes);
}

static void null_buffer_free(struct engine *en, struct engine_buffer *buffer)
{
    struct engine_null *n = null_of(en);
    struct null_buffer *b = (struct null_buffer *)buffer;

    pthread_mutex_lock(&n->lock);
    n->buffers[(buffer->address >> OFFSET_BITS) - 1] = NULL;
    pthread_mutex_unlock(&n->lock);
    free(b->data);
    free(b);
}

/* Returns the bytes at an address, or NULL if there are not as many in a buffer. */
static void *resolve(struct engine_null *n, engine_address a, size_t bytes)
{
    size_t number = a >> OFFSET_BITS, offset = a & (((engine_address)1 << OFFSET_BITS) - 1);
    struct null_buffer *b = NULL;

    pthread_mutex_lock(&n->lock);
    if (number > 0 && number <= n->buffer_count)
        b = n->buffers[number - 1];
    pthread_mutex_unlock(&n->lock);
    return b && offset <= b->base.bytes && bytes <= b->base.bytes - offset ? (char *)b->data + offset : NULL;
}

static bool null_buffer_write(struct engine *en, struct engine_buffer *b, size_t offset, const void *data, size_t bytes,
                              struct error *e)
{
    void *to = resolve(null_of(en), b->address + offset, bytes);

    if (to && bytes)
        memcpy(to, data, bytes);
    return to || error_set(e, WNNStatus_UnknownError, "the null engine has no such buffer");
}

static bool null_buffer_read(struct engine *en, struct engine_buffer *b, size_t offset, void *data, size_t bytes,
                             struct error *e)
{
    const void *from = resolve(null_of(en), b->address + offset, bytes);

    if (from && bytes)
        memcpy(data, from, bytes);
    return from || error_set(e, WNNStatus_UnknownError, "the null engine has no such buffer");
}

/* ---- executables ---- */

struct null_executable {
    struct executable base;
    struct kernel **kernels; /* by step */
};

static bool resolve_step(const struct invocation *i, uint32_t step, void **pointers)
{
    const struct executable *x = i->executable;
    const struct executable_step *s = &x->steps[step];

    for (uint32_t k = 0; k < s->count; k++) {
        pointers[k] = resolve(null_of(x->engine), i->addresses[s->first + k], (size_t)x->locations[s->first + k].bytes);
        if (!pointers[k])
            return false;
    }
    return true;
}

static bool run_kernel(struct invocation *i, uint32_t step)
{
    const struct null_executable *x = (const struct null_executable *)i->executable;
    void *pointers[STEP_TENSORS_MAX];

    return resolve_step(i, step, pointers) && kernel_interpret(x->kernels[step], pointers);
}

static bool run_copy(struct invocation *i, uint32_t step)
{
    void *pointers[STEP_TENSORS_MAX];

    if (!resolve_step(i, step, pointers))
        return false;
    memmove(pointers[1], pointers[0], i->executable->steps[step].copy_bytes);
    return true;
}

static const struct step_functions null_steps = {.run = {[STEP_KERNEL] = run_kernel, [STEP_COPY] = run_copy}};

static void null_unload(struct executable *executable)
{
    struct null_executable *x = (struct null_executable *)executable;
    uint32_t count = x->kernels ? x->base.step_count : 0;

    executable_clear(&x->base);
    for (uint32_t i = 0; i < count; i++)
        if (x->kernels[i])
            kernel_free(x->kernels[i]);
    free(x->kernels);
    free(x);
}

static bool null_takes(const struct program *p)
{
    for (uint32_t i = 0; i < p->step_count; i++)
        if (p->steps[i].kind == STEP_LIBRARY || p->steps[i].location_count > STEP_TENSORS_MAX)
            return false;
    return true;
}

static struct executable *null_load(struct engine *en, struct program *p, struct error *e)
{
    struct null_executable *x = calloc(1, sizeof *x);

    if (!null_takes(p))
        error_set(e, WNNStatus_NotSupportedError, "the null engine has no library, and takes no kernels of so many tensors");
    else if (!x || !executable_init(&x->base, en, &null_steps, p, e))
        error_out_of_memory(e);
    else if ((x->kernels = calloc((size_t)p->step_count + 1, sizeof(struct kernel *)))) {
        for (uint32_t i = 0; i < p->step_count; i++) {
            x->kernels[i] = p->steps[i].kernel;
            p->steps[i].kernel = NULL;
        }
        executable_take(&x->base, p);
        return &x->base;
    }
    if (x)
        null_unload(&x->base);
    return error_null_memory(e); /* unless it is known why */
}

/* ---- submissions ---- */

static void *null_main(void *user)
{
    struct engine_null *n = user;

    pthread_mutex_lock(&n->lock);
    for (;;) {
        while (!n->stop && (n->held || !n->first))
            pthread_cond_wait(&n->changed, &n->lock);
        struct submission *s = n->first;
        if (!s)
            break;
        n->first = s->next;
        pthread_mutex_unlock(&n->lock);

        struct error e = {.status = WNNStatus_Success};
        bool ok = executable_run(s->executable, s->inputs, s->outputs, s->stop, &e);

        s->done(s->user, ok, &e);
        free(s);
        pthread_mutex_lock(&n->lock);
    }
    pthread_mutex_unlock(&n->lock);
    return NULL;
}

static bool null_submit(struct executable *x, const struct engine_binding *inputs, const struct engine_binding *outputs,
                        const struct engine_stop *stop, engine_done done, void *user, struct error *e)
{
    struct engine_null *n = null_of(x->engine);
    struct submission *s = malloc(sizeof *s);

    if (!s)
        return error_out_of_memory(e);
    *s = (struct submission){NULL, x, inputs, outputs, stop, done, user};
    pthread_mutex_lock(&n->lock);
    if (n->first)
        n->last->next = s;
    else
        n->first = s;
    n->last = s;
    n->submissions++;
    pthread_cond_signal(&n->changed);
    pthread_mutex_unlock(&n->lock);
    return true;
}

uint32_t engine_null_submissions(struct engine *en)
{
    struct engine_null *n = null_of(en);

    pthread_mutex_lock(&n->lock);
    uint32_t count = n->submissions;
    pthread_mutex_unlock(&n->lock);
    return count;
}

void engine_null_hold(struct engine *en, bool hold)
{
    struct engine_null *n = null_of(en);

    pthread_mutex_lock(&n->lock);
    n->held = hold;
    pthread_cond_signal(&n->changed);
    pthread_mutex_unlock(&n->lock);
}

/* ---- the engine ---- */

static void null_free(struct engine *en)
{
    struct engine_null *n = null_of(en);

    pthread_mutex_lock(&n->lock);
    n->stop = true;
    pthread_cond_signal(&n->changed);
    pthread_mutex_unlock(&n->lock);
    pthread_join(n->thread, NULL);
    pthread_cond_destroy(&n->changed);
    pthread_mutex_destroy(&n->lock);
    free(n->buffers);
    free(n);
}

static const struct target *null_target(struct engine *en, struct error *e)
{
    return &null_of(en)->target;
}

static const struct engine_functions null_functions = {
    .name = "null",
    .free = null_free,
    .target = null_target,
    .buffer_create = null_buffer_create,
    .buffer_free = null_buffer_free,
    .buffer_write = null_buffer_write,
    .buffer_read = null_buffer_read,
    .load = null_load,
    .unload = null_unload,
    .run = executable_run,
    .optional = {.submit = null_submit},
};

struct engine *engine_null_create(uint32_t thread_count, const struct debug_options *debug, struct error *e)
{
    struct engine_null *n = calloc(1, sizeof *n);

    if (!n || pthread_mutex_init(&n->lock, NULL) != 0 || pthread_cond_init(&n->changed, NULL) != 0) {
        free(n);
        return error_null_memory(e);
    }
    n->base = (struct engine){
        .functions = &null_functions, .debug = debug, .thread_count = 1, .exact = "the engine has float32 only"};
    /* This is the least that a machine can be: passes ask for nothing more. */
    n->target = (struct target){.isa = {.vector_bits = 128, .registers = 16}, .thread_count = 1, .cache_bytes = 1 << 20};
    if (pthread_create(&n->thread, NULL, null_main, n) == 0)
        return &n->base;
    free(n);
    return error_null_memory(e);
}
