/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says what the library cannot take as it stands with what it can, where there is such a form.  The pass is required: what
 * comes later takes the graph's convolutions and matmuls as they are, to the library or to generated kernels.
 *
 *   - A float16 convolution or matmul that the library takes in float32 only becomes casts of its operands to float32, the
 *     node, and a cast of its result back.  That is what the specification's float16 operator is with float32 accumulation,
 *     rounded once.  Casts of constants are folded later, the others become part of the kernels before and after.
 *   - So does a float16 matmul by weights that are unpacked and rounded in registers, and on processors all that are not of few
 *     rows times what is computed at run time: kernels multiply float32 numbers.
 *   - alpha of a float32 gemm, if it makes the product smaller, is multiplied by an operand, as the specification's emulation
 *     does: a product that alone would overflow must not.
 *   - A gemm that the library does not take becomes the specification's own emulation: transposes, matmul, mul by alpha, add of
 *     beta * c.
 *
 * A form is built, shown to the library, and removed again if that does not take it either: a generated kernel then computes
 * the original.  (Nothing was changed then, and a second run would only repeat the question.)
 */
#include <math.h>

#include "ir/graph/compact.h"
#include "passes/weights/compact_weights.h"

/* Returns a * b + c by matmul, all float32, or NULL if the library takes no such matmul, or if memory runs out. */
static struct value *gemm_by_matmul(struct graph *g, const struct target *t, struct node *n, struct value *const *inputs)
{
    const WNNGemmOptions *o = n->options;
    static const uint32_t swapped[2] = {1, 0};
    struct value *a = inputs[0], *b = inputs[1], *c = inputs[2], *v;

    if (o->aTranspose)
        a = make_transpose(g, n, n, a, swapped);
    if (o->bTranspose)
        b = make_transpose(g, n, n, b, swapped);
    v = make_binary(g, n, OP_MATMUL, a, b);
    if (!v || !library_computes(v->producer, t))
        return NULL;
    if (o->alpha != 1)
        v = make_binary(g, n, OP_MUL, v, make_number(g, a, o->alpha));
    if (c && o->beta != 1)
        c = make_binary(g, n, OP_MUL, c, make_number(g, c, o->beta));
    if (inputs[2])
        v = make_binary(g, n, OP_ADD, v, c);
    return v;
}

/* Returns whether a kernel computes n, a matmul or convolution of float16, faster of float32 numbers: operand A is converted
 * once instead of in every tile.  Kernels of a device do so by weights that are unpacked and rounded to float16, those of a
 * processor unless there are few rows, which read a B that is computed at run time as often as its conversion does. */
static bool prefers_floats(const struct target *t, const struct node *n)
{
    const struct node *unpacking = compact_weights_of(n, t);
    const struct tensor_type *a = &n->inputs[0].value->type;
    const struct value *b = n->inputs[1].value;
    bool transposed;

    if (t->device || unpacking)
        return unpacking && unpacking->results[0]->type.type == WNNOperandDataType_Float16;
    return n->op != OP_MATMUL || compact_constant(b, &transposed) ||
           type_elements(&n->results[0]->type) * a->dims[a->rank - 1] >
               type_elements(&b->type) * target_facts(t)->contraction.few_rows;
}

/* ---- alpha ---- */

/* Returns whether a factor of v disappears into a constant: v itself, or the scale that it is dequantized with. */
static bool absorbs_factor(const struct value *v)
{
    const struct node *p = v->producer;

    return v->kind == VALUE_CONSTANT || (p && p->op == OP_DEQUANTIZE_LINEAR && p->inputs[1].value->kind == VALUE_CONSTANT);
}

static struct value *multiplied(struct graph *g, struct node *n, struct value *v, double alpha)
{
    struct node *p = v->producer;

    if (p && p->op == OP_DEQUANTIZE_LINEAR && absorbs_factor(v)) {
        struct value *inputs[3] = {p->inputs[0].value, multiplied(g, n, p->inputs[1].value, alpha), p->inputs[2].value};
        return make_node(g, n, p->op, p, p->input_count, inputs, p->options, &p->args);
    }
    return make_binary(g, n, OP_MUL, v, make_number(g, v, alpha));
}

