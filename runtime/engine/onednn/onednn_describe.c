/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Describes graph nodes in the library's terms: dimensions in its order, strides for WebNN's layouts, batch dimensions folded,
 * element-wise successors as post-ops.  No library object is made here.
 *
 * Some things are never said, because oneDNN 2.6 computes them wrongly, slowly or inaccurately (measured;
 * tests/runtime/engine/onednn/test_library_posts.c):
 *   - binary post-ops that broadcast anything but one number or one number per channel give wrong values on nhwc
 *     convolutions, and reference speed elsewhere;
 *   - elu (expm1 is lost to cancellation near 0), gelu (erf by a polynomial: 2000 ULP in the left tail), softplus, exp (NaN
 *     becomes infinity) and sigmoid (subnormal results become 0) are inaccurate;
 *   - in binary max and min the second operand wins against NaN, and convolutions clip at +0 if a bound is -0;
 *   - of two eltwise post-ops of one kind with different parameters both get the first one's;
 *   - below AVX-512, and in kernels for GPUs, sums start at a bias or a sum of a convolution, so that every product is rounded
 *     at the addend's size, where an add of its own is to be rounded once (and batchNormalization's shift, which passes made a
 *     bias, likewise);
 *   - on a device nothing can be done to an operand before the primitive runs, as gemm's beta and a c of one number per row
 *     want it;
 *   - with paddings, strides, dilations and windows above a bound creating the primitive takes time and memory by their size.
 * relu and clamp (max and min with one number became clamp) turn NaN into the bound, which cpu/run.c mends.
 *
 * Contractions of dequantized integers are described as those of the floats first; onednn_quantize.c then changes the
 * descriptions.
 */
#include "ir/graph/conv.h"
#include "runtime/engine/onednn/onednn.h"

/* The largest padding, stride and dilation, and elements of a window, passed to the library; networks have a few dozen. */
enum { STEPS_MAX = 4096, WINDOW_MAX = 1 << 16 };

int64_t dnn_elements(const struct dnn_layout *l)
{
    int64_t n = 1;

    for (int i = 0; i < l->rank; i++)
        n *= l->dims[i];
    return n;
}

double dnn_flops(const struct dnn_problem *p)
{
    const struct dnn_layout *w = &p->weights;
    double weights = (double)dnn_elements(w), src = (double)dnn_elements(&p->src), dst = (double)dnn_elements(&p->dst);
    int grouped = w->rank == 5;

    switch ((enum dnn_kind)p->kind) {
    case DNN_CONVOLUTION: /* each output element: one filter */
        return 2 * dst * weights / (double)(w->dims[grouped] * (grouped ? w->dims[0] : 1));
    case DNN_TRANSPOSED_CONVOLUTION: /* each input element: one filter */
        return 2 * src * weights / (double)(w->dims[grouped + 1] * (grouped ? w->dims[0] : 1));
    case DNN_MATMUL:
        break;
    }
    return 2 * dst * (double)p->src.dims[p->src.rank - 1];
}

static void layout_add(struct dnn_layout *l, int64_t dim, int64_t stride)
{
    l->dims[l->rank] = dim;
    l->strides[l->rank++] = stride;
}

struct dnn_layout dnn_single_layout(int rank, int dim, int64_t size)
{
    struct dnn_layout l = {0};

    for (int i = 0; i < rank; i++)
        layout_add(&l, i == dim ? size : 1, i <= dim ? size : 1);
    if (dim >= 0)
        l.strides[dim] = 1;
    return l;
}

/* ---- operands and how they are read ---- */

/** Holds a value and the strides with which it is read, in the order of the dimensions that the anchor sees. */
struct view {
    const struct value *value;
    uint32_t rank;
    uint32_t dims[RANK_MAX];
    int64_t strides[RANK_MAX];
};

/**
 * Returns whether a node is a cast to float32 of a bfloat16 value in memory: library_takes_low_precision_input let it
 * become that.
 */
static bool is_widening(const struct node *n)
{
    return n->op == OP_CAST && n->inputs[0].value->type.type == DTYPE_BFLOAT16 &&
           n->results[0]->type.type == WNNOperandDataType_Float32;
}

