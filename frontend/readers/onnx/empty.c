/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports nodes that read tensors without elements.
 *
 * WebNN has no such tensors, ONNX does: the cache of a decoder is empty in its first step, and so is what a model makes of it.
 * They stay constants on the host, and vanish where they meet what has elements: a concatenation is that of its other inputs,
 * an attention has no past.  Importers that know them (Concat, Slice, Reshape and other operators that move elements) see them
 * as they are; here are those that compute: their results are empty, too, or are known without computing.
 */
#include <string.h>

#include "frontend/readers/onnx/internal.h"

/** Says what the result of an operator is whose inputs have no elements. */
enum rule {
    RULE_FIRST,   /* type and shape of input 0 */
    RULE_SPREAD,  /* shape of all inputs, broadcast; the type of input 0 */
    RULE_COMPARE, /* the same, but boolean */
    RULE_SELECT,  /* the same, with the type of input 1 */
    RULE_CAST,    /* the shape of input 0 */
    RULE_MATMUL,  /* a product; a sum of no products is 0 */
    RULE_GATHER,  /* indices without elements */
    RULE_INDICES, /* the shape of input 1, which has none; the type of input 0 */
    RULE_SCATTER, /* the data as they are: there is nothing to write */
    RULE_CONCAT   /* nothing has elements: sizes add up along the axis */
};

static const struct {
    const char *names; /* between blanks */
    enum rule rule;
} rules[] = {
    {" Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Cos Cosh Erf Exp Floor Log Neg Not Reciprocal Round Sign Sin Sinh"
     " Sqrt Tan Tanh Celu Clip Elu Gelu HardSigmoid HardSwish LeakyRelu Mish Relu Selu Shrink Sigmoid Softplus Softsign Swish"
     " ThresholdedRelu Softmax LogSoftmax CumSum LayerNormalization RMSNormalization BatchNormalization"
     " InstanceNormalization GroupNormalization MeanVarianceNormalization LpNormalization Hardmax RotaryEmbedding Dropout ",
     RULE_FIRST},
    {" Add And BitShift Div Max Mean Min Mod Mul Or Pow PRelu Sub Sum Xor ", RULE_SPREAD},
    {" Equal Greater GreaterOrEqual Less LessOrEqual IsInf IsNaN ", RULE_COMPARE},
    {" Where ", RULE_SELECT},
    {" Cast CastLike ", RULE_CAST},
    {" MatMul ", RULE_MATMUL},
    {" Gather ", RULE_GATHER},
    {" GatherElements ", RULE_INDICES},
    {" Scatter ScatterElements ScatterND ", RULE_SCATTER},
    {" Concat ", RULE_CONCAT},
};

/** Lists inputs that mean the same when they have no elements as when they are left out: caches in which nothing is yet. */
static const struct {
    const char *domain, *name;
    uint8_t first, last;
} pasts[] = {
    {"", "Attention", 4, 5},
    {"com.microsoft", "Attention", 4, 4},
    {"com.microsoft", "MultiHeadAttention", 6, 7},
    {"com.microsoft", "GroupQueryAttention", 3, 4},
    {"com.microsoft", "DecoderMaskedMultiHeadAttention", 5, 6},
};

static bool is_empty(const struct onnx_node *n, size_t i)
{
    return i < n->input_count && n->inputs[i] && !n->inputs[i]->refusal && !onnx_elements(n->inputs[i]);
}

static bool find_rule(const char *name, enum rule *rule)
{
    const size_t length = strlen(name);

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (const char *at = rules[i].names; (at = strstr(at, name)); at += length)
            if (at[-1] == ' ' && at[length] == ' ') {
                *rule = rules[i].rule;
                return true;
            }
    return false;
}

/** Widens dims by another shape, `skip` of whose last dimensions do not count.  Returns false if they do not fit. */
static bool spread(size_t *rank, int64_t *dims, const struct onnx_value *v, size_t skip)
{
    const size_t count = v->rank - skip;
    int64_t wide[ONNX_RANK_MAX];
    const size_t wide_rank = count > *rank ? count : *rank;

    for (size_t d = 0; d < wide_rank; d++) {
        const int64_t a = d + *rank < wide_rank ? 1 : dims[d + *rank - wide_rank];
        const int64_t b = d + count < wide_rank ? 1 : v->dims[d + count - wide_rank];

        if (a != b && a != 1 && b != 1)
            return false;
        wide[d] = a == 1 ? b : a;
    }
    memcpy(dims, wide, wide_rank * sizeof *dims);
    *rank = wide_rank;
    return true;
}

static bool output_zeros(struct onnx_node *n, enum onnx_type type, size_t rank, const int64_t *dims)
{
    return onnx_output_constant(n, 0, type, rank, dims) != NULL;
}

static bool import_spread(struct onnx_node *n, enum onnx_type type)
{
    int64_t dims[ONNX_RANK_MAX];
    size_t rank = 0;

    for (size_t i = 0; i < n->input_count; i++)
        if (n->inputs[i] && !spread(&rank, dims, n->inputs[i], 0))
            return onnx_refuse(n, "the shapes of its inputs cannot be broadcast to each other");
    return output_zeros(n, type, rank, dims);
}

static bool import_cast(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *like = onnx_input(n, 1);

    return output_zeros(n, like ? like->type : (enum onnx_type)onnx_int(n, "to", ONNX_UNDEFINED), v->rank, v->dims);
}

