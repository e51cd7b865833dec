/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tiles: kernels that read along one PARALLEL variable and write along another, such as changes of layout.
 *
 * Let vectors run along v, and let some tensor be contiguous along another variable, u, instead.  A tile is as many values of u
 * as a vector has lanes, each of them one copy of the vector.  A tensor that is contiguous along u is then loaded or stored by
 * whole vectors along u, one per lane of v, and turned by shuffles in registers; everything else is as for ordinary copies.  At
 * the edges lanes that do not exist are masked; rows and lines that do not exist are the last one that does, loaded again, and
 * stored before it, so that what is stored in their name is overwritten.
 *
 * Two to four values of u, an image's channels for one, would leave most lanes of such lines empty.  But if all of them lie
 * side by side in memory, lines follow each other without a gap, and as many whole vectors hold them as there are values: the
 * tensor is woven, loaded and stored by those vectors, which shuffles take apart or put together.
 */
#include "codegen/emit.h"

#include <string.h>

/* A tile has the code of its expressions once per row.  More than this per vector is not worth that: there the gathers of the
 * ordinary way no longer weigh much. */
enum { TILE_COST_MAX = 48 };

/* ---- which ---- */

/* Whether a form has u with coefficient 1 and the vector variable with one that is not 1 or -1. */
static bool turns(const struct kernel *k, const struct kaffine *a, uint32_t u)
{
    const int64_t across = kaffine_coefficient(*a, k->vector_var);

    return kaffine_coefficient(*a, u) == 1 && across != 0 && across != 1 && across != -1;
}

/* Whether the lines of a form follow each other, all of u's values in each. */
static bool is_woven(const struct kernel *k, const struct kaffine *a, uint32_t u)
{
    return turns(k, a, u) && kaffine_coefficient(*a, k->vector_var) == k->vars[u].size;
}

typedef bool (*form_test)(const struct kernel *k, const struct kaffine *a, uint32_t u);

/* The best variable for tiles, of those with least to most values: along which most tensors pass the test. */
static uint32_t choose(const struct kernel *k, int64_t least, int64_t greatest, form_test passes)
{
    uint32_t best = KEXPR_NONE, most = 0, cost = 0;

    for (uint32_t i = 0; i < k->expr_count; i++)
        cost += emit_weight(&k->exprs[i]);
    if (cost > TILE_COST_MAX || k->vector_var >= k->parallel_count || k->reduced_count || k->var_count > k->parallel_count)
        return KEXPR_NONE;
    for (uint32_t u = k->chunk_vars; u < k->parallel_count; u++) {
        uint32_t count = 0;
        if (u == k->vector_var || k->vars[u].size < least || k->vars[u].size > greatest)
            continue;
        for (uint32_t i = 0; i < k->expr_count; i++)
            count += k->exprs[i].op == K_LOAD && !k->exprs[i].guard_count && passes(k, &k->exprs[i].index, u);
        for (uint32_t i = 0; i < k->store_count; i++)
            count += !k->stores[i].guard_count && passes(k, &k->stores[i].index, u);
        if (count > most) {
            most = count;
            best = u;
        }
    }
    return best;
}

struct tiling tile_find(const struct kernel *k)
{
    struct tiling t = {choose(k, TILE_FEW_ROWS + 1, INT64_MAX, turns), 0};

    if (t.var == KEXPR_NONE) {
        t.var = choose(k, 2, TILE_FEW_ROWS, is_woven);
        t.woven = t.var == KEXPR_NONE ? 0 : (uint32_t)k->vars[t.var].size;
    }
    return t;
}

void tile_print(const struct kernel *k, FILE *out)
{
    const struct tiling t = tile_find(k);

    if (choose(k, 1, INT64_MAX, turns) == t.var && !t.woven) /* which the structure says already */
        return;
    fprintf(out, "  tile along %d, woven %u:", (int)t.var, t.woven);
    for (uint32_t i = 0; t.woven && i < k->expr_count; i++)
        fprintf(out, " %d", k->exprs[i].op == K_LOAD && is_woven(k, &k->exprs[i].index, t.var));
    for (uint32_t i = 0; t.woven && i < k->store_count; i++)
        fprintf(out, " %d", is_woven(k, &k->stores[i].index, t.var));
    fputc('\n', out);
}

