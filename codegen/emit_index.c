/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Index arithmetic: what depends on what (levels, lanes), the kernel's numbers, derived variables, affine forms.
 *
 * Scalars are i64.  Lanes are i32: tensors have less than 2^31 elements, so that lanes that exist are right and others may
 * wrap.
 */
#include "codegen/emit.h"

#include <string.h>

/* ---- analysis ---- */

static void analyze_var(struct emitter *e, uint32_t var);

static void raise_level(uint8_t *level, uint32_t to)
{
    if (*level < to)
        *level = (uint8_t)to;
}

static void analyze_form(struct emitter *e, struct form *f)
{
    f->vector_term = -1;
    for (uint32_t i = 0; i < f->affine->count; i++) {
        uint32_t var = f->affine->terms[i].var;
        analyze_var(e, var);
        raise_level(&f->level, e->var_level[var]);
        if (var == e->k->vector_var)
            f->vector_term = (int32_t)i;
        else if (e->var_lanes[var])
            f->derived_lanes = true;
    }
    f->lanes = f->derived_lanes || f->vector_term >= 0;
}

static void analyze_var(struct emitter *e, uint32_t var)
{
    const struct kvar *v = &e->k->vars[var];
    if (e->var_level[var]) /* loop variables and what has been visited */
        return;
    if (v->kind == KVAR_DIVMOD) {
        struct form *f = &e->forms[e->var_form[var]];
        analyze_form(e, f);
        e->var_level[var] = f->level ? f->level : LEVEL_UNIT;
        e->var_lanes[var] = f->lanes;
    } else { /* its expression comes before all that use the variable */
        e->var_level[var] = e->expr_level[v->expr] ? e->expr_level[v->expr] : LEVEL_UNIT;
        e->var_lanes[var] = e->expr_lanes[v->expr];
    }
}

static void analyze_expr(struct emitter *e, uint32_t id)
{
    const struct kexpr *x = &e->k->exprs[id];
    uint8_t *level = &e->expr_level[id];
    bool *lanes = &e->expr_lanes[id];

    for (uint32_t i = 0; i < 3 && x->args[i] != KEXPR_NONE; i++) {
        raise_level(level, e->expr_level[x->args[i]]);
        *lanes |= e->expr_lanes[x->args[i]];
        e->expr_rows[id] |= e->expr_rows[x->args[i]];
    }
    if (x->op == K_LOAD || x->op == K_INDEX) {
        uint32_t count = 1 + (x->op == K_LOAD ? x->guard_count : 0);
        for (uint32_t i = 0; i < count; i++) {
            struct form *f = &e->forms[e->expr_form[id] + i];
            analyze_form(e, f);
            raise_level(level, f->level);
            *lanes |= f->lanes;
            for (uint32_t t = 0; t < f->affine->count; t++)
                e->expr_rows[id] |= e->k->blocked && f->affine->terms[t].var == e->k->row_var;
        }
        if (x->op == K_LOAD)
            raise_level(level, LEVEL_UNIT);
    } else if (x->op == K_REDUCE) {
        *level = (uint8_t)e->point_level;
        *lanes = *lanes && e->vector_parallel;
        e->expr_rows[id] = e->k->blocked;
    } else if (x->op == K_SCAN) {
        *level = (uint8_t)e->inner_level;
    }
    if (x->keep >= 0) { /* a row has a value for every point and lane */
        *level = (uint8_t)e->inner_level;
        *lanes = e->vector_parallel || e->vector_reduced;
    }
}

/* Walks the numbers as kernel_numbers does. */
static uint32_t add_form(struct emitter *e, const struct kaffine *a, uint32_t *next)
{
    e->forms[e->form_count] = (struct form){.affine = a, .number = *next};
    *next += 1 + a->count;
    return e->form_count++;
}

static void add_guards(struct emitter *e, uint32_t count, const struct kguard *guards, uint32_t *next)
{
    for (uint32_t i = 0; i < count; i++) {
        add_form(e, &guards[i].form, next);
        ++*next; /* the bound */
    }
}

