/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints tiles of contractions that sub-groups compute by matrix instructions (ir/schedule/schedule_gpu_matrix.c).
 *
 * A step of a group: each item loads its part of both operands for the next step into registers, while the sub-groups multiply
 * what is in local memory; then it stores that part into the other one of two buffers, and a barrier ends the step.  The loop
 * begins one step early, when there is nothing to multiply.  Operands lie in local memory as halves, in rows of their own (rows
 * of the tile, or columns) with K contiguous, or where neighbours in memory are neighbours along those, in rows of K;
 * instructions that load fragments transpose the latter.  Each row is padded by eight halves that are never read, so that eight
 * consecutive rows lie in different banks.  Beyond the edges there are zeros.
 *
 * After the loop each sub-group writes 16 rows of sums after 16 rows to local memory, whose elements its items take with
 * neighbouring columns for neighbouring items, and computes the point's other expressions.
 *
 * The code has these names, in which <side> is m or n: m0 and n0 are the first row and column; sums has an item's part of each
 * instruction's sums, total what earlier blocks of iterations add up to; tile_<side> is an operand in local memory, part_<side>
 * an item's part of it in registers; x<var>_<side>[] are variables of the rows that it brings, k<var>_<side> those of the
 * iteration.
 */
#include "codegen/opencl/internal.h"

/*
 * The layout of fragments is that of the PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type", and of
 * "ldmatrix": lane l has of each matrix of 8 x 8 the elements 2 (l % 4) and the next one of row l / 4, of four matrices in four
 * registers; the address of a row of matrix i comes from lane 8 i + row.
 */
const char opencl_matrix_functions[] =
    "#ifndef MATRIX_MULTIPLY\n"
    "#define MATRIX_UNROLL _Pragma(\"unroll\")\n"
    "#define MATRIX_MEMORY\n"
    "#define MATRIX_LOAD_BY(name, f, p) __asm__ volatile(name \" {%0, %1, %2, %3}, [%4];\" \\\n"
    "  : \"=r\"((f)[0]), \"=r\"((f)[1]), \"=r\"((f)[2]), \"=r\"((f)[3]) : \"r\"((uint)(size_t)(p)) : \"memory\")\n"
    "#define MATRIX_LOAD(f, p) MATRIX_LOAD_BY(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16\", f, p)\n"
    "#define MATRIX_LOAD_TRANSPOSED(f, p) MATRIX_LOAD_BY(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16\", f, p)\n"
    "#define MATRIX_MULTIPLY(c, a, b) __asm__ volatile( \\\n"
    "  \"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\" "
    "\\\n"
    "  : \"+f\"((c)[0]), \"+f\"((c)[1]), \"+f\"((c)[2]), \"+f\"((c)[3]) \\\n"
    "  : \"r\"((a)[0]), \"r\"((a)[1]), \"r\"((a)[2]), \"r\"((a)[3]), \"r\"((b)[0]), \"r\"((b)[1]))\n"
    "#endif\n"
    "#ifndef HAS_CHUNKS\n"
    "#define HAS_CHUNKS\n"
    "#define CHUNK_OF(h) (uint4)((h)[0] | (uint)(h)[1] << 16, (h)[2] | (uint)(h)[3] << 16, (h)[4] | (uint)(h)[5] << 16, "
    "(h)[6] | (uint)(h)[7] << 16)\n"
    "static uint4 load_chunk(__global const ushort *p, int aligned) {\n"
    "  if (aligned) return *(__global const uint4 *)p;\n"
    "  return CHUNK_OF(p);\n"
    "}\n"
    "static ushort half_bits(float x) { ushort h; vstore_half_rte(x, 0, (half *)&h); return h; }\n"
    "#endif\n";

