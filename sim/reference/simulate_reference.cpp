// SPDX-License-Identifier: MIT
#include "sim/reference/simulate_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/error.h"
#include "sim/machine.h"

namespace occupipe {
namespace {

using sim::Machine;
using sim::MachineOp;
using Time = std::int64_t;  // [ticks]

struct NodeState {
    bool issued = false;
    Time issued_at = 0;
    std::optional<Time> completed_at;  // known from the issue on; for barriers, from the last issue
};

struct Warp {
    int program = 0;
    int index = 0;      // within the group
    int scheduler = 0;  // (slot·|γ| + index) mod k
    std::vector<NodeState> nodes;
};

struct Group {
    std::int64_t launch_number = 0;
    std::vector<Warp> warps;
};

struct Place {  // a warp's place on the core
    int slot = 0;
    int index = 0;

    bool operator==(const Place&) const = default;
};

class Core {
public:
    Core(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
         const SimulationOptions& options)
        : machine_(sim::build_machine(profile, kernel)),
          launch_(launch),
          options_(options),
          program_of_(sim::assign_programs(kernel, launch.group_warps)),
          waiting_(launch.groups_per_core(profile.cores)),
          slots_(launch.concurrent_groups),
          unit_free_at_(machine_.unit_count(), 0),
          port_free_at_(machine_.schedulers, 0),
          last_(machine_.schedulers) {
        outstanding_.assign(machine_.unit_count(),
                            std::vector<std::vector<Time>>(machine_.ops.size()));
        busy_.units.resize(machine_.unit_count());
        busy_.ports.resize(machine_.schedulers);
        for (const WarpProgram& program : kernel.warps) graphs_.push_back(expand(program));
        for (const Idg& graph : graphs_) {
            std::vector<int> ops;
            for (const Idg::Op& op : graph.ops) ops.push_back(machine_.find_op(op.name, op.kind));
            ops_.push_back(ops);
        }
    }

    SimulationResult run() {
        Time now = 0;
        Time end = 0;
        launch_groups(now);
        while (true) {
            for (int scheduler = 0; scheduler < machine_.schedulers; ++scheduler)
                while (issue_one(scheduler, now)) {
                }
            const std::optional<Time> next = next_change(now);
            if (!next) break;
            now = *next;
            if (retire_groups(now)) end = now;
            launch_groups(now);
        }
        if (std::any_of(slots_.begin(), slots_.end(), [](const auto& s) { return s.has_value(); }))
            throw InputError("deadlock: a barrier is not reached by every warp of its group");
        return result(end);
    }

private:
    const MachineOp& op(const Warp& warp, std::size_t node) const {
        return machine_.ops[ops_[warp.program][graphs_[warp.program].nodes[node].op]];
    }

    void launch_groups(Time) {
        for (int slot = 0; slot < launch_.concurrent_groups && waiting_ > 0; ++slot) {
            if (slots_[slot]) continue;
            Group group{launched_++, {}};
            --waiting_;
            for (int index = 0; index < launch_.group_warps; ++index) {
                const int program = program_of_[index];
                group.warps.push_back({program, index,
                                       (slot * launch_.group_warps + index) % machine_.schedulers,
                                       std::vector<NodeState>(graphs_[program].nodes.size())});
            }
            slots_[slot] = group;
        }
    }

    // For the end of its warp a store counts as finished at issue + λ.
    std::optional<Time> finished_at(const Warp& warp, std::size_t node) const {
        const NodeState& state = warp.nodes[node];
        if (!state.issued) return std::nullopt;
        if (op(warp, node).kind == InstructionKind::store)
            return state.issued_at + op(warp, node).cpi;
        return state.completed_at;
    }

    bool complete(const Group& group, Time now) const {
        for (const Warp& warp : group.warps)
            for (std::size_t node = 0; node < warp.nodes.size(); ++node) {
                const auto finished = finished_at(warp, node);
                if (!finished || *finished > now) return false;
            }
        return true;
    }

