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

#include <inttypes.h>

/* ---- operands from global memory ---- */

static void put_global_step(const struct tile_printer *w)
{
    char name[48];

    for (uint32_t o = 0; o < 2; o++)
        for (uint32_t r = 0; r < (w->rows[o] ? w->t->rows : 1); r++)
            for (uint32_t v = 0; v < (w->columns[o] ? w->t->vectors : 1); v++) {
                snprintf(name, sizeof name, "p%" PRIu32 "_%" PRIu32 "_%" PRIu32, o, r, v);
                put_tile_value(w, o, w->operands[o], r, v, name);
            }
    put_tile_products(w);
}

/* Declares what is known before the loop over the REDUCED variable `level`. */
static void put_hoisted(const struct tile_printer *w, uint32_t level)
{
    char name[48];

    for (uint32_t o = 0; o < 2; o++)
        for (uint32_t i = 0; i < w->p->k->expr_count; i++)
            for (uint32_t r = 0; w->hoisted[o][i] && w->depths[i] == level && r < (w->rows[o] ? w->t->rows : 1); r++)
                for (uint32_t v = 0; v < (w->columns[o] ? w->t->vectors : 1); v++)
                    put_tile_value(w, o, i, r, v, tile_hoisted_name(name, sizeof name, i, r, v));
}

/* Writes the loops over the REDUCED variables from `level` on. */
static void put_tile_nest(const struct tile_printer *w, uint32_t level)
{
    struct printer *p = w->p;
    const uint32_t var = p->k->parallel_count + level;
    const char *type = opencl_index_type(p);
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
        fprintf(p->out, "%*sfor (%s block = ", (int)p->indent * 2, "", type);
        if (w->t->k_items > 1)
            fprintf(p->out, "(%s)get_local_id(1) * %" PRIu32, type, p->s->sum_steps);
        else
            fputc('0', p->out);
        fputs("; block < ", p->out);
        put_size(p, var);
        fprintf(p->out, "; block += %" PRIu32 ") {\n", p->s->sum_steps * w->t->k_items);
        p->indent++;
        fprintf(p->out, "%*sconst %s end = min((%s)", (int)p->indent * 2, "", type, type);
        put_size(p, var);
        fprintf(p->out, ", block + (%s)%" PRIu32 ");\n", type, p->s->sum_steps);
    }
    if (level + 1 == p->k->reduced_count && !split && (tile_has_words(w, 0) || tile_has_words(w, 1)))
        put_line(p, "#pragma unroll");
    fprintf(p->out, "%*sfor (%s x%" PRIu32 " = %s; x%" PRIu32 " < ", (int)p->indent * 2, "", type, var, split ? "block" : "0",
            var);
    if (split)
        fputs("end", p->out);
    else
        put_size(p, var);
    fprintf(p->out, "; x%" PRIu32 "++) {\n", var);
    p->indent++;
    put_tile_nest(w, level + 1);
    if (tile_multiplies_bytes(w) && level + 1 == w->t->factor_depth)
        put_byte_block(w);
    else if (w->scaled < 2 && w->scales_blocks && level + 1 == w->t->factor_depth)
        put_tile_scaled_block(w);
    p->indent--;
    put_line(p, "}");
    if (split) {
        put_tile_flush(w);
        p->indent--;
        put_line(p, "}");
    }
}

/* ---- items that share the iterations ---- */

/* Adds up in local memory what the items of a tile have summed; only the first item goes on. */
static void put_shared_sums(const struct tile_printer *w)
{
    struct printer *p = w->p;
    const uint32_t numbers = w->t->rows * w->t->vectors * tile_lanes(w), columns = p->s->local[0];

    put_line(p, "for (int i = 0; i < %" PRIu32 "; i++) {", numbers);
    p->indent++;
    put_line(p, "shared[get_local_id(1) * %" PRIu32 " + get_local_id(0)] = sums[i];", columns);
    put_line(p, "barrier(CLK_LOCAL_MEM_FENCE);");
    put_line(p, "if (get_local_id(1) == 0)");
    put_line(p, "  for (int k = 1; k < %" PRIu32 "; k++) sums[i] %s shared[k * %" PRIu32 " + get_local_id(0)];", w->t->k_items,
             ktype_is_float(w->type) ? "+=" : "+= (uint)", columns);
    put_line(p, "barrier(CLK_LOCAL_MEM_FENCE);");
    p->indent--;
    put_line(p, "}");
    put_line(p, "if (get_local_id(1) != 0) return;");
}

