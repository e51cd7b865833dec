/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The machine's peaks: multiply-adds in registers, reading and copying memory.
 *
 * How fast memory is depends on how much of it is walked, so there is a figure for each of a few sizes: what a small network
 * touches, what fits some last-level caches and not others, and what fits none.  All of it lies in huge pages, as what the
 * library allocates does.  Of several ways to read and to copy the best counts.  A child process measures, so that the memory
 * does not count as this one's.
 */
#define _GNU_SOURCE
#include "bench/bench.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- operations ---- */

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

/* ---- memory ---- */

enum { PREFETCH = 4096, STEP = 256 };
typedef float line __attribute__((vector_size(64)));

/* The sum of all, walking `streams` parts side by side: a processor may prefetch only inside of a page, and several at once. */
#define READ(name, target)                                                                                                     \
    target static void name(const char *from, size_t bytes, size_t streams)                                                    \
    {                                                                                                                          \
        size_t part = bytes / streams;                                                                                         \
        line sum[STEP / sizeof(line)] = {{0}};                                                                                 \
        for (size_t i = 0; i + STEP <= part; i += STEP) {                                                                      \
            for (const char *p = from + i, *end = from + bytes; p < end; p += part) {                                          \
                for (size_t k = 0; k < STEP / sizeof(line); k++) {                                                             \
                    __builtin_prefetch(p + PREFETCH + k * sizeof(line));                                                       \
                    sum[k] += ((const line *)p)[k];                                                                            \
                }                                                                                                              \
            }                                                                                                                  \
        }                                                                                                                      \
        sum[0] += sum[1] + sum[2] + sum[3];                                                                                    \
        sink = sum[0][0];                                                                                                      \
    }
#define COPY(name, target)                                                                                                     \
    target static void name(char *to, const char *from, size_t bytes)                                                          \
    {                                                                                                                          \
        for (size_t i = 0; i < bytes; i += sizeof(line)) {                                                                     \
            __builtin_prefetch(from + i + PREFETCH / 2);                                                                       \
            *(line *)(to + i) = *(const line *)(from + i);                                                                     \
        }                                                                                                                      \
    }

READ(read_plain, )
COPY(copy_plain, )
#if defined(__x86_64__)
READ(read_avx2, __attribute__((target("avx2"))))
COPY(copy_avx2, __attribute__((target("avx2"))))
READ(read_avx512, __attribute__((target("avx512f"))))
COPY(copy_avx512, __attribute__((target("avx512f"))))
#endif

static void run_read(const char *from, size_t bytes, size_t streams)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        read_avx512(from, bytes, streams);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        read_avx2(from, bytes, streams);
        return;
    }
#endif
    read_plain(from, bytes, streams);
}

static void run_copy(char *to, const char *from, size_t bytes)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        copy_avx512(to, from, bytes);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        copy_avx2(to, from, bytes);
        return;
    }
#endif
    copy_plain(to, from, bytes);
}

/* ---- all threads at once ---- */

enum way { FMA, COPY_LOOP, COPY_LIBRARY, READ_ONE, READ_FOUR };

struct peak_thread {
    enum way way;
    pthread_barrier_t *barrier;
    char *memory;
    size_t bytes;
    double work, seconds; /* flops or bytes */
};

static void *peak_run(void *user)
{
    struct peak_thread *t = user;
    char *half = t->memory + t->bytes / 2;
    double start;

    pthread_barrier_wait(t->barrier);
    start = bench_now();
    t->work = (double)t->bytes;
    switch (t->way) {
    case FMA:
        t->work = run_fma(1 << 20);
        break;
    case COPY_LOOP:
        run_copy(half, t->memory, t->bytes / 2);
        break;
    case COPY_LIBRARY:
        memcpy(half, t->memory, t->bytes / 2);
        break;
    case READ_ONE:
        run_read(t->memory, t->bytes, 1);
        break;
    case READ_FOUR:
        run_read(t->memory, t->bytes, 4);
        break;
    }
    pthread_barrier_wait(t->barrier);
    t->seconds = bench_now() - start;
    return NULL;
}

/** The best of some rounds, in units of 10^9 a second: a peak, not a mean.  0 if threads could not be had. */
static double peak_measure(enum way way, uint32_t threads, char *memory, size_t bytes, int rounds)
{
    struct peak_thread *t = calloc(threads, sizeof *t);
    pthread_t *ids = calloc(threads, sizeof *ids);
    size_t part = bytes / threads / (4 * STEP) * (4 * STEP);
    double best = 0;

    for (int round = 0; round < rounds && t && ids; round++) {
        pthread_barrier_t barrier;
        double work = 0, seconds = 0;
        uint32_t started;

        if (pthread_barrier_init(&barrier, NULL, threads))
            break;
        for (uint32_t i = 0; i < threads; i++)
            t[i] = (struct peak_thread){way, &barrier, memory + i * part, part, 0, 0};
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

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static const uint32_t level_mib[BENCH_LEVELS] = {16, 48, 512};

static void measure_all(uint32_t threads, struct bench_peaks *out)
{
    size_t room = (size_t)level_mib[BENCH_LEVELS - 1] << 20, huge = (size_t)2 << 20;
    char *memory = aligned_alloc(huge, room + huge); /* what is prefetched behind the end is there, too */

    out->gflops = peak_measure(FMA, threads, NULL, 0, 20);
    if (!memory)
        return;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, room + huge, MADV_HUGEPAGE); /* advice: the answer does not matter */
#endif
    memset(memory, 0, room + huge);
    for (int i = 0; i < BENCH_LEVELS; i++) {
        struct bench_bandwidth *b = &out->levels[i];
        size_t bytes = (size_t)b->mib << 20;
        int rounds = b->mib > 100 ? 3 : 10;

        b->read = larger(peak_measure(READ_ONE, threads, memory, bytes, rounds),
                         peak_measure(READ_FOUR, threads, memory, bytes, rounds));
        b->copy = larger(peak_measure(COPY_LOOP, threads, memory, bytes, rounds),
                         peak_measure(COPY_LIBRARY, threads, memory, bytes, rounds));
    }
    free(memory);
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
    struct bench_peaks *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    memset(out, 0, sizeof *out);
    processor_name(out->processor, sizeof out->processor);
    for (int i = 0; i < BENCH_LEVELS; i++)
        out->levels[i].mib = level_mib[i];
    if (shared == MAP_FAILED)
        return;
    *shared = *out;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        measure_all(threads, shared);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    *out = *shared;
    munmap(shared, sizeof *shared);
}

void bench_print_peaks(const struct bench_peaks *p)
{
    printf("%s: %.1f GFLOP/s", p->processor, p->gflops);
    for (int i = 0; i < BENCH_LEVELS; i++)
        printf("%s in %u MiB copy %.1f, read %.1f GB/s", i ? "," : ";", p->levels[i].mib, p->levels[i].copy, p->levels[i].read);
    putchar('\n');
}

void bench_print_peaks_json(const struct bench_peaks *p)
{
    printf("\"gflops\": %.1f, \"bandwidth\": [", p->gflops);
    for (int i = 0; i < BENCH_LEVELS; i++)
        printf("%s{\"mib\": %u, \"copy_gbs\": %.1f, \"read_gbs\": %.1f}", i ? ", " : "", p->levels[i].mib, p->levels[i].copy,
               p->levels[i].read);
    putchar(']');
}
