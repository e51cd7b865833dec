/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ir/target/processor.h"

#include <pthread.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

/* ---- what it says of itself ---- */

static char all_features[1024], signature[512];
static bool is_amd;    /* or Hygon, whose cores are AMD's */
static bool half_rate; /* it has AVX-512, but no two units for multiply-adds of 512 bits */

#if defined(__x86_64__)
enum { EAX, EBX, ECX, EDX, REGISTERS };

/* The state that the system has to save for a feature: bits of XCR0. */
enum { PLAIN = 0, YMM = 0x6, ZMM = 0xe6, TILES = 0x60000 };

static const struct row {
    uint32_t leaf, subleaf, word, bit, state;
    const char *name;
} rows[] = {
    {0x1, 0, ECX, 0, PLAIN, "sse3"},
    {0x1, 0, ECX, 1, PLAIN, "pclmul"},
    {0x1, 0, ECX, 9, PLAIN, "ssse3"},
    {0x1, 0, ECX, 12, YMM, "fma"},
    {0x1, 0, ECX, 19, PLAIN, "sse4.1"},
    {0x1, 0, ECX, 20, PLAIN, "sse4.2"},
    {0x1, 0, ECX, 22, PLAIN, "movbe"},
    {0x1, 0, ECX, 23, PLAIN, "popcnt"},
    {0x1, 0, ECX, 25, PLAIN, "aes"},
    {0x1, 0, ECX, 28, YMM, "avx"},
    {0x1, 0, ECX, 29, YMM, "f16c"},
    {0x7, 0, EBX, 3, PLAIN, "bmi"},
    {0x7, 0, EBX, 5, YMM, "avx2"},
    {0x7, 0, EBX, 8, PLAIN, "bmi2"},
    {0x7, 0, EBX, 16, ZMM, "avx512f"},
    {0x7, 0, EBX, 17, ZMM, "avx512dq"},
    {0x7, 0, EBX, 21, ZMM, "avx512ifma"},
    {0x7, 0, EBX, 28, ZMM, "avx512cd"},
    {0x7, 0, EBX, 30, ZMM, "avx512bw"},
    {0x7, 0, EBX, 31, ZMM, "avx512vl"},
    {0x7, 0, ECX, 1, ZMM, "avx512vbmi"},
    {0x7, 0, ECX, 6, ZMM, "avx512vbmi2"},
    {0x7, 0, ECX, 8, PLAIN, "gfni"},
    {0x7, 0, ECX, 9, YMM, "vaes"},
    {0x7, 0, ECX, 10, YMM, "vpclmulqdq"},
    {0x7, 0, ECX, 11, ZMM, "avx512vnni"},
    {0x7, 0, ECX, 12, ZMM, "avx512bitalg"},
    {0x7, 0, ECX, 14, ZMM, "avx512vpopcntdq"},
    {0x7, 0, EDX, 8, ZMM, "avx512vp2intersect"},
    {0x7, 0, EDX, 22, TILES, "amx-bf16"},
    {0x7, 0, EDX, 23, ZMM, "avx512fp16"},
    {0x7, 0, EDX, 24, TILES, "amx-tile"},
    {0x7, 0, EDX, 25, TILES, "amx-int8"},
    {0x7, 1, EAX, 4, YMM, "avxvnni"},
    {0x7, 1, EAX, 5, ZMM, "avx512bf16"},
    {0x7, 1, EAX, 23, YMM, "avxifma"},
    {0x7, 1, EDX, 4, YMM, "avxvnniint8"},
    {0x7, 1, EDX, 5, YMM, "avxneconvert"},
    {0x7, 1, EDX, 10, YMM, "avxvnniint16"},
    {0x80000001, 0, ECX, 5, PLAIN, "lzcnt"},
    {0x80000001, 0, ECX, 6, PLAIN, "sse4a"},
    {0x80000001, 0, ECX, 11, YMM, "xop"},
    {0x80000001, 0, ECX, 16, YMM, "fma4"},
};

/* Stores a leaf, or zeros for one that the processor does not have. */
static void ask(uint32_t leaf, uint32_t subleaf, uint32_t answer[REGISTERS])
{
    memset(answer, 0, REGISTERS * sizeof *answer);
    if (subleaf) {
        ask(leaf, 0, answer);
        if (answer[EAX] < subleaf) {
            memset(answer, 0, REGISTERS * sizeof *answer);
            return;
        }
    }
    __get_cpuid_count(leaf, subleaf, &answer[EAX], &answer[EBX], &answer[ECX], &answer[EDX]);
}