/* ---- tiles from global memory ---- */

/* Writes the tile whose first row is m0 and whose first column n0.  Batch variables have the row-major number `other`. */
static void put_tile_at(const struct tile_printer *w, const struct gpu_vars *batch)
{
    struct printer *p = w->p;
    const uint32_t lanes = tile_lanes(w);
    const char *type = opencl_index_type(p);
    char name[32], suffix[16];

    put_decode(p, batch, "other", "");
    for (uint32_t r = 0; r < w->t->rows && w->t->m.count; r++) {
        put_line(p, "const %s m%" PRIu32 " = min(m0 + %" PRIu32 ", rows - 1);", type, r + 1, r);
        snprintf(name, sizeof name, "m%" PRIu32, r + 1);
        snprintf(suffix, sizeof suffix, "_%" PRIu32, r);
        put_decode(p, &w->t->m, name, suffix);
    }
    for (uint32_t v = 0; v < w->t->vectors; v++)
        put_line(p, "const %s at%" PRIu32 " = min(n0 + %" PRIu32 ", columns - %" PRIu32 ");", type, v, v * lanes, lanes);
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
    put_line(p, "%s sums[%" PRIu32 "];", opencl_value_type(w->type), w->t->rows * w->t->vectors * lanes);
    put_tile_sums(w);
    if (w->t->k_items > 1)
        put_shared_sums(w);
    put_global_tile_points(w);
}

static void put_global_tile(const struct tile_printer *w)
{
    struct printer *p = w->p;
    const char *type = opencl_index_type(p);

    put_tile_sizes(p);
    if (w->t->k_items > 1)
        put_line(p, "__local %s shared[%" PRIu32 "];", opencl_value_type(w->type), p->s->local[0] * w->t->k_items);
    put_line(p, "const %s m0 = (%s)(get_global_id(1) / %" PRIu32 ") * %" PRIu32 ", n0 = (%s)get_global_id(0) * %" PRIu32 ";",
             type, type, w->t->k_items, w->t->rows, type, tile_lanes(w) * w->t->vectors);
    if (p->s->partial[0] && w->t->k_items == 1)
        put_line(p, "if (n0 >= columns) return;");
    put_line(p, "const %s other = (%s)get_global_id(2);", type, type);
    put_tile_at(w, &p->s->dimensions[2]);
}

void put_stage_tiles(struct printer *p, const struct gpu_vars *fixed)
{
    struct tile_printer w = {.p = p, .t = &p->s->tile};
    const struct gpu_vars batch = gpu_tile_batch(p->k, w.t);
    const uint32_t width = tile_lanes(&w) * w.t->vectors;
    const char *type = opencl_index_type(p);
    struct scope scope;

    tile_find_differences(&w);
    if (p->failed)
        return;
    put_tile_sizes(p);
    put_line(p, "const %s tiles_n = (columns + %" PRIu32 ") / %" PRIu32 ", tiles_m = (rows + %" PRIu32 ") / %" PRIu32 ";", type,
             width - 1, width, w.t->rows - 1, w.t->rows);
    fprintf(p->out, "%*sfor (%s at = id; at < tiles_n * tiles_m * ", (int)p->indent * 2, "", type);
    put_product(p, &batch);
    fprintf(p->out, "; at += %" PRIu32 ") {\n", p->s->local[0]);
    scope_enter(p, &scope);
    put_decode(p, fixed, "tile", "");
    put_line(p, "const %s n0 = at %% tiles_n * %" PRIu32 ", m0 = at / tiles_n %% tiles_m * %" PRIu32 ";", type, width,
             w.t->rows);
    put_line(p, "const %s other = at / tiles_n / tiles_m;", type);
    put_tile_at(&w, &batch);
    scope_leave(p, &scope);
    put_line(p, "}");
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
