/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sums of products in tiles: convolutions, matrix products and whatever else has index maps like theirs (docs/products.md).
 *
 * In: a kernel that kernel_finish marked as blocked.  Vectors run along one PARALLEL variable, and along another one, the row
 * variable, what is loaded by vectors stays the same.  A tile is `rows` x `vectors` accumulators that stay in registers while
 * the REDUCED variables are looped over: a row's factor is loaded once for all vectors, a vector once for all rows.  Copy c of
 * an expression (emit.h) is row c / vectors, vector c % vectors of the tile; what depends on only one of the two is evaluated
 * once. What follows the sum (bias, activation, residual) is computed on the accumulators.
 *
 * Guards (padding) are tested outside of the innermost long loop: rows that are outside read zeros from the stack there, by the
 * same loop as all others.  Where that cannot be (the vectors themselves are guarded, the loop is short), code without guards
 * runs for tiles whose guards all hold, and code with them for the others.
 *
 * Matrix products (`strided`) have an address per row, which stays in a register, so that strides are parameters and all sizes
 * with the same tiles share code.  A factor that comes from memory is fetched ahead: while the rows of one panel are computed,
 * each tile asks for its share of the next one, a little in every step.
 *
 * emit_block_shape.c decides on the shape.  What it decides on is part of the key under which code is shared (emit_structure),
 * and so, without `strided`, are the strides of rows, which become immediate numbers of addresses here.
 */
#include "codegen/emit.h"

bool block_prepare(struct emitter *e)
{
    block_choose(e->k, e->m.isa, &e->block);
    e->edge_pointers = arena_array(&e->arena, (size_t)e->k->expr_count * COPIES_MAX, sizeof *e->edge_pointers);
    for (uint32_t i = 0; e->k->row_var != KEXPR_NONE && !e->block.strided && i < e->form_count; i++) {
        const struct form *f = &e->forms[i];
        for (uint32_t t = 0; t < f->affine->count; t++)
            if (f->affine->terms[t].var == e->k->row_var)
                e->numbers.items[f->number + 1 + t].slot = -1;
    }
    return e->edge_pointers != NULL;
}

void block_enter_function(struct emitter *e)
{
    const struct build *m = &e->m;
    enum { STEP = 16 };

    if (!e->block.zeros)
        return;
    T row = type_lanes(type_int(m, 32), STEP);
    e->zeros = alloca_entry(m, LLVMArrayType2(type_int(m, 32), e->block.zeros), "zeros");
    emit_here(e);
    LLVMBasicBlockRef before = e->tail, loop = block_append(m, "zero"), after = block_append(m, "zeroed");
    LLVMBuildBr(m->b, loop);
    emit_block(e, loop);
    V i = LLVMBuildPhi(m->b, type_int(m, 64), "i");
    V address = LLVMBuildInBoundsGEP2(m->b, type_int(m, 32), e->zeros, &i, 1, "");
    LLVMSetAlignment(LLVMBuildStore(m->b, LLVMConstNull(row), address), 4);
    V next = LLVMBuildAdd(m->b, i, const_int(m, 64, STEP), "");
    V more = LLVMBuildICmp(m->b, LLVMIntSLT, next, const_int(m, 64, e->block.zeros), "");
    LLVMBuildCondBr(m->b, more, loop, after);
    V values[2] = {const_int(m, 64, 0), next};
    LLVMBasicBlockRef from[2] = {before, loop};
    LLVMAddIncoming(i, values, from, 2);
    emit_block(e, after);
}

/* ---- copies ---- */

static void set_copy(struct emitter *e, uint32_t copy)
{
    e->copy = copy;
    e->mask = copy % e->tile_vectors == e->tile_vectors - 1 ? e->tile_mask : NULL;
}

/* ---- one tile ---- */

struct tile {
    uint32_t sum; /* the REDUCE */
    V accumulators[COPIES_MAX], totals[COPIES_MAX];
    V *values;   /* of the stores */
    bool guards; /* evaluate them */
};

static T sum_type(const struct emitter *e)
{
    return type_lanes(type_f32(&e->m), e->lanes);
}

static void set_sums(struct emitter *e, V *slots)
{
    emit_here(e);
    for (uint32_t c = 0; c < e->copies; c++)
        LLVMBuildStore(e->m.b, LLVMConstNull(sum_type(e)), slots[c]);
}

