/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Samples: a graph, its inputs' data, and every value as the interpreter computes it; copies with one change. */
#include "ir/text/text.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

void random_die(const char *what)
{
    fprintf(stderr, "random-graphs: %s\n", what);
    exit(2);
}

void *random_alloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);

    if (!p)
        random_die("out of memory");
    return p;
}

void sample_init(struct sample *s)
{
    *s = (struct sample){.g = graph_create()};
    if (!s->g)
        random_die("out of memory");
}

void sample_free(struct sample *s)
{
    for (uint32_t i = 0; i < s->capacity; i++) {
        free(s->data[i]);
        free(s->bounds[i]);
    }
    free(s->data);
    free(s->bounds);
    graph_free(s->g);
    memset(s, 0, sizeof *s);
}

void sample_set_data(struct sample *s, const struct value *v, void *data, double *bounds)
{
    if (v->index >= s->capacity) {
        uint32_t capacity = 2 * v->index + 16;
        void **values = random_alloc(capacity, sizeof *values);
        double **all = random_alloc(capacity, sizeof *all);
        if (s->capacity) {
            memcpy(values, s->data, s->capacity * sizeof *values);
            memcpy(all, s->bounds, s->capacity * sizeof *all);
        }
        free(s->data);
        free(s->bounds);
        s->data = values;
        s->bounds = all;
        s->capacity = capacity;
    }
    free(s->data[v->index]);
    free(s->bounds[v->index]);
    s->data[v->index] = data;
    s->bounds[v->index] = bounds;
}

bool sample_compute_node(const struct sample *s, const struct node *n, double *const *other_bounds, void **results,
                         double **bounds)
{
    const void **inputs = random_alloc(n->input_count, sizeof *inputs);
    const double **input_bounds = random_alloc(n->input_count, sizeof *input_bounds);
    struct error e = {0};

    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *v = n->inputs[i].value;
        if (!v)
            continue;
        inputs[i] = s->data[v->index];
        input_bounds[i] = other_bounds && other_bounds[v->index] ? other_bounds[v->index] : s->bounds[v->index];
    }
    for (uint32_t i = 0; i < n->result_count; i++) {
        results[i] = random_alloc((size_t)type_bytes(&n->results[i]->type), 1);
        bounds[i] = random_alloc((size_t)type_elements(&n->results[i]->type), sizeof(double));
    }
    bool good = node_interpret_bounds(n, inputs, input_bounds, results, bounds, &e);
    if (!good)
        fprintf(stderr, "the interpreter refuses %s: %s\n", op_infos[n->op].name, e.message);
    free(inputs);
    free(input_bounds);
    return good;
}

bool sample_evaluate_node(struct sample *s, const struct node *n)
{
    void **results = random_alloc(n->result_count, sizeof *results);
    double **bounds = random_alloc(n->result_count, sizeof *bounds);
    bool good = sample_compute_node(s, n, NULL, results, bounds);

    for (uint32_t i = 0; i < n->result_count; i++)
        sample_set_data(s, n->results[i], results[i], bounds[i]);
    free(results);
    free(bounds);
    return good;
}

bool sample_evaluate(struct sample *s)
{
    bool good = true;

    for (const struct value *k = s->g->first_constant; k; k = k->next_constant) {
        void *data = random_alloc((size_t)type_bytes(&k->type), 1);

        memcpy(data, k->constant->data, (size_t)type_bytes(&k->type));
        sample_set_data(s, k, data, NULL);
    }
    graph_for_each (s->g, n)
        good = good && sample_evaluate_node(s, n);
    return good;
}

int64_t sample_unknown(const struct sample *s, const struct value *v)
{
    const double *bounds = s->bounds[v->index];
    int64_t count = 0;

    for (int64_t i = 0; bounds && i < type_elements(&v->type); i++)
        count += !(bounds[i] < INFINITY);
    return count;
}

char *sample_text(const struct sample *s)
{
    static const struct print_options options = {.constants = true};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        random_die("out of memory");
    graph_print(s->g, out, &options);
    fclose(out);
    return text;
}

/* ---- edits ---- */

struct copying {
    const struct sample *from;
    const struct edit *edit;
    struct sample *to;
    struct value **map; /* by the old value's index */
    bool *needed;       /* by the old node's index */
};

static uint32_t edited_size(const struct copying *c, uint32_t size)
{
    return c->edit->kind == EDIT_SIZE && size == c->edit->from ? c->edit->to : size;
}

/* Returns the elements of `old` that are still there, in the shape of v. */
static void *cropped_data(const struct value *old, const void *data, const struct tensor_type *t)
{
    size_t size = dtype_size(t->type);
    char *out = random_alloc((size_t)type_elements(t), size);
    int64_t strides[RANK_MAX] = {0};

    type_strides(&old->type, strides);
    for (int64_t i = 0; i < type_elements(t); i++) {
        int64_t rest = i, at = 0;
        for (uint32_t d = t->rank; d-- > 0; rest /= t->dims[d])
            at += rest % t->dims[d] * strides[d];
        memcpy(out + (size_t)i * size, (const char *)data + (size_t)at * size, size);
    }
    return out;
}

