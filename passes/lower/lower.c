/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes kernels of clusters: decides which iteration space a kernel gets, where in it each output lies, which outputs share a
 * kernel.
 *
 * A kernel's space comes from one reducing node of the cluster, the anchor: its reduced dimensions are the REDUCED variables,
 * the others PARALLEL ones.  Without a reducing node the space is an output's shape.  An output belongs to the kernel if it can
 * be placed: if the space says, through element-wise operators, transposes and reshapes, which variables are its dimensions
 * (find_placement).  Then its element there is evaluated backwards (lower_value) and stored.
 *
 * A CLUSTER_KERNEL becomes finished and verified kernels, usually one.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/graph/compact.h"
#include "ir/schedule/schedule.h"
#include "passes/cluster/fuse_cost.h"
#include "passes/lower/lower.h"

/* These are bounds on the length of a kernel's code, which are the same on every machine. */
enum {
    OUTPUTS_MAX = 16, /* tensors that one kernel writes */
    JOIN_EXPRESSIONS_MAX = 160,
    JOIN_VARS_MAX = 40,
    JOIN_TENSORS_MAX = 32
};

/* ---- the cluster's nodes ---- */

static bool table_create(struct arena *a, struct node *const *nodes, uint32_t count, struct node_table *t)
{
    *t = (struct node_table){.count = count, .nodes = nodes};
    if (!table_reserve(&t->table, a, count))
        return false;
    for (uint32_t n = 0; n < count; n++) {
        struct table_entry *e = NULL;
        while ((e = table_next(&t->table, nodes[n]->index, e))->item)
            ;
        table_put(&t->table, e, nodes[n]->index, &nodes[n]);
    }
    return true;
}

uint32_t node_table_position(const struct node_table *t, const struct node *n)
{
    const struct table_entry *e = NULL;

    while ((e = table_next(&t->table, n->index, e))->item) {
        struct node *const *place = e->item;
        if (*place == n)
            return (uint32_t)(place - t->nodes);
    }
    return UINT32_MAX;
}

/** Marks the nodes that v depends on in the table; `needed` is cleared first. */
static void mark_needed(const struct node_table *t, const struct value *v, bool *needed)
{
    const uint32_t start = v->producer ? node_table_position(t, v->producer) : UINT32_MAX;

    memset(needed, 0, t->count * sizeof *needed);
    if (start == UINT32_MAX)
        return;
    needed[start] = true;
    for (uint32_t p = start + 1; p-- > 0;) { /* users come after what they use */
        const struct node *n = t->nodes[p];
        for (uint32_t i = 0; needed[p] && i < n->input_count; i++) {
            const struct node *producer = n->inputs[i].value ? n->inputs[i].value->producer : NULL;
            const uint32_t q = producer ? node_table_position(t, producer) : UINT32_MAX;
            if (q != UINT32_MAX)
                needed[q] = true;
        }
    }
}

static bool table_of_value(struct arena *a, const struct node_table *t, const struct value *v, struct node_table *out)
{
    bool *needed = arena_array(a, t->count, sizeof *needed);
    struct node **nodes = arena_array(a, t->count, sizeof(struct node *));
    uint32_t count = 0;

    if (!needed || !nodes)
        return false;
    mark_needed(t, v, needed);
    for (uint32_t p = 0; p < t->count; p++)
        if (needed[p])
            nodes[count++] = t->nodes[p];
    return table_create(a, nodes, count, out);
}

/* ---- one attempt at a kernel ---- */

/** Says where the space has the elements of a node's first result, as far as it is known. */
struct placement {
    enum { PLACEMENT_UNKNOWN, PLACEMENT_NONE, PLACEMENT_KNOWN } state;
    struct map map;
};

bool lower_begin(struct lowering *l, const struct node_table *t)
{
    *l = (struct lowering){.table = t, .parallel_points = 1, .reduced_points = 1};
    l->k = kernel_create();
    if (!l->k)
        return false;
    l->evaluated = arena_array(&l->scratch, t->count, sizeof *l->evaluated);
    l->placements = arena_array(&l->scratch, t->count, sizeof *l->placements);
    return l->evaluated && l->placements;
}

