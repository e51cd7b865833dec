/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads JSON values with what graphs and weights need and the JSON library of our tools does not keep: 64-bit integers bit by
 * bit, the place of every value for messages, and strings with any bytes.  Tokens are those of ir/text/lex.h, so NaN, Infinity
 * and comments are read, too.
 */
#pragma once

#include "ir/text/document.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_kind kind;
    const char *place;
    struct document_text key; /* of a member of an object */
    union {
        bool boolean;
        WNNNumber number;
        struct {
            const char *text;
            size_t length;
        } string;
        struct {
            struct json *first;
            size_t count;
        } list; /* of items or members */
    } as;
    struct json *next;
};

/**
 * Reads the whole text that the lexer is for.  Values are in the arena.  Returns NULL if that fails; the lexer's error says
 * why.
 */
const struct json *json_parse(struct lexer *lexer, struct arena *arena);
/** Returns a member of an object, the first of that name, or NULL if there is none or it is not an object. */
const struct json *json_member(const struct json *object, const char *key);
/** Returns whether a value is that string. */
static inline bool json_is(const struct json *v, const char *text)
{
    return v && v->kind == JSON_STRING && v->as.string.length == strlen(text) && !memcmp(v->as.string.text, text, strlen(text));
}
/** Reads a whole number from 0 to max.  Returns false if it is none. */
bool json_size(const struct json *value, uint64_t max, uint64_t *size);

/** Walks the items or members of a value, which may be NULL. */
#define json_for_each(x, parent)                                                                                               \
    for (const struct json *x = (parent) && (parent)->kind >= JSON_ARRAY ? (parent)->as.list.first : NULL; x; x = x->next)
