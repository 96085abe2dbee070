// SPDX-License-Identifier: MIT
#include "sim/reference/algorithm_1.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "sim/machine/machine.h"

namespace occupipe {
namespace {

using sim::MachineOp;
using Time = std::int64_t;  // [ticks]

enum class Kind { completion, issue };  // in this order at one time

struct Event {
    Time time = 0;
    Kind kind = Kind::issue;
    std::int64_t number = 0;  // of scheduling
    int pipeline = 0;         // of an issue
    int slot = 0;             // of a completion
    std::int64_t group = 0;   // by launch
    int warp = 0;
    std::size_t node = 0;
    bool finishes = true;  // the instruction, for the end of its warp
    bool answers = true;   // those that wait for its result

    bool operator>(const Event& other) const {
        return std::tie(time, kind, number) > std::tie(other.time, other.kind, other.number);
    }
};

struct Node {
    bool issued = false;
    bool completed = false;
};

struct Warp {
    int program = 0;
    std::vector<Node> nodes;
};

struct Group {
    std::int64_t number = 0;
    std::vector<Warp> warps;
    std::int64_t unfinished = 0;
};

class Algorithm1 {
public:
    Algorithm1(const GpuProfile& profile, const Kernel& kernel, const Launch& launch, Search search)
        : machine_(sim::build_machine(Problem(profile, kernel, launch))),
          launch_(launch),
          search_(search),
          slots_(launch.concurrent_groups),
          last_(machine_.unit_count(), -1),
          program_of_(sim::assign_programs(kernel, launch.group_warps)),
          waiting_(launch.groups_per_core(profile.cores)),
          busy_(machine_.unit_count(), 0),
          free_at_(machine_.unit_count(), 0),
          found_nothing_(machine_.unit_count(), false) {
        if (machine_.schedulers != 1)
            throw InputError("Algorithm 1 has one scheduler, the profile several");
        for (const MachineOp& op : machine_.ops)
            if (op.queued) throw InputError("Algorithm 1 has no contention, the profile has");
        for (const WarpProgram& program : kernel.warps) {
            graphs_.push_back(expand(program));
            ops_.emplace_back();
            for (const Idg::Op& op : graphs_.back().ops)
                ops_.back().push_back(machine_.find_op(op.name, op.kind));
        }
    }

    SimulationResult run() {
        for (int slot = 0; slot < launch_.concurrent_groups && waiting_ > 0; ++slot)
            add_group(slot);
        for (int pipeline = 0; pipeline < machine_.unit_count(); ++pipeline)
            schedule({.time = 0, .kind = Kind::issue, .pipeline = pipeline});
        while (active_ > 0) {
            const Event event = events_.top();
            events_.pop();
            if (event.kind == Kind::issue)
                issue(event);
            else
                complete(event);
        }
        return result();
    }

private:
    void schedule(Event event) {
        event.number = scheduled_++;
        events_.push(event);
        if (event.kind == Kind::completion) ++completions_;
    }

    void add_group(int slot) {
        --waiting_;
        ++active_;
        Group group{.number = launched_++};
        for (int index = 0; index < launch_.group_warps; ++index) {
            const int program = program_of_[index];
            group.warps.push_back({program, std::vector<Node>(graphs_[program].nodes.size())});
            group.unfinished += static_cast<std::int64_t>(graphs_[program].nodes.size());
        }
        slots_[slot] = std::move(group);
    }

    const MachineOp& op(const Warp& warp, std::size_t node) const {
        return machine_.ops[ops_[warp.program][graphs_[warp.program].nodes[node].op]];
    }

    bool ready(const Warp& warp, std::size_t node) const {
        if (warp.nodes[node].issued) return false;
        const Idg& graph = graphs_[warp.program];
        const Idg::Node& entry = graph.nodes[node];
        for (int i = 0; i < entry.predecessor_count; ++i)
            if (!warp.nodes[graph.predecessors[entry.first_predecessor + i]].completed)
                return false;
        return true;
    }

    // Places, slot · |γ| + warp, in the order in which a pipeline looks at them.
    std::vector<int> order(int pipeline) const {
        std::vector<int> slots(slots_.size());
        std::iota(slots.begin(), slots.end(), 0);
        std::erase_if(slots, [&](int slot) { return !slots_[slot]; });
        if (search_ == Search::first)
            std::ranges::sort(slots, {}, [&](int slot) { return slots_[slot]->number; });
        std::vector<int> places;
        for (const int slot : slots)
            for (int w = 0; w < launch_.group_warps; ++w)
                places.push_back(slot * launch_.group_warps + w);
        if (search_ == Search::in_turn)
            std::ranges::rotate(places, std::ranges::upper_bound(places, last_[pipeline]));
        return places;
    }

