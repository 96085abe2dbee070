// SPDX-License-Identifier: MIT
#include "fit/curves/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>
#include <tuple>

#include "core/chain_step.h"
#include "core/instruction.h"
#include "core/row_dependence.h"
#include "core/statistics.h"
#include "fit/curves/counters.h"
#include "fit/curves/disturbances.h"

namespace occupipe {
namespace {

// The limit of trust in a clock in a kernel, however well it repeats: relative, and one
// count of the cycle counter, uniformly distributed.
constexpr double relative_floor = 1e-4;
const double uniform_deviation = 1 / std::sqrt(12.0);

// What a start skew adds to a run is known to about this part of the skew (virtual_gpu_test).
constexpr double skew_doubt = 0.2;

// Relative error given to every point when there is only one repetition of each; only ratios of
// errors matter then (fit_timing scales by the residuals).
constexpr double nominal_error = 0.01;

struct OverCores {
    const char* counter;
    std::optional<double> CurvePoint::*member;
};
constexpr std::array<OverCores, 4> over_cores_told{
    {{least_core_counter, &CurvePoint::least_core},
     {lower_quartile_counter, &CurvePoint::lower_quartile},
     {upper_quartile_counter, &CurvePoint::upper_quartile},
     {greatest_core_counter, &CurvePoint::greatest_core}}};

double at_small(std::span<const double> table, std::size_t n, double beyond) {
    return n < table.size() ? table[n] : beyond;
}

// Median of the variance of n normal values about their median, of variance one: 200,000 samples
// per n, seeded.
double median_of_variance(std::size_t n) {
    static constexpr std::array<double, 10> table{0,     0,     0.457, 0.799, 0.841,
                                                  0.924, 0.918, 0.957, 0.951, 0.972};
    return at_small(table, n, 1.0);
}

// Median absolute deviation → standard deviation, with the small-sample factors of Croux and
// Rousseeuw, "Time-efficient algorithms for two highly robust estimators of scale" (1992).
double deviation_from_mad(double mad, std::size_t n) {
    static constexpr std::array<double, 10> table{0,     0,     1.196, 1.495, 1.363,
                                                  1.206, 1.200, 1.140, 1.129, 1.107};
    const double factor = at_small(table, n, 1 + 0.8 / static_cast<double>(n));
    return mad * normal_mad * factor;
}

struct Spread {
    double variance = 0;  // of log(cycles) about the median
    double robust_variance = 0;
    std::size_t n = 0;
};

Spread spread_of(const CurvePoint& point) {
    Spread s;
    s.n = point.repetitions.size();
    std::vector<double> away;
    for (const double c : point.repetitions) {
        const double d = std::log(c / point.cycles);
        s.variance += d * d / static_cast<double>(s.n - 1);
        away.push_back(std::abs(d));
    }
    s.robust_variance = std::pow(deviation_from_mad(median(std::move(away)), s.n), 2);
    return s;
}

// Gives every point its standard error. One point's few repetitions say little about their own
// spread, so it is pulled towards the curve's (as in empirical Bayes: G. K. Smyth, "Linear models
// and empirical Bayes methods", 2004), whose estimate, a median over points, does not mind single
// wild repetitions.
void weigh(Curve& curve) {
    std::vector<double> scaled;
    std::vector<Spread> spreads(curve.points.size());
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
        if (curve.points[i].repetitions.size() < 2) continue;
        spreads[i] = spread_of(curve.points[i]);
        scaled.push_back(spreads[i].variance / median_of_variance(spreads[i].n));
    }
    curve.spread_known = !scaled.empty();
    const double pooled = curve.spread_known ? median(scaled) : nominal_error * nominal_error;
    if (curve.spread_known) curve.spread = std::sqrt(pooled);
    // Degrees of freedom that the pooled estimate stands for, and those of n repetitions' median
    // absolute deviation (efficiency 0.37).
    constexpr double prior = 4;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
        CurvePoint& point = curve.points[i];
        const std::size_t n = point.repetitions.size();
        double variance = pooled;
        if (n >= 2) {
            const double own = 0.37 * static_cast<double>(n - 1);
            variance = (prior * pooled + own * spreads[i].robust_variance) / (prior + own);
        }
        const double resolution = curve.resolution * uniform_deviation / point.cycles;
        const double skew = skew_doubt * point.skew / point.cycles;
        point.log_error =
            std::sqrt(variance * median_variance(n) + relative_floor * relative_floor +
                      resolution * resolution + skew * skew);
    }
}

