// SPDX-License-Identifier: MIT
// Puts the calls of runtime.cpp into a kernel, and writes what stands still into a file.
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>

#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ground.h"

namespace {

cl::opt<std::string> facts_path("occupipe-facts", cl::desc("where to write what stands still"));
cl::opt<bool> order_memory("occupipe-order-memory",
                           cl::desc("a store waits for what lay in its place"));
cl::opt<bool> stretches("occupipe-stretches",
                        cl::desc("look at loads between stores together: levels alone"));

enum Kind { none, addition, multiplication, division, square_root, function };

class Counter : Ground {
public:
    Counter(Module& module, Function& kernel, FunctionAnalysisManager& analyses)
        : Ground(module, kernel, analyses),
          word_(Type::getInt32Ty(context_)),
          wide_(Type::getInt64Ty(context_)),
          zero_(ConstantInt::get(word_, 0)) {}

    void run() {
        require_countable();
        number_loops();
        find_memory_sums();
        // In memory's order there is one schedule, the program's.
        with_trees_ = !order_memory && !(scalar_trees() == 0 && memory_trees_.empty());
        // All that is counted stands in the program before the first call is put into it.
        const ReversePostOrderTraversal<Function*> order(&kernel_);
        std::vector<BasicBlock*> blocks(order.begin(), order.end());
        stretches_ = stretches && !order_memory;
        if (stretches_ && containsIrreducibleCFG<const BasicBlock*>(order, loops_))
            refuse("the kernel jumps into the midst of a loop; write the loop as one");
        std::vector<Instruction*> own;
        for (BasicBlock* const block : blocks) {
            home_[block] = block;
            for (Instruction& i : *block) own.push_back(&i);
        }
        for (Instruction* const i : own)
            if (auto* const phi = dyn_cast<PHINode>(i)) shadow_phi(*phi);
        pair_products(blocks);
        if (stretches_) {
            place_for_found();
            shadow_stretches(own);
        } else {
            for (Instruction* const i : own)
                if (!isa<PHINode>(i)) shadow(*i);
        }
        for (auto& [phi, shadows] : phis_)
            for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
                shadows.level->addIncoming(level(phi->getIncomingValue(i)),
                                           phi->getIncomingBlock(i));
                if (shadows.tree != nullptr)
                    shadows.tree->addIncoming(tree(phi->getIncomingValue(i)),
                                              phi->getIncomingBlock(i));
                shadows.reach->addIncoming(reach(phi->getIncomingValue(i)),
                                           phi->getIncomingBlock(i));
            }
        count_blocks(blocks);
        count_loops();
        if (with_trees_) begin_trees();
        define_constants();
        place_for_patterns();
        open();
        write_facts(blocks);
    }

private:
    struct Shadows {
        PHINode* level;
        PHINode* tree;  // nullptr: none, or of a reduction
        PHINode* reach;
    };
    // Levels: of values, and the greatest stack distance behind them

