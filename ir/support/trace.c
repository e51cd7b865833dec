/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes spans of time as JSON: {"traceEvents": [{"name": ..., "ph": "X", "ts": microseconds, "dur": microseconds, ...}, ...]}.
 * Times count from the opening of the trace.
 */
#include "ir/support/trace.h"
#include "ir/support/arena.h"
#include "ir/support/json.h"
#include "ir/support/new_file.h"
#include "ir/support/table.h"
#include "ir/support/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct span {
    uint64_t start, end;
    uint32_t name, thread;
};

struct trace {
    pthread_mutex_t lock;
    struct arena arena; /* texts */
    char *path;
    uint64_t opened;
    struct trace_name *names;
    uint32_t name_count;
    struct span *spans;
    uint32_t span_count;
    uint64_t lost;
};

static uint32_t this_thread(void)
{
    static _Thread_local uint32_t id;

    if (!id)
        id = (uint32_t)syscall(SYS_gettid);
    return id;
}

/* Sets an error whose message names path, which is what a person typed. */
static bool refuse(const char *path, int why, struct error *e)
{
    char text[256];

    return error_set(e, WNNStatus_TypeError, "debug switch trace: %s: %s", escape_text(text, sizeof text, path, strlen(path)),
                     strerror(why));
}

struct trace *trace_open(const char *path, struct error *e)
{
    struct trace *t = calloc(1, sizeof *t);
    int why;

    if (!t || pthread_mutex_init(&t->lock, NULL) != 0) {
        free(t);
        return error_null_memory(e);
    }
    t->path = arena_string(&t->arena, path, strlen(path));
    t->opened = nanoseconds_now();
    /* If several contexts are told the same file, the one that is closed last has it. */
    if (!t->path)
        error_out_of_memory(e);
    else if (new_file_may_open(path, NEW_FILE_NO_LINKS, &why))
        return t;
    else
        refuse(path, why, e);
    arena_free(&t->arena);
    pthread_mutex_destroy(&t->lock);
    free(t);
    return NULL;
}

/* ---- collecting ---- */

static const char *copy_text(struct trace *t, const char *text)
{
    return arena_copy(&t->arena, text, strlen(text) + 1);
}

static uint32_t register_locked(struct trace *t, const struct trace_name *name)
{
    struct trace_name copy = *name;

    copy.category = copy_text(t, name->category);
    copy.name = copy_text(t, name->name);
    copy.implementation = copy_text(t, name->implementation);
    if (!copy.category || !copy.name || !copy.implementation)
        return UINT32_MAX;
    if (!array_extend(&t->names, t->name_count, sizeof *t->names))
        return UINT32_MAX;
    t->names[t->name_count] = copy;
    return t->name_count++;
}

uint32_t trace_register(struct trace *t, const struct trace_name *name)
{
    pthread_mutex_lock(&t->lock);
    uint32_t id = register_locked(t, name);
    pthread_mutex_unlock(&t->lock);
    return id;
}

void trace_add(struct trace *t, uint32_t name, uint64_t start, uint64_t end)
{
    uint32_t thread = this_thread();

    pthread_mutex_lock(&t->lock);
    if (name < t->name_count && t->span_count < TRACE_SPANS_MAX && array_extend(&t->spans, t->span_count, sizeof *t->spans))
        t->spans[t->span_count++] = (struct span){start, end, name, thread};
    else
        t->lost++;
    pthread_mutex_unlock(&t->lock);
}

void trace_span(struct trace *t, const char *category, const char *name, uint64_t start)
{
    uint64_t end = nanoseconds_now();

    if (t)
        trace_add(t, trace_register(t, &(struct trace_name){category, name, "", 0, 0}), start, end);
}

/* ---- writing ---- */

static void write_quoted(FILE *out, const char *text)
{
    json_print_string(out, text, strlen(text), JSON_REPLACE_BYTES);
}

static void write_span(const struct trace *t, const struct span *s, FILE *out)
{
    const struct trace_name *n = &t->names[s->name];
    double nanoseconds = (double)(s->end - s->start);

    fprintf(out, ",\n{\"ph\":\"X\",\"pid\":%ld,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"cat\":", (long)getpid(), s->thread,
            (double)(s->start - t->opened) * 1e-3, nanoseconds * 1e-3);
    write_quoted(out, n->category);
    fputs(",\"name\":", out);
    write_quoted(out, n->name);
    if (*n->implementation || n->flops > 0 || n->bytes > 0) {
        fputs(",\"args\":{\"implementation\":", out);
        write_quoted(out, n->implementation);
        if (n->flops > 0 && nanoseconds > 0)
            fprintf(out, ",\"GFLOP/s\":%.3f", n->flops / nanoseconds);
        if (n->bytes > 0 && nanoseconds > 0)
            fprintf(out, ",\"GB/s\":%.3f", n->bytes / nanoseconds);
        fputc('}', out);
    }
    fputc('}', out);
}

static bool write_file(const struct trace *t, struct error *e)
{
    int why;
    struct new_file *f = new_file_open(t->path, NEW_FILE_NO_LINKS, &why);
    FILE *file = f ? new_file_stream(f) : NULL;

    if (!f)
        return refuse(t->path, why, e);
    fprintf(file,
            "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"spansLost\":%llu},\"traceEvents\":[\n"
            "{\"ph\":\"M\",\"pid\":%ld,\"name\":\"process_name\",\"args\":{\"name\":\"webnn\"}}",
            (unsigned long long)t->lost, (long)getpid());
    for (uint32_t i = 0; i < t->span_count; i++)
        write_span(t, &t->spans[i], file);
    fputs("\n]}\n", file);
    return new_file_commit(f, &why) || refuse(t->path, why, e);
}

bool trace_close(struct trace *t, struct error *e)
{
    if (!t)
        return true;
    bool written = write_file(t, e);
    free(t->names);
    free(t->spans);
    arena_free(&t->arena);
    pthread_mutex_destroy(&t->lock);
    free(t);
    return written;
}