/* Describes an operand: of the rows (m) or of the columns (n). */
struct side {
    struct printer *p;
    uint32_t operand, expr;
    char name;        /* m or n */
    const char *size; /* name of the number of rows or columns */
    const struct gpu_vars *vars;
    uint32_t width, pitch;  /* rows or columns of the group's tile, and halves between rows in local memory */
    uint32_t items, k_tile; /* of a group, of a step */
    uint32_t chunks, each;  /* of a step, and those of one item */
    enum gpu_bring bring;
    bool k_first;        /* neighbouring items bring what follows along K */
    bool linear, counts; /* in K; its REDUCED variables are counted up from step to step */
};

static struct side side_of(struct printer *p, bool m)
{
    const struct gpu_tile *t = &p->s->tile;
    const struct gpu_matrix_tile *x = &t->matrix;
    struct side s = {.p = p,
                     .operand = m ? t->operand_m : !t->operand_m,
                     .name = m ? 'm' : 'n',
                     .size = m ? "rows" : "columns",
                     .vars = m ? &t->m : &t->n,
                     .width = m ? x->subgroups_m * x->rows : x->subgroups_n * x->columns,
                     .items = p->s->local[0],
                     .k_tile = t->k_tile};

    s.expr = p->k->exprs[t->dot].args[s.operand];
    s.pitch = gpu_matrix_pitch(t, s.operand);
    s.chunks = s.width * s.k_tile / GPU_MATRIX_CHUNK;
    s.each = (s.chunks + s.items - 1) / s.items;
    s.bring = x->bring[s.operand];
    s.k_first = s.bring == GPU_BRING_ALONG_K || (s.bring == GPU_BRING_ELEMENTS && t->along_k[s.operand]);
    s.linear = x->linear_k[s.operand];
    s.counts = s.bring == GPU_BRING_ALONG_K && !s.linear;
    return s;
}

static uint32_t side_halves(const struct side *s)
{
    return (s->bring == GPU_BRING_ALONG_ROWS ? s->k_tile : s->width) * s->pitch;
}

/* ---- which part is an item's ---- */

/* Declares j, the first row or column of the item's chunk c, and k, its first iteration of the step. */
static void put_place(const struct side *s)
{
    struct printer *p = s->p;

    put_line(p, "const int chunk = item + c * %u;", s->items);
    if (s->bring == GPU_BRING_ALONG_ROWS)
        put_line(p, "const int j = chunk %% %1$u * %2$d, k = chunk / %1$u;", s->width / GPU_MATRIX_CHUNK, GPU_MATRIX_CHUNK);
    else if (s->k_first)
        put_line(p, "const int j = chunk / %1$u, k = chunk %% %1$u * %2$d;", s->k_tile / GPU_MATRIX_CHUNK, GPU_MATRIX_CHUNK);
    else
        put_line(p, "const int j = chunk %% %1$u, k = chunk / %1$u * %2$d;", s->width, GPU_MATRIX_CHUNK);
}

static void open_chunks(const struct side *s, struct scope *scope)
{
    open_scope(s->p, scope, "MATRIX_UNROLL for (int c = 0; c < %u; c++) {", s->each);
    put_place(s);
}

/* Declares counters of the REDUCED variables, whose values are those of the row-major number `from`. */
static void put_counters(const struct side *s, const char *from)
{
    struct printer *p = s->p;
    const struct gpu_vars reduced = gpu_reduced_vars(p->k);
    struct scope scope;

    for (uint32_t i = 0; i < reduced.count; i++)
        put_line(p, "$i k%u_%c;", reduced.vars[i], s->name);
    open_scope(p, &scope, "{");
    put_decode(p, &reduced, from, "");
    for (uint32_t i = 0; i < reduced.count; i++)
        put_line(p, "k%u_%c = x%u;", reduced.vars[i], s->name, reduced.vars[i]);
    close_scope(p, &scope);
}

