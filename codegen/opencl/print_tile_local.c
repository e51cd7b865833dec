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
    struct bringing b = {.operand = o, .is_m = o == t->operand_m, .items = t->items_m * t->items_n * t->k_items, .numbers = 1};
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
    b.reduced = gpu_reduced_vars(k);
    b.reduced.count -= b.numbers > 1;
    b.whole = b.reduced.count && k->vars[b.reduced.vars[b.reduced.count - 1]].size % b.places == 0;
    return b;
}

/* ---- names ---- */

static uint32_t vector_of(uint32_t numbers)
{
    return numbers % VECTOR == 0 ? VECTOR : numbers % 2 == 0 ? 2 : 1;
}

static const char *place_text(const struct tile_printer *w, const struct bringing *b, const char *j)
{
    const uint32_t items = w->t->items_n, vector = vector_of(w->t->vectors);

    if (b->is_m || vector == 1)
        return j;
    return text_of(w->p, "%1$s / %2$u * %2$u + %1$s %% %3$u * %4$u + %1$s / %3$u %% %4$u", j, items * vector, items, vector);
}

/* Declares the row or column j<operand> that an item brings, its first place k<operand> in the tile, and the values of its
 * variables. */
static void put_row(const struct tile_printer *w, const struct bringing *b)
{
    struct printer *p = w->p;
    const uint32_t o = b->operand;

    if (w->t->along_k[o])
        put_line(p, "const int j%u = item / %u, first%u = item %% %u * %u;", o, b->sharing, o, b->sharing, b->count);
    else
        put_line(p, "const int j%u = item %% %u, first%u = item / %u * %u;", o, b->width, o, b->width, b->count);
    put_line(p, "const $i at%1$u = min(%2$c0 + j%1$u, %3$s - 1);", o, b->is_m ? 'm' : 'n', b->is_m ? "rows" : "columns");
    put_line(p, "const $i place%u = %s;", o, place_text(w, b, text_of(p, "j%u", o)));
    put_decode(p, b->vars, text_of(p, "at%u", o), "");
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
        put_line(p, "next%u[i] = v%u;", o, expr);
        return;
    }
    for (uint32_t i = 0; i < p->k->expr_count; i++)
        if (w->hoisted[o][i])
            need_expr(p, i);
    put_line(p, "#pragma unroll");
    open_scope(p, &scope, "for (int x%1$u = 0; x%1$u < %2$u; x%1$u++) {", last, b->numbers);
    need_expr(p, expr);
    put_line(p, "next%u[i * %u + x%u] = v%u;", o, b->numbers, last, expr);
    close_scope(p, &scope);
}

/* Declares the REDUCED variables of iteration k of the tile. */
static void put_iteration(const struct tile_printer *w, const struct bringing *b)
{
    if (!b->whole)
        put_decode(w->p, &b->reduced, "iteration", "");
    for (uint32_t i = 0; b->whole && i < b->reduced.count; i++)
        put_line(w->p, "const $i x%1$u = x%1$u_0%2$s;", b->reduced.vars[i], i + 1 == b->reduced.count ? " + k" : "");
}

/* Begins the loop over the places that an item brings: declares k, and of places that are dealt out one by one row j. */
static void open_places(const struct tile_printer *w, const struct bringing *b)
{
    struct printer *p = w->p;

    put_line(p, "#pragma unroll");
    put_line(p, "for (int i = 0; i < %u; i++) {", b->count);
    if (b->sharing) {
        put_line(p, "const int k = first%u + i;", b->operand);
        return;
    }
    put_line(p, "const int place = item + i * %u;", b->items);
    if (b->width * b->places % b->items != 0)
        put_line(p, "if (place >= %u) break;", b->width * b->places);
    if (w->t->along_k[b->operand])
        put_line(p, "const int j = place / %1$u, k = place %% %1$u;", b->places);
    else
        put_line(p, "const int j = place %% %1$u, k = place / %1$u;", b->width);
}

static void close_places(const struct tile_printer *w)
{
    put_line(w->p, "}");
}

