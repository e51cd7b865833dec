/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes a kernel of stages of an attention, softmax(chain(Q K^T)) V, which pass fuse-attention has put into a cluster.
 * docs/attention.md explains the method.  A macro-tile is some rows of one matrix of the batch.  With many rows vectors run
 * along them everywhere, with few rows along keys and columns:
 *
 *              with many rows, all locals [...][row]                  with few rows, all locals [row][...]
 *   bound      which blocks of keys count, if the graph says it       likewise
 *   keys       K, for all macro-tiles of a matrix, if its rows lie    -
 *              apart: [key][depth]
 *   values     likewise V, [key][width]                               -
 *   query      Q^T of the rows, [depth]                               -
 *   mask       operands of the chain that differ from row to row and  -
 *              from key to key, [key]
 *   scores     chain(K Q^T) by micro-kernels, [key]                   Q K^T, sums along vectors
 *   chain      -                                                      chain(scores) in place
 *   softmax    exp(score - largest score of the row) in place, and 1 / their sum
 *   weights    those divided by their sum and rounded to float16, if the graph does, in place; nothing is divided later then
 *   product    V^T times those by micro-kernels, block of keys by     those times V
 *              block of keys, [block][width]
 *   combine    the sum of several blocks, divided by that of the exponentials, [width]; one block is divided in its stage
 *   output     on these all that follows
 */
#include "passes/cluster/attention.h"
#include "passes/lower/stages.h"

enum { OPERAND_K, OPERAND_V };
enum { LOCAL_QUERY, LOCAL_SCORES, LOCAL_INVERSE, LOCAL_BLOCKS, LOCAL_PRODUCT, LOCAL_MASK };

struct builder {
    struct attention a;
    bool few; /* rows */
    int64_t tile_rows, block_keys;
    int64_t rows_at_once; /* of few rows: those that share loads of K */
    int64_t blocks;       /* of keys, in the matmul with V */
    bool bounded;         /* LOCAL_MASK + mask_count says which of them count: [first, end) */
    uint32_t operand;     /* K or V, whose stage is being made */
    uint32_t packed[2];   /* the local with its rows one after the other; 0: they are read as they are */
    /* Variables of the macro-tile: the dimensions of the batch, the head of a group and the block of rows, in whose places
     * there are no dimensions.  With few rows those of a group are rows. */
    uint32_t batch_var[ATTENTION_BATCH_MAX], group_var, block_var;
    uint32_t mask; /* the one whose stage is being made */
    struct stages stages;
};

/* ---- stages ---- */

/* This is a stage that is being made. */
struct part {
    struct stage stage;
    struct builder *b;
};

/* This is a row of a macro-tile: as its locals, as the matmuls and as the softmax number it. */
struct row {
    struct kaffine lane;    /* in the macro-tile */
    struct kaffine of_all;  /* of the matmuls' matrix */
    struct kaffine head;    /* the head of the group, */
    struct kaffine of_head; /* and the row among its rows */
};

/* Returns the row that a row of the macro-tile is.  A row that is always 0 stays out, as it does where a reshape takes the row
 * apart and puts it together again. */
static struct row row_of(struct part *st, struct kaffine lane)
{
    const struct builder *b = st->b;
    struct kernel *k = st->stage.l.k;
    struct row r = {.lane = lane, .head = kaffine_const(0), .of_head = lane};

    if (b->few && b->a.group > 1)
        return (struct row){lane, lane, lane, kaffine_const(0)};
    if (b->stages.macro_tiles[b->block_var] > 1 || (b->stages.sizes_vary && !b->few))
        r.of_head = kaffine_add(k, kaffine_scale(k, st->stage.macro_tile[b->block_var], b->tile_rows), lane);
    r.of_all = r.of_head;
    if (b->a.group > 1) {
        r.head = st->stage.macro_tile[b->group_var];
        r.of_all = kaffine_add(k, kaffine_scale(k, r.head, b->a.rows), r.of_head);
    }
    return r;
}

/* Adds the variables of lines of a local and of rows, in an order in which the one that vectors run along is innermost. */
static struct row add_vars(struct part *st, int64_t lines, struct kaffine *line)
{
    if (!st->b->few)
        *line = stage_var(&st->stage, KVAR_PARALLEL, lines);
    struct kaffine lane = stage_var(&st->stage, KVAR_PARALLEL, st->b->tile_rows);
    if (st->b->few)
        *line = stage_var(&st->stage, KVAR_PARALLEL, lines);
    return row_of(st, lane);
}

