/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/program/wanted.h"

#include <stdlib.h>
#include <string.h>

struct span {
    int64_t start, end;
};

/** Says which bytes are read by steps that are kept: spans of the arena, and outputs as a whole. */
struct live {
    const struct executable *x;
    struct span *spans; /* disjoint; room for one of each address, two of each move of a loop and one of each step */
    size_t count;
    bool *outputs;
};

static bool overlap(struct span a, struct span b)
{
    return a.start < b.end && b.start < a.end;
}

/** Returns whether steps that are kept read a location, which goes on for `stride` bytes in both directions. */
static bool is_live(const struct live *l, const struct location *at, int64_t stride)
{
    const struct span s = {at->offset - stride, at->offset + at->bytes + stride};

    if (at->kind == LOCATION_OUTPUT)
        return l->outputs[at->slot];
    for (size_t i = 0; at->kind == LOCATION_ARENA && i < l->count; i++)
        if (overlap(s, l->spans[i]))
            return true;
    return false;
}

static void add(struct live *l, const struct location *at, int64_t stride)
{
    struct span s = {at->offset - stride, at->offset + at->bytes + stride};

    if (at->kind == LOCATION_OUTPUT)
        l->outputs[at->slot] = true;
    if (at->kind != LOCATION_ARENA)
        return;
    for (size_t i = l->count; i-- > 0;) {
        const struct span known = l->spans[i];

        if (!overlap(s, known))
            continue;
        s = (struct span){s.start < known.start ? s.start : known.start, s.end > known.end ? s.end : known.end};
        l->spans[i] = l->spans[--l->count];
    }
    l->spans[l->count++] = s;
}

/** Takes out the bytes of a location, all of which are written. */
static void cut(struct live *l, const struct location *at)
{
    const struct span s = {at->offset, at->offset + at->bytes};

    for (size_t i = l->count; at->kind == LOCATION_ARENA && i-- > 0;) {
        struct span *known = &l->spans[i];

        if (!overlap(s, *known))
            continue;
        if (known->start < s.start && known->end > s.end) { /* one at most */
            l->spans[l->count++] = (struct span){s.end, known->end};
            known->end = s.start;
        } else if (known->start < s.start) {
            known->end = s.start;
        } else if (known->end > s.end) {
            known->start = s.end;
        } else {
            *known = l->spans[--l->count];
        }
    }
}

/** Asks or adds everything that the steps of a loop, or one step without a loop, touch.  Returns whether any is live. */
static bool touch(struct live *l, uint32_t first, uint32_t end, const struct executable_loop *loop, bool adds)
{
    const struct executable *x = l->x;
    bool live = false;

    for (uint32_t s = first; s < end; s++)
        for (uint32_t a = x->steps[s].first; a < x->steps[s].first + x->steps[s].count; a++)
            if (adds && (!x->written[a] || x->steps[s].kind == STEP_KERNEL || (loop && loop->stop)))
                add(l, &x->locations[a], 0);
            else
                live = live || (x->written[a] && is_live(l, &x->locations[a], 0));
    for (uint32_t n = 0; loop && n < loop->move_count; n++) {
        const struct address_move *m = &x->moves[loop->move + n];
        const int64_t stride = (m->stride < 0 ? -m->stride : m->stride) * (int64_t)loop->iterations;

        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t a = k ? m->first : m->base;

            if (a != NO_ADDRESS && adds)
                add(l, &x->locations[a], stride);
            else if (a != NO_ADDRESS)
                live = live || (x->written[m->address] && is_live(l, &x->locations[a], stride));
        }
    }
    return live;
}

static void find(struct live *l, bool *skipped)
{
    const struct executable *x = l->x;

    for (uint32_t end = x->step_count, loops = x->loop_count; end > 0;) {
        const struct executable_loop *last = loops ? &x->loops[loops - 1] : NULL;
        const struct executable_loop *loop = last && last->first + last->count == end ? last : NULL;
        const uint32_t first = loop ? loop->first : end - 1;
        const struct executable_step *s = &x->steps[first];
        const bool kept = touch(l, first, end, loop, false);

        memset(skipped + first, !kept, end - first);
        if (kept && !loop && s->kind != STEP_KERNEL)
            cut(l, &x->locations[s->first + s->count - 1]);
        if (kept)
            touch(l, first, end, loop, true);
        loops -= loop != NULL;
        end = first;
    }
}

const bool *wanted_skips(struct invocation *i, const struct engine_binding *outputs)
{
    const struct executable *x = i->executable;
    const uint32_t slots = executable_slots(x, true);
    bool known = i->chosen;

    if (!x->engine->functions->host_memory || (!known && !(i->chosen = calloc((size_t)slots + x->step_count + 1, 1))))
        return NULL;
    i->skipped = i->chosen + slots;
    for (uint32_t k = 0; k < slots; k++) {
        known = known && i->chosen[k] == !outputs[k].is_unwanted;
        i->chosen[k] = !outputs[k].is_unwanted;
    }
    if (known)
        return i->skipped;

    const size_t room = (size_t)x->address_count + 2 * (size_t)x->move_count + x->step_count + 1;
    struct live l = {x, calloc(room, sizeof *l.spans), 0, calloc(slots + 1, 1)};
    const bool ok = l.spans && l.outputs;

    if (ok) {
        memcpy(l.outputs, i->chosen, slots);
        find(&l, i->skipped);
    } else {
        free(i->chosen);
        i->chosen = NULL;
    }
    free(l.spans);
    free(l.outputs);
    return ok ? i->skipped : NULL;
}
