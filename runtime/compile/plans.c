/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements plans (plans.h).
 *
 * The numbers of a graph are dimensions of its values and integers among the attributes of its nodes, always met in the same
 * order (walk).  Numbers that are equal in all samples, the sizes of which differ, are one quantity: few are left.
 */
#include "runtime/compile/plans.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph/dims.h"
#include "ir/graph/op_draft.h"
#include "ir/interpret/at_sizes.h"
#include "ir/support/checked.h"
#include "passes/recurrent/recurrent.h"
#include "runtime/compile/matching.h"

enum {
    SAMPLES_LEAST = 2, /* of which expressions are made; one more confirms them */
    SAMPLES_MAX = 8,
    PLANS_MAX = 16,
    FEW = 15,            /* sizes of a name that are a class: decoders and attention compute these otherwise */
    FACTOR_MAX = 1 << 16 /* by which a number exceeds its expression */
};

/** Is factor * a * b / divisor + more, where a and b are numbers of expressions, or NONE for 1. */
struct quantity {
    uint32_t values[SAMPLES_MAX]; /* in the samples */
    uint32_t a, b;
    int64_t factor, divisor, more;
    bool linear;
};
enum { NONE = UINT32_MAX };
#define PRIME UINT64_C(2147483647)

struct number {
    uint32_t *place; /* in a graph */
    enum number_kind kind;
};

/** What a graph has, in the order in which it is always met. */
struct walk {
    uint32_t number_count, constant_count;
    struct number *numbers;
    struct constant **constants; /* the graph's */
    bool ok;                     /* memory has not run out */
};

struct plan {
    struct graph *g; /* of the first sample */
    uint32_t sample_count, quantity_count;
    uint32_t *sizes[SAMPLES_MAX]; /* of the expressions */
    uint32_t *numbers[SAMPLES_MAX];
    struct walk all;
    bool other_constants;       /* a sample has had others */
    uint32_t *open, open_count; /* the numbers that are not the same at all sizes */
    uint32_t *quantity_of;      /* by number, and after those by expression at which slices start */
    struct quantity *quantities;
    struct arena arena;             /* of what follows */
    struct equal_clusters clusters; /* of g, at all sizes */
    bool fits, confirmed;
    struct plan *next;
};

struct plans {
    const struct graph *named;
    pthread_mutex_t lock;
    uint32_t expression_count, met_count, plan_count;
    struct alike *alike;  /* of the named graph's nodes */
    bool *seen;           /* expressions that passes meet: dimensions of values, and elements of lists of sizes */
    uint32_t *met;        /* those expressions */
    bool *starts;         /* expressions at which slices start */
    bool recurs, allowed; /* some node is recurrent; there may be plans */
    struct plan *first;
};

/* ---- lists of plans ---- */

static void see_type(struct plans *p, const struct value *v)
{
    for (uint32_t i = 0; i < v->type.rank; i++)
        if (dim_is_open(v->type.dims[i]))
            p->seen[v->type.dims[i] & ~DIM_OPEN] = true;
}

static void see_expressions(struct plans *p, const struct graph *g)
{
    for (uint32_t i = 0; i < g->input_count; i++)
        see_type(p, g->inputs[i]);
    for (const struct loop_body *l = g->loops; l; l = l->next)
        see_expressions(p, l->graph);
    graph_for_each (g, n) {
        p->recurs |= n->op != OP_LOOP && op_infos[n->op].flags & OPF_RECURRENT;
        for (uint32_t i = 0; i < n->result_count; i++)
            see_type(p, n->results[i]);
        for (uint32_t i = 1; i < n->input_count && op_is_draft(n->op); i++) {
            const struct value *v = n->inputs[i].value;

            for (int64_t k = 0; v && v->sizes && k < type_elements(&v->type); k++) {
                p->seen[v->sizes[k]] = true;
                p->starts[v->sizes[k]] |= n->op == OP_SPLIT_DYNAMIC || (n->op == OP_SLICE_DYNAMIC && i == 1);
            }
        }
    }
}

