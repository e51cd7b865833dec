/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes a whole compiled graph as one object file, for any target.
 *
 * The input is a program (ir/program.h) or its serialized form, and what the object's functions are called.  The output is the
 * bytes of an object file, assembly, LLVM IR or bitcode.  docs/webnnc.md describes what the file exports
 * (webnn/webnn_object.h).
 *
 * There are two kinds.  In a standalone object the steps are a table (runtime/code.h), and only PREFIX_run needs
 * malloc and free.  An object with a run-time library holds kernels, the serialized program, and calls of libwebnn_rt.  Kernels
 * use the same lowering and passes as those of the JIT.
 */
#pragma once

#include "codegen/codegen.h"
#include "codegen/object/runtime/code.h"
#include "ir/program.h"
#include "ir/support/array.h"

/** Describes an input or an output of the model. */
struct object_tensor {
    const char *name;        /* as the model has it; ends with a NUL */
    struct tensor_type type; /* a dimension that is not the same at all sizes is 0 */
};

/** A size that functions take before tensors. */
struct object_size {
    const char *name; /* of the model's dimension */
    uint32_t count;
    const uint32_t *values; /* that it may have, ascending */
};

/** Holds the program for one combination of sizes, or the only one. */
struct object_variant {
    uint32_t id; /* the number of the combination, in which the last size counts fastest */
    const struct program *program;
    const int64_t *constant_offsets; /* where each of the program's constants begins in `constants` */
};

/** Bytes that become read-only data. */
struct object_data {
    const void *bytes;
    size_t length;
};

/** Describes how an object's kernels are computed on one kind of processor. */
struct object_level {
    const struct target *target;
    const uint32_t *structures;    /* with a serialized program: of each kernel in its table of functions */
    struct object_data serialized; /* with a run-time library: the program with its schedules' numbers; else NULL */
};

/** An object holds code for so many kinds of processors at most, and for so many combinations of so many sizes. */
enum { OBJECT_LEVELS_MAX = 4, OBJECT_VARIANTS_MAX = 1 << CODE_ROW, OBJECT_SIZES_MAX = 16 };

/*
 * The table of an object: the steps of its programs as words (runtime/code.h), and the kernels that they call.
 *
 * Programs of one model at different sizes mostly differ in numbers only.  Those that do are a class.  In a class, words that
 * are equal in every variant are one column, which has a number for each variant.
 */

/** Code that several kernels share: of one level and text (schedule_structure). */
struct object_structure {
    uint32_t level;
    char *text;
    const struct schedule *schedule; /* of the first of them */
};

/** Variants whose words differ in numbers only. */
struct object_class {
    uint32_t level, code_count, word_count; /* steps come first, then numbers of kernels */
    uint32_t row_count, column_count;
    int64_t *keys;         /* by word: what is equal in a class */
    uint32_t *column_of;   /* by word */
    struct bytes *columns; /* int64_t, by row */
    uint32_t *variants;    /* by row */
};

struct object_table {
    uint32_t level_count, base_bits;
    uint32_t structure_count, class_count, tensors; /* the most of a step */
    struct object_structure *structures;
    struct object_class *classes;
    int64_t arena_bytes, scratch_bytes;
    bool copies, loops;
};

/** Returns one of the sizes of a combination. */
static inline uint32_t object_size_at(const struct object_size *sizes, uint32_t count, uint32_t i, uint32_t id)
{
    while (--count > i)
        id /= sizes[count].count;
    return sizes[i].values[id % sizes[i].count];
}

/** Returns the numbers of a column of a class. */
static inline const int64_t *object_column(const struct object_class *c, uint32_t column)
{
    return (const int64_t *)(const void *)c->columns[column].data;
}

/** Returns whether a column has the same number in all rows. */
static inline bool object_column_is_fixed(const struct object_class *c, uint32_t column)
{
    for (uint32_t r = 1; r < c->row_count; r++)
        if (object_column(c, column)[r] != object_column(c, column)[0])
            return false;
    return true;
}

/** Finds or adds the structure of a kernel at a level; *added tells.  Returns its number, or UINT32_MAX if memory runs out. */
uint32_t object_table_kernel(struct object_table *t, uint32_t level, const struct schedule *s, bool *added);
/** What a variant has at a level: words (int64_t), and what of each is the same in a class. */
struct object_row {
    struct bytes words, keys;
    bool failed;
};
/** Adds a word to a row. */
static inline void object_row_put(struct object_row *r, int64_t word, int64_t key)
{
    r->failed |= !bytes_append(&r->words, &word, sizeof word) || !bytes_append(&r->keys, &key, sizeof key);
}
/** Adds a variant's row, which is freed.  Returns false if memory runs out. */
bool object_table_add_row(struct object_table *t, uint32_t id, uint32_t level, uint32_t code_count, struct object_row *r);
/**
 * Adds the program of a variant with its kernels' schedules, by level.  With *keep the table refers to the program and the
 * schedules, which must stay as long as it.  Returns false if memory runs out.
 */
