// SPDX-License-Identifier: MIT
#include "report/figures/mix_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "fit/laws/hull_law.h"

namespace occupipe::report {
namespace {

using analysis::MeasuredPoint;
using analysis::Predictor;

constexpr const char* simulated = "pipeline";  // of the models the one that is a simulation
constexpr int measured_style = 0, simulated_style = 1, first_law_style = 2;
constexpr std::size_t least_occupancies = 3;

struct MixPlace {
    int beta = 1;
    double in_flight = 1;
    std::size_t point = 0;  // the deepest
};

double throughput_of_first(const MeasuredPoint& point, int beta, double cycles) {
    const double instructions =
        point.shape.warps() * point.shape.chains * static_cast<double>(point.shape.depth);
    return instructions * beta / (beta + 1) / cycles;
}

// The laws' throughput at β; nullopt where the profile lacks a number.
using Law = std::function<std::optional<double>(double beta)>;

std::vector<std::pair<std::string, Law>> laws(const GpuProfile& profile, const Mix& mix) {
    const InstructionTiming* first = profile.find_instruction(mix.first);
    const InstructionTiming* second = profile.find_instruction(mix.second);
    if (!first || !second) return {};
    const double cpi1 = profile.cpi_per_core(*first).value;
    const double cpi2 = profile.cpi_per_core(*second).value;
    std::vector<std::pair<std::string, Law>> all = {
        {"one subsystem (43)", [=](double b) { return mix_one_subsystem(cpi1, cpi2, b); }},
        {"two subsystems (44)", [=](double b) { return mix_two_subsystems(cpi1, cpi2, b); }}};
    if (profile.issue.limit)
        all.push_back({"two with issue limit (45)", [=, limit = *profile.issue.limit](double b) {
                           return mix_with_issue_limit(cpi1, cpi2, limit, b);
                       }});
    return all;
}

struct Errors {
    double sum = 0;
    int count = 0;
    void add(double found, double real) {
        sum += std::abs(found / real - 1);
        ++count;
    }
    std::string text() const {
        return count == 0 ? "" : fmt::format(", MAPE {:.1f} %", 100 * sum / count);
    }
};

// The β at which a law is drawn, also between the measured ones: it bends where the subsystem that
// limits changes.
std::vector<double> betas_between(const std::vector<MixPlace>& places) {
    const auto [least, most] = std::ranges::minmax(places, {}, &MixPlace::beta);
    constexpr int steps = 60;
    std::vector<double> betas;
    for (int i = 0; i <= steps; ++i)
        betas.push_back(least.beta * std::pow(static_cast<double>(most.beta) / least.beta,
                                              static_cast<double>(i) / steps));
    return betas;
}

// One panel, over β or over what is in flight.
plot::Figure panel(const Mix& mix, const std::vector<MixPlace>& places,
                   const std::vector<MeasuredPoint>& points,
                   const std::vector<Predictor>& predictors, const GpuProfile& profile,
                   bool over_beta) {
    const auto x = [over_beta](const MixPlace& place) {
        return over_beta ? static_cast<double>(place.beta) : place.in_flight;
    };
    plot::Figure figure{.title = "",
                        .x = {"", plot::Scale::log2},
                        .y = {mix.first + " per cycle and core"},
                        .key = plot::Key::top_left};
    figure.y.low = 0;
    plot::Series measured{"measured", plot::Mark::points, measured_style, {}};
    std::vector<double> real;
    for (const MixPlace& place : places) {
        real.push_back(
            throughput_of_first(points[place.point], place.beta, points[place.point].cycles));
        measured.points.push_back({x(place), real.back()});
    }
    int style = first_law_style;
    for (const auto& [name, law] : laws(profile, mix)) {
        plot::Series line{name, plot::Mark::line, style++, {}};
        Errors errors;
        for (std::size_t i = 0; i < places.size(); ++i)
            if (const auto value = law(places[i].beta)) {
                if (!over_beta) line.points.push_back({x(places[i]), *value});
                errors.add(*value, real[i]);
            }
        if (over_beta && errors.count > 0)
            for (const double beta : betas_between(places))
                if (const auto value = law(beta)) line.points.push_back({beta, *value});
        line.name += errors.text();
        figure.series.push_back(line);
    }
    for (const Predictor& predictor : predictors) {
        if (predictor.name != simulated) continue;
        plot::Series line{"simulated", plot::Mark::line_and_points, simulated_style, {}};
        Errors errors;
        for (std::size_t i = 0; i < places.size(); ++i) {
            const auto& cycles = predictor.cycles[places[i].point];
            if (!cycles) continue;
            const double value =
                throughput_of_first(points[places[i].point], places[i].beta, *cycles);
            line.points.push_back({x(places[i]), value});
            errors.add(value, real[i]);
        }
        line.name += errors.text();
        if (!line.points.empty()) figure.series.push_back(line);
    }
    figure.series.push_back(measured);  // over the lines
    // Room for the key over the curves.
    constexpr double headroom = 1.7;
    double highest = 0;
    for (const plot::Series& series : figure.series)
        for (const plot::Point& point : series.points) highest = std::max(highest, point.y);
    figure.y.high = headroom * highest;
    return figure;
}

std::vector<MixPlace> places_of(const Mix& mix, const std::vector<MeasuredPoint>& points) {
    std::map<std::pair<int, double>, MixPlace> deepest;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto found = parse_mix(points[i].subject);
        if (!found || found->first != mix.first || found->second != mix.second) continue;
        const double in_flight =
            static_cast<double>(points[i].shape.warps()) * points[i].shape.chains;
        const auto [at, fresh] =
            deepest.emplace(std::pair(found->beta, in_flight), MixPlace{found->beta, in_flight, i});
        if (!fresh && points[at->second.point].shape.depth < points[i].shape.depth)
            at->second.point = i;
    }
    std::vector<MixPlace> places;
    for (const auto& [key, place] : deepest) places.push_back(place);
    return places;
}

}  // namespace

