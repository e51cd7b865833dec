/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes operators that move elements and compute nothing: they copy bytes, so that every type and every NaN passes
 * unchanged.  Bounds move the same way, as a second tensor of doubles.
 */
#include "ir/interpret/interpret.h"

enum { TILE = 64 }; /* rows and columns that are copied together: what they touch stays in the cache */

/** This is a matrix in two views: 0 is written, 1 is read.  Strides are in elements. */
struct matrix {
    int64_t rows, columns, row_strides[2], column_strides[2];
};

/** Copies tile by tile what one view has as rows and the other as columns; the caller's size is a constant, so that an element
 * is one move. */
static inline void copy_tiles(char *to, const char *from, const struct matrix *m, int64_t size)
{
    const int64_t to_row = m->row_strides[0], from_column = m->column_strides[1];

    for (int64_t i = 0; i < m->rows; i += TILE)
        for (int64_t j = 0; j < m->columns; j += TILE)
            for (int64_t r = i; r < m->rows && r < i + TILE; r++)
                for (int64_t c = j; c < m->columns && c < j + TILE; c++)
                    memcpy(to + (r * to_row + c) * size, from + (r + c * from_column) * size, (size_t)size);
}

/**
 * Copies a matrix.  Where its rows are the other's columns, as in weights of a language model, each element along a column
 * would be in another line of the cache.
 */
static void copy_matrix(char *to, const char *from, const struct matrix *m, int64_t size)
{
    if (m->column_strides[0] == 1 && m->column_strides[1] == 1) {
        for (int64_t r = 0; r < m->rows; r++)
            memcpy(to + r * m->row_strides[0] * size, from + r * m->row_strides[1] * size, (size_t)(m->columns * size));
    } else if (m->column_strides[0] == 1 && m->row_strides[1] == 1) {
        switch (size) {
        case 1:
            copy_tiles(to, from, m, 1);
            break;
        case 2:
            copy_tiles(to, from, m, 2);
            break;
        case 4:
            copy_tiles(to, from, m, 4);
            break;
        default:
            copy_tiles(to, from, m, 8);
        }
    } else {
        for (int64_t r = 0; r < m->rows; r++)
            for (int64_t c = 0; c < m->columns; c++)
                interpret_copy(to + (r * m->row_strides[0] + c * m->column_strides[0]) * size,
                               from + (r * m->row_strides[1] + c * m->column_strides[1]) * size, (size_t)size);
    }
}

/**
 * Makes a walk over panels of rows, as weights are packed, visit TILE rows of all panels before the next ones: rows of the
 * source that all panels have a part of lie in more pages than a processor knows at a time.
 */
static void walk_near(struct walk *w)
{
    const uint32_t panels = w->rank - 3, rows = panels + 1, last = rows + 1;
    int64_t tile = TILE;

    if (w->rank < 3 || w->rank == WALK_RANK_MAX || w->strides[1][rows] <= w->strides[1][panels] || w->strides[1][last] != 1)
        return;
    while (w->dims[rows] % tile)
        tile--;
    w->dims[last + 1] = w->dims[last];
    w->dims[last] = tile;
    const int64_t tiles = w->dims[rows] / tile;
    w->dims[rows] = w->dims[panels];
    w->dims[panels] = tiles;
    for (uint32_t v = 0; v < w->views; v++) {
        int64_t *strides = w->strides[v], row = strides[rows];

        strides[last + 1] = strides[last];
        strides[last] = row;
        strides[rows] = strides[panels];
        strides[panels] = row * tile;
    }
    w->rank++;
}

