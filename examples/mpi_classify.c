/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Classifies many pictures on several processes, on one machine or on many, by MPI.
 *
 *   mpirun -n 4 mpi_classify MODEL [PICTURE|FOLDER ...] [--list FILE] [--labels FILE] [--threads N]
 *
 * Arguments and lines of JSON are those of classify.c; MODEL may also be a compiled graph, which `webnn-run --save` wrote. Rank
 * 0 compiles the model once and lists the pictures.  Every rank gets the same saved graph and the same list through MPI, loads
 * the graph without compiling, and takes each n-th picture: only the folders with the pictures have to be there on every
 * machine. Rank 0 prints the lines in the list's order at the end.  Machines must have processors of one kind, because the
 * graph is compiled for rank 0's.
 *
 * A rank computes on one thread unless --threads says more: start a rank for each core.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "examples/support/classifier.h"
#include "examples/support/example.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/model.h"

/* MPI counts in int. */
enum { CHUNK = 1 << 30 };

/** Holds bytes that rank 0 has and the others get.  A NUL follows them. */
struct bytes {
    char *data;
    size_t length;
};

/** Holds what the command line says, which is the same on every rank. */
struct arguments {
    const char **words, *labels, *list;
    size_t count;
    uint32_t threads;
};

/** Holds a rank, and what it computes with. */
struct rank {
    int index, count;
    struct arguments arguments;
    struct bytes graph, labels, paths; /* the same on every rank; paths end with a NUL each */
    struct example example;            /* its model stays empty: the graph is loaded */
    struct classifier classifier;
    struct bytes lines; /* of this rank's pictures */
    size_t failed;
};

