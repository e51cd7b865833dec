/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes the C header of an object, and names that C takes.
 *
 * A graph's inputs and outputs, whose names may be anything, get identifiers, all different, and declarations with them.  The
 * header stands alone (C99, C++); names in comments are printed escaped, so that no model can end a comment.
 */
#include <ctype.h>
#include <stdlib.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/webnnc.h"
#include "ir/graph/ir.h"
#include "webnn/webnn_object.h"

enum { NAME_MAX_LENGTH = 60 };

/* Returns whether text is a macro of <stdint.h>: INT8_MAX, WCHAR_MIN, PTRDIFF_WIDTH, ... */
static bool is_limit(const char *text)
{
    static const char *const endings[] = {"_MAX", "_MIN", "_WIDTH"};
    size_t length = strlen(text);

    if (length != strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"))
        return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (length > strlen(endings[i]) && !strcmp(text + length - strlen(endings[i]), endings[i]))
            return true;
    return false;
}

/*
 * Returns whether text is a word that means something to a C or C++ compiler, or a macro that compilers and common headers
 * define.
 */
static bool is_reserved(const char *text)
{
    /* clang-format off */
    static const char *const words[] = {
        "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
        "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept",
        "const", "consteval", "constexpr", "constinit", "const_cast", "continue", "decltype", "default", "delete",
        "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for",
        "friend", "goto", "if", "inline", "int", "int8_t", "int32_t", "int64_t", "long", "mutable", "namespace",
        "new", "noexcept", "not", "not_eq", "NULL", "nullptr", "operator", "or", "or_eq", "private", "protected",
        "public", "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "size_t",
        "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local",
        "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "typeof_unqual", "uint16_t", "uint32_t",
        "uint64_t", "uint8_t", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor",
        "xor_eq",
        "EOF", "I", "complex", "errno", "i386", "linux", "stderr", "stdin", "stdout", "unix"};
    /* clang-format on */

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], text))
            return true;
    if (text[0] == '_' && (text[1] == '_' || isupper((unsigned char)text[1])))
        return true; /* the implementation's */
    return is_limit(text);
}

/* Returns whether text is an argument of the functions that is not a tensor. */
static bool is_argument(const char *text)
{
    return !strcmp(text, "model") || !strcmp(text, "options") || !strcmp(text, "parallel") || !strcmp(text, "workspace");
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool name_is_identifier(const char *text)
{
    size_t length = strlen(text);

    if (!length || length > NAME_MAX_LENGTH || isdigit((unsigned char)*text) || is_reserved(text))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!is_word(text[i]))
            return false;
    return true;
}

/*
 * Makes an identifier of a name: each run of other characters becomes one "_".  There is room for a number at
 * the end.
 */
static void make_identifier(char out[NAME_MAX_LENGTH + 16], const char *text, size_t length, const char *otherwise)
{
    size_t n = 0;

    for (size_t i = 0; i < length && n < NAME_MAX_LENGTH; i++) {
        char c = is_word(text[i]) ? text[i] : '_';
        if (!n && isdigit((unsigned char)c))
            out[n++] = 'n';
        if (c != '_' || (n && out[n - 1] != '_'))
            out[n++] = c;
    }
    while (n && out[n - 1] == '_')
        n--;
    out[n] = '\0';
    if (!n)
        snprintf(out, NAME_MAX_LENGTH + 16, "%s", otherwise);
    if (is_reserved(out))
        strcat(out, "_");
}

char *name_from_path(const char *path)
{
    char name[NAME_MAX_LENGTH + 16];
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    const char *end = path + length, *start = end;
    while (start > path && start[-1] != '/')
        start--;
    for (const char *p = end; p > start + 1; p--)
        if (p[-1] == '.') {
            end = p - 1;
            break;
        }
    make_identifier(name, start, (size_t)(end - start), "model");
    return strdup(name);
}

static bool is_taken(const struct compilation *c, const char *name, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(c->port_names[i], name))
            return true;
    return false;
}

