/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads modules of the loop language from text as loop_print writes it; values may have any names.  Any other text fails the
 * test.  Whether operations fit together is loop_verify's affair: a module that is read may be wrong as a program.
 */
#include "support/loop_text.h"

#include "ir/loop/loop_internal.h"
#include "ir/support/name_map.h"
#include "ir/support/number.h"
#include "support/words.h"

struct parser {
    struct words w;
    struct loop_builder builder;
    struct name_map names; /* of the function's values */
};

/* ---- numbers and types ---- */

static int64_t read_integer(struct parser *p)
{
    char *end;

    next(&p->w);
    const int64_t value = (int64_t)strtoull(p->w.at, &end, 0);
    if (end == p->w.at)
        wrong(&p->w, "there is no number", "");
    p->w.at = end;
    return value;
}

/* Returns the type of a name such as f32x16, or 0. */
static loop_type type_of(const char *name)
{
    for (unsigned element = LOOP_I1; element < LOOP_ELEMENTS; element++) {
        const char *prefix = loop_element_name((enum loop_element)element), *rest = name + strlen(prefix);
        if (strncmp(name, prefix, strlen(prefix)))
            continue;
        const long lanes = *rest == 'x' ? strtol(rest + 1, NULL, 10) : 1;
        if ((!*rest || *rest == 'x') && lanes > 0 && lanes <= LOOP_LANES_MAX)
            return loop_type_make((enum loop_element)element, (uint32_t)lanes);
    }
    return 0;
}

static loop_type read_type(struct parser *p)
{
    char word[NAME_MAX];
    const loop_type type = type_of(take_word(&p->w, word));

    if (!type)
        wrong(&p->w, "there is no type", word);
    return type;
}

/* ---- operands ---- */

static uint64_t read_lane(struct parser *p, enum loop_element element)
{
    union scalar s = {.u64 = 0};
    char *end;

    next(&p->w);
    if (!loop_element_is_float(element) || !strncmp(p->w.at, "0x", 2)) /* these are the bits themselves */
        return loop_cut(element, (uint64_t)read_integer(p));
    if (element == LOOP_F32)
        s.f32 = strtof(p->w.at, &end);
    else
        s.f64 = strtod(p->w.at, &end);
    if (end == p->w.at)
        wrong(&p->w, "there is no number", "");
    p->w.at = end;
    return s.u64;
}

static struct loop_value *read_operand(struct parser *p)
{
    char word[NAME_MAX];
    uint64_t bits[LOOP_LANES_MAX];
    uint32_t count = 0;

    next(&p->w);
    struct loop_value *named = name_map_find(&p->names, p->w.at, word_length(p->w.at));
    const loop_type type = type_of(take_word(&p->w, word));
    if (named)
        return named;
    if (!type)
        wrong(&p->w, "there is no value", word);
    need(&p->w, "(");
    do
        bits[count++] = read_lane(p, loop_type_element(type));
    while (count < loop_type_lanes(type) && take(&p->w, ","));
    need(&p->w, ")");
    if (count > 1 && count < loop_type_lanes(type))
        wrong(&p->w, "too few numbers", "");
    for (; count < loop_type_lanes(type); count++)
        bits[count] = bits[0];
    return loop_const(&p->builder, type, bits);
}

static void read_operands(struct parser *p, struct loop_value *v)
{
    v->args = arena_array(&p->builder.module->arena, LOOP_ARGS_MAX, sizeof(struct loop_value *));
    assert_non_null(v->args);
    do {
        assert_in_range(v->arg_count, 0, LOOP_ARGS_MAX - 1);
        v->args[v->arg_count++] = read_operand(p);
    } while (take(&p->w, ","));
}

/* ---- operations ---- */

static void read_region(struct parser *p, struct loop_region *region);

static void read_lanes(struct parser *p, struct loop_value *v)
{
    uint8_t lanes[LOOP_LANES_MAX];
    uint32_t count = 0;

    need(&p->w, "lanes");
    need(&p->w, "(");
    do
        lanes[count++] = take(&p->w, "any") ? LOOP_ANY_LANE : (uint8_t)read_integer(p);
    while (count < loop_type_lanes(v->type) && take(&p->w, ","));
    need(&p->w, ")");
    assert_int_equal(count, loop_type_lanes(v->type));
    v->lanes = arena_copy(&p->builder.module->arena, lanes, count);
}

static void read_regions(struct parser *p, struct loop_value *v)
{
    v->regions = arena_array(&p->builder.module->arena, 2, sizeof *v->regions);
    assert_non_null(v->regions);
    v->regions[0].owner = v->regions[1].owner = v;
    do
        read_region(p, &v->regions[v->region_count++]);
    while (v->region_count < 2 && v->op == LOOP_IF && take(&p->w, "else"));
}

static const char *read_string(struct parser *p)
{
    need(&p->w, "\"");
    const size_t length = strcspn(p->w.at, "\"");
    const char *text = arena_string(&p->builder.module->arena, p->w.at, length);
    p->w.at += length;
    need(&p->w, "\"");
    return text;
}

