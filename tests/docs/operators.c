/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * docs-operators HEADER FILE [--write]
 *
 * docs/operators.md from what the library is made of: ir/graph/ops.def (operands, ranks, options and their defaults), what a
 * context tells through wnnContextGetOperatorSupportLimits (data types), and the docstrings in include/webnn/webnn_operators.h
 * (what an operator does, and the section of the specification).  With --write FILE is written, else it must be exactly that.
 * Fails, too, if an operator has no docstring, or one that names no section.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph/ir.h"
#include "ir/graph/op.h"
#include "page.h"
#include "../support/help.h"

static char *header;
static WNNContext context;
static int failures;

/* ---- docstrings ---- */

struct docstring {
    char text[2048];   /* one line, without the section */
    char section[128]; /* "" if there is none */
};

/* The comment that ends right before `end`, its lines joined.  False: something else stands there. */
static bool comment_before(const char *end, char *text, size_t size)
{
    const char *start, *p;
    size_t n = 0;

    while (end > header && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    if (end - header < 7 || memcmp(end - 2, "*/", 2))
        return false;
    end -= 2;
    for (start = end; start > header && memcmp(start, "/*", 2); start--)
        ;
    if (memcmp(start, "/**", 3))
        return false;
    for (p = start + 3; p < end && n + 1 < size; p++) {
        bool space = *p == ' ' || *p == '\n';
        if (p[-1] == '\n' && !memcmp(p, " *", 2)) { /* the margin of a line */
            p++;
            continue;
        }
        if (!space || (n && text[n - 1] != ' '))
            text[n++] = space ? ' ' : *p;
    }
    while (n && text[n - 1] == ' ')
        n--;
    text[n] = '\0';
    return n > 0;
}

static struct docstring docstring_of(const struct op_info *row)
{
    struct docstring d = {{0}, {0}};
    char call[80], *open;
    size_t length;

    snprintf(call, sizeof call, " wnnGraphBuilder%s(", row->method);
    const char *at = strstr(header, call);
    while (at && at > header && at[-1] != '\n')
        at--;
    if (!at || strncmp(at, "WNN_EXPORT ", 11)) {
        fprintf(stderr, "%s: webnn_operators.h does not declare%s...)\n", row->name, call);
        failures++;
    } else if (!comment_before(at, d.text, sizeof d.text)) {
        fprintf(stderr, "%s: no docstring before%s...)\n", row->name, call);
        failures++;
    } else {
        length = strlen(d.text);
        open = strrchr(d.text, '(');
        if (open && d.text[length - 1] == ')' && (size_t)(d.text + length - open) < sizeof d.section) {
            memcpy(d.section, open + 1, (size_t)(d.text + length - open) - 2);
            *open = '\0';
        } else {
            fprintf(stderr, "%s: the docstring does not end with the section in parentheses\n", row->name);
            failures++;
        }
    }
    return d;
}

/* ---- cells ---- */

/* Text with what Markdown would take for its own. */
static void put_text(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (strchr("|*<>_\\`[]", text[i]))
            fputc('\\', out);
        fputc(text[i], out);
    }
}

static void put_summary(FILE *out, const char *text)
{
    const char *end = strstr(text, ". ");
    size_t length = end ? (size_t)(end - text) : strlen(text);

    while (length && strchr(" .", text[length - 1]))
        length--;
    put_text(out, text, length);
}

static dtype_set types_of(enum op op, uint32_t place)
{
    WNNTensorLimits limits[WNN_TENSOR_LIMITS_MAX];
    size_t count;
    WNNStringView name = WNN_STR(op_infos[op].name);

    if (wnnContextGetOperatorSupportLimits(context, name, WNN_TENSOR_LIMITS_MAX, limits, &count) != WNNStatus_Success ||
        place >= count)
        die(op_infos[op].name);
    return (dtype_set)limits[place].dataTypes;
}

static void put_types(FILE *out, dtype_set types)
{
    const char *comma = "";

    if (types == DT_ANY)
        fputs("any", out);
    for (int t = 1; types != DT_ANY && t < DTYPE_COUNT; t++)
        if (types >> t & 1) {
            fprintf(out, "%s%s", comma, dtype_name((dtype)t));
            comma = ", ";
        }
}

