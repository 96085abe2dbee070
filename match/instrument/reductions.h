// SPDX-License-Identifier: MIT
// Reductions of scalars over a loop or a nest of loops: all values that a running sum (product,
// minimum, …) takes, of which nothing but its next operation is made before the outermost loop
// ends. Its operations may then come in any order, as a tree.
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <string>
#include <vector>

namespace occupipe_match {

using namespace llvm;

enum class Fold { none, sum, product, minimum, maximum, conjunction, disjunction, parity };

inline const char* name_of(Fold fold) {
    switch (fold) {
        case Fold::sum:
            return "sum";
        case Fold::product:
            return "product";
        case Fold::minimum:
            return "minimum";
        case Fold::maximum:
            return "maximum";
        case Fold::conjunction:
        case Fold::disjunction:
        case Fold::parity:
        case Fold::none:
            break;
    }
    return "logical";
}

// What an operation folds, and the operand that goes on: `of(i, v)` where v is the running value.
inline Fold fold_of(const Instruction& i, const Value* running) {
    const auto only = [&](unsigned operand) {
        for (unsigned n = 0; n < i.getNumOperands(); ++n)
            if ((i.getOperand(n) == running) != (n == operand)) return false;
        return true;
    };
    const bool any = i.getNumOperands() >= 2 && (only(0) || only(1));
    switch (i.getOpcode()) {
        case Instruction::FAdd:
        case Instruction::Add:
            return any ? Fold::sum : Fold::none;
        case Instruction::FSub:
        case Instruction::Sub:
            return only(0) ? Fold::sum : Fold::none;
        case Instruction::FMul:
        case Instruction::Mul:
            return any ? Fold::product : Fold::none;
        case Instruction::And:
            return any ? Fold::conjunction : Fold::none;
        case Instruction::Or:
            return any ? Fold::disjunction : Fold::none;
        case Instruction::Xor:
            return any ? Fold::parity : Fold::none;
        case Instruction::Call:
            break;
        default:
            return Fold::none;
    }
    const auto& call = cast<CallBase>(i);
    const Function* const callee = call.getCalledFunction();
    if (callee == nullptr || call.arg_size() < 2) return Fold::none;
    const StringRef name = callee->getName();
    const auto argument = [&](unsigned operand) {
        for (unsigned n = 0; n < call.arg_size(); ++n)
            if ((call.getArgOperand(n) == running) != (n == operand)) return false;
        return true;
    };
    const bool first_or_second = argument(0) || argument(1);
    switch (call.getIntrinsicID()) {
        case Intrinsic::maxnum:
        case Intrinsic::maximum:
        case Intrinsic::smax:
        case Intrinsic::umax:
            return first_or_second ? Fold::maximum : Fold::none;
        case Intrinsic::minnum:
        case Intrinsic::minimum:
        case Intrinsic::smin:
        case Intrinsic::umin:
            return first_or_second ? Fold::minimum : Fold::none;
        case Intrinsic::fma:
        case Intrinsic::fmuladd:
            return argument(2) ? Fold::sum : Fold::none;
        case Intrinsic::not_intrinsic:
            break;
        default:
            return Fold::none;
    }
    if (name == "fmax" || name == "fmaxf") return first_or_second ? Fold::maximum : Fold::none;
    if (name == "fmin" || name == "fminf") return first_or_second ? Fold::minimum : Fold::none;
    if (name == "fma" || name == "fmaf") return argument(2) ? Fold::sum : Fold::none;
    return Fold::none;
}

// Of a comparison of x with the running value: what choosing x where it holds makes.
inline Fold chosen_by(const CmpInst& compare, const Value* running, bool where_true) {
    CmpInst::Predicate p = compare.getPredicate();
    if (compare.getOperand(0) == running) p = CmpInst::getSwappedPredicate(p);
    bool greater = false;
    switch (p) {
        case CmpInst::FCMP_OGT:
        case CmpInst::FCMP_OGE:
        case CmpInst::FCMP_UGT:
        case CmpInst::FCMP_UGE:
        case CmpInst::ICMP_SGT:
        case CmpInst::ICMP_SGE:
        case CmpInst::ICMP_UGT:
        case CmpInst::ICMP_UGE:
            greater = true;
            break;
        case CmpInst::FCMP_OLT:
        case CmpInst::FCMP_OLE:
        case CmpInst::FCMP_ULT:
        case CmpInst::FCMP_ULE:
        case CmpInst::ICMP_SLT:
        case CmpInst::ICMP_SLE:
        case CmpInst::ICMP_ULT:
        case CmpInst::ICMP_ULE:
            break;
        default:
            return Fold::none;
    }
    return greater == where_true ? Fold::maximum : Fold::minimum;
}

struct Reduction {
    PHINode* root = nullptr;  // at the head of the outermost loop
    Loop* loop = nullptr;
    Fold fold = Fold::none;
    SmallSetVector<Value*, 8> values;
    std::vector<Instruction*> operations;
    SmallPtrSet<const CmpInst*, 4> compares;  // that choose a minimum or maximum
    bool follows = false;                     // what another one's comparison chose (arg max)
};

class Reductions {
public:
    Reductions(const LoopInfo& loops, const DominatorTree& dominators)
        : loops_(loops), dominators_(dominators) {}

