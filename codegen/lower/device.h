/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Adapts a device's schedule to the lowering.
 */
#pragma once

#include "ir/schedule/schedule.h"
#include "ir/schedule/schedule_gpu.h"

/** Makes a schedule of values, loops over REDUCED variables and stores in the arena, of a device's for a kernel without stages
 * or for one stage.  Returns NULL if memory runs out. */
struct schedule *device_schedule(const struct gpu_schedule *s, struct arena *a);