    static bool carries(const Value* v) {
        return v->getType()->isFloatingPointTy() || v->getType()->isIntegerTy();
    }
    Value* level(Value* v) {
        const auto found = levels_.find(v);
        return found == levels_.end() ? zero_ : found->second;
    }
    // The level where reductions are trees; of a reduction's own values it is not known before the
    // end.
    Value* tree(Value* v) {
        const auto found = trees_.find(v);
        return found == trees_.end() ? zero_ : found->second;
    }
    Value* reach(Value* v) {
        const auto found = reaches_.find(v);
        return found == reaches_.end() ? zero_ : found->second;
    }
    Value* greater(IRBuilder<>& at, Value* a, Value* b) {
        if (a == b || b == zero_) return a;
        if (a == zero_) return b;
        return at.CreateBinaryIntrinsic(Intrinsic::umax, a, b);
    }
    void shadow_phi(PHINode& phi) {
        if (!carries(&phi)) return;
        IRBuilder<> at(&phi);
        const bool plain = with_trees_ && !of_tree(&phi);
        Shadows shadows{at.CreatePHI(word_, phi.getNumIncomingValues()),
                        plain ? at.CreatePHI(word_, phi.getNumIncomingValues()) : nullptr,
                        at.CreatePHI(word_, phi.getNumIncomingValues())};
        phis_.insert({&phi, shadows});
        levels_[&phi] = shadows.level;
        if (plain) trees_[&phi] = shadows.tree;
        reaches_[&phi] = shadows.reach;
    }
    // Where the shadow of an instruction stands: behind it, or at the end of its stretch.
    Instruction* behind(Instruction& i) { return end_ != nullptr ? end_ : i.getNextNode(); }
    void pass_through(Instruction& i, ArrayRef<Value*> from) {
        if (!carries(&i) && !i.getType()->isStructTy()) return;
        IRBuilder<> at(behind(i));
        const Needs needs = needs_of(at, from);
        levels_[&i] = needs.level;
        if (with_trees_) trees_[&i] = needs.tree;
        reaches_[&i] = needs.reach;
    }
    // What an operation waits for.
    struct Needs {
        Value* level;
        Value* tree;
        Value* reach;
    };
    Needs needs_of(IRBuilder<>& at, ArrayRef<Value*> from) {
        Needs needs{zero_, zero_, zero_};
        for (Value* const v : from) {
            needs.level = greater(at, needs.level, level(v));
            needs.tree = greater(at, needs.tree, tree(v));
            needs.reach = greater(at, needs.reach, reach(v));
        }
        return needs;
    }
    // A reduction that has operations; others take no levels.
    const Reduction* of_tree(const Value* v) {
        if (!with_trees_) return nullptr;
        const Reduction* const found = reductions_.of(v);
        return found != nullptr && is_tree(*found) ? found : nullptr;
    }
    static bool is_tree(const Reduction& r) {
        return !r.operations.empty() && r.root->getType()->isFloatingPointTy() &&
               all_of(r.operations, [&](const Instruction* i) {
                   return is_single(*i) == is_single(*r.operations.front());
               });
    }
    unsigned scalar_trees() const {
        unsigned count = 0;
        for (const Reduction& r : reductions_.all()) count += is_tree(r) ? 1 : 0;
        return count;
    }
    static bool is_single(const Type* type) { return type->isFloatTy() || type->isHalfTy(); }
    // Of an operation whose result is no number of its own (lroundf, sincosf): by what it takes.
    static bool is_single(const Instruction& i) {
        if (i.getType()->isFloatingPointTy() || i.getNumOperands() == 0)
            return is_single(i.getType());
        return is_single(i.getOperand(0)->getType());
    }
    // One operation: where it stands in either schedule. One of a reduction waits for partners in
    // the second; `running` is its operand that goes on.
    Needs operation(IRBuilder<>& at, Instruction& i, Kind kind, const Needs& needs,
                    const Value* running = nullptr, const Needs& added = {}) {
        Value* const one = ConstantInt::get(word_, 1);
        Value* const mine = at.CreateAdd(needs.level, one);
        const bool single = is_single(i);
        Value* const precision = ConstantInt::get(word_, single ? 1 : 0);
        auto& counts = operations_[home_.lookup(i.getParent())];
        ++counts[kind];
        if (single) ++counts[singles];
        const Reduction* const scalar = running != nullptr ? of_tree(running) : nullptr;
        const MemorySum* const memory = with_trees_ ? tree_in_memory(i) : nullptr;
        if (scalar == nullptr && memory == nullptr) {
            Value* const tree = with_trees_ ? at.CreateAdd(needs.tree, one) : zero_;
            call(at, "occupipe_match_operation", {mine, tree, needs.reach, precision});
            return {mine, tree, zero_};
        }
        call(at, "occupipe_match_operation_of_sum", {mine, needs.reach, precision});
        if (scalar != nullptr)
            call(at, "occupipe_match_tree_add",
                 {number(reductions_.number(*scalar)), added.tree, added.reach});
        else
            call(at, "occupipe_match_memory_add",
                 {memory->load->getPointerOperand(),
                  number(static_cast<unsigned>(memory->fold) * 2 + (single ? 1 : 0)), added.tree,
                  added.reach, precision});
        return {mine, zero_, zero_};
    }
    Value* number(unsigned n) { return ConstantInt::get(word_, n); }
    CallInst* call(IRBuilder<>& at, StringRef name, ArrayRef<Value*> arguments,
                   Type* result = nullptr) {
        SmallVector<Type*> types;
        for (Value* const v : arguments) types.push_back(v->getType());
        return at.CreateCall(
            callee(name, result != nullptr ? result : Type::getVoidTy(context_), types), arguments);
    }
    void compute(Instruction& i, Kind kind, ArrayRef<Value*> from) {
        IRBuilder<> at(behind(i));
        const Needs needs = needs_of(at, from);
        const Value* running = nullptr;
        Needs added{};
        if (with_trees_) {
            const MemorySum* const memory = tree_in_memory(i);
            for (Value* const v : from) {
                const Reduction* const r = of_tree(v);
                const bool goes_on = r != nullptr && reductions_.of(&i) == r;
                if (goes_on || (memory != nullptr && memory->goes_on(v, i))) {
                    running = v;
                } else {
                    added = {zero_, tree(v), reach(v)};
                }
            }
        }
        const Needs done = operation(at, i, kind, needs, running, added);
        levels_[&i] = done.level;
        if (with_trees_) trees_[&i] = done.tree;
    }
    void fuse(CallBase& call) {
        IRBuilder<> at(behind(call));
        Value* const c = call.getArgOperand(2);
        const Needs product = operation(
            at, call, multiplication, needs_of(at, {call.getArgOperand(0), call.getArgOperand(1)}));
        const Needs needs{greater(at, product.level, level(c)), greater(at, product.tree, tree(c)),
                          reach(c)};
        const Reduction* const r = of_tree(c);
        const bool goes_on = r != nullptr && reductions_.of(&call) == r;
        const Needs done = operation(at, call, addition, needs, goes_on ? c : nullptr,
                                     {zero_, product.tree, zero_});
        levels_[&call] = done.level;
        if (with_trees_) trees_[&call] = done.tree;
        ++operations_[home_.lookup(call.getParent())][pairs];
    }

