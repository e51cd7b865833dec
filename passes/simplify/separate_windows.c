/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes two poolings of one: the largest element of a window of several rows and columns is the largest of its columns' largest
 * elements.  That takes as many steps as a window has rows and columns together, where the window itself takes their product.
 * The result is the same bit for bit, because a maximum does not depend on the order: NaN wins, and -0 is less than +0.
 *
 * It takes maxPool2d of images in nchw with strides of 1, where neighbouring windows share most of their elements.  The columns
 * come first.  In nchw they need not know where a row ends: with the rows of an image as one long row, a column's elements
 * lie a row's length apart, and padding above and below is padding before and after.  So vectors are as full as they get,
 * however short the rows are.  The pass runs once layouts are chosen.
 */
#include "passes/support.h"

/* Says what becomes of a pooling. */
struct separation {
    int64_t rows, columns;    /* of the input */
    int64_t height;           /* of the result */
    uint32_t padding[4];      /* of the columns' pooling, as its options have them */
    uint32_t row_dilation[2]; /* the same */
};

/* Returns whether a number fits into an option and leaves room for sums of a few of them. */
static bool is_small(int64_t number)
{
    return number <= INT32_MAX / 4;
}

/* Finds out what becomes of n.  Returns false if it stays as it is. */
static bool separate(const struct node *n, struct separation *s)
{
    const WNNPool2dOptions *o = n->options;
    const struct loop_facts *facts = &target_facts_everywhere()->loop;

    if (n->op != OP_MAX_POOL2D || n->cluster || o->layout != WNNInputOperandLayout_Nchw || o->strides[0] != 1 ||
        o->strides[1] != 1)
        return false;
    const uint32_t *in = n->inputs[0].value->type.dims, *out = n->results[0]->type.dims;
    const int64_t high = o->windowDimensions[0], wide = o->windowDimensions[1];
    /* A column's largest element is found for each column of the input, and each is written and read once more. */
    if (!is_small(high) || !is_small(wide) || !is_small(o->padding[0]) || !is_small(o->padding[1]) ||
        !is_small(o->dilations[0]) || (high * wide - wide) * out[3] < (high + facts->window_separate) * in[3])
        return false;
    s->rows = in[2];
    s->columns = in[3];
    s->height = out[2];
    const int64_t before = o->padding[0] * s->columns, after = o->padding[1] * s->columns;
    const int64_t dilation = o->dilations[0] * s->columns, length = s->rows * s->columns + before + after;
    if (!is_small(before) || !is_small(after) || !is_small(dilation) || !is_small(length))
        return false;
    s->padding[0] = s->padding[1] = 0;
    s->padding[2] = (uint32_t)before;
    s->padding[3] = (uint32_t)after;
    s->row_dilation[0] = 1;
    s->row_dilation[1] = (uint32_t)dilation;
    return true;
}

/* Returns the largest elements of windows of so many elements of a row of x. */
static struct value *pool(struct graph *g, struct node *n, struct value *x, uint32_t window, const uint32_t *padding,
                          const uint32_t *dilations)
{
    WNNPool2dOptions o = *NODE_OPTIONS(n, WNNPool2dOptions);

    o.windowDimensions = (uint32_t[]){1, window};
    o.padding = padding;
    o.dilations = dilations;
    o.outputSizes = NULL;
    o.outputSizesCount = 0;
    return make_node(g, n, n->op, n, 1, &x, &o, NULL);
}

/* Returns the largest elements of the columns, [batch, channels, height, columns]. */
static struct value *pool_columns(struct graph *g, struct node *n, const struct separation *s)
{
    struct value *x = n->inputs[0].value;
    const uint32_t *dims = x->type.dims;

    x = make_reshape(g, n, n, x, 4, (uint32_t[]){dims[0], dims[1], 1, (uint32_t)(s->rows * s->columns)});
    x = pool(g, n, x, NODE_OPTIONS(n, WNNPool2dOptions)->windowDimensions[0], s->padding, s->row_dilation);
    return make_reshape(g, n, n, x, 4, (uint32_t[]){dims[0], dims[1], (uint32_t)s->height, (uint32_t)s->columns});
}

/* Returns the largest elements of rows of x: n's result, if x has the columns' largest elements. */
static struct value *pool_rows(struct graph *g, struct node *n, struct value *x)
{
    const WNNPool2dOptions *o = n->options;

    return pool(g, n, x, o->windowDimensions[1], (uint32_t[]){0, 0, o->padding[2], o->padding[3]},
                (uint32_t[]){1, o->dilations[1]});
}

bool pass_separate_windows(struct graph *g, const struct pass_options *o)
{
    bool changed = false;

    (void)o;
    graph_for_each_safe (g, n) {
        struct separation s;

        if (!separate(n, &s))
            continue;
        struct value *v = pool_rows(g, n, pool_columns(g, n, &s));
        if (!v)
            return changed;
        node_replace(n, v);
        changed = true;
    }
    return changed;
}
