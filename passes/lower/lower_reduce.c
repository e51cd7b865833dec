/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers everything that reduces: reductions, argMin and argMax, softmax, the normalisations over rows, pooling, cumulative
 * sums.
 *
 * All reductions of a kernel run over the same REDUCED variables.  A node fits if its own reduced space has as many points; its
 * dimensions are then read off the row-major index.  The result's element must not itself be chosen by a REDUCED variable.
 */

#include "ir/graph/conv.h"
#include "passes/lower/lower.h"

static void space_of_axes(struct reduced_space *s, const struct tensor_type *t, size_t count, const uint32_t *axes)
{
    s->axes = 0;
    s->count = 0;
    for (size_t i = 0; i < count; i++)
        s->axes |= 1u << axes[i];
    for (uint32_t d = 0; d < t->rank; d++) {
        if (s->axes >> d & 1)
            s->sizes[s->count++] = t->dims[d];
    }
}

/** Returns the most elements of a pooling window that can lie inside the input along one dimension (0: height, 1: width). */
static int64_t window_reach(const struct node *n, uint32_t i)
{
    const WNNPool2dOptions *o = n->options;
    const int64_t size = n->inputs[0].value->type.dims[image_axes(o->layout)[AXIS_HEIGHT + i]], dilation = o->dilations[i];

    return ceil_div(size, dilation);
}

/**
 * Returns whether the loop over a pooling window begins at the first element that lies inside the input: where most of the
 * window is in the padding at every position.  Elsewhere guards cost less than the index of that element.
 */
static bool window_is_clipped(const struct node *n, uint32_t i)
{
    /* This is the same on every machine, because a kernel does not depend on one. */
    const int64_t slack = target_facts_everywhere()->loop.window_slack;

    return NODE_OPTIONS(n, WNNPool2dOptions)->windowDimensions[i] / 2 >= window_reach(n, i) + slack;
}

bool lower_reduces(const struct node *n, struct reduced_space *s)
{
    const uint32_t flags = op_infos[n->op].flags;
    const struct tensor_type *t = n->input_count ? &n->inputs[0].value->type : NULL;

    *s = (struct reduced_space){.points = 1};
    if (n->op == OP_ARG_MIN || n->op == OP_ARG_MAX) {
        const uint32_t axis = n->op == OP_ARG_MIN ? n->args.argMin.axis : n->args.argMax.axis;
        space_of_axes(s, t, 1, &axis);
    } else if (flags & OPF_REDUCTION) {
        const WNNReduceOptions *o = n->options;
        space_of_axes(s, t, o->axesCount, o->axes);
    } else if (n->op == OP_SOFTMAX) {
        space_of_axes(s, t, 1, &n->args.softmax.axis);
    } else if (n->op == OP_CUMULATIVE_SUM) {
        space_of_axes(s, t, 1, &n->args.cumulativeSum.axis);
    } else if (n->op == OP_LAYER_NORMALIZATION) {
        const WNNLayerNormalizationOptions *o = n->options;
        space_of_axes(s, t, o->axesCount, o->axes);
    } else if (n->op == OP_INSTANCE_NORMALIZATION) {
        space_of_axes(s, t, 2, image_axes(NODE_OPTIONS(n, WNNInstanceNormalizationOptions)->layout) + AXIS_HEIGHT);
    } else if (flags & OPF_POOL) {
        s->count = 2;
        for (uint32_t i = 0; i < 2; i++)
            s->sizes[i] = window_is_clipped(n, i) ? window_reach(n, i) : NODE_OPTIONS(n, WNNPool2dOptions)->windowDimensions[i];
    } else if (n->op == OP_MATMUL) {
        s->count = 1;
        s->sizes[0] = t->dims[t->rank - 1];
    } else if (n->op == OP_GEMM) {
        s->count = 1;
        s->sizes[0] = t->dims[NODE_OPTIONS(n, WNNGemmOptions)->aTranspose ? 0 : 1];
    } else if (n->op == OP_CONV2D || n->op == OP_CONV_TRANSPOSE2D) {
        /* The window comes first, then the channels of one group, which lie next to each other in nhwc
         * (lower_contraction.c). */
        const struct conv_view c = conv_view(n);
        const uint32_t *filter = n->inputs[1].value->type.dims;
        s->count = 3;
        for (uint32_t i = 0; i < 2; i++) {
            s->sizes[i] = filter[c.filter[AXIS_HEIGHT + i]];
            if (c.transposed && c.dilations[i] == 1) /* every stride-th element reaches one result; else all are tried */
                s->sizes[i] = ceil_div(s->sizes[i], c.strides[i]);
        }
        s->sizes[2] = filter[c.filter[AXIS_INPUT]] / (c.transposed ? c.groups : 1);
    } else {
        return false;
    }
    for (uint32_t i = 0; i < s->count; i++)
        s->points *= s->sizes[i];
    return true;
}

