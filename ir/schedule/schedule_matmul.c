/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses register tiles: which kernels are contractions, sums of products of two operands, that an MR x NR micro-kernel
 * computes, and with which blocks of K, prefetching and treatment of padding.  MR x NR itself comes from schedule_mr_nr.c.  It
 * takes a schedule with its vector variable, which is N, and fills schedule->tile.  Everything is read off the index maps: no
 * operator is named here.  docs/contractions.md says how the tiles compute.
 */
#include <string.h>

#include "ir/schedule/schedule_internal.h"

enum { SHIFTS_SHARE = 3 };

/* ---- which kernels, and which variable is M ---- */

uint32_t find_contraction(const struct kernel *k)
{
    uint32_t dot = KEXPR_NONE;

    if (k->phase_count != 1)
        return KEXPR_NONE;
    for (uint32_t r = 0; r < k->reduced_count; r++)
        if (k->vars[k->parallel_count + r].bounded)
            return KEXPR_NONE;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *e = &k->exprs[i];
        if (e->op == K_SCAN || (e->op == K_REDUCE && (dot != KEXPR_NONE || e->reduce != KR_DOT)))
            return KEXPR_NONE;
        if (e->op == K_REDUCE)
            dot = i;
    }
    for (uint32_t i = 0; i < k->store_count; i++)
        if (k->stores[i].varying)
            return KEXPR_NONE;
    return dot;
}

int64_t iterations_of(const struct kernel *k, uint32_t from, uint32_t to)
{
    int64_t count = 1;

    for (uint32_t r = from; r < to; r++)
        count *= k->vars[k->parallel_count + r].size;
    return count;
}

void mark_below(const struct kernel *k, uint32_t expr, bool *used)
{
    memset(used, 0, k->expr_count * sizeof *used);
    used[expr] = true;
    for (uint32_t i = expr + 1; i-- > 0;)
        for (uint32_t a = 0; used[i] && a < 3; a++)
            if (k->exprs[i].args[a] != KEXPR_NONE)
                used[k->exprs[i].args[a]] = true;
}

struct sum_split choose_split(const struct kernel *k, uint32_t steps, uint32_t lanes)
{
    int64_t inner = 1;

    for (uint32_t r = k->reduced_count; r-- > 0;) {
        const int64_t size = k->vars[k->parallel_count + r].size;
        const int64_t rounds = r + 1 == k->reduced_count ? ceil_div(size, lanes) : size;
        if (inner * rounds > steps)
            return (struct sum_split){r, (uint32_t)(steps / inner)};
        inner *= rounds;
    }
    return (struct sum_split){KEXPR_NONE, steps};
}

/** Returns whether a load is one of vectors along the vector variable. */
static bool loads_vectors(const struct schedule *s, const struct kexpr *x)
{
    return kaffine_coefficient(x->index, s->vector_var) == 1 || tile_loads_words(s->kernel, x, s->vector_var);
}

/** Returns how many rows of a tile a variable fills: what makes one variable a better M than another.  Best is one along which
 * windows overlap (struct tile_window). */
static int64_t rows_of(const struct schedule *s, const bool *loads, uint32_t var)
{
    const struct kernel *k = s->kernel;
    const int64_t size = k->vars[var].size, tall = s->facts->contraction.tall_rows, most = s->facts->contraction.window.steps;

    for (uint32_t i = 0; operands_are_own(s) && i < k->expr_count; i++) {
        const int64_t along = loads[i] ? kaffine_coefficient(k->exprs[i].index, var) : 0;
        const int64_t step = kaffine_coefficient(k->exprs[i].index, k->parallel_count + k->reduced_count - 1);
        if (along > 0 && step > 0 && along <= most * gcd(along, step) && step <= most * gcd(along, step))
            return tall + 1;
    }
    return size < tall ? size : tall;
}

