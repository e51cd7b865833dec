/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From kernel IR to an LLVM function: the frame of loops.  emit.h explains levels and lanes.
 *
 *   for each unit: the PARALLEL variables other than the vector variable
 *     for each vector (or few vectors) of the vector variable, if that is PARALLEL
 *       for each phase: loops over the REDUCED variables        emit_reduce.c
 *       stores                                                  emit_memory.c
 *
 * In: a finished kernel and a module.  Out: void name(const struct kernel_args *, int64_t begin, int64_t end) in it.
 * Only what emit_structure shows may shape the code; all other numbers are read from the parameters.
 */
#include "codegen/emit.h"

#include <string.h>

enum {
    COPIED_COST = 6, /* above, arithmetic hides what masks and partial tiles cost: one code for both builds twice as fast */
    UNROLL_POINTS_MAX = 16, /* REDUCED points that are unrolled at most */
    HEAVY_COST = 24         /* instructions of an exponential, roughly: copies of a loop body that large bring little */
};

/* ---- positions ---- */

void emit_here(struct emitter *e)
{
    LLVMPositionBuilderAtEnd(e->m.b, e->tail);
}

void emit_at(struct emitter *e, uint32_t level)
{
    for (; level <= e->inner_level; level++) {
        if (e->levels[level].child) {
            LLVMPositionBuilderBefore(e->m.b, e->levels[level].child);
            return;
        }
    }
    emit_here(e);
}

void emit_block(struct emitter *e, LLVMBasicBlockRef block)
{
    e->tail = block;
    emit_here(e);
}

void emit_open(struct emitter *e, uint32_t level)
{
    e->levels[level].serial = ++e->serial;
    e->levels[level].child = NULL;
}

void emit_enter(struct emitter *e, uint32_t level, const char *name)
{
    emit_here(e);
    e->levels[level].child = block_enter(&e->m, name);
    e->tail = LLVMGetInsertBlock(e->m.b);
}

void emit_leave(struct emitter *e, uint32_t level)
{
    e->levels[level].child = NULL;
}

/* ---- loops ---- */

void emit_loop(struct emitter *e, uint32_t level, uint32_t var, V low, V high, loop_body body, void *user)
{
    const struct build *m = &e->m;
    emit_here(e);
    LLVMBasicBlockRef before = e->tail, loop = block_append(m, "loop");
    LLVMBuildBr(m->b, loop);
    emit_block(e, loop);
    V i = LLVMBuildPhi(m->b, type_int(m, 64), "i");
    emit_open(e, level);
    e->var_value[var] = i;
    body(e, user);
    emit_here(e);
    V next = LLVMBuildAdd(m->b, i, const_int(m, 64, 1), "");
    LLVMBasicBlockRef latch = e->tail, after = block_append(m, "done");
    LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, LLVMIntSLT, next, high, ""), loop, after);
    V values[2] = {low, next};
    LLVMBasicBlockRef from[2] = {before, latch};
    LLVMAddIncoming(i, values, from, 2);
    emit_block(e, after);
}

/* How a strip of a vector loop goes: copies * lanes elements per iteration. */
struct strip {
    uint32_t lanes, copies;
    bool masked, once, tile;
};

