/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A convolution with transformed weights (pass winograd), and what is fused with it, as a kernel of stages (ir/kernel.h):
 *
 *   input    V[16][tile][in] = B^T d B of every 4x4 tile of inputs, and the sum of its squares
 *   judge    the largest of those sums, which is not finite if an input is not or is too large
 *   product  M[16][tile][out] = V * U, 16 products of matrices; U: the transformed weights
 *   output   y = A^T M A, 2x2 outputs of every tile, and on them all that follows
 *   direct   instead of the last three where inputs are too large or not finite: the plain sums
 *
 * Outputs of a cluster are evaluated four times, at the four elements of a tile, where the convolution's element is known.
 */
#include "ir/conv.h"
#include "passes/lower.h"
#include "passes/winograd.h"

enum { LOCAL_JUDGE, LOCAL_SQUARES, LOCAL_INPUT, LOCAL_PRODUCT, LOCAL_COUNT };
enum {
    OUTPUTS_MAX = 4,
    EXPRESSIONS_MAX = 480, /* of the outputs: four times what follows */
    SQUARE_SUMS = 4,       /* of a tile, of which one addition need not wait for the other's */
    GAP = 16               /* elements between the 16 matrices, lest all their rows share a set of the first cache */
};

/* Stand for the locals where a kernel's tensor has the value it is. */
static const char local_marks[LOCAL_COUNT];

struct builder {
    const struct node *n;
    const struct node_table *table;
    struct winograd_shape s;
    const uint32_t *image; /* axes */
    uint32_t output_count;
    struct value *const *outputs;
    int64_t v_step, m_step; /* from matrix to matrix */
    int64_t local_elements[LOCAL_COUNT];
    struct kernel *k; /* of all stages */
};

/* ---- stages ---- */

/* A stage being made: its variables of the chunk. */
struct stage {
    struct lowering l;
    struct kaffine batch, row, column; /* the chunk's batch, first row and column of tiles */
    struct builder *b;
};

static bool stage_begin(struct stage *st, struct builder *b)
{
    struct kernel *k;

    st->b = b;
    if (!lower_begin(&st->l, b->table))
        return false;
    k = st->l.k;
    k->chunk_vars = 3;
    k->fixed_lanes = true;
    st->batch = kaffine_var(k, kernel_var(k, KVAR_PARALLEL, b->s.batch));
    st->row = kaffine_scale(k, kaffine_var(k, kernel_var(k, KVAR_PARALLEL, b->s.count[0])), b->s.chunk[0]);
    st->column = kaffine_scale(k, kaffine_var(k, kernel_var(k, KVAR_PARALLEL, b->s.count[1])), b->s.chunk[1]);
    return true;
}

static struct kaffine variable(struct stage *st, enum kvar_kind kind, int64_t size)
{
    return kaffine_var(st->l.k, kernel_var(st->l.k, kind, size));
}

static uint32_t local_tensor(struct stage *st, uint32_t local, bool written)
{
    return kernel_tensor(st->l.k, WNNOperandDataType_Float32, st->b->local_elements[local], written,
                         (void *)(uintptr_t)&local_marks[local]);
}

/* The kernel's tensor that is a stage's: a local, a value that some stage had before, or a new one. */
static uint32_t outer_tensor(struct kernel *k, const struct ktensor *t)
{
    for (uint32_t i = 0; i < LOCAL_COUNT; i++)
        if (t->user == &local_marks[i])
            return KERNEL_TENSORS_MAX + i;
    for (uint32_t i = 0; i < k->tensor_count; i++)
        if (k->tensors[i].user == t->user && k->tensors[i].written == t->written)
            return i;
    return kernel_tensor(k, t->type, t->elements, t->written, t->user);
}

