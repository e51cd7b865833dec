/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads what the command lines of the tools have in common: NAME=VALUE pairs, sizes and shapes, and text from files made fit to
 * print.
 *
 * Functions that return bool return false if the text is not what they read.
 */
#ifndef WEBNN_FRONTEND_TOOLS_ARGUMENTS_H_
#define WEBNN_FRONTEND_TOOLS_ARGUMENTS_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/readers/model.h"
#include "ir/support/text.h"

struct option; /* of <getopt.h> */

/**
 * Returns the list with room for one item more, of `size` bytes each, or NULL if memory runs out; then the list is as it was.
 */
void *list_grow(void *items, size_t count, size_t size);

/** Holds NAME=FILE.  name is NULL if there is no "=" (or nothing in front of it). */
struct argument_pair {
    char *name; /* owned */
    const char *value;
};

/** Splits text at the first "=".  Returns false if memory runs out. */
bool argument_split(const char *text, struct argument_pair *pair);
/** Reads "NAME=N" with N from 0 to 2^31-1, split at the last "="; of several such pairs none.  The caller frees *name. */
bool argument_dim(const char *text, char **name, uint32_t *size);
/** Says in messages what argument_dim takes instead of this text, which it refused. */
const char *argument_dim_wants(const char *text);
/**
 * Reads the value of a constant: numbers separated by commas ("16000", "1,3,224", "0.5", "true"), which are no file even if one
 * has that name ("./16000" is), or the name of an .npy file.  Numbers are int64 if all are whole, else float32; *literal says
 * that they are numbers.  Returns false after an error in message.  The caller frees the array.
 */
bool argument_constant(const char *text, struct npy_array *array, bool *literal, char *message, size_t size);
/** Prints every line of a model's notes to stderr after "PROGRAM: note: ".  notes may be NULL. */
void print_notes(const char *program, const char *notes);
/** Reads "NAME=1x3x224x224", or "NAME=scalar".  The caller frees *name. */
bool argument_shape(const char *text, char **name, struct model_shape *shape);
/** Reads a whole number from low to high, with nothing behind it. */
bool argument_number(const char *text, uint64_t low, uint64_t high, uint64_t *number);
/** Reads a finite number, or a fraction such as 1/255. */
bool argument_real(const char *text, double *number);
/** Says in messages what argument_budget takes. */
#define ARGUMENT_BUDGET "OPERATIONS or OPERATIONS,BYTES, whole numbers from 1"
/** Reads how much work, and with a comma how much memory, a model may take until it is built. */
bool argument_budget(const char *text, WNNBudget *budget);
/** Says in messages what argument_precision takes. */
#define ARGUMENT_PRECISIONS "float32, bf16x2, bf16 or int8"
/** Reads a precision by its name. */
bool argument_precision(const char *text, WNNPrecision *precision);
/** Says in messages what argument_weight_format takes. */
#define ARGUMENT_WEIGHT_FORMATS "int8 or int4"
/** Reads in how many bits weights are to be stored. */
bool argument_weight_format(const char *text, WNNWeightFormat *format);
/** Says in messages what argument_engine takes. */
#define ARGUMENT_ENGINES "cpu, auto, gpu or gpu:DEVICE"
/** Reads an engine by its name, and the number or the part of a name that says which device; *device points into text. */
bool argument_engine(const char *text, WNNEngine *engine, const char **device);
/** Reads up to 3 numbers separated by commas; one is spread over all three. */
bool argument_reals3(const char *text, double numbers[3]);

/** Returns the milliseconds of a clock that only goes forward. */
double clock_ms(void);

/**
 * Returns whether all that was printed got to standard output; else PROGRAM says on stderr that it did not.  It is the last
 * call of a program.
 */
bool output_arrived(const char *program);

/**
 * Says on stderr, with advice, why getopt_long returned '?' or ':': an option that is unknown or ambiguous, a value that is
 * missing or too much.  The caller has set opterr to 0, because getopt's own message would print the option as it is, and its
 * option string begins with a colon.  Returns false.
 */
bool argument_refused(const char *program, int result, const struct option *options, char **argv);

/** Prints "PROGRAM VERSION", and the versions of LLVM and oneDNN that it was built with. */
void print_version(const char *program);
/** Prints "PROGRAM: ..." to stderr, and escapes what a name in it has that could deceive. */
void print_message(const char *program, const char *format, va_list arguments);

#endif
