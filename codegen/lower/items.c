/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits what a work-item of a device computes:
 *
 *   points   the PARALLEL variables follow from the item's numbers; then a point, or a vector of points
 *   rows     they follow from the group's number, and all items of it share the iterations of the one point
 *   blocks   a square of points of a transpose (ir/schedule/schedule_gpu_block.c)
 *   tiles    register tiles of a contraction (global_tile.c, local_tile.c, matrix_tile.c)
 *   a stage  points or tiles of a macro-tile, or as many rows at once as the group has times the items that share one
 */
#include "codegen/lower/lower.h"

#include <string.h>

#include "codegen/lower/values.h"
#include "codegen/lower/item_tile.h"
#include "codegen/lower/access.h"
#include "codegen/lower/point.h"

/* ---- points ---- */

/* Emits a point whose lane variable has this value, or a vector of points that begins there. */
static void emit_at(struct emitter *e, V at, uint32_t lanes)
{
    const struct context cx = {.lanes = lanes, .copies = 1, .vector_base = &at};

    frame_open(&e->frame, e->info.point_level);
    if (e->info.vector_parallel)
        e->frame.var_value[e->s->vector_var] = at;
    emit_point(e, &cx);
}

static void emit_alone(struct emitter *e, V from, V to)
{
    V at = loop_for_begin(e->m.b, from, to, 0);

    emit_at(e, at, 1);
    loop_for_end(e->m.b, const_index(&e->m, 1));
}

/* Emits the points of an item that has vectors along a PARALLEL variable: a vector that begins at a point, or the last few
 * points of a row one by one. */
static void emit_vector_item(struct emitter *e, const struct gpu_schedule *s, V first)
{
    const struct build *m = &e->m;
    V size = number_value(e, e->info.numbers.vars[s->lane_var]), lanes = const_index(m, s->lanes);

    V end = op_add(m, first, lanes), last = op_sub(m, size, lanes);
    frame_enter(&e->frame, LEVEL_UNIT, NULL);
    if (s->lane_tail) {
        loop_if_begin(m->b, op_gt(m, end, size));
        emit_alone(e, first, size);
        loop_else(m->b);
    }
    emit_at(e, s->lane_repeats ? op_smin(m, first, last) : first, s->lanes); /* it ends with the row at the latest */
    if (s->lane_tail)
        loop_end(m->b);
    frame_leave(&e->frame, LEVEL_UNIT);
}

static void emit_points(struct emitter *e, const struct gpu_schedule *s)
{
    const struct build *m = &e->m;
    const bool vectors = e->info.vector_parallel;
    V id[GPU_DIMENSIONS] = {NULL}, exists = NULL;

    for (uint32_t d = 0; d < GPU_DIMENSIONS; d++) {
        if (!s->dimensions[d])
            continue;
        id[d] = space_item(e, s, d, d == 0 && vectors ? s->lanes : 1);
        if (s->partial[d])
            exists = guard_and(e, exists, op_lt(m, id[d], space_points(e, s->dimensions[d])));
    }
    frame_enter(&e->frame, LEVEL_ENTRY, exists);
    frame_open(&e->frame, LEVEL_UNIT);
    for (uint32_t d = vectors; d < GPU_DIMENSIONS; d++)
        space_decode(e, s->dimensions[d], id[d]);
    if (vectors)
        emit_vector_item(e, s, id[0]);
    else
        emit_at(e, NULL, 1);
    frame_leave(&e->frame, LEVEL_ENTRY);
}

/* ---- rows ---- */

