/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Builds kernels: variables and value-numbered expressions.  Affine forms are in kernel_affine.c.  The files of passes/lower
 * call this, and kernel_finish (ir/kernel/kernel_finish.c) completes the kernel.  Every simplification here is exact: it keeps
 * NaN, signed zeros and wrapping, so that fused code computes the same bits.  Allocation failure sets k->error; ids and forms
 * returned afterwards are harmless and lead nowhere.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/kernel/kernel.h"
#include "ir/kernel/kernel_internal.h"
#include "ir/rules/rules.h"

/* ---- kernels, tensors, variables ---- */

struct kernel *kernel_create(void)
{
    struct kernel *k = malloc(sizeof *k);

    return k ? memset(k, 0, offsetof(struct kernel, vars)) : NULL;
}

struct kernel *kernel_retain(struct kernel *stage)
{
    atomic_fetch_add(&stage->users, 1);
    return stage;
}

void kernel_free(struct kernel *k)
{
    if (!k || atomic_fetch_sub(&k->users, 1) > 0)
        return;
    for (uint32_t i = 0; i < k->stage_count; i++)
        kernel_free(k->stages[i].kernel);
    arena_free(&k->builder.arena);
    arena_free(&k->arena);
    free(k);
}

uint32_t kernel_tensor(struct kernel *k, dtype type, int64_t elements, bool written, void *user)
{
    if (k->tensor_count == KERNEL_TENSORS_MAX) {
        error_set(&k->error, WNNStatus_OperationError, "kernel: more than %d tensors", KERNEL_TENSORS_MAX);
        return 0;
    }
    k->tensors[k->tensor_count] = (struct ktensor){.type = type, .written = written, .elements = elements, .user = user};
    return k->tensor_count++;
}

uint32_t kernel_append_var(struct kernel *k, const struct kvar *v)
{
    if (k->var_count == KERNEL_VARS_MAX) {
        error_set(&k->error, WNNStatus_OperationError, "kernel: more than %d variables", KERNEL_VARS_MAX);
        return 0;
    }
    k->vars[k->var_count] = *v;
    return k->var_count++;
}

uint32_t kernel_var(struct kernel *k, enum kvar_kind kind, int64_t size)
{
    assert(size > 0 && (kind == KVAR_PARALLEL || kind == KVAR_REDUCED));
    return kernel_append_var(k, &(struct kvar){.kind = kind, .size = size, .expr = KEXPR_NONE});
}

uint32_t kernel_bounded_var(struct kernel *k, enum kvar_kind kind, int64_t size, uint32_t bound)
{
    k->bound = bound;
    return kernel_append_var(k, &(struct kvar){.kind = kind, .size = size, .expr = KEXPR_NONE, .bounded = true});
}

uint32_t kernel_find_bounded(const struct kernel *k)
{
    for (uint32_t i = 0; i < k->parallel_count + k->reduced_count; i++)
        if (k->vars[i].bounded)
            return i;
    return KEXPR_NONE;
}

/* ---- types ---- */

enum ktype ktype_of(dtype t)
{
    static const uint8_t types[DTYPE_END] = {[WNNOperandDataType_Float32] = KT_F32,
                                             [WNNOperandDataType_Float16] = KT_F32,
                                             [WNNOperandDataType_Int32] = KT_I32,
                                             [WNNOperandDataType_Uint32] = KT_U32,
                                             [WNNOperandDataType_Int64] = KT_I64,
                                             [WNNOperandDataType_Uint64] = KT_U64,
                                             [WNNOperandDataType_Int8] = KT_I8,
                                             [WNNOperandDataType_Uint8] = KT_U8,
                                             [DTYPE_BFLOAT16] = KT_F32,
                                             [DTYPE_FLOAT8E4M3] = KT_U8,
                                             [DTYPE_FLOAT8E5M2] = KT_U8,
                                             [DTYPE_FLOAT64] = KT_F64,
                                             [DTYPE_UINT4] = KT_U32,
                                             [DTYPE_UINT2] = KT_U32,
                                             [DTYPE_UINT1] = KT_U32,
                                             [DTYPE_INT16] = KT_I16};

    assert((unsigned)t < DTYPE_END && types[t]);
    return (enum ktype)types[t];
}

