/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The pipeline: every network keeps its results with all passes, with each one skipped, with none. */
#include "passes/nets.h"
#include "passes/pass_support.h"
#include "support/kernel_text.h"

/* ---- the pipeline ---- */

static struct pass_options options_with(struct debug_options *d)
{
    return (struct pass_options){.target = &fake_target, .debug = d};
}

/* Runs the pipeline on every network and compares; every node must end in a cluster. */
static void run_networks(struct debug_options *d)
{
    struct pass_options o = options_with(d);

    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        OWNED(graph) struct graph *g = parse_body(nets[i].body);
        void **inputs = random_inputs(g, false);
        struct run before, after;

        before = run_graph(g, (const void *const *)inputs, true);
        if (!passes_run(g, &o))
            fail_msg("%s: %s", nets[i].name, g->error.message);
        assert_verifies(g);
        graph_for_each (g, n)
            assert_non_null(n->cluster);
        after = run_graph(g, (const void *const *)inputs, false);
        if (!same_results(&before, &after, false)) {
            OWNED(memory) char *text = print_to_string(g);
            print_error("%s, skip=%s\n%s", nets[i].name, d->skip ? d->skip : "", text);
            fail();
        }
        run_free(&before);
        run_free(&after);
        inputs_free(g, inputs);
    }
}

/* ---- clusters are lowered, get storage, and are run by the kernel interpreter ---- */

struct cluster_run {
    struct graph *g;
    struct storage_assignment assigned;
    struct kernel_list *lists; /* by cluster index */
    char *arena;
    void **inputs, **outputs;
};

/* As the runtime asks: every kernel of the cluster must read its input before the output is written there. */
static bool kernels_may_share(void *user, const struct cluster *c, const struct value *input, const struct value *output)
{
    const struct kernel_list *list = &((struct cluster_run *)user)->lists[c->index];
    bool written = false, may = c->kind == CLUSTER_KERNEL;

    for (uint32_t i = 0; i < list->count && may; i++) {
        const struct kernel *k = list->kernels[i];
        uint32_t reads = UINT32_MAX, writes = UINT32_MAX;
        for (uint32_t t = 0; t < k->tensor_count; t++) {
            if (k->tensors[t].user == output && k->tensors[t].written)
                writes = t;
            else if (k->tensors[t].user == input)
                reads = t;
        }
        may = reads == UINT32_MAX || (!written && (writes == UINT32_MAX || kernel_may_share(k, reads, writes)));
        written |= writes != UINT32_MAX;
    }
    return may;
}

static void *address_of(struct cluster_run *r, const struct value *v)
{
    const struct storage *s = &r->assigned.values[v->index];

    switch (s->kind) {
    case STORAGE_INPUT:
        return (char *)r->inputs[s->slot] + s->offset;
    case STORAGE_OUTPUT:
        return (char *)r->outputs[s->slot] + s->offset;
    case STORAGE_CONSTANT:
        return (char *)s->base->constant->data + s->offset;
    case STORAGE_ARENA:
        return r->arena + s->offset;
    case STORAGE_NONE:
        break;
    }
    return NULL;
}

/* A library cluster, node by node; values inside it in memory of their own. */
static void run_library(struct cluster_run *r, const struct cluster_nodes *nodes)
{
    void **inside = calloc(r->g->value_count, sizeof *inside);

    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct node *n = nodes->nodes[i];
        const void *in[OP_OPERANDS_MAX] = {NULL};

        for (uint32_t k = 0; k < n->input_count; k++) {
            const struct value *v = n->inputs[k].value;
            if (v)
                in[k] = inside[v->index] ? inside[v->index] : address_of(r, v);
        }
        inside[n->results[0]->index] = malloc((size_t)type_bytes(&n->results[0]->type));
        assert_done(node_interpret(n, in, &inside[n->results[0]->index], &e));
    }
    assert_int_equal(nodes->output_count, 1);
    memcpy(address_of(r, nodes->outputs[0]), inside[nodes->outputs[0]->index], (size_t)type_bytes(&nodes->outputs[0]->type));
    for (uint32_t i = 0; i < r->g->value_count; i++)
        free(inside[i]);
    free(inside);
}