static void emit_rows(struct emitter *e, const struct gpu_schedule *s)
{
    const struct build *m = &e->m;
    struct sharing sharing = {
        .item = space_place(e, LOOP_ITEM, 0), .items = s->local[0], .first = const_index(m, 0), .memory = NULL};
    T largest = type_i32;

    for (uint32_t i = 0; i < e->k->expr_count; i++) {
        const struct kexpr *x = &e->k->exprs[i];
        const T type = x->op != K_REDUCE ? type_i32 : accumulator_type(e, i);
        largest = loop_type_bits(type) > loop_type_bits(largest) ? type : largest;
        if (x->op == K_REDUCE && kexpr_is_place(x) && !sharing.places)
            sharing.places = loop_array(m->b, LOOP_GROUP_ARRAY, type_i32, s->local[0] * (int64_t)sizeof(int32_t));
    }
    sharing.memory = loop_array(m->b, LOOP_GROUP_ARRAY, largest, s->local[0] * (int64_t)loop_type_bits(largest) / 8);
    e->sharing = &sharing;
    frame_open(&e->frame, LEVEL_UNIT);
    space_decode(e, s->dimensions[0], space_place(e, LOOP_GROUP, 0));
    emit_at(e, NULL, 1);
    e->sharing = NULL;
}

/* ---- stages ---- */

static void emit_stage_points(struct emitter *e, const struct gpu_schedule *s, const struct stage_item *at, uint64_t fixed,
                              uint64_t rest)
{
    const struct build *m = &e->m;
    const bool vectors = e->info.vector_parallel;
    V first = at->id, count, of_row = NULL;

    rest &= vectors ? ~kvars_from(s->lane_var, 1) : rest;
    count = space_points(e, rest);
    if (vectors) {
        V size = number_value(e, e->info.numbers.vars[s->lane_var]);
        of_row = op_parts(m, size, s->lanes);
        count = op_mul(m, of_row, count);
    }
    frame_enter(&e->frame, LEVEL_ENTRY, NULL);
    V point = loop_for_begin(m->b, first, count, 0);
    frame_open(&e->frame, LEVEL_UNIT);
    space_decode(e, fixed, at->tile);
    if (vectors) {
        space_decode(e, rest, op_divide_index(m, point, of_row));
        emit_vector_item(e, s, op_times(m, op_modulo_index(m, point, of_row), s->lanes));
    } else {
        space_decode(e, rest, point);
        emit_at(e, NULL, 1);
    }
    loop_for_end(m->b, const_index(m, s->local[0]));
    frame_leave(&e->frame, LEVEL_ENTRY);
}

/* Emits the points of a stage, as many at once as the group has times the items that share the iterations of one.  All items
 * stay together, because they combine what they have reduced. */
static void emit_stage_rows(struct emitter *e, const struct gpu_schedule *s, const struct stage_item *at, uint64_t fixed,
                            uint64_t rest)
{
    const struct build *m = &e->m;
    const uint32_t at_once = s->local[0] / s->row_items;
    V slots = const_index(m, at_once), points = space_points(e, rest), slot = op_modulo_index(m, at->id, slots);
    struct sharing sharing = {.item = op_divide_index(m, at->id, slots),
                              .items = s->row_items,
                              .memory = at->memory,
                              .first = op_times(m, slot, s->row_items)};

    e->sharing = &sharing;
    frame_enter(&e->frame, LEVEL_ENTRY, NULL);
    V begin = loop_for_begin(m->b, const_index(m, 0), points, 0);
    frame_open(&e->frame, LEVEL_UNIT);
    V point = op_add(m, begin, slot);
    sharing.has_point = op_lt(m, point, points);
    space_decode(e, fixed, at->tile);
    space_decode(e, rest, op_select(m, sharing.has_point, point, const_index(m, 0)));
    emit_at(e, NULL, 1);
    loop_for_end(m->b, slots);
    frame_leave(&e->frame, LEVEL_ENTRY);
    e->sharing = NULL;
}

/* Emits what an item does of a stage, whose schedule s is. */
static void emit_stage_items(struct emitter *e, const struct gpu_schedule *s, const struct stage_item *at)
{
    const uint64_t fixed = kvars_from(0, e->k->macro_tile_vars), rest = kvars_from(0, e->k->parallel_count) & ~fixed;

    frame_open(&e->frame, LEVEL_ENTRY);
    if (s->shape == GPU_ROWS)
        emit_stage_rows(e, s, at, fixed, rest);
    else if (s->shape == GPU_TILES)
        emit_stage_tiles(e, s, at, fixed);
    else
        emit_stage_points(e, s, at, fixed, rest);
}

