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
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/IVDescriptors.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
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
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace llvm;

cl::opt<std::string> kernel_name("occupipe-kernel", cl::desc("function to count"));
cl::opt<std::string> facts_path("occupipe-facts", cl::desc("where to write what stands still"));

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
    if (!where) return "?";
    const DILocation* at = where.get();
    return (sys::path::filename(at->getFilename()) + ":" + Twine(at->getLine())).str();
}

class Counter {
public:
    Counter(Module& module, Function& kernel, FunctionAnalysisManager& analyses)
        : module_(module),
          kernel_(kernel),
          context_(module.getContext()),
          loops_(analyses.getResult<LoopAnalysis>(kernel)),
          scalars_(analyses.getResult<ScalarEvolutionAnalysis>(kernel)),
          library_(analyses.getResult<TargetLibraryAnalysis>(kernel)),
          dominators_(analyses.getResult<DominatorTreeAnalysis>(kernel)),
          assumptions_(analyses.getResult<AssumptionAnalysis>(kernel)),
          word_(Type::getInt32Ty(context_)),
          wide_(Type::getInt64Ty(context_)),
          zero_(ConstantInt::get(word_, 0)) {}

    void run() {
        require_countable();
        number_loops();
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
                shadows.reach->addIncoming(reach(phi->getIncomingValue(i)),
                                           phi->getIncomingBlock(i));
            }
        count_blocks(blocks);
        count_loops();
        open();
        write_facts(blocks);
    }

