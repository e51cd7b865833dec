/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads whose lanes are taken out of whole vectors.
 *
 * Strided: lanes are a few elements apart.  As many contiguous vectors as the stride hold all lanes; the last one ends with the
 * last lane, so that nothing after it is read.  Masks of guards and of the rest of a row are made for the elements of each
 * vector, and hold for those that are lanes only: no tensor need own what lies between two of them.
 *
 * Permuted: indices are computed and lie near each other.  The vectors begin a known distance before the first lane's element,
 * or at index 0, and masks keep them from reading beyond the largest index, so that nothing is read that an index could not
 * name. Elements of 8 and 16 bits are permuted in lanes of 32.
 */
#include "codegen/lower/access.h"

#include "codegen/lower/scalar.h"

bool load_is_strided(const struct emitter *e, const struct context *cx, uint32_t expr)
{
    const bool masked = e->k->exprs[expr].guard_count && !(cx->rows_inside && cx->lanes_inside);

    return e->s->exprs[expr].load == LOAD_STRIDED && expr_is_vector(e, cx, expr) &&
           (!masked || e->m.isa->masks || e->m.isa->masks32);
}

static struct guard_part part_of(const struct emitter *e, const struct context *cx, uint32_t expr, uint32_t number)
{
    const uint32_t stride = e->s->exprs[expr].count, last = (stride - 1) * (cx->lanes - 1);

    return (struct guard_part){number + 1 < stride ? number * cx->lanes : last, stride};
}

static V lanes_in(const struct emitter *e, const struct context *cx, const struct guard_part *part)
{
    uint64_t holds[LANES_MAX];

    for (uint32_t i = 0; i < cx->lanes; i++)
        holds[i] = (part->first + i) % part->stride == 0;
    return loop_const(e->m.b, type_lanes(type_i1, cx->lanes), holds);
}

/* Returns the elements of a part that exist in the rest of a row. */
static V elements_left(struct emitter *e, const struct context *cx, const struct guard_part *part)
{
    const struct build *m = &e->m;
    V left = op_times(m, cx->left, part->stride);
    V elements = op_add(m, const_iota(m, 32, cx->lanes), splat(m, const_int(m, 32, part->first), cx->lanes));

    left = splat(m, op_trunc(m, left, type_i32), cx->lanes);
    return op_ult(m, elements, left);
}

/* Returns the elements of a part that are read; NULL: all. */
static V part_mask(struct emitter *e, const struct context *cx, uint32_t expr, const struct guard_part *part)
{
    const uint32_t level = e->info.expr_level[expr];
    V scalar, mask;

    guards_value(e, cx, e->info.expr_form[expr] + 1, e->k->exprs[expr].guard_count, level, part, &scalar, &mask);
    frame_at(&e->frame, level);
    mask = guard_and(e, mask, scalar);
    if (cx->mask)
        mask = guard_and(e, mask, elements_left(e, cx, part));
    return mask ? guard_and(e, mask, lanes_in(e, cx, part)) : NULL;
}

static V take_lanes(const struct emitter *e, const struct context *cx, const struct guard_part *part, V result, V elements)
{
    uint8_t from[LANES_MAX];

    for (uint32_t i = 0; i < cx->lanes; i++) {
        const uint32_t at = i * part->stride - part->first; /* wraps where the lane lies before the part */
        from[i] = !result ? (at < cx->lanes ? at : LOOP_ANY_LANE) : at < cx->lanes ? cx->lanes + at : i;
    }
    return result ? op_shuffle(&e->m, result, elements, from, cx->lanes) : op_shuffle(&e->m, elements, NULL, from, cx->lanes);
}

V emit_strided_load(struct emitter *e, const struct context *cx, uint32_t expr)
{
    const struct kexpr *x = &e->k->exprs[expr];
    const struct build *m = &e->m;
    const dtype type = e->k->tensors[x->tensor].type;
    T element = storage_type(type), vector = type_lanes(element, cx->lanes);
    V tensor = tensor_pointer(e, x->tensor), result = NULL;
    struct form_value p = form_evaluate(e, cx, e->info.expr_form[expr]);
    V row = form_row_pointer(e, cx, e->info.expr_form[expr], &p, element, tensor);

    for (uint32_t i = 0; i < e->s->exprs[expr].count; i++) {
        const struct guard_part part = part_of(e, cx, expr, i);
        V mask = part_mask(e, cx, expr, &part), index;

        frame_at(&e->frame, e->info.expr_level[expr]);
        V address = form_pointer(e, element, tensor, row, &p);
        index = const_index(m, part.first);
        address = op_address(m, element, address, index);
        V elements = op_load_or(m, vector, address, mask, x->guard_count ? guard_fill(e, x, cx->lanes) : NULL,
                                tensor_alignment(e, x->tensor));
        result = take_lanes(e, cx, &part, result, elements);
    }
    return widen_float(m, result, type);
}

