/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Helpers for tests of generated code: buffers with guard bytes, nasty values, and the comparison of every instruction set with
 * kernel_interpret.
 */
#pragma once

#include <math.h>

#include "codegen/codegen.h"
#include "codegen/opencl/opencl.h"
#include "ir/target/processor.h"
#include "support/device_run.h"
#include "support/elementary.h"
#include "support/loop_run.h"
#include "support/random.h"
#include "support/schedules.h"
#include "support/test.h"

/* Returns whether the loops of a kernel on a machine have an operation.  Frees the kernel. */
static inline bool lowered_has(struct kernel *k, const struct isa *isa, enum loop_op op)
{
    OWNED(schedule) struct schedule *s = schedule_of(k, isa);
    struct loop_module m = {0};
    struct error e = {0};

    assert_works(lower_kernel(&m, isa, s, "kernel", &e), &e);
    const bool has = loop_has(&m.first->body, op);
    loop_module_free(&m);
    kernel_free(k);
    return has;
}

/* Under the address sanitizer kernels are compiled with it and buffers have their exact size. */
#ifdef WEBNN_SANITIZE
enum { GUARD_BYTES = 0 };
#define DEFAULT_DEBUG "sanitize"
#else
enum { GUARD_BYTES = 256 };
#define DEFAULT_DEBUG NULL
#endif
#define NARROW "narrow" /* the baseline, without what processors of 32 bits have no instructions for */
/* Instrumented kernels take ten times as long to compile: one width says what the sanitizers have to say. */
#ifdef WEBNN_SANITIZE
enum { ISA_COUNT = 1 };
static const char *const isa_names[ISA_COUNT] = {"native"};
#else
enum { ISA_COUNT = 5 };
static const char *const isa_names[ISA_COUNT] = {"native", "avx512", "avx2", "baseline", NARROW};
#endif

struct machine_under_test {
    const char *name;
    struct target target;
    struct debug_options debug;
    struct codegen *codegen;
    struct codegen_kernels **units; /* kept, so that kernels of one structure share code as they do in a graph */
    size_t unit_count;
};
static struct machine_under_test machines[ISA_COUNT];

static inline struct machine_under_test *machine_get(int i)
{
    struct machine_under_test *m = &machines[i];
    struct error e = {0};
    if (!m->codegen) {
        m->name = isa_names[i];
        const char *text = getenv("CODEGEN_DEBUG") ? getenv("CODEGEN_DEBUG") : DEFAULT_DEBUG;
        if (text && !debug_parse(&m->debug, text, strlen(text), &e))
            fail_msg("%s", e.message);
        const bool narrow = !strcmp(m->name, NARROW);
        assert_works(processor_target(&m->target, narrow ? "baseline" : m->name, &e), &e);
        if (narrow)
            m->target.isa.wide_division = m->target.isa.f64 = m->target.isa.f64_extremes = false;
        m->target.thread_count = 2;
        m->codegen = codegen_create(&m->target, &m->debug, &e);
        assert_works(m->codegen, &e);
    }
    return m;
}

/** Frees them, after the last test (TEST_GROUP). */
static inline int machines_free(__attribute__((unused)) void **state)
{
    for (int i = 0; i < ISA_COUNT; i++) {
        for (size_t u = 0; u < machines[i].unit_count; u++)
            codegen_kernels_free(machines[i].units[u]);
        free(machines[i].units);
        machines[i].units = NULL;
        machines[i].unit_count = 0;
        codegen_free(machines[i].codegen);
        debug_free(&machines[i].debug);
        machines[i].codegen = NULL;
    }
    return 0;
}

/* Returns the bytes with guard bytes around them, that a stray store would change. */
static inline void *buffer_create(size_t bytes)
{
    unsigned char *p = GUARD_BYTES ? aligned_alloc(64, (bytes + 2 * GUARD_BYTES + 63) / 64 * 64) : malloc(bytes + !bytes);
    assert_non_null(p);
    memset(p, 0xA5, bytes + 2 * GUARD_BYTES);
    return p + GUARD_BYTES;
}

static inline bool buffer_intact(const void *data, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)data - GUARD_BYTES;
    for (int i = 0; i < GUARD_BYTES; i++)
        if (p[i] != 0xA5 || p[GUARD_BYTES + bytes + (size_t)i] != 0xA5)
            return false;
    return true;
}

static inline void buffer_free(void *data)
{
    free((char *)data - GUARD_BYTES);
}

