/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses tiles of contractions for matrix instructions: those by which the items of a sub-group multiply matrices of float16
 * with sums of float32 (struct gpu_matrix_facts).
 *
 * In: a contraction whose rows belong to one operand and whose columns belong to the other one.  Out: how many sub-groups a
 * group has and what each computes, how the operands come to local memory, where sums are split.  Operands have to be float16
 * exactly: loaded as float16, rounded to it, or so small a whole number.  The cost of the instructions is weighed against
 * the other tiles, so that few rows, which wait for memory and not for arithmetic, stay with those.
 */
#include "ir/schedule/schedule_gpu_internal.h"

#include <string.h>

enum {
    CHUNK = GPU_MATRIX_CHUNK,
    STEPS_MOST = 128,     /* iterations of a step */
    REGISTERS_MOST = 104, /* of an item, for sums and for what it brings in a step */
    PLAIN_NUMBERS = 8,    /* rows, and columns, of an item of other tiles */
    EPILOGUE_CYCLES = 8   /* of a unit, in which it computes what follows of as many sums as a sub-group has items */
};

/* Forms of a tile: sub-groups along M and N, and rows and columns of each.  Those of few rows are for wide matrices of few
 * rows, those of few columns for the other way round. */
static const struct matrix_form {
    uint32_t subgroups_m, subgroups_n, rows, columns;
} forms[] = {
    {2, 4, 64, 32}, /* 128 x 128 */
    {2, 2, 64, 64}, /* 128 x 128, for twice the registers */
    {4, 2, 32, 64}, /* 128 x 128 */
    {2, 2, 64, 32}, /* 128 x 64 */
    {1, 4, 64, 32}, /* 64 x 128 */
    {2, 2, 32, 32}, /* 64 x 64 */
    {1, 4, 32, 32}, /* 32 x 128 */
    {4, 1, 32, 32}, /* 128 x 32 */
    {2, 2, 16, 32}, /* 32 x 64 */
    {1, 4, 16, 32}, /* 16 x 128 */
    {1, 4, 16, 16}, /* 16 x 64 */
    {4, 1, 32, 16}, /* 128 x 16 */
};

enum { FORMS = sizeof forms / sizeof *forms };

/* ---- operands ---- */

static bool is_half_number(float x)
{
    return x != x || f16_to_f32(f32_to_f16(x)) == x;
}

static void mark_halves(const struct kernel *k, bool *half)
{
    /* operations whose value is that of one of these operands, but for the sign */
    static const uint8_t passed_on[K_OP_COUNT] = {
        [K_NEG] = 1 << 0, [K_ABS] = 1 << 0, [K_MIN] = 3 << 0, [K_MAX] = 3 << 0, [K_SELECT] = 3 << 1};

    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *e = &k->exprs[i];
        half[i] = false;
        if (e->type != KT_F32)
            continue;
        const uint8_t args = passed_on[e->op];
        const enum ktype from = e->op == K_CAST ? k->exprs[e->args[0]].type : KT_F32;
        half[i] = args != 0;
        for (uint32_t a = 0; a < 3; a++)
            half[i] &= !(args >> a & 1) || half[e->args[a]];
        if (e->op == K_LOAD)
            half[i] =
                k->tensors[e->tensor].type == WNNOperandDataType_Float16 && (!e->guard_count || is_half_number(e->bits.f32));
        else if (e->op == K_CONST)
            half[i] = is_half_number(e->bits.f32);
        else if (e->op == K_ROUND_F16 || e->op == K_CAST) /* float16 has all whole numbers of 11 bits */
            half[i] = e->op == K_ROUND_F16 || from == KT_I8 || from == KT_U8 || from == KT_BOOL;
    }
}

/* Returns whether the place of a load is linear in a variable, and no guard depends on it. */
static bool is_linear(const struct kernel *k, const struct kexpr *e, uint32_t var)
{
    return !kaffine_derives(k, e->index, var) && !depends_on(kguards_vars(k, e->guard_count, e->guards), var);
}

