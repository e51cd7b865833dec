/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints the register tiles of contractions: kernels of GPU_TILES.
 *
 * A work-item keeps rows x vectors accumulators in registers.  A step of the sum loads each operand as often as it differs
 * within the tile and multiplies every row with every vector.  Then the sums go through a private array to the point's other
 * expressions, which are computed vector after vector, and where a row's columns end in the middle of one column after column.
 *
 * Rows and columns beyond the edges are computed from the last ones' operands and not stored: so nothing is read outside, and
 * the loop has no tests.
 *
 * What an operand is computed from is loaded before the loops that it does not depend on: a word of weights of 4 bits before
 * the loop over its numbers, a zero point before that over a block.  The scale of a block multiplies the block's sum.
 *
 * The code has these names: m0 is the first row, n0 the first column; x<var>_<row> is a variable of a row; at<v> is the first
 * column of vector v; a<row>_<v> is an accumulator, s and c with the same suffix are the sum of its full blocks and what
 * rounding lost of that, b is the sum of scaled blocks; p<operand>_<row>_<v> is an operand; h<expr>_<row>_<v> is what is known
 * before the innermost loop; f<v> is a scale.
 */
#include "codegen/opencl/print_tile.h"

/* ---- operands from global memory ---- */

static void put_global_step(const struct tile_printer *w)
{
    for (uint32_t o = 0; o < 2; o++)
        for (uint32_t r = 0; r < (w->rows[o] ? w->t->rows : 1); r++)
            for (uint32_t v = 0; v < (w->columns[o] ? w->t->vectors : 1); v++)
                put_tile_value(w, o, w->operands[o], r, v, text_of(w->p, "p%u_%u_%u", o, r, v));
    put_tile_products(w);
}

static void put_hoisted(const struct tile_printer *w, uint32_t level)
{
    for (uint32_t o = 0; o < 2; o++)
        for (uint32_t i = 0; i < w->p->k->expr_count; i++)
            for (uint32_t r = 0; w->hoisted[o][i] && w->depths[i] == level && r < (w->rows[o] ? w->t->rows : 1); r++)
                for (uint32_t v = 0; v < (w->columns[o] ? w->t->vectors : 1); v++)
                    put_tile_value(w, o, i, r, v, tile_hoisted_name(w, i, r, v));
}

static void put_tile_nest(const struct tile_printer *w, uint32_t level)
{
    struct printer *p = w->p;
    const uint32_t var = p->k->parallel_count + level;
    const bool split = level == p->s->sum_split;

    if (level == p->k->reduced_count - byte_products_word_vars(&w->t->bytes)) {
        if (tile_multiplies_bytes(w))
            put_byte_step(w);
        else
            put_global_step(w);
        return;
    }
    put_hoisted(w, level);
    if (split) {
        put_line(p, "for ($i block = %s; block < %s; block += %u) {",
                 w->t->k_items > 1 ? text_of(p, "($i)get_local_id(1) * %u", p->s->sum_steps) : "0", size_text(p, var),
                 p->s->sum_steps * w->t->k_items);
        put_line(p, "const $i end = min(($i)%s, block + ($i)%u);", size_text(p, var), p->s->sum_steps);
    }
    if (level + 1 == p->k->reduced_count && !split && (tile_has_words(w, 0) || tile_has_words(w, 1)))
        put_line(p, "#pragma unroll");
    put_line(p, "for ($i x%1$u = %2$s; x%1$u < %3$s; x%1$u++) {", var, split ? "block" : "0",
             split ? "end" : size_text(p, var));
    put_tile_nest(w, level + 1);
    if (tile_multiplies_bytes(w) && level + 1 == w->t->factor_depth)
        put_byte_block(w);
    else if (w->scaled < 2 && w->scales_blocks && level + 1 == w->t->factor_depth)
        put_tile_scaled_block(w);
    put_line(p, "}");
    if (split) {
        put_tile_flush(w);
        put_line(p, "}");
    }
}

/* ---- items that share the iterations ---- */

