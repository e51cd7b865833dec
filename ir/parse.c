/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The parser of the textual form (docs/textual-ir.md), a superset of `.webnn` text.
 *
 * In: text of any content.  Out: a graph whose every type went through type_check and whose every node through call_infer, or
 * an error with line and column.
 *
 * Blocks may come in any order, so the first walk only finds them; then inputs, constants, nodes and outputs are read in
 * this order.  Nodes may use only what stands before them: there is no way to write a cycle.  What an argument may be is
 * read off the operator's row; nothing recurses, so that nesting costs no stack.
 */
#include <math.h>
#include <string.h>

#include "ir/infer.h"
#include "ir/lex.h"
#include "ir/name_map.h"
#include "ir/print.h"

enum {
    NESTING_MAX = 64, /* of brackets in @values */
};
/* What @scalar may fill in one text: a few characters must not cost the machine's memory. */
static const int64_t scalar_bytes_max = INT64_C(1) << 30;

enum block_kind { BLOCK_INPUTS, BLOCK_CONSTS, BLOCK_NODES, BLOCK_OUTPUTS, BLOCK_KINDS };

struct block {
    enum block_kind kind;
    size_t at; /* behind its brace */
    struct block *next;
};

/* A growing array in the scratch arena. */
struct list {
    char *items;
    size_t count, capacity;
};

struct mark {
    struct node *node;
    struct mark *next;
    const char *place;
    enum cluster_kind kind;
    uint32_t index;
};

struct parser {
    struct lexer l;
    struct graph *g;
    struct arena scratch;
    struct name_map values, outputs;
    struct block *first_block, *last_block;
    struct mark *first_mark, *last_mark;
    int64_t scalar_bytes;
    weights_lookup lookup;
    void *user;
};

static bool out_of_memory(struct parser *p)
{
    return error_out_of_memory(p->l.error);
}

static bool expected(struct parser *p, const char *what)
{
    char buf[80];

    return lex_error(&p->l, "%s expected, found %s", what, lex_describe(&p->l, buf, sizeof buf));
}

static bool expect_sign(struct parser *p, char sign)
{
    char what[] = {'\'', sign, '\'', '\0'};

    return lex_is(&p->l, sign) ? lex_next(&p->l) : expected(p, what);
}

/* Moves past the sign if it is there. */
static bool accept_sign(struct parser *p, char sign, bool *there)
{
    *there = lex_is(&p->l, sign);
    return !*there || lex_next(&p->l);
}

static bool list_add(struct parser *p, struct list *list, const void *item, size_t size)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 8;
        char *items = arena_array(&p->scratch, capacity, size);
        if (!items)
            return out_of_memory(p);
        if (list->count)
            memcpy(items, list->items, list->count * size);
        list->items = items;
        list->capacity = capacity;
    }
    memcpy(list->items + list->count++ * size, item, size);
    return true;
}

/* ---- names ---- */

/* Text with its length: names may hold any bytes. */
struct name {
    char *text;
    size_t length;
    const char *place; /* for messages */
};

/* A name or a string as a NUL-terminated copy. */
static bool parse_text(struct parser *p, const char *what, struct arena *arena, struct name *name)
{
    char *text;

    name->place = p->l.token.text;
    name->length = p->l.token.length;
    if (p->l.token.kind == TOKEN_STRING) {
        text = lex_unescape(&p->l, arena, &name->length);
    } else if (p->l.token.kind == TOKEN_NAME) {
        text = arena_string(arena, p->l.token.text, p->l.token.length);
        if (!text)
            out_of_memory(p);
    } else {
        return expected(p, what);
    }
    name->text = text;
    return text && lex_next(&p->l);
}

/* A name for something new. */
static bool parse_new_name(struct parser *p, struct name *name)
{
    bool quoted = p->l.token.kind == TOKEN_STRING;

    if (!parse_text(p, "a name", &p->g->arena, name))
        return false;
    if (!name->length)
        return lex_error_at(&p->l, name->place, "a name must not be empty");
    if (!quoted && !is_plain_name(name->text, name->length))
        return lex_error_at(&p->l, name->place, "'%s' is a reserved word: write it in quotes", name->text);
    return true;
}