/* ---- blocks ---- */

/* Sets the values of the two variables of a block. */
static void set_block(struct emitter *e, const struct gpu_schedule *s, V last, V across)
{
    e->frame.var_value[e->k->parallel_count - 1] = last;
    e->frame.var_value[s->block.across] = across;
}

/* Returns the condition that both are points. */
static V block_has(struct emitter *e, const struct gpu_schedule *s, V last, V across)
{
    V sizes[2] = {var_values(e, e->k->parallel_count - 1), var_values(e, s->block.across)};

    return op_and(&e->m, op_lt(&e->m, last, sizes[0]), op_lt(&e->m, across, sizes[1]));
}

/* Emits the points of a block beyond which there are none, one by one. */
static void emit_edge(struct emitter *e, const struct gpu_schedule *s, V last, V across)
{
    const struct build *m = &e->m;
    V side = const_index(m, s->block.side), ends[2] = {var_values(e, e->k->parallel_count - 1), var_values(e, s->block.across)};

    V row = loop_for_begin(m->b, across, op_smin(m, ends[1], op_add(m, across, side)), 0);
    V at = loop_for_begin(m->b, last, op_smin(m, ends[0], op_add(m, last, side)), 0);
    frame_open(&e->frame, LEVEL_UNIT);
    set_block(e, s, at, row);
    emit_at(e, at, 1);
    loop_for_end(m->b, const_index(m, 1));
    loop_for_end(m->b, const_index(m, 1));
}

/* Emits a block in registers: a vector of points for each value of the other variable. */
static void emit_register_block(struct emitter *e, const struct gpu_schedule *s, V last, V across)
{
    const struct transposed_tile tile = {.base = across};
    V bases[GPU_LANES_MAX];
    const struct context cx = {.lanes = s->block.side, .copies = s->block.side, .vector_base = bases, .transposed = &tile};

    for (uint32_t i = 0; i < s->block.side; i++)
        bases[i] = last;
    frame_open(&e->frame, LEVEL_UNIT);
    frame_open(&e->frame, e->info.point_level);
    set_block(e, s, last, across);
    emit_phases(e, &cx);
}

static void emit_register_blocks(struct emitter *e, const struct gpu_schedule *s)
{
    const struct build *m = &e->m;
    V last = space_item(e, s, 0, s->block.side), across = space_item(e, s, 1, s->block.side);
    V end = const_index(m, s->block.side - 1);

    frame_enter(&e->frame, LEVEL_ENTRY, block_has(e, s, last, across));
    space_decode(e, s->dimensions[2], space_item(e, s, 2, 1));
    if (s->lane_tail) {
        loop_if_begin(m->b, op_not(m, block_has(e, s, op_add(m, last, end), op_add(m, across, end))));
        emit_edge(e, s, last, across);
        loop_else(m->b);
    }
    emit_register_block(e, s, last, across);
    if (s->lane_tail)
        loop_end(m->b);
    frame_leave(&e->frame, LEVEL_ENTRY);
}

/* Begins a loop over the lines of a block that an item has a part of, and an if for those of its points that there are. */
static V begin_lines(struct emitter *e, const struct gpu_schedule *s, V last, V across, bool last_runs)
{
    const struct build *m = &e->m;
    V line = loop_for_begin(m->b, space_place(e, LOOP_ITEM, 1), const_index(m, s->block.side), 0);

    frame_open(&e->frame, LEVEL_UNIT);
    last = op_add(m, last, last_runs ? line : space_place(e, LOOP_ITEM, 0));
    across = op_add(m, across, last_runs ? space_place(e, LOOP_ITEM, 0) : line);
    set_block(e, s, last, across);
    loop_if_begin(m->b, block_has(e, s, last, across));
    return line;
}

