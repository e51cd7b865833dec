/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs a pipeline of LLVM's passes, and those of code generation.  This is C++ because LLVMRunPasses of the C interface keeps
 * timers on its stack that a list of the whole process links together: an exception that leaves LLVM (guard.h) runs no
 * destructors there, and the list would go on pointing into a stack that is gone and be written through by the next call.
 *
 * This file is compiled without exceptions, as LLVM is, but with the tables that let them pass: what LLVM was changing when its
 * memory ran out stays where it is, because no destructor can be trusted with it.
 */
#include <cstdio>

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CBindingWrapping.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

extern "C" bool pipeline_run(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes, char *text, size_t size);
extern "C" void *pipeline_create(LLVMTargetMachineRef machine, LLVMCodeGenFileType type, bool strided, bool ordered);
extern "C" LLVMMemoryBufferRef pipeline_generate(void *pipeline, LLVMModuleRef module, bool fast);
extern "C" void pipeline_free(void *pipeline);

namespace
{

/* Passes of code generation that look for what no kernel and no object has, by the names that they print.  Objects have atomic
 * loads and stores, whose barriers come from a pass on some targets. */
const llvm::StringRef idle =
    "|Analyze Machine Code For Garbage Collection|Canonicalize Freeze Instructions in Loops|"
    "Contiguously Lay Out Funclets|Exception handling preparation|Expand indirectbr instructions|Expand large div/rem|"
    "Expand large fp convert|Expand memcmp() to load/stores|Expand vector predication intrinsics|"
    "Fixup Statepoint Caller Saved|Implement the 'patchable-function' attribute|Insert KCFI indirect call checks|"
    "Insert XRay ops|Insert fentry calls|Lower Garbage Collection Instructions|Shadow Stack GC Lowering|"
    "X86 Domain Reassignment Pass|";

/* Passes that change none or little of a kernel's code and nothing of its time.  Objects get shorter by some of them. */
const llvm::StringRef minor =
    "|Constant Hoisting|Detect Dead Lanes|Early If-Conversion|"
    "Early Tail Duplication|Interleaved Access Pass|Live DEBUG_VALUE analysis|Live Range Shrink|"
    "Machine Copy Propagation Pass|Machine InstCombiner|"
    "Machine Late Instructions Cleanup Pass|Merge disjoint stack slots|Optimize machine instruction PHIs|"
    "Partially inline calls to library functions|PostRA Machine Sink|Replace intrinsics with calls to vector library|"
    "Shrink Wrapping analysis|Stack Slot Coloring|Tail Duplication|X86 Avoid Store Forwarding Blocks|"
    "X86 Byte/Word Instruction Fixup|X86 Execution Dependency Fix|X86 Optimize Call Frame|X86 Partial Reduction|"
    "X86 cmov Conversion|";

/* The passes of code generation without those, and as struct code_traits says. */
class Generation : public llvm::legacy::PassManager
{
  public:
    llvm::TargetMachine *target;
    bool strided, ordered;
    llvm::SmallString<0> bytes; /* of the module at hand */
    llvm::raw_svector_ostream out{bytes};

    void add(llvm::Pass *pass) override
    {
        const llvm::StringRef name = pass->getPassName();
        const std::string entry = ("|" + name + "|").str();
        const bool quick = target->getOptLevel() == llvm::CodeGenOptLevel::Less;
        const bool x86 = target->getTargetTriple().isX86();

        /* CodeGen Prepare makes divisions of 64 bits faster before Ice Lake and Zen 4, which have GFNI. */
        if (idle.contains(entry) || (quick && minor.contains(entry)) ||
            (quick && x86 && name == "CodeGen Prepare" && target->getMCSubtargetInfo()->checkFeatures("+gfni")) ||
            (!strided && name == "Loop Strength Reduction") || (ordered && name == "Machine Instruction Scheduler"))
            delete pass;
        else
            llvm::legacy::PassManager::add(pass);
    }
};

} // namespace

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

void *pipeline_create(LLVMTargetMachineRef machine, LLVMCodeGenFileType type, bool strided, bool ordered)
{
    Generation *g = new Generation;

    g->target = reinterpret_cast<llvm::TargetMachine *>(machine);
    g->strided = strided;
    g->ordered = ordered;
    if (!g->target->addPassesToEmitFile(*g, g->out, nullptr, static_cast<llvm::CodeGenFileType>(type)))
        return g;
    delete g;
    return nullptr;
}

LLVMMemoryBufferRef pipeline_generate(void *pipeline, LLVMModuleRef module, bool fast)
{
    Generation *g = static_cast<Generation *>(pipeline);

    if (g->target->getOptLevel() != llvm::CodeGenOptLevel::None) /* which does so itself */
        g->target->setFastISel(fast);
    g->bytes.clear();
    g->run(*llvm::unwrap(module));
    return LLVMCreateMemoryBufferWithMemoryRangeCopy(g->bytes.data(), g->bytes.size(), "");
}

void pipeline_free(void *pipeline)
{
    delete static_cast<Generation *>(pipeline);
}
