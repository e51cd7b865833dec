/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says what this machine's processor is in LLVM's words.
 */
#include "codegen/llvm/llvm.h"

#include <string.h>

#include "ir/target/processor.h"

struct host {
    char *cpu, *features; /* NULL: out of memory */
};

static bool ask_host(void *user)
{
    *(struct host *)user = (struct host){LLVMGetHostCPUName(), LLVMGetHostCPUFeatures()};
    return true;
}

bool codegen_name_processor(struct target *t, struct arena *a, struct error *e)
{
    struct host host = {0};
    bool abandoned = false;

    if (t->cpu)
        return true;
    if (!machine_protect(LLVM_HOST, &abandoned, ask_host, &host, e))
        return error_out_of_memory(e);
    /* The name is often wrong in virtual machines; the explicit features override what it implies, on and off. */
    const char *cpu = host.cpu ? arena_string(a, host.cpu, strlen(host.cpu)) : NULL;
    const char *own = processor_features(); /* LLVM finds some by a processor's name alone, which it may not know */
    const size_t size = host.features ? strlen(host.features) + strlen(own) + 2 : 0;
    char *all = size ? arena_alloc(a, size) : NULL;
    if (all)
        snprintf(all, size, "%s%s%s", host.features, *host.features && *own ? "," : "", own);
    t->features = all;
    t->cpu = t->features ? cpu : NULL;
    LLVMDisposeMessage(host.cpu);
    LLVMDisposeMessage(host.features);
    return t->cpu || error_out_of_memory(e);
}
