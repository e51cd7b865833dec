/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Building kernels: variables, affine forms and value-numbered expressions.
 *
 * In: calls from passes/lower_*.c.  Out: a struct kernel that kernel_finish (ir/kernel_finish.c) completes.
 * Every simplification here is exact: it keeps NaN, signed zeros and wrapping, so that fused code computes the same bits.
 * Allocation failure sets k->error; ids and forms returned afterwards are harmless and lead nowhere.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/kernel.h"
#include "ir/kernel_internal.h"

/* ---- kernels, tensors, variables ---- */

struct kernel *kernel_create(void)
{
    return calloc(1, sizeof(struct kernel));
}

void kernel_free(struct kernel *k)
{
    if (!k)
        return;
    for (uint32_t i = 0; i < k->stage_count; i++)
        kernel_free(k->stages[i].kernel);
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

/** Appends a variable; 0 and an error if there are too many. */
static uint32_t var_append(struct kernel *k, const struct kvar *v)
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
    return var_append(k, &(struct kvar){.kind = kind, .size = size, .expr = KEXPR_NONE});
}

/* ---- affine forms ---- */

struct kaffine kaffine_const(int64_t offset)
{
    return (struct kaffine){.offset = offset};
}

struct kaffine kaffine_var(struct kernel *k, uint32_t var)
{
    struct kterm *t = arena_alloc(&k->arena, sizeof *t);

    if (!t) {
        error_out_of_memory(&k->error);
        return kaffine_const(0);
    }
    *t = (struct kterm){.var = var, .coefficient = 1};
    return (struct kaffine){.count = 1, .terms = t};
}

struct kaffine kaffine_add(struct kernel *k, struct kaffine a, struct kaffine b)
{
    struct kterm *terms;
    uint32_t i = 0, j = 0, n = 0;

    if (!a.count || !b.count) {
        struct kaffine r = a.count ? a : b;
        r.offset = a.offset + b.offset;
        return r;
    }
    terms = arena_array(&k->arena, a.count + b.count, sizeof *terms);
    if (!terms) {
        error_out_of_memory(&k->error);
        return kaffine_const(0);
    }
    while (i < a.count || j < b.count) {
        if (j == b.count || (i < a.count && a.terms[i].var < b.terms[j].var)) {
            terms[n++] = a.terms[i++];
        } else if (i == a.count || b.terms[j].var < a.terms[i].var) {
            terms[n++] = b.terms[j++];
        } else {
            terms[n] = (struct kterm){a.terms[i].var, a.terms[i].coefficient + b.terms[j].coefficient};
            n += terms[n].coefficient != 0;
            i++;
            j++;
        }
    }
    return (struct kaffine){.offset = a.offset + b.offset, .count = n, .terms = n ? terms : NULL};
}

struct kaffine kaffine_scale(struct kernel *k, struct kaffine a, int64_t factor)
{
    struct kterm *terms;

    if (factor == 1)
        return a;
    if (factor == 0 || !a.count)
        return kaffine_const(a.offset * factor);
    terms = arena_array(&k->arena, a.count, sizeof *terms);
    if (!terms) {
        error_out_of_memory(&k->error);
        return kaffine_const(0);
    }
    for (uint32_t i = 0; i < a.count; i++)
        terms[i] = (struct kterm){a.terms[i].var, a.terms[i].coefficient * factor};
    return (struct kaffine){.offset = a.offset * factor, .count = a.count, .terms = terms};
}

struct kaffine kaffine_add_const(struct kaffine a, int64_t offset)
{
    a.offset += offset;
    return a;
}

bool kaffine_equal(struct kaffine a, struct kaffine b)
{
    if (a.offset != b.offset || a.count != b.count)
        return false;
    for (uint32_t i = 0; i < a.count; i++) {
        if (a.terms[i].var != b.terms[i].var || a.terms[i].coefficient != b.terms[i].coefficient)
            return false;
    }
    return true;
}

