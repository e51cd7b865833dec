/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Builds modules of the loop language.
 */
#include "ir/loop/loop_internal.h"

#include <string.h>

const struct loop_op_row loop_op_rows[LOOP_OP_COUNT] = {
#define LOOP_OP(NAME, name, operands, result) [LOOP_##NAME] = {#name, operands, LOOP_RESULT_##result, LOOP_ANYWHERE},
#define LOOP_KERNEL(NAME, name, operands, result) [LOOP_##NAME] = {#name, operands, LOOP_RESULT_##result, LOOP_IN_KERNEL},
#define LOOP_ITEMS(NAME, name, operands, result) [LOOP_##NAME] = {#name, operands, LOOP_RESULT_##result, LOOP_WITH_ITEMS},
#include "ir/loop/loop_ops.def"
};

uint32_t loop_element_bits(enum loop_element element)
{
    static const uint8_t bits[LOOP_ELEMENTS] = {0, 1, 8, 16, 32, 64, 32, 64, 64};

    return bits[element];
}

const char *loop_element_name(enum loop_element element)
{
    static const char *const names[LOOP_ELEMENTS] = {"none", "i1", "i8", "i16", "i32", "i64", "f32", "f64", "ptr"};

    return names[element];
}

/* ---- modules and functions ---- */

void loop_module_free(struct loop_module *m)
{
    arena_free(&m->arena);
    *m = (struct loop_module){0};
}

struct loop_function *loop_function_add(struct loop_module *m, const char *name, const loop_type *params, uint32_t param_count,
                                        loop_type result)
{
    const loop_type i64 = loop_type_make(LOOP_I64, 1), units[2] = {i64, i64};
    struct loop_function *f = arena_alloc(&m->arena, sizeof *f);
    char *copy = arena_string(&m->arena, name, strlen(name));

    if (!f || !copy) {
        m->failed = true;
        return NULL;
    }
    *f = (struct loop_function){.name = copy, .module = m, .kernel = !params, .result = result};
    f->param_count = params ? param_count : 2;
    memcpy(f->params, params ? params : units, f->param_count * sizeof *f->params);
    if (m->last)
        m->last->next = f;
    else
        m->first = f;
    m->last = f;
    return f;
}

void loop_function_set_items(struct loop_function *f, const uint32_t items[LOOP_DIMENSIONS])
{
    memcpy(f->items, items, sizeof f->items);
    f->param_count = 0;
}

struct loop_function *loop_function_find(const struct loop_module *m, const char *name)
{
    for (struct loop_function *f = m->first; f; f = f->next)
        if (!strcmp(f->name, name))
            return f;
    return NULL;
}

bool loop_builder_begin(struct loop_builder *b, struct loop_module *m, struct loop_function *f)
{
    *b = (struct loop_builder){
        .module = m, .function = f, .at = &b->tail, .tail = {.region = f ? &f->body : NULL, .at_end = true}};
    b->spare = arena_alloc(&m->arena, sizeof *b->spare);
    struct loop_region *regions = arena_array(&m->arena, 2, sizeof *regions);
    if (!f || !b->spare || !regions) {
        m->failed = true;
        return false;
    }
    *b->spare = (struct loop_value){.op = LOOP_NUMBER, .type = loop_type_make(LOOP_I64, 1), .regions = regions};
    regions[0].owner = regions[1].owner = b->spare;
    b->spare->region = &f->body;
    return true;
}

/* ---- operations ---- */

/* Puts an operation where the builder is. */
static void place(struct loop_builder *b, struct loop_value *v)
{
    struct loop_place *at = b->at;
    struct loop_region *region = at->region;
    struct loop_value *before = at->at_end ? region->last : at->after, *after = before ? before->next : region->first;

    v->region = region;
    v->previous = before;
    v->next = after;
    *(before ? &before->next : &region->first) = v;
    *(after ? &after->previous : &region->last) = v;
    at->after = v;
}

static struct loop_value *fail(struct loop_builder *b)
{
    b->module->failed = true;
    return b->spare;
}

static struct loop_value *make(struct loop_builder *b, const struct loop_value *like)
{
    struct loop_value *v = arena_copy(&b->module->arena, like, sizeof *v);

