/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loop_verify checks these invariants.  Its message has a line for each operation that violates one, as many as there is room
 * for, which ends with the operation's text.
 *
 * Functions
 * - Each has a unique name.  Calls are not recursive.
 * - A function with a result ends with its RETURN, and there is no other; one without a result has none.
 * - Only kernels have tensors, numbers and scratch memory, write to memory and call kernels.
 * - Only kernels with items, of which a group has 4096 at most, have items' and groups' numbers, arrays of groups and barriers,
 *   and nothing calls them.  They call no kernels.
 * - Parameters, slots and arrays are in the function's body itself, not in a region inside of it.
 * Operations
 * - There are as many operands as the row says.  Each is a constant, or stands before the operation, in its region or in one
 *   around that.
 * - The value of a FOR is used inside of it; STOPPED, which is outside, names it.  A slot is used by GET and SET only, and
 *   ARGUMENTS by CALL_KERNEL only.
 * - Operands have the types that the letters say: those of the same letter n, i, f or v are of one type; conditions have the
 *   lanes that they choose for.  Results have the type that the row says, or one of those that a comment there says.
 * - A FOR counts with one lane of an integer, and ends with its NEXT, of the same type; a NEXT is nowhere else.  Whole steps
 *   are a constant.  The condition of an IF has one lane.
 * - Alignments are powers of two up to 64.  Lanes of a SHUFFLE are lanes of its operands.
 */
#include "ir/loop/loop_internal.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS_DEEP = 8, CALLS_MAX = 1 << 16 };

struct verifier {
    const struct loop_module *m;
    const struct loop_function *f;
    const struct loop_value *v; /* the operation that is checked */
    struct error *e;
};

#define VIOLATION(...) loop_complain(c->e, c->f, c->v, __VA_ARGS__)

/* ---- types ---- */

enum { POINTER = LOOP_PTR << 8 | 1 };

static enum loop_element element_of(loop_type type)
{
    return loop_type_element(type);
}

static bool same_lanes(loop_type a, loop_type b)
{
    return loop_type_lanes(a) == loop_type_lanes(b);
}

static uint32_t bits_of(loop_type type)
{
    return loop_element_bits(element_of(type)) * loop_type_lanes(type);
}

/* Returns whether the type has that element, and so many times the lanes of another one over divisor. */
static bool is_part(loop_type type, enum loop_element element, loop_type of, uint32_t factor, uint32_t divisor)
{
    return element_of(type) == element && loop_type_lanes(type) * divisor == loop_type_lanes(of) * factor;
}

static bool is_stored(loop_type type)
{
    return type && element_of(type) != LOOP_I1 && element_of(type) != LOOP_PTR;
}

static bool fits_letter(char letter, loop_type type)
{
    const enum loop_element element = element_of(type);

    switch (letter) {
    case 'n':
        return loop_element_is_int(element) || loop_element_is_float(element);
    case 'i':
        return loop_element_is_int(element);
    case 'w':
        return element == LOOP_I32;
    case 'f':
        return loop_element_is_float(element);
    case 'c':
        return element == LOOP_I1;
    case 'p':
        return element == LOOP_PTR;
    case 'k':
        return type == loop_type_make(LOOP_I64, 1);
    default:
        return type != 0;
    }
}

/* ---- operands ---- */

static bool is_inside(const struct loop_region *region, const struct loop_value *v)
{
    const struct loop_region *g = v->region;

    while (g && g != region)
        g = g->owner ? g->owner->region : NULL;
    return g == region;
}

static bool check_place(struct verifier *c, uint32_t i, char letter)
{
    const struct loop_value *x = c->v->args[i];

    if (x->op == LOOP_CONST)
        return letter != 's' && letter != 'l' ? true : VIOLATION("operand %u is a constant", i);
    if (!is_inside(x->region, c->v) || x->serial >= c->v->serial)
        return VIOLATION("operand %u has not been computed", i);
    if ((letter == 's') != (x->op == LOOP_SLOT))
        return VIOLATION("operand %u is %s slot", i, letter == 's' ? "no" : "a");
    if ((c->v->op == LOOP_CALL_KERNEL && !i) != (x->op == LOOP_ARGUMENTS))
        return VIOLATION("operand %u is %s", i, x->op == LOOP_ARGUMENTS ? "a kernel's arguments" : "no kernel's arguments");
    if (letter == 'l' && c->v->op == LOOP_STOPPED && x->op != LOOP_FOR)
        return VIOLATION("operand %u is not a for", i);
    if (x->op == LOOP_FOR && is_inside(&x->regions[0], c->v) != (c->v->op != LOOP_STOPPED))
        return VIOLATION("operand %u is a for that is %s", i, letter == 'l' ? "not over" : "over");
    return true;
}

