// SPDX-License-Identifier: MIT
#include "sim/reference/simulate_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/error.h"
#include "sim/machine/machine.h"

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
    Time stalled_until = 0;
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

struct Scheduler {
    std::optional<Place> last;                  // the warp that issued last
    std::optional<int> last_subsystem;          // what it issued to
    std::vector<std::optional<Place>> last_to;  // per subsystem: the warp that issued last to it
    std::int64_t cycle = 0;                     // in which it issued last,
    std::int64_t issued_in_cycle = 0;           // and how much
};

class Core {
public:
    Core(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
         const SimulationOptions& options)
        : machine_(sim::build_machine(Problem(profile, kernel, launch))),
          launch_(launch),
          order_(order_of(options, kernel)),
          policy_(policy_of(options, profile.issue)),
          select_(select_of(options, profile.issue)),
          stall_counts_(options.stall_counts),
          slots_(launch.concurrent_groups),
          unit_free_at_(machine_.unit_count(), 0),
          busy_(machine_.unit_count(), 0),
          last_grant_(machine_.subsystems.size(), machine_.schedulers - 1) {
        if (profile.issue.limit) limit_ = sim::decimal_rational(*profile.issue.limit);
        schedulers_.resize(machine_.schedulers);
        for (Scheduler& scheduler : schedulers_)
            scheduler.last_to.resize(machine_.subsystems.size());
        outstanding_.assign(machine_.unit_count(),
                            std::vector<std::vector<Time>>(machine_.ops.size()));
        for (const WarpProgram& program : kernel.warps) graphs_.push_back(expand(program));
        for (const Idg& graph : graphs_) {
            std::vector<int> ops;
            for (const Idg::Op& op : graph.ops) ops.push_back(machine_.find_op(op.name, op.kind));
            ops_.push_back(ops);
        }
    }

    // Into its lowest free slot.
    bool has_free_slot() const {
        return std::ranges::any_of(slots_, [](const auto& slot) { return !slot; });
    }
    void launch_group(const std::vector<int>& programs) {
        int slot = 0;
        while (slots_[slot]) ++slot;
        Group group{launched_++, {}};
        for (int index = 0; index < launch_.group_warps; ++index) {
            const int program = programs[static_cast<std::size_t>(index)];
            group.warps.push_back({program, index,
                                   (slot * launch_.group_warps + index) % machine_.schedulers,
                                   std::vector<NodeState>(graphs_[program].nodes.size())});
        }
        slots_[slot] = group;
    }

    void issue_all(Time now) {
        while (issue_round(now)) {
        }
    }

    bool is_empty() const {
        return std::ranges::none_of(slots_, [](const auto& slot) { return slot.has_value(); });
    }

    bool retire_groups(Time now) {
        bool any = false;
        for (int slot = 0; slot < launch_.concurrent_groups; ++slot) {
            if (!slots_[slot] || !complete(*slots_[slot], now)) continue;
            slots_[slot].reset();
            any = true;
            for (Scheduler& scheduler : schedulers_)
                if (policy_ == Policy::gto && scheduler.last && scheduler.last->slot == slot)
                    scheduler.last.reset();
        }
        if (any) end_ = now;
        return any;
    }
    Time end() const { return end_; }  // of the last group

    // The first time after `now` at which anything changes.
    std::optional<Time> next_change(Time now) const {
        std::set<Time> times(unit_free_at_.begin(), unit_free_at_.end());
        for (int j = 0; j < machine_.schedulers; ++j)
            if (!window_open(j, now) && has_ready(j, now))
                times.insert((now / machine_.cycle + 1) * machine_.cycle);
        for (const auto& group : slots_) {
            if (!group) continue;
            for (const Warp& warp : group->warps) {
                times.insert(warp.stalled_until);
                for (std::size_t node = 0; node < warp.nodes.size(); ++node) {
                    if (warp.nodes[node].completed_at) times.insert(*warp.nodes[node].completed_at);
                    if (const auto finished = finished_at(warp, node)) times.insert(*finished);
                }
            }
        }
        const auto next = times.upper_bound(now);
        if (next == times.end()) return std::nullopt;
        return *next;
    }