static void put_count(const struct side *s, uint32_t iterations)
{
    struct printer *p = s->p;
    const struct gpu_vars reduced = gpu_reduced_vars(p->k);

    put_line(p, "k%u_%c += %u;", reduced.vars[reduced.count - 1], s->name, iterations);
    for (uint32_t i = reduced.count - 1; i > 0; i--) {
        const uint32_t var = reduced.vars[i];
        put_line(p, "%1$s (k%2$u_%3$c >= %4$s) { k%2$u_%3$c -= %4$s; k%5$u_%3$c++; }", iterations > 1 ? "while" : "if", var,
                 s->name, size_text(p, var), var - 1);
    }
}

/* Declares whether all chunks have addresses that one load takes.  Tensors may begin anywhere; a test of each address would
 * cost a fifth of the kernel's time. */
static void put_aligned(const struct side *s)
{
    struct printer *p = s->p;
    const struct kexpr *e = &p->k->exprs[s->expr];
    const struct gpu_vars reduced = gpu_reduced_vars(p->k), *v = s->bring == GPU_BRING_ALONG_K ? &reduced : s->vars;
    const uint32_t start = p->e->info.numbers.exprs[s->expr];
    const char *halves = number_text(p, start);

    for (uint32_t i = 0; i < e->index.count; i++)
        if (e->index.terms[i].var != v->vars[v->count - 1]) /* whose chunks begin at multiples of eight */
            halves = text_of(p, "%s | %s", halves, number_text(p, start + 1 + i));
    put_line(p, "const int aligned_%c = (((size_t)%s | (size_t)(%s) * sizeof(ushort)) %% sizeof(uint4)) == 0;", s->name,
             tensor_text(p, e->tensor), halves);
}

/* Declares what is known of an item's part before the steps: the variables of its rows, and of its first iteration if these are
 * counted. */
static void put_known(const struct side *s)
{
    struct printer *p = s->p;
    struct scope scope;

    if (s->bring != GPU_BRING_ELEMENTS)
        put_aligned(s);
    put_line(p, "int has_%c[%u];", s->name, s->each);
    put_line(p, "uint4 part_%c[%u];", s->name, s->each);
    for (uint32_t i = 0; i < s->vars->count; i++)
        put_line(p, "$i x%u_%c[%u];", s->vars->vars[i], s->name, s->each);
    open_chunks(s, &scope);
    put_line(p, "const $i at = min(%c0 + j, ($i)(%s - 1));", s->name, s->size);
    put_line(p, "has_%c[c] = %c0 + j < %s;", s->name, s->name, s->size);
    put_decode(p, s->vars, "at", "");
    for (uint32_t i = 0; i < s->vars->count; i++)
        put_line(p, "x%u_%c[c] = x%u;", s->vars->vars[i], s->name, s->vars->vars[i]);
    close_scope(s->p, &scope);
    if (!s->counts)
        return;
    put_line(p, "const int first_%c = item %% %u * %d;", s->name, s->k_tile / GPU_MATRIX_CHUNK, GPU_MATRIX_CHUNK);
    put_counters(s, text_of(p, "first_%c", s->name));
}

/* ---- from global memory to registers ---- */

/* Declares the variables of the item's chunk: of its rows, and the REDUCED ones of `iteration`. */
static void put_variables(const struct side *s)
{
    struct printer *p = s->p;
    const struct gpu_vars reduced = gpu_reduced_vars(p->k);

    for (uint32_t i = 0; i < s->vars->count; i++)
        put_line(p, "const $i x%u = x%u_%c[c];", s->vars->vars[i], s->vars->vars[i], s->name);
    for (uint32_t i = 0; i < reduced.count; i++) {
        if (!s->linear)
            put_line(p, "const $i x%u = k%u_%c;", reduced.vars[i], reduced.vars[i], s->name);
        else /* the others would only be multiplied by what this one lacks */
            put_line(p, "const $i x%u = %s;", reduced.vars[i], i + 1 < reduced.count ? "0" : "iteration");
    }
}

/* Declares what a load of halves refers to, with the result of its guards, and returns whether it has some. */
static bool need_half_load(const struct side *s)
{
    struct printer *p = s->p;
    const struct kexpr *e = &p->k->exprs[s->expr];

    if (!e->guard_count)
        return false;
    put_line(p, "const int inside = %s;", guards_text(p, s->expr));
    return true;
}

