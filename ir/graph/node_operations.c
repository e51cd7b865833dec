/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Estimates what the reference interpreter takes to compute a node, and charges it to a budget (ir/support/budget.h). */
#include "ir/graph/node_operations.h"

#include "ir/graph/conv.h"
#include "ir/support/text.h"

/* These are not the machine's costs (ir/target/target.h): the same file has to be refused, or taken, on every machine. */
enum {
    ELEMENT_OPERATIONS = 4,    /* to read, compute and write an element */
    EXPENSIVE_OPERATIONS = 32, /* a transcendental function */
    NODE_OPERATIONS = 256      /* whatever its size */
};

bool budget_spend_node(struct budget *b, const char *doing, const struct node *n, struct error *e)
{
    char what[384], title[320];
    double bytes = 0;

    if (!b)
        return true;
    for (uint32_t i = 0; i < n->result_count; i++)
        bytes += (double)type_bytes(&n->results[i]->type);
    snprintf(what, sizeof what, "%s %s", doing, node_title(n, title, sizeof title));
    return budget_spend_memory(b, what, node_operations(n), bytes, e);
}

/* ---- what a node takes ---- */

static double elements(const struct value *v)
{
    return v ? (double)type_elements(&v->type) : 0;
}

/** Returns the multiply-adds of a convolution, and a step for each tap of each pair of planes, which may all be padding. */
static double convolution_operations(const struct node *n)
{
    const struct conv_view c = conv_view(n);
    const struct tensor_type *filter = &n->inputs[1].value->type;
    const double images = n->inputs[0].value->type.dims[c.image[AXIS_BATCH]], weights = elements(n->inputs[1].value);

    /* Each result of a convolution, and each input of a transposed one, meets one filter. */
    return images * weights + (c.transposed ? elements(n->inputs[0].value) * weights / filter->dims[c.filter[AXIS_INPUT]]
                                            : elements(n->results[0]) * weights / filter->dims[c.filter[AXIS_OUTPUT]]);
}

/** Returns the elements under all windows that lie inside the input. */
static double pool_operations(const struct node *n)
{
    const WNNPool2dOptions *o = n->options;
    const uint32_t *dims = n->inputs[0].value->type.dims, *places = image_axes(o->layout) + AXIS_HEIGHT;
    double window = 1;

    for (int i = 0; i < 2; i++) {
        const double most = (double)dims[places[i]] / o->dilations[i] + 1;
        window *= o->windowDimensions[i] < most ? (double)o->windowDimensions[i] : most;
    }
    return elements(n->results[0]) * window;
}

/** Returns the multiplications of the gates: every step of every sequence reads the weights of its direction. */
static double recurrent_operations(const struct node *n)
{
    const struct tensor_type *input = &n->inputs[0].value->type;
    const bool sequence = n->op == OP_GRU || n->op == OP_LSTM;
    const double batch = input->dims[sequence ? 1 : 0], steps = sequence ? input->dims[0] : 1;

    return steps * batch * (elements(n->inputs[1].value) + elements(n->inputs[2].value));
}

static double loop_operations(const struct node *n)
{
    const struct loop_body *l = n->args.loop.body;
    double iteration = 0;

    if (!l->graph)
        return 0;
    graph_for_each (l->graph, inner)
        iteration += node_operations(inner);
    return iteration * l->iterations;
}

double node_operations(const struct node *n)
{
    const uint32_t flags = n->op == OP_LOOP ? 0 : op_infos[n->op].flags;
    double in = 0, out = 0, multiplications = 0;

    for (uint32_t i = 0; i < n->input_count; i++)
        in += elements(n->inputs[i].value);
    for (uint32_t i = 0; i < n->result_count; i++)
        out += elements(n->results[i]);
    if (n->op == OP_CONV2D || n->op == OP_CONV_TRANSPOSE2D)
        multiplications = convolution_operations(n);
    else if (n->op == OP_MATMUL)
        multiplications = out * n->inputs[0].value->type.dims[n->inputs[0].value->type.rank - 1];
    else if (n->op == OP_GEMM)
        multiplications = out * n->inputs[0].value->type.dims[NODE_OPTIONS(n, WNNGemmOptions)->aTranspose ? 0 : 1];
    else if (flags & OPF_POOL)
        multiplications = ELEMENT_OPERATIONS * pool_operations(n);
    else if (flags & OPF_RECURRENT)
        multiplications = recurrent_operations(n);
    else if (n->op == OP_LOOP)
        multiplications = loop_operations(n);
    return NODE_OPERATIONS + ELEMENT_OPERATIONS * in +
           (flags & OPF_EXPENSIVE ? EXPENSIVE_OPERATIONS : ELEMENT_OPERATIONS) * out + multiplications;
}
