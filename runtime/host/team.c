/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements teams.  `claims[p]` is the number of the region whose part p no thread has begun, else 0: a worker that is late by
 * a region or more changes nothing, since the number of its region is in no claim any more.
 */
#define _GNU_SOURCE
#include "runtime/host/team.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ir/support/clock.h"
#include "ir/support/environment.h"
#include "runtime/host/float_mode.h"
#include "runtime/host/own_thread.h"
#include "runtime/host/strand.h"
#include "webnn/webnn_object.h"

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

enum {
    CACHE_LINE = 64,
    PAUSES = 32,                  /* of the processor between two looks at the clock */
    SPIN_NANOSECONDS = 10000,     /* of spinning before a thread gives way to others between two looks */
    AWAKE_NANOSECONDS = 200000,   /* before it sleeps: longer than what lies between two regions of a network */
    ACTIVE_NANOSECONDS = 5000000, /* the same with OMP_WAIT_POLICY=active: longer than what lies between two networks */
    STALL_NANOSECONDS = 200000,   /* that a caller waits longer for the others than it computed: their processor is taken */
    ALONE_FIRST_NANOSECONDS = 4000000, /* for which it then computes alone at first, about a slice of the scheduler's */
    ALONE_MAX_NANOSECONDS = 128000000,
    CALM_FACTOR = 4, /* times the time alone must pass without a stall until it is halved, so that stalls cost little */
    KEPT_MAX = 4,    /* released teams that keep their threads */
};

struct region {
    team_body *body;
    void *user;
    uint32_t parts, number;
};

struct worker {
    struct team *team;
    pthread_t thread;
    uint32_t index; /* of the part that it claims first: the same part of the next region finds its caches warm */
};

struct team {
    struct team *next;                            /* of the released ones */
    const struct webnn_object_parallel *parallel; /* NULL: it has threads */
    struct worker *workers;                       /* NULL with a parallel-for: threads of the application take their place */
    struct strands *strands;                      /* with a parallel-for: one per part */
    uint32_t worker_count, claims_max;
    atomic_uint *claims;
    struct region region;
    bool notified; /* of the region: workers that sleep were woken */
    bool calls;    /* the parallel-for, which may call back */

    /* What the caller has seen of stalls. */
    uint64_t alone_until, alone_for;
    uint64_t calm_since; /* no stall was seen since then, and the time alone is what it is */

    _Alignas(CACHE_LINE) atomic_uint posted; /* the number of the last region; workers sleep on it */
    atomic_uint sleepers;
    atomic_bool ends;
    _Alignas(CACHE_LINE) atomic_uint done; /* parts that workers have finished; the caller sleeps on it */
    atomic_uint caller_sleeps;
    _Alignas(CACHE_LINE) atomic_uint arrived; /* at the barrier */
    atomic_uint barriers;                     /* that were passed; parts sleep on it */
};

struct position {
    struct team *team;
    uint32_t part, parts;
    struct strand *strand; /* that computes the part; NULL: the thread itself */
    team_body *body;
    void *user;
};

static _Thread_local struct position position = {.parts = 1};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct team *released;
static uint32_t released_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t awake_nanoseconds = AWAKE_NANOSECONDS;

/* ---- waiting ---- */

