/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports TopK: rows are cut into blocks, and only the blocks with the k largest maxima are looked at.
 *
 * An element among the k first of its row is in one of the k blocks that come first by their maxima, those with equal maxima
 * in their order in the row: each of the others has an element that comes before it.  The elements of these blocks, in their
 * order, are the next row, until few are left, which are sorted by counting what comes before each.  Rows that remain long are
 * sorted by a network of comparisons instead.  Blocks may have one element: then the k first are known before they are sorted.
 * What "first" means is largest or smallest; comments speak of the largest.
 */
#include <math.h>

#include "frontend/readers/onnx/control_loop.h"
#include "frontend/readers/onnx/compose.h"

enum {
    CUTS_MAX = 3,      /* a fourth cut is more kernels than comparisons saved, for any size */
    BLOCK_AT_ONCE = 8, /* blocks from this size on are loaded by vectors, where that is possible */
    LANES = 16,        /* so many adjacent rows fill a vector */
    DIGITS = 32,       /* of a float32 */
    EXPONENTS = 512,   /* its signs with their exponents */
    PIECE = 16384,     /* so many elements with their places, before a stage and after it, fit a core's cache */
    MANY = 16 * PIECE  /* more elements of interleaved rows would come from memory in every stage */
};

/**
 * Describes candidates, in the order of their row.  Rows are interleaved, so that vectors compare elements of many rows where
 * there are many; only the operand itself may have contiguous rows.
 */
struct candidates {
    WNNOperand values;           /* [count, rows], or [rows, count] if by_rows */
    WNNOperand places[CUTS_MAX]; /* of each cut, the indices in what was cut of what is left, int32 [count, rows] */
    unsigned cuts;
    uint32_t rows, count, k;
    bool by_rows, largest;
    bool has_digits; /* find_by_digits may be used */
};

/* ---- how rows are cut ---- */

/* These are what things cost, in comparisons of the maxima of a row. */
#define SORTED_COMPARISON 2.1  /* two comparisons of each pair, and a little more */
#define CUT_COST 30e3          /* starting about nine kernels, once for all rows */
#define ROW_COST 2e3           /* what they do for each row, however short it is */
#define BLOCK_COST 100         /* work for each block other than comparing it */
#define ELEMENT_COST 8         /* finding maxima */
#define REST_COST 20           /* the same where blocks leave a rest: they are copied out of the rows first */
#define CANDIDATE_COST 40      /* gathering an element */
#define DIGIT_COST 2e3         /* starting the kernels of an iteration of find_by_digits, once for all rows */
#define DIGIT_ELEMENT_COST 1.5 /* comparing an element in it */
#define EXCHANGE_COST 15       /* putting two elements of a network in order */
#define MOVED_COST 65          /* what transposing elements of few rows adds to that */
#define EXCHANGES_COST 12e3    /* starting the kernel of a stage of it, once for all rows */

/* Returns what it costs to find the k-th of so many numbers of each row, and whether that is done digit by digit (find_kth). */
static double plan_kth(const struct candidates *c, uint32_t count, bool *by_digits)
{
    const double all = (double)count * count;
    const double digits = c->has_digits ? DIGITS * (DIGIT_COST / c->rows + DIGIT_ELEMENT_COST * (double)count) : INFINITY;

    *by_digits = digits < all;
    return fmin(digits, all);
}

/* Returns the stages of a network that sorts so many elements: 1 + 2 + ... for each doubling. */
static double network_stages(uint32_t count)
{
    const double doublings = ceil(log2(count));

    return doublings * (doublings + 1) / 2;
}

/* Returns what it costs to sort a row, and whether a network does it. */
static double plan_sort(uint32_t rows, uint32_t count, bool *by_network)
{
    const double counting = SORTED_COMPARISON * (double)count * count;
    const double exchange = rows < LANES ? EXCHANGE_COST + MOVED_COST : EXCHANGE_COST;
    const double network = network_stages(count) * (exchange / 2 * exp2(ceil(log2(count))) + EXCHANGES_COST / rows);

    *by_network = network < counting;
    return *by_network ? network : counting;
}

