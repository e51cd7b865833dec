/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds out which graphs have plans, and compares them (matching.h). */
#include "runtime/compile/matching.h"

#include <stdlib.h>
#include <string.h>

#include "ir/graph/dims.h"
#include "ir/graph/op_draft.h"

bool value_is_read(const struct value *v)
{
    return v->constant && (v->uses || v->kept);
}

struct loop_body *loop_part(const struct node *n, uint32_t i)
{
    struct loop_body *l = n->op == OP_LOOP                        ? i ? NULL : n->args.loop.body
                          : op_infos[n->op].flags & OPF_RECURRENT ? n->graph->loops
                                                                  : NULL;

    while (n->op != OP_LOOP && l && (l->of != n || i--))
        l = l->next;
    return l;
}

void graph_renumber(struct graph *g)
{
    g->value_count = 0;
    g->origin.reached = NULL;
    for (uint32_t i = 0; i < g->input_count; i++)
        g->inputs[i]->index = g->value_count++;
    for (struct value *v = g->first_constant; v; v = v->next_constant)
        v->index = g->value_count++;
    graph_for_each (g, n)
        for (uint32_t i = 0; i < n->result_count; i++)
            n->results[i]->index = g->value_count++;
}

static bool same_parts(const struct node *a, const struct node *b)
{
    for (uint32_t i = 0;; i++) {
        const struct loop_body *l = loop_part(a, i), *m = loop_part(b, i);

        if (!l || !m)
            return l == m;
        if (l->carried != m->carried || l->scanned != m->scanned || l->stacked != m->stacked || l->stop != m->stop ||
            (!l->of && (memcmp(l->scanned_backward, m->scanned_backward, l->scanned * sizeof *l->scanned_backward) != 0 ||
                        memcmp(l->stacked_backward, m->stacked_backward, l->stacked * sizeof *l->stacked_backward) != 0)) ||
            !graphs_match(l->graph, m->graph))
            return false;
    }
}

static bool same_value(const struct value *a, const struct value *b, const uint32_t *position_a, const uint32_t *position_b)
{
    return !a || !b ? a == b
                    : a->kind == b->kind && a->type.type == b->type.type && a->type.rank == b->type.rank &&
                          position_a[a->index] == position_b[b->index];
}

static bool same_node(const struct node *a, const struct node *b, const uint32_t *position_a, const uint32_t *position_b)
{
    if (a->op != b->op || a->input_count != b->input_count || a->result_count != b->result_count || !a->cluster ||
        !b->cluster || a->cluster->index != b->cluster->index || a->cluster->kind != b->cluster->kind ||
        a->cluster->node_count != b->cluster->node_count || !same_parts(a, b) ||
        !same_value(a->transformed, b->transformed, position_a, position_b))
        return false;
    for (uint32_t i = 0; i < a->input_count; i++)
        if (!same_value(a->inputs[i].value, b->inputs[i].value, position_a, position_b))
            return false;
    for (uint32_t i = 0; i < a->result_count; i++)
        if (!same_value(a->results[i], b->results[i], position_a, position_b))
            return false;
    for (const struct attr_info *t = op_infos[a->op].attrs; t->kind != ATTR_NONE; t++)
        if (t->kind == ATTR_U32 || t->kind == ATTR_U32_LIST
                ? attr_count(t, a->options, &a->args) != attr_count(t, b->options, &b->args)
                : !node_same_attr(a, b, t))
            return false;
    return true;
}

/* Returns the places of the values of a graph in the order of its nodes, by index. */
static uint32_t *positions(const struct graph *g)
{
    uint32_t *at = calloc((size_t)g->value_count + 1, sizeof *at), count = 0;

    if (!at)
        return NULL;
    for (uint32_t i = 0; i < g->input_count; i++)
        at[g->inputs[i]->index] = ++count;
    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        if (value_is_read(v))
            at[v->index] = ++count;
    graph_for_each (g, n)
        for (uint32_t i = 0; i < n->result_count; i++)
            at[n->results[i]->index] = ++count;
    return at;
}