private:
    struct Shadows {
        PHINode* level;
        PHINode* reach;
    };
    struct LoopFacts {
        Loop* loop = nullptr;
        int parent = -1;
        std::string carried;    // by a phi; empty: nothing
        std::string reduction;  // recognised, of a scalar
    };

    void require_countable() {
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
                if (name.starts_with("pthread_") || name.starts_with("__kmpc_") ||
                    name.starts_with("GOMP_"))
                    refuse("the kernel uses threads (" + name + ") at " + place(i.getDebugLoc()) +
                           "; give its sequential version");
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
        Shadows shadows{at.CreatePHI(word_, phi.getNumIncomingValues()),
                        at.CreatePHI(word_, phi.getNumIncomingValues())};
        phis_.insert({&phi, shadows});
        levels_[&phi] = shadows.level;
        reaches_[&phi] = shadows.reach;
    }
    void pass_through(Instruction& i, ArrayRef<Value*> from) {
        if (!carries(&i)) return;
        IRBuilder<> at(i.getNextNode());
        Value* l = zero_;
        Value* r = zero_;
        for (Value* const v : from) {
            l = greater(at, l, level(v));
            r = greater(at, r, reach(v));
        }
        levels_[&i] = l;
        reaches_[&i] = r;
    }
    // One operation; its level.
    Value* operation(IRBuilder<>& at, Instruction& i, Kind kind, Value* l, Value* r) {
        Value* const mine = at.CreateAdd(l, ConstantInt::get(word_, 1));
        const bool single = i.getType()->isFloatTy() || i.getType()->isHalfTy();
        at.CreateCall(callee(single ? "occupipe_match_f32" : "occupipe_match_f64",
                             Type::getVoidTy(context_), {word_, word_}),
                      {mine, r});
        auto& counts = operations_[i.getParent()];
        ++counts[kind];
        if (single) ++counts[singles];
        return mine;
    }
    void compute(Instruction& i, Kind kind, ArrayRef<Value*> from) {
        IRBuilder<> at(i.getNextNode());
        Value* l = zero_;
        Value* r = zero_;
        for (Value* const v : from) {
            l = greater(at, l, level(v));
            r = greater(at, r, reach(v));
        }
        levels_[&i] = operation(at, i, kind, l, r);
    }
    void fuse(CallBase& call) {
        IRBuilder<> at(call.getNextNode());
        Value* const a = call.getArgOperand(0);
        Value* const b = call.getArgOperand(1);
        Value* const c = call.getArgOperand(2);
        Value* const product = operation(at, call, multiplication, greater(at, level(a), level(b)),
                                         greater(at, reach(a), reach(b)));
        levels_[&call] = operation(at, call, addition, greater(at, product, level(c)), reach(c));
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
            if (carries(v)) from.push_back(v);
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
    void shadow_load(LoadInst& load) {
        IRBuilder<> at(load.getNextNode());
        Value* const packed = at.CreateCall(
            callee("occupipe_match_load", wide_, {at.getPtrTy(), word_, word_}),
            {load.getPointerOperand(), at.getInt32(size_of(load.getType())), site(load, "load")});
        if (!carries(&load)) return;
        levels_[&load] = at.CreateTrunc(packed, word_);
        reaches_[&load] = at.CreateTrunc(at.CreateLShr(packed, 32), word_);
    }
    void shadow_store(StoreInst& store) {
        IRBuilder<> at(&store);
        at.CreateCall(
            callee("occupipe_match_store", Type::getVoidTy(context_),
                   {at.getPtrTy(), word_, word_, word_}),
            {store.getPointerOperand(), at.getInt32(size_of(store.getValueOperand()->getType())),
             level(store.getValueOperand()), site(store, "store")});
    }
    void shadow_call(CallBase& call) {
        if (auto* const copy = dyn_cast<MemTransferInst>(&call)) {
            IRBuilder<> at(&call);
            at.CreateCall(callee("occupipe_match_copy", Type::getVoidTy(context_),
                                 {at.getPtrTy(), at.getPtrTy(), wide_, word_}),
                          {copy->getRawDest(), copy->getRawSource(),
                           at.CreateZExtOrTrunc(copy->getLength(), wide_), site(call, "copy")});
            return;
        }
        if (auto* const fill = dyn_cast<MemSetInst>(&call)) {
            IRBuilder<> at(&call);
            at.CreateCall(callee("occupipe_match_fill", Type::getVoidTy(context_),
                                 {at.getPtrTy(), wide_, word_}),
                          {fill->getRawDest(), at.CreateZExtOrTrunc(fill->getLength(), wide_),
                           site(call, "fill")});
            return;
        }
        const Intrinsic::ID id = call.getIntrinsicID();
        if (id == Intrinsic::fmuladd || id == Intrinsic::fma) return fuse(call);
        SmallVector<Value*> from;
        for (Value* const v : call.args())
            if (carries(v)) from.push_back(v);
        const Function* const callee = call.getCalledFunction();
        LibFunc known{};
        const bool of_library = library_.getLibFunc(*callee, known) && library_.has(known);
        if (call.getType()->isFloatingPointTy()) {
            const StringRef name = callee->getName();
            const bool sign = id == Intrinsic::fabs || id == Intrinsic::copysign ||
                              name == "fabs" || name == "fabsf" || name == "copysign";
            if (sign) return pass_through(call, from);
            const bool root = id == Intrinsic::sqrt || name == "sqrt" || name == "sqrtf";
            if (id != Intrinsic::not_intrinsic || of_library) {
                if (name == "fma" || name == "fmaf") return fuse(call);
                return compute(call, root ? square_root : function, from);
            }
        }
        if (id != Intrinsic::not_intrinsic) return pass_through(call, from);
        if (!call.onlyReadsMemory()) unseen_.insert(callee->getName().str());
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
        for (Loop* const top : loops_)
            for (Loop* const loop : top->getLoopsInPreorder()) {
                if (loop->getLoopPreheader() == nullptr || !loop->hasDedicatedExits())
                    refuse("the loop at " + place(loop->getStartLoc()) +
                           " cannot be brought into a simple form");
                LoopFacts facts;
                facts.loop = loop;
                if (Loop* const parent = loop->getParentLoop())
                    facts.parent = static_cast<int>(loop_numbers_[parent]);
                for (PHINode& phi : loop->getHeader()->phis()) look_at(phi, facts);
                loop_numbers_[loop] = static_cast<unsigned>(all_loops_.size());
                all_loops_.push_back(facts);
            }
    }
    void look_at(PHINode& phi, LoopFacts& facts) {
        Loop* const loop = facts.loop;
        Value* const back = phi.getIncomingValueForBlock(loop->getLoopLatch());
        if (back == &phi || loop->isLoopInvariant(back)) return;
        if (scalars_.isSCEVable(phi.getType())) {
            const auto* const recurrence = dyn_cast<SCEVAddRecExpr>(scalars_.getSCEV(&phi));
            if (recurrence != nullptr && recurrence->getLoop() == loop) return;
        }
        const std::string at = place(cast<Instruction>(back)->getDebugLoc());
        RecurrenceDescriptor found;
        if (RecurrenceDescriptor::isReductionPHI(&phi, loop, found, nullptr, &assumptions_,
                                                 &dominators_, &scalars_)) {
            facts.reduction += (facts.reduction.empty() ? "" : ", ") + at;
            return;
        }
        facts.carried = "the value of " + at + " goes into the next iteration";
    }
    void count_loops() {
        for (unsigned n = 0; n < all_loops_.size(); ++n) {
            Loop* const loop = all_loops_[n].loop;
            Value* const number = ConstantInt::get(word_, n);
            IRBuilder<> before(loop->getLoopPreheader()->getTerminator());
            before.CreateCall(callee("occupipe_match_enter", Type::getVoidTy(context_), {word_}),
                              {number});
            IRBuilder<> head(&*loop->getHeader()->getFirstInsertionPt());
            head.CreateCall(callee("occupipe_match_iterate", Type::getVoidTy(context_), {word_}),
                            {number});
            SmallVector<BasicBlock*> exits;
            loop->getUniqueExitBlocks(exits);
            for (BasicBlock* const exit : exits) {
                IRBuilder<> at(&*exit->getFirstInsertionPt());
                at.CreateCall(callee("occupipe_match_leave", Type::getVoidTy(context_), {}), {});
            }
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
                   {word_, word_, word_, at.getPtrTy()}),
            {ConstantInt::get(word_, block_total_), ConstantInt::get(word_, sites_.size()),
             ConstantInt::get(word_, all_loops_.size()), counts_});
        at.CreateCall(callee("occupipe_match_begin", Type::getVoidTy(context_), {}), {});
        for (BasicBlock& block : kernel_)
            if (auto* const end = dyn_cast<ReturnInst>(block.getTerminator())) {
                IRBuilder<> last(end);
                last.CreateCall(callee("occupipe_match_end", Type::getVoidTy(context_), {}), {});
            }
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
    // A store of a sum, or the like, into the place where one of its operands was loaded from.
    void write_memory_sums(raw_ostream& out) {
        for (const auto& [i, store_site] : site_of_) {
            const auto* const store = dyn_cast<StoreInst>(i);
            if (store == nullptr) continue;
            const auto* const sum = dyn_cast<BinaryOperator>(store->getValueOperand());
            if (sum == nullptr || !sum->isCommutative() || !sum->hasOneUse()) continue;
            for (const Value* const v : sum->operand_values()) {
                const auto* const load = dyn_cast<LoadInst>(v);
                if (load == nullptr || !load->hasOneUse()) continue;
                if (scalars_.getSCEV(const_cast<Value*>(load->getPointerOperand())) !=
                    scalars_.getSCEV(const_cast<Value*>(store->getPointerOperand())))
                    continue;
                out << "memory-sum " << site_of_.lookup(load) << " " << store_site << "\n";
            }
        }
    }

    static constexpr int singles = 6;
    static constexpr int pairs = 7;

    Module& module_;
    Function& kernel_;
    LLVMContext& context_;
    LoopInfo& loops_;
    ScalarEvolution& scalars_;
    TargetLibraryInfo& library_;
    DominatorTree& dominators_;
    AssumptionCache& assumptions_;
    Type* word_;
    Type* wide_;
    Constant* zero_;
    DenseMap<const Value*, Value*> levels_;
    DenseMap<const Value*, Value*> reaches_;
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
                else if (name == "occupipe-count")
                    passes.addPass(Count());
                else
                    return false;
                return true;
            });
        }};
}
