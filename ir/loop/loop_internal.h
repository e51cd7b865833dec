/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what the files of the loop language share.
 */
#pragma once

#include "ir/loop/loop.h"

/** Returns an element's bits as a signed integer. */
static inline int64_t loop_extend(enum loop_element element, uint64_t bits)
{
    const uint32_t spare = 64 - loop_element_bits(element);

    return (int64_t)(bits << spare) >> spare;
}
/** Returns bits without those above an element's. */
static inline uint64_t loop_cut(enum loop_element element, uint64_t bits)
{
    return bits & UINT64_MAX >> (64 - loop_element_bits(element));
}
/** Returns the type of an operation's result; given is that if the row says so. */
loop_type loop_result_type(enum loop_op op, loop_type given, struct loop_value *const *args);
/** Returns whether an operation is a load or a store. */
static inline bool loop_op_is_access(enum loop_op op)
{
    return op >= LOOP_LOAD && op <= LOOP_SCATTER;
}
/** The words for a LOOP_FOR's numbers, by bit. */
extern const char *const loop_for_words[4];

/** Returns the next operation of a walk over a function: those of an operation's regions come between it and its successor.
 * before NULL: the first.  Returns NULL at the end. */
struct loop_value *loop_walk(const struct loop_function *f, const struct loop_value *before);
/** Returns whether the text of an operation has its number next to its name. */
static inline bool loop_op_has_number(enum loop_op op)
{
    return op == LOOP_PARAMETER || op == LOOP_NUMBER || op == LOOP_TENSOR || op == LOOP_ARRAY || op == LOOP_GROUP_ARRAY ||
           op == LOOP_ITEM || op == LOOP_GROUP || op == LOOP_ALIGNED || op == LOOP_MATRIX_LOAD || op == LOOP_MATRIX_MULTIPLY;
}
/** Numbers the operations of a function in the order of that walk; the text calls them by their numbers.  Returns how many
 * there are. */
uint32_t loop_number(const struct loop_function *f);
/** Sets the error "FUNCTION: MESSAGE: OPERATION" of a numbered function, or adds it in a line of its own; v may be NULL.
 * Returns false. */
bool loop_complain(struct error *e, const struct loop_function *f, const struct loop_value *v, const char *format, ...)
    PRINTF_LIKE(4, 5);
