// SPDX-License-Identifier: MIT
// Plain pictures: series of numbers on labelled axes. Nothing here knows what they mean.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace occupipe::plot {

enum class Scale { linear, log2, log10 };

struct Tick {
    double at = 0;
    std::string label;
};

struct Axis {
    std::string label;  // with its unit
    Scale scale = Scale::linear;
    std::optional<double> low;  // absent = from the data
    std::optional<double> high;
    std::vector<Tick> ticks;  // empty = gnuplot's choice
};

struct Point {
    double x = 0;
    double y = 0;
    std::optional<double> y_error;  // half length of the bar
    std::optional<double> x_error;
    std::optional<double> y_error_above;  // of the bar's upper half, if it is not y_error
};

enum class Mark { points, line, line_and_points };

// Each style has a colour, a point shape and a dash pattern of its own, so that a picture reads
// without colours, too. `guide` is for asymptotes and reference lines.
inline constexpr int style_count = 21;
inline constexpr int guide = -1;

struct Series {
    std::string name;  // empty = not in the key
    Mark mark = Mark::points;
    int style = 0;  // guide, or 0 … style_count - 1
    std::vector<Point> points;
};

struct Label {
    double x = 0;
    double y = 0;
    std::string text;
    bool left = false;   // of the place instead of right
    bool under = false;  // it instead of over
};

// What lies outside of the axes, or a bound: which way it is from here.
struct Arrow {
    double x = 0;
    double y = 0;
    double to_x = 0;
    double to_y = 0;
    int style = guide;
};

enum class Key { top_right, top_left, bottom_right, bottom_left, outside, below, none };

struct Figure {
    std::string title;
    Axis x;
    Axis y;
    std::vector<Series> series;
    std::vector<Label> labels;
    std::vector<Arrow> arrows;
    Key key = Key::top_right;
};

// One image of one figure or more.
struct Picture {
    std::string description;  // a sentence for readers who cannot see the picture
    std::vector<Figure> panels;
    int columns = 1;
    bool first_row_alone = false;    // the first panel takes a row by itself, the others follow
    std::vector<double> row_shares;  // of the height, by row; empty = equal
    int width = 520;                 // [pixels]
    int height = 340;
};

// Throws std::runtime_error if there is nothing to draw or it cannot be drawn: no panel, a panel
// without a point, a number that is not finite, or none above zero on a logarithmic axis.
void require_drawable(const Picture& picture);

}  // namespace occupipe::plot
