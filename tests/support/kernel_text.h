/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads kernels as kernel_print writes them, and as tests are written: variables, tensors and expressions may have any names,
 * several of a kind are separated by commas, and operands may be expressions themselves:
 *
 *   kernel rows {
 *     parallel i < $m, j < $n  reduced r < 8
 *     tensor a: $T[$m * 8], b: $T[8 * $n], y: f32[$m * $n] written
 *     k = i32(index(j - 1))
 *     store y[$n*i + j] = max(reduce.dot(a[8*i + r], b[$n*r + j]), 0)
 *   }
 *
 * A text may be the statements alone.  A number is a float32 constant, and one after a type, as in u8(3), a constant of it; an
 * expression there is converted.  In addresses, sizes and guards (`x = load a[i - 1] if 0 <= i - 1 < $m else 2`) a form may be
 * divided by a number, and the remainder taken: (i + 3*j) / 4 % 2.  A tensor without a size, as in x: f32[], is as large as its
 * addresses want it.  `loaded l = k < 8` makes a variable of an expression, and `form row = 2*i - 1` names a form.  A dollar
 * sign and a name stand for a text that is given with the kernel's.
 */
#pragma once

#include "ir/kernel/kernel.h"

/** Returns the kernel of a text, not finished; the caller frees it.  The test fails where the text is wrong.  values is
 * "name=text name=text"; such a text may have names, too. */
struct kernel *kernel_parse(const char *text, const char *values);
/** Returns it finished, with values by a format. */
struct kernel *kernel_of(const char *text, const char *values, ...) __attribute__((format(printf, 2, 3)));

/** Fails unless a finished kernel's text is read as the same kernel. */
void assert_reads_back(const struct kernel *k);

/**
 * Runs a finished kernel on buffers, one scalar at a time; generated code is tested against it.  Element-wise float operations
 * are exactly rounded as generated code's are; transcendental functions are double's, rounded; sums accumulate in double.
 * Returns false if memory runs out.
 */
bool kernel_interpret(const struct kernel *k, void *const *tensors);

/** Returns text with all names replaced, which the caller frees. */
char *names_replace(const char *text, const char *values);
