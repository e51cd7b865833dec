/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Serializes programs (struct program) to bytes.
 *
 * The bytes of a compiled program (ir/program.h) are a program again in another process, with kernels as indices into a table
 * of functions.  There are three users: files of wnnGraphSave (with machine code after the steps), objects of webnnc (the
 * bytes are read-only data, kernels are symbols), and libwebnn_rt, which runs those objects.  docs/compiled-graphs.md describes
 * the format.
 *
 *   struct serialized_header | program | code | data      where every section begins at a multiple of SERIALIZED_PAGE
 *
 * The section "program" is a stream of numbers: facts about the graph, then steps, loops and moves.  The data are constants and
 * packed weights at multiples of SERIALIZED_ALIGN, used where they are; they may be in a file of their own.  Numbers have the
 * byte order of the machine that the program is for.
 */
#pragma once

#include "codegen/kernel_abi.h"
#include "runtime/engine/engine.h"

/**
 * These belong to the form itself, hence they are the same on every machine: the version, and at which bytes data and sections
 * begin.
 */
enum { SERIALIZED_VERSION = 13, SERIALIZED_ALIGN = 64, SERIALIZED_PAGE = 4096 };
_Static_assert((int)SERIALIZED_ALIGN % (int)TARGET_ALIGNMENT == 0, "packed weights are used where they lie");

/** Describes an input or output of the graph. */
struct graph_binding {
    const char *name; /* ends with a NUL, may hold others */
    size_t name_length;
    struct tensor_type type;
    uint32_t slot;                  /* of the program; inputs that nothing reads may be left out */
    uint32_t state;                 /* of an output: 1 + the slot of the input that it may be in the memory of; 0: none */
    uint64_t spares;                /* of an input: which groups of outputs do not need it */
    const WNNDimension *dimensions; /* those that have a name, 0 in the type; NULL: none has */
};

/** Returns the bit of an output's group in `spares`: that output alone, or neighbours where there are more than 64. */
static inline uint64_t graph_output_group(uint32_t output, uint32_t count)
{
    return (uint64_t)1 << (count > 64 ? (uint64_t)output * 64 / count : output);
}

/** Holds facts about the graph that are not in the program. */
struct serialized_facts {
    const char *triple, *features; /* of the code: LLVM's names, "+avx2,+fma"; features with - do not count */
    uint32_t input_count, output_count;
    const struct graph_binding *inputs, *outputs;
};

/** Stands where serialized programs of the engine for devices have no processor's triple. */
#define SERIALIZED_DEVICE "opencl"

/* ---- making ---- */

/** Holds the numbers of a program, and where the bytes of its data section come from. */
struct serialized_program;

/**
 * Serializes p, which is complete but not loaded yet, without facts and code.  Kernels are numbered: equal functions get one
 * index, where functions[i] identifies the function of the i-th STEP_KERNEL (any unique pointer).  The
 * result refers to the bytes of p's constants and of its library steps, which must outlive it; p itself need not.  With
 * unpacked_weights, weights are written as the graph has them and packed when the program is loaded, so that it fits machines,
 * instruction sets and numbers of threads other than this one's; the engine must have been asked to keep them
 * (engine->keep_weights) before p was compiled.  Returns NULL after an error in *e.
 */
struct serialized_program *serialized_create(struct program *p, const void *const *functions, bool unpacked_weights,
                                             struct error *e);
/** Frees i, which may be NULL. */
void serialized_free(struct serialized_program *i);

/**
 * These return how many kernels the table of functions must have, and for each the index among the program's kernel steps of
 * its first user.
 */
uint32_t serialized_kernel_count(const struct serialized_program *i);
const uint32_t *serialized_kernel_steps(const struct serialized_program *i);

/**
 * Holds the machine code of a serialized program: position-independent bytes without relocations, and a function's start for
 * each kernel.
 */
struct serialized_code {
    const void *bytes;
    size_t size;
    const uint64_t *offsets; /* by kernel */
};

/** Receives the pieces of a serialized program in order, also padding.  Returns false to stop. */
typedef bool (*serialized_sink)(void *user, const void *data, size_t bytes);

/**
 * Writes the whole: header, program, code and data, without the data if data_apart.  code is NULL if the functions come as a
 * table.  Returns false after an error in *e, or when the sink stopped (then e does not change).
 */
bool serialized_write(const struct serialized_program *i, const struct serialized_facts *facts,
                      const struct serialized_code *code, bool data_apart, serialized_sink sink, void *user, struct error *e);
/**
 * Writes the data section alone: the file or symbol that goes with a serialized program with data_apart.  Returns false when
 * the sink stopped.
 */
bool serialized_write_data(const struct serialized_program *i, serialized_sink sink, void *user);
/** Returns the data section's size in bytes. */
size_t serialized_data_size(const struct serialized_program *i);

/* ---- loading ---- */

/** Holds the rest of a serialized program.  It is empty if it is all zeros. */
struct serialized_view {
    struct arena arena; /* of the facts */
    struct serialized_facts facts;
    uint32_t input_slots; /* of the program */
    uint32_t kernel_count;
    size_t code_offset, code_bytes; /* from the serialized program's start; 0, 0 if the functions come as a table */
    const uint64_t *offsets;        /* by kernel, into the code */
    double checksum_ms, library_ms; /* times of checksums and of the library's primitives */
};

/** The memory of a serialized program, at a multiple of SERIALIZED_ALIGN.  If data is NULL, its data are in it. */
struct serialized_source {
    const void *program;
    size_t bytes;
    const void *data;
    size_t data_bytes;
    int file; /* the file whose beginning is mapped as program, open only while it is loaded, or -1 */
};

/** Finds the engine of a serialized program, without checking its checksums.  Returns false after an error in *e: it
 * is none, or of another version, which no engine loads. */
bool serialized_find_engine(const void *bytes, size_t size, WNNEngine *engine, struct error *e);
/** Sets *e: something ("the compiled graph") is for one engine and the context on another.  Returns false. */
bool serialized_is_for_other(const char *what, WNNEngine engine, const struct engine *en, struct error *e);

/**
 * Reads a program for en, creating its library steps.  Every number is checked against what it refers to, so that damaged or
 * hostile bytes are refused with DataError, and neither crash the process nor let a step leave its buffers; the code is
 * trusted.  It is a NotSupportedError if the program was made for another version of this library or of oneDNN, another
 * processor or number of threads, or uses a library that en does not have.  `features` are what the context may use, in LLVM's
 * form; so is `triple`, which is not checked if it is NULL.  p's steps have no kernels' IR; `run.function` of its kernel steps
 * are indices into the table of functions.  The source must outlive the program and executables of it.  Returns false after an
 * error in *e, and then *p and *view are empty.
 */
bool serialized_load(const struct serialized_source *source, struct engine *en, const char *triple, const char *features,
                     struct program *p, struct serialized_view *view, struct error *e);
/** Frees what a view holds and leaves it empty. */
void serialized_view_free(struct serialized_view *view);

/** Returns the checksum of serialized programs, which also guards other files that belong to compiled objects. */
uint64_t serialized_checksum(const void *data, size_t bytes);
/** Corrects the checksums of an altered serialized program, for tests of further checks. */
void serialized_sign(void *serialized, size_t bytes);
