/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Canonicalises operators that move elements.  All rules are exact because no element is computed: each says only that the same
 * elements are in the same places.  Exceptions say so (casts, padding into a convolution, rows of products).
 */
#include <string.h>

#include "ir/graph/compact.h"
#include "ir/graph/conv.h"
#include "passes/simplify/canonicalize.h"

static struct value *in0(const struct node *n)
{
    return n->inputs[0].value;
}

/* ---- nothing is moved ---- */

static bool all_ones(const uint32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] != 1)
            return false;
    return true;
}

/* Returns whether n's result is its input, element for element and dimension for dimension, which options decide. */
static bool moves_nothing(const struct node *n)
{
    const struct tensor_type *in = &in0(n)->type;

    if (!type_equal(in, &n->results[0]->type))
        return false;
    switch (n->op) {
    case OP_TRANSPOSE:
        for (uint32_t i = 0; i < in->rank; i++)
            if (NODE_OPTIONS(n, WNNTransposeOptions)->permutation[i] != i)
                return false;
        return true;
    case OP_REVERSE: {
        const WNNReverseOptions *o = n->options;
        for (size_t i = 0; i < o->axesCount; i++)
            if (in->dims[o->axes[i]] != 1)
                return false;
        return true;
    }
    case OP_RESAMPLE2D: /* nearest neighbours of every element at its own coordinates; linear would multiply infinities by 0 */
        return NODE_OPTIONS(n, WNNResample2dOptions)->mode == WNNInterpolationMode_NearestNeighbor;
    default:
        return false;
    }
}

/* ---- pairs ---- */

/* Merges transpose(transpose(x)): dimension i of the result is dimension inner[outer[i]] of x.  One that moves nothing is a
 * reshape. */
static struct value *merge_transposes(struct graph *g, struct node *n)
{
    const WNNTransposeOptions *outer = n->options;
    const struct node *inner = producer_of(in0(n), OP_TRANSPOSE);
    const struct tensor_type *to = &n->results[0]->type;
    uint32_t permutation[RANK_MAX];

    if (!permutation_moves(&in0(n)->type, outer->permutation))
        return make_reshape(g, n, n, in0(n), to->rank, to->dims);
    if (!inner)
        return NULL;
    for (uint32_t i = 0; i < to->rank; i++)
        permutation[i] = NODE_OPTIONS(inner, WNNTransposeOptions)->permutation[outer->permutation[i]];
    return make_transpose(g, n, n, in0(inner), permutation);
}

/* Merges slice(slice(x)), both of neighbouring elements: starts add up. */
static struct value *merge_slices(struct graph *g, struct node *n)
{
    const struct node *inner = producer_of(in0(n), OP_SLICE);
    const WNNSliceOptions *o = n->options;
    union op_args args = n->args;
    uint32_t starts[RANK_MAX];

    if (!inner || !all_ones(o->strides, o->stridesCount) ||
        !all_ones(NODE_OPTIONS(inner, WNNSliceOptions)->strides, NODE_OPTIONS(inner, WNNSliceOptions)->stridesCount))
        return NULL;
    struct value *x = in0(inner);
    for (uint32_t i = 0; i < x->type.rank; i++)
        starts[i] = inner->args.slice.starts[i] + n->args.slice.starts[i];
    args.slice.starts = starts;
    return make_node(g, n, OP_SLICE, n, 1, &x, n->options, &args);
}

/*
 * Merges cast(cast(x)) where the inner cast keeps every value and both types are floats or both integers: the outer one then
 * sees the same number.  (From an integer through a float the outer cast would saturate where the direct one keeps the low
 * bits.)
 */
static struct value *merge_casts(struct graph *g, struct node *n)
{
    const struct node *inner = producer_of(in0(n), OP_CAST);
    dtype from, through;

