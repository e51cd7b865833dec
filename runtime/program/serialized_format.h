/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares the header and the checksum of serialized programs.  docs/compiled-graphs.md
 * describes them.
 */
#pragma once

#include <stddef.h>

#include "runtime/program/serialized.h"
#include "runtime/program/serialized_stream.h"

#define SERIALIZED_MAGIC "\x89WNNIMG\n" /* not text, and damaged by conversions of line ends */
#define SERIALIZED_BYTE_ORDER 0x01020304u

enum serialized_flag {
    SERIALIZED_HAS_CODE = 1,
    SERIALIZED_DATA_APART = 2,  /* data lie elsewhere; their size and checksum are here */
    SERIALIZED_HAS_LIBRARY = 4, /* there are steps of oneDNN */
    SERIALIZED_IS_PACKED = 8,   /* those steps have weights in oneDNN's own layouts */
    SERIALIZED_HAS_NAMES = 16   /* it is a graph with named dimensions (serialized_named.h), and no program */
};

struct serialized_section {
    uint64_t offset, bytes; /* from the serialized program's start */
};

struct serialized_header {
    char magic[8];
    uint32_t byte_order, format, header_bytes, kernel_abi;
    char library[20]; /* this library's version, then zeros */
    uint32_t flags;
    uint32_t onednn_version, onednn_isa; /* SERIALIZED_HAS_LIBRARY */
    uint64_t total_bytes;
    struct serialized_section program, code, data;
    uint64_t data_checksum;
    uint64_t checksum; /* of the header (with zeros here), the program and the code */
};

_Static_assert(sizeof(struct serialized_header) == 128, "the header has no holes");

/* Written as they lie, of struct program_move the members before has_first. */
_Static_assert(sizeof(struct location) == 24 && sizeof(struct program_loop) == 16 &&
                   offsetof(struct program_move, has_first) == 16,
               "structs of programs have no holes");

/** Holds the numbers of a program, and where the bytes of its data section come from. */
struct serialized_program {
    struct stream_writer stream;
    uint32_t flags;
    struct library_facts library;
    uint32_t kernel_count;
    uint32_t *kernel_steps; /* by kernel: its first user among the kernel steps */
};

/* ---- what comes first (serialized_header.c, serialized_load.c) ---- */

/** Reads a header, checks it, the places of sections and the checksums, and begins to read the section "program".  Returns
 * false after an error in *e. */
bool serialized_open(const struct serialized_source *source, const struct engine *en, struct serialized_header *h,
                     struct stream_reader *in, struct error *e);

/** Reads the header of bytes that may be anything, and checks the versions.  Returns false after an error in *e. */
bool serialized_read_header(const void *bytes, size_t size, struct serialized_header *h, struct error *e);
/** Returns whether a section is in so many bytes, after the header and at a multiple of `align`. */
static inline bool serialized_section_fits(const struct serialized_section *s, size_t bytes, size_t align)
{
    return s->offset % align == 0 && s->offset >= sizeof(struct serialized_header) && s->offset <= bytes &&
           s->bytes <= bytes - s->offset;
}
/** Returns the engine that a triple is for. */
WNNEngine serialized_engine_of(const char *triple, size_t length);

/* ---- limits ---- */

/*
 * These are more than any graph has: limits for numbers that are allocated, or computed with, before it can be compared with
 * anything. A writer refuses larger ones, as the loader does, so that what can be saved can be loaded.
 */
enum { SLOTS_MAX = 1 << 20 };
#define ARENA_MAX ((int64_t)1 << 44)
#define SCRATCH_MAX ((int64_t)1 << 40)
#define UNITS_MAX ((int64_t)1 << 50)

/** Returns whether these counts are within the limits. */
static inline bool serialized_counts_fit(uint32_t input_count, uint32_t kernel_count, int64_t arena_bytes)
{
    return input_count <= SLOTS_MAX && kernel_count <= SLOTS_MAX && arena_bytes >= 0 && arena_bytes <= ARENA_MAX;
}

/** Returns whether the numbers that say how a kernel runs are within the limits. */
static inline bool serialized_run_fits(const struct step_run *run)
{
    return run->units >= 0 && run->units <= UNITS_MAX && run->scratch_bytes >= 0 && run->scratch_bytes <= SCRATCH_MAX &&
           run->flops >= 0 && run->bytes >= 0;
}

/* ---- checksums ---- */

/**
 * Holds four lanes of 64-bit words, to which blocks of 64 bytes are added, the last one filled with zeros.  Every step is a
 * bijection of its lane, so that a change inside one word is always found, and any other except with probability 2^-64.
 */
struct checksum {
    uint64_t lanes[4];
};

/**
 * Data have a checksum for each segment, so that several threads can read them, and these are joined in their order: `joined`
 * is what came before, 0 at first.  A bijection of either number.
 */
uint64_t checksum_join(uint64_t joined, uint64_t segment);
enum { CHECKSUM_SEGMENT_BYTES = 1 << 20 };

/** Returns the checksum that goes into the header of a serialized program in memory. */
uint64_t serialized_header_checksum(const struct serialized_header *h, const void *program, const void *code);
