/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the printer of the textual form (docs/formats.md).  graph_parse reads the text back as the same graph, which
 * prints the same again.  An attribute is left out when inference would fill in the same value without it.  Every value gets a
 * unique name: what it is called, the output it is, or its kind and index.  Printing never changes the graph and depends on
 * no locale.
 */
#include "ir/text/print.h"

#include <float.h>

#include "ir/graph/dims.h"
#include "ir/text/lex.h"
#include "ir/support/text.h"

enum {
    INLINE_BYTES_MAX = 64,    /* larger constants are printed as @weights unless all data are asked for */
    COMMENT_ELEMENTS_MAX = 16 /* as many elements are repeated readably after @bytes */
};

/* ---- names ---- */

void print_string(FILE *out, const char *text, size_t length)
{
    fputc('"', out);
    for (size_t at = 0; at < length;) {
        char piece[ESCAPE_MAX];
        size_t written;
        at += escape_character(piece, &written, text + at, length - at, true);
        fwrite(piece, 1, written, out);
    }
    fputc('"', out);
}

static void name_print(FILE *out, struct print_name name)
{
    if (is_plain_name(name.text, name.length))
        fwrite(name.text, 1, name.length, out);
    else
        print_string(out, name.text, name.length);
}

/* Prints what a value is called; names may be NULL: then the name need not be unique. */
static void value_print(FILE *out, const struct print_names *names, const struct value *v)
{
    if (!v)
        fputs("null", out);
    else if (print_has_name(names, v))
        name_print(out, names->by_index[v->index]);
    else if (print_own_name(v).text)
        name_print(out, print_own_name(v));
    else
        fprintf(out, "%c%u", v->kind == VALUE_CONSTANT ? 'c' : 'v', v->index);
}

/* ---- attributes ---- */

/* Prints a number as the style has it: without the bits of a NaN, and in JSON without words. */
static void number_put(FILE *out, const char *text, enum print_style style)
{
    bool word = strstr(text, "NaN") || strstr(text, "Inf");

    if (style != PRINT_IR && strstr(text, "NaN"))
        text = "NaN";
    fprintf(out, word && style == PRINT_JSON ? "\"%s\"" : "%s", text);
}

static void attr_element_print(FILE *out, const struct attr_info *a, const void *element, enum print_style style)
{
    char buf[NUMBER_TEXT_MAX];
    uint32_t u32 = 0;
    int32_t i32;
    float f32;
    double f64;
    const char *name;

    if (a->kind != ATTR_BOOL && a->kind != ATTR_F64 && a->kind != ATTR_NUMBER)
        memcpy(&u32, element, sizeof u32);
    switch (a->kind) {
    case ATTR_U32:
    case ATTR_U32_LIST:
        fprintf(out, "%u", u32);
        break;
    case ATTR_I32:
        memcpy(&i32, element, sizeof i32);
        fprintf(out, "%d", i32);
        break;
    case ATTR_F64:
        memcpy(&f64, element, sizeof f64);
        /* A number that its data type has no place for became an infinity, which the methods do not take. */
        if (style != PRINT_IR && f64 - f64 != 0 && f64 == f64)
            f64 = f64 < 0 ? -DBL_MAX : DBL_MAX;
        number_put(out, double_print(buf, f64), style);
        break;
    case ATTR_F32_LIST:
        memcpy(&f32, element, sizeof f32);
        number_put(out, scalar_print(buf, (union scalar){.f32 = f32}, WNNOperandDataType_Float32), style);
        break;
    case ATTR_BOOL:
        fputs(*(const bool *)element ? "true" : "false", out);
        break;
    case ATTR_NUMBER:
        number_print(buf, *(const WNNNumber *)element);
        if (style != PRINT_IR && buf[strlen(buf) - 1] == 'u') /* numbers too large to be signed are unsigned anyway */
            buf[strlen(buf) - 1] = '\0';
        number_put(out, buf, style);
        break;
    case ATTR_DATA_TYPE:
        fprintf(out, "\"%s\"", dtype_name((dtype)u32));
        break;
    case ATTR_ENUM:
    case ATTR_ENUM_LIST:
        name = enum_value_name(a->enumeration, u32);
        fprintf(out, "\"%s\"", name ? name : "?");
        break;
    case ATTR_NONE:
        break;
    }
}

