/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits what ir/schedule/schedule_short_rows.c chooses.  Rows of n elements lie one after the other, so that n whole vectors
 * hold those of as many points as a vector has lanes.  In a row buffer they lie column by column, a vector each.
 */
#include "codegen/lower/access.h"

#include "codegen/lower/scalar.h"

static void open_element(struct emitter *e, uint32_t element)
{
    frame_open(&e->frame, e->info.reduced_level);
    e->frame.var_value[e->k->parallel_count] = const_index(&e->m, element);
}

static V first_row(struct emitter *e, const struct context *cx, uint32_t form, uint32_t tensor, T element)
{
    struct context first = *cx;

    first.lanes = 1;
    open_element(e, 0);
    V pointer = tensor_pointer(e, tensor), base = form_evaluate(e, &first, form).base;
    return op_address(&e->m, element, pointer, base);
}

/* Returns the address of one of the vectors, and the mask of what exists of it; NULL: all. */
static V part_of(struct emitter *e, const struct context *cx, V rows, T element, uint32_t part, V *mask)
{
    const struct build *m = &e->m;
    V offset = const_index(m, (int64_t)part * cx->lanes);

    *mask = NULL;
    if (cx->mask) {
        V left = op_times(m, cx->left, e->s->row_buffers.short_rows.size);
        left = splat(m, op_trunc(m, op_sub(m, left, offset), type_i32), cx->lanes);
        *mask = op_lt(m, const_iota(m, 32, cx->lanes), left);
    }
    return op_address(m, element, rows, offset);
}

void short_rows_load(struct emitter *e, const struct context *cx, uint32_t expr)
{
    const struct kexpr *x = &e->k->exprs[expr];
    const struct build *m = &e->m;
    const dtype type = e->k->tensors[x->tensor].type;
    const uint32_t n = e->s->row_buffers.short_rows.size;
    T element = storage_type(type);
    V rows = first_row(e, cx, e->info.expr_form[expr], x->tensor, element), vectors[SCHEDULE_SHORT_ROW_MAX];

    for (uint32_t i = 0; i < n; i++) {
        V mask, address = part_of(e, cx, rows, element, i, &mask);
        vectors[i] = op_load(m, type_lanes(element, cx->lanes), address, mask, tensor_alignment(e, x->tensor));
    }
    emit_deinterleave(m, vectors, n);
    for (uint32_t i = 0; i < n; i++) {
        V value = widen_float(m, vectors[i], type);
        open_element(e, i);
        emit_row_buffer_store(e, cx, e->s->exprs[expr].row_buffer, x->type, value);
    }
}

void short_rows_store(struct emitter *e, const struct context *cx, uint32_t store)
{
    const struct kstore *s = &e->k->stores[store];
    const struct build *m = &e->m;
    const dtype type = e->k->tensors[s->tensor].type;
    const uint32_t n = e->s->row_buffers.short_rows.size;
    T element = storage_type(type);
    V vectors[SCHEDULE_SHORT_ROW_MAX];

    for (uint32_t i = 0; i < n; i++) {
        open_element(e, i);
        V value = emit_row_buffer_load(e, cx, e->s->row_buffers.short_rows.stores[store], e->k->exprs[s->expr].type);
        vectors[i] = narrow_float(m, value, type);
    }
    emit_interleave(m, vectors, n);
    V rows = first_row(e, cx, e->info.store_form[store], s->tensor, element);
    for (uint32_t i = 0; i < n; i++) {
        V mask, address = part_of(e, cx, rows, element, i, &mask);
        op_store(m, vectors[i], address, mask, (uint32_t)dtype_size(type));
    }
}
