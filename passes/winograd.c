/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which 3x3 convolutions are computed by Winograd's transforms, and their weights transformed.
 *
 * In: a graph before any convolution has a cluster.  Out: node->transformed of those, a constant beside the weights; such a
 * node is no library's, and lower_winograd.c makes its kernel.  The graph means the same as before: the weights stay, for the
 * interpreter and for inputs that are not finite.
 *
 * docs/winograd.md: the method, how chunks are chosen, and where the constants of the cost model come from.
 */
#include "passes/winograd.h"

#include <math.h>
#include <string.h>

#include "ir/conv.h"
#include "passes/support.h"

enum {
    TILES_ENOUGH = 104, /* of a chunk: more gain nothing, and a block of the products' rows is no larger (KERNEL_ROWS_TILED) */
    TILES_MIN = 16,     /* fewer read the weights too often per operation, whatever the cache holds */
    PANEL_VECTORS = 2,  /* of weights side by side */
    TILE_ROWS = 8,      /* of the products' tiles of accumulators, with two vectors: enough to hide latency, */
    TILE_ROWS_ODD = 7,  /* what suits images of 7, 14, 28 ... results better, */
    TILE_ROWS_FEW = 4,  /* and where there are 16 registers */
    BLOCK = 32,         /* of input channels: the same for most sizes, so that they share code */
    CHANNELS_MIN = 16   /* fewer leave lanes of the transforms empty */
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static double cache_of(const struct target *t)
{
    return t->cache_bytes > 0 ? (double)t->cache_bytes : 1 << 20;
}

/* ---- cost ---- */

/*
 * Times of one thread in steps: a multiply-add of one vector, two of which begin in every cycle.  Measured as docs/winograd.md
 * says.
 */
#define DIRECT_SPEED 0.92       /* share of the peak that direct convolutions reach */
#define DIRECT_WEIGHT_COST 20.0 /* reading a vector of weights from memory, beside the arithmetic */
#define PRODUCT_SPEED 0.90      /* share of the peak of products of transformed tiles */
#define INPUT_COST 230.0        /* transforming a tile of one vector of channels, with the judge */
#define READ_COST 5.0           /* reading a vector of inputs, of which chunks side by side share some */
#define OUTPUT_COST 190.0       /* and back */
#define WEIGHT_COST 16.0        /* reading a vector of transformed weights from memory, fetched ahead, for the first chunk */
#define WEIGHT_COST_FAR 7.0     /* for each further one, if they stay in a cache that is shared, */
#define WEIGHT_COST_NEAR 3.0    /* and if they stay in the second one */
#define NEAR 0.5                /* share of the second cache that weights and scratch may fill together */
#define SCRATCH 0.8             /* and that scratch may fill in any case */
#define CHUNK_COST 3000.0
#define SPECIAL 1.03 /* what is code of its own: other rows of tiles, guards where chunks go beyond an image */
#define WORTH 0.9    /* the kernel takes longer to compile than a primitive to create, and both weights are kept */

static int64_t lanes_of(const struct target *t)
{
    return t->vector_bits >= 64 ? t->vector_bits / 32 : 1;
}

/* Bytes of scratch that a chunk takes: transformed inputs, products. */
static double scratch_bytes(const struct winograd_shape *s)
{
    return (double)(WINOGRAD_POINTS * s->chunk[0] * s->chunk[1] * (s->in_channels + s->out_channels)) * sizeof(float);
}

/* Of a convolution cut as s says. */
static double transformed_cost(const struct winograd_shape *s, const struct target *t)
{
    const int64_t lanes = lanes_of(t), threads = t->thread_count ? t->thread_count : 1;
    const double in_vectors = (double)divide_up(s->in_channels, lanes), out_vectors = (double)divide_up(s->out_channels, lanes);
    const double weights = WINOGRAD_POINTS * (double)s->in_channels * out_vectors, tiles = (double)(s->chunk[0] * s->chunk[1]);
    const double chunks = (double)divide_up(s->batch * s->count[0] * s->count[1], threads); /* of the busiest thread */
    const double bytes = weights * (double)lanes * sizeof(float) + scratch_bytes(s);
    const double again = bytes < NEAR * cache_of(t) ? WEIGHT_COST_NEAR : WEIGHT_COST_FAR;
    const double read = (double)((2 * s->chunk[0] + 2) * (2 * s->chunk[1] + 2));
    const double chunk = (double)s->rows * weights / PRODUCT_SPEED + (tiles * INPUT_COST + read * READ_COST) * in_vectors +
                         tiles * OUTPUT_COST * out_vectors + CHUNK_COST;

    return chunks * chunk + weights * (WEIGHT_COST + (chunks - 1) * again);
}

static double direct_cost(const struct winograd_shape *s, const struct target *t)
{
    const double pairs = (double)(s->in_channels * divide_up(s->out_channels, lanes_of(t)));
    const double threads = t->thread_count ? (double)t->thread_count : 1;

    return 9 * pairs * ((double)(s->batch * s->out[0] * s->out[1]) / DIRECT_SPEED / threads + DIRECT_WEIGHT_COST);
}

bool winograd_is_faster(const struct winograd_shape *s, const struct target *t)
{
    return s->in_channels >= CHANNELS_MIN && s->out_channels >= CHANNELS_MIN &&
           transformed_cost(s, t) < WORTH * direct_cost(s, t);
}

/* ---- shapes ---- */

/* Chunks of so many tiles; false: they are cut like smaller ones. */
static bool cut(struct winograd_shape *s, int64_t height, int64_t width, int64_t tile_rows)
{
    const int64_t chunk[2] = {height, width};

    for (uint32_t d = 0; d < 2; d++) {
        s->count[d] = divide_up(s->tiles[d], chunk[d]);
        s->chunk[d] = chunk[d];
        if (divide_up(s->tiles[d], s->count[d]) != chunk[d])
            return false;
    }
    s->tile_rows = tile_rows;
    s->rows = divide_up(height * width, tile_rows) * tile_rows;
    return true;
}

/*
 * Chunks are some rows of tiles, or parts of some: those that cost least.  Small ones read the weights often, large ones leave
 * the second cache; some leave tiles of accumulators or the last chunk half empty, or threads without work.
 */
static void choose_chunks(struct winograd_shape *s, const struct target *t)
{
    const int64_t even[2] = {TILE_ROWS, TILE_ROWS_ODD}, few = TILE_ROWS_FEW;
    const int64_t *tile_rows = t->vector_bits >= 512 ? even : &few;
    struct winograd_shape best = *s;
    double least = 0;

    for (int i = 0; i < (t->vector_bits >= 512 ? 2 : 1); i++)
        for (int64_t height = 1; height <= s->tiles[0] && height <= TILES_ENOUGH; height++)
            for (int64_t width = 1; width <= s->tiles[1] && height * width <= TILES_ENOUGH; width++) {
                double cost;

                if (!cut(s, height, width, tile_rows[i]))
                    continue;
                if (height * width > TILES_MIN && scratch_bytes(s) > SCRATCH * cache_of(t))
                    continue;
                cost = transformed_cost(s, t) * (i ? SPECIAL : 1);
                for (uint32_t d = 0; d < 2; d++)
                    cost *= s->count[d] * s->chunk[d] > s->tiles[d] ? SPECIAL : 1;
                if (least > 0 && cost >= least)
                    continue;
                least = cost;
                best = *s;
            }
    *s = best;
}

bool winograd_shape(const struct node *n, const struct target *t, struct winograd_shape *s)
{
    const int64_t lanes = lanes_of(t), wide = lanes > 1 ? PANEL_VECTORS * lanes : 1;
    const uint32_t *in, *out, *filter;
    struct conv_view c;

    if (n->op != OP_CONV2D || n->inputs[0].value->type.type != WNNOperandDataType_Float32)
        return false;
    c = conv_view(n);
    in = n->inputs[0].value->type.dims;
    out = n->results[0]->type.dims;
    filter = n->inputs[1].value->type.dims;
    if (c.groups != 1)
        return false;
    *s = (struct winograd_shape){.batch = in[c.image[AXIS_BATCH]],
                                 .in_channels = filter[c.filter[AXIS_INPUT]],
                                 .out_channels = filter[c.filter[AXIS_OUTPUT]]};
    for (uint32_t d = 0; d < 2; d++) {
        if (c.strides[d] != 1 || c.dilations[d] != 1 || filter[c.filter[AXIS_HEIGHT + d]] != 3)
            return false;
        s->in[d] = in[c.image[AXIS_HEIGHT + d]];
        s->out[d] = out[c.image[AXIS_HEIGHT + d]];
        s->padding[d] = c.padding[2 * d];
        s->tiles[d] = divide_up(s->out[d], 2);
    }
    choose_chunks(s, t);
    s->block = s->in_channels % BLOCK == 0 ? BLOCK : s->in_channels % (BLOCK / 2) == 0 ? BLOCK / 2 : s->in_channels;
    s->panel = s->out_channels % wide == 0
                   ? wide
                   : pack_panel_width(t, s->out_channels, s->out_channels, s->rows, s->in_channels);
    return true;
}

/* ---- weights ---- */

/* Weights [out][in][3][3] by strides. */
struct weights {
    const float *data;
    int64_t strides[4];
};

static float weight_at(const struct weights *w, int64_t out, int64_t in, int64_t y, int64_t x)
{
    float v;

    /* lent bytes may lie at any address */
    memcpy(&v, w->data + out * w->strides[0] + in * w->strides[1] + y * w->strides[2] + x * w->strides[3], sizeof v);
    return v;
}

enum { LANES = 32 }; /* output channels that are transformed side by side */

/* G g G^T of `count` output channels and one input channel: g[3 * y + x][lane], u[4 * y + x][lane]. */
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

/* False: some weight is too large, or not finite. */
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

/* False: g->error. *done: whether the weights allow it. */
static bool attach(struct graph *g, struct node *n, const struct winograd_shape *s, bool *done)
{
    const struct tensor_type type = {
        .type = WNNOperandDataType_Float32,
        .rank = 4,
        .dims = {WINOGRAD_POINTS, (uint32_t)(s->out_channels / s->panel), (uint32_t)s->in_channels, (uint32_t)s->panel}};
    const struct weights w = weights_of(n);
    struct constant *c = constant_create(NULL, (size_t)type_bytes(&type));
    struct value *v;

    *done = false;
    if (!c)
        return error_out_of_memory(&g->error);
    if (!transform_all(&w, s, (float *)(uintptr_t)c->data)) {
        constant_release(c);
        return true;
    }
    v = graph_add_constant(g, &type, c);
    if (!v)
        return false;
    v->kept = true;
    n->transformed = v;
    *done = true;
    return true;
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
        if (o->target->narrows_node && o->target->narrows_node(o->target->user, n))
            continue;
        if (!attach(g, n, &s, &done))
            return changed;
        changed |= done;
    }
    return changed;
}
