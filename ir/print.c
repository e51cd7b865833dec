/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The printer of the textual form (docs/textual-ir.md).
 *
 * In: a graph.  Out: text that graph_parse reads back as the same graph, and that prints the same again.
 * An attribute is left out when inference would fill in the same value without it.  Every value gets a name of its own:
 * what it is called, the output it is, or its kind and index.  Printing never changes the graph and depends on no locale.
 */
#include "ir/print.h"

#include <stdlib.h>
#include <string.h>

#include "ir/lex.h"
#include "ir/name_map.h"
#include "ir/text.h"

enum {
    INLINE_BYTES_MAX = 64,    /* larger constants are printed as @weights unless all data are asked for */
    COMMENT_ELEMENTS_MAX = 16 /* as many elements are repeated readably behind @bytes */
};

/* ---- names ---- */

static void string_print(FILE *out, const char *text, size_t length)
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

/* A name, which may hold any bytes. */
struct name {
    const char *text; /* NULL: none */
    size_t length;
};

static void name_print(FILE *out, struct name name)
{
    if (is_plain_name(name.text, name.length))
        fwrite(name.text, 1, name.length, out);
    else
        string_print(out, name.text, name.length);
}

/* What a value is called itself; no text if it is not. */
static struct name own_name(const struct value *v)
{
    struct name name = {v->name, v->name_length};

    if (name.text && !name.length) /* only inputs must have their length set */
        name.length = strlen(name.text);
    if (!name.length)
        name.text = NULL;
    return name;
}

/* The names of all values by index; no text: none given out (a value that is nowhere in the graph, or no memory). */
struct names {
    struct name *by_index;
    uint32_t count;
    struct name_map taken;
    struct arena arena;
};

static bool has_name(const struct names *n, const struct value *v)
{
    return n && v->index < n->count && n->by_index[v->index].text;
}

static bool name_take(struct names *n, const struct value *v, struct name name)
{
    if (v->index >= n->count || has_name(n, v) || !name.length ||
        name_map_add(&n->taken, name.text, name.length, (void *)v) != NAME_MAP_ADDED)
        return false;
    n->by_index[v->index] = name;
    return true;
}

/* v<index> or c<index>, with as many underscores behind as it takes. */
static void name_generate(struct names *n, const struct value *v)
{
    char stem[16];
    size_t length = (size_t)snprintf(stem, sizeof stem, "%c%u", v->kind == VALUE_CONSTANT ? 'c' : 'v', v->index);

    if (has_name(n, v))
        return;
    for (size_t underscores = 0; underscores <= n->taken.count; underscores++) {
        char *name = arena_alloc(&n->arena, length + underscores + 1);
        if (!name)
            return;
        memcpy(name, stem, length);
        memset(name + length, '_', underscores);
        if (name_take(n, v, (struct name){name, length + underscores}))
            return;
    }
}

static bool is_used(const struct value *v)
{
    return v->uses || v->output_uses;
}

/* Own names first, then those of outputs, then generated ones, so that nobody loses a name to an anonymous value. */
static void names_collect(struct names *n, const struct graph *g)
{
    memset(n, 0, sizeof *n);
    n->by_index = calloc(g->value_count ? g->value_count : 1, sizeof *n->by_index);
    if (!n->by_index)
        return;
    n->count = g->value_count;
    for (uint32_t i = 0; i < g->input_count; i++)
        name_take(n, g->inputs[i], own_name(g->inputs[i]));
    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        if (is_used(v))
            name_take(n, v, own_name(v));
    graph_for_each (g, node)
        for (uint32_t i = 0; i < node->result_count; i++)
            name_take(n, node->results[i], own_name(node->results[i]));
    for (uint32_t i = 0; i < g->output_count; i++)
        name_take(n, g->outputs[i].value, (struct name){g->outputs[i].name, g->outputs[i].name_length});

    for (uint32_t i = 0; i < g->input_count; i++)
        name_generate(n, g->inputs[i]);
    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        if (is_used(v))
            name_generate(n, v);
    graph_for_each (g, node)
        for (uint32_t i = 0; i < node->result_count; i++)
            name_generate(n, node->results[i]);
}

static void names_free(struct names *n)
{
    free(n->by_index);
    name_map_free(&n->taken);
    arena_free(&n->arena);
}

