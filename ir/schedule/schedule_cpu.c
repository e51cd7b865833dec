/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes the CPU's schedule: schedule_cpu, and its parts for every kernel.  It takes a finished kernel, and the processor: what
 * its instruction set offers, and what things cost on it.  It decides struct schedule in this order:
 *   1. the vector variable;  2. row buffers;  3. whether it is a contraction for register tiles, or a transpose;  4. lanes,
 *   vectors per iteration, unrolling;  5. the shape of the register tile;  6. units.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/kernel/kernel_internal.h"
#include "ir/schedule/schedule_internal.h"

/* ---- 1. the vector variable ---- */

/** Returns the cost of one access with vectors along var, relative to a scalar one. */
static double access_cost(const struct schedule *s, struct kaffine a, uint32_t var)
{
    const int64_t c = kaffine_coefficient(a, var);
    const double lanes = s->facts->loop.assumed_lanes;

    if (kaffine_derives(s->kernel, a, var))
        return 1;
    return c == 0 || c == 1 ? 1 / lanes : c == -1 ? 2 / lanes : 1;
}

/** Returns the same for a load. */
static double load_cost(const struct schedule *s, const struct isa *isa, const struct kexpr *load, uint32_t var)
{
    const uint32_t stride = load_stride(s, load, var);
    const double row = short_row_cost(s, isa, &load->index, load->guard_count, load->tensor, var);

    if (tile_loads_words(s->kernel, load, var)) /* the contraction loads words */
        return 1.0 / (double)s->facts->loop.assumed_lanes;
    if (load_repeat(s, load, var)) /* a load and a shuffle */
        return 2.0 / (double)s->facts->loop.assumed_lanes;
    if (row > 0 && !stride)
        return row / (double)s->facts->loop.assumed_lanes;
    /* As many loads as the stride, and a shuffle for each but the first. */
    return stride ? (2.0 * stride - 1) / (double)s->facts->loop.assumed_lanes : access_cost(s, load->index, var);
}

/* Returns the cost of vectors along a variable, or some part of it that is not below `limit`. */
static double vector_cost(const struct schedule *s, const struct isa *isa, uint32_t var, double limit)
{
    const struct kernel *k = s->kernel;
    const double reduced = kernel_points(k, KVAR_REDUCED), size = (double)k->vars[var].size;
    const bool along_reduced = k->vars[var].kind == KVAR_REDUCED;
    const int64_t lanes = s->facts->loop.assumed_lanes;
    /* A part of the last vector is wasted. */
    const double waste = (double)ceil_div(k->vars[var].size, lanes) * (double)lanes / size;
    double cost = 0;

    for (uint32_t i = 0; i < k->expr_count && cost < limit; i++) {
        const struct kexpr *e = &k->exprs[i];
        const bool loops = e->varying || e->op == K_REDUCE;
        const bool scalar = along_reduced && !loops;
        const double n = loops ? reduced : 1;
        const double one = e->op == K_LOAD ? 2 * load_cost(s, isa, e, var) : expr_cost(s, e) / (double)lanes;
        cost += n * (scalar ? expr_cost(s, e) : one * waste);
        if (along_reduced && e->op == K_REDUCE)
            cost += s->facts->operation.lane_sum;
        if (along_reduced && e->op == K_SCAN) /* for each vector */
            cost += n * waste * s->facts->operation.lane_sum / (double)lanes;
    }
    for (uint32_t i = 0; i < k->store_count; i++) {
        const struct kstore *store = &k->stores[i];
        const double row = store->varying ? short_row_cost(s, isa, &store->index, store->guard_count, store->tensor, var) : 0;
        const double one = 2 * (row > 0 ? row / (double)lanes : access_cost(s, store->index, var));
        cost += (store->varying ? reduced : 1) * (along_reduced && !store->varying ? 1 : one * waste);
    }
    return cost;
}