static void end_lines(struct emitter *e, const struct gpu_schedule *s)
{
    loop_end(e->m.b);
    loop_for_end(e->m.b, const_index(&e->m, s->local[1]));
}

/* Emits blocks in the group's memory, line by line, with one element more in each line, so that a column is in as many banks as
 * a line. */
static void emit_group_block(struct emitter *e, const struct gpu_schedule *s)
{
    const struct build *m = &e->m;
    const uint32_t expr = s->block.transposed;
    const struct context cx = {.lanes = 1, .copies = 1};
    const T type = type_of(e->k->exprs[expr].type);
    const int64_t length = s->block.side + 1, size = loop_type_bits(type) / 8;
    V pitch = const_index(m, length), side = const_index(m, s->block.side);
    V block = loop_array(m->b, LOOP_GROUP_ARRAY, type, s->block.side * length * size);

    V last = op_mul(m, space_place(e, LOOP_GROUP, 0), side), across = op_mul(m, space_place(e, LOOP_GROUP, 1), side);
    space_decode(e, s->dimensions[2], space_item(e, s, 2, 1));
    frame_enter(&e->frame, LEVEL_ENTRY, NULL);
    V line = begin_lines(e, s, last, across, true), value = expr_value(e, &cx, expr);
    V at = op_add(m, op_mul(m, line, pitch), space_place(e, LOOP_ITEM, 0));
    op_store(m, value, op_address(m, type, block, at), NULL, (uint32_t)size);
    end_lines(e, s);
    op_barrier(m);
    line = begin_lines(e, s, last, across, false);
    at = op_add(m, op_mul(m, space_place(e, LOOP_ITEM, 0), pitch), line);
    expr_know(e, expr, 0, op_load(m, type, op_address(m, type, block, at), NULL, (uint32_t)size));
    emit_phases(e, &cx);
    end_lines(e, s);
    frame_leave(&e->frame, LEVEL_ENTRY);
}

/* ---- functions ---- */

/* Makes a schedule of values, loops over REDUCED variables and stores in the arena, of a device's for a kernel without stages
 * or for one stage.  Returns NULL if memory runs out. */
static struct schedule *device_schedule(const struct gpu_schedule *s, struct arena *a)
{
    const struct kernel *k = s->kernel;
    struct schedule *out = arena_alloc(a, sizeof *out);

    if (!out)
        return NULL;
    *out = (struct schedule){.kernel = k,
                             .vector_var = s->lane_var,
                             .lanes = s->lanes,
                             .vectors = 1,
                             .wide_vectors = 1,
                             .phase_vectors = arena_array(a, (size_t)k->phase_count + 1, sizeof(uint8_t)),
                             .reduced = {k->reduced_count, s->shape == GPU_ROWS ? 0 : s->sum_split, s->sum_steps},
                             .edges = {.far_guards = s->wide, .whole = !s->lane_tail, .branches = true},
                             .transpose.var = s->shape == GPU_BLOCKS && s->lanes > 1 ? s->block.across : KEXPR_NONE,
                             .row_buffers = {.count = 1, .element_bytes = sizeof(float), .lanes = 1},
                             .var_lanes = arena_array(a, (size_t)k->var_count + 1, sizeof(bool)),
                             .exprs = arena_array(a, (size_t)k->expr_count + 1, sizeof *out->exprs)};
    out->row_buffers.short_rows.stores = arena_array(a, (size_t)k->store_count + 1, sizeof(int32_t));
    if (!kernel_numbers(k, KEXPR_NONE, a, &out->numbers) || !out->phase_vectors || !out->var_lanes || !out->exprs ||
        !out->row_buffers.short_rows.stores)
        return NULL;
    memset(out->phase_vectors, 1, (size_t)k->phase_count + 1);
    memset(out->row_buffers.short_rows.stores, 0xFF, k->store_count * sizeof(int32_t)); /* -1: none */
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const uint32_t stride = s->strides ? load_stride_within(k, &k->exprs[i], s->lane_var, GPU_STRIDE_MAX) : 0;

