/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes graphs: wnnContextDispatch on tensors, behind the work submitted before; wnnGraphCompute on host buffers, at once.
 *
 * Names with tensors or buffers become bindings by slot for the engine, after every check of the specification's steps.
 */
#include "runtime/api/context.h"
#include "runtime/api/buffers.h"
#include "ir/support/clock.h"
#include "ir/support/text.h"
#include "runtime/host/threads.h"
#include "runtime/program/memory_limit.h"

#include <stdlib.h>
#include <string.h>

/* A compute call can hold this many bindings without allocating. */
enum { BINDINGS_INLINE = 32 };

/* ---- names ---- */

/* Holds inputs or outputs of a graph, and what a call gives for them. */
struct matching {
    const char *what; /* "input" or "output" */
    uint32_t count;
    const struct graph_binding *bindings, *const *by_name;
    uint32_t *slots; /* receives the binding of each item */
    uint32_t *taken; /* the item that has each binding, kept only while names are not in the graph's order */
};

/* Makes a matching over `slots`, which has room for inputs, then outputs, and behind them as many for `taken`. */
static struct matching match_inputs(WNNGraph graph, uint32_t *slots)
{
    return (struct matching){"input",       graph->input_count,
                             graph->inputs, graph->inputs_by_name,
                             slots,         slots + graph->input_count + graph->output_count};
}

static struct matching match_outputs(WNNGraph graph, uint32_t *slots)
{
    return (struct matching){"output",
                             graph->output_count,
                             graph->outputs,
                             graph->outputs_by_name,
                             slots + graph->input_count,
                             slots + 2 * (size_t)graph->input_count + graph->output_count};
}

/* Checks that given names are exactly the graph's: as many, each known, none twice. */
static bool names_match(const char *call, const struct matching *m, size_t given,
                        WNNStringView (*name_at)(const void *items, size_t i), const void *items, struct error *e)
{
    bool in_order = true;
    char name[160];

    if (given != m->count)
        return error_set(e, WNNStatus_TypeError, "%s: %zu %ss are given, the graph has %u", call, given, m->what, m->count);
    if (m->count > 0 && !items)
        return error_set(e, WNNStatus_TypeError, "%s: the %ss are NULL", call, m->what);
    for (uint32_t i = 0; i < m->count; i++) {
        WNNStringView view = name_at(items, i);

        if (view.length != 0 && !view.data)
            return error_set(e, WNNStatus_TypeError, "%s: %ss[%u] has a name that is NULL", call, m->what, i);
        uint32_t slot = m->slots[i] = graph_find_binding(m->bindings, m->by_name, m->count, view, i);
        if (slot == m->count)
            return error_set(e, WNNStatus_TypeError, "%s: %ss[%u] is named \"%s\", the graph has no such %s", call, m->what, i,
                             view_quote(name, sizeof name, view), m->what);
        if (in_order && slot != i)
            for (uint32_t j = 0; j < m->count; j++)
                m->taken[j] = j < i ? j : UINT32_MAX;
        in_order &= slot == i;
        if (in_order)
            continue;
        if (m->taken[slot] != UINT32_MAX)
            return error_set(e, WNNStatus_TypeError, "%s: %ss[%u] and %ss[%u] are both named \"%s\"", call, m->what,
                             m->taken[slot], m->what, i, view_quote(name, sizeof name, view));
        m->taken[slot] = i;
    }
    return true;
}

static WNNStringView tensor_name_at(const void *items, size_t i)
{
    return ((const WNNNamedTensor *)items)[i].name;
}

static WNNStringView buffer_name_at(const void *items, size_t i)
{
    return ((const WNNNamedBuffer *)items)[i].name;
}

/* ---- times ---- */

/* Returns the time if somebody wants to know, else 0. */
static uint64_t time_of(WNNContext context)
{
    return context->computed.callback ? nanoseconds_now() : 0;
}

/* Tells of a computation that has ended with success. */
static void report_times(WNNContext context, WNNGraph graph, uint64_t submitted, uint64_t begun)
{
    const WNNComputationTimes times = {submitted, begun, time_of(context)};

    if (context->computed.callback)
        context->computed.callback(graph, &times, context->computed.userdata1, context->computed.userdata2);
}

