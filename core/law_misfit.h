// SPDX-License-Identifier: MIT
// What makes a value doubtful: the beginnings of the notes that say so, most of them followed by a
// size in percent. Every table marks such values.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/estimate.h"

namespace occupipe {

inline constexpr std::string_view law_misses = "the law misses the measurements by";

// Points were measured in the order of their shapes and times drifted meanwhile: the drift may be
// an effect of occupancy that was taken out wrongly.
inline constexpr std::string_view drifts_in_order =
    "measured in the order of the shapes, and times drift by";

// Two instructions may stand under one name.
inline constexpr std::string_view of_two_kinds = "repetitions are of two kinds, apart by";

// Two kernels of one curve differ by more than the loop around the steps.
inline constexpr std::string_view bodies_differ = "loop bodies of two lengths differ in speed by";

// Long runs are slower than short ones, or short ones end too early.
inline constexpr std::string_view out_of_proportion = "times are not in proportion to depth, by";

// The same factor lies between them whatever is in flight: a clock may have had two states.
inline constexpr std::string_view of_two_states = "times are of two states, apart by";

inline constexpr std::string_view runs_disagree = "runs disagree by";

inline constexpr std::string_view far_off = "repetitions far off their points' medians:";

inline constexpr std::string_view implausible = "implausible for plain arithmetic";

// Whether a value's note says one of these.
inline bool doubts_the_law(std::string_view note) {
    constexpr std::array all = {law_misses,    drifts_in_order, of_two_kinds,
                                of_two_states, runs_disagree,   far_off,
                                implausible,   bodies_differ,   out_of_proportion};
    return std::ranges::any_of(all,
                               [&](std::string_view one) { return note.find(one) != note.npos; });
}

// No doubt of λ as a throughput, but what the unit itself would take is not known.
inline constexpr std::string_view at_issue_limit =
    "at the issue limit: the unit itself may be faster";

inline bool is_at_issue_limit(const Estimate& cpi) {
    return cpi.note.find(at_issue_limit) != cpi.note.npos;
}

inline void add_note(Estimate& estimate, std::string_view text) {
    estimate.note.append(estimate.note.empty() ? "" : "; ").append(text);
}

}  // namespace occupipe
