/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table of scalar operations of the kernel IR: what building, verifying and printing kernels must know of each. */
#include "ir/kernel_internal.h"

#include <assert.h>

static const struct kop_info infos[] = {
    /* name, operands, types, commutes, cost */
    [K_CONST] = {"const", 0, KOP_OWN, false, 0},
    [K_LOAD] = {"load", 0, KOP_OWN, false, 1},
    [K_INDEX] = {"index", 0, KOP_OWN, false, 1},
    [K_REDUCE] = {"reduce", 1, KOP_OWN, false, 1},
    [K_SCAN] = {"scan", 1, KOP_NUMBERS, false, 1},
    [K_ADD] = {"add", 2, KOP_NUMBERS, true, 1},
    [K_SUB] = {"sub", 2, KOP_NUMBERS, false, 1},
    [K_MUL] = {"mul", 2, KOP_NUMBERS, true, 1},
    [K_DIV] = {"div", 2, KOP_NUMBERS, false, 4},
    [K_MIN] = {"min", 2, KOP_NUMBERS, true, 1},
    [K_MAX] = {"max", 2, KOP_NUMBERS, true, 1},
    [K_POW] = {"pow", 2, KOP_NUMBERS, false, 48},
    [K_NEG] = {"neg", 1, KOP_NUMBERS, false, 1},
    [K_ABS] = {"abs", 1, KOP_NUMBERS, false, 1},
    [K_SIGN] = {"sign", 1, KOP_NUMBERS, false, 1},
    [K_FLOOR] = {"floor", 1, KOP_FLOATS, false, 1},
    [K_CEIL] = {"ceil", 1, KOP_FLOATS, false, 1},
    [K_ROUND_EVEN] = {"round_even", 1, KOP_FLOATS, false, 1},
    [K_SQRT] = {"sqrt", 1, KOP_FLOATS, false, 4},
    [K_RECIPROCAL] = {"reciprocal", 1, KOP_FLOATS, false, 4},
    [K_EXP] = {"exp", 1, KOP_FLOATS, false, 16},
    [K_EXPM1] = {"expm1", 1, KOP_FLOATS, false, 16},
    [K_LOG] = {"log", 1, KOP_FLOATS, false, 16},
    [K_LOG1P] = {"log1p", 1, KOP_FLOATS, false, 16},
    [K_SIN] = {"sin", 1, KOP_FLOATS, false, 24},
    [K_COS] = {"cos", 1, KOP_FLOATS, false, 24},
    [K_TAN] = {"tan", 1, KOP_FLOATS, false, 24},
    [K_TANH] = {"tanh", 1, KOP_FLOATS, false, 16},
    [K_ERF] = {"erf", 1, KOP_FLOATS, false, 16},
    [K_SIGMOID] = {"sigmoid", 1, KOP_FLOATS, false, 16},
    [K_FMA] = {"fma", 3, KOP_NUMBERS, false, 1},
    [K_ROUND_F16] = {"round_f16", 1, KOP_FLOATS, false, 1},
    [K_ROUND_BF16] = {"round_bf16", 1, KOP_FLOATS, false, 4},
    [K_CAST] = {"cast", 1, KOP_OWN, false, 1},
    [K_EQ] = {"eq", 2, KOP_COMPARISON, true, 1},
    [K_NE] = {"ne", 2, KOP_COMPARISON, true, 1},
    [K_LT] = {"lt", 2, KOP_COMPARISON, false, 1},
    [K_LE] = {"le", 2, KOP_COMPARISON, false, 1},
    [K_IS_NAN] = {"is_nan", 1, KOP_FLOAT_TEST, false, 1},
    [K_IS_INFINITE] = {"is_infinite", 1, KOP_FLOAT_TEST, false, 1},
    [K_AND] = {"and", 2, KOP_LOGIC, true, 1},
    [K_OR] = {"or", 2, KOP_LOGIC, true, 1},
    [K_XOR] = {"xor", 2, KOP_LOGIC, true, 1},
    [K_NOT] = {"not", 1, KOP_LOGIC, false, 1},
    [K_SELECT] = {"select", 3, KOP_CHOICE, false, 1},
};
_Static_assert(sizeof infos / sizeof *infos == K_OP_COUNT, "a row for every operation");

const struct kop_info *kop_info(enum kop op)
{
    assert(op < K_OP_COUNT && infos[op].name);
    return &infos[op];
}

const char *kop_name(enum kop op)
{
    return op < K_OP_COUNT ? infos[op].name : "?";
}

uint32_t kop_arity(enum kop op)
{
    return op < K_OP_COUNT ? infos[op].arity : 0;
}

double kexpr_cost(const struct kexpr *e)
{
    return e->op == K_DIV && e->type != KT_F32 ? 16 : kop_info(e->op)->cost; /* integers have no vector division */
}
