/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares data types: those of the API, and internal ones that only passes make.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "webnn/webnn_types.h"

/** A data type; the public enumeration is also used internally. */
typedef WNNOperandDataType dtype;
enum { DTYPE_COUNT = 9 }; /* including Undefined, so that arrays can be indexed by dtype */
/** Data types of the working group's draft (webnn_draft.h).  A context accepts them if its options do; passes convert operands
 * of contractions to bfloat16 (docs/precision.md).  Of the operators, those of op_draft_types have them, cast and, in what
 * passes make of bfloat16, all of any type (DT_ANY). */
#define DTYPE_BFLOAT16 ((dtype)DTYPE_COUNT)
#define DTYPE_FLOAT8E4M3 ((dtype)(DTYPE_COUNT + 1))
#define DTYPE_FLOAT8E5M2 ((dtype)(DTYPE_COUNT + 2))
/** Small recurrent operators are computed in this type (docs/loops.md).  Only passes make it; cast, operators of any type
 * (DT_ANY) and those with OPF_FLOAT64 have it. */
#define DTYPE_FLOAT64 ((dtype)(DTYPE_COUNT + 3))
/** Weights whose values fit into b = 4, 2 or 1 bits are stored like this (docs/compact-weights.md): numbers from 0 on,
 * element i in bits b * (i % n) of the 32-bit word i / n, where n = 32 / b, counted in row-major order.  Passes and the builder
 * make constants of such packed types, and only cast reads them. */
#define DTYPE_UINT4 ((dtype)(DTYPE_COUNT + 4))
#define DTYPE_UINT2 ((dtype)(DTYPE_COUNT + 5))
#define DTYPE_UINT1 ((dtype)(DTYPE_COUNT + 6))
/** Bytes less their zero point, as processors multiply them that have no instruction for bytes; only passes make it. */
#define DTYPE_INT16 ((dtype)(DTYPE_COUNT + 7))
/** One more than the largest type, those that only passes make included. */
enum { DTYPE_END = DTYPE_COUNT + 8 };

/** Returns the bits of an element of a packed type, 0 of any other type. */
static inline uint32_t dtype_packed_bits(dtype t)
{
    return t == DTYPE_UINT4 ? 4 : t == DTYPE_UINT2 ? 2 : t == DTYPE_UINT1 ? 1 : 0;
}

/** Returns the packed type of that many bits, or Undefined if there is none. */
static inline dtype dtype_packed(uint32_t bits)
{
    return bits == 4 ? DTYPE_UINT4 : bits == 2 ? DTYPE_UINT2 : bits == 1 ? DTYPE_UINT1 : WNNOperandDataType_Undefined;
}

/** Returns how many elements of a packed type a word has. */
static inline uint32_t dtype_per_word(dtype t)
{
    return 32 / dtype_packed_bits(t);
}

/** Returns whether a data type is one of the draft. */
static inline bool dtype_is_draft(dtype t)
{
    return t >= DTYPE_BFLOAT16 && t <= DTYPE_FLOAT8E5M2;
}

/** Returns whether elements are floats of 8 bits, which kernels load as bytes and convert to float32. */
static inline bool dtype_is_float8(dtype t)
{
    return t == DTYPE_FLOAT8E4M3 || t == DTYPE_FLOAT8E5M2;
}

/** Returns whether a data type is a float. */
static inline bool dtype_is_float(dtype t)
{
    return t == WNNOperandDataType_Float32 || t == WNNOperandDataType_Float16 || dtype_is_draft(t) || t == DTYPE_FLOAT64;
}

/** Returns whether elements have 16 bits of the float32 numbers that they are computed with. */
static inline bool dtype_is_low_precision(dtype t)
{
    return t == WNNOperandDataType_Float16 || t == DTYPE_BFLOAT16;
}

/** Returns whether all programs may name the type. */
static inline bool dtype_is_public(dtype t)
{
    return t > WNNOperandDataType_Undefined && (unsigned)t < DTYPE_COUNT;
}

/** Returns whether inputs and outputs of a graph may have the type, those of the draft included. */
static inline bool dtype_is_port(dtype t)
{
    return dtype_is_public(t) || dtype_is_draft(t);
}

/** Returns whether a data type is an integer with a sign. */
static inline bool dtype_is_signed(dtype t)
{
    return t == WNNOperandDataType_Int32 || t == WNNOperandDataType_Int64 || t == WNNOperandDataType_Int8 ||
           t == DTYPE_INT16;
}

/** Returns the bytes of an element; 0 for Undefined.  Elements of packed types count as one byte; type_bytes computes the
 * packed size. */
size_t dtype_size(dtype t);
/** Returns the specification's name ("float32"), and "undefined" for any other value. */
const char *dtype_name(dtype t);
/** Returns the textual format's short name ("f32"). */
const char *dtype_short_name(dtype t);
/** Returns the type of either name, or Undefined if the name is none. */
dtype dtype_parse(const char *text, size_t length);
