/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The verifier: every invariant broken once, and the words it must find for it. */
#include "support/graphs.h"

static const char body[] =
    "inputs { x: f32[2, 4]; y: f32[2, 4]; } consts { k: f32[4] @scalar(2); l: f32[2, 2] @scalar(1); }"
    "nodes { a = add(x, k) @kernel(0); b = relu(a) @kernel(0); c = gemm(b, y, bTranspose=true) @library(1);"
    " [d, e] = split(c, 2); f = add(d, l) @view(2); t = transpose(x); } outputs { f; e; \"again\" = e; }";

/* Returns what breaks the graph.  The order of nodes, results and so on is that of body. */
static struct node *node_at(struct graph *g, int i)
{
    struct node *n = g->first;
    while (i--)
        n = n->next;
    return n;
}

static void break_index(struct graph *g)
{
    node_at(g, 1)->index = 0;
}
static void break_index_range(struct graph *g)
{
    g->node_count = 3;
}
static void break_back_link(struct graph *g)
{
    node_at(g, 2)->prev = NULL;
}
static void break_last(struct graph *g)
{
    g->last = node_at(g, 1);
}
static void break_node_graph(struct graph *g)
{
    node_at(g, 1)->graph = NULL;
}
static void break_operator(struct graph *g)
{
    node_at(g, 1)->op = (enum op)OP_ROWS;
}
static void break_value_index(struct graph *g)
{
    node_at(g, 1)->results[0]->index = 0;
}
static void break_value_graph(struct graph *g)
{
    node_at(g, 1)->results[0]->graph = NULL;
}
static void break_kind(struct graph *g)
{
    node_at(g, 1)->results[0]->kind = VALUE_CONSTANT;
}
static void break_producer(struct graph *g)
{
    node_at(g, 1)->results[0]->producer = node_at(g, 0);
}
static void break_input_producer(struct graph *g)
{
    g->inputs[0]->producer = node_at(g, 0);
}
static void break_result_number(struct graph *g)
{
    node_at(g, 3)->results[1]->result = 0;
}
static void break_limits(struct graph *g)
{
    g->inputs[0]->type.dims[0] = 0;
}
static void break_arity(struct graph *g)
{
    node_at(g, 0)->input_count = 1;
}
static void break_required_input(struct graph *g)
{
    node_set_input(node_at(g, 0), 1, NULL);
}
static void break_slot(struct graph *g)
{
    node_at(g, 0)->inputs[1].slot = 0;
}
static void break_order(struct graph *g)
{
    node_move_before(node_at(g, 0), node_at(g, 3));
}
static void break_definition(struct graph *g)
{
    struct node *b = node_at(g, 1); /* removed although it is used */
    b->prev->next = b->next;
    b->next->prev = b->prev;
}
static void break_use_list(struct graph *g)
{
    node_at(g, 0)->results[0]->uses = NULL;
}
static void break_use_value(struct graph *g)
{
    node_at(g, 0)->results[0]->uses->value = g->inputs[1];
}
static void break_use_circle(struct graph *g)
{
    struct use *u = node_at(g, 0)->results[0]->uses;
    u->next = u->prev = u;
}
static void break_type(struct graph *g)
{
    node_at(g, 1)->results[0]->type.dims[1] = 5;
}
static void break_type_elsewhere(struct graph *g)
{
    node_at(g, 1)->results[0]->type.type = WNNOperandDataType_Float16;
}
static const uint32_t two[] = {2};
static void break_result_count(struct graph *g)
{
    node_at(g, 3)->args.split.splitsCount = 1;
    node_at(g, 3)->args.split.splits = two;
}
static void break_resolved(struct graph *g)
{
    ((WNNSplitOptions *)node_at(g, 3)->options)->axis = 1; /* 2 x 2: types differ then */
}
static void break_unresolved(struct graph *g)
{
    ((WNNTransposeOptions *)node_at(g, 5)->options)->permutation = NULL;
}
static void break_option_operand(struct graph *g)
{
    ((WNNGemmOptions *)node_at(g, 2)->options)->c = (WNNOperand)(uintptr_t)1;
}
static void break_option_label(struct graph *g)
{
    ((WNNGemmOptions *)node_at(g, 2)->options)->label = WNN_STR("x");
}
static void break_constant_bytes(struct graph *g)
{
    g->first_constant->constant->bytes = 15;
}
static void break_constant_data(struct graph *g)
{
    constant_release(g->first_constant->constant);
    g->first_constant->constant = NULL;
}
static void break_constant_list(struct graph *g)
{
    g->last_constant = g->first_constant;
}
static void break_input_name(struct graph *g)
{
    g->inputs[1]->name = "x";
}
static void break_input_no_name(struct graph *g)
{
    g->inputs[1]->name = NULL;
}
static void break_output_name(struct graph *g)
{
    g->outputs[2].name = "e";
    g->outputs[2].name_length = 1;
}
static void break_output_count(struct graph *g)
{
    g->outputs[1].value->output_uses = 1;
}
static void break_output_value(struct graph *g)
{
    struct node *n = node_at(g, 4); /* removed although it is an output */
    n->results[0]->output_uses--;
    node_remove(n);
}
static void break_cluster_index(struct graph *g)
{
    g->first_cluster->next->index = 0;
}
static void break_cluster_list(struct graph *g)
{
    g->first_cluster->next = NULL;
    g->last_cluster = g->first_cluster;
}
static void break_cluster_last(struct graph *g)
{
    g->last_cluster = g->first_cluster;
}
static void break_anchor(struct graph *g)
{
    node_at(g, 2)->cluster->anchor = node_at(g, 1);
}

