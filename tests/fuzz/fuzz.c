/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Seeds, the context, and what must hold of every model that is read. */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/builder/builder.h"
#include "frontend/readers/text/write.h"
#include "readers/text/compare.h"

static const char *corpus;
static unsigned seed_count;
static WNNContext context;

static const char *files_folder;

/** Leaves nothing of fuzz_file. */
static void remove_files(void)
{
    char path[512];
    DIR *d = opendir(files_folder);

    for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
        snprintf(path, sizeof path, "%s/%s", files_folder, entry->d_name);
        remove(path);
    }
    if (d)
        closedir(d);
    rmdir(files_folder);
}

void fuzz_seed(const void *bytes, size_t length)
{
    char path[4096];

    if (!corpus)
        return;
    snprintf(path, sizeof path, "%s/seed-%03u", corpus, seed_count++);
    FILE *out = fopen(path, "wb");
    if (out) {
        fwrite(bytes, 1, length, out);
        fclose(out);
    }
}

const char *fuzz_file(const char *name, const void *bytes, size_t length)
{
    static char in_memory[] = "/dev/shm/webnn-fuzz-XXXXXX", on_disk[] = "/tmp/webnn-fuzz-XXXXXX", path[128];

    if (!files_folder) {
        files_folder = mkdtemp(in_memory); /* a hundred times as fast, where there is one */
        files_folder = files_folder ? files_folder : mkdtemp(on_disk);
        if (!files_folder || atexit(remove_files))
            abort();
    }
    snprintf(path, sizeof path, "%s/%s", files_folder, name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(bytes, 1, length, out) != length || fclose(out))
        abort();
    return path;
}

const char *fuzz_folder(void)
{
    return files_folder;
}

WNNContext fuzz_context(void)
{
    return context;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct stat s;

    if (wnnCreateContext(NULL, &context))
        abort();
    if (*argc > 1 && !stat((*argv)[*argc - 1], &s) && S_ISDIR(s.st_mode)) {
        corpus = (*argv)[*argc - 1];
        fuzz_seeds();
    }
    return 0;
}

/** Returns the graph of a model; NULL: build would refuse it. */
static struct graph *take(const struct model *m)
{
    return model_take_graph(m, &(struct error){0});
}

/** Written in one form, it must read back as the same graph. */
static void write_and_read(const struct graph *g, bool json)
{
    const struct text_options options = {.name = "fuzz", .json = json, .weights = TEXT_WEIGHTS_INLINE};
    struct error e = {0};
    char *text = NULL;
    size_t length = 0;
    struct model m;
    FILE *out = open_memstream(&text, &length);
    bool written = out && text_write_graph(g, &options, out);

    if (!out || fclose(out) || !written)
        abort();
    if (!(json ? model_read_json : model_read_text)(context, "again", text, length, NULL, &m, &e)) {
        fprintf(stderr, "not read back: %s\n%s\n", e.message, text);
        abort();
    }
    struct graph *again = take(&m);
    if (!again || !graphs_equal(g, again)) {
        fprintf(stderr, "another graph came back:\n%s\n", text);
        abort();
    }
    graph_free(again);
    model_free(&m);
    free(text);
}

void fuzz_model(fuzz_reader reader, const uint8_t *bytes, size_t length)
{
    struct error e = {0};
    char *copy = malloc(length ? length : 1); /* without a NUL after it */
    struct graph *g;
    struct model m;

    if (!copy)
        return;
    memcpy(copy, bytes, length);
    if (reader(context, "/nowhere/fuzz", copy, length, NULL, &m, &e)) {
        free(copy); /* nothing may point into it */
        g = take(&m);
        if (g) {
            if (!graph_verify(g, stderr))
                abort();
            if (!text_has_loops(g)) { /* TEXT_NO_LOOPS */
                write_and_read(g, false);
                write_and_read(g, true);
            }
        }
        graph_free(g);
        model_free(&m);
        return;
    }
    if (!e.status || m.builder || m.inputs || m.outputs || m.name)
        abort();
    free(copy);
}

void fuzz_description(fuzz_describer describe, const uint8_t *bytes, size_t length)
{
    struct error e = {0};
    char *copy = malloc(length ? length : 1); /* without a NUL after it */
    struct model_description d;

    if (!copy)
        return;
    memcpy(copy, bytes, length);
    bool ok = describe("/nowhere/fuzz", copy, length, &d, &e);
    free(copy); /* nothing may point into it */
    if (ok ? !d.format || !d.name || e.status : !e.status || d.inputs || d.name)
        abort();
    for (size_t i = 0; ok && i < d.input_count; i++)
        for (size_t k = 0; k < d.inputs[i].rank; k++)
            if (!d.inputs[i].dimensions[k].name.data)
                abort();
    model_description_free(&d);
}
