/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes kernels as text, and lists their numbers: kernel_print is for people, kernel_structure makes the key under which
 * compiled code is shared, kernel_numbers the parameters that code takes.
 *
 * The text of all three comes from one walk (describe), so that a structure cannot forget a number that a kernel prints.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/kernel/kernel_internal.h"

/* ---- numbers ---- */

struct numbering {
    struct arena scratch;
    struct knumbers *out;         /* whose arrays have room for all numbers */
    struct table slots;           /* by kind and value; an item is the slot + 1 as an address */
    uint32_t *kinds;              /* by slot */
    uint32_t recent[64];          /* by kind, reduced: the slot of the number before, which most are equal to */
    bool shifts[KERNEL_VARS_MAX]; /* the variable says with others how far words of weights are shifted: steps are constants */
    bool failed;
};

/* Says what a number is for.  Equal numbers of one kind share a parameter, so that equal addresses stay visibly equal; that a
 * size happens to be some stride, too, must not make another structure. */
enum {
    KIND_OFFSET,
    KIND_COEFFICIENT,
    KIND_SIZE = KIND_COEFFICIENT + KERNEL_VARS_MAX,
    KIND_BOUND = KIND_SIZE + KERNEL_VARS_MAX /* of forms by their first variable: an image may be as wide as it is high */
};
/* In a stage, and of a contraction's operands, it must not matter either whether strides of two tensors are equal: kinds of
 * each tensor's forms are their own. */
enum { KINDS = KIND_BOUND + KERNEL_VARS_MAX };

static int32_t slot_of(struct numbering *n, uint32_t kind, int64_t value)
{
    const uint32_t count = n->out->param_count;
    uint32_t *recent = &n->recent[kind % (sizeof n->recent / sizeof *n->recent)];
    struct table_entry *place = NULL;

    if (*recent < count && n->out->params[*recent] == value && n->kinds[*recent] == kind)
        return (int32_t)*recent;
    const uint64_t hash = hash_mix(kind, (uint64_t)value);
    if (!table_reserve(&n->slots, &n->scratch, max_u32(count + 1, 64))) {
        n->failed = true;
        return -1;
    }
    while ((place = table_next(&n->slots, hash, place))->item) {
        const int32_t slot = (int32_t)(uintptr_t)place->item - 1;
        if (n->out->params[slot] == value && n->kinds[slot] == kind)
            return (int32_t)(*recent = (uint32_t)slot);
    }
    *recent = count;
    n->out->params[count] = value;
    n->kinds[count] = kind;
    table_put(&n->slots, place, hash, (const void *)(uintptr_t)++n->out->param_count);
    return (int32_t)count;
}

/* Returns whether the innermost loop is over the bytes of words that are all neighbours, and the next one, var, over words. */
static bool counts_words(const struct kernel *k, uint32_t var)
{
    enum { WORD = 4 };
    const uint32_t last = k->parallel_count + k->reduced_count - 1;
    uint32_t loads = 0;

    if (k->reduced_count < 2 || var + 1 != last || k->vars[last].size != WORD)
        return false;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        if (x->op != K_LOAD || !x->varying)
            continue;
        const int64_t step = kaffine_coefficient(x->index, var);
        if (ktype_size(x->type) != 1 || kaffine_coefficient(x->index, last) != 1 || !step || step % WORD)
            return false;
        loads++;
    }
    return loads > 1;
}

bool kernel_sums_unroll(const struct kernel *k, uint32_t var)
{
    return k->vars[var].size <= KERNEL_IMMEDIATE_MAX && !kernel_sizes_are_chosen(k) && !counts_words(k, var);
}

static void number(struct numbering *n, uint32_t kind, int64_t value, bool immediate)
{
    struct knumbers *o = n->out;

    o->items[o->count++] = (struct knumber){value, immediate ? -1 : slot_of(n, kind, value)};
}

static void number_form(struct numbering *n, struct kaffine a, uint32_t kinds)
{
    number(n, kinds + KIND_OFFSET, a.offset, a.offset >= -1 && a.offset <= 1);
    for (uint32_t i = 0; i < a.count; i++)
        number(n, kinds + KIND_COEFFICIENT + a.terms[i].var, a.terms[i].coefficient,
               n->shifts[a.terms[i].var] || (a.terms[i].coefficient >= -1 && a.terms[i].coefficient <= 1));
}

