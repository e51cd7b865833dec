/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A conformance case, as conformance.c reads it and the two ways to run it (conformance_interpreter.c, conformance_engine.c)
 * see it.
 */
#pragma once

#include <cjson/cJSON.h>

#include "ir/graph/ir.h"

/** An operand that is given, or one that is checked. */
struct operand {
    const char *name;
    struct tensor_type type;
    bool constant;
    void *data;            /* of an output: what was computed */
    const cJSON *expected; /* of an output */
};

struct test {
    const char *name;
    bool named; /* dimensions of inputs have names when the graph is built */
    uint32_t input_count, output_count;
    struct operand *inputs, *outputs;
    const cJSON *operators;
    struct arena memory;
};

/** A number as the data write it: a JSON number, a decimal string, "NaN", "Infinity", "-0" ...  False: not one. */
bool number_read(const cJSON *json, WNNNumber *number);
/** "dataType" and "shape" of a JSON object.  False: a type that the specification does not have, or too many dimensions. */
bool type_read(const cJSON *json, struct tensor_type *type);
/** Sets error to what cannot be understood in the case itself. */
static inline bool test_error(struct error *e, const char *what, const char *detail)
{
    return error_set(e, WNNStatus_DataError, "%s: %s", what, detail);
}

/** Returns the graph of the case through call_infer and node_create.  NULL: e says why. */
struct graph *test_graph(struct test *t, struct error *e);
/** Computes the outputs with the reference interpreter. */
bool run_interpreter(struct test *t, struct error *e);
/** Builds through the public API on a context with these debug switches and computes the outputs. */
bool run_engine(struct test *t, const char *debug, struct error *e);
/** Returns false, after a line that says why, if WEBNN_ENGINE asks for a GPU and there is none. */
bool engine_is_there(void);
/** Prints how many steps the graphs of run_engine had on which engine. */
void print_steps(void);