/* Appends the stage if it is good. */
static bool stage_end(struct stage *st, bool good, const char *name, enum kstage_when when)
{
    struct kernel *own, *k = st->b->k;
    uint32_t tensors[KERNEL_TENSORS_MAX];
    struct kstage *stage;

    good = good && st->l.k && !st->l.unfusable && !st->l.k->error.status;
    own = lower_end(&st->l, good);
    if (!own)
        return false;
    for (uint32_t i = 0; i < own->tensor_count; i++)
        tensors[i] = outer_tensor(k, &own->tensors[i]);
    snprintf(own->name, sizeof own->name, "%s_%u", name, st->b->n->index);
    stage = kernel_stage(k, own, tensors);
    if (!stage)
        return false;
    stage->when = when;
    stage->judge = LOCAL_JUDGE;
    stage->limit = WINOGRAD_SQUARES_LIMIT;
    return true;
}

/* The map of an image's element. */
static struct map image_map(const struct builder *b, struct kaffine batch, struct kaffine y, struct kaffine x,
                            struct kaffine channel)
{
    struct map m = {.rank = 4};

    m.forms[b->image[AXIS_BATCH]] = batch;
    m.forms[b->image[AXIS_HEIGHT]] = y;
    m.forms[b->image[AXIS_WIDTH]] = x;
    m.forms[b->image[AXIS_CHANNEL]] = channel;
    return m;
}

/* An input's element, 0 outside. */
static uint32_t input_at(struct stage *st, struct kaffine y, struct kaffine x, struct kaffine channel)
{
    struct builder *b = st->b;
    const struct map m = image_map(b, st->batch, y, x, channel);
    const struct kguard guards[2] = {{y, b->s.in[0]}, {x, b->s.in[1]}};

    return lower_guarded(&st->l, b->n->inputs[0].value, &m, 2, guards, (union scalar){.u64 = 0});
}

/* The first input of a tile along a dimension, `tile` counted in the image. */
static struct kaffine first_input(struct stage *st, struct kaffine tile, uint32_t d)
{
    return kaffine_add_const(kaffine_scale(st->l.k, tile, 2), -st->b->s.padding[d]);
}

static uint32_t add(struct kernel *k, uint32_t a, uint32_t b)
{
    return kernel_op2(k, K_ADD, a, b);
}

static uint32_t sub(struct kernel *k, uint32_t a, uint32_t b)
{
    return kernel_op2(k, K_SUB, a, b);
}

/* B^T times a column of four, `step` apart. */
static void transform_input(struct kernel *k, uint32_t *d, uint32_t step)
{
    const uint32_t a[4] = {d[0], d[step], d[2 * step], d[3 * step]};

    d[0] = sub(k, a[0], a[2]);
    d[step] = add(k, a[1], a[2]);
    d[2 * step] = sub(k, a[2], a[1]);
    d[3 * step] = sub(k, a[1], a[3]);
}

/* The sum of a tile's squares: infinite or NaN if the transform's sums might overflow.  Less than a comparison costs. */
static uint32_t squares(struct kernel *k, const uint32_t d[WINOGRAD_POINTS])
{
    uint32_t sums[SQUARE_SUMS];

    for (uint32_t i = 0; i < SQUARE_SUMS; i++)
        sums[i] = kernel_op2(k, K_MUL, d[i], d[i]);
    for (uint32_t i = SQUARE_SUMS; i < WINOGRAD_POINTS; i++)
        sums[i % SQUARE_SUMS] = kernel_op3(k, K_FMA, d[i], d[i], sums[i % SQUARE_SUMS]);
    for (uint32_t i = 1; i < SQUARE_SUMS; i++)
        sums[0] = add(k, sums[0], sums[i]);
    return sums[0];
}

