/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes a kernel of stages of an attention, softmax(chain(Q K^T)) V, which pass fuse-attention has put into a cluster.
 * docs/attention.md explains the method.  A macro-tile is some rows of one matrix of the batch; vectors run along its rows
 * everywhere.
 *
 *   query      Q^T of the rows, [depth][row]
 *   mask       operands of the chain that differ from row to row and from key to key, [key][row]
 *   scores     chain(K Q^T) by micro-kernels, [key][row]
 *   softmax    exp(score - largest score of the row) in place, and 1 / their sum, [row]
 *   product    V^T times those by micro-kernels, block of keys by block of keys, [block][width][row]
 *   combine    the blocks' sum divided by the sum of the exponentials, [width][row]
 *   output     on these all that follows
 */
#include "passes/cluster/attention.h"
#include "passes/lower/stages.h"

enum { LOCAL_QUERY, LOCAL_SCORES, LOCAL_INVERSE, LOCAL_BLOCKS, LOCAL_PRODUCT, LOCAL_MASK };

struct builder {
    struct attention a;
    uint32_t output_count;
    struct value *const *outputs;
    int64_t tile_rows, block_keys;
    /* Variables of the macro-tile: the dimensions of the batch and the block of rows, in whose place there is no dimension. */
    uint32_t batch_var[ATTENTION_BATCH_MAX], block_var;
    struct stages stages;
};

/* ---- stages ---- */

/* This is a stage that is being made. */
struct part {
    struct stage stage;
    struct builder *b;
};

static bool part_begin(struct part *st, struct builder *b)
{
    st->b = b;
    return stage_begin(&st->stage, &b->stages);
}

/* Returns the row of the matrix that a row of the macro-tile is.  What is always 0 stays out, as it does where a reshape takes
 * the row apart and puts it together again. */
static struct kaffine row_of(struct part *st, struct kaffine lane)
{
    const uint32_t block = st->b->block_var;
    struct kernel *k = st->stage.l.k;

    if (st->b->stages.macro_tiles[block] == 1)
        return lane;
    return kaffine_add(k, kaffine_scale(k, st->stage.macro_tile[block], st->b->tile_rows), lane);
}

/* Returns an address in a local tensor of rows as long as the macro-tile has rows. */
static struct kaffine local_at(struct part *st, struct kaffine line, struct kaffine lane)
{
    return kaffine_add(st->stage.l.k, kaffine_scale(st->stage.l.k, line, st->b->tile_rows), lane);
}

static uint32_t load_local(struct part *st, uint32_t local, struct kaffine at)
{
    return kernel_load(st->stage.l.k, stage_local(&st->stage, local, false), at, 0, NULL, (union scalar){.u64 = 0});
}

static void store_local(struct part *st, uint32_t local, struct kaffine at, uint32_t e)
{
    kernel_store(st->stage.l.k, stage_local(&st->stage, local, true), at, e, 0, NULL);
}

/* Returns the map of the element (row, column) of the macro-tile's matrix in a value that is broadcast to the matmuls'
 * batches. */
static struct map matrix_map(const struct part *st, const struct value *v, struct kaffine row, struct kaffine column)
{
    const struct attention *a = &st->b->a;
    const uint32_t rank = a->product->results[0]->type.rank;
    const struct tensor_type *t = &v->type;
    struct map m = {.rank = t->rank};

    for (uint32_t i = 0; i < a->batch_count; i++) {
        const uint32_t missing = rank - t->rank, d = a->batch[i];

        if (d >= missing && t->dims[d - missing] > 1)
            m.forms[d - missing] = st->stage.macro_tile[st->b->batch_var[i]];
    }
    m.forms[t->rank - 2] = row;
    m.forms[t->rank - 1] = column;
    return m;
}

/* Adds the guard that keeps the last macro-tile inside the matrix. */
static bool guard_row(struct part *st, struct map *m, struct kaffine row)
{
    return map_guard(&st->stage.l, m, 1, &(struct kguard){row, st->b->a.rows});
}

