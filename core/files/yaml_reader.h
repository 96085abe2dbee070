// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/files/document.h"

namespace occupipe {

// Reads one YAML document. Beyond what YAML forbids, this refuses anchors, aliases, tags, keys that
// are not text and duplicate keys: files mean what they show.
Document parse_yaml(const std::string& text, const std::string& file_name);

}  // namespace occupipe
