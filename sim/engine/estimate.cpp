// SPDX-License-Identifier: MIT
#include "sim/engine/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "sim/machine/core_layout.h"

namespace occupipe {
namespace {

constexpr std::int64_t fewest_iterations = 64;  // that a loop is cut to
constexpr std::int64_t least_iterations = 8;    // where as many make a run long enough:
constexpr double long_enough = 1e6;             // instructions of the smallest run
constexpr std::int64_t fewest_waves = 4;        // of groups
constexpr std::int64_t similar = 4;  // loops with that much fewer iterations than the longest
                                     // keep all of theirs
constexpr std::size_t agreeing = 4;  // estimates, both sizes doubled between the first and the last
constexpr double steady = 0.005;     // relative spread of these
constexpr double safety = 3;         // of the bound over that spread
constexpr double least_error = 1e-4;  // what is extrapolated is never called exact

std::int64_t longest_distance(const std::vector<KernelItem>& items) {
    std::int64_t longest = 0;
    for (const KernelItem& item : items) {
        if (const auto* repeat = std::get_if<Repeat>(&item))
            longest = std::max(longest, longest_distance(repeat->body));
        else
            for (const Dependence& dependence : std::get<KernelInstruction>(item).after)
                longest = std::max(longest, dependence.iterations_back);
    }
    return longest;
}

// Loops are cut from outside: of nested ones only the outermost that has enough iterations.
class LoopCutter {
public:
    explicit LoopCutter(const Kernel& kernel) {
        for (const WarpProgram& program : kernel.warps)
            fewest_ =
                std::max(fewest_, fewest_iterations + 2 * longest_distance(program.instructions));
        for (const WarpProgram& program : kernel.warps) find(program.instructions);
        for (const std::int64_t count : counts_)
            if (is_cut(count)) shortest_ = std::min(shortest_, count);
    }

    // At level 0 the loops get `share` of the fewest iterations, but at least `least_iterations`.
    void begin_with(double share) {
        const auto least = static_cast<double>(least_iterations + fewest_ - fewest_iterations);
        first_ = std::clamp(share, least / static_cast<double>(fewest_), 1.0);
    }

    // Twice as many iterations at each level; above 1 nothing is cut.
    double fraction(int level) const {
        if (counts_.empty()) return std::numeric_limits<double>::infinity();
        return std::ldexp(first_ * static_cast<double>(fewest_) / static_cast<double>(shortest_),
                          level);
    }

    Kernel cut(Kernel kernel, double fraction) const {
        for (WarpProgram& program : kernel.warps) cut(program.instructions, fraction);
        return kernel;
    }

private:
    bool is_cut(std::int64_t count) const { return count > fewest_ && count >= longest_ / similar; }

    void find(const std::vector<KernelItem>& items) {
        for (const KernelItem& item : items) {
            const auto* repeat = std::get_if<Repeat>(&item);
            if (!repeat) continue;
            if (repeat->count <= fewest_) {
                find(repeat->body);
                continue;
            }
            counts_.push_back(repeat->count);
            longest_ = std::max(longest_, repeat->count);
        }
    }

    void cut(std::vector<KernelItem>& items, double fraction) const {
        for (KernelItem& item : items) {
            auto* repeat = std::get_if<Repeat>(&item);
            if (!repeat) continue;
            if (repeat->count <= fewest_)
                cut(repeat->body, fraction);
            else if (is_cut(repeat->count))
                repeat->count = std::min(
                    repeat->count, static_cast<std::int64_t>(
                                       std::ceil(static_cast<double>(repeat->count) * fraction)));
        }
    }

    std::int64_t fewest_ = fewest_iterations;
    double first_ = 1;
    std::vector<std::int64_t> counts_;
    std::int64_t longest_ = 0;
    std::int64_t shortest_ = std::numeric_limits<std::int64_t>::max();
};

double at(double x1, double y1, double x2, double y2, double x) {
    return y1 + (y2 - y1) / (x2 - x1) * (x - x1);
}

constexpr int whole = -1;  // a level at which no loop is cut

class Extrapolation {
public:
    Extrapolation(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                  const SimulationOptions& options)
        : profile_(profile),
          kernel_(kernel),
          launch_(launch),
          options_(options),
          left_(options.max_simulated),
          cutter_(kernel),
          groups_(launch.groups_per_core(profile.cores)),
          slots_(std::min<std::int64_t>(launch.concurrent_groups, groups_)) {
        options_.estimate = false;
    }

    // The run as it is, but with at most so many instructions one by one.
    SimulationResult exact(std::int64_t most) {
        return run(kernel_, groups_, std::min(most, left_));
    }

