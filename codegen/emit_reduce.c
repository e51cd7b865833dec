/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The phases of a point: loops over the REDUCED variables, accumulators, running sums, and the stores.
 *
 * Accumulators live in stack slots, which a pass turns into registers.  With vectors along a REDUCED variable every copy has a
 * vector of partial results; they meet after the loop.  Long float32 sums are added up in blocks: within a block plainly, block
 * to block with the rounding error carried along, so that the error does not grow with the number of blocks.
 */
#include "codegen/emit.h"

#include <math.h>

enum { BLOCK_STEPS = 64 }; /* additions in a row into one accumulator */

struct nest {
    uint32_t fold_at; /* REDUCED variable whose loop is cut into blocks; KEXPR_NONE: none */
    V *values;        /* of the stores, [store * COPIES_MAX + copy] */
};

static bool is_reduce_of(const struct emitter *e, uint32_t id)
{
    return e->k->exprs[id].op == K_REDUCE && e->k->exprs[id].phase == e->phase;
}

static bool is_arg(const struct kexpr *x)
{
    return x->reduce == KR_ARG_MIN || x->reduce == KR_ARG_MAX;
}

static bool is_long_sum(const struct kexpr *x)
{
    return x->op == K_REDUCE && x->type == KT_F32 && (x->reduce == KR_SUM || x->reduce == KR_DOT);
}

/* ---- accumulators ---- */

/* The parts of an accumulator that are in use: [*first, *last). */
static void parts_of(const struct emitter *e, uint32_t id, bool used[PARTS])
{
    for (uint32_t p = 0; p < PARTS; p++)
        used[p] = false;
    if (e->vector_reduced) {
        for (uint32_t p = 0; p < e->copies_reduced; p++)
            used[p] = true;
        used[PART_SCALAR] = !e->masked_tail;
    } else if (expr_is_vector(e, id)) {
        for (uint32_t p = 0; p < e->copies; p++)
            used[p] = true;
    } else {
        used[PART_SCALAR] = true;
    }
}

static uint32_t part_of(const struct emitter *e, uint32_t id)
{
    return e->vector_reduced ? (e->lanes > 1 ? e->copy : PART_SCALAR) : expr_is_vector(e, id) ? e->copy : PART_SCALAR;
}

static T part_type(const struct emitter *e, T element, uint32_t part)
{
    return type_lanes(element, part == PART_SCALAR ? 1 : e->width);
}

/* Running sums, whose error would grow with their length, and products, which could leave float32's range on the way. */
static bool is_in_double(const struct kexpr *x)
{
    return x->type == KT_F32 && (x->op == K_SCAN || (x->op == K_REDUCE && x->reduce == KR_PRODUCT));
}

/* The element type of what is accumulated. */
static T value_type(const struct emitter *e, const struct kexpr *x)
{
    if (is_in_double(x))
        return type_f64(&e->m);
    return type_of(e, is_arg(x) ? e->k->exprs[x->args[0]].type : x->type);
}

static V slot(struct emitter *e, V slots[PARTS], uint32_t part, T element)
{
    if (!slots[part])
        slots[part] = alloca_entry(&e->m, part_type(e, element, part), "acc");
    emit_here(e);
    return slots[part];
}

static V slot_load(struct emitter *e, V slots[PARTS], uint32_t part, T element)
{
    V s = slot(e, slots, part, element);
    return LLVMBuildLoad2(e->m.b, part_type(e, element, part), s, "");
}

static void slot_store(struct emitter *e, V slots[PARTS], uint32_t part, V value)
{
    V s = slot(e, slots, part, element_type(value));
    LLVMBuildStore(e->m.b, value, s);
}