// What an iteration has beside its steps, by their number: of the longest and the shortest body
// what grows with it belongs to the steps.
std::optional<double> loop_instructions(const std::map<int, double>& others) {
    if (others.empty()) return std::nullopt;
    const auto& [shortest, few] = *others.begin();
    const auto& [longest, many] = *others.rbegin();
    if (longest == shortest) return many;
    return std::max((few * longest - many * shortest) / (longest - shortest), 0.0);
}

}  // namespace

int Curve::rejected_rows() const {
    int sum = 0;
    for (const auto& [reason, count] : rejected) sum += count;
    return sum;
}

std::string Curve::rejection_summary() const {
    // Messages may carry numbers of their own, so there can be as many as rows.
    constexpr std::size_t shown = 3;
    std::string text;
    std::size_t n = 0;
    for (const auto& [reason, count] : rejected) {
        if (n++ == shown) break;
        text += fmt::format("{}{} x {}", text.empty() ? "" : "; ", count, reason);
    }
    if (rejected.size() > shown)
        text += fmt::format("; and {} more reasons", rejected.size() - shown);
    return text;
}

bool PointPlace::operator<(const PointPlace& o) const {
    const auto key = [](const PointPlace& p) {
        return std::tuple(p.shape.group_warps, p.shape.concurrent_groups, p.shape.chains, p.busiest,
                          p.bytes, p.shape.depth, p.body);
    };
    return key(*this) < key(o);
}

bool PointPlace::same_but_depth(const PointPlace& o) const {
    PointPlace at_my_depth = o;
    at_my_depth.shape.depth = shape.depth;
    at_my_depth.body = body;
    return !(*this < at_my_depth) && !(at_my_depth < *this);
}

std::string Curve::label() const {
    std::string text = subject;
    if (counters.shape_n) text += fmt::format(" [{} {:g}]", shape_n_counter, *counters.shape_n);
    if (counters.conflict_degree)
        text += fmt::format(" [{} {:g}]", conflict_degree_counter, *counters.conflict_degree);
    return text;
}

std::optional<std::string> CurveBuilder::fault_of(const MeasurementRow& row, double& cycles) {
    if (row.error) return row.error->empty() ? "failed without a message" : *row.error;
    const MeasurementShape& s = row.shape;
    if (s.group_warps < 1 || s.concurrent_groups < 1 || s.chains < 1 || s.depth < 1)
        return "a count of its shape is below one";
    if (s.chains != 1 && kind_of(row.subject) == InstructionKind::barrier)
        return "barriers in several chains; the barrier law holds for one";
    if (auto fault = counter_fault(row)) return fault;
    if (row.cycles) {
        cycles = *row.cycles;
        counts_.push_back(cycles);
    } else if (only_counted_) {
        return "event time only, where other rows of this instruction have counted cycles";
    } else if (row.clock_hz && row.seconds > 0) {
        cycles = row.seconds * *row.clock_hz;
        from_seconds_ = true;
        seconds_.push_back(row.seconds);
        highest_clock_hz_ = std::max(highest_clock_hz_, *row.clock_hz);
    } else {
        return "no cycles, and no clock to derive them from the event time";
    }
    if (!std::isfinite(cycles) || cycles <= 0) return "cycles are not positive and finite";
    return std::nullopt;
}

// What each repetition would have taken with this skew: a run that began so much later on its last
// warp ended so much later. Ascending.
std::vector<double> CurveBuilder::at_skew(const std::vector<Sample>& samples, double skew) {
    std::vector<double> cycles;
    cycles.reserve(samples.size());
    for (const Sample& s : samples) {
        const double moved = s.cycles - s.skew + skew;
        cycles.push_back(moved > 0 ? moved : s.cycles);
    }
    std::sort(cycles.begin(), cycles.end());
    return cycles;
}

