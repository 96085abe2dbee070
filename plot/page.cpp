// SPDX-License-Identifier: MIT
#include "plot/page.h"

#include <fmt/format.h>

#include "plot/draw.h"
#include "plot/page_parts.h"
#include "plot/palette.h"
#include "plot/svg.h"

namespace occupipe::plot {
namespace {

std::string colours(bool dark) {
    std::string text =
        dark ? "--paper: #14171a; --ink: #e6e8ea; --muted: #a3abb3; --tint: #2b2119; "
             : "--paper: #ffffff; --ink: #1b1f23; --muted: #5b646d; --tint: #fdf1e7; ";
    for (const Colour& c : series_colours)
        text += fmt::format("{}: {}; ", c.variable, dark ? c.dark : c.light);
    for (const Colour& c : {grid_colour, guide_colour})
        text += fmt::format("{}: {}; ", c.variable, dark ? c.dark : c.light);
    return text;
}

}  // namespace

DrawnFigures draw_inline(std::span<const Picture> pictures) {
    DrawnFigures drawn;
    if (pictures.empty()) return drawn;
    const std::vector<std::string> images = draw(pictures, ImageFormat::svg);
    drawn.marks = shared_marks(images.front());
    for (std::size_t i = 0; i < images.size(); ++i)
        drawn.figures.push_back(fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n",
                                            inline_svg(images[i], pictures[i].description),
                                            html_escaped(pictures[i].description)));
    return drawn;
}

std::string page(std::string_view title, std::string_view body) {
    // The template is the text behind its first, empty line.
    return fmt::format(fmt::runtime(embedded(page_parts(), "plot/page.html").substr(1)),
                       html_escaped(title), colours(false), colours(true),
                       embedded(page_parts(), "plot/page.css"), body,
                       embedded(page_parts(), "plot/page.js"));
}

}  // namespace occupipe::plot