static void choose_vector_var(struct schedule *s, const struct isa *isa)
{
    const struct kernel *k = s->kernel;
    double best = INFINITY;
    const bool ordered = kernel_stores_in_order(k);

    s->vector_var = KEXPR_NONE;
    if (k->rare) /* numbers one by one are the least code */
        return;
    /* The innermost variable comes first, so that of equals the innermost PARALLEL one wins. */
    for (uint32_t i = k->parallel_count; i-- > k->macro_tile_vars;) {
        if (k->vars[i].bounded)
            continue;
        double cost = vector_cost(s, isa, i, best);
        if (s->vector_var == KEXPR_NONE || cost < best) {
            best = cost;
            s->vector_var = i;
        }
    }
    if (k->reduced_count && !ordered) {
        const uint32_t last = k->parallel_count + k->reduced_count - 1;
        if (!k->vars[last].bounded && (s->vector_var == KEXPR_NONE || vector_cost(s, isa, last, best) < best))
            s->vector_var = last;
    }
}

static bool vector_is(const struct schedule *s, enum kvar_kind kind)
{
    return s->vector_var != KEXPR_NONE && s->kernel->vars[s->vector_var].kind == kind;
}

/* ---- 2. row buffers ---- */

/** Returns the cost of computing a varying expression, or one step of a sum, in a phase; what row buffers keep of earlier ones
 * costs so much.  Marks what it counted. */
static double phase_cost(const struct schedule *s, uint32_t id, uint32_t phase, double kept, bool *counted)
{
    const struct kexpr *e = &s->kernel->exprs[id];
    double cost = expr_cost(s, e);

    if ((!e->varying && e->op != K_REDUCE) || counted[id])
        return 0;
    counted[id] = true;
    if (s->exprs[id].row_buffer >= 0 && s->exprs[id].phase < phase)
        return kept;
    for (uint32_t a = 0; a < 3 && e->args[a] != KEXPR_NONE; a++)
        if (s->kernel->exprs[e->args[a]].op != K_REDUCE)
            cost += phase_cost(s, e->args[a], phase, kept, counted);
    return cost;
}

bool kept_find(const struct kernel *k, struct arena *a, keep_test keeps, void *user)
{
    uint32_t *first = arena_array(a, k->expr_count + 1, sizeof *first);
    bool *needed = arena_array(a, k->expr_count + 1, sizeof *needed);

    if (!first || !needed)
        return false;
    memset(first, 0xFF, k->expr_count * sizeof *first);
    for (uint32_t phase = 0; phase < k->phase_count; phase++) {
        memset(needed, 0, k->expr_count * sizeof *needed);
        for (uint32_t i = 0; i < k->store_count; i++) {
            if (k->stores[i].varying && k->stores[i].phase == phase)
                needed[k->stores[i].expr] = true;
        }
        /* Users come after what they use: walking down reaches every expression once all its users are known. */
        for (uint32_t id = k->expr_count; id-- > 0;) {
            const struct kexpr *e = &k->exprs[id];
            const bool root = e->op == K_REDUCE && e->phase == phase;
            if (!root && (!needed[id] || !e->varying))
                continue;
            if (!root && first[id] > phase)
                first[id] = phase;
            else if (!root && keeps(user, id, first[id]))
                continue;
            for (uint32_t i = 0; i < 3; i++) {
                if (e->args[i] != KEXPR_NONE)
                    needed[e->args[i]] = true;
            }
        }
    }
    return true;
}

struct keeper {
    struct schedule *s;
    bool *counted;
    int64_t row_elements;
    size_t element_size;
};

/** Lets a row buffer keep an expensive expression of an earlier phase that a later one needs, if the buffers still fit. */
static bool keeps_row(void *user, uint32_t id, uint32_t first)
{
    struct keeper *keeper = user;
    struct schedule *s = keeper->s;
    const struct kernel *k = s->kernel;
    const struct kexpr *e = &k->exprs[id];
    size_t size = ktype_size(e->type) > keeper->element_size ? ktype_size(e->type) : keeper->element_size;

    if (s->exprs[id].row_buffer >= 0)
        return true;
    memset(keeper->counted, 0, k->expr_count * sizeof *keeper->counted);
    if (e->op == K_LOAD || e->op == K_CONST ||
        phase_cost(s, id, UINT32_MAX, 1, keeper->counted) < s->facts->loop.recompute_cost)
        return false;
    if ((int64_t)(s->row_buffers.count + 1) * keeper->row_elements * (int64_t)size > s->facts->cache.row_bytes)
        return false;
    keeper->element_size = size;
    s->row_buffers.element_bytes = (uint32_t)size;
    s->exprs[id].row_buffer = (int32_t)s->row_buffers.count++;
    s->exprs[id].phase = first;
    return true;
}

