/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads clocks, and measures by repetition. */
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_peak_rss(void)
{
    struct rusage u;

    return getrusage(RUSAGE_SELF, &u) ? 0 : (double)u.ru_maxrss / 1024;
}

/* ---- repetition ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

bool bench_measure(bool (*run)(void *user), void *user, double seconds, struct bench_times *out)
{
    enum { SAMPLES_MAX = 4096, RUNS_MIN = 5 };
    const double sample_min = 50e-6; /* one sample: so long that the clock does not matter */
    double *samples = malloc(SAMPLES_MAX * sizeof *samples), start = bench_now(), each, end;
    size_t warm = 0, batch, count = 0;
    bool ok = samples != NULL;

    /* A warm-up fills caches, starts the thread pool, and tells how long a run takes. */
    while (ok && (warm < 3 || bench_now() - start < seconds * 0.1)) {
        ok = run(user);
        warm++;
    }
    each = ok ? (bench_now() - start) / (double)warm : 0;
    batch = each > 0 && each < sample_min ? (size_t)(sample_min / each) + 1 : 1;
    end = bench_now() + seconds;
    while (ok && count < SAMPLES_MAX && (count < RUNS_MIN || bench_now() < end)) {
        double t = bench_now();

        for (size_t i = 0; i < batch && ok; i++)
            ok = run(user);
        samples[count++] = (bench_now() - t) * 1e3 / (double)batch;
    }
    if (ok) {
        qsort(samples, count, sizeof *samples, compare_doubles);
        *out =
            (struct bench_times){count * batch, samples[count / 2], samples[count / 10], samples[count * 9 / 10], samples[0]};
    }
    free(samples);
    return ok;
}
