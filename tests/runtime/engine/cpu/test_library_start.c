/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A build learns that the library did not start for it, whatever other builds of the engine do meanwhile, and those do not.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "ir/graph/ir.h"
#include "ir/program.h"
#include "runtime/engine/cpu/engine_cpu.h"
#include "support/test.h"

/* Begins a build, asks the library as passes do, and loads a program without steps. */
static bool build(struct engine *en, void (*meanwhile)(struct engine *en), struct error *e)
{
    const struct target *t = en->functions->target(en, e);
    struct program p = {.engine = en};

    if (!t)
        return false;
    (void)t->takes_node(t->user, &(struct node){.op = OP_RELU});
    if (meanwhile)
        meanwhile(en);
    struct executable *x = en->functions->load(en, &p, e);
    if (x)
        en->functions->unload(x);
    program_free(&p);
    return x != NULL;
}

#ifndef __SANITIZE_ADDRESS__ /* which needs memory of its own */

struct other {
    struct engine *en;
    struct rlimit memory;
    bool built;
    struct error error;
};

static struct other other;

static void *build_other(void *user)
{
    struct other *o = user;

    o->built = build(o->en, NULL, &o->error);
    return NULL;
}

static void build_in_other_thread(struct engine *en)
{
    pthread_t thread;

    setrlimit(RLIMIT_AS, &other.memory);
    if (pthread_create(&thread, NULL, build_other, &other) == 0)
        pthread_join(thread, NULL);
}

TEST(an_error_is_that_of_its_build)
{
    static const struct debug_options debug;
    struct error e = {0};
    struct engine *en = engine_cpu_create(1, &debug, &e);

    assert_non_null(en);
    other.en = en;
    assert_int_equal(getrlimit(RLIMIT_AS, &other.memory), 0);
    const struct rlimit none = {4096, other.memory.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    if (mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        skip(); /* QEMU's user mode knows no limit */
    const bool built = build(en, build_in_other_thread, &e);
    setrlimit(RLIMIT_AS, &other.memory);
    assert_false(built);
    assert_int_not_equal(e.status, WNNStatus_Success);
    assert_string_equal(other.error.message, "");
    assert_true(other.built);
    /* The next one on the same thread begins again. */
    e = (struct error){0};
    assert_true(build(en, NULL, &e));
    en->functions->free(en);
}

#endif

TEST(the_library_starts_when_it_is_asked)
{
    static const struct debug_options debug;
    struct error e = {0};
    struct engine *en = engine_cpu_create(1, &debug, &e);

    assert_non_null(en);
    assert_null(en->library);
    assert_true(build(en, NULL, &e));
    assert_non_null(en->library);
    en->functions->free(en);
}
