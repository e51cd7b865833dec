/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes a library cluster of every convolution and matmul whose operands are dequantized from 8 bits, where the target's
 * library multiplies such integers exactly, and faster: the dequantizations, the contraction, what follows it element by
 * element, and a quantizeLinear at the end.  The graph keeps its float nodes; that integers are multiplied is the cluster's
 * affair.
 *
 * pass_fold_constants leaves the weights of such contractions as they are (node_is_quantized_weight) until this pass has
 * decided; those that neither a cluster took nor kernels multiply as bytes (byte_operands.h) are folded here.
 *
 * The library multiplies by signed bytes.  A second operand that is computed while the graph runs, as unsigned ones, gets 128
 * taken off them and their zero point, which is the same number after all.  The first operand of a transposed
 * convolution gets 128 added likewise, because the library is fast with unsigned ones there.
 *
 * A dequantization that others read, too, gets a copy that is the cluster's own: inside it costs nothing.  Then, as in
 * pass_fuse_epilogues, nothing but the last node's result leaves a cluster, and clusters cannot form cycles.
 */
#include <string.h>

#include "passes/weights/byte_operands.h"
#include "passes/weights/compact_weights.h"

enum { NODES_MAX = 16, OPERANDS = 2 };

static bool is_dequantization_of_bytes(const struct value *v)
{
    const struct node *n = v ? v->producer : NULL;

    return n && n->op == OP_DEQUANTIZE_LINEAR && dtype_size(n->inputs[0].value->type.type) == 1 &&
           !dtype_is_float(n->inputs[0].value->type.type);
}

static bool is_contraction_of_bytes(const struct node *n)
{
    return (op_infos[n->op].flags & OPF_LIBRARY) && n->input_count > 1 && is_dequantization_of_bytes(n->inputs[0].value) &&
           is_dequantization_of_bytes(n->inputs[1].value);
}

bool node_is_quantized_weight(const struct node *n, const struct target *t)
{
    const struct value *v = n->results[0];

    if (!t || (!t->takes_quantized && !target_multiplies_bytes(t)) || !is_dequantization_of_bytes(v) || v->output_uses ||
        !v->uses)
        return false;
    value_for_each_use (v, u)
        if (u->slot != 1 || !is_contraction_of_bytes(u->node))
            return false;
    return true;
}

/* Returns the operand's dequantization as a node of the cluster alone.  Returns NULL if memory runs out. */
static struct node *own_dequantization(struct graph *g, struct node *contraction, uint32_t slot)
{
    struct value *v = contraction->inputs[slot].value;
    struct node *n = v->producer;
    struct value *inputs[] = {n->inputs[0].value, n->inputs[1].value, n->inputs[2].value};

    if (value_only_use(v))
        return n;
    v = make_node(g, contraction, OP_DEQUANTIZE_LINEAR, n, 3, inputs, n->options, &n->args);
    if (!v)
        return NULL;
    node_set_input(contraction, slot, v);
    return v->producer;
}

/*
 * Lets a contraction read an operand as bytes of the other sign, if the library takes it then: its second one as signed bytes,
 * and a transposed convolution its first one as unsigned ones.  Returns false if memory runs out.
 */
static bool flip_operand(struct graph *g, const struct target *t, struct node *contraction)
{
    const uint32_t slot = contraction->op != OP_CONV_TRANSPOSE2D;
    const dtype type = slot ? WNNOperandDataType_Uint8 : WNNOperandDataType_Int8;
    struct node *n = contraction->inputs[slot].value->producer, *nodes[OPERANDS + 1], *mark = contraction->prev;
    struct value *old = n->results[0], *inputs[3] = {n->inputs[0].value, n->inputs[1].value, n->inputs[2].value}, *v;

    if (n->cluster || inputs[0]->type.type != type || inputs[0]->kind == VALUE_CONSTANT)
        return true;
    inputs[0] = flip_sign_bits(g, contraction, inputs[0]);
    inputs[2] = inputs[0] ? flip_sign_bits(g, contraction, inputs[2]) : NULL;
    v = inputs[2] ? make_node(g, contraction, OP_DEQUANTIZE_LINEAR, n, 3, inputs, n->options, &n->args) : NULL;
    if (!v)
        return false;
    struct node *cast = v->producer->inputs[2].value->producer, *sub = cast->inputs[0].value->producer;
    if (node_is_constant(sub) && !(node_fold(g, sub) && node_fold(g, cast)))
        return false;
    node_set_input(contraction, slot, v);
    for (uint32_t i = 0; i < OPERANDS; i++)
        nodes[i] = contraction->inputs[i].value->producer;
    nodes[OPERANDS] = contraction;
    if (t->takes_quantized(t->user, nodes, OPERANDS + 1)) {
        if (!old->uses && !old->output_uses)
            node_remove(n);
        return true;
    }
    node_set_input(contraction, slot, old);
    nodes_undo(contraction, mark);
    return true;
}

