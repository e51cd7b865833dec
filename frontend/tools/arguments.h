/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Parses arguments that the tools have in common: NAME=VALUE pairs, sizes and shapes, and escapes text from files for printing.
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

/** Holds NAME=FILE.  name is NULL if there is no "=" (or nothing in front of it). */
struct argument_pair {
    char *name; /* owned */
    const char *value;
};

/** A list of them. */
struct argument_pairs {
    size_t count;
    struct argument_pair *items;
};
/** Frees what the list holds. */
void argument_pairs_free(struct argument_pairs *pairs);
/** Reads numbers separated by commas, with ranges such as 1..8.  Returns how many there are, or 0: it is no list, or one of
 * more than `most`, for which there is room. */
size_t argument_numbers(const char *list, size_t most, uint32_t *numbers);

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

/** Returns whether all output was written, or reports that it was not. It is the last call of a program. */
bool output_arrived(void);

/** The prefix of messages; options_read sets it. */
extern const char *program_name;
/** Prints "PROGRAM: ..." to stderr, and escapes control and bidirectional characters.  Returns false. */
bool complain(const char *format, ...) PRINTF_LIKE(1, 2);
/** Does the same with the last error of the library, after "WHAT: " unless that is empty. */
bool complain_last(const char *what);
/** Stores the last message of the calling thread in e instead of printing it, until called with NULL. */
void complain_catch(struct error *e);
/** Does the same with arguments that a function was called with. */
void print_message(const char *format, va_list arguments);
