/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints what all register tiles of contractions are made of: the values of operands, accumulators, products, and the points
 * behind the sums.  print_tile.c says what their names mean.
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

void tile_find_differences(struct tile_printer *w)
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
    for (uint32_t o = 0; o < 2 && !tile_multiplies_bytes(w); o++)
        find_hoisted(w, o);
}

static struct type_text sum_type(const struct tile_printer *w)
{
    return opencl_lane_type(w->type, tile_lanes(w));
}

/* ---- values ---- */

const char *tile_hoisted_name(char *name, size_t size, uint32_t expr, uint32_t r, uint32_t v)
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
            put_line(p, "const %s v%" PRIu32 " = %s;", value_type(w, i).text, i, tile_hoisted_name(name, sizeof name, i, r, v));
            p->expr_known[i] = true;
        }
}

void put_tile_variables(const struct tile_printer *w, uint32_t o, uint32_t r, uint32_t v)
{
    struct printer *p = w->p;

    for (uint32_t i = 0; i < w->t->m.count && w->rows[o]; i++)
        put_line(p, "const %s x%" PRIu32 " = x%" PRIu32 "_%" PRIu32 ";", opencl_index_type(p), w->t->m.vars[i], w->t->m.vars[i],
                 r);
    if (w->columns[o])
        put_line(p, "const %s x%" PRIu32 " = at%" PRIu32 ";", opencl_index_type(p), w->t->n.vars[0], v);
}

void put_tile_value(const struct tile_printer *w, uint32_t o, uint32_t expr, uint32_t r, uint32_t v, const char *name)
{
    struct printer *p = w->p;
    struct scope scope;

    put_line(p, "%s %s;", value_type(w, expr).text, name);
    put_line(p, "{");
    scope_enter(p, &scope);
    put_tile_variables(w, o, r, v);
    take_hoisted(w, o, expr, r, v);
    need_expr(p, expr);
    put_line(p, "%s = v%" PRIu32 ";", name, expr);
    scope_leave(p, &scope);
    put_line(p, "}");
}

void put_tile_factors(const struct tile_printer *w)
{
    char name[24];

    for (uint32_t v = 0; v < w->t->vectors; v++) {
        snprintf(name, sizeof name, "f%" PRIu32, v);
        put_tile_value(w, w->scaled, w->t->factor, 0, v, name);
    }
}

/* ---- accumulators ---- */

/* Returns whether b is the sum of blocks that were multiplied by their scales. */
static bool adds_blocks(const struct tile_printer *w)
{
    return tile_multiplies_bytes(w) || (w->scaled < 2 && w->scales_blocks);
}

/* Returns whether what rounding loses of the sum of full blocks is carried along.  Tiles from local memory have blocks so long
 * that few are added up, and the registers would be those of another tile. */
static bool carries(const struct tile_printer *w)
{
    return !w->t->local_memory;
}

void put_tile_accumulators(const struct tile_printer *w)
{
    const bool totals = w->p->s->sum_split != KEXPR_NONE && ktype_is_float(w->type);
    const struct type_text products = opencl_lane_type(tile_multiplies_bytes(w) ? KT_I32 : w->type, tile_lanes(w));

    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++) {
            put_line(w->p, "%s a%" PRIu32 "_%" PRIu32 " = 0;", products.text, r, v);
            if (totals && carries(w))
                put_line(w->p, "%s s%" PRIu32 "_%" PRIu32 " = 0, c%" PRIu32 "_%" PRIu32 " = 0;", sum_type(w).text, r, v, r, v);
            else if (totals)
                put_line(w->p, "%s s%" PRIu32 "_%" PRIu32 " = 0;", sum_type(w).text, r, v);
            if (adds_blocks(w))
                put_line(w->p, "%s b%" PRIu32 "_%" PRIu32 " = 0;", sum_type(w).text, r, v);
        }
}

void put_tile_flush(const struct tile_printer *w)
{
    const bool multiplies = w->scaled < 2 && !w->scales_blocks;
    const char sum = adds_blocks(w) ? 'b' : 'a';
    char factor[24] = "";

    if (!ktype_is_float(w->type))
        return;
    if (multiplies)
        put_tile_factors(w);
    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++) {
            if (multiplies)
                snprintf(factor, sizeof factor, " * f%" PRIu32, v);
            if (!carries(w)) {
                put_line(w->p,
                         "s%1$" PRIu32 "_%2$" PRIu32 " += %3$c%1$" PRIu32 "_%2$" PRIu32 "; %3$c%1$" PRIu32 "_%2$" PRIu32
                         " = 0;",
                         r, v, sum);
                continue;
            }
            put_line(w->p,
                     "add_%s(&s%" PRIu32 "_%" PRIu32 ", &c%" PRIu32 "_%" PRIu32 ", %c%" PRIu32 "_%" PRIu32 "%s); %c%" PRIu32
                     "_%" PRIu32 " = 0;",
                     tile_lanes(w) > 1 ? "v" : opencl_value_type(w->type), r, v, r, v, sum, r, v, factor, sum, r, v);
        }
}

void put_tile_scaled_block(const struct tile_printer *w)
{
    const struct type_text type = sum_type(w);

    put_tile_factors(w);
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
                snprintf(sum, sizeof sum, "%c%" PRIu32 "_%" PRIu32, adds_blocks(w) ? 'b' : 'a', r, v);
            if (lanes > 1)
                put_line(p, "vstore%" PRIu32 "(%s, %" PRIu32 ", sums);", lanes, sum, r * w->t->vectors + v);
            else
                put_line(p, "sums[%" PRIu32 "] = %s;", r * w->t->vectors + v, sum);
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

void put_global_tile_points(const struct tile_printer *w)
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

void put_local_tile_points(const struct tile_printer *w)
{
    struct printer *p = w->p;
    const char *type = opencl_index_type(p);
    char sum[64];

    put_line(p, "for (int r = 0; r < %" PRIu32 "; r++)", w->t->rows);
    put_line(p, "for (int v = 0; v < %" PRIu32 "; v++) {", w->t->vectors);
    p->indent++;
    put_line(p, "const %s row = m0 + item_m * %" PRIu32 " + r, column = n0 + item_n + v * %" PRIu32 ";", type, w->t->rows,
             w->t->items_n);
    put_line(p, "if (row < rows & column < columns) {");
    p->indent++;
    put_decode(p, &w->t->m, "row", "");
    put_decode(p, &w->t->n, "column", "");
    snprintf(sum, sizeof sum, "sums[r * %" PRIu32 " + v]", w->t->vectors);
    put_points(p, sum, 1);
    p->indent--;
    put_line(p, "}");
    p->indent--;
    put_line(p, "}");
}

/* ---- sizes ---- */

void put_tile_sizes(struct printer *p)
{
    fprintf(p->out, "%*sconst %s rows = ", (int)p->indent * 2, "", opencl_index_type(p));
    put_product(p, &p->s->tile.m);
    fprintf(p->out, ", columns = ");
    put_product(p, &p->s->tile.n);
    fputs(";\n", p->out);
}
