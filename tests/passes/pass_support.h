/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What tests of passes share: a target of no machine, random inputs, and "the interpreter computes the same before and
 * after".
 */
#pragma once

#include <math.h>

#include "ir/interpret/interpret.h"
#include "passes/passes.h"
#include "support/graphs.h"
#include "support/random.h"

typedef bool pass_function(struct graph *g, const struct pass_options *o);

/* ---- a target ---- */

/** Takes contractions of float32 in any layout. */
GRAPHS_UNUSED static bool fake_takes_node(void *user, const struct node *n)
{
    return op_infos[n->op].flags & OPF_LIBRARY && n->inputs[0].value->type.type == WNNOperandDataType_Float32;
}

/** Activations, and binary operators with a scalar, something of full shape, or one number per last dimension. */
GRAPHS_UNUSED static bool fake_takes_epilogue(void *user, struct node *const *nodes, uint32_t count, const struct node *next,
                                              uint32_t carried)
{
    const struct tensor_type *t = &nodes[count - 1]->results[0]->type;

    if (next->results[0]->type.type != WNNOperandDataType_Float32 || count > 6)
        return false;
    if (next->op == OP_RELU || next->op == OP_CLAMP || next->op == OP_SIGMOID)
        return true;
    if (next->op != OP_ADD && next->op != OP_MUL)
        return false;
    const struct tensor_type *other = &next->inputs[1 - carried].value->type;
    return type_elements(other) == 1 || type_equal(other, t) || type_elements(other) == t->dims[t->rank - 1];
}

GRAPHS_UNUSED static bool fake_takes_operand(void *user, const struct node *n, uint32_t slot, struct node *const *data_movement,
                                             uint32_t count)
{
    return n->op == OP_MATMUL && slot < 2;
}

static const struct target fake_target GRAPHS_UNUSED = {
    .isa.vector_bits = 256,
    .thread_count = 2,
    .cache_bytes = 1 << 20,
    .prefers_nhwc = true,
    .takes_node = fake_takes_node,
    .takes_operand = fake_takes_operand,
    .takes_epilogue = fake_takes_epilogue,
};

static const struct pass_options fake_options GRAPHS_UNUSED = {.target = &fake_target};

/* ---- data ---- */

/** special: one float in eight is NaN, an infinity, a zero of either sign, a subnormal, or the largest number. */
GRAPHS_UNUSED static double random_float(bool special)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-45, -1e-45, 3.4028234663852886e38, -1.0, 1.0, 6.0};

    if (special && random_bits() % 8 == 0)
        return odd[random_bits() % (sizeof odd / sizeof *odd)];
    return random_unit() * 4 - 2;
}

/** A buffer of random elements; the caller frees it. */
GRAPHS_UNUSED static void *random_data(const struct tensor_type *t, bool special)
{
    int64_t n = type_elements(t);
    size_t size = dtype_size(t->type);
    char *data = malloc((size_t)n * size);

    assert_non_null(data);
    for (int64_t i = 0; i < n; i++) {
        union scalar s;
        memset(&s, 0, sizeof s);
        if (dtype_is_float(t->type))
            s = number_cast(wnnNumber(random_float(special)), t->type);
        else
            s = number_cast(wnnNumberInt64((int64_t)(random_bits() % (special ? 256 : 3))), t->type);
        memcpy(data + (size_t)i * size, &s, size);
    }
    return data;
}

/** Buffers of random elements for all inputs of the graph. */
GRAPHS_UNUSED static void **random_inputs(const struct graph *g, bool special)
{
    void **inputs = calloc(g->input_count + 1, sizeof *inputs);

    assert_non_null(inputs);
    for (uint32_t i = 0; i < g->input_count; i++)
        inputs[i] = random_data(&g->inputs[i]->type, special);
    return inputs;
}

GRAPHS_UNUSED static void inputs_free(const struct graph *g, void **inputs)
{
    for (uint32_t i = 0; i < g->input_count; i++)
        free(inputs[i]);
    free(inputs);
}

/* ---- running a graph ---- */

struct run {
    uint32_t output_count;
    struct tensor_type *types;
    void **outputs;
    double **bounds;
};

