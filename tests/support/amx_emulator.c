/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This library, which is preloaded, emulates AMX for processes on processors without it, for tests of what is chosen and
 * computed there.
 *
 * Two things have to be made up.  One is what the processor says of itself: the instruction `cpuid` is made to fault, and
 * answered here with the bits and tables of tiles added; the kernel's call that permits tiles to a process is answered
 * likewise.  Where the processor can do it (the flag cpuid_fault of /proc/cpuinfo), the kernel makes every `cpuid` of the
 * process fault; elsewhere those of oneDNN, which the build found by disassembly (amx_sites.h), are overwritten in memory by
 * `ud2`, which is as long.  The other is what it does: tile instructions are undefined here, so that each ends in a signal,
 * whose handler decodes it, computes it on tiles of the thread's own, and goes on after it.  A tile instruction takes a
 * microsecond or two that way, so nothing can be timed; but AMX_EMULATOR_COUNTS=FILE has the number of each appended to FILE at
 * the end of a process, from which the time of a processor's tile unit follows (docs/precision.md).
 *
 * Where that does not work, and where there is AMX itself, the process runs as it would.  AMX_EMULATOR_REQUIRED in the
 * environment makes it name the missing instruction and exit with 77 in the first case, by which ctest knows a test that was
 * skipped. Its values: compute   the process fails at its end when no matmul was computed in emulated tiles choose    it need
 * not compute: what oneDNN chooses is looked at cpuid     the program executes cpuid itself: the kernel's help is needed
 *
 * The instructions are those of palette 1 in Intel's Software Developer's Manual, volume 2; int8 and bfloat16, no others.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { ARCH_SET_CPUID = 0x1012, ARCH_GET_XCOMP_PERM = 0x1022, ARCH_REQ_XCOMP_PERM = 0x1023 };
enum { TILES = 8, ROWS = 16, ROW_BYTES = 64, TILE_STATE = 3 << 17 /* in XCR0 */ };

/* All libraries of the process take these instead of libc's. */
#define INTERPOSED __attribute__((visibility("default")))

/* ---- the state of a thread ---- */

struct tile {
    uint8_t row[ROWS][ROW_BYTES];
};

static _Thread_local struct {
    bool configured;
    uint8_t config[64];
    uint16_t row_bytes[TILES];
    uint8_t rows[TILES];
    struct tile tile[TILES];
} state;

/* Says what the counts are of; the names are those in the file. */
enum operation {
    LOAD_CONFIG,
    STORE_CONFIG,
    RELEASE,
    ZERO,
    LOAD,
    STORE,
    DOT_BF16,
    DOT_SIGNED,
    DOT_SIGNED_UNSIGNED,
    DOT_UNSIGNED_SIGNED,
    DOT_UNSIGNED,
    OPERATION_COUNT
};

static const char *const operation_names[OPERATION_COUNT] = {"ldtilecfg", "sttilecfg",  "tilerelease", "tilezero",
                                                             "tileloadd", "tilestored", "tdpbf16ps",   "tdpbssd",
                                                             "tdpbsud",   "tdpbusd",    "tdpbuud"};
static _Atomic uint64_t counts[OPERATION_COUNT];

/* This is what oneDNN takes for granted next to tiles. */
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))

/* ---- what the instructions do ---- */

static bool load_config(const uint8_t *from)
{
    memset(&state, 0, sizeof state);
    if (from[0] == 0)
        return true;
    if (from[0] != 1 || from[1] != 0)
        return false;
    memcpy(state.config, from, sizeof state.config);
    for (int i = 0; i < TILES; i++) {
        memcpy(&state.row_bytes[i], from + 16 + 2 * i, sizeof state.row_bytes[i]);
        state.rows[i] = from[48 + i];
        if (state.row_bytes[i] > ROW_BYTES || state.rows[i] > ROWS || !state.row_bytes[i] != !state.rows[i])
            return false;
    }
    state.configured = true;
    return true;
}