bool lower_reduced_forms(struct lowering *l, const struct reduced_space *s, struct kaffine *forms)
{
    int64_t stride = 1;

    for (uint32_t i = 0; i < s->count; i++)
        forms[i] = kaffine_const(0);
    if (s->points == 1)
        return true;
    if (s->points != l->reduced_points) {
        l->unfusable = true;
        return false;
    }
    for (uint32_t i = s->count; i-- > 0;) {
        forms[i] = kernel_divmod(l->k, l->reduced, stride, i ? s->sizes[i] : 0);
        stride *= s->sizes[i];
    }
    return true;
}

/** Returns the reduction of an expression over the kernel's REDUCED variables, of which s describes the points. */
static uint32_t lower_reduce(struct lowering *l, enum kreduce kind, uint32_t a, const struct reduced_space *s)
{
    if (s->points > 1 || a == KEXPR_NONE)
        return kernel_reduce(l->k, kind, a);
    if (kind == KR_ARG_MIN || kind == KR_ARG_MAX)
        return kernel_const(l->k, KT_I64, (union scalar){.u64 = 0});
    /* Sums start at 0: that of -0 alone is 0. */
    if (kind == KR_SUM)
        return kernel_op2(l->k, K_ADD, a, kernel_const(l->k, l->k->exprs[a].type, (union scalar){.u64 = 0}));
    return a;
}

uint32_t lower_dot(struct lowering *l, uint32_t a, uint32_t b, const struct reduced_space *s)
{
    if (s->points > 1)
        return kernel_dot(l->k, a, b);
    return lower_reduce(l, KR_SUM, kernel_op2(l->k, K_MUL, a, b), s);
}

/** Checks that a reduction's result is one value per point: its index must not depend on a REDUCED variable. */
static bool check_index(struct lowering *l, const struct map *m, const struct reduced_space *s)
{
    if (s->points > 1 && map_varies(l, m))
        l->unfusable = true;
    return !l->unfusable;
}

/** Returns a number of elements: one above a small window's may be a size. */
static uint32_t count_of(struct lowering *l, int64_t n)
{
    return n > KERNEL_IMMEDIATE_MAX ? kernel_cast(l->k, KT_F32, kernel_size(l->k, n)) : kernel_f32(l->k, (float)n);
}

/* ---- reductions ---- */

/** Makes the map of the operand's element for a result's element at m: reduced dimensions go over the REDUCED variables. */
static bool reduced_map(struct lowering *l, const struct node *n, const struct map *m, const struct reduced_space *s, bool keep,
                        struct map *at)
{
    const struct tensor_type *t = &n->inputs[0].value->type;
    const struct map spread = map_spread(l, m, &n->results[0]->type);
    struct kaffine forms[RANK_MAX];
    uint32_t reduced = 0, kept = 0;