/** Returns input `slot` of the anchor, seen through the transposes and widening casts among nodes[0..before-1]. */
static struct view operand_view(struct node *const *nodes, uint32_t before, const struct node *anchor, uint32_t slot)
{
    const struct value *v = anchor->inputs[slot].value;
    struct view w = {.value = v, .rank = v->type.rank};
    uint32_t order[RANK_MAX];

    memcpy(w.dims, v->type.dims, sizeof w.dims);
    for (uint32_t i = 0; i < w.rank; i++)
        order[i] = i;
    for (uint32_t k = before; k-- > 0;) {
        const WNNTransposeOptions *o = nodes[k]->options;

        if (nodes[k]->results[0] != w.value)
            continue;
        for (uint32_t i = 0; i < w.rank && nodes[k]->op == OP_TRANSPOSE; i++)
            order[i] = o->permutation[order[i]];
        w.value = nodes[k]->inputs[0].value;
    }
    int64_t strides[RANK_MAX];
    type_strides(&w.value->type, strides);
    for (uint32_t i = 0; i < w.rank; i++)
        w.strides[i] = strides[order[i]];
    return w;
}

/* ---- convolutions ---- */

static struct dnn_layout layout_image(const struct tensor_type *t, const uint32_t *axes)
{
    struct dnn_layout l = {0};
    int64_t strides[RANK_MAX];

    type_strides(t, strides);
    for (uint32_t i = 0; i < 4; i++)
        layout_add(&l, t->dims[axes[i]], strides[axes[i]]);
    return l;
}

/**
 * Returns a filter's layout: [groups,] output channels of a group, input channels of a group, height, width.  The filter's
 * shape has all groups in one of the two channel dimensions, and grouped_out says which.
 */
static struct dnn_layout layout_filter(const struct tensor_type *t, const uint32_t *axes, int64_t groups, bool grouped_out)
{
    const uint32_t output = axes[AXIS_OUTPUT], input = axes[AXIS_INPUT];
    struct dnn_layout l = {.free = 1};
    int64_t strides[RANK_MAX], out = t->dims[output], in = t->dims[input];

    type_strides(t, strides);
    if (grouped_out)
        out /= groups;
    else
        in /= groups;
    if (groups > 1)
        layout_add(&l, groups, grouped_out ? out * strides[output] : in * strides[input]);
    layout_add(&l, out, strides[output]);
    layout_add(&l, in, strides[input]);
    for (uint32_t i = AXIS_HEIGHT; i <= AXIS_WIDTH; i++)
        layout_add(&l, t->dims[axes[i]], strides[axes[i]]);
    return l;
}

/** Returns whether the primitive would begin its sums with a bias or a residual instead of adding it at the end. */
static bool begins_with_addend(const struct dnn_cluster *c)
{
    return c->machine->begins_with_addend && c->problem.kind == DNN_CONVOLUTION && c->problem.src_type == dnnl_f32;
}

static void swap(int64_t *a, int64_t *b)
{
    const int64_t c = *a;

    *a = *b;
    *b = c;
}

/** Swaps height and width; the new height is 1. */
static void layout_swap_spatial(struct dnn_layout *l)
{
    const int width = l->rank - 1, height = width - 1;

    swap(&l->dims[height], &l->dims[width]);
    swap(&l->strides[height], &l->strides[width]);
    l->strides[height] = l->dims[width] * l->strides[width]; /* as where nothing was swapped: the library looks at it */
}

/**
 * A 1-D convolution is one whose height or width is 1, whichever the graph's author chose.  The library divides its work by
 * rows, and takes three times as long if those are single pixels, so it gets all of them with a height of 1.
 */
static void describe_conv_1d(struct dnn_problem *p)
{
    const int64_t kernel = p->weights.dims[p->weights.rank - 1];

    if (p->src.dims[2] == 1 || p->src.dims[3] != 1 || kernel != 1 || p->dst.dims[3] != 1 || p->low[1] || p->high[1])
        return;
    layout_swap_spatial(&p->src);
    layout_swap_spatial(&p->weights);
    layout_swap_spatial(&p->dst);
    swap(&p->strides[0], &p->strides[1]);
    swap(&p->dilations[0], &p->dilations[1]);
    swap(&p->low[0], &p->low[1]);
    swap(&p->high[0], &p->high[1]);
}

