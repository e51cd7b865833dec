/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Compiles a graph to a program: passes, kernels, storage, library steps, then one array of steps.
 *
 * A graph that has passed build's checks becomes, for an engine, a struct program; nothing in it points into the graph.
 *
 *   passes_run          puts every node into a cluster
 *   lower_cluster       makes the kernels of each kernel cluster
 *   storage_assign      decides which bytes each value has; asks kernels and library what may be computed in place
 *   step_create         makes the primitives of each library cluster, told what was decided about locations
 *   step_finish         packs their weights, one step after the other; what no other cluster reads is freed at once
 *
 * At last the steps, in cluster order, get locations instead of values.
 *
 * A library that refuses a cluster after all (it said yes to every node) gets another chance to be right: the cluster becomes
 * kernels, and everything from lowering on is done again, since what lies where may change.
 */
#include "runtime/compile/compile.h"

#include <stdlib.h>
#include <string.h>

#include "ir/support/clock.h"
#include "ir/support/text.h"
#include "runtime/compile/compile_internal.h"
#include "runtime/compile/describe.h"
#include "runtime/compile/plans.h"

static bool is_cancelled(const struct compiler *k)
{
    if (!k->cancelled || !k->cancelled(k->user))
        return false;
    error_set(k->e, WNNStatus_OperationError, "the build was cancelled");
    return true;
}

/* ---- what may share memory ---- */

static bool kernel_uses(const struct kernel *k, const struct value *v, bool written)
{
    for (uint32_t i = 0; i < k->tensor_count; i++)
        if (k->tensors[i].user == v && k->tensors[i].written == written)
            return true;
    return false;
}

static bool kernel_shares(const struct kernel *k, const struct value *input, const struct value *output)
{
    for (uint32_t i = 0; i < k->tensor_count; i++)
        for (uint32_t o = 0; o < k->tensor_count; o++)
            if (k->tensors[i].user == input && k->tensors[o].user == output && !k->tensors[i].written &&
                k->tensors[o].written && !kernel_may_share(k, i, o))
                return false;
    return true;
}

/* Kernels of a cluster run one after the other: once one has written the output, the input must not be needed any more. */
static bool kernels_share(const struct kernel_list *list, const struct value *input, const struct value *output)
{
    bool written = false;

    for (uint32_t i = 0; i < list->count; i++) {
        if (written && kernel_uses(list->kernels[i], input, false))
            return false;
        if (!kernel_shares(list->kernels[i], input, output))
            return false;
        written |= kernel_uses(list->kernels[i], output, true);
    }
    return true;
}

static bool may_share(void *user, const struct cluster *c, const struct value *input, const struct value *output)
{
    struct compiler *k = user;
    const struct compiled_cluster *cc = &k->clusters[c->index];

    switch (c->kind) {
    case CLUSTER_KERNEL:
        if (cc->like) {
            input = cluster_counterpart(cc->nodes, cc->like->nodes, input);
            output = cluster_counterpart(cc->nodes, cc->like->nodes, output);
            return input && output && kernels_share(&cc->like->kernels, input, output);
        }
        return kernels_share(&cc->kernels, input, output);
    case CLUSTER_LIBRARY:
        return k->en->functions->optional.library->step_may_share(k->en->library, cc->nodes->nodes, cc->nodes->count, input);
    case CLUSTER_LOOP: /* writes results while operands are still read */
    case CLUSTER_VIEW:
        break;
    }
    return false;
}

/* ---- library steps ---- */

struct sharing {
    const struct storage_assignment *storage;
    const struct value *output;
};

/* Returns whether storage assignment put v exactly where the cluster's output lies. */
static bool shares_output(void *user, const struct value *v)
{
    const struct sharing *s = user;
    const struct storage *a = &s->storage->values[v->index], *b = &s->storage->values[s->output->index];

    return a->kind == STORAGE_ARENA && b->kind == STORAGE_ARENA && a->offset == b->offset;
}

static void cluster_insert_after(struct graph *g, struct cluster *c, struct cluster *added)
{
    added->next = c->next;
    c->next = added;
    if (g->last_cluster == c)
        g->last_cluster = added;
    g->cluster_count = 0;
    for (struct cluster *i = g->first_cluster; i; i = i->next)
        i->index = g->cluster_count++;
}

/* Makes kernel clusters of a library cluster's nodes: as few as lowering can join. */
static bool cluster_make_kernels(struct compiler *k, struct cluster *c, const struct cluster_nodes *nodes)
{
    c->kind = CLUSTER_KERNEL;
    c->anchor = NULL;
    c->first = nodes->nodes[0];
    c->node_count = 1;
    for (uint32_t i = 1, start = 0; i < nodes->count; i++) {
        if (!lower_can_join(k->target, nodes->nodes + start, i - start + 1, NULL)) {
            struct cluster *added = arena_alloc(&k->g->arena, sizeof *added);
            if (!added)
                return error_out_of_memory(k->e);
            added->kind = CLUSTER_KERNEL;
            added->first = nodes->nodes[i];
            cluster_insert_after(k->g, c, added);
            c = added;
            start = i;
        }
        nodes->nodes[i]->cluster = c;
        c->node_count = i - start + 1;
    }
    return true;
}

