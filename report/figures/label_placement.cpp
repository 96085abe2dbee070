// SPDX-License-Identifier: MIT
#include "report/figures/label_placement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace occupipe::report {
namespace {

// In shares of the panel, at the size in which it is drawn (1000 × 560 pixels with the key
// outside).
constexpr double letter_width = 0.012, letter_height = 0.03, gap = 0.012;

struct Box {
    double x0 = 0, x1 = 0, y0 = 0, y1 = 0;
};

double common(const Box& a, const Box& b) {
    return std::max(0.0, std::min(a.x1, b.x1) - std::max(a.x0, b.x0)) *
           std::max(0.0, std::min(a.y1, b.y1) - std::max(a.y0, b.y0));
}

struct Placed {
    double x = 0, y = 0, width = 0;
    bool left = false, under = false;

    Box box() const {
        const double y0 = under ? y - gap / 2 - letter_height : y + gap / 2;
        const double x0 = left ? x - gap - width : x + gap;
        return {x0, x0 + width, y0, y0 + letter_height};
    }
    Box point() const { return {x - gap / 2, x + gap / 2, y - gap / 2, y + gap / 2}; }
};

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

}  // namespace

double place_labels(std::vector<plot::Label>& labels, const LogPanel& panel) {
    std::vector<Placed> all;
    all.reserve(labels.size());
    for (const plot::Label& label : labels)
        all.push_back({std::log(label.x / panel.left) / std::log(panel.right / panel.left),
                       std::log(label.y / panel.bottom) / std::log(panel.top / panel.bottom),
                       letter_width * static_cast<double>(label.text.size())});
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
                    const double cost = covered(all, i);
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
    return sum / (letter_width * letter_height);
}

}  // namespace occupipe::report