std::vector<plot::Figure> mix_curves(const std::vector<MeasuredPoint>& points,
                                     const std::vector<Predictor>& predictors,
                                     const GpuProfile& profile) {
    std::vector<plot::Figure> figures;
    std::set<std::pair<std::string, std::string>> done;
    for (const MeasuredPoint& point : points) {
        const auto mix = parse_mix(point.subject);
        if (!mix || !done.insert({mix->first, mix->second}).second) continue;
        const std::vector<MixPlace> places = places_of(*mix, points);
        std::map<int, std::vector<MixPlace>> by_beta;
        for (const MixPlace& place : places) by_beta[place.beta].push_back(place);
        const double most = std::ranges::max_element(places, {}, &MixPlace::in_flight)->in_flight;
        std::vector<MixPlace> at_most;
        for (const MixPlace& place : places)
            if (place.in_flight == most) at_most.push_back(place);
        const std::string pair = fmt::format("{} with {}", mix->first, mix->second);
        if (at_most.size() >= 2) {
            plot::Figure figure = panel(*mix, at_most, points, predictors, profile, true);
            figure.title = fmt::format("{}, {:g} in flight", pair, most);
            figure.x.label = fmt::format("β: {} for each {}", mix->first, mix->second);
            figures.push_back(std::move(figure));
        }
        const auto widest = std::ranges::max_element(
            by_beta, {}, [](const auto& entry) { return entry.second.size(); });
        if (widest->second.size() < least_occupancies) continue;
        plot::Figure figure = panel(*mix, widest->second, points, predictors, profile, false);
        figure.title = fmt::format("{}, β = {}", pair, widest->first);
        figure.x.label = "instructions in flight per core (warps × chains)";
        figures.push_back(std::move(figure));
    }
    return figures;
}

}  // namespace occupipe::report
