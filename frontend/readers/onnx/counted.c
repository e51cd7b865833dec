/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/readers/onnx/counted.h"

#include <math.h>
#include <string.h>

#include "frontend/readers/onnx/compose.h"
#include "frontend/readers/onnx/internal.h"

/* ---- counts ---- */

static WNNOperand number(struct onnx_node *n, int64_t value)
{
    return wnnGraphBuilderConstantScalar(n->builder, WNNOperandDataType_Int32, wnnNumberInt64(value));
}

void onnx_set_count(struct onnx_node *n, WNNOperand count, uint32_t axis)
{
    n->count = onnx_reshape(n, onnx_cast(n, count, WNNOperandDataType_Int32), 0, NULL);
    n->counted = axis;
}

WNNOperand onnx_count_slice(struct onnx_node *n, WNNOperand count, int64_t start, int64_t end)
{
    const int64_t from = start < INT32_MAX ? start : INT32_MAX, to = end < INT32_MAX ? end : INT32_MAX;

    count = to < 0 ? onnx_add(n, count, number(n, to < -INT32_MAX ? -INT32_MAX : to)) : onnx_min(n, count, number(n, to));
    return onnx_max(n, onnx_sub(n, count, number(n, from)), number(n, 0));
}

WNNOperand onnx_compact(struct onnx_node *n, WNNOperand flags, WNNOperand *count)
{
    const WNNOperand each = onnx_iota(n, WNNOperandDataType_Int32, 1, 0, onnx_dims_of(n, flags).at[0]);
    const WNNOperand before = onnx_sum_before(n, flags);
    WNNOperand place;

    *count = onnx_reshape(n, onnx_reduce_axis(n, wnnGraphBuilderReduceSum, flags, 0), 0, NULL);
    /* Those that are set come first, the others after them. */
    place = onnx_add(n, onnx_sub(n, each, before), *count);
    place = onnx_where(n, onnx_cast(n, flags, WNNOperandDataType_Uint8), before, place);
    return onnx_scatter_elements(n, each, place, each, 0);
}

WNNOperand onnx_fill_padding(struct onnx_node *n, const struct onnx_value *v, WNNOperand x, WNNOperand value)
{
    const WNNOperand each = onnx_iota(n, WNNOperandDataType_Int32, v->rank, v->counted, (uint32_t)v->dims[v->counted]);

    return onnx_where(n, onnx_lesser(n, each, v->count), x, value);
}

/** Puts an operand in the place of an input's, whose count stays. */
static void replace_input(struct onnx_node *n, size_t i, WNNOperand operand)
{
    struct onnx_value *v = onnx_alloc(n, 1, sizeof *v);

    if (!v)
        return;
    *v = *n->inputs[i];
    v->operand = operand;
    v->sums = v->wide = NULL;
    v->data = v->file = v->raw = NULL;
    v->is_static = false;
    n->inputs[i] = v;
}

/* ---- where results have the dimension ---- */

enum { DROPPED = -1, REFUSED = -2 };

/** Returns the counted dimension of the result, for input i, whose counted one is `at`, of `rank`. */
typedef int (*counting_rule)(struct onnx_node *n, size_t i, int at, int rank);

static int rank_of(const struct onnx_node *n, size_t i)
{
    return n->inputs[i] ? (int)n->inputs[i]->rank : 0;
}

static int axis_of(struct onnx_node *n, const char *name, int64_t fallback, int rank)
{
    uint32_t axis;

    onnx_axis(n, onnx_int(n, name, fallback), (size_t)rank, &axis);
    return (int)axis;
}

/** Operators on elements, with broadcasting. */
static int elements(struct onnx_node *n, size_t i, int at, int rank)
{
    (void)i;
    return (int)n->outputs[0]->rank - rank + at;
}

/** Operators whose results have the dimension of their first input. */
static int same(struct onnx_node *n, size_t i, int at, int rank)
{
    (void)n, (void)rank;
    return i ? REFUSED : at;
}

/** Of the second input only the type matters. */
static int like(struct onnx_node *n, size_t i, int at, int rank)
{
    (void)n, (void)rank;
    return i ? DROPPED : at;
}

static int split(struct onnx_node *n, size_t i, int at, int rank)
{
    return i || at == axis_of(n, "axis", 0, rank) ? REFUSED : at;
}