    *at = map_like(&spread, t->rank);
    if (!check_index(l, &spread, s) || !lower_reduced_forms(l, s, forms))
        return false;
    for (uint32_t d = 0; d < t->rank; d++) {
        if (s->axes >> d & 1) {
            at->forms[d] = forms[reduced++];
            kept += keep;
        } else {
            at->forms[d] = spread.forms[kept++];
        }
    }
    return true;
}

/** Returns ln of the sum of exponentials, without overflow: an infinite maximum is not subtracted, or it would give NaN. */
static uint32_t log_sum_exp(struct lowering *l, uint32_t x, const struct reduced_space *s)
{
    struct kernel *k = l->k;
    uint32_t largest = lower_reduce(l, KR_MAX, x, s);

    largest = kernel_op3(k, K_SELECT, kernel_op1(k, K_IS_INFINITE, largest), kernel_f32(k, 0), largest);
    x = lower_reduce(l, KR_SUM, kernel_op1(k, K_EXP, kernel_op2(k, K_SUB, x, largest)), s);
    return kernel_op2(k, K_ADD, kernel_op1(k, K_LOG, x), largest);
}

uint32_t lower_reduction(struct lowering *l, const struct node *n, const struct map *m)
{
    const bool argument = n->op == OP_ARG_MIN || n->op == OP_ARG_MAX;
    const bool keep =
        argument ? NODE_OPTIONS(n, WNNArgMinMaxOptions)->keepDimensions : NODE_OPTIONS(n, WNNReduceOptions)->keepDimensions;
    struct kernel *k = l->k;
    struct reduced_space s;
    struct map at;

    lower_reduces(n, &s);
    if (!reduced_map(l, n, m, &s, keep, &at))
        return KEXPR_NONE;
    uint32_t x = lower_value(l, n->inputs[0].value, &at);
    if (x == KEXPR_NONE)
        return x;
    switch (n->op) {
    case OP_ARG_MIN:
    case OP_ARG_MAX:
        x = lower_reduce(l, n->op == OP_ARG_MIN ? KR_ARG_MIN : KR_ARG_MAX, x, &s);
        return kernel_cast(k, ktype_of(n->results[0]->type.type), x);
    case OP_REDUCE_L1:
        return lower_reduce(l, KR_SUM, kernel_op1(k, K_ABS, x), &s);
    case OP_REDUCE_L2:
        return kernel_op1(k, K_SQRT, lower_dot(l, x, x, &s));
    case OP_REDUCE_LOG_SUM:
        return kernel_op1(k, K_LOG, lower_reduce(l, KR_SUM, x, &s));
    case OP_REDUCE_LOG_SUM_EXP:
        return log_sum_exp(l, x, &s);
    case OP_REDUCE_MAX:
        return lower_reduce(l, KR_MAX, x, &s);
    case OP_REDUCE_MEAN:
        return kernel_op2(k, K_DIV, lower_reduce(l, KR_SUM, x, &s), count_of(l, s.points));
    case OP_REDUCE_MIN:
        return lower_reduce(l, KR_MIN, x, &s);
    case OP_REDUCE_PRODUCT:
        return lower_reduce(l, KR_PRODUCT, x, &s);
    case OP_REDUCE_SUM:
        return lower_reduce(l, KR_SUM, x, &s);
    case OP_REDUCE_SUM_SQUARE:
        return lower_dot(l, x, x, &s);
    default:
        l->unfusable = true;
        return KEXPR_NONE;
    }
}

/* ---- softmax and the normalisations ---- */

/** Maps of the row of the element at m (over the REDUCED variables), and of the element itself, spread. */
static bool row_maps(struct lowering *l, const struct node *n, const struct map *m, const struct reduced_space *s,
                     struct map *row, struct map *element)
{
    struct kaffine forms[RANK_MAX];
    struct map kept;
    uint32_t reduced = 0;

    *element = map_spread(l, m, &n->results[0]->type);
    *row = kept = *element;
    if (!lower_reduced_forms(l, s, forms))
        return false;
    for (uint32_t d = 0; d < row->rank; d++) {
        if (s->axes >> d & 1) {
            row->forms[d] = forms[reduced++];
            kept.forms[d] = kaffine_const(0);
        }
    }
    return check_index(l, &kept, s);
}

