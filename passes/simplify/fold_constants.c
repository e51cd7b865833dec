/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Replaces nodes whose inputs are all constant by the constants they compute, so that values derived from constants (weights
 * transposed, cast, dequantized, scaled) counts as constant itself.  The reference interpreter computes them, with the same
 * bits that the graph would have given there.
 *
 * The pass needs topological order, so that one walk folds whole chains.  It keeps order and shapes.  The bytes of constants
 * that nothing reads any more go at once: weights that are transposed or cast must not all be there twice.
 *
 * These are not folded:
 *   - a result beyond FOLD_FREE_BYTES that is more than FOLD_GROWTH times as large as the inputs: expand and tile cost nothing
 *     as index maps but would outgrow the model as constants (a cast to a wider type or a dequantization passes);
 *   - weights of contractions that may be computed in integers: pass_fuse_quantized decides, and folds the others;
 *   - weights that matmuls read in 4, 8 or 16 bits (docs/compact-weights.md), which their kernels unpack, nor what only
 *     transposes them or makes bytes of 4 bits;
 *   - more than FOLD_WORK elements read in one node: a matmul of two large constants would take the interpreter minutes.
 */

#include "ir/graph/node_operations.h"
#include "ir/interpret/interpret.h"
#include "passes/weights/compact_weights.h"

enum { FOLD_FREE_BYTES = 1 << 12, FOLD_GROWTH = 8 };
static const double FOLD_WORK = 1 << 30;

/* Adds up what `of` says of the inputs' types and of the results'. */
static void add_up(const struct node *n, int64_t (*of)(const struct tensor_type *t), double *in, double *out)
{
    *in = *out = 0;
    for (uint32_t i = 0; i < n->result_count; i++)
        *out += (double)of(&n->results[i]->type);
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i].value)
            *in += (double)of(&n->inputs[i].value->type);
}

/* Returns the elements that computing n reads, or about so. */
static double work_of(const struct node *n)
{
    double in, out;

    add_up(n, type_elements, &in, &out);
    /* Every element of a contraction reads a row or a window; recurrent operators multiply, too. */
    if (op_infos[n->op].flags & (OPF_LIBRARY | OPF_RECURRENT))
        return out * in;
    return in + out;
}

bool node_is_constant(const struct node *n)
{
    bool any = false;

    if (n->op == OP_LOOP) /* folding would run all its iterations while the graph is built, where one iteration is all there is
                             to compile */
        return false;
    for (uint32_t i = 0; i < n->input_count; i++) {
        if (!n->inputs[i].value)
            continue;
        if (n->inputs[i].value->kind != VALUE_CONSTANT)
            return false;
        any = true;
    }
    return any;
}

/* Returns whether the bytes of n's result are those of its input: then the constant is shared, not copied. */
static bool fold_view(struct graph *g, struct node *n, struct value **folded)
{
    const struct value *in = n->inputs[0].value;

    if (!node_is_view(n) || n->result_count != 1 || type_bytes(&n->results[0]->type) != type_bytes(&in->type))
        return false;
    folded[0] = graph_add_constant(g, &n->results[0]->type, constant_retain(in->constant));
    return true;
}

static void fold_compute(struct graph *g, struct node *n, struct arena *a, struct value **folded)
{
    const void **inputs = arena_array(a, n->input_count, sizeof *inputs);
    void **results = arena_array(a, n->result_count, sizeof *results);
    struct constant **constants = arena_array(a, n->result_count, sizeof *constants);
    bool ready = inputs && results && constants;

    if (!budget_spend_node(g->account, "folding", n, &g->error))
        return;
    for (uint32_t i = 0; ready && i < n->input_count; i++)
        inputs[i] = n->inputs[i].value ? n->inputs[i].value->constant->data : NULL;
    for (uint32_t i = 0; ready && i < n->result_count; i++) {
        constants[i] = constant_create(NULL, (size_t)type_bytes(&n->results[i]->type));
        ready = constants[i] != NULL;
        if (ready)
            results[i] = (void *)constants[i]->data; /* ours alone so far */
    }
    if (!ready)
        error_out_of_memory(&g->error);
    ready = ready && node_interpret(n, inputs, results, &g->error);
    for (uint32_t i = 0; constants && i < n->result_count; i++) {
        if (ready)
            folded[i] = graph_add_constant(g, &n->results[i]->type, constants[i]);
        else
            constant_release(constants[i]);
    }
}

bool node_fold(struct graph *g, struct node *n)
{
    struct arena a = {0};
    struct value **folded = arena_array(&a, n->result_count, sizeof *folded);
    struct value **sources = arena_array(&a, n->input_count, sizeof *sources);
    uint32_t count = n->input_count;
    bool done = folded && sources;

    if (!done)
        error_out_of_memory(&g->error);
    else if (!fold_view(g, n, folded))
        fold_compute(g, n, &a, folded);
    for (uint32_t i = 0; done && i < n->result_count; i++)
        done = folded[i] != NULL;
    for (uint32_t i = 0; done && i < n->result_count; i++)
        value_replace_uses(n->results[i], folded[i]);
    if (done) {
        for (uint32_t i = 0; i < n->input_count; i++)
            sources[i] = n->inputs[i].value;
        node_remove(n);
        for (uint32_t i = 0; i < count; i++)
            if (sources[i])
                value_drop_constant(sources[i]);
    }
    arena_free(&a);
    return done;
}

bool pass_fold_constants(struct graph *g, const struct pass_options *o)
{
    bool changed = false;

    graph_for_each_safe (g, n) {
        double in, out;

        if (n->cluster || !node_is_constant(n))
            continue;
        add_up(n, type_bytes, &in, &out);
        if ((out > FOLD_FREE_BYTES && out > FOLD_GROWTH * in) || work_of(n) > FOLD_WORK)
            continue;
        if (node_is_quantized_weight(n, o->target) && !pass_is_skipped(o, "fuse-quantized"))
            continue;
        if ((node_is_compact_weight(n, o->target) || node_moves_compact_weight(n, o->target)) &&
            !pass_is_skipped(o, "pack-weights"))
            continue;
        if (o->cancelled && o->cancelled(o->user))
            return changed; /* the driver asks again and reports it */
        if (!node_fold(g, n))
            return changed;
        changed = true;
    }
    return changed;
}