    bool retire_groups(Time now) {
        bool any = false;
        for (int slot = 0; slot < launch_.concurrent_groups; ++slot) {
            if (!slots_[slot] || !complete(*slots_[slot], now)) continue;
            slots_[slot].reset();
            any = true;
            for (auto& last : last_)
                if (options_.policy == Policy::gto && last && last->slot == slot) last.reset();
        }
        return any;
    }

    bool ready(const Warp& warp, std::size_t node, Time now) const {
        if (warp.nodes[node].issued) return false;
        const Idg& graph = graphs_[warp.program];
        const Idg::Node& entry = graph.nodes[node];
        for (int i = 0; i < entry.predecessor_count; ++i) {
            const auto predecessor = graph.predecessors[entry.first_predecessor + i];
            const auto& completed = warp.nodes[predecessor].completed_at;
            if (!completed || *completed > now) return false;
        }
        return true;
    }

    // The instruction of `warp` that may issue now, if there is one.
    std::optional<std::size_t> issuable(const Warp& warp, Time now) const {
        for (std::size_t node = 0; node < warp.nodes.size(); ++node) {
            if (warp.nodes[node].issued) continue;
            const int unit = machine_.unit(op(warp, node).subsystem, warp.scheduler);
            if (ready(warp, node, now) && unit_free_at_[unit] <= now) return node;
            if (options_.order == Order::in_order) return std::nullopt;
        }
        return std::nullopt;
    }

    // All of a scheduler's warps, the one to try first at the front.
    std::vector<Place> policy_order(int scheduler) const {
        std::vector<int> slots(launch_.concurrent_groups);
        std::iota(slots.begin(), slots.end(), 0);
        std::erase_if(slots, [&](int slot) { return !slots_[slot]; });
        if (options_.policy != Policy::lrr)
            std::sort(slots.begin(), slots.end(), [&](int a, int b) {
                return slots_[a]->launch_number < slots_[b]->launch_number;
            });
        std::vector<Place> order;
        for (const int slot : slots)
            for (int index = 0; index < launch_.group_warps; ++index)
                if (slots_[slot]->warps[index].scheduler == scheduler)
                    order.push_back({slot, index});
        const std::optional<Place>& last = last_[scheduler];
        if (!last) return order;
        if (options_.policy == Policy::lrr) {
            const auto after = std::find_if(order.begin(), order.end(), [&](const Place& place) {
                return std::pair(place.slot, place.index) > std::pair(last->slot, last->index);
            });
            std::rotate(order.begin(), after, order.end());
        } else if (options_.policy == Policy::gto) {
            std::erase(order, *last);
            order.insert(order.begin(), *last);
        }
        return order;
    }

    bool issue_one(int scheduler, Time now) {
        if (machine_.port_spacing && port_free_at_[scheduler] > now) return false;
        for (const Place& place : policy_order(scheduler)) {
            const auto node = issuable(slots_[place.slot]->warps[place.index], now);
            if (!node) continue;
            issue(place, *node, now);
            last_[scheduler] = place;
            return true;
        }
        return false;
    }

    void issue(const Place& place, std::size_t node, Time now) {
        Group& group = *slots_[place.slot];
        Warp& warp = group.warps[place.index];
        const MachineOp& instruction = op(warp, node);
        const int unit = machine_.unit(instruction.subsystem, warp.scheduler);
        unit_free_at_[unit] = now + instruction.cpi;
        busy_.units[unit] += instruction.cpi;
        if (machine_.port_spacing) {
            port_free_at_[warp.scheduler] = now + *machine_.port_spacing;
            busy_.ports[warp.scheduler] += *machine_.port_spacing;
        }
        warp.nodes[node].issued = true;
        warp.nodes[node].issued_at = now;
        ++issued_;
        if (instruction.kind == InstructionKind::barrier)
            complete_barrier(group, warp, node, now);
        else
            warp.nodes[node].completed_at = queued_until(unit, instruction, now);
    }

