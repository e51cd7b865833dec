/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Gives convolutions the layout that the target prefers, and moves transposes to where they cost least.
 *
 * Layout is not a property of a value here: a tensor is dense and row-major in its shape, and another layout is a transposed
 * value.  So the pass chooses, for every value, whether it is computed as it is or permuted, and transposes are what lies
 * between.
 *
 *   1. It finds permutations.  Each value gets at most one permutation in which it could be computed instead: channels last for
 *      what nchw convolutions read and write, what undoes a transpose for what comes after one.  From there permutations spread
 *      through operators that can work on permuted operands (passes/layout/layout_follow.c), forwards and backwards.
 *   2. It chooses.  Such an operator is a variable: as it is (0) or permuted (1).  Graph inputs, outputs and all other
 *      operators are 0, nchw convolutions are 1.  A value needed in the form that it is not computed in costs a transpose: its
 *      bytes.  Of equal choices the one is taken whose transposes follow generated kernels, which can store permuted.
 *      Transposes that are in the graph cost likewise while they move anything.  The cheapest choice is a minimum cut
 *      (passes/layout/layout_cut.c), hence exact.
 *   3. It rewrites the graph in topological order.
 *
 * The steps repeat while the transposes of the graph become fewer in bytes.  That is a non-negative integer, and the cost of a
 * choice is what its transposes really move, so it ends; the second round seldom finds anything.  Convolutions are permuted in
 * the first, whatever it costs: the library is that much faster.  What depends on constants only moves nothing: it will be
 * folded.
 *
 * The pass is exact but for the order in which sums over several axes run, which nothing promises.  Constants are permuted
 * by transposes, too; fold-constants computes them.  Values that only move dimensions of size 1 are reshaped, which costs
 * nothing.
 */
#include <string.h>

#include "ir/graph/conv.h"
#include "passes/layout/layout.h"

struct value_layout {
    bool known;
    bool constant; /* or computed from constants only */
    struct permutation permutation;
    struct value *forms[2]; /* while rewriting: as it is, permuted; NULL: not made yet */
};

/* Says what a node is to the choice. */
enum role { ROLE_FIXED, ROLE_FOLLOWS, ROLE_ANCHOR };

struct propagation {
    struct graph *g;
    const struct pass_options *o;
    struct arena arena;
    uint32_t node_count;         /* when it began: nodes made while rewriting do not count */
    struct value_layout *values; /* by value->index */
    uint8_t *roles;              /* by node->index */
    uint32_t *variables;         /* by node->index, of those that follow */
    struct value **queue;
    uint32_t queue_head, queue_tail;
    bool anchors;
};

/* ---- 1. permutations ---- */

/* Returns whether a convolution has groups of fewer results than vectors need, which run along lines of an nchw image then. */
static bool has_small_groups(const struct node *n)
{
    const struct conv_view c = conv_view(n);
    const struct value *filter = n->inputs[1].value;
    const uint32_t results = filter->type.dims[c.filter[AXIS_OUTPUT]] / c.groups;

    return !c.transposed && c.groups > 1 && filter->kind == VALUE_CONSTANT && results > 1 && results < KERNEL_RUN_LEAST &&
           filter->type.dims[c.filter[AXIS_INPUT]] > 1;
}

static bool is_anchor(const struct propagation *p, const struct node *n)
{
    const struct target *t = p->o->target;

    return t && t->prefers_nhwc && (n->op == OP_CONV2D || n->op == OP_CONV_TRANSPOSE2D) &&
           conv_view(n).image[AXIS_CHANNEL] == 1 && !(target_facts(t)->multiplication.groups && has_small_groups(n));
}

static void assign(struct propagation *p, struct value *v, const struct permutation *permutation)
{
    struct value_layout *l = &p->values[v->index];

    if (l->known)
        return;
    l->known = true;
    l->permutation = *permutation;
    p->queue[p->queue_tail++] = v; /* each value once: room for all */
}

/* Spreads a permutation of n's tied inputs, and with it of its results. */
static void spread(struct propagation *p, const struct node *n, const struct permutation *operand,
                   const struct permutation *result)
{
    for (uint32_t i = 0; i < n->input_count; i++)
        if (layout_is_tied(n, i))
            assign(p, n->inputs[i].value, operand);
    for (uint32_t i = 0; i < n->result_count; i++)
        assign(p, n->results[i], result);
}

