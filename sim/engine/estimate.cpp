// SPDX-License-Identifier: MIT
#include "sim/engine/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "sim/engine/launch_run.h"
#include "sim/engine/steady_rate.h"
#include "sim/engine/whole_run.h"
#include "sim/machine/core_layout.h"

namespace occupipe {
namespace {

constexpr std::int64_t fewest_iterations = 64;  // that a loop is cut to
constexpr std::int64_t least_iterations = 8;    // where as many make a run long enough:
constexpr double long_enough = 1e6;             // instructions of the smallest run
constexpr std::int64_t fewest_waves = 4;        // of groups
constexpr double share_that_counts = 1e-3;      // of what the largest loop executes
constexpr double steady = 0.005;                // relative spread of these
constexpr std::size_t agreeing = 4;  // estimates, both sizes doubled between the first and the last

using sim::least_error;
using sim::RunPoint;
using sim::safety;

std::int64_t longest_distance(const ResolvedProgram& program) {
    std::int64_t longest = 0;
    for (const auto& one : program.instructions)
        for (const auto& on : one.after) longest = std::max(longest, on.back);
    return longest;
}

std::int64_t count_of(const ResolvedProgram& program, std::int32_t loop) {
    return program.loops[static_cast<std::size_t>(loop)].count;
}

// Instructions that a warp executes in one iteration of the loop.
double work_of(const ResolvedProgram& program, std::int32_t loop) {
    double work = 0;
    for_each_item(
        program, loop, [&](std::int32_t) { work += 1; },
        [&](std::int32_t inner) {
            work += static_cast<double>(count_of(program, inner)) * work_of(program, inner);
        });
    return work;
}

// All loops are cut by the same fraction, as what limits a run may differ from loop to loop. Of
// nested ones it is the outermost that has enough iterations.
class LoopCutter {
public:
    // Loops of at most `longer_than` iterations stay as they are, others have `least`.
    explicit LoopCutter(const ResolvedKernel& kernel, std::int64_t longer_than = least_iterations,
                        std::int64_t least = least_iterations)
        : kernel_(kernel), longer_than_(longer_than), least_(least) {
        for (const ResolvedProgram& program : kernel.programs)
            distance_ = std::max(distance_, longest_distance(program));
        std::vector<Loop> loops;
        for (const ResolvedProgram& program : kernel.programs) find(program, -1, 1, loops);
        double largest = 0;
        for (const Loop& loop : loops) largest = std::max(largest, loop.work);
        for (const Loop& loop : loops)
            if (loop.work >= share_that_counts * largest)
                shortest_ = std::min(shortest_.value_or(loop.count), loop.count);
    }

    // At level 0 the loops get `share` of the fewest iterations, but not less than the least.
    void begin_with(double share) {
        first_ = std::clamp(
            share,
            static_cast<double>(enough(least_)) / static_cast<double>(enough(fewest_iterations)),
            1.0);
    }

    // Twice as many iterations at each level; from 1 on nothing is cut.
    double fraction(int level) const {
        if (!shortest_) return std::numeric_limits<double>::infinity();
        return std::ldexp(first_ * static_cast<double>(enough(fewest_iterations)) /
                              static_cast<double>(*shortest_),
                          level);
    }

    // Trip counts, by program and loop.
    std::vector<std::vector<std::int64_t>> cut(double fraction) const {
        std::vector<std::vector<std::int64_t>> counts;
        for (const ResolvedProgram& program : kernel_.programs) {
            counts.emplace_back();
            for (const auto& loop : program.loops) counts.back().push_back(loop.count);
            cut(program, -1, fraction, counts.back());
        }
        return counts;
    }

private:
    struct Loop {
        std::int64_t count = 1;
        double work = 0;  // instructions
    };

    std::int64_t enough(std::int64_t iterations) const { return iterations + 2 * distance_; }

    // Calls visit(loop) for those that stand directly in another one.
    template <class Visit>
    static void for_each_loop(const ResolvedProgram& program, std::int32_t in, const Visit& visit) {
        for_each_item(
            program, in, [](std::int32_t) {}, visit);
    }