static bool check_operands(struct verifier *c)
{
    const char *letters = loop_op_rows[c->v->op].operands;
    const size_t count = strcspn(letters, "*");
    loop_type types[128] = {0};

    if (c->v->arg_count < count || (c->v->arg_count > count && letters[count] != '*'))
        return VIOLATION("%u operands instead of %zu", c->v->arg_count, count);
    for (uint32_t i = 0; i < c->v->arg_count; i++) {
        const unsigned char letter = i < count ? (unsigned char)letters[i] : '*';
        const loop_type type = c->v->args[i]->type;
        if (!check_place(c, i, (char)letter))
            return false;
        if (!fits_letter((char)letter, type))
            return VIOLATION("operand %u has a type that it may not have", i);
        if (strchr("nifwv", letter) && types[letter] && types[letter] != type)
            return VIOLATION("operand %u has another type than one before", i);
        types[letter] = type;
    }
    return true;
}

/* ---- operations by their rows ---- */

static bool check_result(struct verifier *c)
{
    const struct loop_value *v = c->v;
    const loop_type type = v->type;

    if (loop_op_rows[v->op].result == LOOP_RESULT_GIVEN && v->op != LOOP_CALL &&
        (!type || element_of(type) >= LOOP_ELEMENTS || !loop_type_lanes(type) || loop_type_lanes(type) > LOOP_LANES_MAX))
        return VIOLATION("there is no such type");
    return loop_result_type((enum loop_op)v->op, type, v->args) == type ||
           VIOLATION("the result has another type than the row says");
}

/* Returns whether all lanes of a shuffle are some of its operands'. */
static bool has_lanes(const struct loop_value *v)
{
    for (uint32_t i = 0; i < loop_type_lanes(v->type); i++)
        if (v->lanes[i] != LOOP_ANY_LANE && v->lanes[i] >= loop_type_lanes(v->args[0]->type) * v->arg_count)
            return false;
    return true;
}

/* Returns whether an access is aligned to a power of two, and has as many addresses and conditions as its value wants. */
static bool fits_access(const struct loop_value *v)
{
    const bool stores = !v->type, lanewise = v->op == LOOP_GATHER || v->op == LOOP_SCATTER;
    const loop_type type = stores ? v->args[0]->type : v->type;
    const struct loop_value *mask = v->arg_count == 1u + stores ? NULL : v->args[1 + stores];

    return v->number >= 1 && v->number <= 64 && !(v->number & (v->number - 1)) && is_stored(type) &&
           loop_type_lanes(v->args[stores]->type) == (lanewise ? loop_type_lanes(type) : 1) &&
           (!mask || same_lanes(mask->type, type)) && (v->op != LOOP_LOAD_MASKED || v->args[2]->type == type);
}

/* Returns whether a call, or the arguments of one, are what a function of the module wants that may be called like this. */
static bool fits_callee(const struct verifier *c)
{
    const struct loop_value *v = c->v;
    const struct loop_function *f = v->callee;
    const bool calls = v->op == LOOP_CALL;
    bool fits = f->module == c->m && f->kernel != calls && !f->items[0] && (calls || !c->f->items[0]) &&
                (calls ? v->arg_count == f->param_count && v->type == f->result
                       : v->arg_count && v->type == POINTER && v->number >= 0 && v->number <= INT32_MAX);

    for (uint32_t i = 0; fits && i < v->arg_count; i++)
        fits = v->args[i]->type == (calls ? f->params[i] : POINTER);
    return fits;
}

