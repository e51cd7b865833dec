/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the steps of register tiles whose accumulators have operands of their own, as those of depthwise convolutions: over the
 * elements of A that a tile reads, each of which is loaded once and multiplied for all rows whose windows it is in.  Every
 * accumulator adds its products up in the order of the loops, so that all tiles give the same bits.  Lines of the padding are
 * skipped, and only elements at the ends of a line are tested, where the schedule says so (struct tile_window).
 */
#include "codegen/lower/tile.h"

#include "codegen/lower/values.h"
#include "codegen/lower/index.h"

static bool multiplies_bytes(const struct emitter *e)
{
    return e->s->tile.blocks.bytes.own;
}

bool window_begins(const struct emitter *e, uint32_t r)
{
    if (e->s->tile.window.row.neighbours)
        return r == e->s->tile.unroll_from;
    return multiplies_bytes(e) && r == e->k->reduced_count;
}

/* Is a window: its size in the loops that are left to unroll, of which r is the first one, and the vectors of B so far.  Of
 * words of four bytes, whose last one is the step's, those are of the last step of each. */
struct window {
    uint32_t r, height, width;
    bool words;
    V b[TILE_WINDOW_MAX];
};

/* Returns words without their first byte, which another one follows.  NULL: that is 0. */
static V push_byte(const struct build *m, V word, V byte)
{
    byte = byte ? op_shl(m, byte, const_int_like(m, byte, 8 * (BYTE_WORD - 1))) : NULL;
    word = word ? op_lshr(m, word, const_int_like(m, word, 8)) : NULL;
    return word && byte ? op_or(m, word, byte) : word ? word : byte;
}

static void open_window_step(struct emitter *e, const struct window *w, uint32_t y, uint32_t x)
{
    const uint32_t last = e->k->reduced_count - 1;

    for (uint32_t r = w->r; r <= last; r++) {
        frame_open(&e->frame, e->info.point_level + r + 1);
        e->frame.var_value[e->k->parallel_count + r] = const_index(&e->m, r == last ? x : y);
    }
}

/* Returns what elements of A come from: a K_LOAD, or an expression. */
static uint32_t operand_a(const struct emitter *e, const struct sums *t)
{
    return multiplies_bytes(e) ? e->s->tile.blocks.bytes.a : e->k->exprs[t->reduce].args[0];
}

/* Makes ready the address of element x of a line, after those before it: LLVM takes no time to find good ones. */
static void reach_element(struct emitter *e, const struct context *first, struct context *of, uint32_t expr, uint32_t x)
{
    const struct build *m = &e->m;
    const uint32_t form = e->info.expr_form[expr], tensor = e->k->exprs[expr].tensor;
    V stride = form_coefficient(e, &e->info.forms[form], e->k->parallel_count + e->k->reduced_count - 1);
    T element = storage_type(e->k->tensors[tensor].type);
    int64_t known;

    if (x == 0)
        of->line = op_opaque(m, op_address(m, element, tensor_pointer(e, tensor), form_evaluate(e, first, form).base));
    else if (x % 2 == 0 && !is_int_constant(stride, &known))
        of->line = op_opaque(m, op_address(m, element, of->line, op_mul(m, const_index(m, 2), stride)));
    of->element = op_mul(m, const_index(m, is_int_constant(stride, &known) ? x : x % 2), stride);
}

/* Makes the vectors of B ready that belong to a line of the window. */
static void load_window(struct emitter *e, const struct context *cx, const struct sums *t, struct window *w, uint32_t y)
{
    const uint32_t expr = e->k->exprs[t->reduce].args[1], last = e->k->parallel_count + e->k->reduced_count - 1;
    const struct kexpr *b_load = &e->k->exprs[expr];
    const bool one_address = b_load->op == K_LOAD && !multiplies_bytes(e) && kaffine_coefficient(b_load->index, last) &&
                             !kaffine_derives(e->k, b_load->index, last);
    struct context of = *cx;
    V word = NULL;

    for (uint32_t x = 0; x < w->width; x++) {
        V *b = &w->b[y * w->width + x];
        open_window_step(e, w, y, x);
        if (one_address)
            reach_element(e, cx, &of, expr, x);
        *b = multiplies_bytes(e) ? byte_products_own_b(e, cx) : expr_value_lanes(e, &of, expr, cx->lanes);
        if (w->words)
            *b = word = push_byte(&e->m, x % BYTE_WORD ? word : NULL, *b);
    }
}

/* Returns whether step x of a line completes a word of B, or has no words. */
static bool ends_word(const struct window *w, uint32_t x)
{
    return !w->words || x % BYTE_WORD == BYTE_WORD - 1 || x + 1 == w->width;
}

/* Adds the bytes of B in a line of the window to the corrections of a line of the tile. */
static void add_corrections(struct emitter *e, const struct context *cx, struct sums *t, const struct window *w, uint32_t y,
                            uint32_t line)
{
    const struct build *m = &e->m;

    for (uint32_t x = 0; t->correction_count && x < w->width; x++) {
        V sum = t->corrections[line * cx->tile->vectors + cx->copy], b = w->b[y * w->width + x];
        if (ends_word(w, x))
            op_set(m, sum, byte_products_add_own(e, cx, op_get(m, sum), const_int_like(m, b, w->words ? BYTE_ONES : 1), b));
    }
}

