/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes graphs: wnnContextDispatch on tensors, after the work submitted before; wnnGraphCompute on host buffers, at once.
 *
 * Either may be cancelled.  Names with tensors or buffers become bindings by slot for the engine, after every check of the
 * specification's steps.
 */
#include "runtime/api/buffers.h"
#include "runtime/api/variants.h"
#include "ir/support/clock.h"
#include "runtime/host/threads.h"
#include "runtime/program/memory_limit.h"

#include <stdlib.h>

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

/* Makes a matching over `slots`, which has room for inputs, then outputs, and after them as many for `taken`. */
static struct matching match(WNNGraph g, bool outputs, uint32_t *slots)
{
    uint32_t *taken = slots + g->input_count + g->output_count;

    return outputs ? (struct matching){"output",           g->output_count,        g->outputs,
                                       g->outputs_by_name, slots + g->input_count, taken + g->input_count}
                   : (struct matching){"input", g->input_count, g->inputs, g->inputs_by_name, slots, taken};
}

/* Returns the binding of item i of a call, inputs first, among those of all slots. */
static struct engine_binding *binding_of(WNNGraph g, size_t input_count, const uint32_t *slots, struct engine_binding *bindings,
                                         size_t i)
{
    return i < input_count ? &bindings[g->inputs[slots[i]].slot] : &bindings[g->input_slots + g->outputs[slots[i]].slot];
}

/* Refuses a call that gives too few items, and names the missing ones, or too many, and names all that the graph has. */
static bool refuse_count(const char *call, const struct matching *m, size_t given, bool in_order, struct error *e)
{
    char names[300] = "";

    for (uint32_t slot = 0; slot < m->count; slot++)
        if (given > m->count || (in_order ? slot >= given : m->taken[slot] == UINT32_MAX))
            text_list_add(names, sizeof names, '"', m->bindings[slot].name, m->bindings[slot].name_length);
    return error_set(e, WNNStatus_TypeError, "%s: %zu %ss are given, the graph has %u%s %s", call, given, m->what, m->count,
                     given > m->count ? ":" : "; missing:", *names ? names : "none");
}

static bool refuse_twice(const char *call, const struct matching *m, uint32_t first, uint32_t second, WNNStringView view,
                         struct error *e)
{
    char name[160];

    return error_set(e, WNNStatus_TypeError, "%s: %ss[%u] and %ss[%u] are both named \"%s\"", call, m->what, first, m->what,
                     second, view_quote(name, sizeof name, view));
}

/* Refuses a call that gives too many items, and says if two have one name.  A list that is too long for any graph is not read.
 */
static bool refuse_too_many(const char *call, const struct matching *m, size_t given,
                            WNNStringView (*name_at)(const void *items, size_t i), const void *items, struct error *e)
{
    for (uint32_t slot = 0; slot < m->count; slot++)
        m->taken[slot] = UINT32_MAX;
    for (uint32_t i = 0; given <= SLOT_COUNT_MAX && i <= m->count; i++) {
        const WNNStringView view = name_at(items, i);
        const uint32_t slot =
            !view.length || view.data ? graph_find_binding(m->bindings, m->by_name, m->count, view, i) : m->count;

        if (slot == m->count)
            break;
        if (m->taken[slot] != UINT32_MAX)
            return refuse_twice(call, m, m->taken[slot], i, view, e);
        m->taken[slot] = i;
    }
    return refuse_count(call, m, given, true, e);
}