void CurveBuilder::add(const MeasurementRow& row, const std::optional<ReferenceClock>& reference,
                       std::optional<double> number) {
    ++rows_;
    if (row.counters.contains(checkpoints_counter)) return add_window(row);
    double cycles = 0;
    std::optional<std::string> fault = fault_of(row, cycles);
    const bool another_clock = at_another_clock(row, reference);
    if (!fault && another_clock && leaves_core(row))
        fault = "at another core clock than the rest, and this memory has its own clock";
    if (fault) {
        ++rejected_[*fault];
        return;
    }
    if (another_clock) ++rows_at_another_clock_;
    const double busiest = counter(row, busiest_scheduler_counter).value_or(0);
    const double bytes = counter(row, bytes_in_flight_counter).value_or(0);
    const double body = counter(row, body_counter).value_or(0);
    const PointPlace place{row.shape, static_cast<int>(busiest), bytes, static_cast<int>(body)};
    if (const auto share = loop_share(row)) loop_share_ = std::max(loop_share_.value_or(0), *share);
    if (const auto stall = counter(row, other_stall_counter); stall && body > 0)
        loop_stall_ = std::max(loop_stall_.value_or(0), *stall / body);
    const auto keep_most = [&](std::optional<double>& so_far, const char* name) {
        if (const auto told = counter(row, name)) so_far = std::max(so_far.value_or(0), *told);
    };
    if (const auto told = counter(row, other_instructions_counter)) {
        double& most = other_instructions_[place.body * row.shape.chains];
        most = std::max(most, *told);
    }
    keep_most(other_stall_, other_stall_counter);
    samples_[place].push_back({cycles, counter(row, start_skew_counter).value_or(0),
                               number.value_or(rows_), row.repetition == 0});
    const double together = counter(row, warps_per_instruction_counter).value_or(1);
    warps_per_instruction_ = std::max(warps_per_instruction_, static_cast<int>(together));
    for (std::size_t i = 0; i < over_cores_told.size() && !row.counters.empty(); ++i)
        if (const auto told = counter(row, over_cores_told[i].counter)) {
            auto& over_cores = over_cores_[place];
            over_cores.resize(over_cores_told.size());
            over_cores[i].push_back(*told);
        }
    add_running(place, row, cycles);
    off_core_ |= leaves_core(row);
    access_bytes_.insert(counter(row, access_bytes_counter).value_or(0));
    row.counters.for_each([&](const std::string& name, double value) {
        if (!name.starts_with(chain_counter_prefix) || !(value > 0)) return;
        double& most = chain_[name.substr(std::string_view(chain_counter_prefix).size())];
        most = std::max(most, value);
    });
    independent_ |= !waits_for_result(row);
}

// What the row says of its warps' starts and stops; all ran all the time where it says nothing.
void CurveBuilder::add_running(const PointPlace& place, const MeasurementRow& row, double cycles) {
    if (row.counters.empty()) return;
    RunningCycles shares;
    shares.fill(1);
    bool any = false;
    for (std::size_t part = 0; part < running_parts; ++part)
        if (const auto told = counter(row, running_counter(part))) {
            shares[part] = std::clamp(*told / cycles, 0.0, 1.0);
            any = true;
        }
    if (any) running_[place].push_back(shares);
    if (const auto spread = counter(row, stop_spread_counter)) {
        StopSamples& stops = stops_[place];
        stops.spread.push_back(*spread);
        const auto order = counter(row, stop_order_counter);
        stops.correlation.push_back(order.value_or(0));
        stops.telling.push_back(order ? counter(row, stops_telling_counter).value_or(0) : 0);
    }
    const auto window = counter(row, window_cycles_counter);
    const auto completed = counter(row, window_instructions_counter);
    if (window && completed && *window > 0 && *completed > 0)
        window_cpi_[place].push_back(*window / *completed);
}

// A checkpointed kernel's row is there for its window alone.
void CurveBuilder::add_window(const MeasurementRow& row) {
    if (row.error) {
        ++rejected_[row.error->empty() ? "failed without a message" : *row.error];
        return;
    }
    const auto window = counter(row, window_cycles_counter);
    const auto completed = counter(row, window_instructions_counter);
    if (!window || !completed || !(*window > 0) || !(*completed > 0)) return;
    const auto body = static_cast<int>(counter(row, body_counter).value_or(0));
    const auto busiest = static_cast<int>(counter(row, busiest_scheduler_counter).value_or(0));
    CurveWindow one{.shape = row.shape, .busiest = busiest, .body = body};
    one.cpi = *window / *completed;
    one.error = counter(row, window_error_counter).value_or(0) / *completed;
    const auto added = counter(row, checkpoint_instructions_counter);
    const auto others = counter(row, other_instructions_counter);
    if (added && others && *others > 0 && body > 0) {
        const double parts = counter(row, checkpoints_counter).value_or(0) + 1;
        const double iterations = static_cast<double>(row.shape.depth) / body;
        one.checkpoint_share = *added * parts / (*others * iterations);
    }
    windows_[{row.shape, busiest, 0, body}].push_back(one);
}

