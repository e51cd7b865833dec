/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Decides which 3x3 convolutions are computed by Winograd and with what tiles, and transforms their weights.  It takes a graph
 * before any convolution has a cluster, and sets node->transformed of those, a constant in addition to the weights; such a node
 * is no library's, and lower_winograd.c makes its kernel.  The graph's meaning does not change: the weights stay, for the
 * interpreter and for inputs that are not finite.
 *
 * docs/winograd.md explains the method, how macro-tiles are chosen, and where the prices come from.
 */
#include "passes/cluster/winograd.h"

#include "ir/graph/compact.h"
#include "ir/graph/constant_pool.h"
#include "ir/graph/conv.h"
#include "ir/schedule/schedule.h"
#include "passes/weights/byte_operands.h"

/* ---- cost: nanoseconds of the busiest thread (struct winograd_prices) ---- */

/* Returns how much of the memory and the vectors of floats inputs and weights take. */
static double share_of(const struct winograd_shape *s)
{
    return s->numbers ? 0.5 : 1;
}

/* Returns the bytes of scratch that a macro-tile takes: transformed inputs and results of the matmuls. */
static double scratch_bytes(const struct winograd_shape *s)
{
    const double channels = share_of(s) * (double)s->in_channels + (double)s->out_channels;

    return (double)(s->tile->points * s->macro_tile[0] * s->macro_tile[1]) * channels * sizeof(float);
}

/* Returns as many channels as fill whole vectors. */
static double filled(int64_t channels, const struct target *t)
{
    return (double)(ceil_div(channels, target_stage_lanes(t)) * target_stage_lanes(t));
}

/* Returns the cost of a convolution that is cut as s says.  Prefetching hides the weights' way from memory, as far as it is not
 * what takes longest. */
static double transformed_cost(const struct winograd_shape *s, const struct target *t)
{
    const struct winograd_prices *p = &target_facts(t)->multiplication.winograd;
    const int64_t *results = s->tile->results, *macro = s->macro_tile, tiles = macro[0] * macro[1];
    const double in = share_of(s) * filled(s->in_channels, t), out = filled(s->out_channels, t);
    const double points = (double)(s->tile->points * tiles);
    const double weights = share_of(s) * (double)(s->tile->points * s->in_channels) * out, kib = weights * sizeof(float) / 1024;
    const double read = (double)((results[0] * s->tile->stride * macro[0] + 2) * (results[1] * s->tile->stride * macro[1] + 2));
    const double macro_tiles = (double)ceil_div(s->batch * s->count[0] * s->count[1], target_stage_threads(t));
    const bool near = kib * 1024 + scratch_bytes(s) < target_facts(t)->cache.l2_reused_share * target_l2_bytes(t);
    const double work = p->product * (double)s->rows * weights + (p->read * read + p->input * points) * in +
                        p->output * points * out + (s->planar ? p->planar * (double)tiles * (in + out) : 0);
    const double spilled = fmax(0, scratch_bytes(s) - target_facts(t)->winograd.scratch_share * target_l2_bytes(t)) / 1024;
    const double one = p->macro_tile + 1e-3 * work + target_facts(t)->winograd.spill * p->memory * spilled;

    return fmax(one, p->memory * kib) + (macro_tiles - 1) * (one + (near ? p->near : p->far) * kib);
}

static double direct_cost(const struct winograd_shape *s, const struct target *t)
{
    const struct contraction_prices *direct = &target_facts(t)->multiplication.packed;
    const struct winograd_prices *p = &target_facts(t)->multiplication.winograd;
    const double weights = share_of(s) * 9 * (double)s->in_channels * filled(s->out_channels, t);
    const double product = direct->product + direct->window / (double)s->in_channels + (s->planar ? 0 : p->interleaved);
    const double pixels = (double)(s->batch * s->out[0] * s->out[1]) / (double)target_stage_threads(t);

    return fmax(1e-3 * product * pixels * weights, p->memory * weights * sizeof(float) / 1024);
}

/* ---- shapes ---- */

