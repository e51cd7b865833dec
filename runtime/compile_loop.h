/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Recurrent nodes of several steps: their graphs compiled, and put into the program around them as a loop.
 *
 * In: a node in a CLUSTER_LOOP.  Out: steps, places that move, a loop per direction.
 */
#ifndef WEBNN_RUNTIME_COMPILE_LOOP_H_
#define WEBNN_RUNTIME_COMPILE_LOOP_H_

#include "runtime/compile.h"

struct compiled_loop;

/** What a loop adds to a program. */
struct loop_size {
    uint32_t steps, loops, moves, constants;
    int64_t arena_bytes; /* from a base that is aligned to 64; only while the loop runs */
};

/** times: what it took is added.  NULL: e. */
struct compiled_loop *loop_compile(struct engine *en, const struct target *t, const struct node *n,
                                   bool (*cancelled)(void *user), void *user, struct compile_times *times, struct error *e);
void loop_free(struct compiled_loop *l);
struct loop_size loop_get_size(const struct compiled_loop *l);

/**
 * Appends the loop's steps to p, which has room for its size; kernels and library steps become p's.  place_value says where a
 * value of the graph around it lies.  False: e.
 */
bool loop_append(struct compiled_loop *l, struct program *p, int64_t arena_base,
                 bool (*place_value)(void *user, const struct value *v, struct place *place), void *user, struct error *e);

#endif