static void collect_forms(struct emitter *e)
{
    const struct kernel *k = e->k;
    uint32_t next = 0;

    for (uint32_t i = 0; i < k->var_count; i++) {
        if (k->vars[i].kind == KVAR_DIVMOD) {
            e->var_form[i] = add_form(e, &k->vars[i].base, &next);
            e->var_number[i] = next;
            next += 2;
        } else {
            e->var_number[i] = next++;
        }
    }
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        if (x->op == K_LOAD || x->op == K_INDEX)
            e->expr_form[i] = add_form(e, &x->index, &next);
        if (x->op == K_LOAD)
            add_guards(e, x->guard_count, x->guards, &next);
    }
    for (uint32_t i = 0; i < k->store_count; i++) {
        e->store_form[i] = add_form(e, &k->stores[i].index, &next);
        add_guards(e, k->stores[i].guard_count, k->stores[i].guards, &next);
    }
}

static bool allocate(struct emitter *e)
{
    const struct kernel *k = e->k;
    uint32_t forms = k->var_count;
    for (uint32_t i = 0; i < k->expr_count; i++)
        forms += 1 + k->exprs[i].guard_count;
    for (uint32_t i = 0; i < k->store_count; i++)
        forms += 1 + k->stores[i].guard_count;

    struct arena *a = &e->arena;
    e->forms = arena_array(a, forms + 1, sizeof *e->forms);
    e->form_cache = arena_array(a, (size_t)(forms + 1) * LEVELS_MAX, sizeof *e->form_cache);
    e->row_cache = arena_array(a, forms + 1, sizeof *e->row_cache);
    e->expr_form = arena_array(a, k->expr_count + 1, sizeof *e->expr_form);
    e->store_form = arena_array(a, k->store_count + 1, sizeof *e->store_form);
    e->expr_level = arena_array(a, k->expr_count + 1, sizeof *e->expr_level);
    e->expr_lanes = arena_array(a, k->expr_count + 1, sizeof *e->expr_lanes);
    e->expr_rows = arena_array(a, k->expr_count + 1, sizeof *e->expr_rows);
    e->expr_cache = arena_array(a, (size_t)(k->expr_count + 1) * COPIES_MAX, sizeof *e->expr_cache);
    e->splat_cache = arena_array(a, (size_t)(k->expr_count + 1) * COPIES_MAX, sizeof *e->splat_cache);
    e->accumulators = arena_array(a, k->expr_count + 1, sizeof *e->accumulators);
    e->counted = arena_array(a, k->expr_count + 1, sizeof *e->counted);
    return kernel_numbers(k, a, &e->numbers) && e->counted &&
           (e->params = arena_array(a, e->numbers.param_count + 1, sizeof *e->params)) && e->forms && e->form_cache &&
           e->row_cache && e->expr_form && e->store_form && e->expr_level && e->expr_lanes && e->expr_rows && e->expr_cache &&
           e->splat_cache && e->accumulators;
}

bool emit_analyze(struct emitter *e, struct error *error)
{
    const struct kernel *k = e->k;
    if (!allocate(e))
        return error_out_of_memory(error);
    collect_forms(e);

    enum kvar_kind kind = k->vector_var == KEXPR_NONE ? KVAR_LOADED : k->vars[k->vector_var].kind;
    e->vector_parallel = kind == KVAR_PARALLEL;
    e->vector_reduced = kind == KVAR_REDUCED;
    e->point_level = e->vector_parallel ? LEVEL_UNIT + 1 : LEVEL_UNIT;
    e->reduced_level = e->point_level + 1;
    e->inner_level = e->point_level + k->reduced_count;
    e->vector_level = e->vector_parallel ? e->point_level : e->inner_level;
    for (uint32_t i = 0; i < k->var_count; i++) {
        if (k->vars[i].kind == KVAR_PARALLEL)
            e->var_level[i] = (uint8_t)(i == k->vector_var || (k->blocked && i == k->row_var) ? e->vector_level : LEVEL_UNIT);
        else if (k->vars[i].kind == KVAR_REDUCED)
            e->var_level[i] = (uint8_t)(e->reduced_level + i - k->parallel_count);
        e->var_lanes[i] = i == k->vector_var;
    }
    e->tiling = tile_find(k);
    if (e->tiling.var != KEXPR_NONE) /* what depends on it is emitted for every row of a tile */
        e->var_level[e->tiling.var] = (uint8_t)e->vector_level;
    for (uint32_t i = 0; i < k->expr_count; i++)
        analyze_expr(e, i);
    for (uint32_t i = 0; i < k->store_count; i++)
        for (uint32_t f = 0; f <= k->stores[i].guard_count; f++)
            analyze_form(e, &e->forms[e->store_form[i] + f]);
    return true;
}

