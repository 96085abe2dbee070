// SPDX-License-Identifier: MIT
#include "sim/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace occupipe::sim {

std::string lacks_latency(const GpuProfile& profile, const InstructionTiming& timing) {
    return fmt::format("the latency of {} is needed, and profile '{}' has none ({})", timing.name,
                       profile.device.name, timing.latency_unknown);
}

namespace {

constexpr std::int64_t max_resident_warps = 1 << 16;
// As a share of λ. At 1 the latency would grow forever, as fast as instructions issue; fit's law
// of contention ends there, too.
constexpr double largest_wait = 0.99;
constexpr double negligible_wait = 1e-6;  // [cycles]; a fitted growth may be nothing but noise
constexpr int max_subsystems = 64;        // the simulator keeps sets of them in one word

std::vector<const InstructionTiming*> add_ops(Machine& machine, const GpuProfile& profile,
                                              const Kernel& kernel) {
    std::vector<const InstructionTiming*> timings;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        if (machine.find_op(instruction.op, instruction.kind) <
            static_cast<int>(machine.op_keys.size()))
            return;
        const InstructionTiming* timing = profile.find_instruction(instruction.op);
        machine.op_keys.emplace_back(instruction.op, instruction.kind);
        timings.push_back(timing);
        machine.ops.push_back({.name = instruction.op,
                               .kind = instruction.kind.value_or(timing->effective_kind()),
                               .subsystem = 0,
                               .cpi = 0,
                               .latency = 0});
    });
    return timings;
}

void add_subsystems(Machine& machine, const GpuProfile& profile,
                    const std::vector<const InstructionTiming*>& timings) {
    for (const Subsystem& subsystem : profile.subsystems) {
        bool used = false;
        for (std::size_t i = 0; i < timings.size(); ++i) {
            if (timings[i]->subsystem != subsystem.name) continue;
            machine.ops[i].subsystem = static_cast<int>(machine.subsystems.size());
            used = true;
        }
        if (!used) continue;
        machine.first_unit.push_back(machine.unit_count());
        machine.subsystems.push_back(subsystem);
    }
    if (machine.subsystems.size() > max_subsystems)
        throw InputError(fmt::format("the kernel uses {} subsystems; at most {} are supported",
                                     machine.subsystems.size(), max_subsystems));
}

// Nothing may need a latency that the profile does not know: no instruction waits for such a
// result, it is no barrier, and there is no queue in which it would stand until then.
void require_known_latencies(const GpuProfile& profile, const Kernel& kernel) {
    for (const WarpProgram& program : kernel.warps) {
        std::map<std::string_view, const InstructionTiming*> unknown;  // by id
        for_each_instruction(program.instructions, [&](const KernelInstruction& one) {
            const InstructionTiming& timing = *profile.find_instruction(one.op);
            if (timing.latency) return;
            const auto kind = one.kind.value_or(timing.effective_kind());
            const auto& queue = profile.find_subsystem(timing.subsystem)->contention;
            if (kind == InstructionKind::barrier || (queue && queue->value > 0))
                throw InputError(lacks_latency(profile, timing));
            unknown[one.id] = &timing;
        });
        if (unknown.empty()) continue;
        for_each_instruction(program.instructions, [&](const KernelInstruction& one) {
            for (const Dependence& on : one.after)
                if (const auto found = unknown.find(on.id); found != unknown.end())
                    throw InputError(fmt::format("kernel '{}': {} waits for {}: {}", kernel.name,
                                                 one.id, on.id,
                                                 lacks_latency(profile, *found->second)));
        });
    }
}

// What was measured of the instruction, else the subsystem's share of λ. Barriers neither wait in
// the queue nor stand in it.
Duration wait_of(const Machine& machine, const MachineOp& op, const InstructionTiming& timing) {
    if (op.kind == InstructionKind::barrier) return {};
    const Duration cpi = duration(timing.cpi.value);
    if (timing.latency_growth && timing.latency_growth->value > 0) {
        // It is per instruction on the core; a copy holds one in `schedulers` of them.
        const Duration growth = product(duration(timing.latency_growth->value),
                                        duration(machine.unit_count_of(op.subsystem)));
        const Duration most = product(duration(largest_wait), cpi);
        return growth.cycles < most.cycles ? growth : most;
    }
    const auto& share = machine.subsystems[op.subsystem].contention;
    if (!share || share->value <= 0) return {};
    return product(duration(share->value), cpi);
}

}  // namespace

