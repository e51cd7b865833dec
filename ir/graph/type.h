/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares types of tensors. */
#pragma once

#include "ir/graph/op.h"
#include "ir/support/error.h"

struct tensor_type {
    dtype type;
    uint32_t rank;
    uint32_t dims[RANK_MAX]; /* sizes; in a builder's graph also open ones (dims.h) */
};

/** Returns the number of elements (1 for a scalar).  Types in a graph are checked, so that it fits an int32_t. */
int64_t type_elements(const struct tensor_type *t);
/** Returns the bytes of all elements. */
int64_t type_bytes(const struct tensor_type *t);
/** Returns whether two types have the same data type and dimensions. */
bool type_equal(const struct tensor_type *a, const struct tensor_type *b);
/** Returns whether two types have the same dimensions. */
bool type_same_dims(const struct tensor_type *a, const struct tensor_type *b);
/** Computes row-major strides in elements. */
void type_strides(const struct tensor_type *t, int64_t strides[RANK_MAX]);
/** Writes "f32[2, 3]" or the like; returns buf. */
const char *type_print(char *buf, size_t size, const struct tensor_type *t);
/** Returns whether programs may name the type in a context that knows those of the draft, or not; else sets *e. */
bool type_check_data_type(dtype type, bool knows_draft, const char *what, struct error *e);
/** Does the specification's "check dimensions" with the library's limits; what, such as "input [x]", names the operand. */
bool type_check(const struct tensor_type *t, const char *what, struct error *e);