static bool may_follow(const struct propagation *p, const struct node *n)
{
    return !n->cluster && p->roles[n->index] != ROLE_ANCHOR && n->input_count > 0;
}

static void spread_all(struct propagation *p)
{
    while (p->queue_head < p->queue_tail) {
        struct value *v = p->queue[p->queue_head++];
        const struct permutation *known = &p->values[v->index].permutation;
        struct permutation other = {{0}};

        if (v->producer && may_follow(p, v->producer) && layout_backward(v->producer, known, &other))
            spread(p, v->producer, &other, known);
        value_for_each_use (v, u) {
            memset(&other, 0, sizeof other);
            if (may_follow(p, u->node) && layout_is_tied(u->node, u->slot) && layout_forward(u->node, known, &other))
                spread(p, u->node, known, &other);
        }
    }
}

static void find_constants(struct propagation *p)
{
    for (const struct value *v = p->g->first_constant; v; v = v->next_constant)
        p->values[v->index].constant = true;
    graph_for_each (p->g, n) {
        bool constant = n->input_count > 0;
        for (uint32_t i = 0; i < n->input_count && constant; i++)
            constant = !n->inputs[i].value || p->values[n->inputs[i].value->index].constant;
        for (uint32_t i = 0; i < n->result_count; i++)
            p->values[n->results[i]->index].constant = constant;
    }
}

static void find_permutations(struct propagation *p)
{
    static const struct permutation nhwc = {{0, 2, 3, 1}};

    graph_for_each (p->g, n) {
        if (n->cluster || !is_anchor(p, n))
            continue;
        p->roles[n->index] = ROLE_ANCHOR;
        p->anchors = true;
        assign(p, n->inputs[0].value, &nhwc);
        assign(p, n->results[0], &nhwc);
    }
    spread_all(p);
    /* This is for what no convolution touches: after a transpose, values could be as they were before it. */
    graph_for_each (p->g, n) {
        struct permutation before = {{0}}, undone = {{0}};

        if (n->op != OP_TRANSPOSE || n->cluster || p->values[n->results[0]->index].known)
            continue;
        for (uint32_t j = 0; j < n->results[0]->type.rank; j++)
            before.at[j] = (uint8_t)j;
        layout_forward(n, &before, &undone);
        assign(p, n->results[0], &undone);
        spread_all(p);
    }
}

static const struct value_layout *layout_of(const struct propagation *p, const struct value *v)
{
    return &p->values[v->index];
}

static bool same_permutation(const struct permutation *a, const struct permutation *b, uint32_t rank)
{
    return memcmp(a->at, b->at, rank) == 0;
}

static bool permutation_costs(const struct value *v, const struct permutation *permutation)
{
    uint32_t list[RANK_MAX];

    for (uint32_t j = 0; j < v->type.rank; j++)
        list[j] = permutation->at[j];
    return permutation_moves(&v->type, list);
}

/* Returns whether two permutations put t's elements into the same places, wherever they put dimensions of size 1. */
static bool same_places(const struct tensor_type *t, const struct permutation *a, const struct permutation *b)
{
    for (uint32_t i = 0, k = 0;; i++, k++) {
        while (i < t->rank && t->dims[a->at[i]] == 1)
            i++;
        while (k < t->rank && t->dims[b->at[k]] == 1)
            k++;
        if (i == t->rank || k == t->rank)
            return i == k;
        if (a->at[i] != b->at[k])
            return false;
    }
}

/* Returns whether all values tied by n have permutations that belong together. */
static bool is_consistent(const struct propagation *p, const struct node *n)
{
    struct permutation result = {{0}};
    const struct permutation *operand = NULL;
    uint32_t rank = n->results[0]->type.rank;

    for (uint32_t i = 0; i < n->input_count; i++) {
        if (!layout_is_tied(n, i))
            continue;
        const struct value_layout *l = layout_of(p, n->inputs[i].value);
        if (!l->known)
            return false;
        if (!operand)
            operand = &l->permutation;
        else if (!same_permutation(operand, &l->permutation, n->inputs[i].value->type.rank))
            return false;
    }
    if (!operand || !layout_forward(n, operand, &result))
        return false;
    for (uint32_t i = 0; i < n->result_count; i++) {
        if (!layout_of(p, n->results[i])->known)
            return false;
        const struct permutation *wanted = &layout_of(p, n->results[i])->permutation;
        /* A transpose can give its result in any permutation: that only makes it another transpose. */
        if (n->op == OP_RESHAPE ? !same_places(&n->results[i]->type, &result, wanted)
                                : n->op != OP_TRANSPOSE && !same_permutation(&result, wanted, rank))
            return false;
    }
    return true;
}