std::vector<CurveWindow> CurveBuilder::finish_windows() const {
    std::vector<CurveWindow> out;
    for (const auto& [place, samples] : windows_) {
        std::vector<double> cpi;
        std::vector<double> errors;
        for (const CurveWindow& one : samples) {
            cpi.push_back(one.cpi);
            errors.push_back(one.error);
        }
        out.push_back(samples.front());
        out.back().cpi = median(std::move(cpi));
        out.back().error = median(std::move(errors));
    }
    return out;
}

void CurveBuilder::finish_running(const PointPlace& place, CurvePoint& point) const {
    if (const auto told = running_.find(place); told != running_.end()) {
        RunningCycles running{};
        bool apart = false;
        for (std::size_t part = 0; part < running_parts; ++part) {
            // In repetitions that say nothing all ran all the time.
            std::vector<double> values(samples_.at(place).size() - told->second.size(), 1.0);
            for (const RunningCycles& one : told->second) values.push_back(one[part]);
            const double share = median(std::move(values));
            apart |= share < 1;
            running[part] = share * point.cycles;
        }
        if (apart) point.running = running;
    }
    if (const auto stops = stops_.find(place); stops != stops_.end()) {
        point.stop_spread = median(stops->second.spread);
        point.stop_order =
            StopOrder{median(stops->second.correlation), median(stops->second.telling)};
    }
    if (const auto windows = window_cpi_.find(place); windows != window_cpi_.end())
        point.window_cpi = median(windows->second);
}

// When each point was measured, from the subject's first row to its last.
void CurveBuilder::find_places(Curve& curve) const {
    double first = std::numeric_limits<double>::infinity();
    double last = -first;
    for (const auto& [place, samples] : samples_)
        for (const Sample& s : samples) {
            first = std::min(first, s.order);
            last = std::max(last, s.order);
        }
    if (!(last > first)) return;
    const double middle = 0.5 * (first + last);
    if (last_row_) {
        curve.reach = std::max(0.5, std::max(middle - 1, *last_row_ - middle) / (last - first));
        const double all = *last_row_ - 1;
        curve.span = (last - first) / all;
        curve.middle = (middle - 1) / all - 0.5;
    }
    auto point = curve.points.begin();
    for (const auto& [place, samples] : samples_) {
        double sum = 0;
        for (const Sample& s : samples) sum += s.order;
        const double mean = sum / static_cast<double>(samples.size());
        (point++)->place = (mean - first) / (last - first) - 0.5;
    }
}

std::optional<double> CurveBuilder::find_warm_up() const {
    std::vector<std::vector<double>> points;
    for (const auto& [place, samples] : samples_) {
        std::vector<double> first;  // of each run
        std::vector<double> others;
        for (const Sample& s : samples) (s.first ? first : others).push_back(s.cycles);
        if (first.empty()) continue;
        others.insert(others.begin(), median(std::move(first)));
        points.push_back(std::move(others));
    }
    return warm_up(points);
}

// The clock's step, and what repetitions show that were measured at different times.
void CurveBuilder::look_for_disturbances(const Samples& all, Curve& curve) const {
    if (const auto step = clock_step(counts_)) curve.resolution = std::max(1.0, *step);
    if (const auto tick = clock_step(seconds_))
        curve.resolution = std::max(curve.resolution, *tick * highest_clock_hz_);
    std::vector<PointHistory> histories;
    for (const auto& [place, samples] : all) {
        PointHistory history;
        for (const Sample& s : samples) {
            history.log_times.push_back(std::log(s.cycles));
            history.order.push_back(s.order);
        }
        histories.push_back(std::move(history));
    }
    curve.wild = wild_share(histories);
    curve.in_order = measured_in_order(histories);
    if (const auto slope = repetition_slope(histories)) {
        const bool of_run = slope->over_all_rows() || curve.in_order;
        if (!of_run)
            curve.slope = slope;
        else if (slope->clear())
            curve.drift = slope->over_run;
    }
    const bool skewed =
        std::ranges::any_of(curve.points, [](const CurvePoint& p) { return p.skew > 0; });
    if (!skewed) curve.lift = one_sided_lift(histories);
}

