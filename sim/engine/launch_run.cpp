// SPDX-License-Identifier: MIT
#include "sim/engine/launch_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.h"
#include "sim/engine/engine.h"
#include "sim/engine/steady_rate.h"

namespace occupipe::sim {
namespace {

constexpr std::int64_t waves_at_the_end = 4;  // that are simulated where others are skipped
constexpr double kinds_differ = 0.3;          // at least, in time per instruction
constexpr double long_group = 3;              // over the mean: it may outlast the others
constexpr double order_of_groups = 0.005;     // error: who meets whom is not the same at the end

// Cores that were given the same groups at the same times.
struct Cohort {
    std::vector<int> cores;  // ascending
    std::unique_ptr<Engine> engine;
    std::vector<std::int32_t> kinds;  // of its groups
    std::int64_t time = 0;            // at which it has free slots [ticks]
    bool ended = false;               // it has no group left
};

// Of groups in the middle of a launch that were not simulated.
struct Skipped {
    double work = 0;   // warp-instructions
    double time = 0;   // [ticks]
    double error = 0;  // of the launch's time, relative
};

class Run {
public:
    Run(const CoreLayout& layout, const LaunchGroups& groups, std::int64_t count, int cores,
        const SimulationOptions& options)
        : layout_(layout),
          groups_(groups),
          count_(count),
          cores_(cores),
          options_(options),
          next_look_(options.exact) {
        const std::vector<double> shares = groups.kind_shares();
        for (std::size_t kind = 0; kind < shares.size(); ++kind)
            instructions_ += shares[kind] * static_cast<double>(count) *
                             static_cast<double>(layout.kind_instructions[kind]);
        Cohort all;
        for (int core = 0; core < cores; ++core) all.cores.push_back(core);
        all.engine = make_engine(layout, false);
        cohorts_.push_back(std::move(all));
    }

    LaunchRun run() {
        check();
        while (true) {
            std::vector<std::size_t> free = first_with_free_slots();
            if (free.empty()) break;
            if (looks_on() && simulated_ >= next_look_) skip_middle();
            give(free);
            for (Cohort& cohort : cohorts_)
                if (!cohort.ended && cohort.time == now_) advance(cohort);
        }
        const Cohort* last = nullptr;
        for (const Cohort& cohort : cohorts_)
            if (last == nullptr || later(cohort, *last)) last = &cohort;
        LaunchRun result{.last_core = result_of(layout_, *last->engine),
                         .kinds_of_last = last->kinds};
        result.last_core.simulated = simulated_;
        if (skipped_.work > 0) add_skipped(result.last_core);
        return result;
    }

private:
    // The cohorts that have free slots first of all, and `now_`.
    std::vector<std::size_t> first_with_free_slots() {
        std::vector<std::size_t> first;
        for (std::size_t i = 0; i < cohorts_.size(); ++i) {
            if (cohorts_[i].ended) continue;
            if (first.empty() || cohorts_[i].time < now_) {
                now_ = cohorts_[i].time;
                first.clear();
            }
            if (cohorts_[i].time == now_) first.push_back(i);
        }
        return first;
    }

    // The next groups of the launch; cores of a cohort that get others leave it.
    void give(const std::vector<std::size_t>& free) {
        std::vector<std::pair<int, std::size_t>> cores;  // with their cohort
        for (const std::size_t i : free)
            for (const int core : cohorts_[i].cores) cores.emplace_back(core, i);
        std::ranges::sort(cores);
        std::map<int, std::vector<std::int32_t>> given;
        for (std::int32_t turn = 0; turn < layout_.slots && next_ < count_; ++turn)
            for (const auto& [core, i] : cores) {
                if (turn >= cohorts_[i].engine->free_slots() || next_ >= count_) continue;
                given[core].push_back(groups_.kind_of(next_++));
            }
        for (const std::size_t i : free) {
            std::map<std::vector<std::int32_t>, std::vector<int>> by_kinds;
            for (const int core : cohorts_[i].cores) by_kinds[given[core]].push_back(core);
            auto part = by_kinds.begin();
            for (auto other = std::next(part); other != by_kinds.end(); ++other) {
                Cohort fresh{.cores = other->second,
                             .engine = cohorts_[i].engine->clone(),
                             .kinds = cohorts_[i].kinds,
                             .time = now_};
                start(fresh, other->first);
                cohorts_.push_back(std::move(fresh));
            }
            cohorts_[i].cores = part->second;
            start(cohorts_[i], part->first);
        }
    }

