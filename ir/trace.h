/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * When what happened: spans of time for the debug switch trace=FILE, written in the Trace Event Format that Perfetto and
 * chrome://tracing read.
 *
 * In: names, once each; then spans of them, from any thread.  Out: one JSON file when the trace is closed.  Spans are kept in
 * memory until then, so that writing does not disturb what is measured; those beyond TRACE_SPANS_MAX are only counted.
 */
#ifndef WEBNN_IR_TRACE_H_
#define WEBNN_IR_TRACE_H_

#include <stdbool.h>
#include <stdint.h>

#include "ir/clock.h"
#include "ir/ir.h"

enum { TRACE_SPANS_MAX = 1 << 22 };

struct trace;

/** What spans share.  flops and bytes of one span: 0 if unknown. */
struct trace_name {
    const char *category, *name, *implementation; /* implementation: "" if there is nothing to say */
    double flops, bytes;
};

/** Opens the file.  NULL: e. */
struct trace *trace_open(const char *path, struct error *e);
/** Writes the file and frees; one that could not be written whole is removed.  NULL does nothing. */
void trace_close(struct trace *t);
/** A number for trace_add; the texts are copied.  UINT32_MAX, which trace_add ignores, without memory. */
uint32_t trace_register(struct trace *t, const struct trace_name *name);
/** A span of the calling thread, from `start` to `end` of nanoseconds_now(). */
void trace_add(struct trace *t, uint32_t name, uint64_t start, uint64_t end);
/** For names that come seldom: registers, then adds a span that ends now.  t may be NULL. */
void trace_span(struct trace *t, const char *category, const char *name, uint64_t start);

#endif
