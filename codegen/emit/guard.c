/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Emits guards as masks. */
#include "codegen/emit/guard.h"

#include "codegen/emit/convert.h"
#include "codegen/emit/type.h"

V guard_and(struct emitter *e, V a, V b)
{
    if (!a || !b)
        return a ? a : b;
    uint32_t lanes = lanes_of(a) > lanes_of(b) ? lanes_of(a) : lanes_of(b);
    if (lanes_of(a) < lanes)
        a = splat(&e->m, a, lanes);
    if (lanes_of(b) < lanes)
        b = splat(&e->m, b, lanes);
    return LLVMBuildAnd(e->m.b, a, b, "");
}

V guard_contiguous(struct emitter *e, const struct context *cx, V base, V bound)
{
    const struct build *m = &e->m;
    V first = LLVMBuildTrunc(m->b, base, type_int(m, 32), "");
    if (!e->s->edges.far_guards)
        return LLVMBuildICmp(m->b, LLVMIntULT, LLVMBuildAdd(m->b, splat(m, first, cx->lanes), const_iota(m, 32, cx->lanes), ""),
                             bound, "guard");
    V near = LLVMBuildAdd(m->b, base, const_int(m, 64, cx->lanes), "");
    near = LLVMBuildICmp(m->b, LLVMIntULT, near, const_int(m, 64, (INT64_C(1) << 31) + cx->lanes), "near");
    first = LLVMBuildSelect(m->b, near, first, const_int(m, 32, INT32_MIN), "");
    V lane = LLVMBuildAdd(m->b, splat(m, first, cx->lanes), const_iota(m, 32, cx->lanes), "");
    return LLVMBuildICmp(m->b, LLVMIntULT, lane, bound, "guard");
}

bool guard_is_known(const struct context *cx, const struct form_value *p)
{
    return p->kind == FORM_UNIFORM ? cx->rows_inside : cx->lanes_inside;
}

void guards_value(struct emitter *e, const struct context *cx, uint32_t form, uint32_t count, uint32_t level, V *scalar,
                  V *lanes)
{
    *scalar = *lanes = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct form *f = &e->info.forms[form + i];
        V bound = number_value(e, f->number + 1 + f->affine->count);
        struct form_value p = form_evaluate(e, cx, form + i);
        if (guard_is_known(cx, &p))
            continue;
        if (p.kind == FORM_CONTIGUOUS) {
            frame_at(&e->frame, LEVEL_ENTRY);
            bound = splat(&e->m, LLVMBuildTrunc(e->m.b, bound, type_int(&e->m, 32), ""), cx->lanes);
        }
        frame_at(&e->frame, f->level);
        if (p.kind == FORM_UNIFORM) {
            V c = LLVMBuildICmp(e->m.b, LLVMIntULT, p.base, bound, "guard");
            frame_at(&e->frame, level);
            *scalar = guard_and(e, *scalar, c);
        } else {
            V c = p.kind == FORM_CONTIGUOUS
                      ? guard_contiguous(e, cx, p.base, bound)
                      : LLVMBuildICmp(e->m.b, LLVMIntULT, form_lanes(e, cx, &p), splat(&e->m, bound, cx->lanes), "guard");
            frame_at(&e->frame, level);
            *lanes = guard_and(e, *lanes, c);
        }
    }
}

V guard_fill(struct emitter *e, const struct kexpr *load, uint32_t lanes)
{
    return narrow_float(&e->m, const_splat(const_scalar(&e->m, load->type, load->bits), lanes),
                        e->k->tensors[load->tensor].type);
}
