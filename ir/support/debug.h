/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the debug switches.  One table (ir/support/debug.c) lists them; they are read from the WEBNN_DEBUG environment
 * variable and from WNNContextOptions.debug, as "name,name=value,...".  docs/debugging.md, which is checked against the table,
 * explains them.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "ir/support/arena.h"
#include "ir/support/error.h"

enum debug_flag {
    DEBUG_PRINT_AFTER_ALL = 1 << 0,    /* print-after-all: the graph after every pass that changed it, to stderr */
    DEBUG_TIME_PASSES = 1 << 1,        /* time-passes: milliseconds per pass, compile stage and kernel */
    DEBUG_VERIFY = 1 << 2,             /* verify: run the verifier after every pass (always in debug builds) */
    DEBUG_DUMP_LLVM = 1 << 3,          /* dump-llvm: LLVM IR of every module before and after its passes */
    DEBUG_DUMP_ASM = 1 << 4,           /* dump-asm: assembly of every module */
    DEBUG_DUMP_KERNELS = 1 << 5,       /* dump-kernels: kernel and loop IR */
    DEBUG_DUMP_PROGRAM = 1 << 6,       /* dump-program: steps, arena offsets */
    DEBUG_PERF = 1 << 7,               /* perf: write /tmp/perf-<pid>.map */
    DEBUG_GDB = 1 << 8,                /* gdb: register generated code with the debugger */
    DEBUG_NO_LIBRARY = 1 << 9,         /* no-library: every convolution and matmul by generated kernels */
    DEBUG_NO_PASSES = 1 << 10,         /* no-passes: skip every optional pass */
    DEBUG_SANITIZE = 1 << 11,          /* sanitize: mark kernels for the address sanitizer, poison gaps between arena slots */
    DEBUG_PROFILE = 1 << 12,           /* profile: time every step, print a table when the graph is released */
    DEBUG_PREFER_LIBRARY = 1 << 13,    /* prefer-library: the library computes all that it takes */
    DEBUG_PREFER_BFLOAT16 = 1 << 14,   /* prefer-bfloat16: all that the precision and the library allow */
    DEBUG_PREFER_WINOGRAD = 1 << 15,   /* prefer-winograd: every convolution by Winograd that can be */
    DEBUG_REFERENCE_LIBRARY = 1 << 16, /* reference-library: a device takes oneDNN's reference implementations */
    DEBUG_PREFER_COMPACT = 1 << 17,    /* prefer-compact: small weights stay in 4, 8 or 16 bits, too */
    DEBUG_PREFER_ATTENTION = 1 << 18,  /* prefer-attention: every attention that can be is one kernel */
    DEBUG_NO_WARM_UP = 1 << 19,        /* no-warm-up: small graphs are not run once when they are built */
    DEBUG_NO_MATRIX_INSTRUCTIONS = 1 << 20, /* no-matrix-instructions: of devices, for float16 */
    DEBUG_HELP = 1 << 21                    /* help: the table of switches, to stderr */
};

/** Holds the values of the switches.  All zeros: no switch is set. */
struct debug_options {
    uint32_t flags;
    const char *print_after; /* print-after=NAME, several separated by + (a repeated switch adds to the list) */
    const char *skip;        /* skip=NAME, several separated by + */
    const char *stop_after;  /* stop-after=NAME */
    const char *dump_dir;    /* dump=DIR: files instead of stderr */
    const char *trace_file;  /* trace=FILE */
    const char *steps_file;  /* steps=FILE */
    double bfloat16_rate;    /* bfloat16-rate=FACTOR: in place of the processor's own, if it has any; 0: that */
    const char *isa;         /* isa=baseline|avx2|avx512|native: caps generated code and oneDNN alike */
    struct arena arena;      /* owns the strings */
    struct trace *trace;     /* of trace_file, opened and closed by the context; NULL: none (ir/support/trace.h) */
};

/** One row of the table. */
struct debug_switch {
    const char *name;
    uint32_t flag;        /* 0: a switch with a value */
    const char *argument; /* what the value is: one of a|b|c, or a word in capitals for anything; NULL: no value */
    bool list;            /* values add up, separated by + */
    bool number;          /* above 0, in decimal digits; its member is a double, that of others a string */
    uint16_t offset;      /* of the member in struct debug_options */
    const char *summary;
};

extern const struct debug_switch debug_switches[];
extern const size_t debug_switch_count;

/** Parses text into d, in addition to its switches.  Strings are copied.  Returns false after a TypeError in
 * *e that names the unknown switch or the wrong value. */
bool debug_parse(struct debug_options *d, const char *text, size_t length, struct error *e);
/** Sets d from the environment's switches (WEBNN_DEBUG), unless they are to be ignored (see also ir/support/environment.h),
 * then from text.  The caller frees d.  Returns false after an error in *e. */
bool debug_init(struct debug_options *d, bool ignore_environment, const char *text, size_t length, struct error *e);
/** Prints the table of switches, one a line. */
void debug_print_switches(FILE *out);
/** Frees the strings of d. */
void debug_free(struct debug_options *d);
/** Returns whether name is in a +-separated list. */
bool debug_list_has(const char *list, const char *name);

struct new_file;
/** This is something that is printed to a file of the folder dump=DIR, or to stderr. */
struct debug_dump {
    struct new_file *file; /* NULL: stderr */
    FILE *out;             /* where to print to */
};

/** Opens a file named by format in the folder of dumps.  Returns true if x->out is that file, and false if it
 * is stderr, also if the file cannot be created (which is said there). */
bool debug_dump_begin(struct debug_dump *x, const struct debug_options *d, const char *format, ...) PRINTF_LIKE(3, 4);
/** Completes the file, or does nothing for stderr. */
void debug_dump_end(struct debug_dump *x, const struct debug_options *d);