/* Whether a tile takes a tensor by whole vectors along its other variable. */
static bool by_lines(const struct emitter *e, const struct kaffine *a)
{
    return e->tile && (e->tiling.woven ? is_woven : turns)(e->k, a, e->tiling.var);
}

bool tile_turns_load(const struct emitter *e, uint32_t expr)
{
    const struct kexpr *x = &e->k->exprs[expr];
    return x->op == K_LOAD && !x->guard_count && by_lines(e, &x->index);
}

bool tile_turns_store(const struct emitter *e, uint32_t store)
{
    return !e->k->stores[store].guard_count && by_lines(e, &e->k->stores[store].index);
}

V tile_row(struct emitter *e)
{
    V copy = const_int(&e->m, 64, e->copy);
    if (!e->tile_rows || !e->copy)
        return copy;
    emit_at(e, LEVEL_UNIT);
    return op_intrinsic2(&e->m, "llvm.smin", LLVMBuildSub(e->m.b, e->tile_rows, const_int(&e->m, 64, 1), ""), copy);
}

/* ---- turning ---- */

static V shuffle(const struct build *m, V a, V b, const uint32_t *lanes, uint32_t n)
{
    V mask[16];
    for (uint32_t i = 0; i < n; i++)
        mask[i] = const_int(m, 32, lanes[i]);
    return LLVMBuildShuffleVector(m->b, a, b, LLVMConstVector(mask, n), "");
}

/* Interleaves the low or high halves of each block of `block` lanes, as the unpack instructions do. */
static V unpack(const struct build *m, V a, V b, uint32_t n, uint32_t block, bool high)
{
    uint32_t lanes[16];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = i / block * block + (high ? block / 2 : 0) + i % block / 2;
        lanes[i] = i % 2 ? n + from : from;
    }
    return shuffle(m, a, b, lanes, n);
}

/* Every second block of a, then of b, from `first` on. */
static V every_second(const struct build *m, V a, V b, uint32_t n, uint32_t block, uint32_t first)
{
    uint32_t lanes[16], blocks = n / block;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = i / block, from = to < blocks / 2 ? 2 * to + first : blocks + 2 * (to - blocks / 2) + first;
        lanes[i] = from * block + i % block;
    }
    return shuffle(m, a, b, lanes, n);
}

/* The same vector, but no pass looks through it.  Instruction selection asks of every shuffle what it could be together with
 * those before it, which takes most of the time of such code and never finds anything. */
static V fence(const struct build *m, V v)
{
    T type = LLVMTypeOf(v), element = LLVMGetElementType(type);
    uint32_t bits = LLVMGetTypeKind(element) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(element) : 0, n = lanes_of(v);

    if (!bits)
        return op_intrinsic1(m, "llvm.arithmetic.fence", v);
    if (n * bits < 128) /* no register of its own everywhere */
        return v;
    v = LLVMBuildBitCast(m->b, v, LLVMVectorType(type_f32(m), n * bits / 32), "");
    return LLVMBuildBitCast(m->b, op_intrinsic1(m, "llvm.arithmetic.fence", v), type, "");
}

