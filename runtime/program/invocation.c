/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs executables: the pool of invocations, binding, and the loop over the steps.
 */

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "ir/support/trace.h"
#include "runtime/program/memory_limit.h"
#include "runtime/program/wanted.h"

/* So many invocations are kept for later, as many as computations usually overlap. */
enum { INVOCATIONS_KEPT = 4 };

/* ---- invocations ---- */

static void invocation_free(struct invocation *i)
{
    struct engine *en = i->executable->engine;

    if (i->executable->functions->destroy)
        i->executable->functions->destroy(i);
    if (i->memory)
        memory_buffer_free(en, i->memory);
    if (i->borrows)
        atomic_store(&i->executable->lends, false);
    free(i->addresses);
    free(i->chosen);
    free(i);
}

static void set_addresses(struct invocation *i)
{
    const struct executable *x = i->executable;

    for (uint32_t k = 0; k < x->address_count; k++) {
        const struct location *l = &x->locations[k];

        if (l->kind == LOCATION_ARENA)
            i->addresses[k] = i->memory->address + (engine_address)l->offset;
        else if (l->kind == LOCATION_CONSTANT && x->uploaded)
            i->addresses[k] = x->uploaded[l->slot]->address + (engine_address)l->offset;
        else if (l->kind == LOCATION_CONSTANT) /* read only */
            i->addresses[k] = (engine_address)x->constants[l->slot]->data + (engine_address)l->offset;
    }
}

static bool take_memory(struct invocation *i, struct error *e)
{
    struct executable *x = i->executable;
    struct engine *en = x->engine;

    i->memory = x->pool.shares_memory ? atomic_exchange(&en->spare_memory, NULL) : NULL;
    if (i->memory && i->memory->bytes < x->memory_bytes) {
        memory_buffer_free(en, i->memory);
        i->memory = NULL;
    }
    if (!i->memory) {
        i->borrows = !x->pool.shares_memory && !atomic_exchange(&x->lends, true);
        i->memory =
            i->borrows ? en->functions->buffer_create(en, x->memory_bytes, e) : memory_buffer_create(en, x->memory_bytes, e);
    }
    if (i->memory)
        set_addresses(i);
    return i->memory != NULL;
}

/* Leaves memory to the next computation: the larger, if another one has left some meanwhile. */
static void leave_memory(struct engine *en, struct engine_buffer *b)
{
    struct engine_buffer *other = atomic_exchange(&en->spare_memory, NULL);
    const bool smaller = other && other->bytes > b->bytes;
    struct engine_buffer *gone = atomic_exchange(&en->spare_memory, smaller ? other : b);

    if (other)
        memory_buffer_free(en, smaller ? b : other);
    if (gone)
        memory_buffer_free(en, gone);
}

void invocation_free_spare(struct executable *x)
{
    struct engine_buffer *b = x->pool.shares_memory ? atomic_exchange(&x->engine->spare_memory, NULL) : NULL;

    if (b && b->bytes == x->memory_bytes)
        memory_buffer_free(x->engine, b);
    else if (b)
        leave_memory(x->engine, b);
}

static struct invocation *invocation_create(struct executable *x, struct error *e)
{
    struct invocation *i = calloc(1, sizeof *i);

    if (!i)
        return error_null_memory(e);
    i->executable = x;
    i->addresses = calloc((size_t)x->address_count + 1, sizeof *i->addresses);
    if (!i->addresses || !take_memory(i, e))
        error_out_of_memory(e); /* unless the engine has said why */
    else if (!x->functions->create || x->functions->create(i, e))
        return i;
    invocation_free(i);
    return NULL;
}

static struct invocation *invocation_take(struct executable *x, struct error *e)
{
    pthread_mutex_lock(&x->pool.lock);
    struct invocation *i = x->pool.first;
    if (i) {
        x->pool.first = i->next;
        x->pool.count--;
    }
    pthread_mutex_unlock(&x->pool.lock);
    if (!i)
        return invocation_create(x, e);
    if (i->memory || take_memory(i, e))
        return i;
    error_out_of_memory(e);
    invocation_free(i);
    return NULL;
}