/* Returns an address in a local tensor that has so many lines for each row. */
static struct kaffine local_at(struct part *st, struct kaffine line, int64_t lines, struct kaffine lane)
{
    struct kernel *k = st->stage.l.k;

    return st->b->few ? kaffine_add(k, kaffine_scale(k, lane, lines), line)
                      : kaffine_add(k, kaffine_scale(k, line, st->b->tile_rows), lane);
}

static uint32_t load_local(struct part *st, uint32_t local, struct kaffine at)
{
    return kernel_load(st->stage.l.k, stage_local(&st->stage, local, false), at, 0, NULL, (union scalar){.u64 = 0});
}

static bool store_local(struct part *st, uint32_t local, struct kaffine at, uint32_t e)
{
    if (e == KEXPR_NONE)
        return false;
    kernel_store(st->stage.l.k, stage_local(&st->stage, local, true), at, e, 0, NULL);
    return true;
}

/* Adds the variable of blocks of keys.  It comes before all others of its kind. */
static struct kaffine add_blocks(struct part *st, enum kvar_kind kind)
{
    struct builder *b = st->b;

    return b->bounded ? stage_bounded_var(&st->stage, kind, b->blocks, LOCAL_MASK + b->a.mask_count)
                      : stage_var(&st->stage, kind, b->blocks);
}

static struct kaffine key_of(struct part *st, struct kaffine block, struct kaffine key)
{
    return kaffine_add(st->stage.l.k, kaffine_scale(st->stage.l.k, block, st->b->block_keys), key);
}

/* Adds the variables of rows and of keys, those of the blocks that count if there is a bound. */
static struct row add_keys(struct part *st, struct kaffine *key)
{
    const struct builder *b = st->b;
    struct kaffine block = b->bounded ? add_blocks(st, KVAR_PARALLEL) : kaffine_const(0), of_block;
    struct row row = add_vars(st, b->bounded ? b->block_keys : b->a.keys, &of_block);

    *key = key_of(st, block, of_block);
    return row;
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
    if (t->rank > 1)
        m.forms[t->rank - 2] = row;
    if (t->rank > 0)
        m.forms[t->rank - 1] = column;
    return m;
}

/* Returns the same of a value that is broadcast to the softmax, whose batches are all heads. */
static struct map softmax_map(struct part *st, const struct value *v, const struct row *row, struct kaffine key)
{
    const struct attention *a = &st->b->a;
    const uint32_t rank = a->product->results[0]->type.rank;
    const struct tensor_type *t = &v->type;
    struct map m = matrix_map(st, v, row->of_head, key);
    struct kernel *k = st->stage.l.k;

    if (a->group > 1 && t->rank > 2) {
        const int64_t heads = a->product->results[0]->type.dims[rank - 3];
        struct kaffine shared = kaffine_const(0);

        for (uint32_t i = 0; i < a->batch_count && heads > 1; i++)
            if (a->batch[i] == rank - 3)
                shared = kaffine_scale(k, st->stage.macro_tile[st->b->batch_var[i]], a->group);
        m.forms[t->rank - 3] = t->dims[t->rank - 3] > 1 ? kaffine_add(k, shared, row->head) : kaffine_const(0);
    }
    return m;
}

/* Adds the guard that keeps the last macro-tile inside the matrix. */
static bool guard_row(struct part *st, struct map *m, const struct row *row)
{
    return map_guard(&st->stage.l, m, 1, &(struct kguard){row->of_head, st->b->a.rows});
}

static uint32_t whole_number(struct part *st, int64_t value)
{
    return kernel_const(st->stage.l.k, KT_I64, (union scalar){.i64 = value});
}

/* Returns the number of an edge in the form "keys count from it on" or "keys before it count", cut to what lies around the
 * keys. */
