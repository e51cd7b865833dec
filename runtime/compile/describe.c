/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/compile/describe.h"

#include <string.h>

#include "ir/support/json.h"

static void describe_operator(FILE *out, const struct node *n)
{
    fprintf(out, "[\"%s\", ", op_infos[n->op].name);
    json_print_string(out, n->label, strlen(n->label), JSON_REPLACE_BYTES);
}

static void describe_port(FILE *out, const char *before, const char *name, size_t length, const struct value *v)
{
    char type[256];

    fprintf(out, "%s[", before);
    json_print_string(out, name, length, JSON_REPLACE_BYTES);
    fprintf(out, ", \"%s\"]", type_print(type, sizeof type, &v->type));
}

void describe_graph(FILE *out, struct graph *g)
{
    intptr_t count = 0;

    fputs("\"inputs\": [", out);
    for (uint32_t i = 0; i < g->input_count; i++)
        describe_port(out, i ? ", " : "", g->inputs[i]->name, g->inputs[i]->name_length, g->inputs[i]);
    fputs("],\n\"outputs\": [", out);
    for (uint32_t i = 0; i < g->output_count; i++)
        describe_port(out, i ? ", " : "", g->outputs[i].name, g->outputs[i].name_length, g->outputs[i].value);
    fputs("],\n\"operators\": [", out);
    graph_for_each (g, n) {
        const char *separator = "", *label = n->label;
        char name[64];

        snprintf(name, sizeof name, "%s_%u", op_infos[n->op].name, n->index);
        if (!label[0] && (label = arena_string(&g->arena, name, strlen(name))))
            n->label = label;
        fputs(count ? ",\n" : "", out);
        describe_operator(out, n);
        fputs(", [", out);
        for (uint32_t i = 0; i < n->input_count; i++) {
            const struct value *v = n->inputs[i].value;

            if (!v || v->kind == VALUE_CONSTANT)
                continue;
            fprintf(out, "%s%lld", separator, v->producer ? (long long)(intptr_t)v->producer->scratch : -1);
            separator = ",";
        }
        fputs("]]", out);
        n->scratch = (void *)count++; /* its place */
    }
    graph_for_each (g, n)
        n->scratch = NULL;
    fputs("],\n\"program\": [", out);
}

/* A location in a loop moves: what it covers in all iterations is printed. */
static void describe_location(FILE *out, const struct program *p, uint32_t step, uint32_t location)
{
    static const char *const kinds[] = {
        [LOCATION_ARENA] = "arena", [LOCATION_INPUT] = "input", [LOCATION_OUTPUT] = "output", [LOCATION_CONSTANT] = "constant"};
    struct location l = p->steps[step].locations[location];
    int64_t iterations = 1;

    for (uint32_t i = 0; i < p->loop_count; i++)
        if (step - p->loops[i].first < p->loops[i].count)
            iterations = p->loops[i].iterations;
    for (uint32_t i = 0; i < p->move_count; i++) {
        const struct program_move *m = &p->moves[i];

        if (m->step != step || m->location != location)
            continue;
        const int64_t way = m->stride * (iterations - (m->has_first ? 2 : 1));
        l.offset += way < 0 ? way : 0;
        l.bytes += way < 0 ? -way : way;
    }
    fprintf(out, "%s[\"%s\", %u, %lld, %lld, %d]", location ? ", " : "", kinds[l.kind], l.slot, (long long)l.offset,
            (long long)l.bytes, step_writes(&p->steps[step], location));
}

void describe_steps(FILE *out, const struct program *p, uint32_t first, struct node *const *nodes, uint32_t count)
{
    for (uint32_t step = first; out && step < p->step_count; step++) {
        fputs(step ? ",\n{\"operators\": [" : "{\"operators\": [", out);
        for (uint32_t i = 0; i < count; i++) {
            fputs(i ? ", " : "", out);
            describe_operator(out, nodes[i]);
            fputc(']', out);
        }
        fputs("], \"locations\": [", out);
        for (uint32_t i = 0; i < p->steps[step].location_count; i++)
            describe_location(out, p, step, i);
        fputs("]}", out);
    }
}