/* rows[i] lane j becomes rows[j] lane i.  First within blocks of 128 bits, where shuffles are cheap, then whole blocks. */
static void turn(const struct build *m, V *rows, uint32_t n, uint32_t element_bytes)
{
    uint32_t block = 16 / element_bytes < n ? 16 / element_bytes : n;
    V next[16];

    if (block < n / 4) /* 64-bit elements as wide as 16 of 32 bits */
        block = n / 4;
    const uint32_t blocks = n / block;

    for (uint32_t step = 1; step < block; step *= 2) {
        for (uint32_t g = 0; g < n; g += block) {
            for (uint32_t i = 0; i < block / 2; i++) {
                next[g + 2 * i] = unpack(m, rows[g + i], rows[g + i + block / 2], n, block, false);
                next[g + 2 * i + 1] = unpack(m, rows[g + i], rows[g + i + block / 2], n, block, true);
            }
        }
        for (uint32_t i = 0; i < n; i++)
            rows[i] = step < block / 2 || blocks > 1 ? fence(m, next[i]) : next[i];
    }
    /* Now row g * block + t has column t of every block, of the rows of group g. */
    if (blocks == 2) {
        for (uint32_t t = 0; t < block; t++) {
            next[t] = every_second(m, rows[t], rows[block + t], n, block, 0);
            next[block + t] = every_second(m, rows[t], rows[block + t], n, block, 1);
        }
    } else if (blocks == 4) {
        for (uint32_t t = 0; t < block; t++) {
            V a = rows[t], b = rows[block + t], c = rows[2 * block + t], d = rows[3 * block + t];
            V even = every_second(m, a, b, n, block, 0), odd = every_second(m, a, b, n, block, 1);
            V even2 = every_second(m, c, d, n, block, 0), odd2 = every_second(m, c, d, n, block, 1);
            even = fence(m, even), odd = fence(m, odd), even2 = fence(m, even2), odd2 = fence(m, odd2);
            next[t] = every_second(m, even, even2, n, block, 0);
            next[2 * block + t] = every_second(m, even, even2, n, block, 1);
            next[block + t] = every_second(m, odd, odd2, n, block, 0);
            next[3 * block + t] = every_second(m, odd, odd2, n, block, 1);
        }
    }
    for (uint32_t i = 0; blocks > 1 && i < n; i++)
        rows[i] = next[i];
}

/* Lane i of results[j] is, of all lanes of the vectors one after the other, the one with the number at(i, j). */
typedef uint32_t (*lane_number)(uint32_t lane, uint32_t vector, uint32_t lanes, uint32_t vectors);

/* Of element i of row j: rows are woven. */
static uint32_t unwoven(uint32_t i, uint32_t j, uint32_t lanes, uint32_t vectors)
{
    (void)lanes;
    return i * vectors + j;
}

/* Of element i of vector j, of rows one after the other. */
static uint32_t woven(uint32_t i, uint32_t j, uint32_t lanes, uint32_t vectors)
{
    const uint32_t element = j * lanes + i;
    return element % vectors * lanes + element / vectors;
}

/* Vector by vector: what earlier ones had for a result stays where it is. */
static void permute(const struct build *m, V *rows, uint32_t n, uint32_t lanes, lane_number at)
{
    V results[TILE_FEW_ROWS];
    uint32_t from[16];

    for (uint32_t j = 0; j < n; j++) {
        results[j] = rows[0];
        for (uint32_t r = 1; r < n; r++) {
            for (uint32_t i = 0; i < lanes; i++) {
                const uint32_t number = at(i, j, lanes, n), row = number / lanes, lane = number % lanes;
                from[i] = row == r ? lanes + lane : r == 1 && row == 0 ? lane : i;
            }
            results[j] = shuffle(m, results[j], rows[r], from, lanes);
        }
    }
    memcpy(rows, results, n * sizeof *rows);
}

/* ---- memory ---- */

/* The vectors along u, one per lane of v. */
struct lines {
    V address[16];
    V mask; /* rows that exist; NULL: all */
};

/* In a partial tile lines that do not exist are the last one that does: it is loaded several times, and stored last. */
static void find_lines(struct emitter *e, uint32_t form, V pointer, T element, struct lines *lines)
{
    const struct build *m = &e->m;
    const struct form *f = &e->forms[form];
    V stride = number_value(e, f->number + 1 + (uint32_t)f->vector_term), groups[ROW_GROUPS] = {NULL}, offset;
    V uniform = form_uniform(e, form);
    emit_at(e, row_level(e, f));
    V index = LLVMBuildAdd(m->b, uniform, e->tile_base, "");
    V base = op_opaque(m, LLVMBuildGEP2(m->b, element, pointer, &index, 1, ""));
    emit_at(e, e->vector_level);
    offset = LLVMBuildMul(m->b, e->vector_base[0], stride, "");
    groups[0] = base = op_opaque(m, LLVMBuildGEP2(m->b, element, base, &offset, 1, "line"));
    lines->mask = NULL;
    if (e->tile_rows) {
        emit_at(e, LEVEL_UNIT);
        V rows = splat(m, LLVMBuildTrunc(m->b, e->tile_rows, type_int(m, 32), ""), e->lanes);
        lines->mask = LLVMBuildICmp(m->b, LLVMIntULT, const_iota(m, 32, e->lanes), rows, "rows");
    }
    emit_at(e, e->vector_level);
    for (uint32_t j = 0; j < e->lanes; j++) {
        if (!e->tile_lanes) {
            lines->address[j] = stepped_pointer(e, element, groups, stride, j);
            continue;
        }
        if (j) {
            V exists = LLVMBuildICmp(m->b, LLVMIntULT, const_int(m, 64, j), e->tile_lanes, "");
            offset = LLVMBuildSelect(m->b, exists, stride, const_int(m, 64, 0), "");
            base = LLVMBuildGEP2(m->b, element, base, &offset, 1, "");
        }
        lines->address[j] = base;
    }
}