static void load_tile(unsigned t, const uint8_t *from, int64_t stride)
{
    memset(&state.tile[t], 0, sizeof state.tile[t]);
    for (int r = 0; r < state.rows[t]; r++)
        memcpy(state.tile[t].row[r], from + r * stride, state.row_bytes[t]);
}

static void store_tile(unsigned t, uint8_t *to, int64_t stride)
{
    for (int r = 0; r < state.rows[t]; r++)
        memcpy(to + r * stride, state.tile[t].row[r], state.row_bytes[t]);
}

/** Subnormal operands and results are zeros. */
static inline float flush(float x)
{
    return __builtin_fabsf(x) < 0x1p-126F ? __builtin_copysignf(0, x) : x;
}

static inline float widen(uint16_t bf16)
{
    uint32_t bits = (uint32_t)bf16 << 16;
    float x;

    memcpy(&x, &bits, sizeof x);
    return flush(x);
}

enum { COLUMNS = ROW_BYTES / 4 };

/* Computes one row of results: sums of the even and of the odd factors, added at the end, as the manual has it. */
WIDE static void dot_row_bf16(uint8_t *row, const uint8_t *a, const struct tile *b, unsigned pairs)
{
    float even[COLUMNS] = {0}, odd[COLUMNS] = {0}, sum[COLUMNS];

    for (unsigned k = 0; k < pairs; k++) {
        uint16_t x[2], y[2 * COLUMNS];

        memcpy(x, a + sizeof x * k, sizeof x);
        memcpy(y, b->row[k], sizeof y);
        const float x0 = widen(x[0]), x1 = widen(x[1]);
        for (unsigned n = 0; n < COLUMNS; n++) {
            even[n] = flush(__builtin_fmaf(x0, widen(y[2 * n]), even[n]));
            odd[n] = flush(__builtin_fmaf(x1, widen(y[2 * n + 1]), odd[n]));
        }
    }
    memcpy(sum, row, sizeof sum);
    for (unsigned n = 0; n < COLUMNS; n++)
        sum[n] = flush(flush(sum[n]) + flush(even[n] + odd[n]));
    memcpy(row, sum, sizeof sum);
}

WIDE static void dot_row_bytes(uint8_t *row, const uint8_t *a, const struct tile *b, unsigned quads, bool a_signed,
                               bool b_signed)
{
    uint32_t sum[COLUMNS];

    memcpy(sum, row, sizeof sum);
    for (unsigned k = 0; k < 4 * quads; k++) {
        const uint8_t *y = b->row[k / 4] + k % 4;
        const int32_t x = a_signed ? (int8_t)a[k] : a[k];

        for (unsigned n = 0; n < COLUMNS; n++)
            sum[n] += (uint32_t)(x * (b_signed ? (int8_t)y[4 * n] : y[4 * n]));
    }
    memcpy(row, sum, sizeof sum);
}

/* Rows after those configured stay zeros: the columns that are computed beyond row_bytes are zeros plus products with zeros.
 */
static bool dot(enum operation op, unsigned c, unsigned a, unsigned b)
{
    const unsigned groups = state.row_bytes[a] / 4;

    if (a == b || a == c || b == c || state.rows[a] != state.rows[c] || state.rows[b] != groups ||
        state.row_bytes[b] != state.row_bytes[c] || state.row_bytes[a] % 4 || state.row_bytes[c] % 4 || !state.rows[c])
        return false;
    for (unsigned m = 0; m < state.rows[c]; m++)
        if (op == DOT_BF16)
            dot_row_bf16(state.tile[c].row[m], state.tile[a].row[m], &state.tile[b], groups);
        else
            dot_row_bytes(state.tile[c].row[m], state.tile[a].row[m], &state.tile[b], groups,
                          op == DOT_SIGNED || op == DOT_SIGNED_UNSIGNED, op == DOT_SIGNED || op == DOT_UNSIGNED_SIGNED);
    return true;
}

/* ---- decoding ---- */

