// SPDX-License-Identifier: MIT
#include "fit/profile/contradictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/statistics.h"
#include "fit/curves/counters.h"
#include "fit/curves/curve.h"
#include "fit/profile/copied_rows.h"

namespace occupipe {
namespace {

constexpr double disagreement = 0.05;  // between two runs, of the median over places
constexpr double other_unit = 50;      // factor between repetitions of one place
constexpr double too_short = 0.5;      // event time over cycles
constexpr double too_long = 50;        // … of the row with the most cycles
constexpr double other_clock = 1.2;    // event time over cycles, of what a longer run takes more

// Times by subject and place, by file; cycles where rows have them.
using Times = std::map<std::size_t, std::vector<double>>;
// Ordered by instructions in flight; those of one place have one text.
using Places = std::map<std::pair<int, std::string>, Times>;

struct RowPlace {
    MeasurementShape shape;
    double busiest = 0;
    double body = 0;
    double bytes = 0;
    double curve = 0;

    explicit RowPlace(const MeasurementRow& row) : shape(row.shape) {
        if (row.counters.empty()) return;
        busiest = counter(row, busiest_scheduler_counter).value_or(0);
        body = counter(row, body_counter).value_or(0);
        bytes = counter(row, bytes_in_flight_counter).value_or(0);
        const CurveCounters c = curve_counters(row);
        curve = c.shape_n.value_or(0) + 1e4 * c.conflict_degree.value_or(0);
    }
    bool operator==(const RowPlace&) const = default;
    std::string key(std::string_view subject) const {
        return fmt::format("{} {} {} {} {}", measurement_name(subject, shape), busiest, body, bytes,
                           curve);
    }
};

std::map<std::string, Places> times_of(std::span<const MeasurementFile> files) {
    std::map<std::string, Places> out;
    for (std::size_t f = 0; f < files.size(); ++f) {
        // The repetitions of a point mostly follow each other.
        std::string subject;
        std::optional<RowPlace> place;
        std::vector<double>* times = nullptr;
        for (const MeasurementRow& row : files[f].rows) {
            if (row.error || belongs_elsewhere(row)) continue;
            double time = row.cycles.value_or(0);
            if (!row.cycles && row.clock_hz) time = row.seconds * *row.clock_hz;
            if (!std::isfinite(time) || time <= 0) continue;
            const RowPlace here(row);
            if (!times || row.subject != subject || here != place) {
                subject = row.subject;
                place = here;
                const int in_flight = row.shape.warps() * row.shape.chains;
                times = &out[subject][{in_flight, here.key(subject)}][f];
            }
            times->push_back(time);
            if (row.repetition == 0) std::swap(times->front(), times->back());
        }
    }
    return out;
}

// Where first repetitions are slow since the device warms up, the others count.
void leave_out_warm_up(Places& places) {
    std::vector<std::vector<double>> points;
    for (const auto& [place, times] : places)
        for (const auto& [file, values] : times) points.push_back(values);
    if (!warm_up(points)) return;
    for (auto& [place, times] : places)
        for (auto& [file, values] : times)
            if (values.size() > 1) values.erase(values.begin());
}

// Which pair of files disagrees about a subject, and by how much.
void compare_runs(std::span<const MeasurementFile> files, const std::string& subject,
                  const Places& places, Contradictions& found) {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> ratios;
    for (const auto& [place, times] : places)
        for (auto a = times.begin(); a != times.end(); ++a)
            for (auto b = std::next(a); b != times.end(); ++b)
                ratios[{a->first, b->first}].push_back(
                    std::log(median(b->second) / median(a->second)));
    for (auto& [pair, logs] : ratios) {
        const std::size_t n = logs.size();
        const double middle = median(std::move(logs));
        if (std::abs(middle) < disagreement) continue;
        const double apart = std::expm1(std::abs(middle));
        double& most = found.disagreeing[subject];
        most = std::max(most, apart);
        found.notes.push_back(
            fmt::format("{}: {} and {} disagree by {:.2g} % (median of {} places)", subject,
                        files[pair.first].path, files[pair.second].path, 100 * apart, n));
    }
}

// Time is proportional to depth but for an overhead, so that at one shape cycles per step differ
// little between depths. Where they jump, some rows are in another unit.
void compare_depths(const std::string& subject, const Places& places,
                    std::vector<std::string>& out) {
    struct Range {
        double least = 0;
        double most = 0;
        double shortest = 0;  // depths
        double longest = 0;
    };
    std::map<std::string, Range> shapes;
    for (const auto& [place, times] : places) {
        const std::string word = "/depth:";
        const std::string& name = place.second;
        const auto at = name.find(word);
        if (at == name.npos) continue;
        const double depth = std::strtod(name.c_str() + at + word.size(), nullptr);
        std::vector<double> all;
        for (const auto& [file, values] : times)
            all.insert(all.end(), values.begin(), values.end());
        const double per_step = median(std::move(all)) / std::max(depth, 1.0);
        Range& range = shapes[name.substr(0, at)];
        const bool fresh = !(range.longest > 0);
        range.least = fresh ? per_step : std::min(range.least, per_step);
        range.most = std::max(range.most, per_step);
        range.shortest = fresh ? depth : std::min(range.shortest, depth);
        range.longest = std::max(range.longest, depth);
    }
    const auto several = std::ranges::count_if(
        shapes, [](const auto& s) { return s.second.longest > s.second.shortest; });
    const auto torn = std::ranges::count_if(shapes, [](const auto& s) {
        // An overhead alone makes a factor of the depths' ratio at most.
        const Range& r = s.second;
        return r.most * r.shortest > other_unit * r.least * r.longest;
    });
    if (torn > 0 && torn * 20 >= several)
        out.push_back(
            fmt::format("{}: at {} of {} shapes cycles per step differ by a factor of more than "
                        "{:g} between depths: the unit may have changed in between",
                        subject, torn, several, other_unit));
}

// What the upper of two clusters is over the lower, with `least` repetitions or more in each,
// further apart than either is wide and than runs that disagree; nullopt for one cluster.
std::optional<double> two_clusters(std::vector<double> times, std::size_t least) {
    std::ranges::sort(times);
    for (std::size_t i = least; i + least <= times.size(); ++i) {
        const double gap = std::log(times[i] / times[i - 1]);
        const double width =
            std::max(std::log(times[i - 1] / times.front()), std::log(times.back() / times[i]));
        const std::span all(times);
        if (gap > std::log1p(disagreement) && gap > width)
            return median_of_sorted(all.subspan(i)) / median_of_sorted(all.first(i));
    }
    return std::nullopt;
}

// The repetitions of one place in one file, and by what factor they are of two kinds: with two
// repetitions or more of each, and with one or more.
struct PlaceKinds {
    int in_flight = 0;
    std::size_t repetitions = 0;
    std::optional<double> by_two;
    std::optional<double> by_one;
};

// Delays make two clusters at some places; two instructions under one name do so at nearly all.
std::optional<TwoKinds> two_nearly_everywhere(std::span<const PlaceKinds> places,
                                              std::size_t fewest) {
    std::size_t several = 0;
    std::vector<double> factors;
    for (const PlaceKinds& place : places) {
        several += place.repetitions >= 4;
        if (place.by_two) factors.push_back(*place.by_two);
    }
    const std::size_t two = factors.size();
    if (two < fewest || two * 10 < several * 8) return std::nullopt;
    return TwoKinds{.places = two, .of = several, .factor = median(std::move(factors))};
}

// Few repetitions, or kinds that come by chance: as many places show both as where the rarer is a
// third of all, and everywhere by about the same factor, which delays and scatter have not.
std::optional<TwoKinds> two_by_one_factor(std::span<const PlaceKinds> places, std::size_t fewest) {
    constexpr double rarer = 0.35;
    constexpr double alike = 0.3;  // quartiles of the factors' logarithms, over their median
    double expected = 0;
    std::size_t several = 0;
    std::vector<double> factors;
    for (const PlaceKinds& place : places) {
        if (place.repetitions < 2) continue;
        const auto n = static_cast<double>(place.repetitions);
        ++several;
        expected += 1 - std::pow(rarer, n) - std::pow(1 - rarer, n);
        if (place.by_one) factors.push_back(std::log(*place.by_one));
    }
    const std::size_t two = factors.size();
    if (two < fewest || static_cast<double>(two) < expected) return std::nullopt;
    std::ranges::sort(factors);
    const double middle = median_of_sorted(factors);
    if (factors[two * 3 / 4] - factors[two / 4] > alike * middle) return std::nullopt;
    return TwoKinds{.places = two, .of = several, .factor = std::exp(middle)};
}

// Of the kinds' shares of places, what the rest has at most where only a part shows them.
constexpr double rest_has = 0.4;

// Kinds that differ in one of λ and Λ alone show at one end of the curve: at the most places from
// there on that show them, while the others mostly do not. Scatter makes no end different.
std::optional<TwoKinds> two_at_an_end(std::span<const PlaceKinds> places, TwoKinds::With with) {
    constexpr std::size_t fewest_repetitions = 45;
    constexpr std::size_t fewest = 6;
    for (std::size_t n = places.size() - 1; n >= fewest; --n) {
        const bool few = with == TwoKinds::With::few;
        const std::size_t border = few ? n : places.size() - n;
        if (places[border - 1].in_flight == places[border].in_flight) continue;
        const std::span here = few ? places.first(n) : places.last(n);
        const std::span rest = few ? places.subspan(n) : places.first(border);
        std::size_t repetitions = 0;
        for (const PlaceKinds& place : here) repetitions += place.repetitions;
        if (repetitions < fewest_repetitions) return std::nullopt;
        auto kinds = two_nearly_everywhere(here, fewest);
        if (!kinds) kinds = two_by_one_factor(here, fewest);
        if (!kinds) continue;
        const auto also = static_cast<double>(
            std::ranges::count_if(rest, [](const PlaceKinds& p) { return p.by_one.has_value(); }));
        if (also * static_cast<double>(kinds->of) >
            rest_has * static_cast<double>(kinds->places * rest.size()))
            continue;
        kinds->with = with;
        return kinds;
    }
    return std::nullopt;
}

// Whether the kinds lie as far apart with few instructions in flight as with many.
bool by_one_factor(std::span<const PlaceKinds> places) {
    constexpr double widest = 3;
    constexpr double alike = 0.1;  // of the factors' logarithms
    std::vector<double> factors;
    for (const PlaceKinds& place : places)
        if (place.by_one) factors.push_back(std::log(*place.by_one));
    const std::size_t third = factors.size() / 3;
    if (third < 3) return false;
    const std::vector<double> few(factors.begin(),
                                  factors.begin() + static_cast<std::ptrdiff_t>(third));
    const std::vector<double> many(factors.end() - static_cast<std::ptrdiff_t>(third),
                                   factors.end());
    const double middle = median(std::move(factors));
    return middle < std::log(widest) && std::abs(median(few) - median(many)) < alike * middle;
}

std::optional<TwoKinds> compare_kinds(const Places& places) {
    std::vector<PlaceKinds> all;
    for (const auto& [place, times] : places)
        for (const auto& [file, values] : times)
            all.push_back({place.first, values.size(), two_clusters(values, 2),
                           values.size() < 2 ? std::nullopt : two_clusters(values, 1)});
    if (all.empty()) return std::nullopt;
    auto kinds = two_nearly_everywhere(all, 4);
    if (!kinds) kinds = two_by_one_factor(all, 8);
    if (kinds) kinds->one_factor = by_one_factor(all);
    if (!kinds) kinds = two_at_an_end(all, TwoKinds::With::few);
    if (!kinds) kinds = two_at_an_end(all, TwoKinds::With::many);
    return kinds;
}

void compare_repetitions(const std::string& subject, const Places& places,
                         std::vector<std::string>& out) {
    std::size_t several = 0;
    std::size_t torn = 0;
    for (const auto& [place, times] : places) {
        std::vector<double> all;
        for (const auto& [file, values] : times)
            all.insert(all.end(), values.begin(), values.end());
        if (all.size() < 2) continue;
        ++several;
        const auto [low, high] = std::ranges::minmax(all);
        torn += high > other_unit * low;
    }
    compare_depths(subject, places, out);
    if (torn > 0 && torn * 20 >= several)
        out.push_back(
            fmt::format("{}: at {} of {} places repetitions differ by a factor of more "
                        "than {:g}: the unit may have changed in between",
                        subject, torn, several, other_unit));
}

// What a deeper run takes more than a shallower one of the same shape, by the event timer and the
// witnessed clock over what the counter says: the launch drops out, and one is right. Median over
// shapes; absent where no shape has two depths.
std::optional<double> timer_over_counter(const MeasurementFile& file) {
    struct TwoClocks {
        std::vector<double> cycles;
        std::vector<double> by_timer;
    };
    std::map<std::string, std::map<std::int64_t, TwoClocks>> shapes;
    for (const MeasurementRow& row : file.rows) {
        if (row.error || belongs_elsewhere(row) || !row.cycles || !row.clock_hz) continue;
        const double by_timer = row.seconds * *row.clock_hz;
        if (!(*row.cycles > 0) || !(by_timer > 0) || !std::isfinite(by_timer)) continue;
        MeasurementShape anywhere = row.shape;
        anywhere.depth = 1;
        TwoClocks& times = shapes[measurement_name(row.subject, anywhere)][row.shape.depth];
        times.cycles.push_back(*row.cycles);
        times.by_timer.push_back(by_timer);
    }
    std::vector<double> ratios;
    for (const auto& [shape, depths] : shapes) {
        const TwoClocks& shallow = depths.begin()->second;
        const TwoClocks& deep = depths.rbegin()->second;
        const double longer = median(deep.cycles) - median(shallow.cycles);
        // Below a tenth of the run the difference is mostly scatter.
        if (!(longer > 0.1 * median(deep.cycles))) continue;
        ratios.push_back((median(deep.by_timer) - median(shallow.by_timer)) / longer);
    }
    return ratios.empty() ? std::nullopt : std::optional(median(std::move(ratios)));
}

void compare_timer(const MeasurementFile& file, std::vector<std::string>& out) {
    const std::optional<double> ratio = timer_over_counter(file);
    if (!ratio || (*ratio<other_clock&& * ratio> 1 / other_clock)) return;
    out.push_back(fmt::format(
        "{}: what deeper runs take more is {:.3g} times as long by the event timer (times "
        "clock_hz) "
        "as by the cycle counter: one of counter, timer and clock is wrong, and λ and Λ may be by "
        "this factor",
        file.path, *ratio));
}

}  // namespace

Contradictions contradictions(std::span<const MeasurementFile> files) {
    Contradictions found;
    std::vector<std::string>& out = found.notes;
    std::ranges::move(copies_in(files), std::back_inserter(out));
    for (auto& [subject, places] : times_of(files)) {
        leave_out_warm_up(places);
        compare_runs(files, subject, places, found);
        compare_repetitions(subject, places, out);
        if (const auto kinds = compare_kinds(places)) {
            found.two_kinds[subject] = *kinds;
            out.push_back(fmt::format(
                "{}: at {} of {} places{} the repetitions are of two {}, {:.2g} % apart: {}",
                subject, kinds->places, kinds->of,
                kinds->with == TwoKinds::With::few    ? " with few instructions in flight"
                : kinds->with == TwoKinds::With::many ? " with many instructions in flight"
                                                      : "",
                kinds->one_factor ? "states" : "kinds", 100 * (kinds->factor - 1),
                kinds->one_factor
                    ? "the same whatever is in flight, as of a clock with two states, or of two "
                      "instructions or devices under one name"
                    : "two instructions or two devices may be under one name"));
        }
    }
    for (const MeasurementFile& file : files) {
        std::vector<double> shares;
        for (const MeasurementRow& row : file.rows)
            if (!row.error && row.cycles && row.clock_hz && *row.cycles > 0 && row.seconds > 0)
                shares.push_back(row.seconds * *row.clock_hz / *row.cycles);
        if (shares.empty()) continue;
        const std::size_t said = out.size();
        const double share = median(std::move(shares));
        const auto longest = std::ranges::max_element(file.rows, {}, [](const auto& row) {
            return row.error || !row.clock_hz || !(row.seconds > 0) ? 0 : row.cycles.value_or(0);
        });
        const double most = longest->seconds * longest->clock_hz.value_or(0) /
                            std::max(longest->cycles.value_or(0), 1.0);
        if (most > too_long)
            out.push_back(fmt::format(
                "{}: the longest run's event time is {:.3g} times the cycles that passed: is their "
                "unit right?",
                file.path, most));
        if (share < too_short)
            out.push_back(
                fmt::format("{}: event times are {:.2g} of the cycles that passed: is "
                            "their unit right?",
                            file.path, share));
        if (out.size() == said) compare_timer(file, out);
    }
    return found;
}

}  // namespace occupipe
