/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the verifier.  It takes a graph that any pass may have broken, and reports every violation of these rules, with the
 * guilty node.
 *
 * Nodes
 * - The list is linked consistently both ways from first to last; every node knows its graph.
 * - Indices are unique and below node_count.
 * - A node has as many inputs as its row has operands (variadic: 1 to 8192); only optional operands are absent.
 * - Every input is a value of the graph, defined before the node: an input, a constant or the result of an earlier node.
 * - call_infer accepts the node and infers the types that its results have.  Its options are resolved: inference leaves
 *   them as they are; operands and label are not in them.
 * Values
 * - Indices are unique and below value_count; the type passes type_check; every value knows its graph.
 * - A result knows its producer and its place there; inputs and constants have no producer.
 * - The use list holds every input slot that refers to the value, each once, and nothing else.
 * - A constant that is used has data, as many bytes as its type.
 * - The transformed weights of a node are a constant of the graph that is kept; only a conv2d has any.
 * - Inputs have names, each its own.
 * Outputs
 * - Every output is a value of the graph under a unique name; output_uses counts them.
 * Clusters
 * - Indices are unique and below cluster_count; the list ends where last_cluster says.
 * - A node's cluster is in the list.  A library cluster with nodes has one of them as its anchor.
 * (That the nodes of a cluster lie next to each other holds only after finish-clusters, which checks it.)
 *
 * Pointers are trusted as far as "points to a value or node that once was in this graph": its memory is kept as long as the
 * arena.
 */
#include <string.h>

#include "ir/text/print.h"

struct verifier {
    struct graph *g;
    FILE *out;
    bool ok;
    struct node **nodes;       /* by index: those in the list */
    struct value **values;     /* by index: those that are defined somewhere */
    uint32_t *defined_after;   /* by value index: position of the producer in the list plus 1 */
    uint32_t *slots;           /* by value index: input slots that refer to it */
    uint32_t *outputs;         /* by value index: outputs that refer to it */
    struct cluster **clusters; /* by index */
    bool *cluster_has_nodes;   /* by index */
};

static void violation(struct verifier *v, const struct node *n, const char *format, ...) PRINTF_LIKE(3, 4);

static void violation(struct verifier *v, const struct node *n, const char *format, ...)
{
    v->ok = false;
    if (!v->out)
        return;
    fputs("verify: ", v->out);
    WITH_ARGUMENTS(format, vfprintf(v->out, format, arguments));
    fputc('\n', v->out);
    if (n) {
        fprintf(v->out, "  in node %u: ", n->index);
        node_print_plain(n, v->out);
        fputc('\n', v->out);
    }
}

static bool value_known(const struct verifier *v, const struct value *x)
{
    return x && x->index < v->g->value_count && v->values[x->index] == x;
}

static bool node_known(const struct verifier *v, const struct node *n)
{
    return n && n->index < v->g->node_count && v->nodes[n->index] == n;
}

/* ---- nodes and what defines values ---- */

static void value_define(struct verifier *v, const struct node *n, struct value *x, enum value_kind kind, uint32_t position)
{
    struct error error = {0};

    if (!x) {
        violation(v, n, "a value is missing");
        return;
    }
    if (x->index >= v->g->value_count || v->values[x->index]) {
        violation(v, n, "value index %u is used twice or not below %u", x->index, v->g->value_count);
        return;
    }
    v->values[x->index] = x;
    v->defined_after[x->index] = position;
    if (x->kind != kind)
        violation(v, n, "value %u has kind %d, expected %d", x->index, (int)x->kind, (int)kind);
    if (x->graph != v->g)
        violation(v, n, "value %u belongs to another graph", x->index);
    if (x->producer != n)
        violation(v, n, "value %u has the wrong producer", x->index);
    if (!type_check(&x->type, "value", &error))
        violation(v, n, "value %u: %s", x->index, error.message);
}

/* Walks the list.  Returns false if its links are broken, and nothing else can be looked at. */
static bool collect_nodes(struct verifier *v)
{
    uint32_t position = 0;
    const struct node *prev = NULL;

    for (struct node *n = v->g->first; n; prev = n, n = n->next) {
        if (n->prev != prev) {
            violation(v, n, "the node's link backwards is wrong");
            return false;
        }
        if (n->index >= v->g->node_count || v->nodes[n->index]) {
            violation(v, NULL, "node index %u is used twice or not below %u", n->index, v->g->node_count);
            return false; /* also ends a list that runs in a circle */
        }
        v->nodes[n->index] = n;
        if (n->graph != v->g)
            violation(v, n, "the node belongs to another graph");
        if ((unsigned)n->op >= OP_ROWS || !n->options || !n->label) {
            violation(v, NULL, "node %u has no valid operator, options or label", n->index);
            return false;
        }
        position++;
        for (uint32_t i = 0; i < n->result_count; i++) {
            value_define(v, n, n->results[i], VALUE_RESULT, position);
            if (n->results[i] && n->results[i]->result != i)
                violation(v, n, "result %u says that it is result %u", i, n->results[i]->result);
        }
    }
    if (v->g->last != prev) {
        violation(v, NULL, "the list does not end with the last node");
        return false;
    }
    return true;
}

