/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes the contractions: conv2d, convTranspose2d, gemm and matmul.  Everything is brought to nchw and oihw on the way in,
 * so that each contraction is written once.  Padding adds nothing to a sum; where a weight next to it is infinite or NaN, an
 * implementation that adds zero times the weight is right, too.
 */
#include "ir/interpret/interpret.h"

#include "ir/graph/conv.h"

/** A contraction is linear in each operand: `contract` adds that of two operands to out, which starts as zeros. */
struct linear {
    void (*contract)(const void *sizes, const double *a, const double *b, double *out);
    const void *sizes;
    int64_t a_count, b_count, out_count, terms; /* terms: products per sum */
};

/** Holds the sums and, if bounds are wanted, what interpret_bound_sum needs for them. */
struct sums {
    double *exact, *near, *far; /* near and far are NULL without bounds */
    bool certain;
};

static bool linear_run(struct interpretation *t, const struct linear *l, const double *a, const double *a_bounds,
                       const double *b, const double *b_bounds, struct sums *s)
{
    struct interpret_magnitudes x, y;

    s->near = s->far = NULL;
    s->certain = !a_bounds && !b_bounds;
    s->exact = interpret_memory(t, l->out_count, sizeof(double));
    if (!s->exact)
        return false;
    l->contract(l->sizes, a, b, s->exact);
    if (!t->bounds)
        return true;
    if (!interpret_magnitudes(t, a, a_bounds, l->a_count, &x) || !interpret_magnitudes(t, b, b_bounds, l->b_count, &y))
        return false;
    s->near = s->far = interpret_memory(t, l->out_count, sizeof(double));
    if (!s->near)
        return false;
    l->contract(l->sizes, x.near, y.near, s->near);
    if (s->certain)
        return true;
    s->far = interpret_memory(t, l->out_count, sizeof(double));
    if (!s->far)
        return false;
    l->contract(l->sizes, x.far, y.far, s->far);
    return true;
}

/* ---- convolutions ---- */

struct convolution {
    bool transposed;
    int64_t batches, groups;
    int64_t in_channels, out_channels; /* per group */
    int64_t in[2], out[2], filter[2];  /* height and width */
    int64_t padding[2], strides[2], dilations[2];
};

/** Returns the weights of one pair of channels, counted within their group. */
static int64_t weights_of(const struct convolution *c, int64_t group, int64_t out, int64_t in)
{
    const int64_t taps = c->filter[0] * c->filter[1];

    return (c->transposed ? (out * c->groups + group) * c->in_channels + in
                          : (group * c->out_channels + out) * c->in_channels + in) *
           taps;
}

/** Adds one weight: every output of a convolution reads what lies `shift` from stride times its place, and every input of a
 * transposed one is added to what lies there. */
static void add_weight(const struct convolution *c, const int64_t shift[2], double weight, const double *in, double *out)
{
    const bool up = c->transposed;
    const int64_t *large = up ? c->out : c->in, *small = up ? c->in : c->out, stride = c->strides[1];
    int64_t y, y_end, first, end;

    interpret_valid_range(shift[0], c->strides[0], large[0], small[0], &y, &y_end);
    interpret_valid_range(shift[1], stride, large[1], small[1], &first, &end);
    for (; y < y_end; y++) {
        const int64_t at = (y * c->strides[0] + shift[0]) * large[1] + shift[1];
        const double *from = in + (up ? y * small[1] : at);
        double *to = out + (up ? at : y * small[1]);
        if (stride == 1)
            for (int64_t x = first; x < end; x++)
                to[x] += from[x] * weight;
        else
            for (int64_t x = first; x < end; x++)
                to[up ? x * stride : x] += from[up ? x : x * stride] * weight;
    }
}

static void convolve_plane(const struct convolution *c, const double *weights, const double *in, double *out)
{
    for (int64_t y = 0; y < c->filter[0]; y++)
        for (int64_t x = 0; x < c->filter[1]; x++) {
            const int64_t shift[2] = {y * c->dilations[0] - c->padding[0], x * c->dilations[1] - c->padding[1]};
            add_weight(c, shift, weights[y * c->filter[1] + x], in, out);
        }
}

/** Computes a convolution of input [n, g*i, h, w] with filter [g*o, i, h, w] (transposed: [o, g*i, h, w]) to output [n, g*o, h,
 * w]. */
