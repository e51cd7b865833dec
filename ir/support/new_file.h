/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes output files.  Every file that the library or a tool writes is opened here.
 *
 * It takes a path and the contents, and writes a complete file or leaves the folder unchanged.
 *
 * - The bytes go to a temporary file with a random name in the same folder, which replaces the target in one step when it is
 *   committed.  The old target stays until then, also for programs that have it open or mapped.
 * - Symbolic links are followed, and stay.  A link that another user
 *   has put into a folder that everyone may write to (such as /tmp) is refused, as Linux does with protected_symlinks.
 *   NEW_FILE_NO_LINKS refuses every link: for files with predictable names.
 * - Pipes, terminals and other devices are opened and written to as they are.  Output to one cannot be undone.
 * - Folders, sockets, and files that the user may not write to are refused.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum new_file_flag {
    NEW_FILE_EXECUTABLE = 1, /* may be run */
    NEW_FILE_NO_LINKS = 2,   /* the path must not be a symbolic link */
    NEW_FILE_PRIVATE = 4     /* a new file is readable by this user only */
};

struct new_file;

/** Opens an output file; new_file_commit or new_file_abandon frees it.  flags are of enum new_file_flag.  Returns NULL with an
 * errno in *why. */
struct new_file *new_file_open(const char *path, unsigned flags, int *why);
/** Returns the stream to write to, which belongs to f.  new_file_commit finds its errors. */
FILE *new_file_stream(struct new_file *f);
/** Returns the same as a file descriptor, for code that does not write to streams. */
int new_file_descriptor(struct new_file *f);
/** Returns the path of the temporary file, for other programs to write to and for signal handlers to remove, or NULL for a
 * device. */
const char *new_file_temporary(const struct new_file *f);
/** Closes the stream and renames the file into place.  f is always freed.  Returns false with an errno in *why, and nothing has
 * changed. */
bool new_file_commit(struct new_file *f, int *why);
/** Removes the temporary file.  NULL does nothing. */
void new_file_abandon(struct new_file *f);
/** Opens, writes and commits a file at once.  Returns false with an errno in *why. */
bool new_file_write(const char *path, unsigned flags, const void *data, size_t bytes, int *why);
/** Checks that new_file_open would find a folder that it can write to, and creates nothing.  Returns false with an errno in
 * *why. */
bool new_file_may_open(const char *path, unsigned flags, int *why);

/**
 * Opens a file with a predictable name for appending: one that this call creates, or one that belongs to the process's user,
 * has one name and is not writable for everyone.  It serves /tmp/perf-<pid>.map, whose name perf prescribes.  Returns NULL with
 * an errno in *why.
 */
FILE *own_file_append(const char *path, int *why);