/** Operators along an axis, before version 13 also along those after it.  They may read padding, which fill has set. */
static int across(struct onnx_node *n, size_t i, int at, int rank)
{
    return same(n, i, at, rank);
}

/** Normalizations of the axes from one on. */
static int above(struct onnx_node *n, size_t i, int at, int rank)
{
    return i || at >= axis_of(n, "axis", -1, rank) ? REFUSED : at;
}

/** Operators on each picture of a batch. */
static int batch(struct onnx_node *n, size_t i, int at, int rank)
{
    (void)n, (void)rank;
    return i || at ? REFUSED : 0;
}

/** RoiAlign, of each region. */
static int rois(struct onnx_node *n, size_t i, int at, int rank)
{
    (void)n, (void)rank;
    return i && !at ? 0 : REFUSED;
}

static int rows(struct onnx_node *n, size_t i, int at, int rank)
{
    return i || at + 1 == rank ? REFUSED : (int)n->outputs[0]->rank - rank + at + (rank_of(n, 1) == 1);
}

static int gemm(struct onnx_node *n, size_t i, int at, int rank)
{
    (void)rank;
    return i || at || onnx_int(n, "transA", 0) ? REFUSED : 0;
}

static int gather(struct onnx_node *n, size_t i, int at, int rank)
{
    const int axis = axis_of(n, "axis", 0, rank_of(n, 0));

    (void)rank;
    return i ? axis + at : at == axis ? DROPPED : at < axis ? at : at + rank_of(n, 1) - 1;
}

static int gather_elements(struct onnx_node *n, size_t i, int at, int rank)
{
    return i || at != axis_of(n, "axis", 0, rank) ? at : DROPPED;
}

static int gather_nd(struct onnx_node *n, size_t i, int at, int rank)
{
    const int last = rank_of(n, 1) - 1, width = last < 0 ? 0 : (int)n->inputs[1]->dims[last];

    (void)rank;
    if (onnx_int(n, "batch_dims", 0))
        return REFUSED;
    return i ? (at < last ? at : REFUSED) : at < width ? DROPPED : last + at - width;
}

static int transposed(struct onnx_node *n, size_t i, int at, int rank)
{
    size_t count;
    const int64_t *permutation = onnx_ints(n, "perm", &count);

    (void)i;
    for (int d = 0; permutation && d < rank && d < (int)count; d++)
        if (permutation[d] == at)
            return d;
    return permutation ? REFUSED : rank - 1 - at;
}

/**
 * Reshapes: the elements in front of the dimension must be those in front of one of the result, which may have it together with
 * dimensions that follow, or a part of it.
 */
static int reshaped(struct onnx_node *n, size_t i, int at, int rank)
{
    const struct onnx_value *in = n->inputs[0], *out = n->outputs[0];
    const int64_t size = in->dims[at];
    int64_t before = 1, passed = 1;
    size_t given = 0;
    const int64_t *shape = strcmp(n->row->name, "Reshape") ? NULL
                           : n->version < 5                ? onnx_ints(n, "shape", &given)
                                                           : onnx_integers(n, 1, &given);
    int to = REFUSED;

    (void)i, (void)rank;
    for (int d = 0; d < at; d++)
        before *= in->dims[d];
    for (int d = 0; d < (int)out->rank && passed <= before; passed *= out->dims[d++]) {
        if (passed != before || (out->dims[d] == 1 && size > 1))
            continue;
        if (to != REFUSED) /* with sizes of 1 it is not clear */
            return REFUSED;
        to = d;
    }
    if (to != REFUSED && n->open && (uint32_t)to + 1 != n->open)
        return REFUSED;
    for (size_t d = 0; shape && to != REFUSED && !n->open && d < given; d++)
        if (shape[d] == -1 && (int)d != to && shape[to] > 0)
            return REFUSED; /* another size depends on how many count */
    if (to == REFUSED || size == out->dims[to])
        return to;
    if (out->dims[to] % size && size % out->dims[to])
        return REFUSED;
    n->count = out->dims[to] > size ? onnx_mul(n, in->count, number(n, out->dims[to] / size))
                                    : wnnGraphBuilderDiv(n->builder, in->count, number(n, size / out->dims[to]), n->options);
    return to;
}