/*
 * Returns what it costs to find the first ones of a row with at most `cuts` cuts, and in *block the size of the blocks of the
 * first cut, or 0 if sorting at once costs least.
 */
static double plan_cuts(const struct candidates *c, uint32_t count, unsigned cuts, uint32_t *block)
{
    const uint32_t rows = c->rows, k = c->k;
    bool either;
    double best = plan_sort(rows, count, &either);
    uint32_t ignored;

    *block = 0;
    for (uint32_t power = 1; cuts && power * k < count; power *= 2)
        for (uint32_t size = power; size < 2 * power && size * k < count; size += power > 1 ? power / 2 : 1) {
            const uint32_t blocks = count / size, left = k * size + count % size;
            double cost =
                plan_kth(c, blocks, &either) + CUT_COST / rows + ROW_COST + BLOCK_COST * blocks + CANDIDATE_COST * (double)left;
            cost += (count % size ? REST_COST : ELEMENT_COST) * (double)count;
            if (left < count && cost < best)
                cost += plan_cuts(c, left, cuts - 1, &ignored);
            if (left < count && cost < best) {
                best = cost;
                *block = size;
            }
        }
    return best;
}

/* Returns whether steps may be the iterations of a loop, which the reader cannot compute. */
static bool may_loop(const struct onnx_node *n)
{
    return control_may_begin(n) && !n->is_static;
}

static bool is_float(WNNOperand x)
{
    const WNNOperandDataType type = wnnOperandGetDataType(x);

    return type == WNNOperandDataType_Float32 || type == WNNOperandDataType_Float16;
}

/* ---- comparisons ---- */

typedef WNNOperand (*comparison)(struct onnx_node *, WNNOperand, WNNOperand);

/* Returns what tells whether its first operand comes before its second one. */
static comparison comes_before(const struct candidates *c)
{
    return c->largest ? onnx_greater : onnx_lesser;
}

/* Returns how many of `all`, [count, rows], come before each of x, [some, rows], as int32 [some, rows]. */
static WNNOperand count_before(struct onnx_node *n, comparison before, WNNOperand x, WNNOperand all)
{
    const uint32_t some = onnx_dims_of(n, x).at[0], count = onnx_dims_of(n, all).at[0], rows = onnx_dims_of(n, x).at[1];

    x = onnx_reshape(n, x, 3, (uint32_t[]){some, 1, rows});
    all = onnx_reshape(n, all, 3, (uint32_t[]){1, count, rows});
    WNNOperand flags = onnx_cast(n, before(n, all, x), WNNOperandDataType_Int32);
    return onnx_reshape(n, onnx_reduce_axis(n, wnnGraphBuilderReduceSum, flags, 1), 2, (uint32_t[]){some, rows});
}

/* Returns the number of set flags in front of each element of a row. */
static WNNOperand count_in_front(struct onnx_node *n, WNNOperand flags)
{
    return onnx_sum_before(n, onnx_cast(n, flags, WNNOperandDataType_Int32));
}

/* Returns the k first of the numbers 0, 1, ... ordered by their places in each row, int32 [count, rows]; as [k, rows]. */
static WNNOperand invert(struct onnx_node *n, const struct candidates *c, WNNOperand places)
{
    const struct onnx_dims dims = onnx_dims_of(n, places);
    const WNNOperand each = onnx_expand(n, onnx_iota(n, WNNOperandDataType_Int32, 2, 0, dims.at[0]), dims);

    return onnx_slice_axis(n, onnx_scatter_elements(n, each, places, each, 0), 0, 0, c->k);
}

/* ---- the number at a place ---- */

/* Returns the first number of each row of x, [count, rows], as [1, rows]. */
static WNNOperand first_of(struct onnx_node *n, const struct candidates *c, WNNOperand x)
{
    return onnx_reduce_axis(n, c->largest ? wnnGraphBuilderReduceMax : wnnGraphBuilderReduceMin, x, 0);
}

