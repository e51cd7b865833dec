/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds a minimum cut: values 0 and 1 for variables so that the sum of costs of the form "c if a is 0 and b is 1" is least.
 *
 * The least cost is the largest flow from CUT_ZERO to CUT_ONE (max-flow min-cut); Dinic's method finds it: breadth first for
 * distances, then as many shortest paths as there are, until CUT_ONE is out of reach.  Each round makes the shortest path
 * longer, so there are at most as many rounds as variables.
 */
#include <stdlib.h>
#include <string.h>

#include "passes/layout/layout.h"

struct edge {
    uint32_t to;
    uint32_t next; /* of the same variable; 0: none */
    int64_t room;  /* what can still flow */
};

struct cut {
    uint32_t variable_count, edge_count;
    size_t variable_capacity, edge_capacity;
    struct edge *edges; /* edge e and e ^ 1 are each other's reverse; the first two are unused, so that 0 can mean none */
    uint32_t *first;    /* by variable */
    uint32_t *current;  /* the edge that the search has come to */
    uint32_t *distance; /* from CUT_ZERO; UINT32_MAX: out of reach */
    uint32_t *queue;
    bool *one;
    bool failed;
};

struct cut *cut_create(uint32_t variables)
{
    struct cut *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    if (!array_reserve(NULL, &c->first, &c->variable_capacity, variables + 2, sizeof *c->first)) {
        cut_free(c);
        return NULL;
    }
    c->edge_count = 2;
    c->first[c->variable_count++] = 0;
    c->first[c->variable_count++] = 0;
    return c;
}

void cut_free(struct cut *c)
{
    if (!c)
        return;
    free(c->edges);
    free(c->first);
    free(c->current);
    free(c->distance);
    free(c->queue);
    free(c->one);
    free(c);
}

uint32_t cut_variable(struct cut *c)
{
    if (!array_reserve(NULL, &c->first, &c->variable_capacity, c->variable_count + 1, sizeof *c->first)) {
        c->failed = true;
        return CUT_ZERO;
    }
    c->first[c->variable_count] = 0;
    return c->variable_count++;
}

static void add_edge(struct cut *c, uint32_t from, uint32_t to, int64_t room)
{
    c->edges[c->edge_count] = (struct edge){to, c->first[from], room};
    c->first[from] = c->edge_count++;
}

void cut_cost(struct cut *c, uint32_t a, uint32_t b, int64_t capacity)
{
    if (a == b || capacity == 0 || a == CUT_ONE || b == CUT_ZERO)
        return; /* never 0 and 1 */
    if (!array_reserve(NULL, &c->edges, &c->edge_capacity, c->edge_count + 2, sizeof *c->edges)) {
        c->failed = true;
        return;
    }
    add_edge(c, a, b, capacity);
    add_edge(c, b, a, 0);
}

/* Measures distances from CUT_ZERO over edges with room.  Returns false if CUT_ONE is out of reach. */
static bool measure(struct cut *c)
{
    uint32_t head = 0, tail = 0;

    for (uint32_t i = 0; i < c->variable_count; i++)
        c->distance[i] = UINT32_MAX;
    c->distance[CUT_ZERO] = 0;
    c->queue[tail++] = CUT_ZERO;
    while (head < tail) {
        uint32_t v = c->queue[head++];
        for (uint32_t e = c->first[v]; e; e = c->edges[e].next) {
            if (c->edges[e].room == 0 || c->distance[c->edges[e].to] != UINT32_MAX)
                continue;
            c->distance[c->edges[e].to] = c->distance[v] + 1;
            c->queue[tail++] = c->edges[e].to;
        }
    }
    return c->distance[CUT_ONE] != UINT32_MAX;
}

/* Follows one shortest path with room, depth first with the path's edges in c->queue.  Returns what flowed, which is 0 if there
 * are no more paths. */
static int64_t push_path(struct cut *c)
{
    uint32_t depth = 0, v = CUT_ZERO;

    while (v != CUT_ONE) {
        uint32_t e = c->current[v];
        while (e && (c->edges[e].room == 0 || c->distance[c->edges[e].to] != c->distance[v] + 1))
            e = c->edges[e].next;
        c->current[v] = e;
        if (e) {
            c->queue[depth++] = e;
            v = c->edges[e].to;
        } else {
            if (depth == 0)
                return 0;
            /* This is a dead end: the walk goes back, and past the edge that led here. */
            e = c->queue[--depth];
            v = c->edges[e ^ 1].to;
            c->current[v] = c->edges[e].next;
        }
    }
    int64_t flow = CUT_INFINITE;
    for (uint32_t i = 0; i < depth; i++)
        if (c->edges[c->queue[i]].room < flow)
            flow = c->edges[c->queue[i]].room;
    for (uint32_t i = 0; i < depth; i++) {
        struct edge *e = &c->edges[c->queue[i]], *back = &c->edges[c->queue[i] ^ 1];
        if (e->room != CUT_INFINITE)
            e->room -= flow;
        if (back->room != CUT_INFINITE)
            back->room += flow;
    }
    return flow;
}

/* Makes the variables one that can still reach CUT_ONE, which must be one; all others may be zero. */
static void mark_ones(struct cut *c)
{
    uint32_t head = 0, tail = 0;

    c->one[CUT_ONE] = true;
    c->queue[tail++] = CUT_ONE;
    while (head < tail) {
        uint32_t v = c->queue[head++];
        for (uint32_t e = c->first[v]; e; e = c->edges[e].next) {
            uint32_t from = c->edges[e].to;
            if (c->edges[e ^ 1].room == 0 || c->one[from])
                continue;
            c->one[from] = true;
            c->queue[tail++] = from;
        }
    }
}

bool cut_solve(struct cut *c, int64_t *cost)
{
    *cost = 0;
    c->current = calloc(c->variable_count, sizeof *c->current);
    c->distance = calloc(c->variable_count, sizeof *c->distance);
    c->queue = calloc((size_t)c->variable_count + 1, sizeof *c->queue);
    c->one = calloc(c->variable_count, sizeof *c->one);
    if (c->failed || !c->current || !c->distance || !c->queue || !c->one)
        return false;
    while (measure(c)) {
        int64_t flow;
        memcpy(c->current, c->first, c->variable_count * sizeof *c->current);
        while ((flow = push_path(c)) != 0)
            *cost += flow;
    }
    mark_ones(c);
    return true;
}

bool cut_is_one(const struct cut *c, uint32_t variable)
{
    return c->one[variable];
}
