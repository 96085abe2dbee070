// SPDX-License-Identifier: MIT
// A web page in one file: no network, light and dark by the reader's choice, light on paper.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plot/figure.h"

namespace occupipe::plot {

// <figure> elements, one per picture; a single gnuplot process draws them. `marks` is what has to
// stand in the page once for all of them.
struct DrawnFigures {
    std::vector<std::string> figures;
    std::string marks;
};
DrawnFigures draw_inline(std::span<const Picture> pictures);

// `body` is HTML; `title` is text. Tables of class "sortable" sort by a click on a heading, an
// <input class="filter" data-target="#ID"> hides those children of ID that do not hold its text,
// and once loaded <html> says in data-figures and data-empty-figures how many figures there are and
// how many of them show nothing.
std::string page(std::string_view title, std::string_view body);

}  // namespace occupipe::plot
