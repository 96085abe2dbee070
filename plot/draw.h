// SPDX-License-Identifier: MIT
// Pictures drawn by gnuplot, which has to be installed where the program runs.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "plot/figure.h"
#include "plot/gnuplot_script.h"

namespace occupipe::plot {

// The images' bytes, in the order of the pictures; one gnuplot process draws them all. Throws
// std::runtime_error: gnuplot is not installed (naming the package), it failed, or like
// require_drawable().
std::vector<std::string> draw(std::span<const Picture> pictures, ImageFormat format);

}  // namespace occupipe::plot
