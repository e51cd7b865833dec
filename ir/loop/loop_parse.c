/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads modules of the loop language from text as loop_print writes it; values may have any names.  It refuses any other text.
 * Whether operations fit together is loop_verify's affair: a module that is read may be wrong as a program, and says so there.
 */
#include <string.h>

#include "ir/loop/loop_internal.h"
#include "ir/support/name_map.h"
#include "ir/support/print_number.h"
#include "ir/support/text.h"
#include "ir/text/lex.h"

enum { DEPTH_MAX = 64 };

struct parser {
    struct lexer lexer;
    struct loop_builder builder;
    struct name_map names; /* of the function's values */
    struct loop_region *region;
    uint32_t depth;
};

/* ---- words and numbers ---- */

static bool take_sign(struct parser *p, char sign)
{
    return lex_is(&p->lexer, sign) && lex_next(&p->lexer);
}

static bool take_word(struct parser *p, const char *word)
{
    return lex_is_word(&p->lexer, word) && lex_next(&p->lexer);
}

static bool fail(struct parser *p, const char *what)
{
    char found[80];

    return lex_error(&p->lexer, "%s expected, found %s", what, lex_describe(&p->lexer, found, sizeof found));
}

static bool expect(struct parser *p, char sign)
{
    const char what[] = {'\'', sign, '\'', '\0'};

    return take_sign(p, sign) || fail(p, what);
}

static bool read_integer(struct parser *p, int64_t low, int64_t high, int64_t *value)
{
    const char *place = p->lexer.token.text;
    WNNNumber n;

    if (!lex_number(&p->lexer, &n))
        return false;
    if (n.type != WNNNumberType_Int64 || n.value.int64 < low || n.value.int64 > high)
        return lex_error_at(&p->lexer, place, "a whole number from %lld to %lld expected", (long long)low, (long long)high);
    *value = n.value.int64;
    return true;
}

/* Returns the type of a name such as f32x16, or 0. */
static loop_type type_of(const struct token *t)
{
    for (unsigned element = LOOP_I1; t->kind == TOKEN_NAME && element < LOOP_ELEMENTS; element++) {
        const char *name = loop_element_name((enum loop_element)element);
        const size_t length = strlen(name);
        uint32_t lanes = 0;

        if (t->length < length || memcmp(t->text, name, length))
            continue;
        if (t->length == length)
            return loop_type_make((enum loop_element)element, 1);
        for (size_t i = length + 1; i < t->length && lanes <= LOOP_LANES_MAX; i++)
            lanes = t->text[i] >= '0' && t->text[i] <= '9' ? lanes * 10 + (uint32_t)(t->text[i] - '0') : LOOP_LANES_MAX + 1;
        if (t->text[length] == 'x' && lanes > 1 && lanes <= LOOP_LANES_MAX)
            return loop_type_make((enum loop_element)element, lanes);
    }
    return 0;
}

static bool read_type(struct parser *p, loop_type *type)
{
    *type = type_of(&p->lexer.token);
    return *type ? lex_next(&p->lexer) : fail(p, "a type");
}

/* ---- operands ---- */

static bool read_lane(struct parser *p, enum loop_element element, uint64_t *bits)
{
    const struct token *t = &p->lexer.token;
    const uint32_t count = loop_element_bits(element);
    union scalar s = {.u64 = 0};
    WNNNumber n;

    if (t->kind == TOKEN_NUMBER && t->length > 2 && t->length <= 18 && t->text[1] == 'x') { /* the bits themselves */
        for (size_t i = 2; i < t->length; i++)
            s.u64 = s.u64 * 16 + (uint64_t)(t->text[i] <= '9' ? t->text[i] - '0' : (t->text[i] | 32) - 'a' + 10);
        if (count < 64 && s.u64 >> count)
            return lex_error(&p->lexer, "more bits than %s has", loop_element_name(element));
        *bits = s.u64;
        return lex_next(&p->lexer);
    }
    if (!loop_element_is_float(element)) {
        int64_t value = 0;
        const int64_t least = element == LOOP_I1 ? 0 : (int64_t)(UINT64_MAX << (count - 1));
        if (!read_integer(p, least, element == LOOP_I1 ? 1 : ~least, &value))
            return false;
        *bits = (uint64_t)value & UINT64_MAX >> (64 - count);
        return true;
    }
    if (!lex_number(&p->lexer, &n))
        return false;
    s = number_cast(n, element == LOOP_F32 ? WNNOperandDataType_Float32 : DTYPE_FLOAT64);
    *bits = element == LOOP_F32 ? s.u32 : s.u64;
    return true;
}

