/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Holds the table of expansions, and appends their steps one by one. */
#include "ir/expansion/expander.h"

#include <assert.h>

/** This is a row of the table. */
struct function {
    value (*expand)(struct expander *e, const value *args);
    enum ktype result, arguments[EXPANSION_ARGUMENTS_MAX]; /* as many as the operation has operands */
    bool long_code;
    /* These are bounds of the error in units in the last place, with fused multiply-add and without: the largest error that was
     * found among all numbers (docs/scalar-functions.md), rounded up. */
    double error, error_unfused;
};

static const struct function functions[K_OP_COUNT] = {
    [K_EXP] = {expand_exp, KT_F32, {KT_F32}, false, 0.90, 1.17},
    [K_EXP2] = {expand_exp2, KT_F32, {KT_F32}, false, 1.03, 1.30},
    [K_EXPM1] = {expand_expm1, KT_F32, {KT_F32}, false, 1.48, 1.59},
    [K_LOG] = {expand_log, KT_F32, {KT_F32}, false, 0.83, 0.84},
    [K_LOG1P] = {expand_log1p, KT_F32, {KT_F32}, false, 1.39, 1.39},
    [K_SIN] = {expand_sin, KT_F32, {KT_F32}, true, 0.501, 0.501},
    [K_COS] = {expand_cos, KT_F32, {KT_F32}, true, 0.501, 0.501},
    [K_TAN] = {expand_tan, KT_F32, {KT_F32}, true, 0.501, 0.501},
    [K_TANH] = {expand_tanh, KT_F32, {KT_F32}, false, 1.38, 1.38},
    [K_ERF] = {expand_erf, KT_F32, {KT_F32}, false, 0.97, 1.26},
    [K_SIGMOID] = {expand_sigmoid, KT_F32, {KT_F32}, false, 1.98, 2.06},
    [K_POW] = {expand_pow, KT_F32, {KT_F32, KT_F32}, true, 0.501, 0.501},
    [K_FMA] = {expand_fma, KT_F32, {KT_F32, KT_F32, KT_F32}, false, 0, 0},
    [K_DIV_APPROX] = {expand_div_approx, KT_F32, {KT_F32, KT_F32}, false, 0, 0},
    [K_TO_F16] = {expand_to_f16, KT_U32, {KT_F32}, false, 0, 0},
    [K_FROM_F16] = {expand_from_f16, KT_F32, {KT_U32}, false, 0, 0},
    [K_TO_BF16] = {expand_to_bf16, KT_U32, {KT_F32}, false, 0, 0},
    [K_FROM_BF16] = {expand_from_bf16, KT_F32, {KT_U32}, false, 0, 0},
};

bool expansion_exists(enum kop op, const struct expansion_target *target)
{
    const bool is_native = op == K_FMA ? target->fma : op == K_DIV_APPROX && target->div_approx;

    return functions[op].expand && !is_native;
}

void expansion_build(enum kop op, const struct expansion_target *target, struct expansion *out)
{
    const struct function *f = &functions[op];
    struct expander e = {out, target};
    value args[EXPANSION_ARGUMENTS_MAX];

    assert(expansion_exists(op, target));
    out->op = op;
    out->argument_count = (uint16_t)kop_arity(op);
    out->value_count = 0;
    out->rare_first = out->rare_end = out->rare_merged = out->rare_condition = 0;
    out->long_code = f->long_code;
    for (uint32_t i = 0; i < out->argument_count; i++)
        args[i] = expander_step(&e, K_LOAD, f->arguments[i], EXPANSION_NONE, EXPANSION_NONE, EXPANSION_NONE);
    out->result = f->expand(&e, args);
    assert(expander_type(&e, out->result) == f->result);
}

double expansion_error(enum kop op, bool fma)
{
    return fma ? functions[op].error : functions[op].error_unfused;
}

/* ---- steps ---- */

enum ktype expander_type(const struct expander *e, value v)
{
    assert(v < e->out->value_count);
    return e->out->steps[v].type;
}

value expander_step(struct expander *e, enum kop op, enum ktype type, value a, value b, value c)
{
    assert(e->out->value_count < EXPANSION_VALUES_MAX);
    if (op != K_CONST && op != K_LOAD && expansion_exists(op, e->target) && type == KT_F32) {
        const value args[EXPANSION_ARGUMENTS_MAX] = {a, b, c};
        return functions[op].expand(e, args);
    }
    e->out->steps[e->out->value_count] = (struct expansion_step){.op = op, .type = type, .args = {a, b, c}};
    return e->out->value_count++;
}

static value constant(struct expander *e, enum ktype type, union scalar bits)
{
    value v = expander_step(e, K_CONST, type, EXPANSION_NONE, EXPANSION_NONE, EXPANSION_NONE);
    e->out->steps[v].bits = bits;
    return v;
}

value expander_number(struct expander *e, value like, double x)
{
    enum ktype type = expander_type(e, like);
    union scalar bits = {.u64 = 0};

    assert(ktype_is_float(type));
    if (type == KT_F64)
        bits.f64 = x;
    else
        bits.f32 = (float)x;
    return constant(e, type, bits);
}

value expander_integer(struct expander *e, value like, int64_t x)
{
    enum ktype type = expander_type(e, like);

    assert(!ktype_is_float(type));
    return constant(e, type, ktype_size(type) == 4 ? (union scalar){.u64 = (uint32_t)x} : (union scalar){.i64 = x});
}

value expander_polynomial(struct expander *e, value t, const double *c, uint32_t count)
{
    value r = number(e, t, c[count - 1]);
    for (uint32_t i = count - 1; i-- > 0;)
        r = multiply_add(e, r, t, number(e, t, c[i]));
    return r;
}
