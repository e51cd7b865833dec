/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes a graph of certain sizes of one with named dimensions.
 *
 * Nodes are made again in their order, of the options that the program gave, by the same inference.  A value that depends on
 * shapes and constants only (dims_values) is computed at once by the reference interpreter, and is then what an operator of
 * ops_draft.def takes sizes from.  Each shape is compared with the expression that was inferred for it, so that the two cannot
 * differ silently, as where a product of sizes does not fit the data type that it was computed in.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "ir/graph/conv.h"
#include "ir/graph/node_operations.h"
#include "ir/graph/op_draft.h"
#include "ir/interpret/at_sizes_internal.h"
#include "ir/interpret/interpret.h"
#include "ir/support/text.h"

/** What a node becomes: an operator of ops.def and its arguments. */
struct plain_call {
    enum op op;
    uint32_t input_count;
    const void *options;
    union op_args args;
};

/* Refuses a node, as the builder's method would. */
#define refuse(s, n, ...) call_error(&(struct call){.op = (n)->op, .label = (n)->label, .error = (s)->e}, __VA_ARGS__)

/* ---- values of sizes ---- */

static int64_t element(const struct value *v, int64_t i)
{
    union scalar s = {0};

    memcpy(&s, (const char *)v->constant->data + (size_t)i * dtype_size(v->type.type), dtype_size(v->type.type));
    /* By the rows the others are int64 and uint64, of which the latter is refused as negative if it is too large. */
    return v->type.type == WNNOperandDataType_Int32 ? s.i32 : v->type.type == WNNOperandDataType_Uint32 ? s.u32 : s.i64;
}

/* Returns the elements of an operand as a list of sizes or paddings. */
static bool size_list(struct instance *s, const struct node *n, uint32_t slot, size_t *count, const uint32_t **list)
{
    const struct value *v = s->values[instance_index(s, n->inputs[slot].value)];
    uint32_t *items;

    if (v->kind != VALUE_CONSTANT)
        return refuse(s, n, "%s depends on values of inputs", op_infos[n->op].ins[slot].name);
    *count = (size_t)type_elements(&v->type);
    *list = items = arena_array(&s->to->arena, *count, sizeof *items);
    if (!items)
        return error_out_of_memory(s->e);
    for (size_t i = 0; i < *count; i++) {
        const int64_t size = element(v, (int64_t)i);

        if (size < 0 || size > ELEMENT_COUNT_MAX)
            return refuse(s, n, "%s[%zu] is %" PRId64 ", not from 0 to %d", op_infos[n->op].ins[slot].name, i, size,
                          ELEMENT_COUNT_MAX);
        items[i] = (uint32_t)size;
    }
    return true;
}

/* Adds a constant for result 0, whose elements are to be filled in; their type is the node's, and they have one dimension. */
static bool new_constant(struct instance *s, const struct node *n, uint32_t count, void **data)
{
    const struct value *result = n->results[0];
    const struct tensor_type type = {result->type.type, 1, {count}};

    if (!budget_spend_memory(s->to->account, op_infos[n->op].name, 0, (double)type_bytes(&type), s->e))
        return false;
    struct constant *c = constant_create(NULL, (size_t)type_bytes(&type));
    struct value *v = c ? graph_add_constant(s->to, &type, c) : NULL;
    if (!v)
        return error_out_of_memory(s->e);
    *data = (void *)c->data; /* ours alone so far */
    s->values[result->index] = v;
    return true;
}

static bool make_shape(struct instance *s, const struct node *n)
{
    const struct tensor_type *t = &s->values[instance_index(s, n->inputs[0].value)]->type;
    void *data;

    if (!new_constant(s, n, t->rank, &data))
        return false;
    memcpy(data, t->dims, t->rank * sizeof *t->dims);
    return true;
}

