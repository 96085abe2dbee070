// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace occupipe {

// One fitted or published number. An estimate that the data do not determine
// has `identifiable == false`: `value` is then the bound that the data give and
// `note` says which (for a latency, usually "upper bound").
struct Estimate {
    double value = 0;
    std::optional<double> std_error;  // same unit as value; absent = unknown, never 0 by default
    bool identifiable = true;
    std::string note;

    bool operator==(const Estimate&) const = default;
};

}  // namespace occupipe
