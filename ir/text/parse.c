/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads `.webnn` text, versions 1 and 2, with the extensions of our own textual form (docs/formats.md), whatever it contains,
 * into a document.
 *
 * Blocks may come in any order and more than once, and the brace that closes the graph may stand before the last of them.
 */
#include "ir/text/document.h"

/* ---- small pieces ---- */

static bool expected(struct document *d, const char *what)
{
    return document_expected(d, d->lexer.token.text, what);
}

static bool read_sign(struct document *d, char sign)
{
    char what[] = {'\'', sign, '\'', '\0'};

    return lex_is(&d->lexer, sign) ? lex_next(&d->lexer) : expected(d, what);
}

static bool accept(struct document *d, char sign, bool *there)
{
    *there = lex_is(&d->lexer, sign);
    return !*there || lex_next(&d->lexer);
}

/** Reads a comma, or the end, after an item of a list.  A comma may stand before the end. */
static bool read_list_end(struct document *d, char close, bool *end)
{
    bool comma;

    if (!accept(d, ',', &comma))
        return false;
    *end = lex_is(&d->lexer, close);
    if (*end)
        return lex_next(&d->lexer);
    return comma || expected(d, close == ']' ? "',' or ']'" : "',' or ')'");
}

/** Reads a string, or a word if `words` allows it. */
static bool read_text(struct document *d, const char *what, bool words, struct document_text *text)
{
    const struct token *t = &d->lexer.token;
    char *copy;

    text->place = t->text;
    text->length = t->length;
    if (t->kind == TOKEN_STRING) {
        copy = lex_unescape(&d->lexer, &d->arena, &text->length);
        if (!copy)
            return false;
    } else if (words && t->kind == TOKEN_NAME) {
        copy = arena_string(&d->arena, t->text, t->length);
        if (!copy)
            return error_out_of_memory(&d->error);
    } else {
        return expected(d, what);
    }
    text->text = copy;
    return lex_next(&d->lexer);
}

/** Reads a name for an operand: an identifier, or any bytes in quotes. */
static bool read_name(struct document *d, struct document_text *name)
{
    bool quoted = d->lexer.token.kind == TOKEN_STRING;

    if (!read_text(d, "a name", true, name))
        return false;
    if (!name->length)
        return document_error(d, name->place, "a name must not be empty");
    if (!quoted && !is_plain_name(name->text, name->length))
        return document_error(d, name->place, "'%s' is a reserved word: write it in quotes", name->text);
    return true;
}

static bool read_integer(struct document *d, int64_t high, int64_t *value)
{
    const char *place = d->lexer.token.text;
    WNNNumber n;

    return lex_number(&d->lexer, &n) && document_integer(d, place, n, 0, high, value);
}

static bool read_uint32(struct document *d, uint32_t *value)
{
    int64_t n;

    if (!read_integer(d, UINT32_MAX, &n))
        return false;
    *value = (uint32_t)n;
    return true;
}

/** Holds a list that doubles its memory as it grows. */
struct growing {
    char *items;
    uint32_t count;
    size_t capacity;
};

static bool grow(struct document *d, struct growing *list, const void *item, size_t size)
{
    if (list->count == UINT32_MAX || !array_reserve(&d->arena, &list->items, &list->capacity, list->count + 1u, size))
        return error_out_of_memory(&d->error);
    memcpy(list->items + list->count++ * size, item, size);
    return true;
}

/* ---- types ---- */

/** Reads a size, or dyn("name", largest). */
static bool read_dimension(struct document *d, struct document_dimension *dimension)
{
    if (!lex_is_word(&d->lexer, "dyn"))
        return read_uint32(d, &dimension->size);
    return lex_next(&d->lexer) && read_sign(d, '(') &&
           read_text(d, "the dimension's name in quotes", false, &dimension->name) && read_sign(d, ',') &&
           read_uint32(d, &dimension->size) && read_sign(d, ')');
}