static int concat(struct onnx_node *n, size_t i, int at, int rank)
{
    (void)i;
    return axis_of(n, "axis", 1, rank) == at && n->count ? DROPPED : at;
}

static int sliced(struct onnx_node *n, size_t i, int at, int rank)
{
    (void)n, (void)rank;
    return i ? REFUSED : at; /* along it: onnx_import_slice calls onnx_count_slice */
}

/** Scatters: of updates and indices only those that count are written (extend_scattered). */
static int scattered(struct onnx_node *n, size_t i, int at, int rank)
{
    (void)rank;
    if (i == 2 && (!n->inputs[1]->count || (int)n->inputs[1]->counted != at))
        return REFUSED;
    return i ? DROPPED : at;
}

/** Returns whether a reduction is over a dimension of its input. */
static bool reduces(struct onnx_node *n, int at, int rank)
{
    size_t count = 0;
    const int64_t *axes = onnx_has(n, "axes") ? onnx_ints(n, "axes", &count)
                          : onnx_input(n, 1)  ? onnx_integers(n, 1, &count)
                                              : NULL;

    if (!strncmp(n->row->name, "Arg", 3))
        return axis_of(n, "axis", 0, rank) == at;
    if (!count)
        return !onnx_int(n, "noop_with_empty_axes", 0);
    for (size_t i = 0; i < count; i++)
        if (axes[i] == at || axes[i] + rank == at)
            return true;
    return false;
}

bool onnx_reduces_counted(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];

    return v->count && reduces(n, (int)v->counted, (int)v->rank);
}

static int reduced(struct onnx_node *n, size_t i, int at, int rank)
{
    int dropped = 0;

    if (i)
        return REFUSED;
    if (reduces(n, at, rank))
        return DROPPED;
    for (int d = 0; d < at; d++)
        dropped += reduces(n, d, rank);
    return onnx_int(n, "keepdims", 1) ? at : at - dropped;
}

static int top_k(struct onnx_node *n, size_t i, int at, int rank)
{
    (void)rank;
    if (!i && !n->count && axis_of(n, "axis", -1, rank) == at)
        n->count = onnx_min(n, n->inputs[0]->count, number(n, n->outputs[0]->dims[at]));
    return i ? REFUSED : at;
}

static int cumulated(struct onnx_node *n, size_t i, int at, int rank)
{
    (void)rank;
    return i || onnx_int(n, "reverse", 0) ? REFUSED : at;
}

/** Operators that set counts themselves (onnx_set_count). */
static int own(struct onnx_node *n, size_t i, int at, int rank)
{
    (void)n, (void)i, (void)at, (void)rank;
    return DROPPED;
}

static const counting_rule rules[] = {
#define COUNTING(NAME, rule) [ONNX_COUNTING_##NAME] = rule
    ONNX_COUNTINGS(COUNTING)
#undef COUNTING
};

/** Returns the rule of the node's operator, or NULL if it takes no counted values. */
static counting_rule rule_of(const struct onnx_node *n)
{
    return rules[n->row->flags >> ONNX_COUNTING_SHIFT];
}

static bool refuse(struct onnx_node *n, size_t i)
{
    const struct onnx_value *v = n->inputs[i];

    return onnx_refuse(n,
                       "input %zu has at most %lld elements along dimension %u, how many is known at run time only, and the "
                       "operator cannot take that there",
                       i, (long long)v->dims[v->counted], v->counted);
}

/* ---- padding that would be read ---- */

static WNNOperand extreme(struct onnx_node *n, WNNOperandDataType type, bool highest)
{
    const unsigned bits = 8 * (unsigned)wnnOperandDataTypeGetByteSize(type);
    const bool is_signed = onnx_type_is_signed(onnx_type_of(type));
    const uint64_t most = UINT64_MAX >> ((64 - bits + is_signed) & 63); /* of integers; float64 has 0 bits here */

    if (onnx_type_is_float(onnx_type_of(type)))
        return onnx_scalar(n, type, highest ? INFINITY : -INFINITY);
    return wnnGraphBuilderConstantScalar(n->builder, type,
                                         highest     ? wnnNumberUint64(most)
                                         : is_signed ? wnnNumberInt64(-(int64_t)most - 1)
                                                     : wnnNumberInt64(0));
}

