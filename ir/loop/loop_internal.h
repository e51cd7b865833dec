/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what the printer of the loop language shares with the verifier and the interpreter, whose messages show operations.
 */
#pragma once

#include "ir/loop/loop.h"

/** Returns the next operation of a walk over a function: those of an operation's regions come between it and its successor.
 * before NULL: the first.  Returns NULL at the end. */
struct loop_value *loop_walk(const struct loop_function *f, const struct loop_value *before);
/** Numbers the operations of a function in the order of that walk; the text calls them by their numbers.  Returns how many
 * there are. */
uint32_t loop_number(const struct loop_function *f);
/** Prints an operation of a function that has been numbered, without its regions and the end of its line. */
void loop_print_operation(const struct loop_value *v, FILE *out);
/** Sets the error "FUNCTION: MESSAGE: OPERATION" of a numbered function, or adds it in a line of its own; v may be NULL.
 * Returns false. */
bool loop_complain(struct error *e, const struct loop_function *f, const struct loop_value *v, const char *format, ...)
    PRINTF_LIKE(4, 5);
