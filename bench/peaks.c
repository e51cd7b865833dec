/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Measures the machine's peaks: arithmetic in registers (peaks_arithmetic.c), reading and copying memory.
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

static volatile float sink;

/* ---- memory ---- */

enum { PREFETCH = 4096, STEP = 256 };
typedef float line __attribute__((vector_size(64)));

/* Sums up all, walking `streams` parts at a time: a processor may prefetch only inside of a page, and several at once. */
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
/* Does the same without asking ahead, which in a near cache takes longer than it saves. */
#define READ_STRAIGHT(name, target)                                                                                            \
    target static void name(const char *from, size_t bytes)                                                                    \
    {                                                                                                                          \
        line sum[2 * STEP / sizeof(line)] = {{0}};                                                                             \
        for (size_t i = 0; i + 2 * STEP <= bytes; i += 2 * STEP)                                                               \
            _Pragma("GCC unroll 8") for (size_t k = 0; k < 2 * STEP / sizeof(line); k++) sum[k] +=                             \
                ((const line *)(from + i))[k];                                                                                 \
        _Pragma("GCC unroll 8") for (size_t k = 1; k < 2 * STEP / sizeof(line); k++) sum[0] += sum[k];                         \
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
READ_STRAIGHT(read_straight_plain, )
COPY(copy_plain, )
#if defined(__x86_64__)
READ(read_avx2, __attribute__((target("avx2"))))
READ_STRAIGHT(read_straight_avx2, __attribute__((target("avx2"))))
COPY(copy_avx2, __attribute__((target("avx2"))))
READ(read_avx512, __attribute__((target("avx512f"))))
READ_STRAIGHT(read_straight_avx512, __attribute__((target("avx512f"))))
COPY(copy_avx512, __attribute__((target("avx512f"))))
#endif

/** Reads straight on if streams is 0. */
static void run_read(const char *from, size_t bytes, size_t streams)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        if (streams)
            read_avx512(from, bytes, streams);
        else
            read_straight_avx512(from, bytes);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        if (streams)
            read_avx2(from, bytes, streams);
        else
            read_straight_avx2(from, bytes);
        return;
    }
#endif
    if (streams)
        read_plain(from, bytes, streams);
    else
        read_straight_plain(from, bytes);
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

enum way { ARITHMETIC, COPY_LOOP, COPY_LIBRARY, READ_STRAIGHT, READ_ONE, READ_FOUR };

struct peak_thread {
    enum way way;
    pthread_barrier_t *barrier;
    const struct bench_unit *unit; /* ARITHMETIC */
    char *memory;                  /* the others */
    size_t bytes;
    int64_t times;
    double work, seconds; /* operations or bytes */
};

static void walk(const struct peak_thread *t)
{
    char *half = t->memory + t->bytes / 2;

    switch (t->way) {
    case COPY_LOOP:
        run_copy(half, t->memory, t->bytes / 2);
        break;
    case COPY_LIBRARY:
        memcpy(half, t->memory, t->bytes / 2);
        break;
    case READ_STRAIGHT:
    case READ_ONE:
    case READ_FOUR:
        run_read(t->memory, t->bytes, t->way == READ_STRAIGHT ? 0 : t->way == READ_ONE ? 1 : 4);
        break;
    case ARITHMETIC:
        break;
    }
}

static void *peak_run(void *user)
{
    struct peak_thread *t = user;
    double start;

    pthread_barrier_wait(t->barrier);
    start = bench_now();
    t->work = t->way == ARITHMETIC ? t->unit->run(t->times) : (double)t->bytes * (double)t->times;
    for (int64_t i = 0; i < t->times && t->way != ARITHMETIC; i++)
        walk(t);
    pthread_barrier_wait(t->barrier);
    t->seconds = bench_now() - start;
    return NULL;
}

