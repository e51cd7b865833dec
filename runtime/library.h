/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The library for convolutions and matrix products: oneDNN behind an interface that names none of its types.  The only files
 * that include its headers are runtime/onednn*.c; they compile against oneDNN 2.6 and 3.x (runtime/onednn_compat.h).
 *
 * In: a library cluster (anchor node, the transposes or dequantizations it reads through, its epilogue).  Out: a step that runs on row-major
 * buffers.
 *
 * The order of calls while a graph is built:
 *   1. passes ask library_takes_node, library_takes_operand and library_takes_epilogue (through struct target);
 *   2. storage planning asks library_may_share for each boundary input that dies in a library cluster;
 *   3. library_step_create, which is told what planning decided, and library_step_info, which says how much scratch to plan.
 * And while it runs: each execution owns one library_bindings per step, made with the execution, so that runs of one step on
 * several threads never share a memory object; library_step_run then only stores pointers and calls the primitive.
 */
#ifndef WEBNN_RUNTIME_LIBRARY_H_
#define WEBNN_RUNTIME_LIBRARY_H_

#include "ir/debug.h"
#include "ir/ir.h"
#include "ir/target.h"

/** The library's CPU engine.  Thread-safe. */
struct library;
/** One primitive with its attributes, memory descriptors and packed weights.  Immutable: shared by all executions. */
struct library_step;
/** The library's memory objects for one step; used by one thread at a time.  Must not outlive its step. */
struct library_bindings;

/**
 * isa as in debug_options (NULL or "native": all that the processor has).  thread_count: what primitives are created for.
 *
 * oneDNN's cap is one per process and fixed by the first primitive.  When a later caller asks for less than what the process is
 * fixed to, the cap must hold all the same: such a library takes no node, and everything becomes generated kernels.  Asking for
 * more than the process is fixed to gives the lower one.
 */
struct library *library_create(const char *isa, uint32_t thread_count, struct error *e);
void library_free(struct library *l);

/** How exact float32 products described from now on have to be; prefer: bfloat16 also where float32 is faster. */
void library_allow(struct library *l, WNNPrecision precision, bool prefer);

/** What struct target's bfloat16_rate is on this machine. */
double library_bfloat16_rate(const struct library *l);
/** The processor as passes see it, which the choices are made for. */
void library_compare(struct library *l, const struct target *t);
/** struct target's takes_node: what the library takes and computes at least as fast as a generated kernel would. */
bool library_wants_node(void *user, const struct node *n);

/** struct target's narrows_node and narrows_input. */
bool library_narrows_node(void *user, const struct node *n);
bool library_narrows_input(void *user, const struct node *n, uint32_t slot);

/** struct target's takes_node, takes_operand and takes_epilogue; user is a struct library. */
bool library_takes_node(void *user, const struct node *n);
bool library_takes_operand(void *user, const struct node *n, uint32_t slot, struct node *const *movements, uint32_t count);
bool library_takes_epilogue(void *user, struct node *const *nodes, uint32_t count, const struct node *next, uint32_t carried);

/**
 * struct target's takes_quantized; NULL there if the processor's int8 arithmetic is not exact (library_has_exact_integers).
 */
bool library_takes_quantized(void *user, struct node *const *nodes, uint32_t count);
bool library_has_exact_integers(const struct library *l);

/**
 * Whether `input`, a boundary input of the cluster that dies there, could lie in the output's memory: true for a residual that
 * the primitive can add in place (a sum).  No other input may ever share memory with the output.  nodes: the cluster's, in
 * execution order.
 */
bool library_may_share(struct library *l, struct node *const *nodes, uint32_t count, const struct value *input);

/** What a step's multiply-adds are made of: each has a rate of its own. */
enum arithmetic { ARITHMETIC_FLOAT32, ARITHMETIC_BFLOAT16, ARITHMETIC_INT8 };

struct library_step_info {
    uint32_t input_count; /* values the step reads at run time, each once; constants excluded */
    const struct value *const *inputs;
    const struct value *output;
    int32_t in_place;           /* index of the input that must lie in the output's memory (sum), -1: none */
    int64_t scratch_bytes;      /* what library_step_run needs, 64-byte aligned */
    int64_t packed_bytes;       /* weights held by the step */
    double flops, bytes;        /* of one run: 2 per multiply-add; operands read once, output written once */
    WNNPrecision precision;     /* that it computes with */
    enum arithmetic arithmetic;
    double operations;          /* what the arithmetic does for them: flops, bf16x2's three times */
    const char *implementation; /* the library's name of it, for profiles */
};

/**
 * Creates the primitive of a cluster (nodes in execution order; the anchor is the one with OPF_LIBRARY); float32 weights that
 * are constant are packed by library_step_finish, before which the step must not run.  The step keeps references to the constants that it reads unpacked, and none to nodes; `inputs` and `output` of
 * its info are the graph's and only meaningful while the graph lives.
 * shares_output(user, v): whether storage planning put v into the output's memory (only ever after library_may_share said yes).
 * NULL: e.
 */
struct library_step *library_step_prepare(struct library *l, struct node *const *nodes, uint32_t count,
                                          bool (*shares_output)(void *user, const struct value *v), void *user,
                                          struct error *e);
/** Packs weights and lets go of the graph's.  False: e (memory). */
bool library_step_finish(struct library_step *s, struct error *e);
/** Both at once. */
struct library_step *library_step_create(struct library *l, struct node *const *nodes, uint32_t count,
                                         bool (*shares_output)(void *user, const struct value *v), void *user, struct error *e);
void library_step_info(const struct library_step *s, struct library_step_info *out);
void library_step_free(struct library_step *s);

/** NULL: e. */
struct library_bindings *library_bindings_create(const struct library_step *s, struct error *e);
void library_bindings_free(struct library_bindings *b);

/**
 * inputs in info order.  Runs on the calling thread's OpenMP team, which must have the library's thread count
 * (threads_enter).  False: the library failed, which no valid step does.
 */
bool library_step_run(const struct library_step *s, struct library_bindings *b, const void *const *inputs, void *output,
                      void *scratch);

/**
 * Microseconds of the best of many runs, for some seconds, of a primitive for a step's problem, alone, with operands in whatever layouts
 * it prefers (or the step's own, if that is faster).  cold: with weights that are in no near cache.  0: there is none.
 */
double library_step_alone(const struct library_step *s, bool cold, double seconds);

/* ---- saving ---- */

/** Steps made from now on keep their weights also as the graph has them, for library_step_save's plain form. */
void library_keep_weights(struct library *l);

/** What packed weights depend on. */
struct library_facts {
    uint32_t version, isa, threads;
    bool refuses; /* the library is not to be used: its process-wide instruction set is above the cap */
};
struct library_facts library_get_facts(const struct library *l);

struct image_in;
struct image_out;
struct place;

/**
 * Writes a step into an image; bulk stays where it is and must live as long as o.  plain: weights as the graph has them (false
 * if they were not kept), else as the primitive wants them.
 */
bool library_step_save(const struct library_step *s, bool plain, struct image_out *o);
/** Whether a step holds weights in the library's own layout. */
bool library_step_is_packed(const struct library_step *s);
/**
 * Reads one that runs on these places: inputs, then the output.  Whatever the stream says, the step touches only their bytes and
 * data of the image, which must outlive it.  NULL: e, DataError if the stream is damaged, NotSupportedError if the library wants
 * something else than the image has.
 */
struct library_step *library_step_load(struct library *l, struct image_in *in, uint32_t place_count, const struct place *places,
                                       struct error *e);

#endif