static bool choose_row_buffers(struct schedule *s)
{
    const struct kernel *k = s->kernel;
    struct keeper keeper = {.s = s, .row_elements = 1, .element_size = 1};

    if (k->phase_count < 2 || !k->reduced_count)
        return true;
    for (uint32_t i = 0; i < k->var_count; i++) {
        if (k->vars[i].kind == KVAR_REDUCED)
            keeper.row_elements *= k->vars[i].size;
    }
    s->row_buffers.lanes = vector_is(s, KVAR_PARALLEL) ? s->facts->loop.row_lanes : 1;
    keeper.row_elements *= s->row_buffers.lanes;
    keeper.counted = arena_array(&s->arena, k->expr_count, sizeof *keeper.counted);
    if (!keeper.counted || !kept_find(k, &s->arena, keeps_row, &keeper))
        return false;
    s->row_buffers.bytes = target_align(keeper.row_elements * (int64_t)keeper.element_size) * s->row_buffers.count;
    return true;
}

/* ---- 4. lanes, vectors per iteration, unrolling ---- */

struct lane_facts {
    bool gathers; /* some address or index differs from lane to lane in another way than by one element */
};

static bool form_has_lanes(const struct schedule *s, const struct kaffine *a, struct lane_facts *facts);

/** Returns whether a variable differs from lane to lane.  LOADED variables need their expression, which comes before all that
 * use the variable. */
static bool var_has_lanes(const struct schedule *s, uint32_t var, struct lane_facts *facts)
{
    const struct kvar *v = &s->kernel->vars[var];

    return v->kind == KVAR_DIVMOD   ? form_has_lanes(s, &v->base, facts)
           : v->kind == KVAR_LOADED ? s->exprs[v->expr].lanes
                                    : var == s->vector_var;
}

static bool form_has_lanes(const struct schedule *s, const struct kaffine *a, struct lane_facts *facts)
{
    const int64_t c = s->vector_var == KEXPR_NONE ? 0 : kaffine_coefficient(*a, s->vector_var);
    bool derived = false;

    for (uint32_t i = 0; i < a->count; i++)
        derived |= a->terms[i].var != s->vector_var && var_has_lanes(s, a->terms[i].var, facts);
    facts->gathers |= derived || (c != 0 && c != 1);
    return derived || c != 0;
}

/** Finds out which variables and expressions differ from lane to lane. */
static void find_lanes(struct schedule *s, struct lane_facts *facts)
{
    const struct kernel *k = s->kernel;

    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        bool lanes = false;

        for (uint32_t a = 0; a < 3 && x->args[a] != KEXPR_NONE; a++)
            lanes |= s->exprs[x->args[a]].lanes;
        if (x->op == K_LOAD || x->op == K_INDEX)
            lanes |= form_has_lanes(s, &x->index, facts);
        for (uint32_t g = 0; x->op == K_LOAD && g < x->guard_count; g++)
            lanes |= form_has_lanes(s, &x->guards[g].form, facts);
        if (x->op == K_REDUCE)
            lanes = lanes && vector_is(s, KVAR_PARALLEL);
        if (x->op == K_SCAN) /* a running sum differs from step to step, whatever is added */
            lanes = lanes || vector_is(s, KVAR_REDUCED);
        if (s->exprs[i].row_buffer >= 0) /* a row buffer has a value for every point and lane */
            lanes = s->vector_var != KEXPR_NONE;
        s->exprs[i].lanes = lanes;
    }
    for (struct kform_walk w = {.owner = k->var_count + k->expr_count}; kernel_next_form(k, &w);)
        form_has_lanes(s, w.form, facts);
    for (uint32_t i = 0; i < k->var_count; i++)
        s->var_lanes[i] = var_has_lanes(s, i, facts);
}

/** Returns how many vectors along a REDUCED variable a phase takes at a time, unless rows are short: the more, the less an
 * iteration does. */