/** Copies view 1 (operand `slot`) into view 0 (result r), in elements, and the bounds with them.  Returns true. */
static bool copy_walk(struct interpretation *t, uint32_t r, uint32_t slot, struct walk *w)
{
    const struct interpret_input *in = &t->inputs[slot];
    const struct interpret_result *out = &t->results[r];
    const int64_t size = (int64_t)dtype_size(out->type->type);
    struct matrix m = {.rows = 1};

    walk_simplify(w);
    walk_near(w);
    const uint32_t last = w->rank - 1;
    m.columns = w->dims[last];
    for (uint32_t v = 0; v < 2; v++)
        m.column_strides[v] = w->strides[v][last];
    if (last) {
        m.rows = w->dims[last - 1];
        for (uint32_t v = 0; v < 2; v++)
            m.row_strides[v] = w->strides[v][last - 1];
        w->rank = last; /* so that it goes from matrix to matrix */
    }
    do {
        copy_matrix((char *)out->data + w->offset[0] * size, (const char *)in->data + w->offset[1] * size, &m, size);
        for (int64_t k = 0; out->bound && k < m.rows * m.columns; k++) {
            const int64_t row = k / m.columns, column = k % m.columns;
            const int64_t from = w->offset[1] + row * m.row_strides[1] + column * m.column_strides[1];

            out->bound[w->offset[0] + row * m.row_strides[0] + column * m.column_strides[0]] = in->bound ? in->bound[from] : 0;
        }
    } while (walk_next(w));
    return true;
}

/** Walks the dimensions of type, with both views dense over it. */
static void walk_over(struct walk *w, const struct tensor_type *type)
{
    memset(w, 0, sizeof *w);
    w->rank = type->rank;
    w->views = 2;
    for (uint32_t d = 0; d < type->rank; d++)
        w->dims[d] = type->dims[d];
    type_strides(type, w->strides[0]);
    type_strides(type, w->strides[1]);
}

bool interpret_reshape(struct interpretation *t)
{
    struct walk w;

    walk_over(&w, t->results[0].type);
    return copy_walk(t, 0, 0, &w);
}

bool interpret_expand(struct interpretation *t)
{
    struct walk w;

    walk_over(&w, t->results[0].type);
    walk_broadcast(&w, 1, t->inputs[0].type);
    return copy_walk(t, 0, 0, &w);
}

bool interpret_transpose(struct interpretation *t)
{
    const WNNTransposeOptions *o = t->node->options;
    int64_t strides[RANK_MAX];
    struct walk w;

    walk_over(&w, t->results[0].type);
    type_strides(t->inputs[0].type, strides);
    for (uint32_t d = 0; d < w.rank; d++)
        w.strides[1][d] = strides[o->permutation[d]];
    return copy_walk(t, 0, 0, &w);
}

bool interpret_slice(struct interpretation *t)
{
    const WNNSliceOptions *o = t->node->options;
    struct walk w;

    walk_over(&w, t->results[0].type);
    type_strides(t->inputs[0].type, w.strides[1]);
    for (uint32_t d = 0; d < w.rank; d++) {
        w.offset[1] += t->node->args.slice.starts[d] * w.strides[1][d];
        w.strides[1][d] *= o->strides[d];
    }
    return copy_walk(t, 0, 0, &w);
}

bool interpret_reverse(struct interpretation *t)
{
    const WNNReverseOptions *o = t->node->options;
    struct walk w;

    walk_over(&w, t->results[0].type);
    for (size_t i = 0; i < o->axesCount; i++) {
        uint32_t d = o->axes[i];
        w.offset[1] += (w.dims[d] - 1) * w.strides[1][d];
        w.strides[1][d] = -w.strides[1][d];
    }
    return copy_walk(t, 0, 0, &w);
}

/** Copies parts, which are operands or results, to or from where they lie one after the other along an axis. */
static bool copy_parts(struct interpretation *t, uint32_t axis, uint32_t count, bool joins)
{
    int64_t start = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t whole = joins ? 0 : 1; /* the view of all parts */
        struct walk w;
        walk_over(&w, joins ? t->inputs[i].type : t->results[i].type);
        type_strides(joins ? t->results[0].type : t->inputs[0].type, w.strides[whole]);
        w.offset[whole] = start * w.strides[whole][axis];
        start += w.dims[axis];
        copy_walk(t, joins ? 0 : i, joins ? i : 0, &w);
    }
    return true;
}

bool interpret_concat(struct interpretation *t)
{
    return copy_parts(t, t->node->args.concat.axis, t->node->input_count, true);
}

bool interpret_split(struct interpretation *t)
{
    return copy_parts(t, NODE_OPTIONS(t->node, WNNSplitOptions)->axis, t->node->result_count, false);
}

