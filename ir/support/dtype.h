/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares data types: those of the API, and those that only passes make.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "webnn/webnn_types.h"

/** This is a data type; the public enumeration serves inside, too. */
typedef WNNOperandDataType dtype;
enum { DTYPE_COUNT = 9 }; /* including Undefined, so that arrays can be indexed by dtype */
/** This is how values lie that contractions in bfloat16 read (docs/precision.md).  Only passes make it: no program can name it,
 * and of the operators only cast and those of any type (DT_ANY) have it. */
#define DTYPE_BFLOAT16 ((dtype)DTYPE_COUNT)
/** Small recurrent operators are computed in this type (docs/loops.md).  Only passes make it; cast, operators of any type
 * (DT_ANY) and those with OPF_FLOAT64 have it. */
#define DTYPE_FLOAT64 ((dtype)(DTYPE_COUNT + 1))
/** Weights whose values fit into 4 bits lie in memory like this (docs/compact-weights.md): numbers from 0 to 15, element i in
 * bits 4 * (i % 8) of the 32-bit word i / 8, counted in row-major order.  Passes and the builder make constants of it, and only
 * cast reads them. */
#define DTYPE_UINT4 ((dtype)(DTYPE_COUNT + 2))
enum { DTYPE_UINT4_PER_WORD = 8 };
/** This is one more than the largest type, those that only passes make included. */
enum { DTYPE_END = DTYPE_COUNT + 3 };

/** Returns whether a data type is a float. */
static inline bool dtype_is_float(dtype t)
{
    return t == WNNOperandDataType_Float32 || t == WNNOperandDataType_Float16 || t == DTYPE_BFLOAT16 || t == DTYPE_FLOAT64;
}

/** Returns whether elements are narrower than the float32 numbers that are computed with. */
static inline bool dtype_is_low_precision(dtype t)
{
    return t == WNNOperandDataType_Float16 || t == DTYPE_BFLOAT16;
}

/** Returns whether programs may name the type. */
static inline bool dtype_is_public(dtype t)
{
    return t > WNNOperandDataType_Undefined && (unsigned)t < DTYPE_COUNT;
}

/** Returns whether a data type is an integer with a sign. */
static inline bool dtype_is_signed(dtype t)
{
    return t == WNNOperandDataType_Int32 || t == WNNOperandDataType_Int64 || t == WNNOperandDataType_Int8;
}

/** Returns the bytes of an element; 0 for Undefined.  Elements of DTYPE_UINT4 count as one byte, of which two share one:
 * type_bytes knows. */
size_t dtype_size(dtype t);
/** Returns the specification's name ("float32"), and "undefined" for any other value. */
const char *dtype_name(dtype t);
/** Returns the textual format's short name ("f32"). */
const char *dtype_short_name(dtype t);
/** Returns the type of either name, or Undefined if the name is none. */
dtype dtype_parse(const char *text, size_t length);