    void shadow(Instruction& i) {
        if (auto* const load = dyn_cast<LoadInst>(&i)) return shadow_load(*load);
        if (auto* const store = dyn_cast<StoreInst>(&i)) return shadow_store(*store);
        if (auto* const call = dyn_cast<CallBase>(&i)) return shadow_call(*call);
        if (auto* const select = dyn_cast<SelectInst>(&i)) {
            if (!carries(&i)) return;
            IRBuilder<> at(behind(i));
            const auto choose = [&](Value* a, Value* b) {
                return a == b ? a : at.CreateSelect(select->getCondition(), a, b);
            };
            levels_[&i] = choose(level(select->getTrueValue()), level(select->getFalseValue()));
            if (with_trees_)
                trees_[&i] = choose(tree(select->getTrueValue()), tree(select->getFalseValue()));
            reaches_[&i] = choose(reach(select->getTrueValue()), reach(select->getFalseValue()));
            return;
        }
        switch (i.getOpcode()) {
            case Instruction::FAdd:
            case Instruction::FSub:
                return compute(i, addition, {i.getOperand(0), i.getOperand(1)});
            case Instruction::FMul:
                return compute(i, multiplication, {i.getOperand(0), i.getOperand(1)});
            case Instruction::FDiv:
            case Instruction::FRem:
                return compute(i, division, {i.getOperand(0), i.getOperand(1)});
            case Instruction::PtrToInt:
            case Instruction::GetElementPtr:
            case Instruction::Alloca:
                return;
            default:
                break;
        }
        if (!carries(&i)) return;
        SmallVector<Value*> from;
        for (Value* const v : i.operand_values())
            if (carries(v) || isa<ExtractValueInst>(i)) from.push_back(v);
        pass_through(i, from);
    }
    unsigned size_of(Type* type) {
        return static_cast<unsigned>(module_.getDataLayout().getTypeStoreSize(type));
    }
    Value* site(Instruction& i, const char* what) {
        if (sites_.size() + 1 >= of_a_sum) refuse("the kernel has over 8 million accesses");
        sites_.push_back(place(i.getDebugLoc()) + " " + what);
        site_of_[&i] = static_cast<unsigned>(sites_.size() - 1);
        return ConstantInt::get(word_, sites_.size() - 1);
    }
    Value* depth_at(const Instruction& i) { return number(loops_.getLoopDepth(i.getParent())); }
    Value* loop_at(const Instruction& i) {
        Loop* const loop = loops_.getLoopFor(i.getParent());
        return number(loop != nullptr ? loop_numbers_.lookup(loop) : 0);
    }
    void shadow_load(LoadInst& load) {
        IRBuilder<> at(load.getNextNode());
        Value* const pointer = load.getPointerOperand();
        Value* const mine = site(load, "load");
        const bool of_sum = with_trees_ && goes_into_tree(load);
        Value* const packed =
            of_sum ? call(at, "occupipe_match_load_sum", {pointer, mine, depth_at(load)}, wide_)
                   : call(at, "occupipe_match_load",
                          {pointer, number(size_of(load.getType())), mine, depth_at(load)}, wide_);
        look_ahead(at, load);
        if (!carries(&load)) return;
        levels_[&load] = at.CreateTrunc(packed, word_);
        reaches_[&load] = call(at, "occupipe_match_loaded_distance", {}, word_);
        if (with_trees_) trees_[&load] = at.CreateTrunc(at.CreateLShr(packed, 32), word_);
    }
    void look_ahead(IRBuilder<>& at, LoadInst& load) {
        if (!ahead_.contains(&load)) return;
        call(at, "occupipe_match_load_ahead",
             {load.getPointerOperand(), number(size_of(load.getType())),
              number(site_of_.lookup(&load)), depth_at(load)});
    }
    void shadow_store(StoreInst& store) {
        IRBuilder<> at(&store);
        Value* const pointer = store.getPointerOperand();
        Value* const value = store.getValueOperand();
        Value* mine = site(store, "store");
        if (number_of_sum_.contains(&store)) mine = number(site_of_.lookup(&store) | of_a_sum);
        if (stretches_) {
            const bool of_sum = with_trees_ && goes_into_tree(store);
            return put(at, store, pointer, size_of(value->getType()), level(value),
                       of_sum ? number(~0U) : tree(value), mine, of_sum);
        }
        if (with_trees_ && goes_into_tree(store))
            call(at, "occupipe_match_store_sum", {pointer, level(value), mine});
        else
            call(at, "occupipe_match_store",
                 {pointer, number(size_of(value->getType())), level(value), tree(value), mine});
    }
    void shadow_call(CallBase& call) {
        if (auto* const copy = dyn_cast<MemTransferInst>(&call)) {
            IRBuilder<> at(&call);
            if (stretches_)
                this->call(at, "occupipe_match_put_copy",
                           {copy->getRawDest(), copy->getRawSource(),
                            at.CreateZExtOrTrunc(copy->getLength(), wide_), site(call, "copy"),
                            depth_at(call), loop_at(call)});
            else
                this->call(at, "occupipe_match_copy",
                           {copy->getRawDest(), copy->getRawSource(),
                            at.CreateZExtOrTrunc(copy->getLength(), wide_), site(call, "copy"),
                            depth_at(call)});
            return;
        }
        if (auto* const fill = dyn_cast<MemSetInst>(&call)) {
            IRBuilder<> at(&call);
            if (stretches_)
                this->call(at, "occupipe_match_put_fill",
                           {fill->getRawDest(), at.CreateZExtOrTrunc(fill->getLength(), wide_),
                            site(call, "fill"), depth_at(call), loop_at(call)});
            else
                this->call(at, "occupipe_match_fill",
                           {fill->getRawDest(), at.CreateZExtOrTrunc(fill->getLength(), wide_),
                            site(call, "fill")});
            return;
        }
        const Intrinsic::ID id = call.getIntrinsicID();
        if (id == Intrinsic::fmuladd || id == Intrinsic::fma) return fuse(call);
        SmallVector<Value*> from;
        for (Value* const v : call.args())
            if (carries(v)) from.push_back(v);
        if (id != Intrinsic::not_intrinsic) return shadow_intrinsic(call, id, from);
        const Function* const callee = call.getCalledFunction();
        if (callee->getName() == "occupipe_match_sync") return;
        const occupipe_match::LibmCall libm = occupipe_match::libm_call(*callee);
        if (libm.is_sign() || libm.is_test()) return pass_through(call, from);
        if (libm.name == "fma") return fuse(call);
        if (!libm.name.empty()) {
            Instruction* const after = call.getNextNode();
            compute(call,
                    libm.name == "sqrt"   ? square_root
                    : libm.name == "fmod" ? division
                                          : function,
                    from);
            return results_in_memory(call, libm, after);
        }
        // What it does is not known; its result waits for its arguments all the same.
        unseen_.insert(callee->getName().str());
        pass_through(call, from);
    }
    void shadow_intrinsic(CallBase& call, Intrinsic::ID id, ArrayRef<Value*> from) {
        switch (id) {
            case Intrinsic::fabs:
            case Intrinsic::copysign:
                return pass_through(call, from);
            case Intrinsic::sqrt:
                return compute(call, square_root, from);
            case Intrinsic::frexp:
            case Intrinsic::lround:
            case Intrinsic::llround:
            case Intrinsic::lrint:
            case Intrinsic::llrint:
                return compute(call, function, from);
            default:
                break;
        }
        if (call.getType()->isFloatingPointTy()) return compute(call, function, from);
        pass_through(call, from);
    }
    // Those that the function leaves where its arguments point to (sincos, modf, frexp).
    void results_in_memory(CallBase& call, const occupipe_match::LibmCall& libm,
                           Instruction* after) {
        const StringRef arguments = libm.shape.drop_front(2);
        for (unsigned i = 0; i < arguments.size(); ++i) {
            if (arguments[i] != 'p' && arguments[i] != 'n') continue;
            const unsigned bytes =
                arguments[i] == 'n' ? 4 : size_of(call.getArgOperand(0)->getType());
            small_results_ = small_results_ || bytes < granule_bytes;
            IRBuilder<> at(after);
            if (stretches_)
                put(at, call, call.getArgOperand(i), bytes, level(&call), tree(&call),
                    site(call, "store"), false);
            else
                this->call(at, "occupipe_match_store",
                           {call.getArgOperand(i), number(bytes), level(&call), tree(&call),
                            site(call, "store")});
        }
    }

