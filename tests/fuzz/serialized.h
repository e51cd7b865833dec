/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the targets for serialized programs share. */
#pragma once

#include "fuzz/fuzz.h"
#include "runtime/program/serialized.h"

/** Serialized programs of some small programs, without code; data_apart: with their data after them. */
void fuzz_serialized_seeds(bool data_apart);