/* What leaves every other operand as it is. */
static V identity(const struct emitter *e, const struct kexpr *x, T element)
{
    bool is_float = LLVMGetTypeKind(element) != LLVMIntegerTypeKind;
    enum ktype type = is_arg(x) ? e->k->exprs[x->args[0]].type : x->type;
    uint32_t bits = is_float ? 0 : LLVMGetIntTypeWidth(element);
    bool lowest = x->reduce == KR_MAX || x->reduce == KR_ARG_MAX;

    if (x->op == K_SCAN || x->reduce == KR_SUM || x->reduce == KR_DOT)
        return LLVMConstNull(element);
    if (x->reduce == KR_PRODUCT)
        return is_float ? LLVMConstReal(element, 1) : const_int(&e->m, bits, 1);
    if (is_float)
        return LLVMConstReal(element, lowest ? -INFINITY : INFINITY);
    if (!ktype_is_signed(type))
        return lowest ? LLVMConstNull(element) : LLVMConstAllOnes(element);
    uint64_t smallest = UINT64_C(1) << (bits - 1);
    return const_int(&e->m, bits, (int64_t)(lowest ? smallest : smallest - 1));
}

static void reset(struct emitter *e, uint32_t id, bool totals)
{
    const struct kexpr *x = &e->k->exprs[id];
    struct accumulator *a = &e->accumulators[id];
    T element = value_type(e, x);
    bool used[PARTS];

    parts_of(e, id, used);
    for (uint32_t p = 0; p < PARTS; p++) {
        if (!used[p])
            continue;
        uint32_t lanes = p == PART_SCALAR ? 1 : e->width;
        V start = const_splat(identity(e, x, element), lanes);
        if (totals) {
            slot_store(e, a->total, p, start);
            slot_store(e, a->rest, p, start);
            continue;
        }
        slot_store(e, a->value, p, start);
        if (x->op == K_REDUCE && is_arg(x)) /* later than every index, so that the first element wins */
            slot_store(e, a->index, p, const_splat(const_int(&e->m, 32, INT32_MAX), lanes));
    }
}

static V combine(const struct emitter *e, const struct kexpr *x, V a, V b)
{
    enum kop op = x->reduce == KR_PRODUCT ? K_MUL : x->reduce == KR_MIN ? K_MIN : x->reduce == KR_MAX ? K_MAX : K_ADD;
    return emit_operation(&e->m, op, x->type, x->type, a, b, NULL);
}

/* Whether (a, i) comes before (b, j) in an arg-min or arg-max: NaN first, then the extreme, of equals the first. */
static V is_better(const struct emitter *e, const struct kexpr *x, V a, V i, V b, V j)
{
    const struct build *m = &e->m;
    enum ktype type = e->k->exprs[x->args[0]].type;
    V first = LLVMBuildICmp(m->b, LLVMIntSLT, i, j, "");
    V more = x->reduce == KR_ARG_MAX ? emit_operation(m, K_LT, KT_BOOL, type, b, a, NULL)
                                     : emit_operation(m, K_LT, KT_BOOL, type, a, b, NULL);
    V equal = emit_operation(m, K_EQ, KT_BOOL, type, a, b, NULL);
    V better = LLVMBuildOr(m->b, more, LLVMBuildAnd(m->b, equal, first, ""), "");
    if (type != KT_F32)
        return better;
    V a_nan = LLVMBuildFCmp(m->b, LLVMRealUNO, a, a, ""), b_nan = LLVMBuildFCmp(m->b, LLVMRealUNO, b, b, "");
    V nan = LLVMBuildAnd(m->b, a_nan, LLVMBuildOr(m->b, LLVMBuildNot(m->b, b_nan, ""), first, ""), "");
    return LLVMBuildOr(m->b, better, nan, "");
}

/* ---- one iteration ---- */

static V arg_index(struct emitter *e, uint32_t lanes)
{
    const struct build *m = &e->m;
    V index = LLVMBuildTrunc(m->b, reduced_index(e), type_int(m, 32), "");
    index = splat(m, index, lanes);
    return lanes > 1 && e->vector_reduced ? LLVMBuildAdd(m->b, index, const_iota(m, 32, lanes), "") : index;
}

