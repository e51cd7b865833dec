/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes the weights of a printed graph as a file in the format safetensors.  The file has every constant that the text refers
 * to as @weights("key"), under that key.  Readers of `.webnn` text find the file by its name, NAME.safetensors next to
 * NAME.webnn.
 */
#include <stdlib.h>

#include "ir/support/json.h"
#include "ir/support/text.h"
#include "ir/text/print.h"

bool print_has_weights(const struct graph *g, const struct print_options *options)
{
    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        if (print_in_weights(v, options))
            return true;
    return false;
}

static const char *safetensors_name(dtype t)
{
    static const char *const names[DTYPE_END] = {
        [WNNOperandDataType_Float32] = "F32",
        [WNNOperandDataType_Float16] = "F16",
        [WNNOperandDataType_Int32] = "I32",
        [WNNOperandDataType_Uint32] = "U32",
        [WNNOperandDataType_Int64] = "I64",
        [WNNOperandDataType_Uint64] = "U64",
        [WNNOperandDataType_Int8] = "I8",
        [WNNOperandDataType_Uint8] = "U8",
        [DTYPE_BFLOAT16] = "BF16",
        [DTYPE_INT16] = "I16",
        [DTYPE_FLOAT8E4M3] = "F8_E4M3",
        [DTYPE_FLOAT8E5M2] = "F8_E5M2",
        [DTYPE_FLOAT64] = "F64",
        [DTYPE_UINT4] = "U4",
        [DTYPE_UINT2] = "U2",
        [DTYPE_UINT1] = "U1",
    };

    return names[t];
}

/* Returns the JSON header in malloc'ed memory, padded so that data begin at a multiple of 8.  Returns NULL if memory runs out.
 */
static char *header_create(const struct graph *g, const struct print_names *names, const struct print_options *options,
                           size_t *length)
{
    const char *separator = "";
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    uint64_t at = 0;

    if (!out)
        return NULL;
    fputc('{', out);
    for (const struct value *v = g->first_constant; v; v = v->next_constant) {
        uint64_t end = at + (uint64_t)type_bytes(&v->type);

        if (!print_in_weights(v, options) || !print_has_name(names, v))
            continue;
        fputs(separator, out);
        json_print_string(out, names->by_index[v->index].text, names->by_index[v->index].length, JSON_KEEP_BYTES);
        fprintf(out, ":{\"dtype\":\"%s\",\"shape\":[", safetensors_name(v->type.type));
        for (uint32_t i = 0; i < v->type.rank; i++)
            fprintf(out, "%s%u", i ? ", " : "", v->type.dims[i]);
        fprintf(out, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at, (unsigned long long)end);
        at = end;
        separator = ",";
    }
    fputc('}', out);
    while (ftell(out) % 8)
        fputc(' ', out);
    memory_stream_close(out, &text);
    return text;
}

bool print_weights(const struct graph *g, FILE *out, const struct print_options *options)
{
    struct print_names names;
    size_t length = 0;
    char *header = NULL;

    print_names_collect(&names, g, options);
    if (names.by_index)
        header = header_create(g, &names, options, &length);
    for (size_t i = 0; header && i < 8; i++)
        fputc((int)((uint64_t)length >> 8 * i & 0xFF), out);
    bool ok = header && fwrite(header, 1, length, out) == length;
    free(header);
    for (const struct value *v = g->first_constant; ok && v; v = v->next_constant)
        if (print_in_weights(v, options) && print_has_name(&names, v))
            ok = fwrite(v->constant->data, 1, v->constant->bytes, out) == v->constant->bytes;
    print_names_free(&names);
    return ok && !ferror(out);
}