    // Stretches: what lies between two stores, looked at together

    // Each load has what it found last (time and levels); where all of a stretch's find the same
    // again, and what came from outside has the same levels, its operations have the same levels as
    // before, and are counted as one (patterns.h).

    void place_for_found() {
        const auto declare = [&](const char* name) {
            return new GlobalVariable(module_, wide_, false, GlobalValue::ExternalLinkage, nullptr,
                                      name);
        };
        found_ = declare("occupipe_match_found");
        last_stores_ = declare("occupipe_match_last_stores");
        patterns_ = declare("occupipe_match_patterns");
    }
    // Now it is known how much.
    void place_for_patterns() {
        if (!stretches_) return;
        const auto define = [&](GlobalVariable*& declared, std::vector<std::uint64_t> words) {
            if (words.empty()) words.push_back(0);
            auto* const type = ArrayType::get(wide_, words.size());
            auto* const defined =
                new GlobalVariable(module_, type, false, GlobalValue::InternalLinkage,
                                   ConstantDataArray::get(context_, words));
            defined->setAlignment(Align(16));
            declared->replaceAllUsesWith(defined);
            declared->eraseFromParent();
            declared = defined;
        };
        define(found_, std::vector<std::uint64_t>(2 * sites_.size(), ~std::uint64_t{0}));
        define(last_stores_, std::vector<std::uint64_t>(3 * sites_.size(), 0));
        define(patterns_, pattern_words_);
    }
    Constant* pointer_to(GlobalVariable* memory) {
        if (memory != nullptr) return memory;
        return ConstantPointerNull::get(PointerType::getUnqual(context_));
    }
    Value* slot(IRBuilder<>& at, GlobalVariable* memory, std::size_t index) {
        return at.CreateConstInBoundsGEP1_64(wide_, memory, index);
    }
    void put(IRBuilder<>& at, Instruction& i, Value* pointer, unsigned bytes, Value* level,
             Value* tree, Value* site, bool sum) {
        call(at, "occupipe_match_put",
             {pointer, number(bytes), level, tree, site, depth_at(i), loop_at(i),
              number(sum ? 1 : 0)});
    }
    // What a load found holds only within one instance of the innermost loop around it.
    void forget(IRBuilder<>& at, Loop* loop) {
        const auto found = load_sites_.find(loop);
        if (found == load_sites_.end()) return;
        for (const unsigned site : found->second)
            at.CreateStore(ConstantInt::get(wide_, ~std::uint64_t{0}), slot(at, found_, 2 * site));
    }

    void shadow_stretches(const std::vector<Instruction*>& own) {
        std::vector<Instruction*> stretch;
        for (Instruction* const i : own) {
            if (isa<PHINode>(i)) continue;
            if (!i->isTerminator() && (isa<LoadInst>(i) || !i->mayWriteToMemory())) {
                stretch.push_back(i);
                continue;
            }
            close(stretch, *i);
            stretch.clear();
            if (!i->isTerminator()) shadow(*i);
        }
    }
    // An operation whose level follows from its operands alone.
    std::optional<Kind> plain_kind(const Instruction& i) {
        switch (i.getOpcode()) {
            case Instruction::FAdd:
            case Instruction::FSub:
                return addition;
            case Instruction::FMul:
                return multiplication;
            case Instruction::FDiv:
            case Instruction::FRem:
                return division;
            default:
                break;
        }
        const auto* const call = dyn_cast<IntrinsicInst>(&i);
        if (call == nullptr || !call->getType()->isFloatingPointTy() || is_sign(*call))
            return std::nullopt;
        const Intrinsic::ID id = call->getIntrinsicID();
        if (id == Intrinsic::fma || id == Intrinsic::fmuladd) return std::nullopt;
        return id == Intrinsic::sqrt ? square_root : function;
    }
    static bool is_sign(const IntrinsicInst& call) {
        return call.getIntrinsicID() == Intrinsic::fabs ||
               call.getIntrinsicID() == Intrinsic::copysign;
    }
    bool goes_on(const Instruction& i) {
        if (!with_trees_) return false;
        if (tree_in_memory(i) != nullptr) return true;
        for (const Value* const v : i.operand_values())
            if (const Reduction* const r = of_tree(v); r != nullptr && reductions_.of(&i) == r)
                return true;
        return false;
    }
    // One that has the greatest level of its operands.
    bool passes_on(const Instruction& i) {
        if (const auto* const call = dyn_cast<IntrinsicInst>(&i)) return is_sign(*call);
        return !isa<CallBase>(i) && !isa<SelectInst>(i) && !isa<LoadInst>(i) && !plain_kind(i);
    }
    static bool takes_no_level(const Instruction& i) {
        return isa<PtrToIntInst>(i) || isa<GetElementPtrInst>(i) || isa<AllocaInst>(i);
    }

