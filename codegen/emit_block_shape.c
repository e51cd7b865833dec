/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How a sum of products is cut into tiles: from a blocked kernel's numbers and the instruction set alone to struct block_shape,
 * and to the text that says when two kernels share code (emit_structure).  No LLVM here; emit_block.c makes the tiles.
 */
#include "codegen/emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    VECTORS_MAX = 8,
    CHAINS = 8,             /* multiply-adds that must be under way at once for full speed */
    STEPS_MAX = 288,        /* multiply-adds in an unrolled loop body */
    STRIDED_ROWS = 8,       /* of a tile whose strides are parameters: each row has an address register */
    OWN_COPIES = 8,         /* accumulators of a tile that shares little: as many as hide latency */
    SUM_STEPS = 512,        /* additions in a row into one accumulator; longer sums go in blocks */
    ZEROS_MAX = 4096,       /* elements that a factor's row may have to be replaced by zeros */
    WIDE_BYTES = 1 << 19,   /* an operand up to this size stays in the cache for all rows */
    CACHE_WAY_BYTES = 4096, /* addresses that far apart share a set of the first cache, */
    CACHE_WAYS = 8          /* which holds that many of them */
};

/* ---- questions about the kernel ---- */

/* Whether a form depends on a variable through derived ones. */
static bool derived_depends(const struct kernel *k, const struct kaffine *a, uint32_t var)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const struct kvar *v = &k->vars[a->terms[i].var];
        if (v->kind == KVAR_DIVMOD && (kaffine_coefficient(v->base, var) || derived_depends(k, &v->base, var)))
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

bool block_is_load(const struct kexpr *x)
{
    return x->op == K_LOAD && x->varying;
}

/* Whether an expression is loaded by vectors. */
static bool is_wide(const struct kernel *k, uint32_t expr)
{
    const struct kexpr *x = &k->exprs[expr];
    bool wide = x->op == K_LOAD && (kaffine_coefficient(x->index, k->vector_var) || derived_depends(k, &x->index, k->vector_var));
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

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    return b ? greatest_divisor(b, a % b) : a;
}

/* How many rows of a tile the first cache holds: where rows lie a power of two apart, few, and a step reads one line of each.
 */
static int64_t rows_in_cache(const struct kernel *k)
{
    int64_t most = INT64_MAX;

    for (uint32_t i = 0; i < k->expr_count && k->row_var != KEXPR_NONE; i++) {
        const struct kexpr *x = &k->exprs[i];
        if (!block_is_load(x))
            continue;
        int64_t stride = kaffine_coefficient(x->index, k->row_var) * (int64_t)dtype_size(k->tensors[x->tensor].type);
        if (stride <= 0)
            continue;
        int64_t sets = CACHE_WAY_BYTES / greatest_divisor(stride, CACHE_WAY_BYTES);
        most = sets * CACHE_WAYS < most ? sets * CACHE_WAYS : most;
    }
    return most;
}

bool block_is_row_factor(const struct kernel *k, const struct kexpr *x)
{
    return block_is_load(x) && kaffine_coefficient(x->index, k->row_var) && !kaffine_coefficient(x->index, k->vector_var);
}

uint32_t block_wide_factor(const struct kernel *k)
{
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kaffine *a = &k->exprs[i].index;
        if (block_is_load(&k->exprs[i]) && kaffine_coefficient(*a, k->vector_var) == 1 && !kaffine_coefficient(*a, k->row_var))
            return i;
    }
    return KEXPR_NONE;
}

/*
 * Whether a kernel is like a matrix product: no padding, a long innermost loop, one factor loaded by vectors and one by
 * rows. Then nothing in a tile depends on sizes, and all products whose tiles look alike share code.
 */