/** Fills the padding of input 0, which the operator reads, with what changes no result. */
static void fill(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    const char *name = n->row->name;
    const WNNOperand x = onnx_operand(n, 0);
    const WNNOperandDataType type = wnnOperandGetDataType(x);
    const bool is_max = strstr(name, "Max") || strstr(name, "max") || strstr(name, "SumExp") ||
                        (!strcmp(name, "TopK") && onnx_int(n, "largest", 1));
    const bool is_min = strstr(name, "Min") || (!strcmp(name, "TopK") && !is_max);

    replace_input(
        n, 0,
        onnx_fill_padding(n, v, x,
                          is_max || is_min ? extreme(n, type, is_min) : onnx_scalar(n, type, strstr(name, "Prod") != NULL)));
}

/** Indices into a counted dimension that are negative count from the last element that counts. */
static void wrap_indices(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *indices = onnx_input(n, 1);
    const bool nd = !strcmp(n->row->name, "GatherND");
    const uint32_t width = nd && indices->rank ? (uint32_t)indices->dims[indices->rank - 1] : 1;
    WNNOperand at = onnx_operand(n, 1), from = onnx_cast(n, v->count, wnnOperandGetDataType(at));
    bool negative = !onnx_is_constant(n, 1);

    for (int64_t i = 0; !negative && i < onnx_elements(indices); i++)
        negative = onnx_element_int(indices, (size_t)i) < 0;
    if (!negative)
        return;
    if (width > 1) { /* of the coordinates only one */
        const WNNOperand each = onnx_iota(n, WNNOperandDataType_Int32, 1, 0, width);

        from = onnx_mul(n, from, onnx_cast(n, onnx_equal(n, each, number(n, v->counted)), wnnOperandGetDataType(at)));
    }
    replace_input(n, 1, onnx_where(n, onnx_lesser(n, at, onnx_scalar_like(n, at, 0)), onnx_add(n, at, from), at));
}

/**
 * Lets padding of indices write to one more slice of input 0, which is cut off afterwards: along the axis of ScatterElements,
 * or along the first one of ScatterND.
 */
static void extend_scattered(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *indices = n->inputs[1];
    const bool nd = !strcmp(n->row->name, "ScatterND");
    const int axis = nd ? 0 : axis_of(n, "axis", 0, (int)v->rank);
    struct onnx_dims after = {v->rank, {0}};
    const WNNOperandDataType i32 = WNNOperandDataType_Int32;
    WNNOperand at = onnx_operand(n, 1), size, end, x = onnx_operand(n, 0);

    if (n->refused || !v->rank || !indices->rank || (nd && indices->counted + 1 == indices->rank)) {
        refuse(n, 1);
        return;
    }
    /* Negative indices count from the end of the earlier list; of coordinates that is the first one. */
    size = onnx_scalar_like(n, at, (double)v->dims[axis]);
    end = v->count && (int)v->counted == axis ? onnx_cast(n, v->count, wnnOperandGetDataType(at)) : size;
    if (nd)
        end = onnx_where(n, onnx_equal(n, onnx_iota(n, i32, 1, 0, (uint32_t)indices->dims[indices->rank - 1]), number(n, 0)),
                         end, onnx_scalar_like(n, at, 0));
    at = onnx_where(n, onnx_lesser(n, at, onnx_scalar_like(n, at, 0)), onnx_add(n, at, end), at);
    replace_input(n, 1, onnx_fill_padding(n, indices, at, size));
    after.at[axis] = 1;
    replace_input(n, 0, onnx_pad(n, x, (struct onnx_dims){v->rank, {0}}, after, 0));
    n->inputs[0]->dims[axis]++;
    n->extended = (uint32_t)axis + 1;
}

/** Cuts off what extend_scattered added. */
static void cut_scattered(struct onnx_node *n)
{
    struct onnx_value *v = n->outputs[0];

    n->inputs[0]->dims[n->extended - 1]--; /* it is a copy */
    v->operand = onnx_slice_axis(n, onnx_value_operand(n, v), n->extended - 1, 0, (uint32_t)--v->dims[n->extended - 1]);
}

/* ---- nodes ---- */

