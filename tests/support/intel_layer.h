/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Internals of the layer intel_layer.c.
 */
#pragma once

#include <CL/cl_layer.h>
#include <stdbool.h>

/** Returns whether the call of that name is the one that is to fail; any thread. */
bool intel_layer_fails(const char *name);
/** Puts the calls that are counted and may fail into the table; those below are target's. */
void intel_layer_add_faults(const struct _cl_icd_dispatch *target, struct _cl_icd_dispatch *table);
/** The layer's interface for tests (intel_layer_faults.h). */
const struct intel_layer *intel_layer_get(void);
