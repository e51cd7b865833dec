/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints reductions: accumulators, one iteration, blocks of sums, and how lanes and work-items are combined.
 *
 * The accumulator of expression e is s<e>, what rounding lost of a float sum c<e>, the block that is added to it when it is
 * full a<e>, and the place of an extreme i<e>.  Where lanes are iterations, vectors of these are ls<e>, lc<e> and la<e>.
 */
#include "codegen/opencl/internal.h"

#include <inttypes.h>

bool is_float_sum(const struct kexpr *e)
{
    return e->op == K_REDUCE && ktype_is_float(e->type) && (e->reduce == KR_SUM || e->reduce == KR_DOT);
}

/* Returns the largest value of a type if `max` holds, else the smallest. */
static const char *end_of_range(enum ktype t, bool max)
{
    static const char *const ends[KT_COUNT][2] = {[KT_BOOL] = {"0", "1"},
                                                  [KT_F32] = {"-INFINITY", "INFINITY"},
                                                  [KT_F64] = {"f64_of_float(-INFINITY)", "f64_of_float(INFINITY)"},
                                                  [KT_I8] = {"CHAR_MIN", "CHAR_MAX"},
                                                  [KT_U8] = {"0", "UCHAR_MAX"},
                                                  [KT_I32] = {"INT_MIN", "INT_MAX"},
                                                  [KT_U32] = {"0", "UINT_MAX"},
                                                  [KT_I64] = {"LONG_MIN", "LONG_MAX"},
                                                  [KT_U64] = {"0", "ULONG_MAX"}};

    return ends[t][max];
}

/* Returns whether each lane has an accumulator of its own here: always where lanes are iterations, else where what is reduced
 * has lanes. */
static bool is_lane_sum(const struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];

    if (p->lanes == 1)
        return false;
    return p->k->vars[p->s->lane_var].kind == KVAR_REDUCED || p->expr_lanes[e->args[0]] ||
           (e->reduce == KR_DOT && p->expr_lanes[e->args[1]]);
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

static const char *initial_of(const struct kexpr *e, enum ktype type)
{
    if (e->op == K_SCAN || e->reduce == KR_SUM || e->reduce == KR_DOT)
        return "0"; /* whose bits are 0 in every type */
    if (e->reduce == KR_PRODUCT)
        return type == KT_F64 ? "f64_of_float(1)" : "1";
    return end_of_range(type, e->reduce == KR_MIN || e->reduce == KR_ARG_MIN);
}

/* Returns the key of the extreme of no numbers. */
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
    const struct type_text t = opencl_lane_type(type, e->op == K_REDUCE && is_lane_sum(p, expr) ? p->lanes : 1);
    const char *l = prefix_of(p);

    put_line(p, "%s %ss%" PRIu32 " = (%s)(%s);", t.text, l, expr, t.text, keys ? initial_key(e) : initial_of(e, type));
    if (e->op == K_SCAN ? ktype_is_float(type) : is_float_sum(e))
        put_line(p, "%s %sc%" PRIu32 " = (%s)(0);", t.text, l, expr, t.text);
    if (e->op == K_REDUCE && kexpr_is_place(e))
        put_line(p, "long i%" PRIu32 " = -1;", expr);
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

/* Writes the condition that value x comes before value y as an extreme; NaN comes before everything but NaN. */
static void put_better(struct printer *p, const struct kexpr *e, enum ktype type, const char *x, const char *y)
{
    const char *sign = e->reduce == KR_ARG_MIN ? "<" : ">";

    if (type == KT_F64)
        fprintf(p->out, "(f64_ne(%s, %s) ? f64_eq(%s, %s) : f64_eq(%s, %s) && f64_lt(%s, %s))", x, x, y, y, y, y,
                *sign == '<' ? x : y, *sign == '<' ? y : x);
    else if (ktype_is_float(type))
        fprintf(p->out, "(%s != %s ? %s == %s : %s == %s && %s %s %s)", x, x, y, y, y, y, x, sign, y);
    else
        fprintf(p->out, "%s %s %s", x, sign, y);
}

