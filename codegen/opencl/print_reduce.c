/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints reductions: accumulators, one iteration, blocks of sums, and how lanes and work-items are combined.
 *
 * The accumulator of expression e is s<e>, what rounding lost of a float sum c<e>, the block that is added to it when it is
 * full a<e>, and the place of an extreme i<e>.  Where lanes are iterations, vectors of these are ls<e>, lc<e> and la<e>.
 */
#include "codegen/lower/operation.h"
#include "codegen/opencl/internal.h"

bool is_float_sum(const struct kexpr *e)
{
    return e->op == K_REDUCE && ktype_is_float(e->type) && (e->reduce == KR_SUM || e->reduce == KR_DOT);
}

/* Returns whether each lane has an accumulator of its own here: always where lanes are iterations, else where what is reduced
 * has lanes. */
static bool is_lane_sum(const struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];

    if (p->lanes == 1)
        return false;
    return p->k->vars[p->s->lane_var].kind == KVAR_REDUCED || has_lanes(p, e->args[0]) ||
           (e->reduce == KR_DOT && has_lanes(p, e->args[1]));
}

/* Returns "l" for the accumulators of lanes that are iterations, because a scalar loop over the remaining iterations has its
 * own; else returns "". */
static const char *prefix_of(const struct printer *p)
{
    return p->lanes > 1 && p->k->vars[p->s->lane_var].kind == KVAR_REDUCED ? "l" : "";
}

/* Returns whether the accumulators of an extreme are the keys of numbers, as they are wherever they are vectors: integers that
 * are ordered like the numbers, NaN beyond all of them and -0 before +0.  Comparing keys is one instruction, for whose result
 * the next iteration waits, where comparing numbers by all rules is a chain of six. */
static bool has_keys(const struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];

    return e->op == K_REDUCE && (e->reduce == KR_MIN || e->reduce == KR_MAX) && p->k->exprs[e->args[0]].type == KT_F32 &&
           is_lane_sum(p, expr);
}

static const char *initial_key(const struct kexpr *e)
{
    return e->reduce == KR_MIN ? "0x7f800000" : "(int)0x807fffff";
}

static void put_accumulators(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const enum ktype given = e->op == K_SCAN ? e->type : p->k->exprs[e->args[0]].type;
    const bool keys = has_keys(p, expr);
    const enum ktype type = keys ? KT_I32 : given;
    const char *t = opencl_lane_type(p, type, e->op == K_REDUCE && is_lane_sum(p, expr) ? p->lanes : 1);
    const char *l = prefix_of(p);

    put_line(p, "%s %ss%u = (%s)(%s);", t, l, expr, t,
             keys ? initial_key(e) : constant_text(p, type, reduction_start(e->op == K_SCAN ? KR_SUM : e->reduce, type)));
    if (e->op == K_SCAN ? ktype_is_float(type) : is_float_sum(e))
        put_line(p, "%s %sc%u = (%s)(0);", t, l, expr, t);
    if (e->op == K_REDUCE && kexpr_is_place(e))
        put_line(p, "long i%u = -1;", expr);
}

void put_initial(struct printer *p, uint32_t expr)
{
    const uint32_t lanes = p->lanes;

    put_accumulators(p, expr);
    if (!*prefix_of(p))
        return;
    p->lanes = 1;
    put_accumulators(p, expr);
    p->lanes = lanes;
}

/* Returns the condition that value x comes before value y as an extreme; NaN comes before everything but NaN. */
static const char *better_text(struct printer *p, const struct kexpr *e, enum ktype type, const char *x, const char *y)
{
    const bool min = e->reduce == KR_ARG_MIN;

    if (type == KT_F64)
        return text_of(p, "(f64_ne(%1$s, %1$s) ? f64_eq(%2$s, %2$s) : f64_eq(%2$s, %2$s) && f64_lt(%3$s, %4$s))", x, y,
                       min ? x : y, min ? y : x);
    if (ktype_is_float(type))
        return text_of(p, "(%1$s != %1$s ? %2$s == %2$s : %2$s == %2$s && %1$s %3$s %2$s)", x, y, min ? "<" : ">");
    return text_of(p, "%s %s %s", x, min ? "<" : ">", y);
}