/* Gives v its name. */
static bool define(struct parser *p, const struct name *name, struct value *v)
{
    char buf[128];

    v->name = name->text;
    v->name_length = name->length;
    switch (name_map_add(&p->values, name->text, name->length, v)) {
    case NAME_MAP_ADDED:
        return true;
    case NAME_MAP_EXISTS:
        return lex_error_at(&p->l, name->place, "the name '%s' is defined twice",
                            escape_text(buf, sizeof buf, name->text, name->length));
    case NAME_MAP_OUT_OF_MEMORY:
        break;
    }
    return out_of_memory(p);
}

/* The value that the current token names; *v is NULL for the word null. */
static bool parse_operand(struct parser *p, struct value **v)
{
    char buf[128];
    struct name name;

    if (lex_is_word(&p->l, "null")) {
        *v = NULL;
        return lex_next(&p->l);
    }
    if (!parse_text(p, "an operand's name", &p->scratch, &name))
        return false;
    *v = name_map_find(&p->values, name.text, name.length);
    if (!*v)
        return lex_error_at(&p->l, name.place, "'%s' is not defined here",
                            escape_text(buf, sizeof buf, name.text, name.length));
    return true;
}

/* ---- numbers and lists ---- */

static bool parse_integer(struct parser *p, int64_t lowest, int64_t highest, int64_t *value)
{
    const char *place = p->l.token.text;
    WNNNumber n;

    if (!lex_number(&p->l, &n))
        return false;

    double d = number_to_double(n);
    if (n.type == WNNNumberType_Float64 ? d != floor(d) || isinf(d) : isnan(d))
        return lex_error_at(&p->l, place, "a whole number expected");
    if (!(d >= (double)lowest && d <= (double)highest))
        return lex_error_at(&p->l, place, "the number must be from %lld to %lld", (long long)lowest, (long long)highest);
    *value = (int64_t)d; /* the callers' bounds are far below 2^53 */
    return true;
}

static bool parse_uint32(struct parser *p, uint32_t *value)
{
    int64_t n;

    if (!parse_integer(p, 0, UINT32_MAX, &n))
        return false;
    *value = (uint32_t)n;
    return true;
}

/* Behind an item of a list: a comma, or the end.  A comma may stand before the end. */
static bool parse_list_end(struct parser *p, char close, bool *end)
{
    bool comma;

    if (!accept_sign(p, ',', &comma))
        return false;
    *end = lex_is(&p->l, close);
    if (*end)
        return lex_next(&p->l);
    if (!comma) {
        char what[] = "',' or ' '";
        what[8] = close;
        return expected(p, what);
    }
    return true;
}

/* ---- types ---- */

static bool parse_type(struct parser *p, struct tensor_type *type)
{
    const char *place = p->l.token.text;
    const struct token t = p->l.token;
    struct error error = {0};
    char buf[80];

    memset(type, 0, sizeof *type);
    if (t.kind != TOKEN_NAME)
        return expected(p, "a data type");
    type->type = dtype_parse(t.text, t.length);
    if (type->type == WNNOperandDataType_Undefined) {
        if (lex_is_word(&p->l, "i4") || lex_is_word(&p->l, "u4") || lex_is_word(&p->l, "int4") || lex_is_word(&p->l, "uint4"))
            return lex_error(&p->l, "the specification no longer has the data types int4 and uint4");
        return lex_error(&p->l, "%s is no data type", lex_describe(&p->l, buf, sizeof buf));
    }
    if (!lex_next(&p->l) || !expect_sign(p, '['))
        return false;

    bool end = lex_is(&p->l, ']');
    if (end && !lex_next(&p->l))
        return false;
    while (!end) {
        if (type->rank == RANK_MAX)
            return lex_error(&p->l, "more than %d dimensions", RANK_MAX);
        if (!parse_uint32(p, &type->dims[type->rank++]) || !parse_list_end(p, ']', &end))
            return false;
    }
    if (!type_check(type, "the type", &error))
        return lex_error_at(&p->l, place, "%s", error.message);
    return true;
}

/* ---- inputs and constants ---- */

