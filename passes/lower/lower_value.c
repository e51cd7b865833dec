/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Evaluates a value at a map: loads at the cluster's boundary, operators inside, each once per map.
 */
#include <string.h>

#include "passes/lower/lower.h"

/**
 * Remembers a value that was evaluated already.  An element is known by its row-major index, however the map says it: as one
 * form per dimension or, after a reshape, as the index itself.
 */
struct lower_memo {
    const struct value *value;
    struct map map; /* linear */
    uint32_t expr;
};

uint32_t lower_tensor(struct lowering *l, const struct value *v, bool written)
{
    struct kernel *k = l->k;

    for (uint32_t i = 0; i < k->tensor_count; i++) {
        if (k->tensors[i].user == v && k->tensors[i].written == written)
            return i;
    }
    if (k->tensor_count == KERNEL_TENSORS_MAX) {
        l->unfusable = true;
        return UINT32_MAX;
    }
    if (dtype_packed_bits(v->type.type))
        return kernel_tensor(k, WNNOperandDataType_Uint32, type_bytes(&v->type) / (int64_t)sizeof(uint32_t), written,
                             (void *)(uintptr_t)v);
    const uint32_t tensor = kernel_tensor(k, v->type.type, type_elements(&v->type), written, (void *)(uintptr_t)v);
    k->tensors[tensor].pairs_fit = v->constant && v->constant->pairs_fit;
    k->tensors[tensor].magnitude = v->constant ? v->constant->magnitude : MAGNITUDE_UNKNOWN;
    return tensor;
}

bool lower_store(struct lowering *l, const struct value *v, const struct map *m, uint32_t e)
{
    const struct stored_part *part = &l->table->part;
    const struct value *to = v == part->value ? part->whole : v;
    const uint32_t tensor = e == KEXPR_NONE || l->unfusable || l->k->error.status ? UINT32_MAX : lower_tensor(l, to, true);
    struct map at = *m;

    if (tensor == UINT32_MAX)
        return false;
    if (to != v) {
        at = map_spread(l, m, &v->type);
        at.forms[part->axis] = kaffine_add_const(at.forms[part->axis], part->start);
    }
    kernel_store(l->k, tensor, map_linear(l, &at, &to->type), e, at.guard_count, at.guards);
    return !l->k->error.status;
}

union scalar lower_scalar(WNNNumber n, dtype t)
{
    return scalar_widen(number_cast(n, t), t);
}

uint32_t lower_number(struct lowering *l, WNNNumber n, dtype t)
{
    return kernel_const(l->k, ktype_of(t), lower_scalar(n, t));
}

/** Returns a one-element constant, which is part of the code. */
static uint32_t load_scalar_constant(struct lowering *l, const struct value *v)
{
    union scalar s = {.u64 = 0};

    memcpy(&s, v->constant->data, dtype_size(v->type.type));
    return kernel_const(l->k, ktype_of(v->type.type), scalar_widen(s, v->type.type));
}

/** Returns an element of a packed type as a number: its word, shifted and masked.  Neighbours share the word, which is loaded
 * once where the loop over them is unrolled. */
static uint32_t load_packed(struct lowering *l, uint32_t tensor, struct kaffine index, const struct map *m, dtype type)
{
    struct kernel *k = l->k;
    const uint32_t per_word = dtype_per_word(type), bits = dtype_packed_bits(type);
    const union scalar zero = {.u64 = 0}, mask = {.u32 = (1u << bits) - 1}, twice = {.u32 = bits / 2};
    uint32_t word = kernel_load(k, tensor, form_divmod(l, index, per_word, 0), m->guard_count, m->guards, zero);
    uint32_t shift = kernel_cast(k, KT_U32, kernel_index(k, form_divmod(l, index, 1, per_word)));

    if (bits > 1) /* times 2 or 4 bits */
        shift = kernel_op2(k, K_SHL, shift, kernel_const(k, KT_U32, twice));
    return kernel_op2(k, K_AND, kernel_op2(k, K_SHR, word, shift), kernel_const(k, KT_U32, mask));
}

uint32_t lower_element(struct lowering *l, const struct value *v, const struct map *m)
{
    const uint32_t tensor = lower_tensor(l, v, false);

    if (tensor == UINT32_MAX)
        return KEXPR_NONE;
    if (dtype_packed_bits(v->type.type))
        return load_packed(l, tensor, map_linear(l, m, &v->type), m, v->type.type);
    return kernel_load(l->k, tensor, map_linear(l, m, &v->type), m->guard_count, m->guards, (union scalar){.u64 = 0});
}

/** Returns whether a one-element constant may be a size, an integer that is added or subtracted: it is read from memory, so
 * that sizes share code. */
static bool may_be_size(const struct value *v)
{
    const bool wide = v->type.type == WNNOperandDataType_Int64;
    int64_t number = 0;
    int32_t narrow = 0;

    if (!wide && v->type.type != WNNOperandDataType_Int32)
        return false;
    memcpy(wide ? (void *)&number : &narrow, v->constant->data, wide ? sizeof number : sizeof narrow);
    number = wide ? number : narrow;
    value_for_each_use (v, u)
        if (u->node->op != OP_ADD && u->node->op != OP_SUB)
            return false;
    return v->uses && (number < -KERNEL_IMMEDIATE_MAX || number > KERNEL_IMMEDIATE_MAX);
}