static bool read_type(struct document *d, struct document_type *type)
{
    struct document_text name;

    if (d->lexer.token.kind != TOKEN_NAME)
        return expected(d, "a data type");
    if (!read_text(d, "a data type", true, &name) || !document_data_type(d, &name, &type->type) || !read_sign(d, '['))
        return false;
    type->place = name.place;
    bool end = lex_is(&d->lexer, ']');
    if (end && !lex_next(&d->lexer))
        return false;
    while (!end) {
        if (type->rank == DOCUMENT_RANK_MAX)
            return lex_error(&d->lexer, "more than %d dimensions", DOCUMENT_RANK_MAX);
        if (!read_dimension(d, &type->dims[type->rank++]) || !read_list_end(d, ']', &end))
            return false;
    }
    return true;
}

/* ---- constants ---- */

/** Reads bytes, or numbers nested as one likes, in brackets. */
static bool read_elements(struct document *d, bool bytes, struct document_tensor *t)
{
    struct growing list = {0};
    unsigned depth = 0;
    int64_t byte;
    WNNNumber n;

    if (!lex_is(&d->lexer, '['))
        return expected(d, "'['");
    do {
        bool item = true;

        if (lex_is(&d->lexer, '[')) {
            if (++depth > (bytes ? 1 : DOCUMENT_NESTING_MAX))
                return lex_error(&d->lexer, "lists are nested too deeply");
            item = false;
            if (!lex_next(&d->lexer))
                return false;
        } else if (lex_is(&d->lexer, ']')) {
            depth--;
            if (!lex_next(&d->lexer))
                return false;
        } else if (bytes ? !read_integer(d, UINT8_MAX, &byte) || !grow(d, &list, &(uint8_t){(uint8_t)byte}, 1)
                         : !lex_number(&d->lexer, &n) || !grow(d, &list, &n, sizeof n)) {
            return false;
        }
        if (item && depth && lex_is(&d->lexer, ',')) {
            if (!lex_next(&d->lexer))
                return false;
        } else if (item && depth && !lex_is(&d->lexer, ']')) {
            return expected(d, "',' or ']'");
        }
    } while (depth);
    t->count = list.count;
    if (bytes)
        t->bytes = (const uint8_t *)list.items;
    else
        t->values = (const WNNNumber *)(void *)list.items;
    return true;
}

/** Reads what follows '@'. */
static bool read_data(struct document *d, struct document_tensor *t)
{
    struct lexer *l = &d->lexer;

    t->data_place = l->token.text;
    t->data = lex_is_word(l, "scalar")    ? DOCUMENT_SCALAR
              : lex_is_word(l, "bytes")   ? DOCUMENT_BYTES
              : lex_is_word(l, "values")  ? DOCUMENT_VALUES
              : lex_is_word(l, "weights") ? DOCUMENT_WEIGHTS
                                          : DOCUMENT_NO_DATA;
    if (t->data == DOCUMENT_NO_DATA)
        return expected(d, "scalar, values, bytes or weights");
    if (!lex_next(l) || !read_sign(d, '('))
        return false;
    return (t->data == DOCUMENT_SCALAR    ? lex_number(l, &t->scalar)
            : t->data == DOCUMENT_WEIGHTS ? read_text(d, "a key in quotes", true, &t->key)
                                          : read_elements(d, t->data == DOCUMENT_BYTES, t)) &&
           read_sign(d, ')');
}

/* ---- nodes ---- */

static struct document_value *read_value(struct document *d, unsigned depth);

static struct document_value *read_list(struct document *d, unsigned depth)
{
    struct document_value *list = document_value(d, DOCUMENT_LIST, d->lexer.token.text), *last = NULL, *item;

    if (depth == DOCUMENT_NESTING_MAX) {
        lex_error(&d->lexer, "lists are nested too deeply");
        return NULL;
    }
    if (!list || !lex_next(&d->lexer))
        return NULL;
    bool end = lex_is(&d->lexer, ']');
    if (end && !lex_next(&d->lexer))
        return NULL;
    while (!end) {
        item = read_value(d, depth + 1);
        if (!item || !read_list_end(d, ']', &end))
            return NULL;
        document_append(list, &last, item);
    }
    return list;
}

