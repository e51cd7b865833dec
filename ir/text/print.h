/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares pieces of the printer that the parser and the verifier share. */
#pragma once

#include "ir/support/name_map.h"
#include "ir/support/print_number.h"
#include "ir/text/text.h"

/* ---- names ---- */

/** A name, which may hold any bytes. */
struct print_name {
    const char *text; /* NULL: none */
    size_t length;
};

/** Holds the names of all values by index; those of values outside the graph, and those that found no memory, are empty. */
struct print_names {
    struct print_name *by_index;
    struct print_name *outputs; /* legal: the names of all outputs; that of the value unless it is an output before already */
    uint32_t count;
    bool legal;
    struct name_map taken;
    struct arena arena;
};

/** Gives every value its name, and fills *n, which print_names_free frees.  Of options, legal_names (identifiers only, changed
 * where need be), by_place and style matter.  by_index is NULL, or outputs is, if memory ran out. */
void print_names_collect(struct print_names *n, const struct graph *g, const struct print_options *options);
/** Frees the names. */
void print_names_free(struct print_names *n);
/** Returns whether a value has a name in n. */
static inline bool print_has_name(const struct print_names *n, const struct value *v)
{
    return n && v->index < n->count && n->by_index[v->index].text;
}
/** Returns a value's own name; it has no text if there is none. */
struct print_name print_own_name(const struct value *v);
/** Returns whether a constant is printed: a node or an output uses it, or a mark names it. */
static inline bool print_is_used(const struct value *v, const struct print_options *options)
{
    return v->uses || v->output_uses || (options->clusters && v->kept && v->constant);
}

/* ---- attributes and constants ---- */

/** How an option is written. */
enum print_form {
    PRINT_OMITTED,
    PRINT_SHORT, /* a double that inference rounds to the operands' data type: with no more digits than that type needs */
    PRINT_EXACT
};

/** Finds which options must be written, and how, so that inference arrives at the node's resolved ones. */
void print_options_needed(const struct node *n, enum print_form forms[OP_ATTRS_MAX]);
/** Prints the value of the index-th attribute; JSON has NaN and infinities as strings. */
void print_attr(FILE *out, const struct node *n, uint32_t index, enum print_form form, enum print_style style);
/** Prints text in quotes, with the escapes of the textual form. */
void print_string(FILE *out, const char *text, size_t length);

/** How a constant's data are written. */
enum print_data { PRINT_NOTHING, PRINT_SCALAR, PRINT_BYTES, PRINT_WEIGHTS };
/** Decides how a constant's data are written with these options. */
enum print_data print_data_of(const struct value *v, const struct print_options *options);
/** Returns whether a constant's data are in the file of weights next to the text. */
static inline bool print_in_weights(const struct value *v, const struct print_options *options)
{
    return print_is_used(v, options) && print_data_of(v, options) == PRINT_WEIGHTS;
}
/** Returns whether there is anything to put into a file of weights. */
bool print_has_weights(const struct graph *g, const struct print_options *options);
/** Writes the file of weights of a graph that is printed with these options, as safetensors (ir/text/print_weights.c).  Returns
 * false if the stream has an error, or memory ran out. */
bool print_weights(const struct graph *g, FILE *out, const struct print_options *options);
/** Returns an element of a constant. */
union scalar print_element(const struct value *v, int64_t i);

/* ---- the rest ---- */

/** Returns the cluster mark's word: kernel, library, loop or view. */
const char *cluster_kind_name(enum cluster_kind kind);
/** Returns whether a library cluster is built around such a node unless it says otherwise. */
static inline bool is_default_anchor(const struct node *n)
{
    return (op_infos[n->op].flags & (OPF_LIBRARY | OPF_RECURRENT)) != 0;
}

/**
 * Prints one statement without its line end.  Values have their names or v<index>.  It makes no assumptions, so that the
 * verifier can show broken nodes.
 */
void node_print_plain(const struct node *n, FILE *out);
