/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes graphs as `.webnn` text or its JSON form, with their weights in the same file or next to it.
 *
 * A graph comes as builder_take_graph gives it, before any pass; or, with marks, after some.  The files read back as the same
 * graph.  This uses the compiler's internals: programs that write link webnn_frontend, the static library.
 */
#pragma once

#include "frontend/readers/model.h"
#include "ir/graph/ir.h"
#include "ir/text/print.h"

enum text_weights {
    TEXT_WEIGHTS_CONTAINER,   /* NAME.weights and NAME.manifest.json */
    TEXT_WEIGHTS_SAFETENSORS, /* NAME.safetensors */
    TEXT_WEIGHTS_INLINE       /* in the graph's file; small constants always are */
};

struct text_options {
    const char *name; /* of the graph; NULL or "" for "graph" */
    bool json;
    bool marks; /* the compiler's own form, for graphs after passes: with marks of clusters, and data types that only passes
                   make */
    /**
     * Changes names so that all are identifiers, and gives each output a separate value, for programs that know neither
     * quotes nor names of outputs.  The graph that reads back is then another one where that was needed.  (JSON needs nothing
     * of it.)
     */
    bool legal_names;
    enum text_weights weights;
};

/** The reason why a graph with a loop (docs/loops.md) is not written. */
#define TEXT_NO_LOOPS "the graph has a loop, which .webnn text and its JSON form cannot express"
/** Returns whether a graph has a loop, which writers refuse. */
bool text_has_loops(const struct graph *g);
/** Makes bytes of all packed constants, which the formats do not have (wnnGraphBuilderConstantUint4Lent).  Returns false
 * after an error in *e. */
bool text_widen_constants(struct graph *g, struct error *e);

/** Writes the graph's file alone.  Returns false if the stream has an error, or if memory ran out. */
bool text_write_graph(const struct graph *g, const struct text_options *options, FILE *out);

/**
 * Writes all of them: path is that of the graph's file, the others are next to it.  They are written under other names first,
 * so that nothing half-written stays.  Returns false after an error in *e.
 */
bool text_write_files(const struct graph *g, const struct text_options *options, const char *path, struct error *e);
/** Does the same, or, if path is "-", writes the graph's file with all constants to standard output. */
bool text_write(const struct graph *g, const struct text_options *options, const char *path, struct error *e);
/** Takes the graph of a model, whose builder is used up.  Returns NULL after an error in *e. */
struct graph *model_take_graph(const struct model *model, struct error *e);

/* ---- between the files of the writer ---- */

/** Writes text as a JSON string.  Bytes that are not UTF-8 become \xHH, which our reader accepts. */
void json_write_string(FILE *out, const char *text, size_t length);
/** Writes the members dataType and shape. */
void json_write_type(FILE *out, const struct tensor_type *t);
/** Writes the graph's file as JSON.  Returns false if the stream has an error, or if memory ran out. */
bool json_write_graph(const struct graph *g, const struct print_options *options, FILE *out);
