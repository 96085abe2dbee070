// SPDX-License-Identifier: MIT
// Passes of LLVM 19's opt, as a plugin, that make a program count what AutoMatch asks of it:
//
//   opt-19 -load-pass-plugin=occupipe-match-passes.so -occupipe-kernel=jacobi
//       -passes=occupipe-isolate,always-inline,…,occupipe-count
//
// `occupipe-isolate` brings all that the kernel calls into it; `occupipe-free-order` lets a copy of
// it be vectorised as if sums could be reordered; `occupipe-count` puts the calls of runtime.cpp
// and writes what stands still (which operations a block has, where loops and accesses are in the
// source) into a file beside.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/TargetParser/Host.h>

#include <string>
#include <vector>

#include "counter.h"

namespace {

cl::opt<std::string> kernel_name("occupipe-kernel", cl::desc("function to count"));

Function& kernel_of(Module& module) {
    Function* const found = module.getFunction(kernel_name);
    if (found != nullptr && !found->isDeclaration()) return *found;
    Function* demangled = nullptr;
    std::string known;
    for (Function& f : module) {
        if (f.isDeclaration()) continue;
        std::string name = f.getName().str();
        if (const DISubprogram* const source = f.getSubprogram()) name = source->getName().str();
        if (name == kernel_name) {
            if (demangled != nullptr)
                refuse("several functions are called " + kernel_name +
                       "; give the name of its symbol: " + demangled->getName() + " or " +
                       f.getName());
            demangled = &f;
        }
        known += (known.empty() ? "" : ", ") + name;
    }
    if (demangled == nullptr)
        refuse("there is no function " + kernel_name + " in the program; it has " + known);
    return *demangled;
}

struct Isolate : PassInfoMixin<Isolate> {
    static bool isRequired() { return true; }

    PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
        Function& kernel = kernel_of(module);
        std::vector<Function*> way;
        inline_all(kernel, way);
        for (Function& f : module) {
            f.removeFnAttr(Attribute::OptimizeNone);
            if (&f != &kernel && !f.hasFnAttribute(Attribute::AlwaysInline)) continue;
            if (&f != &kernel) f.removeFnAttr(Attribute::NoInline);
        }
        kernel.removeFnAttr(Attribute::AlwaysInline);
        kernel.addFnAttr(Attribute::NoInline);
        return PreservedAnalyses::none();
    }

    void inline_all(Function& f, std::vector<Function*>& way) {
        if (std::find(way.begin(), way.end(), &f) != way.end())
            refuse("recursion: " + f.getName() +
                   " calls itself; only kernels without recursion are counted");
        way.push_back(&f);
        for (BasicBlock& block : f)
            for (Instruction& i : block) {
                auto* const call = dyn_cast<CallBase>(&i);
                Function* const callee = call ? call->getCalledFunction() : nullptr;
                if (callee == nullptr || callee->isDeclaration()) continue;
                callee->removeFnAttr(Attribute::NoInline);
                callee->removeFnAttr(Attribute::OptimizeNone);
                callee->addFnAttr(Attribute::AlwaysInline);
                inline_all(*callee, way);
            }
        way.pop_back();
    }
};

// Local structures that are only written, since whoever read them now reads what they were copied
// from, are gone.
struct DropCopies : PassInfoMixin<DropCopies> {
    static bool isRequired() { return true; }

    PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
        std::vector<AllocaInst*> locals;
        for (BasicBlock& block : kernel_of(module))
            for (Instruction& i : block)
                if (auto* const local = dyn_cast<AllocaInst>(&i)) locals.push_back(local);
        for (AllocaInst* const local : locals) {
            std::vector<Instruction*> writers;
            bool only_written = true;
            for (User* const user : local->users()) {
                auto* const i = cast<Instruction>(user);
                const auto* const copy = dyn_cast<MemTransferInst>(i);
                only_written = only_written &&
                               (i->isLifetimeStartOrEnd() ||
                                (copy != nullptr && !copy->isVolatile() &&
                                 copy->getRawDest() == local && copy->getRawSource() != local));
                writers.push_back(i);
            }
            if (!only_written) continue;
            for (Instruction* const i : writers) i->eraseFromParent();
            local->eraseFromParent();
        }
        return PreservedAnalyses::none();
    }
};

struct FreeOrder : PassInfoMixin<FreeOrder> {
    static bool isRequired() { return true; }

    PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
        for (BasicBlock& block : kernel_of(module))
            for (Instruction& i : block)
                if (isa<FPMathOperator>(i)) {
                    i.setHasAllowReassoc(true);
                    i.setHasNoNaNs(true);
                    i.setHasNoSignedZeros(true);
                }
        return PreservedAnalyses::none();
    }
};

// For the processor that it runs on, program and run time alike, so that one can be inlined into
// the other.
struct Native : PassInfoMixin<Native> {
    static bool isRequired() { return true; }

    PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
        std::string features;
        for (const auto& feature : sys::getHostCPUFeatures())
            features += (features.empty() ? "" : ",") +
                        ((feature.second ? "+" : "-") + feature.first()).str();
        for (Function& f : module) {
            f.removeFnAttr("tune-cpu");
            f.addFnAttr("target-cpu", sys::getHostCPUName());
            f.addFnAttr("target-features", features);
        }
        return PreservedAnalyses::none();
    }
};

struct Count : PassInfoMixin<Count> {
    static bool isRequired() { return true; }

    PreservedAnalyses run(Module& module, ModuleAnalysisManager& modules) {
        auto& analyses = modules.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
        Function& kernel = kernel_of(module);
        Counter(module, kernel, analyses).run();
        return PreservedAnalyses::none();
    }
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
    return {
        LLVM_PLUGIN_API_VERSION, "occupipe-match", "1", [](PassBuilder& builder) {
            builder.registerPipelineParsingCallback([](StringRef name, ModulePassManager& passes,
                                                       ArrayRef<PassBuilder::PipelineElement>) {
                if (name == "occupipe-isolate")
                    passes.addPass(Isolate());
                else if (name == "occupipe-free-order")
                    passes.addPass(FreeOrder());
                else if (name == "occupipe-drop-copies")
                    passes.addPass(DropCopies());
                else if (name == "occupipe-native")
                    passes.addPass(Native());
                else if (name == "occupipe-count")
                    passes.addPass(Count());
                else
                    return false;
                return true;
            });
        }};
}
