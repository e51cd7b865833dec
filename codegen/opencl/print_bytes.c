/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints tiles that multiply bytes: words of four neighbours along K, by DOT4 (dot_products.c).
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

#include <inttypes.h>

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
        put_line(p, "const %s x%" PRIu32 " = %" PRIu32 ";", opencl_index_type(p), end - 2, half);
    put_line(p, "const %s x%" PRIu32 " = 0;", opencl_index_type(p), end - 1);
}

/* Writes the address of the four bytes that a load begins with. */
static void put_word_address(struct printer *p, uint32_t load)
{
    const struct kexpr *e = &p->k->exprs[load];

    fputs("(__global const uint *)(", p->out);
    put_tensor(p, e->tensor);
    fputs(" + ", p->out);
    put_form(p, p->starts.exprs[load], e->index);
    fputc(')', p->out);
}

/* Writes the assignment of a word of A, as signed bytes. */
static void put_a_word(const struct tile_printer *w, const char *name)
{
    struct printer *p = w->p;

    need_form(p, p->k->exprs[w->t->bytes.a].index);
    fprintf(p->out, "%*s%s = as_int(*", (int)p->indent * 2, "", name);
    put_word_address(p, w->t->bytes.a);
    fputs(" ^ 0x80808080u);\n", p->out);
}

/* Writes the assignment of what is loaded of B: a word, or a vector of words. */
static void put_b_words(const struct tile_printer *w, const char *name)
{
    struct printer *p = w->p;

    if (!w->t->bytes.whole) {
        need_expr(p, w->t->bytes.words);
        put_line(p, "%s = v%" PRIu32 ";", name, w->t->bytes.words);
        return;
    }
    need_form(p, p->k->exprs[w->t->bytes.words].index);
    fprintf(p->out, "%*s%s = ", (int)p->indent * 2, "", name);
    if (p->lanes > 1)
        fprintf(p->out, "LOAD_VECTOR(__global, uint, %" PRIu32 ", ", p->lanes);
    else
        fputc('*', p->out);
    put_word_address(p, w->t->bytes.words);
    fputs(p->lanes > 1 ? ");\n" : ";\n", p->out);
}

/* Writes one half of a word of B, or of a vector of words, as signed bytes. */
static void put_half(const struct tile_printer *w, const char *words, uint32_t half)
{
    const struct byte_products *b = &w->t->bytes;
    const struct type_text type = opencl_lane_type(KT_I32, w->p->lanes);
    FILE *out = w->p->out;

    if (b->whole) {
        fprintf(out, "as_%s(%s)", type.text, words);
        return;
    }
    fprintf(out, "as_%s(", type.text);
    if (b->columns && b->zero != KEXPR_NONE) /* no byte borrows from the next one, and its highest bit is turned over */
        fprintf(out, "((%s >> %" PRIu32 " & 0x0f0f0f0fu | 0x80808080u) - 0x%08" PRIx32 "u) ^ 0x80808080u", words, 4 * half,
                (uint32_t)w->p->k->exprs[b->zero].bits.f32 * 0x01010101u);
    else
        fprintf(out, "%s >> %" PRIu32 " & 0x0f0f0f0fu", words, 4 * half);
    fputc(')', out);
}

/* Returns "" or ".s<lane>", which names a lane of a vector. */
static const char *lane_of(char text[12], uint32_t lanes, uint32_t lane)
{
    text[0] = '\0';
    if (lanes > 1)
        snprintf(text, 12, ".s%x", lane);
    return text;
}

/* ---- accumulators ---- */

static void put_byte_corrections(const struct tile_printer *w)
{
    for (uint32_t r = 0; r < w->t->rows && sums_rows(w); r++)
        put_line(w->p, "int r%" PRIu32 " = 0;", r);
    for (uint32_t v = 0; v < w->t->vectors && sums_columns(w); v++)
        put_line(w->p, "%s y%" PRIu32 " = 0;", opencl_lane_type(KT_I32, tile_lanes(w)).text, v);
}