static bool make_query(struct builder *b)
{
    const struct value *q = b->a.scores->inputs[0].value;
    struct part st;
    bool good = part_begin(&st, b);

    if (good) {
        struct kaffine depth = stage_var(&st.stage, KVAR_PARALLEL, b->a.depth);
        struct kaffine lane = stage_var(&st.stage, KVAR_PARALLEL, b->tile_rows), row = row_of(&st, lane);
        struct map m = matrix_map(&st, q, row, depth);
        const struct kguard guard = {row, b->a.rows};

        store_local(&st, LOCAL_QUERY, local_at(&st, depth, lane),
                    lower_guarded(&st.stage.l, q, &m, 1, &guard, (union scalar){.u64 = 0}));
    }
    return stage_end(&st.stage, good, "query", KSTAGE_ALWAYS);
}

static bool make_mask(struct builder *b, uint32_t mask)
{
    struct part st;
    bool good = part_begin(&st, b);

    if (good) {
        struct kaffine key = stage_var(&st.stage, KVAR_PARALLEL, b->a.keys);
        struct kaffine lane = stage_var(&st.stage, KVAR_PARALLEL, b->tile_rows), row = row_of(&st, lane);
        struct map m = matrix_map(&st, b->a.masks[mask], row, key);
        const struct kguard guard = {row, b->a.rows};

        store_local(&st, LOCAL_MASK + mask, local_at(&st, key, lane),
                    lower_guarded(&st.stage.l, b->a.masks[mask], &m, 1, &guard, (union scalar){.u64 = 0}));
    }
    return stage_end(&st.stage, good, "mask", KSTAGE_ALWAYS);
}

/* Returns how many sums a stage has. */
static uint32_t count_sums(const struct kernel *k)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < k->expr_count; i++)
        count += k->exprs[i].op == K_REDUCE;
    return count;
}

static bool make_scores(struct builder *b)
{
    const struct value *k_value = b->a.scores->inputs[1].value, *chained = b->a.softmax->inputs[0].value;
    struct part st;
    bool good = part_begin(&st, b);

    if (good) {
        struct lowering *l = &st.stage.l;
        struct kaffine key = stage_var(&st.stage, KVAR_PARALLEL, b->a.keys);
        struct kaffine lane = stage_var(&st.stage, KVAR_PARALLEL, b->tile_rows), row = row_of(&st, lane);
        struct kaffine depth = stage_var(&st.stage, KVAR_REDUCED, b->a.depth);
        struct map operand = matrix_map(&st, k_value, depth, key), m = matrix_map(&st, chained, row, key);
        uint32_t e = lower_value(l, k_value, &operand);

        good = e != KEXPR_NONE && guard_row(&st, &m, row);
        if (good)
            lower_know(l, b->a.scores->results[0], &m,
                       kernel_dot(l->k, e, load_local(&st, LOCAL_QUERY, local_at(&st, depth, lane))));
        for (uint32_t i = 0; good && i < b->a.mask_count; i++) {
            struct map at = matrix_map(&st, b->a.masks[i], row, key);

            good = guard_row(&st, &at, row);
            lower_know(l, b->a.masks[i], &at, load_local(&st, LOCAL_MASK + i, local_at(&st, key, lane)));
        }
        e = good ? lower_value(l, chained, &m) : KEXPR_NONE;
        good = e != KEXPR_NONE && count_sums(l->k) == 1;
        if (good)
            store_local(&st, LOCAL_SCORES, local_at(&st, key, lane), e);
    }
    return stage_end(&st.stage, good, "scores", KSTAGE_ALWAYS);
}

