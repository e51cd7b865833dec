/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Text of modules of the loop language, for tests. */
#pragma once

#include "ir/loop/loop.h"
#include "support/test.h"

/** Returns a module's text, which the caller frees. */
static inline char *loop_text(const struct loop_module *m)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    loop_print(m, out);
    fclose(out);
    return text;
}

/** Fails unless a module's text is read as the same module. */
static inline void assert_loop_reads_back(const struct loop_module *m)
{
    struct loop_module again;
    struct error e = {0};
    char *text = loop_text(m);

    if (!loop_parse(&again, text, strlen(text), &e))
        fail_msg("%s\n%s", e.message, text);
    char *second = loop_text(&again);
    assert_string_equal(text, second);
    loop_module_free(&again);
    free(second);
    free(text);
}