/* Returns whether eight iterations, from a multiple of eight on, are contiguous in memory, whichever variables they change. */
static bool has_chunks_in_k(const struct kernel *k, const struct kexpr *e, bool linear)
{
    return linear && iterations_of(k, 0, k->reduced_count) % CHUNK == 0 &&
           kaffine_coefficient(e->index, k->parallel_count + k->reduced_count - 1) == 1;
}

/* Returns whether eight values of a variable, from a multiple of eight on, are contiguous in memory. */
static bool has_chunks(const struct kernel *k, const struct kexpr *e, uint32_t var)
{
    return kaffine_coefficient(e->index, var) == 1 && k->vars[var].size % CHUNK == 0 && is_linear(k, e, var);
}

static bool is_linear_in_k(const struct kernel *k, const struct kexpr *e)
{
    const uint32_t first = k->parallel_count, last = first + k->reduced_count - 1;

    for (uint32_t r = first; r <= last; r++)
        if (!is_linear(k, e, r) || (r < last && kaffine_coefficient(e->index, r) !=
                                                    kaffine_coefficient(e->index, r + 1) * (int64_t)k->vars[r + 1].size))
            return false;
    return true;
}

/* Finds out how both operands come to local memory.  Returns false if they are not float16, or if memory runs out. */
static bool view_operands(const struct kernel *k, struct gpu_tile *t)
{
    struct arena arena = {0};
    bool *halves = arena_array(&arena, (size_t)k->expr_count + 1, sizeof *halves);
    bool good = halves != NULL;

    if (good)
        mark_halves(k, halves);
    for (uint32_t o = 0; good && o < 2; o++)
        good = halves[k->exprs[t->dot].args[o]];
    for (uint32_t o = 0; good && o < 2; o++) {
        const struct kexpr *e = &k->exprs[k->exprs[t->dot].args[o]];
        const struct gpu_vars *rows = o == t->operand_m ? &t->m : &t->n;
        t->matrix.bring[o] = GPU_BRING_ELEMENTS;
        t->matrix.linear_k[o] = false;
        if (e->op != K_LOAD)
            continue;
        t->matrix.linear_k[o] = is_linear_in_k(k, e);
        if (has_chunks_in_k(k, e, t->matrix.linear_k[o]) || has_chunks(k, e, k->parallel_count + k->reduced_count - 1))
            t->matrix.bring[o] = GPU_BRING_ALONG_K;
        else if (has_chunks(k, e, rows->vars[rows->count - 1]))
            t->matrix.bring[o] = GPU_BRING_ALONG_ROWS;
    }
    arena_free(&arena);
    return good;
}

/* ---- what a form needs ---- */

/* Returns the bytes of local memory of one buffer of an operand that has so many rows, or columns, in the tile. */
static uint32_t buffer_bytes(enum gpu_bring bring, uint32_t rows, uint32_t k_tile)
{
    const uint32_t halves = bring == GPU_BRING_ALONG_ROWS ? k_tile * (rows + CHUNK) : rows * (k_tile + CHUNK);

    return halves * (uint32_t)sizeof(uint16_t);
}

uint32_t gpu_matrix_pitch(const struct gpu_tile *t, uint32_t o)
{
    const struct gpu_matrix_tile *x = &t->matrix;
    const uint32_t rows = o == t->operand_m ? x->subgroups_m * x->rows : x->subgroups_n * x->columns;

    return CHUNK + (x->bring[o] == GPU_BRING_ALONG_ROWS ? rows : t->k_tile);
}

uint32_t gpu_matrix_local_bytes(const struct gpu_tile *t)
{
    const struct gpu_matrix_tile *x = &t->matrix;
    const uint32_t operands =
        GPU_MATRIX_BUFFERS * (buffer_bytes(x->bring[t->operand_m], x->subgroups_m * x->rows, t->k_tile) +
                              buffer_bytes(x->bring[!t->operand_m], x->subgroups_n * x->columns, t->k_tile));
    const uint32_t sums = x->subgroups_m * x->subgroups_n * GPU_MATRIX_ROWS * (x->columns + CHUNK) * (uint32_t)sizeof(float);

    return operands > sums ? operands : sums;
}

