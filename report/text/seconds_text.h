// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace occupipe::report {

// For people: four digits in the largest unit of which there is one: "12.34 us", "0.2 ns".
std::string seconds_text(double seconds);

}  // namespace occupipe::report
