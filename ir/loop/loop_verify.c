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

/* Returns whether an operation has types that its row allows beyond what the letters say. */
static bool fits_row(const struct loop_value *v)
{
    const loop_type a = v->arg_count ? v->args[0]->type : 0, b = v->arg_count > 1 ? v->args[1]->type : 0, r = v->type;
    const enum loop_element from = element_of(a), to = element_of(r);
    const uint32_t lanes = loop_type_lanes(a);
    const bool same = same_lanes(a, r),
               smaller = loop_element_bits(to)<loop_element_bits(from), larger = loop_element_bits(to)> loop_element_bits(from),
               parts = bits_of(a) % 128 == 0;

    switch (v->op) {
#define LOOP_OP(NAME, name, operands, result)
#define LOOP_CONVERT(NAME, name, operands, fits, value)                                                                        \
    case LOOP_##NAME:                                                                                                          \
        return fits;
#include "ir/loop/loop_ops.def"
    case LOOP_SELECT:
        return lanes == 1 || same;
    case LOOP_PERMUTE:
    case LOOP_PERMUTE2:
        return b == loop_type_make(LOOP_I32, lanes) && !(lanes & (lanes - 1));
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
    default:
        return true;
    }
}

static bool check_shuffle(struct verifier *c)
{
    const struct loop_value *v = c->v;
    const loop_type a = v->args[0]->type;

    if (v->arg_count > 2 || (v->arg_count == 2 && v->args[1]->type != a) || element_of(v->type) != element_of(a))
        return VIOLATION("operands and result of a shuffle have different elements, or the operands different lanes");
    for (uint32_t i = 0; i < loop_type_lanes(v->type); i++)
        if (v->lanes[i] != LOOP_ANY_LANE && v->lanes[i] >= loop_type_lanes(a) * v->arg_count)
            return VIOLATION("there is no lane %u", v->lanes[i]);
    return true;
}

static bool check_access(struct verifier *c)
{
    const struct loop_value *v = c->v;
    const bool stores = !v->type;
    const loop_type type = stores ? v->args[0]->type : v->type, pointer = v->args[stores]->type;
    const bool lanewise = v->op == LOOP_GATHER || v->op == LOOP_SCATTER;
    const struct loop_value *mask = v->arg_count == 1u + stores ? NULL : v->args[1 + stores];

    if (v->number < 1 || v->number > 64 || v->number & (v->number - 1))
        return VIOLATION("the alignment is not a power of two up to 64");
    if (!is_stored(type))
        return VIOLATION("conditions and addresses are not in memory");
    if (loop_type_lanes(pointer) != (lanewise ? loop_type_lanes(type) : 1))
        return VIOLATION("there are %u addresses", loop_type_lanes(pointer));
    if (mask && !same_lanes(mask->type, type))
        return VIOLATION("the condition has other lanes than the value");
    if (v->op == LOOP_LOAD_MASKED && v->args[2]->type != type)
        return VIOLATION("the lanes that are not read have another type");
    return true;
}

static bool check_address(struct verifier *c)
{
    const struct loop_value *v = c->v;
    const uint32_t lanes = loop_type_lanes(v->args[1]->type);

    if (!is_stored(v->of) || element_of(v->of) >= LOOP_ELEMENTS)
        return VIOLATION("it counts nothing that is in memory");
    if (v->type != loop_type_make(LOOP_PTR, lanes) || element_of(v->args[1]->type) == LOOP_I1)
        return VIOLATION("there are not as many addresses as numbers");
    return loop_type_lanes(v->args[0]->type) == 1 || VIOLATION("there is more than one address to begin at");
}

/* Checks operations that say what the function is called with, or has for itself. */
static bool check_own(struct verifier *c)
{
    const struct loop_value *v = c->v;
    const loop_type pointer = loop_type_make(LOOP_PTR, 1);

    if (v->op == LOOP_PARAMETER && (v->number >= c->f->param_count || v->type != c->f->params[v->number]))
        return VIOLATION("there is no parameter of this number and type");
    const bool index = v->op == LOOP_NUMBER || v->op == LOOP_ITEM || v->op == LOOP_GROUP;
    const bool array = v->op == LOOP_ARRAY || v->op == LOOP_GROUP_ARRAY;
    if (index && v->op != LOOP_NUMBER && v->number >= LOOP_DIMENSIONS)
        return VIOLATION("there is no such dimension");
    if (index ? v->type != loop_type_make(LOOP_I64, 1) && v->type != loop_type_make(LOOP_I32, 1)
              : v->op != LOOP_PARAMETER && v->op != LOOP_SLOT && v->type != pointer)
        return VIOLATION("the result has another type than the row says");
    if ((v->op == LOOP_PARAMETER || v->op == LOOP_SLOT || array) && v->region != &c->f->body)
        return VIOLATION("it is inside of a region");
    if (array && (!is_stored(v->of) || v->number < 1 || v->number > INT32_MAX))
        return VIOLATION("an array has 1 to 2147483647 bytes, aligned like what is in memory");
    return true;
}

