/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* RNNoise: three GRUs with states that the caller carries from frame to frame. */
#include "support/network.h"

static void cases_agree_one_thread(void **state)
{
    (void)state;
    network_check_cases("rnnoise", 1);
}

static void cases_agree_two_threads(void **state)
{
    (void)state;
    network_check_cases("rnnoise", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_agree_one_thread),
        cmocka_unit_test(cases_agree_two_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