static struct document_value *read_value(struct document *d, unsigned depth)
{
    struct lexer *l = &d->lexer;
    const struct token t = l->token;

    if (lex_is(l, '['))
        return read_list(d, depth);
    if (lex_is(l, '{')) {
        lex_error(l, "an object is not an argument of any operator");
        return NULL;
    }
    struct document_value *v = document_value(d, DOCUMENT_NUMBER, t.text);
    if (!v)
        return NULL;
    if (t.kind == TOKEN_STRING) {
        v->kind = DOCUMENT_STRING;
        return read_text(d, "a string", false, &v->text) ? v : NULL;
    }
    if (t.kind != TOKEN_NAME || lex_is_word(l, "NaN") || lex_is_word(l, "Infinity"))
        return lex_number(l, &v->number) ? v : NULL;
    v->kind = lex_is_word(l, "null") ? DOCUMENT_NULL : DOCUMENT_BOOL;
    v->boolean = lex_is_word(l, "true");
    if (v->kind == DOCUMENT_BOOL && !v->boolean && !lex_is_word(l, "false"))
        v->kind = DOCUMENT_NAME;
    if (v->kind == DOCUMENT_NAME)
        return read_text(d, "a name", true, &v->text) ? v : NULL;
    return lex_next(l) ? v : NULL;
}

/** Reads everything between an operator's parentheses, and moves past the closing one. */
static bool read_arguments(struct document *d, struct document_node *n)
{
    bool end = lex_is(&d->lexer, ')'), keys = false;

    if (end && !lex_next(&d->lexer))
        return false;
    while (!end) {
        struct document_text key = {NULL, 0, d->lexer.token.text};
        struct document_argument *a;

        if (d->lexer.token.kind == TOKEN_NAME) {
            struct lexer start = d->lexer;

            if (!lex_next(&d->lexer))
                return false;
            if (lex_is(&d->lexer, '=')) {
                d->lexer = start;
                if (!read_text(d, "a key", true, &key) || !lex_next(&d->lexer))
                    return false;
                keys = true;
            } else {
                d->lexer = start;
            }
        }
        if (keys && !key.text)
            return document_error(d, key.place, "a positional argument after one with a name");
        a = document_add_argument(d, n, &key);
        if (!a)
            return false;
        a->value = read_value(d, 0);
        if (!a->value || !read_list_end(d, ')', &end))
            return false;
    }
    return true;
}

/** Reads marks such as "@kernel(3)" or "@winograd(u)". */
static bool read_marks(struct document *d, struct document_node *n)
{
    static const char *const words[] = {"winograd", "kernel", "library", "loop", "view"};
    struct document_mark *m;
    bool marked;

    for (;;) {
        size_t i = 0;

        if (!accept(d, '@', &marked) || !marked)
            return !marked;
        while (i < sizeof words / sizeof *words && !lex_is_word(&d->lexer, words[i]))
            i++;
        if (i == sizeof words / sizeof *words)
            return expected(d, "kernel, library, loop, view or winograd");
        m = document_add_mark(d, n);
        if (!m || !read_text(d, "a mark", true, &m->name) || !read_sign(d, '(') ||
            !(i ? read_uint32(d, &m->number) : read_name(d, &m->operand)) || !read_sign(d, ')'))
            return false;
    }
}

/** Reads a node such as "[a, b] = split(x, 2)". */
static bool read_node(struct document *d)
{
    struct document_node *n = document_add_node(d);
    struct growing results = {0};
    struct document_text name;
    bool brackets, end = false;

    if (!n || !accept(d, '[', &brackets))
        return false;
    while (!end) {
        if (!read_name(d, &name) || !grow(d, &results, &name, sizeof name))
            return false;
        end = true;
        if (brackets && !read_list_end(d, ']', &end))
            return false;
    }
    n->results = (struct document_text *)(void *)results.items;
    n->result_count = results.count;
    if (!read_sign(d, '='))
        return false;
    if (d->lexer.token.kind != TOKEN_NAME)
        return expected(d, "an operator's name");
    if (!read_text(d, "an operator's name", true, &n->op))
        return false;
    if (lex_is(&d->lexer, ';'))
        return document_error(d, n->op.place, "an operator expected: identity(%s) is an operand under another name",
                              n->op.text);
    return read_sign(d, '(') && read_arguments(d, n) && read_marks(d, n);
}

