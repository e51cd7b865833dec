/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the accumulators of reductions and running sums.  They live in stack slots, which a pass turns into registers.  With
 * vectors along a REDUCED variable every copy has a vector of partial results; they meet after the loop.  Long float32 sums are
 * added up in blocks: within a block one by one, from block to block with the rounding error carried along, so that the error
 * does not grow with the number of blocks.
 */
#include "codegen/lower/values.h"

#include "codegen/lower/scalar.h"
#include "codegen/lower/index.h"

bool is_long_sum(const struct kexpr *x)
{
    return x->op == K_REDUCE && x->type == KT_F32 && (x->reduce == KR_SUM || x->reduce == KR_DOT);
}

/* ---- parts ---- */

/* Returns whether single elements are left over by vectors along a REDUCED variable. */
static bool has_rest(const struct emitter *e)
{
    return !e->s->edges.masked_tail && !e->s->edges.whole;
}

static void parts_of(const struct emitter *e, const struct context *cx, uint32_t id, bool used[PARTS])
{
    for (uint32_t p = 0; p < PARTS; p++)
        used[p] = false;
    if (e->info.vector_reduced && e->k->exprs[id].op == K_SCAN) {
        used[PART_SCALAR] = true;
    } else if (e->info.vector_reduced) {
        for (uint32_t p = 0; p < e->s->phase_vectors[cx->phase]; p++)
            used[p] = true;
        used[PART_SCALAR] = has_rest(e);
    } else if (expr_is_vector(e, cx, id)) {
        for (uint32_t p = 0; p < cx->copies; p++)
            used[p] = true;
    } else {
        used[PART_SCALAR] = true;
    }
}

static uint32_t part_of(const struct emitter *e, const struct context *cx, uint32_t id)
{
    return e->info.vector_reduced      ? (cx->lanes > 1 ? cx->copy : PART_SCALAR)
           : expr_is_vector(e, cx, id) ? cx->copy
                                       : PART_SCALAR;
}

uint32_t accumulator_lanes(const struct emitter *e, const struct context *cx, uint32_t id)
{
    return part_of(e, cx, id) == PART_SCALAR ? 1 : cx->lanes;
}

bool accumulator_takes_copy(const struct emitter *e, const struct context *cx, uint32_t id)
{
    return part_of(e, cx, id) != PART_SCALAR || cx->copy == 0;
}

/* Returns whether an accumulator is a double: so are running sums, whose error would grow with their length, and products,
 * which could leave float32's range on the way. */
static bool is_in_double(const struct emitter *e, const struct kexpr *x)
{
    return x->type == KT_F32 && ((x->op == K_SCAN && !e->m.isa->sums_in_f32) || (x->op == K_REDUCE && x->reduce == KR_PRODUCT));
}

/* Returns whether a running sum carries what rounding loses. */
static bool carries(const struct emitter *e, const struct kexpr *x)
{
    return x->op == K_SCAN && x->type == KT_F32 && e->m.isa->sums_in_f32;
}

static enum ktype value_type(const struct emitter *e, const struct kexpr *x)
{
    return is_in_double(e, x) ? KT_F64 : kexpr_is_place(x) ? e->k->exprs[x->args[0]].type : x->type;
}

T accumulator_type(const struct emitter *e, uint32_t id)
{
    return type_of(value_type(e, &e->k->exprs[id]));
}

static V slot(struct emitter *e, V slots[PARTS], uint32_t part, T element)
{
    if (!slots[part])
        slots[part] = loop_slot(e->m.b, type_lanes(element, part == PART_SCALAR ? 1 : e->s->lanes));
    frame_here(&e->frame);
    return slots[part];
}

static V slot_load(struct emitter *e, V slots[PARTS], uint32_t part, T element)
{
    return op_get(&e->m, slot(e, slots, part, element));
}

static void slot_store(struct emitter *e, V slots[PARTS], uint32_t part, V value)
{
    op_set(&e->m, slot(e, slots, part, element_type(value)), value);
}

/* Returns whether a part of an accumulator has a flag for NaN next to the extreme: it is known without the extreme so far, so
 * that one step waits for another for one instruction instead of three. */
