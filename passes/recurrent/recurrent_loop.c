/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes a loop of a recurrent node of several steps: graphs for what happens once and for what happens in every step.
 *
 *   before    projected[d] = input of all steps * weight[d] + biases; recurrentWeight in blocks, if it is not a constant
 *   step[d]   hidden, cell = cell(projected[d] at the step, hidden, cell at the step before)
 *   copies    the last states to the results that are not the sequence
 *
 * A step's inputs and outputs are locations that move by a fixed distance.  With a sequence result each state is written to
 * where it stands there and read from there; without one, a state is written to the final result and copied for the next step
 * to read (a vector, little next to a matrix that is read).  Operands of the node that are constants are constants in these
 * graphs, too: folding, packing and everything else sees them as in any other graph.
 *
 * With few rows the matmul of a step is bound by reading the weights: then each gate's weights are cut into blocks that lie in
 * the order in which one generated kernel reads them, which also computes the gates (form "blocks").  With more rows, and where
 * the hidden size is not a multiple of a block, the library multiplies.
 */
#include <string.h>

#include "ir/schedule/schedule.h"
#include "passes/recurrent/recurrent.h"

/** The input's share of the gates of all steps takes at most so many bytes: beyond this it is computed step by step. */
enum { PROJECTION_BYTES_MAX = 1 << 29 };

struct loop_maker {
    struct recurrent r;
    struct recurrent_loop *l;
    struct error *e;
    uint32_t block_width;
    struct value *x; /* the input of all steps, in `before` */
    bool projects_inside;
};

static dtype type_of_states(const struct loop_maker *m)
{
    return m->r.input->type.type;
}

static int64_t bytes_of(const struct loop_maker *m, int64_t elements)
{
    return elements * (int64_t)dtype_size(type_of_states(m));
}

/* ---- inputs and outputs ---- */

static struct loop_bytes bytes_of_value(const struct value *v, int64_t offset, int64_t bytes)
{
    return (struct loop_bytes){.kind = LOOP_VALUE, .value = v, .offset = offset, .bytes = bytes};
}

static uint32_t add_buffer(struct loop_maker *m, int64_t bytes)
{
    m->l->buffers[m->l->buffer_count] = bytes;
    return m->l->buffer_count++;
}

static struct loop_bytes bytes_of_buffer(uint32_t buffer, int64_t bytes)
{
    return (struct loop_bytes){.kind = LOOP_BUFFER, .buffer = buffer, .bytes = bytes};
}

static struct tensor_type type_for(const struct loop_maker *m, uint32_t rank, const uint32_t *dims)
{
    struct tensor_type t = {.type = type_of_states(m), .rank = rank};

    memcpy(t.dims, dims, rank * sizeof *dims);
    return t;
}

static struct value *add_input(struct loop_graph *lg, const struct tensor_type *t, struct loop_operand operand)
{
    char name[16];
    const uint32_t slot = lg->graph->input_count;

    snprintf(name, sizeof name, "in%u", slot);
    struct value *v = graph_add_input(lg->graph, name, strlen(name), t);
    if (v)
        lg->inputs[slot] = operand;
    return v;
}

static bool add_output(struct loop_graph *lg, struct value *v, struct loop_operand operand)
{
    char name[16];
    const uint32_t slot = lg->graph->output_count;

    if (!v)
        return false;
    snprintf(name, sizeof name, "out%u", slot);
    lg->outputs[slot] = operand;
    return graph_add_output(lg->graph, name, strlen(name), v);
}

static void release_whole(const void *data, size_t bytes, void *whole, void *unused)
{
    (void)data;
    (void)bytes;
    (void)unused;
    constant_release(whole);
}

