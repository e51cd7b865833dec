/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prints strings of JSON. */
#include "ir/support/json.h"
#include "ir/support/text.h"

static void print_code(FILE *out, uint32_t code)
{
    if (code > 0xFFFF)
        fprintf(out, "\\u%04x\\u%04x", (unsigned)(0xD800 + ((code - 0x10000) >> 10)), (unsigned)(0xDC00 + (code & 0x3FF)));
    else
        fprintf(out, "\\u%04x", (unsigned)code);
}

void json_print_string(FILE *out, const char *text, size_t length, enum json_bytes bytes)
{
    fputc('"', out);
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t n = utf8_decode(text + at, length - at, &code);

        if (!n && bytes == JSON_KEEP_BYTES)
            fprintf(out, "\\x%02x", (unsigned char)text[at]);
        else if (!n)
            print_code(out, 0xFFFD);
        else if (text_is_deceptive(code) || code == '<') /* with which a script in a page would end */
            print_code(out, code);
        else if (code == '"' || code == '\\')
            fprintf(out, "\\%c", (int)code);
        else
            fwrite(text + at, 1, n, out);
        at += n ? n : 1;
    }
    fputc('"', out);
}
