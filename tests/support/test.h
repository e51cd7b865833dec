/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What every cmocka program begins with.  A test is registered where it is defined, and the main function of test_main.c runs
 * all tests of the program:
 *
 *   TEST(arrays_grow)
 *   {
 *       assert_int_equal(1 + 1, 2);
 *   }
 *
 * A program that needs a main function of its own calls tests_main() or tests_run() in it.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/scoped.h"

/** Defines a test.  Its parameter is cmocka's `void **state`. */
#define TEST(name)                                                                                                             \
    static void name(void **state);                                                                                            \
    __attribute__((constructor)) static void name##_is_a_test(void)                                                            \
    {                                                                                                                          \
        test_register(#name, name, __LINE__);                                                                                  \
    }                                                                                                                          \
    static void name(__attribute__((unused)) void **state)

/** Names what runs before the first and after the last test of the program, or before and after each; either may be NULL. */
#define TEST_GROUP(setup, teardown)                                                                                            \
    __attribute__((constructor)) static void tests_have_fixtures(void)                                                         \
    {                                                                                                                          \
        test_group(setup, teardown);                                                                                           \
    }
#define TEST_EACH(setup, teardown)                                                                                             \
    __attribute__((constructor)) static void tests_each_have_fixtures(void)                                                    \
    {                                                                                                                          \
        test_each(setup, teardown);                                                                                            \
    }

/** The reason why this build skips the program's tests. */
#define TESTS_SKIPPED(reason)                                                                                                  \
    __attribute__((constructor)) static void tests_skipped(void)                                                               \
    {                                                                                                                          \
        test_skip_all(reason);                                                                                                 \
    }

/** Skips the program unless there is what a function looks for, which says itself what is absent. */
#define TESTS_NEED(found)                                                                                                      \
    __attribute__((constructor)) static void tests_need(void)                                                                  \
    {                                                                                                                          \
        if (!(found))                                                                                                          \
            test_skip_all("data are absent");                                                                                  \
    }

/** Fails with the error's message unless a call is done that takes &e for its error. */
#define assert_done(call)                                                                                                      \
    do {                                                                                                                       \
        struct error e = {0};                                                                                                  \
        assert_works(call, &e);                                                                                                \
    } while (0)

/** Fails with the library's message unless a call succeeds. */
#define assert_success(call)                                                                                                   \
    do {                                                                                                                       \
        const WNNStatus failed = (call);                                                                                       \
        if (failed)                                                                                                            \
            fail_msg("%s: %s", wnnStatusGetName(failed), wnnGetLastErrorMessage().data);                                  \
    } while (0)

/** Fails with the message of a struct error unless what filled it in was done. */
#define assert_works(done, e)                                                                                                  \
    do {                                                                                                                       \
        if (!(done))                                                                                                           \
            fail_msg("%s", (e)->message);                                                                                      \
    } while (0)

/** Runs a function on that many threads at a time, which get the data, a step further each, and waits for all of them. */
void run_on_threads(size_t count, void *(*function)(void *), void *data, size_t step);

/** What the macros call.  Tests run in the order of their lines. */
void test_register(const char *name, CMUnitTestFunction function, int line);
void test_group(CMFixtureFunction setup, CMFixtureFunction teardown);
void test_each(CMFixtureFunction setup, CMFixtureFunction teardown);
void test_skip_all(const char *reason);

/** Runs all tests, as a group of that name.  Returns the number of those that failed, or 77 if the program is skipped. */
int tests_run_as(const char *group);
static inline int tests_run(void)
{
    return tests_run_as("tests");
}

/** Runs the tests that the arguments say: all, or those of a pattern; or lists them (--list). */
int tests_main(int argc, char **argv);

/** Makes an empty file of its own of a path that ends in XXXXXX, and writes its name there. */
void make_file(char *path);
