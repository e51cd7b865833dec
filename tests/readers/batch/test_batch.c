/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lists of inputs, and batches of them whose reading and computing are the test's own. */
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "frontend/readers/batch/batch.h"
#include "frontend/readers/files/file.h"
#include "support/folder.h"

static void assert_paths(const struct batch_list *l, size_t count, const char *const *paths)
{
    for (size_t i = 0; i < count && i < l->count; i++)
        assert_string_equal(l->paths[i], paths[i]);
    assert_int_equal(l->count, count);
}

TEST(folder_becomes_its_files_by_name)
{
    const char *const expected[] = {"in/a", "in/b/x", "in/b/y", "in/c", "in/lost", "single"};
    struct batch_list l = {0};

    assert_int_equal(mkdir("in", 0700) | mkdir("in/b", 0700) | mkdir("in/.git", 0700) | mkdir("in/empty", 0700), 0);
    write_text("in/c", "");
    write_text("in/a", "");
    write_text("in/b/y", "");
    write_text("in/b/x", "");
    write_text("in/.hidden", "");
    write_text("in/.git/config", "");
    assert_int_equal(mkfifo("in/pipe", 0600), 0);
    assert_int_equal(symlink("nowhere", "in/lost"), 0);
    assert_int_equal(symlink("..", "in/b/loop"), 0);
    assert_true(batch_is_folder("in"));
    assert_false(batch_is_folder("in/a"));
    assert_true(batch_list_add(&l, "in", NULL));
    assert_true(batch_list_add(&l, "single", NULL));
    assert_paths(&l, 6, expected);
    batch_list_free(&l);
    assert_int_equal(l.count, 0);
}

TEST(list_has_a_path_in_each_line)
{
    const char *const expected[] = {"one.png", "two words.png", "listed/x", "last"};
    struct batch_list l = {0};
    struct error e = {0};

    assert_int_equal(mkdir("listed", 0700), 0);
    write_text("listed/x", "");
    write_text("list", "one.png\n\ntwo words.png\r\nlisted\nlast");
    assert_true(batch_list_read(&l, "list", &e));
    assert_paths(&l, 4, expected);
    assert_false(batch_list_read(&l, "absent", &e));
    assert_string_equal(e.message, "absent: No such file or directory");
    assert_false(batch_list_read(&l, "listed", &e));
    assert_string_equal(e.message, "listed: Is a directory");
    batch_list_free(&l);
}

/* ---- batches ---- */

/** Counts what happens to slots; reading a path that begins with "r" fails, and so does computing one with "c". */
struct tally {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char *held[BATCH_SLOTS]; /* the path that each slot holds */
    size_t reads, computed, dropped;
    bool wait_for_reader; /* the first computation waits until the second input is read */
};

static bool tally_read(void *user, size_t slot, const char *path, struct error *e)
{
    struct tally *t = user;

    pthread_mutex_lock(&t->lock);
    t->reads++;
    if (slot >= BATCH_SLOTS || t->held[slot])
        t->reads += 1000; /* a slot that is in use */
    else if (*path != 'r')
        t->held[slot] = path;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    file_error(e, "cannot read \"%s\"", path);
    return *path != 'r';
}

static bool tally_compute(void *user, size_t slot, FILE *members, struct error *e)
{
    struct tally *t = user;
    struct timespec until;
    int late = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    pthread_mutex_lock(&t->lock);
    while (t->wait_for_reader && t->reads < 2 && !late)
        late = pthread_cond_timedwait(&t->changed, &t->lock, &until);
    const char *path = t->held[slot];
    t->held[slot] = NULL;
    t->computed++;
    pthread_mutex_unlock(&t->lock);
    fprintf(members, "\"half\": ");
    file_error(e, "cannot compute");
    if (!path || *path == 'c' || late)
        return false;
    batch_print_string(members, path);
    fprintf(members, ", \"none\": ");
    batch_print_number(members, 0.0 / (double)(t->computed == 0));
    return true;
}

