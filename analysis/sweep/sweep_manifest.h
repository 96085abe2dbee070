// SPDX-License-Identifier: MIT
// FILE.sweep.json: what a file of a sweep's rows is a part of (docs/reference/file-formats/,
// "Sweep").
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/shard.h"

namespace occupipe::analysis {

enum class ColumnType : std::uint8_t {
    whole,   // int64
    real,    // double
    text,    // UTF-8
    shares,  // text → double: "alu=0.25 mem=1"
};

struct SweepColumn {
    std::string name;
    ColumnType type = ColumnType::text;
    std::string unit;     // "core cycles"; empty: it has none
    std::string meaning;  // one line
    std::string absent;   // the cell that says there is no value
};

// What a reader of the rows wants to know of them.
struct SweepOrigin {
    std::string spec;   // its text
    std::string limit;  // "100000000"
    // A kernel, profile or file as the spec names it → hash of its content, in the spec's order.
    std::vector<std::pair<std::string, std::string>> inputs;
    std::vector<SweepColumn> columns;
};

struct SweepManifest {
    std::string made_of;
    Shard shard;
    std::int64_t first = 0, end = 0, all = 0;  // rows
    bool complete = false;
    std::int64_t refused = 0;  // of the rows, once they are complete
    SweepOrigin origin;

    bool same_part(const SweepManifest& o) const {
        return made_of == o.made_of && first == o.first && end == o.end && all == o.all;
    }
};

std::filesystem::path manifest_path(const std::filesystem::path& output);
void write_manifest(const SweepManifest& manifest, const std::filesystem::path& output);
// Throws InputError.
SweepManifest read_manifest(const std::filesystem::path& output);

}  // namespace occupipe::analysis
