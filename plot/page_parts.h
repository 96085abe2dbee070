// SPDX-License-Identifier: MIT
// HTML pages: plot/page.html, a template of fmt's, with plot/page.css and plot/page.js.
#pragma once

#include "core/files/embedded.h"

namespace occupipe::plot {

std::span<const EmbeddedFile> page_parts();

}  // namespace occupipe::plot
