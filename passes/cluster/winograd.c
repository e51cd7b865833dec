/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Decides which 3x3 convolutions are computed by Winograd F(2x2, 3x3), and transforms their weights.  It takes a graph before
 * any convolution has a cluster, and sets node->transformed of those, a constant in addition to the weights; such a node is no
 * library's, and lower_winograd.c makes its kernel.  The graph means the same as before: the weights stay, for the interpreter
 * and for inputs that are not finite.
 *
 * docs/winograd.md explains the method, how macro-tiles are chosen, and where the numbers of the cost model (struct
 * winograd_facts) come from.
 */
#include "passes/cluster/winograd.h"

#include <math.h>
#include <string.h>

#include "ir/graph/constant_pool.h"
#include "ir/graph/conv.h"
#include "ir/schedule/schedule.h"
#include "passes/support.h"

/* ---- cost: times of one thread, in multiply-adds of a vector (struct winograd_facts) ---- */

/* Returns the bytes of scratch that a macro-tile takes: transformed inputs and results of the matmuls. */
static double scratch_bytes(const struct winograd_shape *s)
{
    return (double)(WINOGRAD_POINTS * s->macro_tile[0] * s->macro_tile[1] * (s->in_channels + s->out_channels)) * sizeof(float);
}

/* Returns the cost of a convolution that is cut as s says. */
static double transformed_cost(const struct winograd_shape *s, const struct target *t)
{
    const struct winograd_facts *facts = &target_facts(t)->winograd;
    const int64_t lanes = target_stage_lanes(t), threads = target_stage_threads(t);
    const double in_vectors = (double)ceil_div(s->in_channels, lanes), out_vectors = (double)ceil_div(s->out_channels, lanes);
    const double weights = WINOGRAD_POINTS * (double)s->in_channels * out_vectors,
                 tiles = (double)(s->macro_tile[0] * s->macro_tile[1]);
    const double macro_tiles = (double)ceil_div(s->batch * s->count[0] * s->count[1], threads); /* of the busiest thread */
    const double bytes = weights * (double)lanes * sizeof(float) + scratch_bytes(s);
    const bool near = bytes < target_facts(t)->cache.l2_reused_share * target_l2_bytes(t);
    const double again = near ? facts->weight_near : facts->weight_far;
    const double read = (double)((2 * s->macro_tile[0] + 2) * (2 * s->macro_tile[1] + 2));
    const double one = (double)s->rows * weights / facts->matmul_speed +
                       (tiles * facts->input_tile + read * facts->input_vector) * in_vectors +
                       tiles * facts->output_tile * out_vectors + facts->macro_tile +
                       (s->planar ? tiles * facts->planar_tile * (in_vectors + out_vectors) / 2 : 0);

    return macro_tiles * one + weights * (facts->weight_first + (macro_tiles - 1) * again);
}

static double direct_cost(const struct winograd_shape *s, const struct target *t)
{
    const struct winograd_facts *facts = &target_facts(t)->winograd;
    const double pairs = (double)(s->in_channels * ceil_div(s->out_channels, target_stage_lanes(t)));
    const double threads = (double)target_stage_threads(t);

    const double speed = s->planar ? facts->planar_speed : facts->direct_speed;

    return 9 * pairs * ((double)(s->batch * s->out[0] * s->out[1]) / speed / threads + facts->direct_weight);
}

/** Returns whether the transform is faster than the library or a direct kernel, by a cost model. */
static bool winograd_is_faster(const struct winograd_shape *s, const struct target *t)
{
    const struct winograd_facts *facts = &target_facts(t)->winograd;

    return s->in_channels >= facts->channels_least && s->out_channels >= facts->channels_least &&
           transformed_cost(s, t) < facts->worth * direct_cost(s, t);
}

/* ---- shapes ---- */

/* Cuts the image into macro-tiles of so many tiles.  Returns false if they are cut like smaller ones. */
static bool cut(struct winograd_shape *s, int64_t height, int64_t width, int64_t mr)
{
    const int64_t macro_tile[2] = {height, width};

    for (uint32_t d = 0; d < 2; d++) {
        s->count[d] = ceil_div(s->tiles[d], macro_tile[d]);
        s->macro_tile[d] = macro_tile[d];
        if (ceil_div(s->tiles[d], s->count[d]) != macro_tile[d])
            return false;
    }
    s->mr = mr;
    s->rows = ceil_div(height * width, mr) * mr;
    return true;
}

/*
 * Chooses macro-tiles, which are some rows of tiles, or parts of some: those that cost least.  Small ones read the weights
 * often, large ones leave L2; some leave tiles of accumulators or the last macro-tile half empty, or threads
 * without work.
 */