static bool parse_input(struct parser *p)
{
    struct tensor_type type;
    struct name name;

    if (!parse_new_name(p, &name) || !expect_sign(p, ':') || !parse_type(p, &type))
        return false;
    struct value *v = graph_add_input(p->g, name.text, name.length, &type);
    return v ? define(p, &name, v) : out_of_memory(p);
}

/* The elements in brackets into c: bytes, or numbers of the type, nested at will. */
static bool parse_elements(struct parser *p, const struct tensor_type *type, bool bytes, struct constant *c)
{
    size_t size = bytes ? 1 : dtype_size(type->type), count = c->bytes / size, at = 0;
    char *data = (char *)c->data;
    const char *place = p->l.token.text;
    uint32_t depth = 0;

    if (!lex_is(&p->l, '['))
        return expected(p, "'['");
    do {
        bool item = false;
        if (lex_is(&p->l, '[')) {
            if (++depth > (bytes ? 1 : NESTING_MAX))
                return lex_error(&p->l, "lists are nested too deeply");
            if (!lex_next(&p->l))
                return false;
        } else if (lex_is(&p->l, ']')) {
            depth--;
            item = true;
            if (!lex_next(&p->l))
                return false;
        } else {
            union scalar s = {.u64 = 0};
            if (at == count)
                return lex_error(&p->l, "more than %zu %s", count, bytes ? "bytes" : "elements");
            if (bytes) {
                int64_t byte;
                if (!parse_integer(p, 0, UINT8_MAX, &byte))
                    return false;
                s.u8 = (uint8_t)byte;
            } else {
                WNNNumber n;
                if (!lex_number(&p->l, &n))
                    return false;
                s = number_cast(n, type->type);
            }
            memcpy(data + at++ * size, &s, size);
            item = true;
        }
        if (item && depth && lex_is(&p->l, ',')) {
            if (!lex_next(&p->l))
                return false;
        } else if (item && depth && !lex_is(&p->l, ']')) {
            return expected(p, "',' or ']'");
        }
    } while (depth);
    if (at < count)
        return lex_error_at(&p->l, place, "%zu %s, the type has %zu", at, bytes ? "bytes" : "elements", count);
    return true;
}

/* A constant's data behind '@'. */
static bool parse_data(struct parser *p, const struct tensor_type *type, struct constant **constant)
{
    int64_t size = type_bytes(type);
    const char *place = p->l.token.text;
    bool bytes = lex_is_word(&p->l, "bytes");

    *constant = NULL;
    if (lex_is_word(&p->l, "weights")) {
        struct error error = {0};
        struct name key;
        if (!lex_next(&p->l) || !expect_sign(p, '(') || !parse_text(p, "a key", &p->scratch, &key) || !expect_sign(p, ')'))
            return false;
        if (!p->lookup)
            return lex_error_at(&p->l, place, "no weights were given with this text");
        if (!p->lookup(p->user, key.text, type, constant, &error)) {
            if (error.status != WNNStatus_Success && error.status != WNNStatus_TypeError && error.status != WNNStatus_DataError)
                return error_set(p->l.error, error.status, "%s", error.message);
            return lex_error_at(&p->l, place, "%s", error.message);
        }
        if (!*constant || (int64_t)(*constant)->bytes != size)
            return lex_error_at(&p->l, place, "the weights have %zu bytes, the type has %lld",
                                *constant ? (*constant)->bytes : (size_t)0, (long long)size);
        return true;
    }
    if (bytes || lex_is_word(&p->l, "values")) {
        /* Two characters for each element at least: no more memory than the text is worth. */
        if (type_elements(type) > (int64_t)(p->l.length / 2))
            return lex_error(&p->l, "the text is too short for %lld elements", (long long)type_elements(type));
        *constant = constant_create(NULL, (size_t)size);
        if (!*constant)
            return out_of_memory(p);
        return lex_next(&p->l) && expect_sign(p, '(') && parse_elements(p, type, bytes, *constant) && expect_sign(p, ')');
    }
    return expected(p, "scalar, values, bytes or weights");
}