static void accumulate(struct emitter *e, uint32_t id)
{
    const struct kexpr *x = &e->k->exprs[id];
    struct accumulator *a = &e->accumulators[id];
    const struct build *m = &e->m;
    uint32_t part = part_of(e, id), lanes = part == PART_SCALAR ? 1 : e->lanes;
    T element = value_type(e, x);
    V mask = e->vector_reduced && lanes > 1 ? e->mask : NULL;

    if (part == PART_SCALAR && e->copy > 0) /* the same for all copies: once */
        return;
    V value = expr_value_lanes(e, x->args[0], lanes);
    V factor = x->reduce == KR_DOT ? expr_value_lanes(e, x->args[1], lanes) : NULL;
    V old = slot_load(e, a->value, part, element), new;
    if (is_arg(x)) {
        emit_here(e);
        V index = arg_index(e, lanes);
        V old_index = slot_load(e, a->index, part, type_int(m, 32));
        V better = is_better(e, x, value, index, old, old_index);
        if (mask)
            better = LLVMBuildAnd(m->b, better, mask, "");
        slot_store(e, a->value, part, LLVMBuildSelect(m->b, better, value, old, ""));
        slot_store(e, a->index, part, LLVMBuildSelect(m->b, better, index, old_index, ""));
        return;
    }
    emit_here(e);
    if (is_in_double(x))
        value = LLVMBuildFPExt(m->b, value, LLVMTypeOf(old), "");
    if (x->reduce != KR_DOT)
        new = combine(e, x, old, value);
    else if (x->type == KT_F32)
        new = op_mad(m, value, factor, old);
    else
        new = LLVMBuildAdd(m->b, old, LLVMBuildMul(m->b, value, factor, ""), "");
    slot_store(e, a->value, part, mask ? LLVMBuildSelect(m->b, mask, new, old, "") : new);
}

V emit_scan(struct emitter *e, uint32_t expr)
{
    const struct kexpr *x = &e->k->exprs[expr];
    struct accumulator *a = &e->accumulators[expr];
    const struct build *m = &e->m;
    uint32_t part = part_of(e, expr), lanes = part == PART_SCALAR ? 1 : e->lanes;
    T element = value_type(e, x);
    V value = expr_value_lanes(e, x->args[0], lanes);
    V old = slot_load(e, a->value, part, element), new, result;

    if (is_in_double(x))
        new = LLVMBuildFAdd(m->b, old, LLVMBuildFPExt(m->b, value, LLVMTypeOf(old), ""), "");
    else
        new = LLVMBuildAdd(m->b, old, value, "");
    slot_store(e, a->value, part, new);
    result = x->bits.u8 ? old : new;
    return is_in_double(x) ? LLVMBuildFPTrunc(m->b, result, type_lanes(type_f32(m), lanes), "") : result;
}

/* Evaluates the stores of a phase for every copy; nothing is stored before everything has been loaded. */
static void evaluate_stores(struct emitter *e, struct nest *n, bool varying)
{
    for (e->copy = 0; e->copy < e->copies; e->copy++) {
        for (uint32_t i = 0; i < e->k->store_count; i++) {
            const struct kstore *s = &e->k->stores[i];
            if (s->varying == varying && s->phase == e->phase)
                n->values[i * COPIES_MAX + e->copy] = expr_value(e, s->expr);
        }
    }
    e->copy = 0;
}

static void write_stores(struct emitter *e, struct nest *n, bool varying)
{
    for (uint32_t i = 0; i < e->k->store_count; i++) {
        if (tile_turns_store(e, i))
            tile_store(e, i, &n->values[i * COPIES_MAX]);
    }
    for (uint32_t c = e->copies; c-- > 0;) { /* rows that a tile does not have are its last one, which then is stored last */
        e->copy = c;
        for (uint32_t i = 0; i < e->k->store_count; i++) {
            const struct kstore *s = &e->k->stores[i];
            if (s->varying == varying && s->phase == e->phase && !tile_turns_store(e, i))
                emit_store(e, i, n->values[i * COPIES_MAX + e->copy]);
        }
    }
    e->copy = 0;
}

static void emit_iteration(struct emitter *e, void *user)
{
    struct nest *n = user;
    evaluate_stores(e, n, true);
    for (e->copy = 0; e->copy < e->copies; e->copy++) {
        for (uint32_t i = 0; i < e->k->expr_count; i++) {
            const struct kexpr *x = &e->k->exprs[i];
            if (x->keep >= 0 && x->phase == e->phase)
                emit_row_store(e, i, expr_value_lanes(e, i, e->lanes));
        }
        for (uint32_t i = 0; i < e->k->expr_count; i++)
            if (is_reduce_of(e, i))
                accumulate(e, i);
    }
    e->copy = 0;
    write_stores(e, n, true);
}