/* ---- numbers ---- */

bool number_is(const struct emitter *e, uint32_t number, int64_t value)
{
    const struct knumber *n = &e->numbers.items[number];
    return n->slot < 0 && n->value == value;
}

V number_value(struct emitter *e, uint32_t number)
{
    const struct knumber *n = &e->numbers.items[number];
    if (n->slot < 0)
        return const_int(&e->m, 64, n->value);
    if (!e->params[n->slot]) {
        emit_at(e, LEVEL_ENTRY);
        V index = const_int(&e->m, 64, n->slot);
        V address = LLVMBuildInBoundsGEP2(e->m.b, type_int(&e->m, 64), e->args_params, &index, 1, "");
        e->params[n->slot] = LLVMBuildLoad2(e->m.b, type_int(&e->m, 64), address, "param");
    }
    return e->params[n->slot];
}

/* ---- variables ---- */

static V divide_modulo(struct emitter *e, uint32_t var, V base)
{
    const struct kvar *v = &e->k->vars[var];
    if (v->divide != 1)
        base = LLVMBuildUDiv(e->m.b, base, const_int_like(&e->m, base, v->divide), "");
    if (v->modulo)
        base = LLVMBuildURem(e->m.b, base, const_int_like(&e->m, base, v->modulo), "");
    return base;
}

/* An index that is data: clamped to [-size, size-1] in its own type, then negative ones count from the end.  The result has
 * `bits` bits: 64 for scalars, 32 for lanes. */
static V clamp_index(struct emitter *e, uint32_t var, V x, uint32_t bits)
{
    const struct build *m = &e->m;
    enum ktype type = e->k->exprs[e->k->vars[var].expr].type;
    uint32_t own = 8 * (uint32_t)ktype_size(type), lanes = lanes_of(x);
    V size = number_value(e, e->var_number[var]);

    emit_at(e, e->var_level[var]);
    if (own < bits) { /* the narrower types hold no number that the wider one cannot */
        T to = type_like(type_int(m, bits), x);
        x = ktype_is_signed(type) ? LLVMBuildSExt(m->b, x, to, "") : LLVMBuildZExt(m->b, x, to, "");
        own = bits;
    }
    if (own < 64)
        size = LLVMBuildTrunc(m->b, size, type_int(m, own), "");
    V top = splat(m, LLVMBuildSub(m->b, size, const_int_like(m, size, 1), ""), lanes);
    if (ktype_is_signed(type)) {
        V bottom = splat(m, LLVMBuildNeg(m->b, size, ""), lanes);
        x = op_intrinsic2(m, "llvm.smin", op_intrinsic2(m, "llvm.smax", x, bottom), top);
        V negative = LLVMBuildICmp(m->b, LLVMIntSLT, x, LLVMConstNull(LLVMTypeOf(x)), "");
        x = LLVMBuildSelect(m->b, negative, LLVMBuildAdd(m->b, x, splat(m, size, lanes), ""), x, "");
    } else {
        x = op_intrinsic2(m, "llvm.umin", x, top);
    }
    return own > bits ? LLVMBuildTrunc(m->b, x, type_like(type_int(m, bits), x), "") : x;
}

