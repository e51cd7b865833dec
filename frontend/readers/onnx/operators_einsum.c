/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports Einsum with operands of any number: diagonals by gather, sums by reduceSum, then one matmul (or mul, if nothing is
 * summed) for each further operand, and a transpose.
 */
#include <string.h>

#include "frontend/readers/onnx/compose.h"

/* Subscripts are letters, and the dimensions under an ellipsis, counted from the right. */
enum { LETTERS = 52, SUBSCRIPTS = LETTERS + ONNX_RANK_MAX };

/* Holds an operand or intermediate result, with the subscript of every dimension. */
struct term {
    WNNOperand operand;
    size_t rank;
    int subscripts[ONNX_RANK_MAX];
};

struct einsum {
    uint32_t sizes[SUBSCRIPTS];
    size_t output_rank;
    int output[ONNX_RANK_MAX];
    size_t ellipsis; /* the most dimensions under one */
};

static bool holds(size_t count, const int *subscripts, int s)
{
    for (size_t i = 0; i < count; i++)
        if (subscripts[i] == s)
            return true;
    return false;
}

/* ---- the equation ---- */

static int subscript_of(char c)
{
    return c >= 'a' && c <= 'z' ? c - 'a' + 26 : c >= 'A' && c <= 'Z' ? c - 'A' : -1; /* in alphabetical order */
}

/*
 * Reads one term from text up to end.  `ellipsis` says how many dimensions one stands for here.  Spaces mean nothing.
 */
static bool read_term(struct onnx_node *n, const char *text, const char *end, size_t ellipsis, struct term *t)
{
    bool seen = false;

    t->rank = 0;
    for (; text < end; text++) {
        size_t add = 1;
        int first = subscript_of(*text);
        if (*text == ' ')
            continue;
        if (*text == '.' && end - text >= 3 && text[1] == '.' && text[2] == '.' && !seen) {
            seen = true;
            text += 2;
            add = ellipsis;
            first = SUBSCRIPTS - (int)ellipsis;
        } else if (first < 0)
            return onnx_refuse(n, "its equation has an unexpected character with code %d", (unsigned char)*text);
        if (t->rank + add > ONNX_RANK_MAX)
            return onnx_refuse(n, "a term of its equation has more than %d dimensions", ONNX_RANK_MAX);
        for (size_t i = 0; i < add; i++)
            t->subscripts[t->rank++] = first + (int)i;
    }
    return true;
}

static size_t count_letters(const char *text, const char *end, bool *ellipsis)
{
    size_t count = 0;

    *ellipsis = false;
    for (; text < end; text++) {
        count += subscript_of(*text) >= 0;
        *ellipsis = *ellipsis || *text == '.';
    }
    return count;
}

static bool read_operand(struct onnx_node *n, struct einsum *e, size_t i, const char *text, const char *end, struct term *t)
{
    bool ellipsis;
    size_t letters = count_letters(text, end, &ellipsis);

    t->operand = onnx_operand(n, i);
    struct onnx_dims dims = onnx_dims_of(n, t->operand);
    if (n->refused)
        return false;
    if (letters > dims.rank || (!ellipsis && letters != dims.rank))
        return onnx_refuse(n, "its equation gives input %zu %zu dimensions, it has %zu", i, letters, dims.rank);
    if (!read_term(n, text, end, dims.rank - letters, t))
        return false;
    if (ellipsis && dims.rank - letters > e->ellipsis)
        e->ellipsis = dims.rank - letters;
    for (size_t d = 0; d < t->rank; d++) {
        uint32_t *size = &e->sizes[t->subscripts[d]];
        if (*size > 1 && dims.at[d] > 1 && *size != dims.at[d])
            return onnx_refuse(n, "a dimension of input %zu is %u, that of the same name %u", i, dims.at[d], *size);
        if (dims.at[d] > *size)
            *size = dims.at[d];
    }
    return true;
}

/* Makes the output of an equation without an arrow: the ellipsis, then all letters that occur once. */
static bool imply_output(struct onnx_node *n, struct einsum *e, size_t count, const struct term *terms)
{
    e->output_rank = 0;
    for (int k = 0; k < SUBSCRIPTS; k++) {
        int s = k < ONNX_RANK_MAX ? LETTERS + k : k - ONNX_RANK_MAX;
        size_t found = 0;
        for (size_t i = 0; i < count; i++)
            for (size_t d = 0; d < terms[i].rank; d++)
                found += terms[i].subscripts[d] == s;
        if (!found || (s < LETTERS && found > 1))
            continue;
        if (e->output_rank == ONNX_RANK_MAX)
            return onnx_refuse(n, "its result has more than %d dimensions", ONNX_RANK_MAX);
        e->output[e->output_rank++] = s;
    }
    return true;
}

