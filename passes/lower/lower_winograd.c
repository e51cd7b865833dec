/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers a convolution with transformed weights (pass winograd), and nodes fused with it, to a kernel of these stages
 * (ir/kernel/kernel.h):
 *
 *   input      V[point][tile][in] = B^T d B of every tile of inputs, and the sum of its squares
 *   predicate  the largest of those sums, which is not finite if an input is not or is too large
 *   matmul     M[point][tile][out] = V * U, a matmul for each point, where U is the transformed weights
 *   output     y = A^T M A, the outputs of every tile, and on them all that follows
 *   direct     instead of the last three where inputs are too large or not finite: the sums of the definition
 *
 * Those of bytes are integers, without the sum of squares, predicate and direct.
 *
 * Outputs of a cluster are evaluated at each element of a tile, where the convolution's element is known.
 */
#include "ir/graph/conv.h"
#include "ir/schedule/contraction.h"
#include "passes/lower/stages.h"
#include "passes/cluster/winograd.h"

enum { LOCAL_INPUT, LOCAL_MATMUL, LOCAL_PREDICATE, LOCAL_SQUARES };
enum {
    OUTPUTS_MAX = 4,
    EXPRESSIONS_MAX = 120, /* of the outputs: for each result of a tile */
    SQUARE_SUMS = 4,       /* of a tile, of which one addition need not wait for the other's */
    GAP = TARGET_LINE_BYTES /
          sizeof(float) /* elements between the matrices, lest all their rows share a set of the first-level cache */
};

struct builder {
    const struct node *n;
    struct winograd_shape s;
    struct winograd_operands operands;
    const uint32_t *image;  /* axes */
    int64_t v_step, m_step; /* from matrix to matrix */
    struct stages stages;
};

/* ---- stages ---- */

/* This is a stage that is being made. */
struct part {
    struct stage stage;
    struct kaffine batch, row, column; /* the macro-tile's batch, first row and column of tiles */
    struct builder *b;
};

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

/* Returns an input's element, 0 outside. */
static uint32_t input_at(struct part *st, struct kaffine y, struct kaffine x, struct kaffine channel)
{
    struct builder *b = st->b;
    const struct map m = image_map(b, st->batch, y, x, channel);
    const struct kguard guards[2] = {{y, b->s.in[0]}, {x, b->s.in[1]}};

    return lower_guarded(&st->stage.l, b->operands.x, &m, 2, guards, (union scalar){.u64 = 0});
}

/* Returns the lesser of an index and the last of `size`, as data: code is the same for sizes that divide evenly and others. */
static struct kaffine at_most_last(struct part *st, uint32_t index, int64_t size)
{
    struct kernel *k = st->stage.l.k;

    return kernel_loaded_var(k, kernel_cast(k, KT_U64, index), size);
}

/* Returns the first result of a macro-tile's tile along a dimension.  Tiles beyond the image are the last one. */
static struct kaffine first_result(struct part *st, struct kaffine tile, uint32_t d)
{
    struct kernel *k = st->stage.l.k;
    const struct winograd_shape *s = &st->b->s;
    const int64_t results = s->tile->results[d];
    struct kaffine at = kaffine_add(k, d ? st->column : st->row, tile);

    return at_most_last(st, kernel_index(k, kaffine_scale(k, at, results)), results * (s->tiles[d] - 1) + 1);
}

/* Multiplies a transform's matrix with a column whose elements are `step` apart, in place. */
static void multiply(struct kernel *k, const struct winograd_steps *m, uint32_t *column, int64_t step)
{
    uint32_t v[WINOGRAD_REGISTERS];

    for (uint32_t i = 0; i < m->inputs; i++)
        v[i] = column[i * step];
    for (uint32_t i = 0; i < m->count; i++) {
        const struct winograd_step *s = &m->steps[i];
        const uint32_t from = v[s->from], plus = v[s->plus];

        v[s->to] = s->factor == 0    ? plus
                   : s->factor == 1  ? kernel_op2(k, K_ADD, plus, from)
                   : s->factor == -1 ? kernel_op2(k, K_SUB, plus, from)
                                     : kernel_op3(k, K_FMA, from, kernel_f32(k, s->factor), plus);
    }
    for (uint32_t i = 0; i < m->results; i++)
        column[i * step] = v[WINOGRAD_SIDE_MAX + i];
}

