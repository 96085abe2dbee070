// SPDX-License-Identifier: MIT
#include "sim/engine/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "sim/machine/core_layout.h"

namespace occupipe {
namespace {

constexpr std::int64_t fewest_iterations = 64;  // that a loop is cut to
constexpr std::int64_t fewest_waves = 4;        // of groups
constexpr std::int64_t similar = 4;   // loops with that much fewer iterations than the longest
                                      // keep all of theirs
constexpr double steady = 0.005;      // relative step from level to level
constexpr double safety = 3;          // of the bound over the steps that were observed
constexpr double least_error = 1e-6;  // what is extrapolated is never called exact

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

    // Twice as many iterations at each level; above 1 nothing is cut.
    double fraction(int level) const {
        if (counts_.empty()) return std::numeric_limits<double>::infinity();
        return std::ldexp(static_cast<double>(fewest_) / static_cast<double>(shortest_), level);
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
    std::vector<std::int64_t> counts_;
    std::int64_t longest_ = 0;
    std::int64_t shortest_ = std::numeric_limits<std::int64_t>::max();
};

double at(double x1, double y1, double x2, double y2, double x) {
    return y1 + (y2 - y1) / (x2 - x1) * (x - x1);
}

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

    SimulationResult extrapolate() {
        std::vector<double> cycles;
        std::vector<double> steps;  // relative
        for (int level = 0;; ++level) {
            try {
                if (whole(level)) return exact(left_);
                cycles.push_back(at_level(level));
            } catch (const LimitReached&) {
                if (steps.size() < 2) throw;
                break;
            }
            if (cycles.size() < 2) continue;
            steps.push_back(std::abs(cycles.back() / cycles[cycles.size() - 2] - 1));
            if (steps.size() >= 2 && largest_of_two(steps) <= steady) break;
        }
        return result(cycles.back(), largest_of_two(steps));
    }

private:
    static double largest_of_two(const std::vector<double>& steps) {
        return std::max(steps.back(), steps[steps.size() - 2]);
    }

    std::int64_t groups_at(int level, int more) const {
        const std::int64_t waves = fewest_waves << std::min(level + more, 40);
        return groups_ % slots_ + waves * slots_;
    }
    bool all_iterations(int level) const { return cutter_.fraction(level + 1) >= 1; }
    bool all_groups(int level) const { return groups_at(level, 1) >= groups_; }
    bool whole(int level) const { return all_iterations(level) && all_groups(level); }

    SimulationResult run(const Kernel& kernel, std::int64_t groups, std::int64_t most) {
        options_.max_simulated = most;
        Launch launch = launch_;
        launch.groups = groups == groups_ ? launch_.groups : groups * profile_.cores;
        try {
            last_ = simulate(profile_, kernel, launch, options_);
        } catch (const LimitReached&) {
            left_ -= most;
            simulated_ += most;
            throw;
        }
        left_ -= last_.simulated;
        simulated_ += last_.simulated;
        return last_;
    }

    std::int64_t group_instructions(const Kernel& kernel) const {
        return sim::build_layout(profile_, kernel, launch_, options_).group_instructions;
    }

    // For all groups, from runs with all iterations or with two fractions of them.
    double for_all_iterations(int level, std::int64_t groups) {
        if (all_iterations(level)) return run(kernel_, groups, left_).cycles;
        const Kernel few = cutter_.cut(kernel_, cutter_.fraction(level));
        const Kernel many = cutter_.cut(kernel_, cutter_.fraction(level + 1));
        const double t1 = run(few, groups, left_).cycles;
        const double t2 = run(many, groups, left_).cycles;
        return at(static_cast<double>(group_instructions(few)), t1,
                  static_cast<double>(group_instructions(many)), t2,
                  static_cast<double>(group_instructions(kernel_)));
    }

    double at_level(int level) {
        if (all_groups(level)) return for_all_iterations(level, groups_);
        const std::int64_t g1 = groups_at(level, 0);
        const std::int64_t g2 = groups_at(level, 1);
        const double t1 = for_all_iterations(level, g1);
        const double t2 = for_all_iterations(level, g2);
        return at(static_cast<double>(g1), t1, static_cast<double>(g2), t2,
                  static_cast<double>(groups_));
    }

    SimulationResult result(double cycles, double step) const {
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
            .error = safety * step + least_error};
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
                              SimulationOptions options) {
    return Extrapolation(profile, kernel, launch, options).extrapolate();
}

}  // namespace occupipe