/* From `from` on while a whole step (masked: any element) is left; returns where it stopped. */
static V emit_strip(struct emitter *e, V from, V high, struct strip s, loop_body body, void *user)
{
    const struct build *m = &e->m;
    T i64 = type_int(m, 64);
    uint32_t length = s.tile ? s.lanes : s.lanes * s.copies;
    V step = const_int(m, 64, length), last = high;
    LLVMIntPredicate holds = LLVMIntSLT;

    emit_here(e);
    if (!s.masked && length > 1) { /* i + step <= high */
        last = LLVMBuildSub(m->b, high, step, "");
        holds = LLVMIntSLE;
    }
    LLVMBasicBlockRef before = e->tail, loop = block_append(m, "vector"), after = block_append(m, "vector.done");
    LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, holds, from, last, ""), loop, after);
    emit_block(e, loop);
    V i = s.once ? from : LLVMBuildPhi(m->b, i64, "i");

    emit_open(e, e->vector_level);
    e->lanes = s.lanes;
    e->copies = s.copies;
    e->tile = s.tile;
    for (e->copy = 0; e->copy < s.copies; e->copy++)
        e->vector_base[e->copy] =
            e->copy && !s.tile ? LLVMBuildAdd(m->b, i, const_int(m, 64, (int64_t)s.lanes * e->copy), "") : i;
    e->copy = 0;
    e->mask = NULL;
    if (s.masked) {
        V left = LLVMBuildSub(m->b, high, i, "");
        left = op_intrinsic2(m, "llvm.smin", left, const_int(m, 64, s.lanes));
        e->tile_lanes = left;
        left = splat(m, LLVMBuildTrunc(m->b, left, type_int(m, 32), ""), s.lanes);
        e->mask = LLVMBuildICmp(m->b, LLVMIntULT, const_iota(m, 32, s.lanes), left, "mask");
    }
    body(e, user);
    e->mask = e->tile_lanes = NULL;
    e->lanes = e->copies = 1;
    e->tile = false;

    emit_here(e);
    V next = LLVMBuildAdd(m->b, i, step, "");
    LLVMBasicBlockRef latch = e->tail;
    if (s.once) {
        LLVMBuildBr(m->b, after);
    } else {
        LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, holds, next, last, ""), loop, after);
        V values[2] = {from, next};
        LLVMBasicBlockRef blocks[2] = {before, latch};
        LLVMAddIncoming(i, values, blocks, 2);
    }
    emit_block(e, after);
    V stopped = LLVMBuildPhi(m->b, i64, "");
    V values[2] = {from, next};
    LLVMBasicBlockRef blocks[2] = {before, latch};
    LLVMAddIncoming(stopped, values, blocks, 2);
    return stopped;
}

void emit_vector_loop(struct emitter *e, V low, V high, uint32_t copies, loop_body body, void *user)
{
    uint32_t width = e->width;
    int64_t fixed = LLVMIsAConstantInt(low) && LLVMIsAConstantInt(high)
                        ? LLVMConstIntGetSExtValue(high) - LLVMConstIntGetSExtValue(low)
                        : INT64_MAX;

    if (width == 1) {
        emit_strip(e, low, high, (struct strip){.lanes = 1, .copies = 1}, body, user);
        return;
    }
    if (e->k->plain && e->masked_tail) { /* one code for all, whatever the mask costs */
        emit_strip(e, low, high, (struct strip){.lanes = width, .copies = 1, .masked = true}, body, user);
        return;
    }
    if (e->wide_lanes > 1 && fixed >= e->wide_lanes * width)
        low = emit_strip(e, low, high, (struct strip){.lanes = e->wide_lanes * width, .copies = 1}, body, user);
    else if (copies > 1 && fixed >= copies * width)
        low = emit_strip(e, low, high, (struct strip){.lanes = width, .copies = copies}, body, user);
    bool several = copies > 1 || e->wide_lanes > 1;
    if ((!several || !e->masked_tail) && fixed >= width)
        low = emit_strip(e, low, high, (struct strip){.lanes = width, .copies = 1}, body, user);
    if (!several && fixed != INT64_MAX && fixed % width == 0)
        return; /* nothing is left */
    if (e->masked_tail)
        emit_strip(e, low, high, (struct strip){.lanes = width, .copies = 1, .masked = true, .once = !several}, body, user);
    else
        emit_strip(e, low, high, (struct strip){.lanes = 1, .copies = 1}, body, user);
}

/* ---- units ---- */

struct units {
    uint32_t count, vars[KERNEL_VARS_MAX];           /* PARALLEL variables other than the vector variable, outermost first */
    V slots[KERNEL_VARS_MAX], block_slot, tile_slot; /* tile_slot: of the tile variable, or of blocks of the row variable */
    V *store_values;
};

static V blocks_of(struct emitter *e)
{
    const struct build *m = &e->m;
    V size = number_value(e, e->var_number[e->k->vector_var]);
    emit_at(e, LEVEL_ENTRY);
    size = LLVMBuildAdd(m->b, size, const_int(m, 64, KERNEL_BLOCK - 1), "");
    return LLVMBuildLShr(m->b, size, const_int(m, 64, 12), "blocks");
}

