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
 * block_choose decides on the shape, from the kernel's numbers and the instruction set alone.  What it decides on is part of
 * the key under which code is shared (block_key), and so are the strides of rows, which become immediate numbers of addresses.
 */
#include "codegen/emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VECTORS_MAX = 8,
    CHAINS = 8,          /* multiply-adds that must be under way at once for full speed */
    STEPS_MAX = 288,     /* multiply-adds in an unrolled loop body */
    OWN_COPIES = 8,      /* accumulators of a tile that shares little: as many as hide latency */
    SUM_STEPS = 512,     /* additions in a row into one accumulator; longer sums go in blocks */
    ZEROS_MAX = 4096,    /* elements that a factor's row may have to be replaced by zeros */
    WIDE_BYTES = 1 << 19 /* an operand up to this size stays in the cache for all rows */
};

/* ---- questions about the kernel ---- */

static int64_t coefficient(const struct kaffine *a, uint32_t var)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->terms[i].var == var)
            return a->terms[i].coefficient;
    return 0;
}

/* Whether a form depends on a variable through derived ones. */
static bool derived_depends(const struct kernel *k, const struct kaffine *a, uint32_t var)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const struct kvar *v = &k->vars[a->terms[i].var];
        if (v->kind == KVAR_DIVMOD && (coefficient(&v->base, var) || derived_depends(k, &v->base, var)))
            return true;
    }
    return false;
}

/* How many loops over REDUCED variables must be open for a form to have a value. */
static uint32_t depth_of(const struct kernel *k, const struct kaffine *a)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t var = a->terms[i].var, d = 0;
        if (k->vars[var].kind == KVAR_REDUCED)
            d = var - k->parallel_count + 1;
        else if (k->vars[var].kind == KVAR_DIVMOD)
            d = depth_of(k, &k->vars[var].base);
        depth = d > depth ? d : depth;
    }
    return depth;
}

static bool is_load(const struct kexpr *x)
{
    return x->op == K_LOAD && x->varying;
}

/* Whether an expression is loaded by vectors. */
static bool is_wide(const struct kernel *k, uint32_t expr)
{
    const struct kexpr *x = &k->exprs[expr];
    bool wide = x->op == K_LOAD && (coefficient(&x->index, k->vector_var) || derived_depends(k, &x->index, k->vector_var));
    for (uint32_t i = 0; i < 3; i++)
        wide = wide || (x->args[i] != KEXPR_NONE && is_wide(k, x->args[i]));
    return wide;
}

/* Whether every accumulator of a tile has factors of its own (a depthwise convolution): then large tiles are only long code. */
static bool factors_are_own(const struct kernel *k)
{
    bool own = false;
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (k->exprs[i].op == K_REDUCE)
            own = is_wide(k, k->exprs[i].args[0]) && is_wide(k, k->exprs[i].args[1]);
    return own;
}

/* ---- the shape ---- */