struct kernel *lower_end(struct lowering *l, bool keep)
{
    struct kernel *k = l->k;

    arena_free(&l->scratch);
    kernel_free(keep ? NULL : k);
    l->k = NULL;
    return keep ? k : NULL;
}

static struct kaffine parallel_var(struct lowering *l, int64_t size)
{
    l->parallel_points *= size;
    return kaffine_var(l->k, kernel_var(l->k, KVAR_PARALLEL, size));
}

void lower_add_base(struct lowering *l, const struct value *v, const struct map *m)
{
    l->base_values[l->base_count] = v;
    l->bases[l->base_count++] = *m;
}

/** Returns a reducing node's result, placed as its operand without the reduced dimensions. */
static struct map reduced_placement(const struct node *n, const struct reduced_space *s, const struct map *operand)
{
    const struct tensor_type *t = &n->inputs[0].value->type;
    const bool keep = n->results[0]->type.rank == t->rank;
    struct map m = map_like(operand, n->results[0]->type.rank);
    uint32_t kept = 0;

    for (uint32_t d = 0; d < t->rank; d++) {
        if (!(s->axes >> d & 1))
            m.forms[kept++] = operand->forms[d];
        else if (keep)
            kept++;
    }
    return m;
}

static void space_of_anchor(struct lowering *l, const struct node *n, const struct reduced_space *s)
{
    const uint32_t flags = op_infos[n->op].flags;
    const bool over_axes = flags & (OPF_REDUCTION | OPF_NORMALIZATION | OPF_SCAN);
    const struct value *v = over_axes ? n->inputs[0].value : n->results[0];
    struct map m = {.rank = v->type.rank}, result;
    struct kaffine forms[RANK_MAX];
    uint32_t reduced = 0;

    for (uint32_t d = 0; d < v->type.rank; d++) {
        if (!over_axes || !(s->axes >> d & 1))
            m.forms[d] = parallel_var(l, v->type.dims[d]);
    }
    for (uint32_t i = 0; i < s->count; i++)
        forms[i] = kaffine_var(l->k, kernel_var(l->k, KVAR_REDUCED, s->sizes[i]));
    l->reduced = kaffine_const(0);
    for (uint32_t i = 0; i < s->count; i++)
        l->reduced = kaffine_add(l->k, kaffine_scale(l->k, l->reduced, s->sizes[i]), forms[i]);
    l->reduced_points = s->points;
    l->anchor = n;
    for (uint32_t d = 0; over_axes && d < v->type.rank; d++) {
        if (s->axes >> d & 1)
            m.forms[d] = n->op == OP_CUMULATIVE_SUM ? lower_scan_form(l, n, forms[reduced++]) : forms[reduced++];
    }
    lower_add_base(l, v, &m);
    if (!over_axes)
        return;
    result = flags & OPF_REDUCTION ? reduced_placement(n, s, &m) : m;
    lower_add_base(l, n->results[0], &result);
}

static void space_of_value(struct lowering *l, const struct value *v)
{
    struct map m = {.rank = v->type.rank};

    for (uint32_t d = 0; d < v->type.rank; d++)
        m.forms[d] = parallel_var(l, v->type.dims[d]);
    lower_add_base(l, v, &m);
}

/* ---- placing values ---- */

static bool find_placement(struct lowering *l, const struct value *v, struct map *m);