bool names_create(struct compilation *c)
{
    const uint32_t ports = port_count(c);

    c->port_names = calloc(ports + c->size_count + 1u, sizeof *c->port_names);
    for (uint32_t i = 0; c->port_names && i < ports + c->size_count; i++) {
        const char *size = i < ports ? NULL : c->sizes[i - ports].name;
        const struct port p = size ? (struct port){.name = size, .length = strlen(size)} : port_at(c, i);
        char name[NAME_MAX_LENGTH + 16];

        make_identifier(name, p.name, p.length, size ? "size" : i < c->graph->input_count ? "input" : "output");
        if (is_argument(name))
            strcat(name, "_");
        size_t length = strlen(name);
        for (uint32_t n = 2; is_taken(c, name, i) && n; n++)
            snprintf(name + length, sizeof name - length, "_%u", n);
        c->port_names[i] = strdup(name);
        if (!c->port_names[i])
            return complain("out of memory");
    }
    return c->port_names || complain("out of memory");
}

void names_free(struct compilation *c)
{
    for (uint32_t i = 0; c->port_names && c->port_names[i]; i++)
        free(c->port_names[i]);
    free(c->port_names);
}

/* ---- the header ---- */

static const char *c_type(dtype t)
{
    static const char *const names[] = {
        [WNNOperandDataType_Float32] = "float", [WNNOperandDataType_Float16] = "uint16_t",
        [WNNOperandDataType_Int32] = "int32_t", [WNNOperandDataType_Uint32] = "uint32_t",
        [WNNOperandDataType_Int64] = "int64_t", [WNNOperandDataType_Uint64] = "uint64_t",
        [WNNOperandDataType_Int8] = "int8_t",   [WNNOperandDataType_Uint8] = "uint8_t",
    };

    return names[t];
}

/* Prints a name so that it is also safe inside a comment. */
static void print_name(FILE *out, const char *name, size_t length)
{
    char text[256];

    escape_text(text, sizeof text, name, length);
    for (const char *p = text; *p; p++) {
        fputc(*p, out);
        if ((*p == '*' && p[1] == '/') || (*p == '/' && p[1] == '*') || (*p == '?' && p[1] == '?'))
            fputc(' ', out);
    }
}

/* Returns the names of sizes in C. */
static char *const *size_names(const struct compilation *c)
{
    return c->port_names + port_count(c);
}

/* Prints what stands for a name: an argument of functions, a number, or a sum of these. */
static void print_size(FILE *out, const struct compilation *c, char *const *names, size_t i)
{
    const struct argument_pair *given = &c->options->sizes.items[i];
    const struct model_options *m = &c->options->model;
    const bool sum = strchr(given->value, '+') != NULL;

    for (const char *at = sum ? given->value : given->name, *from = at; at;
         at = sum && strchr(at, '+') ? strchr(at, '+') + 1 : NULL) {
        const size_t length = sum ? strcspn(at, "+") : strlen(at);

        fputs(at != from ? " + " : sum ? "(" : "", out);
        for (uint32_t k = 0; k < c->size_count; k++)
            if (text_is(c->sizes[k].name, at, length))
                fputs(names[k], out);
        for (size_t k = 0; k < m->dim_count; k++)
            if (text_is(m->dims[k].name, at, length))
                fprintf(out, "%u", m->dims[k].size);
        fprintf(out, "%.*s", (int)(strspn(at, "0123456789") == length ? length : 0), at);
    }
    fputs(sum ? ")" : "", out);
}

/* Prints a dimension of an input or output, a number or a multiple of a size.  Returns false, and prints nothing, if it is
 * neither. */
static bool print_dimension(FILE *out, const struct compilation *c, char *const *names, uint32_t word)
{
    const struct object_class *rows = c->parts.ports.classes;
    const int64_t *sizes = object_column(rows, rows->column_of[word]);

    if (object_column_is_fixed(rows, rows->column_of[word]))
        return fprintf(out, "%lld", (long long)sizes[0]) > 0;
    for (uint32_t i = 0; i < c->options->sizes.count; i++) {
        const int64_t *of = object_column(rows, rows->column_of[i]), times = sizes[0] / of[0];
        uint32_t r = 0;

        while (r < rows->row_count && sizes[r] == times * of[r])
            r++;
        if (r < rows->row_count)
            continue;
        if (times != 1)
            fprintf(out, "%lld * ", (long long)times);
        print_size(out, c, names, i);
        return true;
    }
    return false;
}

