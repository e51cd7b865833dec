/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses tiles of contractions for matrix instructions: those by which the items of a sub-group multiply matrices of float16
 * with sums of float32 (struct gpu_matrix_facts).
 *
 * In: a contraction whose rows belong to one operand and whose columns belong to the other one.  Out: how many sub-groups a
 * group has and what each computes, and how the operands come to local memory.  Operands have to be loads of float16 in chunks
 * of eight neighbours.  The cost of the instructions is weighed against the other tiles, so that few rows, which wait for
 * memory and not for arithmetic, stay with those.
 */
#include "ir/schedule/schedule_gpu_internal.h"

enum {
    CHUNK = GPU_MATRIX_CHUNK,
    STEPS_MOST = 128,     /* iterations of a step */
    REGISTERS_MOST = 104, /* of an item, for sums and for what it brings in a step */
    PLAIN_NUMBERS = 8,    /* rows, and columns, of an item of other tiles */
    EPILOGUE_CYCLES = 8   /* of a unit, in which it computes what follows of as many sums as a sub-group has items */
};

/* Forms of a tile: sub-groups along M and N, and rows and columns of each.  Those of few rows are for wide matrices of few
 * rows. */
static const struct gpu_matrix_tile forms[] = {
    {2, 4, 64, 32}, /* 128 x 128 */
    {2, 2, 64, 32}, /* 128 x 64 */
    {1, 4, 64, 32}, /* 64 x 128 */
    {2, 2, 32, 32}, /* 64 x 64 */
    {1, 4, 32, 32}, /* 32 x 128 */
    {1, 4, 16, 32}, /* 16 x 128 */
    {1, 4, 16, 16}, /* 16 x 64 */
};

enum { FORMS = sizeof forms / sizeof *forms };

/* ---- operands ---- */

/* Returns whether the place of a load is linear in a variable, and no guard depends on it. */
static bool is_linear(const struct kernel *k, const struct kexpr *e, uint32_t var)
{
    return !kaffine_derives(k, e->index, var) && !depends_on(kguards_vars(k, e->guard_count, e->guards), var);
}

/* Returns whether eight values of a variable, from a multiple of eight on, are contiguous in memory. */
static bool has_chunks(const struct kernel *k, const struct kexpr *e, uint32_t var)
{
    return kaffine_coefficient(e->index, var) == 1 && k->vars[var].size % CHUNK == 0 && is_linear(k, e, var);
}

/* Returns whether eight iterations, from a multiple of eight on, are contiguous in memory, as neighbours along the last
 * variable are, whichever variables they change. */
static bool has_chunks_in_k(const struct kernel *k, const struct kexpr *e, bool linear)
{
    return (linear && iterations_of(k, 0, k->reduced_count) % CHUNK == 0) ||
           has_chunks(k, e, k->parallel_count + k->reduced_count - 1);
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

/* Finds out how both operands come to local memory.  Returns false if they do not come in chunks of float16. */
static bool view_operands(const struct kernel *k, struct gpu_tile *t)
{
    for (uint32_t o = 0; o < 2; o++) {
        const struct kexpr *e = &k->exprs[k->exprs[t->dot].args[o]];
        const struct gpu_vars *rows = o == t->operand_m ? &t->m : &t->n;
        if (e->op != K_LOAD || k->tensors[e->tensor].type != WNNOperandDataType_Float16 ||
            (e->guard_count && f16_to_f32(f32_to_f16(e->bits.f32)) != e->bits.f32))
            return false;
        t->linear_k[o] = is_linear_in_k(k, e);
        if (t->along_k[o] ? !has_chunks_in_k(k, e, t->linear_k[o]) : !has_chunks(k, e, rows->vars[rows->count - 1]))
            return false;
    }
    return true;
}

/* ---- what a form needs ---- */

/* Returns the bytes of local memory of one buffer of an operand that has so many rows, or columns, in the tile. */
static uint32_t buffer_bytes(bool along_k, uint32_t rows, uint32_t k_tile)
{
    const uint32_t halves = along_k ? rows * (k_tile + CHUNK) : k_tile * (rows + CHUNK);

    return halves * (uint32_t)sizeof(uint16_t);
}

uint32_t gpu_matrix_pitch(const struct gpu_tile *t, uint32_t o)
{
    const struct gpu_matrix_tile *x = &t->matrix;
    const uint32_t rows = o == t->operand_m ? x->subgroups_m * x->rows : x->subgroups_n * x->columns;

    return CHUNK + (t->along_k[o] ? t->k_tile : rows);
}

uint32_t gpu_matrix_local_bytes(const struct gpu_tile *t)
{
    const struct gpu_matrix_tile *x = &t->matrix;
    const uint32_t operands =
        GPU_MATRIX_BUFFERS * (buffer_bytes(t->along_k[t->operand_m], x->subgroups_m * x->rows, t->k_tile) +
                              buffer_bytes(t->along_k[!t->operand_m], x->subgroups_n * x->columns, t->k_tile));
    const uint32_t sums = x->subgroups_m * x->subgroups_n * GPU_MATRIX_ROWS * (x->columns + CHUNK) * (uint32_t)sizeof(float);

    return operands > sums ? operands : sums;
}

/* Chooses the iterations of a step, `most` or fewer.  Returns false if the device has no room for a form. */
static bool choose_steps(const struct gpu_facts *d, int64_t iterations, uint32_t most, struct gpu_tile *t)
{
    t->k_tile = most;
    while (t->k_tile > GPU_MATRIX_STEPS && ((int64_t)t->k_tile / 2 >= iterations || gpu_matrix_local_bytes(t) > d->local_bytes))
        t->k_tile /= 2;
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

/* Returns the registers of an item for its sums, and for what it brings in a step. */
static uint32_t registers_for(const struct gpu_tile *t, uint32_t items)
{
    const struct gpu_matrix_tile *x = &t->matrix;
    const uint32_t height = x->subgroups_m * x->rows, width = x->subgroups_n * x->columns;

    return (height * width + (height + width) * t->k_tile / 2) / items;
}

/* Finds the form of least cost.  Steps of more iterations wait less often.  Returns false if there is none, or if other tiles
 * cost less. */
static bool choose_form(const struct gpu_context *c, const struct contraction_size *size, struct gpu_tile *t)
{
    const struct gpu_facts *d = c->device;
    double least = plain_cost(d, size);
    bool found = false;

    for (uint32_t f = 0; f < FORMS; f++)
        for (uint32_t steps = d->matrix.iterations; steps <= STEPS_MOST; steps *= 2) {
            const uint32_t items = forms[f].subgroups_m * forms[f].subgroups_n * d->matrix.items;
            struct gpu_tile tried = *t;
            tried.matrix = forms[f];
            if ((c->choice.matrix_form && c->choice.matrix_form != f + 1) || items > d->group_items ||
                !choose_steps(d, size->iterations, steps, &tried) ||
                (steps > d->matrix.iterations && registers_for(&tried, items) > REGISTERS_MOST))
                continue;
            const double cost = form_cost(d, size, &tried);
            if (cost < least || (c->choice.matrix_form && !found)) {
                *t = tried;
                least = cost;
                found = true;
            }
        }
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