/* Returns whether what a line of the tile has in a line of its window lies outside of the padding. */
static V line_is_inside(struct emitter *e, const struct context *cx, const struct kexpr *a, uint32_t form)
{
    V all = NULL;

    for (uint32_t g = 0; g < a->guard_count; g++) {
        if (kaffine_coefficient(a->guards[g].form, e->s->tile.m_var))
            continue;
        V bound = form_bound(e, form + 1 + g), at = form_evaluate(e, cx, form + 1 + g).base;
        V one = op_ult(&e->m, at, bound);
        all = all ? op_and(&e->m, all, one) : one;
    }
    return all;
}

/* Returns which step of a window an element is for a row or line, UINT32_MAX if it is not in it. */
static uint32_t step_in_window(const struct window_steps *by, uint32_t element, uint32_t of, uint32_t size)
{
    const uint32_t from = element - of * by->neighbours, inside = by->inside ? by->inside : 1;

    return element >= of * by->neighbours && from % inside == 0 && from / inside < size ? from / inside : UINT32_MAX;
}

/* Multiplies an element of A, `y` lines and `x` elements from the tile's first one, for all rows whose windows it is in: alone,
 * or with those before it, which *word has then, for the windows of which it ends a word. */
static void window_element(struct emitter *e, const struct context *cx, struct sums *t, const struct window *w, uint32_t y,
                           uint32_t x, V *word)
{
    const struct tile_window *by = &e->s->tile.window;
    const struct build *m = &e->m;
    V a = NULL;

    for (uint32_t row = 0; row < cx->tile->lines * cx->tile->rows; row++) {
        const uint32_t ky = step_in_window(&by->line, y, row / cx->tile->rows, w->height);
        const uint32_t kx = step_in_window(&by->row, x, row % cx->tile->rows, w->width);
        const uint32_t copy = row * cx->tile->vectors + cx->copy;

        if (ky == UINT32_MAX || kx == UINT32_MAX)
            continue;
        if (!a || !by->row.neighbours) {
            const struct context of = context_of_copy(cx, copy);
            open_window_step(e, w, ky, kx);
            a = multiplies_bytes(e) ? byte_products_own_a(e, &of)
                                    : expr_value_lanes(e, &of, e->k->exprs[t->reduce].args[0], cx->lanes);
            if (w->words)
                *word = a = push_byte(m, *word, a);
        }
        if (!ends_word(w, kx))
            continue;
        V slot = t->partial[0][copy], old = op_get(m, slot), b = w->b[ky * w->width + kx];
        op_set(m, slot, multiplies_bytes(e) ? byte_products_add_own(e, cx, old, a, b) : op_mad(m, a, b, old));
    }
    if (w->words && !a && *word)
        *word = push_byte(m, *word, NULL);
}

/* Does the steps of a line of A for a vector. */
static void window_line(struct emitter *e, const struct context *cx, struct sums *t, struct window *w, uint32_t y)
{
    const struct tile_window *by = &e->s->tile.window;
    const uint32_t load = operand_a(e, t), level = e->info.point_level + w->r;
    const struct kexpr *a = &e->k->exprs[load];
    const uint32_t elements = (cx->tile->rows - 1) * by->row.neighbours + (w->width - 1) * by->row.inside + 1;
    const uint32_t first = step_in_window(&by->line, y, 0, w->height);
    struct context of = *cx;
    uint32_t line = 0, step = first;
    V word = NULL;

    if (first != UINT32_MAX) {
        load_window(e, cx, t, w, first);
        if (!by->skips)
            add_corrections(e, cx, t, w, first, 0);
    }
    while (step == UINT32_MAX && ++line < cx->tile->lines)
        step = step_in_window(&by->line, y, line, w->height);
    if (step == UINT32_MAX || t->columns_only)
        return;
    const struct context at = context_of_copy(cx, cx->copy + line * cx->tile->rows * cx->tile->vectors);
    open_window_step(e, w, step, 0);
    if (by->skips) {
        frame_enter(&e->frame, level, line_is_inside(e, &at, a, e->info.expr_form[load]));
        of.line_holds = true;
        for (uint32_t l = line; l < cx->tile->lines; l++)
            if ((step = step_in_window(&by->line, y, l, w->height)) != UINT32_MAX)
                add_corrections(e, cx, t, w, step, l);
    }
    const bool one_address = by->row.neighbours && by->row.inside == 1 && a->op == K_LOAD &&
                             kaffine_coefficient(a->index, e->k->parallel_count + e->k->reduced_count - 1);
    for (uint32_t x = 0; x < elements; x++) {
        if (one_address)
            reach_element(e, &at, &of, load, x);
        of.steps_hold = by->skips && x >= by->low && x + by->high < elements;
        window_element(e, &of, t, w, y, x, &word);
    }
    if (by->skips)
        frame_leave(&e->frame, level);
}

void emit_window(struct emitter *e, const struct context *cx, struct sums *t, uint32_t r)
{
    const struct kvar *reduced = &e->k->vars[e->k->parallel_count];
    const struct window_steps *by = &e->s->tile.window.line, *row = &e->s->tile.window.row;
    const uint32_t last = e->k->reduced_count - 1;

    for (uint32_t vector = 0; vector < cx->tile->vectors; vector++) {
        const struct context of = context_of_copy(cx, vector);
        struct window w = {.r = r,
                           .height = r < last ? (uint32_t)reduced[last - 1].size : 1,
                           .width = r <= last ? (uint32_t)reduced[last].size : 1,
                           .words = e->s->tile.window.lines > 1 && row->inside == 1 && byte_products_own_words(e, cx)};
        for (uint32_t y = 0; y < (cx->tile->lines - 1) * by->neighbours + (w.height - 1) * (by->inside ? by->inside : 1) + 1;
             y++)
            window_line(e, &of, t, &w, y);
    }
}
