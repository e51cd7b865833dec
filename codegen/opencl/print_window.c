/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints what windows along a row need: loads of every n-th element, and guards that are tested once for a window.
 */
#include "codegen/opencl/internal.h"

/* ---- guards ---- */

static bool is_known(const struct kernel *k, uint32_t expr)
{
    const struct kexpr *e = &k->exprs[expr];

    for (uint32_t i = 0; i < expr; i++) {
        const struct kexpr *o = &k->exprs[i];
        bool same = o->op == K_LOAD && o->guard_count == e->guard_count;

        for (uint32_t g = 0; same && g < e->guard_count; g++)
            same = o->guards[g].bound == e->guards[g].bound && kaffine_equal(o->guards[g].form, e->guards[g].form);
        if (same)
            return true;
    }
    return false;
}

/* Tests one guard with the least and the largest number that its form comes to.  Kernels with coefficients of other signs share
 * the text, so that it takes the signs as they come. */
static void put_window_guard(struct printer *p, uint32_t start, const struct kguard *guard)
{
    const struct kernel *k = p->k;

    put_line(p, "{ $i low = %s, high = low;", form_text(p, start, guard->form));
    for (uint32_t i = 0; i < guard->form.count; i++) {
        const uint32_t var = guard->form.terms[i].var;

        if (k->vars[var].kind != KVAR_REDUCED && var != p->s->lane_var)
            continue;
        put_line(p, "{ const $i far = %s * (%s - 1); low += min(far, ($i)0); high += max(far, ($i)0); }",
                 number_text(p, start + 1 + i), var == p->s->lane_var ? text_of(p, "%u", p->lanes) : size_text(p, var));
    }
    put_line(p, "inside &= low >= 0 & high < %s; }", number_text(p, start + 1 + guard->form.count));
}

bool has_windows(const struct printer *p)
{
    const struct kernel *k = p->k;

    for (uint32_t i = 0; i < k->expr_count; i++)
        if (k->exprs[i].op == K_LOAD && k->exprs[i].varying && has_window_guards(k, &k->exprs[i]))
            return true;
    return false;
}

void put_window_guards(struct printer *p)
{
    const struct kernel *k = p->k;

    put_line(p, "inside = 1;");
    put_line(p, "{");
    for (uint32_t r = 0; r < k->reduced_count; r++)
        put_line(p, "const $i x%u = %s;", k->parallel_count + r, first_text(p, k->parallel_count + r));
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *e = &k->exprs[i];
        uint32_t start = p->numbers.exprs[i] + 1 + e->index.count;

        if (e->op != K_LOAD || !has_window_guards(k, e) || is_known(k, i))
            continue;
        for (uint32_t g = 0; g < e->guard_count; g++) {
            put_window_guard(p, start, &e->guards[g]);
            start += 2 + e->guards[g].form.count;
        }
    }
    put_line(p, "}");
}

/* ---- strides ---- */

static bool has_stride(const struct kernel *k, uint32_t var, int64_t step)
{
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (k->exprs[i].op == K_LOAD && kaffine_coefficient(k->exprs[i].index, var) == step)
            return true;
    return false;
}

/* Writes the load of every step-th element as a macro: as many adjacent vectors, from whose elements shuffles take the loaded
 * ones. The last vector ends with the last lane's element, so that nothing is read beyond it. */
static void put_stride_function(FILE *out, uint32_t lanes, uint32_t step)
{
    const uint32_t last = (lanes - 1) * step + 1 - lanes; /* where the last vector begins */

    fprintf(out, "#ifndef LOAD_EVERY_%u_%u\n#ifdef __clang__\n#define LOAD_EVERY_%u_%u(s, t, p) ", step, lanes, step, lanes);
    for (uint32_t i = 1; i < step; i++)
        fputs("__builtin_shufflevector(", out);
    fprintf(out, "LOAD_VECTOR(s, t, %u, p)", lanes);
    for (uint32_t i = 1; i < step; i++) {
        const uint32_t at = i + 1 < step ? i * lanes : last;

        fprintf(out, ", LOAD_VECTOR(s, t, %u, (p) + %u)", lanes, at);
        for (uint32_t lane = 0; lane < lanes; lane++) {
            const uint32_t element = lane * step;
            /* What the vectors so far have is in its lane, but that the first one still has to be taken apart. */
            if (element >= i * lanes && element - at < lanes)
                fprintf(out, ", %u", lanes + element - at);
            else
                fprintf(out, ", %u", i == 1 && element < lanes ? element : lane);
        }
        fputs(")", out);
    }
    fprintf(out, "\n#else\n#define LOAD_EVERY_%u_%u(s, t, p) (t##%u)(", step, lanes, lanes);
    for (uint32_t lane = 0; lane < lanes; lane++)
        fprintf(out, "%s(p)[%u]", lane ? ", " : "", lane * step);
    fputs(")\n#endif\n#endif\n", out);
}

static void put_strides_along(FILE *out, const struct kernel *k, uint32_t var, uint32_t lanes)
{
    for (uint32_t step = 2; lanes > 1 && step <= GPU_STRIDE_MAX; step++)
        if (has_stride(k, var, step))
            put_stride_function(out, lanes, step);
}

void put_stride_functions(FILE *out, const struct kernel *k, const struct gpu_schedule *s)
{
    if (!s->strides)
        return;
    put_strides_along(out, k, s->lane_var, s->lanes);
    for (uint32_t i = 0; i < k->stage_count; i++)
        put_strides_along(out, k->stages[i].kernel, s->stages[i].lane_var, s->stages[i].lanes);
}
