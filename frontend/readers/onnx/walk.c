/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports a graph node by node: a list of nodes, in a scope with the values known so far, becomes a value in the scope for
 * every output.
 *
 * For every node its inputs are looked up, its operator and version found (or a function of the model, whose body is imported
 * in a scope of its own), its importer run, and what the importer left open checked: attributes that were not read, errors of
 * the builder, outputs that were not set.  Results that depend on constants only are computed at once if they are small, so
 * that chains of nodes that compute a shape never reach the graph, and the next one reads plain numbers.
 *
 * A node that cannot be expressed is reported with its reason; what reads its results is passed over, so that the message has
 * one line per cause.
 */
#include <stdio.h>
#include <string.h>

#include "frontend/readers/onnx/counted.h"
#include "frontend/readers/onnx/internal.h"
#include "frontend/readers/onnx/open.h"

/* ---- scopes ---- */

struct onnx_value *onnx_lookup(const struct onnx_scope *scope, const char *name, bool *found)
{
    *found = false;
    for (; scope; scope = scope->outer) {
        struct onnx_value *v = onnx_map_get(&scope->values, name, found);

        if (*found)
            return v;
    }
    return NULL;
}

bool onnx_bind(struct onnx_scope *scope, const char *name, struct onnx_value *v, const char *what)
{
    const enum name_map_status added = onnx_map_add(&scope->values, name, v);

    if (!onnx_spend(scope->reader, 1))
        return false;
    if (added == NAME_MAP_OUT_OF_MEMORY)
        return onnx_fail_memory(scope->reader);
    return added == NAME_MAP_ADDED ||
           onnx_fail(scope->reader, "%s \"%s\": a value of that name exists", what, onnx_escape(scope->reader, name));
}

bool onnx_bind_initializers(struct onnx_scope *scope, const Onnx__GraphProto *graph)
{
    struct onnx_reader *r = scope->reader;

    for (size_t i = 0; i < graph->n_initializer; i++) {
        const Onnx__TensorProto *t = graph->initializer[i];
        char what[200];

        if (!t->name || !*t->name)
            return onnx_fail(r, "initializer %zu has no name", i);
        snprintf(what, sizeof what, "initializer \"%s\"", onnx_escape(r, t->name));
        struct onnx_value *v = onnx_read_tensor(r, t, what);
        if (!v || !onnx_bind(scope, t->name, v, "initializer"))
            return false;
    }
    for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
        const Onnx__TensorProto *t = graph->sparse_initializer[i]->values;
        struct onnx_value *v = onnx_value_create(r, ONNX_UNDEFINED, 0, NULL);

        if (!v)
            return false;
        v->refusal = "is a sparse tensor, which WebNN does not have";
        if (!t || !t->name || !*t->name)
            return onnx_fail(r, "sparse initializer %zu has no name", i);
        if (!onnx_bind(scope, t->name, v, "sparse initializer"))
            return false;
    }
    return true;
}

/* ---- what cannot be expressed ---- */

static bool append(struct onnx_reader *r, const char *text)
{
    size_t length = strlen(text);

    if (!array_reserve(NULL, &r->refusals, &r->refusals_capacity, r->refusals_length + length + 1, 1))
        return onnx_fail_memory(r);
    memcpy(r->refusals + r->refusals_length, text, length + 1);
    r->refusals_length += length;
    return true;
}

/** Returns a node's name, or that of its first result: most writers leave one of them out. */
static const char *name_of(const Onnx__NodeProto *node)
{
    if (node->name && *node->name)
        return node->name;
    for (size_t i = 0; i < node->n_output; i++)
        if (node->output[i] && *node->output[i])
            return node->output[i];
    return "";
}

/** Adds the nodes around a scope to the message, outermost first. */
static bool append_owners(const struct onnx_scope *scope)
{
    struct onnx_reader *r = scope->reader;

    if (!scope->owner)
        return true;
    return append_owners(scope->owner->scope) && append(r, onnx_escape(r, name_of(scope->owner->proto))) && append(r, "/");
}