/* Makes an item load place k, with zeros after the last iteration. */
static void put_load_or_zero(const struct tile_printer *w, const struct bringing *b)
{
    struct printer *p = w->p;

    if (b->whole) {
        put_iteration(w, b);
        put_load_place(w, b);
        return;
    }
    put_line(p, "const $i iteration = begin + k;");
    if (b->numbers > 1)
        put_line(p, "if (iteration < iterations / %u) {", b->numbers);
    else
        put_line(p, "if (iteration < iterations) {");
    put_iteration(w, b);
    put_load_place(w, b);
    put_line(p, "} else {");
    if (b->numbers > 1)
        put_line(p, "  for (int x = 0; x < %1$u; x++) next%2$u[i * %1$u + x] = 0;", b->numbers, b->operand);
    else
        put_line(p, "  next%u[i] = 0;", b->operand);
    put_line(p, "}");
}

/* Makes all items load what they bring of an operand for the iterations from `from` on. */
static void put_load(const struct tile_printer *w, const struct bringing *b, const char *from)
{
    struct printer *p = w->p;
    struct scope scope;

    open_scope(p, &scope, "{");
    if (b->numbers > 1)
        put_line(p, "const $i begin = (%s) / %u;", from, b->numbers);
    else
        put_line(p, "const $i begin = %s;", from);
    if (b->whole)
        put_decode(p, &b->reduced, "begin", "_0");
    open_places(w, b);
    if (!b->sharing) {
        put_line(p, "const $i at = min(%c0 + j, %s - 1);", b->is_m ? 'm' : 'n', b->is_m ? "rows" : "columns");
        put_decode(p, b->vars, "at", "");
    }
    put_load_or_zero(w, b);
    close_places(w);
    close_scope(p, &scope);
}

/* ---- registers to local memory ---- */

static void put_keep(const struct tile_printer *w, const struct bringing *b)
{
    struct printer *p = w->p;
    const uint32_t o = b->operand;

    open_places(w, b);
    put_line(p, "const int at = %s;", b->sharing ? text_of(p, "place%u", o) : place_text(w, b, "j"));
    if (b->numbers > 1)
        put_line(p, "for (int x = 0; x < %1$u; x++) tile%2$u[(k * %1$u + x) * %3$u + at] = next%2$u[i * %1$u + x];", b->numbers,
                 o, b->stride);
    else
        put_line(p, "tile%1$u[k * %2$u + at] = next%1$u[i];", o, b->stride);
    close_places(w);
}

/* ---- local memory to products ---- */

static void put_local_loads(const struct tile_printer *w, const struct bringing *b)
{
    static const char *const lanes[] = {".s0", ".s1", ".s2", ".s3"};
    struct printer *p = w->p;
    const uint32_t count = b->is_m ? w->t->rows : w->t->vectors, vector = vector_of(count), o = b->operand;
    const char *type = opencl_value_type(p, w->type);

    for (uint32_t i = 0; i < count; i += vector) {
        const char *from =
            b->is_m ? text_of(p, "item_m * %u + %u", count, i) : text_of(p, "item_n * %u + %u", vector, i * w->t->items_n);
        if (vector == 1)
            put_line(p, "const %s l%u_%u = tile%u[k * %u + %s];", type, o, i, o, b->stride, from);
        else
            put_line(p, "const %1$s%2$u l%3$u_%4$u = *(__local const %1$s%2$u *)(tile%3$u + k * %5$u + %6$s);", type, vector, o,
                     i, b->stride, from);
        for (uint32_t j = 0; j < vector; j++)
            put_line(p, "const %s p%u_%u_%u = l%u_%u%s;", type, o, b->is_m ? i + j : 0, b->is_m ? 0 : i + j, o, i,
                     vector == 1 ? "" : lanes[j]);
    }
}

static void put_local_steps(const struct tile_printer *w, const struct bringing b[2])
{
    struct printer *p = w->p;
    const uint32_t steps = w->t->k_tile / w->t->k_items;

    put_line(p, "#pragma unroll"); /* so that loads of the next steps are under way during products */
    put_line(p, "for (int step = 0; step < %u; step++) {", steps);
    put_line(p, "const int k = %s;", w->t->k_items > 1 ? text_of(p, "share * %u + step", steps) : "step");
    for (uint32_t o = 0; o < 2; o++)
        put_local_loads(w, &b[o]);
    put_tile_products(w);
    put_line(p, "}");
}