static bool make_range(struct instance *s, const struct node *n)
{
    const dtype type = n->results[0]->type.type;
    int64_t numbers[3];
    void *data;

    for (uint32_t i = 0; i < 3; i++) {
        const struct value *v = s->values[instance_index(s, n->inputs[i].value)];

        if (v->kind != VALUE_CONSTANT)
            return refuse(s, n, "%s depends on values of inputs", op_infos[n->op].ins[i].name);
        numbers[i] = element(v, 0);
    }
    const __int128 span = ((__int128)numbers[1] - numbers[0]) * (numbers[2] < 0 ? -1 : 1),
                   step = numbers[2] < 0 ? -(__int128)numbers[2] : numbers[2],
                   count = step && span > 0 ? (span + step - 1) / step : 0;
    if (count < 1 || count > ELEMENT_COUNT_MAX)
        return refuse(s, n, "from %" PRId64 " to %" PRId64 " by %" PRId64 " are not from 1 to %d numbers", numbers[0],
                      numbers[1], numbers[2], ELEMENT_COUNT_MAX);
    if (!new_constant(s, n, (uint32_t)count, &data))
        return false;
    for (uint32_t i = 0; i < (uint32_t)count; i++) {
        const union scalar x = number_cast(wnnNumberInt64((int64_t)(numbers[0] + (__int128)i * numbers[2])), type);

        memcpy((char *)data + i * dtype_size(type), &x, dtype_size(type));
    }
    return true;
}

/* ---- operators of the draft ---- */

static bool reshape_to(struct instance *s, const struct node *n, struct plain_call *c)
{
    const struct tensor_type *t = &s->values[instance_index(s, n->inputs[0].value)]->type;
    uint32_t *dims = arena_array(&s->to->arena, RANK_MAX, sizeof *dims), rank = 0, gone = 0;

    if (!dims)
        return error_out_of_memory(s->e);
    c->op = OP_RESHAPE;
    if (n->op == OP_RESHAPE_TO_2D) {
        const uint32_t axis = n->args.reshapeTo2d.axis;

        rank = 2;
        dims[0] = dims[1] = 1;
        for (uint32_t i = 0; i < t->rank; i++)
            dims[i >= axis] *= t->dims[i]; /* no more than the elements */
    } else if (n->op == OP_UNSQUEEZE) {
        rank = t->rank + (uint32_t)n->args.unsqueeze.axesCount;
        for (size_t i = 0; i < n->args.unsqueeze.axesCount; i++)
            dims[n->args.unsqueeze.axes[i]] = 1;
        for (uint32_t i = 0, at = 0; i < rank; i++)
            if (!dims[i])
                dims[i] = t->dims[at++];
    } else {
        for (size_t i = 0; i < n->args.squeeze.axesCount; i++)
            gone |= 1u << n->args.squeeze.axes[i];
        for (uint32_t i = 0; i < t->rank; i++)
            if (!(gone ? gone >> i & 1 : t->dims[i] == 1))
                dims[rank++] = t->dims[i];
    }
    c->args.reshape.newShape = dims;
    c->args.reshape.newShapeCount = rank;
    return true;
}

static bool resample_to(struct instance *s, const struct node *n, struct plain_call *c)
{
    const WNNResample2dDynamicOptions *o = n->options;
    WNNResample2dOptions *plain = arena_alloc(&s->to->arena, sizeof *plain);

    if (!plain)
        return error_out_of_memory(s->e);
    *plain = (WNNResample2dOptions){.structSize = sizeof *plain,
                                    .mode = o->mode,
                                    .scalesCount = o->scalesCount,
                                    .scales = o->scales,
                                    .axesCount = o->axesCount,
                                    .axes = o->axes};
    c->op = OP_RESAMPLE2D;
    c->options = plain;
    return !n->inputs[1].value || size_list(s, n, 1, &plain->sizesCount, &plain->sizes);
}

