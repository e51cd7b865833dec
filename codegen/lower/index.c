/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits index arithmetic: the kernel's numbers, tensors, variables and affine forms.
 */
#include "codegen/lower/index.h"

#include <string.h>

/* ---- numbers and tensors ---- */

/* Returns an argument of the function, which is loaded at its entry. */
static V argument(struct emitter *e, V *known, enum loop_op op, T type, int64_t number)
{
    struct loop_place *here = frame_at(&e->frame, LEVEL_ENTRY);

    *known = *known ? *known : loop_add(e->m.b, op, type, NULL, 0, number);
    e->m.b->at = here;
    return *known;
}

V number_value(struct emitter *e, uint32_t number)
{
    const struct knumber *n = &e->info.numbers.items[number];

    return n->slot < 0
               ? const_index(&e->m, n->value)
               : argument(e, &e->args.params[n->slot], LOOP_NUMBER, type_index(&e->m), (int64_t)e->args.first_number + n->slot);
}

V form_coefficient(struct emitter *e, const struct form *f, uint32_t var)
{
    for (uint32_t i = 0; i < f->affine->count; i++)
        if (f->affine->terms[i].var == var)
            return number_value(e, f->number + 1 + i);
    return NULL;
}

V form_bound(struct emitter *e, uint32_t form)
{
    return number_value(e, e->info.forms[form].number + 1 + e->info.forms[form].affine->count);
}

uint32_t tensor_alignment(const struct emitter *e, uint32_t tensor)
{
    const struct ktensor *t = &e->k->tensors[tensor];

    return t->unaligned ? 1 : (uint32_t)dtype_size(t->type);
}

V tensor_pointer(struct emitter *e, uint32_t tensor)
{
    return argument(e, &e->args.tensors[tensor], LOOP_TENSOR, type_ptr, tensor);
}

static V load_bound(struct emitter *e, int64_t element)
{
    V tensor = tensor_pointer(e, e->k->bound);
    struct loop_place *here = frame_at(&e->frame, LEVEL_ENTRY);
    V address = op_address(&e->m, type_i32, tensor, const_index(&e->m, element));
    V bound = op_sext(&e->m, op_load(&e->m, type_i32, address, NULL, sizeof(int32_t)), type_index(&e->m));

    e->m.b->at = here;
    return bound;
}

V var_first(struct emitter *e, uint32_t var)
{
    if (!e->k->vars[var].bounded)
        return const_index(&e->m, 0);
    if (!e->args.first)
        e->args.first = load_bound(e, 0);
    return e->args.first;
}

V var_end(struct emitter *e, uint32_t var)
{
    if (!e->k->vars[var].bounded)
        return number_value(e, e->info.numbers.vars[var]);
    if (!e->args.end)
        e->args.end = load_bound(e, 1);
    return e->args.end;
}

V var_values(struct emitter *e, uint32_t var)
{
    V first = var_first(e, var), size = var_end(e, var);
    struct loop_place *here = frame_at(&e->frame, LEVEL_ENTRY);

    size = e->k->vars[var].bounded ? op_sub(&e->m, size, first) : size;
    e->m.b->at = here;
    return size;
}

/* ---- variables ---- */

static V divide_modulo(struct emitter *e, uint32_t var, V base)
{
    const struct kvar *v = &e->k->vars[var];
    if (v->divide != 1)
        base = op_divide_index(&e->m, base, const_int_like(&e->m, base, v->divide));
    if (v->modulo)
        base = op_modulo_index(&e->m, base, const_int_like(&e->m, base, v->modulo));
    return base;
}

/* Returns an index that is data: it is clamped to [-size, size-1] in its own type, then negative ones count from the end.  The
 * result has `bits` bits: those of indices for scalars, 32 for lanes. */