/* Returns the data type that inference rounds doubles to: that of the first operand. */
static dtype rounded_to(const struct node *n)
{
    const struct value *first = n->input_count ? n->inputs[0].value : NULL;

    return first ? first->type.type : WNNOperandDataType_Undefined;
}

void print_attr(FILE *out, const struct node *n, uint32_t index, enum print_form form, enum print_style style)
{
    const struct attr_info *a = &op_infos[n->op].attrs[index];
    const void *options = n->options;
    const union op_args *args = &n->args;
    const char *value = attr_value(a, options, args);
    union {
        double f64;
        WNNNumber number;
    } short_value;

    if (form == PRINT_SHORT && a->kind == ATTR_F64) {
        memcpy(&short_value.f64, value, sizeof(double));
        short_value.f64 = double_shorten(short_value.f64, rounded_to(n));
        value = (const char *)&short_value;
    } else if (form == PRINT_SHORT && a->kind == ATTR_NUMBER) {
        memcpy(&short_value.number, value, sizeof(WNNNumber));
        if (short_value.number.type == WNNNumberType_Float64)
            short_value.number.value.float64 = double_shorten(short_value.number.value.float64, rounded_to(n));
        value = (const char *)&short_value;
    }
    if (n->op == OP_SPLIT && a->positional && args->split.equal) { /* parts of a dimension whose size is not known */
        fprintf(out, "%u", args->split.equal);
    } else if (!value && a->positional) { /* an empty list may come without a pointer */
        fputs("[]", out);
    } else if (!value) {
        fputs("null", out);
    } else if (!attr_is_list(a)) {
        attr_element_print(out, a, value, style);
    } else {
        size_t count = attr_count(a, options, args);
        fputc('[', out);
        for (size_t i = 0; i < count; i++) {
            if (i)
                fputs(", ", out);
            attr_element_print(out, a, value + i * 4, style);
        }
        fputc(']', out);
    }
}

static bool option_same(enum op op, const struct attr_info *a, const void *x, const void *y)
{
    union op_args none = {{0}};
    struct node m = {.op = op, .options = x, .args = none}, n = {.op = op, .options = y, .args = none};

    return node_same_attr(&m, &n, a);
}

/* Copies attribute a from one option struct to another, in the form in which it would be printed. */
static void option_set(const struct attr_info *a, void *to, const void *from, enum print_form form, dtype rounded_to)
{
    size_t size = attr_bytes(a);

    memcpy((char *)to + a->offset, (const char *)from + a->offset, size);
    if (form == PRINT_SHORT && (a->kind == ATTR_F64 || a->kind == ATTR_NUMBER)) {
        WNNNumber *n = (WNNNumber *)((char *)to + a->offset);
        double *d = a->kind == ATTR_F64 ? (double *)n : n->type == WNNNumberType_Float64 ? &n->value.float64 : NULL;
        if (d)
            *d = double_shorten(*d, rounded_to);
    }
    if (attr_is_list(a))
        memcpy((char *)to + a->count_offset, (const char *)from + a->count_offset, sizeof(size_t));
}

/*
 * Adds the options that must be written where inference refuses the node as it is written: all that differ from the default.
 * Those that inference fills in (lists that are absent by default, such as paddings and strides) are added only if the others,
 * such as a layout, are all written and do not help.  Returns whether there was one.
 */
static bool options_without_result(const struct node *n, enum print_form forms[OP_ATTRS_MAX])
{
    const struct op_info *info = &op_infos[n->op];
    const union op_args none = {{0}};
    bool found = false;

    for (int filled_in = 0; filled_in < 2 && !found; filled_in++) {
        for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++) {
            const struct attr_info *a = &info->attrs[i];

            if (a->positional || forms[i] == PRINT_EXACT || option_same(n->op, a, info->options_default, n->options) ||
                (!attr_value(a, info->options_default, &none) && !filled_in))
                continue;
            forms[i] = PRINT_EXACT;
            found = true;
        }
    }
    return found;
}

/*
 * Finds which options must be written, and how, so that inference arrives at the node's resolved ones.  Starts from none and
 * adds what comes out different until nothing does; an option that is written may change what inference makes of another.
 */
