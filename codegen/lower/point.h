/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits all that is computed of points: loops over one variable, the phases of a point, and the units of a kernel's work.
 */
#pragma once

#include "codegen/lower/emitter.h"

/* ---- loops over one variable, element by element and in vectors (loop.c) ---- */

/** Emits a loop's body for the elements of cx. */
typedef void (*loop_body)(struct emitter *e, const struct context *cx);

/** Begins for (var = low; var < high; ...) at level, which has at least one iteration.  The caller has entered from the parent
 * level, and ends it by loop_for_end. */
void loop_variable(struct emitter *e, uint32_t level, uint32_t var, V low, V high);

/** Describes a strip of a vector loop: copies * lanes elements per iteration. */
struct strip {
    uint32_t lanes, copies;
    bool masked;                              /* lanes past the end are masked */
    bool once;                                /* there is one iteration at most */
    const struct transposed_tile *transposed; /* copies are rows of it, not adjacent vectors; NULL: they are not */
};

/** Emits a loop over the vector variable from `from` on, which runs while a whole step remains (masked: while any element
 * does).  Returns its end. */
V loop_strip(struct emitter *e, const struct context *cx, V from, V high, struct strip s, loop_body body);
/** Emits loops over the vector variable from low to high in vectors, `copies` of them at a time; the remainder goes masked
 * or one by one. */
void loop_vectors(struct emitter *e, const struct context *cx, V low, V high, uint32_t copies, loop_body body);

/* ---- loops over the REDUCED variables, and the stores (phase.c) ---- */

/** Emits all phases and all stores of the context's points. */
void emit_phases(struct emitter *e, const struct context *cx);
/** Does the same; where windows may be in padding, there is code for those that do not. */
void emit_point(struct emitter *e, const struct context *cx);
/** Emits the stores that come after all phases, whose reductions are known. */
void emit_results(struct emitter *e, const struct context *cx);

/* ---- the loop over units, which are independent pieces of a kernel's work (units.c) ---- */

/** Emits the units [begin, end), then a return. */
void emit_units(struct emitter *e, const struct context *cx, V begin, V end);
