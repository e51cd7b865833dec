/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the phases of a point: loops over the REDUCED variables, row buffers and reductions in them, and the stores.
 */
#include "codegen/lower/point.h"

#include "codegen/lower/values.h"
#include "codegen/lower/access.h"
#include "codegen/lower/space.h"

static bool is_reduce_of(const struct emitter *e, const struct context *cx, uint32_t id)
{
    return e->k->exprs[id].op == K_REDUCE && e->k->exprs[id].phase == cx->phase;
}

static bool is_kept(const struct emitter *e, const struct context *cx, uint32_t id)
{
    const struct schedule_expr *x = &e->s->exprs[id];

    return x->row_buffer >= 0 && !x->short_row && x->phase == cx->phase;
}

/* ---- one iteration ---- */

/* Are some of a kernel's stores. */
struct stores {
    bool varying;
    uint32_t first, end;
};

/* Evaluates the stores of a phase for every copy; nothing is stored before everything has been loaded. */
static void evaluate_stores(struct emitter *e, const struct context *cx, const struct stores *which)
{
    for (uint32_t c = 0; c < cx->copies; c++) {
        const struct context of = context_of_copy(cx, c);
        for (uint32_t i = which->first; i < which->end; i++) {
            const struct kstore *s = &e->k->stores[i];
            if (s->varying != which->varying || s->phase != cx->phase)
                continue;
            if (c == 0)
                expr_quantise_copies(e, cx, s->expr);
            e->store_values[i * COPIES_MAX + c] = expr_value(e, &of, s->expr);
        }
    }
}

static void write_stores(struct emitter *e, const struct context *cx, const struct stores *which)
{
    for (uint32_t i = which->first; i < which->end; i++) {
        if (store_is_transposed(e, cx, i))
            emit_transposed_store(e, cx, i, &e->store_values[i * COPIES_MAX]);
    }
    for (uint32_t c = cx->copies; c-- > 0;) { /* rows that a tile does not have are its last one, which then is stored last */
        struct context of = context_of_copy(cx, c);
        if (e->s->edges.branches) /* a device's: a window is of loads alone */
            of.rows_inside = of.lanes_inside = false;
        for (uint32_t i = which->first; i < which->end; i++) {
            const struct kstore *s = &e->k->stores[i];
            if (s->varying != which->varying || s->phase != cx->phase || store_is_transposed(e, cx, i))
                continue;
            V value = e->store_values[i * COPIES_MAX + c];
            if (which->varying && e->s->row_buffers.short_rows.stores[i] >= 0)
                emit_row_buffer_store(e, &of, e->s->row_buffers.short_rows.stores[i], e->k->exprs[s->expr].type,
                                      lanes_of(value) < of.lanes ? expr_value_lanes(e, &of, s->expr, of.lanes) : value);
            else
                emit_store(e, &of, i, value);
        }
    }
}

static void accumulate(struct emitter *e, const struct context *cx, uint32_t id)
{
    const struct kexpr *x = &e->k->exprs[id];
    const uint32_t lanes = accumulator_lanes(e, cx, id);

    if (!accumulator_takes_copy(e, cx, id))
        return;
    V value = expr_value_lanes(e, cx, x->args[0], lanes);
    V other = x->reduce == KR_DOT ? expr_value_lanes(e, cx, x->args[1], lanes) : NULL;
    accumulator_add(e, cx, id, value, other);
}

/*
 * Returns whether stores are written one by one, after the sums, since registers do not hold the values of all of them: in a
 * stage, whose outputs share no memory with what it reads, but that it may read a local that it writes.
 */
static bool writes_one_by_one(const struct kernel *k)
{
    enum { STORES_IN_REGISTERS = 12 };
    bool apart = k->macro_tile_vars && k->store_count > STORES_IN_REGISTERS;

    for (uint32_t i = 0; apart && i < k->tensor_count; i++)
        for (uint32_t j = 0; j < k->tensor_count; j++)
            apart = apart && !(k->tensors[i].written && !k->tensors[j].written && k->tensors[i].user == k->tensors[j].user);
    return apart;
}

