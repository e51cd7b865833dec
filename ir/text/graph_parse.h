/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares internals of making a graph of a document.  Every function returns false after an error. */
#pragma once

#include "ir/text/document.h"
#include "ir/text/text.h"

struct graph_parser {
    struct document d;
    struct graph *g;
    struct name_map values, outputs;
    int64_t scalar_bytes;
    weights_lookup lookup;
    void *user;
};

/** Gives v a name. */
bool parse_define(struct graph_parser *p, const struct document_text *name, struct value *v);
/** Makes the node of a statement (ir/text/graph_node.c). */
bool parse_node(struct graph_parser *p, struct document_node *n);
/** Makes clusters of the marks of all nodes. */
bool parse_marks(struct graph_parser *p);
