/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads what the command lines of the tools have in common: NAME=VALUE pairs, sizes and shapes, and text from files made fit to
 * print.
 *
 * Functions that return bool return false if the text is not what they read.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/model.h"
#include "ir/support/error.h"
#include "ir/support/clock.h"
#include "ir/support/text.h"

/**
 * Returns the list with room for one item more, of `size` bytes each, or NULL if memory runs out; then the list is as it was.
 */
void *list_grow(void *items, size_t count, size_t size);

/** Holds NAME=FILE.  name is NULL if there is no "=" (or nothing in front of it). */
struct argument_pair {
    char *name; /* owned */
    const char *value;
};

/** Is a list of them. */
struct argument_pairs {
    size_t count;
    struct argument_pair *items;
};
/** Frees what the list holds. */
void argument_pairs_free(struct argument_pairs *pairs);

/**
 * Reads the value of a constant: numbers separated by commas ("16000", "1,3,224", "0.5", "true"), which are no file even if one
 * has that name ("./16000" is), or the name of an .npy file.  Numbers are int64 if all are whole, else float32; *literal says
 * that they are numbers.  Returns false after an error in message.  The caller frees the array.
 */
bool argument_constant(const char *text, struct npy_array *array, bool *literal, struct error *e);
/** Prints every line of a model's notes to stderr after "PROGRAM: note: ".  notes may be NULL. */
void print_notes(const char *notes);
/** Reads a whole number from low to high, with nothing after it. */
bool argument_number(const char *text, uint64_t low, uint64_t high, uint64_t *number);
/** Reads a finite number, or a fraction such as 1/255. */
bool argument_real(const char *text, double *number);
/** Says in messages what argument_engine takes. */
#define ARGUMENT_ENGINES "cpu, auto, gpu or gpu:DEVICE"
/** Reads an engine by its name, and the number or the part of a name that says which device; *device points into text. */
bool argument_engine(const char *text, WNNEngine *engine, const char **device);

/** Returns whether all that was printed got to standard output, or says that it did not.  It is the last call of a program. */
bool output_arrived(void);

/** Is what messages begin with; options_read sets it. */
extern const char *program_name;
/** Prints "PROGRAM: ..." to stderr, and escapes what a name in it has that could deceive.  Returns false. */
bool complain(const char *format, ...) PRINTF_LIKE(1, 2);
/** Lets e take the messages of the calling thread, the last one each time, until this is called with NULL. */
void complain_catch(struct error *e);
/** Does the same with arguments that a function was called with. */
void print_message(const char *format, va_list arguments);