/* Writes what one value, or a vector of values, does to an accumulator of integers. */
static void put_integer_sum(struct printer *p, const char *s, uint32_t expr, const char *x, const char *y, uint32_t lanes)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const enum ktype type = p->k->exprs[e->args[0]].type;
    const char *t = opencl_value_type(type), *u = opencl_unsigned_type(type);

    if (lanes > 1) {
        const struct type_text v = opencl_lane_type(type, lanes);
        char cast[24];
        snprintf(cast, sizeof cast, "as_%s%" PRIu32, u, lanes);
        put_line(p, "%s = as_%s(%s(%s) %s %s(%s)%s%s%s%s%s);", s, v.text, cast, s, e->reduce == KR_PRODUCT ? "*" : "+", cast, x,
                 y ? " * " : "", y ? cast : "", y ? "(" : "", y ? y : "", y ? ")" : "");
        return;
    }
    put_line(p, "%s = (%s)((ulong)%s %s (ulong)%s%s%s);", s, t, s, e->reduce == KR_PRODUCT ? "*" : "+", x,
             y ? " * (ulong)" : "", y ? y : "");
}

/* Combines accumulator s, which has so many lanes, with x (and y, of a dot). */
static void put_combination(struct printer *p, uint32_t expr, const char *s, const char *a, const char *x, const char *y,
                            uint32_t lanes)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const enum ktype type = p->k->exprs[e->args[0]].type;
    const char *t = opencl_value_type(type);
    const char *extreme = e->reduce == KR_MIN || e->reduce == KR_ARG_MIN ? "min" : "max";

    switch (e->reduce) {
    case KR_SUM:
    case KR_DOT:
        if (!ktype_is_float(type))
            put_integer_sum(p, s, expr, x, y, lanes);
        else if (type == KT_F64 && y)
            put_line(p, "%s = f64_fma(%s, %s, %s);", a, x, y, a);
        else if (type == KT_F64)
            put_line(p, "%s = f64_add(%s, %s);", a, a, x);
        else if (y)
            put_line(p, "%s = fma(%s, %s, %s);", a, x, y, a);
        else
            put_line(p, "%s += %s;", a, x);
        return;
    case KR_PRODUCT:
        if (type == KT_F64)
            put_line(p, "%s = f64_mul(%s, %s);", s, s, x);
        else if (ktype_is_float(type))
            put_line(p, "%s *= %s;", s, x);
        else
            put_integer_sum(p, s, expr, x, NULL, lanes);
        return;
    default:
        if (!ktype_is_float(type))
            put_line(p, "%s = %s(%s, %s);", s, extreme, s, x);
        else if (lanes > 1)
            put_line(p, "%s = %s(%s, %s_key_v(%s));", s, extreme, s, extreme, x);
        else
            put_line(p, "%s = %s_%s(%s, %s);", s, extreme, t, s, x);
    }
}

void put_step(struct printer *p, uint32_t expr, const char *iteration)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const bool lanes = is_lane_sum(p, expr);
    const struct operand_text x = operand_of(p, e->args[0], lanes);
    const char *l = prefix_of(p);
    struct operand_text y = {""};
    char s[24], a[24];

    if (kexpr_is_place(e)) {
        snprintf(s, sizeof s, "s%" PRIu32, expr);
        fprintf(p->out, "%*sif (i%" PRIu32 " < 0 || ", (int)p->indent * 2, "", expr);
        put_better(p, e, p->k->exprs[e->args[0]].type, x.text, s);
        fprintf(p->out, ") { s%" PRIu32 " = %s; i%" PRIu32 " = %s; }\n", expr, x.text, expr, iteration);
        return;
    }
    if (e->reduce == KR_DOT)
        y = operand_of(p, e->args[1], lanes);
    snprintf(s, sizeof s, "%ss%" PRIu32, l, expr);
    snprintf(a, sizeof a, "%sa%" PRIu32, l, expr);
    put_combination(p, expr, s, a, x.text, e->reduce == KR_DOT ? y.text : NULL, lanes ? p->lanes : 1);
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
            put_line(p, "%s %sa%" PRIu32 " = 0;", opencl_lane_type(e->type, lanes ? p->lanes : 1).text, l, i);
        else if (is_one_block(p))
            put_line(p, "%ss%" PRIu32 " = %sa%" PRIu32 ";", l, i, l, i);
        else
            put_line(p, "add_%s(&%ss%" PRIu32 ", &%sc%" PRIu32 ", %sa%" PRIu32 ");", lanes ? "v" : opencl_value_type(e->type),
                     l, i, l, i, l, i);
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
static struct operand_text exchanged(const char *vector, uint32_t lanes, uint32_t step)
{
    struct operand_text text;
    int length = snprintf(text.text, sizeof text.text, "%s.s", vector);