static void choose_macro_tiles(struct winograd_shape *s, const struct target *t)
{
    const struct winograd_facts *facts = &target_facts(t)->winograd;
    uint32_t mr[2];
    const uint32_t choices = schedule_padded_rows(t, mr);
    struct winograd_shape best = *s;
    double least = 0;

    for (uint32_t i = 0; i < choices; i++)
        for (int64_t height = 1; height <= s->tiles[0] && height <= facts->tiles_most; height++)
            for (int64_t width = 1; width <= s->tiles[1] && height * width <= facts->tiles_most; width++) {
                if (!cut(s, height, width, mr[i]))
                    continue;
                if (height * width > facts->tiles_least && scratch_bytes(s) > facts->scratch_share * target_l2_bytes(t))
                    continue;
                double cost = transformed_cost(s, t) * (i ? facts->special : 1);
                for (uint32_t d = 0; d < 2; d++)
                    cost *= s->count[d] * s->macro_tile[d] > s->tiles[d] ? facts->special : 1;
                if (least > 0 && cost >= least)
                    continue;
                least = cost;
                best = *s;
            }
    *s = best;
}

bool winograd_shape(const struct node *n, const struct target *t, struct winograd_shape *s)
{
    const int64_t block = target_facts(t)->winograd.channel_block;
    const uint32_t *in, *out, *filter;

    if (n->op != OP_CONV2D || n->inputs[0].value->type.type != WNNOperandDataType_Float32)
        return false;
    struct conv_view c = conv_view(n);
    in = n->inputs[0].value->type.dims;
    out = n->results[0]->type.dims;
    filter = n->inputs[1].value->type.dims;
    if (c.groups != 1)
        return false;
    *s = (struct winograd_shape){.batch = in[c.image[AXIS_BATCH]],
                                 .in_channels = filter[c.filter[AXIS_INPUT]],
                                 .out_channels = filter[c.filter[AXIS_OUTPUT]],
                                 .planar = c.image[AXIS_CHANNEL] != 3};
    for (uint32_t d = 0; d < 2; d++) {
        if (c.strides[d] != 1 || c.dilations[d] != 1 || filter[c.filter[AXIS_HEIGHT + d]] != 3)
            return false;
        s->in[d] = in[c.image[AXIS_HEIGHT + d]];
        s->out[d] = out[c.image[AXIS_HEIGHT + d]];
        s->padding[d] = c.padding[2 * d];
        s->tiles[d] = ceil_div(s->out[d], 2);
    }
    choose_macro_tiles(s, t);
    s->block = s->in_channels % block == 0 ? block : s->in_channels % (block / 2) == 0 ? block / 2 : s->in_channels;
    s->panel = schedule_padded_panel(
        t, &(struct contraction){.m = s->rows, .n = s->out_channels, .k = s->in_channels, .group = s->out_channels});
    return true;
}

/* ---- weights ---- */

/* Reads weights [out][in][3][3] by strides. */
struct weights {
    const float *data;
    int64_t strides[4];
};

static float weight_at(const struct weights *w, int64_t out, int64_t in, int64_t y, int64_t x)
{
    float v;

    /* Lent bytes may lie at any address. */
    memcpy(&v, w->data + out * w->strides[0] + in * w->strides[1] + y * w->strides[2] + x * w->strides[3], sizeof v);
    return v;
}

enum {
    TRANSFORM_OPERATIONS = 4, /* for each transformed weight, or about so */
    LANES = 32                /* output channels that are transformed at a time */
};

/* Computes G g G^T of `count` output channels and one input channel: g[3 * y + x][lane], u[4 * y + x][lane]. */
static void transform(double g[9][LANES], double u[WINOGRAD_POINTS][LANES], int64_t count)
{
    double half[12][LANES];

    for (int x = 0; x < 3; x++)
        for (int64_t i = 0; i < count; i++) {
            half[x][i] = g[x][i];
            half[3 + x][i] = 0.5 * (g[x][i] + g[3 + x][i] + g[6 + x][i]);
            half[6 + x][i] = 0.5 * (g[x][i] - g[3 + x][i] + g[6 + x][i]);
            half[9 + x][i] = g[6 + x][i];
        }
    for (int y = 0; y < 4; y++)
        for (int64_t i = 0; i < count; i++) {
            const double a = half[3 * y][i], b = half[3 * y + 1][i], c = half[3 * y + 2][i];
            u[4 * y][i] = a;
            u[4 * y + 1][i] = 0.5 * (a + b + c);
            u[4 * y + 2][i] = 0.5 * (a - b + c);
            u[4 * y + 3][i] = c;
        }
}