static void step(struct emitter *e, struct tile *t)
{
    const struct kexpr *x = &e->k->exprs[t->sum];
    const struct build *m = &e->m;

    if (e->ahead) /* first: LLVM moves no load across it, and behind all of them they would be in registers together */
        block_fetch(e);
    for (uint32_t c = 0; c < e->copies; c++) {
        set_copy(e, c);
        V a = expr_value_lanes(e, x->args[0], e->lanes), b = expr_value_lanes(e, x->args[1], e->lanes);
        emit_here(e);
        V old = LLVMBuildLoad2(m->b, sum_type(e), t->accumulators[c], "");
        LLVMBuildStore(m->b, op_mad(m, a, b, old), t->accumulators[c]);
    }
    set_copy(e, 0);
}

static void fold(struct emitter *e, struct tile *t)
{
    const struct build *m = &e->m;
    emit_here(e);
    for (uint32_t c = 0; c < e->copies; c++) {
        V total = LLVMBuildLoad2(m->b, sum_type(e), t->totals[c], "");
        V sum = LLVMBuildLoad2(m->b, sum_type(e), t->accumulators[c], "");
        LLVMBuildStore(m->b, LLVMBuildFAdd(m->b, total, sum, ""), t->totals[c]);
    }
    set_sums(e, t->accumulators);
}

/* ---- guards ---- */

/* The form's value at the tile's first point, and how much more it is at the last one, of what loops inside of `depth` span. */
static void guard_ends(struct emitter *e, uint32_t form, uint32_t depth, V *first, V *last)
{
    const struct form *f = &e->forms[form];
    const struct build *m = &e->m;
    V low = number_value(e, f->number), more = const_int(m, 64, 0);

    for (uint32_t i = 0; i < f->affine->count; i++) {
        const uint32_t var = f->affine->terms[i].var;
        const bool reduced = e->k->vars[var].kind == KVAR_REDUCED;
        V c = number_value(e, f->number + 1 + i), span = NULL, value = NULL;

        if (reduced && var - e->k->parallel_count >= depth) {
            span = number_value(e, e->var_number[var]);
            emit_here(e);
            span = LLVMBuildSub(m->b, span, const_int(m, 64, 1), "");
        } else if (var == e->k->vector_var) {
            value = e->vector_base[0];
            span = const_int(m, 64, (int64_t)e->lanes * e->tile_vectors - 1);
        } else {
            value = var_scalar(e, var);
            if (var == e->k->row_var)
                span = const_int(m, 64, e->tile_rows_count - 1);
        }
        emit_here(e);
        if (value)
            low = LLVMBuildAdd(m->b, low, LLVMBuildMul(m->b, value, c, ""), "");
        if (span)
            more = LLVMBuildAdd(m->b, more, LLVMBuildMul(m->b, span, c, ""), "");
    }
    emit_here(e);
    *first = low;
    *last = LLVMBuildAdd(m->b, low, more, "");
}

/* Whether every point of the tile is inside, as far as loops inside of the open ones go; *some: whether any can be. */
static V inside(struct emitter *e, const struct tile *t, uint32_t depth, V *some)
{
    const struct kexpr *sum = &e->k->exprs[t->sum];
    const struct build *m = &e->m;
    V all = const_int(m, 1, 1);

    *some = NULL;
    for (uint32_t i = 0; i < e->k->expr_count; i++) {
        const struct kexpr *x = &e->k->exprs[i];
        if (!block_is_load(x))
            continue;
        /* A factor that is zero everywhere in the tile adds nothing. */
        const bool vanishes = (sum->args[0] == i || sum->args[1] == i) && x->bits.u64 == 0;
        for (uint32_t g = 0; g < x->guard_count; g++) {
            const struct form *f = &e->forms[e->expr_form[i] + 1 + g];
            V first, last, bound = number_value(e, f->number + 1 + f->affine->count);
            guard_ends(e, e->expr_form[i] + 1 + g, depth, &first, &last);
            V low = LLVMBuildICmp(m->b, LLVMIntSGE, first, const_int(m, 64, 0), "");
            V high = LLVMBuildICmp(m->b, LLVMIntSLT, last, bound, "");
            all = LLVMBuildAnd(m->b, all, LLVMBuildAnd(m->b, low, high, ""), "");
            if (!vanishes)
                continue;
            /* Some point is inside only if the last one is not before the beginning and the first one not behind the end. */
            low = LLVMBuildICmp(m->b, LLVMIntSGE, last, const_int(m, 64, 0), "");
            high = LLVMBuildICmp(m->b, LLVMIntSLT, first, bound, "");
            low = LLVMBuildAnd(m->b, low, high, "");
            *some = *some ? LLVMBuildAnd(m->b, *some, low, "") : low;
        }
    }
    return all;
}

