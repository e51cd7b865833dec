/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps a model open, so that it can be read any number of times: the file is mapped once, and what every reading lends to its
 * builder lies in that map.
 */
#ifndef WEBNN_FRONTEND_READERS_SOURCE_H_
#define WEBNN_FRONTEND_READERS_SOURCE_H_

#include "frontend/readers/describe.h"

/** Holds an open model.  It does not change, so several threads may read it. */
struct model_source;

/**
 * Opens a file or a folder.  Returns NULL if that fails; then *message says why (malloc'ed, the caller frees it; NULL if memory
 * ran out).  model_source_close gives it back; graphs that were built of it do not need it.
 */
struct model_source *model_source_open(const char *path, char **message);
/** Does the same with a copy of bytes.  path tells where files beside the model lie and names it in messages. */
struct model_source *model_source_copy(const char *path, const void *bytes, size_t length, char **message);
/** Gives a source back, which may be NULL. */
void model_source_close(struct model_source *source);
/** Returns the path of the file, or of a manifest's folder. */
const char *model_source_path(const struct model_source *source);
/** Returns the bytes of the file; a manifest has none. */
const void *model_source_bytes(const struct model_source *source, size_t *length);
/** Reads the model as model_read does. */
bool model_source_read(const struct model_source *source, WNNContext context, const struct model_options *options,
                       struct model *model, char **message);
/** Describes the model as model_describe does. */
bool model_source_describe(const struct model_source *source, struct model_description *description, char **message);

#endif