/* ---- 2. choice ---- */

/* Returns a transpose's bytes in the units of the cut, whose lowest bits break ties. */
enum { TIE_BITS = 16 };

static int64_t moved_bytes(const struct propagation *p, const struct value *v)
{
    return layout_of(p, v)->constant ? 0 : type_bytes(&v->type);
}

static int64_t cut_capacity(const struct propagation *p, const struct value *v)
{
    bool stored_by_kernel = v->producer && !(op_infos[v->producer->op].flags & (OPF_LIBRARY | OPF_MOVEMENT));
    int64_t bytes = moved_bytes(p, v);

    return bytes ? (bytes << TIE_BITS) + !stored_by_kernel : 0;
}

static bool transpose_moves(const struct node *n)
{
    return n->op == OP_TRANSPOSE &&
           permutation_moves(&n->inputs[0].value->type, NODE_OPTIONS(n, WNNTransposeOptions)->permutation);
}

/* Returns the bytes that the transposes in the graph move as it is; only_fixed leaves out those that are part of the choice. */
static int64_t present_bytes(const struct propagation *p, bool only_fixed)
{
    int64_t bytes = 0;

    graph_for_each (p->g, n) {
        if (transpose_moves(n) && (!only_fixed || p->roles[n->index] == ROLE_FIXED))
            bytes += moved_bytes(p, n->inputs[0].value);
    }
    return bytes;
}

static uint32_t variable_of(const struct propagation *p, const struct node *n)
{
    const uint8_t role = p->roles[n->index];

    return role == ROLE_FIXED ? CUT_ZERO : role == ROLE_ANCHOR ? CUT_ONE : p->variables[n->index];
}

/* Adds what it costs if v is computed in one form and anybody reads it in the other: one transpose serves all readers. */
static void add_value_costs(struct propagation *p, struct cut *c, const struct value *v)
{
    uint32_t producer = v->producer ? variable_of(p, v->producer) : CUT_ZERO, wants_one, wants_zero;
    int64_t capacity = cut_capacity(p, v);

    if (!layout_of(p, v)->known || !permutation_costs(v, &layout_of(p, v)->permutation) || capacity == 0)
        return;
    wants_one = cut_variable(c);
    wants_zero = cut_variable(c);
    cut_cost(c, producer, wants_one, capacity);
    cut_cost(c, wants_zero, producer, capacity);
    value_for_each_use (v, u) {
        const bool any = p->roles[u->node->index] == ROLE_ANCHOR ? u->slot != 0 : !layout_is_tied(u->node, u->slot);
        uint32_t reader = any ? CUT_ZERO : variable_of(p, u->node);
        cut_cost(c, wants_one, reader, CUT_INFINITE);
        cut_cost(c, reader, wants_zero, CUT_INFINITE);
    }
    if (v->output_uses)
        cut_cost(c, CUT_ZERO, wants_zero, CUT_INFINITE);
}

/* Returns whether transpose n moves anything when both sides are permuted. */
static bool moves_when_permuted(const struct propagation *p, const struct node *n)
{
    const struct value *x = n->inputs[0].value;
    struct permutation free_result = {{0}};

    layout_forward(n, &layout_of(p, x)->permutation, &free_result);
    return !same_places(&n->results[0]->type, &free_result, &layout_of(p, n->results[0])->permutation);
}

static void add_node_costs(struct propagation *p, struct cut *c, const struct node *n)
{
    uint32_t variable = variable_of(p, n);

    for (uint32_t i = 0; i < n->result_count; i++)
        add_value_costs(p, c, n->results[i]);
    if (n->op == OP_TRANSPOSE && p->roles[n->index] == ROLE_FOLLOWS) {
        if (transpose_moves(n))
            cut_cost(c, variable, CUT_ONE, cut_capacity(p, n->inputs[0].value));
        if (moves_when_permuted(p, n))
            cut_cost(c, CUT_ZERO, variable, cut_capacity(p, n->inputs[0].value));
    }
    /* Operands of fewer dimensions are fitted by a reshape, and by a transpose if several of their dimensions count. */
    for (uint32_t i = 0; i < n->input_count && p->roles[n->index] == ROLE_FOLLOWS; i++) {
        const struct value *v = n->inputs[i].value;
        uint32_t counting = 0;
        if (!v || layout_is_tied(n, i) || !(op_infos[n->op].flags & OPF_ELEMENTWISE))
            continue;
        for (uint32_t d = 0; d < v->type.rank; d++)
            counting += v->type.dims[d] > 1;
        if (counting > 1)
            cut_cost(c, CUT_ZERO, variable, cut_capacity(p, v));
    }
}

