/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This preloaded library lets one request of a process fail, whichever library makes it, and reports how the process ends.
 *
 * It reads the environment:
 * - FAULT_KIND=memory: requests are malloc and its relatives (operator new comes through malloc) and anonymous mappings;
 * - FAULT_KIND=threads: they are calls of pthread_create;
 * - FAULT_KIND=living-threads: they are threads alive at once, as a limit of the system's counts them;
 * - FAULT_AT: which request fails, counted from 1, or how many threads may live (0 lets nothing fail);
 * - FAULT_FOR: how many requests fail from there on (by default 1);
 * - FAULT_LATE: if it is set, counting starts when the program calls failing_process_start(), else when it calls main;
 * - FAULT_REPORT: a file that receives what follows.
 *
 * It writes lines of that file:
 * - "requests N": how many there were when the process exited, or the most threads alive at once;
 * - "failed LIBRARY": who made the request that failed first;
 * - "died SIGNAL LIBRARY": the process was ended by a signal, in code of that library;
 * - "exited LIBRARY": somebody else than the program called exit.
 *
 * A library is named by its file name.  Code of the C library, of the C++ run time and of this file stands for nothing itself:
 * its caller is named.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

enum kind { KIND_NONE, KIND_MEMORY, KIND_THREADS, KIND_LIVING_THREADS };

static enum kind chosen;
static _Atomic enum kind kind; /* chosen, once requests are counted */
static long fail_at, fail_for = 1;
static int report = -1;
static atomic_long requests;
static _Thread_local bool inside __attribute__((tls_model("initial-exec"))); /* what happens here does not count */

void failing_process_start(void);

/* ---- the report; nothing here allocates ---- */

static void write_line(const char *first, const char *second, const char *third)
{
    char line[512];
    size_t length = 0;
    const char *const parts[] = {first, " ", second, third ? " " : "", third ? third : "", "\n"};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (const char *c = parts[i]; *c && length < sizeof line; c++)
            line[length++] = *c;
    if (report >= 0 && write(report, line, length) < 0)
        return;
}