    if (v && v->arg_count)
        v->args = arena_copy(&b->module->arena, v->args, v->arg_count * sizeof(struct loop_value *));
    return v && (v->args || !v->arg_count) ? v : NULL;
}

struct loop_value *loop_const(struct loop_builder *b, loop_type type, const uint64_t *bits)
{
    const size_t bytes = loop_type_lanes(type) * sizeof *bits;
    const uint64_t hash = hash_mix(hash_bytes(bits, bytes), type);
    struct table *t = &b->module->constants;
    struct table_entry *e;

    if (!table_reserve(t, &b->module->arena, t->count + 1))
        return fail(b);
    for (e = table_next(t, hash, NULL); e->item; e = table_next(t, hash, e)) {
        const struct loop_value *known = e->item;
        if (known->type == type && !memcmp(known->bits, bits, bytes))
            return (struct loop_value *)known;
    }
    struct loop_value *v = make(b, &(struct loop_value){.op = LOOP_CONST, .type = type});
    if (!v || !(v->bits = arena_copy(&b->module->arena, bits, bytes)))
        return fail(b);
    table_put(t, e, hash, v);
    return v;
}

/* Returns the constant that an operation on constants is, or NULL if it is none. */
static struct loop_value *fold(struct loop_builder *b, enum loop_op op, loop_type type, struct loop_value *const *args,
                               uint32_t arg_count)
{
    const uint32_t lanes = loop_type_lanes(type);
    uint64_t bits[LOOP_LANES_MAX];

    if (op == LOOP_FENCE || !arg_count || arg_count > 3)
        return NULL;
    for (uint32_t i = 0; i < arg_count; i++)
        if (args[i]->op != LOOP_CONST)
            return NULL;
    const enum loop_element from = loop_type_element(args[op == LOOP_SELECT]->type);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        uint64_t of[3] = {0};

        for (uint32_t i = 0; i < arg_count; i++)
            of[i] = args[i]->bits[loop_type_lanes(args[i]->type) == 1 ? 0 : lane];
        if (op == LOOP_SPLAT)
            bits[lane] = of[0];
        else if (loop_type_lanes(args[0]->type) > lanes || !loop_scalar(op, loop_type_element(type), from, of, &bits[lane]))
            return NULL;
    }
    return lanes ? loop_const(b, type, bits) : NULL;
}

loop_type loop_result_type(enum loop_op op, loop_type given, struct loop_value *const *args)
{
    switch (loop_op_rows[op].result) {
    case LOOP_RESULT_SAME:
        return args[0]->type;
    case LOOP_RESULT_SECOND:
        return args[1]->type;
    case LOOP_RESULT_CONDITION:
        return loop_type_make(LOOP_I1, loop_type_lanes(args[0]->type));
    case LOOP_RESULT_ELEMENT:
        return loop_type_make(loop_type_element(args[0]->type), 1);
    case LOOP_RESULT_NONE:
        return 0;
    default:
        return given;
    }
}

/* Returns the operand or constant that an operation on integers is, or NULL. */
static struct loop_value *simplify(const struct loop_value *v)
{
    uint64_t x = 2, y = 2;

    if (v->arg_count != 2 || !loop_element_is_int(loop_type_element(v->args[1]->type)))
        return NULL;
    const bool has_x = loop_is_splat(v->args[0], &x), has_y = loop_is_splat(v->args[1], &y);
    if (v->op == LOOP_MUL && ((has_x && !x) || (has_y && !y)))
        return has_x && !x ? v->args[0] : v->args[1];
    if ((v->op == LOOP_ADD && has_x && !x) || (v->op == LOOP_MUL && has_x && x == 1))
        return v->args[1];
    if (((v->op == LOOP_ADD || v->op == LOOP_SUB) && has_y && !y) || (v->op == LOOP_MUL && has_y && y == 1))
        return v->args[0];
    return NULL;
}

/* Returns whether an operation gives the same wherever its operands are known. */
static bool is_pure(const struct loop_value *v)
{
    return v->op <= LOOP_ADDRESS && v->op != LOOP_FENCE;
}

/* Returns whether a value is known where the builder is. */
static bool is_known(const struct loop_builder *b, const struct loop_value *v)
{
    const struct loop_place *at = b->at;

    if (v->region == at->region && !at->at_end) {
        const struct loop_value *before = at->after;
        while (before && before != v)
            before = before->previous;
        return before != NULL;
    }
    for (const struct loop_region *r = at->region; r; r = r->owner ? r->owner->region : NULL)
        if (r == v->region)
            return true;
    return false;
}