static void tally_drop(void *user, size_t slot)
{
    struct tally *t = user;

    assert_non_null(t->held[slot]);
    t->held[slot] = NULL;
    t->dropped++;
}

/** Runs a batch over paths "PREFIX0", "PREFIX1", ... of which prefixes has one character each.  Returns batch_run's result. */
static bool run_tally(struct tally *t, const char *prefixes, FILE *out, size_t *failed)
{
    const struct batch_work work = {"test", t, tally_read, tally_compute, tally_drop};
    struct batch_list l = {0};
    char path[32];

    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    for (size_t i = 0; prefixes[i]; i++) {
        snprintf(path, sizeof path, "%c%zu", prefixes[i], i);
        assert_true(batch_list_add(&l, path, NULL));
    }
    bool ok = batch_run(&l, &work, out, true, failed);
    for (size_t i = 0; i < BATCH_SLOTS; i++)
        assert_null(t->held[i]);
    batch_list_free(&l);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    return ok;
}

TEST(each_input_has_a_line_in_order)
{
    static const char prefixes[] = "\"orococ\x80oooooooooorooooooooooooc";
    char *text = NULL, *line;
    size_t length = 0, failed = 99, i = 0;
    FILE *out = open_memstream(&text, &length);
    struct tally t = {0};

    assert_non_null(out);
    assert_true(run_tally(&t, prefixes, out, &failed));
    fclose(out);
    assert_int_equal(failed, 5);
    assert_int_equal(t.reads, sizeof prefixes - 1);
    assert_int_equal(t.computed, sizeof prefixes - 1 - 2);
    assert_int_equal(t.dropped, 0);
    for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), i++) {
        OWNED(json) cJSON *j = cJSON_ParseWithOpts(line, NULL, true);
        const cJSON *error = cJSON_GetObjectItem(j, "error"), *half = cJSON_GetObjectItem(j, "half");
        char path[32];

        if (!j)
            fail_msg("no JSON: %s", line);
        snprintf(path, sizeof path, "%.*s%zu", prefixes[i] == '\x80' ? 3 : 1, prefixes[i] == '\x80' ? "\uFFFD" : prefixes + i,
                 i);
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(j, "input")), path);
        if (prefixes[i] == 'r') {
            snprintf(path, sizeof path, "cannot read \"r%zu\"", i);
            assert_string_equal(cJSON_GetStringValue(error), path);
        } else if (prefixes[i] == 'c') {
            assert_string_equal(cJSON_GetStringValue(error), "cannot compute");
        } else {
            assert_null(error);
            assert_string_equal(cJSON_GetStringValue(half), path);
            assert_true(cJSON_IsNull(cJSON_GetObjectItem(j, "none")));
        }
    }
    assert_int_equal(i, sizeof prefixes - 1);
    free(text);
}

TEST(inputs_are_read_while_others_are_computed)
{
    struct tally t = {.wait_for_reader = true};
    FILE *out = fopen("/dev/null", "w");
    size_t failed;

    assert_non_null(out);
    assert_true(run_tally(&t, "ooo", out, &failed));
    fclose(out);
    assert_int_equal(failed, 0);
}

TEST(batch_ends_when_lines_cannot_be_written)
{
    struct tally t = {0};
    FILE *out = fopen("/dev/full", "w");
    size_t failed;

    if (!out)
        skip();
    assert_false(run_tally(&t, "oooooooooooooooooooo", out, &failed));
    fclose(out);
    assert_int_equal(t.computed, 1);
    assert_int_equal(t.computed + t.dropped, t.reads);
}

TEST(empty_batch_prints_nothing)
{
    struct tally t = {0};
    size_t failed = 1;

    assert_true(run_tally(&t, "", stdout, &failed));
    assert_int_equal(failed, 0);
}

TEST_GROUP(enter_folder, leave_folder)