    for (uint32_t i = 0; i < lanes; i++)
        length += snprintf(text.text + length, sizeof text.text - (size_t)length, "%x", i ^ step);
    return text;
}

/* Adds the lanes of a sum that is one block to the scalar one, half by half. */
static void put_lanes_of_block(struct printer *p, uint32_t expr)
{
    const enum ktype type = p->k->exprs[expr].type;
    char sum[24];

    snprintf(sum, sizeof sum, "ls%" PRIu32, expr);
    for (uint32_t lanes = p->lanes / 2; lanes > 1; lanes /= 2) {
        put_line(p, "const %s half%" PRIu32 "_%" PRIu32 " = %s.lo + %s.hi;", opencl_lane_type(type, lanes).text, expr, lanes,
                 sum, sum);
        snprintf(sum, sizeof sum, "half%" PRIu32 "_%" PRIu32, expr, lanes);
    }
    put_line(p, "s%" PRIu32 " += %s.lo + %s.hi;", expr, sum, sum);
}

/* Adds the accumulators of lanes that are iterations to the scalar ones: halves of vectors are combined until every lane has
 * the whole, since one lane after the other would take as long as dozens of iterations.  Of sums of blocks what rounding loses
 * is carried along, which takes several times as long as the additions: a short dot product has fewer iterations. */
static void put_lanes_together(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const enum ktype type = p->k->exprs[e->args[0]].type;
    const char *t = opencl_value_type(type);
    const bool sum = is_float_sum(e);
    const bool keys = has_keys(p, expr);
    char ls[24], lc[24], s[24], first[48];

    if (sum && is_one_block(p)) {
        put_lanes_of_block(p, expr);
        return;
    }
    snprintf(ls, sizeof ls, "ls%" PRIu32, expr);
    snprintf(lc, sizeof lc, "lc%" PRIu32, expr);
    snprintf(s, sizeof s, "s%" PRIu32, expr);
    snprintf(first, sizeof first, keys ? "number_of_key(%s.s0)" : "%s.s0", ls);
    for (uint32_t step = p->lanes / 2; step; step /= 2) {
        const struct operand_text other = exchanged(ls, p->lanes, step);
        if (sum)
            put_line(p, "{ const %s lost = %s; add_v(&%s, &%s, %s); %s += lost; }", opencl_lane_type(type, p->lanes).text,
                     exchanged(lc, p->lanes, step).text, ls, lc, other.text, lc);
        else if (keys)
            put_line(p, "%s = %s(%s, %s);", ls, e->reduce == KR_MIN ? "min" : "max", ls, other.text);
        else
            put_combination(p, expr, ls, ls, other.text, NULL, p->lanes);
    }
    if (sum)
        put_line(p, "add_%s(&s%" PRIu32 ", &c%" PRIu32 ", %s); c%" PRIu32 " += %s.s0;", t, expr, expr, first, expr, lc);
    else
        put_combination(p, expr, s, s, first, NULL, 1);
}