static bool has_nan_flags(const struct emitter *e, const struct kexpr *x, V value)
{
    return x->op == K_REDUCE && (x->reduce == KR_MIN || x->reduce == KR_MAX) && x->type == KT_F32 &&
           avx512_has_extreme(&e->m, value);
}

/* Returns whether a part of an accumulator is the key of a number: an integer that is ordered like it, NaN beyond all others
 * and -0 before +0.  Comparing keys is one instruction, for whose result the next step waits, where comparing numbers by all
 * rules is a chain of six. */
static bool has_keys(const struct emitter *e, const struct kexpr *x, uint32_t lanes)
{
    return e->m.isa->extremes_by_keys && lanes > 1 && x->op == K_REDUCE && (x->reduce == KR_MIN || x->reduce == KR_MAX) &&
           x->type == KT_F32;
}

/* Turns the bits of a number into its key, or back. */
static V exchange_key(const struct build *m, V bits)
{
    V sign = op_ashr(m, bits, const_int_like(m, bits, 31));

    return op_xor(m, bits, op_and(m, sign, const_int_like(m, bits, INT32_MAX)));
}

static bool is_key(const struct kexpr *x, V v)
{
    return x->type == KT_F32 && element_type(v) == type_i32;
}

static V key_of(const struct build *m, const struct kexpr *x, V value)
{
    V key = exchange_key(m, op_bits(m, value, type_i32));
    V nan = const_int_like(m, key, x->reduce == KR_MIN ? INT32_MIN : INT32_MAX);

    return op_select(m, op_unordered(m, value, value), nan, key);
}

/* Returns the expression whose flags say so for x, too: the first extreme of the same numbers. */
static uint32_t nan_flags_of(const struct emitter *e, uint32_t id)
{
    const struct kexpr *x = &e->k->exprs[id];

    for (uint32_t i = 0; i < id; i++) {
        const struct kexpr *y = &e->k->exprs[i];
        if (y->op == K_REDUCE && (y->reduce == KR_MIN || y->reduce == KR_MAX) && y->args[0] == x->args[0])
            return i;
    }
    return id;
}

void accumulator_reset(struct emitter *e, const struct context *cx, uint32_t id, bool in_blocks)
{
    const struct kexpr *x = &e->k->exprs[id];
    struct accumulator *a = &e->accumulators[id];
    const enum ktype type = value_type(e, x);
    V identity = const_scalar(&e->m, type, reduction_start(x->op == K_SCAN ? KR_SUM : x->reduce, type));
    bool used[PARTS];

    parts_of(e, cx, id, used);
    for (uint32_t p = 0; p < PARTS; p++) {
        if (!used[p])
            continue;
        uint32_t lanes = p == PART_SCALAR ? 1 : e->s->lanes;
        V start = splat(&e->m, identity, lanes);
        start = has_keys(e, x, lanes) ? key_of(&e->m, x, start) : start;
        if (in_blocks || carries(e, x)) {
            slot_store(e, a->total, p, start);
            slot_store(e, a->rest, p, start);
            continue;
        }
        slot_store(e, a->value, p, start);
        if (has_nan_flags(e, x, start) && nan_flags_of(e, id) == id)
            slot_store(e, a->nan, p, const_zero(&e->m, type_lanes(type_i1, lanes)));
        if (x->op == K_REDUCE && kexpr_is_place(x)) /* later than every index, so that the first element wins */
            slot_store(e, a->index, p, splat(&e->m, const_int(&e->m, 32, INT32_MAX), lanes));
    }
}

static V combine(const struct emitter *e, const struct kexpr *x, V a, V b)
{
    if (is_key(x, a))
        return (x->reduce == KR_MIN ? op_smin : op_smax)(&e->m, a, b);
    return emit_operation(&e->m, reduction_operation(x->reduce), x->type, x->type, a, b, NULL);
}

/* Returns whether (a, i) comes before (b, j) in an arg-min or arg-max: NaN first, then the extreme, of equals the first. */
static V is_better(const struct emitter *e, const struct kexpr *x, V a, V i, V b, V j)
{
    const struct build *m = &e->m;
    enum ktype type = e->k->exprs[x->args[0]].type;
    V first = op_lt(m, i, j);
    V more = x->reduce == KR_ARG_MAX ? emit_operation(m, K_LT, KT_BOOL, type, b, a, NULL)
                                     : emit_operation(m, K_LT, KT_BOOL, type, a, b, NULL);
    V equal = emit_operation(m, K_EQ, KT_BOOL, type, a, b, NULL);
    V better = op_or(m, more, op_and(m, equal, first));
    if (!ktype_is_float(type))
        return better;
    V a_nan = op_unordered(m, a, a), b_nan = op_unordered(m, b, b);
    V nan = op_and(m, a_nan, op_or(m, op_not(m, b_nan), first));
    return op_or(m, better, nan);
}