static void convolve(const void *sizes, const double *input, const double *filter, double *output)
{
    const struct convolution *c = sizes;
    const int64_t in_plane = c->in[0] * c->in[1], out_plane = c->out[0] * c->out[1];

    for (int64_t n = 0; n < c->batches * c->groups; n++) /* groups of images */
        for (int64_t o = 0; o < c->out_channels; o++)
            for (int64_t i = 0; i < c->in_channels; i++)
                convolve_plane(c, filter + weights_of(c, n % c->groups, o, i), input + (n * c->in_channels + i) * in_plane,
                               output + (n * c->out_channels + o) * out_plane);
}

/** A pointwise convolution does not see rows: one long row is walked faster. */
static void merge_rows(struct convolution *c)
{
    for (int d = 0; d < 2; d++)
        if (c->filter[d] != 1 || c->strides[d] != 1 || c->padding[d] || c->in[d] != c->out[d])
            return;
    c->in[1] *= c->in[0];
    c->in[0] = 1;
    c->out[1] *= c->out[0];
    c->out[0] = 1;
}

/**
 * Makes the bounds of sums infinite where a weight that is infinite or NaN lies next to padding: such a sum has fewer products
 * with such weights than the channel's filter has such weights.
 */
static bool doubt_padding(struct interpretation *t, const struct linear *l, const struct convolution *c, const double *filter,
                          double *bounds)
{
    const int64_t taps = c->filter[0] * c->filter[1], channels = c->groups * c->out_channels, plane = c->out[0] * c->out[1];
    double *ones, *odd, *met, *most;
    int64_t first = 0;

    while (first < l->b_count && isfinite(filter[first]))
        first++;
    if (first == l->b_count)
        return true;
    if (!(ones = interpret_memory(t, l->a_count, sizeof *ones)) || !(odd = interpret_memory(t, l->b_count, sizeof *odd)) ||
        !(met = interpret_memory(t, l->out_count, sizeof *met)) || !(most = interpret_memory(t, channels, sizeof *most)))
        return false;
    for (int64_t k = 0; k < l->a_count; k++)
        ones[k] = 1;
    for (int64_t k = first; k < l->b_count; k++) {
        int64_t outer = k / taps / (c->transposed ? c->groups * c->in_channels : c->in_channels);
        int64_t group = c->transposed ? k / taps / c->in_channels % c->groups : 0;
        int64_t channel = group * c->out_channels + outer;
        odd[k] = !isfinite(filter[k]);
        most[channel] += odd[k];
    }
    l->contract(l->sizes, ones, odd, met);
    for (int64_t k = 0; k < l->out_count; k++)
        if (met[k] < most[k / plane % channels])
            bounds[k] = INFINITY;
    return true;
}

/** Returns whether an implementation may compute the sums by Winograd; then fills *w. */
static bool may_use_winograd(const struct interpretation *t, const struct convolution *c, struct interpret_winograd *w)
{
    for (int d = 0; d < 2; d++)
        if (c->filter[d] != 3 || c->strides[d] != c->strides[0] || c->dilations[d] != 1)
            return false;
    *w = (struct interpret_winograd){.batches = c->batches,
                                     .in_channels = c->in_channels,
                                     .out_channels = c->out_channels,
                                     .in = {c->in[0], c->in[1]},
                                     .out = {c->out[0], c->out[1]},
                                     .padding = {c->padding[0], c->padding[1]}};
    return t->node->op == OP_CONV2D && c->groups == 1;
}

