/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Parses statements for nodes, "results = operator(arguments) mark".  The nodes go through call_infer, and their marks become
 * clusters.  What an argument may be is read off the operator's row.
 */
#include "ir/text/parse.h"

#include <string.h>

#include "ir/text/print.h"

/* ---- attributes ---- */

static bool parse_attr_element(struct parser *p, const struct attr_info *a, void *out)
{
    const struct token t = p->l.token;
    char buf[80];
    int64_t integer;
    WNNNumber n;

    switch (a->kind) {
    case ATTR_U32:
    case ATTR_U32_LIST: {
        uint32_t u32;
        if (!parse_uint32(p, &u32))
            return false;
        memcpy(out, &u32, sizeof u32);
        return true;
    }
    case ATTR_I32:
        if (!parse_integer(p, INT32_MIN, INT32_MAX, &integer))
            return false;
        memcpy(out, &(int32_t){(int32_t)integer}, sizeof(int32_t));
        return true;
    case ATTR_F64:
        if (!lex_number(&p->l, &n))
            return false;
        memcpy(out, &(double){number_to_double(n)}, sizeof(double));
        return true;
    case ATTR_F32_LIST:
        if (!lex_number(&p->l, &n))
            return false;
        memcpy(out, &(float){number_cast(n, WNNOperandDataType_Float32).f32}, sizeof(float));
        return true;
    case ATTR_NUMBER:
        if (!lex_number(&p->l, &n))
            return false;
        memcpy(out, &n, sizeof n);
        return true;
    case ATTR_BOOL:
        if (!lex_is_word(&p->l, "true") && !lex_is_word(&p->l, "false"))
            return parse_expected(p, "true or false");
        *(bool *)out = lex_is_word(&p->l, "true");
        return lex_next(&p->l);
    case ATTR_DATA_TYPE:
    case ATTR_ENUM:
    case ATTR_ENUM_LIST: {
        if (t.kind != TOKEN_NAME && t.kind != TOKEN_STRING)
            return parse_expected(p, a->kind == ATTR_DATA_TYPE ? "a data type" : "a name");
        unsigned value;
        if (a->kind == ATTR_DATA_TYPE) {
            value = dtype_parse(t.text, t.length);
            if (value == WNNOperandDataType_Undefined)
                return lex_error(&p->l, "%s is no data type", lex_describe(&p->l, buf, sizeof buf));
        } else {
            int known = enum_value_parse(a->enumeration, t.text, t.length);
            if (known < 0)
                return lex_error(&p->l, "%s has no value %s", a->name, lex_describe(&p->l, buf, sizeof buf));
            value = (unsigned)known;
        }
        memcpy(out, &value, sizeof value);
        return lex_next(&p->l);
    }
    case ATTR_NONE:
        break;
    }
    return false;
}

/* Reads an attribute's value into the option struct or args. */
static bool parse_attr(struct parser *p, struct call *c, const struct attr_info *a)
{
    bool is_list = a->kind == ATTR_U32_LIST || a->kind == ATTR_F32_LIST || a->kind == ATTR_ENUM_LIST;
    char *object = a->positional ? (char *)&c->args : c->options;
    struct parse_list list = {0};
    bool end;

    if (!a->positional && lex_is_word(&p->l, "null"))
        return lex_next(&p->l); /* absent: the default stays */
    if (!is_list)
        return parse_attr_element(p, a, object + a->offset);
    if (c->op == OP_SPLIT && a->positional && !lex_is(&p->l, '[')) {
        const char *place = p->l.token.text;
        if (!parse_uint32(p, &c->args.split.equal))
            return false;
        if (c->args.split.equal == 0)
            return lex_error_at(&p->l, place, "splits must not be 0");
        return true;
    }

    if (!parse_sign(p, '['))
        return false;
    end = lex_is(&p->l, ']');
    if (end && !lex_next(&p->l))
        return false;
    while (!end) {
        char element[sizeof(uint32_t)];
        if (!parse_attr_element(p, a, element) || !parse_list_add(p, &list, element, sizeof element) ||
            !parse_list_end(p, ']', &end))
            return false;
    }
    if (!list.items && !(list.items = arena_alloc(&p->scratch, 1))) /* present, but empty */
        return parse_out_of_memory(p);
    memcpy(object + a->offset, &list.items, sizeof list.items);
    memcpy(object + a->count_offset, &list.count, sizeof list.count);
    return true;
}