/** Returns the best of some rounds, in units of 10^9 a second: a peak, not a mean.  0: out of memory. */
static double peak_measure(const struct peak_thread *what, uint32_t threads, int rounds)
{
    struct peak_thread *t = calloc(threads, sizeof *t);
    pthread_t *ids = calloc(threads, sizeof *ids);
    size_t part = what->bytes / threads / (4 * STEP) * (4 * STEP);
    double best = 0;

    for (int round = 0; round < rounds && t && ids; round++) {
        pthread_barrier_t barrier;
        double work = 0, seconds = 0;
        uint32_t started;

        if (pthread_barrier_init(&barrier, NULL, threads))
            break;
        for (uint32_t i = 0; i < threads; i++) {
            t[i] = *what;
            t[i].barrier = &barrier;
            t[i].memory = what->memory ? what->memory + i * part : NULL;
            t[i].bytes = part;
        }
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

/**
 * These are KiB: what fits a core's first cache and its second, of each thread; then of all together what fits some last-level
 * caches and not others, and what fits none.
 */
enum { NEAR_LEVELS = 2 };
static const uint32_t level_kib[BENCH_LEVELS] = {32, 1 << 10, 16 << 10, 48 << 10, 512 << 10};

/** Returns the fastest of some ways to walk memory, so often that starting threads does not count. */
static double walk_measure(enum way first, enum way last, uint32_t threads, char *memory, size_t bytes)
{
    const size_t enough = (size_t)16 << 20;
    struct peak_thread what = {.memory = memory, .bytes = bytes, .times = bytes < enough ? (int64_t)(enough / bytes) : 1};
    double best = 0;

    for (what.way = first; what.way <= last; what.way++) {
        double found = peak_measure(&what, threads, bytes > 6 * enough ? 3 : 10);

        best = found > best ? found : best;
    }
    return best;
}

/** Returns false if memory runs out. */
static bool measure_all(uint32_t threads, struct bench_peaks *out)
{
    size_t room = (size_t)level_kib[BENCH_LEVELS - 1] << 10, huge = (size_t)2 << 20;
    char *memory;

    for (const struct bench_unit *u = bench_units; u->name; u++) {
        struct bench_rate *best = &out->rates[u->rate];
        double found =
            u->has() ? peak_measure(&(struct peak_thread){.way = ARITHMETIC, .unit = u, .times = u->times}, threads, 10) : 0;

        if (found > best->peak)
            *best = (struct bench_rate){found, u->name};
    }
    memory = aligned_alloc(huge, room + huge); /* prefetches go past the end */
    if (!memory)
        return false;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, room + huge, MADV_HUGEPAGE); /* advice: the answer does not matter */
#endif
    memset(memory, 0, room + huge);
    for (int i = 0; i < BENCH_LEVELS; i++) {
        struct bench_bandwidth *b = &out->levels[i];
        size_t bytes = ((size_t)b->kib << 10) * (i < NEAR_LEVELS ? threads : 1);

        bytes = bytes < room ? bytes : room;
        b->read = walk_measure(READ_STRAIGHT, READ_FOUR, threads, memory, bytes);
        b->copy = walk_measure(COPY_LOOP, COPY_LIBRARY, threads, memory, bytes);
    }
    free(memory);
    return true;
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

bool bench_measure_peaks(uint32_t threads, struct bench_peaks *out)
{
    struct bench_peaks *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    int status = -1;

    memset(out, 0, sizeof *out);
    processor_name(out->processor, sizeof out->processor);
    for (int i = 0; i < BENCH_LEVELS; i++)
        out->levels[i].kib = level_kib[i];
    if (shared != MAP_FAILED) {
        *shared = *out;
        fflush(NULL);
        child = fork();
        if (child == 0)
            _exit(measure_all(threads, shared) ? 0 : 1);
        if (child > 0)
            waitpid(child, &status, 0);
        *out = *shared;
        munmap(shared, sizeof *shared);
    }
    if (status != 0)
        fprintf(stderr, "webnn-bench: measuring the machine's peaks failed (%s %d)\n",
                WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : status);
    return status == 0;
}

static const struct {
    const char *words, *unit, *key;
} rate_names[BENCH_RATES] = {
    [BENCH_FLOAT32] = {"float32", "GFLOP/s", "gflops"},
    [BENCH_BFLOAT16] = {"bfloat16", "GFLOP/s", "bfloat16_gflops"},
    [BENCH_INT8] = {"int8", "Gop/s", "int8_gops"},
};

void bench_print_peaks(const struct bench_peaks *p)
{
    printf("%s:", p->processor);
    for (int i = 0; i < BENCH_RATES; i++) {
        if (p->rates[i].by)
            printf("%s %s %.1f %s (%s)", i ? "," : "", rate_names[i].words, p->rates[i].peak, rate_names[i].unit,
                   p->rates[i].by);
        else
            printf("%s %s skipped (no instructions)", i ? "," : "", rate_names[i].words);
    }
    for (int i = 0; i < BENCH_LEVELS; i++)
        printf("%s in %u %s copy %.1f, read %.1f GB/s", i ? "," : ";", p->levels[i].kib >> (p->levels[i].kib < 1024 ? 0 : 10),
               p->levels[i].kib < 1024 ? "KiB" : "MiB", p->levels[i].copy, p->levels[i].read);
    putchar('\n');
}

void bench_print_peaks_json(const struct bench_peaks *p)
{
    for (int i = 0; i < BENCH_RATES; i++)
        printf("\"%s\": %.1f, ", rate_names[i].key, p->rates[i].peak);
    printf("\"bandwidth\": [");
    for (int i = 0; i < BENCH_LEVELS; i++)
        printf("%s{\"mib\": %g, \"copy_gbs\": %.1f, \"read_gbs\": %.1f}", i ? ", " : "", p->levels[i].kib / 1024.0,
               p->levels[i].copy, p->levels[i].read);
    putchar(']');
}
