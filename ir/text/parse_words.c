/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Parses small pieces: signs, lists, names, whole numbers, types.  It takes the lexer's tokens and gives checked values, or
 * errors with line and column.
 */
#include "ir/text/parse.h"

#include <math.h>
#include <string.h>

#include "ir/text/print.h"

bool parse_out_of_memory(struct parser *p)
{
    return error_out_of_memory(p->l.error);
}

bool parse_expected(struct parser *p, const char *what)
{
    char buf[80];

    return lex_error(&p->l, "%s expected, found %s", what, lex_describe(&p->l, buf, sizeof buf));
}

bool parse_sign(struct parser *p, char sign)
{
    char what[] = {'\'', sign, '\'', '\0'};

    return lex_is(&p->l, sign) ? lex_next(&p->l) : parse_expected(p, what);
}

/* Moves past the sign if it is there. */
bool parse_accept(struct parser *p, char sign, bool *there)
{
    *there = lex_is(&p->l, sign);
    return !*there || lex_next(&p->l);
}

bool parse_list_add(struct parser *p, struct parse_list *list, const void *item, size_t size)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 8;
        char *items = arena_array(&p->scratch, capacity, size);
        if (!items)
            return parse_out_of_memory(p);
        if (list->count)
            memcpy(items, list->items, list->count * size);
        list->items = items;
        list->capacity = capacity;
    }
    memcpy(list->items + list->count++ * size, item, size);
    return true;
}

/* ---- names ---- */

bool parse_text(struct parser *p, const char *what, struct arena *arena, struct parse_name *name)
{
    char *text;

    name->place = p->l.token.text;
    name->length = p->l.token.length;
    if (p->l.token.kind == TOKEN_STRING) {
        text = lex_unescape(&p->l, arena, &name->length);
    } else if (p->l.token.kind == TOKEN_NAME) {
        text = arena_string(arena, p->l.token.text, p->l.token.length);
        if (!text)
            parse_out_of_memory(p);
    } else {
        return parse_expected(p, what);
    }
    name->text = text;
    return text && lex_next(&p->l);
}

bool parse_new_name(struct parser *p, struct parse_name *name)
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
bool parse_define(struct parser *p, const struct parse_name *name, struct value *v)
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
    return parse_out_of_memory(p);
}

bool parse_operand(struct parser *p, struct value **v)
{
    char buf[128];
    struct parse_name name;

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

bool parse_integer(struct parser *p, int64_t lowest, int64_t highest, int64_t *value)
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

bool parse_uint32(struct parser *p, uint32_t *value)
{
    int64_t n = 0;

    if (!parse_integer(p, 0, UINT32_MAX, &n))
        return false;
    *value = (uint32_t)n;
    return true;
}

bool parse_list_end(struct parser *p, char close, bool *end)
{
    bool comma;

    if (!parse_accept(p, ',', &comma))
        return false;
    *end = lex_is(&p->l, close);
    if (*end)
        return lex_next(&p->l);
    if (!comma) {
        char what[] = "',' or ' '";
        what[8] = close;
        return parse_expected(p, what);
    }
    return true;
}

/* ---- types ---- */

bool parse_type(struct parser *p, struct tensor_type *type)
{
    const char *place = p->l.token.text;
    const struct token t = p->l.token;
    struct error error = {0};
    char buf[80];

    memset(type, 0, sizeof *type);
    if (t.kind != TOKEN_NAME)
        return parse_expected(p, "a data type");
    type->type = dtype_parse(t.text, t.length);
    if (type->type == WNNOperandDataType_Undefined) {
        if (lex_is_word(&p->l, "i4") || lex_is_word(&p->l, "u4") || lex_is_word(&p->l, "int4") || lex_is_word(&p->l, "uint4"))
            return lex_error(&p->l, "the specification no longer has the data types int4 and uint4");
        return lex_error(&p->l, "%s is no data type", lex_describe(&p->l, buf, sizeof buf));
    }
    if (!lex_next(&p->l) || !parse_sign(p, '['))
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
