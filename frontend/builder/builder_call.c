/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every operator method goes the same way from public arguments to a node of the graph, in the order of the specification's
 * steps:
 *
 *   call_begin     checks "if this can not build", and copies the option struct, of whatever version, and the label
 *   call_operands  takes the steps of "validating operand" for the positional operands and of those in the options
 *   call_values    checks what converting to the IDL's types asks of values: enumerations in range, doubles finite
 *   call_end       calls call_infer (ir/graph/infer.c and the operator's own steps), checks the context's limits, and makes
 *                  the node
 */
#include "frontend/builder/builder.h"

#include "ir/graph/dims.h"
#include "ir/graph/op_draft.h"
#include "ir/support/struct_size.h"
#include "runtime/api/runtime.h"

struct method {
    WNNGraphBuilder builder;
    struct call call;
    struct error error;
    struct value *slots[OP_OPERANDS_MAX];
    struct tensor_type results[OP_RESULTS_MAX];
    WNNOperand *operands; /* of the results */
    union {
        max_align_t align;
        char bytes[256];
    } options;
};

_Static_assert(sizeof(WNNConvTranspose2dOptions) <= sizeof(((struct method *)0)->options), "the largest option struct");

/** Makes options as this version has them, and the label, of what the program gave. */
static bool call_options(struct method *m, WNNGraphBuilder b, const void *options)
{
    const struct op_info *info = &op_infos[m->call.op];
    const struct known_struct known = {info->options_size, info->options_first_size, info->options_default, info->options_init};
    const char *wrong = NULL;
    WNNStringView label;
    char text[300];
    size_t size;

    memcpy(m->options.bytes, info->options_default, info->options_size);
    if (options)
        wrong = struct_read(m->options.bytes, options, &known, text, sizeof(text));
    memcpy(&label, m->options.bytes + OPTIONS_LABEL, sizeof(label));
    if (view_length(label) > NAME_BYTES_MAX)
        return call_error(&m->call, "the label has %zu bytes, more than %d", view_length(label), NAME_BYTES_MAX);
    if (view_length(label)) {
        /* The label is in the builder's arena: messages need it even after the graph is gone. */
        m->call.label = arena_string(&b->arena, label.data, view_length(label));
        if (!m->call.label)
            return error_out_of_memory(&m->error);
    }
    memcpy(&size, m->options.bytes, sizeof(size));
    return wrong ? call_error(&m->call, "%s", wrong) : size || options_fill_zeros(&m->call, m->options.bytes);
}

static bool call_begin(struct method *m, WNNGraphBuilder b, enum op op, const void *options, const union op_args *args)
{
    m->builder = b;
    m->operands = NULL;
    m->error.status = WNNStatus_Success;
    m->call = (struct call){.op = op, .label = "", .options = m->options.bytes, .results = m->results, .error = &m->error};
    if (!b)
        return call_error(&m->call, "builder is NULL");
    if (args)
        m->call.args = *args;
    m->call.graph = b->graph;
    if (!call_options(m, b, options))
        return false;
    if (b->has_built || wnnContextIsLost(b->context)) {
        call_error(&m->call, b->has_built ? "the builder has built its graph already" : "the context is lost");
        m->error.status = WNNStatus_InvalidStateError;
        return false;
    }
    return true;
}

/** Puts one operand into its slot.  index counts within a variadic operand. */
static bool call_operand(struct method *m, const struct operand_info *info, WNNOperand operand, size_t index,
                         struct value **slot)
{
    char name[80];
    bool variadic = op_infos[m->call.op].flags & OPF_VARIADIC;

    if (operand && operand->builder == m->builder && operand->value && operand->value->graph == m->builder->graph) {
        *slot = operand->value;
        return true;
    }
    snprintf(name, sizeof(name), variadic ? "%s%s[%zu]" : "%s%s", info->optional ? "options." : "", info->name, index);
    if (!operand)
        return call_error(&m->call, "%s is NULL", name);
    if (operand->builder != m->builder)
        return call_error(&m->call, "%s is an operand of another builder", name);
    if (operand->value)
        return call_error(&m->call, "%s belongs to a loop that has ended", name);
    return call_error(&m->call, "%s is an error operand, the result of a call that failed", name);
}

static bool call_operands(struct method *m, size_t count, WNNOperand const *operands)
{
    const struct op_info *info = &op_infos[m->call.op];
    struct value **slots = m->slots;
    uint32_t slot = 0;

    memset(m->slots, 0, sizeof(m->slots));
    if (info->flags & OPF_VARIADIC) {
        if (count > TENSOR_COUNT_MAX)
            return call_error(&m->call, "the number of %s is %zu, not from 1 to %d", info->ins[0].name, count,
                              TENSOR_COUNT_MAX);
        if (count && !operands)
            return call_error(&m->call, "%s is NULL", info->ins[0].name);
        slots = arena_array(&m->builder->graph->arena, count, sizeof(*slots));
        if (!slots)
            return error_out_of_memory(&m->error);
    }
    for (size_t i = 0; i < count; i++, slot++)
        if (!call_operand(m, op_operand(m->call.op, i), operands[i], i, &slots[slot]))
            return false;
    for (const struct operand_info *in = info->ins; in->name; in++) {
        WNNOperand operand;

        if (!in->optional)
            continue;
        memcpy(&operand, m->options.bytes + in->option_offset, sizeof(operand));
        if (operand && !call_operand(m, in, operand, 0, &slots[slot]))
            return false;
        slot++;
    }
    m->call.inputs = slots;
    m->call.input_count = slot;
    return true;
}

/** Checks one value or list item. */
static bool check_value(struct method *m, const struct attr_info *a, const void *values, size_t i)
{
    const char *bytes = values;
    uint32_t u;
    double d;
    float f;
    WNNNumber n;

    switch (a->kind) {
    case ATTR_ENUM:
    case ATTR_ENUM_LIST:
        memcpy(&u, bytes + i * sizeof(u), sizeof(u));
        return enum_value_name(a->enumeration, u) || call_error(&m->call, "%s has no value %u", a->name, u);
    case ATTR_F64:
        memcpy(&d, bytes, sizeof(d));
        return isfinite(d) || call_error(&m->call, "%s is %g, not a finite number", a->name, d);
    case ATTR_F32_LIST:
        memcpy(&f, bytes + i * sizeof(f), sizeof(f));
        return isfinite(f) || call_error(&m->call, "%s[%zu] is %g, not a finite number", a->name, i, (double)f);
    case ATTR_NUMBER:
        memcpy(&n, bytes, sizeof(n));
        return (unsigned)n.type <= WNNNumberType_Uint64 ||
               call_error(&m->call, "%s has number type %u", a->name, (unsigned)n.type);
    case ATTR_NONE:
    case ATTR_U32:
    case ATTR_I32:
    case ATTR_BOOL:
    case ATTR_DATA_TYPE: /* the operators' own steps name the allowed ones */
    case ATTR_U32_LIST:
        break;
    }
    return true;
}

static bool call_values(struct method *m)
{
    for (const struct attr_info *a = op_infos[m->call.op].attrs; a->kind; a++) {
        const void *values = attr_value(a, m->options.bytes, &m->call.args);
        size_t count = attr_count(a, m->options.bytes, &m->call.args);

        if (!attr_check_list(&m->call, a))
            return false;
        for (size_t i = 0; values && i < count; i++)
            if (!check_value(m, a, values, i))
                return false;
    }
    return true;
}

/** Checks what the context's engine can do, which opSupportLimits tells beforehand. */
static bool check_supported(struct method *m, uint32_t slot, const char *name, const struct tensor_type *t)
{
    /* A draft's operator becomes one that the context has been asked about, when the graph is made for certain sizes. */
    dtype_set types = op_is_draft(m->call.op) ? DT_ANY : runtime_supported_types(m->builder->context, m->call.op, slot);

    /* Programs cannot name packed types, nor all of them those of the draft: the builder has put such a constant in front of
     * its cast.  Those that have asked for float64 read it by the operators that passes may have it of. */
    if (types & DT_AS_FLAG || types & 1u << t->type || dtype_packed_bits(t->type) ||
        (m->call.op == OP_CAST && slot == 0 && dtype_is_draft(t->type)) ||
        (t->type == DTYPE_FLOAT64 && (m->call.op != OP_CAST || slot == 0 || m->builder->to_float64)))
        return true;
    return call_error(&m->call, "%s has data type %s, which this context does not support here", name, dtype_name(t->type));
}

static bool call_limits(struct method *m)
{
    const struct op_info *info = &op_infos[m->call.op];
    bool variadic = info->flags & OPF_VARIADIC;

    for (uint32_t i = 0; i < m->call.input_count; i++)
        if (m->call.inputs[i] &&
            !check_supported(m, variadic ? 0 : i, info->ins[variadic ? 0 : i].name, &m->call.inputs[i]->type))
            return false;
    for (uint32_t i = 0; i < m->call.result_count; i++) {
        uint32_t row = i < OP_RESULTS_MAX && info->outs[i].name ? i : 0; /* all parts of a split have one */

        if (!check_supported(m, OP_OPERANDS_MAX + row, info->outs[row].name, &m->call.results[i]))
            return false;
    }
    return true;
}

/** Keeps what the program gave: defaults that follow from a dimension are filled in when that is known (graph_at_sizes). */
static void call_as_given(struct method *m, const struct method *given)
{
    bool open = false;

    for (uint32_t i = 0; i < m->call.input_count; i++)
        open |= m->call.inputs[i] && type_is_open(&m->call.inputs[i]->type);
    if (!open)
        return;
    memcpy(m->options.bytes, given->options.bytes, sizeof(m->options.bytes));
    m->call.args = given->call.args;
}

static bool call_infer_open(struct method *m)
{
    const struct method given = *m;

    if (!call_infer(&m->call))
        return false;
    call_as_given(m, &given);
    return true;
}

static bool call_end(struct method *m)
{
    if (!(m->builder->graph->dims ? call_infer_open(m) : call_infer(&m->call)) || !call_limits(m))
        return false;
    m->operands = arena_array(&m->builder->arena, m->call.result_count, sizeof(*m->operands));
    if (!m->operands)
        return error_out_of_memory(&m->error);
    for (uint32_t i = 0; i < m->call.result_count; i++) {
        m->operands[i] = builder_operand(m->builder, &m->call.results[i], &m->error);
        if (!m->operands[i])
            return false;
    }
    struct node *n = node_create_inferred(&m->call, NULL);
    if (!n)
        return error_out_of_memory(&m->error);
    if (n->graph->dims && !dims_note(n->graph, n))
        return error_out_of_memory(&m->error);
    for (uint32_t i = 0; i < n->result_count; i++)
        m->operands[i]->value = n->results[i];
    return true;
}

static bool apply(struct method *m, WNNGraphBuilder b, enum op op, const void *options, const union op_args *args, size_t count,
                  WNNOperand const *operands)
{
    return call_begin(m, b, op, options, args) && call_operands(m, count, operands) && call_values(m) && call_end(m);
}

WNNOperand builder_apply(WNNGraphBuilder b, enum op op, const void *options, const union op_args *args, size_t count,
                         WNNOperand const *operands)
{
    struct method m;

    return apply(&m, b, op, options, args, count, operands) ? m.operands[0] : builder_fail(b, &m.error);
}

WNNOperand wnnGraphBuilderCastToFloat64(WNNGraphBuilder b, WNNOperand input, WNNOperatorOptions const *options)
{
    WNNOperand result;

    if (!b)
        return builder_missing("cast");
    b->to_float64 = true;
    result = builder_apply(b, OP_CAST, options, &(union op_args){.cast = {DTYPE_FLOAT64}}, 1, &input);
    b->to_float64 = false;
    return result;
}

WNNStatus builder_apply_sequence(WNNGraphBuilder b, enum op op, const void *options, const union op_args *args, size_t count,
                                 WNNOperand const *operands, size_t capacity, WNNOperand *outputs)
{
    struct method m;

    if (!outputs) {
        struct error e = {0};

        error_set(&e, WNNStatus_TypeError, "%s: outputs is NULL", op_infos[op].name);
        builder_fail(b, &e);
        return e.status;
    }
    bool ok = apply(&m, b, op, options, args, count, operands);
    if (!ok) {
        WNNOperand failed = builder_fail(b, &m.error);

        for (size_t i = 0; i < capacity; i++)
            outputs[i] = failed;
        return m.error.status;
    }
    for (size_t i = 0; i < capacity; i++)
        outputs[i] = i < m.call.result_count ? m.operands[i] : NULL;
    return WNNStatus_Success;
}