    bool looks_on() const { return options_.estimate && !never_skip_; }

    // Instructions of so many groups, by kind.
    double instructions_of(const std::vector<double>& counts) const {
        return std::inner_product(counts.begin(), counts.end(), layout_.kind_instructions.begin(),
                                  0.0);
    }

    std::int64_t wave() const { return std::int64_t{layout_.slots} * cores_; }

    // The share of these groups' instructions that is of kinds beyond their part in the others.
    double beyond(const std::vector<double>& these, const std::vector<double>& others) const {
        const double work = instructions_of(these), other_work = instructions_of(others);
        double sum = 0;
        for (std::size_t kind = 0; kind < these.size(); ++kind)
            sum += static_cast<double>(layout_.kind_instructions[kind]) *
                   std::max(0.0, these[kind] / work - others[kind] / other_work);
        return sum;
    }

    // How far the mix of kinds in a wave is from that of all these groups: a share of instructions,
    // mean over some waves.
    double variation(std::int64_t begin, std::int64_t end) const {
        constexpr std::int64_t most_waves = 64;
        const std::int64_t waves = std::min(most_waves, (end - begin) / wave());
        if (waves < 2) return 0;
        const std::vector<double> all = groups_.kind_counts(begin, end);
        double sum = 0;
        for (std::int64_t i = 0; i < waves; ++i) {
            const std::int64_t at = begin + i * (end - begin) / waves;
            sum += beyond(groups_.kind_counts(at, at + wave()), all);
        }
        return sum / static_cast<double>(waves);
    }

    // How many ticks a group of the kind takes alone on a core.
    double time_alone(std::int32_t kind) {
        const auto engine = make_engine(layout_, false);
        engine->start_group(kind);
        while (engine->progress().ended_groups == 0 &&
               engine->advance(engine->progress().issued + checkpoint_interval)) {
        }
        simulated_ += engine->progress().issued;
        return static_cast<double>(engine->progress().now);
    }

    // How differently kinds use their time: by what they take alone, and what keeps a subsystem
    // busy longest. Nothing where some group is so long that it may outlast many others.
    std::optional<double> difference_of_kinds() {
        const std::vector<double> counts = groups_.kind_counts(0, count_);
        double differ = kinds_differ;
        std::vector<std::vector<double>> measures(3);  // by kind
        for (std::size_t kind = 0; kind < counts.size(); ++kind) {
            const double instructions = static_cast<double>(layout_.kind_instructions[kind]);
            measures[0].push_back(instructions);
            // Its own time would be too much to look for.
            if (instructions > long_group * instructions_ / static_cast<double>(count_))
                return std::nullopt;
            measures[1].push_back(time_alone(static_cast<std::int32_t>(kind)));
            std::vector<double> work = work_of_group(layout_, kind);
            for (std::size_t s = 0; s < work.size(); ++s)
                work[s] /= layout_.machine.unit_count_of(static_cast<int>(s));
            measures[2].push_back(std::ranges::max(work));
        }
        for (const std::vector<double>& measure : measures) {
            double least = std::numeric_limits<double>::infinity(), most = 0, mean = 0;
            for (std::size_t kind = 0; kind < counts.size(); ++kind) {
                const double each = measure[kind] / measures[0][kind];
                least = std::min(least, each);
                most = std::max(most, each);
                mean += measure[kind] * counts[kind] / static_cast<double>(count_);
            }
            if (std::ranges::max(measure) > long_group * mean) return std::nullopt;
            differ = std::max(differ, most / least - 1);
        }
        return differ;
    }