        out->exprs[i] = (struct schedule_expr){.phase = s->kept_phase,
                                               .row_buffer = i == s->kept ? 0 : -1,
                                               .lanes = depends_on(k->exprs[i].vars, s->lane_var),
                                               .load = stride ? LOAD_STRIDED : LOAD_BY_INDEX,
                                               .count = stride};
    }
    for (uint32_t i = 0; i < k->var_count; i++)
        out->var_lanes[i] = depends_on(kvar_vars(k, i), s->lane_var);
    return out;
}

/* Prepares an emitter for values of a device's schedule at the end of a builder's function. */
static bool prepare(struct emitter *e, const struct build *m, const struct gpu_schedule *s, bool literals)
{
    const struct schedule *values = device_schedule(s, &e->arena);

    if (!values || !values_prepare(e, m, values))
        return false;
    for (uint32_t i = 0; i < e->info.numbers.count && literals; i++)
        e->info.numbers.items[i].slot = -1;
    return true;
}

/* Emits all of an item of a kernel without stages. */
static void emit_items(struct emitter *e, const struct gpu_schedule *s)
{
    frame_open(&e->frame, LEVEL_ENTRY);
    if (s->kept != KEXPR_NONE)
        e->args.scratch = loop_array(e->m.b, LOOP_ARRAY, type_f32, s->kept_elements * (int64_t)sizeof(float));
    if (s->shape == GPU_ROWS)
        emit_rows(e, s);
    else if (s->shape == GPU_POINTS)
        emit_points(e, s);
    else if (s->shape == GPU_TILES)
        (s->tile.matrix ? emit_matrix_tiles : s->tile.local_memory ? emit_local_tiles : emit_global_tiles)(e, s);
    else if (s->block.local_memory)
        emit_group_block(e, s);
    else
        emit_register_blocks(e, s);
}

/* Is a kernel of stages: its schedule, and what the stages share. */
struct stages {
    const struct build *m;
    const struct gpu_schedule *s;
    bool literals;
    uint32_t first_number; /* of the stage */
    V tensors[KERNEL_TENSORS_MAX], locals[KERNEL_LOCALS_MAX];
    V first_tile;
    struct stage_item at;
};

/* Returns where local tensors lie: in the group's memory, or in its part of the scratch memory. */
static void make_locals(struct stages *g, V group)
{
    const struct kernel *k = g->s->kernel;
    const struct build *m = g->m;
    V scratch = loop_add(m->b, LOOP_SCRATCH, type_ptr, NULL, 0, 0);
    V part = op_mul(m, group, const_int(m, 64, g->s->group_scratch_bytes));

    for (uint32_t i = 0; i < k->local_count; i++) {
        const T type = storage_type(k->locals[i].type);
        if (g->s->locals[i].in_local_memory)
            g->locals[i] =
                loop_array(m->b, LOOP_GROUP_ARRAY, type, k->locals[i].elements * (int64_t)dtype_size(k->locals[i].type));
        else
            g->locals[i] = op_address(m, type_i8, scratch, op_add(m, part, const_int(m, 64, g->s->locals[i].offset)));
    }
}

