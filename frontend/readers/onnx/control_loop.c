/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports Loop and Scan as loops of the builder.  The body is imported once, with the builder's parameters as its inputs.
 *
 * A Loop's iteration number is one more carried value.  Where its body computes whether it goes on, so are that it still goes
 * on, that it may stop, and the number of iterations: those after the last one leave all values as they are, and are left out
 * where the builder's loop stops.
 */
#include "frontend/readers/onnx/control_loop.h"

#include <string.h>

#include "frontend/readers/onnx/compose.h"
#include "frontend/readers/onnx/counted.h"
#include "frontend/readers/onnx/internal.h"
#include "frontend/readers/onnx/open.h"

enum { NUMBER, ALIVE, FIRST_CARRIED }; /* inputs of a Loop's body: its number, its condition, and carried values */

/** Holds a loop that is imported.  Lists have room for all inputs or outputs of the body. */
struct rolled {
    struct onnx_node *n;
    const Onnx__GraphProto *body;
    struct control_iterations t;
    struct onnx_value **in, **out; /* of the body */
};

static bool prepare(struct rolled *r)
{
    const size_t room = r->body->n_input + r->body->n_output + FIRST_CARRIED + 3;

    r->t.carried = onnx_alloc(r->n, room, sizeof(*r->t.carried));
    r->t.parameters = onnx_alloc(r->n, room, sizeof(*r->t.parameters));
    r->t.next = onnx_alloc(r->n, room, sizeof(*r->t.next));
    r->t.outputs = onnx_alloc(r->n, room, sizeof(*r->t.outputs));
    r->t.scanned = onnx_alloc(r->n, room, sizeof(*r->t.scanned));
    r->t.stacked = onnx_alloc(r->n, room, sizeof(*r->t.stacked));
    r->in = onnx_alloc(r->n, room, sizeof(struct onnx_value *));
    r->out = onnx_alloc(r->n, room, sizeof(struct onnx_value *));
    return r->t.carried && r->t.parameters && r->t.next && r->t.outputs && r->t.scanned && r->t.stacked && r->in && r->out;
}

/** Makes the value that a parameter is in the body: like another one, perhaps without one of its axes. */
static struct onnx_value *parameter(struct rolled *r, enum onnx_type type, const struct onnx_value *like, int64_t axis,
                                    WNNOperand operand)
{
    struct onnx_value *v = onnx_alloc(r->n, 1, sizeof(*v));

    if (!v)
        return NULL;
    v->type = type;
    v->operand = operand;
    for (size_t d = 0; like && d < like->rank; d++)
        if ((int64_t)d != axis)
            v->dims[v->rank++] = like->dims[d];
    return v;
}

/** Refuses with the builder's reason. */
static bool refuse_loop(struct onnx_node *n)
{
    const WNNStringView reason = wnnGetLastErrorMessage();

    return onnx_refuse(n, "%.*s", (int)reason.length, reason.data ? reason.data : "");
}

bool control_may_begin(const struct onnx_node *n)
{
    return !n->reader->in_loop;
}

bool control_begin(struct onnx_node *n, const struct control_iterations *t)
{
    if (n->refused)
        return false;
    struct onnx_open_table *open = &n->reader->open;

    if (wnnGraphBuilderBeginLoop(n->builder, onnx_is_open(t->iterations) ? 0 : t->iterations, t->carried_count, t->carried,
                                 t->scanned_count, t->scanned, t->parameters) != WNNStatus_Success)
        return refuse_loop(n);
    n->reader->in_loop = true;
    open->count_outside = open->count;
    open->result_count_outside = open->result_count;
    return true;
}

bool control_end(struct onnx_node *n, const struct control_iterations *t, bool good)
{
    struct onnx_open_table *open = &n->reader->open;

    n->reader->in_loop = false;
    open->count = open->count_outside; /* the others are made of parameters */
    open->result_count = open->result_count_outside;
    if (good && !n->refused &&
        wnnGraphBuilderEndLoop(n->builder, n->label, t->carried_count, t->next, t->stacked_count, t->stacked, t->outputs) ==
            WNNStatus_Success)
        return true;
    if (good && !n->refused)
        refuse_loop(n);
    const WNNStatus closed = wnnGraphBuilderEndLoop(n->builder, n->label, t->carried_count, t->parameters, 0, NULL, t->outputs);
    (void)closed; /* the node is refused in either case */
    return false;
}

