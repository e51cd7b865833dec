/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements WNNContext: creation, loss, and the tasks of its timeline.
 *
 * A context has an engine, which is started lazily, and a timeline, whose thread starts with the first task, or which has none
 * where the application brings a parallel-for.
 */
#include "runtime/api/context.h"
#include "ir/support/struct_size.h"
#include "ir/support/trace.h"
#include "runtime/api/engine_choice.h"
#include "runtime/api/runtime.h"
#include "runtime/host/own_thread.h"
#include "runtime/host/threads.h"
#include "runtime/program/memory_limit.h"

#include <stdlib.h>

/* This is more threads than any machine has cores: asking for more is surely a mistake, and libgomp would try. */
enum { THREAD_COUNT_MAX = 1024 };

/* ---- creation ---- */

/* Reads the options of whatever version the program was compiled with as this one has them. */
static bool options_read(WNNContextOptions *out, const WNNContextOptions *given, struct error *e)
{
    static const WNNContextOptions defaults = WNN_CONTEXT_OPTIONS_INIT;
    static const struct known_struct known = {sizeof defaults, STRUCT_FIRST_SIZE(WNNContextOptions, cache), &defaults,
                                              "WNN_CONTEXT_OPTIONS_INIT"};
    char text[300];

    if (!given) {
        *out = defaults;
        return true;
    }
    const char *wrong = struct_read(out, given, &known, text, sizeof text);
    if (wrong)
        return error_set(e, WNNStatus_TypeError, "createContext: %s", wrong);
    if (!out->structSize && !out->accelerated)
        return error_set(e, WNNStatus_TypeError,
                         "createContext: accelerated is false in options without a structSize; begin with %s, which sets the "
                         "default",
                         known.init);
    return true;
}

static bool options_check(const WNNContextOptions *o, struct error *e)
{
    if (o->powerPreference != WNNPowerPreference_Default && o->powerPreference != WNNPowerPreference_HighPerformance &&
        o->powerPreference != WNNPowerPreference_LowPower)
        return error_set(e, WNNStatus_TypeError, "createContext: powerPreference is %d, not a value of the enumeration",
                         (int)o->powerPreference);
    if (o->precision < WNNPrecision_Float32 || o->precision > WNNPrecision_Int8)
        return error_set(e, WNNStatus_TypeError, "createContext: precision is %d, not a value of the enumeration",
                         (int)o->precision);
    if (o->threadCount > THREAD_COUNT_MAX)
        return error_set(e, WNNStatus_TypeError, "createContext: threadCount is %u, the largest supported is %d",
                         o->threadCount, THREAD_COUNT_MAX);
    if (!o->parallel)
        return true;
    if (!o->parallel->run)
        return error_set(e, WNNStatus_TypeError,
                         "createContext: parallel->run is NULL; leave parallel out to use threads of the library");
    if (o->parallel->threads == 0 || o->parallel->threads > THREAD_COUNT_MAX)
        return error_set(e, WNNStatus_TypeError, "createContext: parallel->threads is %u, not from 1 to %d",
                         o->parallel->threads, THREAD_COUNT_MAX);
    return o->engine != WNNEngine_Gpu ||
           error_set(e, WNNStatus_TypeError,
                     "createContext: parallel is for the processor, but engine is WNNEngine_Gpu; leave one of them out");
}

static struct engine *create_engine(const WNNContextOptions *o, engine_create_function create,
                                    const struct debug_options *debug, struct error *e)
{
    const uint32_t threads = o->threadCount ? o->threadCount
                             : o->parallel  ? o->parallel->threads
                                            : threads_default_count(o->ignoreEnvironment);

    return create ? create(threads, debug, e) : engine_choose(o, threads, debug, e);
}

