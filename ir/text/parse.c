/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the parser of the textual form (docs/textual-ir.md), a superset of `.webnn` text.  The text may hold anything.  The
 * result is a graph whose every type went through type_check and whose every node through call_infer, or an error with line and
 * column.
 *
 * Blocks may come in any order, so the first walk only finds them; then inputs, constants, nodes (ir/text/parse_node.c) and
 * outputs are read in this order.  Nodes may use only what stands before them: there is no way to write a cycle.  Nothing
 * recurses, so that nesting costs no stack.
 */
#include "ir/text/parse.h"

#include <string.h>

enum {
    NESTING_MAX = 64, /* of brackets in @values */
};
/* This is what @scalar may fill in one text: a few characters must not cost the machine's memory. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
static const int64_t scalar_bytes_max = INT64_C(1) << 20;
#else
static const int64_t scalar_bytes_max = INT64_C(1) << 30;
#endif

/* ---- inputs and constants ---- */

static bool parse_input(struct parser *p)
{
    struct tensor_type type;
    struct parse_name name;

    if (!parse_new_name(p, &name) || !parse_sign(p, ':') || !parse_type(p, &type))
        return false;
    struct value *v = graph_add_input(p->g, name.text, name.length, &type);
    return v ? parse_define(p, &name, v) : parse_out_of_memory(p);
}

/* Reads the elements in brackets into c: bytes, or numbers of the type, nested at will. */
static bool parse_elements(struct parser *p, const struct tensor_type *type, bool bytes, struct constant *c)
{
    size_t size = bytes ? 1 : dtype_size(type->type), count = c->bytes / size, at = 0;
    char *data = (char *)c->data;
    const char *place = p->l.token.text;
    uint32_t depth = 0;

    if (!lex_is(&p->l, '['))
        return parse_expected(p, "'['");
    do {
        bool item = false;
        if (lex_is(&p->l, '[')) {
            if (++depth > (bytes ? 1 : NESTING_MAX))
                return lex_error(&p->l, "lists are nested too deeply");
            if (!lex_next(&p->l))
                return false;
        } else if (lex_is(&p->l, ']')) {
            depth--;
            item = true;
            if (!lex_next(&p->l))
                return false;
        } else {
            union scalar s = {.u64 = 0};
            if (at == count)
                return lex_error(&p->l, "more than %zu %s", count, bytes ? "bytes" : "elements");
            if (bytes) {
                int64_t byte;
                if (!parse_integer(p, 0, UINT8_MAX, &byte))
                    return false;
                s.u8 = (uint8_t)byte;
            } else {
                WNNNumber n;
                if (!lex_number(&p->l, &n))
                    return false;
                s = number_cast(n, type->type);
            }
            memcpy(data + at++ * size, &s, size);
            item = true;
        }
        if (item && depth && lex_is(&p->l, ',')) {
            if (!lex_next(&p->l))
                return false;
        } else if (item && depth && !lex_is(&p->l, ']')) {
            return parse_expected(p, "',' or ']'");
        }
    } while (depth);
    if (at < count)
        return lex_error_at(&p->l, place, "%zu %s, the type has %zu", at, bytes ? "bytes" : "elements", count);
    return true;
}

