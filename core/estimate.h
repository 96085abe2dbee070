// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace occupipe {

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
    std::string note;  // why it is only a bound, and other remarks

    // Whether the data determine the value.
    bool identifiable() const { return kind == Kind::value; }
    // The same estimate in another unit.
    Estimate times(double factor) const {
        Estimate scaled = *this;
        scaled.value *= factor;
        if (scaled.std_error) *scaled.std_error *= factor;
        return scaled;
    }

    bool operator==(const Estimate&) const = default;
};

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