/* Cuts a dimension of the image into macro-tiles of so many tiles.  Returns false if it is cut like by fewer. */
static bool cut(struct winograd_shape *s, uint32_t d, int64_t macro_tile)
{
    s->count[d] = ceil_div(s->tiles[d], macro_tile);
    s->macro_tile[d] = macro_tile;
    return ceil_div(s->tiles[d], s->count[d]) == macro_tile;
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
        for (int64_t height = 1, most = facts->tiles_most; height <= s->tiles[0] && height <= most; height++)
            for (int64_t width = 1, end = cut(s, 0, height) ? s->tiles[1] : 0; width <= end && height * width <= most;
                 width++) {
                if (!cut(s, 1, width))
                    continue;
                s->mr = mr[i];
                s->rows = ceil_div(height * width, s->mr) * s->mr;
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

/*
 * Returns what a convolution costs, and whether that is less than the library or a direct kernel takes.  Each kind of tile has
 * its own weights and code.  So where sizes vary they do not decide, but two images that networks have with so many channels:
 * those of pictures of 224 and 112 pixels a side.
 */
static double expected_cost(const struct winograd_shape *s, const struct target *t, bool *faster)
{
    static const int64_t channels_times_pixels[] = {3584, 1792};
    double transformed = t->sizes_vary ? 0 : transformed_cost(s, t), direct = t->sizes_vary ? 0 : direct_cost(s, t);
    struct winograd_shape expected = *s;

    for (uint32_t i = 0; t->sizes_vary && i < 2; i++) {
        expected.batch = 1;
        for (uint32_t d = 0; d < 2; d++) {
            expected.out[d] = ceil_div(channels_times_pixels[i], s->out_channels);
            expected.tiles[d] = ceil_div(expected.out[d], s->tile->results[d]);
        }
        choose_macro_tiles(&expected, t);
        transformed += transformed_cost(&expected, t);
        direct += direct_cost(&expected, t);
    }
    *faster = transformed < target_facts(t)->winograd.worth * direct;
    return transformed;
}

bool winograd_shape(const struct node *n, const struct target *t, uint32_t kind, struct winograd_shape *s)
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
                                 .planar = c.image[AXIS_CHANNEL] != 3,
                                 .numbers = n->transformed ? n->transformed->type.type == DTYPE_INT16
                                                           : n->inputs[1].value->kind != VALUE_CONSTANT,
                                 .tile = winograd_tile(kind)};
    for (uint32_t d = 0; d < 2; d++) {
        if (c.strides[d] != s->tile->stride || c.dilations[d] != 1 || filter[c.filter[AXIS_HEIGHT + d]] != 3)
            return false;
        s->in[d] = in[c.image[AXIS_HEIGHT + d]];
        s->out[d] = out[c.image[AXIS_HEIGHT + d]];
        s->padding[d] = c.padding[2 * d];
        s->tiles[d] = ceil_div(s->out[d], s->tile->results[d]);
    }
    choose_macro_tiles(s, t);
    s->block = s->in_channels % block == 0 ? block : s->in_channels % (block / 2) == 0 ? block / 2 : s->in_channels;
    s->panel = schedule_padded_panel(
        t, &(struct contraction){.m = s->rows, .n = s->out_channels, .k = s->in_channels, .group = s->out_channels});
    return true;
}

bool winograd_shape_of(const struct node *n, const struct target *t, struct winograd_shape *s)
{
    const uint32_t *dims = n->transformed->type.dims;
    uint32_t kind = 0;

    while (kind < WINOGRAD_TILES && winograd_tile(kind)->points != dims[0])
        kind++;
    return kind < WINOGRAD_TILES && winograd_shape(n, t, kind, s) && dims[1] * s->panel == s->out_channels &&
           dims[2] == s->in_channels && dims[3] == s->panel;
}

double winograd_reads(const struct node *n)
{
    const struct winograd_tile *tile = winograd_tile_of(n->transformed->type.dims[0]);

    return (double)tile->points / (double)(tile->results[0] * tile->results[1] * tile->stride * tile->stride);
}

/* ---- weights ---- */

/* Reads weights [out][in][3][3] by strides: floats, or bytes. */
struct weights {
    const struct constant *constant;
    struct byte_weights bytes;
    int64_t strides[4];
};

static float weight_at(const struct weights *w, int64_t out, int64_t in, int64_t y, int64_t x)
{
    const int64_t at = out * w->strides[0] + in * w->strides[1] + y * w->strides[2] + x * w->strides[3];
    float v;

    if (w->bytes.constant)
        return (float)byte_weight_at(&w->bytes, at, out);
    /* Lent bytes may lie at any address. */
    memcpy(&v, (const float *)w->constant->data + at, sizeof v);
    return v;
}