/* Reads a constant's data behind '@'. */
static bool parse_data(struct parser *p, const struct tensor_type *type, struct constant **constant)
{
    int64_t size = type_bytes(type);
    const char *place = p->l.token.text;
    bool bytes = lex_is_word(&p->l, "bytes");

    *constant = NULL;
    if (lex_is_word(&p->l, "weights")) {
        struct error error = {0};
        struct parse_name key;
        if (!lex_next(&p->l) || !parse_sign(p, '(') || !parse_text(p, "a key", &p->scratch, &key) || !parse_sign(p, ')'))
            return false;
        if (!p->lookup)
            return lex_error_at(&p->l, place, "no weights were given with this text");
        if (!p->lookup(p->user, key.text, type, constant, &error)) {
            if (error.status != WNNStatus_Success && error.status != WNNStatus_TypeError && error.status != WNNStatus_DataError)
                return error_set(p->l.error, error.status, "%s", error.message);
            return lex_error_at(&p->l, place, "%s", error.message);
        }
        if (!*constant || (int64_t)(*constant)->bytes != size)
            return lex_error_at(&p->l, place, "the weights have %zu bytes, the type has %lld",
                                *constant ? (*constant)->bytes : (size_t)0, (long long)size);
        return true;
    }
    if (bytes || lex_is_word(&p->l, "values")) {
        if (!bytes && type->type == DTYPE_UINT4)
            return lex_error_at(&p->l, place, "elements of uint4 lie in words, and are written as @bytes or @weights");
        /* An element takes two characters at least, so that there is no more memory than the text is worth. */
        const int64_t count = type->type == DTYPE_UINT4 ? size : type_elements(type);
        if (count > (int64_t)(p->l.length / 2))
            return lex_error(&p->l, "the text is too short for %lld elements", (long long)count);
        *constant = constant_create(NULL, (size_t)size);
        if (!*constant)
            return parse_out_of_memory(p);
        return lex_next(&p->l) && parse_sign(p, '(') && parse_elements(p, type, bytes, *constant) && parse_sign(p, ')');
    }
    return parse_expected(p, "scalar, values, bytes or weights");
}

static bool parse_constant(struct parser *p)
{
    struct tensor_type type;
    struct value *v;
    struct parse_name name;
    bool annotated;

    if (!parse_new_name(p, &name) || !parse_sign(p, ':') || !parse_type(p, &type) || !parse_accept(p, '@', &annotated))
        return false;
    if (!annotated)
        return lex_error_at(&p->l, name.place, "a constant without data: @scalar, @values, @bytes or @weights is missing");
    if (lex_is_word(&p->l, "scalar")) {
        const char *data = p->l.token.text;
        WNNNumber n;
        if (!lex_next(&p->l) || !parse_sign(p, '(') || !lex_number(&p->l, &n) || !parse_sign(p, ')'))
            return false;
        p->scalar_bytes += type_bytes(&type);
        if (p->scalar_bytes > scalar_bytes_max)
            return lex_error_at(&p->l, data, "@scalar fills more than %lld bytes", (long long)scalar_bytes_max);
        v = graph_add_scalar(p->g, &type, n);
    } else {
        struct constant *c;
        if (!parse_data(p, &type, &c)) {
            constant_release(c);
            return false;
        }
        v = graph_add_constant(p->g, &type, c);
    }
    return v ? parse_define(p, &name, v) : parse_out_of_memory(p);
}

/* ---- outputs ---- */

static bool parse_output(struct parser *p)
{
    struct lexer start = p->l;
    struct value *v;
    struct parse_name name;
    bool named;

    if (!parse_new_name(p, &name) || !parse_accept(p, '=', &named))
        return false;
    if (!named)
        p->l = start; /* the output is called like the value */
    if (!parse_operand(p, &v))
        return false;
    if (!v)
        return lex_error_at(&p->l, name.place, "null is no output");
    switch (name_map_add(&p->outputs, name.text, name.length, v)) {
    case NAME_MAP_ADDED:
        break;
    case NAME_MAP_EXISTS:
        return lex_error_at(&p->l, name.place, "an output of this name stands above");
    case NAME_MAP_OUT_OF_MEMORY:
        return parse_out_of_memory(p);
    }
    return graph_add_output(p->g, name.text, name.length, v) || parse_out_of_memory(p);
}

/* ---- blocks ---- */

static bool (*const statements[BLOCK_KINDS])(struct parser *p) = {
    [BLOCK_INPUTS] = parse_input,
    [BLOCK_CONSTS] = parse_constant,
    [BLOCK_NODES] = parse_node,
    [BLOCK_OUTPUTS] = parse_output,
};
static const char *const block_names[BLOCK_KINDS] = {"inputs", "consts", "nodes", "outputs"};