static V clamp_index(struct emitter *e, uint32_t var, V x, uint32_t bits)
{
    const struct build *m = &e->m;
    enum ktype type = e->k->exprs[e->k->vars[var].expr].type;
    uint32_t own = 8 * (uint32_t)ktype_size(type), lanes = lanes_of(x);
    V size = number_value(e, e->info.numbers.vars[var]);

    frame_at(&e->frame, e->info.var_level[var]);
    if (own < bits) { /* the narrower types hold no number that the wider one cannot */
        T to = type_like(type_int(bits), x);
        x = ktype_is_signed(type) ? op_sext(m, x, to) : op_zext(m, x, to);
        own = bits;
    }
    size = own < m->index_bits ? op_trunc(m, size, type_int(own)) : op_sext(m, size, type_int(own));
    V top = splat(m, op_sub(m, size, const_int_like(m, size, 1)), lanes);
    if (ktype_is_signed(type)) {
        V bottom = splat(m, op_neg(m, size), lanes);
        /* PoCL makes no vectors of items of which each takes the lesser of a greater. */
        x = m->isa->address_spaces ? op_select(m, op_lt(m, x, bottom), bottom, op_select(m, op_gt(m, x, top), top, x))
                                   : op_smin(m, op_smax(m, x, bottom), top);
        V negative = op_lt(m, x, const_zero(m, x->type));
        x = op_select(m, negative, op_add(m, x, splat(m, size, lanes)), x);
    } else {
        x = op_umin(m, x, top);
    }
    return own > bits ? op_trunc(m, x, type_like(type_int(bits), x)) : x;
}

V var_scalar(struct emitter *e, const struct context *cx, uint32_t var)
{
    const struct kvar *v = &e->k->vars[var];
    if (v->kind == KVAR_PARALLEL || v->kind == KVAR_REDUCED)
        return e->frame.var_value[var];

    struct cached *c = &e->cache.vars[var * COPIES_MAX];
    uint32_t level = e->info.var_level[var];
    if (c->serial == e->frame.levels[level].serial && lanes_of(c->value) == 1)
        return c->value;
    struct loop_place *here = e->m.b->at;
    if (v->kind == KVAR_DIVMOD) {
        V base = form_evaluate(e, cx, e->info.var_form[var]).base;
        frame_at(&e->frame, level);
        c->value = divide_modulo(e, var, base);
    } else {
        V x = e->expr_value(e, cx, v->expr, 1);
        c->value = clamp_index(e, var, x, e->m.index_bits);
    }
    e->m.b->at = here;
    c->serial = e->frame.levels[level].serial;
    return c->value;
}

/* Returns a derived variable that depends on the vector variable, as i32 lanes. */
static V var_lanes(struct emitter *e, const struct context *cx, uint32_t var)
{
    const struct kvar *v = &e->k->vars[var];
    struct cached *c = &e->cache.vars[var * COPIES_MAX + cx->copy];
    uint32_t level = e->info.var_level[var];
    if (c->serial == e->frame.levels[level].serial)
        return c->value;
    if (v->kind == KVAR_DIVMOD) {
        struct form_value p = form_evaluate(e, cx, e->info.var_form[var]);
        frame_at(&e->frame, level);
        c->value = divide_modulo(e, var, splat(&e->m, form_lanes(e, cx, &p, 32), cx->lanes));
    } else {
        V x = e->expr_value(e, cx, v->expr, cx->lanes);
        c->value = clamp_index(e, var, x, 32);
    }
    c->serial = e->frame.levels[level].serial;
    return c->value;
}

/* ---- forms ---- */

/* Returns sum + coefficient * value, where coefficient is that of the number. */
static V add_term(struct emitter *e, V sum, uint32_t number, V coefficient, V value)
{
    int64_t value_of_sum;
    bool zero = is_int_constant(sum, &value_of_sum) && value_of_sum == 0;
    if (number_is(&e->info, number, -1))
        return op_sub(&e->m, sum, value);
    V product = number_is(&e->info, number, 1) ? value : op_mul(&e->m, value, coefficient);
    return zero ? product : op_add(&e->m, sum, product);
}

static bool term_is_uniform(const struct emitter *e, const struct context *cx, const struct form *f, uint32_t i)
{
    uint32_t var = f->affine->terms[i].var;
    if (cx->transposed && var == e->s->transpose.var)
        return false;
    if (cx->tile && var == e->s->vector_var) /* the first column */
        return true;
    return !(cx->lanes > 1 && e->s->var_lanes[var]) && var != e->s->vector_var;
}

/* Returns whether a form's offset is added last.  It comes first otherwise, where it is known longest; in stages it comes last,
 * since the many addresses of a macro-tile differ in nothing else. */
