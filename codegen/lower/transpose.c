/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Transposes tiles in registers, as ir/schedule/schedule_transpose.c chooses them.  One of the kernel's tensors is contiguous
 * along another variable, u, than the vector variable v.  A tile has as many rows as a vector has lanes: values of u, each of
 * them one copy of the vector.
 *
 * A tensor that is contiguous along u is loaded or stored by whole vectors along u, the tile's lines, one per lane of v, and
 * transposed by shuffles in registers; everything else is as for ordinary copies.  At the edges lanes that do not exist are
 * masked; rows that do not exist are the last one that does, loaded again, and stored before it, so that their stores
 * are overwritten.  Two to four contiguous values of u are loaded and stored by as many whole vectors,
 * which shuffles interleave or deinterleave.
 */
#include "codegen/lower/access.h"

#include "codegen/lower/scalar.h"

static bool is_transposed(const struct emitter *e, const struct context *cx, const struct kaffine *a)
{
    return cx->transposed && transpose_takes(e->s, a);
}

bool load_is_transposed(const struct emitter *e, const struct context *cx, uint32_t expr)
{
    const struct kexpr *x = &e->k->exprs[expr];
    return x->op == K_LOAD && !x->guard_count && is_transposed(e, cx, &x->index);
}

bool store_is_transposed(const struct emitter *e, const struct context *cx, uint32_t store)
{
    return !e->k->stores[store].guard_count && is_transposed(e, cx, &e->k->stores[store].index);
}

/* ---- shuffles ---- */

/* Makes lane i of row j from lane j of row i: first within blocks of 128 bits, where shuffles are cheap, then whole blocks. */
static void transpose(const struct build *m, V *rows, uint32_t n, uint32_t element_bytes)
{
    uint32_t block = 16 / element_bytes < n ? 16 / element_bytes : n;
    V next[16];

    if (block < n / 4) /* 64-bit elements as wide as 16 of 32 bits */
        block = n / 4;
    const uint32_t blocks = n / block;

    for (uint32_t step = 1; step < block; step *= 2) {
        for (uint32_t g = 0; g < n; g += block) {
            for (uint32_t i = 0; i < block / 2; i++) {
                next[g + 2 * i] = blocks_in_turns(m, rows[g + i], rows[g + i + block / 2], block, false);
                next[g + 2 * i + 1] = blocks_in_turns(m, rows[g + i], rows[g + i + block / 2], block, true);
            }
        }
        for (uint32_t i = 0; i < n; i++)
            rows[i] = step < block / 2 || blocks > 1 ? op_fence(m, next[i]) : next[i];
    }
    /* Now row g * block + t has column t of every block, of the rows of group g: pairs of groups join as often as it takes. */
    for (uint32_t t = 0; blocks > 1 && t < block; t++) {
        for (uint32_t g = 0; g < blocks; g++)
            next[g] = rows[g * block + t];
        for (uint32_t joined = 2; joined <= blocks; joined *= 2) {
            V of[4];
            for (uint32_t g = 0; g < blocks; g++)
                of[g] = every_second_block(m, next[g / 2 * 2], next[g / 2 * 2 + 1], block, g % 2);
            for (uint32_t g = 0; g < blocks; g++)
                next[g / 2 + g % 2 * (blocks / 2)] = joined < blocks ? op_fence(m, of[g]) : of[g];
        }
        for (uint32_t g = 0; g < blocks; g++)
            rows[g * block + t] = next[g];
    }
}

/* ---- memory ---- */

/* Holds the vectors along u, one per lane of v. */
struct lines {
    V address[16];
    V mask; /* rows that exist; NULL: all */
};

