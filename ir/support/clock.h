/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the clock of reports: passes, stages of building, steps.  It is monotonic, from an arbitrary start.
 */
#pragma once

#include <stdint.h>

/** Returns the clock's nanoseconds.  Every thread may call it. */
uint64_t nanoseconds_now(void);
/** Returns the same in milliseconds. */
double milliseconds_now(void);
