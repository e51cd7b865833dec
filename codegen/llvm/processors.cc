/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lists the names of the processors and features that LLVM knows, and says which features a processor has.  This is C++ because
 * LLVM's C interface has neither.
 */
#include <string>

#include <llvm-c/TargetMachine.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Target/TargetMachine.h>

extern "C" void processors_each(const char *triple, bool features, void (*each)(void *user, const char *name), void *user);
extern "C" bool processor_has(LLVMTargetMachineRef machine, const char *features);

void processors_each(const char *triple, bool features, void (*each)(void *user, const char *name), void *user)
{
    std::string message;
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);

    if (!target)
        return;
    llvm::MCSubtargetInfo *info = target->createMCSubtargetInfo(triple, "", "");
    if (!info)
        return;
    if (features)
        for (const llvm::SubtargetFeatureKV &feature : info->getAllProcessorFeatures())
            each(user, feature.Key);
    else
        for (const llvm::SubtargetSubTypeKV &processor : info->getAllProcessorDescriptions())
            each(user, processor.Key);
    delete info;
}

bool processor_has(LLVMTargetMachineRef machine, const char *features)
{
    return reinterpret_cast<llvm::TargetMachine *>(machine)->getMCSubtargetInfo()->checkFeatures(features);
}