/* In a partial tile lines that do not exist are the last one that does: it is loaded several times, and stored last. */
static void find_lines(struct emitter *e, const struct context *cx, uint32_t form, V pointer, T element, struct lines *lines)
{
    const struct build *m = &e->m;
    const struct form *f = &e->info.forms[form];
    V stride = number_value(e, f->number + 1 + (uint32_t)f->vector_term), groups[ROW_GROUPS] = {NULL}, offset;
    V uniform = form_uniform(e, cx, form);
    frame_at(&e->frame, form_row_level(e, cx, f));
    V index = op_add(m, uniform, cx->transposed->base);
    V base = op_opaque(m, op_address(m, element, pointer, index));
    frame_at(&e->frame, e->info.vector_level);
    offset = op_mul(m, cx->vector_base[0], stride);
    groups[0] = base = op_opaque(m, op_address(m, element, base, offset));
    lines->mask = NULL;
    if (cx->transposed->rows) {
        frame_at(&e->frame, LEVEL_UNIT);
        V rows = splat(m, op_trunc(m, cx->transposed->rows, type_i32), cx->lanes);
        lines->mask = op_ult(m, const_iota(m, 32, cx->lanes), rows);
    }
    frame_at(&e->frame, e->info.vector_level);
    for (uint32_t j = 0; j < cx->lanes; j++) {
        if (!cx->transposed->lanes) {
            lines->address[j] = stepped_pointer(e, element, groups, stride, j);
            continue;
        }
        if (j) {
            V exists = op_ult(m, const_index(m, j), cx->transposed->lanes);
            offset = op_select(m, exists, stride, const_index(m, 0));
            base = op_address(m, element, base, offset);
        }
        lines->address[j] = base;
    }
}

/* Finds the vectors of an interleaved tensor; none is partial. */
static void find_interleaved(struct emitter *e, const struct context *cx, uint32_t form, V pointer, T element,
                             V address[SCHEDULE_INTERLEAVE_MAX])
{
    const struct build *m = &e->m;
    const uint32_t n = e->s->transpose.interleave;
    V index = form_uniform(e, cx, form);
    frame_at(&e->frame, form_row_level(e, cx, &e->info.forms[form]));
    V base = op_opaque(m, op_address(m, element, pointer, index));
    frame_at(&e->frame, e->info.vector_level);
    V offset = op_times(m, cx->vector_base[0], n);
    base = op_address(m, element, base, offset);
    for (uint32_t j = 0; j < n; j++) {
        offset = const_index(m, (int64_t)j * cx->lanes);
        address[j] = op_address(m, element, base, offset);
    }
}

void emit_transposed_load(struct emitter *e, const struct context *cx, uint32_t expr, V values[COPIES_MAX])
{
    dtype type = e->k->tensors[e->k->exprs[expr].tensor].type;
    T element = storage_type(type), vector = type_lanes(element, cx->lanes);
    uint32_t form = e->info.expr_form[expr], align = tensor_alignment(e, e->k->exprs[expr].tensor);
    V pointer = tensor_pointer(e, e->k->exprs[expr].tensor);
    struct lines lines;

    if (e->s->transpose.interleave) {
        find_interleaved(e, cx, form, pointer, element, lines.address);
        for (uint32_t j = 0; j < cx->copies; j++)
            values[j] = op_load(&e->m, vector, lines.address[j], NULL, align);
        emit_deinterleave(&e->m, values, cx->copies);
    } else {
        find_lines(e, cx, form, pointer, element, &lines);
        for (uint32_t j = 0; j < cx->lanes; j++)
            values[j] = op_load(&e->m, vector, lines.address[j], lines.mask, align);
        transpose(&e->m, values, cx->lanes, (uint32_t)dtype_size(type));
    }
    for (uint32_t c = 0; c < cx->copies; c++)
        values[c] = widen_float(&e->m, values[c], type);
}

void emit_transposed_store(struct emitter *e, const struct context *cx, uint32_t store, const V *values)
{
    const struct kstore *s = &e->k->stores[store];
    dtype type = e->k->tensors[s->tensor].type;
    T element = storage_type(type);
    uint32_t form = e->info.store_form[store], align = (uint32_t)dtype_size(type);
    struct lines lines;
    V rows[16];

    for (uint32_t c = 0; c < cx->copies; c++)
        rows[c] = narrow_float(&e->m, splat(&e->m, values[c], cx->lanes), type);
    if (e->s->transpose.interleave) {
        emit_interleave(&e->m, rows, cx->copies);
        find_interleaved(e, cx, form, tensor_pointer(e, s->tensor), element, lines.address);
        for (uint32_t j = 0; j < cx->copies; j++)
            op_store(&e->m, rows[j], lines.address[j], NULL, align);
        return;
    }
    transpose(&e->m, rows, cx->lanes, align);
    find_lines(e, cx, form, tensor_pointer(e, s->tensor), element, &lines);
    for (uint32_t j = cx->lanes; j-- > 0;)
        op_store(&e->m, rows[j], lines.address[j], lines.mask, align);
}
