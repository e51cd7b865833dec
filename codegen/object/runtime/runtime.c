/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs in objects: the steps of a program, the choice of the processor's level, weights from a file, calls of libwebnn_rt.
 *
 * update.sh compiles this file with clang to LLVM IR for pointers of 32 and of 64 bits, runtime32.ll and runtime64.ll, which
 * the library contains: neither building it nor webnnc needs clang.  object_text.c writes what differs from object to object:
 * the constants that are declared below, and the functions that have tensors as parameters.  Conditions on constants are
 * folded, and what an object does not use is left out.
 *
 * Nothing here calls the C library but run_here (malloc and free) and load_weights; copies are loops of our own, since not
 * everything that a firmware or a WebAssembly module links has memcpy.
 */
#include <stdbool.h>

#include "codegen/kernel_abi.h"
#include "codegen/object/runtime/code.h"
#include "webnn/webnn_object.h"
#include "webnn/webnn_rt.h"

/* ---- what an object consists of ---- */

#define SMALL static inline __attribute__((always_inline)) /* where it is called, which takes less code */

extern const uint32_t level_count, level_masks[][4]; /* bits that CPUID and XGETBV must show */
extern const uint32_t input_count, binding_count, size_count, variant_count;
extern const uint32_t size_counts[], size_values[]; /* of each size, the values that it may have */
extern const char code[];                           /* code.h */
extern const struct code_class classes[];
extern const uint32_t places[]; /* of each level, of its variants: row + a class << CODE_ROW */
extern const kernel_function kernels[];
extern const int64_t numbers[]; /* of kernels; with sizes: of what gives values */
extern const char tables[];
extern const bool has_wide, has_copies, has_loops, has_files;
extern const uint32_t base_bits, base_mask;
/* Of the workspace: all but scratch; the arena, and with sizes the values and numbers after it; each thread's. */
extern const size_t fixed_bytes, arena_bytes, expanded_bytes, thread_bytes;
extern const char *const embedded; /* constants in the object, or NULL */
extern const size_t constants_bytes;
extern const char *const weights_path;
extern const uint64_t weights_header[3];
extern const struct webnn_rt_program programs[]; /* of each level */

/* ---- levels of x86-64 ---- */

/* A virtual machine leaves to its host at each CPUID, which takes longer than a small model: the answer is kept, plus 1.
 * Threads that find none ask themselves, and all store the same number. */
static uint32_t levels_found;

#ifdef __x86_64__
SMALL void cpuid(uint32_t leaf, uint32_t *a, uint32_t *b, uint32_t *c)
{
    uint32_t d;

    __asm__ volatile("cpuid" : "=a"(*a), "=b"(*b), "=c"(*c), "=d"(d) : "a"(leaf), "c"(0));
}

static uint32_t count_levels(void)
{
    uint32_t a, b, c, most, has[4], count = 1;

    cpuid(0, &most, &b, &c);
    cpuid(1, &a, &b, &has[0]);
    cpuid(7, &a, &has[1], &c); /* of an older processor: another leaf's */
    has[1] = most >= 7 ? has[1] : 0;
    cpuid(0x80000001, &a, &b, &has[2]); /* whatever is 64-bit has it */
    has[3] = 0;
    if (has[0] & 1u << 27) /* OSXSAVE: the operating system has switched XGETBV on */
        __asm__ volatile("xgetbv" : "=a"(has[3]), "=d"(a) : "c"(0));
    for (; count < level_count; count++)
        for (uint32_t i = 0; i < 4; i++)
            if (level_masks[count][i] & ~has[i])
                return count;
    return count;
}
#else
static uint32_t count_levels(void)
{
    return 1;
}
#endif

SMALL uint32_t level(void)
{
    if (level_count == 1)
        return 0;
    uint32_t found = __atomic_load_n(&levels_found, __ATOMIC_RELAXED);
    if (!found) {
        found = count_levels();
        __atomic_store_n(&levels_found, found, __ATOMIC_RELAXED);
    }
    return found - 1;
}

/* ---- one kernel: on this thread, or in parts by the caller's parallel-for ---- */

struct job {
    kernel_function kernel;
    void *const *tensors;
    const int64_t *numbers;
    char *scratch;
    size_t units;
};

/* Runs the units that are the share of a part.  Parts differ by one unit at most. */
static void part(void *data, uint32_t i, uint32_t parts)
{
    const struct job *job = data;
    const size_t each = parts > 1 ? job->units / parts : job->units; /* dividing takes as long as a small kernel */
    const size_t rest = job->units - each * parts, begin = each * i + (i < rest ? i : rest);
    const struct kernel_args args = {job->tensors, job->numbers, job->scratch + i * thread_bytes};

    job->kernel(&args, (int64_t)begin, (int64_t)(begin + each + (i < rest)));
}

SMALL void dispatch(struct job *job, uint32_t parts, const struct webnn_object_parallel *parallel)
{
    if (parallel) {
        parts = parallel->threads < parts ? parallel->threads : parts;
        if (parts > 1) {
            parallel->run(parallel->user, parts, part, job);
            return;
        }
    }
    part(job, 0, 1);
}

