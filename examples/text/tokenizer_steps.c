/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What happens to text before byte pair encoding sees it: it is normalized, and cut into pieces that no token crosses. */
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "examples/text/tokenizer_internal.h"

void pieces_free(struct pieces *p)
{
    text_free(&p->text);
    free(p->items);
    *p = (struct pieces){0};
}

static void add_piece(struct pieces *p, const char *data, size_t length)
{
    if (p->count == p->capacity && !p->text.failed) {
        size_t capacity = p->capacity ? 2 * p->capacity : 64;
        struct piece *grown = realloc(p->items, capacity * sizeof *grown);

        p->text.failed = !grown;
        if (grown) {
            p->items = grown;
            p->capacity = capacity;
        }
    }
    if (p->text.failed || !length)
        return;
    p->items[p->count] = (struct piece){p->text.length, p->text.length + length};
    text_add(&p->text, data, length);
    p->count += !p->text.failed;
}

/* ---- the characters that stand for bytes ---- */

static bool stands_for_itself(int c)
{
    return (c >= '!' && c <= '~') || (c >= 0xa1 && c <= 0xac) || (c >= 0xae && c <= 0xff);
}

int32_t byte_to_character(unsigned char byte)
{
    int32_t character = 256;

    if (stands_for_itself(byte))
        return byte;
    for (int c = 0; c < byte; c++)
        character += !stands_for_itself(c);
    return character;
}

int byte_of_character(int32_t character)
{
    int32_t next = 256;

    if (character < 256)
        return character >= 0 && stands_for_itself(character) ? character : -1;
    for (int byte = 0; byte < 256; byte++)
        if (!stands_for_itself(byte) && next++ == character)
            return byte;
    return -1;
}

static void add_bytes(struct text *out, const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        utf8proc_uint8_t character[4];
        utf8proc_ssize_t n = utf8proc_encode_char(byte_to_character((unsigned char)data[i]), character);

        text_add(out, (const char *)character, (size_t)n);
    }
}

/* ---- steps over one text ---- */

static void change_case(struct text *out, const char *data, size_t length)
{
    for (size_t at = 0; at < length;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)data + at, (utf8proc_ssize_t)(length - at), &c);
        utf8proc_uint8_t lower[4];

        if (n <= 0)
            return; /* the text has been checked */
        text_add(out, (const char *)lower, (size_t)utf8proc_encode_char(utf8proc_tolower(c), lower));
        at += (size_t)n;
    }
}

static void normalize(struct text *out, const char *data, size_t length, int form)
{
    utf8proc_uint8_t *mapped = NULL;
    utf8proc_ssize_t n =
        utf8proc_map((const utf8proc_uint8_t *)data, (utf8proc_ssize_t)length, &mapped, (utf8proc_option_t)form);

    if (n >= 0)
        text_add(out, (const char *)mapped, (size_t)n);
    out->failed = out->failed || n < 0;
    free(mapped);
}

static void strip(struct text *out, const char *data, size_t length, const struct step *s)
{
    static const char white[] = " \t\n\r\f\v";

    while (s->left && length && strchr(white, *data) && *data)
        data++, length--;
    while (s->right && length && data[length - 1] && strchr(white, data[length - 1]))
        length--;
    text_add(out, data, length);
}

/* Calls back with what lies between matches and with matches, in their order.  Returns false if a match takes too long. */
typedef void segment_function(void *context, const char *data, size_t length, bool is_match);

static bool each_segment(pcre2_code *pattern, const char *data, size_t length, segment_function *call, void *context)
{
    pcre2_match_data *match = pcre2_match_data_create_from_pattern(pattern, NULL);
    size_t done = 0, from = 0;
    int found = match ? 0 : PCRE2_ERROR_NOMEMORY;

    while (match && from <= length) {
        const PCRE2_SIZE *range = pcre2_get_ovector_pointer(match);

        found = pcre2_match(pattern, (PCRE2_SPTR)data, length, from, PCRE2_NO_UTF_CHECK, match, NULL);
        if (found < 0)
            break;
        if (range[1] <= range[0] || range[0] < from) { /* it matches nothing here: look after the next character */
            for (from++; from < length && ((unsigned char)data[from] & 0xc0) == 0x80;)
                from++;
            continue;
        }
        if (range[0] > done)
            call(context, data + done, range[0] - done, false);
        call(context, data + range[0], range[1] - range[0], true);
        done = from = range[1];
    }
    pcre2_match_data_free(match);
    if (found < 0 && found != PCRE2_ERROR_NOMATCH)
        return false;
    if (done < length)
        call(context, data + done, length - done, false);
    return true;
}

