/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Addresses of a tile's rows, set before its loops: of rows that may lie outside of the image, of rows whose stride is a
 * parameter, and of what is fetched for the next panel.  In: a tile about to be emitted (emit_block.c).  Out: edge_pointers,
 * which loads of factors go through, and e->ahead.
 */
#include "codegen/emit.h"

/* What of a form is known with `depth` loops open, at row `row` of the tile. */
static V open_part(struct emitter *e, uint32_t form, uint32_t depth, uint32_t row)
{
    const struct form *f = &e->forms[form];
    const struct build *m = &e->m;
    V sum = number_value(e, f->number);

    for (uint32_t i = 0; i < f->affine->count; i++) {
        const uint32_t var = f->affine->terms[i].var;
        if (e->k->vars[var].kind == KVAR_REDUCED && var - e->k->parallel_count >= depth)
            continue;
        V c = number_value(e, f->number + 1 + i), value = var == e->k->vector_var ? e->vector_base[0] : var_scalar(e, var);
        emit_here(e);
        if (var == e->k->row_var)
            value = LLVMBuildAdd(m->b, value, const_int(m, 64, row), "");
        sum = LLVMBuildAdd(m->b, sum, LLVMBuildMul(m->b, value, c, ""), "");
    }
    return sum;
}

/* Where the rows of guarded factors begin: at zeros if they are outside. */
void block_set_edge_pointers(struct emitter *e, uint32_t depth)
{
    const struct build *m = &e->m;

    for (uint32_t i = 0; i < e->k->expr_count; i++) {
        const struct kexpr *x = &e->k->exprs[i];
        if (!block_zeros_of(e->k, x, depth))
            continue;
        T element = storage_type(e, e->k->tensors[x->tensor].type);
        V tensor = tensor_pointer(e, x->tensor);
        for (uint32_t row = 0; row < (e->expr_rows[i] ? e->tile_rows_count : 1); row++) {
            V all = const_int(m, 1, 1), index = open_part(e, e->expr_form[i], depth, row);
            for (uint32_t g = 0; g < x->guard_count; g++) {
                const struct form *f = &e->forms[e->expr_form[i] + 1 + g];
                V bound = number_value(e, f->number + 1 + f->affine->count);
                V at = open_part(e, e->expr_form[i] + 1 + g, depth, row);
                emit_here(e);
                all = LLVMBuildAnd(m->b, all, LLVMBuildICmp(m->b, LLVMIntULT, at, bound, ""), "");
            }
            emit_here(e);
            V address = LLVMBuildGEP2(m->b, element, tensor, &index, 1, "");
            e->edge_pointers[i * COPIES_MAX + row] = LLVMBuildSelect(m->b, all, address, e->zeros, "edge");
        }
    }
}

/* Where the rows of a strided kernel begin: one address each, which passes do not take apart. */
void block_set_row_pointers(struct emitter *e)
{
    const struct build *m = &e->m;

    for (uint32_t i = 0; i < e->k->expr_count; i++) {
        const struct kexpr *x = &e->k->exprs[i];
        if (!block_is_row_factor(e->k, x))
            continue;
        T element = storage_type(e, e->k->tensors[x->tensor].type);
        V tensor = tensor_pointer(e, x->tensor);
        for (uint32_t row = 0; row < e->tile_rows_count; row++) {
            V index = open_part(e, e->expr_form[i], 0, row);
            emit_here(e);
            e->edge_pointers[i * COPIES_MAX + row] = op_opaque(m, LLVMBuildGEP2(m->b, element, tensor, &index, 1, "row"));
        }
    }
}