/* Computes on this thread, and tells of it. */
static bool run_timed(WNNContext context, WNNGraph graph, const struct engine_binding *inputs,
                      const struct engine_binding *outputs, uint64_t submitted, struct error *e)
{
    const uint64_t begun = time_of(context);

    if (!context->engine->functions->run(graph->executable, inputs, outputs, &context->lost, e))
        return false;
    if (!atomic_load(&context->lost))
        report_times(context, graph, submitted, begun);
    return true;
}

/* ---- dispatch ---- */

struct dispatch_task {
    struct context_task base;
    WNNGraph graph;            /* pinned */
    uint64_t submitted, begun; /* 0 if nobody wants to know */
    uint32_t tensor_count;
    WNNTensor *tensors;                      /* pinned; inputs, then outputs, in the order given */
    struct engine_binding *inputs, *outputs; /* by slot */
    bool failed;                             /* when it was submitted to the engine */
    struct error *failure;                   /* why; NULL: there was no memory to say so */
};

/* The specification has no way to report this (its issue 778): going on with wrong contents would be worse than stopping. */
static void dispatch_failed(WNNContext context, const struct error *e)
{
    char message[sizeof e->message + 64];

    snprintf(message, sizeof message, "the context was lost: a dispatch failed: %s", e->message);
    context_lose(context, message);
}

/* Computes on this thread. */
static void dispatch_compute(struct dispatch_task *t)
{
    WNNContext context = t->base.context;
    struct error e;

    error_clear(&e);
    if (!run_timed(context, t->graph, t->inputs, t->outputs, t->submitted, &e))
        dispatch_failed(context, &e);
}

/* Runs when the engine is done with a submitted dispatch; the timeline does the rest. */
static void dispatch_done(void *user, bool ok, const struct error *e)
{
    struct dispatch_task *t = user;

    if (!ok) {
        t->failed = true;
        t->failure = malloc(sizeof *t->failure);
        if (t->failure)
            *t->failure = *e;
    }
    timeline_resume(t->base.context->timeline, &t->base.task);
}

static void dispatch_finish(struct context_task *base)
{
    static const struct error no_memory = {WNNStatus_UnknownError, "memory ran out"};
    struct dispatch_task *t = (struct dispatch_task *)base;

    if (t->failed)
        dispatch_failed(base->context, t->failure ? t->failure : &no_memory);
    else if (!atomic_load(&base->context->lost))
        report_times(base->context, t->graph, t->submitted, t->begun);
}

static void dispatch_run(struct context_task *base)
{
    struct dispatch_task *t = (struct dispatch_task *)base;
    WNNContext context = base->context;
    const struct engine_functions *f = context->engine->functions;
    struct error e;

    if (atomic_load(&context->lost))
        return;
    if (!f->optional.submit) {
        dispatch_compute(t);
        return;
    }
    error_clear(&e);
    t->begun = time_of(context);
    context_suspend(base);
    if (!f->optional.submit(t->graph->executable, t->inputs, t->outputs, &context->lost, dispatch_done, t, &e))
        dispatch_done(t, false, &e);
}

static void dispatch_release(struct context_task *base)
{
    struct dispatch_task *t = (struct dispatch_task *)base;

    for (uint32_t i = 0; i < t->tensor_count; i++)
        tensor_unpin(t->tensors[i]);
    graph_unpin(t->graph);
    free(t->failure);
}

/* Says which tensors of a dispatch have been seen: those of inputs have one mark, those of outputs the next. */
struct tensor_marks {
    WNNGraph graph;
    size_t input_count;
    WNNNamedTensor const *inputs;
    uint64_t input_mark, mark; /* `mark` is given to tensors now */
};

/* Returns whether the tensor of an input may be that of this output, too: they are a state. */
static bool is_state(const struct tensor_marks *m, WNNNamedTensor const *output)
{
    WNNGraph g = m->graph;
    const uint32_t o = graph_find_binding(g->outputs, g->outputs_by_name, g->output_count, output->name, 0);

    for (size_t i = 0; o < g->output_count && g->outputs[o].state && i < m->input_count; i++) {
        if (m->inputs[i].tensor != output->tensor)
            continue;
        const uint32_t k = graph_find_binding(g->inputs, g->inputs_by_name, g->input_count, m->inputs[i].name, (uint32_t)i);
        return k < g->input_count && g->inputs[k].slot + 1 == g->outputs[o].state;
    }
    return false;
}