    struct Stretch {
        std::set<const Instruction*> all;
        std::vector<LoadInst*> loads;
        std::set<const LoadInst*> feeding;  // the group
        std::vector<Instruction*> group;    // operations that are counted as one
        std::map<const Value*, bool> follow;
        MapVector<Value*, char> leaves;  // from outside
        std::map<const Value*, Needs> renewed;
    };
    bool follows(Value* v, Stretch& stretch) {
        auto* const i = dyn_cast<Instruction>(v);
        if (i == nullptr) return true;
        if (!stretch.all.contains(i)) {
            // What a recurrence leaves differs from one iteration to the next.
            const Loop* const loop = loops_.getLoopFor(i->getParent());
            return !(isa<PHINode>(i) && i->getType()->isFloatingPointTy() && loop != nullptr &&
                     loop->isInnermost() && i->getParent() == loop->getHeader());
        }
        if (isa<LoadInst>(i) || takes_no_level(*i)) return true;
        const auto known = stretch.follow.find(v);
        if (known != stretch.follow.end()) return known->second;
        bool all = passes_on(*i) || (plain_kind(*i) && !goes_on(*i));
        for (Value* const operand : i->operand_values())
            all = all && (!carries(operand) || follows(operand, stretch));
        return stretch.follow[v] = all;
    }
    void gather_leaves(Value* v, Stretch& stretch, std::set<const Value*>& seen) {
        if (!carries(v) || !seen.insert(v).second) return;
        auto* const i = dyn_cast<Instruction>(v);
        if (i != nullptr && stretch.all.contains(i)) {
            if (auto* const load = dyn_cast<LoadInst>(i)) stretch.feeding.insert(load);
            if (isa<LoadInst>(i) || takes_no_level(*i)) return;
            for (Value* const operand : i->operand_values()) gather_leaves(operand, stretch, seen);
        } else if (level(v) != zero_ || (with_trees_ && tree(v) != zero_)) {
            stretch.leaves.insert({v, 0});
        }
    }
    Needs found_levels(IRBuilder<>& at, LoadInst& load) {
        Value* const both = at.CreateLoad(wide_, slot(at, found_, 2 * site_of_.lookup(&load) + 1));
        return {at.CreateTrunc(both, word_),
                with_trees_ ? at.CreateTrunc(at.CreateLShr(both, 32), word_) : zero_, zero_};
    }
    Needs renewed(IRBuilder<>& at, Value* v, Stretch& stretch) {
        auto* const i = dyn_cast<Instruction>(v);
        if (i == nullptr || !stretch.all.contains(i))
            return {level(v), with_trees_ ? tree(v) : zero_, zero_};
        const auto known = stretch.renewed.find(v);
        if (known != stretch.renewed.end()) return known->second;
        Needs needs{zero_, zero_, zero_};
        if (auto* const load = dyn_cast<LoadInst>(i)) {
            needs = found_levels(at, *load);
        } else if (!takes_no_level(*i)) {
            for (Value* const operand : i->operand_values()) {
                if (!carries(operand)) continue;
                const Needs one = renewed(at, operand, stretch);
                needs.level = greater(at, needs.level, one.level);
                needs.tree = greater(at, needs.tree, one.tree);
            }
            if (plain_kind(*i)) {
                Value* const one = ConstantInt::get(word_, 1);
                needs.level = at.CreateAdd(needs.level, one);
                if (with_trees_) needs.tree = at.CreateAdd(needs.tree, one);
            }
        }
        return stretch.renewed[v] = needs;
    }
    Value* packed(IRBuilder<>& at, const Needs& needs) {
        Value* const low = at.CreateZExt(needs.level, wide_);
        if (!with_trees_) return low;
        return at.CreateOr(low, at.CreateShl(at.CreateZExt(needs.tree, wide_), 32));
    }
    BasicBlock* block_before(BasicBlock* next) {
        BasicBlock* const block = BasicBlock::Create(context_, "", &kernel_, next);
        belongs(block, next);
        return block;
    }
    void belongs(BasicBlock* block, BasicBlock* beside) {
        home_[block] = home_.lookup(beside);
        if (Loop* const loop = loops_.getLoopFor(beside)) loop->addBasicBlockToLoop(block, loops_);
    }
    MDNode* seldom() { return MDBuilder(context_).createBranchWeights(1, 1000); }