/** Returns the elements of v from `offset` on, as a tensor of that shape in the loop's graph, or NULL if v is NULL. */
static struct value *import(const struct loop_maker *m, struct loop_graph *lg, const struct value *v, int64_t offset,
                            uint32_t rank, const uint32_t *dims)
{
    const struct tensor_type t = type_for(m, rank, dims);
    const int64_t bytes = type_bytes(&t);
    struct constant *c;

    if (!v)
        return NULL;
    offset = bytes_of(m, offset);
    if (v->kind != VALUE_CONSTANT)
        return add_input(lg, &t, (struct loop_operand){.at = bytes_of_value(v, offset, bytes)});
    c = (size_t)bytes == v->constant->bytes
            ? constant_retain(v->constant)
            : constant_lend((const char *)v->constant->data + offset, (size_t)bytes,
                            (WNNBufferReleaseCallbackInfo){release_whole, constant_retain(v->constant), NULL});
    return graph_add_constant(lg->graph, &t, c);
}

static struct value *import_vector(const struct loop_maker *m, struct loop_graph *lg, const struct value *v, int64_t offset,
                                   uint32_t size)
{
    return import(m, lg, v, offset, 1, &size);
}

/* ---- before the loop ---- */

static struct recurrent_builder builder(struct loop_maker *m, struct loop_graph *lg)
{
    return (struct recurrent_builder){lg->graph, NULL, &m->r};
}

/** Returns x times the weights of direction d, in a graph of the loop. */
static struct value *project(struct loop_maker *m, uint32_t d, struct loop_graph *lg, struct value *x)
{
    const struct recurrent *r = &m->r;
    struct recurrent_builder b = builder(m, lg);
    const uint32_t rows = r->gates * r->hidden, dims[2] = {rows, r->inputs};

    return recurrent_project(&b, x, import(m, lg, r->weight, (int64_t)d * rows * r->inputs, 2, dims),
                             import_vector(m, lg, r->bias, (int64_t)d * rows, rows),
                             import_vector(m, lg, r->recurrent_bias, (int64_t)d * rows, rows));
}

/** Computes the input's share of all gates, of all steps, in a buffer. */
static bool make_projection(struct loop_maker *m, uint32_t d, uint32_t *buffer)
{
    const struct recurrent *r = &m->r;
    const uint32_t dims[2] = {r->steps * r->batch, r->inputs};
    const int64_t bytes = bytes_of(m, (int64_t)dims[0] * r->gates * r->hidden);

    if (!m->x)
        m->x = import(m, &m->l->before, r->input, 0, 2, dims);
    *buffer = add_buffer(m, bytes);
    return add_output(&m->l->before, project(m, d, &m->l->before, m->x),
                      (struct loop_operand){.at = bytes_of_buffer(*buffer, bytes)});
}

/** Gives the step recurrentWeight of direction d: as an operand folded there if it is constant, else made before the loop. */
static bool make_weights(struct loop_maker *m, uint32_t d, struct recurrent_operands *o)
{
    const struct recurrent *r = &m->r;
    const bool constant = r->recurrent_weight->kind == VALUE_CONSTANT;
    struct loop_graph *step = &m->l->step[d], *made_in = constant ? step : &m->l->before;
    struct recurrent_builder b = builder(m, made_in);
    const uint32_t hidden = r->hidden, dims[2] = {r->gates * hidden, hidden};
    const int64_t bytes = bytes_of(m, (int64_t)hidden * hidden);

    o->block_width = m->block_width;
    o->rows = import(m, m->block_width ? made_in : step, r->recurrent_weight, (int64_t)d * dims[0] * hidden, 2, dims);
    for (uint32_t place = 0; o->rows && m->block_width && place < r->gates; place++) {
        struct value *v = recurrent_block(&b, o->rows, place, m->block_width);
        if (v && !constant) {
            const struct tensor_type t = v->type;
            const struct loop_operand buffer = {.at = bytes_of_buffer(add_buffer(m, bytes), bytes)};
            v = add_output(made_in, v, buffer) ? add_input(step, &t, buffer) : NULL;
        }
        o->blocks[place] = v;
        if (!v)
            return false;
    }
    return o->rows != NULL;
}

/* ---- the step ---- */

/** Returns an operand that moves: iteration i finds that of step i, or, if the direction is backward, of the last less i. */
static struct loop_operand moving(const struct recurrent *r, uint32_t d, struct loop_bytes base, int64_t distance)
{
    struct loop_operand o = {.at = base, .stride = r->backward[d] ? -distance : distance};

