/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints tiles that multiply bytes: words of four neighbours along K, by DOT4 (prelude.c).
 *
 * With s = a - 128, which are signed bytes as DOT4 takes them, and B's numbers w less their zero point z
 *
 *   sum of (a - az) * (w - z)  =  sum of s * w  -  z * sum of s  +  (128 - az) * sum of w
 *
 * of which a kernel has at most one of the last two: where A's zero point az is not 128, B has none.  Where z
 * is a small constant, tiles from local memory take it off the words that come there, so that no sum of s is needed.
 *
 * The code has these names besides those of print_tile.c: a<row>_<v> are integers; q<half>_<row> are words of A, w<v> what is
 * loaded of B, n<half>_<v> its words; r<row> is the sum of s, y<v> that of w; fa<row> and fb<v> are factors, zb<v> is z.
 */
#include "codegen/opencl/print_tile.h"

enum { HALVES = 2 /* words of bytes that a word of 4-bit numbers holds */ };

static uint32_t halves_of(const struct tile_printer *w)
{
    return w->t->bytes.whole ? 1 : HALVES;
}

static bool sums_rows(const struct tile_printer *w)
{
    return w->t->bytes.zero != KEXPR_NONE && !w->t->bytes.columns;
}

static bool sums_columns(const struct tile_printer *w)
{
    return !byte_products_a_is_signed(&w->t->bytes);
}

/* ---- words ---- */

/* Declares the variables of the loops over the numbers of a word, at its beginning, or at that of its second half. */
static void put_word_variables(struct printer *p, uint32_t word_vars, uint32_t half)
{
    const uint32_t end = p->k->parallel_count + p->k->reduced_count;

    if (word_vars > 1)
        put_line(p, "const $i x%u = %u;", end - 2, half);
    put_line(p, "const $i x%u = 0;", end - 1);
}

/* Returns the address of the four bytes that a load begins with. */
static const char *word_address(struct printer *p, uint32_t load)
{
    return text_of(p, "(__global const uint *)(%s + %s)", tensor_text(p, p->k->exprs[load].tensor), index_text(p, load));
}

/* Writes the assignment of a word of A, as signed bytes. */
static void put_a_word(const struct tile_printer *w, const char *name)
{
    const char *address = word_address(w->p, w->t->bytes.a);

    put_line(w->p, "%s = as_int(*%s ^ 0x80808080u);", name, address);
}

/* Writes the assignment of what is loaded of B: a word, or a vector of words. */
static void put_b_words(const struct tile_printer *w, const char *name)
{
    struct printer *p = w->p;

    if (!w->t->bytes.whole) {
        need_expr(p, w->t->bytes.words);
        put_line(p, "%s = v%u;", name, w->t->bytes.words);
        return;
    }
    const char *address = word_address(p, w->t->bytes.words);
    if (p->lanes > 1)
        put_line(p, "%s = LOAD_VECTOR(__global, uint, %u, %s);", name, p->lanes, address);
    else
        put_line(p, "%s = *%s;", name, address);
}

static const char *half_text(const struct tile_printer *w, const char *words, uint32_t half)
{
    const struct byte_products *b = &w->t->bytes;
    const char *type = opencl_lane_type(w->p, KT_I32, w->p->lanes);

    if (b->whole)
        return text_of(w->p, "as_%s(%s)", type, words);
    if (b->columns && b->zero != KEXPR_NONE) /* no byte borrows from the next one, and its highest bit is flipped */
        return text_of(w->p, "as_%s(((%s >> %u & 0x0f0f0f0fu | 0x80808080u) - 0x%08xu) ^ 0x80808080u)", type, words, 4 * half,
                       (uint32_t)w->p->k->exprs[b->zero].bits.f32 * 0x01010101u);
    return text_of(w->p, "as_%s(%s >> %u & 0x0f0f0f0fu)", type, words, 4 * half);
}

/* Returns "" or ".s<lane>", which names a lane of a vector. */
static const char *lane_of(const struct tile_printer *w, uint32_t lanes, uint32_t lane)
{
    return lanes > 1 ? text_of(w->p, ".s%x", lane) : "";
}

/* ---- accumulators ---- */

