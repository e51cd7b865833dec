/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses the register tiles of contractions on devices with work-groups: which variables are rows and columns, how many of
 * each an item computes, and whether operands come to local memory first.
 *
 * Nothing here knows an operator.  Columns (N) are the last PARALLEL variable, along which results are neighbours.  Rows (M)
 * are variables along which an operand stays the same, so that one load serves all rows: the operand that differs
 * along N if there is such a variable (matmul, convolution in nhwc), else the other one (depthwise convolution).
 */
#include "ir/schedule/schedule_gpu_internal.h"

#include <string.h>

enum {
    ROWS_MAX = 16,
    VECTORS_MAX = 4,
    TILES_PER_LANE = 8,   /* that keep a device busy */
    SHARED_SUM_STEPS = 32 /* iterations that are added up at once where items may share those of a tile */
};

/* Describes a dot, and of each operand the variables that it differs along. */
struct contraction_view {
    uint32_t dot;
    uint64_t along[2];
    bool scattered[2]; /* along the lane variable */
};

/* ---- the kernel ---- */

/* Returns the contraction of a kernel if vectors have its type and those of all other values, else KEXPR_NONE. */
static uint32_t find_vector_dot(const struct kernel *k)
{
    const uint32_t dot = k->parallel_count > k->macro_tile_vars && k->reduced_count ? find_contraction(k) : KEXPR_NONE;
    const enum ktype type = dot == KEXPR_NONE ? KT_F64 : k->exprs[dot].type;

    for (uint32_t i = 0; i < k->expr_count; i++)
        if (k->exprs[i].type == KT_F64)
            return KEXPR_NONE;
    return type == KT_F32 || type == KT_I32 || type == KT_U32 ? dot : KEXPR_NONE;
}

/* Returns whether some load of an operand has elements along a variable that are no neighbours. */
static bool is_scattered(const struct kernel *k, const bool *used, uint32_t var)
{
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *e = &k->exprs[i];
        if (used[i] && e->op == K_LOAD && depends_on(e->vars, var) &&
            (kaffine_derives(k, e->index, var) || kaffine_coefficient(e->index, var) != 1))
            return true;
    }
    return false;
}

/* Sees which operand differs along which variable.  Returns false if there is no contraction, or one whose columns are all the
 * same: such as a convolution that sees nothing but padding. */
static bool view_contraction(const struct kernel *k, struct contraction_view *v)
{
    const uint32_t n = k->parallel_count - 1;
    struct arena arena = {0};
    bool *used = arena_array(&arena, (size_t)k->expr_count + 1, sizeof *used);

    memset(v, 0, sizeof *v);
    v->dot = find_vector_dot(k);
    for (uint32_t o = 0; v->dot != KEXPR_NONE && used && o < 2; o++) {
        const uint32_t operand = k->exprs[v->dot].args[o];
        v->along[o] = k->exprs[operand].vars;
        mark_below(k, operand, used);
        v->scattered[o] = is_scattered(k, used, n);
    }
    const bool known = v->dot != KEXPR_NONE && used;
    arena_free(&arena);
    return known && depends_on(v->along[0] | v->along[1], n);
}

/* ---- rows and columns ---- */

/* Returns the PARALLEL variables that are not the macro-tile's. */
static uint64_t own_vars(const struct kernel *k)
{
    return kvars_from(k->macro_tile_vars, k->parallel_count - k->macro_tile_vars);
}

/* Returns whether the columns' operand is computed from loaded values, as compact weights are, and the other one is not
 * theirs. */
static bool is_unpacked(const struct kernel *k, const struct contraction_view *v)
{
    const uint32_t n = k->parallel_count - 1, o = depends_on(v->along[1], n);

    return depends_on(v->along[o], n) && !depends_on(v->along[!o], n) && k->exprs[k->exprs[v->dot].args[o]].op != K_LOAD;
}

/* Finds the rows: variables along which the operand of the columns stays the same, or else the other one.  That is worth less
 * than a scale that all rows share. */