static bool make_softmax(struct builder *b)
{
    struct part st;
    bool good = part_begin(&st, b);

    if (good) {
        struct kernel *k = st.stage.l.k;
        struct kaffine lane = stage_var(&st.stage, KVAR_PARALLEL, b->tile_rows);
        struct kaffine key = stage_var(&st.stage, KVAR_REDUCED, b->a.keys), at = local_at(&st, key, lane);
        uint32_t score = load_local(&st, LOCAL_SCORES, at);
        uint32_t e = kernel_op1(k, K_EXP, kernel_op2(k, K_SUB, score, kernel_reduce(k, KR_MAX, score)));

        store_local(&st, LOCAL_SCORES, at, e);
        store_local(&st, LOCAL_INVERSE, lane, kernel_op1(k, K_RECIPROCAL, kernel_reduce(k, KR_SUM, e)));
    }
    return stage_end(&st.stage, good, "softmax", KSTAGE_ALWAYS);
}

static bool make_product(struct builder *b)
{
    const struct value *v = b->a.product->inputs[1].value;
    struct part st;
    bool good = part_begin(&st, b);

    if (good) {
        struct kernel *k = st.stage.l.k;
        struct kaffine block = stage_var(&st.stage, KVAR_PARALLEL, b->a.keys / b->block_keys);
        struct kaffine column = stage_var(&st.stage, KVAR_PARALLEL, b->a.width);
        struct kaffine lane = stage_var(&st.stage, KVAR_PARALLEL, b->tile_rows);
        struct kaffine key =
            kaffine_add(k, kaffine_scale(k, block, b->block_keys), stage_var(&st.stage, KVAR_REDUCED, b->block_keys));
        struct kaffine line = kaffine_add(k, kaffine_scale(k, block, b->a.width), column);
        struct map operand = matrix_map(&st, v, key, column);
        uint32_t e = lower_value(&st.stage.l, v, &operand);

        good = e != KEXPR_NONE;
        if (good)
            store_local(&st, LOCAL_BLOCKS, local_at(&st, line, lane),
                        kernel_dot(k, e, load_local(&st, LOCAL_SCORES, local_at(&st, key, lane))));
    }
    return stage_end(&st.stage, good, "product", KSTAGE_ALWAYS);
}

static bool make_combine(struct builder *b)
{
    struct part st;
    bool good = part_begin(&st, b);

    if (good) {
        struct kernel *k = st.stage.l.k;
        struct kaffine column = stage_var(&st.stage, KVAR_PARALLEL, b->a.width);
        struct kaffine lane = stage_var(&st.stage, KVAR_PARALLEL, b->tile_rows);
        struct kaffine block = stage_var(&st.stage, KVAR_REDUCED, b->a.keys / b->block_keys);
        struct kaffine line = kaffine_add(k, kaffine_scale(k, block, b->a.width), column);
        uint32_t sum = kernel_reduce(k, KR_SUM, load_local(&st, LOCAL_BLOCKS, local_at(&st, line, lane)));

        store_local(&st, LOCAL_PRODUCT, local_at(&st, column, lane),
                    kernel_op2(k, K_MUL, sum, load_local(&st, LOCAL_INVERSE, lane)));
    }
    return stage_end(&st.stage, good, "combine", KSTAGE_ALWAYS);
}

/* Stores the cluster's outputs where the base value, the second matmul's result, has its element at m. */
static bool store_outputs(struct part *st, const struct map *m)
{
    struct builder *b = st->b;
    struct lowering *l = &st->stage.l;

    lower_add_base(l, b->a.product->results[0], m);
    for (uint32_t i = 0; i < b->output_count; i++) {
        const struct value *v = b->outputs[i];
        struct map at;
        uint32_t e, tensor;

        if (!lower_output_map(l, v, &at))
            return false;
        e = lower_value(l, v, &at);
        tensor = e == KEXPR_NONE || l->unfusable ? UINT32_MAX : lower_tensor(l, v, true);
        if (tensor == UINT32_MAX)
            return false;
        kernel_store(l->k, tensor, map_linear(l, &at, &v->type), e, at.guard_count, at.guards);
    }
    return count_sums(l->k) == 0;
}