WNNStatus context_create(WNNContextOptions const *options, engine_create_function create, WNNContext *context)
{
    WNNContextOptions read, *o = &read;
    struct error e = {0};

    if (!context)
        return error_fail(&e, WNNStatus_TypeError, "createContext: context is NULL");
    *context = NULL;
    if (!options_read(&read, options, &e) || !options_check(o, &e))
        return error_publish(&e);

    WNNContext c = calloc(1, sizeof *c);
    if (!c || pthread_mutex_init(&c->lock, NULL) != 0 || !steady_condition_init(&c->changed)) {
        free(c); /* locks hold nothing, nor do they fail where threads exist at all */
        return error_fail_memory(&e);
    }
    atomic_init(&c->references, 1);
    atomic_init(&c->lost, false);
    atomic_flag_clear(&c->told);
    c->next_id = 1;
    c->power_preference = o->powerPreference;
    c->budget = o->budget;
    c->knows_draft = o->draftDataTypes;
    c->lost_info = o->lost;
    if (debug_init(&c->debug, o->ignoreEnvironment, o->debug.data, view_length(o->debug), &e)) {
        static atomic_flag helped = ATOMIC_FLAG_INIT;

        if (c->debug.flags & DEBUG_HELP && !atomic_flag_test_and_set(&helped))
            debug_print_switches(stderr);
#if defined(WEBNN_SANITIZE)
        c->debug.flags |= DEBUG_SANITIZE; /* generated code is part of what such a build checks */
#endif
        c->timeline = timeline_create(o->ignoreEnvironment, o->parallel != NULL);
        if (!c->timeline)
            error_out_of_memory(&e);
        else if (!c->debug.trace_file || (c->debug.trace = trace_open(c->debug.trace_file, &e)))
            c->engine = create_engine(o, create, &c->debug, &e);
    }
    if (!c->engine) {
        wnnContextRelease(c);
        return error_publish(&e);
    }
    c->engine->precision = o->precision;
    c->engine->deterministic = o->deterministic;
    c->engine->memory_limit = o->memoryLimit;
    if (o->parallel) {
        c->parallel = *o->parallel;
        c->engine->parallel = &c->parallel;
    }
    c->computed = o->computed;
    c->log = o->log;
    if (*c->engine->warning.message)
        context_log(c, WNNLogLevel_Warning, "%s", c->engine->warning.message);
    *context = c;
    return WNNStatus_Success;
}

WNNStatus wnnCreateContext(WNNContextOptions const *options, WNNContext *context)
{
    return context_create(options, NULL, context);
}

void wnnContextAddRef(WNNContext context)
{
    if (context)
        atomic_fetch_add_explicit(&context->references, 1, memory_order_relaxed);
}

void wnnContextRelease(WNNContext context)
{
    if (!context || atomic_fetch_sub_explicit(&context->references, 1, memory_order_acq_rel) != 1)
        return;
    struct error e = {0};
    futures_abandon(context);
    timeline_free(context->timeline);
    if (context->engine)
        context->engine->functions->free(context->engine);
    if (!trace_close(context->debug.trace, &e)) {
        fprintf(stderr, "%s\n", e.message); /* as dumps do */
        error_publish(&e);
    }
    debug_free(&context->debug);
    free(context->futures.entries);
    pthread_cond_destroy(&context->changed);
    pthread_mutex_destroy(&context->lock);
    free(context);
}

bool wnnContextGetAccelerated(WNNContext context)
{
    return context && context->engine->accelerated;
}

bool wnnContextGetDevice(WNNContext context, WNNDeviceInfo *device)
{
    if (!device)
        return false;
    *device = (WNNDeviceInfo){.kind = WNNDeviceKind_Other};
    if (!context || !context->engine->functions->optional.describe)
        return false;
    context->engine->functions->optional.describe(context->engine, device);
    return true;
}

WNNPowerPreference wnnContextGetPowerPreference(WNNContext context)
{
    return context ? context->power_preference : WNNPowerPreference_Default;
}

WNNBudget wnnContextGetBudget(WNNContext context)
{
    return context ? context->budget : (WNNBudget){0, 0};
}

WNNPrecision wnnContextGetPrecision(WNNContext context)
{
    return context ? context->engine->precision : WNNPrecision_Float32;
}

bool wnnContextGetDeterministic(WNNContext context)
{
    return context && context->engine->deterministic;
}

/* ---- messages ---- */