/* ---- long sums ---- */

/* total, rest += value, exactly but for the rounding of rest. */
static void add_block(struct emitter *e, struct accumulator *a, uint32_t part, V value)
{
    const struct build *m = &e->m;
    T f32 = type_f32(m);
    V total = slot_load(e, a->total, part, f32), rest = slot_load(e, a->rest, part, f32);
    V sum = LLVMBuildFAdd(m->b, total, value, "");
    V back = LLVMBuildFSub(m->b, sum, total, "");
    V error = LLVMBuildFAdd(m->b, LLVMBuildFSub(m->b, total, LLVMBuildFSub(m->b, sum, back, ""), ""),
                            LLVMBuildFSub(m->b, value, back, ""), "");
    slot_store(e, a->total, part, sum);
    slot_store(e, a->rest, part, LLVMBuildFAdd(m->b, rest, error, ""));
}

/* All vector copies together. */
static V join_copies(struct emitter *e, const struct kexpr *x, V slots[PARTS], T element)
{
    V v[SUM_COPIES];
    uint32_t n = e->copies_reduced;
    for (uint32_t p = 0; p < n; p++)
        v[p] = slot_load(e, slots, p, element);
    for (; n > 1; n = (n + 1) / 2)
        for (uint32_t p = 0; p < n / 2; p++)
            v[p] = combine(e, x, v[p], v[n - 1 - p]);
    return v[0];
}

static void fold_block(struct emitter *e, uint32_t id)
{
    const struct kexpr *x = &e->k->exprs[id];
    struct accumulator *a = &e->accumulators[id];
    bool used[PARTS];
    parts_of(e, id, used);
    if (e->vector_reduced)
        add_block(e, a, 0, join_copies(e, x, a->value, type_f32(&e->m)));
    for (uint32_t p = e->vector_reduced ? PART_SCALAR : 0; p < PARTS; p++)
        if (used[p])
            add_block(e, a, p, slot_load(e, a->value, p, type_f32(&e->m)));
}

/* total + rest; an infinite or NaN total has a meaningless rest. */
static V block_total(struct emitter *e, struct accumulator *a, uint32_t part)
{
    const struct build *m = &e->m;
    V total = slot_load(e, a->total, part, type_f32(m)), rest = slot_load(e, a->rest, part, type_f32(m));
    V finite = LLVMBuildFCmp(m->b, LLVMRealOLT, op_fabs(m, rest), const_f_like(m, rest, INFINITY), "");
    rest = LLVMBuildSelect(m->b, finite, rest, LLVMConstNull(LLVMTypeOf(rest)), "");
    return LLVMBuildFAdd(m->b, total, rest, "");
}

/* ---- results ---- */

static V half_of(const struct build *m, V v, uint32_t first, uint32_t count)
{
    V mask[64];
    if (count == 1)
        return LLVMBuildExtractElement(m->b, v, const_int(m, 64, first), "");
    for (uint32_t i = 0; i < count; i++)
        mask[i] = const_int(m, 32, first + i);
    return LLVMBuildShuffleVector(m->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(mask, count), "");
}

static V join_lanes(struct emitter *e, const struct kexpr *x, V v)
{
    for (uint32_t n = lanes_of(v) / 2; n; n /= 2)
        v = combine(e, x, half_of(&e->m, v, 0, n), half_of(&e->m, v, n, n));
    return v;
}

/* The better of two (value, index) pairs, in place of the first. */
static void take_better(struct emitter *e, const struct kexpr *x, V *a, V *i, V b, V j)
{
    V better = is_better(e, x, b, j, *a, *i);
    *a = LLVMBuildSelect(e->m.b, better, b, *a, "");
    *i = LLVMBuildSelect(e->m.b, better, j, *i, "");
}