/* Decides which nodes are permuted: roles become ROLE_ANCHOR for those that are, ROLE_FIXED for the others. */
static bool choose(struct propagation *p, bool *worth_it)
{
    uint32_t followers = 0;
    int64_t cost;

    graph_for_each (p->g, n) {
        if (may_follow(p, n) && is_consistent(p, n)) {
            p->roles[n->index] = ROLE_FOLLOWS;
            followers++;
        }
    }
    struct cut *c = cut_create(followers);
    if (!c)
        return error_out_of_memory(&p->g->error);
    for (struct node *n = p->g->first; n; n = n->next)
        if (p->roles[n->index] == ROLE_FOLLOWS)
            p->variables[n->index] = cut_variable(c);
    for (uint32_t i = 0; i < p->g->input_count; i++)
        add_value_costs(p, c, p->g->inputs[i]);
    for (struct node *n = p->g->first; n; n = n->next)
        add_node_costs(p, c, n);
    bool solved = cut_solve(c, &cost);
    if (!solved)
        error_out_of_memory(&p->g->error);
    *worth_it = solved && (p->anchors || (cost >> TIE_BITS) + present_bytes(p, true) < present_bytes(p, false));
    graph_for_each (p->g, n) {
        if (solved && p->roles[n->index] == ROLE_FOLLOWS)
            p->roles[n->index] = cut_is_one(c, p->variables[n->index]) ? ROLE_ANCHOR : ROLE_FIXED;
    }
    cut_free(c);
    return solved;
}

/* ---- 3. rewriting ---- */

/* Returns v permuted: by a transpose if that moves anything, else by a reshape if there is anything to do. */
static struct value *permuted(struct propagation *p, struct node *before, const struct node *origin, struct value *v,
                              const uint32_t *permutation)
{
    uint32_t dims[RANK_MAX];

    if (permutation_moves(&v->type, permutation))
        return make_transpose(p->g, before, origin, v, permutation);
    for (uint32_t d = 0; d < v->type.rank; d++)
        dims[d] = v->type.dims[permutation[d]];
    return memcmp(dims, v->type.dims, v->type.rank * sizeof *dims) == 0
               ? v
               : make_reshape(p->g, before, origin, v, v->type.rank, dims);
}

/* Returns v as it is (0) or permuted (1), made before `before` if nothing needed it so far.  Returns NULL if memory runs out.
 */
static struct value *form_of(struct propagation *p, struct node *before, struct value *v, uint32_t form)
{
    struct value_layout *l = &p->values[v->index];
    uint32_t permutation[RANK_MAX];

    if (!l->forms[0] && !l->forms[1])
        l->forms[0] = v;
    if (l->forms[form])
        return l->forms[form];
    for (uint32_t j = 0; j < v->type.rank; j++) {
        if (form)
            permutation[j] = l->permutation.at[j];
        else
            permutation[l->permutation.at[j]] = j;
    }
    l->forms[form] = permuted(p, before, v->producer, l->forms[1 - form], permutation);
    return l->forms[form];
}

/* Returns an operand of fewer dimensions than the permuted result: with leading ones, so that it can be permuted with it. */
static struct value *fit_operand(struct propagation *p, struct node *before, struct value *v, uint32_t rank,
                                 const struct permutation *permutation)
{
    uint32_t dims[RANK_MAX], list[RANK_MAX], missing = rank - v->type.rank;

    v = form_of(p, before, v, 0);
    if (!v || v->type.rank == 0)
        return v;
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = d < missing ? 1 : v->type.dims[d - missing];
        list[d] = permutation->at[d];
    }
    v = make_reshape(p->g, before, before, v, rank, dims);
    return v ? permuted(p, before, before, v, list) : NULL;
}