/* Checks that given names are the graph's, each known, none twice, and that there are not fewer than `least`. */
static bool names_match(const char *call, const struct matching *m, size_t given, size_t least,
                        WNNStringView (*name_at)(const void *items, size_t i), const void *items, struct error *e)
{
    bool in_order = true;

    if (given > 0 && !items)
        return error_set(e, WNNStatus_TypeError, "%s: the %ss are NULL", call, m->what);
    if (given > m->count)
        return refuse_too_many(call, m, given, name_at, items, e);
    for (uint32_t i = 0; i < given; i++) {
        WNNStringView view = name_at(items, i);

        if (view.length != 0 && !view.data)
            return error_set(e, WNNStatus_TypeError, "%s: %ss[%u] has a name that is NULL", call, m->what, i);
        uint32_t slot = m->slots[i] = graph_find_binding(m->bindings, m->by_name, m->count, view, i);
        if (slot == m->count)
            return error_set(e, WNNStatus_TypeError, "%s: %ss[%u] is named \"%s\", the graph has no such %s%s", call, m->what,
                             i, view_quote((char[160]){0}, 160, view), m->what,
                             graph_suggest_binding(m->bindings, m->count, view).message);
        if (in_order && slot != i)
            for (uint32_t j = 0; j < m->count; j++)
                m->taken[j] = j < i ? j : UINT32_MAX;
        in_order &= slot == i;
        if (in_order)
            continue;
        if (m->taken[slot] != UINT32_MAX)
            return refuse_twice(call, m, m->taken[slot], i, view, e);
        m->taken[slot] = i;
    }
    return given >= least || refuse_count(call, m, given, in_order, e);
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

/* Returns the time if there is a callback for it, else 0. */
static uint64_t time_of(WNNContext context)
{
    return context->computed.callback ? nanoseconds_now() : 0;
}

static void report_times(WNNContext context, WNNGraph graph, uint64_t submitted, uint64_t begun)
{
    const WNNComputationTimes times = {submitted, begun, time_of(context)};

    if (context->computed.callback)
        context->computed.callback(graph, &times, context->computed.userdata1, context->computed.userdata2);
}

/* Returns what ends a computation that may have a cancellation. */
static struct engine_stop stop_of(WNNContext context, WNNCancellation cancellation)
{
    return (struct engine_stop){&context->lost, cancellation ? &cancellation->cancelled : NULL};
}

/* Returns whether a computation with this error is one that was cancelled, and did not fail. */
static bool was_cancelled(WNNCancellation cancellation, const struct error *e)
{
    return wnnCancellationIsCancelled(cancellation) && e->status == WNNStatus_InvalidStateError;
}

static bool run_timed(WNNContext context, WNNGraph graph, const struct engine_binding *inputs,
                      const struct engine_binding *outputs, const struct engine_stop *stop, uint64_t submitted, struct error *e)
{
    const uint64_t begun = time_of(context);

    if (engine_stops(stop))
        return error_set(e, WNNStatus_InvalidStateError, "the computation was stopped");
    if (!context->engine->functions->run(graph->executable, inputs, outputs, stop, e))
        return false;
    if (!atomic_load(&context->lost))
        report_times(context, graph, submitted, begun);
    return true;
}

/* ---- dispatch ---- */

struct dispatch_task {
    struct context_task base;
    WNNGraph graph;               /* pinned */
    WNNCancellation cancellation; /* a reference, or NULL */
    struct engine_stop stop;
    uint64_t submitted, begun; /* 0 if there is no callback */
    uint32_t tensor_count;
    WNNTensor *tensors;                      /* pinned; inputs, then outputs, in the order given */
    struct engine_binding *inputs, *outputs; /* by slot */
    bool stopped, failed;                    /* when it was submitted to the engine */
    struct error *failure;                   /* why; NULL: there was no memory to say so */
};

/* The specification has no way to report this (its issue 778): going on with wrong contents would be worse than stopping. */
static void dispatch_failed(WNNContext context, const struct error *e)
{
    char message[sizeof e->message + 64];

    snprintf(message, sizeof message, "the context was lost: a dispatch failed: %s", e->message);
    context_lose(context, message);
}

static void dispatch_compute(struct dispatch_task *t)
{
    WNNContext context = t->base.context;
    struct timeline_scope scope;
    struct error e;

    error_clear(&e);
    timeline_enter(&scope, context->timeline, true);
    const bool ok = run_timed(context, t->graph, t->inputs, t->outputs, &t->stop, t->submitted, &e);
    timeline_exit(&scope);
    if (!ok && !was_cancelled(t->cancellation, &e))
        dispatch_failed(context, &e);
}

/* Runs when the engine is done with a submitted dispatch; the timeline does the rest. */
static void dispatch_done(void *user, bool ok, const struct error *e)
{
    struct dispatch_task *t = user;

    if (!ok && was_cancelled(t->cancellation, e)) {
        t->stopped = true;
    } else if (!ok) {
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
    else if (!t->stopped && !atomic_load(&base->context->lost))
        report_times(base->context, t->graph, t->submitted, t->begun);
}

static void dispatch_run(struct context_task *base)
{
    struct dispatch_task *t = (struct dispatch_task *)base;
    WNNContext context = base->context;
    const struct engine_functions *f = context->engine->functions;
    struct error e;

    if (engine_stops(&t->stop))
        return;
    if (!f->optional.submit) {
        dispatch_compute(t);
        return;
    }
    error_clear(&e);
    t->begun = time_of(context);
    context_suspend(base);
    if (!f->optional.submit(t->graph->executable, t->inputs, t->outputs, &t->stop, dispatch_done, t, &e))
        dispatch_done(t, false, &e);
}

static void dispatch_release(struct context_task *base)
{
    struct dispatch_task *t = (struct dispatch_task *)base;

    for (uint32_t i = 0; i < t->tensor_count; i++)
        tensor_unpin(t->tensors[i]);
    graph_unpin(t->graph);
    wnnCancellationRelease(t->cancellation);
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
        const char *wrong = !t                      ? "is NULL"
                            : t->context != context ? "belongs to another context"
                            : t->mark == m->mark || (t->mark == m->input_mark && !is_state(m, &items[i]))
                                ? "is given more than once"
                                : NULL;

        if (!wrong)
            t->mark = m->mark;
        if (!wrong && t->destroyed)
            wrong = "is destroyed";
        if (wrong)
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" %s", what,
                             view_quote(name, sizeof name, items[i].name), wrong);
    }
    return true;
}

