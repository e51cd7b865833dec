/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A model as builder calls by name (webnn_call.h), and as .webnn text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generated.h"
#include "ir/graph/ir.h"
#include "webnn/webnn_call.h"

enum { ITEMS_MAX = 1 << 12 };

static const struct op_info *info_of(const struct gen_node *n)
{
    enum op op = op_parse(n->op, strlen(n->op));

    return op < OP_COUNT ? &op_infos[op] : NULL;
}

/* ---- calls ---- */

static WNNMethodValue number_value(const struct gen_attribute *a, size_t i)
{
    int64_t value = a->count ? a->values[i % a->count] : 0;
    bool is_float = a->kind == GEN_FLOAT || a->kind == GEN_FLOATS;

    return wnnMethodValueNumber(is_float ? wnnNumber(gen_double(value)) : wnnNumberInt64(value));
}

static WNNStatus set_attribute(WNNMethodCall call, const struct gen_attribute *a)
{
    size_t count = a->length < ITEMS_MAX ? a->length : ITEMS_MAX;
    WNNMethodValue *items = calloc(count + 1, sizeof *items), value = {WNNMethodValueKind_None, {NULL}};
    char text[GEN_TEXT], *rest = NULL;
    size_t words = 0;

    if (!items)
        abort();
    strcpy(text, a->text);
    switch ((enum gen_kind)a->kind) {
    case GEN_BOOL:
        value = wnnMethodValueBool(a->values[0] != 0);
        break;
    case GEN_INT:
    case GEN_FLOAT:
        value = number_value(a, 0);
        break;
    case GEN_STRING:
        value = wnnMethodValueString(WNN_STR(text));
        break;
    case GEN_INTS:
    case GEN_FLOATS:
        for (size_t i = 0; i < count; i++)
            items[i] = number_value(a, i);
        value = wnnMethodValueList(count, items);
        break;
    case GEN_STRINGS:
        for (char *word = strtok_r(text, " ", &rest); word && words < count; word = strtok_r(NULL, " ", &rest))
            items[words++] = wnnMethodValueString(WNN_STR(word));
        for (size_t i = words; words && i < count; i++)
            items[i] = items[i % words];
        value = wnnMethodValueList(words ? count : 0, items);
        break;
    case GEN_TENSOR:
    case GEN_GRAPH:
        break;
    }
    WNNStatus status = wnnMethodCallSet(call, WNN_STR(a->name), value);
    free(items);
    return status;
}

static WNNStatus set_operands(WNNMethodCall call, const struct gen_node *n, const struct op_info *info,
                              const WNNOperand *operands)
{
    WNNMethodValue items[GEN_INPUTS] = {{WNNMethodValueKind_None, {NULL}}};
    WNNStatus status = WNNStatus_Success;
    bool variadic = info->flags & OPF_VARIADIC;

    for (unsigned i = 0; i < n->input_count; i++)
        if (n->inputs[i] >= 0 && operands[n->inputs[i]])
            items[i] = wnnMethodValueOperand(operands[n->inputs[i]]);
    if (variadic)
        return wnnMethodCallArgument(call, 0, wnnMethodValueList(n->input_count, items));
    for (unsigned i = 0; !status && i < n->input_count && info->ins[i].name; i++)
        if (items[i].kind)
            status = wnnMethodCallSet(call, WNN_STR(info->ins[i].name), items[i]);
    return status;
}

static WNNStatus call_node(const struct gen_node *n, WNNGraphBuilder builder, WNNOperand *operands)
{
    const struct op_info *info = info_of(n);
    WNNMethodCall call = wnnMethodCallCreate(WNN_STR(n->op));
    WNNStatus status = call && info ? set_operands(call, n, info, operands) : WNNStatus_TypeError;

    for (unsigned i = 0; !status && i < n->attribute_count; i++)
        status = set_attribute(call, &n->attributes[i]);
    if (!status)
        status = wnnMethodCallInvoke(call, builder);
    for (unsigned i = 0; !status && i < n->output_count; i++)
        if (n->outputs[i] >= 0)
            operands[n->outputs[i]] = wnnMethodCallResult(call, i);
    wnnMethodCallDestroy(call);
    return status;
}

