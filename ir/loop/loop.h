/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the loop language, which describes how a kernel is computed: loops, vectors, kinds of loads and stores.
 *
 * A module has functions.  A function has a body, a region: operations in their order.  An operation has operands, which are
 * values of operations before it in its region or in one around that, a type, and perhaps a number and regions.  Values are
 * immutable; slots are mutable variables, and memory is mutable.  codegen/lower lowers a kernel with its schedule to a module,
 * and codegen/llvm prints it as LLVM IR, without further decisions.  loop_ops.def lists the operations.
 *
 * Functions that add operations never fail.  If memory runs out, module->failed becomes true, they return values that may be
 * operands, and the module must not be used.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/support/arena.h"
#include "ir/support/error.h"
#include "ir/support/table.h"

/** The most lanes of a vector: 512 bits of 8-bit elements. */
enum { LOOP_LANES_MAX = 64 };

/** The elements of values: float16 and bfloat16 numbers in memory are i16. */
enum loop_element { LOOP_NONE, LOOP_I1, LOOP_I8, LOOP_I16, LOOP_I32, LOOP_I64, LOOP_F32, LOOP_F64, LOOP_PTR, LOOP_ELEMENTS };

/** A type: a loop_element times 256, plus the number of lanes; a scalar has 1. */
typedef uint16_t loop_type;

static inline loop_type loop_type_make(enum loop_element element, uint32_t lanes)
{
    return (loop_type)(element << 8 | lanes);
}
static inline enum loop_element loop_type_element(loop_type type)
{
    return (enum loop_element)(type >> 8);
}
static inline uint32_t loop_type_lanes(loop_type type)
{
    return type & 255;
}
/** Returns the bits of an element; those of an address are 64. */
uint32_t loop_element_bits(enum loop_element element);
/** Returns the bits of a type's element. */
static inline uint32_t loop_type_bits(loop_type type)
{
    return loop_element_bits(loop_type_element(type));
}
static inline bool loop_element_is_float(enum loop_element element)
{
    return element == LOOP_F32 || element == LOOP_F64;
}
static inline bool loop_element_is_int(enum loop_element element)
{
    return element >= LOOP_I1 && element <= LOOP_I64;
}
/** Returns the name of an element in the text: i1 ... ptr. */
const char *loop_element_name(enum loop_element element);

enum loop_op {
#define LOOP_OP(NAME, name, operands, result) LOOP_##NAME,
#include "ir/loop/loop_ops.def"
    LOOP_OP_COUNT
};

enum loop_result {
    LOOP_RESULT_SAME,
    LOOP_RESULT_SECOND,
    LOOP_RESULT_CONDITION,
    LOOP_RESULT_ELEMENT,
    LOOP_RESULT_GIVEN,
    LOOP_RESULT_NONE
};

/** A row of loop_ops.def. */
struct loop_op_row {
    const char *name, *operands;
    enum loop_result result;
    enum { LOOP_ANYWHERE, LOOP_IN_KERNEL, LOOP_WITH_ITEMS } where; /* which functions may have it */
};
extern const struct loop_op_row loop_op_rows[LOOP_OP_COUNT];

/** These are the numbers of a LOOP_FOR, added up. */
enum { LOOP_WHOLE_STEPS = 1, LOOP_AT_LEAST_ONCE = 2, LOOP_AT_MOST_ONCE = 4, LOOP_UNROLLED = 8, LOOP_FOR_NUMBERS = 16 };

/** In a shuffle: a lane that may have any value. */
enum { LOOP_ANY_LANE = 255 };

/** Operations in their order. */
struct loop_region {
    struct loop_value *first, *last;
    struct loop_value *owner; /* the operation that it is a region of; NULL: it is a function's body */
};

/** An operation, and the value that it returns. */
struct loop_value {
    uint8_t op;           /* enum loop_op */
    uint8_t region_count; /* FOR, SCOPE: 1; IF: 1, or 2 with an else */
    loop_type type;       /* of the value, or 0: it has none.  A SLOT has the type of what it holds */
    loop_type of;         /* ADDRESS: what its index counts; ARRAY: what it is aligned to; else 0 */
    uint32_t arg_count;
    struct loop_value **args;
    int64_t number; /* as the row says: alignment, number of a parameter, flags of a for ... */
    union {
        const uint64_t *bits;         /* CONST: the bits of each lane, zeros above */
        const uint8_t *lanes;         /* SHUFFLE: a number for each lane of the result */
        struct loop_region *regions;  /* FOR, SCOPE, IF */
        struct loop_function *callee; /* CALL, ARGUMENTS */
    };
    struct loop_region *region;         /* where it is; NULL: it is a constant, which is everywhere */
    struct loop_value *previous, *next; /* in its region */
    uint32_t serial;                    /* for walks over a function: printer, interpreter */
    void *user;                         /* the same */
};

enum {
    LOOP_PARAMETERS_MAX = 4,
    LOOP_DIMENSIONS = 3,   /* of groups and of their items */
    LOOP_ITEMS_MAX = 4096, /* of a group */
    LOOP_ARGS_MAX = 72     /* operands: the tensors of a kernel, and a few */
};

struct loop_function {
    const char *name;
    struct loop_module *module;
    bool kernel;                     /* has a kernel's arguments, and two i64 parameters: its units */
    uint32_t items[LOOP_DIMENSIONS]; /* of a group of a device's kernel, which has no parameters; 0: for processors */
    bool internal;                   /* is called by functions of the module only */
    loop_type params[LOOP_PARAMETERS_MAX], result; /* result 0: none */
    uint32_t param_count;
    struct loop_region body;
    struct loop_value *parameters[LOOP_PARAMETERS_MAX]; /* NULL: not used */
    struct loop_function *next;
};

