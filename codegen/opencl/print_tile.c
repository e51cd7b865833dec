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
#include <string.h>

/* ---- what differs within the tile ---- */

/* Marks the expressions that one is computed from, itself included. */
static void mark_below(const struct tile_printer *w, uint32_t expr)
{
    const struct kernel *k = w->p->k;

    memset(w->below, 0, k->expr_count * sizeof *w->below);
    w->below[expr] = true;
    for (uint32_t i = expr + 1; i-- > 0;)
        for (uint32_t a = 0; w->below[i] && a < 3; a++)
            if (k->exprs[i].args[a] != KEXPR_NONE)
                w->below[k->exprs[i].args[a]] = true;
}

/* Finds what an operand reads that fewer loops change than itself. */
static void find_hoisted(const struct tile_printer *w, uint32_t o)
{
    const struct kernel *k = w->p->k;

    mark_below(w, w->operands[o]);
    for (uint32_t i = 0; i < k->expr_count; i++)
        for (uint32_t a = 0; w->below[i] && a < kop_arity(k->exprs[i].op); a++) {
            const uint32_t arg = k->exprs[i].args[a];
            if (w->depths[arg] < w->depths[i] && k->exprs[arg].op != K_CONST && k->exprs[arg].op != K_INDEX)
                w->hoisted[o][arg] = true;
        }
}

bool tile_has_words(const struct tile_printer *w, uint32_t o)
{
    const struct kernel *k = w->p->k;
    const int64_t size = k->reduced_count ? k->vars[k->parallel_count + k->reduced_count - 1].size : 0;
    bool words = false;

    for (uint32_t i = 0; i < k->expr_count; i++)
        words |= w->hoisted[o][i] && w->depths[i] + 1 == k->reduced_count && k->exprs[i].op == K_LOAD;
    return words && size > 1 && size <= KERNEL_IMMEDIATE_MAX;
}

static void find_differences(struct tile_printer *w)
{
    struct printer *p = w->p;
    const size_t count = (size_t)p->k->expr_count + 1;
    bool vars[KERNEL_VARS_MAX], *exprs = arena_array(p->arena, count, sizeof(bool));

    w->dot = w->t->dot;
    w->type = p->k->exprs[w->dot].type;
    w->depths = arena_array(p->arena, count, sizeof *w->depths);
    w->below = arena_array(p->arena, count, sizeof *w->below);
    for (uint32_t o = 0; o < 2; o++)
        w->hoisted[o] = arena_array(p->arena, count, sizeof(bool));
    if (!exprs || !w->depths || !w->below || !w->hoisted[0] || !w->hoisted[1]) {
        p->failed = true;
        return;
    }
    gpu_depths(p->k, w->depths);
    w->scaled = 2;
    w->scales_blocks = w->t->factor_depth > (p->s->sum_split == KEXPR_NONE ? 0 : p->s->sum_split);
    for (uint32_t o = 0; o < 2; o++) {
        const struct kexpr *e = &p->k->exprs[w->operands[o] = p->k->exprs[w->dot].args[o]];
        if (w->t->factor == KEXPR_NONE || e->op != K_MUL ||
            !((e->args[0] == w->t->factor && e->args[1] == w->t->unscaled) ||
              (e->args[1] == w->t->factor && e->args[0] == w->t->unscaled)))
            continue;
        w->scaled = o;
        w->operands[o] = w->t->unscaled;
    }
    for (uint32_t i = 0; i < w->t->m.count + w->t->n.count; i++) {
        const bool row = i < w->t->m.count;
        gpu_differ_along(p->k, row ? w->t->m.vars[i] : w->t->n.vars[i - w->t->m.count], vars, exprs);
        for (uint32_t o = 0; o < 2; o++)
            *(row ? &w->rows[o] : &w->columns[o]) |= exprs[p->k->exprs[w->dot].args[o]];
    }
    for (uint32_t o = 0; o < 2; o++)
        find_hoisted(w, o);
}

static uint32_t tile_lanes(const struct tile_printer *w)
{
    return w->p->s->lanes;
}

static struct type_text sum_type(const struct tile_printer *w)
{
    return opencl_lane_type(w->type, tile_lanes(w));
}

/* ---- values ---- */

/* Returns the name of what is known of row r and vector v before the innermost loop. */
static const char *hoisted_name(char *name, size_t size, uint32_t expr, uint32_t r, uint32_t v)
{
    snprintf(name, size, "h%" PRIu32 "_%" PRIu32 "_%" PRIu32, expr, r, v);
    return name;
}

static struct type_text value_type(const struct tile_printer *w, uint32_t expr)
{
    return opencl_lane_type(w->p->k->exprs[expr].type, has_lanes(w->p, expr) ? w->p->lanes : 1);
}