struct replacing {
    struct text *out;
    const char *text;
};

static void replace_segment(void *context, const char *data, size_t length, bool is_match)
{
    struct replacing *r = context;

    text_add(r->out, is_match ? r->text : data, is_match ? strlen(r->text) : length);
}

struct splitting {
    const struct step *step;
    struct pieces *out;
    bool open, was_match; /* whether the last piece is of this text, and what ended it */
};

static void extend_piece(struct pieces *p, const char *data, size_t length)
{
    text_add(&p->text, data, length);
    if (!p->text.failed)
        p->items[p->count - 1].end += length;
}

static void split_segment(void *context, const char *data, size_t length, bool is_match)
{
    struct splitting *s = context;
    bool joins = false;

    is_match ^= s->step->invert;
    switch (s->step->rule) {
    case SPLIT_ISOLATED:
    case SPLIT_REMOVED:
        break;
    case SPLIT_WITH_PREVIOUS:
        joins = is_match && !s->was_match;
        break;
    case SPLIT_WITH_NEXT:
        joins = !is_match && s->was_match;
        break;
    case SPLIT_CONTIGUOUS:
        joins = is_match == s->was_match;
        break;
    }
    if (s->step->rule == SPLIT_REMOVED && is_match)
        return;
    if (joins && s->open)
        extend_piece(s->out, data, length);
    else
        add_piece(s->out, data, length);
    s->open = true;
    s->was_match = is_match;
}

/* Applies a step to one piece.  Returns false if a pattern takes too long. */
static bool apply(const struct step *s, const char *data, size_t length, bool first, struct pieces *out)
{
    struct replacing r = {NULL, s->text};
    struct splitting p = {s, out, false, false};
    struct text changed = {0};
    bool ok = true;

    r.out = &changed;
    switch (s->kind) {
    case STEP_SPLIT:
        return each_segment(s->pattern, data, length, split_segment, &p);
    case STEP_UNICODE:
        normalize(&changed, data, length, s->form);
        break;
    case STEP_LOWERCASE:
        change_case(&changed, data, length);
        break;
    case STEP_FIRST:
    case STEP_EACH:
        if ((first || s->kind == STEP_EACH) && (length < strlen(s->text) || memcmp(data, s->text, strlen(s->text))))
            text_add(&changed, s->text, strlen(s->text));
        text_add(&changed, data, length);
        break;
    case STEP_PREPEND:
        text_add(&changed, s->text, strlen(s->text));
        text_add(&changed, data, length);
        break;
    case STEP_REPLACE:
        ok = each_segment(s->pattern, data, length, replace_segment, &r);
        break;
    case STEP_STRIP:
        strip(&changed, data, length, s);
        break;
    case STEP_BYTES:
        add_bytes(&changed, data, length);
        break;
    }
    add_piece(out, changed.data, changed.length);
    out->text.failed = out->text.failed || changed.failed;
    text_free(&changed);
    return ok;
}

bool steps_apply(const struct tokenizer *t, const char *text, size_t length, bool first, struct pieces *out, char *message,
                 size_t size)
{
    bool ok = true;

    *out = (struct pieces){0};
    add_piece(out, text, length);
    for (size_t i = 0; i < t->step_count && ok; i++) {
        struct pieces next = {0};

        for (size_t k = 0; k < out->count && ok; k++)
            ok = apply(&t->steps[i], out->text.data + out->items[k].begin, out->items[k].end - out->items[k].begin,
                       first && k == 0, &next);
        next.text.failed = next.text.failed || out->text.failed;
        pieces_free(out);
        *out = next;
    }
    if (!ok)
        tokenizer_error(message, size, "a pattern of the tokenizer takes too long on this text");
    else if (out->text.failed)
        ok = tokenizer_error(message, size, "out of memory");
    if (!ok)
        pieces_free(out);
    return ok;
}