static bool same_shape(const struct onnx_value *a, const struct onnx_value *b)
{
    return a->type == b->type && a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof(*a->dims)) == 0;
}

static bool refuse_shape(struct rolled *r, size_t i)
{
    return onnx_refuse(r->n,
                       "it takes %u iterations, too many to be unrolled, and value %zu changes its shape or type from one "
                       "iteration to the next",
                       r->t.iterations, i);
}

/* ---- Loop ---- */

static bool names(const char *name, const char *text)
{
    return name && *name && text && strcmp(name, text) == 0;
}

static bool reads(size_t count, Onnx__NodeProto *const *nodes, const char *name)
{
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < nodes[k]->n_input; i++)
            if (names(name, nodes[k]->input[i]))
                return true;
        for (size_t i = 0; i < nodes[k]->n_attribute; i++)
            if (nodes[k]->attribute[i]->g || nodes[k]->attribute[i]->n_graphs)
                return true; /* a body within the body may */
    }
    return false;
}

/** Returns whether a body reads its iteration number, or gives it on. */
static bool reads_number(const Onnx__GraphProto *body)
{
    const char *name = body->input[NUMBER]->name;

    for (size_t i = 0; i < body->n_output; i++)
        if (names(name, body->output[i]->name))
            return true;
    return reads(body->n_node, body->node, name);
}

bool control_needs_values(const struct onnx_node *n, struct onnx_value *const *outputs)
{
    bool all = true;

    for (size_t i = 0; i < n->output_count; i++) {
        const enum onnx_type type = outputs[i]->type;
        const bool whole = type != ONNX_FLOAT && type != ONNX_FLOAT16 && type != ONNX_DOUBLE;

        if (!onnx_wants(n, i))
            continue;
        all = all && outputs[i]->is_static;
        if (outputs[i]->is_static && whole && reads(n->scope->node_count, n->scope->nodes, n->proto->output[i]))
            return true;
    }
    return all;
}

bool control_goes_on(const Onnx__GraphProto *body)
{
    const char *in, *out;

    if (body->n_input < FIRST_CARRIED || !body->n_output)
        return false;
    in = body->input[ALIVE]->name;
    out = body->output[0]->name;
    if (names(in, out))
        return true;
    for (size_t i = 0; i < body->n_initializer; i++)
        if (names(out, body->initializer[i]->name))
            return true;
    for (size_t k = 0; k < body->n_node; k++) {
        const Onnx__NodeProto *node = body->node[k];

        if (node->n_output != 1 || !names(out, node->output[0]))
            continue;
        return names(node->op_type, "Constant") ||
               (names(node->op_type, "Identity") && node->n_input == 1 && names(in, node->input[0]));
    }
    return false;
}

/** Returns a constant of the reader's own. */
static struct onnx_value *number(struct onnx_node *n, enum onnx_type type, int64_t value)
{
    struct onnx_value *v = onnx_alloc(n, 1, sizeof(*v));
    void *data = onnx_alloc(n, 1, sizeof(int64_t));

    if (!v || !data)
        return NULL;
    onnx_store_int(type, data, 0, value);
    *v = (struct onnx_value){.type = type, .data = data, .is_static = true};
    return v;
}

struct loop_import {
    struct rolled r;
    bool counts, computes; /* the body reads its number; it computes whether it goes on */
    size_t counter, alive; /* places among the carried values; whether it may stop, and how often it has run, follow alive */
    size_t carried;        /* of the model, which come first */
};

