/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The library for convolutions and matrix products: oneDNN behind an interface that names none of its types.  The only files
 * that include its headers are runtime/onednn*.c; they compile against oneDNN 2.6 and 3.x (runtime/onednn_compat.h).
 *
 * In: a library cluster (anchor node plus epilogue).  Out: a step that runs on row-major buffers.
 */
#ifndef WEBNN_RUNTIME_LIBRARY_H_
#define WEBNN_RUNTIME_LIBRARY_H_

#include "ir/debug.h"
#include "ir/ir.h"
#include "ir/target.h"

/** The library's CPU engine.  Thread-safe. */
struct library;
/** One primitive with its attributes, memory descriptors and packed weights.  Running it is thread-safe and allocates nothing. */
struct library_step;

/** isa as in debug_options.  thread_count: what primitives are created for. */
struct library *library_create(const char *isa, uint32_t thread_count, struct error *e);
void library_free(struct library *l);

/** struct target's takes_node and takes_epilogue; user is a struct library. */
bool library_takes_node(void *user, const struct node *n);
bool library_takes_epilogue(void *user, struct node *const *nodes, uint32_t count, const struct node *next, uint32_t carried);

struct library_step_info {
    uint32_t input_count;         /* values the step reads at run time, packed constants excluded */
    const struct value *const *inputs;
    const struct value *output;
    int32_t in_place;             /* index of the input that must lie in the output's memory (sum), -1: none */
    int64_t scratch_bytes;        /* what library_step_run needs, 64-byte aligned */
    int64_t packed_bytes;         /* weights held */
    double flops, bytes;
    const char *implementation;   /* the library's name of it, for profiles */
};

/**
 * Creates the primitive of a cluster; constant weights are packed now (their constants may be released afterwards).
 * may_overwrite[i] says whether the i-th boundary input of the cluster dies here, so that a residual may become a sum in place.
 * NULL: e.
 */
struct library_step *library_step_create(struct library *l, struct node *const *nodes, uint32_t count,
                                         bool (*dies_here)(void *user, const struct value *v), void *user, struct error *e);
void library_step_info(const struct library_step *s, struct library_step_info *out);
/** inputs in info order.  Runs on the calling thread's OpenMP team, which must have the step's thread count. */
bool library_step_run(const struct library_step *s, const void *const *inputs, void *output, void *scratch);
void library_step_free(struct library_step *s);

#endif
