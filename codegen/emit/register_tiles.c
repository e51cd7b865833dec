/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits all register tiles of a unit: whole ones, then those of the rows, vectors and elements that are left over.
 */
#include "codegen/emit/register_tiles.h"

#include "codegen/emit/loop.h"
#include "codegen/emit/microkernel.h"

/* Says which rows there are, and which tile comes next. */
struct sweep {
    V first_row, end_row;
    struct tile_at tile;
    V *store_values;
};

typedef void (*sweep_body)(struct emitter *e, const struct context *cx, struct sweep *s, V at);

/* Emits for (i = from; i + step <= high; i += step) body, and returns where it stops. */
static V sweep_loop(struct emitter *e, const struct context *cx, struct sweep *s, V from, V high, int64_t step_size,
                    sweep_body body)
{
    struct range_loop l = {.from = from, .step = const_int(&e->m, 64, step_size), .holds = LLVMIntSLE};

    frame_here(&e->frame);
    l.last = LLVMBuildSub(e->m.b, high, l.step, "");
    range_begin(e, &l, "tiles");
    body(e, cx, s, l.at);
    return range_end(e, &l);
}

/* Emits body where the condition holds. */
static void sweep_if(struct emitter *e, const struct context *cx, struct sweep *s, V condition, V at, sweep_body body)
{
    const struct build *m = &e->m;
    LLVMBasicBlockRef then = block_append(m, "rest"), after = block_append(m, "rest.done");
    LLVMBuildCondBr(m->b, condition, then, after);
    frame_continue(&e->frame, then);
    body(e, cx, s, at);
    frame_here(&e->frame);
    LLVMBuildBr(m->b, after);
    frame_continue(&e->frame, after);
}

static void at_row(struct emitter *e, const struct context *cx, struct sweep *s, V row)
{
    s->tile.row = row;
    emit_microkernel(e, cx, &s->tile, s->store_values);
}

/* Emits all rows of one strip of columns. */
static void at_column(struct emitter *e, const struct context *cx, struct sweep *s, V column)
{
    const struct build *m = &e->m;
    V row = s->first_row;

    s->tile.column = column;
    if (e->s->tile.m_var == KEXPR_NONE) {
        s->tile.rows = 1;
        at_row(e, cx, s, NULL);
        return;
    }
    if (e->s->tile.full_rows) {
        s->tile.rows = e->s->tile.mr;
        row = sweep_loop(e, cx, s, row, s->end_row, e->s->tile.mr, at_row);
    }
    for (uint32_t i = 0; i < e->s->tile.m_tail_count; i++) {
        s->tile.rows = e->s->tile.m_tails[i];
        frame_here(&e->frame);
        V left = LLVMBuildSub(m->b, s->end_row, row, "");
        V fits = LLVMBuildICmp(m->b, LLVMIntEQ, left, const_int(m, 64, s->tile.rows), "");
        sweep_if(e, cx, s, fits, row, at_row);
    }
}

void emit_register_tiles(struct emitter *e, const struct context *cx, V first_row, V rows, V low, V high, V *store_values)
{
    const struct build *m = &e->m;
    const struct register_tile *t = &e->s->tile;
    struct sweep s = {.first_row = first_row, .store_values = store_values};
    const uint32_t width = e->s->lanes;

    frame_here(&e->frame);
    if (first_row)
        s.end_row = LLVMBuildAdd(m->b, first_row, rows, "");
    if (t->full) {
        s.tile = (struct tile_at){.high = high, .vectors = t->vectors, .lanes = width};
        low = sweep_loop(e, cx, &s, low, high, (int64_t)t->vectors * width, at_column);
    }
    if (t->n_tail) { /* blocks before the last one have none */
        s.tile = (struct tile_at){.high = high, .vectors = t->n_tail, .lanes = width, .masked = t->masked};
        frame_here(&e->frame);
        int64_t least = t->masked ? 1 : (int64_t)t->n_tail * width;
        V fits = LLVMBuildICmp(m->b, LLVMIntSGE, LLVMBuildSub(m->b, high, low, ""), const_int(m, 64, least), "");
        V next = LLVMBuildAdd(m->b, low, const_int(m, 64, (int64_t)t->n_tail * width), "");
        V after = LLVMBuildSelect(m->b, fits, next, low, "");
        sweep_if(e, cx, &s, fits, low, at_column);
        low = after;
    }
    if (t->scalars) {
        s.tile = (struct tile_at){.high = high, .vectors = 1, .lanes = 1};
        sweep_loop(e, cx, &s, low, high, 1, at_column);
    }
}