static void nest(struct emitter *e, struct tile *t, uint32_t r);

/* The rest of the loops without guards where all hold, and with them elsewhere. */
static void branch(struct emitter *e, struct tile *t, uint32_t r)
{
    const struct build *m = &e->m;
    const uint32_t level = e->point_level + r;
    V some, all = inside(e, t, r, &some);

    emit_here(e);
    LLVMBasicBlockRef check = block_append(m, "check"), edge = block_append(m, "edge"), done = block_append(m, "joined");
    if (e->block.zeros) { /* the same loop everywhere */
        LLVMBuildBr(m->b, check);
    } else {
        LLVMBasicBlockRef plain = block_append(m, "inside");
        LLVMBuildCondBr(m->b, all, plain, check);
        emit_open(e, level); /* each way has values of its own */
        emit_block(e, plain);
        t->guards = false;
        e->guards_hold = true;
        nest(e, t, r);
        e->guards_hold = false;
        t->guards = true;
        emit_here(e);
        LLVMBuildBr(m->b, done);
    }

    emit_open(e, level);
    emit_block(e, check);
    if (some)
        LLVMBuildCondBr(m->b, some, edge, done);
    else
        LLVMBuildBr(m->b, edge);
    emit_block(e, edge);
    if (e->block.zeros) {
        block_set_edge_pointers(e, r);
        e->edge = true;
        t->guards = false;
    }
    nest(e, t, r);
    e->edge = false;
    t->guards = true;
    emit_here(e);
    LLVMBuildBr(m->b, done);
    emit_open(e, level);
    emit_block(e, done);
}

/* ---- loops over REDUCED variables ---- */

static void inner(struct emitter *e, struct tile *t, uint32_t r)
{
    if (t->guards && e->block.ranged && e->block.branch == r)
        branch(e, t, r);
    else
        nest(e, t, r);
}

struct nest_at {
    struct tile *tile;
    uint32_t r;
};

static void nest_body(struct emitter *e, void *user)
{
    struct nest_at *at = user;
    inner(e, at->tile, at->r + 1);
}

/* A loop cut into blocks, each a sum of its own. */
static void blocks(struct emitter *e, struct nest_at *at, uint32_t var, V size)
{
    const struct build *m = &e->m;
    const uint32_t level = e->point_level + at->r;

    emit_here(e);
    LLVMBasicBlockRef before = e->tail;
    block_enter(m, "block");
    emit_block(e, LLVMGetInsertBlock(m->b));
    V start = LLVMBuildPhi(m->b, type_int(m, 64), "start");
    V end = LLVMBuildAdd(m->b, start, const_int(m, 64, e->block.fold_steps), "");
    V high = op_intrinsic2(m, "llvm.smin", end, size);
    LLVMBasicBlockRef loop = e->tail;
    emit_loop(e, level + 1, var, start, high, nest_body, at);
    fold(e, at->tile);
    emit_here(e);
    LLVMBasicBlockRef latch = e->tail, after = block_append(m, "blocks.done");
    V values[2] = {const_int(m, 64, 0), end};
    LLVMBasicBlockRef from[2] = {before, latch};
    LLVMAddIncoming(start, values, from, 2);
    LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, LLVMIntSLT, end, size, ""), loop, after);
    emit_block(e, after);
}

static void nest(struct emitter *e, struct tile *t, uint32_t r)
{
    if (r == e->k->reduced_count) {
        step(e, t);
        return;
    }
    const uint32_t var = e->k->parallel_count + r, level = e->point_level + r;
    V size = number_value(e, e->var_number[var]);

    if (r >= e->block.unroll_from && !t->guards) {
        for (int64_t i = 0; i < e->k->vars[var].size; i++) {
            emit_open(e, level + 1);
            e->var_value[var] = const_int(&e->m, 64, i);
            inner(e, t, r + 1);
        }
        return;
    }
    struct nest_at at = {t, r};
    emit_enter(e, level, "reduce");
    if (r == e->block.fold)
        blocks(e, &at, var, size);
    else
        emit_loop(e, level + 1, var, const_int(&e->m, 64, 0), size, nest_body, &at);
    emit_leave(e, level);
}