enum attempt { ATTEMPT_DONE, ATTEMPT_FAILED, ATTEMPT_AGAIN };

static enum attempt create_library_step(struct compiler *k, struct compiled_cluster *cc)
{
    struct sharing sharing = {&k->storage, cc->nodes->output_count > 0 ? cc->nodes->outputs[0] : NULL};
    struct error why = {.status = WNNStatus_Success};

    cc->library = k->en->functions->optional.library->step_create(k->en->library, cc->nodes->nodes, cc->nodes->count,
                                                                  shares_output, &sharing, &why);
    return cc->library ? ATTEMPT_DONE : cluster_make_kernels(k, cc->cluster, cc->nodes) ? ATTEMPT_AGAIN : ATTEMPT_FAILED;
}

/* ---- one attempt ---- */

static void attempt_drop(struct compiler *k)
{
    for (uint32_t i = 0; i < k->cluster_count; i++) {
        kernel_list_free(&k->clusters[i].kernels);
        if (k->clusters[i].library)
            k->en->functions->optional.library->step_free(k->clusters[i].library);
        loop_free(k->clusters[i].loop);
    }
    k->cluster_count = 0;
}

/* Returns whether steps may run the kernels of others.  Switches that show kernels want each step's own. */
static bool shares_kernels(const struct compiler *k)
{
    return k->g->origin.role == GRAPH_VARIANT && k->en->kind == WNNEngine_Cpu && !k->description &&
           !(k->en->debug->flags & ~(DEBUG_TIME_PASSES | DEBUG_VERIFY | DEBUG_NO_LIBRARY));
}

static bool attempt_begin(struct compiler *k)
{
    k->shares = shares_kernels(k);
    k->clusters = arena_array(&k->arena, k->g->cluster_count, sizeof *k->clusters);
    if (!k->clusters || (!k->planned && !equal_clusters_find(k->g, &k->arena, &k->found)))
        return error_out_of_memory(k->e);
    if (k->planned)
        k->found = *k->planned;
    k->cluster_count = k->g->cluster_count;
    for (struct cluster *c = k->g->first_cluster; c; c = c->next) {
        const uint32_t like = k->shares && c->kind == CLUSTER_KERNEL ? k->found.like[c->index] : 0;

        k->clusters[c->index].cluster = c;
        k->clusters[c->index].nodes = &k->found.nodes[c->index];
        k->clusters[c->index].like = like ? &k->clusters[like - 1] : NULL;
    }
    return true;
}

static enum attempt attempt_clusters(struct compiler *k)
{
    double start = milliseconds_now();

    if (!attempt_begin(k))
        return ATTEMPT_FAILED;
    for (uint32_t i = 0; i < k->cluster_count; i++) {
        struct compiled_cluster *cc = &k->clusters[i];
        if (cc->cluster->kind == CLUSTER_KERNEL && !cc->like &&
            !lower_cluster(k->g, cc->cluster, k->target, &cc->kernels, k->e))
            return ATTEMPT_FAILED;
    }
    double lowered = milliseconds_now();
    k->times->lower += lowered - start;

    if (!storage_assign(k->g, k->found.nodes, &k->arena, k->target->storage_alignment, may_share, k,
                        k->planned ? &k->planned->storage : NULL, &k->storage)) {
        *k->e = k->g->error;
        return ATTEMPT_FAILED;
    }
    double assigned = milliseconds_now();
    k->times->storage += assigned - lowered;

    for (uint32_t i = 0; i < k->cluster_count; i++) {
        struct compiled_cluster *cc = &k->clusters[i];
        if (cc->cluster->kind != CLUSTER_LIBRARY)
            continue;
        if (is_cancelled(k))
            return ATTEMPT_FAILED;
        enum attempt a = create_library_step(k, cc);
        if (a != ATTEMPT_DONE)
            return a;
    }
    k->times->library += milliseconds_now() - assigned;
    return ATTEMPT_DONE;
}

/* Returns whether only library steps that have been finished, those of clusters 0..last, read a constant. */
static bool constant_is_done(const struct value *v, uint32_t last)
{
    if (v->kind != VALUE_CONSTANT || !v->constant || v->output_uses)
        return false;
    value_for_each_use (v, u) {
        const struct cluster *c = u->node->cluster;

        if (!c || c->kind != CLUSTER_LIBRARY || c->index > last)
            return false;
    }
    return true;
}