    if (!inner)
        return NULL;
    from = in0(inner)->type.type;
    through = in0(n)->type.type;
    if (dtype_is_float(from) != dtype_is_float(through))
        return NULL;
    bool keeps = dtype_size(through) > dtype_size(from) && (!dtype_is_signed(from) || dtype_is_signed(through));
    return keeps ? make_cast(g, n, n, in0(inner), n->results[0]->type.type) : NULL;
}

/* Returns the concat along the same axis that computes the input of a concat alone, or NULL. */
static const struct node *inner_concat(const struct node *n, uint32_t input)
{
    const struct node *inner = producer_of(n->inputs[input].value, OP_CONCAT);

    return inner && inner->args.concat.axis == n->args.concat.axis && value_only_use(inner->results[0]) ? inner : NULL;
}

/* Merges concat of concats along one axis, if nothing else reads the inner one: the elements lie in the same order. */
static struct value *merge_concats(struct graph *g, struct node *n)
{
    struct value **inputs, *v = NULL;
    size_t count = 0;
    struct arena a = {0};
    bool any = false;

    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct node *inner = inner_concat(n, i);
        count += inner ? inner->input_count : 1;
        any |= inner != NULL;
    }
    if (!any || count > TENSOR_COUNT_MAX)
        return NULL;
    inputs = arena_array(&a, count, sizeof *inputs);
    if (!inputs)
        return error_null_memory(&g->error);
    count = 0;
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct node *inner = inner_concat(n, i), *from = inner ? inner : n;
        for (uint32_t k = inner ? 0 : i; k < (inner ? inner->input_count : i + 1); k++)
            inputs[count++] = from->inputs[k].value;
    }
    v = make_node(g, n, OP_CONCAT, n, (uint32_t)count, inputs, NULL, &n->args);
    arena_free(&a);
    return v;
}

/* Returns what was split if n is a concat of all parts of a split, in order, along the same axis. */
static struct value *join_split(struct graph *g, struct node *n)
{
    const struct node *split = producer_of(in0(n), OP_SPLIT);

    (void)g;
    if (!split || split->result_count != n->input_count || NODE_OPTIONS(split, WNNSplitOptions)->axis != n->args.concat.axis)
        return NULL;
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i].value != split->results[i])
            return NULL;
    return in0(split);
}

/* ---- in front of a dequantizeLinear ---- */

/*
 * Returns the constant that n, an expand of one constant element, makes for dequantizeLinear alone: passes look at scales and
 * zero points element by element.  (Other expands cost nothing as index maps.)
 */
static struct value *expanded_parameter(struct graph *g, struct node *n)
{
    const struct value *v = n->results[0];
    const size_t size = dtype_size(v->type.type), bytes = (size_t)type_bytes(&v->type);

    if (in0(n)->kind != VALUE_CONSTANT || type_elements(&in0(n)->type) != 1 || v->output_uses || !v->uses)
        return NULL;
    value_for_each_use (v, u)
        if (u->node->op != OP_DEQUANTIZE_LINEAR || !u->slot)
            return NULL;
    struct constant *c = constant_create(NULL, bytes);
    for (size_t at = 0, part = size; c && at < bytes; at += part, part = at < bytes - at ? at : bytes - at)
        memcpy((char *)(uintptr_t)c->data + at, at ? c->data : in0(n)->constant->data, part); /* as many as there are */
    return graph_add_constant(g, &v->type, c);
}

/* Returns whether v is a constant, or one that was transposed, reshaped or made bytes of: constant folding makes it one. */
static bool is_moved_constant(const struct value *v)
{
    while (producer_of(v, OP_TRANSPOSE) || producer_of(v, OP_RESHAPE) || (v->producer && node_doubles_packed(v->producer)) ||
           (producer_of(v, OP_CAST) && dtype_packed_bits(in0(v->producer)->type.type)))
        v = in0(v->producer);
    return v->kind == VALUE_CONSTANT;
}