/* Describes an instruction: C4, three more bytes of prefix and opcode, then what names registers and memory. */
struct instruction {
    uint8_t opcode;
    unsigned prefix; /* 0 none, 1 66, 2 F3, 3 F2 */
    unsigned reg, rm, third;
    bool memory, long_registers; /* 32 bytes of vectors */
    uint8_t *address;            /* without the index, which is a tile's stride */
    int64_t stride;
    size_t length;
};

static int64_t read_register(const ucontext_t *u, unsigned number)
{
    static const int places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

    return u->uc_mcontext.gregs[places[number]];
}

static void decode_memory(struct instruction *x, const ucontext_t *u, const uint8_t *code, uint8_t modrm, unsigned high_index,
                          unsigned high_base)
{
    const unsigned mode = modrm >> 6;
    size_t at = 5;
    int64_t address = 0;

    if ((modrm & 7) == 4) {
        const uint8_t sib = code[at++];
        const unsigned index = (unsigned)(sib >> 3 & 7) | high_index, base = (unsigned)(sib & 7) | high_base;

        x->stride = index == 4 ? 0 : (int64_t)((uint64_t)read_register(u, index) << (sib >> 6));
        if (mode == 0 && (sib & 7) == 5) {
            int32_t far;

            memcpy(&far, code + at, sizeof far);
            at += sizeof far;
            address = far;
        } else {
            address = read_register(u, base);
        }
    } else if (mode == 0 && (modrm & 7) == 5) {
        int32_t far;

        memcpy(&far, code + at, sizeof far);
        at += sizeof far;
        address = (int64_t)(uintptr_t)(code + at) + far;
    } else {
        address = read_register(u, (unsigned)(modrm & 7) | high_base);
    }
    if (mode == 1) {
        address += (int8_t)code[at++];
    } else if (mode == 2) {
        int32_t far;

        memcpy(&far, code + at, sizeof far);
        at += sizeof far;
        address += far;
    }
    x->address = (uint8_t *)(uintptr_t)address;
    x->length = at;
}

/** Returns whether it is in the map of tile instructions and of AVX_VNNI's. */
static bool decode(struct instruction *x, const ucontext_t *u, const uint8_t *code)
{
    if (code[0] != 0xC4 || (code[1] & 0x1F) != 2 || code[2] & 0x80 /* W */)
        return false;
    const uint8_t modrm = code[4];

    *x = (struct instruction){.opcode = code[3], .prefix = code[2] & 3, .memory = modrm >> 6 != 3, .length = 5};
    x->third = (unsigned)(~code[2] >> 3 & 15);
    x->long_registers = code[2] & 4;
    x->reg = (unsigned)(modrm >> 3 & 7) | (code[1] & 0x80 ? 0 : 8);
    x->rm = (unsigned)(modrm & 7) | (code[1] & 0x20 ? 0 : 8);
    if (x->memory)
        decode_memory(x, u, code, modrm, code[1] & 0x40 ? 0 : 8, code[1] & 0x20 ? 0 : 8);
    return true;
}

static enum operation count(enum operation op)
{
    atomic_fetch_add_explicit(&counts[op], 1, memory_order_relaxed);
    return op;
}

/* In the kernel's record of a signal: registers' lower 16 bytes, the next 16, and which parts are not zero altogether. */
enum { XMM_AT = 160, XSTATE_AT = 512, YMM_AT = 576, SSE_AND_AVX = 6 };

static uint8_t *vector_half(const ucontext_t *u, unsigned number, int half)
{
    return (uint8_t *)u->uc_mcontext.fpregs + (half ? YMM_AT : XMM_AT) + 16 * number;
}

/** Computes vpdpbusd of AVX_VNNI: adds four products of an unsigned and a signed byte to each number.  Registers keep what is
 * above 32 bytes, which nothing reads. */
