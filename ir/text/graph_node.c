/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes nodes of a document's statements.  They go through call_infer, and their marks become clusters.  What an argument may
 * be is read off the operator's row.
 */
#include "ir/text/graph_parse.h"

#include "ir/graph/dims.h"
#include "ir/graph/winograd.h"
#include "ir/text/print.h"

/* ---- attributes ---- */

/** Converts one value (not a list) to what the attribute, or an item of it, is. */
static bool read_element(struct graph_parser *p, const struct attr_info *a, const struct document_value *v, void *out)
{
    struct document *d = &p->d;
    char buf[80];
    int64_t integer;
    unsigned value;
    dtype type;
    int known;

    switch (a->kind) {
    case ATTR_U32:
    case ATTR_U32_LIST:
    case ATTR_I32:
    case ATTR_F64:
    case ATTR_F32_LIST:
    case ATTR_NUMBER:
        if (v->kind != DOCUMENT_NUMBER)
            return document_expected(d, v->place, "a number");
        if (a->kind == ATTR_F64)
            memcpy(out, &(double){number_to_double(v->number)}, sizeof(double));
        else if (a->kind == ATTR_F32_LIST)
            memcpy(out, &(float){number_cast(v->number, WNNOperandDataType_Float32).f32}, sizeof(float));
        else if (a->kind == ATTR_NUMBER)
            memcpy(out, &v->number, sizeof v->number);
        else if (!document_integer(d, v->place, v->number, a->kind == ATTR_I32 ? INT32_MIN : 0,
                                   a->kind == ATTR_I32 ? INT32_MAX : UINT32_MAX, &integer))
            return false;
        else /* of either sign, the same bits */
            memcpy(out, &(uint32_t){(uint32_t)integer}, sizeof(uint32_t));
        return true;
    case ATTR_BOOL:
        *(bool *)out = v->boolean;
        return v->kind == DOCUMENT_BOOL || document_expected(d, v->place, "true or false");
    case ATTR_DATA_TYPE:
        if (!document_is_text(v))
            return document_expected(d, v->place, "a data type");
        if (!document_data_type(d, &v->text, &type))
            return false;
        memcpy(out, &type, sizeof type);
        return true;
    case ATTR_ENUM:
    case ATTR_ENUM_LIST:
        if (!document_is_text(v))
            return document_expected(d, v->place, "a name");
        known = enum_value_parse(a->enumeration, v->text.text, v->text.length);
        if (known < 0)
            return document_error(d, v->place, "%s has no value '%s'", a->name, document_escape(buf, v->text));
        value = (unsigned)known;
        memcpy(out, &value, sizeof value);
        return true;
    case ATTR_NONE:
        break;
    }
    return false;
}

static bool set_attr(struct graph_parser *p, struct call *c, const struct attr_info *a, const struct document_value *v)
{
    char *object = a->positional ? (char *)&c->args : c->options;
    uint32_t *list;
    size_t count = 0;

    if (!a->positional && v->kind == DOCUMENT_NULL)
        return true; /* absent: the default stays */
    if (!attr_is_list(a))
        return read_element(p, a, v, object + a->offset);
    if (a->or_count && v->kind != DOCUMENT_LIST)
        return read_element(p, a, v, &c->args.split.equal) &&
               (c->args.split.equal || document_error(&p->d, v->place, "splits must not be 0"));
    if (v->kind != DOCUMENT_LIST)
        return document_expected(&p->d, v->place, "'['");
    list = arena_array(&p->d.arena, v->count + 1, sizeof *list); /* an empty list is present, too */
    if (!list)
        return error_out_of_memory(&p->d.error);
    for (const struct document_value *x = v->first; x; x = x->next)
        if (!read_element(p, a, x, &list[count++]))
            return false;
    memcpy(object + a->offset, &list, sizeof list);
    memcpy(object + a->count_offset, &count, sizeof count);
    return true;
}

/* ---- arguments ---- */

