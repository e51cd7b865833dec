/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the fuzz targets share.  A target defines its seeds and LLVMFuzzerTestOneInput; before the first run the seeds are
 * written into the corpus folder, the last argument of the command line, so that no corpus has to be kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/readers/describe.h"

/** Called once: fuzz_seed for each. */
void fuzz_seeds(void);
/** Writes a seed into the corpus, unless there is none. */
void fuzz_seed(const void *bytes, size_t length);
/** Writes a file of that name into a folder of this process, which goes with it.  Returns its path, valid until the next call.
 */
const char *fuzz_file(const char *name, const void *bytes, size_t length);
/** That folder, once there is a file. */
const char *fuzz_folder(void);
/** Returns the context of all runs. */
WNNContext fuzz_context(void);

typedef bool (*fuzz_reader)(WNNContext context, const char *path, const char *bytes, size_t length,
                            const struct model_options *options, struct model *model, struct error *e);
/**
 * Reads a model.  If there is one, it must have a graph that verifies, prints as text and as JSON, and is read back from both
 * as the same graph.  Else there must be a message.
 */
void fuzz_model(fuzz_reader reader, const uint8_t *bytes, size_t length);

/** Describes a model in memory, as the readers' functions of frontend/readers/describe.h do. */
typedef bool (*fuzz_describer)(const char *path, const char *bytes, size_t length, struct model_description *d,
                               struct error *e);
/** Describes a model: there is a description, or a message and nothing else. */
void fuzz_description(fuzz_describer describe, const uint8_t *bytes, size_t length);

/** Reads a picture, then makes numbers and another size of it. */
void fuzz_picture(const char *name, const uint8_t *bytes, size_t length);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