/* Finds out what a node becomes. */
static bool plain_call(struct instance *s, const struct node *n, struct plain_call *c)
{
    *c = (struct plain_call){n->op, n->input_count, n->options, n->args};
    if (n->op == OP_LSTM || n->op == OP_GRU) {
        uint32_t *steps = n->op == OP_LSTM ? &c->args.lstm.steps : &c->args.gru.steps;

        if (!*steps)
            *steps = s->values[instance_index(s, n->inputs[0].value)]->type.dims[0];
    }
    if (!op_is_draft(n->op))
        return true;
    c->input_count = 1;
    if (n->op == OP_SQUEEZE || n->op == OP_UNSQUEEZE || n->op == OP_RESHAPE_TO_2D)
        return reshape_to(s, n, c);
    if (n->op == OP_RESAMPLE2D_DYNAMIC)
        return resample_to(s, n, c);
    if (n->op == OP_RESHAPE_DYNAMIC || n->op == OP_EXPAND_DYNAMIC) {
        c->op = n->op == OP_RESHAPE_DYNAMIC ? OP_RESHAPE : OP_EXPAND;
        return size_list(s, n, 1, &c->args.reshape.newShapeCount, &c->args.reshape.newShape);
    }
    if (n->op == OP_SLICE_DYNAMIC) {
        c->op = OP_SLICE;
        return size_list(s, n, 1, &c->args.slice.startsCount, &c->args.slice.starts) &&
               size_list(s, n, 2, &c->args.slice.sizesCount, &c->args.slice.sizes);
    }
    if (n->op == OP_PAD_DYNAMIC) {
        c->op = OP_PAD;
        c->options = NULL;
        return size_list(s, n, 1, &c->args.pad.beginningPaddingCount, &c->args.pad.beginningPadding) &&
               size_list(s, n, 2, &c->args.pad.endingPaddingCount, &c->args.pad.endingPadding);
    }
    if (n->op == OP_SPLIT_DYNAMIC) {
        c->op = OP_SPLIT;
        return size_list(s, n, 1, &c->args.split.splitsCount, &c->args.split.splits);
    }
    c->op = OP_TILE;
    return size_list(s, n, 1, &c->args.tile.repetitionsCount, &c->args.tile.repetitions);
}

/* ---- modulus, by operators of ops.def ---- */

static struct value *add_node(struct instance *s, const struct node *n, enum op op, struct value *a, struct value *b,
                              struct value *c)
{
    struct value *inputs[] = {a, b, c};
    const struct node *made = a && b ? node_create(s->to, NULL, op, n->label, c ? 3 : 2, inputs, NULL, NULL, s->e) : NULL;

    return made ? made->results[0] : NULL;
}

/* Integers are divided towards zero: a - a / b * b has a's sign.  Rounded down, b is added to it where the signs differ. */
static struct value *add_modulus(struct instance *s, const struct node *n)
{
    struct value *a = instance_operand(s, n, 0), *b = instance_operand(s, n, 1);
    struct value *rest = add_node(s, n, OP_SUB, a, add_node(s, n, OP_MUL, add_node(s, n, OP_DIV, a, b, NULL), b, NULL), NULL);

    if (n->op == OP_MODULUS_TRUNCATE || !rest)
        return rest;
    struct value *zero = graph_add_scalar(s->to, &(struct tensor_type){rest->type.type, 0, {0}}, wnnNumber(0.0));
    struct value *signs = add_node(s, n, OP_LOGICAL_XOR, add_node(s, n, OP_LESSER, rest, zero, NULL),
                                   add_node(s, n, OP_LESSER, b, zero, NULL), NULL);
    struct value *wrong = add_node(s, n, OP_LOGICAL_AND, signs, add_node(s, n, OP_NOT_EQUAL, rest, zero, NULL), NULL);
    return add_node(s, n, OP_WHERE, wrong, add_node(s, n, OP_ADD, rest, b, NULL), rest);
}

/* ---- nodes ---- */

static bool add_nodes_and_outputs(struct instance *s);

static bool begin(struct instance *s)
{
    const size_t count = (size_t)s->from->value_count + 1;

    s->to = graph_create();
    s->values = calloc(count, sizeof *s->values);
    s->data = calloc(count, sizeof *s->data);
    s->exact = calloc(count, sizeof *s->exact);
    s->late = calloc(count, sizeof *s->late);
    return s->to && s->values && s->data && s->exact && s->late;
}

static void end(struct instance *s)
{
    free(s->values);
    free(s->data);
    free(s->exact);
    free(s->late);
}

