/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Knows the operators that can work on permuted operands, and what their attributes are then.  From a node and permutations of
 * its operands or results it finds the other side's permutation, or rebuilds the node.
 *
 * An operator has one permutation for all its tied inputs and one for all its results.  They are equal where the result has the
 * operand's dimensions; reshape, transpose and reductions without kept dimensions translate.
 */
#include <assert.h>
#include <string.h>

#include "passes/layout/layout.h"

static const struct tensor_type *operand_type(const struct node *n)
{
    return &n->inputs[0].value->type;
}

static const struct tensor_type *result_type(const struct node *n)
{
    return &n->results[0]->type;
}

static void invert(const struct permutation *p, uint32_t rank, uint8_t *inverse)
{
    for (uint32_t j = 0; j < rank; j++)
        inverse[p->at[j]] = (uint8_t)j;
}

static bool equals(const struct permutation *p, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return p->at[0] == a && p->at[1] == b && p->at[2] == c && p->at[3] == d;
}

/* ---- which operators ---- */

/* Broadcasting is along trailing dimensions: operands of the result's rank are permuted with it, others must be fitted. */
bool layout_is_tied(const struct node *n, uint32_t slot)
{
    const struct value *v = n->inputs[slot].value;

    if (!v)
        return false;
    if (op_infos[n->op].flags & OPF_ELEMENTWISE)
        return v->type.rank == result_type(n)->rank;
    return slot == 0 || n->op == OP_CONCAT;
}

static bool is_pool_or_instance(const struct node *n, WNNInputOperandLayout *layout)
{
    if (op_infos[n->op].flags & OPF_POOL)
        *layout = NODE_OPTIONS(n, WNNPool2dOptions)->layout;
    else if (n->op == OP_INSTANCE_NORMALIZATION)
        *layout = NODE_OPTIONS(n, WNNInstanceNormalizationOptions)->layout;
    else
        return false;
    return true;
}

/* Returns whether axes stay in an order that scale and bias depend on: they must stay ascending, which every implementation
 * takes. */
static bool axes_stay_sorted(const struct node *n, const struct permutation *p)
{
    const WNNLayerNormalizationOptions *o = n->options;
    uint8_t inverse[RANK_MAX];

    invert(p, operand_type(n)->rank, inverse);
    for (size_t i = 1; i < o->axesCount; i++)
        if (inverse[o->axes[i]] < inverse[o->axes[i - 1]])
            return false;
    return true;
}

/* Returns whether n can work on operands permuted by p, its result having the operand's dimensions or fewer. */
static bool can_follow(const struct node *n, const struct permutation *p)
{
    uint32_t flags = op_infos[n->op].flags;
    WNNInputOperandLayout layout;
    uint8_t inverse[RANK_MAX];

    if (flags & OPF_ELEMENTWISE)
        return true;
    if (is_pool_or_instance(n, &layout))
        return layout == WNNInputOperandLayout_Nchw ? equals(p, 0, 2, 3, 1) : equals(p, 0, 3, 1, 2);
    if (flags & (OPF_REDUCTION | OPF_SCAN))
        return true;
    switch (n->op) {
    case OP_LAYER_NORMALIZATION:
        return axes_stay_sorted(n, p);
    case OP_RESAMPLE2D: {
        const WNNResample2dOptions *o = n->options;
        invert(p, 4, inverse);
        return o->axesCount == 2 && inverse[o->axes[0]] + 1 == inverse[o->axes[1]];
    }
    case OP_EXPAND:
        return operand_type(n)->rank == result_type(n)->rank;
    case OP_BATCH_NORMALIZATION:
    case OP_SOFTMAX:
    case OP_CONCAT:
    case OP_SPLIT:
    case OP_SLICE:
    case OP_PAD:
    case OP_TILE:
    case OP_REVERSE:
        return true;
    default:
        return false;
    }
}

/* ---- reshape: dimensions that are merged or split must stay together ---- */

/*
 * Cuts both shapes into the smallest pieces of equal size.  Dimension d of `from` belongs to piece from_piece[d], likewise
 * `to`; dimensions of size 1 belong to none (UINT8_MAX).
 */
