// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace occupipe {

struct AnnotationEntry;

// Free-form text tree: what a profile's `provenance` holds. Exactly one of the three is
// used: `text` (a scalar), `items` (a list) or `entries` (a map, in file order).
struct Annotation {
    std::string text;
    std::vector<Annotation> items;
    std::vector<AnnotationEntry> entries;

    bool operator==(const Annotation& o) const;
};

// A separate type, because std::pair of an incomplete Annotation is ill-formed.
struct AnnotationEntry {
    AnnotationEntry(std::string entry_key, Annotation entry_value)
        : key(std::move(entry_key)), value(std::move(entry_value)) {}

    std::string key;
    Annotation value;

    bool operator==(const AnnotationEntry&) const = default;
};

inline bool Annotation::operator==(const Annotation& o) const {
    return text == o.text && items == o.items && entries == o.entries;
}

}  // namespace occupipe