enum { NASTY_FLOATS = 25 };
static const float nasty_floats[2][NASTY_FLOATS] = {
    {0.0f,     -0.0f,   1.0f,    -1.0f,  0.5f,          -0.5f,          1.5f,    2.5f,     -2.5f,
     3.0f,     1e-45f,  -1e-45f, 1e-39f, -1e-39f,       0x1p-126f,      1e-30f,  65504.0f, 65519.9f,
     65520.0f, 2048.5f, 1e38f,   -1e38f, 3.4028235e38f, -3.4028235e38f, INFINITY},
    {-INFINITY,      NAN,     127.5f,         -128.9f, 255.5f,   0x1.fffffep30f, 0x1p31f, -0x1p31f,   -0x1.000002p31f,
     0x1.fffffep31f, 0x1p32f, 0x1.fffffep62f, 0x1p63f, -0x1p63f, 0x1.fffffep63f, 0x1p64f, 8388607.5f, 8388608.0f,
     0.49999997f,    88.7f,   -88.7f,         103.5f,  -104.0f,  0.3f,           -7.7f}};

/* Fills a tensor: edge values first, then random ones of all sizes. */
static inline void fill_nasty(dtype type, void *data, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const bool nasty = random_bits() % 3;
        const uint64_t bits = random_bits();
        float f = nasty ? nasty_floats[bits % 2][bits / 2 % NASTY_FLOATS] : elementary_float((uint32_t)bits);
        uint64_t u = random_bits() >> (random_bits() % 64);
        uint64_t edges[] = {
            0,    1, UINT64_MAX, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1, UINT64_C(1) << 31, (UINT64_C(1) << 31) - 1, 0x80,
            0x7F, 2, 3,          (uint64_t)-2};
        if (random_bits() % 2)
            u = edges[random_bits() % 12];
        switch (type) {
        case WNNOperandDataType_Float32:
            ((float *)data)[i] = f;
            break;
        case WNNOperandDataType_Float16:
            ((uint16_t *)data)[i] = (uint16_t)(random_bits() % 4 ? f32_to_f16(f) : random_bits());
            break;
        default:
            memcpy((char *)data + (size_t)i * dtype_size(type), &u, dtype_size(type));
            break;
        }
    }
}

static inline void fill_plain(dtype type, void *data, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (type == WNNOperandDataType_Float32)
            ((float *)data)[i] = (float)random_in_range(-3, 3);
        else if (dtype_is_low_precision(type))
            ((uint16_t *)data)[i] = scalar_narrow((union scalar){.f32 = (float)random_in_range(-3, 3)}, type).f16;
        else {
            int64_t v =
                (int64_t)(random_bits() % 15) -
                (type == WNNOperandDataType_Uint8 || type == WNNOperandDataType_Uint32 || type == WNNOperandDataType_Uint64
                     ? 0
                     : 7);
            memcpy((char *)data + (size_t)i * dtype_size(type), &v, dtype_size(type));
        }
    }
}

/* Units in the last place between two floats; 0 for two NaN; -0 and +0 are 0 apart only if `zeros` says so. */
static inline double float_distance(float a, float b, bool zeros)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : INFINITY;
    if (a == 0 && b == 0 && !zeros && signbit(a) != signbit(b))
        return INFINITY;
    int32_t x = (int32_t)elementary_bits(a), y = (int32_t)elementary_bits(b);
    if (x < 0)
        x = INT32_MIN - x;
    if (y < 0)
        y = INT32_MIN - y;
    return fabs((double)x - (double)y);
}

struct tolerance {
    double ulps;     /* of float32, or for tensors of a low-precision type of that */
    double absolute; /* or this much */
    bool zeros;      /* the sign of zero may differ */
};

static inline bool elements_agree(dtype type, const void *a, const void *b, int64_t i, struct tolerance t)
{
    size_t size = dtype_size(type);
    const char *x = (const char *)a + (size_t)i * size, *y = (const char *)b + (size_t)i * size;
    if (!memcmp(x, y, size))
        return true;
    if (type == WNNOperandDataType_Float32) {
        float f, g;
        memcpy(&f, x, 4);
        memcpy(&g, y, 4);
        return float_distance(f, g, t.zeros) <= t.ulps || fabs((double)f - g) <= t.absolute;
    }
    if (dtype_is_low_precision(type)) {
        uint16_t f, g;
        memcpy(&f, x, 2);
        memcpy(&g, y, 2);
        float ff = scalar_widen((union scalar){.f16 = f}, type).f32, gg = scalar_widen((union scalar){.f16 = g}, type).f32;
        if (isnan(ff) && isnan(gg))
            return true;
        return abs((f & 0x7FFF) - (g & 0x7FFF)) <= t.ulps && (f & 0x8000) == (g & 0x8000) && !isnan(ff) && !isnan(gg);
    }
    return false;
}

