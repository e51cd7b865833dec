/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes the steps of a program of compiled clusters: in their order, with locations instead of values. */
#include <stdlib.h>
#include <string.h>

#include "ir/graph/constant_pool.h"
#include "ir/support/text.h"
#include "runtime/compile/compile_internal.h"
#include "runtime/compile/describe.h"

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
    return (uintptr_t)c->data % (dtype_packed_bits(type) ? sizeof(uint32_t) : dtype_size(type)) == 0;
}

/*
 * Finds the slot of a constant that is read while computing.  Lent bytes may lie at any address: what only kernels read,
 * which are told, stays there, since weights of a mapped file would otherwise be in memory twice.
 */
static bool constant_slot(struct compiler *k, const struct value *v, struct constant *c, uint32_t *slot)
{
    struct program *p = k->out;

    if (k->constant_slots[v->index] == 0) {
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
    const struct graph_origin *o = &k->g->origin;
    const uint32_t given = k->g->input_count - o->data_count;

    if (k->keeps && !k->planned->values) {
        if (!array_extend(&k->located, k->located_count, sizeof *k->located))
            return error_out_of_memory(k->e);
        k->located[k->located_count++] = v;
    }
    *location = (struct location){.slot = s->slot, .offset = s->offset, .bytes = type_bytes(&v->type)};
    switch (s->kind) {
    case STORAGE_ARENA:
        location->kind = LOCATION_ARENA;
        return true;
    case STORAGE_INPUT:
        location->kind = s->slot < given ? LOCATION_INPUT : LOCATION_CONSTANT;
        return s->slot < given || constant_slot(k, k->g->inputs[s->slot], o->data[s->slot - given], &location->slot);
    case STORAGE_OUTPUT:
        location->kind = LOCATION_OUTPUT;
        return true;
    case STORAGE_CONSTANT:
        location->kind = LOCATION_CONSTANT;
        return constant_slot(k, s->base, s->base->constant, &location->slot);
    case STORAGE_NONE:
        break;
    }
    return error_set(k->e, WNNStatus_OperationError, "internal error: value %u of a step has no storage", v->index);
}

/* Appends a text of at most so many characters to a step's name, if there is room.  Names are many. */
static void add_text(struct program_step *s, const char *text, size_t most)
{
    const size_t used = strlen(s->name), room = sizeof s->name - 1 - used;

    memcpy(s->name + used, text, strnlen(text, most < room ? most : room));
}

/*
 * Makes the name by which a reader of a profile knows the step: "conv2d [label]", or if there is no label the name,
 * "conv2d_17".
 */
static void name_step(struct program_step *s, const char *name, const char *label)
{
    const char *number = label[0] ? strrchr(name, '_') : NULL;
    char escaped[48];

    add_text(s, name, number ? (size_t)(number - name) : sizeof s->name);
    if (!number)
        return;
    add_text(s, " [", 2);
    add_text(s, escape_text(escaped, sizeof escaped, label, strlen(label)), sizeof escaped);
    add_text(s, "]", 1);
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

static bool is_unaligned(const struct compiler *k, const struct location *l, dtype type)
{
    return l->kind == LOCATION_CONSTANT && dtype_size(type) > 1 && !is_aligned(k->out->constants[l->slot], type);
}

/* Locates the tensors of a kernel of an equal cluster.  *fits becomes false if they do not lie as that one's do. */
static bool locate_like(struct compiler *k, const struct compiled_cluster *cc, const struct kernel *kernel,
                        struct location *locations, bool *fits)
{
    for (uint32_t t = 0; *fits && t < kernel->tensor_count; t++) {
        const struct ktensor *tensor = &kernel->tensors[t];
        const struct value *v = cluster_counterpart(cc->like->nodes, cc->nodes, tensor->user);

        if (!(*fits = v != NULL))
            break;
        if (!locate_value(k, v, &locations[t]))
            return false;
        *fits = is_unaligned(k, &locations[t], tensor->type) == tensor->unaligned;
    }
    return true;
}

/* Names a step of an equal cluster after the node that is what the kernel's is. */
static void name_like(struct program_step *s, const struct compiled_cluster *cc, const struct kernel *kernel)
{
    const char *number = strrchr(kernel->name, '_');
    const unsigned long index = number ? strtoul(number + 1, NULL, 10) : 0;
    char name[sizeof kernel->name];

    for (uint32_t i = 0; i < cc->nodes->count; i++)
        if (cc->like->nodes->nodes[i]->index == index) {
            const struct node *n = cc->nodes->nodes[i];

            if (!n->label[0])
                snprintf(name, sizeof name, "%.*s_%u", (int)(number - kernel->name), kernel->name, n->index);
            name_step(s, n->label[0] ? kernel->name : name, n->label);
            return;
        }
    name_step(s, kernel->name, kernel->label);
}

/* Adds steps that run the kernels of an equal cluster.  *fits becomes false, and there are none, if they cannot. */
static bool add_like_steps(struct compiler *k, struct compiled_cluster *cc, bool *fits)
{
    struct program *p = k->out;
    const uint32_t first = p->step_count, located = k->located_count;

    for (uint32_t i = 0; i < cc->like->kernels.count; i++) {
        const struct program_step *of = &p->steps[cc->like->first_step + i];
        struct program_step *s = *fits && of->kernel ? add_step(k, STEP_KERNEL, of->location_count) : NULL;

        if (!(*fits = of->kernel != NULL))
            break;
        if (!s || !locate_like(k, cc, of->kernel, s->locations, fits))
            return false;
        if (!*fits)
            break;
        name_like(s, cc, of->kernel);
        s->like = cc->like->first_step + i + 1;
    }
    if (*fits)
        return true;
    memset(&p->steps[first], 0, (p->step_count - first) * sizeof *p->steps);
    p->step_count = first;
    k->located_count = located;
    if (k->planned)
        k->planned->like[cc->cluster->index] = 0; /* nor will they at other sizes */
    return true;
}

/* Takes over the kernel of a step. */
static bool take_kernel(struct compiler *k, struct program_step *s, struct kernel **kernel)
{
    for (uint32_t t = 0; t < s->location_count; t++)
        (*kernel)->tensors[t].unaligned |= is_unaligned(k, &s->locations[t], (*kernel)->tensors[t].type);
    s->kernel = *kernel;
    *kernel = NULL; /* the program's from here on */
    if (k->en->functions->optional.schedule && !k->en->functions->optional.schedule(k->en, k->target, s, k->e))
        return false;
    const double scratch = s->schedule ? s->schedule_kind->scratch_bytes(s->schedule, k->en->thread_count) : 0;
    return budget_spend(k->g->account, "scratch memory of a kernel", 0, scratch, k->e);
}

static bool add_kernel_steps(struct compiler *k, struct compiled_cluster *cc)
{
    bool fits = cc->like != NULL;

    if (fits && !add_like_steps(k, cc, &fits))
        return false;
    if (cc->like && !fits && !lower_cluster(k->g, cc->cluster, k->target, &cc->kernels, k->e))
        return false;
    cc->first_step = k->out->step_count;
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
        if (!copies && !take_kernel(k, s, &cc->kernels.kernels[i]))
            return false;
    }
    return true;
}

static void name_library_step(struct program_step *s, const struct compiled_cluster *cc)
{
    const struct node *anchor = cc->cluster->anchor ? cc->cluster->anchor : cc->nodes->nodes[0];
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

/* Keeps the steps with the plan, which lends them. */
static void keep_steps(struct compiler *k)
{
    if (!k->keeps || k->out->loop_count || k->storage.copy_count)
        return;
    k->planned->program = *k->out;
    k->planned->constant_slots = k->constant_slots;
    k->planned->values = k->located;
    k->located = NULL;
    k->out->arena = (struct arena){0};
    k->out->is_lent = true;
}

bool compile_add_steps(struct compiler *k)
{
    struct program *p = k->out;
    size_t steps = k->storage.copy_count, loops = 0, moves = 0, constants = k->g->value_count;
    int64_t loop_base = target_align(p->arena_bytes), loop_bytes = 0;

    for (uint32_t i = 0; i < k->cluster_count; i++) {
        const struct compiled_cluster *cc = &k->clusters[i];
        steps += cc->cluster->kind == CLUSTER_LIBRARY ? 1 : (cc->like ? cc->like : cc)->kernels.count;
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
    p->loops = arena_array(&p->arena, loops, sizeof *p->loops);
    p->moves = arena_array(&p->arena, moves, sizeof *p->moves);
    p->constants = arena_array(&p->arena, constants, sizeof *p->constants);
    p->steps = arena_array(&p->arena, steps, sizeof *p->steps); /* not first: the arena grows by what its last block has */
    k->constant_slots = arena_array(&p->arena, k->g->value_count, sizeof *k->constant_slots);
    if (!p->steps || !p->loops || !p->moves || !p->constants || !k->constant_slots)
        return error_out_of_memory(k->e);
    for (uint32_t i = 0; i < k->cluster_count; i++) {
        const uint32_t first = p->step_count;

        if (!add_cluster_steps(k, &k->clusters[i], loop_base))
            return false;
        describe_steps(k->description, p, first, k->clusters[i].nodes->nodes, k->clusters[i].nodes->count);
    }
    if (!add_state_copies(k))
        return false;
    keep_steps(k);
    return true;
}

/* ---- steps of a plan ---- */

/* Swaps two tensors of a step of the plan, and of those that run its kernel. */
static void swap_tensors(struct equal_clusters *plan, uint32_t step, uint32_t a, uint32_t b)
{
    const struct value **v = plan->values;

    for (uint32_t i = 0; i < plan->program.step_count; v += plan->program.steps[i++].location_count) {
        const struct program_step *s = &plan->program.steps[i];

        if (i != step && s->like != step + 1)
            continue;
        const struct location location = s->locations[a];
        const struct value *value = v[a];
        s->locations[a] = s->locations[b];
        s->locations[b] = location;
        v[a] = v[b];
        v[b] = value;
    }
}

/* Returns whether the kernel of a step of the plan has the same tensors at these sizes, which get its order. */
static bool step_holds(const struct compiler *k, uint32_t step, const struct kernel *kernel, uint32_t location)
{
    const struct program_step *s = &k->planned->program.steps[step];

    if (kernel->tensor_count != s->location_count || copies_state(k, kernel) != (s->kind == STEP_COPY))
        return false;
    for (uint32_t t = 0, at; t < s->location_count; t++) {
        for (at = t; at < s->location_count && k->planned->values[location + at] != kernel->tensors[t].user; at++)
            ;
        if (at == s->location_count)
            return false;
        if (at != t)
            swap_tensors(k->planned, step, t, at);
    }
    return true;
}

/* Returns whether all hold, and lists their kernels, which are NULL where a step runs that of another. */
static bool steps_hold(const struct compiler *k, struct kernel ***kernels)
{
    const struct program *p = &k->planned->program;
    uint32_t step = 0, location = 0;

    for (uint32_t i = 0; i < k->cluster_count; i++) {
        struct compiled_cluster *cc = &k->clusters[i], *of = cc->like ? cc->like : cc;

        for (uint32_t n = 0; n < of->kernels.count; n++, location += p->steps[step++].location_count)
            if (step == p->step_count || !p->steps[step].like != !cc->like ||
                (!cc->like && !step_holds(k, step, *(kernels[step] = &cc->kernels.kernels[n]), location)))
                return false;
    }
    return step == p->step_count && !k->storage.copy_count;
}

/* Gives the plan's program the data of these sizes. */
static void take_data(struct compiler *k, struct program *p)
{
    const struct graph_origin *o = &k->g->origin;
    struct value *const *inputs = k->g->inputs + k->g->input_count - o->data_count;

    for (uint32_t i = 0; i < o->data_count; i++) {
        const uint32_t slot = k->planned->constant_slots[inputs[i]->index];

        if (!slot)
            continue;
        constant_release(p->constants[slot - 1]);
        p->constants[slot - 1] = constant_pool_share(k->target->pool, constant_retain(o->data[i]));
    }
}

static bool renew_steps(struct compiler *k, struct program *p, struct kernel ***kernels)
{
    const struct value **v = k->planned->values;

    k->constant_slots = k->planned->constant_slots;
    for (uint32_t i = 0; i < p->step_count; i++) {
        struct program_step *s = &p->steps[i];

        for (uint32_t t = 0; t < s->location_count; t++)
            if (!locate_value(k, *v++, &s->locations[t]))
                return false;
        s->run = (struct step_run){0};
        if (kernels[i] && s->kind == STEP_KERNEL && !take_kernel(k, s, kernels[i]))
            return false;
    }
    return true;
}

bool compile_again_steps(struct compiler *k, bool *fits)
{
    struct program *p = &k->planned->program;
    struct kernel ***kernels = arena_array(&k->arena, p->step_count, sizeof *kernels);

    if (!kernels)
        return error_out_of_memory(k->e);
    if (!(*fits = steps_hold(k, kernels))) {
        equal_clusters_forget(k->planned);
        return true;
    }
    take_data(k, p);
    p->arena_bytes = k->out->arena_bytes;
    p->arena_lower_bound = k->out->arena_lower_bound;
    *k->out = *p;
    k->out->arena = (struct arena){0};
    k->out->is_lent = true;
    return renew_steps(k, p, kernels);
}
