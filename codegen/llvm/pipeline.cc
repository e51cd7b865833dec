/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs a pipeline of LLVM's passes.  This is C++ because LLVMRunPasses of the C interface keeps timers on its stack that a list
 * of the whole process links together: an exception that leaves LLVM (guard.h) runs no destructors there, and the list would go
 * on pointing into a stack that is gone and be written through by the next call.
 *
 * This file is compiled without exceptions, as LLVM is, but with the tables that let them pass: what LLVM was changing when its
 * memory ran out stays where it is, because no destructor can be trusted with it.
 */
#include <cstdio>

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CBindingWrapping.h>
#include <llvm/Target/TargetMachine.h>

extern "C" bool pipeline_run(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes, char *text, size_t size);

bool pipeline_run(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes, char *text, size_t size)
{
    llvm::PassBuilder builder(reinterpret_cast<llvm::TargetMachine *>(machine));
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::ModulePassManager pipeline;

    builder.registerLoopAnalyses(loops);
    builder.registerFunctionAnalyses(functions);
    builder.registerCGSCCAnalyses(components);
    builder.registerModuleAnalyses(modules);
    builder.crossRegisterProxies(loops, functions, components, modules);
    if (llvm::Error error = builder.parsePassPipeline(pipeline, passes)) {
        std::snprintf(text, size, "%s", llvm::toString(std::move(error)).c_str());
        return false;
    }
    pipeline.run(*llvm::unwrap(module), modules);
    return true;
}
