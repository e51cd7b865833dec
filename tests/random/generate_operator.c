/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One random application of any operator.  What is simple (types, ranks, flags, numbers, enumerations) is drawn from the
 * operator's row; functions below draw what the rows do not say: axes, shapes that must fit each other, lists of sizes.
 */
#include "generate.h"

#include <string.h>

/** What is being drawn. */
struct drawing {
    struct generator *r;
    enum op op;
    union { /* an option struct of any operator */
        max_align_t align;
        char bytes[512];
        WNNArgMinMaxOptions arg;
        WNNBatchNormalizationOptions batch;
        WNNConv2dOptions conv;
        WNNConvTranspose2dOptions transposed;
        WNNGatherOptions gather;
        WNNGemmOptions gemm;
        WNNInstanceNormalizationOptions instance;
        WNNLayerNormalizationOptions layer;
        WNNPool2dOptions pool;
        WNNReduceOptions reduce;
        WNNResample2dOptions resample;
        WNNReverseOptions reverse;
        WNNScatterOptions scatter;
        WNNSliceOptions slice;
        WNNSplitOptions split;
        WNNTransposeOptions transpose;
        WNNTriangularOptions triangular;
        WNNClampOptions clamp;
        WNNPadOptions pad;
        WNNGruOptions gru;
        WNNLstmOptions lstm;
    } o;
    union op_args args;
    uint32_t count;
    struct value *inputs[OP_OPERANDS_MAX];
    uint32_t lists[6][RANK_MAX]; /* what options point to */
    float scales[2];
};

static const struct tensor_type *type0(const struct drawing *d)
{
    return &d->inputs[0]->type;
}

/* Operand 0 as the row allows it. */
static bool draw_first(struct drawing *d, uint32_t rank_min)
{
    const struct operand_info *in = &op_infos[d->op].ins[0];

    if (rank_min < (uint32_t)in->rank_min)
        rank_min = (uint32_t)in->rank_min;
    d->inputs[0] = draw_operand(d->r, in->types, rank_min, (uint32_t)in->rank_max);
    d->count = 1;
    return d->inputs[0] != NULL;
}

/* A leaf or existing value of operand 0's type. */
static struct value *draw_like(struct drawing *d, uint32_t rank, const uint32_t *dims, enum content content)
{
    struct tensor_type t = {.type = type0(d)->type, .rank = rank};

    if (rank)
        memcpy(t.dims, dims, rank * sizeof *dims);
    return draw_typed(d->r, &t, content);
}

/* ---- options that the row describes completely ---- */

static void draw_enum_list(struct drawing *d, const struct attr_info *a)
{
    uint32_t count = d->op == OP_LSTM || d->op == OP_LSTM_CELL ? 3 : 2, *list = d->lists[5];
    size_t size = count;

    for (uint32_t i = 0; i < count; i++)
        do {
            list[i] = draw(d->r, 16);
        } while (!enum_value_name(a->enumeration, list[i]));
    memcpy(d->o.bytes + a->offset, &list, sizeof list);
    memcpy(d->o.bytes + a->count_offset, &size, sizeof size);
}

static void draw_simple_options(struct drawing *d)
{
    static const double epsilons[] = {1e-5, 1e-3, 0, 1e-12, 1, 1e-7};
    struct generator *r = d->r;

    for (const struct attr_info *a = op_infos[d->op].attrs; a->kind != ATTR_NONE; a++) {
        char *at = d->o.bytes + a->offset;
        uint32_t u;
        int32_t i;
        double f;
        bool b;
        WNNNumber n;

        if (a->positional || chance(r, 35))
            continue;
        switch (a->kind) {
        case ATTR_BOOL:
            b = chance(r, 50);
            memcpy(at, &b, sizeof b);
            break;
        case ATTR_I32:
            i = chance(r, 95) ? (int32_t)draw(r, 11) - 5 : chance(r, 50) ? INT32_MAX : INT32_MIN;
            memcpy(at, &i, sizeof i);
            break;
        case ATTR_F64:
            f = !strcmp(a->name, "epsilon") ? epsilons[draw(r, sizeof epsilons / sizeof *epsilons)] : draw_option(r);
            memcpy(at, &f, sizeof f);
            break;
        case ATTR_NUMBER:
            n = draw_number(r, type0(d)->type);
            memcpy(at, &n, sizeof n);
            break;
        case ATTR_DATA_TYPE:
            u = draw_type(r, op_infos[d->op].outs[0].types);
            memcpy(at, &u, sizeof u);
            break;
        case ATTR_ENUM:
            do {
                u = draw(r, 16);
            } while (!enum_value_name(a->enumeration, u));
            memcpy(at, &u, sizeof u);
            break;
        case ATTR_ENUM_LIST:
            draw_enum_list(d, a);
            break;
        case ATTR_NONE:
        case ATTR_U32:
        case ATTR_U32_LIST:
        case ATTR_F32_LIST:
            break;
        }
    }
}

