/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the targets for serialized programs share. */
#ifndef WEBNN_TESTS_FUZZ_SERIALIZED_H_
#define WEBNN_TESTS_FUZZ_SERIALIZED_H_

#include "fuzz/fuzz.h"
#include "runtime/program/serialized.h"

/** Serialized programs of some small programs, without code; data_apart: with their data after them. */
void fuzz_serialized_seeds(bool data_apart);

#endif