/** Returns whether all ranks are well. */
static bool agree(bool ok)
{
    int mine = ok, all = 0;

    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* ---- what rank 0 prepares ---- */

/** Makes a folder for temporary files, of this process alone.  Returns the path of a file in it, or NULL after a message. */
static char *temporary_path(const struct rank *r)
{
    const char *parent = getenv("TMPDIR");
    char *folder = file_join(parent && *parent ? parent : "/tmp", "mpi_classify-XXXXXX"), *path = NULL;

    if (folder && mkdtemp(folder))
        path = file_join(folder, "graph.wnn");
    if (!path)
        example_error(&r->example, "no folder for temporary files could be made in TMPDIR or /tmp");
    free(folder);
    return path;
}

/** Removes a temporary file with its folder and frees its path. */
static void temporary_remove(char *path)
{
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    free(path);
}

static bool read_bytes(const struct rank *r, const char *path, struct bytes *b)
{
    struct error e = {0};

    return file_read(path, &b->data, &b->length, &e) || example_error(&r->example, "%s", e.message);
}

/** Compiles the model and keeps the bytes of the saved graph; of a compiled graph it keeps the bytes of the file. */
static bool prepare_graph(struct rank *r)
{
    const char *model = r->arguments.words[0];
    struct example built = {.program = r->example.program};
    char *path;
    bool ok;

    if (model_is_compiled(model))
        return read_bytes(r, model, &r->graph);
    path = temporary_path(r);
    if (!path)
        return false;
    ok = example_open(&built, r->example.program, model, r->arguments.threads) &&
         example_ok(&built, wnnGraphSave(built.graph, path), "save") && read_bytes(r, path, &r->graph);
    example_close(&built);
    temporary_remove(path);
    return ok;
}

/** Reads the labels: without a file of the default name there are numbers. */
static bool prepare_labels(struct rank *r)
{
    const struct arguments *a = &r->arguments;
    char *path = a->labels ? strdup(a->labels) : file_join(a->words[0], "classes.txt");
    bool ok = path || example_error(&r->example, "out of memory");

    if (ok && (a->labels || !access(path, R_OK)))
        ok = read_bytes(r, path, &r->labels);
    free(path);
    return ok;
}

/** Lists the pictures. */
static bool prepare_paths(struct rank *r)
{
    const struct arguments *a = &r->arguments;
    struct batch_list l = {0};
    FILE *out = open_memstream(&r->paths.data, &r->paths.length);
    bool ok = out || example_error(&r->example, "out of memory");

    ok = ok && classifier_inputs(r->example.program, &l, a->count - 1, a->words + 1, a->list);
    for (size_t i = 0; i < l.count && ok; i++)
        ok = fwrite(l.paths[i], strlen(l.paths[i]) + 1, 1, out) == 1;
    if (out && fclose(out) && ok)
        ok = example_error(&r->example, "out of memory");
    batch_list_free(&l);
    return ok;
}

/* ---- sharing ---- */

/** Gives every rank the bytes of rank 0.  Returns false, on every rank, if one has no memory for them. */
static bool share(const struct rank *r, struct bytes *b)
{
    unsigned long long length = b->length;

    MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    if (r->index) {
        b->length = (size_t)length;
        b->data = malloc(b->length + 1);
    }
    if (!agree(b->data || !b->length))
        return r->index ? false : example_error(&r->example, "out of memory on one of the ranks");
    for (size_t at = 0; at < b->length; at += CHUNK) {
        size_t n = b->length - at < CHUNK ? b->length - at : CHUNK;

        MPI_Bcast(b->data + at, (int)n, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    if (b->data && r->index)
        b->data[b->length] = '\0';
    return true;
}

/** Loads the graph whose bytes every rank has. */
static bool load_graph(struct rank *r)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    struct example *e = &r->example;
    struct error error = {0};
    char *path = temporary_path(r);
    bool ok = path && (file_write(path, r->graph.data, r->graph.length, &error) || example_error(e, "%s", error.message));

    options.threadCount = r->arguments.threads;
    ok = ok && example_ok(e, wnnGetFileEngine(path, &options.engine), "load") &&
         example_ok(e, wnnCreateContext(&options, &e->context), "context") &&
         example_ok(e, wnnContextLoadGraph(e->context, path, &e->graph), "load") &&
         classifier_open(&r->classifier, e->program, e->graph, r->labels.data ? r->labels.data : "");
    if (path)
        temporary_remove(path); /* a loaded graph needs no name */
    return ok;
}

/* ---- computing ---- */

/** Classifies each n-th picture and keeps the lines. */
static bool compute(struct rank *r)
{
    const char *end = r->paths.data + r->paths.length;
    struct batch_list l = {0};
    struct error e = {0};
    size_t i = 0;
    FILE *out = open_memstream(&r->lines.data, &r->lines.length);
    bool ok = out || example_error(&r->example, "out of memory");

    for (const char *path = r->paths.data; path < end && ok; path += strlen(path) + 1, i++)
        if (i % (size_t)r->count == (size_t)r->index)
            ok = batch_list_add(&l, path, &e) || example_error(&r->example, "%s", e.message);
    ok = ok && classifier_batch(&r->classifier, &l, out, true, &r->failed);
    if (out)
        ok = !fclose(out) && ok;
    batch_list_free(&l);
    return ok;
}

/** Sends this rank's lines to rank 0. */
static void send_lines(const struct rank *r)
{
    unsigned long long length = r->lines.length;

    MPI_Send(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, MPI_COMM_WORLD);
    for (size_t at = 0; at < r->lines.length; at += CHUNK) {
        size_t n = r->lines.length - at < CHUNK ? r->lines.length - at : CHUNK;

        MPI_Send(r->lines.data + at, (int)n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

/** Receives the lines of another rank.  Without memory for them nothing can go on, and all ranks end. */
static void receive_lines(const struct rank *r, int from, struct bytes *b)
{
    unsigned long long length = 0;

    MPI_Recv(&length, 1, MPI_UNSIGNED_LONG_LONG, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    b->length = (size_t)length;
    b->data = malloc(b->length + 1);
    if (!b->data) {
        example_error(&r->example, "out of memory");
        MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    for (size_t at = 0; at < b->length; at += CHUNK) {
        size_t n = b->length - at < CHUNK ? b->length - at : CHUNK;

        MPI_Recv(b->data + at, (int)n, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    b->data[b->length] = '\0';
}

/** Prints the lines of all ranks in the list's order: one of each in turn. */
static bool print_lines(const struct rank *r)
{
    struct bytes *all = calloc((size_t)r->count, sizeof *all);
    const char **at = calloc((size_t)r->count, sizeof *at);
    bool ok = all && at;

    if (!ok) {
        example_error(&r->example, "out of memory");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int k = 0; k < r->count && ok; k++) {
        if (k)
            receive_lines(r, k, &all[k]);
        at[k] = k ? all[k].data : r->lines.data;
    }
    for (int k = 0; ok && at[k] && *at[k]; k = (k + 1) % r->count) {
        const size_t length = strcspn(at[k], "\n") + 1;

        ok = fwrite(at[k], length, 1, stdout) == 1;
        at[k] += length;
    }
    for (int k = 1; k < r->count && all; k++)
        free(all[k].data);
    free(all);
    free(at);
    return (ok && !fflush(stdout)) || example_error(&r->example, "the results could not be written");
}

/** Does it all.  Returns whether every picture of every rank was computed. */
static bool run(struct rank *r)
{
    bool ok = r->index || (prepare_graph(r) && prepare_labels(r) && prepare_paths(r));
    int failed, failed_anywhere = 0;

    if (!agree(ok) || !share(r, &r->graph) || !share(r, &r->labels) || !share(r, &r->paths))
        return false;
    if (!agree(load_graph(r)) || !agree(compute(r)))
        return false;
    if (r->index)
        send_lines(r);
    else
        ok = print_lines(r);
    failed = r->failed > 0 || !ok;
    MPI_Allreduce(&failed, &failed_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return !failed_anywhere;
}

/** Reads the command line.  Returns false if it is wrong. */
static bool read_arguments(int argc, char **argv, struct arguments *a)
{
    const char *const names[] = {"--labels", "--list", NULL};
    const char *values[2] = {NULL, NULL};
    int count;

    *a = (struct arguments){.words = calloc((size_t)argc + 1, sizeof *a->words), .threads = 1};
    count = a->words ? example_arguments(argc, argv, a->words, argc, &a->threads, names, values) : -1;
    a->labels = values[0];
    a->list = values[1];
    a->count = count > 0 ? (size_t)count : 0;
    return count > 1 || (count == 1 && a->list);
}

int main(int argc, char **argv)
{
    struct rank r = {.example = {.program = "mpi_classify"}};
    char program[64];
    int threads, result = 2;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads); /* readers of a batch call no MPI */
    MPI_Comm_rank(MPI_COMM_WORLD, &r.index);
    MPI_Comm_size(MPI_COMM_WORLD, &r.count);
    snprintf(program, sizeof program, "mpi_classify rank %d", r.index);
    r.example.program = program;
    if (agree(read_arguments(argc, argv, &r.arguments)))
        result = !run(&r) && !r.index; /* mpirun ends with rank 0's status */
    else if (!r.index)
        fputs("usage: mpirun -n RANKS mpi_classify MODEL [PICTURE|FOLDER ...] [--list FILE] [--labels FILE] [--threads N]\n",
              stderr);
    classifier_close(&r.classifier);
    example_close(&r.example);
    free(r.graph.data);
    free(r.labels.data);
    free(r.paths.data);
    free(r.lines.data);
    free(r.arguments.words);
    MPI_Finalize();
    return result;
}