struct plans *plans_create(const struct graph *named)
{
    struct plans *p = calloc(1, sizeof *p);

    if (!p || pthread_mutex_init(&p->lock, NULL)) {
        free(p);
        return NULL;
    }
    p->named = named;
    p->expression_count = dims_expression_count(named);
    p->seen = calloc((size_t)p->expression_count + 1, sizeof *p->seen);
    p->starts = calloc((size_t)p->expression_count + 1, sizeof *p->starts);
    p->allowed = p->seen && p->starts && graph_has_plans(named) && (p->alike = graph_alike(named));
    if (p->allowed)
        see_expressions(p, named);
    for (uint32_t i = 0; p->allowed && i < p->expression_count; i++)
        if (p->seen[i] && (p->allowed = array_extend(&p->met, p->met_count, sizeof *p->met)))
            p->met[p->met_count++] = i;
    return p;
}

static void walk_end(struct walk *w)
{
    free(w->numbers);
    free(w->constants);
}

/* Frees what is known of the clusters, which must be found again. */
static void forget_clusters(struct plan *plan)
{
    for (struct cluster *c = plan->g->first_cluster; c; c = c->next) {
        kernel_free(c->kept ? c->kept->kernel : NULL);
        c->kept = NULL;
    }
    equal_clusters_forget(&plan->clusters);
    storage_forget(&plan->clusters.storage);
    arena_free(&plan->arena);
    plan->clusters.nodes = NULL;
}

static void plan_free(struct plan *plan)
{
    for (uint32_t s = 0; s < plan->sample_count; s++) {
        free(plan->sizes[s]);
        free(plan->numbers[s]);
    }
    walk_end(&plan->all);
    free(plan->quantity_of);
    free(plan->quantities);
    forget_clusters(plan);
    graph_free(plan->g);
    free(plan);
}

void plans_free(struct plans *p)
{
    if (!p)
        return;
    for (struct plan *i = p->first, *next; i; i = next) {
        next = i->next;
        plan_free(i);
    }
    pthread_mutex_destroy(&p->lock);
    free(p->alike);
    free(p->seen);
    free(p->met);
    free(p->starts);
    free(p);
}

/* ---- the numbers of a graph ---- */

static void walk_numbers(struct walk *w, uint32_t count, const uint32_t *numbers, enum number_kind kind)
{
    for (uint32_t i = 0; i < count && (w->ok = w->ok && array_extend(&w->numbers, w->number_count, sizeof *w->numbers)); i++)
        w->numbers[w->number_count++] = (struct number){(uint32_t *)&numbers[i], kind}; /* in the graph's arena */
}

/* Returns the kind of an attribute's numbers.  Inference checks the window of a pooling where every window position gives a
 * result. */
static enum number_kind kind_of(const struct node *n, const struct attr_info *a)
{
    const WNNPool2dOptions *o = n->options;

    return ((n->op == OP_AVERAGE_POOL2D || n->op == OP_MAX_POOL2D || n->op == OP_L2_POOL2D) && o->stridesCount == 2 &&
            o->strides[0] == 1 && o->strides[1] == 1 && !strcmp(a->name, "windowDimensions"))
               ? NUMBER_CHECKED
               : a->sizes;
}