/** Derives the placement of a node's result in the space from those of its operands.  Returns false if they do not say it. */
static bool placement_of_result(struct lowering *l, const struct node *n, struct map *m)
{
    const uint32_t flags = op_infos[n->op].flags;
    const struct value *v = n->input_count ? n->inputs[0].value : NULL;
    const struct tensor_type *to = &n->results[0]->type;
    struct reduced_space s;
    struct map at;

    if (n->op != OP_BATCH_NORMALIZATION && flags & OPF_ELEMENTWISE) {
        for (uint32_t i = 0; i < n->input_count; i++) {
            v = n->inputs[i].value;
            if (type_elements(&v->type) == type_elements(to) && find_placement(l, v, &at)) {
                *m = map_reshape(l, &at, &v->type, to);
                return true;
            }
        }
        return false;
    }
    if (!v || !find_placement(l, v, &at))
        return false;
    if (flags & (OPF_NORMALIZATION | OPF_ELEMENTWISE_INDEXED | OPF_SCAN)) {
        *m = at;
        return true;
    }
    at = map_spread(l, &at, &v->type);
    if (flags & OPF_REDUCTION) {
        lower_reduces(n, &s);
        *m = reduced_placement(n, &s, &at);
        return !map_varies(l, m);
    }
    if (type_elements(&v->type) != type_elements(to))
        return false;
    switch (n->op) {
    case OP_RESHAPE:
    case OP_EXPAND:
        *m = map_reshape(l, &at, &v->type, to);
        return true;
    case OP_TRANSPOSE: {
        const WNNTransposeOptions *o = n->options;
        *m = map_like(&at, to->rank);
        for (uint32_t d = 0; d < to->rank; d++)
            m->forms[d] = at.forms[o->permutation[d]];
        return true;
    }
    case OP_REVERSE: {
        const WNNReverseOptions *o = n->options;
        *m = at;
        for (size_t i = 0; i < o->axesCount; i++) {
            const uint32_t d = o->axes[i];
            m->forms[d] = kaffine_add_const(kaffine_scale(l->k, at.forms[d], -1), (int64_t)to->dims[d] - 1);
        }
        return true;
    }
    default:
        return false;
    }
}

/** Finds where the space has v's elements.  Returns false if that does not follow from the base values. */
static bool find_placement(struct lowering *l, const struct value *v, struct map *m)
{
    for (uint32_t i = 0; i < l->base_count; i++) {
        if (l->base_values[i] == v) {
            *m = l->bases[i];
            return true;
        }
    }
    uint32_t position = lower_position(l, v);
    if (position == UINT32_MAX || v->result)
        return false;
    if (l->placements[position].state == PLACEMENT_UNKNOWN)
        l->placements[position].state =
            placement_of_result(l, l->table->nodes[position], &l->placements[position].map) ? PLACEMENT_KNOWN : PLACEMENT_NONE;
    *m = l->placements[position].map;
    return l->placements[position].state == PLACEMENT_KNOWN;
}

bool lower_output_map(struct lowering *l, const struct value *v, struct map *m)
{
    if (find_placement(l, v, m))
        return true;
    for (uint32_t i = 0; i < l->base_count; i++) {
        if (type_same_dims(&l->base_values[i]->type, &v->type)) {
            *m = l->bases[i];
            return true;
        }
    }
    return false;
}

void lower_forget_bases(struct lowering *l)
{
    l->base_count = 0;
    memset(l->placements, 0, l->table->count * sizeof *l->placements);
}

/** Returns the first reducing node (in execution order) that v depends on inside the cluster, NULL if there is none. */
static const struct node *find_anchor(const struct lowering *l, const struct value *v, bool *seen, struct reduced_space *space)
{
    const struct node *anchor = NULL;

    mark_needed(l->table, v, seen);
    for (uint32_t p = l->table->count; p-- > 0;) {
        struct reduced_space s;
        if (seen[p] && lower_reduces(l->table->nodes[p], &s) && (s.points > 1 || !anchor)) {
            anchor = l->table->nodes[p];
            *space = s;
        }
    }
    return anchor;
}

/* ---- one kernel for several outputs ---- */

struct attempt {
    const struct node_table *table;
    uint32_t count;
    struct value *const *outputs;
    bool *excluded; /* by output: not in this kernel */
    bool *stored;   /* by output: in the kernel now made */
};

/** Returns the node that computes an output, or whose part it is. */
static const struct node *output_node(const struct attempt *a, uint32_t output)
{
    const struct stored_part *part = &a->table->part;

    return (part->whole ? part->whole : a->outputs[output])->producer;
}

static void name_kernel(struct kernel *k, const struct node *n)
{
    snprintf(k->name, sizeof k->name, "%s_%u", op_infos[n->op].name, n->index);
    snprintf(k->label, sizeof k->label, "%s", n->label);
}