static void find_rows(const struct kernel *k, const struct contraction_view *v, struct gpu_tile *t)
{
    const uint32_t n = k->parallel_count - 1, passes = is_unpacked(k, v) ? 1 : 2;

    for (uint32_t pass = 0; pass < passes && !t->m; pass++)
        for (uint32_t o = 0; o < 2; o++)
            if (depends_on(v->along[o], n) == !pass)
                t->m |= own_vars(k) & ~kvars_from(n, 1) & ~v->along[o];
}

/* Finds the variables of M and N as a matrix multiplication has them: each of one operand.  Returns false if it is none. */
static bool find_matrices(const struct kernel *k, const struct contraction_view *v, struct gpu_tile *t)
{
    const uint32_t n = k->parallel_count - 1;

    if (depends_on(v->along[0], n) == depends_on(v->along[1], n))
        return false;
    t->operand_m = depends_on(v->along[0], n);
    const uint64_t rows = v->along[t->operand_m], columns = v->along[!t->operand_m];
    t->m = rows & ~columns & kvars_from(0, k->parallel_count);
    t->n = columns & ~rows & kvars_from(0, k->parallel_count);
    return t->m != 0;
}

/* ---- weights that are unpacked ---- */

/* Finds out whether the columns' operand is a product with a factor of a block of K.  All rows share the operand, so that there
 * is one factor for all of them. */
static void find_factor(const struct kernel *k, const struct contraction_view *v, struct gpu_tile *t)
{
    const uint32_t n = k->parallel_count - 1, o = depends_on(v->along[1], n);
    const struct kexpr *b = &k->exprs[k->exprs[v->dot].args[o]];

    t->unpacked = is_unpacked(k, v);
    const uint32_t depth = t->unpacked && b->type == KT_F32 ? find_block_factor(k, b, &t->factor, &t->unscaled) : UINT32_MAX;
    if (depth == UINT32_MAX)
        t->factor = t->unscaled = KEXPR_NONE;
    else
        t->factor_depth = depth;
}

uint64_t gpu_tile_batch(const struct kernel *k, const struct gpu_tile *t)
{
    return own_vars(k) & ~t->m & ~t->n;
}

/* ---- the cost model ---- */

static uint32_t shared_most(const struct gpu_context *c)
{
    return c->device->group_items >= 32 ? c->device->group_items / 16 : 1;
}

/* Returns how many tiles are computed one after the other: of a stage those of the item that has the most, for which its group
 * waits, else all.  Fewer than fill the device even with all items that may share K leave it idle, and take as long. */
static int64_t tiles_in_turn(const struct gpu_context *c, const struct gpu_tile *t, int64_t tiles)
{
    const int64_t least = (int64_t)c->device->compute_units * c->device->lanes * TILES_PER_LANE / shared_most(c);

    tiles *= gpu_vars_points(c->k, gpu_tile_batch(c->k, t));
    return c->stage_items ? ceil_div(tiles, c->stage_items) : c->device->tile_iterations && tiles < least ? least : tiles;
}

/* Returns the multiply-adds, or what takes as long, of one iteration of all tiles. */
static double tile_cost(const struct gpu_context *c, const struct contraction_view *v, const struct gpu_schedule *s, int64_t m,
                        int64_t n)
{
    const struct gpu_tile *t = &s->tile;
    const double unpacking = t->unpacked ? c->device->tile_unpack * t->vectors : 0;
    const double products = t->rows * t->vectors + unpacking;
    double loads = 0, cost;

    for (uint32_t o = 0; o < 2; o++) {
        const bool columns = depends_on(v->along[o], c->k->parallel_count - 1), rows = v->along[o] & t->m;
        double one = c->device->tile_load;
        if (columns && s->lanes > 1 && v->scattered[o])
            one += c->device->tile_gather * s->lanes;
        loads += one * (rows ? t->rows : 1) * (columns ? t->vectors : 1);
    }
    cost = products + 0.5 * loads; /* loads overlap with multiply-adds, as long as they are fewer */
    if (cost < loads)
        cost = loads;
    if (cost < c->device->tile_chains)
        cost = c->device->tile_chains;
    return cost * (double)tiles_in_turn(c, t, ceil_div(m, t->rows) * ceil_div(n, (int64_t)t->vectors * s->lanes));
}