void context_log(WNNContext context, WNNLogLevel level, const char *format, ...)
{
    char text[1200];

    if (!context->log.callback)
        return;
    WITH_ARGUMENTS(format, vsnprintf(text, sizeof text, format, arguments));
    context->log.callback(level, (WNNStringView){text, strlen(text)}, context->log.userdata1, context->log.userdata2);
}

/* ---- loss ---- */

bool wnnContextIsLost(WNNContext context)
{
    return context && atomic_load(&context->lost);
}

enum { GARBAGE_MAX = 64 };

/* Collects memory of destroyed objects, which is freed in batches so that the lock is not held meanwhile. */
struct garbage {
    uint32_t count;
    struct {
        struct engine_buffer *buffer;
        struct constant *constant;
        struct executable *executable;
    } items[GARBAGE_MAX];
};

static void garbage_free(struct engine *en, struct garbage *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->items[i].buffer)
            memory_buffer_free(en, g->items[i].buffer);
        if (g->items[i].executable)
            en->functions->unload(g->items[i].executable);
        constant_release(g->items[i].constant);
    }
    memset(g, 0, sizeof *g);
}

/* Destroys tensors and graphs until none is left or the batch is full.  Returns false if there is more to do. */
static bool context_destroy_some(WNNContext context, const struct error *e, struct after *after, struct garbage *garbage)
{
    for (WNNGraph g = context->first_graph; g; g = g->next) {
        if (g->destroyed)
            continue;
        if (garbage->count == GARBAGE_MAX)
            return false;
        garbage->items[garbage->count++].executable = graph_destroy_locked(g);
    }
    for (WNNTensor t = context->first_tensor; t; t = t->next) {
        if (t->destroyed)
            continue;
        if (garbage->count == GARBAGE_MAX)
            return false;
        tensor_destroy_locked(t, e, after, &garbage->items[garbage->count].buffer, &garbage->items[garbage->count].constant);
        garbage->count++;
    }
    return true;
}

static void lose(WNNContext context, const char *message, WNNLogLevel level)
{
    struct after after = {0};
    struct garbage garbage = {0};
    const struct error *e = &context->lost_error;
    bool complete = false;

    pthread_mutex_lock(&context->lock);
    if (atomic_load(&context->lost)) {
        pthread_mutex_unlock(&context->lock);
        return;
    }
    error_set(&context->lost_error, WNNStatus_InvalidStateError, "%s", message);
    atomic_store(&context->lost, true);
    after.lost = context->lost_info.mode == WNNCallbackMode_AllowSpontaneous;
    context->lost_undelivered = !after.lost; /* there is no future to wait for: wnnContextProcessEvents delivers it */
    futures_cancel_all(context, e, &after);
    /* Nothing new can come: objects are made under the lock, and refused from now on. */
    while (!complete) {
        complete = context_destroy_some(context, e, &after, &garbage);
        pthread_mutex_unlock(&context->lock);
        garbage_free(context->engine, &garbage);
        pthread_mutex_lock(&context->lock);
    }
    pthread_mutex_unlock(&context->lock);
    context_log(context, level, "%s", message);
    after_run(context, &after);
}

void context_lose(WNNContext context, const char *message)
{
    lose(context, message, WNNLogLevel_Error);
}

void context_check_engine(WNNContext context)
{
    const struct engine_functions *f = context->engine->functions;
    struct error why = {.status = WNNStatus_Success};
    char message[sizeof why.message + 32];

    if (!f->optional.is_lost || !f->optional.is_lost(context->engine, &why))
        return;
    snprintf(message, sizeof message, "the context was lost: %s", why.message);
    context_lose(context, message);
}

void wnnContextDestroy(WNNContext context)
{
    if (!context)
        return;
    wnnContextAddRef(context); /* callbacks may give back the last reference that the caller knows of */
    lose(context, "the context was destroyed", WNNLogLevel_Info);
    wnnContextRelease(context);
}

/* ---- tasks ---- */

/* Frees a task that has run or will never run, and gives back its context. */
static void context_task_free(struct context_task *t)
{
    WNNContext context = t->context;

    t->release(t);
    free(t);
    wnnContextRelease(context);
}

static void context_task_run(struct task *task)
{
    struct context_task *t = (struct context_task *)task;

    t->run(t);
    if (!t->suspended) /* which may be resumed already, but is finished by this thread */
        context_task_free(t);
}