static uint32_t load(struct lowering *l, const struct value *v, const struct map *m)
{
    if (v->kind == VALUE_CONSTANT && type_elements(&v->type) == 1 && !dtype_packed_bits(v->type.type) && v->constant &&
        v->constant->data && !may_be_size(v))
        return load_scalar_constant(l, v);
    return lower_element(l, v, m);
}

static uint32_t lower_node(struct lowering *l, const struct node *n, uint32_t result, const struct map *m)
{
    static const struct {
        uint32_t flag;
        uint32_t (*lower)(struct lowering *l, const struct node *n, const struct map *m);
    } families[] = {
        {OPF_ELEMENTWISE, lower_elementwise},
        {OPF_ELEMENTWISE_INDEXED, lower_triangular},
        {OPF_REDUCTION, lower_reduction},
        {OPF_NORMALIZATION, lower_normalization},
        {OPF_POOL, lower_pool},
        {OPF_SCAN, lower_scan},
        {OPF_LIBRARY, lower_contraction},
        {OPF_GATHER, lower_gather},
        {OPF_RESAMPLE, lower_resample},
    };

    if (n->op == OP_BATCH_NORMALIZATION)
        return lower_batch_normalization(l, n, m);
    if (op_infos[n->op].flags & OPF_MOVEMENT)
        return lower_movement(l, n, result, m);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (op_infos[n->op].flags & families[i].flag)
            return families[i].lower(l, n, m);
    /* A scatter has separate kernels; recurrent operators are decomposed by a pass. */
    l->unfusable = true;
    return KEXPR_NONE;
}

/* Returns where v's element at m lies, without variables that are always 0: reshapes lose them, where sizes vary. */
static struct map memo_key(struct lowering *l, const struct value *v, const struct map *m)
{
    struct map key = map_like(m, v->type.rank);
    const struct kaffine all = map_linear(l, m, &v->type);

    key.forms[0] = all;
    for (uint32_t i = 0; i < all.count; i++)
        if (l->k->vars[all.terms[i].var].size == 1)
            key.forms[0] =
                kaffine_add_scaled(l->k, key.forms[0], kaffine_var(l->k, all.terms[i].var), -all.terms[i].coefficient);
    key.linear = true;
    return key;
}

static uint64_t memo_hash(const struct value *v, const struct map *m)
{
    uint64_t h = (uint64_t)v->index * 0x9E3779B97F4A7C15u;

    h = kaffine_hash(h, m->forms[0]);
    for (uint32_t i = 0; i < m->guard_count; i++)
        h = kaffine_hash(h, m->guards[i].form);
    return h ^ h >> 32;
}

static struct table_entry *memo_place(const struct lowering *l, uint64_t hash, const struct value *v, const struct map *m)
{
    struct table_entry *e = NULL;
    const struct lower_memo *known;

    while ((known = (e = table_next(&l->memo, hash, e))->item) && !(known->value == v && map_equal(&known->map, m)))
        ;
    return e;
}

static void memo_add(struct lowering *l, const struct value *v, const struct map *m, uint32_t expr)
{
    const uint64_t hash = memo_hash(v, m);
    struct lower_memo *e = arena_grow(&l->scratch, NULL, 0, sizeof *e);

    if (!e || !table_reserve(&l->memo, &l->scratch, l->memo.count + 1)) {
        lower_no_memory(l);
        return;
    }
    *e = (struct lower_memo){v, *m, expr};
    table_put(&l->memo, memo_place(l, hash, v, m), hash, e);
}

uint32_t lower_value(struct lowering *l, const struct value *v, const struct map *m)
{
    const uint32_t position = lower_position(l, v);

    if (l->unfusable || l->k->error.status)
        return KEXPR_NONE;
    if (position == UINT32_MAX && !l->knows_operands)
        return load(l, v, m);
    const struct map key = memo_key(l, v, m);
    const struct lower_memo *known = l->memo.count ? memo_place(l, memo_hash(v, &key), v, &key)->item : NULL;
    if (known)
        return known->expr;
    if (position == UINT32_MAX)
        return load(l, v, m);
    uint32_t e = lower_node(l, v->producer, v->result, m);
    if (e == KEXPR_NONE)
        return KEXPR_NONE;
    if (dtype_is_low_precision(v->type.type))
        e = kernel_op1(l->k, kop_round(v->type.type), e);
    l->evaluated[position] += (double)l->parallel_points * (map_varies(l, m) ? (double)l->reduced_points : 1);
    memo_add(l, v, &key, e);
    return e;
}

void lower_know(struct lowering *l, const struct value *v, const struct map *m, uint32_t e)
{
    if (e == KEXPR_NONE || l->k->error.status)
        return;
    l->knows_operands |= lower_position(l, v) == UINT32_MAX;
    const struct map key = memo_key(l, v, m);
    memo_add(l, v, &key, e);
}

