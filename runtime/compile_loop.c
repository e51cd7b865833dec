/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Compiles the graphs of a recurrent node (passes/recurrent.h), each like a graph of its own, and joins their programs.
 *
 * Inputs and outputs of those programs are places of the program around them: of a value there, of a buffer of the loop's, or
 * zeros.  Buffers and arenas lie behind the outer program's arena: buffers first, then one region that the inner programs,
 * which run one after the other, all use.
 */
#include "runtime/compile_loop.h"

#include <stdlib.h>
#include <string.h>

#include "passes/recurrent.h"

enum { ALIGN = 64, PROGRAMS_MAX = 1 + RECURRENT_DIRECTIONS_MAX };

struct compiled_loop {
    struct recurrent_loop loop;
    const struct node *node;
    uint32_t program_count;
    struct program programs[PROGRAMS_MAX]; /* before, then a step per direction */
    int64_t buffer_offsets[LOOP_BUFFERS_MAX], inner_arena;
    struct loop_size size;
};

static struct loop_graph *graph_of(struct compiled_loop *l, uint32_t program)
{
    return program ? &l->loop.step[program - 1] : &l->loop.before;
}

static int64_t align_up(int64_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* ---- compiling ---- */

static void add_times(struct compile_times *to, const struct compile_times *t)
{
    to->passes += t->passes;
    to->library += t->library;
    to->lower += t->lower;
    to->storage += t->storage;
}

/** What the program adds to the outer one, its places aside. */
static void measure(struct compiled_loop *l, uint32_t program)
{
    const struct program *p = &l->programs[program];
    const struct loop_graph *lg = graph_of(l, program);
    uint32_t places = 0;

    for (uint32_t i = 0; i < p->step_count; i++)
        places += p->steps[i].place_count;
    l->size.steps += p->step_count + lg->copy_count;
    l->size.loops += program > 0;
    l->size.moves += program > 0 ? places : 0;
    l->size.constants += p->constant_count;
    if (p->arena_bytes > l->inner_arena)
        l->inner_arena = p->arena_bytes;
}

static bool compile_programs(struct compiled_loop *l, struct engine *en, const struct target *t, bool (*cancelled)(void *user),
                             void *user, struct compile_times *times, struct error *e)
{
    struct target alone = *t;

    alone.takes_node = NULL;
    alone.takes_operand = NULL;
    alone.takes_epilogue = NULL;
    alone.narrows_node = NULL;
    alone.narrows_input = NULL;
    alone.takes_quantized = NULL;
    for (uint32_t i = 0; i < 1 + l->loop.direction_count; i++) {
        struct loop_graph *lg = graph_of(l, i);
        struct compile_times own;

        if (!compile_for_target(en, lg->no_library ? &alone : t, lg->graph, cancelled, user, &l->programs[i], &own, e))
            return false;
        l->program_count++;
        add_times(times, &own);
        measure(l, i);
        /* What the program needs it holds itself. */
        graph_free(lg->graph);
        lg->graph = NULL;
    }
    return true;
}

struct compiled_loop *loop_compile(struct engine *en, const struct target *t, const struct node *n,
                                   bool (*cancelled)(void *user), void *user, struct compile_times *times, struct error *e)
{
    struct compiled_loop *l = calloc(1, sizeof *l);
    int64_t offset = 0;

    if (!l) {
        error_out_of_memory(e);
        return NULL;
    }
    l->node = n;
    if (!recurrent_loop_create(n, t, &l->loop, e) || !compile_programs(l, en, t, cancelled, user, times, e)) {
        loop_free(l);
        return NULL;
    }
    for (uint32_t i = 0; i < l->loop.buffer_count; i++) {
        l->buffer_offsets[i] = offset;
        offset += align_up(l->loop.buffers[i]);
    }
    l->size.steps += l->loop.copy_count;
    l->size.constants++; /* zeros */
    l->size.arena_bytes = offset + align_up(l->inner_arena);
    return l;
}

void loop_free(struct compiled_loop *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->program_count; i++)
        program_free(&l->programs[i]);
    recurrent_loop_free(&l->loop);
    free(l);
}

struct loop_size loop_get_size(const struct compiled_loop *l)
{
    return l->size;
}

/* ---- joining ---- */

struct joiner {
    struct compiled_loop *l;
    struct program *p;
    int64_t base;
    bool (*place_value)(void *user, const struct value *v, struct place *place);
    void *user;
    struct error *e;
    uint32_t zeros; /* slot of the constant + 1 */
};

/** The one constant of zeros: all states have one size. */
static bool place_zeros(struct joiner *j, int64_t bytes, struct place *place)
{
    if (!j->zeros) {
        struct constant *c = constant_create(NULL, (size_t)bytes);
        if (!c)
            return error_out_of_memory(j->e);
        memset((void *)c->data, 0, c->bytes); /* ours alone so far */
        j->p->constants[j->p->constant_count++] = c;
        j->zeros = j->p->constant_count;
    }
    *place = (struct place){.kind = PLACE_CONSTANT, .slot = j->zeros - 1};
    return true;
}

