/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits expansions of elementary functions (ir/expansion) as instructions.
 */
#include "codegen/lower/scalar.h"

struct expansion_target expansion_target_of(const struct build *m, V like)
{
    return (struct expansion_target){.fma = m->isa->fma,
                                     .ldexp = avx512_has_extreme(m, like),
                                     .div_approx = avx512_has_divide(m, like),
                                     .no_f64_fma = !m->isa->f64};
}

static V emit_step(const struct build *m, const struct expansion *x, const struct expansion_step *s, const V *values,
                   uint32_t lanes)
{
    V args[3] = {NULL, NULL, NULL};

    if (s->op == K_CONST)
        return splat(m, const_scalar(m, s->type, s->bits), lanes);
    for (uint32_t a = 0; a < 3 && s->args[a] != EXPANSION_NONE; a++)
        args[a] = values[s->args[a]];
    return emit_native(m, s->op, s->type, x->steps[s->args[0]].type, args[0], args[1], args[2]);
}

/* Emits the rare steps in a region of their own; their results are in slots. */
static void emit_rare(const struct build *m, const struct expansion *x, V *values, uint32_t lanes)
{
    V slots[EXPANSION_VALUES_MAX];

    for (uint32_t i = x->rare_end - x->rare_merged; i < x->rare_end; i++) {
        const V without = values[x->steps[i].args[2]];
        slots[i] = loop_slot(m->b, without->type);
        op_set(m, slots[i], without);
    }
    loop_if_begin(m->b, op_any(m, values[x->rare_condition]));
    for (uint32_t i = x->rare_first; i < x->rare_end; i++)
        values[i] = emit_step(m, x, &x->steps[i], values, lanes);
    for (uint32_t i = x->rare_end - x->rare_merged; i < x->rare_end; i++)
        op_set(m, slots[i], values[i]);
    loop_end(m->b);
    for (uint32_t i = x->rare_end - x->rare_merged; i < x->rare_end; i++)
        values[i] = op_get(m, slots[i]);
}

static V emit_steps(const struct build *m, const struct expansion *x, const V *args)
{
    const uint32_t lanes = lanes_of(args[0]);
    V values[EXPANSION_VALUES_MAX];

    for (uint32_t i = 0; i < x->value_count; i++) {
        if (x->rare_end && i == x->rare_first) {
            emit_rare(m, x, values, lanes);
            i = x->rare_end - 1u;
        } else {
            values[i] = i < x->argument_count ? args[i] : emit_step(m, x, &x->steps[i], values, lanes);
        }
    }
    return values[x->result];
}

/* Returns a function of the module with an expansion's steps; what calls it spends its time elsewhere. */
static struct loop_function *function_of(const struct build *m, const struct expansion *x, const V *args)
{
    struct loop_module *module = m->b->module;
    struct loop_builder b;
    T types[EXPANSION_ARGUMENTS_MAX];
    V inside[EXPANSION_ARGUMENTS_MAX];
    char name[48];

    snprintf(name, sizeof name, "%s.v%u", kop_name(x->op), lanes_of(args[0]));
    struct loop_function *function = loop_function_find(module, name);
    if (function)
        return function;
    for (uint32_t i = 0; i < x->argument_count; i++)
        types[i] = args[i]->type;
    function = loop_function_add(module, name, types, x->argument_count, type_like(type_of(x->steps[x->result].type), args[0]));
    if (!loop_builder_begin(&b, module, function))
        return NULL;
    function->internal = true;
    for (uint32_t i = 0; i < x->argument_count; i++)
        inside[i] = loop_parameter(&b, i);
    const struct build position = {&b, m->isa, m->index_bits};
    op1(&position, LOOP_RETURN, emit_steps(&position, x, inside));
    return function;
}

V emit_expansion(const struct build *m, enum kop op, const V *args)
{
    const struct expansion_target target = expansion_target_of(m, args[0]);
    struct expansion x;

    expansion_build(op, &target, &x);
    return x.long_code ? loop_call(m->b, function_of(m, &x, args), args) : emit_steps(m, &x, args);
}