static bool read_constant(struct parser *p, struct loop_value **v)
{
    uint64_t bits[LOOP_LANES_MAX];
    uint32_t count = 0;
    loop_type type;

    if (!read_type(p, &type) || !expect(p, '('))
        return false;
    const uint32_t lanes = loop_type_lanes(type);
    if (loop_type_element(type) == LOOP_PTR)
        return lex_error(&p->lexer, "there are no constants of addresses");
    do {
        if (count == lanes)
            return lex_error(&p->lexer, "more numbers than the type has lanes");
        if (!read_lane(p, loop_type_element(type), &bits[count++]))
            return false;
    } while (take_sign(p, ','));
    if (count > 1 && count < lanes)
        return lex_error(&p->lexer, "%u numbers for %u lanes", count, lanes);
    for (; count < lanes; count++)
        bits[count] = bits[0];
    *v = loop_const(&p->builder, type, bits);
    return expect(p, ')');
}

static bool read_operand(struct parser *p, struct loop_value **v)
{
    const struct token t = p->lexer.token;

    if (t.kind != TOKEN_NAME)
        return fail(p, "a value");
    *v = name_map_find(&p->names, t.text, t.length);
    if (*v)
        return lex_next(&p->lexer);
    if (type_of(&t))
        return read_constant(p, v);
    return fail(p, "an earlier value");
}

static bool read_operands(struct parser *p, struct loop_value *v)
{
    struct loop_value *args[LOOP_ARGS_MAX];

    do {
        if (v->arg_count == LOOP_ARGS_MAX)
            return lex_error(&p->lexer, "more than %d operands", LOOP_ARGS_MAX);
        if (!read_operand(p, &args[v->arg_count]))
            return false;
        v->arg_count++;
    } while (take_sign(p, ','));
    v->args = arena_copy(&p->builder.module->arena, args, v->arg_count * sizeof(struct loop_value *));
    return v->args || error_out_of_memory(p->lexer.error);
}

/* ---- operations ---- */

static bool read_region(struct parser *p, struct loop_region *region);

static bool read_lanes(struct parser *p, struct loop_value *v)
{
    uint8_t lanes[LOOP_LANES_MAX];
    uint32_t count = 0;
    int64_t lane;

    if (!take_word(p, "lanes"))
        return fail(p, "'lanes'");
    if (!expect(p, '('))
        return false;
    do {
        if (count == loop_type_lanes(v->type))
            return lex_error(&p->lexer, "more numbers than the type has lanes");
        lane = LOOP_ANY_LANE;
        if (!take_word(p, "any") && !read_integer(p, 0, LOOP_ANY_LANE - 1, &lane))
            return false;
        lanes[count++] = (uint8_t)lane;
    } while (take_sign(p, ','));
    if (count < loop_type_lanes(v->type))
        return lex_error(&p->lexer, "%u numbers for %u lanes", count, loop_type_lanes(v->type));
    v->lanes = arena_copy(&p->builder.module->arena, lanes, count);
    return v->lanes ? expect(p, ')') : error_out_of_memory(p->lexer.error);
}

static bool read_regions(struct parser *p, struct loop_value *v)
{
    v->regions = arena_array(&p->builder.module->arena, 2, sizeof *v->regions);
    if (!v->regions)
        return error_out_of_memory(p->lexer.error);
    v->regions[0].owner = v->regions[1].owner = v;
    do {
        if (!read_region(p, &v->regions[v->region_count]))
            return false;
        v->region_count++;
    } while (v->region_count < 2 && v->op == LOOP_IF && take_word(p, "else"));
    return true;
}