GRAPHS_UNUSED static struct run run_graph(struct graph *g, const void *const *inputs, bool bounds)
{
    struct run r = {.output_count = g->output_count};
    struct error e = {0};

    r.types = calloc(g->output_count, sizeof *r.types);
    r.outputs = calloc(g->output_count, sizeof *r.outputs);
    r.bounds = calloc(g->output_count, sizeof *r.bounds);
    for (uint32_t i = 0; i < g->output_count; i++) {
        r.types[i] = g->outputs[i].value->type;
        r.outputs[i] = malloc((size_t)type_bytes(&r.types[i]));
        r.bounds[i] = malloc((size_t)type_elements(&r.types[i]) * sizeof(double));
    }
    bool done = bounds ? graph_interpret_bounds(g, inputs, r.outputs, r.bounds, &e) : graph_interpret(g, inputs, r.outputs, &e);
    if (!done)
        fail_msg("interpreter: %s", e.message);
    return r;
}

GRAPHS_UNUSED static void run_free(struct run *r)
{
    for (uint32_t i = 0; i < r->output_count; i++) {
        free(r->outputs[i]);
        free(r->bounds[i]);
    }
    free(r->types);
    free(r->outputs);
    free(r->bounds);
}

static union scalar element(const void *data, dtype t, int64_t i)
{
    union scalar s;

    memset(&s, 0, sizeof s);
    memcpy(&s, (const char *)data + (size_t)i * dtype_size(t), dtype_size(t));
    return s;
}

/** exact: bit for bit, but any NaN is any other.  Else within the bounds that the first run's interpreter gave. */
GRAPHS_UNUSED static bool same_results(const struct run *a, const struct run *b, bool exact)
{
    assert_int_equal(a->output_count, b->output_count);
    for (uint32_t o = 0; o < a->output_count; o++) {
        dtype t = a->types[o].type;
        assert_true(type_equal(&a->types[o], &b->types[o]));
        for (int64_t i = 0; i < type_elements(&a->types[o]); i++) {
            union scalar x = element(a->outputs[o], t, i), y = element(b->outputs[o], t, i);
            double dx = scalar_to_double(x, t), dy = scalar_to_double(y, t);
            bool same = memcmp(&x, &y, sizeof x) == 0 || (dtype_is_float(t) && isnan(dx) && isnan(dy));
            if (!same && !exact)
                same = a->bounds[o][i] == INFINITY || dx == dy || fabs(dx - dy) <= 2 * a->bounds[o][i];
            if (!same) {
                print_error("output %u element %lld: %.17g before, %.17g after\n", o, (long long)i, dx, dy);
                return false;
            }
        }
    }
    return true;
}

/**
 * Runs the pass on the graph; the interpreter must compute the same before and after, and a second run must do nothing.
 * Returns whether the first run changed anything.
 */
#define check_pass(g, pass, exact) check_pass_at((g), (pass), &fake_options, (exact), true, __FILE__, __LINE__)
#define check_pass_tame(g, pass, exact) check_pass_at((g), (pass), &fake_options, (exact), false, __FILE__, __LINE__)
GRAPHS_UNUSED static bool check_pass_at(struct graph *g, pass_function *pass, const struct pass_options *o, bool exact,
                                        bool special, const char *file, int line)
{
    enum { ROUNDS = 3 };
    void **inputs[ROUNDS];
    struct run before[ROUNDS];
    char *text = print_to_string(g);
    bool changed, right = true;

    for (int k = 0; k < ROUNDS; k++) {
        inputs[k] = random_inputs(g, special);
        before[k] = run_graph(g, (const void *const *)inputs[k], !exact);
    }
    changed = pass(g, o);
    if (g->error.status) {
        print_error("%s\n", g->error.message);
        _fail(file, line);
    }
    assert_verifies_at(g, file, line);
    for (int k = 0; k < ROUNDS; k++) {
        struct run after = run_graph(g, (const void *const *)inputs[k], false);
        right = same_results(&before[k], &after, exact) && right;
        run_free(&after);
        run_free(&before[k]);
        inputs_free(g, inputs[k]);
    }
    if (!right) {
        char *now = print_to_string(g);
        print_error("the results differ; before:\n%safter:\n%s", text, now);
        free(now);
        _fail(file, line);
    }
    free(text);
    if (pass(g, o)) {
        print_error("a second run of the pass changed the graph\n");
        _fail(file, line);
    }
    return changed;
}
