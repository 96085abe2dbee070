// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "sim/views/timeline.h"

namespace occupipe::sim {
namespace {

constexpr double cycle_width = 14;  // [px]
constexpr double lane_height = 16;
constexpr double left_margin = 90;
constexpr double top_margin = 30;
// Warps in turn; a colour-blind safe palette (Okabe and Ito).
constexpr std::array colours = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                "#56B4E9", "#D55E00", "#F0E442", "#999999"};

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text)
        out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
}

class Drawing {
public:
    explicit Drawing(const TimelineView& view) : view_(view), layout_(view.layout()) { place(); }

    std::string svg() {
        const double width = left_margin + (end_ + 1) * cycle_width;
        const double height = top_margin + static_cast<double>(lanes_) * lane_height + 10;
        std::string text = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
            "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"10\">\n"
            "<defs><marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"6\" "
            "markerHeight=\"6\" orient=\"auto\"><path d=\"M0,0L6,3L0,6z\" fill=\"#0000aa\"/>"
            "</marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            width, height);
        axis(text, height);
        for (std::size_t i = 0; i < view_.entries().size(); ++i) bar(text, i);
        for (std::size_t i = 0; i < view_.entries().size(); ++i) arrows(text, i);
        return text + "</svg>\n";
    }

private:
    struct Place {
        double x = 0;       // issue [px]
        double end = 0;     // completion [px]
        double middle = 0;  // of the lane [px]
    };

    double cycles(std::int64_t ticks) const { return layout_.machine.scale.to_cycles(ticks); }

    int unit_of(const TimelineView::Entry& entry) const {
        const ProgramLayout& program = layout_.programs[layout_.program_of[entry.warp]];
        return layout_.machine.unit(program.streams[entry.stream].subsystem, entry.scheduler);
    }

    // Instructions that are in a pipeline at the same time get lanes of their own.
    void place() {
        std::vector<std::vector<std::int64_t>> lanes(layout_.machine.unit_count());
        std::vector<std::pair<int, std::size_t>> lane_of;
        for (const auto& entry : view_.entries()) {
            auto& unit = lanes[unit_of(entry)];
            auto lane = std::find_if(unit.begin(), unit.end(),
                                     [&](std::int64_t free) { return free <= entry.issued; });
            if (lane == unit.end()) lane = unit.insert(unit.end(), 0);
            const std::int64_t cpi =
                layout_.programs[layout_.program_of[entry.warp]].streams[entry.stream].cpi;
            *lane = std::max(entry.completed, entry.issued + cpi);
            end_ = std::max(end_, cycles(*lane));
            lane_of.emplace_back(unit_of(entry), static_cast<std::size_t>(lane - unit.begin()));
        }
        std::vector<std::size_t> first_lane;
        for (const auto& unit : lanes) {
            first_lane.push_back(lanes_);
            lanes_ += std::max<std::size_t>(1, unit.size());
        }
        first_lane_ = first_lane;
        for (std::size_t i = 0; i < lane_of.size(); ++i) {
            const auto& entry = view_.entries()[i];
            const double lane =
                static_cast<double>(first_lane[lane_of[i].first] + lane_of[i].second);
            places_.push_back({left_margin + cycles(entry.issued) * cycle_width,
                               left_margin + cycles(entry.completed) * cycle_width,
                               top_margin + (lane + 0.5) * lane_height});
            place_of_[{entry.group, entry.warp, entry.stream, entry.instance}] = i;
        }
    }

    void axis(std::string& text, double height) const {
        for (int c = 0; c <= end_; c += 5) {
            const double x = left_margin + c * cycle_width;
            text += fmt::format(
                "<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\" stroke=\"#dddddd\"/>"
                "<text x=\"{0}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
                x, top_margin - 4, height - 6, top_margin - 10, c);
        }
        for (std::size_t s = 0; s < layout_.machine.subsystems.size(); ++s)
            text += fmt::format(
                "<text x=\"4\" y=\"{}\">{}</text>\n",
                top_margin + 12 +
                    static_cast<double>(first_lane_[layout_.machine.first_unit[s]]) * lane_height,
                escaped(layout_.machine.subsystems[s].name));
    }

    void bar(std::string& text, std::size_t i) const {
        const auto& entry = view_.entries()[i];
        const ProgramLayout& program = layout_.programs[layout_.program_of[entry.warp]];
        const Place& place = places_[i];
        const double busy = cycles(program.streams[entry.stream].cpi) * cycle_width;
        const char* colour = colours[entry.warp % colours.size()];
        const double y = place.middle - lane_height * 0.4;
        const double bar_height = lane_height * 0.8;
        text += fmt::format(
            "<g><title>group {} warp {} {} at {} until {}</title>"
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" fill-opacity=\"0.3\"/>"
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>"
            "<text x=\"{}\" y=\"{}\">{}</text></g>\n",
            entry.group, entry.warp % layout_.group_warps,
            escaped(program.program.ids[entry.stream]), cycles(entry.issued),
            cycles(entry.completed), place.x, y, place.end - place.x, bar_height, colour, place.x,
            y, busy, bar_height, colour, place.x + 2, place.middle + 3,
            escaped(program.program.ids[entry.stream]));
    }

    // From each result to the instruction that issued the moment it was there.
    void arrows(std::string& text, std::size_t i) const {
        const auto& entry = view_.entries()[i];
        const LoopProgram& program = layout_.programs[layout_.program_of[entry.warp]].program;
        const auto& stream = program.streams[entry.stream];
        for (std::int32_t e = stream.first_edge; e < stream.first_edge + stream.edge_count; ++e) {
            const std::int64_t instance = program.edges[e].required(entry.instance) - 1;
            const auto from =
                place_of_.find({entry.group, entry.warp, program.edges[e].producer, instance});
            if (from == place_of_.end()) continue;
            if (view_.entries()[from->second].completed != entry.issued) continue;
            text += fmt::format(
                "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#0000aa\" "
                "marker-end=\"url(#tip)\"/>\n",
                places_[from->second].end, places_[from->second].middle, places_[i].x,
                places_[i].middle);
        }
    }

    const TimelineView& view_;
    const CoreLayout& layout_;
    std::vector<Place> places_;  // per entry
    std::map<std::tuple<std::int64_t, std::int32_t, std::int32_t, std::int64_t>, std::size_t>
        place_of_;                         // group, warp, stream, instance → entry
    std::vector<std::size_t> first_lane_;  // per unit
    std::size_t lanes_ = 0;
    double end_ = 0;  // [cycles]
};

}  // namespace

std::string timeline_svg(const TimelineView& view) { return Drawing(view).svg(); }

}  // namespace occupipe::sim
