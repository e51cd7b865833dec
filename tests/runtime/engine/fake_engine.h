/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An engine without code: tests give the function that "computes", so that contexts, timelines, futures and the rules about
 * them can be tested without passes, LLVM and oneDNN, and held at any moment.
 */
#pragma once

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "runtime/api/context.h"
#include "runtime/api/runtime.h"
#include "support/test.h"

/* ---- gates ---- */

/** Lets the test hold work and see that it has come as far. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    int arrived;
};

#define GATE_INIT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0}

static inline void gate_pass(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->arrived++;
    pthread_cond_broadcast(&g->changed);
    while (!g->open)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static inline void gate_wait_arrived(struct gate *g, int count)
{
    pthread_mutex_lock(&g->lock);
    while (g->arrived < count)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static inline void gate_open(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

/* ---- the engine ---- */

struct fake_buffer {
    struct engine_buffer base;
    unsigned char data[];
};

static inline unsigned char *fake_data(struct engine_buffer *b)
{
    return ((struct fake_buffer *)b)->data;
}

struct executable {
    bool (*body)(void *user, unsigned char *const *inputs, unsigned char *const *outputs);
    void *user;
    uint32_t input_count, output_count;
    bool brief;
};

static atomic_int fake_buffers, fake_executables; /* alive */
static struct gate *fake_read_gate;               /* if set, passed inside every buffer_read */
static atomic_bool fake_out_of_memory;
static atomic_bool fake_write_fails;

static void fake_free(struct engine *en)
{
    free(en);
}

static struct engine_buffer *fake_buffer_create(struct engine *en, size_t bytes, struct error *e)
{
    struct fake_buffer *b = atomic_load(&fake_out_of_memory) ? NULL : calloc(1, sizeof *b + bytes);
    if (!b) {
        error_set(e, WNNStatus_UnknownError, "there is no memory for %zu bytes", bytes);
        return NULL;
    }
    b->base.bytes = bytes;
    atomic_fetch_add(&fake_buffers, 1);
    return &b->base;
}

static void fake_buffer_free(struct engine *en, struct engine_buffer *b)
{
    memset(fake_data(b), 0xDD, b->bytes);
    free(b);
    atomic_fetch_sub(&fake_buffers, 1);
}

static bool fake_buffer_write(struct engine *en, struct engine_buffer *b, size_t offset, const void *data, size_t bytes,
                              struct error *e)
{
    memcpy(fake_data(b) + offset, data, bytes);
    return !atomic_load(&fake_write_fails) || error_set(e, WNNStatus_UnknownError, "the fake engine failed");
}

static bool fake_buffer_read(struct engine *en, struct engine_buffer *b, size_t offset, void *data, size_t bytes,
                             struct error *e)
{
    if (fake_read_gate)
        gate_pass(fake_read_gate);
    memcpy(data, fake_data(b) + offset, bytes);
    return true;
}

static void fake_unload(struct executable *x)
{
    free(x);
    atomic_fetch_sub(&fake_executables, 1);
}

static bool fake_run(struct executable *x, const struct engine_binding *inputs, const struct engine_binding *outputs,
                     const struct engine_stop *stop, struct error *e)
{
    unsigned char *in[8], *out[8];

    for (uint32_t i = 0; i < x->input_count; i++)
        in[i] = inputs[i].buffer ? fake_data(inputs[i].buffer) : inputs[i].host;
    for (uint32_t i = 0; i < x->output_count; i++)
        out[i] = outputs[i].buffer ? fake_data(outputs[i].buffer) : outputs[i].host;
    return x->body(x->user, in, out) || error_set(e, WNNStatus_OperationError, "the fake engine failed");
}

static bool fake_is_brief(const struct executable *x)
{
    return x->brief;
}

static const struct engine_functions fake_functions = {
    .name = "fake",
    .free = fake_free,
    .host_memory = true,
    .buffer_create = fake_buffer_create,
    .buffer_free = fake_buffer_free,
    .buffer_write = fake_buffer_write,
    .buffer_read = fake_buffer_read,
    .unload = fake_unload,
    .run = fake_run,
    .optional = {.is_brief = fake_is_brief},
};

static inline struct engine *fake_create(uint32_t thread_count, const struct debug_options *debug, struct error *e)
{
    struct engine *en = calloc(1, sizeof *en);

    assert_non_null(en);
    *en = (struct engine){.functions = &fake_functions, .debug = debug, .thread_count = 1};
    return en;
}

