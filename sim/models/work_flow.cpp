// SPDX-License-Identifier: MIT
#include "sim/models/work_flow.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/error.h"
#include "sim/machine/machine.h"

namespace occupipe {
namespace {

// What was accessed so long ago is taken to be there.
constexpr std::int64_t max_iterations_back = 4096;

class Builder {
public:
    Builder(const Problem& problem, std::size_t program, const SimulationOptions& alone)
        : problem_(problem),
          number_(program),
          program_(problem.kernel().programs[program]),
          alone_(alone),
          waited_(program_.instructions.size()),
          access_(program_.instructions.size(), -1) {
        for (const auto& instruction : program_.instructions)
            for (const auto& on : instruction.after)
                waited_[static_cast<std::size_t>(on.producer)] = true;
        for (std::int32_t i = 0; i < program_.size(); ++i)
            if (timing(i).kind != InstructionKind::compute)
                access_[static_cast<std::size_t>(i)] = flow_.accesses++;
        flow_.steps = build(-1, 1);
        place_cells(flow_.steps);
    }

    WorkFlow take() { return std::move(flow_); }

private:
    struct Range {
        std::int32_t first = 0;
        std::int32_t last = 0;

        bool empty() const { return first == last; }
    };

    const ResolvedProgram::Instruction& instruction(std::int32_t i) const {
        return program_.instructions[static_cast<std::size_t>(i)];
    }
    const ResolvedProgram::Loop& loop(std::int32_t l) const {
        return program_.loops[static_cast<std::size_t>(l)];
    }
    const OpTiming& timing(std::int32_t i) const {
        return problem_.timings()[static_cast<std::size_t>(instruction(i).op)];
    }

    bool only_computes(std::int32_t l) const {
        for (std::int32_t i = loop(l).first; i < loop(l).last; ++i)
            if (timing(i).kind != InstructionKind::compute) return false;
        return true;
    }

    std::vector<WorkNode::Wait> waits_of(Range range) {
        std::vector<WorkNode::Wait> waits;
        for (std::int32_t i = range.first; i < range.last; ++i)
            for (const auto& on : instruction(i).after) {
                const int access = access_[static_cast<std::size_t>(on.producer)];
                if (access < 0) continue;
                int cell = -1;
                if (on.back > 0) {
                    if (on.back >= std::min(loop(on.common_loop).count, max_iterations_back))
                        continue;
                    cell = cell_of(on.common_loop, access, on.back);
                }
                waits.push_back({access, cell});
            }
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

    std::vector<WorkStep> build(std::int32_t in, double times) {
        std::vector<WorkStep> steps;
        Range block;
        std::vector<WorkNode::Wait> waits;
        const auto flush = [&] {
            if (!block.empty()) steps.emplace_back(add_block(in, block, waits, times));
            block = {};
            waits.clear();
        };
        const auto compute = [&](Range item) {
            const auto more = waits_of(item);
            const bool has_more = std::any_of(more.begin(), more.end(), [&](const auto& wait) {
                return std::find(waits.begin(), waits.end(), wait) == waits.end();
            });
            if (has_more) flush();
            waits.insert(waits.end(), more.begin(), more.end());
            if (block.empty()) block.first = item.first;
            block.last = item.last;
        };
        for_each_item(
            program_, in,
            [&](std::int32_t i) {
                if (timing(i).kind == InstructionKind::compute) return compute({i, i + 1});
                flush();
                steps.emplace_back(add_access(i, times));
            },
            [&](std::int32_t self) {
                if (only_computes(self)) return compute({loop(self).first, loop(self).last});
                flush();
                WorkLoop inner;
                inner.count = loop(self).count;
                inner.steps = build(self, times * static_cast<double>(inner.count));
                inner.cells = {self};  // replaced by the loop's cells when all are known
                steps.emplace_back(std::move(inner));
            });
        flush();
        return steps;
    }

    void add_timing(WorkNode& node, std::int32_t in, Range range, double times) const {
        for_each_item(
            program_, in, range.first, range.last,
            [&](std::int32_t i) {
                const OpTiming& numbers = timing(i);
                node.instructions += times;
                node.cpi += times * numbers.cpi / problem_.gpu().copies(numbers.subsystem);
                if (!numbers.latency && node.waited)
                    throw InputError(sim::lacks_latency(problem_, instruction(i).op));
                node.latency += times * numbers.latency.value_or(numbers.cpi);
            },
            [&](std::int32_t inner) {
                add_timing(node, inner, {loop(inner).first, loop(inner).last},
                           times * static_cast<double>(loop(inner).count));
            });
    }

    int add_block(std::int32_t in, Range block, const std::vector<WorkNode::Wait>& waits,
                  double times) {
        WorkNode node;
        node.instructions = 0;
        node.times = times;
        node.waits = waits;
        add_timing(node, in, block, 1);
        node.alone = simulate(problem_.alone(number_, in, block.first, block.last), alone_).cycles;
        flow_.nodes.push_back(std::move(node));
        return last_block_ = static_cast<int>(flow_.nodes.size()) - 1;
    }

    int add_access(std::int32_t i, double times) {
        WorkNode node;
        node.instructions = 0;
        node.kind = timing(i).kind;
        node.times = times;
        node.waits = waits_of({i, i + 1});
        node.access = access_[static_cast<std::size_t>(i)];
        node.waited = node.kind != InstructionKind::store || waited_[static_cast<std::size_t>(i)];
        node.block_before = last_block_;
        add_timing(node, instruction(i).loop, {i, i + 1}, 1);
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

    const Problem& problem_;
    const std::size_t number_;
    const ResolvedProgram& program_;
    const SimulationOptions& alone_;
    WorkFlow flow_;
    std::vector<bool> waited_;  // per instruction
    std::vector<int> access_;   // per instruction: its number among accesses and barriers, or -1
    // By loop, access and iterations back, negated: the farthest first.
    std::map<std::tuple<int, int, std::int64_t>, int> cell_;
    int last_block_ = -1;
};

}  // namespace

WorkFlow work_flow(const Problem& problem, std::size_t program, const SimulationOptions& alone) {
    return Builder(problem, program, alone).take();
}

}  // namespace occupipe