/* Makes the longest cluster that begins with this contraction.  Returns false if there is none, or if memory runs out. */
static bool fuse(struct graph *g, const struct target *t, struct node *contraction)
{
    struct node *nodes[NODES_MAX] = {contraction->inputs[0].value->producer, contraction->inputs[1].value->producer,
                                     contraction};
    uint32_t count = OPERANDS + 1;

    if (nodes[0] == nodes[1] || nodes[0]->cluster || nodes[1]->cluster || !t->takes_quantized(t->user, nodes, count))
        return false;
    while (count < NODES_MAX) {
        const struct use *u = value_only_use(nodes[count - 1]->results[0]);
        struct node *next = u ? u->node : NULL;

        if (!next || next->cluster || !(op_infos[next->op].flags & OPF_ELEMENTWISE))
            break;
        nodes[count] = next;
        if (!t->takes_quantized(t->user, nodes, count + 1))
            break;
        count++;
        if (next->op == OP_QUANTIZE_LINEAR)
            break;
    }
    for (uint32_t i = 0; i < OPERANDS; i++)
        if (!(nodes[i] = own_dequantization(g, contraction, i)))
            return false;
    struct cluster *c = cluster_create(g, CLUSTER_LIBRARY);
    if (!c)
        return false;
    c->anchor = contraction;
    for (uint32_t i = 0; i < count; i++)
        nodes[i]->cluster = c;
    return true;
}

/* Returns whether kernels that multiply bytes are all that reads these weights. */
static bool is_multiplied(const struct node *n, const struct target *t)
{
    value_for_each_use (n->results[0], u)
        if (!node_multiplies_bytes(u->node, t))
            return false;
    return true;
}

/* Returns whether generated code computes a contraction of bytes faster than the library: not where that has tiles for it. */
static bool is_generated(const struct node *n, const struct pass_options *o)
{
    const struct target *t = o->target;

    return !(o->debug && o->debug->flags & DEBUG_PREFER_LIBRARY) && target_facts(t)->multiplication.bytes &&
           t->isa.byte_products == BYTES_MIXED && !(t->features && strstr(t->features, "+amx-int8")) &&
           !pass_is_skipped(o, "pack-weights") && node_is_constant(n->inputs[1].value->producer) && node_multiplies_bytes(n, t);
}

bool pass_fuse_quantized(struct graph *g, const struct pass_options *o)
{
    bool changed = false;

    if (!o->target || (!o->target->takes_quantized && !target_multiplies_bytes(o->target)))
        return false;
    graph_for_each (g, n) {
        if (n->cluster || !is_contraction_of_bytes(n) || !o->target->takes_quantized || is_generated(n, o))
            continue;
        if (flip_operand(g, o->target, n))
            changed |= fuse(g, o->target, n);
        if (g->error.status)
            return changed;
    }
    graph_for_each_safe (g, n) {
        if (n->cluster || !node_is_quantized_weight(n, o->target) || !node_is_constant(n))
            continue;
        if (!pass_is_skipped(o, "pack-weights") && (node_is_compact_weight(n, o->target) || is_multiplied(n, o->target)))
            continue;
        if (!node_fold(g, n))
            return changed;
        changed = true;
    }
    return changed;
}
