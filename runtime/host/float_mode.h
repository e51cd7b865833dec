/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The floating-point mode of the calling thread: rounding and subnormals. */
#pragma once

#include <fenv.h>
#include <stdbool.h>

/** Rounds to nearest even and keeps subnormals from here on.  Returns what float_mode_restore needs: 0 if nothing was changed.
 */
int float_mode_set_default(void);
void float_mode_restore(int saved);

/** Returns whether the processor has noted an invalid operation of the calling thread, and removes the note. */
static inline bool float_take_invalid(void)
{
    const bool noted = fetestexcept(FE_INVALID) != 0;

    if (noted) /* clearing takes much longer than looking */
        (void)feclearexcept(FE_INVALID);
    return noted;
}