uint32_t lower_normalization(struct lowering *l, const struct node *n, const struct map *m)
{
    const struct value *v = n->inputs[0].value;
    struct kernel *k = l->k;
    struct reduced_space s;
    struct map row, element, affine;
    uint32_t x, xs, e, es, mean, d, variance, factor;
    double epsilon;

    lower_reduces(n, &s);
    if (!row_maps(l, n, m, &s, &row, &element))
        return KEXPR_NONE;
    xs = lower_value(l, v, &row);
    x = lower_value(l, v, &element);
    if (n->op == OP_SOFTMAX) {
        uint32_t largest = lower_reduce(l, KR_MAX, xs, &s);
        es = kernel_op1(k, K_EXP, kernel_op2(k, K_SUB, xs, largest));
        e = kernel_op1(k, K_EXP, kernel_op2(k, K_SUB, x, largest));
        /* One division serves a row: the sum is 1 or more, so that its reciprocal is no subnormal number and never infinite. */
        return kernel_op2(k, K_MUL, e, kernel_op1(k, K_RECIPROCAL, lower_reduce(l, KR_SUM, es, &s)));
    }
    if (n->op == OP_LAYER_NORMALIZATION) {
        const WNNLayerNormalizationOptions *o = n->options;
        epsilon = o->epsilon;
        affine = map_like(&element, (uint32_t)o->axesCount);
        for (size_t i = 0; i < o->axesCount; i++)
            affine.forms[i] = element.forms[o->axes[i]];
    } else {
        const WNNInstanceNormalizationOptions *o = n->options;
        epsilon = o->epsilon;
        affine = map_like(&element, 1);
        affine.forms[0] = element.forms[image_axes(o->layout)[AXIS_CHANNEL]];
    }
    /* The mean comes first, then squared differences: cancellation would ruin the mean of squares. */
    mean = kernel_op2(k, K_DIV, lower_reduce(l, KR_SUM, xs, &s), count_of(l, s.points));
    d = kernel_op2(k, K_SUB, xs, mean);
    variance = kernel_op2(k, K_DIV, lower_dot(l, d, d, &s), count_of(l, s.points));
    factor =
        kernel_op1(k, K_RECIPROCAL,
                   kernel_op1(k, K_SQRT, kernel_op2(k, K_ADD, variance, lower_number(l, wnnNumber(epsilon), v->type.type))));
    e = kernel_op2(k, K_MUL, kernel_op2(k, K_SUB, x, mean), factor);
    if (n->inputs[1].value)
        e = kernel_op2(k, K_MUL, lower_value(l, n->inputs[1].value, &affine), e);
    return n->inputs[2].value ? kernel_op2(k, K_ADD, e, lower_value(l, n->inputs[2].value, &affine)) : e;
}

/* ---- pooling ---- */

static union scalar lowest(dtype t)
{
    union scalar s = {.u64 = 0};

    if (t == DTYPE_FLOAT64)
        s.f64 = -INFINITY;
    else if (dtype_is_float(t))
        s.f32 = -INFINITY;
    else if (dtype_is_signed(t))
        s.u64 = UINT64_MAX << (8 * dtype_size(t) - 1); /* the low bytes are the smallest integer */
    return s;
}

/** Returns the first element of a window at `start` that does not lie before the input, as data: ceil(-start / dilation), if it
 * is there. */
static struct kaffine first_inside(struct lowering *l, struct kaffine start, int64_t dilation, int64_t window)
{
    struct kernel *k = l->k;
    uint32_t i = kernel_index(k, kaffine_scale(k, start, -1));