static void cut_into_pieces(const struct tensor_type *from, const struct tensor_type *to, uint8_t *from_piece,
                            uint8_t *to_piece)
{
    /* The compiler does not know that no rank is above RANK_MAX. */
    const uint32_t from_rank = from->rank < RANK_MAX ? from->rank : RANK_MAX;
    const uint32_t to_rank = to->rank < RANK_MAX ? to->rank : RANK_MAX;
    uint32_t i = 0, k = 0;

    for (uint8_t piece = 0;; piece++) {
        uint64_t a = 1, b = 1;

        /* Both shapes have the same number of elements, so that they run out together. */
        while (i < from_rank && from->dims[i] == 1)
            from_piece[i++] = UINT8_MAX;
        while (k < to_rank && to->dims[k] == 1)
            to_piece[k++] = UINT8_MAX;
        if (i == from_rank || k == to_rank)
            return;
        do {
            if (a <= b ? i == from_rank : k == to_rank)
                return;
            if (a <= b) {
                a *= from->dims[i];
                from_piece[i] = from->dims[i] == 1 ? UINT8_MAX : piece;
                i++;
            } else {
                b *= to->dims[k];
                to_piece[k] = to->dims[k] == 1 ? UINT8_MAX : piece;
                k++;
            }
        } while (a != b);
    }
}

/* Finds the permutation of `to` laid out in memory as `from` permuted by p.  Returns false if a piece would be split. */
static bool through_reshape(const struct tensor_type *from, const struct tensor_type *to, const struct permutation *p,
                            struct permutation *result)
{
    uint8_t from_piece[RANK_MAX], to_piece[RANK_MAX];
    uint32_t count = 0, seen = 0, last = UINT8_MAX, last_dimension = 0;

    cut_into_pieces(from, to, from_piece, to_piece);
    for (uint32_t d = 0; d < to->rank && to_piece[d] == UINT8_MAX; d++)
        result->at[count++] = (uint8_t)d;
    for (uint32_t j = 0; j < from->rank; j++) {
        uint32_t piece = from_piece[p->at[j]];

        if (piece == UINT8_MAX)
            continue;
        if (piece == last) {
            if (p->at[j] < last_dimension)
                return false;
            last_dimension = p->at[j];
            continue;
        }
        if (seen >> piece & 1)
            return false;
        seen |= 1u << piece;
        last = piece;
        last_dimension = p->at[j];
        /* These are the piece's dimensions, each with the ones of size 1 after it. */
        for (uint32_t d = 0; d < to->rank; d++) {
            if (to_piece[d] != piece)
                continue;
            result->at[count++] = (uint8_t)d;
            for (uint32_t e = d + 1; e < to->rank && to_piece[e] == UINT8_MAX; e++)
                result->at[count++] = (uint8_t)e;
        }
    }
    return count == to->rank;
}

/* ---- transpose and reductions ---- */

/* Finds the permutation after a transpose.  Result dimension i is operand dimension p[i]; stored as the operand is, the
 * transpose would be nothing at all. */
static void through_transpose(const struct node *n, const struct permutation *operand, struct permutation *result)
{
    const uint32_t *p = NODE_OPTIONS(n, WNNTransposeOptions)->permutation;
    uint32_t rank = operand_type(n)->rank;
    uint8_t inverse[RANK_MAX];

    for (uint32_t i = 0; i < rank; i++)
        inverse[p[i]] = (uint8_t)i;
    for (uint32_t j = 0; j < rank; j++)
        result->at[j] = inverse[operand->at[j]];
}

/* Returns the axes that a reducing node takes away from its operand's dimensions, as bits; 0 if it keeps them. */
static uint32_t removed_axes(const struct node *n)
{
    uint32_t bits = 0;

    if (!(op_infos[n->op].flags & OPF_REDUCTION) || operand_type(n)->rank == result_type(n)->rank)
        return 0;
    if (n->op == OP_ARG_MIN || n->op == OP_ARG_MAX)
        return 1u << n->args.argMax.axis;
    const WNNReduceOptions *o = n->options;
    for (size_t i = 0; i < o->axesCount; i++)
        bits |= 1u << o->axes[i];
    return bits;
}

static void through_removal(uint32_t removed, uint32_t rank, const struct permutation *operand, struct permutation *result)
{
    uint8_t number[RANK_MAX];
    uint32_t count = 0;

    for (uint32_t d = 0; d < rank; d++)
        number[d] = (uint8_t)(removed >> d & 1 ? 0 : count++);
    count = 0;
    for (uint32_t j = 0; j < rank; j++)
        if (!(removed >> operand->at[j] & 1))
            result->at[count++] = number[operand->at[j]];
}

bool layout_forward(const struct node *n, const struct permutation *operand, struct permutation *result)
{
    if (n->op == OP_RESHAPE)
        return through_reshape(operand_type(n), result_type(n), operand, result);
    if (n->op == OP_TRANSPOSE) {
        through_transpose(n, operand, result);
        return true;
    }
    if (!can_follow(n, operand))
        return false;
    *result = *operand;
    if (removed_axes(n))
        through_removal(removed_axes(n), operand_type(n)->rank, operand, result);
    return true;
}