static void run_kernels(struct cluster_run *r, const struct kernel_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        void *tensors[KERNEL_TENSORS_MAX];
        for (uint32_t t = 0; t < list->kernels[i]->tensor_count; t++) {
            tensors[t] = address_of(r, list->kernels[i]->tensors[t].user);
            assert_non_null(tensors[t]);
        }
        assert_true(kernel_interpret(list->kernels[i], tensors));
    }
}

static void run_clusters(struct graph *g, void **inputs, void **outputs)
{
    struct cluster_run r = {.g = g, .inputs = inputs, .outputs = outputs};
    SCOPED(arena_free) struct arena arena = {0};

    r.lists = calloc(g->cluster_count, sizeof *r.lists);
    for (struct cluster *c = g->first_cluster; c; c = c->next) {
        struct error e = {0};
        if (c->kind == CLUSTER_KERNEL && !lower_cluster(g, c, &fake_target, &r.lists[c->index], &e))
            fail_msg("%s", e.message);
    }
    assert_true(storage_assign(g, NULL, &g->arena, 0, kernels_may_share, &r, NULL, &r.assigned));
    r.arena = malloc((size_t)r.assigned.arena_bytes + 1);
    memset(r.arena, 0xff, (size_t)r.assigned.arena_bytes + 1); /* NaN, if it is read before it is written */
    for (struct cluster *c = g->first_cluster; c; c = c->next) {
        struct cluster_nodes nodes;
        assert_true(cluster_collect(g, c, &arena, &nodes));
        if (c->kind == CLUSTER_LIBRARY)
            run_library(&r, &nodes);
        else if (c->kind == CLUSTER_KERNEL)
            run_kernels(&r, &r.lists[c->index]);
        kernel_list_free(&r.lists[c->index]);
    }
    free(r.lists);
    free(r.arena);
}

/* The clusters that the passes make with these switches compute what the graph says. */
static void check_clusters(struct graph *g, struct debug_options *d, const char *what)
{
    struct pass_options o = options_with(d);
    void **inputs = random_inputs(g, false);
    OWNED(memory) char *text = print_to_string(g);
    struct run before, after;

    before = run_graph(g, (const void *const *)inputs, true);
    after = run_graph(g, (const void *const *)inputs, true);
    if (!passes_run(g, &o))
        fail_msg("%s: %s\n%s", what, g->error.message, text);
    run_clusters(g, inputs, after.outputs);
    if (!same_results(&before, &after, false)) {
        OWNED(memory) char *now = print_to_string(g);
        print_error("%s, before:\n%safter:\n%s", what, text, now);
        fail();
    }
    run_free(&before);
    run_free(&after);
    inputs_free(g, inputs);
}

TEST(clusters_compute_what_graphs_say)
{
    for (size_t i = 0; i < 2 * sizeof nets / sizeof *nets; i++) {
        struct debug_options d = {.flags = i % 2 ? DEBUG_NO_PASSES : 0};
        OWNED(graph) struct graph *g = parse_body(nets[i / 2].body);

        check_clusters(g, &d, nets[i / 2].name);
    }
}