static V arg_result(struct emitter *e, uint32_t id)
{
    const struct kexpr *x = &e->k->exprs[id];
    struct accumulator *a = &e->accumulators[id];
    const struct build *m = &e->m;
    T element = value_type(e, x), i32 = type_int(m, 32);
    V value = slot_load(e, a->value, 0, element), index = slot_load(e, a->index, 0, i32);

    for (uint32_t p = 1; p < e->copies_reduced; p++) {
        V other = slot_load(e, a->value, p, element), other_index = slot_load(e, a->index, p, i32);
        take_better(e, x, &value, &index, other, other_index);
    }
    for (uint32_t n = e->width / 2; n; n /= 2) {
        V other = half_of(m, value, n, n), other_index = half_of(m, index, n, n);
        value = half_of(m, value, 0, n);
        index = half_of(m, index, 0, n);
        take_better(e, x, &value, &index, other, other_index);
    }
    if (!e->masked_tail) {
        V other = slot_load(e, a->value, PART_SCALAR, element), other_index = slot_load(e, a->index, PART_SCALAR, i32);
        take_better(e, x, &value, &index, other, other_index);
    }
    return index;
}

/* The value of a REDUCE for the point, or for one copy of a vector of points. */
static V reduce_result(struct emitter *e, uint32_t id, bool blocks, uint32_t part)
{
    const struct kexpr *x = &e->k->exprs[id];
    struct accumulator *a = &e->accumulators[id];
    T element = value_type(e, x);

    if (!e->vector_reduced) {
        if (is_arg(x))
            return slot_load(e, a->index, part, type_int(&e->m, 32));
        return blocks && is_long_sum(x) ? block_total(e, a, part) : slot_load(e, a->value, part, element);
    }
    if (is_arg(x))
        return arg_result(e, id);
    bool sums = blocks && is_long_sum(x);
    V v = join_lanes(e, x, sums ? block_total(e, a, 0) : join_copies(e, x, a->value, element));
    if (!e->masked_tail)
        v = combine(e, x, v, sums ? block_total(e, a, PART_SCALAR) : slot_load(e, a->value, PART_SCALAR, element));
    return v;
}

static void finish_reduce(struct emitter *e, uint32_t id, bool blocks)
{
    const struct kexpr *x = &e->k->exprs[id];
    uint32_t copies = !e->vector_reduced && expr_is_vector(e, id) ? e->copies : 1;
    for (uint32_t copy = 0; copy < copies; copy++) {
        emit_here(e);
        V v = reduce_result(e, id, blocks, expr_is_vector(e, id) ? copy : PART_SCALAR);
        if (is_in_double(x))
            v = LLVMBuildFPTrunc(e->m.b, v, type_like(type_f32(&e->m), v), "");
        if (is_arg(x))
            v = LLVMBuildSExt(e->m.b, v, type_like(type_int(&e->m, 64), v), "");
        e->expr_cache[id * COPIES_MAX + copy] = (struct cached){v, e->levels[e->point_level].serial};
    }
}

/* ---- loops ---- */

static void emit_nest(struct emitter *e, struct nest *n, uint32_t r);

struct nest_at {
    struct nest *nest;
    uint32_t r;
};

static void nest_body(struct emitter *e, void *user)
{
    struct nest_at *at = user;
    emit_nest(e, at->nest, at->r + 1);
}

static void loop_over(struct emitter *e, struct nest *n, uint32_t r, V low, V high)
{
    uint32_t var = e->k->parallel_count + r;
    struct nest_at at = {n, r};
    if (var == e->k->vector_var)
        emit_vector_loop(e, low, high, e->copies_reduced, emit_iteration, n);
    else
        emit_loop(e, e->reduced_level + r, var, low, high, nest_body, &at);
}

static void for_long_sums(struct emitter *e, void (*act)(struct emitter *e, uint32_t id))
{
    for (uint32_t i = 0; i < e->k->expr_count; i++)
        if (is_reduce_of(e, i) && is_long_sum(&e->k->exprs[i]))
            act(e, i);
}

static void start_block(struct emitter *e, uint32_t id)
{
    reset(e, id, false);
}

