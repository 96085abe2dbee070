// SPDX-License-Identifier: MIT
// On which side of its point each label of a crowded picture stands.
#pragma once

#include <vector>

#include "plot/figure.h"

namespace occupipe::report {

// Both axes logarithmic.
struct LogPanel {
    double left = 0;
    double right = 0;
    double bottom = 0;
    double top = 0;
    // Of a letter and a line of text, in shares of the panel; as drawn at 1000 x 560 pixels with
    // the key outside.
    double letter_width = 0.012;
    double letter_height = 0.03;
    // Lines y = slope x that texts should not lie on.
    std::vector<double> slopes = {};
};

// Sets `left` and `under` so that texts cover each other, other points and the panel's border as
// little as four places per label allow, and lie on few lines. Returns how much is still covered,
// lines aside: the sum of the covered areas in units of one letter's; 0 where all texts can be
// read.
double place_labels(std::vector<plot::Label>& labels, const LogPanel& panel);

}  // namespace occupipe::report