static bool is_same(const struct loop_value *v, const struct loop_value *w)
{
    return v->op == w->op && v->type == w->type && v->of == w->of && v->number == w->number && v->arg_count == w->arg_count &&
           (!v->arg_count || !memcmp(v->args, w->args, v->arg_count * sizeof(struct loop_value *))) &&
           (v->op != LOOP_SHUFFLE || !memcmp(v->lanes, w->lanes, loop_type_lanes(v->type)));
}

/* Adds an operation, or returns a value that is the same. */
static struct loop_value *add(struct loop_builder *b, const struct loop_value *wanted)
{
    struct table *t = &b->values;
    struct table_entry *e = NULL;
    uint64_t hash = wanted->op;
    struct loop_value *v = simplify(wanted);

    if (v)
        return v;
    if (is_pure(wanted)) {
        hash = hash_mix(hash_mix(hash, wanted->type), (uint64_t)wanted->number);
        for (uint32_t i = 0; i < wanted->arg_count; i++)
            hash = hash_mix(hash, (uintptr_t)wanted->args[i]);
        if (!table_reserve(t, &b->module->arena, t->count + 1))
            return fail(b);
        for (e = table_next(t, hash, NULL); e->item; e = table_next(t, hash, e))
            if (is_same(e->item, wanted) && is_known(b, e->item))
                return (struct loop_value *)e->item;
    }
    if (!(v = make(b, wanted)))
        return fail(b);
    if (v->op == LOOP_SHUFFLE && !(v->lanes = arena_copy(&b->module->arena, v->lanes, loop_type_lanes(v->type))))
        return fail(b);
    if (e)
        table_put(t, e, hash, v);
    place(b, v);
    return v;
}

struct loop_value *loop_add(struct loop_builder *b, enum loop_op op, loop_type type, struct loop_value *const *args,
                            uint32_t arg_count, int64_t number)
{
    type = loop_result_type(op, type, args);
    struct loop_value *v = fold(b, op, type, args, arg_count);

    return v ? v
             : add(b, &(struct loop_value){.op = (uint8_t)op,
                                           .type = type,
                                           .arg_count = arg_count,
                                           .args = (struct loop_value **)args,
                                           .number = number});
}

struct loop_value *loop_shuffle(struct loop_builder *b, struct loop_value *x, struct loop_value *y, const uint8_t *lanes,
                                uint32_t count)
{
    return add(b, &(struct loop_value){.op = LOOP_SHUFFLE,
                                       .type = loop_type_make(loop_type_element(x->type), count),
                                       .arg_count = y ? 2 : 1,
                                       .args = (struct loop_value *[2]){x, y},
                                       .lanes = lanes});
}

struct loop_value *loop_address(struct loop_builder *b, loop_type of, struct loop_value *pointer, struct loop_value *index)
{
    return add(b, &(struct loop_value){.op = LOOP_ADDRESS,
                                       .type = loop_type_make(LOOP_PTR, loop_type_lanes(index->type)),
                                       .of = of,
                                       .arg_count = 2,
                                       .args = (struct loop_value *[2]){pointer, index}});
}

static struct loop_value *add_callee(struct loop_builder *b, enum loop_op op, loop_type type, struct loop_function *f,
                                     struct loop_value *const *args, uint32_t arg_count, int64_t number)
{
    return f ? add(b, &(struct loop_value){.op = (uint8_t)op,
                                           .type = type,
                                           .arg_count = arg_count,
                                           .args = (struct loop_value **)args,
                                           .number = number,
                                           .callee = f})
             : fail(b);
}

struct loop_value *loop_call(struct loop_builder *b, struct loop_function *f, struct loop_value *const *args)
{
    return add_callee(b, LOOP_CALL, f ? f->result : 0, f, args, f ? f->param_count : 0, 0);
}

/* Adds what holds for all of the function. */
static struct loop_value *add_at_beginning(struct loop_builder *b, enum loop_op op, loop_type type, int64_t number)
{
    struct loop_place first = {.region = &b->function->body}, *here = b->at;

    b->at = &first;
    struct loop_value *v = loop_add(b, op, type, NULL, 0, number);
    b->at = here;
    return v;
}

