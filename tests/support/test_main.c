/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The main function of test programs that have none of their own. */
#include "support/test.h"

int main(void)
{
    return tests_run();
}