static void context_task_finish(struct task *task)
{
    struct context_task *t = (struct context_task *)task;

    t->finish(t);
    context_task_free(t);
}

void context_suspend(struct context_task *t)
{
    t->suspended = true;
    timeline_suspend(t->context->timeline);
}

bool context_submit(WNNContext context, struct context_task *t, struct error *e)
{
    t->task.run = context_task_run;
    t->task.finish = context_task_finish;
    t->context = context;
    wnnContextAddRef(context);
    if (timeline_submit(context->timeline, &t->task))
        return true;
    context_task_free(t);
    return error_set(e, WNNStatus_UnknownError, "the thread of the context's timeline could not be started");
}

/* A task of a caller who waits. */
struct turn_task {
    struct context_task base;
    void (*run)(void *user);
    void *user;
    bool *done;
};

static void turn_run(struct context_task *base)
{
    struct turn_task *t = (struct turn_task *)base;
    WNNContext context = base->context;

    t->run(t->user);
    pthread_mutex_lock(&context->lock);
    *t->done = true;
    pthread_cond_broadcast(&context->changed);
    pthread_mutex_unlock(&context->lock);
}

static void turn_release(struct context_task *base)
{
    (void)base;
}

bool context_run_in_turn(WNNContext context, bool overlaps, void (*run)(void *user), void *user, struct error *e)
{
    struct turn_task *t = calloc(1, sizeof *t);
    bool done = false;

    if (!t)
        return error_out_of_memory(e);
    *t = (struct turn_task){{.run = turn_run, .release = turn_release, .task.overlaps = overlaps}, run, user, &done};
    if (!context_submit(context, &t->base, e))
        return false;
    pthread_mutex_lock(&context->lock);
    while (!done)
        context_wait(context, NULL);
    pthread_mutex_unlock(&context->lock);
    return true;
}

/* ---- support limits ---- */

/* Returns a row's set, with "same type as input i" resolved. */
static dtype_set row_types(const struct op_info *info, const struct operand_info *operand)
{
    dtype_set types = operand->types;

    for (int steps = 0; types & DT_AS_FLAG && steps < OP_OPERANDS_MAX; steps++)
        types = info->ins[types & ~DT_AS_FLAG].types;
    return types;
}

bool runtime_knows_draft(WNNContext context)
{
    return context && context->knows_draft;
}

dtype_set runtime_supported_types(WNNContext context, enum op op, uint32_t slot)
{
    const struct op_info *info = &op_infos[op];

    const struct operand_info *operand = slot < OP_OPERANDS_MAX ? &info->ins[slot] : &info->outs[slot - OP_OPERANDS_MAX];

    /* No engine takes less than the operator table says. */
    return row_types(info, operand) | (runtime_knows_draft(context) ? op_draft_types(op, operand) : 0);
}

bool type_from_descriptor(WNNOperandDataType data_type, size_t rank, uint32_t const *shape, const char *what,
                          struct tensor_type *type, struct error *e)
{
    if (rank > RANK_MAX)
        return error_set(e, WNNStatus_TypeError, "%s has rank %zu, the largest supported is %d", what, rank, RANK_MAX);
    if (rank > 0 && !shape)
        return error_set(e, WNNStatus_TypeError, "%s has rank %zu, but its shape is NULL", what, rank);
    if (!dtype_is_port(data_type)) /* type_check takes what only passes make, too */
        return error_set(e, WNNStatus_TypeError, "%s has no valid data type (value %u)", what, (unsigned)data_type);
    *type = (struct tensor_type){.type = data_type, .rank = (uint32_t)rank};
    for (size_t i = 0; i < rank; i++)
        type->dims[i] = shape[i];
    return type_check(type, what, e);
}

size_t wnnOperandDescriptorGetByteLength(WNNOperandDescriptor const *descriptor)
{
    struct tensor_type type;
    struct error e = {0};

    return descriptor && type_from_descriptor(descriptor->dataType, descriptor->rank, descriptor->shape, "", &type, &e)
               ? (size_t)type_bytes(&type)
               : 0;
}