static bool read_call(struct parser *p, struct loop_value *v)
{
    size_t length;
    char *name;

    if (p->lexer.token.kind != TOKEN_STRING)
        return fail(p, "a function's name");
    if (!(name = lex_unescape(&p->lexer, &p->builder.module->arena, &length)))
        return false;
    if (!(v->callee = loop_function_find(p->builder.module, name)))
        return lex_error(&p->lexer, "there is no function of this name");
    if (!lex_next(&p->lexer) || !expect(p, '(') || (!lex_is(&p->lexer, ')') && !read_operands(p, v)) || !expect(p, ')'))
        return false;
    if (v->op == LOOP_ARGUMENTS && !take_word(p, "from"))
        return fail(p, "'from'");
    return v->op != LOOP_ARGUMENTS || read_integer(p, 0, INT64_MAX, &v->number);
}

/* Reads what follows the name of an operation. */
static bool read_rest(struct parser *p, struct loop_value *v)
{
    if (v->op == LOOP_CALL || v->op == LOOP_ARGUMENTS)
        return read_call(p, v);
    if ((v->op == LOOP_ADDRESS || v->op == LOOP_ARRAY || v->op == LOOP_GROUP_ARRAY) && !read_type(p, &v->of))
        return false;
    if (loop_op_has_number((enum loop_op)v->op) && !read_integer(p, 0, INT64_MAX, &v->number))
        return false;
    if (*loop_op_rows[v->op].operands && !read_operands(p, v))
        return false;
    if (take_word(p, "align") && !read_integer(p, 0, INT64_MAX, &v->number))
        return false;
    if (v->op == LOOP_SHUFFLE)
        return read_lanes(p, v);
    for (uint32_t i = 0; v->op == LOOP_FOR && 1 << i < LOOP_FOR_NUMBERS; i++)
        v->number += take_word(p, loop_for_words[i]) ? 1 << i : 0;
    return (v->op != LOOP_FOR && v->op != LOOP_IF && v->op != LOOP_SCOPE) || read_regions(p, v);
}

static bool read_name(struct parser *p, struct token *name, loop_type *type)
{
    *name = p->lexer.token;
    if (name->kind != TOKEN_NAME)
        return fail(p, "an operation");
    if (!lex_next(&p->lexer))
        return false;
    return !take_sign(p, ':') || (read_type(p, type) && expect(p, '='));
}

static bool read_operation(struct parser *p)
{
    struct loop_region *region = p->region;
    struct loop_value *v = arena_alloc(&p->builder.module->arena, sizeof *v);
    struct token name, word;
    uint32_t op = LOOP_CONST + 1;

    if (!v)
        return error_out_of_memory(p->lexer.error);
    if (!read_name(p, &name, &v->type))
        return false;
    word = v->type ? p->lexer.token : name;
    while (op < LOOP_OP_COUNT && !text_is(loop_op_rows[op].name, word.text, word.length))
        op++;
    if (op == LOOP_OP_COUNT)
        return lex_error_at(&p->lexer, word.text, "there is no such operation");
    v->op = (uint8_t)op;
    v->region = region;
    v->previous = region->last;
    *(region->last ? &region->last->next : &region->first) = v;
    region->last = v;
    if (v->type && (!lex_next(&p->lexer) || name_map_add(&p->names, name.text, name.length, v) != NAME_MAP_ADDED))
        return lex_error_at(&p->lexer, name.text, "this name is in use");
    if (!read_rest(p, v))
        return false;
    if (op == LOOP_PARAMETER && v->number < LOOP_PARAMETERS_MAX)
        p->builder.function->parameters[v->number] = v;
    return true;
}

