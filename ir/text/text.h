/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the textual form of graphs: printing and parsing (docs/formats.md).
 */
#pragma once

#include "ir/graph/ir.h"

/** The reader of a printed graph. */
enum print_style {
    PRINT_IR,    /* our parser, and people: comments, marks of clusters */
    PRINT_WEBNN, /* any program that reads .webnn text: only its syntax, except names in quotes and Infinity in options */
    PRINT_JSON   /* likewise its JSON form (frontend/readers/text/write_json.c) */
};

struct print_options {
    bool clusters;    /* mark the cluster of each node, and the transformed weights of a Winograd convolution */
    bool constants;   /* print constants' data inline (@bytes), else large ones as @weights("name") */
    bool legal_names; /* change names so that all are identifiers, and outputs are called like their values */
    bool by_place;    /* values without a name are numbered by their place in the text, as the exchange forms always do */
    bool named;       /* the graph has named dimensions (dims.h), which graph_parse_named reads back; not with other styles */
    enum print_style style;
    const char *name; /* the graph's; NULL: "graph" */
};

/** Prints the textual form, a superset of .webnn text (docs/formats.md), which parses back to the same graph.  options may
 * be NULL; then all are false. */
void graph_print(const struct graph *g, FILE *out, const struct print_options *options);

/** Finds the bytes of a constant by its weights key.  Returns false after an error in *e if it is not there. */
typedef bool (*weights_lookup)(void *user, const char *key, const struct tensor_type *type, struct constant **constant,
                               struct error *e);
/** Parses the textual form.  The caller frees the graph.  lookup may be NULL.  Returns NULL after an error in *e, whose message
 * has line and column. */
struct graph *graph_parse(const char *text, size_t length, weights_lookup lookup, void *user, struct error *e);
/** Parses a graph with named dimensions into an empty one that has the names and their ranges already (dims_name).  Returns
 * false after an error in *e. */
bool graph_parse_named(struct graph *g, const char *text, size_t length, weights_lookup lookup, void *user, struct error *e);
