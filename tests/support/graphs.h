/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes graphs for tests of text, by parse_body(), and compares results with them.  Every graph is also verified and checked to
 * print and parse back to the same text.
 */
#pragma once

#include "ir/graph/ir.h"
#include "ir/text/text.h"
#include "support/test.h"

#define GRAPHS_UNUSED __attribute__((unused))

/** Returns the graph as text, which the caller frees. */
GRAPHS_UNUSED static char *print_graph(const struct graph *g, const struct print_options *options)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    graph_print(g, out, options);
    assert_int_equal(fclose(out), 0);
    return text;
}

/** Returns the graph as text with all data and clusters, which the caller frees. */
GRAPHS_UNUSED static char *print_to_string(const struct graph *g)
{
    return print_graph(g, &(struct print_options){.clusters = true, .constants = true});
}

/** Returns the graph that a whole text says, or fails with the reader's message. */
GRAPHS_UNUSED static struct graph *parse_text(const char *text)
{
    struct error e = {0};
    struct graph *g = graph_parse(text, strlen(text), NULL, NULL, &e);

    assert_works(g, &e);
    return g;
}

/** Fails with the graph's text if an invariant is violated. */
#define assert_verifies(g) assert_verifies_at((g), __FILE__, __LINE__)
GRAPHS_UNUSED static void assert_verifies_at(struct graph *g, const char *file, int line)
{
    if (graph_verify(g, stderr))
        return;
    OWNED(memory) char *text = print_to_string(g);
    print_error("the verifier refuses this graph:\n%s", text);
    _fail(file, line);
}

/** Fails unless the graph prints, parses and prints to the same text. */
#define assert_round_trip(g) assert_round_trip_at((g), __FILE__, __LINE__)
GRAPHS_UNUSED static void assert_round_trip_at(struct graph *g, const char *file, int line)
{
    struct error error = {0};
    OWNED(memory) char *text = print_to_string(g), *again = NULL;
    OWNED(graph) struct graph *copy = graph_parse(text, strlen(text), NULL, NULL, &error);

    if (copy)
        again = print_to_string(copy);
    if (!copy || strcmp(text, again) != 0) {
        print_error("does not round-trip: %s\n%s----\n%s", error.message, text, again ? again : "");
        _fail(file, line);
    }
}

/** Makes a graph of its blocks: adds the header, and fails the test if the text is not right. */
#define parse_body(body) parse_body_at((body), __FILE__, __LINE__)
GRAPHS_UNUSED static struct graph *parse_body_at(const char *body, const char *file, int line)
{
    static const char head[] = "webnn_graph \"test\" v1 {\n", tail[] = "\n}\n";
    struct error error = {0};
    size_t size = sizeof head + strlen(body) + sizeof tail;
    OWNED(memory) char *text = malloc(size);

    assert_non_null(text);
    snprintf(text, size, "%s%s%s", head, body, tail);
    struct graph *g = graph_parse(text, strlen(text), NULL, NULL, &error);
    if (!g) {
        print_error("%s\n%s", error.message, text);
        _fail(file, line);
    }
    assert_verifies_at(g, file, line);
    assert_round_trip_at(g, file, line);
    return g;
}

/** Returns whether the printed graph contains the text. */
GRAPHS_UNUSED static bool prints(const struct graph *g, const char *wanted)
{
    OWNED(memory) char *text = print_to_string(g);
    bool found = strstr(text, wanted) != NULL;

    return found;
}

/** These fail unless the printed graph contains (does not contain) the text, verifies and round-trips. */
#define assert_prints(g, wanted) assert_prints_at((g), (wanted), true, __FILE__, __LINE__)
#define assert_prints_not(g, unwanted) assert_prints_at((g), (unwanted), false, __FILE__, __LINE__)
GRAPHS_UNUSED static void assert_prints_at(struct graph *g, const char *wanted, bool there, const char *file, int line)
{
    assert_verifies_at(g, file, line);
    assert_round_trip_at(g, file, line);
    if (prints(g, wanted) == there)
        return;
    OWNED(memory) char *text = print_to_string(g);
    print_error("%s printed: %s\n%s", there ? "not" : "wrongly", wanted, text);
    _fail(file, line);
}

/** Returns the value that was called that in the text, or NULL if there is none. */
GRAPHS_UNUSED static struct value *value_named(struct graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->input_count; i++)
        if (g->inputs[i]->name && strcmp(g->inputs[i]->name, name) == 0)
            return g->inputs[i];
    for (struct value *v = g->first_constant; v; v = v->next_constant)
        if (v->name && strcmp(v->name, name) == 0)
            return v;
    graph_for_each (g, n) {
        for (uint32_t i = 0; i < n->result_count; i++)
            if (n->results[i]->name && strcmp(n->results[i]->name, name) == 0)
                return n->results[i];
    }
    return NULL;
}

/** Returns how many nodes of that operator there are. */
GRAPHS_UNUSED static uint32_t count_nodes(const struct graph *g, enum op op)
{
    uint32_t count = 0;

    graph_for_each (g, n)
        count += n->op == op;
    return count;
}