static void invocation_give(struct invocation *i)
{
    struct invocation_pool *pool = &i->executable->pool;

    if (pool->shares_memory) {
        leave_memory(i->executable->engine, i->memory);
        i->memory = NULL;
    }
    pthread_mutex_lock(&pool->lock);
    bool keep = pool->count < INVOCATIONS_KEPT;
    if (keep) {
        i->next = pool->first;
        pool->first = i;
        pool->count++;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!keep)
        invocation_free(i);
}

void invocation_free_all(struct executable *x)
{
    for (struct invocation *i = x->pool.first, *next; i; i = next) {
        next = i->next;
        invocation_free(i);
    }
    x->pool.first = NULL;
    x->pool.count = 0;
}

/* ---- steps ---- */

/* Steps [first, end), *start being when they begin. */
static bool run_range(struct invocation *i, uint32_t first, uint32_t end, const bool *skipped, const struct engine_stop *stop,
                      uint64_t *start, struct error *e)
{
    struct executable *x = i->executable;

    for (uint32_t s = first; s < end; s++) {
        if (skipped && skipped[s])
            continue;
        if (engine_stops(stop))
            return error_set(e, WNNStatus_InvalidStateError, "the computation was stopped");
        if (!x->functions->run[x->steps[s].kind](i, s))
            return error_set(e, WNNStatus_OperationError, "step %u, %s, failed%s%s", s, x->profile.steps[s].name,
                             i->failure[0] ? ": " : "", i->failure);
        if ((x->profile.measuring || x->profile.trace) && !x->functions->counts_steps) {
            const uint64_t now = nanoseconds_now();

            executable_count_span(x, s, *start, now);
            *start = now;
        }
    }
    return true;
}

static void move_addresses(struct invocation *i, const struct executable_loop *l, uint32_t k)
{
    for (uint32_t n = l->move; n < l->move + l->move_count; n++) {
        const struct address_move *m = &i->executable->moves[n];
        bool other = m->first != NO_ADDRESS;

        if (other && k == 0)
            i->addresses[m->address] = i->addresses[m->first];
        else
            i->addresses[m->address] = i->addresses[m->base] + (engine_address)(m->stride * ((int64_t)k - other));
    }
}

/* Returns whether a loop's iterations that follow change nothing, by what its copy wrote or was there before it.  With
 * sanitizers, steps leave all memory but their own operands poisoned. */
__attribute__((no_sanitize_address)) static bool has_stopped(const struct invocation *i, const struct executable_loop *l)
{
    return *(const uint8_t *)i->addresses[i->executable->steps[l->stop - 1].first + 1];
}

static bool run_steps(struct invocation *i, const bool *skipped, const struct engine_stop *stop, struct error *e)
{
    const struct executable *x = i->executable;
    uint64_t start = x->profile.measuring || x->profile.trace ? nanoseconds_now() : 0;
    uint32_t done = 0;

    for (uint32_t n = 0; n < x->loop_count; n++) {
        const struct executable_loop *l = &x->loops[n];

        if (!run_range(i, done, l->first, skipped, stop, &start, e))
            return false;
        for (uint32_t k = 0; k < l->iterations; k++) {
            /* Where a step is only started there is nothing to read yet. */
            if (l->stop && !x->functions->counts_steps && has_stopped(i, l))
                break;
            move_addresses(i, l, k);
            i->is_odd = k % 2;
            if (!run_range(i, l->first, l->first + l->count, skipped, stop, &start, e))
                return false;
        }
        i->is_odd = false;
        done = l->first + l->count;
    }
    return run_range(i, done, x->step_count, skipped, stop, &start, e);
}

/* Returns whether all outputs are wanted. */
static bool bind(struct invocation *i, const struct engine_binding *inputs, const struct engine_binding *outputs)
{
    const struct executable *x = i->executable;
    bool all = true;

    for (uint32_t k = 0; k < x->fixup_count; k++) {
        const struct address_fixup *f = &x->fixups[k];
        const struct engine_binding *b = f->output ? &outputs[f->slot] : &inputs[f->slot];

        i->addresses[f->address] = (b->buffer ? b->buffer->address : (engine_address)b->host) + (engine_address)f->offset;
        all = all && !b->is_unwanted;
    }
    return all;
}

/* ---- warming ---- */

/* The bindings while an executable is warmed: one block of memory, zeros for all inputs in front of the outputs. */
struct warm_bindings {
    struct engine_binding *inputs, *outputs;
    char *memory;
};