static bool is_strided(const struct kernel *k)
{
    if (k->row_var == KEXPR_NONE || !k->reduced_count || factors_are_own(k))
        return false;
    if (k->vars[k->parallel_count + k->reduced_count - 1].size <= KERNEL_UNROLL_MAX)
        return false;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        const struct kaffine *a = &x->index;
        if (!block_is_load(x))
            continue;
        if (x->guard_count || (kaffine_coefficient(*a, k->row_var) && kaffine_coefficient(*a, k->vector_var)))
            return false;
        for (uint32_t t = 0; t < a->count; t++) {
            const struct kvar *v = &k->vars[a->terms[t].var];
            if (v->kind == KVAR_DIVMOD &&
                (depth_of(k, &v->base) || derived_depends(k, a, k->vector_var) || derived_depends(k, a, k->row_var)))
                return false;
        }
    }
    return true;
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
static double shape_cost(struct block_shape *s, int64_t rows, int64_t columns, int64_t block_rows, int64_t width, bool masked)
{
    const int64_t r = s->rows, v = s->vectors, strip = v * width;
    const int64_t blocks = rows / block_rows, last = rows % block_rows, rest = columns % strip;
    const int64_t wide = ceil_div(rest, width);
    double cost = 0;

    s->tail_count = 0;
    if (blocks)
        add_tail(s, block_rows % r);
    add_tail(s, last % r);
    s->full = columns >= strip;
    s->full_rows = rows >= r;
    s->masked = masked && rest % width;
    s->rest = (uint32_t)(masked ? wide : rest / width);
    s->scalars = !masked && rest % width;
    const int64_t heights[3] = {r, block_rows % r, last % r};
    const int64_t counts[3] = {blocks * (block_rows / r) + last / r, block_rows % r ? blocks : 0, last % r ? 1 : 0};
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
    const int64_t cached = rows_in_cache(k), limit = s->strided && cached > STRIDED_ROWS ? STRIDED_ROWS : cached;
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
            if (s->rows > limit)
                break;
            if (k->tile_rows && k->tile_rows <= rows && s->rows != k->tile_rows)
                continue;
            double cost = shape_cost(s, rows, columns, k->row_block, width, masked);
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
            s->fold_steps = inner <= SUM_STEPS / 2 ? SUM_STEPS / inner : 1;
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
        for (uint32_t g = 0; block_is_load(&k->exprs[i]) && g < k->exprs[i].guard_count; g++) {
            uint32_t d = depth_of(k, &k->exprs[i].guards[g].form);
            depth = d > depth ? d : depth;
            s->guarded = true;
        }
    }
    s->branch = depth < s->unroll_from ? depth : s->unroll_from;
    s->ranged = s->guarded;
    for (uint32_t i = 0; i < k->expr_count; i++)
        for (uint32_t g = 0; block_is_load(&k->exprs[i]) && g < k->exprs[i].guard_count; g++)
            s->ranged = s->ranged && guard_is_ranged(k, &k->exprs[i].guards[g], s->branch);
}

/* Whether x's guards are the same for a whole tile and all loops inside of `branch` ones, and x is a factor that is zero where
 * they fail: then nothing is added there, and elsewhere they hold. */
bool block_guards_are_common(const struct kernel *k, uint32_t expr, uint32_t branch)
{
    const struct kexpr *x = &k->exprs[expr];
    bool factor = false;

    for (uint32_t i = 0; i < k->expr_count; i++)
        factor |= k->exprs[i].op == K_REDUCE && (k->exprs[i].args[0] == expr || k->exprs[i].args[1] == expr);
    if (!factor || x->bits.u64)
        return false;
    for (uint32_t g = 0; g < x->guard_count; g++) {
        const struct kaffine *a = &x->guards[g].form;
        if (depth_of(k, a) > branch || kaffine_coefficient(*a, k->vector_var) || derived_depends(k, a, k->vector_var) ||
            (k->row_var != KEXPR_NONE && (kaffine_coefficient(*a, k->row_var) || derived_depends(k, a, k->row_var))))
            return false;
    }
    return true;
}

/* How many zeros stand for a row of a factor that is outside: what loops inside of `branch` ones read of it; 0: cannot be. */
uint32_t block_zeros_of(const struct kernel *k, const struct kexpr *x, uint32_t branch)
{
    int64_t span = 1;

    if (!block_is_load(x) || !x->guard_count || x->bits.u64 || kaffine_coefficient(x->index, k->vector_var) ||
        derived_depends(k, &x->index, k->vector_var))
        return 0;
    for (uint32_t g = 0; g < x->guard_count; g++) {
        const struct kaffine *a = &x->guards[g].form;
        if (depth_of(k, a) > branch || kaffine_coefficient(*a, k->vector_var) || derived_depends(k, a, k->vector_var))
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
        uint32_t zeros = block_zeros_of(k, &k->exprs[i], branch);
        if (block_is_load(&k->exprs[i]) && k->exprs[i].guard_count && branch == k->reduced_count)
            return 0;
        if (block_is_load(&k->exprs[i]) && k->exprs[i].guard_count && !zeros && !block_guards_are_common(k, i, branch))
            return 0;
        most = zeros > most ? zeros : most;
    }
    return most;
}

bool block_is_outer(const struct kernel *k, uint32_t var)
{
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kaffine *a = &k->exprs[i].index;
        if (block_is_load(&k->exprs[i]) && kaffine_coefficient(*a, k->vector_var) == 1 &&
            !kaffine_coefficient(*a, k->row_var) && (kaffine_coefficient(*a, var) || derived_depends(k, a, var)))
            return true;
    }
    return false;
}

