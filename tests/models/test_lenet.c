/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LeNet reads all ten digits. */
#include "support/network.h"

TEST(cases_agree)
{
    network_check_cases("lenet", 1);
    network_check_cases("lenet", 2);
}

TEST(reads_ten_digits)
{
    SCOPED(network_close) struct network n = {0};

    network_open(&n, "lenet", 0);
    assert_int_equal(manifest_case_count(n.manifest), 10);
    for (size_t i = 0; i < 10; i++) {
        float *outputs[8] = {NULL};
        SCOPED(manifest_case_free) struct manifest_case c = {0};
        int best = 0;

        assert_done(manifest_case_load(n.manifest, i, &c, &e));
        network_compute(&n, &c, outputs);
        for (int k = 1; k < 10; k++)
            if (outputs[1][k] > outputs[1][best])
                best = k;
        assert_int_equal(best, (int)manifest_case_number(n.manifest, i, "expectedClass", -1));
        for (size_t k = 0; k < c.output_count; k++)
            free(outputs[k]);
    }
}