static bool execute_vnni(const struct instruction *x, const ucontext_t *u)
{
    if (x->opcode != 0x50 || x->prefix != 1)
        return false;
    for (int half = 0; half < 2; half++) {
        const uint8_t *a = vector_half(u, x->third, half);
        const int8_t *b = (const int8_t *)(x->memory ? x->address + x->stride + 16 * half : vector_half(u, x->rm, half));
        uint8_t *to = vector_half(u, x->reg, half);
        int32_t sums[4];

        memcpy(sums, to, sizeof sums);
        for (int i = 0; i < 16 && (x->long_registers || !half); i++)
            sums[i / 4] += a[i] * b[i];
        if (half && !x->long_registers)
            memset(sums, 0, sizeof sums);
        memcpy(to, sums, sizeof sums);
    }
    uint64_t parts;
    memcpy(&parts, (char *)u->uc_mcontext.fpregs + XSTATE_AT, sizeof parts);
    parts |= SSE_AND_AVX;
    memcpy((char *)u->uc_mcontext.fpregs + XSTATE_AT, &parts, sizeof parts);
    return true;
}

static bool execute(const struct instruction *x, const ucontext_t *u)
{
    static const enum operation dots[4] = {DOT_UNSIGNED, DOT_UNSIGNED_SIGNED, DOT_SIGNED_UNSIGNED, DOT_SIGNED};

    if (x->opcode == 0x49 && x->prefix == 0 && x->memory)
        return count(LOAD_CONFIG), load_config(x->address);
    if (x->opcode == 0x49 && x->prefix == 1 && x->memory)
        return count(STORE_CONFIG), memcpy(x->address, state.config, sizeof state.config);
    if (x->opcode == 0x49 && x->prefix == 0)
        return count(RELEASE), memset(&state, 0, sizeof state);
    if (execute_vnni(x, u))
        return true;
    if (!state.configured || x->long_registers)
        return false;
    if (x->opcode == 0x49 && x->prefix == 3)
        return count(ZERO), memset(&state.tile[x->reg], 0, sizeof state.tile[0]);
    if (x->opcode == 0x4B && x->memory && (x->prefix == 1 || x->prefix == 3))
        return count(LOAD), load_tile(x->reg, x->address, x->stride), true;
    if (x->opcode == 0x4B && x->memory && x->prefix == 2)
        return count(STORE), store_tile(x->reg, x->address, x->stride), true;
    if (x->opcode == 0x5C && !x->memory && x->prefix == 2)
        return dot(count(DOT_BF16), x->reg, x->rm, x->third);
    if (x->opcode == 0x5E && !x->memory)
        return dot(count(dots[x->prefix]), x->reg, x->rm, x->third);
    return false;
}

/* ---- signals ---- */

static bool active;
static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);

/* This is what the process would have of the two signals, had we not taken them: test frameworks set handlers of their own. */
static struct sigaction theirs[2];

static struct sigaction *theirs_of(int signal_number)
{
    return &theirs[signal_number == SIGSEGV];
}

INTERPOSED int sigaction(int signal_number, const struct sigaction *restrict wanted, struct sigaction *restrict before)
{
    if (!real_sigaction)
        *(void **)&real_sigaction = dlsym(RTLD_NEXT, "sigaction");
    if (!active || (signal_number != SIGILL && signal_number != SIGSEGV))
        return real_sigaction(signal_number, wanted, before);

    const struct sigaction was = *theirs_of(signal_number);

    if (wanted)
        *theirs_of(signal_number) = *wanted;
    if (before)
        *before = was;
    return 0;
}

INTERPOSED __sighandler_t signal(int signal_number, __sighandler_t handler)
{
    struct sigaction wanted = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;

    return sigaction(signal_number, &wanted, &before) ? SIG_ERR : before.sa_handler;
}