/* Adds another item's accumulator x, of an extreme found at i, to y, found at j. */
static void put_other_item(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const enum ktype type = p->k->exprs[e->args[0]].type;

    switch (e->reduce) {
    case KR_SUM:
    case KR_DOT:
        put_line(p, type == KT_F64 ? "y = f64_add(y, x);" : ktype_is_float(type) ? "y = y + x;" : "y = (ulong)y + x;");
        break;
    case KR_PRODUCT:
        put_line(p, type == KT_F64 ? "y = f64_mul(y, x);" : ktype_is_float(type) ? "y = y * x;" : "y = (ulong)y * x;");
        break;
    case KR_MIN:
    case KR_MAX:
        put_line(p, "y = %s%s%s(y, x);", e->reduce == KR_MIN ? "min" : "max", ktype_is_float(type) ? "_" : "",
                 ktype_is_float(type) ? opencl_value_type(type) : "");
        break;
    case KR_ARG_MIN:
    case KR_ARG_MAX:
        fprintf(p->out, "%*sif (i >= 0 && (j < 0 || ", (int)p->indent * 2, "");
        put_better(p, e, type, "x", "y");
        fputs(" || (!(", p->out);
        put_better(p, e, type, "y", "x");
        fputs(") && i < j))) { y = x; j = i; }\n", p->out);
        break;
    case KR_COUNT_:
        break;
    }
}

/* Combines the accumulators of items `first`, first + step and so on, below n, in y and j. */
static void put_combine_items(struct printer *p, uint32_t expr, const char *first, uint32_t step, uint32_t n)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const char *t = opencl_value_type(p->k->exprs[e->args[0]].type);

    put_line(p, "%s y = all%" PRIu32 "[%s];", t, expr, first);
    if (kexpr_is_place(e))
        put_line(p, "long j = where%" PRIu32 "[%s];", expr, first);
    put_line(p, "for (uint n = %s + %" PRIu32 "; n < %" PRIu32 "; n += %" PRIu32 ") {", first, step, n, step);
    p->indent++;
    put_line(p, "const %s x = all%" PRIu32 "[n];", t, expr);
    if (kexpr_is_place(e))
        put_line(p, "const long i = where%" PRIu32 "[n];", expr);
    put_other_item(p, expr);
    p->indent--;
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
    put_line(p, "all%" PRIu32 "[item] = %s%" PRIu32 ";", expr, is_float_sum(e) ? "total" : "s", expr);
    if (extreme)
        put_line(p, "where%" PRIu32 "[item] = i%" PRIu32 ";", expr, expr);
    put_line(p, "barrier(CLK_LOCAL_MEM_FENCE);");
    put_line(p, "if (item < %" PRIu32 ") {", some);
    p->indent++;
    put_combine_items(p, expr, "item", some, n);
    put_line(p, "all%" PRIu32 "[item] = y;", expr);
    if (extreme)
        put_line(p, "where%" PRIu32 "[item] = j;", expr);
    p->indent--;
    put_line(p, "}");
    put_line(p, "barrier(CLK_LOCAL_MEM_FENCE);");
    put_line(p, "%s v%" PRIu32 ";", extreme ? "long" : opencl_value_type(p->k->exprs[e->args[0]].type), expr);
    put_line(p, "{");
    p->indent++;
    put_combine_items(p, expr, "0", 1, some);
    put_line(p, "v%" PRIu32 " = %s;", expr, extreme ? "j" : "y");
    p->indent--;
    put_line(p, "}");
    put_line(p, "barrier(CLK_LOCAL_MEM_FENCE);");
}

void put_result(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const enum ktype type = p->k->exprs[e->args[0]].type;
    const bool iterations = *prefix_of(p), lanes = !iterations && is_lane_sum(p, expr);
    const struct type_text t = opencl_lane_type(type, lanes ? p->lanes : 1);

    if (iterations)
        put_lanes_together(p, expr);
    if (is_float_sum(e))
        put_line(p, "const %s total%" PRIu32 " = total_%s(s%" PRIu32 ", c%" PRIu32 ");", t.text, expr, lanes ? "v" : t.text,
                 expr, expr);
    if (p->s->shape == GPU_ROWS)
        put_combine(p, expr);
    else if (is_float_sum(e))
        put_line(p, "const %s v%" PRIu32 " = total%" PRIu32 ";", t.text, expr, expr);
    else if (kexpr_is_place(e))
        put_line(p, "const long v%" PRIu32 " = i%" PRIu32 ";", expr, expr);
    else if (has_keys(p, expr) && !iterations)
        put_line(p, "const %s v%" PRIu32 " = number_of_key_v(s%" PRIu32 ");", t.text, expr, expr);
    else
        put_line(p, "const %s v%" PRIu32 " = s%" PRIu32 ";", t.text, expr, expr);
    p->expr_known[expr] = true;
}
