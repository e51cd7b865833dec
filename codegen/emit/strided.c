/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads whose lanes are a few elements apart.  As many vectors as the stride side by side hold all lanes; the last one
 * ends with the last lane, so that nothing behind it is read.  Masks of guards and of the rest of a row are made for the
 * elements of each vector, and hold for those that are lanes only: what lies between two of them may be nobody's.
 */
#include "codegen/emit/strided.h"

#include "codegen/emit/convert.h"
#include "codegen/emit/guard.h"
#include "codegen/emit/index.h"
#include "codegen/emit/type.h"

/* This is one of the vectors. */
struct part {
    uint32_t first;  /* its first element, counted from that of the first lane */
    uint32_t stride; /* from lane to lane */
};

bool load_is_strided(const struct emitter *e, const struct context *cx, uint32_t expr)
{
    return e->s->exprs[expr].load == LOAD_STRIDED && expr_is_vector(e, cx, expr);
}

static struct part part_of(const struct emitter *e, const struct context *cx, uint32_t expr, uint32_t number)
{
    const uint32_t stride = e->s->exprs[expr].count, last = (stride - 1) * (cx->lanes - 1);

    return (struct part){number + 1 < stride ? number * cx->lanes : last, stride};
}

/* Returns which elements of a part are lanes. */
static V lanes_in(const struct emitter *e, const struct context *cx, const struct part *part)
{
    V holds[LANES_MAX];

    for (uint32_t i = 0; i < cx->lanes; i++)
        holds[i] = const_int(&e->m, 1, (part->first + i) % part->stride == 0);
    return LLVMConstVector(holds, cx->lanes);
}

/* Returns the elements of a part that exist in the rest of a row. */
static V elements_left(struct emitter *e, const struct context *cx, const struct part *part)
{
    const struct build *m = &e->m;
    V left = LLVMBuildMul(m->b, cx->left, const_int(m, 64, part->stride), "");
    V elements = LLVMBuildAdd(m->b, const_iota(m, 32, cx->lanes), const_splat(const_int(m, 32, part->first), cx->lanes), "");

    left = splat(m, LLVMBuildTrunc(m->b, left, type_int(m, 32), ""), cx->lanes);
    return LLVMBuildICmp(m->b, LLVMIntULT, elements, left, "left");
}

/* Returns the elements of a part that are read; NULL: all. */
static V part_mask(struct emitter *e, const struct context *cx, uint32_t expr, const struct part *part)
{
    const struct kexpr *x = &e->k->exprs[expr];
    const struct build *m = &e->m;
    const uint32_t level = e->info.expr_level[expr];
    V mask = NULL;

    for (uint32_t i = 0; i < x->guard_count; i++) {
        const uint32_t number = e->info.expr_form[expr] + 1 + i;
        const struct form *f = &e->info.forms[number];
        V bound = number_value(e, f->number + 1 + f->affine->count), guard;
        struct form_value p = form_evaluate(e, cx, number);

        if (guard_is_known(cx, &p))
            continue;
        frame_at(&e->frame, f->level);
        if (p.kind == FORM_UNIFORM) {
            guard = LLVMBuildICmp(m->b, LLVMIntULT, p.base, bound, "guard");
        } else {
            bound = splat(m, LLVMBuildTrunc(m->b, bound, type_int(m, 32), ""), cx->lanes);
            guard = guard_contiguous(e, cx, LLVMBuildAdd(m->b, p.base, const_int(m, 64, part->first), ""), bound);
        }
        frame_at(&e->frame, level);
        mask = guard_and(e, mask, guard);
    }
    frame_at(&e->frame, level);
    if (cx->mask)
        mask = guard_and(e, mask, elements_left(e, cx, part));
    return mask ? guard_and(e, mask, lanes_in(e, cx, part)) : NULL;
}

/* Puts the lanes that a part holds into the result. */
static V take_lanes(const struct emitter *e, const struct context *cx, const struct part *part, V result, V elements)
{
    V from[LANES_MAX];

    for (uint32_t i = 0; i < cx->lanes; i++) {
        const uint32_t at = i * part->stride - part->first; /* wraps where the lane lies before the part */
        from[i] = const_int(&e->m, 32, at < cx->lanes ? cx->lanes + at : i);
    }
    return LLVMBuildShuffleVector(e->m.b, result, elements, LLVMConstVector(from, cx->lanes), "");
}

V emit_strided_load(struct emitter *e, const struct context *cx, uint32_t expr)
{
    const struct kexpr *x = &e->k->exprs[expr];
    const struct build *m = &e->m;
    const dtype type = e->k->tensors[x->tensor].type;
    T element = storage_type(m, type), vector = type_lanes(element, cx->lanes);
    V tensor = tensor_pointer(e, x->tensor), result = LLVMGetPoison(vector);
    struct form_value p = form_evaluate(e, cx, e->info.expr_form[expr]);
    V row = form_row_pointer(e, cx, e->info.expr_form[expr], &p, element, tensor);

    for (uint32_t i = 0; i < e->s->exprs[expr].count; i++) {
        const struct part part = part_of(e, cx, expr, i);
        V mask = part_mask(e, cx, expr, &part), index;

        frame_at(&e->frame, e->info.expr_level[expr]);
        index = row ? p.along : p.base;
        V address = op_address(m, element, row ? row : tensor, index);
        index = const_int(m, 64, part.first);
        address = op_address(m, element, address, index);
        V elements = op_load_or(m, vector, address, mask, x->guard_count ? guard_fill(e, x, cx->lanes) : NULL,
                                tensor_alignment(e, x->tensor));
        result = take_lanes(e, cx, &part, result, elements);
    }
    return widen_float(m, result, type);
}