static uint32_t edge_of(struct part *st, const struct attention_edge *edge, const struct row *row)
{
    const struct builder *b = st->b;
    struct kernel *k = st->stage.l.k;
    const enum ktype type = ktype_of(edge->at->type.type);
    const struct kguard guard = {row->of_head, b->a.rows};
    const struct tensor_type *t = &edge->at->type;
    struct map m = softmax_map(st, edge->at, row, kaffine_const(0)); /* it has one key */
    if (t->rank > 1 && t->dims[t->rank - 2] == 1)
        m.forms[t->rank - 2] = kaffine_const(0);
    uint32_t e = lower_guarded(&st->stage.l, edge->at, &m, 1, &guard, (union scalar){.u64 = 0});

    if (e == KEXPR_NONE)
        return e;
    if (type == KT_U64) /* the largest of them are not negative */
        e = kernel_op2(k, K_MIN, e, kernel_cast(k, type, kernel_size(k, b->a.keys)));
    if (type != KT_I64)
        e = kernel_cast(k, KT_I64, e);
    e = kernel_op2(k, K_MAX, kernel_op2(k, K_MIN, e, kernel_size(k, b->a.keys)), whole_number(st, -1));
    return edge->is_first == edge->is_inside ? e : kernel_op2(k, K_ADD, e, whole_number(st, 1));
}

/* Reduces a number over the rows of the macro-tile.  Rows that are missing have `neutral` instead. */
static uint32_t over_rows(struct part *st, const struct row *row, enum kreduce kind, uint32_t e, uint32_t neutral)
{
    struct kernel *k = st->stage.l.k;

    if (e == KEXPR_NONE || k->exprs[e].op == K_CONST || (k->exprs[e].op == K_INDEX && !k->exprs[e].index.count))
        return e;
    uint32_t inside = lower_condition(&st->stage.l, 1, &(struct kguard){row->of_head, st->b->a.rows});
    if (inside == KEXPR_NONE || k->exprs[inside].op != K_CONST)
        e = kernel_op3(k, K_SELECT, inside, e, neutral);
    return kernel_reduce(k, kind, e);
}

/*
 * Finds the blocks of keys that count for some row of the macro-tile.  A row without any has the same weight for all keys, so
 * that all of them count.
 */
static bool make_bound(struct part *st)
{
    const struct builder *b = st->b;
    const struct attention_bound *bound = &b->a.bound;
    struct kernel *k = st->stage.l.k;
    struct row row = row_of(st, stage_var(&st->stage, KVAR_REDUCED, b->tile_rows));
    const uint32_t zero = whole_number(st, 0), one = whole_number(st, 1), size = kernel_size(k, b->block_keys);
    uint32_t first = zero, end = kernel_size(k, b->a.keys), none;

    for (uint32_t i = 0; i < bound->edge_count; i++) {
        const uint32_t e = edge_of(st, &bound->edges[i], &row);

        if (bound->edges[i].is_first)
            first = kernel_op2(k, K_MAX, first, e);
        else
            end = kernel_op2(k, K_MIN, end, e);
    }
    none = kernel_op3(k, K_SELECT, kernel_op2(k, K_LE, end, first), one, zero);
    none = kernel_op2(k, K_LT, zero, over_rows(st, &row, KR_MAX, none, zero));
    first = kernel_op2(k, K_DIV, over_rows(st, &row, KR_MIN, first, kernel_size(k, b->a.keys)), size);
    end = kernel_op2(k, K_DIV, kernel_op2(k, K_SUB, over_rows(st, &row, KR_MAX, end, zero), one), size);
    first = kernel_op3(k, K_SELECT, none, zero, first);
    end = kernel_op3(k, K_SELECT, none, kernel_size(k, b->blocks), kernel_op2(k, K_ADD, end, one));
    return store_local(st, LOCAL_MASK + b->a.mask_count, kaffine_const(0), kernel_cast(k, KT_I32, first)) &&
           store_local(st, LOCAL_MASK + b->a.mask_count, kaffine_const(1), kernel_cast(k, KT_I32, end));
}

/* Returns the element of K or V of a key, in the column. */
static uint32_t load_operand(struct part *st, uint32_t operand, struct kaffine key, struct kaffine column)
{
    const struct attention *a = &st->b->a;
    const struct value *v = (operand == OPERAND_K ? a->scores : a->product)->inputs[1].value;
    const int64_t columns = operand == OPERAND_K ? a->depth : a->width;
    struct map m = operand == OPERAND_K ? matrix_map(st, v, column, key) : matrix_map(st, v, key, column);
    struct kernel *k = st->stage.l.k;

    return st->b->packed[operand]
               ? load_local(st, st->b->packed[operand], kaffine_add(k, kaffine_scale(k, key, columns), column))
               : lower_value(&st->stage.l, v, &m);
}