/* Cycles of one step of a tile, roughly: multiply-adds, loads, or waiting for the chain of additions. */
static double tile_cost(int64_t rows, int64_t vectors)
{
    int64_t most = rows * vectors > rows + vectors ? rows * vectors : rows + vectors;
    return (double)(most > CHAINS ? most : CHAINS) + 0.5;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static void add_tail(struct block_shape *s, int64_t rows)
{
    if (!rows || (s->tail_count && s->tails[0] == rows))
        return;
    s->tails[s->tail_count++] = (uint32_t)rows;
}

/* Tiles of r x v over a whole iteration space; the cost of one step of the sum. */
static double shape_cost(struct block_shape *s, int64_t rows, int64_t columns, int64_t width, bool masked)
{
    const int64_t r = s->rows, v = s->vectors, strip = v * width;
    const int64_t blocks = rows / KERNEL_ROWS, last = rows % KERNEL_ROWS, rest = columns % strip;
    const int64_t wide = ceil_div(rest, width);
    double cost = 0;

    s->tail_count = 0;
    if (blocks)
        add_tail(s, KERNEL_ROWS % r);
    add_tail(s, last % r);
    s->full = columns >= strip;
    s->full_rows = rows >= r;
    s->masked = masked && rest % width;
    s->rest = (uint32_t)(masked ? wide : rest / width);
    s->scalars = !masked && rest % width;
    const int64_t heights[3] = {r, KERNEL_ROWS % r, last % r};
    const int64_t counts[3] = {blocks * (KERNEL_ROWS / r) + last / r, KERNEL_ROWS % r ? blocks : 0, last % r ? 1 : 0};
    for (uint32_t i = 0; i < 3; i++) {
        if (!counts[i])
            continue;
        double row = (double)(columns / strip) * tile_cost(heights[i], v);
        if (s->rest)
            row += tile_cost(heights[i], s->rest);
        if (s->scalars)
            row += (double)(rest % width) * tile_cost(heights[i], 1);
        cost += (double)counts[i] * row;
    }
    /* Every kind of tile is code of its own. */
    uint32_t kinds = (s->full_rows + s->tail_count) * (uint32_t)(s->full + (s->rest > 0) + s->scalars);
    return cost * (1 + 0.02 * (kinds - 1));
}

static void choose_tile(const struct kernel *k, const struct isa *isa, struct block_shape *s, bool masked)
{
    const int64_t width = isa->vector_bits / 32 ? isa->vector_bits / 32 : 1;
    const int64_t rows = k->row_var == KEXPR_NONE ? 1 : k->vars[k->row_var].size, columns = k->vars[k->vector_var].size;
    const uint32_t spare = isa->fma ? 1 : 2; /* a factor; without fused multiply-adds a product, too */
    const uint32_t most = factors_are_own(k) ? OWN_COPIES : COPIES_MAX;
    struct block_shape best = {0};
    double least = 0;

    for (s->vectors = 1; s->vectors <= (width > 1 ? VECTORS_MAX : 1); s->vectors++) {
        for (s->rows = 1; s->rows <= rows && s->rows * s->vectors <= most; s->rows++) {
            if (s->rows * s->vectors + s->vectors + spare > isa->registers && s->rows > 1)
                break;
            if (columns > KERNEL_BLOCK && KERNEL_BLOCK % (s->vectors * width))
                continue;
            if (s->vectors > 4 && s->rows > 1)
                continue;
            double cost = shape_cost(s, rows, columns, width, masked);
            if (!best.vectors || cost < least) {
                least = cost;
                best = *s;
            }
        }
    }
    *s = best;
}

/* Where sums are cut into blocks, so that no accumulator takes more than SUM_STEPS additions in a row. */
static void choose_fold(const struct kernel *k, struct block_shape *s)
{
    int64_t inner = 1;

    s->fold = KEXPR_NONE;
    for (uint32_t r = k->reduced_count; r-- > 0;) {
        int64_t size = k->vars[k->parallel_count + r].size;
        if (inner * size > SUM_STEPS || inner > SUM_STEPS / 2) {
            s->fold = r;
            s->fold_steps = SUM_STEPS / 2 / inner ? SUM_STEPS / 2 / inner : 1;
            return;
        }
        inner *= size;
    }
}

/* Guards whose values grow along every variable that a tile spans: testing the first and the last point tests all. */
static bool guard_is_ranged(const struct kernel *k, const struct kguard *g, uint32_t depth)
{
    for (uint32_t i = 0; i < g->form.count; i++) {
        const uint32_t var = g->form.terms[i].var;
        const bool spans = var == k->row_var || var == k->vector_var ||
                           (k->vars[var].kind == KVAR_REDUCED && var - k->parallel_count >= depth);
        if (spans && g->form.terms[i].coefficient < 0)
            return false;
        if (k->vars[var].kind == KVAR_DIVMOD && depth_of(k, &k->vars[var].base) > depth)
            return false;
    }
    return !derived_depends(k, &g->form, k->vector_var) &&
           (k->row_var == KEXPR_NONE || !derived_depends(k, &g->form, k->row_var));
}

static void choose_guards(const struct kernel *k, struct block_shape *s)
{
    uint32_t depth = 0;

    for (uint32_t i = 0; i < k->expr_count; i++) {
        for (uint32_t g = 0; is_load(&k->exprs[i]) && g < k->exprs[i].guard_count; g++) {
            uint32_t d = depth_of(k, &k->exprs[i].guards[g].form);
            depth = d > depth ? d : depth;
            s->guarded = true;
        }
    }
    s->branch = depth < s->unroll_from ? depth : s->unroll_from;
    s->ranged = s->guarded;
    for (uint32_t i = 0; i < k->expr_count; i++)
        for (uint32_t g = 0; is_load(&k->exprs[i]) && g < k->exprs[i].guard_count; g++)
            s->ranged = s->ranged && guard_is_ranged(k, &k->exprs[i].guards[g], s->branch);
}

/* Whether x's guards are the same for a whole tile and all loops inside of `branch` ones, and x is a factor that is zero where
 * they fail: then nothing is added there, and elsewhere they hold. */
static bool guards_are_common(const struct kernel *k, uint32_t expr, uint32_t branch)
{
    const struct kexpr *x = &k->exprs[expr];
    bool factor = false;

    for (uint32_t i = 0; i < k->expr_count; i++)
        factor |= k->exprs[i].op == K_REDUCE && (k->exprs[i].args[0] == expr || k->exprs[i].args[1] == expr);
    if (!factor || x->bits.u64)
        return false;
    for (uint32_t g = 0; g < x->guard_count; g++) {
        const struct kaffine *a = &x->guards[g].form;
        if (depth_of(k, a) > branch || coefficient(a, k->vector_var) || derived_depends(k, a, k->vector_var) ||
            (k->row_var != KEXPR_NONE && (coefficient(a, k->row_var) || derived_depends(k, a, k->row_var))))
            return false;
    }
    return true;
}

/* How many zeros stand for a row of a factor that is outside: what loops inside of `branch` ones read of it; 0: cannot be. */
static uint32_t zeros_of(const struct kernel *k, const struct kexpr *x, uint32_t branch)
{
    int64_t span = 1;

    if (!is_load(x) || !x->guard_count || x->bits.u64 || coefficient(&x->index, k->vector_var) ||
        derived_depends(k, &x->index, k->vector_var))
        return 0;
    for (uint32_t g = 0; g < x->guard_count; g++) {
        const struct kaffine *a = &x->guards[g].form;
        if (depth_of(k, a) > branch || coefficient(a, k->vector_var) || derived_depends(k, a, k->vector_var))
            return 0;
    }
    for (uint32_t i = 0; i < x->index.count; i++) {
        const uint32_t var = x->index.terms[i].var;
        if (k->vars[var].kind == KVAR_DIVMOD && depth_of(k, &k->vars[var].base) > branch)
            return 0;
        if (k->vars[var].kind != KVAR_REDUCED || var - k->parallel_count < branch)
            continue;
        if (x->index.terms[i].coefficient < 0 || x->index.terms[i].coefficient > ZEROS_MAX)
            return 0;
        span += x->index.terms[i].coefficient * (k->vars[var].size - 1);
        if (span > ZEROS_MAX)
            return 0;
    }
    return (uint32_t)(span + 63) / 64 * 64;
}

static uint32_t zeros_needed(const struct kernel *k, uint32_t branch)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        uint32_t zeros = zeros_of(k, &k->exprs[i], branch);
        if (is_load(&k->exprs[i]) && k->exprs[i].guard_count && branch == k->reduced_count)
            return 0;
        if (is_load(&k->exprs[i]) && k->exprs[i].guard_count && !zeros && !guards_are_common(k, i, branch))
            return 0;
        most = zeros > most ? zeros : most;
    }
    return most;
}

