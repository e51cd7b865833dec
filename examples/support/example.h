/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every example needs this and none is about it: reading and building a model file, reporting errors, taking the time.
 *
 * example_open is the whole way from a file to a graph: wnnCreateContext, model_read (frontend/readers/model.h), model_build.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/readers/model.h"
#include "webnn/webnn.h"

/** Holds a model that is built. */
struct example {
    const char *program; /* begins every message */
    WNNContext context;
    struct model model;
    WNNGraph graph;
    double build_ms; /* reading included */
};

/** Reads and builds a model, for batches of one if it leaves their size open.  Returns false after a message. */
bool example_open(struct example *e, const char *program, const char *path, uint32_t threads);
/** Frees what the example holds. */
void example_close(struct example *e);
/** Prints a message.  Returns false. */
bool example_error(const struct example *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Prints the library's message for a status that is not Success.  Returns whether it was. */
bool example_ok(const struct example *e, WNNStatus status, const char *what);
/** Returns whether the port exists, with that data type and shape; a 0 in shape stands for any size. */
bool example_expect(const struct example *e, bool input, const char *name, WNNOperandDataType type, size_t rank,
                    const uint32_t *shape);
/** Returns the shape of an input or output, or NULL if there is none of that name. */
const uint32_t *example_shape(const struct example *e, bool input, const char *name);
/** Creates a tensor for a port, of zeros, readable and writable.  Returns false after a message. */
bool example_tensor(const struct example *e, bool input, const char *name, WNNTensor *tensor);

/** Returns the milliseconds of a clock that only goes forward. */
double example_now_ms(void);

/**
 * Reads the arguments of a program: up to `capacity` words that are not options, and the value of --threads.  Options with
 * values that the program knows itself are in `names` (NULL at the end), their values go to `values`.  Returns how many words
 * there are, or -1 for wrong usage.
 */
int example_arguments(int argc, char **argv, const char **words, int capacity, uint32_t *threads, const char *const *names,
                      const char **values);
