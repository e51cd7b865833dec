/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lays out tiles of contractions whose operands come to local memory: how many rows and columns an item computes, and how many
 * iterations a group brings at once.
 *
 * Devices whose sub-groups multiply matrices of float16 with sums of float32 by instructions (struct gpu_facts) do so if the
 * operands are loads of float16 in chunks of eight neighbours.
 */
#include "ir/schedule/schedule_gpu_internal.h"

enum {
    SIDES = 4,          /* powers of two that the rows, and the columns, of an item may be: two vectors from local memory */
    STEPS_LEAST = 8,    /* iterations that a group brings at once, at least */
    SHARES_MOST = 2,    /* items that share the iterations of a tile, at most */
    GROUPS_AT_ONCE = 3, /* of a compute unit */
};

uint32_t gpu_tile_width(const struct gpu_tile *t, bool rows)
{
    return rows ? t->items_m * t->rows : t->items_n * t->vectors;
}

uint32_t gpu_tile_stride(const struct gpu_tile *t, uint32_t operand)
{
    const uint32_t width = gpu_tile_width(t, operand == t->operand_m);

    if (t->matrix)
        return GPU_MATRIX_CHUNK + (t->along_k[operand] ? t->k_tile : width);
    return width + (t->along_k[operand] ? GPU_LOCAL_VECTOR : 0); /* neighbouring items write neighbouring iterations */
}

uint32_t gpu_tile_bytes(const struct gpu_tile *t)
{
    const uint32_t height = gpu_tile_width(t, true), width = gpu_tile_width(t, false);
    uint32_t operands = 0, sums = height * width * (t->k_items - 1);

    for (uint32_t o = 0; o < 2; o++)
        operands += gpu_tile_stride(t, o) * (!t->matrix || !t->along_k[o] ? t->k_tile : o == t->operand_m ? height : width);
    if (t->matrix) {
        operands = operands * GPU_MATRIX_BUFFERS / 2; /* they have 16 bits */
        sums = t->items_m * t->items_n * GPU_MATRIX_ROWS * (t->vectors + GPU_MATRIX_CHUNK);
    }
    return (operands > sums ? operands : sums) * (uint32_t)sizeof(float);
}

/* Returns how many numbers an item brings at once. */
static uint32_t brought_numbers(const struct gpu_tile *t)
{
    const uint32_t items = t->items_m * t->items_n * t->k_items;

    return (uint32_t)ceil_div((int64_t)(gpu_tile_width(t, true) + gpu_tile_width(t, false)) * t->k_tile, items);
}

/* Returns the multiply-adds of an item, or what takes as long, on the compute unit that has the most groups.  The groups that a
 * unit has at once wait for each other's loads and barriers; fewer wait for memory in every step. */
static double local_cost(const struct gpu_context *c, const struct gpu_schedule *s, int64_t m, int64_t n)
{
    const struct gpu_tile *t = &s->tile;
    const struct gpu_facts *d = c->device;
    const int64_t height = gpu_tile_width(t, true), width = gpu_tile_width(t, false);
    const int64_t groups = ceil_div(m, height) * ceil_div(n, width) * s->global[2];
    const double rounds = (double)ceil_div(groups, d->compute_units);
    const double steps = (double)ceil_div(iterations_of(c->k, 0, c->k->reduced_count), t->k_tile);
    const double loads = (double)(ceil_div(t->rows, GPU_LOCAL_VECTOR) + ceil_div(t->vectors, GPU_LOCAL_VECTOR)) * d->tile_load;
    double busy = t->rows * t->vectors + loads;

    if (busy < d->tile_chains)
        busy = d->tile_chains;
    busy = busy * t->k_tile / t->k_items + d->local.bring * (double)brought_numbers(t);
    const double waiting = (d->local.wait + busy) * (rounds > GROUPS_AT_ONCE ? rounds / GROUPS_AT_ONCE : 1);
    return steps * (busy * rounds > waiting ? busy * rounds : waiting) + (t->k_items > 1 ? 2 * d->local.wait * rounds : 0);
}

/* Takes the sizes that are tried, or what was chosen beforehand.  Returns whether the device has room for them. */
static bool take_sizes(const struct gpu_context *c, struct gpu_tile *t, uint32_t rows, uint32_t vectors, uint32_t k_items)
{
    const struct gpu_facts *d = c->device;

    t->rows = c->choice.rows ? c->choice.rows : rows;
    t->vectors = c->choice.vectors ? c->choice.vectors : vectors;
    t->k_items = k_items;
    t->items_m = t->items_n = d->tile_items;
    while (t->items_m * t->items_n > d->group_items) {
        t->items_m /= 2;
        t->items_n = t->items_n > 1 ? t->items_n / 2 : 1;
    }
    t->items_m /= t->items_m % k_items == 0 ? k_items : 1;
    return k_items == 1 || c->choice.k_items || t->items_m * t->items_n >= d->lanes;
}

/* Chooses how many rows and columns an item has, how many iterations a group brings at once, and whether items share them. Many
 * numbers in registers serve more products, but leave compute units with nothing to do; many iterations wait less often. */