void print_options_needed(const struct node *n, enum print_form forms[OP_ATTRS_MAX])
{
    const struct op_info *info = &op_infos[n->op];
    struct graph scratch = {.arena = {0}};
    bool again = true;

    for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++)
        forms[i] = PRINT_OMITTED;
    while (again) {
        struct error error = {0};
        struct call c = {
            .graph = &scratch, .op = n->op, .label = "", .input_count = n->input_count, .args = n->args, .error = &error};
        struct value **inputs = arena_array(&scratch.arena, n->input_count, sizeof *inputs);

        again = false;
        c.inputs = inputs;
        c.options = arena_copy(&scratch.arena, info->options_default, info->options_size);
        bool inferred = inputs && c.options;
        if (inferred) {
            for (uint32_t i = 0; i < n->input_count; i++)
                inputs[i] = n->inputs[i].value;
            for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++)
                if (forms[i] != PRINT_OMITTED)
                    option_set(&info->attrs[i], c.options, n->options, forms[i], rounded_to(n));
            inferred = call_infer(&c);
        }
        if (!inferred)
            again = options_without_result(n, forms);
        for (uint32_t i = 0; inferred && info->attrs[i].kind != ATTR_NONE; i++) {
            const struct attr_info *a = &info->attrs[i];
            if (a->positional || forms[i] == PRINT_EXACT)
                continue;
            if (!option_same(n->op, a, c.options, n->options)) {
                forms[i] += 1;
                again = true;
            }
        }
    }
    arena_free(&scratch.arena);
}

/* ---- nodes ---- */

const char *cluster_kind_name(enum cluster_kind kind)
{
    switch (kind) {
    case CLUSTER_KERNEL:
        return "kernel";
    case CLUSTER_LIBRARY:
        return "library";
    case CLUSTER_LOOP:
        return "loop";
    case CLUSTER_VIEW:
        break;
    }
    return "view";
}

static void node_print(const struct node *n, FILE *out, const struct print_names *names, const enum print_form *forms,
                       bool clusters, enum print_style style)
{
    const struct op_info *info = &op_infos[n->op];
    uint32_t positional = op_positional_inputs(n->op);
    bool brackets = info->flags & OPF_VARIADIC && style == PRINT_IR;
    const char *separator = brackets ? "[" : "";

    if (n->result_count != 1)
        fputc('[', out);
    for (uint32_t i = 0; i < n->result_count; i++) {
        if (i)
            fputs(", ", out);
        value_print(out, names, n->results[i]);
    }
    fprintf(out, "%s = %s(", n->result_count != 1 ? "]" : "", info->name);

    if (info->flags & OPF_VARIADIC)
        positional = n->input_count;
    for (uint32_t i = 0; i < positional && i < n->input_count; i++) {
        fputs(separator, out);
        value_print(out, names, n->inputs[i].value);
        separator = ", ";
    }
    if (brackets) {
        fputs(n->input_count ? "]" : "[]", out);
        separator = ", ";
    }
    for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++) {
        if (!info->attrs[i].positional)
            continue;
        fputs(separator, out);
        separator = ", ";
        if (style != PRINT_IR) /* other programs need the names of arguments that are not operands */
            fprintf(out, "%s=", info->attrs[i].name);
        print_attr(out, n, i, PRINT_EXACT, style);
    }
    for (uint32_t i = positional; i < n->input_count && info->ins[i].name; i++) {
        if (!n->inputs[i].value)
            continue;
        fprintf(out, "%s%s=", separator, info->ins[i].name);
        value_print(out, names, n->inputs[i].value);
        separator = ", ";
    }
    for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++) {
        if (info->attrs[i].positional || forms[i] == PRINT_OMITTED)
            continue;
        fprintf(out, "%s%s=", separator, info->attrs[i].name);
        print_attr(out, n, i, forms[i], style);
        separator = ", ";
    }
    if (n->label && *n->label) {
        fprintf(out, "%slabel=", separator);
        print_string(out, n->label, strlen(n->label));
    }
    fputc(')', out);
    if (n->op == OP_LOOP && n->args.loop.body)
        fprintf(out, " @iterations(%u)", n->args.loop.body->iterations);
    if (clusters && n->transformed) {
        fputs(" @winograd(", out);
        value_print(out, names, n->transformed);
        fputc(')', out);
    }
    if (clusters && n->cluster)
        fprintf(out, " @%s(%u)", cluster_kind_name(n->cluster->kind), n->cluster->index);
}