V var_scalar(struct emitter *e, uint32_t var)
{
    const struct kvar *v = &e->k->vars[var];
    if (v->kind == KVAR_PARALLEL || v->kind == KVAR_REDUCED)
        return e->var_value[var];

    struct cached *c = &e->var_cache[var * COPIES_MAX];
    uint32_t level = e->var_level[var];
    if (c->serial == e->levels[level].serial && lanes_of(c->value) == 1)
        return c->value;
    if (v->kind == KVAR_DIVMOD) {
        V base = place_value(e, &(struct place){.base = form_place(e, e->var_form[var]).base});
        emit_at(e, level);
        c->value = divide_modulo(e, var, base);
    } else {
        V x = expr_value(e, v->expr);
        c->value = clamp_index(e, var, x, 64);
    }
    c->serial = e->levels[level].serial;
    return c->value;
}

/* A derived variable that depends on the vector variable: i32 lanes. */
static V var_lanes_value(struct emitter *e, uint32_t var)
{
    const struct kvar *v = &e->k->vars[var];
    struct cached *c = &e->var_cache[var * COPIES_MAX + e->copy];
    uint32_t level = e->var_level[var];
    if (c->serial == e->levels[level].serial)
        return c->value;
    if (v->kind == KVAR_DIVMOD) {
        struct place p = form_place(e, e->var_form[var]);
        emit_at(e, level);
        V base = splat(&e->m, LLVMBuildTrunc(e->m.b, p.base, type_int(&e->m, 32), ""), e->lanes);
        V iota = const_iota(&e->m, 32, e->lanes);
        if (p.kind == FORM_UNIT)
            base = LLVMBuildAdd(e->m.b, base, iota, "");
        else if (p.kind == FORM_REVERSE)
            base = LLVMBuildSub(e->m.b, base, iota, "");
        else if (p.kind == FORM_LANES)
            base = LLVMBuildAdd(e->m.b, base, p.lanes, "");
        c->value = divide_modulo(e, var, base);
    } else {
        V x = expr_value_lanes(e, v->expr, e->lanes);
        c->value = clamp_index(e, var, x, 32);
    }
    c->serial = e->levels[level].serial;
    return c->value;
}

/* ---- forms ---- */

/* sum + coefficient * value; coefficient is the number's. */
static V add_term(struct emitter *e, V sum, uint32_t number, V coefficient, V value)
{
    bool zero = LLVMIsConstant(sum) && LLVMIsNull(sum);
    if (number_is(e, number, -1))
        return LLVMBuildSub(e->m.b, sum, value, "");
    V product = number_is(e, number, 1) ? value : LLVMBuildMul(e->m.b, value, coefficient, "");
    return zero ? product : LLVMBuildAdd(e->m.b, sum, product, "");
}

static bool term_is_uniform(const struct emitter *e, const struct form *f, uint32_t i)
{
    uint32_t var = f->affine->terms[i].var;
    if (e->tile && var == e->tiling.var)
        return false;
    return !(e->lanes > 1 && e->var_lanes[var]) && var != e->k->vector_var;
}

/* The offset comes first, where it is known longest; in stages last, since the many addresses of a tile differ in nothing else. */
static bool offset_is_last(const struct emitter *e)
{
    return e->k->chunk_vars && !e->blocked;
}

/* form_uniform, in stages without the offset. */
static V form_terms(struct emitter *e, uint32_t form)
{
    const struct form *f = &e->forms[form];
    V sum = offset_is_last(e) ? const_int(&e->m, 64, 0) : number_value(e, f->number);
    for (uint32_t level = LEVEL_UNIT; level <= f->level; level++) {
        bool any = false;
        for (uint32_t i = 0; i < f->affine->count; i++)
            any |= e->var_level[f->affine->terms[i].var] == level && term_is_uniform(e, f, i);
        if (!any)
            continue;
        struct cached *c = &e->form_cache[form * LEVELS_MAX + level];
        if (c->serial != e->levels[level].serial) {
            for (uint32_t i = 0; i < f->affine->count; i++) {
                uint32_t var = f->affine->terms[i].var;
                if (e->var_level[var] != level || !term_is_uniform(e, f, i))
                    continue;
                V coefficient = number_value(e, f->number + 1 + i), value = var_scalar(e, var);
                emit_at(e, level);
                sum = add_term(e, sum, f->number + 1 + i, coefficient, value);
            }
            *c = (struct cached){sum, e->levels[level].serial};
        }
        sum = c->value;
    }
    return sum;
}