static bool place_bytes(struct joiner *j, const struct loop_bytes *b, struct place *place)
{
    switch (b->kind) {
    case LOOP_VALUE:
        if (!j->place_value(j->user, b->value, place))
            return false;
        break;
    case LOOP_BUFFER:
        *place = (struct place){.kind = PLACE_ARENA, .offset = j->base + j->l->buffer_offsets[b->buffer]};
        break;
    case LOOP_ZEROS:
        if (!place_zeros(j, b->bytes, place))
            return false;
        break;
    }
    place->offset += b->offset;
    place->bytes = b->bytes;
    return true;
}

/** An inner program's place in terms of the outer one.  constants: slot of its first; m: how it moves, if it does. */
static bool place_inner(struct joiner *j, const struct loop_graph *lg, const struct place *from, uint32_t constants,
                        struct place *to, struct program_move *m)
{
    const int64_t buffers = j->l->size.arena_bytes - align_up(j->l->inner_arena);
    const struct loop_operand *o = from->kind == PLACE_INPUT ? &lg->inputs[from->slot] : &lg->outputs[from->slot];

    *to = *from;
    if (from->kind == PLACE_CONSTANT)
        to->slot += constants;
    if (from->kind == PLACE_ARENA)
        to->offset += j->base + buffers;
    if (from->kind == PLACE_CONSTANT || from->kind == PLACE_ARENA)
        return true;
    if (!place_bytes(j, &o->at, to))
        return false;
    to->offset += from->offset;
    to->bytes = from->bytes;
    m->stride = o->stride;
    m->has_first = o->has_first;
    if (!o->has_first)
        return true;
    if (!place_bytes(j, &o->first, &m->first))
        return false;
    m->first.offset += from->offset;
    m->first.bytes = from->bytes;
    return true;
}

static bool append_copy(struct joiner *j, const struct loop_copy *c)
{
    struct program_step *s = &j->p->steps[j->p->step_count];

    *s = (struct program_step){.kind = STEP_COPY, .place_count = 2};
    snprintf(s->name, sizeof s->name, "%s_%u state", op_infos[j->l->node->op].name, j->l->node->index);
    s->places = arena_array(&j->p->arena, 2, sizeof *s->places);
    if (!s->places)
        return error_out_of_memory(j->e);
    j->p->step_count++;
    return place_bytes(j, &c->from, &s->places[0]) && place_bytes(j, &c->to, &s->places[1]);
}

static bool append_step(struct joiner *j, const struct loop_graph *lg, struct program_step *from, uint32_t constants)
{
    struct program_step *s = &j->p->steps[j->p->step_count];

    *s = *from;
    s->places = arena_array(&j->p->arena, from->place_count, sizeof *s->places);
    if (!s->places)
        return error_out_of_memory(j->e);
    snprintf(s->name, sizeof s->name, "%s_%u %.40s", op_infos[j->l->node->op].name, j->l->node->index, from->name);
    j->p->step_count++;
    from->kernel = NULL;
    from->library = NULL;
    for (uint32_t i = 0; i < from->place_count; i++) {
        struct program_move m = {.step = j->p->step_count - 1, .place = i};
        if (!place_inner(j, lg, &from->places[i], constants, &s->places[i], &m))
            return false;
        if (m.stride || m.has_first)
            j->p->moves[j->p->move_count++] = m;
    }
    return true;
}

static bool append_program(struct joiner *j, uint32_t program)
{
    struct program *from = &j->l->programs[program], *p = j->p;
    const struct loop_graph *lg = graph_of(j->l, program);
    const uint32_t constants = p->constant_count, first = p->step_count;

    for (uint32_t i = 0; i < from->constant_count; i++)
        p->constants[p->constant_count++] = constant_retain(from->constants[i]);
    for (uint32_t i = 0; i < from->step_count; i++)
        if (!append_step(j, lg, &from->steps[i], constants))
            return false;
    for (uint32_t i = 0; i < lg->copy_count; i++)
        if (!append_copy(j, &lg->copies[i]))
            return false;
    if (program > 0)
        p->loops[p->loop_count++] = (struct program_loop){first, p->step_count - first, j->l->loop.iterations};
    return true;
}

bool loop_append(struct compiled_loop *l, struct program *p, int64_t arena_base,
                 bool (*place_value)(void *user, const struct value *v, struct place *place), void *user, struct error *e)
{
    struct joiner j = {.l = l, .p = p, .base = arena_base, .place_value = place_value, .user = user, .e = e};

    for (uint32_t i = 0; i < l->program_count; i++)
        if (!append_program(&j, i))
            return false;
    for (uint32_t i = 0; i < l->loop.copy_count; i++)
        if (!append_copy(&j, &l->loop.copies[i]))
            return false;
    return true;
}
