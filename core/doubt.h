// SPDX-License-Identifier: MIT
// What makes a value doubtful, as data. `fit` says it, files keep it, every table marks such
// values.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace occupipe {

struct Doubt {
    enum class Kind {
        law_misses,
        // Points were measured in the order of their shapes and times drifted meanwhile: the drift
        // may be an effect of occupancy that was taken out wrongly.
        drifts_in_order,
        // Two instructions may stand under one name.
        two_kinds,
        // The same factor lies between them whatever is in flight: a clock may have had two states.
        two_states,
        runs_disagree,
        far_off,  // of the repetitions, from their points' medians
        implausible,
        // Two kernels of one curve differ by more than the loop around the steps.
        bodies_differ,
        // Long runs are slower than short ones, or short ones end too early.
        out_of_proportion,
        // No doubt of λ as a throughput, but what the unit itself would take is not known.
        at_issue_limit,
    };

    Kind kind = Kind::law_misses;
    std::optional<double> size;  // relative, of a drift with its sign; absent where there is none

    bool operator==(const Doubt&) const = default;
};

constexpr auto words(std::type_identity<Doubt::Kind>) {
    using enum Doubt::Kind;
    return std::array{law_misses,        drifts_in_order, two_kinds,   two_states,
                      runs_disagree,     far_off,         implausible, bodies_differ,
                      out_of_proportion, at_issue_limit};
}

// "runs_disagree", as files say it.
std::string_view to_string(Doubt::Kind kind);
// "runs disagree by", without the size.
std::string_view sentence_of(Doubt::Kind kind);
// For people: "runs disagree by 12 %".
std::string doubt_text(const Doubt& doubt);

}  // namespace occupipe
