/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes executables: finds for every step which addresses it has, and for every address where it comes from.
 */

#include <stdlib.h>
#include <string.h>

#include "runtime/program/invocation.h"
#include "runtime/program/memory_limit.h"

/* ---- addresses ---- */

/* Sets the location of an address, which may be one that the caller's binding has to set. */
static void add_location(struct executable *x, uint32_t address, const struct location *location)
{
    x->locations[address] = *location;
    if (location->kind == LOCATION_INPUT || location->kind == LOCATION_OUTPUT)
        x->fixups[x->fixup_count++] =
            (struct address_fixup){address, location->kind == LOCATION_OUTPUT, location->slot, location->offset};
}

/* Counts the addresses of program p: those of the steps, then two for each location that moves.  Of them, or of those that
 * move, are at most *bound in bindings. */
static uint32_t count_addresses(const struct program *p, uint32_t *bound)
{
    uint32_t count = *bound = 2 * p->move_count;

    for (uint32_t i = 0; i < p->step_count; count += p->steps[i++].location_count)
        for (uint32_t k = 0; k < p->steps[i].location_count; k++)
            *bound += p->steps[i].locations[k].kind == LOCATION_INPUT || p->steps[i].locations[k].kind == LOCATION_OUTPUT;
    return count;
}

static void add_move(struct executable *x, const struct program *p, const struct program_move *from, uint32_t extra)
{
    struct address_move *m = &x->moves[x->move_count++];

    *m = (struct address_move){x->steps[from->step].first + from->location, extra, NO_ADDRESS, from->stride};
    add_location(x, m->base, &p->steps[from->step].locations[from->location]);
    if (!from->has_first)
        return;
    m->first = extra + 1;
    add_location(x, m->first, &from->first);
}

static void add_loops(struct executable *x, const struct program *p)
{
    uint32_t extra = x->address_count - 2 * p->move_count;

    for (uint32_t i = 0; i < p->loop_count; i++) {
        const struct program_loop *from = &p->loops[i];
        struct executable_loop *l = &x->loops[x->loop_count++];

        *l = (struct executable_loop){from->first, from->count, from->iterations, from->stop, x->move_count, 0};
        for (; x->move_count < p->move_count && p->moves[x->move_count].step < l->first + l->count; extra += 2)
            add_move(x, p, &p->moves[x->move_count], extra);
        l->move_count = x->move_count - l->move;
        for (uint32_t s = l->first; s < l->first + l->count; s++) {
            x->profile.steps[s].flops *= l->iterations;
            x->profile.steps[s].bytes *= l->iterations;
            x->profile.steps[s].operations *= l->iterations;
        }
    }
}

/* ---- steps ---- */

static void profile_library(struct engine *en, const struct library_step *step, struct step_profile *profile)
{
    struct library_step_info info;

    en->functions->optional.library->step_info(step, &info);
    profile->flops = info.flops;
    profile->bytes = info.bytes;
    profile->arithmetic = info.arithmetic;
    profile->operations = info.operations;
    snprintf(profile->implementation, sizeof profile->implementation, "%s", info.implementation ? info.implementation : "");
}

static void add_steps(struct executable *x, const struct program *p)
{
    for (uint32_t i = 0, address = 0; i < p->step_count; i++) {
        const struct program_step *from = &p->steps[i];
        struct executable_step *s = &x->steps[i];
        struct step_profile *profile = &x->profile.steps[i];

        *s = (struct executable_step){.kind = from->kind, .first = address, .count = from->location_count};
        memcpy(profile->name, from->name, sizeof profile->name);
        for (uint32_t k = 0; k < from->location_count; k++) {
            x->written[address] = step_writes(from, k);
            add_location(x, address++, &from->locations[k]);
        }
        switch (from->kind) {
        case STEP_KERNEL:
            profile->flops = profile->operations = from->run.flops;
            profile->bytes = from->run.bytes;
            profile->arithmetic = from->run.multiplies_bytes ? ARITHMETIC_INT8 : ARITHMETIC_FLOAT32;
            break;
        case STEP_LIBRARY:
            s->library = from->library;
            profile_library(x->engine, from->library, profile);
            break;
        case STEP_COPY:
            s->copy_bytes = (size_t)from->locations[0].bytes;
            profile->bytes = 2 * (double)s->copy_bytes;
            break;
        }
    }
}

/* ---- constants ---- */

static bool upload_constants(struct executable *x, struct error *e)
{
    const struct engine_functions *f = x->engine->functions;

    if (f->host_memory)
        return true;
    x->uploaded = arena_array(&x->arena, x->constant_count, sizeof(struct engine_buffer *));
    for (uint32_t i = 0; x->uploaded && i < x->constant_count; i++) { /* they are counted with the constants */
        struct constant *c = x->constants[i];

        x->uploaded[i] = f->optional.constant_create ? f->optional.constant_create(x->engine, c, e)
                                                     : f->buffer_create(x->engine, c->bytes, e);
        if (!x->uploaded[i] ||
            (!f->optional.constant_create && !f->buffer_write(x->engine, x->uploaded[i], 0, c->data, c->bytes, e)))
            return false;
    }
    return x->uploaded || error_out_of_memory(e);
}

/* ---- the whole ---- */

static int compare_constants(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)*(struct constant *const *)a, y = (uintptr_t)*(struct constant *const *)b;

    return (x > y) - (x < y);
}

/* Counts every constant once, however many steps read it.  The list is sorted. */
static size_t distinct_bytes(struct constant **list, uint32_t count)
{
    size_t bytes = 0;

    qsort(list, count, sizeof(struct constant *), compare_constants);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || list[i] != list[i - 1])
            bytes += list[i]->bytes;
    return bytes;
}

