/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Graphs to `.webnn` text or its JSON twin, with their weights in the same file or beside it.
 *
 * In: a graph as builder_take_graph gives it, before any pass.  Out: files that read back as the same graph.  Uses the
 * compiler's insides: programs that write link webnn_frontend, the static library.
 */
#ifndef WEBNN_FRONTEND_TEXT_WRITE_H_
#define WEBNN_FRONTEND_TEXT_WRITE_H_

#include "frontend/model/model.h"
#include "ir/ir.h"

enum text_weights {
    TEXT_WEIGHTS_CONTAINER,   /* NAME.weights and NAME.manifest.json */
    TEXT_WEIGHTS_SAFETENSORS, /* NAME.safetensors */
    TEXT_WEIGHTS_INLINE       /* in the graph's file; small constants always are */
};

struct text_options {
    const char *name; /* of the graph; NULL or "": "graph" */
    bool json;
    /** Change names so that all are identifiers, and give each output a value of its own, for programs that know neither quotes
     * nor names of outputs.  The graph that reads back is then another one where that was needed.  (JSON needs nothing of it.)
     */
    bool legal_names;
    enum text_weights weights;
};

/** Whether there is anything to put beside the graph's file. */
bool text_has_weights(const struct graph *g, const struct text_options *options);

/* The files, one by one.  False: the stream has an error, or memory ran out. */
bool text_write_graph(const struct graph *g, const struct text_options *options, FILE *out);
/** NAME.weights or NAME.safetensors. */
bool text_write_weights(const struct graph *g, const struct text_options *options, FILE *out);
/** NAME.manifest.json, which NAME.weights needs. */
bool text_write_manifest(const struct graph *g, const struct text_options *options, FILE *out);

/**
 * All of them: path is that of the graph's file, the others lie beside it.  Written under other names first, so that nothing
 * half-written stays.  False: *message says why (malloc'ed; NULL: out of memory).
 */
bool text_write_files(const struct graph *g, const struct text_options *options, const char *path, char **message);
/** The same from a model, whose builder is used up. */
bool model_write(const struct model *model, const struct text_options *options, const char *path, char **message);

#endif
