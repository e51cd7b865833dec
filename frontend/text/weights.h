/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files of weights: NAME.weights with NAME.manifest.json beside it, or safetensors.
 *
 * In: a path.  Out: tensors by their keys, which stay in the mapped file.  Every offset, length, shape and data type is held
 * against the file when it is opened, whether a graph asks for that tensor or not.
 */
#ifndef WEBNN_FRONTEND_TEXT_WEIGHTS_H_
#define WEBNN_FRONTEND_TEXT_WEIGHTS_H_

#include "frontend/io/map.h"
#include "frontend/io/npy.h"

struct weights;

struct weights_entry {
    const char *key; /* may hold NUL bytes, ends with one */
    size_t key_length;
    WNNOperandDataType dataType; /* Undefined: one that WebNN does not have (typeName says which) */
    const char *typeName;
    size_t rank;
    const uint64_t *shape;
    size_t offset, length; /* of its bytes in the file */
};

/** Opens a file of weights, whose kind its contents tell.  False: *message says why (malloc'ed, NULL: out of memory). */
bool weights_open(const char *path, struct weights **weights, char **message);
/** The same from memory that outlives the weights; manifest is the text of NAME.manifest.json, NULL: safetensors. */
bool weights_parse(const void *bytes, size_t length, const char *manifest, size_t manifest_length, const char *name,
                   struct weights **weights, char **message);
void weights_close(struct weights *weights);

size_t weights_count(const struct weights *weights);
/** In the order of their offsets. */
const struct weights_entry *weights_at(const struct weights *weights, size_t index);
/** NULL: there is none of that key. */
const struct weights_entry *weights_find(const struct weights *weights, const char *key, size_t length);
const char *weights_path(const struct weights *weights);
/** The bytes of an entry, without alignment. */
const void *weights_data(const struct weights *weights, const struct weights_entry *entry);
/** A constant with the entry's bytes, lent where they are aligned.  NULL data type of the entry is the caller's to check. */
WNNOperand weights_constant(const struct weights *weights, const struct weights_entry *entry, WNNGraphBuilder builder,
                            const WNNOperandDescriptor *descriptor);

#endif