/* Implements the specification's "validate tensors with descriptors". */
static bool dispatch_check_descriptors(const struct matching *m, size_t given, WNNNamedTensor const *items, struct error *e)
{
    char name[160], tensor_text[128], graph_text[128];

    if (!names_match("dispatch", m, given, m->count, tensor_name_at, items, e))
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
    const struct matching in = match(graph, false, slots), out = match(graph, true, slots);
    const size_t input_most = input_count < graph->input_count ? input_count : graph->input_count;
    struct tensor_marks marks = {graph, input_most, inputs, context->next_mark + 1, context->next_mark + 1};

    context->next_mark += 2;

    if (graph->destroyed)
        return graph_refuse(graph, "dispatch", e);
    /* Of lists that are too long nothing is read that there cannot be: the names' check refuses them. */
    if (!dispatch_check_tensors(context, "input", input_most, inputs, &marks, e))
        return false;
    marks.mark++;
    return dispatch_check_tensors(context, "output", output_count < graph->output_count ? output_count : graph->output_count,
                                  outputs, &marks, e) &&
           dispatch_check_descriptors(&in, input_count, inputs, e) &&
           dispatch_check_descriptors(&out, output_count, outputs, e);
}

/* Returns a task followed by room for everything, in one allocation. */
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
    for (uint32_t i = 0; i < graph->input_count + graph->output_count; i++) {
        WNNTensor tensor = i < graph->input_count ? inputs[i].tensor : outputs[i - graph->input_count].tensor;

        binding_of(graph, graph->input_count, slots, t->inputs, i)->buffer = tensor->buffer;
        t->tensors[t->tensor_count++] = tensor;
        tensor_pin(tensor);
    }
}

/* Computes on the calling thread, whose turn it is, what takes less time than waking the timeline's thread would. */
static void dispatch_now(WNNContext context, struct dispatch_task *t)
{
    t->base.context = context;
    if (!engine_stops(&t->stop))
        dispatch_compute(t);
    timeline_end(context->timeline);
    dispatch_release(&t->base);
    free(t);
}

WNNStatus wnnContextDispatch(WNNContext context, WNNGraph graph, size_t inputCount, WNNNamedTensor const *inputs,
                             size_t outputCount, WNNNamedTensor const *outputs)
{
    return wnnContextDispatchCancellable(context, graph, inputCount, inputs, outputCount, outputs, NULL);
}