static uint32_t long_phase_vectors(const struct schedule *s, uint32_t phase, bool *counted)
{
    const struct kernel *k = s->kernel;
    const double exponential = cost_of_exponential(s);
    double sum = 0;

    memset(counted, 0, k->expr_count * sizeof *counted);
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (s->exprs[i].phase == phase && (k->exprs[i].op == K_REDUCE || s->exprs[i].row_buffer >= 0))
            sum += phase_cost(s, i, phase, 0, counted);
    for (uint32_t i = 0; i < k->store_count; i++)
        if (k->stores[i].varying && k->stores[i].phase == phase)
            sum += phase_cost(s, k->stores[i].expr, phase, 0, counted);
    if (s->lanes == 1 || k->rare)
        return s->lanes > 1;
    return sum >= s->facts->loop.heaviest_exponentials * exponential ? 1 : sum >= exponential ? 2 : s->facts->loop.sum_vectors;
}

/** Returns how many vectors a phase takes at a time: no more than a row has, so that a short one is no tail alone. */
static uint32_t phase_vectors(const struct schedule *s, uint32_t phase, bool *counted)
{
    uint32_t vectors = vector_is(s, KVAR_REDUCED) ? long_phase_vectors(s, phase, counted) : 1;

    while (vectors > 1 && (int64_t)s->lanes * vectors > s->kernel->vars[s->vector_var].size)
        vectors /= 2;
    return vectors;
}

/** Returns the lanes of a full vector: as many as of the widest type in use, but float32's where types mix. */
static uint32_t choose_lanes(const struct schedule *s, const struct isa *isa, bool gathers)
{
    const struct kernel *k = s->kernel;
    size_t widest = 0, narrowest = 8;
    bool contiguous = !gathers; /* there are no lanes of indices, which are 32 bits wide */
    bool numbers = true;        /* all are numbers of 16 bits */

    if (s->vector_var == KEXPR_NONE)
        return 1;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        size_t size = ktype_size(k->exprs[i].type);
        if (k->exprs[i].type == KT_BOOL || !s->exprs[i].lanes)
            continue;
        widest = size > widest ? size : widest;
        narrowest = size < narrowest ? size : narrowest;
        contiguous = contiguous && k->exprs[i].op != K_INDEX;
        numbers = numbers && k->exprs[i].type == KT_I16;
    }
    uint32_t lanes = isa->vector_bits / 32;
    if ((widest == 1 || (widest == 2 && numbers)) && contiguous)
        lanes *= 4 / (uint32_t)widest;
    else if (narrowest == 8 && widest == 8 && lanes > 2)
        lanes /= 2;
    if (s->row_buffers.count && vector_is(s, KVAR_PARALLEL) && lanes > s->row_buffers.lanes)
        lanes = s->row_buffers.lanes;
    return lanes;
}

/* Says which transposed tiles have code.  copies: code of their own for full ones pays. */
static void choose_tiles(struct schedule *s, bool copies)
{
    const struct kernel *k = s->kernel;
    struct register_transpose *t = &s->transpose;
    const uint32_t u = t->var, v = s->vector_var;

    t->partial = s->edges.masked_tail && !t->interleave;
    t->full = copies || !t->partial;
    t->few = true;
    if (u == KEXPR_NONE || t->interleave || !kernel_sizes_are_chosen(k) || k->vars[v].bounded)
        return;
    const int64_t rows = k->vars[u].size % s->lanes, columns = k->vars[v].size % s->lanes;
    const bool all_rows = k->vars[u].size >= s->lanes;

    t->full = (!rows && !columns) || (t->full && all_rows && k->vars[v].size >= s->lanes);
    t->few = t->partial ? rows && rows <= t->few_rows : rows || columns;
    t->partial = t->partial && (rows > t->few_rows || (all_rows && (columns || !t->full)));
}