/* Returns whether v is float16 that was cast: products of such numbers are far from float32's largest. */
static bool is_widened(const struct value *v)
{
    const struct node *p = v->producer;

    return p && p->op == OP_CAST && p->inputs[0].value->type.type == WNNOperandDataType_Float16;
}

/* Returns gemm n with alpha multiplied by the operand that absorbs it, or else by the smaller one; NULL if it stays. */
static struct value *gemm_by_scaled(struct graph *g, struct node *n)
{
    WNNGemmOptions o = *NODE_OPTIONS(n, WNNGemmOptions);
    struct value *inputs[3] = {n->inputs[0].value, n->inputs[1].value, n->inputs[2].value};
    const double alpha = o.alpha;

    if (n->results[0]->type.type != WNNOperandDataType_Float32 || !(fabs(alpha) < 1) ||
        (is_widened(inputs[0]) && is_widened(inputs[1])))
        return NULL;
    uint32_t slot = absorbs_factor(inputs[1])   ? 1
                    : absorbs_factor(inputs[0]) ? 0
                                                : type_elements(&inputs[1]->type) < type_elements(&inputs[0]->type);
    inputs[slot] = multiplied(g, n, inputs[slot], alpha);
    o.alpha = 1;
    return make_node(g, n, OP_GEMM, n, 3, inputs, &o, NULL);
}

/* ---- forms ---- */

/* Returns the result of n by float32 nodes that the library takes or kernels compute faster, or NULL if there are none. */
static struct value *find_form(struct graph *g, const struct target *t, struct node *n)
{
    struct value *inputs[OP_OPERANDS_MAX] = {NULL}, *v;
    const bool half = n->results[0]->type.type == WNNOperandDataType_Float16;

    if (!make_casts(g, n, WNNOperandDataType_Float16, WNNOperandDataType_Float32, inputs))
        return NULL;
    const struct node *casts = n->prev;
    v = half ? make_node(g, n, n->op, n, n->input_count, inputs, n->options, &n->args) : NULL;
    if (v && library_computes(v->producer, t))
        return v;
    nodes_undo(n, casts);
    v = n->op == OP_GEMM && !g->error.status ? gemm_by_matmul(g, t, n, inputs) : NULL;
    if (v || g->error.status || !half || !prefers_floats(t, n))
        return v;
    nodes_undo(n, casts);
    return make_node(g, n, n->op, n, n->input_count, inputs, n->options, &n->args);
}

bool pass_legalize(struct graph *g, const struct pass_options *o)
{
    const struct target *t = o->target;
    bool changed = false;

    graph_for_each_safe (g, n) {
        struct value *v = !n->cluster && n->op == OP_GEMM ? gemm_by_scaled(g, n) : NULL;

        if (v) {
            node_replace(n, v);
            changed = true;
        }
        if (g->error.status)
            return changed;
    }
    if (!t)
        return changed;
    graph_for_each_safe (g, n) {
        const struct node *mark = n->prev;

        if (n->cluster || !(op_infos[n->op].flags & OPF_LIBRARY))
            continue;
        const bool half = n->results[0]->type.type == WNNOperandDataType_Float16, prefers = half && prefers_floats(t, n);
        if ((half ? !prefers && !t->device : n->op != OP_GEMM) || (!prefers && !t->takes_node))
            continue;
        /* Library queries are expensive, so they are made only for nodes that another form could help. */
        if (library_computes(n, t))
            continue;
        struct value *v = find_form(g, t, n);
        if (v && v->type.type != n->results[0]->type.type)
            v = make_cast(g, n, n, v, n->results[0]->type.type);
        if (g->error.status)
            return changed;
        if (!v) {
            nodes_undo(n, mark);
            continue;
        }
        node_replace(n, v);
        changed = true;
    }
    return changed;
}