/* Checks that each tensor comes once, but for states, belongs to this context and is not destroyed.  The lock is held. */
static bool dispatch_check_tensors(WNNContext context, const char *what, size_t count, WNNNamedTensor const *items,
                                   const struct tensor_marks *m, struct error *e)
{
    char name[160];

    for (size_t i = 0; i < count; i++) {
        WNNTensor t = items[i].tensor;

        if (!t)
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" is NULL", what,
                             view_quote(name, sizeof name, items[i].name));
        if (t->context != context)
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" belongs to another context", what,
                             view_quote(name, sizeof name, items[i].name));
        if (t->mark == m->mark || (t->mark == m->input_mark && !is_state(m, &items[i])))
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" is given more than once", what,
                             view_quote(name, sizeof name, items[i].name));
        t->mark = m->mark;
        if (t->destroyed)
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" is destroyed", what,
                             view_quote(name, sizeof name, items[i].name));
    }
    return true;
}

/* Implements the specification's "validate tensors with descriptors". */
static bool dispatch_check_descriptors(const struct matching *m, size_t given, WNNNamedTensor const *items, struct error *e)
{
    char name[160], tensor_text[128], graph_text[128];

    if (!names_match("dispatch", m, given, tensor_name_at, items, e))
        return false;
    for (uint32_t i = 0; i < m->count; i++) {
        WNNTensor t = items[i].tensor;
        const struct graph_binding *b = &m->bindings[m->slots[i]];

        if (t->constant)
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" is constant", m->what,
                             view_quote(name, sizeof name, items[i].name));
        if (!type_equal(&t->type, &b->type))
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" is %s, the graph has %s", m->what,
                             view_quote(name, sizeof name, items[i].name),
                             type_print(tensor_text, sizeof tensor_text, &t->type),
                             type_print(graph_text, sizeof graph_text, &b->type));
    }
    return true;
}

/* Takes the method's steps, in their order.  The lock is held. */
static bool dispatch_check(WNNContext context, WNNGraph graph, size_t input_count, WNNNamedTensor const *inputs,
                           size_t output_count, WNNNamedTensor const *outputs, uint32_t *slots, struct error *e)
{
    const struct matching in = match_inputs(graph, slots), out = match_outputs(graph, slots);
    const size_t input_most = input_count < graph->input_count ? input_count : graph->input_count;
    struct tensor_marks marks = {graph, input_most, inputs, context->next_mark + 1, context->next_mark + 1};

    context->next_mark += 2;

    if (graph->destroyed)
        return error_set(e, WNNStatus_InvalidStateError, "dispatch: %s",
                         atomic_load(&context->lost) ? "the context is lost" : "the graph is destroyed");
    /* Of lists that are too long nothing is read that there cannot be: the names' check refuses them. */
    if (!dispatch_check_tensors(context, "input", input_most, inputs, &marks, e))
        return false;
    marks.mark++;
    return dispatch_check_tensors(context, "output", output_count < graph->output_count ? output_count : graph->output_count,
                                  outputs, &marks, e) &&
           dispatch_check_descriptors(&in, input_count, inputs, e) &&
           dispatch_check_descriptors(&out, output_count, outputs, e);
}

/* Returns a task with room for everything behind it, in one allocation. */
static struct dispatch_task *dispatch_create(WNNGraph graph, uint32_t **slots)
{
    size_t named = (size_t)graph->input_count + graph->output_count,
           bindings = (size_t)graph->input_slots + graph->output_count;
    struct dispatch_task *t = calloc(1, sizeof *t + bindings * sizeof(struct engine_binding) + named * sizeof(WNNTensor) +
                                            2 * named * sizeof(uint32_t));

    if (!t)
        return NULL;
    t->inputs = (struct engine_binding *)(t + 1);
    t->outputs = t->inputs + graph->input_slots;
    t->tensors = (WNNTensor *)(t->inputs + bindings);
    *slots = (uint32_t *)(t->tensors + named);
    t->base.run = dispatch_run;
    t->base.release = dispatch_release;
    t->base.finish = dispatch_finish;
    t->base.task.overlaps = true; /* the engine keeps its submissions in order */
    return t;
}

