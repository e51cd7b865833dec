/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computing: wnnContextDispatch on tensors, behind the work submitted before; wnnGraphCompute on host buffers, at once.
 *
 * In: names with tensors or buffers.  Out: bindings by slot for the engine, after every check of the specification's steps.
 */
#include "runtime/context.h"
#include "runtime/threads.h"

#include <stdlib.h>
#include <string.h>

/* Bindings that a compute call can hold without allocating. */
enum { BINDINGS_INLINE = 32 };

static const char *quote(char *buf, size_t size, WNNStringView name)
{
    return escape_text(buf, size, name.data ? name.data : "", name.data ? view_length(name) : 0);
}

/* ---- names ---- */

/* Given names must be exactly the graph's: as many, each known, none twice.  slots receives the binding of each. */
static bool names_match(const char *call, const char *what, const struct image_binding *bindings, uint32_t count, size_t given,
                        WNNStringView (*name_at)(const void *items, size_t i), const void *items, uint32_t *slots,
                        struct error *e)
{
    char name[160];

    if (given != count)
        return error_set(e, WNNStatus_TypeError, "%s: %zu %ss are given, the graph has %u", call, given, what, count);
    if (count > 0 && !items)
        return error_set(e, WNNStatus_TypeError, "%s: the %ss are NULL", call, what);
    for (uint32_t i = 0; i < count; i++) {
        WNNStringView view = name_at(items, i);

        if (view.length != 0 && !view.data)
            return error_set(e, WNNStatus_TypeError, "%s: %ss[%u] has a name that is NULL", call, what, i);
        slots[i] = graph_find_binding(bindings, count, view, i);
        if (slots[i] == count)
            return error_set(e, WNNStatus_TypeError, "%s: %ss[%u] is named \"%s\", the graph has no such %s", call, what, i,
                             quote(name, sizeof name, view), what);
        /* In the usual order the slot is i itself, and nothing needs comparing. */
        for (uint32_t j = 0; slots[i] != i && j < i; j++)
            if (slots[j] == slots[i])
                return error_set(e, WNNStatus_TypeError, "%s: %ss[%u] and %ss[%u] are both named \"%s\"", call, what, j, what,
                                 i, quote(name, sizeof name, view));
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

/* ---- dispatch ---- */

struct dispatch_task {
    struct context_task base;
    WNNGraph graph; /* pinned */
    uint32_t tensor_count;
    WNNTensor *tensors;                      /* pinned; inputs, then outputs, in the order given */
    struct engine_binding *inputs, *outputs; /* by slot */
};

static void dispatch_run(struct context_task *base)
{
    struct dispatch_task *t = (struct dispatch_task *)base;
    WNNContext context = base->context;
    struct error e;
    char message[sizeof e.message + 64];

    if (atomic_load(&context->lost))
        return;
    error_clear(&e);
    if (context->engine->functions->run(t->graph->executable, t->inputs, t->outputs, &context->lost, &e))
        return;
    /* The specification has no way to report this (its issue 778): going on with wrong contents would be worse than stopping.
     */
    snprintf(message, sizeof message, "the context was lost: a dispatch failed: %s", e.message);
    context_lose(context, message);
}

static void dispatch_release(struct context_task *base)
{
    struct dispatch_task *t = (struct dispatch_task *)base;

    for (uint32_t i = 0; i < t->tensor_count; i++)
        tensor_unpin(t->tensors[i]);
    graph_unpin(t->graph);
}

/* Each tensor once, of this context, not destroyed.  The lock is held. */
static bool dispatch_check_tensors(WNNContext context, const char *what, size_t count, WNNNamedTensor const *items,
                                   uint64_t mark, struct error *e)
{
    char name[160];

    for (size_t i = 0; i < count; i++) {
        WNNTensor t = items[i].tensor;

        if (!t)
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" is NULL", what,
                             quote(name, sizeof name, items[i].name));
        if (t->context != context)
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" belongs to another context", what,
                             quote(name, sizeof name, items[i].name));
        if (t->mark == mark)
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" is given more than once", what,
                             quote(name, sizeof name, items[i].name));
        t->mark = mark;
        if (t->destroyed)
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" is destroyed", what,
                             quote(name, sizeof name, items[i].name));
    }
    return true;
}