/** Chooses the space: that of an output that depends on a reducing node if there is one, else that of the first output. */
static bool choose_space(struct lowering *l, const struct attempt *a, uint32_t *leader)
{
    bool *seen = arena_array(&l->scratch, l->table->count, sizeof *seen);
    struct reduced_space space;

    if (!seen)
        return lower_no_memory(l);
    *leader = UINT32_MAX;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->excluded[i])
            continue;
        if (*leader == UINT32_MAX)
            *leader = i;
        const struct node *anchor = find_anchor(l, a->outputs[i], seen, &space);
        if (anchor) {
            *leader = i;
            space_of_anchor(l, anchor, &space);
            name_kernel(l->k, a->table->part.whole ? output_node(a, i) : anchor);
            return true;
        }
    }
    space_of_value(l, a->outputs[*leader]);
    name_kernel(l->k, output_node(a, *leader));
    return true;
}

/**
 * Tries one kernel for the outputs that are not excluded; those that have no placement in its space are left out.  Returns
 * false if output *culprit made it impossible (UINT32_MAX: there is an error in l->k).
 */
static bool attempt_kernel(struct lowering *l, const struct attempt *a, uint32_t *culprit)
{
    uint32_t leader = 0, stores = 0;

    *culprit = UINT32_MAX;
    memset(a->stored, 0, a->count * sizeof *a->stored);
    if (!choose_space(l, a, &leader))
        return false;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < a->count && stores < OUTPUTS_MAX; i++) {
            const struct value *v = a->outputs[i];
            struct map m;
            if (a->excluded[i] || (pass == 0) != (i == leader))
                continue;
            if (!lower_output_map(l, v, &m)) {
                if (i != leader)
                    continue;
                l->unfusable = true;
            }
            if (!lower_store(l, v, &m, lower_value(l, v, &m))) {
                *culprit = l->k->error.status == WNNStatus_UnknownError ? UINT32_MAX : i;
                return false;
            }
            a->stored[i] = true;
            stores++;
        }
    }
    return !l->k->error.status;
}

/* ---- clusters ---- */

/** Finishes, checks and lists a kernel; one that is not proved right is not run. */
static bool finish(struct kernel_list *list, struct kernel *k, struct error *e)
{
    if (!kernel_finish(k)) {
        error_set(e, k->error.status, "%s", k->error.message);
    } else if (!kernel_verify(k, NULL)) {
        error_set(e, WNNStatus_OperationError, "internal error: kernel %s does not verify", k->name);
    } else if (!array_extend(&list->kernels, list->count, sizeof(struct kernel *))) {
        error_out_of_memory(e);
    } else {
        list->kernels[list->count++] = k;
        return true;
    }
    kernel_free(k);
    return false;
}

/** Ends an attempt: its kernel goes to the list if it is good. */
static bool conclude(struct lowering *l, bool good, const struct node *n, struct kernel_list *list, struct error *e)
{
    if (!good) {
        if (l->k && l->k->error.status)
            error_set(e, l->k->error.status, "%s", l->k->error.message);
        else if (l->k && l->unfusable)
            error_set(e, WNNStatus_OperationError, "%s [%s]: no kernel can compute it", op_infos[n->op].name, n->label);
        else
            error_out_of_memory(e);
        lower_end(l, false);
        return false;
    }
    return finish(list, lower_end(l, true), e);
}

/** Makes the kernels of a scatter, which is a copy of its input and then the updates. */
static bool lower_scatter(const struct node_table *t, const struct node *n, struct kernel_list *list, struct error *e)
{
    for (int step = 0; step < 2; step++) {
        struct lowering l;
        bool good = lower_begin(&l, t);
        if (good) {
            name_kernel(l.k, n);
            if (step == 0) {
                const struct value *v = n->inputs[0].value;
                space_of_value(&l, v);
                good = lower_store(&l, n->results[0], &l.bases[0], lower_value(&l, v, &l.bases[0]));
            } else {
                good = lower_scatter_updates(&l, n);
            }
        }
        if (!conclude(&l, good, n, list, e))
            return false;
    }
    return true;
}