static bool offset_is_last(const struct emitter *e, const struct context *cx)
{
    return e->k->macro_tile_vars && !cx->tile;
}

/* Returns what form_uniform does as far as it is known at a level, but in stages without the offset. */
static V form_terms(struct emitter *e, const struct context *cx, uint32_t form, uint32_t last)
{
    const struct form *f = &e->info.forms[form];
    V sum = offset_is_last(e, cx) ? const_index(&e->m, 0) : number_value(e, f->number);
    for (uint32_t level = LEVEL_UNIT; level <= last; level++) {
        bool any = false;
        for (uint32_t i = 0; i < f->affine->count; i++)
            any |= e->info.var_level[f->affine->terms[i].var] == level && term_is_uniform(e, cx, f, i);
        if (!any)
            continue;
        struct cached *c = &e->cache.forms[form * LEVELS_MAX + level];
        if (c->serial != e->frame.levels[level].serial) {
            for (uint32_t i = 0; i < f->affine->count; i++) {
                uint32_t var = f->affine->terms[i].var;
                if (e->info.var_level[var] != level || !term_is_uniform(e, cx, f, i))
                    continue;
                V coefficient = number_value(e, f->number + 1 + i), value = var_scalar(e, cx, var);
                frame_at(&e->frame, level);
                sum = add_term(e, sum, f->number + 1 + i, coefficient, value);
            }
            *c = (struct cached){sum, e->frame.levels[level].serial};
        }
        sum = c->value;
    }
    return sum;
}

V form_uniform(struct emitter *e, const struct context *cx, uint32_t form)
{
    V sum = form_terms(e, cx, form, e->info.forms[form].level);

    if (!offset_is_last(e, cx) || number_is(&e->info, e->info.forms[form].number, 0))
        return sum;
    V offset = number_value(e, e->info.forms[form].number);
    frame_at(&e->frame, e->info.forms[form].level);
    return op_add(&e->m, sum, offset);
}

/* Returns the row of a transposed tile that the current copy is for.  In a partial tile the rows that do not exist are the last
 * one that does. */
static V transposed_row(struct emitter *e, const struct context *cx)
{
    V copy = const_index(&e->m, cx->copy);
    if (!cx->transposed->rows || !cx->copy)
        return copy;
    frame_at(&e->frame, LEVEL_UNIT);
    return op_smin(&e->m, op_sub(&e->m, cx->transposed->rows, const_index(&e->m, 1)), copy);
}

static void add_transposed_row(struct emitter *e, const struct context *cx, const struct form *f, struct form_value *p)
{
    for (uint32_t i = 0; i < f->affine->count; i++) {
        uint32_t number = f->number + 1 + i;
        if (f->affine->terms[i].var != e->s->transpose.var)
            continue;
        V coefficient = number_value(e, number);
        p->tile_step = coefficient;
        frame_at(&e->frame, f->level);
        V row = op_add(&e->m, cx->transposed->base, transposed_row(e, cx));
        p->base = add_term(e, p->base, number, coefficient, row);
    }
}

uint32_t form_row_level(const struct emitter *e, const struct context *cx, const struct form *f)
{
    uint32_t level = cx->transposed ? LEVEL_UNIT : LEVEL_ENTRY;

    if (e->s->transpose.var == KEXPR_NONE && e->info.vector_parallel && schedule_has_many_addresses(e->s))
        return LEVEL_UNIT;
    for (uint32_t i = 0; i < f->affine->count; i++)
        if (term_is_uniform(e, cx, f, i) && e->info.var_level[f->affine->terms[i].var] > level)
            level = e->info.var_level[f->affine->terms[i].var];
    return level;
}

