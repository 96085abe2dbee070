// SPDX-License-Identifier: MIT
#include "analysis/device/model_run.h"

#include <algorithm>
#include <vector>

#include "core/running_warps.h"
#include "sim/engine/simulate.h"
#include "sim/machine/core_layout.h"
#include "sim/observers/observer.h"

namespace occupipe::analysis {
namespace {

constexpr std::int64_t watched_always = 50'000;
constexpr std::int64_t watched_with_policy = 1'000'000;

class WarpWatch : public sim::Observer {
public:
    void started(const sim::CoreLayout& layout) override {
        scheduler_of_.assign(layout.scheduler_of.begin(), layout.scheduler_of.end());
        stops_.assign(scheduler_of_.size(), 0);
        last_issue_.assign(scheduler_of_.size(), 0);
    }
    void issued(const sim::IssueEvent& event) override {
        issues_.push_back(event.time);
        auto& last = last_issue_[static_cast<std::size_t>(event.warp)];
        last = std::max(last, event.time);
    }
    void completed(const sim::CompletionOf& event) override {
        auto& stop = stops_[static_cast<std::size_t>(event.warp)];
        stop = std::max(stop, event.time);
    }

    // `tick`: cycles of one.
    std::map<std::string, double> counters(double tick) const {
        std::vector<double> stops;
        for (const std::int64_t stop : stops_) stops.push_back(static_cast<double>(stop) * tick);
        auto out = running_counters(std::vector<double>(stops.size(), 0.0), stops, scheduler_of_);
        // All run until the first of them has issued its last instruction.
        const std::int64_t end = std::ranges::min(last_issue_);
        const auto within =
            std::ranges::count_if(issues_, [end](std::int64_t issue) { return issue < end; });
        if (end > 0 && within > 0) {
            out[window_cycles_counter] = static_cast<double>(end) * tick;
            out[window_instructions_counter] = static_cast<double>(within);
        }
        return out;
    }

private:
    std::vector<int> scheduler_of_;
    std::vector<std::int64_t> stops_;
    std::vector<std::int64_t> last_issue_;
    std::vector<std::int64_t> issues_;
};

}  // namespace

bench::ModelRun model_run(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                          const SimulationOptions& options, std::int64_t instructions) {
    const bool named = options.policy.has_value() || profile.issue.policy.has_value();
    if (instructions > (named ? watched_with_policy : watched_always))
        return simulate(profile, kernel, launch, options).cycles;
    WarpWatch watch;
    const SimulationResult result = simulate(profile, kernel, launch, options, watch);
    bench::ModelRun run = result.cycles;
    run.counters = watch.counters(result.cycles / static_cast<double>(result.ticks));
    return run;
}

}  // namespace occupipe::analysis