static bool read_region(struct parser *p, struct loop_region *region)
{
    struct loop_region *around = p->region;

    if (p->depth == DEPTH_MAX)
        return lex_error(&p->lexer, "regions are nested more than %d deep", DEPTH_MAX);
    if (!expect(p, '{'))
        return false;
    p->depth++;
    p->region = region;
    while (!lex_is(&p->lexer, '}'))
        if (!read_operation(p))
            return false;
    p->depth--;
    p->region = around;
    return lex_next(&p->lexer);
}

/* ---- functions ---- */

static bool read_items(struct parser *p, struct loop_function *f)
{
    int64_t items = 0;

    for (uint32_t d = 0; d < LOOP_DIMENSIONS; d++) {
        if ((d && !expect(p, ',')) || !read_integer(p, 1, LOOP_ITEMS_MAX, &items))
            return false;
        f->items[d] = (uint32_t)items;
    }
    return true;
}

static bool read_head(struct parser *p, struct loop_function *f, char **name)
{
    size_t length;

    *f = (struct loop_function){.internal = take_word(p, "internal")};
    f->kernel = take_word(p, "kernel");
    if (!f->kernel && !take_word(p, "function"))
        return fail(p, "'function' or 'kernel'");
    if (p->lexer.token.kind != TOKEN_STRING)
        return fail(p, "a function's name");
    if (!(*name = lex_unescape(&p->lexer, &p->builder.module->arena, &length)) || !lex_next(&p->lexer))
        return false;
    if (f->kernel)
        return !take_word(p, "items") || read_items(p, f);
    if (!expect(p, '('))
        return false;
    while (!take_sign(p, ')')) {
        if (f->param_count == LOOP_PARAMETERS_MAX)
            return lex_error(&p->lexer, "more than %d parameters", LOOP_PARAMETERS_MAX);
        if ((f->param_count && !expect(p, ',')) || !read_type(p, &f->params[f->param_count]))
            return false;
        f->param_count++;
    }
    return lex_is(&p->lexer, '{') || read_type(p, &f->result);
}

/* Adds the function at the current token and moves past its body, so that all functions are known when bodies are read. */
static bool declare(struct parser *p)
{
    struct loop_module *m = p->builder.module;
    struct loop_function f, *added;
    uint32_t depth = 0;
    char *name;

    if (!read_head(p, &f, &name))
        return false;
    if (loop_function_find(m, name))
        return lex_error(&p->lexer, "the function is already defined");
    if (!(added = loop_function_add(m, name, f.kernel ? NULL : f.params, f.param_count, f.result)))
        return error_out_of_memory(p->lexer.error);
    added->internal = f.internal;
    if (f.items[0])
        loop_function_set_items(added, f.items);
    if (!lex_is(&p->lexer, '{'))
        return fail(p, "'{'");
    do {
        depth += lex_is(&p->lexer, '{');
        depth -= lex_is(&p->lexer, '}');
        if (p->lexer.token.kind == TOKEN_END)
            return fail(p, "'}'");
        if (!lex_next(&p->lexer))
            return false;
    } while (depth);
    return true;
}

static bool read_module(struct parser *p)
{
    const struct lexer start = p->lexer;
    struct loop_module *m = p->builder.module;
    struct loop_function head;
    char *name;

    while (p->lexer.token.kind != TOKEN_END)
        if (!declare(p))
            return false;
    p->lexer = start;
    for (struct loop_function *f = m->first; f; f = f->next) {
        if (!loop_builder_begin(&p->builder, m, f))
            return error_out_of_memory(p->lexer.error);
        if (!read_head(p, &head, &name) || !read_region(p, &f->body))
            return false;
        name_map_free(&p->names);
        p->names = (struct name_map){0};
    }
    return true;
}

bool loop_parse(struct loop_module *m, const char *text, size_t length, struct error *e)
{
    struct parser p = {.lexer = {.text = text, .length = length, .error = e}, .builder = {.module = m}};
    bool good;

    *m = (struct loop_module){0};
    good = lex_next(&p.lexer) && read_module(&p) && !e->status && (!m->failed || error_out_of_memory(e));
    name_map_free(&p.names);
    return good;
}