// A start skew comes from before the timed loop and is the same at any depth. A last start that
// comes so much later the longer the run is belongs to a warp that others did not let begin: its
// wait is part of the run, and no skew.
bool CurveBuilder::skew_is_starvation() const {
    constexpr double much = 0.1;  // of the time
    constexpr double grows = 1.5;
    const auto typical = [](const std::vector<Sample>& samples, double Sample::*what) {
        std::vector<double> values;
        values.reserve(samples.size());
        for (const Sample& s : samples) values.push_back(s.*what);
        return median(std::move(values));
    };
    for (auto begin = samples_.begin(); begin != samples_.end();) {
        auto end = begin;
        auto deepest = begin;
        for (; end != samples_.end() && begin->first.same_but_depth(end->first); ++end)
            deepest = end;
        const double shallow_skew = typical(begin->second, &Sample::skew);
        const double deep_skew = typical(deepest->second, &Sample::skew);
        if (deep_skew > grows * shallow_skew &&
            deep_skew > much * typical(deepest->second, &Sample::cycles))
            return true;
        begin = end;
    }
    return false;
}

// Where many repetitions lie far off their points' medians, and nearly all of them to the long
// side, something else ran beside: of some points the median itself is then a disturbed one. What
// lies near the shortest repetition counts. Where nearly all lie to the short side runs ended too
// early, and what lies near the longest counts.
void leave_out_disturbed(Curve& curve) {
    constexpr double many = 0.1;
    constexpr double to_one_side = 0.9;
    constexpr double near = 1.2;
    if (curve.wild < many) return;
    double longer = 0;
    double shorter = 0;
    double of_few = 0;  // of points with so few repetitions that none is their majority
    for (const CurvePoint& point : curve.points)
        for (const double c : point.repetitions) {
            const double off = c / point.cycles;
            if (off < near && off > 1 / near) continue;
            (off > 1 ? longer : shorter) += 1;
            of_few += point.repetitions.size() < 3 && off < 1 ? 1 : 0;
        }
    // A minority on the other side means that most of its point were disturbed.
    const bool delays = longer >= shorter;
    if (longer + shorter - of_few < to_one_side * (longer + shorter)) return;
    if (longer + shorter == 0) return;
    for (CurvePoint& point : curve.points) {
        std::vector<double>& kept = point.repetitions;  // ascending
        const double shortest = kept.front();
        const double longest = kept.back();
        std::erase_if(kept,
                      [&](double c) { return delays ? c > near * shortest : c < longest / near; });
        point.cycles = median_of_sorted(kept);
    }
}

// With a coarse clock the median of repetitions is one of two counts; their mean is right on
// average. Repetitions further off than a step stay out of it.
void use_means_of_counts(Curve& curve) {
    if (curve.resolution <= 1) return;
    for (CurvePoint& point : curve.points) {
        double sum = 0;
        double n = 0;
        for (const double c : point.repetitions) {
            if (std::abs(c - point.cycles) > 1.01 * curve.resolution) continue;
            sum += c;
            ++n;
        }
        if (n > 0) point.cycles = sum / n;
    }
}

