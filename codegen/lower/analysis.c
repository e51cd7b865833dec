/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds out what depends on what: the levels and lanes of variables, forms and expressions.
 */
#include "codegen/lower/analysis.h"

#include "ir/kernel/kernel_internal.h"

static void analyze_var(struct analysis *a, const struct schedule *s, uint32_t var);

static void raise_level(uint8_t *level, uint32_t to)
{
    if (*level < to)
        *level = (uint8_t)to;
}

static void analyze_form(struct analysis *a, const struct schedule *s, struct form *f)
{
    f->vector_term = -1;
    for (uint32_t i = 0; i < f->affine->count; i++) {
        uint32_t var = f->affine->terms[i].var;
        analyze_var(a, s, var);
        raise_level(&f->level, a->var_level[var]);
        if (var == s->vector_var)
            f->vector_term = (int32_t)i;
        else if (s->var_lanes[var])
            f->derived_lanes = true;
    }
}

static void analyze_var(struct analysis *a, const struct schedule *s, uint32_t var)
{
    const struct kvar *v = &s->kernel->vars[var];
    if (a->var_level[var]) /* loop variables and what has been visited */
        return;
    if (v->kind == KVAR_DIVMOD) {
        struct form *f = &a->forms[a->var_form[var]];
        analyze_form(a, s, f);
        a->var_level[var] = f->level ? f->level : LEVEL_UNIT;
    } else { /* its expression comes before all that use the variable */
        a->var_level[var] = a->expr_level[v->expr] ? a->expr_level[v->expr] : LEVEL_UNIT;
    }
}

static void analyze_expr(struct analysis *a, const struct schedule *s, uint32_t id)
{
    const struct kexpr *x = &s->kernel->exprs[id];
    uint8_t *level = &a->expr_level[id];

    for (uint32_t i = 0; i < 3 && x->args[i] != KEXPR_NONE; i++) {
        raise_level(level, a->expr_level[x->args[i]]);
        a->expr_rows[id] |= a->expr_rows[x->args[i]];
    }
    if (x->op == K_LOAD || x->op == K_INDEX) {
        uint32_t count = 1 + (x->op == K_LOAD ? x->guard_count : 0);
        for (uint32_t i = 0; i < count; i++) {
            struct form *f = &a->forms[a->expr_form[id] + i];
            analyze_form(a, s, f);
            raise_level(level, f->level);
            for (uint32_t t = 0; t < f->affine->count; t++)
                a->expr_rows[id] |=
                    s->tiled && (f->affine->terms[t].var == s->tile.m_var || tile_has_lines(s, f->affine->terms[t].var));
        }
        if (x->op == K_LOAD)
            raise_level(level, x->varying && (s->kernel->tensors[x->tensor].written || load_is_branch(s, id))
                                   ? (uint8_t)a->inner_level
                                   : LEVEL_UNIT);
    } else if (x->op == K_REDUCE) {
        *level = (uint8_t)a->point_level;
        a->expr_rows[id] = s->tiled;
    } else if (x->op == K_SCAN) {
        *level = (uint8_t)a->inner_level;
    }
    if (s->exprs[id].row_buffer >= 0) /* a row buffer has a value for every point and lane */
        *level = (uint8_t)a->inner_level;
}

/* Lists the forms, in the order of their numbers; that of a guard has its bound, too. */
static bool collect_forms(struct analysis *a, const struct kernel *k, struct arena *arena)
{
    uint32_t number = 0;

    for (struct kform_walk w = {0}; kernel_next_form(k, &w);)
        a->form_count++;
    a->forms = arena_array(arena, a->form_count + 1, sizeof *a->forms);
    a->var_form = arena_array(arena, (size_t)k->var_count + k->expr_count + k->store_count + 1, sizeof *a->var_form);
    if (!a->forms || !a->var_form)
        return false;
    a->expr_form = a->var_form + k->var_count;
    a->store_form = a->expr_form + k->expr_count;
    struct form *f = a->forms;
    for (struct kform_walk w = {0}; kernel_next_form(k, &w); f++) {
        if (w.next == 1) { /* the first one of its owner */
            number = a->numbers.vars[w.owner];
            a->var_form[w.owner] = (uint32_t)(f - a->forms);
        }
        *f = (struct form){.affine = w.form, .number = number};
        number += 1 + w.form->count + (w.next > 1);
    }
    return true;
}