static const char *half_address(const struct side *s)
{
    struct printer *p = s->p;

    return text_of(p, "%s + %s", tensor_text(p, p->k->exprs[s->expr].tensor), index_text(p, s->expr));
}

/* Writes a chunk, as one load of eight halves. */
static void put_chunk(const struct side *s)
{
    struct printer *p = s->p;
    const uint32_t fill = f32_to_f16(p->k->exprs[s->expr].bits.f32);
    struct scope scope;

    open_scope(p, &scope, "if (has_%c[c] & iteration < iterations) {", s->name);
    if (!s->linear && !s->counts)
        put_counters(s, "iteration");
    put_variables(s);
    const bool guarded = need_half_load(s);
    if (guarded)
        put_line(p, "part_%c[c] = (uint4)(0x%08xu);", s->name, fill << 16 | fill);
    put_line(p, "%spart_%c[c] = load_chunk(%s, aligned_%c);", guarded ? "if (inside) " : "", s->name, half_address(s), s->name);
    close_scope(p, &scope);
}

static void put_element(const struct side *s)
{
    struct printer *p = s->p;
    const struct kexpr *e = &p->k->exprs[s->expr];

    if (e->op != K_LOAD) {
        need_expr(p, s->expr);
        put_line(p, "h[e] = half_bits(v%u);", s->expr);
        return;
    }
    const char *address = half_address(s);
    const bool guarded = need_half_load(s);
    if (guarded)
        put_line(p, "h[e] = 0x%04xu;", f32_to_f16(e->bits.f32));
    put_line(p, "%sh[e] = *(%s);", guarded ? "if (inside) " : "", address);
}

static void put_elements(const struct side *s)
{
    struct printer *p = s->p;
    struct scope scope, element;

    open_scope(p, &scope, "if (has_%c[c]) {", s->name);
    put_line(p, "ushort h[%d];", GPU_MATRIX_CHUNK);
    if (!s->linear) {
        put_line(p, "const $i first = next + k;");
        put_counters(s, "first");
    }
    open_scope(p, &element, "MATRIX_UNROLL for (int e = 0; e < %d; e++) {", GPU_MATRIX_CHUNK);
    put_line(p, "const $i iteration = next + k + e;");
    put_line(p, "h[e] = 0;");
    put_line(p, "if (iteration < iterations) {");
    put_variables(s);
    put_element(s);
    put_line(p, "}");
    if (!s->linear)
        put_count(s, 1);
    close_scope(p, &element);
    put_line(p, "part_%c[c] = CHUNK_OF(h);", s->name);
    close_scope(p, &scope);
}

/* Makes an item load its part for the step whose first iteration is `next`. */
static void put_load(const struct side *s)
{
    struct printer *p = s->p;
    struct scope scope;

    open_chunks(s, &scope);
    put_line(p, "part_%c[c] = (uint4)(0);", s->name);
    if (s->bring == GPU_BRING_ELEMENTS) {
        put_elements(s);
    } else {
        put_line(p, "const $i iteration = next + k;");
        put_chunk(s);
    }
    close_scope(s->p, &scope);
    if (s->counts)
        put_count(s, s->k_tile);
}

static void put_bring(const struct side *s)
{
    struct printer *p = s->p;
    const bool rows = s->bring == GPU_BRING_ALONG_ROWS;
    struct scope scope;

    open_chunks(s, &scope);
    if (s->chunks % s->items)
        put_line(p, "if (chunk < %u)", s->chunks);
    put_line(p, "*(__local uint4 *)(tile_%c + (buffer ^ 1) * BUFFER + %c * %u + %c) = part_%c[c];", s->name, rows ? 'k' : 'j',
             s->pitch, rows ? 'j' : 'k', s->name);
    close_scope(s->p, &scope);
}

/* ---- from local memory to sums ---- */

