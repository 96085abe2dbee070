// SPDX-License-Identifier: MIT
#include "report/timelines/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/machine/core_layout.h"
#include "sim/observers/lanes.h"

namespace occupipe::report {
namespace {

using sim::CoreLayout;
using sim::Lanes;
using sim::LoopProgram;
using sim::ProgramLayout;
using sim::TimelineView;

// [px]
constexpr double widest_cycle = 14;
constexpr double narrowest_cycle = 4;
constexpr double widest_picture = 2400;
constexpr double least_picture = 520;  // the legend's first line
constexpr double lane_height = 16;
constexpr double left_margin = 90;
constexpr double right_margin = 20;
constexpr double character = 5.6;  // of the labels' font, about
constexpr double legend_row = 16;
constexpr std::size_t legend_names = 64;
// The first warps; a colour-blind safe palette (Okabe and Ito).
constexpr std::array colours = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                "#56B4E9", "#D55E00", "#F0E442", "#999999"};

// Further ones: steps of the golden angle around the colour circle come back to no earlier hue.
std::string colour(std::size_t number) {
    if (number < colours.size()) return colours[number];
    const double hue = std::fmod(static_cast<double>(number) * 137.508, 360);
    const int lightness = 40 + static_cast<int>(number % 3) * 13;
    return fmt::format("hsl({:.1f},65%,{}%)", hue, lightness);
}

// 1, 2, 5, 10, … cycles, so that the axis' numbers do not touch.
int axis_step(double cycle_width) {
    for (int power = 1;; power *= 10)
        for (const int digit : {1, 2, 5})
            if (digit * power * cycle_width >= 48) return digit * power;
}

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text)
        out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
}

class Drawing {
public:
    explicit Drawing(const TimelineView& view)
        : view_(view), layout_(view.layout()), names_(view.instance_names()) {
        for (const auto& entry : view.entries())
            warps_.emplace(std::pair(entry.group, entry.warp), warps_.size());
        scale();
        place();
    }

    std::string svg() {
        const double width = right() + right_margin;
        const double height = top_ + static_cast<double>(lane_count_) * lane_height + 10;
        std::string text = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.6g}\" height=\"{1:.6g}\" "
            "viewBox=\"0 0 {0:.6g} {1:.6g}\" font-family=\"sans-serif\" font-size=\"10\">\n"
            "<defs><marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"6\" "
            "markerHeight=\"6\" orient=\"auto\"><path d=\"M0,0L6,3L0,6z\" fill=\"#0000aa\"/>"
            "</marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            width, height);
        legend(text);
        axis(text, height);
        for (std::size_t i = 0; i < places_.size(); ++i) bar(text, i);
        for (std::size_t i = 0; i < places_.size(); ++i) arrows(text, i);
        return text + "</svg>\n";
    }

