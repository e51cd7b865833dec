/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Builds kernels of stages (passes/lower/stages.h says how that is used), and tells of which nodes one is made.
 *
 * A stage is lowered like a separate kernel, with the variables that count macro-tiles in front.  Which of its tensors are
 * locals is seen by the marks that stand in for a value there; all others are values, which stages share by identity.
 */
#include "passes/lower/stages.h"

#include "passes/cluster/attention.h"

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

struct kernel *stages_end(struct stages *s, bool good)
{
    kernel_free(good ? NULL : s->kernel);
    return good ? s->kernel : NULL;
}

bool stage_begin(struct stage *st, struct stages *of)
{
    st->of = of;
    if (!lower_begin(&st->l, of->table))
        return false;
    struct kernel *k = st->l.k;
    k->macro_tile_vars = of->macro_tile_vars;
    k->builder.keeps_guards = of->sizes_vary;
    for (uint32_t i = 0; i < of->macro_tile_vars; i++)
        st->macro_tile[i] = kaffine_var(k, kernel_var(k, KVAR_PARALLEL, of->macro_tiles[i]));
    return true;
}

struct kaffine stage_bounded_var(struct stage *st, enum kvar_kind kind, int64_t size, uint32_t bound)
{
    return kaffine_var(st->l.k, kernel_bounded_var(st->l.k, kind, size, stage_local(st, bound, false)));
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

bool stage_store_outputs(struct stage *st, const struct value *base, const struct map *m)
{
    struct lowering *l = &st->l;

    lower_forget_bases(l);
    lower_add_base(l, base, m);
    for (uint32_t i = 0; i < st->of->output_count; i++) {
        const struct value *v = st->of->outputs[i];
        struct map at;

        if (!lower_output_map(l, v, &at) || !lower_store(l, v, &at, lower_value(l, v, &at)))
            return false;
    }
    return true;
}

bool stage_append(struct stages *s, struct kernel *own, enum kstage_when when)
{
    uint32_t tensors[KERNEL_TENSORS_MAX];

    for (uint32_t i = 0; i < own->tensor_count; i++)
        tensors[i] = outer_tensor(s->kernel, &own->tensors[i]);
    struct kstage *stage = kernel_stage(s->kernel, own, tensors);
    if (!stage)
        return false;
    stage->when = when;
    stage->predicate = s->predicate;
    stage->limit = s->limit;
    return true;
}

bool stage_end(struct stage *st, bool good, const char *name, enum kstage_when when)
{
    struct kernel *own;

    good = good && st->l.k && !st->l.unfusable && !st->l.k->error.status;
    if (st->l.k)
        st->l.k->rare = when == KSTAGE_NOT_BELOW;
    own = lower_end(&st->l, good);
    if (!own)
        return false;
    snprintf(own->name, sizeof own->name, "%s_%u", name, st->of->anchor->index);
    return stage_append(st->of, own, when);
}

/* ---- which kernel ---- */

/* Returns the node whose weights are transformed, or NULL if there is none, or several. */
static const struct node *find_transformed(const struct node_table *t)
{
    const struct node *found = NULL;
    struct winograd_operands o;

    for (uint32_t i = 0; i < t->count; i++) {
        if (!t->nodes[i]->transformed || !winograd_find_operands(t, t->nodes[i], &o))
            continue;
        if (found)
            return NULL;
        found = t->nodes[i];
    }
    return found;
}

/* Returns the softmax of an attention all of which is there, or NULL. */
static const struct node *find_attention(const struct node_table *t)
{
    struct attention a;

    for (uint32_t i = 0; i < t->count; i++)
        if (t->nodes[i]->op == OP_SOFTMAX && attention_find(t->nodes[i], &a) &&
            node_table_position(t, a.scores) != UINT32_MAX && node_table_position(t, a.product) != UINT32_MAX)
            return t->nodes[i];
    return NULL;
}

bool lower_has_stages(const struct node_table *t)
{
    return find_transformed(t) || find_attention(t);
}

struct kernel *lower_stages(const struct target *target, const struct node_table *t, uint32_t output_count,
                            struct value *const *outputs)
{
    const struct node *n = find_transformed(t);

    if (n)
        return lower_winograd(target, t, n, output_count, outputs);
    n = find_attention(t);
    return n ? lower_attention(target, t, n, output_count, outputs) : lower_unpacked(target, t, output_count, outputs);
}