/* ---- the program ---- */

/* There is at least one element. */
SMALL void copy(char *to, const char *from, size_t bytes)
{
    size_t i = 0;

    if (!(((uintptr_t)to | (uintptr_t)from | bytes) & 7)) {
        do
            *(uint64_t *)(to + i) = *(const uint64_t *)(from + i);
        while ((i += 8) < bytes);
        return;
    }
    do
        to[i] = from[i];
    while (++i < bytes);
}

#define WIDTH (has_wide ? 8 : 4) /* of a number, in bytes */

SMALL int64_t number(const char **at, const int64_t *values)
{
    const void *p = *at;
    const int64_t word = has_wide ? *(const int64_t *)p : *(const int32_t *)p;

    *at += WIDTH;
    return !size_count ? word : word & 1 ? values[word >> 1] : word >> 1;
}

SMALL char *address(char *const *bases, int64_t place)
{
    return bases[place >> CODE_BASE & base_mask] + (place >> base_bits);
}

/* bases: the arena, the constants, inputs, outputs, and space for the tensors of a step. */
SMALL void compute(const char *at, const int64_t *values, const int64_t *all_numbers, char **bases,
                   const struct webnn_object_parallel *parallel)
{
    char **tensors = bases + 2 + binding_count, *flag = NULL;
    const char *begin = at, *end = at;
    intptr_t i = 0, iterations = 0;

    for (;;) {
        const int64_t step = number(&at, values), value = step >> CODE_VALUE;
        const uint32_t op = step & 7, count = step >> 3 & 127;
        for (uint32_t t = 0; t < count; t++) {
            const int64_t place = number(&at, values);
            char *tensor = address(bases, place);
            if (has_loops && place & CODE_MOVES)
                tensor += (intptr_t)number(&at, values) * i;
            if (has_loops && place & CODE_FIRST) {
                char *first = address(bases, number(&at, values));
                tensor = i ? tensor : first;
            }
            tensors[t] = tensor;
        }
        if (op == CODE_KERNEL) {
            const uint32_t parts = (uint32_t)number(&at, values);
            const int64_t *own = all_numbers + number(&at, values);
            struct job job = {kernels[value], (void *const *)tensors, own, bases[0] + arena_bytes + expanded_bytes,
                              (size_t)number(&at, values)};
            dispatch(&job, parts, parallel);
        } else if (has_copies && op == CODE_COPY) {
            copy(tensors[1], tensors[0], (size_t)number(&at, values));
        } else if (has_loops && op >= CODE_LOOP) {
            if (op == CODE_LOOP) {
                flag = count ? tensors[0] : NULL;
                iterations = (intptr_t)number(&at, values);
                begin = at;
                end = at + value * WIDTH;
                i = -1;
            }
            i++;
            at = begin;
            if (i == iterations || (flag && *flag)) {
                at = end;
                i = 0;
            }
        } else {
            return;
        }
    }
}

/* ---- sizes ---- */

/* Finds the number of a combination of sizes.  Returns false if the object was not made for it. */
SMALL bool find_variant(const uint32_t *sizes, uint32_t *variant)
{
    const uint32_t *values = size_values;

    for (uint32_t i = 0; i < size_count; i++) {
        uint32_t first = 0, end = size_counts[i];
        while (first < end) {
            const uint32_t middle = (first + end) / 2;
            if (values[middle] < sizes[i])
                first = middle + 1;
            else
                end = middle;
        }
        if (first == size_counts[i] || values[first] != sizes[i])
            return false;
        *variant = *variant * size_counts[i] + first;
        values += size_counts[i];
    }
    return true;
}

/* Returns the number that a table has for a row. */
SMALL int64_t entry(int64_t where, uint32_t row)
{
    const void *table = tables + (where >> CODE_WIDTH);

    switch (where & ((1 << CODE_WIDTH) - 1)) {
    case 0:
        return ((const uint8_t *)table)[row];
    case 1:
        return ((const uint16_t *)table)[row];
    case 2:
        return ((const uint32_t *)table)[row];
    default:
        return ((const int64_t *)table)[row];
    }
}

/* Computes the values and the kernels' numbers of a class. */
SMALL void expand(const struct code_class *c, uint32_t row, int64_t *values)
{
    const int64_t *from = numbers + c->numbers;
    const char *at = code + (c->code + c->code_count) * WIDTH;

    for (uint32_t i = 0; i < c->value_count; i++, from += 3)
        values[i] = from[0] + from[1] * entry(from[2], row);
    for (uint32_t i = 0; i < c->number_count; i++)
        values[c->value_count + i] = number(&at, values);
}

/* ---- weights from a file ---- */

/* The one thing that an object remembers.  PREFIX_set_weights takes bytes that the caller has in memory, PREFIX_load_weights
 * maps a file, that of webnnc for NULL; both hold its header against the object's.  A run that finds none loads them. */
static const char *weights;

