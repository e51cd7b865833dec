/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The budget of a graph limits the work and memory of reading, folding and building it.
 *
 * A model file of 200 bytes can ask for a constant of 2^31 elements, or for a chain of operators on constants that takes hours,
 * so whatever is computed or allocated on behalf of a graph is charged to one account before it happens, and refused beyond the
 * limits.  The account belongs to the graph, from the builder's first call to the compiled program; the graphs of a loop's body
 * charge the account of the enclosing graph.  Computations of the built graph are not charged.
 *
 * Amounts only grow: memory that is freed stays charged.  Writing four bytes counts as an operation, too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "webnn/webnn_types.h"

struct error;

/** The numbers are doubles, so that sums neither wrap nor need checks: amounts up to 2^53 are exact. */
struct budget {
    double operations, bytes;             /* the limits */
    double spent_operations, spent_bytes; /* never above the limits */
    bool operations_grow, bytes_grow;     /* with the constants that the caller gives */
    bool bytes_given;                     /* else they grow with the inputs */
    double input_bytes;                   /* so far */
};

/**
 * Sets the limits; the amounts spent stay.  Members of wanted that are 0 are derived: from the bytes of the files that the
 * graph is read from, or, if source_bytes is 0, from the constants that follow (budget_grow).
 */
void budget_set(struct budget *b, WNNBudget wanted, uint64_t source_bytes);
/** Raises limits that were not given: the caller has added a constant of that many bytes. */
void budget_grow(struct budget *b, uint64_t bytes);

/** Raises the limit of bytes unless it was given: the graph has an input of that many bytes. */
void budget_grow_input(struct budget *b, uint64_t bytes);

/**
 * Charges the cost of `what` ("folding conv2d [x]").  Returns false after an OperationError in *e, with nothing
 * charged, if that does not fit.  If b is NULL there are no limits.
 */
bool budget_spend(struct budget *b, const char *what, double operations, double bytes, struct error *e);
/** Does the same for bytes that are about to be written, which takes operations, too. */
bool budget_spend_memory(struct budget *b, const char *what, double operations, double bytes, struct error *e);
