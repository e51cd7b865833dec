/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * docs-onnx CASES FILE [--write]
 *
 * docs/onnx.md from the ONNX reader's table of operators and from CASES, the list of ONNX node tests that are not expected to
 * pass (tests/readers/onnx/refused.txt, which the tests onnx-* hold to be exact).  With --write FILE is written, else it must
 * be exactly that.  Fails, too, if a row of the table can never be reached, says nothing about what it refuses, or has a term
 * that cannot be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/onnx/term.h"
#include "page.h"
#include "../support/help.h"

enum { ROWS_MAX = 1024 };

static int failures;

/* Text with what Markdown would take for its own. */
static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|*<>_\\`[]", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

static const char *domain_of(const struct onnx_operator *row)
{
    return row->domain ? row->domain : "";
}

static int compare_rows(const void *a, const void *b)
{
    const struct onnx_operator *x = *(const struct onnx_operator *const *)a, *y = *(const struct onnx_operator *const *)b;
    int order = strcmp(domain_of(x), domain_of(y));

    order = order ? order : strcmp(x->name, y->name);
    return order ? order : (x->since > y->since) - (x->since < y->since);
}

/* Notes a term whose text is wrong. */
static void check_term(const char *name, const char *term)
{
    const char *at, *wrong = onnx_term_check(term, &at);

    if (wrong) {
        fprintf(stderr, "%s: %s, at \"%.40s\"\n", name, wrong, at);
        failures++;
    }
}

/* All rows in the order of their names. */
static size_t sort_rows(const struct onnx_operator **rows)
{
    size_t count;
    const struct onnx_operator *row = onnx_operators(&count);

    if (count > ROWS_MAX)
        die("too many rows");
    for (size_t i = 0; i < count; i++, row++) {
        int64_t newest = row->until ? row->until : ONNX_OPSET_NEWEST;
        if (onnx_find_operator(domain_of(row), row->name, newest) != row) {
            fprintf(stderr, "%s from version %d: another row stands before it\n", row->name, row->since);
            failures++;
        }
        if ((row->flags & ONNX_REFUSED) && !*row->note) {
            fprintf(stderr, "%s: refused without a reason\n", row->name);
            failures++;
        }
        if (row->term)
            check_term(row->name, row->term);
        rows[i] = row;
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    return count;
}

static void put_name(FILE *out, const struct onnx_operator *row)
{
    fprintf(out, "| ");
    if (row->domain) {
        put_text(out, row->domain);
        fputc('.', out);
    }
    put_text(out, row->name);
    fprintf(out, " | ");
}

static void put_operators(FILE *out, size_t count, const struct onnx_operator *const *rows)
{
    fprintf(out, "| operator | versions | how, and what is refused |\n|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        if (rows[i]->flags & ONNX_REFUSED)
            continue;
        put_name(out, rows[i]);
        if (rows[i]->until == rows[i]->since)
            fprintf(out, "%d | ", rows[i]->since);
        else if (rows[i]->until)
            fprintf(out, "%d to %d | ", rows[i]->since, rows[i]->until);
        else
            fprintf(out, "from %d | ", rows[i]->since);
        put_text(out, *rows[i]->note ? rows[i]->note : "one operator of WebNN");
        fprintf(out, " |\n");
    }
}

static void put_refused(FILE *out, size_t count, const struct onnx_operator *const *rows)
{
    fprintf(out, "| operator | why |\n|---|---|\n");
    for (size_t i = 0; i < count; i++)
        if (rows[i]->flags & ONNX_REFUSED) {
            put_name(out, rows[i]);
            put_text(out, rows[i]->note);
            fprintf(out, " |\n");
        }
}

/* Lines of one kind: "kind name text". */
static size_t put_cases(FILE *out, const char *cases, const char *kind)
{
    char *copy = strdup(cases), *rest = copy, *line;
    size_t count = 0;

    if (!copy)
        die("cases");
    while ((line = strsep(&rest, "\n"))) {
        char *word = strsep(&line, " "), *name = line ? strsep(&line, " ") : NULL;
        if (strcmp(word, kind) != 0 || !name || !line)
            continue;
        if (!count++)
            fprintf(out, "| case | why |\n|---|---|\n");
        fprintf(out, "| ");
        put_text(out, name);
        fprintf(out, " | ");
        put_text(out, strstr(line, " -- ") ? strstr(line, " -- ") + 4 : line);
        fprintf(out, " |\n");
    }
    free(copy);
    return count;
}

static void put_document(FILE *out, size_t count, const struct onnx_operator *const *rows, const char *cases)
{
    fprintf(
        out,
        "# ONNX operators\n\n"
        "This page says what the ONNX reader (`frontend/readers/onnx/`, `docs/model.md`) makes of ONNX's operators, up to "
        "version %d "
        "of\n"
        "the operator set.  `docs-onnx --write` writes it from the reader's tables and `tests/readers/onnx/refused.txt`; the "
        "test\n"
        "`docs-onnx` fails if this file is not exactly that.\n\n"
        "Whatever an operator's inputs decide about shapes must be constant: initializers, results of constants, or inputs "
        "given\n"
        "with `--constant`.  What depends on constants only is computed while the model is read.  bool is uint8 of 0 and 1; "
        "integers\n"
        "of 2 and 4 bits are int8 and uint8, one element per byte, those of 16 bits int32; bfloat16 and floating-point numbers "
        "of 8 and\n"
        "4 bits are float32, which Cast and QuantizeLinear round to them, and no other operator.  "
        "Large initializers of\n"
        "bfloat16, float8e4m3fn and float8e5m2, and of 2 and 4 bits that DequantizeLinear reads, stay as stored.  Empty "
        "tensors "
        "and float8e8m0 exist\n"
        "only among constants.  float64 is computed by operators of any data type, abs, neg, reciprocal, sqrt, ceil, floor, "
        "round and "
        "matmul; sums, "
        "powers,\n"
        "sigmoid and recurrent operators are as exact as float32, and inputs and outputs are float32.  What cannot be "
        "expressed is refused with the node's name, "
        "its operator and the\n"
        "reason, all such nodes at once.\n\n"
        "## Sizes that the file names\n\n"
        "One graph serves all sizes of dimensions that the file names (`docs/named-dimensions.md`): what is computed of "
        "Shape by\n"
        "operators on elements, Gather, Concat, Slice, Reshape and the like decides shapes as a constant does.  Operators "
        "that\n"
        "must know such a size, such as recurrent ones, Loop, Scan, TopK or a Resize by scales that are no whole numbers, are\n"
        "named, and the file is read for each size.\n\n"
        "## Sizes that are known at run time only\n\n"
        "How many boxes NonMaxSuppression keeps, or elements NonZero finds, depends on the data.  Such a result has the "
        "greatest\n"
        "number of elements that there can be along that dimension; the first ones count, and the others are padding.  What "
        "reads\n"
        "it (`counted.c`) gives results with the same dimension, or replaces padding by what changes no sum, maximum or "
        "order.\n"
        "Two such dimensions of one model that meet in an operator must be of one size.  Numbers that are made of such a size\n"
        "(`sizes.c`: Shape, then sums, products, minima and the like) give an upper bound where they decide a shape, and are\n"
        "computed at run time for everything else.\n\n"
        "An output NAME of the model with such a dimension, D, has a second one, `NAME.shape[D]`, an int32 scalar: how many "
        "elements\n"
        "count (`WNNModelPort.count`, `wnnModelIsCount`).  `webnn-run`, models in Python and `compute` of models in Node.js "
        "cut "
        "NAME to\n"
        "that size, and do not show the second one.\n\n"
        "## Expressed\n\n",
        ONNX_OPSET_NEWEST);
    put_operators(out, count, rows);
    fprintf(out, "\n## Refused\n\n");
    put_refused(out, count, rows);
    fprintf(
        out,
        "\n## ONNX node tests\n\n"
        "The cases that come with the project's test data all pass, on the engine with and without its passes, but for these.\n"
        "The tests `onnx-*` fail if a case is missing here, or is listed and passes.\n\n### Refused\n\n");
    if (!put_cases(out, cases, "refused"))
        fprintf(out, "None.\n");
    fprintf(out, "\n### Disputed\n\nThe model runs; the expected results in the file contradict the operator's text.\n\n");
    if (!put_cases(out, cases, "disputed"))
        fprintf(out, "None.\n");
    fprintf(
        out,
        "\n### Of the Python package onnx\n\n"
        "What the test data leave out (data that decide sizes, sequences, strings, training) and onnx 1.12.0 has: all pass\n"
        "(`onnx-package`) but for these.\n\n");
    put_cases(out, cases, "package");
}

PROGRAM_HELP("usage: docs-onnx CASES FILE [--write]\n")
int main(int argc, char **argv)
{
    const struct onnx_operator *rows[ROWS_MAX];
    char *text = NULL, *cases;
    size_t size = 0, count = sort_rows(rows), function_count;
    const struct term_function *functions = term_functions(&function_count);

    if (argc < 3 || argc > 4 || (argc == 4 && strcmp(argv[3], "--write")))
        return WRONG_USAGE;
    for (size_t i = 0; i < function_count; i++)
        check_term(functions[i].name, functions[i].term);
    cases = read_file(argv[1]);
    FILE *out = open_memstream(&text, &size);
    if (!out)
        die("memory");
    put_document(out, count, rows, cases);
    if (fclose(out))
        die("memory");
    failures += !page_finish(argv[2], text, argc == 4);
    free(text);
    free(cases);
    return failures ? 1 : 0;
}