/* ---- sums in blocks ---- */

void sum_add_block(const struct build *m, V total_slot, V rest_slot, V value)
{
    V total = op_get(m, total_slot), rest = op_get(m, rest_slot);
    V sum = op_add(m, total, value);
    V back = op_sub(m, sum, total);
    V error = op_add(m, op_sub(m, total, op_sub(m, sum, back)), op_sub(m, value, back));
    op_set(m, total_slot, sum);
    op_set(m, rest_slot, op_add(m, rest, error));
}

V sum_of_blocks(const struct build *m, V total_slot, V rest_slot)
{
    V total = op_get(m, total_slot), rest = op_get(m, rest_slot);
    V finite = op_lt(m, op_abs(m, rest), const_f_like(m, rest, INFINITY));
    rest = op_select(m, finite, rest, const_zero(m, rest->type)); /* else it means nothing */
    return op_add(m, total, rest);
}

static void add_block(struct emitter *e, struct accumulator *a, uint32_t part, V value)
{
    V total = slot(e, a->total, part, type_f32);

    sum_add_block(&e->m, total, slot(e, a->rest, part, type_f32), value);
}

static V block_total(struct emitter *e, struct accumulator *a, uint32_t part)
{
    V total = slot(e, a->total, part, type_f32);

    return sum_of_blocks(&e->m, total, slot(e, a->rest, part, type_f32));
}

/* ---- one step ---- */

static V arg_index(struct emitter *e, const struct context *cx, uint32_t lanes)
{
    const struct build *m = &e->m;
    V index = op_trunc(m, reduced_index(e, cx), type_i32);
    index = splat(m, index, lanes);
    return lanes > 1 && e->info.vector_reduced ? op_add(m, index, const_iota(m, 32, lanes)) : index;
}

/* Emits one step of the flags for NaN.  Vectors along a REDUCED variable are tested in pairs: the result is NaN wherever the
 * NaN is.  mask: the lanes that exist; NULL: all. */
static void add_nan(struct emitter *e, const struct context *cx, struct accumulator *a, uint32_t part, V value, V mask)
{
    const struct build *m = &e->m;
    const bool pairs = e->info.vector_reduced && !mask && part != PART_SCALAR;
    V nan, is_nan;

    if (pairs && cx->copy % 2 == 0 && cx->copy + 1 < cx->copies) {
        a->first = value;
        return;
    }
    nan = slot_load(e, a->nan, part, type_i1);
    is_nan = op_unordered(m, value, pairs && cx->copy % 2 ? a->first : const_zero(m, value->type));
    if (mask)
        is_nan = op_and(m, is_nan, mask);
    slot_store(e, a->nan, part, op_or(m, nan, is_nan));
}

static void add_extreme(struct emitter *e, const struct context *cx, uint32_t id, uint32_t part, V value, V mask)
{
    const struct kexpr *x = &e->k->exprs[id];
    struct accumulator *a = &e->accumulators[id];
    const struct build *m = &e->m;
    V old = slot_load(e, a->value, part, type_f32), new = avx512_extreme_number(m, x->reduce == KR_MAX, old, value);

    slot_store(e, a->value, part, mask ? op_select(m, mask, new, old) : new);
    if (nan_flags_of(e, id) == id)
        add_nan(e, cx, a, part, value, mask);
}

/* Returns the condition if a value is 1 where one holds and 0 elsewhere, else NULL. */
static V counted_condition(V value)
{
    while (value->op == LOOP_ZEXT)
        value = value->args[0];
    return element_type(value) == type_i1 ? value : NULL;
}