/* Returns a dequantizeLinear of constants that only n reads. */
static struct node *constant_dequantization(const struct node *n)
{
    struct node *inner = producer_of(in0(n), OP_DEQUANTIZE_LINEAR);

    if (!inner || !value_only_use(in0(n)))
        return NULL;
    for (uint32_t i = 0; i < inner->input_count; i++)
        if (!is_moved_constant(inner->inputs[i].value))
            return NULL;
    return inner;
}

/* transpose(dequantizeLinear(x)) is dequantizeLinear of transposes: elements that are narrower move, and an operator that reads
 * weights sees the dequantizeLinear at once.  Scale and zero point have a dimension for each of x's. */
static struct value *dequantize_transposed(struct graph *g, struct node *n)
{
    const struct node *inner = constant_dequantization(n);
    struct value *inputs[3];

    if (!inner)
        return NULL;
    for (uint32_t i = 0; i < 3; i++)
        inputs[i] = make_transpose(g, n, n, inner->inputs[i].value, NODE_OPTIONS(n, WNNTransposeOptions)->permutation);
    return make_node(g, n, OP_DEQUANTIZE_LINEAR, inner, 3, inputs, inner->options, &inner->args);
}

/*
 * Finds the shape of a scale after a reshape that only merges neighbouring dimensions: dimensions merge where the scale has
 * all elements of the outer ones and one of the inner ones.  Returns false if there is no such shape.
 */
static bool merge_scale_dims(const struct tensor_type *from, const struct tensor_type *to, const struct tensor_type *scale,
                             uint32_t *dims)
{
    uint32_t at = 0;

    if (scale->rank != from->rank)
        return false;
    for (uint32_t d = 0; d < to->rank; d++) {
        int64_t size = 1, own = 1;
        bool partial = false; /* a dimension was met of which the scale has less than all elements */

        while (at < from->rank && size * from->dims[at] <= to->dims[d]) {
            if (partial && scale->dims[at] > 1)
                return false;
            partial |= scale->dims[at] < from->dims[at];
            size *= from->dims[at];
            own *= scale->dims[at++];
        }
        if (size != to->dims[d])
            return false;
        dims[d] = (uint32_t)own;
    }
    return at == from->rank;
}

/* reshape(cast(packed numbers)) is a cast of the constant in the other shape, so that only a cast is between them and
 * their readers. */
static struct value *cast_reshaped(struct graph *g, struct node *n)
{
    const struct node *inner = producer_of(in0(n), OP_CAST);
    struct tensor_type type = n->results[0]->type;

    if (!inner || in0(inner)->kind != VALUE_CONSTANT || !dtype_packed_bits(in0(inner)->type.type))
        return NULL;
    type.type = in0(inner)->type.type;
    return make_cast(g, n, inner, graph_add_constant(g, &type, constant_retain(in0(inner)->constant)),
                     n->results[0]->type.type);
}

/* gather(cast(constant)) becomes cast(gather(constant)), where the constant is smaller: a table stays as it is stored. */
static struct value *cast_gathered(struct graph *g, struct node *n)
{
    const struct node *inner = producer_of(in0(n), OP_CAST);
    struct value *inputs[] = {inner ? in0(inner) : NULL, n->inputs[1].value}, *v;

    if (!inner || inputs[0]->kind != VALUE_CONSTANT || dtype_packed_bits(inputs[0]->type.type) ||
        dtype_size(inputs[0]->type.type) >= dtype_size(in0(n)->type.type))
        return NULL;
    v = make_node(g, n, OP_GATHER, n, 2, inputs, n->options, &n->args);
    return v ? make_cast(g, n, inner, v, n->results[0]->type.type) : NULL;
}