    if (r->backward[d])
        o.at.offset += distance * (r->steps - 1);
    return o;
}

/** Returns where a step writes a state: to its place in the sequence, else to the result of which the last step's stays. */
static struct loop_operand state_after(struct loop_maker *m, uint32_t d, const struct value *sequence,
                                       const struct value *result)
{
    const struct recurrent *r = &m->r;
    const int64_t bytes = bytes_of(m, (int64_t)r->batch * r->hidden);

    if (sequence && value_use_count(sequence)) {
        struct loop_operand o = moving(r, d, bytes_of_value(sequence, d * bytes, bytes), bytes * r->directions);
        if (value_use_count(result)) {
            struct loop_copy *c = &m->l->copies[m->l->copy_count++];
            c->from = o.at;
            c->from.offset += o.stride * ((int64_t)r->steps - 1);
            c->to = bytes_of_value(result, d * bytes, bytes);
        }
        return o;
    }
    if (value_use_count(result))
        return (struct loop_operand){.at = bytes_of_value(result, d * bytes, bytes)};
    return (struct loop_operand){.at = bytes_of_buffer(add_buffer(m, bytes), bytes)};
}

/** Returns the state that a step starts from: the initial one, then what the one before left; returns NULL if memory runs out.
 */
static struct value *add_state(struct loop_maker *m, uint32_t d, struct loop_operand after, const struct value *initial)
{
    const struct recurrent *r = &m->r;
    struct loop_graph *lg = &m->l->step[d];
    const uint32_t dims[2] = {r->batch, r->hidden};
    const struct tensor_type t = type_for(m, 2, dims);
    const int64_t bytes = type_bytes(&t);
    struct loop_operand before = after;

    before.has_first = true;
    before.first = (struct loop_bytes){.kind = LOOP_ZEROS, .bytes = bytes};
    if (initial)
        before.first = bytes_of_value(initial, d * bytes, bytes);
    if (!after.stride) { /* the new state may not be written where the old one is still read */
        before.at = bytes_of_buffer(add_buffer(m, bytes), bytes);
        lg->copies[lg->copy_count++] = (struct loop_copy){after.at, before.at};
    }
    return add_input(lg, &t, before);
}

/** Returns the input's share of a step: a part of what was made before the loop or, if that would be too large, made here. */
static struct value *add_projected(struct loop_maker *m, uint32_t d)
{
    const struct recurrent *r = &m->r;
    struct loop_graph *lg = &m->l->step[d];
    const uint32_t rows[2] = {r->batch, r->gates * r->hidden}, in[2] = {r->batch, r->inputs};
    const struct tensor_type projected = type_for(m, 2, rows), x = type_for(m, 2, in);
    const int64_t bytes = type_bytes(&projected), in_bytes = type_bytes(&x);
    uint32_t buffer;

    if (m->projects_inside)
        return project(m, d, lg, add_input(lg, &x, moving(r, d, bytes_of_value(r->input, 0, in_bytes), in_bytes)));
    if (!make_projection(m, d, &buffer))
        return NULL;
    return add_input(lg, &projected, moving(r, d, bytes_of_buffer(buffer, bytes), bytes));
}

