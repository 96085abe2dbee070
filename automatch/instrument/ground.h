// SPDX-License-Identifier: MIT
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "libm.h"
#include "reductions.h"

namespace {

using namespace llvm;
using occupipe_match::Fold;
using occupipe_match::Reduction;

// Found by the driver at the beginning of a line of standard error.
[[noreturn]] void refuse(const Twine& reason) {
    errs() << "occupipe-match: " << reason << "\n";
    std::exit(65);
}

std::string place(const DebugLoc& where) {
    if (!where || where.getLine() == 0) return "?";
    const DILocation* at = where.get();
    return (sys::path::filename(at->getFilename()) + ":" + Twine(at->getLine())).str();
}
// Of something that the compiler made: of what went into it, or of the loop around.
std::string place(const Instruction& i, const DebugLoc& loop) {
    if (i.getDebugLoc() && i.getDebugLoc().getLine() != 0) return place(i.getDebugLoc());
    for (const Value* const v : i.operand_values())
        if (const auto* const from = dyn_cast<Instruction>(v);
            from != nullptr && !isa<PHINode>(from))
            if (from->getDebugLoc() && from->getDebugLoc().getLine() != 0)
                return place(from->getDebugLoc());
    return place(loop);
}

// What is known of a kernel before calls are put into it: whether it can be counted, its loops,
// what they reduce, sums into memory, and where all that stands in the source.
class Ground {
protected:
    Ground(Module& module, Function& kernel, FunctionAnalysisManager& analyses)
        : module_(module),
          kernel_(kernel),
          context_(module.getContext()),
          loops_(analyses.getResult<LoopAnalysis>(kernel)),
          scalars_(analyses.getResult<ScalarEvolutionAnalysis>(kernel)),
          dominators_(analyses.getResult<DominatorTreeAnalysis>(kernel)),
          reductions_(
              loops_, dominators_,
              [this](PHINode& phi, const Loop& loop) { return is_induction(phi, loop); },
              [this](Value& guard, Value& chosen) { return says(guard, chosen); }) {}

    // A load, one or several operations of a kind, and a store to where the load was from. Of none
    // where a comparison decides whether it is stored.
    struct MemorySum {
        LoadInst* load;
        SmallVector<Instruction*> operations;
        StoreInst* store;
        Fold fold;

        // Whether it is the load, or what came of the operation before.
        bool goes_on(const Value* v, const Instruction& operation) const {
            const auto* const at = std::find(operations.begin(), operations.end(), &operation);
            while (occupipe_match::keeps_number(*v)) v = cast<Instruction>(v)->getOperand(0);
            return v == (at == operations.begin() ? static_cast<const Value*>(load) : *(at - 1));
        }
    };
    struct LoopFacts {
        Loop* loop = nullptr;
        int parent = -1;
        std::string carried;    // by a phi; empty: nothing
        std::string reduction;  // recognised, of a scalar
    };

    // Before anything else is said of what they are made of.
    void require_one_thread() {
        for (BasicBlock& block : kernel_)
            for (Instruction& i : block) {
                const auto* const call = dyn_cast<CallBase>(&i);
                const Function* const callee =
                    call != nullptr ? call->getCalledFunction() : nullptr;
                if (callee == nullptr) continue;
                const StringRef name = callee->getName();
                if (name.starts_with("pthread_") || name.starts_with("__kmpc_") ||
                    name.starts_with("GOMP_") || name.starts_with("_ZNSt6thread"))
                    refuse("the kernel uses threads (" + name + ") at " + place(i.getDebugLoc()) +
                           "; give its sequential version");
            }
    }
    void require_countable() {
        require_one_thread();
        for (BasicBlock& block : kernel_)
            for (Instruction& i : block) {
                if (i.getType()->isVectorTy())
                    refuse("the kernel has vector code at " + place(i.getDebugLoc()) +
                           "; give scalar code, as clang -O1 makes it");
                if (isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i) || isa<FenceInst>(i) ||
                    i.isAtomic())
                    refuse("the kernel has atomic code at " + place(i.getDebugLoc()) +
                           "; only sequential kernels are counted");
                if (isa<InvokeInst>(i) || isa<CallBrInst>(i) || isa<ResumeInst>(i) ||
                    isa<IndirectBrInst>(i))
                    refuse("the kernel has exceptions or computed jumps at " +
                           place(i.getDebugLoc()) + "; compile it with -fno-exceptions");
                const auto* const call = dyn_cast<CallBase>(&i);
                if (call == nullptr) continue;
                if (call->isInlineAsm())
                    refuse("the kernel has assembler at " + place(i.getDebugLoc()));
                const Function* const callee = call->getCalledFunction();
                if (callee == nullptr)
                    refuse("the kernel calls through a pointer at " + place(i.getDebugLoc()) +
                           "; what is called has to be known");
                const StringRef name = callee->getName();
                if (name == "_setjmp" || name == "setjmp" || name == "longjmp")
                    refuse("the kernel uses " + name + " at " + place(i.getDebugLoc()));
            }
    }

