/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the tests of windows: where the first and the last element of a window lie inside the input in every dimension, all
 * others do, because a guard's form grows with every REDUCED variable.
 */
#include "codegen/emit/window.h"

#include "codegen/emit/guard.h"
#include "codegen/emit/index.h"

/* Returns whether a guard's form is the smallest for the window's first element and the largest for its last. */
static bool grows(const struct kernel *k, const struct kaffine *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const enum kvar_kind kind = k->vars[a->terms[i].var].kind;
        if (kind != KVAR_PARALLEL && (kind != KVAR_REDUCED || a->terms[i].coefficient < 0))
            return false;
    }
    return true;
}

bool window_is_guarded(const struct emitter *e)
{
    const struct kernel *k = e->k;
    bool any = false;

    if (e->s->tiled || k->rare || !e->info.vector_parallel || e->s->transpose.var != KEXPR_NONE)
        return false;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        for (uint32_t g = 0; x->op == K_LOAD && g < x->guard_count; g++) {
            if (!grows(k, &x->guards[g].form))
                return false;
            any |= x->varying;
        }
    }
    return any;
}

/* Begins an iteration of all loops over REDUCED variables in which these have their first or last values. */
static void open_corner(struct emitter *e, bool last)
{
    for (uint32_t r = 0; r < e->k->reduced_count; r++) {
        const uint32_t var = e->k->parallel_count + r;
        V size = number_value(e, e->info.var_number[var]);

        frame_here(&e->frame);
        frame_open(&e->frame, e->info.reduced_level + r);
        e->frame.var_value[var] = last ? LLVMBuildSub(e->m.b, size, const_int(&e->m, 64, 1), "") : const_int(&e->m, 64, 0);
    }
}

/* Adds the test of one guard at a corner of the window. */
static void test_guard(struct emitter *e, const struct context *cx, uint32_t form, V *rows, V *lanes)
{
    const struct build *m = &e->m;
    const struct form *f = &e->info.forms[form];
    V bound = number_value(e, f->number + 1 + f->affine->count);
    struct form_value p = form_evaluate(e, cx, form);
    V step = p.kind == FORM_UNIFORM ? NULL : number_value(e, f->number + 1 + (uint32_t)f->vector_term);

    frame_here(&e->frame);
    V holds = LLVMBuildICmp(m->b, LLVMIntULT, p.base, bound, "");
    if (!step) {
        *rows = guard_and(e, *rows, holds);
        return;
    }
    *lanes = guard_and(e, *lanes, holds);
    V last = LLVMBuildAdd(m->b, p.base, LLVMBuildMul(m->b, step, const_int(m, 64, (int64_t)cx->lanes - 1), ""), "");
    *lanes = guard_and(e, *lanes, LLVMBuildICmp(m->b, LLVMIntULT, last, bound, ""));
}

void window_tests(struct emitter *e, const struct context *cx, V *rows, V *lanes)
{
    const struct kernel *k = e->k;

    *rows = *lanes = NULL;
    for (uint32_t copy = 0; copy < cx->copies; copy++) {
        const struct context of = context_of_copy(cx, copy);
        for (uint32_t last = 0; last < 2; last++) {
            open_corner(e, last);
            for (uint32_t i = 0; i < k->expr_count; i++)
                for (uint32_t g = 0; k->exprs[i].op == K_LOAD && g < k->exprs[i].guard_count; g++)
                    test_guard(e, &of, e->info.expr_form[i] + 1 + g, rows, lanes);
        }
    }
    frame_here(&e->frame);
    if (!*rows)
        *rows = const_int(&e->m, 1, 1);
}
