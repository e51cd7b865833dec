/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the micro-kernel of contractions: of convolutions, matrix multiplications and whatever else has index maps like theirs
 * (docs/contractions.md).
 *
 * It takes a schedule with a register tile (ir/schedule/schedule.h).  N, the vector variable, and M are PARALLEL variables, K
 * are the REDUCED ones.  A tile is MR rows of NR elements, whose accumulators stay in registers while K is looped over: an
 * element of A is loaded once for all vectors of its row, a vector of B once for all rows.  Copy c of an expression (context.h)
 * is row c / vectors, vector c % vectors of the tile; what depends on only one of the two is evaluated once.  What follows the
 * sum (bias, activation, residual) is computed on the accumulators.
 *
 * Guards (padding) are tested outside of the innermost long loop: rows that are outside read zeros from the stack there, by the
 * same loop as all others.  Where that cannot be (the vectors themselves are guarded, the loop is short), code without guards
 * runs for tiles whose guards all hold, and code with them for the others.
 *
 * Matrix multiplications (`strided`) have an address per row, which stays in a register, so that strides are parameters and all
 * sizes with the same tiles share code.  A packed B that comes from memory is prefetched: while the rows of one panel are
 * computed, each tile asks for its share of the next one, a little in every step of K.
 */
#include "codegen/lower/tile.h"

#include "codegen/lower/access.h"
#include "codegen/lower/values.h"
#include "codegen/lower/index.h"
#include "codegen/lower/point.h"
#include "codegen/lower/scalar.h"
#include "ir/graph/constant.h"

void microkernel_enter_function(struct emitter *e)
{
    const struct build *m = &e->m;
    enum { STEP = TARGET_LINE_BYTES / sizeof(float) }; /* a line of the cache at a time, of which there are whole ones */
    const uint32_t zeros = e->s->tiled ? e->s->tile.zeros : e->s->edges.zeros;

    if (!zeros)
        return;
    e->args.zero_row = loop_array(m->b, LOOP_ARRAY, type_i32, (int64_t)sizeof(int32_t) * zeros);
    V at = loop_for_begin(m->b, const_index(m, 0), const_index(m, zeros), LOOP_AT_LEAST_ONCE);
    V address = op_address(m, type_i32, e->args.zero_row, at);
    V fill = const_int(m, 32, (int32_t)(tile_fill(e->s) * (UINT32_MAX / UINT8_MAX)));
    op_store(m, splat(m, fill, STEP), address, NULL, sizeof(int32_t));
    loop_for_end(m->b, const_index(m, STEP));
}

/* ---- sums ---- */

static bool has_bytes(const struct emitter *e)
{
    return e->s->tile.blocks.bytes.a != KEXPR_NONE;
}

/* Returns whether a sum may be one block, which is in registers. */
static bool may_be_one_block(const struct emitter *e)
{
    return e->s->tile.split == 0 && schedule_splits_by_number(e->s);
}

/* Returns the number of a tile's partial sums: where they are interleaved, a row has vectors of its own number. */
static uint32_t partial_count(const struct emitter *e, const struct context *cx)
{
    return e->s->tile.interleaved ? cx->tile->rows * e->s->tile.interleaved : cx->copies;
}

static T sum_type(const struct context *cx)
{
    return type_lanes(type_f32, cx->lanes);
}

static T partial_type(const struct emitter *e, const struct context *cx)
{
    return has_bytes(e) ? type_lanes(type_i32, cx->lanes) : sum_type(cx);
}

static void clear(struct emitter *e, const V *slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        op_set(&e->m, slots[i], const_zero(&e->m, slots[i]->type));
}

static void clear_partial_sums(struct emitter *e, const struct context *cx, const struct sums *t)
{
    for (uint32_t i = 0; i < e->s->tile.chains; i++)
        clear(e, t->partial[i], partial_count(e, cx));
    clear(e, t->corrections, t->correction_count);
}

