/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds the most similar of several names by the number of edits between them. */
#include "ir/support/suggest.h"

#include "ir/support/text.h"

enum { NAME_MAX_BYTES = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns how many letters are inserted, removed, replaced or exchanged with a neighbour between two names of at most
 * NAME_MAX_BYTES.  Row i holds the distances of the first i letters of a from every beginning of b; an exchange looks two rows
 * back. */
static size_t edits(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][NAME_MAX_BYTES + 1];

    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], second[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

struct suggestion suggestion_for(const char *text, size_t length)
{
    return (struct suggestion){.text = text, .length = length, .distance = SIZE_MAX};
}

void suggestion_offer(struct suggestion *s, const char *name)
{
    enum { BEGINNING_MIN = 3 };
    size_t length = strlen(name), distance;

    text_list_add(s->list, sizeof s->list, '\'', name, length);
    if (!s->length || !length || s->length > NAME_MAX_BYTES || length > NAME_MAX_BYTES)
        return;
    distance = edits(s->text, s->length, name, length);
    /* A beginning counts as one edit, but names that are nearer than that win. */
    if (distance && s->length >= BEGINNING_MIN && s->length < length && !memcmp(name, s->text, s->length))
        distance = 1;
    if (distance > (length < 6 ? 1 : (length + 2) / 3) || distance >= length || distance >= s->distance)
        return;
    s->distance = distance;
    memcpy(s->best, name, length + 1);
}

const char *suggestion_text(struct suggestion *s)
{
    char name[160];

    s->message[0] = '\0';
    if (*s->best)
        snprintf(s->message, sizeof s->message, "; did you mean '%s'?",
                 escape_text(name, sizeof name, s->best, strlen(s->best)));
    return s->message;
}

const char *suggestion_list(struct suggestion *s)
{
    const size_t length = strlen(suggestion_text(s));

    if (!*s->best || strchr(s->list, ',')) /* else the one that there is was meant */
        snprintf(s->message + length, sizeof s->message - length, "%s%s",
                 *s->best   ? "  There are "
                 : *s->list ? "; there are "
                            : "; there is none",
                 s->list);
    return s->message;
}