void put_byte_accumulators(const struct tile_printer *w)
{
    put_tile_accumulators(w);
    for (uint32_t r = 0; r < w->t->rows && sums_rows(w); r++)
        put_line(w->p, "int r%u = 0;", r);
    for (uint32_t v = 0; v < w->t->vectors && sums_columns(w); v++)
        put_line(w->p, "%s y%u = 0;", opencl_lane_type(w->p, KT_I32, tile_lanes(w)), v);
}

/* Adds up a row's word, or the words of a vector of columns. */
static void put_word_sum(const struct tile_printer *w, const char *sum, const char *words, uint32_t lanes)
{
    for (uint32_t i = 0; i < lanes; i++)
        put_line(w->p, "%1$s%3$s = DOT4(%2$s%3$s, 0x01010101, %1$s%3$s);", sum, words, lane_of(w, lanes, i));
}

/* Adds to the accumulators of a vector of columns what its words n<half>_<v> contribute. */
static void put_word_products(const struct tile_printer *w, uint32_t half, uint32_t v, uint32_t lanes)
{
    const char *words = text_of(w->p, "n%u_%u", half, v);

    if (sums_columns(w))
        put_word_sum(w, text_of(w->p, "y%u", v), words, lanes);
    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t i = 0; i < lanes; i++)
            put_line(w->p, "a%1$u_%2$u%5$s = DOT4(q%3$u_%1$u, %4$s%5$s, a%1$u_%2$u%5$s);", r, v, half, words,
                     lane_of(w, lanes, i));
}

static const char *block_value(const struct tile_printer *w, uint32_t r, uint32_t v)
{
    const char *type = opencl_lane_type(w->p, KT_F32, tile_lanes(w));

    if (sums_rows(w))
        return text_of(w->p, "fma((%1$s)(-zb%3$u), (%1$s)((float)r%2$u), convert_%1$s(a%2$u_%3$u))", type, r, v);
    if (sums_columns(w))
        return text_of(w->p, "convert_%1$s(a%2$u_%3$u + (128 - (int)za) * y%3$u)", type, r, v);
    return text_of(w->p, "convert_%s(a%u_%u)", type, r, v);
}

/* Adds the sums of a block, times its factors, to b, and begins the next block. */
static void put_block_sums(const struct tile_printer *w)
{
    const struct byte_products *b = &w->t->bytes;
    const char *type = opencl_lane_type(w->p, KT_F32, tile_lanes(w));
    const bool a = b->a_factor != KEXPR_NONE;
    struct printer *p = w->p;

    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++) {
            const char *factor = b->b_factor == KEXPR_NONE ? "" : text_of(p, a ? " * fb%u" : "(fb%u)", v);
            if (a || b->b_factor != KEXPR_NONE)
                factor = text_of(p, "fma(value, (%s)%s%s, b%u_%u)", type, a ? text_of(p, "(fa%u)", r) : "", factor, r, v);
            else
                factor = text_of(p, "b%u_%u + value", r, v);
            put_line(p, "{ const %4$s value = %5$s; b%1$u_%2$u = %3$s; a%1$u_%2$u = 0; }", r, v, factor, type,
                     block_value(w, r, v));
        }
    for (uint32_t r = 0; r < w->t->rows && sums_rows(w); r++)
        put_line(p, "r%u = 0;", r);
    for (uint32_t v = 0; v < w->t->vectors && sums_columns(w); v++)
        put_line(p, "y%u = 0;", v);
}

/* ---- tiles from global memory ---- */

void put_byte_block(const struct tile_printer *w)
{
    const struct byte_products *b = &w->t->bytes;

    for (uint32_t r = 0; r < w->t->rows && b->a_factor != KEXPR_NONE; r++)
        put_tile_value(w, 0, b->a_factor, r, 0, text_of(w->p, "fa%u", r));
    for (uint32_t v = 0; v < w->t->vectors; v++) {
        if (b->b_factor != KEXPR_NONE)
            put_tile_value(w, 1, b->b_factor, 0, v, text_of(w->p, "fb%u", v));
        if (sums_rows(w))
            put_tile_value(w, 1, b->zero, 0, v, text_of(w->p, "zb%u", v));
    }
    if (b->a_zero != KEXPR_NONE)
        put_tile_value(w, 0, b->a_zero, 0, 0, "za");
    else if (sums_columns(w))
        put_line(w->p, "const int za = %d;", b->a_number);
    put_block_sums(w);
}

