/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints what all register tiles of contractions are made of: the values of operands, accumulators, products, and the points
 * after the sums.  print_tile.c says what their names mean.
 */
#include "codegen/opencl/print_tile.h"
#include "ir/schedule/dependence.h"

/* ---- what differs within the tile ---- */

static void find_hoisted(const struct tile_printer *w, uint32_t o)
{
    const struct kernel *k = w->p->k;

    mark_below(k, w->operands[o], w->below);
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
    const uint64_t *exprs = kernel_dependences(p->k, p->arena);

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
    for (uint32_t i = 0; i < p->k->expr_count; i++)
        w->depths[i] = dependence_depth(p->k, exprs[i]);
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
        const uint32_t var = row ? w->t->m.vars[i] : w->t->n.vars[i - w->t->m.count];
        for (uint32_t o = 0; o < 2; o++)
            *(row ? &w->rows[o] : &w->columns[o]) |= depends_on(exprs[p->k->exprs[w->dot].args[o]], var);
    }
    for (uint32_t o = 0; o < 2 && !tile_multiplies_bytes(w); o++)
        find_hoisted(w, o);
}

static const char *sum_type(const struct tile_printer *w)
{
    return opencl_lane_type(w->p, w->type, tile_lanes(w));
}

/* ---- values ---- */

const char *tile_hoisted_name(const struct tile_printer *w, uint32_t expr, uint32_t r, uint32_t v)
{
    return text_of(w->p, "h%u_%u_%u", expr, r, v);
}

/* Says what an expression of operand o needs of what is known already. */
static void take_hoisted(const struct tile_printer *w, uint32_t o, uint32_t expr, uint32_t r, uint32_t v)
{
    struct printer *p = w->p;

    mark_below(p->k, expr, w->below);
    for (uint32_t i = 0; i < expr && !p->failed; i++)
        if (w->below[i] && w->hoisted[o][i] && w->depths[i] < w->depths[expr])
            know_value(p, i, named_expr(p, i, tile_hoisted_name(w, i, r, v)));
}

void set_tile_variables(const struct tile_printer *w, uint32_t o, uint32_t r, uint32_t v)
{
    for (uint32_t i = 0; i < w->t->m.count && w->rows[o]; i++)
        set_variable(w->p, w->t->m.vars[i], text_of(w->p, "x%u_%u", w->t->m.vars[i], r));
    if (w->columns[o])
        set_variable(w->p, w->t->n.vars[0], text_of(w->p, "at%u", v));
}

void put_tile_value(const struct tile_printer *w, uint32_t o, uint32_t expr, uint32_t r, uint32_t v, const char *name)
{
    struct scope scope;

    scope_enter(w->p, &scope);
    set_tile_variables(w, o, r, v);
    take_hoisted(w, o, expr, r, v);
    put_expr(w->p, expr, name);
    scope_leave(w->p, &scope);
}

void put_tile_factors(const struct tile_printer *w)
{
    for (uint32_t v = 0; v < w->t->vectors; v++)
        put_tile_value(w, w->scaled, w->t->factor, 0, v, text_of(w->p, "f%u", v));
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
    const char *products = opencl_lane_type(w->p, tile_multiplies_bytes(w) ? KT_I32 : w->type, tile_lanes(w));

    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++) {
            put_line(w->p, "%s a%u_%u = 0;", products, r, v);
            if (totals && carries(w))
                put_line(w->p, "%s s%u_%u = 0, c%u_%u = 0;", sum_type(w), r, v, r, v);
            else if (totals)
                put_line(w->p, "%s s%u_%u = 0;", sum_type(w), r, v);
            if (adds_blocks(w))
                put_line(w->p, "%s b%u_%u = 0;", sum_type(w), r, v);
        }
}

void put_tile_flush(const struct tile_printer *w)
{
    const bool multiplies = w->scaled < 2 && !w->scales_blocks;
    const char sum = adds_blocks(w) ? 'b' : 'a';

    if (!ktype_is_float(w->type))
        return;
    if (multiplies)
        put_tile_factors(w);
    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++)
            if (carries(w))
                put_line(w->p, "add_%4$s(&s%1$u_%2$u, &c%1$u_%2$u, %3$c%1$u_%2$u%5$s); %3$c%1$u_%2$u = 0;", r, v, sum,
                         lanes_suffix(w->p, w->type, tile_lanes(w)), multiplies ? text_of(w->p, " * f%u", v) : "");
            else
                put_line(w->p, "s%1$u_%2$u += %3$c%1$u_%2$u; %3$c%1$u_%2$u = 0;", r, v, sum);
}