    i = kernel_op2(k, K_MAX, i, kernel_const(k, KT_I64, (union scalar){.i64 = 0}));
    if (dilation > 1) {
        i = kernel_op2(k, K_ADD, i, kernel_const(k, KT_I64, (union scalar){.i64 = dilation - 1}));
        i = kernel_op2(k, K_DIV, i, kernel_const(k, KT_I64, (union scalar){.i64 = dilation}));
    }
    return i == KEXPR_NONE ? kaffine_const(0) : kernel_loaded_var(k, i, window);
}

static uint32_t int32(struct lowering *l, int64_t value)
{
    return kernel_const(l->k, KT_I32, (union scalar){.i32 = (int32_t)value});
}

static bool fits_int32(struct lowering *l, struct kaffine start, int64_t window)
{
    int64_t low, high;

    kaffine_range(l->k, start, &low, &high);
    return low >= INT32_MIN && high + window <= INT32_MAX;
}

/** Returns how many elements of a window of consecutive elements lie inside the input along a dimension, as float32.  It
 * fits_int32. */
static uint32_t count_inside(struct lowering *l, struct kaffine start, int64_t window, int64_t size)
{
    struct kernel *k = l->k;
    int64_t low, high;

    kaffine_range(k, start, &low, &high);
    if (low >= 0 && high + window <= size)
        return count_of(l, window);
    uint32_t from = kernel_cast(k, KT_I32, kernel_index(k, start));
    const uint32_t end = kernel_cast(k, KT_I32, kernel_size(k, size));
    uint32_t to = kernel_op2(k, K_MIN, kernel_op2(k, K_ADD, from, int32(l, window)), end);
    from = kernel_op2(k, K_MAX, from, int32(l, 0));
    return kernel_cast(k, KT_F32, kernel_op2(k, K_MAX, kernel_op2(k, K_SUB, to, from), int32(l, 0)));
}

/** Returns whether some window has no element inside the input along a dimension: the first or the last is in the padding, or
 * the dilation may step over all elements. */
static bool has_empty_windows(const struct node *n, uint32_t i)
{
    const WNNPool2dOptions *o = n->options;
    const uint32_t axis = image_axes(o->layout)[AXIS_HEIGHT + i];
    const int64_t size = n->inputs[0].value->type.dims[axis], out = n->results[0]->type.dims[axis], before = o->padding[2 * i];

    return o->dilations[i] > size || (o->windowDimensions[i] - 1LL) * o->dilations[i] < before ||
           (out - 1) * o->strides[i] - before >= size;
}