void put_byte_step(const struct tile_printer *w)
{
    const uint32_t halves = halves_of(w), lanes = tile_lanes(w);
    struct printer *p = w->p;
    struct scope scope;

    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t h = 0; h < halves; h++) {
            const char *name = text_of(p, "q%u_%u", h, r);
            put_line(p, "int %s;", name);
            open_scope(p, &scope, "{");
            p->lanes = 1;
            set_tile_variables(w, 0, r, 0);
            put_word_variables(p, halves, h);
            put_a_word(w, name);
            close_scope(p, &scope);
            if (sums_rows(w))
                put_word_sum(w, text_of(p, "r%u", r), name, 1);
        }
    for (uint32_t v = 0; v < w->t->vectors; v++) {
        const char *words = text_of(p, "w%u", v);
        put_line(p, "%s %s;", opencl_lane_type(p, KT_U32, lanes), words);
        open_scope(p, &scope, "{");
        set_tile_variables(w, 1, 0, v);
        put_word_variables(p, halves, 0);
        put_b_words(w, words);
        close_scope(p, &scope);
        for (uint32_t h = 0; h < halves; h++) {
            put_line(p, "const %s n%u_%u = %s;", opencl_lane_type(p, KT_I32, lanes), h, v, half_text(w, words, h));
            put_word_products(w, h, v, lanes);
        }
    }
}

/* ---- tiles from local memory ---- */

/** Says how a tile goes through K: `blocks` blocks at once, or one in pieces. */
struct chunks {
    uint32_t words, blocks, at_once; /* of a block; blocks at once; words of a block at once */
    struct gpu_vars outer, inner;    /* loops over blocks, and those inside of a block over what is loaded of B */
    uint32_t height, width;          /* rows and columns of the group */
};

static struct chunks chunks_of(const struct tile_printer *w)
{
    const struct kernel *k = w->p->k;
    const struct gpu_tile *t = w->t;
    struct chunks c = {.words = halves_of(w), .height = t->items_m * t->rows, .width = t->items_n * t->vectors};

    for (uint32_t r = 0; r < k->reduced_count - halves_of(w); r++) {
        struct gpu_vars *vars = r < t->factor_depth ? &c.outer : &c.inner;
        vars->vars[vars->count++] = k->parallel_count + r;
        c.words *= r < t->factor_depth ? 1 : (uint32_t)k->vars[k->parallel_count + r].size;
    }
    c.at_once = c.words < t->k_tile ? c.words : t->k_tile;
    c.blocks = t->k_tile / c.at_once;
    return c;
}

/* Begins the code for the word k of row or column j of a tile in local memory, which runs where the matrices have it. */
static void open_place(const struct tile_printer *w, const struct chunks *c, bool rows, struct scope *scope)
{
    struct printer *p = w->p;

    put_line(p, "const $i at = %c0 + j, block = block0 + k / %u, word = (%sk %% %u) / %u;", rows ? 'm' : 'n', c->at_once,
             c->at_once < c->words ? "piece + " : "", c->at_once, halves_of(w));
    open_scope(p, scope, "if (at < %s & block < blocks & word < %u) {", rows ? "rows" : "columns", c->words / halves_of(w));
    put_decode(p, rows ? &w->t->m : &w->t->n, "at", "");
    put_decode(p, &c->outer, "block", "");
    put_decode(p, &c->inner, "word", "");
    if (rows && halves_of(w) > 1)
        put_line(p, "const $i x%u = k %% 2;", p->k->parallel_count + p->k->reduced_count - 2);
    else if (halves_of(w) > 1)
        put_line(p, "const $i x%u = 0;", p->k->parallel_count + p->k->reduced_count - 2);
    put_line(p, "const $i x%u = 0;", p->k->parallel_count + p->k->reduced_count - 1);
}