/* Declares where the item's row of the first matrices of 8 x 8 lies in local memory.  Of four matrices that are loaded at once
 * the next one of M's follows along M, the next one of N's along K: that is the order in which the instruction wants them. */
static void put_fragment_place(const struct side *s)
{
    const bool rows = s->bring == GPU_BRING_ALONG_ROWS, m = s->name == 'm';
    const char *j = m ? "lane / 8 % 2" : "lane / 16", *k = m ? "lane / 16" : "lane / 8 % 2";

    put_line(s->p, "const int own_%c = subgroup_%c * %u + (lane %% 8 + %s * 8) * %u + %s * 8;", s->name, s->name,
             rows ? 1 : s->pitch, rows ? k : j, s->pitch, rows ? j : k);
}

static void put_fragments(const struct side *s, uint32_t count)
{
    const bool rows = s->bring == GPU_BRING_ALONG_ROWS;

    put_line(s->p, "MATRIX_UNROLL for (int i = 0; i < %u; i++)", count);
    put_line(s->p, "  MATRIX_LOAD%s(fragment_%c[i], tile_%c + buffer * BUFFER + own_%c + i * %u + k * %u);",
             rows ? "_TRANSPOSED" : "", s->name, s->name, s->name, rows ? GPU_MATRIX_ROWS : GPU_MATRIX_ROWS * s->pitch,
             rows ? s->pitch : 1);
}

static void put_multiply(const struct side *m, const struct side *n)
{
    struct printer *p = m->p;
    const struct gpu_matrix_tile *x = &p->s->tile.matrix;
    const uint32_t pairs = x->columns / (2 * GPU_MATRIX_COLUMNS);

    put_line(p, "MATRIX_UNROLL for (int k = 0; k < STEPS; k += %d) {", GPU_MATRIX_STEPS);
    put_line(p, "uint fragment_m[FRAGMENTS_M][4], fragment_n[%u][4];", pairs);
    put_fragments(m, x->rows / GPU_MATRIX_ROWS);
    put_fragments(n, pairs);
    put_line(p, "MATRIX_UNROLL for (int i = 0; i < FRAGMENTS_M; i++)");
    put_line(p, "  MATRIX_UNROLL for (int j = 0; j < FRAGMENTS_N; j++)");
    put_line(p, "  MATRIX_MULTIPLY(sums[i][j], fragment_m[i], fragment_n[j / 2] + j %% 2 * 2);");
    put_line(p, "}");
}

static void put_each_sum(struct printer *p, const char *statement)
{
    put_line(p, "MATRIX_UNROLL for (int i = 0; i < FRAGMENTS_M; i++)");
    put_line(p, "  MATRIX_UNROLL for (int j = 0; j < FRAGMENTS_N; j++)");
    put_line(p, "  MATRIX_UNROLL for (int r = 0; r < 4; r++) { %s }", statement);
}

static void put_steps(const struct side *m, const struct side *n)
{
    struct printer *p = m->p;
    const struct gpu_tile *t = &p->s->tile;

    put_line(p, "int buffer = 1;");
    put_line(p, "for ($i next = 0; next < iterations + STEPS; next += STEPS) {");
    put_load(m);
    put_load(n);
    put_line(p, "if (next) {");
    put_multiply(m, n);
    if (t->matrix.sum_steps) {
        put_line(p, "if (next %% %u == 0) {", t->matrix.sum_steps);
        put_each_sum(p, "total[i][j][r] += sums[i][j][r]; sums[i][j][r] = 0;");
        put_line(p, "}");
    }
    put_line(p, "}");
    put_bring(m);
    put_bring(n);
    put_barrier(p);
    put_line(p, "buffer ^= 1;");
    put_line(p, "}");
    if (t->matrix.sum_steps)
        put_each_sum(p, "sums[i][j][r] += total[i][j][r];");
}

/* ---- points ---- */

