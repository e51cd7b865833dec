/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes output files.  Links are followed here and not by the system: at the end there is an open folder and a name in it that
 * is not a link.  Everything happens relative to that folder, and renaming replaces a name without following it, so that
 * exchanging names meanwhile gains nothing.
 */
#define _GNU_SOURCE
#include "ir/support/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINKS_MAX = 40, RANDOM_LETTERS = 8, STEM_MAX = NAME_MAX - 16, TRIES_MAX = 100 };

struct new_file {
    int folder;      /* of the target; -1: it is a device */
    char *path;      /* of the target, links followed */
    char *temporary; /* next to it; NULL: it is a device */
    int file;
    FILE *stream; /* writes to file */
    int error;    /* the errno of the first write that failed: a FILE does not keep it */
};

/* ---- where a path leads to ---- */

/** This is a name in an open folder.  If exists holds, status tells what it is, and it is not a link. */
struct path_end {
    char path[PATH_MAX];
    const char *name; /* after the last slash of path */
    int folder;
    bool exists;
    struct stat status;
};

static int folder_open(const char *path, size_t length)
{
    char folder[PATH_MAX];

    if (length == 0)
        return open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    memcpy(folder, path, length);
    folder[length] = '\0';
    return open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/** Applies the kernel's rule of protected_symlinks, which reading a link by hand goes around. */
static bool link_is_trusted(int folder, const struct stat *link)
{
    struct stat s;

    if (link->st_uid == geteuid() || fstat(folder, &s) != 0)
        return link->st_uid == geteuid();
    return !(s.st_mode & S_ISVTX && s.st_mode & S_IWOTH) || s.st_uid == link->st_uid;
}

/** Replaces t's path by what the link there stands for.  Returns 0 or an errno. */
static int link_follow(struct path_end *t)
{
    size_t folder = (size_t)(t->name - t->path);
    char text[PATH_MAX];

    if (!link_is_trusted(t->folder, &t->status))
        return EACCES;
    ssize_t n = readlinkat(t->folder, t->name, text, sizeof text);
    if (n < 0)
        return errno;
    if (n > 0 && text[0] == '/')
        folder = 0;
    if (n == 0 || folder + (size_t)n >= sizeof t->path)
        return n ? ENAMETOOLONG : ENOENT;
    memcpy(t->path + folder, text, (size_t)n);
    t->path[folder + (size_t)n] = '\0';
    return 0;
}

/** Opens the folder of t's path and finds the file there.  Returns 0 or an errno. */
static int target_look(struct path_end *t)
{
    const char *slash = strrchr(t->path, '/');

    t->name = slash ? slash + 1 : t->path;
    if (!*t->name)
        return *t->path ? EISDIR : ENOENT;
    t->folder = folder_open(t->path, (size_t)(t->name - t->path));
    if (t->folder < 0)
        return errno;
    t->exists = fstatat(t->folder, t->name, &t->status, AT_SYMLINK_NOFOLLOW) == 0;
    return t->exists || errno == ENOENT ? 0 : errno;
}

/** Finds where path leads to.  Returns 0, and t's folder is the caller's to close; or returns an errno. */
static int target_find(struct path_end *t, const char *path, unsigned flags)
{
    int why = 0;

    t->folder = -1;
    if (strlen(path) >= sizeof t->path)
        return ENAMETOOLONG;
    strcpy(t->path, path);
    for (int links = 0; !why; links++) {
        why = target_look(t);
        if (!why && !(t->exists && S_ISLNK(t->status.st_mode)))
            break;
        if (!why)
            why = flags & NEW_FILE_NO_LINKS || links == LINKS_MAX ? ELOOP : link_follow(t);
        if (t->folder >= 0)
            close(t->folder);
        t->folder = -1;
    }
    if (!why && t->exists && S_ISDIR(t->status.st_mode))
        why = EISDIR;
    if (!why && t->exists && S_ISREG(t->status.st_mode) && faccessat(t->folder, t->name, W_OK, AT_EACCESS) != 0)
        why = errno;
    if (why && t->folder >= 0)
        close(t->folder);
    return why;
}

/** Returns whether a path, links followed, is neither a file nor a folder.  /dev/stdout leads to a pipe by a link that cannot
 * be read.
 */
static bool is_device(const char *path, unsigned flags)
{
    struct stat s;

    return (flags & NEW_FILE_NO_LINKS ? lstat(path, &s) : stat(path, &s)) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode) &&
           !S_ISLNK(s.st_mode);
}

/* ---- the stream ---- */

static ssize_t stream_write(void *user, const char *data, size_t bytes)
{
    struct new_file *f = user;
    size_t done = 0;

    while (done < bytes && !f->error) {
        ssize_t n = write(f->file, data + done, bytes - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            f->error = n ? errno : EIO;
    }
    return f->error ? 0 : (ssize_t)bytes;
}

/** Opens a stream that writes to the file.  Returns 0, or an errno. */
static int stream_open(struct new_file *f)
{
    f->stream = fopencookie(f, "wb", (cookie_io_functions_t){.write = stream_write});
    return f->stream ? 0 : ENOMEM;
}

/** Closes stream and file.  Returns 0 or the errno of the first failure. */
static int stream_close(struct new_file *f)
{
    if (f->stream && fclose(f->stream) != 0 && !f->error)
        f->error = EIO;
    if (f->file >= 0 && close(f->file) != 0 && !f->error)
        f->error = errno;
    f->stream = NULL;
    f->file = -1;
    return f->error;
}

/* ---- opening ---- */

static int device_open(struct new_file *f, const char *path, unsigned flags)
{
    f->file = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | (flags & NEW_FILE_NO_LINKS ? O_NOFOLLOW : 0));
    struct stat s;

    if (f->file < 0)
        return errno;
    if (fstat(f->file, &s) != 0 || S_ISREG(s.st_mode)) /* exchanged meanwhile */
        return EACCES;
    return stream_open(f);
}

