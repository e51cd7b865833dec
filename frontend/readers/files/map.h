/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Maps files into memory, shared by reference count: constants that are in one are lent to the builder without a copy, and keep
 * the mapping as long as a graph needs them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ir/support/error.h"
#include "webnn/webnn.h"

struct file_map;

/**
 * Maps a whole file for reading, or reads it if it cannot be mapped, with one reference for the caller.  Returns false after a
 * message.
 */
bool file_map_open(const char *path, struct file_map **map, struct error *e);
/** Does the same with an open file, which stays open. */
bool file_map_descriptor(int file, const char *name, struct file_map **map, struct error *e);
/** Does the same with a regular file that a model in the folder names (frontend/readers/files/named_file.h). */
bool file_map_named(const char *folder, const char *name, struct file_map **map, struct error *e);
/** Makes a map of a copy of bytes, which belongs to no file, with one reference for the caller.  Returns NULL if memory runs
 * out. */
struct file_map *file_map_copy(const void *bytes, size_t length);
/** Returns the file's bytes, which live as long as the map. */
const void *file_map_data(const struct file_map *map);
/** Returns how many bytes the file has. */
size_t file_map_length(const struct file_map *map);
/** Drops the file's pages from the process until they are read again, since graphs hold their own copies of weights. */
void file_map_rest(const struct file_map *map);
/** Drops a reference; the last one unmaps the file.  The map may be NULL. */
void file_map_release(struct file_map *map);

/**
 * Returns a constant whose bytes are in the map.  They are lent if they are aligned for their type, else copied.  The range
 * must be inside the map.
 */
WNNOperand file_map_constant(struct file_map *map, WNNGraphBuilder builder, const WNNOperandDescriptor *descriptor,
                             size_t offset, size_t byteLength);
/** Returns the same of `data`, anywhere inside the map, lent at any alignment. */
WNNOperand file_map_lend(struct file_map *map, WNNGraphBuilder builder, const WNNOperandDescriptor *descriptor,
                         const void *data, size_t byteLength);
/** Returns a constant of elements of a data type that are cast to the descriptor's, likewise (wnnGraphBuilderConstantCastLent).
 */
WNNOperand file_map_lend_cast(struct file_map *map, WNNGraphBuilder builder, const WNNOperandDescriptor *descriptor,
                              WNNOperandDataType stored, const void *data);
/** Returns a constant of numbers of 4, 2 or 1 bits, likewise (wnnGraphBuilderConstantPackedLent). */
WNNOperand file_map_lend_packed(struct file_map *map, WNNGraphBuilder builder, const WNNOperandDescriptor *descriptor,
                                uint32_t bits, const void *data, size_t byteLength);