static bool read_equation(struct onnx_node *n, struct einsum *e, size_t *count, struct term **terms)
{
    const char *equation = onnx_string(n, "equation", ""), *arrow = strstr(equation, "->"), *text = equation, *end;
    const char *stop = arrow ? arrow : equation + strlen(equation);
    struct term output;

    *count = n->input_count;
    *terms = onnx_alloc(n, *count, sizeof **terms);
    if (!*terms)
        return false;
    for (size_t i = 0; i < *count; i++) {
        end = text > stop ? NULL : memchr(text, ',', (size_t)(stop - text));
        if (text > stop || (i + 1 < *count && !end) || (i + 1 == *count && end))
            return onnx_refuse(n, "its equation does not have %zu terms", *count);
        end = end ? end : stop;
        if (!read_operand(n, e, i, text, end, &(*terms)[i]))
            return false;
        text = end + 1;
    }
    if (!arrow)
        return imply_output(n, e, *count, *terms);
    if (!read_term(n, arrow + 2, equation + strlen(equation), e->ellipsis, &output))
        return false;
    for (size_t d = 0; d < output.rank; d++) {
        if (!e->sizes[output.subscripts[d]])
            return onnx_refuse(n, "its result has a dimension that no input has");
        if (holds(d, output.subscripts, output.subscripts[d]))
            return onnx_refuse(n, "its result has a dimension twice");
    }
    e->output_rank = output.rank;
    memcpy(e->output, output.subscripts, sizeof e->output);
    return true;
}

/* ---- terms ---- */

static void drop_dimension(struct term *t, size_t d)
{
    t->rank--;
    memmove(t->subscripts + d, t->subscripts + d + 1, (t->rank - d) * sizeof *t->subscripts);
}

static struct onnx_dims dims_of_term(const struct einsum *e, const struct term *t)
{
    struct onnx_dims dims = {t->rank, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