/* Combines an accumulator, which has so many lanes, with x (and y, of a dot). */
static void put_combination(struct printer *p, uint32_t expr, const char *to, const char *x, const char *y, uint32_t lanes)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const bool keys = lanes > 1 && has_keys(p, expr);
    const enum ktype type = keys ? KT_I32 : p->k->exprs[e->args[0]].type;

    put_operation(p, to, lanes, y ? K_FMA : reduction_operation(e->reduce), type, type,
                  y ? (const char *[]){x, y, to} : (const char *[]){to, x, NULL});
}

void put_step(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const bool lanes = is_lane_sum(p, expr);
    const char *x = operand_of(p, e->args[0], lanes);

    if (kexpr_is_place(e)) {
        const char *better = better_text(p, e, p->k->exprs[e->args[0]].type, x, text_of(p, "s%u", expr));
        const char *at = p->s->shape == GPU_ROWS ? "iteration" : iteration_text(p);
        put_line(p, "if (i%1$u < 0 || %2$s) { s%1$u = %3$s; i%1$u = %4$s; }", expr, better, x, at);
        return;
    }
    if (has_keys(p, expr))
        x = text_of(p, "%s_key_v%u(%s)", e->reduce == KR_MIN ? "min" : "max", p->lanes, x);
    put_combination(p, expr, text_of(p, "%s%c%u", prefix_of(p), is_float_sum(e) ? 'a' : 's', expr), x,
                    e->reduce == KR_DOT ? operand_of(p, e->args[1], lanes) : NULL, lanes ? p->lanes : 1);
}

/* Returns whether all iterations are one block, which is the whole sum then: rounding has lost nothing between blocks. */
static bool is_one_block(const struct printer *p)
{
    return p->s->sum_split == KEXPR_NONE && p->s->shape != GPU_ROWS;
}

static void put_blocks(struct printer *p, uint32_t phase, bool open)
{
    const char *l = prefix_of(p);

    for (uint32_t i = 0; i < p->k->expr_count; i++) {
        const struct kexpr *e = &p->k->exprs[i];
        const bool lanes = e->op == K_REDUCE && is_lane_sum(p, i);
        if (e->op != K_REDUCE || e->phase != phase || !is_float_sum(e))
            continue;
        if (open)
            put_line(p, "%s %sa%u = 0;", opencl_lane_type(p, e->type, lanes ? p->lanes : 1), l, i);
        else if (is_one_block(p))
            put_line(p, "%ss%u = %sa%u;", l, i, l, i);
        else
            put_line(p, "add_%s(&%ss%u, &%sc%u, %sa%u);", lanes_suffix(p, e->type, lanes ? p->lanes : 1), l, i, l, i, l, i);
    }
}

void put_block(struct printer *p, uint32_t phase, bool open)
{
    const uint32_t lanes = p->lanes;

    put_blocks(p, phase, open);
    if (!*prefix_of(p))
        return;
    p->lanes = 1;
    put_blocks(p, phase, open);
    p->lanes = lanes;
}

/* Returns the name of the vector whose lane i is lane i ^ step of a vector. */
static const char *exchanged(struct printer *p, const char *vector, uint32_t step)
{
    const char *text = text_of(p, "%s.s", vector);

    for (uint32_t i = 0; i < p->lanes; i++)
        text = text_of(p, "%s%x", text, i ^ step);
    return text;
}

/* Adds the lanes of a sum that is one block to the scalar one, half by half. */
static void put_lanes_of_block(struct printer *p, uint32_t expr)
{
    const char *sum = text_of(p, "ls%u", expr);

    for (uint32_t lanes = p->lanes / 2; lanes > 1; lanes /= 2) {
        const char *half = text_of(p, "half%u_%u", expr, lanes);
        put_line(p, "const %s %s = %s.lo + %s.hi;", opencl_lane_type(p, p->k->exprs[expr].type, lanes), half, sum, sum);
        sum = half;
    }
    put_line(p, "s%u += %s.lo + %s.hi;", expr, sum, sum);
}

/* Adds the accumulators of lanes that are iterations to the scalar ones: halves of vectors are combined until every lane has
 * the whole, since one lane after the other would take as long as dozens of iterations.  Of sums of blocks what rounding loses
 * is carried along, which takes several times as long as the additions: a short dot product has fewer iterations. */
