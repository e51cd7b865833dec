/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The interface of the loaded layer intel_layer.c for tests, which open the same file and look up intel_layer_get.
 */
#pragma once

#include <stdbool.h>

struct intel_layer {
    /** Makes the n-th call from then on (from 0) of those that intel_layer_faults.c lists fail; none if n is negative. */
    void (*fail_after)(long n);
    /** Returns the name of the call that failed since, or NULL if none did. */
    const char *(*failed_call)(void);
    /** Returns how many sub-buffers were created so far. */
    long (*sub_buffers)(void);
    /** Returns how many references to memory objects there are. */
    long (*memory_objects)(void);
};

/** Type of the layer's function intel_layer_get. */
typedef const struct intel_layer *intel_layer_function(void);
