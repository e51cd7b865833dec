/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Answers questions and makes small constructions that several passes share.
 */
#include "passes/support.h"

#include <string.h>

/* ---- questions about bytes ---- */

bool permutation_moves(const struct tensor_type *t, const uint32_t *permutation)
{
    int64_t last = -1;

    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[permutation[i]] == 1)
            continue;
        if ((int64_t)permutation[i] < last)
            return true;
        last = permutation[i];
    }
    return false;
}

/* Returns whether the elements [start, start + size) of dimension `axis`, with all others whole, lie together. */
static bool outermost(const struct tensor_type *t, uint32_t axis)
{
    for (uint32_t i = 0; i < axis; i++)
        if (t->dims[i] != 1)
            return false;
    return true;
}

static bool slice_is_view(const struct node *n)
{
    const struct tensor_type *in = &n->inputs[0].value->type, *out = &n->results[0]->type;
    const WNNSliceOptions *o = n->options;
    uint32_t axis = 0;

    while (axis < in->rank && in->dims[axis] == 1)
        axis++;
    for (uint32_t i = axis + 1; i < in->rank; i++)
        if (out->dims[i] != in->dims[i])
            return false;
    /* One element is contiguous at any stride. */
    return axis >= in->rank || out->dims[axis] == 1 || o->stridesCount <= axis || o->strides[axis] == 1;
}

bool node_is_view(const struct node *n)
{
    const struct tensor_type *in, *out;

    if (n->input_count == 0 || !n->inputs[0].value)
        return false;
    in = &n->inputs[0].value->type;
    out = &n->results[0]->type;
    if (n->op == OP_SPLIT)
        return n->result_count == 1 || outermost(in, NODE_OPTIONS(n, WNNSplitOptions)->axis);
    if (n->op == OP_SLICE)
        return slice_is_view(n);
    if (n->op == OP_TRANSPOSE)
        return !permutation_moves(in, NODE_OPTIONS(n, WNNTransposeOptions)->permutation);
    if (op_infos[n->op].flags & OPF_RESHAPES)
        return true;
    if (n->op == OP_CAST)
        return out->type == in->type;
    if (n->op == OP_CONCAT)
        return n->input_count == 1;
    if (n->op == OP_EXPAND || n->op == OP_TILE || n->op == OP_PAD)
        return type_elements(in) == type_elements(out);
    return false;
}

int64_t node_view_offset(const struct node *n, uint32_t result)
{
    const struct tensor_type *in = &n->inputs[0].value->type;
    int64_t offset = 0;

    if (n->op == OP_SPLIT) {
        for (uint32_t i = 0; i < result; i++)
            offset += type_bytes(&n->results[i]->type);
        return offset;
    }
    if (n->op == OP_SLICE) {
        int64_t strides[RANK_MAX];
        type_strides(in, strides);
        for (uint32_t i = 0; i < in->rank; i++)
            offset += strides[i] * n->args.slice.starts[i];
        return offset * (int64_t)dtype_size(in->type);
    }
    return 0;
}

bool concat_is_contiguous(const struct node *n)
{
    return n->op == OP_CONCAT && outermost(&n->results[0]->type, n->args.concat.axis);
}

/* ---- constants ---- */

void value_drop_constant(struct value *v)
{
    if (v->kind == VALUE_CONSTANT && v->constant && !v->uses && !v->output_uses && !v->kept) {
        constant_release(v->constant);
        v->constant = NULL;
    }
}

void value_drop_unread(struct value *v)
{
    struct value *inputs[OP_OPERANDS_MAX];
    struct node *n = v->producer;

    if (!n)
        value_drop_constant(v);
    if (!n || v->uses || v->output_uses)
        return;
    const uint32_t count = n->input_count;
    for (uint32_t i = 0; i < count; i++)
        inputs[i] = n->inputs[i].value;
    node_remove(n);
    v->producer = NULL; /* one that reads it twice comes back */
    for (uint32_t i = 0; i < count; i++)
        if (inputs[i])
            value_drop_unread(inputs[i]);
}

bool value_is_splat(const struct value *v, union scalar *s)
{
    if (v->kind != VALUE_CONSTANT || !v->constant)
        return false;
    size_t size = dtype_size(v->type.type);
    const char *data = v->constant->data;
    /* All elements are equal when each equals its neighbour. */
    if (v->constant->bytes > size && memcmp(data, data + size, v->constant->bytes - size) != 0)
        return false;
    memset(s, 0, sizeof *s);
    memcpy(s, data, size);
    return true;
}

bool value_splat_number(const struct value *v, double *number)
{
    union scalar s;

    if (!value_is_splat(v, &s))
        return false;
    *number = scalar_to_double(s, v->type.type);
    return true;
}

bool value_is_integer(const struct value *v)
{
    return dtype_is_public(v->type.type) && !dtype_is_float(v->type.type);
}