static bool parse_constant(struct parser *p)
{
    struct tensor_type type;
    struct value *v;
    struct name name;
    bool annotated;

    if (!parse_new_name(p, &name) || !expect_sign(p, ':') || !parse_type(p, &type) || !accept_sign(p, '@', &annotated))
        return false;
    if (!annotated)
        return lex_error_at(&p->l, name.place, "a constant without data: @scalar, @values, @bytes or @weights is missing");
    if (lex_is_word(&p->l, "scalar")) {
        const char *data = p->l.token.text;
        WNNNumber n;
        if (!lex_next(&p->l) || !expect_sign(p, '(') || !lex_number(&p->l, &n) || !expect_sign(p, ')'))
            return false;
        p->scalar_bytes += type_bytes(&type);
        if (p->scalar_bytes > scalar_bytes_max)
            return lex_error_at(&p->l, data, "@scalar fills more than %lld bytes", (long long)scalar_bytes_max);
        v = graph_add_scalar(p->g, &type, n);
    } else {
        struct constant *c;
        if (!parse_data(p, &type, &c)) {
            constant_release(c);
            return false;
        }
        v = graph_add_constant(p->g, &type, c);
    }
    return v ? define(p, &name, v) : out_of_memory(p);
}

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
            return expected(p, "true or false");
        *(bool *)out = lex_is_word(&p->l, "true");
        return lex_next(&p->l);
    case ATTR_DATA_TYPE:
    case ATTR_ENUM:
    case ATTR_ENUM_LIST: {
        if (t.kind != TOKEN_NAME && t.kind != TOKEN_STRING)
            return expected(p, a->kind == ATTR_DATA_TYPE ? "a data type" : "a name");
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
    struct list list = {0};
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

    if (!expect_sign(p, '['))
        return false;
    end = lex_is(&p->l, ']');
    if (end && !lex_next(&p->l))
        return false;
    while (!end) {
        char element[sizeof(uint32_t)];
        if (!parse_attr_element(p, a, element) || !list_add(p, &list, element, sizeof element) || !parse_list_end(p, ']', &end))
            return false;
    }
    if (!list.items && !(list.items = arena_alloc(&p->scratch, 1))) /* present, but empty */
        return out_of_memory(p);
    memcpy(object + a->offset, &list.items, sizeof list.items);
    memcpy(object + a->count_offset, &list.count, sizeof list.count);
    return true;
}

/* ---- nodes ---- */

/* What one argument goes into. */
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

/* The operands of a concat, in brackets. */
static bool parse_operand_list(struct parser *p, struct list *inputs)
{
    bool end;

    if (!expect_sign(p, '['))
        return false;
    end = lex_is(&p->l, ']');
    if (end && !lex_next(&p->l))
        return false;
    while (!end) {
        struct value *v;
        if (!parse_operand(p, &v) || !list_add(p, inputs, &v, sizeof v) || !parse_list_end(p, ']', &end))
            return false;
    }
    return true;
}