/** [.., m, k] x [.., k, n]: nothing is computed if the result is empty, and all sums are 0 if k is 0. */
static bool import_matmul(struct onnx_node *n)
{
    const struct onnx_value *a = n->inputs[0], *b = n->inputs[1];
    int64_t dims[ONNX_RANK_MAX];
    size_t rank = 0;

    if (!a->rank || !b->rank || a->dims[a->rank - 1] != b->dims[b->rank > 1 ? b->rank - 2 : 0])
        return onnx_refuse(n, "the inner sizes of its inputs differ");
    if (!spread(&rank, dims, a, a->rank > 1 ? 2 : 1) || !spread(&rank, dims, b, b->rank > 1 ? 2 : 1) ||
        rank + 2 > ONNX_RANK_MAX)
        return onnx_refuse(n, "the shapes of its inputs cannot be broadcast to each other");
    if (a->rank > 1)
        dims[rank++] = a->dims[a->rank - 2];
    if (b->rank > 1)
        dims[rank++] = b->dims[b->rank - 1];
    return output_zeros(n, a->type, rank, dims);
}

static bool import_gather(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *at = n->inputs[1];
    int64_t dims[2 * ONNX_RANK_MAX];
    size_t rank = 0;
    uint32_t axis;

    if (!onnx_axis(n, onnx_int(n, "axis", 0), v->rank, &axis))
        return false;
    if (v->rank - 1 + at->rank > ONNX_RANK_MAX)
        return onnx_refuse(n, "the result would have more than %d dimensions", ONNX_RANK_MAX);
    if (onnx_elements(at) && !v->dims[axis])
        return onnx_refuse(n, "it reads from a dimension that has no elements");
    for (size_t d = 0; d < axis; d++)
        dims[rank++] = v->dims[d];
    for (size_t d = 0; d < at->rank; d++)
        dims[rank++] = at->dims[d];
    for (size_t d = axis + 1; d < v->rank; d++)
        dims[rank++] = v->dims[d];
    return output_zeros(n, v->type, rank, dims);
}

static bool import_concat(struct onnx_node *n)
{
    const struct onnx_value *first = n->inputs[0];
    int64_t dims[ONNX_RANK_MAX];
    uint32_t axis;

    if (!onnx_axis(n, onnx_int(n, "axis", 1), first->rank, &axis))
        return false;
    memcpy(dims, first->dims, sizeof dims);
    for (size_t i = 1; i < n->input_count; i++) {
        if (!n->inputs[i] || n->inputs[i]->rank != first->rank || n->inputs[i]->type != first->type)
            return onnx_refuse(n, "input %zu differs from input 0 in rank or type", i);
        dims[axis] = onnx_sum(n, "the size of the result", dims[axis], n->inputs[i]->dims[axis]);
    }
    return !n->refused && output_zeros(n, first->type, first->rank, dims);
}

static void drop_pasts(struct onnx_node *n, const char *domain)
{
    for (size_t p = 0; p < sizeof pasts / sizeof *pasts; p++) {
        if (strcmp(pasts[p].domain, domain) != 0 || strcmp(pasts[p].name, n->row->name) != 0)
            continue;
        for (size_t i = pasts[p].first; i <= pasts[p].last; i++)
            if (is_empty(n, i))
                n->inputs[i] = NULL;
    }
    while (n->input_count && !n->inputs[n->input_count - 1])
        n->input_count--;
}

/** Returns whether a rule applies to these inputs; the importer's own code is as good where it does not. */
static bool applies(const struct onnx_node *n, enum rule rule)
{
    bool all = true;

    for (size_t i = 0; i < n->input_count; i++) {
        if (n->inputs[i] && n->inputs[i]->refusal)
            return false;
        all = all && is_empty(n, i);
    }
    switch (rule) {
    case RULE_CONCAT:
        return all;
    case RULE_SCATTER:
    case RULE_INDICES:
        return is_empty(n, 1);
    case RULE_FIRST:
    case RULE_CAST:
        return is_empty(n, 0);
    default:
        return true;
    }
}

static bool import_rule(struct onnx_node *n, enum rule rule)
{
    const struct onnx_value *first = n->inputs[0];

    switch (rule) {
    case RULE_FIRST:
        return output_zeros(n, first->type, first->rank, first->dims);
    case RULE_SPREAD:
        return import_spread(n, first->type);
    case RULE_COMPARE:
        return import_spread(n, ONNX_BOOL);
    case RULE_SELECT:
        return import_spread(n, n->inputs[1]->type);
    case RULE_CAST:
        return import_cast(n);
    case RULE_MATMUL:
        return import_matmul(n);
    case RULE_GATHER:
        return import_gather(n);
    case RULE_INDICES:
        return output_zeros(n, first->type, n->inputs[1]->rank, n->inputs[1]->dims);
    case RULE_SCATTER:
        return onnx_output_value(n, 0, n->inputs[0]);
    case RULE_CONCAT:
        return import_concat(n);
    }
    return false;
}

bool onnx_import_empty(struct onnx_node *n, bool *handled)
{
    const char *domain = n->row->domain ? n->row->domain : "";
    enum rule rule;
    size_t empty = 0;

    for (size_t i = 0; i < n->input_count; i++)
        empty += is_empty(n, i);
    *handled = false;
    if (!empty)
        return true;
    drop_pasts(n, domain);
    if (*domain || !find_rule(n->row->name, &rule) || !applies(n, rule))
        return true;
    *handled = true;
    n->attributes_read = UINT64_MAX; /* whatever they say, nothing is computed */
    return import_rule(n, rule);
}
