/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sets the floating-point mode of the calling thread. */
#include "runtime/host/float_mode.h"

#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

/*
 * A caller linked with -ffast-math runs with subnormals flushed to zero, and threads inherit that.  Results must not depend on
 * it. The bits that matter (flush to zero, denormals are zero, rounding) are packed into four: FTZ, DAZ, two of rounding.
 */
#if defined(__x86_64__) || defined(__i386__)

enum { MXCSR_FLUSH = 1 << 15, MXCSR_ZEROS = 1 << 6, MXCSR_ROUND_SHIFT = 13, MXCSR_ROUND = 3 << MXCSR_ROUND_SHIFT };

int float_mode_set_default(void)
{
    unsigned mode = _mm_getcsr(), wrong = mode & (MXCSR_FLUSH | MXCSR_ZEROS | MXCSR_ROUND);

    if (wrong == 0)
        return 0;
    _mm_setcsr(mode & ~wrong);
    return (wrong & MXCSR_FLUSH ? 1 : 0) | (wrong & MXCSR_ZEROS ? 2 : 0) |
           (int)((wrong & MXCSR_ROUND) >> MXCSR_ROUND_SHIFT) << 2;
}

void float_mode_restore(int saved)
{
    if (saved != 0)
        _mm_setcsr(_mm_getcsr() | (saved & 1 ? MXCSR_FLUSH : 0) | (saved & 2 ? MXCSR_ZEROS : 0) |
                   (unsigned)(saved >> 2) << MXCSR_ROUND_SHIFT);
}

#elif defined(__aarch64__)

enum { FPCR_FLUSH_SHIFT = 24, FPCR_ROUND_SHIFT = 22 };

int float_mode_set_default(void)
{
    uint64_t mode, wrong;

    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    wrong = mode & ((uint64_t)7 << FPCR_ROUND_SHIFT);
    if (wrong == 0)
        return 0;
    __asm__ volatile("msr fpcr, %0" : : "r"(mode & ~wrong));
    return (int)(wrong >> FPCR_ROUND_SHIFT);
}

void float_mode_restore(int saved)
{
    uint64_t mode;

    if (saved == 0)
        return;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"(mode | (uint64_t)saved << FPCR_ROUND_SHIFT));
}

#else

int float_mode_set_default(void)
{
    return 0;
}

void float_mode_restore(int saved)
{
    (void)saved;
}

#endif
