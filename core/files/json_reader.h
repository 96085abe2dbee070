// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/files/document.h"

namespace occupipe {

// Reads one JSON value. Refuses duplicate keys and numbers that JSON does not have
// (NaN, Infinity).
Document parse_json(const std::string& text, const std::string& file_name);

}  // namespace occupipe