void block_choose(const struct kernel *k, const struct isa *isa, struct block_shape *s)
{
    bool wide = true; /* every element in memory has 32 or 64 bits */
    int64_t points = 1;

    *s = (struct block_shape){.fold = KEXPR_NONE};
    if (!k->blocked)
        return;
    for (uint32_t i = 0; i < k->tensor_count; i++)
        wide = wide && dtype_size(k->tensors[i].type) >= 4;
    choose_tile(k, isa, s, isa->vector_bits > 32 && (isa->masks || (isa->masks32 && wide)));
    s->unroll_from = k->reduced_count;
    while (s->unroll_from > 0) {
        int64_t size = k->vars[k->parallel_count + s->unroll_from - 1].size;
        if (size > KERNEL_UNROLL_MAX || points * size * s->rows * s->vectors > STEPS_MAX)
            break;
        points *= size;
        s->unroll_from--;
    }
    choose_fold(k, s);
    if (s->fold != KEXPR_NONE && s->fold >= s->unroll_from)
        s->unroll_from = s->fold + 1;
    choose_guards(k, s);
    s->zeros = zeros_needed(k, s->branch);
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        if (is_load(x) && coefficient(&x->index, k->vector_var) == 1 && k->row_var != KEXPR_NONE &&
            !coefficient(&x->index, k->row_var))
            s->wide_outer |= k->tensors[x->tensor].elements * (int64_t)dtype_size(k->tensors[x->tensor].type) > WIDE_BYTES;
    }
}

