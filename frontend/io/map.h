/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files mapped into memory, shared by reference count: constants that lie in one are lent to the builder without a copy, and
 * keep the mapping as long as a graph needs them.
 */
#ifndef WEBNN_FRONTEND_IO_MAP_H_
#define WEBNN_FRONTEND_IO_MAP_H_

#include <stdbool.h>
#include <stddef.h>

#include "webnn/webnn.h"

struct file_map;

/** Maps a whole file for reading, or reads it if it cannot be mapped.  False: message says why. */
bool file_map_open(const char *path, struct file_map **map, char *message, size_t size);
const void *file_map_data(const struct file_map *map);
size_t file_map_length(const struct file_map *map);
struct file_map *file_map_retain(struct file_map *map);
void file_map_release(struct file_map *map);

/**
 * A constant whose bytes lie in the map.  Lent if they are aligned for their type, else copied.  The range must be inside the
 * map.
 */
WNNOperand file_map_constant(struct file_map *map, WNNGraphBuilder builder, const WNNOperandDescriptor *descriptor,
                             size_t offset, size_t byteLength);
/**
 * The same of `data`, anywhere inside the map, lent wherever it lies.
 */
WNNOperand file_map_lend(struct file_map *map, WNNGraphBuilder builder, const WNNOperandDescriptor *descriptor,
                         const void *data, size_t byteLength);

#endif