    // Where the cores have come to a steady rate, groups like those before are taken to run at it:
    // all but the last waves, or those up to others.
    void skip_middle() {
        next_look_ = simulated_ + options_.exact / 2;
        const std::int64_t last = count_ - waves_at_the_end * wave();
        if (!differ_ && last > next_) differ_ = difference_of_kinds();
        never_skip_ = !differ_ || last <= next_;
        if (never_skip_) return;
        const std::vector<double> before = groups_.kind_counts(like_from_, next_);
        const auto rate =
            steady_rate(points_, instructions_of(before) * static_cast<double>(wave()) /
                                     static_cast<double>(next_ - like_from_));
        if (!rate) return;
        const double varied = variation(like_from_, next_);
        const double uncertain = rate->standard_error / rate->time_each;
        const auto skipped_until = [&](std::int64_t end) {
            const std::vector<double> skipped = groups_.kind_counts(next_, end);
            const double work = instructions_of(skipped);
            // Which groups meet is another question, and where in a round of theirs the cores are.
            const double unlike =
                beyond(skipped, before) + std::max(0.0, variation(next_, end) - varied);
            return Skipped{.work = work,
                           .time = work * rate->time_each,
                           .error = work * (uncertain + unlike * *differ_) / instructions_ +
                                    rate->scatter / (instructions_ * rate->time_each)};
        };
        const double left = steady_enough - skipped_.error;
        Skipped more = skipped_until(last);
        std::int64_t end = last;
        if (more.error > left) {
            // Up to where others begin, for which a part of the error is left.
            if (more.work * uncertain / instructions_ > left / 2) return;
            end = next_;
            for (std::int64_t too_far = last; too_far - end > wave();) {
                const std::int64_t middle = end + (too_far - end) / 2;
                (skipped_until(middle).error <= left / 2 ? end : too_far) = middle;
            }
            if (end == next_) return;
            more = skipped_until(end);
        }
        skipped_.work += more.work;
        skipped_.time += more.time;
        skipped_.error += more.error;
        next_ = like_from_ = end;
        points_.clear();
        began_ = {issued_, mean_time_};
    }

    void add_skipped(SimulationResult& result) const {
        // How much later the core ends than others is chance.
        const double uneven = (static_cast<double>(result.ticks) - mean_time_) /
                              (static_cast<double>(result.ticks) + skipped_.time);
        result.ticks += std::llround(skipped_.time);
        result.cycles = layout_.machine.scale.to_cycles(result.ticks);
        result.issued = std::llround(instructions_ / cores_);
        result.groups = std::llround(static_cast<double>(count_) / cores_);
        std::vector<double> groups = groups_.kind_counts(0, count_);
        for (double& one : groups) one /= cores_;
        result.bounds = bounds_of(layout_, groups, result.ticks);
        result.estimate = EstimatedRun{
            .simulated_share = static_cast<double>(simulated_) / instructions_,
            .error =
                safety * skipped_.error + uneven +
                std::max(order_of_groups, chance_of_a_long_group(layout_, instructions_ / cores_))};
    }

    static void start(Cohort& cohort, const std::vector<std::int32_t>& kinds) {
        for (const std::int32_t kind : kinds) {
            cohort.engine->start_group(kind);
            cohort.kinds.push_back(kind);
        }
    }