static void collect_inputs_and_constants(struct verifier *v)
{
    struct name_map names = {0};

    for (uint32_t i = 0; i < v->g->input_count; i++) {
        struct value *x = v->g->inputs[i];
        value_define(v, NULL, x, VALUE_INPUT, 0);
        if (!x || !x->name || !x->name_length)
            violation(v, NULL, "input %u has no name", i);
        else if (i < v->g->input_count - v->g->origin.data_count &&
                 name_map_add(&names, x->name, x->name_length, x) == NAME_MAP_EXISTS)
            violation(v, NULL, "input %u has the name of another input", i);
    }
    name_map_free(&names);

    for (struct value *x = v->g->first_constant; x; x = x->next_constant) {
        bool seen = value_known(v, x);
        value_define(v, NULL, x, VALUE_CONSTANT, 0);
        if (seen)
            break; /* a circle */
        if (!x->constant && (x->uses || x->output_uses))
            violation(v, NULL, "constant %u has no data but is used", x->index);
        if (x->constant && (int64_t)x->constant->bytes != type_bytes(&x->type))
            violation(v, NULL, "constant %u has %zu bytes, its type has %lld", x->index, x->constant->bytes,
                      (long long)type_bytes(&x->type));
        if (!x->next_constant && v->g->last_constant != x)
            violation(v, NULL, "the list of constants does not end with the last one");
    }
}

/* ---- inputs of nodes ---- */

static void check_inputs(struct verifier *v, const struct node *n, uint32_t position)
{
    const struct op_info *info = &op_infos[n->op];
    bool variadic = (info->flags & OPF_VARIADIC) != 0;
    uint32_t slots = op_input_slots(n->op);

    if (variadic ? n->input_count == 0 || n->input_count > TENSOR_COUNT_MAX : n->input_count != slots)
        violation(v, n, "%u inputs, the operator has %u operands", n->input_count, slots);
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct use *u = &n->inputs[i];
        if (u->node != n || u->slot != i)
            violation(v, n, "input %u does not know its place", i);
        if (!u->value) {
            if (variadic || i >= slots || !info->ins[i].optional)
                violation(v, n, "input %u is missing", i);
        } else if (!value_known(v, u->value)) {
            violation(v, n, "input %u is value %u, which nothing in the graph defines", i, u->value->index);
        } else {
            v->slots[u->value->index]++;
            if (v->defined_after[u->value->index] >= position)
                violation(v, n, "input %u is value %u, which is defined later", i, u->value->index);
        }
    }
}

static void check_uses(struct verifier *v, const struct value *x)
{
    uint32_t count = 0;
    const struct use *prev = NULL;

    for (const struct use *u = x->uses; u; prev = u, u = u->next) {
        if (u->value != x || u->prev != prev || !node_known(v, u->node) || u->slot >= u->node->input_count ||
            &u->node->inputs[u->slot] != u) {
            violation(v, x->producer, "the use list of value %u is broken or holds a node that was removed", x->index);
            return;
        }
        if (++count > v->slots[x->index])
            break; /* a circle, or a slot twice */
    }
    if (count != v->slots[x->index])
        violation(v, x->producer, "value %u is in %u input slots, its use list differs", x->index, v->slots[x->index]);
}

/* ---- inference ---- */

static void check_inference(struct verifier *v, const struct node *n)
{
    const struct op_info *info = &op_infos[n->op];
    struct graph scratch = {.arena = {0}};
    struct error error = {0};
    struct call c = {
        .graph = &scratch, .op = n->op, .label = n->label, .input_count = n->input_count, .args = n->args, .error = &error};
    struct value **inputs = arena_array(&scratch.arena, n->input_count, sizeof *inputs);
    char have[160], want[160];

    c.inputs = inputs;
    c.options = arena_copy(&scratch.arena, n->options, info->options_size);
    if (!inputs || !c.options) {
        violation(v, n, "out of memory while verifying");
        arena_free(&scratch.arena);
        return;
    }
    for (uint32_t i = 0; i < n->input_count; i++)
        inputs[i] = n->inputs[i].value;

    if (!call_infer(&c)) {
        violation(v, n, "%s", error.message);
    } else if (c.result_count != n->result_count) {
        violation(v, n, "%u results, inference says %u", n->result_count, c.result_count);
    } else {
        struct node resolved = {.op = n->op, .options = c.options, .args = c.args};
        for (uint32_t i = 0; i < n->result_count; i++)
            if (n->results[i] && !type_equal(&n->results[i]->type, &c.results[i]))
                violation(v, n, "result %u has type %s, inference says %s", i,
                          type_print(have, sizeof have, &n->results[i]->type), type_print(want, sizeof want, &c.results[i]));
        for (const struct attr_info *a = info->attrs; a->kind != ATTR_NONE; a++)
            if (!node_same_attr(n, &resolved, a))
                violation(v, n, "attribute %s is not resolved", a->name);
    }
    for (uint32_t i = 0; info->ins[i].name; i++) {
        WNNOperand operand;
        if (!info->ins[i].optional)
            continue;
        memcpy(&operand, (const char *)n->options + info->ins[i].option_offset, sizeof operand);
        if (operand)
            violation(v, n, "the options hold operand %s; it belongs to the inputs", info->ins[i].name);
    }
    if (((const WNNOperatorOptions *)n->options)->label.data)
        violation(v, n, "the options hold a label");
    arena_free(&scratch.arena);
}

