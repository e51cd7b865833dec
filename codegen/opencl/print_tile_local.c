/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints the tiles of contractions whose operands come to local memory first.
 *
 * The items of a group load the numbers of the next iterations into registers while they multiply those that are in local
 * memory: the loads are under way for as long as that takes.  Then they write them there, between two barriers.
 *
 * Each item brings numbers of one row or column only, wherever the sizes allow it, so that what belongs to it (divisions, for
 * an image) is computed once.  Where iterations that are brought at once never cross the end of the innermost REDUCED variable,
 * the outer ones are the same for all items.
 *
 * An item's rows are neighbours in local memory, and so are its columns, which are items_n apart in the matrix: it loads either
 * in vectors, and yet neighbouring items store neighbouring columns.
 */
#include "codegen/opencl/print_tile.h"

#include <inttypes.h>

enum { VECTOR = GPU_LOCAL_VECTOR /* numbers that an item loads from local memory at once */ };

/* Says how the items bring one operand. */
struct bringing {
    uint32_t operand;
    bool is_m;
    const struct gpu_vars *vars;
    uint32_t width;   /* rows or columns of the tile */
    uint32_t stride;  /* between iterations in local memory */
    uint32_t numbers; /* that one place has: 1, or those of a word */
    uint32_t places;  /* of a row, in a tile */
    uint32_t items;   /* of the group */
    uint32_t count;   /* places of an item */
    uint32_t sharing; /* items that share a row; 0: places are dealt out one by one, and the last items may have one less */
    struct gpu_vars reduced; /* the REDUCED variables, without that of a word's numbers */
    bool whole;              /* iterations that are brought at once never cross the end of the innermost one */
};

static struct bringing bringing_of(const struct tile_printer *w, uint32_t o)
{
    const struct gpu_tile *t = w->t;
    const struct kernel *k = w->p->k;
    struct bringing b = {.operand = o, .is_m = o == t->operand_m, .items = t->items_m * t->items_n, .numbers = 1};
    const uint32_t size = k->reduced_count ? (uint32_t)k->vars[k->parallel_count + k->reduced_count - 1].size : 1;

    b.vars = b.is_m ? &t->m : &t->n;
    b.width = gpu_tile_width(t, b.is_m);
    b.stride = gpu_tile_stride(t, o);
    if (tile_has_words(w, o) && t->k_tile % size == 0)
        b.numbers = size;
    b.places = t->k_tile / b.numbers;
    b.count = (b.width * b.places + b.items - 1) / b.items;
    if (b.items % b.width == 0 && b.places % (b.items / b.width) == 0)
        b.sharing = b.items / b.width;
    b.reduced.count = k->reduced_count - (b.numbers > 1);
    for (uint32_t i = 0; i < b.reduced.count; i++)
        b.reduced.vars[i] = k->parallel_count + i;
    b.whole = b.reduced.count && k->vars[b.reduced.vars[b.reduced.count - 1]].size % b.places == 0;
    return b;
}

/* ---- names ---- */

static void put_constant_index(const struct tile_printer *w, const char *name, uint32_t o)
{
    fprintf(w->p->out, "%*sconst %s %s%" PRIu32 " = ", (int)w->p->indent * 2, "", opencl_index_type(w->p), name, o);
}

/* Returns how many neighbouring numbers of an item are loaded at once. */
static uint32_t vector_of(uint32_t numbers)
{
    return numbers % VECTOR == 0 ? VECTOR : numbers % 2 == 0 ? 2 : 1;
}

/* Writes where in an iteration of the tile the row or column `j` lies. */
static void put_place(const struct tile_printer *w, const struct bringing *b, const char *j)
{
    const uint32_t items = w->t->items_n, vector = vector_of(w->t->vectors), all = items * vector;

    if (b->is_m || vector == 1)
        fputs(j, w->p->out);
    else
        fprintf(w->p->out, "%s / %" PRIu32 " * %" PRIu32 " + %s %% %" PRIu32 " * %" PRIu32 " + %s / %" PRIu32 " %% %" PRIu32, j,
                all, all, j, items, vector, j, items, vector);
}

/* Declares the row or column j<operand> that an item brings, its first place k<operand> in the tile, and the values of its
 * variables. */