static void print_port(FILE *out, const struct compilation *c, uint32_t i)
{
    const struct port p = port_at(c, i);

    fprintf(out, " *   %-20s %s", p.identifier,
            p.type.type == WNNOperandDataType_Float16 ? "float16 bits" : c_type(p.type.type));
    for (uint32_t d = 0; d < p.type.rank; d++) {
        fputs(d ? " x " : " [", out);
        if (p.type.dims[d])
            fprintf(out, "%u", p.type.dims[d]);
        else if (!print_dimension(out, c, size_names(c), p.word + 1 + d))
            fputc('?', out);
    }
    fputs(p.type.rank ? "]" : " (a scalar)", out);
    if (!text_is(p.identifier, p.name, p.length)) {
        fputs(", the model's \"", out);
        print_name(out, p.name, p.length);
        fputc('"', out);
    }
    fputc('\n', out);
}

/* Prints the sizes that functions take.  Returns what comes before another argument. */
static const char *print_size_arguments(FILE *out, const struct compilation *c, const char *separator)
{
    for (uint32_t i = 0; i < c->size_count; i++, separator = ", ")
        fprintf(out, "%suint32_t %s", separator, size_names(c)[i]);
    return separator;
}

static void print_arguments(FILE *out, const struct compilation *c, const char *before)
{
    fputs(before, out);
    const char *separator = print_size_arguments(out, c, *before ? ", " : "");
    for (uint32_t i = 0; i < port_count(c); i++, separator = ", ") {
        const struct port p = port_at(c, i);
        fprintf(out, "%s%s%s *%s", separator, i < c->graph->input_count ? "const " : "", c_type(p.type.type), p.identifier);
    }
}

static void print_ports(FILE *out, const struct compilation *c)
{
    fprintf(out, " * Inputs:%s\n", c->graph->input_count ? "" : " none");
    for (uint32_t i = 0; i < port_count(c); i++) {
        fputs(i == c->graph->input_count ? " * Outputs:\n" : "", out);
        print_port(out, c, i);
    }
}

/* Prints whether the object has values of its sizes. */
static void print_condition(FILE *out, const struct compilation *c)
{
    for (uint32_t k = 0; k < c->size_count; k++) {
        const struct object_size *s = &c->sizes[k];
        const char *name = size_names(c)[k];

        fputs(k ? " && (" : "(", out);
        for (uint32_t v = 0, first = 0; v < s->count; v++) {
            if (v + 1 < s->count && s->values[v + 1] == s->values[v] + 1)
                continue;
            fprintf(out, "%s(%s >= %uu && %s <= %uu)", first ? " || " : "", name, s->values[first], name, s->values[v]);
            first = v + 1;
        }
        fputc(')', out);
    }
}

/* Prints what to do with the value that a word of the ports has at each combination of sizes. */
static void print_cases(FILE *out, const struct compilation *c, char *const *names, uint32_t word, const char *what)
{
    const struct object_class *rows = c->parts.ports.classes;

    for (uint32_t r = rows->row_count; r-- > 0;) {
        for (uint32_t k = 0; k < c->size_count; k++)
            fprintf(out, "%s%s == %u", k ? " && " : "    if (", names[k],
                    object_size_at(c->sizes, c->size_count, k, rows->variants[r]));
        fprintf(out, ")\n        %s %lld;\n", what, (long long)object_column(rows, rows->column_of[word])[r]);
    }
}

/* Prints a function that returns the elements of an input or output at the sizes of the object, and 0 at others: their product
 * where dimensions are multiples of sizes, else what they are at each combination. */