/** A fault of other code goes where it would have gone; by default the instruction is tried again and ends the process.
 */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    const struct sigaction *next = theirs_of(signal_number);

    if (next->sa_flags & SA_SIGINFO)
        next->sa_sigaction(signal_number, info, context);
    else if (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN)
        next->sa_handler(signal_number);
    else
        real_sigaction(signal_number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

/*
 * What has tiles has AVX512_FP16 and AVX_VNNI, too, and oneDNN 3 uses tiles nowhere else.  Nothing asks it for arithmetic with
 * float16, and execute_vnni has the one other instruction, but LLVM would use more of them, so that only oneDNN is told.
 */
static void answer_cpuid(uint32_t leaf, uint32_t sub, bool to_library, uint32_t r[4])
{
    __cpuid_count(leaf, sub, r[0], r[1], r[2], r[3]);
    if (leaf == 0 && r[0] < 0x1E)
        r[0] = 0x1E;
    else if (leaf == 7 && sub == 0)
        r[3] |= 1U << 22 /* AMX-BF16 */ | 1U << 24 /* AMX-TILE */ | 1U << 25 /* AMX-INT8 */ |
                (to_library ? 1U << 23 /* AVX512_FP16 */ : 0);
    else if (leaf == 7 && sub == 1)
        r[0] |= to_library ? 1U << 4 /* AVX_VNNI */ : 0;
    else if (leaf == 0xD && sub == 0)
        r[0] |= TILE_STATE;
    else if (leaf == 0x1D && sub == 0)
        r[0] = 1;
    else if (leaf == 0x1D && sub == 1)
        memcpy(r, (uint32_t[4]){TILES * ROWS * ROW_BYTES | ROWS * ROW_BYTES << 16, ROW_BYTES | TILES << 16, ROWS, 0},
               4 * sizeof *r);
    else if (leaf == 0x1E && sub == 0)
        r[1] = ROWS | ROW_BYTES << 8;
}

/* Places of oneDNN's `cpuid` from where the library is mapped; none if it is another one than the build found. */
static const uintptr_t sites[] = {
#include "amx_sites.h"
};
static uintptr_t library; /* where it is mapped, or 0 */
static bool patched;

static bool is_of_library(uintptr_t at)
{
    for (size_t i = 0; library && i < sizeof sites / sizeof *sites; i++)
        if (at == library + sites[i])
            return true;
    return false;
}

static void answer(greg_t *g)
{
    uint32_t r[4];

    answer_cpuid((uint32_t)g[REG_RAX], (uint32_t)g[REG_RCX], is_of_library((uintptr_t)g[REG_RIP]), r);
    g[REG_RAX] = r[0];
    g[REG_RBX] = r[1];
    g[REG_RCX] = r[2];
    g[REG_RDX] = r[3];
    g[REG_RIP] += 2;
}

/** Computes a run of tile instructions: a signal takes many times as long as what it is for. */
static void on_illegal(int signal_number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    greg_t *at = &u->uc_mcontext.gregs[REG_RIP];
    struct instruction x;
    bool any = false;

    if (patched && is_of_library((uintptr_t)*at)) {
        answer(u->uc_mcontext.gregs);
        return;
    }
    while (decode(&x, u, (const uint8_t *)(uintptr_t)*at) && execute(&x, u)) {
        *at += (greg_t)x.length;
        any = true;
    }
    if (!any)
        pass_on(signal_number, info, context);
}

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    const uint8_t *code = (const uint8_t *)(uintptr_t)u->uc_mcontext.gregs[REG_RIP];

    /* A fault of any other instruction has an address, or is not ours. */
    if (info->si_code != SI_KERNEL || code[0] != 0x0F || code[1] != 0xA2) {
        pass_on(signal_number, info, context);
        return;
    }
    syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1L);
    answer(u->uc_mcontext.gregs);
    syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0L);
}

/* ---- the kernel's call ---- */