static void emit_iteration(struct emitter *e, const struct context *cx)
{
    const struct stores all = {true, 0, e->k->store_count};
    const bool one_by_one = writes_one_by_one(e->k);

    if (!one_by_one)
        evaluate_stores(e, cx, &all);
    for (uint32_t c = 0; c < cx->copies; c++) {
        const struct context of = context_of_copy(cx, c);
        for (uint32_t i = 0; i < e->k->expr_count; i++) {
            const struct schedule_expr *x = &e->s->exprs[i];
            if (is_kept(e, cx, i))
                emit_row_buffer_store(e, &of, x->row_buffer, e->k->exprs[i].type, expr_value_lanes(e, &of, i, cx->lanes));
        }
        for (uint32_t i = 0; i < e->k->expr_count; i++)
            if (is_reduce_of(e, &of, i))
                accumulate(e, &of, i);
    }
    for (uint32_t i = 0; one_by_one && i < e->k->store_count; i++) {
        const struct stores one = {true, i, i + 1};
        evaluate_stores(e, cx, &one);
        write_stores(e, cx, &one);
    }
    if (!one_by_one)
        write_stores(e, cx, &all);
}

/* ---- loops ---- */

static void emit_nest(struct emitter *e, const struct context *cx, uint32_t split_at, uint32_t r);

static void loop_over(struct emitter *e, const struct context *cx, uint32_t split_at, uint32_t r, V low, V high)
{
    uint32_t var = e->k->parallel_count + r;

    if (var == e->s->vector_var) {
        loop_vectors(e, cx, low, high, e->s->phase_vectors[cx->phase], emit_iteration);
        return;
    }
    loop_variable(e, e->info.reduced_level + r, var, low, high);
    emit_nest(e, cx, split_at, r + 1);
    loop_for_end(e->m.b, const_index(&e->m, 1));
}

static void for_long_sums(struct emitter *e, const struct context *cx,
                          void (*act)(struct emitter *e, const struct context *cx, uint32_t id))
{
    for (uint32_t i = 0; i < e->k->expr_count; i++)
        if (is_reduce_of(e, cx, i) && is_long_sum(&e->k->exprs[i]))
            act(e, cx, i);
}

static void start_block(struct emitter *e, const struct context *cx, uint32_t id)
{
    accumulator_reset(e, cx, id, false);
}

/* Cuts a loop into blocks of SUM_STEPS iterations, each of which is a sum of its own. */
static void loop_in_blocks(struct emitter *e, const struct context *cx, uint32_t split_at, uint32_t r, V low, V limit)
{
    const struct build *m = &e->m;
    bool vector = e->k->parallel_count + r == e->s->vector_var;
    int64_t block = e->s->reduced.sum_steps * (vector ? (int64_t)e->s->lanes * e->s->phase_vectors[cx->phase] : 1), steps;

    if (is_int_constant(limit, &steps) && (steps <= block || steps <= SCHEDULE_FIXED_SUM_MAX)) {
        for_long_sums(e, cx, start_block);
        loop_over(e, cx, split_at, r, low, limit);
        for_long_sums(e, cx, accumulator_add_block);
        return;
    }
    V at = loop_for_begin(m->b, low, limit, LOOP_AT_LEAST_ONCE), size = const_index(m, block);
    V high = op_smin(m, op_add(m, at, size), limit);
    for_long_sums(e, cx, start_block);
    loop_over(e, cx, split_at, r, at, high);
    for_long_sums(e, cx, accumulator_add_block);
    loop_for_end(m->b, size);
}

static void emit_nest(struct emitter *e, const struct context *cx, uint32_t split_at, uint32_t r)
{
    if (r == e->k->reduced_count) {
        emit_iteration(e, cx);
        return;
    }
    uint32_t var = e->k->parallel_count + r, level = e->info.reduced_level + r;
    if (r >= e->s->reduced.unroll_from) {
        int64_t size = e->info.numbers.items[e->info.numbers.vars[var]].value;
        for (int64_t i = 0; i < size; i++) {
            frame_open(&e->frame, level);
            e->frame.var_value[var] = const_index(&e->m, i);
            emit_nest(e, cx, split_at, r + 1);
        }
        return;
    }
    V low = var_first(e, var), high = var_end(e, var);
    frame_enter(&e->frame, level - 1, NULL);
    if (r == split_at)
        loop_in_blocks(e, cx, split_at, r, low, high);
    else
        loop_over(e, cx, split_at, r, low, high);
    frame_leave(&e->frame, level - 1);
}