static void read_call(struct parser *p, struct loop_value *v)
{
    v->callee = loop_function_find(p->builder.module, read_string(p));
    if (!v->callee)
        wrong(&p->w, "there is no function", "");
    need(&p->w, "(");
    if (next(&p->w) != ')')
        read_operands(p, v);
    need(&p->w, ")");
    if (v->op == LOOP_CALL)
        return;
    need(&p->w, "from");
    v->number = read_integer(p);
}

/* Reads what follows the name of an operation. */
static void read_rest(struct parser *p, struct loop_value *v)
{
    if (v->op == LOOP_CALL || v->op == LOOP_ARGUMENTS) {
        read_call(p, v);
        return;
    }
    if (v->op == LOOP_ADDRESS || v->op == LOOP_ARRAY || v->op == LOOP_GROUP_ARRAY)
        v->of = read_type(p);
    if (loop_op_has_number((enum loop_op)v->op))
        v->number = read_integer(p);
    if (*loop_op_rows[v->op].operands)
        read_operands(p, v);
    if (take(&p->w, "align"))
        v->number = read_integer(p);
    if (v->op == LOOP_SHUFFLE)
        read_lanes(p, v);
    for (uint32_t i = 0; v->op == LOOP_FOR && 1 << i < LOOP_FOR_NUMBERS; i++)
        v->number += take(&p->w, loop_for_words[i]) ? 1 << i : 0;
    if (v->op == LOOP_FOR || v->op == LOOP_IF || v->op == LOOP_SCOPE)
        read_regions(p, v);
}

static void read_operation(struct parser *p, struct loop_region *region)
{
    struct loop_value *v = arena_alloc(&p->builder.module->arena, sizeof *v);
    char word[NAME_MAX];

    assert_non_null(v);
    next(&p->w);
    const char *name = p->w.at;
    take_word(&p->w, word);
    if (take(&p->w, ":")) {
        v->type = read_type(p);
        need(&p->w, "=");
        if (name_map_add(&p->names, name, word_length(name), v) != NAME_MAP_ADDED)
            wrong(&p->w, "this is no new name:", word);
        take_word(&p->w, word);
    }
    for (v->op = LOOP_CONST + 1; v->op < LOOP_OP_COUNT && strcmp(loop_op_rows[v->op].name, word);)
        v->op++;
    if (v->op == LOOP_OP_COUNT)
        wrong(&p->w, "there is no operation", word);
    v->region = region;
    v->previous = region->last;
    *(region->last ? &region->last->next : &region->first) = v;
    region->last = v;
    read_rest(p, v);
    if (v->op == LOOP_PARAMETER && v->number < LOOP_PARAMETERS_MAX)
        p->builder.function->parameters[v->number] = v;
}

static void read_region(struct parser *p, struct loop_region *region)
{
    need(&p->w, "{");
    while (!take(&p->w, "}"))
        read_operation(p, region);
}

/* ---- functions ---- */

/* Reads a function up to its body, and adds it to the module unless it is there. */
static struct loop_function *read_head(struct parser *p)
{
    struct loop_module *m = p->builder.module;
    struct loop_function head = {.internal = take(&p->w, "internal")};

    head.kernel = take(&p->w, "kernel");
    if (!head.kernel)
        need(&p->w, "function");
    head.name = read_string(p);
    for (uint32_t d = 0; head.kernel && d < LOOP_DIMENSIONS && take(&p->w, d ? "," : "items"); d++)
        head.items[d] = (uint32_t)read_integer(p);
    if (!head.kernel) {
        need(&p->w, "(");
        for (; !take(&p->w, ")"); take(&p->w, ","))
            head.params[head.param_count++] = read_type(p);
        head.result = next(&p->w) == '{' ? 0 : read_type(p);
    }
    struct loop_function *f = loop_function_find(m, head.name);
    if (f)
        return f;
    f = loop_function_add(m, head.name, head.kernel ? NULL : head.params, head.param_count, head.result);
    assert_non_null(f);
    f->internal = head.internal;
    if (head.items[0])
        loop_function_set_items(f, head.items);
    return f;
}

void loop_read(struct loop_module *m, const char *text)
{
    struct parser p = {.w = {text, text}, .builder = {.module = m}};

    *m = (struct loop_module){0};
    while (next(&p.w)) { /* the functions, which others call before they are defined */
        read_head(&p);
        for (uint32_t depth = 0; *p.w.at && (!depth || *p.w.at != '}' || --depth); p.w.at++)
            depth += *p.w.at == '{';
        need(&p.w, "}");
    }
    for (p.w.at = text; next(&p.w);) {
        struct loop_function *f = read_head(&p);
        assert_true(loop_builder_begin(&p.builder, m, f));
        read_region(&p, &f->body);
        name_map_free(&p.names);
        p.names = (struct name_map){0};
    }
    assert_false(m->failed);
}
