/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads and writes whole files in memory.
 *
 * Functions that take an error set it, if it is not NULL, when they fail (file_error).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "ir/support/error.h"
#include "ir/support/text.h"

/** Stands for the path of a model in memory that has none.  Nothing is below a device, so that no file next to it is opened.
 */
#define FILE_NO_PATH "/dev/null/memory"

/** Escapes a path for messages: line ends and what else could deceive. */
#define PATH_SHOWN(path) file_path_shown((char[400]){0}, 400, (path))
/** Does so in buffer, and returns it. */
static inline const char *file_path_shown(char *buffer, size_t size, const char *path)
{
    return strcmp(path, FILE_NO_PATH) ? escape_text(buffer, size, path, strlen(path)) : "the model in memory";
}

/** Escapes a name, likewise, which is shorter. */
#define NAME_SHOWN(name) escape_text((char[256]){0}, 256, (name), strlen(name))

/** A pipe or a device gives at most so many bytes: they may never end, and have no size to hold against anything. */
#define FILE_STREAM_MAX ((size_t)1 << 30)

/**
 * Reads a file into malloc'ed memory with a NUL after its end, which the caller frees.  Returns false after an error
 * in *e; *data is NULL then.
 */
bool file_read(const char *path, char **data, size_t *length, struct error *e);
/** Does the same with an open file, which stays open; name is for the message. */
bool file_read_descriptor(int file, const char *name, char **data, size_t *length, struct error *e);
/** Does the same with a file that a model in the folder names (frontend/readers/files/named_file.h). */
bool file_read_named(const char *folder, const char *name, char **data, size_t *length, struct error *e);
/**
 * Writes a file by the rules of ir/support/new_file.h: whole, or the folder stays as it was.  Returns false after an error in
 * *e.
 */
bool file_write(const char *path, const void *data, size_t length, struct error *e);
/** Returns the part of a path after its last slash. */
static inline const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
/** Returns whether a path ends so, in capitals or not. */
bool file_has_ending(const char *path, const char *ending);
/** Returns "folder/name" in malloc'ed memory, or NULL if memory runs out. */
char *file_join(const char *folder, const char *name);
/**
 * Reads the first bytes of a regular file, to see what it is, and returns how many were read.  Returns 0 for pipes and devices,
 * whose bytes can be read only once.
 */
size_t file_start(const char *path, void *start, size_t size);
/** Sets a DataError in place of what e holds, which may be part of the new message; e may be NULL.  Returns false. */
bool file_error(struct error *e, const char *format, ...) PRINTF_LIKE(2, 3);
