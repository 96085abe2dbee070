// SPDX-License-Identifier: MIT
#include "report/figures/occupancy_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/measured/curve_points.h"

namespace occupipe::report {
namespace {

using plot::Mark;
using plot::Series;

Series measured_throughput(const SubjectReport& subject, int style) {
    Series series{"", Mark::points, style, {}};
    for (const std::size_t i : analysis::deepest_points(subject.curve)) {
        const CurvePoint& p = subject.curve.points[i];
        const double rate = analysis::instructions(p) / p.cycles;
        series.points.push_back({analysis::in_flight(p), rate, rate * p.log_error});
    }
    return series;
}

plot::Figure throughput_figure() {
    return {.title = "",
            .x = analysis::in_flight_axis(),
            .y = {"instructions per cycle and core", plot::Scale::log10},
            .key = plot::Key::outside};
}

}  // namespace

plot::Picture occupancy_picture(const std::vector<const SubjectReport*>& subjects) {
    plot::Figure figure = throughput_figure();
    int style = 0;
    for (const SubjectReport* s : subjects) {
        const double cpi = s->fit.cpi.value;
        const double latency = s->fit.latency.value;
        if (cpi > 0 && latency > 0)
            figure.series.push_back(
                {fmt::format("{} ({})", s->curve.label(), s->subsystem), Mark::line, style,
                 analysis::sampled(analysis::span_of(s->curve),
                                   [&](double m) { return std::min(m / latency, 1 / cpi); })});
        figure.series.push_back(measured_throughput(*s, style));
        style = (style + 1) % plot::style_count;
    }
    return {.description =
                "Occupancy rooflines: throughput min(M/Λ, 1/λ) over the M instructions "
                "in flight (lines) and measured (points).",
            .panels = {figure},
            .width = 860,
            .height = 440};
}

plot::Picture contention_picture(const SubjectReport& subject) {
    plot::Figure figure = throughput_figure();
    figure.title = subject.curve.label();
    figure.key = plot::Key::bottom_right;
    const double cpi = subject.fit.cpi.value;
    const double latency = subject.fit.latency.value;
    const double growth = subject.fit.contention ? subject.fit.contention->value : 0;
    const analysis::Span span = analysis::span_of(subject.curve);
    if (latency > 0) {
        const double roof = cpi > 0 ? 1 / cpi : span.high / latency;
        figure.series.push_back(
            {fmt::format("Λ = {:.4g}", latency), Mark::line, plot::guide,
             analysis::sampled(span, [&](double m) { return std::min(m / latency, roof); })});
        if (growth > 0)
            figure.series.push_back({fmt::format("Λ = {:.4g} + {:.3g}·(M−1)", latency, growth),
                                     Mark::line, 1, analysis::sampled(span, [&](double m) {
                                         return std::min(m / (latency + growth * (m - 1)), roof);
                                     })});
    }
    figure.series.push_back(measured_throughput(subject, 0));
    figure.series.back().name = "measured";
    const std::string verdict =
        growth > 0 ? fmt::format(
                         "Λ grows by {:.3g} cycles with each further instruction in flight; "
                         "dashed: without the growth",
                         growth)
                   : "no growth of Λ found";
    return {.description = fmt::format("{}: {}.", subject.curve.label(), verdict),
            .panels = {figure},
            .width = 440,
            .height = 300};
}

}  // namespace occupipe::report