/* Fills the body of a loop's node.  Invariant operands that are constants by now become the body's. */
static bool fill_body(struct instance *s, const struct loop_body *l, const struct node *n)
{
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *in = s->from->inputs[i], *operand = n->inputs[i].value;
        struct value *v = s->outer->values[instance_index(s->outer, operand)];
        const bool scanned = i >= l->carried && i < l->carried + l->scanned, varies = scanned || i < l->carried;
        struct tensor_type type = v->type;

        if (varies && v->kind == VALUE_CONSTANT)
            v = instance_operand(s->outer, n, i);
        if (scanned) {
            type.rank--;
            memmove(type.dims, type.dims + 1, type.rank * sizeof *type.dims);
        }
        s->late[in->index] = !varies && instance_is_late(s->outer, operand);
        s->values[in->index] = !varies && v->kind == VALUE_CONSTANT
                                   ? graph_add_constant(s->to, &type, constant_retain(v->constant))
                                   : graph_add_input(s->to, in->name, in->name_length, &type);
        if (!v || !s->values[in->index])
            return error_out_of_memory(s->e);
        if (s->values[in->index]->kind == VALUE_INPUT)
            s->operands[s->operand_count++] = v;
    }
    return add_nodes_and_outputs(s);
}

/* Makes the body of a loop at these sizes, and its operands, which are not those that it has as constants. */
static bool loop_call(struct instance *s, const struct node *n, struct plain_call *c, struct value ***operands)
{
    const struct loop_body *from = c->args.loop.body;
    struct loop_body *l = arena_copy(&s->to->arena, from, sizeof *l);
    struct instance body = {.from = from->graph, .atoms = s->atoms, .e = s->e, .outer = s};

    body.operands = arena_array(&s->to->arena, (size_t)n->input_count + from->graph->value_count, sizeof *body.operands);
    bool ok = begin(&body) && l && body.operands;
    if (ok) { /* the graph that they are of may go before this one does */
        l->scanned_backward = arena_copy(&s->to->arena, from->scanned_backward, from->scanned * sizeof *from->scanned_backward);
        l->stacked_backward = arena_copy(&s->to->arena, from->stacked_backward, from->stacked * sizeof *from->stacked_backward);
        ok = l->scanned_backward && l->stacked_backward;
    }
    if (!ok) {
        error_out_of_memory(s->e);
        graph_free(body.to);
    } else {
        body.to->origin.role = GRAPH_BODY;
        body.to->account = s->to->account;
        l->graph = body.to;
        l->next = s->to->loops;
        s->to->loops = l;
        ok = fill_body(&body, from, n);
        l->iterations = ok ? loop_iterations(from, body.operands) : 0;
        s->to->origin.differs |= body.to->origin.differs;
        c->args.loop.body = l;
        c->input_count = body.operand_count;
        *operands = body.operands;
    }
    end(&body);
    return ok;
}

static bool add_results(struct instance *s, const struct node *n)
{
    struct plain_call c;
    struct value **inputs = arena_array(&s->to->arena, n->input_count, sizeof *inputs);

    if (!inputs)
        return error_out_of_memory(s->e);
    if (n->op == OP_SHAPE || n->op == OP_RANGE)
        return n->op == OP_SHAPE ? make_shape(s, n) : make_range(s, n);
    if (n->op == OP_MODULUS_FLOOR || n->op == OP_MODULUS_TRUNCATE)
        return (s->values[n->results[0]->index] = add_modulus(s, n)) != NULL;
    if (!plain_call(s, n, &c))
        return false;
    for (uint32_t i = 0; i < c.input_count && n->op != OP_LOOP; i++)
        if (!(inputs[i] = instance_operand(s, n, i)) && n->inputs[i].value)
            return error_out_of_memory(s->e);
    if (n->op == OP_LOOP && !loop_call(s, n, &c, &inputs))
        return false;
    const struct node *made = node_create(s->to, NULL, c.op, n->label, c.input_count, inputs, c.options, &c.args, s->e);
    if (!made || made->result_count != n->result_count)
        return made && refuse(s, n, "it has %u results, not %u", made->result_count, n->result_count);
    for (uint32_t i = 0; i < n->result_count; i++)
        s->values[n->results[i]->index] = made->results[i];
    return true;
}