/* Returns how many bytes from an address on the steps touch at most, whatever the iteration of a loop. */
static int64_t extent_of(const struct executable *x, uint32_t address)
{
    int64_t extent = x->locations[address].bytes;

    for (uint32_t n = 0; n < x->loop_count; n++) {
        const struct executable_loop *l = &x->loops[n];

        for (uint32_t m = l->move; m < l->move + l->move_count; m++)
            if (x->moves[m].base == address && x->moves[m].stride > 0)
                extent = x->locations[address].bytes + x->moves[m].stride * (int64_t)l->iterations;
    }
    return extent;
}

/* Makes bytes[slot] what the steps touch of each slot. */
static void measure_slots(const struct executable *x, bool output, size_t *bytes)
{
    for (uint32_t k = 0; k < x->fixup_count; k++) {
        const struct address_fixup *f = &x->fixups[k];
        const size_t end = (size_t)(f->offset + extent_of(x, f->address));

        if (f->output == output && end > bytes[f->slot])
            bytes[f->slot] = end;
    }
}

static bool warm_bind(const struct executable *x, size_t bytes_most, struct warm_bindings *w)
{
    const uint32_t inputs = executable_slots(x, false), outputs = executable_slots(x, true);
    size_t *bytes = calloc((size_t)inputs + outputs + 1, sizeof *bytes), most = 0, all = 0;

    w->inputs = calloc((size_t)inputs + 1, sizeof *w->inputs);
    w->outputs = calloc((size_t)outputs + 1, sizeof *w->outputs);
    if (bytes && w->inputs && w->outputs) {
        measure_slots(x, false, bytes);
        measure_slots(x, true, bytes + inputs);
        for (size_t k = 0; k < inputs; k++)
            most = bytes[k] > most ? bytes[k] : most;
        all = (size_t)target_align((int64_t)most);
        for (size_t k = 0; k < outputs; k++)
            all += (size_t)target_align((int64_t)bytes[inputs + k]);
        if (all <= bytes_most) /* a table of which little is read may be large */
            w->memory = aligned_alloc(TARGET_ALIGNMENT, all + TARGET_ALIGNMENT);
    }
    if (w->memory) {
        char *at = w->memory + target_align((int64_t)most);

        memset(w->memory, 0, all + TARGET_ALIGNMENT);
        for (size_t k = 0; k < inputs; k++)
            w->inputs[k].host = w->memory;
        for (size_t k = 0; k < outputs; at += target_align((int64_t)bytes[inputs + k++]))
            w->outputs[k].host = at;
    }
    free(bytes);
    return w->memory != NULL;
}

void executable_warm(struct executable *x, size_t bytes_most)
{
    const struct profile before = {.measuring = x->profile.measuring, .trace = x->profile.trace};
    struct warm_bindings w = {0};
    struct error e = {0};
    fenv_t environment;

    x->profile.measuring = false;
    x->profile.trace = NULL;
    /* What zeros do to arithmetic does not matter: no exception is raised, and none stays. */
    if (warm_bind(x, bytes_most, &w) && feholdexcept(&environment) == 0) {
        (void)executable_run(x, w.inputs, w.outputs, NULL, &e);
        fesetenv(&environment);
    }
    x->profile.measuring = before.measuring;
    x->profile.trace = before.trace;
    free(w.memory);
    free(w.inputs);
    free(w.outputs);
}

/* ---- running ---- */

bool executable_run(struct executable *x, const struct engine_binding *inputs, const struct engine_binding *outputs,
                    const struct engine_stop *stop, struct error *e)
{
    uint64_t start = x->profile.measuring ? nanoseconds_now() : 0;
    struct invocation *i = invocation_take(x, e);

    if (!i)
        return false;
    i->failure[0] = '\0';
    i->is_odd = false;
    bool ok = !x->functions->begin || x->functions->begin(i, e);
    if (ok) {
        const bool all = bind(i, inputs, outputs);

        ok = run_steps(i, all ? NULL : wanted_skips(i, outputs), stop, e);
        if (x->functions->end)
            x->functions->end(i, ok);
    }
    invocation_give(i);
    if (x->profile.measuring && !x->functions->counts_steps)
        executable_count_run(x, nanoseconds_now() - start);
    return ok;
}
