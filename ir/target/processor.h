/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Detects the processor of this process without LLVM, which is loaded only to compile.
 *
 * Features have LLVM's names, as in "+avx2,+fma".  Only features that affect vector code are detected; the others are implied
 * by these.
 */
#pragma once

#include "ir/support/error.h"
#include "ir/target/target.h"

/** Returns the features of the processor as a list that begins each name with "+".  It is never freed; "" where nothing is
 * known.  Any thread may call it. */
const char *processor_features(void);
/** Stores the processor's name, truncated; "processor" if it has none. */
void processor_name(char *text, size_t size);

/** Returns what LLVM can determine about the processor, as text that is never freed: two processors with one text get the same
 * code.  "" where that is not known.  Any thread may call it. */
const char *processor_signature(void);

/**
 * Fills triple, isa, full_rate, cpu and features with the processor's, capped by isa ("baseline", "avx2", "avx512", NULL or
 * "native").  The strings live for ever; without a cap, cpu and features are NULL, which stands for the host's.  Returns false
 * after an error in *e, which is a TypeError for an unknown isa.
 */
bool processor_target(struct target *t, const char *isa, struct error *e);

/**
 * Returns whether the processor has the features of a list, "+avx2,+fma", as far as they are known.  The last word about one
 * counts, "-avx2" as well.  The error in *e is a NotSupportedError that names the first missing one.
 */
bool processor_has_features(const char *features, struct error *e);