static bool is_counted(const struct onnx_node *n, size_t i)
{
    return n->inputs[i] && n->inputs[i]->count;
}

bool onnx_count_inputs(struct onnx_node *n)
{
    const counting_rule rule = rule_of(n);
    bool any = false;

    for (size_t i = 0; i < n->input_count; i++) {
        any = any || is_counted(n, i);
        if (is_counted(n, i) && !rule)
            return refuse(n, i);
    }
    if (rule == scattered && n->input_count > 2 && is_counted(n, 1))
        extend_scattered(n);
    if (!any || !is_counted(n, 0) || n->refused)
        return !n->refused;
    const int at = (int)n->inputs[0]->counted, rank = (int)n->inputs[0]->rank;

    if ((rule == reduced && reduces(n, at, rank)) ||
        (rule == across && (n->version < 13 || at == axis_of(n, "axis", -1, rank))) ||
        (rule == top_k && axis_of(n, "axis", -1, rank) == at))
        fill(n);
    else if ((rule == gather && axis_of(n, "axis", 0, rank) == at) ||
             (rule == gather_elements && axis_of(n, "axis", 0, rank) == at) ||
             (rule == gather_nd && rank_of(n, 1) && at < n->inputs[1]->dims[rank_of(n, 1) - 1]))
        wrap_indices(n);
    return !n->refused;
}

/** Finds by the rule which dimension of the results is counted.  Returns false after refusing. */
static bool find_counted(struct onnx_node *n, bool *found)
{
    const counting_rule rule = rule_of(n);
    const WNNOperand given = n->count; /* by the importer */
    WNNOperand count = given;

    for (size_t i = 0; i < n->input_count; i++) {
        const struct onnx_value *v = n->inputs[i];

        if (!is_counted(n, i) || n->outputs[0] == v)
            continue; /* not, or it is passed on */
        n->count = given;
        const int to = rule(n, i, (int)v->counted, (int)v->rank);

        if (to == DROPPED)
            continue;
        if (to < 0 || to >= (int)n->outputs[0]->rank || (*found && (uint32_t)to != n->counted) ||
            (!n->count && n->outputs[0]->dims[to] != v->dims[v->counted]))
            return refuse(n, i);
        n->counted = (uint32_t)to;
        count = n->count ? n->count : v->count;
        *found = true;
    }
    n->count = count;
    return true;
}

bool onnx_count_outputs(struct onnx_node *n)
{
    bool found = n->count, any = found;

    for (size_t i = 0; i < n->input_count; i++)
        any = any || is_counted(n, i);
    if (!any || n->refused)
        return !n->refused;
    if (!n->outputs[0])
        return onnx_refuse(n, "nothing reads its output 0, and the size of an input is known at run time only");
    if (n->extended)
        cut_scattered(n);
    if (!find_counted(n, &found))
        return false;
    for (size_t i = 0; found && i < n->output_count; i++) {
        struct onnx_value *v = n->outputs[i], *counted;

        if (!v || v->count == n->count)
            continue;
        counted = onnx_alloc(n, 1, sizeof *counted);
        if (!counted)
            return false;
        *counted = *v;
        counted->count = n->count;
        counted->counted = n->counted;
        counted->operand = onnx_value_operand(n, v);
        counted->data = counted->file = counted->raw = NULL;
        counted->is_static = false;
        n->outputs[i] = counted;
    }
    return true;
}

bool onnx_refuse_counted(struct onnx_node *n, size_t count, struct onnx_value *const *values)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] && values[i]->count)
            return onnx_refuse(n,
                               "output %zu of its body has at most %lld elements along dimension %u, how many is known at run "
                               "time only",
                               i, (long long)values[i]->dims[values[i]->counted], values[i]->counted);
    return true;
}

bool onnx_add_counts(struct onnx_scope *scope)
{
    struct onnx_reader *r = scope->reader;
    const size_t count = r->model->output_count;
    bool found, ok = true;

    for (size_t i = 0; ok && i < count; i++) {
        const struct onnx_value *v = onnx_lookup(scope, r->model->outputs[i].name, &found);

        if (v && v->count)
            ok = model_add_count(r->model, i, v->counted, wnnGraphBuilderIdentity(r->model->builder, v->count, NULL)) ||
                 onnx_fail_memory(r);
    }
    return ok;
}