/* Returns x, [count, rows], without NaN: those count as the first one of their row. */
static WNNOperand ordered_keys(struct onnx_node *n, const struct candidates *c, WNNOperand x)
{
    WNNOperand missing, numbers;

    if (!is_float(x))
        return x;
    missing = wnnGraphBuilderIsNaN(n->builder, x, n->options);
    numbers = onnx_where(n, missing, onnx_scalar_like(n, x, c->largest ? -INFINITY : INFINITY), x);
    return onnx_where(n, missing, first_of(n, c, numbers), numbers);
}

/* Returns scale * (base + fraction): a float32 by its sign and exponent, as int32, and its other digits. */
static WNNOperand join_digits(struct onnx_node *n, WNNOperand scales, WNNOperand exponent, WNNOperand fraction)
{
    WNNOperand base = onnx_linear(n, onnx_cast(n, exponent, WNNOperandDataType_Float32), 1, -EXPONENTS / 2);

    base = onnx_clamp(n, base, -2, 1); /* -1 and 0 for numbers so small that their first digit is 0 */
    return onnx_mul(n, onnx_gather(n, scales, exponent, 0), onnx_add(n, base, fraction));
}

/*
 * Returns the k-th number of each row of floats x, [count, rows], as [1, rows], digit by digit of its binary form.  Each
 * iteration of a loop tries the next digit: it is set if the number with it is not beyond the k-th one.
 */
static WNNOperand find_by_digits(struct onnx_node *n, const struct candidates *c, WNNOperand x)
{
    enum { FIRST = 9, LARGEST = 255 }; /* digits of sign and exponent; the largest exponent, that of infinity */
    static const uint32_t swap[] = {1, 0}, digits[] = {DIGITS}, exponents[] = {EXPONENTS};
    const WNNOperandDataType type = wnnOperandGetDataType(x), f32 = WNNOperandDataType_Float32, i32 = WNNOperandDataType_Int32;
    const uint32_t axis = c->rows < LANES ? 1 : 0; /* along which elements of a row lie */
    const struct onnx_dims dims = {2, {axis ? c->rows : 1, axis ? 1 : c->rows}};
    int32_t steps[DIGITS] = {0};
    float scales[EXPONENTS], fractions[DIGITS] = {0};
    WNNOperand carried[2], in[4], next[2], scale, limit, set;
    WNNLoopSlices slices[2] = {{NULL, 0, false}, {NULL, 0, false}};
    const struct control_iterations t = {DIGITS, 2, 2, 0, carried, in, next, carried, slices, NULL};

    for (int i = 0; i < DIGITS; i++)
        if (i < FIRST)
            steps[i] = EXPONENTS / 2 >> i;
        else
            fractions[i] = ldexpf(1, FIRST - 1 - i);
    for (int i = 0; i < EXPONENTS; i++) { /* from -infinity to infinity */
        const int exponent = i <= LARGEST ? LARGEST - i : i - LARGEST - 1;
        scales[i] = ldexpf(1, (exponent ? exponent : 1) - 127);
    }
    x = onnx_cast(n, axis ? onnx_transpose(n, x, 2, swap) : x, f32);
    scale = onnx_constant_operand(n, f32, 1, exponents, scales);
    slices[0].operand = onnx_constant_operand(n, i32, 1, digits, steps);
    slices[1].operand = onnx_constant_operand(n, f32, 1, digits, fractions);
    carried[0] = onnx_expand(n, onnx_scalar(n, i32, 0), dims);
    carried[1] = onnx_expand(n, onnx_scalar(n, f32, 0), dims);
    if (!control_begin(n, &t))
        return onnx_error_operand(n);
    for (unsigned i = 0; i < 2; i++)
        next[i] = onnx_add(n, in[i], in[2 + i]);
    limit = join_digits(n, scale, next[0], next[1]);
    set = onnx_lesser(n, x, limit);
    set = onnx_reduce_axis(n, wnnGraphBuilderReduceSum, onnx_cast(n, c->largest ? onnx_not(n, set) : set, i32), axis);
    set = onnx_lesser(n, set, onnx_scalar(n, i32, c->k));
    set = c->largest ? onnx_not(n, set) : set;
    for (unsigned i = 0; i < 2; i++)
        next[i] = onnx_where(n, set, next[i], in[i]);
    if (!control_end(n, &t, true))
        return onnx_error_operand(n);
    return onnx_cast(n, onnx_reshape(n, join_digits(n, scale, carried[0], carried[1]), 2, (uint32_t[]){1, c->rows}), type);
}