/**
 * Returns whether the library is not to be asked at all: it generates code and tables for every step into the padding, which
 * takes seconds beyond 10^5 and does not end for 10^9, and tables for a window's elements (10^7: a minute and 3 GB).
 */
static bool is_extreme(const struct dnn_problem *p)
{
    for (int i = 0; i < 2; i++)
        if (p->low[i] > STEPS_MAX || p->high[i] > STEPS_MAX || p->strides[i] > STEPS_MAX || p->dilations[i] > STEPS_MAX)
            return true;
    return p->weights.dims[p->weights.rank - 2] * p->weights.dims[p->weights.rank - 1] > WINDOW_MAX;
}

static bool describe_convolution(const struct node *n, struct dnn_cluster *c)
{
    const struct conv_view o = conv_view(n);
    struct dnn_problem *p = &c->problem;
    const struct value *bias = n->inputs[2].value;

    p->kind = o.transposed ? DNN_TRANSPOSED_CONVOLUTION : DNN_CONVOLUTION;
    p->src = layout_image(&n->inputs[0].value->type, o.image);
    p->weights = layout_filter(&n->inputs[1].value->type, o.filter, o.groups, !o.transposed);
    p->dst = layout_image(&n->results[0]->type, o.image);
    for (int i = 0; i < 2; i++) {
        int64_t kernel = (p->weights.dims[p->weights.rank - 2 + i] - 1) * o.dilations[i] + 1;

        p->strides[i] = o.strides[i];
        p->dilations[i] = (int64_t)o.dilations[i] - 1;
        p->low[i] = o.padding[2 * i];
        /* The end padding of a transposed convolution follows from the output's size: it contains outputPadding and
         * outputSizes, and may be negative.  Of a convolution, the library checks it against the size likewise. */
        p->high[i] = o.transposed ? (p->src.dims[2 + i] - 1) * p->strides[i] + kernel - p->low[i] - p->dst.dims[2 + i]
                                  : (int64_t)o.padding[2 * i + 1];
    }
    describe_conv_1d(p);
    if (bias && begins_with_addend(c)) {
        dnn_add_binary(c, dnnl_binary_add, dnn_single_layout(p->dst.rank, 1, p->dst.dims[1]), (struct dnn_operand){bias, 1, 1});
    } else if (bias) {
        p->bias = dnn_single_layout(1, 0, p->dst.dims[1]);
        c->bias = (struct dnn_operand){bias, 1, 1};
    }
    p->given_late = n->inputs[1].value->kind != VALUE_CONSTANT;
    c->src = (struct dnn_operand){n->inputs[0].value, 1, 1};
    c->weights = (struct dnn_operand){n->inputs[1].value, 1, 1};
    return !is_extreme(p);
}

/* ---- matmuls ---- */

/** Describes one batch dimension with the strides of all three matrices, which are 0 where it is broadcast. */
struct batch {
    int64_t size, a, b, c;
};

/** Makes neighbouring batch dimensions one where all matrices allow it, and drops those of size 1.  Returns how many are left.
 */
static int batch_merge(struct batch *x, int count)
{
    int n = 0;

    for (int i = 0; i < count; i++) {
        struct batch *outer = n ? &x[n - 1] : NULL;

        if (x[i].size == 1)
            continue;
        if (outer && outer->a == x[i].a * x[i].size && outer->b == x[i].b * x[i].size && outer->c == x[i].c * x[i].size)
            *outer = (struct batch){outer->size * x[i].size, x[i].a, x[i].b, x[i].c};
        else
            x[n++] = x[i];
    }
    return n;
}

/** The stride of a broadcast dimension is never used; it must only be a possible one. */
static void add_batch(struct dnn_layout *l, int64_t size, int64_t stride, int64_t matrix)
{
    layout_add(l, stride ? size : 1, stride ? stride : matrix);
}

/** Says which of the operands lie in memory as bfloat16. */
static void describe_low_precision_operands(struct dnn_cluster *c)
{
    const struct value *const values[] = {[DNN_SOURCE] = c->src.value, [DNN_WEIGHTS] = c->weights.value};

    for (int i = 0; i < 2; i++)
        c->problem.given_low_precision |= (values[i]->type.type == DTYPE_BFLOAT16) << i;
}

