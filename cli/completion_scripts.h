// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "core/files/embedded.h"

namespace occupipe::cli {

std::span<const EmbeddedFile> completion_scripts();  // cli/completion/

}  // namespace occupipe::cli
