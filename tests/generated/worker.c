/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Child processes.  A model's time is limited by a timer of the child's processor time, its memory by the parent, which looks
 * at the child's resident pages: limits of the address space and sanitizers do not go together.
 */
#include "generated.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A child that says nothing for so long hangs without using its processor time. */
enum { SILENCE_SECONDS = 120 };

const char *gen_failure_name(enum gen_failure failure)
{
    static const char *const names[] = {"passed", "wrong", "time", "memory", "crash", "leak"};

    return names[failure];
}

bool gen_worker_init(struct gen_worker *w)
{
    memset(w, 0, sizeof *w);
    strcpy(w->log, "/tmp/generated-models-XXXXXX");
    int file = mkstemp(w->log);
    if (file < 0)
        return false;
    close(file);
    w->shared = mmap(NULL, sizeof *w->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return w->shared != MAP_FAILED;
}

void gen_worker_free(struct gen_worker *w)
{
    if (w->pid > 0) {
        kill(w->pid, SIGKILL);
        waitpid(w->pid, NULL, 0);
    }
    munmap(w->shared, sizeof *w->shared);
    unlink(w->log);
}

static _Noreturn void be_child(struct gen_worker *w, const struct gen_unit *unit, const struct gen_limits *limits)
{
    int log = open(w->log, O_WRONLY | O_TRUNC);
    struct rlimit none = {0, 0};

    if (log >= 0)
        dup2(log, STDERR_FILENO);
    setrlimit(RLIMIT_CORE, &none);
    if (unit)
        gen_unit_run(w->shared, unit, limits);
    else
        gen_unit_check(w->shared, limits);
    exit(0); /* sanitizers look for leaks */
}

void gen_worker_start(struct gen_worker *w, const struct gen_unit *unit, const struct gen_limits *limits)
{
    w->unit = unit ? *unit : (struct gen_unit){0};
    w->serial = w->shared->serial;
    w->changed = random_seconds();
    w->killed_for_memory = w->killed_for_time = false;
    w->shared->busy = false;
    fflush(NULL);
    w->pid = fork();
    if (!w->pid)
        be_child(w, unit ? &w->unit : NULL, limits);
}

void gen_worker_learn(struct gen_worker *w, uint64_t seed, const char *only)
{
    for (unsigned d = GEN_ONNX; d <= GEN_CALLS; d++) {
        size_t count;
        const struct gen_row *rows = gen_rows((enum gen_dialect)d, &count);

        for (size_t i = 0; i < count; i++) {
            int status;

            if (rows[i].refused || (only && strcmp(only, rows[i].name)))
                continue;
            fflush(NULL);
            pid_t pid = fork();
            if (!pid) {
                gen_unit_learn(w->shared, &(struct gen_unit){.seed = seed}, (enum gen_dialect)d, i, stdout);
                exit(0);
            }
            if (waitpid(pid, &status, 0) != pid || status)
                printf("%s: the child ended with status %d\n", rows[i].name, status);
        }
    }
}

uint64_t gen_resident_bytes(int pid)
{
    unsigned long all, resident = 0;
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    FILE *in = fopen(path, "r");
    if (in) {
        if (fscanf(in, "%lu %lu", &all, &resident) != 2)
            resident = 0;
        fclose(in);
    }
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void watch(struct gen_worker *w, const struct gen_limits *limits)
{
    const struct gen_shared *s = w->shared;
    uint32_t serial = s->serial;

    if (serial != w->serial) {
        w->serial = serial;
        w->changed = random_seconds();
    } else if (s->busy && gen_resident_bytes(w->pid) > s->base_rss + limits->memory && s->serial == serial) {
        w->killed_for_memory = true;
    } else if (random_seconds() - w->changed > SILENCE_SECONDS) {
        w->killed_for_time = true;
    }
    if (w->killed_for_memory || w->killed_for_time)
        kill(w->pid, SIGKILL);
}

bool gen_worker_poll(struct gen_worker *w, const struct gen_limits *limits, enum gen_failure *failure)
{
    int status;

    if (!waitpid(w->pid, &status, WNOHANG)) {
        watch(w, limits);
        return false;
    }
    w->pid = 0;
    if (WIFEXITED(status) && !WEXITSTATUS(status))
        *failure = GEN_PASSED;
    else if (w->killed_for_memory)
        *failure = GEN_FAILED_MEMORY;
    else if (w->killed_for_time || (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF))
        *failure = GEN_FAILED_TIME;
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
        *failure = GEN_FAILED_WRONG;
    else if (WIFEXITED(status) && (WEXITSTATUS(status) == 4 || !w->shared->busy))
        *failure = GEN_FAILED_LEAK; /* after the last model: found at the end of the process */
    else
        *failure = GEN_FAILED_CRASH;
    return true;
}

enum gen_failure gen_worker_check(struct gen_worker *w, const struct gen_model *m, uint32_t check_seed, bool leaks,
                                  const struct gen_limits *limits)
{
    enum gen_failure failure;

    w->shared->model = *m;
    w->shared->check_seed = check_seed;
    w->shared->check_leaks = leaks;
    gen_worker_start(w, NULL, limits);
    while (!gen_worker_poll(w, limits, &failure))
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    w->shared->check_leaks = false;
    return failure;
}