static void add_vector_term(struct emitter *e, const struct context *cx, uint32_t form, struct form_value *p)
{
    const struct form *f = &e->info.forms[form];
    uint32_t number = f->number + 1 + (uint32_t)f->vector_term;
    V coefficient = number_value(e, number);
    V base = cx->tile ? const_index(&e->m, (int64_t)(cx->copy % cx->tile->vectors) * e->s->lanes)
                      : cx->vector_base[cx->lanes > 1 ? cx->copy : 0];

    const uint32_t row_level = form_row_level(e, cx, f);
    p->row = form_terms(e, cx, form, row_level);
    frame_at(&e->frame, f->level);
    p->along = add_term(e, const_index(&e->m, 0), number, coefficient, base);
    for (uint32_t i = 0; i < f->affine->count; i++) {
        const uint32_t var = f->affine->terms[i].var;
        if (e->info.var_level[var] > row_level && term_is_uniform(e, cx, f, i))
            p->along = add_term(e, p->along, f->number + 1 + i, number_value(e, f->number + 1 + i), var_scalar(e, cx, var));
    }
    if (offset_is_last(e, cx))
        p->offset = f->number;
    if (!cx->tile || cx->copy % cx->tile->vectors)
        p->base = add_term(e, p->base, number, coefficient, base);
    if (cx->lanes > 1 && !f->derived_lanes && number_is(&e->info, number, 1)) {
        p->kind = FORM_CONTIGUOUS;
    } else if (cx->lanes > 1 && !f->derived_lanes && number_is(&e->info, number, -1)) {
        p->kind = FORM_REVERSED;
    } else if (cx->lanes > 1) {
        frame_at(&e->frame, LEVEL_ENTRY);
        V step = splat(&e->m, op_trunc(&e->m, coefficient, type_i32), cx->lanes);
        p->lanes = op_mul(&e->m, step, const_iota(&e->m, 32, cx->lanes));
    }
}

V tile_row(const struct emitter *e, const struct context *cx, uint32_t row)
{
    V whole = row + 1 == cx->tile->rows ? cx->tile->whole : NULL, exact = const_index(&e->m, row);

    return whole ? op_select(&e->m, whole, exact, const_index(&e->m, (int64_t)row - 1)) : exact;
}

/* Adds the row of a register tile that the current copy is in, beyond the first. */
static void add_tile_row(struct emitter *e, const struct context *cx, const struct form *f, struct form_value *p)
{
    const uint32_t copy_row = cx->copy / cx->tile->vectors;

    for (uint32_t i = 0; copy_row && i < f->affine->count; i++) {
        const uint32_t var = f->affine->terms[i].var;
        const bool of_lines = tile_has_lines(e->s, var);
        if (var != e->s->tile.m_var && !of_lines)
            continue;
        V coefficient = number_value(e, f->number + 1 + i); /* of rows a constant: fix_strides */
        frame_at(&e->frame, f->level);
        V row = of_lines ? const_index(&e->m, copy_row / cx->tile->rows) : tile_row(e, cx, copy_row % cx->tile->rows);
        p->base = op_add(&e->m, p->base, op_mul(&e->m, row, coefficient));
    }
}

static void add_derived_lanes(struct emitter *e, const struct context *cx, const struct form *f, struct form_value *p)
{
    for (uint32_t i = 0; i < f->affine->count; i++) {
        uint32_t var = f->affine->terms[i].var;
        if (var == e->s->vector_var || !e->s->var_lanes[var])
            continue;
        V coefficient = number_value(e, f->number + 1 + i), value = var_lanes(e, cx, var);
        frame_at(&e->frame, f->level);
        if (!number_is(&e->info, f->number + 1 + i, 1)) {
            V stride = splat(&e->m, op_trunc(&e->m, coefficient, type_i32), cx->lanes);
            value = op_mul(&e->m, value, stride);
        }
        p->lanes = p->lanes ? op_add(&e->m, p->lanes, value) : value;
    }
}

struct form_value form_evaluate(struct emitter *e, const struct context *cx, uint32_t form)
{
    const struct form *f = &e->info.forms[form];
    struct loop_place *here = e->m.b->at;
    struct form_value p = {.kind = FORM_UNIFORM, .base = form_uniform(e, cx, form)};

    if (cx->transposed)
        add_transposed_row(e, cx, f, &p);
    if (cx->tile)
        add_tile_row(e, cx, f, &p);
    if (f->vector_term >= 0)
        add_vector_term(e, cx, form, &p);
    if (cx->lanes > 1 && f->derived_lanes)
        add_derived_lanes(e, cx, f, &p);
    if (p.lanes)
        p.kind = FORM_LANES;
    e->m.b->at = here;
    return p;
}

