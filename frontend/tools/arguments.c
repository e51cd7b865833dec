/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Command lines of the tools: pairs, sizes, shapes.  Numbers are read whole: "12x" is no number. */
#include "frontend/tools/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void *list_grow(void *items, size_t count, size_t size)
{
    return count < SIZE_MAX / size - 1 ? realloc(items, (count + 1) * size) : NULL;
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);

    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

bool argument_split(const char *text, struct argument_pair *pair)
{
    const char *equals = strchr(text, '=');

    *pair = (struct argument_pair){NULL, text};
    if (!equals || equals == text)
        return true;
    pair->name = copy_text(text, (size_t)(equals - text));
    pair->value = equals + 1;
    return pair->name != NULL;
}

bool argument_number(const char *text, uint64_t low, uint64_t high, uint64_t *number)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return !errno && !*end && *number >= low && *number <= high;
}

bool argument_dim(const char *text, char **name, uint32_t *size)
{
    const char *equals = strrchr(text, '=');
    uint64_t number;

    *name = NULL;
    if (!equals || equals == text || !argument_number(equals + 1, 1, INT32_MAX, &number))
        return false;
    *size = (uint32_t)number;
    *name = copy_text(text, (size_t)(equals - text));
    return *name != NULL;
}

bool argument_shape(const char *text, char **name, struct model_shape *shape)
{
    const char *equals = strrchr(text, '='), *p;

    *name = NULL;
    *shape = (struct model_shape){0};
    if (!equals || equals == text)
        return false;
    p = equals + 1;
    if (strcmp(p, "scalar")) {
        for (;; p++) {
            uint64_t dim = 0;

            if (!isdigit((unsigned char)*p) || shape->rank == NPY_RANK_MAX)
                return false;
            for (; isdigit((unsigned char)*p); p++) {
                dim = dim * 10 + (uint64_t)(*p - '0');
                if (dim > INT32_MAX)
                    return false;
            }
            if (!dim)
                return false;
            shape->dims[shape->rank++] = (uint32_t)dim;
            if (*p != 'x' && *p != ',')
                break;
        }
        if (*p)
            return false;
    }
    *name = copy_text(text, (size_t)(equals - text));
    shape->name = *name;
    return *name != NULL;
}

bool argument_real(const char *text, double *number)
{
    char *end;
    double below;

    if (isspace((unsigned char)*text))
        return false;
    *number = strtod(text, &end);
    if (end == text)
        return false;
    if (*end == '/') {
        text = end + 1;
        below = strtod(text, &end);
        if (end == text || below == 0)
            return false;
        *number /= below;
    }
    return !*end && isfinite(*number);
}

bool argument_reals3(const char *text, double numbers[3])
{
    char part[64];
    size_t count = 0;

    for (;;) {
        size_t length = strcspn(text, ",");

        if (length >= sizeof part || count == 3)
            return false;
        memcpy(part, text, length);
        part[length] = '\0';
        if (!argument_real(part, &numbers[count++]))
            return false;
        if (!text[length])
            break;
        text += length + 1;
    }
    if (count == 1)
        numbers[1] = numbers[2] = numbers[0];
    return count != 2;
}

const char *printable(char *buf, size_t size, const char *text, size_t length)
{
    size_t at = 0;

    if (!size)
        return "";
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool plain = c >= 0x20 && c != 0x7F && c != '\\' && c < 0x80;
        /* Two bytes of UTF-8 for U+0080 to U+009F would be control characters; the rest of UTF-8 may pass. */
        if (c >= 0x80 && !(c == 0xC2 && i + 1 < length && (unsigned char)text[i + 1] < 0xA0))
            plain = true;
        if (at + (plain ? 1 : 4) + 4 > size) {
            if (size >= 4 && at + 4 <= size)
                at += (size_t)snprintf(buf + at, size - at, "...");
            break;
        }
        if (plain)
            buf[at++] = (char)c;
        else
            at += (size_t)snprintf(buf + at, size - at, "\\x%02x", c);
    }
    buf[at] = '\0';
    return buf;
}

bool argument_precision(const char *text, WNNPrecision *precision)
{
    static const char *const names[] = {
        [WNNPrecision_Float32] = "float32", [WNNPrecision_Bf16x2] = "bf16x2", [WNNPrecision_Bf16] = "bf16"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], text)) {
            *precision = (WNNPrecision)i;
            return true;
        }
    return false;
}

double clock_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