/** Fills *isa with what a kind of processors offers, or devices, wherever the test runs.  Returns false if there is none of
 * that name. */
static inline bool isa_facts(const char *name, struct isa *isa)
{
    static const struct {
        const char *name;
        struct isa isa;
    } isas[] = {
        {"avx512",
         {.vector_bits = 512, .fma = true, .f16 = true, .rounding = true, .masks = true, .masks32 = true, .registers = 32}},
        {"avx2", {.vector_bits = 256, .fma = true, .f16 = true, .rounding = true, .masks32 = true, .registers = 16}},
        {"baseline", {.vector_bits = 128, .registers = 16}},
        {"neon", {.vector_bits = 128, .fma = true, .f16 = true, .rounding = true, .registers = 32}},
        {"webassembly", {.vector_bits = 128, .rounding = true, .registers = 15, .loads_first = true}},
    };

    *isa = opencl_isa;
    if (!strcmp(name, "opencl"))
        return true;
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        *isa = isas[i].isa;
        if (!strcmp(name, isas[i].name))
            return true;
    }
    return false;
}

static inline void *own_copy(const struct kernel *k, uint32_t i, const void *tensor)
{
    const size_t bytes = (size_t)k->tensors[i].elements * dtype_size(k->tensors[i].type);

    return memcpy(buffer_create(bytes), tensor, bytes);
}

/* Compares what loop IR has written with what is expected, and frees it. */
static inline void compare_own(const struct kernel *k, void *const *expected, void *const *own, struct tolerance tolerance)
{
    for (uint32_t i = 0; i < k->tensor_count; i++) {
        for (int64_t j = 0; k->tensors[i].written && j < k->tensors[i].elements; j++)
            if (!elements_agree(k->tensors[i].type, expected[i], own[i], j, tolerance)) {
                kernel_print(k, stderr);
                fail_msg("tensor %u element %lld: its loop IR computes something else", i, (long long)j);
            }
        if (k->tensors[i].written)
            buffer_free(own[i]);
    }
}

/* Runs the loop IR of a kernel and compares with the results of machine code, bit by bit where there is one result only, else
 * with those of the kernel; actual NULL: always with those. */
static inline void check_loop_ir(const struct schedule *s, const struct isa *isa, void *const *tensors, void *const *expected,
                                 void *const *actual, struct tolerance tolerance)
{
    const struct kernel *k = s->kernel;
    void *own[KERNEL_TENSORS_MAX];

    for (uint32_t i = 0; i < k->tensor_count; i++)
        own[i] = k->tensors[i].written ? own_copy(k, i, tensors[i]) : tensors[i];
    const bool same_bits = loop_run(s, isa, own) && actual;
    compare_own(k, same_bits ? actual : expected, own, same_bits ? (struct tolerance){0, 0, false} : tolerance);
}

/* Does the same for a kind of processors that need not be there. */
static inline void check_foreign(const struct kernel *k, const char *name, void *const *tensors, void *const *expected,
                                 struct tolerance tolerance)
{
    struct isa isa;

    assert_true(isa_facts(name, &isa));
    OWNED(schedule) struct schedule *s = schedule_of(k, &isa);
    check_loop_ir(s, &isa, tensors, expected, NULL, tolerance);
}

/* Does the same for a device's schedule: a processor's that poses as one, or a GPU's, whose groups may share rows. */
static inline void check_device(const struct kernel *k, int turn, void *const *tensors, void *const *expected,
                                struct tolerance tolerance)
{
    void *own[KERNEL_TENSORS_MAX];

    for (uint32_t i = 0; i < k->tensor_count; i++)
        own[i] = k->tensors[i].written ? own_copy(k, i, tensors[i]) : tensors[i];
    device.facts = *target_gpu_facts(turn % 2);
    device.choice = (struct gpu_choice){.rows_shape = turn % 3 == 0, .no_tiles = true};
    assert_true(k->stage_count || device_run(k, own));
    compare_own(k, k->stage_count ? own : expected, own, tolerance);
}

/* Runs k by code of every instruction set, in several pieces, and compares with the interpreter.  Inputs lie in tensors[i];
 * written tensors may be preset there.  Frees k. */
