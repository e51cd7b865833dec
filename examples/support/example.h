/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What every example needs and none is about: a model file read and built, errors said, time taken.
 *
 * example_open is the whole way from a file to a graph: wnnCreateContext, model_read (frontend/model/model.h), model_build.
 */
#ifndef WEBNN_EXAMPLES_SUPPORT_EXAMPLE_H_
#define WEBNN_EXAMPLES_SUPPORT_EXAMPLE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/model/model.h"
#include "webnn/webnn.h"

/** A model, built. */
struct example {
    const char *program; /* begins every message */
    WNNContext context;
    struct model model;
    WNNGraph graph;
    double build_ms; /* reading included */
};

/** False: the message is out. */
bool example_open(struct example *e, const char *program, const char *path, uint32_t threads);
void example_close(struct example *e);
/** Prints a message.  Returns false. */
bool example_error(const struct example *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Prints the library's message for a status that is not Success.  Returns whether it was. */
bool example_ok(const struct example *e, WNNStatus status, const char *what);
/** Whether the port exists, with that data type and shape; a 0 in shape stands for any size. */
bool example_expect(const struct example *e, bool input, const char *name, WNNOperandDataType type, size_t rank,
                    const uint32_t *shape);
/** The shape of an input or output, NULL if there is none of that name. */
const uint32_t *example_shape(const struct example *e, bool input, const char *name);
/** A tensor for a port, of zeros, readable and writable. */
bool example_tensor(const struct example *e, bool input, const char *name, WNNTensor *tensor);
/** Bytes of an operand. */
size_t example_byte_length(const WNNOperandDescriptor *d);

/** Milliseconds of a clock that only goes forward. */
double example_now_ms(void);

/**
 * The arguments of a program: up to `capacity` words that are no options, and the value of --threads.  Options with values that
 * the program knows itself are in `names` (NULL at the end), their values go to `values`.  -1: wrong usage.
 */
int example_arguments(int argc, char **argv, const char **words, int capacity, uint32_t *threads, const char *const *names,
                      const char **values);

#endif
