/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loops over one variable: element by element, and in vectors.
 */
#ifndef WEBNN_CODEGEN_EMIT_LOOP_H_
#define WEBNN_CODEGEN_EMIT_LOOP_H_

#include "codegen/emit/emitter.h"

/** Emits what a loop repeats, for the elements of cx. */
typedef void (*loop_body)(struct emitter *e, const struct context *cx, void *user);

/** Begins for (at = from; ...): what follows is the loop's body.  There is at least one iteration. */
struct loop loop_begin(struct emitter *e, V from, const char *name);
/** Ends the body: ... next < high; at = next). */
void loop_end(struct emitter *e, const struct loop *l, V next, V high, const char *name);
/** Ends the body: ... at + step < high; at += step). */
void loop_end_step(struct emitter *e, const struct loop *l, V step, V high, const char *name);

/** This is a loop that may have no iteration: for (at = from; at < last, or <=; at += step). */
struct range_loop {
    LLVMBasicBlockRef before, body, after;
    V from, at, step, last;
    LLVMIntPredicate holds;
    bool once; /* there is one iteration at most */
};

/** Begins such a loop: all members but before, body, after and at are given. */
void range_begin(struct emitter *e, struct range_loop *l, const char *name);
/** Ends its body, and returns where it stops. */
V range_end(struct emitter *e, const struct range_loop *l);
/** Emits for (var = low; var < high; var++) body, at level.  The caller has entered from the parent level.  There is at least
 * one iteration. */
void loop_variable(struct emitter *e, const struct context *cx, uint32_t level, uint32_t var, V low, V high, loop_body body,
                   void *user);

/** Says how a strip of a vector loop goes: copies * lanes elements per iteration. */
struct strip {
    uint32_t lanes, copies;
    bool masked;                              /* lanes past the end are masked */
    bool once;                                /* there is one iteration at most */
    const struct transposed_tile *transposed; /* copies are rows of it, not adjacent vectors; NULL: they are not */
};

/** Emits a loop over the vector variable from `from` on, which runs while a whole step is left (masked: while any element is).
 * Returns where it stops. */
V loop_strip(struct emitter *e, const struct context *cx, V from, V high, struct strip s, loop_body body, void *user);
/** Emits loops over the vector variable from low to high in vectors, `copies` of them at a time; what is left over goes masked
 * or one by one. */
void loop_vectors(struct emitter *e, const struct context *cx, V low, V high, uint32_t copies, loop_body body, void *user);

#endif