static bool choose_loops(struct schedule *s, const struct isa *isa)
{
    const struct kernel *k = s->kernel;
    struct lane_facts facts = {false};
    const double exponential = cost_of_exponential(s);
    double cost = 0, inside = 0; /* inside: of loops over REDUCED variables */
    uint32_t reduces = 0;
    bool calls = false;
    int64_t points = 1;

    find_lanes(s, &facts);
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const double own = expr_cost(s, &k->exprs[i]);

        cost += own;
        inside += k->exprs[i].varying ? own : 0;
        calls |= expr_is_called(&k->exprs[i]);
        reduces += k->exprs[i].op == K_REDUCE || k->exprs[i].op == K_SCAN;
    }
    /* Many registers hold the constants of a function and the chains of several vectors. */
    bool heavy = (inside >= exponential && isa->registers <= 16) || cost >= s->facts->loop.heavy_exponentials * exponential;
    s->lanes = choose_lanes(s, isa, facts.gathers);
    s->edges.masked_tail = s->lanes > 1 && (isa->masks || (isa->masks32 && elements_are_wide(s)));
    choose_tiles(s, cost < s->facts->loop.copied_cost);
    /* Several adjacent vectors use whole cache lines and more of each page of a strided walk. */
    s->vectors = s->lanes > 1 && !heavy && reduces && reduces <= 2 && !s->row_buffers.count ? s->facts->loop.sum_vectors : 1;
    while (s->vectors > 1 && kernel_sizes_are_chosen(k) && (int64_t)s->lanes * s->vectors > k->vars[s->vector_var].size)
        s->vectors /= 2;

    /* One vector's chain of dependent instructions fills the processor's window when functions follow each other.  Several
     * times the lanes are several chains, interleaved as LLVM splits every operation. */
    bool interleave = vector_is(s, KVAR_PARALLEL) && !k->phase_count && isa->masks && s->lanes == isa->vector_bits / 32 &&
                      cost >= s->facts->loop.heavy_exponentials * exponential && !calls && s->transpose.var == KEXPR_NONE;
    s->wide_vectors = !interleave ? 1 : cost >= s->facts->loop.heaviest_exponentials * exponential ? 4 : 2;
    if (!interleave && vector_is(s, KVAR_PARALLEL) && !k->phase_count && !calls && !facts.gathers &&
        s->transpose.var == KEXPR_NONE)
        s->wide_vectors = quantised_vectors(s, isa);

    s->reduced.unroll_from = k->reduced_count;
    while (s->reduced.unroll_from > 0) {
        const uint32_t var = k->parallel_count + s->reduced.unroll_from - 1;
        const int64_t size = k->vars[var].size;
        if (!kernel_sums_unroll(k, var) || var == s->vector_var || k->vars[var].bounded ||
            points * size > s->facts->loop.unroll_points)
            break;
        points *= size;
        s->reduced.unroll_from--;
    }
    s->reduced.sum_split = s->reduced.unroll_from ? s->reduced.unroll_from - 1 : KEXPR_NONE; /* the innermost real loop */
    s->reduced.sum_steps = SUM_STEPS;
    if (points > s->facts->loop.single_points || k->rare)
        s->vectors = 1;

    loads_choose(s, isa);
    s->edges.far_guards = has_far_guards(k);
    bool *counted = arena_array(&s->arena, k->expr_count + 1, sizeof *counted);
    s->phase_vectors = arena_array(&s->arena, k->phase_count + 1, sizeof *s->phase_vectors);
    if (!counted || !s->phase_vectors)
        return false;
    for (uint32_t phase = 0; phase <= k->phase_count; phase++)
        s->phase_vectors[phase] = (uint8_t)phase_vectors(s, phase, counted);
    return true;
}

bool schedule_has_many_addresses(const struct schedule *s)
{
    enum { MANY = 16 };
    const struct kernel *k = s->kernel;
    uint32_t count = k->macro_tile_vars && !s->tiled ? k->store_count : 0;

    for (uint32_t i = 0; count && i < k->expr_count; i++)
        count += k->exprs[i].op == K_LOAD;
    return count > MANY;
}

/* Returns how many zeros a stage's loads read for all of a unit where a guard fails, or 0 if some load cannot: guards must be
 * the same for all of a unit, and the elements few.  The number is one for all sizes, so that they share code. */
static uint32_t choose_zeros(const struct schedule *s)
{
    enum { ZEROS = 512 };
    const struct kernel *k = s->kernel;
    bool any = false;

    if (!schedule_has_many_addresses(s) || k->rare || !vector_is(s, KVAR_PARALLEL) || s->lanes == 1 ||
        s->transpose.var != KEXPR_NONE)
        return 0;
    const uint64_t watched = kvars_from(k->parallel_count, k->reduced_count) | kvars_from(s->vector_var, 1);
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        int64_t span = k->vars[s->vector_var].size;

        if (x->op != K_LOAD || !x->guard_count)
            continue;
        if (x->bits.u64 || k->tensors[x->tensor].type != WNNOperandDataType_Float32 ||
            kaffine_coefficient(x->index, s->vector_var) != 1 || s->exprs[i].load ||
            kguards_vars(k, x->guard_count, x->guards) & watched || kaffine_derives(k, x->index, s->vector_var))
            return 0;
        for (uint32_t v = k->parallel_count; v < k->parallel_count + k->reduced_count; v++) {
            const int64_t step = kaffine_coefficient(x->index, v);

            if (kaffine_derives(k, x->index, v) || step < 0 || step > ZEROS || (span += step * (k->vars[v].size - 1)) > ZEROS)
                return 0;
        }
        any = true;
    }
    return any ? ZEROS : 0;
}