/* Rows [u, u + rows) of the tile variable, elements [low, high) of the vector variable. */
static void emit_tiles(struct emitter *e, struct units *u, V low, V high, V rows)
{
    const struct build *m = &e->m;
    const uint32_t width = e->width, woven = e->tiling.woven, most = woven ? woven : width;
    V first = e->var_value[e->tiling.var];
    struct strip strip = {.lanes = width, .copies = most, .tile = true};

    emit_here(e);
    V full = LLVMBuildICmp(m->b, LLVMIntEQ, rows, const_int(m, 64, most), "full"), rest = low;
    e->tile_base = first;
    if (!e->masked_tail || e->tile_twice || woven)
        rest = emit_strip(e, low, LLVMBuildSelect(m->b, full, high, low, ""), strip, emit_point, u->store_values);
    if (e->masked_tail && !woven) { /* part of a tile; a few rows alone are better gathered and scattered */
        strip.masked = true;
        emit_here(e);
        V few = LLVMBuildICmp(m->b, LLVMIntSLE, rows, const_int(m, 64, TILE_FEW_ROWS), "few");
        e->tile_rows = rows;
        rest = emit_strip(e, rest, LLVMBuildSelect(m->b, few, rest, high, ""), strip, emit_point, u->store_values);
        e->tile_rows = NULL;
    }
    struct strip line = {.lanes = e->masked_tail ? width : 1, .copies = 1, .masked = e->masked_tail};
    emit_here(e);
    LLVMBasicBlockRef before = e->tail, loop = block_append(m, "row");
    V end = LLVMBuildAdd(m->b, first, rows, "");
    LLVMBuildBr(m->b, loop);
    emit_block(e, loop);
    V row = LLVMBuildPhi(m->b, type_int(m, 64), "row");
    e->var_value[e->tiling.var] = row;
    emit_strip(e, rest, high, line, emit_point, u->store_values);
    emit_here(e);
    V next = LLVMBuildAdd(m->b, row, const_int(m, 64, 1), "");
    LLVMBasicBlockRef latch = e->tail, after = block_append(m, "rows.done");
    LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, LLVMIntSLT, next, end, ""), loop, after);
    V values[2] = {first, next};
    LLVMBasicBlockRef from[2] = {before, latch};
    LLVMAddIncoming(row, values, from, 2);
    emit_block(e, after);
}

/* Elements [first, last) of the vector variable, by blocks; with tiles for several rows. */
static void emit_range(struct emitter *e, struct units *u, V first, V last, V rows)
{
    const struct build *m = &e->m;
    V block = const_int(m, 64, KERNEL_BLOCK), size = number_value(e, e->var_number[e->k->vector_var]);
    emit_here(e);
    V low = LLVMBuildMul(m->b, first, block, "");
    V high = op_intrinsic2(m, "llvm.smin", LLVMBuildMul(m->b, last, block, ""), size);
    if (e->k->fixed_lanes && LLVMIsAConstantInt(size) && LLVMConstIntGetSExtValue(size) <= KERNEL_BLOCK) {
        low = const_int(m, 64, 0); /* there is one block */
        high = size;
    }
    emit_enter(e, LEVEL_UNIT, "range");
    if (rows)
        emit_tiles(e, u, low, high, rows);
    else
        emit_vector_loop(e, low, high, e->copies_parallel, emit_point, u->store_values);
    emit_leave(e, LEVEL_UNIT);
}

/* Whether units count blocks of the row variable. */
static bool has_rows(const struct emitter *e)
{
    return e->k->blocked && e->k->row_var != KEXPR_NONE;
}

static V row_blocks_of(struct emitter *e)
{
    const struct build *m = &e->m;
    V size = number_value(e, e->var_number[e->k->row_var]);
    emit_at(e, LEVEL_ENTRY);
    size = LLVMBuildAdd(m->b, size, const_int(m, 64, e->k->row_block - 1), "");
    return LLVMBuildUDiv(m->b, size, const_int(m, 64, e->k->row_block), "row.blocks");
}