/* Makes the coefficient of a variable an immediate number. */
static void fix_coefficient(struct analysis *a, const struct form *f, uint32_t var)
{
    for (uint32_t t = 0; t < f->affine->count; t++)
        if (f->affine->terms[t].var == var)
            a->numbers.items[f->number + 1 + t].slot = -1;
}

/* Makes strides immediate numbers: of a register tile's rows, unless they are to be parameters (the key under which code is
 * shared has them), and of loads that are taken out of whole vectors, those of their guards included. */
static void fix_strides(struct analysis *a, const struct schedule *s)
{
    for (uint32_t i = 0; i < a->form_count && s->tiled && tile_fixes_rows(s); i++)
        fix_coefficient(a, &a->forms[i], s->tile.m_var);
    for (uint32_t i = 0; i < s->kernel->expr_count; i++)
        for (uint32_t g = 0; s->exprs[i].load == LOAD_STRIDED && g <= s->kernel->exprs[i].guard_count; g++)
            fix_coefficient(a, &a->forms[a->expr_form[i] + g], s->vector_var);
}

static void find_levels(struct analysis *a, const struct schedule *s)
{
    const struct kernel *k = s->kernel;
    enum kvar_kind kind = s->vector_var == KEXPR_NONE ? KVAR_LOADED : k->vars[s->vector_var].kind;
    a->vector_parallel = kind == KVAR_PARALLEL;
    a->vector_reduced = kind == KVAR_REDUCED;
    a->point_level = a->vector_parallel ? LEVEL_UNIT + 1 : LEVEL_UNIT;
    a->reduced_level = a->point_level + 1;
    a->inner_level = a->point_level + k->reduced_count;
    a->vector_level = a->vector_parallel ? a->point_level : a->inner_level;
    for (uint32_t i = 0; i < k->var_count; i++) {
        if (k->vars[i].kind == KVAR_PARALLEL)
            a->var_level[i] = (uint8_t)(i == s->vector_var || (s->tiled && i == s->tile.m_var) ? a->vector_level : LEVEL_UNIT);
        else if (k->vars[i].kind == KVAR_REDUCED)
            a->var_level[i] = (uint8_t)(a->reduced_level + i - k->parallel_count);
    }
    if (s->transpose.var != KEXPR_NONE) /* what depends on it is emitted for every row of a tile */
        a->var_level[s->transpose.var] = (uint8_t)a->vector_level;
}

bool analyze(struct analysis *a, const struct schedule *s, struct arena *arena)
{
    const struct kernel *k = s->kernel;

    a->numbers = s->numbers;
    a->numbers.items = arena_copy(arena, s->numbers.items, s->numbers.count * sizeof *s->numbers.items); /* some are fixed */
    a->expr_level = arena_array(arena, k->expr_count + 1, sizeof *a->expr_level);
    a->expr_rows = arena_array(arena, k->expr_count + 1, sizeof *a->expr_rows);
    if (!a->numbers.items || !a->expr_level || !a->expr_rows || !collect_forms(a, k, arena))
        return false;
    fix_strides(a, s);
    find_levels(a, s);
    for (uint32_t i = 0; i < k->expr_count; i++)
        analyze_expr(a, s, i);
    for (uint32_t i = 0; i < k->store_count; i++)
        for (uint32_t f = 0; f <= k->stores[i].guard_count; f++)
            analyze_form(a, s, &a->forms[a->store_form[i] + f]);
    return true;
}

bool number_is(const struct analysis *a, uint32_t number, int64_t value)
{
    const struct knumber *n = &a->numbers.items[number];
    return n->slot < 0 && n->value == value;
}
