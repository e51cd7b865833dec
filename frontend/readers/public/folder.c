/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/readers/public/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/readers/files/file.h"
#include "ir/support/trim_folder.h"

#define SUFFIX ".wnngraph"
#define LIMIT ((uint64_t)16 << 30)

enum { DIGITS = 32 };

static WNNStatus refuse(const char *path, const char *why)
{
    return reader_refuse("the folder of saved graphs, %s, %s", PATH_SHOWN(path), why);
}

WNNStatus folder_prepare(const char *path)
{
    struct stat s;

    if (mkdir(path, 0700) && errno != EEXIST)
        return refuse(path, strerror(errno));
    if (stat(path, &s))
        return refuse(path, strerror(errno));
    if (!S_ISDIR(s.st_mode))
        return refuse(path, "is not a folder");
    if (s.st_uid != geteuid() || (s.st_mode & (S_IWGRP | S_IWOTH)))
        return refuse(path, "can be written to by others, who could put code there: its owner has to be the user, and its mode "
                            "one like 0700");
    return WNNStatus_Success;
}

/* ---- digests ---- */

static void add_word(struct digest *d, uint64_t word)
{
    d->words[0] = (d->words[0] ^ word) * 0xD6E8FEB86659FD93u;
    d->words[0] ^= d->words[0] >> 32;
    d->words[1] = (d->words[1] + word) * 0x9E3779B97F4A7C15u;
    d->words[1] ^= d->words[1] >> 29;
}

void digest_add(struct digest *d, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t word;

    add_word(d, length); /* two parts are not one longer part */
    for (; length >= sizeof word; at += sizeof word, length -= sizeof word) {
        memcpy(&word, at, sizeof word);
        add_word(d, word);
    }
    word = 0;
    memcpy(&word, at, length);
    add_word(d, word);
}

static void add_text(struct digest *d, const char *text)
{
    digest_add(d, text, strlen(text));
}

/** Digests a file of weights by its name, size and time of change: reading it takes too long, and its name may be missing. */
static void add_file(struct digest *d, const char *path)
{
    struct stat s;

    add_text(d, file_name(path));
    if (stat(path, &s))
        return;
    add_word(d, (uint64_t)s.st_size);
    add_word(d, (uint64_t)s.st_mtim.tv_sec);
    add_word(d, (uint64_t)s.st_mtim.tv_nsec);
}

static void add_constant(struct digest *d, const struct model_constant *c)
{
    const struct npy_array *a = c->array;

    add_text(d, c->name);
    add_word(d, (uint64_t)a->dataType);
    digest_add(d, a->shape, a->rank * sizeof *a->shape);
    digest_add(d, a->data, a->byteLength);
}

void digest_model(struct digest *d, WNNContext context, const struct model_source *source,
                  const struct model_description *description, const struct request *request)
{
    size_t length;
    const void *bytes = model_source_bytes(source, &length);

    *d = (struct digest){{0x6A09E667F3BCC908u, 0xBB67AE8584CAA73Bu}};
    add_text(d, wnnGetVersion());
    add_word(d, (uint64_t)wnnContextGetPrecision(context));
    add_word(d, wnnContextGetDeterministic(context));
    add_word(d, wnnContextGetAccelerated(context));
    digest_add(d, bytes, length);
    for (size_t i = 0; i < description->file_count; i++)
        add_file(d, description->files[i]);
    if (request->options.weights)
        add_file(d, request->options.weights);
    for (size_t i = 0; i < request->options.constant_count; i++)
        add_constant(d, &request->constants[i]);
    for (size_t i = 0; i < request->options.output_count; i++)
        add_text(d, request->options.outputs[i]);
}

char *folder_path(const char *folder, const struct digest *d)
{
    char name[64];

    snprintf(name, sizeof name, "%016" PRIx64 "%016" PRIx64 SUFFIX, d->words[0], d->words[1]);
    return file_join(folder, name);
}

/* ---- files ---- */

bool folder_load(WNNContext context, const char *path, WNNGraph *graph)
{
    if (access(path, R_OK) || wnnContextLoadGraph(context, path, graph))
        return false;
    utimensat(AT_FDCWD, path, NULL, 0); /* or it seems older than it is */
    return true;
}

bool folder_save(WNNGraph graph, const char *folder, const char *path, uint64_t limit)
{
    struct stat s;

    limit = limit ? limit : LIMIT;
    if (wnnGraphSave(graph, path))
        return false;
    if (!stat(path, &s) && (uint64_t)s.st_size > limit) { /* no reason to delete others */
        unlink(path);
        return false;
    }
    trim_folder(folder, DIGITS, SUFFIX, limit);
    return !access(path, F_OK);
}