/* Writes the sums of a sub-group, 16 rows after 16 rows, to local memory, and computes their points. */
static void put_matrix_points(struct printer *p)
{
    const struct gpu_matrix_tile *x = &p->s->tile.matrix;
    const uint32_t pitch = x->columns + GPU_MATRIX_CHUNK;

    put_line(p, "__local float *slab = (__local float *)memory + item / 32 * %u;", GPU_MATRIX_ROWS * pitch);
    put_line(p, "MATRIX_UNROLL for (int i = 0; i < FRAGMENTS_M; i++) {");
    put_line(p, "MATRIX_UNROLL for (int j = 0; j < FRAGMENTS_N; j++)");
    put_line(p, "  MATRIX_UNROLL for (int r = 0; r < 4; r++)");
    put_line(p, "  slab[(lane / 4 + r / 2 * 8) * %u + j * 8 + lane %% 4 * 2 + r %% 2] = sums[i][j][r];", pitch);
    put_barrier(p);
    put_line(p, "for (int at = lane; at < %u; at += 32) {", GPU_MATRIX_ROWS * x->columns);
    put_line(p, "const $i row = m0 + subgroup_m + i * %d + at / %u, column = n0 + subgroup_n + at %% %u;", GPU_MATRIX_ROWS,
             x->columns, x->columns);
    put_line(p, "if (row < rows & column < columns) {");
    put_decode(p, &p->s->tile.m, "row", "");
    put_decode(p, &p->s->tile.n, "column", "");
    put_points(p, text_of(p, "slab[at / %1$u * %2$u + at %% %1$u]", x->columns, pitch), 1);
    put_line(p, "}");
    put_line(p, "}");
    put_barrier(p);
    put_line(p, "}");
}

/* ---- the kernel ---- */

static void put_names(const struct side *m, const struct side *n)
{
    const struct gpu_matrix_tile *x = &m->p->s->tile.matrix;

    put_line(m->p, "enum { STEPS = %u, FRAGMENTS_M = %u, FRAGMENTS_N = %u, BUFFER = %u };", m->k_tile,
             x->rows / GPU_MATRIX_ROWS, x->columns / GPU_MATRIX_COLUMNS, side_halves(m) + side_halves(n));
}

void put_matrix_tiles(struct printer *p)
{
    const struct side m = side_of(p, true), n = side_of(p, false);
    const struct gpu_matrix_tile *x = &p->s->tile.matrix;
    const struct gpu_vars reduced = gpu_reduced_vars(p->k);

    put_names(&m, &n);
    put_tile_sizes(p);
    put_line(p, "const $i iterations = %s;", product_text(p, &reduced));
    put_line(p, "__local uint4 memory[%u];", (gpu_matrix_local_bytes(&p->s->tile) + 15) / 16);
    put_line(p, "MATRIX_MEMORY");
    put_line(p, "__local ushort *tile_m = (__local ushort *)memory, *tile_n = tile_m + %u;", side_halves(&m));
    put_line(p, "const int item = (int)get_local_id(0), lane = item %% 32;");
    put_line(p, "const int subgroup_m = item / %u * %u, subgroup_n = item / 32 %% %u * %u;", 32 * x->subgroups_n, x->rows,
             x->subgroups_n, x->columns);
    put_line(p, "const $i m0 = ($i)get_group_id(1) * %u, n0 = ($i)get_group_id(0) * %u;", m.width, n.width);
    put_line(p, "const $i other = ($i)get_global_id(2);");
    put_decode(p, &p->s->dimensions[2], "other", "");
    put_fragment_place(&m);
    put_fragment_place(&n);
    put_line(p, "float sums[FRAGMENTS_M][FRAGMENTS_N][4];");
    if (x->sum_steps)
        put_line(p, "float total[FRAGMENTS_M][FRAGMENTS_N][4];");
    put_each_sum(p, x->sum_steps ? "sums[i][j][r] = 0; total[i][j][r] = 0;" : "sums[i][j][r] = 0;");
    put_known(&m);
    put_known(&n);
    put_steps(&m, &n);
    put_matrix_points(p);
}