/* ---- nodes ---- */

/* Says what one argument goes into. */
struct target_slot {
    bool label;
    uint32_t operand; /* if attr is NULL */
    const struct attr_info *attr;
    uint32_t bit; /* to notice what is given twice */
};

static bool text_equal(const struct token *t, const char *name)
{
    return strlen(name) == t->length && memcmp(name, t->text, t->length) == 0;
}

static bool find_named(enum op op, const struct token *t, struct target_slot *slot)
{
    const struct op_info *info = &op_infos[op];

    memset(slot, 0, sizeof *slot);
    if (text_equal(t, "label")) {
        slot->label = true;
        slot->bit = 31;
        return true;
    }
    for (uint32_t i = 0; info->ins[i].name; i++) {
        if (text_equal(t, info->ins[i].name)) {
            slot->operand = slot->bit = i;
            return true;
        }
    }
    for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++) {
        if (text_equal(t, info->attrs[i].name)) {
            slot->attr = &info->attrs[i];
            slot->bit = OP_OPERANDS_MAX + i;
            return true;
        }
    }
    return false;
}

static bool find_positional(enum op op, uint32_t position, struct target_slot *slot)
{
    const struct op_info *info = &op_infos[op];
    uint32_t operands = op_positional_inputs(op);

    memset(slot, 0, sizeof *slot);
    if (position < operands) {
        slot->operand = slot->bit = position;
        return true;
    }
    for (uint32_t i = 0; i <= position - operands; i++)
        if (info->attrs[i].kind == ATTR_NONE || !info->attrs[i].positional)
            return false;
    slot->attr = &info->attrs[position - operands];
    slot->bit = OP_OPERANDS_MAX + position - operands;
    return true;
}

/* Reads the operands of a concat, in brackets. */
static bool parse_operand_list(struct parser *p, struct parse_list *inputs)
{
    bool end;

    if (!parse_sign(p, '['))
        return false;
    end = lex_is(&p->l, ']');
    if (end && !lex_next(&p->l))
        return false;
    while (!end) {
        struct value *v;
        if (!parse_operand(p, &v) || !parse_list_add(p, inputs, &v, sizeof v) || !parse_list_end(p, ']', &end))
            return false;
    }
    return true;
}

