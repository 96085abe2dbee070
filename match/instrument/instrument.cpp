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
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libm.h"
#include "reductions.h"

namespace {

using namespace llvm;
using occupipe_match::Fold;
using occupipe_match::Reduction;

cl::opt<std::string> kernel_name("occupipe-kernel", cl::desc("function to count"));
cl::opt<std::string> facts_path("occupipe-facts", cl::desc("where to write what stands still"));

cl::opt<bool> order_memory("occupipe-order-memory",
                           cl::desc("a store waits for what lay in its place"));

// Found by the driver at the beginning of a line of standard error.
[[noreturn]] void refuse(const Twine& reason) {
    errs() << "occupipe-match: " << reason << "\n";
    std::exit(65);
}

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

enum Kind { none, addition, multiplication, division, square_root, function };

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

class Counter {
public:
    Counter(Module& module, Function& kernel, FunctionAnalysisManager& analyses)
        : module_(module),
          kernel_(kernel),
          context_(module.getContext()),
          loops_(analyses.getResult<LoopAnalysis>(kernel)),
          scalars_(analyses.getResult<ScalarEvolutionAnalysis>(kernel)),
          dominators_(analyses.getResult<DominatorTreeAnalysis>(kernel)),
          reductions_(loops_, dominators_),
          word_(Type::getInt32Ty(context_)),
          wide_(Type::getInt64Ty(context_)),
          zero_(ConstantInt::get(word_, 0)) {}

    void run() {
        require_countable();
        number_loops();
        find_memory_sums();
        // In memory's order there is one schedule, the program's.
        with_trees_ = !order_memory && !(scalar_trees() == 0 && memory_sums_.empty());
        // All that is counted stands in the program before the first call is put into it.
        const ReversePostOrderTraversal<Function*> order(&kernel_);
        std::vector<BasicBlock*> blocks(order.begin(), order.end());
        std::vector<Instruction*> own;
        for (BasicBlock* const block : blocks)
            for (Instruction& i : *block) own.push_back(&i);
        for (Instruction* const i : own)
            if (auto* const phi = dyn_cast<PHINode>(i)) shadow_phi(*phi);
        pair_products(blocks);
        for (Instruction* const i : own)
            if (!isa<PHINode>(i)) shadow(*i);
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
        open();
        write_facts(blocks);
    }

private:
    struct Shadows {
        PHINode* level;
        PHINode* tree;  // nullptr: none, or of a reduction
        PHINode* reach;
    };
    // A load, an operation and a store to where the load was from; which operation, or none where
    // a comparison decides whether it is stored.
    struct MemorySum {
        LoadInst* load;
        Instruction* operation;
        StoreInst* store;
        Fold fold;
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

