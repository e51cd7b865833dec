/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Does the half of validation that is the same for every operator: it checks arity, data types and ranks by the operator's row
 * before the row's own function, and the limits of the results' types after it.  It also has the specification's broadcasting.
 * A call gets c->options with resolved defaults and c->results, or c->error.
 */
#include "ir/graph/infer.h"

#include "ir/graph/dims.h"
#include "ir/support/text.h"

/* ---- messages ---- */

/* Writes "conv2d [label]", or "conv2d" when the label is empty. */
const char *op_title(enum op op, WNNStringView label, char *buf, size_t size)
{
    char shown[256];

    snprintf(buf, size, view_length(label) ? "%s [%s]" : "%s", op_infos[op].name, view_quote(shown, sizeof shown, label));
    return buf;
}

bool call_error(struct call *c, const char *format, ...)
{
    char title[320], text[sizeof c->error->message] = "";

    WITH_ARGUMENTS(format, vsnprintf(text, sizeof text, format, arguments));
    return error_set(c->error, WNNStatus_TypeError, "%s: %s", node_title(c, title, sizeof title), text);
}

static bool call_out_of_memory(struct call *c)
{
    error_out_of_memory(&c->graph->error);
    return error_out_of_memory(c->error);
}

/* Writes "filter", or "inputs[2]" of a variadic operator. */
static const char *slot_name(const struct call *c, uint32_t slot, char *buf, size_t size)
{
    if (op_infos[c->op].flags & OPF_VARIADIC)
        snprintf(buf, size, "%s[%u]", op_infos[c->op].ins[0].name, slot);
    else
        snprintf(buf, size, "%s", op_infos[c->op].ins[slot].name);
    return buf;
}

enum { NAME_SIZE = 64, SET_SIZE = 96 };

/* Writes "float32, float16". */
static const char *set_print(char *buf, size_t size, dtype_set set)
{
    size_t used = 0;

    buf[0] = '\0';
    for (unsigned t = 1; t < DTYPE_COUNT; t++)
        if (set >> t & 1)
            used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "", dtype_name((dtype)t));
    return buf;
}

/* ---- checks by the row ---- */

static bool check_arity(struct call *c)
{
    uint32_t slots = op_input_slots(c->op), required = op_positional_inputs(c->op);

    if (op_infos[c->op].flags & OPF_VARIADIC) {
        if (c->input_count == 0 || c->input_count > TENSOR_COUNT_MAX)
            return call_error(c, "%s has %u operands, allowed are 1 to %d", op_infos[c->op].ins[0].name, c->input_count,
                              TENSOR_COUNT_MAX);
        required = c->input_count;
    } else {
        if (c->input_count < required || c->input_count > slots)
            return call_error(c, "%u operands given, %u expected", c->input_count, required);
        if (c->input_count < slots) {
            /* Trailing optional operands may be left out; everything after this may index all slots. */
            struct value **inputs = arena_array(&c->graph->arena, slots, sizeof *inputs);
            if (!inputs)
                return call_out_of_memory(c);
            if (c->input_count)
                memcpy(inputs, c->inputs, c->input_count * sizeof *inputs);
            c->inputs = inputs;
            c->input_count = slots;
        }
    }
    for (uint32_t i = 0; i < required; i++) {
        char name[NAME_SIZE];
        if (!c->inputs[i])
            return call_error(c, "%s is missing", slot_name(c, i, name, sizeof name));
    }
    return true;
}