static void walk(struct graph *g, struct walk *w)
{
    for (uint32_t i = 0; i < g->input_count; i++)
        walk_numbers(w, g->inputs[i]->type.rank, g->inputs[i]->type.dims, NUMBER_CHECKED);
    for (struct value *v = g->first_constant; v; v = v->next_constant)
        if (value_is_read(v) && (w->ok = w->ok && array_extend(&w->constants, w->constant_count, sizeof *w->constants)))
            w->constants[w->constant_count++] = v->constant;
    graph_for_each (g, n) {
        for (uint32_t i = 0; i < n->result_count; i++)
            walk_numbers(w, n->results[i]->type.rank, n->results[i]->type.dims, NUMBER_CHECKED);
        for (uint32_t i = 0; loop_part(n, i); i++) {
            walk_numbers(w, 1, &loop_part(n, i)->iterations, NUMBER_CHECKED);
            walk(loop_part(n, i)->graph, w);
        }
        for (const struct attr_info *a = op_infos[n->op].attrs; a->kind != ATTR_NONE; a++)
            if (a->kind == ATTR_U32 || a->kind == ATTR_U32_LIST)
                walk_numbers(w, (uint32_t)attr_count(a, n->options, &n->args), attr_value(a, n->options, &n->args),
                             kind_of(n, a));
    }
}

/* ---- samples ---- */

/* Returns the sizes of all expressions, 0 for those that are not known. */
static uint32_t *expression_sizes(const struct plans *p, const uint32_t *sizes)
{
    struct dim_number *atoms = calloc((size_t)dims_atom_count(p->named) + 1, sizeof *atoms);
    uint32_t *out = atoms ? calloc((size_t)p->expression_count + 1, sizeof *out) : NULL;

    if (out)
        dims_evaluate_atoms(p->named, sizes, atoms);
    for (uint32_t i = 0; out && i < p->expression_count; i++) {
        const struct dim_number x = dims_evaluate(p->named, DIM_OPEN | i, atoms);

        out[i] = x.known && x.value > 0 && x.value <= ELEMENT_COUNT_MAX ? (uint32_t)x.value : 0;
    }
    free(atoms);
    return out;
}

static uint32_t class_of(uint32_t size)
{
    return size <= 1 ? size : size <= FEW ? 2 : 3;
}

/* Returns whether steps of recurrent nodes are computed in the same type at two sizes. */
static bool same_precision(const struct graph *g, const uint32_t *a, const uint32_t *b)
{
    for (const struct loop_body *l = g->loops; l; l = l->next)
        if (!same_precision(l->graph, a, b))
            return false;
    graph_for_each (g, n)
        if (n->op != OP_LOOP && op_infos[n->op].flags & OPF_RECURRENT && recurrent_is_small(n, a) != recurrent_is_small(n, b))
            return false;
    return true;
}

/* Returns whether sizes are of one class. */
static bool same_class(const struct plans *p, const uint32_t *a, const uint32_t *b)
{
    for (uint32_t m = 0; m < p->met_count; m++) {
        const uint32_t i = p->met[m];

        if ((a[i] <= 1) != (b[i] <= 1) ||
            (class_of(a[i]) != class_of(b[i]) && dims_name_of(p->named, DIM_OPEN | i) != DIM_NONE))
            return false;
    }
    return !p->recurs || same_precision(p->named, a, b);
}

static bool same_constants(const struct constant *a, const struct constant *b)
{
    return a == b || (a->bytes == b->bytes && !memcmp(a->data, b->data, a->bytes));
}

/* Adds g to the samples; sizes is taken over. */
static bool add_sample(struct plan *plan, struct graph *g, uint32_t *sizes)
{
    const uint32_t s = plan->sample_count;
    struct walk w = {.ok = true};
    uint32_t *numbers = NULL;

    walk(g, &w);
    if (w.ok && (!s || (w.number_count == plan->all.number_count && w.constant_count == plan->all.constant_count)))
        numbers = calloc((size_t)w.number_count + 1, sizeof *numbers);
    for (uint32_t i = 0; numbers && i < w.number_count; i++)
        numbers[i] = *w.numbers[i].place;
    for (uint32_t i = 0; numbers && s && i < w.constant_count; i++)
        plan->other_constants |= !same_constants(plan->all.constants[i], w.constants[i]);
    if (numbers) {
        plan->numbers[s] = numbers;
        plan->sizes[s] = sizes;
        plan->sample_count++;
    } else {
        free(sizes);
    }
    if (numbers && !s)
        plan->all = w;
    else
        walk_end(&w);
    return numbers != NULL;
}

