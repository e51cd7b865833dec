/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * A built graph, and what it computes from and into (subject.c).
 */
#pragma once

#include <webnn/webnn.h>

#include "bench/bench.h"

enum { BINDINGS_MAX = 64 };

/** Owns its context, graph, buffers and tensors. */
struct subject {
    WNNContext context;
    WNNGraph graph;
    const struct manifest_case *given;
    size_t input_count, output_count;
    WNNNamedBuffer inputs[BINDINGS_MAX], outputs[BINDINGS_MAX];
    /* With --tensors: what dispatch takes, and a tensor that is read to wait for it. */
    bool resident;
    WNNNamedTensor input_tensors[BINDINGS_MAX], output_tensors[BINDINGS_MAX];
    WNNTensor mark;
};

/** Creates the context that the options ask for, with these debug switches.  Returns false after an error. */
bool subject_open(struct subject *s, const struct bench_options *o, const char *debug, struct error *e);
/** Makes buffers for all inputs and outputs of the graph and fills those of inputs with what the model's case has, or noise;
 * with --tensors also tensors that hold the same. */
bool subject_bind(struct subject *s, struct error *e);
/** Computes once: the user is the subject.  With --tensors this is a dispatch and waiting for its end. */
bool subject_run(void *user);
/** Releases and frees everything. */
void subject_close(struct subject *s);

/** Returns the bytes of an operand. */
size_t subject_bytes(const WNNOperandDescriptor *d);
/** Writes the library's last error after `what`, and returns false. */
bool subject_say_last_error(struct error *e, const char *what);
