/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threads read ahead while the caller computes.
 *
 * Input i is read into slot i % BATCH_SLOTS by any reader.  Readers claim inputs in order and stop when the slot of the
 * next one is still in use.  The caller computes in order, too; where no reader has claimed its next input, it reads that
 * itself, so that it depends on no thread having begun.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/readers/batch/batch.h"
#include "ir/support/clock.h"
#include "ir/support/json.h"
#include "ir/support/text.h"

enum { PROGRESS_MS = 200 };

struct slot {
    bool ready, ok;
    struct error error;
};

struct batch {
    const struct batch_list *list;
    const struct batch_work *work;
    pthread_mutex_t lock;   /* guards all below */
    pthread_cond_t is_read; /* a slot became ready */
    pthread_cond_t is_free; /* a slot became free, or stop was set */
    size_t next, done;      /* the first input that is not claimed, and the first whose slot is in use */
    bool stop;
    struct slot slots[BATCH_SLOTS];
};

/** Shows how far a batch is.  Only the caller of batch_run uses it. */
struct progress {
    bool wanted, shown;
    double start_ms, last_ms;
};

/* ---- reading ahead ---- */

/** Claims the next input and reads it.  The lock is held, but not while the file is read. */
static void read_next(struct batch *b)
{
    const size_t i = b->next++;
    struct slot *s = &b->slots[i % BATCH_SLOTS];

    pthread_mutex_unlock(&b->lock);
    s->error = (struct error){0};
    bool ok = b->work->read(b->work->user, i % BATCH_SLOTS, b->list->paths[i], &s->error);
    pthread_mutex_lock(&b->lock);
    s->ok = ok;
    s->ready = true;
    pthread_cond_signal(&b->is_read);
}

static void *read_ahead(void *user)
{
    struct batch *b = user;

    pthread_mutex_lock(&b->lock);
    while (!b->stop && b->next < b->list->count) {
        if (b->next < b->done + BATCH_SLOTS)
            read_next(b);
        else
            pthread_cond_wait(&b->is_free, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/** Waits until an input is read and returns its slot. */
static struct slot *wait_for(struct batch *b, size_t i)
{
    struct slot *s = &b->slots[i % BATCH_SLOTS];

    pthread_mutex_lock(&b->lock);
    while (!s->ready) {
        if (b->next == i)
            read_next(b);
        else
            pthread_cond_wait(&b->is_read, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return s;
}

static void give_slot_back(struct batch *b, struct slot *s)
{
    pthread_mutex_lock(&b->lock);
    s->ready = false;
    b->done++;
    pthread_cond_broadcast(&b->is_free);
    pthread_mutex_unlock(&b->lock);
}

/** Ends the readers and drops what they have read. */
static void stop_reading(struct batch *b, size_t count, const pthread_t *readers)
{
    pthread_mutex_lock(&b->lock);
    b->stop = true;
    pthread_cond_broadcast(&b->is_free);
    pthread_mutex_unlock(&b->lock);
    for (size_t i = 0; i < count; i++)
        pthread_join(readers[i], NULL);
    for (size_t i = 0; i < BATCH_SLOTS; i++)
        if (b->slots[i].ready && b->slots[i].ok)
            b->work->drop(b->work->user, i);
}

/* ---- progress ---- */

static void hide_progress(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

static void show_progress(struct progress *p, const char *program, size_t done, size_t count, size_t failed)
{
    const double now = milliseconds_now(), seconds = (now - p->start_ms) / 1e3, rate = seconds > 0 ? (double)done / seconds : 0;

    if (!p->wanted || now - p->last_ms < PROGRESS_MS)
        return;
    p->last_ms = now;
    fprintf(stderr, "\r\033[K%s: %zu of %zu inputs", program, done, count);
    if (failed)
        fprintf(stderr, ", %zu failed", failed);
    if (rate > 0)
        fprintf(stderr, ", %.1f per second, %.0f s left", rate, ceil((double)(count - done) / rate));
    fflush(stderr);
    p->shown = true;
}

/* ---- lines ---- */

void batch_print_number(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, "%.9g", x);
    else
        fputs("null", out);
}

void batch_print_string(FILE *out, const char *text)
{
    json_print_string(out, text, strlen(text), JSON_REPLACE_BYTES);
}

static void print_line(FILE *out, const char *path, bool ok, const char *members, const char *message)
{
    fputs("{\"input\": ", out);
    batch_print_string(out, path);
    if (ok) {
        fprintf(out, "%s%s}\n", *members ? ", " : "", members);
    } else {
        fputs(", \"error\": ", out);
        batch_print_string(out, message);
        fputs("}\n", out);
    }
}

/** Computes an input that was read and prints its line.  Returns false if memory runs out or the line was not written. */
static bool compute_one(const struct batch *b, size_t i, struct slot *s, FILE *out, bool *ok)
{
    char *members = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&members, &length);

    if (!text) {
        if (s->ok)
            b->work->drop(b->work->user, i % BATCH_SLOTS);
        return false;
    }
    *ok = s->ok && b->work->compute(b->work->user, i % BATCH_SLOTS, text, &s->error);
    const bool written = memory_stream_close(text, &members);
    if (written)
        print_line(out, b->list->paths[i], *ok, members, s->error.message);
    free(members);
    /* Each line leaves at once: who reads them may be waiting, and what follows may end the program. */
    return written && !fflush(out) && !ferror(out);
}

static bool compute_all(struct batch *b, FILE *out, struct progress *p, size_t *failed)
{
    for (size_t i = 0; i < b->list->count; i++) {
        struct slot *s = wait_for(b, i);
        bool ok = false, written;

        if (p->shown && isatty(STDOUT_FILENO)) { /* the line would be printed after it */
            hide_progress(p);
            p->last_ms = 0;
        }
        written = compute_one(b, i, s, out, &ok);
        *failed += !ok;
        give_slot_back(b, s);
        if (!written)
            return false;
        show_progress(p, b->work->program, i + 1, b->list->count, *failed);
    }
    return true;
}

bool batch_run(const struct batch_list *l, const struct batch_work *w, FILE *out, bool show, size_t *failed)
{
    struct batch b = {.list = l, .work = w};
    struct progress p = {.wanted = show && isatty(STDERR_FILENO), .start_ms = milliseconds_now()};
    pthread_t readers[BATCH_READERS];
    size_t count = 0;

    pthread_mutex_init(&b.lock, NULL);
    pthread_cond_init(&b.is_read, NULL);
    pthread_cond_init(&b.is_free, NULL);
    while (count < BATCH_READERS && !pthread_create(&readers[count], NULL, read_ahead, &b))
        count++;
    *failed = 0;
    bool ok = compute_all(&b, out, &p, failed);
    stop_reading(&b, count, readers);
    hide_progress(&p);
    pthread_cond_destroy(&b.is_free);
    pthread_cond_destroy(&b.is_read);
    pthread_mutex_destroy(&b.lock);
    if (!ok)
        fprintf(stderr, "%s: the results could not be written, or memory has run out\n", w->program);
    else if (*failed)
        fprintf(stderr, "%s: %zu of %zu inputs failed; their lines say why\n", w->program, *failed, l->count);
    return ok;
}