/* Float8 constants times constants are a dequantizeLinear, which contractions read as it is. */
static struct value *dequantize_scaled(struct graph *g, struct node *n)
{
    for (uint32_t i = 0; i < 2; i++) {
        const struct node *inner = producer_of(n->inputs[i].value, OP_CAST);
        struct value *scale = n->inputs[!i].value, *inputs[3] = {inner ? in0(inner) : NULL};
        uint32_t dims[RANK_MAX];

        if (!inner || inputs[0]->kind != VALUE_CONSTANT || !dtype_is_float8(inputs[0]->type.type) ||
            !is_moved_constant(scale) || scale->type.type != WNNOperandDataType_Float32 ||
            scale->type.rank > inputs[0]->type.rank || !type_same_dims(&inputs[0]->type, &n->results[0]->type))
            continue;
        struct tensor_type type = inputs[0]->type;
        const uint32_t more = type.rank - scale->type.rank;
        for (uint32_t d = 0; d < type.rank; d++)
            type.dims[d] = dims[d] = d < more ? 1 : scale->type.dims[d - more];
        inputs[1] = make_reshape(g, n, n, scale, type.rank, dims);
        inputs[2] = graph_add_scalar(g, &type, wnnNumber(0));
        return inputs[1] && inputs[2] ? make_node(g, n, OP_DEQUANTIZE_LINEAR, n, 3, inputs, NULL, NULL) : NULL;
    }
    return NULL;
}

/* reshape(dequantizeLinear(x)), likewise. */
static struct value *dequantize_reshaped(struct graph *g, struct node *n)
{
    const struct node *inner = constant_dequantization(n);
    const struct tensor_type *from = &in0(n)->type, *to = &n->results[0]->type;
    struct value *inputs[3];

    if (!inner)
        return NULL;
    for (uint32_t i = 1; i < 3; i++) {
        uint32_t dims[RANK_MAX];
        inputs[i] = inner->inputs[i].value;
        for (uint32_t d = 0; d < to->rank; d++)
            dims[d] = 1;
        if (type_elements(&inputs[i]->type) > 1 && !merge_scale_dims(from, to, &inputs[i]->type, dims))
            return NULL;
        inputs[i] = make_reshape(g, n, n, inputs[i], to->rank, dims);
    }
    inputs[0] = make_reshape(g, n, n, inner->inputs[0].value, to->rank, to->dims);
    return make_node(g, n, OP_DEQUANTIZE_LINEAR, inner, 3, inputs, inner->options, &inner->args);
}

/* ---- padding into a convolution ---- */

static bool all_finite(const struct value *v)
{
    int64_t count = type_elements(&v->type);

    if (v->kind != VALUE_CONSTANT || v->type.type != WNNOperandDataType_Float32)
        return false;
    for (int64_t i = 0; i < count; i++) {
        float f;
        memcpy(&f, (const char *)v->constant->data + (size_t)i * sizeof f, sizeof f);
        if (!isfinite(f))
            return false;
    }
    return true;
}

/*
 * Merges conv2d(pad(x)) with zeros around the two spatial dimensions: the convolution pads with zeros itself (specification,
 * conv2d: padding "additional rows and columns").  This is exact for finite filters; an infinite weight would make NaN of a
 * zero that is there and nothing of one that is not, so others stay.
 */
static struct value *merge_padding(struct graph *g, struct node *n)
{
    struct node *pad = producer_of(in0(n), OP_PAD);
    WNNConv2dOptions o = *NODE_OPTIONS(n, WNNConv2dOptions);
    struct value *inputs[3] = {NULL, n->inputs[1].value, n->inputs[2].value};
    uint32_t padding[4], height = image_axes(o.inputLayout)[AXIS_HEIGHT];