/**
 * Decides which loop is the slowest.  All of A may exceed the L2 cache, and B, too: then a block of A stays there while panel
 * after panel of B goes by, instead of all rows passing by for every panel, whose columns are fewer than a block's rows.  In a
 * stage the slowest loops are those over macro-tiles.
 */
static void choose_loop_order(struct schedule *s, const bool *loads, bool sizes_vary)
{
    const struct kernel *k = s->kernel;
    int64_t rows = 0, panels = 0;

    if (k->macro_tile_vars)
        return;
    for (uint32_t i = 0; s->tile.m_var != KEXPR_NONE && i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        const int64_t size = loads[i] ? (int64_t)dtype_size(k->tensors[x->tensor].type) : 0;
        const int64_t along = size ? size * kaffine_coefficient(x->index, s->tile.m_var) : 0;
        if (size && !along)
            panels += size * k->tensors[x->tensor].elements;
        if (along * k->vars[s->tile.m_var].size > rows)
            rows = along * k->vars[s->tile.m_var].size;
    }
    const struct cache_facts *cache = &s->facts->cache;
    s->tile.m_outer = sizes_vary ? (double)panels <= cache->l2_paired_share * (double)cache->l2_bytes
                                 : rows > cache->l2_bytes && panels < rows;
}

/* Returns whether vectors of B are words of bytes, which are multiplied as they are. */
static bool multiplies_words(const struct schedule *s, const struct target *target)
{
    const enum byte_arithmetic by = target->isa.byte_products;
    struct byte_products p;
    uint32_t depth;

    return byte_products_find(s->kernel, find_dot(s->kernel), s->vector_var, &p, &depth) && p.whole && !depth &&
           (by == BYTES_MIXED || by == BYTES_SIGNED || (by != BYTES_NONE && p.wide));
}

/**
 * One contraction with vectors along a PARALLEL variable is computed in tiles: at several points of a second PARALLEL
 * variable at once, along which vectors of loaded values stay the same (the rows of a matrix, the columns of an image).
 * Where sizes vary it is the innermost one, whose strides depend on the fewest of them.
 */
bool tile_find(struct schedule *s, const struct target *target)
{
    const struct kernel *k = s->kernel;
    const uint32_t dot = find_contraction(k);

    if (k->rare || s->vector_var == KEXPR_NONE || k->vars[s->vector_var].kind != KVAR_PARALLEL || dot == KEXPR_NONE ||
        (k->exprs[dot].type != KT_F32 && !multiplies_words(s, target)) || s->row_buffers.count)
        return true;
    for (uint32_t i = 0; i < k->var_count; i++)
        if (k->vars[i].kind == KVAR_LOADED)
            return true;
    bool *loads = arena_array(&s->arena, k->expr_count, sizeof *loads);
    if (!loads)
        return false;
    mark_below(k, dot, loads);
    for (uint32_t i = 0; i < k->expr_count; i++)
        loads[i] &= k->exprs[i].op == K_LOAD;
    for (uint32_t i = 0; i < k->expr_count; i++)
        s->tiled |= loads[i] && loads_vectors(s, &k->exprs[i]);
    for (uint32_t u = k->parallel_count; u-- > k->macro_tile_vars;) { /* of equals the innermost */
        bool shared = false;

        for (uint32_t i = 0; i < k->expr_count; i++)
            shared |= loads[i] && loads_vectors(s, &k->exprs[i]) && !kaffine_coefficient(k->exprs[i].index, u);
        if (s->tiled && u != s->vector_var && shared && !var_is_divided(k, u) && !k->vars[u].bounded && k->vars[u].size > 1 &&
            (s->tile.m_var == KEXPR_NONE || (!target->sizes_vary && rows_of(s, loads, u) > rows_of(s, loads, s->tile.m_var))))
            s->tile.m_var = u;
    }
    choose_loop_order(s, loads, target->sizes_vary);
    return true;
}

/* ---- questions about the kernel ---- */