/* Pins everything and fills in the bindings.  The lock is held. */
static void dispatch_bind(struct dispatch_task *t, WNNGraph graph, WNNNamedTensor const *inputs, WNNNamedTensor const *outputs,
                          const uint32_t *slots)
{
    graph_pin(graph);
    t->graph = graph;
    for (uint32_t i = 0; i < graph->input_count; i++) {
        t->inputs[graph->inputs[slots[i]].slot].buffer = inputs[i].tensor->buffer;
        t->tensors[t->tensor_count++] = inputs[i].tensor;
    }
    slots += graph->input_count;
    for (uint32_t i = 0; i < graph->output_count; i++) {
        t->outputs[graph->outputs[slots[i]].slot].buffer = outputs[i].tensor->buffer;
        t->tensors[t->tensor_count++] = outputs[i].tensor;
    }
    for (uint32_t i = 0; i < t->tensor_count; i++)
        tensor_pin(t->tensors[i]);
}

static bool is_brief(WNNGraph graph)
{
    const struct engine_functions *f = graph->context->engine->functions;

    return f->optional.is_brief && f->optional.is_brief(graph->executable);
}

/* Computes on the calling thread, whose turn it is, what takes less time than waking the timeline's thread would. */
static void dispatch_now(WNNContext context, struct dispatch_task *t)
{
    t->base.context = context;
    if (!atomic_load(&context->lost))
        dispatch_compute(t);
    timeline_end(context->timeline);
    dispatch_release(&t->base);
    free(t);
}

WNNStatus wnnContextDispatch(WNNContext context, WNNGraph graph, size_t inputCount, WNNNamedTensor const *inputs,
                             size_t outputCount, WNNNamedTensor const *outputs)
{
    struct error e;
    uint32_t *slots = NULL;

    error_clear(&e);
    if (!context || !graph || (inputCount > 0 && !inputs) || (outputCount > 0 && !outputs))
        return error_fail(&e, WNNStatus_TypeError, "dispatch: %s NULL",
                          !context                    ? "context is"
                          : !graph                    ? "graph is"
                          : inputCount > 0 && !inputs ? "inputs are"
                                                      : "outputs are");
    if (graph->context != context)
        return error_fail(&e, WNNStatus_TypeError, "dispatch: the graph belongs to another context");
    struct dispatch_task *t = dispatch_create(graph, &slots);
    if (!t)
        return error_fail_memory(&e);
    t->submitted = time_of(context);
    pthread_mutex_lock(&context->lock);
    bool ok = dispatch_check(context, graph, inputCount, inputs, outputCount, outputs, slots, &e);
    bool brief = ok && is_brief(graph);
    if (ok)
        dispatch_bind(t, graph, inputs, outputs, slots);
    pthread_mutex_unlock(&context->lock);
    if (!ok) {
        free(t);
        return error_publish(&e);
    }
    if (brief && timeline_try_begin(context->timeline)) {
        dispatch_now(context, t);
        return WNNStatus_Success;
    }
    return context_submit(context, &t->base, &e) ? WNNStatus_Success : error_publish(&e);
}

/* ---- compute ---- */

/* Checks byte lengths, then overlap: only inputs may share memory with each other. */
static bool compute_check_buffers(const struct matching *m, WNNNamedBuffer const *items, struct error *e)
{
    char name[160];

    for (uint32_t i = 0; i < m->count; i++) {
        size_t bytes = (size_t)type_bytes(&m->bindings[m->slots[i]].type);

        if (items[i].byteLength != bytes)
            return error_set(e, WNNStatus_TypeError, "compute: the buffer for %s \"%s\" has %zu bytes, the graph needs %zu",
                             m->what, view_quote(name, sizeof name, items[i].name), items[i].byteLength, bytes);
        if (!items[i].data)
            return error_set(e, WNNStatus_TypeError, "compute: the buffer for %s \"%s\" is NULL", m->what,
                             view_quote(name, sizeof name, items[i].name));
    }
    return true;
}

