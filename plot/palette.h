// SPDX-License-Identifier: MIT
// Colours, shapes and dashes by style.
#pragma once

#include <array>
#include <string_view>

namespace occupipe::plot {

struct Colour {
    std::string_view variable;  // CSS custom property
    std::string_view light;     // on white; passed to gnuplot
    std::string_view dark;      // on near-black
};

// M. Okabe and K. Ito, "Color Universal Design" (2008): distinguishable with each common kind of
// colour blindness. Their yellow is too pale on white and is left out; grey stands for black, which
// belongs to axes and text. The dark ones are the same hues, lighter.
inline constexpr std::array<Colour, 7> series_colours = {{
    {"--blue", "#0072b2", "#5bb2e8"},
    {"--vermillion", "#d55e00", "#ff8a4c"},
    {"--green", "#009e73", "#3fd0a4"},
    {"--purple", "#cc79a7", "#e7a3c8"},
    {"--orange", "#e69f00", "#f4c04d"},
    {"--sky", "#56b4e9", "#a6dbff"},
    {"--grey", "#6b6b6b", "#b8b8b8"},
}};
inline constexpr Colour grid_colour = {"--grid", "#d9d9d9", "#3a3f46"};
inline constexpr Colour guide_colour = {"--guide", "#8a8a8a", "#8f969e"};

// gnuplot's point types: circle, square, triangle, diamond, reversed triangle, pentagon (filled),
// cross; then the open ones.
inline constexpr std::array<int, 14> point_types = {7, 5, 9, 13, 11, 15, 2, 6, 4, 8, 12, 10, 14, 1};
// gnuplot's own notation, in units of the line width; "" = solid.
inline constexpr std::array<std::string_view, 3> dashes = {"", "(9,4)", "(3,3)"};

}  // namespace occupipe::plot