/* names may be NULL: what a value is called, whether unique or not. */
static void value_print(FILE *out, const struct names *names, const struct value *v)
{
    if (!v)
        fputs("null", out);
    else if (has_name(names, v))
        name_print(out, names->by_index[v->index]);
    else if (own_name(v).text)
        name_print(out, own_name(v));
    else
        fprintf(out, "%c%u", v->kind == VALUE_CONSTANT ? 'c' : 'v', v->index);
}

/* ---- attributes ---- */

/* How an option is written. */
enum form {
    FORM_OMITTED,
    FORM_SHORT, /* a double that inference rounds to the operands' data type: with no more digits than that type needs */
    FORM_EXACT
};

static void attr_element_print(FILE *out, const struct attr_info *a, const void *element)
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
        fputs(double_print(buf, f64), out);
        break;
    case ATTR_F32_LIST:
        memcpy(&f32, element, sizeof f32);
        fputs(scalar_print(buf, (union scalar){.f32 = f32}, WNNOperandDataType_Float32), out);
        break;
    case ATTR_BOOL:
        fputs(*(const bool *)element ? "true" : "false", out);
        break;
    case ATTR_NUMBER:
        fputs(number_print(buf, *(const WNNNumber *)element), out);
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

static void attr_print(FILE *out, const struct attr_info *a, const void *options, const union op_args *args, enum form form,
                       dtype rounded_to)
{
    const char *value = attr_value(a, options, args);
    union {
        double f64;
        WNNNumber number;
    } short_value;
    bool list = a->kind == ATTR_U32_LIST || a->kind == ATTR_F32_LIST || a->kind == ATTR_ENUM_LIST;

    if (form == FORM_SHORT && a->kind == ATTR_F64) {
        memcpy(&short_value.f64, value, sizeof(double));
        short_value.f64 = double_shorten(short_value.f64, rounded_to);
        value = (const char *)&short_value;
    } else if (form == FORM_SHORT && a->kind == ATTR_NUMBER) {
        memcpy(&short_value.number, value, sizeof(WNNNumber));
        if (short_value.number.type == WNNNumberType_Float64)
            short_value.number.value.float64 = double_shorten(short_value.number.value.float64, rounded_to);
        value = (const char *)&short_value;
    }
    if (!value) {
        fputs("null", out);
    } else if (!list) {
        attr_element_print(out, a, value);
    } else {
        size_t count = attr_count(a, options, args);
        fputc('[', out);
        for (size_t i = 0; i < count; i++) {
            if (i)
                fputs(", ", out);
            attr_element_print(out, a, value + i * 4); /* elements of all lists have 4 bytes */
        }
        fputc(']', out);
    }
}

/* Whether attribute a is the same in two option structs. */
static bool option_same(enum op op, const struct attr_info *a, const void *x, const void *y)
{
    union op_args none = {{0}};
    struct node m = {.op = op, .options = x, .args = none}, n = {.op = op, .options = y, .args = none};

    return node_same_attr(&m, &n, a);
}

/* The data type that inference rounds doubles to: that of the first operand. */
static dtype rounded_to(const struct node *n)
{
    const struct value *first = n->input_count ? n->inputs[0].value : NULL;

    return first ? first->type.type : WNNOperandDataType_Undefined;
}

/* Copies attribute a from one option struct to another, in the form in which it would be printed. */
static void option_set(const struct attr_info *a, void *to, const void *from, enum form form, dtype rounded_to)
{
    size_t size = attr_bytes(a);

    memcpy((char *)to + a->offset, (const char *)from + a->offset, size);
    if (form == FORM_SHORT && (a->kind == ATTR_F64 || a->kind == ATTR_NUMBER)) {
        WNNNumber *n = (WNNNumber *)((char *)to + a->offset);
        double *d = a->kind == ATTR_F64 ? (double *)n : n->type == WNNNumberType_Float64 ? &n->value.float64 : NULL;
        if (d)
            *d = double_shorten(*d, rounded_to);
    }
    if (a->kind == ATTR_U32_LIST || a->kind == ATTR_F32_LIST || a->kind == ATTR_ENUM_LIST)
        memcpy((char *)to + a->count_offset, (const char *)from + a->count_offset, sizeof(size_t));
}

/*
 * Which options must be written, and how, so that inference arrives at the node's resolved ones.  Starts from none and adds
 * what comes out different until nothing does; an option that is written may change what inference makes of another.
 */
