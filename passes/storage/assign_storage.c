/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Assigns storage: decides in which bytes each boundary value of the clusters lies.  It takes a graph after
 * pass_finish_clusters and gives a storage for every value, and the arena's size, in three steps:
 *
 *   1. It finds bytes.  A view is in its operand's bytes, an input of a view concat in the concat's output; so every value
 *      leads to the one that owns its bytes (the "owner").  The owner is an input, a constant, in a graph output's buffer, or
 *      in the arena.
 *   2. It makes blocks.  Every owner in the arena is a block with a lifetime: from the first cluster that writes into it to the
 *      last that reads it.  In cluster order, a block that begins where another ends may take over that one's memory, if the
 *      cluster's code may write where it reads (may_share): the two become one block with the lifetimes joined.
 *   3. It assigns offsets (passes/storage/assign_offsets.c): blocks whose lifetimes overlap may not overlap in memory.
 *
 * A graph output that is a state (struct graph_output) may lie in the memory of an input.  Where that is still read when the
 * output is written, the output is computed in the arena and copied at the end.
 *
 * Inputs and constants are never written, and an output's buffer only by the value that it is for, by views of that value, and
 * by the inputs of a concat that it is.
 */
#include <stdlib.h>
#include <string.h>

#include "passes/storage/assign_offsets.h"
#include "passes/support.h"

enum { NONE = UINT32_MAX };

/* Says where a value lies, by value->index. */
struct value_bytes {
    const struct value *parent; /* whose bytes these are part of; NULL: its own */
    int64_t offset;             /* in the parent's bytes */
    /* Owners have these. */
    uint32_t output;      /* the graph output whose buffer holds it, or NONE */
    uint32_t first, last; /* the first cluster that writes it and the last that reads it; first NONE: never written */
    uint32_t block;       /* in the arena, or NONE */
    int64_t block_offset;
};

/* Gives an owner that a cluster begins to write its block: that of an input that dies there, or a new one. */
struct gift {
    const struct cluster *cluster;
    const struct value *owner, *input; /* NULL: a new one */
};

struct assigner {
    struct graph *g;
    int64_t alignment; /* of blocks: offsets are sums of their bytes */
    storage_may_share may_share;
    void *user;
    struct arena arena; /* of all this */
    struct arena *results;
    struct value_bytes *values;
    const struct cluster_nodes *clusters; /* by index */
    const struct value **parts;           /* of concats, in their order */
    uint32_t part_count, block_count, gift_count;
    struct storage_block *blocks;
    struct gift *gifts;
    bool again; /* parts and gifts are those of other sizes */
    struct storage_assignment out;
};

/* ---- 1. bytes ---- */

/* Returns the owner of v's bytes, and stores where v starts in them unless offset is NULL.  It shortens the way for the next
 * time. */
static const struct value *owner_of(struct assigner *p, const struct value *v, int64_t *offset)
{
    const struct value *owner = v;
    int64_t total = 0;

    while (p->values[owner->index].parent) {
        total += p->values[owner->index].offset;
        owner = p->values[owner->index].parent;
    }
    if (offset)
        *offset = total;
    while (v != owner) {
        struct value_bytes *w = &p->values[v->index];
        int64_t step = w->offset;
        v = w->parent;
        w->parent = owner;
        w->offset = total;
        total -= step;
    }
    return owner;
}

static void place(struct assigner *p, const struct value *v, const struct value *parent, int64_t offset)
{
    p->values[v->index].parent = parent;
    p->values[v->index].offset = offset;
}

static void resolve_view(struct assigner *p, const struct node *n)
{
    int64_t at = 0;

    for (uint32_t i = 0; node_is_view(n) && i < n->result_count; i++)
        place(p, n->results[i], n->inputs[0].value, node_view_offset(n, i));
    /* Else this is a concat: pass_finish_clusters saw to it that each input has an owner of its size without other uses. */
    for (uint32_t i = 0; !node_is_view(n) && i < n->input_count; i++, p->part_count++) {
        if (!p->again)
            p->parts[p->part_count] = owner_of(p, n->inputs[i].value, NULL);
        place(p, p->parts[p->part_count], n->results[0], at);
        at += type_bytes(&n->inputs[i].value->type);
    }
}