/* Returns the k-th number of each row of x, [count, rows], as [1, rows]. */
static WNNOperand find_kth(struct onnx_node *n, const struct candidates *c, WNNOperand x)
{
    bool by_digits;

    plan_kth(c, onnx_dims_of(n, x).at[0], &by_digits);
    if (by_digits)
        return find_by_digits(n, c, x);
    /* It is the last of those before which fewer than k come; the first one is among them in any case. */
    WNNOperand among = onnx_lesser(n, count_before(n, comes_before(c), x, x), onnx_scalar(n, WNNOperandDataType_Int32, c->k));
    return onnx_reduce_axis(n, c->largest ? wnnGraphBuilderReduceMin : wnnGraphBuilderReduceMax,
                            onnx_where(n, among, x, first_of(n, c, x)), 0);
}

/* ---- cuts ---- */

/*
 * Returns the indices of the k first numbers of each row of x, [blocks, rows], in the order of the row, as int32 [k, rows].  Of
 * those that equal the k-th one the first ones are taken.
 */
static WNNOperand choose_blocks(struct onnx_node *n, const struct candidates *c, WNNOperand x)
{
    const WNNOperand k = onnx_scalar(n, WNNOperandDataType_Int32, c->k), bound = find_kth(n, c, x);
    const WNNOperand above = comes_before(c)(n, x, bound), equal = onnx_equal(n, x, bound);
    const uint32_t count = onnx_dims_of(n, x).at[0];
    WNNOperand taken, order, others;

    taken = onnx_add(n, count_in_front(n, equal),
                     onnx_reduce_axis(n, wnnGraphBuilderReduceSum, onnx_cast(n, above, WNNOperandDataType_Int32), 0));
    taken = onnx_or(n, above, onnx_and(n, equal, onnx_lesser(n, taken, k)));
    /* Those taken go first, the others after them. */
    order = count_in_front(n, taken);
    others = onnx_add(n, onnx_sub(n, onnx_iota(n, WNNOperandDataType_Int32, 2, 0, count), order), k);
    return invert(n, c, onnx_where(n, taken, order, others));
}

/*
 * Returns the first element of each block, [blocks, rows].  Of two to four neighbours each at a time: vectors hold whole ones
 * of those (docs/elementwise.md).
 */
static WNNOperand find_maxima(struct onnx_node *n, const struct candidates *c, uint32_t size)
{
    static const uint32_t swap[] = {1, 0};
    const onnx_reduction first = c->largest ? wnnGraphBuilderReduceMax : wnnGraphBuilderReduceMin;
    const uint32_t whole = c->count / size * size;
    WNNOperand x = c->values;

    if (!c->by_rows && c->rows > 1) {
        x = onnx_reshape(n, onnx_slice_axis(n, x, 0, 0, whole), 3, (uint32_t[]){whole / size, size, c->rows});
        return onnx_reshape(n, onnx_reduce_axis(n, first, x, 1), 2, (uint32_t[]){whole / size, c->rows});
    }
    x = onnx_slice_axis(n, onnx_reshape(n, x, 2, (uint32_t[]){c->rows, c->count}), 1, 0, whole);
    for (uint32_t part, left = whole; size > 1; size /= part) {
        part = size % 4 == 0 ? 4 : size % 3 == 0 ? 3 : 2;
        left /= part;
        x = onnx_reduce_axis(n, first, onnx_reshape(n, x, 3, (uint32_t[]){c->rows, left, part}), 2);
        x = onnx_reshape(n, x, 2, (uint32_t[]){c->rows, left});
    }
    return onnx_transpose(n, x, 2, swap);
}