const struct kexpr *find_dot(const struct kernel *k)
{
    for (uint32_t i = k->reduced_count ? k->expr_count : 0; i-- > 0;)
        if (k->exprs[i].op == K_REDUCE)
            return &k->exprs[i];
    return NULL;
}

bool var_is_divided(const struct kernel *k, uint32_t var)
{
    for (uint32_t i = 0; i < k->var_count; i++)
        if (k->vars[i].kind == KVAR_DIVMOD && kaffine_coefficient(k->vars[i].base, var))
            return true;
    return false;
}

bool tile_is_operand(const struct kexpr *x)
{
    return x->op == K_LOAD && x->varying;
}

static bool reads_vectors(const struct schedule *s, uint32_t expr)
{
    const struct kernel *k = s->kernel;
    const struct kexpr *x = &k->exprs[expr];
    bool wide = x->op == K_LOAD && depends_on(kaffine_vars(k, x->index), s->vector_var);
    for (uint32_t i = 0; i < 3; i++)
        wide = wide || (x->args[i] != KEXPR_NONE && reads_vectors(s, x->args[i]));
    return wide;
}

bool operands_are_own(const struct schedule *s)
{
    const struct kexpr *dot = find_dot(s->kernel);

    return dot && reads_vectors(s, dot->args[0]) && reads_vectors(s, dot->args[1]);
}

bool tile_is_a(const struct schedule *s, const struct kexpr *x)
{
    return tile_is_operand(x) && kaffine_coefficient(x->index, s->tile.m_var) && !kaffine_coefficient(x->index, s->vector_var);
}

uint32_t tile_b(const struct schedule *s)
{
    const struct kernel *k = s->kernel;
    uint32_t b = KEXPR_NONE;
    int64_t most = 0; /* weights come with scales */

    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        if (!tile_is_operand(x) || !loads_vectors(s, x) || kaffine_coefficient(x->index, s->tile.m_var))
            continue;
        int64_t bytes = k->tensors[x->tensor].elements * (int64_t)dtype_size(k->tensors[x->tensor].type);
        if (bytes > most) {
            b = i;
            most = bytes;
        }
    }
    return b;
}

/*
 * Returns whether a kernel is like a matrix multiplication: no padding, a long innermost loop, one operand loaded by vectors
 * and one by rows.  Nothing in a tile depends on sizes there, and all multiplications with the same tiles share code.
 */
static bool is_strided(const struct schedule *s)
{
    const struct kernel *k = s->kernel;
    if (s->tile.m_var == KEXPR_NONE || !k->reduced_count || operands_are_own(s))
        return false;
    if (kernel_sums_unroll(k, k->parallel_count + k->reduced_count - 1) && k->exprs[find_dot(k)->args[1]].op == K_LOAD)
        return false;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        const struct kaffine *a = &x->index;
        if (!tile_is_operand(x))
            continue;
        if (x->guard_count || (kaffine_coefficient(*a, s->tile.m_var) && kaffine_coefficient(*a, s->vector_var)))
            return false;
        for (uint32_t t = 0; t < a->count; t++) {
            const struct kvar *v = &k->vars[a->terms[t].var];
            if (v->kind == KVAR_DIVMOD && (kernel_depth(k, kaffine_vars(k, v->base)) || kaffine_derives(k, *a, s->vector_var) ||
                                           kaffine_derives(k, *a, s->tile.m_var)))
                return false;
        }
    }
    return true;
}

/* ---- MR x NR ---- */

