/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the operands of register tiles: row pointers, guards and prefetching.
 */
#include "codegen/lower/tile.h"

#include "codegen/lower/access.h"
#include "codegen/lower/index.h"

/* ---- rows ---- */

V operand_first(struct emitter *e, const struct context *cx, uint32_t form, uint32_t depth)
{
    const struct form *f = &e->info.forms[form];
    const struct build *m = &e->m;
    V sum = number_value(e, f->number);

    for (uint32_t i = 0; i < f->affine->count; i++) {
        const uint32_t var = f->affine->terms[i].var;
        if (e->k->vars[var].kind == KVAR_REDUCED && var - e->k->parallel_count >= depth)
            continue;
        V c = number_value(e, f->number + 1 + i), value = var_scalar(e, cx, var);
        sum = op_add(m, sum, op_mul(m, value, c));
    }
    return sum;
}

/* Returns what a form is more at a row of the tile than at the one above. */
static V row_step(struct emitter *e, const struct context *cx, uint32_t form, uint32_t row)
{
    V zero = const_index(&e->m, 0), step = form_coefficient(e, &e->info.forms[form], e->s->tile.m_var);

    if (step && cx->tile->whole && row + 1 == cx->tile->rows)
        return op_select(&e->m, cx->tile->whole, step, zero);
    return step ? step : zero;
}

void operand_set_edge_pointers(struct emitter *e, const struct context *cx, uint32_t depth)
{
    const struct build *m = &e->m;

    for (uint32_t i = 0; i < e->k->expr_count; i++) {
        const struct kexpr *x = &e->k->exprs[i];
        const uint32_t form = e->info.expr_form[i], rows = e->info.expr_rows[i] ? cx->tile->rows : 1;
        V inside[COPIES_MAX] = {0};
        if (!tile_zeros(e->s, x, depth))
            continue;
        T element = storage_type(e->k->tensors[x->tensor].type);
        V tensor = tensor_pointer(e, x->tensor), index = operand_first(e, cx, form, depth);
        for (uint32_t g = form + 1; g <= form + x->guard_count; g++) {
            V bound = form_bound(e, g), at = operand_first(e, cx, g, depth);
            for (uint32_t row = 0; row < rows; row++) {
                at = row ? op_add(m, at, row_step(e, cx, g, row)) : at;
                inside[row] = guard_and(e, inside[row], op_ult(m, at, bound));
            }
        }
        for (uint32_t row = 0; row < rows; row++) {
            index = row ? op_add(m, index, row_step(e, cx, form, row)) : index;
            V address = op_address(m, element, tensor, index);
            e->row_pointers[i * COPIES_MAX + row] = op_select(m, inside[row], address, e->args.zero_row);
        }
    }
}

void operand_set_row_pointers(struct emitter *e, const struct context *cx)
{
    const struct build *m = &e->m;

    for (uint32_t i = 0; i < e->k->expr_count; i++) {
        const struct kexpr *x = &e->k->exprs[i];
        if (!tile_is_a(e->s, x))
            continue;
        T element = storage_type(e->k->tensors[x->tensor].type);
        const uint32_t form = e->info.expr_form[i];
        V at = op_address(m, element, tensor_pointer(e, x->tensor), operand_first(e, cx, form, 0));
        for (uint32_t row = 0; row < cx->tile->rows; row++) {
            at = op_opaque(m, row ? op_address(m, element, at, row_step(e, cx, form, row)) : at);
            e->row_pointers[i * COPIES_MAX + row] = at;
        }
    }
}

V operand_start(struct emitter *e, const struct context *cx, uint32_t expr)
{
    const struct kaffine *a = &e->k->exprs[expr].index;

    for (uint32_t i = 0; i < a->count; i++)
        if (e->k->vars[a->terms[i].var].kind == KVAR_DIVMOD)
            return NULL;
    return operand_first(e, cx, e->info.expr_form[expr], 0);
}

V operand_address(struct emitter *e, const struct context *cx, uint32_t expr, T element)
{
    const struct form *f = &e->info.forms[e->info.expr_form[expr]];
    const struct build *m = &e->m;
    V index = const_index(m, 0);

    if (!cx->row_pointers || !cx->row_pointers[expr * COPIES_MAX])
        return NULL;
    for (uint32_t i = 0; i < f->affine->count; i++) {
        const uint32_t var = f->affine->terms[i].var;
        if (e->k->vars[var].kind != KVAR_REDUCED || var - e->k->parallel_count < e->s->tile.edge)
            continue;
        V c = number_value(e, f->number + 1 + i);
        frame_at(&e->frame, e->info.expr_level[expr]);
        index = op_add(m, index, op_mul(m, e->frame.var_value[var], c));
    }
    frame_at(&e->frame, e->info.expr_level[expr]);
    V pointer = cx->row_pointers[expr * COPIES_MAX + (e->info.expr_rows[expr] ? cx->copy / cx->tile->vectors : 0)];
    return op_address(m, element, pointer, index);
}

/* ---- prefetching ---- */

