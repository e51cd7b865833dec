/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads and writes whole files in memory.
 *
 * Functions that take a message write into it, if it is not NULL, why they failed: at most size bytes with a NUL.
 */
#ifndef WEBNN_FRONTEND_READERS_FILES_FILE_H_
#define WEBNN_FRONTEND_READERS_FILES_FILE_H_

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "ir/support/text.h"

/** Escapes a path for messages: line ends and what else could deceive. */
#define PATH_SHOWN(path) escape_text((char[400]){0}, 400, (path), strlen(path))

/** A pipe or a device gives at most so many bytes: they may never end, and have no size to hold against anything. */
#define FILE_STREAM_MAX ((size_t)1 << 30)

/**
 * Reads a file into malloc'ed memory with a NUL after its end, which the caller frees.  Returns false after a message; then
 * *data is NULL.
 */
bool file_read(const char *path, char **data, size_t *length, char *message, size_t size);
/** Does the same with an open file, which stays open; name is for the message. */
bool file_read_descriptor(int file, const char *name, char **data, size_t *length, char *message, size_t size);
/** Does the same with a file that a model in the folder names (frontend/readers/files/beside.h). */
bool file_read_beside(const char *folder, const char *name, char **data, size_t *length, char *message, size_t size);
/**
 * Writes a file by the rules of ir/support/new_file.h: whole, or the folder stays as it was.  Returns false after a message.
 */
bool file_write(const char *path, const void *data, size_t length, char *message, size_t size);
/** Returns "folder/name" in malloc'ed memory, or NULL if memory runs out. */
char *file_join(const char *folder, const char *name);
/**
 * Reads the first bytes of a regular file, to see what it is, and returns how many were read.  Returns 0 for pipes and devices,
 * whose bytes can be read only once.
 */
size_t file_start(const char *path, void *start, size_t size);
/** Prints into message, as snprintf does, if it is not NULL.  Returns false. */
bool file_error(char *message, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