/* A block of rows and one of the vector variable, in tiles. */
static void emit_block_unit(struct emitter *e, struct units *u, V block)
{
    const struct build *m = &e->m;
    V size = number_value(e, e->var_number[e->k->vector_var]), first = NULL, rows = NULL,
      length = const_int(m, 64, KERNEL_BLOCK);

    if (has_rows(e)) {
        V count = number_value(e, e->var_number[e->k->row_var]), most = const_int(m, 64, e->k->row_block);
        emit_here(e);
        first = LLVMBuildMul(m->b, LLVMBuildLoad2(m->b, type_int(m, 64), u->tile_slot, "rows"), most, "");
        rows = op_intrinsic2(m, "llvm.smin", LLVMBuildSub(m->b, count, first, ""), most);
    }
    emit_here(e);
    V low = LLVMBuildMul(m->b, block, length, "");
    V high = op_intrinsic2(m, "llvm.smin", LLVMBuildAdd(m->b, low, length, ""), size);
    emit_enter(e, LEVEL_UNIT, "range");
    block_range(e, first, rows, low, high, u->store_values);
    emit_leave(e, LEVEL_UNIT);
}

/* One digit of a unit's number, into a new slot; returns what is left of the number. */
static V split_digit(struct emitter *e, V unit, V size, V *slot)
{
    const struct build *m = &e->m;
    *slot = alloca_entry(m, type_int(m, 64), "digit");
    emit_here(e);
    LLVMBuildStore(m->b, LLVMBuildURem(m->b, unit, size, ""), *slot);
    return LLVMBuildUDiv(m->b, unit, size, "");
}

/* unit -> the variables' values, into their slots.  Fastest is the tile variable or blocks of rows, then blocks of the vector
 * variable, then the others from the last to the first.  (Any order would do: units are independent.) */
static void split_unit(struct emitter *e, struct units *u, V unit)
{
    if (e->tiling.var != KEXPR_NONE)
        unit = split_digit(e, unit, number_value(e, e->var_number[e->tiling.var]), &u->tile_slot);
    if (has_rows(e) && !e->k->rows_outer)
        unit = split_digit(e, unit, row_blocks_of(e), &u->tile_slot);
    if (e->vector_parallel)
        unit = split_digit(e, unit, blocks_of(e), &u->block_slot);
    for (uint32_t i = u->count; i-- > 0;)
        unit = split_digit(e, unit, number_value(e, e->var_number[u->vars[i]]), &u->slots[i]);
    if (has_rows(e) && e->k->rows_outer)
        split_digit(e, unit, row_blocks_of(e), &u->tile_slot);
}

/* slot = carry added; returns the carry out of a counter of that size. */
static V count_up(struct emitter *e, V slot, V size, V carry)
{
    const struct build *m = &e->m;
    T i64 = type_int(m, 64);
    emit_here(e);
    V next = LLVMBuildAdd(m->b, LLVMBuildLoad2(m->b, i64, slot, ""), carry, "");
    V full = LLVMBuildICmp(m->b, LLVMIntEQ, next, size, "");
    LLVMBuildStore(m->b, LLVMBuildSelect(m->b, full, const_int(m, 64, 0), next, ""), slot);
    return LLVMBuildZExt(m->b, full, i64, "");
}

static void next_unit(struct emitter *e, struct units *u, V count)
{
    V carry = count;
    if (e->tiling.var != KEXPR_NONE)
        carry = count_up(e, u->tile_slot, number_value(e, e->var_number[e->tiling.var]), carry);
    if (has_rows(e) && !e->k->rows_outer)
        carry = count_up(e, u->tile_slot, row_blocks_of(e), carry);
    if (e->vector_parallel)
        carry = count_up(e, u->block_slot, blocks_of(e), carry);
    for (uint32_t i = u->count; i-- > 0;)
        carry = count_up(e, u->slots[i], number_value(e, e->var_number[u->vars[i]]), carry);
    if (has_rows(e) && e->k->rows_outer)
        count_up(e, u->tile_slot, row_blocks_of(e), carry);
}