static bool make_input(struct builder *b)
{
    struct stage st;
    bool good = stage_begin(&st, b);

    if (good) {
        struct kernel *k = st.l.k;
        struct kaffine row = variable(&st, KVAR_PARALLEL, b->s.chunk[0]), column = variable(&st, KVAR_PARALLEL, b->s.chunk[1]);
        struct kaffine lane = variable(&st, KVAR_PARALLEL, b->s.block);
        struct kaffine block = variable(&st, KVAR_REDUCED, b->s.in_channels / b->s.block);
        struct kaffine channel = kaffine_add(k, kaffine_scale(k, block, b->s.block), lane);
        struct kaffine y = first_input(&st, kaffine_add(k, st.row, row), 0);
        struct kaffine x = first_input(&st, kaffine_add(k, st.column, column), 1);
        struct kaffine tile = kaffine_add(k, kaffine_scale(k, row, b->s.chunk[1]), column);
        struct kaffine to = kaffine_add(k, kaffine_scale(k, tile, b->s.in_channels), channel);
        uint32_t d[WINOGRAD_POINTS], tensor;

        for (uint32_t i = 0; good && i < WINOGRAD_POINTS; i++) {
            d[i] = input_at(&st, kaffine_add_const(y, i / 4), kaffine_add_const(x, i % 4), channel);
            good = d[i] != KEXPR_NONE;
        }
        if (good) {
            kernel_store(k, local_tensor(&st, LOCAL_SQUARES, true), kaffine_add(k, kaffine_scale(k, tile, b->s.block), lane),
                         kernel_reduce(k, KR_MAX, squares(k, d)), 0, NULL);
            tensor = local_tensor(&st, LOCAL_INPUT, true);
            for (uint32_t i = 0; i < 4; i++)
                transform_input(k, d + i, 4);
            for (uint32_t i = 0; i < 4; i++)
                transform_input(k, d + 4 * i, 1);
            for (uint32_t i = 0; i < WINOGRAD_POINTS; i++)
                kernel_store(k, tensor, kaffine_add_const(to, i * b->v_step), d[i], 0, NULL);
        }
    }
    return stage_end(&st, good, "input", KSTAGE_ALWAYS);
}

static bool make_judge(struct builder *b)
{
    struct stage st;
    bool good = stage_begin(&st, b);

    if (good) {
        struct kernel *k = st.l.k;
        struct kaffine at = variable(&st, KVAR_REDUCED, b->local_elements[LOCAL_SQUARES]);
        uint32_t e = kernel_load(k, local_tensor(&st, LOCAL_SQUARES, false), at, 0, NULL, (union scalar){.u64 = 0});

        kernel_store(k, local_tensor(&st, LOCAL_JUDGE, true), kaffine_const(0), kernel_reduce(k, KR_MAX, e), 0, NULL);
    }
    return stage_end(&st, good, "judge", KSTAGE_ALWAYS);
}

static bool make_product(struct builder *b)
{
    const struct value *u = b->n->transformed;
    const union scalar zero = {.u64 = 0};
    struct stage st;
    bool good = stage_begin(&st, b);

    if (good) {
        struct kernel *k = st.l.k;
        k->tile_rows = (uint32_t)b->s.tile_rows;
        struct kaffine point = variable(&st, KVAR_PARALLEL, WINOGRAD_POINTS);
        struct kaffine panel = variable(&st, KVAR_PARALLEL, b->s.out_channels / b->s.panel);
        struct kaffine tile = variable(&st, KVAR_PARALLEL, b->s.rows), lane = variable(&st, KVAR_PARALLEL, b->s.panel);
        struct kaffine in = variable(&st, KVAR_REDUCED, b->s.in_channels);
        struct kaffine v = kaffine_add(k, kaffine_scale(k, tile, b->s.in_channels), in);
        struct kaffine w = kaffine_add(k, kaffine_scale(k, point, b->s.out_channels / b->s.panel), panel);
        struct kaffine m = kaffine_add(k, kaffine_scale(k, tile, b->s.out_channels), kaffine_scale(k, panel, b->s.panel));
        uint32_t v_tensor = local_tensor(&st, LOCAL_INPUT, false), u_tensor = lower_tensor(&st.l, u, false);

        v = kaffine_add(k, kaffine_scale(k, point, b->v_step), v);
        w = kaffine_add(k, kaffine_scale(k, w, b->s.in_channels), in);
        w = kaffine_add(k, kaffine_scale(k, w, b->s.panel), lane);
        m = kaffine_add(k, kaffine_add(k, kaffine_scale(k, point, b->m_step), m), lane);
        kernel_store(k, local_tensor(&st, LOCAL_PRODUCT, true), m,
                     kernel_dot(k, kernel_load(k, v_tensor, v, 0, NULL, zero), kernel_load(k, u_tensor, w, 0, NULL, zero)), 0,
                     NULL);
    }
    return stage_end(&st, good, "product", KSTAGE_BELOW);
}