static void put_row(const struct tile_printer *w, const struct bringing *b)
{
    struct printer *p = w->p;
    const uint32_t o = b->operand;
    char name[24];

    if (w->t->along_k[o])
        put_line(p, "const int j%" PRIu32 " = item / %" PRIu32 ", first%" PRIu32 " = item %% %" PRIu32 " * %" PRIu32 ";", o,
                 b->sharing, o, b->sharing, b->count);
    else
        put_line(p, "const int j%" PRIu32 " = item %% %" PRIu32 ", first%" PRIu32 " = item / %" PRIu32 " * %" PRIu32 ";", o,
                 b->width, o, b->width, b->count);
    put_line(p, "const %1$s at%2$" PRIu32 " = min(%3$c0 + j%2$" PRIu32 ", %4$s - 1);", opencl_index_type(p), o,
             b->is_m ? 'm' : 'n', b->is_m ? "rows" : "columns");
    snprintf(name, sizeof name, "j%" PRIu32, o);
    put_constant_index(w, "place", o);
    put_place(w, b, name);
    fputs(";\n", p->out);
    snprintf(name, sizeof name, "at%" PRIu32, o);
    put_decode(p, b->vars, name, "");
}

/* ---- global memory to registers ---- */

/* Writes the numbers of a place to `next`: one, or all of a word. */
static void put_load_place(const struct tile_printer *w, const struct bringing *b)
{
    struct printer *p = w->p;
    const uint32_t o = b->operand, expr = w->operands[o], last = p->k->parallel_count + p->k->reduced_count - 1;
    struct scope scope;

    if (b->numbers == 1) {
        need_expr(p, expr);
        put_line(p, "next%" PRIu32 "[i] = v%" PRIu32 ";", o, expr);
        return;
    }
    for (uint32_t i = 0; i < p->k->expr_count; i++)
        if (w->hoisted[o][i])
            need_expr(p, i);
    put_line(p, "#pragma unroll");
    put_line(p, "for (int x%1$" PRIu32 " = 0; x%1$" PRIu32 " < %2$" PRIu32 "; x%1$" PRIu32 "++) {", last, b->numbers);
    scope_enter(p, &scope);
    need_expr(p, expr);
    put_line(p, "next%" PRIu32 "[i * %" PRIu32 " + x%" PRIu32 "] = v%" PRIu32 ";", o, b->numbers, last, expr);
    scope_leave(p, &scope);
    put_line(p, "}");
}

/* Declares the REDUCED variables of iteration k of the tile. */
static void put_iteration(const struct tile_printer *w, const struct bringing *b)
{
    if (!b->whole)
        put_decode(w->p, &b->reduced, "iteration", "");
    for (uint32_t i = 0; b->whole && i < b->reduced.count; i++)
        put_line(w->p, "const %1$s x%2$" PRIu32 " = x%2$" PRIu32 "_0%3$s;", opencl_index_type(w->p), b->reduced.vars[i],
                 i + 1 == b->reduced.count ? " + k" : "");
}

/* Begins the loop over the places that an item brings: declares k, and of places that are dealt out one by one row j. */
static void open_places(const struct tile_printer *w, const struct bringing *b)
{
    struct printer *p = w->p;

    put_line(p, "#pragma unroll");
    put_line(p, "for (int i = 0; i < %" PRIu32 "; i++) {", b->count);
    p->indent++;
    if (b->sharing) {
        put_line(p, "const int k = first%" PRIu32 " + i;", b->operand);
        return;
    }
    put_line(p, "const int place = item + i * %" PRIu32 ";", b->items);
    if (b->width * b->places % b->items != 0)
        put_line(p, "if (place >= %" PRIu32 ") break;", b->width * b->places);
    if (w->t->along_k[b->operand])
        put_line(p, "const int j = place / %1$" PRIu32 ", k = place %% %1$" PRIu32 ";", b->places);
    else
        put_line(p, "const int j = place %% %1$" PRIu32 ", k = place / %1$" PRIu32 ";", b->width);
}

static void close_places(const struct tile_printer *w)
{
    w->p->indent--;
    put_line(w->p, "}");
}