bool block_is_outer(const struct kernel *k, uint32_t var)
{
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kaffine *a = &k->exprs[i].index;
        if (is_load(&k->exprs[i]) && coefficient(a, k->vector_var) == 1 && !coefficient(a, k->row_var) &&
            (coefficient(a, var) || derived_depends(k, a, var)))
            return true;
    }
    return false;
}

static void write_row(FILE *f, const struct kernel *k, const struct kaffine *a)
{
    fprintf(f, " %" PRId64, coefficient(a, k->row_var));
}

static void write_key(const struct kernel *k, const struct isa *isa, FILE *f)
{
    struct block_shape s;

    block_choose(k, isa, &s);
    fprintf(f, "  tile %ux%u full %u %u tails", s.rows, s.vectors, s.full_rows, s.full);
    for (uint32_t i = 0; i < s.tail_count; i++)
        fprintf(f, " %u", s.tails[i]);
    fprintf(f,
            " rest %u masked %u scalars %u unroll %u fold %d %" PRId64 " guarded %u ranged %u branch %u zeros %u outer %u rows",
            s.rest, s.masked, s.scalars, s.unroll_from, (int)s.fold, s.fold_steps, s.guarded, s.ranged, s.branch, s.zeros,
            s.wide_outer);
    if (k->row_var != KEXPR_NONE) {
        for (uint32_t i = 0; i < k->expr_count; i++) {
            const struct kexpr *x = &k->exprs[i];
            if (x->op == K_LOAD || x->op == K_INDEX)
                write_row(f, k, &x->index);
            for (uint32_t g = 0; x->op == K_LOAD && g < x->guard_count; g++)
                write_row(f, k, &x->guards[g].form);
        }
        for (uint32_t i = 0; i < k->store_count; i++) {
            write_row(f, k, &k->stores[i].index);
            for (uint32_t g = 0; g < k->stores[i].guard_count; g++)
                write_row(f, k, &k->stores[i].guards[g].form);
        }
    }
    fputc('\n', f);
}

char *emit_structure(const struct kernel *k, const struct isa *isa, struct arena *a)
{
    char *text = kernel_structure(k, a), *key = NULL;
    size_t size;

    if (!text || !k->blocked)
        return text;
    FILE *f = open_memstream(&key, &size);
    if (!f)
        return NULL;
    fputs(text, f);
    write_key(k, isa, f);
    text = fclose(f) == 0 ? arena_string(a, key, size) : NULL;
    free(key);
    return text;
}