/** Finds the value that is named; *out is NULL for null. */
static bool find_operand(struct graph_parser *p, const struct document_value *v, struct value **out)
{
    if (v->kind == DOCUMENT_NULL)
        return true;
    if (!document_is_text(v))
        return document_expected(&p->d, v->place, "an operand's name");
    *out = document_find(&p->d, &p->values, &v->text);
    return *out;
}

static bool set_operands(struct graph_parser *p, struct call *c, const struct document_value *list)
{
    struct value **inputs = arena_array(&p->d.arena, list->count + 1, sizeof *inputs);

    if (list->kind != DOCUMENT_LIST)
        return document_expected(&p->d, list->place, "an operand's name");
    if (!inputs)
        return error_out_of_memory(&p->d.error);
    c->inputs = inputs;
    for (const struct document_value *x = list->first; x; x = x->next)
        if (!find_operand(p, x, &inputs[c->input_count++]))
            return false;
    return true;
}

static bool set_argument(struct graph_parser *p, struct call *c, struct value **inputs, const struct document_argument *a)
{
    const struct op_info *info = &op_infos[c->op];
    const struct document_value *v = a->value;
    char buf[80];

    if (document_is(&a->key, "label")) {
        if (v->kind != DOCUMENT_STRING)
            return document_expected(&p->d, v->place, "a string");
        c->label = v->text.text;
        return strlen(c->label) == v->text.length || document_error(&p->d, v->place, "a label with a NUL in it");
    }
    for (uint32_t i = 0; info->ins[i].name; i++)
        if (document_is(&a->key, info->ins[i].name))
            return info->flags & OPF_VARIADIC ? set_operands(p, c, v) : find_operand(p, v, &inputs[i]);
    for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++)
        if (document_is(&a->key, info->attrs[i].name))
            return set_attr(p, c, &info->attrs[i], v);
    return document_error(&p->d, a->key.place, "%s has no argument '%s'", info->name, document_escape(buf, a->key));
}

static bool set_arguments(struct graph_parser *p, struct call *c, struct document_node *n)
{
    const struct op_info *info = &op_infos[c->op];
    const char *names[OP_OPERANDS_MAX + OP_ATTRS_MAX];
    struct value **inputs = arena_array(&p->d.arena, OP_OPERANDS_MAX, sizeof *inputs);
    bool variadic = info->flags & OPF_VARIADIC;
    size_t count = op_positional_inputs(c->op);

    if (!inputs)
        return error_out_of_memory(&p->d.error);
    for (size_t i = 0; i < count; i++)
        names[i] = info->ins[i].name;
    for (uint32_t i = 0; info->attrs[i].positional; i++)
        names[count++] = info->attrs[i].name;
    if (!document_name_arguments(&p->d, n, count, names, variadic))
        return false;
    c->inputs = inputs;
    c->input_count = variadic ? 0 : op_input_slots(c->op);
    for (const struct document_argument *a = n->first_argument; a; a = a->next)
        if (!set_argument(p, c, inputs, a))
            return false;
    for (size_t i = op_positional_inputs(c->op); i < count; i++) {
        const struct document_argument *a = n->first_argument;

        while (a && !document_is(&a->key, names[i]))
            a = a->next;
        if (!a)
            return document_error(&p->d, n->op.place, "%s: argument %s is missing", info->name, names[i]);
    }
    return true;
}

/* ---- nodes ---- */

/** Reads "@winograd(u)" after a convolution: the constant with its transformed weights. */
static bool set_transformed(struct graph_parser *p, struct node *n, const struct document_mark *m)
{
    struct value *v = document_find(&p->d, &p->values, &m->operand);

    if (!v)
        return false;
    if (n->transformed)
        return document_error(&p->d, m->name.place, "this node has transformed weights already");
    if (n->op != OP_CONV2D || v->kind != VALUE_CONSTANT || v->type.rank != 4 || !winograd_tile_of(v->type.dims[0]) ||
        (v->type.type != WNNOperandDataType_Float32 && (v->type.type != DTYPE_INT16 || v->type.dims[0] != 16)))
        return document_error(&p->d, m->name.place,
                              "@winograd is for a conv2d and names a constant of float32 or int16, of four dimensions, the "
                              "first 16, 24, 25 or 36");
    v->kept = true;
    n->transformed = v;
    return true;
}