static void random_letters(char out[RANDOM_LETTERS + 1])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static atomic_uint serial;
    uint64_t bits;

    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now); /* O_EXCL makes it safe in any case */
        bits = ((uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid() << 12) + atomic_fetch_add(&serial, 1);
    }
    for (int i = 0; i < RANDOM_LETTERS; i++, bits /= sizeof letters - 1)
        out[i] = letters[bits % (sizeof letters - 1)];
    out[RANDOM_LETTERS] = '\0';
}

/** Creates the temporary file.  Returns 0 or an errno. */
static int temporary_create(struct new_file *f, const struct path_end *t, unsigned flags)
{
    const char *slash = strrchr(f->path, '/');
    int folder = slash ? (int)(slash - f->path) + 1 : 0;
    size_t room = strlen(f->path) + RANDOM_LETTERS + sizeof "..tmp";

    f->temporary = malloc(room);
    for (int tries = 0; f->temporary && f->file < 0 && tries < TRIES_MAX; tries++) {
        char letters[RANDOM_LETTERS + 1];

        random_letters(letters);
        snprintf(f->temporary, room, "%.*s%.*s.%s.tmp", folder, f->path, STEM_MAX, f->path + folder, letters);
        f->file = openat(f->folder, f->temporary + folder, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         flags & NEW_FILE_EXECUTABLE ? 0777
                         : flags & NEW_FILE_PRIVATE  ? 0600
                                                     : 0666);
        if (f->file < 0 && errno != EEXIST)
            break;
    }
    if (f->file < 0) {
        int why = f->temporary ? errno : ENOMEM;
        free(f->temporary);
        f->temporary = NULL;
        return why;
    }
    if (t->exists && !(flags & NEW_FILE_EXECUTABLE))
        (void)!fchmod(f->file, t->status.st_mode & 0777); /* who could not read the older file cannot read this one */
    return stream_open(f);
}

static int file_create(struct new_file *f, const char *path, unsigned flags)
{
    struct path_end *t = malloc(sizeof *t);
    int why = t ? target_find(t, path, flags) : ENOMEM;

    if (!why && t->exists && !S_ISREG(t->status.st_mode)) { /* became one meanwhile */
        close(t->folder);
        why = EACCES;
    }
    if (!why) {
        f->folder = t->folder;
        f->path = strdup(t->path);
        why = f->path ? temporary_create(f, t, flags) : ENOMEM;
    }
    free(t);
    return why;
}

struct new_file *new_file_open(const char *path, unsigned flags, int *why)
{
    struct new_file *f = calloc(1, sizeof *f);

    if (!f) {
        *why = ENOMEM;
        return NULL;
    }
    f->folder = f->file = -1;
    *why = is_device(path, flags) ? device_open(f, path, flags) : file_create(f, path, flags);
    if (!*why)
        return f;
    new_file_abandon(f);
    return NULL;
}

bool new_file_may_open(const char *path, unsigned flags, int *why)
{
    struct path_end *t = malloc(sizeof *t);

    *why = t ? target_find(t, path, flags) : ENOMEM;
    if (!*why) {
        if (!(t->exists && !S_ISREG(t->status.st_mode)) && faccessat(t->folder, ".", W_OK | X_OK, AT_EACCESS) != 0)
            *why = errno;
        close(t->folder);
    }
    free(t);
    return !*why;
}

FILE *new_file_stream(struct new_file *f)
{
    return f->stream;
}

int new_file_descriptor(struct new_file *f)
{
    return f->file;
}

const char *new_file_temporary(const struct new_file *f)
{
    return f->temporary;
}

/* ---- closing ---- */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool new_file_commit(struct new_file *f, int *why)
{
    *why = stream_close(f);
    if (!*why && f->temporary) {
        if (renameat(f->folder, name_of(f->temporary), f->folder, name_of(f->path)) != 0) {
            *why = errno;
        } else {
            free(f->temporary);
            f->temporary = NULL;
        }
    }
    new_file_abandon(f);
    return !*why;
}

void new_file_abandon(struct new_file *f)
{
    if (!f)
        return;
    stream_close(f);
    if (f->temporary)
        unlinkat(f->folder, name_of(f->temporary), 0);
    if (f->folder >= 0)
        close(f->folder);
    free(f->temporary);
    free(f->path);
    free(f);
}

bool new_file_write(const char *path, unsigned flags, const void *data, size_t bytes, int *why)
{
    struct new_file *f = new_file_open(path, flags, why);

    if (!f)
        return false;
    (void)!fwrite(data, 1, bytes, f->stream); /* what fails is found when it is committed */
    return new_file_commit(f, why);
}

/* ---- appending ---- */

FILE *own_file_append(const char *path, int *why)
{
    const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int file = open(path, flags | O_CREAT | O_EXCL, 0600);
    struct stat s;

    if (file < 0 && errno == EEXIST) {
        file = open(path, flags);
        if (file >= 0 &&
            (fstat(file, &s) != 0 || !S_ISREG(s.st_mode) || s.st_uid != geteuid() || s.st_nlink != 1 || s.st_mode & S_IWOTH)) {
            close(file);
            *why = EEXIST;
            return NULL;
        }
    }
    FILE *f = file < 0 ? NULL : fdopen(file, "a");
    *why = f ? 0 : errno;
    if (!f && file >= 0)
        close(file);
    return f;
}