/* ---- expressions of numbers ---- */

static int64_t size_at(const uint32_t *sizes, uint32_t e)
{
    return e == NONE ? 1 : sizes[e];
}

/* Computes a quantity.  Returns false if it is not a size. */
static bool evaluate(const struct quantity *q, const uint32_t *sizes, int64_t *value)
{
    int64_t x;

    if (!checked_mul(size_at(sizes, q->a), size_at(sizes, q->b), &x) || !checked_mul(x, q->factor, &x) || x % q->divisor ||
        !size_at(sizes, q->a) || !size_at(sizes, q->b))
        return false;
    *value = x / q->divisor + q->more;
    return true;
}

static bool is_fixed(const uint32_t *values, uint32_t count)
{
    for (uint32_t s = 1; s < count; s++)
        if (values[s] != values[0])
            return false;
    return true;
}

/* Tries a times b for the quantity, with a factor, a divisor or something added. */
static bool try_expressions(const struct plan *plan, struct quantity *q, uint32_t a, uint32_t b, bool adds)
{
    const int64_t x = size_at(plan->sizes[0], a) * size_at(plan->sizes[0], b), wanted = q->values[0];
    int64_t value;

    q->a = a;
    q->b = b;
    q->factor = q->divisor = 1;
    q->more = 0;
    if (!x)
        return false;
    if (adds)
        q->more = wanted - x;
    else if (wanted % x == 0)
        q->factor = wanted / x;
    else if (wanted && x % wanted == 0)
        q->divisor = x / wanted;
    if (q->factor > FACTOR_MAX || q->divisor > FACTOR_MAX)
        return false;
    for (uint32_t s = 0; s < plan->sample_count; s++)
        if (!evaluate(q, plan->sizes[s], &value) || value != q->values[s])
            return false;
    return true;
}

/* Returns whether an expression may be part of the quantity: the guards compare those that are seen alone. */
static bool may_be(const struct plans *p, const struct quantity *q, uint32_t e)
{
    return p->seen[e] && (!q->linear || dims_is_linear(p->named, e));
}

static bool find_quantity(const struct plans *p, const struct plan *plan, struct quantity *q)
{
    const uint32_t count = p->expression_count;

    for (int way = 0; way < 3; way++) /* equal ones come first */
        for (uint32_t a = 0; a < count; a++)
            if (may_be(p, q, a) && (way || plan->sizes[0][a] == q->values[0]) && try_expressions(plan, q, a, NONE, way == 2))
                return true;
    for (uint32_t a = 0; a < count && !q->linear; a++)
        for (uint32_t b = a; b < count; b++)
            if (p->seen[a] && p->seen[b] && try_expressions(plan, q, a, b, false))
                return true;
    return false;
}

/* Finds the quantity that has these values, or none if they are fixed.  Returns false if there is none of that kind. */
static bool find_number(const struct plans *p, struct plan *plan, struct quantity q, enum number_kind kind, uint32_t *number)
{
    uint32_t k = 0;

    *number = NONE;
    if (is_fixed(q.values, plan->sample_count))
        return true;
    if (kind == NUMBER_FIXED)
        return false;
    q.linear = kind == NUMBER_LINEAR;
    while (k < plan->quantity_count &&
           (plan->quantities[k].linear != q.linear || memcmp(plan->quantities[k].values, q.values, sizeof q.values) != 0))
        k++;
    *number = k;
    if (k < plan->quantity_count)
        return true;
    if (!array_extend(&plan->quantities, k, sizeof q))
        return false;
    plan->quantities[plan->quantity_count++] = q;
    return find_quantity(p, plan, &plan->quantities[k]);
}