/** Every dimension is walked as two: repetitions, which do not move the operand, and its own. */
bool interpret_tile(struct interpretation *t)
{
    const struct tensor_type *from = t->inputs[0].type, *to = t->results[0].type;
    int64_t from_strides[RANK_MAX], to_strides[RANK_MAX];
    struct walk w = {.rank = 2 * from->rank, .views = 2};

    type_strides(from, from_strides);
    type_strides(to, to_strides);
    for (uint32_t d = 0; d < from->rank; d++) {
        w.dims[2 * d] = t->node->args.tile.repetitions[d];
        w.dims[2 * d + 1] = from->dims[d];
        w.strides[0][2 * d] = to_strides[d] * from->dims[d];
        w.strides[0][2 * d + 1] = to_strides[d];
        w.strides[1][2 * d] = 0;
        w.strides[1][2 * d + 1] = from_strides[d];
    }
    return copy_walk(t, 0, 0, &w);
}

/** Returns where index i of the padded dimension comes from, or -1 for the padding value. */
static int64_t pad_source(WNNPaddingMode mode, int64_t i, int64_t beginning, int64_t size)
{
    int64_t from = i - beginning;

    if (from >= 0 && from < size)
        return from;
    switch (mode) {
    case WNNPaddingMode_Edge:
        return from < 0 ? 0 : size - 1;
    case WNNPaddingMode_Reflection: /* the edge itself is not repeated; padding is smaller than size */
        return from < 0 ? -from : 2 * (size - 1) - from;
    case WNNPaddingMode_Constant:
    case WNNPaddingMode_Force32:
        break;
    }
    return -1;
}

bool interpret_pad(struct interpretation *t)
{
    const WNNPadOptions *o = t->node->options;
    const struct interpret_input *in = &t->inputs[0];
    const struct interpret_result *out = &t->results[0];
    const size_t size = dtype_size(out->type->type);
    const uint32_t rank = out->type->rank;
    const union scalar value = number_cast(o->value, out->type->type);
    int64_t *sources[RANK_MAX], strides[RANK_MAX], index[RANK_MAX] = {0};

    type_strides(in->type, strides);
    for (uint32_t d = 0; d < rank; d++) {
        sources[d] = interpret_memory(t, out->type->dims[d], sizeof **sources);
        if (!sources[d])
            return false;
        for (int64_t i = 0; i < out->type->dims[d]; i++)
            sources[d][i] = pad_source(o->mode, i, t->node->args.pad.beginningPadding[d], in->type->dims[d]);
    }
    const int64_t n = type_elements(out->type);
    for (int64_t k = 0; k < n; k++) {
        int64_t from = 0;
        bool inside = true;
        for (uint32_t d = 0; d < rank; d++) {
            inside &= sources[d][index[d]] >= 0;
            from += sources[d][index[d]] * strides[d];
        }
        interpret_copy((char *)out->data + (size_t)k * size,
                       inside ? (const char *)in->data + (size_t)from * size : (const char *)&value, size);
        if (out->bound)
            out->bound[k] = inside && in->bound ? in->bound[from] : 0;
        for (uint32_t d = rank; d-- > 0 && ++index[d] == out->type->dims[d];)
            index[d] = 0;
    }
    return true;
}

bool interpret_triangular(struct interpretation *t)
{
    const WNNTriangularOptions *o = t->node->options;
    const struct interpret_input *in = &t->inputs[0];
    const struct interpret_result *out = &t->results[0];
    const size_t size = dtype_size(out->type->type);
    const int64_t columns = out->type->dims[out->type->rank - 1], rows = out->type->dims[out->type->rank - 2];
    const int64_t matrices = type_elements(out->type) / (rows * columns);

    for (int64_t m = 0; m < matrices; m++)
        for (int64_t row = 0; row < rows; row++)
            for (int64_t column = 0; column < columns; column++) {
                int64_t k = (m * rows + row) * columns + column, above = column - row - o->diagonal;
                bool keep = o->upper ? above >= 0 : above <= 0;
                char *to = (char *)out->data + (size_t)k * size;
                if (keep)
                    memcpy(to, (const char *)in->data + (size_t)k * size, size);
                else
                    memset(to, 0, size);
                if (out->bound)
                    out->bound[k] = keep && in->bound ? in->bound[k] : 0;
            }
    return true;
}
