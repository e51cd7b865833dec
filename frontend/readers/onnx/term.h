/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares terms: texts that say what an operator is composed of.  docs/model.md describes the language.
 */
#pragma once

#include "frontend/readers/onnx/compose.h"

enum { TERM_ITEMS_MAX = 16 }; /* arguments of a call, items of a list that is written out */

enum term_kind {
    TERM_NONE, /* an input or attribute that is absent; for calls, an option that is not given */
    TERM_NUMBER,
    TERM_SIZE, /* an open one (open.h), which number is */
    TERM_TEXT,
    TERM_LIST,
    TERM_INPUT, /* of the node; it becomes an operand where one is needed */
    TERM_OPERAND
};

/** Holds what an expression is. */
struct term_item {
    enum term_kind kind;
    enum onnx_type type; /* of operands whose data type does not tell: ONNX_BOOL and the like; else ONNX_UNDEFINED */
    size_t count;        /* of a list's items, of a text's bytes; the index of an input, also of an absent one */
    double number;
    WNNOperand operand;
    const char *text;
    const struct term_item *items;
};

struct term_binding {
    const char *name;
    size_t length;
    struct term_item item;
};

enum { TERM_NAMES_MAX = 64 };

/** Holds the names of a term, or of a function that it calls. */
struct term_frame {
    size_t count;
    struct term_binding names[TERM_NAMES_MAX];
};

/** Holds a term that is being evaluated. */
struct term {
    struct onnx_node *n; /* NULL if the text is only checked */
    const char *text, *at;
    struct term_frame *frame;
    size_t given;          /* arguments of the function in C that is called */
    unsigned skips, depth; /* skips: text is read without being evaluated: a choice not taken, or all after a refusal */
    bool dead;             /* the node was refused, or the builder refused a call: the rest means nothing */
    const char *wrong;     /* the error in the text, at `at`; NULL: none */
};

/** Holds the name of a call and its arguments. */
struct term_call {
    WNNStringView name;
    size_t count, option_count;
    struct term_item arguments[TERM_ITEMS_MAX], options[TERM_ITEMS_MAX];
    WNNStringView option_names[TERM_ITEMS_MAX];
};

/** Returns whether text is read without being evaluated. */
static inline bool term_skips(const struct term *t)
{
    return t->skips || t->dead || !t->n;
}
/** Returns whether an item is an operand, or an input that can become one. */
static inline bool term_is_operand(const struct term_item *item)
{
    return item->kind == TERM_OPERAND || item->kind == TERM_INPUT;
}
/** Makes a list of items, which are copied. */
struct term_item term_list_of(struct term *t, size_t count, const struct term_item *items);
/** Calls a method of the builder.  A number among its operands becomes a scalar like the last of them that is none. */
struct term_item term_call_method(struct term *t, const struct term_call *c);
/** Calls the function of that name (term_builtins.c), and puts what it returns into *result.  Returns false if there is none.
 */
bool term_call_builtin(struct term *t, const char *name, size_t length, size_t count, const struct term_item *arguments,
                       struct term_item *result);
/** Calls a function that is a term itself. */
struct term_item term_call_function(struct term *t, const char *text, const struct term_call *c);
/** Calls the function a[0] for each slice along the first dimension of the operands of the list a[2], with the further
 * arguments, and stacks what it returns; the loop stops after the first slice of a[1], uint8 [slices], that is not 0. */
struct term_item term_each(struct term *t, const struct term_item *a);
/** Returns the operand that an item is; of a number, a scalar like another operand.  NULL: it is absent. */
WNNOperand term_operand(struct term *t, const struct term_item *item, WNNOperand like);
/** Returns a number without its fraction, the nearest of 64 bits. */
int64_t term_integer(const struct term_item *item);
/** Wraps an operand; an error operand ends the evaluation. */
struct term_item term_of_operand(struct term *t, WNNOperand operand);
struct term_item term_of_number(double number);
/** Makes a number of a size, which may be open. */
struct term_item term_of_size(int64_t size);

/* ---- open sizes ---- */
/** Refuses the node, which must know a size.  Returns nothing. */
struct term_item term_refuse_size(struct term *t);
/** Returns a number, or an open size, as a size. */
int64_t term_size(struct term *t, const struct term_item *item);
/** Returns whether two items are sizes of which one is open. */
bool term_are_sizes(const struct term_item *a, const struct term_item *b);
/** Returns whether two of them are equal. */
bool term_same_size(struct term *t, const struct term_item *a, const struct term_item *b);
/** Combines two of them by an operator of terms, of which `first` is the first character and `equal` whether = follows. */
struct term_item term_combine_sizes(struct term *t, char first, bool equal, const struct term_item *x,
                                    const struct term_item *y);
/** Computes min, max, floor, ceil and abs of open sizes.  Returns false for what is none. */
bool term_compute_sizes(struct term *t, const struct term_call *c, const char *name, struct term_item *result);
/** Returns whether a number, or a size, is not 0. */
bool term_is_true(struct term *t, const struct term_item *x);

/* ---- */
/** Makes a list of numbers. */
struct term_item term_of_numbers(struct term *t, size_t count, const uint32_t *numbers);
/** Reads a list as sizes, at most ONNX_RANK_MAX of them. */
struct onnx_dims term_dims(struct term *t, const struct term_item *list);
/** Notes that the text is wrong, which the test of all rows finds. */
struct term_item term_fail(struct term *t, const char *wrong);

/** Imports a node as the term of its row says. */
bool onnx_import_term(struct onnx_node *n);
/** Returns the result of a term whose first parameter is x and whose others are numbers. */
WNNOperand onnx_term_of(struct onnx_node *n, const char *term, WNNOperand x, size_t count, const double *numbers);
/** Checks the text of a term.  Returns NULL, or the error and, in *at, its place. */
const char *onnx_term_check(const char *term, const char **at);

/** Describes a function that terms call and that is a term itself. */
struct term_function {
    const char *name, *term;
};
/** Returns the term of that name, or NULL. */
const char *term_find_function(const char *name, size_t length);
/** Returns these functions, and their number in *count. */
const struct term_function *term_functions(size_t *count);