    // Each instruction that is outstanding in the unit makes the next one's result later by its
    // `wait`; results of one kind of instruction come in order.
    Time queued_until(int unit, const MachineOp& instruction, Time now) {
        Time until = now + instruction.latency;
        if (instruction.wait == 0) return until;
        for (std::size_t op = 0; op < machine_.ops.size(); ++op)
            for (const Time time : outstanding_[unit][op])
                if (time > now) until += machine_.ops[op].wait;
        std::vector<Time>& same = outstanding_[unit][&instruction - machine_.ops.data()];
        if (!same.empty()) until = std::max(until, same.back());
        same.push_back(until);
        return until;
    }

    // The node that is the ordinal-th barrier of the warp in program order.
    std::optional<std::size_t> barrier_node(const Warp& warp, std::size_t ordinal) const {
        std::size_t seen = 0;
        for (std::size_t node = 0; node < warp.nodes.size(); ++node)
            if (op(warp, node).kind == InstructionKind::barrier && seen++ == ordinal) return node;
        return std::nullopt;
    }

    // A warp's n-th barrier meets the n-th of every other warp of its group.
    void complete_barrier(Group& group, const Warp& issuer, std::size_t node, Time now) {
        std::size_t ordinal = 0;
        for (std::size_t i = 0; i < node; ++i)
            if (op(issuer, i).kind == InstructionKind::barrier) ++ordinal;
        for (const Warp& warp : group.warps) {
            const auto partner = barrier_node(warp, ordinal);
            if (!partner || !warp.nodes[*partner].issued) return;
        }
        for (Warp& warp : group.warps) {
            const std::size_t partner = *barrier_node(warp, ordinal);
            warp.nodes[partner].completed_at = now + op(warp, partner).latency;
        }
    }

    // The first time after `now` at which anything changes.
    std::optional<Time> next_change(Time now) const {
        std::set<Time> times(unit_free_at_.begin(), unit_free_at_.end());
        times.insert(port_free_at_.begin(), port_free_at_.end());
        for (const auto& group : slots_) {
            if (!group) continue;
            for (const Warp& warp : group->warps)
                for (std::size_t node = 0; node < warp.nodes.size(); ++node) {
                    if (warp.nodes[node].completed_at) times.insert(*warp.nodes[node].completed_at);
                    if (const auto finished = finished_at(warp, node)) times.insert(*finished);
                }
        }
        const auto next = times.upper_bound(now);
        if (next == times.end()) return std::nullopt;
        return *next;
    }

    SimulationResult result(Time end) {
        for (std::size_t i = 0; i < busy_.units.size(); ++i)
            busy_.units[i] -= std::max<Time>(0, unit_free_at_[i] - end);
        for (std::size_t i = 0; i < busy_.ports.size(); ++i)
            busy_.ports[i] -= std::max<Time>(0, port_free_at_[i] - end);
        SimulationResult out;
        out.ticks = end;
        out.scale = machine_.scale;
        out.cycles = machine_.scale.to_cycles(end);
        out.issued = issued_;
        out.simulated = issued_;
        out.bounds = sim::utilisations(machine_, busy_, end);
        return out;
    }

    Machine machine_;
    Launch launch_;
    SimulationOptions options_;
    std::vector<Idg> graphs_;            // per program
    std::vector<std::vector<int>> ops_;  // per program: the graph's op → the machine's
    std::vector<int> program_of_;        // per warp of a group
    std::int64_t waiting_;
    std::int64_t launched_ = 0;
    std::int64_t issued_ = 0;
    std::vector<std::optional<Group>> slots_;
    // Per unit and op: when the results of all that issued there come (with contention).
    std::vector<std::vector<std::vector<Time>>> outstanding_;
    std::vector<Time> unit_free_at_;
    std::vector<Time> port_free_at_;
    std::vector<std::optional<Place>> last_;  // per scheduler: the warp that issued last
    sim::BusyTimes busy_;
};

}  // namespace

SimulationResult simulate_reference(const GpuProfile& profile, const Kernel& kernel,
                                    const Launch& launch, const SimulationOptions& options) {
    sim::validate(launch);
    return Core(profile, kernel, launch, options).run();
}

}  // namespace occupipe