static void choose_mr_nr(struct schedule *s, const struct target *target)
{
    const struct kernel *k = s->kernel;
    const int64_t m = s->tile.m_var == KEXPR_NONE ? 1 : k->vars[s->tile.m_var].size, multiple = k->contraction.m_multiple;
    struct tile_bounds b = {.m = m,
                            .n = k->vars[s->vector_var].size,
                            .m_multiple = multiple && m % multiple ? 0 : (uint32_t)multiple, /* M may be the other variable */
                            .mr_most = s->tile.strided ? s->facts->contraction.row_pointers : INT64_MAX,
                            .own_operands = operands_are_own(s),
                            .unpacked = k->exprs[find_dot(k)->args[1]].op != K_LOAD && !multiplies_words(s, target),
                            .wide_elements = true};

    for (uint32_t i = 0; i < k->tensor_count; i++)
        b.wide_elements = b.wide_elements && dtype_size(k->tensors[i].type) >= 4;
    if (target->sizes_vary && b.mr_most > s->facts->contraction.tile.padded_rows[0])
        b.mr_most = s->facts->contraction.tile.padded_rows[0]; /* few rows have code of their own */
    mr_nr_choose(target, &b, &s->tile);
}

uint32_t find_block_factor(const struct kernel *k, const struct kexpr *x, uint32_t *factor, uint32_t *rest)
{
    if (x->op != K_MUL)
        return UINT32_MAX;
    const uint32_t depths[2] = {expr_depth(k, x->args[0]), expr_depth(k, x->args[1])}, shallow = depths[1] < depths[0];
    *factor = x->args[shallow];
    *rest = x->args[!shallow];
    return depths[0] == depths[1] ? UINT32_MAX : depths[shallow];
}

/* Splits accumulation into the blocks of B's factor, if it has one, so that their sums are multiplied. */
static void choose_factor(struct schedule *s)
{
    const struct kernel *k = s->kernel;
    struct register_tile *t = &s->tile;
    struct block_products *blocks = &t->blocks;
    const uint32_t depth = find_block_factor(k, &k->exprs[find_dot(k)->args[1]], &blocks->factor, &blocks->unscaled);

    if (depth == UINT32_MAX || (depth && iterations_of(k, depth, k->reduced_count) > TILE_SUM_STEPS)) {
        blocks->factor = blocks->unscaled = KEXPR_NONE;
    } else if (depth) {
        t->split = depth - 1;
        t->split_steps = 1;
    }
}

/* Returns whether a guard's values grow along every variable that a tile spans: its first and last point then test all. */
static bool guard_is_ranged(const struct schedule *s, const struct kguard *g, uint32_t depth)
{
    const struct kernel *k = s->kernel;
    for (uint32_t i = 0; i < g->form.count; i++) {
        const uint32_t var = g->form.terms[i].var;
        const bool spans = var == s->tile.m_var || var == s->vector_var ||
                           (k->vars[var].kind == KVAR_REDUCED && var - k->parallel_count >= depth);
        if (spans && g->form.terms[i].coefficient < 0)
            return false;
        if (k->vars[var].kind == KVAR_DIVMOD && kernel_depth(k, kvar_vars(k, var)) > depth)
            return false;
    }
    return !kaffine_derives(k, g->form, s->vector_var) && !kaffine_derives(k, g->form, s->tile.m_var);
}

/* Returns whether x's guards are the same for all columns of a tile and all loops inside of `branch` ones. */
static bool guards_serve_columns(const struct schedule *s, const struct kexpr *x, uint32_t branch)
{
    return !depends_on(kguards_vars(s->kernel, x->guard_count, x->guards), s->vector_var) &&
           guards_depth(s->kernel, x) <= branch;
}

/* Returns whether x's guards are the same for a whole tile and all loops inside of `branch` ones, and x is an operand that is
 * zero where they fail: nothing is added there, and elsewhere they hold. */
bool tile_guards_are_common(const struct schedule *s, uint32_t expr, uint32_t branch)
{
    const struct kernel *k = s->kernel;
    const struct kexpr *x = &k->exprs[expr];
    bool operand = false;

    for (uint32_t i = 0; i < k->expr_count; i++)
        operand |= k->exprs[i].op == K_REDUCE && (k->exprs[i].args[0] == expr || k->exprs[i].args[1] == expr);
    return operand && !x->bits.u64 && !depends_on(kguards_vars(k, x->guard_count, x->guards), s->tile.m_var) &&
           guards_serve_columns(s, x, branch);
}