/* Emits the unit, or as many as make a tile; returns how many. */
static V unit_body(struct emitter *e, struct units *u, V unit, V end)
{
    const struct build *m = &e->m;
    T i64 = type_int(m, 64);
    V count = const_int(m, 64, 1), rows = NULL;

    emit_open(e, LEVEL_UNIT);
    for (uint32_t i = 0; i < u->count; i++)
        e->var_value[u->vars[i]] = LLVMBuildLoad2(m->b, i64, u->slots[i], "v");
    if (e->tiling.var != KEXPR_NONE) {
        V size = number_value(e, e->var_number[e->tiling.var]);
        emit_here(e);
        V first = LLVMBuildLoad2(m->b, i64, u->tile_slot, "u");
        e->var_value[e->tiling.var] = first;
        rows = op_intrinsic2(m, "llvm.smin", LLVMBuildSub(m->b, size, first, ""), LLVMBuildSub(m->b, end, unit, ""));
        if (!e->tiling.woven)
            rows = op_intrinsic2(m, "llvm.smin", rows, const_int(m, 64, e->width));
        count = rows;
    }
    if (e->k->blocked) {
        emit_block_unit(e, u, LLVMBuildLoad2(m->b, i64, u->block_slot, "block"));
    } else if (e->vector_parallel) {
        V block = LLVMBuildLoad2(m->b, i64, u->block_slot, "block");
        emit_range(e, u, block, LLVMBuildAdd(m->b, block, const_int(m, 64, 1), ""), rows);
    } else {
        emit_point(e, u->store_values);
    }
    return count;
}

static void emit_units(struct emitter *e, struct units *u, V begin, V end)
{
    const struct build *m = &e->m;
    LLVMBasicBlockRef start = block_append(m, "start"), done = block_append(m, "return");

    e->levels[LEVEL_ENTRY].child = LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, LLVMIntSLT, begin, end, ""), start, done);
    emit_block(e, start);
    if (!u->count && e->tiling.var == KEXPR_NONE &&
        !e->k->blocked) { /* blocks of one variable are one range; without any variable there is one unit */
        emit_open(e, LEVEL_UNIT);
        if (e->vector_parallel)
            emit_range(e, u, begin, end, NULL);
        else
            emit_point(e, u->store_values);
    } else {
        split_unit(e, u, begin);
        emit_here(e);
        LLVMBasicBlockRef loop = block_append(m, "unit");
        LLVMBuildBr(m->b, loop);
        emit_block(e, loop);
        V unit = LLVMBuildPhi(m->b, type_int(m, 64), "unit");
        V count = unit_body(e, u, unit, end);
        next_unit(e, u, count);
        emit_here(e);
        V next = LLVMBuildAdd(m->b, unit, count, "");
        LLVMBasicBlockRef latch = e->tail, after = block_append(m, "units.done");
        LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, LLVMIntSLT, next, end, ""), loop, after);
        V values[2] = {begin, next};
        LLVMBasicBlockRef from[2] = {start, latch};
        LLVMAddIncoming(unit, values, from, 2);
        emit_block(e, after);
    }
    emit_here(e);
    LLVMBuildBr(m->b, done);
    e->levels[LEVEL_ENTRY].child = NULL;
    emit_block(e, done);
    LLVMBuildRetVoid(m->b);
}

/* ---- shape of the code ---- */

uint32_t emit_weight(const struct kexpr *x)
{
    switch (x->op) {
    case K_EXP:
    case K_EXPM1:
    case K_LOG:
    case K_LOG1P:
    case K_TANH:
    case K_ERF:
    case K_SIGMOID:
        return HEAVY_COST;
    case K_SIN:
    case K_COS:
    case K_TAN:
    case K_POW: /* called */
        return 4 * HEAVY_COST;
    case K_DIV:
    case K_SQRT:
    case K_RECIPROCAL:
    case K_MIN:
    case K_MAX:
        return 4;
    default:
        return 1;
    }
}

