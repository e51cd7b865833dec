/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Drawing loops.  The body is a sample of its own while it is drawn: its inputs are the parameters, and what it draws besides
 * becomes invariant operands.
 */
#include <stdlib.h>

#include "drawing.h"

/* How many parameters, and results, of each kind there are at most. */
enum { MOST = 2 };

static struct tensor_type draw_parameter(struct generator *body)
{
    return draw_shape(body, chance(body, 70) ? WNNOperandDataType_Float32 : draw_type(body, DT_ANY), 0, 4);
}

/* Returns what an iteration makes of a carried value.  Tangents keep many iterations from making infinities. */
static struct value *draw_carried(struct generator *body, const struct tensor_type *t)
{
    struct value *v = draw_typed(body, t, CONTENT_ANY);
    const bool tame = dtype_is_float(t->type) && chance(body, 70);

    if (!v || (v->kind == VALUE_RESULT && !tame))
        return v;
    struct node *n = append(body, tame ? OP_TANH : OP_IDENTITY, 1, &v, NULL, NULL);
    return n ? n->results[0] : NULL;
}

static bool add_output(struct generator *body, struct value *v)
{
    char name[24];

    snprintf(name, sizeof name, "out%u", body->s->g->output_count);
    if (v && !graph_add_output(body->s->g, name, strlen(name), v))
        random_die("out of memory");
    return v != NULL;
}

/* Any result of the body that may become a slice; NULL if there is none. */
static struct value *draw_stacked(struct generator *body)
{
    for (int tries = 0; tries < 10 && body->count; tries++) {
        struct value *v = body->values[body->count - 1 - draw(body, body->count < 6 ? body->count : 6)];
        if (v->kind == VALUE_RESULT && v->type.rank < RANK_MAX)
            return v;
    }
    return NULL;
}

static bool is_read(const struct value *v)
{
    return v->uses || v->output_uses;
}

/* Removes what no output needs: nodes, and inputs but for the parameters. */
static void drop_dead(struct graph *g, uint32_t parameters)
{
    uint32_t kept = parameters;

    for (struct node *n = g->last, *prev; n; n = prev) {
        bool any = false;
        prev = n->prev;
        for (uint32_t i = 0; i < n->result_count; i++)
            any |= is_read(n->results[i]);
        if (!any)
            node_remove(n);
    }
    for (uint32_t i = parameters; i < g->input_count; i++)
        if (is_read(g->inputs[i]))
            g->inputs[kept++] = g->inputs[i];
    g->input_count = kept;
}

static bool *draw_directions(struct generator *r, uint32_t count)
{
    bool *backward = arena_array(&r->s->g->arena, count + 1, sizeof *backward);

    if (!backward)
        random_die("out of memory");
    for (uint32_t i = 0; i < count; i++)
        backward[i] = chance(r, 30);
    return backward;
}

/* Draws the graph of an iteration, and fills in how many values of each kind it has.  False: it did not work out. */
static bool draw_body(struct generator *body, struct loop_body *l)
{
    for (uint32_t i = 0; i < l->carried + l->scanned; i++) {
        const struct tensor_type t = draw_parameter(body);
        if (!draw_input(body, &t, CONTENT_ANY))
            return false;
    }
    for (uint32_t i = draw_from(body, 1, 3); i; i--)
        draw_steps(body);
    for (uint32_t i = 0; i < l->carried; i++)
        if (!add_output(body, draw_carried(body, &body->s->g->inputs[i]->type)))
            return false;
    for (uint32_t i = draw(body, MOST + 1); i; i--)
        l->stacked += add_output(body, draw_stacked(body));
    drop_dead(body->s->g, l->carried + l->scanned);
    return l->carried + l->stacked > 0;
}

/* Returns the operand of the loop that input i of the body gets something of. */
static struct value *draw_loop_operand(struct generator *r, const struct loop_body *l, const struct sample *body, uint32_t i)
{
    const struct value *in = body->g->inputs[i];
    struct tensor_type t = in->type;

    if (i < l->carried)
        return draw_typed(r, &t, CONTENT_ANY);
    if (i < l->carried + l->scanned) {
        memmove(t.dims + 1, t.dims, t.rank++ * sizeof t.dims[0]);
        t.dims[0] = l->iterations;
        return draw_typed(r, &t, CONTENT_ANY);
    }
    struct value *v = draw_input(r, &t, CONTENT_ANY);
    if (v) /* indices, scales and the like are as they were drawn */
        memcpy(r->s->data[v->index], body->data[in->index], (size_t)type_bytes(&t));
    return v;
}

static struct node *append_loop(struct generator *r, struct loop_body *l, const struct sample *body)
{
    const union op_args args = {.loop = {l}};
    const uint32_t count = body->g->input_count;
    struct value **inputs = random_alloc(count, sizeof *inputs);
    bool good = true;

    for (uint32_t i = 0; good && i < count; i++)
        good = (inputs[i] = draw_loop_operand(r, l, body, i)) != NULL;
    struct node *n = good ? append(r, OP_LOOP, count, inputs, NULL, &args) : NULL;
    free(inputs);
    return n;
}

bool draw_loop(struct generator *r)
{
    struct loop_body *l = arena_alloc(&r->s->g->arena, sizeof *l);
    struct sample body;
    struct generator inner;
    struct node *n = NULL;

    if (!l)
        random_die("out of memory");
    generator_init(&inner, &body, draw_bits(r));
    sample_init(&body);
    inner.in_loop = true;
    *l = (struct loop_body){
        .graph = body.g, .iterations = chance(r, 85) ? draw_from(r, 1, 6) : draw_from(r, 7, 40), .carried = draw(r, MOST + 1)};
    l->scanned = l->carried ? draw(r, MOST + 1) : draw_from(r, 1, MOST);
    inner.budget = r->budget / l->iterations > 8 ? r->budget / l->iterations : 8;
    if (draw_body(&inner, l)) {
        l->scanned_backward = draw_directions(r, l->scanned);
        l->stacked_backward = draw_directions(r, l->stacked);
        n = append_loop(r, l, &body);
    }
    if (n) { /* the graph owns the body from here on */
        l->next = r->s->g->loops;
        r->s->g->loops = l;
        body.g = NULL;
        r->hint = n->results[draw(r, n->result_count)];
    }
    free(inner.values);
    sample_free(&body);
    return n != NULL;
}