/* Returns the elements at these places of rows, int32 [count, rows], as [count, rows]. */
static WNNOperand gather_places(struct onnx_node *n, const struct candidates *c, WNNOperand x, bool by_rows, WNNOperand places)
{
    const WNNOperand rows = onnx_iota(n, WNNOperandDataType_Int32, 2, 1, c->rows);
    const WNNOperand stride = onnx_scalar(n, WNNOperandDataType_Int32, by_rows ? c->count : c->rows);

    places = by_rows ? onnx_add(n, places, onnx_mul(n, rows, stride)) : onnx_add(n, onnx_mul(n, places, stride), rows);
    x = onnx_reshape(n, x, 1, (uint32_t[]){c->rows * c->count});
    return onnx_gather(n, x, places, 0);
}

/* Returns blocks, int32 [k, 1], of a single row that is all blocks, as [k * size, 1]. */
static WNNOperand gather_blocks(struct onnx_node *n, const struct candidates *c, WNNOperand x, WNNOperand blocks, uint32_t size)
{
    x = onnx_reshape(n, x, 2, (uint32_t[]){c->count / size, size});
    x = onnx_gather(n, x, onnx_reshape(n, blocks, 1, (uint32_t[]){c->k}), 0);
    return onnx_reshape(n, x, 2, (uint32_t[]){c->k * size, 1});
}

/* Returns the indices among the candidates of the elements of blocks, int32 [k, rows], and of those that no block has. */
static WNNOperand places_of(struct onnx_node *n, const struct candidates *c, WNNOperand blocks, uint32_t size)
{
    const uint32_t whole = c->count / size * size, rest = c->count % size;
    WNNOperand parts[2];

    parts[0] = onnx_mul(n, blocks, onnx_scalar(n, WNNOperandDataType_Int32, size));
    parts[0] = onnx_add(n, onnx_reshape(n, parts[0], 3, (uint32_t[]){c->k, 1, c->rows}),
                        onnx_iota(n, WNNOperandDataType_Int32, 3, 1, size));
    parts[0] = onnx_reshape(n, parts[0], 2, (uint32_t[]){c->k * size, c->rows});
    if (rest) {
        parts[1] = onnx_scalar(n, WNNOperandDataType_Int32, whole);
        parts[1] = onnx_add(n, onnx_iota(n, WNNOperandDataType_Int32, 2, 0, rest), parts[1]);
        parts[1] = onnx_expand(n, parts[1], (struct onnx_dims){2, {rest, c->rows}});
    }
    return onnx_concat(n, rest ? 2 : 1, parts, 0);
}

/* Leaves the candidates of the k blocks of that size whose maxima come first. */
static void cut(struct onnx_node *n, struct candidates *c, uint32_t size)
{
    const WNNOperand maxima = ordered_keys(n, c, find_maxima(n, c, size)), blocks = choose_blocks(n, c, maxima);
    const WNNOperand places = places_of(n, c, blocks, size);
    const bool at_once = c->rows == 1 && c->count % size == 0 && size >= BLOCK_AT_ONCE;

    c->values = at_once ? gather_blocks(n, c, c->values, blocks, size) : gather_places(n, c, c->values, c->by_rows, places);
    c->places[c->cuts++] = places;
    c->by_rows = false;
    c->count = c->k * size + c->count % size;
}

/* ---- sorting ---- */

/*
 * Returns how many elements of its row come before each element: those that are larger, and of equal ones those with a lower
 * index.  As many larger ones as an element has, together with its index, are a number of its own.
 */
