/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole files in memory. */
#ifndef WEBNN_FRONTEND_IO_FILE_H_
#define WEBNN_FRONTEND_IO_FILE_H_

#include <stdbool.h>
#include <stddef.h>

/** Reads a file into malloc'ed memory with a NUL after its end.  False: message says why, *data is NULL. */
bool file_read(const char *path, char **data, size_t *length, char *message, size_t size);
/** Writes a file; one that could not be written whole is removed. */
bool file_write(const char *path, const void *data, size_t length, char *message, size_t size);
/** "folder/name" in malloc'ed memory; NULL: out of memory. */
char *file_join(const char *folder, const char *name);
/** snprintf into message if it is not NULL.  Returns false. */
bool file_error(char *message, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