    // Looks for an instruction of the pipeline's type.
    void issue(const Event& event) {
        for (const int place : order(event.pipeline)) {
            Group& group = *slots_[place / launch_.group_warps];
            const int w = place % launch_.group_warps;
            for (std::size_t node = 0; node < group.warps[w].nodes.size(); ++node) {
                if (op(group.warps[w], node).subsystem != event.pipeline ||
                    !ready(group.warps[w], node))
                    continue;
                last_[event.pipeline] = place;
                take(event, place / launch_.group_warps, w, node);
                return;
            }
        }
        found_nothing_[event.pipeline] = true;
        if (completions_ == 0 && std::ranges::all_of(found_nothing_, [](bool is) { return is; }))
            throw InputError("deadlock: a barrier is not reached by every warp of its group");
        schedule(
            {.time = event.time + machine_.cycle, .kind = Kind::issue, .pipeline = event.pipeline});
    }

    void take(const Event& event, int slot, int w, std::size_t node) {
        Group& group = *slots_[slot];
        const MachineOp& taken = op(group.warps[w], node);
        group.warps[w].nodes[node].issued = true;
        found_nothing_.assign(found_nothing_.size(), false);
        ++issued_;
        busy_[event.pipeline] += taken.cpi;
        free_at_[event.pipeline] = event.time + taken.cpi;
        Event end{
            .kind = Kind::completion, .slot = slot, .group = group.number, .warp = w, .node = node};
        if (taken.kind == InstructionKind::barrier) {
            complete_barrier(event.time, slot, w, node);
        } else if (taken.kind == InstructionKind::store) {
            end.time = event.time + taken.cpi;
            end.answers = false;
            schedule(end);
            end.time = event.time + taken.latency;
            end.finishes = false;
            end.answers = true;
            schedule(end);
        } else {
            end.time = event.time + taken.latency;
            schedule(end);
        }
        schedule({.time = event.time + taken.cpi, .kind = Kind::issue, .pipeline = event.pipeline});
    }

    std::vector<std::size_t> barriers(const Warp& warp) const {
        std::vector<std::size_t> nodes;
        for (std::size_t node = 0; node < warp.nodes.size(); ++node)
            if (op(warp, node).kind == InstructionKind::barrier) nodes.push_back(node);
        return nodes;
    }

    // A warp's n-th barrier meets the n-th of every other warp of its group.
    void complete_barrier(Time now, int slot, int w, std::size_t node) {
        const Group& group = *slots_[slot];
        const std::vector<std::size_t> own = barriers(group.warps[w]);
        const auto ordinal = static_cast<std::size_t>(std::ranges::find(own, node) - own.begin());
        std::vector<std::size_t> partners;
        for (const Warp& warp : group.warps) {
            const std::vector<std::size_t> theirs = barriers(warp);
            if (theirs.size() <= ordinal || !warp.nodes[theirs[ordinal]].issued) return;
            partners.push_back(theirs[ordinal]);
        }
        for (int i = 0; i < launch_.group_warps; ++i)
            schedule({.time = now + op(group.warps[i], partners[i]).latency,
                      .kind = Kind::completion,
                      .slot = slot,
                      .group = group.number,
                      .warp = i,
                      .node = partners[i]});
    }

    void complete(const Event& event) {
        --completions_;
        found_nothing_.assign(found_nothing_.size(), false);
        std::optional<Group>& group = slots_[event.slot];
        if (!group || group->number != event.group) return;  // a store's result comes after its end
        if (event.answers) group->warps[event.warp].nodes[event.node].completed = true;
        if (event.finishes) --group->unfinished;
        if (group->unfinished > 0) return;
        group.reset();
        --active_;
        end_ = event.time;
        if (waiting_ > 0) add_group(event.slot);
    }

    SimulationResult result() {
        for (std::size_t i = 0; i < busy_.size(); ++i)
            busy_[i] -= std::max<Time>(0, free_at_[i] - end_);
        SimulationResult out;
        out.ticks = end_;
        out.scale = machine_.scale;
        out.cycles = machine_.scale.to_cycles(end_);
        out.issued = issued_;
        out.simulated = issued_;
        sim::Machine without_limit = machine_;
        without_limit.window.reset();
        out.bounds = sim::utilisations(without_limit, busy_, issued_, end_);
        return out;
    }

    sim::Machine machine_;
    Launch launch_;
    Search search_;
    std::vector<std::optional<Group>> slots_;
    std::vector<int> last_;        // per pipeline: the place it took from
    std::vector<int> program_of_;  // per warp of a group
    std::vector<Idg> graphs_;      // per program
    std::vector<std::vector<int>> ops_;
    std::int64_t waiting_;  // groups
    std::int64_t launched_ = 0;
    int active_ = 0;  // groups
    std::int64_t issued_ = 0;
    std::int64_t scheduled_ = 0;
    std::int64_t completions_ = 0;  // in the queue
    Time end_ = 0;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::vector<Time> busy_;
    std::vector<Time> free_at_;
    std::vector<bool> found_nothing_;  // since anything changed
};

}  // namespace

SimulationResult simulate_algorithm_1(const GpuProfile& profile, const Kernel& kernel,
                                      const Launch& launch, Search search) {
    sim::validate(launch);
    return Algorithm1(profile, kernel, launch, search).run();
}

}  // namespace occupipe