static bool find_numbers(const struct plans *p, struct plan *plan)
{
    for (uint32_t i = 0; i < plan->all.number_count + p->expression_count; i++) {
        const uint32_t e = i - plan->all.number_count;
        const bool is_start = i >= plan->all.number_count;
        struct quantity q = {.a = NONE};

        for (uint32_t s = 0; s < plan->sample_count; s++)
            q.values[s] = is_start ? p->starts[e] ? plan->sizes[s][e] : 0 : plan->numbers[s][i];
        if (!find_number(p, plan, q, is_start ? NUMBER_LINEAR : plan->all.numbers[i].kind, &plan->quantity_of[i]))
            return false;
    }
    return true;
}

/* Finds expressions for all numbers, as far as the samples tell. */
static bool find_all(const struct plans *p, struct plan *plan)
{
    plan->quantity_count = 0;
    if (!plan->quantity_of)
        plan->quantity_of = calloc((size_t)plan->all.number_count + p->expression_count + 1, sizeof *plan->quantity_of);
    return !plan->other_constants && plan->quantity_of && find_numbers(p, plan);
}

/* ---- using a plan ---- */

/* Makes a multiple of a vector 0 where the rows have places of their own, by subtracting multiples of them. */
static void reduce(uint64_t *vector, uint64_t (*rows)[PLAN_NAMES_MAX], const uint32_t *pivots, uint32_t count, uint32_t length)
{
    for (uint32_t r = 0; r < count; r++) {
        const uint64_t factor = rows[r][pivots[r]], less = PRIME - vector[pivots[r]];

        for (uint32_t i = 0; i < length; i++)
            vector[i] = (vector[i] * factor + less * rows[r][i]) % PRIME;
    }
}

/*
 * Returns whether the sizes of names lie in the affine hull of the samples, so that linear relations which hold in all of them
 * hold again.  Numbers are taken modulo a prime.
 */
static bool in_hull(const struct plans *p, const struct plan *plan, const uint32_t *sizes)
{
    uint64_t rows[SAMPLES_MAX + 1][PLAN_NAMES_MAX];
    uint32_t names[PLAN_NAMES_MAX], pivots[SAMPLES_MAX], count = 0, length = 0;

    for (uint32_t i = 0; i < p->expression_count; i++)
        if (dims_name_of(p->named, DIM_OPEN | i) != DIM_NONE)
            names[length++] = i;
    for (uint32_t s = 1; s <= plan->sample_count; s++) {
        const uint32_t *at = s < plan->sample_count ? plan->sizes[s] : sizes;
        uint32_t pivot = 0;

        for (uint32_t i = 0; i < length; i++)
            rows[count][i] = (PRIME + at[names[i]] - plan->sizes[0][names[i]]) % PRIME;
        reduce(rows[count], rows, pivots, count, length);
        while (pivot < length && !rows[count][pivot])
            pivot++;
        if (s == plan->sample_count)
            return pivot == length;
        if (pivot < length)
            pivots[count++] = pivot;
    }
    return false;
}

/* Returns whether expressions that were equal in all samples are, and those that stayed the same have that size. */
static bool guards_hold(const struct plans *p, const struct plan *plan, const uint32_t *sizes)
{
    if (!same_class(p, plan->sizes[0], sizes) || !in_hull(p, plan, sizes))
        return false;
    for (uint32_t m = 0; m < p->met_count; m++) {
        const uint32_t i = p->met[m];
        bool fixed = true;

        for (uint32_t s = 1; s < plan->sample_count; s++)
            fixed &= plan->sizes[s][i] == plan->sizes[0][i];
        if (fixed && sizes[i] != plan->sizes[0][i])
            return false;
        for (uint32_t n = 0; !fixed && n < m; n++) {
            const uint32_t k = p->met[n];
            bool equal = sizes[i] != sizes[k];

            for (uint32_t s = 0; equal && s < plan->sample_count; s++)
                equal = plan->sizes[s][i] == plan->sizes[s][k];
            if (equal)
                return false;
        }
    }
    return true;
}

