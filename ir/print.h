/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pieces of the printer that the parser and the verifier share. */
#ifndef WEBNN_IR_PRINT_H_
#define WEBNN_IR_PRINT_H_

#include "ir/ir.h"
#include "ir/name_map.h"

enum {
    NUMBER_TEXT_MAX = 48,
    NUMBER_LENGTH_MAX = 1100 /* of a number that is read: the exact decimal form of the smallest double has 1074 digits */
};

/** The shortest decimal digits that read back as the same double; NaN, Infinity, -Infinity; bits of an unusual NaN. */
const char *double_print(char buf[NUMBER_TEXT_MAX], double d);
/** Likewise for one element of a tensor. */
const char *scalar_print(char buf[NUMBER_TEXT_MAX], union scalar s, dtype t);
/** A number of an option: how it is written shows its type (6.0, 6, 6u). */
const char *number_print(char buf[NUMBER_TEXT_MAX], WNNNumber n);
/** The double with the fewest digits that is d once it is rounded to t. */
double double_shorten(double d, dtype t);
/** A number token (digits, '.', exponent; no sign) as a double, correctly rounded in every locale. */
double digits_to_double(const char *text, size_t length);

/* ---- names ---- */

/** A name, which may hold any bytes. */
struct print_name {
    const char *text; /* NULL: none */
    size_t length;
};

/** The names of all values by index; no text: none given out (a value that is nowhere in the graph, or no memory). */
struct print_names {
    struct print_name *by_index;
    struct print_name *outputs; /* legal: the names of all outputs; that of the value unless it is an output before already */
    uint32_t count;
    bool legal;
    struct name_map taken;
    struct arena arena;
};

/** options: legal_names (identifiers only, changed where need be) and style count.  by_index is NULL, or outputs is, if memory
 * ran out. */
void print_names_collect(struct print_names *n, const struct graph *g, const struct print_options *options);
void print_names_free(struct print_names *n);
bool print_has_name(const struct print_names *n, const struct value *v);
/** What a value is called itself; no text if it is not. */
struct print_name print_own_name(const struct value *v);
/** Whether a node or an output uses the value. */
bool print_is_used(const struct value *v);

/* ---- attributes and constants ---- */

/** How an option is written. */
enum print_form {
    PRINT_OMITTED,
    PRINT_SHORT, /* a double that inference rounds to the operands' data type: with no more digits than that type needs */
    PRINT_EXACT
};

/** Which options must be written, and how, so that inference arrives at the node's resolved ones. */
void print_options_needed(const struct node *n, enum print_form forms[OP_ATTRS_MAX]);
/** The value of the index-th attribute; json: NaN and infinities as strings. */
void print_attr(FILE *out, const struct node *n, uint32_t index, enum print_form form, enum print_style style);
/** Text in quotes, with the escapes of the textual form or of JSON. */
void print_string(FILE *out, const char *text, size_t length);

/** How a constant's data are written. */
enum print_data { PRINT_NOTHING, PRINT_SCALAR, PRINT_BYTES, PRINT_WEIGHTS };
enum print_data print_data_of(const struct value *v, const struct print_options *options);
/** An element of a constant. */
union scalar print_element(const struct value *v, int64_t i);

/* ---- the rest ---- */

/** The cluster mark's word: kernel, library, view. */
const char *cluster_kind_name(enum cluster_kind kind);
/** The node that a library cluster is built around unless it says otherwise. */
bool is_default_anchor(const struct node *n);

/**
 * Prints one statement without its line end, values named by what they are called or v<index>; takes nothing for granted, so
 * that the verifier can show broken nodes.
 */
void node_print_plain(const struct node *n, FILE *out);

#endif
