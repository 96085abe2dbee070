// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/files/document.h"

namespace occupipe {

// Reads one JSON value. Refuses duplicate keys and numbers that JSON does not have
// (NaN, Infinity).
Document parse_json(const std::string& text, const std::string& file_name);

// The same for a map whose entry `key` is a long list: every item goes to `take` as soon as it is
// complete, and the document that is returned has none of them. Items know where they stand, but
// not their path in the document.
Document parse_json_list(const std::string& text, const std::string& file_name,
                         std::string_view key, const std::function<void(DocumentNode)>& take);

}  // namespace occupipe
