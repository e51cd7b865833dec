/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps a folder of saved files below a size, and free of what processes that ended amid a write have left there.
 *
 * Processes that share the folder may trim it at the same time: a file that is gone already is as good as removed, and one that
 * is open stays readable.
 */
#include "ir/support/trim_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ir/support/table.h"

enum { NAME_LENGTH = 63 }; /* at most */

/* A temporary file that is so many seconds old is not being written. */
enum { TEMPORARY_AGE = 24 * 60 * 60 };

struct cached_file {
    char name[NAME_LENGTH + 1];
    struct timespec used;
    uint64_t bytes;
};

struct cached_files {
    struct cached_file *files;
    uint32_t count;
    uint64_t bytes;
};

/* Returns what follows the digits and the suffix: "" in the name of a file; or NULL if it is no such name. */
static const char *name_end(const char *name, size_t digits, const char *suffix)
{
    const size_t length = strlen(suffix);

    return strspn(name, "0123456789abcdef") == digits && strncmp(name + digits, suffix, length) == 0 ? name + digits + length
                                                                                                     : NULL;
}

/* Returns whether this ends the name of a temporary file (ir/support/new_file.c) that is not being written. */
static bool is_left_over(const char *end, const struct stat *s)
{
    const size_t length = strlen(end);

    return end[0] == '.' && length > 4 && strcmp(end + length - 4, ".tmp") == 0 && s->st_mtime < time(NULL) - TEMPORARY_AGE;
}

static bool add_file(struct cached_files *list, const char *name, const struct stat *s)
{
    if (!array_extend(&list->files, list->count, sizeof *list->files))
        return false;
    struct cached_file *file = &list->files[list->count++];
    memcpy(file->name, name, strlen(name) + 1); /* of the digits and the suffix */
    file->used = s->st_mtim;
    file->bytes = (uint64_t)s->st_size;
    list->bytes += file->bytes;
    return true;
}

static int compare_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct cached_file *)a)->used, *y = &((const struct cached_file *)b)->used;

    return x->tv_sec != y->tv_sec ? (x->tv_sec < y->tv_sec ? -1 : 1) : (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

void trim_folder(const char *folder, size_t digits, const char *suffix, uint64_t bytes)
{
    struct cached_files list = {0};
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    struct stat s;
    bool good = directory != NULL;

    while (good && (entry = readdir(directory))) {
        const char *end = name_end(entry->d_name, digits, suffix);

        if (!end || fstatat(dirfd(directory), entry->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode))
            continue;
        if (!*end)
            good = add_file(&list, entry->d_name, &s);
        else if (is_left_over(end, &s))
            (void)unlinkat(dirfd(directory), entry->d_name, 0);
    }
    if (good && list.bytes > bytes) {
        qsort(list.files, list.count, sizeof *list.files, compare_use);
        /* A little more than asked for, so that the next file does not begin this again. */
        for (size_t i = 0; i < list.count && list.bytes > bytes - bytes / 8; i++)
            if (unlinkat(dirfd(directory), list.files[i].name, 0) == 0 || errno == ENOENT)
                list.bytes -= list.files[i].bytes;
    }
    if (directory)
        closedir(directory);
    free(list.files);
}