/* Makes an item load place k, with zeros behind the last iteration. */
static void put_load_or_zero(const struct tile_printer *w, const struct bringing *b)
{
    struct printer *p = w->p;

    if (b->whole) {
        put_iteration(w, b);
        put_load_place(w, b);
        return;
    }
    put_line(p, "const %s iteration = begin + k;", opencl_index_type(p));
    if (b->numbers > 1)
        put_line(p, "if (iteration < iterations / %" PRIu32 ") {", b->numbers);
    else
        put_line(p, "if (iteration < iterations) {");
    p->indent++;
    put_iteration(w, b);
    put_load_place(w, b);
    p->indent--;
    put_line(p, "} else {");
    if (b->numbers > 1)
        put_line(p, "  for (int x = 0; x < %1$" PRIu32 "; x++) next%2$" PRIu32 "[i * %1$" PRIu32 " + x] = 0;", b->numbers,
                 b->operand);
    else
        put_line(p, "  next%" PRIu32 "[i] = 0;", b->operand);
    put_line(p, "}");
}

/* Makes all items load what they bring of an operand for the iterations from `from` on. */
static void put_load(const struct tile_printer *w, const struct bringing *b, const char *from)
{
    struct printer *p = w->p;
    const char *type = opencl_index_type(p);
    struct scope scope;

    put_line(p, "{");
    scope_enter(p, &scope);
    if (b->numbers > 1)
        put_line(p, "const %s begin = (%s) / %" PRIu32 ";", type, from, b->numbers);
    else
        put_line(p, "const %s begin = %s;", type, from);
    if (b->whole)
        put_decode(p, &b->reduced, "begin", "_0");
    open_places(w, b);
    if (!b->sharing) {
        put_line(p, "const %s at = min(%c0 + j, %s - 1);", type, b->is_m ? 'm' : 'n', b->is_m ? "rows" : "columns");
        put_decode(p, b->vars, "at", "");
    }
    put_load_or_zero(w, b);
    close_places(w);
    scope_leave(p, &scope);
    put_line(p, "}");
}

/* ---- registers to local memory ---- */

static void put_keep(const struct tile_printer *w, const struct bringing *b)
{
    struct printer *p = w->p;
    const uint32_t o = b->operand;

    open_places(w, b);
    if (b->sharing)
        put_line(p, "const int at = place%" PRIu32 ";", o);
    else {
        fprintf(p->out, "%*sconst int at = ", (int)p->indent * 2, "");
        put_place(w, b, "j");
        fputs(";\n", p->out);
    }
    if (b->numbers > 1)
        put_line(p,
                 "for (int x = 0; x < %1$" PRIu32 "; x++) tile%2$" PRIu32 "[(k * %1$" PRIu32 " + x) * %3$" PRIu32
                 " + at] = next%2$" PRIu32 "[i * %1$" PRIu32 " + x];",
                 b->numbers, o, b->stride);
    else
        put_line(p, "tile%1$" PRIu32 "[k * %2$" PRIu32 " + at] = next%1$" PRIu32 "[i];", o, b->stride);
    close_places(w);
}

/* ---- local memory to products ---- */

/* Loads an item's rows or columns of iteration k, in vectors. */
static void put_local_loads(const struct tile_printer *w, const struct bringing *b)
{
    static const char *const lanes[] = {".s0", ".s1", ".s2", ".s3"};
    struct printer *p = w->p;
    const uint32_t count = b->is_m ? w->t->rows : w->t->vectors, vector = vector_of(count), o = b->operand;
    const char *type = opencl_value_type(w->type);
    char from[64];

    for (uint32_t i = 0; i < count; i += vector) {
        if (b->is_m)
            snprintf(from, sizeof from, "item_m * %" PRIu32 " + %" PRIu32, count, i);
        else
            snprintf(from, sizeof from, "item_n * %" PRIu32 " + %" PRIu32, vector, i * w->t->items_n);
        if (vector == 1)
            put_line(p, "const %s l%" PRIu32 "_%" PRIu32 " = tile%" PRIu32 "[k * %" PRIu32 " + %s];", type, o, i, o, b->stride,
                     from);
        else
            put_line(p,
                     "const %1$s%2$" PRIu32 " l%3$" PRIu32 "_%4$" PRIu32 " = *(__local const %1$s%2$" PRIu32
                     " *)(tile%3$" PRIu32 " + k * %5$" PRIu32 " + %6$s);",
                     type, vector, o, i, b->stride, from);
        for (uint32_t j = 0; j < vector; j++)
            put_line(p, "const %s p%" PRIu32 "_%" PRIu32 "_%" PRIu32 " = l%" PRIu32 "_%" PRIu32 "%s;", type, o,
                     b->is_m ? i + j : 0, b->is_m ? 0 : i + j, o, i, vector == 1 ? "" : lanes[j]);
    }
}

