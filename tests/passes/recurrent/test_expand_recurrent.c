/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Recurrent operators as nodes and as loops: both must compute what the interpreter makes of the operator.
 *
 * Loops are run here without an engine: their graphs by the interpreter, places that move by pointer arithmetic.
 */
#include "passes/pass_support.h"
#include "passes/recurrent/recurrent.h"
#include "support/recurrent_cases.h"

static bool is_whole(const struct node *n)
{
    return !(op_infos[n->op].flags & OPF_RECURRENT) ||
           (n->inputs[0].value->type.rank == 3 && n->inputs[0].value->type.dims[0] > 1 &&
            n->results[0]->type.type != WNNOperandDataType_Float16);
}

/* ---- the pass ---- */

TEST(pass_keeps_results)
{
    for (uint32_t i = 0; i < RECURRENT_CASES; i++) {
        char text[RECURRENT_TEXT];

        recurrent_case(i, text);
        OWNED(graph) struct graph *g = parse_body(text);
        check_pass_tame(g, pass_expand_recurrent, false);
        graph_for_each (g, n)
            if (!is_whole(n))
                fail_msg("case %u keeps %s: %s", i, op_infos[n->op].name, text);
    }
}

/** Random numbers; special: one in 16 is NaN, an infinity, a zero or a subnormal.  (The largest numbers are left out: whether
 * sums of them overflow on the way is free.) */
static void *operand_data(const struct tensor_type *t, bool special)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-45, -1e-7};
    char *data = random_data(t, false);
    const size_t size = dtype_size(t->type);

    for (int64_t i = 0; special && i < type_elements(t); i++) {
        if (random_bits() % 16)
            continue;
        union scalar s = number_cast(wnnNumber(odd[random_bits() % (sizeof odd / sizeof *odd)]), t->type);
        memcpy(data + (size_t)i * size, &s, size);
    }
    return data;
}

static void check_case(uint32_t number, bool (*change)(struct graph *g, const struct pass_options *o), bool special)
{
    char text[RECURRENT_TEXT];
    void *inputs[16] = {NULL};
    struct run before, after;

    recurrent_case(number, text);
    OWNED(graph) struct graph *g = parse_body(text);
    for (uint32_t k = 0; k < g->input_count; k++)
        inputs[k] = operand_data(&g->inputs[k]->type, special);
    before = run_graph(g, (const void *const *)inputs, true);
    assert_works(change(g, &fake_options) || !g->error.status, &g->error);
    assert_verifies(g);
    after = run_graph(g, (const void *const *)inputs, false);
    if (!same_results(&before, &after, false))
        fail_msg("case %u: %s", number, text);
    run_free(&before);
    run_free(&after);
    for (uint32_t k = 0; k < g->input_count; k++)
        free(inputs[k]);
}

/** Infinities and NaN in operands go the same ways. */
TEST(pass_keeps_special_numbers)
{
    for (uint32_t i = 0; i < RECURRENT_CASES; i++)
        check_case(i, pass_expand_recurrent, true);
}

static bool all_passes(struct graph *g, const struct pass_options *o)
{
    const bool done = passes_run(g, o);

    graph_for_each (g, n)
        if (done && op_infos[n->op].flags & OPF_RECURRENT)
            assert_int_equal(n->cluster->kind, CLUSTER_LOOP);
    return done;
}

TEST(whole_pipeline_keeps_results)
{
    for (uint32_t i = 0; i < RECURRENT_CASES; i += 3)
        check_case(i, all_passes, false);
}

/* ---- loops ---- */

/** Memory of a loop: the node's operands and results, by value, and the buffers. */
struct memory {
    const struct node *node;
    void *operands[OP_OPERANDS_MAX], *results[OP_RESULTS_MAX];
    int64_t operand_bytes[OP_OPERANDS_MAX], result_bytes[OP_RESULTS_MAX];
    void *buffers[LOOP_BUFFERS_MAX], *zeros;
    const struct recurrent_loop *loop;
};

/** Returns the bytes of a loop's input or output; they must lie inside what they are part of. */
static char *find(struct memory *m, const struct loop_bytes *b, int64_t moved)
{
    char *base = NULL;
    int64_t size = 0;

    if (b->kind == LOOP_ZEROS)
        return m->zeros;
    if (b->kind == LOOP_BUFFER) {
        base = m->buffers[b->buffer];
        size = m->loop->buffers[b->buffer];
    }
    for (uint32_t i = 0; b->kind == LOOP_VALUE && i < m->node->input_count; i++) {
        if (m->node->inputs[i].value == b->value) {
            base = m->operands[i];
            size = m->operand_bytes[i];
        }
    }
    for (uint32_t i = 0; b->kind == LOOP_VALUE && i < m->node->result_count; i++) {
        if (m->node->results[i] == b->value) {
            base = m->results[i];
            size = m->result_bytes[i];
        }
    }
    assert_non_null(base);
    assert_true(b->offset + moved >= 0 && b->offset + moved + b->bytes <= size);
    return base + b->offset + moved;
}