static bool describe_matmul(struct view a, struct view b, const struct tensor_type *out, struct dnn_cluster *c)
{
    struct dnn_problem *p = &c->problem;
    struct batch batches[RANK_MAX];
    int64_t out_strides[RANK_MAX];
    int batch_count = (int)out->rank - 2;
    int64_t m = a.dims[a.rank - 2], k = a.dims[a.rank - 1], n = b.dims[b.rank - 1];
    int64_t a_row = a.strides[a.rank - 2], c_row = n;

    type_strides(out, out_strides);
    for (int i = 0; i < batch_count; i++) {
        int ia = i - (int)(out->rank - a.rank), ib = i - (int)(out->rank - b.rank);

        batches[i] = (struct batch){out->dims[i], ia >= 0 && a.dims[ia] > 1 ? a.strides[ia] : 0,
                                    ib >= 0 && b.dims[ib] > 1 ? b.strides[ib] : 0, out_strides[i]};
    }
    batch_count = batch_merge(batches, batch_count);
    /* Where the second matrix is the same for all, the innermost batch dimension is more rows of the first: one large matmul
     * instead of many small ones. */
    while (batch_count) {
        struct batch *x = &batches[batch_count - 1];

        if (x->b || !x->a || x->c != c_row * m || (m > 1 && x->a != a_row * m))
            break;
        a_row = m == 1 ? x->a : a_row;
        m *= x->size;
        batch_count--;
    }
    p->kind = DNN_MATMUL;
    for (int i = 0; i < batch_count; i++) {
        add_batch(&p->src, batches[i].size, batches[i].a, m * k);
        add_batch(&p->weights, batches[i].size, batches[i].b, k * n);
        add_batch(&p->dst, batches[i].size, batches[i].c, m * n);
    }
    layout_add(&p->src, m, a_row);
    layout_add(&p->src, k, a.strides[a.rank - 1]);
    layout_add(&p->weights, k, b.strides[b.rank - 2]);
    layout_add(&p->weights, n, b.strides[b.rank - 1]);
    layout_add(&p->dst, m, c_row);
    layout_add(&p->dst, n, 1);
    p->weights.free = b.value->kind == VALUE_CONSTANT;
    p->given_late = !p->weights.free;
    c->src = (struct dnn_operand){a.value, 1, 1};
    c->weights = (struct dnn_operand){b.value, 1, 1};
    return true;
}

/* ---- post-ops ---- */

static bool add_post(struct dnn_cluster *c, struct dnn_post post, struct dnn_operand operand)
{
    struct dnn_problem *p = &c->problem;

    if (p->post_count == DNN_POSTS_MAX)
        return false;
    c->posts[p->post_count] = operand;
    p->posts[p->post_count++] = post;
    return true;
}

bool dnn_add_eltwise(struct dnn_cluster *c, dnnl_alg_kind_t algorithm, double alpha, double beta)
{
    struct dnn_post post = {
        .kind = DNN_POST_ELTWISE, .algorithm = (int32_t)algorithm, .alpha = (float)alpha, .beta = (float)beta};

    if (isnan(alpha) || isnan(beta))
        return false;
    for (int32_t i = 0; i < c->problem.post_count; i++) {
        const struct dnn_post *x = &c->problem.posts[i];

        if (x->kind == DNN_POST_ELTWISE && x->algorithm == post.algorithm && (x->alpha != post.alpha || x->beta != post.beta))
            return false;
    }
    return add_post(c, post, (struct dnn_operand){NULL, 1, 1});
}

bool dnn_add_binary(struct dnn_cluster *c, dnnl_alg_kind_t algorithm, struct dnn_layout layout, struct dnn_operand operand)
{
    return add_post(c, (struct dnn_post){.kind = DNN_POST_BINARY, .algorithm = (int32_t)algorithm, .operand = layout}, operand);
}

bool dnn_add_number(struct dnn_cluster *c, dnnl_alg_kind_t algorithm, float number)
{
    return dnn_add_binary(c, algorithm, dnn_single_layout(c->problem.dst.rank, -1, 1), (struct dnn_operand){NULL, number, 1});
}

enum span { SPAN_NUMBER, SPAN_CHANNEL, SPAN_FULL, SPAN_OTHER };

