/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Builds kernels of stages (passes/lower/stages.h says how that is used).
 *
 * A stage is lowered like a kernel of its own, with the variables that count macro-tiles in front.  Which of its tensors are
 * locals is seen by the marks that stand in for a value there; all others are values, which stages share by identity.
 */
#include "passes/lower/stages.h"

/* The marks stand for the locals where a kernel's tensor has the value it is. */
static const char local_marks[KERNEL_LOCALS_MAX];

bool stages_begin(struct stages *s, const char *name)
{
    s->kernel = kernel_create();
    if (!s->kernel)
        return false;
    snprintf(s->kernel->name, sizeof s->kernel->name, "%s_%u", name, s->anchor->index);
    snprintf(s->kernel->label, sizeof s->kernel->label, "%s", s->anchor->label);
    return true;
}

uint32_t stages_local(struct stages *s, int64_t elements)
{
    return kernel_local(s->kernel, WNNOperandDataType_Float32, elements);
}

struct kernel *stages_end(struct stages *s, bool good)
{
    if (good)
        return s->kernel;
    kernel_free(s->kernel);
    return NULL;
}

bool stage_begin(struct stage *st, struct stages *of)
{
    struct kernel *k;

    st->of = of;
    if (!lower_begin(&st->l, of->table))
        return false;
    k = st->l.k;
    k->macro_tile_vars = of->macro_tile_vars;
    for (uint32_t i = 0; i < of->macro_tile_vars; i++)
        st->macro_tile[i] = kaffine_var(k, kernel_var(k, KVAR_PARALLEL, of->macro_tiles[i]));
    return true;
}

struct kaffine stage_var(struct stage *st, enum kvar_kind kind, int64_t size)
{
    return kaffine_var(st->l.k, kernel_var(st->l.k, kind, size));
}

uint32_t stage_local(struct stage *st, uint32_t local, bool written)
{
    const struct klocal *l = &st->of->kernel->locals[local];

    return kernel_tensor(st->l.k, l->type, l->elements, written, (void *)(uintptr_t)&local_marks[local]);
}

/* Returns the kernel's tensor that a stage's tensor is: a local, a value that some stage had before, or a new one. */
static uint32_t outer_tensor(struct kernel *k, const struct ktensor *t)
{
    for (uint32_t i = 0; i < k->local_count; i++)
        if (t->user == &local_marks[i])
            return KERNEL_TENSORS_MAX + i;
    for (uint32_t i = 0; i < k->tensor_count; i++)
        if (k->tensors[i].user == t->user && k->tensors[i].written == t->written)
            return i;
    return kernel_tensor(k, t->type, t->elements, t->written, t->user);
}

bool stage_end(struct stage *st, bool good, const char *name, enum kstage_when when)
{
    struct kernel *own, *k = st->of->kernel;
    uint32_t tensors[KERNEL_TENSORS_MAX];
    struct kstage *stage;

    good = good && st->l.k && !st->l.unfusable && !st->l.k->error.status;
    if (st->l.k)
        st->l.k->rare = when == KSTAGE_NOT_BELOW;
    own = lower_end(&st->l, good);
    if (!own)
        return false;
    for (uint32_t i = 0; i < own->tensor_count; i++)
        tensors[i] = outer_tensor(k, &own->tensors[i]);
    snprintf(own->name, sizeof own->name, "%s_%u", name, st->of->anchor->index);
    stage = kernel_stage(k, own, tensors);
    if (!stage)
        return false;
    stage->when = when;
    stage->predicate = st->of->predicate;
    stage->limit = st->of->limit;
    return true;
}