/** Computes conv2d and convTranspose2d. */
bool interpret_convolution(struct interpretation *t)
{
    const struct conv_view v = conv_view(t->node);
    const uint32_t *in = t->inputs[0].type->dims, *weights = t->inputs[1].type->dims, *out = t->results[0].type->dims;
    struct convolution c = {.transposed = v.transposed,
                            .batches = in[v.image[AXIS_BATCH]],
                            .groups = v.groups,
                            .in_channels = in[v.image[AXIS_CHANNEL]] / v.groups,
                            .out_channels = out[v.image[AXIS_CHANNEL]] / v.groups};
    struct sums s;

    for (int d = 0; d < 2; d++) {
        c.in[d] = in[v.image[AXIS_HEIGHT + d]];
        c.out[d] = out[v.image[AXIS_HEIGHT + d]];
        c.filter[d] = weights[v.filter[AXIS_HEIGHT + d]];
        c.padding[d] = v.padding[2 * d];
        c.strides[d] = v.strides[d];
        c.dilations[d] = v.dilations[d];
    }
    merge_rows(&c);

    const double *input = interpret_widen(t, 0, v.image);
    const double *filter = interpret_widen(t, 1, v.filter);
    const double *bias = t->inputs[2].type ? interpret_widen(t, 2, NULL) : NULL;
    const double *input_bounds = interpret_widen_bounds(t, 0, v.image);
    const double *filter_bounds = interpret_widen_bounds(t, 1, v.filter);
    const double *bias_bounds = t->inputs[2].bound;
    if (!input || !filter || (t->inputs[2].type && !bias))
        return false;

    struct linear l = {convolve,
                       &c,
                       type_elements(t->inputs[0].type),
                       type_elements(t->inputs[1].type),
                       type_elements(t->results[0].type),
                       c.in_channels * c.filter[0] * c.filter[1] + (bias != NULL)};
    if (!linear_run(t, &l, input, input_bounds, filter, filter_bounds, &s))
        return false;

    double *transformed[WINOGRAD_TILES] = {NULL};
    struct interpret_winograd w;
    if (t->bounds && may_use_winograd(t, &c, &w)) {
        struct interpret_magnitudes x;
        if (!interpret_magnitudes(t, input, input_bounds, l.a_count, &x))
            return false;
        w.input = x.far;
        w.filter = filter;
        w.filter_bounds = filter_bounds;
        for (uint32_t i = 0; i < WINOGRAD_TILES; i++)
            if (winograd_tile(i)->stride == c.strides[0] &&
                !interpret_winograd(t, &w, winograd_tile(i), input, input_bounds, &transformed[i]))
                return false;
    }
    const int64_t plane = c.out[0] * c.out[1], channels = c.groups * c.out_channels;
    double *bounds = t->bounds ? interpret_memory(t, l.out_count, sizeof *bounds) : NULL;
    if (t->bounds && !bounds)
        return false;
    for (int64_t k = 0; k < l.out_count; k++) {
        int64_t channel = k / plane % channels;
        double add = bias ? bias[channel] : 0, uncertain = bias_bounds ? bias_bounds[channel] : 0;
        s.exact[k] = interpret_sum_in_range(s.exact[k]) + add;
        if (bounds)
            bounds[k] = interpret_bound_sum(s.exact[k], s.near[k] + fabs(add), s.far[k] + fabs(add) + uncertain, l.terms,
                                            s.certain && !bias_bounds);
        for (uint32_t i = 0; i < WINOGRAD_TILES && isfinite(s.exact[k]); i++) {
            if (!transformed[i])
                continue;
            double rounding =
                interpret_winograd_bound(winograd_tile(i), transformed[i][k], c.in_channels, fabs(add) + uncertain);
            double moved = s.certain && !bias_bounds ? 0 : s.far[k] - s.near[k] + uncertain;
            bounds[k] = rounding + moved > bounds[k] ? rounding + moved : bounds[k];
        }
    }
    if (bounds && !doubt_padding(t, &l, &c, filter, bounds))
        return false;
    interpret_narrow(t, 0, s.exact, bounds, v.image);
    return true;
}

/* ---- matmuls ---- */

struct matrices {
    int64_t m, k, n;
    struct walk batches; /* views: a, b, output, in elements; lines of matrices */
};

static void multiply(const void *sizes, const double *a, const double *b, double *out)
{
    const struct matrices *x = sizes;
    struct walk w = x->batches;
    const uint32_t last = w.rank - 1;

    do
        for (int64_t i = 0; i < w.dims[last]; i++) {
            const double *left = a + w.offset[0] + i * w.strides[0][last];
            const double *right = b + w.offset[1] + i * w.strides[1][last];
            double *to = out + w.offset[2] + i * w.strides[2][last];
            for (int64_t m = 0; m < x->m; m++)
                for (int64_t k = 0; k < x->k; k++)
                    for (int64_t n = 0; n < x->n; n++)
                        to[m * x->n + n] += left[m * x->k + k] * right[k * x->n + n];
        }
    while (walk_next(&w));
}