bool parse_node(struct graph_parser *p, struct document_node *n)
{
    union {
        max_align_t align;
        char bytes[512];
    } options;
    struct tensor_type results[OP_RESULTS_MAX] = {0};
    struct error error = {0};
    struct call c = {.graph = p->g,
                     .op = (p->g->dims ? op_parse_draft : op_parse_extended)(n->op.text, n->op.length),
                     .label = "",
                     .options = options.bytes,
                     .results = results,
                     .error = &error};
    unsigned line, column;
    char buf[80];

    if (c.op == OP_COUNT)
        return document_error(&p->d, n->op.place, "'%s' is not an operator", document_escape(buf, n->op));
    memcpy(options.bytes, op_infos[c.op].options_default, op_infos[c.op].options_size);
    if (!set_arguments(p, &c, n))
        return false;
    struct node *node = call_infer(&c) ? node_create_inferred(&c, NULL) : NULL;
    if (node && p->g->dims && !dims_note(p->g, node))
        return error_out_of_memory(&p->d.error);
    if (!node) {
        if (error.status != WNNStatus_TypeError) /* not the text's fault */
            return error_set(&p->d.error, error.status, "%s", error.message);
        lex_position(&p->d.lexer, n->op.place, &line, &column);
        return error_set(&p->d.error, error.status, "%u:%u: %s", line, column, error.message);
    }
    if (n->result_count != node->result_count)
        return document_error(&p->d, n->op.place, "%s has %u results, %zu names are given", op_infos[c.op].name,
                              node->result_count, n->result_count);
    for (uint32_t i = 0; i < node->result_count; i++)
        if (!parse_define(p, &n->results[i], node->results[i]))
            return false;
    for (const struct document_mark *m = n->first_mark; m; m = m->next)
        if (m->operand.text && !set_transformed(p, node, m))
            return false;
    return true;
}

/* ---- clusters ---- */

static bool set_cluster(struct graph_parser *p, struct cluster **clusters, struct node *n, const struct document_mark *m)
{
    if (m->number >= p->g->node_count)
        return document_error(&p->d, m->name.place, "cluster %u in a graph of %u nodes", m->number, p->g->node_count);
    struct cluster *c = clusters[m->number];
    if (!c) {
        c = clusters[m->number] = arena_alloc(&p->g->arena, sizeof *c);
        if (!c)
            return error_out_of_memory(&p->d.error);
        while (!document_is(&m->name, cluster_kind_name(c->kind)))
            c->kind++;
        c->index = m->number;
    }
    if (!document_is(&m->name, cluster_kind_name(c->kind)))
        return document_error(&p->d, m->name.place, "cluster %u is of kind %s above", m->number, cluster_kind_name(c->kind));
    if (c->kind == CLUSTER_LIBRARY && (!c->anchor || (is_default_anchor(n) && !is_default_anchor(c->anchor))))
        c->anchor = n;
    n->cluster = c;
    return true;
}

/* Indices of clusters must be below the number of nodes, so that they can be an array's. */
bool parse_marks(struct graph_parser *p)
{
    struct graph *g = p->g;
    struct cluster **clusters = arena_array(&p->d.arena, g->node_count, sizeof(struct cluster *));
    struct node *node = g->first;

    if (!clusters)
        return error_out_of_memory(&p->d.error);
    for (const struct document_node *n = p->d.first_node; n; n = n->next, node = node->next)
        for (const struct document_mark *m = n->first_mark; m; m = m->next)
            if (!m->operand.text && !set_cluster(p, clusters, node, m))
                return false;
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (!clusters[i])
            continue;
        graph_append_cluster(g, clusters[i]);
        g->cluster_count = i + 1;
    }
    return true;
}
