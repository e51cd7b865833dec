/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The main function of test programs that have none of their own. */
#include "support/test.h"

int main(int argc, char **argv)
{
    return tests_main(argc, argv);
}