void accumulator_add(struct emitter *e, const struct context *cx, uint32_t id, V value, V other)
{
    const struct kexpr *x = &e->k->exprs[id];
    struct accumulator *a = &e->accumulators[id];
    const struct build *m = &e->m;
    uint32_t part = part_of(e, cx, id), lanes = part == PART_SCALAR ? 1 : cx->lanes;
    T element = accumulator_type(e, id);
    V mask = e->info.vector_reduced && lanes > 1 ? cx->mask : NULL;

    const bool keys = has_keys(e, x, lanes);
    V old = slot_load(e, a->value, part, keys ? type_i32 : element), counted, new;
    if (kexpr_is_place(x)) {
        V index = arg_index(e, cx, lanes);
        V old_index = slot_load(e, a->index, part, type_i32);
        V better = is_better(e, x, value, index, old, old_index);
        if (mask)
            better = op_and(m, better, mask);
        slot_store(e, a->value, part, op_select(m, better, value, old));
        slot_store(e, a->index, part, op_select(m, better, index, old_index));
        return;
    }
    if (has_nan_flags(e, x, old)) {
        add_extreme(e, cx, id, part, value, mask);
        return;
    }
    if (keys)
        value = key_of(m, x, value);
    if (is_in_double(e, x))
        value = op_fpext(m, value, old->type);
    counted = x->reduce == KR_SUM && avx512_has_count(m, old) ? counted_condition(value) : NULL;
    if (counted)
        new = avx512_count(m, old, counted);
    else if (x->reduce != KR_DOT)
        new = combine(e, x, old, value);
    else if (ktype_is_float(x->type))
        new = op_mad(m, value, other, old);
    else
        new = op_add(m, old, op_mul(m, value, other));
    slot_store(e, a->value, part, mask ? op_select(m, mask, new, old) : new);
}

/* Returns v moved up by so many lanes; the first lanes of the result are the last ones of `before`. */
static V lanes_moved_up(const struct build *m, V before, V v, uint32_t by)
{
    return op_lanes(m, before, v, lanes_of(v) - by, lanes_of(v));
}

/*
 * Emits a SCAN's steps for one vector along a REDUCED variable.  Sums over the lanes before each lane take as many additions as
 * the number of lanes has bits; from vector to vector a single number is handed on, which one addition waits for.
 */
static V scan_lanes(struct emitter *e, const struct context *cx, uint32_t id, V value)
{
    const struct kexpr *x = &e->k->exprs[id];
    struct accumulator *a = &e->accumulators[id];
    const struct build *m = &e->m;
    const uint32_t lanes = cx->lanes;
    V before = slot_load(e, a->value, PART_SCALAR, accumulator_type(e, id)), zero, sums, all;

    if (is_in_double(e, x))
        value = op_fpext(m, value, type_lanes(type_f64, lanes));
    zero = const_zero(m, value->type);
    sums = cx->mask ? op_select(m, cx->mask, value, zero) : value;
    for (uint32_t by = 1; by < lanes; by *= 2)
        sums = op_add(m, sums, lanes_moved_up(m, zero, sums, by));
    slot_store(e, a->value, PART_SCALAR, op_add(m, before, op_extract(m, sums, const_int(m, 64, lanes - 1))));
    before = splat(m, before, lanes);
    all = op_add(m, before, sums);
    if (x->bits.u8)
        all = lanes_moved_up(m, before, all, 1);
    return is_in_double(e, x) ? op_fptrunc(m, all, type_lanes(type_f32, lanes)) : all;
}

V accumulator_scan(struct emitter *e, const struct context *cx, uint32_t id, V value)
{
    const struct kexpr *x = &e->k->exprs[id];
    struct accumulator *a = &e->accumulators[id];
    const struct build *m = &e->m;
    uint32_t part = part_of(e, cx, id), lanes = part == PART_SCALAR ? 1 : cx->lanes;
    T element = accumulator_type(e, id);

    if (e->info.vector_reduced && lanes > 1)
        return scan_lanes(e, cx, id, value);
    if (carries(e, x)) {
        V before = x->bits.u8 ? block_total(e, a, part) : NULL;
        add_block(e, a, part, value);
        return before ? before : block_total(e, a, part);
    }
    V old = slot_load(e, a->value, part, element);
    V new = op_add(m, old, is_in_double(e, x) ? op_fpext(m, value, old->type) : value), result = x->bits.u8 ? old : new;

    slot_store(e, a->value, part, new);
    return is_in_double(e, x) ? op_fptrunc(m, result, type_lanes(type_f32, lanes)) : result;
}