bool graphs_match(const struct graph *a, const struct graph *b)
{
    uint32_t *position_a = positions(a), *position_b = positions(b);
    const struct value *v = a->first_constant, *w = b->first_constant;
    const struct node *n = a->first, *m = b->first;
    bool same = position_a && position_b && a->input_count == b->input_count && a->origin.data_count == b->origin.data_count &&
                a->output_count == b->output_count && a->cluster_count == b->cluster_count;

    for (; same; v = v->next_constant, w = w->next_constant) {
        while (v && !value_is_read(v))
            v = v->next_constant;
        while (w && !value_is_read(w))
            w = w->next_constant;
        if (!v || !w)
            break;
        same = type_equal(&v->type, &w->type) && v->kept == w->kept;
    }
    same = same && !v == !w;
    for (; same && n && m; n = n->next, m = m->next)
        same = same_node(n, m, position_a, position_b);
    same = same && !n == !m;
    for (uint32_t i = 0; same && i < a->output_count; i++)
        same = same_value(a->outputs[i].value, b->outputs[i].value, position_a, position_b);
    free(position_a);
    free(position_b);
    return same;
}

bool graphs_same_interface(const struct graph *a, const struct graph *b)
{
    if (a->input_count != b->input_count || a->origin.data_count != b->origin.data_count || a->output_count != b->output_count)
        return false;
    for (uint32_t i = 0; i < b->input_count; i++)
        if (!type_equal(&a->inputs[i]->type, &b->inputs[i]->type))
            return false;
    for (uint32_t i = 0; i < b->output_count; i++)
        if (!type_equal(&a->outputs[i].value->type, &b->outputs[i].value->type))
            return false;
    return true;
}

/* ---- graphs that have plans ---- */

/* Returns whether all elements of a value are known once the sizes are; `fixed`: whether they are numbers. */
static bool is_known(const struct graph *g, const struct value *v, const struct dim_number *atoms, bool fixed)
{
    int64_t x;

    if (v->kind == VALUE_CONSTANT)
        return true;
    for (int64_t i = 0; v->sizes && i < type_elements(&v->type); i++)
        if (fixed ? !dims_is_constant(g, v->sizes[i], &x) : !dims_evaluate(g, DIM_OPEN | v->sizes[i], atoms).known)
            return false;
    return v->sizes != NULL;
}

/* Returns whether a node of a named graph is fit for plans: inference holds the sizes that it takes from values against the
 * type of its result.  Those of a pad's end are, since its beginning is the same at all sizes; plans care for starts of slices.
 */
static bool node_is_fit(const struct graph *g, const struct node *n, const struct dim_number *atoms)
{
    for (uint32_t i = 1; i < n->input_count && op_is_draft(n->op) && !n->results[0]->sizes; i++) {
        const struct operand_info *operand = op_operand(n->op, i);

        if (operand->types == DT_SIZES && n->inputs[i].value &&
            !is_known(g, n->inputs[i].value, atoms, !operand->sizes && n->op != OP_SLICE_DYNAMIC))
            return false;
    }
    return true;
}

bool graph_has_plans(const struct graph *g)
{
    struct dim_number *atoms = calloc((size_t)dims_atom_count(g) + 1, sizeof *atoms);
    bool fit = atoms && dims_name_count(g) <= PLAN_NAMES_MAX;
    uint32_t sizes[PLAN_NAMES_MAX], most;

    for (uint32_t i = 0; fit && i < dims_name_count(g); i++)
        dims_name_range(g, i, &sizes[i], &most);
    if (fit)
        dims_evaluate_atoms(g, sizes, atoms);
    graph_for_each (g, n)
        fit = fit && node_is_fit(g, n, atoms);
    for (const struct loop_body *l = g->loops; l; l = l->next)
        graph_for_each (l->graph, n)
            fit = fit && node_is_fit(g, n, atoms);
    free(atoms);
    return fit;
}

bool graph_is_plannable(const struct graph *g)
{
    if (!g->origin.is_clustered)
        return false;
    graph_for_each (g, n)
        for (uint32_t i = 0; loop_part(n, i); i++)
            if (!loop_part(n, i)->graph || !graph_is_plannable(loop_part(n, i)->graph))
                return false;
    for (const struct cluster *c = g->first_cluster; c; c = c->next)
        if (c->kind == CLUSTER_LIBRARY)
            return false;
    return true;
}
