/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Walks the names of files in models by hand, as Linux does for RESOLVE_BENEATH, but on all kernels.
 *
 * Every component is opened relative to the folder before it and without following links, so that nothing can be exchanged
 * between a check and its use.  A link's text takes the place of its component; ".." goes back to the previous
 * folder, and not beyond the first.
 */
#define _GNU_SOURCE
#include "frontend/readers/files/named_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, LINKS_MAX = 40 };

struct walk {
    int folders[DEPTH_MAX]; /* open, the innermost last */
    int depth;
    int links;
    char rest[PATH_MAX]; /* of the name */
    const char *why;
};

static int refuse(struct walk *w, const char *why)
{
    w->why = why;
    return -1;
}

static int enter(struct walk *w, int folder)
{
    if (folder >= 0 && w->depth < DEPTH_MAX) {
        w->folders[w->depth++] = folder;
        return 0;
    }
    if (folder < 0)
        return refuse(w, strerror(errno));
    close(folder);
    return refuse(w, "the path has too many folders");
}

static int leave(struct walk *w)
{
    if (w->depth == 1)
        return refuse(w, "the path leads out of the model's folder");
    close(w->folders[--w->depth]);
    return 0;
}

/** Puts the text of the link `name` before the rest. */
static int follow(struct walk *w, const char *name)
{
    char text[PATH_MAX];
    size_t rest = strlen(w->rest);
    ssize_t n = readlinkat(w->folders[w->depth - 1], name, text, sizeof text);

    if (n < 0)
        return refuse(w, strerror(errno));
    if (n == 0 || text[0] == '/')
        return refuse(w, "a symbolic link leads out of the model's folder");
    if (++w->links > LINKS_MAX)
        return refuse(w, strerror(ELOOP));
    if ((size_t)n + 1 + rest >= sizeof w->rest)
        return refuse(w, strerror(ENAMETOOLONG));
    memmove(w->rest + n + 1, w->rest, rest + 1);
    memcpy(w->rest, text, (size_t)n);
    w->rest[n] = '/';
    return 0;
}

/** Opens a component that is neither a folder nor a link.  O_NONBLOCK is set so that opening a pipe does not wait. */
static int open_file(struct walk *w, const char *name)
{
    int file = openat(w->folders[w->depth - 1], name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat s;

    if (file < 0)
        return refuse(w, strerror(errno));
    if (fstat(file, &s) == 0 && S_ISREG(s.st_mode))
        return file;
    close(file);
    return refuse(w, "it is not a regular file");
}

/** Takes the first component off the rest. */
static void take_component(struct walk *w, char name[NAME_MAX + 2])
{
    size_t length = strcspn(w->rest, "/"), next = length + strspn(w->rest + length, "/");

    snprintf(name, NAME_MAX + 2, "%.*s", (int)length, w->rest);
    memmove(w->rest, w->rest + next, strlen(w->rest + next) + 1);
}

/** Goes one component further: the file's descriptor once it is open, -2 if there is more to go, -1 if it is refused. */
static int step(struct walk *w)
{
    int folder = w->folders[w->depth - 1];
    char name[NAME_MAX + 2];
    struct stat s;

    take_component(w, name);
    if (!*name)
        return refuse(w, "it is not a regular file"); /* a folder */
    if (!strcmp(name, "."))
        return -2;
    if (!strcmp(name, ".."))
        return leave(w) < 0 ? -1 : -2;
    if (fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) != 0)
        return refuse(w, strerror(errno));
    if (S_ISLNK(s.st_mode))
        return follow(w, name) < 0 ? -1 : -2;
    if (S_ISDIR(s.st_mode))
        return enter(w, openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0 ? -1 : -2;
    return *w->rest             ? refuse(w, strerror(ENOTDIR))
           : S_ISREG(s.st_mode) ? open_file(w, name)
                                : refuse(w, "it is not a regular file");
}

int named_file_open(const char *folder, const char *name, const char **why)
{
    struct walk w = {.depth = 0};
    int file = -2;

    if (!*name || *name == '/')
        file = refuse(&w, "the path is not relative to the model");
    else if (strlen(name) >= sizeof w.rest)
        file = refuse(&w, strerror(ENAMETOOLONG));
    else if (enter(&w, open(*folder ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
        file = -1;
    else
        strcpy(w.rest, name);
    while (file == -2)
        file = step(&w);
    while (w.depth > 0)
        close(w.folders[--w.depth]);
    *why = w.why;
    return file;
}