/* Makes all items bring the words of A that a tile needs, with zeros beyond the edges. */
static void put_bring_a(const struct tile_printer *w, const struct chunks *c)
{
    const uint32_t words = c->at_once * c->blocks;
    struct printer *p = w->p;
    struct scope scope;

    put_line(p, "for (int i = (int)item; i < %u; i += %u) {", words * c->height, w->t->items_m * w->t->items_n);
    put_line(p, "const int j = i / %u, k = i %% %u;", words, words);
    put_line(p, "int q = 0;");
    open_place(w, c, true, &scope);
    put_a_word(w, "q");
    close_scope(p, &scope);
    put_line(p, "tile0[k * %u + j] = q;", c->height);
    put_line(p, "}");
}

/* Does so with the words of B. */
static void put_bring_b(const struct tile_printer *w, const struct chunks *c)
{
    const uint32_t halves = halves_of(w), places = c->at_once * c->blocks / halves;
    struct printer *p = w->p;
    struct scope scope;

    put_line(p, "for (int i = (int)item; i < %u; i += %u) {", places * c->width, w->t->items_m * w->t->items_n);
    put_line(p, "const int j = i %% %u, k = i / %u * %u;", c->width, c->width, halves);
    for (uint32_t h = 0; h < halves; h++)
        put_line(p, "int half%u = 0;", h);
    open_place(w, c, false, &scope);
    put_line(p, "uint w0;");
    put_b_words(w, "w0");
    for (uint32_t h = 0; h < halves; h++)
        put_line(p, "half%u = %s;", h, half_text(w, "w0", h));
    close_scope(p, &scope);
    for (uint32_t h = 0; h < halves; h++)
        put_line(p, "tile1[(k + %u) * %u + j] = half%u;", h, c->width, h);
    put_line(p, "}");
}

/* Makes all items bring what is known of a row's, or a column's, blocks to an array. */
static void put_bring_factor(const struct tile_printer *w, const struct chunks *c, bool rows, uint32_t expr, const char *array)
{
    const uint32_t side = rows ? c->height : c->width;
    struct printer *p = w->p;
    struct scope scope;

    if (expr == KEXPR_NONE)
        return;
    put_line(p, "for (int i = (int)item; i < %u; i += %u) {", side * c->blocks, w->t->items_m * w->t->items_n);
    put_line(p, "const $i at = %c0 + i %% %u, block = block0 + i / %u;", rows ? 'm' : 'n', side, side);
    open_scope(p, &scope, "if (at < %s & block < blocks) {", rows ? "rows" : "columns");
    put_decode(p, rows ? &w->t->m : &w->t->n, "at", "");
    put_decode(p, &c->outer, "block", "");
    need_expr(p, expr);
    put_line(p, "%s[i] = v%u;", array, expr);
    scope_leave(p, &scope);
    put_line(p, "} else {");
    put_line(p, "  %s[i] = 0;", array);
    put_line(p, "}");
    put_line(p, "}");
}

static void put_bring(const struct tile_printer *w, const struct chunks *c)
{
    put_bring_a(w, c);
    put_bring_b(w, c);
    put_bring_factor(w, c, true, w->t->bytes.a_factor, "factors0");
    put_bring_factor(w, c, false, w->t->bytes.b_factor, "factors1");
    put_bring_factor(w, c, false, sums_rows(w) ? w->t->bytes.zero : KEXPR_NONE, "zeros1");
    put_barrier(w->p);
}

/* Writes the products of the words of one block that are in local memory. */
static void put_local_dots(const struct tile_printer *w, const struct chunks *c)
{
    const struct gpu_tile *t = w->t;
    struct printer *p = w->p;

    put_line(p, "for (int k = part * %u; k < (part + 1) * %u; k++) {", c->at_once, c->at_once);
    for (uint32_t r = 0; r < t->rows; r++) {
        put_line(p, "const int q0_%u = tile0[k * %u + item_m * %u + %u];", r, c->height, t->rows, r);
        if (sums_rows(w))
            put_word_sum(w, text_of(p, "r%u", r), text_of(p, "q0_%u", r), 1);
    }
    for (uint32_t v = 0; v < t->vectors; v++) {
        put_line(p, "const int n0_%u = tile1[k * %u + item_n + %u];", v, c->width, v * t->items_n);
        put_word_products(w, 0, v, 1);
    }
    put_line(p, "}");
}