bool interpret_matmul(struct interpretation *t)
{
    const struct tensor_type *out = t->results[0].type, *a = t->inputs[0].type, *b = t->inputs[1].type;
    struct matrices x = {.m = a->dims[a->rank - 2], .k = a->dims[a->rank - 1], .n = b->dims[b->rank - 1]};
    struct walk *w = &x.batches;
    double *bounds = NULL;
    struct sums s;

    /* The batch dimensions are broadcast as of tensors whose elements are matrices. */
    w->rank = out->rank - 2;
    w->views = 3;
    for (uint32_t d = 0; d < w->rank; d++)
        w->dims[d] = out->dims[d];
    const struct tensor_type *types[3] = {a, b, out};
    for (uint32_t v = 0; v < 3; v++) {
        struct tensor_type batch = *types[v];
        batch.rank -= 2;
        walk_broadcast(w, v, &batch);
        for (uint32_t d = 0; d < w->rank; d++)
            w->strides[v][d] *= (int64_t)types[v]->dims[batch.rank] * types[v]->dims[batch.rank + 1];
    }
    walk_simplify(w);

    const double *left = interpret_widen(t, 0, NULL), *right = interpret_widen(t, 1, NULL);
    if (!left || !right)
        return false;
    struct linear l = {multiply, &x, type_elements(a), type_elements(b), type_elements(out), x.k};
    if (!linear_run(t, &l, left, t->inputs[0].bound, right, t->inputs[1].bound, &s))
        return false;
    if (t->bounds) {
        bounds = interpret_memory(t, l.out_count, sizeof *bounds);
        if (!bounds)
            return false;
        for (int64_t k = 0; k < l.out_count; k++)
            bounds[k] = interpret_bound_sum(s.exact[k], s.near[k], s.far[k], l.terms, s.certain);
    }
    interpret_narrow(t, 0, s.exact, bounds, NULL);
    return true;
}

static double largest_finite(const double *x, int64_t count)
{
    double largest = 0;

    for (int64_t k = 0; k < count; k++)
        largest = isfinite(x[k]) && fabs(x[k]) > largest ? fabs(x[k]) : largest;
    return largest;
}

bool interpret_gemm(struct interpretation *t)
{
    static const uint32_t transposed[] = {1, 0};
    const WNNGemmOptions *o = t->node->options;
    const struct tensor_type *out = t->results[0].type;
    const double alpha = scalar_to_double(number_cast(wnnNumber(o->alpha), out->type), out->type);
    const double beta = scalar_to_double(number_cast(wnnNumber(o->beta), out->type), out->type);
    const uint32_t *a_order = o->aTranspose ? transposed : NULL, *b_order = o->bTranspose ? transposed : NULL;
    struct matrices x = {.m = out->dims[0], .k = t->inputs[0].type->dims[o->aTranspose ? 0 : 1], .n = out->dims[1]};
    struct walk c = {.rank = 2, .views = 1, .dims = {out->dims[0], out->dims[1]}};
    double *bounds = NULL;
    struct sums s;

    x.batches.views = 3;
    walk_simplify(&x.batches);
    const double *a = interpret_widen(t, 0, a_order), *b = interpret_widen(t, 1, b_order);
    const double *add = t->inputs[2].type ? interpret_widen(t, 2, NULL) : NULL;
    if (!a || !b || (t->inputs[2].type && !add))
        return false;
    const double *a_bounds = interpret_widen_bounds(t, 0, a_order), *b_bounds = interpret_widen_bounds(t, 1, b_order);
    struct linear l = {multiply,           &x,     type_elements(t->inputs[0].type), type_elements(t->inputs[1].type),
                       type_elements(out), x.k + 3};
    if (!linear_run(t, &l, a, a_bounds, b, b_bounds, &s))
        return false;
    if (t->bounds && !(bounds = interpret_memory(t, l.out_count, sizeof *bounds)))
        return false;
    if (add)
        walk_broadcast(&c, 0, t->inputs[2].type);
    const bool plain = alpha == 1 && !add && x.k == 1;
    const double subnormal =
        bounds ? 0x1p-149 * (double)x.k * fmax(largest_finite(a, l.a_count), largest_finite(b, l.b_count)) : 0;
    for (int64_t row = 0; row < out->dims[0]; row++)
        for (int64_t column = 0; column < out->dims[1]; column++) {
            int64_t k = row * x.n + column, from = row * c.strides[0][0] + column * c.strides[0][1];
            double more = add ? beta * add[from] : 0;
            double uncertain = add && t->inputs[2].bound ? fabs(beta) * t->inputs[2].bound[from] : 0;
            s.exact[k] = interpret_sum_in_range(alpha * s.exact[k]) + more;
            if (bounds) {
                double near = fabs(alpha) * s.near[k] + fabs(more), far = fabs(alpha) * s.far[k] + fabs(more) + uncertain;
                bounds[k] = interpret_bound_sum(s.exact[k], near, far, plain ? 1 : l.terms, s.certain && !t->inputs[2].bound);
                if (fabs(alpha) < 1) /* multiplied by an operand, whose products with it may be subnormal numbers */
                    bounds[k] += subnormal;
            }
        }
    interpret_narrow(t, 0, s.exact, bounds, NULL);
    return true;
}