static WNNOperand rank_elements(struct onnx_node *n, const struct candidates *c)
{
    WNNOperand order = count_before(n, comes_before(c), c->values, c->values);

    order = onnx_mul(n, order, onnx_scalar(n, WNNOperandDataType_Int32, c->count));
    order = onnx_add(n, order, onnx_iota(n, WNNOperandDataType_Int32, 2, 0, c->count));
    return count_before(n, onnx_lesser, order, order);
}

/* ---- a network ---- */

/*
 * The elements that a network sorts: keys, and their places in the row, which decide between equal keys.
 *
 * Stages whose strides are shorter than a piece are computed piece by piece, in a loop: a piece stays in the cache for all of
 * them, and only the other stages read all elements.  A piece may lie as a matrix [high, low] that is transposed.
 */
struct network {
    WNNOperand keys, places;
    comparison before;
    uint32_t piece, low, high;
    uint32_t iterations, share;       /* of the loop, and what each takes: one piece, or several short rows */
    uint32_t side;                    /* so many rows are interleaved */
    uint32_t count;                   /* places of what the next stage sees: all, or in the loop its share */
    bool inside, columns, transposed; /* in the loop; the matrices are transposed; the last step transposed them */
};

/* Transposes the matrices, or transposes them back. */
static void transpose(struct onnx_node *n, struct network *x, bool columns)
{
    static const uint32_t order[] = {0, 2, 1};
    const uint32_t dims[] = {x->count / x->piece, columns ? x->high : x->low, columns ? x->low : x->high};

    if (columns == x->columns)
        return;
    x->keys = onnx_transpose(n, onnx_reshape(n, x->keys, 3, dims), 3, order);
    x->places = onnx_transpose(n, onnx_reshape(n, x->places, 3, dims), 3, order);
    x->columns = columns;
    x->transposed = true;
}

static void move(struct onnx_node *n, struct network *x, bool inside)
{
    const uint32_t dims[] = {x->iterations, x->share};
    WNNOperand *all[] = {&x->keys, &x->places}, operands[2];
    WNNLoopSlices slices[2] = {{NULL, 0, false}, {NULL, 0, false}};
    const struct control_iterations t = {.iterations = x->iterations,
                                         .scanned_count = 2,
                                         .stacked_count = 2,
                                         .parameters = operands,
                                         .outputs = operands,
                                         .scanned = slices,
                                         .stacked = slices};

    if (x->iterations == 1 || inside == x->inside)
        return;
    transpose(n, x, false);
    for (unsigned i = 0; i < 2; i++)
        slices[i].operand = onnx_reshape(n, *all[i], inside ? 2 : 1, inside ? dims : &dims[1]);
    if (!(inside ? control_begin(n, &t) : control_end(n, &t, true)))
        return;
    x->keys = operands[0];
    x->places = operands[1];
    x->count = inside ? x->share : x->iterations * x->share;
    x->inside = inside;
    x->transposed = false;
}

/*
 * Puts elements in order whose places differ by a stride.  If mirrored the second ones are taken backwards: two sorted halves
 * become two of which all of the first come before the second, and each is bitonic.
 *
 * Each element meets its partner, and keeps its place if it comes before that in the first half, or does not in the second one.
 * What swaps the halves is a gather, which the compiler computes in the layout that it is written in, else it would undo the
 * transposes; after a transpose it is a reversal, so that the kernel before can store its result transposed.
 */
