/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Measures how fast each kind of arithmetic is at best, by independent chains of one instruction on registers (or AMX's tiles).
 * The processor is asked which instructions there are, and so is the system where that has a say: this file is compiled for any
 * x86-64, each function for what it needs.
 */
#define _GNU_SOURCE
#include "bench/bench.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { CHAINS = 12 };

/* Results go where they cannot be optimised away. */
static volatile float sink;

static bool always(void)
{
    return true;
}

/* ---- any processor ---- */

typedef float lanes __attribute__((vector_size(16)));

static double fma_plain(int64_t times)
{
    lanes a[CHAINS], x = {0.999999f, 0.999999f, 0.999999f, 0.999999f}, y = {1e-7f, 1e-7f, 1e-7f, 1e-7f};

    for (int i = 0; i < CHAINS; i++)
        a[i] = (lanes){(float)i};
    for (int64_t r = 0; r < times; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            a[i] = a[i] * x + y;
    }
    for (int i = 1; i < CHAINS; i++)
        a[0] += a[i];
    sink = a[0][0];
    return (double)times * CHAINS * 4 * 2;
}

#if defined(__x86_64__)

/* ---- the instructions that the processor has ---- */

enum { EAX, EBX, ECX, EDX };

static bool cpuid_has(unsigned leaf, unsigned part, int reg, int bit)
{
    unsigned r[4];

    return __get_cpuid_count(leaf, part, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) && r[reg] >> bit & 1;
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f");
}

static bool has_avx512_vnni(void)
{
    return has_avx512() && cpuid_has(7, 0, ECX, 11);
}

static bool has_avx_vnni(void)
{
    return has_avx2() && cpuid_has(7, 1, EAX, 4);
}

static bool has_avx512_bf16(void)
{
    return has_avx512() && cpuid_has(7, 1, EAX, 5);
}

/* A process has to ask the system before it may touch tiles. */
static bool has_tiles(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };

    return cpuid_has(7, 0, EDX, 24) && syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

static bool has_amx_int8(void)
{
    return cpuid_has(7, 0, EDX, 25) && has_tiles();
}

static bool has_amx_bf16(void)
{
    return cpuid_has(7, 0, EDX, 22) && has_tiles();
}

/* ---- vectors ---- */

/* CHAINS values of one type, each replaced by STEP again and again.  All loops over them are unrolled, or they would be in
 * memory. */
#define CHAIN_LOOP(type, START, STEP, ADD)                                                                                     \
    type a[CHAINS];                                                                                                            \
    _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) a[i] = START;                                                    \
    for (int64_t r = 0; r < times; r++) {                                                                                      \
        _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) a[i] = STEP;                                                 \
    }                                                                                                                          \
    _Pragma("GCC unroll 12") for (int i = 1; i < CHAINS; i++) a[0] = ADD(a[0], a[i])

__attribute__((target("avx512f"))) static double fma_avx512(int64_t times)
{
    __m512 x = _mm512_set1_ps(0.999999f), y = _mm512_set1_ps(1e-7f);

    CHAIN_LOOP(__m512, _mm512_set1_ps((float)i), _mm512_fmadd_ps(a[i], x, y), _mm512_add_ps);
    sink = _mm512_cvtss_f32(a[0]);
    return (double)times * CHAINS * 16 * 2;
}

__attribute__((target("avx2,fma"))) static double fma_avx2(int64_t times)
{
    __m256 x = _mm256_set1_ps(0.999999f), y = _mm256_set1_ps(1e-7f);

    CHAIN_LOOP(__m256, _mm256_set1_ps((float)i), _mm256_fmadd_ps(a[i], x, y), _mm256_add_ps);
    sink = _mm256_cvtss_f32(a[0]);
    return (double)times * CHAINS * 8 * 2;
}

__attribute__((target("avx512f,avx512vnni"))) static double dot_avx512_vnni(int64_t times)
{
    __m512i x = _mm512_set1_epi8(3), y = _mm512_set1_epi8(-5);

    CHAIN_LOOP(__m512i, _mm512_set1_epi32(i), _mm512_dpbusd_epi32(a[i], x, y), _mm512_add_epi32);
    sink = (float)_mm_cvtsi128_si32(_mm512_castsi512_si128(a[0]));
    return (double)times * CHAINS * 64 * 2;
}

