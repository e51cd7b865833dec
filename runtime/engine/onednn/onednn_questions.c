/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Answers the questions that passes ask (struct target) about nodes and would-be clusters, by describing and resolving what a
 * cluster would be.
 */
#include "ir/graph/conv.h"
#include "runtime/engine/onednn/onednn.h"

static bool takes(struct library *l, struct node *const *nodes, uint32_t count, const struct value *sum)
{
    struct dnn_cluster c;

    return dnn_describe(&l->machine, nodes, count, sum, &c) && dnn_resolve(l, &c);
}

/** Describes and resolves a node alone. */
static bool takes_one(struct library *l, const struct node *n, struct dnn_cluster *c)
{
    return dnn_describe(&l->machine, &(struct node *){(struct node *)n}, 1, NULL, c) && dnn_resolve(l, c);
}

bool library_takes_node(void *user, const struct node *n)
{
    struct dnn_cluster c;

    return takes_one(user, n, &c);
}

bool library_wants_node(void *user, const struct node *n)
{
    struct library *l = user;
    struct dnn_cluster c;
    const bool takes = takes_one(l, n, &c);

    if (!takes || !l->facts)
        return takes;
    const struct tensor_type *result = &n->results[0]->type;
    const int64_t columns = result->dims[result->rank - 1], piece = node_piece(n, columns, 1);

    return dnn_is_faster(l, &c.problem, c.weights.value->kind == VALUE_CONSTANT, piece < columns ? piece : 0);
}

bool library_takes_low_precision_input(void *user, const struct node *n, uint32_t slot)
{
    struct library *l = user;
    struct dnn_cluster c;

    return l->precision == WNNPrecision_Bf16 && !l->keep_weights && takes_one(l, n, &c) && c.problem.parts == 1 &&
           (slot == 0 || (slot == 1 && c.problem.given_late));
}

bool library_takes_low_precision(void *user, const struct node *n)
{
    struct library *l = user;
    struct dnn_cluster c;

    return l->precision != WNNPrecision_Float32 && takes_one(l, n, &c) && c.problem.parts;
}

/** Returns whether the library computes a contraction of these nodes by its gemm. */
static bool is_by_gemm(struct library *l, struct node *const *nodes, uint32_t count)
{
    struct dnn_cluster c;

    if (!dnn_describe(&l->machine, nodes, count, NULL, &c) || c.problem.kind != DNN_MATMUL || !dnn_resolve(l, &c))
        return false;
    dnnl_primitive_desc_t pd = dnn_create_pd(l, &c.problem, NULL, 0);
    bool gemm = pd && strstr(dnn_pd_name(pd), "gemm");
    if (pd)
        onednn.primitive_desc_destroy(pd);
    return gemm;
}

bool library_takes_operand(void *user, const struct node *n, uint32_t slot, struct node *const *data_movement, uint32_t count)
{
    struct node *nodes[DNN_NODES_MAX];
    struct library *l = user;

    if (!count || count >= DNN_NODES_MAX || slot > 1 || slot >= n->input_count ||
        n->inputs[slot].value != data_movement[count - 1]->results[0])
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (data_movement[i]->op != OP_TRANSPOSE && data_movement[i]->op != OP_CAST)
            return false;
    memcpy(nodes, data_movement, count * sizeof *data_movement);
    nodes[count] = (struct node *)n;
    /* Batches of matmuls that are not dense fall to its gemm, which takes up to twice as long: more than the transpose. */
    if (l->facts && l->facts->multiplication.dense_batches && n->op == OP_MATMUL && data_movement[0]->op == OP_TRANSPOSE &&
        n->results[0]->type.rank > 2 && n->results[0]->type.type == WNNOperandDataType_Float32 &&
        !is_by_gemm(l, nodes + 1, count) && is_by_gemm(l, nodes, count + 1))
        return false;
    return takes(user, nodes, count + 1, NULL);
}

bool library_takes_epilogue(void *user, struct node *const *nodes, uint32_t count, const struct node *next, uint32_t carried)
{
    struct node *all[DNN_NODES_MAX];

    if (!count || count >= DNN_NODES_MAX || carried >= next->input_count ||
        next->inputs[carried].value != nodes[count - 1]->results[0])
        return false;
    memcpy(all, nodes, count * sizeof *nodes);
    all[count] = (struct node *)next;
    return takes(user, all, count + 1, NULL);
}

bool library_takes_quantized(void *user, struct node *const *nodes, uint32_t count)
{
    struct library *l = user;
    struct dnn_cluster c;

    return count <= DNN_NODES_MAX && dnn_describe(&l->machine, nodes, count, NULL, &c) && c.quantization.weight_scale &&
           dnn_resolve(l, &c) && (!l->facts || dnn_repays_packing(l, &c.problem));
}

bool library_may_share(struct library *l, struct node *const *nodes, uint32_t count, const struct value *input)
{
    return input->kind != VALUE_CONSTANT && takes(l, nodes, count, input);
}
