// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace occupipe::report {

// Which performance aspect each model takes into account, as Markdown: one row per model.
std::string model_aspect_table();

}  // namespace occupipe::report
