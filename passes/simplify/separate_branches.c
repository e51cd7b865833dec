/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes only the branch that is taken.
 *
 * An If whose condition is computed has become nodes where() of that condition, one for each result, and the nodes of both
 * branches.  What is read by nothing but one side of these becomes a loop of one iteration, which does not begin if the other
 * side is taken: then the bytes that where() does not select have any values.  Branches with little work stay as they are, and
 * so do loops and recurrent operators in them, since loops do not lie within each other.
 */
#include <stdlib.h>
#include <string.h>

#include "passes/support.h"

enum {
    LEAST_WORK = 1 << 16, /* elements: a loop costs some steps, and its nodes are not fused with those around it */
    VISITS_MOST = 1 << 24 /* of nodes, all selections together */
};
enum side { NEITHER, TAKEN, NOT_TAKEN, SIDES }; /* where() has the sides as operands of these numbers */

/** Describes the nodes where() of a condition up to a last one, of which none depends on another. */
struct selection {
    struct graph *g;
    struct node *last;
    uint8_t *sides; /* by the index of a node */
    bool *members;  /* likewise: nodes where() */
    bool *passed;   /* likewise: from the first of these to the last one */
    uint32_t count;
};

static bool is_read(const struct selection *s, const struct node *n)
{
    value_for_each_use (n->results[0], u)
        if (s->passed[u->node->index])
            return true;
    return false;
}

static void find_members(struct selection *s)
{
    for (const struct node *n = s->last; n; n = n->prev) {
        if (n->op == OP_WHERE && n->inputs[0].value == s->last->inputs[0].value) {
            if (is_read(s, n))
                return;
            s->members[n->index] = true;
            s->count++;
        }
        s->passed[n->index] = true;
    }
}

/** Returns the side on which all that reads a node is. */
static enum side side_of(const struct selection *s, const struct node *n)
{
    enum side side = SIDES;

    if (n->op == OP_LOOP || op_infos[n->op].flags & OPF_RECURRENT)
        return NEITHER;
    for (uint32_t r = 0; r < n->result_count; r++) {
        if (n->results[r]->output_uses || n->results[r]->type.rank >= RANK_MAX) /* a loop stacks results */
            return NEITHER;
        value_for_each_use (n->results[r], u) {
            const enum side at = s->members[u->node->index] ? (enum side)u->slot : (enum side)s->sides[u->node->index];

            if (at == NEITHER || (side != SIDES && at != side))
                return NEITHER;
            side = at;
        }
    }
    return side == SIDES ? NEITHER : side;
}

/** Returns about how many elements the nodes of a side compute and read of weights. */
static double work_of(const struct selection *s, enum side side)
{
    double work = 0;

    for (const struct node *n = s->last; n; n = n->prev) {
        if (s->sides[n->index] != side)
            continue;
        work += node_is_view(n) ? 0 : (double)type_elements(&n->results[0]->type);
        if (op_infos[n->op].flags & OPF_LIBRARY)
            work += (double)type_elements(&n->inputs[1].value->type);
    }
    return work;
}

/** Returns the uint8 scalar that says that a side is not taken, made before a node; NULL if memory runs out. */
static struct value *make_stop(struct graph *g, struct node *before, struct value *condition, enum side side)
{
    struct value *v = condition;

    if (side == TAKEN)
        v = make_node(g, before, OP_LOGICAL_NOT, before, 1, &v, NULL, NULL);
    return v && v->type.rank ? make_reshape(g, before, before, v, 0, NULL) : v;
}

/** Lists the values of a side that nodes where() read. */
static uint32_t list_outputs(const struct selection *s, enum side side, struct value **outputs)
{
    uint32_t count = 0;

    for (struct node *n = s->last; n; n = n->prev) {
        struct value *v = s->members[n->index] ? n->inputs[side].value : NULL;
        bool listed = !v || !v->producer || s->sides[v->producer->index] != side;

        for (uint32_t i = 0; i < count; i++)
            listed = listed || outputs[i] == v;
        if (!listed)
            outputs[count++] = v;
    }
    return count;
}

/** Puts the nodes of a side into a loop before the last where().  Returns false if memory runs out. */
static bool move_to_loop(const struct selection *s, enum side side, struct value *stop)
{
    struct graph *g = s->g;
    bool *inside = arena_array(&g->arena, g->node_count, sizeof *inside);
    struct value **outputs = arena_array(&g->arena, s->count, sizeof *outputs);
    const uint32_t known = g->node_count, count = outputs ? list_outputs(s, side, outputs) : 0;
    struct node *loop;

    if (!inside || !outputs)
        return error_out_of_memory(&g->error);
    for (const struct node *n = s->last; n; n = n->prev)
        inside[n->index] = s->sides[n->index] == side;
    loop = graph_make_branch(g, s->last, inside, stop, count, outputs, &g->error);
    for (uint32_t i = 0; loop && i < count; i++) {
        const struct tensor_type *t = &outputs[i]->type;
        struct value *v = make_reshape(g, s->last, s->last, loop->results[1 + i], t->rank, t->dims);

        if (!v)
            return false;
        value_replace_uses(outputs[i], v);
    }
    for (struct node *n = s->last, *previous; loop && n; n = previous) {
        previous = n->prev;
        if (n != s->last && n->index < known && s->members[n->index])
            node_move_before(n, s->last); /* after what it reads now */
        else if (n->index < known && inside[n->index])
            node_remove(n);
    }
    return loop != NULL;
}

/** Separates a side of the nodes where() of whose condition `last` is the last one.  Returns whether it did. */
static bool separate(struct graph *g, struct node *last, enum side side)
{
    const size_t room = (size_t)g->node_count + 2; /* what the loop asks is two more nodes at most */
    struct selection s = {.g = g, .last = last};
    struct value *stop = NULL;

    s.sides = calloc(room, sizeof *s.sides);
    s.members = calloc(room, sizeof *s.members);
    s.passed = calloc(room, sizeof *s.passed);
    if (s.sides && s.members && s.passed) {
        find_members(&s);
        for (const struct node *n = last; n; n = n->prev)
            if (!s.members[n->index])
                s.sides[n->index] = (uint8_t)side_of(&s, n);
        if (work_of(&s, side) >= LEAST_WORK)
            stop = make_stop(g, last, last->inputs[0].value, side);
    } else {
        error_out_of_memory(&g->error);
    }
    const bool changed = stop && move_to_loop(&s, side, stop);

    free(s.sides);
    free(s.members);
    free(s.passed);
    return changed;
}

bool pass_separate_branches(struct graph *g, const struct pass_options *o)
{
    uint64_t visits = 0;
    bool changed = false;

    if (g->origin.role == GRAPH_BODY ||
        o->target->device) /* loops do not lie within each other, and a device does not stop them */
        return false;
    /* The last nodes come first: a selection that is in a branch goes with it. */
    for (struct node *n = g->last; n && !g->error.status && visits < VISITS_MOST; n = n->prev) {
        const struct value *condition = n->op == OP_WHERE ? n->inputs[0].value : NULL;

        if (condition && condition->kind != VALUE_CONSTANT && type_elements(&condition->type) == 1)
            for (enum side side = TAKEN; side < SIDES; side++, visits += g->node_count)
                changed |= separate(g, n, side);
    }
    return changed;
}