/* ---- element by element ---- */

static bool draw_unary(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    draw_simple_options(d);
    if (d->op == OP_CAST)
        d->args.cast.dataType = draw_type(d->r, DT_ANY);
    return true;
}

static bool draw_binary(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    d->inputs[1] = draw_partner(d->r, type0(d)->type, type0(d));
    d->count = 2;
    if (d->inputs[1] && chance(d->r, 40)) {
        struct value *v = d->inputs[0];
        d->inputs[0] = d->inputs[1];
        d->inputs[1] = v;
    }
    return true;
}

static bool draw_where(struct drawing *d)
{
    struct generator *r = d->r;
    struct value *hint = r->hint, *a, *b, *c;

    if (hint && hint->type.type == WNNOperandDataType_Uint8 && chance(r, 80)) {
        a = draw_partner(r, draw_type(r, DT_ANY), &hint->type);
        c = hint;
        b = a ? draw_partner(r, a->type.type, &a->type) : NULL;
    } else {
        a = draw_operand(r, DT_ANY, 0, RANK_MAX);
        b = a ? draw_partner(r, a->type.type, &a->type) : NULL;
        c = a ? draw_partner(r, WNNOperandDataType_Uint8, &a->type) : NULL;
    }
    d->inputs[0] = c;
    d->inputs[1] = chance(r, 50) ? a : b;
    d->inputs[2] = d->inputs[1] == a ? b : a;
    d->count = 3;
    return a && b && c;
}

static bool draw_quantize(struct drawing *d)
{
    struct tensor_type t;

    if (!draw_first(d, 0))
        return false;
    t = *type0(d);
    for (uint32_t i = 0; i < t.rank; i++)
        t.dims[i] = chance(d->r, 50) ? 1 : draw_divisor(d->r, t.dims[i]);
    if (d->op == OP_DEQUANTIZE_LINEAR)
        t.type = draw_type(d->r, DT_FLOAT32_FLOAT16);
    d->inputs[1] = draw_typed(d->r, &t, CONTENT_POSITIVE);
    t.type = d->op == OP_DEQUANTIZE_LINEAR ? type0(d)->type : draw_type(d->r, DT_UINT8_INT8_UINT32_INT32);
    d->inputs[2] = draw_typed(d->r, &t, CONTENT_SMALL);
    d->count = 3;
    return true;
}

static bool draw_triangular(struct drawing *d)
{
    if (!draw_first(d, 2))
        return false;
    draw_simple_options(d);
    return true;
}

/* ---- reductions, scans, normalisations ---- */

static bool draw_axis(struct drawing *d)
{
    if (!draw_first(d, 1))
        return false;
    draw_simple_options(d);
    d->args.softmax.axis = draw(d->r, type0(d)->rank);
    return true;
}

/* Some axes in any order, maybe none. */
static size_t draw_axes(struct drawing *d, uint32_t *axes)
{
    uint32_t rank = type0(d)->rank;

    draw_permutation(d->r, rank, axes);
    return chance(d->r, 10) ? 0 : rank ? draw_from(d->r, 1, rank) : 0;
}

static bool draw_reduce(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    draw_simple_options(d);
    if (chance(d->r, 85)) {
        d->o.reduce.axesCount = draw_axes(d, d->lists[0]);
        d->o.reduce.axes = d->lists[0];
    }
    return true;
}

static bool draw_batch_normalization(struct drawing *d)
{
    if (!draw_first(d, 1))
        return false;
    draw_simple_options(d);
    if (chance(d->r, 50) || type0(d)->rank < 2)
        d->o.batch.axis = draw(d->r, type0(d)->rank);
    for (uint32_t i = 1; i < 5; i++)
        if (i < 3 || chance(d->r, 60))
            d->inputs[i] = draw_like(d, 1, &type0(d)->dims[d->o.batch.axis], i == 2 ? CONTENT_POSITIVE : CONTENT_SMALL);
    d->count = 5;
    return true;
}

static bool draw_instance_normalization(struct drawing *d)
{
    if (!draw_first(d, 4))
        return false;
    draw_simple_options(d);
    for (uint32_t i = 1; i < 3; i++)
        if (chance(d->r, 60))
            d->inputs[i] =
                draw_like(d, 1, &type0(d)->dims[d->o.instance.layout == WNNInputOperandLayout_Nchw ? 1 : 3], CONTENT_SMALL);
    d->count = 3;
    return true;
}