static bool begin_loop(struct loop_import *l, struct onnx_value *condition)
{
    struct rolled *r = &l->r;
    struct onnx_node *n = r->n;

    for (size_t i = 0; i < l->carried; i++) {
        struct onnx_value *v = onnx_input(n, i + FIRST_CARRIED);

        if (!v)
            return onnx_refuse(n, "input %zu is missing", i + FIRST_CARRIED);
        r->t.carried[r->t.carried_count++] = onnx_operand(n, i + FIRST_CARRIED);
    }
    if (l->counts) {
        l->counter = r->t.carried_count;
        r->t.carried[r->t.carried_count++] = onnx_scalar(n, WNNOperandDataType_Int64, 0);
    }
    if (l->computes) {
        l->alive = r->t.carried_count;
        r->t.carried[r->t.carried_count++] = condition ? onnx_reshape(n, onnx_value_operand(n, condition), 0, NULL)
                                                       : onnx_scalar(n, WNNOperandDataType_Uint8, 1);
        r->t.carried[r->t.carried_count++] = onnx_scalar(n, WNNOperandDataType_Uint8, 0);
        r->t.carried[r->t.carried_count++] = onnx_scalar(n, WNNOperandDataType_Int32, 0);
    }
    if (onnx_is_open(r->t.iterations)) /* a loop takes the size from what it scans */
        r->t.scanned[r->t.scanned_count++] =
            (WNNLoopSlices){onnx_iota(n, WNNOperandDataType_Int32, 1, 0, r->t.iterations), 0, false};
    if (!control_begin(n, &r->t))
        return false;
    return !l->computes || wnnGraphBuilderStopLoop(n->builder, l->alive + 1) == WNNStatus_Success ||
           control_end(n, &r->t, false);
}

/** Computes what an iteration makes of the carried values. */
static bool import_loop_iteration(struct loop_import *l)
{
    struct rolled *r = &l->r;
    struct onnx_node *n = r->n;
    WNNOperand alive = l->computes ? r->t.parameters[l->alive] : NULL;

    r->in[NUMBER] = l->counts ? parameter(r, ONNX_INT64, NULL, -1, r->t.parameters[l->counter]) : number(n, ONNX_INT64, 0);
    r->in[ALIVE] = number(n, ONNX_BOOL, 1);
    for (size_t i = 0; i < l->carried; i++) {
        const struct onnx_value *like = onnx_input(n, i + FIRST_CARRIED);
        r->in[i + FIRST_CARRIED] = parameter(r, like->type, like, -1, r->t.parameters[i]);
    }
    if (n->refused || !onnx_import_body(n, r->body, l->carried + FIRST_CARRIED, r->in, r->out) ||
        !onnx_refuse_counted(n, r->body->n_output, r->out))
        return false;
    for (size_t i = 0; i < l->carried; i++) {
        struct onnx_value *after = r->out[i + 1];

        if (!same_shape(after, r->in[i + FIRST_CARRIED]))
            return refuse_shape(r, i);
        r->t.next[i] = onnx_value_operand(n, after);
        if (alive)
            r->t.next[i] = wnnGraphBuilderWhere(n->builder, alive, r->t.next[i], r->t.parameters[i], n->options);
    }
    if (l->counts)
        r->t.next[l->counter] = wnnGraphBuilderAdd(n->builder, r->t.parameters[l->counter],
                                                   onnx_scalar(n, WNNOperandDataType_Int64, 1), n->options);
    if (onnx_elements(r->out[0]) != 1)
        return onnx_refuse(n, "the condition of its body has %lld elements", (long long)onnx_elements(r->out[0]));
    if (alive) {
        r->t.next[l->alive] = onnx_and(n, alive, onnx_reshape(n, onnx_value_operand(n, r->out[0]), 0, NULL));
        r->t.next[l->alive + 1] = onnx_not(n, r->t.next[l->alive]);
        r->t.next[l->alive + 2] = onnx_add(n, r->t.parameters[l->alive + 2], onnx_cast(n, alive, WNNOperandDataType_Int32));
    } else if (!onnx_value_is_known(n, r->out[0]) || onnx_element(r->out[0], 0) == 0)
        return onnx_refuse(n, "the condition of its body is a constant that ends it after the first of %u iterations",
                           r->t.iterations);
    for (size_t i = 0; i < r->t.stacked_count; i++)
        r->t.stacked[i] = (WNNLoopSlices){onnx_value_operand(n, r->out[1 + l->carried + i]), 0, false};
    return !n->refused;
}

bool control_loop(struct onnx_node *n, const Onnx__GraphProto *body, uint32_t iterations, bool computes,
                  struct onnx_value *condition)
{
    struct loop_import l = {.r = {.n = n, .body = body, .t.iterations = iterations}};
    struct rolled *r = &l.r;