static uint32_t add_weight(const struct emitter *e, uint32_t expr, uint32_t phase, bool *counted)
{
    const struct kexpr *x = &e->k->exprs[expr];
    uint32_t sum = emit_weight(x);
    if (counted[expr] || (x->keep >= 0 && x->phase < phase) || (!x->varying && x->op != K_REDUCE))
        return 0;
    counted[expr] = true;
    for (uint32_t i = 0; i < 3 && x->args[i] != KEXPR_NONE; i++)
        if (e->k->exprs[x->args[i]].op != K_REDUCE)
            sum += add_weight(e, x->args[i], phase, counted);
    return sum;
}

uint32_t emit_phase_copies(struct emitter *e, uint32_t phase)
{
    const struct kernel *k = e->k;
    bool *counted = e->counted;
    uint32_t sum = 0;
    memset(counted, 0, k->expr_count * sizeof *counted);
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (k->exprs[i].phase == phase && (k->exprs[i].op == K_REDUCE || k->exprs[i].keep >= 0))
            sum += add_weight(e, i, phase, counted);
    for (uint32_t i = 0; i < k->store_count; i++)
        if (k->stores[i].varying && k->stores[i].phase == phase)
            sum += add_weight(e, k->stores[i].expr, phase, counted);
    return e->width == 1 ? 0 : k->plain ? 1 : sum >= 3 * HEAVY_COST ? 1 : sum >= HEAVY_COST ? 2 : SUM_COPIES;
}

/* Lanes of a full vector: as many as of the widest type in use, but float32's where types mix. */
static uint32_t choose_width(const struct emitter *e)
{
    const struct kernel *k = e->k;
    size_t widest = 0, narrowest = 8;
    bool plain = true; /* no index lanes, which are 32 bits wide */

    if (k->vector_var == KEXPR_NONE)
        return 1;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        size_t size = ktype_size(k->exprs[i].type);
        if (k->exprs[i].type == KT_BOOL || !e->expr_lanes[i])
            continue;
        widest = size > widest ? size : widest;
        narrowest = size < narrowest ? size : narrowest;
        plain = plain && k->exprs[i].op != K_INDEX;
    }
    for (uint32_t i = 0; i < e->form_count; i++) {
        const struct form *f = &e->forms[i];
        plain = plain && !f->derived_lanes && (f->vector_term < 0 || number_is(e, f->number + 1 + (uint32_t)f->vector_term, 1));
    }
    uint32_t width = e->m.isa->vector_bits / 32;
    if (widest == 1 && plain)
        width *= 4;
    else if (narrowest == 8 && widest == 8 && width > 2)
        width /= 2;
    if (k->scratch_slots && e->vector_parallel && width > KERNEL_LANES)
        width = KERNEL_LANES;
    return width;
}

static void choose_shape(struct emitter *e)
{
    const struct kernel *k = e->k;
    uint32_t cost = 0, inside = 0, reduces = 0; /* inside: of loops over REDUCED variables */
    bool calls = false, wide = true; /* wide: every element in memory has 32 or 64 bits */
    int64_t points = 1;

    for (uint32_t i = 0; i < k->expr_count; i++) {
        cost += emit_weight(&k->exprs[i]);
        inside += k->exprs[i].varying ? emit_weight(&k->exprs[i]) : 0;
        calls |= emit_weight(&k->exprs[i]) > HEAVY_COST;
        reduces += k->exprs[i].op == K_REDUCE;
        if (k->exprs[i].keep >= 0) {
            size_t size = ktype_size(k->exprs[i].type);
            e->row_element = size > e->row_element ? size : e->row_element;
            wide = wide && size >= 4;
        }
    }
    for (uint32_t i = 0; i < k->tensor_count; i++)
        wide = wide && dtype_size(k->tensors[i].type) >= 4;
    bool heavy = inside >= HEAVY_COST || cost >= 2 * HEAVY_COST;
    e->tile_twice = cost < COPIED_COST;
    e->width = choose_width(e);
    e->masked_tail = e->width > 1 && (e->m.isa->masks || (e->m.isa->masks32 && wide));
    e->copies_reduced = SUM_COPIES;
    /* Several vectors side by side use whole cache lines and more of each page of a strided walk. */
    e->copies_parallel = e->width > 1 && !heavy && reduces && reduces <= 2 && !k->scratch_slots ? SUM_COPIES : 1;

    /* One vector's chain of dependent instructions fills the processor's window when functions follow each other.  Several
     * times the lanes are several chains, interleaved as LLVM splits every operation. */
    bool interleave = e->vector_parallel && !k->phase_count && e->m.isa->masks && e->width == e->m.isa->vector_bits / 32 &&
                      cost >= 2 * HEAVY_COST && !calls && e->tiling.var == KEXPR_NONE;
    e->wide_lanes = !interleave ? 1 : cost >= 3 * HEAVY_COST ? 4 : 2;

    e->unroll_from = k->reduced_count;
    while (e->unroll_from > 0) {
        uint32_t var = k->parallel_count + e->unroll_from - 1;
        const struct knumber *size = &e->numbers.items[e->var_number[var]];
        if (size->slot >= 0 || var == k->vector_var || points * size->value > UNROLL_POINTS_MAX)
            break;
        points *= size->value;
        e->unroll_from--;
    }
    if (points > 4 || k->plain)
        e->copies_parallel = 1;
}

