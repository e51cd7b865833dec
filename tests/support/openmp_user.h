/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a region of the library openmp_user observed. */
#pragma once

enum { OPENMP_THREADS = 16 };

struct openmp_seen {
    int parts[OPENMP_THREADS], threads[OPENMP_THREADS], most[OPENMP_THREADS], inside[OPENMP_THREADS];
    int inner, early; /* regions in regions, which have one thread; threads that the barrier let pass too early */
    int most_outside, inside_outside;
};

/** Opens a region of that many threads (0: as many as there are), and one in each of its parts. */
__attribute__((visibility("default"))) void use_openmp(struct openmp_seen *s, unsigned threads);
/** A function of a library that shares loops. */
__attribute__((visibility("default"))) long share_loop(void);