static void put_operand(FILE *out, enum op op, const struct operand_info *o, uint32_t place, bool variadic)
{
    const struct op_info *row = &op_infos[op];

    fprintf(out, "`%s`%s%s: ", o->name, variadic ? " (list)" : "", o->optional ? " (optional)" : "");
    if (o->types & DT_AS_FLAG)
        fprintf(out, "as `%s`", row->ins[o->types & ~DT_AS_FLAG].name);
    else
        put_types(out, types_of(op, place));
    if (o->rank_min < 0)
        fprintf(out, ", rank of `%s`", row->ins[-o->rank_min - 1].name);
    else if (o->rank_min == o->rank_max)
        fprintf(out, ", rank %d", o->rank_min);
    else
        fprintf(out, ", rank %d to %d", o->rank_min, o->rank_max);
}

/* The member's default; nothing where it is absent by default. */
static void put_default(FILE *out, const struct attr_info *a, const void *options)
{
    const char *at = (const char *)options + a->offset;
    WNNNumber n;
    uint32_t u;
    int32_t i;
    double f;
    bool b;

    switch (a->kind) {
    case ATTR_U32:
        memcpy(&u, at, sizeof u);
        fprintf(out, " = %u", u);
        break;
    case ATTR_I32:
        memcpy(&i, at, sizeof i);
        fprintf(out, " = %d", i);
        break;
    case ATTR_F64:
        memcpy(&f, at, sizeof f);
        fprintf(out, " = %.15g", f);
        break;
    case ATTR_BOOL:
        memcpy(&b, at, sizeof b);
        fprintf(out, " = %s", b ? "true" : "false");
        break;
    case ATTR_NUMBER:
        memcpy(&n, at, sizeof n);
        if (n.type == WNNNumberType_Float64)
            fprintf(out, " = %.15g", n.value.float64);
        break;
    case ATTR_DATA_TYPE:
    case ATTR_ENUM:
        memcpy(&u, at, sizeof u);
        fprintf(out, " = \"%s\"", a->kind == ATTR_ENUM ? enum_value_name(a->enumeration, u) : dtype_name((dtype)u));
        break;
    case ATTR_NONE:
    case ATTR_U32_LIST:
    case ATTR_F32_LIST:
    case ATTR_ENUM_LIST:
        break;
    }
}

/* Arguments and options that are no operands. */
static void put_attrs(FILE *out, const struct op_info *row)
{
    const char *separator = "";

    for (const struct attr_info *a = row->attrs; a->kind != ATTR_NONE; a++) {
        bool list = a->kind == ATTR_U32_LIST || a->kind == ATTR_F32_LIST || a->kind == ATTR_ENUM_LIST;

        fprintf(out, "%s`%s%s", separator, a->name, list ? "[]" : "");
        if (!a->positional)
            put_default(out, a, row->options_default);
        fprintf(out, "`%s", a->positional ? " (argument)" : "");
        separator = "; ";
    }
}

/* ---- tables ---- */

/* How the CPU engine runs it; coverage-operators (tests/random/coverage.c) holds the clusters it sees against this. */
static const char *runs_as(const struct op_info *row)
{
    if (row->flags & OPF_LIBRARY)
        return "library";
    return row->flags & OPF_RECURRENT ? "steps" : "kernel";
}

/* Returns the operand with the most data types of its own, the first of equals: where's is trueValue, quantizeLinear's
 * zeroPoint. */
static uint32_t widest_operand(enum op op)
{
    uint32_t best = 0;
    int most = 0;

    for (uint32_t i = 0; op_infos[op].ins[i].name; i++) {
        int count = op_infos[op].ins[i].types & DT_AS_FLAG ? 0 : __builtin_popcount(types_of(op, i));
        if (count > most) {
            most = count;
            best = i;
        }
    }
    return best;
}

