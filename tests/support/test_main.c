/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The main function of test programs that have none of their own. */
#include "support/help.h"
#include "support/test.h"

int main(int argc, char **argv)
{
    if (help_asked(argc, argv,
                   "usage: PROGRAM            run all tests; exit status 0 if all pass, 77 if they are skipped\n"
                   "       PROGRAM --list     print the names of the tests\n"
                   "       PROGRAM PATTERN    run those whose names match, such as 'wrong_*'\n"))
        return 0;
    if (argc == 2 && !strcmp(argv[1], "--list"))
        return tests_list();
    if (argc == 2)
        cmocka_set_test_filter(argv[1]);
    return tests_run();
}