struct loop_value *loop_arguments(struct loop_builder *b, struct loop_function *f, struct loop_value *const *args,
                                  uint32_t arg_count, int64_t first_number)
{
    return add_callee(b, LOOP_ARGUMENTS, loop_type_make(LOOP_PTR, 1), f, args, arg_count, first_number);
}

struct loop_value *loop_parameter(struct loop_builder *b, uint32_t i)
{
    struct loop_value **p = &b->function->parameters[i];

    if (!*p)
        *p = add_at_beginning(b, LOOP_PARAMETER, b->function->params[i], i);
    return *p;
}

struct loop_value *loop_slot(struct loop_builder *b, loop_type type)
{
    return add_at_beginning(b, LOOP_SLOT, type, 0);
}

struct loop_value *loop_array(struct loop_builder *b, enum loop_op op, loop_type type, int64_t bytes)
{
    struct loop_value *v = add_at_beginning(b, op, loop_type_make(LOOP_PTR, 1), bytes);

    v->of = type;
    return v;
}

/* ---- control ---- */

static struct loop_value *begin(struct loop_builder *b, enum loop_op op, struct loop_value *const *args, uint32_t arg_count,
                                int64_t number)
{
    b->at = &b->tail;
    struct loop_value *v = loop_add(b, op, 0, args, arg_count, number);
    struct loop_region *regions = arena_array(&b->module->arena, 2, sizeof *regions);
    if (v == b->spare || !regions) {
        b->tail.region = b->spare->regions;
        return fail(b);
    }
    v->regions = regions;
    v->region_count = 1;
    regions[0].owner = regions[1].owner = v;
    b->tail.region = &regions[0];
    return v;
}

void loop_end(struct loop_builder *b)
{
    struct loop_value *owner = b->tail.region->owner;

    b->at = &b->tail;
    if (owner)
        b->tail.region = owner->region;
}

struct loop_value *loop_for_begin(struct loop_builder *b, struct loop_value *from, struct loop_value *to, int64_t flags)
{
    return begin(b, LOOP_FOR, (struct loop_value *[2]){from, to}, 2, flags);
}

void loop_for_end(struct loop_builder *b, struct loop_value *step)
{
    b->at = &b->tail;
    loop_add(b, LOOP_NEXT, 0, &step, 1, 0);
    loop_end(b);
}

void loop_scope_begin(struct loop_builder *b)
{
    begin(b, LOOP_SCOPE, NULL, 0, 0);
}

void loop_if_begin(struct loop_builder *b, struct loop_value *condition)
{
    begin(b, LOOP_IF, &condition, 1, 0);
}

void loop_else(struct loop_builder *b)
{
    struct loop_value *owner = b->tail.region->owner;

    b->at = &b->tail;
    if (!owner || b->module->failed)
        return;
    owner->region_count = 2;
    b->tail.region = &owner->regions[1];
}

/* ---- unused values ---- */

static void sweep_region(struct loop_region *region)
{
    for (struct loop_value *v = region->last; v; v = v->previous) {
        for (uint32_t i = v->region_count; i > 0; i--)
            sweep_region(&v->regions[i - 1]);
        if (v->serial || v->op == LOOP_PARAMETER || !(is_pure(v) || v->op == LOOP_STOPPED))
            continue;
        for (uint32_t i = 0; i < v->arg_count; i++)
            v->args[i]->serial--;
        *(v->previous ? &v->previous->next : &region->first) = v->next;
        *(v->next ? &v->next->previous : &region->last) = v->previous;
    }
}

/* Sets the serial of all operations, and of their operands, which may be constants, to 0. */
static void forget_uses(struct loop_function *f)
{
    for (struct loop_value *v = loop_walk(f, NULL); v; v = loop_walk(f, v)) {
        v->serial = 0;
        for (uint32_t i = 0; i < v->arg_count; i++)
            v->args[i]->serial = 0;
    }
}

void loop_sweep(struct loop_function *f)
{
    forget_uses(f);
    for (struct loop_value *v = loop_walk(f, NULL); v; v = loop_walk(f, v))
        for (uint32_t i = 0; i < v->arg_count; i++)
            v->args[i]->serial++;
    sweep_region(&f->body);
    forget_uses(f);
}
