/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes the page of webnn-run --report: how a model was compiled, and where its time and memory go.
 *
 * The library's debug switch steps=FILE writes its record of a graph when the graph is released, the ONNX reader reports the
 * nodes, and two graphs measure what the machine can do.  All of it goes as JSON into report.html, a self-contained page that
 * draws it.
 */
#pragma once

#include <stdio.h>

#include "frontend/readers/model.h"

/** Holds the data of a report; zeros are an empty one. */
struct report {
    char *folder, *steps;      /* a temporary folder, and the file in it for the switch steps */
    WNNContextOptions options; /* for a context whose limits are measured; the caller sets them */
    FILE *data;                /* to the text below: the beginning of the page's JSON, as far as it is known */
    char *text;
    size_t length, node_count;
};

/** Prepares the report on a model, which is read with these options.  Returns false if that fails; then errno says why. */
bool report_begin(struct report *r, struct model_options *options, const char *model);
/**
 * Measures the limits of the machine and writes the page.  The graph must have been released.  Returns false if that fails;
 * then *e says why.
 */
bool report_write(struct report *r, const char *path, struct error *e);
/** Removes the temporary files and frees what the report holds. */
void report_end(struct report *r);