/* What the tile fetches of the next panel: the share of its rows among all points that this one is read for. */
void block_set_ahead(struct emitter *e, V row)
{
    const struct build *m = &e->m;
    const struct kernel *k = e->k;
    const uint32_t wide = block_wide_factor(k);
    const struct form *f = &e->forms[e->expr_form[wide]];
    const int64_t size = (int64_t)dtype_size(k->tensors[k->exprs[wide].tensor].type);
    V rows = number_value(e, e->var_number[k->row_var]), points = rows, at = NULL, steps = const_int(m, 64, 1);
    V tensor = tensor_pointer(e, k->exprs[wide].tensor), panel = NULL;

    for (uint32_t i = 0; i < f->affine->count; i++)
        if (f->affine->terms[i].var == e->block.ahead)
            panel = number_value(e, f->number + 1 + i);
    for (uint32_t i = 0; i < k->parallel_count; i++) { /* as units walk them */
        if (i == k->row_var || !block_is_repeat(k, i))
            continue;
        V count = number_value(e, e->var_number[i]);
        emit_at(e, LEVEL_ENTRY);
        points = LLVMBuildMul(m->b, points, count, "");
        emit_here(e);
        at = at ? LLVMBuildMul(m->b, at, count, "") : NULL;
        at = at ? LLVMBuildAdd(m->b, at, e->var_value[i], "") : e->var_value[i];
    }
    for (uint32_t r = 0; r < k->reduced_count; r++) {
        V count = number_value(e, e->var_number[k->parallel_count + r]);
        emit_at(e, LEVEL_ENTRY);
        steps = LLVMBuildMul(m->b, steps, count, "");
    }
    emit_at(e, LEVEL_ENTRY);
    panel = LLVMBuildMul(m->b, panel, const_int(m, 64, size), "");
    V share = LLVMBuildUDiv(m->b, panel, points, "");
    V tile = LLVMBuildMul(m->b, share, const_int(m, 64, e->block.rows), "");
    e->ahead_step = LLVMBuildAdd(m->b, LLVMBuildUDiv(m->b, tile, steps, ""), const_int(m, 64, 1), "");
    V index = open_part(e, e->expr_form[wide], 0, 0);
    emit_here(e);
    if (at)
        row = LLVMBuildAdd(m->b, LLVMBuildMul(m->b, at, rows, ""), row, "");
    index = LLVMBuildAdd(m->b, LLVMBuildMul(m->b, index, const_int(m, 64, size), ""), panel, "");
    index = LLVMBuildAdd(m->b, index, LLVMBuildMul(m->b, row, share, ""), "");
    e->ahead = op_opaque(m, LLVMBuildGEP2(m->b, type_int(m, 8), tensor, &index, 1, "ahead"));
}

bool block_guards_hold(const struct emitter *e, uint32_t expr)
{
    return e->k->exprs[expr].varying && (e->guards_hold || (e->edge && block_guards_are_common(e->k, expr, e->block.branch)));
}

V block_edge_address(struct emitter *e, uint32_t expr, T element)
{
    const struct form *f = &e->forms[e->expr_form[expr]];
    const struct build *m = &e->m;
    V index = const_int(m, 64, 0);

    for (uint32_t i = 0; i < f->affine->count; i++) {
        const uint32_t var = f->affine->terms[i].var;
        if (e->k->vars[var].kind != KVAR_REDUCED || var - e->k->parallel_count < e->block.branch)
            continue;
        V c = number_value(e, f->number + 1 + i);
        emit_at(e, e->expr_level[expr]);
        index = LLVMBuildAdd(m->b, index, LLVMBuildMul(m->b, e->var_value[var], c, ""), "");
    }
    emit_at(e, e->expr_level[expr]);
    V pointer = e->edge_pointers[expr * COPIES_MAX + (e->expr_rows[expr] ? e->copy / e->tile_vectors : 0)];
    return LLVMBuildGEP2(m->b, element, pointer, &index, 1, "");
}

/* ---- fetching ahead ---- */

/* Where the loops outside of the innermost one have come to: an address of their level, which the innermost loop does not take
 * apart. */
static V ahead_of_loops(struct emitter *e)
{
    const struct build *m = &e->m;
    const uint32_t first = e->k->parallel_count, last = first + e->k->reduced_count - 1;
    V index = NULL;

    for (uint32_t r = first; r < last; r++) {
        V size = number_value(e, e->var_number[r + 1]);
        emit_at(e, e->inner_level - 1);
        index = index ? LLVMBuildAdd(m->b, index, e->var_value[r], "") : e->var_value[r];
        index = LLVMBuildMul(m->b, index, size, "");
    }
    if (!index)
        return e->ahead;
    index = LLVMBuildMul(m->b, index, e->ahead_step, "");
    return op_opaque(m, LLVMBuildGEP2(m->b, type_int(m, 8), e->ahead, &index, 1, ""));
}

void block_fetch(struct emitter *e)
{
    const struct build *m = &e->m;
    V from = ahead_of_loops(e), i = e->var_value[e->k->parallel_count + e->k->reduced_count - 1];

    emit_here(e);
    /* With many rows the same line several times in a row: cheaper than counting. */
    V offset = LLVMBuildMul(m->b, i, e->ahead_step, "");
    op_prefetch(m, LLVMBuildGEP2(m->b, type_int(m, 8), from, &offset, 1, ""));
}
