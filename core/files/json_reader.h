// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "core/files/document.h"

namespace occupipe {

// Whether the first character behind a byte order mark and blanks is '{' or '['.
bool looks_like_json(std::string_view text);

enum class DuplicateKeys : bool {
    refused,
    last_counts,  // as in Python
};

// Reads one JSON value. Refuses numbers that JSON does not have (NaN, Infinity).
Document parse_json(const std::string& text, const std::string& file_name,
                    DuplicateKeys duplicates = DuplicateKeys::refused);

}  // namespace occupipe
