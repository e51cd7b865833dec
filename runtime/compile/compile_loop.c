/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Compiles the graphs of a recurrent node or a loop (passes/recurrent/recurrent.h), each like a separate graph, and joins
 * their programs.
 *
 * Inputs and outputs of those programs are locations of the program around them: of a value there, of a buffer of the loop's,
 * or zeros.  Buffers and arenas lie after the outer program's arena: buffers first, then one region that the inner programs,
 * which run one after the other, all use.
 */
#include "runtime/compile/compile_loop.h"

#include <stdlib.h>
#include <string.h>

#include "passes/recurrent/recurrent.h"
#include "runtime/compile/matching.h"

enum { PROGRAMS_MAX = 1 + RECURRENT_DIRECTIONS_MAX };

struct compiled_loop {
    struct recurrent_loop loop;
    const struct node *node;
    uint32_t program_count;
    struct program programs[PROGRAMS_MAX]; /* before, then a step per direction */
    int64_t *buffer_offsets, inner_arena;
    struct loop_size size;
};

static struct loop_graph *graph_of(struct compiled_loop *l, uint32_t program)
{
    return program ? &l->loop.step[program - 1] : &l->loop.before;
}

/* ---- compiling ---- */

static void add_times(struct compile_times *to, const struct compile_times *t)
{
    to->passes += t->passes;
    to->library += t->library;
    to->lower += t->lower;
    to->storage += t->storage;
}

static void add_quantized(WNNQuantizedWeights *to, const WNNQuantizedWeights *own)
{
    to->matrices += own->matrices;
    to->bytesBefore += own->bytesBefore;
    to->bytesAfter += own->bytesAfter;
}

static void measure(struct compiled_loop *l, uint32_t program)
{
    const struct program *p = &l->programs[program];
    uint32_t locations = 0;

    for (uint32_t i = 0; i < p->step_count; i++)
        locations += p->steps[i].location_count;
    l->size.steps += p->step_count;
    l->size.loops += program > 0;
    l->size.moves += program > 0 ? locations : 0;
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
    alone.takes_low_precision = NULL;
    alone.takes_low_precision_input = NULL;
    alone.takes_quantized = NULL;
    for (uint32_t i = 0; i < 1 + l->loop.direction_count; i++) {
        struct loop_graph *lg = graph_of(l, i);
        struct compile_times own;

        l->size.steps += lg->copy_count;
        if (!lg->graph) { /* nothing is done before the loop */
            l->program_count++;
            continue;
        }
        const bool planned = lg->graph->origin.is_clustered;
        if (!compile_for_target(en, lg->no_library ? &alone : t, lg->graph, false, cancelled, user, &l->programs[i], &own, e))
            return false;
        l->program_count++;
        add_times(times, &own);
        measure(l, i);
        if (!planned)
            add_quantized(&l->node->graph->quantized.counts, &lg->graph->quantized.counts);
        /* What the program needs it holds itself. */
        graph_free(lg->lent ? NULL : lg->graph);
        lg->graph = NULL;
    }
    return true;
}

/* Gives the graphs of a recurrent node to the graph around it for plans.  If that is a planned one, these were made of the node
 * with the numbers of its sizes, and the graphs of its plan, which have gone through the passes, replace them. */
static bool lend_graphs(struct compiled_loop *l, struct error *e)
{
    struct graph *g = l->node->graph;
    const bool planned = loop_part(l->node, 0) != NULL;

    for (uint32_t i = 1 + l->loop.direction_count; l->node->op != OP_LOOP && g->origin.plans && i-- > 0;) {
        struct loop_graph *lg = graph_of(l, i);
        struct loop_body *kept = planned ? loop_part(l->node, i) : NULL;

        if (kept && !graphs_same_interface(kept->graph, lg->graph))
            return error_set(e, WNNStatus_OperationError, "internal error: a loop is not the one that was planned");
        if (kept) {
            graph_free(lg->graph);
        } else if ((kept = arena_alloc(&g->arena, sizeof *kept))) {
            *kept = (struct loop_body){.graph = lg->graph, .of = l->node, .next = g->loops};
            g->loops = kept;
        } else {
            return error_out_of_memory(e);
        }
        lg->graph = kept->graph;
        lg->lent = true;
    }
    return true;
}

struct compiled_loop *loop_compile(struct engine *en, const struct target *t, const struct node *n,
                                   bool (*cancelled)(void *user), void *user, struct compile_times *times, struct error *e)
{
    struct compiled_loop *l = calloc(1, sizeof *l);
    int64_t offset = 0;

    if (!l)
        return error_null_memory(e);
    l->node = n;
    if (!(n->op == OP_LOOP ? body_loop_create(n, t, &l->loop, e) : recurrent_loop_create(n, t, &l->loop, e)) ||
        !lend_graphs(l, e) || !compile_programs(l, en, t, cancelled, user, times, e)) {
        loop_free(l);
        return NULL;
    }
    l->buffer_offsets = arena_array(&l->loop.arena, l->loop.buffer_count, sizeof *l->buffer_offsets);
    if (!l->buffer_offsets) {
        error_out_of_memory(e);
        loop_free(l);
        return NULL;
    }
    for (uint32_t i = 0; i < l->loop.buffer_count; i++) {
        l->buffer_offsets[i] = offset;
        offset += target_align(l->loop.buffers[i]);
    }
    l->size.steps += l->loop.copy_count;
    l->size.constants++; /* zeros */
    l->size.arena_bytes = offset + target_align(l->inner_arena);
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
    bool (*locate_value)(void *user, const struct value *v, struct location *location);
    void *user;
    struct error *e;
    uint32_t zeros; /* slot of the constant + 1 */
};