/** Returns a constant of exactly the bytes that are written: too few for its shape if that is huge. */
static WNNOperand make_operand(const struct gen_tensor *t, unsigned index, WNNGraphBuilder builder)
{
    uint32_t dims[GEN_RANK] = {0};
    WNNOperandDescriptor descriptor = {onnx_data_type((enum onnx_type)t->type), t->rank, dims, NULL};
    size_t count = gen_tensor_written(t), size = gen_type_size(t->type);
    char name[GEN_NAME], *data;

    for (unsigned d = 0; d < t->rank; d++)
        dims[d] = (uint32_t)t->dims[d];
    snprintf(name, sizeof name, "t%u", index);
    if (t->source == GEN_INPUT)
        return wnnGraphBuilderInput(builder, WNN_STR(name), &descriptor);
    data = calloc(count + 1, size);
    if (!data)
        abort();
    gen_tensor_fill(t, count, data);
    WNNOperand operand = wnnGraphBuilderConstant(builder, &descriptor, data, count * size);
    free(data);
    return operand;
}

bool gen_calls_read(const struct gen_model *m, WNNContext context, struct model *out, struct error *e)
{
    WNNOperand operands[GEN_TENSORS] = {NULL};
    WNNStatus status = WNNStatus_Success;
    char name[GEN_NAME];
    bool good = true;

    *out = (struct model){.name = strdup("generated")};
    if (wnnContextCreateGraphBuilder(context, &out->builder))
        abort();
    for (unsigned i = 0; good && i < m->tensor_count; i++)
        if (m->tensors[i].source != GEN_RESULT) {
            operands[i] = make_operand(&m->tensors[i], i, out->builder);
            snprintf(name, sizeof name, "t%u", i);
            if (m->tensors[i].source == GEN_INPUT && !wnnGraphBuilderGetError(out->builder, NULL))
                good = model_add_input(out, name, operands[i], false);
        }
    for (unsigned n = 0; good && !status && n < m->node_count; n++)
        status = call_node(&m->nodes[n], out->builder, operands);
    for (unsigned i = 0; good && !status && i < m->tensor_count; i++) {
        snprintf(name, sizeof name, "t%u", i);
        if (m->tensors[i].source == GEN_RESULT && !m->tensors[i].hidden && operands[i])
            good = model_add_output(out, name, operands[i], false);
    }
    if (status || !good || wnnGraphBuilderGetError(out->builder, NULL)) {
        WNNStringView text = wnnGetLastErrorMessage();

        error_set(e, WNNStatus_DataError, "%.*s", (int)(text.length == WNN_STRLEN ? strlen(text.data) : text.length),
                  text.data);
        model_free(out);
        *out = (struct model){0};
        return false;
    }
    return true;
}

/* ---- text ---- */

static void write_number(FILE *out, bool is_float, int64_t value)
{
    double number = gen_double(value);

    if (!is_float)
        fprintf(out, "%" PRId64, value);
    else if (isnan(number))
        fputs("NaN", out);
    else if (isinf(number))
        fputs(number > 0 ? "Infinity" : "-Infinity", out);
    else
        fprintf(out, "%.17g", number);
}

static void write_list(FILE *out, const int64_t *values, size_t count, size_t length, bool is_float)
{
    fputc('[', out);
    for (size_t i = 0; count && i < length; i++) {
        fputs(i ? ", " : "", out);
        write_number(out, is_float, values[i % count]);
    }
    fputc(']', out);
}

static void write_value(FILE *out, const struct gen_attribute *a)
{
    char text[GEN_TEXT], *rest = NULL;
    const char *between = "";

    switch ((enum gen_kind)a->kind) {
    case GEN_BOOL:
        fputs(a->values[0] ? "true" : "false", out);
        break;
    case GEN_INT:
    case GEN_FLOAT:
        write_number(out, a->kind == GEN_FLOAT, a->values[0]);
        break;
    case GEN_INTS:
    case GEN_FLOATS:
        write_list(out, a->values, a->count, a->length < ITEMS_MAX ? a->length : ITEMS_MAX, a->kind == GEN_FLOATS);
        break;
    case GEN_STRING:
        fprintf(out, "\"%s\"", a->text);
        break;
    case GEN_STRINGS:
        strcpy(text, a->text);
        fputc('[', out);
        for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest), between = ", ")
            fprintf(out, "%s\"%s\"", between, word);
        fputc(']', out);
        break;
    case GEN_TENSOR:
    case GEN_GRAPH:
        fputs("null", out);
        break;
    }
}