uint8_t tile_fill(const struct schedule *s)
{
    const struct kernel *k = s->kernel;

    for (uint32_t i = 0; s->tiled && i < k->expr_count; i++)
        if (tile_is_operand(&k->exprs[i]) && k->exprs[i].guard_count && ktype_size(k->exprs[i].type) == 1)
            return k->exprs[i].bits.u8;
    return 0;
}

bool tile_is_filled(const struct schedule *s, const struct kexpr *x)
{
    return ktype_size(x->type) == 1 ? x->bits.u8 == tile_fill(s) : !x->bits.u64 && !tile_fill(s);
}

/* Returns how many zeros stand for a row of an operand in the padding, which is what loops inside of `branch` ones read of it.
 * Returns 0 if zeros cannot. */
uint32_t tile_zeros(const struct schedule *s, const struct kexpr *x, uint32_t branch)
{
    const struct kernel *k = s->kernel;
    const int64_t most = s->facts->contraction.zeros_most;
    int64_t span = 1;

    if (!tile_is_operand(x) || !x->guard_count || !tile_is_filled(s, x) ||
        depends_on(kaffine_vars(k, x->index), s->vector_var) || !guards_serve_columns(s, x, branch))
        return 0;
    for (uint32_t i = 0; i < x->index.count; i++) {
        const uint32_t var = x->index.terms[i].var;
        if (k->vars[var].kind == KVAR_DIVMOD && kernel_depth(k, kvar_vars(k, var)) > branch)
            return 0;
        if (k->vars[var].kind != KVAR_REDUCED || var - k->parallel_count < branch)
            continue;
        if (x->index.terms[i].coefficient < 0 || x->index.terms[i].coefficient > most)
            return 0;
        span += x->index.terms[i].coefficient * (k->vars[var].size - 1);
        if (span > most)
            return 0;
    }
    return (uint32_t)(ceil_div(span, TILE_ZEROS) * TILE_ZEROS);
}

static uint32_t zeros_needed(const struct schedule *s, uint32_t branch)
{
    const struct kernel *k = s->kernel;
    uint32_t most = 0;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        uint32_t zeros = tile_zeros(s, &k->exprs[i], branch);
        if (tile_is_operand(&k->exprs[i]) && k->exprs[i].guard_count && branch == k->reduced_count)
            return 0;
        if (tile_is_operand(&k->exprs[i]) && k->exprs[i].guard_count && !zeros && !tile_guards_are_common(s, i, branch))
            return 0;
        most = max_u32(most, zeros);
    }
    return most;
}

static void choose_guards(struct schedule *s)
{
    const struct kernel *k = s->kernel;
    struct register_tile *t = &s->tile;
    uint32_t depth = 0;

    for (uint32_t i = 0; i < k->expr_count; i++)
        if (tile_is_operand(&k->exprs[i]) && k->exprs[i].guard_count) {
            depth = max_u32(depth, guards_depth(k, &k->exprs[i]));
            t->guarded = true;
        }
    t->branch = depth < t->unroll_from ? depth : t->unroll_from;
    bool ranged = t->guarded && !t->window.skips, apart = !t->window.row.neighbours;
    for (uint32_t i = 0; i < k->expr_count; i++)
        for (uint32_t g = 0; tile_is_operand(&k->exprs[i]) && g < k->exprs[i].guard_count; g++) {
            ranged = ranged && guard_is_ranged(s, &k->exprs[i].guards[g], t->branch);
            apart = apart && guard_is_ranged(s, &k->exprs[i].guards[g], 0) && tile_zeros(s, &k->exprs[i], depth);
        }
    t->edge = ranged && apart ? depth : t->branch;
    t->zeros = ranged ? zeros_needed(s, t->edge) : 0;
    if (!ranged)
        t->branch = KEXPR_NONE;
    else if (t->zeros && apart && !tile_is_same_at_edges(s))
        t->branch = 0; /* once for a tile, of which few are at an edge */
}