void onnx_report(struct onnx_scope *scope, const Onnx__NodeProto *node, const char *reason)
{
    struct onnx_reader *r = scope->reader;

    if (r->refusal_count++ >= REFUSALS_MAX)
        return;
    if (append(r, "\n  \"") && append_owners(scope) && append(r, onnx_escape(r, name_of(node))) && append(r, "\" (") &&
        append(r, onnx_escape(r, node->op_type)) && append(r, "): "))
        append(r, reason);
}

/* ---- functions and bodies ---- */

static void bind_unknown(struct onnx_node *n)
{
    for (size_t i = 0; i < n->output_count; i++)
        n->outputs[i] = onnx_value_unknown(n->reader);
}

/** Imports the body of one of the model's functions in the node's place. */
static bool import_function(struct onnx_node *n, const struct onnx_function *function)
{
    struct onnx_reader *r = n->reader;
    const Onnx__FunctionProto *f = function->proto;
    struct onnx_scope scope = {
        .reader = r, .owner = n, .function = function, .opsets = &function->opsets, .depth = n->scope->depth + 1};
    size_t before = r->refusal_count;
    bool ok = true;

    if (scope.depth > DEPTH_MAX)
        return onnx_refuse(n, "functions and bodies are nested more than %d deep", DEPTH_MAX);
    if (n->input_count > f->n_input)
        return onnx_refuse(n, "there are %zu inputs, the function has %zu", n->input_count, f->n_input);
    for (size_t i = 0; i < n->proto->n_attribute; i++) {
        bool takes = false;

        if (n->proto->attribute[i]->name)
            onnx_map_get(&function->attributes, n->proto->attribute[i]->name, &takes);
        if (takes)
            onnx_ignore(n, n->proto->attribute[i]->name);
    }
    for (size_t i = 0; ok && i < f->n_input; i++)
        ok = onnx_bind(&scope, f->input[i], i < n->input_count ? n->inputs[i] : NULL, "function input");
    ok = ok && onnx_import_nodes(&scope, f->n_node, f->node, "function") && onnx_spend(r, f->n_output);
    for (size_t i = 0; ok && i < n->output_count && i < f->n_output; i++) {
        bool found;

        n->outputs[i] = onnx_lookup(&scope, f->output[i], &found);
        if (!found)
            ok = onnx_fail(r, "function \"%s\": nothing produces its output \"%s\"", onnx_escape(r, f->name),
                           onnx_escape(r, f->output[i]));
    }
    name_map_free(&scope.values);
    name_map_free(&scope.blocked);
    return ok && (r->refusal_count == before || onnx_refuse(n, "%s", ""));
}

bool onnx_import_body(struct onnx_node *n, const Onnx__GraphProto *body, size_t input_count, struct onnx_value *const *inputs,
                      struct onnx_value **outputs)
{
    struct onnx_reader *r = n->reader;
    struct onnx_scope scope = {
        .reader = r, .outer = n->scope, .owner = n, .opsets = n->scope->opsets, .depth = n->scope->depth + 1};
    size_t before = r->refusal_count;
    bool ok = true;

    if (n->refused || !body)
        return false;
    if (scope.depth > DEPTH_MAX)
        return onnx_refuse(n, "functions and bodies are nested more than %d deep", DEPTH_MAX);
    if (body->n_input != input_count)
        return onnx_refuse(n, "its body has %zu inputs instead of %zu", body->n_input, input_count);
    for (size_t i = 0; ok && i < input_count; i++)
        ok = onnx_bind(&scope, body->input[i]->name ? body->input[i]->name : "", inputs[i], "input of a body");
    ok = ok && onnx_bind_initializers(&scope, body) && onnx_import_nodes(&scope, body->n_node, body->node, "body");
    ok = ok && onnx_spend(r, body->n_output);
    for (size_t i = 0; ok && i < body->n_output; i++) {
        const char *name = body->output[i]->name ? body->output[i]->name : "";
        bool found;

        outputs[i] = onnx_lookup(&scope, name, &found);
        if (!outputs[i])
            ok = onnx_fail(r, "node \"%s\": nothing produces the output \"%s\" of its body", onnx_escape(r, name_of(n->proto)),
                           onnx_escape(r, name));
    }
    name_map_free(&scope.values);
    name_map_free(&scope.blocked);
    if (ok && r->refusal_count > before)
        ok = onnx_refuse(n, "%s", "");
    return ok;
}

