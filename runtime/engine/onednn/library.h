/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the library for convolutions and matmuls: oneDNN with an interface that names none of its types.  The only files
 * that include its headers are those of runtime/engine/onednn; they compile against oneDNN 2.6 and 3.x
 * (runtime/engine/onednn/onednn_compat.h).
 *
 * The functions say which nodes and potential clusters the library supports, and at what speed.
 * Steps are made here, too: of a library cluster (anchor node, the transposes or dequantizations it reads through, its
 * epilogue) or of a serialized program.  Nothing here depends on memory: runtime/engine/onednn/cpu runs steps in the
 * host's memory, runtime/engine/onednn/gpu in a device's.
 *
 * The order of calls while a graph is built:
 *   1. passes ask library_takes_node, library_takes_operand and library_takes_epilogue (through struct target);
 *   2. storage assignment asks library_may_share for each boundary input that dies in a library cluster;
 *   3. a step is created for an engine (library_step_prepare), which gets the result of storage assignment and
 *      returns its scratch memory in struct library_step_info.
 */
#pragma once

#include "ir/support/debug.h"
#include "ir/graph/ir.h"
#include "ir/target/target.h"
#include "runtime/engine/library_info.h"

/** Holds the library's state for one context.  It may be used from several threads. */
struct library;
struct webnn_object_parallel;
/**
 * Holds one primitive with its attributes, memory descriptors and packed weights.  It does not change, and all invocations
 * share it.
 */
struct library_step;

/**
 * Creates the library for one context, whose primitives run on thread_count threads.  `isa` is as in debug_options: NULL or
 * "native" allows all that the processor has.  Returns NULL after an error in *e.
 *
 * oneDNN's cap is one per process and fixed by the first primitive.  When a later caller asks for less than what the process is
 * fixed to, the cap must hold all the same: such a library takes no node, and everything becomes generated kernels.  Asking for
 * more than the process is fixed to gives the lower one.
 */
struct library *library_create(const char *isa, uint32_t thread_count, const struct webnn_object_parallel *parallel,
                               struct error *e);
/** Frees the library, which may be NULL.  Its steps must have been freed. */
void library_free(struct library *l);

/**
 * Sets the precision of float32 contractions described from then on.  With `prefer` they are computed in bfloat16 even if
 * float32 is faster.
 */
void library_allow(struct library *l, WNNPrecision precision, bool prefer);

/**
 * Makes the library take only contractions of integers from then on, whose sums are exact.  The library's kernels for floats
 * cut long sums into parts, whose lengths depend on the number of threads (its convolutions by brgemm, its
 * contractions of a vector and a matrix by gemm).
 */
void library_take_integers_only(struct library *l);
/** Returns what struct target's bfloat16_rate is on this machine. */
double library_bfloat16_rate(const struct library *l);
/** Sets the target of the passes, for which the library's choices are made. */
void library_compare(struct library *l, const struct target *t);
/**
 * Is struct target's takes_node: returns whether the library takes the node and computes it at least as fast as a generated
 * kernel would. user is a struct library, here and below.
 */
bool library_wants_node(void *user, const struct node *n);

/** The functions of struct target: takes_low_precision and takes_low_precision_input. */
bool library_takes_low_precision(void *user, const struct node *n);
bool library_takes_low_precision_input(void *user, const struct node *n, uint32_t slot);

/** The functions of struct target: takes_node without the comparison of speed, takes_operand and takes_epilogue. */
bool library_takes_node(void *user, const struct node *n);
bool library_takes_operand(void *user, const struct node *n, uint32_t slot, struct node *const *data_movement, uint32_t count);
bool library_takes_epilogue(void *user, struct node *const *nodes, uint32_t count, const struct node *next, uint32_t carried);

/** Is struct target's takes_quantized, which is NULL there if the processor's int8 arithmetic is not exact. */
bool library_takes_quantized(void *user, struct node *const *nodes, uint32_t count);
/** Returns whether sums of int8 products are exact on this processor and may be used. */
bool library_has_exact_integers(const struct library *l);

/**
 * Returns whether `input`, a boundary input of the cluster that dies there, could be in the output's memory.  That is true for
 * a residual that the primitive can add in place (a sum); no other input may ever share memory with the output.  `nodes` are
 * the cluster's, in execution order.
 */
bool library_may_share(struct library *l, struct node *const *nodes, uint32_t count, const struct value *input);

/* ---- steps ---- */

/**
 * Creates the primitive of a cluster (nodes in execution order; the anchor is the one with OPF_LIBRARY); float32 weights that
 * are constant are packed by library_step_finish, before which the step must not run.  The step keeps references to the
 * constants that it reads unpacked, and none to nodes; `inputs` and `output` of its info are the graph's and only meaningful
 * while the graph exists.
 * shares_output(user, v) says whether storage assignment put v into the output's memory, which it does only after
 * library_may_share said yes.  Returns NULL after an error in *e.
 */
struct library_step *library_step_prepare(struct library *l, struct node *const *nodes, uint32_t count,
                                          bool (*shares_output)(void *user, const struct value *v), void *user,
                                          struct error *e);
/** Packs the weights and releases the graph's.  Returns false after an error in *e (memory). */
bool library_step_finish(struct library_step *s, struct error *e);
/** Prepares and finishes a step.  Returns NULL after an error in *e. */
struct library_step *library_step_create(struct library *l, struct node *const *nodes, uint32_t count,
                                         bool (*shares_output)(void *user, const struct value *v), void *user, struct error *e);
/** Fills in a step's description for storage assignment, executables and tools. */
void library_step_info(const struct library_step *s, struct library_step_info *out);
/** Frees a step, which may be NULL. */
void library_step_free(struct library_step *s);

/* ---- saving ---- */

struct stream_reader;
struct stream_writer;
struct location;

/**
 * Writes a step into a serialized program.  Bulk stays where it is and must live as long as o.  With `unpacked` the weights are
 * written as the graph has them, else in the primitive's layout; those of a device always, since another device packs
 * differently. Returns false if unpacked weights were not kept.
 */
bool library_step_save(const struct library_step *s, bool unpacked, struct stream_writer *o);
/** Returns whether a step is saved with weights in the library's own layout, unless unpacked. */
bool library_step_is_packed(const struct library_step *s);
/**
 * Reads a step that runs on these locations: its inputs, then the output.  For any stream, the step accesses only their bytes
 * and data of the serialized program, which must outlive it.  Returns NULL after an error in *e: DataError if the stream is
 * damaged, NotSupportedError if the library needs another layout than the serialized program's.
 */
struct library_step *library_step_load(struct library *l, struct stream_reader *in, uint32_t location_count,
                                       const struct location *locations, struct error *e);

/** Makes steps that are created from then on share packed weights through a pool, which must live longer than the library. */
void library_share_weights(struct library *l, struct constant_pool *pool);
/**
 * Makes steps that are created from then on keep their weights also as the graph has them, for library_step_save's unpacked
 * form.
 */
void library_keep_weights(struct library *l);

/** Returns the dependences of packed weights. */
struct library_facts library_get_facts(const struct library *l);