static bool make_output(struct builder *b)
{
    const struct value *result = b->a.product->results[0];
    struct part st;
    bool good = part_begin(&st, b);

    if (good) {
        struct kaffine column = stage_var(&st.stage, KVAR_PARALLEL, b->a.width);
        struct kaffine lane = stage_var(&st.stage, KVAR_PARALLEL, b->tile_rows), row = row_of(&st, lane);
        struct map m = matrix_map(&st, result, row, column);

        good = guard_row(&st, &m, row);
        if (good)
            lower_know(&st.stage.l, result, &m, load_local(&st, LOCAL_PRODUCT, local_at(&st, column, lane)));
        good = good && store_outputs(&st, &m);
    }
    return stage_end(&st.stage, good, "output", KSTAGE_ALWAYS);
}

/* ---- the kernel ---- */

/* Returns whether a mask differs along a dimension of the product. */
static bool masks_vary(const struct builder *b, uint32_t d)
{
    const uint32_t rank = b->a.product->results[0]->type.rank;

    for (uint32_t i = 0; i < b->a.mask_count; i++) {
        const struct tensor_type *t = &b->a.masks[i]->type;
        const uint32_t missing = rank - t->rank;

        if (d >= missing && t->dims[d - missing] > 1)
            return true;
    }
    return false;
}

/*
 * Chooses the variables of the macro-tile, slowest first.  Behind the block of rows come the dimensions along which no mask
 * differs, so that a mask that all heads share is transposed once for all of them.  Without a mask that is the block of rows,
 * for which K and V stay in the cache.
 */
static void choose_macro_tiles(struct builder *b)
{
    const struct attention *a = &b->a;
    uint32_t count = 0, shared = a->batch_count;

    while (b->a.mask_count && shared > 0 && !masks_vary(b, a->batch[shared - 1]))
        shared--;
    b->stages.macro_tile_vars = a->batch_count + 1;
    for (uint32_t i = 0; i <= a->batch_count; i++) {
        if (i == shared) {
            b->block_var = count;
            b->stages.macro_tiles[count++] = (a->rows + b->tile_rows - 1) / b->tile_rows;
        }
        if (i == a->batch_count)
            break;
        b->batch_var[i] = count;
        b->stages.macro_tiles[count++] = a->product->results[0]->type.dims[a->batch[i]];
    }
}

/* Adds the locals in the order of the enumeration. */
static void add_locals(struct builder *b)
{
    stages_local(&b->stages, b->a.depth * b->tile_rows);
    stages_local(&b->stages, b->a.keys * b->tile_rows);
    stages_local(&b->stages, b->tile_rows);
    stages_local(&b->stages, b->a.keys / b->block_keys * b->a.width * b->tile_rows);
    stages_local(&b->stages, b->a.width * b->tile_rows);
    for (uint32_t i = 0; i < b->a.mask_count; i++)
        kernel_local(b->stages.kernel, b->a.masks[i]->type.type, b->a.keys * b->tile_rows);
}

struct kernel *lower_attention(const struct target *target, const struct node_table *t, const struct node *n,
                               uint32_t output_count, struct value *const *outputs)
{
    struct builder b = {.output_count = output_count, .outputs = outputs};
    bool good = true;

    if (!target || !attention_find(n, &b.a))
        return NULL;
    b.tile_rows = attention_tile_rows(&b.a, target);
    b.block_keys = attention_block_keys(&b.a, target, b.tile_rows);
    b.stages = (struct stages){.table = t, .anchor = n};
    choose_macro_tiles(&b);
    if (!stages_begin(&b.stages, "attention"))
        return NULL;
    add_locals(&b);
    good = make_query(&b);
    for (uint32_t i = 0; good && i < b.a.mask_count; i++)
        good = make_mask(&b, i);
    return stages_end(&b.stages,
                      good && make_scores(&b) && make_softmax(&b) && make_product(&b) && make_combine(&b) && make_output(&b));
}