static bool parse_block(struct parser *p, const struct parse_block *b)
{
    p->l.at = b->at;
    if (!lex_next(&p->l))
        return false;
    while (!lex_is(&p->l, '}')) {
        bool semicolon, comma = false;
        if (!statements[b->kind](p) || !parse_accept(p, ';', &semicolon))
            return false;
        if (!semicolon && b->kind == BLOCK_OUTPUTS && !parse_accept(p, ',', &comma))
            return false;
        if (!semicolon && !comma && !lex_is(&p->l, '}'))
            return parse_expected(p, "';'");
    }
    return true;
}

/* Finds the blocks without looking into them. */
static bool find_blocks(struct parser *p)
{
    bool version = false;

    if (!lex_next(&p->l))
        return false;
    if (!lex_is_word(&p->l, "webnn_graph"))
        return parse_expected(p, "webnn_graph");
    if (!lex_next(&p->l))
        return false;
    if (p->l.token.kind != TOKEN_STRING)
        return parse_expected(p, "the graph's name in quotes");
    if (!lex_next(&p->l))
        return false;
    version = lex_is_word(&p->l, "v1") || lex_is_word(&p->l, "v2");
    if (!version)
        return parse_expected(p, "version v1 or v2");
    if (!lex_next(&p->l))
        return false;
    if (lex_is(&p->l, '@')) {
        if (!lex_next(&p->l))
            return false;
        if (!lex_is_word(&p->l, "quantized"))
            return parse_expected(p, "quantized");
        if (!lex_next(&p->l))
            return false;
    }
    if (!parse_sign(p, '{'))
        return false;

    bool closed = false;
    while (p->l.token.kind != TOKEN_END) {
        if (lex_is(&p->l, '}')) { /* older writers close the graph before its last blocks */
            closed = true;
            if (!lex_next(&p->l))
                return false;
            continue;
        }

        struct parse_block *b = arena_alloc(&p->scratch, sizeof *b);
        if (!b)
            return parse_out_of_memory(p);
        for (b->kind = BLOCK_INPUTS; b->kind < BLOCK_KINDS && !lex_is_word(&p->l, block_names[b->kind]); b->kind++)
            ;
        if (b->kind == BLOCK_KINDS)
            return parse_expected(p, "inputs, consts, nodes, outputs or '}'");
        if (!lex_next(&p->l))
            return false;
        if (!lex_is(&p->l, '{'))
            return parse_expected(p, "'{'");
        b->at = p->l.at;
        do {
            if (!lex_next(&p->l))
                return false;
            if (p->l.token.kind == TOKEN_END || lex_is(&p->l, '{'))
                return parse_expected(p, "'}'");
        } while (!lex_is(&p->l, '}'));
        if (!lex_next(&p->l))
            return false;
        if (p->last_block)
            p->last_block->next = b;
        else
            p->first_block = b;
        p->last_block = b;
    }
    return closed || parse_expected(p, "'}'");
}

static bool parse_graph(struct parser *p)
{
    if (!find_blocks(p))
        return false;
    for (unsigned kind = BLOCK_INPUTS; kind < BLOCK_KINDS; kind++)
        for (const struct parse_block *b = p->first_block; b; b = b->next)
            if (b->kind == kind && !parse_block(p, b))
                return false;
    return parse_finish_marks(p);
}

struct graph *graph_parse(const char *text, size_t length, weights_lookup lookup, void *user, struct error *e)
{
    struct parser p = {.l = {.text = text, .length = length, .error = e}, .lookup = lookup, .user = user};

    p.g = graph_create();
    if (!p.g) {
        error_out_of_memory(e);
        return NULL;
    }
    if (!parse_graph(&p)) {
        graph_free(p.g);
        p.g = NULL;
    }
    name_map_free(&p.values);
    name_map_free(&p.outputs);
    arena_free(&p.scratch);
    return p.g;
}