bool tile_is_b_var(const struct schedule *s, uint32_t var)
{
    const struct kernel *k = s->kernel;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        if (tile_is_operand(x) && loads_vectors(s, x) && !kaffine_coefficient(x->index, s->tile.m_var) &&
            depends_on(kaffine_vars(k, x->index), var))
            return true;
    }
    return false;
}

bool tile_repeats_b(const struct schedule *s, uint32_t var)
{
    const struct kernel *k = s->kernel;
    return var >= k->macro_tile_vars && var < k->parallel_count && var != s->vector_var && !tile_is_b_var(s, var);
}

/*
 * Chooses prefetching.  A large B comes from memory panel by panel: the next one is prefetched while several tiles work on this
 * one.  Stages do so whatever their sizes are, which share code.
 */
static void choose_prefetch(struct schedule *s, bool sizes_vary)
{
    const struct kernel *k = s->kernel;
    struct register_tile *t = &s->tile;
    const uint32_t b = tile_b(s);
    int64_t points = 1;

    for (uint32_t i = 0; i < k->parallel_count; i++)
        points *= tile_repeats_b(s, i) ? k->vars[i].size : 1;
    if (t->m_outer || b == KEXPR_NONE || t->unroll_from < k->reduced_count - tile_word_vars(s) ||
        (points <= t->mr && !(sizes_vary && k->contraction.m_multiple)))
        return;
    for (uint32_t i = 0; i < k->parallel_count; i++)
        if (i != s->vector_var && i != t->m_var && kaffine_coefficient(k->exprs[b].index, i) > 0)
            t->prefetch_var = i;
}

/* Returns whether the innermost loop is unrolled over the elements of a word, which are added up as floats. */
static bool adds_words(const struct schedule *s)
{
    const struct register_tile *t = &s->tile;

    return t->unroll_from < s->kernel->reduced_count && t->blocks.factor != KEXPR_NONE && t->blocks.words == KEXPR_NONE &&
           t->blocks.bytes.a == KEXPR_NONE;
}

/* Chooses how many sums take turns: a tile of few sums would wait for one addition after the other, which takes as long as
 * reading what it adds.  Of loops that are unrolled those over the elements of a word have such sums, if they are floats. */
static void choose_chains(struct schedule *s)
{
    const struct kernel *k = s->kernel;
    struct register_tile *t = &s->tile;
    const uint32_t last = k->reduced_count - 1;

    t->chains = k->reduced_count && t->mr * t->vectors <= s->facts->contraction.chained_sums &&
                        (t->unroll_from == k->reduced_count || adds_words(s)) && !t->guarded &&
                        k->vars[k->parallel_count + last].size % TILE_CHAINS_MAX == 0 &&
                        (t->split != last || t->split_steps % TILE_CHAINS_MAX == 0)
                    ? TILE_CHAINS_MAX
                    : 1;
}

/* Decides whether products of two steps are neighbouring lanes: a row of one and a half vectors takes three for both instead of
 * four, and shorter ones half the loads of A.  Even and odd lanes are added at the end. */
static void choose_interleaving(struct schedule *s, const struct target *target)
{
    const struct kernel *k = s->kernel;
    struct register_tile *t = &s->tile;
    const struct kexpr *dot = find_dot(k), *a = &k->exprs[dot->args[0]], *b = &k->exprs[dot->args[1]];
    const uint32_t last = k->parallel_count + k->reduced_count - 1;
    const int64_t vectors = ceil_div(2 * k->vars[s->vector_var].size, s->lanes);

    if (target->isa.ternary_shuffles && t->strided && k->reduced_count == 1 && vectors <= TILE_INTERLEAVED &&
        t->mr * vectors <= s->facts->contraction.tile.accumulators && t->split == KEXPR_NONE && t->unroll_from == 1 &&
        t->chains == 1 && t->prefetch_var == KEXPR_NONE && k->vars[last].size % 2 == 0 && a->op == K_LOAD &&
        k->tensors[a->tensor].type == WNNOperandDataType_Float32 && b->op == K_LOAD && b->type == KT_F32 && tile_is_a(s, a) &&
        kaffine_coefficient(a->index, last) == 1 && !kaffine_derives(k, a->index, last))
        t->interleaved = (uint32_t)vectors;
}