/* Reads an input channel of filters from `out` on, and adds up magnitudes.  Returns whether all are below the limit. */
static bool take_filters(const struct weights *w, int64_t out, int64_t in, int64_t count, double g[9][WINOGRAD_LANES],
                         double *magnitudes)
{
    bool below = true;

    for (int64_t l = 0; l < count; l++)
        for (int i = 0; i < 9; i++) {
            g[i][l] = (double)weight_at(w, out + l, in, i / 3, i % 3);
            below &= fabs(g[i][l]) < (double)WINOGRAD_WEIGHT_LIMIT;
            magnitudes[l] += fabs(g[i][l]);
        }
    return below;
}

enum { TRANSFORM_OPERATIONS = 4, TRANSFORM_CHANNELS = 16 }; /* for each transformed weight, or about so; at a time */

/* Transforms all weights, a row of points of some input channels at a time: the planes of points are mostly a multiple of 4 KiB
 * apart, so that lines of all do not stay in the cache.  Returns false if some weight is too large, or not finite, or if
 * rounding errors would be too large. */
static bool transform_all(const struct weights *w, const struct winograd_shape *s, void *to)
{
    const int64_t points = s->tile->points, wide = s->tile->side[1]->input.results;
    double g[TRANSFORM_CHANNELS][9][WINOGRAD_LANES], u[WINOGRAD_SIDE_MAX][WINOGRAD_LANES], of_lane[WINOGRAD_POINTS_MAX];

    for (int64_t out = 0, count; out < s->out_channels; out += count) {
        const int64_t lane = out % s->panel;
        double magnitudes[WINOGRAD_LANES] = {0}, sums[WINOGRAD_POINTS_MAX][WINOGRAD_LANES] = {0};

        count = s->panel - lane < WINOGRAD_LANES ? s->panel - lane : WINOGRAD_LANES;
        for (int64_t first = 0; first < s->in_channels; first += TRANSFORM_CHANNELS) {
            const int64_t left = s->in_channels - first, channels = left < TRANSFORM_CHANNELS ? left : TRANSFORM_CHANNELS;

            for (int64_t c = 0; c < channels; c++)
                if (!take_filters(w, out, first + c, count, g[c], magnitudes))
                    return false;
            for (int64_t k = 0; k < points / wide * channels; k++) {
                const int64_t y = k / channels, in = first + k % channels;

                winograd_transform_weights(s->tile, (uint32_t)y, g[k % channels], u, count, false);
                for (int64_t x = 0; x < wide; x++) {
                    const int64_t row = ((y * wide + x) * s->out_channels + out - lane) * s->in_channels;
                    for (int64_t l = 0; l < count; l++)
                        if (s->numbers)
                            ((int16_t *)to)[row + (in / 2 * s->panel + lane + l) * 2 + in % 2] =
                                (int16_t)(u[x][l] * WINOGRAD_NUMBERS_SCALE);
                        else
                            ((float *)to)[row + in * s->panel + lane + l] = (float)u[x][l];
                    for (int64_t l = 0; l < count; l++)
                        sums[y * wide + x][l] += fabs(u[x][l]);
                }
            }
        }
        for (int64_t l = 0; l < count; l++) {
            for (int64_t i = 0; i < points; i++)
                of_lane[i] = sums[i][l];
            if (!winograd_is_accurate(s->tile, s->in_channels, of_lane, magnitudes[l], 1))
                return false;
        }
    }
    return true;
}

static struct weights weights_of(const struct node *n)
{
    const struct value *v = n->inputs[1].value;
    static const uint8_t order[] = {AXIS_OUTPUT, AXIS_INPUT, AXIS_HEIGHT, AXIS_WIDTH};
    const struct conv_view c = conv_view(n);
    struct weights w = {.constant = v->constant};
    int64_t strides[RANK_MAX];

    if (v->producer && byte_weights_find(v->producer, c.filter[AXIS_OUTPUT], &w.bytes))
        w.constant = w.bytes.constant;
    type_strides(&v->type, strides);
    for (int i = 0; i < 4; i++)
        w.strides[i] = strides[c.filter[order[i]]];
    return w;
}

/* Attaches the transformed weights to a node, which a pool may have already; *done says whether the weights allow it.  Returns
 * false after an error in g->error. */