/* Stores the cluster's outputs where the base value, the convolution's result, has its element at m. */
static bool store_outputs(struct stage *st, const struct map *m)
{
    struct builder *b = st->b;

    lower_forget_bases(&st->l);
    lower_add_base(&st->l, b->n->results[0], m);
    for (uint32_t i = 0; i < b->output_count; i++) {
        const struct value *v = b->outputs[i];
        struct kaffine index;
        struct map at;
        uint32_t e, tensor;

        if (!lower_place_output(&st->l, v, &at))
            return false;
        e = lower_value(&st->l, v, &at);
        if (e == KEXPR_NONE || st->l.unfusable)
            return false;
        tensor = lower_tensor(&st->l, v, true);
        if (tensor == UINT32_MAX)
            return false;
        index = map_linear(&st->l, &at, &v->type);
        kernel_store(st->l.k, tensor, index, e, at.guard_count, at.guards);
    }
    return !st->l.k->error.status;
}

/* A^T times a column of four: two. */
static void transform_output(struct kernel *k, uint32_t *m, uint32_t step)
{
    const uint32_t a[4] = {m[0], m[step], m[2 * step], m[3 * step]};

    m[0] = add(k, add(k, a[0], a[1]), a[2]);
    m[step] = sub(k, sub(k, a[1], a[2]), a[3]);
}

/* The element of the convolution's result at m, from its tile's: with bias. */
static bool know_element(struct stage *st, const struct map *m, uint32_t e)
{
    const struct node *n = st->b->n;
    struct map channel = map_like(m, 1);

    if (n->inputs[2].value) {
        channel.forms[0] = m->forms[st->b->image[AXIS_CHANNEL]];
        e = kernel_op2(st->l.k, K_ADD, e, lower_value(&st->l, n->inputs[2].value, &channel));
    }
    lower_know(&st->l, n->results[0], m, e);
    return !st->l.unfusable && !st->l.k->error.status;
}

static bool make_output(struct builder *b)
{
    const union scalar zero = {.u64 = 0};
    struct stage st;
    bool good = stage_begin(&st, b);

    if (good) {
        struct kernel *k = st.l.k;
        struct kaffine row = variable(&st, KVAR_PARALLEL, b->s.chunk[0]), column = variable(&st, KVAR_PARALLEL, b->s.chunk[1]);
        struct kaffine lane = variable(&st, KVAR_PARALLEL, b->s.panel);
        struct kaffine panel = variable(&st, KVAR_REDUCED, b->s.out_channels / b->s.panel);
        struct kaffine channel = kaffine_add(k, kaffine_scale(k, panel, b->s.panel), lane);
        struct kaffine y = kaffine_scale(k, kaffine_add(k, st.row, row), 2);
        struct kaffine x = kaffine_scale(k, kaffine_add(k, st.column, column), 2);
        struct kaffine tile = kaffine_add(k, kaffine_scale(k, row, b->s.chunk[1]), column);
        struct kaffine from = kaffine_add(k, kaffine_scale(k, tile, b->s.out_channels), channel);
        uint32_t m[WINOGRAD_POINTS], tensor = local_tensor(&st, LOCAL_PRODUCT, false);

        for (uint32_t i = 0; i < WINOGRAD_POINTS; i++)
            m[i] = kernel_load(k, tensor, kaffine_add_const(from, i * b->m_step), 0, NULL, zero);
        for (uint32_t i = 0; i < 4; i++)
            transform_output(k, m + i, 4);
        for (uint32_t i = 0; i < 2; i++)
            transform_output(k, m + 4 * i, 1);
        for (uint32_t i = 0; good && i < 4; i++) {
            struct map at = image_map(b, st.batch, kaffine_add_const(y, i / 2), kaffine_add_const(x, i % 2), channel);
            const struct kguard guards[2] = {{at.forms[b->image[AXIS_HEIGHT]], b->s.out[0]},
                                             {at.forms[b->image[AXIS_WIDTH]], b->s.out[1]}};

            good =
                map_guard(&st.l, &at, 2, guards) && know_element(&st, &at, m[4 * (i / 2) + i % 2]) && store_outputs(&st, &at);
        }
        good = good && k->expr_count <= EXPRESSIONS_MAX;
    }
    return stage_end(&st, good, "output", KSTAGE_BELOW);
}