    // Up to the next free slot.
    void advance(Cohort& cohort) {
        Engine& engine = *cohort.engine;
        const std::int64_t ended = engine.progress().ended_groups;
        if (engine.free_slots() == layout_.slots) {
            cohort.ended = true;
            forget_earlier(cohort);
            return;
        }
        while (engine.progress().ended_groups == ended) {
            const std::int64_t before = engine.progress().issued;
            if (!engine.advance(before + next_check_ - simulated_))
                throw InputError("deadlock: a barrier is not reached by every warp of its group");
            simulated_ += engine.progress().issued - before;
            issued_ += static_cast<double>(engine.progress().issued - before) *
                       static_cast<double>(cohort.cores.size());
            if (simulated_ >= next_check_) check();
        }
        const std::int64_t before = std::exchange(cohort.time, engine.progress().now);
        mean_time_ += static_cast<double>(cohort.time - before) *
                      static_cast<double>(cohort.cores.size()) / cores_;
        if (!looks_on() || simulated_ < next_point_) return;
        constexpr int points_before_look = 4096;
        next_point_ = simulated_ + options_.exact / points_before_look;
        points_.push_back({issued_ - began_.work, mean_time_ - began_.time});
    }

    static bool later(const Cohort& a, const Cohort& b) {
        return a.time > b.time || (a.time == b.time && a.cores.front() < b.cores.front());
    }

    // Of the cores that have ended, only the last one's result is wanted.
    void forget_earlier(Cohort& ended) {
        for (Cohort& other : cohorts_)
            if (&other != &ended && other.ended && other.engine)
                (later(ended, other) ? other : ended).engine.reset();
    }

    void check() {
        std::int64_t latest = now_;
        for (const Cohort& cohort : cohorts_)
            if (cohort.engine) latest = std::max(latest, cohort.engine->progress().now);
        const RunProgress progress = {.simulated = simulated_,
                                      .issued = static_cast<std::int64_t>(issued_),
                                      .instructions = instructions_,
                                      .groups = next_,
                                      .all_groups = count_,
                                      .cycles = layout_.machine.scale.to_cycles(latest)};
        if (options_.checkpoint) options_.checkpoint(progress);
        if (simulated_ > options_.max_simulated)
            throw LimitReached(fmt::format(
                "no answer after {} instructions issued one by one, since groups differ: {}",
                options_.max_simulated, to_text(progress)));
        for (const Cohort& cohort : cohorts_) {
            if (!cohort.engine) continue;
            limits_.check_outstanding(cohort.engine->results());
            limits_.check_outstanding(cohort.engine->waiting());
        }
        next_check_ = std::min(simulated_ + checkpoint_interval, options_.max_simulated + 1);
    }

    const CoreLayout& layout_;
    const LaunchGroups& groups_;
    std::int64_t count_;  // of groups
    int cores_;
    const SimulationOptions& options_;
    RunLimits limits_{layout_, options_};
    std::vector<Cohort> cohorts_;
    std::int64_t next_ = 0;  // group
    std::int64_t now_ = 0;   // [ticks]
    std::int64_t simulated_ = 0;
    std::int64_t next_check_ = 0;
    double issued_ = 0;        // by all cores
    double instructions_ = 0;  // of the launch
    // For an estimate.
    std::int64_t like_from_ = 0;    // group: since it, none was skipped
    RunPoint began_;                // there
    std::vector<RunPoint> points_;  // since then
    std::optional<double> differ_;  // difference_of_kinds()
    bool never_skip_ = false;
    double mean_time_ = 0;  // to which cores have come [ticks]
    std::int64_t next_look_;
    std::int64_t next_point_ = 0;
    Skipped skipped_;
};

}  // namespace

double chance_of_a_long_group(const CoreLayout& layout, double instructions) {
    constexpr double more = 5;  // as seen where half of the groups are nearly empty
    const auto [least, most] = std::ranges::minmax(layout.kind_instructions);
    return more * static_cast<double>(most - least) / instructions;
}

LaunchRun run_launch(const CoreLayout& layout, const LaunchGroups& groups, std::int64_t count,
                     int cores, const SimulationOptions& options) {
    return Run(layout, groups, count, cores, options).run();
}

}  // namespace occupipe::sim