uint32_t lower_pool(struct lowering *l, const struct node *n, const struct map *m)
{
    const WNNPool2dOptions *o = n->options;
    const struct value *v = n->inputs[0].value;
    const uint32_t *spatial = image_axes(o->layout) + AXIS_HEIGHT;
    struct map at = map_spread(l, m, &n->results[0]->type);
    struct kernel *k = l->k;
    struct reduced_space s;
    struct kaffine window[RANK_MAX];
    struct kguard guards[4];
    uint32_t guard_count = 0, e, sum, count = kernel_f32(k, 1), inside;
    const bool empty = has_empty_windows(n, 0) || has_empty_windows(n, 1);
    const bool counts = n->op == OP_AVERAGE_POOL2D || (n->op == OP_MAX_POOL2D && empty);
    bool consecutive = true; /* the elements of a window are contiguous, and its loops begin with the first */

    lower_reduces(n, &s);
    if (!check_index(l, &at, &s) || !lower_reduced_forms(l, &s, window))
        return KEXPR_NONE;
    for (uint32_t i = 0; i < 2; i++) {
        struct kaffine start =
            kaffine_add_const(kaffine_scale(k, at.forms[spatial[i]], o->strides[i]), -(int64_t)o->padding[2 * i]);
        if (window_is_clipped(n, i)) {
            window[i] = kaffine_add(k, window[i], first_inside(l, start, o->dilations[i], o->windowDimensions[i]));
            guards[guard_count++] = (struct kguard){window[i], o->windowDimensions[i]};
        }
        consecutive =
            consecutive && o->dilations[i] == 1 && !window_is_clipped(n, i) && fits_int32(l, start, o->windowDimensions[i]);
        if (counts && consecutive)
            count = kernel_op2(k, K_MUL, count, count_inside(l, start, o->windowDimensions[i], v->type.dims[spatial[i]]));
        at.forms[spatial[i]] = kaffine_add(k, start, kaffine_scale(k, window[i], o->dilations[i]));
        guards[guard_count++] = (struct kguard){at.forms[spatial[i]], v->type.dims[spatial[i]]};
    }
    e = lower_guarded(l, v, &at, guard_count, guards, n->op == OP_MAX_POOL2D ? lowest(v->type.type) : (union scalar){.u64 = 0});
    if (e == KEXPR_NONE)
        return e;
    if (n->op == OP_L2_POOL2D)
        return kernel_op1(k, K_SQRT, lower_dot(l, e, e, &s));
    sum = lower_reduce(l, n->op == OP_MAX_POOL2D ? KR_MAX : KR_SUM, e, &s);
    if (!counts)
        return sum;
    inside = lower_condition(l, guard_count, guards);
    if (n->op == OP_AVERAGE_POOL2D && (inside == KEXPR_NONE || k->exprs[inside].op == K_CONST))
        return s.points & (s.points - 1) || s.points > KERNEL_IMMEDIATE_MAX
                   ? kernel_op2(k, K_DIV, sum, count_of(l, s.points))
                   : kernel_op2(k, K_MUL, sum, kernel_f32(k, 1 / (float)s.points)); /* exact */
    if (!consecutive)
        count = lower_reduce(l, KR_SUM, kernel_op3(k, K_SELECT, inside, kernel_f32(k, 1), kernel_f32(k, 0)), &s);
    if (n->op == OP_AVERAGE_POOL2D)
        return kernel_op2(k, K_DIV, sum, empty ? kernel_op2(k, K_MAX, count, kernel_f32(k, 1)) : count);
    /* The largest of no elements is 0. */
    return kernel_op3(k, K_SELECT, kernel_op2(k, K_EQ, count, kernel_f32(k, 0)),
                      kernel_const(k, sum == KEXPR_NONE ? KT_F32 : k->exprs[sum].type, (union scalar){.u64 = 0}), sum);
}

/* ---- cumulative sums ---- */

struct kaffine lower_scan_form(struct lowering *l, const struct node *n, struct kaffine at)
{
    const struct tensor_type *t = &n->results[0]->type;

    if (!NODE_OPTIONS(n, WNNCumulativeSumOptions)->reversed)
        return at;
    return kaffine_add_const(kaffine_scale(l->k, at, -1), (int64_t)t->dims[n->args.cumulativeSum.axis] - 1);
}

uint32_t lower_scan(struct lowering *l, const struct node *n, const struct map *m)
{
    const WNNCumulativeSumOptions *o = n->options;
    const uint32_t axis = n->args.cumulativeSum.axis;
    struct map at = map_spread(l, m, &n->results[0]->type), kept = at;
    struct reduced_space s;
    struct kaffine form;

    lower_reduces(n, &s);
    kept.forms[axis] = kaffine_const(0);
    if (!check_index(l, &kept, &s) || !lower_reduced_forms(l, &s, &form))
        return KEXPR_NONE;
    /* The running sum exists only where the loop is. */
    if (s.points > 1 && !kaffine_equal(at.forms[axis], lower_scan_form(l, n, form))) {
        l->unfusable = true;
        return KEXPR_NONE;
    }
    uint32_t x = lower_value(l, n->inputs[0].value, &at);
    if (x == KEXPR_NONE)
        return x;
    if (s.points == 1)
        return o->exclusive ? kernel_const(l->k, ktype_of(n->results[0]->type.type), (union scalar){.u64 = 0}) : x;
    return kernel_scan(l->k, x, o->exclusive);
}