/* Returns the sum of a tile's squares, which is infinite or NaN if the transform's sums might overflow.  It takes less than a
 * comparison. */
static uint32_t squares(struct kernel *k, const uint32_t *d, int64_t points)
{
    uint32_t sums[SQUARE_SUMS];

    for (uint32_t i = 0; i < SQUARE_SUMS; i++)
        sums[i] = kernel_op2(k, K_MUL, d[i], d[i]);
    for (uint32_t i = SQUARE_SUMS; i < points; i++)
        sums[i % SQUARE_SUMS] = kernel_op3(k, K_FMA, d[i], d[i], sums[i % SQUARE_SUMS]);
    for (uint32_t i = 1; i < SQUARE_SUMS; i++)
        sums[0] = kernel_op2(k, K_ADD, sums[0], sums[i]);
    return sums[0];
}

static bool make_input(struct part *st)
{
    const struct builder *b = st->b;
    struct kernel *k = st->stage.l.k;
    struct kaffine row = stage_var(&st->stage, KVAR_PARALLEL, b->s.macro_tile[0]),
                   column = stage_var(&st->stage, KVAR_PARALLEL, b->s.macro_tile[1]);
    struct kaffine lane = stage_var(&st->stage, KVAR_PARALLEL, b->s.block);
    struct kaffine block = stage_var(&st->stage, KVAR_REDUCED, b->s.in_channels / b->s.block);
    struct kaffine channel = kaffine_add(k, kaffine_scale(k, block, b->s.block), lane);
    struct kaffine y = kaffine_add_const(kaffine_scale(k, first_result(st, row, 0), b->s.tile->stride), -b->s.padding[0]);
    struct kaffine x = kaffine_add_const(kaffine_scale(k, first_result(st, column, 1), b->s.tile->stride), -b->s.padding[1]);
    struct kaffine tile = kaffine_add(k, kaffine_scale(k, row, b->s.macro_tile[1]), column);
    struct kaffine to = kaffine_add(k, kaffine_scale(k, tile, b->s.in_channels), channel);
    const struct winograd_transform *const *side = b->s.tile->side;
    const int64_t wide = side[1]->input.inputs, points = b->s.tile->points;
    uint32_t d[WINOGRAD_POINTS_MAX], tensor;

    for (int64_t i = 0; i < points; i++) {
        d[i] = input_at(st, kaffine_add_const(y, i / wide), kaffine_add_const(x, i % wide), channel);
        if (d[i] == KEXPR_NONE)
            return false;
    }
    if (!b->s.numbers)
        kernel_store(k, stage_local(&st->stage, LOCAL_SQUARES, true), kaffine_add(k, kaffine_scale(k, tile, b->s.block), lane),
                     kernel_reduce(k, KR_MAX, squares(k, d, points)), 0, NULL);
    tensor = stage_local(&st->stage, LOCAL_INPUT, true);
    for (int64_t i = 0; i < wide; i++)
        multiply(k, &side[0]->input, d + i, wide);
    for (int64_t i = 0; i < points; i += wide)
        multiply(k, &side[1]->input, d + i, 1);
    for (int64_t i = 0; i < points; i++)
        kernel_store(k, tensor, kaffine_add_const(to, i * b->v_step), d[i], 0, NULL);
    return true;
}

static bool make_predicate(struct part *st)
{
    const struct builder *b = st->b;
    struct kernel *k = st->stage.l.k;
    struct kaffine at = stage_var(&st->stage, KVAR_REDUCED, b->stages.kernel->locals[LOCAL_SQUARES].elements);
    uint32_t e = kernel_load(k, stage_local(&st->stage, LOCAL_SQUARES, false), at, 0, NULL, (union scalar){.u64 = 0});

    kernel_store(k, stage_local(&st->stage, LOCAL_PREDICATE, true), kaffine_const(0), kernel_reduce(k, KR_MAX, e), 0, NULL);
    return true;
}

