/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs parallel regions on teams, and oneDNN's with them; where oneDNN's cannot be led there, both on libgomp's pool.
 */
#include "runtime/host/threads.h"

#include <stdatomic.h>
#include <stddef.h>

#include "ir/support/environment.h"
#include "runtime/host/float_mode.h"
#include "runtime/host/team.h"
#include "runtime/host/openmp.h"

/* This is what libgomp reads from the environment and from the program. */
int omp_get_max_threads(void);
int omp_get_num_procs(void);
int omp_in_parallel(void);

/* Whose threads compute regions.  It is decided before the first region of the library that brings its own. */
static atomic_bool on_libgomp;

static _Thread_local struct threads_entered entered;

uint32_t threads_default_count(bool ignore_environment)
{
    int count = ignore_environment || environment_is_ignored() ? omp_get_num_procs() : omp_get_max_threads();

    return count > 1 ? (uint32_t)count : 1;
}

bool threads_in_region(void)
{
    return omp_in_parallel() != 0 || team_parts() > 1;
}

/* ---- which threads ---- */

bool threads_lead_here(const void *function)
{
    bool leads = openmp_redirect(function);

    atomic_store(&on_libgomp, !leads);
    return leads;
}

uint32_t threads_ready(uint32_t count, const struct webnn_object_parallel *parallel)
{
    static _Thread_local uint32_t team; /* what the calling thread has had */

    if (parallel)
        return count;
    if (atomic_load(&on_libgomp))
        return libgomp_ready(count);
    if (count <= 1 || count <= team || threads_in_region())
        return count;
    struct team *t = team_acquire(count - 1, NULL);
    uint32_t got = team_workers(t) + 1;

    if (t)
        team_release(t);
    return team = got < count ? got : count;
}

struct threads_saved threads_enter(uint32_t count, const struct webnn_object_parallel *parallel)
{
    struct threads_saved saved = {entered, {0, false}, false, 0};

    if (count > 0) {
        if (!parallel && atomic_load(&on_libgomp)) {
            saved.settings = libgomp_enter(count);
            entered = (struct threads_entered){NULL, count, true, false};
        } else if (count > 1 && !team_serves(entered.team, count - 1, parallel)) {
            struct team *t = team_acquire(count - 1, parallel);

            saved.acquired = t != NULL;
            entered = (struct threads_entered){t, count, false, false};
        } else {
            entered.count = count;
            entered.on_libgomp = false;
        }
    }
    saved.mode = float_mode_set_default();
    return saved;
}

void threads_leave(struct threads_saved saved)
{
    if (entered.on_libgomp)
        libgomp_leave(saved.settings);
    if (saved.acquired)
        team_release(entered.team);
    entered = saved.entered;
    float_mode_restore(saved.mode);
}

bool threads_are_own(void)
{
    return !atomic_load(&on_libgomp);
}

void threads_stay(void)
{
    entered.stays = true;
}

uint32_t threads_entered(void)
{
    return entered.on_libgomp ? 0 : entered.count;
}

uint32_t threads_team(void)
{
    uint32_t team = entered.on_libgomp ? entered.count : team_workers(entered.team) + 1;

    return team < entered.count ? team : entered.count;
}

/* ---- regions ---- */

void threads_run(uint32_t parts, threads_body *body, void *user)
{
    if (parts <= 1)
        body(user, 0, 1);
    else if (entered.on_libgomp)
        libgomp_run(parts, body, user);
    else
        team_run(entered.team, parts, false, entered.stays, body, user);
}

void threads_run_synchronized(uint32_t parts, threads_body *body, void *user)
{
    team_run(entered.team, parts, true, entered.stays, body, user);
}