    SimulationResult result() {
        for (std::size_t i = 0; i < busy_.size(); ++i)
            busy_[i] -= std::max<Time>(0, unit_free_at_[i] - end_);
        SimulationResult out;
        out.ticks = end_;
        out.scale = machine_.scale;
        out.cycles = machine_.scale.to_cycles(end_);
        out.issued = issued_;
        out.groups = launched_;
        out.simulated = issued_;
        out.bounds = sim::utilisations(machine_, busy_, issued_, end_);
        return out;
    }

private:
    const MachineOp& op(const Warp& warp, std::size_t node) const {
        return machine_.ops[ops_[warp.program][graphs_[warp.program].nodes[node].op]];
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

    bool ready(const Warp& warp, std::size_t node, Time now) const {
        if (warp.nodes[node].issued || now < warp.stalled_until) return false;
        const Idg& graph = graphs_[warp.program];
        const Idg::Node& entry = graph.nodes[node];
        for (int i = 0; i < entry.predecessor_count; ++i) {
            const auto predecessor = graph.predecessors[entry.first_predecessor + i];
            const auto& completed = warp.nodes[predecessor].completed_at;
            if (!completed || *completed > now) return false;
        }
        return true;
    }

    bool free(int subsystem, int scheduler, Time now) const {
        return unit_free_at_[machine_.unit(subsystem, scheduler)] <= now;
    }

    // The lowest-index instruction of `warp` that is ready and for which `usable` holds of its
    // subsystem.
    template <typename Usable>
    std::optional<std::size_t> issuable(const Warp& warp, Time now, const Usable& usable) const {
        for (std::size_t node = 0; node < warp.nodes.size(); ++node) {
            if (warp.nodes[node].issued) continue;
            if (ready(warp, node, now) && usable(op(warp, node).subsystem)) return node;
            if (order_ == Order::in_order) return std::nullopt;
        }
        return std::nullopt;
    }

    // All of a scheduler's warps, the one to try first at the front. `last` is the place to which
    // lrr's ring or gto's greed refers.
    std::vector<Place> policy_order(int scheduler, const std::optional<Place>& last) const {
        std::vector<int> slots(launch_.concurrent_groups);
        std::iota(slots.begin(), slots.end(), 0);
        std::erase_if(slots, [&](int slot) { return !slots_[slot]; });
        if (policy_ != Policy::lrr)
            std::sort(slots.begin(), slots.end(), [&](int a, int b) {
                return slots_[a]->launch_number < slots_[b]->launch_number;
            });
        std::vector<Place> order;
        for (const int slot : slots)
            for (int index = 0; index < launch_.group_warps; ++index)
                if (slots_[slot]->warps[index].scheduler == scheduler)
                    order.push_back({slot, index});
        if (!last) return order;
        if (policy_ == Policy::lrr) {
            const auto after = std::find_if(order.begin(), order.end(), [&](const Place& place) {
                return std::pair(place.slot, place.index) > std::pair(last->slot, last->index);
            });
            std::rotate(order.begin(), after, order.end());
        } else if (policy_ == Policy::gto) {
            std::erase(order, *last);
            order.insert(order.begin(), *last);
        }
        return order;
    }

    // ⌊(IL·n + k − 1 − j) / k⌋: what scheduler j may issue in the cycles before n.
    std::int64_t allowed_before(int j, std::int64_t n) const {
        __extension__ using Wide = __int128;
        const Wide k = machine_.schedulers;
        const Wide il = limit_->numerator;
        const Wide per = limit_->denominator;
        return static_cast<std::int64_t>((il * n + per * (k - 1 - j)) / (per * k));
    }

    bool window_open(int j, Time now) const {
        if (!limit_) return true;
        const std::int64_t n = now / machine_.cycle;
        const Scheduler& scheduler = schedulers_[j];
        const std::int64_t used = scheduler.cycle == n ? scheduler.issued_in_cycle : 0;
        return used < allowed_before(j, n + 1) - allowed_before(j, n);
    }

    struct Proposal {
        int scheduler = 0;
        Place place;
        std::size_t node = 0;
        int subsystem = 0;
    };

    std::optional<Proposal> proposal(int j, Time now) const {
        if (!window_open(j, now)) return std::nullopt;
        return select_ == Select::subsystem ? subsystems_look_for_warps(j, now)
                                            : warps_look_for_subsystems(j, now);
    }

    std::optional<Proposal> subsystems_look_for_warps(int j, Time now) const {
        const Scheduler& scheduler = schedulers_[j];
        const int count = static_cast<int>(machine_.subsystems.size());
        const int first = scheduler.last_subsystem ? *scheduler.last_subsystem + 1 : 0;
        for (int step = 0; step < count; ++step) {
            const int subsystem = (first + step) % count;
            if (!free(subsystem, j, now)) continue;
            const auto& last =
                policy_ == Policy::lrr ? scheduler.last_to[subsystem] : scheduler.last;
            for (const Place& place : policy_order(j, last)) {
                const auto node = issuable(slots_[place.slot]->warps[place.index], now,
                                           [&](int needed) { return needed == subsystem; });
                if (node) return Proposal{j, place, *node, subsystem};
            }
        }
        return std::nullopt;
    }

    std::optional<Proposal> warps_look_for_subsystems(int j, Time now) const {
        for (const Place& place : policy_order(j, schedulers_[j].last)) {
            const Warp& warp = slots_[place.slot]->warps[place.index];
            const auto node = issuable(warp, now, [&](int needed) { return free(needed, j, now); });
            if (node) return Proposal{j, place, *node, op(warp, *node).subsystem};
        }
        return std::nullopt;
    }

    // Of the proposals to a subsystem that the schedulers share, only one is granted.
    bool granted(const Proposal& proposal, const std::vector<Proposal>& all) const {
        if (machine_.subsystems[proposal.subsystem].per_scheduler()) return true;
        const int k = machine_.schedulers;
        const auto distance = [&](const Proposal& p) {
            return (p.scheduler - last_grant_[p.subsystem] - 1 + k) % k;
        };
        return std::none_of(all.begin(), all.end(), [&](const Proposal& other) {
            return other.subsystem == proposal.subsystem && distance(other) < distance(proposal);
        });
    }

    // The schedulers propose, the core grants, what is granted issues. False when there was
    // nothing.
    bool issue_round(Time now) {
        std::vector<Proposal> proposals;
        for (int j = 0; j < machine_.schedulers; ++j)
            if (const auto made = proposal(j, now)) proposals.push_back(*made);
        std::vector<Proposal> grants;
        for (const Proposal& made : proposals)
            if (granted(made, proposals)) grants.push_back(made);
        for (const Proposal& grant : grants) {
            issue(grant.place, grant.node, now);
            remember(grant, now);
        }
        return !grants.empty();
    }

    void remember(const Proposal& grant, Time now) {
        Scheduler& scheduler = schedulers_[grant.scheduler];
        scheduler.last = grant.place;
        scheduler.last_subsystem = grant.subsystem;
        scheduler.last_to[grant.subsystem] = grant.place;
        last_grant_[grant.subsystem] = grant.scheduler;
        const std::int64_t n = now / machine_.cycle;
        if (scheduler.cycle != n) scheduler.issued_in_cycle = 0;
        scheduler.cycle = n;
        ++scheduler.issued_in_cycle;
    }

    void issue(const Place& place, std::size_t node, Time now) {
        Group& group = *slots_[place.slot];
        Warp& warp = group.warps[place.index];
        const MachineOp& instruction = op(warp, node);
        const int unit = machine_.unit(instruction.subsystem, warp.scheduler);
        unit_free_at_[unit] = now + instruction.cpi;
        busy_[unit] += instruction.cpi;
        warp.nodes[node].issued = true;
        warp.nodes[node].issued_at = now;
        if (stall_counts_)
            warp.stalled_until = now + graphs_[warp.program].nodes[node].stall * machine_.cycle;
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
        if (!instruction.queued) return until;
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

    bool has_ready(int scheduler, Time now) const {
        for (const auto& group : slots_) {
            if (!group) continue;
            for (const Warp& warp : group->warps)
                if (warp.scheduler == scheduler && issuable(warp, now, [](int) { return true; }))
                    return true;
        }
        return false;
    }

    Machine machine_;
    Launch launch_;
    Order order_;
    Policy policy_;
    Select select_;
    std::optional<sim::Rational> limit_;  // IL
    std::vector<Idg> graphs_;             // per program
    std::vector<std::vector<int>> ops_;   // per program: the graph's op → the machine's
    bool stall_counts_;
    Time end_ = 0;
    std::int64_t launched_ = 0;
    std::int64_t issued_ = 0;
    std::vector<std::optional<Group>> slots_;
    // Per unit and op: when the results of all that issued there come (with contention).
    std::vector<std::vector<std::vector<Time>>> outstanding_;
    std::vector<Time> unit_free_at_;
    std::vector<Time> busy_;  // per unit
    std::vector<Scheduler> schedulers_;
    std::vector<int> last_grant_;  // per subsystem: the scheduler that issued there last
};

}  // namespace

SimulationResult simulate_reference(const GpuProfile& profile, const Kernel& kernel,
                                    const Launch& launch, const SimulationOptions& options) {
    sim::validate(launch);
    if (options.stall_counts && order_of(options, kernel) != Order::in_order)
        throw InputError("stall counts are of instructions that issue in order");
    // Groups that are all alike leave all cores with the same, but for one group more or less.
    const bool differ = kernel.groups && !sim::LaunchGroups(kernel, launch).alike();
    std::vector<int> alike = sim::assign_programs(kernel, launch.group_warps);
    if (kernel.groups) {
        const auto& kind =
            kernel.groups->kinds[static_cast<std::size_t>(kernel.groups->order.front().kind)];
        alike.assign(kind.begin(), kind.end());
    }
    const auto programs_of = [&](std::int64_t group) {
        if (!differ) return alike;
        std::vector<std::int32_t> kind_of;
        for (const GroupKinds::Run& run : kernel.groups->order)
            kind_of.insert(kind_of.end(), static_cast<std::size_t>(run.groups), run.kind);
        const auto& kind = kernel.groups->kinds[static_cast<std::size_t>(
            kind_of[static_cast<std::size_t>(group) % kind_of.size()])];
        return std::vector<int>(kind.begin(), kind.end());
    };
    const std::int64_t groups = differ ? launch.groups : launch.groups_per_core(profile.cores);
    std::vector<Core> cores(static_cast<std::size_t>(differ ? profile.cores : 1),
                            Core(profile, kernel, launch, options));
    Time now = 0;
    std::int64_t next_group = 0;
    while (true) {
        for (bool gave = true; gave && next_group < groups;) {
            gave = false;
            for (Core& core : cores) {
                if (next_group == groups || !core.has_free_slot()) continue;
                core.launch_group(programs_of(next_group++));
                gave = true;
            }
        }
        std::optional<Time> next;
        for (Core& core : cores) {
            core.issue_all(now);
            const std::optional<Time> own = core.next_change(now);
            if (own && (!next || *own < *next)) next = own;
        }
        if (!next) break;
        now = *next;
        for (Core& core : cores) core.retire_groups(now);
    }
    if (!std::ranges::all_of(cores, [](const Core& core) { return core.is_empty(); }))
        throw InputError("deadlock: a barrier is not reached by every warp of its group");
    return std::ranges::max_element(cores, {}, [](const Core& core) { return core.end(); })
        ->result();
}

}  // namespace occupipe