static void print_elements(FILE *out, const struct compilation *c, const struct port *p)
{
    char *product = NULL;
    size_t length;
    FILE *f = open_memstream(&product, &length);
    bool known = f != NULL;

    for (uint32_t d = 0; known && d < p->type.rank; d++)
        known = fputs(" * ", f) >= 0 && print_dimension(f, c, size_names(c), p->word + 1 + d);
    known = memory_stream_close(f, &product) && known;
    fprintf(out, "static inline size_t %s_%s_elements(", c->prefix, p->identifier);
    print_size_arguments(out, c, "");
    fputs(")\n{\n", out);
    if (!known)
        print_cases(out, c, size_names(c), p->word, "return");
    fputs("    return ", out);
    if (known)
        print_condition(out, c);
    fprintf(out, known ? " ? (size_t)1%s : 0;\n}\n" : "0;\n}\n", product);
    free(product);
}

void shapes_print(FILE *out, const struct compilation *c)
{
    static char *const names[OBJECT_SIZES_MAX] = {"sizes[0]",  "sizes[1]",  "sizes[2]",  "sizes[3]", "sizes[4]",  "sizes[5]",
                                                  "sizes[6]",  "sizes[7]",  "sizes[8]",  "sizes[9]", "sizes[10]", "sizes[11]",
                                                  "sizes[12]", "sizes[13]", "sizes[14]", "sizes[15]"};
    char dimension[32];

    fputs("    switch (port) {\n", out);
    for (uint32_t i = 0; i < port_count(c); i++) {
        const struct port p = port_at(c, i);

        fprintf(out, "    case %u:\n", i);
        for (uint32_t d = 0; d < p.type.rank; d++) {
            snprintf(dimension, sizeof dimension, "shape[%u] =", d);
            fprintf(out, "    %s ", dimension);
            if (p.type.dims[d])
                fprintf(out, "%u", p.type.dims[d]);
            const bool known = p.type.dims[d] || print_dimension(out, c, names, p.word + 1 + d);
            fputs(known ? ";\n" : "0;\n", out);
            if (!known)
                print_cases(out, c, names, p.word + 1 + d, dimension);
        }
        fputs("    break;\n", out);
    }
    fputs("    }\n", out);
}

static void print_sizes(FILE *out, const struct compilation *c)
{
    fputs(c->size_count ? "\n/* Elements of each input and output, and 0 at sizes that the object was not compiled for. */\n"
                        : "\n/* Elements of each input and output. */\nenum {\n",
          out);
    for (uint32_t i = 0; i < port_count(c); i++) {
        const struct port p = port_at(c, i);

        if (c->size_count)
            print_elements(out, c, &p);
        else
            fprintf(out, "    %s_%s_elements = %lld%s\n", c->prefix, p.identifier, (long long)type_elements(&p.type),
                    i + 1 < port_count(c) ? "," : "");
    }
    fputs(c->size_count ? "" : "};\n", out);
}

static void print_standalone(FILE *out, const struct compilation *c)
{
    const char *p = c->prefix;

    /* Sizes for static memory, which a function's result cannot have: macros, because enumerators end at INT_MAX. */
    fprintf(out,
            "\n/* Bytes of a workspace for that many threads (without a parallel-for: 1): what %s_workspace_size returns. */\n"
            "#define %s_WORKSPACE_BYTES(threads) (%lldu + (size_t)(threads) * %lldu)\n",
            p, p, (long long)c->workspace.fixed, (long long)c->workspace.per_thread);
    if (c->weights_bytes)
        fprintf(out, "/* Bytes of the file with the weights. */\n#define %s_WEIGHTS_BYTES %zuu\n", p, c->weights_bytes);
    fprintf(out, "\n/** Computes the outputs from the inputs.  Needs malloc and free for the time of the call. */\nint %s_run(",
            p);
    print_arguments(out, c, "");
    fprintf(out,
            ");\n\n/** Bytes that %s_run_with needs for that many threads (without a parallel-for: 1). */\nsize_t "
            "%s_workspace_size(uint32_t threads);\n",
            p, p);
    fprintf(out,
            "\n/** The same in memory of the caller's, at any address, that nothing else uses meanwhile: calls nothing, keeps "
            "nothing.\n * parallel (NULL: one thread) runs the parts of a kernel on several threads. */\nint %s_run_with(",
            p);
    print_arguments(out, c, "void *workspace, const struct webnn_object_parallel *parallel");
    fputs(");\n", out);
    if (c->options->weights)
        fprintf(
            out,
            "\n/** Takes the bytes of the file with the weights (aligned to 64, to stay where they are). */\nint "
            "%s_set_weights(const void *file, size_t bytes);\n"
            "/** Maps the file; NULL: where webnnc wrote it.  The first run does so, too.  Only where there is mmap. */\nint "
            "%s_load_weights(const char *path);\n",
            p, p);
}