/* Copies K or V if its rows lie apart: every macro-tile reads all of it, in the same few sets of the caches. */
static bool make_packed(struct part *st)
{
    struct builder *b = st->b;
    const int64_t columns = b->operand == OPERAND_K ? b->a.depth : b->a.width;
    struct kaffine key = stage_var(&st->stage, KVAR_PARALLEL, b->a.keys);
    struct kaffine column = stage_var(&st->stage, KVAR_PARALLEL, columns);
    const uint32_t e = load_operand(st, b->operand, key, column);
    struct kernel *k = st->stage.l.k;

    if (e == KEXPR_NONE || k->exprs[e].op != K_LOAD || kaffine_coefficient(k->exprs[e].index, key.terms[0].var) <= columns)
        return false;
    b->packed[b->operand] = stages_local(&b->stages, b->a.keys * columns);
    return store_local(st, b->packed[b->operand], kaffine_add(k, kaffine_scale(k, key, columns), column), e);
}

static bool make_query(struct part *st)
{
    const struct builder *b = st->b;
    const struct value *q = b->a.scores->inputs[0].value;
    struct kaffine depth;
    struct row row = add_vars(st, b->a.depth, &depth);
    const bool apart = b->a.stack && node_table_position(b->stages.table, b->a.stack) != UINT32_MAX; /* as with the scores */
    q = apart ? b->a.stack->inputs[0].value : q;
    struct map m = apart ? softmax_map(st, q, &row, depth) : matrix_map(st, q, row.of_all, depth);
    const struct kguard guard = {row.of_head, b->a.rows};

    return store_local(st, LOCAL_QUERY, local_at(st, depth, b->a.depth, row.lane),
                       lower_guarded(&st->stage.l, q, &m, 1, &guard, (union scalar){.u64 = 0}));
}

static bool make_mask(struct part *st)
{
    const struct builder *b = st->b;
    const uint32_t mask = b->mask;
    struct kaffine key;
    struct row row = add_vars(st, b->a.keys, &key);
    struct map m = softmax_map(st, b->a.masks[mask], &row, key);
    const struct kguard guard = {row.of_head, b->a.rows};

    return store_local(st, LOCAL_MASK + mask, local_at(st, key, b->a.keys, row.lane),
                       lower_guarded(&st->stage.l, b->a.masks[mask], &m, 1, &guard, (union scalar){.u64 = 0}));
}

/* Says what v's element at m is, in float32: that of a value of float16 is rounded, as that of any node is. */
static void know_result(struct part *st, const struct value *v, const struct map *m, uint32_t e)
{
    if (e != KEXPR_NONE && dtype_is_low_precision(v->type.type))
        e = kernel_op1(st->stage.l.k, kop_round(v->type.type), e);
    lower_know(&st->stage.l, v, m, e);
}

static uint32_t count_sums(const struct kernel *k)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < k->expr_count; i++)
        count += k->exprs[i].op == K_REDUCE;
    return count;
}

/* Returns the expression of a score after the chain, where the matmul's result is `score`. */
static uint32_t chain_of(struct part *st, const struct row *row, struct kaffine key, uint32_t score)
{
    const struct builder *b = st->b;
    const struct value *chained = b->a.softmax->inputs[0].value, *scores = b->a.scores->results[0];
    struct map of_scores = matrix_map(st, scores, row->of_all, key), m = softmax_map(st, chained, row, key);
    struct lowering *l = &st->stage.l;

    if (!guard_row(st, &m, row) || !guard_row(st, &of_scores, row))
        return KEXPR_NONE;
    know_result(st, scores, &of_scores, score);
    if (b->a.ungroup) { /* the index of a row beyond the last one cannot be traced through it */
        score = lower_value(l, b->a.ungroup->inputs[0].value, &of_scores);
        of_scores = softmax_map(st, b->a.ungroup->results[0], row, key);
        if (!guard_row(st, &of_scores, row))
            return KEXPR_NONE;
        lower_know(l, b->a.ungroup->results[0], &of_scores, score);
    }
    for (uint32_t i = 0; !b->few && i < b->a.mask_count; i++) {
        struct map at = softmax_map(st, b->a.masks[i], row, key);

        if (!guard_row(st, &at, row))
            return KEXPR_NONE;
        lower_know(l, b->a.masks[i], &at, load_local(st, LOCAL_MASK + i, local_at(st, key, b->a.keys, row->lane)));
    }
    return lower_value(l, chained, &m);
}