static bool check_data_types(struct call *c)
{
    char name[NAME_SIZE], other[NAME_SIZE], set[SET_SIZE];

    for (uint32_t i = 0; i < c->input_count; i++) {
        dtype_set allowed = op_operand(c->op, i)->types;

        if (!c->inputs[i])
            continue;
        dtype t = c->inputs[i]->type.type;
        if (allowed & DT_AS_FLAG) {
            uint32_t as = allowed & ~DT_AS_FLAG;
            if (t != c->inputs[as]->type.type)
                return call_error(c, "%s has data type %s, %s has %s", slot_name(c, i, name, sizeof name), dtype_name(t),
                                  slot_name(c, as, other, sizeof other), dtype_name(c->inputs[as]->type.type));
        } else if (!(allowed >> t & 1) &&
                   !(allowed == DT_ANY && (t == DTYPE_BFLOAT16 || t == DTYPE_FLOAT64 || t == DTYPE_INT16)) &&
                   !(op_draft_types(c->op, op_operand(c->op, i)) >> t & 1) && !(c->op == OP_CAST && dtype_packed_bits(t)) &&
                   !(op_infos[c->op].flags & OPF_FLOAT64 && t == DTYPE_FLOAT64)) {
            return call_error(c, "%s has data type %s, allowed are %s", slot_name(c, i, name, sizeof name), dtype_name(t),
                              set_print(set, sizeof set, allowed));
        }
    }
    return true;
}

static bool check_ranks(struct call *c)
{
    char name[NAME_SIZE], other[NAME_SIZE];

    for (uint32_t i = 0; i < c->input_count; i++) {
        const struct operand_info *info = op_operand(c->op, i);

        if (!c->inputs[i])
            continue;
        uint32_t rank = c->inputs[i]->type.rank;
        if (info->rank_min < 0) {
            uint32_t as = (uint32_t)(-info->rank_min - 1);
            if (rank != c->inputs[as]->type.rank)
                return call_error(c, "%s has rank %u, %s has %u", slot_name(c, i, name, sizeof name), rank,
                                  slot_name(c, as, other, sizeof other), c->inputs[as]->type.rank);
        } else if (rank < (uint32_t)info->rank_min || rank > (uint32_t)info->rank_max) {
            if (info->rank_min == info->rank_max)
                return call_error(c, "%s has rank %u, must be %d", slot_name(c, i, name, sizeof name), rank, info->rank_min);
            return call_error(c, "%s has rank %u, allowed are %d to %d", slot_name(c, i, name, sizeof name), rank,
                              info->rank_min, info->rank_max);
        }
    }
    return true;
}

/* Checks the lists.  One without a pointer is absent, whatever its count says; positional ones must be there. */
static bool check_lists(struct call *c)
{
    for (const struct attr_info *a = op_infos[c->op].attrs; a->kind != ATTR_NONE; a++) {
        char *object = a->positional ? (char *)&c->args : c->options;
        size_t count;

        if ((a->kind != ATTR_U32_LIST && a->kind != ATTR_F32_LIST && a->kind != ATTR_ENUM_LIST) ||
            attr_value(a, c->options, &c->args))
            continue;
        memcpy(&count, object + a->count_offset, sizeof count);
        if (a->positional && count)
            return call_error(c, "%s has %zu items, but is NULL", a->name, count);
        memset(object + a->count_offset, 0, sizeof count);
    }
    return true;
}

/* Does "check dimensions" of an open type: its dimensions have been checked one by one. */
static bool check_open_type(struct call *c, const struct tensor_type *t, const char *what)
{
    struct graph *g = c->graph;

    if (dims_at_least(g, dims_constant(g, ELEMENT_COUNT_MAX), dims_elements(g, t->rank, t->dims)) == ANSWER_NO)
        return error_set(c->error, WNNStatus_TypeError, "%s has always more than %d elements, the largest count", what,
                         ELEMENT_COUNT_MAX);
    return !g->error.status || error_out_of_memory(c->error);
}

static bool check_results(struct call *c)
{
    const struct op_info *info = &op_infos[c->op];
    char title[320], what[400];

    for (uint32_t i = 0; i < c->result_count; i++) {
        struct error unsaid = {0}; /* most results are right: no message is begun for them */
        uint32_t rows = 0;

        if (!type_is_open(&c->results[i]) && type_check(&c->results[i], "", &unsaid))
            continue;
        node_title(c, title, sizeof title);
        while (info->outs[rows].name)
            rows++;
        if (c->result_count > rows) /* split */
            snprintf(what, sizeof what, "%s: %s[%u]", title, info->outs[0].name, i);
        else
            snprintf(what, sizeof what, "%s: %s", title, info->outs[i].name);
        if (type_is_open(&c->results[i]) ? !check_open_type(c, &c->results[i], what)
                                         : !type_check(&c->results[i], what, c->error))
            return false;
    }
    return true;
}