bool block_is_repeat(const struct kernel *k, uint32_t var)
{
    return var >= k->chunk_vars && var < k->parallel_count && var != k->vector_var && !block_is_outer(k, var);
}

/*
 * A large factor comes from memory panel by panel: the next one is fetched while several tiles work on this one.  Stages do so
 * whatever their sizes, which share code.
 */
static void choose_ahead(const struct kernel *k, struct block_shape *s)
{
    const uint32_t wide = block_wide_factor(k);
    int64_t points = 1;

    for (uint32_t i = 0; i < k->parallel_count; i++)
        points *= block_is_repeat(k, i) ? k->vars[i].size : 1;
    if (k->rows_outer || wide == KEXPR_NONE || s->unroll_from < k->reduced_count || points <= s->rows)
        return;
    for (uint32_t i = 0; i < k->parallel_count; i++)
        if (i != k->vector_var && i != k->row_var && kaffine_coefficient(k->exprs[wide].index, i) > 0)
            s->ahead = i;
}

void block_choose(const struct kernel *k, const struct isa *isa, struct block_shape *s)
{
    bool wide = true; /* every element in memory has 32 or 64 bits */
    int64_t points = 1;

    *s = (struct block_shape){.fold = KEXPR_NONE, .ahead = KEXPR_NONE};
    if (!k->blocked)
        return;
    for (uint32_t i = 0; i < k->tensor_count; i++)
        wide = wide && dtype_size(k->tensors[i].type) >= 4;
    s->strided = is_strided(k);
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
    for (uint32_t i = 0; i < k->expr_count && !k->chunk_vars; i++) {
        const struct kexpr *x = &k->exprs[i];
        if (block_is_load(x) && kaffine_coefficient(x->index, k->vector_var) == 1 && k->row_var != KEXPR_NONE &&
            !kaffine_coefficient(x->index, k->row_var))
            s->wide_outer |= k->tensors[x->tensor].elements * (int64_t)dtype_size(k->tensors[x->tensor].type) > WIDE_BYTES;
    }
    if (s->wide_outer || k->tile_rows)
        choose_ahead(k, s);
}

static void write_row(FILE *f, const struct kernel *k, const struct kaffine *a)
{
    fprintf(f, " %" PRId64, kaffine_coefficient(*a, k->row_var));
}

static void write_key(const struct kernel *k, const struct isa *isa, FILE *f)
{
    struct block_shape s;

    block_choose(k, isa, &s);
    fprintf(f, "  tile %ux%u full %u %u tails", s.rows, s.vectors, s.full_rows, s.full);
    for (uint32_t i = 0; i < s.tail_count; i++)
        fprintf(f, " %u", s.tails[i]);
    fprintf(f,
            " rest %u masked %u scalars %u unroll %u fold %d %" PRId64
            " guarded %u ranged %u branch %u zeros %u outer %u %u ahead %d"
            " block %" PRId64 " rows",
            s.rest, s.masked, s.scalars, s.unroll_from, (int)s.fold, s.fold_steps, s.guarded, s.ranged, s.branch, s.zeros,
            s.wide_outer, k->rows_outer, (int)s.ahead, k->row_block);
    if (s.strided) {
        fputs(" strided", f);
    } else if (k->row_var != KEXPR_NONE) {
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

static char *structure_of_stages(const struct kernel *k, const struct isa *isa, struct arena *a)
{
    char *key = NULL, *text = NULL;
    size_t size;
    FILE *f = open_memstream(&key, &size);
    bool ok = f != NULL;

    for (uint32_t i = 0; ok && i < k->stage_count; i++) {
        const char *head = kernel_stage_structure(k, i, a), *own = emit_structure(k->stages[i].kernel, isa, a);
        ok = head && own && fputs(head, f) >= 0 && fputs(own, f) >= 0;
    }
    if (f && fclose(f) == 0 && ok)
        text = arena_string(a, key, size);
    free(key);
    return text;
}

char *emit_structure(const struct kernel *k, const struct isa *isa, struct arena *a)
{
    if (k->stage_count)
        return structure_of_stages(k, isa, a);

    char *text = kernel_structure(k, a), *key = NULL;
    size_t size;

    if (!text)
        return NULL;
    FILE *f = open_memstream(&key, &size);
    if (!f)
        return NULL;
    fputs(text, f);
    if (k->blocked)
        write_key(k, isa, f);
    tile_print(k, f);
    text = fclose(f) == 0 ? arena_string(a, key, size) : NULL;
    free(key);
    return text;
}
