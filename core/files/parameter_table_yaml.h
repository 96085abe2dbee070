// SPDX-License-Identifier: MIT
// Tables, memory levels and overheads in a profile's YAML.
#pragma once

#include <string>
#include <vector>

#include "core/files/document.h"
#include "core/parameter_table.h"

namespace occupipe {

std::vector<ParameterTable> read_tables(const Document& document, const DocumentNode& node);
std::string table_lines(const std::vector<ParameterTable>& tables, std::size_t indent);

std::vector<MemoryLevel> read_memory_levels(const Document& document, const DocumentNode& node);
std::string memory_level_lines(const std::vector<MemoryLevel>& levels);

Overheads read_overheads(const Document& document, const DocumentNode& node);
std::string overheads_line(const Overheads& overheads);

}  // namespace occupipe