static bool rewrite_permuted(struct propagation *p, struct node *n)
{
    bool convolution = op_infos[n->op].flags & OPF_LIBRARY;
    struct permutation operand = layout_of(p, n->inputs[0].value)->permutation,
                       result = layout_of(p, n->results[0])->permutation;
    struct value **inputs = arena_array(&p->arena, n->input_count, sizeof *inputs);

    if (!inputs)
        return error_out_of_memory(&p->g->error);
    /* Of several tied operands the first need not be slot 0: prelu's slope, where's condition. */
    for (uint32_t i = 0; i < n->input_count; i++) {
        if (!convolution && layout_is_tied(n, i)) {
            operand = layout_of(p, n->inputs[i].value)->permutation;
            break;
        }
    }
    for (uint32_t i = 0; i < n->input_count; i++) {
        struct value *v = n->inputs[i].value;

        if (!v)
            continue;
        if (convolution ? i == 0 : layout_is_tied(n, i))
            inputs[i] = form_of(p, n, v, 1);
        else if (op_infos[n->op].flags & OPF_ELEMENTWISE)
            inputs[i] = fit_operand(p, n, v, n->results[0]->type.rank, &result);
        else
            inputs[i] = form_of(p, n, v, 0);
        if (!inputs[i])
            return false;
    }
    struct node *rebuilt = layout_rebuild(p->g, n, inputs, &operand, &result);
    if (!rebuilt)
        return false;
    for (uint32_t i = 0; i < n->result_count; i++)
        p->values[n->results[i]->index].forms[1] = rebuilt->results[i];
    return true;
}

static bool rewrite_fixed(struct propagation *p, struct node *n)
{
    for (uint32_t i = 0; i < n->input_count; i++) {
        struct value *v = n->inputs[i].value, *form;

        if (!v || !p->values[v->index].forms[1])
            continue; /* as it always was */
        form = form_of(p, n, v, 0);
        if (!form)
            return false;
        if (form != v)
            node_set_input(n, i, form);
    }
    return true;
}

static bool rewrite(struct propagation *p)
{
    struct node *last = p->g->last;

    for (struct node *n = p->g->first, *next; n; n = next) {
        bool permuted = n->index < p->node_count && p->roles[n->index] == ROLE_ANCHOR;
        next = n == last ? NULL : n->next;
        if (!(permuted ? rewrite_permuted(p, n) : n->index >= p->node_count || rewrite_fixed(p, n)))
            return false;
    }
    for (uint32_t i = 0; i < p->g->output_count; i++) {
        struct graph_output *o = &p->g->outputs[i];
        struct value *form = form_of(p, NULL, o->value, 0);

        if (!form)
            return false;
        o->value->output_uses--;
        form->output_uses++;
        o->value = form;
    }
    /* The walk goes backwards: the readers of a removed node were removed before it, or read another form. */
    for (struct node *n = p->g->last, *previous; n; n = previous) {
        previous = n->prev;
        if (n->index < p->node_count && p->roles[n->index] == ROLE_ANCHOR)
            node_remove(n);
    }
    return true;
}

/* ---- the pass ---- */

static bool propagate(struct graph *g, const struct pass_options *o)
{
    struct propagation p = {.g = g, .o = o, .node_count = g->node_count};
    bool worth_it = false, changed = false;

    p.values = arena_array(&p.arena, g->value_count, sizeof *p.values);
    p.roles = arena_array(&p.arena, g->node_count, sizeof *p.roles);
    p.variables = arena_array(&p.arena, g->node_count, sizeof *p.variables);
    p.queue = arena_array(&p.arena, g->value_count, sizeof(struct value *));
    if (!p.values || !p.roles || !p.variables || !p.queue) {
        error_out_of_memory(&g->error);
    } else {
        find_constants(&p);
        find_permutations(&p);
        if (p.queue_tail && choose(&p, &worth_it) && worth_it) {
            changed = true;
            rewrite(&p);
        }
    }
    arena_free(&p.arena);
    return changed;
}

bool pass_propagate_layout(struct graph *g, const struct pass_options *o)
{
    bool changed = false;

    while (!g->error.status && propagate(g, o)) {
        changed = true;
        if (o->cancelled && o->cancelled(o->user))
            break;
        /* Transposes left without readers would be counted by the next round. */
        pass_drop_dead(g, o);
    }
    return changed;
}