    // Heads of loops from the outermost in; `counted` says which phis are inductions.
    template <class IsInduction>
    void find(const std::vector<Loop*>& in_preorder, const IsInduction& is_induction) {
        for (Loop* const loop : in_preorder) {
            std::vector<Reduction> candidates;
            for (PHINode& phi : loop->getHeader()->phis()) {
                if (of_.contains(&phi) || is_induction(phi, *loop)) continue;
                Reduction candidate;
                if (follow(phi, *loop, candidate)) candidates.push_back(candidate);
            }
            accept(candidates);
        }
    }
    // nullptr: of none.
    const Reduction* of(const Value* v) const {
        const auto found = of_.find(v);
        return found == of_.end() ? nullptr : &all_[found->second];
    }
    unsigned number(const Reduction& r) const { return static_cast<unsigned>(&r - all_.data()); }
    const std::vector<Reduction>& all() const { return all_; }

private:
    static bool chooses(const Reduction& r, const CmpInst& compare, const Value* running,
                        const Value* other) {
        (void)r;
        return (compare.getOperand(0) == running && compare.getOperand(1) == other) ||
               (compare.getOperand(1) == running && compare.getOperand(0) == other);
    }
    bool fold_with(Reduction& r, Fold fold) {
        if (fold == Fold::none || (r.fold != Fold::none && r.fold != fold)) return false;
        r.fold = fold;
        return true;
    }
    // All that is made of the running value within the loop.
    bool follow(PHINode& root, Loop& loop, Reduction& r) {
        r.root = &root;
        r.loop = &loop;
        r.values.insert(&root);
        SmallSetVector<const CmpInst*, 4> compared;
        for (unsigned n = 0; n < r.values.size(); ++n)
            for (User* const user : r.values[n]->users()) {
                auto* const i = cast<Instruction>(user);
                if (!loop.contains(i)) continue;
                if (auto* const phi = dyn_cast<PHINode>(i)) {
                    if (phi != &root && phi->getParent() == loop.getHeader()) return false;
                    r.values.insert(phi);
                } else if (auto* const choice = dyn_cast<SelectInst>(i)) {
                    if (choice->getCondition() == r.values[n]) return false;
                    r.values.insert(choice);
                } else if (auto* const compare = dyn_cast<CmpInst>(i)) {
                    compared.insert(compare);
                } else if (const Fold fold = fold_of(*i, r.values[n]); fold != Fold::none) {
                    if (!fold_with(r, fold)) return false;
                    if (r.values.insert(i)) r.operations.push_back(i);
                } else {
                    return false;
                }
            }
        if (!r.values.contains(root.getIncomingValueForBlock(loop.getLoopLatch()))) return false;
        for (Value* const v : r.values)
            if (!closed(r, *v)) return false;
        for (const CmpInst* const compare : compared)
            if (!r.compares.contains(compare)) return false;
        for (const CmpInst* const compare : r.compares)
            if (!only_chooses(*compare)) return false;
        r.follows = r.fold == Fold::none;
        return !r.follows || !r.compares.empty();
    }
    // Nothing else comes in, but what a comparison with the running value chooses.
    bool closed(Reduction& r, Value& v) {
        if (&v == r.root) return true;
        if (auto* const choice = dyn_cast<SelectInst>(&v)) {
            const bool first = r.values.contains(choice->getTrueValue());
            const bool second = r.values.contains(choice->getFalseValue());
            if (first && second) return true;
            auto* const compare = dyn_cast<CmpInst>(choice->getCondition());
            Value* const running = first ? choice->getTrueValue() : choice->getFalseValue();
            Value* const other = first ? choice->getFalseValue() : choice->getTrueValue();
            return compare != nullptr && chosen(r, *compare, running, other, second);
        }
        if (auto* const phi = dyn_cast<PHINode>(&v)) {
            Value* running = nullptr;
            Value* other = nullptr;
            BasicBlock* from = nullptr;
            for (unsigned n = 0; n < phi->getNumIncomingValues(); ++n) {
                Value* const in = phi->getIncomingValue(n);
                if (r.values.contains(in)) {
                    running = in;
                } else {
                    if (other != nullptr) return false;
                    other = in;
                    from = phi->getIncomingBlock(n);
                }
            }
            if (other == nullptr) return true;
            if (running == nullptr || phi->getNumIncomingValues() != 2) return false;
            const auto* const head = dominators_.getNode(phi->getParent())->getIDom();
            if (head == nullptr) return false;
            auto* const branch = dyn_cast<BranchInst>(head->getBlock()->getTerminator());
            if (branch == nullptr || !branch->isConditional()) return false;
            auto* const compare = dyn_cast<CmpInst>(branch->getCondition());
            if (compare == nullptr) return false;
            const BasicBlockEdge taken(head->getBlock(), branch->getSuccessor(0));
            const BasicBlockEdge not_taken(head->getBlock(), branch->getSuccessor(1));
            const BasicBlockEdge into(from, phi->getParent());
            const auto through = [&](const BasicBlockEdge& edge) {
                return (edge.getStart() == into.getStart() && edge.getEnd() == into.getEnd()) ||
                       dominators_.dominates(edge, from);
            };
            if (through(taken) == through(not_taken)) return false;
            return chosen(r, *compare, running, other, through(taken));
        }
        return true;  // an operation: `follow` has looked at it
    }
    bool chosen(Reduction& r, const CmpInst& compare, Value* running, Value* other,
                bool where_true) {
        if (chooses(r, compare, running, other)) {
            if (!fold_with(r, chosen_by(compare, running, where_true))) return false;
        } else if (r.fold != Fold::none) {
            return false;
        }
        r.compares.insert(&compare);
        return true;
    }
    // Selects and branches, which have no operations of other reductions behind them (`accept`).
    static bool only_chooses(const CmpInst& compare) {
        for (const User* const user : compare.users())
            if (!isa<BranchInst>(user) &&
                !(isa<SelectInst>(user) && cast<SelectInst>(user)->getCondition() == &compare))
                return false;
        return true;
    }
    void accept(std::vector<Reduction>& candidates) {
        SmallPtrSet<const CmpInst*, 8> choosing;
        for (const Reduction& r : candidates)
            if (!r.follows) choosing.insert(r.compares.begin(), r.compares.end());
        for (Reduction& r : candidates) {
            bool sound = true;
            if (r.follows)
                for (const CmpInst* const compare : r.compares)
                    sound = sound && choosing.contains(compare);
            for (const Instruction* const i : r.operations)
                sound = sound && !depends_on(*i, choosing);
            if (!sound) continue;
            for (Value* const v : r.values) of_[v] = all_.size();
            all_.push_back(r);
        }
    }
    // Whether it is executed at all depends on one of the comparisons.
    bool depends_on(const Instruction& i, const SmallPtrSetImpl<const CmpInst*>& compares) const {
        if (compares.empty()) return false;
        const BasicBlock* const own = i.getParent();
        for (const CmpInst* const compare : compares)
            for (const User* const user : compare->users()) {
                const auto* const branch = dyn_cast<BranchInst>(user);
                if (branch == nullptr) continue;
                for (const BasicBlock* const to : branch->successors())
                    if (dominators_.dominates(BasicBlockEdge(branch->getParent(), to), own))
                        return true;
            }
        return false;
    }

    const LoopInfo& loops_;
    const DominatorTree& dominators_;
    std::vector<Reduction> all_;
    DenseMap<const Value*, std::size_t> of_;
};

}  // namespace occupipe_match
