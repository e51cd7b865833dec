/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses tiles of contractions for matrix instructions: those by which the items of a sub-group multiply matrices of float16
 * with sums of float32 (struct gpu_facts).
 *
 * In: a contraction for tiles from local memory, whose rows belong to one operand and whose columns belong to the other one.
 * Out: how many sub-groups a group has and what each computes.  Operands have to be loads of float16 in chunks of eight
 * neighbours.
 */
#include "ir/schedule/schedule_gpu_internal.h"

enum { CHUNK = GPU_MATRIX_CHUNK };

/* Forms of a tile: sub-groups along M and N, rows and columns of each, and the iterations of a step, of which small tiles have
 * more, so that they wait less often.  The first one that has groups for three quarters of the units is taken, else the last.
 */
static const struct matrix_form {
    struct gpu_matrix_tile tile;
    uint32_t steps;
} forms[] = {
    {{2, 4, 64, 32}, 32},  /* 128 x 128 */
    {{2, 2, 64, 32}, 32},  /* 128 x 64 */
    {{2, 2, 32, 32}, 64},  /* 64 x 64 */
    {{1, 4, 16, 16}, 128}, /* 16 x 64 */
};

enum { FORMS = sizeof forms / sizeof *forms };

/* ---- operands ---- */

/* Returns whether eight values of a variable, from a multiple of eight on, are contiguous in memory, and no guard depends on
 * it. */
static bool has_chunks(const struct kernel *k, const struct kexpr *e, uint32_t var)
{
    return kaffine_coefficient(e->index, var) == 1 && k->vars[var].size % CHUNK == 0 && !kaffine_derives(k, e->index, var) &&
           !depends_on(kguards_vars(k, e->guard_count, e->guards), var);
}

/* Returns whether an operand comes to local memory in chunks of float16. */
static bool comes_in_chunks(const struct kernel *k, const struct gpu_tile *t, uint32_t o)
{
    const struct kexpr *e = &k->exprs[k->exprs[t->dot].args[o]];
    const struct gpu_vars *rows = o == t->operand_m ? &t->m : &t->n;

    return e->op == K_LOAD && k->tensors[e->tensor].type == WNNOperandDataType_Float16 &&
           (!e->guard_count || f16_to_f32(f32_to_f16(e->bits.f32)) == e->bits.f32) &&
           has_chunks(k, e, t->along_k[o] ? k->parallel_count + k->reduced_count - 1 : rows->vars[rows->count - 1]);
}

/* ---- local memory ---- */

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

/* ---- the choice ---- */

bool gpu_choose_matrix(const struct gpu_context *c, struct gpu_schedule *s)
{
    const struct kernel *k = c->k;
    const struct gpu_facts *d = c->device;
    const uint32_t first = c->choice.matrix_form ? c->choice.matrix_form - 1 : 0,
                   end = c->choice.matrix_form ? first + 1 : FORMS;
    struct gpu_schedule tiled = *s;
    struct gpu_tile *t = &tiled.tile;
    const struct gpu_matrix_tile *x = &t->matrix;
    bool fits = false;

    if (!d->matrix_items || k->exprs[t->dot].type != KT_F32 || !comes_in_chunks(k, t, 0) || !comes_in_chunks(k, t, 1))
        return false;
    tiled.dimensions[2] = gpu_tile_batch(k, t);
    tiled.global[2] = gpu_vars_points(k, &tiled.dimensions[2]);
    for (uint32_t f = first; f < end && f < FORMS; f++) {
        t->matrix = forms[f].tile;
        t->k_tile = forms[f].steps;
        while (t->k_tile > GPU_MATRIX_STEPS &&
               (t->k_tile / 2 >= iterations_of(k, 0, k->reduced_count) || gpu_matrix_local_bytes(t) > d->local_bytes))
            t->k_tile /= 2;
        tiled.local[0] = x->subgroups_m * x->subgroups_n * d->matrix_items;
        if (tiled.local[0] > d->group_items || gpu_matrix_local_bytes(t) > d->local_bytes)
            continue;
        const int64_t across = ceil_div(gpu_vars_points(k, &t->n), x->subgroups_n * x->columns);
        tiled.global[0] = across * tiled.local[0];
        tiled.global[1] = ceil_div(gpu_vars_points(k, &t->m), x->subgroups_m * x->rows);
        *s = tiled;
        fits = true;
        if (4 * across * tiled.global[1] * tiled.global[2] >= 3 * (int64_t)d->compute_units)
            break;
    }
    return fits;
}