/* Reads everything between an operator's parentheses into c, and moves behind the closing one. */
static bool parse_arguments(struct parser *p, struct call *c)
{
    const struct op_info *info = &op_infos[c->op];
    uint32_t given = 0, position = 0, slots = op_input_slots(c->op);
    bool variadic = info->flags & OPF_VARIADIC, bare = false, keys = false, end = lex_is(&p->l, ')');
    struct value **inputs = arena_array(&p->scratch, slots, sizeof *inputs);
    struct parse_list list = {0};
    char buf[80];

    if (!inputs)
        return parse_out_of_memory(p);
    if (end && !lex_next(&p->l))
        return false;
    while (!end) {
        struct target_slot slot;
        struct lexer start = p->l;
        const char *place = p->l.token.text;
        bool key = false;

        if (p->l.token.kind == TOKEN_NAME) {
            if (!lex_next(&p->l) || !parse_accept(p, '=', &key))
                return false;
            if (!key) {
                start.error = p->l.error;
                p->l = start;
            }
        }
        if (key) {
            if (!find_named(c->op, &start.token, &slot))
                return lex_error_at(&p->l, place, "%s has no argument %s", info->name, lex_describe(&start, buf, sizeof buf));
        } else if (keys) {
            return lex_error(&p->l, "a positional argument behind one with a name");
        } else if (bare && (p->l.token.kind == TOKEN_NAME || p->l.token.kind == TOKEN_STRING)) {
            struct value *v; /* one more operand of a concat without brackets */
            if (!parse_operand(p, &v) || !parse_list_add(p, &list, &v, sizeof v) || !parse_list_end(p, ')', &end))
                return false;
            continue;
        } else if (!find_positional(c->op, position++, &slot)) {
            return lex_error(&p->l, "%s has %u positional arguments, here is one more", info->name, position - 1);
        }
        keys = keys || key;
        if (given >> slot.bit & 1)
            return lex_error_at(&p->l, place, "this argument is given twice");
        given |= 1u << slot.bit;

        bool ok;
        if (slot.label) {
            if (p->l.token.kind != TOKEN_STRING)
                return parse_expected(p, "a string");
            struct parse_name label;
            ok = parse_text(p, "a string", &p->scratch, &label);
            if (ok && strlen(label.text) != label.length)
                return lex_error_at(&p->l, label.place, "a label with a NUL in it");
            c->label = label.text;
        } else if (slot.attr) {
            ok = parse_attr(p, c, slot.attr);
        } else if (variadic && !key && !lex_is(&p->l, '[')) {
            struct value *v;
            bare = true;
            ok = parse_operand(p, &v) && parse_list_add(p, &list, &v, sizeof v);
        } else if (variadic) {
            ok = parse_operand_list(p, &list);
        } else {
            ok = parse_operand(p, &inputs[slot.operand]);
        }
        if (!ok || !parse_list_end(p, ')', &end))
            return false;
    }
    for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++)
        if (info->attrs[i].positional && !(given >> (OP_OPERANDS_MAX + i) & 1))
            return lex_error(&p->l, "%s: argument %s is missing", info->name, info->attrs[i].name);
    c->inputs = variadic ? (struct value *const *)list.items : inputs;
    c->input_count = variadic ? (uint32_t)list.count : slots;
    return true;
}

/* Reads " @winograd(u)" behind a convolution: the constant with its transformed weights. */
static bool parse_transformed(struct parser *p, struct node *n)
{
    const char *place = p->l.token.text;
    struct value *v;

    if (!lex_next(&p->l) || !parse_sign(p, '(') || !parse_operand(p, &v) || !parse_sign(p, ')'))
        return false;
    if (n->transformed)
        return lex_error_at(&p->l, place, "this node has transformed weights already");
    if (n->op != OP_CONV2D || !v || v->kind != VALUE_CONSTANT || v->type.type != WNNOperandDataType_Float32)
        return lex_error_at(&p->l, place, "@winograd is for a conv2d and names a float32 constant");
    v->kept = true;
    n->transformed = v;
    return true;
}

/* Reads " @kernel(3)" behind a node. */
static bool parse_mark(struct parser *p, struct node *n)
{
    struct parse_mark *m;

    if (lex_is_word(&p->l, "winograd"))
        return parse_transformed(p, n);
    m = arena_alloc(&p->scratch, sizeof *m);
    if (!m)
        return parse_out_of_memory(p);
    m->node = n;
    m->place = p->l.token.text;
    for (m->kind = CLUSTER_KERNEL; !lex_is_word(&p->l, cluster_kind_name(m->kind)); m->kind++)
        if (m->kind == CLUSTER_VIEW)
            return parse_expected(p, "kernel, library, loop, view or winograd");
    if (!lex_next(&p->l) || !parse_sign(p, '(') || !parse_uint32(p, &m->index) || !parse_sign(p, ')'))
        return false;
    if (p->last_mark)
        p->last_mark->next = m;
    else
        p->first_mark = m;
    p->last_mark = m;
    return true;
}