static bool draw_layer_normalization(struct drawing *d)
{
    uint32_t dims[RANK_MAX], count;

    if (!draw_first(d, 0))
        return false;
    draw_simple_options(d);
    count = type0(d)->rank ? type0(d)->rank - 1 : 0;
    for (uint32_t i = 0; i < count; i++)
        d->lists[0][i] = i + 1;
    if (chance(d->r, 70) || !type0(d)->rank) {
        count = (uint32_t)draw_axes(d, d->lists[0]);
        d->o.layer.axes = d->lists[0];
        d->o.layer.axesCount = count;
    }
    for (uint32_t i = 0; i < count; i++)
        dims[i] = type0(d)->dims[d->lists[0][i]];
    for (uint32_t i = 1; i < 3; i++)
        if (chance(d->r, 60))
            d->inputs[i] = draw_like(d, count, dims, CONTENT_SMALL);
    d->count = 3;
    return true;
}

/* ---- movement ---- */

static bool draw_concat(struct drawing *d)
{
    uint32_t parts = draw_from(d->r, 1, 4), axis, first;

    if (!draw_first(d, 1))
        return false;
    struct value *v = d->inputs[0];
    d->args.concat.axis = axis = draw(d->r, v->type.rank);
    first = draw(d->r, parts);
    for (uint32_t i = 0; i < parts; i++) {
        struct tensor_type t = v->type;
        d->inputs[i] = v;
        if (i == first || chance(d->r, 15))
            continue;
        if (chance(d->r, 70))
            t.dims[axis] = draw_from(d->r, 1, 5);
        d->inputs[i] = draw_typed(d->r, &t, CONTENT_ANY);
    }
    d->count = parts;
    return true;
}

static bool draw_expand(struct drawing *d)
{
    struct tensor_type t;
    uint32_t more, *dims = d->lists[0];
    int64_t left;

    if (!draw_first(d, 0))
        return false;
    t = *type0(d);
    left = 2 * d->r->budget / type_elements(&t) + 1;
    more = t.rank < RANK_MAX && chance(d->r, 50) ? draw_from(d->r, 1, RANK_MAX - t.rank < 3 ? RANK_MAX - t.rank : 3) : 0;
    for (uint32_t i = 0; i < more + t.rank; i++) {
        dims[i] = i < more || t.dims[i - more] == 1 ? draw_size(d->r, left < 8 ? left : 8) : t.dims[i - more];
        if (i < more || t.dims[i - more] == 1)
            left = left / dims[i] + 1;
    }
    d->args.expand.newShape = dims;
    d->args.expand.newShapeCount = more + t.rank;
    return true;
}

static bool draw_pad(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    draw_simple_options(d);
    for (uint32_t i = 0; i < type0(d)->rank; i++)
        for (int end = 0; end < 2; end++) {
            uint32_t most = d->o.pad.mode == WNNPaddingMode_Reflection ? type0(d)->dims[i] - 1 : 3;
            d->lists[end][i] = chance(d->r, 50) ? 0 : draw(d->r, (most < 4 ? most : 4) + 1);
        }
    d->args.pad.beginningPadding = d->lists[0];
    d->args.pad.endingPadding = d->lists[1];
    d->args.pad.beginningPaddingCount = d->args.pad.endingPaddingCount = type0(d)->rank;
    return true;
}

static bool draw_reshape(struct drawing *d)
{
    uint32_t rank = draw(d->r, RANK_MAX + 1), dims[RANK_MAX] = {0}, order[RANK_MAX];
    int64_t left;

    if (!draw_first(d, 0))
        return false;
    left = type_elements(type0(d));
    if (!rank && left > 1)
        rank = draw_from(d->r, 1, 4);
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = i + 1 == rank ? (uint32_t)left : draw_divisor(d->r, (uint32_t)left);
        left /= dims[i];
    }
    draw_permutation(d->r, rank, order);
    for (uint32_t i = 0; i < rank; i++)
        d->lists[0][i] = dims[order[i]];
    d->args.reshape.newShape = d->lists[0];
    d->args.reshape.newShapeCount = rank;
    return true;
}

static bool draw_reverse(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    if (chance(d->r, 80)) {
        d->o.reverse.axesCount = draw_axes(d, d->lists[0]);
        d->o.reverse.axes = d->lists[0];
    }
    return true;
}