size_t ktype_size(enum ktype t)
{
    static const uint8_t sizes[KT_COUNT] = {[KT_BOOL] = 1, [KT_F32] = 4, [KT_F64] = 8, [KT_I8] = 1,  [KT_U8] = 1,
                                            [KT_I16] = 2,  [KT_I32] = 4, [KT_U32] = 4, [KT_I64] = 8, [KT_U64] = 8};

    return t < KT_COUNT ? sizes[t] : 0;
}

/** Returns the same value with every unused byte 0, so that equal values have equal bits. */
static union scalar scalar_canonical(enum ktype type, union scalar s)
{
    union scalar r = {.u64 = 0};

    memcpy(&r, &s, ktype_size(type));
    return r;
}

/* ---- expressions ---- */

bool kexpr_varies(const struct kernel *k, uint32_t id)
{
    /* `varying` is kept up to date while building, too: see insert(). */
    return id < k->expr_count && k->exprs[id].varying;
}

uint64_t kaffine_hash(uint64_t h, struct kaffine a)
{
    h = hash_mix(h, (uint64_t)a.offset);
    for (uint32_t i = 0; i < a.count; i++)
        h = hash_mix(h, (uint64_t)a.terms[i].coefficient * KERNEL_VARS_MAX + a.terms[i].var);
    return h;
}

static uint64_t expr_hash(const struct kexpr *e)
{
    uint64_t h = hash_mix((uint64_t)e->op << 32 | e->type << 8 | e->reduce, e->bits.u64);

    h = hash_mix(h ^ (uint64_t)e->args[2] << 16, (uint64_t)e->args[0] << 32 | e->args[1]);
    if (e->op == K_LOAD || e->op == K_INDEX)
        h = kaffine_hash(h + e->tensor, e->index);
    for (uint32_t i = 0; i < e->guard_count; i++)
        h = hash_mix(kaffine_hash(h, e->guards[i].form), (uint64_t)e->guards[i].bound);
    return h ^ h >> 29;
}

bool kguards_equal(uint32_t n, const struct kguard *a, const struct kguard *b)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].bound != b[i].bound || !kaffine_equal(a[i].form, b[i].form))
            return false;
    return true;
}

static bool expr_equal(const struct kexpr *a, const struct kexpr *b)
{
    return a->op == b->op && a->type == b->type && a->bits.u64 == b->bits.u64 && !memcmp(a->args, b->args, sizeof a->args) &&
           a->tensor == b->tensor && a->reduce == b->reduce && kaffine_equal(a->index, b->index) &&
           a->guard_count == b->guard_count && kguards_equal(a->guard_count, a->guards, b->guards);
}

/** Returns whether there are REDUCED variables: what an iteration over them wrote the next one may read. */
static bool has_reduced(const struct kernel *k)
{
    for (uint32_t i = 0; i < k->var_count; i++)
        if (k->vars[i].kind == KVAR_REDUCED)
            return true;
    return false;
}

/** Returns the id of e, an existing one if the same expression is there already. */
static uint32_t insert(struct kernel *k, struct kexpr *e)
{
    struct kernel_builder *b = &k->builder;
    const uint64_t hash = expr_hash(e);
    struct table_entry *place = NULL;

    if (k->error.status)
        return KEXPR_NONE;
    if (!array_reserve(&b->arena, &k->exprs, &b->expr_capacity, k->expr_count + 1, sizeof *k->exprs) ||
        !table_reserve(&b->table, &b->arena, max_u32((uint32_t)b->expr_capacity, 256))) {
        error_out_of_memory(&k->error);
        return KEXPR_NONE;
    }
    while ((place = table_next(&b->table, hash, place))->item) {
        const uint32_t id = (uint32_t)(uintptr_t)place->item - 1;
        if (expr_equal(&k->exprs[id], e))
            return id;
    }
    e->varying = e->op == K_SCAN || (e->op == K_LOAD && k->tensors[e->tensor].written && has_reduced(k));
    for (uint32_t a = 0; a < 3 && e->op != K_REDUCE; a++)
        e->varying |= e->args[a] != KEXPR_NONE && k->exprs[e->args[a]].varying;
    e->varying |= (e->index.count && kaffine_varying(k, e->index)) || kguards_varying(k, e->guard_count, e->guards);
    table_put(&b->table, place, hash, (const void *)((uintptr_t)k->expr_count + 1));
    k->exprs[k->expr_count] = *e;
    return k->expr_count++;
}