    bool has_loop(const ResolvedProgram& program, std::int32_t in) const {
        bool has = false;
        for_each_loop(program, in, [&](std::int32_t loop) {
            has = has || count_of(program, loop) > enough(longer_than_) || has_loop(program, loop);
        });
        return has;
    }
    bool is_cut(const ResolvedProgram& program, std::int32_t loop) const {
        const std::int64_t count = count_of(program, loop);
        return count > enough(fewest_iterations) ||
               (count > enough(longer_than_) && !has_loop(program, loop));
    }

    void find(const ResolvedProgram& program, std::int32_t in, double times,
              std::vector<Loop>& loops) const {
        for_each_loop(program, in, [&](std::int32_t loop) {
            const std::int64_t count = count_of(program, loop);
            const double iterations = times * static_cast<double>(count);
            if (is_cut(program, loop))
                loops.push_back({count, iterations * work_of(program, loop)});
            else
                find(program, loop, iterations, loops);
        });
    }

    void cut(const ResolvedProgram& program, std::int32_t in, double fraction,
             std::vector<std::int64_t>& counts) const {
        for_each_loop(program, in, [&](std::int32_t loop) {
            if (!is_cut(program, loop)) return cut(program, loop, fraction, counts);
            const std::int64_t count = count_of(program, loop);
            const double left = std::round(static_cast<double>(count) * fraction);
            counts[static_cast<std::size_t>(loop)] =
                std::min(count, std::max(enough(1), static_cast<std::int64_t>(std::min(
                                                        left, static_cast<double>(count)))));
        });
    }

    const ResolvedKernel& kernel_;
    std::int64_t longer_than_, least_;
    std::int64_t distance_ = 0;  // the longest of a dependence, in iterations
    double first_ = 1;
    std::optional<std::int64_t> shortest_;  // of the loops that count
};

// Loops of a program that no warp runs make no difference.
double at(double x1, double y1, double x2, double y2, double x) {
    if (x1 == x2) return y2;
    return y1 + (y2 - y1) / (x2 - x1) * (x - x1);
}

double busiest(std::span<const Bound> bounds) {
    double most = 0;
    for (const Bound& bound : bounds) most = std::max(most, bound.utilisation);
    return most;
}

constexpr int whole = -1;  // a level at which no loop is cut

class Extrapolation {
public:
    Extrapolation(const Problem& problem, const SimulationOptions& options)
        : problem_(problem),
          options_(options),
          layout_(sim::build_layout(problem_, options_)),
          left_(options.max_simulated),
          cutter_(problem_.kernel()),
          groups_(problem.launch().groups_per_core(problem.gpu().cores)),
          slots_(std::min<std::int64_t>(problem.launch().concurrent_groups, groups_)) {
        options_.estimate = false;
    }

    // The run as it is, but with at most so many instructions one by one; beyond these, the rest at
    // the rate at which its groups ended until then, or nothing where that is not steady.
    std::optional<SimulationResult> exact(std::int64_t most) {
        // To look at its end costs as much as to go on to it.
        if (static_cast<double>(layout_.group_instructions) * static_cast<double>(groups_) <=
            2 * static_cast<double>(most))
            most *= 2;
        std::vector<RunPoint> seen;
        std::int64_t simulated = 0;
        const Checkpoint told = options_.checkpoint;
        options_.checkpoint = [&](const RunProgress& progress) {
            if (told) told(progress);
            seen.push_back({static_cast<double>(progress.issued), progress.cycles});
            simulated = progress.simulated;
        };
        std::exception_ptr limit;
        try {
            SimulationResult ended = run(problem_, groups_, std::min(most, left_));
            options_.checkpoint = told;
            return ended;
        } catch (const LimitReached&) {
            limit = std::current_exception();
        }
        options_.checkpoint = told;
        if (left_ <= 0) std::rethrow_exception(limit);
        try {
            return at_steady_rate(seen, simulated);
        } catch (const LimitReached&) {
            std::rethrow_exception(limit);
        }
    }

