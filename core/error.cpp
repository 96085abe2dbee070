// SPDX-License-Identifier: MIT
#include "core/error.h"

#include <fmt/format.h>

namespace occupipe {
namespace {

// A file name or key may hold anything; a message is one line.
std::string on_one_line(std::string text) {
    for (char& c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            c = ' ';
        }
    }
    return text;
}

std::string message(const std::string& file, SourcePosition where, const std::string& key,
                    const std::string& reason) {
    std::string text = file;
    if (where.line > 0) {
        text += fmt::format("{}{}", text.empty() ? "line " : ":", where.line);
        if (where.column > 0) {
            text += fmt::format(":{}", where.column);
        }
    }
    for (const std::string& part : {key, reason}) {
        if (!part.empty()) {
            text += text.empty() ? part : ": " + part;
        }
    }
    return on_one_line(text);
}

}  // namespace

InputError::InputError(const std::string& file, SourcePosition where, const std::string& key,
                       const std::string& reason)
    : std::runtime_error(message(file, where, key, reason)),
      file_(file),
      where_(where),
      key_(key) {}

}  // namespace occupipe