static const struct {
    void (*run)(struct graph *g);
    const char *words;
} breaks[] = {
    {break_index, "node index 0 is used twice"},
    {break_index_range, "node index 3 is used twice or not below 3"},
    {break_back_link, "link backwards is wrong\n  in node 2: c = gemm(b, y, bTranspose=true) @library(1)"},
    {break_last, "does not end with the last node"},
    {break_node_graph, "the node belongs to another graph\n  in node 1: b = relu(a) @kernel(0)"},
    {break_operator, "node 1 has no valid operator"},
    {break_value_index, "value index 0 is used twice"},
    {break_value_graph, "belongs to another graph"},
    {break_kind, "has kind 1, expected 2"},
    {break_producer, "has the wrong producer"},
    {break_input_producer, "value 0 has the wrong producer"},
    {break_result_number, "result 1 says that it is result 0"},
    {break_limits, "value has size 0 in dimension 0"},
    {break_arity, "1 inputs, the operator has 2 operands"},
    {break_required_input, "input 1 is missing"},
    {break_slot, "input 1 does not know its place"},
    {break_order, "which is defined later\n  in node 1: b = relu(a)"},
    {break_definition, "which nothing in the graph defines"},
    {break_use_list, "is in 1 input slots, its use list differs"},
    {break_use_value, "the use list of value"},
    {break_use_circle, "the use list of value"},
    {break_type, "result 0 has type f32[2, 5], inference says f32[2, 4]\n  in node 1: b = relu(a)"},
    {break_type_elsewhere, "b has data type float32, a has float16"},
    {break_result_count, "2 results, inference says 1"},
    {break_resolved, "result 0 has type f32[1, 2], inference says f32[2, 1]"},
    {break_unresolved, "attribute permutation is not resolved"},
    {break_option_operand, "the options hold operand c"},
    {break_option_label, "the options hold a label"},
    {break_constant_bytes, "has 15 bytes, its type has 16"},
    {break_constant_data, "has no data but is used"},
    {break_constant_list, "the list of constants does not end with the last one"},
    {break_input_name, "input 1 has the name of another input"},
    {break_input_no_name, "input 1 has no name"},
    {break_output_name, "output 2 has the name of another output"},
    {break_output_count, "counts 1 outputs, there are 2"},
    {break_output_value, "output 0 is a value that nothing in the graph defines"},
    {break_cluster_index, "cluster index 0 is used twice"},
    {break_cluster_list, "is not in the graph's list"},
    {break_cluster_last, "the list of clusters does not end with the last one"},
    {break_anchor, "library cluster 1 has no anchor among its nodes"},
};

TEST(every_violation_is_found)
{
    int wrong = 0;

    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        OWNED(graph) struct graph *g = parse_body(body);
        OWNED(memory) char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        breaks[i].run(g);
        bool ok = graph_verify(g, out);
        fclose(out);
        if (ok || !strstr(text, breaks[i].words)) {
            print_error("not found: %s\n  but: %s\n", breaks[i].words, text);
            wrong++;
        }
        assert_false(graph_verify(g, NULL)); /* silently, too */
    }
    assert_int_equal(wrong, 0);
}

TEST(all_violations_are_printed)
{
    OWNED(graph) struct graph *g = parse_body(body);
    OWNED(memory) char *text = NULL;
    size_t size, count = 0;
    FILE *out = open_memstream(&text, &size);

    break_slot(g);
    break_input_name(g);
    break_anchor(g);
    assert_false(graph_verify(g, out));
    fclose(out);
    for (const char *at = text; (at = strstr(at, "verify: ")); at++)
        count++;
    assert_true(count >= 3);
    assert_non_null(strstr(text, "does not know its place"));
    assert_non_null(strstr(text, "has the name of another input"));
    assert_non_null(strstr(text, "has no anchor"));
}

TEST(unused_constants_may_have_lost_their_data)
{
    OWNED(graph) struct graph *g = parse_body("consts { k: f32[2] @scalar(1); l: f32[2] @scalar(2); } outputs { l; }");

    constant_release(g->first_constant->constant);
    g->first_constant->constant = NULL;
    assert_verifies(g);
    assert_prints_not(g, "k");
}
