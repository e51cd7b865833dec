/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the programs' JSON has in common. */
#include "bench/bench.h"

void bench_print_quoted(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < ' ')
            printf("\\u%04x", *text);
        else
            putchar(*text);
    }
    putchar('"');
}