static bool draw_slice(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    bool strides = chance(d->r, 50);
    for (uint32_t i = 0; i < type0(d)->rank; i++) {
        uint32_t size = type0(d)->dims[i];
        d->lists[0][i] = chance(d->r, 50) ? 0 : draw(d->r, size);
        d->lists[1][i] = chance(d->r, 50) ? size - d->lists[0][i] : draw_from(d->r, 1, size - d->lists[0][i]);
        d->lists[2][i] = chance(d->r, 60) ? 1 : draw_from(d->r, 1, 3);
    }
    d->args.slice.starts = d->lists[0];
    d->args.slice.sizes = d->lists[1];
    d->args.slice.startsCount = d->args.slice.sizesCount = type0(d)->rank;
    if (strides) {
        d->o.slice.strides = d->lists[2];
        d->o.slice.stridesCount = type0(d)->rank;
    }
    return true;
}

static bool draw_split(struct drawing *d)
{
    uint32_t left, count = 0, axis;

    if (!draw_first(d, 1))
        return false;
    d->o.split.axis = axis = draw(d->r, type0(d)->rank);
    left = type0(d)->dims[axis];
    if (chance(d->r, 30)) { /* so many equal parts */
        uint32_t parts = draw_divisor(d->r, left);
        d->args.split.equal = parts < 9 ? parts : 1;
        return true;
    }
    while (left) {
        d->lists[0][count] = count == RANK_MAX - 1 || chance(d->r, 30) ? left : draw_from(d->r, 1, left);
        left -= d->lists[0][count++];
    }
    d->args.split.splits = d->lists[0];
    d->args.split.splitsCount = count;
    return true;
}

static bool draw_tile(struct drawing *d)
{
    int64_t left = 8 * d->r->budget;

    if (!draw_first(d, 0))
        return false;
    left /= type_elements(type0(d));
    for (uint32_t i = 0; i < type0(d)->rank; i++) {
        d->lists[0][i] = left > 1 && chance(d->r, 50) ? draw_from(d->r, 1, left < 4 ? (uint32_t)left : 4) : 1;
        left /= d->lists[0][i];
    }
    d->args.tile.repetitions = d->lists[0];
    d->args.tile.repetitionsCount = type0(d)->rank;
    return true;
}

static bool draw_transpose(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    if (chance(d->r, 85)) {
        draw_permutation(d->r, type0(d)->rank, d->lists[0]);
        d->o.transpose.permutation = d->lists[0];
        d->o.transpose.permutationCount = type0(d)->rank;
    }
    return true;
}

static bool draw_resample2d(struct drawing *d)
{
    uint32_t order[4];

    if (!draw_first(d, 4))
        return false;
    draw_simple_options(d);
    draw_permutation(d->r, 4, order);
    d->lists[0][0] = 2;
    d->lists[0][1] = 3;
    if (chance(d->r, 50)) {
        memcpy(d->lists[0], order, 2 * sizeof order[0]);
        d->o.resample.axes = d->lists[0];
        d->o.resample.axesCount = 2;
    }
    for (int i = 0; i < 2; i++) {
        static const float scales[] = {0.5f, 1, 2, 3, 0.3f, 1.5f, 0.75f, 2.5f, 1.0f / 3};
        d->lists[1][i] = draw_from(d->r, 1, 2 * type0(d)->dims[d->lists[0][i]] + 1);
        d->scales[i] = scales[draw(d->r, sizeof scales / sizeof *scales)];
    }
    if (chance(d->r, 50)) {
        d->o.resample.sizes = d->lists[1];
        d->o.resample.sizesCount = 2;
    } else if (chance(d->r, 90)) {
        d->o.resample.scales = d->scales;
        d->o.resample.scalesCount = 2;
    }
    return true;
}

/* ---- at indices ---- */

/* Indices of that shape; now and then whatever integers there are. */
static struct value *draw_indices(struct drawing *d, uint32_t rank, const uint32_t *dims, uint32_t range)
{
    struct tensor_type t = {.type = draw_type(d->r, DT_INT32_UINT32_INT64), .rank = rank};

    if (rank)
        memcpy(t.dims, dims, rank * sizeof *dims);
    if (type_elements(&t) > 8 * d->r->budget)
        return NULL;
    return chance(d->r, 25) ? draw_typed(d->r, &t, CONTENT_ANY) : draw_leaf(d->r, &t, CONTENT_INDEX, range);
}

static bool draw_gather(struct drawing *d)
{
    struct value *hint = d->r->hint;

    if (hint && DT_INT32_UINT32_INT64 >> hint->type.type & 1 && chance(d->r, 50)) { /* argMax and the like */
        d->r->hint = NULL;
        if (!draw_first(d, 1))
            return false;
        d->inputs[1] = hint;
    } else {
        if (!draw_first(d, 1))
            return false;
        struct tensor_type t = draw_shape(d->r, WNNOperandDataType_Int32, 0, RANK_MAX + 1 - type0(d)->rank);
        for (uint32_t i = 0; i < t.rank; i++)
            t.dims[i] = t.dims[i] < 6 ? t.dims[i] : 6;
        d->o.gather.axis = draw(d->r, type0(d)->rank);
        d->inputs[1] = draw_indices(d, t.rank, t.dims, type0(d)->dims[d->o.gather.axis]);
    }
    d->o.gather.axis = draw(d->r, type0(d)->rank);
    d->count = 2;
    return true;
}

