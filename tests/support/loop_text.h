/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Modules of the loop language for tests: as text, and run without LLVM or a device. */
#pragma once

#include "ir/loop/loop.h"
#include "support/test.h"

/** This is memory that an interpreted module may read and write. */
struct loop_memory {
    void *bytes;
    size_t size;
    bool read_only;
};
/** This is what a kernel's function is called with. */
struct loop_launch {
    const struct loop_memory *tensors;
    uint32_t tensor_count;
    const int64_t *numbers;
    uint32_t number_count;
    struct loop_memory scratch;
    int64_t begin, end;
    int64_t groups[LOOP_DIMENSIONS]; /* of a device's kernel, which has no units */
    uint64_t budget;                 /* limit of operations; 0: LOOP_BUDGET */
};
enum { LOOP_BUDGET = 1 << 30 };
/** Runs a kernel's function.  Every access is checked to be inside its tensor, scratch memory or array, and aligned.  The items
 * of a group run in lockstep, and it is an error if several access an element of a group's array without a barrier in between
 * and one of them stores.  Returns false after an error in *e. */
bool loop_interpret(const struct loop_module *m, const char *function, const struct loop_launch *launch, struct error *e);

/** Reads a module from text.  Fails the test if that is wrong, but the module need not pass loop_verify. */
void loop_read(struct loop_module *m, const char *text);

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
    SCOPED(loop_module_free) struct loop_module again = {0};
    OWNED(memory) char *text = loop_text(m);

    loop_read(&again, text);
    OWNED(memory) char *second = loop_text(&again);
    assert_string_equal(text, second);
}
