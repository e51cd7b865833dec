/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes webnnc's outputs by the rules of ir/support/new_file.h, and removes them when something fails or a signal ends the
 * program.  Several files that belong together are all written before the first of them takes its place.
 *
 * The names that a signal handler must remove lie in static memory, with a flag that is set after the name and cleared before
 * it changes.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/webnnc.h"
#include "ir/support/new_file.h"

enum { PATH_BYTES = 4096, PENDING_MAX = 12 };

struct pending {
    volatile sig_atomic_t used;
    char path[PATH_BYTES];
};

static struct pending files[PENDING_MAX]; /* temporary outputs and the files of the folder */
static struct pending folder;

struct output {
    const char *path;
    struct new_file *file; /* NULL for standard output, and for devices until they are committed */
    struct pending *pending;
    const void *data; /* of an output that is not a file: written when it is committed */
    size_t length;
};

static bool complain_file(const char *what, const char *path, int error)
{

    return complain("%s %s: %s", what, NAME_SHOWN(path), strerror(error));
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
            files[i].used = 1;
            return &files[i];
        }
    return NULL;
}

/* ---- outputs ---- */

static bool is_device(const char *path)
{
    struct stat status;

    return !stat(path, &status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

struct output *output_begin(const char *path, bool executable)
{
    struct output *f = calloc(1, sizeof *f);
    sigset_t all, before;
    int error;

    if (!f) {
        complain("out of memory");
        return NULL;
    }
    f->path = path;
    if (is_device(path)) {
        complain_file("cannot write", path, EINVAL); /* its bytes come from a linker, which wants a file to seek in */
        output_abandon(f);
        return NULL;
    }
    /* No signal may come between the file's birth and its being known. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    f->file = new_file_open(path, executable ? NEW_FILE_EXECUTABLE : 0, &error);
    const char *temporary = f->file ? new_file_temporary(f->file) : NULL;
    f->pending = temporary ? pending_take(temporary) : NULL;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (f->pending)
        return f;
    complain_file("cannot write", path, f->file ? ENAMETOOLONG : error);
    output_abandon(f);
    return NULL;
}

const char *output_temporary(const struct output *f)
{
    return f->pending->path;
}

static bool put(FILE *out, const char *name, const void *data, size_t length)
{
    errno = 0;
    return fwrite(data, 1, length, out) == length || complain_file("cannot write", name, errno ? errno : EIO);
}

struct output *output_prepare(const char *path, const void *data, size_t length, bool executable)
{
    struct output *f;

    if (!strcmp(path, "-") || is_device(path)) {
        f = malloc(sizeof *f);
        if (f)
            *f = (struct output){.path = path, .data = data, .length = length};
        else
            complain("out of memory");
        return f;
    }
    f = output_begin(path, executable);
    if (f && !put(new_file_stream(f->file), path, data, length)) {
        output_abandon(f);
        return NULL;
    }
    return f;
}

/* Writes to standard output, or to a device, to which nothing was written when the outputs were prepared. */
static bool commit_data(const struct output *f)
{
    int error;

    if (strcmp(f->path, "-"))
        return new_file_write(f->path, 0, f->data, f->length, &error) || complain_file("cannot write", f->path, error);
    return put(stdout, "standard output", f->data, f->length) &&
           (fflush(stdout) == 0 || complain_file("cannot write", "standard output", errno));
}

bool output_commit(struct output *f)
{
    int error;
    bool ok = f->file ? new_file_commit(f->file, &error) || complain_file("cannot write", f->path, error) : commit_data(f);

    f->file = NULL;
    output_abandon(f);
    return ok;
}

void output_abandon(struct output *f)
{
    if (!f)
        return;
    new_file_abandon(f->file);
    if (f->pending)
        f->pending->used = 0;
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