/* The vectors of a woven tensor; none is partial. */
static void find_woven(struct emitter *e, uint32_t form, V pointer, T element, V address[TILE_FEW_ROWS])
{
    const struct build *m = &e->m;
    const uint32_t n = e->tiling.woven;
    V index = form_uniform(e, form);
    emit_at(e, row_level(e, &e->forms[form]));
    V base = op_opaque(m, LLVMBuildGEP2(m->b, element, pointer, &index, 1, ""));
    emit_at(e, e->vector_level);
    V offset = LLVMBuildMul(m->b, e->vector_base[0], const_int(m, 64, n), "");
    base = LLVMBuildGEP2(m->b, element, base, &offset, 1, "woven");
    for (uint32_t j = 0; j < n; j++) {
        offset = const_int(m, 64, (int64_t)j * e->lanes);
        address[j] = LLVMBuildGEP2(m->b, element, base, &offset, 1, "");
    }
}

void tile_load(struct emitter *e, uint32_t expr, V values[COPIES_MAX])
{
    dtype type = e->k->tensors[e->k->exprs[expr].tensor].type;
    T element = storage_type(e, type), vector = type_lanes(element, e->lanes);
    uint32_t form = e->expr_form[expr], align = (uint32_t)dtype_size(type);
    V pointer = tensor_pointer(e, e->k->exprs[expr].tensor);
    struct lines lines;

    if (e->tiling.woven) {
        find_woven(e, form, pointer, element, lines.address);
        for (uint32_t j = 0; j < e->copies; j++)
            values[j] = load_vector(e, vector, lines.address[j], align);
        permute(&e->m, values, e->copies, e->lanes, unwoven);
    } else {
        find_lines(e, form, pointer, element, &lines);
        for (uint32_t j = 0; j < e->lanes; j++)
            values[j] = lines.mask ? masked_load(e, vector, lines.address[j], lines.mask, align)
                                   : load_vector(e, vector, lines.address[j], align);
        turn(&e->m, values, e->lanes, align);
    }
    for (uint32_t c = 0; c < e->copies; c++)
        values[c] = widen_float(&e->m, values[c], type);
}

void tile_store(struct emitter *e, uint32_t store, const V *values)
{
    const struct kstore *s = &e->k->stores[store];
    dtype type = e->k->tensors[s->tensor].type;
    T element = storage_type(e, type);
    uint32_t form = e->store_form[store], align = (uint32_t)dtype_size(type);
    struct lines lines;
    V rows[16];

    for (uint32_t c = 0; c < e->copies; c++) {
        rows[c] = lanes_of(values[c]) == 1 ? splat(&e->m, values[c], e->lanes) : values[c];
        rows[c] = narrow_float(&e->m, rows[c], type);
    }
    if (e->tiling.woven) {
        permute(&e->m, rows, e->copies, e->lanes, woven);
        find_woven(e, form, tensor_pointer(e, s->tensor), element, lines.address);
        for (uint32_t j = 0; j < e->copies; j++)
            store_row(e, rows[j], lines.address[j], NULL, align);
        return;
    }
    turn(&e->m, rows, e->lanes, align);
    find_lines(e, form, tensor_pointer(e, s->tensor), element, &lines);
    for (uint32_t j = e->lanes; j-- > 0;)
        store_row(e, rows[j], lines.address[j], lines.mask, align);
}