static void put_head(FILE *out)
{
    WNNOpSupportLimits limits;

    if (wnnContextGetOpSupportLimits(context, &limits) != WNNStatus_Success)
        die("wnnContextGetOpSupportLimits");
    fprintf(
        out,
        "# Operators\n\n"
        "This page lists all %d operators of the specification, with all their options and every data type that it allows.\n"
        "The program `docs-operators --write` writes it from `ir/graph/ops.def`, from what\n"
        "`wnnContextGetOperatorSupportLimits` says and from the comments in `include/webnn/webnn_operators.h`; the test\n"
        "`docs-operators` fails if this file differs.  The test `coverage-operators` runs every operator with every data type\n"
        "of every operand and compares with the reference interpreter.\n\n"
        "Limits: rank %u, %d elements per operand, %d inputs of a concat and outputs of a split.  `docs/semantics.md` says "
        "what\n"
        "each operator does where the specification leaves room.\n\n",
        OP_COUNT, limits.input.rankRange.max, ELEMENT_COUNT_MAX, TENSOR_COUNT_MAX);
    fputs(
        "## Data types, and how the CPU engine runs it\n\n"
        "The data types are those of the named operand; other operands have the same, or are listed further down.  The last\n"
        "column says how the operator is computed; the reference interpreter never runs in a built graph.\n\n"
        "- *kernel*: by a kernel that LLVM compiles, which often computes several neighbouring operators at once.  What moves\n"
        "  no bytes (most reshapes, some slices and splits) needs no code, and what depends on constants only is computed "
        "when\n"
        "  the graph is built.\n"
        "- *library*: by a oneDNN primitive, which also computes element-wise operators that follow, wherever one gives the\n"
        "  specified result without oneDNN's reference implementations; otherwise by a generated kernel.  float16 is computed\n"
        "  in float32 and rounded once.\n"
        "- *steps*: by matmuls (*library*) and a kernel for the gates of one step; several steps are a loop over that, and "
        "the\n"
        "  input's share of all steps is one matmul (`docs/loops.md`).\n\n",
        out);
}

static void put_types_table(FILE *out)
{
    fputs("| operator | operand |", out);
    for (int t = 1; t < DTYPE_COUNT; t++)
        fprintf(out, " %s |", dtype_name((dtype)t));
    fputs(" runs as |\n|---|---|", out);
    for (int t = 1; t < DTYPE_COUNT; t++)
        fputs(":-:|", out);
    fputs("---|\n", out);
    for (enum op op = 0; op < OP_COUNT; op++) {
        uint32_t operand = widest_operand(op);
        fprintf(out, "| %s | %s |", op_infos[op].name, op_infos[op].ins[operand].name);
        for (int t = 1; t < DTYPE_COUNT; t++)
            fputs(types_of(op, operand) >> t & 1 ? " x |" : " |", out);
        fprintf(out, " %s |\n", runs_as(&op_infos[op]));
    }
}

/* The section with a link to it.  The specification gives every method an anchor made of its interface's name and its own; the
 * reference that Doxygen renders takes the addresses from the page (frontend/package/link_operators.awk). */
static void put_section(FILE *out, const struct op_info *row, const char *section)
{
    fprintf(out, "[%s](https://www.w3.org/TR/webnn/#dom-mlgraphbuilder-", section);
    for (const char *c = row->name; *c; c++)
        fputc(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c, out);
    fputc(')', out);
}

static void put_operator(FILE *out, enum op op)
{
    const struct op_info *row = &op_infos[op];
    struct docstring d = docstring_of(row);
    uint32_t place = 0;

    fprintf(out, "| %s | ", row->name);
    put_summary(out, d.text);
    fputs(" | ", out);
    for (uint32_t i = 0; row->ins[i].name; i++, place++) {
        fputs(i ? "; " : "", out);
        put_operand(out, op, &row->ins[i], place, row->flags & OPF_VARIADIC);
    }
    fputs(" | ", out);
    put_attrs(out, row);
    fputs(" | ", out);
    for (uint32_t i = 0; row->outs[i].name; i++, place++) {
        fputs(i ? "; " : "", out);
        put_operand(out, op, &row->outs[i], place, row->flags & OPF_SEQUENCE && !row->outs[1].name);
    }
    fputs(" | ", out);
    put_section(out, row, d.section);
    fputs(" |\n", out);
}

/* passes/cluster/fuse_quantized.c and runtime/engine/onednn/onednn_quantize.c decide;
 * tests/runtime/engine/onednn/test_library_quantized.c holds both to this. */