static bool make_matmul(struct part *st)
{
    const struct builder *b = st->b;
    const struct value *u = b->n->transformed;
    const union scalar zero = {.u64 = 0};
    struct kernel *k = st->stage.l.k;
    k->contraction =
        (struct kcontraction){.m_multiple = (uint32_t)b->s.mr, .sum_steps = winograd_sum_steps(b->s.tile, b->s.in_channels)};
    struct kaffine point = stage_var(&st->stage, KVAR_PARALLEL, b->s.tile->points);
    struct kaffine panel = stage_var(&st->stage, KVAR_PARALLEL, b->s.out_channels / b->s.panel);
    struct kaffine tile = stage_var(&st->stage, KVAR_PARALLEL, b->s.rows),
                   lane = stage_var(&st->stage, KVAR_PARALLEL, b->s.panel);
    const int64_t word = b->s.numbers ? BYTE_WIDE_WORD : 1;
    const enum ktype type = b->s.numbers ? KT_I32 : KT_F32;
    struct kaffine words = stage_var(&st->stage, KVAR_REDUCED, b->s.in_channels / word),
                   number = word > 1 ? stage_var(&st->stage, KVAR_REDUCED, word) : kaffine_const(0);
    struct kaffine in = kaffine_add_scaled(k, number, words, word);
    struct kaffine v = kaffine_add_scaled(k, kaffine_add_scaled(k, in, tile, b->s.in_channels), point, b->v_step);
    struct kaffine w = kaffine_add_scaled(k, panel, point, b->s.out_channels / b->s.panel);
    struct kaffine m = kaffine_add_scaled(k, kaffine_add_scaled(k, lane, tile, b->s.out_channels), panel, b->s.panel);
    uint32_t v_tensor = stage_local(&st->stage, LOCAL_INPUT, false), u_tensor = lower_tensor(&st->stage.l, u, false);

    w = kaffine_add_scaled(k, lane, kaffine_add_scaled(k, words, w, b->s.in_channels / word), b->s.panel);
    w = kaffine_add_scaled(k, number, w, word);
    const uint32_t from = kernel_cast(k, type, kernel_load(k, v_tensor, v, 0, NULL, zero)),
                   by = kernel_cast(k, type, kernel_load(k, u_tensor, w, 0, NULL, zero));
    kernel_store(k, stage_local(&st->stage, LOCAL_MATMUL, true), kaffine_add_scaled(k, m, point, b->m_step),
                 kernel_dot(k, from, by), 0, NULL);
    return true;
}

/* Says what the element of the convolution's result at m is, from its tile's element: with bias. */
static bool know_element(struct part *st, const struct map *m, uint32_t e)
{
    const struct node *n = st->b->n;
    struct lowering *l = &st->stage.l;
    struct map channel = map_like(m, 1), filter = map_like(m, 4);
    uint32_t scale = kernel_f32(l->k, 1);

    channel.forms[0] = filter.forms[conv_view(n).filter[AXIS_OUTPUT]] = m->forms[st->b->image[AXIS_CHANNEL]];
    for (uint32_t i = 0; i < 2 && st->b->operands.scales[i]; i++) {
        const struct value *v = st->b->operands.scales[i];
        const struct map at = map_broadcast(l, &filter, &n->inputs[1].value->type, &v->type);
        scale = kernel_op2(l->k, K_MUL, scale, lower_value(l, v, &at));
    }
    if (st->b->s.numbers)
        e = kernel_op2(l->k, K_MUL, kernel_cast(l->k, KT_F32, e), kernel_f32(l->k, 1.0f / WINOGRAD_NUMBERS_SCALE));
    e = kernel_op2(l->k, K_MUL, e, scale);
    if (n->inputs[2].value)
        e = kernel_op2(l->k, K_ADD, e, lower_value(l, n->inputs[2].value, &channel));
    lower_know(l, n->results[0], m, e);
    return !l->unfusable && !l->k->error.status;
}

