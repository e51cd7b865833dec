/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads files of weights: NAME.weights with NAME.manifest.json next to it, or safetensors.
 *
 * It gives tensors by their keys, which stay in the mapped file.  Every offset, length, shape and data type is checked against
 * the file when it is opened, whether a graph asks for that tensor or not.
 */
#pragma once

#include "frontend/readers/files/map.h"
#include "frontend/readers/files/npy.h"
#include "ir/support/dtype.h"

struct weights;

struct weights_entry {
    const char *key; /* may hold NUL bytes, ends with one */
    size_t key_length;
    WNNOperandDataType dataType; /* Undefined for one that WebNN does not have (typeName says which) */
    const char *typeName;
    size_t rank;
    const uint64_t *shape;
    size_t offset, length; /* of its bytes in the file */
};

/** Returns a path with another ending, such as ".weights", which the caller frees.  Returns NULL if memory runs out. */
char *path_with_ending(const char *path, const char *ending);
/**
 * Returns the path of NAME.weights or NAME.safetensors next to NAME.webnn, whichever is there (the first if neither is), which
 * the caller frees.  Returns NULL if memory runs out.
 */
char *weights_path_for(const char *path);
/** Does the same with the file that is chosen, or, if that is NULL, the one next to the model at path. */
bool weights_open_for(const char *path, const char *chosen, struct weights **weights, struct error *e);
/**
 * Does the same from memory that outlives the weights.  manifest is the text of NAME.manifest.json, or NULL for safetensors.
 */
bool weights_parse(const void *bytes, size_t length, const char *manifest, size_t manifest_length, const char *name,
                   struct weights **weights, struct error *e);
/** Returns the bytes of the file. */
size_t weights_length(const struct weights *w);
/** Closes a file of weights, which may be NULL.  Constants that were made of it stay. */
void weights_close(struct weights *weights);

/** Returns an entry, by the order of their offsets; NULL: there are no more. */
const struct weights_entry *weights_at(const struct weights *weights, size_t index);
/** Returns the entry of a key, or NULL if there is none. */
const struct weights_entry *weights_find(const struct weights *weights, const char *key, size_t length);
/** Returns whether an entry has that data type, which may be one that only passes make, and shape. */
bool weights_entry_is(const struct weights_entry *entry, dtype type, size_t rank, const uint32_t *dims);
/** Returns the path of the file, for messages. */
const char *weights_path(const struct weights *weights);
/** Returns the bytes of an entry, without alignment. */
const void *weights_data(const struct weights *weights, const struct weights_entry *entry);
/**
 * Makes a constant with the entry's bytes, lent where they are aligned.  The caller checks for a data type that is Undefined.
 */
WNNOperand weights_constant(const struct weights *weights, const struct weights_entry *entry, WNNGraphBuilder builder,
                            const WNNOperandDescriptor *descriptor);
