/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads words and signs of a test's text, which fails the test where it is wrong. */
#pragma once

#include <ctype.h>

#include "support/test.h"

enum { NAME_MAX = 32 };

struct words {
    const char *start, *at;
};

static inline void wrong(const struct words *w, const char *what, const char *word)
{
    unsigned line = 1;

    for (const char *c = w->start; c < w->at; c++)
        line += *c == '\n';
    fail_msg("line %u: %s '%s' before '%.30s' in\n%s", line, what, word, w->at, w->start);
}

/* Leaves out spaces and comments. */
static inline char next(struct words *w)
{
    while (isspace((unsigned char)*w->at) || *w->at == '#')
        w->at += *w->at == '#' ? strcspn(w->at, "\n") : 1;
    return *w->at;
}

static inline size_t word_length(const char *at)
{
    size_t n = 0;

    while (isalnum((unsigned char)at[n]) || at[n] == '_' || (n && at[n] == '.' && isalpha((unsigned char)at[n + 1])))
        n++;
    return isdigit((unsigned char)*at) ? 0 : n;
}

/* Takes a word or a sign if it is next. */
static inline bool take(struct words *w, const char *what)
{
    const size_t length = strlen(what);

    next(w);
    if (strncmp(w->at, what, length) || (isalpha((unsigned char)*what) && word_length(w->at) > length))
        return false;
    w->at += length;
    return true;
}

static inline void need(struct words *w, const char *what)
{
    if (!take(w, what))
        wrong(w, "there is no", what);
}

/* Takes any word; `word` is empty if there is none. */
static inline const char *take_word(struct words *w, char word[NAME_MAX])
{
    next(w);
    const size_t length = word_length(w->at);

    if (length >= NAME_MAX)
        wrong(w, "too long a name", "");
    memcpy(word, w->at, length);
    word[length] = '\0';
    w->at += length;
    return word;
}