static char *find_operand(struct memory *m, const struct loop_operand *o, uint32_t iteration)
{
    if (o->has_first && iteration == 0)
        return find(m, &o->first, 0);
    return find(m, &o->at, o->stride * ((int64_t)iteration - o->has_first));
}

static void run_once(struct memory *m, const struct loop_graph *lg, uint32_t iteration)
{
    const void *inputs[LOOP_OPERANDS_MAX];
    void *outputs[LOOP_OPERANDS_MAX];
    struct error e = {0};

    for (uint32_t i = 0; i < lg->graph->input_count; i++) {
        assert_int_equal(type_bytes(&lg->graph->inputs[i]->type), lg->inputs[i].at.bytes);
        inputs[i] = find_operand(m, &lg->inputs[i], iteration);
    }
    for (uint32_t i = 0; i < lg->graph->output_count; i++) {
        int64_t bytes = type_bytes(&lg->graph->outputs[i].value->type);
        assert_int_equal(bytes, lg->outputs[i].at.bytes);
        outputs[i] = find_operand(m, &lg->outputs[i], iteration);
        /* An output is written while inputs are read. */
        for (uint32_t k = 0; k < lg->graph->input_count; k++) {
            const char *in = inputs[k], *out = outputs[i];
            assert_true(in + lg->inputs[k].at.bytes <= out || out + bytes <= in);
        }
    }
    if (!graph_interpret(lg->graph, inputs, outputs, &e))
        fail_msg("interpreter: %s", e.message);
    for (uint32_t i = 0; i < lg->copy_count; i++)
        memcpy(find(m, &lg->copies[i].to, 0), find(m, &lg->copies[i].from, 0), (size_t)lg->copies[i].from.bytes);
}

static void run_loop(struct memory *m)
{
    const struct recurrent_loop *l = m->loop;

    run_once(m, &l->before, 0);
    for (uint32_t d = 0; d < l->direction_count; d++)
        for (uint32_t i = 0; i < l->iterations; i++)
            run_once(m, &l->step[d], i);
    for (uint32_t i = 0; i < l->copy_count; i++)
        memcpy(find(m, &l->copies[i].to, 0), find(m, &l->copies[i].from, 0), (size_t)l->copies[i].from.bytes);
}

/** n: several steps, float32 or float64.  Results that nothing uses are not looked at. */
static void check_loop(struct node *n, const char *text, bool with_passes, bool special, uint32_t vector_bits)
{
    struct target target = fake_target;
    struct pass_options options = {.target = &target};
    struct recurrent_loop l;
    struct error e = {0};
    struct memory m = {.node = n, .loop = &l};
    OWNED(graph) struct graph *alone = graph_create();
    struct value *inputs[OP_OPERANDS_MAX] = {NULL};
    const void *data[OP_OPERANDS_MAX];
    uint32_t input_count = 0;

    target.isa.vector_bits = vector_bits;
    /* The node alone, for its bounds. */
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *v = n->inputs[i].value;
        char name[16];
        if (!v)
            continue;
        snprintf(name, sizeof name, "%u", i);
        inputs[i] = graph_add_input(alone, name, strlen(name), &v->type);
        m.operand_bytes[i] = type_bytes(&v->type);
        m.operands[i] = operand_data(&v->type, special);
        if (v->kind == VALUE_CONSTANT)
            memcpy(m.operands[i], v->constant->data, v->constant->bytes);
        data[input_count++] = m.operands[i];
    }
    struct node *copy = node_create(alone, NULL, n->op, "", n->input_count, inputs, n->options, &n->args, &e);
    assert_non_null(copy);
    for (uint32_t i = 0; i < n->result_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", i);
        assert_true(graph_add_output(alone, name, strlen(name), copy->results[i]));
        m.result_bytes[i] = type_bytes(&n->results[i]->type);
        m.results[i] = calloc(1, (size_t)m.result_bytes[i]);
    }
    struct run want = run_graph(alone, data, true);

    if (!recurrent_loop_create(n, &target, &l, &e))
        fail_msg("%s: %s", e.message, text);
    for (uint32_t d = 0; d < 1 + l.direction_count; d++) {
        struct graph *g = d ? l.step[d - 1].graph : l.before.graph;
        assert_verifies(g);
        if (with_passes && !passes_run(g, &options))
            fail_msg("%s: %s", g->error.message, text);
    }
    for (uint32_t i = 0; i < l.buffer_count; i++) {
        m.buffers[i] = malloc((size_t)l.buffers[i]);
        memset(m.buffers[i], 0xFF, (size_t)l.buffers[i]); /* NaN: nothing may be read before it is written */
    }
    m.zeros = calloc(4096, 1);
    run_loop(&m);
    for (uint32_t i = 0; i < n->result_count; i++) {
        const dtype t = n->results[i]->type.type;
        for (int64_t k = 0; value_use_count(n->results[i]) && k < type_elements(&n->results[i]->type); k++) {
            const double a = scalar_to_double(element(want.outputs[i], t, k), t);
            const double b = scalar_to_double(element(m.results[i], t, k), t);
            const bool same =
                a == b || (isnan(a) && isnan(b)) || want.bounds[i][k] == INFINITY || fabs(a - b) <= 2 * want.bounds[i][k];
            if (!same)
                fail_msg("result %u element %lld: %.9g, not %.9g: %s", i, (long long)k, b, a, text);
        }
    }
    run_free(&want);
    for (uint32_t i = 0; i < l.buffer_count; i++)
        free(m.buffers[i]);
    free(m.zeros);
    for (uint32_t i = 0; i < n->input_count; i++)
        free(m.operands[i]);
    for (uint32_t i = 0; i < n->result_count; i++)
        free(m.results[i]);
    recurrent_loop_free(&l);
}