static bool compute_check(WNNGraph graph, size_t input_count, WNNNamedBuffer const *inputs, size_t output_count,
                          WNNNamedBuffer const *outputs, uint32_t *slots, struct error *e)
{
    const struct matching in = match_inputs(graph, slots), out = match_outputs(graph, slots);

    return names_match("compute", &in, input_count, buffer_name_at, inputs, e) &&
           names_match("compute", &out, output_count, buffer_name_at, outputs, e) && compute_check_buffers(&in, inputs, e) &&
           compute_check_buffers(&out, outputs, e) &&
           buffers_are_apart(graph, input_count, inputs, output_count, outputs, slots, e);
}

/* Describes a computation that has to wait for its turn.  Its caller waits, so everything lies with the caller. */
struct compute_task {
    struct context_task base;
    struct compute_wait *wait;
};

struct compute_wait {
    WNNGraph graph; /* pinned by the caller */
    const struct engine_binding *inputs, *outputs;
    uint64_t submitted;
    bool done, ok;
    struct error *e;
};

static void compute_run(struct context_task *base)
{
    struct compute_wait *w = ((struct compute_task *)base)->wait;
    WNNContext context = base->context;
    bool ok = !atomic_load(&context->lost) && run_timed(context, w->graph, w->inputs, w->outputs, w->submitted, w->e);

    pthread_mutex_lock(&context->lock);
    w->ok = ok;
    w->done = true;
    pthread_cond_broadcast(&context->changed);
    pthread_mutex_unlock(&context->lock);
}

static void compute_release(struct context_task *base)
{
    (void)base;
}

static bool compute_queue(WNNContext context, struct compute_wait *w)
{
    struct compute_task *t = calloc(1, sizeof *t);

    if (!t)
        return error_out_of_memory(w->e);
    t->base.run = compute_run;
    t->base.release = compute_release;
    t->wait = w;
    if (!context_submit(context, &t->base, w->e))
        return false;
    pthread_mutex_lock(&context->lock);
    while (!w->done)
        context_wait(context, NULL);
    pthread_mutex_unlock(&context->lock);
    return w->ok;
}

static bool compute_bound(WNNContext context, WNNGraph graph, const struct engine_binding *inputs,
                          const struct engine_binding *outputs, struct error *e)
{
    /*
     * Regions inside a caller's region would have one thread, which library primitives were not made for: the timeline's thread
     * is in none.  It may also have a team where this thread can get none.  On the timeline's thread itself there is no other
     * choice than to compute at once.
     */
    const struct engine_functions *f = context->engine->functions;
    const uint64_t submitted = time_of(context);
    bool here = timeline_is_current(context->timeline) || (!threads_in_region() && timeline_is_idle(context->timeline) &&
                                                           (!f->optional.is_ready || f->optional.is_ready(graph->executable)));

    if (here)
        return run_timed(context, graph, inputs, outputs, submitted, e);
    struct compute_wait w = {graph, inputs, outputs, submitted, false, false, e};
    return compute_queue(context, &w);
}

/* Copies between host memory and buffers, for an engine that computes on buffers only: before the computation every binding
 * gets one, after it outputs are read and the buffers go. */
static bool stage_in(struct engine *en, struct engine_binding *b, const WNNNamedBuffer *item, bool output, struct error *e)
{
    b->buffer = memory_buffer_create(en, item->byteLength, e);
    return b->buffer && (output || en->functions->buffer_write(en, b->buffer, 0, item->data, item->byteLength, e));
}

static bool stage_out(struct engine *en, struct engine_binding *b, const WNNNamedBuffer *item, bool output, struct error *e)
{
    bool ok = !b->buffer || !output || en->functions->buffer_read(en, b->buffer, 0, item->data, item->byteLength, e);

    if (b->buffer)
        memory_buffer_free(en, b->buffer);
    return ok;
}

static bool compute_staged(WNNGraph graph, WNNNamedBuffer const *inputs, WNNNamedBuffer const *outputs, const uint32_t *slots,
                           struct engine_binding *in, struct engine_binding *out, struct error *e)
{
    struct engine *en = graph->context->engine;
    const uint32_t *out_slots = slots + graph->input_count;
    bool ok = true;