struct loop_module {
    struct arena arena; /* of all contents of the module */
    struct loop_function *first, *last;
    struct table constants;
    bool failed;
};

/** Frees all that a module has. */
void loop_module_free(struct loop_module *m);
/** Adds a function to a module: with param_count parameters, or a kernel's (params NULL).  Returns NULL if memory runs out. */
struct loop_function *loop_function_add(struct loop_module *m, const char *name, const loop_type *params, uint32_t param_count,
                                        loop_type result);
/** Makes a kernel's function one for a work-item of a device, whose groups have so many. */
void loop_function_set_items(struct loop_function *f, const uint32_t items[LOOP_DIMENSIONS]);
/** Returns the function with that name, or NULL. */
struct loop_function *loop_function_find(const struct loop_module *m, const char *name);

/** A place in a region: after an operation, at its beginning (after is NULL), or at its end. */
struct loop_place {
    struct loop_region *region;
    struct loop_value *after;
    bool at_end; /* wherever the end is */
};

/** Adds operations to a function. */
struct loop_builder {
    struct loop_module *module;
    struct loop_function *function;
    struct loop_place *at;    /* where operations go, and which moves past them */
    struct loop_place tail;   /* the end of the innermost region that is being written */
    struct loop_value *spare; /* returned after memory ran out */
    struct table values;      /* that the same operation on the same operands gives again */
};

/** Begins to write a function.  at is the end of its body. */
bool loop_builder_begin(struct loop_builder *b, struct loop_module *m, struct loop_function *f);
/** Adds an operation with those operands at b->at.  type is used only if the row says GIVEN.  An operation on constants alone
 * that depends on nothing else is a constant, sums with 0 and products with 0 or 1 are an operand, and of equal operations
 * without effects there is one. */
struct loop_value *loop_add(struct loop_builder *b, enum loop_op op, loop_type type, struct loop_value *const *args,
                            uint32_t arg_count, int64_t number);
/** Returns the constant with those bits in its lanes; equal ones are one value. */
struct loop_value *loop_const(struct loop_builder *b, loop_type type, const uint64_t *bits);
/** Adds the ADDRESS of the element `index` of that type, counted from a pointer. */
struct loop_value *loop_address(struct loop_builder *b, loop_type of, struct loop_value *pointer, struct loop_value *index);
/** Adds a SHUFFLE; y may be NULL. */
struct loop_value *loop_shuffle(struct loop_builder *b, struct loop_value *x, struct loop_value *y, const uint8_t *lanes,
                                uint32_t count);
/** Adds a call of a function that is not a kernel. */
struct loop_value *loop_call(struct loop_builder *b, struct loop_function *f, struct loop_value *const *args);
/** Adds the ARGUMENTS of a kernel's function. */
struct loop_value *loop_arguments(struct loop_builder *b, struct loop_function *f, struct loop_value *const *args,
                                  uint32_t arg_count, int64_t first_number);
/** Returns a parameter of the function. */
struct loop_value *loop_parameter(struct loop_builder *b, uint32_t i);
/** Adds a slot at the beginning of the function. */
struct loop_value *loop_slot(struct loop_builder *b, loop_type type);
/** Adds an ARRAY or GROUP_ARRAY of that many bytes at the beginning of the function, aligned to vectors of that type. */
struct loop_value *loop_array(struct loop_builder *b, enum loop_op op, loop_type type, int64_t bytes);
/** Adds a loop at the tail, and moves the tail into its body.  flags: LOOP_WHOLE_STEPS ... */
struct loop_value *loop_for_begin(struct loop_builder *b, struct loop_value *from, struct loop_value *to, int64_t flags);
/** Ends the body of the loop that was begun last with a NEXT, and moves the tail past the loop. */
void loop_for_end(struct loop_builder *b, struct loop_value *step);
/** Returns the loop's variable when it had ended. */
static inline struct loop_value *loop_stopped(struct loop_builder *b, struct loop_value *loop)
{
    return loop_add(b, LOOP_STOPPED, 0, &loop, 1, 0);
}
/** Adds a scope at the tail, and moves the tail into it. */
void loop_scope_begin(struct loop_builder *b);
/** Adds an if at the tail, and moves the tail into its first region. */
void loop_if_begin(struct loop_builder *b, struct loop_value *condition);
/** Moves the tail into the second region of the if that was begun last. */
void loop_else(struct loop_builder *b);
/** Moves the tail past the if or scope that was begun last. */
void loop_end(struct loop_builder *b);
/** Removes operations of a written function that compute what is not used. */
void loop_sweep(struct loop_function *f);

/** Returns whether a value is a constant, the same in all lanes, and stores the bits of a lane in *bits. */
static inline bool loop_is_splat(const struct loop_value *v, uint64_t *bits)
{
    if (v->op != LOOP_CONST)
        return false;
    for (uint32_t i = 1; i < loop_type_lanes(v->type); i++)
        if (v->bits[i] != v->bits[0])
            return false;
    *bits = v->bits[0];
    return true;
}

/**
 * Computes a lane of an operation whose lanes do not depend on each other: arithmetic, comparisons, SELECT, conversions but
 * BITCAST to other lanes, FENCE.  from: the element of the operands (of SELECT: of b and c), to: that of the result; args and
 * *out are bits with zeros above.  Returns false if op is no such operation (loop_scalar.c).
 */
bool loop_scalar(enum loop_op op, enum loop_element to, enum loop_element from, const uint64_t args[3], uint64_t *out);

/** Prints a module as text, which the tests read. */
void loop_print(const struct loop_module *m, FILE *out);
/** Checks everything that loop_verify.c lists.  Returns false after an error in *e. */
bool loop_verify(const struct loop_module *m, struct error *e);