    // Twice as many iterations and twice as many groups from level to level, in turns.
    SimulationResult extrapolate() {
        const double smallest =
            static_cast<double>(group_instructions(cut(0))) * static_cast<double>(groups_at(0));
        cutter_.begin_with(long_enough / smallest);
        std::vector<double> cycles;
        int size = 0;
        int groups = 0;
        while (true) {
            try {
                if (all_iterations(size) && all_groups(groups))
                    return run(problem_, groups_, left_);
                cycles.push_back(at_level(size, groups));
                // Faster than the subsystems allow: the smaller runs are limited by something else.
                if (busiest(cycles.back()) > 1 + steady) cycles.clear();
            } catch (const LimitReached&) {
                if (cycles.size() + 1 < agreeing) throw;
                break;
            }
            const bool more_groups = all_iterations(size) || (size > groups && !all_groups(groups));
            ++(more_groups ? groups : size);
            if (cycles.size() >= agreeing && spread(cycles) <= steady) break;
        }
        return result(cycles.back(), std::max(spread(cycles), sim::steady_enough / safety));
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

    Problem cut(int level) const {
        return problem_.with_counts(cutter_.cut(cutter_.fraction(level)));
    }

    SimulationResult run(const Problem& problem, std::int64_t groups, std::int64_t most) {
        options_.max_simulated = most;
        Launch launch = problem_.launch();
        if (groups != groups_) launch.groups = groups * problem_.gpu().cores;
        try {
            last_ = sim::whole_run(problem.at(launch), options_);
        } catch (const LimitReached&) {
            left_ -= most;
            throw;
        }
        left_ -= last_.simulated;
        simulated_ += last_.simulated;
        return last_;
    }

    std::int64_t group_instructions(const Problem& problem) const {
        return sim::build_layout(problem, options_).group_instructions;
    }

    // So many groups, loops cut as at the level. Levels share runs.
    double cycles_of(const Problem& problem, int level, std::int64_t groups) {
        const auto known = runs_.find({level, groups});
        if (known != runs_.end()) return known->second;
        return runs_[{level, groups}] = run(problem, groups, left_).cycles;
    }

    // For all iterations, from runs with all of them or with two fractions.
    double for_all_iterations(int level, std::int64_t groups) {
        if (all_iterations(level)) return cycles_of(problem_, whole, groups);
        const Problem few = cut(level);
        const Problem many = cut(level + 1);
        const double t1 = cycles_of(few, level, groups);
        const double t2 = cycles_of(many, level + 1, groups);
        return at(static_cast<double>(group_instructions(few)), t1,
                  static_cast<double>(group_instructions(many)), t2,
                  static_cast<double>(layout_.group_instructions));
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

    // `seen`: of the run's beginning, for which so many instructions were issued one by one.
    std::optional<SimulationResult> at_steady_rate(std::span<const RunPoint> seen,
                                                   std::int64_t simulated) {
        const auto work = static_cast<double>(layout_.group_instructions);
        const auto rate = sim::steady_rate(seen, work * static_cast<double>(slots_));
        if (!rate) return std::nullopt;
        // How much longer a launch of so few waves takes than the run took to come as far.
        const auto end = [&](int level) {
            const std::int64_t groups = groups_at(level);
            return cycles_of(problem_, whole, groups) -
                   sim::time_at(seen, work * static_cast<double>(groups));
        };
        const double longer = end(1);
        const double left = work * static_cast<double>(groups_) - seen.back().work;
        const double cycles = rate->time_at_end + left * rate->time_each + longer;
        const double error =
            (left * rate->standard_error + rate->scatter + std::abs(longer - end(0))) / cycles;
        if (!(error <= sim::steady_enough) || busiest(cycles) > 1 + steady) return std::nullopt;
        simulated_ += simulated;
        return result(cycles, error);
    }

    std::int64_t ticks_of(double cycles) const {
        const double ticks = cycles / last_.scale.to_cycles(1);
        if (!(ticks < static_cast<double>(sim::max_ticks)))
            throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
        return std::llround(ticks);
    }

    // Of the whole run, whose work is known, if it took so long.
    std::vector<Bound> bounds(double cycles) const {
        const double groups[] = {static_cast<double>(groups_)};
        return sim::bounds_of(layout_, groups, ticks_of(cycles));
    }
    double busiest(double cycles) const { return occupipe::busiest(bounds(cycles)); }

    SimulationResult result(double cycles, double spread) const {
        const double over = std::max(busiest(cycles) - 1, 0.0);
        SimulationResult result = last_;
        result.cycles = cycles * (1 + over);
        result.ticks = ticks_of(result.cycles);
        result.issued = layout_.group_instructions * groups_;
        result.groups = groups_;
        result.bounds = bounds(result.cycles);
        result.simulated = simulated_;
        result.estimate = EstimatedRun{
            .simulated_share = static_cast<double>(simulated_) / static_cast<double>(result.issued),
            .error = safety * spread + over + least_error};
        return result;
    }

    const Problem problem_;
    SimulationOptions options_;
    sim::CoreLayout layout_;
    std::int64_t left_;  // instructions to issue one by one
    LoopCutter cutter_;
    std::int64_t groups_;  // of the core
    std::int64_t slots_;
    std::int64_t simulated_ = 0;
    SimulationResult last_;
    std::map<std::pair<int, std::int64_t>, double> runs_;  // cycles, by level and groups
};

// A launch of groups that differ. Nothing tells what they would do in a smaller one, but their
// loops can be cut: T = a + b·w, where levels agree.
class CutLaunch {
public:
    CutLaunch(const Problem& problem, const SimulationOptions& options)
        : problem_(problem),
          options_(options),
          layout_(sim::build_layout(problem_, options_)),
          cutter_(problem_.kernel(), fewest_iterations, least_of_launch),
          groups_(problem.groups().kind_counts(0, problem.launch().groups)) {
        for (double& one : groups_) one /= problem.gpu().cores;
    }

    // Of the mean core.
    double instructions() const { return instructions(layout_); }

    // Whether there is enough to cut.
    bool possible() const {
        return instructions() / waves() >= wave_too_long && waves() >= fewest_waves;
    }

    // Nothing where levels disagree.
    std::optional<SimulationResult> result() {
        const double all = instructions();
        const double wave = all / waves();
        cutter_.begin_with(first_wave / (wave * cutter_.fraction(0)));
        std::optional<double> before;
        std::optional<RunPoint> few;
        for (int level = 0; cutter_.fraction(level) <= largest_fraction; ++level) {
            if (!run(level)) {
                few.reset();
                before.reset();
                continue;
            }
            if (few) {
                const double cycles = at(few->work, few->time, seen_.work, seen_.time, all);
                const double spread = before ? std::abs(cycles / *before - 1) : 1;
                if (spread <= sim::steady_enough) {
                    SimulationResult found = extrapolated(cycles, spread, all);
                    // Faster than the subsystems allow: what is cut is limited by something else.
                    if (busiest(found.bounds) <= 1) return found;
                }
                before = cycles;
            }
            few = seen_;
        }
        return std::nullopt;
    }

private:
    static constexpr double wave_too_long = 4e5;  // instructions of a core
    static constexpr double first_wave = 5e4;     // at level 0
    static constexpr double largest_fraction = 0.5;
    static constexpr double small_group = 0.05;  // of the mean's instructions
    static constexpr double counts = 0.25;       // share of the time
    static constexpr double amplified = 3;       // of two levels' errors, by the line through them
    static constexpr double last_wave = 0.06;    // error, of the time of a wave
    static constexpr std::int64_t least_of_launch = 4;  // iterations; its groups are many

    double count() const { return std::accumulate(groups_.begin(), groups_.end(), 0.0); }
    double waves() const { return count() / problem_.launch().concurrent_groups; }

    // Of the mean core.
    double instructions(const sim::CoreLayout& layout) const {
        return std::inner_product(groups_.begin(), groups_.end(), layout.kind_instructions.begin(),
                                  0.0);
    }

    Problem problem_at(int level) const {
        return problem_.with_counts(cutter_.cut(cutter_.fraction(level)));
    }

    // Whether all groups that count are cut about alike. Where one is long because of its loops and
    // others are not, another one of them may end last.
    bool all_are_cut(const sim::CoreLayout& cut, int level) const {
        const double fraction = cutter_.fraction(level);
        const double mean = instructions(layout_) / count();
        for (std::size_t kind = 0; kind < groups_.size(); ++kind) {
            const auto before = static_cast<double>(layout_.kind_instructions[kind]);
            const auto now = static_cast<double>(cut.kind_instructions[kind]);
            if (now > 2 * fraction * before && now > small_group * mean * fraction) return false;
        }
        return true;
    }

    // Whether some subsystem is at work for the most of the run that would not be in the whole one:
    // what is not cut decides.
    bool other_limits(const sim::CoreLayout& cut, double fraction, std::int64_t ticks) const {
        const std::vector<Bound> now = sim::bounds_of(cut, groups_, ticks);
        const std::vector<Bound> whole_in_it = sim::bounds_of(layout_, groups_, ticks);
        for (std::size_t s = 0; s < layout_.machine.subsystems.size(); ++s)
            if (now[s].utilisation > 2 * fraction * whole_in_it[s].utilisation &&
                now[s].utilisation > counts)
                return true;
        return false;
    }

    // Whether it tells of the whole launch.
    bool run(int level) {
        const Problem cut = problem_at(level);
        const sim::CoreLayout layout = sim::build_layout(cut, options_);
        if (!all_are_cut(layout, level)) return false;
        last_ = sim::whole_run(cut, options_);
        simulated_ += last_.simulated;
        seen_ = {instructions(layout), last_.cycles};
        return !other_limits(layout, cutter_.fraction(level), last_.ticks);
    }

    SimulationResult extrapolated(double cycles, double spread, double instructions) const {
        SimulationResult result = last_;
        result.cycles = cycles;
        result.ticks = std::llround(cycles / last_.scale.to_cycles(1));
        result.issued = std::llround(instructions);
        result.groups = std::llround(count());
        result.bounds = sim::bounds_of(layout_, groups_, result.ticks);
        result.simulated = simulated_;
        const double error = last_.estimate ? last_.estimate->error : 0;
        // Two levels may agree by chance, and how the last groups meet changes with their length.
        result.estimate = EstimatedRun{
            .simulated_share =
                static_cast<double>(simulated_) / (instructions * problem_.gpu().cores),
            .error =
                amplified * error + std::max({safety * spread, steady, last_wave / waves(),
                                              sim::chance_of_a_long_group(layout_, instructions)})};
        return result;
    }

    const Problem problem_;
    const SimulationOptions& options_;
    sim::CoreLayout layout_;
    LoopCutter cutter_;
    std::vector<double> groups_;  // of the mean core, by kind
    std::int64_t simulated_ = 0;
    SimulationResult last_;
    RunPoint seen_;  // of the last level, in cycles
};

}  // namespace

SimulationResult estimate(const Problem& problem, const SimulationOptions& options) {
    if (!problem.groups().alike()) {
        CutLaunch cut(problem, options);
        if (!cut.possible()) return sim::whole_run(problem, options);
        // Cores that run the same groups are simulated once: how many do not, the run tells.
        constexpr std::int64_t too_many = 4;
        SimulationOptions first = options;
        if (const auto exact = static_cast<double>(options.exact); cut.instructions() <= exact) {
            first.max_simulated = std::min(options.max_simulated, too_many * options.exact);
            try {
                return sim::whole_run(problem, first);
            } catch (const LimitReached&) {
                if (first.max_simulated == options.max_simulated) throw;
            }
        }
        if (auto known = cut.result()) return *std::move(known);
        return sim::whole_run(problem, options);
    }
    Extrapolation extrapolation(problem, options);
    if (auto known = extrapolation.exact(options.exact)) return *std::move(known);
    return extrapolation.extrapolate();
}

SimulationResult extrapolated(const Problem& problem, const SimulationOptions& options) {
    return Extrapolation(problem, options).extrapolate();
}

}  // namespace occupipe