int Machine::unit(int subsystem, int scheduler) const {
    return first_unit[subsystem] + (subsystems[subsystem].per_scheduler() ? scheduler : 0);
}

int Machine::unit_count() const {
    if (subsystems.empty()) return 0;
    return first_unit.back() + (subsystems.back().per_scheduler() ? schedulers : 1);
}

int Machine::unit_count_of(int subsystem) const {
    return subsystems[subsystem].per_scheduler() ? schedulers : 1;
}

int Machine::find_op(const std::string& name, std::optional<InstructionKind> kind) const {
    const auto found = std::find_if(op_keys.begin(), op_keys.end(), [&](const auto& key) {
        return key.second == kind && key.first == name;
    });
    return static_cast<int>(found - op_keys.begin());
}

void require_known_instructions(const GpuProfile& profile, const Kernel& kernel,
                                const std::string& file) {
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        if (!profile.find_instruction(instruction.op))
            throw InputError(file, instruction.where, "op",
                             fmt::format("profile '{}' has no instruction '{}'",
                                         profile.device.name, instruction.op));
    });
}

Machine build_machine(const GpuProfile& profile, const Kernel& kernel) {
    validate(profile);
    validate(kernel);
    require_known_instructions(profile, kernel, "kernel '" + kernel.name + "'");
    require_known_latencies(profile, kernel);
    Machine machine;
    machine.schedulers = profile.issue.schedulers;
    const auto timings = add_ops(machine, profile, kernel);
    add_subsystems(machine, profile, timings);

    std::vector<Duration> durations{duration(1)};
    for (const InstructionTiming* timing : timings) {
        durations.push_back(duration(timing->cpi.value));
        // Nothing waits for it; what it leaves behind when it has issued is unknown and not
        // counted.
        durations.push_back(duration(timing->latency ? timing->latency->value : timing->cpi.value));
    }
    std::vector<Duration> waits;
    for (std::size_t i = 0; i < timings.size(); ++i) {
        waits.push_back(wait_of(machine, machine.ops[i], *timings[i]));
        if (waits.back().cycles < negligible_wait) waits.back() = {};
        if (waits.back().cycles > 0) durations.push_back(waits.back());
    }
    machine.scale = choose_tick(durations);
    for (std::size_t i = 0; i < machine.ops.size(); ++i) {
        machine.ops[i].cpi = machine.scale.to_ticks(durations[2 * i + 1]);
        machine.ops[i].latency = machine.scale.to_ticks(durations[2 * i + 2]);
        if (waits[i].cycles > 0) machine.ops[i].wait = machine.scale.to_ticks(waits[i]);
    }
    for (MachineOp& op : machine.ops)
        op.queued = op.kind != InstructionKind::barrier &&
                    std::any_of(machine.ops.begin(), machine.ops.end(), [&](const MachineOp& o) {
                        return o.subsystem == op.subsystem && o.wait > 0;
                    });
    machine.cycle = machine.scale.to_ticks(durations[0]);
    if (profile.issue.limit)
        machine.window.emplace(*profile.issue.limit, machine.schedulers, machine.cycle);
    return machine;
}

std::vector<int> assign_programs(const Kernel& kernel, int group_warps) {
    const std::size_t programs = kernel.warps.size();
    std::vector<int> counts(programs);
    std::vector<long long> remainders(programs);  // [10^-9 warps]: equal shares must tie
    int left = group_warps;
    for (std::size_t p = 0; p < programs; ++p) {
        // The tolerance keeps 0.1·30 at 3 although the product in binary lies just below.
        const double wanted = kernel.warps[p].share * group_warps;
        counts[p] = std::min(left, static_cast<int>(std::floor(wanted + 1e-9)));
        remainders[p] = std::llround((wanted - counts[p]) * 1e9);
        left -= counts[p];
    }
    std::vector<std::size_t> order(programs);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
    for (std::size_t i = 0; left > 0; i = (i + 1) % programs, --left) ++counts[order[i]];

    std::vector<int> program_of;
    for (std::size_t p = 0; p < programs; ++p)
        program_of.insert(program_of.end(), counts[p], static_cast<int>(p));
    return program_of;
}