static bool draw_elements(struct drawing *d)
{
    struct tensor_type t;
    uint32_t axis;

    if (!draw_first(d, 1))
        return false;
    t = *type0(d);
    axis = draw(d->r, t.rank);
    if (d->op == OP_GATHER_ELEMENTS)
        d->o.gather.axis = axis;
    else
        d->o.scatter.axis = axis;
    uint32_t range = t.dims[axis];
    t.dims[axis] = draw_from(d->r, 1, 7);
    d->inputs[1] = draw_indices(d, t.rank, t.dims, range);
    d->count = 2;
    if (d->op == OP_SCATTER_ELEMENTS) {
        d->inputs[2] = draw_like(d, t.rank, t.dims, CONTENT_ANY);
        d->count = 3;
    }
    return true;
}

static bool draw_nd(struct drawing *d)
{
    uint32_t dims[2 * RANK_MAX], rank, coordinate, range = 1;

    if (!draw_first(d, 1))
        return false;
    coordinate = draw_from(d->r, 1, type0(d)->rank);
    for (uint32_t i = 0; i < coordinate; i++)
        range = type0(d)->dims[i] > range ? type0(d)->dims[i] : range;
    rank = draw(d->r, coordinate + 1);
    rank = rank < 4 ? rank : 3;
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = draw_from(d->r, 1, 5);
    dims[rank] = coordinate;
    d->inputs[1] = draw_indices(d, rank + 1, dims, range);
    d->count = 2;
    if (d->op == OP_SCATTER_ND) {
        memcpy(dims + rank, type0(d)->dims + coordinate, (type0(d)->rank - coordinate) * sizeof *dims);
        rank += type0(d)->rank - coordinate;
        if (rank > RANK_MAX)
            return false;
        d->inputs[2] = draw_like(d, rank, dims, CONTENT_ANY);
        d->count = 3;
    }
    return true;
}

/* ---- windows ---- */

/* Padding, strides and dilations of a window within sizes[]; each list may be absent.  Returns which are given. */
static void draw_window(struct drawing *d, const uint32_t window[2], const uint32_t **padding, size_t *padding_count,
                        const uint32_t **strides, size_t *strides_count, const uint32_t **dilations, size_t *dilations_count)
{
    for (int i = 0; i < 4; i++)
        d->lists[0][i] = chance(d->r, 50) ? window[i / 2] / 2 : draw(d->r, 3);
    for (int i = 0; i < 2; i++) {
        d->lists[1][i] = draw_from(d->r, 1, 3);
        d->lists[2][i] = draw_from(d->r, 1, 2);
    }
    if (chance(d->r, 60)) {
        *padding = d->lists[0];
        *padding_count = 4;
    }
    if (chance(d->r, 50)) {
        *strides = d->lists[1];
        *strides_count = 2;
    }
    if (chance(d->r, 25)) {
        *dilations = d->lists[2];
        *dilations_count = 2;
    }
}

static bool draw_conv2d(struct drawing *d)
{
    /* where output, input, height and width stand in the filter */
    static const uint8_t layouts[][4] = {[WNNConv2dFilterOperandLayout_Oihw] = {0, 1, 2, 3},
                                         [WNNConv2dFilterOperandLayout_Hwio] = {3, 2, 0, 1},
                                         [WNNConv2dFilterOperandLayout_Ohwi] = {0, 3, 1, 2},
                                         [WNNConv2dFilterOperandLayout_Ihwo] = {3, 0, 1, 2}};
    static const uint8_t multiples[] = {1, 1, 2, 3, 4, 8, 16, 17};
    uint32_t filter[4], channels, groups, out;
    struct generator *r = d->r;

    if (!draw_first(d, 4))
        return false;
    draw_simple_options(d);
    bool nhwc = d->o.conv.inputLayout == WNNInputOperandLayout_Nhwc;
    const uint8_t *layout = layouts[d->o.conv.filterLayout];
    channels = type0(d)->dims[nhwc ? 3 : 1];
    groups = chance(r, 60) ? 1 : draw_divisor(r, channels);
    out = groups * multiples[draw(r, groups > 8 ? 3 : sizeof multiples)];
    uint32_t window[2] = {draw_from(r, 1, 3), chance(r, 60) ? 0 : draw_from(r, 1, 5)};
    window[1] = window[1] ? window[1] : window[0];
    filter[layout[0]] = out;
    filter[layout[1]] = channels / groups;
    filter[layout[2]] = window[0];
    filter[layout[3]] = window[1];
    d->o.conv.groups = groups;
    draw_window(d, window, &d->o.conv.padding, &d->o.conv.paddingCount, &d->o.conv.strides, &d->o.conv.stridesCount,
                &d->o.conv.dilations, &d->o.conv.dilationsCount);
    d->inputs[1] = draw_like(d, 4, filter, CONTENT_SMALL);
    if (chance(r, 50))
        d->inputs[2] = draw_like(d, 1, &out, CONTENT_SMALL);
    d->count = 3;
    return true;
}