/** Makes kernels for the outputs that are left, as few as possible. */
static bool lower_outputs(struct attempt *a, bool *done, struct kernel_list *list, struct error *e)
{
    for (;;) {
        struct lowering l;
        uint32_t left = UINT32_MAX, culprit = UINT32_MAX;
        bool good;

        for (uint32_t i = a->count; i-- > 0;) {
            a->excluded[i] = done[i];
            if (!done[i])
                left = i;
        }
        if (left == UINT32_MAX)
            return true;
        for (;;) {
            uint32_t others = 0;
            good = lower_begin(&l, a->table) && attempt_kernel(&l, a, &culprit);
            if (good || culprit == UINT32_MAX)
                break;
            for (uint32_t i = 0; i < a->count; i++)
                others += !a->excluded[i] && i != culprit;
            if (!others)
                break; /* not even alone */
            a->excluded[culprit] = true;
            lower_end(&l, false);
        }
        if (!conclude(&l, good, output_node(a, culprit == UINT32_MAX ? left : culprit), list, e))
            return false;
        for (uint32_t i = 0; i < a->count; i++)
            done[i] |= a->stored[i];
    }
}

static bool attempt_begin(struct attempt *a, struct arena *arena, const struct node_table *t, uint32_t count,
                          struct value *const *outputs)
{
    *a = (struct attempt){.table = t, .count = count, .outputs = outputs};
    a->excluded = arena_array(arena, count + 1, sizeof *a->excluded);
    a->stored = arena_array(arena, count + 1, sizeof *a->stored);
    return a->excluded && a->stored;
}

/** Makes the kernels of the outputs that are not done: one of stages if the nodes are to be one, else as few as possible. */
static bool lower_kernels(const struct target *t, struct attempt *a, bool *done, struct kernel_list *list, struct error *e)
{
    struct kernel *k = lower_stages(t, a->table, a->count, a->outputs);

    return k ? finish(list, k, e) : lower_outputs(a, done, list, e);
}

/** Makes the kernels of a concat: each input's are those that it would have alone, but for where they store it. */
static bool lower_concat_parts(const struct target *t, struct arena *arena, const struct node_table *table,
                               const struct node *n, struct kernel_list *list, struct error *e)
{
    const uint32_t axis = n->args.concat.axis;
    int64_t start = 0;

    for (uint32_t i = 0; i < n->input_count; i++) {
        struct value *v = n->inputs[i].value;
        struct node_table needed;
        struct attempt a;
        bool done = false;

        if (!table_of_value(arena, table, v, &needed) || !attempt_begin(&a, arena, &needed, 1, &v))
            return error_out_of_memory(e);
        needed.part = (struct stored_part){v, n->results[0], axis, start};
        if (!lower_kernels(t, &a, &done, list, e))
            return false;
        start += v->type.dims[axis];
    }
    return true;
}

bool lower_cluster(const struct graph *g, const struct cluster *c, const struct target *t, struct kernel_list *out,
                   struct error *e)
{
    struct arena arena = {0};
    struct cluster_nodes nodes;
    struct node_table table;
    struct attempt a;
    bool *done = NULL, good;
    uint32_t left = 0;

    *out = (struct kernel_list){0};
    good = cluster_collect(g, c, &arena, &nodes) && table_create(&arena, nodes.nodes, nodes.count, &table) &&
           attempt_begin(&a, &arena, &table, nodes.output_count, nodes.outputs) &&
           (done = arena_array(&arena, nodes.output_count + 1, sizeof *done)) != NULL;
    if (!good)
        error_out_of_memory(e);
    for (uint32_t i = 0; good && i < nodes.output_count; i++) {
        const struct node *n = nodes.outputs[i]->producer;
        const bool concat = n->op == OP_CONCAT, scatter = op_infos[n->op].flags & OPF_SCATTER;
        if (concat)
            good = lower_concat_parts(t, &arena, &table, n, out, e);
        else if (scatter)
            good = lower_scatter(&table, n, out, e);
        done[i] = concat || scatter;
        left += !done[i];
    }
    good = good && (!left || lower_kernels(t, &a, done, out, e));
    arena_free(&arena);
    if (!good)
        kernel_list_free(out);
    return good;
}

void kernel_list_free(struct kernel_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        kernel_free(list->kernels[i]);
    free(list->kernels);
    *list = (struct kernel_list){0};
}