/* ---- outputs and clusters ---- */

static void check_outputs(struct verifier *v)
{
    struct name_map names = {0};

    for (uint32_t i = 0; i < v->g->output_count; i++) {
        const struct graph_output *o = &v->g->outputs[i];
        if (!value_known(v, o->value))
            violation(v, NULL, "output %u is a value that nothing in the graph defines", i);
        else
            v->outputs[o->value->index]++;
        if (!o->name || !o->name_length)
            violation(v, NULL, "output %u has no name", i);
        else if (name_map_add(&names, o->name, o->name_length, (void *)o) == NAME_MAP_EXISTS)
            violation(v, NULL, "output %u has the name of another output", i);
    }
    name_map_free(&names);
    for (uint32_t i = 0; i < v->g->value_count; i++)
        if (v->values[i] && v->values[i]->output_uses != v->outputs[i])
            violation(v, v->values[i]->producer, "value %u counts %u outputs, there are %u", i, v->values[i]->output_uses,
                      v->outputs[i]);
}

static void check_clusters(struct verifier *v)
{
    const struct cluster *last = NULL;

    for (struct cluster *c = v->g->first_cluster; c; last = c, c = c->next) {
        if (c->index >= v->g->cluster_count || v->clusters[c->index]) {
            violation(v, NULL, "cluster index %u is used twice or not below %u", c->index, v->g->cluster_count);
            return;
        }
        v->clusters[c->index] = c;
    }
    if (v->g->last_cluster != last)
        violation(v, NULL, "the list of clusters does not end with the last one");
    graph_for_each (v->g, n) {
        const struct cluster *c = n->cluster;
        if (!c)
            continue;
        if (c->index >= v->g->cluster_count || v->clusters[c->index] != c)
            violation(v, n, "cluster %u is not in the graph's list", c->index);
        else
            v->cluster_has_nodes[c->index] = true;
    }
    for (uint32_t i = 0; i < v->g->cluster_count; i++) {
        const struct cluster *c = v->clusters[i];
        if (c && v->cluster_has_nodes[i] && c->kind == CLUSTER_LIBRARY &&
            (!node_known(v, c->anchor) || c->anchor->cluster != c))
            violation(v, NULL, "library cluster %u has no anchor among its nodes", i);
    }
}

/* ---- all of it ---- */

static void check_all(struct verifier *v)
{
    uint32_t position = 0;

    if (!collect_nodes(v))
        return;
    collect_inputs_and_constants(v);
    graph_for_each (v->g, n) {
        check_inputs(v, n, ++position);
        const struct value *u = n->transformed;
        if (u && (n->op != OP_CONV2D || !value_known(v, u) || u->kind != VALUE_CONSTANT || !u->kept || !u->constant))
            violation(v, n, "the transformed weights are not a constant that is kept, or the node is not a conv2d");
    }
    for (uint32_t i = 0; i < v->g->value_count; i++)
        if (v->values[i])
            check_uses(v, v->values[i]);
    check_outputs(v);
    check_clusters(v);
    /* Inference reads the inputs' types, so it runs only when those are all there. */
    if (v->ok)
        graph_for_each (v->g, n)
            check_inference(v, n);
}

bool graph_verify(struct graph *g, FILE *out)
{
    struct arena arena = {0};
    struct verifier v = {.g = g, .out = out, .ok = true};

    v.nodes = arena_array(&arena, g->node_count, sizeof *v.nodes);
    v.values = arena_array(&arena, g->value_count, sizeof *v.values);
    v.defined_after = arena_array(&arena, g->value_count, sizeof *v.defined_after);
    v.slots = arena_array(&arena, g->value_count, sizeof *v.slots);
    v.outputs = arena_array(&arena, g->value_count, sizeof *v.outputs);
    v.clusters = arena_array(&arena, g->cluster_count, sizeof *v.clusters);
    v.cluster_has_nodes = arena_array(&arena, g->cluster_count, sizeof *v.cluster_has_nodes);
    if (v.nodes && v.values && v.defined_after && v.slots && v.outputs && v.clusters && v.cluster_has_nodes)
        check_all(&v);
    else
        violation(&v, NULL, "out of memory while verifying");
    arena_free(&arena);
    return v.ok;
}

bool node_verify_types(const struct node *n)
{
    struct verifier v = {.ok = true};

    check_inference(&v, n);
    return v.ok;
}
