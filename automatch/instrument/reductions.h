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

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace occupipe_match {

using namespace llvm;

// Signed and unsigned integers are in two different orders.
enum class Fold {
    none,
    sum,
    product,
    minimum,
    maximum,
    unsigned_minimum,
    unsigned_maximum,
    conjunction,
    disjunction,
    parity,
    last
};

inline bool is_extreme(Fold fold) {
    return fold == Fold::minimum || fold == Fold::maximum || fold == Fold::unsigned_minimum ||
           fold == Fold::unsigned_maximum;
}

inline const char* name_of(Fold fold) {
    switch (fold) {
        case Fold::sum:
            return "sum";
        case Fold::product:
            return "product";
        case Fold::minimum:
        case Fold::unsigned_minimum:
            return "minimum";
        case Fold::maximum:
        case Fold::unsigned_maximum:
            return "maximum";
        case Fold::last:
            return "last";
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
            return first_or_second ? Fold::maximum : Fold::none;
        case Intrinsic::umax:
            return first_or_second ? Fold::unsigned_maximum : Fold::none;
        case Intrinsic::minnum:
        case Intrinsic::minimum:
        case Intrinsic::smin:
            return first_or_second ? Fold::minimum : Fold::none;
        case Intrinsic::umin:
            return first_or_second ? Fold::unsigned_minimum : Fold::none;
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
inline Fold chosen_by(CmpInst::Predicate p, bool running_first, bool where_true) {
    if (running_first) p = CmpInst::getSwappedPredicate(p);
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
    if (CmpInst::isUnsigned(p))
        return greater == where_true ? Fold::unsigned_maximum : Fold::unsigned_minimum;
    return greater == where_true ? Fold::maximum : Fold::minimum;
}

// The same number, or its lowest bits: sums and the like of small integers are made in `int`, those
// of `float` with terms in `double` in double precision.
inline bool keeps_number(const Value& v) {
    return isa<ZExtInst>(v) || isa<SExtInst>(v) || isa<FPExtInst>(v) || isa<FPTruncInst>(v) ||
           (isa<TruncInst>(v) && !v.getType()->isIntegerTy(1));
}
inline const Value* widened_from(const Value* v) {
    while (isa<ZExtInst>(v) || isa<SExtInst>(v) || isa<FPExtInst>(v))
        v = cast<Instruction>(v)->getOperand(0);
    return v;
}
// What a number of a type was before it was widened and narrowed again, or rounded; nullptr where
// bits of it are lost.
inline const Value* number_in(const Value* v, const Type* type) {
    if (isa<FPTruncInst>(v) && v->getType() == type) v = cast<Instruction>(v)->getOperand(0);
    const Value* const narrow =
        widened_from(isa<TruncInst>(v) ? cast<Instruction>(v)->getOperand(0) : v);
    if (narrow->getType() == type || type->isFloatingPointTy()) return narrow;
    return v->getType() == type ? v : nullptr;
}
// What is kept of a number that was compared before: another number may be under the one and over
// the other.
inline bool is_rounded(const Value* kept, const Type* type) {
    const Value* const number = number_in(kept, type);
    return number != nullptr &&
           number->getType()->getPrimitiveSizeInBits() > type->getPrimitiveSizeInBits();
}
// A comparison of numbers before they were widened alike: of integers, too, an order is kept, that
// of zero-extended ones is unsigned.
struct Comparison {
    const Value* one;
    const Value* other;
    CmpInst::Predicate predicate;
};
inline Comparison compared_numbers(const CmpInst& compare) {
    const Value* a = compare.getOperand(0);
    const Value* b = compare.getOperand(1);
    CmpInst::Predicate predicate = compare.getPredicate();
    if (a->getType()->isFloatingPointTy()) return {widened_from(a), widened_from(b), predicate};
    while ((isa<SExtInst>(a) || isa<ZExtInst>(a)) && isa<CastInst>(b) &&
           cast<Instruction>(a)->isSameOperationAs(cast<Instruction>(b))) {
        if (isa<ZExtInst>(a)) predicate = ICmpInst::getUnsignedPredicate(predicate);
        a = cast<Instruction>(a)->getOperand(0);
        b = cast<Instruction>(b)->getOperand(0);
    }
    return {a, b, predicate};
}
// Nothing is written behind it within its block.
inline bool is_kept(const LoadInst& load) {
    return std::none_of(load.getIterator(), load.getParent()->end(),
                        [](const Instruction& i) { return i.mayWriteToMemory(); });
}

// Where conditions decide whether a running value stays or becomes another one.
struct Choice {
    BasicBlock* merge = nullptr;              // of a phi; nullptr: a select
    SmallSetVector<BasicBlock*, 8> deciding;  // up to it
    SmallSetVector<Value*, 8> conditions;
    std::vector<Value*> chosen;  // by their outcomes, one bit each; nullptr: it stays
    const Value* stays = nullptr;

    bool same_as(const Choice& other) const {
        return conditions.getArrayRef() == other.conditions.getArrayRef() &&
               std::equal(
                   chosen.begin(), chosen.end(), other.chosen.begin(), other.chosen.end(),
                   [](const Value* a, const Value* b) { return (a == nullptr) == (b == nullptr); });
    }
};

struct Reduction {
    PHINode* root = nullptr;  // at the head of the outermost loop
    Loop* loop = nullptr;
    Fold fold = Fold::none;
    SmallSetVector<Value*, 8> values;
    std::vector<Instruction*> operations;
    std::vector<std::pair<const Value*, Choice>> choices;
    SmallSetVector<Instruction*, 4> conditions;  // that the running value is part of
    SmallSetVector<Instruction*, 4> looked_up;   // what lies at a running place: x[at]
    bool follows = false;                        // what another one's comparison chose (arg max)
};

class Reductions {
public:
    // `says`: a condition of a constant and a running value, were the other in its place.
    Reductions(const LoopInfo& loops, const DominatorTree& dominators,
               std::function<bool(PHINode&, const Loop&)> is_induction,
               std::function<std::optional<bool>(Value&, Value&)> says)
        : is_induction_(std::move(is_induction)),
          says_(std::move(says)),
          loops_(loops),
          dominators_(dominators) {}

    // Heads of loops from the outermost in.
    void find(const std::vector<Loop*>& in_preorder) {
        for (Loop* const loop : in_preorder) {
            std::vector<Reduction> candidates;
            for (PHINode& phi : loop->getHeader()->phis()) {
                if (of_.contains(&phi) || is_induction_(phi, *loop)) continue;
                Reduction candidate;
                if (follow(phi, *loop, candidate)) candidates.push_back(candidate);
            }
            accept(std::move(candidates));
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
    static constexpr unsigned most_conditions = 6;
    static constexpr unsigned most_blocks = 16;

    static bool fold_with(Reduction& r, Fold fold) {
        if (fold == Fold::none || (r.fold != Fold::none && r.fold != fold)) return false;
        r.fold = fold;
        return true;
    }
    // All that is made of the running value within the loop.
    bool follow(PHINode& root, Loop& loop, Reduction& r) {
        r.root = &root;
        r.loop = &loop;
        r.values.insert(&root);
        if (!follow_users(r, 0)) return false;
        // What a condition alone makes of it: all = all && x;
        Value* next = root.getIncomingValueForBlock(loop.getLoopLatch());
        const std::size_t known = r.values.size();
        for (; !r.values.contains(next) && keeps_number(*next);
             next = cast<Instruction>(next)->getOperand(0))
            r.values.insert(next);
        if (!r.values.contains(next)) {
            auto* const phi = dyn_cast<PHINode>(next);
            if (phi == nullptr || !loop.contains(phi) || loops_.isLoopHeader(phi->getParent()))
                return false;
            r.values.insert(phi);
        }
        if (!follow_users(r, known)) return false;
        for (Value* const v : r.values)
            if (!find_choice(r, *v)) return false;
        // Once in each: s + (s + x) doubles what was summed before.
        for (const Instruction* const i : r.operations)
            if (count_if(i->operands(), [&](const Use& in) { return r.values.contains(in); }) > 1)
                return false;
        // By one rule, which stays what it is for as long as the loop is not left.
        if (!r.looked_up.empty() && (r.choices.size() != 1 || writes_in(loop))) return false;
        return r.operations.empty() || !narrowed(r) || !is_extreme(r.fold);
    }
    static bool writes(const Instruction& i) {
        return i.mayWriteToMemory() && !i.isLifetimeStartOrEnd();
    }
    static bool writes_in(const Loop& loop) {
        return any_of(loop.blocks(), [](const BasicBlock* b) { return any_of(*b, writes); });
    }
    // Of what lies at a running place: that nothing but a comparison takes it.
    static bool look_up(Reduction& r, Instruction& first) {
        r.looked_up.insert(&first);
        for (std::size_t n = 0; n < r.looked_up.size(); ++n) {
            const auto* const load = dyn_cast<LoadInst>(r.looked_up[n]);
            if (load != nullptr && load->isVolatile()) return false;
            for (User* const user : r.looked_up[n]->users()) {
                auto* const i = cast<Instruction>(user);
                if (isa<CmpInst>(i) && !r.looked_up[n]->getType()->isPointerTy())
                    r.conditions.insert(i);
                else if (isa<GetElementPtrInst>(i) || isa<LoadInst>(i) || keeps_number(*i))
                    r.looked_up.insert(i);
                else
                    return false;
            }
        }
        return true;
    }
    static bool narrowed(const Reduction& r) {
        return any_of(r.values, [](const Value* v) {
            return v->getType()->isIntegerTy() && keeps_number(*v);
        });
    }
    bool follow_users(Reduction& r, std::size_t from) {
        for (std::size_t n = from; n < r.values.size(); ++n)
            for (User* const user : r.values[n]->users()) {
                auto* const i = cast<Instruction>(user);
                if (!r.loop->contains(i)) continue;
                if (auto* const phi = dyn_cast<PHINode>(i)) {
                    if (phi != r.root && phi->getParent() == r.loop->getHeader()) return false;
                    r.values.insert(phi);
                } else if (auto* const choice = dyn_cast<SelectInst>(i)) {
                    if (choice->getCondition() == r.values[n]) return false;
                    r.values.insert(choice);
                } else if (isa<CmpInst>(i) || (isa<TruncInst>(i) && i->getType()->isIntegerTy(1))) {
                    r.conditions.insert(i);
                } else if (isa<GetElementPtrInst>(i) || isa<LoadInst>(i)) {
                    if (!look_up(r, *i)) return false;
                } else if (keeps_number(*i)) {
                    if (i->getType()->getPrimitiveSizeInBits() <
                        r.root->getType()->getPrimitiveSizeInBits())
                        return false;
                    r.values.insert(i);
                } else if (const Fold fold = fold_of(*i, r.values[n]); fold != Fold::none) {
                    if (!fold_with(r, fold)) return false;
                    if (r.values.insert(i)) r.operations.push_back(i);
                } else {
                    return false;
                }
            }
        return true;
    }

    // Where something else comes in: what decides it.
    bool find_choice(Reduction& r, Value& v) {
        Choice choice;
        if (auto* const select = dyn_cast<SelectInst>(&v)) {
            choice.conditions.insert(select->getCondition());
            for (Value* const in : {select->getFalseValue(), select->getTrueValue()}) {
                if (r.values.contains(in)) choice.stays = in;
                choice.chosen.push_back(r.values.contains(in) ? nullptr : in);
            }
        } else if (auto* const phi = dyn_cast<PHINode>(&v); phi != nullptr && phi != r.root) {
            SmallPtrSet<const Value*, 4> running;
            for (Value* const in : phi->incoming_values())
                if (r.values.contains(in)) running.insert(in);
            const bool all = all_of(phi->incoming_values(),
                                    [&](const Use& in) { return running.contains(in.get()); });
            if (all) return true;
            if (running.size() > 1 || !find_deciding(*phi->getParent(), choice)) return false;
            if (!running.empty()) choice.stays = *running.begin();
            for (unsigned outcome = 0; outcome < 1U << choice.conditions.size(); ++outcome) {
                Value* const in = phi->getIncomingValueForBlock(way(choice, outcome));
                choice.chosen.push_back(r.values.contains(in) ? nullptr : in);
            }
        }
        if (any_of(choice.chosen, [](const Value* in) { return in != nullptr; }))
            r.choices.push_back({&v, choice});
        return true;
    }
    // The blocks between two that all goes through, without loops within.
    bool find_deciding(BasicBlock& merge, Choice& choice) {
        const auto* const above = dominators_.getNode(&merge)->getIDom();
        if (above == nullptr || loops_.isLoopHeader(&merge)) return false;
        choice.merge = &merge;
        choice.deciding.insert(above->getBlock());
        for (BasicBlock* const from : predecessors(&merge)) choice.deciding.insert(from);
        for (unsigned n = 0; n < choice.deciding.size(); ++n) {
            BasicBlock* const block = choice.deciding[n];
            auto* const branch = dyn_cast<BranchInst>(block->getTerminator());
            if (branch == nullptr || choice.deciding.size() > most_blocks ||
                loops_.getLoopFor(block) != loops_.getLoopFor(&merge))
                return false;
            if (n > 0)
                for (BasicBlock* const from : predecessors(block)) choice.deciding.insert(from);
        }
        // In the order in which they are come to, the same for all that is chosen here.
        for (BasicBlock* const block : choice.deciding) {
            auto* const branch = cast<BranchInst>(block->getTerminator());
            for (BasicBlock* const to : branch->successors())
                if (to != &merge &&
                    (!choice.deciding.contains(to) || to == choice.deciding.front()))
                    return false;
            if (branch->isConditional()) choice.conditions.insert(branch->getCondition());
        }
        return choice.conditions.size() <= most_conditions;
    }
    // The block from which the merge is come to.
    static BasicBlock* way(const Choice& choice, unsigned outcome) {
        BasicBlock* from = choice.deciding.front();
        for (;;) {
            auto* const branch = cast<BranchInst>(from->getTerminator());
            unsigned successor = 0;
            if (branch->isConditional())
                for (unsigned k = 0; k < choice.conditions.size(); ++k)
                    if (choice.conditions[k] == branch->getCondition())
                        successor = 1 - (outcome >> k & 1);
            if (branch->getSuccessor(successor) == choice.merge) return from;
            from = branch->getSuccessor(successor);
        }
    }

    // ---- what conditions do to running values

    // Of what is the same in whatever order iterations are made.
    bool is_free(Value* condition, const Loop& loop) const {
        SmallSetVector<Value*, 16> from;
        from.insert(condition);
        for (unsigned n = 0; n < from.size(); ++n) {
            auto* const i = dyn_cast<Instruction>(from[n]);
            if (i == nullptr || !loop.contains(i)) continue;
            auto* const phi = dyn_cast<PHINode>(i);
            if (phi != nullptr && phi->getParent() == loop.getHeader()) {
                if (!is_induction_(*phi, loop)) return false;
            } else {
                from.insert(i->op_begin(), i->op_end());
            }
        }
        return true;
    }
    static Reduction* owner(std::vector<Reduction>& all, Value* condition) {
        auto* const i = dyn_cast<Instruction>(condition);
        for (Reduction& r : all)
            if (i != nullptr && r.conditions.contains(i)) return &r;
        return nullptr;
    }
    // Made alike, perhaps twice, of values that are the same when the choice is made.
    static bool same_value(const Value* a, const Value* b, const Choice& choice,
                           unsigned most_deep = 8) {
        if (a == b) return true;
        const auto* const one = dyn_cast<Instruction>(a);
        const auto* const other = dyn_cast<Instruction>(b);
        if (one == nullptr || other == nullptr || most_deep == 0 || isa<PHINode>(one) ||
            one->mayHaveSideEffects() || isa<CallBase>(one) || isa<AllocaInst>(one) ||
            !one->isSameOperationAs(other) || !stays_the_same(*one, choice) ||
            !stays_the_same(*other, choice))
            return false;
        for (unsigned n = 0; n < one->getNumOperands(); ++n)
            if (!same_value(one->getOperand(n), other->getOperand(n), choice, most_deep - 1))
                return false;
        return true;
    }
    static bool stays_the_same(const Instruction& i, const Choice& choice) {
        const auto* const load = dyn_cast<LoadInst>(&i);
        return load == nullptr ||
               (choice.deciding.contains(const_cast<BasicBlock*>(i.getParent())) &&
                is_kept(*load) && writes_nothing(choice));
    }
    static bool writes_nothing(const Choice& choice) {
        for (const BasicBlock* const block : choice.deciding)
            if (block != choice.deciding.front() &&
                any_of(*block, [](const Instruction& i) { return i.mayWriteToMemory(); }))
                return false;
        return true;
    }
    static const Value* without_casts(const Value* v) {
        while (keeps_number(*v)) v = cast<Instruction>(v)->getOperand(0);
        return v;
    }
    // Of a comparison with what may be chosen: which fold it makes to choose it where it holds.
    static Fold key(const Reduction& r, const Choice& choice, unsigned condition,
                    const Value* chosen, bool holds) {
        const auto* const compare = dyn_cast<CmpInst>(choice.conditions[condition]);
        const Value* const other = number_in(chosen, r.root->getType());
        if (compare == nullptr || other == nullptr || choice.stays == nullptr) return Fold::none;
        const auto [a, b, predicate] = compared_numbers(*compare);
        const bool first = corresponds(a, b, other, choice, *r.loop);
        if (!first && !corresponds(b, a, other, choice, *r.loop)) return Fold::none;
        return chosen_by(predicate, first, holds);
    }
    // What stays (not what it was before), and what may be chosen; or what is found by either in
    // what is the same in all iterations.
    static bool corresponds(const Value* running, const Value* v, const Value* chosen,
                            const Choice& choice, const Loop& loop) {
        if (without_casts(running) == without_casts(choice.stays) && same_value(v, chosen, choice))
            return true;
        const auto* const one = dyn_cast<Instruction>(running);
        const auto* const other = dyn_cast<Instruction>(v);
        if (one == nullptr || other == nullptr || !one->isSameOperationAs(other) ||
            !(isa<LoadInst>(one) || isa<GetElementPtrInst>(one) || isa<CastInst>(one)))
            return false;
        bool any = false;
        for (unsigned n = 0; n < one->getNumOperands(); ++n) {
            if (one->getOperand(n) == other->getOperand(n) &&
                loop.isLoopInvariant(one->getOperand(n)))
                continue;
            if (!corresponds(one->getOperand(n), other->getOperand(n), chosen, choice, loop))
                return false;
            any = true;
        }
        return any;
    }
    // A yes or no about the running value alone.
    static bool is_guard(const Value* condition) {
        const auto* const compare = dyn_cast<CmpInst>(condition);
        return compare == nullptr || isa<Constant>(compare->getOperand(0)) ||
               isa<Constant>(compare->getOperand(1));
    }
    static bool looks_up(const Reduction& r, const Value* condition) {
        return any_of(cast<Instruction>(condition)->operands(), [&](const Use& in) {
            return r.looked_up.contains(dyn_cast<Instruction>(in));
        });
    }
    // What a guard says once something was chosen, where that is always the same.
    std::optional<bool> once_chosen(const Reduction& r, Value* guard) const {
        std::optional<bool> all;
        for (const auto& [unused, choice] : r.choices)
            for (Value* const chosen : choice.chosen) {
                if (chosen == nullptr) continue;
                const std::optional<bool> one = says_(*guard, *chosen);
                if (!one || (all && *all != *one)) return std::nullopt;
                all = one;
            }
        return all;
    }
    static bool rounds(const Reduction& r) {
        return any_of(r.choices, [&](const auto& own) {
            return any_of(own.second.chosen, [&](const Value* chosen) {
                return chosen != nullptr && is_rounded(chosen, r.root->getType());
            });
        });
    }
    static bool decided_alike(const Reduction& r, const Choice& choice) {
        return any_of(r.choices, [&](const auto& own) { return own.second.same_as(choice); });
    }
    // Whether parts of the loop can be put together in any order of making them: where nothing
    // running is looked at (the last counts), by a key (a minimum, and what goes with it), at the
    // first of all without one, or by one yes or no alone.
    bool is_sound(Reduction& r, const Choice& choice, std::vector<Reduction>& all) const {
        unsigned keys = 0;
        unsigned guards = 0;
        Value* guard = nullptr;
        Reduction* guarded = nullptr;
        const Reduction* chooser = nullptr;
        for (unsigned k = 0; k < choice.conditions.size(); ++k) {
            Value* const condition = choice.conditions[k];
            Reduction* const of = owner(all, condition);
            if (of == nullptr) {
                if (!is_free(condition, *r.loop)) return false;
            } else if (is_guard(condition)) {
                if (guard != nullptr || looks_up(*of, condition)) return false;
                guards = 1U << k;
                guard = condition;
                guarded = of;
            } else {
                if (keys != 0) return guards == 0 && is_ranked(r, choice, all);
                keys = 1U << k;
                chooser = of;
            }
        }
        if (keys == 0) {
            if (!r.operations.empty()) return false;
            if (guard == nullptr) return fold_with(r, Fold::last);
            return guarded->operations.empty() &&
                   llvm::all_of(guarded->choices,
                                [&](const auto& own) {
                                    return llvm::all_of(own.second.conditions, [&](Value* c) {
                                        return c == guard || owner(all, c) == nullptr;
                                    });
                                }) &&
                   fold_with(r, Fold::disjunction);
        }
        if (chooser->root != r.root) {
            r.follows =
                r.operations.empty() && decided_alike(*chooser, choice) && !rounds(*chooser);
            return r.follows;
        }
        unsigned begun = 0;
        if (guard != nullptr) {
            const std::optional<bool> says = once_chosen(*guarded, guard);
            if (!says || !decided_alike(*guarded, choice) || !r.operations.empty()) return false;
            begun = *says ? guards : 0;
        }
        for (unsigned outcome = 0; outcome < choice.chosen.size(); ++outcome) {
            if ((outcome & keys) != 0) continue;
            Value* const without = choice.chosen[outcome];
            Value* const with = choice.chosen[outcome | keys];
            if (without == with) {
                if (with != nullptr && !r.operations.empty()) return false;
                continue;
            }
            if (without != nullptr && with != nullptr) return false;
            const unsigned at = bit_of(keys);
            if ((outcome & guards) != begun) return false;
            if (!fold_with(r,
                           key(r, choice, at, with != nullptr ? with : without, with != nullptr)))
                return false;
        }
        return r.fold != Fold::none;
    }

    // ---- several comparisons at once: `x < least || (x == least && i < at)`, or `if (x < least) …
    // else if (x > most) …`

    // What is chosen of a reduction at a choice that is its only one; nullptr: none, or several.
    static const Value* only_chosen(const Reduction& r, const Choice& choice) {
        if (r.choices.size() != 1 || !r.operations.empty() || !r.looked_up.empty()) return nullptr;
        const Choice& own = r.choices.front().second;
        const Value* only = nullptr;
        if (own.merge != choice.merge ||
            own.conditions.getArrayRef() != choice.conditions.getArrayRef())
            return nullptr;
        for (const Value* const chosen : own.chosen)
            if (chosen != nullptr && std::exchange(only, chosen) != nullptr && only != chosen)
                return nullptr;
        return only;
    }
    // How a candidate stands to a running value: under, like or over it.
    static constexpr unsigned under = 0;
    static constexpr unsigned like = 1;
    static constexpr unsigned over = 2;
    // Of a comparison of the two: whether it holds; `order`: signed or unsigned.
    static std::optional<bool> holds(const CmpInst& compare, const Reduction& r, unsigned way,
                                     std::optional<bool>& order) {
        const Choice& choice = r.choices.front().second;
        const Value* const chosen = number_in(only_chosen(r, choice), r.root->getType());
        if (chosen == nullptr || choice.stays == nullptr) return std::nullopt;
        const auto [a, b, predicate] = compared_numbers(compare);
        const bool first = corresponds(a, b, chosen, choice, *r.loop);
        if (!first && !corresponds(b, a, chosen, choice, *r.loop)) return std::nullopt;
        if (predicate == CmpInst::FCMP_OEQ || predicate == CmpInst::ICMP_EQ) return way == like;
        if (predicate == CmpInst::FCMP_UNE || predicate == CmpInst::ICMP_NE) return way != like;
        const Fold fold = chosen_by(predicate, first, true);
        const bool is_unsigned = CmpInst::isUnsigned(predicate);
        if (fold == Fold::none || order.value_or(is_unsigned) != is_unsigned) return std::nullopt;
        order = is_unsigned;
        if (way == like) return CmpInst::isNonStrictPredicate(predicate);
        return (fold == Fold::minimum || fold == Fold::unsigned_minimum) == (way == under);
    }
    // Of one or two running values that all conditions compare: outcomes of the conditions, by how
    // candidates stand to both.
    struct Ranking {
        std::vector<const Reduction*> owners;
        std::array<std::array<unsigned, 3>, 3> outcomes{};
        std::array<std::optional<bool>, 2> order;  // of each: whether it is unsigned
    };
    static bool rank(const Choice& choice, std::vector<Reduction>& all, Ranking& ranking) {
        for (Value* const condition : choice.conditions) {
            const Reduction* const of = owner(all, condition);
            if (of == nullptr || !isa<CmpInst>(condition) || only_chosen(*of, choice) == nullptr ||
                rounds(*of))
                return false;
            if (!is_contained(ranking.owners, of)) ranking.owners.push_back(of);
        }
        if (ranking.owners.size() > 2) return false;
        for (unsigned k = 0; k < choice.conditions.size(); ++k) {
            const Reduction* const of = owner(all, choice.conditions[k]);
            const unsigned n = of == ranking.owners.front() ? 0 : 1;
            for (unsigned one : {under, like, over})
                for (unsigned other : {under, like, over}) {
                    const auto is = holds(*cast<CmpInst>(choice.conditions[k]), *of,
                                          n == 0 ? one : other, ranking.order[n]);
                    if (!is) return false;
                    ranking.outcomes[one][other] |= (*is ? 1U : 0U) << k;
                }
        }
        return true;
    }
    // Whether it is chosen just where it is said to be, where that is said.
    template <class Says>
    static bool chosen_where(const Reduction& r, const Ranking& ranking, const Says& says) {
        for (unsigned one : {under, like, over})
            for (unsigned other : {under, like, over}) {
                const std::optional<bool> said = says(one, other);
                const auto& chosen = r.choices.front().second.chosen;
                if (said && *said != (chosen[ranking.outcomes[one][other]] != nullptr))
                    return false;
            }
        return true;
    }
    // By the first of two, and where that is like the running one by the second.
    static bool is_lexicographic(Reduction& r, const Ranking& ranking, unsigned first, unsigned way,
                                 unsigned second_way) {
        const auto of_first = [&](unsigned one, unsigned other) -> std::optional<bool> {
            const unsigned mine = first == 0 ? one : other;
            return mine == like ? std::nullopt : std::optional(mine == way);
        };
        const auto of_second = [&](unsigned one, unsigned other) -> std::optional<bool> {
            const unsigned mine = first == 0 ? other : one;
            if (const auto said = of_first(one, other)) return said;
            return mine == like ? std::nullopt : std::optional(mine == second_way);
        };
        const Reduction& decides = *ranking.owners[first];
        if (!chosen_where(decides, ranking, of_first)) return false;
        if (ranking.owners.size() == 2 &&
            !chosen_where(*ranking.owners[1 - first], ranking, of_second))
            return false;
        if (decides.root == r.root)
            return fold_with(r, way == under ? Fold::minimum : Fold::maximum);
        r.follows = ranking.owners.size() == 2 ? chosen_where(r, ranking, of_second)
                                               : chosen_where(r, ranking, of_first);
        return r.follows;
    }
    // The least and the most of values, which began alike: none is under the least and over the
    // most.
    static bool is_range(Reduction& r, const Ranking& ranking, unsigned least) {
        if (ranking.owners.size() != 2 || ranking.order[0] != ranking.order[1]) return false;
        const Reduction& low = *ranking.owners[least];
        const Reduction& high = *ranking.owners[1 - least];
        const auto start = [](const Reduction& of) {
            return of.root->getIncomingValueForBlock(of.loop->getLoopPreheader());
        };
        if (start(low) != start(high) || only_chosen(low, low.choices.front().second) !=
                                             only_chosen(high, high.choices.front().second))
            return false;
        const auto says = [&](unsigned mine, unsigned its, unsigned way) -> std::optional<bool> {
            if (mine == like || (mine == way && its == over - way)) return std::nullopt;
            return mine == way;
        };
        const auto of_low = [&](unsigned one, unsigned other) {
            return least == 0 ? says(one, other, under) : says(other, one, under);
        };
        const auto of_high = [&](unsigned one, unsigned other) {
            return least == 0 ? says(other, one, over) : says(one, other, over);
        };
        if (!chosen_where(low, ranking, of_low) || !chosen_where(high, ranking, of_high))
            return false;
        if (low.root == r.root) return fold_with(r, Fold::minimum);
        if (high.root == r.root) return fold_with(r, Fold::maximum);
        r.follows = chosen_where(r, ranking, of_low) || chosen_where(r, ranking, of_high);
        return r.follows;
    }
    static bool is_ranked(Reduction& r, const Choice& choice, std::vector<Reduction>& all) {
        Ranking ranking;
        if (only_chosen(r, choice) == nullptr || !rank(choice, all, ranking)) return false;
        for (unsigned first = 0; first < ranking.owners.size(); ++first) {
            for (const unsigned way : {under, over})
                for (const unsigned second_way : {under, over})
                    if (is_lexicographic(r, ranking, first, way, second_way)) return true;
            if (is_range(r, ranking, first)) return true;
        }
        return false;
    }
    static unsigned bit_of(unsigned mask) { return static_cast<unsigned>(countr_zero(mask)); }

    // Nothing else depends on a condition that a running value is part of.
    bool only_decides(const Instruction& condition, const std::vector<Reduction>& all) const {
        return llvm::all_of(condition.users(), [&](const User* user) {
            if (const auto* const select = dyn_cast<SelectInst>(user))
                return select->getCondition() == &condition && is_choice(select, all);
            const auto* const branch = dyn_cast<BranchInst>(user);
            if (branch == nullptr) return false;
            for (const Reduction& r : all)
                for (const auto& [unused, choice] : r.choices)
                    if (choice.deciding.contains(const_cast<BasicBlock*>(branch->getParent())))
                        return nothing_else(*branch->getParent(), choice, all);
            return false;
        });
    }
    static bool is_choice(const Value* v, const std::vector<Reduction>& all) {
        return any_of(all, [&](const Reduction& r) {
            return any_of(r.choices, [&](const auto& own) { return own.first == v; });
        });
    }
    // From the end of a block on, up to where a choice is made.
    bool nothing_else(const BasicBlock& from, const Choice& choice,
                      const std::vector<Reduction>& all) const {
        SmallSetVector<const BasicBlock*, 8> behind;
        behind.insert(&from);
        for (unsigned n = 0; n < behind.size(); ++n)
            for (const BasicBlock* const to : successors(behind[n]))
                if (to != choice.merge) behind.insert(to);
        const auto plain = [&](const PHINode& phi) {
            const Value* only = nullptr;
            for (unsigned n = 0; n < phi.getNumIncomingValues(); ++n) {
                if (!behind.contains(phi.getIncomingBlock(n))) continue;
                if (only != nullptr && only != phi.getIncomingValue(n)) return is_choice(&phi, all);
                only = phi.getIncomingValue(n);
            }
            return true;
        };
        for (const BasicBlock* const block : behind)
            if (block != &from)
                for (const Instruction& i : *block)
                    if ((i.mayHaveSideEffects() && !i.isLifetimeStartOrEnd()) ||
                        (isa<PHINode>(i) && !plain(cast<PHINode>(i))))
                        return false;
        return llvm::all_of(choice.merge->phis(), plain);
    }
    void accept(std::vector<Reduction> candidates) {
        for (bool all = false; !all;) {
            std::vector<Reduction> sound = candidates;
            all = true;
            for (std::size_t n = candidates.size(); n-- > 0;) {
                Reduction& r = sound[n];
                const bool good =
                    llvm::all_of(
                        r.choices,
                        [&](const auto& own) { return is_sound(r, own.second, candidates); }) &&
                    llvm::all_of(
                        r.conditions,
                        [&](const Instruction* c) { return only_decides(*c, candidates); }) &&
                    (r.fold != Fold::none || r.follows);
                if (good) continue;
                all = false;
                candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(n));
                break;
            }
            if (all) candidates = std::move(sound);
        }
        for (Reduction& r : candidates) {
            for (Value* const v : r.values) of_[v] = all_.size();
            all_.push_back(std::move(r));
        }
    }

    std::function<bool(PHINode&, const Loop&)> is_induction_;
    std::function<std::optional<bool>(Value&, Value&)> says_;
    const LoopInfo& loops_;
    const DominatorTree& dominators_;
    std::vector<Reduction> all_;
    DenseMap<const Value*, std::size_t> of_;
};

}  // namespace occupipe_match