static const char *number_text(long number, char buffer[32])
{
    char *at = buffer + 31;

    *at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return at;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool stands_for_nothing(const char *library)
{
    static const char *const names[] = {"libc.so",  "libm.so",    "libstdc++",  "libgcc_s",
                                        "ld-linux", "linux-vdso", "libpthread", "libfailing_process"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(library, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Returns the library of the innermost frame that stands for something. */
static const char *responsible_library(void)
{
    void *frames[64];
    int count = backtrace(frames, 64);

    for (int i = 0; i < count; i++) {
        Dl_info info;

        if (!dladdr((char *)frames[i] - 1, &info) || !info.dli_fname)
            return "generated-code";
        const char *library = base_name(info.dli_fname);
        if (!stands_for_nothing(library))
            return library;
    }
    return "unknown";
}

static bool fails(enum kind what)
{
    if (kind != what || inside)
        return false;
    long number = atomic_fetch_add(&requests, 1) + 1;
    if (fail_at == 0 || number < fail_at || number - fail_at >= fail_for)
        return false;
    if (number == fail_at) {
        inside = true;
        write_line("failed", responsible_library(), NULL);
        inside = false;
    }
    return true;
}

/* ---- memory ---- */

static bool memory_fails(void)
{
    bool yes = fails(KIND_MEMORY);

    if (yes)
        errno = ENOMEM;
    return yes;
}

void *malloc(size_t size)
{
    return memory_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return memory_fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return memory_fails() ? NULL : __libc_realloc(memory, size);
}

void *reallocarray(void *memory, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(memory, bytes);
}

void *memalign(size_t alignment, size_t size)
{
    return memory_fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *got = memory_fails() ? NULL : __libc_memalign(alignment, size);

    if (!got)
        return ENOMEM;
    *memory = got;
    return 0;
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
    if (flags & MAP_ANONYMOUS && memory_fails())
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
    return mmap(address, length, protection, flags, file, offset);
}

/* ---- threads ---- */

static atomic_long living;

struct started {
    void *(*start)(void *);
    void *data;
};

static void ended(void *unused)
{
    atomic_fetch_sub(&living, 1);
}

static void *run_started(void *data)
{
    struct started s = *(struct started *)data;
    void *result = NULL;

    __libc_free(data);
    pthread_cleanup_push(ended, NULL);
    result = s.start(s.data);
    pthread_cleanup_pop(1);
    return result;
}

/* Returns whether one more thread may live; `requests` is the most that there have been. */
static bool may_live(void)
{
    long now = atomic_fetch_add(&living, 1) + 1, most = atomic_load(&requests);

    while (now > most && !atomic_compare_exchange_weak(&requests, &most, now))
        ;
    if (fail_at == 0 || now <= fail_at)
        return true;
    atomic_fetch_sub(&living, 1);
    return false;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (!real)
        real = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_create");
    if (atomic_load(&kind) != KIND_LIVING_THREADS)
        return fails(KIND_THREADS) ? EAGAIN : real(thread, attributes, start, data);
    struct started *s = may_live() ? __libc_malloc(sizeof *s) : NULL;
    if (!s)
        return EAGAIN;
    *s = (struct started){start, data};
    return real(thread, attributes, run_started, s);
}

/* ---- ends ---- */

static void on_signal(int signal)
{
    static atomic_bool once;
    char text[32];

    inside = true;
    if (!atomic_exchange(&once, true))
        write_line("died", number_text(signal, text), responsible_library());
    _exit(128 + signal);
}

__attribute__((noreturn)) void exit(int status)
{
    void (*real)(int) = (void (*)(int))dlsym(RTLD_NEXT, "exit");
    char text[32];
    Dl_info info;

    inside = true;
    if (dladdr((char *)__builtin_return_address(0) - 1, &info) && info.dli_fname &&
        !stands_for_nothing(base_name(info.dli_fname)))
        write_line("exited", base_name(info.dli_fname), NULL);
    write_line("requests", number_text(atomic_load(&requests), text), NULL);
    inside = false;
    real(status);
    _exit(status);
}

/* A program that returns from main does not come through `exit`. */
__attribute__((destructor)) static void at_end(void)
{
    char text[32];

    write_line("requests", number_text(atomic_load(&requests), text), NULL);
}

void failing_process_start(void)
{
    atomic_store(&kind, chosen);
}

__attribute__((constructor)) static void start(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
    const char *wanted = getenv("FAULT_KIND"), *at = getenv("FAULT_AT"), *number = getenv("FAULT_FOR"),
               *path = getenv("FAULT_REPORT");
    void *frames[2];

    if (!wanted)
        return;
    inside = true;
    backtrace(frames, 2); /* the first call loads what it needs */
    if (path)
        report = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};

        sigaction(signals[i], &action, NULL);
    }
    fail_at = at ? atol(at) : 0;
    fail_for = number ? atol(number) : 1;
    chosen = !strcmp(wanted, "memory")           ? KIND_MEMORY
             : !strcmp(wanted, "threads")        ? KIND_THREADS
             : !strcmp(wanted, "living-threads") ? KIND_LIVING_THREADS
                                                 : KIND_NONE;
    inside = false;
}

static int (*program)(int, char **, char **);

static int count_main(int argc, char **argv, char **variables)
{
    if (!getenv("FAULT_LATE"))
        failing_process_start();
    return program(argc, argv, variables);
}

/* The C library's, which calls main. */
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*begin)(void), void (*end)(void),
                      void (*unload)(void), void *stack)
{
    program = main;
    return ((__typeof__(&__libc_start_main))dlsym(RTLD_NEXT, "__libc_start_main"))(count_main, argc, argv, begin, end, unload,
                                                                                   stack);
}
