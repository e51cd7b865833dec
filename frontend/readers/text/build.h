/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares how documents (ir/text/document.h) of JSON are read, and how builder calls are made of any. */
#pragma once

#include "frontend/readers/model.h"
#include "ir/text/document.h"
#include "webnn/webnn_call.h"

/** Reads the JSON form of `.webnn` text.  Returns false after an error in the document. */
bool document_parse_json(struct document *d);
/** Does the same with a manifest, which describes a network layer by layer, its constants in .npy files. */
bool document_parse_manifest(struct document *d);

/** Makes the builder calls and the ports.  Returns false after an error in the document. */
bool document_build(struct document *d, WNNContext context, const struct model_options *options, struct model *model);

struct build {
    struct document *d;
    const struct model_options *options;
    struct model *model;
    struct name_map operands, outputs;
    const struct document_text **order; /* names of operands by their places in the text, as many as `defined` */
    size_t defined;
    struct weights *weights;
    struct name_map files; /* of constants, which were charged, by device and inode */
};

struct model_description;

/** Adds a document's inputs and outputs to an empty description.  Returns false if memory runs out. */
bool document_declare_ports(struct model_description *d, const struct document *document);

/* Converts other tools' dialects to WebNN's (frontend/readers/text/dialect.c).  Return false after an error in the document.
 */

/** Does it to the whole statement, before its method is looked up. */
bool dialect_statement(struct build *b, struct document_node *n);
/**
 * Drops operands after the method's own that an option names, too.  Appends to the names of positional arguments those of
 * options that are given by their places.
 */
void dialect_places(struct build *b, struct document_node *n, WNNMethodCall call, size_t *count, const char **names);
/** Does it to the value of an argument, of which the method takes a kind. */
bool dialect_value(struct build *b, const struct document_node *n, const struct document_argument *a, WNNMethodValueKind kind,
                   bool option);