static bool make_scores(struct part *st)
{
    const struct builder *b = st->b;
    struct lowering *l = &st->stage.l;
    struct kaffine key;
    struct row row = add_keys(st, &key);
    struct kaffine depth = stage_var(&st->stage, KVAR_REDUCED, b->a.depth);
    uint32_t e = load_operand(st, OPERAND_K, key, depth);

    if (e == KEXPR_NONE)
        return false;
    e = kernel_dot(l->k, e, load_local(st, LOCAL_QUERY, local_at(st, depth, b->a.depth, row.lane)));
    e = chain_of(st, &row, key, e);
    return count_sums(l->k) == 1 && store_local(st, LOCAL_SCORES, local_at(st, key, b->a.keys, row.lane), e);
}

/* Computes the scores of few rows.  Vectors run along the sums, and what they load of K serves several rows. */
static bool make_sums(struct part *st)
{
    const struct builder *b = st->b;
    const struct value *q = b->a.scores->inputs[0].value;
    const int64_t at_once = b->rows_at_once;
    bool good = true;
    struct lowering *l = &st->stage.l;
    struct kaffine block = b->bounded ? add_blocks(st, KVAR_PARALLEL) : kaffine_const(0);
    struct kaffine key = key_of(st, block, stage_var(&st->stage, KVAR_PARALLEL, b->bounded ? b->block_keys : b->a.keys));
    struct kaffine rows = kaffine_const(0);

    if (at_once < b->tile_rows)
        rows = kaffine_scale(l->k, stage_var(&st->stage, KVAR_PARALLEL, b->tile_rows / at_once), at_once);
    struct kaffine depth = stage_var(&st->stage, KVAR_REDUCED, b->a.depth);
    uint32_t y = load_operand(st, OPERAND_K, key, depth);
    for (int64_t i = 0; good && i < at_once; i++) {
        struct row row = row_of(st, kaffine_add_const(rows, i));
        struct map of_q = matrix_map(st, q, row.of_all, depth);
        uint32_t x = lower_value(l, q, &of_q);

        good = x != KEXPR_NONE && y != KEXPR_NONE &&
               store_local(st, LOCAL_SCORES, local_at(st, key, b->a.keys, row.lane), kernel_dot(l->k, x, y));
    }
    return good;
}

static bool make_chain(struct part *st)
{
    struct kaffine key, at;
    struct row row = add_keys(st, &key);

    at = local_at(st, key, st->b->a.keys, row.lane);
    uint32_t e = chain_of(st, &row, key, load_local(st, LOCAL_SCORES, at));
    return count_sums(st->stage.l.k) == 0 && store_local(st, LOCAL_SCORES, at, e);
}

static bool make_softmax(struct part *st)
{
    const struct builder *b = st->b;
    struct kernel *k = st->stage.l.k;
    struct kaffine lane = stage_var(&st->stage, KVAR_PARALLEL, b->tile_rows);
    struct kaffine block = b->bounded ? add_blocks(st, KVAR_REDUCED) : kaffine_const(0);
    struct kaffine key = key_of(st, block, stage_var(&st->stage, KVAR_REDUCED, b->bounded ? b->block_keys : b->a.keys));
    struct kaffine at = local_at(st, key, b->a.keys, lane);
    uint32_t score = load_local(st, LOCAL_SCORES, at);
    uint32_t e = kernel_op2(k, K_SUB, score, kernel_reduce(k, KR_MAX, score));

    e = kernel_op1(k, K_EXP2, kernel_op2(k, K_MUL, e, kernel_f32(k, 0x1.715476p+0F))); /* log2 of e */

    return store_local(st, LOCAL_SCORES, at, e) &&
           store_local(st, LOCAL_INVERSE, lane, kernel_op1(k, K_RECIPROCAL, kernel_reduce(k, KR_SUM, e)));
}

/* Rounds the softmax's results as the graph does on their way to the second matmul. */
static bool make_weights(struct part *st)
{
    const struct builder *b = st->b;
    const struct value *softmax = b->a.softmax->results[0], *weights = b->a.product->inputs[0].value;
    struct kernel *k = st->stage.l.k;
    struct kaffine key, at;
    struct row row = add_keys(st, &key);
    struct map of_softmax = softmax_map(st, softmax, &row, key), m = matrix_map(st, weights, row.of_all, key);

    at = local_at(st, key, b->a.keys, row.lane);
    uint32_t e = kernel_op2(k, K_MUL, load_local(st, LOCAL_SCORES, at), load_local(st, LOCAL_INVERSE, row.lane));
    if (!guard_row(st, &of_softmax, &row) || !guard_row(st, &m, &row))
        return false;
    know_result(st, softmax, &of_softmax, e);
    e = lower_value(&st->stage.l, weights, &m);
    return count_sums(k) == 0 && store_local(st, LOCAL_SCORES, at, e);
}