static void options_needed(const struct node *n, enum form forms[OP_ATTRS_MAX])
{
    const struct op_info *info = &op_infos[n->op];
    struct graph scratch = {.arena = {0}};
    bool again = true;

    for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++)
        forms[i] = FORM_OMITTED;
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
                if (forms[i] != FORM_OMITTED)
                    option_set(&info->attrs[i], c.options, n->options, forms[i], rounded_to(n));
            inferred = call_infer(&c);
        }
        for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++) {
            const struct attr_info *a = &info->attrs[i];
            if (a->positional || forms[i] == FORM_EXACT)
                continue;
            /* Without a result to compare with: everything that is not the plain default. */
            if (!option_same(n->op, a, inferred ? c.options : info->options_default, n->options)) {
                forms[i] = inferred ? forms[i] + 1 : FORM_EXACT;
                again = true;
            }
        }
    }
    arena_free(&scratch.arena);
}

/* ---- nodes ---- */

bool is_default_anchor(const struct node *n)
{
    return (op_infos[n->op].flags & (OPF_LIBRARY | OPF_RECURRENT)) != 0;
}

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

static void node_print(const struct node *n, FILE *out, const struct names *names, const enum form *forms, bool clusters)
{
    const struct op_info *info = &op_infos[n->op];
    uint32_t positional = op_positional_inputs(n->op);

    if (n->result_count != 1)
        fputc('[', out);
    for (uint32_t i = 0; i < n->result_count; i++) {
        if (i)
            fputs(", ", out);
        value_print(out, names, n->results[i]);
    }
    fprintf(out, "%s = %s(", n->result_count != 1 ? "]" : "", info->name);

    const char *separator = "";
    if (info->flags & OPF_VARIADIC) {
        fputc('[', out);
        for (uint32_t i = 0; i < n->input_count; i++) {
            if (i)
                fputs(", ", out);
            value_print(out, names, n->inputs[i].value);
        }
        fputc(']', out);
        separator = ", ";
    } else {
        for (uint32_t i = 0; i < positional && i < n->input_count; i++) {
            fputs(separator, out);
            value_print(out, names, n->inputs[i].value);
            separator = ", ";
        }
    }
    for (const struct attr_info *a = info->attrs; a->kind != ATTR_NONE; a++) {
        if (!a->positional)
            continue;
        fputs(separator, out);
        separator = ", ";
        attr_print(out, a, n->options, &n->args, FORM_EXACT, rounded_to(n));
    }
    if (!(info->flags & OPF_VARIADIC)) {
        for (uint32_t i = positional; i < n->input_count && info->ins[i].name; i++) {
            if (!n->inputs[i].value)
                continue;
            fprintf(out, "%s%s=", separator, info->ins[i].name);
            value_print(out, names, n->inputs[i].value);
            separator = ", ";
        }
    }
    for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++) {
        if (info->attrs[i].positional || forms[i] == FORM_OMITTED)
            continue;
        fprintf(out, "%s%s=", separator, info->attrs[i].name);
        attr_print(out, &info->attrs[i], n->options, &n->args, forms[i], rounded_to(n));
        separator = ", ";
    }
    if (n->label && *n->label) {
        fprintf(out, "%slabel=", separator);
        string_print(out, n->label, strlen(n->label));
    }
    fputc(')', out);
    if (clusters && n->cluster)
        fprintf(out, " @%s(%u)", cluster_kind_name(n->cluster->kind), n->cluster->index);
}

void node_print_plain(const struct node *n, FILE *out)
{
    const struct op_info *info;
    enum form forms[OP_ATTRS_MAX] = {FORM_OMITTED};

    if ((unsigned)n->op >= OP_COUNT || !n->options) {
        fprintf(out, "(node %u without a valid operator)", n->index);
        return;
    }
    info = &op_infos[n->op];
    for (uint32_t i = 0; info->attrs[i].kind != ATTR_NONE; i++)
        if (!info->attrs[i].positional && !option_same(n->op, &info->attrs[i], info->options_default, n->options))
            forms[i] = FORM_EXACT;
    node_print(n, out, NULL, forms, true);
}

/* ---- constants ---- */

static union scalar element_read(const struct value *v, int64_t i)
{
    union scalar s = {.u64 = 0};
    size_t size = dtype_size(v->type.type);