static void number_guards(struct numbering *n, uint32_t count, const struct kguard *guards)
{
    for (uint32_t i = 0; i < count; i++) {
        number_form(n, guards[i].form, 0);
        number(n, KIND_BOUND + (guards[i].form.count ? guards[i].form.terms[0].var : 0), guards[i].bound, guards[i].bound <= 1);
    }
}

/* Returns how many numbers a kernel has at most. */
static size_t count_numbers(const struct kernel *k)
{
    struct kform_walk w = {0};
    size_t count = 1 + 2 * (size_t)k->var_count;

    while (kernel_next_form(k, &w))
        count += 2 + w.form->count;
    return count;
}

bool kernel_numbers(const struct kernel *k, uint32_t immediate_var, struct arena *a, struct knumbers *out)
{
    struct numbering n = {.out = out};
    const size_t most = count_numbers(k);
    const bool multiplies = kernel_multiplies(k);

    memset(out, 0, sizeof *out);
    out->vars = arena_array(a, (size_t)k->var_count + k->expr_count + k->store_count + 1, sizeof *out->vars);
    out->items = arena_grow(a, NULL, 0, most * sizeof *out->items); /* not cleared, which takes as long as filling them */
    out->params = arena_grow(a, NULL, 0, most * sizeof *out->params);
    n.kinds = arena_grow(a, NULL, 0, most * sizeof *n.kinds);
    if (!out->vars || !out->items || !out->params || !n.kinds)
        return false;
    out->exprs = out->vars + k->var_count;
    out->stores = out->exprs + k->expr_count;
    for (uint32_t i = 0; i < k->expr_count; i++)
        for (uint32_t t = 0; k->exprs[i].op == K_INDEX && k->exprs[i].index.count > 1 && t < k->exprs[i].index.count; t++) {
            const uint32_t var = k->exprs[i].index.terms[t].var;
            n.shifts[var] |= k->vars[var].kind == KVAR_REDUCED && kernel_sums_unroll(k, var);
        }
    for (uint32_t i = 0; i < k->var_count; i++) {
        const struct kvar *v = &k->vars[i];
        out->vars[i] = out->count;
        if (v->kind == KVAR_DIVMOD) {
            number_form(&n, v->base, 0);
            number(&n, KIND_SIZE + i, v->divide, true);
            number(&n, KIND_SIZE + i, v->modulo, true);
        } else {
            number(&n, KIND_SIZE + i, v->size, i == immediate_var || (v->kind == KVAR_REDUCED && kernel_sums_unroll(k, i)));
        }
    }
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *e = &k->exprs[i];
        const bool own = e->op == K_LOAD && (k->macro_tile_vars || (multiplies && e->varying)),
                   size = e->op == K_INDEX && !e->index.count;
        out->exprs[i] = out->count;
        if (e->op == K_LOAD || e->op == K_INDEX)
            number_form(&n, e->index, own ? KINDS * (1 + e->tensor) : size ? KINDS * (1 + k->tensor_count + i) : 0);
        if (e->op == K_LOAD)
            number_guards(&n, e->guard_count, e->guards);
    }
    for (uint32_t i = 0; i < k->store_count; i++) {
        out->stores[i] = out->count;
        number_form(&n, k->stores[i].index, k->macro_tile_vars ? KINDS * (1 + k->stores[i].tensor) : 0);
        number_guards(&n, k->stores[i].guard_count, k->stores[i].guards);
    }
    arena_free(&n.scratch);
    return !n.failed;
}

/* ---- text ---- */

/* A structure is written for each kernel of each graph, in thousands of short texts: they are collected, since a call of stdio
 * takes longer than most of them. */
struct writer {
    FILE *out;
    size_t used; /* of what is not yet written to out */
    char collected[1024];
    const struct knumbers *numbers; /* structure: numbers are taken from here */
    uint32_t next;                  /* of the variable, expression or store that is written */
};

static void flush(struct writer *w)
{
    fwrite(w->collected, 1, w->used, w->out);
    w->used = 0;
}