static uint32_t divided_by_sum(struct part *st, uint32_t e, struct kaffine lane)
{
    return st->b->a.rounds ? e : kernel_op2(st->stage.l.k, K_MUL, e, load_local(st, LOCAL_INVERSE, lane));
}

static bool make_product(struct part *st)
{
    const struct builder *b = st->b;
    struct kernel *k = st->stage.l.k;
    struct kaffine block = add_blocks(st, KVAR_PARALLEL), column;
    struct row row = add_vars(st, b->a.width, &column);
    struct kaffine key = key_of(st, block, stage_var(&st->stage, KVAR_REDUCED, b->block_keys));
    struct kaffine line = kaffine_add(k, kaffine_scale(k, block, b->a.width), column);
    uint32_t e = load_operand(st, OPERAND_V, key, column);
    uint32_t weight = load_local(st, LOCAL_SCORES, local_at(st, key, b->a.keys, row.lane));

    e = b->few ? kernel_dot(k, weight, e) : kernel_dot(k, e, weight);
    return store_local(st, b->blocks > 1 ? LOCAL_BLOCKS : LOCAL_PRODUCT, local_at(st, line, b->blocks * b->a.width, row.lane),
                       b->blocks > 1 ? e : divided_by_sum(st, e, row.lane));
}

static bool make_combine(struct part *st)
{
    const struct builder *b = st->b;
    struct kernel *k = st->stage.l.k;
    struct kaffine column;
    struct row row = add_vars(st, b->a.width, &column);
    struct kaffine block = add_blocks(st, KVAR_REDUCED);
    struct kaffine line = kaffine_add(k, kaffine_scale(k, block, b->a.width), column);
    uint32_t sum = kernel_reduce(k, KR_SUM, load_local(st, LOCAL_BLOCKS, local_at(st, line, b->blocks * b->a.width, row.lane)));

    return store_local(st, LOCAL_PRODUCT, local_at(st, column, b->a.width, row.lane), divided_by_sum(st, sum, row.lane));
}

static bool make_output(struct part *st)
{
    const struct builder *b = st->b;
    const struct value *product = b->a.product->results[0];
    const bool apart = b->a.apart && b->stages.outputs[0] != product && b->a.rows % b->tile_rows; /* as with the scores */
    const struct value *result = apart ? b->a.apart : product;
    struct kaffine column;
    struct row row = add_vars(st, b->a.width, &column);
    struct map m = apart ? softmax_map(st, result, &row, column) : matrix_map(st, result, row.of_all, column);

    if (!guard_row(st, &m, &row))
        return false;
    know_result(st, result, &m, load_local(st, LOCAL_PRODUCT, local_at(st, column, b->a.width, row.lane)));
    return stage_store_outputs(&st->stage, result, &m) && count_sums(st->stage.l.k) == 0;
}

static bool add_stage(struct builder *b, bool (*make)(struct part *st), const char *name)
{
    struct part st = {.b = b};

    return stage_end(&st.stage, stage_begin(&st.stage, &b->stages) && make(&st), name, KSTAGE_ALWAYS);
}

/* ---- the kernel ---- */

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

static uint32_t add_macro_tiles(struct builder *b, int64_t count)
{
    b->stages.macro_tiles[b->stages.macro_tile_vars] = count;
    return b->stages.macro_tile_vars++;
}

/*
 * Chooses the variables of the macro-tile, slowest first.  After the block of rows come the dimensions along which no mask
 * differs, so that a mask that all heads share is transposed once for all of them.  Without a mask that is the block of rows,
 * for which K and V stay in the cache, and before it the heads of a group.
 */