static struct library_step_info library_info(const struct executable *x, const struct program_step *s)
{
    struct library_step_info info = {0};

    if (s->kind == STEP_LIBRARY)
        x->engine->functions->optional.library->step_info(s->library, &info);
    return info;
}

/* Returns the bytes of the weights: the program's constants, those that library steps read, and what these have packed. */
static bool weight_bytes(const struct executable *x, const struct program *p, size_t *bytes)
{
    uint32_t count = p->constant_count;

    for (uint32_t i = 0; i < p->step_count; i++)
        count += library_info(x, &p->steps[i]).constant_count;
    struct constant **list = calloc(count ? count : 1, sizeof(struct constant *));
    if (!list)
        return false;
    count = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < p->constant_count; i++)
        list[count++] = p->constants[i];
    for (uint32_t i = 0; i < p->step_count; i++) {
        const struct library_step_info info = library_info(x, &p->steps[i]);

        for (uint32_t k = 0; k < info.constant_count; k++)
            list[count++] = info.constants[k];
        *bytes += (size_t)info.packed_bytes;
    }
    *bytes += distinct_bytes(list, count);
    free(list);
    return true;
}

/* Counts what the graph keeps: its weights, and the memory of one computation, so that a dispatch is not refused for it. */
static bool charge(struct executable *x, const struct program *p, struct error *e)
{
    size_t bytes;

    if (!x->engine->memory_limit)
        return true;
    if (!weight_bytes(x, p, &bytes))
        return error_out_of_memory(e);
    if (!memory_charge(x->engine, bytes + x->memory_bytes, e))
        return false;
    x->held_bytes = bytes + x->memory_bytes;
    return true;
}

static bool fill(struct executable *x, struct program *p, struct error *e)
{
    uint32_t bound;

    x->address_count = count_addresses(p, &bound);
    x->steps = arena_array(&x->arena, p->step_count, sizeof *x->steps);
    x->profile.steps = arena_array(&x->arena, p->step_count, sizeof *x->profile.steps);
    x->locations = arena_array(&x->arena, x->address_count, sizeof *x->locations);
    x->written = arena_array(&x->arena, x->address_count, sizeof *x->written);
    x->fixups = arena_array(&x->arena, bound, sizeof *x->fixups);
    x->loops = arena_array(&x->arena, p->loop_count, sizeof *x->loops);
    x->moves = arena_array(&x->arena, p->move_count, sizeof *x->moves);
    x->constants = arena_array(&x->arena, p->constant_count, sizeof(struct constant *));
    if (!x->steps || !x->profile.steps || !x->locations || !x->written || !x->fixups || !x->loops || !x->moves ||
        !x->constants || !program_describe(p))
        return error_out_of_memory(e);
    if (p->description)
        x->profile.description = arena_string(&x->arena, p->description, strlen(p->description));
    x->step_count = p->step_count;
    add_steps(x, p);
    add_loops(x, p);
    for (; x->constant_count < p->constant_count; x->constant_count++)
        x->constants[x->constant_count] = constant_retain(p->constants[x->constant_count]);
    return upload_constants(x, e);
}

bool executable_init(struct executable *x, struct engine *en, const struct step_functions *functions, struct program *p,
                     struct error *e)
{
    memset(x, 0, sizeof *x);
    if (pthread_mutex_init(&x->pool.lock, NULL) != 0)
        return error_out_of_memory(e);
    x->engine = en;
    x->functions = functions;
    x->arena_bytes = p->arena_bytes;
    x->arena_lower_bound = p->arena_lower_bound;
    x->memory_bytes = (size_t)target_align(p->arena_bytes);
    x->profile.measuring = (en->debug->flags & DEBUG_PROFILE) || en->debug->steps_file;
    x->profile.trace = en->debug->trace;
    if (charge(x, p, e) && fill(x, p, e))
        return true;
    executable_clear(x);
    return false;
}

void executable_take(struct executable *x, struct program *p)
{
    for (uint32_t i = 0; i < p->step_count; i++)
        p->steps[i].library = NULL;
    x->owns_library = true;
    x->profile.printing = x->profile.measuring;
    executable_trace_steps(x);
}

void executable_clear(struct executable *x)
{
    if (!x->engine)
        return;

    const struct engine_functions *f = x->engine->functions;

    if (x->profile.printing && (x->engine->debug->flags & DEBUG_PROFILE))
        executable_print_profile(x, stderr);
    if (x->profile.printing && x->engine->debug->steps_file)
        executable_write_steps(x);
    invocation_free_all(x);
    invocation_free_spare(x);
    for (uint32_t i = 0; i < x->step_count; i++)
        if (x->owns_library && x->steps[i].kind == STEP_LIBRARY)
            f->optional.library->step_free(x->steps[i].library);
    for (uint32_t i = 0; i < x->constant_count; i++) {
        if (x->uploaded && x->uploaded[i])
            f->buffer_free(x->engine, x->uploaded[i]);
        constant_release(x->constants[i]);
    }
    memory_discharge(x->engine, x->held_bytes);
    pthread_mutex_destroy(&x->pool.lock);
    arena_free(&x->arena);
    memset(x, 0, sizeof *x);
}

/* ---- questions ---- */

uint32_t executable_step_calls(const struct executable *x, uint32_t step)
{
    for (uint32_t k = 0; k < x->loop_count; k++)
        if (step - x->loops[k].first < x->loops[k].count)
            return x->loops[k].iterations;
    return 1;
}

uint32_t executable_slots(const struct executable *x, bool output)
{
    uint32_t slots = 0;

    for (uint32_t k = 0; k < x->fixup_count; k++)
        if (x->fixups[k].output == output && x->fixups[k].slot >= slots)
            slots = x->fixups[k].slot + 1;
    return slots;
}
