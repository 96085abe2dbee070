// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace occupipe {

// The start of the note of a value whose law does not fit the measurements; the size in percent
// follows. Every table marks such values.
inline constexpr std::string_view law_misses = "the law misses the measurements by";

// The same where points were measured in the order of their shapes and times drifted meanwhile: the
// drift may be an effect of occupancy that was taken out wrongly.
inline constexpr std::string_view drifts_in_order =
    "measured in the order of the shapes, and times drift by";

// The same where two instructions may stand under one name.
inline constexpr std::string_view of_two_kinds = "repetitions are of two kinds, apart by";

// Whether a value's note says one of these.
inline bool doubts_the_law(std::string_view note) {
    return note.find(law_misses) != note.npos || note.find(drifts_in_order) != note.npos ||
           note.find(of_two_kinds) != note.npos;
}

}  // namespace occupipe