static void resolve_views(struct assigner *p)
{
    for (const struct cluster *c = p->g->first_cluster; c; c = c->next)
        for (uint32_t i = 0; c->kind == CLUSTER_VIEW && i < p->clusters[c->index].count; i++)
            resolve_view(p, p->clusters[c->index].nodes[i]);
}

/* ---- 2. blocks ---- */

static bool collect(struct assigner *p)
{
    struct cluster_nodes *clusters = arena_array(&p->arena, p->g->cluster_count, sizeof *clusters);

    for (const struct cluster *c = p->g->first_cluster; clusters && c; c = c->next)
        if (!cluster_collect(p->g, c, &p->arena, &clusters[c->index]))
            return false;
    p->clusters = clusters;
    return clusters != NULL;
}

/* Finds the lifetimes of the owners from the boundaries of clusters. */
static void find_lifetimes(struct assigner *p)
{
    for (const struct cluster *c = p->g->first_cluster; c; c = c->next) {
        const struct cluster_nodes *nodes = &p->clusters[c->index];

        if (c->kind == CLUSTER_VIEW)
            continue; /* no code: reads and writes nothing */
        for (uint32_t i = 0; i < nodes->input_count + nodes->output_count; i++) {
            bool written = i >= nodes->input_count;
            const struct value *v = written ? nodes->outputs[i - nodes->input_count] : nodes->inputs[i];
            struct value_bytes *owner = &p->values[owner_of(p, v, NULL)->index];
            if (written && owner->first == NONE)
                owner->first = c->index;
            owner->last = c->index;
        }
    }
}

/* Returns the offset of v in its block; *block is NONE if it has none. */
static int64_t block_position(struct assigner *p, const struct value *v, uint32_t *block)
{
    int64_t offset;
    const struct value_bytes *owner = &p->values[owner_of(p, v, &offset)->index];

    *block = owner->block;
    return owner->block_offset + offset;
}

/* Returns whether `output` may be written at the place of `input`, which dies in c, whatever else c reads there. */
static bool may_take_over(struct assigner *p, const struct cluster *c, const struct value *input, const struct value *output)
{
    const struct cluster_nodes *nodes = &p->clusters[c->index];
    int64_t bytes = type_bytes(&output->type), position, other_position;
    uint32_t block, other_block;

    position = block_position(p, input, &block);
    if (block == NONE || p->blocks[block].last != c->index || p->blocks[block].first == c->index ||
        position % TARGET_ALIGNMENT != 0 || p->blocks[block].bytes - position < bytes ||
        !p->may_share(p->user, c, input, output))
        return false;
    for (uint32_t i = 0; i < nodes->input_count; i++) {
        const struct value *other = nodes->inputs[i];
        if (other == input)
            continue;
        other_position = block_position(p, other, &other_block);
        if (other_block != block || other_position >= position + bytes || other_position + type_bytes(&other->type) <= position)
            continue;
        if (other_position != position || !p->may_share(p->user, c, other, output))
            return false;
    }
    return true;
}

static void give_block(struct assigner *p, const struct gift *gift)
{
    struct value_bytes *w = &p->values[gift->owner->index];

    if (gift->input) {
        w->block_offset = block_position(p, gift->input, &w->block);
        p->blocks[w->block].last = w->last;
        return;
    }
    w->block = p->block_count++;
    w->block_offset = 0;
    p->blocks[w->block] = (struct storage_block){
        .bytes = ceil_div(type_bytes(&gift->owner->type), p->alignment) * p->alignment, .first = w->first, .last = w->last};
}

/* Decides what block an owner that c begins to write has. */
static void choose_block(struct assigner *p, const struct cluster *c, const struct value *owner, const struct value *output)
{
    const struct cluster_nodes *nodes = &p->clusters[c->index];
    struct gift *gift = &p->gifts[p->gift_count++];
    const int64_t bytes = type_bytes(&owner->type);

    *gift = (struct gift){c, owner, NULL};
    /* Inputs of the same size come first: they waste nothing. */
    for (uint32_t i = 0; i < 2 * nodes->input_count && p->may_share && owner == output && !gift->input; i++) {
        const struct value *input = nodes->inputs[i % nodes->input_count];
        if ((type_bytes(&input->type) == bytes) == (i < nodes->input_count) && may_take_over(p, c, input, output))
            gift->input = input;
    }
    give_block(p, gift);
}