static bool check_shapes(struct instance *s, const struct node *n)
{
    for (uint32_t r = 0; r < n->result_count; r++) {
        const struct tensor_type *inferred = &n->results[r]->type, *t = &s->values[n->results[r]->index]->type;
        char text[160];

        for (uint32_t i = 0; i < t->rank || i < inferred->rank; i++) {
            const struct dim_number d = dims_evaluate(s->from, inferred->dims[i], s->atoms);

            if (t->rank != inferred->rank || (d.known && d.value != t->dims[i]))
                return refuse(s, n,
                              "the result is %s, but dimension %u of it was expected to be %" PRId64
                              ": a size does not fit the data type that it is computed in",
                              type_print(text, sizeof text, t), i, d.value);
        }
    }
    return true;
}

/* Computes a node of constants, and makes constants of its results. */
static bool fold_node(struct instance *s, const struct node *n, struct node *m)
{
    struct arena *a = &s->to->arena;
    const void **in = arena_array(a, m->input_count, sizeof *in);
    void **out = arena_array(a, m->result_count, sizeof *out);
    struct value **made = arena_array(a, m->result_count, sizeof *made);

    if (!in || !out || !made || !budget_spend_node(s->to->account, "computing sizes:", m, s->e))
        return s->e->status ? false : error_out_of_memory(s->e);
    for (uint32_t i = 0; i < m->input_count; i++)
        in[i] = m->inputs[i].value ? m->inputs[i].value->constant->data : NULL;
    for (uint32_t r = 0; r < m->result_count; r++) {
        struct constant *c = constant_create(NULL, (size_t)type_bytes(&m->results[r]->type));

        out[r] = c ? (void *)c->data : NULL; /* ours alone so far */
        made[r] = c ? graph_add_constant(s->to, &m->results[r]->type, c) : NULL;
        if (!made[r])
            return error_out_of_memory(s->e);
    }
    if (!node_interpret(m, in, out, s->e))
        return false;
    for (uint32_t r = 0; r < m->result_count; r++) {
        for (uint32_t i = 0; i < n->result_count; i++)
            if (s->values[n->results[i]->index] == m->results[r])
                s->values[n->results[i]->index] = made[r];
        value_replace_uses(m->results[r], made[r]);
    }
    return true;
}

/* Does so with the nodes from `first` on, which are what n became. */
static bool fold(struct instance *s, const struct node *n, struct node *first)
{
    for (struct node *m = first; m; m = m->next)
        if (!fold_node(s, n, m))
            return false;
    for (struct node *m = first ? s->to->last : NULL, *before; m; m = before) {
        before = m == first ? NULL : m->prev;
        node_remove(m);
    }
    return true;
}

/* Takes the results of an equal node that was made. */
static bool take_results(struct instance *s, const struct node *n)
{
    instance_decide(s, n);
    if (!s->like || s->computes)
        return false;
    for (uint32_t i = 0; i < n->input_count; i++)
        if (!instance_repeats(s, n, s->like, i))
            return false;
    for (uint32_t i = 0; i < n->result_count; i++) {
        const uint32_t to = n->results[i]->index, from = s->like->results[i]->index;

        s->values[to] = s->values[from];
        s->late[to] = s->late[from];
        s->exact[to] = s->exact[from];
    }
    return true;
}

static bool add_instance(struct instance *s, const struct node *n, const struct node *like)
{
    struct node *last = s->to->last;

    s->like = like;
    if (take_results(s, n))
        return true;
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i].value && !instance_value(s, n->inputs[i].value))
            return error_out_of_memory(s->e);
    if (s->computes && n->op != OP_SHAPE && n->op != OP_RANGE && (s->values[n->results[0]->index] = instance_evaluate(s, n))) {
        s->exact[n->results[0]->index] = true;
        instance_note_late(s, n);
        return true;
    }
    if (!add_results(s, n) || !check_shapes(s, n))
        return false;
    /* Sizes may be taken from what depends on shapes and constants only. */
    if (s->computes && !fold(s, n, last ? last->next : s->to->first))
        return false;
    if (s->computes)
        instance_note_exact(s, n);
    if (s->computes || n->op == OP_RANGE)
        instance_note_late(s, n);
    return true;
}

