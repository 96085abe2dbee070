// SPDX-License-Identifier: MIT
// gnuplot's SVG images made fit for a web page: they take the page's colours and fonts.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace occupipe::plot {

std::string html_escaped(std::string_view text);

// For a file of its own: says what it shows instead of who drew it.
std::string titled_svg(const std::string& svg, std::string_view description);

// For a page: an <svg class="figure"> without header and definitions (shared_marks() holds them for
// all), black as currentColor, and each colour of the palette as its custom property. Throws
// std::runtime_error when the image is not built as gnuplot 5.4's are, holds a colour that the
// palette does not have, or no mark at all.
std::string inline_svg(const std::string& svg, std::string_view description);

// The point shapes that the figures of a page refer to; taken from any of gnuplot's images.
std::string shared_marks(const std::string& svg);

}  // namespace occupipe::plot