/* oneDNN asks by it for the permission to use tiles. */
INTERPOSED long syscall(long number, ...)
{
    static long (*next)(long, ...);
    va_list list;
    long a[6];

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (active && number == SYS_arch_prctl && a[0] == ARCH_REQ_XCOMP_PERM)
        return 0;
    if (active && number == SYS_arch_prctl && a[0] == ARCH_GET_XCOMP_PERM) {
        *(uint64_t *)(uintptr_t)a[1] |= TILE_STATE;
        return 0;
    }
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- begin and end ---- */

static bool must_compute;

/** A test that is to compute in tiles has failed when it has not. */
static void end(void)
{
    const char *name = getenv("AMX_EMULATOR_COUNTS");
    FILE *f = name ? fopen(name, "a") : NULL;
    uint64_t dots = 0;

    for (int i = 0; i < OPERATION_COUNT; i++) {
        if (f && counts[i])
            fprintf(f, "%s %llu\n", operation_names[i], (unsigned long long)counts[i]);
        dots += i >= DOT_BF16 ? counts[i] : 0;
    }
    if (f)
        fclose(f);
    if (must_compute && !dots) {
        fflush(NULL);
        dprintf(STDERR_FILENO, "failed: nothing was computed in the emulated tiles\n");
        _exit(1);
    }
}

/** Finds oneDNN, if that is the library whose places the build found. */
static int find_library(struct dl_phdr_info *x, size_t size, void *user)
{
    const char *name = strrchr(x->dlpi_name, '/');

    if (!name || strncmp(name, "/libdnnl.so", 11) != 0)
        return 0;
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
        if (memcmp((const void *)(x->dlpi_addr + sites[i]), "\x0F\xA2", 2) != 0)
            return 1;
    library = x->dlpi_addr;
    return 1;
}

/** Overwrites the `cpuid` of oneDNN. */
static bool patch(void)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++) {
        const uintptr_t at = library + sites[i];
        void *first = (void *)(at & -page);
        const size_t bytes = at % page + 2;

        if (mprotect(first, bytes, PROT_READ | PROT_WRITE))
            return false;
        memcpy((void *)at, "\x0F\x0B", 2);
        if (mprotect(first, bytes, PROT_READ | PROT_EXEC))
            return false;
    }
    return true;
}

/** Makes tiles, or returns the missing requirement.  `by_kernel` asks for tiles in every `cpuid` of the process. */
static const char *come_up(bool by_kernel)
{
    unsigned a, b, c, d;

    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx512bf16") || !__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512vbmi"))
        return "a processor with AVX512_BF16, AVX512_VBMI and AVX512_VNNI, which oneDNN's code for tiles executes, too";
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && d >> 24 & 1 /* AMX-TILE */)
        return NULL; /* those of the processor itself */
    active = syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0L) == 0;
    if (!active && by_kernel)
        return "cpuid_fault among the processor's flags in /proc/cpuinfo, because this program executes cpuid itself";
    dl_iterate_phdr(find_library, NULL);
    if (!active)
        active = patched = library && patch();
    if (active)
        atexit(end);
    return active ? NULL
                  : "cpuid_fault among the processor's flags in /proc/cpuinfo, or the oneDNN with which the emulator was built";
}

/* Returns the environment, which getenv does not know this early. */
static const char *environment(char **list, const char *name)
{
    const size_t length = strlen(name);

    for (; *list; list++)
        if (!strncmp(*list, name, length) && (*list)[length] == '=')
            return *list + length + 1;
    return NULL;
}

/*
 * Runs before all other libraries' constructors (the linker's option initfirst), some of which look at the processor in theirs.
 */
__attribute__((constructor)) static void begin(int argument_count, char **arguments, char **variables)
{
    struct sigaction illegal = {.sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO | SA_NODEFER},
                     fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    const char *wanted = environment(variables, "AMX_EMULATOR_REQUIRED");

    sigaction(SIGILL, &illegal, &theirs[0]);
    sigaction(SIGSEGV, &fault, &theirs[1]);

    must_compute = wanted && !strcmp(wanted, "compute");
    const char *missing = come_up(wanted && !strcmp(wanted, "cpuid"));
    if (missing && wanted) {
        dprintf(STDERR_FILENO, "skipped: tiles of AMX, emulated, need %s\n", missing);
        _exit(77);
    }
}
