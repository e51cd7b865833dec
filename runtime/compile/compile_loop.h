/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Compiles the graphs of recurrent nodes of several steps and inserts them into the program as loops.
 *
 * A node in a CLUSTER_LOOP becomes steps, locations that move, and a loop per direction.
 */
#pragma once

#include "runtime/compile/compile.h"

struct compiled_loop;

/** The size of a loop in a program. */
struct loop_size {
    uint32_t steps, loops, moves, constants;
    int64_t arena_bytes; /* from a base that is aligned to 64; only while the loop runs */
};

/** Compiles the graphs of n's steps and adds the time that it took to *times.  Returns NULL after an error in *e. */
struct compiled_loop *loop_compile(struct engine *en, const struct target *t, const struct node *n,
                                   bool (*cancelled)(void *user), void *user, struct compile_times *times, struct error *e);
/** Frees a loop, which may be NULL, with all that loop_append has not moved to a program. */
void loop_free(struct compiled_loop *l);
/** Returns the size that loop_append will add to a program. */
struct loop_size loop_get_size(const struct compiled_loop *l);

/**
 * Appends the loop's steps to p, which has room for its size; kernels and library steps become p's.  locate_value says where a
 * value of the graph around the loop lies.  Returns false after an error in *e.
 */
bool loop_append(struct compiled_loop *l, struct program *p, int64_t arena_base,
                 bool (*locate_value)(void *user, const struct value *v, struct location *location), void *user,
                 struct error *e);