    // ---- levels: of values, and the greatest stack distance behind them
    // --------------------------

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
    void pass_through(Instruction& i, ArrayRef<Value*> from) {
        if (!carries(&i) && !i.getType()->isStructTy()) return;
        IRBuilder<> at(i.getNextNode());
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
        return !r.operations.empty() && r.root->getType()->isFloatingPointTy();
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
        auto& counts = operations_[i.getParent()];
        ++counts[kind];
        if (single) ++counts[singles];
        const Reduction* const scalar = running != nullptr ? of_tree(running) : nullptr;
        const MemorySum* const memory = with_trees_ ? memory_sum_of(i) : nullptr;
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
                 {memory->store->getPointerOperand(), number(static_cast<unsigned>(memory->fold)),
                  added.tree, added.reach, precision});
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
        IRBuilder<> at(i.getNextNode());
        const Needs needs = needs_of(at, from);
        const Value* running = nullptr;
        Needs added{};
        if (with_trees_) {
            const MemorySum* const memory = memory_sum_of(i);
            for (Value* const v : from) {
                const Reduction* const r = of_tree(v);
                const bool goes_on = r != nullptr && reductions_.of(&i) == r;
                if (goes_on || (memory != nullptr && v == memory->load)) {
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
        IRBuilder<> at(call.getNextNode());
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
        ++operations_[call.getParent()][pairs];
    }

    void shadow(Instruction& i) {
        if (auto* const load = dyn_cast<LoadInst>(&i)) return shadow_load(*load);
        if (auto* const store = dyn_cast<StoreInst>(&i)) return shadow_store(*store);
        if (auto* const call = dyn_cast<CallBase>(&i)) return shadow_call(*call);
        if (auto* const select = dyn_cast<SelectInst>(&i)) {
            if (!carries(&i)) return;
            IRBuilder<> at(i.getNextNode());
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
        sites_.push_back(place(i.getDebugLoc()) + " " + what);
        site_of_[&i] = static_cast<unsigned>(sites_.size() - 1);
        return ConstantInt::get(word_, sites_.size() - 1);
    }
    Value* depth_at(const Instruction& i) { return number(loops_.getLoopDepth(i.getParent())); }
    void shadow_load(LoadInst& load) {
        IRBuilder<> at(load.getNextNode());
        Value* const pointer = load.getPointerOperand();
        Value* const mine = site(load, "load");
        const bool of_sum = with_trees_ && tree_loads_.contains(&load);
        Value* const packed =
            of_sum ? call(at, "occupipe_match_load_sum", {pointer, mine, depth_at(load)}, wide_)
                   : call(at, "occupipe_match_load",
                          {pointer, number(size_of(load.getType())), mine, depth_at(load)}, wide_);
        if (!carries(&load)) return;
        levels_[&load] = at.CreateTrunc(packed, word_);
        reaches_[&load] = call(at, "occupipe_match_loaded_distance", {}, word_);
        if (with_trees_) trees_[&load] = at.CreateTrunc(at.CreateLShr(packed, 32), word_);
    }
    void shadow_store(StoreInst& store) {
        IRBuilder<> at(&store);
        Value* const pointer = store.getPointerOperand();
        Value* const value = store.getValueOperand();
        Value* const mine = site(store, "store");
        if (with_trees_ && tree_stores_.contains(&store))
            call(at, "occupipe_match_store_sum", {pointer, level(value), mine});
        else
            call(at, "occupipe_match_store",
                 {pointer, number(size_of(value->getType())), level(value), tree(value), mine});
    }
    void shadow_call(CallBase& call) {
        if (auto* const copy = dyn_cast<MemTransferInst>(&call)) {
            IRBuilder<> at(&call);
            this->call(at, "occupipe_match_copy",
                       {copy->getRawDest(), copy->getRawSource(),
                        at.CreateZExtOrTrunc(copy->getLength(), wide_), site(call, "copy"),
                        depth_at(call)});
            return;
        }
        if (auto* const fill = dyn_cast<MemSetInst>(&call)) {
            IRBuilder<> at(&call);
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
            this->call(at, "occupipe_match_store",
                       {call.getArgOperand(i), number(bytes), level(&call), tree(&call),
                        site(call, "store")});
        }
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
        reductions_.find(in_preorder,
                         [&](PHINode& phi, Loop& loop) { return is_induction(phi, loop); });
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
    bool is_induction(PHINode& phi, Loop& loop) {
        Value* const back = phi.getIncomingValueForBlock(loop.getLoopLatch());
        if (back == &phi || loop.isLoopInvariant(back)) return true;
        if (!scalars_.isSCEVable(phi.getType())) return false;
        const auto* const recurrence = dyn_cast<SCEVAddRecExpr>(scalars_.getSCEV(&phi));
        return recurrence != nullptr && recurrence->getLoop() == &loop;
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
        facts.carried =
            "the value of " + place(back, loop->getStartLoc()) + " goes into the next iteration";
    }
    void count_loops() {
        for (unsigned n = 0; n < all_loops_.size(); ++n) {
            Loop* const loop = all_loops_[n].loop;
            Value* const depth = number(loop->getLoopDepth() - 1);
            IRBuilder<> before(loop->getLoopPreheader()->getTerminator());
            call(before, "occupipe_match_enter", {number(n), depth});
            IRBuilder<> head(&*loop->getHeader()->getFirstInsertionPt());
            call(head, "occupipe_match_iterate", {number(n), depth});
        }
    }

    // ---- reductions as trees
    // ----------------------------------------------------------------------

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
                  number(is_single(r.root->getType()) ? 1 : 0)});
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
    const MemorySum* memory_sum_of(const Instruction& i) const {
        for (const MemorySum& sum : memory_sums_)
            if (sum.operation == &i) return &sum;
        return nullptr;
    }
    bool same_place(const LoadInst& load, const StoreInst& store) {
        return scalars_.getSCEV(const_cast<Value*>(load.getPointerOperand())) ==
               scalars_.getSCEV(const_cast<Value*>(store.getPointerOperand()));
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
    // A store of a sum, or the like, into the place where one of its operands was loaded from.
    void find_memory_sums() {
        for (BasicBlock& block : kernel_)
            for (Instruction& i : block) {
                auto* const store = dyn_cast<StoreInst>(&i);
                if (store == nullptr) continue;
                find_memory_choice(*store);
                auto* const sum = dyn_cast<Instruction>(store->getValueOperand());
                if (sum == nullptr || !sum->hasOneUse() || isa<PHINode>(sum)) continue;
                for (Value* const v : sum->operand_values()) {
                    auto* const load = dyn_cast<LoadInst>(v);
                    if (load == nullptr || !load->hasOneUse() || !undisturbed(*load, *store) ||
                        load->getParent() != sum->getParent() || !same_place(*load, *store))
                        continue;
                    const Fold fold = occupipe_match::fold_of(*sum, load);
                    if (fold == Fold::none) continue;
                    memory_sum_pairs_.push_back({load, store});
                    // Of values that take levels.
                    const bool fused = isa<CallBase>(sum) && cast<CallBase>(sum)->arg_size() > 2;
                    if (sum->getType()->isFloatingPointTy() && !fused) {
                        memory_sums_.push_back({load, sum, store, fold});
                        tree_loads_.insert(load);
                        tree_stores_.insert(store);
                    }
                    break;
                }
            }
    }
    // if (x > *place) *place = x;
    void find_memory_choice(StoreInst& store) {
        const BasicBlock* const head = store.getParent()->getSinglePredecessor();
        if (head == nullptr) return;
        const auto* const branch = dyn_cast<BranchInst>(head->getTerminator());
        if (branch == nullptr || !branch->isConditional()) return;
        const auto* const compare = dyn_cast<CmpInst>(branch->getCondition());
        if (compare == nullptr) return;
        for (unsigned n = 0; n < 2; ++n) {
            auto* const load = dyn_cast<LoadInst>(compare->getOperand(n));
            if (load == nullptr || !load->hasOneUse() || !compare->hasOneUse() ||
                compare->getOperand(1 - n) != store.getValueOperand() || load->isVolatile() ||
                store.isVolatile() || !same_place(*load, store))
                continue;
            if (occupipe_match::chosen_by(*compare, load, true) != Fold::none)
                memory_sum_pairs_.push_back({load, &store});
        }
    }

    // ---- blocks
    // -----------------------------------------------------------------------------------

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
                   {word_, word_, word_, word_, at.getPtrTy()}),
            {ConstantInt::get(word_, block_total_), ConstantInt::get(word_, sites_.size()),
             ConstantInt::get(word_, all_loops_.size()),
             ConstantInt::get(word_, reductions_.all().size()), counts_});
        at.CreateCall(callee("occupipe_match_begin", Type::getVoidTy(context_), {}), {});
        for (BasicBlock& block : kernel_)
            if (auto* const end = dyn_cast<ReturnInst>(block.getTerminator())) {
                IRBuilder<> last(end);
                last.CreateCall(callee("occupipe_match_end", Type::getVoidTy(context_), {}), {});
            }
    }
    // What the run time has to be for this kernel.
    void define_constants() {
        bool small = small_results_;
        for (BasicBlock& block : kernel_)
            for (Instruction& i : block) {
                if (const auto* const store = dyn_cast<StoreInst>(&i))
                    small = small || size_of(store->getValueOperand()->getType()) < granule_bytes ||
                            store->getAlign().value() < granule_bytes;
                else if (const auto* const load = dyn_cast<LoadInst>(&i))
                    small = small || (size_of(load->getType()) >= granule_bytes &&
                                      load->getAlign().value() < granule_bytes);
                else
                    small = small || isa<MemIntrinsic>(i);
            }
        const auto define = [&](const char* name, unsigned value) {
            new GlobalVariable(module_, word_, true, GlobalValue::ExternalLinkage,
                               ConstantInt::get(word_, value), name);
        };
        define("occupipe_match_granule_bits", small ? 2 : 3);
        define("occupipe_match_trees", with_trees_ ? 1 : 0);
        define("occupipe_match_memory_sums", with_trees_ && !memory_sums_.empty() ? 1 : 0);
        define("occupipe_match_order_memory", order_memory ? 1 : 0);
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
        for (const auto& [load, store] : memory_sum_pairs_)
            out << "memory-sum " << site_of_.lookup(load) << " " << site_of_.lookup(store) << "\n";
    }