TEST(loops_compute_the_same)
{
    uint32_t loops = 0, blocks = 0;

    for (uint32_t i = 0; i < RECURRENT_CASES; i++) {
        char text[RECURRENT_TEXT];

        recurrent_case(i, text);
        OWNED(graph) struct graph *g = parse_body(text);
        pass_expand_recurrent(g, &fake_options);
        graph_for_each (g, n) {
            if (!(op_infos[n->op].flags & OPF_RECURRENT))
                continue;
            check_loop(n, text, i % 2, i % 8 < 4, i % 4 < 2 ? 256 : 512);
            loops++;
            blocks += n->inputs[0].value->type.dims[1] == 1;
        }
    }
    assert_true(loops > 100 && blocks > 30);
}

/** What a step of a network with one row must be: one kernel that multiplies and computes the gates. */
TEST(one_row_is_one_kernel)
{
    static const char *const bodies[] = {
        "inputs { x: f32[9, 1, 4]; w: f32[1, 128, 4]; r: f32[1, 128, 32]; p: f32[1, 96]; }"
        "nodes { [h, c] = lstm(x, w, r, 9, 32, peepholeWeight=p); } outputs { h; }",
        "inputs { x: f32[9, 1, 4]; w: f32[1, 96, 4]; r: f32[1, 96, 32]; b: f32[1, 96]; }"
        "nodes { h = gru(x, w, r, 9, 32, recurrentBias=b); } outputs { h; }",
    };
    const struct target target = {.isa.vector_bits = 512, .thread_count = 1, .cache_bytes = 1 << 20};
    const struct pass_options options = {.target = &target};

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        OWNED(graph) struct graph *g = parse_body(bodies[i]);
        SCOPED(recurrent_loop_free) struct recurrent_loop l = {0};
        uint32_t kernels = 0;

        assert_done(recurrent_loop_create(g->first, &target, &l, &e));
        assert_true(l.step[0].no_library);
        assert_true(passes_run(l.step[0].graph, &options));
        for (const struct cluster *c = l.step[0].graph->first_cluster; c; c = c->next)
            kernels += c->kind == CLUSTER_KERNEL;
        assert_int_equal(kernels, 1);
    }
}

/** The size of the program does not depend on the number of steps. */
TEST(steps_cost_nothing)
{
    uint32_t nodes[2] = {0};

    for (int i = 0; i < 2; i++) {
        OWNED(graph) struct graph *g = parse_body(i ? "inputs { x: f32[5000, 2, 4]; w: f32[1, 32, 4]; r: f32[1, 32, 8]; }"
                                                      "nodes { [h, c] = lstm(x, w, r, 5000, 8); } outputs { h; }"
                                                    : "inputs { x: f32[2, 2, 4]; w: f32[1, 32, 4]; r: f32[1, 32, 8]; }"
                                                      "nodes { [h, c] = lstm(x, w, r, 2, 8); } outputs { h; }");
        SCOPED(recurrent_loop_free) struct recurrent_loop l = {0};

        assert_done(recurrent_loop_create(g->first, &fake_target, &l, &e));
        nodes[i] = l.before.graph->node_count + l.step[0].graph->node_count;
    }
    assert_int_equal(nodes[0], nodes[1]);
}
