/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits index arithmetic: the kernel's numbers, tensors, variables and affine forms.
 *
 * Scalars have the type of indices (struct build).  Lanes are i32: tensors have less than 2^31 elements, so that existing lanes
 * are correct and others may wrap.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Returns a number of the kernel: a constant, or a parameter that is loaded at the function's entry. */
V number_value(struct emitter *e, uint32_t number);
/** Returns the coefficient of a variable in a form, or NULL if it has none. */
V form_coefficient(struct emitter *e, const struct form *f, uint32_t var);
/** Returns what the form of a guard must be below, and at least 0. */
V form_bound(struct emitter *e, uint32_t form);
/** Returns the first value of a loop variable: 0, or its lower bound, which is loaded at the function's entry. */
V var_first(struct emitter *e, uint32_t var);
/** Returns the end of its values: its size, or its upper bound, which is loaded likewise. */
V var_end(struct emitter *e, uint32_t var);
/** Returns the number of its values, and moves the position to the end of the innermost code. */
V var_values(struct emitter *e, uint32_t var);
/** Returns the alignment of the addresses of a tensor's elements, in bytes. */
uint32_t tensor_alignment(const struct emitter *e, uint32_t tensor);
/** Returns where a tensor begins; the address is loaded at the function's entry. */
V tensor_pointer(struct emitter *e, uint32_t tensor);
/** Returns the value of a variable that is the same for all lanes, as an index. */
V var_scalar(struct emitter *e, const struct context *cx, uint32_t var);
/** Returns the row-major index over the REDUCED variables, without the lanes of a REDUCED vector variable. */
V reduced_index(struct emitter *e, const struct context *cx);

/** The pattern of a form's values from lane to lane. */
enum form_kind {
    FORM_UNIFORM,    /* the same for all lanes */
    FORM_CONTIGUOUS, /* one more in each lane */
    FORM_REVERSED,   /* one less in each lane */
    FORM_LANES       /* anything */
};
/** A form's value for the current lanes and copy: base + 0, lane, -lane or lanes[lane]. */
struct form_value {
    enum form_kind kind;
    V base;          /* an index */
    V lanes;         /* FORM_LANES: <lanes x i32> */
    V tile_step;     /* from row to row of a transposed tile; NULL: it is the same for all */
    V row, along;    /* base in two parts: what form_row_level knows, and the rest; NULL: no vector variable */
    uint32_t offset; /* in stages: the number that is added to both; 0: it is in row */
};
/** Evaluates a form in the context. */
struct form_value form_evaluate(struct emitter *e, const struct context *cx, uint32_t form);
/** Returns base plus lanes, as lanes of so many bits (of FORM_UNIFORM a scalar). */
V form_lanes(struct emitter *e, const struct context *cx, const struct form_value *p, uint32_t bits);
/** Returns a row of a register tile, of those that exist. */
V tile_row(const struct emitter *e, const struct context *cx, uint32_t row);
/** Returns the part of a form that is the same for all lanes, without the vector variable. */
V form_uniform(struct emitter *e, const struct context *cx, uint32_t form);
/** Returns the level at which the pointer of a form's row is computed. */
uint32_t form_row_level(const struct emitter *e, const struct context *cx, const struct form *f);
/** Returns tensor + row as a pointer that is computed outside of the vectors' loop, or NULL if p has no row. */
V form_row_pointer(struct emitter *e, const struct context *cx, uint32_t form, struct form_value *p, T element, V tensor);
/** Returns the address tensor + p; row is what form_row_pointer gave. */
V form_pointer(struct emitter *e, T element, V tensor, V row, const struct form_value *p);
/** Returns the i-th of pointers that are `step` elements apart.  groups[0] is the first; every fourth one is added to groups as
 * needed. */
V stepped_pointer(struct emitter *e, T element, V groups[ROW_GROUPS], V step, uint32_t i);
