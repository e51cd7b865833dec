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

#include "ir/graph/constant_pool.h"
#include "ir/support/clock.h"
#include "ir/support/text.h"
#include "passes/passes.h"
#include "runtime/compile/compile_loop.h"
#include "runtime/compile/describe.h"

/* Holds what the cluster with this cluster->index becomes. */
struct compiled_cluster {
    struct cluster *cluster;
    struct cluster_nodes nodes;
    struct kernel_list kernels;
    struct library_step *library;
    struct compiled_loop *loop;
};

struct compiler {
    struct engine *en;
    struct graph *g;
    const struct target *target;
    struct error *e;
    struct arena arena;
    struct compiled_cluster *clusters;
    uint32_t cluster_count;
    struct storage_assignment storage;
    struct program *out;
    uint32_t *constant_slots;      /* by value->index: slot + 1 */
    bool (*cancelled)(void *user); /* may be NULL */
    void *user;
    struct compile_times *times;
    FILE *description; /* to a text that becomes the program's; NULL without the switch steps */
};

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
        return kernels_share(&cc->kernels, input, output);
    case CLUSTER_LIBRARY:
        return k->en->functions->optional.library->step_may_share(k->en->library, cc->nodes.nodes, cc->nodes.count, input);
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
    struct sharing sharing = {&k->storage, cc->nodes.output_count > 0 ? cc->nodes.outputs[0] : NULL};
    struct error why;

    why.status = WNNStatus_Success;
    why.message[0] = '\0';
    cc->library = k->en->functions->optional.library->step_create(k->en->library, cc->nodes.nodes, cc->nodes.count,
                                                                  shares_output, &sharing, &why);
    if (cc->library)
        return ATTEMPT_DONE;
    return cluster_make_kernels(k, cc->cluster, &cc->nodes) ? ATTEMPT_AGAIN : ATTEMPT_FAILED;
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

