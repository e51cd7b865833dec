/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads the tokens of the textual form.  The text may hold anything; tokens point into it, and errors have line and column.
 */
#pragma once

#include "ir/support/arena.h"
#include "ir/support/error.h"

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,   /* identifier or reserved word */
    TOKEN_STRING, /* between quotes, escapes still in it */
    TOKEN_NUMBER, /* without its sign */
    TOKEN_SIGN    /* one character of punctuation */
};

struct token {
    enum token_kind kind;
    char sign;        /* TOKEN_SIGN */
    const char *text; /* without the quotes */
    size_t length;
};

struct lexer {
    const char *text;
    size_t length, at;  /* at: after the current token */
    struct token token; /* the current one */
    struct error *error;
};

/** Moves to the next token.  Returns false after an error in *l->error. */
bool lex_next(struct lexer *l);
/** Sets the error "line:column: ..." for a place in the text.  Returns false. */
bool lex_error_at(struct lexer *l, const char *place, const char *format, ...) PRINTF_LIKE(3, 4);
/** Sets the same error for the current token. */
#define lex_error(l, ...) lex_error_at((l), (l)->token.text, __VA_ARGS__)
/** Finds "line:column" of a place. */
void lex_position(const struct lexer *l, const char *place, unsigned *line, unsigned *column);
/** Writes the current token for a message, escaped and shortened, or "the end of the text"; returns buf. */
const char *lex_describe(const struct lexer *l, char *buf, size_t size);
/** Returns a string token's bytes with its escapes resolved, in an arena.  A NUL ends them, and there may be others inside.
 * Returns NULL after an error. */
char *lex_unescape(struct lexer *l, struct arena *a, size_t *length);

/** Returns whether the current token is that sign. */
static inline bool lex_is(const struct lexer *l, char sign)
{
    return l->token.kind == TOKEN_SIGN && l->token.sign == sign;
}

/** Returns whether the current token is that word. */
bool lex_is_word(const struct lexer *l, const char *word);

/** Returns whether text is an identifier of the textual form and no reserved word. */
bool is_plain_name(const char *text, size_t length);

/** Reads a number in all its kinds: digits, NaN, Infinity, with a sign before it; moves past it.  Returns false on error. */
bool lex_number(struct lexer *l, WNNNumber *n);