static bool draw_conv_transpose2d(struct drawing *d)
{
    static const uint8_t layouts[][4] = {[WNNConvTranspose2dFilterOperandLayout_Iohw] = {1, 0, 2, 3},
                                         [WNNConvTranspose2dFilterOperandLayout_Hwoi] = {2, 3, 0, 1},
                                         [WNNConvTranspose2dFilterOperandLayout_Ohwi] = {0, 3, 1, 2}};
    uint32_t filter[4], channels, groups, out;
    struct generator *r = d->r;
    WNNConvTranspose2dOptions *o = &d->o.transposed;

    if (!draw_first(d, 4))
        return false;
    draw_simple_options(d);
    bool nhwc = o->inputLayout == WNNInputOperandLayout_Nhwc;
    const uint8_t *layout = layouts[o->filterLayout];
    channels = type0(d)->dims[nhwc ? 3 : 1];
    groups = chance(r, 60) ? 1 : draw_divisor(r, channels);
    out = groups * draw_from(r, 1, groups > 8 ? 2 : 5);
    uint32_t window[2] = {draw_from(r, 1, 3), draw_from(r, 1, 4)};
    filter[layout[0]] = out / groups;
    filter[layout[1]] = channels;
    filter[layout[2]] = window[0];
    filter[layout[3]] = window[1];
    o->groups = groups;
    draw_window(d, window, &o->padding, &o->paddingCount, &o->strides, &o->stridesCount, &o->dilations, &o->dilationsCount);
    for (int i = 0; i < 2; i++) {
        uint32_t stride = o->strides ? o->strides[i] : 1, dilation = o->dilations ? o->dilations[i] : 1;
        uint32_t size = type0(d)->dims[(nhwc ? 1 : 2) + i];
        int64_t calculated = (int64_t)(size - 1) * stride + (int64_t)(window[i] - 1) * dilation + 1;
        if (o->padding)
            calculated -= (int64_t)o->padding[2 * i] + o->padding[2 * i + 1];
        d->lists[3][i] = draw(r, stride);
        d->lists[4][i] = (uint32_t)(calculated < 1 ? 1 : calculated) + draw(r, stride);
    }
    if (chance(r, 30)) {
        o->outputPadding = d->lists[3];
        o->outputPaddingCount = 2;
    } else if (chance(r, 30)) {
        o->outputSizes = d->lists[4];
        o->outputSizesCount = 2;
    }
    d->inputs[1] = draw_like(d, 4, filter, CONTENT_SMALL);
    if (chance(r, 50))
        d->inputs[2] = draw_like(d, 1, &out, CONTENT_SMALL);
    d->count = 3;
    return true;
}

static bool draw_pool2d(struct drawing *d)
{
    WNNPool2dOptions *o = &d->o.pool;
    struct generator *r = d->r;

    if (!draw_first(d, 4))
        return false;
    draw_simple_options(d);
    const uint32_t *sizes = &type0(d)->dims[o->layout == WNNInputOperandLayout_Nchw ? 2 : 1];
    uint32_t window[2] = {sizes[0], sizes[1]};
    if (chance(r, 85)) {
        for (int i = 0; i < 2; i++)
            d->lists[3][i] = window[i] = draw_from(r, 1, 4);
        o->windowDimensions = d->lists[3];
        o->windowDimensionsCount = 2;
    }
    draw_window(d, window, &o->padding, &o->paddingCount, &o->strides, &o->stridesCount, &o->dilations, &o->dilationsCount);
    if (chance(r, 25)) {
        bool up = chance(r, 50);
        for (int i = 0; i < 2; i++) {
            int64_t stride = o->strides ? o->strides[i] : 1, dilation = o->dilations ? o->dilations[i] : 1;
            int64_t range = (int64_t)sizes[i] - (int64_t)(window[i] - 1) * dilation - 1;
            if (o->padding)
                range += (int64_t)o->padding[2 * i] + o->padding[2 * i + 1];
            d->lists[4][i] = (uint32_t)(range < 0 ? 1 : (range + (up ? stride - 1 : 0)) / stride + 1);
        }
        o->outputSizes = d->lists[4];
        o->outputSizesCount = 2;
    }
    return true;
}