/* Returns the number that all lanes are below, of 32 bits: the size of an index that is data, or one more than the last lane,
 * which quotients do not exceed. */
static V bound_of(struct emitter *e, const struct context *cx, const struct kexpr *x, V lanes)
{
    const struct build *m = &e->m;
    V size = NULL, last = cx->mask ? cx->left : const_index(m, cx->lanes);

    for (uint32_t i = 0; i < x->index.count; i++) {
        const uint32_t var = x->index.terms[i].var;
        if (e->s->var_lanes[var] && e->k->vars[var].kind == KVAR_LOADED)
            size = number_value(e, e->info.numbers.vars[var]);
    }
    if (size)
        return op_trunc(m, size, type_i32);
    last = op_extract(m, lanes, op_sub(m, last, const_int(m, 64, 1)));
    return op_add(m, last, const_int(m, 32, 1));
}

/* Returns the elements that index numbers, counted from the first of the vectors; its lowest bits select them out of one
 * vector, or out of two in a row. */
static V choose(const struct emitter *e, const V *vectors, uint32_t count, V index)
{
    const struct build *m = &e->m;
    const uint32_t lanes = lanes_of(index), step = lanes == 16 ? 2 : 1;
    V result = NULL;

    for (uint32_t i = 0; i < count; i += step) {
        V some = step == 2 && i + 1 < count ? op3(m, LOOP_PERMUTE2, vectors[i], index, vectors[i + 1])
                                            : op2(m, LOOP_PERMUTE, vectors[i], index);
        V here = op_uge(m, index, splat(m, const_int(m, 32, (int64_t)i * lanes), lanes));
        result = result ? op_select(m, here, some, result) : some;
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
    T vector = type_lanes(p->element, count), i32 = type_i32;
    V vectors[SCHEDULE_PERMUTED_MAX];

    V first = op_extract(m, lanes, const_int(m, 64, 0));
    first = op_smax(m, op_add(m, first, const_int(m, 32, p->first)), const_int(m, 32, 0));
    V left = splat(m, op_sub(m, p->bound, first), count);
    V index = op_sub(m, lanes, splat(m, first, count));
    first = op_sext(m, first, type_index(m));
    V address = op_address(m, p->element, p->address, first);
    for (uint32_t i = 0; i < p->vectors; i++) {
        V before = const_index(m, (int64_t)i * count);
        V numbers = op_add(m, const_iota(m, 32, count), splat(m, const_int(m, 32, (int64_t)i * count), count));
        V exists = op_lt(m, numbers, left);
        V loaded = op_load(m, vector, op_address(m, p->element, address, before), exists, p->align);
        vectors[i] = p->element == i32 ? loaded : op_zext(m, loaded, type_lanes(i32, count));
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
    V bound = bound_of(e, cx, &e->k->exprs[expr], lanes), parts[LANES_MAX];

    if (guard)
        bound = op_select(m, guard, bound, const_int(m, 32, 0));
    const struct permuted p = {x->count, x->first, address, bound, type_int(bits), align};
    for (uint32_t i = 0; i < count; i++)
        parts[i] = load_part(e, &p, op_lanes(m, lanes, NULL, i * part, part));
    for (uint32_t joined = part; joined < cx->lanes; joined *= 2)
        for (uint32_t i = 0; i < cx->lanes / joined; i += 2)
            parts[i / 2] = op_lanes(m, parts[i], parts[i + 1], 0, 2 * joined);
    V result = parts[0];
    if (bits < 32)
        result = op_trunc(m, result, type_lanes(type_int(bits), cx->lanes));
    return op_bitcast(m, result, type_lanes(element, cx->lanes));
}
