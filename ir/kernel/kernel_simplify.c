/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Applies the algebraic rules to expressions that are about to become part of a kernel, and drops roundings of exact values. */
#include "ir/kernel/kernel_internal.h"
#include "ir/rules/rules.h"

/* ---- expressions as the terms of rules: id + 1 ---- */

struct simplification {
    struct kernel *k;
    enum ktype type;
};

static const uint8_t words[K_OP_COUNT] = {
    [K_ADD] = R_ADD,   [K_SUB] = R_SUB,         [K_MUL] = R_MUL,   [K_DIV] = R_DIV,
    [K_MIN] = R_MIN,   [K_MAX] = R_MAX,         [K_NEG] = R_NEG,   [K_ABS] = R_ABS,
    [K_SIGN] = R_SIGN, [K_FLOOR] = R_FLOOR,     [K_CEIL] = R_CEIL, [K_ROUND_EVEN] = R_ROUND_EVEN,
    [K_CAST] = R_CAST, [K_BITCAST] = R_BITCAST, [K_EQ] = R_EQUAL,  [K_NE] = R_NOT_EQUAL,
    [K_AND] = R_AND,   [K_OR] = R_OR,           [K_NOT] = R_NOT,   [K_SELECT] = R_WHERE,
};

enum kop kernel_rule_op(uint32_t word)
{
    enum kop op = 0;

    while (op < K_OP_COUNT && words[op] != word)
        op++;
    return op;
}

static const struct kexpr *expr_of(const struct simplification *s, rule_term t)
{
    return &s->k->exprs[t - 1];
}

static bool describe(const struct kexpr *e, struct rule_node *node)
{
    *node = (struct rule_node){
        .op = (enum rule_word)words[e->op], .commutes = kop_info(e->op)->commutes, .count = kop_arity(e->op)};
    for (uint32_t i = 0; i < node->count; i++)
        node->operands[i] = (rule_term)e->args[i] + 1;
    return node->op != R_END;
}

static bool describe_term(void *user, rule_term t, struct rule_node *node)
{
    return describe(expr_of(user, t), node);
}

static bool number(void *user, rule_term t, double *number)
{
    const struct kexpr *e = expr_of(user, t);

    if (e->op != K_CONST)
        return false;
    *number = kernel_scalar(K_CAST, KT_F64, e->type, (const union scalar[3]){e->bits}).f64;
    return true;
}

static bool has_result_type(void *user, rule_term t)
{
    return expr_of(user, t)->type == ((const struct simplification *)user)->type;
}

static rule_term make(void *user, enum rule_word word, uint32_t count, const rule_term *operands)
{
    struct simplification *s = user;
    const uint32_t a = (uint32_t)operands[0] - 1, b = count > 1 ? (uint32_t)operands[1] - 1 : KEXPR_NONE;

    return (rule_term)kernel_operate(s->k, kernel_rule_op(word), KT_COUNT, a, b, KEXPR_NONE) + 1;
}

/* ---- roundings ---- */

/** Returns whether rounding to a low-precision type changes nothing, as far as can be proved. */
static bool is_exact(const struct kernel *k, uint32_t id, dtype low)
{
    const struct kexpr *e = &k->exprs[id];
    const union scalar rounded = {.f32 = f32_round(e->bits.f32, low)};

    switch (e->op) {
    case K_ROUND_F16:
    case K_ROUND_BF16:
        return e->op == kop_round(low);
    case K_LOAD:
        return k->tensors[e->tensor].type == low && (!e->guard_count || rounded.u32 == e->bits.u32);
    case K_NEG:
    case K_ABS:
        return is_exact(k, e->args[0], low);
    case K_MIN:
    case K_MAX:
        return is_exact(k, e->args[0], low) && is_exact(k, e->args[1], low);
    case K_SELECT:
        return is_exact(k, e->args[1], low) && is_exact(k, e->args[2], low);
    case K_CONST:
        return rounded.u32 == e->bits.u32;
    default:
        return false;
    }
}

static bool is_number_or_unary(const struct kernel *k, uint32_t id)
{
    return k->exprs[id].op == K_CONST || kop_arity(k->exprs[id].op) == 1;
}

uint32_t kernel_simplify(struct kernel *k, const struct kexpr *e, const struct rule *rows, size_t count)
{
    static const struct rule_language language = {
        .scope = RULE_KERNEL, .describe = describe_term, .number = number, .has_result_type = has_result_type, .make = make};
    struct simplification s = {.k = k, .type = e->type};
    struct rule_node node;

    if (e->op == K_ROUND_F16 || e->op == K_ROUND_BF16)
        return is_exact(k, e->args[0], e->op == K_ROUND_F16 ? WNNOperandDataType_Float16 : DTYPE_BFLOAT16) ? e->args[0]
                                                                                                           : KEXPR_NONE;
    if (!describe(e, &node))
        return KEXPR_NONE;
    /* Of two operands, rules want equal ones, or one that is a number or has one operand itself. */
    if (node.count == 2 && e->args[0] != e->args[1] && !is_number_or_unary(k, e->args[0]) && !is_number_or_unary(k, e->args[1]))
        return KEXPR_NONE;
    return (uint32_t)rules_apply(rows, count, &language, &s, &node,
                                 e->type == KT_BOOL         ? RULE_BOOL
                                 : e->type == KT_F32        ? RULE_FLOAT32
                                 : e->type == KT_F64        ? RULE_OTHER_FLOAT
                                 : ktype_is_signed(e->type) ? RULE_SIGNED
                                                            : RULE_UNSIGNED) -
           1;
}
