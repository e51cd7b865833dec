/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes lists of inputs from paths, folders and text files with a path in each line. */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "frontend/readers/batch/batch.h"
#include "frontend/readers/files/file.h"
#include "ir/support/table.h"

bool batch_is_folder(const char *path)
{
    struct stat s;

    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

static bool append(struct batch_list *l, const char *path)
{
    if (!array_extend(&l->paths, l->count, sizeof *l->paths))
        return false;
    l->paths[l->count] = strdup(path);
    return l->paths[l->count] && ++l->count;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/** Appends what a walk through a folder has met.  Returns false if memory runs out. */
static bool append_entry(struct batch_list *l, FTS *walk, FTSENT *entry)
{
    if (entry->fts_level > FTS_ROOTLEVEL && entry->fts_name[0] == '.') {
        fts_set(walk, entry, FTS_SKIP);
        return true;
    }
    switch (entry->fts_info) {
    case FTS_F:
    case FTS_DNR: /* what cannot be opened fails as an input, with the system's reason */
    case FTS_NS:
    case FTS_ERR:
    case FTS_SLNONE:
        return append(l, entry->fts_path);
    default:
        return true;
    }
}

static bool append_folder(struct batch_list *l, const char *path)
{
    char *roots[] = {strdup(path), NULL};
    FTS *walk = roots[0] ? fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name) : NULL;
    FTSENT *entry;
    bool ok = walk != NULL;

    while (ok) {
        errno = 0;
        entry = fts_read(walk);
        if (!entry) {
            ok = !errno;
            break;
        }
        ok = append_entry(l, walk, entry);
    }
    if (walk)
        fts_close(walk);
    free(roots[0]);
    return ok;
}

bool batch_list_add(struct batch_list *l, const char *path, struct error *e)
{
    bool ok = batch_is_folder(path) ? append_folder(l, path) : append(l, path);

    return ok || file_error(e, "%s: out of memory while the inputs are listed", PATH_SHOWN(path));
}

bool batch_list_read(struct batch_list *l, const char *path, struct error *e)
{
    FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    bool ok = true;

    if (!file)
        return file_error(e, "%s: %s", PATH_SHOWN(path), strerror(errno));
    errno = 0;
    while (ok && (length = getline(&line, &capacity, file)) >= 0) {
        while (length > 0 && strchr("\r\n", line[length - 1]))
            line[--length] = '\0';
        ok = !length || batch_list_add(l, line, e);
        errno = 0;
    }
    if (ok && !feof(file))
        ok = file_error(e, "%s: %s", PATH_SHOWN(path), strerror(errno));
    free(line);
    if (file != stdin)
        fclose(file);
    return ok;
}

void batch_list_free(struct batch_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->paths[i]);
    free(l->paths);
    *l = (struct batch_list){0};
}