/**
 * Returns which of the output's dimensions an operand that is broadcast to it has.  `channel` is the output's dimension of that
 * name.
 */
static enum span operand_span(const struct tensor_type *t, const struct tensor_type *out, uint32_t channel)
{
    bool any = false, all = true, only_channel = true;

    if (t->rank > out->rank)
        return SPAN_OTHER;
    for (uint32_t i = 0; i < out->rank; i++) {
        bool has = i + t->rank >= out->rank && t->dims[i + t->rank - out->rank] > 1;

        if (out->dims[i] == 1)
            continue;
        any |= has;
        all &= has;
        only_channel &= has == (i == channel);
    }
    return !any ? SPAN_NUMBER : only_channel ? SPAN_CHANNEL : all ? SPAN_FULL : SPAN_OTHER;
}

static struct dnn_layout layout_of_span(const struct dnn_problem *p, enum span s)
{
    int channel = dnn_channel(p);

    if (s == SPAN_FULL)
        return p->dst;
    return dnn_single_layout(p->dst.rank, s == SPAN_CHANNEL ? channel : -1, p->dst.dims[channel]);
}

static uint32_t graph_channel(const struct node *anchor)
{
    switch ((int)anchor->op) {
    case OP_CONV2D:
    case OP_CONV_TRANSPOSE2D:
        return conv_view(anchor).image[AXIS_CHANNEL];
    default:
        return anchor->results[0]->type.rank - 1;
    }
}

static float number_of(const struct value *constant)
{
    float f;

    memcpy(&f, constant->constant->data, sizeof f); /* lent bytes may be unaligned */
    return f;
}

/** Adds a bias-like operand: as the primitive's own bias where it can be, else as a post-op. */
static bool add_addend(struct dnn_cluster *c, struct dnn_operand x, enum span s)
{
    struct dnn_problem *p = &c->problem;
    int channel = dnn_channel(p);
    bool integers = p->src_type != dnnl_f32, last = begins_with_addend(c);

    if (s == SPAN_OTHER)
        return false;
    /* In integers a bias of the primitive would be divided by the output scale first; a separate operator is exact. */
    if (!integers && !last && !p->post_count && !p->bias.rank &&
        (s == SPAN_CHANNEL || (s == SPAN_NUMBER && p->dst.dims[channel] == 1))) {
        p->bias = p->kind == DNN_MATMUL ? layout_of_span(p, SPAN_CHANNEL) : dnn_single_layout(1, 0, p->dst.dims[channel]);
        c->bias = x;
        return true;
    }
    if (s == SPAN_NUMBER && x.value->kind == VALUE_CONSTANT &&
        dnn_add_eltwise(c, dnnl_eltwise_linear, 1, number_of(x.value) * x.scale))
        return true;
    if (x.value == c->sum && s == SPAN_FULL && !last && !p->post_count)
        return add_post(c, (struct dnn_post){.kind = DNN_POST_SUM}, x);
    return dnn_add_binary(c, dnnl_binary_add, layout_of_span(p, s), x);
}

static bool describe_gemm(struct node *const *nodes, uint32_t before, const struct node *n, struct dnn_cluster *c)
{
    const WNNGemmOptions *o = n->options;
    struct view v[2] = {operand_view(nodes, before, n, 0), operand_view(nodes, before, n, 1)};
    const bool transposed[2] = {o->aTranspose, o->bTranspose};
    const struct tensor_type *out = &n->results[0]->type;
    const struct value *addend = n->inputs[2].value;
    float beta = (float)o->beta;

    for (int i = 0; i < 2; i++)
        if (transposed[i])
            v[i] = (struct view){v[i].value, 2, {v[i].dims[1], v[i].dims[0]}, {v[i].strides[1], v[i].strides[0]}};
    if (!isfinite(o->alpha) || !isfinite(beta) || !describe_matmul(v[0], v[1], out, c))
        return false;
    /* beta is -0, so that the contraction keeps the sign of a zero. */
    if (o->alpha != 1 && !dnn_add_eltwise(c, dnnl_eltwise_linear, o->alpha, -0.0))
        return false;
    if (!addend)
        return true;
    enum span s = operand_span(&addend->type, out, 1);
    if (!c->machine->prepares_operands && (s == SPAN_OTHER || (beta != 1 && addend->kind != VALUE_CONSTANT)))
        return false;
    if (s == SPAN_OTHER) { /* [m, 1] */
        struct dnn_operand rows = {addend, beta, c->problem.dst.dims[1]};

        if (c->problem.post_count) /* a sum must come first: below AVX-512 another place makes the whole a reference */
            return dnn_add_binary(c, dnnl_binary_add, c->problem.dst, rows);
        c->fill = rows;
        return add_post(c, (struct dnn_post){.kind = DNN_POST_SUM}, (struct dnn_operand){NULL, 1, 1});
    }
    if (addend == c->sum && beta != 1)
        return false;
    return add_addend(c, (struct dnn_operand){addend, beta, 1}, s);
}

