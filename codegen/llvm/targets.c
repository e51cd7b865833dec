/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Machines for any target that LLVM was built with.  What compiles for this process alone calls nothing here, and is linked
 * without those targets (codegen/plugin/functions.h).
 */
#include "codegen/llvm/llvm.h"

#include <pthread.h>

static void initialize_all(void)
{
    machine_initialize_host();
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    LLVMInitializeAllAsmPrinters();
    LLVMInitializeAllAsmParsers();
}

void machine_initialize_all(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, initialize_all);
}

bool machine_create_ahead(struct machine *m, const struct target *t, const struct debug_options *d, struct error *e)
{
    return machine_create_at(m, t, d, LLVMCodeGenLevelDefault, machine_initialize_all, e);
}