int set_weights(const void *file, size_t bytes)
{
    const uint64_t *header = file;

    if (!file || bytes != OBJECT_WEIGHTS_HEADER + constants_bytes || (uintptr_t)file & 63)
        return WEBNN_OBJECT_BAD_WEIGHTS;
    for (uint32_t i = 0; i < 3; i++)
        if (header[i] != weights_header[i])
            return WEBNN_OBJECT_BAD_WEIGHTS;
    __atomic_store_n(&weights, (const char *)file + OBJECT_WEIGHTS_HEADER, __ATOMIC_RELEASE);
    return WEBNN_OBJECT_OK;
}

/* These numbers are the same on Linux, the BSDs and macOS. */
enum { FILE_READ_ONLY = 0, FILE_SEEK_END = 2, MAP_READ = 1, MAP_PRIVATELY = 2 };
int open(const char *path, int flags, ...);
long lseek(int file, long offset, int whence);
void *mmap(void *address, size_t bytes, int protection, int flags, int file, long offset);
int munmap(void *address, size_t bytes);
int close(int file);

int load_weights(const char *path)
{
    const int file = open(path ? path : weights_path, FILE_READ_ONLY);

    if (file < 0)
        return WEBNN_OBJECT_BAD_WEIGHTS;
    const size_t bytes = (size_t)lseek(file, 0, FILE_SEEK_END);
    void *memory = mmap(NULL, bytes, MAP_READ, MAP_PRIVATELY, file, 0);
    close(file);
    if (memory == (void *)-1)
        return WEBNN_OBJECT_BAD_WEIGHTS;
    const int status = set_weights(memory, bytes);
    if (status != WEBNN_OBJECT_OK)
        munmap(memory, bytes);
    return status;
}

SMALL const char *find_constants(void)
{
    if (embedded)
        return embedded;
    const char *set = __atomic_load_n(&weights, __ATOMIC_ACQUIRE);
    if (has_files && !set && load_weights(NULL) == WEBNN_OBJECT_OK)
        set = __atomic_load_n(&weights, __ATOMIC_ACQUIRE);
    return set;
}

/* ---- functions of standalone objects ---- */

size_t workspace_size(uint32_t threads)
{
    return fixed_bytes + (threads ? threads : 1) * thread_bytes;
}

SMALL bool is_missing(char *const *bases)
{
    for (uint32_t i = 0; i < binding_count; i++)
        if (!bases[2 + i])
            return true;
    return false;
}

/* bases as in compute; the first two of them are set here. */
int run_in(char *workspace, const struct webnn_object_parallel *parallel, const uint32_t *sizes, char **bases)
{
    uint32_t variant = 0;

    if (!workspace || is_missing(bases))
        return WEBNN_OBJECT_BAD_ARGUMENT;
    if (!find_variant(sizes, &variant))
        return WEBNN_OBJECT_BAD_SIZE;
    bases[0] = workspace + (-(uintptr_t)workspace & 63);
    if (constants_bytes) {
        bases[1] = (char *)find_constants();
        if (!bases[1])
            return WEBNN_OBJECT_BAD_WEIGHTS;
    }
    const uint32_t place = places[level() * variant_count + variant];
    const struct code_class *c = &classes[place >> CODE_ROW];
    int64_t *values = (int64_t *)(bases[0] + arena_bytes);
    if (size_count)
        expand(c, place & ((1 << CODE_ROW) - 1), values);
    compute(code + c->code * WIDTH, values, size_count ? values + c->value_count : numbers + c->numbers, bases, parallel);
    return WEBNN_OBJECT_OK;
}

void *malloc(size_t bytes);
void free(void *memory);

int run_here(const uint32_t *sizes, char **bases)
{
    char *workspace = malloc(workspace_size(1));

    if (!workspace)
        return WEBNN_OBJECT_NO_MEMORY;
    const int status = run_in(workspace, NULL, sizes, bases);
    free(workspace);
    return status;
}

/* ---- functions of objects that leave their program to libwebnn_rt ---- */

/* Returns whether options are those of the first version, which objects know: their size is 0 (zeros are meant) or at least
 * that, and what follows it is zero. */
SMALL bool are_known(const struct webnn_object_options *given)
{
    if (given->structSize && given->structSize < sizeof *given)
        return false;
    for (size_t i = sizeof *given; i < given->structSize; i++)
        if (((const char *)given)[i])
            return false;
    return true;
}

int create(const struct webnn_object_options *given, struct webnn_rt_model **model)
{
    struct webnn_rt_options options = {0, weights_path};

    if (!model || (given && !are_known(given)))
        return WEBNN_OBJECT_BAD_ARGUMENT;
    if (given && given->structSize) {
        options.threads = given->threads;
        if (weights_path && given->weights) /* an object with its own weights looks at no file */
            options.weights_path = given->weights;
    }
    return webnn_rt_create(&programs[level()], &options, model);
}

void destroy(struct webnn_rt_model *model)
{
    webnn_rt_destroy(model);
}

int run_model(struct webnn_rt_model *model, char **bases)
{
    if (!model || is_missing(bases))
        return WEBNN_OBJECT_BAD_ARGUMENT;
    return webnn_rt_run(model, (const void *const *)(bases + 2), (void *const *)(bases + 2 + input_count));
}
