/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps the linear order of groups in which every group comes after those it reads from, and searches for paths between groups.
 * fuse_kernels.c says what both are for.
 */
#include <string.h>

#include "passes/cluster/fuse_internal.h"

#define PLACE_GAP (INT64_C(1) << 32)

void fuse_order_append(struct fuse *f, struct group *g)
{
    g->place = f->last ? f->last->place + PLACE_GAP : 0;
    g->prev = f->last;
    g->next = NULL;
    if (f->last)
        f->last->next = g;
    else
        f->first = g;
    f->last = g;
}

void fuse_order_remove(struct fuse *f, struct group *g)
{
    if (g->prev)
        g->prev->next = g->next;
    else
        f->first = g->next;
    if (g->next)
        g->next->prev = g->prev;
    else
        f->last = g->prev;
}

/* Puts groups, in this order, before `next`. */
static void fuse_order_insert_before(struct fuse *f, struct group *const *groups, uint32_t count, struct group *next)
{
    int64_t low = next->prev ? next->prev->place : next->place - PLACE_GAP;
    int64_t step = (next->place - low) / (count + 1);

    for (uint32_t i = 0; i < count; i++) {
        struct group *g = groups[i];
        g->next = next;
        g->prev = next->prev;
        next->prev = g;
        if (g->prev)
            g->prev->next = g;
        else
            f->first = g;
        g->place = low + step * (i + 1);
    }
    if (step == 0) {
        int64_t place = 0;
        for (struct group *i = f->first; i; i = i->next, place += PLACE_GAP)
            i->place = place;
    }
}

bool fuse_search_between(struct fuse *f, struct group *const *members, uint32_t member_count)
{
    uint32_t looked_at = 0, next = 0, queued = 0;

    f->search++;
    for (uint32_t i = 0; i < member_count; i++)
        members[i]->seen = members[i]->member = f->search;
    for (uint32_t i = 1; i < member_count; i++)
        f->found[queued++] = members[i];
    while (next < queued) {
        const struct group *g = f->found[next++];
        for (uint32_t i = 0; i < g->count; i++) {
            const struct node *n = g->nodes[i];
            for (uint32_t k = 0; k < n->input_count; k++) {
                const struct value *v = n->inputs[k].value;
                struct group *needed = v && v->producer ? f->group_of[v->producer->index] : NULL;
                if (++looked_at > SEARCH_MAX)
                    return false;
                if (!needed)
                    continue;
                if (needed->member == f->search && g->member != f->search)
                    return false;
                if (needed->seen == f->search || needed->place < members[0]->place)
                    continue;
                needed->seen = f->search;
                f->found[queued++] = needed;
            }
        }
    }
    f->found_count = queued - (member_count - 1);
    memmove(f->found, f->found + member_count - 1, f->found_count * sizeof *f->found);
    return true;
}

/* Moves what was found before `first`, keeping its order. */
void fuse_move_found_before(struct fuse *f, struct group *first)
{
    /* This is insertion sort, because a search finds few groups. */
    for (uint32_t i = 1; i < f->found_count; i++) {
        struct group *g = f->found[i];
        uint32_t k = i;
        for (; k > 0 && f->found[k - 1]->place > g->place; k--)
            f->found[k] = f->found[k - 1];
        f->found[k] = g;
    }
    for (uint32_t i = 0; i < f->found_count; i++)
        fuse_order_remove(f, f->found[i]);
    if (f->found_count)
        fuse_order_insert_before(f, f->found, f->found_count, first);
}
