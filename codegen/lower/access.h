/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads and stores: of tensors through index maps and guards, and of row buffers.
 */
#pragma once

#include "codegen/lower/index.h"

/* ---- guards as masks, and tests of all guards of a window at once (guard.c) ---- */

/** Returns a and b, with as many lanes as the one that has more; NULL always holds. */
V guard_and(struct emitter *e, V a, V b);
/** One of the vectors that a strided load is extracted from. */
struct guard_part {
    uint32_t first;  /* its first element, counted from that of the first lane */
    uint32_t stride; /* from lane to lane */
};
/** Emits the conjunction of guards, for use at level: *scalar holds for all lanes, *lanes per lane; each is NULL if there is
 * none.  With a part the lanes are its elements. */
void guards_value(struct emitter *e, const struct context *cx, uint32_t form, uint32_t count, uint32_t level,
                  const struct guard_part *part, V *scalar, V *lanes);
/** Returns scalar conditions: guards hold for every lane, and may hold for some, by those of the first and the last one.
 * Returns false if that is not possible, because a guard depends on other variables than the vector's. */
bool guards_at_ends(struct emitter *e, const struct context *cx, uint32_t form, uint32_t count, V *every, V *some);
/** Returns the value where a guard fails, as that many lanes of the tensor's element type. */
V guard_fill(struct emitter *e, const struct kexpr *load, uint32_t lanes);

/** Returns whether the kernel reads windows that may be in padding, and one test tells whether a whole window does not. */
bool window_is_guarded(const struct emitter *e);
/**
 * Emits the tests for a vector of points: *rows: all guards that are the same for all lanes hold for every element of the
 * window; *lanes: the others hold for all lanes.  Each is NULL if there are no such guards.
 */
void window_tests(struct emitter *e, const struct context *cx, V *rows, V *lanes);

/* ---- any load or store (memory.c) ---- */

/** Returns the value of a K_LOAD. */
V emit_load(struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns the word, or the vector of words, of a type that begins `bytes` bytes after the element that a K_LOAD without guards
 * reads in the first lane. */
V emit_load_word(struct emitter *e, const struct context *cx, uint32_t expr, int64_t bytes, T type, V mask);
/** Emits a store of the value. */
void emit_store(struct emitter *e, const struct context *cx, uint32_t store, V value);
/** Returns the value of a row buffer, of a type, in the current iteration over the REDUCED variables. */
V emit_row_buffer_load(struct emitter *e, const struct context *cx, int32_t buffer, enum ktype type);
/** Puts a value there. */
void emit_row_buffer_store(struct emitter *e, const struct context *cx, int32_t buffer, enum ktype type, V value);

/* ---- loads whose lanes are extracted from whole vectors: strided ones, and those of nearby indices (vector_loads.c) ---- */

/** Returns whether the schedule has a load extracted from whole vectors, and this is code for vectors. */
bool load_is_strided(const struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns the load's value, with its guards applied. */
V emit_strided_load(struct emitter *e, const struct context *cx, uint32_t expr);

/** Returns the elements at address + lanes; lanes are the offsets of the index.  If the guard, which may be NULL, does not
 * hold, nothing is read. */
V emit_permuted_load(struct emitter *e, const struct context *cx, uint32_t expr, T element, V address, V lanes, V guard,
                     uint32_t align);

/* ---- loads and stores with a transpose in registers (transpose.c) ---- */

/** Returns whether this context transposes what a load reads. */
bool load_is_transposed(const struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns whether this context transposes what a store writes. */
bool store_is_transposed(const struct emitter *e, const struct context *cx, uint32_t store);
/** Do the same as emit_load and emit_store, for all copies at once. */
void emit_transposed_load(struct emitter *e, const struct context *cx, uint32_t expr, V values[COPIES_MAX]);
void emit_transposed_store(struct emitter *e, const struct context *cx, uint32_t store, const V *values);

/* ---- rows that are shorter than a vector, all rows of a vector's lanes at a time (short_rows.c) ---- */

/** Loads the rows of an expression for a vector of points into its row buffer. */
void short_rows_load(struct emitter *e, const struct context *cx, uint32_t expr);
/** Stores the rows that a store's row buffer has collected. */
void short_rows_store(struct emitter *e, const struct context *cx, uint32_t store);
