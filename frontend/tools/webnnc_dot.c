/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes the compiled graph for Graphviz: a node per operator, a box around each kernel, one library call or one
 * loop, edges with data types and shapes.  Everything that comes from the model is a quoted string with quotes, backslashes and
 * what text_is_deceptive escaped.
 */
#include <stdlib.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/webnnc.h"
#include "passes/passes.h"
#include "runtime/api/context.h"

/* Prints a text inside double quotes: escaped as in messages, and what that makes of it quoted for Graphviz. */
static void print_text(FILE *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        char piece[ESCAPE_MAX];
        size_t written;

        at += escape_character(piece, &written, text + at, length - at, false);
        for (size_t i = 0; i < written; i++) {
            if (piece[i] == '"' || piece[i] == '\\')
                fputc('\\', out);
            fputc(piece[i], out);
        }
    }
}

static void print_node(FILE *out, const struct node *n, const char *indent)
{
    fprintf(out, "%sn%u [label=\"%s", indent, n->index, op_infos[n->op].name);
    if (*n->label) {
        fputs("\\n", out);
        print_text(out, n->label, strlen(n->label));
    }
    /* Constants are not drawn: a weight per node would bury the graph. */
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *v = n->inputs[i].value;
        if (!v || v->kind != VALUE_CONSTANT)
            continue;
        fprintf(out, "\\n%s %s", i < OP_OPERANDS_MAX && op_infos[n->op].ins[i].name ? op_infos[n->op].ins[i].name : "",
                type_print((char[160]){0}, 160, &v->type));
    }
    fputs("\"];\n", out);
}

static void print_cluster(FILE *out, const struct cluster *c)
{
    static const char *const names[] = {
        [CLUSTER_KERNEL] = "kernel", [CLUSTER_LIBRARY] = "library", [CLUSTER_LOOP] = "loop", [CLUSTER_VIEW] = "view"};
    static const char *const colors[] = {
        [CLUSTER_KERNEL] = "#dcebfa", [CLUSTER_LIBRARY] = "#fbe5cf", [CLUSTER_LOOP] = "#e3f3dc", [CLUSTER_VIEW] = "#f2f2f2"};
    const struct node *n = c->first;

    fprintf(out, "  subgraph cluster_%u {\n    label=\"%s %u\"; style=\"filled,rounded\"; color=\"%s\";\n", c->index,
            names[c->kind], c->index, colors[c->kind]);
    for (uint32_t i = 0; n && i < c->node_count; i++, n = n->next)
        print_node(out, n, "    ");
    fputs("  }\n", out);
}

/* Prints the edge from where a value comes from. */
static void print_edge(FILE *out, const struct value *v, const char *to, uint32_t index)
{
    const bool computed = v->kind == VALUE_RESULT;

    fprintf(out, "  %s%u -> %s%u [label=\"%s\"];\n", computed ? "n" : "i", computed ? v->producer->index : v->index, to, index,
            type_print((char[160]){0}, 160, &v->type));
}

static void print_graph(FILE *out, const struct compilation *c)
{
    const struct graph *g = c->graph;

    fputs("digraph \"", out);
    print_text(out, c->prefix, strlen(c->prefix));
    fputs("\" {\n  node [shape=box, style=\"filled,rounded\", fillcolor=white, fontname=\"Helvetica\", fontsize=11];\n"
          "  edge [fontname=\"Helvetica\", fontsize=9];\n  graph [fontname=\"Helvetica\", fontsize=10];\n",
          out);
    for (uint32_t i = 0; i < g->input_count; i++) {
        fprintf(out, "  i%u [shape=ellipse, label=\"", g->inputs[i]->index);
        print_text(out, g->inputs[i]->name, g->inputs[i]->name_length);
        fputs("\"];\n", out);
    }
    for (const struct cluster *k = g->first_cluster; k; k = k->next)
        print_cluster(out, k);
    for (const struct node *n = g->first; n; n = n->next)
        for (uint32_t i = 0; i < n->input_count; i++)
            if (n->inputs[i].value && n->inputs[i].value->kind != VALUE_CONSTANT)
                print_edge(out, n->inputs[i].value, "n", n->index);
    for (uint32_t i = 0; i < g->output_count; i++) {
        fprintf(out, "  o%u [shape=ellipse, label=\"", i);
        print_text(out, g->outputs[i].name, g->outputs[i].name_length);
        fputs("\"];\n", out);
        print_edge(out, g->outputs[i].value, "o", i);
    }
    fputs("}\n", out);
}

bool dot_create(struct compilation *c, char **text, size_t *length)
{
    struct pass_options options = {.target = compilation_target(c), .debug = c->context->engine->debug};

    if (!passes_run(c->graph, &options))
        return complain("%s", c->graph->error.message);
    FILE *out = open_memstream(text, length);
    if (!out)
        return complain("out of memory");
    print_graph(out, c);
    return memory_stream_close(out, text) || complain("out of memory");
}