/* Emits the iterations [from, to) of one of the items that share them, which takes every n-th. */
static void loop_shared(struct emitter *e, const struct context *cx, V from, V to)
{
    V iteration = loop_for_begin(e->m.b, from, to, 0);

    space_open_reduced(e, 0);
    space_decode(e, gpu_reduced_vars(e->k), iteration);
    emit_iteration(e, cx);
    loop_for_end(e->m.b, const_index(&e->m, e->sharing->items));
}

static void emit_shared_nest(struct emitter *e, const struct context *cx, bool in_blocks)
{
    const struct build *m = &e->m;
    V count = space_points(e, gpu_reduced_vars(e->k)), from = e->sharing->item;

    count = e->sharing->has_point ? op_select(m, e->sharing->has_point, count, const_index(m, 0)) : count;
    frame_enter(&e->frame, e->info.point_level, NULL);
    if (in_blocks) {
        V size = const_index(m, (int64_t)SUM_STEPS * e->sharing->items), block = loop_for_begin(m->b, from, count, 0);
        V end = op_smin(m, op_add(m, block, size), count);
        for_long_sums(e, cx, start_block);
        loop_shared(e, cx, block, end);
        for_long_sums(e, cx, accumulator_add_block);
        loop_for_end(m->b, size);
    } else {
        loop_shared(e, cx, from, count);
    }
    frame_leave(&e->frame, e->info.point_level);
}

/* Returns where long sums are cut into blocks: nowhere if there are few terms for certain. */
static uint32_t find_split(const struct emitter *e, const struct context *cx)
{
    int64_t terms = 1;
    bool small = true, any = false;
    for (uint32_t r = 0; r < e->k->reduced_count; r++) {
        const uint32_t var = e->k->parallel_count + r;
        const struct knumber *size = &e->info.numbers.items[e->info.numbers.vars[var]];
        const int64_t lanes = var == e->s->vector_var ? e->s->lanes : 1; /* each of which is a sum of its own */

        small = small && size->slot < 0 && (terms *= ceil_div(size->value, lanes)) <= SUM_STEPS;
    }
    for (uint32_t i = 0; i < e->k->expr_count; i++)
        any |= is_reduce_of(e, cx, i) && is_long_sum(&e->k->exprs[i]);
    return (small && !e->sharing) || !any ? KEXPR_NONE : e->s->reduced.sum_split;
}

static void emit_phase(struct emitter *e, const struct context *cx)
{
    const struct kernel *k = e->k;
    bool any = false;
    for (uint32_t i = 0; i < k->expr_count; i++)
        any |= is_reduce_of(e, cx, i) || is_kept(e, cx, i);
    for (uint32_t i = 0; i < k->store_count; i++)
        any |= k->stores[i].varying && k->stores[i].phase == cx->phase;
    if (!any)
        return;

    const uint32_t split_at = find_split(e, cx);
    const bool in_blocks = split_at != KEXPR_NONE;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        if (is_reduce_of(e, cx, i) || k->exprs[i].op == K_SCAN)
            accumulator_reset(e, cx, i, in_blocks && is_long_sum(&k->exprs[i]));
    }
    if (e->sharing)
        emit_shared_nest(e, cx, in_blocks);
    else
        emit_nest(e, cx, split_at, 0);
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (is_reduce_of(e, cx, i))
            accumulator_finish(e, cx, i, in_blocks);
    for (uint32_t i = 0; i < k->store_count; i++)
        if (e->s->row_buffers.short_rows.stores[i] >= 0 && k->stores[i].phase == cx->phase)
            short_rows_store(e, cx, i);
}

/* Emits the loads with branches that are the same for all iterations, before the loops. */
static void emit_branches(struct emitter *e, const struct context *cx)
{
    for (uint32_t i = 0; i < e->k->expr_count; i++)
        if (load_is_branch(e->s, i) && !e->k->exprs[i].varying && e->k->exprs[i].phase <= cx->phase)
            expr_value(e, cx, i);
}

