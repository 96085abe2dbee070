// SPDX-License-Identifier: MIT
#include "core/files/embedded.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace occupipe {

std::string_view embedded(std::span<const EmbeddedFile> files, std::string_view name) {
    const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
    if (found == files.end()) {
        throw std::logic_error("no such file is built into the program: " + std::string(name));
    }
    return found->text;
}

}  // namespace occupipe