private:
    struct Place {
        double x = 0;       // issue [px]
        double end = 0;     // completion [px]
        double middle = 0;  // of the lane [px]
    };

    double right() const { return left_margin + shown_ * cycle_width_; }

    std::string warp_name(std::int64_t group, std::int32_t warp) const {
        return fmt::format("g{} w{}", group, warp % layout_.group_warps);
    }

    // How many cycles are drawn, and how wide each is.
    void scale() {
        double all = 1;
        for (const auto& entry : view_.entries())
            all = std::max(all, cycles(std::max(entry.completed, entry.issued + cpi(entry))));
        const double room = widest_picture - left_margin - right_margin;
        cycle_width_ = std::clamp(room / all, narrowest_cycle, widest_cycle);
        shown_ = std::min(std::ceil(all), std::floor(room / cycle_width_));
        cut_ = shown_ < all;
        recorded_ = all;
        // The legend's names in rows across the picture, which is never narrower than one column.
        column_ = 14.0;
        for (const auto& [warp, number] : warps_) {
            if (number >= legend_names) continue;
            const auto length = static_cast<double>(warp_name(warp.first, warp.second).size());
            column_ = std::max(column_, 28 + character * length);
        }
        shown_ = std::max(shown_, std::ceil((least_picture - left_margin) / cycle_width_));
        columns_ = std::max<std::size_t>(1, static_cast<std::size_t>((right() - 4) / column_));
        const std::size_t names = std::min(warps_.size(), legend_names);
        const std::size_t rows = (names + columns_ - 1) / columns_ + 1;
        top_ = static_cast<double>(rows) * legend_row + 40;
    }

    void legend(std::string& text) const {
        std::string line =
            "solid: occupies the pipeline (λ), pale: until its result is there (Λ), arrow: waited "
            "for that result";
        if (warps_.size() > legend_names)
            line += fmt::format("; {} more warps are not named", warps_.size() - legend_names);
        text += fmt::format("<text x=\"4\" y=\"12\">{}</text>\n", line);
        for (const auto& [warp, number] : warps_) {
            if (number >= legend_names) continue;
            const double x = 4 + static_cast<double>(number % columns_) * column_;
            const std::size_t row = 1 + number / columns_;
            const double y = static_cast<double>(row) * legend_row;
            text += fmt::format(
                "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"10\" height=\"10\" fill=\"{}\"/>"
                "<text x=\"{:.6g}\" y=\"{:.6g}\">{}</text>\n",
                x, y + 2, colour(number), x + 14, y + 11, warp_name(warp.first, warp.second));
        }
    }

    double cycles(std::int64_t ticks) const { return layout_.machine.scale.to_cycles(ticks); }

    int unit_of(const TimelineView::Entry& entry) const {
        const ProgramLayout& program = layout_.programs[layout_.program(entry.warp, entry.group)];
        return layout_.machine.unit(program.streams[entry.stream].subsystem, entry.scheduler);
    }

    std::int64_t cpi(const TimelineView::Entry& entry) const {
        return layout_.programs[layout_.program(entry.warp, entry.group)].streams[entry.stream].cpi;
    }

    // Instructions that are in a pipeline at the same time get lanes of their own.
    void place() {
        Lanes lanes(layout_.machine.unit_count());
        std::vector<std::pair<int, std::size_t>> lane_of;
        for (const auto& entry : view_.entries()) {
            if (cycles(entry.issued) >= shown_) break;  // they come by issue
            lane_of.emplace_back(unit_of(entry),
                                 lanes.take(unit_of(entry), entry.issued,
                                            std::max(entry.completed, entry.issued + cpi(entry))));
        }
        for (int unit = 0; unit < layout_.machine.unit_count(); ++unit) {
            first_lane_.push_back(lane_count_);
            lane_count_ += std::max<std::size_t>(1, lanes.count(unit));
        }
        for (std::size_t i = 0; i < lane_of.size(); ++i) {
            const auto& entry = view_.entries()[i];
            const auto lane =
                static_cast<double>(first_lane_[lane_of[i].first] + lane_of[i].second);
            places_.push_back({x_of(cycles(entry.issued)), x_of(cycles(entry.completed)),
                               top_ + (lane + 0.5) * lane_height});
            place_of_[{entry.group, entry.warp, entry.stream, entry.instance}] = i;
        }
    }

    double x_of(double cycle) const { return left_margin + std::min(cycle, shown_) * cycle_width_; }

    void axis(std::string& text, double height) const {
        const int step = axis_step(cycle_width_);
        for (int c = 0; c <= shown_; c += step) {
            const double x = x_of(c);
            text += fmt::format(
                "<line x1=\"{0:.6g}\" y1=\"{1:.6g}\" x2=\"{0:.6g}\" y2=\"{2:.6g}\" "
                "stroke=\"#dddddd\"/>"
                "<text x=\"{0:.6g}\" y=\"{3:.6g}\" text-anchor=\"middle\">{4}</text>\n",
                x, top_ - 4, height - 6, top_ - 8, c);
        }
        text += fmt::format("<text x=\"4\" y=\"{:.6g}\">cycle</text>\n", top_ - 8);
        if (cut_)
            text += fmt::format(
                "<text x=\"{:.6g}\" y=\"{:.6g}\" text-anchor=\"end\" fill=\"#aa0000\">cut off "
                "after {:.0f} of {:.6g} recorded cycles</text>\n",
                right(), top_ - 22, shown_, recorded_);
        for (std::size_t s = 0; s < layout_.machine.subsystems.size(); ++s)
            text += fmt::format(
                "<text x=\"4\" y=\"{:.6g}\">{}</text>\n",
                top_ + 12 +
                    static_cast<double>(first_lane_[layout_.machine.first_unit[s]]) * lane_height,
                escaped(layout_.machine.subsystems[s].name));
    }

    void bar(std::string& text, std::size_t i) const {
        const auto& entry = view_.entries()[i];
        const Place& place = places_[i];
        const double busy = x_of(cycles(entry.issued + cpi(entry))) - place.x;
        const std::string fill = colour(warps_.at({entry.group, entry.warp}));
        const double y = place.middle - lane_height * 0.4;
        const double bar_height = lane_height * 0.8;
        const std::string name = escaped(names_[i]);
        text += fmt::format(
            "<g><title>group {} warp {} {} at {:.6g} until {:.6g}</title>"
            "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" fill=\"{}\" "
            "fill-opacity=\"0.3\"/>"
            "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" fill=\"{}\"/>",
            entry.group, entry.warp % layout_.group_warps, name, cycles(entry.issued),
            cycles(entry.completed), place.x, y, place.end - place.x, bar_height, fill, place.x, y,
            busy, bar_height, fill);
        // A name that would run over the next bar is left to the title.
        const double room = std::max(place.end - place.x, busy);
        if (room >= 4 + character * static_cast<double>(names_[i].size()))
            text += fmt::format("<text x=\"{:.6g}\" y=\"{:.6g}\">{}</text>", place.x + 2,
                                place.middle + 3, name);
        text += "</g>\n";
    }

    // From each result to the instruction that issued the moment it was there.
    void arrows(std::string& text, std::size_t i) const {
        const auto& entry = view_.entries()[i];
        const LoopProgram& program =
            layout_.programs[layout_.program(entry.warp, entry.group)].program;
        const auto& stream = program.streams[entry.stream];
        for (std::int32_t e = stream.first_edge; e < stream.first_edge + stream.edge_count; ++e) {
            const std::int64_t instance = program.edges[e].required(entry.instance) - 1;
            const auto from =
                place_of_.find({entry.group, entry.warp, program.edges[e].producer, instance});
            if (from == place_of_.end()) continue;
            if (view_.entries()[from->second].completed != entry.issued) continue;
            text += fmt::format(
                "<line x1=\"{:.6g}\" y1=\"{:.6g}\" x2=\"{:.6g}\" y2=\"{:.6g}\" stroke=\"#0000aa\" "
                "marker-end=\"url(#tip)\"/>\n",
                places_[from->second].end, places_[from->second].middle, places_[i].x,
                places_[i].middle);
        }
    }

    const TimelineView& view_;
    const CoreLayout& layout_;
    std::vector<std::string> names_;                                      // per entry
    std::map<std::pair<std::int64_t, std::int32_t>, std::size_t> warps_;  // group, warp → number
    std::vector<Place> places_;                                           // per entry drawn
    std::map<std::tuple<std::int64_t, std::int32_t, std::int32_t, std::int64_t>, std::size_t>
        place_of_;                         // group, warp, stream, instance → entry
    std::vector<std::size_t> first_lane_;  // per unit
    std::size_t lane_count_ = 0;
    double cycle_width_ = widest_cycle;  // [px]
    double shown_ = 0;                   // [cycles]
    double recorded_ = 0;                // [cycles]
    bool cut_ = false;
    double top_ = 0;  // [px]
    double column_ = 0;
    std::size_t columns_ = 1;
};

}  // namespace

std::string timeline_svg(const sim::TimelineView& view) { return Drawing(view).svg(); }

}  // namespace occupipe::report