static struct value *add_input(struct copying *c, const struct value *old, const void *data)
{
    struct sample *s = c->to;
    struct tensor_type t = old->type;
    char name[24];

    for (uint32_t d = 0; d < t.rank; d++)
        t.dims[d] = edited_size(c, t.dims[d]);
    snprintf(name, sizeof name, "x%u", s->g->input_count);
    struct value *v = graph_add_input(s->g, name, strlen(name), &t);
    if (!v)
        random_die("out of memory");
    sample_set_data(s, v, cropped_data(old, data, &t), NULL);
    return v;
}

static struct value *add_constant(struct copying *c, const struct value *old, const void *data)
{
    struct tensor_type t = old->type;

    for (uint32_t d = 0; d < t.rank; d++)
        t.dims[d] = edited_size(c, t.dims[d]);
    void *cropped = cropped_data(old, data, &t);
    struct constant *constant = constant_create(cropped, (size_t)type_bytes(&t));
    struct value *v = constant ? graph_add_constant(c->to->g, &t, constant) : NULL;
    if (!v)
        random_die("out of memory");
    sample_set_data(c->to, v, cropped, NULL);
    return v;
}

static void fill_ones(const struct value *v, void *data)
{
    union scalar one = number_cast(wnnNumber(1), v->type.type);
    size_t size = dtype_size(v->type.type);

    for (int64_t i = 0; i < type_elements(&v->type); i++)
        memcpy((char *)data + (size_t)i * size, &one, size);
}

/* Returns the copy of a value; inputs and constants are made when they are first asked for. */
static struct value *copy_value(struct copying *c, const struct value *old)
{
    struct value *v = c->map[old->index];

    if (v || old->kind == VALUE_RESULT)
        return v;
    uint32_t number = 0;
    if (old->kind == VALUE_CONSTANT) {
        for (const struct value *k = c->from->g->first_constant; k != old; k = k->next_constant)
            number++;
        v = c->edit->kind == EDIT_INPUT && c->edit->index == number ? add_input(c, old, c->from->data[old->index])
                                                                    : add_constant(c, old, c->from->data[old->index]);
    } else {
        while (c->from->g->inputs[number] != old)
            number++;
        v = add_input(c, old, c->from->data[old->index]);
        if (c->edit->kind == EDIT_ONES && c->edit->index == number)
            fill_ones(v, c->to->data[v->index]);
    }
    return c->map[old->index] = v;
}

/* Lists that hold sizes follow the dimensions. */
static bool edit_lists(struct copying *c, const struct node *n, char *options, union op_args *args)
{
    for (const struct attr_info *a = op_infos[n->op].attrs; a->kind != ATTR_NONE; a++) {
        static const char *const sizes[] = {"newShape", "sizes", "splits", "outputSizes", "windowDimensions"};
        const uint32_t *list = attr_value(a, options, args);
        size_t count = attr_count(a, options, args);
        bool is_size = false;

        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            is_size |= a->kind == ATTR_U32_LIST && !strcmp(a->name, sizes[i]);
        if (!is_size || !list)
            continue;
        uint32_t *copy = arena_array(&c->to->g->arena, count + 1, sizeof *copy);
        if (!copy)
            random_die("out of memory");
        for (size_t i = 0; i < count; i++)
            copy[i] = edited_size(c, list[i]);
        memcpy((a->positional ? (char *)args : options) + a->offset, &copy, sizeof copy);
    }
    if (n->op == OP_LSTM || n->op == OP_GRU) {
        args->lstm.steps = edited_size(c, args->lstm.steps);
        args->lstm.hiddenSize = edited_size(c, args->lstm.hiddenSize);
    }
    return true;
}

static struct value *copied(struct graph *to, struct value **map, const struct value *v)
{
    if (v->kind == VALUE_CONSTANT && !map[v->index])
        map[v->index] = graph_add_constant(to, &v->type, constant_retain(v->constant));
    return map[v->index];
}

/* Fills an empty graph with the nodes of a loop's body.  Returns false if they do not fit. */
static bool copy_body_graph(struct graph *to, const struct graph *from, struct value **map)
{
    for (uint32_t i = 0; i < from->input_count; i++) {
        const struct value *in = from->inputs[i];
        map[in->index] = graph_add_input(to, in->name, strlen(in->name), &in->type);
    }
    graph_for_each (from, n) {
        struct value **inputs = random_alloc(n->input_count, sizeof *inputs);
        for (uint32_t i = 0; i < n->input_count; i++)
            inputs[i] = n->inputs[i].value ? copied(to, map, n->inputs[i].value) : NULL;
        struct node *copy =
            node_create(to, NULL, n->op, n->label, n->input_count, inputs, n->options, &n->args, &(struct error){0});
        free(inputs);
        for (uint32_t i = 0; copy && i < n->result_count; i++)
            map[n->results[i]->index] = copy->results[i];
        if (!copy)
            return false;
    }
    for (uint32_t i = 0; i < from->output_count; i++)
        if (!graph_add_output(to, from->outputs[i].name, from->outputs[i].name_length, map[from->outputs[i].value->index]))
            random_die("out of memory");
    return true;
}