/* A loop cut into blocks of BLOCK_STEPS iterations, each a sum of its own. */
static void emit_blocks(struct emitter *e, struct nest *n, uint32_t r, V size)
{
    const struct build *m = &e->m;
    bool vector = e->k->parallel_count + r == e->k->vector_var;
    int64_t block = BLOCK_STEPS * (vector ? (int64_t)e->width * e->copies_reduced : 1);
    V zero = const_int(m, 64, 0);

    if (LLVMIsConstant(size)) { /* small */
        for_long_sums(e, start_block);
        loop_over(e, n, r, zero, size);
        for_long_sums(e, fold_block);
        return;
    }
    LLVMBasicBlockRef before = e->tail;
    block_enter(m, "block");
    emit_block(e, LLVMGetInsertBlock(m->b));
    V start = LLVMBuildPhi(m->b, type_int(m, 64), "start");
    V end = LLVMBuildAdd(m->b, start, const_int(m, 64, block), "");
    V high = op_intrinsic2(m, "llvm.smin", end, size);
    LLVMBasicBlockRef loop = e->tail;
    for_long_sums(e, start_block);
    loop_over(e, n, r, start, high);
    for_long_sums(e, fold_block);
    emit_here(e);
    LLVMBasicBlockRef latch = e->tail, after = block_append(m, "blocks.done");
    V values[2] = {zero, end};
    LLVMBasicBlockRef from[2] = {before, latch};
    LLVMAddIncoming(start, values, from, 2);
    LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, LLVMIntSLT, end, size, ""), loop, after);
    emit_block(e, after);
}

static void emit_nest(struct emitter *e, struct nest *n, uint32_t r)
{
    if (r == e->k->reduced_count) {
        emit_iteration(e, n);
        return;
    }
    uint32_t var = e->k->parallel_count + r, level = e->reduced_level + r;
    if (r >= e->unroll_from) {
        int64_t size = e->numbers.items[e->var_number[var]].value;
        for (int64_t i = 0; i < size; i++) {
            emit_open(e, level);
            e->var_value[var] = const_int(&e->m, 64, i);
            emit_nest(e, n, r + 1);
        }
        return;
    }
    V size = number_value(e, e->var_number[var]);
    emit_enter(e, level - 1, "reduce");
    if (r == n->fold_at)
        emit_blocks(e, n, r, size);
    else
        loop_over(e, n, r, const_int(&e->m, 64, 0), size);
    emit_leave(e, level - 1);
}

/* Where long sums are cut into blocks: the innermost real loop; nowhere if there are few terms for certain. */
static uint32_t find_fold(const struct emitter *e)
{
    int64_t terms = 1;
    bool small = true, any = false;
    for (uint32_t r = 0; r < e->k->reduced_count; r++) {
        const struct knumber *size = &e->numbers.items[e->var_number[e->k->parallel_count + r]];
        small = small && size->slot < 0 && (terms *= size->value) <= BLOCK_STEPS;
    }
    for (uint32_t i = 0; i < e->k->expr_count; i++)
        any |= is_reduce_of(e, i) && is_long_sum(&e->k->exprs[i]);
    return small || !any || e->unroll_from == 0 ? KEXPR_NONE : e->unroll_from - 1;
}

static void emit_phase(struct emitter *e, struct nest *n)
{
    const struct kernel *k = e->k;
    bool any = false;
    for (uint32_t i = 0; i < k->expr_count; i++)
        any |= is_reduce_of(e, i) || (k->exprs[i].keep >= 0 && k->exprs[i].phase == e->phase);
    for (uint32_t i = 0; i < k->store_count; i++)
        any |= k->stores[i].varying && k->stores[i].phase == e->phase;
    if (!any)
        return;

    e->copies_reduced = emit_phase_copies(e, e->phase);
    n->fold_at = find_fold(e);
    bool blocks = n->fold_at != KEXPR_NONE;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        if (is_reduce_of(e, i) || k->exprs[i].op == K_SCAN)
            reset(e, i, blocks && is_long_sum(&k->exprs[i]));
    }
    emit_nest(e, n, 0);
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (is_reduce_of(e, i))
            finish_reduce(e, i, blocks);
}

void emit_point(struct emitter *e, void *user)
{
    struct nest *n = &(struct nest){.values = user};
    for (e->phase = 0; e->phase < e->k->phase_count; e->phase++)
        emit_phase(e, n);
    evaluate_stores(e, n, false);
    write_stores(e, n, false);
}
