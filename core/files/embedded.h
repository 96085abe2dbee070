// SPDX-License-Identifier: MIT
// Files of other languages and of data that are built into the program (cmake/Embed.cmake). The
// comment at the top of a file of code, up to the first empty line, is not part of its text.
#pragma once

#include <span>
#include <string_view>

namespace occupipe {

struct EmbeddedFile {
    std::string_view name;  // from the root of the source tree: "bench/cuda/device/walks.cuh"
    std::string_view text;
};

// Throws std::logic_error if no file has this name.
std::string_view embedded(std::span<const EmbeddedFile> files, std::string_view name);

}  // namespace occupipe