/* The specification's "validate tensors with descriptors". */
static bool dispatch_check_descriptors(const char *what, const struct image_binding *bindings, uint32_t count, size_t given,
                                       WNNNamedTensor const *items, uint32_t *slots, struct error *e)
{
    char name[160], tensor_text[128], graph_text[128];

    if (!names_match("dispatch", what, bindings, count, given, tensor_name_at, items, slots, e))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        WNNTensor t = items[i].tensor;
        const struct image_binding *b = &bindings[slots[i]];

        if (t->constant)
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" is constant", what,
                             quote(name, sizeof name, items[i].name));
        if (!type_equal(&t->type, &b->type))
            return error_set(e, WNNStatus_TypeError, "dispatch: the tensor for %s \"%s\" is %s, the graph has %s", what,
                             quote(name, sizeof name, items[i].name), type_print(tensor_text, sizeof tensor_text, &t->type),
                             type_print(graph_text, sizeof graph_text, &b->type));
    }
    return true;
}

/* The method steps, in their order.  The lock is held. */
static bool dispatch_check(WNNContext context, WNNGraph graph, size_t input_count, WNNNamedTensor const *inputs,
                           size_t output_count, WNNNamedTensor const *outputs, uint32_t *slots, struct error *e)
{
    uint64_t mark = ++context->next_mark;

    if (graph->destroyed)
        return error_set(e, WNNStatus_InvalidStateError, "dispatch: %s",
                         atomic_load(&context->lost) ? "the context is lost" : "the graph is destroyed");
    return dispatch_check_tensors(context, "input", input_count, inputs, mark, e) &&
           dispatch_check_tensors(context, "output", output_count, outputs, mark, e) &&
           dispatch_check_descriptors("input", graph->inputs, graph->input_count, input_count, inputs, slots, e) &&
           dispatch_check_descriptors("output", graph->outputs, graph->output_count, output_count, outputs,
                                      slots + graph->input_count, e);
}

/* A task with room for everything behind it, in one allocation. */
static struct dispatch_task *dispatch_create(WNNGraph graph, uint32_t **slots)
{
    size_t named = (size_t)graph->input_count + graph->output_count,
           bindings = (size_t)graph->input_slots + graph->output_count;
    struct dispatch_task *t =
        calloc(1, sizeof *t + bindings * sizeof(struct engine_binding) + named * sizeof(WNNTensor) + named * sizeof(uint32_t));