/* ---- the other statements ---- */

static bool read_input(struct document *d)
{
    struct document_tensor *t = document_add_tensor(d, false);

    return t && read_name(d, &t->name) && read_sign(d, ':') && read_type(d, &t->type);
}

static bool read_constant(struct document *d)
{
    struct document_tensor *t = document_add_tensor(d, true);
    bool annotated;

    if (!t || !read_name(d, &t->name) || !read_sign(d, ':') || !read_type(d, &t->type) || !accept(d, '@', &annotated))
        return false;
    return annotated
               ? read_data(d, t)
               : document_error(d, t->name.place, "a constant without data: @scalar, @values, @bytes or @weights is missing");
}

/** Reads "x", or "output = operand". */
static bool read_output(struct document *d)
{
    struct document_output *o = document_add_output(d);
    bool named;

    if (!o || !read_name(d, &o->name) || !accept(d, '=', &named))
        return false;
    o->operand = o->name;
    return !named || read_name(d, &o->operand);
}

/* ---- blocks ---- */

static const struct {
    const char *name;
    bool (*read)(struct document *d);
    bool commas;
} blocks[] = {{"inputs", read_input, false},
              {"consts", read_constant, false},
              {"nodes", read_node, false},
              {"outputs", read_output, true}};

static bool read_block(struct document *d)
{
    size_t b = 0;

    while (b < sizeof blocks / sizeof *blocks && !lex_is_word(&d->lexer, blocks[b].name))
        b++;
    if (b == sizeof blocks / sizeof *blocks)
        return expected(d, "inputs, consts, nodes, outputs or '}'");
    if (!lex_next(&d->lexer) || !read_sign(d, '{'))
        return false;
    while (!lex_is(&d->lexer, '}')) {
        bool semicolon, comma = false;

        if (!blocks[b].read(d) || !accept(d, ';', &semicolon))
            return false;
        if (!semicolon && blocks[b].commas && !accept(d, ',', &comma))
            return false;
        if (!semicolon && !comma && !lex_is(&d->lexer, '}'))
            return expected(d, "';'");
    }
    return lex_next(&d->lexer);
}

/** Reads a header such as: webnn_graph "name" v2 @quantized */
static bool read_header(struct document *d)
{
    uint32_t version = 0;
    bool mark;

    if (!lex_next(&d->lexer))
        return false;
    if (!lex_is_word(&d->lexer, "webnn_graph"))
        return expected(d, "webnn_graph");
    if (!lex_next(&d->lexer) || !read_text(d, "the graph's name in quotes", false, &d->name))
        return false;
    const char *place = d->lexer.token.text;
    if (lex_is_word(&d->lexer, "v1") || lex_is_word(&d->lexer, "v2")) {
        if (!lex_next(&d->lexer))
            return false;
    } else if (!lex_is_word(&d->lexer, "v")) {
        return expected(d, "version v1 or v2");
    } else if (!lex_next(&d->lexer) || !read_uint32(d, &version)) {
        return false;
    } else if (version != 1 && version != 2) {
        return document_error(d, place, "version %u of the format is unknown: 1 and 2 are", version);
    }
    if (!accept(d, '@', &mark))
        return false;
    if (mark && !lex_is_word(&d->lexer, "quantized"))
        return expected(d, "quantized");
    return !mark || lex_next(&d->lexer); /* a hint for converters: the graph itself has the quantization */
}

bool document_parse_text(struct document *d)
{
    bool closed = false;

    if (!read_header(d) || !read_sign(d, '{'))
        return false;
    while (d->lexer.token.kind != TOKEN_END) {
        if (lex_is(&d->lexer, '}')) {
            closed = true;
            if (!lex_next(&d->lexer))
                return false;
        } else if (!read_block(d)) {
            return false;
        }
    }
    return closed || expected(d, "'}'");
}