/* Writes what is done where a block ends. */
static void put_local_block(const struct tile_printer *w, const struct chunks *c)
{
    const struct byte_products *b = &w->t->bytes;
    const struct gpu_tile *t = w->t;
    struct printer *p = w->p;
    struct scope scope;

    open_scope(p, &scope, c->at_once < c->words ? "if (piece + %u >= %u) {" : "{", c->at_once, c->words);
    for (uint32_t r = 0; r < t->rows && b->a_factor != KEXPR_NONE; r++)
        put_line(p, "const float fa%u = factors0[part * %u + item_m * %u + %u];", r, c->height, t->rows, r);
    for (uint32_t v = 0; v < t->vectors; v++) {
        const uint32_t column = v * t->items_n;
        if (b->b_factor != KEXPR_NONE)
            put_line(p, "const float fb%u = factors1[part * %u + item_n + %u];", v, c->width, column);
        if (sums_rows(w))
            put_line(p, "const float zb%u = zeros1[part * %u + item_n + %u];", v, c->width, column);
    }
    if (b->a_zero != KEXPR_NONE) {
        need_expr(p, b->a_zero);
        put_line(p, "const int za = v%u;", b->a_zero);
    } else if (sums_columns(w)) {
        put_line(p, "const int za = %d;", b->a_number);
    }
    put_block_sums(w);
    close_scope(p, &scope);
}

static void put_arrays(const struct tile_printer *w, const struct chunks *c)
{
    const uint32_t words = c->at_once * c->blocks;
    struct printer *p = w->p;

    put_line(p, "__local int tile0[%u], tile1[%u];", words * c->height, words * c->width);
    if (w->t->bytes.a_factor != KEXPR_NONE)
        put_line(p, "__local float factors0[%u];", c->blocks * c->height);
    if (w->t->bytes.b_factor != KEXPR_NONE)
        put_line(p, "__local float factors1[%u];", c->blocks * c->width);
    if (sums_rows(w))
        put_line(p, "__local float zeros1[%u];", c->blocks * c->width);
}

/* Writes the loops over K. */
static void put_chunks(const struct tile_printer *w, const struct chunks *c)
{
    const bool pieces = c->at_once < c->words;
    struct printer *p = w->p;

    put_line(p, "for ($i block0 = 0; block0 < blocks; block0 += %u) {", c->blocks);
    if (pieces)
        put_line(p, "for (int piece = 0; piece < %u; piece += %u) {", c->words, c->at_once);
    put_bring(w, c);
    put_line(p, "for (int part = 0; part < %u; part++) {", c->blocks);
    put_local_dots(w, c);
    put_local_block(w, c);
    put_line(p, "}");
    put_barrier(p);
    if (pieces)
        put_line(p, "}");
    if (p->s->sum_split != KEXPR_NONE) {
        put_line(p, "if ((block0 / %u + 1) %% %u == 0 || block0 + %u >= blocks) {", c->blocks, p->s->sum_steps / c->blocks,
                 c->blocks);
        put_tile_flush(w);
        put_line(p, "}");
    }
    put_line(p, "}");
}

void put_local_byte_tile(const struct tile_printer *w)
{
    const struct chunks c = chunks_of(w);
    const struct gpu_tile *t = w->t;
    struct printer *p = w->p;

    put_tile_sizes(p);
    put_line(p, "const $i blocks = %s;", product_text(p, &c.outer));
    put_arrays(w, &c);
    put_line(p, "const $i item_n = ($i)get_local_id(0), item_m = ($i)get_local_id(1);");
    put_line(p, "const $i item = item_m * %u + item_n;", t->items_n);
    put_line(p, "const $i m0 = ($i)get_group_id(1) * %u, n0 = ($i)get_group_id(0) * %u;", c.height, c.width);
    put_line(p, "const $i other = ($i)get_global_id(2);");
    put_decode(p, &p->s->dimensions[2], "other", "");
    put_byte_accumulators(w);
    put_chunks(w, &c);
    put_line(p, "float sums[%u];", t->rows * t->vectors);
    put_tile_sums(w);
    put_local_tile_points(w);
}