    if (!pad || NODE_OPTIONS(pad, WNNPadOptions)->mode != WNNPaddingMode_Constant || o.paddingCount != 4)
        return NULL;
    union scalar value = number_cast(NODE_OPTIONS(pad, WNNPadOptions)->value, in0(n)->type.type);
    if (scalar_to_double(value, in0(n)->type.type) != 0 || !all_finite(inputs[1]))
        return NULL;
    for (uint32_t i = 0; i < 4; i++)
        if (i != height && i != height + 1 && (pad->args.pad.beginningPadding[i] || pad->args.pad.endingPadding[i]))
            return NULL;
    for (uint32_t i = 0; i < 2; i++) {
        padding[2 * i] = o.padding[2 * i] + pad->args.pad.beginningPadding[height + i];
        padding[2 * i + 1] = o.padding[2 * i + 1] + pad->args.pad.endingPadding[height + i];
        if (padding[2 * i] < o.padding[2 * i] || padding[2 * i + 1] < o.padding[2 * i + 1])
            return NULL;
    }
    o.padding = padding;
    inputs[0] = in0(pad);
    return make_node(g, n, OP_CONV2D, n, 3, inputs, &o, NULL);
}

/* ---- rows of products ---- */

/*
 * Takes rows of operand A instead of rows of a matmul's result, so that rows which nothing reads are not computed: a language
 * model's logits are wanted of a prompt's last token alone.  The products that stay have the same factors; a kernel for fewer
 * rows may add them in another order.  With more than half of the rows little is saved.
 */
static struct value *slice_rows(struct graph *g, struct node *n)
{
    const struct node *matmul = producer_of(in0(n), OP_MATMUL);
    const struct tensor_type *whole = &in0(n)->type, *part = &n->results[0]->type;
    const WNNSliceOptions *o = n->options;
    struct value *inputs[2];

    if (!matmul || !value_only_use(in0(n)) || !all_ones(o->strides, o->stridesCount))
        return NULL;
    uint32_t row = whole->rank - 2;
    for (uint32_t i = 0; i < whole->rank; i++)
        if (i != row && part->dims[i] != whole->dims[i])
            return NULL;
    if (part->dims[row] > whole->dims[row] / 2)
        return NULL;
    inputs[0] = in0(matmul);
    inputs[1] = matmul->inputs[1].value;
    inputs[0] = make_slice(g, n, n, inputs[0], inputs[0]->type.rank - 2, n->args.slice.starts[row], part->dims[row]);
    return inputs[0] ? make_node(g, n, OP_MATMUL, matmul, 2, inputs, matmul->options, &matmul->args) : NULL;
}

/* Returns whether v is first, first + 1 ... along its last dimension, and has no other. */
static bool is_range(const struct value *v, double *first)
{
    const dtype type = v->type.type;
    const uint32_t last = v->type.rank - 1;

    if (v->kind != VALUE_CONSTANT || !v->type.rank || type_elements(&v->type) != v->type.dims[last] ||
        (type != WNNOperandDataType_Int32 && type != WNNOperandDataType_Int64))
        return false;
    for (uint32_t i = 0; i < v->type.dims[last]; i++) {
        union scalar s = {0};
        memcpy(&s, (const char *)v->constant->data + i * dtype_size(type), dtype_size(type));
        const double number = scalar_to_double(s, type);
        if (!i)
            *first = number;
        if (number != *first + i || fabs(number) > INT32_MAX)
            return false;
    }
    return true;
}

/*
 * matmul(cast(equal(x, 0 1 2 ...)), w), the embedding of one-hot rows, reads the row of w that x names, or gives zeros if x
 * names none.  A sum of one finite number times 1 and others times 0 is that number, and it is never -0, as with the addition
 * here. There are more nodes, but no matmul, and no rule leads back.
 */
static struct value *gather_hot_rows(struct graph *g, struct node *n)
{
    const struct node *cast = producer_of(in0(n), OP_CAST), *equal = cast ? producer_of(in0(cast), OP_EQUAL) : NULL;
    struct value *w = n->inputs[1].value;
    WNNGatherOptions options = WNN_GATHER_OPTIONS_INIT;
    double first;

