// SPDX-License-Identifier: MIT
#include "sim/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/error.h"

namespace occupipe::sim {

std::string lacks_latency(const Problem& problem, std::int32_t op) {
    const auto at = static_cast<std::size_t>(op);
    return fmt::format("the latency of {} is needed, and profile '{}' has none ({})",
                       problem.kernel().ops[at].name, problem.gpu().name,
                       problem.timings()[at].latency_unknown);
}

namespace {

// As a share of λ. At 1 the latency would grow forever, as fast as instructions issue; fit's law
// of contention ends there, too.
constexpr double largest_wait = 0.99;
constexpr double negligible_wait = 1e-6;  // [cycles]; a fitted growth may be nothing but noise
constexpr int max_subsystems = 64;        // the simulator keeps sets of them in one word

void add_ops(Machine& machine, const Problem& problem) {
    for (std::size_t op = 0; op < problem.timings().size(); ++op) {
        const ResolvedKernel::Op& of = problem.kernel().ops[op];
        machine.op_keys.emplace_back(of.name, of.kind);
        machine.ops.push_back({.name = of.name,
                               .kind = problem.timings()[op].kind,
                               .subsystem = 0,
                               .cpi = 0,
                               .latency = 0});
    }
}

void add_subsystems(Machine& machine, const Problem& problem) {
    for (std::size_t s = 0; s < problem.gpu().subsystems.size(); ++s) {
        bool used = false;
        for (std::size_t i = 0; i < machine.ops.size(); ++i) {
            if (problem.timings()[i].subsystem != s) continue;
            machine.ops[i].subsystem = static_cast<int>(machine.subsystems.size());
            used = true;
        }
        if (!used) continue;
        machine.first_unit.push_back(machine.unit_count());
        machine.subsystems.push_back(problem.gpu().subsystems[s]);
    }
    if (machine.subsystems.size() > max_subsystems)
        throw InputError(fmt::format("the kernel uses {} subsystems; at most {} are supported",
                                     machine.subsystems.size(), max_subsystems));
}

// Nothing may need a latency that the profile does not know: no instruction waits for such a
// result, it is no barrier, and there is no queue in which it would stand until then.
void require_known_latencies(const Problem& problem) {
    if (std::ranges::all_of(problem.timings(), &OpTiming::latency_known)) return;
    const auto known = [&](std::int32_t op) {
        return problem.timings()[static_cast<std::size_t>(op)].latency_known();
    };
    for (const ResolvedProgram& program : problem.kernel().programs) {
        for (const auto& one : program.instructions) {
            if (known(one.op)) continue;
            const OpTiming& timing = problem.timings()[static_cast<std::size_t>(one.op)];
            const auto& queue = problem.gpu().subsystems[timing.subsystem].contention;
            if (timing.kind == InstructionKind::barrier || (queue && queue->value > 0))
                throw InputError(lacks_latency(problem, one.op));
        }
        for (const auto& one : program.instructions)
            for (const auto& on : one.after) {
                const auto& producer = program.instructions[static_cast<std::size_t>(on.producer)];
                if (!known(producer.op))
                    throw InputError(fmt::format("kernel '{}': {} waits for {}: {}",
                                                 problem.kernel().name, one.id, producer.id,
                                                 lacks_latency(problem, producer.op)));
            }
    }
}

// What was measured of the instruction, else the subsystem's share of λ. Barriers neither wait in
// the queue nor stand in it.
Duration wait_of(const Machine& machine, const MachineOp& op, const OpTiming& timing) {
    if (op.kind == InstructionKind::barrier) return {};
    const Duration cpi = duration(timing.cpi);
    if (timing.latency_growth.value_or(0) > 0) {
        // It is per instruction on the core; a copy holds one in `schedulers` of them.
        const Duration growth = product(duration(*timing.latency_growth),
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

Machine build_machine(const Problem& problem) {
    require_known_latencies(problem);
    Machine machine;
    machine.schedulers = problem.gpu().issue.schedulers;
    add_ops(machine, problem);
    add_subsystems(machine, problem);
    const std::span<const OpTiming> timings = problem.timings();

    std::vector<Duration> durations{duration(1)};
    for (const OpTiming& timing : timings) {
        durations.push_back(duration(timing.cpi));
        // Nothing waits for it; what it leaves behind when it has issued is unknown and not
        // counted.
        durations.push_back(duration(timing.latency.value_or(timing.cpi)));
    }
    std::vector<Duration> waits;
    for (std::size_t i = 0; i < timings.size(); ++i) {
        waits.push_back(wait_of(machine, machine.ops[i], timings[i]));
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
    if (const auto& limit = problem.gpu().issue.limit)
        machine.window.emplace(*limit, machine.schedulers, machine.cycle);
    return machine;
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
