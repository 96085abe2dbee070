// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "sim/models/work_flow.h"

namespace occupipe {
namespace {

constexpr std::int64_t patience = 4096;  // iterations of one loop

class Walker {
public:
    Walker(const WorkFlow& flow, const std::vector<NodeCost>& costs)
        : flow_(flow), costs_(costs), ready_(flow.accesses), cells_(flow.cells.size()) {
        run(flow.steps);
        double end = std::max(cursor_, free_);
        for (const WorkNode& node : flow.nodes)
            if (node.access >= 0 && node.waited) end = std::max(end, ready_[node.access]);
        wait_until(end);
        if (now_.instructions > 0 || now_.accesses > 0) emit(0);
    }

    Walk take() { return {cursor_, std::move(intervals_)}; }

private:
    struct State {
        double cursor = 0;
        std::size_t emitted = 0;
        Interval now;
        std::vector<double> pending;
    };

    void run(const std::vector<WorkStep>& steps) {
        for (const WorkStep& step : steps) {
            if (const auto* loop = std::get_if<WorkLoop>(&step))
                run(*loop);
            else
                visit(std::get<int>(step));
        }
    }

    void visit(int index) {
        const WorkNode& node = flow_.nodes[index];
        const NodeCost& cost = costs_[index];
        double start = cursor_;
        for (const auto& wait : node.waits)
            start = std::max(start, wait.cell >= 0 ? cells_[wait.cell] : ready_[wait.access]);
        if (cost.occupies > 0) start = std::max(start, free_);
        wait_until(start);
        if (cost.counts) now_.instructions += node.instructions;
        if (node.kind == InstructionKind::load || node.kind == InstructionKind::store)
            now_.accesses += node.instructions;
        if (node.access >= 0) ready_[node.access] = start + cost.delay;
        if (cost.occupies > 0) free_ = start + cost.occupies;
        cursor_ += cost.advance;
    }

    void wait_until(double start) {
        if (start <= cursor_) return;
        emit(start - cursor_);
        cursor_ = start;
    }

    void emit(double stall) {
        now_.stall = stall;
        intervals_.push_back(now_);
        now_ = {};
    }

    State state() const {
        State state{cursor_, intervals_.size(), now_, {}};
        for (const auto* times : {&ready_, &cells_})
            for (const double time : *times) state.pending.push_back(std::max(0.0, time - cursor_));
        state.pending.push_back(std::max(0.0, free_ - cursor_));
        return state;
    }

    // Will what follows `now` be what followed `then`?
    static bool same(const State& now, const State& then) {
        const auto close = [](double a, double b) {
            return std::abs(a - b) <= 1e-9 * (1 + std::abs(a) + std::abs(b));
        };
        if (now.emitted != then.emitted && !(close(now.now.instructions, then.now.instructions) &&
                                             close(now.now.accesses, then.now.accesses)))
            return false;
        return std::equal(now.pending.begin(), now.pending.end(), then.pending.begin(), close);
    }

    void run(const WorkLoop& loop) {
        for (const int cell : loop.cells) cells_[cell] = 0;
        State mark;
        std::int64_t mark_at = 0;
        for (std::int64_t i = 1; i <= loop.count; ++i) {
            run(loop.steps);
            for (const int cell : loop.cells) {
                const auto& [access, from] = flow_.cells[cell];
                cells_[cell] = from >= 0 ? cells_[from] : ready_[access];
            }
            const State now = state();
            if (mark_at > 0 && (i >= patience || same(now, mark))) {
                const std::int64_t period = i - mark_at;
                const std::int64_t more = (loop.count - i) / period;
                repeat(mark, now, static_cast<double>(more));
                i += more * period;
                mark_at = 0;  // the rest is shorter than a period
                if (more > 0) continue;
            }
            if ((i & (i - 1)) == 0) {  // Brent's cycle search
                mark = now;
                mark_at = i;
            }
        }
    }

    void repeat(const State& from, const State& to, double times) {
        if (times == 0) return;
        for (std::size_t k = from.emitted; k < intervals_.size(); ++k)
            intervals_[k].times *= 1 + times;
        if (from.emitted == to.emitted) {
            now_.instructions += times * (to.now.instructions - from.now.instructions);
            now_.accesses += times * (to.now.accesses - from.now.accesses);
        }
        const double later = times * (to.cursor - from.cursor);
        cursor_ += later;
        free_ += later;
        for (auto* due : {&ready_, &cells_})
            for (double& time : *due) time += later;
    }

    const WorkFlow& flow_;
    const std::vector<NodeCost>& costs_;
    double cursor_ = 0;
    double free_ = 0;
    Interval now_;
    std::vector<double> ready_;  // per access
    std::vector<double> cells_;
    std::vector<Interval> intervals_;
};

}  // namespace

Walk walk(const WorkFlow& flow, const std::vector<NodeCost>& costs) {
    return Walker(flow, costs).take();
}

}  // namespace occupipe
