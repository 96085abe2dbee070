// SPDX-License-Identifier: MIT
#include "report/figures/label_placement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace occupipe::report {
namespace {

constexpr double gap = 0.012;  // in shares of the panel

struct Box {
    double x0 = 0, x1 = 0, y0 = 0, y1 = 0;
};

double common(const Box& a, const Box& b) {
    return std::max(0.0, std::min(a.x1, b.x1) - std::max(a.x0, b.x0)) *
           std::max(0.0, std::min(a.y1, b.y1) - std::max(a.y0, b.y0));
}

struct Placed {
    double x = 0, y = 0, width = 0, height = 0;
    bool left = false, under = false;

    Box box() const {
        const double y0 = under ? y - gap / 2 - height : y + gap / 2;
        const double x0 = left ? x - gap - width : x + gap;
        return {x0, x0 + width, y0, y0 + height};
    }
    Box point() const { return {x - gap / 2, x + gap / 2, y - gap / 2, y + gap / 2}; }
};

// A name beside another one's point would be read as that point's.
double misleading(const std::vector<Placed>& all, std::size_t i) {
    const Box box = all[i].box();
    double sum = 0;
    for (std::size_t j = 0; j < all.size(); ++j) {
        if (j == i) continue;
        const Placed& other = all[j];
        sum += common(box, {other.x - 2 * gap, other.x + 2 * gap, other.y - gap, other.y + gap});
    }
    return sum;
}

double covered(const std::vector<Placed>& all, std::size_t i) {
    const Box box = all[i].box();
    const Box inside{0, 1, 0, 1};
    double sum = (box.x1 - box.x0) * (box.y1 - box.y0) - common(box, inside);
    for (std::size_t j = 0; j < all.size(); ++j) {
        if (j == i) continue;
        sum += common(box, all[j].box()) + common(box, all[j].point());
    }
    return sum;
}

// A line in shares of the panel: y = from + slope x.
struct Line {
    double from = 0, slope = 0;

    // How much of the text it crosses [shares of the panel's width].
    double through(const Box& box) const {
        const double a = (box.y0 - from) / slope, b = (box.y1 - from) / slope;
        return std::max(0.0, std::min(box.x1, b) - std::max(box.x0, a));
    }
};

}  // namespace

double place_labels(std::vector<plot::Label>& labels, const LogPanel& panel) {
    std::vector<Placed> all;
    all.reserve(labels.size());
    for (const plot::Label& label : labels)
        all.push_back({std::log(label.x / panel.left) / std::log(panel.right / panel.left),
                       std::log(label.y / panel.bottom) / std::log(panel.top / panel.bottom),
                       panel.letter_width * static_cast<double>(label.text.size()),
                       panel.letter_height});
    const double width = std::log(panel.right / panel.left);
    const double height = std::log(panel.top / panel.bottom);
    std::vector<Line> lines;
    for (const double slope : panel.slopes)
        lines.push_back({std::log(slope * panel.left / panel.bottom) / height, width / height});
    // A line over a text leaves it readable: it counts less than another text.
    const auto crossed = [&](const Placed& one) {
        double sum = 0;
        for (const Line& line : lines) sum += line.through(one.box());
        return 0.2 * panel.letter_height * sum;
    };
    constexpr int passes = 20;  // labels that yield to each other settle within a few
    for (int pass = 0; pass < passes; ++pass) {
        bool moved = false;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Placed before = all[i];
            Placed best = before;
            double least = std::numeric_limits<double>::infinity();
            for (const bool left : {before.left, !before.left})
                for (const bool under : {before.under, !before.under}) {
                    all[i].left = left;
                    all[i].under = under;
                    const double cost = covered(all, i) + misleading(all, i) + crossed(all[i]);
                    if (cost < least - 1e-12) {
                        least = cost;
                        best = all[i];
                    }
                }
            all[i] = best;
            moved = moved || best.left != before.left || best.under != before.under;
        }
        if (!moved) break;
    }
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        labels[i].left = all[i].left;
        labels[i].under = all[i].under;
        sum += covered(all, i);
    }
    return sum / (panel.letter_width * panel.letter_height);
}

}  // namespace occupipe::report