/* Chooses the iterations of a step, `most` or fewer, and where sums are split so that their error stays that of sums of
 * float32: a sum of n products may lose n + 1 units, and one of blocks loses `error` for each product of a block and 1 for each
 * block.  Returns false if there are too few iterations for that. */
static bool choose_steps(const struct gpu_facts *d, int64_t iterations, uint32_t most, struct gpu_tile *t)
{
    t->k_tile = most;
    while (t->k_tile > GPU_MATRIX_STEPS &&
           ((int64_t)t->k_tile / 2 >= iterations || gpu_matrix_local_bytes(t) > d->local_bytes ||
            (d->matrix.error > 1 && 2 * d->matrix.error * t->k_tile > (double)iterations)))
        t->k_tile /= 2;
    t->matrix.sum_steps = 0;
    if (d->matrix.error > 1) {
        int64_t block = (int64_t)((double)iterations / (2 * d->matrix.error));
        if (block > GPU_TILE_SUM_STEPS)
            block = GPU_TILE_SUM_STEPS;
        t->matrix.sum_steps = (uint32_t)(block / t->k_tile * t->k_tile);
        if (!t->matrix.sum_steps)
            return false;
    }
    return gpu_matrix_local_bytes(t) <= d->local_bytes;
}

/* ---- the cost model ---- */

/* Holds the sizes of a contraction. */
struct contraction_size {
    int64_t m, n, batch, iterations;
};

/* Returns the cycles of the device for a form: a unit computes its groups two at a time, and each step of a group takes as long
 * as its instructions, its use of local memory, its loads, or its waiting for these, which other groups' steps make shorter. */
static double form_cost(const struct gpu_facts *d, const struct contraction_size *size, const struct gpu_tile *t)
{
    const struct gpu_matrix_tile *x = &t->matrix;
    const int64_t rows = x->subgroups_m * x->rows, columns = x->subgroups_n * x->columns;
    const int64_t groups = ceil_div(size->m, rows) * ceil_div(size->n, columns) * size->batch;
    const double rounds = (double)ceil_div(groups, d->compute_units), steps = (double)ceil_div(size->iterations, t->k_tile);
    const double products = (double)(rows * columns) * t->k_tile / d->matrix.products;
    const double loaded = (double)(rows + columns) * t->k_tile * sizeof(uint16_t);
    const double fragments = (double)x->subgroups_m * x->subgroups_n * (x->rows + x->columns) * t->k_tile * sizeof(uint16_t);
    const double loading = loaded / d->matrix.global_bytes, moving = (loaded + fragments) / d->matrix.local_bytes;
    const double waiting = (d->matrix.latency + loading) * (rounds > 1 ? rounds / 2 : 1);
    double busy = products > moving ? products : moving;

    busy = (busy > loading ? busy : loading) * rounds;
    return (steps + 1) * (busy > waiting ? busy : waiting) +
           rounds * (double)(rows * columns) / d->matrix.items * EPILOGUE_CYCLES;
}

/* Returns the cycles of the device for other tiles (schedule_gpu_tile.c).  Those of few rows or columns are spread over all
 * units; the others belong to groups, and where there are few of these, units have nothing to do. */
static double plain_cost(const struct gpu_facts *d, const struct contraction_size *size)
{
    const int64_t side = (int64_t)d->tile_items * PLAIN_NUMBERS;
    const int64_t rows = size->m < side ? size->m : side, columns = size->n < side ? size->n : side;
    const int64_t groups = ceil_div(size->m, rows) * ceil_div(size->n, columns) * size->batch;
    const bool spread = size->m < 2 * (int64_t)d->tile_items || size->n < 2 * (int64_t)d->tile_items;
    const double each = (double)(rows * columns) * (double)size->iterations / d->matrix.plain_products;

    return each * (spread ? (double)groups / d->compute_units : (double)ceil_div(groups, d->compute_units));
}

