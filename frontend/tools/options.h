/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads a command line by the program's table of options, which --help, the options of its manual page and what a shell
 * completes are made from, too.
 *
 * An unknown option, a missing value and a wrong one are reported on stderr with what the option takes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/readers/model.h"
#include "ir/support/error.h"

/** Holds the state when an option is taken. */
struct option_call {
    const struct option_row *row;
    const char *value;
    void *options, *member; /* the program's, and the row's member in them */
    char wants[400];        /* what the option takes, as it continues after "--NAME takes "; the row says it by default */
    int status;             /* exit status of a failure that was reported already */
    bool ends;              /* the program has done its work */
};

/** Describes an option, or begins a section of them. */
struct option_row {
    const char *name;  /* NULL for the title of a section, which is its help */
    char letter;       /* of "-o"; 0: there is none */
    const char *value; /* as --help writes it; NULL: the option has none */
    const char *help;  /* on one line, which is broken where it is printed */
    /** Stores the value in the options.  Returns false if the option does not take it. */
    bool (*take)(struct option_call *c);
    size_t member;              /* offset in the program's options */
    const char *wants;          /* what it takes, for messages; by default the following two, or value, say that */
    uint64_t low, high;         /* of numbers */
    const char *const *choices; /* a name for each number from 0, then NULL; "" for numbers that have none */
};

struct option_program {
    const char *name;
    const char *about;              /* what --help begins with */
    const char *examples;           /* what it ends with, or NULL */
    const struct option_row *rows;  /* without --help and --version, which every program has */
    size_t row_count;               /* OPTIONS_MAX at most */
    const struct option_row *other; /* takes arguments that are not options; its name describes them */
};
enum { OPTIONS_MAX = 64 };

/** Reads the command line.  Returns false if the program is to end with *status; where it returns true, *status is 2, the exit
 * status for a wrong command line. */
bool options_read(const struct option_program *p, int argc, char **argv, void *options, int *status);
/** Reports an error in the command line on stderr, and where to read more; c may be NULL.  Returns false. */
bool options_wrong(struct option_call *c, const char *format, ...) PRINTF_LIKE(2, 3);

/* ---- what takes values; the member's type is in brackets ---- */

/** Sets a switch [bool]. */
static inline bool option_flag(struct option_call *c)
{
    return *(bool *)c->member = true;
}
/** Keeps a text [const char *]. */
bool option_text(struct option_call *c);
/** Keeps a text that is not empty [const char *]. */
static inline bool option_name(struct option_call *c)
{
    return option_text(c) && *c->value;
}
/** Keeps the one argument that is not an option [const char *]. */
bool option_single(struct option_call *c);
/** Reads a number from low to high [uint64_t]. */
bool option_number(struct option_call *c);
/** Reads a number of threads [uint32_t]. */
bool option_threads(struct option_call *c);
/** Reads one of the choices [uint32_t or an enumeration]. */
bool option_choice(struct option_call *c);
/** Reads a number other than 0 [double]. */
bool option_factor(struct option_call *c);
/** Reads a number that is not below 0 [double]. */
bool option_tolerance(struct option_call *c);
/** Reads up to 3 numbers separated by commas; one is spread over all three [double[3]]. */
bool option_reals3(struct option_call *c);
/** Reads how much work, and with a comma how much memory, a model may take until it is built [WNNBudget]. */
bool option_budget(struct option_call *c);
/** Appends [NAME=]FILE [struct argument_pairs]. */
bool option_pair(struct option_call *c);
/** Appends NAME=VALUE [struct argument_pairs]. */
bool option_named_pair(struct option_call *c);
/** Appends the size of a dimension [struct model_options, which option_model_free frees]. */
bool option_dim(struct option_call *c);
/** Appends the shape of an input [likewise]. */
bool option_shape(struct option_call *c);
/** Appends a constant, whose file is read [likewise]. */
bool option_constant(struct option_call *c);
/** Appends names of outputs [likewise]. */
bool option_outputs(struct option_call *c);
/** Frees what these appended. */
void option_model_free(struct model_options *m);

/** Adds "name", or "name=value", to the switches of a context, which are separated by commas and freed by the caller.  Returns
 * false, after a message, if memory runs out. */
bool option_add_switch(struct option_call *c, const char *name, const char *value);
/** Adds the switch that is called like the option [char *, as option_add_switch makes it]. */
static inline bool option_switch(struct option_call *c)
{
    return option_add_switch(c, c->row->name, "");
}
/** Adds switches [likewise]. */
static inline bool option_switches(struct option_call *c)
{
    return !*c->value || option_add_switch(c, c->value, "");
}

/* clang-format off */
/** What --dim does in all programs. */
#define OPTION_DIM_HELP "the size of a symbolic dimension; with 0, inputs of an ONNX model that have it are empty and left out"
/**
 * The rows of the options for reading models but --dim: member is the offset of a struct model_options, and the option for
 * a file of weights is called weights_name.
 */
#define OPTION_MODEL_ROWS(offset, weights_name) \
    {"shape", 0, "NAME=1x3x8x8", \
     "the shape of an input (NAME=scalar for rank 0); an initializer that an ONNX model lists as an input, too, becomes one", \
     option_shape, .member = (offset)}, \
    {"constant", 0, "NAME=VALUE", \
     "makes an input a constant, because the graph depends on its value, such as a shape: numbers (sr=16000, size=1,3,8) or " \
     "an .npy file", \
     option_constant, .member = (offset)}, \
    {"outputs", 0, "NAME,NAME,...", \
     "the outputs that are wanted: what only the others need is not computed; a comma of a name is written \\,", \
     option_outputs, .member = (offset)}, \
    {weights_name, 0, "FILE", "the weights of a .webnn text or JSON, if they are not next to it", \
     option_name, .member = (offset) + offsetof(struct model_options, weights), .wants = "a file"}, \
    {"budget", 0, "OPS[,BYTES]", \
     "what reading and building may take: about as many scalar operations, and bytes of memory (default: by the sizes of the " \
     "model's files and inputs, of which networks take a few per cent); what would take more is refused with a message that " \
     "says what and how much", \
     option_budget, .member = (offset) + offsetof(struct model_options, budget)}
/* clang-format on */

/** The choices of precisions, and of formats of weights. */
extern const char *const option_precisions[], *const option_weight_formats[];