uint32_t lower_condition(struct lowering *l, uint32_t count, const struct kguard *guards)
{
    struct kernel *k = l->k;
    uint32_t all = KEXPR_NONE;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = kernel_index(k, guards[i].form);
        uint32_t zero = kernel_const(k, KT_I64, (union scalar){.i64 = 0});
        uint32_t bound = kernel_size(k, guards[i].bound);
        int64_t low, high;
        kaffine_range(k, guards[i].form, &low, &high);
        if (low < 0) {
            uint32_t c = kernel_op2(k, K_LE, zero, index);
            all = all == KEXPR_NONE ? c : kernel_op2(k, K_AND, all, c);
        }
        if (high >= guards[i].bound) {
            uint32_t c = kernel_op2(k, K_LT, index, bound);
            all = all == KEXPR_NONE ? c : kernel_op2(k, K_AND, all, c);
        }
    }
    return all == KEXPR_NONE ? kernel_const(k, KT_BOOL, (union scalar){.u64 = 1}) : all;
}

/* Returns whether x is a whole number that bytes of that type have. */
static bool is_byte_number(const struct kexpr *x, enum ktype type)
{
    const float low = type == KT_I8 ? INT8_MIN : 0, high = type == KT_I8 ? INT8_MAX : UINT8_MAX;

    return x->op == K_CONST && x->type == KT_F32 && x->bits.f32 >= low && x->bits.f32 <= high &&
           x->bits.f32 == (float)(int)x->bits.f32;
}

/*
 * Returns e, a byte under these guards less a zero point times a scale that is finite and has no sign, as one that is 0 where
 * they fail: the byte is the zero point there, so that what is multiplied are bytes everywhere.  Returns KEXPR_NONE if e is
 * something else.
 */
static uint32_t fill_bytes(struct lowering *l, uint32_t e, uint32_t count, const struct kguard *guards)
{
    const struct kexpr *exprs = l->k->exprs, *x = &exprs[e], *zero = NULL;
    uint32_t scale = KEXPR_NONE, subtrahend = KEXPR_NONE;
    union scalar fill = {.u64 = 0};

    if (x->op == K_MUL && exprs[x->args[1]].op == K_CONST && exprs[x->args[1]].type == KT_F32 &&
        isfinite(exprs[x->args[1]].bits.f32) && !signbit(exprs[x->args[1]].bits.f32)) {
        scale = x->args[1];
        x = &exprs[x->args[0]];
    }
    if (x->op == K_SUB) {
        subtrahend = x->args[1];
        zero = &exprs[subtrahend];
        x = &exprs[x->args[0]];
    }
    if (x->op != K_CAST || x->type != KT_F32)
        return KEXPR_NONE;
    x = &exprs[x->args[0]];
    if (x->op != K_LOAD || ktype_size(x->type) > 2 || x->guard_count != count || !kguards_equal(count, x->guards, guards) ||
        (zero && !is_byte_number(zero, x->type)))
        return KEXPR_NONE;
    fill.u8 = zero ? (uint8_t)(int)zero->bits.f32 : 0;
    uint32_t y = kernel_cast(l->k, KT_F32, kernel_load(l->k, x->tensor, x->index, count, guards, fill));
    y = zero ? kernel_op2(l->k, K_SUB, y, subtrahend) : y;
    return scale == KEXPR_NONE ? y : kernel_op2(l->k, K_MUL, y, scale);
}

uint32_t lower_guarded(struct lowering *l, const struct value *v, const struct map *m, uint32_t count,
                       const struct kguard *guards, union scalar fill)
{
    struct map inner = *m;

    for (uint32_t i = 0; i < count; i++) {
        int64_t low, high;
        kaffine_range(l->k, guards[i].form, &low, &high);
        if (high < 0 || low >= guards[i].bound)
            return kernel_const(l->k, ktype_of(v->type.type), fill);
    }
    if (!map_guard(l, &inner, count, guards))
        return KEXPR_NONE;
    uint32_t e = lower_value(l, v, &inner);
    if (e == KEXPR_NONE || inner.guard_count == m->guard_count)
        return e;
    const struct kexpr *x = &l->k->exprs[e];
    /* A load under exactly these guards fills by itself: where one of m's guards fails the value is unused. */
    if (x->op == K_LOAD && x->guard_count == inner.guard_count && kguards_equal(x->guard_count, x->guards, inner.guards))
        return x->bits.u64 == fill.u64 ? e : kernel_load(l->k, x->tensor, x->index, x->guard_count, x->guards, fill);
    const uint32_t filled = fill.u64 ? KEXPR_NONE : fill_bytes(l, e, inner.guard_count, inner.guards);
    if (filled != KEXPR_NONE)
        return filled;
    return kernel_op3(l->k, K_SELECT, lower_condition(l, inner.guard_count - m->guard_count, inner.guards + m->guard_count), e,
                      kernel_const(l->k, ktype_of(v->type.type), fill));
}
