/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Byte pair encoding: a piece of text begins as single characters, and the two neighbours whose pair stands first in the list
 * of merges become one token, again and again.  A heap of the pairs keeps a long piece from taking time with its square.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "examples/text/tokenizer_internal.h"

struct symbol {
    int32_t id;
    size_t before, after; /* neighbours; NONE at the ends */
};

/* A pair of neighbours as they were when it was found; it is out of date if they have changed. */
struct pair {
    uint32_t rank;
    size_t at;
    int32_t left, right, result;
};

struct work {
    struct symbol *symbols;
    struct pair *heap; /* the smallest is first */
    size_t count, heap_count;
};

#define NONE SIZE_MAX

void ids_add(struct ids *ids, int32_t id)
{
    if (ids->count == ids->capacity && !ids->failed) {
        size_t capacity = ids->capacity ? 2 * ids->capacity : 64;
        int32_t *grown = realloc(ids->items, capacity * sizeof *grown);

        ids->failed = !grown;
        if (grown) {
            ids->items = grown;
            ids->capacity = capacity;
        }
    }
    if (!ids->failed)
        ids->items[ids->count++] = id;
}

int token_order(const void *a, const void *b)
{
    const struct token *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);

    return order ? order : (x->length > y->length) - (x->length < y->length);
}

const struct token *tokenizer_token(const struct tokenizer *t, const char *text, size_t length)
{
    struct token key = {text, length, 0};

    return bsearch(&key, t->tokens, t->token_count, sizeof key, token_order);
}

int merge_order(const void *a, const void *b)
{
    const struct merge *x = a, *y = b;

    return x->left != y->left ? (x->left > y->left) - (x->left < y->left) : (x->right > y->right) - (x->right < y->right);
}

static bool is_before(const struct pair *a, const struct pair *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void push(struct work *w, struct pair p)
{
    size_t i = w->heap_count++;

    for (; i && is_before(&p, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = p;
}

static struct pair pop(struct work *w)
{
    struct pair first = w->heap[0], last = w->heap[--w->heap_count];
    size_t i = 0;

    for (size_t child = 1; child < w->heap_count; child = 2 * i + 1) {
        child += child + 1 < w->heap_count && is_before(&w->heap[child + 1], &w->heap[child]);
        if (!is_before(&w->heap[child], &last))
            break;
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = last;
    return first;
}

/* Puts the pair that begins at a symbol on the heap, if the list of merges has it. */
static void offer(const struct tokenizer *t, struct work *w, size_t at)
{
    const size_t after = at == NONE ? NONE : w->symbols[at].after;
    const struct merge *m;
    struct merge key;

    if (after == NONE)
        return;
    key = (struct merge){.left = w->symbols[at].id, .right = w->symbols[after].id};
    m = bsearch(&key, t->merges, t->merge_count, sizeof key, merge_order);
    if (m)
        push(w, (struct pair){m->rank, at, m->left, m->right, m->result});
}

static void begin_symbol(struct work *w, int32_t id)
{
    w->symbols[w->count] = (struct symbol){id, w->count ? w->count - 1 : NONE, NONE};
    if (w->count)
        w->symbols[w->count - 1].after = w->count;
    w->count++;
}

/* Adds the symbols of one character: itself, its bytes, or the token for unknown text. */
static void begin_character(const struct tokenizer *t, struct work *w, const char *text, size_t length)
{
    const struct token *token = tokenizer_token(t, text, length);
    bool has_bytes = t->byte_fallback;

    for (size_t i = 0; i < length; i++)
        has_bytes = has_bytes && t->bytes[(unsigned char)text[i]] >= 0;
    if (token)
        begin_symbol(w, token->id);
    else if (has_bytes)
        for (size_t i = 0; i < length; i++)
            begin_symbol(w, t->bytes[(unsigned char)text[i]]);
    else if (t->unknown >= 0 && !(t->fuse_unknown && w->count && w->symbols[w->count - 1].id == t->unknown))
        begin_symbol(w, t->unknown);
}

static void merge_all(const struct tokenizer *t, struct work *w)
{
    for (size_t i = 0; i < w->count; i++)
        offer(t, w, i);
    while (w->heap_count) {
        struct pair p = pop(w);
        struct symbol *left = &w->symbols[p.at], *right;

        if (left->id != p.left || left->after == NONE || w->symbols[left->after].id != p.right)
            continue;
        right = &w->symbols[left->after];
        right->id = -1; /* no merge has it, so that pairs that begin there are out of date */
        left->id = p.result;
        left->after = right->after;
        if (right->after != NONE)
            w->symbols[right->after].before = p.at;
        offer(t, w, left->before);
        offer(t, w, p.at);
    }
}

void tokenizer_merge(const struct tokenizer *t, const char *text, size_t length, struct ids *ids)
{
    const struct token *whole = t->ignore_merges ? tokenizer_token(t, text, length) : NULL;
    /* Every merge offers two pairs at most, and there are fewer merges than symbols. */
    struct work w = {whole ? NULL : malloc((length + 1) * sizeof *w.symbols),
                     whole ? NULL : malloc((3 * length + 1) * sizeof *w.heap), 0, 0};

    if (whole) {
        ids_add(ids, whole->id);
        return;
    }
    ids->failed = ids->failed || !w.symbols || !w.heap;
    if (!ids->failed) {
        for (size_t at = 0; at < length;) {
            utf8proc_int32_t character;
            utf8proc_ssize_t step =
                utf8proc_iterate((const utf8proc_uint8_t *)text + at, (utf8proc_ssize_t)(length - at), &character);

            begin_character(t, &w, text + at, step > 0 ? (size_t)step : 1);
            at += step > 0 ? (size_t)step : 1;
        }
        merge_all(t, &w);
        for (size_t i = w.count ? 0 : NONE; i != NONE; i = w.symbols[i].after)
            ids_add(ids, w.symbols[i].id);
    }
    free(w.symbols);
    free(w.heap);
}