/* ---- products ---- */

static bool draw_matmul(struct drawing *d)
{
    uint32_t dims[RANK_MAX], skip, batch = 0;
    struct generator *r = d->r;

    if (!draw_first(d, 2))
        return false;
    struct tensor_type a = *type0(d);
    bool right = chance(r, 70); /* is the drawn operand the left one? */
    skip = chance(r, 40) ? a.rank - 2 : draw(r, a.rank - 1);
    for (uint32_t i = skip; i + 2 < a.rank; i++)
        dims[batch++] = chance(r, 60) ? a.dims[i] : a.dims[i] == 1 && chance(r, 50) ? draw_from(r, 1, 3) : 1;
    uint32_t other = draw_size(r, 40);
    dims[batch] = right ? a.dims[a.rank - 1] : other;
    dims[batch + 1] = right ? other : a.dims[a.rank - 2];
    struct value *b = draw_like(d, batch + 2, dims, CONTENT_SMALL);
    d->inputs[1] = right ? b : d->inputs[0];
    d->inputs[0] = right ? d->inputs[0] : b;
    d->count = 2;
    return b != NULL;
}

static bool draw_gemm(struct drawing *d)
{
    if (!draw_first(d, 2))
        return false;
    draw_simple_options(d);
    const struct tensor_type *a = type0(d);
    uint32_t columns = draw_size(d->r, 40), shared = a->dims[d->o.gemm.aTranspose ? 0 : 1];
    uint32_t b[2] = {d->o.gemm.bTranspose ? columns : shared, d->o.gemm.bTranspose ? shared : columns};
    uint32_t c[2] = {chance(d->r, 50) ? 1 : a->dims[d->o.gemm.aTranspose ? 1 : 0], chance(d->r, 30) ? 1 : columns};
    uint32_t skip = c[0] == 1 && chance(d->r, 50) ? (c[1] == 1 && chance(d->r, 50) ? 2 : 1) : 0;

    d->inputs[1] = draw_like(d, 2, b, CONTENT_SMALL);
    if (chance(d->r, 60))
        d->inputs[2] = draw_like(d, 2 - skip, c + skip, CONTENT_SMALL);
    d->count = 3;
    return true;
}

/* ---- recurrent ---- */

static bool draw_recurrent(struct drawing *d)
{
    struct generator *r = d->r;
    bool lstm = d->op == OP_LSTM || d->op == OP_LSTM_CELL, cell = d->op == OP_LSTM_CELL || d->op == OP_GRU_CELL;
    uint32_t gates = lstm ? 4 : 3, hidden = draw_from(r, 1, chance(r, 20) ? 17 : 6), directions = 1;

    d->inputs[0] = draw_operand(r, DT_FLOAT32_FLOAT16, cell ? 2 : 3, cell ? 2 : 3);
    if (!d->inputs[0])
        return false;
    draw_simple_options(d);
    const uint32_t *in = type0(d)->dims + !cell; /* batch, input */
    if (!cell && type0(d)->dims[0] > 12)
        return false;
    if (d->op == OP_LSTM)
        directions = d->o.lstm.direction == WNNRecurrentNetworkDirection_Both ? 2 : 1;
    else if (d->op == OP_GRU)
        directions = d->o.gru.direction == WNNRecurrentNetworkDirection_Both ? 2 : 1;
    d->count = op_input_slots(d->op);
    for (uint32_t i = 1; i < d->count; i++) {
        const char *name = op_infos[d->op].ins[i].name;
        uint32_t dims[3] = {directions, gates * hidden, 0}, rank = 2;
        if (op_infos[d->op].ins[i].optional && chance(r, 40))
            continue;
        if (!strcmp(name, "weight") || !strcmp(name, "recurrentWeight")) {
            dims[2] = *name == 'w' ? in[1] : hidden;
            rank = 3;
        } else if (!strcmp(name, "peepholeWeight")) {
            dims[1] = 3 * hidden;
        } else if (strstr(name, "State")) {
            dims[1] = in[0];
            dims[2] = hidden;
            rank = 3;
        }
        d->inputs[i] = draw_like(d, rank - cell, dims + cell, CONTENT_SMALL);
    }
    if (cell) {
        d->args.lstmCell.hiddenSize = hidden;
    } else {
        d->args.lstm.steps = type0(d)->dims[0];
        d->args.lstm.hiddenSize = hidden;
    }
    return true;
}

/* ---- which function draws which operator ---- */

