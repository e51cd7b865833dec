/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/help.h"
#include "support/test.h"

#include <pthread.h>
#include <unistd.h>

enum { TESTS_MAX = 64 };

static struct CMUnitTest tests[TESTS_MAX];
static int lines[TESTS_MAX];
static size_t test_count;
static CMFixtureFunction group_setup, group_teardown, each_setup, each_teardown;
static const char *skip_reason;

void test_register(const char *name, CMUnitTestFunction function, int line)
{
    size_t at = test_count++;

    if (at == TESTS_MAX) {
        fprintf(stderr, "%s is one test too many: raise TESTS_MAX\n", name);
        exit(1);
    }
    for (; at > 0 && lines[at - 1] > line; at--) { /* constructors run in any order */
        lines[at] = lines[at - 1];
        tests[at] = tests[at - 1];
    }
    lines[at] = line;
    tests[at] = (struct CMUnitTest){.name = name, .test_func = function};
}

void test_group(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    group_setup = setup;
    group_teardown = teardown;
}

void test_each(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    each_setup = setup;
    each_teardown = teardown;
}

void run_on_threads(size_t count, void *(*function)(void *), void *data, size_t step)
{
    pthread_t threads[16];

    assert_in_range(count, 1, 16);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, function, data ? (char *)data + i * step : NULL), 0);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

void test_skip_all(const char *reason)
{
    skip_reason = reason;
}

static int tests_list(void)
{
    for (size_t i = 0; i < test_count; i++)
        puts(tests[i].name);
    return 0;
}

int tests_run_as(const char *group)
{
    if (skip_reason) {
        printf("skipped: %s\n", skip_reason);
        return 77;
    }
    for (size_t i = 0; i < test_count; i++) {
        tests[i].setup_func = each_setup;
        tests[i].teardown_func = each_teardown;
    }
    return _cmocka_run_group_tests(group, tests, test_count, group_setup, group_teardown);
}

int tests_main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--list"))
        return tests_list();
    if (argc == 2)
        cmocka_set_test_filter(argv[1]);
    return tests_run();
}

__attribute__((constructor)) static void tests_have_help(int argc, char **argv)
{
    help_print(argc, argv,
               "usage: PROGRAM            run all tests; exit status 0 if all pass, 77 if they are skipped\n"
               "       PROGRAM --list     print the names of the tests\n"
               "       PROGRAM PATTERN    run those whose names match, such as 'wrong_*'\n");
}

void make_file(char *path)
{
    const int file = mkstemp(path);

    assert_true(file >= 0);
    close(file);
}
