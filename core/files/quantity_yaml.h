// SPDX-License-Identifier: MIT
// Quantities (docs/reference/file-formats/) and maps as text, for the parts of a profile.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/estimate.h"
#include "core/files/document.h"

namespace occupipe {

std::string optional_text(const Document& document, const DocumentNode& map, std::string_view key);

// A number, or a map with `value` and whatever else is known about it.
Estimate read_quantity(const Document& document, const DocumentNode& node);
std::string quantity_text(const Estimate& estimate);

// Entries of a flow map or lines of a block map: key and value, both ready to print.
using TextPairs = std::vector<std::pair<std::string, std::string>>;
std::string flow_map(const TextPairs& pairs);
// "key: {…}" where that fits on a line, else one line per pair.
std::string map_lines(std::size_t indent, const std::string& key, const TextPairs& pairs);
// One line per pair.
std::string block_lines(std::size_t indent, const TextPairs& pairs);
void add_text(TextPairs& pairs, const char* key, const std::string& text);

}  // namespace occupipe