/* ---- 6. units ---- */

/* Makes the vector variable's blocks smaller where they are so few that threads would have nothing to do, and each holds a
 * whole reduction that is worth a thread.  Those of a contraction and of a transpose are parts of their code. */
static void choose_vector_block(struct schedule *s, bool sizes_vary)
{
    const struct kernel *k = s->kernel;
    const struct loop_facts *loop = &s->facts->loop;
    int64_t others = 1;

    /* Units of windows follow each other down an image with a line of the cache of each pixel: what they share stays in L1. */
    s->tile.window.outer = s->tiled && s->tile.window.lines > 1 && s->tile.blocks.bytes.a == KEXPR_NONE &&
                           !k->macro_tile_vars && kernel_find_bounded(k) == KEXPR_NONE;
    if (s->tile.window.outer)
        for (s->vector_block = (int64_t)s->lanes * s->tile.vectors;
             s->vector_block * (int64_t)sizeof(float) < TARGET_LINE_BYTES;)
            s->vector_block *= 2;
    if (!vector_is(s, KVAR_PARALLEL) || s->tiled || s->transpose.var != KEXPR_NONE || !k->reduced_count)
        return;
    for (uint32_t i = 0; i < k->parallel_count; i++)
        others *= i == s->vector_var ? 1 : k->vars[i].size;
    const int64_t size = k->vars[s->vector_var].size, least = (int64_t)s->lanes * s->vectors * s->wide_vectors;
    const int64_t few = least > 4 * loop->vector_block_least ? least : 4 * loop->vector_block_least;
    const double all = target_microseconds(s->cost.operations, s->cost.bytes);
    int64_t units = others * ceil_div(size, s->vector_block);
    if (sizes_vary && size <= s->vector_block) { /* one block, whatever the other sizes are */
        s->vector_block = units < loop->units_wanted && few < size ? few : s->vector_block;
        return;
    }
    for (int64_t block = s->vector_block / 2; block >= loop->vector_block_least && block >= least && units < loop->units_wanted;
         block /= 2) {
        const int64_t more = others * ceil_div(size, block);
        if (all / (double)more < s->facts->call.thread_work)
            break;
        if (more > units) { /* else another block would be another structure for nothing */
            s->vector_block = block;
            units = more;
        }
    }
}

static void choose_units(struct schedule *s)
{
    const struct kernel *k = s->kernel;
    const uint32_t bounded = kernel_find_bounded(k);
    /* A macro-tile's units follow each other, and those that count are neighbours if a variable is bounded. */
    const uint32_t fixed = k->macro_tile_vars + (bounded < k->parallel_count);

    while (s->unit_var_count < fixed) {
        s->unit_vars[s->unit_var_count] = s->unit_var_count;
        s->unit_var_count++;
    }
    for (int pass = 0; pass < 2; pass++) /* first, hence slowest: what a B that exceeds the cache depends on */
        for (uint32_t i = fixed; i < k->parallel_count; i++)
            if (i != s->vector_var && i != s->transpose.var && !(s->tiled && i == s->tile.m_var) &&
                pass == !(s->tile.b_outer && tile_is_b_var(s, i)))
                s->unit_vars[s->unit_var_count++] = i;
    bool moved = s->tile.blocks.bytes.a != KEXPR_NONE; /* whose sums of columns depend on it, too */
    for (uint32_t i = 1; i < s->unit_var_count; i++)
        moved |= s->unit_vars[i] < s->unit_vars[i - 1];
    s->tile.b_outer &= moved; /* else nothing follows from it */

    s->units = 1;
    for (uint32_t i = 0; i < k->parallel_count; i++)
        s->units *= i == s->vector_var               ? ceil_div(k->vars[i].size, s->vector_block)
                    : s->tiled && i == s->tile.m_var ? ceil_div(ceil_div(k->vars[i].size, s->tile.mr), s->tile.m_tiles)
                    : tile_has_lines(s, i)           ? ceil_div(k->vars[i].size, s->tile.window.lines)
                                                     : k->vars[i].size;
}

