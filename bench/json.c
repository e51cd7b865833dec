/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prints what the programs' JSON has in common. */
#include "bench/bench.h"

#include <string.h>

#include "ir/support/json.h"

void bench_print_quoted(const char *text)
{
    json_print_string(stdout, text, strlen(text), JSON_REPLACE_BYTES);
}