/* Gives a tile a form and the iterations of a step.  Returns false if it does not fit the device. */
static bool take_form(const struct gpu_context *c, const struct matrix_form *f, const struct contraction_size *size,
                      uint32_t most, struct gpu_tile *t)
{
    const struct gpu_facts *d = c->device;
    const uint32_t items = f->subgroups_m * f->subgroups_n * d->matrix.items, sums = f->rows * f->columns / d->matrix.items;

    t->matrix.subgroups_m = f->subgroups_m;
    t->matrix.subgroups_n = f->subgroups_n;
    t->matrix.rows = f->rows;
    t->matrix.columns = f->columns;
    return items <= d->group_items && choose_steps(d, size->iterations, most, t) &&
           (c->choice.matrix_form || sums * (t->matrix.sum_steps ? 2 : 1) <= d->matrix.sums);
}

/* Returns the registers of an item for its sums, and for what it brings in a step. */
static uint32_t registers_for(const struct matrix_form *f, uint32_t k_tile, uint32_t items)
{
    const uint32_t halves = (f->subgroups_m * f->rows + f->subgroups_n * f->columns) * k_tile;

    return f->subgroups_m * f->subgroups_n * f->rows * f->columns / items + halves / 2 / items;
}

/* Finds the form of least cost.  Steps of more iterations wait less often.  Returns
 * false if there is none, or if other tiles cost less. */
static bool choose_form(const struct gpu_context *c, const struct contraction_size *size, struct gpu_tile *t)
{
    const struct gpu_facts *d = c->device;
    struct gpu_tile best = *t;
    double best_cost = plain_cost(d, size);
    bool found = false;

    for (uint32_t f = 0; f < FORMS; f++) {
        const uint32_t items = forms[f].subgroups_m * forms[f].subgroups_n * d->matrix.items;
        for (uint32_t k = d->matrix.iterations; k <= STEPS_MOST; k *= 2) {
            struct gpu_tile tried = *t;
            if ((c->choice.matrix_form && c->choice.matrix_form != f + 1) ||
                (k > d->matrix.iterations && registers_for(&forms[f], k, items) > REGISTERS_MOST) ||
                !take_form(c, &forms[f], size, k, &tried))
                continue;
            double cost = form_cost(d, size, &tried);
            if (cost < best_cost || (c->choice.matrix_form && !found)) {
                best = tried;
                best_cost = cost;
                found = true;
            }
        }
    }
    if (found)
        *t = best;
    return found;
}

bool gpu_choose_matrix(const struct gpu_context *c, struct gpu_schedule *s)
{
    const struct kernel *k = c->k;
    struct gpu_schedule tiled = *s;
    struct gpu_tile *t = &tiled.tile;
    struct contraction_size size = {
        .m = gpu_vars_points(k, &t->m), .n = gpu_vars_points(k, &t->n), .iterations = iterations_of(k, 0, k->reduced_count)};

    if (!c->device->matrix.items || k->exprs[t->dot].type != KT_F32 || !view_operands(k, t))
        return false;
    tiled.dimensions[2] = gpu_tile_batch(k, t);
    size.batch = gpu_vars_points(k, &tiled.dimensions[2]);
    if (!choose_form(c, &size, t))
        return false;
    t->local_memory = true;
    tiled.local[0] = t->matrix.subgroups_m * t->matrix.subgroups_n * c->device->matrix.items;
    tiled.global[0] = ceil_div(size.n, t->matrix.subgroups_n * t->matrix.columns) * tiled.local[0];
    tiled.global[1] = ceil_div(size.m, t->matrix.subgroups_m * t->matrix.rows);
    tiled.global[2] = size.batch;
    *s = tiled;
    return true;
}