WNNStatus wnnContextDispatchCancellable(WNNContext context, WNNGraph graph, size_t inputCount, WNNNamedTensor const *inputs,
                                        size_t outputCount, WNNNamedTensor const *outputs, WNNCancellation cancellation)
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
    if (graph->variants)
        return variants_dispatch(graph, inputCount, inputs, outputCount, outputs, cancellation);
    const struct engine_functions *f = context->engine->functions;
    struct dispatch_task *t = dispatch_create(graph, &slots);
    if (!t)
        return error_fail_memory(&e);
    t->submitted = time_of(context);
    t->stop = stop_of(context, cancellation);
    pthread_mutex_lock(&context->lock);
    bool ok =
        dispatch_check(context, graph, inputCount, inputs, outputCount, outputs, slots, &e) &&
        (!wnnCancellationIsCancelled(cancellation) || error_set(&e, WNNStatus_OperationError, "dispatch: it was cancelled"));
    bool brief = ok && f->optional.is_brief && f->optional.is_brief(graph->executable);
    if (ok)
        dispatch_bind(t, graph, inputs, outputs, slots);
    pthread_mutex_unlock(&context->lock);
    if (!ok) {
        free(t);
        return error_publish(&e);
    }
    wnnCancellationAddRef(cancellation);
    t->cancellation = cancellation;
    if (brief && timeline_try_begin(context->timeline)) {
        dispatch_now(context, t);
        return WNNStatus_Success;
    }
    return context_submit(context, &t->base, &e) ? WNNStatus_Success : error_publish(&e);
}

/* ---- compute ---- */