/* Returns a random node on random earlier values; NULL if these do not fit it. */
static struct node *random_node(struct graph *g, struct value **values, uint32_t count)
{
    static const enum op ops[] = {OP_ADD,        OP_MUL,         OP_SUB,     OP_TANH,   OP_RELU,  OP_NEG,    OP_TRANSPOSE,
                                  OP_SOFTMAX,    OP_MATMUL,      OP_RESHAPE, OP_SLICE,  OP_SPLIT, OP_CONCAT, OP_PAD,
                                  OP_REDUCE_MAX, OP_REDUCE_MEAN, OP_REVERSE, OP_EXPAND, OP_MAX,   OP_CLAMP,  OP_CUMULATIVE_SUM,
                                  OP_IDENTITY,   OP_TILE,        OP_SIGMOID};
    enum op op = ops[random_bits() % (sizeof ops / sizeof *ops)];
    struct value *in[3];
    uint32_t lists[2][RANK_MAX] = {{0}}, axis;
    WNNReduceOptions reduce = WNN_REDUCE_OPTIONS_INIT;
    WNNSplitOptions split = WNN_SPLIT_OPTIONS_INIT;
    const void *options = NULL;
    union op_args args;
    uint32_t inputs = op == OP_CONCAT ? 1 + (uint32_t)(random_bits() % 3) : op_positional_inputs(op);

    for (uint32_t i = 0; i < 3; i++)
        in[i] = values[count - 1 - random_bits() % (count < 12 ? count : 12)];
    const struct tensor_type *t = &in[0]->type;
    if (t->rank == 0)
        return NULL;
    axis = (uint32_t)(random_bits() % t->rank);
    memset(&args, 0, sizeof args);
    for (uint32_t d = 0; d < t->rank; d++) {
        lists[0][d] = (uint32_t)(random_bits() % t->dims[d]);
        lists[1][d] = t->dims[d] - lists[0][d];
    }
    if (op == OP_CONCAT) {
        args.concat.axis = axis;
    } else if (op == OP_SOFTMAX || op == OP_CUMULATIVE_SUM) {
        args.softmax.axis = axis;
    } else if (op == OP_SLICE) {
        args.slice.startsCount = args.slice.sizesCount = t->rank;
        args.slice.starts = lists[0];
        args.slice.sizes = lists[1];
    } else if (op == OP_SPLIT) {
        args.split.equal = 2;
        split.axis = axis;
        options = &split;
    } else if (op == OP_PAD) {
        args.pad.beginningPaddingCount = args.pad.endingPaddingCount = t->rank;
        args.pad.beginningPadding = lists[0];
        args.pad.endingPadding = lists[0];
    } else if (op == OP_RESHAPE) {
        /* Two dimensions become one or one two, at random. */
        uint32_t rank = 0;
        for (uint32_t d = 0; d < t->rank; d++) {
            if (d == axis && t->dims[d] % 2 == 0 && t->rank < 5) {
                lists[0][rank++] = 2;
                lists[0][rank++] = t->dims[d] / 2;
            } else if (d == axis + 1 && t->dims[axis] % 2) {
                lists[0][rank - 1] *= t->dims[d];
            } else {
                lists[0][rank++] = t->dims[d];
            }
        }
        args.reshape.newShapeCount = rank;
        args.reshape.newShape = lists[0];
    } else if (op == OP_EXPAND) {
        args.expand.newShapeCount = t->rank + 1;
        lists[0][0] = 2;
        memcpy(&lists[0][1], t->dims, t->rank * sizeof *t->dims);
        args.expand.newShape = lists[0];
    } else if (op == OP_TILE) {
        args.tile.repetitionsCount = t->rank;
        for (uint32_t d = 0; d < t->rank; d++)
            lists[0][d] = d == axis ? 2 : 1;
        args.tile.repetitions = lists[0];
    } else if (op == OP_REDUCE_MAX || op == OP_REDUCE_MEAN) {
        reduce.axesCount = 1;
        reduce.axes = &axis;
        reduce.keepDimensions = random_bits() % 2;
        options = &reduce;
    }
    if (type_elements(t) > 600 || t->rank > 5)
        return NULL;
    return node_create(g, NULL, op, "", inputs, in, options, &args, &(struct error){0});
}