/* Returns XCR0, what of the registers the system saves. */
static uint32_t saved_state(void)
{
    uint32_t answer[REGISTERS], low, high;

    ask(0x1, 0, answer);
    if (!(answer[ECX] >> 27 & 1)) /* OSXSAVE */
        return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* Zen 4, the first of AMD's family 19h with AVX-512, and Intel's processors for clients compute 512 bits in one unit. */
static void note_model(void)
{
    static const uint8_t clients[] = {0x66 /* Cannon Lake */, 0x7d, 0x7e /* Ice Lake */, 0x8c,
                                      0x8d /* Tiger Lake */,  0xa7 /* Rocket Lake */};
    uint32_t vendor[REGISTERS], family_of[REGISTERS];

    ask(0x0, 0, vendor);
    ask(0x1, 0, family_of);
    const uint32_t base = family_of[EAX] >> 8 & 15;
    const uint32_t family = base == 15 ? 15 + (family_of[EAX] >> 20 & 255) : base;
    const uint32_t model = (family_of[EAX] >> 4 & 15) | (family_of[EAX] >> 12 & 0xf0);

    is_amd = !memcmp(&vendor[EBX], "Auth", 4) || !memcmp(&vendor[EBX], "Hygo", 4);
    half_rate = is_amd ? family == 0x19 : family == 6 && memchr(clients, (int)model, sizeof clients);
}

/* Notes all that tells processors apart, but for what differs from core to core (EBX of the first leaf). */
static void note_signature(void)
{
    static const uint32_t leaves[][2] = {{0x0, 0},  {0x1, 0},  {0x7, 0},  {0x7, 1},        {0xd, 1},        {0x14, 0},
                                         {0x19, 0}, {0x1e, 1}, {0x24, 0}, {0x80000001, 0}, {0x80000008, 0}, {0x80000021, 0}};
    size_t used = (size_t)snprintf(signature, sizeof signature, "%x", saved_state());
    uint32_t answer[REGISTERS];

    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        ask(leaves[i][0], leaves[i][1], answer);
        used += (size_t)snprintf(signature + used, sizeof signature - used, " %x,%x,%x,%x", answer[EAX],
                                 leaves[i][0] == 0x1 || leaves[i][0] == 0xd ? 0 : answer[EBX], answer[ECX], answer[EDX]);
    }
}

static void note_features(void)
{
    const uint32_t saved = saved_state();
    uint32_t answer[REGISTERS];
    size_t used = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (i == 0 || rows[i].leaf != rows[i - 1].leaf || rows[i].subleaf != rows[i - 1].subleaf)
            ask(rows[i].leaf, rows[i].subleaf, answer);
        if ((answer[rows[i].word] >> rows[i].bit & 1) && (saved & rows[i].state) == rows[i].state)
            used += (size_t)snprintf(all_features + used, sizeof all_features - used, "%s+%s", used ? "," : "", rows[i].name);
    }
    note_model();
    note_signature();
}

void processor_name(char *text, size_t size)
{
    char name[3 * REGISTERS * sizeof(uint32_t) + 1] = "";

    for (uint32_t i = 0; i < 3; i++)
        ask(0x80000002 + i, 0, (uint32_t *)(void *)name + i * REGISTERS);
    const char *start = name + strspn(name, " ");
    size_t length = strlen(start);
    while (length && start[length - 1] == ' ')
        length--;
    snprintf(text, size, "%.*s", length ? (int)length : 9, length ? start : "processor");
}
#else
static const struct row {
    const char *name;
    unsigned long type, bit; /* of an entry that Linux passes to programs */
} rows[] = {
#if defined(__aarch64__)
    {"crc", AT_HWCAP, 7}, {"lse", AT_HWCAP, 8}, {"dotprod", AT_HWCAP, 20}, {"sve", AT_HWCAP, 22}, {"sve2", AT_HWCAP2, 1},
#else
    {"", AT_HWCAP, 63},
#endif
};

static void note_features(void)
{
    size_t used = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (*rows[i].name && getauxval(rows[i].type) >> rows[i].bit & 1)
            used += (size_t)snprintf(all_features + used, sizeof all_features - used, "%s+%s", used ? "," : "", rows[i].name);
}

void processor_name(char *text, size_t size)
{
    snprintf(text, size, "processor");
}
#endif

static void note(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, note_features);
}

const char *processor_features(void)
{
    note();
    return all_features;
}

const char *processor_signature(void)
{
    note();
    return signature;
}

/* ---- lists of features ---- */

