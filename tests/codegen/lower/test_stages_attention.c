/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Attentions as kernels of stages, compiled: in code of every instruction set, with inputs that are not finite, too.
 */
#include "support/attention_bounds.h"
#include "support/compiled_stages.h"

TEST(results_are_within_bounds)
{
    for (int isa = 0; isa < ISAS; isa++) {
        struct target t = {.thread_count = 1, .cache_bytes = 1 << 21};

        stages_compile_for(&t, isas[isa], 0);
        attention_check_all(&t, stages_run_both);
        attention_check_spellings(&t, 12 + isa, ATTENTION_SPELLINGS, stages_run_both);
        attention_check_all_unread(&t, 12 + isa, ATTENTION_SPELLINGS, stages_run_compiled);
        codegen_free(stages_codegen);
    }
}