static bool make_direct(struct builder *b)
{
    struct stage st;
    bool good = stage_begin(&st, b);

    if (good) {
        struct kernel *k = st.l.k;
        struct kaffine y = kaffine_add(k, kaffine_scale(k, st.row, 2), variable(&st, KVAR_PARALLEL, 2 * b->s.chunk[0]));
        struct kaffine x = kaffine_add(k, kaffine_scale(k, st.column, 2), variable(&st, KVAR_PARALLEL, 2 * b->s.chunk[1]));
        struct map m = image_map(b, st.batch, y, x, variable(&st, KVAR_PARALLEL, b->s.out_channels));
        const struct kguard guards[2] = {{y, b->s.out[0]}, {x, b->s.out[1]}};
        struct reduced_space space;

        k->plain = true;
        k->fixed_lanes = false;
        good = lower_reduces(b->n, &space) && map_guard(&st.l, &m, 2, guards);
        st.l.reduced = kaffine_const(0);
        for (uint32_t i = 0; good && i < space.count; i++)
            st.l.reduced =
                kaffine_add(k, kaffine_scale(k, st.l.reduced, space.sizes[i]), variable(&st, KVAR_REDUCED, space.sizes[i]));
        st.l.reduced_points = space.points;
        st.l.anchor = b->n;
        good = good && store_outputs(&st, &m);
    }
    return stage_end(&st, good, "direct", KSTAGE_NOT_BELOW);
}

/* ---- the kernel ---- */

struct kernel *lower_winograd(const struct target *target, const struct node_table *t, const struct node *n,
                              uint32_t output_count, struct value *const *outputs)
{
    struct builder b = {.n = n, .table = t, .output_count = output_count, .outputs = outputs};

    if (!target || output_count > OUTPUTS_MAX || !winograd_shape(n, target, &b.s))
        return NULL;
    b.image = conv_view(n).image;
    b.v_step = b.s.rows * b.s.in_channels + GAP;
    b.m_step = b.s.rows * b.s.out_channels + GAP;
    b.local_elements[LOCAL_JUDGE] = 1;
    b.local_elements[LOCAL_SQUARES] = b.s.chunk[0] * b.s.chunk[1] * b.s.block;
    b.local_elements[LOCAL_INPUT] = WINOGRAD_POINTS * b.v_step;
    b.local_elements[LOCAL_PRODUCT] = WINOGRAD_POINTS * b.m_step;
    b.k = kernel_create();
    if (!b.k)
        return NULL;
    snprintf(b.k->name, sizeof b.k->name, "winograd_conv2d_%u", n->index);
    snprintf(b.k->label, sizeof b.k->label, "%s", n->label);
    for (uint32_t i = 0; i < LOCAL_COUNT; i++)
        kernel_local(b.k, WNNOperandDataType_Float32, b.local_elements[i]);
    if (make_input(&b) && make_judge(&b) && make_product(&b) && make_output(&b) && make_direct(&b))
        return b.k;
    kernel_free(b.k);
    return NULL;
}