V form_uniform(struct emitter *e, uint32_t form)
{
    V sum = form_terms(e, form);

    if (!offset_is_last(e) || number_is(e, e->forms[form].number, 0))
        return sum;
    V offset = number_value(e, e->forms[form].number);
    emit_at(e, e->forms[form].level);
    return LLVMBuildAdd(e->m.b, sum, offset, "");
}

struct place form_place(struct emitter *e, uint32_t form)
{
    const struct form *f = &e->forms[form];
    struct place p = {.kind = FORM_UNIFORM, .base = form_uniform(e, form)};
    V lanes = NULL;

    for (uint32_t i = 0; e->tile && i < f->affine->count; i++) {
        uint32_t number = f->number + 1 + i;
        if (f->affine->terms[i].var != e->tiling.var)
            continue;
        V coefficient = number_value(e, number);
        p.tile_step = coefficient;
        emit_at(e, f->level);
        V row = LLVMBuildAdd(e->m.b, e->tile_base, tile_row(e), "");
        p.base = add_term(e, p.base, number, coefficient, row);
    }
    if (f->vector_term >= 0) {
        uint32_t number = f->number + 1 + (uint32_t)f->vector_term;
        V coefficient = number_value(e, number), base = e->vector_base[e->lanes > 1 ? e->copy : 0];
        emit_at(e, f->level);
        p.row = form_terms(e, form);
        p.along = add_term(e, offset_is_last(e) ? number_value(e, f->number) : const_int(&e->m, 64, 0), number, coefficient, base);
        p.base = add_term(e, p.base, number, coefficient, base);
        if (e->lanes > 1 && !f->derived_lanes && number_is(e, number, 1)) {
            p.kind = FORM_UNIT;
        } else if (e->lanes > 1 && !f->derived_lanes && number_is(e, number, -1)) {
            p.kind = FORM_REVERSE;
        } else if (e->lanes > 1) {
            emit_at(e, LEVEL_ENTRY);
            V step = splat(&e->m, LLVMBuildTrunc(e->m.b, coefficient, type_int(&e->m, 32), ""), e->lanes);
            lanes = LLVMBuildMul(e->m.b, step, const_iota(&e->m, 32, e->lanes), "");
        }
    }
    for (uint32_t i = 0; e->blocked && e->copy >= e->tile_vectors && i < f->affine->count; i++) {
        if (f->affine->terms[i].var != e->k->row_var)
            continue;
        V coefficient = number_value(e, f->number + 1 + i); /* a constant: block_prepare */
        emit_at(e, f->level);
        V row = const_int(&e->m, 64, e->copy / e->tile_vectors);
        p.base = LLVMBuildAdd(e->m.b, p.base, LLVMBuildMul(e->m.b, row, coefficient, ""), "");
    }
    for (uint32_t i = 0; e->lanes > 1 && f->derived_lanes && i < f->affine->count; i++) {
        uint32_t var = f->affine->terms[i].var;
        if (var == e->k->vector_var || !e->var_lanes[var])
            continue;
        V coefficient = number_value(e, f->number + 1 + i), value = var_lanes_value(e, var);
        emit_at(e, f->level);
        if (!number_is(e, f->number + 1 + i, 1)) {
            V factor = splat(&e->m, LLVMBuildTrunc(e->m.b, coefficient, type_int(&e->m, 32), ""), e->lanes);
            value = LLVMBuildMul(e->m.b, value, factor, "");
        }
        lanes = lanes ? LLVMBuildAdd(e->m.b, lanes, value, "") : value;
    }
    if (lanes) {
        p.kind = FORM_LANES;
        p.lanes = lanes;
    }
    return p;
}

uint32_t row_level(const struct emitter *e, const struct form *f)
{
    uint32_t level = e->tile ? LEVEL_UNIT : LEVEL_ENTRY;
    for (uint32_t i = 0; i < f->affine->count; i++)
        if (term_is_uniform(e, f, i) && e->var_level[f->affine->terms[i].var] > level)
            level = e->var_level[f->affine->terms[i].var];
    return level;
}

