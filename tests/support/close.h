/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares numbers with a tolerance. */
#pragma once

#include <math.h>

#include "support/test.h"

/** Fails unless two numbers are equal or at most that far apart.  cmocka's own comparison of floats takes NaN for equal to any
 * number. */
#define assert_close(a, b, tolerance)                                                                                          \
    do {                                                                                                                       \
        const double close_a = (a), close_b = (b);                                                                             \
        if (!(close_a == close_b || fabs(close_a - close_b) <= (tolerance)))                                                   \
            fail_msg("%.9g is not %.9g", close_a, close_b);                                                                    \
    } while (0)
