/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Checks and prints expansions. */
#include "ir/expansion/expansion.h"

#include <inttypes.h>

static bool is_rare(const struct expansion *x, uint32_t value)
{
    return value >= x->rare_first && value < x->rare_end;
}

static const char *step_error(const struct expansion *x, uint32_t i, const struct expansion_target *target)
{
    const struct expansion_step *s = &x->steps[i];
    enum ktype types[3] = {KT_COUNT, KT_COUNT, KT_COUNT};

    if ((s->op == K_LOAD) != (i < x->argument_count))
        return "the arguments come first";
    if (s->op == K_LOAD || s->op == K_CONST)
        return NULL;
    if (s->op == K_INDEX || s->op == K_REDUCE || s->op == K_SCAN || (s->type == KT_F32 && expansion_exists(s->op, target)))
        return "not an operation of the target";
    for (uint32_t a = 0; a < 3; a++) {
        if ((a < kop_arity(s->op)) != (s->args[a] != EXPANSION_NONE))
            return "a wrong number of operands";
        if (s->args[a] == EXPANSION_NONE)
            continue;
        if (s->args[a] >= i)
            return "an operand that is not an earlier value";
        if (!is_rare(x, i) && is_rare(x, s->args[a]) && s->args[a] < x->rare_end - x->rare_merged)
            return "an operand that a branch may leave out";
        types[a] = x->steps[s->args[a]].type;
    }
    return kop_types_fit(s->op, s->type, types[0], types[1], types[2]) ? NULL : "wrong types";
}

static const char *rare_error(const struct expansion *x)
{
    if (!x->rare_end)
        return NULL;
    if (!x->long_code)
        return "rare steps in code that is short";
    if (x->rare_condition >= x->rare_first || x->steps[x->rare_condition].type != KT_BOOL ||
        x->rare_first + x->rare_merged > x->rare_end || x->rare_end > x->value_count)
        return "rare steps without a condition";
    for (uint32_t i = x->rare_end - x->rare_merged; i < x->rare_end; i++) {
        if (x->steps[i].op != K_SELECT || x->steps[i].args[0] != x->rare_condition || x->steps[i].args[2] >= x->rare_first)
            return "what rare steps hand over is no choice by their condition";
    }
    return NULL;
}

bool expansion_verify(const struct expansion *x, const struct expansion_target *target, FILE *out)
{
    const char *error = x->result < x->value_count ? rare_error(x) : "no result";

    if (error)
        fprintf(out, "%s: %s\n", kop_name(x->op), error);
    for (uint32_t i = 0; i < x->value_count && !error; i++) {
        error = step_error(x, i, target);
        if (error)
            fprintf(out, "%s: step %" PRIu32 ", %s: %s\n", kop_name(x->op), i, kop_name(x->steps[i].op), error);
    }
    return !error;
}

static void print_constant(const struct expansion_step *s, FILE *out)
{
    if (s->type == KT_F64)
        fprintf(out, " %a", s->bits.f64);
    else if (s->type == KT_F32)
        fprintf(out, " %a", (double)s->bits.f32);
    else
        fprintf(out, " 0x%" PRIx64, s->bits.u64);
}

void expansion_print(const struct expansion *x, FILE *out)
{
    fprintf(out, "%s\n", kop_name(x->op));
    for (uint32_t i = 0; i < x->value_count; i++) {
        const struct expansion_step *s = &x->steps[i];

        fprintf(out, "  v%" PRIu32 ": %s = %s", i, ktype_name(s->type), i < x->argument_count ? "argument" : kop_name(s->op));
        if (s->op == K_CONST)
            print_constant(s, out);
        for (uint32_t a = 0; a < 3 && s->args[a] != EXPANSION_NONE; a++)
            fprintf(out, " v%u", s->args[a]);
        fprintf(out, "%s\n", is_rare(x, i) ? "  # rare" : "");
    }
    fprintf(out, "  result v%u\n", x->result);
}