static inline WNNContext fake_context(WNNContextOptions const *options)
{
    WNNContext made;

    assert_int_equal(context_create(options, fake_create, &made), WNNStatus_Success);
    return made;
}

/** The context of a test: TEST_EACH(create_fake_context, release_fake_context). */
static WNNContext context;

static inline int create_fake_context(__attribute__((unused)) void **state)
{
    context = fake_context(NULL);
    return 0;
}

/** Returns a graph with inputs "a", "b", ... and outputs "x", "y", ..., all float32[4]. */
static inline WNNGraph fake_graph(WNNContext context, uint32_t input_count, uint32_t output_count,
                                  bool (*body)(void *user, unsigned char *const *inputs, unsigned char *const *outputs),
                                  void *user)
{
    struct tensor_type type = {.type = WNNOperandDataType_Float32, .rank = 1, .dims = {4}};
    OWNED(graph) struct graph *g = graph_create();
    struct value *inputs[8];
    struct error e;

    error_clear(&e);
    for (uint32_t i = 0; i < input_count; i++)
        inputs[i] = graph_add_input(g, (char[]){(char)('a' + i)}, 1, &type);
    for (uint32_t i = 0; i < output_count; i++) {
        /* Every output depends on every input, so that all are reachable. */
        struct value *v = inputs[0];
        for (uint32_t j = 0; j < input_count; j++) {
            struct node *n = node_create(g, NULL, OP_ADD, "", 2, (struct value *[]){v, inputs[j]}, NULL, NULL, &e);
            assert_non_null(n);
            v = n->results[0];
        }
        assert_true(graph_add_output(g, (char[]){(char)('x' + i)}, 1, v));
    }
    WNNGraph graph = graph_create_object(context, g, &e);
    assert_non_null(graph);
    graph->executable = calloc(1, sizeof *graph->executable);
    assert_non_null(graph->executable);
    *graph->executable = (struct executable){body, user, input_count, output_count, false};
    atomic_fetch_add(&fake_executables, 1);
    assert_true(graph_publish(graph));
    wnnContextAddRef(context);
    graph->holds_context = true;
    return graph;
}

/** x = 2 * a, element by element. */
static inline bool fake_double(void *user, unsigned char *const *inputs, unsigned char *const *outputs)
{
    float v[4];

    if (user)
        gate_pass(user);
    memcpy(v, inputs[0], sizeof v);
    for (int i = 0; i < 4; i++)
        v[i] *= 2;
    memcpy(outputs[0], v, sizeof v);
    return true;
}

static inline WNNTensor fake_tensor(WNNContext context, bool readable, bool writable)
{
    WNNTensorDescriptor d = {.dataType = WNNOperandDataType_Float32,
                             .rank = 1,
                             .shape = (uint32_t[]){4},
                             .readable = readable,
                             .writable = writable};
    WNNTensor t;

    assert_int_equal(wnnContextCreateTensor(context, &d, &t), WNNStatus_Success);
    return t;
}

static inline int fake_nothing_left(void **state)
{
    /* The timeline's thread may be the one that frees the last things. */
    for (int i = 0; i < 10000 && (atomic_load(&fake_buffers) || atomic_load(&fake_executables)); i++)
        usleep(1000);
    assert_int_equal(atomic_load(&fake_buffers), 0);
    assert_int_equal(atomic_load(&fake_executables), 0);
    fake_read_gate = NULL;
    atomic_store(&fake_out_of_memory, false);
    atomic_store(&fake_write_fails, false);
    return 0;
}

/** Releases the context, and checks that nothing is left. */
static inline int release_fake_context(void **state)
{
    wnnContextRelease(context);
    return fake_nothing_left(state);
}

/** The last message must hold all of these (the list ends with NULL). */
static inline void assert_message_has(const char *const *parts)
{
    WNNStringView view = wnnGetLastErrorMessage();
    char text[1100];

    snprintf(text, sizeof text, "%.*s", (int)view.length, view.data);
    for (; *parts; parts++)
        if (!strstr(text, *parts))
            fail_msg("\"%s\" is not in \"%s\"", *parts, text);
}

#define MESSAGE_HAS(...) assert_message_has((const char *const[]){__VA_ARGS__, NULL})
/* A call fails with that status, and the message has all of these. */
#define REFUSED(call, status, ...) (assert_int_equal(call, status), MESSAGE_HAS(__VA_ARGS__))