static void choose_macro_tiles(struct builder *b)
{
    const struct attention *a = &b->a;
    const uint32_t rank = a->product->results[0]->type.rank;
    const bool groups = a->group > 1 && !b->few;
    uint32_t shared = a->batch_count;
    /* A group's heads are a part of their dimension. */
    const bool group_shared = groups && a->mask_count && !masks_vary(b, rank - 3);

    while (a->mask_count && shared > 0 && !masks_vary(b, a->batch[shared - 1]))
        shared--;
    for (uint32_t i = 0; i < shared; i++)
        b->batch_var[i] = add_macro_tiles(b, a->product->results[0]->type.dims[a->batch[i]]);
    if (groups && !group_shared)
        b->group_var = add_macro_tiles(b, a->group);
    b->block_var = add_macro_tiles(b, b->few ? 1 : ceil_div(a->rows, b->tile_rows));
    for (uint32_t i = shared; i < a->batch_count; i++)
        b->batch_var[i] = add_macro_tiles(b, a->product->results[0]->type.dims[a->batch[i]]);
    if (group_shared)
        b->group_var = add_macro_tiles(b, a->group);
}

/* Adds the locals in the order of the enumeration. */
static void add_locals(struct builder *b)
{
    stages_local(&b->stages, b->few ? 1 : b->a.depth * b->tile_rows);
    stages_local(&b->stages, b->a.keys * b->tile_rows);
    stages_local(&b->stages, b->tile_rows);
    stages_local(&b->stages, b->blocks > 1 ? b->blocks * b->a.width * b->tile_rows : 1);
    stages_local(&b->stages, b->a.width * b->tile_rows);
    for (uint32_t i = 0; i < b->a.mask_count; i++) { /* one of float16 is converted once, not for each head that shares it */
        const dtype t = b->a.masks[i]->type.type;
        kernel_local(b->stages.kernel, t == WNNOperandDataType_Float16 ? WNNOperandDataType_Float32 : t,
                     b->few ? 1 : b->a.keys * b->tile_rows);
    }
    if (b->bounded)
        kernel_local(b->stages.kernel, WNNOperandDataType_Int32, 2);
}

enum { PACKED_MOST = 1 << 20 }; /* elements of K and V that each thread has copies of */

/* Returns whether copies of K and V serve enough macro-tiles, one after the other. */
static bool repays_packing(const struct builder *b, const struct target *t)
{
    const int64_t least = target_facts(t)->attention.packed_tiles, tiles = b->a.group * ceil_div(b->a.rows, b->tile_rows);
    const bool follow = !b->a.batch_count || b->batch_var[b->a.batch_count - 1] < b->block_var;

    return !b->few && !b->bounded && !t->sizes_vary && least && tiles >= least && follow &&
           b->a.keys * (b->a.depth + b->a.width) <= PACKED_MOST;
}

struct kernel *lower_attention(const struct target *target, const struct node_table *t, const struct node *n,
                               uint32_t output_count, struct value *const *outputs)
{
    struct builder b = {.few = false};
    bool good = true;

    if (!target || !attention_find(n, &b.a))
        return NULL;
    b.few = attention_has_few_rows(&b.a, target);
    b.tile_rows = attention_tile_rows(&b.a, target);
    b.block_keys = attention_block_keys(&b.a, target, b.tile_rows);
    b.rows_at_once = attention_rows_at_once(target, b.tile_rows);
    b.blocks = b.a.keys / b.block_keys;
    b.bounded = b.a.bound.edge_count && b.blocks > 1;
    b.stages = (struct stages){
        .table = t, .anchor = n, .output_count = output_count, .outputs = outputs, .sizes_vary = target->sizes_vary};
    choose_macro_tiles(&b);
    if (!stages_begin(&b.stages, "attention"))
        return NULL;
    add_locals(&b);
    if (b.bounded)
        good = add_stage(&b, make_bound, "bound");
    for (; repays_packing(&b, target) && b.operand <= OPERAND_V; b.operand++)
        add_stage(&b, make_packed, b.operand == OPERAND_K ? "keys" : "values");
    good = good && (b.few || add_stage(&b, make_query, "query"));
    for (; good && !b.few && b.mask < b.a.mask_count; b.mask++)
        good = add_stage(&b, make_mask, "mask");
    good = good && add_stage(&b, b.few ? make_sums : make_scores, "scores") && (!b.few || add_stage(&b, make_chain, "chain")) &&
           add_stage(&b, make_softmax, "softmax") && (!b.a.rounds || add_stage(&b, make_weights, "weights"));
    return stages_end(&b.stages, good && add_stage(&b, make_product, "product") &&
                                     (b.blocks == 1 || add_stage(&b, make_combine, "combine")) &&
                                     add_stage(&b, make_output, "output"));
}