/* ---- all of it ---- */

static bool schedule_stages(struct schedule *s, const struct target *t)
{
    const struct kernel *k = s->kernel;
    int64_t own = 0;

    s->stages = arena_array(&s->arena, k->stage_count + 1, sizeof *s->stages);
    if (!s->stages)
        return false;
    for (uint32_t i = 0; i < k->stage_count; i++) {
        s->stages[i] = schedule_cpu(k->stages[i].kernel, t);
        if (!s->stages[i])
            return false;
        own = s->stages[i]->scratch_bytes > own ? s->stages[i]->scratch_bytes : own;
    }
    s->scratch_bytes = kernel_locals_bytes(k) + target_align(own);
    s->units = kernel_macro_tiles(k->stages[0].kernel);
    return true;
}

/* Returns whether a size is one of the few that code is made for where sizes vary: such as the rows of a macro-tile, while any
 * number of keys may be a multiple of a vector. */
static bool is_common_size(const struct schedule *s, int64_t size)
{
    return size <= s->facts->loop.common_most && (size & (size - 1)) == 0;
}

static bool schedule_loops(struct schedule *s, const struct target *t)
{
    const struct kernel *k = s->kernel;

    s->exprs = arena_array(&s->arena, k->expr_count + 1, sizeof *s->exprs);
    s->var_lanes = arena_array(&s->arena, k->var_count + 1, sizeof *s->var_lanes);
    if (!s->exprs || !s->var_lanes)
        return false;
    for (uint32_t i = 0; i < k->expr_count; i++)
        s->exprs[i] = (struct schedule_expr){.phase = k->exprs[i].phase, .row_buffer = -1};
    choose_vector_var(s, &t->isa);
    if (!choose_row_buffers(s) || !tile_find(s, t) || !short_rows_choose(s, &t->isa))
        return false;
    s->scratch_bytes = s->row_buffers.bytes;
    transpose_choose(s);
    if (!choose_loops(s, &t->isa))
        return false;
    s->edges.zeros = choose_zeros(s);
    /* What the lowering chose is whole vectors; other numbers are the graph's, and many graphs differ in nothing else. */
    s->fixed_size = kernel_sizes_are_chosen(k) && s->vector_var != KEXPR_NONE && k->vars[s->vector_var].size % s->lanes == 0 &&
                    (!t->sizes_vary || is_common_size(s, k->vars[s->vector_var].size)) &&
                    !((t->sizes_vary || k->parallel_count == k->macro_tile_vars) && vector_is(s, KVAR_REDUCED) &&
                      find_contraction(k) == KEXPR_NONE);
    if (s->tiled && !tile_choose(s, t))
        return false;
    choose_vector_block(s, t->sizes_vary);
    choose_units(s);
    return true;
}

struct schedule *schedule_cpu(const struct kernel *k, const struct target *t)
{
    struct schedule *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->kernel = k;
    s->vector_var = s->transpose.var = KEXPR_NONE;
    s->tile.m_var = s->tile.split = s->tile.prefetch_var = KEXPR_NONE;
    s->tile.blocks.factor = s->tile.blocks.unscaled = s->tile.blocks.bytes.a = KEXPR_NONE;
    s->facts = target_facts(t);
    s->vector_block = s->facts->loop.vector_block;
    s->cost = kernel_cost(k, s->facts);
    if ((k->stage_count ? schedule_stages(s, t) : schedule_loops(s, t)) && schedule_list_numbers(s)) {
        if (s->tiled && s->tile.blocks.bytes.a != KEXPR_NONE)
            s->cost.operations -= cost_of_operands(k, s->facts);
        return s;
    }
    schedule_free(s);
    return NULL;
}

void schedule_free(struct schedule *s)
{
    if (!s)
        return;
    for (struct schedule **stage = s->stages; stage && *stage; stage++) /* the kernel may be gone */
        schedule_free(*stage);
    arena_free(&s->arena);
    free(s);
}
