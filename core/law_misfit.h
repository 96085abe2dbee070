// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace occupipe {

// How the note of a value begins whose law does not fit what was measured; the size in percent
// follows. Every table marks such values.
inline constexpr std::string_view law_misses = "the law misses the measurements by";

}  // namespace occupipe