    memcpy(&s, (const char *)v->constant->data + (size_t)i * size, size);
    return s;
}

/* Whether all elements are the same number, and @scalar reads back as their bits. */
static bool is_uniform(const struct value *v)
{
    dtype t = v->type.type;
    size_t size = dtype_size(t), bytes = (size_t)type_bytes(&v->type);
    const char *data = v->constant->data;

    /* Shifted against itself by one element. */
    if (memcmp(data, data + size, bytes - size) != 0)
        return false;

    union scalar s = element_read(v, 0);
    union scalar back = number_cast(t == WNNOperandDataType_Int64    ? wnnNumberInt64(s.i64)
                                    : t == WNNOperandDataType_Uint64 ? wnnNumberUint64(s.u64)
                                                                     : wnnNumber(scalar_to_double(s, t)),
                                    t);
    return memcmp(&s, &back, size) == 0;
}

static void constant_print(const struct value *v, FILE *out, const struct names *names, bool all)
{
    char buf[160];
    int64_t bytes = type_bytes(&v->type), elements = type_elements(&v->type);

    value_print(out, names, v);
    fprintf(out, ": %s", type_print(buf, sizeof buf, &v->type));
    if (!v->constant) {
        fputs(";  # no data", out);
    } else if (is_uniform(v)) {
        fprintf(out, " @scalar(%s);", scalar_print(buf, element_read(v, 0), v->type.type));
    } else if (all || bytes <= INLINE_BYTES_MAX) {
        const unsigned char *data = v->constant->data;
        fputs(" @bytes([", out);
        for (int64_t i = 0; i < bytes; i++)
            fprintf(out, "%s%u", i ? ", " : "", data[i]);
        fputs("]);", out);
        if (elements <= COMMENT_ELEMENTS_MAX) {
            fputs("  #", out);
            for (int64_t i = 0; i < elements; i++)
                fprintf(out, "%s %s", i ? "," : "", scalar_print(buf, element_read(v, i), v->type.type));
        }
    } else {
        struct name key = has_name(names, v) ? names->by_index[v->index] : (struct name){"?", 1};
        fputs(" @weights(", out);
        string_print(out, key.text, key.length);
        fputs(");", out);
    }
    fputc('\n', out);
}

/* ---- the graph ---- */

void graph_print(const struct graph *g, FILE *out, const struct print_options *options)
{
    static const struct print_options none;
    char buf[160];
    struct names names;

    if (!options)
        options = &none;
    names_collect(&names, g);
    if (!names.by_index)
        fputs("# out of memory: names may clash\n", out);

    fputs("webnn_graph \"graph\" v1 {\n", out);
    fputs("  inputs {\n", out);
    for (uint32_t i = 0; i < g->input_count; i++) {
        fputs("    ", out);
        value_print(out, &names, g->inputs[i]);
        fprintf(out, ": %s;\n", type_print(buf, sizeof buf, &g->inputs[i]->type));
    }
    fputs("  }\n  consts {\n", out);
    for (const struct value *v = g->first_constant; v; v = v->next_constant) {
        if (!is_used(v))
            continue;
        fputs("    ", out);
        constant_print(v, out, &names, options->constants);
    }
    fputs("  }\n  nodes {\n", out);
    graph_for_each (g, n) {
        enum form forms[OP_ATTRS_MAX];

        options_needed(n, forms);
        fputs("    ", out);
        node_print(n, out, &names, forms, options->clusters);
        fputs(";  #", out);
        for (uint32_t i = 0; i < n->result_count; i++)
            fprintf(out, "%s %s", i ? "," : "", type_print(buf, sizeof buf, &n->results[i]->type));
        fputc('\n', out);
    }
    fputs("  }\n  outputs {\n", out);
    for (uint32_t i = 0; i < g->output_count; i++) {
        const struct graph_output *o = &g->outputs[i];
        const struct value *v = o->value;
        bool same = has_name(&names, v) && names.by_index[v->index].length == o->name_length &&
                    memcmp(names.by_index[v->index].text, o->name, o->name_length) == 0;

        fputs("    ", out);
        if (!same) {
            string_print(out, o->name, o->name_length);
            fputs(" = ", out);
        }
        value_print(out, &names, v);
        fputs(";\n", out);
    }
    fputs("  }\n}\n", out);
    names_free(&names);
}