/* ---- may these nodes be one kernel? ---- */

static bool used_outside(const struct node_table *t, const struct value *v)
{
    if (v->output_uses)
        return true;
    value_for_each_use (v, u) {
        if (node_table_position(t, u->node) == UINT32_MAX)
            return true;
    }
    return false;
}

/** Returns whether the kernel does no work much more often than the nodes alone would. */
static bool repeats_little(const struct lowering *l, const struct fusion_facts *facts)
{
    for (uint32_t p = 0; p < l->table->count; p++) {
        const struct node *n = l->table->nodes[p];
        const bool expensive = cost_is_high(n);
        double elements = 0;
        for (uint32_t r = 0; r < n->result_count; r++)
            elements += (double)type_elements(&n->results[r]->type);
        if (op_infos[n->op].flags & OPF_MOVEMENT && n->op != OP_CONCAT)
            continue; /* maps only */
        if (n->result_count == 1 && (value_is_unpacked(n->results[0]) || value_is_rounded(n->results[0])))
            continue; /* a register tile unpacks once for all its rows or columns */
        if (!expensive && elements == 1)
            continue; /* computed once per point at most */
        if (l->evaluated[p] > elements * (expensive ? facts->repeat_expensive : facts->repeat_cheap))
            return false;
    }
    return true;
}

/** Finds what a kernel executes by its schedule.  Returns false after an error. */
static bool find_work(struct kernel *k, const struct target *t, double *work)
{
    struct schedule *s = kernel_finish(k) ? schedule_cpu(k, t) : NULL;

    *work = s ? schedule_work_of(s) : 0;
    schedule_free(s);
    return s != NULL;
}

bool lower_can_join(const struct target *t, struct node *const *nodes, uint32_t count, double *work)
{
    struct arena arena = {0};
    struct value **outputs = NULL;
    struct node_table table;
    struct lowering l;
    struct attempt a;
    uint32_t output_count = 0, results = 0, culprit;
    bool good;

    for (uint32_t i = 0; i < count; i++) {
        if (op_infos[nodes[i]->op].flags & (OPF_SCATTER | OPF_RECURRENT))
            return false;
        results += nodes[i]->result_count;
    }
    good = count > 0 && table_create(&arena, nodes, count, &table) &&
           (outputs = arena_array(&arena, results, sizeof(struct value *))) != NULL;
    for (uint32_t i = 0; good && i < count; i++) {
        for (uint32_t r = 0; r < nodes[i]->result_count; r++) {
            if (!used_outside(&table, nodes[i]->results[r]))
                continue;
            outputs[output_count++] = nodes[i]->results[r];
            if (nodes[i]->op == OP_CONCAT)
                good = false; /* a kernel per part */
        }
    }
    if (!good || !output_count || output_count > OUTPUTS_MAX || !attempt_begin(&a, &arena, &table, output_count, outputs)) {
        arena_free(&arena);
        return false;
    }
    good = lower_begin(&l, &table) && attempt_kernel(&l, &a, &culprit);
    for (uint32_t i = 0; good && i < output_count; i++)
        good = a.stored[i];
    if (good && lower_has_stages(&table)) {
        struct kernel *k = lower_stages(t, &table, output_count, outputs);
        good = k != NULL && (!work || find_work(k, t, work));
        kernel_free(k);
        work = NULL;
    }
    good = good && l.k->expr_count <= JOIN_EXPRESSIONS_MAX && l.k->var_count <= JOIN_VARS_MAX &&
           l.k->tensor_count <= JOIN_TENSORS_MAX && repeats_little(&l, &target_facts(t)->fusion) &&
           (!work || find_work(l.k, t, work));
    lower_end(&l, false);
    arena_free(&arena);
    return good;
}

bool lower_can_be_staged(const struct target *t, struct node *const *nodes, uint32_t count)
{
    struct arena arena = {0};
    struct node_table table;
    struct kernel *k = NULL;

    if (count > 0 && table_create(&arena, nodes, count, &table))
        k = lower_stages(t, &table, 1, &nodes[count - 1]->results[0]);
    kernel_free(k);
    arena_free(&arena);
    return k != NULL;
}
