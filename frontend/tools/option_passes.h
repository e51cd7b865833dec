/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares the options of the programs that link the compiler's passes. */
#pragma once

#include <stdio.h>

#include "frontend/tools/options.h"
#include "passes/passes.h"

/** Prints names in the order of the pipeline; what comes twice there is one pass. */
static inline bool option_list_passes(struct option_call *c)
{
    for (uint32_t i = 0; i < pass_pipeline_length; i++)
        printf("%-18s %s%s\n", pass_pipeline[i].name, pass_pipeline[i].summary, pass_pipeline[i].required ? " (required)" : "");
    return c->ends = true;
}

#define OPTION_LIST_PASSES                                                                                                     \
    {"list-passes", 0, NULL, "print the passes in the order of the pipeline and end", .take = option_list_passes}
