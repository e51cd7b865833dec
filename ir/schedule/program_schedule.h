/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares schedules as parts of a program (ir/program.h), for processors and for devices. */
#pragma once

#include "ir/program.h"
#include "ir/schedule/schedule.h"
#include "ir/schedule/schedule_gpu.h"

/** Gives a step a schedule for processors, which becomes the program's. */
void step_set_schedule(struct program_step *s, struct schedule *schedule);
/** Gives a step a schedule for devices with work-groups, which is from malloc and becomes the program's. */
void step_set_gpu_schedule(struct program_step *s, struct gpu_schedule *schedule);