static inline void check_kernel(struct kernel *k, void *const *tensors, struct tolerance tolerance)
{
    struct error e = {0};
    void *expected[KERNEL_TENSORS_MAX], *actual[KERNEL_TENSORS_MAX];
    static int turn; /* a kernel is interpreted for one of five instruction sets in turn, since that takes long */

    turn++;
    if (k->error.status)
        fail_msg("%s", k->error.message);
    if (!k->builder.finished)
        assert_true(kernel_finish(k));
    if (!kernel_verify(k, stderr)) {
        kernel_print(k, stderr);
        fail();
    }
    for (uint32_t i = 0; i < k->tensor_count; i++) {
        size_t bytes = (size_t)k->tensors[i].elements * dtype_size(k->tensors[i].type);
        expected[i] = actual[i] = tensors[i];
        if (k->tensors[i].written) {
            expected[i] = buffer_create(bytes);
            actual[i] = buffer_create(bytes);
            memcpy(expected[i], tensors[i], bytes);
        }
    }
    assert_true(kernel_interpret(k, expected));
    if (turn % 10 == 0)
        check_foreign(k, turn / 10 % 2 ? "neon" : "webassembly", tensors, expected, tolerance);
    if (turn % 5 == 0)
        check_device(k, turn / 5, tensors, expected, tolerance);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        struct machine_under_test *m = machine_get(isa);
        struct codegen_kernels *unit;
        kernel_function function;
        OWNED(schedule) struct schedule *s = schedule_of(k, &m->target.isa);
        void *scratch = buffer_create((size_t)s->scratch_bytes + 64);
        const int64_t units = s->units;
        if (!codegen_compile(m->codegen, 1, &s, NULL, NULL, &unit, &function, &e)) {
            kernel_print(k, stderr);
            fail_msg("%s: %s", m->name, e.message);
        }
        for (uint32_t i = 0; i < k->tensor_count; i++)
            if (k->tensors[i].written)
                memcpy(actual[i], tensors[i], (size_t)k->tensors[i].elements * dtype_size(k->tensors[i].type));
        struct kernel_args args = {actual, s->numbers.params, scratch};
        int64_t cut = units / 3;
        function(&args, cut, units);
        function(&args, 0, cut);
        function(&args, cut, cut);
        for (uint32_t i = 0; i < k->tensor_count; i++) {
            size_t bytes = (size_t)k->tensors[i].elements * dtype_size(k->tensors[i].type);
            if (!k->tensors[i].written)
                continue;
            for (int64_t j = 0; j < k->tensors[i].elements; j++) {
                if (elements_agree(k->tensors[i].type, expected[i], actual[i], j, tolerance))
                    continue;
                kernel_print(k, stderr);
                if (k->tensors[i].type == WNNOperandDataType_Float32)
                    fail_msg("%s: tensor %u element %lld: expected %.9g, got %.9g", m->name, i, (long long)j,
                             ((float *)expected[i])[j], ((float *)actual[i])[j]);
                uint64_t x = 0, y = 0;
                size_t size = dtype_size(k->tensors[i].type);
                memcpy(&x, (char *)expected[i] + (size_t)j * size, size);
                memcpy(&y, (char *)actual[i] + (size_t)j * size, size);
                fail_msg("%s: tensor %u element %lld: expected %llx, got %llx", m->name, i, (long long)j, (unsigned long long)x,
                         (unsigned long long)y);
            }
            if (!buffer_intact(actual[i], bytes)) {
                kernel_print(k, stderr);
                fail_msg("%s: tensor %u: written outside", m->name, i);
            }
        }
        if (!buffer_intact(scratch, (size_t)s->scratch_bytes + 64))
            fail_msg("%s: written outside the scratch", m->name);
        if (turn % 5 == isa)
            check_loop_ir(s, &m->target.isa, tensors, expected, actual, tolerance);
        buffer_free(scratch);
        m->units = realloc(m->units, (m->unit_count + 1) * sizeof *m->units);
        assert_non_null(m->units);
        m->units[m->unit_count++] = unit;
    }
    for (uint32_t i = 0; i < k->tensor_count; i++) {
        if (k->tensors[i].written) {
            buffer_free(expected[i]);
            buffer_free(actual[i]);
        }
    }
    kernel_free(k);
}

static const struct tolerance exact = {0, 0, false};

/* kaffine of one variable times a stride plus an offset. */
static inline struct kaffine strided(struct kernel *k, uint32_t var, int64_t stride, int64_t offset)
{
    return kaffine_add_const(kaffine_scale(k, kaffine_var(k, var), stride), offset);
}

static inline uint32_t load(struct kernel *k, uint32_t tensor, struct kaffine index)
{
    return kernel_load(k, tensor, index, 0, NULL, (union scalar){.u64 = 0});
}