static void put_integers(FILE *out)
{
    fputs(
        "\n## Contractions of bytes\n\n"
        "conv2d, convTranspose2d, matmul and gemm whose two operands are dequantizeLinear of int8 or uint8 are multiplied as\n"
        "integers by oneDNN, with the float32 operators that follow them element by element and a quantizeLinear to int8 or\n"
        "uint8 at the end, as one primitive.  The dot product is exact then, so that a result lies within what float32\n"
        "products in any order may give; quantized again it differs from the unfused result at rounding ties only.  All of\n"
        "this must hold:\n\n"
        "- the processor has AVX-512 VNNI or AVX VNNI: without them oneDNN's int8 sums saturate in 16 bits;\n"
        "- the second operand is constant, and so are its scales and zero points: one for all or one per output channel;\n"
        "  every weight less its zero point fits into int8, or they are those of a matmul with one zero point for all and at\n"
        "  most 33024 products in a sum;\n"
        "- or it is computed at run time, such as the keys of an attention: with one zero point and one scale, constant or\n"
        "  not, or constant scales per output channel, and at most 33024 products in a sum.  oneDNN wants int8: uint8\n"
        "  becomes that by taking 128 off it and its zero point.  That of a conv2d must then be 0, and there must be enough\n"
        "  results to repay packing its filter in every run (`docs/contractions.md`).  A convTranspose2d has a constant one;\n"
        "- the first operand has one scale and one zero point, each a constant or one number that is known at run time, as\n"
        "  dynamic quantisation has them; those of the quantizeLinear are constants;\n"
        "- scales are float32, positive and finite, products and quotients of scales and a scaled bias are normal numbers;\n"
        "- a bias that the convolution itself has is constant;\n"
        "- a convTranspose2d has at least 8 input channels in each group, windows that are no smaller than its strides and\n"
        "  not dilated, no results beyond its windows, and a constant scale of its input, which is uint8 or becomes it;\n"
        "- 8 to 65535 products make one sum.  Fewer would make the float product so exact that the scales' own roundings\n"
        "  show; more could exceed 31 bits;\n"
        "- oneDNN has an implementation for it that is not a reference and computes its post-operations correctly.\n\n"
        "Not taken, and run as float32 (dequantizeLinear fuses with a kernel or is one): run-time scales or zero points of\n"
        "constant weights, scales that change along the summed dimension, constant weights that differ between batches, int32\n"
        "and uint32, float16 scales, recurrent operators, and element-wise operators between dequantizeLinear and\n"
        "quantizeLinear, which are one generated kernel anyway.\n\n"
        "The public conformance suite has no case of such a contraction: what its `qdqSubgraph` cases surround with "
        "quantizeLinear\n"
        "and dequantizeLinear is add, sub, mul, max, transpose, elu, pooling, slice and reduceMin.  So what shows that the\n"
        "path is right is this project's own: `runtime-library-quantized` (every layout and kind of scale against the "
        "reference\n"
        "interpreter's bounds, ties, and everything in the list above that must be declined) and the random graphs, which\n"
        "draw quantized contractions and their near misses.\n",
        out);
}

static void put_all(FILE *out)
{
    put_head(out);
    put_types_table(out);
    put_integers(out);
    fputs("\n## Operands and options\n\n"
          "Options stand with their defaults.  One without a default is absent unless it is given, and the comment in\n"
          "`include/webnn/webnn_operators.h` says what that means.\n\n"
          "| operator | what | operands | arguments and options | results | section |\n|---|---|---|---|---|---|\n",
          out);
    for (enum op op = 0; op < OP_COUNT; op++)
        put_operator(out, op);
}

PROGRAM_HELP("usage: docs-operators HEADER FILE [--write]\n")
int main(int argc, char **argv)
{
    char *text = NULL;
    size_t size = 0;

    if (argc < 3 || argc > 4 || (argc == 4 && strcmp(argv[3], "--write")))
        return WRONG_USAGE;
    header = read_file(argv[1]);
    if (wnnCreateContext(NULL, &context) != WNNStatus_Success)
        die("wnnCreateContext");
    FILE *out = open_memstream(&text, &size);
    if (!out)
        die("memory");
    put_all(out);
    if (fclose(out))
        die("memory");
    failures += !page_finish(argv[2], text, argc == 4);
    wnnContextRelease(context);
    free(header);
    free(text);
    return failures ? 1 : 0;
}