static bool draw_call(struct drawing *d)
{
    switch (d->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_MAX:
    case OP_MIN:
    case OP_POW:
    case OP_EQUAL:
    case OP_NOT_EQUAL:
    case OP_GREATER:
    case OP_GREATER_OR_EQUAL:
    case OP_LESSER:
    case OP_LESSER_OR_EQUAL:
    case OP_LOGICAL_AND:
    case OP_LOGICAL_OR:
    case OP_LOGICAL_XOR:
    case OP_PRELU:
        return draw_binary(d);
    case OP_CAST:
    case OP_CLAMP:
    case OP_LOGICAL_NOT:
    case OP_IS_NAN:
    case OP_IS_INFINITE:
    case OP_ABS:
    case OP_CEIL:
    case OP_COS:
    case OP_ERF:
    case OP_EXP:
    case OP_FLOOR:
    case OP_IDENTITY:
    case OP_LOG:
    case OP_NEG:
    case OP_RECIPROCAL:
    case OP_ROUND_EVEN:
    case OP_SIN:
    case OP_SIGN:
    case OP_SQRT:
    case OP_TAN:
    case OP_ELU:
    case OP_GELU:
    case OP_HARD_SIGMOID:
    case OP_HARD_SWISH:
    case OP_LEAKY_RELU:
    case OP_LINEAR:
    case OP_RELU:
    case OP_SIGMOID:
    case OP_SOFTPLUS:
    case OP_SOFTSIGN:
    case OP_TANH:
        return draw_unary(d);
    case OP_ARG_MIN:
    case OP_ARG_MAX:
    case OP_CUMULATIVE_SUM:
    case OP_SOFTMAX:
        return draw_axis(d);
    case OP_REDUCE_L1:
    case OP_REDUCE_L2:
    case OP_REDUCE_LOG_SUM:
    case OP_REDUCE_LOG_SUM_EXP:
    case OP_REDUCE_MAX:
    case OP_REDUCE_MEAN:
    case OP_REDUCE_MIN:
    case OP_REDUCE_PRODUCT:
    case OP_REDUCE_SUM:
    case OP_REDUCE_SUM_SQUARE:
        return draw_reduce(d);
    case OP_BATCH_NORMALIZATION:
        return draw_batch_normalization(d);
    case OP_INSTANCE_NORMALIZATION:
        return draw_instance_normalization(d);
    case OP_LAYER_NORMALIZATION:
        return draw_layer_normalization(d);
    case OP_CONCAT:
        return draw_concat(d);
    case OP_CONV2D:
        return draw_conv2d(d);
    case OP_CONV_TRANSPOSE2D:
        return draw_conv_transpose2d(d);
    case OP_DEQUANTIZE_LINEAR:
    case OP_QUANTIZE_LINEAR:
        return draw_quantize(d);
    case OP_EXPAND:
        return draw_expand(d);
    case OP_GATHER:
        return draw_gather(d);
    case OP_GATHER_ELEMENTS:
    case OP_SCATTER_ELEMENTS:
        return draw_elements(d);
    case OP_GATHER_ND:
    case OP_SCATTER_ND:
        return draw_nd(d);
    case OP_GEMM:
        return draw_gemm(d);
    case OP_MATMUL:
        return draw_matmul(d);
    case OP_GRU:
    case OP_GRU_CELL:
    case OP_LSTM:
    case OP_LSTM_CELL:
        return draw_recurrent(d);
    case OP_PAD:
        return draw_pad(d);
    case OP_AVERAGE_POOL2D:
    case OP_L2_POOL2D:
    case OP_MAX_POOL2D:
        return draw_pool2d(d);
    case OP_RESAMPLE2D:
        return draw_resample2d(d);
    case OP_RESHAPE:
        return draw_reshape(d);
    case OP_REVERSE:
        return draw_reverse(d);
    case OP_SLICE:
        return draw_slice(d);
    case OP_SPLIT:
        return draw_split(d);
    case OP_TILE:
        return draw_tile(d);
    case OP_TRANSPOSE:
        return draw_transpose(d);
    case OP_TRIANGULAR:
        return draw_triangular(d);
    case OP_WHERE:
        return draw_where(d);
    case OP_COUNT:
        break;
    }
    return false;
}

bool draw_operator(struct generator *r, enum op op)
{
    struct drawing d = {.r = r, .op = op};
    struct node *n;

    memcpy(d.o.bytes, op_infos[op].options_default, op_infos[op].options_size);
    if (!draw_call(&d))
        return false;
    n = append(r, op, d.count, d.inputs, d.o.bytes, &d.args);
    if (!n)
        return false;
    r->hint = n->results[draw(r, n->result_count)];
    return true;
}
