// SPDX-License-Identifier: MIT
#include "report/figures/fit_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/measured/curve_points.h"
#include "core/error.h"
#include "fit/profile/fit_report.h"

namespace occupipe::report {
namespace {

using plot::Figure;
using plot::Mark;
using plot::Picture;
using plot::Scale;
using plot::Series;

constexpr int measured_style = 0;
constexpr int fitted_style = 1;
constexpr int latency_style = 9;  // dashed
constexpr int more_chains_style = 7;

// The next of 1, 2, 5 times a power of ten.
double rounded_up(double value) {
    if (value <= 0) return 1;
    const double power = std::pow(10, std::floor(std::log10(value)));
    for (const double step : {1.0, 2.0, 5.0})
        if (value <= step * power) return step * power;
    return 10 * power;
}

std::string_view relation(const Estimate& e) {
    return e.identifiable() ? std::string_view("= ") : sign_of(e.kind);
}

std::string timing_text(const SubjectReport& subject) {
    const TimingFit& fit = subject.fit;
    if (subject.curve.independent)
        return fmt::format("λ {}{} cycles, Λ not measured", fit.cpi.identifiable() ? "= " : "",
                           format_estimate(fit.cpi));
    return fmt::format("λ {}{}, Λ {}{} cycles", fit.cpi.identifiable() ? "= " : "",
                       format_estimate(fit.cpi), fit.latency.identifiable() ? "= " : "",
                       format_estimate(fit.latency));
}

// Colours and dashes of their own; what does not fit is left out of the key.
constexpr std::array<int, 6> family_styles = {fitted_style, 2, 3, 4, 5, 6};

// A fitted line for each family of shapes.
std::vector<Series> fitted_lines(const SubjectReport& subject) {
    std::vector<Series> lines;
    const auto families = analysis::shape_families(subject.curve, subject.fit.predicted);
    for (const analysis::ShapeFamily& family : families) {
        const std::size_t n = lines.size();
        Series line{families.size() == 1 ? "fit" : (n == 0 ? "fit, " : "") + family.name,
                    Mark::line,
                    family_styles[n % family_styles.size()],
                    {}};
        if (n >= family_styles.size()) line.name.clear();
        for (const std::size_t i : family.places) {
            const CurvePoint& p = subject.curve.points[i];
            line.points.push_back(
                {analysis::in_flight(p), subject.fit.predicted[i] / analysis::instructions(p)});
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

// The measured points: those with the fewest chains, and those with more.
std::vector<Series> measured_points(const Curve& curve) {
    Series plain{"measured", Mark::points, measured_style, {}};
    Series more{"more chains", Mark::points, more_chains_style, {}};
    int fewest = curve.points.front().shape.chains;
    int most = fewest;
    bool several_warps = false;
    for (const CurvePoint& p : curve.points) {
        fewest = std::min(fewest, p.shape.chains);
        most = std::max(most, p.shape.chains);
        several_warps |= p.shape.warps() != curve.points.front().shape.warps();
    }
    const bool apart = several_warps && most > fewest;
    for (const std::size_t i : analysis::deepest_points(curve)) {
        const CurvePoint& p = curve.points[i];
        const double cycles = p.cycles / analysis::instructions(p);
        (apart && p.shape.chains > fewest ? more : plain)
            .points.push_back({analysis::in_flight(p), cycles, cycles * p.log_error});
    }
    std::vector<Series> all = {plain};
    if (!more.points.empty()) all.push_back(more);
    return all;
}

// The range of y that measured and fitted points take, and a margin.
struct Window {
    Scale scale = Scale::linear;
    double low = 0;
    double high = 0;

    explicit Window(const std::vector<Series>& series) : scale(analysis::scale_for(series)) {
        bool first = true;
        for (const Series& s : series)
            for (const plot::Point& p : s.points) {
                low = first ? p.y : std::min(low, p.y);
                high = first ? p.y : std::max(high, p.y);
                first = false;
            }
        constexpr double factor = 1.6;
        const double margin = std::max(0.25 * (high - low), 0.02 * high);
        const bool log = scale != Scale::linear;
        low = log ? low / factor : std::max(0.0, low - margin);
        high = log ? high * factor : high + margin;
    }
    bool has(double y) const { return y >= low && y <= high; }
    // From the border inwards by this share of the height.
    double inwards(bool from_below, double share) const {
        if (scale == Scale::linear)
            return from_below ? low + share * (high - low) : high - share * (high - low);
        const double part = std::pow(high / low, share);
        return from_below ? low * part : high / part;
    }
    double stepped(double y, bool down, double share) const {
        if (scale == Scale::linear) return y + (down ? -1 : 1) * share * (high - low);
        return y * std::pow(high / low, down ? -share : share);
    }
};

// λ as a line. Outside of the picture it is an arrow that says which way, and a bound has one in
// the direction in which the true value may lie.
void add_cpi(const Estimate& cpi, const analysis::Span& span, const Window& window,
             Figure& figure) {
    const std::string name = fmt::format("λ {}{:.4g}", relation(cpi), cpi.value);
    if (!window.has(cpi.value)) {
        const bool below = cpi.value < window.low;
        const double edge = below ? window.low : window.high;
        figure.arrows.push_back({span.high, window.inwards(below, 0.14), span.high, edge});
        figure.labels.push_back(
            {span.high, window.inwards(below, 0.14), name, /*left=*/true, /*under=*/!below});
        return;
    }
    figure.series.push_back(
        {name, Mark::line, plot::guide, {{span.low, cpi.value}, {span.high, cpi.value}}});
    const bool upper = cpi.kind == Estimate::Kind::upper_bound;
    if (!upper && cpi.kind != Estimate::Kind::lower_bound) return;
    const double end = std::clamp(window.stepped(cpi.value, upper, 0.1), window.low, window.high);
    const double at = std::sqrt(span.low * span.high);
    figure.arrows.push_back({at, cpi.value, at, end});
}

// Λ/M as a falling line, as far as it is in the picture and not far beyond the ridge.
void add_latency(const Estimate& latency, double cpi, const analysis::Span& span,
                 const Window& window, Figure& figure) {
    const std::string name = fmt::format("Λ/M, Λ {}{:.4g}", relation(latency), latency.value);
    const double ridge = cpi > 0 ? 1.5 * latency.value / cpi : span.high;
    const double end = std::min({std::max(ridge, span.low), span.high, latency.value / window.low});
    const double begin = std::max(span.low, latency.value / window.high);
    if (begin < end) {
        figure.series.push_back(
            {name, Mark::line, latency_style,
             analysis::sampled({begin, end}, [&](double m) { return latency.value / m; })});
        const bool upper = latency.kind == Estimate::Kind::upper_bound;
        if (!upper && latency.kind != Estimate::Kind::lower_bound) return;
        const double y = latency.value / begin;
        const double to = std::clamp(window.stepped(y, upper, 0.1), window.low, window.high);
        figure.arrows.push_back({begin, y, begin, to, latency_style});
        return;
    }
    const bool below = latency.value / span.low < window.low;
    if (!below && latency.value / span.low <= window.high)
        return;  // beyond the ridge from the start
    const double edge = below ? window.low : window.high;
    figure.arrows.push_back({span.low, window.inwards(below, 0.14), span.low, edge, latency_style});
    figure.labels.push_back({span.low, window.inwards(below, 0.14), name, false, !below});
}

}  // namespace

Figure hull_figure(const SubjectReport& subject) {
    const Curve& curve = subject.curve;
    Figure figure{.title = curve.label(),
                  .x = analysis::in_flight_axis(),
                  .y = {"cycles per instruction"},
                  .key = plot::Key::below};
    const std::vector<Series> measured = measured_points(curve);
    if (subject.fit.ok) {
        const analysis::Span span = analysis::span_of(curve);
        figure.series = fitted_lines(subject);
        std::vector<Series> shown = figure.series;
        shown.insert(shown.end(), measured.begin(), measured.end());
        const Window window(shown);
        figure.y.low = window.low;
        figure.y.high = window.high;
        figure.y.scale = window.scale;
        if (subject.fit.cpi.value > 0) add_cpi(subject.fit.cpi, span, window, figure);
        if (!curve.independent && subject.fit.latency.value > 0)
            add_latency(subject.fit.latency, subject.fit.cpi.value, span, window, figure);
    }
    figure.series.insert(figure.series.end(), measured.begin(), measured.end());  // over the lines
    if (!subject.fit.ok) figure.y.scale = analysis::scale_for(figure.series);
    return figure;
}

Picture hull_picture(const SubjectReport& subject) {
    Picture picture{
        .description = fmt::format(
            "{}: {}", subject.curve.label(),
            subject.fit.ok ? timing_text(subject) : "not fitted: " + subject.fit.reason),
        .panels = {hull_figure(subject)},
        .width = 440,
        .height = 270};
    if (!subject.fit.ok) return picture;
    Figure residuals{.title = "",
                     .x = analysis::in_flight_axis(),
                     .y = {"residual in %"},
                     .key = plot::Key::none};
    Series points{"", Mark::points, measured_style, {}};
    for (std::size_t i = 0; i < subject.curve.points.size(); ++i) {
        const CurvePoint& p = subject.curve.points[i];
        points.points.push_back({analysis::in_flight(p),
                                 100 * (subject.fit.predicted[i] / p.cycles - 1),
                                 100 * p.log_error});
    }
    double most = 0;
    for (const plot::Point& p : points.points)
        most = std::max(most, std::abs(p.y) + p.y_error.value_or(0));
    const double end = rounded_up(most);
    residuals.y.low = -end;
    residuals.y.high = end;
    for (const double at : {-end, 0.0, end})
        residuals.y.ticks.push_back({at, fmt::format("{:g}", at)});
    const analysis::Span span = analysis::span_of(subject.curve);
    residuals.series = {points, {"", Mark::line, plot::guide, {{span.low, 0}, {span.high, 0}}}};
    picture.panels.front().x.label = "";
    picture.panels.push_back(residuals);
    picture.row_shares = {0.64, 0.36};
    picture.height = 440;
    return picture;
}

std::string mix_verdict(const MixFit& mix) {
    if (!mix.ok) return "no verdict: " + mix.reason;
    std::string text = mix.margin < undecided_margin
                           ? fmt::format("undecided, best is {}", to_string(mix.best))
                           : std::string(to_string(mix.best));
    text += fmt::format(" (AICc margin {:.3g})", mix.margin);
    if (mix.issue_limit)
        text += mix.issue_limit->identifiable()
                    ? fmt::format(", IL = {}", format_estimate(*mix.issue_limit))
                    : fmt::format(", IL at least {:.3g}", mix.issue_limit->value);
    return text;
}

// Colours and dashes of their own.
constexpr std::array<int, mix_law_count> law_styles = {1, 9, 17, 11};
static_assert(std::ranges::max(law_styles) < plot::style_count);
constexpr std::array law_names = {"one subsystem", "two", "two with IL", "partial"};

Figure mix_figure(const MixFit& mix) {
    Figure figure{.title = fmt::format("β {}, then one {}", mix.first, mix.second),
                  .x = {"β", Scale::log2},
                  .y = {fmt::format("{} per cycle per core", mix.first)},
                  .key = plot::Key::below};
    figure.y.low = 0;
    std::map<int, std::size_t> fullest;  // by β: the point with the most in flight
    for (std::size_t i = 0; i < mix.points.size(); ++i) {
        const auto [at, fresh] = fullest.emplace(mix.points[i].beta, i);
        if (!fresh && mix.points[at->second].in_flight < mix.points[i].in_flight) at->second = i;
    }
    Series measured{"measured", Mark::points, measured_style, {}};
    for (const auto& [beta, i] : fullest) {
        const MixPoint& p = mix.points[i];
        measured.points.push_back(
            {static_cast<double>(beta), p.per_cycle, p.per_cycle * p.relative_error});
    }
    for (std::size_t law = 0; law < mix_law_count; ++law) {
        if (mix.predicted[law].empty()) continue;
        Series line{law_names[law], Mark::line, law_styles[law], {}};
        for (const auto& [beta, i] : fullest)
            line.points.push_back({static_cast<double>(beta), mix.predicted[law][i]});
        figure.series.push_back(line);
    }
    figure.series.push_back(measured);
    return figure;
}

Picture working_set_picture(const WorkingSetFit& fit) {
    Figure figure{.title = fit.subject,
                  .x = {"working set in bytes", Scale::log2},
                  .y = {"cycles per dependent access", Scale::log10},
                  .key = plot::Key::top_left};
    Series measured{"measured", Mark::points, measured_style, {}};
    for (const WorkingSetPoint& p : fit.points)
        measured.points.push_back({p.bytes, p.cycles, p.cycles * p.relative_error});
    int style = 1;
    for (const CacheLevel& level : fit.levels) {
        figure.series.push_back(
            {format_estimate(level.latency) + " cycles",
             Mark::line,
             style,
             {{level.first_bytes, level.latency.value}, {level.last_bytes, level.latency.value}}});
        style = style % 5 + 1;
    }
    figure.series.push_back(measured);
    constexpr std::array units = {"KiB", "MiB", "GiB"};
    for (std::size_t power = 0; power < 10 * units.size(); power += 4)
        figure.x.ticks.push_back({std::exp2(static_cast<double>(10 + power)),
                                  fmt::format("{} {}", 1 << power % 10, units[power / 10])});
    return {.description =
                fmt::format("{}: latency over the working set; {}.", fit.subject,
                            fit.ok() ? "lines are the plateaus that the fit found" : fit.reason),
            .panels = {figure},
            .width = 620,
            .height = 340};
}

Picture timing_map(const GpuProfile& profile) {
    Figure figure{.title = "",
                  .x = {"λ: cycles per instruction and core", Scale::log10},
                  .y = {"Λ: latency in cycles", Scale::log10},
                  .key = plot::Key::outside};
    for (const Subsystem& subsystem : profile.subsystems) {
        Series series{subsystem.name,
                      Mark::points,
                      static_cast<int>(figure.series.size()) % plot::style_count,
                      {}};
        for (const InstructionTiming& timing : profile.instructions)
            if (timing.subsystem == subsystem.name && profile.cpi_per_core(timing).value > 0 &&
                timing.latency && timing.latency->value > 0)
                series.points.push_back({profile.cpi_per_core(timing).value, timing.latency->value,
                                         timing.latency->std_error,
                                         profile.cpi_per_core(timing).std_error});
        if (!series.points.empty()) figure.series.push_back(series);
    }
    double low = 0;
    double high = 0;
    for (const Series& series : figure.series)
        for (const plot::Point& p : series.points) {
            low = low == 0 ? p.x : std::min(low, p.x);
            high = std::max(high, p.x);
        }
    if (high > low)
        figure.series.push_back({"Λ = λ", Mark::line, plot::guide, {{low, low}, {high, high}}});
    return {.description = fmt::format("λ and Λ of {} instructions of {} with standard errors, by "
                                       "subsystem. Far above the dashed line, much has to be in "
                                       "flight.",
                                       profile.instructions.size(), profile.device.name),
            .panels = {figure},
            .width = 760,
            .height = 440};
}

namespace {

// The instructions to draw, in the order of `only`.
std::vector<const SubjectReport*> chosen(const FitOutcome& outcome,
                                         const std::vector<std::string>& only) {
    std::vector<const SubjectReport*> found;
    for (const SubjectReport& subject : outcome.subjects)
        if (only.empty() && !subject.curve.points.empty()) found.push_back(&subject);
    for (const std::string& name : only) {
        const auto before = found.size();
        for (const SubjectReport& subject : outcome.subjects)
            if (subject.curve.subject == name && !subject.curve.points.empty())
                found.push_back(&subject);
        if (found.size() == before) throw InputError(name + ": no curve of it was measured");
    }
    return found;
}

// All hulls side by side.
Picture all_hulls(const FitOutcome& outcome, const std::vector<const SubjectReport*>& subjects) {
    Picture picture;
    for (const SubjectReport* subject : subjects) {
        picture.panels.push_back(hull_figure(*subject));
        picture.panels.back().x.label = "in flight per core";
    }
    const auto count = static_cast<double>(picture.panels.size());
    picture.columns = std::max(1, static_cast<int>(std::ceil(std::sqrt(count))));
    const int rows = (static_cast<int>(count) + picture.columns - 1) / picture.columns;
    picture.width = 440 * picture.columns;
    picture.height = 280 * rows;
    picture.description = fmt::format(
        "{}: cycles per instruction against the instructions in flight per core, "
        "measured and fitted, with the asymptotes λ and Λ/M.",
        outcome.profile.device.name);
    return picture;
}

}  // namespace

PlotContent fit_plot(const FitOutcome& outcome, const std::vector<std::string>& only) {
    const auto subjects = chosen(outcome, only);
    PlotContent content{
        outcome.profile.device.name + ": λ and Λ", all_hulls(outcome, subjects), {}};
    if (only.empty()) content.page.push_back(timing_map(outcome.profile));
    for (const SubjectReport* subject : subjects) content.page.push_back(hull_picture(*subject));
    if (!only.empty()) return content;
    for (const MixFit& mix : outcome.mixes)
        if (!mix.points.empty())
            content.page.push_back({.description = mix_verdict(mix), .panels = {mix_figure(mix)}});
    for (const WorkingSetFit& fit : outcome.working_sets)
        if (!fit.points.empty()) content.page.push_back(working_set_picture(fit));
    return content;
}

}  // namespace occupipe::report