/* Declares in a block what an expression of operand o needs of what is known already. */
static void take_hoisted(const struct tile_printer *w, uint32_t o, uint32_t expr, uint32_t r, uint32_t v)
{
    struct printer *p = w->p;
    char name[48];

    mark_below(w, expr);
    for (uint32_t i = 0; i < expr && !p->failed; i++)
        if (w->below[i] && w->hoisted[o][i] && w->depths[i] < w->depths[expr]) {
            put_line(p, "const %s v%" PRIu32 " = %s;", value_type(w, i).text, i, hoisted_name(name, sizeof name, i, r, v));
            p->expr_known[i] = true;
        }
}

/* Declares the value of an expression of operand o, of row r and vector v. */
static void put_value(const struct tile_printer *w, uint32_t o, uint32_t expr, uint32_t r, uint32_t v, const char *name)
{
    struct printer *p = w->p;
    struct scope scope;

    put_line(p, "%s %s;", value_type(w, expr).text, name);
    put_line(p, "{");
    scope_enter(p, &scope);
    for (uint32_t i = 0; i < w->t->m.count && w->rows[o]; i++)
        put_line(p, "const %s x%" PRIu32 " = x%" PRIu32 "_%" PRIu32 ";", opencl_index_type(p), w->t->m.vars[i], w->t->m.vars[i],
                 r);
    if (w->columns[o])
        put_line(p, "const %s x%" PRIu32 " = at%" PRIu32 ";", opencl_index_type(p), w->t->n.vars[0], v);
    take_hoisted(w, o, expr, r, v);
    need_expr(p, expr);
    put_line(p, "%s = v%" PRIu32 ";", name, expr);
    scope_leave(p, &scope);
    put_line(p, "}");
}

/* Declares the scale of each vector. */
static void put_factors(const struct tile_printer *w)
{
    char name[24];

    for (uint32_t v = 0; v < w->t->vectors; v++) {
        snprintf(name, sizeof name, "f%" PRIu32, v);
        put_value(w, w->scaled, w->t->factor, 0, v, name);
    }
}

/* ---- accumulators ---- */

/* Returns whether what rounding loses of the sum of full blocks is carried along.  Tiles from local memory have blocks so long
 * that few are added up, and the registers would be those of another tile. */
static bool carries(const struct tile_printer *w)
{
    return !w->t->local_memory;
}

void put_tile_accumulators(const struct tile_printer *w)
{
    const bool totals = w->p->s->sum_split != KEXPR_NONE && ktype_is_float(w->type);

    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++) {
            put_line(w->p, "%s a%" PRIu32 "_%" PRIu32 " = 0;", sum_type(w).text, r, v);
            if (totals && carries(w))
                put_line(w->p, "%s s%" PRIu32 "_%" PRIu32 " = 0, c%" PRIu32 "_%" PRIu32 " = 0;", sum_type(w).text, r, v, r, v);
            else if (totals)
                put_line(w->p, "%s s%" PRIu32 "_%" PRIu32 " = 0;", sum_type(w).text, r, v);
            if (w->scaled < 2 && w->scales_blocks)
                put_line(w->p, "%s b%" PRIu32 "_%" PRIu32 " = 0;", sum_type(w).text, r, v);
        }
}

void put_tile_flush(const struct tile_printer *w)
{
    const bool multiplies = w->scaled < 2 && !w->scales_blocks;
    const char sum = w->scaled < 2 && w->scales_blocks ? 'b' : 'a';
    char factor[24] = "";

    if (!ktype_is_float(w->type))
        return;
    if (multiplies)
        put_factors(w);
    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++) {
            if (multiplies)
                snprintf(factor, sizeof factor, " * f%" PRIu32, v);
            if (!carries(w)) {
                put_line(w->p,
                         "s%1$" PRIu32 "_%2$" PRIu32 " += a%1$" PRIu32 "_%2$" PRIu32 "; a%1$" PRIu32 "_%2$" PRIu32 " = 0;", r,
                         v);
                continue;
            }
            put_line(w->p,
                     "add_%s(&s%" PRIu32 "_%" PRIu32 ", &c%" PRIu32 "_%" PRIu32 ", %c%" PRIu32 "_%" PRIu32 "%s); %c%" PRIu32
                     "_%" PRIu32 " = 0;",
                     tile_lanes(w) > 1 ? "v" : opencl_value_type(w->type), r, v, r, v, sum, r, v, factor, sum, r, v);
        }
}

/* Multiplies the sums of a block by its scale, and adds them to those of the blocks before. */
static void put_scaled_block(const struct tile_printer *w)
{
    const struct type_text type = sum_type(w);

    put_factors(w);
    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++)
            put_line(w->p,
                     "b%" PRIu32 "_%" PRIu32 " = fma(a%" PRIu32 "_%" PRIu32 ", (%s)(f%" PRIu32 "), b%" PRIu32 "_%" PRIu32
                     "); a%" PRIu32 "_%" PRIu32 " = 0;",
                     r, v, r, v, type.text, v, r, v, r, v);
}

