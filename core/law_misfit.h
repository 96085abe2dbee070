// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace occupipe {

// The start of the note of a value whose law does not fit the measurements; the size in percent
// follows. Every table marks such values.
inline constexpr std::string_view law_misses = "the law misses the measurements by";

}  // namespace occupipe
