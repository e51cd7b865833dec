/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Looks up rows of the table of operators (operators.def, operators_places.def), by name and version of the operator set.
 */

#include <string.h>

#include "frontend/readers/onnx/term.h"

/** Imports an operator that cannot be expressed; the note is the reason. */
static bool refuse(struct onnx_node *n)
{
    return onnx_refuse(n, "%s", n->row->note);
}

enum {
    ANY = UINT8_MAX,
    KEEP = ONNX_KEEP,
    HEAVY = ONNX_HEAVY,
    MAKES_SIZES = ONNX_MAKES_SIZES,
    MOVES_SIZES = ONNX_MOVES_SIZES,
    TAKES_SIZES = ONNX_TAKES_SIZES,
#define COUNTING(NAME, rule) NAME = ONNX_COUNTING_##NAME << ONNX_COUNTING_SHIFT
    ONNX_COUNTINGS(COUNTING)
#undef COUNTING
};

#define TERM(text) onnx_import_term, text
#define IMPORT(name) onnx_import_##name, NULL
#define SINCE(first) first, 0 /* up to the newest */
#define FROM(first, last) first, last
#define IN(least, most) least, most
#define OUT(most) most
#define ROW(...) ROW_OF(__VA_ARGS__)
#define ROW_OF(domain, name, since, until, least, most, outputs, flags, note, import, term)                                    \
    {name, domain, since, until, least, most, outputs, flags, note, import, term},
#define ONNX(...) ROW(NULL, __VA_ARGS__)
#define MICROSOFT(...) ROW("com.microsoft", __VA_ARGS__)
#define NCHWC(...) ROW(ONNX_NCHWC, __VA_ARGS__)
#define REFUSED(domain, name, reason) domain(name, SINCE(1), IN(0, ANY), OUT(ANY), ONNX_REFUSED, reason, refuse, NULL)

static const struct onnx_operator rows[] = {
#include "frontend/readers/onnx/operators.def"
#include "frontend/readers/onnx/operators_places.def"
};

const struct onnx_operator *onnx_operators(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}

const struct onnx_operator *onnx_find_operator(const char *domain, const char *name, int64_t version)
{
    for (const struct onnx_operator *row = rows; row < rows + sizeof rows / sizeof *rows; row++)
        if (row->name[0] == name[0] && strcmp(row->name, name) == 0 && strcmp(row->domain ? row->domain : "", domain) == 0 &&
            version >= row->since && (!row->until || version <= row->until))
            return row;
    return NULL;
}