/* Adds up what the items that share the iterations have summed.  Only those of the first share go on. */
static void put_shares(const struct tile_printer *w)
{
    struct printer *p = w->p;
    const struct gpu_tile *t = w->t;
    const uint32_t sums = t->rows * t->vectors, items = t->items_m * t->items_n;

    put_line(p, "const int own = item %% %u;", items);
    put_line(p, "if (share > 0)");
    put_line(p, "  for (int i = 0; i < %1$u; i++) memory[((share - 1) * %1$u + i) * %2$u + own] = sums[i];", sums, items);
    put_barrier(p);
    put_line(p, "if (share > 0) return;");
    put_line(p, "for (int i = 0; i < %u; i++)", sums);
    put_line(p, "  for (int k = 0; k < %u; k++) sums[i] %s memory[(k * %u + i) * %u + own];", t->k_items - 1,
             ktype_is_float(w->type) ? "+=" : "+= (uint)", sums, items);
}

/* ---- the tile ---- */

/* Declares what the items of the group share, and who they are. */
static void put_group(const struct tile_printer *w, const struct bringing b[2])
{
    struct printer *p = w->p;
    const struct gpu_tile *t = w->t;
    const char *number = opencl_value_type(p, w->type);
    const struct gpu_vars reduced = gpu_reduced_vars(p->k);

    put_tile_sizes(p);
    put_line(p, "const $i iterations = %s;", product_text(p, &reduced));
    put_line(p, "__local %s memory[%u] __attribute__((aligned(16)));", number, gpu_local_numbers(t));
    put_line(p, "__local %s *tile0 = memory, *tile1 = memory + %u;", number, t->k_tile * b[0].stride);
    put_line(p, "const $i item_n = ($i)get_local_id(0), item_m = ($i)get_local_id(1);");
    if (t->k_items > 1)
        put_line(p, "const int share = (int)get_local_id(2);");
    put_line(p, "const int item = %s(int)item_m * %u + (int)item_n;",
             t->k_items > 1 ? text_of(p, "share * %u + ", t->items_m * t->items_n) : "", t->items_n);
    put_line(p, "const $i m0 = ($i)get_group_id(1) * %u, n0 = ($i)get_group_id(0) * %u;", t->items_m * t->rows,
             t->items_n * t->vectors);
    put_line(p, "const $i other = ($i)get_group_id(2);");
    put_decode(p, &p->s->dimensions[2], "other", "");
    for (uint32_t o = 0; o < 2; o++) {
        if (b[o].sharing)
            put_row(w, &b[o]);
        put_line(p, "%s next%u[%u];", number, o, b[o].count * b[o].numbers);
    }
}

void put_local_tile(const struct tile_printer *w)
{
    struct printer *p = w->p;
    const struct gpu_tile *t = w->t;
    const struct bringing b[2] = {bringing_of(w, 0), bringing_of(w, 1)};
    const char *next = text_of(p, "k0 + %u", t->k_tile);

    put_group(w, b);
    put_tile_accumulators(w);
    for (uint32_t o = 0; o < 2; o++)
        put_load(w, &b[o], "0");
    put_line(p, "for ($i k0 = 0; k0 < iterations; k0 += %u) {", t->k_tile);
    for (uint32_t o = 0; o < 2; o++)
        put_keep(w, &b[o]);
    put_barrier(p);
    put_line(p, "if (%s < iterations) {", next);
    for (uint32_t o = 0; o < 2; o++)
        put_load(w, &b[o], next);
    put_line(p, "}");
    put_local_steps(w, b);
    if (p->s->sum_split != KEXPR_NONE) {
        put_line(p, "if ((k0 / %1$u + 1) %% %2$u == 0 || k0 + %1$u >= iterations) {", t->k_tile,
                 GPU_LOCAL_SUM_STEPS / t->k_tile);
        put_tile_flush(w);
        put_line(p, "}");
    }
    put_barrier(p);
    put_line(p, "}");
    put_line(p, "%s sums[%u];", opencl_value_type(p, w->type), t->rows * t->vectors);
    put_tile_sums(w);
    if (t->k_items > 1)
        put_shares(w);
    put_local_tile_points(w);
}