Curve CurveBuilder::finish(const std::string& subject, const CurveCounters& counters) && {
    Curve curve;
    curve.subject = subject;
    curve.counters = counters;
    curve.rows = rows_;
    curve.windows = finish_windows();
    curve.rejected = std::move(rejected_);
    curve.from_seconds = from_seconds_;
    curve.independent = independent_;
    curve.off_core = off_core_;
    curve.loop_share = loop_share_;
    curve.loop_stall = loop_stall_;
    curve.other_instructions = loop_instructions(other_instructions_);
    curve.other_stall = other_stall_;
    curve.chain = std::move(chain_);
    if (access_bytes_.size() == 1 && *access_bytes_.begin() > 0)
        curve.access_bytes = *access_bytes_.begin();
    curve.rows_at_another_clock = rows_at_another_clock_;
    curve.warps_per_instruction = warps_per_instruction_;
    const bool starved = skew_is_starvation();
    curve.warm_up = find_warm_up();
    Samples warm;
    if (curve.warm_up) {
        warm = samples_;
        for (auto& [place, samples] : warm)
            if (!std::ranges::all_of(samples, &Sample::first))
                std::erase_if(samples, &Sample::first);
    }
    const Samples& counted = curve.warm_up ? warm : samples_;
    curve.points.reserve(counted.size());
    for (const auto& [place, samples] : counted) {
        CurvePoint point;
        std::vector<double> skews;
        for (const Sample& s : samples) skews.push_back(s.skew);
        point.skew = median(std::move(skews));
        std::vector<double> cycles = at_skew(samples, point.skew);
        if (starved) point.skew = 0;
        point.shape = place.shape;
        point.busiest = place.busiest;
        point.bytes_in_flight = place.bytes;
        point.body = place.body;
        point.cycles = median_of_sorted(cycles);
        point.repetitions = std::move(cycles);
        if (const auto cores = over_cores_.find(place); cores != over_cores_.end())
            for (std::size_t i = 0; i < over_cores_told.size(); ++i)
                if (auto& told = cores->second[i]; !told.empty())
                    point.*over_cores_told[i].member = median(std::move(told));
        finish_running(place, point);
        curve.points.push_back(std::move(point));
    }
    find_places(curve);
    look_for_disturbances(counted, curve);
    leave_out_disturbed(curve);
    use_means_of_counts(curve);
    weigh(curve);
    return curve;
}

std::vector<Curve> curves_of(std::span<const MeasurementFile> files) {
    using Key = std::pair<std::string, CurveCounters>;
    struct NumberedRow {
        const MeasurementRow* row = nullptr;
        std::optional<ReferenceClock> clock;
        double number = 0;
    };
    std::vector<Key> order;
    std::map<Key, std::vector<NumberedRow>> rows_of;
    std::set<std::string> counted;
    for (const MeasurementFile& file : files)
        for (const MeasurementRow& row : file.rows)
            if (!row.error && row.cycles && *row.cycles > 0) counted.insert(row.subject);
    double number = 0;
    for (const MeasurementFile& file : files) {
        const std::optional<ReferenceClock> clock = reference_clock(file);
        for (const MeasurementRow& row : file.rows) {
            if (belongs_elsewhere(row)) continue;
            const Key key{row.subject, curve_counters(row)};
            const auto [it, fresh] = rows_of.try_emplace(key);
            if (fresh) order.push_back(key);
            it->second.push_back({&row, clock, ++number});
        }
    }
    std::vector<Curve> curves;
    curves.reserve(order.size());
    for (const Key& key : order) {
        CurveBuilder builder;
        if (counted.contains(key.first)) builder.only_counted();
        const auto rows = rows_of.extract(key);
        for (const NumberedRow& one : rows.mapped()) builder.add(*one.row, one.clock, one.number);
        builder.last_row(number);
        curves.push_back(std::move(builder).finish(key.first, key.second));
    }
    return curves;
}

SeveralBodies several_bodies(const Curve& curve) {
    const auto place_of = [](const CurvePoint& p) {
        return PointPlace{p.shape, p.busiest, p.bytes_in_flight, p.body};
    };
    SeveralBodies out;
    const std::vector<CurvePoint>& points = curve.points;
    for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
        std::set<int> bodies;
        for (end = begin;
             end < points.size() && place_of(points[begin]).same_but_depth(place_of(points[end]));
             ++end)
            bodies.insert(points[end].body);
        if (bodies.size() < 2 || bodies.contains(0)) continue;
        if (out.places++ > 0) continue;
        out.shortest = *bodies.begin();
        out.longest = *bodies.rbegin();
        out.chains = points[begin].shape.chains;
    }
    return out;
}

int schedulers_seen(const Curve& curve) {
    int seen = 1;
    for (const CurvePoint& p : curve.points)
        if (p.busiest > 0) seen = std::max(seen, (p.shape.warps() + p.busiest - 1) / p.busiest);
    return seen;
}

// n <= 10 from 4 million samples per n, seeded; beyond, the asymptotic π/2n with the usual
// correction.
double median_variance(std::size_t n) {
    static constexpr std::array<double, 11> table{1,      1,      0.5,    0.4485, 0.2982, 0.2870,
                                                  0.2151, 0.2105, 0.1682, 0.1662, 0.1383};
    return at_small(table, n, std::numbers::pi / (2 * static_cast<double>(n) + 1.14));
}

}  // namespace occupipe