void put_byte_accumulators(const struct tile_printer *w)
{
    put_tile_accumulators(w);
    put_byte_corrections(w);
}

/* Writes the product of a word of a row and the words of a vector of columns. */
static void put_dots(const struct tile_printer *w, uint32_t r, uint32_t v, const char *row, const char *columns)
{
    const uint32_t lanes = tile_lanes(w);
    char s[12];

    for (uint32_t i = 0; i < lanes; i++)
        put_line(w->p, "a%" PRIu32 "_%" PRIu32 "%s = DOT4(%s, %s%s, a%" PRIu32 "_%" PRIu32 "%s);", r, v, lane_of(s, lanes, i),
                 row, columns, s, r, v, s);
}

/* Writes the sum of a row's word, or of the words of a vector of columns. */
static void put_word_sum(const struct tile_printer *w, char sum, uint32_t number, const char *word, uint32_t lanes)
{
    char s[12];

    for (uint32_t i = 0; i < lanes; i++)
        put_line(w->p, "%c%" PRIu32 "%s = DOT4(%s%s, 0x01010101, %c%" PRIu32 "%s);", sum, number, lane_of(s, lanes, i), word, s,
                 sum, number, s);
}

/* Writes the sum of a block in row r and vector v as a float, of which nothing but its factors is left to apply. */
static void put_block_value(const struct tile_printer *w, uint32_t r, uint32_t v)
{
    const struct type_text type = opencl_lane_type(KT_F32, tile_lanes(w));
    const char *convert = type.text;

    fprintf(w->p->out, "%*sconst %s value = ", (int)w->p->indent * 2, "", type.text);
    if (sums_rows(w))
        fprintf(w->p->out, "fma((%s)(-zb%" PRIu32 "), (%s)((float)r%" PRIu32 "), convert_%s(a%" PRIu32 "_%" PRIu32 "));\n",
                type.text, v, type.text, r, convert, r, v);
    else if (sums_columns(w))
        fprintf(w->p->out, "convert_%s(a%" PRIu32 "_%" PRIu32 " + (128 - (int)za) * y%" PRIu32 ");\n", convert, r, v, v);
    else
        fprintf(w->p->out, "convert_%s(a%" PRIu32 "_%" PRIu32 ");\n", convert, r, v);
}

/* Adds the sums of a block, times its factors, to b, and begins the next block. */
static void put_block_sums(const struct tile_printer *w)
{
    const struct byte_products *b = &w->t->bytes;
    const struct type_text type = opencl_lane_type(KT_F32, tile_lanes(w));
    struct printer *p = w->p;

    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t v = 0; v < w->t->vectors; v++) {
            put_line(p, "{");
            p->indent++;
            put_block_value(w, r, v);
            fprintf(p->out, "%*sb%" PRIu32 "_%" PRIu32 " = ", (int)p->indent * 2, "", r, v);
            if (b->a_factor != KEXPR_NONE && b->b_factor != KEXPR_NONE)
                fprintf(p->out, "fma(value, (%s)(fa%" PRIu32 ") * fb%" PRIu32 ", b%" PRIu32 "_%" PRIu32 ");\n", type.text, r, v,
                        r, v);
            else if (b->a_factor != KEXPR_NONE)
                fprintf(p->out, "fma(value, (%s)(fa%" PRIu32 "), b%" PRIu32 "_%" PRIu32 ");\n", type.text, r, r, v);
            else if (b->b_factor != KEXPR_NONE)
                fprintf(p->out, "fma(value, (%s)(fb%" PRIu32 "), b%" PRIu32 "_%" PRIu32 ");\n", type.text, v, r, v);
            else
                fprintf(p->out, "b%" PRIu32 "_%" PRIu32 " + value;\n", r, v);
            put_line(p, "a%" PRIu32 "_%" PRIu32 " = 0;", r, v);
            p->indent--;
            put_line(p, "}");
        }
    for (uint32_t r = 0; r < w->t->rows && sums_rows(w); r++)
        put_line(p, "r%" PRIu32 " = 0;", r);
    for (uint32_t v = 0; v < w->t->vectors && sums_columns(w); v++)
        put_line(p, "y%" PRIu32 " = 0;", v);
}

