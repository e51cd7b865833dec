/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Common parts of the runners of case files: reading them, lines "# key: value", and differences of texts. */
#pragma once

#include <ctype.h>

#include "ir/support/error.h"
#include "support/test.h"

enum { CASE_FILE_MAX = 1 << 20, CASE_LINES_MAX = 4096, CASE_VALUE_MAX = 512 };

/** Prints a message.  Returns false. */
static inline bool complain(const char *format, ...) PRINTF_LIKE(1, 2);

static inline bool complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return false;
}

/** Returns the text of a file, which the caller frees, or NULL after a message. */
static inline char *case_file_read(const char *path)
{
    FILE *in = fopen(path, "rb");
    char *text = calloc(1, CASE_FILE_MAX + 1);
    const size_t length = in && text ? fread(text, 1, CASE_FILE_MAX, in) : 0;

    if (in)
        fclose(in);
    if (length && length < CASE_FILE_MAX && !memchr(text, '\0', length))
        return text;
    complain("%s cannot be read as text", path);
    free(text);
    return NULL;
}

/** Writes a text, less empty lines at its end, in place of the file. */
static inline bool case_file_write(const char *path, const char *text, size_t size)
{
    FILE *out = fopen(path, "wb");

    while (size > 1 && text[size - 1] == '\n' && text[size - 2] == '\n')
        size--;
    const bool written = out && fwrite(text, 1, size, out) == size;
    return (!out || fclose(out) == 0) && written;
}

/** Reads a line "# key: value" or "# key".  Returns false for another one. */
static inline bool case_file_key(const char *line, size_t length, char key[32], char value[CASE_VALUE_MAX])
{
    size_t start = 2, end, at;

    if (length < 3 || memcmp(line, "# ", 2) || !islower((unsigned char)line[2]))
        return false;
    for (end = start; end < length && (islower((unsigned char)line[end]) || isdigit((unsigned char)line[end]));)
        end++;
    if (end - start >= 32 || (end < length && line[end] != ':'))
        return false;
    memcpy(key, line + start, end - start);
    key[end - start] = '\0';
    for (at = end + (end < length); at < length && line[at] == ' ';)
        at++;
    if (length - at >= CASE_VALUE_MAX)
        return false;
    memcpy(value, line + at, length - at);
    value[length - at] = '\0';
    return true;
}

struct case_lines {
    uint32_t count;
    const char *at[CASE_LINES_MAX];
    size_t length[CASE_LINES_MAX];
};

static inline void case_lines_split(struct case_lines *l, const char *text)
{
    l->count = 0;
    while (*text && l->count < CASE_LINES_MAX) {
        l->at[l->count] = text;
        l->length[l->count] = strcspn(text, "\n");
        text += l->length[l->count];
        text += *text == '\n';
        l->count++;
    }
}

static inline bool case_lines_equal(const struct case_lines *a, uint32_t i, const struct case_lines *b, uint32_t k)
{
    return a->length[i] == b->length[k] && !memcmp(a->at[i], b->at[k], a->length[i]);
}

/** Prints texts line by line: "-" is expected and missing, "+" is there and not expected. */
static inline void print_difference(const char *expected, const char *got)
{
    static struct case_lines a, b;
    OWNED(memory) uint32_t *common = NULL;

    case_lines_split(&a, expected);
    case_lines_split(&b, got);
    common = calloc((size_t)(a.count + 1) * (b.count + 1), sizeof *common); /* longest common part after line i and line k */
    if (!common)
        return;
#define COMMON(i, k) common[(size_t)(i) * (b.count + 1) + (k)]
    for (uint32_t i = a.count; i-- > 0;)
        for (uint32_t k = b.count; k-- > 0;)
            COMMON(i, k) = case_lines_equal(&a, i, &b, k)        ? COMMON(i + 1, k + 1) + 1
                           : COMMON(i + 1, k) > COMMON(i, k + 1) ? COMMON(i + 1, k)
                                                                 : COMMON(i, k + 1);
    for (uint32_t i = 0, k = 0; i < a.count || k < b.count;) {
        if (i < a.count && k < b.count && case_lines_equal(&a, i, &b, k)) {
            fprintf(stderr, "    %.*s\n", (int)a.length[i], a.at[i]);
            i++, k++;
        } else if (k == b.count || (i < a.count && COMMON(i + 1, k) >= COMMON(i, k + 1))) {
            fprintf(stderr, "  - %.*s\n", (int)a.length[i], a.at[i]);
            i++;
        } else {
            fprintf(stderr, "  + %.*s\n", (int)b.length[k], b.at[k]);
            k++;
        }
    }
#undef COMMON
}
