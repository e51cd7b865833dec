/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Clocks, repetition, and the machine's peaks. */
#include "bench/bench.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

    /* Warm-up: caches, the thread pool, and how long a run takes. */
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

/* ---- peaks ---- */

enum { CHAINS = 12 };

/* Independent chains of fused multiply-adds; the number of flops is returned, the result goes where it cannot be optimised
 * away. */
static volatile float sink;

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static double fma_avx512(int64_t rounds)
{
    __m512 a[CHAINS], x = _mm512_set1_ps(0.999999f), y = _mm512_set1_ps(1e-7f);

    for (int i = 0; i < CHAINS; i++)
        a[i] = _mm512_set1_ps((float)i);
    for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            a[i] = _mm512_fmadd_ps(a[i], x, y);
    }
    for (int i = 1; i < CHAINS; i++)
        a[0] = _mm512_add_ps(a[0], a[i]);
    sink = _mm512_cvtss_f32(a[0]);
    return (double)rounds * CHAINS * 16 * 2;
}

__attribute__((target("avx2,fma"))) static double fma_avx2(int64_t rounds)
{
    __m256 a[CHAINS], x = _mm256_set1_ps(0.999999f), y = _mm256_set1_ps(1e-7f);

    for (int i = 0; i < CHAINS; i++)
        a[i] = _mm256_set1_ps((float)i);
    for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            a[i] = _mm256_fmadd_ps(a[i], x, y);
    }
    for (int i = 1; i < CHAINS; i++)
        a[0] = _mm256_add_ps(a[0], a[i]);
    sink = _mm256_cvtss_f32(a[0]);
    return (double)rounds * CHAINS * 8 * 2;
}
#endif

static double fma_plain(int64_t rounds)
{
    typedef float lanes __attribute__((vector_size(16)));
    lanes a[CHAINS], x = {0.999999f, 0.999999f, 0.999999f, 0.999999f}, y = {1e-7f, 1e-7f, 1e-7f, 1e-7f};

    for (int i = 0; i < CHAINS; i++)
        a[i] = (lanes){(float)i};
    for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            a[i] = a[i] * x + y;
    }
    for (int i = 1; i < CHAINS; i++)
        a[0] += a[i];
    sink = a[0][0];
    return (double)rounds * CHAINS * 4 * 2;
}

static double run_fma(int64_t rounds)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return fma_avx512(rounds);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return fma_avx2(rounds);
#endif
    return fma_plain(rounds);
}

static void run_read(const char *from, size_t bytes)
{
    typedef long long lanes __attribute__((vector_size(64)));
    lanes sum[4] = {{0}};
    const lanes *p = (const lanes *)from;

    for (size_t i = 0; i < bytes / sizeof(lanes); i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += p[i + (size_t)k];
    sum[0] += sum[1] + sum[2] + sum[3];
    sink = (float)sum[0][0];
}

enum peak { PEAK_FMA, PEAK_COPY, PEAK_READ };

struct peak_thread {
    enum peak kind;
    pthread_barrier_t *barrier;
    char *from, *to;
    double work, seconds; /* flops or bytes */
};

static const size_t peak_bytes = (size_t)64 << 20;

static void *peak_run(void *user)
{
    struct peak_thread *t = user;
    double start;

    pthread_barrier_wait(t->barrier);
    start = bench_now();
    switch (t->kind) {
    case PEAK_FMA:
        t->work = run_fma(4 << 20);
        break;
    case PEAK_COPY:
        memcpy(t->to, t->from, peak_bytes);
        t->work = 2 * (double)peak_bytes;
        break;
    case PEAK_READ:
        run_read(t->from, peak_bytes);
        t->work = (double)peak_bytes;
        break;
    }
    pthread_barrier_wait(t->barrier);
    t->seconds = bench_now() - start;
    return NULL;
}

/** The best of a few rounds: a peak, not a mean.  0 if threads or memory could not be had. */
static double peak_measure(enum peak kind, uint32_t threads, char *from, char *to)
{
    struct peak_thread *t = calloc(threads, sizeof *t);
    pthread_t *ids = calloc(threads, sizeof *ids);
    double best = 0;

    for (int round = 0; round < 5 && t && ids; round++) {
        pthread_barrier_t barrier;
        double work = 0, seconds = 0;
        uint32_t started;

        if (pthread_barrier_init(&barrier, NULL, threads))
            break;
        for (uint32_t i = 0; i < threads; i++)
            t[i] = (struct peak_thread){kind, &barrier, from + i * peak_bytes, to + i * peak_bytes, 0, 0};
        for (started = 1; started < threads; started++)
            if (pthread_create(&ids[started], NULL, peak_run, &t[started]))
                exit(1); /* the barrier would wait for ever */
        peak_run(&t[0]);
        for (uint32_t i = 1; i < threads; i++)
            pthread_join(ids[i], NULL);
        pthread_barrier_destroy(&barrier);
        for (uint32_t i = 0; i < threads; i++) {
            work += t[i].work;
            seconds = t[i].seconds > seconds ? t[i].seconds : seconds;
        }
        best = work / seconds * 1e-9 > best ? work / seconds * 1e-9 : best;
    }
    free(t);
    free(ids);
    return best;
}

static void processor_name(char *out, size_t size)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];

    snprintf(out, size, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) || !colon)
            continue;
        colon[strcspn(colon, "\n")] = 0;
        snprintf(out, size, "%s", colon[1] ? colon + 2 : "");
        break;
    }
    if (f)
        fclose(f);
}

void bench_measure_peaks(uint32_t threads, struct bench_peaks *out)
{
    char *from = aligned_alloc(4096, peak_bytes * threads), *to = aligned_alloc(4096, peak_bytes * threads);

    memset(out, 0, sizeof *out);
    processor_name(out->processor, sizeof out->processor);
    if (from && to) {
        memset(from, 1, peak_bytes * threads);
        memset(to, 2, peak_bytes * threads);
        out->gflops = peak_measure(PEAK_FMA, threads, from, to);
        out->copy = peak_measure(PEAK_COPY, threads, from, to);
        out->read = peak_measure(PEAK_READ, threads, from, to);
    }
    free(from);
    free(to);
}