/* Returns whether an operation has types, a number and regions that its row allows beyond what the letters say. */
static bool fits_row(const struct verifier *c)
{
    const struct loop_value *v = c->v, *owner = v->region->owner, *last = v->op == LOOP_FOR ? v->regions[0].last : NULL;
    const loop_type a = v->arg_count ? v->args[0]->type : 0, b = v->arg_count > 1 ? v->args[1]->type : 0, r = v->type,
                    index[2] = {loop_type_make(LOOP_I64, 1), loop_type_make(LOOP_I32, 1)};
    const enum loop_element from = element_of(a), to = element_of(r);
    const uint32_t lanes = loop_type_lanes(a);
    const bool same = same_lanes(a, r), in_body = v->region == &c->f->body;
    const bool smaller = loop_element_bits(to) < loop_element_bits(from);
    const bool larger = loop_element_bits(to) > loop_element_bits(from), parts = bits_of(a) % 128 == 0;

    switch (v->op) {
#define LOOP_OP(NAME, name, operands, result)
#define LOOP_CONVERT(NAME, name, operands, fits, value)                                                                        \
    case LOOP_##NAME:                                                                                                          \
        return fits;
#include "ir/loop/loop_ops.def"
    case LOOP_PARAMETER:
        return v->number < c->f->param_count && r == c->f->params[v->number] && in_body;
    case LOOP_NUMBER:
    case LOOP_ITEM:
    case LOOP_GROUP:
        return (r == index[0] || r == index[1]) && (v->op == LOOP_NUMBER || v->number < LOOP_DIMENSIONS);
    case LOOP_TENSOR:
    case LOOP_SCRATCH:
        return r == POINTER;
    case LOOP_ARRAY:
    case LOOP_GROUP_ARRAY:
        return r == POINTER && in_body && is_stored(v->of) && v->number >= 1 && v->number <= INT32_MAX;
    case LOOP_SLOT:
        return in_body;
    case LOOP_SELECT:
        return lanes == 1 || same;
    case LOOP_SHUFFLE:
        return (v->arg_count == 1 || (v->arg_count == 2 && b == a)) && to == from && has_lanes(v);
    case LOOP_PERMUTE:
    case LOOP_PERMUTE2:
        return b == loop_type_make(LOOP_I32, lanes) && !(lanes & (lanes - 1));
    case LOOP_ADDRESS:
        return is_stored(v->of) && element_of(v->of) < LOOP_ELEMENTS && lanes == 1 && element_of(b) != LOOP_I1 &&
               r == loop_type_make(LOOP_PTR, loop_type_lanes(b));
    case LOOP_LOAD:
    case LOOP_LOAD_MASKED:
    case LOOP_GATHER:
    case LOOP_STORE:
    case LOOP_STORE_MASKED:
    case LOOP_SCATTER:
        return fits_access(v);
    case LOOP_GET:
        return r == a;
    case LOOP_SET:
        return b == a;
    case LOOP_ALIGNED:
        return r == loop_type_make(LOOP_I1, 1) && v->number > 0;
    case LOOP_MATRIX_LOAD:
        return r == loop_type_make(LOOP_I32, 4) && v->number >> 1 == 0;
    case LOOP_MATRIX_MULTIPLY:
        return r == loop_type_make(LOOP_F32, 4) && b == loop_type_make(LOOP_I32, 4) && v->number >> 1 == 0;
    case LOOP_FOR:
        return loop_type_lanes(r) == 1 && to != LOOP_I1 && v->region_count == 1 && v->number >= 0 &&
               v->number < LOOP_FOR_NUMBERS && last && last->op == LOOP_NEXT &&
               (!(v->number & LOOP_WHOLE_STEPS) || last->args[0]->op == LOOP_CONST);
    case LOOP_NEXT:
        return owner && owner->op == LOOP_FOR && !v->next && a == owner->type;
    case LOOP_SCOPE:
        return v->region_count == 1;
    case LOOP_IF:
        return lanes == 1 && (v->region_count == 1 || v->region_count == 2);
    case LOOP_RETURN:
        return in_body && !v->next && c->f->result == a;
    case LOOP_CALL:
    case LOOP_ARGUMENTS:
        return fits_callee(c);
    default:
        return true;
    }
}

static bool check_operation(struct verifier *c)
{
    const struct loop_op_row *row = &loop_op_rows[c->v->op];

    if (row->where == LOOP_IN_KERNEL && !c->f->kernel)
        return VIOLATION("only a kernel may do this");
    if (row->where == LOOP_WITH_ITEMS && !c->f->items[0])
        return VIOLATION("only a kernel with items may do this");
    return fits_row(c) || VIOLATION("its types, number or regions are not what the operation takes");
}

/* ---- functions ---- */

static void check_function(struct verifier *c)
{
    const struct loop_value *last = c->f->body.last;

    loop_number(c->f);
    c->v = NULL;
    if (loop_function_find(c->m, c->f->name) != c->f)
        VIOLATION("there are two functions of this name");
    if (c->f->items[0] && (!c->f->kernel || (uint64_t)c->f->items[0] * c->f->items[1] * c->f->items[2] > LOOP_ITEMS_MAX))
        VIOLATION("a group has %d items at most", LOOP_ITEMS_MAX);
    if (c->f->result && (!last || last->op != LOOP_RETURN))
        VIOLATION("there is a result, and no return at the end");
    for (c->v = loop_walk(c->f, NULL); c->v; c->v = loop_walk(c->f, c->v)) {
        if (c->v->op == LOOP_CONST || c->v->op >= LOOP_OP_COUNT)
            VIOLATION("it is no operation");
        else if (check_operands(c) && check_result(c))
            check_operation(c);
    }
}

/* Returns whether calls from a function lie more than so many deep, as they do where they lead back, or are more than *left. */
static bool calls_too_much(const struct loop_function *f, uint32_t most, uint32_t *left)
{
    for (const struct loop_value *v = loop_walk(f, NULL); v; v = loop_walk(f, v))
        if ((v->op == LOOP_CALL || v->op == LOOP_ARGUMENTS) &&
            (!most || !*left || (--*left, calls_too_much(v->callee, most - 1, left))))
            return true;
    return false;
}

bool loop_verify(const struct loop_module *m, struct error *e)
{
    struct verifier c = {.m = m, .e = e};

    if (m->failed)
        return error_out_of_memory(e);
    for (c.f = m->first; c.f; c.f = c.f->next)
        check_function(&c);
    for (const struct loop_function *f = m->first; f && !e->status; f = f->next) {
        uint32_t left = CALLS_MAX;
        if (calls_too_much(f, CALLS_DEEP, &left))
            loop_complain(e, f, NULL, "its calls are recursive, nested more than %d deep, or more than %d", CALLS_DEEP,
                          CALLS_MAX);
    }
    return !e->status;
}
