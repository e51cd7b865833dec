/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Checks that buffers of the host which are given to a computation share no memory. */
#include "runtime/api/buffers.h"

#include <stdlib.h>

/* So many buffers are compared pair by pair. */
enum { BUFFERS_FEW = 32 };

/* Says where the memory of a buffer lies. */
struct span {
    uintptr_t start, end;
    const WNNNamedBuffer *item;
    bool is_output;
    uint32_t state; /* 1 + the slot of the input that is the state; 0: an output that is none */
};

static struct span span_of(const WNNNamedBuffer *item, bool is_output, uint32_t state)
{
    uintptr_t start = (uintptr_t)item->data;

    return (struct span){start, start + item->byteLength, item, is_output, state};
}

static int compare_starts(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

/* Returns whether two spans overlap, and then says so in *e.  a may be an input; b is not. */
static bool spans_overlap(const struct span *a, const struct span *b, struct error *e)
{
    char first[160], second[160];

    if (a->start >= b->end || b->start >= a->end)
        return false;
    if (!a->is_output && a->state == b->state && a->start == b->start && a->end == b->end)
        return false; /* changed in place */
    error_set(e, WNNStatus_TypeError,
              a->is_output ? "compute: the buffers for outputs \"%s\" and \"%s\" overlap"
                           : "compute: the buffers for input \"%s\" and output \"%s\" overlap",
              view_quote(first, sizeof first, a->item->name), view_quote(second, sizeof second, b->item->name));
    return true;
}

/* Compares every pair of buffers, which is best if there are few. */
static bool pairs_overlap(const struct span *inputs, size_t input_count, const struct span *outputs, size_t output_count,
                          struct error *e)
{
    for (size_t o = 0; o < output_count; o++) {
        for (size_t i = 0; i < input_count; i++)
            if (spans_overlap(&inputs[i], &outputs[o], e))
                return true;
        for (size_t i = 0; i < o; i++)
            if (spans_overlap(&outputs[i], &outputs[o], e))
                return true;
    }
    return false;
}

/* Compares many buffers in the order of their starts: one meets one of those before it, if it meets the one that ends last. */
static bool sorted_spans_overlap(struct span *spans, size_t count, struct error *e)
{
    const struct span *last[2] = {NULL, NULL}; /* of the inputs, of the outputs */

    qsort(spans, count, sizeof *spans, compare_starts);
    for (size_t i = 0; i < count; i++) {
        const struct span *s = &spans[i], **mine = &last[s->is_output];

        if ((last[1] && (s->is_output ? spans_overlap(last[1], s, e) : spans_overlap(s, last[1], e))) ||
            (last[0] && s->is_output && spans_overlap(last[0], s, e)))
            return true;
        if (!*mine || s->end > (*mine)->end)
            *mine = s;
    }
    return false;
}

static bool has_states(WNNGraph graph)
{
    for (uint32_t i = 0; i < graph->output_count; i++)
        if (graph->outputs[i].state)
            return true;
    return false;
}

/* With states every pair is compared: other inputs may share no memory with them. */
bool buffers_are_apart(WNNGraph graph, size_t input_count, WNNNamedBuffer const *inputs, size_t output_count,
                       WNNNamedBuffer const *outputs, const uint32_t *slots, struct error *e)
{
    struct span few[BUFFERS_FEW], *spans = few;
    size_t count = input_count + output_count;

    if (count > BUFFERS_FEW) {
        spans = malloc(count * sizeof *spans);
        if (!spans)
            return error_out_of_memory(e);
    }
    for (size_t i = 0; i < count; i++)
        spans[i] = i < input_count ? span_of(&inputs[i], false, graph->inputs[slots[i]].slot + 1)
                                   : span_of(&outputs[i - input_count], true, graph->outputs[slots[i]].state);
    bool overlap = spans == few || has_states(graph) ? pairs_overlap(spans, input_count, spans + input_count, output_count, e)
                                                     : sorted_spans_overlap(spans, count, e);
    if (spans != few)
        free(spans);
    return !overlap;
}
