/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Making a failing sample small: every edit that keeps it failing is kept, until none does or time is over. */
#include <string.h>
#include <time.h>

#include "random.h"

struct shrinking {
    struct sample *s;
    struct variant *v;
    double end;
};

double random_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool fails(struct sample *s, struct variant *v)
{
    char report[CHECK_REPORT];

    return v ? !check_variant(s, v, NULL, report) : !check_sample(s, report);
}

static bool try_edit(struct shrinking *k, struct edit e)
{
    struct sample smaller;

    if (random_seconds() > k->end || !sample_edit(k->s, &e, &smaller))
        return false;
    if (!fails(&smaller, k->v)) {
        sample_free(&smaller);
        return false;
    }
    sample_free(k->s);
    *k->s = smaller;
    return true;
}

/* After a change node and value numbers are others, so that each of these starts afresh from where it was. */

static bool shrink_outputs(struct shrinking *k)
{
    bool any = false;

    for (uint32_t i = 0; i < k->s->g->output_count;)
        if (k->s->g->output_count > 1 && try_edit(k, (struct edit){EDIT_DROP_OUTPUT, i, 0, 0, 0}))
            any = true;
        else
            i++;
    return try_edit(k, (struct edit){EDIT_DROP_DEAD, 0, 0, 0, 0}) && any;
}

static struct node *node_at(const struct graph *g, uint32_t index)
{
    graph_for_each (g, n)
        if (n->index == index)
            return n;
    return NULL;
}

static bool shrink_node(struct shrinking *k, uint32_t index)
{
    const struct node *n = node_at(k->s->g, index);

    if (!n)
        return false;
    uint32_t results = n->result_count, inputs = n->input_count;
    enum op op = n->op;
    for (uint32_t i = 0; i < inputs; i++)
        if (try_edit(k, (struct edit){EDIT_BYPASS, index, i, 0, 0}))
            return true;
    for (uint32_t i = 0; i < results; i++)
        if (n->results[i]->uses && try_edit(k, (struct edit){EDIT_CUT, index, i, 0, 0}))
            return try_edit(k, (struct edit){EDIT_DROP_DEAD, 0, 0, 0, 0}), true;
    for (uint32_t i = op_positional_inputs(op); i < inputs; i++)
        if (op_infos[op].ins[i].optional && n->inputs[i].value && try_edit(k, (struct edit){EDIT_DROP_OPERAND, index, i, 0, 0}))
            return true;
    return false;
}

static bool shrink_nodes(struct shrinking *k)
{
    bool any = false;

    for (uint32_t i = k->s->g->node_count; i-- > 0;)
        while (i < k->s->g->node_count && shrink_node(k, i))
            any = true;
    return any;
}

/* The sizes that occur, the largest first. */
static bool shrink_sizes(struct shrinking *k)
{
    uint32_t below = UINT32_MAX;
    bool any = false;

    for (;;) {
        const struct graph *g = k->s->g;
        uint32_t size = 0;
        for (uint32_t i = 0; i < g->input_count; i++)
            for (uint32_t d = 0; d < g->inputs[i]->type.rank; d++)
                if (g->inputs[i]->type.dims[d] < below && g->inputs[i]->type.dims[d] > size)
                    size = g->inputs[i]->type.dims[d];
        for (const struct value *v = g->first_constant; v; v = v->next_constant)
            for (uint32_t d = 0; d < v->type.rank; d++)
                if (v->type.dims[d] < below && v->type.dims[d] > size)
                    size = v->type.dims[d];
        if (size < 2)
            return any;
        below = size;
        const uint32_t smaller[] = {1, 2, size / 2, size - size / 4, size - 1};
        for (uint32_t i = 0; i < sizeof smaller / sizeof *smaller; i++)
            if (smaller[i] && smaller[i] < size && try_edit(k, (struct edit){EDIT_SIZE, 0, 0, size, smaller[i]})) {
                any = true;
                break;
            }
    }
}

void sample_shrink(struct sample *s, struct variant *v, double seconds)
{
    struct shrinking k = {s, v, random_seconds() + seconds};

    for (bool any = true; any;) {
        any = shrink_outputs(&k);
        any |= shrink_nodes(&k);
        any |= shrink_sizes(&k);
    }
    for (uint32_t i = 0; i < s->g->node_count; i++)
        try_edit(&k, (struct edit){EDIT_PLAIN_OPTIONS, i, 0, 0, 0});
    for (uint32_t i = 0; i < s->g->input_count; i++)
        try_edit(&k, (struct edit){EDIT_ONES, i, 0, 0, 0});
}