void put_tile_products(const struct tile_printer *w)
{
    struct printer *p = w->p;
    const char *u = opencl_unsigned_type(w->type);
    const struct type_text type = sum_type(w);

    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++) {
            struct operand_text x[2];
            for (uint32_t o = 0; o < 2; o++)
                snprintf(x[o].text, sizeof x[o].text, "(%s)(p%" PRIu32 "_%" PRIu32 "_%" PRIu32 ")", type.text, o,
                         w->rows[o] ? r : 0, w->columns[o] ? v : 0);
            if (ktype_is_float(w->type))
                put_line(p, "a%" PRIu32 "_%" PRIu32 " = fma(%s, %s, a%" PRIu32 "_%" PRIu32 ");", r, v, x[0].text, x[1].text, r,
                         v);
            else if (tile_lanes(w) > 1)
                put_line(p,
                         "a%" PRIu32 "_%" PRIu32 " = as_%s(as_%s%" PRIu32 "(a%" PRIu32 "_%" PRIu32 ") + as_%s%" PRIu32
                         "(%s) * as_%s%" PRIu32 "(%s));",
                         r, v, type.text, u, tile_lanes(w), r, v, u, tile_lanes(w), x[0].text, u, tile_lanes(w), x[1].text);
            else
                put_line(p, "a%" PRIu32 "_%" PRIu32 " = (%s)((%s)a%" PRIu32 "_%" PRIu32 " + (%s)%s * (%s)%s);", r, v, type.text,
                         u, r, v, u, x[0].text, u, x[1].text);
        }
}

void put_tile_sums(const struct tile_printer *w)
{
    struct printer *p = w->p;
    const uint32_t lanes = tile_lanes(w);
    const bool totals = p->s->sum_split != KEXPR_NONE && ktype_is_float(w->type);

    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++) {
            char sum[64];
            if (totals && !carries(w))
                snprintf(sum, sizeof sum, "s%" PRIu32 "_%" PRIu32, r, v);
            else if (totals)
                snprintf(sum, sizeof sum, "total_%s(s%" PRIu32 "_%" PRIu32 ", c%" PRIu32 "_%" PRIu32 ")",
                         lanes > 1 ? "v" : opencl_value_type(w->type), r, v, r, v);
            else if (w->scaled < 2 && !w->scales_blocks)
                snprintf(sum, sizeof sum, "a%" PRIu32 "_%" PRIu32 " * f%" PRIu32, r, v, v);
            else
                snprintf(sum, sizeof sum, "%c%" PRIu32 "_%" PRIu32, w->scaled < 2 ? 'b' : 'a', r, v);
            if (lanes > 1)
                put_line(p, "vstore%" PRIu32 "(%s, %" PRIu32 ", sums);", lanes, sum, r * w->t->vectors + v);
            else
                put_line(p, "sums[%" PRIu32 "] = %s;", r * w->t->vectors + v, sum);
        }
}

/* ---- operands from global memory ---- */

