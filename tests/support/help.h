/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The option --help of test programs that are run by hand. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/** Prints the text if the only argument is --help or -h; returns whether it is. */
static inline bool help_asked(int argc, char **argv, const char *text)
{
    const bool asked = argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));

    if (asked)
        fputs(text, stdout);
    return asked;
}