static bool make_output(struct part *st)
{
    const struct builder *b = st->b;
    const struct winograd_transform *const *side = b->s.tile->side;
    const int64_t wide = side[1]->output.inputs, *results = b->s.tile->results;
    const union scalar zero = {.u64 = 0};
    struct kernel *k = st->stage.l.k;
    struct kaffine row = stage_var(&st->stage, KVAR_PARALLEL, b->s.macro_tile[0]),
                   column = stage_var(&st->stage, KVAR_PARALLEL, b->s.macro_tile[1]);
    struct kaffine lane = stage_var(&st->stage, KVAR_PARALLEL, b->s.panel);
    struct kaffine panel = stage_var(&st->stage, KVAR_REDUCED, b->s.out_channels / b->s.panel);
    struct kaffine channel = kaffine_add(k, kaffine_scale(k, panel, b->s.panel), lane);
    struct kaffine y = first_result(st, row, 0), x = first_result(st, column, 1);
    struct kaffine tile = kaffine_add(k, kaffine_scale(k, row, b->s.macro_tile[1]), column);
    struct kaffine from = kaffine_add(k, kaffine_scale(k, tile, b->s.out_channels), channel);
    uint32_t m[WINOGRAD_POINTS_MAX], tensor = stage_local(&st->stage, LOCAL_MATMUL, false);

    for (int64_t i = 0; i < b->s.tile->points; i++)
        m[i] = kernel_load(k, tensor, kaffine_add_const(from, i * b->m_step), 0, NULL, zero);
    for (int64_t i = 0; i < wide; i++)
        multiply(k, &side[0]->output, m + i, wide);
    for (int64_t i = 0; i < results[0]; i++)
        multiply(k, &side[1]->output, m + wide * i, 1);
    /* Results beyond the image are stored where the last one is, which then is stored last. */
    for (int64_t i = results[0] * results[1]; i-- > 0;) {
        const int64_t r = i / results[1], c = i % results[1];
        if ((r && b->s.out[0] == 1) || (c && b->s.out[1] == 1)) /* it would be the same element, and only one value is known */
            continue;
        struct kaffine row_at = r ? at_most_last(st, kernel_index(k, kaffine_add_const(y, r)), b->s.out[0]) : y;
        struct kaffine column_at = c ? at_most_last(st, kernel_index(k, kaffine_add_const(x, c)), b->s.out[1]) : x;
        struct map at = image_map(b, st->batch, row_at, column_at, channel);

        if (!know_element(st, &at, m[wide * r + c]) || !stage_store_outputs(&st->stage, b->n->results[0], &at))
            return false;
    }
    return k->expr_count <= EXPRESSIONS_MAX * results[0] * results[1];
}

static bool make_direct(struct part *st)
{
    const struct builder *b = st->b;
    struct kernel *k = st->stage.l.k;
    const int64_t *results = b->s.tile->results;
    struct kaffine y = kaffine_add(k, kaffine_scale(k, st->row, results[0]),
                                   stage_var(&st->stage, KVAR_PARALLEL, results[0] * b->s.macro_tile[0]));
    struct kaffine x = kaffine_add(k, kaffine_scale(k, st->column, results[1]),
                                   stage_var(&st->stage, KVAR_PARALLEL, results[1] * b->s.macro_tile[1]));
    struct map m = image_map(b, st->batch, y, x, stage_var(&st->stage, KVAR_PARALLEL, b->s.out_channels));
    const struct kguard guards[2] = {{y, b->s.out[0]}, {x, b->s.out[1]}};
    struct reduced_space space;

    if (!lower_reduces(b->n, &space) || !map_guard(&st->stage.l, &m, 2, guards))
        return false;
    st->stage.l.reduced = kaffine_const(0);
    for (uint32_t i = 0; i < space.count; i++)
        st->stage.l.reduced = kaffine_add(k, kaffine_scale(k, st->stage.l.reduced, space.sizes[i]),
                                          stage_var(&st->stage, KVAR_REDUCED, space.sizes[i]));
    st->stage.l.reduced_points = space.points;
    st->stage.l.anchor = b->n;
    return stage_store_outputs(&st->stage, b->n->results[0], &m);
}