bool block_prepare(struct emitter *e)
{
    block_choose(e->k, e->m.isa, &e->block);
    e->edge_pointers = arena_array(&e->arena, (size_t)e->k->expr_count * COPIES_MAX, sizeof *e->edge_pointers);
    for (uint32_t i = 0; e->k->row_var != KEXPR_NONE && i < e->form_count; i++) {
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
        if (!is_load(x))
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

/* What of a form is known with `depth` loops open, at row `row` of the tile. */
static V open_part(struct emitter *e, uint32_t form, uint32_t depth, uint32_t row)
{
    const struct form *f = &e->forms[form];
    const struct build *m = &e->m;
    V sum = number_value(e, f->number);

    for (uint32_t i = 0; i < f->affine->count; i++) {
        const uint32_t var = f->affine->terms[i].var;
        if (e->k->vars[var].kind == KVAR_REDUCED && var - e->k->parallel_count >= depth)
            continue;
        V c = number_value(e, f->number + 1 + i), value = var_scalar(e, var);
        emit_here(e);
        if (var == e->k->row_var)
            value = LLVMBuildAdd(m->b, value, const_int(m, 64, row), "");
        sum = LLVMBuildAdd(m->b, sum, LLVMBuildMul(m->b, value, c, ""), "");
    }
    return sum;
}

/* Where the rows of guarded factors begin: at zeros if they are outside. */
static void set_edge_pointers(struct emitter *e, uint32_t depth)
{
    const struct build *m = &e->m;

    for (uint32_t i = 0; i < e->k->expr_count; i++) {
        const struct kexpr *x = &e->k->exprs[i];
        if (!zeros_of(e->k, x, depth))
            continue;
        T element = storage_type(e, e->k->tensors[x->tensor].type);
        V tensor = tensor_pointer(e, x->tensor);
        for (uint32_t row = 0; row < (e->expr_rows[i] ? e->tile_rows_count : 1); row++) {
            V all = const_int(m, 1, 1), index = open_part(e, e->expr_form[i], depth, row);
            for (uint32_t g = 0; g < x->guard_count; g++) {
                const struct form *f = &e->forms[e->expr_form[i] + 1 + g];
                V bound = number_value(e, f->number + 1 + f->affine->count);
                V at = open_part(e, e->expr_form[i] + 1 + g, depth, row);
                emit_here(e);
                all = LLVMBuildAnd(m->b, all, LLVMBuildICmp(m->b, LLVMIntULT, at, bound, ""), "");
            }
            emit_here(e);
            V address = LLVMBuildGEP2(m->b, element, tensor, &index, 1, "");
            e->edge_pointers[i * COPIES_MAX + row] = LLVMBuildSelect(m->b, all, address, e->zeros, "edge");
        }
    }
}

bool block_guards_hold(const struct emitter *e, uint32_t expr)
{
    return e->k->exprs[expr].varying && (e->guards_hold || (e->edge && guards_are_common(e->k, expr, e->block.branch)));
}

V block_edge_address(struct emitter *e, uint32_t expr, T element)
{
    const struct form *f = &e->forms[e->expr_form[expr]];
    const struct build *m = &e->m;
    V index = const_int(m, 64, 0);

    for (uint32_t i = 0; i < f->affine->count; i++) {
        const uint32_t var = f->affine->terms[i].var;
        if (e->k->vars[var].kind != KVAR_REDUCED || var - e->k->parallel_count < e->block.branch)
            continue;
        V c = number_value(e, f->number + 1 + i);
        emit_at(e, e->expr_level[expr]);
        index = LLVMBuildAdd(m->b, index, LLVMBuildMul(m->b, e->var_value[var], c, ""), "");
    }
    emit_at(e, e->expr_level[expr]);
    V pointer = e->edge_pointers[expr * COPIES_MAX + (e->expr_rows[expr] ? e->copy / e->tile_vectors : 0)];
    return LLVMBuildGEP2(m->b, element, pointer, &index, 1, "");
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
        set_edge_pointers(e, r);
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
    inner(e, &t, 0);
    e->phase = k->phase_count;
    emit_here(e);
    for (uint32_t c = 0; c < e->copies; c++) {
        V slot = e->block.fold != KEXPR_NONE ? t.totals[c] : t.accumulators[c];
        V value = LLVMBuildLoad2(m->b, sum_type(e), slot, "");
        e->expr_cache[t.sum * COPIES_MAX + c] = (struct cached){value, e->levels[e->point_level].serial};
    }
    /* Every point is stored before the next one is computed: a residual may lie where the result goes, point by point. */
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
