/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The floating-point mode of the calling thread: what is rounded how, and what becomes of subnormals. */
#ifndef WEBNN_RUNTIME_HOST_FLOAT_MODE_H_
#define WEBNN_RUNTIME_HOST_FLOAT_MODE_H_

/** Rounds to nearest even and keeps subnormals from here on.  Returns what float_mode_restore needs: 0 if nothing was changed.
 */
int float_mode_set_default(void);
void float_mode_restore(int saved);

#endif