static bool add_stage(struct builder *b, bool (*make)(struct part *st), const char *name, enum kstage_when when)
{
    struct part st = {.b = b};
    bool good = stage_begin(&st.stage, &b->stages);

    if (good) {
        st.batch = st.stage.macro_tile[0];
        st.row = kaffine_scale(st.stage.l.k, st.stage.macro_tile[1], b->s.macro_tile[0]);
        st.column = kaffine_scale(st.stage.l.k, st.stage.macro_tile[2], b->s.macro_tile[1]);
        good = make(&st);
    }
    return stage_end(&st.stage, good, name, when);
}

/* ---- the kernel ---- */

bool winograd_find_operands(const struct node_table *t, const struct node *n, struct winograd_operands *o)
{
    const struct node *scaled = n->inputs[0].value->producer, *of_w = n->inputs[1].value->producer, *of_x = scaled;
    const bool scales = scaled && scaled->op == OP_MUL;

    *o = (struct winograd_operands){.x = n->inputs[0].value};
    if (n->transformed->type.type != DTYPE_INT16)
        return true;
    if (scales)
        of_x = scaled->inputs[0].value->producer;
    if (!of_x || of_x->op != OP_CAST || of_x->inputs[0].value->type.type != DTYPE_INT16 || !of_w ||
        of_w->op != OP_DEQUANTIZE_LINEAR || node_table_position(t, scaled) == UINT32_MAX ||
        node_table_position(t, of_x) == UINT32_MAX || node_table_position(t, of_w) == UINT32_MAX)
        return false;
    *o = (struct winograd_operands){of_x->inputs[0].value, {of_w->inputs[1].value, scales ? scaled->inputs[1].value : NULL}};
    return true;
}

struct kernel *lower_winograd(const struct target *target, const struct node_table *t, const struct node *n,
                              uint32_t output_count, struct value *const *outputs)
{
    struct builder b = {.n = n};

    if (!target || output_count > OUTPUTS_MAX || !winograd_shape_of(n, target, &b.s) ||
        !winograd_find_operands(t, n, &b.operands))
        return NULL;
    const bool numbers = b.s.numbers;
    b.image = conv_view(n).image;
    b.v_step = b.s.rows * b.s.in_channels + GAP;
    b.m_step = b.s.rows * b.s.out_channels + GAP;
    b.stages = (struct stages){.table = t,
                               .anchor = n,
                               .output_count = output_count,
                               .outputs = outputs,
                               .sizes_vary = true, /* sizes that divide evenly and others share code */
                               .macro_tile_vars = 3,
                               .macro_tiles = {b.s.batch, b.s.count[0], b.s.count[1]},
                               .predicate = LOCAL_PREDICATE,
                               .limit = WINOGRAD_SQUARES_LIMIT};
    if (!stages_begin(&b.stages, "winograd_conv2d"))
        return NULL;
    /* The locals are in the order of the enumeration. */
    kernel_local(b.stages.kernel, numbers ? DTYPE_INT16 : WNNOperandDataType_Float32, b.s.tile->points * b.v_step);
    kernel_local(b.stages.kernel, numbers ? WNNOperandDataType_Int32 : WNNOperandDataType_Float32, b.s.tile->points * b.m_step);
    if (!numbers) {
        stages_local(&b.stages, 1);
        stages_local(&b.stages, b.s.macro_tile[0] * b.s.macro_tile[1] * b.s.block);
    }
    return stages_end(&b.stages, add_stage(&b, make_input, "input", KSTAGE_ALWAYS) &&
                                     (numbers || add_stage(&b, make_predicate, "predicate", KSTAGE_ALWAYS)) &&
                                     add_stage(&b, make_matmul, "matmul", numbers ? KSTAGE_ALWAYS : KSTAGE_BELOW) &&
                                     add_stage(&b, make_output, "output", numbers ? KSTAGE_ALWAYS : KSTAGE_BELOW) &&
                                     (numbers || add_stage(&b, make_direct, "direct", KSTAGE_NOT_BELOW)));
}