/* Writes a text, which is short. */
static inline void put_text(struct writer *w, const char *text)
{
    if (w->used > sizeof w->collected / 2)
        flush(w);
    memcpy(w->collected + w->used, text, strlen(text));
    w->used += strlen(text);
}

/* Writes what people read and a structure does not need. */
static inline void put_word(struct writer *w, const char *text)
{
    if (!w->numbers)
        put_text(w, text);
}

/* Writes a number of a structure: a digit has 5 bits, and another one if more of them follow.  There is room. */
static inline void put_bits(struct writer *w, uint64_t rest)
{
    for (; rest > 31; rest >>= 5)
        w->collected[w->used++] = (char)('0' + rest % 32 + 32);
    w->collected[w->used++] = (char)('0' + rest);
}

/* Writes a text and a whole number. */
static inline void put(struct writer *w, const char *text, int64_t value)
{
    put_text(w, text);
    if (!w->numbers) {
        w->used += (size_t)sprintf(w->collected + w->used, "%" PRId64, value);
        return;
    }
    if (value < 0)
        w->collected[w->used++] = '-';
    put_bits(w, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/** Writes a number: itself, or in a structure its slot if it is a parameter. */
static inline void put_number(struct writer *w, int64_t value)
{
    const struct knumber *n = w->numbers ? &w->numbers->items[w->next++] : NULL;

    if (n && n->slot >= 0)
        put(w, "$", n->slot);
    else
        put(w, "", value);
}

static void put_var(struct writer *w, const struct kernel *k, uint32_t var)
{
    static const char *const letters[] = {
        [KVAR_PARALLEL] = "p", [KVAR_REDUCED] = "r", [KVAR_DIVMOD] = "d", [KVAR_LOADED] = "l"};

    put_word(w, letters[k->vars[var].kind]);
    put(w, "", var);
}

static void put_form(struct writer *w, const struct kernel *k, struct kaffine a)
{
    put_number(w, a.offset);
    if (w->numbers) /* in few bytes: where a number ends is seen */
        put_bits(w, a.count);
    for (uint32_t i = 0; i < a.count; i++) {
        put_word(w, " + ");
        put_number(w, a.terms[i].coefficient);
        put_word(w, "*");
        put_var(w, k, a.terms[i].var);
    }
}

static void put_guards(struct writer *w, const struct kernel *k, uint32_t count, const struct kguard *guards)
{
    for (uint32_t i = 0; i < count; i++) {
        put_text(w, " if ");
        put_word(w, "0 <= ");
        put_form(w, k, guards[i].form);
        put_text(w, " < ");
        put_number(w, guards[i].bound);
    }
}

static void put_const(struct writer *w, enum ktype type, union scalar s)
{
    char text[40];
    const size_t size = sizeof text;

    /* A structure needs the exact bits; a reader wants to see the number. */
    if (w->numbers) {
        put(w, "", (int64_t)s.u64);
        return;
    }
    if (type == KT_F32)
        snprintf(text, size, "%.9g", (double)s.f32);
    else if (type == KT_F64)
        snprintf(text, size, "%.17g", s.f64);
    else if (ktype_is_signed(type))
        snprintf(text, size, "%" PRId64, kernel_scalar(K_CAST, KT_I64, type, (const union scalar[3]){s}).i64);
    else
        snprintf(text, size, "%" PRIu64, ktype_size(type) == 1 ? s.u8 : ktype_size(type) == 4 ? s.u32 : s.u64);
    put_text(w, text);
}

static void describe_var(struct writer *w, const struct kernel *k, uint32_t i)
{
    static const char *const kinds[] = {"  parallel ", "  reduced ", "  divmod ", "  loaded "};
    const struct kvar *v = &k->vars[i];

    w->next = w->numbers ? w->numbers->vars[i] : 0;
    put_text(w, kinds[v->kind]);
    put_var(w, k, i);
    if (v->kind == KVAR_DIVMOD) {
        put_text(w, " = (");
        put_form(w, k, v->base);
        put_text(w, ") / ");
        put_number(w, v->divide);
        put_text(w, " % ");
        put_number(w, v->modulo);
    } else {
        if (v->kind == KVAR_LOADED)
            put(w, " = e", v->expr);
        put_text(w, " < ");
        put_number(w, v->size);
        if (v->bounded)
            put(w, " bounded by t", k->bound);
    }
    put_text(w, "\n");
}

static void put_phase(struct writer *w, const struct kernel *k, uint32_t phase, bool varying)
{
    if (k->builder.finished) {
        put(w, "  # phase ", phase);
        put_text(w, varying ? " varying" : "");
    }
    put_text(w, "\n");
}

static void describe_expr(struct writer *w, const struct kernel *k, uint32_t i)
{
    const struct kexpr *e = &k->exprs[i];

    w->next = w->numbers ? w->numbers->exprs[i] : 0;
    if (w->numbers) { /* in few bytes */
        put_bits(w, e->op);
        put_bits(w, e->type);
    } else {
        put(w, "  e", i);
        put_text(w, ": ");
        put_text(w, ktype_name(e->type));
        put_text(w, " = ");
        put_text(w, kop_name(e->op));
    }
    switch (e->op) {
    case K_CONST:
        put_text(w, " ");
        put_const(w, e->type, e->bits);
        break;
    case K_LOAD:
        put(w, " t", e->tensor);
        put_text(w, "[");
        put_form(w, k, e->index);
        put_text(w, "]");
        put_guards(w, k, e->guard_count, e->guards);
        if (e->guard_count) {
            put_text(w, " else ");
            put_const(w, e->type, e->bits);
        }
        break;
    case K_INDEX:
        put_text(w, " ");
        put_form(w, k, e->index);
        break;
    case K_REDUCE:
        put_text(w, ".");
        put_text(w, kreduce_name(e->reduce));
        break;
    case K_SCAN:
        put_text(w, e->bits.u8 ? ".exclusive" : ".inclusive");
        break;
    default:
        break;
    }
    for (uint32_t a = 0; a < 3 && e->args[a] != KEXPR_NONE; a++) {
        put_word(w, " e");
        put(w, "", e->args[a]);
    }
    if (w->numbers) /* the rest follows */
        put_text(w, "\n");
    else
        put_phase(w, k, e->phase, e->varying);
}

static void describe(struct writer *w, const struct kernel *k)
{
    for (uint32_t i = 0; i < k->var_count; i++)
        describe_var(w, k, i);
    for (uint32_t i = 0; i < k->tensor_count; i++) {
        put(w, "  tensor t", i);
        put_text(w, ": ");
        put_text(w, dtype_name(k->tensors[i].type));
        if (!w->numbers)
            put(w, "[", k->tensors[i].elements);
        put_word(w, "]");
        put_text(w, k->tensors[i].unaligned ? " unaligned" : "");
        put_text(w, k->tensors[i].pairs_fit ? " pairs_fit" : "");
        if (k->tensors[i].magnitude)
            put(w, " magnitude ", k->tensors[i].magnitude);
        put_text(w, k->tensors[i].written ? " written\n" : "\n");
    }
    for (uint32_t i = 0; i < k->expr_count; i++)
        describe_expr(w, k, i);
    for (uint32_t i = 0; i < k->store_count; i++) {
        const struct kstore *s = &k->stores[i];
        w->next = w->numbers ? w->numbers->stores[i] : 0;
        put(w, "  store t", s->tensor);
        put_text(w, "[");
        put_form(w, k, s->index);
        put(w, "] = e", s->expr);
        put_guards(w, k, s->guard_count, s->guards);
        put_phase(w, k, s->phase, s->varying);
    }
    flush(w);
}

void kernel_print(const struct kernel *k, FILE *out)
{
    struct writer w = {.out = out};

    fprintf(out, "kernel %s {\n", k->name[0] ? k->name : "(unnamed)");
    if (k->stage_count)
        kernel_print_stages(k, out);
    else
        describe(&w, k);
    if (k->builder.finished)
        fprintf(out, "  # phases %u\n", k->phase_count);
    fprintf(out, "}\n");
}

void kernel_structure(const struct kernel *k, const struct knumbers *numbers, FILE *out)
{
    struct writer w = {.out = out, .numbers = numbers};

    if (k->macro_tile_vars || k->rare) {
        put(&w, "  macro-tile ", k->macro_tile_vars);
        put_text(&w, k->rare ? " rare\n" : "\n");
    }
    describe(&w, k);
}