V stepped_pointer(struct emitter *e, T element, V groups[ROW_GROUPS], V step, uint32_t i)
{
    V offset;

    for (uint32_t g = 1; g <= i / 4; g++) {
        if (groups[g])
            continue;
        frame_at(&e->frame, LEVEL_ENTRY);
        offset = op_times(&e->m, step, 4);
        frame_at(&e->frame, e->info.vector_level);
        groups[g] = op_opaque(&e->m, op_address(&e->m, element, groups[g - 1], offset));
    }
    if (i % 4 == 0)
        return groups[i / 4];
    frame_at(&e->frame, LEVEL_ENTRY);
    offset = op_times(&e->m, step, i % 4);
    frame_at(&e->frame, e->info.vector_level);
    return op_address(&e->m, element, groups[i / 4], offset);
}

V form_row_pointer(struct emitter *e, const struct context *cx, uint32_t form, struct form_value *p, T element, V tensor)
{
    struct row_pointer *c = &e->cache.row_pointers[form];
    uint32_t level = form_row_level(e, cx, &e->info.forms[form]), serial = e->frame.levels[level].serial;

    /* Register tiles do their own addressing, and so do devices' compilers; loops over rows have few addresses, and there
     * strength reduction also makes the positions to which constants of elementary functions are moved. */
    if (!p->row || cx->tile || !e->info.vector_parallel || e->m.isa->address_spaces)
        return NULL;
    if (c->serial != serial || c->row != p->row || c->tensor != tensor) {
        frame_at(&e->frame, level);
        V row = p->tile_step ? op_add(&e->m, p->row, op_mul(&e->m, cx->transposed->base, p->tile_step)) : p->row;
        V pointer = op_address(&e->m, element, tensor, row);
        *c = (struct row_pointer){tensor, p->row, op_opaque(&e->m, pointer), serial, {NULL}, 0};
    }
    if (!p->tile_step)
        return c->pointer;
    if (!cx->transposed->rows) { /* a whole tile */
        if (c->groups_serial != e->frame.levels[e->info.vector_level].serial) {
            frame_at(&e->frame, e->info.vector_level);
            memset(c->groups, 0, sizeof c->groups);
            c->groups[0] = op_opaque(&e->m, op_address(&e->m, element, c->pointer, p->along));
            c->groups_serial = e->frame.levels[e->info.vector_level].serial;
        }
        p->along = const_index(&e->m, 0);
        return stepped_pointer(e, element, c->groups, p->tile_step, cx->copy);
    }
    if (!cx->copy)
        return c->pointer;
    V row = transposed_row(e, cx);
    frame_at(&e->frame, level);
    V offset = op_mul(&e->m, row, p->tile_step);
    return op_opaque(&e->m, op_address(&e->m, element, c->pointer, offset));
}

V form_pointer(struct emitter *e, T element, V tensor, V row, const struct form_value *p)
{
    V address = row ? op_address(&e->m, element, row, p->along) : op_address(&e->m, element, tensor, p->base);

    return row && p->offset ? op_address(&e->m, element, address, number_value(e, p->offset)) : address;
}

V form_lanes(struct emitter *e, const struct context *cx, const struct form_value *p, uint32_t bits)
{
    V base = op_trunc(&e->m, p->base, type_int(bits));

    if (p->kind == FORM_UNIFORM)
        return base;
    base = splat(&e->m, base, cx->lanes);
    if (p->kind == FORM_LANES)
        return op_add(&e->m, base, op_sext(&e->m, p->lanes, base->type));
    return op2(&e->m, p->kind == FORM_CONTIGUOUS ? LOOP_ADD : LOOP_SUB, base, const_iota(&e->m, bits, cx->lanes));
}

V reduced_index(struct emitter *e, const struct context *cx)
{
    const struct kernel *k = e->k;
    struct loop_place *here = e->m.b->at;
    V index = const_index(&e->m, 0);
    for (uint32_t r = 0; r < k->reduced_count; r++) {
        uint32_t var = k->parallel_count + r;
        V size = number_value(e, e->info.numbers.vars[var]);
        V value = var == e->s->vector_var ? cx->vector_base[cx->lanes > 1 ? cx->copy : 0] : e->frame.var_value[var];
        frame_at(&e->frame, e->info.var_level[var]);
        if (r)
            index = op_mul(&e->m, index, size);
        index = op_add(&e->m, index, value);
    }
    e->m.b->at = here;
    return index;
}