/* Reads one name, or several in brackets, as struct parse_name. */
static bool parse_result_names(struct parser *p, struct parse_list *names)
{
    bool brackets, end = false;

    if (!parse_accept(p, '[', &brackets))
        return false;
    while (!end) {
        struct parse_name name;
        if (!parse_new_name(p, &name) || !parse_list_add(p, names, &name, sizeof name))
            return false;
        end = true;
        if (brackets && !parse_list_end(p, ']', &end))
            return false;
    }
    return true;
}

bool parse_node(struct parser *p)
{
    union {
        max_align_t align;
        char bytes[512];
    } options;
    struct tensor_type results[OP_RESULTS_MAX];
    struct parse_list names = {0};
    struct error error = {0};
    struct call c = {.graph = p->g, .label = "", .options = options.bytes, .results = results, .error = &error};
    const char *place;
    char buf[80];
    bool marked;

    if (!parse_result_names(p, &names) || !parse_sign(p, '='))
        return false;
    place = p->l.token.text;
    if (p->l.token.kind != TOKEN_NAME)
        return parse_expected(p, "an operator's name");
    c.op =
        lex_is_word(&p->l, op_infos[OP_SCATTER_REDUCE].name) ? OP_SCATTER_REDUCE : op_parse(p->l.token.text, p->l.token.length);
    if (c.op == OP_COUNT)
        return lex_error(&p->l, "%s is no operator", lex_describe(&p->l, buf, sizeof buf));
    memcpy(options.bytes, op_infos[c.op].options_default, op_infos[c.op].options_size);
    memset(results, 0, sizeof results);
    if (!lex_next(&p->l) || !parse_sign(p, '(') || !parse_arguments(p, &c))
        return false;

    struct node *n = call_infer(&c) ? node_create_inferred(&c, NULL) : NULL;
    if (!n) {
        unsigned line, column;
        if (error.status != WNNStatus_TypeError) /* not the text's fault */
            return error_set(p->l.error, error.status, "%s", error.message);
        lex_position(&p->l, place, &line, &column);
        return error_set(p->l.error, error.status, "%u:%u: %s", line, column, error.message);
    }
    if (names.count != n->result_count)
        return lex_error_at(&p->l, place, "%s has %u results, %zu names are given", op_infos[c.op].name, n->result_count,
                            names.count);
    for (uint32_t i = 0; i < n->result_count; i++) {
        if (!parse_define(p, (const struct parse_name *)names.items + i, n->results[i]))
            return false;
    }
    do {
        if (!parse_accept(p, '@', &marked) || (marked && !parse_mark(p, n)))
            return false;
    } while (marked);
    return true;
}

/* Makes clusters of the marks.  Their indices must be below the number of nodes, so that they can be an array's. */
bool parse_finish_marks(struct parser *p)
{
    struct graph *g = p->g;
    struct cluster **clusters;

    if (!p->first_mark)
        return true;
    clusters = arena_array(&p->scratch, g->node_count, sizeof(struct cluster *));
    if (!clusters)
        return parse_out_of_memory(p);
    for (struct parse_mark *m = p->first_mark; m; m = m->next) {
        if (m->index >= g->node_count)
            return lex_error_at(&p->l, m->place, "cluster %u in a graph of %u nodes", m->index, g->node_count);

        struct cluster *c = clusters[m->index];
        if (!c) {
            c = clusters[m->index] = arena_alloc(&g->arena, sizeof *c);
            if (!c)
                return parse_out_of_memory(p);
            c->kind = m->kind;
            c->index = m->index;
        }
        if (c->kind != m->kind)
            return lex_error_at(&p->l, m->place, "cluster %u is of kind %s above", m->index, cluster_kind_name(c->kind));
        if (c->kind == CLUSTER_LIBRARY && (!c->anchor || (is_default_anchor(m->node) && !is_default_anchor(c->anchor))))
            c->anchor = m->node;
        m->node->cluster = c;
    }
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (!clusters[i])
            continue;
        if (g->last_cluster)
            g->last_cluster->next = clusters[i];
        else
            g->first_cluster = clusters[i];
        g->last_cluster = clusters[i];
        g->cluster_count = i + 1;
    }
    return true;
}