TEST(random_clusters_compute_what_graphs_say)
{
    for (int round = 0; round < 150; round++) {
        struct debug_options d = {.flags = round % 10 == 9 ? DEBUG_NO_PASSES : 0};
        OWNED(graph) struct graph *g = graph_create();
        struct value *values[80];
        uint32_t count = 0, outputs = 0;

        for (uint32_t i = 0; i < 3; i++) {
            static const struct tensor_type types[] = {{WNNOperandDataType_Float32, 2, {4, 6}},
                                                       {WNNOperandDataType_Float32, 3, {2, 4, 6}},
                                                       {WNNOperandDataType_Float32, 1, {6}}};
            values[count++] = graph_add_input(g, &"xyz"[i], 1, &types[i]);
        }
        for (int tries = 0; tries < 400 && count < 40; tries++) {
            struct node *n = random_node(g, values, count);
            for (uint32_t i = 0; n && i < n->result_count && count < 40; i++)
                values[count++] = n->results[i];
        }
        for (uint32_t i = 3; i < count; i++) {
            char name[16];
            snprintf(name, sizeof name, "o%u", i);
            if ((!values[i]->uses || random_bits() % 8 == 0) && outputs++ < 6)
                graph_add_output(g, name, strlen(name), values[i]);
        }
        check_clusters(g, &d, "random graph");
    }
}

TEST(with_all_passes)
{
    struct debug_options d = {.flags = DEBUG_VERIFY};

    run_networks(&d);
}

TEST(with_each_pass_skipped)
{
    for (uint32_t i = 0; i < pass_pipeline_length; i++) {
        struct debug_options d = {.flags = DEBUG_VERIFY, .skip = pass_pipeline[i].name};
        run_networks(&d);
    }
}

TEST(with_no_optional_pass)
{
    struct debug_options d = {.flags = DEBUG_VERIFY | DEBUG_NO_PASSES};

    run_networks(&d);
}

TEST(stopped_after_each_pass)
{
    for (uint32_t i = 0; i < pass_pipeline_length; i++) {
        struct debug_options d = {.stop_after = pass_pipeline[i].name};
        run_networks(&d);
    }
}

TEST(a_network_in_nchw_is_a_few_clusters)
{
    struct debug_options d = {.flags = 0};
    struct pass_options o = options_with(&d);
    OWNED(graph) struct graph *g = parse_body(nets[1].body);

    assert_true(passes_run(g, &o));
    /* The image's transpose, three convolutions with everything between them, pooling, a matmul, softmax; views are free. */
    uint32_t kernels = 0, contractions = 0;
    for (struct cluster *c = g->first_cluster; c; c = c->next) {
        kernels += c->kind == CLUSTER_KERNEL;
        contractions += c->kind == CLUSTER_LIBRARY;
    }
    if (contractions != 4 || kernels > 3) {
        OWNED(memory) char *text = print_to_string(g);
        print_error("%s", text);
        fail_msg("%u contractions, %u kernels", contractions, kernels);
    }
}

TEST(misspelt_passes_are_errors)
{
    struct debug_options bad[] = {{.skip = "fuse-kernels+fuse-kernel"}, {.stop_after = "nothing"}, {.print_after = "a,b"}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pass_options o = options_with(&bad[i]);
        OWNED(graph) struct graph *g = parse_body("inputs { x: f32[4]; } nodes { y = exp(x); } outputs { y; }");
        assert_false(passes_run(g, &o));
        assert_int_equal(g->error.status, WNNStatus_TypeError);
    }
}

static bool cancelled_at_once(void *user)
{
    ++*(int *)user;
    return true;
}

TEST(builds_can_be_cancelled)
{
    int asked = 0;
    struct pass_options o = {.target = &fake_target, .cancelled = cancelled_at_once, .user = &asked};
    OWNED(graph) struct graph *g = parse_body("inputs { x: f32[4]; } nodes { y = exp(x); } outputs { y; }");

    assert_false(passes_run(g, &o));
    assert_int_equal(g->error.status, WNNStatus_InvalidStateError);
    assert_int_equal(asked, 1);
}