struct onnx_refusals onnx_refusals(const struct onnx_node *n)
{
    return (struct onnx_refusals){n->reader->refusal_count, n->reader->refusals_length};
}

bool onnx_forgive(struct onnx_node *n, struct onnx_refusals before)
{
    struct onnx_reader *r = n->reader;

    if (r->failed)
        return false;
    if (r->refusals_length > before.length)
        r->refusals[before.length] = '\0';
    r->refusal_count = before.count;
    r->refusals_length = before.length;
    n->refused = false;
    wnnGraphBuilderClearError(n->builder);
    return true;
}

bool onnx_import_branch(struct onnx_node *n, const Onnx__GraphProto *body, struct onnx_value **outputs, const char **reason)
{
    enum { MARGIN = 3 /* a line begins with a line end and two spaces */ };
    struct onnx_reader *r = n->reader;
    const struct onnx_refusals before = onnx_refusals(n);

    *reason = NULL;
    if (onnx_import_body(n, body, 0, NULL, outputs))
        return true;
    if (r->failed || r->refusal_count == before.count)
        return false;
    if (r->refusals_length > before.length + MARGIN) {
        const char *line = r->refusals + before.length + MARGIN;
        char *copy = onnx_reader_alloc(r, strcspn(line, "\n") + 1, 1);

        if (!copy)
            return false;
        memcpy(copy, line, strcspn(line, "\n"));
        *reason = copy;
    } else {
        *reason = "its nodes cannot be expressed";
    }
    onnx_forgive(n, before);
    return false;
}

/* ---- one node ---- */

/**
 * Says of results that are computed at run time which input of the model they depend on, and of those without elements which
 * one has none: the first of an input.
 */
static void note_dependence(struct onnx_node *n)
{
    const char *depends = NULL, *empty = NULL;

    for (size_t i = 0; i < n->input_count; i++) {
        const struct onnx_value *v = n->inputs[i];

        depends = depends || !v || v->is_static ? depends : v->depends;
        empty = empty || !v ? empty : v->empty;
    }
    for (size_t i = 0; i < n->output_count; i++) {
        struct onnx_value *v = n->outputs[i];

        if (v && !v->is_static && !v->depends)
            v->depends = depends;
        if (v && !v->empty && !onnx_elements(v))
            v->empty = empty;
    }
}

/** Computes small constants, so that their nodes do not stay in the graph. */
static void settle(struct onnx_node *n, double input_elements, double input_cost)
{
    double out = 0, cost;

    for (size_t i = 0; i < n->output_count; i++)
        if (n->outputs[i] && n->outputs[i]->operand)
            out += (double)onnx_elements(n->outputs[i]);
    cost = input_cost + (n->row->flags & ONNX_HEAVY ? input_elements * out : input_elements + out);
    for (size_t i = 0; i < n->output_count; i++) {
        struct onnx_value *v = n->outputs[i];

        if (!v || !v->is_static || v->data || !v->operand || v->cost > 0)
            continue;
        v->cost = cost;
        if (n->row->flags & ONNX_KEEP || onnx_elements(v) > FOLD_ELEMENTS || cost > FOLD_COST)
            continue;
        if (onnx_value_compute(n->reader, v))
            v->operand = NULL; /* a separate constant if an operand is needed */
    }
}

