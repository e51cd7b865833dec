/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Computes with open sizes (open.h) in terms (term.h). */
#include <string.h>

#include "frontend/readers/onnx/open.h"
#include "frontend/readers/onnx/term.h"

struct term_item term_refuse_size(struct term *t)
{
    t->dead = !onnx_refuse_open(t->n);
    return (struct term_item){0};
}

int64_t term_size(struct term *t, const struct term_item *item)
{
    const int64_t size = term_integer(item);

    if (item->kind != TERM_SIZE && ((double)size != item->number || onnx_is_open(size)))
        term_refuse_size(t); /* no size can be combined with it */
    return size;
}

static bool is_size(const struct term_item *item)
{
    return item->kind == TERM_SIZE || item->kind == TERM_NUMBER;
}

bool term_are_sizes(const struct term_item *a, const struct term_item *b)
{
    return is_size(a) && is_size(b) && (a->kind == TERM_SIZE || b->kind == TERM_SIZE);
}

bool term_same_size(struct term *t, const struct term_item *a, const struct term_item *b)
{
    const bool same = onnx_size_is_equal(t->n, term_size(t, a), term_size(t, b));

    t->dead = t->dead || t->n->refused;
    return same;
}

bool term_compute_sizes(struct term *t, const struct term_call *c, const char *name, struct term_item *result)
{
    const struct term_item *a = &c->arguments[0], *b = &c->arguments[c->count - 1];

    if (!term_are_sizes(a, b))
        return false;
    if (!strcmp(name, "min") || !strcmp(name, "max"))
        *result =
            term_of_size(onnx_compute_size(t->n, *name == 'm' && name[1] == 'i' ? '<' : '>', term_size(t, a), term_size(t, b)));
    else if (*name == 'f' || *name == 'c' || (*name == 'a' && onnx_size_at_least(t->n, term_size(t, a), 0)))
        *result = *a;
    else
        onnx_refuse_open(t->n);
    t->dead = t->dead || t->n->refused;
    return true;
}

struct term_item term_combine_sizes(struct term *t, char first, bool equal, const struct term_item *x,
                                    const struct term_item *y)
{
    const int64_t a = term_size(t, x), b = term_size(t, y);
    struct term_item z = {0};

    switch (first) {
    case '<':
        z = term_of_number(equal ? onnx_size_at_least(t->n, b, a) : !onnx_size_at_least(t->n, a, b));
        break;
    case '>':
        z = term_of_number(equal ? onnx_size_at_least(t->n, a, b) : !onnx_size_at_least(t->n, b, a));
        break;
    case '/': /* of numbers it does not round */
        if (!onnx_size_is_equal(t->n, onnx_compute_size(t->n, '%', a, b), 0))
            onnx_refuse_open(t->n);
        /* fall through */
    case '+':
    case '-':
    case '*':
    case '%':
        z = term_of_size(onnx_compute_size(t->n, first, a, b));
        break;
    default:
        onnx_refuse_open(t->n);
    }
    t->dead = t->dead || t->n->refused;
    return z;
}

bool term_is_true(struct term *t, const struct term_item *x)
{
    if (x->kind != TERM_SIZE || term_skips(t))
        return x->number != 0;
    const bool result = onnx_size_at_least(t->n, term_size(t, x), 1) || onnx_refuse_open(t->n);
    t->dead = t->dead || t->n->refused;
    return result;
}
