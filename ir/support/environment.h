/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads environment variables.  The library reads them only here (WEBNN_DEBUG, WEBNN_ENGINE, WEBNN_CACHE,
 * XDG_CACHE_HOME, HOME, OMP_WAIT_POLICY, OMP_STACKSIZE).
 *
 * In a program with more privileges than the user who started it (set-user-ID, set-group-ID, file capabilities) none is read,
 * since the caller controls them.  A build with WEBNN_ENVIRONMENT=OFF reads none at all.
 */
#pragma once

#include <stdbool.h>

/** Returns a variable's value, or NULL if it is not set or must not be read. */
const char *environment_get(const char *name);
/** Returns the value of a variable that libgomp has read by itself when it was loaded, also in a program with more privileges,
 * to predict libgomp's behaviour. */
const char *environment_of_libgomp(const char *name);
/** Returns whether no variable is read in this process: AT_SECURE is set, or the build reads none. */
bool environment_is_ignored(void);