/** Operators whose post-op has no parameters of theirs. */
static const struct {
    enum op op;
    dnnl_alg_kind_t algorithm;
    double alpha, beta;
} plain_posts[] = {
    {OP_MUL, dnnl_binary_mul, 0, 0},
    {OP_SUB, dnnl_binary_sub, 0, 0},
    {OP_DIV, dnnl_binary_div, 0, 0},
    {OP_RELU, dnnl_eltwise_clip, 0, INFINITY}, /* eltwise_relu makes -0 of negative numbers in convolutions by gemm */
    {OP_NEG, dnnl_eltwise_linear, -1, -0.0},
    {OP_ABS, dnnl_eltwise_abs, 0, 0},
    {OP_SQRT, dnnl_eltwise_sqrt, 0, 0},
    {OP_TANH, dnnl_eltwise_tanh, 0, 0},
    {OP_HARD_SWISH, dnnl_eltwise_hardswish, 1.0 / 6, 0.5}, /* 3.x asks for them */
};

/** Describes one element-wise node after the anchor, whose slot `carried` has the result so far. */
static bool describe_epilogue(const struct node *n, uint32_t carried, struct dnn_cluster *c)
{
    const struct dnn_operand other = {n->input_count == 2 ? n->inputs[!carried].value : NULL, 1, 1};
    enum span s = SPAN_OTHER;

    if (!type_equal(&n->results[0]->type, &c->output->type))
        return false;
    if (other.value) {
        if (other.value->type.type != WNNOperandDataType_Float32)
            return false;
        s = operand_span(&other.value->type, &c->output->type, graph_channel(c->anchor));
        if (s == SPAN_OTHER)
            return false;
    }
    switch ((int)n->op) {
    case OP_ADD:
        return add_addend(c, other, s);
    case OP_CLAMP: {
        const WNNClampOptions *o = n->options;
        const float low = (float)number_to_double(o->minValue), high = (float)number_to_double(o->maxValue);

        return !is_negative_zero(low) && !is_negative_zero(high) && dnn_add_eltwise(c, dnnl_eltwise_clip, low, high);
    }
    case OP_LEAKY_RELU: {
        double alpha = NODE_OPTIONS(n, WNNLeakyReluOptions)->alpha;

        /* With 0 the library would take it for a relu, which loses NaN. */
        return isfinite(alpha) && (float)alpha != 0 && dnn_add_eltwise(c, dnnl_eltwise_relu, alpha, 0);
    }
    case OP_LINEAR: {
        const WNNLinearOptions *o = n->options;

        return isfinite(o->alpha) && isfinite(o->beta) && dnn_add_eltwise(c, dnnl_eltwise_linear, o->alpha, o->beta);
    }
    }
    for (size_t i = 0; i < sizeof plain_posts / sizeof *plain_posts; i++)
        if (plain_posts[i].op == n->op)
            return !other.value ? dnn_add_eltwise(c, plain_posts[i].algorithm, plain_posts[i].alpha, plain_posts[i].beta)
                                : (n->op == OP_MUL || !carried) &&
                                      dnn_add_binary(c, plain_posts[i].algorithm, layout_of_span(&c->problem, s), other);
    return false;
}

/* ---- clusters ---- */