    // ---- loops
    // ------------------------------------------------------------------------------------

    void number_loops() {
        // In the order of the source, which LoopInfo's own is not.
        const auto ordered = loops_.getLoopsInPreorder();
        const std::vector<Loop*> in_preorder(ordered.begin(), ordered.end());
        for (Loop* const loop : in_preorder) {
            if (loop->getLoopPreheader() == nullptr || !loop->hasDedicatedExits() ||
                loop->getLoopLatch() == nullptr)
                refuse("the loop at " + place(loop->getStartLoc()) +
                       " cannot be brought into a simple form");
            if (loop->getLoopDepth() > most_depth)
                refuse("loops are nested more than 64 deep at " + place(loop->getStartLoc()));
        }
        reductions_.find(in_preorder);
        for (Loop* const loop : in_preorder) {
            LoopFacts facts;
            facts.loop = loop;
            if (Loop* const parent = loop->getParentLoop())
                facts.parent = static_cast<int>(loop_numbers_[parent]);
            for (PHINode& phi : loop->getHeader()->phis()) look_at(phi, facts);
            loop_numbers_[loop] = static_cast<unsigned>(all_loops_.size());
            all_loops_.push_back(facts);
        }
    }
    bool is_induction(PHINode& phi, const Loop& loop) {
        Value* const back = phi.getIncomingValueForBlock(loop.getLoopLatch());
        if (back == &phi || loop.isLoopInvariant(back)) return true;
        if (!scalars_.isSCEVable(phi.getType())) return false;
        const auto* const recurrence = dyn_cast<SCEVAddRecExpr>(scalars_.getSCEV(&phi));
        return recurrence != nullptr && recurrence->getLoop() == &loop;
    }
    // What the next iteration takes over but could make itself: the loop's head, which is executed
    // at the end of the iteration before (loop-rotate), or `before = x[i]`; of memory, whose loads
    // are looked at when they are executed. What takes itself over in the end is not.
    bool is_ahead(PHINode& phi, const Loop& loop) {
        const auto [known, is_new] = takeovers_.try_emplace(&phi, false);
        if (!is_new) return known->second;
        auto* const back = dyn_cast<Instruction>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
        if (back == nullptr) return false;
        SmallSetVector<Value*, 16> from;
        from.insert(back);
        for (unsigned n = 0; n < from.size(); ++n) {
            auto* const i = dyn_cast<Instruction>(from[n]);
            if (i == nullptr || !loop.contains(i)) continue;
            auto* const header = dyn_cast<PHINode>(i);
            if (header != nullptr && header->getParent() == loop.getHeader() &&
                (is_induction(*header, loop) || is_ahead(*header, loop)))
                continue;
            if (header != nullptr || isa<CallBase>(i) || i->mayHaveSideEffects() ||
                loops_.getLoopFor(i->getParent()) != &loop)
                return false;
            from.insert(i->op_begin(), i->op_end());
        }
        for (Value* const v : from)
            if (auto* const load = dyn_cast<LoadInst>(v); load != nullptr && loop.contains(load))
                ahead_.insert(load);
        return takeovers_[&phi] = true;
    }
    std::optional<bool> says(Value& guard, Value& chosen) {
        auto* const compare = dyn_cast<ICmpInst>(&guard);
        if (compare == nullptr) {
            const auto* const constant = dyn_cast<ConstantInt>(&chosen);
            if (constant == nullptr) return std::nullopt;
            return constant->getValue()[0];
        }
        CmpInst::Predicate predicate = compare->getPredicate();
        Value* with = compare->getOperand(1);
        if (isa<Constant>(compare->getOperand(0))) {
            predicate = compare->getSwappedPredicate();
            with = compare->getOperand(0);
        }
        if (with->getType() != chosen.getType()) return std::nullopt;
        return scalars_.evaluatePredicate(predicate, scalars_.getSCEV(&chosen),
                                          scalars_.getSCEV(with));
    }
    void look_at(PHINode& phi, LoopFacts& facts) {
        Loop* const loop = facts.loop;
        if (is_induction(phi, *loop)) return;
        const auto& back = *cast<Instruction>(phi.getIncomingValueForBlock(loop->getLoopLatch()));
        if (const Reduction* const r = reductions_.of(&phi)) {
            const Instruction& shown = r->operations.empty() ? back : *r->operations.front();
            const std::string at = place(shown, loop->getStartLoc());
            facts.reduction += (facts.reduction.empty() ? "" : ", ") +
                               (r->follows ? "what goes with it: " : std::string()) +
                               (r->follows ? "" : std::string(name_of(r->fold)) + " at ") + at;
            return;
        }
        if (is_ahead(phi, *loop)) return;
        facts.carried =
            "the value of " + place(back, loop->getStartLoc()) + " goes into the next iteration";
    }

