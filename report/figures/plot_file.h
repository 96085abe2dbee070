// SPDX-License-Identifier: MIT
// --plot FILE: a command's pictures as one image or one page.
#pragma once

#include <string>
#include <vector>

#include "plot/figure.h"

namespace occupipe::report {

// Before any work: throws InputError when the extension is none of svg, png and html, or the file
// exists and may not be replaced. Does nothing for an empty path.
void check_plot_file(const std::string& path, bool force);

struct PlotContent {
    std::string title;
    plot::Picture image;              // for .svg and .png
    std::vector<plot::Picture> page;  // for .html
};

// Does nothing for an empty path.
void write_plot(const std::string& path, const PlotContent& content, bool force);

}  // namespace occupipe::report
