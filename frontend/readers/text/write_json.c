/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes graphs as the JSON form of `.webnn` text, version 1, with one line per operand and node.  Names, and which options and
 * constants are written in which form, are the printer's of our textual form (ir/text/print.h), so both forms say the same.
 */
#include <string.h>

#include "frontend/readers/text/write.h"
#include "ir/support/json.h"

void json_write_string(FILE *out, const char *text, size_t length)
{
    json_print_string(out, text, length, JSON_KEEP_BYTES);
}

static void write_name(FILE *out, const struct print_names *names, const struct value *v)
{
    struct print_name name = print_has_name(names, v) ? names->by_index[v->index] : (struct print_name){"?", 1};

    json_write_string(out, name.text, name.length);
}

void json_write_type(FILE *out, const struct tensor_type *t)
{
    fprintf(out, "\"dataType\": \"%s\", \"shape\": [", dtype_name(t->type));
    for (uint32_t i = 0; i < t->rank; i++)
        fprintf(out, "%s%u", i ? ", " : "", t->dims[i]);
    fputc(']', out);
}

static void write_data(FILE *out, const struct print_names *names, const struct value *v, const struct print_options *options)
{
    const unsigned char *data = v->constant ? v->constant->data : NULL;
    char buf[NUMBER_TEXT_MAX];

    switch (print_data_of(v, options)) {
    case PRINT_NOTHING:
        break;
    case PRINT_SCALAR:
        fprintf(out, ", \"init\": {\"kind\": \"scalar\", \"value\": %s}", scalar_print(buf, print_element(v, 0), v->type.type));
        break;
    case PRINT_BYTES:
        fputs(", \"init\": {\"kind\": \"inlineBytes\", \"bytes\": [", out);
        for (int64_t i = 0; i < type_bytes(&v->type); i++)
            fprintf(out, "%s%u", i ? ", " : "", data[i]);
        fputs("]}", out);
        break;
    case PRINT_WEIGHTS:
        fputs(", \"init\": {\"kind\": \"weights\", \"ref\": ", out);
        write_name(out, names, v);
        fputc('}', out);
        break;
    }
}

static void write_node(FILE *out, const struct print_names *names, const struct node *n)
{
    const struct op_info *info = &op_infos[n->op];
    enum print_form forms[OP_ATTRS_MAX];
    bool variadic = info->flags & OPF_VARIADIC;
    uint32_t positional = variadic ? n->input_count : op_positional_inputs(n->op);
    const char *separator = "";

    print_options_needed(n, forms);
    fputs("{\"id\": ", out);
    write_name(out, names, n->results[0]);
    fprintf(out, ", \"op\": \"%s\", \"inputs\": [", info->name);
    for (uint32_t i = 0; i < positional && i < n->input_count; i++) {
        fputs(i ? ", " : "", out);
        write_name(out, names, n->inputs[i].value);
    }
    fputs("], \"options\": {", out);
    for (uint32_t i = positional; i < n->input_count && info->ins[i].name; i++) {
        if (!n->inputs[i].value)
            continue;
        fprintf(out, "%s\"%s\": ", separator, info->ins[i].name);
        write_name(out, names, n->inputs[i].value);
        separator = ", ";
    }
    for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++) {
        if (!info->attrs[i].positional && forms[i] == PRINT_OMITTED)
            continue;
        fprintf(out, "%s\"%s\": ", separator, info->attrs[i].name);
        print_attr(out, n, i, info->attrs[i].positional ? PRINT_EXACT : forms[i], PRINT_JSON);
        separator = ", ";
    }
    if (n->label && *n->label) {
        fprintf(out, "%s\"label\": ", separator);
        json_write_string(out, n->label, strlen(n->label));
    }
    fputs("}, \"outputs\": [", out);
    for (uint32_t i = 0; i < n->result_count; i++) {
        fputs(i ? ", " : "", out);
        write_name(out, names, n->results[i]);
    }
    fputs("]}", out);
}

bool json_write_graph(const struct graph *g, const struct print_options *options, FILE *out)
{
    const char *name = options->name ? options->name : "graph", *separator = "\n    ";
    struct print_names names;

    print_names_collect(&names, g, options);
    bool ok = names.by_index;
    fputs("{\n  \"format\": \"webnn-graph-json\",\n  \"version\": 1,\n  \"name\": ", out);
    json_write_string(out, name, strlen(name));
    fputs(",\n  \"inputs\": {", out);
    for (uint32_t i = 0; ok && i < g->input_count; i++) {
        fputs(i ? ",\n    " : "\n    ", out);
        write_name(out, &names, g->inputs[i]);
        fputs(": {", out);
        json_write_type(out, &g->inputs[i]->type);
        fputc('}', out);
    }
    fputs("\n  },\n  \"consts\": {", out);
    for (const struct value *v = g->first_constant; ok && v; v = v->next_constant) {
        if (!print_is_used(v, options))
            continue;
        fputs(separator, out);
        write_name(out, &names, v);
        fputs(": {", out);
        json_write_type(out, &v->type);
        write_data(out, &names, v, options);
        fputc('}', out);
        separator = ",\n    ";
    }
    fputs("\n  },\n  \"nodes\": [", out);
    separator = "\n    ";
    for (const struct node *n = g->first; ok && n; n = n->next) {
        fputs(separator, out);
        write_node(out, &names, n);
        separator = ",\n    ";
    }
    fputs("\n  ],\n  \"outputs\": {", out);
    for (uint32_t i = 0; ok && i < g->output_count; i++) {
        fputs(i ? ",\n    " : "\n    ", out);
        json_write_string(out, g->outputs[i].name, g->outputs[i].name_length);
        fputs(": ", out);
        write_name(out, &names, g->outputs[i].value);
    }
    fputs("\n  }\n}\n", out);
    print_names_free(&names);
    return ok && !ferror(out);
}