__attribute__((target("avx2,avxvnni"))) static double dot_avx_vnni(int64_t times)
{
    __m256i x = _mm256_set1_epi8(3), y = _mm256_set1_epi8(-5);

    CHAIN_LOOP(__m256i, _mm256_set1_epi32(i), _mm256_dpbusd_avx_epi32(a[i], x, y), _mm256_add_epi32);
    sink = (float)_mm_cvtsi128_si32(_mm256_castsi256_si128(a[0]));
    return (double)times * CHAINS * 32 * 2;
}

__attribute__((target("avx512f,avx512bw,avx512bf16"))) static double dot_avx512_bf16(int64_t times)
{
    __m512bh x = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5f), _mm512_set1_ps(0.25f));

    CHAIN_LOOP(__m512, _mm512_set1_ps((float)i), _mm512_dpbf16_ps(a[i], x, x), _mm512_add_ps);
    sink = _mm512_cvtss_f32(a[0]);
    return (double)times * CHAINS * 32 * 2;
}

/* ---- tiles ---- */

/*
 * There are eight tiles of 16 rows with 64 bytes: 0 to 3 are sums, 4 and 5 are A, 6 and 7 are B.  All are zeros, which take as
 * long.
 */
enum { TILE_ROWS = 16, TILE_BYTES = 64, TILE_SUMS = 4 };

struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};
_Static_assert(sizeof(struct tile_config) == 64, "as the processor reads it");

/*
 * This is no variable of the functions, because GCC 12 takes the instruction to read eight bytes, and leaves stores to the
 * others out.
 */
static const struct tile_config tile_config = {
    .palette = 1, .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};

/* Compilers take tiles by number only. */
#define TILE_LOOP(STEP)                                                                                                        \
    _tile_loadconfig(&tile_config);                                                                                            \
    _tile_zero(0);                                                                                                             \
    _tile_zero(1);                                                                                                             \
    _tile_zero(2);                                                                                                             \
    _tile_zero(3);                                                                                                             \
    _tile_zero(4);                                                                                                             \
    _tile_zero(5);                                                                                                             \
    _tile_zero(6);                                                                                                             \
    _tile_zero(7);                                                                                                             \
    for (int64_t r = 0; r < times; r++) {                                                                                      \
        STEP(0, 4, 6);                                                                                                         \
        STEP(1, 4, 7);                                                                                                         \
        STEP(2, 5, 6);                                                                                                         \
        STEP(3, 5, 7);                                                                                                         \
    }                                                                                                                          \
    _tile_release()

__attribute__((target("amx-tile,amx-int8"))) static double dot_amx_int8(int64_t times)
{
    TILE_LOOP(_tile_dpbusd);
    return (double)times * TILE_SUMS * TILE_ROWS * (TILE_BYTES / 4) * TILE_BYTES * 2;
}

__attribute__((target("amx-tile,amx-bf16"))) static double dot_amx_bf16(int64_t times)
{
    TILE_LOOP(_tile_dpbf16ps);
    return (double)times * TILE_SUMS * TILE_ROWS * (TILE_BYTES / 4) * (TILE_BYTES / 2) * 2;
}
#endif

const struct bench_unit bench_units[] = {
    {BENCH_FLOAT32, "128 bits", always, fma_plain, 1 << 19},
#if defined(__x86_64__)
    {BENCH_FLOAT32, "AVX2", has_avx2, fma_avx2, 1 << 20},
    {BENCH_FLOAT32, "AVX-512", has_avx512, fma_avx512, 1 << 20},
    {BENCH_BFLOAT16, "vdpbf16ps", has_avx512_bf16, dot_avx512_bf16, 1 << 18},
    {BENCH_BFLOAT16, "AMX", has_amx_bf16, dot_amx_bf16, 1 << 14},
    {BENCH_INT8, "AVX-VNNI", has_avx_vnni, dot_avx_vnni, 1 << 18},
    {BENCH_INT8, "AVX512-VNNI", has_avx512_vnni, dot_avx512_vnni, 1 << 18},
    {BENCH_INT8, "AMX", has_amx_int8, dot_amx_int8, 1 << 14},
#endif
    {0},
};