static struct kexpr blank(enum kop op, enum ktype type)
{
    return (struct kexpr){.op = op, .type = type, .args = {KEXPR_NONE, KEXPR_NONE, KEXPR_NONE}};
}

uint32_t kernel_const(struct kernel *k, enum ktype type, union scalar bits)
{
    struct kexpr e = blank(K_CONST, type);

    e.bits = scalar_canonical(type, bits);
    uint32_t *recent = &k->builder.constants[hash_mix(type, e.bits.u64) >> 60];
    if (*recent >= k->expr_count || !expr_equal(&k->exprs[*recent], &e))
        *recent = insert(k, &e);
    return *recent;
}

uint32_t kernel_f32(struct kernel *k, float value)
{
    return kernel_const(k, KT_F32, (union scalar){.f32 = value});
}

uint32_t kguards_simplify(struct kernel *k, uint32_t count, const struct kguard *guards, const struct kguard **out, bool *never)
{
    struct kguard *kept = NULL;
    uint32_t n = 0;

    *never = false;
    *out = NULL;
    for (uint32_t i = 0; i < count; i++) {
        int64_t low, high;
        bool seen = false;
        kaffine_range(k, guards[i].form, &low, &high);
        if (low >= 0 && high < guards[i].bound && (!k->builder.keeps_guards || !guards[i].form.count))
            continue;
        if (high < 0 || low >= guards[i].bound)
            *never = true;
        for (uint32_t j = 0; j < n; j++)
            seen |= kguards_equal(1, &kept[j], &guards[i]);
        if (seen)
            continue;
        if (!kept)
            kept = arena_array(&k->arena, count, sizeof *kept);
        if (!kept) {
            error_out_of_memory(&k->error);
            return 0;
        }
        kept[n++] = guards[i];
    }
    *out = kept;
    return n;
}

uint32_t kernel_load(struct kernel *k, uint32_t tensor, struct kaffine index, uint32_t guard_count, const struct kguard *guards,
                     union scalar fill)
{
    struct kexpr e = blank(K_LOAD, ktype_of(k->tensors[tensor].type));
    bool never;

    e.tensor = tensor;
    e.index = index;
    e.guard_count = kguards_simplify(k, guard_count, guards, &e.guards, &never);
    if (never)
        return kernel_const(k, e.type, fill);
    if (e.guard_count)
        e.bits = scalar_canonical(e.type, fill);
    return insert(k, &e);
}

uint32_t kernel_index(struct kernel *k, struct kaffine form)
{
    struct kexpr e = blank(K_INDEX, KT_I64);

    if (!form.count)
        return kernel_const(k, KT_I64, (union scalar){.i64 = form.offset});
    e.index = form;
    return insert(k, &e);
}

uint32_t kernel_size(struct kernel *k, int64_t size)
{
    struct kexpr e = blank(K_INDEX, KT_I64);

    e.index = kaffine_const(size);
    e.bits.u64 = k->expr_count; /* unlike any other, also an equal one */
    return insert(k, &e);
}

static enum ktype result_type(const struct kernel *k, enum kop op, const uint32_t args[3])
{
    const enum kop_types types = kop_info(op)->types;

    return types == KOP_COMPARISON || types == KOP_FLOAT_TEST ? KT_BOOL : k->exprs[args[types == KOP_CHOICE]].type;
}

uint32_t kernel_operate(struct kernel *k, enum kop op, enum ktype type, uint32_t a, uint32_t b, uint32_t c)
{
    struct kexpr e = blank(op, type);
    uint32_t arity = kop_info(op)->arity, simpler;
    bool constant = true;

    e.args[0] = a;
    e.args[1] = b;
    e.args[2] = c;
    for (uint32_t i = 0; i < arity; i++)
        if (e.args[i] >= k->expr_count)
            return KEXPR_NONE; /* an error before this */
    if (type == KT_COUNT)
        e.type = result_type(k, op, e.args);
    for (uint32_t i = 0; i < arity; i++)
        constant &= k->exprs[e.args[i]].op == K_CONST;
    if (constant) {
        union scalar values[3] = {{.u64 = 0}, {.u64 = 0}, {.u64 = 0}};
        for (uint32_t i = 0; i < arity; i++)
            values[i] = k->exprs[e.args[i]].bits;
        /* Comparisons compute in their operands' type. */
        return kernel_const(k, e.type, kernel_scalar(op, e.type, k->exprs[e.args[0]].type, values));
    }
    simpler = kernel_simplify(k, &e, rules, rule_count);
    if (simpler != KEXPR_NONE)
        return simpler;
    if (kop_info(op)->commutes && e.args[0] > e.args[1]) {
        uint32_t t = e.args[0];
        e.args[0] = e.args[1];
        e.args[1] = t;
    }
    return insert(k, &e);
}

