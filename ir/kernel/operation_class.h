/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the cost classes of scalar operations.
 */
#pragma once

/** Classifies scalar operations by cost: operations of a class cost the same. */
enum operation_class {
    OPERATION_NONE,           /* constants */
    OPERATION_SIMPLE,         /* additions, comparisons, ...: one instruction; accesses to the L1 cache, too */
    OPERATION_EXTREME,        /* minimum and maximum, which keep NaN and signed zeros */
    OPERATION_DIVISION,       /* floats: division, square root, reciprocal */
    OPERATION_WHOLE_DIVISION, /* integers: division, which vectors do not have */
    OPERATION_ROUNDING,       /* to 16 bits and back */
    OPERATION_EXPONENTIAL,    /* exp, log, tanh, erf, sigmoid and the like: a polynomial */
    OPERATION_TRIGONOMETRIC,  /* sin, cos, tan: with the reduction of large arguments */
    OPERATION_POWER,          /* pow */
    OPERATION_CLASSES
};