/** Finds the one constant of zeros, or makes it: all states have one size. */
static bool locate_zeros(struct joiner *j, int64_t bytes, struct location *location)
{
    if (!j->zeros) {
        struct constant *c = constant_create(NULL, (size_t)bytes);
        if (!c)
            return error_out_of_memory(j->e);
        memset((void *)c->data, 0, c->bytes); /* ours alone so far */
        j->p->constants[j->p->constant_count++] = c;
        j->zeros = j->p->constant_count;
    }
    *location = (struct location){.kind = LOCATION_CONSTANT, .slot = j->zeros - 1};
    return true;
}

static bool locate_bytes(struct joiner *j, const struct loop_bytes *b, struct location *location)
{
    switch (b->kind) {
    case LOOP_VALUE:
        if (!j->locate_value(j->user, b->value, location))
            return false;
        break;
    case LOOP_BUFFER:
        *location = (struct location){.kind = LOCATION_ARENA, .offset = j->base + j->l->buffer_offsets[b->buffer]};
        break;
    case LOOP_ZEROS:
        if (!locate_zeros(j, b->bytes, location))
            return false;
        break;
    }
    location->offset += b->offset;
    location->bytes = b->bytes;
    return true;
}

/**
 * Puts an inner program's location in terms of the outer one.  `constants` is the slot of its first constant; *m receives how
 * the location moves, if it does.
 */
static bool locate_inner(struct joiner *j, const struct loop_graph *lg, const struct location *from, uint32_t constants,
                         struct location *to, struct program_move *m)
{
    const int64_t buffers = j->l->size.arena_bytes - target_align(j->l->inner_arena);
    const struct loop_operand *o = from->kind == LOCATION_INPUT ? &lg->inputs[from->slot] : &lg->outputs[from->slot];

    *to = *from;
    if (from->kind == LOCATION_CONSTANT)
        to->slot += constants;
    if (from->kind == LOCATION_ARENA)
        to->offset += j->base + buffers;
    if (from->kind == LOCATION_CONSTANT || from->kind == LOCATION_ARENA)
        return true;
    if (!locate_bytes(j, &o->at, to))
        return false;
    to->offset += from->offset;
    to->bytes = from->bytes;
    m->stride = o->stride;
    m->has_first = o->has_first;
    if (!o->has_first)
        return true;
    if (!locate_bytes(j, &o->first, &m->first))
        return false;
    m->first.offset += from->offset;
    m->first.bytes = from->bytes;
    return true;
}

static bool append_copy(struct joiner *j, const struct loop_copy *c)
{
    struct program_step *s = &j->p->steps[j->p->step_count];

    *s = (struct program_step){.kind = STEP_COPY, .location_count = 2};
    snprintf(s->name, sizeof s->name, "%s_%u state", op_infos[j->l->node->op].name, j->l->node->index);
    s->locations = arena_array(&j->p->arena, 2, sizeof *s->locations);
    if (!s->locations)
        return error_out_of_memory(j->e);
    j->p->step_count++;
    return locate_bytes(j, &c->from, &s->locations[0]) && locate_bytes(j, &c->to, &s->locations[1]);
}

static bool append_step(struct joiner *j, const struct loop_graph *lg, struct program_step *from, uint32_t constants)
{
    struct program_step *s = &j->p->steps[j->p->step_count];

    *s = *from;
    s->locations = arena_array(&j->p->arena, from->location_count, sizeof *s->locations);
    if (!s->locations)
        return error_out_of_memory(j->e);
    snprintf(s->name, sizeof s->name, "%s_%u %.40s", op_infos[j->l->node->op].name, j->l->node->index, from->name);
    j->p->step_count++;
    from->kernel = NULL;
    from->schedule = NULL;
    from->library = NULL;
    for (uint32_t i = 0; i < from->location_count; i++) {
        struct program_move m = {.step = j->p->step_count - 1, .location = i};
        if (!locate_inner(j, lg, &from->locations[i], constants, &s->locations[i], &m))
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
        p->loops[p->loop_count++] = (struct program_loop){first, p->step_count - first, j->l->loop.iterations,
                                                          j->l->loop.stop ? first + from->step_count + j->l->loop.stop : 0};
    return true;
}

bool loop_append(struct compiled_loop *l, struct program *p, int64_t arena_base,
                 bool (*locate_value)(void *user, const struct value *v, struct location *location), void *user,
                 struct error *e)
{
    struct joiner j = {.l = l, .p = p, .base = arena_base, .locate_value = locate_value, .user = user, .e = e};

    for (uint32_t i = 0; i < l->program_count; i++)
        if (!append_program(&j, i))
            return false;
    for (uint32_t i = 0; i < l->loop.copy_count; i++)
        if (!append_copy(&j, &l->loop.copies[i]))
            return false;
    return true;
}
