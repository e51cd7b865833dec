/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Classifies pictures by a graph: one picture after the other, or many as a batch (frontend/readers/batch/batch.h).
 *
 * The graph takes a float32 picture [1, 3, H, W], normalised as networks trained on ImageNet want it, or [1, 1, H, W], grey
 * levels from 0 to 1.  It gives a number for each class: in the output `probabilities`, or else in the last one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "frontend/readers/batch/batch.h"
#include "webnn/webnn.h"

enum { CLASSIFIER_OUTPUTS_MAX = 8, CLASSIFIER_TOP = 5 };

/** Holds a picture in the form that the graph takes, and the size that it had in its file. */
struct classifier_picture {
    float *pixels; /* owned */
    uint32_t width, height;
};

struct classifier {
    const char *program;
    const char *labels; /* one in each line; lent */
    WNNGraph graph;     /* lent */
    WNNNamedOperandDescriptor input;
    size_t input_bytes, output_count, chosen; /* the output that counts */
    WNNNamedBuffer outputs[CLASSIFIER_OUTPUTS_MAX];
    struct classifier_picture slots[BATCH_SLOTS];
};

/** Holds a class and how probable it is. */
struct classifier_class {
    size_t index;
    double probability;
};

/**
 * Prepares to classify by a graph, which must stay until classifier_close.  `labels` is text with a label in each line, or "";
 * it stays with the caller.  Returns false after a message on stderr if the graph is not a classifier.
 */
bool classifier_open(struct classifier *c, const char *program, WNNGraph graph, const char *labels);
/** Frees what the classifier holds. */
void classifier_close(struct classifier *c);
/** Reads a PNG or JPEG of any size; the caller frees its pixels.  Returns false after a message of at most `size` bytes. */
bool classifier_read(const struct classifier *c, const char *path, struct classifier_picture *p, struct error *e);
/**
 * Computes a picture and stores the most probable classes, at most CLASSIFIER_TOP, in *top and their number in *count.
 * Returns false after a message of at most `size` bytes.
 */
bool classifier_compute(struct classifier *c, const struct classifier_picture *p, struct classifier_class *top, size_t *count,
                        struct error *e);
/** Returns the label of a class, "" if it has none, and its length. */
const char *classifier_label(const struct classifier *c, size_t index, size_t *length);
/** Classifies many pictures: batch_run, whose lines have the members "ms" and "top". */
bool classifier_batch(struct classifier *c, const struct batch_list *l, FILE *out, bool show_progress, size_t *failed);

/**
 * Adds to a list what a command line names: the words, from the first on, and the lines of the file `list`, which may be NULL.
 * Returns false after a message on stderr.
 */
bool classifier_inputs(const char *program, struct batch_list *l, size_t count, const char *const *words, const char *list);