static bool check_control(struct verifier *c)
{
    const struct loop_value *v = c->v;
    const struct loop_value *owner = v->region->owner;
    const struct loop_value *last = v->op == LOOP_FOR ? v->regions[0].last : NULL;

    switch (v->op) {
    case LOOP_FOR:
        if (loop_type_lanes(v->type) != 1 || v->type == loop_type_make(LOOP_I1, 1) || v->region_count != 1)
            return VIOLATION("a for counts with one integer, and has one region");
        if (v->number < 0 || v->number >= LOOP_FOR_NUMBERS)
            return VIOLATION("it uses numbers that do not exist");
        if (!last || last->op != LOOP_NEXT)
            return VIOLATION("its region does not end with a next");
        return !(v->number & LOOP_WHOLE_STEPS) || last->args[0]->op == LOOP_CONST || VIOLATION("whole steps are a constant");
    case LOOP_NEXT:
        return (owner && owner->op == LOOP_FOR && !v->next && v->args[0]->type == owner->type) ||
               VIOLATION("it does not end a for of its type");
    case LOOP_SCOPE:
        return v->region_count == 1 || VIOLATION("it has %u regions", v->region_count);
    case LOOP_IF:
        return (loop_type_lanes(v->args[0]->type) == 1 && (v->region_count == 1 || v->region_count == 2)) ||
               VIOLATION("an if has a condition of one lane, and one or two regions");
    default:
        return (v->region == &c->f->body && !v->next && c->f->result == v->args[0]->type) ||
               VIOLATION("it does not end a function with such a result");
    }
}

static bool check_call(struct verifier *c)
{
    const struct loop_value *v = c->v;
    const struct loop_function *f = v->callee;

    if (f->module != c->m || f->kernel != (v->op == LOOP_ARGUMENTS) || f->items[0] || (f->kernel && c->f->items[0]))
        return VIOLATION("it calls no function of the module that may be called like this");
    if (v->op == LOOP_CALL && (v->arg_count != f->param_count || v->type != f->result))
        return VIOLATION("the function has other parameters, or another result");
    if (v->op == LOOP_ARGUMENTS &&
        (!v->arg_count || v->type != loop_type_make(LOOP_PTR, 1) || v->number < 0 || v->number > INT32_MAX))
        return VIOLATION("a kernel's arguments are its tensors and scratch memory");
    for (uint32_t i = 0; i < v->arg_count; i++)
        if (v->args[i]->type != (v->op == LOOP_CALL ? f->params[i] : loop_type_make(LOOP_PTR, 1)))
            return VIOLATION("operand %u has another type than the parameter", i);
    return true;
}

static bool check_operation(struct verifier *c)
{
    static bool (*const checks[LOOP_OP_COUNT])(struct verifier *c) = {
        [LOOP_PARAMETER] = check_own,       [LOOP_NUMBER] = check_own,      [LOOP_TENSOR] = check_own,
        [LOOP_SCRATCH] = check_own,         [LOOP_ITEM] = check_own,        [LOOP_GROUP] = check_own,
        [LOOP_ARRAY] = check_own,           [LOOP_GROUP_ARRAY] = check_own, [LOOP_SLOT] = check_own,
        [LOOP_SHUFFLE] = check_shuffle,     [LOOP_ADDRESS] = check_address, [LOOP_LOAD] = check_access,
        [LOOP_LOAD_MASKED] = check_access,  [LOOP_GATHER] = check_access,   [LOOP_STORE] = check_access,
        [LOOP_STORE_MASKED] = check_access, [LOOP_SCATTER] = check_access,  [LOOP_FOR] = check_control,
        [LOOP_NEXT] = check_control,        [LOOP_SCOPE] = check_control,   [LOOP_IF] = check_control,
        [LOOP_RETURN] = check_control,      [LOOP_CALL] = check_call,       [LOOP_ARGUMENTS] = check_call};
    const uint8_t op = c->v->op;

    if (loop_op_rows[op].where == LOOP_IN_KERNEL && !c->f->kernel)
        return VIOLATION("only a kernel may do this");
    if (loop_op_rows[op].where == LOOP_WITH_ITEMS && !c->f->items[0])
        return VIOLATION("only a kernel with items may do this");
    if (!fits_row(c->v))
        return VIOLATION("it does not take such types, or does not return such a one");
    return !checks[op] || checks[op](c);
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
