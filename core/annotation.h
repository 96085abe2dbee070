// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace occupipe {

// Free-form text tree: what a profile's `provenance` holds. Exactly one of the three is
// used: `text` (a scalar), `items` (a list) or `entries` (a map, in file order).
struct Annotation {
    std::string text;
    std::vector<Annotation> items;
    std::vector<std::pair<std::string, Annotation>> entries;

    bool operator==(const Annotation&) const = default;
};

}  // namespace occupipe