static bool check_rest(struct onnx_node *n)
{
    WNNStringView message;

    if (n->refused)
        return false;
    if (wnnGraphBuilderGetError(n->builder, &message) != WNNStatus_Success)
        return onnx_refuse(n, "%.*s", (int)(message.length > 500 ? 500 : message.length), message.data);
    for (size_t i = 0; i < n->proto->n_attribute; i++) {
        const char *name = n->proto->attribute[i]->name ? n->proto->attribute[i]->name : "";

        for (size_t k = 0; k < i; k++)
            if (!strcmp(name, n->proto->attribute[k]->name ? n->proto->attribute[k]->name : ""))
                return onnx_refuse(n, "attribute %s is given twice", onnx_escape(n->reader, name));
        if (!(n->attributes_read >> i & 1))
            return onnx_refuse(n, "attribute %s has no meaning for this operator in version %lld", onnx_escape(n->reader, name),
                               (long long)n->version);
    }
    for (size_t i = 0; i < n->output_count; i++)
        if (!n->outputs[i] && onnx_wants(n, i))
            return onnx_refuse(n, "its output %zu has no equivalent in a static graph", i);
    return true;
}

/** Looks up the inputs.  Returns false if the reader failed. */
static bool find_inputs(struct onnx_node *n, bool *unknown)
{
    struct onnx_reader *r = n->reader;

    *unknown = false;
    n->is_static = true;
    for (size_t i = 0; i < n->proto->n_input; i++) {
        const char *name = n->proto->input[i];
        bool found = true;

        n->inputs[i] = name && *name ? onnx_lookup(n->scope, name, &found) : NULL;
        if (!found)
            return onnx_fail(r, "node \"%s\" (%s) reads \"%s\", which is not an input, initializer or result of another node",
                             onnx_escape(r, name_of(n->proto)), onnx_escape(r, n->proto->op_type), onnx_escape(r, name));
        if (!n->inputs[i])
            continue;
        n->input_count = i + 1;
        n->is_static = n->is_static && n->inputs[i]->is_static;
        *unknown = *unknown || (n->inputs[i]->refusal && !n->inputs[i]->refusal[0]);
    }
    return true;
}

/** Finds the row of the node's operator; NULL after refusing, or because it is a function. */
static void find_operator(struct onnx_node *n, const struct onnx_function **function)
{
    bool imported;
    const char *domain = onnx_opset(n->scope, n->proto->domain, &imported, &n->version), *type = n->proto->op_type;

    *function = NULL;
    if (imported)
        n->row = onnx_find_operator(domain, type, n->version);
    if (!n->row)
        *function = onnx_find_function(n->reader, n->proto, domain);
    if (n->row || *function)
        return;
    if (!imported)
        onnx_refuse(n, "the model imports no operator set \"%s\"", onnx_escape(n->reader, domain));
    else if (*domain)
        onnx_refuse(n, "an operator of \"%s\", which is not supported", onnx_escape(n->reader, domain));
    else
        onnx_refuse(n, "it is not among the supported operators of ONNX's set %lld; one of another domain must name it",
                    (long long)n->version);
}

static void check_counts(struct onnx_node *n)
{
    const struct onnx_operator *row = n->row;

    if (n->input_count < row->min_inputs)
        onnx_refuse(n, "%zu inputs are given, it needs %u", n->input_count, row->min_inputs);
    else if (row->max_inputs != UINT8_MAX && n->input_count > row->max_inputs)
        onnx_refuse(n, "%zu inputs are given, it has at most %u", n->input_count, row->max_inputs);
    else if (row->max_outputs != UINT8_MAX && n->output_count > row->max_outputs)
        onnx_refuse(n, "%zu outputs are named, it has at most %u", n->output_count, row->max_outputs);
    for (size_t i = 0; i < row->min_inputs && !row->term && !n->refused; i++)
        if (!n->inputs[i]) /* an empty name, before inputs that are there */
            onnx_refuse(n, "input %zu is left out, it needs the first %u", i, row->min_inputs);
}