static bool describe_anchor(struct node *const *nodes, uint32_t before, const struct node *n, struct dnn_cluster *c)
{
    switch ((int)n->op) {
    case OP_CONV2D:
    case OP_CONV_TRANSPOSE2D:
        if (!describe_convolution(n, c))
            return false;
        for (uint32_t i = 0; i < before; i++) {
            if (!is_widening(nodes[i]))
                return false;
            if (c->src.value == nodes[i]->results[0])
                c->src.value = nodes[i]->inputs[0].value;
            else if (c->weights.value == nodes[i]->results[0])
                c->weights.value = nodes[i]->inputs[0].value;
        }
        return true;
    case OP_MATMUL:
        return describe_matmul(operand_view(nodes, before, n, 0), operand_view(nodes, before, n, 1), &n->results[0]->type, c);
    case OP_GEMM:
        return describe_gemm(nodes, before, n, c);
    default:
        return false;
    }
}

/** Returns whether the residual in the output's memory is summed, once, and read nowhere else: its bytes are gone
 * then. */
static bool sums_only(const struct dnn_cluster *c)
{
    uint32_t sums = 0;

    for (int32_t i = 0; i < c->problem.post_count; i++) {
        if (c->posts[i].value != c->sum)
            continue;
        if (c->problem.posts[i].kind != DNN_POST_SUM)
            return false;
        sums++;
    }
    return sums == 1 && c->src.value != c->sum && c->weights.value != c->sum && c->bias.value != c->sum &&
           c->fill.value != c->sum;
}

/** Describes a cast of the result to bfloat16.  The operand of a sum in place would lie in it as float32. */
static bool describe_low_precision_result(const struct node *n, struct dnn_cluster *c)
{
    for (int32_t i = 0; i < c->problem.post_count; i++)
        if (c->problem.posts[i].kind == DNN_POST_SUM)
            return false;
    if (c->problem.dst_type != dnnl_f32)
        return false;
    c->problem.dst_type = dnnl_bf16;
    c->output = n->results[0];
    return true;
}

bool dnn_describe(const struct dnn_machine *m, struct node *const *nodes, uint32_t count, const struct value *sum,
                  struct dnn_cluster *out)
{
    uint32_t anchor = 0, dequantizations = 0;

    memset(out, 0, sizeof *out);
    out->machine = m;
    out->sum = sum;
    while (anchor < count &&
           (nodes[anchor]->op == OP_TRANSPOSE || nodes[anchor]->op == OP_DEQUANTIZE_LINEAR || is_widening(nodes[anchor])))
        dequantizations += nodes[anchor++]->op == OP_DEQUANTIZE_LINEAR;
    if (anchor == count || nodes[anchor]->result_count != 1 ||
        nodes[anchor]->results[0]->type.type != WNNOperandDataType_Float32)
        return false;
    out->anchor = nodes[anchor];
    out->output = nodes[anchor]->results[0];
    out->problem.src_type = out->problem.weights_type = out->problem.dst_type = dnnl_f32;
    if (dequantizations) {
        out->problem.src_type = dnnl_u8; /* or s8, but no float */
        if (dequantizations != anchor || !describe_anchor(nodes, 0, nodes[anchor], out) ||
            !dnn_describe_dequantized(nodes, anchor, out))
            return false;
    } else {
        if (!describe_anchor(nodes, anchor, nodes[anchor], out))
            return false;
        describe_low_precision_operands(out);
    }
    for (uint32_t i = anchor + 1; i < count; i++) {
        const struct node *n = nodes[i];
        uint32_t carried = 0;

        if (n->op == OP_QUANTIZE_LINEAR) {
            if (i + 1 != count || !dnn_describe_quantize(n, out))
                return false;
            continue;
        }
        if (n->op == OP_CAST) { /* a bfloat16 result in memory */
            if (i + 1 != count || n->results[0]->type.type != DTYPE_BFLOAT16 || n->inputs[0].value != out->output ||
                !describe_low_precision_result(n, out))
                return false;
            continue;
        }
        if (n->result_count != 1 || n->input_count < 1 || n->input_count > 2)
            return false;
        while (carried < n->input_count && n->inputs[carried].value != out->output)
            carried++;
        if (carried == n->input_count || (n->input_count == 2 && n->inputs[!carried].value == out->output))
            return false;
        if (!describe_epilogue(n, carried, out))
            return false;
        out->output = n->results[0];
    }
    return !sum || sums_only(out);
}
