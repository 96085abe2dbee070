// SPDX-License-Identifier: MIT
// Control flow: branches, calls, convergence, barriers of the group, exits.
//
// A warp is a set of splits: lanes at one place that run together. Where a branch divides a split,
// the part with the lower place runs first; the others wait for their turn. Splits become one again
// at BSYNC and WARPSYNC alone.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string_view>

#include "isa/machine/heap.h"
#include "isa/machine/launch.h"
#include "isa/machine/print.h"
#include "isa/machine/semantics.h"

namespace occupipe::isa {
namespace {

// `taken` of the running lanes go to `target`, the others go on.
void branch(Warp& warp, Mask taken, std::uint32_t target) {
    Group& group = *warp.group;
    ++group.branches;
    const Mask others = warp.active & ~taken;
    if (taken == 0) return;
    if (others == 0) {
        warp.pc = target;
        return;
    }
    ++group.divergent_branches;
    if (target < warp.pc) {
        warp.splits.push_back({.pc = warp.pc, .lanes = others});
        warp.active = taken;
        warp.pc = target;
    } else {
        warp.splits.push_back({.pc = target, .lanes = taken});
        warp.active = others;
    }
}

struct Branch {
    static void run(Warp& warp, const Step& step, Mask active) {
        branch(warp, active & predicate(warp, step, 0), static_cast<std::uint32_t>(step.target));
    }
};

// BRA.U.ANY: all lanes jump if the guard of any holds.
struct BranchTogether {
    static void run(Warp& warp, const Step& step, Mask active) {
        const Mask any = active & predicate(warp, step, 0);
        branch(warp, any != 0 ? warp.active : 0, static_cast<std::uint32_t>(step.target));
    }
};

constexpr DriverFunction driver_functions[] = {
    {"vprintf", &print},
    {"__assertfail", &fail_assertion},
    {"malloc", [](Warp& warp, const Step&, Mask lanes) { allocate(warp, lanes, false); }, true},
    {"__cuda_syscall_aligned_malloc",
     [](Warp& warp, const Step&, Mask lanes) { allocate(warp, lanes, true); }, true},
    {"free", &release, true},
};

}  // namespace

const DriverFunction* driver_function(std::string_view name) {
    const auto* const found = std::ranges::find(driver_functions, name, &DriverFunction::name);
    return found == std::end(driver_functions) ? nullptr : found;
}

namespace {

// To an address that each lane has for itself.
struct IndirectBranch {
    static void run(Warp& warp, const Step& step, Mask active) {
        Mask rest = active & predicate(warp, step, 0);
        if (rest == 0) return;
        const Lanes* const registers = step.source_count == 0 ? nullptr : raw(warp, step, 0);
        const Launch& launch = *warp.launch;
        Group& group = *warp.group;
        ++group.branches;
        const auto target = [&](int lane) {
            return static_cast<std::uint64_t>(step.immediate) +
                   (registers == nullptr ? 0 : pair(registers, lane));
        };
        if (const Mask others = warp.active & ~rest; others != 0) {
            warp.splits.push_back({.pc = warp.pc, .lanes = others});
        }
        const std::size_t before = warp.splits.size();
        while (rest != 0) {
            const int first = std::countr_zero(rest);
            const std::uint64_t to = target(first);
            Mask together = 0;
            each_of(rest, [&](int lane) {
                if (target(lane) == to) together |= Mask{1} << lane;
            });
            rest &= ~together;
            std::uint32_t pc = launch.step_at(to);
            const std::string* const name = launch.module->foreign_function(to);
            if (const auto* const function = name ? driver_function(*name) : nullptr) {
                function->call(warp, step, together);
                // Back to where R20 and R21 say, of one call the same for all.
                pc = launch.step_at(pair(warp.registers + 20, first));
            }
            if (pc + 1 == launch.steps.size()) {
                if (name) {
                    fail(warp, step, first,
                         fmt::format("calls '{}', which is not executed", *name));
                }
                fail(warp, step, first, fmt::format("goes to {:#x}, where no code is", to));
            }
            warp.splits.push_back({.pc = pc, .lanes = together});
        }
        if (warp.splits.size() > before + 1) ++group.divergent_branches;
        next_split(warp);
    }
};

// BRA.CONV jumps if the lanes that run, as far as their guard holds, are all lanes of a mask (in
// a uniform register; else all there are); BRA.DIV if they are not. The code that is jumped to, or
// over, waits for the lanes of the mask, which is right in any case.
template <bool if_converged>
struct BranchOnConvergence {
    static void run(Warp& warp, const Step& step, Mask active) {
        // The guard stands in the second place: lanes for which it does not hold jump, too.
        const Mask there = active & predicate(warp, step, 1);
        Lanes scratch;
        const Mask mask = step.source_count == 0 ? all_lanes : integer(warp, step, 0, scratch)[0];
        const bool converged = ((mask & warp.alive) ^ there) == 0;
        const Mask taken = converged == if_converged ? active & predicate(warp, step, 0) : 0;
        branch(warp, taken, static_cast<std::uint32_t>(step.target));
    }
};

Handler bind_on_convergence(const Instruction& one, Step& step) {
    step.predicate_in[1] = {.index = step.guard, .inverted = step.guard_inverted};
    step.guard = predicate_index::always;
    step.guard_inverted = false;
    return one.has("CONV") ? handler_of<BranchOnConvergence<true>>()
                           : handler_of<BranchOnConvergence<false>>();
}

struct Exit {
    static void run(Warp& warp, const Step& step, Mask active) {
        const Mask leaving = active & predicate(warp, step, 0);
        if (leaving == 0) return;
        Group& group = *warp.group;
        warp.alive &= ~leaving;
        warp.active &= ~leaving;
        group.alive -= static_cast<std::uint32_t>(std::popcount(leaving));
        if (!warp.splits.empty()) release_splits(warp);
        release_barriers(group);
        if (warp.active == 0) next_split(warp);
    }
};

struct SetBarrier {  // BSSY
    static void run(Warp& warp, const Step& step, Mask active) {
        const Mask lanes = active & predicate(warp, step, 0);
        assign(warp.barriers[static_cast<std::size_t>(step.immediate)], lanes,
               [&](int) { return lanes; });
    }
};

void wait(Warp& warp, const Split& split) {
    warp.splits.push_back(split);
    warp.active &= ~split.lanes;
    release_splits(warp);
    if (warp.active == 0) next_split(warp);
}

struct WaitAtBarrier {  // BSYNC
    static void run(Warp& warp, const Step& step, Mask active) {
        const Mask lanes = active & predicate(warp, step, 0);
        if (lanes == 0) return;
        const auto number = static_cast<std::uint8_t>(step.immediate);
        const Lanes& masks = warp.barriers[number];
        if ((masks[std::countr_zero(lanes)] & warp.alive & ~lanes) == 0 && lanes == warp.active) {
            return;
        }
        wait(warp, {.pc = warp.pc,
                    .lanes = lanes,
                    .waits = Split::Waits::reconvergence,
                    .barrier = number});
    }
};

struct LeaveBarrier {  // BREAK
    static void run(Warp& warp, const Step& step, Mask active) {
        const Mask lanes = active & predicate(warp, step, 0);
        Lanes& masks = warp.barriers[static_cast<std::size_t>(step.immediate)];
        // Those that leave are no longer awaited by the others of their own pass through BSSY. The
        // same barrier may be in use for other passes: in another call of a function that saved it.
        Mask rest = lanes;
        while (rest != 0) {
            const Mask mask = masks[std::countr_zero(rest)];
            Mask leaving = 0;
            each_of(rest, [&](int lane) {
                if (masks[lane] == mask) leaving |= Mask{1} << lane;
            });
            rest &= ~leaving;
            each_lane([&](int lane) {
                masks[lane] = masks[lane] == mask ? mask & ~leaving : masks[lane];
            });
            each_of(leaving, [&](int lane) { masks[lane] = 0; });
        }
        if (!warp.splits.empty()) release_splits(warp);
    }
};

struct ReadBarrier {  // BMOV.32.CLEAR Rd, B
    static void run(Warp& warp, const Step& step, Mask active) {
        Lanes& masks = warp.barriers[static_cast<std::size_t>(step.immediate)];
        assign(destination(warp, step), active, masks);
        if (step.option[0] != 0) each_of(active, [&](int lane) { masks[lane] = 0; });
    }
};

struct WriteBarrier {  // BMOV.32 B, Rs
    static void run(Warp& warp, const Step& step, Mask active) {
        assign(warp.barriers[static_cast<std::size_t>(step.immediate)], active,
               *raw(warp, step, 0));
    }
};

// Each lane brings the mask of those that it waits for. Where all of them run together already they
// go on; .EXCLUSIVE and .COLLECTIVE ask that nobody else does, so that lanes with different masks
// part.
struct WarpBarrier {  // WARPSYNC
    static void run(Warp& warp, const Step& step, Mask active) {
        const Mask lanes = active & predicate(warp, step, 0);
        if (lanes == 0) return;
        const Lanes every = splat(all_lanes);
        const Lanes& masks = step.source_count == 0 ? every : *raw(warp, step, 0);
        const Mask first = masks[std::countr_zero(lanes)];
        Mask awaited = 0;
        bool same = true;
        each_of(lanes, [&](int lane) {
            awaited |= masks[lane];
            same &= masks[lane] == first;
        });
        const bool exclusive = step.option[0] != 0;
        if ((awaited & warp.alive & ~lanes) == 0 && lanes == warp.active && (same || !exclusive)) {
            return;
        }
        Mask rest = lanes;
        while (rest != 0) {
            const Mask mask = masks[std::countr_zero(rest)];
            Mask together = 0;
            each_of(rest, [&](int lane) {
                if (masks[lane] == mask) together |= Mask{1} << lane;
            });
            rest &= ~together;
            warp.splits.push_back({.pc = warp.pc,
                                   .lanes = together,
                                   .waits = Split::Waits::warp_barrier,
                                   .awaited = mask});
        }
        warp.active &= ~lanes;
        release_splits(warp);
        if (warp.active == 0) next_split(warp);
    }
};

struct GiveWay {  // YIELD, NANOSLEEP
    static void run(Warp& warp, const Step& step, Mask) {
        warp.yielded |= warp.active;
        warp.gave_way = true;
        rotate(warp);
        if (step.option[0] != 0) warp.stop = true;
    }
};

struct Nothing {
    static void run(Warp&, const Step&, Mask) {}
};

// Memory of the host is ordered, too, where threads of the host run different groups.
struct Fence {
    static void run(Warp&, const Step&, Mask) {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
};

struct Trap {
    static void run(Warp& warp, const Step& step, Mask active) {
        fail(warp, step, std::countr_zero(active),
             "the kernel stops itself (trap, or an assertion)");
    }
};

enum class GroupBarrierUse : std::uint8_t { sync, arrive, reduce };

// The number of the barrier and of the threads are known before the launch or come from registers.
struct BarrierPlace {
    std::uint32_t number, expected;
};

BarrierPlace barrier_place(Warp& warp, const Step& step, int lane) {
    std::uint32_t number = (*raw(warp, step, 0))[lane];
    std::uint32_t expected = step.source_count > 1 ? (*raw(warp, step, 1))[lane] : 0;
    if (step.option[1] != 0) {  // one register holds both
        expected = number >> 16 & 0xfff;
        number &= 0xffff;
    }
    if (number >= warp.group->barriers.size()) {
        fail(warp, step, lane, fmt::format("there is no barrier {}; 0 to 15", number));
    }
    if (expected % lane_count != 0) {
        fail(warp, step, lane,
             fmt::format("a barrier for {} threads; whole warps alone are possible", expected));
    }
    return {.number = number, .expected = expected};
}

template <GroupBarrierUse use>
struct GroupWait {  // BAR
    static void run(Warp& warp, const Step& step, Mask active) {
        Group& group = *warp.group;
        const int first = std::countr_zero(active);
        const BarrierPlace place = barrier_place(warp, step, first);
        GroupBarrier& barrier = group.barriers[place.number];
        if (barrier.in_use && barrier.expected != place.expected) {
            fail(warp, step, first,
                 fmt::format("comes to barrier {} with {} threads; others came with {}",
                             place.number, place.expected, barrier.expected));
        }
        barrier.in_use = true;
        barrier.expected = place.expected;
        const bool whole = place.expected != 0 && active == warp.alive;
        barrier.arrived += whole ? lane_count : static_cast<std::uint32_t>(std::popcount(active));
        if constexpr (use == GroupBarrierUse::reduce) {
            barrier.reduces = true;
            barrier.reduction = static_cast<GroupBarrier::Reduction>(step.option[0]);
            barrier.voted += static_cast<std::uint32_t>(std::popcount(active));
            barrier.truths +=
                static_cast<std::uint32_t>(std::popcount(active & predicate(warp, step, 0)));
        }
        if (place.expected != 0 && barrier.arrived > place.expected) {
            fail(warp, step, first,
                 fmt::format("more than {} threads come to barrier {}", place.expected,
                             place.number));
        }
        if constexpr (use != GroupBarrierUse::arrive) {
            warp.splits.push_back({.pc = warp.pc,
                                   .lanes = active,
                                   .waits = Split::Waits::group_barrier,
                                   .barrier = static_cast<std::uint8_t>(place.number)});
            warp.active &= ~active;
        }
        release_barriers(group);
        if (warp.active == 0) next_split(warp);
    }
};

struct BarrierResult {  // B2R.RESULT
    static void run(Warp& warp, const Step& step, Mask active) {
        const std::uint32_t count = warp.barrier_count;
        assign(destination(warp, step), active, [&](int) { return count; });
        set_predicate(warp, step, 0, active, warp.barrier_truth ? all_lanes : 0);
    }
};

// LEPC: its own address, or one in the code that is given relative to it.
struct AddressOfCode {
    static void run(Warp& warp, const Step& step, Mask active) {
        const auto address = static_cast<std::uint64_t>(step.immediate);
        Lanes* const into = &destination(warp, step);
        assign(into[0], active, [&](int) { return static_cast<std::uint32_t>(address); });
        assign(into[1], active, [&](int) { return static_cast<std::uint32_t>(address >> 32); });
    }
};

Handler bind_address_of_code(const Instruction& one, int, Step& step, std::string&) {
    const Operand& last = one.operands.back();
    step.immediate = last.kind == Operand::Kind::target ? last.value : one.address;
    return handler_of<AddressOfCode>();
}

Handler bind_branch(const Instruction& one, int, Step& step, std::string& why_not) {
    if (one.has("INC") || one.has("DEC")) {
        why_not = "with .INC or .DEC";
        return nullptr;
    }
    if (one.has("CONV") || one.has("DIV")) return bind_on_convergence(one, step);
    if (one.has("U") && step.source_count != 0) {
        why_not = "with a uniform register";
        return nullptr;
    }
    return one.has("ANY") ? handler_of<BranchTogether>() : handler_of<Branch>();
}

Handler bind_indirect(const Instruction& one, int, Step& step, std::string& why_not) {
    if (one.has("INC") || one.has("DEC")) {
        why_not = "with .INC or .DEC";
        return nullptr;
    }
    if (one.opcode.starts_with("BRX")) step.immediate += one.address + instruction_bytes;
    return handler_of<IndirectBranch>();
}

Handler bind_call(const Instruction& one, int, Step& step, std::string& why_not) {
    // A linker puts the address in; without one 0 stands there.
    if (step.source_count == 0 && one.has("ABS") && one.operands.back().value == 0) {
        why_not = "to an address that a linker puts in";
        return nullptr;
    }
    if (step.source_count == 0) return handler_of<Branch>();
    if (one.has("ABS")) step.immediate = 0;
    return handler_of<IndirectBranch>();
}

Handler bind_return(const Instruction& one, int, Step& step, std::string&) {
    if (one.has("ABS")) step.immediate = 0;
    return handler_of<IndirectBranch>();
}

template <typename Op>
Handler bind_plain(const Instruction&, int, Step&, std::string&) {
    return handler_of<Op>();
}

Handler bind_warp_barrier(const Instruction& one, int, Step& step, std::string& why_not) {
    if (step.source_count == 0 && !one.has("ALL")) {
        why_not = "without a mask";
        return nullptr;
    }
    step.option[0] = one.has("EXCLUSIVE") || one.has("COLLECTIVE") ? 1 : 0;
    return handler_of<WarpBarrier>();
}

Handler bind_sleep(const Instruction&, int, Step& step, std::string&) {
    step.option[0] = 1;
    return handler_of<GiveWay>();
}

Handler bind_move_barrier(const Instruction& one, int, Step& step, std::string&) {
    step.option[0] = one.has("CLEAR") ? 1 : 0;
    return step.source_count == 0 ? handler_of<ReadBarrier>() : handler_of<WriteBarrier>();
}

Handler bind_breakpoint(const Instruction& one, int, Step&, std::string& why_not) {
    if (one.has("TRAP")) return handler_of<Trap>();
    why_not = "a breakpoint";
    return nullptr;
}

Handler bind_barrier(const Instruction& one, int, Step& step, std::string& why_not) {
    step.option[1] =
        std::ranges::count(one.operands, Operand::Kind::registers, &Operand::kind) == 2;
    if (one.has("SYNC")) return handler_of<GroupWait<GroupBarrierUse::sync>>();
    if (one.has("ARV")) return handler_of<GroupWait<GroupBarrierUse::arrive>>();
    if (one.has("RED")) {
        using Reduction = GroupBarrier::Reduction;
        step.option[0] = static_cast<std::uint8_t>(one.has("AND")  ? Reduction::all
                                                   : one.has("OR") ? Reduction::any
                                                                   : Reduction::count);
        return handler_of<GroupWait<GroupBarrierUse::reduce>>();
    }
    why_not = "this barrier";
    return nullptr;
}

constexpr Semantics rows[] = {
    {"BRA", &bind_branch},
    {"BRX", &bind_indirect},
    {"BRXU", &bind_indirect},
    {"LEPC", &bind_address_of_code},
    {"ENDCOLLECTIVE", &bind_plain<Nothing>},
    {"JMP", &bind_branch},
    {"CALL", &bind_call},
    {"RET", &bind_return},
    {"EXIT", &bind_plain<Exit>},
    {"BSSY", &bind_plain<SetBarrier>},
    {"BSYNC", &bind_plain<WaitAtBarrier>},
    {"BREAK", &bind_plain<LeaveBarrier>},
    {"BMOV", &bind_move_barrier},
    {"WARPSYNC", &bind_warp_barrier},
    {"YIELD", &bind_plain<GiveWay>},
    {"NANOSLEEP", &bind_sleep},
    {"NOP", &bind_plain<Nothing>},
    {"BPT", &bind_breakpoint},
    {"BAR", &bind_barrier},
    {"B2R", &bind_plain<BarrierResult>},
    {"DEPBAR", &bind_plain<Nothing>},
    {"LDGDEPBAR", &bind_plain<Nothing>},
    {"MEMBAR", &bind_plain<Fence>},
    {"ERRBAR", &bind_plain<Fence>},
    {"CGAERRBAR", &bind_plain<Fence>},
    {"CCTL", &bind_plain<Nothing>},
    {"FENCE", &bind_plain<Fence>},
    // Counters of events; what waits for, or lets begin, the next launch: launches run in order.
    {"PMTRIG", &bind_plain<Nothing>},
    {"PREEXIT", &bind_plain<Nothing>},
    {"ACQBULK", &bind_plain<Nothing>},
};

}  // namespace

std::span<const Semantics> control_semantics() { return rows; }

Handler call_of_driver() { return handler_of<IndirectBranch>(); }

}  // namespace occupipe::isa
