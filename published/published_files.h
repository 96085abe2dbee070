// SPDX-License-Identifier: MIT
// The files of published/, built into the program.
#pragma once

#include "core/files/embedded.h"

namespace occupipe::published {

std::span<const EmbeddedFile> published_files();

}  // namespace occupipe::published