/* Once nothing is attempted again.  Never are all weights there twice: those of a step go as soon as they are packed. */
static bool finish_library_steps(struct compiler *k)
{
    double start = milliseconds_now();

    for (uint32_t i = 0; i < k->cluster_count; i++) {
        struct compiled_cluster *cc = &k->clusters[i];

        if (!cc->library)
            continue;
        if (is_cancelled(k) || !k->en->functions->optional.library->step_finish(cc->library, k->e))
            return false;
        for (uint32_t n = 0; n < cc->nodes->count; n++)
            for (uint32_t in = 0; in < cc->nodes->nodes[n]->input_count; in++) {
                struct value *v = cc->nodes->nodes[n]->inputs[in].value;

                if (!v || !constant_is_done(v, i))
                    continue;
                constant_release(v->constant);
                v->constant = NULL;
            }
    }
    k->times->library += milliseconds_now() - start;
    return true;
}

/* Once nothing is attempted again: loops change nothing about what lies where outside of them. */
static bool compile_loops(struct compiler *k)
{
    for (uint32_t i = 0; i < k->cluster_count; i++) {
        struct compiled_cluster *cc = &k->clusters[i];
        if (cc->cluster->kind != CLUSTER_LOOP)
            continue;
        cc->loop = loop_compile(k->en, k->target, cc->nodes->nodes[0], k->cancelled, k->user, k->times, k->e);
        if (!cc->loop)
            return false;
    }
    return true;
}

/* ---- the whole ---- */

static bool run_passes(struct compiler *k)
{
    struct pass_options options = {.target = k->target, .debug = k->en->debug, .cancelled = k->cancelled, .user = k->user};

    if (passes_run(k->g, &options))
        return true;
    if (k->g->error.status != WNNStatus_Success)
        *k->e = k->g->error;
    return error_set(k->e, WNNStatus_OperationError, "the build was cancelled");
}

static bool spend_memory(const struct compiler *k)
{
    double bytes = (double)k->out->arena_bytes;

    for (uint32_t i = 0; i < k->g->output_count; i++)
        bytes += (double)type_bytes(&k->g->outputs[i].value->type);
    return budget_spend(k->g->account, "computing the graph", 0, bytes, k->e);
}

static bool compile(struct compiler *k)
{
    enum attempt a;
    double start = milliseconds_now();

    k->planned = k->g->origin.is_clustered && k->g->origin.plans ? plans_clusters(k->g->origin.plans, k->g) : NULL;
    if (!k->g->origin.is_clustered && !run_passes(k))
        return false;
    k->g->origin.is_clustered = true;
    k->times->passes += milliseconds_now() - start;
    while ((a = attempt_clusters(k)) == ATTEMPT_AGAIN)
        attempt_drop(k);
    if (a != ATTEMPT_DONE || !finish_library_steps(k) || !compile_loops(k))
        return false;
    k->out->engine = k->en;
    k->out->free_library = k->en->functions->optional.library ? k->en->functions->optional.library->step_free : NULL;
    k->out->input_count = k->g->input_count - k->g->origin.data_count;
    k->out->output_count = k->g->output_count;
    k->out->is_variant = k->g->origin.role == GRAPH_VARIANT;
    k->out->arena_bytes = k->storage.arena_bytes;
    k->out->arena_lower_bound = k->storage.arena_lower_bound;
    k->keeps &= k->planned && k->shares;
    bool fits = k->keeps && k->planned->values;
    return (!fits || compile_again_steps(k, &fits)) && (fits || compile_add_steps(k)) && spend_memory(k);
}

bool compile_graph(struct engine *en, struct graph *g, bool (*cancelled)(void *user), void *user, struct program *out,
                   struct compile_times *times, struct error *e)
{
    const struct target *t = en->functions->target(en, e);

    if (t) {
        struct target varying = *t;

        if (g->origin.role == GRAPH_VARIANT)
            target_vary_sizes(&varying, en->precision);
        return compile_for_target(en, &varying, g, true, cancelled, user, out, times, e);
    }
    memset(out, 0, sizeof *out);
    memset(times, 0, sizeof *times);
    return error_set(e, WNNStatus_OperationError, "internal error: an engine without a target");
}

bool compile_for_target(struct engine *en, const struct target *t, struct graph *g, bool keeps, bool (*cancelled)(void *user),
                        void *user, struct program *out, struct compile_times *times, struct error *e)
{
    struct compiler k = {
        .en = en, .g = g, .target = t, .e = e, .out = out, .cancelled = cancelled, .user = user, .times = times};
    char *text = NULL;
    size_t length;

    k.keeps = keeps;
    memset(out, 0, sizeof *out);
    memset(times, 0, sizeof *times);
    if (en->debug->steps_file && (k.description = open_memstream(&text, &length)))
        describe_graph(k.description, g);
    bool ok = compile(&k);
    if (k.description && memory_stream_close(k.description, &text))
        out->description = arena_string(&out->arena, text, length); /* if memory runs out, the steps have no operators */
    free(text);
    attempt_drop(&k);
    free(k.located);
    arena_free(&k.arena);
    if (!ok) {
        error_set(e, WNNStatus_OperationError, "internal error: compiling failed without a reason");
        program_free(out);
    }
    return ok;
}