V stepped_pointer(struct emitter *e, T element, V groups[ROW_GROUPS], V step, uint32_t i)
{
    V offset;

    for (uint32_t g = 1; g <= i / 4; g++) {
        if (groups[g])
            continue;
        emit_at(e, LEVEL_ENTRY);
        offset = LLVMBuildMul(e->m.b, step, const_int(&e->m, 64, 4), "");
        emit_at(e, e->vector_level);
        groups[g] = op_opaque(&e->m, LLVMBuildGEP2(e->m.b, element, groups[g - 1], &offset, 1, ""));
    }
    if (i % 4 == 0)
        return groups[i / 4];
    emit_at(e, LEVEL_ENTRY);
    offset = LLVMBuildMul(e->m.b, step, const_int(&e->m, 64, i % 4), "");
    emit_at(e, e->vector_level);
    return LLVMBuildGEP2(e->m.b, element, groups[i / 4], &offset, 1, "");
}

V place_row(struct emitter *e, uint32_t form, struct place *p, T element, V tensor)
{
    struct row_pointer *c = &e->row_cache[form];
    uint32_t level = row_level(e, &e->forms[form]), serial = e->levels[level].serial;

    /* Tiles of accumulators do their own addressing; loops over rows have few addresses, and there strength reduction also
     * makes the places to which constants of elementary functions are moved. */
    if (!p->row || e->blocked || !e->vector_parallel)
        return NULL;
    if (c->serial != serial || c->row != p->row || c->tensor != tensor) {
        emit_at(e, level);
        V row = p->tile_step ? LLVMBuildAdd(e->m.b, p->row, LLVMBuildMul(e->m.b, e->tile_base, p->tile_step, ""), "") : p->row;
        V pointer = LLVMBuildGEP2(e->m.b, element, tensor, &row, 1, "");
        *c = (struct row_pointer){tensor, p->row, op_opaque(&e->m, pointer), serial, {NULL}, 0};
    }
    if (!p->tile_step)
        return c->pointer;
    if (!e->tile_rows) { /* a whole tile */
        if (c->groups_serial != e->levels[e->vector_level].serial) {
            emit_at(e, e->vector_level);
            memset(c->groups, 0, sizeof c->groups);
            c->groups[0] = op_opaque(&e->m, LLVMBuildGEP2(e->m.b, element, c->pointer, &p->along, 1, ""));
            c->groups_serial = e->levels[e->vector_level].serial;
        }
        p->along = const_int(&e->m, 64, 0);
        return stepped_pointer(e, element, c->groups, p->tile_step, e->copy);
    }
    if (!e->copy)
        return c->pointer;
    V row = tile_row(e);
    emit_at(e, level);
    V offset = LLVMBuildMul(e->m.b, row, p->tile_step, "");
    return op_opaque(&e->m, LLVMBuildGEP2(e->m.b, element, c->pointer, &offset, 1, ""));
}

V place_value(struct emitter *e, const struct place *p)
{
    if (p->kind == FORM_UNIFORM)
        return p->base;
    V base = splat(&e->m, p->base, e->lanes);
    if (p->kind == FORM_UNIT)
        return LLVMBuildAdd(e->m.b, base, const_iota(&e->m, 64, e->lanes), "");
    if (p->kind == FORM_REVERSE)
        return LLVMBuildSub(e->m.b, base, const_iota(&e->m, 64, e->lanes), "");
    return LLVMBuildAdd(e->m.b, base, LLVMBuildSExt(e->m.b, p->lanes, type_lanes(type_int(&e->m, 64), e->lanes), ""), "");
}

V reduced_index(struct emitter *e)
{
    const struct kernel *k = e->k;
    V index = const_int(&e->m, 64, 0);
    for (uint32_t r = 0; r < k->reduced_count; r++) {
        uint32_t var = k->parallel_count + r;
        V size = number_value(e, e->var_number[var]);
        V value = var == k->vector_var ? e->vector_base[e->lanes > 1 ? e->copy : 0] : e->var_value[var];
        emit_at(e, e->var_level[var]);
        if (r)
            index = LLVMBuildMul(e->m.b, index, size, "");
        index = LLVMBuildAdd(e->m.b, index, value, "");
    }
    return index;
}
