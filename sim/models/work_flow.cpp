// SPDX-License-Identifier: MIT
#include "sim/models/work_flow.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "sim/engine/simulate.h"
#include "sim/machine/machine.h"

namespace occupipe {
namespace {

// What was accessed so long ago is taken to be there.
constexpr std::int64_t max_iterations_back = 4096;

using Items = std::vector<KernelItem>;

std::set<std::string> ids_of(const Items& items) {
    std::set<std::string> ids;
    for_each_instruction(items, [&](const KernelInstruction& text) { ids.insert(text.id); });
    return ids;
}

// Drops dependences on what stands outside: `inside`, and for the previous iteration `looped`.
Items cut_out(const Items& items, const std::set<std::string>& inside,
              const std::set<std::string>& looped) {
    Items kept;
    for (const KernelItem& item : items) {
        if (const auto* repeat = std::get_if<Repeat>(&item)) {
            Repeat copy;
            copy.count = repeat->count;
            copy.body =
                cut_out(repeat->body, inside, looped.empty() ? ids_of(repeat->body) : looped);
            kept.emplace_back(std::move(copy));
            continue;
        }
        KernelInstruction copy = std::get<KernelInstruction>(item);
        std::erase_if(copy.after, [&](const Dependence& dependence) {
            return !(dependence.iterations_back > 0 ? looped : inside).contains(dependence.id);
        });
        kept.emplace_back(std::move(copy));
    }
    return kept;
}

class Builder {
public:
    Builder(const GpuProfile& profile, const WarpProgram& program, const SimulationOptions& alone)
        : profile_(profile), alone_(alone) {
        for_each_instruction(program.instructions, [this](const KernelInstruction& text) {
            for (const Dependence& dependence : text.after) waited_.insert(dependence.id);
        });
        declare(program.instructions);
        path_.clear();
        loops_ = 0;
        flow_.accesses = static_cast<int>(access_.size());
        flow_.steps = build(program.instructions, 1);
        place_cells(flow_.steps);
    }

    WorkFlow take() { return std::move(flow_); }

private:
    struct Access {
        int number = 0;
        std::vector<int> loops;
    };

    InstructionKind kind_of(const KernelInstruction& text) const {
        return text.kind ? *text.kind : profile_.find_instruction(text.op)->effective_kind();
    }

    bool only_computes(const Items& items) const {
        bool only = true;
        for_each_instruction(items, [&](const KernelInstruction& text) {
            only = only && kind_of(text) == InstructionKind::compute;
        });
        return only;
    }

    void declare(const Items& items) {
        for (const KernelItem& item : items) {
            if (const auto* repeat = std::get_if<Repeat>(&item)) {
                path_.push_back(loops_++);
                counts_.push_back(repeat->count);
                declare(repeat->body);
                path_.pop_back();
                continue;
            }
            const auto& text = std::get<KernelInstruction>(item);
            if (kind_of(text) != InstructionKind::compute)
                access_[text.id] = {static_cast<int>(access_.size()), path_};
        }
    }

    std::vector<WorkNode::Wait> waits_of(const KernelInstruction& text) {
        std::vector<WorkNode::Wait> waits;
        for (const Dependence& dependence : text.after) {
            const auto found = access_.find(dependence.id);
            if (found == access_.end()) continue;
            const auto& other = found->second.loops;
            const auto fork = std::mismatch(path_.begin(), path_.end(), other.begin(), other.end());
            int cell = -1;
            if (dependence.iterations_back > 0) {
                const int loop = *std::prev(fork.first);
                if (dependence.iterations_back >= std::min(counts_[loop], max_iterations_back))
                    continue;
                cell = cell_of(loop, found->second.number, dependence.iterations_back);
            }
            waits.push_back({found->second.number, cell});
        }
        return waits;
    }

    std::vector<WorkNode::Wait> waits_of(const Items& items) {
        std::vector<WorkNode::Wait> waits;
        for_each_instruction(items, [&](const KernelInstruction& text) {
            for (const auto& wait : waits_of(text)) waits.push_back(wait);
        });
        return waits;
    }

    // Holds the time of the access that many iterations back, which it gets from the cell of one
    // less.
    int cell_of(int loop, int access, std::int64_t back) {
        int cell = -1;
        for (std::int64_t b = 1; b <= back; ++b) {
            const auto [it, is_new] =
                cell_.try_emplace({loop, access, -b}, static_cast<int>(flow_.cells.size()));
            if (is_new) flow_.cells.push_back({access, cell});
            cell = it->second;
        }
        return cell;
    }

