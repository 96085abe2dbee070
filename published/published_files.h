// SPDX-License-Identifier: MIT
// The files of published/, built into the program.
#pragma once

#include "core/files/embedded.h"

namespace occupipe::published {

std::span<const EmbeddedFile> published_files();

// The one of them that published/shelf.h reads.
inline constexpr std::string_view shelf_file = "published/shelf.yaml";

}  // namespace occupipe::published
