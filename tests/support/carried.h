// SPDX-License-Identifier: MIT
// A dumped folder of launches, read by docs/carry.md and docs/reference/file-formats/ alone: what a
// stranger with a machine or a simulator would write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace occupipe::cli::testing {

using Bytes = std::vector<std::byte>;
using Row = std::map<std::string, std::string>;  // by the header's names

std::vector<std::string> split(const std::string& text, char separator);

// A line of the table whose column `cycles` is written back.
struct CarriedLaunch {
    std::string line;  // without its end
    Row fields;

    std::size_t number(const std::string& field) const { return std::stoul(fields.at(field)); }
};

struct CarriedTable {
    std::string header;
    std::vector<CarriedLaunch> launches;
};

CarriedTable read_launches(const std::filesystem::path& file);

// A buffer's first content. `address`: where the buffer will lie, for tables of addresses.
Bytes contents(std::size_t bytes, const std::string& terms, std::uint64_t address = 0);

}  // namespace occupipe::cli::testing
