/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* RNNoise: three GRUs with states that the caller carries from frame to frame. */
#include "support/network.h"

TEST(cases_agree_one_thread)
{
    network_check_cases("rnnoise", 1);
}

TEST(cases_agree_two_threads)
{
    network_check_cases("rnnoise", 2);
}
