// SPDX-License-Identifier: MIT
#include "tests/papers/drawings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace occupipe::papers {
namespace {

constexpr double node_width = 118;
constexpr double node_height = 34;
constexpr double gap_x = 26;
constexpr double gap_y = 34;
constexpr double margin = 24;

constexpr std::string_view head =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.6g}\" height=\"{1:.6g}\" "
    "viewBox=\"0 0 {0:.6g} {1:.6g}\" font-family=\"sans-serif\" font-size=\"11\">\n"
    "<defs><marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"6\" "
    "markerHeight=\"6\" orient=\"auto\"><path d=\"M0,0L6,3L0,6z\" fill=\"#333\"/></marker></defs>\n"
    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";

struct Node {
    const KernelInstruction* instruction = nullptr;
    int level = 0;
    int column = 0;
    double x = 0;  // middle
    double y = 0;  // top
};

class Graph {
public:
    explicit Graph(const Kernel& kernel) {
        list(kernel.warps.front().instructions);
        for (Node& node : nodes_) {
            node.column = width_of_[node.level]++;
            widest_ = std::max(widest_, width_of_[node.level]);
            levels_ = std::max(levels_, node.level + 1);
        }
        for (Node& node : nodes_) {
            const double free = widest_ - width_of_[node.level];
            node.x = margin + (node.column + free / 2 + 0.5) * (node_width + gap_x);
            node.y = margin + node.level * (node_height + gap_y);
        }
    }

    std::string svg() const {
        const double width = 2 * margin + widest_ * (node_width + gap_x) + 30;
        const double height = 2 * margin + levels_ * (node_height + gap_y) - gap_y;
        std::string text = fmt::format(fmt::runtime(head), width, height);
        for (const Node& node : nodes_) arrows(text, node, width);
        for (const Node& node : nodes_)
            text += fmt::format(
                "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{}\" height=\"{}\" rx=\"8\" "
                "fill=\"#eef3fb\" stroke=\"#0072B2\"/>\n<text x=\"{:.6g}\" y=\"{:.6g}\" "
                "text-anchor=\"middle\" font-weight=\"bold\">{}</text><text x=\"{:.6g}\" "
                "y=\"{:.6g}\" text-anchor=\"middle\">{}</text>\n",
                node.x - node_width / 2, node.y, node_width, node_height, node.x, node.y + 14,
                node.instruction->id, node.x, node.y + 28, node.instruction->op);
        return text + "</svg>\n";
    }

private:
    void list(const std::vector<KernelItem>& items) {
        for_each_instruction(items, [&](const KernelInstruction& one) {
            Node node{.instruction = &one};
            for (const Dependence& on : one.after)
                if (const auto found = by_id_.find(on.id);
                    on.iterations_back == 0 && found != by_id_.end())
                    node.level = std::max(node.level, nodes_[found->second].level + 1);
            by_id_[one.id] = nodes_.size();
            nodes_.push_back(node);
        });
    }

    void arrows(std::string& text, const Node& to, double width) const {
        for (const Dependence& on : to.instruction->after) {
            const auto found = by_id_.find(on.id);
            if (found == by_id_.end()) continue;
            const Node& from = nodes_[found->second];
            const double end = from.y + node_height;
            if (on.iterations_back > 0)  // around the right side
                text += fmt::format(
                    "<path d=\"M{0:.6g},{1:.6g} C{4:.6g},{1:.6g} {4:.6g},{3:.6g} "
                    "{2:.6g},{3:.6g}\" fill=\"none\" stroke=\"#333\" stroke-dasharray=\"4 3\" "
                    "marker-end=\"url(#tip)\"/>\n",
                    from.x + node_width / 2, from.y + node_height / 2, to.x + node_width / 2,
                    to.y + node_height / 2, width - 8);
            else
                text += fmt::format(
                    "<line x1=\"{:.6g}\" y1=\"{:.6g}\" x2=\"{:.6g}\" y2=\"{:.6g}\" "
                    "stroke=\"#333\" marker-end=\"url(#tip)\"/>\n",
                    from.x, end, to.x, to.y);
        }
    }

    std::vector<Node> nodes_;
    std::map<std::string, std::size_t> by_id_;
    std::map<int, int> width_of_;
    int widest_ = 1;
    int levels_ = 1;
};

}  // namespace

std::string graph_svg(const Kernel& kernel) { return Graph(kernel).svg(); }

std::string accesses_svg(const std::vector<std::pair<std::string, std::vector<Access>>>& lists) {
    constexpr double cycle = 22;
    constexpr double bar = 20;
    double last = 0;
    std::size_t most = 0;
    for (const auto& [name, accesses] : lists) {
        most = std::max(most, accesses.size());
        for (const Access& access : accesses) last = std::max(last, access.end);
    }
    const double block = margin + (last + 2) * cycle;
    const double height = 2 * margin + 40 + static_cast<double>(most) * (bar + 6);
    std::string text =
        fmt::format(fmt::runtime(head), static_cast<double>(lists.size()) * block + margin, height);
    for (std::size_t i = 0; i < lists.size(); ++i) {
        const double left = margin + static_cast<double>(i) * block;
        text += fmt::format("<text x=\"{:.6g}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", left,
                            margin, lists[i].first);
        for (int c = 0; c <= last; c += 2)
            text += fmt::format(
                "<line x1=\"{0:.6g}\" y1=\"{1}\" x2=\"{0:.6g}\" y2=\"{2:.6g}\" "
                "stroke=\"#dddddd\"/><text x=\"{0:.6g}\" y=\"{3:.6g}\" "
                "text-anchor=\"middle\">{4}</text>\n",
                left + c * cycle, margin + 14, height - margin - 14, height - margin, c);
        for (std::size_t a = 0; a < lists[i].second.size(); ++a) {
            const Access& access = lists[i].second[a];
            const double y = margin + 20 + static_cast<double>(a) * (bar + 6);
            text += fmt::format(
                "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{}\" rx=\"3\" "
                "fill=\"#56B4E9\" stroke=\"#0072B2\"/><text x=\"{:.6g}\" y=\"{:.6g}\">access "
                "{}</text>\n",
                left + access.start * cycle, y, (access.end - access.start) * cycle, bar,
                left + access.start * cycle + 6, y + 14, a + 1);
        }
    }
    return text + "</svg>\n";
}

}  // namespace occupipe::papers