    // The shadow of what stands before `end`, from the last store on.
    void close(const std::vector<Instruction*>& instructions, Instruction& end) {
        Stretch stretch;
        stretch.all.insert(instructions.begin(), instructions.end());
        for (Instruction* const i : instructions)
            if (auto* const load = dyn_cast<LoadInst>(i)) {
                site(*load, "load");
                load_sites_[loops_.getLoopFor(load->getParent())].push_back(site_of_.lookup(load));
                stretch.loads.push_back(load);
            }
        std::set<const Value*> seen;
        for (Instruction* const i : instructions)
            if (plain_kind(*i) && follows(i, stretch)) {
                stretch.group.push_back(i);
                gather_leaves(i, stretch, seen);
            }
        if (stretch.feeding.empty() && stretch.leaves.empty()) stretch.group.clear();
        std::map<const Instruction*, std::size_t> out;
        if (!stretch.loads.empty() || !stretch.group.empty()) out = look(stretch, end);
        end_ = &end;
        for (Instruction* const i : instructions) {
            auto* const load = dyn_cast<LoadInst>(i);
            const auto counted = out.find(i);
            if (load == nullptr && counted == out.end()) {
                shadow(*i);
                continue;
            }
            IRBuilder<> at(&end);
            if (load != nullptr) look_ahead(at, *load);
            if (!carries(i)) continue;
            Needs needs{};
            if (load != nullptr) {
                needs = found_levels(at, *load);
            } else {
                Value* const both = at.CreateLoad(wide_, slot(at, patterns_, counted->second));
                needs = {at.CreateTrunc(both, word_),
                         with_trees_ ? at.CreateTrunc(at.CreateLShr(both, 32), word_) : zero_,
                         zero_};
            }
            levels_[i] = needs.level;
            if (with_trees_) trees_[i] = needs.tree;
        }
        end_ = nullptr;
    }
    // The blocks before `end` that look whether all is as it was. Where each operation's levels are
    // then, in the memory of patterns.
    std::map<const Instruction*, std::size_t> look(Stretch& stretch, Instruction& end) {
        BasicBlock* const head = end.getParent();
        BasicBlock* const tail = head->splitBasicBlock(&end);
        belongs(tail, head);
        head->getTerminator()->eraseFromParent();
        const bool counts = !stretch.group.empty();
        BasicBlock* const test = counts ? block_before(tail) : tail;
        IRBuilder<> at(head);
        Value* changed = number(0);
        if (stretch.loads.empty()) {
            at.CreateBr(test);
        } else {
            Type* const pair = FixedVectorType::get(wide_, 2);
            Value* differs = nullptr;
            for (LoadInst* const load : stretch.loads) {
                Value* const one =
                    call(at, "occupipe_match_differs",
                         {load->getPointerOperand(), number(size_of(load->getType())),
                          slot(at, found_, 2 * site_of_.lookup(load))},
                         pair);
                differs = differs == nullptr ? one : at.CreateOr(differs, one);
            }
            BasicBlock* const again = block_before(test);
            Value* const any = at.CreateICmpNE(at.CreateBitCast(differs, at.getInt128Ty()),
                                               ConstantInt::get(at.getInt128Ty(), 0));
            at.CreateCondBr(any, again, test, seldom());
            IRBuilder<> slow(again);
            for (LoadInst* const load : stretch.loads) {
                const bool sum = with_trees_ && goes_into_tree(*load);
                Value* const one =
                    call(slow, "occupipe_match_look",
                         {load->getPointerOperand(), number(size_of(load->getType())),
                          number(site_of_.lookup(load)), depth_at(*load), number(sum ? 1 : 0)},
                         word_);
                if (stretch.feeding.contains(load)) changed = slow.CreateOr(changed, one);
            }
            slow.CreateBr(test);
            if (counts) {
                IRBuilder<> first(test);
                PHINode* const phi = first.CreatePHI(word_, 2);
                phi->addIncoming(number(0), head);
                phi->addIncoming(changed, again);
                changed = phi;
            }
        }
        return counts ? count(stretch, test, tail, changed)
                      : std::map<const Instruction*, std::size_t>();
    }
    std::map<const Instruction*, std::size_t> count(Stretch& stretch, BasicBlock* test,
                                                    BasicBlock* tail, Value* changed) {
        std::map<const Instruction*, std::size_t> out;
        const std::size_t pattern = pattern_words_.size();
        const std::size_t leaf = pattern + 2 + 2 * stretch.group.size();
        pattern_words_.push_back(0);
        pattern_words_.push_back(stretch.group.size() | stretch.leaves.size() << 32);
        BasicBlock* const same = block_before(tail);
        BasicBlock* const renew = block_before(same);
        IRBuilder<> at(test);
        Value* differs = at.CreateZExt(changed, wide_);
        std::vector<Value*> now;
        for (const auto& [v, unused] : stretch.leaves) {
            now.push_back(packed(at, {level(v), with_trees_ ? tree(v) : zero_, zero_}));
            Value* const before = at.CreateLoad(wide_, slot(at, patterns_, leaf + now.size() - 1));
            differs = at.CreateOr(differs, at.CreateXor(before, now.back()));
        }
        at.CreateCondBr(at.CreateICmpNE(differs, ConstantInt::get(wide_, 0)), renew, same,
                        seldom());
        IRBuilder<> slow(renew);
        call(slow, "occupipe_match_spread", {slot(slow, patterns_, pattern)});
        for (Instruction* const i : stretch.group) {
            out[i] = pattern_words_.size();
            const bool single = is_single(*i);
            auto& counts = operations_[home_.lookup(tail)];
            ++counts[*plain_kind(*i)];
            if (single) ++counts[singles];
            slow.CreateStore(packed(slow, renewed(slow, i, stretch)),
                             slot(slow, patterns_, out[i]));
            pattern_words_.push_back(0);
            pattern_words_.push_back(single ? 1 : 0);
        }
        for (std::size_t k = 0; k < now.size(); ++k) {
            slow.CreateStore(now[k], slot(slow, patterns_, leaf + k));
            pattern_words_.push_back(~std::uint64_t{0});
        }
        slow.CreateBr(same);
        IRBuilder<> last(same);
        Value* const times = slot(last, patterns_, pattern);
        last.CreateStore(last.CreateAdd(last.CreateLoad(wide_, times), ConstantInt::get(wide_, 1)),
                         times);
        last.CreateBr(tail);
        return out;
    }

