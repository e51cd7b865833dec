/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements documents: their pieces, their errors, and the steps that all of them take (ir/text/document.h). */
#include "ir/text/document.h"

#define APPEND(first, last, item)                                                                                              \
    do {                                                                                                                       \
        if (!(item))                                                                                                           \
            error_out_of_memory(&d->error);                                                                                    \
        else if (last)                                                                                                         \
            (last)->next = (item), (last) = (item);                                                                            \
        else                                                                                                                   \
            (first) = (last) = (item);                                                                                         \
    } while (0)

void document_begin(struct document *d, const char *path, const char *bytes, size_t length)
{
    *d = (struct document){.path = path, .lexer = {.text = bytes, .length = length}};
    d->lexer.error = &d->error;
    if (length >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3)) /* a byte order mark */
        d->lexer.at = 3;
}

/* ---- pieces ---- */

struct document_tensor *document_add_tensor(struct document *d, bool constant)
{
    struct document_tensor *t = arena_alloc(&d->arena, sizeof *t);

    if (constant)
        APPEND(d->first_constant, d->last_constant, t);
    else
        APPEND(d->first_input, d->last_input, t);
    return t;
}

struct document_node *document_add_node(struct document *d)
{
    struct document_node *n = arena_alloc(&d->arena, sizeof *n);

    APPEND(d->first_node, d->last_node, n);
    return n;
}

struct document_mark *document_add_mark(struct document *d, struct document_node *n)
{
    struct document_mark *m = arena_alloc(&d->arena, sizeof *m);

    APPEND(n->first_mark, n->last_mark, m);
    return m;
}

struct document_output *document_add_output(struct document *d)
{
    struct document_output *o = arena_alloc(&d->arena, sizeof *o);

    APPEND(d->first_output, d->last_output, o);
    return o;
}

struct document_argument *document_add_argument(struct document *d, struct document_node *n, const struct document_text *key)
{
    struct document_argument *a = arena_alloc(&d->arena, sizeof *a);

    /* Positional ones may be the operands of a concat, any number of them. */
    if (a && key->text && ++n->argument_count > DOCUMENT_ARGUMENTS_MAX) {
        document_error(d, key->place, "more than %d arguments", DOCUMENT_ARGUMENTS_MAX);
        return NULL;
    }
    if (a)
        a->key = *key;
    APPEND(n->first_argument, n->last_argument, a);
    return a;
}

struct document_value *document_value(struct document *d, enum document_value_kind kind, const char *place)
{
    struct document_value *v = arena_alloc(&d->arena, sizeof *v);

    if (!v)
        return error_null_memory(&d->error);
    v->kind = kind;
    v->place = place;
    return v;
}

void document_append(struct document_value *list, struct document_value **last, struct document_value *item)
{
    if (*last)
        (*last)->next = item;
    else
        list->first = item;
    *last = item;
    list->count++;
}

/* ---- errors and simple values ---- */

bool document_expected(struct document *d, const char *place, const char *what)
{
    struct lexer l = d->lexer;
    char buf[80];

    l.at = (size_t)(place - l.text);
    if (l.at && place[-1] == '"') /* a string's place is after its quote */
        l.at--;
    return lex_next(&l) && document_error(d, place, "%s expected, found %s", what, lex_describe(&l, buf, sizeof buf));
}

bool document_data_type(struct document *d, const struct document_text *name, dtype *type)
{
    char buf[80];

    *type = dtype_parse(name->text, name->length);
    if (*type)
        return true;
    if (document_is(name, "int4") || document_is(name, "i4"))
        return document_error(d, name->place, "the specification has no data types int4 and uint4");
    return document_error(d, name->place, "'%s' is not a data type", document_escape(buf, *name));
}

bool document_integer(struct document *d, const char *place, WNNNumber n, int64_t low, int64_t high, int64_t *out)
{
    double number = number_to_double(n);

    if (!(number >= (double)low && number <= (double)high && number == floor(number)))
        return document_error(d, place, "a whole number from %lld to %lld expected", (long long)low, (long long)high);
    *out = (int64_t)number; /* the callers' bounds are far below 2^53 */
    return true;
}