void kaffine_range(const struct kernel *k, struct kaffine a, int64_t *low, int64_t *high)
{
    *low = *high = a.offset;
    for (uint32_t i = 0; i < a.count; i++) {
        int64_t reach = a.terms[i].coefficient * (k->vars[a.terms[i].var].size - 1);
        *(reach < 0 ? low : high) += reach;
    }
}

int64_t kaffine_coefficient(struct kaffine a, uint32_t var)
{
    for (uint32_t i = 0; i < a.count; i++) {
        if (a.terms[i].var == var)
            return a.terms[i].coefficient;
    }
    return 0;
}

bool kaffine_varying(const struct kernel *k, struct kaffine a)
{
    for (uint32_t i = 0; i < a.count; i++) {
        const struct kvar *v = &k->vars[a.terms[i].var];
        if (v->kind == KVAR_REDUCED || (v->kind == KVAR_DIVMOD && kaffine_varying(k, v->base)) ||
            (v->kind == KVAR_LOADED && kexpr_varies(k, v->expr)))
            return true;
    }
    return false;
}

bool kexpr_varies(const struct kernel *k, uint32_t id)
{
    /* `varying` is kept up to date while building, too: see insert(). */
    return id < k->expr_count && k->exprs[id].varying;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

/** Splits a into d * quotient + rest, such that the rest has the terms and the part of the offset that d does not divide. */
static bool split_multiples(struct kernel *k, struct kaffine a, int64_t d, struct kaffine *quotient, struct kaffine *rest)
{
    struct kterm *q = arena_array(&k->arena, a.count + 1, sizeof *q), *r = arena_array(&k->arena, a.count + 1, sizeof *r);
    uint32_t nq = 0, nr = 0;
    int64_t oq = a.offset / d, or = a.offset % d;

    if (!q || !r)
        return error_out_of_memory(&k->error);
    if (or < 0) {
        or += d;
        oq--;
    }
    for (uint32_t i = 0; i < a.count; i++) {
        if (a.terms[i].coefficient % d == 0)
            q[nq++] = (struct kterm){a.terms[i].var, a.terms[i].coefficient / d};
        else
            r[nr++] = a.terms[i];
    }
    *quotient = (struct kaffine){oq, nq, q};
    *rest = (struct kaffine){ or, nr, r};
    return true;
}

struct kaffine kernel_divmod(struct kernel *k, struct kaffine base, int64_t divide, int64_t modulo)
{
    struct kaffine quotient, rest;
    int64_t low, high;
    struct kvar v = {.kind = KVAR_DIVMOD, .expr = KEXPR_NONE};

    assert(divide > 0 && modulo >= 0);
    if (modulo == 1)
        return kaffine_const(0);
    /* Multiples of divide * modulo do not matter, as long as what remains is not negative. */
    if (modulo) {
        if (!split_multiples(k, base, divide * modulo, &quotient, &rest))
            return kaffine_const(0);
        kaffine_range(k, rest, &low, &high);
        if (low >= 0)
            base = rest;
        if (low >= 0 && high < divide * modulo)
            modulo = 0;
    }
    /* A common factor of the coefficients and the divider goes. */
    if (base.count) {
        int64_t g = divide;
        for (uint32_t i = 0; i < base.count; i++)
            g = gcd(g, base.terms[i].coefficient);
        if (g > 1) {
            if (!split_multiples(k, base, g, &quotient, &rest))
                return kaffine_const(0);
            base = quotient;
            divide /= g;
        }
    }
    if (divide > 1) {
        if (!split_multiples(k, base, divide, &quotient, &rest))
            return kaffine_const(0);
        kaffine_range(k, rest, &low, &high);
        if (low >= 0 && high < divide) {
            base = quotient;
            divide = 1;
        } else if (low >= 0 && !modulo && (quotient.count || quotient.offset)) {
            return kaffine_add(k, quotient, kernel_divmod(k, rest, divide, 0));
        }
    }
    kaffine_range(k, base, &low, &high);
    if (divide == 1 && low >= 0 && modulo && high < modulo)
        modulo = 0;
    if (divide == 1 && !modulo)
        return base;
    if (!base.count) {
        int64_t q = base.offset / divide;
        return kaffine_const(modulo ? q % modulo : q);
    }
    if (low < 0 && !k->error.status) {
        error_set(&k->error, WNNStatus_OperationError, "kernel: division of a negative index");
        return kaffine_const(0);
    }
    v.base = base;
    v.divide = divide;
    v.modulo = modulo;
    v.size = high / divide + 1;
    if (modulo && v.size > modulo)
        v.size = modulo;
    for (uint32_t i = 0; i < k->var_count; i++) {
        const struct kvar *o = &k->vars[i];
        if (o->kind == KVAR_DIVMOD && o->divide == divide && o->modulo == modulo && kaffine_equal(o->base, base))
            return kaffine_var(k, i);
    }
    return kaffine_var(k, var_append(k, &v));
}

struct kaffine kernel_loaded_var(struct kernel *k, uint32_t expr, int64_t size)
{
    if (size == 1 || expr >= k->expr_count)
        return kaffine_const(0);
    for (uint32_t i = 0; i < k->var_count; i++) {
        if (k->vars[i].kind == KVAR_LOADED && k->vars[i].expr == expr && k->vars[i].size == size)
            return kaffine_var(k, i);
    }
    return kaffine_var(k, var_append(k, &(struct kvar){.kind = KVAR_LOADED, .size = size, .expr = expr}));
}

/* ---- types ---- */

enum kop kop_round(dtype t)
{
    return t == DTYPE_BFLOAT16 ? K_ROUND_BF16 : K_ROUND_F16;
}

enum ktype ktype_of(dtype t)
{
    if (t == DTYPE_BFLOAT16)
        return KT_F32;
    switch (t) {
    case WNNOperandDataType_Float32:
    case WNNOperandDataType_Float16:
        return KT_F32;
    case WNNOperandDataType_Int32:
        return KT_I32;
    case WNNOperandDataType_Uint32:
        return KT_U32;
    case WNNOperandDataType_Int64:
        return KT_I64;
    case WNNOperandDataType_Uint64:
        return KT_U64;
    case WNNOperandDataType_Int8:
        return KT_I8;
    case WNNOperandDataType_Uint8:
        return KT_U8;
    case WNNOperandDataType_Undefined:
    case WNNOperandDataType_Force32:
        break;
    }
    assert(!"a tensor has a data type");
    return KT_F32;
}

size_t ktype_size(enum ktype t)
{
    switch (t) {
    case KT_BOOL:
    case KT_I8:
    case KT_U8:
        return 1;
    case KT_F32:
    case KT_I32:
    case KT_U32:
        return 4;
    case KT_I64:
    case KT_U64:
        return 8;
    case KT_COUNT:
        break;
    }
    return 0;
}

/** The same value with every unused byte 0, so that equal values have equal bits. */
static union scalar scalar_canonical(enum ktype type, union scalar s)
{
    union scalar r = {.u64 = 0};

    memcpy(&r, &s, ktype_size(type));
    return r;
}

/* ---- expressions ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h ^= v + 0x9E3779B97F4A7C15u + (h << 6) + (h >> 2);
    return h * 0xFF51AFD7ED558CCDu;
}

static uint64_t form_hash(uint64_t h, struct kaffine a)
{
    h = mix(h, (uint64_t)a.offset);
    for (uint32_t i = 0; i < a.count; i++)
        h = mix(mix(h, a.terms[i].var), (uint64_t)a.terms[i].coefficient);
    return h;
}

static uint64_t expr_hash(const struct kexpr *e)
{
    uint64_t h = mix(mix(e->op, e->type), e->bits.u64);

    for (uint32_t i = 0; i < 3; i++)
        h = mix(h, e->args[i]);
    h = form_hash(mix(mix(h, e->tensor), e->reduce), e->index);
    for (uint32_t i = 0; i < e->guard_count; i++)
        h = mix(form_hash(h, e->guards[i].form), (uint64_t)e->guards[i].bound);
    return h ^ h >> 29;
}

static bool guards_equal(uint32_t n, const struct kguard *a, const struct kguard *b)
{
    for (uint32_t i = 0; i < n; i++) {
        if (a[i].bound != b[i].bound || !kaffine_equal(a[i].form, b[i].form))
            return false;
    }
    return true;
}

static bool expr_equal(const struct kexpr *a, const struct kexpr *b)
{
    return a->op == b->op && a->type == b->type && a->bits.u64 == b->bits.u64 && !memcmp(a->args, b->args, sizeof a->args) &&
           a->tensor == b->tensor && a->reduce == b->reduce && kaffine_equal(a->index, b->index) &&
           a->guard_count == b->guard_count && guards_equal(a->guard_count, a->guards, b->guards);
}

static bool hash_grow(struct kernel *k)
{
    uint32_t capacity = k->hash_capacity ? k->hash_capacity * 2 : 64;
    uint32_t *hash = arena_array(&k->arena, capacity, sizeof *hash);

    if (!hash)
        return error_out_of_memory(&k->error);
    for (uint32_t id = 0; id < k->expr_count; id++) {
        uint32_t i = (uint32_t)expr_hash(&k->exprs[id]) & (capacity - 1);
        while (hash[i])
            i = (i + 1) & (capacity - 1);
        hash[i] = id + 1;
    }
    k->hash = hash;
    k->hash_capacity = capacity;
    return true;
}

static bool guards_varying(const struct kernel *k, uint32_t n, const struct kguard *g)
{
    for (uint32_t i = 0; i < n; i++) {
        if (kaffine_varying(k, g[i].form))
            return true;
    }
    return false;
}

/** The id of e, an existing one if the same expression is there already. */
static uint32_t insert(struct kernel *k, struct kexpr *e)
{
    uint32_t i;

    if (k->error.status)
        return KEXPR_NONE;
    if (k->expr_count * 2 >= k->hash_capacity && !hash_grow(k))
        return KEXPR_NONE;
    for (i = (uint32_t)expr_hash(e) & (k->hash_capacity - 1); k->hash[i]; i = (i + 1) & (k->hash_capacity - 1)) {
        if (expr_equal(&k->exprs[k->hash[i] - 1], e))
            return k->hash[i] - 1;
    }
    if (k->expr_count == k->expr_capacity) {
        uint32_t capacity = k->expr_capacity ? k->expr_capacity * 2 : 32;
        struct kexpr *exprs = arena_array(&k->arena, capacity, sizeof *exprs);
        if (!exprs) {
            error_out_of_memory(&k->error);
            return KEXPR_NONE;
        }
        if (k->expr_count)
            memcpy(exprs, k->exprs, k->expr_count * sizeof *exprs);
        k->exprs = exprs;
        k->expr_capacity = capacity;
    }
    e->keep = -1;
    e->varying = e->op == K_SCAN;
    if (e->op != K_REDUCE) {
        for (uint32_t a = 0; a < 3; a++)
            e->varying |= e->args[a] != KEXPR_NONE && k->exprs[e->args[a]].varying;
    }
    e->varying |= kaffine_varying(k, e->index) || guards_varying(k, e->guard_count, e->guards);
    k->hash[i] = k->expr_count + 1;
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
    return insert(k, &e);
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
        if (low >= 0 && high < guards[i].bound)
            continue;
        if (high < 0 || low >= guards[i].bound)
            *never = true;
        for (uint32_t j = 0; j < n; j++)
            seen |= guards_equal(1, &kept[j], &guards[i]);
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

static bool is_const(const struct kernel *k, uint32_t id)
{
    return k->exprs[id].op == K_CONST;
}

static bool is_float_const(const struct kernel *k, uint32_t id, float value)
{
    union scalar s = {.u64 = 0};

    s.f32 = value;
    return is_const(k, id) && k->exprs[id].type == KT_F32 && k->exprs[id].bits.u32 == s.u32;
}

static bool is_int_const(const struct kernel *k, uint32_t id, uint64_t value)
{
    return is_const(k, id) && k->exprs[id].type != KT_F32 && k->exprs[id].bits.u64 == value;
}

/** Whether rounding to a narrow type changes nothing. */
static bool is_exact(const struct kernel *k, uint32_t id, dtype narrow)
{
    const struct kexpr *e = &k->exprs[id];

    switch (e->op) {
    case K_ROUND_F16:
    case K_ROUND_BF16:
        return e->op == kop_round(narrow);
    case K_LOAD: {
        union scalar rounded = {.f32 = f32_round(e->bits.f32, narrow)};
        return k->tensors[e->tensor].type == narrow && (!e->guard_count || rounded.u32 == e->bits.u32);
    }
    case K_NEG:
    case K_ABS:
        return is_exact(k, e->args[0], narrow);
    case K_MIN:
    case K_MAX:
        return is_exact(k, e->args[0], narrow) && is_exact(k, e->args[1], narrow);
    case K_SELECT:
        return is_exact(k, e->args[1], narrow) && is_exact(k, e->args[2], narrow);
    case K_CONST: {
        union scalar rounded = {.f32 = f32_round(e->bits.f32, narrow)};
        return rounded.u32 == e->bits.u32;
    }
    default:
        return false; /* not provably */
    }
}

static enum ktype result_type(const struct kernel *k, enum kop op, const uint32_t args[3])
{
    switch ((enum kop_types)kop_info(op)->types) {
    case KOP_COMPARISON:
    case KOP_FLOAT_TEST:
        return KT_BOOL;
    case KOP_CHOICE:
        return k->exprs[args[1]].type;
    case KOP_OWN:
    case KOP_NUMBERS:
    case KOP_FLOATS:
    case KOP_LOGIC:
        break;
    }
    return k->exprs[args[0]].type;
}

/** An existing expression that is bit for bit the same as op(args), or KEXPR_NONE. */
static uint32_t simplify(struct kernel *k, enum kop op, enum ktype type, const uint32_t args[3])
{
    const struct kexpr *a = &k->exprs[args[0]];

    switch (op) {
    case K_ADD: /* x + -0 is x, but -0 + +0 is +0 */
        if (is_float_const(k, args[1], -0.0f) || is_int_const(k, args[1], 0))
            return args[0];
        if (is_float_const(k, args[0], -0.0f) || is_int_const(k, args[0], 0))
            return args[1];
        break;
    case K_SUB:
        if (is_float_const(k, args[1], 0.0f) || is_int_const(k, args[1], 0))
            return args[0];
        break;
    case K_MUL:
        if (is_float_const(k, args[1], 1.0f) || is_int_const(k, args[1], 1))
            return args[0];
        if (is_float_const(k, args[0], 1.0f) || is_int_const(k, args[0], 1))
            return args[1];
        break;
    case K_DIV:
        if (is_float_const(k, args[1], 1.0f) || is_int_const(k, args[1], 1))
            return args[0];
        break;
    case K_MIN:
    case K_MAX:
        if (args[0] == args[1])
            return args[0];
        break;
    case K_SELECT:
        if (args[1] == args[2])
            return args[1];
        if (is_const(k, args[0]))
            return args[a->bits.u8 ? 1 : 2];
        break;
    case K_ROUND_F16:
    case K_ROUND_BF16:
        if (is_exact(k, args[0], op == K_ROUND_F16 ? WNNOperandDataType_Float16 : DTYPE_BFLOAT16))
            return args[0];
        break;
    case K_CAST:
        if (type == a->type)
            return args[0];
        break;
    case K_AND: /* constants are 0 or 1 */
    case K_OR:
        for (uint32_t i = 0; i < 2; i++) {
            if (is_const(k, args[i]))
                return (op == K_AND) == (k->exprs[args[i]].bits.u8 != 0) ? args[1 - i] : args[i];
        }
        if (args[0] == args[1])
            return args[0];
        break;
    case K_NOT:
        if (a->op == K_NOT)
            return a->args[0];
        break;
    case K_NE: /* a logical value that went through uint8 */
    case K_EQ:
        for (uint32_t i = 0; i < 2; i++) {
            const struct kexpr *c = &k->exprs[args[i]];
            if (c->op == K_CAST && k->exprs[c->args[0]].type == KT_BOOL && is_int_const(k, args[1 - i], 0))
                return op == K_NE ? c->args[0] : kernel_op1(k, K_NOT, c->args[0]);
        }
        break;
    default:
        break;
    }
    return KEXPR_NONE;
}

static uint32_t operate(struct kernel *k, enum kop op, enum ktype type, uint32_t a, uint32_t b, uint32_t c)
{
    struct kexpr e = blank(op, type);
    uint32_t arity = kop_arity(op), same;
    bool constant = true;

    e.args[0] = a;
    e.args[1] = b;
    e.args[2] = c;
    for (uint32_t i = 0; i < arity; i++) {
        if (e.args[i] >= k->expr_count)
            return KEXPR_NONE; /* an error before this */
    }
    if (type == KT_COUNT)
        e.type = result_type(k, op, e.args);
    for (uint32_t i = 0; i < arity; i++)
        constant &= is_const(k, e.args[i]);
    if (constant) {
        union scalar values[3] = {{.u64 = 0}, {.u64 = 0}, {.u64 = 0}};
        for (uint32_t i = 0; i < arity; i++)
            values[i] = k->exprs[e.args[i]].bits;
        /* comparisons compute in their operands' type */
        return kernel_const(k, e.type, kernel_scalar(op, e.type, k->exprs[e.args[0]].type, values));
    }
    same = simplify(k, op, e.type, e.args);
    if (same != KEXPR_NONE)
        return same;
    if (kop_info(op)->commutes && e.args[0] > e.args[1]) {
        uint32_t t = e.args[0];
        e.args[0] = e.args[1];
        e.args[1] = t;
    }
    return insert(k, &e);
}

uint32_t kernel_op1(struct kernel *k, enum kop op, uint32_t a)
{
    assert(kop_arity(op) == 1 && op != K_REDUCE && op != K_SCAN && op != K_CAST);
    return operate(k, op, KT_COUNT, a, KEXPR_NONE, KEXPR_NONE);
}

uint32_t kernel_op2(struct kernel *k, enum kop op, uint32_t a, uint32_t b)
{
    assert(kop_arity(op) == 2);
    return operate(k, op, KT_COUNT, a, b, KEXPR_NONE);
}

uint32_t kernel_op3(struct kernel *k, enum kop op, uint32_t a, uint32_t b, uint32_t c)
{
    assert(kop_arity(op) == 3);
    return operate(k, op, KT_COUNT, a, b, c);
}

uint32_t kernel_cast(struct kernel *k, enum ktype to, uint32_t a)
{
    assert(to != KT_BOOL);
    return operate(k, K_CAST, to, a, KEXPR_NONE, KEXPR_NONE);
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
    if (dtype_is_narrow_float(k->tensors[tensor].type) && k->exprs[expr].op == kop_round(k->tensors[tensor].type))
        s.expr = k->exprs[expr].args[0];
    s.guard_count = kguards_simplify(k, guard_count, guards, &s.guards, &never);
    if (never)
        return;
    if (k->store_count == k->store_capacity) {
        uint32_t capacity = k->store_capacity ? k->store_capacity * 2 : 4;
        struct kstore *stores = arena_array(&k->arena, capacity, sizeof *stores);
        if (!stores) {
            error_out_of_memory(&k->error);
            return;
        }
        if (k->store_count)
            memcpy(stores, k->stores, k->store_count * sizeof *stores);
        k->stores = stores;
        k->store_capacity = capacity;
    }
    s.varying = kaffine_varying(k, index) || guards_varying(k, s.guard_count, s.guards) || kexpr_varies(k, s.expr);
    k->stores[k->store_count++] = s;
}