/* Returns a copy of a loop's body that belongs to the graph, or NULL. */
static struct loop_body *copy_body(struct graph *g, const struct loop_body *from)
{
    struct loop_body *l = arena_copy(&g->arena, from, sizeof *from);
    struct value **map = random_alloc(from->graph->value_count, sizeof *map);

    if (!l || !(l->graph = graph_create()))
        random_die("out of memory");
    l->scanned_backward = arena_copy(&g->arena, from->scanned_backward, from->scanned * sizeof(bool));
    l->stacked_backward = arena_copy(&g->arena, from->stacked_backward, from->stacked * sizeof(bool));
    l->next = g->loops;
    g->loops = l;
    bool good = copy_body_graph(l->graph, from->graph, map);
    free(map);
    return good ? l : NULL;
}

static bool copy_node(struct copying *c, const struct node *n)
{
    const struct edit *e = c->edit;
    const struct op_info *info = &op_infos[n->op];
    struct value **inputs = random_alloc(n->input_count, sizeof *inputs);
    char *options = random_alloc(info->options_size, 1);
    union op_args args = n->args;
    bool mine = n->index == e->index;

    memcpy(options, e->kind == EDIT_PLAIN_OPTIONS && mine ? info->options_default : n->options, info->options_size);
    if (e->kind == EDIT_SIZE)
        edit_lists(c, n, options, &args);
    if (n->op == OP_LOOP)
        args.loop.body = copy_body(c->to->g, n->args.loop.body);
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i].value && !(e->kind == EDIT_DROP_OPERAND && mine && e->slot == i))
            inputs[i] = copy_value(c, n->inputs[i].value);
    struct node *copy =
        node_create(c->to->g, NULL, n->op, n->label, n->input_count, inputs, options, &args, &(struct error){0});
    free(inputs);
    free(options);
    if (!copy || !sample_evaluate_node(c->to, copy))
        return false;
    for (uint32_t i = 0; i < n->result_count && i < copy->result_count; i++)
        c->map[n->results[i]->index] = copy->results[i];
    return n->result_count == copy->result_count;
}

static bool cut_node(struct copying *c, const struct node *n)
{
    const struct value *result = n->results[c->edit->slot];

    if (!copy_node(c, n))
        return false;
    c->map[result->index] = add_input(c, result, c->from->data[result->index]);
    return true;
}

static bool bypass_node(struct copying *c, const struct node *n)
{
    const struct value *by = c->edit->slot < n->input_count ? n->inputs[c->edit->slot].value : NULL;

    for (uint32_t i = 0; i < n->result_count; i++) {
        if (!by || !type_equal(&by->type, &n->results[i]->type))
            return false;
        c->map[n->results[i]->index] = copy_value(c, by);
    }
    return true;
}

static void mark_needed(struct copying *c)
{
    const struct graph *g = c->from->g;

    for (struct node *n = g->last; n; n = n->prev) {
        bool needed = c->edit->kind != EDIT_DROP_DEAD;
        for (uint32_t i = 0; i < n->result_count; i++) {
            needed |= n->results[i]->output_uses > 0;
            value_for_each_use (n->results[i], u)
                needed |= c->needed[u->node->index];
        }
        c->needed[n->index] = needed;
    }
}

static bool copy_outputs(struct copying *c)
{
    const struct graph *g = c->from->g;

    for (uint32_t i = 0; i < g->output_count; i++) {
        struct value *v = c->map[g->outputs[i].value->index];
        if (c->edit->kind == EDIT_DROP_OUTPUT && c->edit->index == i)
            continue;
        if (!v || v->kind != VALUE_RESULT) /* the builder refuses inputs as outputs */
            return false;
        if (!graph_add_output(c->to->g, g->outputs[i].name, g->outputs[i].name_length, v))
            random_die("out of memory");
    }
    return c->to->g->output_count > 0;
}

bool sample_edit(const struct sample *s, const struct edit *e, struct sample *out)
{
    struct copying c = {.from = s, .edit = e, .to = out};
    bool good = true;

    sample_init(out);
    c.map = random_alloc(s->g->value_count, sizeof *c.map);
    c.needed = random_alloc(s->g->node_count, sizeof *c.needed);
    mark_needed(&c);
    graph_for_each (s->g, n) {
        if (!c.needed[n->index])
            continue;
        if (e->kind == EDIT_CUT && n->index == e->index)
            good = e->slot < n->result_count && cut_node(&c, n);
        else if (e->kind == EDIT_BYPASS && n->index == e->index)
            good = bypass_node(&c, n);
        else
            good = copy_node(&c, n);
        if (!good)
            break;
    }
    good = good && copy_outputs(&c);
    free(c.map);
    free(c.needed);
    if (!good)
        sample_free(out);
    return good;
}