/* Finds the clusters that are equal at all sizes, whose numbers are the same quantities: these are in the place of numbers. */
static bool find_equal(struct plan *plan)
{
    plan->open = arena_array(&plan->arena, plan->all.number_count, sizeof *plan->open);
    plan->open_count = 0;
    for (uint32_t i = 0; plan->open && i < plan->all.number_count; i++)
        if (plan->quantity_of[i] != NONE) {
            plan->open[plan->open_count++] = i;
            *plan->all.numbers[i].place = DIM_OPEN | plan->quantity_of[i];
        }
    graph_renumber(plan->g);
    struct kept_stage *kept = arena_array(&plan->arena, plan->g->cluster_count, sizeof *kept);
    if (!plan->open || !kept || !equal_clusters_find(plan->g, &plan->arena, &plan->clusters)) {
        forget_clusters(plan);
        return false;
    }
    for (struct cluster *c = plan->g->first_cluster; c; c = c->next)
        c->kept = &kept[c->index];
    return true;
}

static bool parts_hold(const struct node *n)
{
    for (uint32_t i = 0; loop_part(n, i); i++)
        graph_for_each (loop_part(n, i)->graph, m)
            if (!node_verify_types(m))
                return false;
    return true;
}

/* Returns whether inference gives the types that the numbers say, which it does of equal clusters if it does of one. */
static bool types_hold(const struct plans *p, const struct plan *plan)
{
    const bool has_parts = p->recurs || p->named->loops;

    for (uint32_t i = 0; i < plan->g->cluster_count; i++)
        for (uint32_t n = 0; (has_parts || !plan->clusters.like[i]) && n < plan->clusters.nodes[i].count; n++)
            if ((!plan->clusters.like[i] && !node_verify_types(plan->clusters.nodes[i].nodes[n])) ||
                !parts_hold(plan->clusters.nodes[i].nodes[n]))
                return false;
    return true;
}

/* Returns whether each start of a slice equals its linear expression. */
static bool starts_hold(const struct plans *p, const struct plan *plan, const uint32_t *sizes)
{
    int64_t x;

    for (uint32_t e = 0; e < p->expression_count; e++) {
        const uint32_t k = plan->quantity_of[plan->all.number_count + e];

        if (k != NONE && (!evaluate(&plan->quantities[k], sizes, &x) || x != sizes[e]))
            return false;
    }
    return true;
}

/* Puts the numbers for these sizes into the graph. */
static bool set_numbers(struct plan *plan, const uint32_t *sizes)
{
    int64_t *values = calloc((size_t)plan->quantity_count + 1, sizeof *values);
    bool ok = values != NULL;

    for (uint32_t k = 0; ok && k < plan->quantity_count; k++)
        ok = evaluate(&plan->quantities[k], sizes, &values[k]) && values[k] >= 0 && values[k] <= ELEMENT_COUNT_MAX;
    for (uint32_t i = 0; ok && i < plan->open_count; i++)
        *plan->all.numbers[plan->open[i]].place = (uint32_t)values[plan->quantity_of[plan->open[i]]];
    free(values);
    return ok;
}

/* Gives the planned graph what g has as data. */
static void set_data(struct graph *planned, const struct graph *g)
{
    for (uint32_t i = 0; i < g->origin.data_count; i++) {
        constant_release(planned->origin.data[i]);
        planned->origin.data[i] = constant_retain(g->origin.data[i]);
    }
    planned->progress = g->progress;
    planned->budget = g->budget;
    planned->account = g->account ? &planned->budget : NULL;
}

/* Returns the graph of a plan that serves these sizes, of the names and of the expressions. */
static struct graph *take(struct plans *p, const uint32_t *sizes, const uint32_t *all)
{
    struct graph *valid = NULL, *planned = NULL;
    struct error ignored = {0};

