// SPDX-License-Identifier: MIT
// Pictures as the text of a gnuplot program.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plot/figure.h"

namespace occupipe::plot {

enum class ImageFormat { svg, png };
std::string_view extension(ImageFormat format);  // "svg"

// A gnuplot string constant that shows `text` as it is, whatever it holds: single quotes, in which
// gnuplot interprets nothing but the quote itself; control characters become blanks.
std::string gnuplot_text(std::string_view text);

// One program that writes picture i to "i.svg" or "i.png" in the working folder. Throws like
// require_drawable().
std::string gnuplot_script(std::span<const Picture> pictures, ImageFormat format);

}  // namespace occupipe::plot