    // Sums and the products that go into them, each in one pair at most.
    void pair_products(const std::vector<BasicBlock*>& blocks) {
        SmallPtrSet<Instruction*, 16> taken;
        for (BasicBlock* const block : blocks)
            for (Instruction& i : *block) {
                if (i.getOpcode() != Instruction::FAdd && i.getOpcode() != Instruction::FSub)
                    continue;
                for (Value* const v : i.operand_values()) {
                    auto* const product = dyn_cast<Instruction>(v);
                    if (product == nullptr || product->getOpcode() != Instruction::FMul ||
                        product->getParent() != block || !taken.insert(product).second)
                        continue;
                    ++operations_[block][pairs];
                    break;
                }
            }
    }

    // Loops

    void count_loops() {
        for (unsigned n = 0; n < all_loops_.size(); ++n) {
            Loop* const loop = all_loops_[n].loop;
            Value* const depth = number(loop->getLoopDepth() - 1);
            IRBuilder<> before(loop->getLoopPreheader()->getTerminator());
            call(before, "occupipe_match_enter", {number(n), depth});
            IRBuilder<> head(&*loop->getHeader()->getFirstInsertionPt());
            call(head, "occupipe_match_iterate",
                 {number(n), depth, number(loop->isInnermost() ? 1 : 0)});
            if (stretches_) forget(before, loop);
        }
    }

    // Reductions as trees

    static bool is_neutral(const Value* start, Fold fold) {
        const auto* const c = dyn_cast<ConstantFP>(start);
        if (c == nullptr) return false;
        return fold == Fold::sum ? c->isZero() : fold == Fold::product && c->isExactlyValue(1.0);
    }
    void begin_trees() {
        for (const Reduction& r : reductions_.all()) {
            if (!is_tree(r)) continue;
            Value* const start = r.root->getIncomingValueForBlock(r.loop->getLoopPreheader());
            Value* const mine = number(reductions_.number(r));
            IRBuilder<> before(r.loop->getLoopPreheader()->getTerminator());
            call(before, "occupipe_match_tree_begin",
                 {mine, tree(start), number(is_neutral(start, r.fold) ? 1 : 0),
                  number(is_single(*r.operations.front()) ? 1 : 0)});
            SmallVector<BasicBlock*> exits;
            r.loop->getUniqueExitBlocks(exits);
            for (BasicBlock* const exit : exits) {
                IRBuilder<> at(&*exit->getFirstInsertionPt());
                Value* const end = call(at, "occupipe_match_tree_end", {mine}, word_);
                // What the loop leaves to what comes after it goes through a phi here.
                for (PHINode& phi : exit->phis()) {
                    const auto found = trees_.find(&phi);
                    if (found == trees_.end() || !r.values.contains(phi.getIncomingValue(0)))
                        continue;
                    found->second->replaceAllUsesWith(end);
                    for (auto& [other, level] : trees_)
                        if (level == found->second && other != &phi) level = end;
                    found->second = end;
                }
            }
        }
    }
    // Blocks