bool object_table_add(struct object_table *t, const struct object_variant *v, struct schedule *const *const *kernels,
                      bool *keep);
/** Frees what the table holds. */
void object_table_free(struct object_table *t);

/** Describes what an object is made of.  Everything stays the caller's. */
struct object_program {
    const char *prefix, *producer; /* a C identifier; "webnnc 0.2.0" */
    uint32_t input_count, output_count;
    const struct object_tensor *inputs, *outputs;
    bool shared; /* for a shared object: exports the description under its fixed name, too */

    uint32_t kernel_count; /* of each level, with a serialized program */
    uint32_t level_count;  /* at least 1; several ones as object_levels names them, the lowest first */
    const struct object_level *levels;
    uint32_t size_count; /* standalone: what functions take before tensors */
    const struct object_size *sizes;
    const struct object_table *table; /* of the kernels; standalone: of all combinations of the sizes */

    struct object_data constants; /* standalone: all of them, each at a multiple of 64; with serialized programs: their data, if
                                     they are written without it */
    const char *weights_path;     /* constants are in this file instead (after OBJECT_WEIGHTS_HEADER bytes); NULL: in the
                                    object, or there are none */
    uint64_t weights_checksum;
};

/** Returns how many combinations of sizes an object has: 1 without sizes. */
static inline uint32_t object_variants(const struct object_program *p)
{
    uint32_t count = 1;

    for (uint32_t i = 0; i < p->size_count; i++)
        count *= p->sizes[i].count;
    return count;
}

/** A file of weights begins with this, and zeros up to OBJECT_WEIGHTS_HEADER. */
#define OBJECT_WEIGHTS_MAGIC "WNNWGHT1"
struct object_weights {
    char magic[8];
    uint64_t bytes, checksum; /* of the constants */
};

enum object_kind { OBJECT_CODE, OBJECT_ASSEMBLY, OBJECT_LLVM_IR, OBJECT_BITCODE };

/** Is called as work proceeds, when `done` of `total` kernels are emitted.  Once done is total, LLVM optimises and generates
 * code. */
typedef void (*object_progress)(void *user, uint32_t done, uint32_t total);

struct object_options {
    enum object_kind kind;
    bool for_size;            /* LLVM makes small code rather than fast code */
    object_progress progress; /* may be NULL */
    void *user;
    struct codegen_times *times; /* may be NULL */
};

/**
 * Fills triple, cpu, features and isa of the processor that code is made for; the strings live in a.  triple is NULL for this
 * machine's.  cpu is a name of LLVM's (x86-64 levels are among them), "native", or NULL for the portable baseline of the
 * triple.  features is LLVM's list, "+a,-b", which is applied on top of that, or NULL.  Returns false after an error in *e.
 */
bool object_target(struct target *t, const char *triple, const char *cpu, const char *features, struct arena *a,
                   struct error *e);
/**
 * Determines for which processors an object is to hold code, and stores what object_target takes as their cpu: the levels of
 * x86-64 in a list like "x86-64,x86-64-v3", the default ones for an x86-64 triple without cpu and features, else cpu itself.
 * Returns how many there are, or 0 after an error in *e.
 */
uint32_t object_levels(const char *triple, const char *cpu, const char *features, const char *names[OBJECT_LEVELS_MAX],
                       struct error *e);
/** Returns whether objects for t link with libraries of this machine. */
bool object_target_is_native(const struct target *t);
/** Returns whether the target is a machine without an operating system, for which people link ELF objects to firmware. */
bool object_target_is_bare(const struct target *t);

/** Describes how large a workspace PREFIX_workspace_size asks for: fixed + threads * per_thread bytes. */
struct object_workspace {
    int64_t fixed, per_thread;
};

struct object_workspace object_workspace(const struct object_program *p);

/** Makes an object and stores its bytes, which the caller frees with free().  Returns false after an error in *e. */
bool object_create(const struct debug_options *d, const struct object_program *p, const struct object_options *o, void **bytes,
                   size_t *length, struct error *e);