/* ---- the tile ---- */

struct tile_size {
    uint32_t rows, vectors, lanes;
    bool masked;
};

/* The slots of a tile's sums; all tiles of a kernel share them. */
static void make_slots(struct emitter *e, struct tile *t)
{
    for (uint32_t c = 0; c < e->copies; c++) {
        t->accumulators[c] = alloca_entry(&e->m, sum_type(e), "sum");
        if (e->block.fold != KEXPR_NONE)
            t->totals[c] = alloca_entry(&e->m, sum_type(e), "total");
    }
}

static void emit_tile_at(struct emitter *e, struct tile_size size, V row, V column, V high, V *store_values)
{
    const struct build *m = &e->m;
    const struct kernel *k = e->k;
    struct tile t = {.values = store_values, .guards = e->block.guarded};

    for (uint32_t i = 0; i < k->expr_count; i++)
        if (k->exprs[i].op == K_REDUCE)
            t.sum = i;
    emit_here(e);
    emit_open(e, e->vector_level);
    e->lanes = size.lanes;
    e->copies = size.rows * size.vectors;
    e->tile_vectors = size.vectors;
    e->tile_rows_count = size.rows;
    e->blocked = true;
    if (k->row_var != KEXPR_NONE)
        e->var_value[k->row_var] = row;
    for (uint32_t c = 0; c < e->copies; c++) {
        const int64_t vector = c % size.vectors;
        e->vector_base[c] = c >= size.vectors ? e->vector_base[vector]
                            : vector          ? LLVMBuildAdd(m->b, column, const_int(m, 64, vector * size.lanes), "")
                                              : column;
    }
    e->tile_mask = NULL;
    if (size.masked) {
        V left = LLVMBuildSub(m->b, high, e->vector_base[size.vectors - 1], "");
        left = splat(m, LLVMBuildTrunc(m->b, left, type_int(m, 32), ""), size.lanes);
        e->tile_mask = LLVMBuildICmp(m->b, LLVMIntULT, const_iota(m, 32, size.lanes), left, "mask");
    }
    set_copy(e, 0);

    e->phase = 0;
    make_slots(e, &t);
    set_sums(e, t.accumulators);
    if (e->block.fold != KEXPR_NONE)
        set_sums(e, t.totals);
    if (e->block.strided)
        block_set_row_pointers(e);
    if (e->block.ahead != KEXPR_NONE)
        block_set_ahead(e, row);
    e->edge = e->block.strided;
    inner(e, &t, 0);
    e->edge = false;
    e->ahead = NULL;
    e->phase = k->phase_count;
    emit_here(e);
    for (uint32_t c = 0; c < e->copies; c++) {
        V slot = e->block.fold != KEXPR_NONE ? t.totals[c] : t.accumulators[c];
        V value = LLVMBuildLoad2(m->b, sum_type(e), slot, "");
        e->expr_cache[t.sum * COPIES_MAX + c] = (struct cached){value, e->levels[e->point_level].serial};
    }
    /* All of a tile is computed before any of it is stored: a residual may lie where the result goes. */
    for (uint32_t c = 0; c < e->copies; c++) {
        set_copy(e, c);
        for (uint32_t i = 0; i < k->store_count; i++)
            t.values[i * COPIES_MAX + c] = expr_value(e, k->stores[i].expr);
    }
    for (uint32_t c = 0; c < e->copies; c++) {
        set_copy(e, c);
        for (uint32_t i = 0; i < k->store_count; i++)
            emit_store(e, i, t.values[i * COPIES_MAX + c]);
    }
    e->tile_mask = e->mask = NULL;
    e->blocked = false;
    e->copy = 0;
    e->lanes = e->copies = 1;
    emit_here(e);
}

/* ---- all tiles of a unit ---- */

struct sweep {
    V first_row, end_row, row, column, high;
    struct tile_size size;
    V *store_values;
};

typedef void (*sweep_body)(struct emitter *e, struct sweep *s, V at);

