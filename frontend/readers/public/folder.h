/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps saved graphs in a folder.  A file's name is a digest of all that the graph follows from, so that a changed model, other
 * sizes or another version of the library are other files.
 *
 * The digest is not a cryptographic one: only the user can write to the folder, and chance finds no two inputs of one
 * digest.
 */
#pragma once

#include "frontend/readers/public/reader.h"

/** Holds what was digested so far. */
struct digest {
    uint64_t words[2];
};

/**
 * Makes the folder unless it is there, and checks that only the user can write to it.  Returns a TypeError after a message if
 * that fails.
 */
WNNStatus folder_prepare(const char *path);
/** Digests all that every graph of a model follows from: the library, the context, the model with its files, constants. */
void digest_model(struct digest *d, WNNContext context, const struct model_source *source,
                  const struct model_description *description, const struct request *request);
/** Digests more bytes. */
void digest_add(struct digest *d, const void *bytes, size_t length);
/** Returns the path of the file of a digest, which the caller frees, or NULL if memory runs out. */
char *folder_path(const char *folder, const struct digest *d);
/** Loads the graph in a file of the folder, which then counts as used.  Returns false if there is none or it cannot be loaded.
 */
bool folder_load(WNNContext context, const char *path, WNNGraph *graph);
/** Saves a graph in a file of the folder and keeps the folder below a limit.  Returns whether the file is there afterwards. */
bool folder_save(WNNGraph graph, const char *folder, const char *path, uint64_t limit);