void emit_results(struct emitter *e, const struct context *cx)
{
    const struct stores after = {false, 0, e->k->store_count};
    struct context of = *cx;

    of.phase = e->k->phase_count;
    evaluate_stores(e, &of, &after);
    write_stores(e, &of, &after);
}

void emit_phases(struct emitter *e, const struct context *cx)
{
    struct context of_phase = *cx;

    for (uint32_t i = 0; i < e->k->expr_count; i++)
        if (e->s->exprs[i].short_row)
            short_rows_load(e, cx, i);
    for (of_phase.phase = 0; of_phase.phase < e->k->phase_count; of_phase.phase++) {
        emit_branches(e, &of_phase);
        emit_phase(e, &of_phase);
    }
    if (e->sharing) /* one item stores what all have computed */
        loop_if_begin(e->m.b, op_and(&e->m, op_eq(&e->m, e->sharing->item, const_index(&e->m, 0)),
                                     e->sharing->has_point ? e->sharing->has_point : const_int(&e->m, 1, 1)));
    emit_results(e, cx);
    if (e->sharing)
        loop_end(e->m.b);
}

/* Emits the same in a separate region.  What was emitted in another region is not used in it. */
static void emit_case(struct emitter *e, const struct context *cx)
{
    frame_open(&e->frame, e->info.point_level);
    emit_phases(e, cx);
}

/* Emits code for windows that lie inside the input, for those that lie inside in all but the vector's dimension, and for all
 * others. */
static void emit_windows(struct emitter *e, const struct context *cx)
{
    struct loop_builder *b = e->m.b;
    struct context inside = *cx, between = *cx;
    V rows, lanes;

    inside.rows_inside = inside.lanes_inside = between.rows_inside = true;
    window_tests(e, cx, &rows, &lanes);
    const bool both = rows && lanes;
    loop_if_begin(b, guard_and(e, rows, lanes));
    emit_case(e, &inside);
    loop_else(b);
    if (both) {
        loop_if_begin(b, rows);
        emit_case(e, &between);
        loop_else(b);
    }
    emit_case(e, cx);
    if (both)
        loop_end(b);
    loop_end(b);
}

static bool is_one_number(const struct kernel *k, uint32_t expr)
{
    const struct kexpr *x = &k->exprs[expr];
    bool is_one = x->op == K_LOAD || x->op == K_INDEX ? !x->index.count && !x->guard_count : true;

    for (uint32_t i = 0; i < 3 && is_one && x->args[i] != KEXPR_NONE; i++)
        is_one = is_one_number(k, x->args[i]);
    return is_one;
}

/* Returns a condition that is one for all of the kernel, by which elements of points are selected without any sum, or
 * KEXPR_NONE. */
static uint32_t find_choice(const struct emitter *e)
{
    const struct kernel *k = e->k;

    for (uint32_t i = 0; i < k->expr_count && !k->reduced_count; i++)
        if (k->exprs[i].op == K_SELECT && e->info.expr_level[k->exprs[i].args[0]] < e->info.point_level &&
            e->info.expr_level[i] >= e->info.point_level && is_one_number(k, k->exprs[i].args[0]))
            return k->exprs[i].args[0];
    return KEXPR_NONE;
}

/* Emits code for either value of such a condition, so that only what is selected is read: what is not may be memory that has
 * never been written, as that of a branch which was not taken, where processors take long for the loads of lanes that a mask
 * leaves out. */
static void emit_choice(struct emitter *e, const struct context *cx, uint32_t condition)
{
    V value = expr_value(e, cx, condition);

    loop_if_begin(e->m.b, value);
    e->chosen_by = value;
    for (e->chosen = 1; e->chosen <= 2; e->chosen++) {
        if (e->chosen == 2)
            loop_else(e->m.b);
        emit_case(e, cx);
    }
    e->chosen_by = NULL;
    loop_end(e->m.b);
}

void emit_point(struct emitter *e, const struct context *cx)
{
    const uint32_t choice = find_choice(e);

    if (window_is_guarded(e) && cx->lanes > 1)
        emit_windows(e, cx);
    else if (choice != KEXPR_NONE)
        emit_choice(e, cx, choice);
    else
        emit_phases(e, cx);
}