/* for (i = from; i + step <= high; i += step) body; returns where it stopped. */
static V sweep_loop(struct emitter *e, struct sweep *s, V from, V high, int64_t step_size, sweep_body body)
{
    const struct build *m = &e->m;
    T i64 = type_int(m, 64);

    emit_here(e);
    V size = const_int(m, 64, step_size), last = LLVMBuildSub(m->b, high, size, "");
    LLVMBasicBlockRef before = e->tail, loop = block_append(m, "tiles"), after = block_append(m, "tiles.done");
    LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, LLVMIntSLE, from, last, ""), loop, after);
    emit_block(e, loop);
    V i = LLVMBuildPhi(m->b, i64, "at");
    body(e, s, i);
    emit_here(e);
    V next = LLVMBuildAdd(m->b, i, size, "");
    LLVMBasicBlockRef latch = e->tail;
    LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, LLVMIntSLE, next, last, ""), loop, after);
    V values[2] = {from, next};
    LLVMBasicBlockRef blocks[2] = {before, latch};
    LLVMAddIncoming(i, values, blocks, 2);
    emit_block(e, after);
    V stopped = LLVMBuildPhi(m->b, i64, "");
    LLVMAddIncoming(stopped, values, blocks, 2);
    return stopped;
}

/* body where condition holds. */
static void sweep_if(struct emitter *e, struct sweep *s, V condition, V at, sweep_body body)
{
    const struct build *m = &e->m;
    LLVMBasicBlockRef then = block_append(m, "rest"), after = block_append(m, "rest.done");
    LLVMBuildCondBr(m->b, condition, then, after);
    emit_block(e, then);
    body(e, s, at);
    emit_here(e);
    LLVMBuildBr(m->b, after);
    emit_block(e, after);
}

static void at_row(struct emitter *e, struct sweep *s, V row)
{
    emit_tile_at(e, s->size, row, s->column, s->high, s->store_values);
}

/* All rows of one strip of columns. */
static void at_column(struct emitter *e, struct sweep *s, V column)
{
    const struct build *m = &e->m;
    V row = s->first_row;

    s->column = column;
    if (e->k->row_var == KEXPR_NONE) {
        s->size.rows = 1;
        at_row(e, s, NULL);
        return;
    }
    if (e->block.full_rows) {
        s->size.rows = e->block.rows;
        row = sweep_loop(e, s, row, s->end_row, e->block.rows, at_row);
    }
    for (uint32_t i = 0; i < e->block.tail_count; i++) {
        s->size.rows = e->block.tails[i];
        emit_here(e);
        V left = LLVMBuildSub(m->b, s->end_row, row, "");
        V fits = LLVMBuildICmp(m->b, LLVMIntEQ, left, const_int(m, 64, s->size.rows), "");
        sweep_if(e, s, fits, row, at_row);
    }
}

void block_range(struct emitter *e, V first_row, V rows, V low, V high, V *store_values)
{
    const struct build *m = &e->m;
    const struct block_shape *b = &e->block;
    struct sweep s = {.first_row = first_row, .high = high, .store_values = store_values};
    const uint32_t width = e->width;

    emit_here(e);
    if (first_row)
        s.end_row = LLVMBuildAdd(m->b, first_row, rows, "");
    if (b->full) {
        s.size = (struct tile_size){.vectors = b->vectors, .lanes = width};
        low = sweep_loop(e, &s, low, high, (int64_t)b->vectors * width, at_column);
    }
    if (b->rest) { /* blocks before the last one have none */
        s.size = (struct tile_size){.vectors = b->rest, .lanes = width, .masked = b->masked};
        emit_here(e);
        int64_t least = b->masked ? 1 : (int64_t)b->rest * width;
        V fits = LLVMBuildICmp(m->b, LLVMIntSGE, LLVMBuildSub(m->b, high, low, ""), const_int(m, 64, least), "");
        V next = LLVMBuildAdd(m->b, low, const_int(m, 64, (int64_t)b->rest * width), "");
        V after = LLVMBuildSelect(m->b, fits, next, low, "");
        sweep_if(e, &s, fits, low, at_column);
        low = after;
    }
    if (b->scalars) {
        s.size = (struct tile_size){.vectors = 1, .lanes = 1};
        sweep_loop(e, &s, low, high, 1, at_column);
    }
}