/* Writes the steps of the iterations that are in local memory. */
static void put_local_steps(const struct tile_printer *w, const struct bringing b[2])
{
    struct printer *p = w->p;

    put_line(p, "#pragma unroll"); /* so that loads of the next steps are under way beside products */
    put_line(p, "for (int k = 0; k < %" PRIu32 "; k++) {", w->t->k_tile);
    p->indent++;
    for (uint32_t o = 0; o < 2; o++)
        put_local_loads(w, &b[o]);
    put_tile_products(w);
    p->indent--;
    put_line(p, "}");
}

/* ---- the tile ---- */

/* Declares what the items of the group share, and who they are. */
static void put_group(const struct tile_printer *w, const struct bringing b[2])
{
    struct printer *p = w->p;
    const struct gpu_tile *t = w->t;
    const char *type = opencl_index_type(p), *number = opencl_value_type(w->type);
    struct gpu_vars reduced = {.count = p->k->reduced_count};

    for (uint32_t i = 0; i < reduced.count; i++)
        reduced.vars[i] = p->k->parallel_count + i;
    put_tile_sizes(p);
    fprintf(p->out, "%*sconst %s iterations = ", (int)p->indent * 2, "", type);
    put_product(p, &reduced);
    fputs(";\n", p->out);
    for (uint32_t o = 0; o < 2; o++)
        put_line(p, "__local %s tile%" PRIu32 "[%" PRIu32 "] __attribute__((aligned(16)));", number, o,
                 t->k_tile * b[o].stride);
    put_line(p, "const %1$s item_n = (%1$s)get_local_id(0), item_m = (%1$s)get_local_id(1);", type);
    put_line(p, "const int item = (int)item_m * %" PRIu32 " + (int)item_n;", t->items_n);
    put_line(p, "const %1$s m0 = (%1$s)get_group_id(1) * %2$" PRIu32 ", n0 = (%1$s)get_group_id(0) * %3$" PRIu32 ";", type,
             t->items_m * t->rows, t->items_n * t->vectors);
    put_line(p, "const %1$s other = (%1$s)get_global_id(2);", type);
    put_decode(p, &p->s->dimensions[2], "other", "");
    for (uint32_t o = 0; o < 2; o++) {
        if (b[o].sharing)
            put_row(w, &b[o]);
        put_line(p, "%s next%" PRIu32 "[%" PRIu32 "];", number, o, b[o].count * b[o].numbers);
    }
}

void put_local_tile(const struct tile_printer *w)
{
    struct printer *p = w->p;
    const struct gpu_tile *t = w->t;
    const struct bringing b[2] = {bringing_of(w, 0), bringing_of(w, 1)};
    char next[32];

    put_group(w, b);
    put_tile_accumulators(w);
    for (uint32_t o = 0; o < 2; o++)
        put_load(w, &b[o], "0");
    put_line(p, "for (%s k0 = 0; k0 < iterations; k0 += %" PRIu32 ") {", opencl_index_type(p), t->k_tile);
    p->indent++;
    for (uint32_t o = 0; o < 2; o++)
        put_keep(w, &b[o]);
    put_line(p, "barrier(CLK_LOCAL_MEM_FENCE);");
    snprintf(next, sizeof next, "k0 + %" PRIu32, t->k_tile);
    put_line(p, "if (%s < iterations) {", next);
    p->indent++;
    for (uint32_t o = 0; o < 2; o++)
        put_load(w, &b[o], next);
    p->indent--;
    put_line(p, "}");
    put_local_steps(w, b);
    if (p->s->sum_split != KEXPR_NONE) {
        put_line(p, "if ((k0 / %1$" PRIu32 " + 1) %% %2$" PRIu32 " == 0 || k0 + %1$" PRIu32 " >= iterations) {", t->k_tile,
                 GPU_LOCAL_SUM_STEPS / t->k_tile);
        p->indent++;
        put_tile_flush(w);
        p->indent--;
        put_line(p, "}");
    }
    put_line(p, "barrier(CLK_LOCAL_MEM_FENCE);");
    p->indent--;
    put_line(p, "}");
    put_line(p, "%s sums[%" PRIu32 "];", opencl_value_type(w->type), t->rows * t->vectors);
    put_tile_sums(w);
    put_local_tile_points(w);
}