/* Everything between an operator's parentheses, into c; moves behind the closing one. */
static bool parse_arguments(struct parser *p, struct call *c)
{
    const struct op_info *info = &op_infos[c->op];
    uint32_t given = 0, position = 0, slots = op_input_slots(c->op);
    bool variadic = info->flags & OPF_VARIADIC, keys = false, end = lex_is(&p->l, ')');
    struct value **inputs = arena_array(&p->scratch, slots, sizeof *inputs);
    struct list list = {0};
    char buf[80];

    if (!inputs)
        return out_of_memory(p);
    if (end && !lex_next(&p->l))
        return false;
    while (!end) {
        struct target_slot slot;
        struct lexer start = p->l;
        const char *place = p->l.token.text;
        bool key = false;

        if (p->l.token.kind == TOKEN_NAME) {
            if (!lex_next(&p->l) || !accept_sign(p, '=', &key))
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
                return expected(p, "a string");
            struct name label;
            ok = parse_text(p, "a string", &p->scratch, &label);
            if (ok && strlen(label.text) != label.length)
                return lex_error_at(&p->l, label.place, "a label with a NUL in it");
            c->label = label.text;
        } else if (slot.attr) {
            ok = parse_attr(p, c, slot.attr);
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

/* " @kernel(3)" behind a node. */
static bool parse_mark(struct parser *p, struct node *n)
{
    struct mark *m = arena_alloc(&p->scratch, sizeof *m);

    if (!m)
        return out_of_memory(p);
    m->node = n;
    m->place = p->l.token.text;
    for (m->kind = CLUSTER_KERNEL; !lex_is_word(&p->l, cluster_kind_name(m->kind)); m->kind++)
        if (m->kind == CLUSTER_VIEW)
            return expected(p, "kernel, library or view");
    if (!lex_next(&p->l) || !expect_sign(p, '(') || !parse_uint32(p, &m->index) || !expect_sign(p, ')'))
        return false;
    if (p->last_mark)
        p->last_mark->next = m;
    else
        p->first_mark = m;
    p->last_mark = m;
    return true;
}

/* One name, or several in brackets, as struct name. */
static bool parse_result_names(struct parser *p, struct list *names)
{
    bool brackets, end = false;

    if (!accept_sign(p, '[', &brackets))
        return false;
    while (!end) {
        struct name name;
        if (!parse_new_name(p, &name) || !list_add(p, names, &name, sizeof name))
            return false;
        end = true;
        if (brackets && !parse_list_end(p, ']', &end))
            return false;
    }
    return true;
}

static bool parse_node(struct parser *p)
{
    union {
        max_align_t align;
        char bytes[512];
    } options;
    struct tensor_type results[OP_RESULTS_MAX];
    struct list names = {0};
    struct error error = {0};
    struct call c = {.graph = p->g, .label = "", .options = options.bytes, .results = results, .error = &error};
    const char *place;
    char buf[80];
    bool marked;

    if (!parse_result_names(p, &names) || !expect_sign(p, '='))
        return false;
    place = p->l.token.text;
    if (p->l.token.kind != TOKEN_NAME)
        return expected(p, "an operator's name");
    c.op = op_parse(p->l.token.text, p->l.token.length);
    if (c.op == OP_COUNT)
        return lex_error(&p->l, "%s is no operator", lex_describe(&p->l, buf, sizeof buf));
    memcpy(options.bytes, op_infos[c.op].options_default, op_infos[c.op].options_size);
    memset(results, 0, sizeof results);
    if (!lex_next(&p->l) || !expect_sign(p, '(') || !parse_arguments(p, &c))
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
        if (!define(p, (const struct name *)names.items + i, n->results[i]))
            return false;
    }
    return accept_sign(p, '@', &marked) && (!marked || parse_mark(p, n));
}

/* Clusters from the marks: their indices must be below the number of nodes, so that they can be an array's. */
static bool finish_marks(struct parser *p)
{
    struct graph *g = p->g;
    struct cluster **clusters;

    if (!p->first_mark)
        return true;
    clusters = arena_array(&p->scratch, g->node_count, sizeof(struct cluster *));
    if (!clusters)
        return out_of_memory(p);
    for (struct mark *m = p->first_mark; m; m = m->next) {
        if (m->index >= g->node_count)
            return lex_error_at(&p->l, m->place, "cluster %u in a graph of %u nodes", m->index, g->node_count);

        struct cluster *c = clusters[m->index];
        if (!c) {
            c = clusters[m->index] = arena_alloc(&g->arena, sizeof *c);
            if (!c)
                return out_of_memory(p);
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

/* ---- outputs ---- */

static bool parse_output(struct parser *p)
{
    struct lexer start = p->l;
    struct value *v;
    struct name name;
    bool named;

    if (!parse_new_name(p, &name) || !accept_sign(p, '=', &named))
        return false;
    if (!named)
        p->l = start; /* the output is called like the value */
    if (!parse_operand(p, &v))
        return false;
    if (!v)
        return lex_error_at(&p->l, name.place, "null is no output");
    switch (name_map_add(&p->outputs, name.text, name.length, v)) {
    case NAME_MAP_ADDED:
        break;
    case NAME_MAP_EXISTS:
        return lex_error_at(&p->l, name.place, "an output of this name stands above");
    case NAME_MAP_OUT_OF_MEMORY:
        return out_of_memory(p);
    }
    return graph_add_output(p->g, name.text, name.length, v) || out_of_memory(p);
}

/* ---- blocks ---- */

static bool (*const statements[BLOCK_KINDS])(struct parser *p) = {
    [BLOCK_INPUTS] = parse_input,
    [BLOCK_CONSTS] = parse_constant,
    [BLOCK_NODES] = parse_node,
    [BLOCK_OUTPUTS] = parse_output,
};
static const char *const block_names[BLOCK_KINDS] = {"inputs", "consts", "nodes", "outputs"};

static bool parse_block(struct parser *p, const struct block *b)
{
    p->l.at = b->at;
    if (!lex_next(&p->l))
        return false;
    while (!lex_is(&p->l, '}')) {
        bool semicolon, comma = false;
        if (!statements[b->kind](p) || !accept_sign(p, ';', &semicolon))
            return false;
        if (!semicolon && b->kind == BLOCK_OUTPUTS && !accept_sign(p, ',', &comma))
            return false;
        if (!semicolon && !comma && !lex_is(&p->l, '}'))
            return expected(p, "';'");
    }
    return true;
}

/* Finds the blocks without looking into them. */
static bool find_blocks(struct parser *p)
{
    bool version = false;

    if (!lex_next(&p->l))
        return false;
    if (!lex_is_word(&p->l, "webnn_graph"))
        return expected(p, "webnn_graph");
    if (!lex_next(&p->l))
        return false;
    if (p->l.token.kind != TOKEN_STRING)
        return expected(p, "the graph's name in quotes");
    if (!lex_next(&p->l))
        return false;
    version = lex_is_word(&p->l, "v1");
    if (!version)
        return expected(p, "version v1");
    if (!lex_next(&p->l))
        return false;
    if (lex_is(&p->l, '@')) {
        if (!lex_next(&p->l))
            return false;
        if (!lex_is_word(&p->l, "quantized"))
            return expected(p, "quantized");
        if (!lex_next(&p->l))
            return false;
    }
    if (!expect_sign(p, '{'))
        return false;

    bool closed = false;
    while (p->l.token.kind != TOKEN_END) {
        if (lex_is(&p->l, '}')) { /* older writers close the graph before its last blocks */
            closed = true;
            if (!lex_next(&p->l))
                return false;
            continue;
        }

        struct block *b = arena_alloc(&p->scratch, sizeof *b);
        if (!b)
            return out_of_memory(p);
        for (b->kind = BLOCK_INPUTS; b->kind < BLOCK_KINDS && !lex_is_word(&p->l, block_names[b->kind]); b->kind++)
            ;
        if (b->kind == BLOCK_KINDS)
            return expected(p, "inputs, consts, nodes, outputs or '}'");
        if (!lex_next(&p->l))
            return false;
        if (!lex_is(&p->l, '{'))
            return expected(p, "'{'");
        b->at = p->l.at;
        do {
            if (!lex_next(&p->l))
                return false;
            if (p->l.token.kind == TOKEN_END || lex_is(&p->l, '{'))
                return expected(p, "'}'");
        } while (!lex_is(&p->l, '}'));
        if (!lex_next(&p->l))
            return false;
        if (p->last_block)
            p->last_block->next = b;
        else
            p->first_block = b;
        p->last_block = b;
    }
    return closed || expected(p, "'}'");
}

static bool parse_graph(struct parser *p)
{
    if (!find_blocks(p))
        return false;
    for (unsigned kind = BLOCK_INPUTS; kind < BLOCK_KINDS; kind++)
        for (const struct block *b = p->first_block; b; b = b->next)
            if (b->kind == kind && !parse_block(p, b))
                return false;
    return finish_marks(p);
}

struct graph *graph_parse(const char *text, size_t length, weights_lookup lookup, void *user, struct error *e)
{
    struct parser p = {.l = {.text = text, .length = length, .error = e}, .lookup = lookup, .user = user};

    p.g = graph_create();
    if (!p.g) {
        error_out_of_memory(e);
        return NULL;
    }
    if (!parse_graph(&p)) {
        graph_free(p.g);
        p.g = NULL;
    }
    name_map_free(&p.values);
    name_map_free(&p.outputs);
    arena_free(&p.scratch);
    return p.g;
}