/** Runs the importer, or the function's body; of a node that reads the result of a refused one it only looks up the operator.
 */
static bool run_node(struct onnx_node *n, bool unknown)
{
    const struct onnx_function *function;
    double elements = 0, cost = 0;
    bool ok, handled;

    find_operator(n, &function);
    if (unknown)
        return false;
    if (function)
        return import_function(n, function) && check_rest(n);
    if (!n->refused)
        check_counts(n);
    if (n->refused)
        return false;
    for (size_t i = 0; i < n->input_count; i++)
        if (n->inputs[i] && !n->inputs[i]->refusal) {
            elements += (double)onnx_elements(n->inputs[i]);
            cost += n->inputs[i]->data ? 0 : n->inputs[i]->cost;
        }
    wnnGraphBuilderClearError(n->builder);
    if (n->version < 6 && !n->row->domain)
        onnx_ignore(n, "consumed_inputs"); /* a hint about memory that may be reused */
    ok = onnx_check_open(n) && onnx_import_sized(n, &handled);
    if (ok && !handled)
        ok = onnx_count_inputs(n) && onnx_import_empty(n, &handled) && (handled || n->row->import(n)) && onnx_count_outputs(n);
    if (!check_rest(n))
        return false;
    if (!ok)
        return onnx_refuse(n, "it is not supported");
    settle(n, elements, cost);
    return true;
}

/** Imports a node, or binds names for one that is not needed. */
static bool import_node(struct onnx_scope *scope, const Onnx__NodeProto *proto, bool needed)
{
    struct onnx_reader *r = scope->reader;
    WNNOperatorOptions options = WNN_OPERATOR_OPTIONS_INIT;
    struct onnx_node n = {.reader = r, .scope = scope, .proto = proto, .builder = r->model->builder, .options = &options};
    bool unknown;

    if (!onnx_charge(r, "one more node, functions and loops unrolled,", NODE_OPERATIONS, 0) ||
        !onnx_spend(r, 1 + proto->n_input + proto->n_output + proto->n_attribute))
        return false;
    if (!proto->op_type || !*proto->op_type)
        return onnx_fail(r, "node \"%s\" names no operator", onnx_escape(r, name_of(proto)));
    options.label = n.label = WNN_STR(name_of(proto));
    n.inputs = onnx_reader_alloc(r, proto->n_input + 1, sizeof *n.inputs);
    n.outputs = onnx_reader_alloc(r, proto->n_output + 1, sizeof *n.outputs);
    if (!n.inputs || !n.outputs || !find_inputs(&n, &unknown))
        return false;
    n.output_count = proto->n_output;
    if (needed && proto->n_attribute > ATTRIBUTES_MAX)
        onnx_refuse(&n, "it has %zu attributes, a node may have %d", proto->n_attribute, ATTRIBUTES_MAX);
    if (!needed || n.refused || !run_node(&n, unknown))
        bind_unknown(&n);
    note_dependence(&n);
    if (r->options->told)
        r->options->told(r->options->told_user, name_of(proto), proto->op_type);
    wnnGraphBuilderClearError(n.builder);
    for (size_t i = 0; !r->failed && i < n.output_count; i++)
        if (onnx_wants(&n, i) && !onnx_bind(scope, proto->output[i], n.outputs[i], "result"))
            return false;
    return !r->failed;
}

bool onnx_import_nodes(struct onnx_scope *scope, size_t count, Onnx__NodeProto *const *nodes, const char *what)
{
    const size_t *order = onnx_order_nodes(scope->reader, count, nodes, what);

    scope->node_count = count;
    scope->nodes = nodes;
    for (size_t i = 0; order && i < count; i++)
        if (!import_node(scope, nodes[order[i]], scope->depth || scope->reader->needed[order[i]]))
            return false;
    return order != NULL;
}
