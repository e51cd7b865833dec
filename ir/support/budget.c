/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sets limits and charges a computation before it begins, if it fits (ir/support/budget.h).
 *
 * An operation takes about a nanosecond, of the interpreter's multiply-adds and of copies alike.  So the default for a file of
 * few bytes is a fraction of a second, and for a graph of the API's a few seconds; weights add several times what casting,
 * transposing, dequantizing, transforming and packing them takes.
 */
#include "ir/support/budget.h"

#include "ir/support/error.h"

#define OPERATION_BYTES 4.0    /* of memory that an operation writes */
#define SOURCE_OPERATIONS 64.0 /* for each byte of a file or of a constant */
#define SOURCE_BYTES 64.0      /* likewise */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define FILE_OPERATIONS 0x1p22 /* an input of a fuzzer is worth less time */
#else
#define FILE_OPERATIONS 0x1p26 /* for a model that is read from files, whatever their size */
#endif
#define FILE_BYTES 0x1p30        /* likewise */
#define INPUT_BYTES 1024.0       /* for each byte of an input: results are larger where inputs are */
#define CALLER_OPERATIONS 0x1p32 /* for a graph that a program makes */
#define CALLER_BYTES 0x1p36

void budget_set(struct budget *b, WNNBudget wanted, uint64_t source_bytes)
{
    const double source = (double)source_bytes;

    b->operations = wanted.operations ? (double)wanted.operations
                    : source_bytes    ? FILE_OPERATIONS + SOURCE_OPERATIONS * source
                                      : CALLER_OPERATIONS;
    b->bytes = wanted.bytes ? (double)wanted.bytes : source_bytes ? FILE_BYTES + SOURCE_BYTES * source : CALLER_BYTES;
    b->operations_grow = !wanted.operations && !source_bytes;
    b->bytes_grow = !wanted.bytes && !source_bytes;
    if (!wanted.bytes)
        b->bytes += INPUT_BYTES * b->input_bytes;
    b->bytes_given = wanted.bytes != 0;
}

void budget_grow_input(struct budget *b, uint64_t bytes)
{
    b->input_bytes += (double)bytes;
    if (!b->bytes_given)
        b->bytes += INPUT_BYTES * (double)bytes;
}

void budget_grow(struct budget *b, uint64_t bytes)
{
    if (b->operations_grow)
        b->operations += SOURCE_OPERATIONS * (double)bytes;
    if (b->bytes_grow)
        b->bytes += SOURCE_BYTES * (double)bytes;
}

/* ---- charging ---- */

static bool refuse(struct error *e, const char *what, double wanted, double spent, double limit, const char *unit)
{
    return error_set(
        e, WNNStatus_OperationError,
        "%s would take %.0f %s, and %.0f of the budget of %.0f are spent; a larger budget allows it (the budget of "
        "WNNContextOptions, or --budget)",
        what, wanted, unit, spent, limit);
}

bool budget_spend(struct budget *b, const char *what, double operations, double bytes, struct error *e)
{
    if (!b)
        return true;
    if (operations > b->operations - b->spent_operations)
        return refuse(e, what, operations, b->spent_operations, b->operations, "operations");
    if (bytes > b->bytes - b->spent_bytes)
        return refuse(e, what, bytes, b->spent_bytes, b->bytes, "bytes of memory");
    b->spent_operations += operations;
    b->spent_bytes += bytes;
    return true;
}

bool budget_spend_memory(struct budget *b, const char *what, double operations, double bytes, struct error *e)
{
    return budget_spend(b, what, operations + bytes / OPERATION_BYTES, bytes, e);
}