/* ---- long sums ---- */

/* Returns what a part has accumulated, which is NaN where its flag says so. */
static V part_value(struct emitter *e, uint32_t id, uint32_t part, T element)
{
    const struct kexpr *x = &e->k->exprs[id];
    const bool keys = has_keys(e, x, part == PART_SCALAR ? 1 : e->s->lanes);
    V v = slot_load(e, e->accumulators[id].value, part, keys ? type_i32 : element), nan;

    if (!has_nan_flags(e, x, v))
        return v;
    nan = slot_load(e, e->accumulators[nan_flags_of(e, id)].nan, part, type_i1);
    return op_select(&e->m, nan, const_f_like(&e->m, v, NAN), v);
}

/* Is what one or several copies, lanes or items have: a value, and of arg-min and arg-max its place (else NULL). */
struct pair {
    V value, place;
};

static struct pair join(struct emitter *e, const struct kexpr *x, struct pair a, struct pair b)
{
    if (!a.place)
        return (struct pair){combine(e, x, a.value, b.value), NULL};
    V better = is_better(e, x, b.value, b.place, a.value, a.place), value = op_select(&e->m, better, b.value, a.value);
    return (struct pair){value, op_select(&e->m, better, b.place, a.place)};
}

static struct pair part_pair(struct emitter *e, uint32_t id, uint32_t part, T element)
{
    const bool is_place = kexpr_is_place(&e->k->exprs[id]);
    V value = part_value(e, id, part, element);

    return (struct pair){value, is_place ? slot_load(e, e->accumulators[id].index, part, type_i32) : NULL};
}

static struct pair join_copies(struct emitter *e, const struct context *cx, uint32_t id, T element)
{
    struct pair all[SUM_COPIES];
    uint32_t n = e->s->phase_vectors[cx->phase];

    for (uint32_t p = 0; p < n; p++)
        all[p] = part_pair(e, id, p, element);
    for (; n > 1; n = (n + 1) / 2)
        for (uint32_t p = 0; p < n / 2; p++)
            all[p] = join(e, &e->k->exprs[id], all[p], all[n - 1 - p]);
    return all[0];
}

void accumulator_add_block(struct emitter *e, const struct context *cx, uint32_t id)
{
    struct accumulator *a = &e->accumulators[id];
    bool used[PARTS];
    parts_of(e, cx, id, used);
    if (e->info.vector_reduced)
        add_block(e, a, 0, join_copies(e, cx, id, type_f32).value);
    for (uint32_t p = e->info.vector_reduced ? PART_SCALAR : 0; p < PARTS; p++)
        if (used[p])
            add_block(e, a, p, slot_load(e, a->value, p, type_f32));
}

/* ---- results ---- */

static V half_of(const struct build *m, V v, uint32_t first, uint32_t count)
{
    return !v ? NULL : count == 1 ? op_extract(m, v, const_int(m, 64, first)) : op_lanes(m, v, NULL, first, count);
}

static struct pair join_lanes(struct emitter *e, const struct kexpr *x, struct pair all)
{
    const struct build *m = &e->m;

    for (uint32_t n = lanes_of(all.value) / 2; n; n /= 2) {
        const struct pair high = {half_of(m, all.value, n, n), half_of(m, all.place, n, n)};
        all = join(e, x, (struct pair){half_of(m, all.value, 0, n), half_of(m, all.place, 0, n)}, high);
    }
    return all;
}

/* Returns the number that a key stands for; others stay. */
static V number_of(const struct build *m, const struct kexpr *x, V v)
{
    return is_key(x, v) ? op_bits(m, exchange_key(m, v), type_f32) : v;
}

/* Returns what a part has accumulated, or all parts with vectors along a REDUCED variable. */
static struct pair reduce_result(struct emitter *e, const struct context *cx, uint32_t id, bool in_blocks, uint32_t part)
{
    const struct kexpr *x = &e->k->exprs[id];
    struct accumulator *a = &e->accumulators[id];
    const bool sums = in_blocks && is_long_sum(x), joins = e->info.vector_reduced;
    T element = accumulator_type(e, id);
    struct pair all;

