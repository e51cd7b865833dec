/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads JSON text as values (frontend/readers/text/json.h). */
#include "frontend/readers/text/json.h"

enum { JSON_NESTING_MAX = 32 };

static struct json *json_value(struct lexer *l, struct arena *a, unsigned depth);

static bool expected(struct lexer *l, const char *what)
{
    char buf[80];

    return lex_error(l, "%s expected, found %s", what, lex_describe(l, buf, sizeof buf));
}

/** Reads items up to the closing bracket, or members up to the closing brace. */
static bool read_items(struct lexer *l, struct arena *a, struct json *list, unsigned depth)
{
    char close = list->kind == JSON_ARRAY ? ']' : '}';
    struct json *last = NULL, *item;

    if (depth == JSON_NESTING_MAX)
        return lex_error(l, "lists and objects are nested too deeply");
    if (!lex_next(l))
        return false;
    while (!lex_is(l, close)) {
        struct document_text key = {NULL, 0, l->token.text};

        if (last && !lex_is(l, ','))
            return expected(l, close == ']' ? "',' or ']'" : "',' or '}'");
        if (last && !lex_next(l))
            return false;
        if (close == '}') {
            if (l->token.kind != TOKEN_STRING)
                return expected(l, "a member's name in quotes");
            key.place = l->token.text;
            key.text = lex_unescape(l, a, &key.length);
            if (!key.text || !lex_next(l))
                return false;
            if (!lex_is(l, ':'))
                return expected(l, "':'");
            if (!lex_next(l))
                return false;
        }
        item = json_value(l, a, depth + 1);
        if (!item)
            return false;
        item->key = key;
        if (last)
            last->next = item;
        else
            list->as.list.first = item;
        last = item;
        list->as.list.count++;
    }
    return lex_next(l);
}

static struct json *json_value(struct lexer *l, struct arena *a, unsigned depth)
{
    const struct token t = l->token;
    struct json *v = arena_alloc(a, sizeof *v);
    size_t length;

    if (!v)
        return error_null_memory(l->error);
    v->place = t.text;
    if (lex_is(l, '[') || lex_is(l, '{')) {
        v->kind = lex_is(l, '[') ? JSON_ARRAY : JSON_OBJECT;
        return read_items(l, a, v, depth) ? v : NULL;
    }
    if (t.kind == TOKEN_STRING) {
        v->kind = JSON_STRING;
        v->as.string.text = lex_unescape(l, a, &length);
        if (!v->as.string.text)
            return NULL;
        v->as.string.length = length;
        return lex_next(l) ? v : NULL;
    }
    if (lex_is_word(l, "true") || lex_is_word(l, "false")) {
        v->kind = JSON_BOOL;
        v->as.boolean = lex_is_word(l, "true");
        return lex_next(l) ? v : NULL;
    }
    if (lex_is_word(l, "null"))
        return lex_next(l) ? v : NULL;
    v->kind = JSON_NUMBER;
    if (t.kind != TOKEN_NUMBER && !lex_is(l, '-') && !lex_is_word(l, "NaN") && !lex_is_word(l, "Infinity")) {
        expected(l, "a value");
        return NULL;
    }
    return lex_number(l, &v->as.number) ? v : NULL;
}

const struct json *json_parse(struct lexer *l, struct arena *arena)
{
    struct json *v = lex_next(l) ? json_value(l, arena, 0) : NULL;

    if (v && l->token.kind != TOKEN_END) {
        expected(l, "the end of the text");
        return NULL;
    }
    return v;
}

const struct json *json_member(const struct json *object, const char *key)
{
    size_t length = strlen(key);

    if (object && object->kind == JSON_OBJECT)
        json_for_each(x, object) if (x->key.length == length && !memcmp(x->key.text, key, length)) return x;
    return NULL;
}

bool json_size(const struct json *v, uint64_t max, uint64_t *size)
{
    if (!v || v->kind != JSON_NUMBER)
        return false;
    switch (v->as.number.type) {
    case WNNNumberType_Int64:
        *size = (uint64_t)v->as.number.value.int64;
        return v->as.number.value.int64 >= 0 && *size <= max;
    case WNNNumberType_Uint64:
        *size = v->as.number.value.uint64;
        return *size <= max;
    case WNNNumberType_Float64: /* 4.0 is a whole number to some writers */
        if (!(v->as.number.value.float64 >= 0 && v->as.number.value.float64 <= 0x1p53))
            return false;
        *size = (uint64_t)v->as.number.value.float64;
        return (double)*size == v->as.number.value.float64 && *size <= max;
    case WNNNumberType_Undefined:
    case WNNNumberType_Force32:
        break;
    }
    return false;
}
