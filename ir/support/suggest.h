/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Suggests names for a misspelt one.  A caller that refuses a name offers the known names one by one and
 * adds the suggestion to the message:
 *
 *     struct suggestion s = suggestion_for(text, length);
 *
 *     for (size_t i = 0; i < count; i++)
 *         suggestion_offer(&s, names[i]);
 *     error_set(e, ..., "there is no switch '%s'%s", ..., suggestion_list(&s));
 */
#pragma once

#include <stddef.h>

/** Holds a misspelt name, the most similar candidate so far, and a list of all candidates. */
struct suggestion {
    const char *text; /* as it was given; not owned */
    size_t length;
    char best[65]; /* "": none is similar */
    size_t distance;
    char list[320];
    char message[512];
};

/** Begins a suggestion for a name of `length` bytes, which the caller keeps. */
struct suggestion suggestion_for(const char *text, size_t length);
/**
 * Adds a candidate, which is copied if it is the best so far.  It is similar if at most a third of its letters, or one of less
 * than six, are inserted, removed, replaced or exchanged with a neighbour, or if the text is its beginning.  Names of more than
 * 64 bytes are only listed.
 */
void suggestion_offer(struct suggestion *s, const char *name);
/** Returns "; did you mean 'NAME'?" with the name escaped, or "" if no name was similar.  The text is in s. */
const char *suggestion_text(struct suggestion *s);
/** Returns that and the names that were offered, each once: "; did you mean 'A'?  There are 'A', 'B'", or "; there is none". */
const char *suggestion_list(struct suggestion *s);
