/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds the steps of an executable that only unwanted outputs need, by a walk backwards over the memory that steps read and
 * write.
 *
 * A library's step and a copy write all of their output, so that earlier writers of those bytes do not count.  A kernel may
 * write a part of its output only (a scatter), so that they do; memory that is used several times may then keep a step that
 * would not be needed.  Steps that are kept compute what they always do.
 */
#pragma once

#include "runtime/program/invocation.h"

/**
 * Returns, by step, which of them a run with these outputs leaves out, or NULL if it is to run all: on a device, whose
 * recordings are of whole runs, and where memory runs out.  The answer for the last choice of outputs is kept.
 */
const bool *wanted_skips(struct invocation *i, const struct engine_binding *outputs);