/* The tile's share of the next panel is that of its rows among all points that this panel is read for. */
void operand_set_prefetch(struct emitter *e, const struct context *cx, V row, struct micro_tile *tile)
{
    const struct build *m = &e->m;
    const struct kernel *k = e->k;
    const uint32_t b = tile_b(e->s);
    const struct form *f = &e->info.forms[e->info.expr_form[b]];
    const int64_t size = (int64_t)dtype_size(k->tensors[k->exprs[b].tensor].type);
    V rows = number_value(e, e->info.numbers.vars[e->s->tile.m_var]), points = rows, at = NULL, steps = const_index(m, 1);
    V tensor = tensor_pointer(e, k->exprs[b].tensor), panel = form_coefficient(e, f, e->s->tile.prefetch_var);

    for (uint32_t i = 0; i < k->parallel_count; i++) { /* as units walk them */
        if (i == e->s->tile.m_var || !tile_repeats_b(e->s, i))
            continue;
        V count = number_value(e, e->info.numbers.vars[i]);
        frame_at(&e->frame, LEVEL_ENTRY);
        points = op_mul(m, points, count);
        frame_here(&e->frame);
        at = at ? op_mul(m, at, count) : NULL;
        at = at ? op_add(m, at, e->frame.var_value[i]) : e->frame.var_value[i];
    }
    for (uint32_t r = 0; r < k->reduced_count - tile_word_vars(e->s); r++) {
        V count = number_value(e, e->info.numbers.vars[k->parallel_count + r]);
        frame_at(&e->frame, LEVEL_ENTRY);
        steps = op_mul(m, steps, count);
    }
    frame_at(&e->frame, LEVEL_ENTRY);
    panel = op_times(m, panel, size);
    V share = op_divide_index(m, panel, points);
    V bytes = op_times(m, share, e->s->tile.mr);
    tile->prefetch_step = op_plus(m, op_divide_index(m, bytes, steps), 1);
    frame_here(&e->frame);
    V index = operand_first(e, cx, e->info.expr_form[b], 0);
    if (at)
        row = op_add(m, op_mul(m, at, rows), row);
    index = op_add(m, op_times(m, index, size), panel);
    index = op_add(m, index, op_mul(m, row, share));
    tile->prefetch = op_opaque(m, op_address(m, type_i8, tensor, index));
}

/* Returns where the loops outside of the innermost one have come to: an address of their level, which the innermost loop does
 * not take apart. */
static V prefetch_of_loops(struct emitter *e, const struct context *cx)
{
    const struct build *m = &e->m;
    const uint32_t first = e->k->parallel_count, words = tile_word_vars(e->s), last = first + e->k->reduced_count - 1 - words;
    V index = NULL;

    for (uint32_t r = first; r < last; r++) {
        V size = number_value(e, e->info.numbers.vars[r + 1]);
        frame_at(&e->frame, e->info.inner_level - 1 - words);
        index = index ? op_add(m, index, e->frame.var_value[r]) : e->frame.var_value[r];
        index = op_mul(m, index, size);
    }
    if (!index)
        return cx->tile->prefetch;
    index = op_mul(m, index, cx->tile->prefetch_step);
    return op_opaque(m, op_address(m, type_i8, cx->tile->prefetch, index));
}

/* Requests what a single row reads of B at the first of the steps that take the same vectors: twice as far ahead as others. */
static void prefetch_ahead(struct emitter *e, const struct context *cx)
{
    const struct build *m = &e->m;
    const struct kernel *k = e->k;
    const uint32_t b = tile_b(e->s);
    const dtype type = k->tensors[k->exprs[b].tensor].type;
    int64_t step;

    for (uint32_t r = k->parallel_count; r < k->parallel_count + k->reduced_count; r++)
        if (!kaffine_coefficient(k->exprs[b].index, r) && is_int_constant(e->frame.var_value[r], &step) && step)
            return;
    for (uint32_t v = 0; v < cx->tile->vectors; v++) {
        if ((int64_t)(v * cx->lanes * dtype_size(type)) % TARGET_LINE_BYTES)
            continue;
        const struct context of = context_of_copy(cx, v);
        V tensor = tensor_pointer(e, k->exprs[b].tensor);
        V index = form_evaluate(e, &of, e->info.expr_form[b]).base;
        frame_here(&e->frame);
        V at = op_address(m, storage_type(type), tensor, index);
        op_prefetch(m, op_address(m, type_i8, at, const_index(m, 2 * e->s->facts->cache.ahead_bytes)));
    }
}

void operand_prefetch(struct emitter *e, const struct context *cx)
{
    const struct build *m = &e->m;

    if (!cx->tile->prefetch && e->s->tile.m_var == KEXPR_NONE && e->s->tile.prefetch_var != KEXPR_NONE)
        prefetch_ahead(e, cx);
    if (!cx->tile->prefetch)
        return;
    const uint32_t last = e->k->parallel_count + e->k->reduced_count - 1 - tile_word_vars(e->s);
    V from = prefetch_of_loops(e, cx), i = e->frame.var_value[last];
    frame_here(&e->frame);
    /* With many rows the same line is requested several times in a row, which is cheaper than counting. */
    V offset = op_mul(m, i, cx->tile->prefetch_step);
    op_prefetch(m, op_address(m, type_i8, from, offset));
}