static void step(struct emitter *e, const struct context *cx, struct sums *t)
{
    const struct kexpr *x = &e->k->exprs[t->reduce];
    const uint32_t b_expr = e->s->tile.blocks.factor != KEXPR_NONE ? e->s->tile.blocks.unscaled : x->args[1];
    const struct build *m = &e->m;

    operand_prefetch(e,
                     cx); /* first: LLVM moves no load across it, and after all of them they would be in registers together */
    for (uint32_t c = 0; c < cx->copies; c++) {
        const struct context of = context_of_copy(cx, c);
        V a = expr_value_lanes(e, &of, x->args[0], cx->lanes), b = expr_value_lanes(e, &of, b_expr, cx->lanes);
        V slot = t->partial[t->chain][c], old = op_get(m, slot);
        op_set(m, slot, op_mad(m, a, b, old));
    }
}

/* Does two steps, whose products are neighbouring lanes (register_tile.interleaved). */
static void interleaved_steps(struct emitter *e, const struct context *cx, struct sums *t, uint32_t level, uint32_t var,
                              V first)
{
    const struct kexpr *x = &e->k->exprs[t->reduce];
    const struct build *m = &e->m;
    const uint32_t count = e->s->tile.interleaved, vectors = cx->tile->vectors;
    V b[2][2], pairs[TILE_INTERLEAVED];

    for (uint32_t i = 2; i-- > 0;) {
        frame_open(&e->frame, level);
        e->frame.var_value[var] = op_plus(m, first, i);
        for (uint32_t v = 0; v < vectors; v++) {
            const struct context of = context_of_copy(cx, v);
            b[i][v] = expr_value_lanes(e, &of, x->args[1], cx->lanes);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        pairs[i] = blocks_in_turns(m, b[0][i / 2], b[1][i / 2], cx->lanes, i % 2);
    for (uint32_t row = 0; row < cx->tile->rows; row++) {
        const struct context of = context_of_copy(cx, row * vectors);
        V a = splat(m, emit_load_word(e, &of, x->args[0], 0, type_i64, NULL), cx->lanes / 2);
        for (uint32_t i = 0; i < count; i++) {
            V slot = t->partial[0][row * count + i];
            op_set(m, slot, op_mad(m, op_bitcast(m, a, sum_type(cx)), pairs[i], op_get(m, slot)));
        }
    }
}

/* ---- lookups of several steps ---- */

enum { LOOKUP_LOOPS = 2 /* the innermost ones, over the numbers of a word */ };

/* Returns a row's table: by 4 bits of a word, from number `first` of byte `byte` on, the sum of A's elements of these steps
 * times what the numbers stand for. */
static V row_table(struct emitter *e, const struct context *cx, const struct kexpr *dot, const float *numbers, uint32_t bits,
                   uint32_t first, uint32_t byte)
{
    const struct build *m = &e->m;
    const uint32_t outer = e->k->reduced_count - LOOKUP_LOOPS, var = e->k->parallel_count + outer;
    V sum = NULL;

    for (uint32_t i = 0; i * bits < LOOKUP_BITS; i++) {
        float each[LOOKUP_ENTRIES];
        for (uint32_t n = 0; n < LOOKUP_ENTRIES; n++)
            each[n] = numbers[n >> i * bits];
        frame_open(&e->frame, e->info.point_level + outer + 1);
        e->frame.var_value[var] = const_index(m, first + i);
        frame_open(&e->frame, e->info.point_level + outer + 2);
        e->frame.var_value[var + 1] = const_index(m, byte);
        V a = expr_value_lanes(e, cx, dot->args[0], cx->lanes);
        sum = sum ? op_mad(m, a, lookup_table(m, each), sum) : op_mul(m, a, lookup_table(m, each));
    }
    return sum;
}

/* Does the steps of a word of B (struct block_products): 4 bits at a time look up the sum of as many products. */
static void lookup_step(struct emitter *e, const struct context *cx, const struct kexpr *dot, const V *sums)
{
    const struct block_products *blocks = &e->s->tile.blocks;
    const uint32_t b = blocks->factor != KEXPR_NONE ? blocks->unscaled : dot->args[1];
    const uint32_t per_byte = (uint32_t)e->k->vars[e->k->parallel_count + e->k->reduced_count - LOOKUP_LOOPS].size;
    const uint32_t bits = 8 / per_byte, vectors = cx->tile->vectors;
    const struct build *m = &e->m;
    float numbers[LOOKUP_ENTRIES];

    lookup_find(e, b, cx->lanes, numbers);
    for (uint32_t g = 0; g < 32 / LOOKUP_BITS; g++) {
        V index[COPIES_MAX];
        for (uint32_t v = 0; v < vectors; v++) {
            const struct context of = context_of_copy(cx, v);
            index[v] = expr_value_lanes(e, &of, blocks->words, cx->lanes);
            if (g)
                index[v] = op_lshr(m, index[v], splat(m, const_int(m, 32, g * LOOKUP_BITS), cx->lanes));
        }
        for (uint32_t row = 0; row < cx->tile->rows; row++) {
            const struct context of = context_of_copy(cx, row * vectors);
            V table = row_table(e, &of, dot, numbers, bits, g % 2 * (per_byte / 2), g / 2);
            for (uint32_t v = 0; v < vectors; v++) {
                V slot = sums[row * vectors + v];
                op_set(m, slot, op_add(m, op_get(m, slot), op2(m, LOOP_PERMUTE, table, index[v])));
            }
        }
    }
}

/* Returns what the sum of a block is multiplied by in that copy, or NULL for nothing. */
static V factor_value(struct emitter *e, const struct context *cx, uint32_t copy)
{
    const struct context of = context_of_copy(cx, copy);

    if (has_bytes(e))
        return byte_products_factor(e, cx, copy);
    return e->s->tile.blocks.factor != KEXPR_NONE ? expr_value_lanes(e, &of, e->s->tile.blocks.factor, cx->lanes) : NULL;
}

static V partial_value(struct emitter *e, const struct context *cx, const struct sums *t, uint32_t copy)
{
    if (has_bytes(e))
        return byte_products_value(e, cx, copy, t->partial[0][copy], t->corrections);
    if (e->s->tile.interleaved) {
        const uint32_t count = e->s->tile.interleaved, vectors = cx->tile->vectors, first = copy % vectors * 2;
        const V *sums = &t->partial[0][copy / vectors * count + first];
        V a = op_get(&e->m, sums[0]), b = op_get(&e->m, sums[first + 1 < count]);
        return op_add(&e->m, every_second_block(&e->m, a, b, 1, 0), every_second_block(&e->m, a, b, 1, 1));
    }
    V sum = op_get(&e->m, t->partial[0][copy]);
    for (uint32_t i = 1; i < e->s->tile.chains; i++)
        sum = op_add(&e->m, sum, op_get(&e->m, t->partial[i][copy]));
    return sum;
}

/* Ends a block of a sum that is split. */
static void add_partial_sums(struct emitter *e, const struct context *cx, struct sums *t)
{
    const struct build *m = &e->m;

    for (uint32_t c = 0; c < cx->copies; c++) {
        V factor = factor_value(e, cx, c), sum = partial_value(e, cx, t, c);
        V total = op_get(m, t->total[c]);
        total = factor ? op_mad(m, sum, factor, total) : op_add(m, total, sum);
        op_set(m, t->total[c], total);
    }
    clear_partial_sums(e, cx, t);
}

/* ---- guards ---- */

/* Returns how much a form grows from the tile's first point to the last one, over what the loops inside of `depth` span. */
static V form_span(struct emitter *e, const struct context *cx, uint32_t form, uint32_t depth)
{
    const struct form *f = &e->info.forms[form];
    const struct build *m = &e->m;
    V more = const_index(m, 0);

    for (uint32_t i = 0; i < f->affine->count; i++) {
        const uint32_t var = f->affine->terms[i].var;
        V c = number_value(e, f->number + 1 + i), span = NULL;

        if (e->k->vars[var].kind == KVAR_REDUCED && var - e->k->parallel_count >= depth)
            span = op_sub(m, number_value(e, e->info.numbers.vars[var]), const_index(m, 1));
        else if (var == e->s->vector_var)
            span = const_index(m, (int64_t)cx->lanes * cx->tile->vectors - 1);
        else if (var == e->s->tile.m_var)
            span = tile_row(e, cx, cx->tile->rows - 1);
        else if (tile_has_lines(e->s, var))
            span = const_index(m, cx->tile->lines - 1);
        more = span ? op_add(m, more, op_mul(m, span, c)) : more;
    }
    return more;
}

/* Returns whether every point of the tile is inside, as far as loops inside of the open ones go.  *some says whether any point
 * can be (NULL: that is not known). */
static V inside(struct emitter *e, const struct context *cx, const struct sums *t, uint32_t depth, V *some)
{
    const struct kexpr *sum = &e->k->exprs[t->reduce];
    const struct build *m = &e->m;
    V all = const_int(m, 1, 1);

    *some = NULL;
    for (uint32_t i = 0; i < e->k->expr_count; i++) {
        const struct kexpr *x = &e->k->exprs[i];
        if (!tile_is_operand(x))
            continue;
        /* An operand that is zero everywhere in the tile adds nothing. */
        const bool vanishes = (sum->args[0] == i || sum->args[1] == i) && x->bits.u64 == 0;
        for (uint32_t g = e->info.expr_form[i] + 1; g <= e->info.expr_form[i] + x->guard_count; g++) {
            V bound = form_bound(e, g), first = operand_first(e, cx, g, depth);
            V last = op_add(m, first, form_span(e, cx, g, depth));
            V low = op_ge(m, first, const_index(m, 0));
            V high = op_lt(m, last, bound);
            all = op_and(m, all, op_and(m, low, high));
            if (!vanishes)
                continue;
            /* Some point is inside only if the last one is not before the beginning and the first one not after the end. */
            low = op_ge(m, last, const_index(m, 0));
            high = op_lt(m, first, bound);
            low = op_and(m, low, high);
            *some = *some ? op_and(m, *some, low) : low;
        }
    }
    return all;
}

/* Returns whether guards of operands have yet to be tested. */
static bool guards_are_open(const struct emitter *e, const struct context *cx)
{
    return e->s->tile.guarded && !cx->guards_hold && !cx->row_pointers;
}

static void nest(struct emitter *e, const struct context *cx, struct sums *t, uint32_t r);

/* Emits the rest of the loops, with zeros for rows in the padding if those are chosen here. */
static void nest_guarded(struct emitter *e, const struct context *cx, struct sums *t, uint32_t r)
{
    struct context at_edge = *cx;

    if (guards_are_open(e, cx) && e->s->tile.zeros && e->s->tile.edge == r) {
        operand_set_edge_pointers(e, cx, r);
        at_edge.row_pointers = e->row_pointers;
    }
    nest(e, &at_edge, t, r);
}

/* Emits the rest of the loops without guards where all guards hold, and with them elsewhere. */
static void branch(struct emitter *e, const struct context *cx, struct sums *t, uint32_t r)
{
    struct loop_builder *b = e->m.b;
    const uint32_t level = e->info.point_level + r;
    V some, all = inside(e, cx, t, r, &some);

    if (tile_is_same_at_edges(e->s)) {
        loop_scope_begin(b);
    } else {
        struct context unguarded = *cx;
        loop_if_begin(b, all);
        frame_open(&e->frame, level); /* each branch has its own values */
        unguarded.guards_hold = true;
        nest(e, &unguarded, t, r);
        loop_else(b);
    }
    frame_open(&e->frame, level);
    if (some)
        loop_if_begin(b, some);
    else
        loop_scope_begin(b);
    nest_guarded(e, cx, t, r);
    loop_end(b);
    loop_end(b);
    frame_open(&e->frame, level);
}

/* ---- loops over REDUCED variables ---- */

static void inner(struct emitter *e, const struct context *cx, struct sums *t, uint32_t r)
{
    if (guards_are_open(e, cx) && e->s->tile.branch == r)
        branch(e, cx, t, r);
    else
        nest_guarded(e, cx, t, r);
}

/* Does the steps of a loop over a REDUCED variable; in the innermost one they take turns, each with its own sums. */
static void steps_loop(struct emitter *e, const struct context *cx, struct sums *t, uint32_t r, V first, V end)
{
    const bool innermost = r + 1 == e->k->reduced_count, pairs = innermost && e->s->tile.interleaved;
    const int64_t chains = pairs ? 2 : innermost ? e->s->tile.chains : 1;
    const uint32_t var = e->k->parallel_count + r, level = e->info.point_level + r + 1;
    V value = loop_for_begin(e->m.b, first, end, LOOP_AT_LEAST_ONCE);

    if (pairs)
        interleaved_steps(e, cx, t, level, var, value);
    for (int64_t i = 0; i < chains && !pairs; i++) {
        V number = i ? op_plus(&e->m, value, i) : value;
        frame_open(&e->frame, level);
        e->frame.var_value[var] = number;
        t->chain = (uint32_t)i;
        inner(e, cx, t, r + 1);
    }
    t->chain = 0;
    loop_for_end(e->m.b, const_index(&e->m, chains));
}

/* Ends a block of a sum, which follows others or is the first, and after which it goes on or not. */
static void join_blocks(struct emitter *e, const struct context *cx, struct sums *t, V follows, V goes_on)
{
    const struct build *m = &e->m;

    loop_if_begin(m->b, follows);
    for (uint32_t c = 0; c < cx->copies; c++)
        op_set(m, t->partial[0][c], op_add(m, op_get(m, t->total[c]), partial_value(e, cx, t, c)));
    for (uint32_t i = 1; i < e->s->tile.chains; i++)
        clear(e, t->partial[i], cx->copies);
    loop_end(m->b);
    loop_if_begin(m->b, goes_on);
    for (uint32_t c = 0; c < cx->copies; c++)
        op_set(m, t->total[c], partial_value(e, cx, t, c));
    clear_partial_sums(e, cx, t);
    loop_end(m->b);
}

static void split_loop(struct emitter *e, const struct context *cx, struct sums *t, uint32_t r, V size)
{
    const struct build *m = &e->m;
    V steps = number_value(e, e->info.numbers.count - 1);
    V first = loop_for_begin(m->b, const_index(m, 0), size, LOOP_AT_LEAST_ONCE), next = op_add(m, first, steps);

    steps_loop(e, cx, t, r, first, op_smin(m, next, size));
    if (may_be_one_block(e))
        join_blocks(e, cx, t, op_ne(m, first, const_index(m, 0)), op_lt(m, next, size));
    else
        add_partial_sums(e, cx, t);
    loop_for_end(m->b, steps);
}

static void nest(struct emitter *e, const struct context *cx, struct sums *t, uint32_t r)
{
    if (window_begins(e, r)) {
        emit_window(e, cx, t, r);
        return;
    }
    if (has_bytes(e) && r == e->k->reduced_count - tile_word_vars(e->s)) {
        byte_products_step(e, cx, t->columns_only ? NULL : t->partial[0], t->corrections);
        return;
    }
    if (e->s->tile.blocks.words != KEXPR_NONE && cx->lanes == LOOKUP_ENTRIES && r == e->k->reduced_count - LOOKUP_LOOPS) {
        lookup_step(e, cx, &e->k->exprs[t->reduce], t->partial[0]);
        return;
    }
    if (r == e->k->reduced_count) {
        step(e, cx, t);
        return;
    }
    const uint32_t var = e->k->parallel_count + r, level = e->info.point_level + r;
    V size = number_value(e, e->info.numbers.vars[var]);

    const bool looped = e->s->tile.zeros && cx->row_pointers && !has_bytes(e);
    if (r >= e->s->tile.unroll_from && !guards_are_open(e, cx) && !looped) {
        for (int64_t i = 0; i < e->k->vars[var].size; i++) {
            frame_open(&e->frame, level + 1);
            e->frame.var_value[var] = const_index(&e->m, i);
            if (r + 1 == e->k->reduced_count)
                t->chain = (uint32_t)i % e->s->tile.chains;
            inner(e, cx, t, r + 1);
        }
        return;
    }
    frame_enter(&e->frame, level, NULL);
    if (r == e->s->tile.split && e->s->tile.split_steps == 1) {
        loop_variable(e, level + 1, var, const_index(&e->m, 0), size);
        inner(e, cx, t, r + 1);
        add_partial_sums(e, cx, t);
        loop_for_end(e->m.b, const_index(&e->m, 1));
    } else if (r == e->s->tile.split) {
        split_loop(e, cx, t, r, size);
    } else {
        steps_loop(e, cx, t, r, const_index(&e->m, 0), size);
    }
    frame_leave(&e->frame, level);
}

/* Computes the sums of all rows of a tile, or of all but the last. */
static void sum_rows(struct emitter *e, const struct context *cx, struct sums *t)
{
    struct context fewer = *cx;
    struct micro_tile tile = *cx->tile;

    tile.rows--;
    tile.whole = NULL;
    fewer.tile = &tile;
    fewer.copies -= tile.vectors;
    loop_if_begin(e->m.b, cx->tile->whole);
    frame_open(&e->frame, e->info.point_level); /* each branch has its own values */
    inner(e, cx, t, 0);
    loop_else(e->m.b);
    frame_open(&e->frame, e->info.point_level);
    inner(e, &fewer, t, 0);
    loop_end(e->m.b);
    frame_open(&e->frame, e->info.point_level);
}

/* ---- the tile ---- */

/* Makes the slots of a tile's sums; all tiles of a kernel share them. */
static struct sums make_sums(struct emitter *e, const struct context *cx, const V *column_sums)
{
    struct sums t = {.reduce = find_contraction(e->k)};

    for (uint32_t c = 0; c < partial_count(e, cx); c++) {
        for (uint32_t i = 0; i < e->s->tile.chains; i++)
            t.partial[i][c] = loop_slot(e->m.b, partial_type(e, cx));
        if (e->s->tile.split != KEXPR_NONE)
            t.total[c] = loop_slot(e->m.b, sum_type(cx));
    }
    t.correction_count = has_bytes(e) ? byte_products_corrections(e, cx) : 0;
    for (uint32_t i = 0; i < t.correction_count; i++)
        t.corrections[i] = loop_slot(e->m.b, partial_type(e, cx));
    clear_partial_sums(e, cx, &t);
    for (uint32_t c = 0; column_sums && c < cx->copies; c++)
        op_set(&e->m, t.partial[0][c], op_get(&e->m, column_sums[c % cx->tile->vectors]));
    if (e->s->tile.split != KEXPR_NONE && !may_be_one_block(e))
        clear(e, t.total, cx->copies);
    return t;
}

static void finish_sums(struct emitter *e, const struct context *cx, const struct sums *t)
{
    const bool split = e->s->tile.split != KEXPR_NONE && !may_be_one_block(e);
    const struct kexpr *exprs = e->k->exprs;
    uint32_t added = KEXPR_NONE; /* to the sum of bytes: a bias into which a scale was folded, to be rounded only once */

    for (uint32_t i = 0; i < e->k->expr_count && has_bytes(e); i++)
        if (exprs[i].op == K_ADD && (exprs[i].args[0] == t->reduce || exprs[i].args[1] == t->reduce)) {
            const struct kexpr *bias = &exprs[exprs[i].args[exprs[i].args[0] == t->reduce]];
            if (bias->op == K_LOAD && e->k->tensors[bias->tensor].magnitude == MAGNITUDE_2_24)
                added = i;
        }
    for (uint32_t c = 0; c < cx->copies; c++) {
        V factor = split ? NULL : factor_value(e, cx, c);
        V value = split ? op_get(&e->m, t->total[c]) : partial_value(e, cx, t, c);
        if (factor && added != KEXPR_NONE) {
            const struct context of = context_of_copy(cx, c);
            V bias = expr_value_lanes(e, &of, exprs[added].args[exprs[added].args[0] == t->reduce], cx->lanes);
            expr_know(e, added, c, op_mad(&e->m, value, factor, bias));
        }
        expr_know(e, t->reduce, c, factor ? op_mul(&e->m, value, factor) : value);
    }
}

/* Makes the tile that the context refers to. */
static struct context tile_context(struct emitter *e, const struct context *cx, const struct tile_at *at,
                                   struct micro_tile *tile)
{
    const struct build *m = &e->m;
    struct context of = *cx;

    *tile = (struct micro_tile){.rows = at->rows, .vectors = at->vectors, .lines = at->lines, .whole = at->whole};
    of.lanes = at->lanes;
    of.copies = at->lines * at->rows * at->vectors;
    of.tile = tile;
    e->frame.var_value[e->s->vector_var] = at->column;
    if (at->masked) {
        V left = op_sub(m, at->high, op_plus(m, at->column, (int64_t)(at->vectors - 1) * at->lanes));
        left = splat(m, op_trunc(m, left, type_i32), at->lanes);
        tile->mask = op_ult(m, const_iota(m, 32, at->lanes), left);
    }
    return context_of_copy(&of, 0);
}

void emit_column_sums(struct emitter *e, const struct context *cx, const struct tile_at *at, V *slots)
{
    struct micro_tile tile;
    struct tile_at one = *at;
    struct sums sums = {.columns_only = true};

    one.rows = one.lines = 1;
    frame_open(&e->frame, e->info.vector_level);
    struct context of = tile_context(e, cx, &one, &tile);
    for (uint32_t i = 0; i < at->vectors; i++)
        slots[i] = sums.corrections[i] = loop_slot(e->m.b, partial_type(e, &of));
    sums.correction_count = at->vectors;
    /* The unit before may have had the same columns. */
    V start = e->s->tile.b_outer ? operand_start(e, &of, e->s->tile.blocks.bytes.words) : NULL;
    if (start) {
        V last = loop_slot(e->m.b, type_index(&e->m));
        frame_at(&e->frame, LEVEL_ENTRY);
        op_set(&e->m, last, const_index(&e->m, -1));
        frame_here(&e->frame);
        loop_if_begin(e->m.b, op_ne(&e->m, start, op_get(&e->m, last)));
        op_set(&e->m, last, start);
        frame_open(&e->frame, e->info.vector_level);
    }
    clear(e, sums.corrections, sums.correction_count);
    of.guards_hold = true; /* those are of A */
    inner(e, &of, &sums, 0);
    for (uint32_t i = 0; i < at->vectors; i++)
        byte_products_start(e, &of, slots[i]);
    if (start)
        loop_end(e->m.b);
}

void emit_microkernel(struct emitter *e, const struct context *cx, const struct tile_at *at)
{
    struct micro_tile tile;

    frame_open(&e->frame, e->info.vector_level);
    if (e->s->tile.m_var != KEXPR_NONE)
        e->frame.var_value[e->s->tile.m_var] = at->row;
    struct context of = tile_context(e, cx, at, &tile);
    struct sums sums = make_sums(e, &of, at->column_sums);

    struct context of_sums = of;
    if (e->s->tile.strided) {
        operand_set_row_pointers(e, &of);
        of_sums.row_pointers = e->row_pointers;
    }
    if (e->s->tile.prefetch_var != KEXPR_NONE && e->s->tile.m_var != KEXPR_NONE)
        operand_set_prefetch(e, &of, at->row, &tile);
    if (at->whole)
        sum_rows(e, &of_sums, &sums);
    else
        inner(e, &of_sums, &sums, 0);

    of.phase = e->k->phase_count;
    finish_sums(e, &of, &sums);
    emit_results(e, &of); /* all of it is computed before any of it is stored: a residual may lie where the result goes */
}
