/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps a model open, so that it can be read any number of times: the file is mapped once, and what every reading lends to its
 * builder is in that map.
 */
#pragma once

#include "frontend/readers/describe.h"

/** Holds an open model.  It does not change, so several threads may read it. */
struct model_source;

/**
 * Opens a file or a folder.  Returns NULL after an error in *e.  model_source_close gives it back; graphs that were built of it
 * do not need it.
 */
struct model_source *model_source_open(const char *path, struct error *e);
/**
 * Does the same with bytes, which are copied or stay with the caller until the source is closed.  path tells where files next
 * to the model lie and names it in messages.
 */
struct model_source *model_source_memory(const char *path, const void *bytes, size_t length, bool copied, struct error *e);
/** Lets the file's pages leave the process until they are read again. */
void model_source_rest(const struct model_source *source);
/** Gives a source back, which may be NULL. */
void model_source_close(struct model_source *source);
/** Returns the bytes of the file; a manifest has none. */
const void *model_source_bytes(const struct model_source *source, size_t *length);
/** Returns whether the model can be read with options.named. */
bool model_source_has_names(const struct model_source *source);
/** Reads the model as model_read does. */
bool model_source_read(const struct model_source *source, WNNContext context, const struct model_options *options,
                       struct model *model, struct error *e);
/** Describes the model.  Returns false after an error in *e; then *description is empty.  model_description_free frees what it
 * holds. */
bool model_source_describe(const struct model_source *source, struct model_description *description, struct error *e);