static void print_model(FILE *out, const struct compilation *c)
{
    const char *p = c->prefix;
    char before[128];

    snprintf(before, sizeof before, "%s_model *model", p);
    fprintf(out,
            "\n/** Holds the library's primitives.  Any number of threads may run one at the same time. */\n"
            "typedef struct %s_model %s_model;\n"
            "\n/** options: begin with WEBNN_OBJECT_OPTIONS_INIT; NULL stands for the defaults. */\nint %s_create(const struct "
            "webnn_object_options *options, %s_model "
            "**model);\n/** No run may be active; NULL is allowed. */\nvoid %s_destroy(%s_model *model);\n"
            "\n/** Computes the outputs from the inputs. */\nint %s_run(",
            p, p, p, p, p, p, p);
    print_arguments(out, c, before);
    fputs(");\n", out);
}

/* The texts of webnn_object.h, for programs that do not include it. */
static void print_status_text(FILE *out, const char *prefix)
{
    fprintf(out,
            "\n/** Returns an English description of a function's result. */\nstatic inline const char *%s_status_text(int "
            "status)\n{\n"
            "    switch (status) {\n",
            prefix);
    for (int i = WEBNN_OBJECT_OK; i <= WEBNN_OBJECT_BAD_SIZE; i++)
        fprintf(out, "    case %d:\n        return \"%s\";\n", i, webnn_object_status_text(i));
    fprintf(out, "    }\n    return \"%s\";\n}\n", webnn_object_status_text(-1));
}

bool header_create(const struct compilation *c, char **text, size_t *length)
{
    FILE *out = open_memstream(text, length);
    const char *source = c->options->input;

    if (!out)
        return complain("out of memory");
    for (const char *p = source; *p; p++) /* the same header wherever the file lies */
        if (p[0] == '/' && p[1])
            source = p + 1;
    fputs("/*\n * ", out);
    print_name(out, c->prefix, strlen(c->prefix));
    fputs(": a neural network, compiled by webnnc from ", out);
    print_name(out, source, strlen(source));
    fputs(".\n *\n", out);
    print_ports(out, c);
    fprintf(out, " *\n * Tensors are dense and row-major, aligned for their type; outputs overlap nothing.  Functions that "
                 "return int return 0, "
                 "or\n * one of the codes in <webnn/webnn_object.h>, which also has the structs that are only named here.  All "
                 "functions are\n"
                 " * thread-safe and re-entrant.\n *\n");
    fputs(!c->with_library              ? " * It needs nothing but the C library.\n */\n"
          : c->options->emit == EMIT_SO ? " * It is linked with libwebnn_rt already.\n */\n"
                                        : " * Link it with libwebnn_rt: -lwebnn_rt, `pkg-config --libs webnn_rt`, or "
                                          "webnn::webnn_rt in CMake.  With --library none\n"
                                          " * webnnc writes an object that needs nothing but the C library.\n */\n",
          out);
    fprintf(out, "#ifndef WEBNN_MODEL_%s_H\n#define WEBNN_MODEL_%s_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n",
            c->prefix, c->prefix);
    fputs("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\nstruct webnn_object;\nstruct webnn_object_options;\nstruct "
          "webnn_object_parallel;\n",
          out);
    print_sizes(out, c);
    if (c->with_library)
        print_model(out, c);
    else
        print_standalone(out, c);
    print_status_text(out, c->prefix);
    fprintf(out,
            "\n/** Names, types and shapes of the inputs and outputs, and the functions. */\nextern const struct webnn_object "
            "%s_object;\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
            c->prefix);
    return memory_stream_close(out, text) || complain("out of memory");
}