/* Returns whether cluster c, the last that reads `input` and the first that writes `output`, may do so in the same memory. */
static bool may_change_in_place(struct assigner *p, const struct cluster *c, const struct value *input,
                                const struct value *output)
{
    const struct cluster_nodes *nodes = &p->clusters[c->index];

    for (uint32_t i = 0; i < nodes->input_count; i++) {
        const struct value *v = nodes->inputs[i];
        int64_t offset;
        if (owner_of(p, v, &offset) != input)
            continue;
        if (offset || type_bytes(&v->type) != type_bytes(&output->type) || !p->may_share ||
            !p->may_share(p->user, c, v, output))
            return false;
    }
    return true;
}

/* Returns whether nothing reads the input any more once the owner, which may lie in its memory, is written. */
static bool state_is_in_place(struct assigner *p, const struct value *input, const struct value *owner)
{
    const struct value_bytes *in = &p->values[input->index], *out = &p->values[owner->index];

    if (in->last != out->first)
        return in->last < out->first;
    return out->first != NONE && may_change_in_place(p, p->clusters[out->first].nodes[0]->cluster, input, owner);
}

static bool resolve_states(struct assigner *p)
{
    struct graph *g = p->g;
    struct storage_assignment *out = &p->out;

    out->copies = arena_array(p->results, g->output_count, sizeof *out->copies);
    if (!out->copies)
        return error_out_of_memory(&g->error);
    for (uint32_t i = 0; i < g->output_count; i++) {
        const struct value *owner = owner_of(p, g->outputs[i].value, NULL);
        struct value_bytes *w = &p->values[owner->index];

        if (!g->outputs[i].state || state_is_in_place(p, g->outputs[i].state, owner))
            continue;
        w->output = NONE;
        w->last = g->cluster_count;
        out->copies[out->copy_count++] = (struct storage_copy){owner, i};
    }
    return true;
}

static bool make_blocks(struct assigner *p)
{
    size_t most = 0;

    for (uint32_t i = 0; i < p->g->cluster_count; i++)
        most += p->clusters[i].output_count;
    p->blocks = arena_array(&p->arena, most, sizeof *p->blocks);
    p->gifts = arena_array(&p->arena, most, sizeof *p->gifts);
    if (!p->blocks || !p->gifts)
        return error_out_of_memory(&p->g->error);
    for (const struct cluster *c = p->g->first_cluster; c; c = c->next) {
        if (c->kind == CLUSTER_VIEW)
            continue;
        for (uint32_t i = 0; i < p->clusters[c->index].output_count; i++) {
            const struct value *output = p->clusters[c->index].outputs[i], *owner = owner_of(p, output, NULL);
            if (owner->kind == VALUE_RESULT && p->values[owner->index].output == NONE && p->values[owner->index].block == NONE)
                choose_block(p, c, owner, output);
        }
    }
    return true;
}

/* ---- results ---- */

static void fill_storage(struct assigner *p, const struct value *v, struct storage *s)
{
    const struct value *owner = owner_of(p, v, &s->offset);
    const struct value_bytes *w = &p->values[owner->index];

    s->base = owner;
    if (owner->kind == VALUE_INPUT) {
        s->kind = STORAGE_INPUT;
        s->slot = w->output; /* inputs are not outputs: the field holds their slot */
    } else if (owner->kind == VALUE_CONSTANT) {
        s->kind = STORAGE_CONSTANT;
    } else if (w->output != NONE) {
        s->kind = STORAGE_OUTPUT;
        s->slot = w->output;
    } else {
        s->kind = STORAGE_ARENA;
        s->offset += w->block_offset + p->blocks[w->block].offset;
    }
}