static void futex_wait(atomic_uint *word, unsigned value)
{
    syscall(SYS_futex, (unsigned *)word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(atomic_uint *word, int count)
{
    syscall(SYS_futex, (unsigned *)word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static void pause_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* One turn of a loop that waits since `*since` (0: since now).  Returns false when it is time to sleep. */
static bool wait_awake(uint64_t *since)
{
    uint64_t now = nanoseconds_now();

    if (*since == 0)
        *since = now;
    if (now - *since >= awake_nanoseconds)
        return false;
    if (now - *since >= SPIN_NANOSECONDS) /* another thread may need the processor, perhaps the one that is waited for */
        sched_yield();
    for (int i = 0; i < PAUSES; i++)
        pause_processor();
    return true;
}

/* Waits while *word is `value`; `sleepers` counts sleeping threads. */
static void wait_change(atomic_uint *word, unsigned value, atomic_uint *sleepers)
{
    uint64_t since = 0;

    for (int i = 0; i < PAUSES; i++) { /* without the clock */
        if (atomic_load_explicit(word, memory_order_acquire) != value)
            return;
        pause_processor();
    }
    while (atomic_load_explicit(word, memory_order_acquire) == value)
        if (!wait_awake(&since)) {
            atomic_fetch_add(sleepers, 1);
            while (atomic_load(word) == value)
                futex_wait(word, value);
            atomic_fetch_sub(sleepers, 1);
            return;
        }
}

/* ---- parts ---- */

static void compute(struct team *t, const struct region *r, uint32_t part, struct strand *strand)
{
    struct position before = position;

    position = (struct position){t, part, r->parts, strand, r->body, r->user};
    r->body(r->user, part, r->parts);
    position = before;
}

/* Claims a part of region `number`, `first` if it can be had. */
static bool claim(struct team *t, uint32_t number, uint32_t parts, uint32_t first, uint32_t *part)
{
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t p = first + i < parts ? first + i : first + i - parts;
        unsigned expected = number;

        if (atomic_load_explicit(&t->claims[p], memory_order_relaxed) == number &&
            atomic_compare_exchange_strong_explicit(&t->claims[p], &expected, 0, memory_order_acquire, memory_order_relaxed)) {
            *part = p;
            return true;
        }
    }
    return false;
}

/* Computes a part that was claimed. */
static void compute_claimed(struct team *t, uint32_t part, struct strand *strand)
{
    struct region r = t->region;

    compute(t, &r, part, strand);
    atomic_fetch_add(&t->done, 1);
    if (atomic_load(&t->caller_sleeps))
        futex_wake(&t->done, 1);
}

/* These are the calling thread's strands: each waits at a barrier of the team that the thread computes for. */
static _Thread_local struct strand *pending;

static void strand_main(void *user, uint32_t part, struct strand *self)
{
    compute_claimed(user, part, self);
}

/*
 * Lets another part compute on the calling thread: one whose barrier was passed, else one that no thread has begun.  Returns
 * false if there is none.
 */
static bool advance(struct team *t)
{
    struct position before = position;
    struct strand **at = &pending;
    uint32_t part;

    if (!t->parallel)
        return false;
    while (*at && strand_seen(*at) == atomic_load(&t->barriers))
        at = strand_next(*at);
    if (!*at) {
        if (!claim(t, atomic_load_explicit(&t->posted, memory_order_acquire), t->claims_max, 0, &part))
            return false;
        at = &pending;
        strand_begin(t->strands, part, strand_main, t, at);
    }
    strand_continue(at);
    position = before;
    return true;
}

/* Waits a moment, or sleeps, unless a barrier was passed after the `seen` ones that the caller knows of. */
static void await_barrier(struct team *t, unsigned seen, uint64_t *since)
{
    if (atomic_load(&t->barriers) == seen && !wait_awake(since))
        futex_wait(&t->barriers, seen);
}

/*
 * Computes what can be claimed of a region.  How many parts it has may be read only after a claim, because until then the
 * caller may post another region; all claims are looked at instead.
 */
static void work(struct team *t, uint32_t number, uint32_t index)
{
    uint32_t part;

    while (claim(t, number, t->claims_max, index < t->claims_max ? index : 0, &part))
        compute_claimed(t, part, NULL);
    for (uint64_t since = 0; pending;) /* parts that this thread began at other parts' barriers */
        if (advance(t))
            since = 0;
        else
            await_barrier(t, strand_seen(pending), &since);
}

/* Is a task of the application's parallel-for. */
static void join_region(void *data, uint32_t task, uint32_t tasks)
{
    struct team *t = data;
    int mode = float_mode_set_default();

    (void)tasks;
    work(t, atomic_load_explicit(&t->posted, memory_order_acquire), task);
    float_mode_restore(mode);
}

static void *worker_main(void *data)
{
    struct worker *w = data;
    struct team *t = w->team;
    unsigned seen = 0;

    (void)float_mode_set_default(); /* the thread that created this one may have another */
    while (!atomic_load(&t->ends)) {
        wait_change(&t->posted, seen, &t->sleepers);
        seen = atomic_load_explicit(&t->posted, memory_order_acquire);
        work(t, seen, w->index);
    }
    return NULL;
}

/* ---- teams ---- */

/* The workers of the parent are not there in a child; what it needs it creates again. */
static void forget_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    released = NULL;
    released_count = 0;
    position = (struct position){.parts = 1};
}

static void initialize(void)
{
    const char *policy = environment_get("OMP_WAIT_POLICY");

    if (policy && !strcasecmp(policy, "passive"))
        awake_nanoseconds = 0;
    else if (policy && !strcasecmp(policy, "active"))
        awake_nanoseconds = ACTIVE_NANOSECONDS;
    pthread_atfork(NULL, NULL, forget_in_child);
}

static void team_free(struct team *t)
{
    strands_free(t->strands);
    free(t->claims);
    free(t->workers);
    free(t);
}

static void team_end(struct team *t)
{
    atomic_store(&t->ends, true);
    atomic_fetch_add(&t->posted, 1);
    futex_wake(&t->posted, INT_MAX);
    for (uint32_t i = 0; t->workers && i < t->worker_count; i++)
        pthread_join(t->workers[i].thread, NULL);
    team_free(t);
}

static void start_workers(struct team *t, uint32_t count)
{
    for (; t->worker_count < count; t->worker_count++) {
        struct worker *w = &t->workers[t->worker_count];

        *w = (struct worker){.team = t, .index = t->worker_count + 1};
        if (!own_thread_start(&w->thread, NULL, worker_main, w))
            break;
        pthread_setname_np(w->thread, "webnn-worker");
    }
}

static struct team *team_create(uint32_t workers, const struct webnn_object_parallel *parallel)
{
    struct team *t = aligned_alloc(CACHE_LINE, sizeof *t);

    if (!t)
        return NULL;
    *t = (struct team){.claims_max = workers + 1,
                       .parallel = parallel,
                       .alone_for = ALONE_FIRST_NANOSECONDS,
                       .claims = calloc((size_t)workers + 1, sizeof *t->claims)};
    if (parallel)
        t->strands = strands_create(workers + 1);
    else
        t->workers = calloc(workers, sizeof *t->workers);
    if (!t->claims || (parallel ? !t->strands : !t->workers)) {
        team_free(t);
        return NULL;
    }
    if (parallel)
        t->worker_count = workers;
    else
        start_workers(t, workers);
    return t;
}

struct team *team_acquire(uint32_t workers, const struct webnn_object_parallel *parallel)
{
    struct team *t = NULL;

    pthread_once(&once, initialize);
    pthread_mutex_lock(&lock);
    for (struct team **at = &released; *at; at = &(*at)->next)
        if ((*at)->worker_count >= workers && !(*at)->parallel == !parallel) {
            t = *at;
            *at = t->next;
            released_count--;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (t)
        t->parallel = parallel;
    return t ? t : team_create(workers, parallel);
}

void team_release(struct team *t)
{
    struct team **at = &released, *ending = t;

    pthread_mutex_lock(&lock);
    if (t->worker_count > 0) { /* in front: the next thread finds the one whose workers are awake */
        t->next = released;
        released = t;
        ending = NULL;
    }
    if (!ending && ++released_count > KEPT_MAX) { /* the last, which is of no use to those that came since */
        while ((*at)->next)
            at = &(*at)->next;
        ending = *at;
        *at = NULL;
        released_count--;
    }
    pthread_mutex_unlock(&lock);
    if (ending)
        team_end(ending);
}

uint32_t team_workers(const struct team *t)
{
    return t ? t->worker_count : 0;
}

bool team_serves(const struct team *t, uint32_t workers, const struct webnn_object_parallel *parallel)
{
    return t && t->worker_count >= workers && t->parallel == parallel && !t->calls;
}

/* ---- regions ---- */

static void notify(struct team *t)
{
    uint32_t others = t->region.parts - 1;

    t->notified = true;
    atomic_store(&t->posted, t->region.number); /* sequentially consistent, as is counting sleepers */
    if (atomic_load(&t->sleepers) > 0)
        futex_wake(&t->posted, others < t->worker_count ? (int)others : (int)t->worker_count);
}

/* Waits for the workers that have begun a part, `own` being the parts that the caller has computed. */
static void await_others(struct team *t, uint32_t own)
{
    unsigned wanted = t->region.parts - own, done;

    while ((done = atomic_load_explicit(&t->done, memory_order_acquire)) != wanted)
        wait_change(&t->done, done, &t->caller_sleeps);
}

/*
 * Decides about computing alone after a region that began at `start`, of which the caller computed its own parts until
 * `own_end`: waiting for longer than that took, and than a worker's coming late explains, means that a worker does not run.
 */
static void update_backoff(struct team *t, uint64_t start, uint64_t own_end)
{
    uint64_t now = nanoseconds_now();

    if (now - own_end > own_end - start + STALL_NANOSECONDS) {
        t->alone_until = now + t->alone_for;
        t->alone_for = t->alone_for * 2 < ALONE_MAX_NANOSECONDS ? t->alone_for * 2 : ALONE_MAX_NANOSECONDS;
        t->calm_since = t->alone_until;
    } else if (t->alone_for > ALONE_FIRST_NANOSECONDS && now - t->calm_since >= CALM_FACTOR * t->alone_for) {
        t->alone_for /= 2;
        t->calm_since = now;
    }
}

static void run_alone(team_body *body, void *user, uint32_t parts)
{
    struct region r = {body, user, parts, 0};

    for (uint32_t part = 0; part < parts; part++)
        compute(NULL, &r, part, NULL);
}

/* Posts a region's parts from `first` on.  Returns how many of all can be claimed: there may be more than threads. */
static uint32_t post(struct team *t, struct region r, uint32_t first)
{
    uint32_t posted = r.parts < t->claims_max ? r.parts : t->claims_max;

    r.number = t->region.number + 1 ? t->region.number + 1 : 1;
    t->region = r;
    t->notified = false;
    atomic_store_explicit(&t->done, 0, memory_order_relaxed);
    atomic_store_explicit(&t->arrived, 0, memory_order_relaxed);
    for (uint32_t i = first; i < posted; i++)
        atomic_store_explicit(&t->claims[i], r.number, memory_order_release);
    return posted;
}

/* What the parallel-for's tasks have not begun when it returns, the calling thread computes. */
static void run_on_parallel(struct team *t, struct region r, bool stays)
{
    const struct webnn_object_parallel *p = t->parallel;
    uint32_t posted = post(t, r, 0), tasks = posted < p->threads ? posted : p->threads;

    atomic_store_explicit(&t->posted, t->region.number, memory_order_release);
    t->calls = true;
    if (!stays && tasks > 1)
        p->run(p->user, tasks, join_region, t);
    t->calls = false;
    for (uint32_t i = posted; i < r.parts; i++)
        compute(t, &t->region, i, NULL);
    work(t, t->region.number, 0);
    await_others(t, r.parts - posted);
}

void team_run(struct team *t, uint32_t parts, bool synchronizes, bool stays, team_body *body, void *user)
{
    if (parts <= 1 || (stays && !synchronizes) || position.parts > 1 || !t || t->worker_count == 0 ||
        (synchronizes && parts > t->worker_count + 1)) {
        run_alone(body, user, parts);
        return;
    }
    if (t->parallel) {
        run_on_parallel(t, (struct region){body, user, parts, 0}, stays);
        return;
    }
    uint64_t start = nanoseconds_now();
    bool alone = stays || t->alone_until > start;
    if (alone && !synchronizes) {
        run_alone(body, user, parts);
        return;
    }
    uint32_t posted = post(t, (struct region){body, user, parts, 0}, 1), own = 1, part;

    if (!alone)
        notify(t);
    compute(t, &t->region, 0, NULL);
    for (uint32_t i = posted; i < parts; i++, own++) /* more than there are threads */
        compute(t, &t->region, i, NULL);
    while (claim(t, t->region.number, posted, 1, &part)) {
        compute(t, &t->region, part, NULL);
        own++;
    }
    if (own == parts)
        return;
    uint64_t own_end = nanoseconds_now();

    await_others(t, own);
    update_backoff(t, start, own_end);
}

uint32_t team_part(void)
{
    return position.part;
}

uint32_t team_parts(void)
{
    return position.parts;
}

void *team_user(team_body *body)
{
    return position.body == body ? position.user : NULL;
}

void team_barrier(void)
{
    struct team *t = position.team;
    uint32_t parts = position.parts;

    if (!t || parts <= 1)
        return;
    if (!t->parallel && position.part == 0 && !t->notified)
        notify(t);
    unsigned passed = atomic_load(&t->barriers);

    if (atomic_fetch_add(&t->arrived, 1) + 1 == parts) {
        atomic_store(&t->arrived, 0);
        atomic_fetch_add(&t->barriers, 1);
        futex_wake(&t->barriers, INT_MAX);
        return;
    }
    if (position.strand) {
        struct position here = position;

        strand_wait(here.strand, passed);
        position = here; /* other parts have computed on this thread */
        return;
    }
    uint64_t since = 0;
    while (atomic_load(&t->barriers) == passed)
        if (!advance(t))
            await_barrier(t, passed, &since);
}
