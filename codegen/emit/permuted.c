/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads whose lanes are permuted out of whole vectors.  The vectors begin a known distance before the first lane's
 * element, or at index 0, and masks keep them from reading beyond the largest index, so that nothing is read that
 * an index could not name.  Elements of 8 and 16 bits are permuted in lanes of 32.
 */
#include "codegen/emit/permuted.h"

#include "codegen/emit/convert.h"
#include "codegen/emit/guard.h"
#include "codegen/emit/index.h"
#include "codegen/emit/type.h"

/* Returns the number that all lanes are below, of 32 bits: the size of an index that is data, or one more than the last lane,
 * which quotients do not exceed. */
static V bound_of(struct emitter *e, const struct context *cx, const struct kexpr *x, uint32_t level, V lanes)
{
    const struct build *m = &e->m;
    V size = NULL, last = cx->mask ? cx->left : const_int(m, 64, cx->lanes);

    for (uint32_t i = 0; i < x->index.count; i++) {
        const uint32_t var = x->index.terms[i].var;
        if (e->s->var_lanes[var] && e->k->vars[var].kind == KVAR_LOADED)
            size = number_value(e, e->info.var_number[var]);
    }
    frame_at(&e->frame, level);
    if (size)
        return LLVMBuildTrunc(m->b, size, type_int(m, 32), "");
    last = LLVMBuildExtractElement(m->b, lanes, LLVMBuildSub(m->b, last, const_int(m, 64, 1), ""), "");
    return LLVMBuildAdd(m->b, last, const_int(m, 32, 1), "");
}

/* Returns the lanes of one vector, or of two side by side if b is not NULL, that index has the lowest bits of. */
static V permute(const struct build *m, V a, V b, V index)
{
    const bool wide = lanes_of(a) == 16;

    if (b) {
        V args[3] = {a, index, b};
        return call_intrinsic(m, "llvm.x86.avx512.vpermi2var.d.512", NULL, 0, args, 3);
    }
    V args[2] = {a, index};
    return call_intrinsic(m, wide ? "llvm.x86.avx512.permvar.si.512" : "llvm.x86.avx2.permd", NULL, 0, args, 2);
}

/* Returns the elements that index numbers, counted from the first of the vectors. */
static V choose(const struct emitter *e, const V *vectors, uint32_t count, V index)
{
    const struct build *m = &e->m;
    const uint32_t lanes = lanes_of(index), step = lanes == 16 ? 2 : 1;
    V result = NULL;

    for (uint32_t i = 0; i < count; i += step) {
        V some = permute(m, vectors[i], step == 2 && i + 1 < count ? vectors[i + 1] : NULL, index);
        V here = LLVMBuildICmp(m->b, LLVMIntUGE, index, const_splat(const_int(m, 32, (int64_t)i * lanes), lanes), "");
        result = result ? LLVMBuildSelect(m->b, here, some, result, "") : some;
    }
    return result;
}

/* This is what all parts of a load have in common. */
struct permuted {
    uint32_t vectors;
    int32_t first;
    V address, bound; /* bound: all lanes are below it */
    T element;        /* integers as wide as the tensor's */
    uint32_t align;
};

/* Returns the elements for indices of one vector, as lanes of 32 bits. */
static V load_part(const struct emitter *e, const struct permuted *p, V lanes)
{
    const struct build *m = &e->m;
    const uint32_t count = lanes_of(lanes);
    T vector = type_lanes(p->element, count), i32 = type_int(m, 32);
    V vectors[SCHEDULE_PERMUTED_MAX];

    V first = LLVMBuildExtractElement(m->b, lanes, const_int(m, 64, 0), "");
    first = op_intrinsic2(m, "llvm.smax", LLVMBuildAdd(m->b, first, const_int(m, 32, p->first), ""), const_int(m, 32, 0));
    V left = splat(m, LLVMBuildSub(m->b, p->bound, first, ""), count);
    V index = LLVMBuildSub(m->b, lanes, splat(m, first, count), "");
    first = LLVMBuildSExt(m->b, first, type_int(m, 64), "");
    V address = op_address(m, p->element, p->address, first);
    for (uint32_t i = 0; i < p->vectors; i++) {
        V before = const_int(m, 64, (int64_t)i * count);
        V numbers = LLVMBuildAdd(m->b, const_iota(m, 32, count), const_splat(const_int(m, 32, (int64_t)i * count), count), "");
        V exists = LLVMBuildICmp(m->b, LLVMIntSLT, numbers, left, "");
        V loaded = op_load(m, vector, op_address(m, p->element, address, before), exists, p->align);
        vectors[i] = p->element == i32 ? loaded : LLVMBuildZExt(m->b, loaded, type_lanes(i32, count), "");
    }
    return choose(e, vectors, p->vectors, index);
}

V emit_permuted_load(struct emitter *e, const struct context *cx, uint32_t expr, T element, V address, V lanes, V guard,
                     uint32_t align)
{
    const struct build *m = &e->m;
    const struct schedule_expr *x = &e->s->exprs[expr];
    const uint32_t bits = 8 * (uint32_t)dtype_size(e->k->tensors[e->k->exprs[expr].tensor].type), part = e->s->lanes,
                   count = cx->lanes / part;
    V bound = bound_of(e, cx, &e->k->exprs[expr], e->info.expr_level[expr], lanes), parts[LANES_MAX];

    if (guard)
        bound = LLVMBuildSelect(m->b, guard, bound, const_int(m, 32, 0), "");
    const struct permuted p = {x->count, x->first, address, bound, type_int(m, bits), align};
    for (uint32_t i = 0; i < count; i++)
        parts[i] = load_part(e, &p, op_lanes(m, lanes, NULL, i * part, part));
    for (uint32_t joined = part; joined < cx->lanes; joined *= 2)
        for (uint32_t i = 0; i < cx->lanes / joined; i += 2)
            parts[i / 2] = op_lanes(m, parts[i], parts[i + 1], 0, 2 * joined);
    V result = parts[0];
    if (bits < 32)
        result = LLVMBuildTrunc(m->b, result, type_lanes(type_int(m, bits), cx->lanes), "");
    return LLVMBuildBitCast(m->b, result, type_lanes(element, cx->lanes), "");
}