    // ---- sums into memory
    // ------------------------------------------------------------------------------------

    // Whose operations take levels and may come in any order.
    const MemorySum* tree_in_memory(const Instruction& i) const {
        const auto found = memory_trees_.find(&i);
        return found == memory_trees_.end() ? nullptr : &memory_sums_[found->second];
    }
    bool same_place(const LoadInst& load, const StoreInst& store) {
        return scalars_.getSCEV(const_cast<Value*>(load.getPointerOperand())) ==
               scalars_.getSCEV(const_cast<Value*>(store.getPointerOperand()));
    }
    bool goes_into_tree(const Instruction& access) const {
        const unsigned sum = number_of_sum_.lookup(&access);
        return sum != 0 && !memory_sums_[sum - 1].operations.empty() &&
               memory_trees_.contains(memory_sums_[sum - 1].operations.front());
    }
    // Nothing else is stored between them.
    static bool undisturbed(const LoadInst& load, const StoreInst& store) {
        if (load.getParent() != store.getParent() || load.isVolatile() || store.isVolatile())
            return false;
        bool begun = false;
        for (const Instruction& i : *load.getParent()) {
            if (&i == &load) begun = true;
            if (&i == &store) return begun;
            if (begun && &i != &load && i.mayWriteToMemory()) return false;
        }
        return false;
    }
    // A store of a sum, or the like, into the place where one of its terms was loaded from.
    void find_memory_sums() {
        for (BasicBlock& block : kernel_)
            for (Instruction& i : block) {
                auto* const store = dyn_cast<StoreInst>(&i);
                if (store == nullptr) continue;
                find_memory_choice(*store);
                MemorySum sum{
                    .load = nullptr, .operations = {}, .store = store, .fold = Fold::none};
                if (!find_terms(store->getValueOperand(), sum)) continue;
                const bool fused = any_of(sum.operations, [](const Instruction* one) {
                    return isa<CallBase>(one) && cast<CallBase>(one)->arg_size() > 2;
                });
                if (sum.load->getType()->isFloatingPointTy() && !fused &&
                    std::min(sum.load->getAlign(), sum.store->getAlign()) >= Align(4))
                    for (Instruction* const operation : sum.operations)
                        memory_trees_[operation] = memory_sums_.size();
                memory_sums_.push_back(sum);
            }
        for (std::size_t n = 0; n < memory_sums_.size(); ++n) {
            number_of_sum_[memory_sums_[n].load] = static_cast<unsigned>(n + 1);
            number_of_sum_[memory_sums_[n].store] = static_cast<unsigned>(n + 1);
        }
    }
    // From an operation down to the load, of values that nothing else takes.
    bool find_terms(Value* v, MemorySum& sum) {
        auto* const i = dyn_cast<Instruction>(v);
        if (i == nullptr || !i->hasOneUse() || i->getParent() != sum.store->getParent())
            return false;
        if (auto* const load = dyn_cast<LoadInst>(i)) {
            sum.load = load;
            return !sum.operations.empty() && undisturbed(*load, *sum.store) &&
                   same_place(*load, *sum.store) && keeps_fold(sum);
        }
        if (occupipe_match::keeps_number(*i))
            return i->getType()->getPrimitiveSizeInBits() >=
                       sum.store->getValueOperand()->getType()->getPrimitiveSizeInBits() &&
                   find_terms(i->getOperand(0), sum);
        const Fold before = sum.fold;
        for (Value* const operand : i->operand_values()) {
            const Fold fold = occupipe_match::fold_of(*i, operand);
            if (fold == Fold::none || (before != Fold::none && fold != before)) continue;
            sum.fold = fold;
            sum.operations.insert(sum.operations.begin(), i);
            if (find_terms(operand, sum)) return true;
            sum.operations.erase(sum.operations.begin());
            sum.fold = before;
        }
        return false;
    }
    // What is left of a sum of more bits is the sum of what is left; of a maximum it is not.
    static bool keeps_fold(const MemorySum& sum) {
        const Type* const type = sum.load->getType();
        if (type != sum.store->getValueOperand()->getType()) return false;
        if (!type->isIntegerTy()) return true;
        return all_of(sum.operations, [&](const Instruction* i) {
            return i->getType() == type ||
                   (i->getType()->getIntegerBitWidth() > type->getIntegerBitWidth() &&
                    !occupipe_match::is_extreme(sum.fold));
        });
    }
    // if (x > *place) *place = x;
    void find_memory_choice(StoreInst& store) {
        BasicBlock* const own = store.getParent();
        BasicBlock* const head = own->getSinglePredecessor();
        if (head == nullptr) return;
        const auto* const branch = dyn_cast<BranchInst>(head->getTerminator());
        if (branch == nullptr || !branch->isConditional()) return;
        const auto* const compare = dyn_cast<CmpInst>(branch->getCondition());
        if (compare == nullptr || !only_chooses(store, *branch)) return;
        const auto [one, other, predicate] = occupipe_match::compared_numbers(*compare);
        const Value* const chosen =
            occupipe_match::number_in(store.getValueOperand(), store.getValueOperand()->getType());
        for (unsigned n = 0; n < 2; ++n) {
            auto* const load = dyn_cast<LoadInst>(const_cast<Value*>(n == 0 ? one : other));
            if (load == nullptr || !load->hasOneUse() || !compare->hasOneUse() ||
                !compare->getOperand(n)->hasOneUse() || (n == 0 ? other : one) != chosen ||
                load->getType() != store.getValueOperand()->getType() || load->isVolatile() ||
                load->getParent() != head || !occupipe_match::is_kept(*load) ||
                store.isVolatile() || !same_place(*load, store))
                continue;
            const Fold fold =
                occupipe_match::chosen_by(predicate, n == 0, own == branch->getSuccessor(0));
            if (fold != Fold::none)
                memory_sums_.push_back(
                    {.load = load, .operations = {}, .store = &store, .fold = fold});
        }
    }
    // Nothing depends on the branch but the store and what is chosen beside it (the place of a
    // maximum), one place for each: how often there was a new maximum is no reduction.
    bool only_chooses(StoreInst& chosen, const BranchInst& branch) {
        BasicBlock& own = *chosen.getParent();
        const BasicBlock* const next = own.getSingleSuccessor();
        if (next == nullptr || (branch.getSuccessor(0) != next && branch.getSuccessor(1) != next))
            return false;
        for (Instruction& i : own) {
            auto* const store = dyn_cast<StoreInst>(&i);
            if (store == nullptr ? i.mayReadOrWriteMemory()
                                 : store != &chosen && (occupipe_match::is_rounded(
                                                            chosen.getValueOperand(),
                                                            chosen.getValueOperand()->getType()) ||
                                                        !goes_with(*store, chosen)))
                return false;
        }
        return all_of(next->phis(), [&](const PHINode& phi) {
            return phi.getIncomingValueForBlock(branch.getParent()) ==
                   phi.getIncomingValueForBlock(&own);
        });
    }
    // To one place for each of the other's.
    bool goes_with(StoreInst& store, StoreInst& other) {
        for (const Loop* loop = loops_.getLoopFor(store.getParent()); loop != nullptr;
             loop = loop->getParentLoop()) {
            const SCEV* const to = at_begin(*store.getPointerOperand(), *loop);
            const SCEV* const beside = at_begin(*other.getPointerOperand(), *loop);
            if (!scalars_.isLoopInvariant(to, loop) &&
                (!scalars_.hasComputableLoopEvolution(to, loop) ||
                 !scalars_.hasComputableLoopEvolution(beside, loop)))
                return false;
        }
        return true;
    }
    // An address when the loops within have just begun.
    const SCEV* at_begin(Value& pointer, const Loop& loop) {
        const SCEV* at = scalars_.getSCEV(&pointer);
        for (const auto* inner = dyn_cast<SCEVAddRecExpr>(at);
             inner != nullptr && inner->getLoop() != &loop && loop.contains(inner->getLoop());
             inner = dyn_cast<SCEVAddRecExpr>(at))
            at = inner->getStart();
        return at;
    }

    static constexpr unsigned most_depth = 64;

    Module& module_;
    Function& kernel_;
    LLVMContext& context_;
    LoopInfo& loops_;
    ScalarEvolution& scalars_;
    DominatorTree& dominators_;
    occupipe_match::Reductions reductions_;
    std::vector<MemorySum> memory_sums_;
    DenseMap<const Instruction*, std::size_t> memory_trees_;  // of operations
    DenseMap<const Instruction*, unsigned> number_of_sum_;    // of loads and stores, from 1 on
    std::vector<LoopFacts> all_loops_;
    DenseMap<const Loop*, unsigned> loop_numbers_;
    DenseMap<const PHINode*, bool> takeovers_;  // what is_ahead said
    SmallPtrSet<const LoadInst*, 8> ahead_;     // loads for the next iteration
};

}  // namespace