bool value_counts(const struct value *v)
{
    while (value_is_integer(v) && dtype_size(v->type.type) >= sizeof(int32_t) && v->producer &&
           (v->producer->op == OP_CAST || v->producer->op == OP_RESHAPE))
        v = v->producer->inputs[0].value;
    if (!value_is_integer(v) || dtype_packed_bits(v->type.type) || v->kind != VALUE_CONSTANT || !v->constant ||
        !v->constant->data)
        return v->counts;
    const size_t size = dtype_size(v->type.type);
    for (size_t i = 0; i < v->constant->bytes / size; i++) {
        union scalar s = {.u64 = 0};

        memcpy(&s, (const char *)v->constant->data + i * size, size); /* lent bytes lie anywhere */
        if (scalar_to_double(s, v->type.type) != (double)i)
            return false;
    }
    return true;
}

/* ---- constructions ---- */

struct value *make_node(struct graph *g, struct node *before, enum op op, const struct node *origin, uint32_t input_count,
                        struct value *const *inputs, const void *options, const union op_args *args)
{
    for (uint32_t i = 0; i < input_count && i < op_positional_inputs(op); i++)
        if (!inputs[i])
            return NULL; /* an earlier construction failed: g->error says so */
    struct node *n = node_create(g, before, op, origin ? origin->label : "", input_count, inputs, options, args, &g->error);
    return n ? n->results[0] : NULL;
}

struct value *make_transpose(struct graph *g, struct node *before, const struct node *origin, struct value *v,
                             const uint32_t *permutation)
{
    WNNTransposeOptions options = WNN_TRANSPOSE_OPTIONS_INIT;

    if (!v)
        return NULL;
    options.permutationCount = v->type.rank;
    options.permutation = permutation;
    return make_node(g, before, OP_TRANSPOSE, origin, 1, &v, &options, NULL);
}

struct value *make_reshape(struct graph *g, struct node *before, const struct node *origin, struct value *v, uint32_t rank,
                           const uint32_t *dims)
{
    union op_args args;

    memset(&args, 0, sizeof args);
    args.reshape.newShapeCount = rank;
    args.reshape.newShape = dims;
    return make_node(g, before, OP_RESHAPE, origin, 1, &v, NULL, &args);
}

struct value *make_slice(struct graph *g, struct node *before, const struct node *origin, struct value *v, uint32_t axis,
                         uint32_t start, uint32_t size)
{
    uint32_t starts[RANK_MAX] = {0}, sizes[RANK_MAX];
    union op_args args;

    if (!v || (start == 0 && size == v->type.dims[axis]))
        return v;
    memset(&args, 0, sizeof args);
    memcpy(sizes, v->type.dims, sizeof sizes);
    starts[axis] = start;
    sizes[axis] = size;
    args.slice.startsCount = args.slice.sizesCount = v->type.rank;
    args.slice.starts = starts;
    args.slice.sizes = sizes;
    return make_node(g, before, OP_SLICE, origin, 1, &v, NULL, &args);
}

struct value *make_cast(struct graph *g, struct node *before, const struct node *origin, struct value *v, dtype type)
{
    union op_args args;

    memset(&args, 0, sizeof args);
    args.cast.dataType = type;
    return make_node(g, before, OP_CAST, origin, 1, &v, NULL, &args);
}

bool make_casts(struct graph *g, struct node *n, dtype from, dtype to, struct value **inputs)
{
    for (uint32_t i = 0; i < n->input_count; i++) {
        struct value *v = n->inputs[i].value;

        inputs[i] = v && (!from || v->type.type == from) ? make_cast(g, n, n, v, to) : v;
        if (v && !inputs[i])
            return false;
    }
    return true;
}

struct node *node_widen(struct graph *g, struct node *n, dtype from, dtype to)
{
    struct value *inputs[OP_OPERANDS_MAX] = {NULL};

    if (!make_casts(g, n, from, to, inputs))
        return NULL;
    struct node *wide = node_create(g, n, n->op, n->label, n->input_count, inputs, n->options, &n->args, &g->error);
    if (!wide)
        return NULL;
    for (uint32_t i = 0; i < n->result_count; i++) {
        struct value *v = make_cast(g, n, n, wide->results[i], n->results[i]->type.type);
        if (!v)
            return NULL;
        value_replace_uses(n->results[i], v);
    }
    node_remove(n);
    return wide;
}

struct value *make_number(struct graph *g, const struct value *v, double number)
{
    return v ? graph_add_scalar(g, &(struct tensor_type){.type = v->type.type}, wnnNumber(number)) : NULL;
}

struct value *make_binary(struct graph *g, struct node *n, enum op op, struct value *a, struct value *b)
{
    return a && b ? make_node(g, n, op, n, 2, (struct value *[]){a, b}, NULL, NULL) : NULL;
}

void node_replace(struct node *n, struct value *v)
{
    value_replace_uses(n->results[0], v);
    node_remove(n);
}