static void exchange(struct onnx_node *n, struct network *x, uint32_t stride, bool mirrored)
{
    static const int32_t halves[] = {1, 0};
    const WNNOperand second = onnx_cast(n, onnx_iota(n, WNNOperandDataType_Int32, 4, 1, 2), WNNOperandDataType_Uint8);
    WNNOperand *all[2] = {&x->keys, &x->places}, partner[2], keeps;

    move(n, x, stride < x->piece);
    transpose(n, x, stride < x->low);
    const uint32_t axes[] = {1, 2}, first = x->transposed ? 0 : 1, end = mirrored ? 2 : 1;
    const uint32_t side = x->columns ? x->high : x->side, blocks = x->count * x->side / side / 2 / stride;

    for (unsigned i = 0; i < 2; i++) {
        *all[i] = onnx_reshape(n, *all[i], 4, (uint32_t[]){blocks, 2, stride, side});
        partner[i] = x->transposed ? *all[i] : onnx_gather_constant(n, *all[i], 1, 2, halves);
        if (first < end)
            partner[i] = onnx_reverse(n, partner[i], end - first, axes + first);
    }
    keeps = onnx_and(n, onnx_equal(n, x->keys, partner[0]), onnx_lesser(n, x->places, partner[1]));
    keeps = onnx_or(n, x->before(n, x->keys, partner[0]), keeps);
    keeps = wnnGraphBuilderLogicalXor(n->builder, keeps, second, n->options);
    for (unsigned i = 0; i < 2; i++)
        *all[i] = onnx_where(n, keeps, *all[i], partner[i]);
    x->transposed = false;
}

/*
 * Returns the numbers 0, 1, ... of the k first of [count, rows] in their order, as int32 [k, rows].
 *
 * Runs of sorted elements are merged until one is left (Batcher).  Many rows are interleaved, and vectors compare elements of
 * as many rows.  Few rows lie one after the other: elements of few places' distance lie next to each other, where vectors
 * cannot compare them, and so those stages see a piece of a row as a matrix that is transposed.
 */
static WNNOperand sort_by_network(struct onnx_node *n, const struct candidates *c)
{
    static const uint32_t swap[] = {1, 0};
    const bool few = c->rows < LANES || (may_loop(n) && (double)c->count * c->rows > MANY);
    struct network x = {.keys = ordered_keys(n, c, c->values), .before = comes_before(c), .low = 1, .side = few ? 1 : c->rows};
    uint32_t size = 2;

    while (size < c->count)
        size *= 2;
    x.piece = few && size > PIECE && may_loop(n) ? PIECE : size;
    while (few && x.low * x.low < x.piece)
        x.low *= 2;
    x.high = x.piece / x.low;
    x.count = few ? c->rows * size : size;
    x.share = few && may_loop(n) && x.count > PIECE ? x.piece : x.count;
    while (x.share < PIECE && x.count / x.share % 2 == 0)
        x.share *= 2;
    x.iterations = x.count / x.share;
    x.places = onnx_iota(n, WNNOperandDataType_Int32, 2, 0, c->count);
    x.places = onnx_expand(n, x.places, (struct onnx_dims){2, {c->count, c->rows}});
    if (size > c->count) { /* with what comes last, and has later places */
        const struct onnx_dims none = {2, {0, 0}}, rest = {2, {size - c->count, 0}};

        x.keys = onnx_pad(n, x.keys, none, rest, c->largest ? -INFINITY : INFINITY);
        x.places = onnx_pad(n, x.places, none, rest, c->count);
    }
    if (few) {
        x.keys = onnx_transpose(n, x.keys, 2, swap);
        x.places = onnx_transpose(n, x.places, 2, swap);
    }
    for (uint32_t run = 1; run < size; run *= 2)
        for (uint32_t stride = run; stride; stride /= 2)
            exchange(n, &x, stride, stride == run);
    move(n, &x, false);
    transpose(n, &x, false);
    x.places = onnx_reshape(n, x.places, 2, few ? (uint32_t[]){c->rows, size} : (uint32_t[]){size, c->rows});
    return onnx_slice_axis(n, few ? onnx_transpose(n, x.places, 2, swap) : x.places, 0, 0, c->k);
}