/* Adds up in local memory what the items of a tile have summed; only the first item goes on. */
static void put_shared_sums(const struct tile_printer *w)
{
    struct printer *p = w->p;
    const uint32_t numbers = w->t->rows * w->t->vectors * tile_lanes(w), columns = p->s->local[0];

    put_line(p, "for (int i = 0; i < %u; i++) {", numbers);
    put_line(p, "shared[get_local_id(1) * %u + get_local_id(0)] = sums[i];", columns);
    put_barrier(p);
    put_line(p, "if (get_local_id(1) == 0)");
    put_line(p, "  for (int k = 1; k < %u; k++) sums[i] %s shared[k * %u + get_local_id(0)];", w->t->k_items,
             ktype_is_float(w->type) ? "+=" : "+= (uint)", columns);
    put_barrier(p);
    put_line(p, "}");
    put_line(p, "if (get_local_id(1) != 0) return;");
}

/* ---- tiles from global memory ---- */

/* Writes the tile whose first row is m0 and whose first column n0.  Batch variables have the row-major number `other`. */
static void put_tile_at(const struct tile_printer *w, const struct gpu_vars *batch)
{
    struct printer *p = w->p;
    const uint32_t lanes = tile_lanes(w);

    put_decode(p, batch, "other", "");
    for (uint32_t r = 0; r < w->t->rows && w->t->m.count; r++) {
        put_line(p, "const $i m%u = min(m0 + %u, rows - 1);", r + 1, r);
        put_decode(p, &w->t->m, text_of(p, "m%u", r + 1), text_of(p, "_%u", r));
    }
    for (uint32_t v = 0; v < w->t->vectors; v++)
        put_line(p, "const $i at%u = min(n0 + %u, columns - %u);", v, v * lanes, lanes);
    if (tile_multiplies_bytes(w))
        put_byte_accumulators(w);
    else
        put_tile_accumulators(w);
    p->lanes = lanes;
    put_tile_nest(w, 0);
    if (tile_multiplies_bytes(w) && !w->t->factor_depth)
        put_byte_block(w);
    if (w->scaled < 2 && !w->scales_blocks && p->s->sum_split == KEXPR_NONE)
        put_tile_factors(w);
    p->lanes = 1;
    put_line(p, "%s sums[%u];", opencl_value_type(p, w->type), w->t->rows * w->t->vectors * lanes);
    put_tile_sums(w);
    if (w->t->k_items > 1)
        put_shared_sums(w);
    put_global_tile_points(w);
}

static void put_global_tile(const struct tile_printer *w)
{
    struct printer *p = w->p;

    put_tile_sizes(p);
    if (w->t->k_items > 1)
        put_line(p, "__local %s shared[%u];", opencl_value_type(p, w->type), p->s->local[0] * w->t->k_items);
    put_line(p, "const $i m0 = ($i)(get_global_id(1) / %u) * %u, n0 = ($i)get_global_id(0) * %u;", w->t->k_items, w->t->rows,
             tile_lanes(w) * w->t->vectors);
    if (p->s->partial[0] && w->t->k_items == 1)
        put_line(p, "if (n0 >= columns) return;");
    put_line(p, "const $i other = ($i)get_global_id(2);");
    put_tile_at(w, &p->s->dimensions[2]);
}

void put_stage_tiles(struct printer *p, const struct gpu_vars *fixed)
{
    struct tile_printer w = {.p = p, .t = &p->s->tile};
    const struct gpu_vars batch = gpu_tile_batch(p->k, w.t);
    const uint32_t width = tile_lanes(&w) * w.t->vectors;
    struct scope scope;

    tile_find_differences(&w);
    if (p->failed)
        return;
    put_tile_sizes(p);
    put_line(p, "const $i tiles_n = (columns + %u) / %u, tiles_m = (rows + %u) / %u;", width - 1, width, w.t->rows - 1,
             w.t->rows);
    open_scope(p, &scope, "for ($i at = id; at < tiles_n * tiles_m * %s; at += %u) {", product_text(p, &batch), p->s->local[0]);
    put_decode(p, fixed, "tile", "");
    put_line(p, "const $i n0 = at %% tiles_n * %u, m0 = at / tiles_n %% tiles_m * %u;", width, w.t->rows);
    put_line(p, "const $i other = at / tiles_n / tiles_m;");
    put_tile_at(&w, &batch);
    close_scope(p, &scope);
}

void put_tiles(struct printer *p)
{
    struct tile_printer w = {.p = p, .t = &p->s->tile};

    tile_find_differences(&w);
    if (p->failed)
        return;
    if (w.t->local_memory && tile_multiplies_bytes(&w))
        put_local_byte_tile(&w);
    else if (w.t->local_memory)
        put_local_tile(&w);
    else
        put_global_tile(&w);
}
