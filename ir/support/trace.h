/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Records spans of time for the debug switch trace=FILE, written in the Trace Event Format that Perfetto
 * and chrome://tracing read.
 *
 * Names are registered once each; then any thread adds spans with these names.  Closing the trace writes one JSON file.  Spans
 * are kept in memory until then, so that writing does not disturb measurements; those beyond TRACE_SPANS_MAX are only
 * counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/support/clock.h"
#include "ir/support/error.h"

enum { TRACE_SPANS_MAX = 1 << 22 };

struct trace;

/** Describes what spans share.  flops and bytes are those of one span; they are 0 if they are unknown. */
struct trace_name {
    const char *category, *name, *implementation; /* implementation may be "" */
    double flops, bytes;
};

/** Begins a trace, which trace_close frees, and checks that the file at path can be written.  Returns NULL after an error in
 * *e. */
struct trace *trace_open(const char *path, struct error *e);
/** Writes the file and frees the trace, also on failure.  Returns false after an error in *e if the file could not be written
 * whole; it is then as it was.  NULL does nothing and returns true. */
bool trace_close(struct trace *t, struct error *e);
/** Registers a name, whose texts are copied, and returns its number for trace_add.  If memory runs out it returns UINT32_MAX,
 * which trace_add ignores.  Any thread may call it. */
uint32_t trace_register(struct trace *t, const struct trace_name *name);
/** Adds a span of the calling thread, which lasted from `start` to `end` of nanoseconds_now().  `name` is a number of
 * trace_register.  If memory runs out the span is only counted.  Any thread may call it. */
void trace_add(struct trace *t, uint32_t name, uint64_t start, uint64_t end);
/** Registers a name and adds a span of it that ends when this is called, for rare names.  If t is NULL it does
 * nothing. */
void trace_span(struct trace *t, const char *category, const char *name, uint64_t start);
