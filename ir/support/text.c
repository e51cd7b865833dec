/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads and writes UTF-8, and escapes text that the user wrote.  Messages are safe to print on a terminal or in a log: names
 * and labels go through escape_text first, because a label may hold line breaks, terminal escapes or direction marks.
 */
#include "ir/support/text.h"

#include <stdlib.h>

size_t utf8_decode(const char *text, size_t length, uint32_t *code)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;

    if (length == 0)
        return 0;
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }

    size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || length < n)
        return 0;
    uint32_t c = s[0] & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3F);
    }
    if (c < smallest[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    *code = c;
    return n;
}

size_t utf8_encode(char out[4], uint32_t code)
{
    static const unsigned char first[5] = {0, 0, 0xC0, 0xE0, 0xF0}; /* by number of bytes */
    const size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return 0;
    for (size_t i = n; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(first[n] | code);
    return n;
}

bool text_is_deceptive(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x0000, 0x001F},   /* C0 controls */
        {0x007F, 0x009F},   /* delete, C1 controls */
        {0x00AD, 0x00AD},   /* soft hyphen */
        {0x034F, 0x034F},   /* combining grapheme joiner */
        {0x061C, 0x061C},   /* Arabic letter mark */
        {0x115F, 0x1160},   /* Hangul fillers */
        {0x17B4, 0x17B5},   /* invisible Khmer vowels */
        {0x180B, 0x180F},   /* Mongolian selectors and vowel separator */
        {0x200B, 0x200F},   /* zero width, direction marks */
        {0x2028, 0x202E},   /* line and paragraph separator, embeddings and overrides */
        {0x2060, 0x206F},   /* word joiner, invisible operators, isolates */
        {0x3164, 0x3164},   /* Hangul filler */
        {0xFEFF, 0xFEFF},   /* byte order mark */
        {0xFFA0, 0xFFA0},   /* halfwidth Hangul filler */
        {0xFFF0, 0xFFFB},   /* interlinear annotation */
        {0x1BCA0, 0x1BCA3}, /* shorthand format controls */
        {0x1D173, 0x1D17A}, /* musical format controls */
        {0xE0000, 0xE0FFF}, /* tags and supplementary selectors */
    };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

bool memory_stream_close(FILE *stream, char **text)
{
    const bool good = stream && !ferror(stream);

    if (stream && !fclose(stream) && good && *text)
        return true;
    free(*text);
    *text = NULL;
    return false;
}

size_t escape_character(char out[ESCAPE_MAX], size_t *written, const char *text, size_t length, bool quote)
{
    uint32_t code;
    size_t n = utf8_decode(text, length, &code);

    if (n == 0) {
        *written = (size_t)snprintf(out, ESCAPE_MAX, "\\x%02x", (unsigned char)text[0]);
        return 1;
    }
    if (text_is_deceptive(code)) {
        *written = (size_t)snprintf(out, ESCAPE_MAX, "\\u{%x}", (unsigned)code);
        return n;
    }
    *written = 0;
    if (code == '\\' || (quote && code == '"'))
        out[(*written)++] = '\\';
    memcpy(out + *written, text, n);
    *written += n;
    return n;
}

void text_print_safely(FILE *out, const char *text)
{
    for (size_t length = strlen(text), at = 0; at < length;) {
        char piece[ESCAPE_MAX];
        size_t written;

        if (text[at] == '\n' || text[at] == '\\') {
            fputc(text[at++], out);
            continue;
        }
        at += escape_character(piece, &written, text + at, length - at, false);
        fwrite(piece, 1, written, out);
    }
}

const char *escape_text(char *buf, size_t size, const char *text, size_t length)
{
    static const char more[] = "...";
    size_t used = 0, fits = 0, plain = 0; /* fits: where "..." would still fit after it */

    if (size == 0)
        return buf;
    while (plain < length && text[plain] >= ' ' && text[plain] <= '~' && text[plain] != '\\')
        plain++;
    if (plain == length && length < size) { /* as most labels are, which are many */
        if (length)                         /* text may be NULL */
            memcpy(buf, text, length);
        buf[length] = '\0';
        return buf;
    }
    for (size_t at = 0; at < length;) {
        char piece[ESCAPE_MAX];
        size_t written;

        at += escape_character(piece, &written, text + at, length - at, false);
        if (used + written >= size) {
            /* The message was shortened: this marks it, if the buffer is large enough for the mark. */
            used = fits;
            if (used + sizeof more <= size) {
                memcpy(buf + used, more, sizeof more - 1);
                used += sizeof more - 1;
            }
            break;
        }
        memcpy(buf + used, piece, written);
        used += written;
        if (used + sizeof more <= size)
            fits = used;
    }
    buf[used] = '\0';
    return buf;
}

void text_list_add(char *list, size_t size, char quote, const char *name, size_t length)
{
    static const char more[] = "...";
    const size_t used = strlen(list);
    char shown[160], item[sizeof shown + 2];

    snprintf(item, sizeof item, "%c%s%c", quote, escape_text(shown, sizeof shown, name, length), quote);
    if (strstr(list, item) || (used >= strlen(more) && !strcmp(list + used - strlen(more), more)))
        return;
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", used + strlen(item) + sizeof ", , ..." <= size ? item : more);
}