static bool attempt_begin(struct compiler *k)
{
    k->clusters = arena_array(&k->arena, k->g->cluster_count, sizeof *k->clusters);
    if (!k->clusters)
        return error_out_of_memory(k->e);
    k->cluster_count = k->g->cluster_count;
    for (struct cluster *c = k->g->first_cluster; c; c = c->next) {
        k->clusters[c->index].cluster = c;
        if (!cluster_collect(k->g, c, &k->arena, &k->clusters[c->index].nodes))
            return error_out_of_memory(k->e);
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
        if (cc->cluster->kind == CLUSTER_KERNEL && !lower_cluster(k->g, cc->cluster, k->target, &cc->kernels, k->e))
            return ATTEMPT_FAILED;
    }
    double lowered = milliseconds_now();
    k->times->lower += lowered - start;

    if (!storage_assign(k->g, k->target->storage_alignment, may_share, k, &k->storage)) {
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
        if (is_cancelled(k))
            return false;
        if (!k->en->functions->optional.library->step_finish(cc->library, k->e))
            return false;
        for (uint32_t n = 0; n < cc->nodes.count; n++)
            for (uint32_t in = 0; in < cc->nodes.nodes[n]->input_count; in++) {
                struct value *v = cc->nodes.nodes[n]->inputs[in].value;

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
        cc->loop = loop_compile(k->en, k->target, cc->nodes.nodes[0], k->cancelled, k->user, k->times, k->e);
        if (!cc->loop)
            return false;
    }
    return true;
}

/* ---- steps ---- */

static struct program_step *add_step(struct compiler *k, enum step_kind kind, uint32_t location_count)
{
    struct program *p = k->out;
    struct program_step *s = &p->steps[p->step_count];

    s->kind = kind;
    s->location_count = location_count;
    s->locations = arena_array(&p->arena, location_count, sizeof *s->locations);
    if (!s->locations)
        return error_null_memory(k->e);
    p->step_count++;
    return s;
}

/* Returns whether only kernels read v's bytes, perhaps through views: those of loops are compiled without knowing where the
 * loop's operands lie, and the library wants whole elements. */
static bool only_kernels_read(const struct value *v)
{
    if (v->output_uses)
        return false;
    value_for_each_use (v, u) {
        const struct cluster *c = u->node->cluster;

        if (!c || (c->kind == CLUSTER_VIEW ? !only_kernels_read(u->node->results[0]) : c->kind != CLUSTER_KERNEL))
            return false;
    }
    return true;
}

static bool is_aligned(const struct constant *c, dtype type)
{
    return (uintptr_t)c->data % (type == DTYPE_UINT4 ? sizeof(uint32_t) : dtype_size(type)) == 0;
}

/*
 * Finds the slot of a constant that is read while computing.  Lent bytes may lie at any address: what only kernels read,
 * which are told, stays there, since weights of a mapped file would otherwise be in memory twice.
 */
static bool constant_slot(struct compiler *k, const struct value *v, uint32_t *slot)
{
    struct program *p = k->out;

    if (k->constant_slots[v->index] == 0) {
        struct constant *c = v->constant;
        if (!c)
            return error_set(k->e, WNNStatus_OperationError, "internal error: a constant was released too early");
        c = is_aligned(c, v->type.type) || (k->target->reads_unaligned && only_kernels_read(v))
                ? constant_retain(c)
                : constant_create(c->data, c->bytes);
        if (!c)
            return error_out_of_memory(k->e);
        c = constant_pool_share(k->target->pool, c);
        p->constants[p->constant_count++] = c;
        k->constant_slots[v->index] = p->constant_count;
    }
    *slot = k->constant_slots[v->index] - 1;
    return true;
}

static bool locate_value(void *user, const struct value *v, struct location *location)
{
    struct compiler *k = user;
    const struct storage *s = &k->storage.values[v->index];

    *location = (struct location){.slot = s->slot, .offset = s->offset, .bytes = type_bytes(&v->type)};
    switch (s->kind) {
    case STORAGE_ARENA:
        location->kind = LOCATION_ARENA;
        return true;
    case STORAGE_INPUT:
        location->kind = LOCATION_INPUT;
        return true;
    case STORAGE_OUTPUT:
        location->kind = LOCATION_OUTPUT;
        return true;
    case STORAGE_CONSTANT:
        location->kind = LOCATION_CONSTANT;
        return constant_slot(k, s->base, &location->slot);
    case STORAGE_NONE:
        break;
    }
    return error_set(k->e, WNNStatus_OperationError, "internal error: value %u of a step has no storage", v->index);
}

/*
 * Makes the name by which a reader of a profile knows the step: "conv2d [label]", or if there is no label the name,
 * "conv2d_17".
 */
static void name_step(struct program_step *s, const char *name, const char *label)
{
    const char *number = strrchr(name, '_');
    char escaped[48];

    if (label[0] && number)
        snprintf(s->name, sizeof s->name, "%.*s [%s]", (int)(number - name), name,
                 escape_text(escaped, sizeof escaped, label, strlen(label)));
    else
        snprintf(s->name, sizeof s->name, "%s", name);
}

/* Returns whether a kernel, as what a scatter begins with, copies a state from its input to its output: it does nothing where
 * both are one. */
static bool copies_state(const struct compiler *k, const struct kernel *kernel)
{
    const struct storage *from, *to;

    if (!kernel_copies(kernel))
        return false;
    from = &k->storage.values[((const struct value *)kernel->tensors[0].user)->index];
    to = &k->storage.values[((const struct value *)kernel->tensors[1].user)->index];
    return from->kind == STORAGE_INPUT && to->kind == STORAGE_OUTPUT && !from->offset && !to->offset &&
           k->g->outputs[to->slot].state == from->base;
}

/* Tells a kernel which of its constants are not aligned, and which bytes may begin anywhere: those that the caller gives. */
static void tell_alignment(const struct compiler *k, struct kernel *kernel, const struct program_step *s)
{
    for (uint32_t t = 0; t < s->location_count; t++) {
        const struct location *l = &s->locations[t];
        const dtype type = kernel->tensors[t].type;

        if (l->kind == LOCATION_CONSTANT && dtype_size(type) > 1)
            kernel->tensors[t].unaligned = !is_aligned(k->out->constants[l->slot], type);
        kernel->tensors[t].uneven = dtype_size(type) == 1 && (l->kind == LOCATION_INPUT || l->kind == LOCATION_OUTPUT ||
                                                              l->offset % (int64_t)sizeof(uint32_t) != 0);
    }
}

static bool add_kernel_steps(struct compiler *k, struct compiled_cluster *cc)
{
    for (uint32_t i = 0; i < cc->kernels.count; i++) {
        struct kernel *kernel = cc->kernels.kernels[i];
        const bool copies = copies_state(k, kernel);
        struct program_step *s = add_step(k, copies ? STEP_COPY : STEP_KERNEL, kernel->tensor_count);

        if (!s)
            return false;
        name_step(s, kernel->name, kernel->label);
        for (uint32_t t = 0; t < kernel->tensor_count; t++)
            if (!locate_value(k, kernel->tensors[t].user, &s->locations[t]))
                return false;
        if (copies)
            continue;
        tell_alignment(k, kernel, s);
        s->kernel = kernel;
        cc->kernels.kernels[i] = NULL; /* the program's from here on */
        if (k->en->functions->optional.schedule && !k->en->functions->optional.schedule(k->en, k->target, s, k->e))
            return false;
        const double scratch = s->schedule ? s->schedule_kind->scratch_bytes(s->schedule, k->en->thread_count) : 0;
        if (!budget_spend(k->g->account, "scratch memory of a kernel", 0, scratch, k->e))
            return false;
    }
    return true;
}

static void name_library_step(struct program_step *s, const struct compiled_cluster *cc)
{
    const struct node *anchor = cc->cluster->anchor ? cc->cluster->anchor : cc->nodes.nodes[0];
    char name[64];

    snprintf(name, sizeof name, "%s_%u", op_infos[anchor->op].name, anchor->index);
    name_step(s, name, anchor->label);
}

static bool add_library_step(struct compiler *k, struct compiled_cluster *cc)
{
    struct library_step_info info;

    k->en->functions->optional.library->step_info(cc->library, &info);
    if (!budget_spend(k->g->account, "a primitive's packed weights and scratch memory", 0,
                      (double)info.packed_bytes + (double)info.scratch_bytes, k->e))
        return false;
    struct program_step *s = add_step(k, STEP_LIBRARY, info.input_count + 1);
    if (!s)
        return false;
    name_library_step(s, cc);
    for (uint32_t i = 0; i < info.input_count; i++)
        if (!locate_value(k, info.inputs[i], &s->locations[i]))
            return false;
    if (!locate_value(k, info.output, &s->locations[info.input_count]))
        return false;
    s->library = cc->library;
    cc->library = NULL;
    return true;
}

static bool add_cluster_steps(struct compiler *k, struct compiled_cluster *cc, int64_t loop_base)
{
    switch (cc->cluster->kind) {
    case CLUSTER_KERNEL:
        return add_kernel_steps(k, cc);
    case CLUSTER_LIBRARY:
        return add_library_step(k, cc);
    case CLUSTER_LOOP:
        return loop_append(cc->loop, k->out, loop_base, locate_value, k, k->e);
    case CLUSTER_VIEW:
        break;
    }
    return true;
}

static bool add_state_copies(struct compiler *k)
{
    for (uint32_t i = 0; i < k->storage.copy_count; i++) {
        const struct storage_copy *c = &k->storage.copies[i];
        struct program_step *s = add_step(k, STEP_COPY, 2);

        if (!s || !locate_value(k, c->value, &s->locations[0]))
            return false;
        snprintf(s->name, sizeof s->name, "state");
        s->locations[1] = (struct location){.kind = LOCATION_OUTPUT, .slot = c->output, .bytes = type_bytes(&c->value->type)};
    }
    return true;
}

static bool add_steps(struct compiler *k)
{
    struct program *p = k->out;
    size_t steps = k->storage.copy_count, loops = 0, moves = 0, constants = k->g->value_count;
    int64_t loop_base = target_align(p->arena_bytes), loop_bytes = 0;

    for (uint32_t i = 0; i < k->cluster_count; i++) {
        const struct compiled_cluster *cc = &k->clusters[i];
        steps += cc->cluster->kind == CLUSTER_LIBRARY ? 1 : cc->kernels.count;
        if (!cc->loop)
            continue;
        struct loop_size size = loop_get_size(cc->loop);
        steps += size.steps;
        loops += size.loops;
        moves += size.moves;
        constants += size.constants;
        if (size.arena_bytes > loop_bytes)
            loop_bytes = size.arena_bytes; /* loops run one after the other and keep nothing */
    }
    if (loop_bytes) {
        p->arena_lower_bound += loop_base - p->arena_bytes + loop_bytes;
        p->arena_bytes = loop_base + loop_bytes;
    }
    p->steps = arena_array(&p->arena, steps, sizeof *p->steps);
    p->loops = arena_array(&p->arena, loops, sizeof *p->loops);
    p->moves = arena_array(&p->arena, moves, sizeof *p->moves);
    p->constants = arena_array(&p->arena, constants, sizeof *p->constants);
    k->constant_slots = arena_array(&k->arena, k->g->value_count, sizeof *k->constant_slots);
    if (!p->steps || !p->loops || !p->moves || !p->constants || !k->constant_slots)
        return error_out_of_memory(k->e);
    for (uint32_t i = 0; i < k->cluster_count; i++) {
        const uint32_t first = p->step_count;

        if (!add_cluster_steps(k, &k->clusters[i], loop_base))
            return false;
        describe_steps(k->description, p, first, k->clusters[i].nodes.nodes, k->clusters[i].nodes.count);
    }
    return add_state_copies(k);
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

    if (!run_passes(k))
        return false;
    k->times->passes += milliseconds_now() - start;
    while ((a = attempt_clusters(k)) == ATTEMPT_AGAIN)
        attempt_drop(k);
    if (a != ATTEMPT_DONE || !finish_library_steps(k) || !compile_loops(k))
        return false;
    k->out->engine = k->en;
    k->out->free_library = k->en->functions->optional.library ? k->en->functions->optional.library->step_free : NULL;
    k->out->input_count = k->g->input_count;
    k->out->output_count = k->g->output_count;
    k->out->is_variant = k->g->is_variant;
    k->out->arena_bytes = k->storage.arena_bytes;
    k->out->arena_lower_bound = k->storage.arena_lower_bound;
    return add_steps(k) && spend_memory(k);
}

bool compile_graph(struct engine *en, struct graph *g, bool (*cancelled)(void *user), void *user, struct program *out,
                   struct compile_times *times, struct error *e)
{
    const struct target *t = en->functions->target(en, e);

    if (t) {
        struct target varying = *t;

        if (g->is_variant)
            target_vary_sizes(&varying, en->precision);
        return compile_for_target(en, &varying, g, cancelled, user, out, times, e);
    }
    memset(out, 0, sizeof *out);
    memset(times, 0, sizeof *times);
    return error_set(e, WNNStatus_OperationError, "internal error: an engine without a target");
}

bool compile_for_target(struct engine *en, const struct target *t, struct graph *g, bool (*cancelled)(void *user), void *user,
                        struct program *out, struct compile_times *times, struct error *e)
{
    struct compiler k = {
        .en = en, .g = g, .target = t, .e = e, .out = out, .cancelled = cancelled, .user = user, .times = times};
    char *text = NULL;
    size_t length;

    memset(out, 0, sizeof *out);
    memset(times, 0, sizeof *times);
    if (en->debug->steps_file && (k.description = open_memstream(&text, &length)))
        describe_graph(k.description, g);
    bool ok = compile(&k);
    if (k.description && fclose(k.description) == 0)
        out->description = arena_string(&out->arena, text, length); /* if memory runs out, the steps have no operators */
    free(text);
    attempt_drop(&k);
    arena_free(&k.arena);
    if (!ok) {
        error_set(e, WNNStatus_OperationError, "internal error: compiling failed without a reason");
        program_free(out);
    }
    return ok;
}