/* Returns whether the last word about a feature in a list switches it on. */
static bool has_feature(const char *features, const char *name)
{
    const size_t size = strlen(name);
    bool has = false;

    for (const char *p = features; *p; p += *p == ',') {
        const size_t length = strcspn(p, ",");

        if (length == size + 1 && !memcmp(p + 1, name, size))
            has = *p == '+';
        p += length;
    }
    return has;
}

bool processor_has_features(const char *features, struct error *e)
{
    const char *here = processor_features();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (has_feature(features, rows[i].name) && !has_feature(here, rows[i].name))
            return error_set(e, WNNStatus_NotSupportedError, "the code needs %s, which this processor does not have",
                             rows[i].name);
    return true;
}

/* ---- as a target ---- */

/* These are levels of the x86-64 psABI as LLVM processor names, with the features that the lowering asks about spelled out. */
static const struct level {
    const char *isa, *cpu, *features;
    uint32_t vector_bits;
} levels[] = {
    {"avx512", "x86-64-v4", "+bmi2,+avx2,+fma,+f16c,+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl", 512},
    {"avx2", "x86-64-v3", "+bmi2,+avx2,+fma,+f16c", 256},
    {"baseline", "x86-64", "", 128},
};
enum { LEVEL_COUNT = sizeof levels / sizeof *levels };

#if defined(__x86_64__)
enum { IS_X86 = 1 };
#else
enum { IS_X86 = 0 };
#endif

/* Returns what multiplies bytes on a processor with these features. */
static enum byte_arithmetic byte_products(const char *f, bool scaling)
{
    if (!IS_X86)
        return has_feature(f, "dotprod") ? BYTES_SIGNED : BYTES_SIGNED_PAIRS;
    if (!has_feature(f, "avx2"))
        return BYTES_NONE;
    return (scaling && has_feature(f, "avx512vnni")) || has_feature(f, "avxvnni") ? BYTES_MIXED : BYTES_MIXED_PAIRS;
}

static struct isa isa_of_features(const char *f, uint32_t vector_bits, bool slow_division)
{
    const bool scaling = IS_X86 && has_feature(f, "avx512f") && has_feature(f, "avx512dq") && has_feature(f, "avx512vl");

    return (struct isa){
        .vector_bits = vector_bits,
        .fma = !IS_X86 || has_feature(f, "fma"), /* the other targets that matter have both from the start */
        .f16 = !IS_X86 || has_feature(f, "f16c"),
        .bf16 = scaling && has_feature(f, "avx512bf16"),
        .byte_products = byte_products(f, scaling),
        .rounding = !IS_X86 || has_feature(f, "f16c"),
        .masks = IS_X86 && has_feature(f, "avx512bw") && has_feature(f, "avx512vl"),
        .masks32 = IS_X86 && has_feature(f, "avx2"),
        .permutes = IS_X86 && has_feature(f, "avx2"),
        .wide_division = true,
        .f64 = true,
        .f64_extremes = !IS_X86,
        .registers = IS_X86 && !(has_feature(f, "avx512f") && has_feature(f, "avx512vl")) ? 16 : 32,
        .ternary_shuffles = IS_X86 && has_feature(f, "avx512f"),
        .select_extremes = IS_X86,
        .scaling = scaling,
        .extremes_by_keys = IS_X86 && has_feature(f, "avx2") && !scaling,
        .slow_division = scaling && slow_division,
    };
}

bool processor_target(struct target *t, const char *isa, struct error *e)
{
    const char *here = processor_features();
    uint32_t cap = 0, best = 0;

    t->triple = WEBNN_TRIPLE;
    t->cpu = t->features = NULL;
    if (isa && strcmp(isa, "native") != 0) {
        while (cap < LEVEL_COUNT && strcmp(isa, levels[cap].isa) != 0)
            cap++;
        if (cap == LEVEL_COUNT)
            return error_set(e, WNNStatus_TypeError, "unknown isa \"%.40s\": not baseline, avx2, avx512 or native", isa);
        t->cpu = levels[cap].cpu;
    }
    if (!IS_X86) {
        t->cpu = NULL;
        t->isa = isa_of_features(here, 128, false);
        return true;
    }
    while (best + 1 < LEVEL_COUNT && !processor_has_features(levels[best].features, &(struct error){0}))
        best++;
    const struct level *level = &levels[cap > best ? cap : best];
    if (t->cpu) {
        t->cpu = level->cpu;
        t->features = level->features;
    }
    /* A division of 16 lanes takes 16 cycles on Intel's processors and 7 on AMD's, which do other work meanwhile. */
    t->isa = isa_of_features(t->cpu ? t->features : here, level->vector_bits, t->cpu || !is_amd);
    t->full_rate = level->vector_bits == 512 && !half_rate;
    return true;
}