static bool attach(struct graph *g, struct node *n, const struct winograd_shape *s, struct constant_pool *pool, bool *done)
{
    const struct tensor_type type = {.type = s->numbers ? DTYPE_INT16 : WNNOperandDataType_Float32,
                                     .rank = 4,
                                     .dims = {(uint32_t)s->tile->points, (uint32_t)(s->out_channels / s->panel),
                                              (uint32_t)s->in_channels, (uint32_t)s->panel}};
    const struct weights w = weights_of(n);
    struct constant_recipe recipe = constant_recipe_begin(CONSTANT_TRANSFORMED, w.constant);

    *done = false;
    constant_recipe_add(&recipe, s->numbers ? w.bytes.zero->constant->id : 0);
    constant_recipe_add(&recipe, s->numbers ? w.bytes.numbers->type.type : type.type);
    for (int i = 0; i < 4; i++) {
        constant_recipe_add(&recipe, type.dims[i]);
        constant_recipe_add(&recipe, (uint64_t)w.strides[i]);
    }
    struct constant *c = constant_pool_find(pool, &recipe);
    if (!c) {
        if (!budget_spend_memory(g->account, "transforming the weights of a convolution",
                                 TRANSFORM_OPERATIONS * (double)type_elements(&type), (double)type_bytes(&type), &g->error))
            return false;
        c = constant_create(NULL, (size_t)type_bytes(&type));
        if (!c)
            return error_out_of_memory(&g->error);
        if (!transform_all(&w, s, (void *)(uintptr_t)c->data)) {
            constant_release(c);
            return true;
        }
        c = constant_pool_keep(pool, &recipe, c);
    }
    struct value *v = graph_add_constant(g, &type, c);
    if (!v)
        return false;
    v->kept = true;
    n->transformed = v;
    return *done = true;
}

/* Transforms a node's weights for the tiles that take least time, of those that are worth it and accurate enough; *changed says
 * whether there are any.  Returns false after an error in g->error. */
static bool transform_node(struct graph *g, struct node *n, const struct target *t, bool always, bool *changed)
{
    struct constant *floats = n->inputs[1].value->constant;
    const int64_t kinds = floats ? target_facts(t)->winograd.kinds : 1;
    unsigned char refused = floats ? atomic_load_explicit(&floats->refused_tiles, memory_order_relaxed) : 0;
    bool done = false, faster;

    while (!done) {
        struct winograd_shape s, best = {0};
        double least = INFINITY;

        for (uint32_t kind = 0; kind < kinds; kind++) {
            if (refused >> kind & 1 || !winograd_shape(n, t, kind, &s))
                continue;
            const double cost = expected_cost(&s, t, &faster);
            if (cost < least && (always || faster)) {
                least = cost;
                best = s;
            }
        }
        if (!best.tile || (t->takes_low_precision && t->takes_low_precision(t->user, n)))
            return true;
        if (!attach(g, n, &best, t->pool, &done))
            return false;
        refused |= done ? 0 : 1 << (best.tile - winograd_tile(0));
        if (floats) /* the weights are refused at other sizes, too */
            atomic_fetch_or_explicit(&floats->refused_tiles, refused, memory_order_relaxed);
    }
    *changed = true;
    return floats || separate_byte_operand(g, n);
}

/* Transformed inputs of bytes are at most 4 * 255, weights 9 * 128, and results four times the sum: none overflows. */
_Static_assert(WINOGRAD_NUMBERS_SCALE *UINT8_MAX * -INT8_MIN <= INT32_MAX / BYTE_SUM_STEPS,
               "integers of 32 bits hold all sums");

/* Returns whether a convolution's weights may be transformed: floats, or bytes where numbers of 16 bits are multiplied anyway.
 */
static bool is_candidate(const struct node *n, const struct target *t)
{
    const struct value *weights = n->inputs[n->input_count > 1].value;
    bool transposed;

    if (n->cluster || n->transformed || n->op != OP_CONV2D)
        return false;
    if (weights->kind == VALUE_CONSTANT)
        return weights->constant != NULL;
    return t->isa.byte_products == BYTES_MIXED_PAIRS && node_multiplies_bytes(n, t) &&
           compact_constant(weights->producer->inputs[0].value, &transposed) &&
           weights->type.dims[conv_view(n).filter[AXIS_INPUT]] % BYTE_WORD == 0;
}

bool pass_winograd(struct graph *g, const struct pass_options *o)
{
    const uint32_t flags = o->debug ? o->debug->flags : 0;
    bool changed = false;

    if (!o->target || flags & DEBUG_PREFER_LIBRARY)
        return false;
    graph_for_each (g, n)
        n->results[0]->scratch = NULL; /* that of separate_byte_operand */
    graph_for_each_safe (g, n)
        if (is_candidate(n, o->target) && !transform_node(g, n, o->target, flags & DEBUG_PREFER_WINOGRAD, &changed))
            return changed;
    return changed;
}