/* Transforms all weights.  Returns false if some weight is too large, or not finite. */
static bool transform_all(const struct weights *w, const struct winograd_shape *s, float *to)
{
    const int64_t plane = s->in_channels * s->out_channels;
    double g[9][LANES], u[WINOGRAD_POINTS][LANES];

    for (int64_t first = 0; first < s->out_channels; first += s->panel)
        for (int64_t in = 0; in < s->in_channels; in++)
            for (int64_t lane = 0; lane < s->panel; lane += LANES) {
                const int64_t count = s->panel - lane < LANES ? s->panel - lane : LANES;

                for (int64_t l = 0; l < count; l++)
                    for (int i = 0; i < 9; i++) {
                        g[i][l] = (double)weight_at(w, first + lane + l, in, i / 3, i % 3);
                        if (!(fabs(g[i][l]) < (double)WINOGRAD_WEIGHT_LIMIT))
                            return false;
                    }
                transform(g, u, count);
                for (int i = 0; i < WINOGRAD_POINTS; i++)
                    for (int64_t l = 0; l < count; l++)
                        to[i * plane + l] = (float)u[i][l];
                to += count;
            }
    return true;
}

static struct weights weights_of(const struct node *n)
{
    const struct value *v = n->inputs[1].value;
    static const uint8_t order[] = {AXIS_OUTPUT, AXIS_INPUT, AXIS_HEIGHT, AXIS_WIDTH};
    const struct conv_view c = conv_view(n);
    struct weights w = {.data = v->constant->data};
    int64_t strides[RANK_MAX];

    type_strides(&v->type, strides);
    for (int i = 0; i < 4; i++)
        w.strides[i] = strides[c.filter[order[i]]];
    return w;
}

static bool set_transformed(struct graph *g, struct node *n, const struct tensor_type *type, struct constant *c, bool *done)
{
    struct value *v = graph_add_constant(g, type, c);

    if (!v)
        return false;
    v->kept = true;
    n->transformed = v;
    return *done = true;
}

/* Attaches the transformed weights to a node, which a pool may have already; *done says whether the weights allow it.  Returns
 * false after an error in g->error. */
static bool attach(struct graph *g, struct node *n, const struct winograd_shape *s, struct constant_pool *pool, bool *done)
{
    const struct tensor_type type = {
        .type = WNNOperandDataType_Float32,
        .rank = 4,
        .dims = {WINOGRAD_POINTS, (uint32_t)(s->out_channels / s->panel), (uint32_t)s->in_channels, (uint32_t)s->panel}};
    const struct weights w = weights_of(n);
    struct constant_recipe recipe = constant_recipe_begin(CONSTANT_TRANSFORMED, n->inputs[1].value->constant);

    *done = false;
    for (int i = 0; i < 4; i++) {
        constant_recipe_add(&recipe, type.dims[i]);
        constant_recipe_add(&recipe, (uint64_t)w.strides[i]);
    }
    struct constant *c = constant_pool_find(pool, &recipe);
    if (c)
        return set_transformed(g, n, &type, c, done);
    if (!budget_spend_memory(g->account, "transforming the weights of a convolution",
                             TRANSFORM_OPERATIONS * (double)type_elements(&type), (double)type_bytes(&type), &g->error))
        return false;
    c = constant_create(NULL, (size_t)type_bytes(&type));
    if (!c)
        return error_out_of_memory(&g->error);
    if (!transform_all(&w, s, (float *)(uintptr_t)c->data)) {
        constant_release(c);
        return true;
    }
    return set_transformed(g, n, &type, constant_pool_keep(pool, &recipe, c), done);
}

bool pass_winograd(struct graph *g, const struct pass_options *o)
{
    const uint32_t flags = o->debug ? o->debug->flags : 0;
    bool changed = false;

    if (!o->target || flags & DEBUG_PREFER_LIBRARY)
        return false;
    graph_for_each (g, n) {
        struct winograd_shape s;
        bool done;

        if (n->cluster || n->transformed || n->op != OP_CONV2D || n->inputs[1].value->kind != VALUE_CONSTANT ||
            !n->inputs[1].value->constant || !winograd_shape(n, o->target, &s))
            continue;
        if (!(flags & DEBUG_PREFER_WINOGRAD) && !winograd_is_faster(&s, o->target))
            continue;
        if (o->target->takes_low_precision && o->target->takes_low_precision(o->target->user, n))
            continue;
        if (!attach(g, n, &s, o->target->pool, &done))
            return changed;
        changed |= done;
    }
    return changed;
}
