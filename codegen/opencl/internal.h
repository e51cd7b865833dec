/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what the printer's files share.  Each file calls only those after it in this list: print.c (functions),
 * print_statement.c, print_operation.c and prelude.c.  Functions that begin with put_ write OpenCL C to p->out.
 */
#pragma once

#include "codegen/lower/emitter.h"
#include "codegen/opencl/opencl.h"

/** Holds what the operations of a kernel became: functions of each, which are printed in place, and those that they call. */
struct operations {
    struct loop_module module;
    uint32_t values; /* that have a name so far */
};

/** What a value's serial says: whether its name is that of an index, which has a sign; whether something needs it; and, of a
 * for, whether its variable is read after it (print_operation.c). */
enum { UNSIGNED_NAME, INDEX_NAME, NAME_KIND = 3, IS_LIVE = 4, IS_STOPPED = 8 };

/** A value whose name is declared where code is being printed. */
struct printed {
    struct loop_value *value;
    struct printed *before;
};

/** This is the state of printing one kernel. */
struct printer {
    FILE *out;
    struct arena *arena;
    const struct kernel *k;
    const struct gpu_schedule *s;
    struct operations *operations;
    const struct build *m;       /* where operations go that nothing prints, for the functions that they call; NULL: nowhere */
    struct loop_builder builder; /* of m */
    struct printed *printed;     /* the last one */
    uint32_t depth;              /* of regions around what is written */
    bool new_line, failed;
};

/* ---- print_statement.c ---- */

/** Writes a function's body. */
void put_body(struct printer *p, const struct loop_function *f);
/** Writes the functions that operations call. */
void put_functions(struct printer *p);

/* ---- print_operation.c ---- */

/** Writes text, after the indentation at the beginning of a line.  put_line ends the line. */
void put(struct printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define put_line(p, ...) (put(p, __VA_ARGS__), (p)->new_line = fputc('\n', (p)->out) == '\n')
/** Returns such text, which is freed with the printer.  If memory runs out it is "" and p->failed is set. */
const char *text_of(struct printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Returns the type of a value, such as "float8". */
const char *type_text(struct printer *p, loop_type type, bool is_signed);
/** Returns a value whose name is declared, or which has none, as an operand: as it is, and as an index. */
const char *value_text(struct printer *p, struct loop_value *v, bool is_signed);
const char *index_text_of(struct printer *p, struct loop_value *v);
/** Returns what kind of name a value has: UNSIGNED_NAME ... */
static inline uint32_t name_kind(const struct loop_value *v)
{
    return v->serial & NAME_KIND;
}
/** Returns whether a value is an index: a scalar that is computed of indices, which no operation takes out of its type. */
bool is_index(const struct loop_value *v);
/** Returns whether a value is written where it is used instead of having a name. */
bool is_inline(const struct loop_value *v);
/** Returns the index that a scalar is loaded from where a guard holds, if v is that element there, else a constant: a load in a
 * branch is cheaper on processors than one of element 0.  Else returns NULL. */
struct loop_value *guarded_index(const struct loop_value *v);
/** Writes an operation as an expression.  A scalar of fewer than 32 bits has the width of an int until it is converted. */
void put_expression(struct printer *p, const struct loop_value *v);
/** Declares the elements whose lanes of the mask hold, else a constant: a loop of which clang makes a masked load. */
void put_masked_load(struct printer *p, const struct loop_value *v);
/** Writes a STORE, STORE_MASKED or SCATTER. */
void put_store(struct printer *p, struct loop_value *v);

/* ---- prelude.c ---- */

/** Writes the prelude's functions for vectors of that many lanes, which a text of several kernels has once. */
void put_lane_functions(FILE *out, uint32_t lanes);
