/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds the steps of an executable that only omitted outputs need, by a backward walk over the memory that steps read and
 * write.
 *
 * A library's step and a copy write all of their output, so that earlier writers of those bytes are not needed.  A kernel may
 * write a part of its output only (a scatter), so that they are; memory that is used several times may then keep a step that
 * would not be needed.  Other steps run unchanged.
 */
#pragma once

#include "runtime/program/invocation.h"

/**
 * Returns, by step, whether a run with these outputs skips it, or NULL if all run: on a device, and where memory runs out.  The
 * result for the last choice of outputs is cached.
 */
const bool *wanted_skips(struct invocation *i, const struct engine_binding *outputs);