LaunchGroups::LaunchGroups(const Kernel& kernel, const Launch& launch)
    : groups_(launch.groups), programs_(kernel.warps.size()) {
    if (!kernel.groups) {
        const std::vector<int> programs = assign_programs(kernel, launch.group_warps);
        kinds_.emplace_back(programs.begin(), programs.end());
        kind_ = {0};
        end_ = {1};
        return;
    }
    const GroupKinds& all = *kernel.groups;
    const std::size_t warps = all.kinds.front().size();
    if (std::cmp_not_equal(warps, launch.group_warps))
        throw InputError(
            fmt::format("kernel '{}': it tells of groups of {} warps what each warp executes, so "
                        "groups of {} cannot be predicted",
                        kernel.name, warps, launch.group_warps));
    std::vector<std::int32_t> number(all.kinds.size(), -1);
    std::int64_t end = 0;
    for (const GroupKinds::Run& run : all.order) {
        if (end >= launch.groups) break;
        std::int32_t& kind = number[static_cast<std::size_t>(run.kind)];
        if (kind < 0) {
            const auto& programs = all.kinds[static_cast<std::size_t>(run.kind)];
            const auto same = std::ranges::find(kinds_, programs);
            kind = static_cast<std::int32_t>(same - kinds_.begin());
            if (same == kinds_.end()) kinds_.push_back(programs);
        }
        end += run.groups;
        kind_.push_back(kind);
        end_.push_back(end);
    }
}

std::int32_t LaunchGroups::kind_of(std::int64_t group) const {
    const auto run = std::ranges::upper_bound(end_, group % end_.back());
    return kind_[static_cast<std::size_t>(run - end_.begin())];
}

std::vector<double> LaunchGroups::kind_shares() const {
    std::vector<double> shares(kinds_.size());
    const std::int64_t rounds = groups_ / end_.back(), rest = groups_ % end_.back();
    std::int64_t begin = 0;
    for (std::size_t run = 0; run < end_.size(); begin = end_[run++]) {
        const std::int64_t last = std::clamp(rest - begin, std::int64_t{0}, end_[run] - begin);
        shares[static_cast<std::size_t>(kind_[run])] +=
            (static_cast<double>(rounds) * static_cast<double>(end_[run] - begin) +
             static_cast<double>(last)) /
            static_cast<double>(groups_);
    }
    return shares;
}

std::vector<double> LaunchGroups::program_shares() const {
    const std::vector<double> of_kind = kind_shares();
    std::vector<double> shares(programs_);
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
        for (const std::int32_t program : kinds_[kind])
            shares[static_cast<std::size_t>(program)] +=
                of_kind[kind] / static_cast<double>(kinds_[kind].size());
    return shares;
}

void validate(const Launch& launch) {
    if (launch.group_warps < 1 || launch.concurrent_groups < 1 || launch.groups < 1)
        throw InputError(
            fmt::format("a launch needs at least one warp, one concurrent group and one group, "
                        "not {}, {} and {}",
                        launch.group_warps, launch.concurrent_groups, launch.groups));
    if (launch.groups > most_groups)
        throw InputError(fmt::format("a launch of {} groups is above the simulator's limit of {}",
                                     launch.groups, most_groups));
    if (std::int64_t{launch.group_warps} * launch.concurrent_groups > max_resident_warps)
        throw InputError(
            fmt::format("{} groups of {} warps at once are more than the simulator's "
                        "limit of {} warps",
                        launch.concurrent_groups, launch.group_warps, max_resident_warps));
}

std::vector<Bound> utilisations(const Machine& machine, std::span<const std::int64_t> busy,
                                std::int64_t issued, std::int64_t end) {
    std::vector<Bound> bounds;
    const auto mean = [&](std::span<const std::int64_t> times) {
        double sum = 0;
        for (const std::int64_t time : times) sum += static_cast<double>(time);
        return sum / (static_cast<double>(end) * static_cast<double>(times.size()));
    };
    for (std::size_t s = 0; s < machine.subsystems.size(); ++s) {
        const int first = machine.first_unit[s];
        const int last =
            s + 1 < machine.subsystems.size() ? machine.first_unit[s + 1] : machine.unit_count();
        bounds.push_back({machine.subsystems[s].name, mean(busy.subspan(first, last - first))});
    }
    if (machine.window)
        bounds.push_back({"issue", static_cast<double>(issued) / machine.window->capacity(end)});
    return bounds;
}

}  // namespace occupipe::sim