/* ---- the graph ---- */

static bool add_inputs(struct instance *s)
{
    struct error unnamed = {0}; /* names are formatted for messages only, which takes long */

    for (uint32_t i = 0; i < s->from->input_count; i++) {
        const struct value *v = s->from->inputs[i];
        struct tensor_type type = v->type;
        char name[96], what[128];

        for (uint32_t k = 0; k < type.rank; k++)
            type.dims[k] = (uint32_t)dims_evaluate(s->from, type.dims[k], s->atoms).value; /* names are known */
        if (!type_check(&type, "", &unnamed)) {
            snprintf(what, sizeof what, "input \"%s\"", escape_text(name, sizeof name, v->name, v->name_length));
            return type_check(&type, what, s->e);
        }
        budget_grow_input(&s->to->budget, (uint64_t)type_bytes(&type));
        s->values[v->index] = graph_add_input(s->to, v->name, v->name_length, &type);
        if (!s->values[v->index])
            return error_out_of_memory(s->e);
    }
    return true;
}

/* An output is a node's result: what has become a constant is copied by one. */
static bool add_output(struct instance *s, const struct graph_output *o)
{
    struct value *v = instance_value(s, o->value);

    if (!v)
        return error_out_of_memory(s->e);
    if (v->kind == VALUE_CONSTANT) {
        if (instance_is_late(s, o->value) && !(v = instance_data(s, o->value)))
            return error_out_of_memory(s->e);
        const struct node *copy = node_create(s->to, NULL, OP_IDENTITY, "", 1, &v, NULL, NULL, s->e);
        if (!copy)
            return false;
        v = copy->results[0];
    }
    if (!graph_add_output(s->to, o->name, o->name_length, v))
        return error_out_of_memory(s->e);
    if (o->state)
        s->to->outputs[s->to->output_count - 1].state = s->values[o->state->index];
    return true;
}

static bool add_nodes_and_outputs(struct instance *s)
{
    for (uint32_t i = 0; s->alike && i < s->alike->count; i++)
        if (!add_instance(s, s->alike->nodes[i].node, s->alike->nodes[i].like))
            return false;
    for (const struct node *n = s->alike ? NULL : s->from->first; n; n = n->next)
        if (!add_instance(s, n, NULL))
            return false;
    for (uint32_t i = 0; i < s->from->output_count; i++)
        if (!add_output(s, &s->from->outputs[i]))
            return false;
    return graph_check_groups(s->to, s->e);
}

struct graph *graph_at_sizes(const struct graph *g, const uint32_t *sizes, const struct alike *alike, struct error *e)
{
    struct instance s = {.from = g, .e = e, .alike = alike};

    s.atoms = calloc(dims_atom_count(g) + 1, sizeof *s.atoms);
    bool ok = begin(&s) && s.atoms;
    if (!ok) {
        error_out_of_memory(e);
    } else {
        s.to->origin.role = GRAPH_VARIANT;
        s.to->origin.sizes = sizes ? arena_copy(&s.to->arena, sizes, dims_name_count(g) * sizeof *sizes) : NULL;
        s.to->progress = g->progress;
        s.to->quantized = g->quantized;
        s.to->budget = g->budget;
        s.to->account = g->account ? &s.to->budget : NULL;
        dims_evaluate_atoms(g, sizes, s.atoms);
        ok = (s.to->origin.sizes || !dims_name_count(g)) && add_inputs(&s) && add_nodes_and_outputs(&s);
        if (!ok && !e->status)
            error_out_of_memory(e);
    }
    free(s.atoms);
    end(&s);
    if (!ok)
        graph_free(s.to);
    return ok ? s.to : NULL;
}
