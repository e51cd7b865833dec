/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A library that calls libgomp as code compiled for OpenMP does, by name, so that every compiler makes the same of it.  With
 * OPENMP_LOOPS it also shares loops, as oneDNN does not.
 */
#include "support/openmp_user.h"

int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_in_parallel(void);
void GOMP_parallel(void (*body)(void *data), void *data, unsigned count, unsigned flags);
void GOMP_barrier(void);

#ifdef OPENMP_LOOPS
long GOMP_loop_dynamic_start(long start, long end, long increment, long chunk, long *first, long *last);

long share_loop(void)
{
    long first, last;

    return GOMP_loop_dynamic_start(0, 1, 1, 1, &first, &last);
}
#else

static void inner(void *data)
{
    struct openmp_seen *s = data;

    if (omp_get_num_threads() == 1 && omp_get_thread_num() == 0)
        __atomic_add_fetch(&s->inner, 1, __ATOMIC_SEQ_CST);
}

static void outer(void *data)
{
    struct openmp_seen *s = data;
    int number = omp_get_thread_num();

    __atomic_add_fetch(&s->parts[number], 1, __ATOMIC_SEQ_CST);
    s->threads[number] = omp_get_num_threads();
    s->most[number] = omp_get_max_threads();
    s->inside[number] = omp_in_parallel();
    GOMP_parallel(inner, s, 0, 0);
    GOMP_barrier();
    if (__atomic_load_n(&s->inner, __ATOMIC_SEQ_CST) != s->threads[number])
        __atomic_add_fetch(&s->early, 1, __ATOMIC_SEQ_CST);
    if (omp_get_thread_num() != number) /* the inner region has restored it */
        __atomic_add_fetch(&s->early, 1, __ATOMIC_SEQ_CST);
}

void use_openmp(struct openmp_seen *s, unsigned threads)
{
    s->most_outside = omp_get_max_threads();
    s->inside_outside = omp_in_parallel();
    GOMP_parallel(outer, s, threads, 0);
}
#endif
