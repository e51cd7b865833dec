/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The clock for what is reported: passes, stages of building, steps.  It only goes forward; where it starts means nothing.
 */
#ifndef WEBNN_IR_CLOCK_H_
#define WEBNN_IR_CLOCK_H_

#include <stdint.h>

uint64_t nanoseconds_now(void);
double milliseconds_now(void);

#endif
