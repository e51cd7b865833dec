/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a refusal mentions: numbers, types, shapes, an operand, an attribute. */
#include "generated.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static unsigned type_called(const char *word, size_t length)
{
    for (unsigned t = 1; t <= ONNX_INT4; t++) {
        const char *name = onnx_type_name((enum onnx_type)t);

        if (strlen(name) == length && !strncmp(name, word, length))
            return t;
    }
    return length == 7 && !strncmp(word, "float32", 7) ? ONNX_FLOAT : 0;
}

/** A list such as 1, 2, 3]. */
static void read_shape(const char *at, struct gen_hints *hints)
{
    int64_t dims[GEN_RANK] = {0};
    uint32_t rank = 0;
    char *end;

    for (; isdigit((unsigned char)*at) && rank < GEN_RANK; at = end + (*end == ',') + (end[0] == ',' && end[1] == ' '))
        dims[rank++] = strtoll(at, &end, 10);
    if (!rank || *at != ']')
        return;
    hints->shapes[hints->shape_count].rank = rank;
    memcpy(hints->shapes[hints->shape_count++].dims, dims, sizeof dims);
}

void gen_hints_read(const struct gen_model *m, const char *message, struct gen_hints *hints)
{
    const struct gen_row *row = m->node_count ? gen_find_row(m, &m->nodes[0]) : NULL;
    char word[GEN_NAME];

    memset(hints, 0, sizeof *hints);
    hints->tensor = UINT32_MAX;
    for (const char *at = message; *at;) {
        size_t length = 0;
        unsigned type;

        while (isalnum((unsigned char)at[length]) || at[length] == '_')
            length++;
        if (!length) {
            at++;
            continue;
        }
        if (at > message && at[-1] == '[' && hints->shape_count < 4)
            read_shape(at, hints);
        for (unsigned i = 0; row && i < GEN_INPUTS && row->operands[i]; i++)
            if (hints->tensor == UINT32_MAX && strlen(row->operands[i]) == length && !strncmp(row->operands[i], at, length))
                hints->tensor = i;
        if (*at == 't' && length > 1 && isdigit((unsigned char)at[1])) { /* a tensor's name */
            int64_t index = strtoll(at + 1, NULL, 10);

            for (unsigned i = 0; m->node_count && i < m->nodes[0].input_count; i++)
                hints->tensor = m->nodes[0].inputs[i] == index ? i : hints->tensor;
        } else if (isdigit((unsigned char)*at)) {
            int64_t number = strtoll(at, NULL, 10);

            if (at > message && at[-1] == '-')
                number = -number;
            if (at - message >= 6 && !strncmp(at - 6, "input ", 6))
                hints->tensor = (uint32_t)number;
            if (hints->number_count < sizeof hints->numbers / sizeof hints->numbers[0])
                hints->numbers[hints->number_count++] = number;
        } else if ((type = type_called(at, length)) && hints->type_count < sizeof hints->types) {
            hints->types[hints->type_count++] = (uint8_t)type;
        } else if (length < GEN_NAME && row) {
            memcpy(word, at, length);
            word[length] = 0;
            for (size_t i = 0; i < row->note_count; i++)
                if (!strcmp(row->notes[i].name, word))
                    strcpy(hints->attribute, word);
        }
        at += length;
    }
}
