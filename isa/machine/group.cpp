// SPDX-License-Identifier: MIT
// A group at its beginning, and what its warps wait for.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "isa/decode.h"
#include "isa/machine/launch.h"

namespace occupipe::isa {

std::vector<std::uint64_t> united(const std::vector<std::uint64_t>& one,
                                  const std::vector<std::uint64_t>& other) {
    std::vector<std::uint64_t> both;
    std::ranges::set_union(one, other, std::back_inserter(both));
    return both;
}

void Group::turn_to(const GlobalMemory::Buffer& buffer, AccessKind kind) {
    recent[static_cast<std::size_t>(kind)] = &buffer;
    const auto keep = [&](std::vector<std::uint64_t>& of) {
        const auto at = std::ranges::lower_bound(of, buffer.address);
        if (at == of.end() || *at != buffer.address) of.insert(at, buffer.address);
    };
    if (kind != AccessKind::store) keep(read);
    if (kind == AccessKind::store || kind == AccessKind::atomic) keep(written);
}

void Group::begin(const Launch& of, std::uint64_t number) {
    // What stays the same from group to group is made once.
    const bool again = launch == &of;
    launch = &of;
    index = number;
    const auto& grid = of.shape.grid;
    place = {static_cast<std::uint32_t>(number % grid[0]),
             static_cast<std::uint32_t>(number / grid[0] % grid[1]),
             static_cast<std::uint32_t>(number / grid[0] / grid[1])};
    const std::uint32_t threads = of.threads_per_group;
    registers.assign(std::size_t{of.warps_per_group} * of.register_count, Lanes{});
    shared.assign(of.shared_bytes, std::byte{0});
    local.assign(std::size_t{of.warps_per_group} * lane_count * of.local_bytes, std::byte{0});
    counts.resize(of.steps.size());
    barriers.fill({});
    alive = threads;
    memory_changed = false;
    clock = 0;
    untold.count = 0;
    printed.clear();
    warps.resize(of.warps_per_group);
    for (std::uint32_t w = 0; w < of.warps_per_group; ++w) {
        Warp& warp = warps[w];
        warp.registers = registers.data() + std::size_t{w} * of.register_count;
        warp.constants = of.constants.data();
        warp.predicates.fill(0);
        warp.predicates[predicate_index::always] = all_lanes;
        warp.predicates[predicate_index::uniform_always] = all_lanes;
        const std::uint32_t lanes = std::min<std::uint32_t>(threads - w * lane_count, lane_count);
        warp.present = lanes == lane_count ? all_lanes : (Mask{1} << lanes) - 1;
        warp.active = warp.alive = warp.present;
        warp.pc = 0;
        warp.stop = false;
        warp.gave_way = false;
        warp.rests = 0;
        warp.next_rest = 1;
        warp.yielded = warp.yielded_before = 0;
        warp.steps_since_shift = 0;
        warp.number = w;
        warp.splits.clear();
        warp.barriers.fill(Lanes{});
        warp.local = local.data() + std::size_t{w} * lane_count * of.local_bytes;
        warp.group = this;
        warp.launch = &of;
        warp.barrier_count = 0;
        warp.barrier_truth = false;
        for (int lane = 0; lane < lane_count && !again; ++lane) {
            const std::uint32_t thread = w * lane_count + static_cast<std::uint32_t>(lane);
            const auto& block = of.shape.block;
            warp.thread_x[lane] = thread % block[0];
            warp.thread_y[lane] = thread / block[0] % block[1];
            warp.thread_z[lane] = thread / block[0] / block[1];
        }
    }
}

bool can_run(const Warp& warp) {
    return warp.active != 0 || std::ranges::any_of(warp.splits, [](const Split& split) {
               return split.waits == Split::Waits::no;
           });
}

void rotate(Warp& warp) {
    for (std::size_t i = 0; i < warp.splits.size(); ++i) {
        if (warp.splits[i].waits != Split::Waits::no) continue;
        const Split next = warp.splits[i];
        warp.splits.erase(warp.splits.begin() + static_cast<std::ptrdiff_t>(i));
        warp.splits.push_back({.pc = warp.pc, .lanes = warp.active});
        warp.pc = next.pc;
        warp.active = next.lanes;
        return;
    }
}

void next_split(Warp& warp) {
    std::size_t best = warp.splits.size();
    for (std::size_t i = 0; i < warp.splits.size(); ++i) {
        if (warp.splits[i].waits != Split::Waits::no) continue;
        if (best == warp.splits.size() || warp.splits[i].pc < warp.splits[best].pc) best = i;
    }
    if (best == warp.splits.size()) {
        warp.active = 0;
        warp.stop = true;
        return;
    }
    warp.active = warp.splits[best].lanes;
    warp.pc = warp.splits[best].pc;
    warp.splits.erase(warp.splits.begin() + static_cast<std::ptrdiff_t>(best));
}

namespace {

// Lanes that a split awaits before it goes on: those of the barrier's mask, as any of its lanes
// knows it, that have not left.
Mask awaited(const Warp& warp, const Split& split) {
    if (split.waits == Split::Waits::warp_barrier) return split.awaited & warp.alive;
    Mask mask = 0;
    each_of(split.lanes, [&](int lane) { mask |= warp.barriers[split.barrier][lane]; });
    return (mask & warp.alive) | split.lanes;
}

// Splits that came to a barrier of convergence with the same mask wait for each other; others may
// stand at the same place for another pass through it.
bool wait_together(const Warp& warp, const Split& a, const Split& b) {
    if (a.waits != b.waits) return false;
    if (a.waits == Split::Waits::warp_barrier) return a.awaited == b.awaited;
    const Lanes& masks = warp.barriers[a.barrier];
    return a.barrier == b.barrier && a.pc == b.pc &&
           masks[std::countr_zero(a.lanes)] == masks[std::countr_zero(b.lanes)];
}

// Those that wait together with the split at `first`; they go on if all are there.
bool release_with(Warp& warp, std::size_t first) {
    const Split waiting = warp.splits[first];
    Mask there = 0;
    for (const Split& one : warp.splits) {
        if (wait_together(warp, one, waiting)) there |= one.lanes;
    }
    if ((awaited(warp, waiting) & ~there) != 0) return false;
    // One split for each place where they wait.
    for (std::size_t i = first; i < warp.splits.size(); ++i) {
        Split& into = warp.splits[i];
        if (!wait_together(warp, into, waiting)) continue;
        for (std::size_t j = i + 1; j < warp.splits.size();) {
            const Split& other = warp.splits[j];
            if (wait_together(warp, other, waiting) && other.pc == into.pc) {
                into.lanes |= other.lanes;
                warp.splits.erase(warp.splits.begin() + static_cast<std::ptrdiff_t>(j));
            } else {
                ++j;
            }
        }
    }
    for (Split& one : warp.splits) {
        if (wait_together(warp, one, waiting)) one.waits = Split::Waits::no;
    }
    return true;
}

}  // namespace

void release_from_yielding(Warp& warp, std::uint64_t taken, std::uint64_t turn) {
    Mask running = warp.active;
    std::uint32_t parts = 1;
    for (const Split& one : warp.splits) {
        if (one.waits != Split::Waits::no) continue;
        running |= one.lanes;
        ++parts;
    }
    const Mask yielding = running & (warp.yielded | warp.yielded_before);
    // A loop may be longer than a turn, and a turn longer than any loop.
    constexpr std::uint64_t longest_loop = 8192;
    warp.steps_since_shift += taken;
    if (warp.steps_since_shift >= std::max(longest_loop, 8 * turn) * parts) {
        warp.yielded_before = std::exchange(warp.yielded, 0);
        warp.steps_since_shift = 0;
    }
    for (std::size_t i = 0; i < warp.splits.size(); ++i) {
        const Split waiting = warp.splits[i];
        if (waiting.waits != Split::Waits::reconvergence) continue;
        Mask there = 0;
        for (const Split& one : warp.splits) {
            if (wait_together(warp, one, waiting)) there |= one.lanes;
        }
        if ((awaited(warp, waiting) & ~there & ~yielding) != 0) continue;
        std::erase_if(warp.splits,
                      [&](const Split& one) { return wait_together(warp, one, waiting); });
        warp.splits.push_back({.pc = waiting.pc, .lanes = there});
        Lanes& masks = warp.barriers[waiting.barrier];
        const Mask mask = masks[std::countr_zero(waiting.lanes)];
        each_lane(
            [&](int lane) { masks[lane] = masks[lane] == mask ? mask & ~there : masks[lane]; });
        return;
    }
}

void release_splits(Warp& warp) {
    for (std::size_t i = 0; i < warp.splits.size();) {
        const Split::Waits waits = warp.splits[i].waits;
        const bool inside =
            waits == Split::Waits::reconvergence || waits == Split::Waits::warp_barrier;
        if (inside && release_with(warp, i)) {
            i = 0;
        } else {
            ++i;
        }
    }
}

namespace {

// Splits that a barrier of the group let go at one place go on as one.
void merge_ready(Warp& warp) {
    for (std::size_t i = 0; i < warp.splits.size(); ++i) {
        if (warp.splits[i].waits != Split::Waits::no) continue;
        for (std::size_t j = i + 1; j < warp.splits.size();) {
            const Split& other = warp.splits[j];
            if (other.waits == Split::Waits::no && other.pc == warp.splits[i].pc) {
                warp.splits[i].lanes |= other.lanes;
                warp.splits.erase(warp.splits.begin() + static_cast<std::ptrdiff_t>(j));
            } else {
                ++j;
            }
        }
    }
}

}  // namespace

void release_barriers(Group& group) {
    for (std::size_t b = 0; b < group.barriers.size(); ++b) {
        GroupBarrier& barrier = group.barriers[b];
        if (!barrier.in_use) continue;
        const std::uint32_t expected = barrier.expected == 0 ? group.alive : barrier.expected;
        if (barrier.arrived < expected) continue;
        for (Warp& warp : group.warps) {
            bool released = false;
            for (Split& split : warp.splits) {
                if (split.waits != Split::Waits::group_barrier || split.barrier != b) continue;
                split.waits = Split::Waits::no;
                released = true;
                if (!barrier.reduces) continue;
                warp.barrier_count = barrier.truths;
                warp.barrier_truth = barrier.reduction == GroupBarrier::Reduction::all
                                         ? barrier.truths == barrier.voted
                                         : barrier.truths != 0;
            }
            if (released && warp.splits.size() > 1) merge_ready(warp);
        }
        if (group.observer) {
            group.untold.tell(group);
            group.observer->barrier(expected >= group.alive);
        }
        barrier = {};
    }
}

std::string place_text(const Kernel& kernel, int architecture, const Instruction& instruction,
                       const std::array<std::uint32_t, 3>& group) {
    std::string text = fmt::format(
        "kernel '{}', {:#06x} {}", kernel.name, instruction.address,
        instruction.opcode.empty() ? "(unknown instruction)" : to_text(instruction, architecture));
    if (const std::string line = source_line(kernel, instruction.address); !line.empty()) {
        text += fmt::format(" ({})", line);
    }
    return text + fmt::format(", group ({},{},{})", group[0], group[1], group[2]);
}

ExecutionError error_at(const Warp& warp, const Step& step, int lane, const std::string& why,
                        ExecutionError::Fault fault, std::uint64_t address) {
    const Launch& launch = *warp.launch;
    std::string text =
        place_text(*launch.kernel, launch.architecture, *step.instruction, warp.group->place);
    if (lane >= 0) {
        text += fmt::format(", thread ({},{},{}): ", warp.thread_x[lane], warp.thread_y[lane],
                            warp.thread_z[lane]);
    } else {
        text += fmt::format(", warp {}: ", warp.number);
    }
    return {text + why, fault, address};
}

void fail(const Warp& warp, const Step& step, int lane, const std::string& why,
          ExecutionError::Fault fault, std::uint64_t address) {
    throw error_at(warp, step, lane, why, fault, address);
}

}  // namespace occupipe::isa