/* Fills in which options are written: those that are not the defaults, which need no inference. */
static void options_given(const struct node *n, enum print_form forms[OP_ATTRS_MAX])
{
    const struct op_info *info = &op_infos[n->op];

    for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++)
        forms[i] = !info->attrs[i].positional && !option_same(n->op, &info->attrs[i], info->options_default, n->options)
                       ? PRINT_EXACT
                       : PRINT_OMITTED;
}

void node_print_plain(const struct node *n, FILE *out)
{
    enum print_form forms[OP_ATTRS_MAX];

    if ((unsigned)n->op >= OP_ROWS || !n->options) {
        fprintf(out, "(node %u without a valid operator)", n->index);
        return;
    }
    options_given(n, forms);
    node_print(n, out, NULL, forms, true, PRINT_IR);
}

/* ---- constants ---- */

union scalar print_element(const struct value *v, int64_t i)
{
    union scalar s = {.u64 = 0};
    size_t size = dtype_size(v->type.type);

    memcpy(&s, (const char *)v->constant->data + (size_t)i * size, size);
    return s;
}

/* Returns whether all elements are the same number, and @scalar reads back as their bits. */
static bool is_uniform(const struct value *v)
{
    dtype t = v->type.type;
    size_t size = dtype_size(t), bytes = (size_t)type_bytes(&v->type);
    const char *data = v->constant->data;

    /* The data are compared with themselves, shifted by one element. */
    if (memcmp(data, data + size, bytes - size) != 0)
        return false;

    union scalar s = print_element(v, 0);
    union scalar back = number_cast(t == WNNOperandDataType_Int64    ? wnnNumberInt64(s.i64)
                                    : t == WNNOperandDataType_Uint64 ? wnnNumberUint64(s.u64)
                                                                     : wnnNumber(scalar_to_double(s, t)),
                                    t);
    return memcmp(&s, &back, size) == 0;
}

enum print_data print_data_of(const struct value *v, const struct print_options *options)
{
    if (!v->constant)
        return PRINT_NOTHING;
    if (dtype_packed_bits(v->type.type)) /* words, not elements */
        return options->constants || type_bytes(&v->type) <= INLINE_BYTES_MAX ? PRINT_BYTES : PRINT_WEIGHTS;
    double first = scalar_to_double(print_element(v, 0), v->type.type);
    /* Other programs know finite numbers only. */
    if (is_uniform(v) && (options->style == PRINT_IR || first - first == 0))
        return PRINT_SCALAR;
    return options->constants || type_bytes(&v->type) <= INLINE_BYTES_MAX ? PRINT_BYTES : PRINT_WEIGHTS;
}

static void constant_print(const struct value *v, FILE *out, const struct print_names *names,
                           const struct print_options *options)
{
    char buf[160];
    int64_t bytes = type_bytes(&v->type), elements = type_elements(&v->type);
    const unsigned char *data = v->constant ? v->constant->data : NULL;
    struct print_name key = print_has_name(names, v) ? names->by_index[v->index] : (struct print_name){"?", 1};

    value_print(out, names, v);
    fprintf(out, ": %s", type_print(buf, sizeof buf, &v->type));
    switch (print_data_of(v, options)) {
    case PRINT_NOTHING:
        fputs(";  # no data", out);
        break;
    case PRINT_SCALAR:
        fprintf(out, " @scalar(%s);", scalar_print(buf, print_element(v, 0), v->type.type));
        break;
    case PRINT_BYTES:
        fputs(" @bytes([", out);
        for (int64_t i = 0; i < bytes; i++)
            fprintf(out, "%s%u", i ? ", " : "", data[i]);
        fputs("]);", out);
        if (elements <= COMMENT_ELEMENTS_MAX && !dtype_packed_bits(v->type.type)) {
            fputs("  #", out);
            for (int64_t i = 0; i < elements; i++)
                fprintf(out, "%s %s", i ? "," : "", scalar_print(buf, print_element(v, i), v->type.type));
        }
        break;
    case PRINT_WEIGHTS:
        fputs(" @weights(", out);
        print_string(out, key.text, key.length);
        fputs(");", out);
        break;
    }
    fputc('\n', out);
}