void put_tile_scaled_block(const struct tile_printer *w)
{
    put_tile_factors(w);
    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++)
            put_line(w->p, "b%1$u_%2$u = fma(a%1$u_%2$u, (%3$s)(f%2$u), b%1$u_%2$u); a%1$u_%2$u = 0;", r, v, sum_type(w));
}

void put_tile_products(const struct tile_printer *w)
{
    struct printer *p = w->p;

    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++) {
            const char *x[3] = {NULL, NULL, text_of(p, "a%u_%u", r, v)};
            for (uint32_t o = 0; o < 2; o++)
                x[o] = text_of(p, "(%s)(p%u_%u_%u)", sum_type(w), o, w->rows[o] ? r : 0, w->columns[o] ? v : 0);
            put_operation(p, x[2], tile_lanes(w), K_FMA, w->type, w->type, x);
        }
}

void put_tile_sums(const struct tile_printer *w)
{
    struct printer *p = w->p;
    const uint32_t lanes = tile_lanes(w);
    const bool totals = p->s->sum_split != KEXPR_NONE && ktype_is_float(w->type);

    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++) {
            const char *sum;
            if (totals && !carries(w))
                sum = text_of(p, "s%u_%u", r, v);
            else if (totals)
                sum = text_of(p, "total_%s(s%u_%u, c%u_%u)", lanes_suffix(p, w->type, lanes), r, v, r, v);
            else if (w->scaled < 2 && !w->scales_blocks)
                sum = text_of(p, "a%u_%u * f%u", r, v, v);
            else
                sum = text_of(p, "%c%u_%u", adds_blocks(w) ? 'b' : 'a', r, v);
            if (lanes > 1)
                put_line(p, "vstore%u(%s, %u, sums);", lanes, sum, r * w->t->vectors + v);
            else
                put_line(p, "sums[%u] = %s;", r * w->t->vectors + v, sum);
        }
}

/* ---- the points of a tile ---- */

void put_points(struct printer *p, const char *sum, uint32_t lanes)
{
    const uint32_t dot = p->s->tile.dot;
    struct scope scope;

    scope_enter(p, &scope);
    p->lanes = lanes;
    put_line(p, "const %s v%u = %s;", opencl_lane_type(p, p->k->exprs[dot].type, lanes), dot, sum);
    know_expr(p, dot);
    put_invariants(p, p->k->phase_count);
    put_stores(p, false, p->k->phase_count);
    scope_leave(p, &scope);
}

void put_global_tile_points(const struct tile_printer *w)
{
    struct printer *p = w->p;
    const uint32_t lanes = tile_lanes(w), n = w->t->n.vars[0];

    put_line(p, "for (int r = 0; r < %u; r++) {", w->t->rows);
    put_line(p, "const $i row = m0 + r;");
    put_line(p, "if (row >= rows) break;");
    put_decode(p, &w->t->m, "row", "");
    put_line(p, "for (int v = 0; v < %u; v++) {", w->t->vectors);
    put_line(p, "const $i begin = n0 + v * %u, at = min(begin, ($i)(columns - %u));", lanes, lanes);
    if (lanes > 1) {
        put_line(p, "if (begin == at) {");
        put_line(p, "const $i x%u = at;", n);
        put_points(p, text_of(p, "vload%u(r * %u + v, sums)", lanes, w->t->vectors), lanes);
        put_line(p, "continue;");
        put_line(p, "}");
    }
    if (lanes == 1 || p->s->lane_tail) {
        put_line(p, "for ($i x%u = begin; x%u < columns; x%u++) {", n, n, n);
        put_points(p, text_of(p, "sums[(r * %u + v) * %u + x%u - at]", w->t->vectors, lanes, n), 1);
        if (lanes == 1)
            put_line(p, "break;");
        put_line(p, "}");
    }
    put_line(p, "}");
    put_line(p, "}");
}

void put_local_tile_points(const struct tile_printer *w)
{
    struct printer *p = w->p;

    put_line(p, "for (int r = 0; r < %u; r++)", w->t->rows);
    put_line(p, "for (int v = 0; v < %u; v++) {", w->t->vectors);
    put_line(p, "const $i row = m0 + item_m * %u + r, column = n0 + item_n + v * %u;", w->t->rows, w->t->items_n);
    put_line(p, "if (row < rows & column < columns) {");
    put_decode(p, &w->t->m, "row", "");
    put_decode(p, &w->t->n, "column", "");
    put_points(p, text_of(p, "sums[r * %u + v]", w->t->vectors), 1);
    put_line(p, "}");
    put_line(p, "}");
}

/* ---- sizes ---- */

void put_tile_sizes(struct printer *p)
{
    put_line(p, "const $i rows = %s, columns = %s;", product_text(p, &p->s->tile.m), product_text(p, &p->s->tile.n));
}