/* Emits what an item does of a stage.  Returns false if memory runs out. */
static bool emit_stage(struct stages *g, uint32_t i)
{
    const struct kstage *stage = &g->s->kernel->stages[i];
    struct gpu_schedule own = *g->s;
    struct arena arena = {0};
    struct emitter *e = arena_alloc(&arena, sizeof *e);

    own.kernel = stage->kernel;
    own.own = g->s->stages[i];
    /* In each stage: PoCL 3.1 with LLVM 15 moves tests of a number read before, such as whether a loop has any iterations, over
     * barriers, and takes the last item's answer for all items. */
    g->at.id = loop_add(g->m->b, LOOP_ITEM, type_index(g->m), NULL, 0, 0);
    const bool good = e && prepare(e, g->m, &own, g->literals);
    if (good) {
        e->args.first_number = g->first_number;
        g->first_number += e->info.numbers.param_count;
        for (uint32_t t = 0; t < stage->kernel->tensor_count; t++) {
            const uint32_t to = stage->tensors[t];
            e->args.tensors[t] = to < KERNEL_TENSORS_MAX ? g->tensors[to] : g->locals[to - KERNEL_TENSORS_MAX];
        }
        emit_stage_items(e, &own, &g->at);
    }
    if (e)
        arena_free(&e->arena);
    arena_free(&arena);
    return good;
}

/* Emits the loop over a group's neighbouring macro-tiles, so that a stage whose results serve several of them runs once for
 * these. */
static bool emit_stages(const struct build *m, const struct gpu_schedule *s, bool literals)
{
    const struct kernel *k = s->kernel;
    const int64_t tiles = kernel_macro_tiles(k->stages[0].kernel), groups = s->global[0] / s->local[0];
    struct stages g = {.m = m, .s = s, .literals = literals};
    V group = loop_add(m->b, LOOP_GROUP, type_index(m), NULL, 0, 0), ends[2];
    bool good = true, combines = false;

    group = m->index_bits == 64 ? group : op_sext(m, group, type_i64);
    for (uint32_t i = 0; i < 2; i++) {
        V end = op_mul(m, op_add(m, group, const_int(m, 64, i)), const_int(m, 64, tiles));
        end = op_udiv(m, end, const_int(m, 64, groups));
        ends[i] = m->index_bits == 64 ? end : op_trunc(m, end, type_i32);
    }
    g.first_tile = ends[0];
    for (uint32_t t = 0; t < k->tensor_count; t++)
        g.tensors[t] = loop_add(m->b, LOOP_TENSOR, type_ptr, NULL, 0, t);
    make_locals(&g, group);
    for (uint32_t i = 0; i < k->stage_count; i++)
        combines |= s->stages[i].shape == GPU_ROWS;
    if (combines)
        g.at.memory = loop_array(m->b, LOOP_GROUP_ARRAY, type_i32, s->local[0] * (int64_t)sizeof(int32_t));
    g.at.tile = loop_for_begin(m->b, ends[0], ends[1], 0);
    for (uint32_t i = 0; good && i < k->stage_count; i++) {
        const struct kstage *stage = &k->stages[i];
        V period = stage->period > 1 ? const_index(m, stage->period) : NULL;
        V runs = stage_runs(m, stage, stage->when ? g.locals[stage->predicate] : NULL, g.at.tile, g.first_tile, period);
        if (runs)
            loop_if_begin(m->b, runs);
        else
            loop_scope_begin(m->b);
        good = emit_stage(&g, i);
        loop_end(m->b);
        op_barrier(m);
    }
    loop_for_end(m->b, const_index(m, 1));
    return good;
}

struct loop_function *lower_items(struct loop_module *module, const struct isa *isa, const struct gpu_schedule *s,
                                  bool literals, const char *name)
{
    struct arena arena = {0};
    struct emitter *e = arena_alloc(&arena, sizeof *e);
    struct loop_function *function = loop_function_add(module, name, NULL, 0, 0);
    struct loop_builder b;
    const struct build m = {&b, isa, s->wide ? 64 : 32};
    bool good = e && function && loop_builder_begin(&b, module, function);

    if (good) {
        loop_function_set_items(function, s->local);
        good = s->shape == GPU_STAGES ? emit_stages(&m, s, literals) : prepare(e, &m, s, literals);
        if (good && s->shape != GPU_STAGES)
            emit_items(e, s);
        loop_sweep(function);
        arena_free(&e->arena);
    }
    arena_free(&arena);
    return good && !module->failed ? function : NULL;
}