static void put_global_step(const struct tile_printer *w)
{
    char name[48];

    for (uint32_t o = 0; o < 2; o++)
        for (uint32_t r = 0; r < (w->rows[o] ? w->t->rows : 1); r++)
            for (uint32_t v = 0; v < (w->columns[o] ? w->t->vectors : 1); v++) {
                snprintf(name, sizeof name, "p%" PRIu32 "_%" PRIu32 "_%" PRIu32, o, r, v);
                put_value(w, o, w->operands[o], r, v, name);
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
                    put_value(w, o, i, r, v, hoisted_name(name, sizeof name, i, r, v));
}

/* Writes the loops over the REDUCED variables from `level` on. */
static void put_tile_nest(const struct tile_printer *w, uint32_t level)
{
    struct printer *p = w->p;
    const uint32_t var = p->k->parallel_count + level;
    const char *type = opencl_index_type(p);
    const bool split = level == p->s->sum_split;

    if (level == p->k->reduced_count) {
        put_global_step(w);
        return;
    }
    put_hoisted(w, level);
    if (split) {
        fprintf(p->out, "%*sfor (%s block = ", (int)p->indent * 2, "", type);
        if (w->t->k_items > 1)
            fprintf(p->out, "(%s)get_local_id(1) * %" PRIu32, type, p->s->sum_steps);
        else
            fputs(opencl_first_of(p, var), p->out);
        fputs("; block < ", p->out);
        put_end(p, var);
        fprintf(p->out, "; block += %" PRIu32 ") {\n", p->s->sum_steps * w->t->k_items);
        p->indent++;
        fprintf(p->out, "%*sconst %s end = min((%s)", (int)p->indent * 2, "", type, type);
        put_end(p, var);
        fprintf(p->out, ", block + (%s)%" PRIu32 ");\n", type, p->s->sum_steps);
    }
    if (level + 1 == p->k->reduced_count && !split && (tile_has_words(w, 0) || tile_has_words(w, 1)))
        put_line(p, "#pragma unroll");
    fprintf(p->out, "%*sfor (%s x%" PRIu32 " = %s; x%" PRIu32 " < ", (int)p->indent * 2, "", type, var,
            split ? "block" : opencl_first_of(p, var), var);
    if (split)
        fputs("end", p->out);
    else
        put_end(p, var);
    fprintf(p->out, "; x%" PRIu32 "++) {\n", var);
    p->indent++;
    put_tile_nest(w, level + 1);
    if (w->scaled < 2 && w->scales_blocks && level + 1 == w->t->factor_depth)
        put_scaled_block(w);
    p->indent--;
    put_line(p, "}");
    if (split) {
        put_tile_flush(w);
        p->indent--;
        put_line(p, "}");
    }
}

/* ---- the points of a tile ---- */

void put_points(struct printer *p, const char *sum, uint32_t lanes)
{
    const uint32_t dot = p->s->tile.dot;
    struct scope scope;

    scope_enter(p, &scope);
    p->lanes = lanes;
    put_line(p, "const %s v%" PRIu32 " = %s;", opencl_lane_type(p->k->exprs[dot].type, lanes).text, dot, sum);
    p->expr_known[dot] = true;
    put_invariants(p, p->k->phase_count);
    put_stores(p, false, p->k->phase_count);
    scope_leave(p, &scope);
}

/* Writes the rows of the tile, for results of the work-item. */
static void put_global_points(const struct tile_printer *w)
{
    struct printer *p = w->p;
    const uint32_t lanes = tile_lanes(w), n = w->t->n.vars[0];
    const char *type = opencl_index_type(p);

    put_line(p, "for (int r = 0; r < %" PRIu32 "; r++) {", w->t->rows);
    p->indent++;
    put_line(p, "const %s row = m0 + r;", type);
    put_line(p, "if (row >= rows) break;");
    put_decode(p, &w->t->m, "row", "");
    put_line(p, "for (int v = 0; v < %" PRIu32 "; v++) {", w->t->vectors);
    p->indent++;
    put_line(p, "const %s begin = n0 + v * %" PRIu32 ", at = min(begin, (%s)(columns - %" PRIu32 "));", type, lanes, type,
             lanes);
    if (lanes > 1) {
        put_line(p, "if (begin == at) {");
        p->indent++;
        put_line(p, "const %s x%" PRIu32 " = at;", type, n);
        char sum[64];
        snprintf(sum, sizeof sum, "vload%" PRIu32 "(r * %" PRIu32 " + v, sums)", lanes, w->t->vectors);
        put_points(p, sum, lanes);
        put_line(p, "continue;");
        p->indent--;
        put_line(p, "}");
    }
    if (lanes == 1 || p->s->lane_tail) {
        char sum[64];
        put_line(p, "for (%s x%" PRIu32 " = begin; x%" PRIu32 " < columns; x%" PRIu32 "++) {", type, n, n, n);
        p->indent++;
        snprintf(sum, sizeof sum, "sums[(r * %" PRIu32 " + v) * %" PRIu32 " + x%" PRIu32 " - at]", w->t->vectors, lanes, n);
        put_points(p, sum, 1);
        if (lanes == 1)
            put_line(p, "break;");
        p->indent--;
        put_line(p, "}");
    }
    p->indent--;
    put_line(p, "}");
    p->indent--;
    put_line(p, "}");
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

void put_tile_sizes(struct printer *p)
{
    fprintf(p->out, "%*sconst %s rows = ", (int)p->indent * 2, "", opencl_index_type(p));
    put_product(p, &p->s->tile.m);
    fprintf(p->out, ", columns = ");
    put_product(p, &p->s->tile.n);
    fputs(";\n", p->out);
}

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
    put_tile_accumulators(w);
    p->lanes = lanes;
    put_tile_nest(w, 0);
    if (w->scaled < 2 && !w->scales_blocks && p->s->sum_split == KEXPR_NONE)
        put_factors(w);
    p->lanes = 1;
    put_line(p, "%s sums[%" PRIu32 "];", opencl_value_type(w->type), w->t->rows * w->t->vectors * lanes);
    put_tile_sums(w);
    if (w->t->k_items > 1)
        put_shared_sums(w);
    put_global_points(w);
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

    find_differences(&w);
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

    find_differences(&w);
    if (p->failed)
        return;
    if (w.t->local_memory)
        put_local_tile(&w);
    else
        put_global_tile(&w);
}