static void select_first(struct onnx_node *n, struct candidates *c)
{
    static const uint32_t swap[] = {1, 0};
    uint32_t block;
    bool by_network;

    while (plan_cuts(c, c->count, CUTS_MAX - c->cuts, &block), block)
        cut(n, c, block);
    if (c->by_rows)
        c->values = onnx_transpose(n, c->values, 2, swap);
    plan_sort(c->rows, c->count, &by_network);
    WNNOperand at = by_network ? sort_by_network(n, c) : invert(n, c, rank_elements(n, c));
    c->values = onnx_gather_elements(n, c->values, at, 0);
    /* What is found says where it was before the last cut, that says where it was before the one before it, and so on. */
    while (c->cuts)
        at = onnx_gather_elements(n, c->places[--c->cuts], at, 0);
    c->places[0] = at;
    c->by_rows = false;
    c->count = c->k;
}

/* ---- the operator ---- */

static bool read_k(struct onnx_node *n, uint32_t count, uint32_t *result)
{
    const int64_t *list;
    size_t numbers = 0;
    int64_t k;

    if (n->version < 10) {
        k = onnx_int(n, "k", 0);
    } else {
        list = onnx_integers(n, 1, &numbers);
        k = list && numbers == 1 ? list[0] : 0;
    }
    if (n->refused)
        return false;
    if (k < 1 || k > count)
        return onnx_refuse(n, "%lld elements of %u", (long long)k, count);
    *result = (uint32_t)k;
    return true;
}

/* Returns results [k, rows] with k along an axis; dims has the other sizes. */
static WNNOperand unflatten(struct onnx_node *n, WNNOperand x, uint32_t k, uint32_t axis, struct onnx_dims dims)
{
    struct onnx_dims first = {dims.rank, {k}};
    uint32_t permutation[ONNX_RANK_MAX];

    for (uint32_t i = 0; i < dims.rank; i++) {
        if (i)
            first.at[i] = dims.at[i <= axis ? i - 1 : i];
        permutation[i] = i == axis ? 0 : i < axis ? i + 1 : i;
    }
    return onnx_transpose(n, onnx_reshape_to(n, x, first), dims.rank, permutation);
}

WNNOperand onnx_sort(struct onnx_node *n, WNNOperand x, WNNOperand *places)
{
    const uint32_t count = onnx_dims_of(n, x).at[0];
    struct candidates c = {.values = x, .rows = 1, .count = count, .k = count, .by_rows = true};

    c.values = onnx_reshape(n, x, 2, (uint32_t[]){1, count});
    c.has_digits = is_float(x) && may_loop(n);
    select_first(n, &c);
    *places = onnx_reshape(n, c.places[0], 1, &count);
    return onnx_reshape(n, c.values, 1, &count);
}

bool onnx_import_top_k(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0);
    struct candidates c = {.largest = onnx_int(n, "largest", 1) != 0};
    const int64_t along = onnx_int(n, "axis", -1);
    struct onnx_dims dims = onnx_dims_of(n, x);
    uint32_t permutation[ONNX_RANK_MAX], axis;

    onnx_ignore(n, "sorted"); /* in order is right in any case */
    if (n->refused || !onnx_axis(n, along, dims.rank, &axis))
        return false;
    /* Rows along the last axis are contiguous, those along any other become interleaved. */
    c.by_rows = axis + 1 == dims.rank;
    for (uint32_t i = 0; i < dims.rank; i++)
        permutation[i] = i == 0 ? axis : i <= axis ? i - 1 : i;
    if (!c.by_rows)
        x = onnx_transpose(n, x, dims.rank, permutation);
    c.count = dims.at[axis];
    dims.at[axis] = 1;
    c.rows = onnx_dims_product(n, &dims, 0, dims.rank);
    c.values = onnx_reshape(n, x, 2, c.by_rows ? (uint32_t[]){c.rows, c.count} : (uint32_t[]){c.count, c.rows});
    if (!read_k(n, c.count, &c.k))
        return false;
    c.has_digits = is_float(x) && may_loop(n);
    select_first(n, &c);
    onnx_output(n, 1, unflatten(n, onnx_cast(n, c.places[0], WNNOperandDataType_Int64), c.k, axis, dims));
    return onnx_output(n, 0, unflatten(n, c.values, c.k, axis, dims));
}