/* Checks byte lengths, then overlap: only inputs may share memory with each other. */
static bool compute_check_buffers(const struct matching *m, size_t given, WNNNamedBuffer const *items, struct error *e)
{
    char name[160];

    for (size_t i = 0; i < given; i++) {
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

/* Holds what a call of compute gives. */
struct compute_call {
    size_t input_count, output_count;
    WNNNamedBuffer const *inputs, *outputs;
    WNNCancellation cancellation;
};

/* Refuses a call without an input that one of its outputs needs. */
static bool needed_are_given(const struct compute_call *call, const struct matching *in, const struct matching *out,
                             struct error *e)
{
    uint64_t wanted = 0;

    for (size_t k = 0; k < call->output_count; k++)
        wanted |= graph_output_group(out->slots[k], out->count);
    for (uint32_t slot = 0; slot < in->count; slot++)
        in->taken[slot] = wanted & ~in->bindings[slot].spares ? UINT32_MAX : 0;
    for (uint32_t i = 0; i < call->input_count; i++)
        in->taken[in->slots[i]] = i;
    for (uint32_t slot = 0; slot < in->count; slot++)
        if (in->taken[slot] == UINT32_MAX)
            return refuse_count("compute", in, call->input_count, false, e);
    return true;
}

/* Makes slots[i] the binding of item i, inputs first. */
static bool compute_check(WNNGraph graph, const struct compute_call *call, uint32_t *slots, struct error *e)
{
    const struct matching in = match(graph, false, slots), out = match(graph, true, slots);

    if (!names_match("compute", &in, call->input_count, 0, buffer_name_at, call->inputs, e) ||
        !names_match("compute", &out, call->output_count, 1, buffer_name_at, call->outputs, e) ||
        (call->input_count < in.count && !needed_are_given(call, &in, &out, e)) ||
        !compute_check_buffers(&in, call->input_count, call->inputs, e) ||
        !compute_check_buffers(&out, call->output_count, call->outputs, e))
        return false;
    memmove(slots + call->input_count, out.slots, call->output_count * sizeof *slots);
    return buffers_are_apart(graph, call->input_count, call->inputs, call->output_count, call->outputs, slots, e);
}

/* Describes a computation of a caller who waits for it. */
struct computation {
    WNNGraph graph; /* pinned by the caller */
    const struct engine_binding *bindings;
    struct engine_stop stop;
    uint64_t submitted;
    bool ok;
    struct error *e;
};

static void compute(void *user)
{
    struct computation *c = user;
    WNNGraph g = c->graph;

    c->ok = run_timed(g->context, g, c->bindings, c->bindings + g->input_slots, &c->stop, c->submitted, c->e);
}

static bool compute_bound(WNNGraph graph, const struct engine_binding *bindings, const struct engine_stop *stop,
                          struct error *e)
{
    /*
     * Regions inside a caller's region would have one thread, which library primitives were not made for: the timeline's thread
     * is in none.  It may also have a team where this thread can get none.  On the timeline's thread itself there is no other
     * choice than to compute at once.  Nor is there with an application's parallel-for, of which regions are not part; waiting
     * for another thread could be waiting for one that needs this one.
     */
    WNNContext context = graph->context;
    const struct engine_functions *f = context->engine->functions;
    struct computation c = {graph, bindings, *stop, time_of(context), false, e};
    bool here = context->engine->parallel || timeline_is_current(context->timeline) ||
                (!threads_in_region() && timeline_is_idle(context->timeline) &&
                 (!f->optional.is_ready || f->optional.is_ready(graph->executable)));

    if (here)
        compute(&c);
    return here ? c.ok : context_run_in_turn(context, false, compute, &c, e) && c.ok;
}

/* Computes by copies in buffers, for an engine that computes on buffers only. */
static bool compute_staged(WNNGraph graph, const struct compute_call *call, const uint32_t *slots,
                           struct engine_binding *bindings, const struct engine_stop *stop, struct error *e)
{
    struct engine *en = graph->context->engine;
    struct engine_binding *outputs = bindings + graph->input_slots;
    const size_t in = call->input_count, count = in + call->output_count;
    bool ok = true;

    for (size_t i = 0; ok && i < count; i++) {
        const WNNNamedBuffer *item = i < in ? &call->inputs[i] : &call->outputs[i - in];
        struct engine_binding *b = binding_of(graph, in, slots, bindings, i);

        b->buffer = memory_buffer_create(en, item->byteLength, e);
        ok = b->buffer && (i >= in || en->functions->buffer_write(en, b->buffer, 0, item->data, item->byteLength, e));
    }
    for (uint32_t o = 0; ok && o < graph->output_count; o++)
        if (outputs[o].is_unwanted)
            ok = (outputs[o].buffer = memory_buffer_create(en, (size_t)type_bytes(&graph->outputs[o].type), e)) != NULL;
    for (uint32_t i = 0; ok && i < graph->input_count; i++) {
        struct engine_binding *b = &bindings[graph->inputs[i].slot];

        ok = b->buffer || (b->buffer = memory_buffer_create(en, (size_t)type_bytes(&graph->inputs[i].type), e));
    }
    ok = ok && compute_bound(graph, bindings, stop, e);
    for (size_t i = in; ok && i < count; i++) {
        const WNNNamedBuffer *item = &call->outputs[i - in];

        ok = en->functions->buffer_read(en, binding_of(graph, in, slots, bindings, i)->buffer, 0, item->data, item->byteLength,
                                        e);
    }
    for (uint32_t b = 0; b < graph->input_slots + graph->output_count; b++)
        if (bindings[b].buffer)
            memory_buffer_free(en, bindings[b].buffer);
    return ok;
}

/*
 * Computes where the buffers lie.  Outputs that were left out get memory, of which the system gives the pages that are written
 * to, and inputs zeros: steps that make several outputs read them.
 */
static bool compute_in_place(WNNGraph graph, struct engine_binding *bindings, const struct engine_stop *stop, struct error *e)
{
    struct engine_binding *outputs = bindings + graph->input_slots;
    size_t bytes = 0, most = 0;
    char *memory = NULL;
    void *zeros = NULL;

    for (uint32_t o = 0; o < graph->output_count; o++)
        if (outputs[o].is_unwanted)
            bytes += (size_t)target_align(type_bytes(&graph->outputs[o].type));
    for (uint32_t i = 0; i < graph->input_count; i++)
        if (!bindings[graph->inputs[i].slot].host && (size_t)type_bytes(&graph->inputs[i].type) > most)
            most = (size_t)type_bytes(&graph->inputs[i].type);
    if ((bytes && !(memory = malloc(bytes))) || (most && !(zeros = calloc(most, 1)))) {
        free(memory);
        return error_out_of_memory(e);
    }
    for (uint32_t i = 0; i < graph->input_count; i++)
        if (!bindings[graph->inputs[i].slot].host)
            bindings[graph->inputs[i].slot].host = zeros;
    for (uint32_t o = 0; o < graph->output_count; o++)
        if (outputs[o].is_unwanted)
            outputs[o].host = memory + (bytes -= (size_t)target_align(type_bytes(&graph->outputs[o].type)));
    const bool ok = compute_bound(graph, bindings, stop, e);
    free(memory);
    free(zeros);
    return ok;
}

/* Computes on buffers that were checked.  The caller has pinned the graph. */
static bool compute_checked(WNNGraph graph, const struct compute_call *call, const uint32_t *slots,
                            struct engine_binding *bindings, struct error *e)
{
    WNNContext context = graph->context;
    const struct engine_stop stop = stop_of(context, call->cancellation);

    memset(bindings, 0, ((size_t)graph->input_slots + graph->output_count) * sizeof *bindings);
    for (uint32_t o = 0; o < graph->output_count; o++)
        bindings[graph->input_slots + o].is_unwanted = true;
    for (size_t i = 0, in = call->input_count; i < in + call->output_count; i++)
        *binding_of(graph, in, slots, bindings, i) =
            (struct engine_binding){.host = i < in ? call->inputs[i].data : call->outputs[i - in].data};
    bool ok = context->engine->functions->host_memory ? compute_in_place(graph, bindings, &stop, e)
                                                      : compute_staged(graph, call, slots, bindings, &stop, e);
    if (!ok)
        context_check_engine(context);
    if (!atomic_load(&context->lost)) {
        if (!ok && was_cancelled(call->cancellation, e)) {
            error_clear(e);
            error_set(e, WNNStatus_OperationError, "compute: it was cancelled");
        }
        return ok;
    }
    error_clear(e);
    return error_set(e, WNNStatus_InvalidStateError, "compute: the context was lost meanwhile: %s",
                     context->lost_error.message);
}

WNNStatus wnnGraphCompute(WNNGraph graph, size_t inputCount, WNNNamedBuffer const *inputs, size_t outputCount,
                          WNNNamedBuffer const *outputs)
{
    return wnnGraphComputeCancellable(graph, inputCount, inputs, outputCount, outputs, NULL);
}

WNNStatus wnnGraphComputeCancellable(WNNGraph graph, size_t inputCount, WNNNamedBuffer const *inputs, size_t outputCount,
                                     WNNNamedBuffer const *outputs, WNNCancellation cancellation)
{
    const struct compute_call call = {inputCount, outputCount, inputs, outputs, cancellation};
    struct engine_binding inline_bindings[BINDINGS_INLINE], *bindings = inline_bindings;
    uint32_t inline_slots[2 * BINDINGS_INLINE], *slots = inline_slots;
    struct error e;

    error_clear(&e);
    if (!graph)
        return error_fail(&e, WNNStatus_TypeError, "compute: graph is NULL");
    if (graph->variants)
        return wnnGraphComputeSized(graph, 0, NULL, inputCount, inputs, outputCount, outputs, cancellation);
    size_t needed = (size_t)graph->input_slots + graph->output_count;
    if (needed > BINDINGS_INLINE) {
        bindings = calloc(needed, sizeof *bindings + 2 * sizeof *slots);
        if (!bindings)
            return error_fail_memory(&e);
        slots = (uint32_t *)(bindings + needed);
    }
    /* A destroyed graph is reported before anything else is looked at, as dispatch does. */
    bool ok = graph_try_pin(graph, "compute", &e);
    if (ok) {
        ok = compute_check(graph, &call, slots, &e) && compute_checked(graph, &call, slots, bindings, &e);
        graph_unpin(graph);
    }
    if (bindings != inline_bindings)
        free(bindings);
    return ok ? WNNStatus_Success : error_publish(&e);
}