uint32_t kernel_op1(struct kernel *k, enum kop op, uint32_t a)
{
    assert(kop_arity(op) == 1 && op != K_REDUCE && op != K_SCAN && op != K_CAST && op != K_BITCAST);
    return kernel_operate(k, op, KT_COUNT, a, KEXPR_NONE, KEXPR_NONE);
}

uint32_t kernel_op2(struct kernel *k, enum kop op, uint32_t a, uint32_t b)
{
    assert(kop_arity(op) == 2);
    return kernel_operate(k, op, KT_COUNT, a, b, KEXPR_NONE);
}

uint32_t kernel_op3(struct kernel *k, enum kop op, uint32_t a, uint32_t b, uint32_t c)
{
    assert(kop_arity(op) == 3);
    return kernel_operate(k, op, KT_COUNT, a, b, c);
}

uint32_t kernel_cast(struct kernel *k, enum ktype to, uint32_t a)
{
    assert(to != KT_BOOL);
    return kernel_operate(k, K_CAST, to, a, KEXPR_NONE, KEXPR_NONE);
}

uint32_t kernel_bitcast(struct kernel *k, enum ktype to, uint32_t a)
{
    assert(to != KT_BOOL);
    return kernel_operate(k, K_BITCAST, to, a, KEXPR_NONE, KEXPR_NONE);
}

static uint32_t reduce(struct kernel *k, enum kreduce kind, uint32_t a, uint32_t b)
{
    struct kexpr e = blank(K_REDUCE, KT_I64);

    if (a >= k->expr_count || (kind == KR_DOT && b >= k->expr_count))
        return KEXPR_NONE;
    e.args[0] = a;
    e.args[1] = b;
    e.reduce = kind;
    if (kind != KR_ARG_MIN && kind != KR_ARG_MAX)
        e.type = k->exprs[a].type;
    return insert(k, &e);
}

uint32_t kernel_reduce(struct kernel *k, enum kreduce kind, uint32_t a)
{
    assert(kind != KR_DOT);
    return reduce(k, kind, a, KEXPR_NONE);
}

uint32_t kernel_dot(struct kernel *k, uint32_t a, uint32_t b)
{
    return reduce(k, KR_DOT, a, b);
}

uint32_t kernel_scan(struct kernel *k, uint32_t a, bool exclusive)
{
    struct kexpr e = blank(K_SCAN, KT_F32);

    if (a >= k->expr_count)
        return KEXPR_NONE;
    e.type = k->exprs[a].type;
    e.args[0] = a;
    e.bits.u8 = exclusive;
    return insert(k, &e);
}

void kernel_store(struct kernel *k, uint32_t tensor, struct kaffine index, uint32_t expr, uint32_t guard_count,
                  const struct kguard *guards)
{
    struct kstore s = {.tensor = tensor, .index = index, .expr = expr};
    bool never;

    if (expr >= k->expr_count) {
        if (!k->error.status)
            error_out_of_memory(&k->error);
        return;
    }
    /* The store rounds by itself. */
    if (dtype_is_low_precision(k->tensors[tensor].type) && k->exprs[expr].op == kop_round(k->tensors[tensor].type))
        s.expr = k->exprs[expr].args[0];
    s.guard_count = kguards_simplify(k, guard_count, guards, &s.guards, &never);
    if (never)
        return;
    if (!array_reserve(&k->arena, &k->stores, &k->builder.store_capacity, k->store_count + 1, sizeof *k->stores)) {
        error_out_of_memory(&k->error);
        return;
    }
    s.varying = kaffine_varying(k, index) || kguards_varying(k, s.guard_count, s.guards) || kexpr_varies(k, s.expr);
    k->stores[k->store_count++] = s;
}