    l.carried = n->input_count > FIRST_CARRIED ? n->input_count - FIRST_CARRIED : 0;
    if (body->n_output < l.carried + 1 || body->n_output - 1 != n->output_count)
        return onnx_refuse(n, "its body has %zu outputs for %zu carried values and %zu outputs", body->n_output, l.carried,
                           n->output_count);
    if (body->n_input != l.carried + FIRST_CARRIED)
        return onnx_refuse(n, "its body has %zu inputs instead of %zu", body->n_input, l.carried + FIRST_CARRIED);
    r->t.stacked_count = body->n_output - 1 - l.carried;
    l.computes = computes;
    l.counts = reads_number(body) || l.carried + l.computes == 0;
    if (!prepare(r) || !begin_loop(&l, condition) || !control_end(n, &r->t, import_loop_iteration(&l)))
        return false;
    n->is_static = false;
    for (size_t i = 0; i < n->output_count; i++)
        if (onnx_wants(n, i) &&
            !onnx_output_as(n, i, r->t.outputs[i < l.carried ? i : r->t.carried_count + i - l.carried], r->out[1 + i]->type))
            return false;
    for (size_t i = l.carried; l.computes && i < n->output_count; i++)
        if (n->outputs[i])
            n->outputs[i]->count = r->t.outputs[l.alive + 2];
    return true;
}

/* ---- Scan ---- */

static bool begin_scan(struct rolled *r, const struct control_scan *s)
{
    struct onnx_node *n = r->n;

    r->t.carried_count = s->carried;
    r->t.scanned_count = s->inputs;
    for (size_t i = 0; i < s->carried; i++) {
        if (!onnx_input(n, i))
            return onnx_refuse(n, "input %zu is missing", i);
        r->t.carried[i] = onnx_operand(n, i);
    }
    for (size_t i = 0; i < s->inputs; i++) {
        r->t.scanned[i].operand = onnx_operand(n, s->carried + i);
        r->t.scanned[i].backward = s->in_directions[i] != 0;
        if (!onnx_axis(n, s->in_axes[i], onnx_input(n, s->carried + i)->rank, &r->t.scanned[i].axis))
            return false;
    }
    return control_begin(n, &r->t);
}

static bool import_scan_iteration(struct rolled *r, const struct control_scan *s)
{
    struct onnx_node *n = r->n;

    for (size_t i = 0; i < s->carried + s->inputs; i++) {
        const struct onnx_value *like = onnx_input(n, i);
        r->in[i] = parameter(r, like->type, like, i < s->carried ? -1 : (int64_t)r->t.scanned[i - s->carried].axis,
                             r->t.parameters[i]);
    }
    if (n->refused || !onnx_import_body(n, r->body, n->input_count, r->in, r->out) ||
        !onnx_refuse_counted(n, r->body->n_output, r->out))
        return false;
    for (size_t i = 0; i < s->carried; i++) {
        if (!same_shape(r->out[i], r->in[i]))
            return refuse_shape(r, i);
        r->t.next[i] = onnx_value_operand(n, r->out[i]);
    }
    r->t.stacked_count = s->outputs;
    for (size_t i = 0; i < s->outputs; i++) {
        struct onnx_value *v = r->out[s->carried + i];

        r->t.stacked[i].operand = onnx_value_operand(n, v);
        r->t.stacked[i].backward = s->out_directions[i] != 0;
        if (!onnx_axis(n, s->out_axes[i], v->rank + 1, &r->t.stacked[i].axis))
            return false;
    }
    return !n->refused;
}

bool control_scan(struct onnx_node *n, const Onnx__GraphProto *body, uint32_t iterations, const struct control_scan *s)
{
    struct rolled r = {.n = n, .body = body, .t.iterations = iterations};

    if (!prepare(&r) || !begin_scan(&r, s) || !control_end(n, &r.t, import_scan_iteration(&r, s)))
        return false;
    n->is_static = false;
    for (size_t i = 0; i < n->output_count; i++)
        if (onnx_wants(n, i) && !onnx_output_as(n, i, r.t.outputs[i], r.out[i]->type))
            return false;
    return true;
}