static void put_lanes_together(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const enum ktype type = p->k->exprs[e->args[0]].type;
    const bool sum = is_float_sum(e), keys = has_keys(p, expr);

    if (sum && is_one_block(p)) {
        put_lanes_of_block(p, expr);
        return;
    }
    const char *ls = text_of(p, "ls%u", expr), *lc = text_of(p, "lc%u", expr), *s = text_of(p, "s%u", expr),
               *first = text_of(p, keys ? "number_of_key_v1(%s.s0)" : "%s.s0", ls);
    for (uint32_t step = p->lanes / 2; step; step /= 2) {
        const char *other = exchanged(p, ls, step);
        if (sum)
            put_line(p, "{ const %s lost = %s; add_v%u(&%s, &%s, %s); %s += lost; }", opencl_lane_type(p, type, p->lanes),
                     exchanged(p, lc, step), p->lanes, ls, lc, other, lc);
        else
            put_combination(p, expr, ls, other, NULL, p->lanes);
    }
    if (sum)
        put_line(p, "add_v1(&s%u, &c%u, %s); c%u += %s.s0;", expr, expr, first, expr, lc);
    else
        put_combination(p, expr, s, first, NULL, 1);
}

/* Combines the accumulators of items `first`, first + step and so on, below n, in y and j. */
static void put_combine_items(struct printer *p, uint32_t expr, const char *first, uint32_t step, uint32_t n)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const char *t = opencl_value_type(p, p->k->exprs[e->args[0]].type);

    put_line(p, "%s y = all%u[%s];", t, expr, first);
    if (kexpr_is_place(e))
        put_line(p, "long j = where%u[%s];", expr, first);
    put_line(p, "for (uint n = %s + %u; n < %u; n += %u) {", first, step, n, step);
    put_line(p, "const %s x = all%u[n];", t, expr);
    if (kexpr_is_place(e))
        put_line(p, "const long i = where%u[n];", expr);
    if (kexpr_is_place(e)) {
        const enum ktype type = p->k->exprs[e->args[0]].type;
        put_line(p, "if (i >= 0 && (j < 0 || %s || (!(%s) && i < j))) { y = x; j = i; }", better_text(p, e, type, "x", "y"),
                 better_text(p, e, type, "y", "x"));
    } else {
        put_combination(p, expr, "y", "x", NULL, 1);
    }
    put_line(p, "}");
}

/* Combines the items' accumulators of a reduction, so that every item has the whole one.  As many items as the square root of
 * all combine about as many accumulators each, and then every item combines theirs: reading a few numbers from local memory
 * is cheaper than barriers, of which a tree has one for each of its levels. */
static void put_combine(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const bool extreme = kexpr_is_place(e);
    const uint32_t n = p->s->local[0];
    uint32_t some = 1;

    while (some * some < n)
        some *= 2;
    put_line(p, "all%u[item] = %s%u;", expr, is_float_sum(e) ? "total" : "s", expr);
    if (extreme)
        put_line(p, "where%u[item] = i%u;", expr, expr);
    put_barrier(p);
    put_line(p, "if (item < %u) {", some);
    put_combine_items(p, expr, "item", some, n);
    put_line(p, "all%u[item] = y;", expr);
    if (extreme)
        put_line(p, "where%u[item] = j;", expr);
    put_line(p, "}");
    put_barrier(p);
    put_line(p, "%s v%u;", extreme ? "long" : opencl_value_type(p, p->k->exprs[e->args[0]].type), expr);
    put_line(p, "{");
    put_combine_items(p, expr, "0", 1, some);
    put_line(p, "v%u = %s;", expr, extreme ? "j" : "y");
    put_line(p, "}");
    put_barrier(p);
}

void put_result(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const enum ktype type = p->k->exprs[e->args[0]].type;
    const bool iterations = *prefix_of(p), lanes = !iterations && is_lane_sum(p, expr);
    const char *t = opencl_lane_type(p, type, lanes ? p->lanes : 1);

    if (iterations)
        put_lanes_together(p, expr);
    if (is_float_sum(e))
        put_line(p, "const %s total%u = total_%s(s%u, c%u);", t, expr, lanes_suffix(p, type, lanes ? p->lanes : 1), expr, expr);
    if (p->s->shape == GPU_ROWS)
        put_combine(p, expr);
    else if (is_float_sum(e))
        put_line(p, "const %s v%u = total%u;", t, expr, expr);
    else if (kexpr_is_place(e))
        put_line(p, "const long v%u = i%u;", expr, expr);
    else if (has_keys(p, expr) && !iterations)
        put_line(p, "const %s v%u = number_of_key_v%u(s%u);", t, expr, p->lanes, expr);
    else
        put_line(p, "const %s v%u = s%u;", t, expr, expr);
    know_expr(p, expr);
}