/* Decides everything but offsets. */
static bool decide(struct assigner *p)
{
    struct graph *g = p->g;
    size_t parts = 0;

    graph_for_each (g, n)
        parts += n->op == OP_CONCAT ? n->input_count : 0;
    p->values = arena_array(&p->arena, g->value_count, sizeof *p->values);
    p->out.values = arena_array(p->results, g->value_count, sizeof *p->out.values);
    p->parts = arena_array(&p->arena, parts, sizeof *p->parts);
    if (!p->values || !p->out.values || !p->parts || (!p->clusters && !collect(p)))
        return error_out_of_memory(&g->error);
    p->out.count = g->value_count;
    for (uint32_t i = 0; i < g->value_count; i++)
        p->values[i].output = p->values[i].first = p->values[i].block = NONE;

    resolve_views(p);
    for (uint32_t i = 0; i < g->input_count; i++)
        p->values[g->inputs[i]->index].output = i;
    for (uint32_t i = 0; i < g->output_count; i++)
        p->values[owner_of(p, g->outputs[i].value, NULL)->index].output = i;
    find_lifetimes(p);
    return resolve_states(p) && make_blocks(p);
}

/* Repeats what was decided at other sizes.  Returns false if it is not valid at these. */
static bool decide_again(struct assigner *p)
{
    p->again = true;
    p->part_count = p->block_count = 0;
    resolve_views(p);
    for (uint32_t i = 0; i < p->g->output_count; i++) /* a copy is valid, too */
        if (p->g->outputs[i].state && p->values[owner_of(p, p->g->outputs[i].value, NULL)->index].output != NONE &&
            !state_is_in_place(p, p->g->outputs[i].state, owner_of(p, p->g->outputs[i].value, NULL)))
            return false;
    for (uint32_t i = 0; i < p->gift_count; i++) {
        const struct gift *gift = &p->gifts[i];

        if (gift->input && !may_take_over(p, gift->cluster, gift->input, gift->owner))
            return false;
        give_block(p, gift);
    }
    return true;
}

static bool finish(struct assigner *p, struct storage_order *order)
{
    struct storage_assignment *out = &p->out;

    if (!assign_offsets(p->blocks, p->block_count, order, &out->arena_bytes, &out->arena_lower_bound))
        return error_out_of_memory(&p->g->error);
    for (const struct cluster *c = p->g->first_cluster; c; c = c->next) {
        const struct cluster_nodes *nodes = &p->clusters[c->index];
        for (uint32_t i = 0; i < nodes->input_count; i++)
            fill_storage(p, nodes->inputs[i], &out->values[nodes->inputs[i]->index]);
        for (uint32_t i = 0; i < nodes->output_count; i++)
            fill_storage(p, nodes->outputs[i], &out->values[nodes->outputs[i]->index]);
    }
    return true;
}

static void assigner_free(struct assigner *p)
{
    if (p)
        arena_free(&p->arena);
    free(p);
}

void storage_forget(struct storage_kept *kept)
{
    free(kept->order.blocks);
    assigner_free(kept->assigner);
    *kept = (struct storage_kept){0};
}

bool storage_assign(struct graph *g, const struct cluster_nodes *clusters, struct arena *arena, int64_t alignment,
                    storage_may_share may_share, void *user, struct storage_kept *kept, struct storage_assignment *out)
{
    struct storage_kept once = {0}, *k = kept ? kept : &once;
    struct assigner *p = k->assigner;

    memset(out, 0, sizeof *out);
    if (p)
        p->user = user;
    if (p && !decide_again(p)) {
        assigner_free(p);
        p = k->assigner = NULL;
    }
    bool done = p != NULL;
    if (!p && (p = k->assigner = calloc(1, sizeof *p))) {
        *p = (struct assigner){.g = g, .clusters = clusters, .may_share = may_share, .user = user};
        p->results = kept ? &p->arena : arena;
        p->alignment = alignment > TARGET_ALIGNMENT ? alignment : TARGET_ALIGNMENT;
        done = decide(p);
    }
    done = p ? done && finish(p, kept ? &k->order : NULL) : error_out_of_memory(&g->error);
    if (done)
        *out = p->out;
    if (!kept || !done)
        storage_forget(k);
    return done;
}