static void choose_size(const struct gpu_context *c, const struct contraction_view *v, struct gpu_schedule *s)
{
    const int64_t m = gpu_vars_points(c->k, s->tile.m), n = c->k->vars[c->k->parallel_count - 1].size;
    const uint32_t lanes_most = c->choice.lanes ? c->choice.lanes : c->choice.no_lanes ? 1 : c->device->vector_lanes;
    struct gpu_schedule best = {0}, tried = *s;
    double best_cost = 0;

    for (uint32_t lanes = lanes_most; lanes; lanes /= 2) {
        if (lanes > n || (lanes > 1 && lanes < 4) || (c->choice.lanes && lanes != c->choice.lanes && best.lanes))
            continue;
        for (uint32_t rows = 1; rows <= ROWS_MAX && rows <= m; rows++)
            for (uint32_t vectors = 1; vectors <= VECTORS_MAX; vectors++) {
                if (rows * vectors * lanes > c->device->tile_numbers || (vectors > 1 && (int64_t)(vectors - 1) * lanes >= n) ||
                    (c->choice.rows && rows != c->choice.rows && c->choice.rows <= m) ||
                    (c->choice.vectors && vectors != c->choice.vectors && (int64_t)(c->choice.vectors - 1) * lanes < n))
                    continue;
                tried.lanes = lanes;
                tried.tile.rows = rows;
                tried.tile.vectors = vectors;
                double cost = tile_cost(c, v, &tried, m, n);
                if (!best.lanes || cost < best_cost) {
                    best = tried;
                    best_cost = cost;
                }
            }
    }
    if (best.lanes)
        *s = best;
}

/* ---- the index space ---- */

static void lay_global(const struct gpu_context *c, struct gpu_schedule *s)
{
    const struct gpu_tile *t = &s->tile;
    const int64_t columns = ceil_div(gpu_vars_points(c->k, t->n), (int64_t)t->vectors * s->lanes);
    const int64_t rows = ceil_div(gpu_vars_points(c->k, t->m), t->rows);
    uint32_t items = t->k_items > 1 ? c->device->group_items / t->k_items : c->device->tile_items * c->device->tile_items;

    s->dimensions[2] = gpu_tile_batch(c->k, t);
    if (items > c->device->group_items)
        items = c->device->group_items;
    if (items > columns)
        items = (uint32_t)columns;
    s->local[0] = items;
    s->global[0] = ceil_div(columns, items) * items;
    s->partial[0] = columns % items != 0;
    s->local[1] = t->k_items;
    s->global[1] = rows * t->k_items;
    s->global[2] = gpu_vars_points(c->k, s->dimensions[2]);
}

/* Returns whether an operand's neighbours in memory are neighbours along the last REDUCED variable. */
static bool is_along_k(const struct kernel *k, uint32_t expr)
{
    const uint32_t last = k->parallel_count + k->reduced_count - 1;

    while (k->exprs[expr].op != K_LOAD) { /* the load that it is computed from */
        if (k->exprs[expr].args[0] == KEXPR_NONE || k->exprs[expr].op == K_REDUCE)
            return false;
        expr = k->exprs[expr].args[0];
    }
    return kaffine_coefficient(k->exprs[expr].index, last) == 1;
}

/* Returns whether a device has room for more tiles, of which so many items share each. */
static bool has_room(const struct gpu_context *c, const struct gpu_schedule *s, uint32_t items)
{
    const struct gpu_tile *t = &s->tile;
    const int64_t tiles = ceil_div(gpu_vars_points(c->k, t->m), t->rows) * gpu_vars_points(c->k, gpu_tile_batch(c->k, t)) *
                          ceil_div(gpu_vars_points(c->k, t->n), (int64_t)t->vectors * s->lanes);

    return items * tiles < (int64_t)c->device->compute_units * c->device->lanes * TILES_PER_LANE;
}

/* Returns how many items share the iterations of a tile, where there are too few tiles for the device and K is long. */
static uint32_t share_k(const struct gpu_context *c, const struct gpu_schedule *s)
{
    uint32_t items = 1;

    if (s->sum_split == KEXPR_NONE)
        return 1;
    int64_t longest = c->k->vars[c->k->parallel_count + s->sum_split].size;
    while (items * 2 <= shared_most(c) && has_room(c, s, items) && longest / (items * 2) >= ((int64_t)s->sum_steps + 3) / 4)
        items *= 2;
    return items;
}