    // Twice as many iterations and twice as many groups from level to level, in turns.
    SimulationResult extrapolate() {
        const double smallest =
            static_cast<double>(group_instructions(cutter_.cut(kernel_, cutter_.fraction(0)))) *
            static_cast<double>(groups_at(0));
        cutter_.begin_with(long_enough / smallest);
        std::vector<double> cycles;
        int size = 0;
        int groups = 0;
        while (true) {
            try {
                if (all_iterations(size) && all_groups(groups)) return exact(left_);
                cycles.push_back(at_level(size, groups));
            } catch (const LimitReached&) {
                if (cycles.size() + 1 < agreeing) throw;
                break;
            }
            const bool more_groups = all_iterations(size) || (size > groups && !all_groups(groups));
            ++(more_groups ? groups : size);
            if (cycles.size() >= agreeing && spread(cycles) <= steady) break;
        }
        return result(cycles.back(), spread(cycles));
    }

private:
    // Relative, of the last estimates.
    static double spread(const std::vector<double>& cycles) {
        const auto first = cycles.end() - static_cast<std::ptrdiff_t>(
                                              std::min<std::size_t>(cycles.size(), agreeing));
        const auto [least, most] = std::minmax_element(first, cycles.end());
        return (*most - *least) / cycles.back();
    }

    std::int64_t groups_at(int level) const {
        const std::int64_t waves = fewest_waves << std::min(level, 40);
        return groups_ % slots_ + waves * slots_;
    }
    bool all_iterations(int level) const { return cutter_.fraction(level + 1) >= 1; }
    bool all_groups(int level) const { return groups_at(level + 1) >= groups_; }

    SimulationResult run(const Kernel& kernel, std::int64_t groups, std::int64_t most) {
        options_.max_simulated = most;
        Launch launch = launch_;
        launch.groups = groups == groups_ ? launch_.groups : groups * profile_.cores;
        try {
            last_ = simulate(profile_, kernel, launch, options_);
        } catch (const LimitReached&) {
            left_ -= most;
            throw;
        }
        left_ -= last_.simulated;
        simulated_ += last_.simulated;
        return last_;
    }

    std::int64_t group_instructions(const Kernel& kernel) const {
        return sim::build_layout(profile_, kernel, launch_, options_).group_instructions;
    }

    // So many groups, loops cut as at the level. Levels share runs.
    double cycles_of(const Kernel& kernel, int level, std::int64_t groups) {
        const auto known = runs_.find({level, groups});
        if (known != runs_.end()) return known->second;
        return runs_[{level, groups}] = run(kernel, groups, left_).cycles;
    }

    // For all iterations, from runs with all of them or with two fractions.
    double for_all_iterations(int level, std::int64_t groups) {
        if (all_iterations(level)) return cycles_of(kernel_, whole, groups);
        const Kernel few = cutter_.cut(kernel_, cutter_.fraction(level));
        const Kernel many = cutter_.cut(kernel_, cutter_.fraction(level + 1));
        const double t1 = cycles_of(few, level, groups);
        const double t2 = cycles_of(many, level + 1, groups);
        return at(static_cast<double>(group_instructions(few)), t1,
                  static_cast<double>(group_instructions(many)), t2,
                  static_cast<double>(group_instructions(kernel_)));
    }

    double at_level(int size, int groups) {
        if (all_groups(groups)) return for_all_iterations(size, groups_);
        const std::int64_t g1 = groups_at(groups);
        const std::int64_t g2 = groups_at(groups + 1);
        const double t1 = for_all_iterations(size, g1);
        const double t2 = for_all_iterations(size, g2);  // last_ is the largest run
        return at(static_cast<double>(g1), t1, static_cast<double>(g2), t2,
                  static_cast<double>(groups_));
    }

    SimulationResult result(double cycles, double spread) const {
        SimulationResult result = last_;
        result.cycles = cycles;
        const double ticks = cycles / result.scale.to_cycles(1);
        if (!(ticks < static_cast<double>(sim::max_ticks)))
            throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
        result.ticks = std::llround(ticks);
        result.issued = group_instructions(kernel_) * groups_;
        result.groups = groups_;
        result.simulated = simulated_;
        result.estimate = EstimatedRun{
            .simulated_share = static_cast<double>(simulated_) / static_cast<double>(result.issued),
            .error = safety * spread + least_error};
        return result;
    }

    const GpuProfile& profile_;
    const Kernel& kernel_;
    const Launch launch_;
    SimulationOptions options_;
    std::int64_t left_;  // instructions to issue one by one
    LoopCutter cutter_;
    std::int64_t groups_;  // of the core
    std::int64_t slots_;
    std::int64_t simulated_ = 0;
    SimulationResult last_;
    std::map<std::pair<int, std::int64_t>, double> runs_;  // cycles, by level and groups
};

}  // namespace

SimulationResult estimate(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                          SimulationOptions options) {
    // Nothing tells what groups that differ would do in a smaller launch.
    if (!sim::LaunchGroups(kernel, launch).alike()) {
        options.estimate = false;
        return simulate(profile, kernel, launch, options);
    }
    Extrapolation extrapolation(profile, kernel, launch, options);
    try {
        return extrapolation.exact(exact_instructions);
    } catch (const LimitReached&) {
        if (options.max_simulated <= exact_instructions) throw;
    }
    return extrapolation.extrapolate();
}

SimulationResult extrapolated(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                              const SimulationOptions& options) {
    return Extrapolation(profile, kernel, launch, options).extrapolate();
}

}  // namespace occupipe