    if (sums)
        all = (struct pair){block_total(e, a, joins ? 0 : part), NULL};
    else
        all = joins ? join_copies(e, cx, id, element) : part_pair(e, id, part, element);
    all = joins ? join_lanes(e, x, all) : all;
    all.value = number_of(&e->m, x, all.value);
    if (joins && has_rest(e))
        all = join(e, x, all,
                   sums ? (struct pair){block_total(e, a, PART_SCALAR), NULL} : part_pair(e, id, PART_SCALAR, element));
    return all;
}

/* ---- items that share a point ---- */

static V shared_element(struct emitter *e, V memory, T type, V item)
{
    return op_address(&e->m, type, memory, op_add(&e->m, e->sharing->first, item));
}

static struct pair load_pair(struct emitter *e, T type, bool has_place, V item)
{
    const struct sharing *g = e->sharing;
    struct pair p = {op_load(&e->m, type, shared_element(e, g->memory, type, item), NULL, loop_type_bits(type) / 8), NULL};

    if (has_place)
        p.place = op_load(&e->m, type_i32, shared_element(e, g->places, type_i32, item), NULL, sizeof(int32_t));
    return p;
}

static void store_pair(struct emitter *e, struct pair p, V item)
{
    const struct sharing *g = e->sharing;

    op_store(&e->m, p.value, shared_element(e, g->memory, p.value->type, item), NULL, loop_type_bits(p.value->type) / 8);
    if (p.place)
        op_store(&e->m, p.place, shared_element(e, g->places, type_i32, item), NULL, sizeof(int32_t));
}

/* Returns what items `first`, first + step and so on, below end, have together. */
static struct pair combine_items(struct emitter *e, const struct kexpr *x, struct pair like, V first, uint32_t step,
                                 uint32_t end)
{
    const struct build *m = &e->m;
    const bool has_place = like.place;
    V value = loop_slot(m->b, like.value->type), place = has_place ? loop_slot(m->b, type_i32) : NULL;
    struct pair p, other;

    p = load_pair(e, like.value->type, has_place, first);
    op_set(m, value, p.value);
    if (has_place)
        op_set(m, place, p.place);
    V item = loop_for_begin(m->b, op_plus(m, first, step), const_index(m, end), 0);
    other = load_pair(e, like.value->type, has_place, item);
    p.value = op_get(m, value);
    p.place = has_place ? op_get(m, place) : NULL;
    p = join(e, x, p, other);
    op_set(m, value, p.value);
    if (has_place)
        op_set(m, place, p.place);
    loop_for_end(m->b, const_index(m, step));
    return (struct pair){op_get(m, value), has_place ? op_get(m, place) : NULL};
}

/* Returns what all items have together, to each of them.  As many items as the square root of all combine about as many values
 * each, and then every item combines theirs: reading a few numbers from the group's memory is cheaper than barriers, of which a
 * tree has one for each of its levels. */
static struct pair combine_group(struct emitter *e, const struct kexpr *x, struct pair own)
{
    const struct build *m = &e->m;
    const struct sharing *g = e->sharing;
    uint32_t some = 1;

    while (some * some < g->items)
        some *= 2;
    store_pair(e, own, g->item);
    op_barrier(m);
    loop_if_begin(m->b, op_lt(m, g->item, const_index(m, some)));
    store_pair(e, combine_items(e, x, own, g->item, some, g->items), g->item);
    loop_end(m->b);
    op_barrier(m);
    own = combine_items(e, x, own, const_index(m, 0), 1, some);
    op_barrier(m);
    return own;
}

void accumulator_finish(struct emitter *e, const struct context *cx, uint32_t id, bool in_blocks)
{
    const struct kexpr *x = &e->k->exprs[id];
    uint32_t copies = !e->info.vector_reduced && expr_is_vector(e, cx, id) ? cx->copies : 1;
    for (uint32_t copy = 0; copy < copies; copy++) {
        struct pair all = reduce_result(e, cx, id, in_blocks, expr_is_vector(e, cx, id) ? copy : PART_SCALAR);
        all = e->sharing ? combine_group(e, x, all) : all;
        V v = all.place ? all.place : all.value;
        if (is_in_double(e, x))
            v = op_fptrunc(&e->m, v, type_like(type_f32, v));
        if (kexpr_is_place(x))
            v = op_sext(&e->m, v, type_like(type_i64, v));
        expr_know(e, id, copy, v);
    }
}
