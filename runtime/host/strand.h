/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Coroutines for parts that wait for each other on one thread: a strand is a part with its own stack.  One thread begins
 * it and continues it until it ends, from that thread's own stack.
 */
#pragma once

#include <stdint.h>

struct strand;
struct strands;

typedef void strand_body(void *user, uint32_t part, struct strand *self);

/** Returns strands for so many parts, whose stacks take memory when they are used, or NULL if there is no memory. */
struct strands *strands_create(uint32_t count);
/** Frees them, of which none may have begun and not ended. */
void strands_free(struct strands *all);

/** Prepends the part's strand to the list; continuing it begins it. */
void strand_begin(struct strands *all, uint32_t part, strand_body *body, void *user, struct strand **list);
/** Runs *at, of the calling thread's list, until it waits or ends; then it leaves the list. */
void strand_continue(struct strand **at);
/** Called in the strand: returns when its thread continues it.  `seen` is what strand_seen says until then. */
void strand_wait(struct strand *self, unsigned seen);
unsigned strand_seen(const struct strand *s);
struct strand **strand_next(struct strand *s);