    static constexpr unsigned most_depth = 64;
    static constexpr unsigned granule_bytes = 8;
    static constexpr int singles = 6;
    static constexpr int pairs = 7;

    Module& module_;
    Function& kernel_;
    LLVMContext& context_;
    LoopInfo& loops_;
    ScalarEvolution& scalars_;
    DominatorTree& dominators_;
    occupipe_match::Reductions reductions_;
    Type* word_;
    Type* wide_;
    Constant* zero_;
    DenseMap<const Value*, Value*> levels_;
    DenseMap<const Value*, Value*> trees_;
    DenseMap<const Value*, Value*> reaches_;
    bool with_trees_ = false;
    bool small_results_ = false;  // some that a function leaves in memory are less than 8 bytes
    std::vector<MemorySum> memory_sums_;
    std::vector<std::pair<LoadInst*, StoreInst*>> memory_sum_pairs_;
    SmallPtrSet<const Instruction*, 8> tree_loads_;
    SmallPtrSet<const Instruction*, 8> tree_stores_;
    MapVector<PHINode*, Shadows> phis_;
    std::map<const BasicBlock*, std::array<std::int64_t, 8>> operations_;
    std::vector<std::string> sites_;
    DenseMap<const Instruction*, unsigned> site_of_;
    std::vector<LoopFacts> all_loops_;
    DenseMap<const Loop*, unsigned> loop_numbers_;
    std::set<std::string> unseen_;
    GlobalVariable* counts_ = nullptr;
    std::size_t block_total_ = 0;
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
