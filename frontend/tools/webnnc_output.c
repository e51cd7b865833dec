/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files that are there whole or not at all: written under a temporary name in the same folder, renamed once complete, and
 * removed when something fails or a signal ends the program.  Several files that belong together are all written before the
 * first of them is renamed.
 *
 * The names that a signal handler must remove lie in static memory, with a flag that is set after the name and cleared before
 * it changes.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/webnnc.h"

enum { PATH_BYTES = 4096, PENDING_MAX = 12 };

struct pending {
    volatile sig_atomic_t used;
    char path[PATH_BYTES];
};

static struct pending files[PENDING_MAX]; /* temporary outputs and what lies in the folder */
static struct pending folder;

struct output {
    const char *path;
    char *target; /* what path stands for, symbolic links followed */
    struct pending *pending;
    int file;
    const void *data; /* of what is no file: written when it is committed */
    size_t length;
    bool is_plain;
};

static bool complain_file(const char *what, const char *path, int error)
{
    char text[300];

    return complain("%s %s: %s", what, printable(text, sizeof text, path, strlen(path)), strerror(error));
}

/* ---- signals ---- */

static void remove_all(void)
{
    for (int i = 0; i < PENDING_MAX; i++)
        if (files[i].used)
            unlink(files[i].path);
    if (folder.used)
        rmdir(folder.path);
}

static void handle_signal(int number)
{
    remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

void output_handle_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGXFSZ};
    struct sigaction action = {.sa_handler = handle_signal};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        sigaddset(&action.sa_mask, numbers[i]);
        /* What was ignored (nohup) stays so. */
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

static struct pending *pending_take(const char *path)
{
    for (int i = 0; i < PENDING_MAX; i++)
        if (!files[i].used) {
            if (snprintf(files[i].path, PATH_BYTES, "%s", path) >= PATH_BYTES)
                return NULL;
            return &files[i];
        }
    return NULL;
}

/* ---- outputs ---- */

struct output *output_begin(const char *path, bool executable)
{
    struct output *f = calloc(1, sizeof *f);
    char name[PATH_BYTES];
    struct stat status;

    if (!f) {
        complain("out of memory");
        return NULL;
    }
    f->path = path;
    f->file = -1;
    f->target = realpath(path, NULL);
    const char *target = f->target ? f->target : path;
    if (!stat(target, &status) && S_ISDIR(status.st_mode)) {
        complain_file("cannot write", path, EISDIR);
        output_abandon(f);
        return NULL;
    }
    if (snprintf(name, sizeof name, "%s.XXXXXX", target) >= (int)sizeof name || !(f->pending = pending_take(name))) {
        complain_file("cannot write", path, ENAMETOOLONG);
        output_abandon(f);
        return NULL;
    }
    /* No signal between the file's birth and its being known. */
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    f->file = mkstemp(f->pending->path);
    int error = errno;
    f->pending->used = f->file >= 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (f->file < 0) {
        complain_file("cannot write", path, error);
        f->pending = NULL;
        output_abandon(f);
        return NULL;
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(f->file, (executable ? 0777 : 0666) & ~mask);
    return f;
}

const char *output_temporary(const struct output *f)
{
    return f->pending->path;
}

static bool write_temporary(struct output *f, const void *data, size_t length)
{
    const char *p = data;

    while (length) {
        ssize_t n = write(f->file, p, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return complain_file("cannot write", f->path, n < 0 ? errno : EIO);
        p += n;
        length -= (size_t)n;
    }
    return true;
}

/* Pipes, terminals and the like are written to as they are. */
static bool write_plainly(const char *path, const void *data, size_t length)
{
    bool standard = !strcmp(path, "-");
    FILE *f = standard ? stdout : fopen(path, "wb");

    if (!f)
        return complain_file("cannot write", path, errno);
    bool ok = fwrite(data, 1, length, f) == length;
    ok = (standard ? fflush(f) : fclose(f)) == 0 && ok;
    return ok || complain_file("cannot write", standard ? "standard output" : path, errno);
}

struct output *output_prepare(const char *path, const void *data, size_t length, bool executable)
{
    struct stat status;
    struct output *f;

    if (!strcmp(path, "-") || (!stat(path, &status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))) {
        f = malloc(sizeof *f);
        if (f)
            *f = (struct output){.path = path, .file = -1, .data = data, .length = length, .is_plain = true};
        else
            complain("out of memory");
        return f;
    }
    f = output_begin(path, executable);
    if (f && !write_temporary(f, data, length)) {
        output_abandon(f);
        return NULL;
    }
    return f;
}

bool output_commit(struct output *f)
{
    if (f->is_plain) {
        bool ok = write_plainly(f->path, f->data, f->length);
        output_abandon(f);
        return ok;
    }
    int closed = close(f->file);

    f->file = -1;
    if (closed || rename(f->pending->path, f->target ? f->target : f->path)) {
        complain_file("cannot write", f->path, errno);
        output_abandon(f);
        return false;
    }
    f->pending->used = 0;
    f->pending = NULL;
    output_abandon(f);
    return true;
}

void output_abandon(struct output *f)
{
    if (!f)
        return;
    if (f->file >= 0)
        close(f->file);
    if (f->pending) {
        unlink(f->pending->path);
        f->pending->used = 0;
    }
    free(f->target);
    free(f);
}

bool output_file(const char *path, const void *data, size_t length, bool executable)
{
    struct output *f = output_prepare(path, data, length, executable);

    return f && output_commit(f);
}

/* ---- the folder ---- */

const char *folder_create(void)
{
    const char *base = getenv("TMPDIR");

    if (snprintf(folder.path, sizeof folder.path, "%s/webnnc-XXXXXX", base && *base ? base : "/tmp") >=
            (int)sizeof folder.path ||
        !mkdtemp(folder.path)) {
        complain_file("cannot make a folder", folder.path, errno);
        return NULL;
    }
    folder.used = 1;
    return folder.path;
}

const char *folder_path(const char *name)
{
    char path[PATH_BYTES + 64];

    snprintf(path, sizeof path, "%s/%s", folder.path, name);
    struct pending *p = pending_take(path);
    if (!p) {
        complain("the path of the folder for intermediate files is too long");
        return NULL;
    }
    p->used = 1;
    return p->path;
}

void folder_remove(void)
{
    size_t length = strlen(folder.path);

    if (!folder.used)
        return;
    for (int i = 0; i < PENDING_MAX; i++)
        if (files[i].used && !strncmp(files[i].path, folder.path, length) && files[i].path[length] == '/') {
            unlink(files[i].path);
            files[i].used = 0;
        }
    rmdir(folder.path);
    folder.used = 0;
}