    std::vector<WorkStep> build(const Items& items, double times) {
        std::vector<WorkStep> steps;
        Items block;
        std::vector<WorkNode::Wait> waits;
        const auto flush = [&] {
            if (!block.empty()) steps.emplace_back(add_block(block, waits, times));
            block.clear();
            waits.clear();
        };
        for (const KernelItem& item : items) {
            const auto* repeat = std::get_if<Repeat>(&item);
            if (repeat && !only_computes(repeat->body)) {
                flush();
                const int self = loops_++;
                path_.push_back(self);
                WorkLoop loop;
                loop.count = repeat->count;
                loop.steps = build(repeat->body, times * static_cast<double>(repeat->count));
                loop.cells = {self};  // replaced by the loop's cells when all are known
                path_.pop_back();
                steps.emplace_back(std::move(loop));
                continue;
            }
            if (!repeat && kind_of(std::get<KernelInstruction>(item)) != InstructionKind::compute) {
                flush();
                steps.emplace_back(add_access(std::get<KernelInstruction>(item), times));
                continue;
            }
            const auto more = waits_of(Items{item});
            const bool has_more = std::any_of(more.begin(), more.end(), [&](const auto& wait) {
                return std::find(waits.begin(), waits.end(), wait) == waits.end();
            });
            if (has_more) flush();
            waits.insert(waits.end(), more.begin(), more.end());
            block.push_back(item);
            if (repeat) count_loops(*repeat);
        }
        flush();
        return steps;
    }

    void count_loops(const Repeat& repeat) {
        ++loops_;
        for (const KernelItem& item : repeat.body)
            if (const auto* inner = std::get_if<Repeat>(&item)) count_loops(*inner);
    }

    void add_timing(WorkNode& node, const Items& items, double times) const {
        for (const KernelItem& item : items) {
            if (const auto* repeat = std::get_if<Repeat>(&item)) {
                add_timing(node, repeat->body, times * static_cast<double>(repeat->count));
                continue;
            }
            const InstructionTiming& timing =
                *profile_.find_instruction(std::get<KernelInstruction>(item).op);
            const Subsystem& subsystem = *profile_.find_subsystem(timing.subsystem);
            const int copies = subsystem.per_scheduler() ? profile_.issue.schedulers : 1;
            node.instructions += times;
            node.cpi += times * timing.cpi.value / copies;
            if (!timing.latency && node.waited)
                throw InputError(sim::lacks_latency(profile_, timing));
            node.latency += times * (timing.latency ? timing.latency->value : timing.cpi.value);
        }
    }

    int add_block(const Items& block, const std::vector<WorkNode::Wait>& waits, double times) {
        WorkNode node;
        node.instructions = 0;
        node.times = times;
        node.waits = waits;
        add_timing(node, block, 1);
        Kernel alone{"block", {WarpProgram{1, cut_out(block, ids_of(block), {})}}, {}};
        node.alone = simulate(profile_, alone, Launch(), alone_).cycles;
        flow_.nodes.push_back(std::move(node));
        return last_block_ = static_cast<int>(flow_.nodes.size()) - 1;
    }

    int add_access(const KernelInstruction& text, double times) {
        WorkNode node;
        node.instructions = 0;
        node.kind = kind_of(text);
        node.times = times;
        node.waits = waits_of(text);
        node.access = access_.at(text.id).number;
        node.waited = node.kind != InstructionKind::store || waited_.contains(text.id);
        node.block_before = last_block_;
        add_timing(node, Items{text}, 1);
        if (!node.waited) node.latency = node.cpi;
        node.alone = node.latency;
        flow_.nodes.push_back(std::move(node));
        return static_cast<int>(flow_.nodes.size()) - 1;
    }

    void place_cells(std::vector<WorkStep>& steps) {
        for (WorkStep& step : steps) {
            auto* loop = std::get_if<WorkLoop>(&step);
            if (!loop) continue;
            const int self = loop->cells.front();
            loop->cells.clear();
            for (const auto& [key, cell] : cell_)
                if (std::get<0>(key) == self) loop->cells.push_back(cell);
            place_cells(loop->steps);
        }
    }

    const GpuProfile& profile_;
    const SimulationOptions& alone_;
    WorkFlow flow_;
    std::set<std::string> waited_;
    std::map<std::string, Access> access_;
    // By loop, access and iterations back, negated: the farthest first.
    std::map<std::tuple<int, int, std::int64_t>, int> cell_;
    std::vector<std::int64_t> counts_;  // per loop
    std::vector<int> path_;
    int loops_ = 0;
    int last_block_ = -1;
};

}  // namespace

WorkFlow work_flow(const GpuProfile& profile, const WarpProgram& program,
                   const SimulationOptions& alone) {
    return Builder(profile, program, alone).take();
}

}  // namespace occupipe