/* ---- the function ---- */

static V emit_signature(struct emitter *e, const char *name)
{
    struct build *m = &e->m;
    T params[3] = {type_ptr(m), type_int(m, 64), type_int(m, 64)};
    T type = LLVMFunctionType(LLVMVoidTypeInContext(m->context), params, 3, false);
    V function = LLVMAddFunction(m->module, name, type);
    function_set_attributes(m, function);
    return function;
}

/* Of struct kernel_args, whose members are pointers of the target's size. */
static V load_field(struct emitter *e, size_t offset, const char *name)
{
    const struct build *m = &e->m;
    V index = const_int(m, 64, (int64_t)(offset / sizeof(void *)));
    V address = LLVMBuildInBoundsGEP2(m->b, type_ptr(m), LLVMGetParam(m->function, 0), &index, 1, "");
    return LLVMBuildLoad2(m->b, type_ptr(m), address, name);
}

bool emit_kernel(const struct build *m, const struct kernel *k, const char *name, struct error *error)
{
    struct arena arena = {0};
    struct units units = {0};
    struct emitter *e;

    if (k->stage_count)
        return emit_stages(m, k, name, error);
    e = arena_alloc(&arena, sizeof *e);
    if (!e)
        return error_out_of_memory(error);
    e->m = *m;
    e->k = k;
    e->lanes = e->copies = 1;
    if (!emit_analyze(e, error)) {
        arena_free(&e->arena);
        arena_free(&arena);
        return false;
    }
    choose_shape(e);
    bool ok = !k->blocked || block_prepare(e);
    units.store_values = arena_array(&e->arena, (size_t)k->store_count * COPIES_MAX + 1, sizeof(V));
    while (units.count < k->chunk_vars) { /* a chunk's units follow each other */
        units.vars[units.count] = units.count;
        units.count++;
    }
    for (int pass = 0; pass < 2; pass++) /* first, hence slowest: what a large operand read by vectors depends on */
        for (uint32_t i = k->chunk_vars; i < k->parallel_count; i++)
            if (i != k->vector_var && i != e->tiling.var && !(k->blocked && i == k->row_var) &&
                pass == !(e->block.wide_outer && block_is_outer(k, i)))
                units.vars[units.count++] = i;

    ok = (ok && units.store_values) || error_out_of_memory(error);
    if (ok) {
        e->m.function = emit_signature(e, name);
        emit_block(e, LLVMAppendBasicBlockInContext(m->context, e->m.function, "entry"));
        emit_open(e, LEVEL_ENTRY);
        e->args_tensors = load_field(e, offsetof(struct kernel_args, tensors), "tensors");
        e->args_params = load_field(e, offsetof(struct kernel_args, params), "params");
        e->scratch = load_field(e, offsetof(struct kernel_args, scratch), "scratch");
        if (k->blocked)
            block_enter_function(e);
        emit_units(e, &units, LLVMGetParam(e->m.function, 1), LLVMGetParam(e->m.function, 2));
    }
    arena_free(&e->arena);
    arena_free(&arena);
    return ok;
}