    if (!t)
        return NULL;
    t->inputs = (struct engine_binding *)(t + 1);
    t->outputs = t->inputs + graph->input_slots;
    t->tensors = (WNNTensor *)(t->inputs + bindings);
    *slots = (uint32_t *)(t->tensors + named);
    t->base.run = dispatch_run;
    t->base.release = dispatch_release;
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

/* On the calling thread, whose turn it is: what takes less time than waking the timeline's thread would. */
static void dispatch_now(WNNContext context, struct dispatch_task *t)
{
    t->base.context = context;
    dispatch_run(&t->base);
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
    if (!context || !graph || (inputCount > 0 && !inputs) || (outputCount > 0 && !outputs)) {
        error_set(&e, WNNStatus_TypeError, "dispatch: %s NULL",
                  !context                    ? "context is"
                  : !graph                    ? "graph is"
                  : inputCount > 0 && !inputs ? "inputs are"
                                              : "outputs are");
        return error_publish(&e);
    }
    if (graph->context != context) {
        error_set(&e, WNNStatus_TypeError, "dispatch: the graph belongs to another context");
        return error_publish(&e);
    }
    struct dispatch_task *t = dispatch_create(graph, &slots);
    if (!t) {
        error_out_of_memory(&e);
        return error_publish(&e);
    }
    pthread_mutex_lock(&context->lock);
    bool ok = dispatch_check(context, graph, inputCount, inputs, outputCount, outputs, slots, &e);
    bool brief = ok && context->engine->functions->is_brief(graph->executable);
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

/* Byte lengths, then overlap: only inputs may share memory with each other. */
static bool compute_check_buffers(const char *what, const struct image_binding *bindings, uint32_t count,
                                  WNNNamedBuffer const *items, const uint32_t *slots, struct error *e)
{
    char name[160];

    for (uint32_t i = 0; i < count; i++) {
        size_t bytes = (size_t)type_bytes(&bindings[slots[i]].type);

        if (items[i].byteLength != bytes)
            return error_set(e, WNNStatus_TypeError, "compute: the buffer for %s \"%s\" has %zu bytes, the graph needs %zu",
                             what, quote(name, sizeof name, items[i].name), items[i].byteLength, bytes);
        if (!items[i].data)
            return error_set(e, WNNStatus_TypeError, "compute: the buffer for %s \"%s\" is NULL", what,
                             quote(name, sizeof name, items[i].name));
    }
    return true;
}

static bool compute_overlaps(const WNNNamedBuffer *a, const WNNNamedBuffer *b)
{
    uintptr_t a_start = (uintptr_t)a->data, b_start = (uintptr_t)b->data;

    return a_start < b_start + b->byteLength && b_start < a_start + a->byteLength;
}

static bool compute_check_overlap(size_t input_count, WNNNamedBuffer const *inputs, size_t output_count,
                                  WNNNamedBuffer const *outputs, struct error *e)
{
    char first[160], second[160];

    for (size_t o = 0; o < output_count; o++) {
        for (size_t i = 0; i < input_count; i++)
            if (compute_overlaps(&inputs[i], &outputs[o]))
                return error_set(e, WNNStatus_TypeError, "compute: the buffers for input \"%s\" and output \"%s\" overlap",
                                 quote(first, sizeof first, inputs[i].name), quote(second, sizeof second, outputs[o].name));
        for (size_t i = 0; i < o; i++)
            if (compute_overlaps(&outputs[i], &outputs[o]))
                return error_set(e, WNNStatus_TypeError, "compute: the buffers for outputs \"%s\" and \"%s\" overlap",
                                 quote(first, sizeof first, outputs[i].name), quote(second, sizeof second, outputs[o].name));
    }
    return true;
}

static bool compute_check(WNNGraph graph, size_t input_count, WNNNamedBuffer const *inputs, size_t output_count,
                          WNNNamedBuffer const *outputs, uint32_t *slots, struct error *e)
{
    uint32_t *output_slots = slots + graph->input_count;

    return names_match("compute", "input", graph->inputs, graph->input_count, input_count, buffer_name_at, inputs, slots, e) &&
           names_match("compute", "output", graph->outputs, graph->output_count, output_count, buffer_name_at, outputs,
                       output_slots, e) &&
           compute_check_buffers("input", graph->inputs, graph->input_count, inputs, slots, e) &&
           compute_check_buffers("output", graph->outputs, graph->output_count, outputs, output_slots, e) &&
           compute_check_overlap(input_count, inputs, output_count, outputs, e);
}

/* A computation that has to wait for its turn; its caller waits, so everything lies with the caller. */
struct compute_task {
    struct context_task base;
    struct compute_wait *wait;
};

struct compute_wait {
    WNNGraph graph; /* pinned by the caller */
    const struct engine_binding *inputs, *outputs;
    bool done, ok;
    struct error *e;
};

static void compute_run(struct context_task *base)
{
    struct compute_wait *w = ((struct compute_task *)base)->wait;
    WNNContext context = base->context;
    bool ok = !atomic_load(&context->lost) &&
              context->engine->functions->run(w->graph->executable, w->inputs, w->outputs, &context->lost, w->e);

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
    /* Regions inside a caller's region would have one thread, which library primitives were not made for: the timeline's
     * thread is in none.  On that thread itself there is no other choice than to compute now. */
    bool here = timeline_is_current(context->timeline) || (!threads_in_region() && timeline_is_idle(context->timeline));

    if (here)
        return context->engine->functions->run(graph->executable, inputs, outputs, &context->lost, e);
    struct compute_wait w = {graph, inputs, outputs, false, false, e};
    return compute_queue(context, &w);
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
    bool ok = compute_bound(context, graph, bindings, out, e);
    bool lost = atomic_load(&context->lost);
    graph_unpin(graph);
    if (ok && !lost)
        return WNNStatus_Success;
    if (lost) {
        error_clear(e);
        error_set(e, WNNStatus_InvalidStateError, "compute: the context was lost meanwhile");
    }
    return error_publish(e);
}

WNNStatus wnnGraphCompute(WNNGraph graph, size_t inputCount, WNNNamedBuffer const *inputs, size_t outputCount,
                          WNNNamedBuffer const *outputs)
{
    struct engine_binding inline_bindings[BINDINGS_INLINE], *bindings = inline_bindings;
    uint32_t inline_slots[BINDINGS_INLINE], *slots = inline_slots;
    struct error e;
    WNNStatus status;

    error_clear(&e);
    if (!graph) {
        error_set(&e, WNNStatus_TypeError, "compute: graph is NULL");
        return error_publish(&e);
    }
    size_t needed = (size_t)graph->input_slots + graph->output_count;
    if (needed > BINDINGS_INLINE) {
        bindings = calloc(needed, sizeof *bindings + sizeof *slots);
        if (!bindings) {
            error_out_of_memory(&e);
            return error_publish(&e);
        }
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