static void write_node(FILE *out, const struct gen_node *n)
{
    const struct op_info *info = info_of(n);
    bool variadic = info && info->flags & OPF_VARIADIC;
    uint32_t positional = info && !variadic ? op_positional_inputs((enum op)(info - op_infos)) : UINT32_MAX;
    uint32_t slots = info ? op_input_slots((enum op)(info - op_infos)) : 0;
    const char *between = "";

    fputs("  ", out);
    if (n->output_count != 1)
        fputc('[', out);
    for (unsigned i = 0; i < n->output_count; i++)
        fprintf(out, "%st%d", i ? ", " : "", n->outputs[i]);
    fprintf(out, "%s = %s(", n->output_count != 1 ? "]" : "", n->op);
    if (variadic)
        fputc('[', out);
    for (unsigned i = 0; i < n->input_count; i++) {
        if (n->inputs[i] < 0)
            continue;
        fputs(between, out);
        if (i >= positional && i < slots)
            fprintf(out, "%s=", info->ins[i].name);
        fprintf(out, "t%d", n->inputs[i]);
        between = ", ";
    }
    if (variadic)
        fputc(']', out);
    for (unsigned i = 0; i < n->attribute_count; i++) {
        fprintf(out, "%s%s=", between, n->attributes[i].name);
        write_value(out, &n->attributes[i]);
        between = ", ";
    }
    fputs(");\n", out);
}

static void write_tensors(FILE *out, const struct gen_model *m, enum gen_source source)
{
    for (unsigned i = 0; i < m->tensor_count; i++) {
        const struct gen_tensor *t = &m->tensors[i];

        if (t->source != source)
            continue;
        fprintf(out, " t%u: %s", i, dtype_short_name(onnx_data_type((enum onnx_type)t->type)));
        write_list(out, t->dims, t->rank ? GEN_RANK : 0, t->rank, false);
        if (source == GEN_CONSTANT && t->count == 1) {
            fputs(" @scalar(", out);
            write_number(out, gen_type_is_float(t->type), t->values[0]);
            fputs(")", out);
        } else if (source == GEN_CONSTANT) {
            fputs(" @values(", out);
            write_list(out, t->values, t->count, gen_tensor_written(t) < ITEMS_MAX ? gen_tensor_written(t) : ITEMS_MAX,
                       gen_type_is_float(t->type));
            fputs(")", out);
        }
        fputs(";", out);
    }
}

char *gen_text_write(const struct gen_model *m, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    if (!out)
        abort();
    fputs("webnn_graph \"generated\" v1 {\n inputs {", out);
    write_tensors(out, m, GEN_INPUT);
    fputs(" }\n consts {", out);
    write_tensors(out, m, GEN_CONSTANT);
    fputs(" }\n nodes {\n", out);
    for (unsigned n = 0; n < m->node_count; n++)
        write_node(out, &m->nodes[n]);
    fputs(" }\n outputs {", out);
    for (unsigned i = 0; i < m->tensor_count; i++)
        if (m->tensors[i].source == GEN_RESULT && !m->tensors[i].hidden)
            fprintf(out, " t%u;", i);
    fputs(" }\n}\n", out);
    if (fclose(out))
        abort();
    return text;
}

/* ---- reading ---- */

bool gen_read(const struct gen_model *m, WNNContext context, struct model *out, struct error *e)
{
    static const struct model_options none;
    size_t length;

    if (m->dialect == GEN_CALLS)
        return gen_calls_read(m, context, out, e);
    char *file = m->dialect == GEN_ONNX ? gen_onnx_write(m, &length) : gen_text_write(m, &length);
    bool good = m->dialect == GEN_ONNX ? model_read_onnx(context, "/nowhere/generated.onnx", file, length, &none, out, e)
                                       : model_read_text(context, "/nowhere/generated.webnn", file, length, &none, out, e);
    free(file);
    return good;
}
