// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "core/files/document.h"

namespace occupipe {

// Whether the first character behind a byte order mark and blanks is '{' or '['.
bool looks_like_json(std::string_view text);

// Reads one JSON value. Refuses duplicate keys and numbers that JSON does not have
// (NaN, Infinity).
Document parse_json(const std::string& text, const std::string& file_name);

}  // namespace occupipe
