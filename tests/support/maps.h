/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tells which files are mapped into this process. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "support/test.h"

/** Returns whether a file whose name has this part is mapped. */
static inline bool is_mapped(const char *part)
{
    OWNED(file) FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    bool found = false;

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        found |= strstr(line, part) != NULL;
    return found;
}