/* ---- the graph ---- */

/* Prints a type; a dimension with a name as dyn("name", largest). */
static void input_type_print(FILE *out, const struct graph *g, const struct tensor_type *t)
{
    char buf[160];

    if (!type_is_open(t)) {
        fputs(type_print(buf, sizeof buf, t), out);
        return;
    }
    fprintf(out, "%s[", dtype_short_name(t->type));
    for (uint32_t i = 0; i < t->rank; i++) {
        uint32_t least, most, name = dims_name_of(g, t->dims[i]);
        size_t length;

        fputs(i ? ", " : "", out);
        if (!dim_is_open(t->dims[i])) {
            fprintf(out, "%u", t->dims[i]);
            continue;
        }
        dims_name_range(g, name, &least, &most);
        const char *text = dims_name_at(g, name, &length);
        fputs("dyn(", out);
        print_string(out, text, length);
        fprintf(out, ", %u)", most);
    }
    fputc(']', out);
}

/* Where outputs must be called like their values, a value that is several of them becomes as many. */
static void aliases_print(const struct graph *g, FILE *out, const struct print_names *names)
{
    for (uint32_t i = 0; names->outputs && i < g->output_count; i++) {
        if (names->outputs[i].text == names->by_index[g->outputs[i].value->index].text)
            continue;
        fputs("    ", out);
        name_print(out, names->outputs[i]);
        fputs(" = identity(", out);
        value_print(out, names, g->outputs[i].value);
        fputs(");\n", out);
    }
}

static void output_print(FILE *out, const struct print_names *names, const struct graph *g, uint32_t index)
{
    const struct graph_output *o = &g->outputs[index];
    const struct value *v = o->value;

    if (names->outputs) {
        name_print(out, names->outputs[index]);
        return;
    }
    if (!print_has_name(names, v) || names->by_index[v->index].length != o->name_length ||
        memcmp(names->by_index[v->index].text, o->name, o->name_length) != 0) {
        print_string(out, o->name, o->name_length);
        fputs(" = ", out);
    }
    value_print(out, names, v);
}

void graph_print(const struct graph *g, FILE *out, const struct print_options *options)
{
    static const struct print_options none;
    char buf[160];
    struct print_names names;

    if (!options)
        options = &none;
    print_names_collect(&names, g, options);
    if (!names.by_index)
        fputs("# out of memory: names may clash\n", out);

    fputs("webnn_graph ", out);
    print_string(out, options->name ? options->name : "graph", options->name ? strlen(options->name) : 5);
    fputs(" v1 {\n", out);
    fputs("  inputs {\n", out);
    for (uint32_t i = 0; i < g->input_count; i++) {
        fputs("    ", out);
        value_print(out, &names, g->inputs[i]);
        fputs(": ", out);
        input_type_print(out, g, &g->inputs[i]->type);
        fputs(";\n", out);
    }
    fputs("  }\n  consts {\n", out);
    for (const struct value *v = g->first_constant; v; v = v->next_constant) {
        if (!print_is_used(v, options))
            continue;
        fputs("    ", out);
        constant_print(v, out, &names, options);
    }
    fputs("  }\n  nodes {\n", out);
    graph_for_each (g, n) {
        enum print_form forms[OP_ATTRS_MAX];

        (options->named ? options_given : print_options_needed)(n, forms);
        fputs("    ", out);
        node_print(n, out, &names, forms, options->clusters, options->style);
        fputs(";", out);
        if (options->style == PRINT_IR && !options->named)
            fputs("  #", out);
        for (uint32_t i = 0; options->style == PRINT_IR && !options->named && i < n->result_count; i++)
            fprintf(out, "%s %s", i ? "," : "", type_print(buf, sizeof buf, &n->results[i]->type));
        fputc('\n', out);
    }
    aliases_print(g, out, &names);
    fputs("  }\n  outputs {\n", out);
    for (uint32_t i = 0; i < g->output_count; i++) {
        fputs("    ", out);
        output_print(out, &names, g, i);
        fputs(";\n", out);
    }
    fputs("  }\n}\n", out);
    print_names_free(&names);
}
