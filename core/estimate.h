// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/doubt.h"

namespace occupipe {

// Where a number comes from.
enum class Source { measured, literature, vendor, assumed };

std::string_view to_string(Source source);
constexpr auto words(std::type_identity<Source>) {
    return std::array{Source::measured, Source::literature, Source::vendor, Source::assumed};
}

// A part of a standard error, by what it comes from.
struct ErrorTerm {
    std::string name;  // "scatter", "drift"
    double size = 0;   // in the unit of the value

    bool operator==(const ErrorTerm&) const = default;
};

// One fitted or published number: a value with its error, or a bound if the data give no more.
//
//   Estimate{.value = 0.25, .std_error = 0.0003}                             0.25 ± 0.0003
//   Estimate{.value = 12, .kind = Estimate::Kind::upper_bound, .note = "…"}  at most 12
struct Estimate {
    enum class Kind {
        value,
        upper_bound,   // the true number is at most `value`
        lower_bound,   // … at least `value`
        undetermined,  // a bound of unknown direction: files written before `bound:` without a note
    };

    double value = 0;
    std::optional<double> std_error;  // same unit as value; absent = unknown, never 0 by default
    Kind kind = Kind::value;
    std::string note;  // for people: why it is only a bound, what is doubtful, and other remarks
    std::vector<Doubt> doubts;
    // What the standard error consists of: the root of the sum of their squares. Empty where that
    // is not known.
    std::vector<ErrorTerm> error_terms;
    // Absent: that of what it belongs to (an instruction's).
    std::optional<Source> source = {};

    // Whether the data determine the value.
    bool identifiable() const { return kind == Kind::value; }
    // The same estimate in another unit.
    Estimate times(double factor) const {
        Estimate scaled = *this;
        scaled.value *= factor;
        if (scaled.std_error) *scaled.std_error *= factor;
        for (ErrorTerm& term : scaled.error_terms) term.size *= factor;
        return scaled;
    }

    bool operator==(const Estimate&) const = default;
};

void add_note(Estimate& estimate, std::string_view text);

// The note says it as well; `detail` follows the size there.
void add_doubt(Estimate& estimate, const Doubt& doubt, std::string_view detail = {});
bool has_doubt(const Estimate& estimate, Doubt::Kind kind);
// Whether the value itself is doubtful: of all doubts but at_issue_limit.
bool is_doubtful(const Estimate& estimate);

// Sizes of independent causes add up in quadrature, so that their order does not matter. What is 0
// is no term.
void add_error(Estimate& estimate, std::string_view name, double size);
// The error is no less than `least`; the term is what was missing to it.
void raise_error(Estimate& estimate, std::string_view name, double least);
// Bounds have no error.
void become_bound(Estimate& estimate, Estimate::Kind kind, double value);

// The prefix of a printed value: "" before a value, "≤ ", "≥ ", "bound ".
std::string_view sign_of(Estimate::Kind kind);
// "value", "upper bound", "lower bound", "bound of unknown direction".
std::string_view to_string(Estimate::Kind kind);

// For people: "0.2500 ± 0.0011" (both to the second digit of the error), "≤ 12.31" (a bound reads
// as one, with four digits), "0.25" (nothing known of the error; up to six digits).
std::string estimate_text(const Estimate& estimate);
// The same without the error, to the digits that it supports: "0.2500".
std::string value_text(const Estimate& estimate);

}  // namespace occupipe