    for (uint32_t i = 0; ok && i < graph->input_count; i++)
        ok = stage_in(en, &in[graph->inputs[slots[i]].slot], &inputs[i], false, e);
    for (uint32_t i = 0; ok && i < graph->output_count; i++)
        ok = stage_in(en, &out[graph->outputs[out_slots[i]].slot], &outputs[i], true, e);
    ok = ok && compute_bound(graph->context, graph, in, out, e);
    for (uint32_t i = 0; i < graph->input_count; i++)
        stage_out(en, &in[graph->inputs[slots[i]].slot], &inputs[i], false, e);
    for (uint32_t i = 0; i < graph->output_count; i++)
        if (!stage_out(en, &out[graph->outputs[out_slots[i]].slot], &outputs[i], ok, e))
            ok = false;
    return ok;
}

static WNNStatus compute_checked(WNNGraph graph, WNNNamedBuffer const *inputs, WNNNamedBuffer const *outputs,
                                 const uint32_t *slots, struct engine_binding *bindings, struct error *e)
{
    WNNContext context = graph->context;
    struct engine_binding *out = bindings + graph->input_slots;

    memset(bindings, 0, ((size_t)graph->input_slots + graph->output_count) * sizeof *bindings);
    for (uint32_t i = 0; i < graph->input_count; i++)
        bindings[graph->inputs[slots[i]].slot].host = inputs[i].data;
    for (uint32_t i = 0; i < graph->output_count; i++)
        out[graph->outputs[slots[graph->input_count + i]].slot].host = outputs[i].data;

    pthread_mutex_lock(&context->lock);
    bool usable = !graph->destroyed;
    if (usable)
        graph_pin(graph);
    pthread_mutex_unlock(&context->lock);
    if (!usable) {
        error_set(e, WNNStatus_InvalidStateError, "compute: %s",
                  atomic_load(&context->lost) ? "the context is lost" : "the graph is destroyed");
        return error_publish(e);
    }
    bool ok = context->engine->functions->host_memory ? compute_bound(context, graph, bindings, out, e)
                                                      : compute_staged(graph, inputs, outputs, slots, bindings, out, e);
    if (!ok)
        context_check_engine(context);
    bool lost = atomic_load(&context->lost);
    graph_unpin(graph);
    if (ok && !lost)
        return WNNStatus_Success;
    if (lost) {
        error_clear(e);
        error_set(e, WNNStatus_InvalidStateError, "compute: the context was lost meanwhile: %s", context->lost_error.message);
    }
    return error_publish(e);
}

WNNStatus wnnGraphCompute(WNNGraph graph, size_t inputCount, WNNNamedBuffer const *inputs, size_t outputCount,
                          WNNNamedBuffer const *outputs)
{
    struct engine_binding inline_bindings[BINDINGS_INLINE], *bindings = inline_bindings;
    uint32_t inline_slots[2 * BINDINGS_INLINE], *slots = inline_slots;
    struct error e;
    WNNStatus status;

    error_clear(&e);
    if (!graph)
        return error_fail(&e, WNNStatus_TypeError, "compute: graph is NULL");
    size_t needed = (size_t)graph->input_slots + graph->output_count;
    if (needed > BINDINGS_INLINE) {
        bindings = calloc(needed, sizeof *bindings + 2 * sizeof *slots);
        if (!bindings)
            return error_fail_memory(&e);
        slots = (uint32_t *)(bindings + needed);
    }
    /* A destroyed graph is reported before anything else is looked at, as dispatch does. */
    pthread_mutex_lock(&graph->context->lock);
    bool destroyed = graph->destroyed;
    pthread_mutex_unlock(&graph->context->lock);
    if (!destroyed && !compute_check(graph, inputCount, inputs, outputCount, outputs, slots, &e))
        status = error_publish(&e);
    else if (destroyed) {
        error_set(&e, WNNStatus_InvalidStateError, "compute: %s",
                  wnnContextIsLost(graph->context) ? "the context is lost" : "the graph is destroyed");
        status = error_publish(&e);
    } else {
        status = compute_checked(graph, inputs, outputs, slots, bindings, &e);
    }
    if (bindings != inline_bindings)
        free(bindings);
    return status;
}