static bool make_step(struct loop_maker *m, uint32_t d)
{
    const struct recurrent *r = &m->r;
    struct loop_graph *lg = &m->l->step[d];
    struct recurrent_builder b = builder(m, lg);
    const int64_t rows = (int64_t)r->gates * r->hidden;
    const struct loop_operand hidden_after = state_after(m, d, r->sequence_result, r->hidden_result);
    struct loop_operand cell_after = {.stride = 0};
    struct recurrent_operands o = {.rows = NULL};
    struct value *hidden = NULL, *cell = NULL;

    o.projected = add_projected(m, d);
    o.hidden = add_state(m, d, hidden_after, r->hidden_state);
    if (r->lstm) {
        cell_after = state_after(m, d, NULL, r->cell_result);
        o.cell = add_state(m, d, cell_after, r->cell_state);
    }
    if (!r->lstm && r->reset_after)
        o.recurrent_bias = import_vector(m, lg, r->recurrent_bias, d * rows + 2 * (int64_t)r->hidden, r->hidden);
    for (uint32_t i = 0; r->peephole && i < RECURRENT_PEEPHOLES; i++)
        o.peephole[i] =
            import_vector(m, lg, r->peephole, ((int64_t)d * RECURRENT_PEEPHOLES + i) * (int64_t)r->hidden, r->hidden);
    if (!o.projected || !make_weights(m, d, &o) || lg->graph->error.status)
        return false;
    recurrent_cell(&b, &o, &hidden, &cell);
    lg->no_library = m->block_width != 0;
    return add_output(lg, hidden, hidden_after) && (!r->lstm || add_output(lg, cell, cell_after));
}

/* ---- the whole ---- */

static bool make_loop(struct loop_maker *m)
{
    const struct recurrent *r = &m->r;
    struct recurrent_loop *l = m->l;

    l->iterations = r->steps;
    l->direction_count = r->directions;
    l->before.graph = graph_create();
    for (uint32_t d = 0; d < r->directions; d++)
        l->step[d].graph = graph_create();
    l->buffers = arena_array(&l->arena, LOOP_BUFFERS_MAX, sizeof *l->buffers);
    if (!l->before.graph || !l->step[0].graph || (r->directions > 1 && !l->step[1].graph) || !l->buffers ||
        !loop_graph_allocate(l, &l->before, LOOP_OPERANDS_MAX, LOOP_OPERANDS_MAX, 0))
        return error_out_of_memory(m->e);
    for (uint32_t d = 0; d < r->directions; d++)
        if (!loop_graph_allocate(l, &l->step[d], LOOP_OPERANDS_MAX, LOOP_OPERANDS_MAX, LOOP_COPIES_MAX))
            return error_out_of_memory(m->e);
    l->before.graph->account = r->node->graph->account;
    for (uint32_t d = 0; d < r->directions; d++)
        l->step[d].graph->account = r->node->graph->account;
    m->projects_inside = bytes_of(m, (int64_t)r->steps * r->batch * r->gates * r->hidden) > PROJECTION_BYTES_MAX;
    for (uint32_t d = 0; d < r->directions; d++) {
        if (make_step(m, d))
            continue;
        if (l->before.graph->error.status)
            *m->e = l->before.graph->error;
        return l->step[d].graph->error.status
                   ? error_set(m->e, l->step[d].graph->error.status, "%s", l->step[d].graph->error.message)
                   : error_out_of_memory(m->e);
    }
    return true;
}

bool recurrent_loop_create(const struct node *n, const struct target *t, struct recurrent_loop *l, struct error *e)
{
    struct loop_maker m = {.l = l, .e = e};

    memset(l, 0, sizeof *l);
    recurrent_describe(n, &m.r);
    m.block_width = /* 0 lets the library multiply */
        m.r.batch > target_facts(t)->contraction.recurrent_rows ? 0 : (uint32_t)schedule_recurrent_panel(t, m.r.hidden);
    if (make_loop(&m))
        return true;
    recurrent_loop_free(l);
    return false;
}

void recurrent_loop_free(struct recurrent_loop *l)
{
    graph_free(l->before.lent ? NULL : l->before.graph);
    for (uint32_t d = 0; d < RECURRENT_DIRECTIONS_MAX; d++)
        graph_free(l->step[d].lent ? NULL : l->step[d].graph);
    arena_free(&l->arena);
    memset(l, 0, sizeof *l);
}

bool loop_graph_allocate(struct recurrent_loop *l, struct loop_graph *lg, size_t inputs, size_t outputs, size_t copies)
{
    lg->inputs = arena_array(&l->arena, inputs, sizeof *lg->inputs);
    lg->outputs = arena_array(&l->arena, outputs, sizeof *lg->outputs);
    lg->copies = arena_array(&l->arena, copies, sizeof *lg->copies);
    return lg->inputs && lg->outputs && lg->copies;
}