/* ---- tiles from global memory ---- */

void put_byte_block(const struct tile_printer *w)
{
    const struct byte_products *b = &w->t->bytes;
    char name[24];

    for (uint32_t r = 0; r < w->t->rows && b->a_factor != KEXPR_NONE; r++) {
        snprintf(name, sizeof name, "fa%" PRIu32, r);
        put_tile_value(w, 0, b->a_factor, r, 0, name);
    }
    for (uint32_t v = 0; v < w->t->vectors; v++) {
        snprintf(name, sizeof name, "fb%" PRIu32, v);
        if (b->b_factor != KEXPR_NONE)
            put_tile_value(w, 1, b->b_factor, 0, v, name);
        snprintf(name, sizeof name, "zb%" PRIu32, v);
        if (sums_rows(w))
            put_tile_value(w, 1, b->zero, 0, v, name);
    }
    if (b->a_zero != KEXPR_NONE)
        put_tile_value(w, 0, b->a_zero, 0, 0, "za");
    else if (sums_columns(w))
        put_line(w->p, "const int za = %" PRId32 ";", b->a_number);
    put_block_sums(w);
}

void put_byte_step(const struct tile_printer *w)
{
    const uint32_t halves = halves_of(w), lanes = tile_lanes(w);
    struct printer *p = w->p;
    char name[32], words[32];
    struct scope scope;

    for (uint32_t r = 0; r < w->t->rows; r++)
        for (uint32_t h = 0; h < halves; h++) {
            snprintf(name, sizeof name, "q%" PRIu32 "_%" PRIu32, h, r);
            put_line(p, "int %s;", name);
            put_line(p, "{");
            scope_enter(p, &scope);
            p->lanes = 1;
            put_tile_variables(w, 0, r, 0);
            put_word_variables(p, halves, h);
            put_a_word(w, name);
            scope_leave(p, &scope);
            put_line(p, "}");
            if (sums_rows(w))
                put_word_sum(w, 'r', r, name, 1);
        }
    for (uint32_t v = 0; v < w->t->vectors; v++) {
        snprintf(words, sizeof words, "w%" PRIu32, v);
        put_line(p, "%s %s;", opencl_lane_type(KT_U32, lanes).text, words);
        put_line(p, "{");
        scope_enter(p, &scope);
        put_tile_variables(w, 1, 0, v);
        put_word_variables(p, halves, 0);
        put_b_words(w, words);
        scope_leave(p, &scope);
        put_line(p, "}");
        for (uint32_t h = 0; h < halves; h++) {
            snprintf(name, sizeof name, "n%" PRIu32 "_%" PRIu32, h, v);
            fprintf(p->out, "%*sconst %s %s = ", (int)p->indent * 2, "", opencl_lane_type(KT_I32, lanes).text, name);
            put_half(w, words, h);
            fputs(";\n", p->out);
            if (sums_columns(w))
                put_word_sum(w, 'y', v, name, lanes);
            for (uint32_t r = 0; r < w->t->rows; r++) {
                snprintf(words, sizeof words, "q%" PRIu32 "_%" PRIu32, h, r);
                put_dots(w, r, v, words, name);
            }
            snprintf(words, sizeof words, "w%" PRIu32, v);
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
    const char *type = opencl_index_type(w->p);
    struct printer *p = w->p;

    put_line(p, "const %s at = %c0 + j, block = block0 + k / %" PRIu32 ", word = (%sk %% %" PRIu32 ") / %" PRIu32 ";", type,
             rows ? 'm' : 'n', c->at_once, c->at_once < c->words ? "piece + " : "", c->at_once, halves_of(w));
    put_line(p, "if (at < %s & block < blocks & word < %" PRIu32 ") {", rows ? "rows" : "columns", c->words / halves_of(w));
    scope_enter(p, scope);
    put_decode(p, rows ? &w->t->m : &w->t->n, "at", "");
    put_decode(p, &c->outer, "block", "");
    put_decode(p, &c->inner, "word", "");
    if (rows && halves_of(w) > 1)
        put_line(p, "const %s x%" PRIu32 " = k %% 2;", type, p->k->parallel_count + p->k->reduced_count - 2);
    else if (halves_of(w) > 1)
        put_line(p, "const %s x%" PRIu32 " = 0;", type, p->k->parallel_count + p->k->reduced_count - 2);
    put_line(p, "const %s x%" PRIu32 " = 0;", type, p->k->parallel_count + p->k->reduced_count - 1);
}

/* Makes all items bring the words of A that a tile needs, with zeros beyond the edges. */
static void put_bring_a(const struct tile_printer *w, const struct chunks *c)
{
    const uint32_t words = c->at_once * c->blocks;
    struct printer *p = w->p;
    struct scope scope;

    put_line(p, "for (int i = (int)item; i < %" PRIu32 "; i += %" PRIu32 ") {", words * c->height,
             w->t->items_m * w->t->items_n);
    p->indent++;
    put_line(p, "const int j = i / %" PRIu32 ", k = i %% %" PRIu32 ";", words, words);
    put_line(p, "int q = 0;");
    open_place(w, c, true, &scope);
    put_a_word(w, "q");
    scope_leave(p, &scope);
    put_line(p, "}");
    put_line(p, "tile0[k * %" PRIu32 " + j] = q;", c->height);
    p->indent--;
    put_line(p, "}");
}

/* Does so with the words of B. */
static void put_bring_b(const struct tile_printer *w, const struct chunks *c)
{
    const uint32_t halves = halves_of(w), places = c->at_once * c->blocks / halves;
    struct printer *p = w->p;
    struct scope scope;

    put_line(p, "for (int i = (int)item; i < %" PRIu32 "; i += %" PRIu32 ") {", places * c->width,
             w->t->items_m * w->t->items_n);
    p->indent++;
    put_line(p, "const int j = i %% %" PRIu32 ", k = i / %" PRIu32 " * %" PRIu32 ";", c->width, c->width, halves);
    for (uint32_t h = 0; h < halves; h++)
        put_line(p, "int half%" PRIu32 " = 0;", h);
    open_place(w, c, false, &scope);
    put_line(p, "uint w0;");
    put_b_words(w, "w0");
    for (uint32_t h = 0; h < halves; h++) {
        fprintf(p->out, "%*shalf%" PRIu32 " = ", (int)p->indent * 2, "", h);
        put_half(w, "w0", h);
        fputs(";\n", p->out);
    }
    scope_leave(p, &scope);
    put_line(p, "}");
    for (uint32_t h = 0; h < halves; h++)
        put_line(p, "tile1[(k + %" PRIu32 ") * %" PRIu32 " + j] = half%" PRIu32 ";", h, c->width, h);
    p->indent--;
    put_line(p, "}");
}

/* Makes all items bring what is known of a row's, or a column's, blocks to an array. */
static void put_bring_factor(const struct tile_printer *w, const struct chunks *c, bool rows, uint32_t expr, const char *array)
{
    const uint32_t side = rows ? c->height : c->width;
    const char *type = opencl_index_type(w->p);
    struct printer *p = w->p;
    struct scope scope;

    if (expr == KEXPR_NONE)
        return;
    put_line(p, "for (int i = (int)item; i < %" PRIu32 "; i += %" PRIu32 ") {", side * c->blocks,
             w->t->items_m * w->t->items_n);
    p->indent++;
    put_line(p, "const %s at = %c0 + i %% %" PRIu32 ", block = block0 + i / %" PRIu32 ";", type, rows ? 'm' : 'n', side, side);
    put_line(p, "if (at < %s & block < blocks) {", rows ? "rows" : "columns");
    scope_enter(p, &scope);
    put_decode(p, rows ? &w->t->m : &w->t->n, "at", "");
    put_decode(p, &c->outer, "block", "");
    need_expr(p, expr);
    put_line(p, "%s[i] = v%" PRIu32 ";", array, expr);
    scope_leave(p, &scope);
    put_line(p, "} else {");
    put_line(p, "  %s[i] = 0;", array);
    put_line(p, "}");
    p->indent--;
    put_line(p, "}");
}

static void put_bring(const struct tile_printer *w, const struct chunks *c)
{
    put_bring_a(w, c);
    put_bring_b(w, c);
    put_bring_factor(w, c, true, w->t->bytes.a_factor, "factors0");
    put_bring_factor(w, c, false, w->t->bytes.b_factor, "factors1");
    put_bring_factor(w, c, false, sums_rows(w) ? w->t->bytes.zero : KEXPR_NONE, "zeros1");
    put_line(w->p, "barrier(CLK_LOCAL_MEM_FENCE);");
}

/* Writes the products of the words of one block that are in local memory. */
static void put_local_dots(const struct tile_printer *w, const struct chunks *c)
{
    const struct gpu_tile *t = w->t;
    struct printer *p = w->p;
    char row[24], column[24];

    put_line(p, "for (int k = part * %" PRIu32 "; k < (part + 1) * %" PRIu32 "; k++) {", c->at_once, c->at_once);
    p->indent++;
    for (uint32_t r = 0; r < t->rows; r++) {
        snprintf(row, sizeof row, "q0_%" PRIu32, r);
        put_line(p, "const int %s = tile0[k * %" PRIu32 " + item_m * %" PRIu32 " + %" PRIu32 "];", row, c->height, t->rows, r);
        if (sums_rows(w))
            put_word_sum(w, 'r', r, row, 1);
    }
    for (uint32_t v = 0; v < t->vectors; v++) {
        snprintf(column, sizeof column, "n0_%" PRIu32, v);
        put_line(p, "const int %s = tile1[k * %" PRIu32 " + item_n + %" PRIu32 "];", column, c->width, v * t->items_n);
        if (sums_columns(w))
            put_word_sum(w, 'y', v, column, 1);
        for (uint32_t r = 0; r < t->rows; r++) {
            snprintf(row, sizeof row, "q0_%" PRIu32, r);
            put_dots(w, r, v, row, column);
        }
    }
    p->indent--;
    put_line(p, "}");
}

/* Writes what is done where a block ends. */
static void put_local_block(const struct tile_printer *w, const struct chunks *c)
{
    const struct byte_products *b = &w->t->bytes;
    const struct gpu_tile *t = w->t;
    struct printer *p = w->p;
    struct scope scope;

    put_line(p, c->at_once < c->words ? "if (piece + %" PRIu32 " >= %" PRIu32 ") {" : "{", c->at_once, c->words);
    scope_enter(p, &scope);
    for (uint32_t r = 0; r < t->rows && b->a_factor != KEXPR_NONE; r++)
        put_line(p, "const float fa%" PRIu32 " = factors0[part * %" PRIu32 " + item_m * %" PRIu32 " + %" PRIu32 "];", r,
                 c->height, t->rows, r);
    for (uint32_t v = 0; v < t->vectors; v++) {
        const uint32_t column = v * t->items_n;
        if (b->b_factor != KEXPR_NONE)
            put_line(p, "const float fb%" PRIu32 " = factors1[part * %" PRIu32 " + item_n + %" PRIu32 "];", v, c->width,
                     column);
        if (sums_rows(w))
            put_line(p, "const float zb%" PRIu32 " = zeros1[part * %" PRIu32 " + item_n + %" PRIu32 "];", v, c->width, column);
    }
    if (b->a_zero != KEXPR_NONE) {
        need_expr(p, b->a_zero);
        put_line(p, "const int za = v%" PRIu32 ";", b->a_zero);
    } else if (sums_columns(w)) {
        put_line(p, "const int za = %" PRId32 ";", b->a_number);
    }
    put_block_sums(w);
    scope_leave(p, &scope);
    put_line(p, "}");
}

static void put_arrays(const struct tile_printer *w, const struct chunks *c)
{
    const uint32_t words = c->at_once * c->blocks;
    struct printer *p = w->p;

    put_line(p, "__local int tile0[%" PRIu32 "], tile1[%" PRIu32 "];", words * c->height, words * c->width);
    if (w->t->bytes.a_factor != KEXPR_NONE)
        put_line(p, "__local float factors0[%" PRIu32 "];", c->blocks * c->height);
    if (w->t->bytes.b_factor != KEXPR_NONE)
        put_line(p, "__local float factors1[%" PRIu32 "];", c->blocks * c->width);
    if (sums_rows(w))
        put_line(p, "__local float zeros1[%" PRIu32 "];", c->blocks * c->width);
}

/* Writes the loops over K. */
static void put_chunks(const struct tile_printer *w, const struct chunks *c)
{
    const bool pieces = c->at_once < c->words;
    const char *type = opencl_index_type(w->p);
    struct printer *p = w->p;

    put_line(p, "for (%s block0 = 0; block0 < blocks; block0 += %" PRIu32 ") {", type, c->blocks);
    p->indent++;
    if (pieces) {
        put_line(p, "for (int piece = 0; piece < %" PRIu32 "; piece += %" PRIu32 ") {", c->words, c->at_once);
        p->indent++;
    }
    put_bring(w, c);
    put_line(p, "for (int part = 0; part < %" PRIu32 "; part++) {", c->blocks);
    p->indent++;
    put_local_dots(w, c);
    put_local_block(w, c);
    p->indent--;
    put_line(p, "}");
    put_line(p, "barrier(CLK_LOCAL_MEM_FENCE);");
    if (pieces) {
        p->indent--;
        put_line(p, "}");
    }
    if (p->s->sum_split != KEXPR_NONE) {
        put_line(p, "if ((block0 / %" PRIu32 " + 1) %% %" PRIu32 " == 0 || block0 + %" PRIu32 " >= blocks) {", c->blocks,
                 p->s->sum_steps / c->blocks, c->blocks);
        p->indent++;
        put_tile_flush(w);
        p->indent--;
        put_line(p, "}");
    }
    p->indent--;
    put_line(p, "}");
}

void put_local_byte_tile(const struct tile_printer *w)
{
    const struct chunks c = chunks_of(w);
    const struct gpu_tile *t = w->t;
    const char *type = opencl_index_type(w->p);
    struct printer *p = w->p;

    put_tile_sizes(p);
    fprintf(p->out, "%*sconst %s blocks = ", (int)p->indent * 2, "", type);
    put_product(p, &c.outer);
    fputs(";\n", p->out);
    put_arrays(w, &c);
    put_line(p, "const %s item_n = (%s)get_local_id(0), item_m = (%s)get_local_id(1);", type, type, type);
    put_line(p, "const %s item = item_m * %" PRIu32 " + item_n;", type, t->items_n);
    put_line(p, "const %s m0 = (%s)get_group_id(1) * %" PRIu32 ", n0 = (%s)get_group_id(0) * %" PRIu32 ";", type, type,
             c.height, type, c.width);
    put_line(p, "const %s other = (%s)get_global_id(2);", type, type);
    put_decode(p, &p->s->dimensions[2], "other", "");
    put_byte_accumulators(w);
    put_chunks(w, &c);
    put_line(p, "float sums[%" PRIu32 "];", t->rows * t->vectors);
    put_tile_sums(w);
    put_local_tile_points(w);
}
