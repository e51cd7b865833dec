/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lists the names of the processors and features that LLVM knows.  This is C++ because LLVM's C interface has no list of them.
 */
#include <string>

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>

extern "C" void processors_each(const char *triple, bool features, void (*each)(void *user, const char *name), void *user);

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