/* Returns how many multiply-adds an unrolled loop may have: more where it decides shifts, which are constants then. */
static int64_t unrolled_most(const struct schedule *s, uint32_t var)
{
    for (uint32_t i = 0; i < s->kernel->expr_count; i++)
        if (s->kernel->exprs[i].op == K_INDEX && kaffine_coefficient(s->kernel->exprs[i].index, var))
            return (int64_t)SHIFTS_SHARE * s->facts->contraction.unrolled_steps;
    return s->facts->contraction.unrolled_steps;
}

bool tile_choose(struct schedule *s, const struct target *target)
{
    const struct kernel *k = s->kernel;
    struct register_tile *t = &s->tile;
    int64_t points = 1;

    t->strided = is_strided(s);
    choose_mr_nr(s, target);
    t->unroll_from = k->reduced_count;
    while (t->unroll_from > 0) {
        const uint32_t var = k->parallel_count + t->unroll_from - 1;
        const int64_t size = k->vars[var].size;
        if (!kernel_sums_unroll(k, var) || points * size * t->mr * t->vectors > unrolled_most(s, var))
            break;
        points *= size;
        t->unroll_from--;
    }
    const struct sum_split split = choose_split(k, k->contraction.sum_steps ? k->contraction.sum_steps : TILE_SUM_STEPS, 1);
    t->split = split.var;
    t->split_steps = split.var == KEXPR_NONE ? 0 : split.steps;
    choose_factor(s);
    bytes_choose(s, target);
    if (!window_choose(s, target))
        return false;
    if (t->split != KEXPR_NONE && t->split >= t->unroll_from)
        t->unroll_from = t->split + 1;
    choose_guards(s);
    t->window.lines = t->zeros ? 1 : t->window.lines;
    lookups_choose(s, target);
    choose_chains(s);
    for (uint32_t i = 0; i < k->expr_count && !k->macro_tile_vars; i++) {
        const struct kexpr *x = &k->exprs[i];
        if (tile_is_operand(x) && loads_vectors(s, x) && t->m_var != KEXPR_NONE && !kaffine_coefficient(x->index, t->m_var))
            t->b_outer |= (double)k->tensors[x->tensor].elements * (double)dtype_size(k->tensors[x->tensor].type) >
                          s->facts->cache.l2_reused_share * (double)s->facts->cache.l2_bytes;
    }
    /* Sums of a panel's bytes serve all units that follow each other with it.  Prefetching the next one costs next to nothing
     * with bytes if it is in the cache, so that layers of all sizes share code. */
    const bool panels = t->blocks.bytes.a != KEXPR_NONE && t->blocks.bytes.columns && !t->blocks.bytes.own;
    const bool outer = t->b_outer || (panels && !k->macro_tile_vars);
    if (outer || k->contraction.m_multiple)
        choose_prefetch(s, target->sizes_vary);
    /* With one row hardware does not look far enough ahead for packed numbers, and begins again at each page; whole bytes and
     * floats, of which less is computed for a line, lose by requests. */
    const bool packed = adds_words(s) || (t->blocks.bytes.a != KEXPR_NONE && !t->blocks.bytes.whole);
    if (t->m_var == KEXPR_NONE && packed && !k->macro_tile_vars &&
        tile_b(s) != KEXPR_NONE) /* one word of a column alone is no operand that varies */
        t->prefetch_var = s->vector_var;
    t->b_outer = outer;
    choose_interleaving(s, target);
    return true;
}