bool document_number(const struct document_text *text, WNNNumber *number)
{
    struct error error = {0};
    struct lexer l = {.text = text->text, .length = text->length, .error = &error};

    return lex_next(&l) && lex_number(&l, number) && l.token.kind == TOKEN_END;
}

/* ---- names ---- */

bool document_define(struct document *d, struct name_map *map, const char *kind, const struct document_text *name, void *item)
{
    char buf[128];

    switch (name_map_add(map, name->text, name->length, item)) {
    case NAME_MAP_ADDED:
        return true;
    case NAME_MAP_EXISTS:
        return document_error(d, name->place, "the %s '%s' is defined twice", kind, document_escape(buf, *name));
    case NAME_MAP_OUT_OF_MEMORY:
        break;
    }
    return error_out_of_memory(&d->error);
}

void *document_find(struct document *d, const struct name_map *map, const struct document_text *name)
{
    void *item = name_map_find(map, name->text, name->length);
    char buf[128];

    if (!item)
        document_error(d, name->place, "'%s' is not defined here; a node may use earlier values only",
                       document_escape(buf, *name));
    return item;
}

/** Makes one list of an argument and the operands that follow it without brackets. */
static bool gather_operands(struct document *d, struct document_node *n, struct document_argument *a)
{
    struct document_value *list = document_value(d, DOCUMENT_LIST, a->value->place), *last = NULL;
    struct document_argument *next = a;

    if (!list)
        return false;
    for (; next && !next->key.text && document_is_text(next->value); next = next->next)
        document_append(list, &last, next->value);
    if (!last) /* it is not an operand: a later check says so */
        return true;
    a->value = list;
    a->next = next;
    if (!next)
        n->last_argument = a;
    return true;
}

bool document_name_arguments(struct document *d, struct document_node *n, size_t count, const char *const *names, bool list)
{
    size_t position = 0;
    char buf[128];

    for (struct document_argument *a = n->first_argument; a; a = a->next) {
        if (!a->key.text) {
            if (position == count)
                return document_error(d, a->value->place, "%s has %zu positional arguments, here is one more",
                                      document_escape(buf, n->op), count);
            if (list && !position && a->value->kind != DOCUMENT_LIST && !gather_operands(d, n, a))
                return false;
            a->key = (struct document_text){names[position], strlen(names[position]), a->value->place};
            position++;
        }
        for (const struct document_argument *b = n->first_argument; b != a; b = b->next)
            if (b->key.length == a->key.length && !memcmp(b->key.text, a->key.text, a->key.length))
                return document_error(d, a->key.place, "argument '%s' is given twice", document_escape(buf, a->key));
    }
    return true;
}

/* ---- constants ---- */

bool document_check_count(struct document *d, const struct document_tensor *t, size_t bytes, size_t elements)
{
    size_t count = t->data == DOCUMENT_BYTES ? bytes : elements;

    return t->data == DOCUMENT_SCALAR || t->count == count ||
           document_error(d, t->data_place, "%zu %s, the type has %zu", t->count,
                          t->data == DOCUMENT_BYTES ? "bytes" : "elements", count);
}

void document_elements(const struct document_tensor *t, dtype type, size_t bytes, void *data)
{
    const size_t size = dtype_size(type);
    char *out = data;
    union scalar s;

    if (t->data == DOCUMENT_BYTES) {
        memcpy(out, t->bytes, bytes);
    } else if (t->data == DOCUMENT_VALUES) {
        for (size_t i = 0; i < bytes / size; i++) {
            s = number_cast(t->values[i], type);
            memcpy(out + i * size, &s, size);
        }
    } else {
        s = number_cast(t->scalar, type);
        memcpy(out, &s, size);
        for (size_t done = size; done < bytes; done *= 2)
            memcpy(out + done, out, done <= bytes - done ? done : bytes - done);
    }
}
