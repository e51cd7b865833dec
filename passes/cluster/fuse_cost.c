/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Estimates what computing a node costs, in elements and operations (passes/cluster/fuse_cost.h).
 */
#include "passes/cluster/fuse_cost.h"

#include "ir/graph/conv.h"
#include "passes/lower/lower.h"
#include "passes/cluster/winograd.h"

enum {
    SUMMING = OPF_REDUCTION | OPF_NORMALIZATION | OPF_POOL | OPF_SCAN | OPF_LIBRARY | OPF_RECURRENT,
};

static double elements(const struct value *v)
{
    return (double)type_elements(&v->type);
}

static double results_elements(const struct node *n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n->result_count; i++)
        sum += elements(n->results[i]);
    return sum;
}

bool cost_reads_apart(const struct target *t, const struct node *n)
{
    const struct target_facts *facts = target_facts(t);
    struct reduced_space s;

    lower_reduces(n, &s);
    const int64_t inner = s.sizes[s.count - 1];
    if (n->op == OP_CONV2D && inner > 1 && inner <= KERNEL_IMMEDIATE_MAX) {
        const uint32_t *padding = conv_view(n).padding;
        if (padding[0] | padding[1] | padding[2] | padding[3])
            return true;
    }
    const double points = (double)s.points, bytes = 2 * elements(n->inputs[0].value) * sizeof(float);
    const double multiplies = points * results_elements(n) / (double)target_lanes(t);
    const bool near = bytes <= facts->cache.l2_reused_share * target_l2_bytes(t);
    const double copy = 1e3 * bytes / (near ? facts->rate.l2_bytes : facts->rate.memory_bytes);

    /* A tile's rows lie in two lines, and a panel's columns in one. */
    return 3 * points * TARGET_LINE_BYTES >= (double)(facts->cache.l1_ways * facts->cache.l1_way_bytes) &&
           multiplies * facts->multiplication.tile.apart > copy;
}

double cost_elements_read(const struct node *n, uint32_t slot)
{
    uint32_t flags = op_infos[n->op].flags;
    double in = elements(n->inputs[slot].value), out = results_elements(n);
    struct reduced_space window;

    if (n->transformed && slot == 0) /* tiles overlap; their matmuls read what the transform has stored */
        return in * winograd_reads(n);
    if (flags & (OPF_LIBRARY | OPF_RECURRENT))
        return in * elements(n->results[0]); /* many times; how many does not matter */
    if (flags & OPF_POOL)
        return lower_reduces(n, &window) ? out * (double)window.points : out;
    if (flags & OPF_RESAMPLE)
        return NODE_OPTIONS(n, WNNResample2dOptions)->mode == WNNInterpolationMode_Linear ? 4 * out : out;
    if (flags & (OPF_REDUCTION | OPF_SCAN | OPF_SCATTER))
        return in;
    if (flags & OPF_NORMALIZATION)
        return slot == 0 ? in : out;
    if (flags & OPF_GATHER)
        return slot == 0 || out < in ? out : in;
    if (n->op == OP_CONCAT || n->op == OP_SPLIT)
        return in;
    return out;
}

double cost_operations(const struct target *t, const struct node *n)
{
    const struct operation_facts *facts = &target_facts(t)->operation;
    uint32_t flags = op_infos[n->op].flags;
    double out = results_elements(n);

    if (flags & (OPF_LIBRARY | OPF_RECURRENT))
        return out * elements(n->inputs[0].value);
    if (n->op == OP_PAD && NODE_OPTIONS(n, WNNPadOptions)->mode != WNNPaddingMode_Constant)
        return out * facts->lookup;
    if (flags & OPF_MOVEMENT)
        return 0;
    if (flags & OPF_NORMALIZATION)
        return out * facts->normalization;
    if (flags & OPF_EXPENSIVE)
        return out * facts->cost[OPERATION_EXPONENTIAL];
    if (n->input_count && n->inputs[0].value)
        return cost_elements_read(n, 0);
    return out;
}

bool cost_is_high(const struct node *n)
{
    return op_infos[n->op].flags & (OPF_EXPENSIVE | SUMMING) || n->results[0]->type.type == DTYPE_INT16;
}

double cost_points(const struct node *n)
{
    double points = results_elements(n);

    if (!(op_infos[n->op].flags & (OPF_NORMALIZATION | OPF_SCAN)))
        return points;
    /* A row is one point. */
    const struct tensor_type *in = &n->inputs[0].value->type;
    if (n->op == OP_SOFTMAX)
        return points / in->dims[n->args.softmax.axis];
    if (n->op == OP_CUMULATIVE_SUM)
        return points / in->dims[n->args.cumulativeSum.axis];
    if (n->op == OP_LAYER_NORMALIZATION) {
        const WNNLayerNormalizationOptions *o = n->options;
        for (size_t i = 0; i < o->axesCount; i++)
            points /= in->dims[o->axes[i]];
        return points;
    }
    if (n->op == OP_INSTANCE_NORMALIZATION) {
        const uint32_t *axes = image_axes(NODE_OPTIONS(n, WNNInstanceNormalizationOptions)->layout);
        return (double)in->dims[axes[AXIS_BATCH]] * in->dims[axes[AXIS_CHANNEL]];
    }
    return points; /* batchNormalization is element-wise: its statistics are operands */
}