    if (!equal || w->type.rank != 2)
        return NULL;
    const uint32_t range = is_range(equal->inputs[0].value, &first) ? 0 : 1, rank = in0(n)->type.rank;
    struct value *x = equal->inputs[1 - range].value;
    if (!is_range(equal->inputs[range].value, &first) || x->type.rank != rank || x->type.dims[rank - 1] != 1 ||
        w->type.dims[0] != in0(n)->type.dims[rank - 1] || !all_finite(w))
        return NULL;
    struct value *inside = make_binary(g, n, OP_GREATER_OR_EQUAL, x, make_number(g, x, first));
    struct value *below = make_binary(g, n, OP_LESSER_OR_EQUAL, x, make_number(g, x, first + w->type.dims[0] - 1));
    struct value *row = first != 0 ? make_binary(g, n, OP_SUB, x, make_number(g, x, first)) : x;

    inside = make_binary(g, n, OP_LOGICAL_AND, inside, below);
    row = make_reshape(g, n, n, row, rank - 1, x->type.dims);
    row = make_node(g, n, OP_GATHER, n, 2, (struct value *[]){w, row}, &options, NULL);
    row = make_binary(g, n, OP_ADD, row, make_number(g, w, 0));
    return make_node(g, n, OP_WHERE, n, 3, (struct value *[]){inside, row, make_number(g, w, 0)}, NULL, NULL);
}

/* ---- operands ---- */

/* Returns a constant of equal elements as a scalar: broadcasting gives the same elements, and kernels need no memory. */
static struct value *splat_as_scalar(struct graph *g, const struct value *v)
{
    struct tensor_type t = {.type = v->type.type};
    union scalar s;

    if (v->kind != VALUE_CONSTANT || v->type.rank == 0 || !value_is_splat(v, &s))
        return NULL;
    struct constant *c = constant_create(&s, dtype_size(t.type));
    return graph_add_constant(g, &t, c);
}

/* Returns what broadcasting makes of v's elements anyway. */
static struct value *before_broadcast(struct graph *g, struct value *v)
{
    const struct node *expand = producer_of(v, OP_EXPAND);

    return expand ? in0(expand) : splat_as_scalar(g, v);
}

bool canonicalize_operands(struct graph *g, struct node *n)
{
    bool changed = false;

    if (op_infos[n->op].infer != op_infos[OP_ADD].infer || n->input_count != 2)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        struct value *v = n->inputs[i].value, *other = n->inputs[1 - i].value, *simpler;

        /* The result's shape must come from the other operand alone: then whatever v broadcasts from will do. */
        if (!type_same_dims(&other->type, &n->results[0]->type))
            continue;
        simpler = before_broadcast(g, v);
        if (!simpler || g->error.status)
            continue;
        node_set_input(n, i, simpler);
        changed = true;
    }
    return changed;
}

struct value *canonicalize_movement(struct graph *g, struct node *n)
{
    static const struct {
        enum op op;
        struct value *(*apply)(struct graph *g, struct node *n);
    } functions[] = {
        {OP_RESHAPE, cast_reshaped},      {OP_RESHAPE, dequantize_reshaped},
        {OP_TRANSPOSE, merge_transposes}, {OP_TRANSPOSE, dequantize_transposed},
        {OP_EXPAND, expanded_parameter},  {OP_SLICE, merge_slices},
        {OP_SLICE, slice_rows},           {OP_CAST, merge_casts},
        {OP_CONCAT, join_split},          {OP_CONCAT, merge_concats},
        {OP_CONV2D, merge_padding},       {OP_GATHER, cast_gathered},
        {OP_MUL, dequantize_scaled},      {OP_MATMUL, gather_hot_rows},
    };

    struct value *v = NULL;

    if (n->input_count && in0(n) && moves_nothing(n))
        return in0(n);
    for (size_t i = 0; !v && !g->error.status && i < sizeof functions / sizeof *functions; i++)
        if (functions[i].op == n->op)
            v = functions[i].apply(g, n);
    return v;
}
