/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A page of docs/ that a program makes: written, or held against the file that is there. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/file.h"

static inline _Noreturn void die(const char *what)
{
    perror(what);
    exit(1);
}

static inline char *read_file(const char *path)
{
    char *text;
    size_t size;

    if (!file_read(path, &text, &size, NULL))
        die(path);
    return text;
}

/** Says in which line two texts differ first. */
static inline bool page_compare(const char *path, const char *have, const char *want)
{
    int line = 1;

    while (*have && *want) {
        size_t m = strcspn(have, "\n"), n = strcspn(want, "\n");
        if (m != n || memcmp(have, want, n))
            break;
        have += m + (have[m] != '\0');
        want += n + (want[n] != '\0');
        line++;
    }
    if (!*have && !*want)
        return true;
    fprintf(stderr, "%s is out of date, line %d:\n- %.*s\n+ %.*s\nRun this program again with --write.\n", path, line,
            (int)strcspn(have, "\n"), have, (int)strcspn(want, "\n"), want);
    return false;
}

/** Writes the page, or compares it with the file.  False: they differ, and where. */
static inline bool page_finish(const char *path, const char *text, bool write)
{
    if (!write) {
        char *have = read_file(path);
        bool same = page_compare(path, have, text);

        free(have);
        return same;
    }
    FILE *out = fopen(path, "wb");
    size_t size = strlen(text);
    if (!out || fwrite(text, 1, size, out) != size || fclose(out))
        die(path);
    return true;
}