bool layout_backward(const struct node *n, const struct permutation *result, struct permutation *operand)
{
    if (n->op == OP_RESHAPE)
        return through_reshape(result_type(n), operand_type(n), result, operand);
    if (n->op == OP_TRANSPOSE) {
        for (uint32_t j = 0; j < result_type(n)->rank && j < RANK_MAX; j++)
            operand->at[j] = (uint8_t)NODE_OPTIONS(n, WNNTransposeOptions)->permutation[result->at[j]];
        return true;
    }
    if (removed_axes(n) || !can_follow(n, result))
        return false;
    *operand = *result;
    return true;
}

/* ---- rebuilding ---- */

static void permute_list(const uint32_t *list, uint32_t rank, const struct permutation *p, uint32_t *out)
{
    for (uint32_t j = 0; j < rank; j++)
        out[j] = list[p->at[j]];
}

/* Maps axes and sorts them where their order means nothing for the operator. */
static void map_axes(const uint32_t *axes, size_t count, const uint8_t *inverse, bool sort, uint32_t *out)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = i;
        uint32_t axis = inverse[axes[i]];
        for (; sort && k > 0 && out[k - 1] > axis; k--)
            out[k] = out[k - 1];
        out[k] = axis;
    }
}

/* Has room for any operator's options and lists. */
struct rebuilt {
    union {
        max_align_t align;
        char bytes[512];
        WNNConvTranspose2dOptions largest;
        WNNTransposeOptions transpose;
    } options;
    union op_args args;
    uint32_t lists[3][RANK_MAX];
};

/* Translates what attributes say of dimensions: axes, layouts of images, and of movements lists with an item per dimension. */
static void permute_attributes(const struct node *n, const struct permutation *p, const uint8_t *inverse, struct rebuilt *r)
{
    const uint32_t flags = op_infos[n->op].flags;
    uint32_t *list = r->lists[0];

    for (const struct attr_info *a = op_infos[n->op].attrs; a->kind != ATTR_NONE; a++) {
        char *at = (a->positional ? (char *)&r->args : r->options.bytes) + a->offset;
        const size_t count = attr_count(a, n->options, &n->args);
        const uint32_t *value = attr_value(a, n->options, &n->args);

        if (a->kind == ATTR_U32 && !strcmp(a->name, "axis")) {
            memcpy(at, &(uint32_t){inverse[*value]}, sizeof *value);
        } else if (a->kind == ATTR_ENUM && a->enumeration == ENUM_INPUT_LAYOUT) {
            const bool is_nchw = *value == WNNInputOperandLayout_Nchw;
            memcpy(at, &(uint32_t){is_nchw ? WNNInputOperandLayout_Nhwc : WNNInputOperandLayout_Nchw}, sizeof *value);
        } else if (a->kind == ATTR_U32_LIST && count &&
                   (!strcmp(a->name, "axes") || (flags & OPF_MOVEMENT && n->op != OP_SPLIT))) {
            if (!strcmp(a->name, "axes"))
                map_axes(value, count, inverse, flags & (OPF_REDUCTION | OPF_MOVEMENT), list);
            else
                permute_list(value, operand_type(n)->rank, p, list);
            memcpy(at, &list, sizeof list);
            list += RANK_MAX;
        }
    }
}

struct node *layout_rebuild(struct graph *g, struct node *n, struct value *const *inputs, const struct permutation *operand,
                            const struct permutation *result)
{
    const struct tensor_type *to = result_type(n);
    struct rebuilt r;
    uint8_t inverse[RANK_MAX];

    memset(&r, 0, sizeof r);
    memcpy(r.options.bytes, n->options, op_infos[n->op].options_size);
    r.args = n->args;
    invert(operand, operand_type(n)->rank, inverse);
    if (n->op == OP_RESHAPE) {
        permute_list(to->dims, to->rank, result, r.lists[0]);
        r.args.reshape.newShape = r.lists[0];
    } else if (n->op == OP_TRANSPOSE) {
        /* Dimension j of the result is dimension p[result[j]] of the operand, and that is stored where `inverse` says. */
        for (uint32_t j = 0; j < to->rank; j++)
            r.lists[0][j] = inverse[NODE_OPTIONS(n, WNNTransposeOptions)->permutation[result->at[j]]];
        r.options.transpose.permutation = r.lists[0];
    } else {
        permute_attributes(n, operand, inverse, &r);
    }
    struct node *rebuilt = node_create(g, n, n->op, n->label, n->input_count, inputs, r.options.bytes, &r.args, &g->error);
    for (uint32_t i = 0; rebuilt && i < n->result_count; i++)
        for (uint32_t j = 0; j < to->rank; j++)
            assert(rebuilt->results[i]->type.dims[j] == n->results[i]->type.dims[result->at[j]]);
    return rebuilt;
}