    for (size_t d = 0; d < t->rank; d++)
        dims.at[d] = e->sizes[t->subscripts[d]];
    return dims;
}

/* Dimensions of size 1 that others have larger are dropped: the term says nothing about them. */
static void drop_broadcast(struct onnx_node *n, const struct einsum *e, struct term *t)
{
    struct onnx_dims dims = onnx_dims_of(n, t->operand), kept = {0, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

    for (size_t d = 0, k = 0; k < dims.rank; k++)
        if (dims.at[k] == 1 && e->sizes[t->subscripts[d]] > 1)
            drop_dimension(t, d);
        else {
            kept.at[kept.rank++] = dims.at[k];
            d++;
        }
    if (kept.rank != dims.rank)
        t->operand = onnx_reshape_to(n, t->operand, kept);
}

/* Brings dimensions into the order of `order`, whose members it has all. */
static void arrange(struct onnx_node *n, struct term *t, size_t count, const int *order)
{
    uint32_t permutation[ONNX_RANK_MAX] = {0};
    bool moves = false;

    for (size_t d = 0; d < count; d++) {
        for (size_t k = 0; k < t->rank; k++)
            if (t->subscripts[k] == order[d])
                permutation[d] = (uint32_t)k;
        moves = moves || permutation[d] != d;
    }
    if (moves)
        t->operand = onnx_transpose(n, t->operand, count, permutation);
    memcpy(t->subscripts, order, count * sizeof *order);
}

static void take_diagonals(struct onnx_node *n, const struct einsum *e, struct term *t)
{
    for (size_t p = 0; p < t->rank; p++)
        for (size_t q = p + 1; q < t->rank && !n->refused; q++) {
            uint32_t permutation[ONNX_RANK_MAX], k = 0, size = e->sizes[t->subscripts[p]];
            int s = t->subscripts[p];
            if (t->subscripts[q] != s)
                continue;
            int32_t *index = onnx_alloc(n, size, sizeof *index);
            if (!index)
                return;
            for (uint32_t i = 0; i < t->rank; i++)
                if (i != p && i != q)
                    permutation[k++] = i;
            permutation[k++] = (uint32_t)p;
            permutation[k] = (uint32_t)q;
            t->operand = onnx_transpose(n, t->operand, t->rank, permutation);
            drop_dimension(t, q);
            drop_dimension(t, p);
            struct onnx_dims dims = dims_of_term(e, t);
            dims.at[dims.rank++] = onnx_size(n, "the size of a matrix with a diagonal", (int64_t)size * size);
            for (uint32_t i = 0; i < size; i++)
                index[i] = (int32_t)(i * (size + 1));
            t->operand = onnx_gather_constant(n, onnx_reshape_to(n, t->operand, dims), (uint32_t)dims.rank - 1, size, index);
            t->subscripts[t->rank++] = s;
            p = (size_t)-1; /* from the start: places have moved */
            break;
        }
}

/* Sums over all dimensions that are neither in `keep` nor in `other` (may be NULL). */
static void sum_others(struct onnx_node *n, const struct einsum *e, struct term *t, const bool *keep, const struct term *other)
{
    uint32_t axes[ONNX_RANK_MAX];
    size_t count = 0;
    struct term kept = {NULL, 0, {0}};

    for (size_t d = 0; d < t->rank; d++)
        if (keep[t->subscripts[d]] || (other && holds(other->rank, other->subscripts, t->subscripts[d])))
            kept.subscripts[kept.rank++] = t->subscripts[d];
        else
            axes[count++] = (uint32_t)d;
    if (!count)
        return;
    kept.operand = onnx_reduce(n, wnnGraphBuilderReduceSum, t->operand, count, axes);
    kept.operand = onnx_reshape_to(n, kept.operand, dims_of_term(e, &kept));
    *t = kept;
}

/* Contracts two terms into the first; `keep` has the subscripts that are needed afterwards. */
static bool multiply(struct onnx_node *n, const struct einsum *e, struct term *a, struct term *b, const bool *keep)
{
    int batch[ONNX_RANK_MAX], rows[ONNX_RANK_MAX], inner[ONNX_RANK_MAX], columns[ONNX_RANK_MAX], order[2 * ONNX_RANK_MAX];
    size_t batch_count = 0, row_count = 0, inner_count = 0, column_count = 0;
    struct term result = {NULL, 0, {0}};
    uint32_t sizes[4];

    sum_others(n, e, a, keep, b);
    sum_others(n, e, b, keep, a);
    for (size_t d = 0; d < a->rank; d++) {
        int s = a->subscripts[d];
        if (!holds(b->rank, b->subscripts, s))
            rows[row_count++] = s;
        else if (keep[s])
            batch[batch_count++] = s;
        else
            inner[inner_count++] = s;
    }
    for (size_t d = 0; d < b->rank; d++)
        if (!holds(a->rank, a->subscripts, b->subscripts[d]))
            columns[column_count++] = b->subscripts[d];
    if (batch_count + row_count + column_count > ONNX_RANK_MAX)
        return onnx_refuse(n, "multiplying two operands takes more than %d dimensions", ONNX_RANK_MAX);
    memcpy(order, batch, batch_count * sizeof *order);
    memcpy(order + batch_count, rows, row_count * sizeof *order);
    memcpy(order + batch_count + row_count, inner, inner_count * sizeof *order);
    arrange(n, a, a->rank, order);
    struct onnx_dims dims = dims_of_term(e, a);
    sizes[0] = onnx_dims_product(n, &dims, 0, batch_count);
    sizes[1] = onnx_dims_product(n, &dims, batch_count, batch_count + row_count);
    sizes[2] = onnx_dims_product(n, &dims, batch_count + row_count, a->rank);
    memcpy(order + batch_count, inner, inner_count * sizeof *order);
    memcpy(order + batch_count + inner_count, columns, column_count * sizeof *order);
    arrange(n, b, b->rank, order);
    dims = dims_of_term(e, b);
    sizes[3] = onnx_dims_product(n, &dims, batch_count + inner_count, b->rank);
    if (n->refused)
        return false;
    memcpy(result.subscripts, batch, batch_count * sizeof *order);
    memcpy(result.subscripts + batch_count, rows, row_count * sizeof *order);
    memcpy(result.subscripts + batch_count + row_count, columns, column_count * sizeof *order);
    result.rank = batch_count + row_count + column_count;
    if (inner_count)
        result.operand = onnx_matrix_multiply(n, onnx_reshape(n, a->operand, 3, (uint32_t[]){sizes[0], sizes[1], sizes[2]}),
                                              onnx_reshape(n, b->operand, 3, (uint32_t[]){sizes[0], sizes[2], sizes[3]}));
    else
        result.operand = onnx_mul(n, onnx_reshape(n, a->operand, 3, (uint32_t[]){sizes[0], sizes[1], 1}),
                                  onnx_reshape(n, b->operand, 3, (uint32_t[]){sizes[0], 1, sizes[3]}));
    result.operand = onnx_reshape_to(n, result.operand, dims_of_term(e, &result));
    *a = result;
    return true;
}

bool onnx_import_einsum(struct onnx_node *n)
{
    struct einsum e = {{0}, 0, {0}, 0};
    size_t wanted[SUBSCRIPTS] = {0}; /* by how many dimensions of the result and of operands that are still to come */
    bool keep[SUBSCRIPTS];
    struct term *terms;
    size_t count;

    if (!read_equation(n, &e, &count, &terms))
        return false;
    for (size_t i = 0; i < count; i++) {
        drop_broadcast(n, &e, &terms[i]);
        take_diagonals(n, &e, &terms[i]);
    }
    for (size_t d = 0; d < e.output_rank; d++)
        wanted[e.output[d]]++;
    for (size_t k = 1; k < count; k++)
        for (size_t d = 0; d < terms[k].rank; d++)
            wanted[terms[k].subscripts[d]]++;
    for (size_t i = 1; i <= count && !n->refused; i++) {
        for (size_t d = 0; i < count && d < terms[i].rank; d++)
            wanted[terms[i].subscripts[d]]--;
        for (size_t s = 0; s < SUBSCRIPTS; s++)
            keep[s] = wanted[s] != 0;
        if (i == count)
            sum_others(n, &e, &terms[0], keep, NULL);
        else if (!multiply(n, &e, &terms[0], &terms[i], keep))
            return false;
    }
    if (n->refused)
        return false;
    arrange(n, &terms[0], e.output_rank, e.output);
    return onnx_output(n, 0, wnnGraphBuilderIdentity(n->builder, terms[0].operand, n->options));
}