    for (struct plan *i = p->first; i && !planned; i = i->next) {
        if (!i->confirmed || !guards_hold(p, i, all))
            continue;
        if (!valid && !(valid = graph_at_sizes(p->named, sizes, p->alike, &ignored)))
            break;
        if (!valid->origin.differs && starts_hold(p, i, all) && set_numbers(i, all) && types_hold(p, i) &&
            graphs_same_interface(i->g, valid))
            planned = i->g;
    }
    if (planned) {
        set_data(planned, valid);
        planned->origin.plans = p;
    }
    graph_free(valid);
    return planned;
}

struct graph *plans_take(struct plans *p, const uint32_t *sizes)
{
    uint32_t *all = p->allowed ? expression_sizes(p, sizes) : NULL;
    struct graph *planned = NULL;

    if (!all || pthread_mutex_trylock(&p->lock)) { /* another size is being built, perhaps by who calls this from a callback */
        free(all);
        return NULL;
    }
    planned = take(p, sizes, all);
    free(all);
    if (!planned)
        pthread_mutex_unlock(&p->lock);
    return planned;
}

struct equal_clusters *plans_clusters(const struct plans *p, const struct graph *g)
{
    struct plan *i = p->first;

    while (i && i->g != g)
        i = i->next;
    return i ? &i->clusters : NULL;
}

void plans_give_back(struct plans *p)
{
    pthread_mutex_unlock(&p->lock);
}

/* ---- learning ---- */

/* Returns whether the numbers of the last sample are those that were predicted of those before it. */
static bool predicted(struct plan *plan)
{
    const uint32_t last = plan->sample_count - 1, *sizes = plan->sizes[last];
    int64_t x;

    for (uint32_t i = 0; i < plan->all.number_count; i++) {
        const uint32_t q = plan->quantity_of[i];

        if (q == NONE ? plan->numbers[last][i] != plan->numbers[0][i]
                      : !evaluate(&plan->quantities[q], sizes, &x) || x != plan->numbers[last][i])
            return false;
    }
    return !plan->other_constants;
}

static void learn_more(struct plans *p, struct plan *plan, struct graph *g, uint32_t *sizes)
{
    const bool expected = plan->fits && guards_hold(p, plan, sizes);

    if (plan->sample_count == SAMPLES_MAX || (plan->confirmed && !starts_hold(p, plan, sizes))) { /* it tells little */
        free(sizes);
        return;
    }
    if (!add_sample(plan, g, sizes))
        return;
    if (expected && predicted(plan)) {
        plan->confirmed = plan->clusters.nodes || find_equal(plan);
        return;
    }
    plan->confirmed = false;
    forget_clusters(plan); /* quantities are found again */
    plan->fits = plan->sample_count >= SAMPLES_LEAST && find_all(p, plan);
}

void plans_learn(struct plans *p, struct graph *g)
{
    uint32_t *sizes = p->allowed && !g->origin.differs && graph_is_plannable(g) ? expression_sizes(p, g->origin.sizes) : NULL;
    struct plan *plan;

    if (!sizes || pthread_mutex_trylock(&p->lock)) { /* a plan is in use, perhaps by who calls this from its callback */
        free(sizes);
        graph_free(g);
        return;
    }
    for (plan = p->first; plan; plan = plan->next)
        if (same_class(p, plan->sizes[0], sizes) && graphs_match(plan->g, g))
            break;
    if (plan) {
        learn_more(p, plan, g, sizes);
        graph_free(g);
    } else if (p->plan_count < PLANS_MAX && (plan = calloc(1, sizeof *plan))) {
        plan->g = g;
        if (add_sample(plan, g, sizes)) {
            plan->next = p->first;
            p->first = plan;
            p->plan_count++;
        } else {
            plan_free(plan);
        }
    } else {
        free(sizes);
        graph_free(g);
    }
    pthread_mutex_unlock(&p->lock);
}