static void choose_sizes(const struct gpu_context *c, struct gpu_schedule *s, int64_t m, int64_t n)
{
    const struct gpu_facts *d = c->device;
    const uint32_t most = d->tile_iterations < STEPS_LEAST ? STEPS_LEAST : d->tile_iterations;
    const uint32_t shares_least = c->choice.k_items ? c->choice.k_items : 1;
    const uint32_t shares_most = c->choice.k_items ? c->choice.k_items : !d->tile_iterations ? 1 : SHARES_MOST;
    struct gpu_schedule tried = *s;
    struct gpu_tile *t = &tried.tile;
    double least = 0;

    s->tile.rows = 0;
    for (uint32_t sides = 0; sides < SIDES * SIDES; sides++)
        for (uint32_t shares = shares_least; shares <= shares_most; shares *= 2)
            for (uint32_t k_tile = STEPS_LEAST; k_tile <= most; k_tile *= 2) {
                const bool fits = take_sizes(c, t, 1U << sides / SIDES, 1U << sides % SIDES, shares);
                t->k_tile = k_tile;
                while (t->k_tile > 1 && gpu_tile_bytes(t) > d->local_bytes)
                    t->k_tile /= 2;
                if (s->tile.rows && (!fits || t->k_tile < k_tile || t->rows * t->vectors > d->tile_numbers ||
                                     t->rows * t->vectors + brought_numbers(t) > d->tile_numbers + STEPS_LEAST))
                    continue;
                const double cost = local_cost(c, &tried, m, n);
                if (s->tile.rows && cost > least)
                    continue;
                *s = tried;
                least = cost;
            }
}

/* ---- matrix instructions ---- */

/* Forms of a tile: sub-groups along M and N, rows and columns of each, and the iterations of a step, of which small tiles have
 * more, so that they wait less often.  The first that has groups for three quarters of the units is taken, else the last. */
static const struct matrix_form {
    uint32_t items_m, items_n, rows, columns, steps;
} forms[] = {
    {2, 4, 64, 32, 32},  /* 128 x 128 */
    {2, 2, 64, 32, 32},  /* 128 x 64 */
    {2, 2, 32, 32, 64},  /* 64 x 64 */
    {1, 4, 16, 16, 128}, /* 16 x 64 */
};

enum { FORMS = sizeof forms / sizeof *forms };

/* Returns whether eight values of a variable, from a multiple of eight on, are contiguous in memory, and no guard depends on
 * it. */
static bool has_chunks(const struct kernel *k, const struct kexpr *e, uint32_t var)
{
    return kaffine_coefficient(e->index, var) == 1 && k->vars[var].size % GPU_MATRIX_CHUNK == 0 &&
           !kaffine_derives(k, e->index, var) && !depends_on(kguards_vars(k, e->guard_count, e->guards), var);
}

/* Returns whether an operand comes to local memory in chunks of float16. */
static bool comes_in_chunks(const struct kernel *k, const struct gpu_tile *t, uint32_t o)
{
    const struct kexpr *e = &k->exprs[k->exprs[t->dot].args[o]];
    const uint64_t vars = t->along_k[o] ? gpu_reduced_vars(k) : o == t->operand_m ? t->m : t->n;

    return e->op == K_LOAD && k->tensors[e->tensor].type == WNNOperandDataType_Float16 &&
           (!e->guard_count || f16_to_f32(f32_to_f16(e->bits.f32)) == e->bits.f32) && has_chunks(k, e, kvars_last(vars));
}

/* Lays the tile for matrix instructions.  Returns false, and changes nothing, if the device has none, or if operands are not
 * float16 in chunks. */
static bool choose_matrix(const struct gpu_context *c, struct gpu_schedule *s, int64_t m, int64_t n)
{
    const struct kernel *k = c->k;
    const struct gpu_facts *d = c->device;
    const uint32_t forced = c->choice.matrix_form, end = forced && forced < FORMS ? forced : FORMS;
    struct gpu_schedule tiled = *s;
    struct gpu_tile *t = &tiled.tile;

    if (!d->matrix_items || k->exprs[t->dot].type != KT_F32 || !comes_in_chunks(k, t, 0) || !comes_in_chunks(k, t, 1))
        return false;
    t->matrix = true;
    for (uint32_t f = forced ? forced - 1 : 0; f < end; f++) {
        t->items_m = forms[f].items_m;
        t->items_n = forms[f].items_n;
        t->rows = forms[f].rows;
        t->vectors = forms[f].columns;
        t->k_tile = forms[f].steps;
        while (t->k_tile > GPU_MATRIX_STEPS &&
               (t->k_tile / 2 >= iterations_of(k, 0, k->reduced_count) || gpu_tile_bytes(t) > d->local_bytes))
            t->k_tile /= 2;
        tiled.local[0] = t->items_m * t->items_n * d->matrix_items;
        if (tiled.local[0] > d->group_items || gpu_tile_bytes(t) > d->local_bytes)
            continue;
        const int64_t across = ceil_div(n, gpu_tile_width(t, false));
        tiled.global[0] = across * tiled.local[0];
        tiled.global[1] = ceil_div(m, gpu_tile_width(t, true));
        *s = tiled;
        if (4 * across * tiled.global[1] * tiled.global[2] >= 3 * (int64_t)d->compute_units)
            break;
    }
    return s->tile.matrix;
}

/* ---- the tile ---- */

void gpu_lay_local_tile(const struct gpu_context *c, struct gpu_schedule *s)
{
    struct gpu_tile *t = &s->tile;
    const int64_t m = gpu_vars_points(c->k, t->m), n = gpu_vars_points(c->k, t->n);

    s->lanes = 1;
    s->lane_var = KEXPR_NONE;
    s->lane_tail = false;
    s->dimensions[2] = gpu_tile_batch(c->k, t);
    s->global[2] = gpu_vars_points(c->k, s->dimensions[2]);
    if (choose_matrix(c, s, m, n))
        return;
    gpu_choose_split(c->k, GPU_LOCAL_SUM_STEPS, 1, s);
    choose_sizes(c, s, m, n);
    s->local[0] = t->items_n;
    s->local[1] = t->items_m;
    s->local[2] = t->k_items;
    s->global[0] = ceil_div(n, gpu_tile_width(t, false)) * t->items_n;
    s->global[1] = ceil_div(m, gpu_tile_width(t, true)) * t->items_m;
    s->global[2] *= t->k_items;
}