/* Shortens the blocks of a sum that items share, so that each of them has one at least. */
static void share_blocks(const struct kernel *k, struct gpu_schedule *s)
{
    const int64_t longest = s->sum_split == KEXPR_NONE ? 0 : k->vars[k->parallel_count + s->sum_split].size;
    const int64_t steps = ceil_div(longest, s->tile.k_items);

    if (s->tile.k_items > 1 && steps < (int64_t)s->sum_steps)
        s->sum_steps = (uint32_t)steps;
}

/* ---- the choice ---- */

static bool wants_local(const struct gpu_context *c, const struct contraction_view *v, const struct gpu_schedule *s)
{
    struct gpu_tile t = s->tile;

    if (c->stage_items || c->choice.tile_memory == GPU_MEMORY_GLOBAL || !find_matrices(c->k, v, &t))
        return false;
    return c->choice.tile_memory == GPU_MEMORY_LOCAL || c->choice.matrix_form ||
           (c->device->tile_iterations && gpu_vars_points(c->k, t.m) >= (int64_t)c->device->tile_items * 2 &&
            gpu_vars_points(c->k, t.n) >= (int64_t)c->device->tile_items * 2);
}

/* Returns whether vectors along K are better: rows of both operands are contiguous along it, and columns share too little. */
static bool is_dot_of_rows(const struct gpu_context *c, const struct contraction_view *v, const struct gpu_schedule *s)
{
    const struct kernel *k = c->k;
    const uint32_t n = k->parallel_count - 1, last = n + k->reduced_count;
    bool scattered = false, along_k = true;

    for (uint32_t o = 0; o < 2; o++) {
        scattered |= depends_on(v->along[o], n) && v->scattered[o];
        along_k &= is_along_k(k, k->exprs[v->dot].args[o]);
    }
    return scattered && along_k && k->vars[last].size >= c->device->vector_lanes && s->tile.rows < 4;
}

bool gpu_choose_tile(const struct gpu_context *c, struct gpu_schedule *s)
{
    const struct kernel *k = c->k;
    struct gpu_schedule tiled = *s;
    struct gpu_tile *t = &tiled.tile;
    struct contraction_view v;

    if (gpu_has_order(k) || !view_contraction(k, &v) || k->vars[k->parallel_count - 1].bounded)
        return false;
    t->dot = v.dot;
    t->k_items = 1;
    t->factor = t->unscaled = KEXPR_NONE;
    tiled.shape = GPU_TILES;
    for (uint32_t o = 0; o < 2; o++)
        t->along_k[o] = is_along_k(k, k->exprs[v.dot].args[o]);
    if (wants_local(c, &v, &tiled)) {
        find_matrices(k, &v, t);
        t->local_memory = true;
        gpu_lay_local_tile(c, &tiled);
        *s = tiled;
        return true;
    }
    find_rows(k, &v, t);
    t->n = kvars_from(k->parallel_count - 1, 1);
    find_factor(k, &v, t);
    choose_size(c, &v, &tiled);
    if (!t->rows || (!c->choice.rows && t->rows * t->vectors * tiled.lanes < 2) || is_dot_of_rows(c, &v, &tiled))
        return false;
    tiled.lane_var = tiled.lanes > 1 ? k->parallel_count - 1 : KEXPR_NONE;
    tiled.lane_tail = k->vars[k->parallel_count - 1].size % tiled.lanes != 0;
    const bool shares = !c->stage_items && c->device->tile_iterations && has_room(c, &tiled, 1);
    gpu_choose_split(k, shares ? SHARED_SUM_STEPS : GPU_TILE_SUM_STEPS, 1, &tiled);
    if (tiled.sum_split != KEXPR_NONE && t->factor_depth && t->factor_depth <= tiled.sum_split)
        t->factor = t->unscaled = KEXPR_NONE; /* it would have to be applied within blocks of the sum, not after them */
    if (!c->stage_items) {
        t->k_items = c->choice.k_items ? c->choice.k_items : c->device->tile_iterations ? share_k(c, &tiled) : 1;
        if (tiled.sum_split == KEXPR_NONE)
            t->k_items = 1;
        share_blocks(k, &tiled);
        lay_global(c, &tiled);
    }
    *s = tiled;
    return true;
}