    void count_blocks(const std::vector<BasicBlock*>& blocks) {
        ArrayType* const type = ArrayType::get(wide_, blocks.size());
        counts_ = new GlobalVariable(module_, type, false, GlobalValue::InternalLinkage,
                                     ConstantAggregateZero::get(type), "occupipe_match_blocks");
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            if (!operations_.contains(blocks[b])) continue;
            IRBuilder<> at(&*blocks[b]->getFirstInsertionPt());
            Value* const slot = at.CreateConstInBoundsGEP2_64(type, counts_, 0, b);
            at.CreateStore(at.CreateAdd(at.CreateLoad(wide_, slot), ConstantInt::get(wide_, 1)),
                           slot);
        }
        block_total_ = blocks.size();
    }
    void open() {
        IRBuilder<> at(&*kernel_.getEntryBlock().getFirstInsertionPt());
        at.CreateCall(
            callee("occupipe_match_open", Type::getVoidTy(context_),
                   {word_, word_, word_, word_, at.getPtrTy(), at.getPtrTy(), at.getPtrTy(),
                    at.getPtrTy(), wide_}),
            {ConstantInt::get(word_, block_total_), ConstantInt::get(word_, sites_.size()),
             ConstantInt::get(word_, all_loops_.size()),
             ConstantInt::get(word_, reductions_.all().size()), counts_, pointer_to(found_),
             pointer_to(last_stores_), pointer_to(patterns_),
             ConstantInt::get(wide_, pattern_words_.size())});
        at.CreateCall(callee("occupipe_match_begin", Type::getVoidTy(context_), {}), {});
        if (stretches_) forget(at, nullptr);
        for (BasicBlock& block : kernel_)
            if (auto* const end = dyn_cast<ReturnInst>(block.getTerminator())) {
                IRBuilder<> last(end);
                last.CreateCall(callee("occupipe_match_end", Type::getVoidTy(context_), {}), {});
            }
    }
    // That a copy or fill has to be a multiple of, from where it begins on.
    static std::uint64_t bytes_at_once(const MemIntrinsic& i) {
        std::uint64_t whole = i.getDestAlign().valueOrOne().value();
        if (const auto* const copy = dyn_cast<MemTransferInst>(&i))
            whole = std::min(whole, copy->getSourceAlign().valueOrOne().value());
        const auto* const length = dyn_cast<ConstantInt>(i.getLength());
        return std::gcd(whole, length != nullptr ? length->getZExtValue() : 1);
    }
    // What the run time has to be for this kernel.
    void define_constants() {
        bool small = small_results_;
        bool parts = false;
        for (BasicBlock& block : kernel_)
            for (Instruction& i : block) {
                std::uint64_t whole = granule_bytes;
                if (const auto* const store = dyn_cast<StoreInst>(&i)) {
                    whole = std::min<std::uint64_t>(size_of(store->getValueOperand()->getType()),
                                                    store->getAlign().value());
                } else if (const auto* const load = dyn_cast<LoadInst>(&i)) {
                    if (load->getAlign().value() < size_of(load->getType()))
                        whole = load->getAlign().value();
                } else if (const auto* const memory = dyn_cast<MemIntrinsic>(&i)) {
                    whole = bytes_at_once(*memory);
                }
                small = small || whole < granule_bytes;
                parts = parts || whole < small_granule_bytes;
            }
        const auto define = [&](const char* name, unsigned value) {
            new GlobalVariable(module_, word_, true, GlobalValue::ExternalLinkage,
                               ConstantInt::get(word_, value), name);
        };
        define("occupipe_match_granule_bits", small ? 2 : 3);
        define("occupipe_match_parts", parts ? 1 : 0);
        define("occupipe_match_trees", with_trees_ ? 1 : 0);
        define("occupipe_match_memory_sums", with_trees_ && !memory_trees_.empty() ? 1 : 0);
        define("occupipe_match_order_memory", order_memory ? 1 : 0);
        define("occupipe_match_stretches", stretches_ ? 1 : 0);
        define("occupipe_match_sum_total", static_cast<unsigned>(memory_sums_.size()));
        define_sums();
    }
    // Sums into memory by site, and what they fold: of one kind are those that can go on with each
    // other.
    void define_sums() {
        std::vector<std::uint32_t> of(sites_.size() + 1, 0);
        for (const auto& [access, sum] : number_of_sum_) of[site_of_.lookup(access)] = sum;
        std::map<std::pair<Fold, Type*>, std::uint32_t> kinds;
        std::vector<std::uint32_t> kind(1, 0);
        for (const MemorySum& sum : memory_sums_) {
            const auto next = static_cast<std::uint32_t>(kinds.size());
            kind.push_back(kinds.insert({{sum.fold, sum.load->getType()}, next}).first->second);
        }
        const auto define = [&](const char* name, const std::vector<std::uint32_t>& words) {
            Constant* const values = ConstantDataArray::get(context_, words);
            new GlobalVariable(module_, values->getType(), true, GlobalValue::ExternalLinkage,
                               values, name);
        };
        define("occupipe_match_sum_of", of);
        define("occupipe_match_sum_kind", kind);
    }
    FunctionCallee callee(StringRef name, Type* result, ArrayRef<Type*> arguments) {
        return module_.getOrInsertFunction(name, FunctionType::get(result, arguments, false));
    }

    void write_facts(const std::vector<BasicBlock*>& blocks) {
        std::error_code error;
        raw_fd_ostream out(facts_path, error);
        if (error) refuse("cannot write " + facts_path + ": " + error.message());
        out << "occupipe-match-facts 1\nkernel " << kernel_.getName() << "\n";
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const auto found = operations_.find(blocks[b]);
            if (found == operations_.end()) continue;
            Loop* const loop = loops_.getLoopFor(blocks[b]);
            out << "block " << b << " " << (loop ? static_cast<int>(loop_numbers_[loop]) : -1);
            for (const Kind kind : {addition, multiplication, division, square_root, function})
                out << " " << found->second[kind];
            out << " " << found->second[singles] << " " << found->second[pairs] << "\n";
        }
        for (std::size_t s = 0; s < sites_.size(); ++s)
            out << "site " << s << " " << sites_[s] << "\n";
        for (std::size_t n = 0; n < all_loops_.size(); ++n) {
            const LoopFacts& facts = all_loops_[n];
            const DebugLoc start = facts.loop->getStartLoc();
            out << "loop " << n << " " << facts.parent << " " << (start ? start.getLine() : 0)
                << " " << (start ? start.getCol() : 0) << " " << (facts.loop->isInnermost() ? 1 : 0)
                << " " << place(start) << "\n";
            if (!facts.carried.empty()) out << "carried " << n << " " << facts.carried << "\n";
            if (!facts.reduction.empty())
                out << "reduction " << n << " " << facts.reduction << "\n";
        }
        write_memory_sums(out);
        for (const std::string& name : unseen_) out << "unseen " << name << "\n";
        out << "end\n";
    }
    void write_memory_sums(raw_ostream& out) {
        for (const MemorySum& sum : memory_sums_)
            out << "sum " << site_of_.lookup(sum.store) << "\n";
    }

    static constexpr unsigned granule_bytes = 8;
    static constexpr unsigned small_granule_bytes = 4;
    static constexpr unsigned of_a_sum = 1U << 23;  // in the number of a site (runtime.cpp)
    static constexpr int singles = 6;
    static constexpr int pairs = 7;

    Type* word_;
    Type* wide_;
    Constant* zero_;
    DenseMap<const Value*, Value*> levels_;
    DenseMap<const Value*, Value*> trees_;
    DenseMap<const Value*, Value*> reaches_;
    bool with_trees_ = false;
    bool small_results_ = false;  // some that a function leaves in memory are less than 8 bytes
    MapVector<PHINode*, Shadows> phis_;
    std::map<const BasicBlock*, std::array<std::int64_t, 8>> operations_;
    std::vector<std::string> sites_;
    DenseMap<const Instruction*, unsigned> site_of_;
    std::set<std::string> unseen_;
    GlobalVariable* counts_ = nullptr;
    // Where levels alone are counted (below): the end of the stretch that is being shadowed, the
    // block of the program that a new one was cut from, memory of the run time.
    bool stretches_ = false;
    Instruction* end_ = nullptr;
    DenseMap<const BasicBlock*, BasicBlock*> home_;
    GlobalVariable* found_ = nullptr;
    GlobalVariable* last_stores_ = nullptr;
    GlobalVariable* patterns_ = nullptr;
    std::vector<std::uint64_t> pattern_words_;
    MapVector<Loop*, std::vector<unsigned>> load_sites_;  // by the innermost loop around them
    std::size_t block_total_ = 0;
};

}  // namespace