bool call_infer(struct call *c)
{
    const struct op_info *info = &op_infos[c->op];

    if (!c->options) {
        c->options = arena_copy(&c->graph->arena, info->options_default, info->options_size);
        if (!c->options)
            return call_out_of_memory(c);
    }
    if (!c->results) {
        c->results = arena_array(&c->graph->arena, OP_RESULTS_MAX, sizeof *c->results);
        if (!c->results)
            return call_out_of_memory(c);
    }
    c->result_count = 0;
    return check_lists(c) && check_arity(c) && check_data_types(c) && check_ranks(c) && info->infer(c) && check_results(c);
}

struct node *node_create(struct graph *g, struct node *before, enum op op, const char *label, uint32_t input_count,
                         struct value *const *inputs, const void *options, const union op_args *args, struct error *error)
{
    /* Inference writes resolved defaults into the option struct; the caller's stays as it is. */
    union {
        max_align_t align;
        char bytes[512];
    } copy;
    struct tensor_type results[OP_RESULTS_MAX];
    struct call c = {
        .graph = g,
        .op = op,
        .label = label ? label : "",
        .input_count = input_count,
        .inputs = inputs,
        .options = copy.bytes,
        .results = results,
        .error = error ? error : &g->error,
    };

    _Static_assert(sizeof(WNNConvTranspose2dOptions) <= sizeof copy, "the largest option struct");
    memcpy(copy.bytes, options ? options : op_infos[op].options_default, op_infos[op].options_size);
    memset(results, 0, sizeof results);
    if (args)
        c.args = *args;
    return call_infer(&c) ? node_create_inferred(&c, before) : NULL;
}

/* ---- broadcasting ---- */

/* Returns dimension i of t as if it had `rank` dimensions, padded with 1 in front. */
static uint32_t padded_dim(const struct tensor_type *t, uint32_t rank, uint32_t i)
{
    uint32_t padding = rank - t->rank;

    return i < padding ? 1 : t->dims[i - padding];
}

/* Returns the dimension that two become, or DIM_NONE if they are not broadcastable.  An open one may be 1. */
static uint32_t broadcast_dim(struct graph *g, uint32_t x, uint32_t y)
{
    if (x == y || y == 1)
        return x;
    if (x == 1)
        return y;
    if (!dim_is_open(x | y))
        return DIM_NONE;
    const dim_expr a = dims_of(g, x), b = dims_of(g, y), two = dims_constant(g, 2);
    const bool above_x = dims_at_least(g, a, two) == ANSWER_YES, above_y = dims_at_least(g, b, two) == ANSWER_YES;
    if (above_x && above_y && dims_equal(g, a, b) == ANSWER_NO)
        return DIM_NONE;
    if (above_x || above_y)
        return above_x ? x : y;
    return DIM_OPEN | dims_extreme(g, a, b, true);
}

bool shape_broadcast(struct graph *g, const struct tensor_type *a, const struct tensor_type *b, struct tensor_type *out)
{
    uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
    uint32_t dims[RANK_MAX] = {0};

    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = broadcast_dim(g, padded_dim(a, rank, i), padded_dim(b, rank, i));
        if (dims[i] == DIM_NONE)
            return false;
    }
    out->rank = rank;
    memcpy(out->dims, dims, sizeof dims); /* at the end: out may be a or b */
    return true;
}

bool shape_broadcasts_to(struct graph *g, const struct tensor_type *from, const struct tensor_type *to)
{
    if (from->rank > to->rank)
        return false;
    for (uint32_t i = 0; i < to->rank; i++) {
        uint32_t dim = padded_dim(from, to->rank, i);
        if (dim_differs(g, dim, to->dims[i]) && dim_differs(g, dim, 1))
            return false;
    }
    return true;
}

bool shape_broadcasts_blockwise(const struct tensor_type *from, const struct tensor_type *to)
{
    if (from->rank != to->rank)
        return false;
    for (uint32_t i = 0; i < to->rank; i++)
        if (!dim_is_open(to->dims[i] | from->dims[i]) && to->dims[i] % from->dims[i] != 0)
            return false;
    return true;
}
